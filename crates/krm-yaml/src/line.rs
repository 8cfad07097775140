//! The lines of a text: where they begin and end, with any kind of line break.
//!
//! YAML breaks a line at `\n`, at `\r\n` and at a lone `\r` (5.4 of its specification). Code that counts differently sees other lines than
//! the parser does, so all code asks here.

use crate::chunk::{Chunk, Marks};

/// The offset at which the line that holds `offset` begins.
pub fn line_start(text: &str, offset: usize) -> usize {
    last_break(&text.as_bytes()[..offset.min(text.len())]).map_or(0, |at| at + 1)
}

/// The length of the byte order mark at the beginning of a text, if it has one.
pub fn byte_order_mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// The offset of the last byte that breaks a line.
fn last_break(mut bytes: &[u8]) -> Option<usize> {
    while let Some((rest, chunk)) = bytes.split_last_chunk() {
        if let Some(last) = breaks_in(chunk).last() {
            return Some(rest.len() + last);
        }
        bytes = rest;
    }
    bytes.iter().rposition(|&b| b == b'\n' || b == b'\r')
}

/// The offset of the line break that ends the line that holds `offset`, or the end of the text.
pub fn line_end(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    first_break(&text.as_bytes()[offset..]).map_or(text.len(), |at| offset + at)
}

/// The offset of the first byte that breaks a line.
fn first_break(bytes: &[u8]) -> Option<usize> {
    first_of(bytes, breaks_in, |byte| matches!(byte, b'\n' | b'\r'))
}

/// The offset of the first byte for which `is_meant` holds. `among` marks such bytes in a chunk.
fn first_of(bytes: &[u8], among: impl Fn(&[u8; Chunk::LEN]) -> Marks, is_meant: impl Fn(u8) -> bool) -> Option<usize> {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        if let Some(first) = among(chunk).first() {
            return Some(at + first);
        }
        at += Chunk::LEN;
    }
    bytes[at..].iter().position(|byte| is_meant(*byte)).map(|found| at + found)
}

/// The offset of the first byte of a text that is this one, as `str::find`, which is slower where the byte is near.
fn find_byte(text: &str, byte: u8) -> Option<usize> {
    first_of(text.as_bytes(), |chunk| Chunk::of(chunk).equal(byte), |other| other == byte)
}

/// The parts of a text that end with a `\n`, and the rest, as `str::split_inclusive`.
pub fn split_after_feeds(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = find_byte(text, b'\n').map_or(text.len(), |at| at + 1);
        let (part, rest) = text.split_at(end);
        text = rest;
        (!part.is_empty()).then_some(part)
    })
}

/// Marks the bytes that break a line.
fn breaks_in(bytes: &[u8; Chunk::LEN]) -> Marks {
    let bytes = Chunk::of(bytes);
    bytes.equal(b'\n').or(bytes.equal(b'\r'))
}

/// The start of the next line, or the end of the text.
pub fn next_line(text: &str, at: usize) -> usize {
    let end = line_end(text, at);
    match text.as_bytes().get(end..) {
        Some([b'\r', b'\n', ..]) => end + 2,
        Some([_, ..]) => end + 1,
        _ => end,
    }
}

/// Whether a line begins at an offset.
pub fn starts_line(text: &str, offset: usize) -> bool {
    let at = text.as_bytes();
    let is_within_break = offset > 0 && at.get(offset - 1) == Some(&b'\r') && at.get(offset) == Some(&b'\n');
    line_start(text, offset) == offset && !is_within_break
}

/// Whether a text ends with a line break.
pub fn ends_line(text: &str) -> bool {
    text.ends_with(['\n', '\r'])
}

/// A text without the line break at its end.
pub fn without_break(text: &str) -> &str {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r'])).unwrap_or(text)
}

/// Whether two texts have the same lines, whatever breaks them. The last line may lack its line break.
pub fn same_lines(a: &str, b: &str) -> bool {
    let (a, b) = (without_break(a), without_break(b));
    a == b || a.len() != b.len() && (a.contains('\r') || b.contains('\r')) && lines(a) == lines(b)
}

/// The lines of a text without their line breaks. After the last line break there is one more line, which may be empty.
pub fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut at = 0;
    loop {
        let end = line_end(text, at);
        lines.push(&text[at..end]);
        if end == text.len() {
            return lines;
        }
        at = next_line(text, at);
    }
}

/// The lines of a text, each with its line break.
pub fn whole_lines(text: &str) -> Vec<&str> {
    let ends = std::iter::successors(Some(0), |at| Some(next_line(text, *at)).filter(|next| next > at));
    ends.take_while(|at| *at < text.len()).map(|at| &text[at..next_line(text, at)]).collect()
}

/// How many bytes a look-up reads to find the start or the end of a line. If that does not suffice, it indexes all lines. Lines that a
/// person wrote are shorter.
const NEAR: usize = 256;

/// Like [`line_start`], for frequent calls: it reads at most [`NEAR`] bytes of the line, and the whole text at most once.
pub(super) fn line_start_by<'l>(text: &str, offset: usize, lines: impl FnOnce() -> &'l LineStarts) -> usize {
    let offset = offset.min(text.len());
    let from = offset.saturating_sub(NEAR);
    match last_break(&text.as_bytes()[from..offset]) {
        Some(at) => from + at + 1,
        None if from == 0 => 0,
        None => lines().line_start(offset),
    }
}

/// Like [`next_line`], for frequent calls.
pub(super) fn next_line_by<'l>(text: &str, offset: usize, lines: impl FnOnce() -> &'l LineStarts) -> usize {
    let offset = offset.min(text.len());
    let near = &text.as_bytes()[offset..text.len().min(offset + NEAR)];
    match first_break(near) {
        Some(at) => next_line(text, offset + at),
        None if offset + near.len() == text.len() => text.len(),
        None => lines().next_line(offset),
    }
}

/// The starts of the lines of a text, for frequent calls: a look-up does not read the line.
#[derive(Clone, Debug)]
pub struct LineStarts {
    starts: Vec<usize>,
    /// How many characters begin before each [`NEAR`]th byte.
    characters: Vec<usize>,
    end: usize,
}

impl LineStarts {
    /// The starts of the lines of a text.
    pub fn of(text: &str) -> Self {
        let mut starts = vec![0];
        let mut at = 0;
        for line in whole_lines(text) {
            at += line.len();
            if ends_line(line) {
                starts.push(at);
            }
        }
        let mut count = 0;
        let pieces = text.as_bytes().chunks(NEAR).map(|piece| {
            count += characters_in(piece);
            count
        });
        Self { starts, characters: [0].into_iter().chain(pieces).collect(), end: text.len() }
    }

    /// The number of characters of the text between two offsets, each at a character.
    pub(super) fn characters_between(&self, text: &str, [from, to]: [usize; 2]) -> usize {
        let before = |offset: usize| {
            let piece = offset / NEAR;
            self.characters[piece] + characters_in(&text.as_bytes()[piece * NEAR..offset])
        };
        before(to) - before(from)
    }

    /// The same as [`line_start`].
    pub fn line_start(&self, offset: usize) -> usize {
        self.starts[..self.behind(offset)].last().copied().unwrap_or_default()
    }

    /// The number of the line that holds an offset, from 0.
    pub fn line_of(&self, offset: usize) -> usize {
        self.behind(offset).saturating_sub(1)
    }

    /// The same as [`next_line`].
    pub fn next_line(&self, offset: usize) -> usize {
        self.starts.get(self.behind(offset)).copied().unwrap_or(self.end)
    }

    /// The same as [`starts_line`].
    pub fn starts_line(&self, offset: usize) -> bool {
        self.line_start(offset) == offset
    }

    /// The number of the line after the one that holds an offset.
    fn behind(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }
}

/// The number of characters that begin in these bytes of a text.
fn characters_in(bytes: &[u8]) -> usize {
    let is_within = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    bytes.iter().filter(|byte| !is_within(**byte)).count()
}

/// The offset of the line break that ends right before `line`.
pub(super) fn line_break_before(text: &str, line: usize) -> usize {
    if text[..line].ends_with("\r\n") { line - 2 } else { line.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_break_is_found_wherever_it_is() {
        for (before, after) in (0..40).flat_map(|before| (0..40).map(move |after| (before, after))) {
            for line_break in ["\n", "\r", "\r\n", "\n\n", ""] {
                let text = ["a".repeat(before), line_break.to_owned(), "b".repeat(after)].concat();
                let is_break = |c: char| c == '\n' || c == '\r';
                assert_eq!(line_end(&text, 0), text.find(is_break).unwrap_or(text.len()), "{text:?}");
                assert_eq!(line_start(&text, text.len()), text.rfind(is_break).map_or(0, |at| at + 1), "{text:?}");
                assert!(split_after_feeds(&text).eq(text.split_inclusive('\n')), "{text:?}");
                assert_eq!(find_byte(&text, b'b'), text.find('b'), "{text:?}");
            }
        }
    }

    #[test]
    fn the_start_of_a_long_line_is_looked_up() {
        let text = ["a\n", &"b".repeat(3 * NEAR), "\n", &"c".repeat(3 * NEAR)].concat();
        let known = LineStarts::of(&text);
        for at in (0..=text.len()).step_by(7) {
            assert_eq!(line_start_by(&text, at, || &known), line_start(&text, at), "{at}");
            assert_eq!(next_line_by(&text, at, || &known), next_line(&text, at), "{at}");
        }
    }

    #[test]
    fn characters_are_counted_in_a_long_line() {
        for (character, count) in [("a", 1000), ("é", 500), ("€", 333), ("🦀", 250), ("aé€", 150)] {
            let text = character.repeat(count);
            let known = LineStarts::of(&text);
            let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            for (number, to) in offsets.iter().enumerate() {
                for (first, from) in offsets[..=number].iter().enumerate().step_by(37) {
                    let found = known.characters_between(&text, [*from, *to]);
                    assert_eq!(found, number - first, "{character} {from} {to}");
                }
            }
        }
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        for (text, starts) in [("\u{feff}a: 1\nb: 2\n", [3, 8]), ("a: 1\nb: 2\n", [0, 5])] {
            let doc = crate::Document::parse(text).expect("YAML");
            let root = doc.roots().next().expect("a root");
            let places: Vec<_> = root.entries().map(|(key, _)| (doc.line_start(key.start()), key.column())).collect();
            assert_eq!(places, starts.map(|start| (start, 0)), "{text:?}");
            assert_eq!(doc.line_start(0), 0);
        }
    }

    #[test]
    fn a_line_ends_at_each_kind_of_break() {
        for line_break in ["\n", "\r\n", "\r"] {
            let text = ["a", "", "bc", ""].join(line_break);
            assert_eq!(lines(&text), ["a", "", "bc", ""], "{text:?}");
            let starts: Vec<usize> = (0..=text.len()).filter(|at| starts_line(&text, *at)).collect();
            let n = line_break.len();
            assert_eq!(starts, [0, 1 + n, 1 + 2 * n, 3 + 3 * n], "{text:?}");
            assert_eq!(next_line(&text, 0), 1 + n);
            assert_eq!(line_start(&text, 2 + 2 * n), 1 + 2 * n);
            assert_eq!(line_end(&text, 1 + 2 * n), 3 + 2 * n);
            assert!(ends_line(&text) && !ends_line("a"));
            assert_eq!(whole_lines(&text).concat(), text);
            let known = LineStarts::of(&text);
            for at in (0..=text.len()).filter(|at| *at == 0 || text.get(at - 1..=*at) != Some("\r\n")) {
                assert_eq!(known.line_start(at), line_start(&text, at), "{text:?} {at}");
                assert_eq!(line_start_by(&text, at, || &known), line_start(&text, at), "{text:?} {at}");
                assert_eq!(next_line_by(&text, at, || &known), next_line(&text, at), "{text:?} {at}");
                assert_eq!(known.next_line(at), next_line(&text, at), "{text:?} {at}");
                assert_eq!(known.starts_line(at), starts_line(&text, at), "{text:?} {at}");
            }
            assert_eq!(whole_lines(&text).len(), 3, "{text:?}");
        }
        assert_eq!(whole_lines("a\rb"), ["a\r", "b"]);
        assert!(whole_lines("").is_empty());
    }
}
