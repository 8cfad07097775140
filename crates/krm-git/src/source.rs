//! [`Source`]: releases that no git repository holds, such as those of a chart, and how they come into one.

use std::fmt::Debug;
use std::process::Command;

use anyhow::{Context, Result};
use krm_files::walk::c_quoted;

use crate::program;

/// Releases that no git repository holds. A release has a name and a digest, the SHA-256 of what the server gives.
pub trait Source: Debug {
    /// Which releases there are.
    ///
    /// # Errors
    /// The server cannot be asked.
    fn releases(&self) -> Result<Releases>;

    /// The digest of a release: 64 hexadecimal digits.
    ///
    /// # Errors
    /// There is no such release, or the server cannot be asked.
    fn digest(&self, name: &str) -> Result<String>;

    /// The files of the release with a digest. `name` is its name, as far as it is known.
    ///
    /// # Errors
    /// The server does not give them, or gives something else.
    fn files(&self, name: Option<&str>, digest: &str) -> Result<Vec<ReleaseFile>>;
}

/// The releases of a source.
#[derive(Debug)]
pub enum Releases {
    /// A list; empty if the server has none.
    Listed(Vec<Listed>),
    /// They have the names of the tags of this repository.
    TagsOf(String),
}

/// A release in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its digest, if the list has it.
    pub digest: Option<String>,
}

/// A file of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseFile {
    /// Its path, with `/`.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether anyone may execute it.
    pub is_executable: bool,
}

/// The name of the ref of a release with a digest.
pub fn ref_of(digest: &str) -> String {
    format!("refs/krm/{digest}")
}

/// Puts a release into a repository: a commit with its files, to which its ref points. The repository gets all of it or nothing.
///
/// # Errors
/// git cannot write it.
pub fn import(mut git: Command, digest: &str, files: &[ReleaseFile]) -> Result<()> {
    let mut input = format!("commit {}\ncommitter krm-merge <> 0 +0000\ndata 0\n", ref_of(digest)).into_bytes();
    for ReleaseFile { path, bytes, is_executable } in files {
        let mode = if *is_executable { "100755" } else { "100644" };
        let head = format!("M {mode} inline {}\ndata {}\n", c_quoted(path, |_| false), bytes.len());
        input.extend(head.into_bytes().iter().chain(bytes).chain(b"\n"));
    }
    input.extend(b"done\n");
    git.args(["-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--done", "--force"]);
    program::run(&mut git, &input).map(drop).with_context(|| format!("the release with digest sha256:{digest}"))
}
