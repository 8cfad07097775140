//! A command whose output is the release, such as `helm template`. It runs only if the user allows it.
//!
//! It runs in the folder of the package, without a shell, and reads the package's own files, such as `values.yaml`, which stay local. Each
//! release is rendered twice, so that what the command [makes anew](super::anew) each time is known. The hash of the rest stands in the
//! record. So on each machine the release that a package has can be made again, with the files of the package as they were when the record
//! was written. The cache only saves time. Messages name the program and not its arguments, which may hold a password.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

use anyhow::{Context, Result, bail};
use krm_merge::file_path::RULES;
use krm_yaml::shown;
use sha2::{Digest, Sha256};

use super::anew::{Anew, anew, kept, stable};
use super::package::Package;
use super::past::Past;
use super::record::Lock;
use crate::release::refs::State;
use crate::release::store::{cache_folder, write};
use crate::side::Side;

/// The largest output of a command, in bytes.
const MOST: u64 = 1 << 28;

/// How much of what a failed command says is read, in bytes.
const MOST_SAID: u64 = 1 << 16;

/// What stands for the release in a command.
const REF: &str = "{ref}";

/// A command whose output is the release.
#[derive(Debug)]
pub struct Producer {
    words: Vec<String>,
    folder: PathBuf,
    /// The outputs, by their hashes.
    outputs: RefCell<BTreeMap<String, Output>>,
}

/// What a command printed for a release, twice.
#[derive(Clone, Debug)]
struct Output {
    first: Vec<u8>,
    second: Vec<u8>,
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
        if let Some(output) = self.outputs.borrow().get(&state.commit) {
            output.keep(&state.commit)?;
        }
        Ok(state)
    }

    /// The release that a package has: from the cache, or made again with the files of the package as they are or as they were.
    ///
    /// # Errors
    /// The command does not make it again.
    pub fn locked(&self, lock: &Lock) -> Result<State> {
        if let Some(output) = Output::kept(&lock.exact)? {
            self.outputs.borrow_mut().insert(lock.exact.clone(), output);
            return Ok(lock.state());
        }
        let release = &lock.reference;
        let is_made = |folder: &Path| self.rendered(release, folder).map(|made| made.commit == lock.exact);
        let now = is_made(&self.folder);
        if matches!(now, Ok(true)) {
            return Ok(lock.state());
        }
        let how = format!(
            "the release that the package has, {release}, must be made again by its command, for the cache does not have it"
        );
        let on = format!("`--from {release}` takes what it prints with the files as they are now");
        let Some(past) = Past::of(&self.folder, RULES, &lock.exact).with_context(|| how.clone())? else {
            now.with_context(|| how.clone())?;
            bail!("{how}; it prints something else now, and no commit tells how the files of the package were: {on}")
        };
        if !is_made(&past.package()).with_context(|| how.clone())? {
            bail!("{how}; with the files of commit {} it prints something else: {on}", past.commit);
        }
        Ok(lock.state())
    }

    /// Runs the command twice for a release, in a folder. Its commit is the hash of what is in both outputs.
    fn rendered(&self, release: &str, folder: &Path) -> Result<State> {
        let first = self.run(release, folder)?;
        let output = Output { second: self.run(release, folder)?, first };
        let hash = output.hash();
        self.outputs.borrow_mut().insert(hash.clone(), output);
        Ok(Lock { reference: release.to_owned(), exact: hash, address: None }.state())
    }

    fn run(&self, release: &str, folder: &Path) -> Result<Vec<u8>> {
        let words: Vec<String> = self.words.iter().map(|word| word.replace(REF, release)).collect();
        let (program, arguments) = words.split_first().context("a command must have a program")?;
        let name = shown::line(program).into_owned();
        let mut run = process::Command::new(program);
        run.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = run.spawn().with_context(|| format!("`{name}` must be a program that can be run"))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (printed, said) = std::thread::scope(|scope| {
            // Both pipes must move at the same time.
            let said = scope.spawn(move || stderr.map_or(Ok(Vec::new()), all_said));
            let mut printed = Vec::new();
            let read = stdout.map_or(Ok(0), |stdout| stdout.take(MOST + 1).read_to_end(&mut printed));
            if printed.len() as u64 > MOST {
                let _ = child.kill();
            }
            (read.map(|_| printed), said.join())
        });
        let (printed, status) = (printed?, child.wait()?);
        if printed.len() as u64 > MOST {
            bail!("`{name}` must print at most {MOST} bytes for a release, but it printed more");
        }
        if !status.success() {
            let said = said.ok().and_then(Result::ok).unwrap_or_default();
            bail!("`{name}` failed with {status}: {}", last_line(&said, arguments));
        }
        Ok(printed)
    }

    /// The side of a release. It has the values of an older release where the command makes them anew.
    ///
    /// # Errors
    /// The output holds something else than resources.
    pub fn side(&self, state: &State, older: Option<&State>) -> Result<Side> {
        let name = format!("{} {}", self.words.first().map_or("", String::as_str), state.name);
        let Some(output) = self.output(state) else { return Side::of_file(name, Vec::new()) };
        let text = match std::str::from_utf8(&output.first) {
            Ok(text) => kept(text, &self.anew(state, older)).into_bytes(),
            Err(_) => output.first,
        };
        Side::of_file(name, text)
    }

    /// The places of a release whose values the command makes anew, and an older release has.
    pub fn made_anew(&self, state: &State, older: &State) -> Vec<String> {
        self.anew(state, Some(older)).into_iter().filter(Anew::is_kept).map(|anew| anew.place).collect()
    }

    fn anew(&self, state: &State, older: Option<&State>) -> Vec<Anew> {
        let Some(output) = self.output(state) else { return Vec::new() };
        let older = older.and_then(|older| String::from_utf8(self.output(older)?.first).ok());
        output.anew(older.as_deref())
    }

    fn output(&self, state: &State) -> Option<Output> {
        self.outputs.borrow().get(&state.commit).cloned()
    }
}

impl Output {
    /// What is made anew. What is no YAML has nothing of this kind.
    fn anew(&self, older: Option<&str>) -> Vec<Anew> {
        if self.first == self.second {
            return Vec::new();
        }
        let texts = std::str::from_utf8(&self.first).ok().zip(std::str::from_utf8(&self.second).ok());
        texts.and_then(|(first, second)| anew(first, second, older).ok()).unwrap_or_default()
    }

    /// The hash of what is in both outputs.
    fn hash(&self) -> String {
        let all = self.anew(None);
        match std::str::from_utf8(&self.first) {
            Ok(text) if !all.is_empty() => hash(stable(text, &all).as_bytes()),
            _ => hash(&self.first),
        }
    }

    /// Writes it into the cache.
    fn keep(&self, hash: &str) -> Result<()> {
        let [first, second] = files(hash)?;
        if self.first != self.second {
            write(&second, &self.second)?;
        }
        write(&first, &self.first)
    }

    /// The output of the cache with a hash; `None` if it is not there, or not whole.
    fn kept(hash: &str) -> Result<Option<Self>> {
        let [first, second] = files(hash)?;
        let Ok(first) = fs::read(first) else { return Ok(None) };
        let output = Self { second: fs::read(second).unwrap_or_else(|_| first.clone()), first };
        Ok(Some(output).filter(|output| output.hash() == hash))
    }
}

/// The files of the cache with the two outputs of this hash. Without the second one, they are equal.
fn files(hash: &str) -> Result<[PathBuf; 2]> {
    let folder = cache_folder("produced")?;
    Ok([folder.join(hash), folder.join(format!("{hash}-again"))])
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All that a program says, up to a limit. It must be able to say the rest, or it would wait for ever.
fn all_said(mut from: impl Read) -> io::Result<Vec<u8>> {
    let mut said = Vec::new();
    from.by_ref().take(MOST_SAID).read_to_end(&mut said)?;
    io::copy(&mut from, &mut io::sink())?;
    Ok(said)
}

/// The last line of what a program said, without its long arguments, which may hold a password.
fn last_line(said: &[u8], arguments: &[String]) -> String {
    let said = String::from_utf8_lossy(said);
    let last = said.trim().lines().last().unwrap_or_default().to_owned();
    let hidden = arguments.iter().filter(|word| word.len() > 16).fold(last, |line, word| line.replace(word, "…"));
    shown::line(&hidden).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_does_not_repeat_its_long_arguments() {
        let arguments = ["-x".to_owned(), "https://me:secret@example.com/x".to_owned()];
        let said = b"first\ncannot reach https://me:secret@example.com/x with -x\n";
        assert_eq!(last_line(said, &arguments), "cannot reach … with -x");
    }
}
