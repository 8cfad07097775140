//! The lists of a resource that merged by guessed keys, which neither the user nor a known type names, and the sources of these keys.
//!
//! Such keys may be wrong, so the owner of the resource should be able to see them. Only lists in which the merge changed something are
//! listed.

use std::collections::BTreeSet;

use crate::child::By;
use crate::schema::{Basis, Cursor, list_basis};
use crate::tree::{Branch, Tree, View};

/// A list that merged, and the source that says how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ground {
    /// The source.
    pub basis: Basis,
    /// The fields from the root to the list.
    pub path: Vec<String>,
    /// The keys by which it merged; empty for a set.
    pub keys: Vec<String>,
}

/// The lists of a tree that merged by a guess, and in which the merge changed something.
pub fn grounds<'a>(tree: &Tree<'a>, cursor: Cursor<'a>) -> BTreeSet<Ground> {
    let mut found = BTreeSet::new();
    if let Tree::Branch(branch) = tree {
        collect(branch, cursor, &mut Vec::new(), &mut found);
    }
    found
}

fn collect<'a>(branch: &Branch<'a>, cursor: Cursor<'a>, path: &mut Vec<&'a str>, found: &mut BTreeSet<Ground>) {
    let view = View::Branch(branch);
    if view.is_list() && matches!(branch.by, By::Keys(_) | By::Value) {
        let basis = list_basis(cursor, &[view.list()]).filter(|basis| basis.is_guess());
        found.extend(basis.map(|basis| Ground {
            basis,
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            keys: branch.by.keys().iter().map(|key| key.name.to_owned()).collect(),
        }));
    }
    for entry in &branch.entries {
        let Some(Tree::Branch(inner)) = &entry.value else { continue };
        let name = entry.key.map(|key| key.name());
        path.extend(name);
        collect(inner, cursor.below(entry), path, found);
        path.truncate(path.len() - usize::from(name.is_some()));
    }
}
