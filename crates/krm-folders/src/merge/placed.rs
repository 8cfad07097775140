//! Which file of dest gets a new resource.

use std::collections::BTreeMap;

use crate::side::{Root, Side};
use anyhow::{Result, anyhow, bail};
use krm_job::role::Role;
use krm_names::file_path;
use krm_package::package::NewResource;
use krm_yaml::shown;

use super::is_in_the_way;

/// New resources by their new file.
pub(super) type Placed = BTreeMap<String, Vec<NewResource>>;

/// Assigns each new resource to a file. A resource in a file that `.krmignore` leaves out is dropped.
///
/// # Errors
/// Two new resources from different places would be in one file; or a path leads out of dest.
pub(super) fn place(dest: &Side, given: &[(Role, Vec<Side>)], added: Vec<NewResource>) -> Result<Placed> {
    let mut by_file = Placed::new();
    for added in added {
        let path = path_of(dest, &added)?;
        if dest.is_folder()
            && let Err(fault) = file_path::of_new_file(&path)
        {
            let what = "put it into another file, or leave it out by `.krmignore` there";
            bail!("{}: the path {path:?} of a new resource must {fault}; {what}", added.origin);
        }
        if dest.is_folder() && path.contains(['\n', '\r']) {
            bail!("{}: a new resource must have a path without line breaks, not {}", added.origin, shown::name(&path));
        }
        if matches!(&dest.root, Root::Folder(tree) if tree.ignores(&path)) {
            continue;
        }
        if let Some(held) = dest.at(&path).filter(|_| dest.is_folder())
            && is_in_the_way(held, given)?
        {
            let here = "this file of dest holds something else, and is not original's";
            bail!("{path}: a resource of {} is new, but {here}", added.origin);
        }
        let here = by_file.entry(path.clone()).or_default();
        if let Some(other) =
            here.first().filter(|o| dest.is_folder() && o.origin.to_string() != added.origin.to_string())
        {
            bail!("{path}: two items must not be for one file, but {} and {} both are", other.origin, added.origin);
        }
        here.push(added);
    }
    Ok(by_file)
}

/// The file of dest for a new resource.
pub(super) fn path_of(dest: &Side, added: &NewResource) -> Result<String> {
    match (&dest.root, &added.path) {
        (Root::Folder(_) | Root::Cluster, Some(path)) => Ok(path.strip_prefix("./").unwrap_or(path).to_owned()),
        (Root::Folder(_) | Root::Cluster, None) => {
            added.default_path().ok_or_else(|| anyhow!("{}: a new resource must have a name", added.origin))
        }
        // If dest is a single file or a stream, all resources go there.
        _ => Ok(dest.files.first().map(|f| f.path.clone()).unwrap_or_default()),
    }
}
