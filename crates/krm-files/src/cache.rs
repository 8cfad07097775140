//! The folder of the user's own where this program keeps what it needs again.
//!
//! git obeys what stands in a repository there, and a key there is a secret. So a folder that someone else could have written is refused.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::{array, env};

use anyhow::{Context, Error, Result, anyhow, bail};

use crate::command::own;
use crate::walk::shown;
use crate::{made, owner};

/// The folder of the whole cache. Nobody else may read it, because releases may hold Secrets.
///
/// # Errors
/// The user has no cache folder, it cannot be written, or others can write it.
pub fn root() -> Result<PathBuf> {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || named("HOME").or_else(|| named("USERPROFILE"));
    let own = match env::consts::OS {
        "macos" => home().map(|home| home.join("Library/Caches")),
        "windows" => named("LOCALAPPDATA"),
        _ => home().map(|home| home.join(".cache")),
    };
    let cache =
        named("XDG_CACHE_HOME").or(own).context("`XDG_CACHE_HOME` or `HOME` must name a folder for the cache")?;
    folder(cache.join("krm-merge"))
}

/// A folder that is the user's alone. It is made if it does not exist.
///
/// # Errors
/// It cannot be made, or it is another user's, or others may write it.
pub fn folder(folder: PathBuf) -> Result<PathBuf> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(&folder).map_err(full).with_context(|| shown(&folder))?;
    // A symbolic link may be another's, too.
    for found in [fs::symlink_metadata(&folder)?, fs::metadata(&folder)?] {
        let why = match found {
            found if !owner::is_own(&found) => "it is another user's",
            found if found.is_dir() && owner::may_others_write(&found) => "others may write it",
            _ => continue,
        };
        bail!(
            "{}: the cache directory must be your own, because git obeys the files in it, but {why}. Remove it, or set `XDG_CACHE_HOME` to another directory",
            shown(&folder)
        );
    }
    Ok(folder)
}

/// Says in plain words that the disk is full, if an error means that.
pub fn full(error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => anyhow!(full_disk()),
        _ => error.into(),
    }
}

/// The error for a full disk.
pub fn full_disk() -> String {
    format!(
        "the disk of the cache is full: make room, as by `{}`, or set `XDG_CACHE_HOME` to a folder on another one; what was fetched before is still there",
        own(&["cache", "--clear"])
    )
}

/// How long the key is, in bytes.
const KEY: usize = 32;

/// The user's key. It tells what the runs of this user wrote from what anybody else wrote.
///
/// # Errors
/// The user has no key yet.
pub fn key() -> Result<[u8; KEY]> {
    let bytes = fs::read(root()?.join("key"))?;
    bytes.try_into().ok().with_context(|| format!("the key must have {KEY} bytes"))
}

/// The user's key, which is made if there is none.
///
/// # Errors
/// The errors of [`root`].
pub fn key_or_new() -> Result<[u8; KEY]> {
    key().or_else(|_| {
        let numbers: [u64; KEY / 8] = array::from_fn(|_| made::random());
        let (file, bytes) = (root()?.join("key"), numbers.map(u64::to_le_bytes));
        made::new(&file, bytes.as_flattened()).or_else(|_| made::replace(&file, bytes.as_flattened()))?;
        // Another run may have been faster.
        key()
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::*;
    use crate::temporary::TemporaryFolder;

    #[test]
    fn a_folder_that_others_may_write_is_refused() {
        let made = TemporaryFolder::new("test-of-cache").expect("a folder");
        let own = folder(made.path().join("x/y")).expect("made");
        assert_eq!(fs::metadata(&own).expect("there").permissions().mode() & 0o777, 0o700);
        for (mode, is_good) in [(0o700, true), (0o755, true), (0o770, false), (0o707, false), (0o777, false)] {
            fs::set_permissions(&own, fs::Permissions::from_mode(mode)).expect("set");
            let told = folder(own.clone()).map_err(|e| format!("{e:#}"));
            assert_eq!(told.is_ok(), is_good, "{mode:o}: {told:?}");
            assert!(told.is_ok() || told.is_err_and(|told| told.contains("others may write it. Remove it")));
        }
        // What a link of the user leads to counts, too.
        symlink(&own, made.path().join("link")).expect("a link");
        folder(made.path().join("link")).expect_err("others may write it");
        // Nobody but root could make a folder of another user.
        let others = Path::new("/proc/1");
        if fs::metadata(others).is_ok_and(|found| !owner::is_own(&found)) {
            let told = format!("{:#}", folder(others.to_owned()).expect_err("root's"));
            assert!(told.contains("it is another user's"), "{told}");
        }
    }
}
