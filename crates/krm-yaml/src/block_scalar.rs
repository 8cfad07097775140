//! Which lines belong to a block scalar (`|`, `>`), and which new lines below it would become part of it.
//!
//! YAML decides by indentation (8.1.1 and 8.1.2 of its specification). A line that is longer than the indentation of the content is
//! content, even if it has only spaces. Every other blank line is a line break, which only `+` keeps after the content. If the text ends
//! with such spaces and no line break, they do not count as a line. The parser, the splicer and the printer all use these rules.

use std::ops::Range;

use crate::blank::is_blank;
use crate::line::{ends_line, line_break_before, line_end, line_start, next_line};
use crate::node::{Document, NodeRef, Style};

/// How a block scalar is written.
#[derive(Clone, Debug)]
pub struct BlockScalar {
    /// Its header, for example `|2+`.
    pub header: Range<usize>,
    /// How deep its content is indented, from the first column.
    pub indent: usize,
    /// What happens to the line breaks at its end.
    pub chomping: Chomping,
}

/// What a block scalar does with the line breaks after its last line of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chomping {
    /// `-`: keeps none.
    Strip,
    /// No sign: keeps only the line break of that last line.
    Clip,
    /// `+`: keeps all.
    Keep,
}

impl Chomping {
    fn of(header: &str) -> Self {
        match header.bytes().find(|b| matches!(b, b'+' | b'-')) {
            Some(b'+') => Self::Keep,
            Some(_) => Self::Strip,
            None => Self::Clip,
        }
    }
}

impl BlockScalar {
    /// The block scalar whose `|` or `>` is at `start`, and the offset of its end, without its last line break. `content` is the range in
    /// which granit reports its content.
    pub(super) fn read(text: &str, start: usize, content: &Range<usize>) -> (Self, usize) {
        let header = start..header_end(text, start);
        let chomping = Chomping::of(&text[header.clone()]);
        let first = next_line(text, header.end);
        let has_content = content.start >= first && !content.is_empty();
        let digit = text[header.clone()].bytes().find(u8::is_ascii_digit).map(|d| usize::from(d - b'0'));
        let indent = match digit {
            // granit reports that the content begins at its indentation.
            _ if has_content => content.start - line_start(text, content.start),
            // The indentation of the parent is added to this number, so the content is indented at least this deep.
            Some(least) => least,
            // Without content, the longest line gives the indentation, so no line goes beyond it.
            None => usize::MAX,
        };
        let block = Self { header, indent, chomping };
        let is_own = |line: usize, stop: usize| {
            let is_content = has_content && line < content.end && block.is_content(&text[line..stop.min(content.end)]);
            is_content || (chomping == Chomping::Keep && stop < content.end)
        };
        let mut line = line_start(text, content.end);
        while line >= first {
            let stop = line_end(text, line);
            if is_own(line, stop) {
                return (block, stop.min(content.end));
            }
            if line == first {
                break;
            }
            line = line_start(text, line_break_before(text, line));
        }
        let end = block.header.end;
        (block, end)
    }

    /// The block scalar of a node; `None` for a node of another style.
    pub fn of(node: NodeRef<'_>) -> Option<Self> {
        if !matches!(node.style(), Style::Literal | Style::Folded) {
            return None;
        }
        let (text, blocks) = (node.document().source(), &node.document().blocks);
        let header = node.start()..header_end(text, node.start());
        let found = blocks.binary_search_by_key(&node.id, |block| block.0).ok()?;
        Some(Self { chomping: Chomping::of(&text[header.clone()]), header, indent: blocks[found].1 as usize })
    }

    /// The last block scalar that begins above an offset, and where it ends.
    pub fn above(doc: &Document<'_>, at: usize) -> Option<(Self, usize)> {
        let count = doc.blocks.partition_point(|(id, _)| (doc.nodes[*id as usize].start as usize) < at);
        let node = NodeRef { doc, id: doc.blocks.get(count.checked_sub(1)?)?.0 };
        Some((Self::of(node)?, node.end()))
    }

    /// The block scalar at the end of a node, if there is one, and where it ends.
    pub fn last_of(node: NodeRef<'_>) -> Option<(Self, usize)> {
        let last = NodeRef { id: node.subtree().end - 1, ..node };
        Some((Self::of(last)?, last.end()))
    }

    /// Whether a node ends with a block scalar that keeps the blank lines below it. Then its end depends on what comes after it.
    pub fn keeps_lines_below(node: NodeRef<'_>) -> bool {
        Self::last_of(node).is_some_and(|(block, _)| block.chomping == Chomping::Keep)
    }

    /// Whether a node ends with a block scalar whose value ends with the line break after it.
    pub fn needs_line_break(node: NodeRef<'_>) -> bool {
        Self::last_of(node).is_some_and(|(block, _)| block.chomping != Chomping::Strip)
    }

    /// Whether a node ends with a block scalar whose value has no line break at its end, because the text ends there without one.
    pub fn is_cut_off(node: NodeRef<'_>) -> bool {
        let text = node.document().source();
        let is_at_end =
            |(block, end): (Self, usize)| block.chomping != Chomping::Strip && line_end(text, end) == text.len();
        !ends_line(text) && Self::last_of(node).is_some_and(is_at_end)
    }

    /// Whether a line is longer than the indentation, and so content.
    fn is_content(&self, line: &str) -> bool {
        line.len() > self.indent && line.bytes().take(self.indent).all(|b| b == b' ')
    }

    /// The deepest column of a comment below it, if the child that it is the value of is in this column. Deeper, it would be a line of content.
    pub fn deepest_comment(&self, column: usize) -> usize {
        // Without content, each line that is deeper than the child would be some.
        let has_content = self.indent < u32::MAX as usize;
        if has_content { self.indent.saturating_sub(1).max(column) } else { column }
    }

    /// The offset after the blank lines from `line` on that would belong to the block scalar if they were below it.
    pub fn below(&self, text: &str, line: usize) -> usize {
        let (mut own, mut line) = (line, line);
        while line < text.len() {
            let blank = &text[line..line_end(text, line)];
            if !is_blank(blank) {
                break;
            }
            line = next_line(text, line);
            if self.chomping == Chomping::Keep || self.is_content(blank) {
                own = line;
            }
        }
        own
    }
}

/// The end of the indicators of a block scalar that begin at an offset.
pub(super) fn header_end(text: &str, start: usize) -> usize {
    let indicators = text[start..].bytes().take_while(|b| matches!(b, b'|' | b'>' | b'+' | b'-' | b'0'..=b'9'));
    start + indicators.count()
}
