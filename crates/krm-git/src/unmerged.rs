//! Tells git's index which files of a work tree are in conflict, and that they are no more.
//!
//! git keeps three versions of such a file: original, ours and theirs, in the stages 1 to 3. `git status`, `git mergetool`, editors and
//! `git checkout --ours` read them. Only blobs and entries of the index are written, and no file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use krm_files::walk::path_of;
use krm_tree::sides::{Side, Sides};

use crate::program::{self, In, git};

/// A file in conflict, by its path in a folder. A side that does not have it has no text.
#[derive(Debug)]
pub struct Conflicted<'c> {
    /// Its path, with `/`.
    pub path: &'c str,
    /// Its text on each side.
    pub texts: Sides<Option<Vec<u8>>>,
}

/// An entry of the index without a path.
const NONE: &str = "0 0000000000000000000000000000000000000000\t";

/// Writes the stages of files in conflict into the index of the repository around a folder. Files that git does not track stay out of it, as does
/// everything outside of a repository.
///
/// # Errors
/// git cannot be run, or cannot write.
pub fn tell(folder: &Path, files: &[Conflicted<'_>]) -> Result<()> {
    let Ok(prefix) = program::path_told(folder, "--show-prefix") else { return Ok(()) };
    let prefix = prefix.to_str().context("the path of the package must be UTF-8")?;
    let known = entries(folder, files.iter().map(|file| file.path))?;
    let mut lines = Vec::new();
    for Conflicted { path, texts } in files {
        let mode = match (known.get(*path), texts.dest.is_some()) {
            (Some(mode), _) => mode.as_str(),
            // Nobody asked git to track it.
            (None, true) => continue,
            (None, false) => "100644",
        };
        lines.extend(format!("{NONE}{prefix}{path}\0").into_bytes());
        for (stage, side) in [(1, Side::Original), (2, Side::Dest), (3, Side::Updated)] {
            let Some(text) = &texts[side] else { continue };
            let mut git = program::without_filters(folder)?;
            // It says how git stores line ends of this file.
            git.args(["hash-object", "-w", "--stdin", "--path", path]);
            let object = program::run(&mut git, text)?;
            let object = String::from_utf8_lossy(object.trim_ascii()).into_owned();
            lines.extend(format!("{mode} {object} {stage}\t{prefix}{path}\0").into_bytes());
        }
    }
    write(folder, &lines)
}

/// The modes of the tracked files among these paths in a folder.
fn entries<'p>(folder: &Path, paths: impl Iterator<Item = &'p str>) -> Result<BTreeMap<String, String>> {
    let mut git = git(In::Around(folder));
    git.args(["--literal-pathspecs", "ls-files", "--stage", "-z", "--"]).args(paths);
    let told = program::run(&mut git, b"")?;
    let entry = |line: &[u8]| {
        let line = String::from_utf8_lossy(line).into_owned();
        let (head, path) = line.split_once('\t')?;
        Some((path.to_owned(), head.split(' ').next()?.to_owned()))
    };
    Ok(told.split(|byte| *byte == 0).filter_map(entry).collect())
}

/// Files that git's merge, rebase, cherry-pick or revert leaves in its directory until it is done.
const AT_WORK: [&str; 5] = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/// Takes the stages of files away that are in conflict no more: ours is then what git has, and the file is a change that nobody has staged.
/// While git itself merges, the stages stay until `git add`, because its next commit would else have ours.
///
/// # Errors
/// git cannot be run, or cannot write.
pub fn settle(folder: &Path, names: &BTreeSet<PathBuf>) -> Result<()> {
    let mut asked = git(In::Around(folder));
    asked.arg("rev-parse");
    AT_WORK.iter().for_each(|name| _ = asked.args(["--git-path", name]));
    let Ok(told) = program::run(&mut asked, b"") else { return Ok(()) };
    if told.split(|byte| *byte == b'\n').any(|path| !path.is_empty() && folder.join(path_of(path)).exists()) {
        return Ok(());
    }
    let mut unmerged = git(In::Around(folder));
    unmerged.args(["--literal-pathspecs", "ls-files", "--full-name", "--unmerged", "-z", "--"]).args(names);
    let told = program::run(&mut unmerged, b"")?;
    let (mut gone, mut ours) = (Vec::new(), Vec::new());
    for entry in told.split(|byte| *byte == 0) {
        let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
        let (head, path) = (&entry[..tab], &entry[tab..]);
        gone.extend([NONE.trim_end().as_bytes(), path, b"\0"].concat());
        if let Some(head) = head.strip_suffix(b" 2") {
            ours.extend([head, path, b"\0"].concat());
        }
    }
    gone.extend(ours);
    write(folder, &gone)
}

/// Changes the index by lines that `git update-index --index-info` reads.
fn write(folder: &Path, lines: &[u8]) -> Result<()> {
    if !lines.is_empty() {
        program::run(git(In::Around(folder)).args(["update-index", "-z", "--index-info"]), lines)?;
    }
    Ok(())
}
