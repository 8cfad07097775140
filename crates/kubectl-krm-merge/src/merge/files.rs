//! The files of sides as the engine merges them, and its changes of them as changes of bytes.

use std::collections::BTreeMap;

use anyhow::Result;
use krm_merge::package::{FileChange, FileMerge, Files, TextFile};
use krm_merge::sides::Sides;
use krm_merge_function::config::Role;

use super::placed::Placed;
use super::{Change, Made};
use crate::cores;
use crate::held::Held;
use crate::side::{Root, Side};

/// The texts of files without resources, by their paths.
type Texts = BTreeMap<String, String>;

/// The texts of dest's and original's files without resources that get some.
pub(super) struct PlainTexts {
    dest: Texts,
    original: Texts,
}

impl PlainTexts {
    /// Reads them.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of(dest: &Side, given: &[(Role, Vec<Side>)], placed: &Placed) -> Result<Self> {
        let of_side = |side: &Side| {
            let plain = placed.keys().filter_map(|path| side.at(path)).filter(|held| held.document().is_none());
            let text = |held: &Held| Ok((held.path.clone(), String::from_utf8_lossy(&held.bytes()?).into_owned()));
            plain.map(text).collect::<Result<Texts>>()
        };
        let original = side_of(given, Role::Original).map(of_side).transpose()?;
        Ok(Self { dest: of_side(dest)?, original: original.unwrap_or_default() })
    }
}

/// The files of all sides.
pub(super) struct SideFiles<'s> {
    sides: Sides<Vec<TextFile<'s>>>,
    sources: Vec<TextFile<'s>>,
}

impl<'s> SideFiles<'s> {
    pub fn of(dest: &'s Side, given: &'s [(Role, Vec<Side>)], plain: &'s PlainTexts) -> Self {
        let sides = Sides {
            original: versions(dest, side_of(given, Role::Original), &plain.original),
            updated: versions(dest, side_of(given, Role::Updated), &plain.original),
            dest: text_files(dest, &plain.dest),
        };
        let sources = given.iter().filter(|(role, _)| *role != Role::Original).flat_map(|(_, sides)| sides);
        Self { sides, sources: sources.flat_map(|side| text_files(side, &plain.original)).collect() }
    }

    pub fn view(&self) -> Files<'_> {
        Files { sides: Sides::of(|side| &self.sides[side][..]), sources: &self.sources }
    }
}

fn text_files<'s>(side: &'s Side, plain: &'s Texts) -> Vec<TextFile<'s>> {
    let text = |held: &Held| plain.get(&held.path).map_or("", String::as_str);
    side.files.iter().map(|held| held.as_text(text(held))).collect()
}

/// The files of a side that are versions of files of dest.
fn versions<'s>(dest: &'s Side, side: Option<&'s Side>, plain: &'s Texts) -> Vec<TextFile<'s>> {
    let Some(side) = side else { return Vec::new() };
    let files = text_files(side, plain);
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
