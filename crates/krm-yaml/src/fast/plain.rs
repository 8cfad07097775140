//! Plain scalars outside of brackets: where one begins, where it ends, and the further lines that it may have.

use super::scan::ScannedText;
use super::{Last, Reader};
use crate::node::{Kind, NONE, Node, Style};

/// Whether a plain scalar begins with a byte.
#[derive(Clone, Copy)]
enum Begins {
    Always,
    /// If no blank or line break is after it.
    BeforeText,
    Never,
}

impl Begins {
    const fn with(first: u8) -> Self {
        match first {
            b'-' | b'?' | b':' => Self::BeforeText,
            b'#' | b',' | b'[' | b']' | b'{' | b'}' | b'&' | b'*' | b'!' | b'|' | b'>' => Self::Never,
            b'\'' | b'"' | b'%' | b'@' | b'`' | ..=b' ' => Self::Never,
            _ => Self::Always,
        }
    }
}

/// The answer for each byte: a look-up takes fewer steps than the comparisons.
const BEGINS: [Begins; 256] = {
    let mut table = [Begins::Never; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = Begins::with(byte as u8);
        byte += 1;
    }
    table
};

/// Whether a plain scalar begins at an offset, where this byte is.
#[inline(always)]
pub(super) fn begins_plain(text: ScannedText<'_>, at: usize, first: u8) -> bool {
    match BEGINS[usize::from(first)] {
        Begins::Always => true,
        Begins::BeforeText => !matches!(text.at(at + 1), b' ' | b'\n' | b'\t'),
        Begins::Never => false,
    }
}

/// The end of a line of a plain scalar.
pub(super) enum Stop {
    /// A `:` at this offset with a blank or a line break after it: the scalar is a key.
    Colon(usize),
    /// A line break, or a comment after a blank, at this offset.
    Line(usize),
}

/// The end of a plain scalar whose first byte is before this offset.
#[inline(always)]
pub(super) fn stop(text: ScannedText<'_>, mut at: usize) -> Option<Stop> {
    loop {
        at = text.plain_stop(at);
        match text.at(at) {
            b'\n' => return Some(Stop::Line(at)),
            b':' => match text.at(at + 1) {
                b' ' | b'\n' => return Some(Stop::Colon(at)),
                b'\t' => return None,
                _ => at += 1,
            },
            b'#' if text.at(at - 1) == b' ' => return Some(Stop::Line(at)),
            b'#' => at += 1,
            _ => return None,
        }
    }
}

impl Reader<'_> {
    /// Appends a plain scalar.
    #[inline(always)]
    pub(super) fn plain(&mut self, start: usize, end: usize) {
        if end - start <= 4 {
            match self.text.bytes(start..end) {
                b"~" | b"null" | b"Null" | b"NULL" => self.doc.nulls.push(self.next_id()),
                b"<<" => self.sees_merge_key(),
                _ => {}
            }
        }
        self.push(start, end, Kind::Scalar, Style::Plain, NONE);
    }

    /// Appends a plain scalar that is a value, and ends before a line break or a comment. Returns the offset of the next line.
    #[inline(always)]
    pub(super) fn plain_value(&mut self, start: usize, stop: usize) -> usize {
        let end = self.text.back_over_blanks(stop);
        self.plain(start, end);
        self.cursor = end;
        self.last = Last::Plain;
        if self.text.at(stop) == b'\n' { stop + 1 } else { self.comment(stop) }
    }

    /// Reads further lines of the plain scalar that is the last node. Returns the offset of the line after it.
    #[cold]
    pub(super) fn further_lines(&mut self, mut line: usize) -> Option<usize> {
        let text = self.text;
        let indent = self.indent()?;
        let id = self.doc.nodes.len() - 1;
        let Node { start, end, .. } = self.doc.nodes[id];
        let first = text.slice(start as usize..end as usize);
        // With further lines, a null or a merge key is only the beginning of a text.
        if first == "<<" {
            return None;
        }
        if self.doc.nulls.last() == Some(&(id as u32)) {
            self.doc.nulls.pop();
        }
        let from = self.doc.buffer.len();
        self.doc.buffer.push_str(first);
        let mut end = end as usize;
        while line < text.len() {
            let at = text.skip_blanks(line);
            if text.at(at) == b'\n' {
                // Blank lines after the last line of the scalar are not a part of it.
                line = at + 1;
                continue;
            }
            if at - line <= indent || text.at(at) == b'#' {
                break;
            }
            let Some(Stop::Line(stop)) = stop(text, at) else { return None };
            let breaks = text.bytes(end..at).iter().filter(|byte| **byte == b'\n').count();
            self.fold(breaks);
            end = text.back_over_blanks(stop);
            self.doc.buffer.push_str(text.slice(at..end));
            if text.at(stop) == b'#' {
                line = self.comment(stop);
                break;
            }
            line = stop + 1;
        }
        // A comment or another line ended the scalar. A deeper line after that must not continue it; it is an error, which the library
        // reports.
        self.last = Last::Whole;
        self.cursor = end;
        let link = self.decoded(from);
        let node = &mut self.doc.nodes[id];
        node.end = end as u32;
        node.link = link;
        Some(line)
    }
}
