//! Shows the changes of each side in a conflict as rows of a small diff.

use krm_show::screen::Paint;
use similar::{Algorithm, ChangeTag, TextDiff};

use krm_job::marked::{Conflict, Half, Marked};

/// How many lines around a change are shown.
const CONTEXT: usize = 3;

/// A row of text. The session cuts it to the width of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedRow {
    /// Its colour.
    pub paint: Paint,
    /// Its text.
    pub text: String,
}

impl ChangedRow {
    /// A row.
    pub fn new(paint: Paint, text: impl Into<String>) -> Self {
        Self { paint, text: text.into() }
    }
}

/// The changes of each side, if the tool also wrote the original. Otherwise the differences from ours to theirs.
pub fn changes(marked: &Marked<'_>, conflict: &Conflict) -> Vec<ChangedRow> {
    let name = |side: &str, half: &Half| match marked.shown(&half.label) {
        label if label.is_empty() || label == side => side.to_owned(),
        label => format!("{side} ({label})"),
    };
    let (ours, theirs) = (name("ours", &conflict.ours), name("theirs", &conflict.theirs));
    let sides = [Some(&conflict.ours), conflict.original.as_ref(), Some(&conflict.theirs)];
    let is_crlf = sides.into_iter().flatten().all(|half| has_crlf_only(marked.bytes(&half.text)));
    let lines = |half: &Half| {
        let text = marked.shown(&half.text).into_owned();
        let line = |line: &str| line.strip_suffix(if is_crlf { "\r\n" } else { "\n" }).unwrap_or(line).to_owned();
        text.split_inclusive('\n').map(line).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
    let Some(original) = &conflict.original else {
        rows.push(ChangedRow::new(Paint::Red, format!("- {ours}")));
        rows.push(ChangedRow::new(Paint::Green, format!("+ {theirs}")));
        rows.extend(diff(&lines(&conflict.ours), &lines(&conflict.theirs)));
        return rows;
    };
    for (name, half) in [(ours, &conflict.ours), (theirs, &conflict.theirs)] {
        rows.push(ChangedRow::new(Paint::Bold, name));
        let changed = diff(&lines(original), &lines(half));
        if changed.is_empty() {
            rows.push(ChangedRow::new(Paint::Plain, "  (nothing changed)"));
        }
        rows.extend(changed);
    }
    rows
}

fn has_crlf_only(text: &[u8]) -> bool {
    text.split_inclusive(|byte| *byte == b'\n').all(|line| line.ends_with(b"\r\n"))
}

fn diff(old: &[String], new: &[String]) -> Vec<ChangedRow> {
    let [old, new] = [old, new].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_slices(&old, &new);
    let mut rows = Vec::new();
    for (i, hunk) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if i > 0 {
            rows.push(ChangedRow::new(Paint::Cyan, "  …"));
        }
        for change in hunk.iter().flat_map(|op| diff.iter_changes(op)) {
            let (paint, mark) = match change.tag() {
                ChangeTag::Equal => (Paint::Plain, ' '),
                ChangeTag::Delete => (Paint::Red, '-'),
                ChangeTag::Insert => (Paint::Green, '+'),
            };
            rows.push(ChangedRow::new(paint, format!("{mark} {}", change.value())));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<String> {
        let marked = Marked::read(text.as_bytes());
        changes(&marked, &marked.conflicts[0]).into_iter().map(|row| row.text).collect()
    }

    #[test]
    fn each_side_is_compared_with_what_both_come_from() {
        let text = "<<<<<<< HEAD\na: 2\nb: 1\n||||||| old\na: 1\nb: 1\n=======\na: 1\nb: 1\n>>>>>>> topic\n";
        let want = ["ours (HEAD)", "- a: 1", "+ a: 2", "  b: 1", "theirs (topic)", "  (nothing changed)"];
        assert_eq!(rows(text), want);
    }

    #[test]
    fn without_the_original_the_sides_are_compared() {
        let want = ["- ours", "+ theirs (topic)", "- a: 1", "+ a: 2"];
        assert_eq!(rows("<<<<<<< ours\r\na: 1\r\n=======\r\na: 2\r\n>>>>>>> topic\r\n"), want);
        // Only the line breaks may differ.
        assert_eq!(rows("<<<<<<<\na\n=======\na\r\n>>>>>>>\n")[2..], ["- a", "+ a\r"]);
    }

    #[test]
    fn what_is_far_from_a_change_is_left_out() {
        let same: String = (0..20).map(|i| format!("{i}\n")).collect();
        let text = format!("<<<<<<<\na\n{same}b\n=======\nc\n{same}d\n>>>>>>>\n");
        let rows = rows(&text);
        assert_eq!(rows.len(), 2 + 2 + 3 + 1 + 3 + 2, "{rows:?}");
    }
}
