//! The files of sides as the engine merges them, and its changes of them as changes of bytes.

use std::collections::BTreeMap;

use crate::held::Held;
use crate::side::{Root, Side};
use anyhow::Result;
use krm_files::cores;
use krm_job::compared::{ComparedFiles, ComparedTexts};
use krm_job::role::Role;
use krm_package::package::{FileChange, FileMerge, TextFile};
use krm_tree::sides::Sides;

use super::{Change, Made};

/// The files of the sides of a three-way merge, as the engine compares them.
pub(super) fn of_sides<'s>(dest: &'s Side, given: &'s [(Role, Vec<Side>)]) -> Sides<&'s [Held]> {
    let of_role = |role| side_of(given, role).map_or(&[][..], |side| &side.files);
    Sides { original: of_role(Role::Original), updated: of_role(Role::Updated), dest: &dest.files }
}

/// The files of all sides with these texts. Those of original and updated are versions of dest's.
pub(super) fn compared<'s>(
    dest: &'s Side,
    given: &'s [(Role, Vec<Side>)],
    texts: &'s ComparedTexts,
) -> ComparedFiles<'s> {
    let sources = given.iter().filter(|(role, _)| *role != Role::Original).flat_map(|(_, sides)| sides);
    let mut files = texts.files(of_sides(dest, given), sources.flat_map(|side| &side.files));
    let all = std::mem::take(&mut files.sides);
    files.sides = Sides {
        original: versions(dest, side_of(given, Role::Original), all.original),
        updated: versions(dest, side_of(given, Role::Updated), all.updated),
        dest: all.dest,
    };
    files
}

/// The files of a side that are versions of files of dest.
fn versions<'s>(dest: &'s Side, side: Option<&Side>, files: Vec<TextFile<'s>>) -> Vec<TextFile<'s>> {
    let Some(side) = side else { return Vec::new() };
    match (&dest.root, &side.root) {
        (Root::Folder(_), Root::Folder(_) | Root::Release(_)) => files,
        (Root::Folder(_) | Root::Cluster, _) | (_, Root::Folder(_) | Root::Release(_) | Root::Cluster) => Vec::new(),
        // The git driver makes texts that differ only at choices. It decides about layout itself.
        (Root::Text, _) => Vec::new(),
        // A file that was given without its folder is the same file, whatever its name is.
        _ => match (&files[..], &dest.files[..]) {
            ([file], [own]) => vec![TextFile { path: &own.path, ..*file }],
            _ => Vec::new(),
        },
    }
}

/// The only side of a role.
fn side_of(given: &[(Role, Vec<Side>)], wanted: Role) -> Option<&Side> {
    let mut sides = given.iter().filter(|(role, _)| *role == wanted).flat_map(|(_, sides)| sides);
    sides.next().filter(|_| sides.next().is_none())
}

/// The changes of dest's files, made on all cores. `made` gets the edits that make the new texts.
pub(super) fn changes(
    dest: &Side,
    given: &[(Role, Vec<Side>)],
    files: &FileMerge<'_>,
    made: &mut BTreeMap<String, Made>,
) -> Result<Vec<Change>> {
    let of_parts = cores::map(&files.parts, |part| files.change(part));
    let mut changes = Vec::new();
    let bytes = |path: &str| dest.at(path).map(|held| Ok::<_, anyhow::Error>(held.bytes()?.into_owned())).transpose();
    let named = |name: &str| {
        let mut all = given.iter().rev().flat_map(|(_, sides)| sides).chain([dest]).flat_map(|side| &side.files);
        all.find(|held| held.name == name).and_then(Held::executable)
    };
    for change in files.with_added(of_parts)? {
        let (path, from, new, executable) = match change {
            FileChange::Changed { path, text, edits } => (path.clone(), Some((path, edits)), Some(text), None),
            FileChange::Moved { from, to, text, edits, like } => {
                changes.push(Change { path: from.clone(), old: bytes(&from)?, new: None, executable: None });
                (to, Some((from, edits)), Some(text), named(&like))
            }
            FileChange::Added { path, text, like } => (path, None, Some(text), like.and_then(|like| named(&like))),
            FileChange::Removed { path } => (path, None, None, None),
        };
        if let Some((from, Some(edits))) = from {
            made.insert(path.clone(), Made { from, edits });
        }
        let (old, new) = (bytes(&path)?, new.map(String::into_bytes));
        changes.push(Change { path, old, new, executable });
    }
    Ok(changes)
}
