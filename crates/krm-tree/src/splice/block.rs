//! Edits of block maps and lists: each child takes its lines and its comments along.

use std::borrow::Cow;

use krm_yaml::{
    BlockScalar, Chomping, Document, Edit, Kind, NodeRef, Place, TextEdits, WrittenChild, comment_of, ends_line,
    gap_above, holds_no_value, starts_line, trim_start,
};

use super::print::{Host, NewChild, comment_lines, not_taken};
use super::{Splicer, closed_end, is_blank_line, is_in_order, is_kept, last_block, news, place_in};
use crate::tree::{self, Comments, Entry};

impl<'d> Splicer<'d, '_> {
    pub(super) fn block_children(&mut self, node: NodeRef<'d>, entries: &[Entry<'d>]) {
        let Some(first) = Place::of_first(node) else { return };
        if self.keeps_no_block(node, entries) {
            return self.root_anew(node, entries);
        }
        if !is_in_order(entries) {
            return self.moved_children(node, entries);
        }
        let at = entries.iter().position(is_kept).unwrap_or(entries.len());
        let (before, kept) = entries.split_at(at);
        let has_comments = || kept[0].comments.above.is_some_and(|above| !above.is_empty());
        if first.is_inline(self.doc) && (!before.is_empty() || self.has_line_at_dash(node) && has_comments()) {
            let lines = self.layout().new_children(news(before), first.column(self.doc));
            let kept = self.moved_to_dash(node, before, kept, lines);
            return self.children_below(node, before.iter().rfind(|entry| entry.value.is_some()), &kept);
        }
        let (new, rest) = entries.split_at(entries.iter().position(|entry| entry.was.is_some()).unwrap_or_default());
        if !new.is_empty() {
            let lines = self.layout().new_children(news(new), first.column(self.doc));
            self.insert_lines(self.top_of_first(&first, &lines), &lines);
        }
        self.children_below(node, new.last(), rest);
    }

    /// Whether a block keeps none of its children, so that all of it is written again. If something new is sure to come, whoever wins, its lines
    /// come in the place of theirs.
    pub(super) fn keeps_no_block(&self, node: NodeRef<'_>, entries: &[Entry<'_>]) -> bool {
        let has_lines = || Place::of_first(node).is_some_and(|first| !first.is_inline(self.doc));
        let is_any = |is: fn(&Entry<'_>) -> bool| entries.iter().any(is);
        let is_replaced = || {
            is_any(|entry| entry.was.is_some())
                && is_any(|entry| entry.was.is_none() && entry.value.is_some() && !entry.is_contested)
                && is_in_order(entries)
                && has_lines()
        };
        !is_any(is_kept) && !is_replaced()
    }

    /// Writes these lines on the line of a dash instead of the children there, and moves the first child that stays up to them, or down with
    /// them. Gives this child and those below it back, as they are to be edited.
    pub(super) fn moved_to_dash<'e>(
        &mut self,
        node: NodeRef<'d>,
        before: &[Entry<'d>],
        kept: &'e [Entry<'d>],
        mut lines: Vec<String>,
    ) -> Cow<'e, [Entry<'d>]> {
        let mut rest = Cow::Borrowed(kept);
        let (Some(first), Some(next)) = (Place::of_first(node), kept[0].was) else { return rest };
        let (column, next) = (first.column(self.doc), place_in(node, next));
        let removed: Vec<Place> = before.iter().filter_map(|entry| Some(place_in(node, entry.was?))).collect();
        let top = if removed.is_empty() { next.lead } else { next.top(self.doc) + column };
        let owned = self.owned(&removed);
        let free = self.doc.comments_in(first.lead..top).filter(|c| !owned(c.0));
        lines.extend(free.map(|(s, e)| self.indented(column, s..e)));
        // The new comments of that child move with it. The comments that they replace are a part of this edit.
        let Comments { gap, above, .. } = *kept[0].comments;
        let to = above.map_or(top, |_| next.lead);
        lines.extend(above.into_iter().flat_map(|above| comment_lines(above, column, self.budget)));
        if gap.or(above).is_some() {
            let child = &mut rest.to_mut()[0];
            child.comments = Comments { gap: None, above: None, ..*child.comments }.into();
            if above.is_some() && !removed.is_empty() {
                // Its lines begin in this edit, so they cannot be taken over as they are written.
                child.layout = tree::Layout::Host;
            }
        }
        let (from, text) = self.at_dash(first.lead, column, joined_before(&lines, column));
        self.edit(from..to, text);
        rest
    }

    /// Where new first children with these lines come. What is set apart above a child stays above that child; at the top of a text, it stays
    /// at the top, and a block scalar that keeps the blank lines below it would take them.
    pub(super) fn top_of_first(&self, first: &Place, lines: &[String]) -> usize {
        let keeps = || last_block(&lines.join("\n")).is_some_and(|block| block.chomping == Chomping::Keep);
        let gap = gap_above(first, self.doc).filter(|gap| !holds_no_value(&self.text()[..gap.start]) && !keeps());
        gap.map_or(first.top(self.doc), |gap| gap.start)
    }

    /// Edits a child of dest, and those below it. What is new comes directly below the child of dest before it, whether that stays or goes: so
    /// its place is the same whichever side wins. `above` is the last child above them all.
    pub(super) fn children_below<'e>(
        &mut self,
        node: NodeRef<'d>,
        mut above: Option<&'e Entry<'d>>,
        rest: &'e [Entry<'d>],
    ) {
        let (Some(first), Some(mut last)) = (Place::of_first(node), rest.first().and_then(|entry| entry.was)) else {
            return;
        };
        let (host, column) = (Host::in_container(node), first.column(self.doc));
        for (i, entry) in rest.iter().enumerate() {
            if let Some((was, gap)) = entry.was.zip(entry.comments.gap) {
                self.set_gap(&place_in(node, was), gap, |s| s.end_of(host, column, above?));
            }
            let is_other = match (entry.was, &entry.value) {
                (Some(was), None) => {
                    last = was;
                    let is_written_out = entry.is_merge() && rest.get(i + 1).is_some_and(|next| next.was.is_none());
                    self.remove(&place_in(node, was), Some(was).filter(|_| is_written_out));
                    true
                }
                (Some(was), Some(tree)) => {
                    (last, above) = (was, Some(entry));
                    self.child(host, || place_in(node, was), was, entry);
                    self.is_set(was.value(), tree)
                }
                (None, _) => {
                    let lines = NewChild::of(entry).map(|new| self.layout().new_child(&new, column));
                    let lines = not_taken(lines.unwrap_or_default(), || self.end_of(host, column, above?));
                    above = Some(entry);
                    self.insert_lines(place_in(node, last).bottom(self.doc), &lines);
                    true
                }
            };
            if is_other && rest.get(i + 1).is_none_or(|next| next.was.is_some()) {
                self.clear_below(place_in(node, last).bottom(self.doc), |s| s.end_of(host, column, above?));
            }
        }
    }

    /// Removes a child. The comments of a `<<` that is written out stay above the fields that take its place.
    pub(super) fn remove(&mut self, place: &Place, written_out: Option<WrittenChild<'d>>) {
        let Some(was) = written_out else { return self.edit(place.top(self.doc)..place.bottom(self.doc), "") };
        let comment = comment_of(place, was.value());
        let comment = comment.map(|(start, end)| self.indented(place.column(self.doc), start..end) + "\n");
        self.edit(self.doc.line_start(place.lead)..place.bottom(self.doc), comment.unwrap_or_default());
    }

    /// The text of children that begins on the line of a dash, and where it begins. A comment above the first child does not belong to the
    /// dash: it stays on a line of its own.
    pub(super) fn at_dash(&self, lead: usize, column: usize, text: String) -> (usize, String) {
        if !text.starts_with('#') {
            return (lead, text);
        }
        (self.after_dash(lead), self.budget.paid(column + 1, || format!("\n{}{text}", " ".repeat(column))))
    }

    /// Writes a root that keeps no child. Any other map or list without kept children is written by its container.
    pub(super) fn root_anew(&mut self, root: NodeRef<'d>, entries: &[Entry<'_>]) {
        let places = Place::of_children(root);
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return };
        let column = first.column(self.doc);
        let owned = self.owned(&places);
        let free = self.doc.comments_in(first.lead..last.end).filter(|c| !owned(c.0));
        let mut lines: Vec<String> = free.map(|(s, e)| self.indented(column, s..e)).collect();
        lines.extend(self.layout().new_children(news(entries), column));
        if news(entries).next().is_none() {
            let empty = if root.kind() == Kind::Map { "{}" } else { "[]" };
            lines.push(format!("{}{empty}", " ".repeat(column)));
        }
        let text = lines.join("\n") + "\n";
        let top = first.top(self.doc);
        let text = if first.is_inline(self.doc) { trim_start(&text) } else { &text };
        self.edit(top..last.bottom(self.doc), text);
        self.clear_below(last.bottom(self.doc), |_| last_block(&lines.join("\n")));
    }

    /// Inserts whole lines at the start of a line, or after a last line that has no line break.
    pub(super) fn insert_lines(&mut self, at: usize, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum::<usize>() + 1);
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        let is_gone = |edit: &Edit| {
            let range = &edit.range;
            range.end == at && !range.is_empty() && edit.text.is_empty() && starts_line(self.text(), range.start)
        };
        let is_open = at > 0 && !ends_line(&self.text()[..at]) && !self.edits.iter().any(is_gone);
        // A last line without a line break gets one, from the first of several insertions after it, or from what replaces it.
        if is_open && !self.edits.iter().any(|e| e.range.end == at && e.text.ends_with('\n')) {
            text.insert(0, '\n');
        }
        self.edit(at..at, text);
    }

    /// The lines of a new child: with a comma at its end, if it is one in brackets.
    pub(super) fn new_lines(&self, entry: &Entry<'_>, column: usize, comma: Option<&str>) -> Vec<String> {
        let lines = NewChild::of(entry).map(|new| match comma {
            Some(comma) => self.layout().new_row(&new, column, comma),
            None => self.layout().new_child(&new, column),
        });
        lines.unwrap_or_default()
    }

    /// The text of a child of dest as it becomes, from its first line to an offset: with a comma at its end, if it is one in brackets.
    pub(super) fn moved_child(
        &self,
        host: Host,
        (place, end): (Place, usize),
        entry: &Entry<'d>,
        comma: Option<&str>,
    ) -> String {
        let Some(was) = entry.was else { return String::new() };
        let mut inner = self.inner();
        match comma {
            Some(comma) => inner.row(&place, entry, comma),
            None => inner.child(host, || place, was, entry),
        }
        if end == self.text().len() {
            inner.close_end();
        }
        let start = if place.is_inline(self.doc) { place.lead } else { place.top(self.doc) };
        inner.finish().apply(self.text(), start..end)
    }

    /// Writes children in a new order: each takes its lines and its comments along; text between children stays between children.
    pub(super) fn moved_children(&mut self, node: NodeRef<'d>, entries: &[Entry<'d>]) {
        let values: Vec<NodeRef<'d>> = node.written().map(|(_, value)| value).collect();
        let places = Place::of_children(node);
        let (Some(first), Some(last)) = (places.first(), places.len().checked_sub(1)) else { return };
        let (host, column) = (Host::in_container(node), first.column(self.doc));
        let comma = self.commas(node, entries);
        // Blank lines below a block scalar that includes them (`|+`) move with it.
        let end = |i: usize| {
            let bottom = places[i].bottom(self.doc);
            BlockScalar::last_of(values[i]).map_or(bottom, |(block, _)| block.below(self.text(), bottom))
        };
        let gap = |i: usize| places.get(i + 1).map(|next| &self.text()[end(i)..next.top(self.doc).max(end(i))]);
        let pad = self.layout().rows.blanks(column);
        let (mut text, mut position, mut above) = (String::new(), 0, None);
        // The text between two children, without the blank lines that would become part of the first one.
        let between = |gap: &'d str, above: Option<&Entry<'_>>| {
            let block = above.filter(|_| is_blank_line(gap, 0)).and_then(|entry| self.end_of(host, column, entry));
            &gap[block.map_or(0, |block| block.below(gap, 0))..]
        };
        for (i, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.value.is_some()) {
            let piece = match entry.place() {
                Some(at) => {
                    let lines = self.moved_child(host, (places[at], end(at)), entry, comma(i));
                    // A child that was on the line of a dash now has a line above it for comments.
                    let has_line = places[at].is_inline(self.doc) && (position > 0 || self.has_line_at_dash(node));
                    let above = entry.comments.above.filter(|_| has_line).unwrap_or_default();
                    let above: String =
                        comment_lines(above, column, self.budget).into_iter().map(|l| l + "\n").collect();
                    if above.is_empty() { lines } else { above + &pad + &lines }
                }
                // The last line may be a blank one of a `|+`.
                None => format!("{}\n", trim_start(&self.new_lines(entry, column, comma(i)).join("\n"))),
            };
            if position > 0 {
                text.push_str(between(gap(position - 1).unwrap_or_default(), above));
                text.push_str(&pad);
            }
            let piece = with_line_end(piece);
            text.push_str(piece.strip_prefix(&pad).unwrap_or(&piece));
            above = Some(entry).filter(|_| comma(i).is_none());
            position += 1;
        }
        // If there are fewer children now, comments from between the children come last.
        for gap in (position.saturating_sub(1)..places.len()).filter_map(gap).filter(|g| g.contains('#')) {
            text.push_str(between(gap, above));
        }
        let bottom = end(last);
        let (from, text) = match first.is_inline(self.doc) {
            true => self.at_dash(first.lead, column, text),
            false => (first.top(self.doc) + column, text),
        };
        self.edit(from..bottom, text);
        self.clear_below(bottom, |s| s.end_of(host, column, above?));
    }
}

/// The text of lines that come before a child on the line of a dash, and the start of the line that the child gets.
pub(super) fn joined_before(lines: &[String], column: usize) -> String {
    let text = lines.join("\n");
    match trim_start(&text) {
        "" => String::new(),
        text => format!("{text}\n{}", " ".repeat(column)),
    }
}

/// The lines of a child with a line break at their end. A block scalar that ended without one keeps its value.
pub(super) fn with_line_end(lines: String) -> String {
    if ends_line(&lines) {
        return lines;
    }
    let edit = Document::parse(lines.as_str()).ok().and_then(|doc| closed_end(&doc));
    edit.map_or_else(|| lines.clone(), |edit| TextEdits::from(edit).apply(&lines, 0..lines.len())) + "\n"
}
