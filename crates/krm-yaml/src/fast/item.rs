//! An unusual item of a block list, read by the library alone.
//!
//! **Why this gives the same result as reading the whole text with the library.** The item begins with a dash that is the first in its
//! line. It ends before the next line that is no deeper than that dash, blank lines and comments aside. No block, plain scalar or block
//! scalar continues past such a line. If a quoted scalar or a flow collection does, it has no end in the item, so the library refuses the
//! item. Before the item, the innermost indentation of the library is the column of the list. It is the same if the library reads the item
//! alone and has passed the dash. The rest of the library's state is limits and anchors. The limits are counted across items here. The
//! library refuses an item with an alias to an anchor outside of the item.
//!
//! The innermost list is tried first, then the lists around it. All parts that the library reads this way are together no longer than twice
//! the text.

use std::ops::Range;

use super::scan::ScannedText;
use super::{Last, Reader};
use crate::parse::{AroundItem, item};

/// The start of an item of a list: the line of its dash, and the numbers of the next node and the next decoded text at that point.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub line: u32,
    pub node: u32,
    pub decoded: u32,
}

/// The budget for single items that the library may still read.
pub(super) struct ItemBudget {
    bytes: usize,
    /// How many bytes the aliases that were read this way expand to.
    expanded: usize,
}

impl ItemBudget {
    /// The budget for a whole text.
    pub fn of(text: ScannedText<'_>) -> Self {
        Self { bytes: 2 * text.len(), expanded: 0 }
    }
}

impl Reader<'_> {
    /// Reads the item that contains this line. Returns the offset of the line after the item.
    #[cold]
    pub(super) fn item_by_library(&mut self, line: usize) -> Option<usize> {
        for depth in (1..=self.open.len()).rev() {
            let list = &self.open[depth - 1];
            let (Some(mark), column) = (list.item, list.column) else { continue };
            let part = mark.line as usize..self.item_end(mark.line as usize, column);
            if part.end <= line {
                continue;
            }
            self.library.bytes = self.library.bytes.checked_sub(part.len())?;
            self.forget(mark);
            self.open.truncate(depth);
            if let Some(next) = self.read_item(part) {
                return Some(next);
            }
        }
        None
    }

    /// The end of the item whose dash is the first in this line, at a column.
    fn item_end(&self, line: usize, column: usize) -> usize {
        let text = self.text;
        let mut line = text.line_end(line) + 1;
        while line < text.len() {
            let at = text.skip_blanks(line);
            if at - line <= column && !matches!(text.at(at), b'\n' | b'#') {
                break;
            }
            line = text.line_end(at) + 1;
        }
        line.min(text.len())
    }

    /// Drops everything that was read of the last item of a list.
    fn forget(&mut self, mark: Mark) {
        let doc = &mut self.doc;
        doc.nodes.truncate(mark.node as usize);
        doc.nulls.truncate(doc.nulls.partition_point(|id| *id < mark.node));
        doc.blocks.truncate(doc.blocks.partition_point(|(id, _)| *id < mark.node));
        doc.decoded.truncate(mark.decoded as usize);
        doc.buffer.truncate(doc.decoded.last().map_or(0, |(_, end)| *end as usize));
        doc.props.truncate(doc.props.partition_point(|props| props.node < mark.node));
        doc.aliases.truncate(doc.aliases.partition_point(|id| *id < mark.node));
        doc.comments.truncate(doc.comments.partition_point(|(start, _)| *start < mark.line));
        self.merge_key = self.merge_key.filter(|id| *id < mark.node);
    }

    /// Reads a part of the text by the library: the next item of the innermost list.
    fn read_item(&mut self, part: Range<usize>) -> Option<usize> {
        let around =
            AroundItem { list: self.open.last()?.node, depth: self.open.len(), expanded: self.library.expanded };
        let first = self.next_id();
        let next = part.end;
        let read = item(&mut self.doc, self.text.slice(0..self.text.len()), part, &around);
        if std::mem::take(&mut self.doc.has_merges) {
            self.merge_key.get_or_insert(first);
        }
        let read = read?;
        self.library.expanded = read.expanded;
        self.cursor = read.cursor;
        self.last = Last::Whole;
        Some(next)
    }
}
