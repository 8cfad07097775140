//! The splicer: writes a settled [`Tree`] into dest's own text.
//!
//! A tree becomes a list of edits, disjoint and sorted; everything between them is copied byte for byte. Nodes are compared by identity, so
//! a part that a merge did not touch cannot change. The splicer knows nothing of Kubernetes.

mod flow;
mod lines;
mod print;
mod reread;
mod unwritable;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use krm_yaml::{
    BlockScalar, Chomping, Document, Edit, Kind, NodeRef, Overlap, Place, Style, TextEdits, WrittenChild, below,
    can_end_with_comments, comment_of, comment_place, comment_text, comments_above, ends_line, foot, gap_above,
    holds_no_value, is_blank, is_in_rows, line_end, lines, next_line, opening_place, same, starts_line, trim,
    trim_start, without_break,
};

use crate::alias;
use crate::child::Value;
use crate::limit::{Budget, Exceeded, Kind as Written};
use crate::tree::{self, Branch, Comments, Entry, Tree, View};
pub use lines::Lines;
pub use print::comment_lines;
use print::{BlockText, Flow, Host, HostLayout, NewChild, not_taken};
pub use reread::with_comment;
use reread::{Edits, check};
use reread::{check_text, text_of, touch};
pub use reread::{means, written};
use unwritable::check_json;
pub use unwritable::{NotJson, Unwritable, WriteFault};

/// The edits that turn a map or list into the result that a tree describes, in the order of the text. The new text was read again, and
/// means that.
///
/// A tree that is another node than the root gives no edits: the caller must replace the root, because that affects the root's container.
///
/// # Errors
/// The new text exceeds the rest of the budget; the root is JSON, and JSON lacks one of the values; the text would mean something else, which
/// is a fault here.
pub fn edits<'d>(root: NodeRef<'d>, tree: &Tree<'d>, budget: &Budget) -> Result<TextEdits, Unwritable> {
    let own = unread_edits(root, tree, budget)?;
    check_branch(root, tree, Edits { inner: &TextEdits::default(), own: &own, all: &own }, budget)?;
    Ok(own)
}

/// Same as [`edits`], for a tree whose elements other edits change. All edits come back, those of the elements first.
///
/// # Errors
/// Same as [`edits`].
pub fn edits_around<'d>(
    root: NodeRef<'d>,
    tree: &Tree<'d>,
    inner: TextEdits,
    budget: &Budget,
) -> Result<TextEdits, Unwritable> {
    let own = spliced(root, tree, &inner, budget)?;
    // A block scalar at the end may be one that is replaced.
    let closing = closed_end(root.document()).filter(|edit| inner.touch(&edit.range));
    let own = TextEdits::of(own.into_vec().into_iter().filter(|edit| closing.as_ref() != Some(edit)).collect())?;
    let all = inner.clone().union([own.clone()])?;
    check_branch(root, tree, Edits { inner: &inner, own: &own, all: &all }, budget)?;
    Ok(all)
}

fn check_branch(root: NodeRef<'_>, tree: &Tree<'_>, edits: Edits<'_>, budget: &Budget) -> Result<(), Unwritable> {
    if matches!(tree, Tree::Branch(_)) { check(root, tree, edits, budget) } else { Ok(()) }
}

/// Same as [`edits`], for a caller that makes another text of them, and reads that.
///
/// # Errors
/// The new text exceeds the rest of the budget; the root is JSON, and JSON lacks one of the values; edits overlap, which is a fault here.
pub fn unread_edits<'d>(root: NodeRef<'d>, tree: &Tree<'d>, budget: &Budget) -> Result<TextEdits, Unwritable> {
    spliced(root, tree, &TextEdits::default(), budget)
}

fn spliced<'d>(
    root: NodeRef<'d>,
    tree: &Tree<'d>,
    inner: &TextEdits,
    budget: &Budget,
) -> Result<TextEdits, Unwritable> {
    let tree = &*alias::written_out(root, tree);
    Flow::of(root).check(tree, Some(root))?;
    let overlap = OnceCell::new();
    let (doc, layout, edits) = (root.document(), OnceCell::new(), Vec::with_capacity(USUAL_EDITS));
    let mut splicer = Splicer { root, doc, budget, layout, inner, edits, overlap: &overlap };
    if let Tree::Branch(branch) = tree {
        splicer.children(root, branch);
    }
    budget.check(Written::Text)?;
    let edits = splicer.finish();
    overlap.into_inner().map_or(Ok(edits), |overlap| Err(overlap.into()))
}

/// Whether new text gets the layout that YAML libraries write: a map is two columns deeper than its key, and a list is in the column of its
/// key. What such a library writes can be copied if it is [simple](Document::is_simple).
pub fn has_usual_layout(root: NodeRef<'_>, budget: &Budget) -> bool {
    let HostLayout { indent, list_offset, .. } = HostLayout::of(root, budget);
    (indent, list_offset) == (2, 0)
}

/// The edit that keeps the value of a block scalar at the end of a text without a line break, whatever comes after it; `None` if there is
/// no such block scalar.
pub fn closed_end(doc: &Document<'_>) -> Option<Edit> {
    let text = doc.source();
    let (block, end) = BlockScalar::last_of(doc.roots().last()?)?;
    if end == text.len() && end > line_end(text, block.header.end) {
        // A line break would become part of its value, unless the header says `-`.
        let indicators = text[block.header.clone()].replace(['+', '-'], "");
        return Some(Edit { range: block.header, text: format!("{indicators}-") });
    }
    // Under `+` a line break would turn the spaces at the end of the text into a line.
    let rest = next_line(text, end)..text.len();
    let is_line_to_be =
        block.chomping == Chomping::Keep && !rest.is_empty() && text[rest.clone()].bytes().all(|b| b == b' ');
    is_line_to_be.then(|| Edit { range: rest, text: String::new() })
}

/// A new resource as a text of its own.
///
/// # Errors
/// The text exceeds the rest of the budget; it is JSON, and JSON lacks one of the values.
pub fn standalone(tree: &Tree<'_>, budget: &Budget) -> Result<String, Unwritable> {
    let Some(like) = tree.like() else { return Ok(String::new()) };
    let layout = HostLayout::of(like, budget);
    layout.flow.check(tree, None)?;
    let mut lines = layout.document(tree);
    lines.push(String::new());
    budget.check(Written::Text)?;
    let text = lines.join("\n");
    check_text(&text, tree)?;
    Ok(text)
}

/// The value of a node as compact JSON, for a program.
///
/// # Errors
/// The text exceeds the rest of the budget; JSON lacks one of the values.
pub fn exact_json(node: NodeRef<'_>, budget: &Budget) -> Result<String, Unwritable> {
    check_json(&Tree::Node(node), None).map_err(Unwritable::NotJson)?;
    Ok(to_json(node, budget)?)
}

/// The value of a node as compact JSON, for a reader: a number that JSON lacks becomes a text.
///
/// # Errors
/// The text exceeds the rest of the budget.
pub fn to_json(node: NodeRef<'_>, budget: &Budget) -> Result<String, Exceeded> {
    json_of(&Tree::Node(node), budget)
}

/// A tree as compact JSON, for a reader.
///
/// # Errors
/// The text exceeds the rest of the budget.
pub fn json_of(tree: &Tree<'_>, budget: &Budget) -> Result<String, Exceeded> {
    let json = HostLayout { indent: 2, list_offset: 0, flow: Flow::TightJson, budget }.flow(tree);
    budget.check(Written::Text).map(|()| json)
}

/// The room that edits of a resource have at once.
const USUAL_EDITS: usize = 16;

struct Splicer<'d, 'b> {
    root: NodeRef<'d>,
    doc: &'d Document<'d>,
    budget: &'b Budget,
    /// The layout of the root, read on first use, because a removal needs none.
    layout: OnceCell<HostLayout<'b>>,
    /// Edits of nodes that stay.
    inner: &'b TextEdits,
    edits: Vec<Edit>,
    /// The first edits that overlap, which no text can have. It would be a fault here.
    overlap: &'b OnceCell<Overlap>,
}

/// What happens to the comment lines below a scalar that another value replaces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    /// They stay.
    Stays,
    /// They go with the value: below a block they would be at its end, and it comes with its own.
    Goes,
}

/// The change of a child of dest.
enum ChildFate<'t, 'a> {
    Kept,
    Inside(&'t Branch<'a>),
    Put(&'t Tree<'a>),
}

impl<'t, 'a> ChildFate<'t, 'a> {
    fn of(tree: &'t Tree<'a>, old: NodeRef<'_>) -> Self {
        match tree {
            Tree::Node(node) if node.is(old) => Self::Kept,
            // The text of an alias does not contain its value, so it cannot be edited inside.
            Tree::Branch(branch) if branch.like.is(old) && old.kind() != Kind::Alias => Self::Inside(branch),
            tree => Self::Put(tree),
        }
    }
}

fn is_kept(entry: &Entry<'_>) -> bool {
    entry.was.is_some() && entry.value.is_some()
}

fn news<'s, 'a>(entries: &'s [Entry<'a>]) -> impl Iterator<Item = NewChild<'s, 'a>> {
    entries.iter().filter(|entry| entry.was.is_none()).filter_map(NewChild::of)
}

/// The place of one child of a map or list. Mostly few children change, so few places are worked out.
fn place_in(node: NodeRef<'_>, was: WrittenChild<'_>) -> Place {
    Place::of_child(node, (was.key(), was.value()))
}

/// The text of lines that come before a child on the line of a dash, and the start of the line that the child gets.
fn joined_before(lines: &[String], column: usize) -> String {
    let text = lines.join("\n");
    match trim_start(&text) {
        "" => String::new(),
        text => format!("{text}\n{}", " ".repeat(column)),
    }
}

/// Whether dest's children are in their old order.
fn is_in_order(entries: &[Entry<'_>]) -> bool {
    entries.iter().filter_map(Entry::place).is_sorted()
}

/// Whether a line is blank.
fn is_blank_line(text: &str, line: usize) -> bool {
    line < text.len() && is_blank(&text[line..line_end(text, line)])
}

/// The block scalar at the end of these lines, read as a document of their own.
pub fn last_block(lines: &str) -> Option<BlockScalar> {
    if !lines.contains(['|', '>']) {
        return None;
    }
    let doc = Document::parse(lines).ok()?;
    Some(BlockScalar::last_of(doc.roots().last()?)?.0)
}

/// The lines of a child with a line break at their end. A block scalar that ended without one keeps its value.
fn with_line_end(lines: String) -> String {
    if ends_line(&lines) {
        return lines;
    }
    let edit = Document::parse(lines.as_str()).ok().and_then(|doc| closed_end(&doc));
    edit.map_or_else(|| lines.clone(), |edit| TextEdits::from(edit).apply(&lines, 0..lines.len())) + "\n"
}

/// The comment lines below a child at a column, as they must be written below a block scalar there; `None` if they can stay. As deep as its
/// content, they would be lines of it.
fn outside_of(block: &BlockScalar, comments: &str, column: usize, budget: &Budget) -> Option<Vec<String>> {
    let depths =
        || lines(comments).into_iter().filter(|line| !is_blank(line)).map(|line| line.len() - trim_start(line).len());
    let takes_blanks = block.chomping == Chomping::Keep && is_blank_line(comments, 0);
    let most = block.deepest_comment(column);
    (takes_blanks || depths().any(|depth| depth > most)).then(|| {
        let lines = comment_lines(comments, depths().next().unwrap_or(column).min(most), budget);
        not_taken(lines, || Some(block.clone()))
    })
}

/// The edits that remove blank lines, from a line on, because they would become part of the block scalar above. Each removes one line.
fn taken(text: &str, line: usize, block: &BlockScalar) -> Vec<Edit> {
    let bottom = block.below(text, line);
    let lines =
        std::iter::successors(Some(line), |line| Some(next_line(text, *line))).take_while(|line| *line < bottom);
    lines.map(|line| Edit { range: line..next_line(text, line), text: String::new() }).collect()
}

/// The text before a value at a column: a placeholder key, or a dash.
fn lead(host: Host, column: usize) -> String {
    format!("{}{}", " ".repeat(column), if host == Host::Field { "k:" } else { "-" })
}

impl<'d, 'b> Splicer<'d, 'b> {
    fn layout(&self) -> HostLayout<'b> {
        *self.layout.get_or_init(|| HostLayout::of(self.root, self.budget))
    }

    /// A splicer without edits, for a part that is written again.
    fn inner(&self) -> Self {
        // The layout is read once for all parts.
        Self { layout: self.layout().into(), edits: Vec::new(), ..*self }
    }

    fn finish(mut self) -> TextEdits {
        if self.edits.iter().any(|e| e.range.start == self.text().len() && !e.text.is_empty()) {
            self.close_end();
        }
        // Insertions at one place stay in the order in which they were made, and come before a removal that begins there.
        self.edits.sort_by_key(|e| (e.range.start, e.range.end));
        // Two levels may remove the same blank lines, or one of them all of a comment with these lines. The larger edit stays.
        self.edits.dedup_by(|b, a| {
            let is_first_done = a.is_done_by(b);
            if is_first_done {
                std::mem::swap(a, b);
            }
            is_first_done || b.is_done_by(a)
        });
        let line_break = self.doc.line_break();
        if line_break != "\n" {
            for edit in &mut self.edits {
                // Text that moves within the document already has its line breaks.
                edit.text = edit.text.replace("\r\n", "\n").replace('\n', line_break);
            }
        }
        // The edits of all resources wait for the end of the run.
        self.edits.shrink_to_fit();
        TextEdits::in_order(self.edits).unwrap_or_else(|overlap| {
            self.overlap.get_or_init(|| overlap);
            TextEdits::default()
        })
    }

    /// Keeps the value of a block scalar at the end of the text without a line break, because something comes after it.
    fn close_end(&mut self) {
        // If the block scalar is removed or already closed, an edit is there.
        let is_there = |edit: &Edit| !self.edits.iter().any(|e| e.range.contains(&edit.range.start));
        let edit = closed_end(self.doc).filter(is_there);
        self.edits.extend(edit);
    }

    fn edit(&mut self, range: Range<usize>, text: impl Into<String>) {
        let edit = Edit { range, text: text.into() };
        if !edit.range.is_empty() || !edit.text.is_empty() {
            self.edits.push(edit);
        }
    }

    /// A piece of the text as a line of its own, at a column.
    fn indented(&self, column: usize, range: Range<usize>) -> String {
        let text = &self.text()[range];
        self.budget.paid(column + text.len(), || format!("{}{text}", " ".repeat(column)))
    }

    /// Children joined by a comma as the user writes it.
    fn joined(&self, children: &[String], comma: &str) -> String {
        self.budget.paid(children.len().saturating_mul(comma.len()), || children.join(comma))
    }

    fn text(&self) -> &'d str {
        self.doc.source()
    }

    fn children(&mut self, node: NodeRef<'d>, branch: &Branch<'d>) {
        match node.style() {
            Style::Flow if is_in_rows(node) && branch.entries.iter().any(is_kept) => self.rows(node, &branch.entries),
            Style::Flow => self.flow_children(node, &branch.entries),
            _ => self.block_children(node, &branch.entries),
        }
    }

    /// Edits a child of a block map or list that stays. Mostly it is as it was, and its `place` is not worked out.
    fn child(&mut self, host: Host, place: impl FnOnce() -> Place, was: WrittenChild<'d>, entry: &Entry<'d>) {
        let (key, value) = (was.key(), was.value());
        if entry.is_untouched() && entry.layout == tree::Layout::Host {
            return;
        }
        let renamed = key.zip(entry.new_key());
        let Some(new) = NewChild::of(entry) else { return };
        let place = &place();
        let column = place.column(self.doc);
        if let Some((range, text)) = self.as_written(place, value, &new, entry.layout) {
            return self.edit(range, text);
        }
        if entry.layout == tree::Layout::Own && self.has_same_words(place, value, &new) {
            return;
        }
        let comment = entry.comments.behind;
        if let Some(above) = entry.comments.above {
            self.set_comments_above(place, above);
        }
        if let Some((old, new)) = renamed {
            let name = self.layout().key(new);
            let has_question = place.lead < old.full_start();
            let text = if has_question { name } else { self.layout().with_question(name, column) };
            self.edit(old.full_start()..old.end(), text);
        }
        match ChildFate::of(new.tree, value) {
            ChildFate::Kept => {}
            ChildFate::Put(tree) => {
                // Aliases may follow the new value.
                let text = self.layout().value(&new, host, column).behind_props(&[value.anchor_text()]);
                let is_block = !text.body.is_empty() && tree.view().is_some_and(View::is_container);
                let below = if is_block { Below::Goes } else { Below::Stays };
                return self.set_value(host, place, value, text, comment, below);
            }
            ChildFate::Inside(branch) if self.must_be_set_anew(value, &branch.entries) => {
                let text = self.anew(host, place, value, &branch.entries, entry.comments.below);
                return self.set_value(host, place, value, text, comment, Below::Stays);
            }
            ChildFate::Inside(branch) => self.children(value, branch),
        }
        if let Some(below) = entry.comments.below {
            self.set_comments_below(host, place, value, new.tree, below);
        }
        if let Some(opening) = entry.comments.opening {
            self.set_opening(value, opening);
        }
        if let Some(comment) = comment {
            self.set_comment(place, value, comment);
        }
    }

    /// The range of a child, and the lines from another document that replace it; `None` if these lines would mean something else here.
    fn as_written(
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
        self.budget.take(text.len()).then(|| (to, lines(without_break(text)).join("\n") + end))
    }

    /// Whether a child of another document differs from the child of dest only in indentation and blank lines.
    fn has_same_words(&self, place: &Place, old: NodeRef<'d>, new: &NewChild<'_, '_>) -> bool {
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
    fn must_be_set_anew(&self, value: NodeRef<'_>, entries: &[Entry<'_>]) -> bool {
        let in_flow = value.style() == Style::Flow;
        !entries.iter().any(is_kept)
            && (!in_flow
                || (self.layout().flow == Flow::Yaml
                    && news(entries).next().is_some()
                    && value.children().next().is_none()))
    }

    /// The text of a map or list that has only new children, or none: its anchor and its tag stay, and so do comments that do not belong to
    /// a child. `at_end` are new comments at the end of its block, in the place of its own.
    fn anew(
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
    fn set_value(
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
    fn colon(&self, host: Host, place: &Place) -> String {
        if host == Host::Element || self.text()[..place.open].ends_with(':') {
            return String::new();
        }
        format!("\n{}:", " ".repeat(place.column(self.doc)))
    }

    fn set_comment(&mut self, place: &Place, value: NodeRef<'d>, comment: &str) {
        match comment_place(place, value) {
            Some(at) => self.set_comment_behind(at, comment),
            None => self.set_comment_at_dash(value, comment),
        }
    }

    /// Sets the comment behind the opening bracket of a map or list. What replaces the brackets has their new comments.
    fn set_opening(&mut self, value: NodeRef<'d>, comment: &str) {
        let at = opening_place(value).filter(|at| !self.edits.iter().any(|edit| edit.range.contains(at)));
        if let Some(at) = at {
            self.set_comment_behind(at, comment);
        }
    }

    fn set_comment_behind(&mut self, at: usize, comment: &str) {
        match self.doc.comment_behind(at) {
            Some((start, end)) if &self.text()[start..end] == comment => {}
            Some((_, end)) if comment.is_empty() => self.edit(at..end, ""),
            Some((start, end)) => self.edit(start..end, comment),
            None if comment.is_empty() => {}
            None => self.edit(at..at, format!(" {comment}")),
        }
    }

    /// Sets the comment after a dash that the first child of a block follows. The child gets a line of its own.
    fn set_comment_at_dash(&mut self, value: NodeRef<'d>, comment: &str) {
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
    fn set_comments_above(&mut self, place: &Place, comments: &str) {
        if place.is_inline(self.doc) {
            return;
        }
        let lines: String =
            comment_lines(comments, place.column(self.doc), self.budget).into_iter().map(|l| l + "\n").collect();
        self.edit(place.top(self.doc)..self.doc.line_start(place.lead), lines);
    }

    /// Sets the lines above a child that belong to no child. `above` is the block scalar that then ends above them.
    fn set_gap(&mut self, place: &Place, lines: &str, above: impl FnOnce(&Self) -> Option<BlockScalar>) {
        let Some(old) = gap_above(place, self.doc) else { return };
        let lines = comment_lines(lines, place.column(self.doc), self.budget);
        let lines: String = not_taken(lines, || above(self)).into_iter().map(|line| line + "\n").collect();
        self.edit(old, lines);
    }

    /// Sets the comment lines at the end of a block, whose new value is a tree.
    fn set_comments_below(&mut self, host: Host, place: &Place, value: NodeRef<'d>, tree: &Tree<'_>, comments: &str) {
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

    fn block_children(&mut self, node: NodeRef<'d>, entries: &[Entry<'d>]) {
        let Some(first) = Place::of_first(node) else { return };
        if !is_in_order(entries) {
            return self.moved_children(node, entries);
        }
        let Some(at) = entries.iter().position(is_kept) else { return self.root_anew(node, entries) };
        let (before, kept) = entries.split_at(at);
        let new = Some(before).filter(|before| !before.is_empty());
        let new = new.map(|new| self.layout().new_children(news(new), first.column(self.doc)));
        let lines = new.unwrap_or_default();
        let is_other = !lines.is_empty() || before.iter().any(|entry| entry.was.is_some());
        let has_comments = || kept[0].comments.above.is_some_and(|above| !above.is_empty());
        let kept = if first.is_inline(self.doc) && (is_other || self.has_line_at_dash(node) && has_comments()) {
            self.moved_to_dash(node, before, kept, lines)
        } else {
            self.replaced_at_top(node, before, &lines);
            Cow::Borrowed(kept)
        };
        self.first_kept_and_below(node, before, &kept);
    }

    /// Writes these lines on the line of a dash instead of the children there, and moves the first child that stays up to them, or down with
    /// them. Gives this child and those below it back, as they are to be edited.
    fn moved_to_dash<'e>(
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

    /// Writes these lines instead of the children above the first one that stays.
    fn replaced_at_top(&mut self, node: NodeRef<'d>, before: &[Entry<'d>], lines: &[String]) {
        let Some(first) = Place::of_first(node) else { return };
        // The comments of a `<<` that is written out stay above its fields.
        let is_written_out = !lines.is_empty() && before.first().is_some_and(Entry::is_merge);
        let written_out = before.first().filter(|_| is_written_out).and_then(|entry| entry.was);
        self.insert_lines(written_out.map_or(self.top_of_first(&first, lines), |_| first.bottom(self.doc)), lines);
        for (i, (was, entry)) in before.iter().filter_map(|entry| entry.was.zip(Some(entry))).enumerate() {
            let place = place_in(node, was);
            let above = |_: &Self| last_block(&lines.join("\n"));
            if let Some(gap) = entry.comments.gap {
                self.set_gap(&place, gap, above);
            }
            self.remove(&place, written_out.filter(|_| i == 0));
            self.clear_below(place.bottom(self.doc), above);
        }
    }

    /// Where new first children with these lines come. What is set apart above a child stays above that child; at the top of a text, it stays
    /// at the top, and a block scalar that keeps the blank lines below it would take them.
    fn top_of_first(&self, first: &Place, lines: &[String]) -> usize {
        let keeps = || last_block(&lines.join("\n")).is_some_and(|block| block.chomping == Chomping::Keep);
        let gap = gap_above(first, self.doc).filter(|gap| !holds_no_value(&self.text()[..gap.start]) && !keeps());
        gap.map_or(first.top(self.doc), |gap| gap.start)
    }

    /// Edits the first child that stays, and those below it.
    fn first_kept_and_below(&mut self, node: NodeRef<'d>, before: &[Entry<'d>], rest: &[Entry<'d>]) {
        let (Some(first), Some(mut last)) = (Place::of_first(node), rest[0].was) else { return };
        let (host, column) = (Host::in_container(node), first.column(self.doc));
        let mut above = before.iter().rfind(|entry| entry.value.is_some());
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
    fn remove(&mut self, place: &Place, written_out: Option<WrittenChild<'d>>) {
        let Some(was) = written_out else { return self.edit(place.top(self.doc)..place.bottom(self.doc), "") };
        let comment = comment_of(place, was.value());
        let comment = comment.map(|(start, end)| self.indented(place.column(self.doc), start..end) + "\n");
        self.edit(self.doc.line_start(place.lead)..place.bottom(self.doc), comment.unwrap_or_default());
    }

    /// The text of children that begins on the line of a dash, and where it begins. A comment above the first child does not belong to the
    /// dash: it stays on a line of its own.
    fn at_dash(&self, lead: usize, column: usize, text: String) -> (usize, String) {
        if !text.starts_with('#') {
            return (lead, text);
        }
        (self.after_dash(lead), self.budget.paid(column + 1, || format!("\n{}{text}", " ".repeat(column))))
    }

    /// Whether a first child on the line of a dash gets a line of its own for the comments above it. Comments above the first field of a
    /// resource stand above the dash of its item.
    fn has_line_at_dash(&self, node: NodeRef<'_>) -> bool {
        !node.is(self.root)
    }

    /// The end of the dash that a child follows.
    fn after_dash(&self, lead: usize) -> usize {
        self.text()[..lead].trim_end_matches([' ', '\t']).len()
    }

    /// Whether a value is written again as a whole.
    fn is_set(&self, value: NodeRef<'_>, tree: &Tree<'_>) -> bool {
        match ChildFate::of(tree, value) {
            ChildFate::Kept => false,
            ChildFate::Put(_) => true,
            ChildFate::Inside(branch) => self.must_be_set_anew(value, &branch.entries),
        }
    }

    /// Removes the blank lines from a line on that would become part of the block scalar that now ends above them, if there is one.
    fn clear_below(&mut self, line: usize, above: impl FnOnce(&Self) -> Option<BlockScalar>) {
        if !is_blank_line(self.text(), line) {
            return;
        }
        let block = above(self);
        self.edits.extend(block.into_iter().flat_map(|block| taken(self.doc.source(), line, &block)));
    }

    /// The block scalar at the end of a child that the merge keeps, among children at a column.
    fn end_of(&self, host: Host, column: usize, entry: &Entry<'_>) -> Option<BlockScalar> {
        let new = NewChild::of(entry)?;
        match entry.was {
            Some(was) => self.end_of_value(host, column, was.value(), new.tree),
            None => last_block(&self.layout().new_child(&new, column).join("\n")),
        }
    }

    /// The block scalar at the end of a child at a column, if the child keeps its place and gets the value of a tree.
    fn end_of_value(&self, host: Host, column: usize, value: NodeRef<'_>, tree: &Tree<'_>) -> Option<BlockScalar> {
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

    /// Writes a root that keeps no child. Any other map or list without kept children is written by its container.
    fn root_anew(&mut self, root: NodeRef<'d>, entries: &[Entry<'_>]) {
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

    /// Whether an offset is in one of these children, including their own comments.
    fn owned(&self, places: &[Place]) -> impl Fn(usize) -> bool + use<> {
        let ranges: Vec<Range<usize>> = places.iter().map(|p| p.top(self.doc)..p.bottom(self.doc)).collect();
        move |at| {
            let next = ranges.partition_point(|r| r.start <= at);
            next > 0 && ranges[next - 1].contains(&at)
        }
    }

    /// Inserts whole lines at the start of a line, or after a last line that has no line break.
    fn insert_lines(&mut self, at: usize, lines: &[String]) {
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
    fn new_lines(&self, entry: &Entry<'_>, column: usize, comma: Option<&str>) -> Vec<String> {
        let lines = NewChild::of(entry).map(|new| match comma {
            Some(comma) => self.layout().new_row(&new, column, comma),
            None => self.layout().new_child(&new, column),
        });
        lines.unwrap_or_default()
    }

    /// The text of a child of dest as it becomes, from its first line to an offset: with a comma at its end, if it is one in brackets.
    fn moved_child(&self, host: Host, (place, end): (Place, usize), entry: &Entry<'d>, comma: Option<&str>) -> String {
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
    fn moved_children(&mut self, node: NodeRef<'d>, entries: &[Entry<'d>]) {
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
        let pad = " ".repeat(column);
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

/// A value on one line, with what its aliases stand for.
fn on_one_line(value: NodeRef<'_>, budget: &Budget) -> String {
    HostLayout { indent: 2, list_offset: 0, flow: Flow::Yaml, budget }.flow(&Tree::Node(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_that_overlap_are_an_error_and_no_text() {
        let (doc, budget, overlap) = (Document::parse("a: 1\n").expect("valid"), Budget::default(), OnceCell::new());
        let root = doc.roots().next().expect("a root");
        let edit = |range| Edit { range, text: String::new() };
        let edits = vec![edit(0..3), edit(2..4)];
        let (layout, inner) = (OnceCell::new(), &TextEdits::default());
        let splicer = Splicer { root, doc: &doc, budget: &budget, layout, inner, edits, overlap: &overlap };
        assert!(splicer.finish().is_empty());
        let why = Unwritable::from(overlap.into_inner().expect("an overlap")).to_string();
        assert!(why.starts_with("edits of a text must be disjoint, but bytes 0..3 and 2..4 overlap: "), "{why}");
    }
}
