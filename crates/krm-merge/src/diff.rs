//! Compares original and updated: the [`Change`] is what happened upstream and is to happen in dest.
//!
//! Nodes whose text is equal are skipped, so the work grows with the change. Dest answers two questions that the other sides cannot: how an
//! unknown list merges (inference looks at all sides), and where an explicit null of dest clears a value that original has.

mod gap;
mod renamed;

use std::hash::Hash;
use std::ops::Range;

use renamed::{Named, Renamed};

use crate::change::{Change, Child, Emptied, Expects, Inside, NoteChange, Notes, Order, Wants};
use crate::child::{By, ChildId, Elements, MergeKey, element_key};
use crate::hashed::{Empty, HashMap, HashSet};
use crate::host::{check_kept, is_all_protected, is_protected};
use crate::path::{ElementKey, FieldPath, Trail};
use crate::policy::Renames;
use crate::remarks::Remarks;
use crate::schema::{Cursor, ListKind, Unkeyed, list_kind};
use crate::sequence::common;
use crate::sides::{self, Side};
use crate::tree::View;
use crate::warning::{Notice, Warning};
use crate::yaml::{BlockScalar, Error, Kind, NodeRef, Place, Style, same, same_lines};

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
/// | anything | nothing, or a new null | its removal; of a map, only upstream's fields are removed |
/// | nothing | a null | its removal, if dest has a value; this is a conflict |
///
/// A null in dest asks to remove the field. But a null that came from original asks for nothing:
///
/// | original | updated | null in dest |
/// |---|---|---|
/// | no value | no value | it stays, but a null of original that updated drops is removed |
/// | a value | the same value, or none | the field is removed |
/// | nothing, or a value | a new or another value | as if dest had deleted the field: the request is in conflict |
/// | a null | a value | the new value |
///
/// # Errors
/// A repeated key in a map that is compared.
pub fn diff<'a>(
    original: Option<NodeRef<'a>>,
    updated: NodeRef<'a>,
    dest: Option<NodeRef<'a>>,
    cursor: Cursor<'a>,
    renames: Renames,
) -> Result<Diff<'a>, Error> {
    let mut differ = Differ::at(FieldPath::default(), renames, Fit::of(dest, updated));
    let change = differ.node(Sides { original, updated: Some(updated), dest }, cursor)?;
    Ok(Diff { change, warnings: differ.warnings })
}

/// The names of each child of a map or keyed list that has another name on a side: one name for each side. `children` are those of each side,
/// by name. Without all three sides, nothing is known to be renamed.
pub fn renamed<'a, K: Clone + Eq + Hash>(
    containers: sides::Sides<Option<NodeRef<'a>>>,
    renames: Renames,
    children: impl FnOnce() -> Option<sides::Sides<Vec<(K, NodeRef<'a>)>>>,
) -> Vec<sides::Sides<K>> {
    followed(containers, renames, children).into_names()
}

fn followed<'a, K: Clone + Eq + Hash>(
    containers: sides::Sides<Option<NodeRef<'a>>>,
    renames: Renames,
    children: impl FnOnce() -> Option<Named<'a, K>>,
) -> Renamed<K> {
    let has_merges = |side: Side| containers[side].is_none_or(|container| container.resolve().has_merge_entry());
    if renames == Renames::Ignore || Side::ALL.into_iter().any(has_merges) {
        return Renamed::default();
    }
    children().map(|children| Renamed::of(&children)).unwrap_or_default()
}

/// An element that all sides have.
#[derive(Clone, Copy, Debug)]
pub struct Paired<'a> {
    /// The element in original.
    pub original: NodeRef<'a>,
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
    let mut differ = Differ::at(path.clone(), renames, Fit::of(Some(dest), updated));
    let children = differ.paired([original, updated, dest], paired, cursor)?;
    let change = Change::patch(Inside::of(dest, By::Index, children).into(), None);
    Ok(Diff { change: Some(change).filter(|_| !paired.is_empty()), warnings: differ.warnings })
}

/// A node on each side.
#[derive(Clone, Copy)]
struct Sides<'a> {
    original: Option<NodeRef<'a>>,
    updated: Option<NodeRef<'a>>,
    dest: Option<NodeRef<'a>>,
}

impl<'a> Sides<'a> {
    fn expecting(self, wants: Wants<'a>) -> Option<Change<'a>> {
        Some(Change { expects: Expects::Exactly(self.original), wants, notes: Notes::default() })
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

    /// The sides that have a value other than null.
    fn values(self) -> Self {
        let value = |node: Option<NodeRef<'a>>| node.filter(|n| !n.is_null());
        Self { original: value(self.original), updated: value(self.updated), dest: value(self.dest) }
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

/// Whether the lines of updated fit into dest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// What is around is in the same column in both.
    SameColumns,
    /// Something around is in another column, so the lines of updated do not fit. A child may be in the column that it has in dest, but only
    /// by chance.
    OtherColumns,
    /// The text is that of an anchor: an alias or a `<<` brings it in.
    Elsewhere,
}

impl Fit {
    fn of(dest: Option<NodeRef<'_>>, updated: NodeRef<'_>) -> Self {
        match dest {
            Some(dest) if dest.column() != updated.column() => Self::OtherColumns,
            _ => Self::SameColumns,
        }
    }

    /// The fit of what is in a child that dest and updated have at these places.
    fn below(self, dest: Option<Placed<'_>>, updated: Option<Placed<'_>>) -> Self {
        let is_alias = |side: Option<Placed<'_>>| side.is_some_and(|(_, value)| value.kind() == Kind::Alias);
        match dest.zip(updated) {
            _ if self == Self::Elsewhere || is_alias(dest) || is_alias(updated) => Self::Elsewhere,
            Some((dest, updated)) if !in_same_column(dest, updated) => Self::OtherColumns,
            _ => self,
        }
    }
}

/// The value of a child, and the place of the child.
type Placed<'a> = (Place, NodeRef<'a>);

fn in_same_column(a: Placed<'_>, b: Placed<'_>) -> bool {
    a.0.column(a.1.document()) == b.0.column(b.1.document())
}

struct Differ<'a> {
    trail: Trail<'a>,
    renames: Renames,
    warnings: Vec<Warning<'a>>,
    /// Whether lines of updated fit into dest at this place.
    fit: Fit,
}

impl<'a> Differ<'a> {
    fn at(path: FieldPath<'a>, renames: Renames, fit: Fit) -> Self {
        Self { trail: path.into(), renames, warnings: Vec::new(), fit }
    }

    fn node(&mut self, sides: Sides<'a>, cursor: Cursor<'a>) -> Result<Option<Change<'a>>, Error> {
        let sides = self.merged(sides)?;
        let values = sides.values();
        let change = self.values(values, cursor)?;
        let is_null = |side: Option<NodeRef<'a>>| side.is_some_and(NodeRef::is_null);
        Ok(match sides.dest {
            // If original has the null of dest, too, it is no request of dest (kpt's keep-tagged-null): only upstream may have changed the
            // value.
            Some(dest) if dest.is_null() && is_null(sides.original) => match change {
                Some(change) => Some(Change { expects: Expects::Anything, ..change }),
                None => sides.updated.is_none().then(|| Change::patch(Wants::Nothing, None)),
            },
            // Any other null of dest clears a value. A value that upstream changed is in conflict, which the walk finds.
            Some(dest) if dest.is_null() => {
                change.or_else(|| values.original.map(|_| Change::patch(Wants::Nothing, None)))
            }
            // A new null in updated also clears a value that only dest has.
            Some(_) if is_null(sides.updated) && sides.original.is_none() => self.expecting_nothing(values),
            Some(_) | None => change,
        })
    }

    /// Leaves out the values of original and updated that have only annotations of the host.
    fn merged(&self, sides: Sides<'a>) -> Result<Sides<'a>, Error> {
        if let Some(updated) = sides.updated {
            check_kept(&self.trail, updated, sides.dest.map(View::Node))?;
        }
        let own = |side: Option<NodeRef<'a>>| side.filter(|value| !is_all_protected(&self.trail, *value));
        Ok(Sides { original: own(sides.original), updated: own(sides.updated), ..sides })
    }

    /// Removes original's value, but keeps dest's host annotations there.
    fn expecting_nothing(&self, sides: Sides<'a>) -> Option<Change<'a>> {
        let expects = Expects::Exactly(sides.original);
        sides.expecting(Wants::nothing_at(&self.trail, sides.dest.map(View::Node), expects))
    }

    /// Compares a node on all sides, of which none has a null.
    fn values(&mut self, sides: Sides<'a>, cursor: Cursor<'a>) -> Result<Option<Change<'a>>, Error> {
        let Sides { original, updated, .. } = sides;
        let Some(updated) = updated else {
            return match original {
                Some(original) => self.dropped(original, sides, cursor),
                None => Ok(None),
            };
        };
        let alike = original.is_none_or(|o| o.resolve().kind() == updated.resolve().kind());
        match updated.resolve().kind() {
            Kind::Map
                if alike && !cursor.is_replaced() && (original.is_some() || sides.dest.is_none_or(NodeRef::is_map)) =>
            {
                self.map(updated, Emptied::Stays, sides, cursor)
            }
            Kind::List if alike => self.list(updated, Emptied::Stays, sides, cursor),
            _ if original.is_some_and(|o| same(o, updated)) => Ok(None),
            _ => Ok(sides.expecting(Wants::Value(updated))),
        }
    }

    /// The change for a value that upstream dropped: a map or a list that merges is removed except for dest's own values in it.
    fn dropped(
        &mut self,
        original: NodeRef<'a>,
        sides: Sides<'a>,
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
        let here = Sides { original: Some(original), updated: Some(dest), dest: None };
        let added = scratch.node(here, cursor)?.is_some_and(|c| c.adds_values());
        let expects = if added { Expects::Exactly(Some(original)) } else { Expects::Anything };
        Ok(change.map(|change| Change { expects, ..change }))
    }

    /// Compares a map that original and updated both have, or that only one of them has.
    fn map(
        &mut self,
        like: NodeRef<'a>,
        emptied: Emptied,
        sides: Sides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        for side in [sides.original, sides.updated].into_iter().flatten() {
            side.resolve().check_keys()?;
        }
        let fields = self.fields(sides);
        let mut children = Vec::new();
        let mut ends = None;
        for (i, field) in fields.of.updated.fields.iter().enumerate() {
            children.extend(self.field_of_updated(i, *field, &mut ends, &fields, sides, cursor)?);
        }
        for (i, &(key, old)) in fields.of.original.fields.iter().enumerate() {
            let name = *fields.renamed.in_dest(Side::Original, &key.string());
            if fields.of.updated.get(name, i).is_some() {
                continue;
            }
            let dest = fields.of.dest.get(name, i).map(|d| d.1);
            let change = self.field(name, Sides { original: Some(old), updated: None, dest }, cursor)?;
            children.extend(change.map(|change| Child { id: ChildId::Field(name), node: None, change }));
        }
        gap::remove(&mut children, sides.updated, || {
            let placed = |(key, value)| (Place::of_entry(key, value), value);
            let of_original = fields.of.original.fields.iter().enumerate();
            let known = of_original.map(|(i, &was)| {
                let name = *fields.renamed.in_dest(Side::Original, &was.0.string());
                let other = |side: Side| fields.of[side].get(name, i).map(placed);
                let on_sides = sides::Sides {
                    original: Some(placed(was)),
                    updated: other(Side::Updated),
                    dest: other(Side::Dest),
                };
                (ChildId::Field(name), on_sides)
            });
            known.collect()
        });
        let names = fields.renamed.iter().map(|names| names.map(ChildId::Field)).collect();
        let inside = Inside { emptied, names, ..Inside::of(like, By::Field, children) };
        Ok(sides.inside(inside))
    }

    /// Compares what is below a child, with the fit of its lines.
    fn fitting<T>(&mut self, fit: Fit, compare: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.fit, fit);
        let compared = compare(self);
        self.fit = outer;
        compared
    }

    /// The fields of a map on all sides, except those of the host.
    fn fields(&self, sides: Sides<'a>) -> Children<Fields<'a>, &'a str> {
        let [mut original, mut updated, dest] = [sides.original, sides.updated, sides.dest.filter(|d| d.is_map())]
            .map(|side| Fields::of(side, |name| !is_protected(&self.trail, name)));
        let renamed = self.renamed(sides, || {
            let is_other = |side: &Fields<'a>| side.is_beyond(&original) && original.is_beyond(side);
            let fields = sides::Sides { original: &original, updated: &updated, dest: &dest };
            (is_other(&updated) || is_other(&dest)).then(|| fields.map(Fields::named))
        });
        for names in renamed.iter() {
            original.call(names.original, names.dest);
            updated.call(names.updated, names.dest);
        }
        Children { of: sides::Sides { original, updated, dest }, renamed, repeated: HashSet::new() }
    }

    /// The request for the i-th field of updated's map. `ends` are the ends of the last field that is the same in original and updated.
    fn field_of_updated(
        &mut self,
        i: usize,
        (key, new): (NodeRef<'a>, NodeRef<'a>),
        ends: &mut Option<[usize; 2]>,
        fields: &Children<Fields<'a>, &'a str>,
        sides: Sides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Child<'a>>, Error> {
        let name = *fields.renamed.in_dest(Side::Updated, &key.string());
        let (old, there) = (fields.of.original.get(name, i), fields.of.dest.get(name, i));
        let may_clear = sides.dest.is_some_and(NodeRef::has_nulls);
        let (id, node) = (ChildId::Field(name), Some((Some(key), new)));
        let placed = |(key, value)| (Place::of_entry(key, value), value);
        let (was, is) = (old.map(placed), placed((key, new)));
        if let Some(lines) = was.filter(|_| !may_clear).and_then(|was| lines_of_same(was, is)) {
            let [starts, own_ends] = [lines.each_ref().map(|lines| lines.start), lines.map(|lines| lines.end)];
            if ends.replace(own_ends) == Some(starts) {
                // Mostly nothing is between two fields.
                return Ok(None);
            }
            let gap = gap::taken(was, there.map(placed), is, sides.updated);
            return Ok(gap.map(|gap| Child { id, node, change: of_gap(Wants::Same, Some(gap)) }));
        }
        let in_dest = there.map(placed);
        // A field that `<<` brings in has its text in another map.
        let has_merges = Side::ALL.iter().any(|side| fields.of[*side].has_merges);
        let around = if has_merges { Fit::Elsewhere } else { self.fit };
        if sides.are_blocks() && !is_walked(&self.trail, name) && is_left_alone(was, in_dest, is, around) {
            let change = of_gap(Wants::Text(new), gap::taken(was, in_dest, is, sides.updated));
            return Ok(Some(Child { id, node, change }));
        }
        let inner = Sides { original: old.map(|o| o.1), updated: Some(new), dest: there.map(|d| d.1) };
        let change = self.fitting(around.below(in_dest, Some(is)), |differ| differ.field(name, inner, cursor))?;
        if let Some(names) = fields.renamed.called(&name)
            && (change.is_some() || names.updated != names.original)
            && !there.zip(old).is_some_and(|(there, old)| same(there.1, old.1))
        {
            self.tell_renamed(names, &By::Field, |name| ChildId::Field(name));
        }
        let notes = match (was, in_dest) {
            (Some(was), _) => changed_remarks(was, in_dest, is, sides.updated),
            (None, Some(there)) => notes_of_added(remarks(there), remarks(is)),
            (None, None) => Notes { gap: gap::taken(None, None, is, sides.updated), ..Notes::default() },
        };
        let is_new = sides.original.is_none() && sides.dest.is_none();
        let change = match change {
            // In a map that is new to dest, a null is added as it is, because it has nothing to clear.
            None if is_new && new.is_null() => Some(Change::patch(Wants::Value(new), None)),
            None if !notes.is_empty() => Some(Change::patch(Wants::Same, None)),
            change => change,
        };
        Ok(change.map(|change| Child { id, node, change: Change { notes, ..change } }))
    }

    /// The children of a map or a keyed list that have another name on a side. `children` gives the children of each side, if a rename is
    /// possible.
    fn renamed<K: Clone + Eq + Hash>(
        &self,
        sides: Sides<'a>,
        children: impl FnOnce() -> Option<Named<'a, K>>,
    ) -> Renamed<K> {
        followed(sides.by_side(), self.renames, children)
    }

    /// Reports that the changes of both sides are made in a child that one side renamed.
    fn tell_renamed<K: PartialEq>(&mut self, names: &sides::Sides<K>, by: &By<'a>, id: impl Fn(&K) -> ChildId<'a>) {
        // After a first run, both sides have the new name.
        if names.dest == names.updated {
            return;
        }
        let side = if names.dest == names.original { Side::Updated } else { Side::Original };
        self.trail.push(id(&names[side]).step(by), None);
        let place = self.trail.path().shown();
        self.trail.pop();
        self.trail.push(id(&names.dest).step(by), None);
        let notice = Notice::Renamed { side, place };
        self.warnings.push(Warning { path: self.trail.path(), notice, dest: None, proposed: None });
        self.trail.pop();
    }

    /// Compares a field on all sides.
    fn field(&mut self, name: &'a str, sides: Sides<'a>, cursor: Cursor<'a>) -> Result<Option<Change<'a>>, Error> {
        self.trail.push(ChildId::Field(name).step(&By::Field), None);
        let change = self.node(sides, cursor.child(name, sides.each()));
        self.trail.pop();
        change
    }

    fn list(
        &mut self,
        like: NodeRef<'a>,
        emptied: Emptied,
        sides: Sides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        let lists: Vec<Vec<NodeRef<'a>>> =
            sides.each().filter(|s| s.is_list()).map(|s| s.elements().collect()).collect();
        let (kind, unkeyed) = match kind_of_list(cursor, [sides.original, sides.updated], &lists) {
            Ok(kind) => (kind, None),
            Err(unkeyed) => (ListKind::Atomic, Some(unkeyed)),
        };
        let by = By::list(kind);
        let (children, names) = match &by {
            By::Keys(keys) => self.elements(keys.clone(), sides, cursor)?,
            By::Value => (set(sides), Vec::new()),
            By::Field | By::Index => {
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
                return Ok(sides.expecting(sides.updated.map_or(Wants::Nothing, Wants::Value)));
            }
        };
        Ok(sides.inside(Inside { emptied, names, ..Inside::of(like, by, children) }))
    }

    /// The change of the comments in a list that is one value, if original and updated have the same value. It is for the elements that dest
    /// has.
    fn comments_in_list(&mut self, sides: Sides<'a>, cursor: Cursor<'a>) -> Result<Option<Change<'a>>, Error> {
        let (Some(original), Some(updated), Some(dest)) = (sides.original, sides.updated, sides.dest) else {
            return Ok(None);
        };
        let [old, new, own] = [original, updated, dest].map(|list| list.elements().collect::<Vec<_>>());
        let both = common(&own, &new, |a, b| same(*a, *b)).into_iter();
        let paired: Vec<Paired<'a>> =
            both.map(|(place, at)| Paired { original: old[at], updated: new[at], dest: own[place], place }).collect();
        let mut children = self.paired([original, updated, dest], &paired, cursor)?;
        children.retain(|child| child.change.asks());
        let inside = Inside::of(updated, By::Index, children);
        Ok(if inside.children.is_empty() { None } else { sides.expecting(inside.into()) })
    }

    /// What changed upstream in these elements of a list, and in their comments.
    fn paired(
        &mut self,
        [original, updated, dest]: [NodeRef<'a>; 3],
        paired: &[Paired<'a>],
        cursor: Cursor<'a>,
    ) -> Result<Vec<Child<'a>>, Error> {
        let mut children = Vec::with_capacity(paired.len());
        for pair in paired {
            let id = ChildId::Index(pair.place);
            let sides = Sides { original: Some(pair.original), updated: Some(pair.updated), dest: Some(pair.dest) };
            self.trail.push(id.step(&By::Index), Some(pair.place));
            let placed = |list, element| (Place::of_element(list, element), element);
            let [was, there, is] = [(original, pair.original), (dest, pair.dest), (updated, pair.updated)]
                .map(|(list, e)| placed(list, e));
            let fit = self.fit.below(Some(there), Some(is));
            let change = self.fitting(fit, |differ| differ.node(sides, cursor))?;
            self.trail.pop();
            let notes = changed_remarks(was, Some(there), is, Some(updated));
            let change = Change { notes, ..change.unwrap_or_else(|| Change::patch(Wants::Same, None)) };
            children.push(Child { id, node: Some((None, pair.updated)), change });
        }
        Ok(children)
    }

    /// The requests for the elements of a keyed list, and the names of the elements that a side renamed.
    fn elements(
        &mut self,
        keys: Vec<MergeKey<'a>>,
        sides: Sides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<(Vec<Child<'a>>, Vec<Names<'a>>), Error> {
        let elements = self.elements_by_key(&keys, sides);
        let mut children = Vec::new();
        let new = sides.updated.into_iter().flat_map(NodeRef::elements).map(|e| (e, Side::Updated));
        let old = sides.original.into_iter().flat_map(NodeRef::elements).map(|e| (e, Side::Original));
        for (element, side) in new.chain(old) {
            let Some(key) = element_key(element, &keys) else { continue };
            let key = elements.renamed.in_dest(side, &key).clone();
            if side == Side::Updated || !elements.of.updated.contains_key(&key) {
                children.extend(self.element(element, key, &keys, &elements, sides, cursor)?);
            }
        }
        gap::remove(&mut children, sides.updated, || {
            let of_original = sides.original.into_iter().flat_map(NodeRef::elements);
            let known = of_original.filter_map(|element| {
                let key = elements.renamed.in_dest(Side::Original, &element_key(element, &keys)?).clone();
                let lists = sides.by_side();
                let placed = |side: Side| {
                    let (list, element) = (lists[side]?, elements.of[side].get(&key)?.1);
                    Some((Place::of_element(list, element), element))
                };
                let on_sides = sides::Sides::of(placed);
                Some((ChildId::Key(key), on_sides))
            });
            known.collect()
        });
        let names = elements.renamed.iter().map(|names| names.clone().map(ChildId::Key)).collect();
        Ok((children, names))
    }

    /// The elements of a keyed list on all sides.
    fn elements_by_key(&self, keys: &[MergeKey<'a>], sides: Sides<'a>) -> Children<ByKey<'a>, ElementKey<'a>> {
        let by_key = |side: Option<NodeRef<'a>>| -> ByKey<'a> {
            let elements: Vec<_> = side.into_iter().flat_map(NodeRef::elements).enumerate().collect();
            // If several elements have one key, the first one counts.
            elements.into_iter().rev().filter_map(|e| Some((element_key(e.1, keys)?, e))).collect()
        };
        let (mut original, mut updated, dest) = (by_key(sides.original), by_key(sides.updated), by_key(sides.dest));
        let renamed = self.renamed(sides, || {
            let is_beyond = |own: &ByKey<'a>, other: &ByKey<'a>| own.keys().any(|key| !other.contains_key(key));
            let is_other = |side: &ByKey<'a>| is_beyond(side, &original) && is_beyond(&original, side);
            let named = |side: &ByKey<'a>| side.iter().map(|(key, e)| (key.clone(), e.1)).collect();
            let elements = sides::Sides { original: &original, updated: &updated, dest: &dest };
            (is_other(&updated) || is_other(&dest)).then(|| elements.map(named))
        });
        for names in renamed.iter() {
            for (side, name) in [(&mut original, &names.original), (&mut updated, &names.updated)] {
                if let Some(element) = side.remove(name) {
                    side.insert(names.dest.clone(), element);
                }
            }
        }
        let mut repeated = HashSet::new();
        if let Some(list) = sides.dest.filter(|list| list.elements().nth(dest.len()).is_some()) {
            let mut seen = HashSet::new();
            let in_dest = list.elements().filter_map(|element| element_key(element, keys));
            repeated.extend(in_dest.filter(|key| !seen.insert(key.clone())));
        }
        Children { of: sides::Sides { original, updated, dest }, renamed, repeated }
    }

    /// The request for an element that original or updated has, by its key in dest.
    fn element(
        &mut self,
        element: NodeRef<'a>,
        key: ElementKey<'a>,
        keys: &[MergeKey<'a>],
        elements: &Children<ByKey<'a>, ElementKey<'a>>,
        sides: Sides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Child<'a>>, Error> {
        let sides::Sides { original, updated, dest } = &elements.of;
        let (old, new) = (original.get(&key).map(|e| e.1), updated.get(&key).map(|e| e.1));
        let in_dest = dest.get(&key).copied();
        let inner = Sides { original: old, updated: new, dest: in_dest.map(|e| e.1) };
        let id = ChildId::Key(key);
        let placed = |list: Option<NodeRef<'a>>, element: Option<NodeRef<'a>>| {
            list.zip(element).map(|(list, element)| (Place::of_element(list, element), element))
        };
        let (was, there, is) =
            (placed(sides.original, old), placed(sides.dest, inner.dest), placed(sides.updated, new));
        let may_clear = inner.dest.is_some_and(NodeRef::has_nulls);
        match is {
            Some(is) if !may_clear && was.is_some_and(|was| same_child(was, is)) => {
                let gap = gap::taken(was, there, is, sides.updated);
                return Ok(gap.map(|gap| Child {
                    id,
                    node: Some((None, is.1)),
                    change: of_gap(Wants::Same, Some(gap)),
                }));
            }
            Some(is) if sides.are_blocks() && is_left_alone(was, there, is, self.fit) => {
                let change = of_gap(Wants::Text(is.1), gap::taken(was, there, is, sides.updated));
                return Ok(Some(Child { id, node: Some((None, is.1)), change }));
            }
            Some(_) | None => {}
        }
        let by = By::Keys(keys.to_vec());
        let change = if new.is_some() {
            self.trail.push(id.step(&by), in_dest.map(|e| e.0));
            let change = self.fitting(self.fit.below(there, is), |differ| differ.node(inner, cursor))?;
            self.trail.pop();
            let is_added = old.is_none() && in_dest.is_none();
            let twin = if is_added { twin(element, keys, [original, updated, dest]) } else { None };
            match (change, twin) {
                (Some(change), Some(twin)) => Some(Change { expects: Expects::Exactly(Some(twin)), ..change }),
                (change, _) => change,
            }
        } else {
            // An element is removed whole: dest's values in it mean nothing without its key.
            let change = inner.expecting(Wants::Nothing);
            match (old, inner.dest, &id) {
                // The further elements with this key are dest's own.
                (.., ChildId::Key(key)) if elements.repeated.contains(key) => change,
                (Some(old), Some(dest), _) => self.expecting_if_added(change, old, dest, cursor)?,
                _ => change,
            }
        };
        if let ChildId::Key(key) = &id
            && let Some(names) = elements.renamed.called(key)
            && change.is_some()
            && !inner.dest.zip(old).is_some_and(|(there, old)| same(there, old))
        {
            self.tell_renamed(names, &by, |key| ChildId::Key(key.clone()));
        }
        let notes = match (was, there, is) {
            (Some(was), _, Some(is)) => changed_remarks(was, there, is, sides.updated),
            (None, Some(there), Some(is)) => notes_of_added(remarks(there), remarks(is)),
            (None, None, Some(is)) => Notes { gap: gap::taken(None, None, is, sides.updated), ..Notes::default() },
            _ => Notes::default(),
        };
        let change = change.or_else(|| (!notes.is_empty()).then(|| Change::patch(Wants::Same, None)));
        let node = new.map(|n| (None, n));
        Ok(change.map(|change| Child { id, node, change: Change { notes, ..change } }))
    }
}

/// The children of a map or a keyed list on each side, found by their names in dest, and the children that have several names.
struct Children<C, K> {
    of: sides::Sides<C>,
    renamed: Renamed<K>,
    /// The names that dest has more than once.
    repeated: HashSet<K>,
}

/// The identity of one child on each side.
type Names<'a> = sides::Sides<ChildId<'a>>;

/// The elements of one side by their merge keys, each with its place.
type ByKey<'a> = HashMap<ElementKey<'a>, (usize, NodeRef<'a>)>;

/// For a new element of upstream, the element of original whose merge key both sides changed. This element, upstream's and one that dest
/// added have the same name, and the old key is gone on both sides. Then the two new elements are one element in conflict, not two elements
/// with one name.
fn twin<'a>(
    element: NodeRef<'a>,
    keys: &[MergeKey<'a>],
    [original, updated, dest]: [&ByKey<'a>; 3],
) -> Option<NodeRef<'a>> {
    if keys.iter().any(|key| key.name == "name") {
        return None;
    }
    let name = element.get("name").and_then(NodeRef::as_str)?;
    let is_named = |e: NodeRef<'a>| e.get("name").and_then(NodeRef::as_str) == Some(name);
    let changed = |key: &ElementKey<'a>| !original.contains_key(key) && !updated.contains_key(key);
    let rivals = dest.iter().any(|(key, e)| changed(key) && is_named(e.1));
    let mut gone = original.iter().filter(|(key, _)| !updated.contains_key(*key) && !dest.contains_key(*key));
    gone.find(|(_, e)| rivals && is_named(e.1)).map(|(_, e)| e.1)
}

/// The changes of a set: values that only updated has are added, values that updated lacks are removed. They cannot conflict. A value that
/// both have gets the comments that changed. If a value repeats, the first one counts.
fn set<'a>(sides: Sides<'a>) -> Vec<Child<'a>> {
    let values = |side: Option<NodeRef<'a>>| {
        let all = side.into_iter().flat_map(|list| list.elements().map(move |element| (list, element)));
        all.filter_map(|(list, element)| Some((element.scalar()?, (list, element))))
    };
    let mut old = HashMap::new();
    for (value, element) in values(sides.original) {
        old.entry(value).or_insert(element);
    }
    let placed = |(list, element)| (Place::of_element(list, element), element);
    let mut seen = HashSet::new();
    let mut children = Vec::new();
    for (value, new) in values(sides.updated).filter(|(value, _)| seen.insert(value.clone())) {
        let change = match old.get(&value) {
            None => Change::patch(Wants::Value(new.1), None),
            Some(old) => Change {
                notes: changed_remarks(placed(*old), None, placed(new), sides.updated),
                ..Change::patch(Wants::Same, None)
            },
        };
        if change.asks() {
            children.push(Child { id: ChildId::Value(value), node: Some((None, new.1)), change });
        }
    }
    for (value, _) in values(sides.original).filter(|(value, _)| seen.insert(value.clone())) {
        children.push(Child { id: ChildId::Value(value), node: None, change: Change::patch(Wants::Nothing, None) });
    }
    children
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

/// Whether a field is compared even if only upstream changed it, because the host's annotations may be below it.
fn is_walked(trail: &Trail<'_>, name: &str) -> bool {
    (trail.is_empty() && name == "metadata") || (trail.is_fields(&["metadata"]) && name == "annotations")
}

/// Whether dest left a child alone that upstream changed, so that dest takes upstream's text, layout and comments. A null may ask for a
/// removal, an anchor or alias may mean something else elsewhere, and what comes after a block scalar may become a part of it; children with
/// these are compared inside. So are children that are in dest's column by chance: the first run writes what is around them in dest's layout,
/// and a second run must not take theirs.
fn is_left_alone(original: Option<Placed<'_>>, dest: Option<Placed<'_>>, updated: Placed<'_>, around: Fit) -> bool {
    let (Some(original), Some(dest)) = (original, dest) else { return false };
    let has_no_lines = match around {
        Fit::SameColumns => false,
        Fit::OtherColumns => in_same_column(dest, updated),
        Fit::Elsewhere => true,
    };
    let is_linked = || updated.1.document().has_props_in(lines_of(updated));
    let is_open = || [dest.1, updated.1].into_iter().any(BlockScalar::keeps_lines_below);
    !has_no_lines
        && !updated.1.has_nulls()
        && !dest.1.has_nulls()
        && !is_linked()
        && same_child(original, dest)
        && !is_open()
}

/// The lines of a child with the comments above it, or its text if it shares its line with other children.
fn lines_of((place, value): Placed<'_>) -> Range<usize> {
    let doc = value.document();
    place.lines(doc, 0).unwrap_or_else(|| place.lead..place.bottom(doc))
}

/// Whether two children have the same lines, comments included, and mean the same. It makes no difference whether a child is on the line of a
/// dash. An anchor, alias or tag in them may mean something else elsewhere.
fn same_child(a: Placed<'_>, b: Placed<'_>) -> bool {
    lines_of_same(a, b).is_some()
}

/// The lines of two children, if they are the same: see [`same_child`].
fn lines_of_same(a: Placed<'_>, b: Placed<'_>) -> Option<[Range<usize>; 2]> {
    if !may_be_same(a.1, b.1) || !in_same_column(a, b) {
        return None;
    }
    let (doc, other) = (a.1.document(), b.1.document());
    let (range, other_range) = (lines_of(a), lines_of(b));
    let (mut lines, mut others) = (&doc.source()[range.clone()], &other.source()[other_range.clone()]);
    // A child on the line of a dash has no blanks before it. In the first column, none has.
    if (range.start == a.0.lead) != (other_range.start == b.0.lead) {
        (lines, others) = (lines.trim_start_matches(' '), others.trim_start_matches(' '));
    }
    // The last line of a text may lack its line break.
    let is_last = || range.end == doc.source().len() || other_range.end == other.source().len();
    let may_differ = || doc.line_break() != other.line_break() || is_last();
    let are_cut_off = || BlockScalar::is_cut_off(a.1) || BlockScalar::is_cut_off(b.1);
    let is_same = (lines == others || may_differ() && same_lines(lines, others) && !are_cut_off())
        && !doc.has_props_in(range.clone())
        && !other.has_props_in(other_range.clone());
    is_same.then_some([range, other_range])
}

/// Whether two values may have the same lines: a check that costs nothing.
fn may_be_same(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    a.text().len() == b.text().len() || a.document().line_break() != b.document().line_break()
}

/// The comments at a child.
fn remarks((place, value): Placed<'_>) -> Remarks<'_> {
    Remarks::at(&place, value)
}

/// The comments of a child that upstream changed, and the lines above them.
fn changed_remarks<'a>(
    was: Placed<'a>,
    there: Option<Placed<'a>>,
    is: Placed<'a>,
    container: Option<NodeRef<'a>>,
) -> Notes<'a> {
    let notes = Notes { gap: gap::taken(Some(was), there, is, container), ..Notes::between(remarks(was), remarks(is)) };
    // A blank line below a comment takes it from the child. Where dest keeps its lines, that asks for nothing.
    Notes { above: notes.above.filter(|_| notes.gap.is_some() || !gap::has_same_words(was, is)), ..notes }
}

/// A change that also asks for other lines above a child.
fn of_gap<'a>(wants: Wants<'a>, gap: Option<&'a str>) -> Change<'a> {
    Change { notes: Notes { gap, ..Notes::default() }, ..Change::patch(wants, None) }
}

/// The comments of a node that both sides added, if both have one and they differ.
fn notes_of_added<'a>(there: Remarks<'_>, new: Remarks<'a>) -> Notes<'a> {
    let added = |dest: &str, wants: &'a str| {
        (!dest.is_empty() && !wants.is_empty()).then_some(NoteChange { expects: Some(""), wants })
    };
    Notes {
        gap: None,
        above: added(there.above, new.above),
        behind: added(there.behind, new.behind),
        below: there.below.zip(new.below).and_then(|(there, new)| added(there, new)),
    }
}

/// The fields of a map; most are found where they are expected.
struct Fields<'a> {
    fields: Vec<(NodeRef<'a>, NodeRef<'a>)>,
    index: Option<HashMap<&'a str, usize>>,
    /// Fields that have another name in dest, with that name.
    called: Vec<(&'a str, usize)>,
    /// Whether the map has a `<<` entry.
    has_merges: bool,
}

impl<'a> Fields<'a> {
    fn of(map: Option<NodeRef<'a>>, is_merged: impl Fn(&str) -> bool) -> Self {
        let all = map.map(NodeRef::spelled_out).unwrap_or_default();
        let mut fields = Vec::with_capacity(all.len());
        for (_, key, value) in all {
            if !key.is_container() && is_merged(key.string()) {
                fields.push((key, value));
            }
        }
        let index = (fields.len() > 16).then(|| fields.iter().enumerate().map(|(i, f)| (f.0.string(), i)).collect());
        Self { fields, index, called: Vec::new(), has_merges: map.is_some_and(NodeRef::has_merge_entry) }
    }

    /// Whether it has a field that the other map lacks.
    fn is_beyond(&self, other: &Self) -> bool {
        self.fields.iter().enumerate().any(|(i, (key, _))| other.get(key.string(), i).is_none())
    }

    fn named(&self) -> Vec<(&'a str, NodeRef<'a>)> {
        self.fields.iter().map(|(key, value)| (key.string(), *value)).collect()
    }

    /// Lets a field also be found by another name.
    fn call(&mut self, name: &'a str, other: &'a str) {
        if name != other
            && let Some(at) = self.fields.iter().position(|field| field.0.string() == name)
        {
            self.called.push((other, at));
        }
    }

    fn get(&self, name: &str, expected: usize) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
        if let Some(field) = self.fields.get(expected).filter(|f| f.0.string() == name) {
            return Some(*field);
        }
        let found = match &self.index {
            Some(index) => index.get(name).map(|&i| self.fields[i]),
            None => self.fields.iter().find(|f| f.0.string() == name).copied(),
        };
        let called = || self.called.iter().find(|(other, _)| *other == name).map(|(_, at)| self.fields[*at]);
        found.or_else(called)
    }
}

#[cfg(test)]
mod tests;
