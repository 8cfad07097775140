//! Texts that are written over several lines, merged by these lines: plain, quoted and folded scalars.
//!
//! The merged lines become a scalar of a small document, which is read. So the value is what a reader makes of the lines, and lines that are no
//! such scalar stay in conflict. The splicer writes the scalar of that document, in the depth of dest's.

use std::borrow::Cow;
use std::sync::Arc;

use krm_tree::limit::Budget;
use krm_tree::sides::Sides;
use krm_tree::tree::{Made, OwnLines, Quotes, Tree};
use krm_yaml::{Document, NodeRef, Scalar, SourceLines, Style, fits_flow, trim_start};

use super::{Outcome, Values, lines};
use crate::warning::Combined;

/// The lines in which three versions of a text are written, without indentation; `None` unless all are written over several lines in one
/// style. The lines of a literal text are those of its value.
pub fn source_lines(versions: Sides<NodeRef<'_>>) -> Option<Sides<String>> {
    let style = versions.dest.style();
    let is_alike =
        versions.iter().all(|(_, node)| node.style() == style && matches!(node.scalar(), Some(Scalar::String(_))));
    let Sides { original, updated, dest } = versions.map(|node| SourceLines::of(node).map(|lines| lines.text));
    let texts = Sides { original: original?, updated: updated?, dest: dest? };
    let is_meant = is_alike && style != Style::Literal && texts.iter().all(|(_, text)| has_several(text, style));
    is_meant.then_some(texts)
}

/// Merges three versions of a text by the lines in which they are written; `None` if that is not possible, or if the result is the same
/// conflict.
pub(super) fn merged<'a>(sides: Values<'a>, budget: &Budget) -> Option<Outcome<'a>> {
    let texts = source_lines(sides)?;
    if !budget.take(texts.dest.len().max(texts.updated.len())) {
        return None;
    }
    let lines = lines::merged(&texts.original, &texts.updated, &texts.dest);
    let outcome = |text: &str| if text == texts.dest { Some(Tree::Node(sides.dest)) } else { read(sides.dest, text) };
    let (dest, updated) = (outcome(&lines.dest)?, outcome(&lines.updated)?);
    lines.sources.is_finer().then_some(Outcome { dest, updated, sources: lines.sources, how: Combined::Lines })
}

/// Whether lines, without the header of a block scalar, are several. A second run must find what the first one made.
fn has_several(text: &str, style: Style) -> bool {
    text.lines().skip(usize::from(style == Style::Folded)).filter(|line| !line.is_empty()).count() > 1
}

/// The text that these lines are in the place of dest's; `None` if a reader would see no such text there.
fn read<'a>(dest: NodeRef<'a>, lines: &str) -> Option<Tree<'a>> {
    let style = dest.style();
    if style == Style::Plain && is_in_flow(dest) && !lines.lines().all(fits_flow) {
        return None;
    }
    let document = Document::parse(small_document(dest, lines)?).ok()?;
    let own = OwnLines { document: Arc::new(document), indent: SourceLines::of(dest)?.indent };
    let node = own.scalar()?;
    let value = Cow::Owned(node.string().to_owned());
    let is_said = node.style() == style
        && matches!(node.scalar(), Some(Scalar::String(_)))
        && has_several(lines, style)
        && SourceLines::of(node).is_some_and(|read| read.text == lines);
    is_said.then(|| Made { value, quotes: Quotes::Lines(own) }.into())
}

/// A document with one field, whose value is written in these lines, with the tag of dest's value.
fn small_document(dest: NodeRef<'_>, lines: &str) -> Option<String> {
    let (first, below) = lines.split_once('\n')?;
    // Without the number, lines that begin with blanks would say how deep the text is.
    let first = if dest.style() == Style::Folded { first.replacen('>', ">2", 1) } else { first.to_owned() };
    let mut text = format!("k: {} {first}\n", dest.tag_text().unwrap_or_default());
    for line in below.lines() {
        text.push_str(if line.is_empty() { "" } else { "  " });
        text.push_str(line);
        text.push('\n');
    }
    Some(text)
}

/// Whether a plain scalar is in a flow map or list. No line of a block begins with what comes after it there.
fn is_in_flow(plain: NodeRef<'_>) -> bool {
    let rest = plain.document().source()[plain.end()..].lines().map(trim_start);
    let mut contents = rest.filter(|line| !line.is_empty() && !line.starts_with('#'));
    contents.next().is_some_and(|line| line.starts_with([',', ']', '}']))
}
