//! The versions of a resource, place by place: the value at each path in original, updated and dest. These are git's original, theirs and
//! ours.
//!
//! Elements of lists are matched by their keys, as in the engine, because neither lines nor indices identify an element.

use std::ops::Range;

use krm_merge_core::matched::Matched;
use krm_merge_core::policy::Renames;
use krm_schema::schema::{Cursor, list_kind};
use krm_tree::child::{By, ChildId};
use krm_tree::path::FieldPath;
use krm_tree::sides::{Side, Sides};
use krm_tree::tree::{Comments, Entry, Key, Layout, Tree};
use krm_yaml::{
    Edit, Kind, NodeRef, Place, Style, WrittenChild, comment_of, comment_text, comments_above, extent, gap_above,
    has_source_lines, line_start, lines, next_line, whole_lines,
};

/// A place in a resource, with the resource, field or element that each version has there.
#[derive(Clone, Debug)]
pub struct VersionsAt<'a> {
    /// The resource, field or element in each version that has it.
    pub here: Sides<Option<Here<'a>>>,
    /// The path in the resource; empty for the resource itself.
    pub path: FieldPath<'a>,
    cursor: Cursor<'a>,
    renames: Renames,
}

/// The resource, field or element in one version.
#[derive(Clone, Copy, Debug)]
pub struct Here<'a> {
    /// Its number among its siblings.
    pub index: usize,
    /// Its key, if it is a field.
    pub key: Option<NodeRef<'a>>,
    /// Its value.
    pub value: NodeRef<'a>,
    /// The range of the child in the text; `None` for a resource, which is a document.
    pub place: Option<Place>,
    /// The offset at which its lines begin. A first child after a dash begins after the dash.
    top: usize,
    /// The offset at which its lines end.
    bottom: usize,
}

/// The children of a place in all versions. There may be many, so each is worked out when it is asked for.
#[derive(Debug)]
pub struct ChildrenAt<'c, 'a> {
    /// How they are matched. Dest's children come first, in their order.
    pub matched: Matched<'a>,
    container: &'c VersionsAt<'a>,
}

impl<'a> ChildrenAt<'_, 'a> {
    /// The child with this number.
    pub fn get(&self, number: usize) -> Option<VersionsAt<'a>> {
        let row = self.matched.rows.get(number)?;
        let here = Sides::of(|side| self.here(side, row.on[side]?));
        let id = self.matched.id(row)?;
        let VersionsAt { path, cursor, renames, .. } = self.container;
        let mut path = path.clone();
        path.push(id.step(&self.matched.by), None);
        let cursor = match id {
            ChildId::Field(name) => cursor.child(name, here.iter().filter_map(|(_, here)| Some(here.as_ref()?.value))),
            _ => *cursor,
        };
        Some(VersionsAt { here, path, cursor, renames: *renames })
    }

    /// The children that a version has.
    pub fn of(&self, side: Side) -> impl Iterator<Item = Here<'a>> {
        self.matched.rows.iter().filter_map(move |row| self.here(side, row.on[side]?))
    }

    fn here(&self, side: Side, child: WrittenChild<'a>) -> Option<Here<'a>> {
        Some(Here::of_child(child.place(), child.key(), child.value(), self.matched.place(side, child)?))
    }
}

impl<'a> VersionsAt<'a> {
    /// The place of a resource as a whole. `cursor` has the schema of its type.
    pub fn of_resource(here: Sides<Option<Here<'a>>>, cursor: Cursor<'a>, renames: Renames) -> Self {
        Self { here, path: FieldPath::default(), cursor, renames }
    }

    /// The children of all versions; `None` if they cannot all be matched in the same way, or if several may share a line.
    pub fn children(&self) -> Option<ChildrenAt<'_, 'a>> {
        let values: Vec<NodeRef<'a>> = self.here.iter().filter_map(|(_, here)| Some(here.as_ref()?.value)).collect();
        let kind = values.first()?.kind();
        if values.iter().any(|value| value.kind() != kind || value.style() != Style::Block) {
            return None;
        }
        let by = match kind {
            Kind::Map if !self.cursor.is_replaced() => By::Field,
            Kind::List => {
                let lists: Vec<Vec<NodeRef<'a>>> = values.iter().map(|value| value.elements().collect()).collect();
                By::from(list_kind(self.cursor, &lists).ok()?)
            }
            _ => return None,
        };
        let containers = Sides::of(|side| self.here[side].map(|here| here.value));
        let written = |container: NodeRef<'a>| {
            container.written().enumerate().map(|(place, (key, value))| WrittenChild::new(place, key, value))
        };
        let matched = Matched::of(containers, by, self.renames, written);
        (!matched.has_others).then_some(ChildrenAt { matched, container: self })
    }

    /// The child as one version has it, unchanged, as an entry in the place of a child of dest. The entry carries the comments of that version.
    pub fn entry(&self, side: Side, was: Option<WrittenChild<'a>>) -> Entry<'a> {
        let here = self.here[side];
        let comments = here.filter(|_| side != Side::Dest && was.is_some()).map(|here| here.comments());
        Entry {
            was,
            key: here.and_then(|here| here.key).map(Key::Node),
            source: None,
            value: here.map(|here| Tree::Node(here.value)),
            comments: comments.unwrap_or_default().into(),
            layout: Layout::Host,
            is_contested: self.here.dest.is_none() || self.here.updated.is_none(),
        }
    }

    /// The edit that replaces the comment lines below our value by the comment lines of another version, if our value is on its own lines.
    pub fn foot(&self, side: Side) -> Option<Edit> {
        let (ours, other) = (self.here.dest?, self.here[side]?);
        let range = ours.foot().unwrap_or(ours.bottom..ours.bottom);
        let lines = other.foot().unwrap_or_default();
        let column = |here: Here<'a>| here.place.map_or(0, |place| place.column(here.value.document()));
        let document = ours.value.document();
        let text: String = whole_lines(&other.value.document().source()[lines])
            .into_iter()
            .map(|line| {
                let deeper = (line.len() - line.trim_start().len()).saturating_sub(column(other)).max(1);
                let blanks = if line.trim().is_empty() { 0 } else { column(ours) + deeper };
                format!("{}{}{}", " ".repeat(blanks), line.trim(), document.line_break())
            })
            .collect();
        (document.source()[range.clone()] != text).then_some(Edit { range, text })
    }

    /// Whether two versions have the same text here, including comments.
    pub fn is_alike(&self, one: Side, other: Side) -> bool {
        matches!((self.here[one], self.here[other]), (Some(one), Some(other)) if one.text() == other.text())
    }

    /// Whether the value is a text that is written over several lines in one way in all versions, with the same header if it is a block, so
    /// that its lines can be merged one by one.
    pub fn is_text(&self) -> bool {
        let way = |side: Side| {
            let value = self.here[side]?.value;
            let is_block = matches!(value.style(), Style::Literal | Style::Folded);
            let header = lines(value.text()).into_iter().next().filter(|_| is_block);
            has_source_lines(value).then_some((value.style(), header))
        };
        way(Side::Dest).is_some_and(|own| Side::ALL.iter().all(|side| way(*side) == Some(own)))
    }
}

impl<'a> Here<'a> {
    /// A resource, without the comments around all resources of its file.
    pub fn of_root(value: NodeRef<'a>, body: &Range<usize>) -> Self {
        let lines = extent(value);
        let (top, bottom) = (lines.start.max(body.start), lines.end.min(body.end));
        Self { index: 0, key: None, value, place: None, top, bottom }
    }

    /// A child with its number.
    pub fn of_child(index: usize, key: Option<NodeRef<'a>>, value: NodeRef<'a>, place: Place) -> Self {
        let document = value.document();
        Self { index, key, value, place: Some(place), top: place.top(document), bottom: place.bottom(document) }
    }

    /// The lines of the child, including its comments.
    pub fn lines(&self) -> Range<usize> {
        self.top..self.bottom.max(self.top)
    }

    /// The comment lines above the child; an empty range if there are none.
    pub fn lines_above(&self) -> Range<usize> {
        let lead = self.place.map_or(self.top, |place| self.value.document().line_start(place.lead));
        self.top.min(lead)..lead
    }

    /// The line on which the child begins.
    pub fn first_line(&self) -> Range<usize> {
        let (source, at) = (self.value.document().source(), self.place.map_or(self.top, |place| place.open));
        line_start(source, at)..next_line(source, at)
    }

    /// The comment lines below a value that is not a block. Comments below a block belong to the block.
    fn foot(&self) -> Option<Range<usize>> {
        let place = self.place.filter(|_| self.value.style() != Style::Block)?;
        let start = next_line(self.value.document().source(), place.end);
        Some(start..self.bottom.max(start))
    }

    /// The comments above and after the child.
    pub fn comments(&self) -> Comments<'a> {
        let Some(place) = self.place else { return Comments::default() };
        let above = comments_above(&place, self.value.document());
        let behind = comment_text(&place, self.value).unwrap_or_default();
        Comments { above: Some(above), behind: Some(behind), ..Comments::default() }
    }

    /// The lines above the child that belong to no child.
    pub fn gap(&self) -> Option<Range<usize>> {
        gap_above(&self.place?, self.value.document())
    }

    /// All comments in the lines of the child.
    pub fn all(&self) -> Vec<&'a str> {
        let document = self.value.document();
        document.comments_in(self.lines()).map(|(start, end)| document.source()[start..end].trim_end()).collect()
    }

    /// The comments inside of the child, without the comments above and after it: the offset and the text of each.
    pub fn inner(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        let (document, lines) = (self.value.document(), self.lines());
        let start = self.place.map_or(lines.start, |place| place.lead);
        let own = self.place.and_then(|place| comment_of(&place, self.value)).map(|comment| comment.0);
        let inner = document.comments_in(start..lines.end).filter(move |comment| Some(comment.0) != own);
        inner.map(|(start, end)| (start, document.source()[start..end].trim_end()))
    }

    fn text(&self) -> &'a str {
        &self.value.document().source()[self.lines()]
    }
}
