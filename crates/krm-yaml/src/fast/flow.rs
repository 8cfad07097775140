//! Flow collections (`[…]`, `{…}`), on one line or over several.

use super::plain::begins_plain;
use super::{KEY, MAX_OPEN, Reader};
use crate::node::{Kind, NONE, Style};

/// The column of the innermost block around a flow collection; `None` at the root. The further lines of the collection must be deeper.
type Around = Option<usize>;

impl Reader<'_> {
    /// Reads the flow collection that begins at an offset, inside of this number of maps and lists. Returns the offset of its end.
    pub(super) fn flow(&mut self, at: usize, depth: usize, around: Around) -> Option<usize> {
        if depth >= MAX_OPEN {
            return None;
        }
        let text = self.text;
        let (kind, close) = if text.at(at) == b'[' { (Kind::List, b']') } else { (Kind::Map, b'}') };
        let id = self.doc.nodes.len();
        self.push(at, at, kind, Style::Flow, NONE);
        let mut at = self.separation(at + 1, around)?;
        while text.at(at) != close {
            if kind == Kind::Map {
                let end = self.flow_scalar(at)?;
                let colon = text.skip_gap(end);
                // Directly after a quote, the colon needs no blank.
                let is_quoted = colon == end && matches!(text.at(end - 1), b'"' | b'\'');
                let is_colon = text.at(colon) == b':' && (is_quoted || text.at(colon + 1) == b' ');
                if !is_colon || colon - at > KEY {
                    return None;
                }
                at = text.skip_gap(colon + 1);
            }
            at = match text.at(at) {
                b'[' | b'{' => self.flow(at, depth + 1, around)?,
                _ => self.flow_scalar(at)?,
            };
            at = self.separation(at, around)?;
            match text.at(at) {
                b',' => at = self.separation(at + 1, around)?,
                byte if byte == close => {}
                _ => return None,
            }
        }
        let next = self.next_id();
        let node = &mut self.doc.nodes[id];
        node.link = next;
        node.end = at as u32 + 1;
        Some(at + 1)
    }

    /// Skips blanks, comments and line breaks.
    #[inline(always)]
    fn separation(&mut self, at: usize, around: Around) -> Option<usize> {
        let next = self.text.skip_gap(at);
        if matches!(self.text.at(next), b'\n' | b'#') { self.further_flow_line(at, next, around) } else { Some(next) }
    }

    /// Like [`Reader::separation`], from the line break or the comment at `at` on. The blanks before it begin at `blanks`.
    #[cold]
    fn further_flow_line(&mut self, blanks: usize, mut at: usize, around: Around) -> Option<usize> {
        let text = self.text;
        if text.at(at) == b'#' && blanks == at {
            return None;
        }
        loop {
            let line = if text.at(at) == b'#' { self.comment(at) } else { at + 1 };
            if line >= text.len() {
                return None;
            }
            at = text.skip_blanks(line);
            let is_deeper = around.is_none_or(|indent| at - line > indent);
            match text.at(at) {
                b'\n' | b'#' => {}
                b']' | b'}' => return Some(at),
                b'{' | b'[' | b'"' if is_deeper => return Some(at),
                // At the root, a line must not begin in the first column, because `---` would end the document there.
                _ if is_deeper && at > line => return Some(at),
                _ => return None,
            }
        }
    }

    /// Reads a scalar in a flow collection. Returns the offset of the next byte: a `,`, a `:`, a closing bracket or a line break.
    fn flow_scalar(&mut self, at: usize) -> Option<usize> {
        let text = self.text;
        let first = text.at(at);
        if matches!(first, b'"' | b'\'') {
            let quoted = self.quoted(at, None)?;
            self.push_quoted(at, &quoted);
            return Some(quoted.end);
        }
        let is_sure = match first {
            b'-' => text.at(at + 1).is_ascii_alphanumeric(),
            b'?' | b':' => false,
            _ => begins_plain(text, at, first),
        };
        if !is_sure {
            return None;
        }
        let mut stop = at + 1;
        loop {
            match text.at(stop) {
                b',' | b']' | b'}' => break,
                b':' if text.at(stop + 1) == b' ' => break,
                b':' if matches!(text.at(stop + 1), b',' | b'[' | b']' | b'{' | b'}' | b'\t' | b'\n') => return None,
                b'#' if text.at(stop - 1) == b' ' => break,
                b'\n' => break,
                b'[' | b'{' | b'\t' => return None,
                _ => stop += 1,
            }
        }
        let end = text.back_over_blanks(stop);
        self.plain(at, end);
        match text.at(stop) {
            b'\n' | b'#' => self.ends_flow_scalar(stop).then_some(end),
            _ => Some(stop),
        }
    }

    /// Whether a plain scalar surely ends at this line break or comment. It might continue on the next line.
    fn ends_flow_scalar(&self, mut at: usize) -> bool {
        while at < self.text.len() {
            match self.text.at(at) {
                b' ' | b'\n' => at += 1,
                b'#' => at = self.text.line_end(at),
                byte => return matches!(byte, b',' | b']' | b'}'),
            }
        }
        false
    }
}
