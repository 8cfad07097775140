//! Warns if dest is not the folder of the package alone: it holds another release of upstream, or it is a folder above the package.
//!
//! Original and updated may be folders in dest. The merge then does not take them for a part of dest. Any other release is a part of dest,
//! so its resources look like dest's own: upstream's changes may go there, what upstream adds may look like something that dest has already,
//! or a resource that dest moved may look deleted. Another release is a folder beside original or updated, or one with a copy of their files.
//!
//! If dest is a folder above the package, its resources are found by their names. But what is new upstream goes to the wrong folder, and
//! files without resources are compared with others.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use crate::held::Held;
use crate::side::{Root, Side};
use krm_job::event::{Event, File, What};
use krm_job::role::Role;
use krm_package::resource::Identity;

/// One warning for each folder in dest that looks like a release, and one for a folder that has the package.
pub fn warnings(dest: &Side, given: &[(Role, Vec<Side>)]) -> Vec<Event> {
    let Root::Folder(tree) = &dest.root else { return Vec::new() };
    let is_release = |role: Role| matches!(role, Role::Original | Role::Updated);
    let releases: Vec<&Side> =
        given.iter().filter(|(role, _)| is_release(*role)).flat_map(|(_, sides)| sides).collect();
    let mut found: BTreeMap<&Path, &str> = BTreeMap::new();
    for (folder, held) in beside(dest, &tree.root, &releases).into_iter().chain(copies(dest, &releases)) {
        found.entry(folder).or_insert(&held.path);
    }
    let of_releases = found.into_iter().map(|(folder, path)| warning(folder, path));
    let first = |of: Role| given.iter().find(|(role, _)| *role == of).and_then(|(_, sides)| sides.first());
    let above = first(Role::Original).zip(first(Role::Updated)).and_then(|(old, new)| deeper(dest, [old, new]));
    of_releases.chain(above).collect()
}

/// The share of original's resources that are nearly all, as a numerator and a denominator.
const NEARLY_ALL: [usize; 2] = [9, 10];

/// The warning that nearly all resources of original are in one folder of dest, each in the file in which both releases have it.
fn deeper(dest: &Side, [original, updated]: [&Side; 2]) -> Option<Event> {
    let mut paths: HashMap<Identity<'_>, Vec<&str>> = HashMap::new();
    for held in &dest.files {
        held.identities().for_each(|identity| paths.entry(identity).or_default().push(&held.path));
    }
    let (mut count, mut folders) = (0, BTreeMap::<&str, usize>::new());
    for held in original.files.iter().filter(|_| original.is_folder()) {
        for identity in held.identities() {
            count += 1;
            let here = paths.get(&identity).map_or(&[][..], Vec::as_slice);
            if here.contains(&held.path.as_str()) || updated.at(&held.path).is_none() {
                continue;
            }
            for folder in here.iter().filter_map(|path| path.strip_suffix(held.path.as_str())?.strip_suffix('/')) {
                *folders.entry(folder).or_default() += 1;
            }
        }
    }
    let (folder, there) = folders.into_iter().max_by_key(|(_, there)| *there)?;
    let what = What::DestIsAbove { folder: folder.to_owned(), there, count };
    (there * NEARLY_ALL[1] >= count * NEARLY_ALL[0]).then(|| Event::of(what))
}

/// The folders in dest that are beside a release and have a resource of the releases, with its file.
fn beside<'s>(dest: &'s Side, root: &Path, releases: &[&Side]) -> Vec<(&'s Path, &'s Held)> {
    let around = releases.iter().filter_map(|side| side.place()?.parent()?.strip_prefix(root).ok());
    // A release at the top of dest is beside dest's own folders.
    let around: HashSet<&Path> = around.filter(|path| !path.as_os_str().is_empty()).collect();
    if around.is_empty() {
        return Vec::new();
    }
    let known: HashSet<Identity<'_>> =
        releases.iter().flat_map(|side| &side.files).flat_map(Held::identities).collect();
    let is_beside = |folder: &&Path| folder.parent().is_some_and(|above| around.contains(above));
    let folder = |held: &'s Held| Path::new(&held.path).ancestors().skip(1).find(is_beside);
    let of_upstream = dest.files.iter().filter(|held| held.identities().any(|identity| known.contains(&identity)));
    of_upstream.filter_map(|held| Some((folder(held)?, held))).collect()
}

/// The folders in dest that have a file of a release, to the byte and at the same path, with that file. Dest has a file of its own at the
/// path, and upstream has no such folder.
fn copies<'s>(dest: &'s Side, releases: &[&Side]) -> Vec<(&'s Path, &'s Held)> {
    let own: HashSet<&str> = dest.files.iter().map(|held| held.path.as_str()).collect();
    let mut upstream: HashMap<&str, Vec<&str>> = HashMap::new();
    for held in releases.iter().flat_map(|side| &side.files) {
        upstream.entry(&held.path).or_default().extend(held.document().map(|document| document.source()));
    }
    let folder = |held: &'s Held| {
        let text = held.document()?.source();
        let is_copy = |path: &str| own.contains(path) && upstream.get(path).is_some_and(|texts| texts.contains(&text));
        let mut splits = held.path.match_indices('/').map(|(at, _)| held.path.split_at(at));
        let (folder, _) = splits.find(|(_, path)| is_copy(&path[1..]))?;
        (!upstream.contains_key(held.path.as_str())).then_some(Path::new(folder))
    };
    dest.files.iter().filter_map(|held| Some((folder(held)?, held))).collect()
}

fn warning(folder: &Path, path: &str) -> Event {
    let file = Some(File { path: path.to_owned(), index: None }.into());
    Event { file, ..Event::of(What::ReleaseInDest(folder.display().to_string())) }
}
