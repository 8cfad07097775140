//! Nodes of another document as lines in dest's style: its indent width, its compact or wide lists, its flow and JSON.
//!
//! Scalars are copied as they are written, with their comments; only the layout is dest's. A map or list whose entry asks for
//! [`Layout::Value`](tree::Layout::Value) keeps its own layout in its own column. Parts that a tree leaves out are left out.
//! Aliases are written out and anchors are not copied: a copy must mean the same in every place. An alias of dest's own anchor is asked for
//! with [`Layout::Alias`](tree::Layout::Alias).
//!
//! All text that is made here is subtracted from a budget, piece by piece. Once that is used up, no more text is made, and the caller has
//! to check whether the text is complete.

mod flow;

use std::cmp::Ordering;
use std::ops::Range;

use krm_yaml::{
    BlockScalar, Chomping, Context, Document, Kind, NodeRef, Place, Scalar, SourceLines, Style, WrittenChild, below,
    comment_of, comment_place, comment_text, comments_above, comments_below, gap_from, is_blank, lines, needs_escapes,
    plain_or_quoted, quoted, quoted_json, trim, trim_start, without_break,
};

use super::last_block;
use super::moved_lines::as_written;
use crate::limit::Budget;
use crate::remarks::Remarks;
use crate::tree::{self, Comments, Entry, Key, Made, Quotes, Tree};
pub(super) use flow::Flow;

/// The layout of a resource, read from its own text, and the budget for text in that layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostLayout<'b> {
    /// How much deeper a map is than its key.
    pub indent: usize,
    /// How much deeper a list's dash is than the list's key: 0 is kpt's compact form.
    pub list_offset: usize,
    /// Whether the resource is YAML or JSON.
    pub flow: Flow,
    /// How the lines of its brackets are indented.
    pub rows: Rows,
    /// The budget for new text.
    pub budget: &'b Budget,
}

/// The lines of a resource that is written in brackets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rows {
    /// Its children have no lines of their own, or it is a block.
    #[default]
    Shared,
    /// They have lines of their own, and are so many blanks deeper than the line of the closing bracket.
    Spaces(usize),
    /// The same in tabs.
    Tabs(usize),
}

impl Rows {
    /// Reads them from the first child of a map or list.
    pub fn of(root: NodeRef<'_>) -> Self {
        let (doc, close) = (root.document(), root.end().saturating_sub(1));
        let is_bracketed = root.style() == Style::Flow && root.text().starts_with(['{', '[']);
        let first = root.written().next().filter(|_| is_bracketed);
        let first = first.map(|first| Place::of_child(root, first)).filter(|first| !first.is_inline(doc));
        // The opening bracket may be behind a dash.
        let is_closed = |_: &Place| is_blank(&doc.source()[doc.line_start(close)..close]);
        let Some(Place { lead, .. }) = first.filter(is_closed) else { return Self::Shared };
        let depth = line_indent_at(doc, lead).checked_sub(line_indent_at(doc, close));
        match depth.filter(|depth| (1..=9).contains(depth)) {
            None => Self::Shared,
            Some(depth) if doc.source()[..lead].ends_with('\t') => Self::Tabs(depth),
            Some(depth) => Self::Spaces(depth),
        }
    }

    /// The blanks before a line at a column.
    pub fn blanks(self, column: usize) -> String {
        if matches!(self, Self::Tabs(_)) { "\t".repeat(column) } else { blanks(column) }
    }

    const fn depth(self) -> Option<usize> {
        match self {
            Self::Shared => None,
            Self::Spaces(depth) | Self::Tabs(depth) => Some(depth),
        }
    }
}

/// What the first map and the first list in a map show.
#[derive(Default)]
struct FoundLayout {
    indent: Option<usize>,
    list_offset: Option<usize>,
}

impl FoundLayout {
    fn look_into(&mut self, node: NodeRef<'_>) {
        if (self.indent.is_some() && self.list_offset.is_some()) || node.style() != Style::Block {
            return;
        }
        for (key, value) in node.entries().filter(|(_, v)| v.style() == Style::Block) {
            let found = if value.kind() == Kind::Map { &mut self.indent } else { &mut self.list_offset };
            // A block that is left of its key says nothing, so the next one counts.
            if found.is_none() {
                let deeper = value.start() - value.document().line_start(value.start());
                *found = deeper.checked_sub(key.column());
            }
        }
        let blocks = node.written().map(|(_, value)| value).filter(|value| value.style() == Style::Block);
        blocks.for_each(|value| self.look_into(value));
    }
}

impl<'b> HostLayout<'b> {
    /// The layout of a resource: that of the first map and the first list in it.
    pub fn of(root: NodeRef<'_>, budget: &'b Budget) -> Self {
        let mut found = FoundLayout::default();
        found.look_into(root);
        let rows = Rows::of(root);
        Self {
            indent: rows.depth().or(found.indent.filter(|i| (1..=9).contains(i))).unwrap_or(2),
            list_offset: found.list_offset.unwrap_or(0),
            flow: Flow::of(root),
            rows,
            budget,
        }
    }
}

/// A child that is to be written.
#[derive(Clone, Copy)]
pub(super) struct NewChild<'t, 'a> {
    /// The key, if its container is a map.
    pub key: Option<Key<'a>>,
    /// The key that the value is written with.
    source: Option<NodeRef<'a>>,
    /// The value.
    pub tree: &'t Tree<'a>,
    /// The comments that it gets; `None` for the comments of its source.
    pub comments: Comments<'a>,
    /// The layout of the value.
    layout: tree::Layout,
}

impl<'t, 'a> NewChild<'t, 'a> {
    /// The child of an entry; `None` if it is removed.
    pub fn of(entry: &'t Entry<'a>) -> Option<Self> {
        let (key, source) = (entry.key, entry.key_of_value());
        Some(Self { key, source, tree: entry.value.as_ref()?, comments: *entry.comments, layout: entry.layout })
    }

    /// A value without its key.
    pub fn value(tree: &'t Tree<'a>) -> Self {
        Self { key: None, source: None, tree, comments: Comments::default(), layout: tree::Layout::Host }
    }

    /// The comments at the end of its block, which is written as `like`.
    fn foot(&self, like: NodeRef<'_>) -> Foot<'a> {
        if let Some(given) = self.comments.below {
            return Foot::Given(given);
        }
        // A comment below the end of the child belongs to the content after it, not to the value.
        let own = self.place().filter(|_| like.kind() != Kind::Alias);
        Foot::Own(own.map(|(place, value)| place.bottom(value.document())))
    }

    /// The comments at the end of its map or list, in brackets.
    fn comments_below(&self) -> &'a str {
        let own = || self.place().map_or("", |(place, value)| comments_below(&place, value));
        self.comments.below.unwrap_or_else(own)
    }

    /// The comment behind its opening bracket.
    fn comment_behind_bracket(&self) -> &'a str {
        let own = || self.place().and_then(|(place, value)| Remarks::at(&place, value).opening);
        self.comments.opening.or_else(own).unwrap_or_default()
    }

    /// Whether it gets comments, or has its own.
    fn has_comments(&self) -> bool {
        let own = self.place().map(|(place, value)| Remarks::at(&place, value)).unwrap_or_default();
        let Remarks { above, behind, .. } = own;
        let of = [self.comments.above.unwrap_or(above), self.comments.behind.unwrap_or(behind)];
        of.iter().any(|comment| !is_blank(comment))
    }

    /// Its place in its own document; a root has none.
    pub fn place(&self) -> Option<(Place, NodeRef<'a>)> {
        let value = self.tree.like()?;
        let place = match self.key {
            Some(_) => self.source.and_then(|key| Place::of_pair(key, value)),
            None => Place::of_any_element(value),
        };
        Some((place?, value))
    }
}

/// The comments at the end of a block.
#[derive(Clone, Copy)]
enum Foot<'c> {
    /// Its own ones, which end at an offset, if that is known.
    Own(Option<usize>),
    /// These.
    Given(&'c str),
}

/// The token that a value comes after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    /// A key.
    Field,
    /// A dash.
    Element,
}

impl Host {
    /// What the children of a map or list come after.
    pub fn in_container(container: NodeRef<'_>) -> Self {
        if container.is_map() { Self::Field } else { Self::Element }
    }
}

/// A value as text: the part on the line of its key or dash, and the lines below, indented.
#[derive(Debug, Default)]
pub(super) struct BlockText {
    pub head: String,
    /// The lines below. One piece may have several lines that belong together: a child, or a text.
    pub body: Vec<String>,
}

impl BlockText {
    /// With an anchor and a tag before it.
    pub fn behind_props(mut self, props: &[Option<&str>]) -> Self {
        let words = props.iter().copied().flatten().chain(Some(self.head.as_str()).filter(|head| !head.is_empty()));
        self.head = words.collect::<Vec<_>>().join(" ");
        self
    }

    /// Appends it after a key's colon or a dash, with the comment of the line.
    pub fn behind(self, host: Host, comment: Option<&str>, out: &mut String) {
        self.behind_gap(" ", host, comment, out);
    }

    /// Like [`BlockText::behind`], with these blanks before what is on the line.
    fn behind_gap(mut self, gap: &str, host: Host, comment: Option<&str>, out: &mut String) {
        let begin = out.len();
        let below: usize = self.body.iter().map(|line| line.len() + 1).sum();
        out.reserve_exact(gap.len() + self.head.len() + comment.map_or(0, |comment| comment.len() + 1) + below);
        if !self.head.is_empty() {
            out.push_str(gap);
            out.push_str(&self.head);
        }
        if let Some(comment) = comment {
            if !comment.starts_with([' ', '\t']) {
                out.push(' ');
            }
            out.push_str(comment);
        }
        // What is above the first child does not belong to the dash: it stays on lines of its own.
        let is_above = |line: &String| is_blank(line) || trim_start(line).starts_with('#');
        if out.len() == begin && host == Host::Element && self.body.first().is_some_and(|line| !is_above(line)) {
            let first = self.body.remove(0);
            out.push(' ');
            out.push_str(trim_start(&first));
        }
        for line in self.body {
            out.push('\n');
            out.push_str(&line);
        }
    }
}

/// The anchor that a value keeps wherever it is written: links refer to it.
pub(super) fn own_anchor<'a>(value: NodeRef<'a>) -> Option<&'a str> {
    value.anchor_text().filter(|_| value.document().keeps_links())
}

/// The blanks between a colon and the value on its line, as they are written: they may line up values.
fn gap_before<'a>(place: &Place, value: NodeRef<'a>) -> &'a str {
    let gap = value.document().source().get(place.open..value.full_start()).unwrap_or_default();
    if !gap.is_empty() && gap.bytes().all(|byte| matches!(byte, b' ' | b'\t')) { gap } else { " " }
}

fn blanks(n: usize) -> String {
    " ".repeat(n)
}

impl HostLayout<'_> {
    /// The column of the children of a value after a key or dash at `column`.
    pub fn child_column(&self, kind: Kind, host: Host, column: usize) -> usize {
        match (host, kind) {
            (Host::Element, _) => column + 2,
            (Host::Field, Kind::List) => column + self.list_offset,
            (Host::Field, _) => column + self.indent,
        }
    }

    /// A value after a key or dash at `column`.
    pub fn value(&self, new: &NewChild<'_, '_>, host: Host, column: usize) -> BlockText {
        let text = self.without_anchor(new, host, column);
        text.behind_props(&[new.tree.like().and_then(own_anchor)])
    }

    fn without_anchor(&self, new: &NewChild<'_, '_>, host: Host, column: usize) -> BlockText {
        let like = match new.tree {
            Tree::Made(made) => return self.made_text(made, column),
            tree => tree.like(),
        };
        let Some(like) = like else { return BlockText { head: self.flow(new.tree), body: Vec::new() } };
        if like.is_link() {
            return BlockText { head: self.paid(like.text().to_owned()), body: Vec::new() };
        }
        if let (tree::Layout::Alias, Some(anchor)) = (new.layout, like.anchor_text()) {
            return BlockText { head: self.paid(anchor.replacen('&', "*", 1)), body: Vec::new() };
        }
        let node = like.resolve();
        if let Some(body) = self.as_written(new, host, column) {
            return BlockText { head: String::new(), body };
        }
        match node.kind() {
            Kind::Scalar => self.scalar(node, column),
            _ if node.style() == Style::Flow => {
                BlockText { head: self.flow_value(node, new.tree, column), body: Vec::new() }
            }
            kind => {
                let at = self.child_column(kind, host, column);
                let foot = new.foot(like);
                // In the column of its key, a comment at the end of a list would not belong to the list.
                let foot_at = at.max(column + 1);
                let body = self.children(node, new.tree, at, (foot, foot_at));
                let head = match kind {
                    _ if !body.is_empty() => "",
                    Kind::Map => "{}",
                    _ => "[]",
                };
                BlockText { head: with_tag(node, head), body }
            }
        }
    }

    /// The lines of a block in its own layout; `None` if that is not asked for, or if these lines would mean something else here.
    fn as_written(&self, new: &NewChild<'_, '_>, host: Host, column: usize) -> Option<Vec<String>> {
        let (&Tree::Node(node), tree::Layout::Value) = (new.tree, new.layout) else { return None };
        let (place, _) = new.place()?;
        let (doc, end) = (node.document(), place.bottom(node.document()));
        let below = doc.next_line(place.open);
        let (start, indent) = match host {
            Host::Field if node.start() >= below => (below, 0),
            Host::Element if node.start() < below && node.column() == column + 2 => (node.start(), column + 2),
            Host::Field | Host::Element => return None,
        };
        let has_own_end = new.comments.below.is_none_or(|below| below == comments_below(&place, node));
        let is_alike =
            self.flow == Flow::Yaml && node.style() == Style::Block && place.column(doc) == column && has_own_end;
        let is_linked = node.has_merge_entries() || doc.has_props_in(place.lead..end);
        let has_end_elsewhere = BlockScalar::keeps_lines_below(node) || BlockScalar::is_cut_off(node);
        if !is_alike || is_linked || node.has_nulls() || has_end_elsewhere {
            return None;
        }
        let text = without_break(&doc.source()[start..end]);
        let text = self.budget.paid(indent + text.len(), || blanks(indent) + text);
        Some(lines(&text).into_iter().map(str::to_owned).collect())
    }

    /// A new entry or element, whose key or dash is at `column`, as lines.
    pub fn new_child(&self, new: &NewChild<'_, '_>, column: usize) -> Vec<String> {
        let place = new.place();
        if let Some(lines) = self.whole(new, column) {
            return lines;
        }
        let mut out = self.above(new, column);
        let document = new.tree.like().filter(|_| place.is_none() && new.key.is_none()).map(NodeRef::resolve);
        if let Some(node) = document.filter(|node| node.style() == Style::Block && node.tag().is_none()) {
            // A document becomes an element. kpt keeps comments above the dash, and loses comments after it.
            let mut body = self.children(node, new.tree, column + 2, (Foot::Own(None), column + 2));
            let mut contents = body.iter().map(|line| trim_start(line));
            let first = contents.position(|content| !content.is_empty() && !content.starts_with('#'));
            if let Some(first) = first {
                out.extend(body.drain(..first).map(|l| l.replacen("  ", "", 1)));
                body[0].replace_range(column..=column, "-");
                out.append(&mut body);
                return out;
            }
        }
        self.child(new, place, column, &mut out);
        if let Some((place, value)) = place {
            let below = self.below_child(&place, value, column);
            out.extend(not_taken(below, || last_block(&out.join("\n"))));
        }
        out
    }

    /// The lines above a new child.
    fn above(&self, new: &NewChild<'_, '_>, column: usize) -> Vec<String> {
        let own = match new.place() {
            Some((place, value)) if !place.is_inline(value.document()) => comments_above(&place, value.document()),
            _ => "",
        };
        let mut out = comment_lines(new.comments.gap.unwrap_or_default(), column, self.budget);
        out.extend(comment_lines(new.comments.above.unwrap_or(own), column, self.budget));
        out
    }

    /// Children below each other, as lines at `column`.
    pub fn new_children<'t, 'a: 't>(
        &self,
        all: impl IntoIterator<Item = NewChild<'t, 'a>>,
        column: usize,
    ) -> Vec<String> {
        let (mut out, mut last) = (Vec::new(), 0);
        for new in all {
            let lines = not_taken(self.new_child(&new, column), || last_block(&out[last..].join("\n")));
            last = out.len();
            out.extend(lines);
        }
        out
    }

    /// A new element that is a whole resource, as it is written; `None` if it is no resource, or must be written otherwise. kpt keeps comments
    /// above the dash, and loses comments after it.
    fn whole(&self, new: &NewChild<'_, '_>, column: usize) -> Option<Vec<String>> {
        let like = new.tree.like().filter(|_| new.layout == tree::Layout::Own && new.key.is_none())?;
        // The document may have other anchors of these names.
        if like.document().has_anchors_in(like) {
            return None;
        }
        let lines = as_written(new.tree, self.budget)?;
        let first = lines.iter().position(|line| !line.is_empty() && !line.starts_with('#'))?;
        if !self.budget.take(lines.len().saturating_mul(column + 2)) {
            return None;
        }
        let indented = |(at, line): (usize, &String)| match at.cmp(&first) {
            _ if line.is_empty() => String::new(),
            Ordering::Less => format!("{}{line}", blanks(column)),
            Ordering::Equal => format!("{}- {line}", blanks(column)),
            Ordering::Greater => format!("{}{line}", blanks(column + 2)),
        };
        Some(lines.iter().enumerate().map(indented).collect())
    }

    /// A map or list as the lines of a document. Its own comments come first: the lines above its dash, and the comment after the dash.
    pub fn document(&self, tree: &Tree<'_>) -> Vec<String> {
        let mut out = Vec::new();
        let Some(like) = tree.like() else { return out };
        if let Some(lines) = as_written(tree, self.budget) {
            return lines;
        }
        let doc = like.document();
        if let Some(place) = Place::behind_dash(like).filter(|p| !p.is_inline(doc)) {
            out.extend(comment_lines(comments_above(&place, doc), 0, self.budget));
            out.extend(comment_text(&place, like).filter(|_| like.style() == Style::Block).map(str::to_owned));
        }
        let node = like.resolve();
        if node.style() == Style::Flow {
            out.push(self.flow_value(node, tree, 0));
        } else {
            let children = self.children(node, tree, 0, (Foot::Own(None), 0));
            out.extend(node.tag_text().map(str::to_owned));
            out.extend(children.into_iter().skip_while(String::is_empty));
        }
        out
    }

    /// The lines of a child after its own comment lines.
    fn child(&self, new: &NewChild<'_, '_>, place: Option<(Place, NodeRef<'_>)>, column: usize, out: &mut Vec<String>) {
        let host = if new.key.is_some() { Host::Field } else { Host::Element };
        let key = new.key.map_or_else(|| "-".to_owned(), |key| self.with_question(self.key(key), column) + ":");
        // A new map may have many lines, and most are short.
        let mut line = String::with_capacity(column + key.len());
        line.extend(std::iter::repeat_n(' ', column));
        line.push_str(&key);
        let own = || {
            let (place, value) = place?;
            let (_, end) = comment_of(&place, value)?;
            Some(&value.document().source()[comment_place(&place, value)?..end])
        };
        let comment = new.comments.behind.or_else(own).filter(|comment| !comment.is_empty());
        let gap = place.filter(|_| host == Host::Field).map_or(" ", |(place, value)| gap_before(&place, value));
        if self.budget.take(line.len() + gap.len() + comment.map_or(0, str::len) + 1) {
            self.value(new, host, column).behind_gap(gap, host, comment, &mut line);
            out.push(line);
        }
    }

    /// A piece of new text, if there is budget for it.
    fn paid(&self, text: String) -> String {
        self.budget.paid(text.len(), || text)
    }

    /// A key of a block map at a column, up to its colon. A long key needs a `?`, and then the colon is on a line of its own.
    pub fn with_question(&self, key: String, column: usize) -> String {
        if !is_long(&key) {
            return key;
        }
        self.budget.paid(column + 3, || format!("? {key}\n{}", blanks(column)))
    }

    /// A key of a block map.
    pub fn key(&self, key: Key<'_>) -> String {
        let key = match key {
            Key::Node(key) => key.target(),
            Key::Made(name) => return plain_or_quoted(name),
        };
        if key.kind() == Kind::Scalar { self.paid(self.scalar_key(key)) } else { self.flow(&Tree::Node(key)) }
    }

    fn scalar_key(&self, key: NodeRef<'_>) -> String {
        match key.style() {
            // Its name is empty, whatever type its tag gives it.
            _ if key.is_absent() => with_tag(key, "\"\""),
            // A patch in JSON must quote every key, so these quotes mean nothing.
            _ if self.flow == Flow::Yaml && trim_start(key.document().source()).starts_with('{') => {
                plain_or_quoted(key.string())
            }
            Style::Plain | Style::Single | Style::Double if !key.text().contains(['\n', '\r']) => {
                with_tag(key, key.text())
            }
            _ => quoted_json(key.string()),
        }
    }

    /// The children of a block map or list, as lines at `column`, and the comments at its end with their own column.
    fn children(
        &self,
        node: NodeRef<'_>,
        tree: &Tree<'_>,
        column: usize,
        (foot, foot_at): (Foot<'_>, usize),
    ) -> Vec<String> {
        let doc = node.document();
        let text = doc.source();
        let mut out = Vec::new();
        if !matches!(tree, Tree::Branch(_)) && node.has_merge_entry() {
            return self.spelled_out(node, column);
        }
        let places = Place::of_children(node);
        // Where the lines of the last child begin.
        let mut begin = 0;
        let mut own = |was: WrittenChild<'_>, new: &NewChild<'_, '_>, out: &mut Vec<String>| {
            let (index, key, value) = (was.place(), was.key(), was.value());
            let place = places[index];
            let last = std::mem::replace(&mut begin, out.len());
            if !place.is_inline(doc) {
                let limit = if index == 0 { 0 } else { places[index - 1].bottom(doc) };
                let line = doc.line_start(place.lead);
                let above = &text[gap_from(doc, limit, line)..line];
                let above = comment_lines(above, column, self.budget);
                let above = not_taken(above, || last_block(&out[last..].join("\n")));
                out.extend(above);
            }
            if new.tree.like().is_some_and(|like| like.is(value)) {
                let named = NewChild { key: new.key.or(key.map(Key::Node)), source: key, ..*new };
                self.child(&named, Some((place, value)), column, out);
                out.extend(self.below_child(&place, value, column));
            } else {
                self.child(new, new.place(), column, out);
            }
        };
        match tree {
            Tree::Branch(branch) => {
                for entry in branch.entries.iter().filter(|entry| !entry.is_merge()) {
                    match (NewChild::of(entry), entry.was) {
                        (None, _) => {}
                        (Some(new), Some(was)) => own(was, &new, &mut out),
                        (Some(new), None) => {
                            let lines = self.new_child(&new, column);
                            out.extend(not_taken(lines, || last_block(&out.join("\n"))));
                        }
                    }
                }
                for entry in branch.brought_in() {
                    let lines = self.new_children(NewChild::of(&entry), column);
                    out.extend(not_taken(lines, || last_block(&out.join("\n"))));
                }
            }
            _ => {
                for (place, (key, value)) in node.written().enumerate() {
                    own(WrittenChild::new(place, key, value), &NewChild::value(&Tree::Node(value)), &mut out);
                }
            }
        }
        let foot = match foot {
            // An empty block is written in brackets.
            _ if out.is_empty() => Vec::new(),
            Foot::Given(comments) => comment_lines(comments, foot_at, self.budget),
            Foot::Own(bottom) => self.foot(node, &places, foot_at, bottom),
        };
        let foot = not_taken(foot, || last_block(&out.join("\n")));
        out.extend(foot);
        out
    }

    /// The fields of a map with a `<<`, as lines at `column`.
    fn spelled_out(&self, node: NodeRef<'_>, column: usize) -> Vec<String> {
        let entries = node.fields().map(|(key, value)| Entry::new(Some(Key::Node(key)), Tree::Node(value)));
        let entries: Vec<Entry<'_>> = entries.collect();
        self.new_children(entries.iter().filter_map(NewChild::of), column)
    }

    /// The comments below a child that belong to it, as much deeper as they are written. If its value is a block, the block has them.
    fn below_child(&self, place: &Place, value: NodeRef<'_>, column: usize) -> Vec<String> {
        let doc = value.document();
        let own = doc.next_line(place.end)..place.bottom(doc);
        if value.style() == Style::Block || own.is_empty() {
            return Vec::new();
        }
        let text = &doc.source()[own];
        let depths =
            lines(text).into_iter().filter(|line| !is_blank(line)).map(|line| line.len() - trim_start(line).len());
        let depth = depths.min().unwrap_or_default().saturating_sub(place.column(doc));
        match value.style() {
            // As deep as its content, a comment would be a line of the block scalar.
            Style::Literal | Style::Folded => {
                let end = column + self.indent;
                comment_lines_up_to(text, (column + depth).min(end - 1)..end, self.budget)
            }
            _ => comment_lines(text, column + depth, self.budget),
        }
    }

    /// The comments below the last child of a block that belong to the block.
    fn foot(&self, node: NodeRef<'_>, places: &[Place], column: usize, bottom: Option<usize>) -> Vec<String> {
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return Vec::new() };
        let (doc, text) = (node.document(), node.document().source());
        let own = last.bottom(doc);
        let deeper_than_host = first.column(doc).saturating_sub(1);
        let end = bottom.unwrap_or_else(|| below(doc, last.end, deeper_than_host));
        let mut out = comment_lines(&text[own..end.max(own)], column, self.budget);
        while out.last().is_some_and(String::is_empty) {
            out.pop();
        }
        out
    }

    /// A scalar that is not in any document.
    fn made(&self, made: &Made<'_>, context: Context) -> String {
        let style = match &made.quotes {
            _ if self.flow != Flow::Yaml => Style::Double,
            Quotes::Needed => Style::Plain,
            Quotes::Single => return format!("'{}'", made.value.replace('\'', "''")),
            Quotes::As(node) => node.resolve().style(),
            Quotes::Lines(lines) => lines.scalar().map_or(Style::Double, NodeRef::style),
        };
        match style {
            Style::Plain => quoted(&made.value, context),
            Style::Single if !needs_escapes(&made.value) => format!("'{}'", made.value.replace('\'', "''")),
            _ => quoted_json(&made.value),
        }
    }

    /// A scalar after a key or dash at `column`.
    fn scalar(&self, node: NodeRef<'_>, column: usize) -> BlockText {
        let text = node.text();
        if !self.budget.take(text.len()) {
            return BlockText::default();
        }
        match node.style() {
            Style::Literal | Style::Folded => self.block_scalar(node, column),
            // JSON in a flow document stays as it is: every reader accepts it.
            _ if !text.contains(['\n', '\r']) => BlockText { head: with_tag(node, text), body: Vec::new() },
            _ => {
                let inner = blanks(column + self.indent);
                let mut head = String::new();
                let written = SourceLines::of(node).map(|written| written.text).unwrap_or_default();
                for (i, line) in written.lines().enumerate() {
                    if i > 0 {
                        head.push('\n');
                        if !line.is_empty() && self.budget.take(inner.len()) {
                            head.push_str(&inner);
                        }
                    }
                    head.push_str(line);
                }
                BlockText { head: with_tag(node, &head), body: Vec::new() }
            }
        }
    }

    /// A text that is not in any document, after a key or dash at `column`: in lines of its own, or as a block scalar if dest has one there,
    /// and YAML can write the text so.
    fn made_text(&self, made: &Made<'_>, column: usize) -> BlockText {
        let text = match &made.quotes {
            _ if self.flow != Flow::Yaml => None,
            Quotes::Lines(lines) => {
                lines.scalar().map(|node| self.as_deep_as(lines.indent, column).scalar(node, column))
            }
            Quotes::As(node) => self.literal(node.resolve(), &made.value, column),
            Quotes::Needed | Quotes::Single => None,
        };
        text.unwrap_or_else(|| BlockText { head: self.paid(self.made(made, Context::Block)), body: Vec::new() })
    }

    /// This layout, but for a text after a key or dash at `column` whose lines are to be indented so far, if they can be.
    fn as_deep_as(&self, indent: usize, column: usize) -> Self {
        let depth = indent.checked_sub(column).filter(|depth| *depth > 0);
        Self { indent: depth.unwrap_or(self.indent), ..*self }
    }

    /// A text as a literal block scalar with the depth of the one that it replaces; `None` if that is no block scalar, or if the lines cannot
    /// be written that way.
    fn literal(&self, node: NodeRef<'_>, value: &str, column: usize) -> Option<BlockText> {
        let block = BlockScalar::of(node)?;
        let content = value.strip_suffix('\n').unwrap_or(value);
        let lines: Vec<&str> = content.split('\n').collect();
        if content.is_empty() || lines.iter().any(|line| needs_escapes(&line.replace('\t', ""))) {
            return None;
        }
        let depth = match self.as_deep_as(block.indent, column).indent {
            depth @ 1..=9 => depth,
            _ => self.indent,
        };
        let first = lines.iter().find(|line| !line.is_empty())?;
        // libyaml does not find the indentation if a tab follows it.
        let indentation = if first.starts_with([' ', '\t']) { depth.to_string() } else { String::new() };
        let chomping = if content.len() == value.len() {
            "-"
        } else if content.ends_with('\n') {
            "+"
        } else {
            ""
        };
        let inner = blanks(column + depth);
        if !self.budget.take(value.len() + lines.len().saturating_mul(inner.len())) {
            return Some(BlockText::default());
        }
        let indented: Vec<String> =
            lines.iter().map(|line| if line.is_empty() { String::new() } else { format!("{inner}{line}") }).collect();
        Some(BlockText { head: with_tag(node, &format!("|{indentation}{chomping}")), body: vec![indented.join("\n")] })
    }

    /// A block scalar: its lines moved to the new indentation, its header corrected if the old one would mean something else.
    fn block_scalar(&self, node: NodeRef<'_>, column: usize) -> BlockText {
        let Some(block) = BlockScalar::of(node) else { return BlockText::default() };
        let header = &node.document().source()[block.header.clone()];
        let all = lines(node.text());
        let content = &all[1..];
        let is_of_blanks = |l: &str| l.bytes().all(|b| b == b' ');
        let indentation = |l: &str| l.bytes().take_while(|b| *b == b' ').count();
        let value = node.string();
        let old = block.indent;
        let first = content.iter().find(|l| !is_of_blanks(l));
        // libyaml does not find the indentation if a tab follows it.
        let is_deeper =
            first.is_some_and(|l| indentation(l) > old || l.get(old..).is_some_and(|l| l.starts_with('\t')));
        let leading_blanks = content.iter().take_while(|l| is_of_blanks(l)).any(|l| first.is_some() && l.len() > old);
        let mut head = header[..1].to_owned();
        let mut depth = self.indent;
        if is_deeper || leading_blanks {
            // The number has one digit.
            depth = depth.min(9);
            head.push_str(&depth.to_string());
        }
        // Of blank lines alone, nothing shows the indentation.
        if first.is_none() && !value.is_empty() {
            return BlockText { head: with_tag(node, &quoted_json(value)), body: Vec::new() };
        }
        // A value may end without a line break because the source does. In another place, only `-` can say that.
        if header.contains('-') || (first.is_some() && !value.ends_with('\n')) {
            head.push('-');
        } else if value.ends_with("\n\n") {
            // Without blank lines of its own, the text needs no `+`, and the blank lines of dest below it can stay.
            head.push('+');
        }
        let inner = blanks(column + depth);
        let mut body = String::new();
        for (i, line) in content.iter().enumerate() {
            if i > 0 {
                body.push('\n');
            }
            if !(is_of_blanks(line) && line.len() <= old) && self.budget.take(inner.len()) {
                body.push_str(&inner);
                body.push_str(&line[old.min(indentation(line))..]);
            }
        }
        let body = if content.is_empty() { Vec::new() } else { vec![body] };
        BlockText { head: with_tag(node, &head), body }
    }
}

/// Whether a key is too long to come before its colon without a `?`. Source: "simple keys" of YAML 1.1, whose readers count characters.
fn is_long(key: &str) -> bool {
    key.len() > 1024
}

/// The text of an absent value in a place that needs a text: `null`, or an empty string if a tag gives another type.
fn nothing(node: NodeRef<'_>) -> String {
    match node.scalar() {
        None | Some(Scalar::Null) => "null".into(),
        Some(_) => with_tag(node, "\"\""),
    }
}

fn with_tag(node: NodeRef<'_>, text: &str) -> String {
    match node.tag_text() {
        Some(tag) if text.is_empty() => tag.into(),
        Some(tag) => format!("{tag} {text}"),
        None => text.into(),
    }
}

/// The comment lines and blank lines of a piece of text, moved to a column. A line that is deeper than others stays as much deeper.
pub fn comment_lines(text: &str, column: usize, budget: &Budget) -> Vec<String> {
    comment_lines_up_to(text, column..usize::MAX, budget)
}

/// The same, but no line comes to the end of these columns or behind it.
pub fn comment_lines_up_to(text: &str, columns: Range<usize>, budget: &Budget) -> Vec<String> {
    if text.is_empty() || !budget.take(text.len()) {
        return Vec::new();
    }
    let depth = |line: &str| line.len() - trim_start(line).len();
    let all = lines(without_break(text));
    // A text may begin with its first `#`.
    let known = if text.starts_with('#') { 1 } else { 0 };
    let least = all.iter().skip(known).filter(|line| !is_blank(line)).map(|line| depth(line)).min().unwrap_or_default();
    let at = |line: &str| (columns.start + depth(line).saturating_sub(least)).min(columns.end.saturating_sub(1));
    all.iter()
        .map(|l| match trim(l) {
            "" => String::new(),
            comment => budget.paid(at(l), || format!("{}{comment}", blanks(at(l)))),
        })
        .collect()
}

/// The lines at the end of a block, without the blank lines at their begin if these would become part of the block scalar above them.
pub(super) fn not_taken(mut lines: Vec<String>, above: impl FnOnce() -> Option<BlockScalar>) -> Vec<String> {
    let blanks = lines.iter().take_while(|line| line.is_empty()).count();
    if blanks > 0 && above().is_some_and(|block| block.chomping == Chomping::Keep) {
        lines.drain(..blanks);
    }
    lines
}

/// The indentation of the line on which a node begins.
pub(super) fn line_indent(node: NodeRef<'_>) -> usize {
    line_indent_at(node.document(), node.start())
}

/// The indentation of the line of an offset.
pub(super) fn line_indent_at(doc: &Document<'_>, at: usize) -> usize {
    doc.source()[doc.line_start(at)..].bytes().take_while(|b| matches!(b, b' ' | b'\t')).count()
}
