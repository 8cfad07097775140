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
use krm_files::made;
use krm_tree::sides::{Side, Sides};

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
    let Some(repository) = Repository::around(folder) else { return Ok(()) };
    let prefix = repository.prefix.to_str().context("the path of the package must be UTF-8")?;
    let at = |path: &str| format!("{prefix}{path}");
    let known = repository.entries(files.iter().flat_map(|file| [at(file.path), at(file.was)]))?;
    let filters_off = program::filters_off(&repository.top)?;
    let mut written = repository.written();
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
        if texts.dest.is_some() && old.is_none() {
            continue;
        }
        let mode = old.and_then(|entry| entry.split(' ').next()).unwrap_or("100644");
        let path = at(path);
        let mut stages = Vec::new();
        for (stage, side) in [(1, Side::Original), (2, Side::Dest), (3, Side::Updated)] {
            let Some(text) = &texts[side] else { continue };
            let mut git = git(In::Around(&repository.top));
            // The path says how git stores line ends of this file.
            git.args(&filters_off).args(["hash-object", "-w", "--stdin", "--path", &path]);
            let object = program::run(&mut git, text)?;
            stages.push(format!("{mode} {} {stage}", String::from_utf8_lossy(object.trim_ascii())));
        }
        lines.push_str(&replaced(&path, &stages, &stages));
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
    let lines: String = own.map(|file| replaced(&file.path, &file.stages, file.before.as_slice())).collect();
    repository.write(&lines)?;
    repository.note(&open)
}

/// The lines for `git update-index --index-info` that put entries in the place of all that a path has. `stages` are entries of this repository.
fn replaced(path: &str, stages: &[String], entries: &[String]) -> String {
    // The names of its objects have one length.
    let length = stages.iter().find_map(|entry| entry.split(' ').nth(1)).map_or(40, str::len);
    let none = format!("0 {}", "0".repeat(length));
    [none].iter().chain(entries).map(|entry| format!("{entry}\t{path}\0")).collect()
}

/// The repository around a folder.
struct Repository {
    top: PathBuf,
    /// The folder, from the top.
    prefix: PathBuf,
    /// The file with what this program wrote.
    file: PathBuf,
}

impl Repository {
    fn around(folder: &Path) -> Option<Self> {
        let what = ["--show-toplevel", "--show-prefix", "--git-path=krm-merge/unmerged"];
        let [top, prefix, file] = program::paths_told(folder, what).ok()?;
        Some(Self { top: fs::canonicalize(top).ok()?, prefix, file: folder.join(file) })
    }

    /// What this program wrote. What nobody can read counts as nothing.
    fn written(&self) -> Vec<Written> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let file = |fields: &str| {
            let mut fields = fields.split('\0').map(str::to_owned);
            Some(Written {
                path: fields.next().filter(|path| !path.is_empty())?,
                before: Some(fields.next()?).filter(|before| !before.is_empty()),
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
            [&[path.clone(), before.clone().unwrap_or_default()], &stages[..]].concat().join("\0") + "\n"
        };
        fs::create_dir_all(self.file.parent().context("it must be a file")?)?;
        Ok(made::replace(&self.file, written.iter().map(line).collect::<String>().as_bytes())?)
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
