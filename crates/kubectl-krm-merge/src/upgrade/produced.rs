//! A command whose output is the release, such as `helm template`. It runs only if the user allows it.
//!
//! It runs in the folder of the package, without a shell, and reads the package's own files, such as `values.yaml`, which stay local.
//! Messages name the program and not its arguments, which may hold a password.

use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result, anyhow, bail};
use krm_files::credentials;
use krm_folders::package::Package;
use krm_folders::record::Lock;
use krm_git::refs::State;
use krm_yaml::shown;

use super::outputs::{MadeBefore, Outputs};
use crate::bounded::{self, Ended, MOST, Unfinished};

/// What stands for the release in a command.
const REF: &str = "{ref}";

/// A command whose output is the release.
#[derive(Debug)]
pub struct Producer {
    words: Vec<String>,
    folder: PathBuf,
    outputs: Outputs,
}

impl Producer {
    /// The command of a package, which the user allows to run.
    pub fn new(words: &[String], package: &Package) -> Self {
        Self { words: words.to_vec(), folder: package.root.clone(), outputs: Outputs::default() }
    }

    /// The program and its arguments.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether the command gets the name of a release.
    pub fn takes_a_release(&self) -> bool {
        self.words.iter().any(|word| word.contains(REF))
    }

    /// Runs the command for a release, with the files of the package.
    ///
    /// # Errors
    /// The command cannot be run, fails, or prints too much.
    pub fn state(&self, release: &str) -> Result<State> {
        let exact = self.outputs.made(|| self.run(release, &self.folder))?;
        Ok(Lock { reference: release.to_owned(), exact, address: None, rendered: None }.state())
    }

    /// The release that a package has: from the cache, or made again with the files of the package as they are or as they were.
    ///
    /// # Errors
    /// The command does not make it again.
    pub fn locked(&self, lock: &Lock) -> Result<State> {
        let (release, hash) = (lock.reference.as_str(), lock.exact.as_str());
        let was = MadeBefore { release, hash, maker: "its command", folder: &self.folder };
        self.outputs.locked(was, |folder| self.run(release, folder))?;
        Ok(lock.state())
    }

    fn run(&self, release: &str, folder: &Path) -> Result<Vec<u8>> {
        let words: Vec<String> = self.words.iter().map(|word| word.replace(REF, release)).collect();
        let (program, arguments) = words.split_first().context("a command must have a program")?;
        let name = shown::line(program).into_owned();
        let ended = bounded::run(process::Command::new(program).args(arguments).current_dir(folder), None);
        let Ended { printed, said, status } = ended.map_err(|why| match why {
            Unfinished::NotStarted(why) => anyhow!(why).context(format!("`{name}` must be a program that can be run")),
            Unfinished::Unread(why) => anyhow!(why),
            Unfinished::TooLarge | Unfinished::TookTooLong => {
                anyhow!("`{name}` must print at most {MOST} bytes for a release, but it printed more")
            }
        })?;
        if !status.success() {
            bail!("`{name}` failed with {status}: {}", last_line(&said, arguments));
        }
        Ok(printed)
    }

    /// The name of a release, for messages.
    pub fn name(&self, state: &State) -> String {
        format!("{} {}", self.words.first().map_or("", String::as_str), state.name)
    }

    /// What it printed.
    pub fn outputs(&self) -> &Outputs {
        &self.outputs
    }
}

/// The last line of what a program said, without its arguments and their values, which may hold a password.
fn last_line(said: &[u8], arguments: &[String]) -> String {
    let said = String::from_utf8_lossy(said);
    let mut secrets: Vec<&str> = arguments.iter().flat_map(|argument| parts(argument)).collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let hidden = secrets.into_iter().fold(said.into_owned(), |said, secret| said.replace(secret, "…"));
    shown::line(&credentials::hidden(hidden.trim().lines().last().unwrap_or_default())).into_owned()
}

/// An argument, its lines and values. What is shorter is no password, and stands in many words.
fn parts(argument: &str) -> Vec<&str> {
    let mut all = vec![argument];
    for (at, _) in argument.match_indices(['=', ':']) {
        let value = &argument[at + 1..];
        all.push(value);
        all.push(value.split(['=', ':', ',', '@', '"', '\'']).find(|value| !value.is_empty()).unwrap_or_default());
    }
    let lines = all.iter().flat_map(|part| part.lines()).map(str::trim).collect::<Vec<_>>();
    all.extend(lines);
    all.retain(|part| part.len() >= 4);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_repeats_no_argument_and_no_value() {
        let arguments = |all: &[&str]| all.iter().map(|&argument| argument.to_owned()).collect::<Vec<_>>();
        for (given, said, want) in [
            (
                &["-x", "https://me:secret@example.com/x"][..],
                "first\ncannot reach https://me:secret@example.com/x with -x\n",
                "cannot reach … with -x",
            ),
            (&["pw=hunter2"], "no pw=hunter2", "no …"),
            (&["pw=hunter2"], "no hunter2", "no …"),
            (&["--password=hunter2hunter2"], "login with \"hunter2hunter2\"", "login with \"…\""),
            (&["--set", "user=admin,pw=hunter2,x=1"], "bad admin or hunter2", "bad … or …"),
            (&["--basic", "admin:pa=ss=word"], "bad pa=ss=word, ss=word, word", "bad …, …, …"),
            (&["hunter2", "hunter2-and-more"], "hunter2-and-more hunter2", "… …"),
            (&["line-one\npw=two2"], "line-one two2", "… …"),
            (&["a=b", "-f"], "no -f of a=b", "no -f of a=b"),
            (&[], "cannot reach https://me:secret@example.com/x", "cannot reach https://example.com/x"),
            (&["two\nlines"], "bad two\nlines", "bad …"),
        ] {
            assert_eq!(last_line(said.as_bytes(), &arguments(given)), want, "{given:?}");
        }
    }
}
