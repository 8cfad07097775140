//! [`Source`]: releases that no git repository holds, such as those of a chart, and how they come into one.

use std::fmt::Debug;
use std::process::Command;

use anyhow::{Context, Result};
use krm_files::walk::c_quoted;

use crate::cache;
use crate::program::{self, In};

/// Releases that no git repository holds. A release has a name and a digest, the SHA-256 of what the server gives.
pub trait Source: Debug {
    /// Which releases there are.
    ///
    /// # Errors
    /// The server cannot be asked.
    fn releases(&self) -> Result<Releases>;

    /// The release with a name; `None` if there is no such release.
    ///
    /// # Errors
    /// The server cannot be asked, or gives something else.
    fn exact(&self, name: &str) -> Result<Option<Exact>>;

    /// The files of the release with a digest. `name` is its name, as far as it is known.
    ///
    /// # Errors
    /// The server does not give them, or gives something else.
    fn files(&self, name: Option<&str>, digest: &str) -> Result<Vec<ReleaseFile>>;
}

/// The releases of a source.
#[derive(Debug)]
pub enum Releases {
    /// A list. If it has a name twice, the first one counts.
    Listed(Vec<Listed>),
    /// Nobody has a list.
    Unlisted,
    /// The server does not list them, and says why. It may give one that is named.
    Refused(String),
}

/// A release that a server was asked for.
#[derive(Debug)]
pub struct Exact {
    /// Its digest: 64 hexadecimal digits.
    pub digest: String,
    /// Its files, if all of them were needed for the digest.
    pub files: Option<Vec<ReleaseFile>>,
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
    /// Its path, with `/`. No two paths differ only by case.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether anyone may execute it.
    pub is_executable: bool,
}

/// The releases that have the names of the tags of a repository.
///
/// # Errors
/// git cannot list them.
pub fn tags_of(repository: &str) -> Result<Vec<Listed>> {
    let mut git = program::git(In::Own(&cache::repositories()?));
    git.args(["ls-remote", "--quiet", "--refs", "--", repository, "refs/tags/*"]);
    let told = program::run(&mut git, b"")
        .with_context(|| format!("the tags of \"{repository}\" must be there, which name the releases"))?;
    let tags = String::from_utf8_lossy(&told).into_owned();
    let tags = tags.lines().filter_map(|line| line.split_once("\trefs/tags/"));
    Ok(tags.map(|(_, name)| Listed { name: name.to_owned(), digest: None }).collect())
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
