//! The lines in which a scalar is written, without their indentation.
//!
//! Many people wrap a long text by hand, as a folded, plain or quoted scalar. Its value then has few line breaks or none, but people and git
//! see the lines. Without the indentation they are the same at every place.

use crate::blank::is_blank;
use crate::block_scalar::BlockScalar;
use crate::line::lines;
use crate::node::{Kind, NodeRef};

/// The lines in which a scalar is written.
#[derive(Debug)]
pub struct SourceLines {
    /// How deep the lines below the first one are indented, from the first column.
    pub indent: usize,
    /// The lines without this indentation, each with a `\n`. The first one is the header of a block scalar, or what comes after the key or
    /// dash.
    pub text: String,
}

/// Whether a node is a scalar that is written over several lines.
pub fn has_source_lines(node: NodeRef<'_>) -> bool {
    node.kind() == Kind::Scalar && node.text().contains(['\n', '\r'])
}

impl SourceLines {
    /// The lines of a scalar; `None` if it is written on one line.
    pub fn of(node: NodeRef<'_>) -> Option<Self> {
        let all = if has_source_lines(node) { lines(node.text()) } else { return None };
        let (first, below) = all.split_first()?;
        let block = BlockScalar::of(node);
        let depth = |line: &&str| line.bytes().take_while(|byte| *byte == b' ').count();
        let contents = below.iter().copied().filter(|line| !is_blank(line));
        let indent = block.as_ref().map_or_else(|| contents.map(|line| depth(&line)).min(), |block| Some(block.indent));
        let indent = indent.unwrap_or_default();
        let mut text = block.as_ref().map_or_else(|| (*first).to_owned(), |_| header(node)) + "\n";
        for line in below {
            // Only in a block scalar do blanks on a line of their own mean something.
            if block.is_some() || !is_blank(line) {
                text.push_str(&line[indent.min(depth(line))..]);
            }
            text.push('\n');
        }
        Some(Self { indent, text })
    }
}

/// The header that a block scalar has everywhere: without a number, without a `+` that keeps no line, and with a `-` if its value ends without
/// a line break, which may be so because the source does.
fn header(block: NodeRef<'_>) -> String {
    let chomping = match block.string() {
        value if value.ends_with("\n\n") => "+",
        value if value.ends_with('\n') => "",
        _ => "-",
    };
    format!("{}{chomping}", &block.text()[..1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    #[test]
    fn lines_are_the_same_in_every_layout() {
        for (text, want) in [
            ("k: a\n  b\n", Some((2, "a\nb\n"))),
            ("k:\n    a\n    b\n", Some((4, "a\nb\n"))),
            ("k: 'a\n\n    b\n      c'\n", Some((4, "'a\n\nb\n  c'\n"))),
            ("k: \"a \\\r\n  \\ b\"\r\n", Some((2, "\"a \\\n\\ b\"\n"))),
            ("k: >3- # why\n     a\n   b\n", Some((3, ">-\n  a\nb\n"))),
            ("k: >\n  a\n\n  b\n\n", Some((2, ">\na\n\nb\n"))),
            ("k: >+\n  a\n\n", Some((2, ">+\na\n\n"))),
            ("k: >+\n  a\n  b\n", Some((2, ">\na\nb\n"))),
            ("k: >\n  a\n  b", Some((2, ">-\na\nb\n"))),
            ("k: {l: a\n b}\n", Some((1, "a\nb\n"))),
            ("k: a b\n", None),
            ("k:\n  a: 1\n  b: 2\n", None),
        ] {
            let document = Document::parse(text).expect("YAML");
            let value = document.roots().next().and_then(|root| root.get("k")).expect("a value");
            let found = SourceLines::of(value.get("l").unwrap_or(value));
            assert_eq!(found.as_ref().map(|found| (found.indent, &*found.text)), want, "{text}");
        }
    }
}
