//! The index of the repository around a folder, and the folder of its git directory in which this program keeps notes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use krm_files::made;

use crate::program::{self, In, git};

/// How many paths git is asked for at once.
const MOST: usize = 500;

/// The index of a work tree. An entry is mode, object and stage, as `git ls-files --stage` prints them.
pub struct Index {
    /// The top of the work tree, without symbolic links.
    pub top: PathBuf,
    /// The folder, from the top.
    pub prefix: PathBuf,
    /// The folder with the notes. Each work tree of a repository has its own.
    notes: PathBuf,
}

impl Index {
    /// The one around a folder; `None` outside of a work tree.
    pub fn around(folder: &Path) -> Option<Self> {
        let what = ["--show-toplevel", "--show-prefix", "--git-path=krm-merge"];
        let [top, prefix, notes] = program::paths_told(folder, what).ok()?;
        Some(Self { top: fs::canonicalize(top).ok()?, prefix, notes: folder.join(notes) })
    }

    /// A note. What nobody can read counts as nothing.
    pub fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.notes.join(name)).unwrap_or_default()
    }

    /// Writes a note, or removes one that is empty.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note(&self, name: &str, text: &str) -> Result<()> {
        let file = self.notes.join(name);
        if text.is_empty() {
            let _ = fs::remove_file(&file);
            return Ok(());
        }
        fs::create_dir_all(&self.notes)?;
        Ok(made::replace(&file, text.as_bytes())?)
    }

    /// The entries of paths: one for each stage. A path that git does not track has none.
    ///
    /// # Errors
    /// git cannot be run.
    pub fn entries<'p>(&self, paths: impl Iterator<Item = &'p str>) -> Result<BTreeMap<String, Vec<String>>> {
        let mut entries: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for some in paths.collect::<Vec<_>>().chunks(MOST) {
            let mut git = git(In::Around(&self.top));
            git.args(["--literal-pathspecs", "ls-files", "--stage", "-z", "--"]).args(some);
            let told = program::run(&mut git, b"")?;
            for entry in String::from_utf8_lossy(&told).split('\0') {
                if let Some((head, path)) = entry.split_once('\t') {
                    entries.entry(path.to_owned()).or_default().push(head.to_owned());
                }
            }
        }
        Ok(entries)
    }

    /// Changes the entries by lines of [`replaced`].
    ///
    /// # Errors
    /// git cannot be run, or cannot write.
    pub fn write(&self, lines: &str) -> Result<()> {
        if !lines.is_empty() {
            program::run(git(In::Around(&self.top)).args(["update-index", "-z", "--index-info"]), lines.as_bytes())?;
        }
        Ok(())
    }
}

/// The lines for `git update-index --index-info` that put entries in the place of those that a path has.
pub fn replaced(path: &str, old: &[String], new: &[String]) -> String {
    // The names of the repository's objects have one length.
    let length = old.iter().chain(new).find_map(|entry| entry.split(' ').nth(1)).map_or(40, str::len);
    let none = format!("0 {}", "0".repeat(length));
    [none].iter().chain(new).map(|entry| format!("{entry}\t{path}\0")).collect()
}
