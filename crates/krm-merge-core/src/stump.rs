//! Completes or drops stumps: maps and elements that a conflict left without a required field, because only a part of the value was added or
//! kept.
//!
//! If dest deleted a container and upstream changed its image, the changed part is added, as in the three-way document. Without a name or
//! an image it would not be a container, so updated's whole value is added instead. If upstream deleted it and dest's own values in it
//! cannot stand alone, all of it is removed. A field that no side had does not count as missing.

use krm_schema::schema::Cursor;
use krm_tree::child::Value as _;
use krm_tree::tree::{Branch, Conflict, Taking, Tree, View};

/// A tree in whose conflicts updated wins with its whole value, or deletion, if the changed part could not stand alone. `cursor` is at its
/// root.
#[must_use]
pub fn without_stumps<'a>(tree: Tree<'a>, cursor: Cursor<'a>) -> Tree<'a> {
    match tree {
        Tree::Conflict(conflict) => whole(*conflict, cursor).into(),
        Tree::Branch(mut branch) => {
            cursor.replace_below(&mut branch, without_stumps);
            Tree::Branch(branch)
        }
        tree @ (Tree::Node(_) | Tree::Made(_)) => tree,
    }
}

fn whole<'a>(conflict: Conflict<'a>, cursor: Cursor<'a>) -> Conflict<'a> {
    let required = match (&conflict.taking, &conflict.taken) {
        (Taking::Delta | Taking::CutDown, Some(taken)) => missing(taken, cursor),
        _ => None,
    };
    if required.is_none() {
        return conflict.with_outcomes(|tree| without_stumps(tree, cursor));
    }
    let taken = conflict.updated.map(Tree::Node);
    let taking = if taken.is_some() { Taking::Value } else { Taking::Deletion };
    Conflict { taken, taking, required, ..conflict }
}

/// A required field that a part of a value lacks although the original value has it.
fn missing<'a>(part: &Tree<'a>, cursor: Cursor<'a>) -> Option<&'a str> {
    let Tree::Branch(branch) = part else { return None };
    let own = Some(branch).filter(|branch| branch.like.is_map()).and_then(|map| missing_in(map, cursor));
    // The type may be recognizable only in the whole value.
    let below = |name: &str| cursor.child(name, branch.like.get(name));
    own.or_else(|| {
        let mut entries = branch.entries.iter();
        entries.find_map(|entry| missing(entry.value.as_ref()?, entry.key.map_or(cursor, |key| below(key.name()))))
    })
}

fn missing_in<'a>(map: &Branch<'a>, cursor: Cursor<'a>) -> Option<&'a str> {
    let has = View::Branch(map);
    let is_there = |value: Option<View<'_, 'a>>| value.is_some_and(|value| !value.is_null());
    let was_there = |name: &str| map.like.get(name).is_some_and(|value| !value.is_null());
    cursor.required().find(|name| was_there(name) && !is_there(has.field(name)))
}
