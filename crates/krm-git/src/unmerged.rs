//! Tells git's index which files of a work tree are in conflict, and that they are no more.
//!
//! git keeps three versions of such a file: original, ours and theirs, in the stages 1 to 3. `git status`, editors and `git checkout --ours`
//! read them. Only blobs and entries of the index are written, and no file of the work tree.
//!
//! A merge of git writes such stages, too, and its next commit needs them. So what this program wrote stands in a file of the git directory,
//! with the entry that was there before. Only stages that are still those are taken away, and the entry comes back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use krm_files::walk::path_of;
use krm_tree::sides::{Side, Sides};

use crate::cache;
use crate::program::{self, In, git};

/// A file in conflict. A side that does not have it has no text.
#[derive(Debug)]
pub struct Conflicted<'c> {
    /// Its path in the folder, with `/`.
    pub path: &'c str,
    /// The path that ours had, if upstream moved it.
    pub was: &'c str,
    /// Its text on each side.
    pub texts: Sides<Option<Vec<u8>>>,
}

/// The file in the git directory with what this program wrote.
const WRITTEN: &str = "krm-merge/unmerged";

/// A file that this program told git to be in conflict.
#[derive(Debug, PartialEq, Eq)]
struct Written {
    /// Its path from the top of the work tree.
    path: String,
    /// Its entry before: mode and object. Empty if git did not track it.
    before: String,
    /// Its stages, as `git ls-files --stage` prints them, without the path.
    stages: Vec<String>,
}

/// Writes the stages of files in conflict into the index of the repository around a folder. Files that git does not track stay out of it, as does
/// everything outside of a repository.
///
/// # Errors
/// git cannot be run, or cannot write.
pub fn tell(folder: &Path, files: &[Conflicted<'_>]) -> Result<()> {
    let Some(repository) = Repository::around(folder) else { return Ok(()) };
    let prefix = program::path_told(folder, "--show-prefix")?;
    let prefix = prefix.to_str().context("the path of the package must be UTF-8")?;
    let known = repository
        .entries(files.iter().flat_map(|file| [file.path, file.was]).map(|path| format!("{prefix}{path}")))?;
    let mut written = repository.written();
    let mut lines = String::new();
    for Conflicted { path, was, texts } in files {
        let entry = |path: &str| known.get(&format!("{prefix}{path}")).map(|stages| &stages[..]);
        let before = match entry(path) {
            None => String::new(),
            Some([one]) if one.ends_with(" 0") => one.trim_end_matches(" 0").to_owned(),
            // A merge of git has it already.
            Some(_) => continue,
        };
        // Nobody asked git to track it.
        let was_tracked = entry(was).is_some();
        if texts.dest.is_some() && !was_tracked {
            continue;
        }
        let mode = [&before[..], entry(was).map_or("", |stages| &stages[0])]
            .into_iter()
            .find_map(|of| of.split(' ').next().filter(|mode| !mode.is_empty()));
        let path = format!("{prefix}{path}");
        let mut stages = Vec::new();
        for (stage, side) in [(1, Side::Original), (2, Side::Dest), (3, Side::Updated)] {
            let Some(text) = &texts[side] else { continue };
            let mut git = program::without_filters(&repository.top)?;
            // The path says how git stores line ends of this file.
            git.args(["hash-object", "-w", "--stdin", "--path", &path]);
            let object = program::run(&mut git, text)?;
            stages.push(format!(
                "{} {} {stage}",
                mode.unwrap_or("100644"),
                String::from_utf8_lossy(object.trim_ascii())
            ));
        }
        lines.push_str(&replaced(&path, &stages));
        written.retain(|known| known.path != path);
        written.push(Written { path, before, stages });
    }
    repository.note(&written)?;
    repository.write(&lines)
}

/// Takes the stages away that this program wrote for files that are in conflict no more, in the repository around a folder. `is_open` says
/// whether a file, by its path on disk, still is.
///
/// # Errors
/// git cannot be run, or cannot write.
pub fn settle(folder: &Path, is_open: impl Fn(&Path) -> bool) -> Result<()> {
    let Some(repository) = Repository::around(folder) else { return Ok(()) };
    let (open, done): (Vec<Written>, Vec<Written>) =
        repository.written().into_iter().partition(|file| is_open(&repository.top.join(&file.path)));
    if done.is_empty() {
        return Ok(());
    }
    let now = repository.entries(done.iter().map(|file| file.path.clone()))?;
    let own = done.iter().filter(|file| now.get(&file.path) == Some(&file.stages));
    let lines: String = own
        .map(|file| {
            let before = (!file.before.is_empty()).then(|| format!("{} 0", file.before));
            let object = file.stages.first().map_or("", |stage| stage.as_str());
            replaced_like(&file.path, before.as_slice(), object)
        })
        .collect();
    repository.write(&lines)?;
    repository.note(&open)
}

/// The lines for `git update-index --index-info` that put entries in the place of all that a path has.
fn replaced(path: &str, entries: &[String]) -> String {
    replaced_like(path, entries, entries.first().map_or("", String::as_str))
}

/// The same. `like` is an entry with an object of this repository, whose names have one length.
fn replaced_like(path: &str, entries: &[String], like: &str) -> String {
    let zeros = "0".repeat(like.split(' ').nth(1).map_or(40, str::len));
    let mut lines = format!("0 {zeros}\t{path}\0");
    entries.iter().for_each(|entry| lines.push_str(&format!("{entry}\t{path}\0")));
    lines
}

/// The repository around a folder.
struct Repository {
    top: PathBuf,
    /// The file with what this program wrote.
    file: PathBuf,
}

impl Repository {
    fn around(folder: &Path) -> Option<Self> {
        let top = fs::canonicalize(program::path_told(folder, "--show-toplevel").ok()?).ok()?;
        let told = program::run(git(In::Around(&top)).args(["rev-parse", "--git-path", WRITTEN]), b"").ok()?;
        let file = top.join(path_of(told.strip_suffix(b"\n").unwrap_or(&told)));
        Some(Self { top, file })
    }

    /// What this program wrote. What nobody can read counts as nothing.
    fn written(&self) -> Vec<Written> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let file = |fields: &str| {
            let mut fields = fields.split('\0').map(str::to_owned);
            Some(Written {
                path: fields.next().filter(|path| !path.is_empty())?,
                before: fields.next()?,
                stages: fields.collect(),
            })
        };
        text.split('\n').filter_map(file).collect()
    }

    fn note(&self, written: &[Written]) -> Result<()> {
        if written.is_empty() {
            let _ = fs::remove_file(&self.file);
            return Ok(());
        }
        let line = |Written { path, before, stages }: &Written| {
            [&[path.clone(), before.clone()], &stages[..]].concat().join("\0") + "\n"
        };
        fs::create_dir_all(self.file.parent().context("it must be a file")?)?;
        cache::write(&self.file, written.iter().map(line).collect::<String>().as_bytes())
    }

    /// The entries of paths in the index: for each stage mode, object and stage.
    fn entries(&self, paths: impl Iterator<Item = String>) -> Result<BTreeMap<String, Vec<String>>> {
        let mut git = git(In::Around(&self.top));
        git.args(["--literal-pathspecs", "ls-files", "--stage", "-z", "--"]).args(paths);
        let told = program::run(&mut git, b"")?;
        let mut entries: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for entry in String::from_utf8_lossy(&told).split('\0') {
            if let Some((head, path)) = entry.split_once('\t') {
                entries.entry(path.to_owned()).or_default().push(head.to_owned());
            }
        }
        Ok(entries)
    }

    /// Changes the index by lines that `git update-index --index-info` reads.
    fn write(&self, lines: &str) -> Result<()> {
        if !lines.is_empty() {
            program::run(git(In::Around(&self.top)).args(["update-index", "-z", "--index-info"]), lines.as_bytes())?;
        }
        Ok(())
    }
}
