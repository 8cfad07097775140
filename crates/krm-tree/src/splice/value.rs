//! Edits that put a new value after a key or a dash, and the block scalar that then ends it.

use std::ops::Range;

use krm_yaml::{
    BlockScalar, Chomping, Document, Kind, NodeRef, Place, Style, below, comment_of, comment_text, comments_above,
    ends_line, foot, is_blank, line_end, lines, next_line, same, trim, trim_start, without_break,
};

use super::print::{BlockText, Flow, Host, NewChild, comment_lines, comment_lines_up_to, not_taken};
use super::reread::{text_of, touch};
use super::{Below, ChildFate, Splicer, is_blank_line, is_kept, last_block, news};
use crate::limit::Budget;
use crate::tree::{self, Entry, Tree};

impl<'d> Splicer<'d, '_> {
    /// The range of a child, and the lines from another document that replace it; `None` if these lines would mean something else here.
    pub(super) fn as_written(
        &self,
        place: &Place,
        old: NodeRef<'d>,
        new: &NewChild<'_, '_>,
        layout: tree::Layout,
    ) -> Option<(Range<usize>, String)> {
        let (there, value) = if layout == tree::Layout::Own { new.place()? } else { return None };
        let doc = value.document();
        let lead = &doc.source()[doc.line_start(there.lead)..there.lead];
        // The first field of an element may be on the line of the dash on one side only. A comment above it cannot.
        let is_bare = |place: &Place, doc: &Document<'_>| comments_above(place, doc).is_empty();
        let has_room =
            there.is_inline(doc) == place.is_inline(self.doc) || is_bare(&there, doc) && is_bare(place, self.doc);
        let is_alike = there.column(doc) == place.column(self.doc) && has_room && !lead.contains(['{', '[', ',', '?']);
        if !is_alike || [old, value].into_iter().any(BlockScalar::keeps_lines_below) {
            return None;
        }
        let range = |place: &Place, doc: &Document<'_>| {
            let top = place.top(doc);
            let start = if place.is_inline(doc) { top } else { top + place.column(doc) };
            start..place.bottom(doc)
        };
        let (from, to) = (range(&there, doc), range(place, self.doc));
        let text = &doc.source()[from];
        // The last line of a text may lack its line break.
        let has_end = ends_line(&self.text()[to.clone()]);
        if ends_line(text) != has_end && [old, value].into_iter().any(BlockScalar::needs_line_break) {
            return None;
        }
        let end = if has_end { "\n" } else { "" };
        self.budget.take(text.len()).then(|| {
            let mut text = lines(without_break(text)).join("\n");
            // It waits for the end of the run.
            text.reserve_exact(end.len());
            (to, text + end)
        })
    }

    /// Whether a child of another document differs from the child of dest only in indentation and blank lines.
    pub(super) fn has_same_words(&self, place: &Place, old: NodeRef<'d>, new: &NewChild<'_, '_>) -> bool {
        fn words<'l>(place: &Place, doc: &'l Document<'_>) -> Vec<&'l str> {
            let all = lines(&doc.source()[place.top(doc)..place.bottom(doc)]);
            all.into_iter().map(trim).filter(|line| !line.is_empty()).collect()
        }
        let is_same = |(there, value): (Place, NodeRef<'_>)| {
            same(old, value) && words(place, self.doc) == words(&there, value.document())
        };
        new.place().is_some_and(is_same)
    }

    /// Whether a map or list keeps none of its children, so that its text cannot be edited from within.
    pub(super) fn must_be_set_anew(&self, value: NodeRef<'_>, entries: &[Entry<'_>]) -> bool {
        if value.style() != Style::Flow {
            return self.keeps_no_block(value, entries);
        }
        !entries.iter().any(is_kept)
            && self.layout().flow == Flow::Yaml
            && news(entries).next().is_some()
            && value.children().next().is_none()
    }

    /// The text of a map or list that has only new children, or none: its anchor and its tag stay, and so do comments that do not belong to
    /// a child. `at_end` are new comments at the end of its block, in the place of its own.
    pub(super) fn anew(
        &self,
        host: Host,
        place: &Place,
        value: NodeRef<'_>,
        entries: &[Entry<'_>],
        at_end: Option<&str>,
    ) -> BlockText {
        let column = place.column(self.doc);
        let child_column = self.layout().child_column(value.kind(), host, column);
        let mut text =
            BlockText { body: self.layout().new_children(news(entries), child_column), ..BlockText::default() };
        let old_end = if value.style() == Style::Block { foot(place, value) } else { 0..0 };
        let has_end = !text.body.is_empty() && child_column > column;
        if has_end {
            let lines = comment_lines(at_end.unwrap_or(&self.text()[old_end.clone()]), child_column, self.budget);
            let lines = not_taken(lines, || last_block(&text.body.join("\n")));
            text.body.extend(lines);
        }
        if text.body.is_empty() {
            let empty = if value.kind() == Kind::Map { "{}" } else { "[]" };
            text.head = empty.to_owned();
        }
        if value.style() == Style::Block {
            let places = Place::of_children(value);
            let own = comment_of(place, value).map(|c| c.0);
            let of_children = self.owned(&places);
            let is_at_end = |at: usize| (has_end || at_end.is_some()) && old_end.contains(&at);
            let owned = |at: usize| own == Some(at) || of_children(at) || is_at_end(at);
            let free = self.doc.comments_in(place.open..below(self.doc, value.end(), column)).filter(|c| !owned(c.0));
            let free: Vec<String> = free.map(|(s, e)| self.indented(child_column, s..e)).collect();
            text.body.splice(0..0, free);
        }
        text.behind_props(&[value.anchor_text(), value.tag_text()])
    }

    /// Replaces a value by a text, after its key or dash. The comment of the line stays, unless another is given.
    pub(super) fn set_value(
        &mut self,
        host: Host,
        place: &Place,
        old: NodeRef<'d>,
        new: BlockText,
        comment: Option<&str>,
        comments_below: Below,
    ) {
        let column = place.column(self.doc);
        let on_one_line = !matches!(old.style(), Style::Block | Style::Literal | Style::Folded);
        // A block scalar without content may get some from the lines below.
        let ends_there = || last_block(&format!("{} {}", lead(host, column), new.head)).is_none();
        if on_one_line && new.body.is_empty() && !new.head.is_empty() && ends_there() {
            let start = old.full_start();
            let text = match start == place.open {
                true => format!("{} {}", self.colon(host, place), new.head),
                false => new.head,
            };
            self.edit(start..old.end(), text);
            if let Some(comment) = comment {
                self.set_comment(place, old, comment);
            }
            return;
        }
        let end = match (old.style(), comments_below) {
            // The comment lines at the end of a block are removed with it.
            (Style::Block, _) | (_, Below::Goes) => {
                without_break(&self.text()[..below(self.doc, place.end, column)]).len()
            }
            _ => line_end(self.text(), place.end),
        };
        let comment = comment.or_else(|| comment_text(place, old)).filter(|c| !c.is_empty());
        let mut end = end.max(place.end);
        let mut text = String::new();
        new.behind(host, comment, &mut text);
        let bottom = without_break(&self.text()[..below(self.doc, end, column)]).len();
        let block = if end == self.text().len() || bottom > end {
            last_block(&format!("{}{text}", lead(host, column)))
        } else {
            None
        };
        let comments = &self.text()[next_line(self.text(), end).min(bottom)..bottom];
        if let Some(lines) = block.as_ref().and_then(|block| outside_of(block, comments, column, self.budget)) {
            lines.iter().for_each(|line| text.extend(["\n", line]));
            end = bottom;
        }
        if end == self.text().len() && block.is_some_and(|block| block.chomping != Chomping::Strip) {
            // The end of the text would not end the last line of the block scalar.
            text.push('\n');
        }
        self.edit(place.open..end, self.colon(host, place) + &text);
    }

    /// The colon that a key without one (`? key`) needs before it can have a value.
    pub(super) fn colon(&self, host: Host, place: &Place) -> String {
        if host == Host::Element || self.text()[..place.open].ends_with(':') {
            return String::new();
        }
        format!("\n{}:", " ".repeat(place.column(self.doc)))
    }

    /// Whether a value is written again as a whole.
    pub(super) fn is_set(&self, value: NodeRef<'_>, tree: &Tree<'_>) -> bool {
        match ChildFate::of(tree, value) {
            ChildFate::Kept => false,
            ChildFate::Put(_) => true,
            ChildFate::Inside(branch) => self.must_be_set_anew(value, &branch.entries),
        }
    }

    /// The block scalar at the end of a child that the merge keeps, among children at a column.
    pub(super) fn end_of(&self, host: Host, column: usize, entry: &Entry<'_>) -> Option<BlockScalar> {
        let new = NewChild::of(entry)?;
        match entry.was {
            Some(was) => self.end_of_value(host, column, was.value(), new.tree),
            None => last_block(&self.layout().new_child(&new, column).join("\n")),
        }
    }

    /// The block scalar at the end of a child at a column, if the child keeps its place and gets the value of a tree.
    pub(super) fn end_of_value(
        &self,
        host: Host,
        column: usize,
        value: NodeRef<'_>,
        tree: &Tree<'_>,
    ) -> Option<BlockScalar> {
        match ChildFate::of(tree, value) {
            ChildFate::Kept if !self.inner.is_empty() && touch(self.inner, value) => {
                last_block(&text_of(value, self.inner, &[], self.budget))
            }
            ChildFate::Kept => BlockScalar::last_of(value).map(|(block, _)| block),
            ChildFate::Put(_) => {
                let mut text = lead(host, column);
                self.layout().value(&NewChild::value(tree), host, column).behind(host, None, &mut text);
                last_block(&text)
            }
            ChildFate::Inside(branch)
                if value.style() == Style::Block || self.must_be_set_anew(value, &branch.entries) =>
            {
                let column = match Place::of_children(value).first() {
                    Some(first) if !self.must_be_set_anew(value, &branch.entries) => first.column(self.doc),
                    _ => self.layout().child_column(value.kind(), host, column),
                };
                let host = Host::in_container(value);
                let last = branch.entries.iter().rev().find(|entry| entry.value.is_some())?;
                self.end_of(host, column, last)
            }
            ChildFate::Inside(_) => None,
        }
    }
}

/// The text before a value at a column: a placeholder key, or a dash.
pub(super) fn lead(host: Host, column: usize) -> String {
    format!("{}{}", " ".repeat(column), if host == Host::Field { "k:" } else { "-" })
}

/// The comment lines below a child at a column, as they must be written below a block scalar there; `None` if they can stay. As deep as its
/// content, they would be lines of it.
pub(super) fn outside_of(block: &BlockScalar, comments: &str, column: usize, budget: &Budget) -> Option<Vec<String>> {
    let depths =
        || lines(comments).into_iter().filter(|line| !is_blank(line)).map(|line| line.len() - trim_start(line).len());
    let takes_blanks = block.chomping == Chomping::Keep && is_blank_line(comments, 0);
    let most = block.deepest_comment(column);
    (takes_blanks || depths().any(|depth| depth > most)).then(|| {
        let lines = comment_lines_up_to(comments, depths().min().unwrap_or(column).min(most)..most + 1, budget);
        not_taken(lines, || Some(block.clone()))
    })
}
