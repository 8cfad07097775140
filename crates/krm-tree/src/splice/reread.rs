//! Reads again what was written: the new text of a resource must mean the tree that it was made from.
//!
//! Text is edited in many ways, and a fault in any of them could silently write another value. So each new text is read as it stands in its
//! file, because the lines around it decide what a block scalar at its end means. It is then compared with the tree: kinds, typed values,
//! keys, and the order of both lists and maps. And it must not have an anchor twice that each side has once.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use krm_yaml::hashed::{Empty, HashSet};
use krm_yaml::{
    Document, Edit, Kind, NodeRef, Place, Style, TextEdits, WrittenChild, are_written_alike, extent, is_blank,
    line_end, next_line, same,
};

use super::{Unwritable, WriteFault, on_one_line};
use crate::child::Value as _;
use crate::limit::{Budget, Kind as Written};
use crate::links;
use crate::path::{FieldPath, Step};
use crate::tree::{Branch, Entry, Key, Tree, View};

/// Edits of a text by what they change.
#[derive(Clone, Copy)]
pub(super) struct Edits<'e> {
    /// Those of elements that stay, which were read again before. Below an element, other edits can change its end.
    pub inner: &'e TextEdits,
    /// Those that the tree asks for.
    pub own: &'e TextEdits,
    /// Both.
    pub all: &'e TextEdits,
}

/// Checks that edits of its text give a resource the value of a tree, and that elements that the inner edits change mean the same as without
/// the others.
///
/// # Errors
/// The new text means something else, or cannot be read: a fault of the splicer. It has an anchor twice. The budget is exceeded.
pub(super) fn check(root: NodeRef<'_>, tree: &Tree<'_>, edits: Edits<'_>, budget: &Budget) -> Result<(), Unwritable> {
    let Some(view) = tree.view() else { return Ok(()) };
    if edits.own.is_empty() {
        return Ok(Comparison::default().check(view, root)?);
    }
    let mut idle = Vec::new();
    if let Tree::Branch(branch) = tree
        && root.document().anchored_in(root).next().is_none()
    {
        idle_elements(branch, edits.own, &mut idle);
        idle.sort_unstable_by_key(|element| element.start);
    }
    let text = text_of(root, edits.all, &idle, budget);
    budget.check(Written::Text)?;
    let left_out = idle.into_iter().map(|element| element.start).collect();
    let within = Some(Within { doc: root.document(), inner: edits.inner, budget });
    let mut comparison = Comparison { within, left_out, steps: Vec::new() };
    read(&text, root.document(), |document| {
        let first = document.filter(|_| root.is_root());
        let node = first.or_else(|| document?.elements().last()).ok_or_else(WriteFault::unreadable)?;
        comparison.check(view, node)?;
        let twice = links::repeated(node, tree).filter(|_| node.document().keeps_links());
        twice.map_or(Ok(()), |anchor| Err(Unwritable::Anchor(anchor.to_owned())))
    })
}

/// Adds an edit of a comment to those of an element; `None` if they change the same bytes, or if the element would mean something else.
pub fn with_comment(element: NodeRef<'_>, edits: &TextEdits, comment: Edit, budget: &Budget) -> Option<TextEdits> {
    let both = edits.clone().union([comment.into()]).ok()?;
    let texts = [edits, &both].map(|edits| text_of(element, edits, &[], budget));
    let documents = texts.map(|text| parsed(text, element.document()));
    let [before, now] = documents.each_ref().map(|document| document.as_ref()?.roots().next());
    before.zip(now).is_some_and(|(before, now)| same(before, now)).then_some(both)
}

/// Whether edits of its text give a resource the value of a tree.
pub fn means(root: NodeRef<'_>, tree: &Tree<'_>, edits: &TextEdits, budget: &Budget) -> bool {
    check(root, tree, Edits { inner: &TextEdits::default(), own: edits, all: edits }, budget).is_ok()
}

/// What a resource says after edits of its text, looked at; `false` if it is no YAML.
pub fn written(root: NodeRef<'_>, edits: &TextEdits, budget: &Budget, look: impl FnOnce(NodeRef<'_>) -> bool) -> bool {
    let Some(document) = parsed(text_of(root, edits, &[], budget), root.document()) else { return false };
    let first = document.roots().next();
    let found = if root.is_root() { first } else { first.and_then(|list| list.elements().last()) };
    found.is_some_and(look)
}

/// Checks that a text is one document with the value of a tree.
///
/// # Errors
/// Same as [`check`].
pub(super) fn check_text(text: &str, tree: &Tree<'_>) -> Result<(), WriteFault> {
    let Some(view) = tree.view() else { return Ok(()) };
    let Some(like) = tree.like() else { return Ok(()) };
    let check =
        |document: Option<NodeRef<'_>>| Comparison::default().check(view, document.ok_or_else(WriteFault::unreadable)?);
    read(text, like.document(), check)
}

/// A text that is to be read as another document is; `None` if it is no YAML.
fn parsed<'t>(text: impl Into<Cow<'t, str>>, like: &Document<'_>) -> Option<Document<'t>> {
    let document = Document::parse(text).ok()?;
    if like.keeps_links() {
        document.keep_links();
    }
    Some(document)
}

/// Reads a text, which must have one document.
fn read<E: From<WriteFault>>(
    text: &str,
    like: &Document<'_>,
    check: impl FnOnce(Option<NodeRef<'_>>) -> Result<(), E>,
) -> Result<(), E> {
    let document = parsed(text, like).ok_or_else(WriteFault::unreadable)?;
    let mut roots = document.roots();
    check(roots.next().filter(|_| roots.len() == 0))
}

/// An element that need not be read again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Idle {
    lines: Range<usize>,
    /// Where its value starts.
    start: usize,
}

/// To read so many elements again takes less than to find out which of them need not be read.
const FEW: usize = 8;

/// Collects the elements that stay as they are, and that no edit touches. They need not be read again. The first element and
/// the last one are read, because they show the column and the end of the list.
fn idle_elements(branch: &Branch<'_>, edits: &TextEdits, idle: &mut Vec<Idle>) {
    let (list, doc) = (branch.like, branch.like.document());
    if list.is_list() && list.style() == Style::Block && branch.entries.len() > FEW {
        let tops: Vec<usize> = Place::of_children(list).iter().map(|place| place.top(doc)).collect();
        let stay = branch.entries.iter().filter(|entry| entry.is_untouched()).filter_map(|entry| entry.was);
        let idle_one = |was: WrittenChild<'_>| {
            let lines = *tops.get(was.place()).filter(|_| was.place() > 0)?..*tops.get(was.place() + 1)?;
            (!edits.touch(&lines)).then(|| Idle { lines, start: was.value().start() })
        };
        idle.extend(stay.filter_map(idle_one));
    }
    branch.entries.iter().filter_map(inside).for_each(|branch| idle_elements(branch, edits, idle));
}

/// The map or list that a child of dest stays.
fn inside<'t, 'a>(entry: &'t Entry<'a>) -> Option<&'t Branch<'a>> {
    match (&entry.value, entry.was?.value()) {
        (Some(Tree::Branch(branch)), was) if branch.like.is(was) && was.kind() != Kind::Alias => Some(branch),
        _ => None,
    }
}

/// The new text of a document without the lines that are left out, or of an element, or of the value of a field, as the last one of a list.
pub(super) fn text_of(root: NodeRef<'_>, edits: &TextEdits, left_out: &[Idle], budget: &Budget) -> String {
    let (doc, source) = (root.document(), root.document().source());
    let place = Place::behind_dash(root);
    let pad = " ".repeat(place.map_or(0, |dash| dash.column(doc)));
    let (lead, range, end) = match place {
        _ if root.is_root() => (String::new(), extent(root), ""),
        Some(dash) if root.style() == Style::Block => {
            let lines = dash.top(doc)..below_blank(source, dash.bottom(doc));
            match dash.is_inline(doc) {
                false => (anchors_elsewhere(root, &format!("{pad}- "), "\n", budget), lines, ""),
                true => (format!("{pad}- "), root.full_start()..lines.end, ""),
            }
        }
        None if root.style() == Style::Block && root.column() > 0 => {
            let anchors = anchors_elsewhere(root, "- ", "\n", budget);
            // The field's own line may have an anchor and a tag of the value.
            let on_the_line = source[root.full_start()..root.start()].lines().next().unwrap_or_default();
            let lines = line_end(source, line_of_field(root))..below_blank(source, next_line(source, root.end()));
            (format!("{anchors}- {on_the_line}"), lines, "")
        }
        _ => (format!("[{}", anchors_elsewhere(root, "", ", ", budget)), root.full_start()..root.end(), "]"),
    };
    let mut text = if root.is_root() { lead } else { format!("{}{lead}", directives(root)) };
    // What is inserted at the start of these lines belongs to what is above them.
    let (mut start, mut is_below) = (range.start, !root.is_root());
    for next in left_out.iter().map(|idle| &idle.lines).chain([&(range.end..range.end)]) {
        let lines = start..next.start;
        text += &if is_below { edits.apply_behind_start(source, lines) } else { edits.apply(source, lines) };
        (start, is_below) = (next.end, true);
    }
    text + end
}

/// The line of the field whose value is a block of lines: the one above these, and above their comments.
fn line_of_field(value: NodeRef<'_>) -> usize {
    let (doc, source) = (value.document(), value.document().source());
    let is_between = |line: &usize| {
        let text = source[*line..line_end(source, *line)].trim_start();
        text.is_empty() || text.starts_with('#')
    };
    let above = |line: &usize| Some(*line).filter(|line| *line > 0).map(|line| doc.line_start(line - 1));
    iter::successors(above(&doc.line_start(value.start())), above).find(|line| !is_between(line)).unwrap_or_default()
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
    let has_any = text.trim_start_matches('\u{feff}').starts_with('%');
    let end = if has_any { text.find("\n---") } else { None };
    end.map_or("", |end| &text[..next_line(text, end + 1)])
}

/// The anchors outside of an element that aliases in it refer to, each with its value, as elements before it.
fn anchors_elsewhere(element: NodeRef<'_>, before: &str, after: &str, budget: &Budget) -> String {
    let mut seen = HashSet::new();
    let aliases = element.document().uses_in(element).filter(|alias| !element.holds(alias.target()));
    let anchor = |alias: NodeRef<'_>| {
        let value = on_one_line(alias.target(), budget);
        format!("{before}&{} {value}{after}", alias.text().trim_start_matches('*'))
    };
    aliases.filter(|alias| seen.insert(alias.text())).map(anchor).collect()
}

/// A child with its number, its key if it is a field, its value, and the child of dest that it was.
type SaidChild<'t, 'a> = (usize, Option<Key<'a>>, View<'t, 'a>, Option<WrittenChild<'a>>);

/// Whether edits change a node, or what is on its last lines.
pub(super) fn touch(edits: &TextEdits, node: NodeRef<'_>) -> bool {
    let place = Place::behind_dash(node);
    let end = place.map_or(node.end(), |place| place.bottom(node.document()));
    edits.touch(&(node.full_start()..end))
}

/// The edits of elements that stay in a tree.
#[derive(Clone, Copy)]
struct Within<'e> {
    doc: &'e Document<'e>,
    inner: &'e TextEdits,
    budget: &'e Budget,
}

impl Within<'_> {
    fn change(self, node: NodeRef<'_>) -> bool {
        !self.inner.is_empty() && node.is_of(self.doc) && touch(self.inner, node)
    }

    /// Whether an element means the same as with its own edits alone.
    fn mean(self, element: NodeRef<'_>, other: NodeRef<'_>) -> bool {
        let alone = parsed(text_of(element, self.inner, &[], self.budget), self.doc);
        let is_same = |alone: Document<'_>| {
            alone.roots().next().and_then(|list| list.elements().last()).is_some_and(|element| same(element, other))
        };
        alone.is_some_and(is_same)
    }
}

/// A comparison of a tree with the nodes of the new text.
#[derive(Default)]
struct Comparison<'a, 'e> {
    within: Option<Within<'e>>,
    /// Where the elements start that were not read again.
    left_out: HashSet<usize>,
    /// The steps to the place that differs, the last one first. Mostly nothing differs, and no path is made.
    steps: Vec<Step<'a>>,
}

impl<'a> Comparison<'a, '_> {
    fn check(&mut self, tree: View<'_, 'a>, node: NodeRef<'_>) -> Result<(), WriteFault> {
        if self.is_said(tree, node) {
            return Ok(());
        }
        let mut path = FieldPath::default();
        self.steps.drain(..).rev().for_each(|step| path.push(step, None));
        Err(WriteFault::Misread { path: path.shown() })
    }

    /// Whether a node means what a tree says. If it does not, the steps show where.
    fn is_said<'t>(&mut self, tree: View<'t, 'a>, node: NodeRef<'_>) -> bool {
        let within = self.within.filter(|within| tree.like().is_some_and(|like| within.change(like)));
        match (tree, within) {
            // An alias stands for a value, whose fields have the order that they have at its anchor.
            _ if node.kind() == Kind::Alias => return tree.same(node),
            (View::Node(element), Some(within)) => return within.mean(element, node),
            (View::Branch(map), Some(_)) if tree.is_map() => return self.changes_are_said(map, node),
            (View::Node(own), None) if are_written_alike(own.resolve(), node) => return true,
            _ => {}
        }
        if !tree.is_kind_of(node) {
            return false;
        }
        if node.kind() == Kind::Scalar {
            return tree.scalar() == node.scalar();
        }
        match tree {
            // What `<<` brings in has no place among the fields.
            _ if node.has_merge_entry() => tree.same(node),
            View::Node(own) if !own.has_merge_entry() => {
                let child = |(index, (key, value)): (usize, (Option<NodeRef<'a>>, _))| {
                    (index, key.map(Key::Node), View::Node(value), None)
                };
                self.are_said(own.written().enumerate().map(child), node)
            }
            View::Branch(branch) if branch.merge_entries().next().is_none() => {
                let child = |(index, entry): (usize, &'t Entry<'a>)| {
                    Some((index, entry.key, entry.value.as_ref()?.view()?, entry.was))
                };
                self.are_said(branch.numbered().filter_map(child), node)
            }
            _ => tree.same(node),
        }
    }

    fn are_said<'t>(&mut self, children: impl Iterator<Item = SaidChild<'t, 'a>>, node: NodeRef<'_>) -> bool
    where
        'a: 't,
    {
        let mut others = node.written();
        for (index, key, child, was) in children {
            if was.is_some_and(|was| self.is_left_out(was)) {
                continue;
            }
            let other = others.next().filter(|(other, _)| match (key, other) {
                (Some(key), Some(other)) => is_key(key, *other),
                _ => key.is_none() && other.is_none(),
            });
            if !other.is_some_and(|(_, other)| self.is_said(child, other)) {
                self.steps.push(key.map_or(Step::Index(index), |key| Step::Field(key.name().into())));
                return false;
            }
        }
        others.next().is_none()
    }

    /// Whether a map that other edits change, too, has what the tree changes.
    fn changes_are_said(&mut self, map: &Branch<'a>, node: NodeRef<'_>) -> bool {
        let changed = map.entries.iter().filter(|entry| !entry.is_untouched());
        changed.filter_map(|entry| Some((entry, entry.key?.name()))).all(|(entry, name)| {
            let is_said = match (entry.value.as_ref().and_then(Tree::view), node.get(name)) {
                (Some(value), Some(node)) => self.is_said(value, node),
                (value, node) => value.is_none() && node.is_none(),
            };
            if !is_said {
                self.steps.push(Step::Field(name.into()));
            }
            is_said
        })
    }

    /// Whether an element is not in the text that is read.
    fn is_left_out(&self, was: WrittenChild<'_>) -> bool {
        let is_of = |within: &Within<'_>| was.key().is_none() && was.value().is_of(within.doc);
        self.within.as_ref().is_some_and(is_of) && self.left_out.contains(&was.value().start())
    }
}

/// Whether a key of the new text is this one. Keys are texts, unless they are maps or lists.
fn is_key(key: Key<'_>, other: NodeRef<'_>) -> bool {
    match key.node().filter(|key| key.is_container()) {
        Some(key) => same(key, other),
        None => other.is_called(key.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::By;

    /// The place at which a text, as it stands at the root or as the first item of a list, fails to mean another one.
    fn misread(meant: &str, range: Range<usize>, new: &str) -> Option<String> {
        let doc = Document::parse(meant).expect("valid");
        let root = doc.roots().next().expect("a root");
        let element = root.elements().next().unwrap_or(root);
        let edits = TextEdits::from(Edit { range, text: new.to_owned() });
        let inner = &TextEdits::default();
        let edits = Edits { inner, own: &edits, all: &edits };
        match check(element, &Tree::Node(element), edits, &Budget::default()) {
            Err(Unwritable::Fault(WriteFault::Misread { path })) => Some(path),
            other => other.map(|()| None).expect("no other error"),
        }
    }

    #[test]
    fn another_value_type_order_or_key_is_refused() {
        let meant = "a: 1\nb: [x, y]\nc: {d: ~, e: 'f'}\n";
        for (old, new, want) in [
            ("1", "1 # as meant", None),
            ("[x, y]", "\n- x\n- 'y'", None),
            ("1", "2", Some("a")),
            ("1", "\"1\"", Some("a")),
            ("1", "1.0", None),
            ("1", "true", Some("a")),
            ("~", "''", Some("c.d")),
            ("~", "{}", Some("c.d")),
            ("[x, y]", "[y, x]", Some("b[0]")),
            ("[x, y]", "[x]", Some("b[1]")),
            ("[x, y]", "[x, y, z]", Some("b")),
            ("d: ~, ", "", Some("c.d")),
            ("d: ~, e: 'f'", "e: 'f', d: ~", Some("c.d")),
            ("e: 'f'", "e: 'f', g: 1", Some("c")),
            ("1", "[", Some("")),
            ("1", "1\n---\nb: 1", Some("")),
        ] {
            let at = meant.find(old).expect("is there");
            assert_eq!(misread(meant, at..at + old.len(), new).as_deref(), want, "{old} as {new}");
            let item = format!("- {}", meant.replace('\n', "\n  "));
            let at = item.find(old).expect("is there");
            let new = new.replace('\n', "\n  ");
            assert_eq!(misread(&item, at..at + old.len(), &new).as_deref(), want, "{old} as {new} in an item");
        }
    }

    #[test]
    fn what_is_below_a_text_decides_what_it_means() {
        for (meant, range, new, want) in [
            ("- a: |+\n    x\n\n- b: 1\n", 13..14, "", Some("a")),
            ("- a: |\n    x\n\n- b: 1\n", 13..14, "", None),
            ("- a: |+\n    x\n- b: 1\n", 13..13, "\n", Some("a")),
            ("a: |+\n  x\n---\nb: 1\n", 10..10, "\n", Some("a")),
            ("a: |\n  x\n---\nb: 1\n", 9..9, "\n", None),
            ("a: |\n  x", 8..8, "\n", Some("a")),
            ("- a: |+\r\n    x\r\n\r\n- b: 1\r\n", 16..18, "", Some("a")),
        ] {
            assert_eq!(misread(meant, range, new).as_deref(), want, "{meant:?} with {new:?}");
        }
    }

    #[test]
    fn an_element_is_read_with_the_anchors_and_tags_of_its_document() {
        let text = "%TAG !e! tag:e.org,2000:\n---\n- &x {y: [1, .inf]}\n- a: *x\n  <<: *x\n  b: !e!f g\n  c: 1\n";
        for (text, is_flow) in [
            (text.to_owned(), false),
            (text.replace("- a: *x\n  <<: *x\n  b: !e!f g\n  c: 1", "- {a: *x, <<: *x, b: !e!f g, c: 1}"), true),
        ] {
            let doc = Document::parse(text.as_str()).expect("valid");
            let element = doc.roots().flat_map(NodeRef::elements).nth(1).expect("two");
            assert_eq!(element.style() == Style::Flow, is_flow);
            let at = text.rfind("c: 1").expect("is there") + 3;
            for (new, want) in [("0x1", true), ("2", false)] {
                let edits = TextEdits::from(Edit { range: at..at + 1, text: new.to_owned() });
                let edits = Edits { inner: &TextEdits::default(), own: &edits, all: &edits };
                let read = check(element, &Tree::Node(element), edits, &Budget::default());
                assert_eq!(read.is_ok(), want, "{text}: {read:?}");
            }
        }
    }

    #[test]
    fn elements_that_no_edit_touches_are_not_read_again() {
        let items: String = (0..9).map(|i| format!("- {{a: {i}}}\n")).collect();
        let doc = Document::parse(items.as_str()).expect("valid");
        let root = doc.roots().next().expect("a root");
        let mut branch = Branch::of(root, By::Index);
        branch.entries[4].value = None;
        let edits = TextEdits::from(Edit { range: 4 * 9..5 * 9, text: String::new() });
        let mut idle = Vec::new();
        idle_elements(&branch, &edits, &mut idle);
        assert_eq!(idle.iter().map(|idle| idle.lines.start / 9).collect::<Vec<_>>(), [1, 2, 6, 7]);
        let edits = Edits { inner: &TextEdits::default(), own: &edits, all: &edits };
        assert!(check(root, &branch.clone().into_tree(), edits, &Budget::default()).is_ok());
        branch.entries[6].value = None;
        let lost = check(root, &branch.into_tree(), edits, &Budget::default());
        assert!(lost.is_err_and(|why| why.to_string().contains("`[6].a` does not: this is a fault of krm-merge")));
    }

    #[test]
    fn an_element_with_the_anchor_of_another_one_is_read_again() {
        let text = format!("- a\n- a\n- &x b\n{}- *x\n", "- a\n".repeat(7));
        let doc = Document::parse(text.as_str()).expect("valid");
        doc.keep_links();
        let root = doc.roots().next().expect("a root");
        let mut branch = Branch::of(root, By::Index);
        branch.entries[5].value = None;
        let edits = TextEdits::from(Edit { range: 23..27, text: String::new() });
        let edits = Edits { inner: &TextEdits::default(), own: &edits, all: &edits };
        assert!(check(root, &branch.into_tree(), edits, &Budget::default()).is_ok(), "{text}");
    }
}
