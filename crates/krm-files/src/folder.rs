//! A folder that is held open: all calls act in this folder, even if someone puts a symbolic link in its place meanwhile.
//!
//! Each call looks a path up again, and someone may swap a folder on the path between two calls. A descriptor stays with its folder. So a
//! folder is entered one name at a time from the folder that contains it, never through a symbolic link, and each call takes the name of
//! one file. On systems without such calls, a folder is its path, and each call checks that the path is not a symbolic link.

#[cfg(unix)]
mod by_descriptor;
#[cfg(any(not(unix), test))]
#[cfg_attr(unix, allow(dead_code, reason = "it is compiled here only to be tested"))]
mod by_path;
pub mod root;

use std::fs::File;
use std::io::Write;

use anyhow::Result;

#[cfg(unix)]
pub use by_descriptor::{Folder, most_open};
#[cfg(not(unix))]
pub use by_path::{Folder, most_open};

/// Stands before each call that changes the disk. A test lets the program end at the call with the number of `KRM_MERGE_STOP_AT`, as a kill
/// does.
#[cfg(debug_assertions)]
fn before_change() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static CHANGES: AtomicUsize = AtomicUsize::new(0);
    let number = CHANGES.fetch_add(1, Ordering::Relaxed) + 1;
    if std::env::var("KRM_MERGE_STOP_AT").is_ok_and(|at| at.parse() == Ok(number)) {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
fn before_change() {}

/// Writes the content of a new file, and waits until it lasts.
pub fn fill(mut out: &File, bytes: &[u8]) -> Result<()> {
    before_change();
    out.write_all(bytes)?;
    before_change();
    Ok(out.sync_all()?)
}

/// Waits until the names in a folder last, if the system can say so.
pub fn sync(folder: &Folder) {
    before_change();
    if let Ok(folder) = folder.as_file() {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::io::{Read, Write};

    /// What each kind of folder must do.
    macro_rules! keeps_to_its_folder {
        ($test:ident, $module:ident) => {
            #[cfg(unix)]
            #[test]
            fn $test() {
                use super::$module::Folder;
                let top = std::env::temp_dir().join(format!("krm-merge-{}-{}", stringify!($test), std::process::id()));
                fs::create_dir_all(top.join("sub")).expect("a folder");
                fs::write(top.join("file"), "text").expect("written");
                for (name, to) in [("link", "file"), ("folder", "sub")] {
                    std::os::unix::fs::symlink(to, top.join(name)).expect("a link");
                }
                let [file, new, link, linked, sub, gone] =
                    ["file", "new", "link", "folder", "sub", "gone"].map(OsStr::new);
                let folder = Folder::open(&top).expect("a folder");
                assert!(Folder::open(&top.join("folder")).is_err() && folder.enter(linked).is_err());
                assert!(folder.enter(file).is_err() && folder.read(link).is_err() && folder.write(link).is_err());
                assert!(folder.is_link(link) && !folder.is_link(file) && folder.has(link) && !folder.has(gone));
                let mut text = String::new();
                folder.read(file).expect("opened").read_to_string(&mut text).expect("read");
                assert_eq!(text, "text");
                assert!(folder.create(file).is_err() && folder.create_private(link).is_err());
                folder.create(new).expect("made").write_all(b"new").expect("written");
                folder.rename(new, file).expect("renamed");
                assert_eq!(fs::read_to_string(top.join("link")).expect("there"), "new");
                let sub_folder = folder.enter(sub).expect("entered").again().expect("the same");
                sub_folder.make(new).expect("made");
                assert!(
                    top.join("sub/new").is_dir() && folder.remove_folder(sub).is_err() && folder.make(sub).is_err()
                );
                sub_folder.remove_folder(new).expect("removed");
                folder.as_file().expect("opened").sync_all().expect("synced");
                folder.remove_folder(sub).expect("removed");
                folder.remove(link).expect("removed");
                folder.remove(file).expect("removed");
                assert!(!top.join("sub").exists() && !top.join("file").exists());
                fs::remove_dir_all(top).expect("removed");
            }
        };
    }

    keeps_to_its_folder!(a_folder_by_descriptor_never_follows_a_link, by_descriptor);
    keeps_to_its_folder!(a_folder_by_path_never_follows_a_link, by_path);
}
