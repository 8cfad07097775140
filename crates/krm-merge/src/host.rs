//! Which annotations belong to the host: they carry an item between host and function, and no merge looks at them.
//!
//! kpt finds its way back to files and comments by them, and fails or overwrites files when two items carry the same. Source: hosts.md,
//! measured on kpt and kustomize.

use crate::path::FieldPath;

/// The annotation that holds an item's path in the package.
pub const PATH: &str = "internal.config.kubernetes.io/path";
/// The same, as older hosts call it.
pub const LEGACY_PATH: &str = "config.kubernetes.io/path";
/// The annotation that holds an item's number in its file.
pub const INDEX: &str = "internal.config.kubernetes.io/index";
/// The same, as older hosts call it.
pub const LEGACY_INDEX: &str = "config.kubernetes.io/index";
/// The annotation that gives an item its role.
pub const ROLE: &str = "config.kubernetes.io/merge-source";

/// Whether an annotation is the host's.
pub fn is_transport(key: &str) -> bool {
    const PREFIXES: [&str; 3] =
        ["internal.config.kubernetes.io/", "internal.config.k8s.io/", "kustomize.config.k8s.io/"];
    const NAMES: [&str; 4] = [LEGACY_PATH, LEGACY_INDEX, "config.k8s.io/id", ROLE];
    PREFIXES.iter().any(|p| key.starts_with(p)) || NAMES.contains(&key)
}

/// Whether a field of the map at a path is the host's, and no merge looks at it.
pub fn is_protected(map: &FieldPath<'_>, name: &str) -> bool {
    map.is_fields(&["metadata", "annotations"]) && is_transport(name)
}
