//! The lists of a resource that merged by guessed keys, which neither the user nor a known type names, and the sources of these keys.
//!
//! Such keys may be wrong, so the owner of the resource should be able to see them. Only lists in which the merge changed something are
//! listed.

use krm_tree::child::{By, ChildId};
use krm_tree::path::{Step, Trail};
use krm_tree::tree::{Branch, Tree, View};

use crate::schema::{Basis, Cursor, is_said, list_basis};

/// A list that merged, and the source that says how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ground {
    /// The source.
    pub basis: Basis,
    /// The fields from the root to the list.
    pub path: Vec<String>,
    /// The keys by which it merged; empty for a set.
    pub keys: Vec<String>,
}

/// Says how a list merged, if a guess decides that. `trail` is its path.
pub fn ground<'a>(list: &Branch<'a>, cursor: Cursor<'a>, trail: &Trail<'a>) -> Option<Ground> {
    if !matches!(list.by, By::Keys(_) | By::Value) || is_said(cursor) {
        return None;
    }
    let basis = list_basis(cursor, &[View::Branch(list).list()]).filter(|basis| basis.is_guess())?;
    let field = |step: &Step<'a>| if let Step::Field(name) = step { Some(name.to_string()) } else { None };
    let path = trail.path().steps().filter_map(field).collect();
    let keys = list.by.keys().iter().map(|key| key.name.to_owned()).collect();
    Some(Ground { basis, path, keys })
}

/// Says it of all lists that the merge made or changed, from a list or map down.
pub fn grounds<'a>(branch: &Branch<'a>, cursor: Cursor<'a>, trail: &mut Trail<'a>) -> Vec<Ground> {
    let mut found: Vec<Ground> = ground(branch, cursor, trail).into_iter().collect();
    for (number, entry) in branch.numbered() {
        let Some(Tree::Branch(inner)) = &entry.value else { continue };
        // Only the fields of the path count.
        let step = entry.key.map_or(Step::Index(number), |key| ChildId::Field(key.name()).step(&By::Field));
        trail.push(step, entry.place());
        found.extend(grounds(inner, cursor.below(entry), trail));
        trail.pop();
    }
    found
}
