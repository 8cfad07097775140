//! Files that hold no resources, in a three-way merge of folders: for each, the merge takes updated's or keeps dest's.
//!
//! `krm_job::forms` says which files are merged like that, and `krm_job::carried` merges a file. In folders, versions of one path are one file; single
//! files are one, whatever their names are.

use std::collections::HashMap;

use crate::change::Change;
use crate::held::Held;
use crate::side::{Root, Side};
use anyhow::Result;
use krm_files::walk::Tree;
use krm_job::carried::{AsText, CarriedFile, Combiner};
use krm_job::event::{Event, What, WhyUnread};
use krm_job::forms::{SideFile, Taken, Versions};
use krm_job::name::Name;
use krm_job::role::Role;
use krm_tree::sides::Sides;

/// The result for the files that hold no resources.
#[derive(Debug, Default)]
pub struct Carried {
    /// The files that change.
    pub changes: Vec<Change>,
    /// The conflicts.
    pub results: Vec<Event>,
    /// The rules that decided a conflict.
    pub rules: Vec<Name>,
}

/// Carries the files of updated into dest.
///
/// # Errors
/// A file cannot be read.
pub fn carry(dest: &Side, given: &[(Role, Vec<Side>)], combiner: &Combiner<'_>, taken: &Taken<'_>) -> Result<Carried> {
    let mut carried = Carried::default();
    let Some(sides) = releases(dest, given) else { return Ok(carried) };
    for versions in versions(sides) {
        let Some(file) = versions.carried(taken)? else { continue };
        if let Root::Folder(tree) = &dest.root
            && let Some(told) = unmergeable(&file, &versions, tree, sides)
        {
            carried.results.extend(told);
            continue;
        }
        let path = versions.path.to_owned();
        let mut own = file.carry(combiner);
        let change = own.change.map(|own| Change { path, old: own.old, new: own.new, executable: own.executable });
        carried.changes.extend(change);
        carried.results.append(&mut own.results);
        carried.rules.append(&mut own.rules);
    }
    Ok(carried)
}

/// Adds the executable bits of files of resources, whose content is merged already: where upstream changed the bit, and dest has not.
///
/// # Errors
/// A file cannot be read.
pub fn carry_executable(dest: &Side, given: &[(Role, Vec<Side>)], changes: &mut Vec<Change>) -> Result<()> {
    let Some(sides) = releases(dest, given) else { return Ok(()) };
    let known: HashMap<String, usize> = changes.iter().enumerate().map(|(at, own)| (own.path.clone(), at)).collect();
    for versions in versions(sides) {
        let (Some(executable), Some(here)) = (versions.turned_with_resources(), versions.files.dest) else { continue };
        match known.get(versions.path) {
            Some(at) if changes[*at].new.is_some() => changes[*at].executable = Some(executable),
            Some(_) => {}
            None => {
                let bytes = Some(here.bytes()?.into_owned());
                let path = versions.path.to_owned();
                changes.push(Change { path, old: bytes.clone(), new: bytes, executable: Some(executable) });
            }
        }
    }
    Ok(())
}

/// Dest with the releases that are merged into it; `None` without an original and an updated.
fn releases<'s>(dest: &'s Side, given: &'s [(Role, Vec<Side>)]) -> Option<Sides<&'s Side>> {
    let side = |role| given.iter().find(|(r, _)| *r == role).and_then(|(_, sides)| sides.first());
    Some(Sides { original: side(Role::Original)?, updated: side(Role::Updated)?, dest })
}

/// The files to merge: in folders those of one path. A single file without resources is the same file on all sides, whatever its name is.
fn versions(sides: Sides<&Side>) -> Vec<Versions<'_, Held>> {
    let are_folders = sides.map(Side::is_folder);
    match (are_folders.original, are_folders.updated, are_folders.dest, &sides.dest.files[..]) {
        (true, true, true, _) => Versions::by_path(sides.map(|side| &side.files[..])),
        (false, false, false, [own]) if matches!(own.merged_as_text(), Some((AsText::Document, _))) => {
            vec![Versions { path: &own.path, files: sides.map(|side| side.files.first()) }]
        }
        _ => Vec::new(),
    }
}

/// Checks whether the file can be merged: `None` if it can. Otherwise it is skipped, with or without a result.
fn unmergeable(
    file: &CarriedFile<'_>,
    versions: &Versions<'_, Held>,
    tree: &Tree,
    sides: Sides<&Side>,
) -> Option<Option<Event>> {
    let (path, Sides { updated, dest, .. }) = (file.path, sides);
    if tree.ignores(path) {
        let is_new = file.bytes[0].is_none() && !is_unread(dest, path);
        return Some(match versions.files.updated {
            Some(new) if is_new => Some(Event::of(What::LeftOut { path: path.to_owned(), from: new.name.clone() })),
            _ => is_unread(dest, path).then(|| Event::of(What::NotReadHere(path.to_owned()))),
        });
    }
    if let Some(told) = not_read(updated, path) {
        return Some(Some(Event::of(told)));
    }
    let was_here = file.bytes[2].is_none() && file.bytes[0].is_some();
    if was_here && is_unread(dest, path) {
        return Some(Some(Event::of(What::NotReadHere(path.to_owned()))));
    }
    versions.in_neither_form(sides.map(|side| &side.files[..])).map(Some)
}

impl Carried {
    /// The number of changed, added and deleted files, and of conflicts in them; `None` if there are none. The engine counts only
    /// resources.
    pub fn summary(&self) -> Option<Event> {
        let count = |is: fn(&Change) -> bool| self.changes.iter().filter(|c| is(c)).count();
        let changed = count(|c| c.old.is_some() && c.new.is_some());
        let (added, deleted) = (count(|c| c.old.is_none()), count(|c| c.new.is_none()));
        let conflicts = self.results.iter().filter(|r| r.is_conflict()).count();
        let what = What::FileCounts { changed, added, deleted, conflicts };
        (changed + added + deleted + conflicts > 0).then(|| Event::of(what))
    }
}

/// Whether a file is in dest's folder on disk, but is not part of dest.
pub fn is_unread(dest: &Side, path: &str) -> bool {
    let Root::Folder(tree) = &dest.root else { return false };
    dest.at(path).is_none() && tree.root.join(path).symlink_metadata().is_ok()
}

/// What to tell of a path at which a side has a file on disk that is not part of the side, for example a symbolic link. The merge does not see
/// the file, and must not take it for deleted.
pub fn not_read(side: &Side, path: &str) -> Option<What> {
    if side.at(path).is_some() {
        return None;
    }
    let kind = match &side.root {
        Root::Folder(tree) => tree.root.join(path).symlink_metadata().ok()?.file_type(),
        Root::Release(unread) => return Some(unread_in(side, path, unread.why(path)?)),
        Root::File(_) | Root::Stdin | Root::Stream | Root::Text | Root::Cluster => return None,
    };
    let why = match () {
        () if kind.is_dir() => return None,
        () if kind.is_symlink() => WhyUnread::Link,
        () if kind.is_file() => WhyUnread::IgnoredOrSide,
        () => WhyUnread::NoFile,
    };
    Some(unread_in(side, path, why))
}

fn unread_in(side: &Side, path: &str, why: WhyUnread) -> What {
    What::NotRead { place: format!("{}/{path}", side.name), why }
}
