//! Moves between the files of dest: of whole files, or of some resources of a file.
//!
//! If all resources of a file move to one new file, the file is renamed, with all other text in it. If dest did not change the file, it
//! becomes upstream's file, byte for byte. The path may be that of a file whose own resources all leave.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use krm_merge::documents::Item;
use krm_merge::edits::TextEdits;
use krm_merge::limit::Budget;
use krm_merge::resource::Origin;
use krm_merge::splice;
use krm_merge::tree::Tree;
use krm_merge::yaml::{Document, NodeRef, same};
use krm_merge_function::config::Role;

use crate::carry::is_unread;
use crate::edit::{Added, Fate, without_header};
use crate::held::{Held, resource_nodes};
use crate::merge::{Change, is_empty, is_original};
use crate::side::{Root, Side};

/// The moves of a merge.
pub struct Moved<'m> {
    dest: &'m Side,
    given: &'m [(Role, Vec<Side>)],
    /// The files that are renamed, by their numbers, with their new paths.
    renamed: BTreeMap<usize, &'m str>,
    /// The resources that move to a file, by the path of that file. Resources of renamed files are not among them.
    pub pieces: BTreeMap<String, Vec<Added>>,
    /// For each file that receives resources, the numbers of the files of dest that they come from.
    sources: BTreeMap<&'m str, BTreeSet<usize>>,
}

impl<'m> Moved<'m> {
    /// Finds the moves among the resources of dest, by the numbers of their files.
    ///
    /// # Errors
    /// Cannot occur: a merge would have to leave a file that is not YAML.
    pub fn of(
        dest: &'m Side,
        given: &'m [(Role, Vec<Side>)],
        of_file: &BTreeMap<usize, Vec<Fate<'m>>>,
        budget: &Budget,
    ) -> Result<Self> {
        let (renamed, pieces, sources) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut moved = Self { dest, given, renamed, pieces, sources };
        for (file, fates) in of_file {
            for to in fates.iter().filter(|f| *f.item != Item::Goes).filter_map(|f| f.to) {
                moved.sources.entry(to).or_default().insert(*file);
            }
        }
        let left = moved.left(of_file);
        let is_free = |to: &&str| dest.at(to).is_none() || left.contains(to);
        for (file, fates) in of_file {
            let is_alone = |to: &&str| moved.sources.get(to).is_some_and(|from| from.len() == 1);
            match whole(fates).filter(is_alone).filter(is_free) {
                Some(to) => _ = moved.renamed.insert(*file, to),
                None => {
                    for (to, piece) in pieces_of(&dest.files[*file], fates, budget)? {
                        moved.pieces.entry(to).or_default().push(piece);
                    }
                }
            }
        }
        Ok(moved)
    }

    /// The new path of a file that is renamed.
    pub fn renamed(&self, file: usize) -> Option<&'m str> {
        self.renamed.get(&file).copied()
    }

    /// Whether a file of dest is renamed to this path.
    pub fn is_replaced(&self, path: &str) -> bool {
        self.renamed.values().any(|to| *to == path)
    }

    /// The files of dest whose resources all leave: they are deleted, or go to other files.
    pub fn left(&self, of_file: &BTreeMap<usize, Vec<Fate<'m>>>) -> BTreeSet<&'m str> {
        let leaves = |fate: &Fate<'_>| *fate.item == Item::Goes || fate.to.is_some();
        let left = of_file.iter().filter(|(_, fates)| fates.iter().all(leaves));
        left.map(|(file, _)| self.dest.files[*file].path.as_str()).collect()
    }

    /// The files that receive resources.
    pub fn targets(&self) -> impl Iterator<Item = &'m str> {
        self.sources.keys().copied()
    }

    /// The change that makes a new file, or one in the place of a file that leaves its path. Its content is `text`. It is upstream's file
    /// instead if that has the same resources and dest did not change the files that they come from. `executable` says whether anyone may
    /// execute it, unless it is upstream's file.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn created(&self, path: &str, text: String, executable: Option<bool>) -> Result<Change> {
        let (new, executable) = match self.upstream(path, &text)? {
            Some(updated) => (updated.bytes()?.into_owned(), updated.executable()),
            None => (text.into_bytes(), executable),
        };
        let old = self.dest.at(path).map(|held| Ok::<_, anyhow::Error>(held.bytes()?.into_owned())).transpose()?;
        Ok(Change { path: path.to_owned(), old, new: Some(new), executable })
    }

    /// Upstream's file at a path.
    pub fn updated_at(&self, path: &str) -> Option<&'m Held> {
        let updated = self.given.iter().filter(|(role, _)| *role == Role::Updated).flat_map(|(_, sides)| sides);
        updated.filter(|side| side.is_folder()).find_map(|side| side.at(path))
    }

    /// Upstream's file at a path, if the new file may be a copy of it. This requires that dest did not change the files that the resources
    /// come from, and that `text` has the same resources.
    fn upstream(&self, path: &str, text: &str) -> Result<Option<&'m Held>> {
        let Some(sources) = self.sources.get(path) else { return Ok(None) };
        for file in sources {
            if !is_original(&self.dest.files[*file], self.given)? {
                return Ok(None);
            }
        }
        let Some(updated) = self.updated_at(path) else { return Ok(None) };
        let document = Document::parse(text.to_owned())?;
        let mut left: Vec<NodeRef<'_>> = resource_nodes(&document).collect();
        let is_all = updated.resources().all(|resource| {
            let at = left.iter().position(|node| same(*node, resource.node()));
            at.map(|at| left.swap_remove(at)).is_some()
        });
        Ok((is_all && left.is_empty()).then_some(updated))
    }
}

/// The path to which all remaining resources of a file move; `None` if they do not all move to one path.
fn whole<'m>(fates: &[Fate<'m>]) -> Option<&'m str> {
    let mut left = fates.iter().filter(|f| *f.item != Item::Goes).map(|f| f.to);
    let to = left.next()??;
    left.all(|other| other == Some(to)).then_some(to)
}

/// The resources of a file that move to other files, each as a text of its own.
fn pieces_of(held: &Held, fates: &[Fate<'_>], budget: &Budget) -> Result<Vec<(String, Added)>> {
    let Some(document) = held.document().filter(|_| fates.iter().any(|fate| fate.to.is_some())) else {
        return Ok(Vec::new());
    };
    let edits = fates.iter().filter_map(|f| if let Item::Edited(edits) = f.item { Some(edits) } else { None });
    let edits = TextEdits::default().union(edits.cloned())?;
    let source = document.source();
    let edited = Document::parse(edits.apply(source, 0..source.len()))?;
    let pieces = resource_nodes(&edited).zip(fates).filter(|(_, fate)| *fate.item != Item::Goes);
    let pieces = pieces.filter_map(|(node, fate)| {
        let to = fate.to?.to_owned();
        let origin = Origin::File { name: held.name.clone(), item: None };
        let added = |text: String| {
            let text = without_header(&text, node);
            (to.clone(), Added { path: Some(to), origin, text, spot: fate.spot })
        };
        Some(splice::standalone(&Tree::Node(node), budget).map(added))
    });
    Ok(pieces.collect::<Result<_, _>>()?)
}

/// The reason why dest cannot move a resource to the path to which upstream moved it; `None` if it can.
///
/// # Errors
/// A file cannot be read.
pub fn in_the_way(dest: &Side, given: &[(Role, Vec<Side>)], path: &str) -> Result<Option<&'static str>> {
    let Root::Folder(tree) = &dest.root else { return Ok(None) };
    if tree.ignores(path) {
        return Ok(Some("`.krmignore` leaves that file out"));
    }
    if is_unread(dest, path) {
        return Ok(Some("that file is not read here"));
    }
    let plain = dest.at(path).filter(|held| held.document().is_none());
    let is_other = plain.map(|held| Ok::<_, anyhow::Error>(!is_original(held, given)? && !is_empty(held)?));
    Ok(is_other.transpose()?.filter(|is_other| *is_other).map(|_| "that file of dest holds something else"))
}
