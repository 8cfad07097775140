//! Folders as descriptors, for the POSIX calls whose names end with `at`.

#![expect(clippy::disallowed_methods, reason = "here files are opened, never through a link")]

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, open, openat, renameat, statat, unlinkat};
use rustix::process::{Resource, getrlimit};

use super::before_change;

/// A folder that is held open.
#[derive(Debug)]
pub struct Folder(OwnedFd);

/// With `O_PATH`, a folder can be opened without permission to read it. It is then good only for looking up names.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NAMES: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const NAMES: OFlags = OFlags::RDONLY;

/// The flags to open a folder: never through a symbolic link.
const FOLDER: OFlags = NAMES.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The flags to open a file: never through a symbolic link, and without waiting for the other end of a FIFO.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// How many files and folders the process may have open.
pub fn most_open() -> usize {
    getrlimit(Resource::Nofile).current.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX))
}

impl Folder {
    /// Opens a folder by its path, whose last name must not be a symbolic link.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(open(path, FOLDER, Mode::empty())?))
    }

    /// Opens a folder in this folder.
    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self(openat(&self.0, name, FOLDER, Mode::empty())?))
    }

    /// A second descriptor of the same folder.
    pub fn again(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// The folder as a file, to sync or lock it.
    pub fn as_file(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(&self.0, ".", flags, Mode::empty())?.into())
    }

    /// Makes a folder in this folder.
    pub fn make(&self, name: &OsStr) -> io::Result<()> {
        before_change();
        Ok(mkdirat(&self.0, name, Mode::from(0o777))?)
    }

    /// Opens a file to read it.
    pub fn read(&self, name: &OsStr) -> io::Result<File> {
        Ok(openat(&self.0, name, FILE | OFlags::RDONLY, Mode::empty())?.into())
    }

    /// Opens a file to write it.
    pub fn write(&self, name: &OsStr) -> io::Result<File> {
        Ok(openat(&self.0, name, FILE | OFlags::WRONLY, Mode::empty())?.into())
    }

    /// Makes a file that must not exist yet, which everyone may read and write.
    pub fn create(&self, name: &OsStr) -> io::Result<File> {
        self.create_with(name, Mode::from(0o666))
    }

    /// Makes a file that must not exist yet, which only its owner may read and write.
    pub fn create_private(&self, name: &OsStr) -> io::Result<File> {
        self.create_with(name, Mode::from(0o600))
    }

    fn create_with(&self, name: &OsStr, mode: Mode) -> io::Result<File> {
        before_change();
        Ok(openat(&self.0, name, FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, mode)?.into())
    }

    /// Whether the name belongs to a symbolic link.
    pub fn is_link(&self, name: &OsStr) -> bool {
        self.kind(name).is_ok_and(|kind| kind == FileType::Symlink)
    }

    /// Whether the name exists in the folder. A symbolic link that leads nowhere counts, too.
    pub fn has(&self, name: &OsStr) -> bool {
        self.kind(name).is_ok()
    }

    fn kind(&self, name: &OsStr) -> io::Result<FileType> {
        Ok(FileType::from_raw_mode(statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode))
    }

    /// Gives a file another name in the folder.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.give(from, self, to)
    }

    /// Gives a file to another folder, under another name.
    pub fn give(&self, from: &OsStr, folder: &Self, to: &OsStr) -> io::Result<()> {
        before_change();
        Ok(renameat(&self.0, from, &folder.0, to)?)
    }

    /// Removes a file.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        before_change();
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an empty folder.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        before_change();
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }
}
