//! Files that this program makes for itself, and files that it replaces one at a time.
//!
//! A repository may hold a symbolic link of any name, and someone else may write in a folder for temporary files. So each file is made new,
//! never through a link, under a name that nobody can foresee. When it is whole, it takes the place of the other one, as git does it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use krm_names::file_path;

use crate::folder::Folder;

/// A number that nobody can foresee.
pub fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// Makes a new file that only the user may read and write. Its content is these bytes.
///
/// # Errors
/// The name is taken, or the file cannot be written. Then there is no file.
pub fn new(file: &Path, bytes: &[u8]) -> Result<()> {
    let (folder, name) = place(file)?;
    make(&folder, name, bytes, None)
}

/// Puts bytes in the place of a file, as a whole. A file that is there keeps its permissions.
///
/// # Errors
/// It cannot be written. Then the old file stays.
pub fn replace(file: &Path, bytes: &[u8]) -> Result<()> {
    replace_by_way_of(file.parent().unwrap_or(file), file, bytes)
}

/// Does what [`replace`] does. The new file is made in another folder. It is made beside the old one if that folder is on another disk.
///
/// # Errors
/// The errors of [`replace`].
pub fn replace_by_way_of(way: &Path, file: &Path, bytes: &[u8]) -> Result<()> {
    let (folder, name) = place(file)?;
    let permissions = fs::metadata(file).ok().map(|found| found.permissions());
    let put = |way: &Folder| {
        let temporary = OsString::from(file_path::temporary(random(), 0));
        make(way, &temporary, bytes, permissions.clone())?;
        way.give(&temporary, &folder, name).inspect_err(|_| _ = way.remove(&temporary))
    };
    match put(&opened(way)?) {
        Err(e) if e.kind() == ErrorKind::CrossesDevices => put(&folder),
        done => done,
    }
}

/// Opens a file to lock it, or to set its time: the one that is there, or a new one.
///
/// # Errors
/// Something else has its name, or it cannot be made.
pub fn held(file: &Path) -> Result<File> {
    let (folder, name) = place(file)?;
    held_in(&folder, name)
}

/// Does what [`held`] does, in an open folder.
pub(crate) fn held_in(folder: &Folder, name: &OsStr) -> Result<File> {
    let file = loop {
        match folder.create(name) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                match folder.write(name).or_else(|_| folder.read(name)) {
                    // Another run took it away meanwhile.
                    Err(e) if e.kind() == ErrorKind::NotFound => {}
                    opened => break opened?,
                }
            }
            made => break made?,
        }
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(Error::other("it must be a file")) }
}

fn make(folder: &Folder, name: &OsStr, bytes: &[u8], permissions: Option<Permissions>) -> Result<()> {
    let mut out = folder.create_private(name)?;
    let written = out.write_all(bytes).and_then(|()| permissions.map_or(Ok(()), |as_old| out.set_permissions(as_old)));
    written.inspect_err(|_| _ = folder.remove(name))
}

/// The folder of a file, and its name there.
fn place(file: &Path) -> Result<(Folder, &OsStr)> {
    let name = file.file_name().ok_or_else(|| Error::from(ErrorKind::InvalidInput))?;
    Ok((opened(file.parent().unwrap_or(file))?, name))
}

fn opened(folder: &Path) -> Result<Folder> {
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() };
    Folder::open(&fs::canonicalize(folder)?)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn new_folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("krm-merge-made-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("made");
        folder
    }

    #[test]
    fn no_file_is_written_through_a_link() {
        let folder = new_folder("links");
        let at = |name: &str| folder.join(name);
        new(&at("outside"), b"mine").expect("new");
        for name in ["link", "place"] {
            symlink("outside", at(name)).expect("a link");
        }
        new(&at("link"), b"x").expect_err("the name is taken");
        new(&at("outside"), b"x").expect_err("the name is taken");
        held(&at("link")).expect_err("a link");
        replace(&at("place"), b"new").expect("replaced");
        assert_eq!(fs::read(at("outside")).expect("there"), b"mine");
        assert!(!at("place").is_symlink() && fs::read(at("place")).expect("there") == b"new");
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 3);
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_permissions_and_a_new_one_is_for_its_user() {
        let (folder, way) = (new_folder("files"), "way");
        let at = |name: &str| folder.join(name);
        let mode = |name: &str| fs::metadata(at(name)).expect("there").permissions().mode() & 0o777;
        fs::create_dir(at(way)).expect("made");
        replace_by_way_of(&at(way), &at("a"), b"1").expect("replaced");
        assert_eq!(mode("a"), 0o600);
        fs::set_permissions(at("a"), Permissions::from_mode(0o754)).expect("set");
        replace_by_way_of(&at(way), &at("a"), b"2").expect("replaced");
        assert_eq!((mode("a"), fs::read(at("a")).expect("there")), (0o754, b"2".to_vec()));
        assert_eq!(fs::read_dir(at(way)).expect("a folder").count(), 0);
        assert!(random() != random());
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn a_file_that_others_take_away_meanwhile_is_made_again() {
        use std::sync::atomic::{AtomicBool, Ordering};

        let folder = new_folder("turns");
        let (file, done) = (folder.join("lock"), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = fs::write(&file, b"").and_then(|()| fs::remove_file(&file));
                }
            });
            let opened = (0..30_000).map(|_| held(&file)).filter_map(Result::err).next();
            done.store(true, Ordering::Relaxed);
            assert!(opened.is_none(), "{opened:?}");
        });
        fs::remove_dir_all(folder).expect("removed");
    }
}
