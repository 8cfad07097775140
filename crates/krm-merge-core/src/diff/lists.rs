//! Lists compared: element by element where they have keys, value by value where they are sets, and otherwise as one value.

use krm_schema::schema::{Cursor, ListKind, Unkeyed, list_kind};
use krm_tree::child::{By, ChildId, Elements, MergeKey, element_key};
use krm_tree::sequence::common;
use krm_yaml::hashed::{Empty, HashSet};
use krm_yaml::{Error, NodeRef, Place, same};

use super::moved::Moved;
use super::notes::notes_of;
use super::{Differ, NodeOfSides, Paired};
use crate::change::{Change, Child, Emptied, Inside, Wants};
use crate::warning::{Notice, Warning};

impl<'a> Differ<'a> {
    pub(super) fn list(
        &mut self,
        like: NodeRef<'a>,
        emptied: Emptied,
        sides: NodeOfSides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        let lists: Vec<Vec<NodeRef<'a>>> =
            sides.each().filter(|s| s.is_list()).map(|s| s.elements().collect()).collect();
        let (kind, unkeyed) = match kind_of_list(cursor, [sides.original, sides.updated], &lists) {
            Ok(kind) => (kind, None),
            Err(unkeyed) => (ListKind::Atomic, Some(unkeyed)),
        };
        let by = By::from(kind);
        if by != By::Index {
            let on = self.list_on(by, sides, cursor);
            return self.merging(like, emptied, on);
        }
        let unchanged = matches!((sides.original, sides.updated), (Some(o), Some(u)) if same(o, u));
        if unchanged {
            return self.comments_in_list(sides, cursor);
        }
        self.warnings.extend(unkeyed.map(|unkeyed| Warning {
            path: self.trail.path(),
            notice: Notice::Unkeyed(unkeyed),
            dest: sides.dest,
            proposed: sides.updated,
        }));
        Ok(sides.expecting(sides.updated.map_or(Wants::Nothing, Wants::Value)))
    }

    /// The change of the comments in a list that is one value, if original and updated have the same value. It is for the elements that dest
    /// has.
    fn comments_in_list(&mut self, sides: NodeOfSides<'a>, cursor: Cursor<'a>) -> Result<Option<Change<'a>>, Error> {
        let (Some(original), Some(updated), Some(dest)) = (sides.original, sides.updated, sides.dest) else {
            return Ok(None);
        };
        let [old, new, own] = [original, updated, dest].map(|list| list.elements().collect::<Vec<_>>());
        let both = common(&own, &new, |a, b| same(*a, *b)).into_iter();
        let paired: Vec<Paired<'a>> = both
            .map(|(place, at)| Paired { original: Some(old[at]), updated: new[at], dest: own[place], place })
            .collect();
        let mut children = self.paired([original, updated, dest], &paired, cursor)?;
        children.retain(|child| child.change.asks());
        let inside = Inside::of(updated, By::Index, children);
        Ok(if inside.children.is_empty() { None } else { sides.expecting(inside.into()) })
    }

    /// What changed upstream in these elements of a list, and in their comments.
    pub(super) fn paired(
        &mut self,
        [original, updated, dest]: [NodeRef<'a>; 3],
        paired: &[Paired<'a>],
        cursor: Cursor<'a>,
    ) -> Result<Vec<Child<'a>>, Error> {
        let (nothing, mut children) = (Moved::default(), Vec::with_capacity(paired.len()));
        for pair in paired {
            let id = ChildId::Index(pair.place);
            let sides = NodeOfSides { original: pair.original, updated: Some(pair.updated), dest: Some(pair.dest) };
            self.trail.push(id.step(&By::Index), Some(pair.place));
            let placed = |list, element| (Place::of_element(list, element), element);
            let [there, is] = [(dest, pair.dest), (updated, pair.updated)].map(|(list, e)| placed(list, e));
            let fit = self.fit.below(Some(there), Some(is));
            let change = self.fitting(fit, |differ| differ.node(sides, cursor))?;
            self.trail.pop();
            let was = pair.original.map(|was| placed(original, was));
            let notes = notes_of(was, Some(there), is, || &nothing);
            let change = Change { notes: notes.into(), ..change.unwrap_or_else(|| Change::patch(Wants::Same, None)) };
            children.push(Child { id, node: Some((None, pair.updated)), change });
        }
        Ok(children)
    }
}

/// How a list of original and updated merges, given the elements of all sides.
///
/// # Errors
/// A side has an element that cannot be identified as its type demands.
pub fn kind_of_list<'a, L: Elements<'a>>(
    cursor: Cursor<'a>,
    of: [Option<NodeRef<'a>>; 2],
    sides: &[L],
) -> Result<ListKind<MergeKey<'a>>, Unkeyed> {
    match list_kind(cursor, sides)? {
        ListKind::Map(keys) => unique(&keys, of).map(|()| ListKind::Map(keys)),
        kind => Ok(kind),
    }
}

/// Checks that original and updated have each key only once. Otherwise it is unclear which of two elements became which.
fn unique<'a>(keys: &[MergeKey<'a>], sides: [Option<NodeRef<'a>>; 2]) -> Result<(), Unkeyed> {
    for (side, name) in sides.into_iter().zip(["original", "updated"]) {
        let mut seen = HashSet::new();
        for (i, element) in side.into_iter().flat_map(NodeRef::elements).enumerate() {
            if element_key(element, keys).is_some_and(|k| !seen.insert(k)) {
                return Err(Unkeyed::Element(format!("element [{i}] of {name} repeats a merge key")));
            }
        }
    }
    Ok(())
}
