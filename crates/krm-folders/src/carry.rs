//! Files that hold no resources, in a three-way merge of folders: for each, the merge takes updated's or keeps dest's.
//!
//! `krm_job::carried` merges a file. Here is which files are merged like that: in folders those of one path; of single files each
//! other, whatever their names are.
//!
//! If updated and dest hold different forms at a path, or if a resource at it has no name, the file is merged as text (`one_form.rs`). But
//! if its resources are also at another path, the resources are merged by identity, wherever they are, and the plain content is merged as a
//! file. `P` is plain content, `R` is resources, `*` is any, `–` is no file:
//!
//! | original | updated | dest | the result for the path |
//! |---|---|---|---|
//! | no `P` | no `P` | `*` | only resources are merged; a plain file of dest is dest's own, and new resources for it are an error |
//! | no `R` | no `R` | no `R` | merged as a file |
//! | `P` | – | `R` | dest's stays: upstream's plain content is gone on both sides |
//! | `P` | `R` | – or `R` | the resources are merged: the plain content is gone on both sides |
//! | `P` | `R` | `P` | new resources replace an unchanged file, else are an error; without any: merged as deleted by updated (1) |
//! | `R` | `P` | – | it stays deleted, a conflict; an error if dest may have moved the file |
//! | `R` | `P` | `P` | merged as a file: dest may have taken it by hand |
//! | `*` | `P` | `R` | updated's, if none of dest's resources stays; else dest's, a conflict, unless updated equals original (2) |
//!
//! (1) Comments alone are not content: they stay. (2) A file cannot hold both dest's resources and upstream's plain content.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::change::Change;
use crate::held::{Content, Held};
use crate::side::{Root, Side, paths};
use anyhow::Result;
use krm_files::walk::Tree;
use krm_job::carried::{AsText, CarriedFile, CarriedSide, Combiner, Has, with_line_ends_of_dest};
use krm_job::event::{self, Event, What, WhyUnread};
use krm_job::name::Name;
use krm_job::role::Role;
use krm_yaml::Document;

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

fn has(held: Option<&Held>) -> Has {
    match held.map(Held::document) {
        None => Has::Nothing,
        Some(None) => Has::Plain,
        Some(Some(_)) => Has::Resources,
    }
}

/// The files of dest that the merge of resources writes or empties.
#[derive(Debug)]
pub struct Taken<'m> {
    /// The files that receive resources.
    pub placed: BTreeSet<&'m str>,
    /// The files whose resources all move to other files.
    pub left: BTreeSet<&'m str>,
}

/// Carries the files of updated into dest.
///
/// # Errors
/// A file cannot be read.
pub fn carry(dest: &Side, given: &[(Role, Vec<Side>)], combiner: &Combiner<'_>, taken: &Taken<'_>) -> Result<Carried> {
    let side = |role| given.iter().find(|(r, _)| *r == role).and_then(|(_, sides)| sides.first());
    let mut carried = Carried::default();
    let (Some(original), Some(updated)) = (side(Role::Original), side(Role::Updated)) else { return Ok(carried) };
    for Versions { path, held } in versions([original, updated, dest]) {
        if !is_ours(path, held, taken)? {
            continue;
        }
        let bytes = |held: Option<&Held>| anyhow::Ok(held.map(Held::bytes).transpose()?.map(Cow::into_owned));
        let plain = |held: Option<&Held>| bytes(held.filter(|_| has(held) != Has::Resources));
        let turned = if dest.is_folder() { turned(held) } else { None };
        let file = CarriedFile {
            path,
            sides: held.map(|held| CarriedSide { has: has(held), document: held.and_then(resources) }),
            why: held.into_iter().flatten().find_map(why),
            bytes: with_line_ends_of_dest([bytes(held[0])?, plain(held[1])?, bytes(held[2])?]),
            executable: held[1].and_then(Held::executable),
            turned,
            is_left: taken.left.contains(path),
        };
        if !file.is_changed() && turned.is_none() {
            continue;
        }
        if let Root::Folder(tree) = &dest.root
            && let Some(told) = unmergeable(&file, held, tree, [original, updated, dest])
        {
            carried.results.extend(told);
            continue;
        }
        let mut own = file.carry(combiner);
        let change = own.change.map(|own| Change {
            path: path.to_owned(),
            old: own.old,
            new: own.new,
            executable: own.executable,
        });
        carried.changes.extend(change);
        carried.results.append(&mut own.results);
        carried.rules.append(&mut own.rules);
    }
    Ok(carried)
}

/// A file of original, updated and dest.
struct Versions<'s> {
    /// Its path in dest.
    path: &'s str,
    held: [Option<&'s Held>; 3],
}

/// The files to merge: in folders those of one path. A single file without resources is the same file on all sides, whatever its name is.
fn versions<'s>(sides: [&'s Side; 3]) -> Vec<Versions<'s>> {
    let [original, updated, dest] = sides;
    let at = |path| Versions { path, held: sides.map(|side| side.at(path)) };
    match (sides.map(Side::is_folder), &dest.files[..]) {
        ([true, true, true], _) => paths([original, updated]).into_iter().map(at).collect(),
        ([false, false, false], [own]) if matches!(own.content, Content::AsText(AsText::Document, _)) => {
            vec![Versions { path: &own.path, held: sides.map(|side| side.files.first()) }]
        }
        _ => Vec::new(),
    }
}

/// The documents of a file that holds resources, even if it is merged as text.
fn resources(held: &Held) -> Option<&Document<'static>> {
    match &held.content {
        Content::AsText(AsText::Document, _) | Content::NoYaml(_) | Content::Other => None,
        Content::Resources(document) | Content::ByPath(_, document) | Content::AsText(_, document) => Some(document),
    }
}

/// Why a file with resources is merged as text.
fn why(held: &Held) -> Option<AsText> {
    match held.content {
        Content::AsText(why, _) => Some(why),
        Content::Resources(_) | Content::ByPath(..) | Content::NoYaml(_) | Content::Other => None,
    }
}

/// Whether a file is merged as a file, and not as resources.
fn is_ours(path: &str, sides: [Option<&Held>; 3], taken: &Taken<'_>) -> Result<bool> {
    Ok(match sides.map(has) {
        [Has::Plain, Has::Resources, Has::Plain] => match sides[2] {
            Some(here) => !taken.placed.contains(path) && !here.is_empty()?,
            None => false,
        },
        [_, Has::Resources, _] | [Has::Plain, Has::Nothing, Has::Resources] => false,
        [original, updated, _] => original == Has::Plain || updated == Has::Plain,
    })
}

/// Checks whether the file can be merged: `None` if it can. Otherwise it is skipped, with or without a result.
fn unmergeable(
    file: &CarriedFile<'_>,
    held: [Option<&Held>; 3],
    tree: &Tree,
    [original, updated, dest]: [&Side; 3],
) -> Option<Option<Event>> {
    let path = file.path;
    if tree.ignores(path) {
        let is_new = file.bytes[0].is_none() && !is_unread(dest, path);
        return Some(match held[1] {
            Some(updated) if is_new => {
                Some(Event::of(What::LeftOut { path: path.to_owned(), from: updated.name.clone() }))
            }
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
    let moved = held[0].filter(|_| was_here).is_some_and(|held| lies_elsewhere(held, original, dest));
    moved.then(|| Some(plain_now(path)))
}

/// Whether anyone may execute updated's file, if upstream changed that and dest has not.
fn turned(sides: [Option<&Held>; 3]) -> Option<bool> {
    let [original, updated, dest] = sides.map(|held| held.and_then(Held::executable));
    let [original, updated, dest] = [original?, updated?, dest?];
    (original != updated && original == dest).then_some(updated)
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

/// Whether dest has a resource of this file of original where original has none, so that dest may have moved it there.
fn lies_elsewhere(held: &Held, original: &Side, dest: &Side) -> bool {
    let own: Vec<_> = held.identities().collect();
    let was_there = |path, identity| original.at(path).is_some_and(|was| was.identities().any(|own| own == identity));
    dest.files.iter().any(|file| file.identities().any(|there| own.contains(&there) && !was_there(&file.path, there)))
}

/// The error for a file that can be merged neither as resources nor as a file.
fn plain_now(path: &str) -> Event {
    let file = Some(event::File { path: path.to_owned(), index: None });
    Event { file, ..Event::of(What::NeitherForm) }
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
