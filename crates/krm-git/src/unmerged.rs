//! Tells git's index which files of a work tree are in conflict, and that they are no more.
//!
//! git keeps three versions of such a file: original, ours and theirs, in the stages 1 to 3. `git status`, editors and `git checkout --ours`
//! read them. Only blobs and entries of the index are written, and no file of the work tree.
//!
//! A merge of git writes such stages, too, and its next commit needs them. So a note in the git directory has what this program wrote,
//! with the entry that was there before. Only stages that are still those are taken away, and the entry comes back.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

use crate::index::{Index, replaced};
use crate::program::{self, In, git};

/// A file in conflict. A side that does not have it has no text.
#[derive(Debug)]
pub struct Conflicted<'c> {
    /// Its path in the folder, with `/`.
    pub path: &'c str,
    /// The path that ours had, if upstream moved it.
    pub was: &'c str,
    /// Its texts in the order of the stages: original, ours and theirs.
    pub texts: [Option<Vec<u8>>; 3],
}

/// A file that this program told git to be in conflict.
#[derive(Debug, PartialEq, Eq)]
struct Written {
    /// Its path from the top of the work tree.
    path: String,
    /// Its entry before; `None` if git did not track it.
    before: Option<String>,
    /// Its stages. An entry is mode, object and stage, as `git ls-files --stage` prints them.
    stages: Vec<String>,
}

/// Writes the stages of files in conflict into the index of the repository around a folder. Files that git does not track stay out of it, as does
/// everything outside of a repository.
///
/// # Errors
/// git cannot be run, or cannot write.
pub fn tell(folder: &Path, files: &[Conflicted<'_>]) -> Result<()> {
    let Some(index) = Index::around(folder) else { return Ok(()) };
    let prefix = index.prefix.to_str().context("the path of the package must be UTF-8")?;
    let at = |path: &str| format!("{prefix}{path}");
    let paths: Vec<String> = files.iter().flat_map(|file| [at(file.path), at(file.was)]).collect();
    let known = index.entries(paths.iter().map(String::as_str))?;
    let filters_off = program::filters_off(&index.top)?;
    let mut written = written(&index);
    let mut lines = String::new();
    for Conflicted { path, was, texts } in files {
        let entry = |path: &str| known.get(&at(path)).map(|stages| &stages[..]);
        let before = match entry(path) {
            None => None,
            Some([one]) if one.ends_with(" 0") => Some(one.clone()),
            // A merge of git has it already.
            Some(_) => continue,
        };
        let old = before.as_ref().or_else(|| entry(was)?.first());
        // Nobody asked git to track it.
        if texts[1].is_some() && old.is_none() {
            continue;
        }
        let mode = old.and_then(|entry| entry.split(' ').next()).unwrap_or("100644");
        let path = at(path);
        let mut stages = Vec::new();
        for (stage, text) in (1..).zip(texts) {
            let Some(text) = text else { continue };
            let mut git = git(In::Around(&index.top));
            // The path says how git stores line ends of this file.
            git.args(&filters_off).args(["hash-object", "-w", "--stdin", "--path", &path]);
            let object = program::run(&mut git, text)?;
            stages.push(format!("{mode} {} {stage}", String::from_utf8_lossy(object.trim_ascii())));
        }
        lines.push_str(&replaced(&path, &stages, &stages));
        written.retain(|known| known.path != path);
        written.push(Written { path, before, stages });
    }
    note(&index, &written)?;
    index.write(&lines)
}

/// Takes the stages away that this program wrote for files that are in conflict no more, in the repository around a folder. `is_open` says
/// whether a file, by its path on disk, still is.
///
/// # Errors
/// git cannot be run, or cannot write.
pub fn settle(folder: &Path, is_open: impl Fn(&Path) -> bool) -> Result<()> {
    let Some(index) = Index::around(folder) else { return Ok(()) };
    let (open, done): (Vec<Written>, Vec<Written>) =
        written(&index).into_iter().partition(|file| is_open(&index.top.join(&file.path)));
    if done.is_empty() {
        return Ok(());
    }
    let now = index.entries(done.iter().map(|file| file.path.as_str()))?;
    let own = done.iter().filter(|file| now.get(&file.path) == Some(&file.stages));
    let lines: String = own.map(|file| replaced(&file.path, &file.stages, file.before.as_slice())).collect();
    index.write(&lines)?;
    note(&index, &open)
}

/// Forgets what this program wrote for these files, whose entries are as they were before.
///
/// # Errors
/// The note cannot be written.
pub fn forget(index: &Index, paths: &BTreeSet<&str>) -> Result<()> {
    let mut left = written(index);
    left.retain(|file| !paths.contains(file.path.as_str()));
    note(index, &left)
}

/// The name of the note with what this program wrote.
const NOTE: &str = "unmerged";

/// What this program wrote. What nobody can read counts as nothing.
fn written(index: &Index) -> Vec<Written> {
    let file = |fields: &str| {
        let mut fields = fields.split('\0').map(str::to_owned);
        Some(Written {
            path: fields.next().filter(|path| !path.is_empty())?,
            before: Some(fields.next()?).filter(|before| !before.is_empty()),
            stages: fields.collect(),
        })
    };
    index.noted(NOTE).split('\n').filter_map(file).collect()
}

fn note(index: &Index, written: &[Written]) -> Result<()> {
    let line = |Written { path, before, stages }: &Written| {
        [&[path.clone(), before.clone().unwrap_or_default()], &stages[..]].concat().join("\0") + "\n"
    };
    index.note(NOTE, &written.iter().map(line).collect::<String>())
}
