//! The children of a map, a keyed list or a set, compared one by one.

use std::cell::OnceCell;

use krm_schema::schema::Cursor;
use krm_tree::child::{By, ChildId};
use krm_tree::path::Trail;
use krm_tree::sides::{Side, Sides};
use krm_yaml::{Error, NodeRef, Style, WrittenChild, is_item, same};

use super::moved::Moved;
use super::notes::{changed_remarks, notes_of, of_gap};
use super::placed::{LinesFit, is_left_alone, lines_of_same, placed};
use super::{Differ, NodeOfSides, gap};
use crate::apart::apart;
use crate::change::{Change, Child, Emptied, Inside, Notes, Wants};
use crate::host::is_protected;
use crate::matched::{Matched, Row};
use crate::policy::Renames;
use crate::warning::{Notice, Warning};

/// A map, or a list that merges, on all sides.
pub(super) struct Container<'a> {
    sides: NodeOfSides<'a>,
    cursor: Cursor<'a>,
    matched: Matched<'a>,
    /// The comments that dest has moved between the children, found on first use.
    moved: OnceCell<Moved<'a>>,
}

/// The requests so far.
#[derive(Default)]
struct Asked<'a> {
    children: Vec<Child<'a>>,
    /// The ends of the last child that is the same in original and updated.
    ends: Option<[usize; 2]>,
}

/// What looks inside of children calls itself for each level of a resource, so it has a small frame: all else is in functions of their own.
impl<'a> Differ<'a> {
    /// The change inside of a map or list that merges, whose children are those of `like`.
    pub(super) fn merging(
        &mut self,
        like: NodeRef<'a>,
        emptied: Emptied,
        on: Box<Container<'a>>,
    ) -> Result<Option<Change<'a>>, Error> {
        let asked = if on.matched.by == By::Value { set(&on.matched) } else { self.children(&on)? };
        let is_merged = emptied == Emptied::Stays && self.renames == Renames::Follow;
        let apart = if is_merged { apart(&self.trail, on.cursor, &asked, &on.matched) } else { Vec::new() };
        let Matched { by, renamed: names, .. } = on.matched;
        Ok(on.sides.inside(Inside { emptied, names, apart, ..Inside::of(like, by, asked) }))
    }

    /// A map on all sides, with its fields, except those of the host.
    #[inline(never)]
    pub(super) fn map_on(&self, sides: NodeOfSides<'a>, cursor: Cursor<'a>) -> Box<Container<'a>> {
        let fields = |map: NodeRef<'a>| {
            let all = if map.is_map() { map.spelled_out() } else { Vec::new() };
            let is_own = |key: NodeRef<'a>| !key.is_container() && !is_protected(&self.trail, key.string());
            let fields = all.into_iter().filter(move |(_, key, _)| is_own(*key));
            fields.enumerate().map(|(place, (_, key, value))| WrittenChild::new(place, Some(key), value))
        };
        Container::of(sides, cursor, Matched::of(sides.by_side(), By::Field, self.renames, fields))
    }

    /// A list that merges on all sides, with its elements.
    #[inline(never)]
    pub(super) fn list_on(&self, by: By<'a>, sides: NodeOfSides<'a>, cursor: Cursor<'a>) -> Box<Container<'a>> {
        let elements = |list: NodeRef<'a>| {
            list.elements().enumerate().map(|(place, element)| WrittenChild::new(place, None, element))
        };
        Container::of(sides, cursor, Matched::of(sides.by_side(), by, self.renames, elements))
    }

    fn children(&mut self, on: &Container<'a>) -> Result<Vec<Child<'a>>, Error> {
        let mut asked = Asked::default();
        for row in on.matched.rows_of(Side::Updated) {
            self.child(row, on, &mut asked)?;
        }
        for row in on.matched.rows_of(Side::Original).filter(|row| row.on.updated.is_none()) {
            self.dropped_child(row, on, &mut asked)?;
        }
        gap::remove(&mut asked.children, &on.matched);
        Ok(asked.children)
    }

    /// The request for a child of updated.
    fn child(&mut self, row: &Row<'a>, on: &Container<'a>, asked: &mut Asked<'a>) -> Result<(), Error> {
        let Some(fit) = self.unless_said(row, on, asked) else { return Ok(()) };
        let change = self.fitting(fit, |differ| match row.field() {
            Some(name) => differ.field(name, NodeOfSides::of(row), on.cursor),
            None => differ.element(row, on),
        })?;
        self.ask(row, change, on, asked);
        Ok(())
    }

    /// How the lines of a child fit, if it must be looked inside of. Otherwise asks for what its lines say.
    #[inline(never)]
    fn unless_said(&self, row: &Row<'a>, on: &Container<'a>, asked: &mut Asked<'a>) -> Option<LinesFit> {
        let Sides { original: was, updated: is, dest: there } = placed(&on.matched, row);
        let is = is?;
        let changed_gap = || gap::changed(was?, there?, is);
        if let Some(lines) = was.and_then(|was| lines_of_same(was, is)) {
            let [starts, ends] = [lines.each_ref().map(|lines| lines.start), lines.map(|lines| lines.end)];
            // Mostly nothing is between two children.
            if asked.ends.replace(ends) != Some(starts) {
                asked.push(row, changed_gap().map(|gap| of_gap(Wants::Same, Some(gap))), on);
            }
            return None;
        }
        let around = if on.matched.has_merges() { LinesFit::Elsewhere } else { self.fit };
        let is_whole = on.sides.are_blocks() && !self.is_above_item(row, on.sides) && !is_walked(&self.trail, row);
        if is_whole && is_left_alone(was, there, is, around) {
            asked.push(row, Some(of_gap(Wants::Text(is.1), changed_gap())), on);
            return None;
        }
        Some(around.below(there, Some(is)))
    }

    /// Asks for the change inside of a child, and for its comments.
    #[inline(never)]
    fn ask(&mut self, row: &Row<'a>, change: Option<Change<'a>>, on: &Container<'a>, asked: &mut Asked<'a>) {
        let Sides { original: was, updated: Some(is), dest: there } = placed(&on.matched, row) else { return };
        let is_as_before = || there.zip(was).is_some_and(|(there, was)| same(there.1, was.1));
        if let Some(names) = on.matched.names(row)
            && (change.is_some() || names.updated != names.original)
            && !(names.dest == names.original && is_as_before())
        {
            self.tell_renamed(names, &on.matched.by);
        }
        let notes = notes_of(was, there, is, || on.moved());
        let notes = Notes { above: notes.above.filter(|_| !self.is_above_item(row, on.sides)), ..notes };
        let change = change.or_else(|| (!notes.is_empty()).then(|| Change::patch(Wants::Same, None)));
        asked.push(row, change.map(|change| Change { notes: notes.into(), ..change }), on);
    }

    /// Whether what is above a child is above the whole resource: the child is the first field of an item, or of a block that is in brackets
    /// in dest. Then its comments are not the child's: see `own_comments.rs`.
    fn is_above_item(&self, row: &Row<'a>, sides: NodeOfSides<'a>) -> bool {
        let has_style = |side: Option<NodeRef<'_>>, style| side.is_some_and(|side| side.style() == style);
        let is_in_brackets = || has_style(sides.dest, Style::Flow) && has_style(sides.updated, Style::Block);
        let is_first = row.on.updated.is_some_and(|child| child.place() == 0);
        is_first && self.trail.is_empty() && (sides.dest.is_some_and(is_item) || is_in_brackets())
    }

    /// What changed upstream in an element of updated.
    fn element(&mut self, row: &Row<'a>, on: &Container<'a>) -> Result<Option<Change<'a>>, Error> {
        let Some(id) = on.matched.id(row) else { return Ok(None) };
        self.trail.push(id.step(&on.matched.by), row.on.dest.map(WrittenChild::place));
        let change = self.node(NodeOfSides::of(row), on.cursor)?;
        self.trail.pop();
        Ok(change)
    }

    /// The removal of a child that updated lacks. An element is removed whole: dest's values in it mean nothing without its key.
    fn dropped_child(&mut self, row: &Row<'a>, on: &Container<'a>, asked: &mut Asked<'a>) -> Result<(), Error> {
        let sides = NodeOfSides::of(row);
        let change = match (row.field(), sides.original, sides.dest) {
            (Some(name), ..) => self.field(name, sides, on.cursor)?,
            // The further elements with this key are dest's own.
            (None, Some(old), Some(dest)) if !row.is_repeated => {
                self.expecting_if_added(sides.expecting(Wants::Nothing), old, dest, on.cursor)?
            }
            (None, ..) => sides.expecting(Wants::Nothing),
        };
        asked.push(row, change, on);
        Ok(())
    }

    /// Reports that the changes of both sides are made in a child that one side renamed.
    fn tell_renamed(&mut self, names: &Sides<ChildId<'a>>, by: &By<'a>) {
        // After a first run, both sides have the new name.
        if names.dest == names.updated {
            return;
        }
        let side = if names.dest == names.original { Side::Updated } else { Side::Original };
        self.trail.push(names[side].step(by), None);
        let place = self.trail.path().shown();
        self.trail.pop();
        self.trail.push(names.dest.step(by), None);
        let notice = Notice::Renamed { side, place };
        self.warnings.push(Warning { path: self.trail.path(), notice, dest: None, proposed: None });
        self.trail.pop();
    }
}

impl<'a> Asked<'a> {
    #[inline(never)]
    fn push(&mut self, row: &Row<'a>, change: Option<Change<'a>>, on: &Container<'a>) {
        let node = row.on.updated.map(|child| (child.key(), child.value()));
        let child = on.matched.id(row).zip(change).map(|(id, change)| Child { id, node, change });
        self.children.extend(child);
    }
}

impl<'a> Container<'a> {
    fn of(sides: NodeOfSides<'a>, cursor: Cursor<'a>, matched: Matched<'a>) -> Box<Self> {
        Box::new(Self { sides, cursor, matched, moved: OnceCell::new() })
    }

    fn moved(&self) -> &Moved<'a> {
        self.moved.get_or_init(|| Moved::of(&self.matched))
    }
}

/// The changes of a set: values that only updated has are added, values that updated lacks are removed. They cannot conflict. A value that
/// both have gets the comments that changed.
fn set<'a>(matched: &Matched<'a>) -> Vec<Child<'a>> {
    let of_updated = matched.rows_of(Side::Updated).filter_map(|row| {
        let new = row.on.updated?.value();
        let change = match (row.on.original, row.on.dest) {
            (None, _) => Change::patch(Wants::Value(new), None),
            (Some(_), None) => return None,
            (Some(_), Some(_)) => {
                let on = placed(matched, row);
                let notes = changed_remarks(on.original?, on.dest?, on.updated?);
                Change { notes: notes.into(), ..Change::patch(Wants::Same, None) }
            }
        };
        change.asks().then_some(Child { id: matched.id(row)?, node: Some((None, new)), change })
    });
    let dropped = matched.rows_of(Side::Original).filter(|row| row.on.updated.is_none()).filter_map(|row| {
        Some(Child { id: matched.id(row)?, node: None, change: Change::patch(Wants::Nothing, None) })
    });
    of_updated.chain(dropped).collect()
}

/// Whether a field is compared even if only upstream changed it, because the host's annotations may be below it.
fn is_walked(trail: &Trail<'_>, row: &Row<'_>) -> bool {
    match row.field() {
        Some("metadata") => trail.is_empty(),
        Some("annotations") => trail.is_fields(&["metadata"]),
        _ => false,
    }
}
