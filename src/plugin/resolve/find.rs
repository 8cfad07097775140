//! Finds the files that may have conflict markers: the named ones; without names, those that git lists as unmerged; or else all.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use ignore::WalkBuilder;
use krm_merge::file_path;
use krm_merge::sides::Sides;

use crate::walk::{path_of, shown};

/// Files to search for markers.
#[derive(Debug)]
pub struct Files {
    /// The files without duplicates, in order.
    pub files: Vec<File>,
    /// Why they are searched.
    pub why: Why,
}

/// A file as the user knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct File {
    /// Its path as the user named it, or relative to the current folder.
    pub name: PathBuf,
    /// Its path on disk, without symbolic links.
    pub disk: PathBuf,
}

/// Why a file is searched for markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The user or git named it.
    Named,
    /// It is below the current folder.
    There,
}

/// Finds the files to search.
///
/// # Errors
/// A file cannot be read.
pub fn files(named: &[PathBuf]) -> Result<Files> {
    let mut files = Vec::new();
    let mut why = Why::Named;
    for name in named {
        let found = fs::metadata(name).with_context(|| shown(name))?;
        if found.is_dir() {
            files.extend(below(name)?);
        } else if found.is_file() {
            files.push(file(name)?);
        } else {
            bail!("{}: it must be a file or a folder", shown(name));
        }
    }
    if named.is_empty() {
        files = unmerged().iter().filter(|name| is_file(name)).map(|name| file(name)).collect::<Result<_>>()?;
        if files.is_empty() {
            (files, why) = (below(Path::new("."))?, Why::There);
        }
    }
    // A file with two names is searched and written only once.
    files.sort_by(|a, b| (&a.name, &a.disk).cmp(&(&b.name, &b.disk)));
    let mut known = std::collections::HashSet::new();
    files.retain(|file| known.insert(file.disk.clone()));
    Ok(Files { files, why })
}

fn file(name: &Path) -> Result<File> {
    Ok(File { name: name.to_owned(), disk: fs::canonicalize(name).with_context(|| shown(name))? })
}

/// Whether a path is a file. A symbolic link to a file does not count.
fn is_file(name: &Path) -> bool {
    fs::symlink_metadata(name).is_ok_and(|found| found.is_file())
}

/// The files below a folder that git does not ignore, including hidden ones.
fn below(folder: &Path) -> Result<Vec<File>> {
    let is_read = |name: &std::ffi::OsStr| {
        name.to_str().is_none_or(|name| !file_path::is_git(name) && !file_path::is_temporary(name))
    };
    let walk = WalkBuilder::new(folder)
        .hidden(false)
        .ignore(false)
        .filter_entry(move |entry| entry.depth() == 0 || is_read(entry.file_name()))
        .build();
    let mut files = Vec::new();
    for entry in walk {
        let entry = entry.map_err(|e| anyhow!(shown_error(&e)))?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            let name = entry.path().strip_prefix("./").unwrap_or(entry.path());
            files.push(file(name)?);
        }
    }
    Ok(files)
}

fn shown_error(error: &ignore::Error) -> String {
    krm_merge::shown::line(&error.to_string()).into_owned()
}

/// The files below the current folder that git lists as unmerged; empty without git or outside of a repository.
fn unmerged() -> Vec<PathBuf> {
    let output = Command::new("git").args(["ls-files", "--unmerged", "-z"]).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else { return Vec::new() };
    let entries = output.stdout.split(|byte| *byte == 0);
    // An entry is mode, object and stage, a tab, and the path.
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| Some(path_of(entry.splitn(2, |byte| *byte == b'\t').nth(1)?))).collect();
    paths.dedup();
    paths
}

/// The versions of an unmerged file in git's index; `None` if ours or theirs is missing there.
pub fn staged(file: &File) -> Option<Sides<Option<Vec<u8>>>> {
    let (folder, name) = (file.disk.parent()?, file.disk.file_name()?);
    let stage = |number: u8| {
        let mut git = Command::new("git");
        let mut version = OsString::from(format!(":{number}:./"));
        version.push(name);
        let output = git.current_dir(folder).arg("show").arg(version).output().ok()?;
        output.status.success().then_some(output.stdout)
    };
    let (dest, updated) = (Some(stage(2)?), Some(stage(3)?));
    Some(Sides { original: stage(1), updated, dest })
}
