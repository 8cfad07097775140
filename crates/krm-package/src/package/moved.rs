//! Moves between the files of dest: of whole files, or of some resources of a file.
//!
//! If all resources of a file move to one new file, the file is renamed, with all other text in it. If dest did not change the file, it
//! becomes upstream's file, byte for byte. The path may be that of a file whose own resources all leave.

use std::collections::{BTreeMap, BTreeSet};

use krm_tree::limit::Budget;
use krm_tree::tree::Tree;
use krm_yaml::{Document, NodeRef, TextEdits, same};

use super::text_file::{FileFault, FileItem, Files, NewResource, TextFile};
use crate::documents::{Item, NewDocument};
use crate::list;
use crate::resource::Origin;

/// The resources of dest's files, by the number of the file.
pub type ItemsOfFiles<'m> = BTreeMap<usize, Vec<FileItem<'m>>>;

/// The moves of a merge.
#[derive(Debug)]
pub(super) struct Moved<'m> {
    /// The files that are renamed, by their numbers, with their new paths.
    pub renamed: BTreeMap<usize, &'m str>,
    /// The resources that move to a file, by the path of that file. Resources of renamed files are not among them.
    pub pieces: BTreeMap<String, Vec<NewResource>>,
    /// For each file that receives resources, the numbers of the files of dest that they come from.
    pub sources: BTreeMap<&'m str, BTreeSet<usize>>,
}

impl<'m> Moved<'m> {
    /// Finds the moves among the resources of dest.
    ///
    /// # Errors
    /// Cannot occur: a merge would have to leave a file that is not YAML.
    pub fn of(files: &Files<'m>, items: &ItemsOfFiles<'m>, budget: &Budget) -> Result<Self, FileFault> {
        let mut moved = Self { renamed: BTreeMap::new(), pieces: BTreeMap::new(), sources: BTreeMap::new() };
        for (file, own) in items {
            for to in own.iter().filter(|own| *own.item != Item::Goes).filter_map(|own| own.to) {
                moved.sources.entry(to).or_default().insert(*file);
            }
        }
        let left = left(files.sides.dest, items);
        let is_free = |to: &&str| files.dest_at(to).is_none() || left.contains(to);
        for (file, own) in items {
            let is_alone = |to: &&str| moved.sources.get(to).is_some_and(|from| from.len() == 1);
            match whole(own).filter(is_alone).filter(is_free) {
                Some(to) => _ = moved.renamed.insert(*file, to),
                None => {
                    for (to, piece) in pieces_of(&files.sides.dest[*file], own, budget)? {
                        moved.pieces.entry(to).or_default().push(piece);
                    }
                }
            }
        }
        Ok(moved)
    }

    /// Upstream's file at a path, if the new file may be a copy of it. This requires that dest did not change the files that the resources
    /// come from, and that `text` has the same resources.
    ///
    /// # Errors
    /// Cannot occur: `text` is not YAML.
    pub fn upstream(&self, files: &Files<'m>, path: &str, text: &str) -> Result<Option<TextFile<'m>>, FileFault> {
        let Some(sources) = self.sources.get(path) else { return Ok(None) };
        if !sources.iter().all(|file| files.is_original(&files.sides.dest[*file])) {
            return Ok(None);
        }
        let Some(updated) = files.updated_at(path) else { return Ok(None) };
        let document = Document::parse(text)?;
        let mut left: Vec<NodeRef<'_>> = list::nodes(&document).collect();
        let is_all = updated.document.into_iter().flat_map(list::nodes).all(|resource| {
            let at = left.iter().position(|node| same(*node, resource));
            at.map(|at| left.swap_remove(at)).is_some()
        });
        Ok((is_all && left.is_empty()).then_some(updated))
    }
}

/// The files of dest whose resources all leave: they are deleted, or go to other files.
pub(super) fn left<'f>(dest: &[TextFile<'f>], items: &ItemsOfFiles<'_>) -> BTreeSet<&'f str> {
    let leaves = |own: &FileItem<'_>| *own.item == Item::Goes || own.to.is_some();
    let left = items.iter().filter(|(_, own)| own.iter().all(leaves));
    left.map(|(file, _)| dest[*file].path).collect()
}

/// The path to which all remaining resources of a file move; `None` if they do not all move to one path.
fn whole<'m>(items: &[FileItem<'m>]) -> Option<&'m str> {
    let mut left = items.iter().filter(|own| *own.item != Item::Goes).map(|own| own.to);
    let to = left.next()??;
    left.all(|other| other == Some(to)).then_some(to)
}

/// The resources of a file that move to other files, each as a text of its own.
fn pieces_of(
    file: &TextFile<'_>,
    items: &[FileItem<'_>],
    budget: &Budget,
) -> Result<Vec<(String, NewResource)>, FileFault> {
    let Some(document) = file.document.filter(|_| items.iter().any(|own| own.to.is_some())) else {
        return Ok(Vec::new());
    };
    let edits = items.iter().filter_map(|own| if let Item::Edited(edits) = own.item { Some(edits) } else { None });
    let edits = TextEdits::default().union(edits.cloned())?;
    let source = document.source();
    let edited = Document::parse(edits.apply(source, 0..source.len()))?;
    let pieces = list::nodes(&edited).zip(items).filter(|(_, own)| *own.item != Item::Goes);
    let pieces = pieces.filter_map(|(node, own)| {
        let to = own.to?.to_owned();
        let origin = Origin::File { name: file.name.to_owned(), item: None };
        let new = |document| (to.clone(), NewResource { path: Some(to), origin, document, spot: own.spot });
        Some(NewDocument::of_resource(&Tree::Node(node), budget).map(new))
    });
    Ok(pieces.collect::<Result<_, _>>()?)
}
