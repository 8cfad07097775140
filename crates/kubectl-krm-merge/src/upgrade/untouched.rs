//! Packages that are as upstream made them, and that the new release does not change. `--check` knows all of them without a merge.
//!
//! In a fleet these are most packages. git names each file by its content, so two releases are compared without reading a file. The files of
//! the package are compared with those of the release byte by byte. Whatever is not plainly equal is merged.

use std::fs;

use anyhow::Result;
use krm_files::walk::Tree;
use krm_folders::package::KPTFILE;
use krm_folders::side::{Root, Side};
use krm_git::found::{AtPath, Entry};
use krm_git::store::Store;
use krm_git::tree;
use krm_names::file_path::RULES;

use super::plan::{Job, PackageFolder, Release};

/// The package without its files, if no file of it differs from the release that it has, nor that release from the new one.
///
/// # Errors
/// The package or a release cannot be read.
pub fn untouched(job: Job<'_>) -> Result<Option<Side>> {
    let Job { package, plan, gone, from } = job;
    let Some((store, has)) = plan.from.as_ref().and_then(Release::folder) else { return Ok(None) };
    let Some((new_store, new)) = plan.to.folder() else { return Ok(None) };
    let is_gone = from.is_none_or(|from| gone.contains_key(&from.commit)) || gone.contains_key(new.commit);
    let is_recorded = package.record.as_ref().is_some_and(|record| record.lock.is_some());
    if is_gone || !is_recorded || package.selection.has_paths() {
        return Ok(None);
    }
    let entries = |store: &Store, at: PackageFolder<'_>| tree::find(store, at.commit, at.path);
    let (Some(has), Some(new)) = (entries(store, has)?, entries(new_store, new)?) else { return Ok(None) };
    let (AtPath::Folder(has), AtPath::Folder(new)) = (&*has, &*new) else { return Ok(None) };
    if has != new || !has.iter().all(|entry| entry.kind.is_file() && is_plain(&entry.path)) {
        return Ok(None);
    }
    let tree = Tree::read(&package.path)?;
    let of_release = has.iter().filter(|entry| !is_own(&entry.path));
    let of_package = tree.files.iter().filter(|path| !is_own(path));
    if !tree.links.is_empty() || !of_release.clone().map(|entry| &entry.path).eq(of_package) {
        return Ok(None);
    }
    let is_equal = |entry: &Entry| {
        let own = fs::read(tree.root.join(&entry.path))?;
        anyhow::Ok(own == tree::read_file(store, &entry.object)?)
    };
    for entry in of_release {
        if !is_equal(entry)? {
            return Ok(None);
        }
    }
    Ok(Some(Side { name: package.name.clone(), root: Root::Folder(Box::new(tree)), files: Vec::new() }))
}

/// Whether a file of a release says nothing of other files: it leaves out none, and makes its folder no package of its own.
fn is_plain(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    name != ".krmignore" && (folder.is_empty() || ![KPTFILE, RULES].contains(&name))
}

/// Whether a file is the package's own, whatever upstream has at its path.
fn is_own(path: &str) -> bool {
    [KPTFILE, RULES].contains(&path)
}
