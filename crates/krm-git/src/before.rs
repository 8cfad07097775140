//! What files of a work tree were before a run wrote them, so that the run can be taken back.
//!
//! Before a run writes, the repository gets the old text of each file as an object, which is there already if the file is committed. A note in
//! the git directory has for each file that object, its entry of the index, and what the run writes. The note stays until a run on the same
//! package replaces it, or until the run is taken back. git forgets objects that nobody names after some weeks.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use krm_files::disk::{Replacement, hash};
use krm_files::owner::is_executable;
use krm_files::walk::{c_quoted, shown};
use krm_names::file_path;
use krm_names::shown;

use crate::index::{Index, replaced};
use crate::objects::Objects;
use crate::program::{self, In, git};
use crate::unmerged;

/// A file as it was before a run. All paths are those from the top of the work tree.
struct Before {
    /// The package that the run wrote, or its one file.
    dest: String,
    /// The commit on which the work tree was; empty before the first.
    commit: String,
    path: String,
    /// The object with its text; empty if there was no file.
    object: String,
    is_executable: bool,
    /// Its entries in the index.
    entries: Vec<String>,
    /// The hash of the text that the run wrote; empty if it deleted the file.
    written: String,
}

/// A file on its way back.
#[derive(Debug)]
pub struct Back {
    /// Its path on disk.
    pub file: PathBuf,
    /// Its text now.
    pub now: Option<Vec<u8>>,
    /// Its text before the run.
    pub old: Option<Vec<u8>>,
    /// Whether someone could execute it then.
    pub is_executable: bool,
    /// Whether somebody changed it since the run.
    pub is_edited: bool,
}

/// Why `--abort` will not help: the beginning of a message with the reason.
pub const NO_WAY_BACK: &str = "`upgrade --abort` cannot take this run back";

/// Notes what files are that a run on `dest` writes next, and those in conflict that it leaves as they are: someone may decide them by hand.
/// Outside of a repository, nothing is noted.
///
/// # Errors
/// git cannot keep the old texts, or the note cannot be written.
pub fn note(dest: &Path, files: &[Replacement<'_>], left: &[Replacement<'_>]) -> Result<()> {
    let folder = if dest.is_dir() { dest } else { dest.parent().unwrap_or(dest) };
    let Some(index) = Index::around(folder).filter(|_| !files.is_empty()) else { return Ok(()) };
    let Some(dest) = from_top(&index, dest) else { return Ok(()) };
    let mut all = all(&index);
    all.retain(|before| before.dest != dest);
    all.extend(befores(&index, &dest, files.iter().chain(left))?);
    write(&index, &all)
}

/// Notes what else a later run writes, which decides the conflicts of an earlier one: files beside those that the earlier run wrote.
///
/// # Errors
/// The errors of [`note`].
pub fn note_more(files: &[Replacement<'_>]) -> Result<()> {
    let Some(index) = files.first().and_then(|file| Index::around(file.file.parent()?)) else { return Ok(()) };
    let mut all = all(&index);
    let paths: BTreeSet<String> = files.iter().filter_map(|file| from_top(&index, &file.file)).collect();
    let Some(dest) = all.iter().find(|before| paths.contains(&before.path)).map(|before| before.dest.clone()) else {
        return Ok(());
    };
    let known: BTreeSet<&str> = all.iter().map(|before| before.path.as_str()).collect();
    let is_new = |file: &&Replacement<'_>| from_top(&index, &file.file).is_some_and(|path| !known.contains(&*path));
    let mut more = befores(&index, &dest, files.iter().filter(is_new))?;
    // What a person decided counts as edited.
    more.iter_mut().for_each(|before| before.written.clear());
    if more.is_empty() {
        return Ok(());
    }
    all.extend(more);
    write(&index, &all)
}

/// The runs that can be taken back in a work tree.
pub struct Runs {
    index: Index,
    all: Vec<Before>,
}

impl Runs {
    /// Those of the work tree around a folder or a file; `None` outside of one.
    pub fn around(path: &Path) -> Option<Self> {
        let folder = if path.is_dir() { path } else { path.parent().filter(|above| !above.as_os_str().is_empty())? };
        let index = Index::around(folder)?;
        let all = all(&index);
        Some(Self { index, all })
    }

    /// What they wrote: packages, and single files.
    pub fn dests(&self) -> BTreeSet<PathBuf> {
        self.all.iter().map(|before| self.index.top.join(&before.dest)).collect()
    }

    fn of(&self, dest: &Path) -> impl Iterator<Item = &Before> {
        self.all.iter().filter(move |before| self.index.top.join(&before.dest) == dest)
    }

    /// The files of the run on `dest`, without those that are as before.
    ///
    /// # Errors
    /// A commit since the run has one of them, git has an old text no more, or a file cannot be read.
    pub fn back(&self, dest: &Path) -> Result<Vec<Back>> {
        self.check_not_committed(dest)?;
        let mut objects = Objects::of(git(In::Around(&self.index.top)))?;
        let mut back = Vec::new();
        for before in self.of(dest) {
            let file = self.index.top.join(&before.path);
            let now = match fs::read(&file) {
                Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
                read => Some(read.with_context(|| shown(&file))?),
            };
            let old = match before.object.as_str() {
                "" => None,
                object => Some(objects.read(object, u64::MAX)?.filter(|old| old.kind == "blob").map(|old| old.bytes)),
            };
            let old = old.map(|old| old.with_context(|| format!("{}: git has its old text no more", shown(&file))));
            let old = old.transpose()?;
            let is_same = now == old && (now.is_none() || is_executable(&file) == before.is_executable);
            let is_edited = now.as_deref().is_some_and(|now| hash(now) != before.written);
            if !is_same {
                back.push(Back { file, now, old, is_executable: before.is_executable, is_edited });
            }
        }
        Ok(back)
    }

    /// Checks that no commit has what the run wrote.
    fn check_not_committed(&self, dest: &Path) -> Result<()> {
        let (now, mut files) = (head(&self.index), self.of(dest).peekable());
        let Some(then) = files.peek().map(|before| &before.commit).filter(|then| **then != now) else { return Ok(()) };
        let changed = if then.is_empty() || now.is_empty() {
            None
        } else {
            let mut diff = git(In::Around(&self.index.top));
            diff.args(["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", then, &now, "--"]);
            Some(String::from_utf8_lossy(&program::run(&mut diff, b"")?).into_owned())
        };
        let changed: Option<BTreeSet<&str>> = changed.as_ref().map(|changed| changed.split('\0').collect());
        let is_in = |before: &&Before| changed.as_ref().is_none_or(|changed| changed.contains(&*before.path));
        if let Some(first) = files.find(is_in) {
            bail!(
                "a commit since the run has {}: take that commit back with `git revert`, or check out the one before the run, `{then}`",
                shown::name(&first.path)
            );
        }
        Ok(())
    }

    /// Keeps a text that is lost otherwise, and returns the name of its object.
    ///
    /// # Errors
    /// git cannot keep it.
    pub fn keep(&self, text: &[u8]) -> Result<String> {
        let mut git = git(In::Around(&self.index.top));
        let told = program::run(git.args(["hash-object", "-w", "--no-filters", "--stdin"]), text)?;
        Ok(String::from_utf8_lossy(told.trim_ascii()).into_owned())
    }

    /// Puts back the entries that the index had for the files of the run on `dest`, and forgets the run.
    ///
    /// # Errors
    /// git cannot write, or the note cannot be written.
    pub fn forget(&mut self, dest: &Path) -> Result<()> {
        let now = self.index.entries(self.of(dest).map(|before| before.path.as_str()))?;
        let now = |path: &str| now.get(path).map_or(&[][..], Vec::as_slice);
        let other = self.of(dest).filter(|before| now(&before.path) != before.entries);
        let lines: String = other.map(|b| replaced(&b.path, now(&b.path), &b.entries)).collect();
        self.index.write(&lines)?;
        unmerged::forget(&self.index, &self.of(dest).map(|before| before.path.as_str()).collect())?;
        let top = self.index.top.clone();
        self.all.retain(|before| top.join(&before.dest) != dest);
        write(&self.index, &self.all)
    }
}

/// Files as they are now.
fn befores<'r>(index: &Index, dest: &str, files: impl Iterator<Item = &'r Replacement<'r>>) -> Result<Vec<Before>> {
    let commit = head(index);
    let mut befores = Vec::new();
    let mut asked = String::new();
    let mut known = BTreeSet::new();
    for Replacement { file, old, new, .. } in files {
        let Some(path) = from_top(index, file).filter(|path| known.insert(path.clone())) else { continue };
        if old.is_some() {
            // The quotes keep a line break in a name.
            asked.push_str(&c_quoted(&path, |_| true));
            asked.push('\n');
        }
        befores.push(Before {
            dest: dest.to_owned(),
            commit: commit.clone(),
            path,
            // Its turn comes below.
            object: old.as_ref().map_or("", |_| "?").to_owned(),
            is_executable: is_executable(file),
            entries: Vec::new(),
            written: new.as_deref().map(hash).unwrap_or_default(),
        });
    }
    let mut git = git(In::Around(&index.top));
    let told = program::run(git.args(["hash-object", "-w", "--no-filters", "--stdin-paths"]), asked.as_bytes())?;
    let told = String::from_utf8_lossy(&told);
    let mut objects = told.lines();
    let mut entries = index.entries(befores.iter().map(|before| before.path.as_str()))?;
    for before in &mut befores {
        if !before.object.is_empty() {
            before.object = objects.next().context("`git hash-object` must name each file")?.to_owned();
        }
        before.entries = entries.remove(&before.path).unwrap_or_default();
    }
    Ok(befores)
}

/// The commit of a work tree; empty before the first.
fn head(index: &Index) -> String {
    let mut git = git(In::Around(&index.top));
    let told = program::run(git.args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]), b"").unwrap_or_default();
    String::from_utf8_lossy(told.trim_ascii()).into_owned()
}

/// A path from the top of the work tree; `None` outside of it, and where it is not UTF-8.
fn from_top(index: &Index, file: &Path) -> Option<String> {
    let file = match file.parent().and_then(|folder| fs::canonicalize(folder).ok()) {
        Some(folder) => folder.join(file.file_name()?),
        None => file.to_owned(),
    };
    Some(file.strip_prefix(&index.top).ok()?.to_str()?.to_owned())
}

/// The name of the note.
const NOTE: &str = "before";

/// How many fields a file has in the note.
const FIELDS: usize = 7;

/// All files of the note, but for those that lead elsewhere, which no run wrote.
fn all(index: &Index) -> Vec<Before> {
    let text = index.noted(NOTE);
    let fields: Vec<&str> = text.split('\0').collect();
    let is_safe = |path: &str| file_path::is_within(path) && !path.split('/').any(file_path::is_git);
    let of = |fields: &[&str]| match fields {
        [dest, commit, path, object, mode, entries, written] if is_safe(path) && is_safe(dest) => Some(Before {
            dest: (*dest).to_owned(),
            commit: (*commit).to_owned(),
            path: (*path).to_owned(),
            object: (*object).to_owned(),
            is_executable: *mode == "x",
            entries: entries.split(',').filter(|entry| !entry.is_empty()).map(str::to_owned).collect(),
            written: (*written).to_owned(),
        }),
        _ => None,
    };
    fields.chunks_exact(FIELDS).filter_map(of).collect()
}

fn write(index: &Index, all: &[Before]) -> Result<()> {
    let mut text = String::new();
    for Before { dest, commit, path, object, is_executable, entries, written } in all {
        let (mode, entries) = (if *is_executable { "x" } else { "" }, entries.join(","));
        for field in [dest, commit, path, object, mode, &entries, written] {
            let _ = write!(text, "{field}\0");
        }
    }
    index.note(NOTE, &text)
}
