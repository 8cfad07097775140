//! The text of a file after a merge: its documents edited and removed.

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

/// A text with its documents edited and removed. Each comes with where it lies: disjoint, and in the order of the text.
pub fn rewrite<'i>(text: &str, documents: impl IntoIterator<Item = (Range<usize>, &'i Item)>) -> String {
    rewritten(text, documents).0
}

/// The same as edits.
pub fn changes<'i>(text: &str, documents: impl IntoIterator<Item = (Range<usize>, &'i Item)>) -> TextEdits {
    rewritten(text, documents).1
}

fn rewritten<'i>(text: &str, documents: impl IntoIterator<Item = (Range<usize>, &'i Item)>) -> (String, TextEdits) {
    let (mut out, mut all) = (String::with_capacity(text.len()), Vec::new());
    let mut written = 0;
    for (range, item) in documents {
        if *item == Item::Stays {
            continue;
        }
        out.push_str(&text[written..range.start]);
        written = range.end;
        if let Item::Edited(edits) = item {
            let is_within = |edit: &&Edit| range.start <= edit.range.start && edit.range.end <= range.end;
            all.extend(edits.iter().filter(is_within).cloned());
            out.push_str(&edits.apply(text, range));
            continue;
        }
        // Three dots end a document, so they go with it unless they now end the one before.
        if text[written..].starts_with("...") && is_ended(&out) {
            written = next_line(text, written);
        }
        all.push(Edit { range: range.start..written, text: String::new() });
    }
    out.push_str(&text[written..]);
    (out, TextEdits::sorted(all))
}

/// Whether no document is open at the end of a text.
fn is_ended(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().rev().map(str::trim_start).filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.next().is_none_or(|l| l.starts_with("..."))
}
