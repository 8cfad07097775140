//! Compares original and updated: the [`Change`] is what happened upstream and is to happen in dest.
//!
//! Nodes whose text is equal are skipped, so the work grows with the change. Dest answers a question that the other sides cannot: how an
//! unknown list merges, because inference looks at all sides. A null is a value like any other here.

mod anchors;
mod children;
mod gap;
mod lists;
mod moved;
mod notes;
mod placed;

use krm_schema::schema::Cursor;
use krm_tree::child::{By, ChildId};
use krm_tree::path::{FieldPath, Trail};
use krm_tree::sides;
use krm_tree::slots::BoxedSlots;
use krm_tree::tree::View;
use krm_yaml::{Error, Kind, NodeRef, Place, Style, WrittenChild, same};

use crate::change::{Change, Child, Emptied, Expects, Inside, Notes, Order, Wants};
use crate::host::{check_kept, holds_protected, is_all_protected, may_hold_protected};
use crate::matched::Row;
use crate::policy::Renames;
use crate::warning::Warning;
use anchors::Anchors;
pub use lists::kind_of_list;
use placed::LinesFit;

/// The change that happened upstream, and what the user should know.
#[derive(Debug)]
pub struct Diff<'a> {
    /// The change; `None` if nothing changed.
    pub change: Option<Change<'a>>,
    /// Lists that could not be merged by their keys.
    pub warnings: Vec<Warning<'a>>,
}

/// Finds what changed from original to updated. Source: the three-way document, in semantics.md sections 1 and 2.
///
/// | original | updated | the request |
/// |---|---|---|
/// | the same | the same | nothing, or only a comment that differs |
/// | a map, or a list that merges | the same kind | the changes inside |
/// | anything | something else | the new value, if dest has the old one |
/// | nothing | anything | the new value, if dest has none; changes inside, if dest has its own map |
/// | anything | nothing | its removal; of a map, only upstream's fields are removed |
///
/// A null is a value, and "nothing" is an absent field. So a null arrives as upstream wrote it, and a null of dest stays.
///
/// # Errors
/// A repeated key in a map that is compared; an anchor that one side moved from a value that the other one changed.
pub fn diff<'a>(
    original: Option<NodeRef<'a>>,
    updated: NodeRef<'a>,
    dest: Option<NodeRef<'a>>,
    cursor: Cursor<'a>,
    renames: Renames,
) -> Result<Diff<'a>, Error> {
    let roots = NodeOfSides { original, updated: Some(updated), dest };
    let fit = LinesFit::of(dest, updated);
    let mut differ = Differ { anchors: Anchors::of(roots.by_side()), ..Differ::at(FieldPath::default(), renames, fit) };
    let change = differ.node(roots, cursor)?;
    Ok(Diff { change, warnings: differ.warnings })
}

/// An element that updated and dest have.
#[derive(Clone, Copy, Debug)]
pub struct Paired<'a> {
    /// The element in original; `None` if both sides added it.
    pub original: Option<NodeRef<'a>>,
    /// The element in updated.
    pub updated: NodeRef<'a>,
    /// The element in dest.
    pub dest: NodeRef<'a>,
    /// Its place in dest's list.
    pub place: usize,
}

/// Finds what changed upstream in some elements of a list at a path; the caller has paired the elements. The array has the list of
/// original, of updated and of dest.
///
/// # Errors
/// Same as [`diff`].
pub fn diff_paired<'a>(
    [original, updated, dest]: [NodeRef<'a>; 3],
    paired: &[Paired<'a>],
    path: &FieldPath<'a>,
    cursor: Cursor<'a>,
    renames: Renames,
) -> Result<Diff<'a>, Error> {
    let mut differ = Differ::at(path.clone(), renames, LinesFit::of(Some(dest), updated));
    let children = differ.paired([original, updated, dest], paired, cursor)?;
    let change = Change::patch(Inside::of(dest, By::Index, children).into(), None);
    Ok(Diff { change: Some(change).filter(|_| !paired.is_empty()), warnings: differ.warnings })
}

/// A node on each side.
#[derive(Clone, Copy)]
struct NodeOfSides<'a> {
    original: Option<NodeRef<'a>>,
    updated: Option<NodeRef<'a>>,
    dest: Option<NodeRef<'a>>,
}

impl<'a> NodeOfSides<'a> {
    /// The value of a child.
    fn of(row: &Row<'a>) -> Self {
        let sides::Sides { original, updated, dest } = row.on.map(|child| child.map(WrittenChild::value));
        Self { original, updated, dest }.comparable()
    }

    /// The same nodes, if they are compared as they are written. Where both sides changed a link, or made one, its value counts, too: a side
    /// that only renamed the anchor changed nothing, and what one side alone made a link is compared with the others inside.
    fn comparable(self) -> Self {
        let Self { original, updated, dest } = self;
        let links = self.each().filter(|side| side.is_link()).count();
        let are = |is: fn(NodeRef<'a>, NodeRef<'a>) -> bool, one: Option<_>, other| {
            one.zip(other).is_some_and(|(one, other)| is(one, other))
        };
        if links == 0 || are(same, updated, original) || are(same, updated, dest) || are(same, dest, original) {
            return self;
        }
        let renamed = |one: NodeRef<'a>, other: NodeRef<'a>| {
            one.is_link() && other.is_link() && same(one.target(), other.target())
        };
        if are(renamed, updated, original) {
            return Self { updated: original, ..self };
        }
        if are(renamed, updated, dest) {
            return Self { updated: dest, ..self };
        }
        if are(renamed, dest, original) {
            return Self { original: dest, ..self };
        }
        let all = [original, updated, dest];
        let [original, updated, dest] = all.map(|side| side.map(NodeRef::target));
        if links == 1 && all.iter().all(Option::is_some) { Self { original, updated, dest } } else { self }
    }

    /// A node that only updated has.
    fn of_new(updated: NodeRef<'a>) -> Self {
        Self { original: None, updated: Some(updated), dest: None }
    }

    fn expecting(self, wants: Wants<'a>) -> Option<Change<'a>> {
        Some(Change { expects: Expects::Exactly(self.original), wants, notes: BoxedSlots::default() })
    }

    /// A change inside a map or list, and of its order; `None` if nothing changed.
    fn inside(self, inside: Inside<'a>) -> Option<Change<'a>> {
        // The fields of a `<<` have no place of their own.
        let has_merges = |side: NodeRef<'_>| inside.by == By::Field && side.resolve().has_merge_entry();
        let sides = [self.original, self.updated, self.dest];
        let has_no_order = inside.emptied == Emptied::Goes || sides.into_iter().flatten().any(has_merges);
        let order = if has_no_order { Order::OfDest } else { Order::From(self.original) };
        let mut inside = Inside { order, ..inside };
        inside.keep_gaps_in_new_order();
        let says_nothing = inside.children.is_empty() && inside.new_names().next().is_none() && !inside.has_new_order();
        if says_nothing && self.original.is_some() && inside.emptied == Emptied::Stays {
            return None;
        }
        self.expecting(inside.into())
    }

    /// Whether dest and updated have each child on lines of its own.
    fn are_blocks(self) -> bool {
        let is_block = |side: Option<NodeRef<'a>>| side.is_some_and(|node| node.style() == Style::Block);
        is_block(self.dest) && is_block(self.updated)
    }

    fn by_side(self) -> sides::Sides<Option<NodeRef<'a>>> {
        sides::Sides { original: self.original, updated: self.updated, dest: self.dest }
    }

    fn each(self) -> impl Iterator<Item = NodeRef<'a>> {
        [self.original, self.updated, self.dest].into_iter().flatten()
    }
}

struct Differ<'a> {
    trail: Trail<'a>,
    renames: Renames,
    warnings: Vec<Warning<'a>>,
    /// Whether lines of updated fit into dest at this place.
    fit: LinesFit,
    /// What has an anchor on each side, if whole resources are compared.
    anchors: Anchors<'a>,
}

impl<'a> Differ<'a> {
    fn at(path: FieldPath<'a>, renames: Renames, fit: LinesFit) -> Self {
        Self { trail: path.into(), renames, warnings: Vec::new(), fit, anchors: Anchors::default() }
    }

    fn node(&mut self, sides: NodeOfSides<'a>, cursor: Cursor<'a>) -> Result<Option<Change<'a>>, Error> {
        let sides = self.merged(sides)?;
        self.anchors.check(sides.by_side())?;
        let Some(updated) = sides.updated else {
            return match sides.original {
                Some(original) => self.dropped(original, sides, cursor),
                None => Ok(None),
            };
        };
        // A null cannot stand where dest has annotations of the host.
        if updated.is_null() && sides.dest.is_some_and(|dest| holds_protected(&self.trail, View::Node(dest))) {
            return Ok(self.expecting_nothing(sides));
        }
        // What both sides made of a null is merged as what both sides added.
        let are_filled = || sides.dest.is_some_and(NodeRef::is_container) && updated.is_container();
        let original = sides.original.filter(|original| !original.is_null() || !are_filled());
        let sides = NodeOfSides { original, ..sides };
        // Another tag makes another value: its fields may mean something else.
        let alike = original.or(sides.dest).is_none_or(|before| before.is_kind_of(updated));
        match updated.resolve().kind() {
            Kind::Map if alike && !cursor.is_replaced() => self.map(updated, Emptied::Stays, sides, cursor),
            Kind::List if alike => self.list(updated, Emptied::Stays, sides, cursor),
            _ if original.is_some_and(|o| same(o, updated)) => Ok(None),
            _ => Ok(sides.expecting(Wants::Value(updated))),
        }
    }

    /// Leaves out the values of original and updated that have only annotations of the host.
    fn merged(&self, sides: NodeOfSides<'a>) -> Result<NodeOfSides<'a>, Error> {
        if let Some(updated) = sides.updated {
            check_kept(&self.trail, updated, sides.dest.map(View::Node))?;
        }
        let own = |side: Option<NodeRef<'a>>| side.filter(|value| !is_all_protected(&self.trail, *value));
        Ok(NodeOfSides { original: own(sides.original), updated: own(sides.updated), ..sides })
    }

    /// Removes original's value, but keeps dest's host annotations there.
    fn expecting_nothing(&self, sides: NodeOfSides<'a>) -> Option<Change<'a>> {
        let expects = Expects::Exactly(sides.original);
        sides.expecting(Wants::nothing_at(&self.trail, sides.dest.map(View::Node), expects))
    }

    /// The change for a value that upstream dropped: a map or a list that merges is removed except for dest's own values in it.
    fn dropped(
        &mut self,
        original: NodeRef<'a>,
        sides: NodeOfSides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        let Some(dest) = sides.dest.filter(|d| !same(*d, original)) else {
            return Ok(self.expecting_nothing(sides));
        };
        let change = match original.resolve().kind() {
            Kind::Map if !cursor.is_replaced() => self.map(original, Emptied::Goes, sides, cursor)?,
            Kind::List => self.list(original, Emptied::Goes, sides, cursor)?,
            Kind::Map | Kind::Scalar | Kind::Alias => return Ok(sides.expecting(Wants::Nothing)),
        };
        self.expecting_if_added(change, original, dest, cursor)
    }

    /// Makes a deletion upstream conflict with values that dest added or changed below, but not with values that dest deleted there, too.
    fn expecting_if_added(
        &mut self,
        change: Option<Change<'a>>,
        original: NodeRef<'a>,
        dest: NodeRef<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        let mut scratch = Differ::at(self.trail.path(), self.renames, self.fit);
        let here = NodeOfSides { original: Some(original), updated: Some(dest), dest: None };
        let added = scratch.node(here, cursor)?.is_some_and(|c| c.adds_values());
        let expects = if added { Expects::Exactly(Some(original)) } else { Expects::Anything };
        Ok(change.map(|change| Change { expects, ..change }))
    }

    /// Compares a map that original and updated both have, or that only one of them has.
    fn map(
        &mut self,
        like: NodeRef<'a>,
        emptied: Emptied,
        sides: NodeOfSides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        for side in [sides.original, sides.updated].into_iter().flatten() {
            side.resolve().check_keys()?;
        }
        if sides.original.is_none() && sides.dest.is_none() && self.is_plain(like) {
            return self.new_map(like, sides, cursor);
        }
        let on = self.map_on(sides, cursor);
        self.merging(like, emptied, on)
    }

    /// Whether a map has only fields of its own, and none of them is the host's or has one below it.
    fn is_plain(&self, map: NodeRef<'a>) -> bool {
        !map.resolve().has_merge_entry() && !may_hold_protected(&self.trail)
    }

    /// The request for a map that only updated has: the map as it is written or, if a field asks for more than that, its fields.
    fn new_map(
        &mut self,
        map: NodeRef<'a>,
        sides: NodeOfSides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        let as_written = |(key, value): (NodeRef<'a>, NodeRef<'a>)| {
            let change = NodeOfSides::of_new(value).expecting(Wants::Value(value))?;
            Some(Child { id: ChildId::Field(key.string()), node: Some((Some(key), value)), change })
        };
        let mut children: Option<Vec<Child<'a>>> = None;
        for (i, (key, value)) in map.entries().enumerate() {
            let name = key.string();
            let gap = gap::coming((Place::of_entry(key, value), value));
            let change = self.field(name, NodeOfSides::of_new(value), cursor)?;
            let is_as_written =
                gap.is_none() && change.as_ref().is_some_and(|c| matches!(c.wants, Wants::Value(v) if v.is(value)));
            if children.is_none() && is_as_written {
                continue;
            }
            let before = || map.entries().take(i).filter_map(as_written).collect();
            let notes = Notes { gap, ..Notes::default() };
            let change = change.or_else(|| gap.map(|_| Change::patch(Wants::Same, None)));
            let child = change.map(|change| Child {
                id: ChildId::Field(name),
                node: Some((Some(key), value)),
                change: Change { notes: notes.into(), ..change },
            });
            children.get_or_insert_with(before).extend(child);
        }
        match children {
            None => Ok(sides.expecting(Wants::Value(map))),
            Some(children) => Ok(sides.inside(Inside::of(map, By::Field, children))),
        }
    }

    /// Compares what is below a child, with the fit of its lines.
    fn fitting<T>(&mut self, fit: LinesFit, compare: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.fit, fit);
        let compared = compare(self);
        self.fit = outer;
        compared
    }

    /// Compares a field on all sides.
    fn field(
        &mut self,
        name: &'a str,
        sides: NodeOfSides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        self.trail.push(ChildId::Field(name).step(&By::Field), None);
        let change = match self.anchored_in_dest(sides) {
            Some(own) => Ok(sides.expecting(Wants::Value(own))),
            None => self.node(sides, cursor.child(name, sides.each())),
        };
        self.trail.pop();
        change
    }

    /// What a field that upstream made an alias is to be in dest; `None` if dest made another value of it.
    fn anchored_in_dest(&self, sides: NodeOfSides<'a>) -> Option<NodeRef<'a>> {
        let alias = sides.updated.filter(|updated| updated.kind() == Kind::Alias)?;
        if may_hold_protected(&self.trail) || sides.original.is_some_and(|original| same(original, alias)) {
            return None;
        }
        let own = self.anchors.in_dest(alias)?;
        let is_free = match (sides.original, sides.dest) {
            (original, Some(dest)) => same(dest, own) || original.is_some_and(|original| same(original, dest)),
            (original, None) => original.is_none(),
        };
        is_free.then_some(own)
    }
}

#[cfg(test)]
mod tests;
