//! A folder for temporary files that the user alone can read. It goes with its end, or with the next one if its run was killed.

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};

use crate::folder::Folder;
use crate::made;
use crate::walk::shown;

/// The folder.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    /// The lock on it, which says that its run is at work.
    _lock: Option<File>,
}

/// The number of the next folder of this run.
static NUMBER: AtomicU64 = AtomicU64::new(0);

impl TemporaryFolder {
    /// Makes one. `purpose` is part of its name. Those that killed runs left go.
    ///
    /// # Errors
    /// The folder for temporary files cannot be written.
    pub fn new(purpose: &str) -> Result<Self> {
        Self::below(&std::env::temp_dir(), purpose)
    }

    /// Makes one in this folder, as [`TemporaryFolder::new`] does.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn below(parent: &Path, purpose: &str) -> Result<Self> {
        let prefix = format!("krm-merge-{purpose}-");
        remove_left(parent, &prefix);
        loop {
            // No name twice in one run: another thread may take a folder that is not locked yet for one that a killed run left.
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{prefix}{}-{number}", std::process::id()));
            let mut builder = DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(&path) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                made => made.with_context(|| shown(&path))?,
            }
            let lock = opened(&path);
            let _ = lock.as_ref().map(File::lock_shared);
            // Another run may have taken it for one that a killed run left, before it was locked.
            if path.exists() {
                return Ok(Self { path, _lock: lock });
            }
        }
    }

    /// Makes a file in it, and returns its path.
    ///
    /// # Errors
    /// There is one already, or it cannot be written.
    pub fn add(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<PathBuf> {
        let file = self.path.join(name);
        made::new(&file, bytes).with_context(|| shown(&file))?;
        Ok(file)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The folder, to lock it. In a folder of all, someone may put a FIFO in its place meanwhile.
fn opened(folder: &Path) -> Option<File> {
    Folder::open(folder).and_then(|folder| folder.as_file()).ok()
}

/// Removes the folders of this purpose whose runs are no more at work.
fn remove_left(parent: &Path, prefix: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok) {
        let is_own = entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix));
        if !is_own || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        // Without locks, nobody knows. The lock is held while the folder goes.
        let lock = opened(&entry.path()).filter(|folder| folder.try_lock().is_ok());
        if lock.is_some() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_left_goes_and_what_is_in_use_stays() {
        let parent = TemporaryFolder::new("test-of-folders").expect("a folder");
        let make = |name: &str| {
            let folder = parent.path().join(name);
            fs::create_dir_all(folder.join("sub")).expect("made");
            folder
        };
        // A file takes the first name.
        fs::write(parent.path().join(format!("krm-merge-past-{}-0", std::process::id())), "").expect("written");
        let (left, locked, other) =
            (make("krm-merge-past-4194999-0"), make("krm-merge-past-4194998"), make("krm-merge-other-1"));
        let lock = File::open(&locked).expect("a folder");
        lock.lock_shared().expect("locked");
        let mine = TemporaryFolder::below(parent.path(), "past").expect("a folder");
        let another = TemporaryFolder::below(parent.path(), "past").expect("a folder");
        assert!(!left.exists() && locked.exists() && other.exists());
        assert!(mine.path() != another.path() && mine.path().exists() && another.path().exists());
        drop(lock);
        let path = mine.path().to_owned();
        drop(mine);
        assert!(!path.exists());
        drop(TemporaryFolder::below(parent.path(), "past"));
        assert!(!locked.exists() && another.path().exists() && other.exists());
    }
}
