//! Files that hold no resources, in a three-way merge of folders: each is taken or kept whole.
//!
//! Changed upstream and not here: taken. Changed on both sides, and not to the same bytes: a conflict, which the policy settles as it
//! settles those of resources. A file that dest deleted stays deleted. One that holds resources, but none any
//! more in updated, is an error: they would be deleted, and upstream's file would never come.

use std::collections::BTreeMap;

use anyhow::Result;
use krm_merge::config::Role;
use krm_merge::merge::OnConflict;
use krm_merge::results::{File, Outcome, Severity, Told};

use crate::merge::{Change, paths, severity};
use crate::side::{Content, Held, Root, Side};

/// What becomes of the files that hold no resources.
#[derive(Debug, Default)]
pub struct Carried {
    /// Those that change.
    pub changes: Vec<Change>,
    /// The conflicts.
    pub results: Vec<Outcome>,
}

/// Carries the files of updated into dest.
///
/// # Errors
/// A file that cannot be read.
pub fn carry(dest: &Side, given: &[(Role, Vec<Side>)], policy: OnConflict) -> Result<Carried> {
    let side = |role| given.iter().find(|(r, _)| *r == role).and_then(|(_, sides)| sides.first());
    let mut carried = Carried::default();
    let (Some(original), Some(updated)) = (side(Role::Original), side(Role::Updated)) else { return Ok(carried) };
    let Root::Folder(tree) = &dest.root else { return Ok(carried) };
    if !original.is_folder() || !updated.is_folder() {
        return Ok(carried);
    }
    for path in paths([original, updated]) {
        let sides = [original, updated, dest].map(|s| s.at(path));
        let holds_resources = |held: &Held| matches!(held.content, Content::Resources(_));
        let held_resources = sides.into_iter().flatten().any(holds_resources);
        let is_plain_now = sides[1].is_some_and(|held| !holds_resources(held));
        if (held_resources && !is_plain_now) || tree.ignores(path) {
            continue;
        }
        let bytes = |held: Option<&Held>| held.map(Held::bytes).transpose();
        let [old, new] = [bytes(sides[0])?, bytes(sides[1])?];
        if old == new {
            continue;
        }
        let here = bytes(sides[2])?;
        if here == new {
            continue;
        }
        if held_resources {
            carried.results.push(plain_now(path));
            continue;
        }
        if here.is_none() && old.is_some() && is_unread(dest, path) {
            carried.results.push(Outcome::new(Severity::Warning, unread(path)));
            continue;
        }
        let is_conflict = here != old;
        if is_conflict {
            carried.results.push(conflict(path, [&old, &new, &here].map(|b| b.as_ref().map(Vec::len)), policy));
        }
        let stays_deleted = here.is_none() && old.is_some();
        if stays_deleted || (is_conflict && policy != OnConflict::TakeUpdated) {
            continue;
        }
        let like = sides[1].and_then(|held| held.disk.clone());
        carried.changes.push(Change { path: path.to_owned(), old: here, new, like });
    }
    Ok(carried)
}

/// That a file can be merged neither as resources nor as a file.
fn plain_now(path: &str) -> Outcome {
    let message = "the file must hold resources in updated, as on another side, but it holds none: write into dest's what it shall be from now on, and leave it out of the other sides";
    let file = Some(File { path: path.to_owned(), index: None });
    Outcome { file, ..Outcome::new(Severity::Error, message) }
}

/// Whether a file lies in dest on disk, and is no part of it all the same.
pub fn is_unread(dest: &Side, path: &str) -> bool {
    let Root::Folder(tree) = &dest.root else { return false };
    dest.at(path).is_none() && tree.root.join(path).symlink_metadata().is_ok()
}

/// What is told of such a file.
pub fn unread(path: &str) -> String {
    let why = "a symbolic link is not followed, nor what `.krmignore` leaves out";
    format!("{path}: changed in updated, and not merged, for dest's file was not read: {why}")
}

fn conflict(path: &str, [old, new, here]: [Option<usize>; 3], policy: OnConflict) -> Outcome {
    let did = |side: &str, size: Option<usize>| match (old, size) {
        (Some(_), None) => format!("deleted in {side}"),
        (Some(_), Some(_)) => format!("changed in {side}"),
        (None, _) => format!("added in {side}"),
    };
    let settled = match policy {
        _ if here.is_none() => "it stays deleted",
        OnConflict::TakeUpdated if new.is_none() => "it is deleted",
        OnConflict::TakeUpdated => "updated's was taken",
        OnConflict::KeepDest => "dest's was kept",
        OnConflict::Fail => "someone must decide",
    };
    let message =
        format!("the file, which holds no resources, was {} and {}: {settled}", did("dest", here), did("updated", new));
    let tags = BTreeMap::from([("krm-merge.dev/reason".to_owned(), "conflict".to_owned())]);
    let file = Some(File { path: path.to_owned(), index: None });
    let told = Some(Told { place: "the whole file".to_owned(), settled });
    Outcome { file, tags, told, ..Outcome::new(severity(policy), message) }
}
