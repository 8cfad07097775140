//! From the fate of each resource to the changes of dest's files.
//!
//! The files do not depend on each other, so all cores make their changes.

use std::collections::BTreeMap;

use anyhow::Result;
use krm_merge::limit::Budget;
use krm_merge::resource::Origin;
use krm_merge::sides::Sides;
use krm_merge_function::config::Role;
use krm_merge_function::function::Item;

use super::placed::Placed;
use super::{Change, Made, is_original};
use crate::cores;
use crate::edit::{Added, Edited, Fate, append, created, edited};
use crate::held::Held;
use crate::moved::Moved;
use crate::notes::Notes;
use crate::side::{Root, Side};

/// The changes of dest's files, from the result for each resource and the new resources. `made` gets the edits that make the new texts.
pub(super) fn of_files<'m>(
    dest: &Side,
    given: &[(Role, Vec<Side>)],
    mut of_file: BTreeMap<usize, Vec<Fate<'m>>>,
    moved: &'m Moved<'m>,
    mut added: Placed<'m>,
    budget: &Budget,
    made: &mut BTreeMap<String, Made>,
) -> Result<Vec<Change>> {
    for (path, pieces) in &moved.pieces {
        added.entry(path.clone()).or_default().extend(pieces);
    }
    added.values_mut().for_each(|added| added.sort_by_key(|added| added.spot));
    let parts = dest.files.iter().enumerate().map(|(file, held)| {
        let to = moved.renamed(file);
        let own = Some(held.path.as_str()).filter(|path| !moved.is_replaced(path));
        let added = to.or(own).and_then(|path| added.remove(path)).unwrap_or_default();
        FilePart { held, fates: of_file.remove(&file).unwrap_or_default(), to, added }
    });
    let parts: Vec<FilePart<'_, 'm>> = parts.collect();
    let of_parts = cores::map(&parts, |part| part.changes(dest, given, moved, budget));
    let mut changes = Vec::new();
    for of_part in of_parts {
        let of_part = of_part?;
        changes.extend(of_part.changes);
        made.extend(of_part.made);
    }
    for (path, added) in added {
        let source = origin_of(&added, given).or_else(|| moved.updated_at(&path));
        let executable = source.and_then(|held| held.executable());
        changes.push(moved.created(&path, created(&added, source)?, executable)?);
    }
    Ok(changes)
}

/// What a merge does to one file of dest.
struct FilePart<'s, 'm> {
    held: &'s Held,
    /// The fate of each of its resources.
    fates: Vec<Fate<'m>>,
    /// The path to which it moves as a whole.
    to: Option<&'m str>,
    /// The resources that are new in it.
    added: Vec<&'m Added>,
}

/// The changes of one file.
#[derive(Default)]
struct FileChanges {
    changes: Vec<Change>,
    /// How edits make the new text, with the path of the new file.
    made: Option<(String, Made)>,
}

impl<'m> FilePart<'_, 'm> {
    /// The changes of the file, and of the file to which it moves.
    ///
    /// # Errors
    /// A file cannot be read; or the file cannot hold the result.
    fn changes(
        &self,
        dest: &Side,
        given: &[(Role, Vec<Side>)],
        moved: &Moved<'_>,
        budget: &Budget,
    ) -> Result<FileChanges> {
        let Self { held, fates, to, added } = self;
        let FileChanges { mut changes, mut made } = FileChanges::default();
        if let Some(updated) = left_alone(dest, held, given, fates, added)? {
            let (old, new) = (held.bytes()?, updated.bytes()?);
            if old != new {
                let [old, new] = [old, new].map(|bytes| Some(bytes.into_owned()));
                changes.push(Change { path: held.path.clone(), old, new, executable: None });
            }
            return Ok(FileChanges { changes, made });
        }
        let notes = self.notes(dest, given);
        let is_same = |fate: &Fate<'_>| *fate.item == Item::Stays && fate.to.is_none() && fate.list.is_none();
        if added.is_empty() && notes.is_empty() && fates.iter().all(is_same) && fates.is_sorted_by_key(|fate| fate.spot)
        {
            return Ok(FileChanges { changes, made });
        }
        let old = held.bytes()?;
        let goes = |fate: &Fate<'m>| if to.is_none() && fate.to.is_some() { &Item::Goes } else { fate.item };
        let fates: Vec<_> = fates.iter().map(|fate| Fate { item: goes(fate), ..*fate }).collect();
        let new = match held.document() {
            // An empty file is like a new one.
            Some(document) if document.source().trim().is_empty() && !held.path.ends_with(".json") => {
                Some(created(added, origin_of(added, given))?)
            }
            Some(_) => edited(held, &fates, added, &notes, budget)?.map(|Edited { text, edits }| {
                let path = to.unwrap_or(&held.path).to_owned();
                made = edits.map(|edits| (path, Made { from: held.path.clone(), edits }));
                text
            }),
            None if is_original(held, given)? => Some(created(added, origin_of(added, given))?),
            None => {
                let mut text = String::from_utf8(old.to_vec())?;
                let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
                append(&mut text, added, line_break);
                Some(text)
            }
        };
        let new = match (to, new) {
            (Some(to), Some(text)) => {
                changes.push(moved.created(to, text, held.executable())?);
                None
            }
            (_, new) => new,
        };
        if new.as_deref().map(str::as_bytes) != Some(&old) {
            let new = new.map(String::into_bytes);
            changes.push(Change { path: held.path.clone(), old: Some(old.into_owned()), new, executable: None });
        }
        Ok(FileChanges { changes, made })
    }

    /// What becomes of the documents of comments in the file.
    fn notes(&self, dest: &Side, given: &[(Role, Vec<Side>)]) -> Notes {
        let path = &self.held.path;
        let original = version(dest, given, Role::Original, path);
        let updated = version(dest, given, Role::Updated, self.to.unwrap_or(path));
        let documents = [original, updated, Some(self.held)].map(|held| held.and_then(Held::document));
        match documents {
            [Some(original), Some(updated), Some(dest)] => {
                Notes::merged(Sides { original, updated, dest }, &self.fates, &self.added)
            }
            _ => Notes::default(),
        }
    }
}

/// The file of updated that replaces a file of dest as a whole. This requires that dest did not change the file, that both files have the
/// same resources after the merge, and that no resource moves to or from another file.
fn left_alone<'g>(
    dest: &Side,
    held: &Held,
    given: &'g [(Role, Vec<Side>)],
    fates: &[Fate<'_>],
    added: &[&Added],
) -> Result<Option<&'g Held>> {
    let version = |role| version(dest, given, role, &held.path);
    let (Some(original), Some(updated)) = (version(Role::Original), version(Role::Updated)) else { return Ok(None) };
    if held.document().is_none() || updated.document().is_none() || original.bytes()? != held.bytes()? {
        return Ok(None);
    }
    let comes = |added: &&&Added| matches!(&added.origin, Origin::File { name, .. } if *name == updated.name);
    let stays = fates.iter().filter(|fate| *fate.item != Item::Goes).count();
    let is_whole = fates.iter().all(|fate| fate.to.is_none())
        && added.iter().filter(comes).count() == added.len()
        && stays + added.len() == updated.resources().count();
    Ok(Some(updated).filter(|_| is_whole && stays + added.len() > 0))
}

/// The file of original or updated that is a version of the file of dest at this path.
fn version<'g>(dest: &Side, given: &'g [(Role, Vec<Side>)], wanted: Role, path: &str) -> Option<&'g Held> {
    let mut sides = given.iter().filter(|(role, _)| *role == wanted).flat_map(|(_, sides)| sides);
    let side = sides.next().filter(|_| sides.next().is_none())?;
    match (&dest.root, &side.root) {
        (Root::Folder(_), Root::Folder(_) | Root::Release(_)) => side.at(path),
        (Root::Folder(_) | Root::Cluster, _) | (_, Root::Folder(_) | Root::Release(_) | Root::Cluster) => None,
        // The git driver makes texts that differ only at choices. It decides about layout itself.
        (Root::Text, _) => None,
        _ => side.files.first().filter(|_| side.files.len() == 1 && dest.files.len() == 1),
    }
}

/// The file of another side that new resources come from.
fn origin_of<'s>(added: &[&Added], given: &'s [(Role, Vec<Side>)]) -> Option<&'s Held> {
    let file = |added: &&Added| {
        let Origin::File { name, .. } = &added.origin else { return None };
        let all = given.iter().flat_map(|(role, sides)| sides.iter().filter(|_| *role != Role::Original));
        all.flat_map(|side| &side.files).find(|held| held.name == *name)
    };
    added.iter().find_map(file)
}
