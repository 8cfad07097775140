//! The lines of a resource, which is a document or an element of a list, with its own comments, and the text that they are elsewhere.
//!
//! What is added or taken over as it is written is moved as lines. Only a reader can tell whether the moved lines mean the same, so whoever
//! moves them reads the new text.

use std::ops::Range;

use krm_yaml::{
    BlockScalar, Document, NodeRef, Place, Style, TextEdits, below, below_all, gap_above, is_blank, lines,
    split_after_feeds, without_break,
};

use super::reread::check_text;
use super::unread_edits;
use crate::limit::Budget;
use crate::tree::Tree;

/// The lines of a resource, which is a document or an element of a list, with its own comments.
pub struct Lines<'d> {
    /// The document that it is in.
    pub doc: &'d Document<'d>,
    /// Where its lines are.
    pub range: Range<usize>,
    /// The column of its children.
    pub column: usize,
    /// The dash before it.
    pub dash: Option<Place>,
}

impl<'d> Lines<'d> {
    /// The lines of a resource; `None` if it is not on lines of its own, or if its end depends on what is below it.
    pub fn of(root: NodeRef<'d>) -> Option<Self> {
        let is_open = BlockScalar::keeps_lines_below(root) || BlockScalar::is_cut_off(root);
        if is_open { None } else { Self::read(root) }
    }

    fn read(root: NodeRef<'d>) -> Option<Self> {
        let (doc, column) = (root.document(), root.column());
        if root.full_start() < root.start() {
            return None;
        }
        if !root.is_root() {
            let dash = Place::behind_dash(root).filter(|dash| !dash.is_inline(doc))?;
            return Some(Self { doc, range: dash.top(doc)..dash.bottom(doc), column, dash: Some(dash) });
        }
        let top = Place::of_first(root).map_or(root.start(), |first| first.top(doc));
        (column == 0).then(|| Self { doc, range: top..below(doc, root.end(), 0), column, dash: None })
    }

    /// The lines of a resource with all comments of its document, and with the blank lines that a block scalar at its end keeps.
    fn whole(root: NodeRef<'d>) -> Option<Self> {
        let mut lines = Self::read(root)?;
        let doc = lines.doc;
        if root.is_root() {
            let top = Place::of_first(root).and_then(|first| gap_above(&first, doc));
            lines.range = top.map_or(lines.range.start, |gap| gap.start)..below_all(root);
        }
        if let Some((block, end)) = BlockScalar::last_of(root) {
            lines.range.end = lines.range.end.max(block.below(doc.source(), doc.next_line(end)));
        }
        Some(lines)
    }

    /// The lines as a document of their own, with some edits; `None` if a line is further left than the children of the resource.
    pub fn text(&self, edits: &TextEdits) -> Option<String> {
        let source = self.doc.source();
        let Some(dash) = self.dash else { return Some(ended(edits.apply(source, self.range.clone()))) };
        let line = self.doc.line_start(dash.lead);
        let body = edits.apply(source, dash.open..self.range.end);
        let mut out = String::with_capacity(body.len() + line - self.range.start);
        for comment in split_after_feeds(&source[self.range.start..line]) {
            out.push_str(comment.get(dash.column(self.doc)..)?);
        }
        let mut lines = split_after_feeds(&body);
        let behind_dash = lines.next().filter(|line| !is_blank(line));
        out.push_str(behind_dash.unwrap_or_default().trim_start_matches(' '));
        let indent = " ".repeat(self.column);
        for line in lines {
            out.push_str(match line.strip_prefix(&*indent) {
                Some(own) => own,
                None if is_blank(line) => line.trim_start_matches(' '),
                None => return None,
            });
        }
        Some(ended(out))
    }
}

/// A resource as the lines of a document of its own, as it is written but for what its tree changes; `None` if it is no block on lines of its
/// own, or if these lines would mean something else there: an alias may have its anchor elsewhere.
pub(super) fn as_written(tree: &Tree<'_>, budget: &Budget) -> Option<Vec<String>> {
    let root = tree.like().filter(|root| root.style() == Style::Block)?;
    // Of an element, other elements may use the anchors.
    if !root.is_root() && root.document().has_anchors_in(root) {
        return None;
    }
    let text = Lines::whole(root)?.text(&unread_edits(root, tree, budget).ok()?)?;
    check_text(&text, tree).ok()?;
    let own = lines(without_break(text.trim_start_matches('\u{feff}')));
    let own = own.into_iter().skip_while(|line| is_blank(line)).map(str::to_owned);
    budget.take(text.len()).then(|| own.collect())
}

/// A text with a line break at its end.
fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
