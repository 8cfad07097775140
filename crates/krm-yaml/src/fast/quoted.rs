//! Quoted scalars: their ends, and their decoded text.

use super::Reader;
use super::scan::ScannedText;
use crate::node::{Kind, NONE, Style};

/// A quoted scalar that was read but is not a node yet.
pub(super) struct Quoted {
    /// The offset after the closing quote.
    pub end: usize,
    /// Whether it has no line break.
    pub is_one_line: bool,
    style: Style,
    link: u32,
}

impl Reader<'_> {
    /// Reads the quoted scalar whose opening quote is at an offset. Its further lines must be deeper than `indent`; if there is no
    /// `indent`, it must be one line.
    #[inline(always)]
    pub(super) fn quoted(&mut self, at: usize, indent: Option<usize>) -> Option<Quoted> {
        let text = self.text;
        let quote = text.at(at);
        let style = if quote == b'"' { Style::Double } else { Style::Single };
        let mut end = text.quoted_stop(at + 1, quote);
        // In single quotes, a backslash is only a backslash.
        while quote == b'\'' && text.at(end) == b'\\' {
            end = text.quoted_stop(end + 1, quote);
        }
        // `''` is a quote in the text, not its end.
        if text.at(end) == quote && (quote == b'"' || text.at(end + 1) != quote) {
            if text.bytes(at + 1..end) == b"<<" {
                self.sees_merge_key();
            }
            return Some(Quoted { end: end + 1, is_one_line: true, style, link: NONE });
        }
        self.quoted_decoded(at, style, indent)
    }

    /// Appends a quoted scalar.
    #[inline(always)]
    pub(super) fn push_quoted(&mut self, at: usize, quoted: &Quoted) {
        self.push(at, quoted.end, Kind::Scalar, quoted.style, quoted.link);
    }

    /// Reads a quoted scalar whose value differs from its written text.
    #[cold]
    fn quoted_decoded(&mut self, start: usize, style: Style, indent: Option<usize>) -> Option<Quoted> {
        let text = self.text;
        let quote = text.at(start);
        let from = self.doc.buffer.len();
        // The text between `done` and `at` is copied unchanged.
        let (mut done, mut at) = (start + 1, start + 1);
        let mut is_one_line = true;
        loop {
            match text.at(at) {
                b'\'' if quote == b'\'' && text.at(at + 1) == b'\'' => {
                    self.doc.buffer.push_str(text.slice(done..at + 1));
                    at += 2;
                }
                byte if byte == quote => break,
                b'\\' if quote == b'"' && text.at(at + 1) == b'\n' => {
                    self.doc.buffer.push_str(text.slice(done..at));
                    let (breaks, next) = further_line(text, at + 1, indent?)?;
                    self.doc.buffer.extend(std::iter::repeat_n('\n', breaks - 1));
                    is_one_line = false;
                    at = next;
                }
                b'\\' if quote == b'"' => {
                    self.doc.buffer.push_str(text.slice(done..at));
                    let (character, next) = escape(text, at)?;
                    self.doc.buffer.push(character);
                    at = next;
                }
                b'\n' => {
                    self.doc.buffer.push_str(text.slice(done..done.max(text.back_over_blanks(at))));
                    let (breaks, next) = further_line(text, at, indent?)?;
                    self.fold(breaks);
                    is_one_line = false;
                    at = next;
                }
                b'\t' => return None,
                _ => {
                    at += 1;
                    continue;
                }
            }
            done = at;
        }
        self.doc.buffer.push_str(text.slice(done..at));
        Some(Quoted { end: at + 1, is_one_line, style, link: self.decoded(from) })
    }
}

/// Counts the line breaks in a row from one in a quoted scalar on. Also returns the offset of the text in the next line, which must be
/// deeper than `indent`.
fn further_line(text: ScannedText<'_>, mut at: usize, indent: usize) -> Option<(usize, usize)> {
    let mut breaks = 0;
    loop {
        breaks += 1;
        let line = at + 1;
        if line >= text.len() {
            return None;
        }
        at = text.skip_blanks(line);
        if text.at(at) != b'\n' {
            return (at - line > indent).then_some((breaks, at));
        }
    }
}

/// The character that an escape means, and the offset of the end of the escape.
fn escape(text: ScannedText<'_>, at: usize) -> Option<(char, usize)> {
    let digits = match text.at(at + 1) {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        simple => return Some((simple_escape(simple)?, at + 2)),
    };
    let hex = text.slice(at + 2..at + 2 + digits);
    if hex.len() != digits || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    // Half of a surrogate pair is not a character, so the library decides.
    let character = char::from_u32(u32::from_str_radix(hex, 16).ok()?)?;
    Some((character, at + 2 + digits))
}

/// The character that a backslash with this byte means.
fn simple_escape(byte: u8) -> Option<char> {
    Some(match byte {
        b'0' => '\0',
        b'a' => '\x07',
        b'b' => '\x08',
        b't' => '\t',
        b'n' => '\n',
        b'v' => '\x0b',
        b'f' => '\x0c',
        b'r' => '\r',
        b'e' => '\x1b',
        b' ' | b'"' | b'/' | b'\\' => char::from(byte),
        _ => return None,
    })
}
