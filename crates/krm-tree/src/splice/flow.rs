//! Edits of flow maps and lists: commas and brackets stay as the user writes them, and so do line breaks between children.

use std::ops::Range;

use krm_yaml::{NodeRef, Place, Style, WrittenChild, is_blank, quoted_json, trim, trim_start};

use super::print::{BlockText, Flow, Host, NewChild, line_indent, line_indent_at};
use super::{ChildFate, Splicer, is_in_order, is_kept};
use crate::tree::{Entry, Key};

/// The blank that must come between the text of a flow child and a comma or bracket: after the colon of an absent value. go-yaml reads `{a:,`
/// as a field with the name `a:`.
fn blank_behind(text: &str) -> &'static str {
    if text.ends_with(':') { " " } else { "" }
}

impl<'d> Splicer<'d, '_> {
    pub(super) fn flow_children(&mut self, node: NodeRef<'d>, entries: &[Entry<'d>]) {
        let places = Place::of_children(node);
        let bracketed = node.text().starts_with(['{', '[']);
        let is_in_order = is_in_order(entries);
        let structural = entries.iter().any(|entry| !is_kept(entry)) || !is_in_order;
        if structural && !bracketed {
            self.edit(node.start()..node.start(), "{");
        }
        if !is_in_order || !entries.iter().any(is_kept) {
            let inner = if bracketed { node.start() + 1..node.end() - 1 } else { node.start()..node.end() };
            let has_comments = self.doc.comments_in(inner.clone()).next().is_some();
            if has_comments && entries.iter().any(is_kept) {
                let text = self.flow_lines(inner.clone(), entries, &places);
                return self.edit(inner, text);
            }
            let children: Vec<String> = entries.iter().filter_map(|entry| self.flow_piece(entry, &places)).collect();
            let gap = |at: Range<usize>| Some(&self.text()[at]).filter(|s| is_blank(s) && s.contains('\n'));
            let (open, close) = match (places.first(), places.last()) {
                // Brackets with nothing between them stay together.
                (Some(first), Some(last)) if !children.is_empty() => {
                    (gap(inner.start..first.lead.max(inner.start)), gap(last.end.min(inner.end)..inner.end))
                }
                _ => (None, None),
            };
            let text = self.joined(&children, &self.comma(node, &places));
            self.edit(inner, [open.unwrap_or_default(), &text, close.unwrap_or_default()].concat());
        } else {
            self.flow_entries(&places, entries, &self.comma(node, &places));
        }
        if structural && !bracketed {
            self.edit(node.end()..node.end(), "}");
        }
    }

    /// Edits a flow map or list that has its children on lines of their own. A child has its lines, with its comma and its comments.
    pub(super) fn rows(&mut self, node: NodeRef<'d>, entries: &[Entry<'d>]) {
        if !is_in_order(entries) {
            return self.moved_children(node, entries);
        }
        let places = Place::of_children(node);
        let Some(start) = self.start_of_last_rows(&places, entries) else {
            return self.each_row(node, &places, entries);
        };
        let mut rows = self.inner();
        rows.each_row(node, &places, entries);
        let edits = rows.finish();
        let end = places.last().map_or(start, |last| last.bottom(self.doc));
        let text = edits.apply(self.text(), start..end);
        self.edits.extend(edits.into_vec().into_iter().filter(|edit| edit.range.start < start));
        if text != self.text()[start..end] {
            self.edit(start..end, text);
        }
    }

    /// Where the rows begin that are written as one edit: below the last row of dest that is sure to stay, whoever wins. Only the last row has no
    /// comma, so the commas of these rows depend on each other. `None` if all rows have commas, and where nothing comes or goes.
    fn start_of_last_rows(&self, places: &[Place], entries: &[Entry<'d>]) -> Option<usize> {
        let is_sure = |entry: &Entry<'d>| is_kept(entry) && !entry.is_contested;
        let above = entries.iter().rposition(is_sure);
        if entries.len() == above.map_or(0, |at| at + 1) || places.last()?.last_comma(self.doc).is_some() {
            return None;
        }
        match above.and_then(|at| entries[at].place()) {
            Some(place) => Some(places[place].end),
            None => Some(places.first()?.top(self.doc)),
        }
    }

    fn each_row(&mut self, node: NodeRef<'d>, places: &[Place], entries: &[Entry<'d>]) {
        let comma = self.commas(node, entries);
        let Some(first) = places.first() else { return };
        let mut at = first.top(self.doc);
        for (i, entry) in entries.iter().enumerate() {
            let Some(place) = entry.place().map(|place| places[place]) else {
                self.insert_lines(at, &self.new_lines(entry, first.column(self.doc), comma(i)));
                continue;
            };
            at = place.bottom(self.doc);
            if let Some(gap) = entry.comments.gap {
                self.set_gap(&place, gap, |_| None);
            }
            match entry.value {
                Some(_) => self.row(&place, entry, comma(i).unwrap_or_default()),
                None => self.edit(place.top(self.doc)..at, ""),
            }
        }
    }

    /// What ends each child that has lines of its own in brackets: a comma, or nothing if it is the last one and the last one has no comma.
    /// `None` for the children of a block.
    pub(super) fn commas(
        &self,
        node: NodeRef<'_>,
        entries: &[Entry<'_>],
    ) -> impl Fn(usize) -> Option<&'static str> + use<> {
        let last = Place::of_children(node).pop().filter(|_| node.style() == Style::Flow);
        let has_last_comma = last.map(|last| last.last_comma(self.doc).is_some());
        let last = entries.iter().rposition(|entry| entry.value.is_some());
        move |at| has_last_comma.map(|has_comma| if has_comma || Some(at) != last { "," } else { "" })
    }

    /// Edits a child that has lines of its own, and ends its value with this comma, or with none.
    pub(super) fn row(&mut self, place: &Place, entry: &Entry<'d>, comma: &str) {
        let (Some(was), Some(tree)) = (entry.was, &entry.value) else { return };
        if let Some(above) = entry.comments.above {
            self.set_comments_above(place, above);
        }
        self.flow_value(place, was, entry);
        match place.last_comma(self.doc) {
            Some(at) if comma.is_empty() => self.edit(at..at + 1, ""),
            None if !comma.is_empty() => {
                let blank = blank_behind(&self.text()[..place.end]);
                self.edit(place.end..place.end, format!("{blank}{comma}"));
            }
            _ => {}
        }
        if let Some(below) = entry.comments.below {
            self.set_comments_below(Host::Field, place, was.value(), tree, below);
        }
        if let Some(opening) = entry.comments.opening {
            self.set_opening(was.value(), opening);
        }
        if let Some(behind) = entry.comments.behind {
            self.set_comment(place, was.value(), behind);
        }
    }

    /// The text of one child of a flow map or list, so that the children can be put in another order.
    fn flow_piece(&self, entry: &Entry<'d>, places: &[Place]) -> Option<String> {
        let new = NewChild::of(entry)?;
        let Some(was) = entry.was else { return Some(self.layout().flow_child(&new)) };
        let place = &places[was.place()];
        let mut inner = self.inner();
        inner.flow_value(place, was, entry);
        let text = inner.finish().apply(self.text(), place.lead..place.end);
        let blank = blank_behind(&text);
        Some(text + blank)
    }

    /// The children of a flow map or list in a new order, each on a line of its own with its comments.
    fn flow_lines(&self, inner: Range<usize>, entries: &[Entry<'d>], places: &[Place]) -> String {
        // The comment after a child may come after its comma.
        let behind = |i: usize| {
            let rest = &self.text()[places[i].end..inner.end];
            let comma = rest.find(',').filter(|at| is_blank(&rest[..*at])).map(|at| places[i].end + at + 1);
            self.doc.comment_behind(places[i].end).or_else(|| self.doc.comment_behind(comma?))
        };
        let comments = |range: Range<usize>| self.doc.comments_in(range).map(|(start, end)| &self.text()[start..end]);
        let start = |i: usize| if i == 0 { inner.start } else { behind(i - 1).map_or(places[i - 1].end, |c| c.1) };
        let blanks = |at: usize| {
            let line = &self.text()[self.doc.line_start(at)..at];
            is_blank(line).then_some(line)
        };
        let indent = places.iter().find_map(|p| blanks(p.lead)).unwrap_or("  ");
        let own_line = |comment: &str| self.budget.paid(indent.len() + comment.len(), || format!("{indent}{comment}"));
        let kept: Vec<&Entry<'d>> = entries.iter().filter(|entry| entry.value.is_some()).collect();
        let mut lines = vec![String::new()];
        for (n, entry) in kept.iter().enumerate() {
            let Some(piece) = self.flow_piece(entry, places) else { continue };
            if !self.budget.take(indent.len()) {
                break;
            }
            let mut line = format!("{indent}{piece}{}", if n + 1 < kept.len() { "," } else { "" });
            if let Some(index) = entry.place() {
                lines.extend(comments(start(index)..places[index].lead).map(own_line));
                if let Some((start, end)) = behind(index) {
                    line.push(' ');
                    line.push_str(&self.text()[start..end]);
                }
            }
            lines.push(line);
        }
        lines.extend(comments(start(places.len())..inner.end).map(own_line));
        lines.push(blanks(inner.end).unwrap_or_default().to_owned());
        lines.join("\n")
    }

    /// The comma and blanks that the user puts between two children of this map or list.
    fn comma(&self, node: NodeRef<'_>, places: &[Place]) -> String {
        let default = if self.layout().flow == Flow::TightJson { "," } else { ", " };
        let blank_comma = |s: &str| trim(s) == ",";
        match places {
            [a, b, ..] => Some(&self.text()[a.end..b.lead]).filter(|s| blank_comma(s)).unwrap_or(default).to_owned(),
            [only] => {
                let gap = &self.text()[node.start() + 1..only.lead.max(node.start() + 1)];
                if is_blank(gap) && gap.contains(['\n', '\r']) { format!(",{gap}") } else { default.to_owned() }
            }
            [] => default.to_owned(),
        }
    }

    fn flow_entries(&mut self, places: &[Place], entries: &[Entry<'d>], comma: &str) {
        let mut behind: Vec<(usize, Vec<String>)> = Vec::new();
        let mut last_kept: Option<usize> = None;
        let mut removed: Option<usize> = None;
        let mut last = 0;
        // Where the children have several lines, a new one may have, too.
        let indent = comma.rsplit_once('\n').map(|(_, indent)| indent.len()).or_else(|| {
            let last = places.last().filter(|last| self.text()[last.lead..last.end].contains('\n'))?;
            Some(line_indent_at(self.doc, last.end))
        });
        for entry in entries {
            match (entry.was, &entry.value) {
                (Some(was), None) => {
                    removed.get_or_insert(was.place());
                    last = was.place();
                }
                (Some(was), Some(_)) => {
                    let place = &places[was.place()];
                    if let Some(first) = removed.take() {
                        let (first, start) = (&places[first], self.start(place));
                        // Comments cannot follow the bracket, or another child.
                        let needs_line = first.is_inline(self.doc) && start < place.lead;
                        let line = if needs_line {
                            format!("\n{}", self.layout().rows.blanks(place.column(self.doc)))
                        } else {
                            String::new()
                        };
                        self.edit(self.start(first)..start, line);
                    }
                    self.flow_value(place, was, entry);
                    last_kept = Some(was.place());
                    last = was.place();
                }
                (None, _) => {
                    let Some(new) = NewChild::of(entry) else { continue };
                    let child = match indent {
                        Some(indent) => self.layout().flow_child_in_lines(&new, indent),
                        None => self.layout().flow_child(&new),
                    };
                    match last_kept {
                        Some(i) => match behind.last_mut() {
                            Some((last, children)) if *last == i => children.push(child),
                            _ => behind.push((i, vec![child])),
                        },
                        None => {
                            let start = self.start(&places[0]);
                            // The comments of the first child stay above it.
                            let own_line = format!(",\n{}", self.layout().rows.blanks(places[0].column(self.doc)));
                            let comma = if start < places[0].lead { &own_line } else { comma };
                            let first = self.joined(&[child, String::new()], comma);
                            self.edit(start..start, first);
                        }
                    }
                }
            }
        }
        for (i, children) in &behind {
            self.add_behind(&places[*i], comma, children);
        }
        if let (Some(first), Some(kept)) = (removed, last_kept) {
            self.remove_flow_tail(&places[kept], &places[first], &places[last]);
        }
    }

    /// Removes the last children of a flow map or list, with the comma before them and the comment on their line. The comment of the child that
    /// stays also stays.
    fn remove_flow_tail(&mut self, kept: &Place, first: &Place, last: &Place) {
        let doc = self.doc;
        let behind = |place: &Place| doc.comment_behind(place.comma(doc).map_or(place.end, |comma| comma + 1));
        let end = behind(last).map_or(last.end, |comment| comment.1);
        let Some((start, stop)) = behind(kept).or_else(|| doc.comment_behind(kept.end)).filter(|c| c.1 <= first.lead)
        else {
            return self.edit(kept.end..end, blank_behind(&self.text()[..kept.end]));
        };
        if let Some(comma) = kept.comma(doc).filter(|comma| *comma < start) {
            self.edit(comma..comma + 1, "");
        }
        // A bracket must not become a part of the comment.
        let rest = &self.text()[end..];
        let is_ended = rest.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']);
        let line_break = if is_ended {
            String::new()
        } else {
            format!("\n{}", self.layout().rows.blanks(line_indent_at(doc, kept.lead)))
        };
        self.edit(stop..end, line_break);
    }

    /// The start of a child, with its comments if it has lines of its own.
    fn start(&self, place: &Place) -> usize {
        if place.is_inline(self.doc) { place.lead } else { place.top(self.doc) + place.column(self.doc) }
    }

    /// Adds children to a flow map or list after another, on lines of their own if a comment ends the line.
    fn add_behind(&mut self, place: &Place, comma: &str, children: &[String]) {
        let blank = blank_behind(&self.text()[..place.end]);
        match self.doc.comment_behind(place.end) {
            Some((_, end)) => {
                let start = self.doc.line_start(place.lead);
                let line = &self.text()[start..];
                let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
                self.edit(place.end..place.end, format!("{blank},"));
                let added = self.joined(children, &format!(",\n{indent}"));
                self.edit(end..end, format!("\n{indent}{added}"));
            }
            None => {
                let added = self.joined(children, comma);
                self.edit(place.end..place.end, format!("{blank}{comma}{added}"));
            }
        }
    }

    /// Gives a child another key. Its colon stays.
    fn rename(&mut self, place: &Place, old: NodeRef<'d>, new: Key<'_>) {
        let rest = &self.text()[old.end()..];
        let is_tight = rest.strip_prefix(':').is_some_and(|value| trim_start(value) == value);
        let name = self.layout().flow_key(new);
        // In `{"a":1}` only the quotes say that the key ends there.
        let name = if is_tight && !name.starts_with(['"', '\'']) { quoted_json(new.name()) } else { name };
        let has_question = place.lead < old.full_start();
        if has_question || !self.layout().needs_question(&name) {
            return self.edit(old.full_start()..old.end(), name);
        }
        self.edit(old.full_start()..old.end(), format!("? {name} "));
        if is_tight {
            self.edit(place.open..place.open, " ");
        }
    }

    fn flow_value(&mut self, place: &Place, was: WrittenChild<'d>, entry: &Entry<'d>) {
        let (key, value) = (was.key(), was.value());
        if let Some((old, new)) = key.zip(entry.new_key()) {
            self.rename(place, old, new);
        }
        let Some(tree) = &entry.value else { return };
        let fate = match ChildFate::of(tree, value) {
            // An empty map or list gets its first children.
            ChildFate::Inside(branch) if !branch.entries.iter().any(is_kept) && self.layout().has_rows() => {
                ChildFate::Put(tree)
            }
            fate => fate,
        };
        match fate {
            ChildFate::Kept => {}
            ChildFate::Put(_) => {
                let Some(new) = NewChild::of(entry) else { return };
                let start = value.full_start();
                // A key without a colon (`{a}`) or without a blank after it (`{"a":}`).
                let has_colon = self.text()[..place.open].ends_with(':');
                let gap = match (place.lead == place.open, value.is_absent() && start == place.open, has_colon) {
                    (false, true, true) => " ",
                    (false, true, false) => ": ",
                    _ => "",
                };
                let is_in_lines = !place.is_inline(self.doc) || value.text().contains('\n');
                let indent = is_in_lines.then(|| line_indent(value));
                let text = BlockText { head: self.layout().in_flow(&new, indent), body: Vec::new() };
                let text = text.behind_props(&[value.anchor_text()]).head;
                self.edit(start..value.end().max(start), format!("{gap}{text}"));
            }
            ChildFate::Inside(branch) => self.children(value, branch),
        }
    }
}
