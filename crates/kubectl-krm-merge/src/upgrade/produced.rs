//! A command whose output is the release, such as `helm template`. It runs only if the user allows it.
//!
//! It runs in the folder of the package, without a shell, and reads the package's own files, such as `values.yaml`, which stay local. Each
//! release is rendered twice, so that what is [volatile](super::volatile) is known. The hash of the rest stands in the record. So on each
//! machine the release that a package has can be made again, with the files of the package as they were when the record was written. The
//! cache only saves time. Messages name the program and not its arguments, which may hold a password.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use krm_files::credentials;
use krm_files::disk::hash;
use krm_files::errors;
use krm_folders::package::Package;
use krm_folders::record::Lock;
use krm_folders::side::Side;
use krm_git::cache;
use krm_git::refs::State;
use krm_names::file_path::RULES;
use krm_yaml::shown;

use super::past::Past;
use super::volatile::{Kept, Volatile};
use crate::bounded::{self, Ended, MOST, Unfinished};

/// What stands for the release in a command.
const REF: &str = "{ref}";

/// A command whose output is the release.
#[derive(Debug)]
pub struct Producer {
    words: Vec<String>,
    folder: PathBuf,
    /// The outputs, by their hashes.
    outputs: RefCell<BTreeMap<String, Rc<Output>>>,
}

/// What a command printed for a release, twice.
#[derive(Debug)]
struct Output {
    first: Vec<u8>,
    second: Vec<u8>,
    /// What is volatile; `None` if both are equal, or no YAML.
    volatile: Option<Volatile>,
    /// The hash of what stays.
    hash: String,
}

impl Producer {
    /// The command of a package, which the user allows to run.
    pub fn new(words: &[String], package: &Package) -> Self {
        Self { words: words.to_vec(), folder: package.root.clone(), outputs: RefCell::default() }
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
        let state = self.rendered(release, &self.folder)?;
        if let Some(output) = self.output(&state) {
            output.cache()?;
        }
        Ok(state)
    }

    /// The release that a package has: from the cache, or made again with the files of the package as they are or as they were.
    ///
    /// # Errors
    /// The command does not make it again.
    pub fn locked(&self, lock: &Lock) -> Result<State> {
        match Output::cached(&lock.exact)? {
            Some(output) => _ = self.outputs.borrow_mut().insert(lock.exact.clone(), Rc::new(output)),
            None => self.make_again(lock).map_err(|why| {
                let release = &lock.reference;
                anyhow!(
                    "the release that the package has, {release}, must be made again by its command, because the cache does not have it; {}: `--from {release}` takes what it prints with the files as they are now",
                    errors::chain(&why)
                )
            })?,
        }
        Ok(lock.state())
    }

    fn make_again(&self, lock: &Lock) -> Result<()> {
        let is_made = |folder: &Path| self.rendered(&lock.reference, folder).map(|made| made.commit == lock.exact);
        let now = is_made(&self.folder);
        if matches!(now, Ok(true)) {
            return Ok(());
        }
        let Some(past) = Past::of(&self.folder, RULES, &lock.exact)? else {
            now?;
            bail!("it prints something else now, and no commit tells how the files of the package were");
        };
        let with = || format!("with the files of commit {}{}", past.commit, past.lacks);
        if !is_made(&past.package()).with_context(with)? {
            bail!("{} it prints something else", with());
        }
        Ok(())
    }

    /// Runs the command twice for a release, in a folder. Its commit is the hash of what stays. What is known by that hash is not replaced,
    /// for its volatile values are those of the package.
    fn rendered(&self, release: &str, folder: &Path) -> Result<State> {
        let first = self.run(release, folder)?;
        let output = Output::new(first, self.run(release, folder)?);
        let hash = output.hash.clone();
        self.outputs.borrow_mut().entry(hash.clone()).or_insert_with(|| Rc::new(output));
        Ok(Lock { reference: release.to_owned(), exact: hash, address: None }.state())
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

    /// The side of a release. It has the volatile values of an older release.
    ///
    /// # Errors
    /// The output holds something else than resources.
    pub fn side(&self, state: &State, older: Option<&State>) -> Result<Side> {
        let name = format!("{} {}", self.words.first().map_or("", String::as_str), state.name);
        let kept = self.kept(state, older).map(|kept| kept.text.into_bytes());
        let bytes = kept.or_else(|| Some(self.output(state)?.first.clone()));
        Side::of_file(name, bytes.unwrap_or_default())
    }

    /// The places of a release that have the volatile values of an older release.
    pub fn kept_places(&self, state: &State, older: &State) -> Vec<String> {
        self.kept(state, Some(older)).map_or_else(Vec::new, |kept| kept.places)
    }

    fn kept(&self, state: &State, older: Option<&State>) -> Option<Kept> {
        let output = self.output(state)?;
        let older = older.and_then(|older| self.output(older));
        let older = older.as_ref().and_then(|older| older.volatile.as_ref());
        Some(output.volatile.as_ref()?.kept(std::str::from_utf8(&output.first).ok()?, older))
    }

    fn output(&self, state: &State) -> Option<Rc<Output>> {
        self.outputs.borrow().get(&state.commit).cloned()
    }
}

impl Output {
    fn new(first: Vec<u8>, second: Vec<u8>) -> Self {
        let volatile = if first == second { None } else { volatile(&first, &second) };
        let hash = hash(volatile.as_ref().map_or(&first, |volatile| volatile.stable.as_bytes()));
        Self { first, second, volatile, hash }
    }

    /// Writes it into the cache. What is there stays, for its volatile values are those of the package.
    fn cache(&self) -> Result<()> {
        if Self::cached(&self.hash)?.is_some() {
            return Ok(());
        }
        let [first, second] = files(&self.hash)?;
        if self.first != self.second {
            cache::write(&second, &self.second)?;
        }
        cache::write(&first, &self.first)?;
        cache::grew();
        Ok(())
    }

    /// The output of the cache with a hash; `None` if it is not there, or not whole.
    fn cached(hash: &str) -> Result<Option<Self>> {
        let [first, second] = files(hash)?;
        let Ok(read) = fs::read(&first) else { return Ok(None) };
        let second = fs::read(second).unwrap_or_else(|_| read.clone());
        let output = Some(Self::new(read, second)).filter(|output| output.hash == hash);
        if output.is_some() {
            cache::touch(&first);
        }
        Ok(output)
    }
}

fn volatile(first: &[u8], second: &[u8]) -> Option<Volatile> {
    Volatile::of(std::str::from_utf8(first).ok()?, std::str::from_utf8(second).ok()?).ok()
}

/// The files of the cache with the two outputs of this hash. Without the second one, they are equal.
fn files(hash: &str) -> Result<[PathBuf; 2]> {
    let first = cache::outputs()?.join(hash);
    let second = cache::again(&first);
    Ok([first, second])
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
