//! Edits of comments and of blank lines around the children that stay.

use krm_yaml::{
    BlockScalar, Edit, NodeRef, Place, can_end_with_comments, comment_place, ends_line, foot, gap_above, next_line,
    opening_place,
};

use super::print::{Host, comment_lines, not_taken};
use super::{Splicer, is_blank_line};
use crate::tree::Tree;

impl<'d> Splicer<'d, '_> {
    pub(super) fn set_comment(&mut self, place: &Place, value: NodeRef<'d>, comment: &str) {
        match comment_place(place, value) {
            Some(at) => self.set_comment_behind(at, comment),
            None => self.set_comment_at_dash(value, comment),
        }
    }

    /// Sets the comment behind the opening bracket of a map or list. What replaces the brackets has their new comments.
    pub(super) fn set_opening(&mut self, value: NodeRef<'d>, comment: &str) {
        let at = opening_place(value).filter(|at| !self.edits.iter().any(|edit| edit.range.contains(at)));
        if let Some(at) = at {
            self.set_comment_behind(at, comment);
        }
    }

    pub(super) fn set_comment_behind(&mut self, at: usize, comment: &str) {
        match self.doc.comment_behind(at) {
            Some((start, end)) if &self.text()[start..end] == comment => {}
            Some((_, end)) if comment.is_empty() => self.edit(at..end, ""),
            Some((start, end)) => self.edit(start..end, comment),
            None if comment.is_empty() => {}
            None => self.edit(at..at, format!(" {comment}")),
        }
    }

    /// Sets the comment after a dash that the first child of a block follows. The child gets a line of its own.
    pub(super) fn set_comment_at_dash(&mut self, value: NodeRef<'d>, comment: &str) {
        let Some(first) = Place::of_first(value).filter(|_| !comment.is_empty()) else { return };
        let after_dash = self.after_dash(first.lead);
        // The edits in the block are the last ones.
        let mut in_block = self.edits.iter_mut().rev().take_while(|edit| edit.range.start >= after_dash);
        match in_block.find(|edit| edit.range.start == after_dash && edit.text.starts_with('\n')) {
            Some(edit) => edit.text.insert_str(0, &format!(" {comment}")),
            None => {
                let column = first.column(self.doc);
                let size = comment.len() + column + 2;
                let text = self.budget.paid(size, || format!(" {comment}\n{}", " ".repeat(column)));
                self.edit(after_dash..first.lead, text);
            }
        }
    }

    /// Sets the comment lines above a child. For a child on the line of a dash, its container does that.
    pub(super) fn set_comments_above(&mut self, place: &Place, comments: &str) {
        if place.is_inline(self.doc) {
            return;
        }
        let lines: String =
            comment_lines(comments, place.column(self.doc), self.budget).into_iter().map(|l| l + "\n").collect();
        self.edit(place.top(self.doc)..self.doc.line_start(place.lead), lines);
    }

    /// Sets the lines above a child that belong to no child. `above` is the block scalar that then ends above them.
    pub(super) fn set_gap(&mut self, place: &Place, lines: &str, above: impl FnOnce(&Self) -> Option<BlockScalar>) {
        let Some(old) = gap_above(place, self.doc) else { return };
        let lines = comment_lines(lines, place.column(self.doc), self.budget);
        let lines: String = not_taken(lines, || above(self)).into_iter().map(|line| line + "\n").collect();
        self.edit(old, lines);
    }

    /// Sets the comment lines at the end of a block, whose new value is a tree.
    pub(super) fn set_comments_below(
        &mut self,
        host: Host,
        place: &Place,
        value: NodeRef<'d>,
        tree: &Tree<'_>,
        comments: &str,
    ) {
        if !can_end_with_comments(place, value) {
            return;
        }
        let Some(first) = value.written().next().map(|first| Place::of_child(value, first)) else { return };
        let lines = comment_lines(comments, first.column(self.doc), self.budget);
        let lines = not_taken(lines, || self.end_of_value(host, place.column(self.doc), value, tree));
        let old = foot(place, value);
        // What replaces the brackets has their new comments.
        if self.edits.iter().any(|edit| edit.range.start < old.start && old.end < edit.range.end) {
            return;
        }
        if old.is_empty() {
            return self.insert_lines(old.start, &lines);
        }
        let end = if ends_line(&self.text()[old.clone()]) { "\n" } else { "" };
        if lines.is_empty() {
            self.clear_below(old.end, |s| s.end_of_value(host, place.column(s.doc), value, tree));
        }
        let text = if lines.is_empty() { String::new() } else { lines.join("\n") + end };
        self.edit(old, text);
    }

    /// Whether a first child on the line of a dash gets a line of its own for the comments above it. Comments above the first field of a
    /// resource stand above the dash of its item.
    pub(super) fn has_line_at_dash(&self, node: NodeRef<'_>) -> bool {
        !node.is(self.root)
    }

    /// The end of the dash that a child follows.
    pub(super) fn after_dash(&self, lead: usize) -> usize {
        self.text()[..lead].trim_end_matches([' ', '\t']).len()
    }

    /// Removes the blank lines from a line on that would become part of the block scalar that now ends above them, if there is one.
    pub(super) fn clear_below(&mut self, line: usize, above: impl FnOnce(&Self) -> Option<BlockScalar>) {
        if !is_blank_line(self.text(), line) {
            return;
        }
        let block = above(self);
        self.edits.extend(block.into_iter().flat_map(|block| taken(self.doc.source(), line, &block)));
    }
}

/// The edits that remove blank lines, from a line on, because they would become part of the block scalar above. Each removes one line.
pub(super) fn taken(text: &str, line: usize, block: &BlockScalar) -> Vec<Edit> {
    let bottom = block.below(text, line);
    let lines =
        std::iter::successors(Some(line), |line| Some(next_line(text, *line))).take_while(|line| *line < bottom);
    lines.map(|line| Edit { range: line..next_line(text, line), text: String::new() }).collect()
}
