//! What becomes of the resources of a text, and the text with it.

use std::ops::Range;

use crate::edits::{Edit, TextEdits};
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
    changes(text, documents).apply(text, 0..text.len())
}

/// The same as edits.
pub fn changes<'i>(text: &str, documents: impl IntoIterator<Item = (Range<usize>, &'i Item)>) -> TextEdits {
    let mut all: Vec<Edit> = Vec::new();
    for (range, item) in documents {
        match item {
            Item::Stays => {}
            Item::Edited(edits) => {
                let is_within = |edit: &&Edit| range.start <= edit.range.start && edit.range.end <= range.end;
                all.extend(edits.iter().filter(is_within).cloned());
            }
            Item::Goes => {
                // Three dots end a document, so they go with it unless they now end the one before.
                let has_dots = text[range.end..].starts_with("...");
                let before = || TextEdits::sorted(all.clone()).apply(text, 0..range.start);
                let end = if has_dots && is_ended(&before()) { next_line(text, range.end) } else { range.end };
                all.push(Edit { range: range.start..end, text: String::new() });
            }
        }
    }
    TextEdits::sorted(all)
}

/// Whether no document is open at the end of a text.
fn is_ended(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().rev().map(str::trim_start).filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.next().is_none_or(|l| l.starts_with("..."))
}
