//! Whom a file or folder belongs to. Systems without such owners have none to ask, and then it is the user's own.

use std::fs::Metadata;

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
