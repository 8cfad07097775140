//! Reads again what was written: the new text of a resource must mean the tree that it was made from.
//!
//! Text is edited in many ways, and a fault in any of them could silently write another value. So each new text is read as it stands in its
//! file, because the lines around it decide what a block scalar at its end means. It is then compared with the tree: kinds, typed values,
//! keys, and the order of both lists and maps.

use std::ops::Range;

use super::print::{Flow, Layout};
use super::{Fault, Unwritable};
use crate::child::Value as _;
use crate::edits::TextEdits;
use crate::hashed::{Empty, HashSet};
use crate::limit::{Budget, Kind as Written};
use crate::path::{FieldPath, Step};
use crate::tree::{Branch, Entry, Key, Tree, View};
use crate::yaml::{
    Document, Kind, NodeRef, Place, Style, are_written_alike, extent, is_blank, line_end, next_line, same,
};

/// Checks that edits of its text give a resource the value of a tree.
///
/// # Errors
/// The new text means something else, or cannot be read: a fault of the splicer. The budget is exceeded.
pub(crate) fn check(root: NodeRef<'_>, tree: &Tree<'_>, edits: &TextEdits, budget: &Budget) -> Result<(), Unwritable> {
    let Some(view) = tree.view() else { return Ok(()) };
    if edits.is_empty() {
        return Ok(Comparison::default().check(view, root)?);
    }
    let mut left_out = Vec::new();
    if let Tree::Branch(branch) = tree
        && !root.document().has_anchors_in(root)
    {
        idle_elements(branch, edits, &mut left_out);
        left_out.sort_unstable_by_key(|lines| lines.start);
    }
    let text = text_of(root, edits, &left_out, budget);
    budget.check(Written::Text)?;
    let mut comparison = Comparison { left_out, ..Comparison::default() };
    Ok(read(&text, |document| {
        let first = document.filter(|_| root.is_root());
        comparison.check(view, first.or_else(|| document?.elements().last()).ok_or_else(Fault::unreadable)?)
    })?)
}

/// The edits of a list.
#[derive(Clone, Copy)]
pub(super) struct Edits<'e> {
    /// Those within its elements.
    pub inner: &'e TextEdits,
    /// Those that change which elements it has.
    pub own: &'e TextEdits,
    /// Both.
    pub all: &'e TextEdits,
}

/// Checks that the elements that stay in a tree mean the same after all edits as after those within them. What is below an element can
/// change its end.
///
/// # Errors
/// Same as [`check`].
pub(super) fn check_elements(tree: &Tree<'_>, edits: Edits<'_>, budget: &Budget) -> Result<(), Fault> {
    let Tree::Branch(branch) = tree else { return Ok(()) };
    let doc = branch.like.document();
    let places = if branch.like.style() == Style::Block { Place::of_children(branch.like) } else { Vec::new() };
    let mut kept = branch.entries.iter().filter(|entry| entry.value.is_some() && entry.was.is_some()).peekable();
    while let Some(entry) = kept.next() {
        if let Some(inner) = entry.value.as_ref().filter(|_| !entry.is_untouched()) {
            check_elements(inner, edits, budget)?;
        }
        let place = |entry: &Entry<'_>| entry.place().and_then(|at| places.get(at));
        let (Some(was), Some(own)) = (entry.was, place(entry)) else { continue };
        let next = kept.peek().and_then(|next| place(next)).or(places.last()).filter(|_| entry.key.is_none());
        let end = next.map_or(0, |next| if next.lead > own.lead { next.top(doc) } else { next.bottom(doc) });
        let lines = own.top(doc)..below_blank(doc.source(), end);
        if was.value().has_aliases() || !edits.inner.touch(&lines) || !edits.own.touch(&lines) {
            continue;
        }
        let alone = text_of(was.value(), edits.inner, &[], budget);
        let documents = [alone, edits.all.apply(doc.source(), lines)].map(|text| Document::parse(text).ok());
        let [alone, all] = documents.each_ref().map(|document| document.as_ref()?.roots().next()?.elements().next());
        if !alone.zip(all).is_some_and(|(alone, all)| same(alone, all)) {
            return Err(Fault::Misread { path: FieldPath::from(Step::Index(was.place())).shown() });
        }
    }
    Ok(())
}

/// Checks that a text is one document with the value of a tree.
///
/// # Errors
/// Same as [`check`].
pub(super) fn check_text(text: &str, tree: &Tree<'_>) -> Result<(), Fault> {
    let Some(view) = tree.view() else { return Ok(()) };
    read(text, |document| Comparison::default().check(view, document.ok_or_else(Fault::unreadable)?))
}

/// Reads a text, which must have one document.
fn read(text: &str, check: impl FnOnce(Option<NodeRef<'_>>) -> Result<(), Fault>) -> Result<(), Fault> {
    let document = Document::parse(text).map_err(|_| Fault::unreadable())?;
    let mut roots = document.roots();
    check(roots.next().filter(|_| roots.len() == 0))
}

/// Collects the lines of the elements that stay as they are, and that no edit touches. They need not be read again. The first element and
/// the last one are read, because they show the column and the end of the list.
fn idle_elements(branch: &Branch<'_>, edits: &TextEdits, idle: &mut Vec<Range<usize>>) {
    let (list, doc) = (branch.like, branch.like.document());
    if list.is_list() && list.style() == Style::Block {
        let tops: Vec<usize> = Place::of_children(list).iter().map(|place| place.top(doc)).collect();
        let stay = branch.entries.iter().filter(|entry| entry.is_untouched()).filter_map(Entry::place);
        let lines = stay.filter(|at| *at > 0).filter_map(|at| Some(*tops.get(at)?..*tops.get(at + 1)?));
        idle.extend(lines.filter(|lines| !edits.touch(lines)));
    }
    for value in branch.entries.iter().filter_map(|entry| entry.value.as_ref()) {
        if let Tree::Branch(branch) = value {
            idle_elements(branch, edits, idle);
        }
    }
}

/// The new text of a document without the lines that are left out, or of an element as the last one of a list.
pub(super) fn text_of(root: NodeRef<'_>, edits: &TextEdits, left_out: &[Range<usize>], budget: &Budget) -> String {
    let (doc, source) = (root.document(), root.document().source());
    let (mut text, range, end) = match Place::behind_dash(root) {
        _ if root.is_root() => (String::new(), extent(root), ""),
        Some(dash) if root.style() == Style::Block => {
            let column = dash.column(doc);
            let lead = if dash.is_inline(doc) { format!("{}- ", " ".repeat(column)) } else { String::new() };
            let start = if dash.is_inline(doc) { root.full_start() } else { dash.top(doc) };
            let anchors = anchors_elsewhere(root, budget).into_iter();
            let anchors: String = anchors.map(|anchor| format!("{}- {anchor}\n", " ".repeat(column))).collect();
            (directives(root).to_owned() + &anchors + &lead, start..below_blank(source, dash.bottom(doc)), "")
        }
        _ => {
            let anchors = anchors_elsewhere(root, budget).into_iter();
            let anchors: String = anchors.map(|anchor| format!("{anchor}, ")).collect();
            (format!("{}[{anchors}", directives(root)), root.full_start()..root.end(), "]")
        }
    };
    let mut start = range.start;
    for lines in left_out {
        text += &edits.apply(source, start..lines.start);
        start = lines.end;
    }
    text + &edits.apply(source, start..range.end) + end
}

/// The end of the blank lines from a line on.
fn below_blank(text: &str, mut line: usize) -> usize {
    while line < text.len() && is_blank(&text[line..line_end(text, line)]) {
        line = next_line(text, line);
    }
    line
}

/// The directives of the document that holds an element, which say what its tags mean.
fn directives<'a>(element: NodeRef<'a>) -> &'a str {
    let doc = element.document();
    let document = doc.roots().find(|root| root.holds(element)).map(extent).unwrap_or_default();
    let text = &doc.source()[document];
    let end = text.find("\n---").filter(|_| text.trim_start_matches('\u{feff}').starts_with('%'));
    end.map_or("", |end| &text[..next_line(text, end + 1)])
}

/// Each anchor outside of an element that an alias in it refers to, with its value.
fn anchors_elsewhere(element: NodeRef<'_>, budget: &Budget) -> Vec<String> {
    let layout = Layout { indent: 2, list_offset: 0, flow: Flow::Yaml, budget };
    let mut seen = HashSet::new();
    let aliases = element.document().aliases_in(element).filter(|alias| !element.holds(alias.resolve()));
    let aliases = aliases.filter(|alias| seen.insert(alias.text()));
    let anchor = |alias: NodeRef<'_>| {
        let value = layout.flow(&Tree::Node(alias.resolve()));
        format!("&{} {value}", alias.text().trim_start_matches('*'))
    };
    aliases.map(anchor).collect()
}

/// A comparison of a tree with the nodes of the new text.
#[derive(Default)]
struct Comparison<'a> {
    /// The lines of the elements that are not in the new text.
    left_out: Vec<Range<usize>>,
    /// The place that is compared.
    path: FieldPath<'a>,
}

impl<'a> Comparison<'a> {
    fn check(&mut self, tree: View<'_, 'a>, node: NodeRef<'_>) -> Result<(), Fault> {
        if self.is_said(tree, node) { Ok(()) } else { Err(Fault::Misread { path: self.path.shown() }) }
    }

    /// Whether a node means what a tree says. If it does not, the path shows where.
    fn is_said(&mut self, tree: View<'_, 'a>, node: NodeRef<'_>) -> bool {
        let node = node.resolve();
        if let View::Node(own) = tree
            && are_written_alike(own.resolve(), node)
        {
            return true;
        }
        if tree.kind() != node.kind() {
            return false;
        }
        if node.kind() == Kind::Scalar {
            return tree.scalar() == node.scalar();
        }
        // What `<<` brings in has no place among the fields.
        match self.children(tree).filter(|_| !node.has_merge_entry()) {
            Some(children) => self.are_said(children, node),
            None => tree.same(node),
        }
    }

    fn are_said(&mut self, children: Vec<(Option<Key<'a>>, View<'_, 'a>)>, node: NodeRef<'_>) -> bool {
        let mut others = node.written();
        for (index, (key, child)) in children.into_iter().enumerate() {
            self.path.push(key.map_or(Step::Index(index), |key| Step::Field(key.name().into())), None);
            let other = others.next().filter(|(other, _)| match (key, other) {
                (Some(key), Some(other)) => is_key(key, *other),
                _ => key.is_none() && other.is_none(),
            });
            if !other.is_some_and(|(_, other)| self.is_said(child, other)) {
                return false;
            }
            self.path.pop();
        }
        others.next().is_none()
    }

    /// The children of a map or list that the new text must have; `None` if it has a `<<`.
    fn children<'t>(&self, tree: View<'t, 'a>) -> Option<Vec<(Option<Key<'a>>, View<'t, 'a>)>> {
        let branch = match tree {
            View::Node(node) if node.has_merge_entry() => return None,
            View::Node(node) => {
                return Some(node.written().map(|(key, value)| (key.map(Key::Node), View::Node(value))).collect());
            }
            View::Made(_) => return None,
            View::Branch(branch) => branch,
        };
        let is_read = |entry: &&Entry<'a>| !entry.was.is_some_and(|was| self.is_left_out(was.value()));
        let child = |entry: &'t Entry<'a>| Some((entry.key, entry.value.as_ref()?.view()?));
        let has_merge = branch.merge_entries().next().is_some();
        (!has_merge).then(|| branch.entries.iter().filter(is_read).filter_map(child).collect())
    }

    fn is_left_out(&self, element: NodeRef<'_>) -> bool {
        let next = self.left_out.partition_point(|lines| lines.start <= element.start());
        next.checked_sub(1).is_some_and(|at| element.start() < self.left_out[at].end)
    }
}

/// Whether a key of the new text is this one. Keys are texts, unless they are maps or lists.
fn is_key(key: Key<'_>, other: NodeRef<'_>) -> bool {
    match key.node().filter(|key| key.is_container()) {
        Some(key) => same(key, other),
        None => !other.is_container() && key.name() == other.string(),
    }
}
