//! The files of sides as the engine merges them, and its changes of them as changes of bytes.

use std::collections::BTreeMap;

use crate::held::Held;
use crate::side::{Root, Side};
use anyhow::{Error, Result};
use krm_files::cores;
use krm_job::line_end::LineEnd;
use krm_job::role::Role;
use krm_package::package::{FileChange, FileMerge, Files, TextFile};
use krm_tree::sides::Sides;

use super::placed::Placed;
use super::{Change, Made};

/// The texts of files that are not those of their documents, by their paths.
type Texts = BTreeMap<String, String>;

/// The texts of files as the engine compares them: of files without resources that get some, and of upstream's versions of files that end their
/// lines in another way in dest.
pub(super) struct ComparedTexts(Sides<Texts>);

impl ComparedTexts {
    /// Reads them.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of(dest: &Side, given: &[(Role, Vec<Side>)], placed: &Placed) -> Result<Self> {
        let text = |held: &Held| Ok::<_, Error>(String::from_utf8_lossy(&held.bytes()?).into_owned());
        let plain = |side: &Side| {
            let plain = placed.keys().filter_map(|path| side.at(path)).filter(|held| held.document().is_none());
            plain.map(|held| Ok((held.path.clone(), text(held)?))).collect::<Result<Texts>>()
        };
        let [original, updated] = [Role::Original, Role::Updated].map(|role| side_of(given, role));
        let mut upstreams =
            Sides { original: original.map(plain).transpose()?.unwrap_or_default(), ..Sides::default() };
        let texts = plain(dest)?;
        for own in dest.files.iter().filter(|own| own.document().is_some() || texts.contains_key(&own.path)) {
            let versions = Sides { original, updated, dest: None }.map(|side| side.and_then(|side| side.at(&own.path)));
            let Some(upstream) = versions.original.or(versions.updated) else { continue };
            let Some(end) = LineEnd::of_dest(&upstream.bytes()?, &own.bytes()?) else { continue };
            for (side, held) in versions.iter().filter_map(|(side, held)| Some((side, (*held)?))) {
                let text = String::from_utf8_lossy(&end.end_all(&held.bytes()?)).into_owned();
                upstreams[side].insert(own.path.clone(), text);
            }
        }
        Ok(Self(Sides { dest: texts, ..upstreams }))
    }
}

/// The files of all sides.
pub(super) struct SideFiles<'s> {
    sides: Sides<Vec<TextFile<'s>>>,
    sources: Vec<TextFile<'s>>,
}

impl<'s> SideFiles<'s> {
    pub fn of(dest: &'s Side, given: &'s [(Role, Vec<Side>)], compared: &'s ComparedTexts) -> Self {
        let ComparedTexts(texts) = compared;
        let sides = Sides {
            original: versions(dest, side_of(given, Role::Original), &texts.original),
            updated: versions(dest, side_of(given, Role::Updated), &texts.updated),
            dest: text_files(dest, &texts.dest),
        };
        let sources = given.iter().filter(|(role, _)| *role != Role::Original).flat_map(|(_, sides)| sides);
        Self { sides, sources: sources.flat_map(|side| text_files(side, &texts.updated)).collect() }
    }

    pub fn view(&self) -> Files<'_> {
        Files { sides: Sides::of(|side| &self.sides[side][..]), sources: &self.sources }
    }
}

fn text_files<'s>(side: &'s Side, texts: &'s Texts) -> Vec<TextFile<'s>> {
    side.files.iter().map(|held| held.as_text(texts.get(&held.path).map(String::as_str))).collect()
}

/// The files of a side that are versions of files of dest.
fn versions<'s>(dest: &'s Side, side: Option<&'s Side>, texts: &'s Texts) -> Vec<TextFile<'s>> {
    let Some(side) = side else { return Vec::new() };
    let files = text_files(side, texts);
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
