//! A command whose output is the release, such as `helm template`. It runs only if the user allows it.
//!
//! It runs in the folder of the package, without a shell, and reads the package's own files, such as `values.yaml`, which stay local. The
//! cache keeps each output under its hash. So the next upgrade begins with what the package got, even if the command or its files changed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

use anyhow::{Context, Result, bail};
use krm_yaml::shown;
use sha2::{Digest, Sha256};

use super::record::Lock;
use crate::release::refs::{RefKind, State};
use crate::release::store::{cache_folder, write};
use crate::side::Side;

/// The largest output of a command, in bytes.
const MOST: usize = 1 << 28;

/// What stands for the release in a command.
const REF: &str = "{ref}";

/// A command whose output is the release.
#[derive(Debug)]
pub struct Producer {
    words: Vec<String>,
    folder: PathBuf,
    /// The outputs, by their hashes.
    outputs: RefCell<BTreeMap<String, Vec<u8>>>,
}

impl Producer {
    /// The command of a package at a folder, which the user allows to run.
    pub fn new(words: &[String], folder: &Path) -> Self {
        Self { words: words.to_vec(), folder: folder.to_owned(), outputs: RefCell::default() }
    }

    /// The program and its arguments.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether the command gets the name of a release.
    pub fn takes_a_release(&self) -> bool {
        self.words.iter().any(|word| word.contains(REF))
    }

    /// Runs the command for a release. Its commit is the hash of the output.
    ///
    /// # Errors
    /// The command cannot be run, fails, or prints too much.
    pub fn state(&self, release: &str) -> Result<State> {
        let words: Vec<String> = self.words.iter().map(|word| word.replace(REF, release)).collect();
        let command = shown::line(&words.join(" ")).into_owned();
        let (program, arguments) = words.split_first().context("a command must have a program")?;
        let mut run = process::Command::new(program);
        run.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        let output = run.output().with_context(|| format!("`{command}` must be a program that can be run"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = shown::line(said.trim().lines().last().unwrap_or_default()).into_owned();
            bail!("`{command}` failed with {}: {said}", output.status);
        }
        if output.stdout.len() > MOST {
            bail!("`{command}` must print at most {MOST} bytes, but it printed {}", output.stdout.len());
        }
        let hash = hash(&output.stdout);
        let file = kept(&hash)?;
        write(&file, &output.stdout)?;
        self.outputs.borrow_mut().insert(hash.clone(), output.stdout);
        Ok(State { name: release.to_owned(), reference: release.to_owned(), commit: hash, kind: RefKind::Commit })
    }

    /// The release that a package has. If the cache does not have its output, the command runs again, and `warnings` says whether the
    /// output is another one now.
    ///
    /// # Errors
    /// The errors of [`Producer::state`].
    pub fn locked(&self, lock: &Lock, warnings: &mut Vec<String>) -> Result<State> {
        let name = lock.reference.clone();
        let found = fs::read(kept(&lock.exact)?).ok();
        if let Some(bytes) = found.filter(|bytes| hash(bytes) == lock.exact) {
            self.outputs.borrow_mut().insert(lock.exact.clone(), bytes);
            return Ok(State {
                name: name.clone(),
                reference: name,
                commit: lock.exact.clone(),
                kind: RefKind::Commit,
            });
        }
        let state = self.state(&name)?;
        if state.commit != lock.exact {
            warnings.push(format!(
                "the release {name} is not what it was when the package got it, and what it was is not in the cache: its changes look like local ones"
            ));
        }
        Ok(state)
    }

    /// The side of a release.
    ///
    /// # Errors
    /// The output holds something else than resources.
    pub fn side(&self, state: &State) -> Result<Side> {
        let outputs = self.outputs.borrow();
        let output = outputs.get(&state.commit).cloned().unwrap_or_default();
        Side::of_file(format!("{} {}", self.words.first().map_or("", String::as_str), state.name), output)
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file of the cache with the output of this hash.
fn kept(hash: &str) -> Result<PathBuf> {
    Ok(cache_folder("produced")?.join(hash))
}
