//! Where a child of a map or list is in the text, and which comments belong to it.
//!
//! The rule of ownership: a child owns the comment lines directly above it, in its column; the comment on the rest of its line; and the
//! comment lines below it that are indented deeper than it is. A comment set apart by a blank line belongs to no child and stays where it
//! is.

use std::ops::Range;

use crate::blank::{is_blank, trim_end, trim_start};
use crate::block_scalar::{BlockScalar, header_end};
use crate::line::{byte_order_mark, line_break_before, line_end, next_line, split_after_feeds};
use crate::node::{Document, NodeRef, Style};

/// The place of one child of a block or flow container.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The first byte: of the key with its tag and anchor, of the `?` before it, or of the dash.
    pub lead: usize,
    /// The offset after the colon or the dash; in flow lists, the start of the element.
    pub open: usize,
    /// The offset after the last byte of the value; `open` if there is no value.
    pub end: usize,
}

/// What is above a child and its comments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Above {
    /// A blank line, or a comment that does not belong to the child.
    Gap,
    /// Another line, or none.
    Content,
}

impl Place {
    /// The place of a map's entry.
    pub fn of_entry(key: NodeRef<'_>, value: NodeRef<'_>) -> Self {
        let doc = key.document();
        let bytes = doc.source().as_bytes();
        let mut lead = key.full_start();
        if doc.may_have_questions {
            let before = skip_back(doc, lead);
            if before > 0 && bytes[before - 1] == b'?' && !key.follows_content(before - 1) {
                lead = before - 1;
            }
        }
        let colon = super::parse::skip(bytes, key.end(), b"");
        // After `? key` without a value comes another key, which may begin with a colon.
        let open = if colon < value.full_start() { colon + 1 } else { key.end() };
        Self { lead, open, end: value.end().max(open) }
    }

    /// The place of the entry that a key and a value make; `None` if they are of different entries.
    pub fn of_pair(key: NodeRef<'_>, value: NodeRef<'_>) -> Option<Self> {
        key.is_key_of(value).then(|| Self::of_entry(key, value))
    }

    /// The place of a list's element.
    pub fn of_element(list: NodeRef<'_>, element: NodeRef<'_>) -> Self {
        let start = element.full_start();
        if list.resolve().style() == Style::Flow {
            return Self { lead: start, open: start, end: element.end() };
        }
        Self::behind_dash(element).unwrap_or(Self { lead: start, open: start, end: element.end() })
    }

    /// The place of a node after a dash; `None` if there is no dash before it.
    pub fn behind_dash(element: NodeRef<'_>) -> Option<Self> {
        let doc = element.document();
        let before = &doc.source()[..skip_back(doc, element.full_start())];
        let dash = before.strip_suffix('-').filter(|b| !b.ends_with("--"))?.len();
        Some(Self { lead: dash, open: dash + 1, end: element.end().max(dash + 1) })
    }

    /// The place of an element of any list, after its dash or between its commas; `None` for a root.
    pub fn of_any_element(element: NodeRef<'_>) -> Option<Self> {
        let (doc, start) = (element.document(), element.full_start());
        let is_in_brackets = || doc.source()[..skip_back(doc, start)].ends_with(['[', ',']);
        let in_brackets = || is_in_brackets().then(|| Self { lead: start, open: start, end: element.end() });
        Self::behind_dash(element).or_else(in_brackets)
    }

    /// The places of all children of a container in the text, in order.
    pub fn of_children(container: NodeRef<'_>) -> Vec<Self> {
        container.written().map(|child| Self::of_child(container, child)).collect()
    }

    /// The place of a child of a container, which has a key if the container is a map.
    pub fn of_child(container: NodeRef<'_>, (key, value): (Option<NodeRef<'_>>, NodeRef<'_>)) -> Self {
        key.map_or_else(|| Self::of_element(container, value), |key| Self::of_entry(key, value))
    }

    /// The place of the first child of a block.
    pub fn of_first(block: NodeRef<'_>) -> Option<Self> {
        let first = block.written().next().filter(|_| block.style() == Style::Block)?;
        Some(Self::of_child(block, first))
    }

    /// The column of the child, from 0, in bytes.
    pub fn column(&self, doc: &Document<'_>) -> usize {
        self.lead - doc.line_start(self.lead)
    }

    /// Whether the child begins on a line of another token, as the first entry after a dash does.
    pub fn is_inline(&self, doc: &Document<'_>) -> bool {
        self.own_line(doc).is_none()
    }

    /// The start of the line on which the child begins, if nothing is before it there.
    fn own_line(&self, doc: &Document<'_>) -> Option<usize> {
        let text = doc.source();
        let before = &text.as_bytes()[..self.lead];
        let line = self.lead - before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let is_start = match before[..line].last() {
            None | Some(b'\n' | b'\r') => true,
            // A byte order mark is before the first line.
            Some(_) => line == byte_order_mark(text),
        };
        is_start.then_some(line)
    }

    /// The comma after a child of a flow map or list, if it is on the line on which the child ends.
    pub fn comma(&self, doc: &Document<'_>) -> Option<usize> {
        let rest = &doc.source().as_bytes()[self.end..];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        (rest.get(blanks) == Some(&b',')).then_some(self.end + blanks)
    }

    /// The comma that ends the lines of a child in brackets. It may be on a line of its own, below comments.
    pub fn last_comma(&self, doc: &Document<'_>) -> Option<usize> {
        let (text, mut at) = (doc.source(), self.end);
        loop {
            let rest = &text.as_bytes()[at..];
            at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
            match text.as_bytes().get(at) {
                Some(b'#') => at = line_end(text, at),
                Some(b',') => break,
                _ => return None,
            }
        }
        let is_alone = || is_blank(&text[at + 1..line_end(text, at)]) || doc.comment_behind(at + 1).is_some();
        (self.comma(doc) == Some(at) || is_alone()).then_some(at)
    }

    /// The lines of a child, with the comments that belong to it; `None` if the child begins on a line of another token. Lines above
    /// `floor` belong to other nodes.
    pub fn lines(&self, doc: &Document<'_>, floor: usize) -> Option<Range<usize>> {
        let line = self.own_line(doc)?;
        Some(self.comments_from(doc, floor, line)..self.bottom(doc))
    }

    /// The start of the line on which the child begins, or of the first comment line that belongs to it.
    pub fn top(&self, doc: &Document<'_>) -> usize {
        self.own_line(doc).map_or(self.lead, |line| self.comments_from(doc, 0, line))
    }

    /// The start of the first comment line that belongs to a child, at `floor` or after it. The child begins on a line of its own.
    fn comments_from(&self, doc: &Document<'_>, floor: usize, own_line: usize) -> usize {
        self.own_comments(doc, floor, own_line).0
    }

    /// The same, and what is above it.
    fn own_comments(&self, doc: &Document<'_>, floor: usize, own_line: usize) -> (usize, Above) {
        let column = self.lead - own_line;
        let mut top = own_line;
        while top > floor {
            let line = doc.line_start(line_break_before(doc.source(), top));
            match own_line_comment(doc, line) {
                Some(at) if at - line == column => top = line,
                None if !is_blank(&doc.source()[line..top]) => break,
                _ => return (top, Above::Gap),
            }
        }
        (top, Above::Content)
    }

    /// The offset after the last line of the child, and after the comment lines below it that belong to it.
    pub fn bottom(&self, doc: &Document<'_>) -> usize {
        below(doc, self.last_comma(doc).unwrap_or(self.end), self.column(doc))
    }
}

/// The lines of the document whose root is this node. They begin at its `---` and the directives above that, or after the `...` of the
/// document before it. They end at the next `---` or `...`.
pub fn extent(root: NodeRef<'_>) -> Range<usize> {
    let doc = root.document();
    let text = doc.source();
    let said = |line: usize| text[line..line_end(text, line)].trim_start_matches('\u{feff}');
    let is = |line: usize, mark: &str| {
        said(line).strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    };
    // The byte order mark belongs to the first document.
    let line_start = |at: usize| Some(doc.line_start(at)).filter(|start| *start > byte_order_mark(text)).unwrap_or(0);
    let above = |line: usize| line_start(line_break_before(text, line));
    let mut start = line_start(root.full_start());
    while start > 0 && !is(start, "---") && !is(above(start), "...") {
        start = above(start);
    }
    let mut line = if is(start, "---") { start } else { 0 };
    while line > 0 {
        line = above(line);
        match trim_start(said(line)).chars().next() {
            Some('%') => start = line,
            // Comments may be between directives, and between directives and the `---`.
            Some('#') | None => {}
            Some(_) => break,
        }
    }
    let mut end = doc.next_line(root.end());
    while end < text.len() && !is(end, "---") && !is(end, "...") {
        end = next_line(text, end);
    }
    start..end
}

/// The offset after the line that holds `end`, and after the comment lines below it that are indented deeper than `column`.
pub fn below(doc: &Document<'_>, end: usize, column: usize) -> usize {
    end_of_comments(doc, doc.next_line(end), |other| other > column)
}

/// The offset after the comment lines at the end of a document, below everything else.
pub fn below_all(root: NodeRef<'_>) -> usize {
    let doc = root.document();
    end_of_comments(doc, doc.next_line(root.end()), |_| true)
}

/// The offset after the comment lines in these columns, from a line on; this line, if there are none.
fn end_of_comments(doc: &Document<'_>, mut line: usize, is_meant: impl Fn(usize) -> bool) -> usize {
    let text = doc.source();
    let mut bottom = line;
    while line < text.len() {
        let at = line + text.as_bytes()[line..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        match text.as_bytes().get(at) {
            Some(b'#') if is_meant(at - line) && doc.is_comment(at) => {
                line = next_line(text, line);
                bottom = line;
            }
            Some(byte) if byte.is_ascii_graphic() => break,
            _ if is_blank(&text[line..line_end(text, line)]) => line = next_line(text, line),
            _ => break,
        }
    }
    bottom
}

/// The comment on the line of a child: after its scalar, its flow brackets or the header of its block scalar, or after the key or dash
/// whose block begins on the next line. `None` for a block that begins on the line itself.
pub fn comment_of(place: &Place, value: NodeRef<'_>) -> Option<(usize, usize)> {
    let doc = value.document();
    doc.comment_behind(comment_place(place, value)?)
}

/// Whether each child of a flow map or list has lines of its own, with its comma, and its brackets have theirs, as KYAML and indented JSON
/// are written. Such a child has comments as a child of a block has.
pub fn is_in_rows(container: NodeRef<'_>) -> bool {
    let (text, doc) = (container.text(), container.document());
    let is_bracketed = container.style() == Style::Flow && text.starts_with(['{', '[']);
    if !is_bracketed || !text.contains('\n') {
        return false;
    }
    let source = doc.source();
    let places = Place::of_children(container);
    let ends = |place: &Place, at: usize| {
        let end = line_end(source, at);
        let is_last = places.last().is_some_and(|last| last.lead == place.lead);
        (is_last || at > place.end) && (doc.comment_behind(at).is_some() || is_blank(&source[at..end]))
    };
    let column = places.first().map(|first| first.column(doc));
    let close = container.end() - 1;
    is_blank(&source[doc.line_start(close)..close])
        && places.iter().all(|place| {
            let end = place.last_comma(doc).map_or(place.end, |comma| comma + 1);
            Some(place.column(doc)) == column && !place.is_inline(doc) && ends(place, end)
        })
}

/// The comment lines above a child that belong to it, as written; empty if there are none.
pub fn comments_above<'a>(place: &Place, doc: &'a Document<'_>) -> &'a str {
    place.own_line(doc).map_or("", |line| &doc.source()[place.comments_from(doc, 0, line)..line])
}

/// Whether a map is an element of a block list, and has lines of its own.
pub fn is_item(map: NodeRef<'_>) -> bool {
    let is_on_own_lines = |dash: Place| !dash.is_inline(map.document());
    !map.is_root() && Place::of_first(map).is_some() && Place::behind_dash(map).is_some_and(is_on_own_lines)
}

/// The lines above a child that belong to no child: blank lines, and comments that a blank line sets apart. They come before the comments
/// that belong to it, after those that belong to the child before it, and after the blank lines that a block scalar above takes. `None` if
/// the child begins on a line of another token.
pub fn gap_above(place: &Place, doc: &Document<'_>) -> Option<Range<usize>> {
    let line = place.own_line(doc)?;
    let (top, above) = place.own_comments(doc, 0, line);
    if above == Above::Content {
        return Some(top..top);
    }
    let mut from = gap_from(doc, 0, top);
    if let Some((block, end)) = BlockScalar::above(doc, top) {
        from = from.max(block.below(doc.source(), doc.next_line(end)).min(top));
    }
    // Deeper comments belong to the child above. At the top of a document, no child is above.
    let before = doc.line_start(line_break_before(doc.source(), from));
    if !holds_no_value(&doc.source()[before..from]) {
        from = end_of_comments(doc, from, |column| column > place.lead - line).min(top);
    }
    Some(from..top)
}

/// Whether a text, which ends with a line break, has nothing but blank lines, comments, and `---`.
pub fn holds_no_value(text: &str) -> bool {
    let is_none = |line: &str| is_blank(line) || trim_start(line).starts_with('#') || trim_end(line) == "---";
    split_after_feeds(&text[byte_order_mark(text)..]).all(is_none)
}

/// The start of the first of the blank lines and comment lines directly above a line, at `floor` or after it.
pub fn gap_from(doc: &Document<'_>, floor: usize, line: usize) -> usize {
    let mut top = line;
    while top > floor {
        let line = doc.line_start(line_break_before(doc.source(), top));
        if line < floor || !(is_blank(&doc.source()[line..top]) || own_line_comment(doc, line).is_some()) {
            break;
        }
        top = line;
    }
    top
}

/// The comment lines at the end of a block that belong to none of its children, as written; empty if there are none, or if the value is no
/// block.
pub fn comments_below<'a>(place: &Place, value: NodeRef<'a>) -> &'a str {
    &value.document().source()[foot(place, value)]
}

/// The comment lines below the last child of a block, in its column or deeper, and the blank lines among them.
pub fn comments_at_end<'a>(block: NodeRef<'a>) -> &'a str {
    let (doc, last) = (block.document(), block.written().last().filter(|_| block.style() == Style::Block));
    let Some(place) = last.map(|last| Place::of_child(block, last)) else { return "" };
    let (start, column) = (doc.next_line(place.end), place.column(doc));
    &doc.source()[start..end_of_comments(doc, start, |other| other >= column)]
}

/// Whether comments can be at the end of a child's value, and belong to the child. In a list whose dashes are in the column of its key, they
/// belong to the last element or to what comes next.
pub fn can_end_with_comments(place: &Place, value: NodeRef<'_>) -> bool {
    let doc = value.document();
    is_in_rows(value) || Place::of_first(value).is_some_and(|first| first.column(doc) > place.column(doc))
}

/// The lines of [`comments_below`], or the place where they would be.
pub fn foot(place: &Place, value: NodeRef<'_>) -> Range<usize> {
    let doc = value.document();
    if value.style() == Style::Flow {
        let last = value.written().last().map(|last| Place::of_child(value, last));
        let from = last.map_or(value.end(), |last| last.bottom(doc));
        let to = if from < value.end() { end_of_comments(doc, from, |_| true) } else { from };
        return from..to;
    }
    let bottom = place.bottom(doc);
    // Mostly no comment is below a value.
    let has_comments = bottom > doc.next_line(place.end);
    let last = if has_comments && value.style() == Style::Block { value.written().last() } else { None };
    last.map_or(bottom, |last| Place::of_child(value, last).bottom(doc).min(bottom))..bottom
}

/// Whether two comments, or pieces of comment lines, have the same words: indentation and line breaks do not count.
pub fn same_comment(a: &str, b: &str) -> bool {
    a == b || a.lines().map(str::trim).eq(b.lines().map(str::trim))
}

/// Whether two comments have the same words: same as [`same_comment`], and blank lines do not count either.
pub fn same_words(a: &str, b: &str) -> bool {
    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.lines().map(str::trim).filter(|line| !line.is_empty())
    }
    words(a).eq(words(b))
}

/// The text of [`comment_of`].
pub fn comment_text<'a>(place: &Place, value: NodeRef<'a>) -> Option<&'a str> {
    let (start, end) = comment_of(place, value)?;
    Some(&value.document().source()[start..end])
}

/// The offset at which the comment of a child is, or would be: after the content of its first line, or after the comma behind it. `None` for
/// a block that begins on that line.
pub fn comment_place(place: &Place, value: NodeRef<'_>) -> Option<usize> {
    let text = value.document().source();
    match value.style() {
        Style::Literal | Style::Folded => Some(header_end(text, value.start())),
        Style::Block => {
            let props = &text[place.open..value.start()];
            if !props.contains(['\n', '\r']) {
                return None;
            }
            // After the colon there may be an anchor or a tag, and only then the comment.
            let full = value.full_start();
            if !text[place.open..full].contains(['\n', '\r']) {
                let line = line_end(text, full);
                let stop = value.document().comments_in(full..line).next().map_or(line, |c| c.0);
                return Some(full + trim_end(&text[full..stop]).len());
            }
            Some(place.open)
        }
        _ => Some(place.comma(value.document()).map_or(place.end, |comma| comma + 1)),
    }
}

/// The offset after the opening bracket of a map or list whose children have lines of their own: a comment may be there.
pub fn opening_place(container: NodeRef<'_>) -> Option<usize> {
    is_in_rows(container).then(|| container.start() + 1)
}

/// The end of the token before `at`: goes back over blanks, line breaks and comments.
fn skip_back(doc: &Document<'_>, mut at: usize) -> usize {
    let bytes = doc.source().as_bytes();
    loop {
        let blank = bytes[..at].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        let line_breaks = &bytes[at - blank..at];
        at -= blank;
        // A comment runs to the end of its line, so no comment is before `at` if there is no line break.
        if at > 0 && !line_breaks.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            return at;
        }
        match doc.comment_before(at) {
            Some(start) => at = start,
            None => return at,
        }
    }
}

/// The offset of the comment in a line without anything else; `None` for any other line.
pub fn own_line_comment(doc: &Document<'_>, line: usize) -> Option<usize> {
    let text = &doc.source()[line..];
    let at = line + text.bytes().take_while(|b| *b == b' ' || *b == b'\t').count();
    (text.as_bytes().get(at - line) == Some(&b'#') && doc.is_comment(at)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text from the top to the bottom of each child of the value of `k`.
    fn extents(text: &str) -> Vec<String> {
        let doc = Document::parse(text).expect("valid");
        let value = doc.roots().next().and_then(|r| r.get("k")).expect("k");
        Place::of_children(value).iter().map(|p| text[p.top(&doc)..p.bottom(&doc)].to_owned()).collect()
    }

    #[test]
    fn comments_belong_to_the_child_that_they_stand_by() {
        assert_eq!(
            extents(
                "k:\n  # free\n\n  # head\n  # two\n  a: 1 # behind\n\n  # odd\n # odder\n  b:\n    c: 1\n\n    # foot\n  # head of d\n  d: 2\n# next\n"
            ),
            ["  # head\n  # two\n  a: 1 # behind\n", "  b:\n    c: 1\n\n    # foot\n", "  # head of d\n  d: 2\n"]
        );
        assert_eq!(
            extents("k:\n# head\n- a: 1\n  # foot\n# two\n- b # c\n"),
            ["# head\n- a: 1\n  # foot\n", "# two\n- b # c\n"]
        );
        assert_eq!(extents("k: |\n  # text\nl: 1\n").len(), 0);
    }

    #[test]
    fn a_text_of_comments_holds_no_value() {
        for (text, holds_none) in [
            ("", true),
            ("\u{feff}# a\n\n--- \n# b\n", true),
            ("# a\n \t\n# b\n", true),
            ("  # a\n---\n", true),
            ("# a\nb: 1\n", false),
            (" # a\n--- b\n", false),
        ] {
            assert_eq!(holds_no_value(text), holds_none, "{text:?}");
        }
    }

    #[test]
    fn a_child_in_brackets_reaches_to_its_comma() {
        assert_eq!(
            extents("k: {\n  a: 1\n  # c\n  ,\n  b: 2 # d\n\n  , # e\n  # f\n  c: 3\n  }\n"),
            ["  a: 1\n  # c\n  ,\n", "  b: 2 # d\n\n  , # e\n", "  # f\n  c: 3\n"]
        );
        // With another child on its line, the comma is not a part of the lines of the one before it.
        assert_eq!(extents("k: {\n  a: 1 # c\n  , b: 2\n  }\n"), ["  a: 1 # c\n", "b: 2\n"]);
    }

    #[test]
    fn a_line_of_a_block_scalar_is_no_comment() {
        assert_eq!(extents("k:\n  s: |\n    x\n    # text\n  a: 1\n"), ["  s: |\n    x\n    # text\n", "  a: 1\n"]);
        assert_eq!(extents("k:\n  s: |\n   x\n  # head\n  a: 1\n"), ["  s: |\n   x\n", "  # head\n  a: 1\n"]);
    }

    #[test]
    fn the_comment_of_a_child_is_found_behind_its_line() {
        for (text, want) in [
            ("k: {v: 1}\n", None),
            ("k:\n  v: 1 # c\n", Some("# c")),
            ("k:\n  v: # c\n    a: 1 # d\n", Some("# c")),
            ("k:\n  v: &x !!map # c\n    a: 1 # d\n", Some("# c")),
            ("k:\n  v: |- # c\n    a\n", Some("# c")),
            ("k:\n  v: # c\n", Some("# c")),
            ("k:\n  v: [1,\n   2] # c\n", Some("# c")),
            ("k:\n  v:\n    # not behind\n    a: 1\n", None),
            ("k:\n  v: 1\n  # not behind\n", None),
        ] {
            let doc = Document::parse(text).expect("valid");
            let map = doc.roots().next().and_then(|r| r.get("k")).expect("k");
            let (key, value) = map.entries().next().expect("entry");
            assert_eq!(comment_text(&Place::of_entry(key, value), value), want, "{text}");
        }
    }

    #[test]
    fn a_document_reaches_from_mark_to_mark() {
        let extents = |text: &str| {
            let doc = Document::parse(text).expect("valid");
            doc.roots().map(|r| text[extent(r)].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(extents("# a\n\na: 1\n# b\n"), ["# a\n\na: 1\n# b\n"]);
        assert_eq!(extents("# free\n---\na: 1\n---\n\n# b\nb: 2\n"), ["---\na: 1\n", "---\n\n# b\nb: 2\n"]);
        assert_eq!(
            extents("a: 1\n---\n# none\n---\n--- {b: 2}\n"),
            ["a: 1\n", "---\n# none\n", "---\n", "--- {b: 2}\n"]
        );
        assert_eq!(extents("a: 1\r\n...\r\nb: |+\r\n  x\r\n\r\n"), ["a: 1\r\n", "b: |+\r\n  x\r\n\r\n"]);
        assert_eq!(
            extents("\u{feff}---\na: 1\n...\n%YAML 1.2\n---\n---a: 1"),
            ["\u{feff}---\na: 1\n", "%YAML 1.2\n---\n---a: 1"]
        );
        assert_eq!(extents("\u{feff}%YAML 1.2\n---\na: 1\n"), ["\u{feff}%YAML 1.2\n---\na: 1\n"]);
    }

    #[test]
    fn dashes_and_question_marks_are_part_of_a_child() {
        let leads = |text: &str| {
            let doc = Document::parse(text).expect("valid");
            let root = doc.roots().next().expect("root");
            Place::of_children(root).iter().map(|p| (p.lead, p.open)).collect::<Vec<_>>()
        };
        assert_eq!(leads("- a\n-\n- # c\n  x: 1\n- - b\n"), [(0, 1), (4, 5), (6, 7), (19, 20)]);
        // Blanks at the end of a comment are part of it.
        assert_eq!(leads("- # c - \n  a\n-   # d  \n\n  x: 1\n"), [(0, 1), (13, 14)]);
        assert_eq!(leads("? # c \n  a\n: b\n"), [(0, 12)]);
        assert_eq!(leads("? a\n: b\nc : d\n"), [(0, 5), (8, 11)]);
        assert_eq!(leads("[a, {b: c}]"), [(1, 1), (4, 4)]);
        // A question mark at the end of a text or a tag is a part of it.
        assert_eq!(leads("? a\n: b?\nc: d ?\ne: f\n"), [(0, 5), (9, 11), (16, 18)]);
        assert_eq!(leads("? a\n: b - ?\n? c\n"), [(0, 5), (12, 15)]);
        let doc = Document::parse("? a\n: !z?\n  b: c\n").expect("valid");
        let map = doc.roots().next().and_then(|r| r.get("a")).expect("a");
        assert_eq!(Place::of_children(map)[0].lead, 12);
    }
}
