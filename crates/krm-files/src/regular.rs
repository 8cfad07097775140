//! Checks a file of rules that came with a package before it is opened. It must be a regular file of limited size. And reads what the user
//! names, which may be a stream without end.
//!
//! A FIFO never ends, and a device fills the memory. A symbolic link may bring in rules from elsewhere, or lead writes out of the package.

use std::fs::{self, File, FileType};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// The largest file of rules, in bytes.
const MOST: u64 = 1 << 20;

/// Checks a file of a package, and returns its path without symbolic links. A symbolic link must lead to a file of the package.
///
/// # Errors
/// It is anything else. The error says what it is and what to do.
pub fn within(package: &Path, file: &Path) -> Result<PathBuf> {
    within_of(package, file, MOST)
}

/// Does what [`within`] does, for a file of at most `most` bytes.
///
/// # Errors
/// The errors of [`within`].
pub fn within_of(package: &Path, file: &Path, most: u64) -> Result<PathBuf> {
    let found = fs::canonicalize(file).ok().filter(|found| found.starts_with(package));
    let Some(found) = found else {
        bail!("it must be in the package, but it is a symbolic link that leads out of it; {COPY}");
    };
    check(&found, most)?;
    Ok(found)
}

/// Checks that a path is a regular file, or that nothing exists there. A symbolic link is an error.
///
/// # Errors
/// The errors of [`within`].
pub fn itself(file: &Path) -> Result<()> {
    match fs::symlink_metadata(file) {
        Ok(found) if found.is_symlink() => bail!("it must be a regular file, but it is a symbolic link; {COPY}"),
        Ok(_) => check(file, MOST),
        Err(_) => Ok(()),
    }
}

/// Checks that a path of the user leads to a regular file of any size, or to nothing. A symbolic link of the user's own is followed.
///
/// # Errors
/// The errors of [`within`].
pub fn own(file: &Path) -> Result<()> {
    if file.exists() { check(file, u64::MAX) } else { Ok(()) }
}

/// The most bytes of a file whose size nobody knows before its end.
const MOST_OF_STREAM: u64 = 256 << 20;

/// Reads a file that the user names. It may be a pipe or a device, and these may have no end.
///
/// # Errors
/// It cannot be read; or it is larger than this program reads.
pub fn read(file: &Path) -> Result<Vec<u8>> {
    let file = File::open(file)?;
    let found = file.metadata()?;
    // No text may be longer.
    read_at_most(file, if found.is_file() { u32::MAX.into() } else { MOST_OF_STREAM })
}

/// Reads a stream to its end.
///
/// # Errors
/// The errors of [`read`].
pub fn read_stream(stream: impl Read) -> Result<Vec<u8>> {
    read_at_most(stream, MOST_OF_STREAM)
}

fn read_at_most(stream: impl Read, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let count = stream.take(most + 1).read_to_end(&mut bytes)?;
    if u64::try_from(count)? > most {
        bail!("it must have at most {most} bytes; give a smaller file");
    }
    Ok(bytes)
}

const COPY: &str = "put a copy of what it leads to in its place, or remove it";

/// Checks the type and size of a file, or of the target of a symbolic link.
fn check(file: &Path, most: u64) -> Result<()> {
    let found = fs::metadata(file)?;
    if !found.is_file() {
        let kind = kind(found.file_type());
        bail!("it must be a regular file, but it is {kind}; put a file of rules in its place, or remove it");
    }
    if found.len() > most {
        bail!("it must have at most {most} bytes, but it has {}; remove rules, or the file", found.len());
    }
    Ok(())
}

#[cfg(unix)]
fn kind(of: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match () {
        () if of.is_dir() => "a folder",
        () if of.is_fifo() => "a FIFO",
        () if of.is_socket() => "a socket",
        () => "a device",
    }
}

#[cfg(not(unix))]
fn kind(of: FileType) -> &'static str {
    if of.is_dir() { "a folder" } else { "a device" }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::temporary::TemporaryFolder;

    #[test]
    fn a_file_of_a_package_is_regular_and_not_too_large() {
        let folder = TemporaryFolder::new("test-of-regular").expect("a folder");
        let package = fs::canonicalize(folder.path()).expect("there").join("p");
        fs::create_dir_all(package.join("sub")).expect("made");
        for (path, text) in [("p/a", "12"), ("outside", "1")] {
            fs::write(folder.path().join(path), text).expect("written");
        }
        for (to, name) in [("a", "in"), ("../outside", "out")] {
            std::os::unix::fs::symlink(to, package.join(name)).expect("a link");
        }
        let at = |name: &str| package.join(name);
        assert_eq!(within(&package, &at("in")).expect("of the package"), at("a"));
        assert_eq!(within_of(&package, &at("a"), 2).expect("small"), at("a"));
        let told = |result: Result<PathBuf>| result.expect_err("refused").to_string();
        assert!(told(within_of(&package, &at("a"), 1)).starts_with("it must have at most 1 bytes, but it has 2"));
        assert!(told(within(&package, &at("out"))).contains("a symbolic link that leads out of it"));
        assert!(told(within(&package, &at("sub"))).contains("but it is a folder"));
        // Nothing and a file are good; a link is one of somebody else.
        assert!(itself(&at("new")).is_ok() && itself(&at("a")).is_ok() && itself(&at("sub")).is_err());
        assert!(itself(&at("in")).expect_err("a link").to_string().contains("but it is a symbolic link"));
        assert!(own(&at("in")).is_ok() && own(&at("new")).is_ok() && own(&at("sub")).is_err());
        assert_eq!(read(&at("a")).expect("read"), b"12");
    }

    #[test]
    fn a_stream_without_end_is_not_read_to_its_end() {
        assert_eq!(read_at_most(&b"12"[..], 2).expect("it has an end"), b"12");
        let told = read_at_most(std::io::repeat(0), 2).expect_err("too long").to_string();
        assert_eq!(told, "it must have at most 2 bytes; give a smaller file");
    }
}
