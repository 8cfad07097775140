//! What becomes of the resources of a text, and the text with it.

use std::ops::Range;

use crate::edits::TextEdits;
use crate::yaml::next_line;

/// What becomes of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// It stays as it is.
    Stays,
    /// It stays, with these edits of the text that it lies in.
    Edited(TextEdits),
    /// It goes.
    Goes,
}

/// A text with what becomes of its documents. Each comes with where it lies: disjoint, and in the order of the text.
pub fn rewrite<'i>(text: &str, documents: impl IntoIterator<Item = (Range<usize>, &'i Item)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut written = 0;
    for (range, item) in documents {
        let edits = match item {
            Item::Stays => continue,
            Item::Edited(edits) => Some(edits),
            Item::Goes => None,
        };
        out.push_str(&text[written..range.start]);
        written = range.end;
        match edits {
            Some(edits) => out.push_str(&edits.apply(text, range)),
            // Three dots end a document, so they go with it unless they now end the one before.
            None if is_ended(&out) && text[written..].starts_with("...") => written = next_line(text, written),
            None => {}
        }
    }
    out.push_str(&text[written..]);
    out
}

/// Whether no document is open at the end of a text.
fn is_ended(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().rev().map(str::trim_start).filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.next().is_none_or(|l| l.starts_with("..."))
}
