//! An item that repeats an earlier one: the lines are the same, but for single words that are values.
//!
//! A package and the release below it have most of their resources in common, but for the annotations of the host and a few values. The
//! place of such an item is that of the earlier one, moved. So comparing the bytes takes the place of reading them.
//!
//! **Why the item has the same nodes.** The reader begins both items with the same state, and decides by the bytes. Words differ only where
//! the reader decides nothing by them: after `: `, or after `: ` and a quote, up to a blank, a line break or that quote. The bytes of a word
//! are no indicators there, and it is not null. Words of keys and comments do not differ, because the head of an item has their texts. The
//! line after the item is no deeper than its dash, so the item ends there, as the earlier one does.

use super::super::node::{Kind, Node, Style};
use super::part::{Keep, Place};
use super::scan::Text;
use super::{Last, Reader};

/// The most words that differ. Each is looked for in its line, and a line may be long.
const WORDS: usize = 32;

/// How the offsets of an item become those of an item that repeats it.
#[derive(Debug, Default)]
pub struct Moves(Vec<Move>);

/// How far the offsets are moved from an offset of the earlier item on.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: u32,
    /// It is added with overflow, so the item may also be before the earlier one.
    by: u32,
}

impl Moves {
    /// Where an offset of the earlier item is in the item that repeats it. The offset is not inside of a word that differs.
    pub fn moved(&self, offset: u32) -> u32 {
        let by = self.0.iter().rfind(|part| part.from <= offset).map_or(0, |part| part.by);
        offset.wrapping_add(by)
    }

    fn push(&mut self, from: usize, to: usize) {
        self.0.push(Move { from: from as u32, by: (to as u32).wrapping_sub(from as u32) });
    }
}

impl Reader<'_, '_> {
    /// Takes the item whose dash is in a line as one that repeats the likely place. Returns the offset of the line after the item, or `None` if
    /// the item must be read.
    #[cold]
    pub(super) fn repeated_item(&mut self, line: usize) -> Option<usize> {
        let likely = self.parts.keeps.as_ref()?.likely()?;
        let is_usual = !self.parts.is_odd && self.is_list_of_items(self.open.last()?.node);
        let earlier = *self.parts.places.get(likely).filter(|_| is_usual)?;
        let next_line = repeats(self.text, &earlier, line, &mut self.parts.moves)?;
        if self.parts.keeps.as_mut()?.of_repeated(&self.parts.moves) == Keep::Nodes {
            return None;
        }
        let (moves, doc) = (&self.parts.moves, &mut self.doc);
        let stub = doc.nodes.len() as u32;
        let Node { start, end, .. } = doc.nodes[earlier.stub as usize];
        let [start, end] = [start, end].map(|offset| moves.moved(offset));
        doc.nodes.push(Node { start, end, link: stub + 1, kind: Kind::Map, style: Style::Block, has_props: false });
        let index = |offset: u32| doc.comments.partition_point(|(start, _)| *start < offset);
        let (comments, next) = (index(earlier.dash_line)..index(earlier.end_line), doc.comments.len());
        doc.comments.extend_from_within(comments);
        for (start, end) in &mut doc.comments[next..] {
            (*start, *end) = (moves.moved(*start), moves.moved(*end));
        }
        self.parts.places.push(Place {
            stub,
            start,
            first_line: self.parts.first_line as u32,
            next_line: next_line as u32,
            dash_line: line as u32,
            end_line: next_line as u32,
            ..earlier
        });
        if let Some(list) = self.open.last_mut() {
            list.item = None;
        }
        self.last = Last::Whole;
        self.cursor = end as usize;
        Some(next_line)
    }
}

/// Compares the lines from one on with those of an earlier item. Returns the offset of the line after those that repeat the item.
fn repeats(text: Text<'_>, earlier: &Place, line: usize, moves: &mut Moves) -> Option<usize> {
    let (mut old, mut new) = (earlier.dash_line as usize, line);
    let end = earlier.end_line as usize;
    moves.0.clear();
    moves.push(old, new);
    loop {
        let same = text.same_bytes(old..end, new);
        (old, new) = (old + same, new + same);
        if old == end {
            break;
        }
        if moves.0.len() > WORDS {
            return None;
        }
        (old, new) = ends_of_words(text, old, new)?;
        moves.push(old, new);
    }
    // A blank line, or a comment, may belong to a block scalar at the end of the item.
    let at = text.skip_blanks(new);
    (at - new <= earlier.column as usize && !matches!(text.at(at), b'\n' | b'#')).then_some(new)
}

/// The ends of two words that differ at these offsets, and are the same before them. `None` if one must not be in the place of the other.
fn ends_of_words(text: Text<'_>, old: usize, new: usize) -> Option<(usize, usize)> {
    let before = |at: usize| text.at(at.wrapping_sub(1));
    let same = (0..old).take_while(|same| is_of_word(before(old - same))).count();
    let start = old - same;
    let quote = Some(before(start)).filter(|byte| matches!(byte, b'\'' | b'"'));
    let colon = start.checked_sub(if quote.is_some() { 3 } else { 2 })?;
    if text.bytes(colon..colon + 2) != b": " || !is_after_plain_key(text, colon) {
        return None;
    }
    let end_of_word = |at: usize| {
        let end = (at..text.len()).find(|end| !is_of_word(text.at(*end)))?;
        let is_end = match quote {
            Some(quote) => text.at(end) == quote && matches!(text.at(end + 1), b' ' | b'\n'),
            None => matches!(text.at(end), b' ' | b'\n'),
        };
        let word = text.bytes(at - same..end);
        let is_plain = word.first()?.is_ascii_alphanumeric() && *word.last()? != b':';
        (is_end && is_plain && !word.eq_ignore_ascii_case(b"null")).then_some(end)
    };
    let ends = (end_of_word(old)?, end_of_word(new)?);
    // The bytes after two words must be the same.
    (ends != (old, new)).then_some(ends)
}

/// Whether a colon is not in a comment, nor in a key in quotes.
fn is_after_plain_key(text: Text<'_>, colon: usize) -> bool {
    let mut line = text.bytes(0..colon).iter().rev().take_while(|byte| **byte != b'\n');
    line.all(|byte| !matches!(byte, b'#' | b'\'' | b'"'))
}

/// Whether a byte is no indicator inside of a word.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/' | b':' | b'@' | b'_')
}
