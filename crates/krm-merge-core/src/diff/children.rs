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
use crate::change::{Change, Child, Expects, Notes, Wants};
use crate::host::is_protected;
use crate::matched::{Matched, Row};
use crate::warning::{Notice, Warning};

/// A map or keyed list on all sides.
struct Container<'a> {
    sides: NodeOfSides<'a>,
    cursor: Cursor<'a>,
    matched: Matched<'a>,
    /// The comments that dest has moved between the children, found on first use.
    moved: OnceCell<Moved<'a>>,
}

/// The requests for the children of a map or list, and the identities of the children that a side renamed.
pub(super) struct Children<'a> {
    pub asked: Vec<Child<'a>>,
    pub renamed: Vec<Sides<ChildId<'a>>>,
}

impl<'a> Differ<'a> {
    /// The requests for the fields of a map, except those of the host.
    pub(super) fn fields(&mut self, sides: NodeOfSides<'a>, cursor: Cursor<'a>) -> Result<Children<'a>, Error> {
        let trail = &self.trail;
        let fields = |map: NodeRef<'a>| {
            let all = if map.is_map() { map.spelled_out() } else { Vec::new() };
            let fields =
                all.into_iter().filter(|(_, key, _)| !key.is_container() && !is_protected(trail, key.string()));
            fields.enumerate().map(|(place, (_, key, value))| WrittenChild::new(place, Some(key), value))
        };
        let matched = Matched::of(sides.by_side(), By::Field, self.renames, fields);
        self.children(Container { sides, cursor, matched, moved: OnceCell::new() })
    }

    /// The requests for the elements of a list that merges.
    pub(super) fn elements(
        &mut self,
        by: By<'a>,
        sides: NodeOfSides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Children<'a>, Error> {
        let elements = |list: NodeRef<'a>| {
            list.elements().enumerate().map(|(place, element)| WrittenChild::new(place, None, element))
        };
        let matched = Matched::of(sides.by_side(), by, self.renames, elements);
        match &matched.by {
            By::Value => Ok(Children { asked: set(&matched), renamed: Vec::new() }),
            _ => self.children(Container { sides, cursor, matched, moved: OnceCell::new() }),
        }
    }

    fn children(&mut self, on: Container<'a>) -> Result<Children<'a>, Error> {
        let mut asked = Vec::new();
        let mut ends = None;
        for row in on.matched.rows_of(Side::Updated) {
            let Some(id) = on.matched.id(row) else { continue };
            asked.extend(self.child(id, row, &mut ends, &on)?);
        }
        for row in on.matched.rows_of(Side::Original).filter(|row| row.on.updated.is_none()) {
            let Some(id) = on.matched.id(row) else { continue };
            let change = self.dropped_child(&id, row, &on)?;
            asked.extend(change.map(|change| Child { id, node: None, change }));
        }
        gap::remove(&mut asked, &on.matched);
        Ok(Children { asked, renamed: on.matched.renamed })
    }

    /// The request for a child of updated. `ends` are the ends of the last child that is the same in original and updated.
    fn child(
        &mut self,
        id: ChildId<'a>,
        row: &Row<'a>,
        ends: &mut Option<[usize; 2]>,
        on: &Container<'a>,
    ) -> Result<Option<Child<'a>>, Error> {
        let Sides { original: was, updated: Some(is), dest: there } = placed(&on.matched, row) else { return Ok(None) };
        let node = row.on.updated.map(|child| (child.key(), child.value()));
        let changed_gap = || gap::changed(was?, there?, is);
        if let Some(lines) = was.and_then(|was| lines_of_same(was, is)) {
            let [starts, own_ends] = [lines.each_ref().map(|lines| lines.start), lines.map(|lines| lines.end)];
            if ends.replace(own_ends) == Some(starts) {
                // Mostly nothing is between two children.
                return Ok(None);
            }
            return Ok(changed_gap().map(|gap| Child { id, node, change: of_gap(Wants::Same, Some(gap)) }));
        }
        // What `<<` brings in has its text in another map.
        let around = if on.has_merges() { LinesFit::Elsewhere } else { self.fit };
        let is_of_item = self.is_above_item(row, on.sides);
        let is_whole = on.sides.are_blocks() && !is_of_item && !is_walked(&self.trail, &id);
        if is_whole && is_left_alone(was, there, is, around) {
            return Ok(Some(Child { id, node, change: of_gap(Wants::Text(is.1), changed_gap()) }));
        }
        let change = self.fitting(around.below(there, Some(is)), |differ| differ.inside(&id, row, on))?;
        let is_as_before = || there.zip(was).is_some_and(|(there, was)| same(there.1, was.1));
        if let Some(names) = on.matched.names(&id)
            && (change.is_some() || names.updated != names.original)
            && !(names.dest == names.original && is_as_before())
        {
            self.tell_renamed(names, &on.matched.by);
        }
        let notes = notes_of(was, there, is, || on.moved());
        let notes = Notes { above: notes.above.filter(|_| !is_of_item), ..notes };
        let change = change.or_else(|| (!notes.is_empty()).then(|| Change::patch(Wants::Same, None)));
        Ok(change.map(|change| Child { id, node, change: Change { notes, ..change } }))
    }

    /// Whether what is above a child is above the whole resource: the child is the first field of an item, or of a block that is in brackets
    /// in dest. Then its comments are not the child's: see `own_comments.rs`.
    fn is_above_item(&self, row: &Row<'a>, sides: NodeOfSides<'a>) -> bool {
        let has_style = |side: Option<NodeRef<'_>>, style| side.is_some_and(|side| side.style() == style);
        let is_in_brackets = || has_style(sides.dest, Style::Flow) && has_style(sides.updated, Style::Block);
        let is_first = row.on.updated.is_some_and(|child| child.place() == 0);
        is_first && self.trail.is_empty() && (sides.dest.is_some_and(is_item) || is_in_brackets())
    }

    /// What changed upstream inside of a child of updated.
    fn inside(&mut self, id: &ChildId<'a>, row: &Row<'a>, on: &Container<'a>) -> Result<Option<Change<'a>>, Error> {
        let sides = NodeOfSides::of(row);
        if let ChildId::Field(name) = id {
            return self.field(name, sides, on.cursor);
        }
        self.trail.push(id.step(&on.matched.by), row.on.dest.map(WrittenChild::place));
        let change = self.node(sides, on.cursor)?;
        self.trail.pop();
        let is_added = sides.original.is_none() && sides.dest.is_none();
        let twin = sides.updated.filter(|_| is_added).and_then(|element| twin(element, &on.matched));
        Ok(match (change, twin) {
            (Some(change), Some(twin)) => Some(Change { expects: Expects::Exactly(Some(twin)), ..change }),
            (change, _) => change,
        })
    }

    /// The removal of a child that updated lacks. An element is removed whole: dest's values in it mean nothing without its key.
    fn dropped_child(
        &mut self,
        id: &ChildId<'a>,
        row: &Row<'a>,
        on: &Container<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        let sides = NodeOfSides::of(row);
        if let ChildId::Field(name) = id {
            return self.field(name, sides, on.cursor);
        }
        let change = sides.expecting(Wants::Nothing);
        match (sides.original, sides.dest) {
            // The further elements with this key are dest's own.
            _ if row.is_repeated => Ok(change),
            (Some(old), Some(dest)) => self.expecting_if_added(change, old, dest, on.cursor),
            _ => Ok(change),
        }
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

impl<'a> Container<'a> {
    fn has_merges(&self) -> bool {
        self.matched.by == By::Field && self.sides.each().any(NodeRef::has_merge_entry)
    }

    fn moved(&self) -> &Moved<'a> {
        self.moved.get_or_init(|| Moved::of(&self.matched))
    }
}

/// For a new element of upstream, the element of original whose merge key both sides changed. This element, upstream's and one that dest
/// added have the same name, and the old key is gone on both sides. Then the two new elements are one element in conflict, not two elements
/// with one name.
fn twin<'a>(element: NodeRef<'a>, matched: &Matched<'a>) -> Option<NodeRef<'a>> {
    if matched.by.keys().iter().any(|key| key.name == "name") {
        return None;
    }
    let name = element.get("name").and_then(NodeRef::as_str)?;
    let only_on = |side: Side| {
        let is_on_others = |row: &Row<'a>| row.on.iter().any(|(other, child)| other != side && child.is_some());
        let rows = matched.rows.iter().filter(|row| !is_on_others(row));
        let mut elements = rows.filter_map(|row| row.on[side]).map(WrittenChild::value);
        elements.find(|element| element.get("name").and_then(NodeRef::as_str) == Some(name))
    };
    only_on(Side::Dest).and_then(|_| only_on(Side::Original))
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
                Change { notes, ..Change::patch(Wants::Same, None) }
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
fn is_walked(trail: &Trail<'_>, id: &ChildId<'_>) -> bool {
    match id {
        ChildId::Field("metadata") => trail.is_empty(),
        ChildId::Field("annotations") => trail.is_fields(&["metadata"]),
        _ => false,
    }
}
