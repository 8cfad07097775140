//! The comment of a resource that is an item of a list, which is above the dash, or after it, as kpt writes it.
//!
//! In a file of its own, a resource has this comment above its first field, and the walk merges it there. In an item, that place is another
//! one, and the releases may be files. So the comment of an item is one thing here, wherever it is written.

use crate::change::NoteChange;
use crate::edits::Edit;
use crate::limit::Budget;
use crate::merge::{contradiction, wanted};
use crate::path::{FieldPath, Step};
use crate::sides::Sides;
use crate::warning::{CommentOf, Warning};
use crate::yaml::{
    NodeRef, Place, comments_above, is_blank, is_item, lines, same_comment, trim, trim_start, without_break,
};

/// What happens to the comment of an item.
#[derive(Debug)]
pub enum ItemComment<'a> {
    /// It stays.
    Stays,
    /// It becomes this comment of updated.
    Becomes(&'a str),
    /// It stays, although updated has another one.
    Contested(Warning<'a>),
}

impl<'a> ItemComment<'a> {
    /// Compares the comments of a resource. For a resource that is not an item in dest, the walk compares them.
    pub fn of(sides: Sides<Option<NodeRef<'a>>>) -> Self {
        let (Some(updated), Some(dest)) = (sides.updated, sides.dest.filter(|dest| is_item(*dest))) else {
            return Self::Stays;
        };
        let (expects, wants, has) = (sides.original.map_or("", written), written(updated), written(dest));
        // Updated may add the resource without a comment. That does not ask to remove dest's.
        if same_comment(expects, wants) || sides.original.is_none() && wants.is_empty() {
            return Self::Stays;
        }
        let note = NoteChange { expects: Some(expects), wants };
        if let Some(notice) = contradiction(note, has, CommentOf::Dest) {
            let first = dest.entries().next().map(|(key, _)| Step::Field(key.string().into()));
            let path = first.map(FieldPath::from).unwrap_or_default();
            return Self::Contested(Warning { path, notice, dest: None, proposed: None });
        }
        wanted(Some(note), has, None).map_or(Self::Stays, Self::Becomes)
    }
}

/// The comment of a resource as it is written, from its first `#` on. Without a comment it is empty.
fn written<'a>(resource: NodeRef<'a>) -> &'a str {
    let doc = resource.document();
    let Some(first) = Place::of_first(resource) else { return "" };
    let Some(dash) = Place::behind_dash(resource).filter(|_| is_item(resource)) else {
        return comments_above(&first, doc);
    };
    if first.is_inline(doc) {
        return comments_above(&dash, doc);
    }
    comment_behind_dash(resource).unwrap_or_else(|| comments_above(&first, doc))
}

/// The comment that begins on the line of an item's dash, and goes on to the line of its first field. A blank line sets a comment apart.
fn comment_behind_dash<'a>(item: NodeRef<'a>) -> Option<&'a str> {
    let doc = item.document();
    let (first, dash) = (Place::of_first(item)?, Place::behind_dash(item)?);
    let text = without_break(doc.source().get(dash.open..doc.line_start(first.lead))?);
    lines(text).iter().all(|line| trim_start(line).starts_with('#')).then(|| trim(text))
}

/// The edit that gives an item of a block list another comment, in the place that it has; `None` if the budget does not allow it.
pub fn edit(item: NodeRef<'_>, comment: &str, budget: &Budget) -> Option<Edit> {
    let doc = item.document();
    let (first, dash) = (Place::of_first(item)?, Place::behind_dash(item)?);
    let comments: Vec<&str> = lines(comment).into_iter().map(trim).filter(|line| !is_blank(line)).collect();
    let (column, outer) = (first.column(doc), dash.column(doc));
    let on_lines =
        |column: usize| -> String { comments.iter().map(|line| format!("{}{line}\n", " ".repeat(column))).collect() };
    let (range, text) = if first.is_inline(doc) {
        (dash.top(doc)..doc.line_start(dash.lead), on_lines(outer))
    } else if comment_behind_dash(item).is_none() {
        (first.top(doc)..doc.line_start(first.lead), on_lines(column))
    } else if comments.is_empty() {
        (dash.open..first.lead, " ".repeat(column.saturating_sub(outer + 1).max(1)))
    } else {
        (dash.open..first.lead, format!(" {}{}", on_lines(column).trim_start(), " ".repeat(column)))
    };
    budget.take(text.len()).then(|| Edit { range, text: text.replace('\n', doc.line_break()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::TextEdits;
    use crate::yaml::Document;

    fn item<'d>(document: &'d Document<'_>) -> NodeRef<'d> {
        let root = document.roots().next().expect("a root");
        root.elements().next().unwrap_or(root)
    }

    #[test]
    fn a_comment_is_found_wherever_it_is_written() {
        for (text, want) in [
            ("# a\nk: 1\n", "# a"),
            ("- k: 1\n", ""),
            ("# a\n- k: 1\n", "# a"),
            ("# a\n# b\n-  k: 1\n", "# a # b"),
            ("- # a\n  k: 1\n", "# a"),
            ("- # a\n  # b\n  k: 1\n", "# a # b"),
            ("-\n  # a\n  k: 1\n", "# a"),
            // A blank line sets it apart.
            ("- # a\n\n  # b\n  k: 1\n", "# b"),
            ("# a\n\n- k: 1\n", ""),
            ("- {k: 1}\n", ""),
        ] {
            let document = Document::parse(text).expect("YAML");
            let found = written(item(&document)).split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn a_comment_is_changed_in_its_place() {
        for (text, comment, want) in [
            ("- k: 1\n", "# n\n", "# n\n- k: 1\n"),
            ("a:\n  # o\n  - k: 1\n", "  # n\n# m\n", "a:\n  # n\n  # m\n  - k: 1\n"),
            ("# o\n- k: 1\n", "", "- k: 1\n"),
            ("- # o\n  k: 1\n", "# n\n", "- # n\n  k: 1\n"),
            ("- # o\n  # p\n  k: 1\n", "# n\n", "- # n\n  k: 1\n"),
            ("- # o\n  k: 1\n", "# n\n# m\n", "- # n\n  # m\n  k: 1\n"),
            ("-   # o\n    k: 1\n    l: 2\n", "", "-   k: 1\n    l: 2\n"),
            ("- # o\r\n  k: 1\r\n", "# n\n", "- # n\r\n  k: 1\r\n"),
            ("-\n  # o\n  k: 1\n", "# n\n# m\n", "-\n  # n\n  # m\n  k: 1\n"),
            ("-\n  k: 1\n", "# n\n", "-\n  # n\n  k: 1\n"),
            ("- # apart\n\n  # o\n  k: 1\n", "# n\n", "- # apart\n\n  # n\n  k: 1\n"),
            ("- &x\n  # o\n  k: 1\n", "# n\n", "- &x\n  # n\n  k: 1\n"),
        ] {
            let document = Document::parse(text).expect("YAML");
            let root = document.roots().next().expect("a root");
            let list = root.entries().next().map_or(root, |(_, list)| list);
            let edit = edit(list.elements().next().expect("an item"), comment, &Budget::default()).expect("an edit");
            assert_eq!(TextEdits::sorted(vec![edit]).apply(text, 0..text.len()), want, "{text}");
        }
    }
}
