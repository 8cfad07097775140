//! Comments that belong to no field or element: comments around all resources, and comments among the children of a map or list.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use krm_tree::sides::{Side, Sides};
use krm_yaml::{
    Document, Edit, below_header, can_end_with_comments, ends_line, line_end, line_start, lines, next_line,
};

use crate::versions::{ChildrenAt, Here, VersionsAt};

/// The borders between the resources of a text and the comments around all of them.
#[derive(Clone, Copy, Debug)]
pub struct Margins {
    /// The end of the comments at the top that belong to the file.
    pub top: usize,
    /// The start of the comments at the very end.
    pub bottom: usize,
}

impl Margins {
    /// The margins of a text.
    pub fn of(text: &str) -> Self {
        let top = below_header(text);
        let (mut at, mut bottom) = (text.len(), text.len());
        for line in text[top..].split_inclusive('\n').rev() {
            at -= line.len();
            if line.starts_with('#') {
                bottom = at;
            } else if !line.trim().is_empty() {
                break;
            }
        }
        Self { top, bottom }
    }

    /// The range between the margins.
    pub fn body(self) -> Range<usize> {
        self.top..self.bottom
    }
}

/// A comment of theirs that belongs to no child, and that neither ours nor the original has.
#[derive(Clone, Debug)]
pub struct Free<'a> {
    /// Its text.
    text: &'a str,
    /// Whether a blank line follows it.
    is_apart: bool,
    /// The offset in our text at which it is inserted.
    at: usize,
    /// Its column in our text.
    column: usize,
    /// Whether ours also changed the comments there, so that a person must choose.
    pub is_disputed: bool,
}

impl<'a> Free<'a> {
    /// The comments among the children of a map or list that all sides have. Each comment is inserted above the next child that ours has,
    /// or else below the previous child. The merge itself takes those in the lines `taken` of theirs.
    pub fn of(container: &VersionsAt<'a>, children: &ChildrenAt<'_, 'a>, taken: &[Range<usize>]) -> Vec<Self> {
        let (Some(theirs), Some(ours)) = (container.here.updated, container.here.dest) else { return Vec::new() };
        let mut all = Sides::of(|side| container.here[side].map(|here| free(here, side, children)).unwrap_or_default());
        all.updated.retain(|(at, _)| !taken.iter().any(|lines| lines.contains(at)));
        // The merge itself takes what only theirs has at the end of a block.
        let ends = Sides::of(|side| end_of_children(side, children));
        let foot = |side: Side| all[side].iter().filter(move |(at, _)| *at >= ends[side]).map(|(_, text)| *text);
        let has_room = |here: Here<'_>| here.place.is_some_and(|place| can_end_with_comments(&place, here.value));
        if has_room(ours) && has_room(theirs) && foot(Side::Original).eq(foot(Side::Dest)) {
            all.updated.retain(|(at, _)| *at < ends.updated);
        }
        let texts = |side: Side| all[side].iter().map(|comment| comment.1).collect::<Vec<_>>();
        let mut new = fresh(fresh(texts(Side::Updated), texts(Side::Original)), texts(Side::Dest));
        let mut out = Vec::new();
        for &(at, text) in &all.updated {
            let Some(known) = new.iter().position(|new| *new == text) else { continue };
            new.swap_remove(known);
            out.extend(Self::anchored(at, text, theirs, ours, children));
        }
        out
    }

    fn anchored(
        at: usize,
        text: &'a str,
        theirs: Here<'a>,
        ours: Here<'a>,
        children: &ChildrenAt<'_, 'a>,
    ) -> Option<Self> {
        let source = theirs.value.document().source();
        let document = ours.value.document();
        let both = || {
            let both = children.matched.rows.iter().enumerate().filter(|(_, row)| row.on.dest.is_some());
            both.filter_map(|(number, row)| Some((children.matched.place(Side::Updated, row.on.updated?)?, number)))
        };
        let next = both().filter(|(place, _)| place.lead > at).min_by_key(|p| p.0.lead);
        let before = both().filter(|(place, _)| place.lead < at).max_by_key(|p| p.0.lead);
        let (_, number) = next.or(before)?;
        let spot = children.get(number)?;
        let place = spot.here.dest?.place?;
        let top = document.line_start(place.top(document));
        let inline = document.source()[document.line_start(place.lead)..].bytes().take_while(|b| *b == b' ');
        let column = if place.is_inline(document) { inline.count() } else { place.column(document) };
        let below = next_line(source, at);
        let is_alone = source[line_start(source, at)..at].trim().is_empty();
        let is_blank = below < source.len() && source[below..line_end(source, below)].trim().is_empty();
        let is_apart = is_alone && next.is_some() && is_blank;
        let said = |side: Side| spot.here[side].map(said_above).unwrap_or_default();
        let is_disputed = next.is_some() && said(Side::Original) != said(Side::Dest);
        let at = if next.is_some() { top } else { place.bottom(document) };
        Some(Self { text, is_apart, at, column, is_disputed })
    }

    /// The empty range of our text at which the comment is inserted.
    pub fn lines(&self) -> Range<usize> {
        self.at..self.at
    }

    /// The edit that inserts the comment into our text.
    pub fn edit(&self, source: &str, line_break: &str) -> Edit {
        let open = if self.at > 0 && !ends_line(&source[..self.at]) { line_break } else { "" };
        let blank = if self.is_apart { line_break } else { "" };
        let text = format!("{open}{}{}{line_break}{blank}", " ".repeat(self.column), self.text);
        Edit { range: self.at..self.at, text }
    }
}

/// The comments in a map or list that belong to no child, in order: the offset and the text of each.
fn free<'a>(container: Here<'a>, side: Side, children: &ChildrenAt<'_, 'a>) -> Vec<(usize, &'a str)> {
    let mut owned: Vec<Range<usize>> = children.of(side).map(|here| here.lines()).collect();
    owned.sort_by_key(|lines| lines.start);
    let is_owned = |at: usize| {
        let next = owned.partition_point(|lines| lines.start <= at);
        next > 0 && owned[next - 1].contains(&at)
    };
    container.inner().filter(|(at, _)| !is_owned(*at)).collect()
}

/// The offset after the last child of a map or list on a side.
fn end_of_children(side: Side, children: &ChildrenAt<'_, '_>) -> usize {
    children.of(side).map(|here| here.lines().end).max().unwrap_or_default()
}

/// The comment lines above a child, including lines that a blank line separates.
fn said_above(here: Here<'_>) -> Vec<&str> {
    let Some(place) = here.place else { return Vec::new() };
    let source = here.value.document().source();
    let above = lines(&source[..line_start(source, place.lead)]);
    let lines = above.into_iter().rev().map(str::trim);
    lines.take_while(|line| line.is_empty() || line.starts_with('#')).filter(|line| !line.is_empty()).collect()
}

/// The comments of one list that the other list lacks. A comment that occurs twice must occur twice in the other list, too.
pub fn fresh<'a>(comments: Vec<&'a str>, known: Vec<&str>) -> Vec<&'a str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    known.into_iter().for_each(|comment| *counts.entry(comment).or_default() += 1);
    let mut new = comments;
    new.retain(|comment| match counts.get_mut(*comment) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    new
}

/// The comments of a document, each as it ends its line.
fn comments<'d>(document: &'d Document<'_>) -> impl Iterator<Item = &'d str> {
    let source = document.source();
    document.comments_in(0..source.len()).map(|(start, end)| source[start..end].trim_end())
}

/// What may be comments in a text that need not be YAML: the ends of its lines, from each `#`.
fn tails(text: &str) -> impl Iterator<Item = &str> {
    lines(text).into_iter().flat_map(|line| line.match_indices('#').map(move |(at, _)| line[at..].trim_end()))
}

/// Whether a text with markers lacks a comment that a side added and that is not waived. A line that ends with the comment counts as having it.
pub fn is_any_lost(text: &str, documents: Sides<&Document<'_>>, waived: &[&str]) -> bool {
    let shown: HashSet<&str> = tails(text).collect();
    let all = documents.map(|document| comments(document).collect::<HashSet<_>>());
    let is_lost =
        |comment: &&str| !all.original.contains(comment) && !shown.contains(comment) && !waived.contains(comment);
    all.updated.iter().chain(&all.dest).any(is_lost)
}

/// Whether a text without markers lacks a comment that a side added or that no side removed, has one again that a side removed, or has one more
/// often than the changes of both sides make. Nobody would be told. A comment that is waived does not count.
pub fn is_any_astray(text: &str, documents: Sides<&Document<'_>>, waived: &[&str]) -> bool {
    let known = documents.iter().flat_map(|(_, document)| comments(document));
    let known: HashSet<&str> = known.filter(|comment| !waived.contains(comment)).collect();
    let counted = |text| {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        tails(text).filter(|tail| known.contains(tail)).for_each(|comment| *counts.entry(comment).or_default() += 1);
        counts
    };
    let sides = documents.map(|document| counted(document.source()));
    let found = counted(text);
    known.iter().any(|comment| {
        let count = |of: &HashMap<&str, usize>| of.get(comment).copied().unwrap_or_default();
        let Sides { original, updated, dest } = Sides::of(|side| count(&sides[side]));
        let merged = (updated + dest).saturating_sub(original);
        let is_new = updated.max(dest) > original;
        let least = updated.min(dest).min(merged).max(usize::from(is_new));
        !(least..=updated.min(dest).max(merged)).contains(&count(&found))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_split_at_the_comments_around_its_resources() {
        for (text, want) in [
            ("# a\n\n# of x\nx: 1\n", ("# a\n\n", "# of x\nx: 1\n", "")),
            ("# a\n---\nx: 1\n\n# end\n", ("# a\n", "---\nx: 1\n\n", "# end\n")),
            ("# of x\nx: |\n  # no comment\n", ("", "# of x\nx: |\n  # no comment\n", "")),
            ("# only", ("", "", "# only")),
            ("", ("", "", "")),
        ] {
            let Margins { top, bottom } = Margins::of(text);
            assert_eq!((&text[..top], &text[top..bottom], &text[bottom..]), want);
        }
    }

    #[test]
    fn a_comment_comes_on_a_line_of_its_own() {
        for (source, line_break, want) in [
            ("a: 1\n", "\n", "# x\n"),
            ("a: 1\r\n", "\r\n", "# x\r\n"),
            ("a: 1\r", "\r", "# x\r"),
            ("a: 1", "\n", "\n# x\n"),
        ] {
            let free = Free { text: "# x", is_apart: false, at: source.len(), column: 0, is_disputed: false };
            assert_eq!(free.edit(source, line_break).text, want, "{source:?}");
        }
    }

    #[test]
    fn comments_are_new_as_often_as_they_were_not_there() {
        assert_eq!(fresh(vec!["a", "b", "a"], vec!["a", "c"]), ["b", "a"]);
    }

    #[test]
    fn comments_are_counted_on_all_sides() {
        // The sides, the text, and whether a comment is astray.
        for (original, updated, dest, text, want) in [
            ("# x", "# x", "# x", "# x", false),
            // Nobody removed it.
            ("# x", "# x", "# x", "", true),
            // One side removed it.
            ("# x", "", "# x", "", false),
            ("# x", "", "# x", "a: 1 # x", true),
            ("# x", "# x", "", "# x", true),
            // It came, on one side or on both.
            ("", "# x", "", "a: 1 # x", false),
            ("", "# x", "", "", true),
            ("", "# x", "# x", "# x", false),
            ("", "# x", "# x", "# x\n# x", false),
            ("# x", "# x", "# x", "# x\n# x", true),
        ] {
            let documents = [original, updated, dest].map(|text| Document::parse(text).expect("YAML"));
            let [original, updated, dest] = documents.each_ref();
            let sides = Sides { original, updated, dest };
            assert_eq!(is_any_astray(text, sides, &[]), want, "{text:?} of {sides:?}");
            assert!(!is_any_astray(text, sides, &["# x"]), "waived");
        }
    }
}
