//! Whom a file or folder belongs to, and what others may do with it. Systems without such owners have none to ask, and then it is the user's own.

use std::fs::Metadata;
use std::path::Path;

/// Whether a file or folder belongs to the user of this run.
#[cfg(unix)]
pub fn is_own(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw()
}

/// Whether a file or folder belongs to the user of this run.
#[cfg(not(unix))]
pub fn is_own(_: &Metadata) -> bool {
    true
}

/// Whether others than its owner may write it.
#[cfg(unix)]
pub fn may_others_write(found: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o022 != 0
}

/// Whether others than its owner may write it.
#[cfg(not(unix))]
pub fn may_others_write(_: &Metadata) -> bool {
    false
}

/// Whether someone may execute a file.
#[cfg(unix)]
pub fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

/// Whether someone may execute a file.
#[cfg(not(unix))]
pub fn is_executable(_: &Path) -> bool {
    false
}
