//! The decision for each line: which blocks it ends, which blocks it begins, and where its value is.

use super::item::Mark;
use super::plain::{Stop, begins_plain, stop};
use super::{KEY, Last, Reader};
use crate::node::Kind;

/// A key or a value in its line.
#[derive(Clone, Copy)]
struct LineSpot {
    at: usize,
    first: u8,
    column: usize,
    /// Whether it is the first thing in its line, with no dash before it.
    is_first: bool,
}

impl Reader<'_> {
    /// Reads a line. `first`, at the offset `at`, is its first byte that is not a blank. Returns the offset of the next line.
    #[inline(always)]
    pub(super) fn line(&mut self, line: usize, at: usize, first: u8) -> Option<usize> {
        let column = at - line;
        if column == 0 && matches!(first, b'-' | b'.' | b'%') && self.is_marker(at) {
            return self.marker(at);
        }
        self.close_deeper(column);
        if self.last == Last::Plain && self.indent().is_some_and(|indent| indent < column) {
            return self.further_lines(line);
        }
        if self.open.is_empty() && matches!(first, b'{' | b'[') && !self.has_root() {
            self.doc.roots.push(self.next_id());
            self.cursor = self.flow(at, 0, None)?;
            return self.rest(self.cursor);
        }
        let spot = self.dashes(line, LineSpot { at, first, column, is_first: true })?;
        self.content(spot)
    }

    /// Opens or continues the lists of the dashes at the beginning of a line; `- - a` has two.
    #[inline(always)]
    fn dashes(&mut self, line: usize, mut spot: LineSpot) -> Option<LineSpot> {
        let text = self.text;
        while spot.first == b'-' && matches!(text.at(spot.at + 1), b' ' | b'\n') {
            match self.open.last() {
                Some(open) if spot.is_first && open.kind == Kind::List && open.column == spot.column => {
                    self.end_value();
                }
                Some(_) if self.waits_for(spot, Kind::List) => self.start(Kind::List, spot.column, spot.at)?,
                None if !self.has_root() => self.start(Kind::List, spot.column, spot.at)?,
                _ => return None,
            }
            let mark = Mark { line: line as u32, node: self.next_id(), decoded: self.doc.decoded.len() as u32 };
            if let Some(list) = self.open.last_mut().filter(|_| spot.is_first) {
                list.item = Some(mark);
            }
            self.last = Last::Indicator;
            self.cursor = spot.at + 1;
            let next = text.skip_gap(spot.at + 1);
            spot = LineSpot { at: next, first: text.at(next), column: spot.column + next - spot.at, is_first: false };
        }
        Some(spot)
    }

    /// Whether a value of this kind may be here, after the colon or dash before it. A list may be in the column of its key.
    #[inline(always)]
    fn waits_for(&self, spot: LineSpot, kind: Kind) -> bool {
        self.last == Last::Indicator
            && self.open.last().is_some_and(|open| {
                let is_below_key = kind == Kind::List && open.kind == Kind::Map;
                !spot.is_first || open.column < spot.column || is_below_key
            })
    }

    /// Reads a key with its value, or a value.
    #[inline(always)]
    fn content(&mut self, spot: LineSpot) -> Option<usize> {
        let text = self.text;
        if begins_plain(text, spot.at, spot.first) {
            return match stop(text, spot.at + 1)? {
                Stop::Colon(colon) => {
                    if colon - spot.at > KEY {
                        return None;
                    }
                    self.key(spot)?;
                    self.plain(spot.at, text.back_over_blanks(colon));
                    self.value(colon, spot.column)
                }
                Stop::Line(stop) => self.waits_for(spot, Kind::Scalar).then(|| self.plain_value(spot.at, stop)),
            };
        }
        match spot.first {
            b'"' | b'\'' => self.quoted_content(spot),
            b'\n' => Some(spot.at + 1),
            b'#' => Some(self.comment(spot.at)),
            _ => self.waits_for(spot, Kind::Scalar).then(|| self.odd_value(spot.at))?,
        }
    }

    /// Reads a key in quotes with its value, or a value in quotes.
    fn quoted_content(&mut self, spot: LineSpot) -> Option<usize> {
        let is_value = self.waits_for(spot, Kind::Scalar);
        let quoted = self.quoted(spot.at, self.indent().filter(|_| is_value))?;
        let colon = self.text.skip_gap(quoted.end);
        if self.text.at(colon) == b':' && matches!(self.text.at(colon + 1), b' ' | b'\n') {
            if !quoted.is_one_line || colon - spot.at > KEY {
                return None;
            }
            self.key(spot)?;
            self.push_quoted(spot.at, &quoted);
            return self.value(colon, spot.column);
        }
        is_value.then(|| {
            self.push_quoted(spot.at, &quoted);
            self.last = Last::Whole;
            self.cursor = quoted.end;
            self.rest(quoted.end)
        })?
    }

    /// Makes the map of a key the innermost block.
    #[inline(always)]
    fn key(&mut self, spot: LineSpot) -> Option<()> {
        match self.open.last() {
            Some(open) if spot.is_first && open.column == spot.column => {
                let is_list = open.kind == Kind::List;
                self.end_value();
                if is_list {
                    self.close();
                    let map = self.open.last()?;
                    return (map.kind == Kind::Map && map.column == spot.column).then_some(());
                }
                Some(())
            }
            Some(_) if self.waits_for(spot, Kind::Map) => self.start(Kind::Map, spot.column, spot.at),
            None if !self.has_root() => self.start(Kind::Map, spot.column, spot.at),
            _ => None,
        }
    }

    /// Reads the value after the colon of a key that is at a column.
    #[inline(always)]
    fn value(&mut self, colon: usize, column: usize) -> Option<usize> {
        let text = self.text;
        self.last = Last::Indicator;
        self.cursor = colon + 1;
        let at = text.skip_gap(colon + 1);
        let first = text.at(at);
        if begins_plain(text, at, first) {
            return match stop(text, at + 1)? {
                Stop::Line(stop) => Some(self.plain_value(at, stop)),
                Stop::Colon(_) => None,
            };
        }
        match first {
            b'\n' => Some(at + 1),
            b'#' => Some(self.comment(at)),
            b'"' | b'\'' => {
                let quoted = self.quoted(at, Some(column))?;
                self.push_quoted(at, &quoted);
                self.last = Last::Whole;
                self.cursor = quoted.end;
                self.rest(quoted.end)
            }
            _ => self.odd_value(at),
        }
    }

    /// Reads a value that begins with an indicator.
    fn odd_value(&mut self, at: usize) -> Option<usize> {
        match self.text.at(at) {
            b'|' | b'>' => self.block_scalar(at),
            b'[' | b'{' => {
                self.cursor = self.flow(at, self.open.len(), self.indent())?;
                self.last = Last::Whole;
                self.rest(self.cursor)
            }
            _ => None,
        }
    }

    /// Whether the text at the first column ends a document, or is a directive.
    fn is_marker(&self, at: usize) -> bool {
        let is_three = matches!(self.text.bytes(at..at + 3), b"---" | b"...");
        self.text.at(at) == b'%' || (is_three && matches!(self.text.at(at + 3), b' ' | b'\t' | b'\n'))
    }

    /// Reads the `---` between two documents, which is alone in its line.
    #[cold]
    fn marker(&mut self, at: usize) -> Option<usize> {
        if self.text.at(at) != b'-' {
            return None;
        }
        self.end_document();
        self.is_marked = true;
        self.roots_before = self.doc.roots.len();
        self.cursor = at + 3;
        self.rest(at + 3)
    }
}
