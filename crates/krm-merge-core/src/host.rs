//! The annotations that belong to the host. They carry an item between host and function, and merges ignore them.
//!
//! kpt uses them to find files and comments again, and fails or overwrites files if two items have the same ones. Source: hosts.md,
//! measured on kpt and kustomize.

use krm_tree::child::Value;
use krm_tree::path::Trail;
use krm_tree::tree::View;
use krm_yaml::{Error, NodeRef};

/// The path to the host's annotations.
const PLACE: [&str; 2] = ["metadata", "annotations"];

/// The annotation that holds an item's path in the package.
pub const PATH: &str = "internal.config.kubernetes.io/path";
/// The name of [`PATH`] in older hosts.
pub const LEGACY_PATH: &str = "config.kubernetes.io/path";
/// The annotation that holds an item's number in its file.
pub const INDEX: &str = "internal.config.kubernetes.io/index";
/// The name of [`INDEX`] in older hosts.
pub const LEGACY_INDEX: &str = "config.kubernetes.io/index";
/// The annotation that gives an item its role.
pub const ROLE: &str = "config.kubernetes.io/merge-source";

/// The annotation in which kpt notes the resource of upstream that a resource is a copy of.
pub const KPT_NOTE: &str = "internal.kpt.dev/upstream-identifier";

/// The `namespace/name` in the comment `# kpt-merge: namespace/name`, which kpt writes. Source: kpt's `merge` of packages.
pub fn known_to_kpt(comment: &str) -> Option<&str> {
    comment.trim_start_matches(['#', ' ']).strip_prefix("kpt-merge:").map(str::trim).filter(|known| known.contains('/'))
}

/// Whether an annotation is the host's. Users write `needs-hash` and `behavior` of `kustomize.config.k8s.io/`, so these merge.
pub fn is_transport(key: &str) -> bool {
    const PREFIXES: [&str; 2] = ["internal.config.kubernetes.io/", "internal.config.k8s.io/"];
    const NAMES: [&str; 5] = [LEGACY_PATH, LEGACY_INDEX, "config.k8s.io/id", "kustomize.config.k8s.io/id", ROLE];
    PREFIXES.iter().any(|p| key.starts_with(p)) || NAMES.contains(&key)
}

/// Whether a field of the map at a path is the host's, so that merges ignore it.
pub fn is_protected(map: &Trail<'_>, name: &str) -> bool {
    map.is_fields(&PLACE) && is_transport(name)
}

/// Whether a value at a path is a map whose fields are all the host's: a merge treats it as absent.
pub fn is_all_protected(trail: &Trail<'_>, value: NodeRef<'_>) -> bool {
    trail.is_fields(&PLACE)
        && value.fields().next().is_some()
        && value.fields().all(|(key, _)| is_transport(key.string()))
}

/// The way from a value at a path to the annotations of the host; `None` if none can be below it.
fn way_to_protected(trail: &Trail<'_>) -> Option<&'static [&'static str]> {
    (0..=PLACE.len()).find(|n| trail.is_fields(&PLACE[..*n])).map(|n| &PLACE[n..])
}

/// Whether a value at a path may contain annotations of the host.
pub fn may_hold_protected(trail: &Trail<'_>) -> bool {
    way_to_protected(trail).is_some()
}

/// Whether a value at a path contains annotations of the host.
pub fn holds_protected(trail: &Trail<'_>, value: View<'_, '_>) -> bool {
    let annotations = way_to_protected(trail).and_then(|way| way.iter().try_fold(value, |map, name| map.field(name)));
    annotations.is_some_and(|annotations| annotations.fields().iter().any(|(key, _)| is_transport(key)))
}

/// Checks that a value may replace dest's value at a path: `metadata` stays a map, and so do annotations of the host.
///
/// # Errors
/// The value is not a map, and is not a null that clears annotations.
pub fn check_kept(trail: &Trail<'_>, value: NodeRef<'_>, dest: Option<View<'_, '_>>) -> Result<(), Error> {
    let stays = match dest.filter(|_| !value.is_map()) {
        Some(_) if trail.is_fields(&PLACE[..1]) => true,
        Some(dest) => trail.is_fields(&PLACE) && !value.is_null() && holds_protected(trail, dest),
        None => false,
    };
    if stays { Err(must_stay(trail, value)) } else { Ok(()) }
}

/// The error for a value that would remove `metadata`, or annotations of the host in it.
pub fn must_stay(trail: &Trail<'_>, value: NodeRef<'_>) -> Error {
    value.error(format!("`{trail}` must stay a map, because it tells what the resource is and in which file"))
}
