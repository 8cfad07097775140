//! A gap between the documents of a text, or before the first document: the place where a missing document is inserted.

use krm_yaml::{NodeRef, extent};

/// A gap between documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The offset in the text.
    pub at: usize,
    mark: Mark,
}

/// The side of the inserted document on which its `---` is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Above it.
    Above,
    /// Below it, because the next document has no `---`.
    Below,
}

impl Gap {
    /// The gap after a document that is not the last one.
    pub fn behind(root: NodeRef<'_>) -> Self {
        Self { at: extent(root).end, mark: Mark::Above }
    }

    /// The gap before the first document of a text, after the margin.
    pub fn before(first: NodeRef<'_>, margin: usize) -> Self {
        let source = first.document().source();
        let bom = if source.starts_with('\u{feff}') { 3 } else { 0 };
        let at = extent(first).start.max(margin).max(bom);
        Self { at, mark: if source[at..].starts_with("---") { Mark::Above } else { Mark::Below } }
    }

    /// The text of an inserted document with its `---`.
    pub fn marked(self, text: &str) -> String {
        match self.mark {
            Mark::Above if text.starts_with("---") => text.to_owned(),
            Mark::Above => format!("---\n{text}"),
            Mark::Below => format!("{text}---\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::Document;

    #[test]
    fn a_document_comes_with_one_mark() {
        let new = |source: &str, margin: usize, is_behind: bool| {
            let document = Document::parse(source).expect("YAML");
            let first = document.roots().next().expect("a root");
            let gap = if is_behind { Gap::behind(first) } else { Gap::before(first, margin) };
            [&source[..gap.at], &gap.marked("n: 1\n"), &source[gap.at..]].concat()
        };
        assert_eq!(new("a: 1\n---\nb: 1\n", 0, true), "a: 1\n---\nn: 1\n---\nb: 1\n");
        assert_eq!(new("a: 1\n---\nb: 1\n", 0, false), "n: 1\n---\na: 1\n---\nb: 1\n");
        assert_eq!(new("# head\n\n---\na: 1\n", 8, false), "# head\n\n---\nn: 1\n---\na: 1\n");
        assert_eq!(new("# head\n\n# of a\na: 1\n", 8, false), "# head\n\nn: 1\n---\n# of a\na: 1\n");
        assert_eq!(new("\u{feff}a: 1\n", 0, false), "\u{feff}n: 1\n---\na: 1\n");
    }
}
