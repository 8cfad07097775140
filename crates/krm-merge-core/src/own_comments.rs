//! The comments of a resource as a whole, which are at none of its fields: the one above it, and those at the end of its document.
//!
//! In a file of its own, a resource in block style has the first one above its first field, and the walk merges it there. An item of a list
//! has it above the dash, or after it, as kpt writes it; a resource in brackets, such as KYAML, has it above its bracket. The releases may be
//! files. So it is one thing here, wherever it is written.

use std::ops::Range;

use krm_tree::limit::Budget;
use krm_tree::path::{FieldPath, Step};
use krm_tree::sides::{Side, Sides};
use krm_tree::splice::comment_lines;
use krm_tree::tree::Conflict;
use krm_yaml::hashed::HashSet;
use krm_yaml::{
    BlockScalar, Document, DocumentParts, Edit, NodeRef, Place, Style, below, below_all, comments_above,
    comments_below, ends_line, extent, foot, gap_above, is_blank, is_in_rows, is_item, lines, same_comment, trim,
    trim_end, trim_start, without_break,
};

use crate::change::NoteChange;
use crate::merge::{contested, contradiction, wanted};
use crate::warning::{CommentOf, Warning};

/// What happens to the comments of a resource.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnComments<'a> {
    /// The comment on the line of the `---` above it, if it becomes another one.
    pub mark: Option<&'a str>,
    /// The comment above it, if it becomes another one.
    pub above: Option<&'a str>,
    /// The comments below its last field, between its brackets, if they become others.
    pub inside: Option<&'a str>,
    /// The comments at the end of its document, if they become others.
    pub below: Option<&'a str>,
    /// The lines that come above it, set apart from it, if those of dest stay at the top of the file without it.
    pub apart: Option<&'a str>,
}

impl<'a> OwnComments<'a> {
    /// Compares the comments of a resource, and returns what happens to dest's, and a warning for each that both sides changed. The winner's
    /// stays then.
    pub fn of(sides: Sides<Option<NodeRef<'a>>>, winner: Side) -> (Self, Vec<Warning<'a>>) {
        let (Some(updated), Some(dest)) = (sides.updated, sides.dest) else { return Default::default() };
        let mut warnings = Vec::new();
        let mut becomes = |of: fn(NodeRef<'a>) -> &'a str, step: Option<(NodeRef<'a>, NodeRef<'a>)>| {
            let (expects, wants, has) = (sides.original.map_or("", of), of(updated), of(dest));
            if same_comment(expects, wants) {
                return None;
            }
            let note = NoteChange { expects: Some(expects), wants };
            if let Some(notice) = contradiction(note, has, CommentOf::Dest) {
                let path = step.map(|(key, _)| FieldPath::from(Step::Field(key.string().into()))).unwrap_or_default();
                warnings.push(Warning { path, notice, dest: None, proposed: None });
                return Some(wants).filter(|_| winner == Side::Updated);
            }
            wanted(Some(note), has, None)
        };
        // Elsewhere the walk compares the comments above the first field.
        let mark = if dest.is_root() { becomes(at_mark, None) } else { None };
        let is_here = is_item(dest) || in_brackets(dest).is_some();
        // Of a resource that both sides added, what a blank line sets apart may be about the file.
        let is_known = sides.original.is_some();
        let of = if is_known { above } else { directly_above };
        let above = if is_here { becomes(of, dest.entries().next()) } else { None };
        let above = above.filter(|_| is_known || self::above(dest) == directly_above(dest));
        // Where a comment of dest's fields came to the end, or left it, it is not written twice.
        let below = if dest.is_root() { becomes(at_end, dest.entries().last()) } else { None };
        let below = below.filter(|wants| !is_elsewhere(wants, sides));
        let are_in_rows = [sides.dest, sides.original, sides.updated].into_iter().flatten().all(is_in_rows);
        let inside = if are_in_rows { becomes(inside, dest.entries().last()) } else { None };
        let is_new = is_first(dest) && sides.original.is_some_and(|original| apart(original).is_empty());
        let apart = Some(apart(updated)).filter(|apart| is_new && !apart.is_empty());
        (Self { mark, above, inside, below, apart }, warnings)
    }

    /// Those that are not in the lines of a resource of dest.
    pub fn outside(self, dest: NodeRef<'_>) -> Self {
        let is_above = in_brackets(dest).is_some() && behind_bracket(dest).is_none();
        Self { mark: self.mark, above: self.above.filter(|_| is_above), ..Self::default() }
    }

    /// The comment for the line of a `---` above a document that has none yet.
    pub fn mark_to_be(&self, dest: NodeRef<'_>) -> Option<&'a str> {
        self.mark.filter(|_| mark_of(dest).is_none()).map(trim)
    }

    /// The edits that give them to a resource of dest, as far as the budget allows it.
    pub fn edits(&self, dest: NodeRef<'_>, budget: &Budget) -> Vec<Edit> {
        let mark = self.mark.and_then(|mark| edit_at_mark(dest, mark, budget));
        let above = self.above.and_then(|above| edit_above(dest, above, budget));
        let inside = self.inside.and_then(|inside| edit_inside(dest, inside, budget));
        let below = self.below.and_then(|below| edit_at_end(dest, below, budget));
        [mark, above, inside, below].into_iter().flatten().collect()
    }
}

/// The conflict about the comments above the first `---` of a text, if both sides changed them, and these are the first resources of their texts.
/// They belong to the file: dest's stay, whoever wins.
pub fn contested_header<'a>(sides: Sides<Option<NodeRef<'a>>>) -> Option<Conflict<'a>> {
    let Sides { original: Some(expects), updated: Some(wants), dest: Some(has) } =
        sides.map(|side| side.and_then(header))
    else {
        return None;
    };
    let texts = contested(Some(NoteChange { expects: Some(expects), wants }), has)?;
    Some(Conflict::of_comments(FieldPath::default(), texts.map(|text| text.trim().to_owned())))
}

/// Whether a resource is the first document of its text.
fn is_first(resource: NodeRef<'_>) -> bool {
    resource.document().roots().next().is_some_and(|first| first.is(resource))
}

/// The lines that are set apart above a document. At the top of a text, they are about the text.
fn apart(resource: NodeRef<'_>) -> &str {
    let doc = resource.document();
    let place = if is_first(resource) { None } else { Place::of_first(resource).or_else(|| in_brackets(resource)) };
    let gap = place.filter(|_| resource.is_root()).and_then(|place| gap_above(&place, doc));
    gap.map_or("", |gap| &doc.source()[gap])
}

/// The comments above the first `---` of a text, if this is its first resource.
fn header(resource: NodeRef<'_>) -> Option<&str> {
    let doc = resource.document();
    let mark = is_first(resource).then(|| DocumentParts::of(resource).mark)?;
    Some(if mark.is_empty() { "" } else { &doc.source()[..mark.start] })
}

/// The comment on the line of the `---` above a document.
fn at_mark(resource: NodeRef<'_>) -> &str {
    let doc = resource.document();
    let comment = mark_of(resource).and_then(|mark| doc.comment_behind(mark));
    comment.map_or("", |(start, end)| &doc.source()[start..end])
}

/// The offset after the `---` above a document, if nothing but a comment is on its line.
fn mark_of(resource: NodeRef<'_>) -> Option<usize> {
    let parts = resource.is_root().then(|| DocumentParts::of(resource))?;
    parts.behind_mark(resource.document().source())
}

fn edit_at_mark(resource: NodeRef<'_>, comment: &str, budget: &Budget) -> Option<Edit> {
    let (doc, mark) = (resource.document(), mark_of(resource)?);
    let end = doc.comment_behind(mark).map_or(mark, |(_, end)| end);
    edit_of(doc, mark..end, behind(comment), budget)
}

/// A comment of one line, as it comes behind a token.
fn behind(comment: &str) -> String {
    if comment.is_empty() { String::new() } else { format!(" {}", trim(comment)) }
}

/// The comments at the end of a document, below its last child, with the blank lines above them; empty if there are none, or if the resource
/// is no document of its own.
fn at_end(resource: NodeRef<'_>) -> &str {
    &resource.document().source()[end_of(resource)]
}

/// The comments below the last field of a document in brackets, between them.
fn inside(resource: NodeRef<'_>) -> &str {
    in_brackets(resource).map_or("", |place| comments_below(&place, resource))
}

/// The edit that gives a document in brackets other comments below its last field; `None` if the budget does not allow it.
fn edit_inside(resource: NodeRef<'_>, comments: &str, budget: &Budget) -> Option<Edit> {
    let column = resource.written().next().map(|first| Place::of_child(resource, first).column(resource.document()))?;
    let lines: String = comment_lines(comments, column, budget).into_iter().map(|line| line + "\n").collect();
    edit_of(resource.document(), foot(&in_brackets(resource)?, resource), lines, budget)
}

/// The lines of [`at_end`], or the place where they would be.
fn end_of(resource: NodeRef<'_>) -> Range<usize> {
    let (doc, own) = (resource.document(), below(resource.document(), resource.end(), 0));
    // The blank lines that a block scalar keeps are not comments.
    let kept = BlockScalar::last_of(resource).map(|(block, end)| block.below(doc.source(), doc.next_line(end)));
    let start = own.max(kept.unwrap_or_default());
    if !resource.is_root() {
        return start..start;
    }
    start..below_all(resource).max(start)
}

/// Whether dest has one of these comment lines above the end of its document. A line that upstream moved to the end goes from its place.
fn is_elsewhere(comments: &str, sides: Sides<Option<NodeRef<'_>>>) -> bool {
    let above = sides.map(|side| side.map(above_end).unwrap_or_default());
    let has = |side: Side, line: &str| above[side].contains(line);
    let stays = |line: &str| has(Side::Dest, line) && (has(Side::Updated, line) || !has(Side::Original, line));
    lines(comments).into_iter().map(trim).any(|line| !line.is_empty() && stays(line))
}

/// The comments of a document above those at its end.
fn above_end(resource: NodeRef<'_>) -> HashSet<&str> {
    let (doc, above) = (resource.document(), extent(resource).start..end_of(resource).start);
    doc.comments_in(above).map(|(from, to)| trim_end(&doc.source()[from..to])).collect()
}

/// The comment above a resource as it is written, from its first `#` on. Without a comment it is empty. That of brackets has the lines that are
/// set apart, or it is behind the opening one.
pub fn above(resource: NodeRef<'_>) -> &str {
    let doc = resource.document();
    let Some(first) = Place::of_first(resource) else {
        let lines = || in_brackets(resource).and_then(|place| lines_above(&place, resource));
        return behind_bracket(resource).or_else(lines).map_or("", |at| &doc.source()[at]);
    };
    let Some(dash) = Place::behind_dash(resource).filter(|_| is_item(resource)) else {
        return comments_above(&first, doc);
    };
    if first.is_inline(doc) {
        return comments_above(&dash, doc);
    }
    comment_behind_dash(resource).unwrap_or_else(|| comments_above(&first, doc))
}

/// The same without the lines that are set apart.
fn directly_above(resource: NodeRef<'_>) -> &str {
    let own = |place| comments_above(&place, resource.document());
    let place = in_brackets(resource).filter(|_| behind_bracket(resource).is_none());
    place.map_or_else(|| above(resource), own)
}

/// The place of a document in brackets.
fn in_brackets(resource: NodeRef<'_>) -> Option<Place> {
    let is_meant = resource.is_root() && resource.style() == Style::Flow;
    is_meant.then(|| Place { lead: resource.full_start(), open: resource.start(), end: resource.end() })
}

/// The lines above a document in brackets, if it begins on a line of its own.
fn lines_above(place: &Place, resource: NodeRef<'_>) -> Option<Range<usize>> {
    let doc = resource.document();
    Some(gap_above(place, doc)?.start..doc.line_start(place.lead))
}

/// The comment behind the opening bracket of a document, if no other one is above the bracket.
fn behind_bracket(resource: NodeRef<'_>) -> Option<Range<usize>> {
    let (doc, place) = (resource.document(), in_brackets(resource)?);
    let above = lines_above(&place, resource).filter(|above| doc.source()[above.clone()].contains('#'));
    let (start, end) = doc.comment_behind(place.open + 1).filter(|_| above.is_none())?;
    Some(start..end)
}

/// The comment that begins on the line of an item's dash, and goes on to the line of its first field. A blank line sets a comment apart.
fn comment_behind_dash<'a>(item: NodeRef<'a>) -> Option<&'a str> {
    let doc = item.document();
    let (first, dash) = (Place::of_first(item)?, Place::behind_dash(item)?);
    let text = without_break(doc.source().get(dash.open..doc.line_start(first.lead))?);
    lines(text).iter().all(|line| trim_start(line).starts_with('#')).then(|| trim(text))
}

/// The edit that gives a resource other comments at the end of its document; `None` if the budget does not allow it.
fn edit_at_end(resource: NodeRef<'_>, comments: &str, budget: &Budget) -> Option<Edit> {
    let (doc, mut range) = (resource.document(), end_of(resource));
    let mut comments = comments;
    // Blank lines that are there are not written a second time.
    while range.is_empty()
        && let Some((_, rest)) = comments.split_once('\n').filter(|(line, _)| is_blank(line))
        && doc.source()[range.end..].starts_with(['\n', '\r'])
    {
        let next = doc.next_line(range.end);
        (range, comments) = (next..next, rest);
    }
    let is_open = !ends_line(&doc.source()[..range.start]);
    let text = if is_open && !comments.is_empty() { format!("\n{comments}") } else { comments.to_owned() };
    edit_of(doc, range, text, budget)
}

/// Comment lines with a line break at their end; none, if there are none.
fn ended(comment: &str) -> String {
    if comment.is_empty() || comment.ends_with('\n') { comment.to_owned() } else { format!("{comment}\n") }
}

fn edit_of(doc: &Document<'_>, range: Range<usize>, text: String, budget: &Budget) -> Option<Edit> {
    let text = text.replace("\r\n", "\n").replace('\n', doc.line_break());
    budget.take(text.len()).then_some(Edit { range, text })
}

/// The edit that gives a resource another comment above it, in the place that it has; `None` if there is no such place, or if the budget does
/// not allow it.
fn edit_above(item: NodeRef<'_>, comment: &str, budget: &Budget) -> Option<Edit> {
    let doc = item.document();
    if let Some(place) = in_brackets(item) {
        let lines = lines_above(&place, item);
        return match behind_bracket(item) {
            // One line stays behind the bracket. More go above it.
            Some(own) if trim(comment).contains('\n') => {
                let (above, bracket) = (lines?, place.open + 1);
                let text = ended(comment) + &doc.source()[above.end..bracket];
                edit_of(doc, above.start..own.end, text, budget)
            }
            Some(own) => edit_of(doc, place.open + 1..own.end, behind(comment), budget),
            None => edit_of(doc, lines?, ended(comment), budget),
        };
    }
    let comments: Vec<&str> = lines(comment).into_iter().map(trim).filter(|line| !is_blank(line)).collect();
    let on_lines =
        |column: usize| -> String { comments.iter().map(|line| format!("{}{line}\n", " ".repeat(column))).collect() };
    let (first, dash) = (Place::of_first(item)?, Place::behind_dash(item)?);
    let (column, outer) = (first.column(doc), dash.column(doc));
    let (range, text) = if first.is_inline(doc) {
        (dash.top(doc)..doc.line_start(dash.lead), on_lines(outer))
    } else if comment_behind_dash(item).is_none() {
        (first.top(doc)..doc.line_start(first.lead), on_lines(column))
    } else if comments.is_empty() {
        (dash.open..first.lead, " ".repeat(column.saturating_sub(outer + 1).max(1)))
    } else {
        (dash.open..first.lead, format!(" {}{}", on_lines(column).trim_start(), " ".repeat(column)))
    };
    edit_of(doc, range, text, budget)
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::Document;
    use krm_yaml::TextEdits;

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
            // TODO: An item in brackets has the comment above it, too. Today it is not merged.
            ("# a\n- {k: 1}\n", ""),
            ("-\n  # a\n  {k: 1}\n", ""),
            ("{ # a\n  k: 1\n}\n", "# a"),
            ("# a\n{ # b\n  k: 1\n}\n", "# a"),
            ("{ k: # a\n  1\n}\n", ""),
        ] {
            let document = Document::parse(text).expect("YAML");
            let found = above(item(&document)).split_whitespace().collect::<Vec<_>>().join(" ");
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
            let edit =
                edit_above(list.elements().next().expect("an item"), comment, &Budget::default()).expect("an edit");
            assert_eq!(TextEdits::sorted(vec![edit]).apply(text, 0..text.len()), want, "{text}");
        }
    }

    /// Dest after the merge of its comments, if each side is one document, and how many of its comments both sides changed.
    fn merged(sides: [&str; 3]) -> (String, usize) {
        let documents = sides.map(|text| Document::parse(text).expect("YAML"));
        let [original, updated, dest] = documents.each_ref().map(|document| document.roots().next());
        let (comments, contested) = OwnComments::of(Sides { original, updated, dest }, Side::Dest);
        let edits = comments.edits(dest.expect("a root"), &Budget::default());
        (TextEdits::sorted(edits).apply(sides[2], 0..sides[2].len()), contested.len())
    }

    #[test]
    fn the_comment_of_a_mark_is_merged() {
        for (original, updated, dest, want) in [
            ("---", "--- # up", "---", "--- # up"),
            ("--- # old", "--- # up", "--- # old", "--- # up"),
            ("--- # old", "---", "--- # old", "---"),
            ("---", "---", "--- # mine", "--- # mine"),
            ("--- # old", "--- # old", "---", "---"),
            ("%YAML 1.2\n---", "--- # up", "%YAML 1.2\n# x\n---", "%YAML 1.2\n# x\n--- # up"),
        ] {
            for (theirs, mine) in [("k: 1\n", "k: 1\nl: 2\n"), ("{\n  k: 1\n}\n", "{\n  k: 1,\n  l: 2\n}\n")] {
                let texts =
                    [(original, theirs), (updated, theirs), (dest, mine)].map(|(mark, map)| format!("{mark}\n{map}"));
                assert_eq!(merged(texts.each_ref().map(String::as_str)), (format!("{want}\n{mine}"), 0), "{texts:?}");
            }
        }
        let both = ["--- # old\nk: 1\n", "--- # up\nk: 1\n", "--- # mine\nk: 1\n"];
        assert_eq!(merged(both), (both[2].to_owned(), 1));
        // Behind a value on the line of the mark there is no place.
        let on_line = ["---\nk: 1\n", "--- # up\nk: 1\n", "--- {k: 1}\n"];
        assert_eq!(merged(on_line), (on_line[2].to_owned(), 0));
    }

    #[test]
    fn a_comment_that_upstream_moved_to_the_end_comes() {
        let fields = "k: 1\n# x\nl: 1\n";
        assert_eq!(merged([fields, "k: 1\n# x\n", fields]), (format!("{fields}# x\n"), 0));
        assert_eq!(
            merged([fields, "# x\nk: 1\n# x\n", fields]),
            (fields.to_owned(), 0),
            "upstream has it in its place, too"
        );
        assert_eq!(merged(["k: 1\n", "k: 1\n# x\n", fields]), (fields.to_owned(), 0), "dest has it elsewhere");
    }

    #[test]
    fn the_comments_below_the_last_field_between_brackets_are_merged() {
        for (original, updated, dest, want, contested) in [
            ("# a", "# b", "# a", "# b", 0),
            ("# a", "", "# a", "", 0),
            ("", "# b", "", "# b", 0),
            ("# a", "# a", "# mine", "# mine", 0),
            ("# a", "# b", "# mine", "# mine", 1),
        ] {
            let map = |foot: &str, fields: &str| {
                let foot = if foot.is_empty() { String::new() } else { format!("  {foot}\n") };
                format!("{{\n{fields}{foot}}}\n")
            };
            let (theirs, mine) = ("  k: 1,\n", "  k: 1,\n  l: 2,\n");
            let texts = [map(original, theirs), map(updated, theirs), map(dest, mine)];
            assert_eq!(merged(texts.each_ref().map(String::as_str)), (map(want, mine), contested), "{texts:?}");
        }
    }

    #[test]
    fn comments_come_below_the_blank_lines_that_dest_has_at_its_end() {
        for (updated, dest, want) in [
            ("k: 1\n\n# x\n", "k: 1\nl: 1\n\n", "k: 1\nl: 1\n\n# x\n"),
            ("k: 1\n\n# x\n", "k: 1\nl: |+\n  y\n\n", "k: 1\nl: |+\n  y\n\n\n# x\n"),
        ] {
            assert_eq!(merged(["k: 1\n", updated, dest]), (want.to_owned(), 0), "{dest:?}");
        }
    }

    #[test]
    fn a_comment_above_a_bracket_is_the_one_behind_it() {
        for (original, updated, dest, want) in [
            ("# a\n{", "# b\n{", "{ # a", "{ # b"),
            ("{ # a", "{ # b", "# a\n{", "# b\n{"),
            ("{ # a", "{ # b", "{ # a", "{ # b"),
            ("{ # a", "{", "{ # a", "{"),
            ("# a\n{", "{", "{ # a", "{"),
            ("{", "{ # b", "{", "# b\n{"),
            ("# a\n{", "{ # a", "# a\n{", "# a\n{"),
            ("# a\n{", "# b\n# c\n{", "{ # a", "# b\n# c\n{"),
            ("# a\n{", "# b\n# c\n{", "---\n\n{ # a", "---\n# b\n# c\n{"),
        ] {
            let texts = [original, updated, dest].map(|head| format!("{head}\n  k: 1\n}}\n"));
            let want = format!("{want}\n  k: 1\n}}\n");
            assert_eq!(merged(texts.each_ref().map(String::as_str)), (want, 0), "{texts:?}");
        }
        let block = ["# a\nk: 1\n", "# b\nk: 1\n", "{ # a\n  k: 1\n}\n"];
        assert_eq!(merged(block), ("{ # b\n  k: 1\n}\n".to_owned(), 0));
    }
}
