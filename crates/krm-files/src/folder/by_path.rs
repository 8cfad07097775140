//! Folders as paths, for systems without descriptors of folders. If someone swaps a folder between two calls, only the next check notices
//! it.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::before_change;

/// A folder as a path, which each call looks up.
#[derive(Debug)]
pub struct Folder(PathBuf);

/// How many files and folders the process may have open. A path takes no resource of the system, so there is no limit.
pub fn most_open() -> usize {
    usize::MAX
}

impl Folder {
    /// Opens a folder by its path, whose last name must not be a symbolic link.
    pub fn open(path: &Path) -> io::Result<Self> {
        if fs::symlink_metadata(path)?.is_dir() {
            Ok(Self(path.to_owned()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Opens a folder in this folder.
    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        Self::open(&self.0.join(name))
    }

    /// The same folder again.
    pub fn again(&self) -> io::Result<Self> {
        Ok(Self(self.0.clone()))
    }

    /// The folder as a file, to sync or lock it.
    pub fn as_file(&self) -> io::Result<File> {
        File::open(&self.0)
    }

    /// Makes a folder in this folder.
    pub fn make(&self, name: &OsStr) -> io::Result<()> {
        before_change();
        fs::create_dir(self.checked(name)?)
    }

    /// Opens a file to read it.
    pub fn read(&self, name: &OsStr) -> io::Result<File> {
        File::open(self.checked(name)?)
    }

    /// Opens a file to write it.
    pub fn write(&self, name: &OsStr) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.checked(name)?)
    }

    /// Makes a file that must not exist yet.
    pub fn create(&self, name: &OsStr) -> io::Result<File> {
        before_change();
        File::create_new(self.checked(name)?)
    }

    /// Makes a file that must not exist yet. The system gives it the permissions that the folder prescribes.
    pub fn create_private(&self, name: &OsStr) -> io::Result<File> {
        self.create(name)
    }

    /// Whether the name belongs to a symbolic link.
    pub fn is_link(&self, name: &OsStr) -> bool {
        fs::symlink_metadata(self.0.join(name)).is_ok_and(|found| found.is_symlink())
    }

    /// Whether the name exists in the folder. A symbolic link that leads nowhere counts, too.
    pub fn has(&self, name: &OsStr) -> bool {
        fs::symlink_metadata(self.0.join(name)).is_ok()
    }

    /// Gives a file another name in the folder.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.give(from, self, to)
    }

    /// Gives a file to another folder, under another name.
    pub fn give(&self, from: &OsStr, folder: &Self, to: &OsStr) -> io::Result<()> {
        Self::open(&folder.0)?;
        before_change();
        fs::rename(self.checked(from)?, folder.0.join(to))
    }

    /// Removes a file.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        // This does not use `checked`, because the file may itself be a symbolic link.
        Self::open(&self.0)?;
        before_change();
        fs::remove_file(self.0.join(name))
    }

    /// Removes an empty folder.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        before_change();
        fs::remove_dir(self.checked(name)?)
    }

    /// The path of a file that is not a symbolic link, in a folder that is not one either.
    fn checked(&self, name: &OsStr) -> io::Result<PathBuf> {
        Self::open(&self.0)?;
        if self.is_link(name) { Err(io::ErrorKind::NotADirectory.into()) } else { Ok(self.0.join(name)) }
    }
}
