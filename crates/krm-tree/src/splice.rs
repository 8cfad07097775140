//! The splicer: writes a settled [`Tree`] into dest's own text.
//!
//! A tree becomes a list of edits, disjoint and sorted; everything between them is copied byte for byte. Nodes are compared by identity, so
//! a part that a merge did not touch cannot change. The splicer knows nothing of Kubernetes.

mod block;
mod comments;
mod flow;
mod json;
mod moved_lines;
mod print;
mod reread;
mod unwritable;
mod value;

use std::cell::OnceCell;
use std::ops::Range;

use krm_yaml::{
    BlockScalar, Chomping, Document, Edit, Kind, NodeRef, Overlap, Place, Style, TextEdits, WrittenChild, is_blank,
    is_in_rows, line_end, next_line,
};

use crate::child::Value;
use crate::limit::{Budget, Kind as Written};
use crate::tree::{self, Branch, Entry, Tree, View};
use crate::{alias, links};
pub use json::{exact_json, json_of, to_json};
pub use moved_lines::Lines;
pub use print::comment_lines;
use print::own_anchor;
use print::{Flow, Host, HostLayout, NewChild, Rows};
use reread::{Edits, check, check_text};
pub use reread::{means, with_comment, written};
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
    let tree = &*links::written_out(tree);
    let own = spliced(root, tree, &TextEdits::default(), budget)?;
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
    let tree = &*links::written_out(tree);
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
    spliced(root, &links::written_out(tree), &TextEdits::default(), budget)
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
                // Aliases may follow the new value, but an alias has no anchor, and no value has two.
                let has_own = tree.like().is_some_and(|like| like.is_link() || own_anchor(like).is_some());
                let anchor = value.anchor_text().filter(|_| !has_own);
                let text = self.layout().value(&new, host, column).behind_props(&[anchor]);
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

    /// Whether an offset is in one of these children, including their own comments.
    fn owned(&self, places: &[Place]) -> impl Fn(usize) -> bool + use<> {
        let ranges: Vec<Range<usize>> = places.iter().map(|p| p.top(self.doc)..p.bottom(self.doc)).collect();
        move |at| {
            let next = ranges.partition_point(|r| r.start <= at);
            next > 0 && ranges[next - 1].contains(&at)
        }
    }
}

/// A value on one line, with what its aliases stand for.
fn on_one_line(value: NodeRef<'_>, budget: &Budget) -> String {
    HostLayout { indent: 2, list_offset: 0, flow: Flow::Yaml, rows: Rows::Shared, budget }.flow(&Tree::Node(value))
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
