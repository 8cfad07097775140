//! Unread items: only their places are kept. Their nodes are dropped once they are read, and made again when they are needed.
//!
//! Most resources of a package stay as they are, and their nodes take more memory than their text. A merge reads the head of each item
//! while its nodes are there. Later it needs the nodes of the few items that it changes.
//!
//! **Why an item alone gives the same nodes.** A part begins after the line on which the last token before the item ends. So only blank
//! lines and comments are between its start and the dash of the item. The reader begins with the state that it had there: an open list in
//! the column of the dash, and nothing that waits for a value. The part ends before the first line that is no deeper than the dash.
//! `agreement.rs` compares both.
//!
//! **Why nobody misses the nodes of the other items.** Around an item, the splicer asks only whether it ends with a block scalar that takes
//! blank lines below it. So an item stays if its block scalar takes each of them (`+`). Any other block scalar takes only lines of blanks
//! that are deeper than its content; in a text with such lines, all items stay.

use std::borrow::Cow;
use std::ops::Range;

use super::super::block_scalar::{BlockScalar, Chomping};
use super::super::node::{Document, Kind, NONE, Node, NodeRef, Style, line_break};
use super::repeat::Moves;
use super::scan::Text;
use super::{Open, Reader};

/// What is kept of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Its nodes.
    Nodes,
    /// Its place: the item becomes a map without fields.
    Place,
}

/// Decides what is kept of the items of a list.
pub trait Keeps {
    /// What is kept of an item.
    fn of_item(&mut self, item: NodeRef<'_>) -> Keep;

    /// The number of the place whose item the next one is likely to repeat.
    fn likely(&self) -> Option<usize>;

    /// What is kept of an item that repeats the likely one. If this keeps its nodes, the item is read, and [`Keeps::of_item`] decides.
    fn of_repeated(&mut self, moves: &Moves) -> Keep;
}

/// The place of an item whose nodes are dropped.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The number of the map without fields that is there instead.
    pub stub: u32,
    /// The offset of the map, after its dash.
    pub start: u32,
    /// The lines of the item, with the comments above it and below it.
    pub(super) first_line: u32,
    pub(super) next_line: u32,
    /// The line of its dash, and the line after its last token.
    pub(super) dash_line: u32,
    pub(super) end_line: u32,
    /// The column of its dash.
    pub(super) column: u32,
    /// How many nodes are below the map.
    pub(super) nodes: u32,
}

impl Place {
    /// The lines of the item, with the comments above it and below it.
    pub fn lines(&self) -> Range<usize> {
        self.first_line as usize..self.next_line as usize
    }
}

/// The state of dropping nodes.
pub(super) struct Parts<'t> {
    /// How many blocks are open in an item of the list; no number of blocks if all nodes are kept.
    pub depth: usize,
    /// Whether the library read something of the item or of the one before it, or the item has a `<<`.
    pub is_odd: bool,
    /// Where the lines of the item begin.
    pub first_line: usize,
    /// Whether an item whose nodes are dropped ends with a block scalar.
    has_block_at_end: bool,
    /// Whether a line has blanks and nothing else.
    pub has_lines_of_blanks: bool,
    /// Whether an item that is kept shows how deep maps are indented. New text follows the first map of the whole text.
    shows_layout: bool,
    pub keeps: Option<&'t mut dyn Keeps>,
    pub places: Vec<Place>,
    /// How the last item repeats another one.
    pub moves: Moves,
}

impl Parts<'_> {
    /// All nodes are kept.
    pub fn none() -> Self {
        Self {
            depth: usize::MAX,
            is_odd: false,
            first_line: 0,
            has_block_at_end: false,
            has_lines_of_blanks: false,
            shows_layout: false,
            keeps: None,
            places: Vec::new(),
            moves: Moves::default(),
        }
    }
}

/// The arena of a text, without the nodes of those items for which `keeps` says so. Only items in the `items` of the root are asked for.
pub fn outline<'s>(text: Text<'s>, keeps: &mut dyn Keeps) -> Option<(Document<'s>, Vec<Place>)> {
    let source = text.slice(0..text.len());
    let doc = Document { source: Cow::Borrowed(source), ..Document::with_room(0, line_break(source)) };
    let mut reader = Reader::new(text, doc);
    // The root and the list are open.
    reader.parts = Parts { depth: 2, keeps: Some(keeps), ..Parts::none() };
    reader.read_lines(0..text.len())?;
    reader.end_text();
    if reader.parts.has_block_at_end && reader.parts.has_lines_of_blanks {
        return None;
    }
    reader.doc.comments.shrink_to_fit();
    reader.doc.nodes.shrink_to_fit();
    Some((reader.doc, reader.parts.places))
}

/// The arena of an item whose nodes were dropped. Its root is the node 1, an element of the list that is the node 0.
pub fn reread<'s>(text: Text<'s>, place: &Place) -> Document<'s> {
    let source = text.slice(0..text.len());
    let room = Document::with_room(place.nodes as usize + 2, line_break(source));
    let mut reader = Reader::new(text, Document { source: Cow::Borrowed(source), ..room });
    reader.doc.nodes.push(Node {
        start: place.start,
        end: place.next_line,
        link: NONE,
        kind: Kind::List,
        style: Style::Block,
        has_props: false,
    });
    reader.open.push(Open { node: 0, column: place.column, kind: Kind::List, item: None });
    // This was read before, so there is no line that the reader refuses.
    let read = reader.read_lines(place.lines());
    debug_assert!(read.is_some(), "an item that was read once");
    reader.end_text();
    reader.doc
}

impl Reader<'_, '_> {
    /// Notes where the lines of an item begin.
    pub(super) fn begin_part(&mut self) {
        self.parts.is_odd = self.after.is_none();
        self.parts.first_line = self.after.unwrap_or_default();
    }

    /// Whether a list is the value of a key `items`.
    pub(super) fn is_list_of_items(&self, list: u32) -> bool {
        let key = list.checked_sub(1).and_then(|key| self.doc.nodes.get(key as usize));
        key.is_some_and(|key| self.text.bytes(key.start as usize..key.end as usize) == b"items")
    }

    /// Drops the nodes of the item that ended before a line, if only its place is to be kept.
    pub(super) fn end_part(&mut self, next_line: usize) {
        let is_odd = std::mem::take(&mut self.parts.is_odd);
        let Some(list) = self.open.last().filter(|list| list.kind == Kind::List && !is_odd) else { return };
        let (Some(mark), list, column) = (list.item, list.node, list.column) else { return };
        let Some(item) = self.doc.nodes.get(mark.node as usize).copied() else { return };
        if !self.is_list_of_items(list) || (item.kind, item.style) != (Kind::Map, Style::Block) {
            return;
        }
        let below = mark.node as usize + 1..self.doc.nodes.len();
        if !self.parts.shows_layout {
            let is_map = |node: &Node| (node.kind, node.style) == (Kind::Map, Style::Block);
            self.parts.shows_layout = self.doc.nodes[below].iter().any(is_map);
            return;
        }
        let last = NodeRef { doc: &self.doc, id: self.doc.nodes.len() as u32 - 1 };
        let block = BlockScalar::of(last);
        if block.as_ref().is_some_and(|block| block.chomping == Chomping::Keep) {
            return;
        }
        let (Some(keeps), Some(end_line)) = (&mut self.parts.keeps, self.after) else { return };
        if keeps.of_item(NodeRef { doc: &self.doc, id: mark.node }) == Keep::Nodes {
            return;
        }
        self.parts.has_block_at_end |= block.is_some();
        self.parts.places.push(Place {
            stub: mark.node,
            start: item.start,
            first_line: self.parts.first_line as u32,
            next_line: next_line as u32,
            dash_line: mark.line,
            end_line: end_line as u32,
            column,
            nodes: below.len() as u32,
        });
        self.drop_nodes(mark.node + 1, mark.decoded);
        self.doc.nodes[mark.node as usize].link = mark.node + 1;
    }
}
