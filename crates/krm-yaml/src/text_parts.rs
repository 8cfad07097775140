//! [`TextParts`]: a text as its header and its documents, so that each byte belongs to one of them.
//!
//! Who composes a text asks here where a document begins and ends. Nobody counts bytes beside it: the `---`, the `...`, and the comments around
//! them have rules that are easy to get nearly right.

use std::ops::Range;

use crate::blank::trim_end;
use crate::line::{byte_order_mark, line_start, next_line};
use crate::node::{Document, NodeRef};
use crate::place::extent;

/// The parts of a text: its header, and then the mark, the body and the end of each document.
#[derive(Clone, Debug)]
pub struct TextParts<'d> {
    /// The byte order mark, and the lines above the first `---`. They belong to the text as a whole.
    pub header: Range<usize>,
    /// The documents, in order.
    pub documents: Vec<DocumentParts<'d>>,
}

/// The parts of a document.
#[derive(Clone, Debug)]
pub struct DocumentParts<'d> {
    /// Its root.
    pub root: NodeRef<'d>,
    /// Its directives, and the line of its `---` with a comment on that line. It is empty for a first document without a `---`, and for one
    /// below `...`. A `---` that has a value on its line is in the body.
    pub mark: Range<usize>,
    /// Its lines, with all comments above and below its value.
    pub body: Range<usize>,
    /// Its `...`, and what is between that and the next document.
    pub end: Range<usize>,
}

impl<'d> TextParts<'d> {
    /// The parts of a text.
    pub fn of(document: &'d Document<'_>) -> Self {
        let text = document.source();
        let mut documents: Vec<DocumentParts<'d>> = document.roots().map(DocumentParts::of).collect();
        let start = |at: usize| documents.get(at).map_or(text.len(), |own| own.mark.start);
        let starts: Vec<usize> = (0..=documents.len()).map(start).collect();
        documents.iter_mut().zip(&starts[1..]).for_each(|(own, next)| own.end.end = *next);
        Self { header: 0..starts[0], documents }
    }

    /// Whether the first document has a `---`.
    pub fn is_marked(&self, text: &str) -> bool {
        self.documents.first().is_some_and(|first| !first.mark.is_empty() || first.has_mark_in_body(text))
    }
}

impl<'d> DocumentParts<'d> {
    /// The parts of the document with this root. Its `...` is unknown here.
    pub fn of(root: NodeRef<'d>) -> Self {
        let (text, lines) = (root.document().source(), extent(root));
        let top = lines.start.max(byte_order_mark(text));
        let body = top + mark_of(root.document(), &text[top..lines.end], top);
        Self { root, mark: top..body, body: body..lines.end, end: lines.end..lines.end }
    }

    /// The comments at its top that a blank line sets apart, with the blank lines.
    pub fn apart(&self, text: &str) -> Range<usize> {
        self.body.start..self.body.start + below_header(&text[self.body.clone()])
    }

    /// Whether its `---` is in its body, because it has a value on its line.
    pub fn has_mark_in_body(&self, text: &str) -> bool {
        self.mark.is_empty() && is_mark(&text[self.body.clone()])
    }

    /// Whether its mark is a `---` and nothing else.
    pub fn has_bare_mark(&self, text: &str) -> bool {
        text[self.mark.clone()].trim_end() == "---"
    }

    /// Whether it has neither a value nor a comment.
    pub fn is_empty(&self, text: &str) -> bool {
        self.has_bare_mark(text) && self.root.is_absent() && text[self.body.clone()].trim().is_empty()
    }

    /// The offset after its `---`; `None` if it has none, or a value on that line.
    pub fn behind_mark(&self, text: &str) -> Option<usize> {
        let mark = text[self.mark.clone()].trim_end();
        let line = line_start(mark, mark.len());
        mark[line..].starts_with("---").then_some(self.mark.start + line + "---".len())
    }

    /// The comment on the line of its `---`; empty if there is none.
    pub fn comment_at_mark<'t>(&self, text: &'t str) -> &'t str {
        self.behind_mark(text).map_or("", |from| text[from..self.mark.end].trim())
    }

    /// Whether it has directives, which need the `...` of the document before it.
    pub fn has_directives(&self, text: &str) -> bool {
        text[self.mark.clone()].starts_with('%')
    }
}

/// The offset after the comments at the top of a text that belong to the text as a whole; 0 if there are none. A blank line or a `---`
/// separates them from the first resource.
pub fn below_header(text: &str) -> usize {
    let (mut at, mut below) = (0, 0);
    while at < text.len() {
        let next = next_line(text, at);
        match trim_end(text[at..next].trim_start_matches('\u{feff}')) {
            "" => below = next,
            "---" => below = at,
            line if line.starts_with('#') => {}
            _ => break,
        }
        at = next;
    }
    below
}

/// The length of the mark of a document, whose lines these are from an offset on.
fn mark_of(document: &Document<'_>, lines: &str, from: usize) -> usize {
    let mut at = 0;
    while at < lines.len() {
        if is_mark(&lines[at..]) {
            let next = next_line(lines, at);
            let (dashes, rest) = (at + "---".len(), &lines[at + "---".len()..next]);
            let is_alone = rest.trim().is_empty() || document.comment_behind(from + dashes).is_some();
            return if is_alone { next } else { at };
        }
        // Only a document with directives has lines above its `---`.
        if !lines.starts_with('%') {
            return 0;
        }
        at = next_line(lines, at);
    }
    0
}

/// Whether a text begins with a `---`.
fn is_mark(text: &str) -> bool {
    text.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_belongs_to_one_part() {
        for (text, header, documents) in [
            ("a: 1\n", "", &[["", "a: 1\n", ""]][..]),
            ("# l\n\na: 1\n# foot\n", "", &[["", "# l\n\na: 1\n# foot\n", ""]]),
            ("# l\n---\na: 1\n", "# l\n", &[["---\n", "a: 1\n", ""]]),
            ("\u{feff}--- # m\r\na: 1\r\n", "\u{feff}", &[["--- # m\r\n", "a: 1\r\n", ""]]),
            ("# l\n%YAML 1.2\n# d\n---\na: 1\n", "# l\n", &[["%YAML 1.2\n# d\n---\n", "a: 1\n", ""]]),
            ("--- {a: 1}\n--- !t\nb: 1\n", "", &[["", "--- {a: 1}\n", ""], ["", "--- !t\nb: 1\n", ""]]),
            ("a: 1\n...\nb: 1", "", &[["", "a: 1\n", "...\n"], ["", "b: 1", ""]]),
            (
                "a: 1\n...\n# x\n---\n# n\n---\nb: 1\n...\n# y\n",
                "",
                &[["", "a: 1\n", "...\n# x\n"], ["---\n", "# n\n", ""], ["---\n", "b: 1\n", "...\n# y\n"]],
            ),
            ("a: 1\n---", "", &[["", "a: 1\n", ""], ["---", "", ""]]),
            ("---\t# m\na: 1\n", "", &[["---\t# m\n", "a: 1\n", ""]]),
            ("a: |\n  ---\n---a: 1\n", "", &[["", "a: |\n  ---\n---a: 1\n", ""]]),
            ("# only\n", "# only\n", &[]),
        ] {
            let document = Document::parse(text).expect("valid");
            let parts = TextParts::of(&document);
            assert_eq!(&text[parts.header.clone()], header, "{text:?}");
            let found =
                parts.documents.iter().map(|own| [&own.mark, &own.body, &own.end].map(|part| &text[part.clone()]));
            assert_eq!(found.collect::<Vec<_>>(), documents, "{text:?}");
            let all = parts.documents.iter().flat_map(|own| [&own.mark, &own.body, &own.end]);
            let ends = all.fold(parts.header.end, |end, part| if part.start == end { part.end } else { usize::MAX });
            assert_eq!(ends, text.len(), "{text:?}");
        }
    }

    #[test]
    fn a_header_ends_at_a_blank_line_or_a_mark() {
        for (text, header) in
            [("# l\n---\na: 1\n", "# l\n"), ("\u{feff}# l\n\n# a\na: 1\n", "\u{feff}# l\n\n"), ("# a\na: 1\n", "")]
        {
            assert_eq!(&text[..below_header(text)], header, "{text:?}");
        }
    }

    #[test]
    fn a_document_with_a_comment_at_its_mark_is_not_empty() {
        let text = "a: 1\n---\n--- # m\n---\n# b\n";
        let document = Document::parse(text).expect("valid");
        let parts = TextParts::of(&document).documents;
        assert_eq!(parts.iter().map(|own| own.is_empty(text)).collect::<Vec<_>>(), [false, true, false, false]);
    }
}
