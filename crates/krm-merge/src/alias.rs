//! Aliases, anchors and `<<` in dest: they stay in the text until a merge changes something inside of one. Then only that one is written
//! out.
//!
//! A merge must not change the value of an alias elsewhere, and must not leave an alias without its anchor. In the tree, an alias with
//! changes inside is already a branch. This module finds the other aliases that would break, and writes their values in their place.

use std::borrow::Cow;
use std::ops::Range;

use crate::child::By;
use crate::tree::{Branch, Entry, Tree};
use crate::yaml::{Document, Kind, NodeRef};

/// A settled tree of dest in which each alias is written out if its anchor is removed, moves, or has another value now. Each pass writes out
/// all aliases that it finds, so there are at most as many passes as aliases.
pub fn written_out<'t, 'a>(dest: NodeRef<'a>, tree: &'t Tree<'a>) -> Cow<'t, Tree<'a>> {
    let mut tree = Cow::Borrowed(tree);
    if !dest.has_aliases() || tree.is(dest) {
        return tree;
    }
    loop {
        let uses = in_the_way(dest, &tree);
        if uses.is_empty() {
            return tree;
        }
        let uses = Nodes::of(dest.document(), with_orphans(dest, &tree, uses));
        tree = Cow::Owned(with_copies(tree.into_owned(), &uses));
    }
}

/// The aliases of a tree that are still in their original place.
fn aliases_of<'a>(dest: NodeRef<'a>, tree: &Tree<'a>) -> Vec<NodeRef<'a>> {
    fn collect<'a>(node: NodeRef<'a>, tree: &Tree<'a>, out: &mut Vec<NodeRef<'a>>) {
        let branch = match tree {
            Tree::Node(own) if own.is(node) => return out.extend(node.document().aliases_in(node)),
            Tree::Branch(branch) if branch.like.is(node) && node.kind() != Kind::Alias => branch,
            _ => return,
        };
        for entry in &branch.entries {
            let (Some(was), Some(tree)) = (entry.was, &entry.value) else { continue };
            let key = was.key().filter(|_| entry.new_key().is_none());
            out.extend(key.into_iter().flat_map(|key| key.document().aliases_in(key)));
            collect(was.value(), tree, out);
        }
    }
    let mut out = Vec::new();
    collect(dest, tree, &mut out);
    out
}

/// The aliases that a tree would break.
fn in_the_way<'a>(dest: NodeRef<'a>, tree: &Tree<'a>) -> Vec<NodeRef<'a>> {
    let mut changed = Changed::default();
    collect_changed(dest, tree, &mut changed);
    let nodes = |nodes| Nodes::of(dest.document(), nodes);
    // Where children change places, an alias may also end up after another anchor of its name.
    let ambiguous = changed.moved.iter().copied().filter(|node| node.document().has_anchors_in(*node)).collect();
    let [gone, within, moved, ambiguous] = [changed.gone, changed.within, changed.moved, ambiguous].map(nodes);
    let is_in_the_way = |alias: &NodeRef<'a>| {
        let target = alias.resolve();
        [&gone, &moved].iter().any(|nodes| nodes.any_around(target) || nodes.any_in(target))
            || within.any_in(target)
            || ambiguous.any_around(*alias)
    };
    aliases_of(dest, tree).into_iter().filter(is_in_the_way).collect()
}

/// What a tree changes in dest.
#[derive(Default)]
struct Changed<'a> {
    /// The nodes that are removed or replaced.
    gone: Vec<NodeRef<'a>>,
    /// The nodes whose children are added or removed.
    within: Vec<NodeRef<'a>>,
    /// The nodes whose children change places. An alias may end up before its anchor.
    moved: Vec<NodeRef<'a>>,
}

/// Nodes of one document. Whether one of them is at a place is known without a look at each.
struct Nodes<'a> {
    doc: &'a Document<'a>,
    /// Their numbers, sorted.
    numbers: Vec<u32>,
    /// The subtrees of those that are in no other one, sorted.
    outermost: Vec<Range<u32>>,
}

impl<'a> Nodes<'a> {
    /// The nodes that are of this document.
    fn of(doc: &'a Document<'a>, nodes: Vec<NodeRef<'a>>) -> Self {
        let mut subtrees: Vec<_> = nodes.into_iter().filter(|node| node.is_of(doc)).map(NodeRef::subtree).collect();
        subtrees.sort_unstable_by_key(|subtree| subtree.start);
        let numbers = subtrees.iter().map(|subtree| subtree.start).collect();
        // One of two subtrees is in the other, or they have no node in common.
        subtrees.dedup_by(|next, last| next.start < last.end);
        Self { doc, numbers, outermost: subtrees }
    }

    /// Whether one of them is a node or is below it.
    fn any_in(&self, node: NodeRef<'_>) -> bool {
        let Range { start, end } = node.subtree();
        let first = self.numbers.partition_point(|number| *number < start);
        node.is_of(self.doc) && self.numbers.get(first).is_some_and(|number| *number < end)
    }

    /// Whether one of them is a node or is above it.
    fn any_around(&self, node: NodeRef<'_>) -> bool {
        let number = node.subtree().start;
        let next = self.outermost.partition_point(|subtree| subtree.end <= number);
        node.is_of(self.doc) && self.outermost.get(next).is_some_and(|subtree| subtree.contains(&number))
    }
}

fn collect_changed<'a>(node: NodeRef<'a>, tree: &Tree<'a>, out: &mut Changed<'a>) {
    let branch = match tree {
        Tree::Node(own) if own.is(node) => return,
        Tree::Branch(branch) if branch.like.is(node) => branch,
        // The same value in another layout is no change, but the anchors in it may be gone.
        _ if tree.view().is_some_and(|view| view.same(node)) && !node.document().has_anchors_in(node) => return,
        _ => return out.gone.push(node),
    };
    // Changes inside an alias do not change the value of its anchor, but of each node around the alias.
    if node.kind() == Kind::Alias {
        return out.within.push(node);
    }
    if branch.entries.iter().any(|entry| entry.was.is_none() || entry.value.is_none()) {
        out.within.push(node);
    }
    if !branch.entries.iter().filter_map(Entry::place).is_sorted() {
        out.moved.push(node);
    }
    for entry in &branch.entries {
        let Some((key, value)) = entry.was.map(|was| (was.key(), was.value())) else { continue };
        if entry.new_key().is_some() {
            out.gone.extend(key);
            out.within.push(node);
        }
        match &entry.value {
            Some(tree) => collect_changed(value, tree, out),
            None => {
                out.gone.extend(key);
                out.gone.push(value);
            }
        }
    }
}

/// Adds the aliases whose anchors are lost when these aliases are written out, because a copy has no anchors.
fn with_orphans<'a>(dest: NodeRef<'a>, tree: &Tree<'a>, mut uses: Vec<NodeRef<'a>>) -> Vec<NodeRef<'a>> {
    let mut copied = Vec::new();
    copied_whole(tree, &mut copied);
    let mut aliases = aliases_of(dest, tree);
    let mut new = uses.clone();
    loop {
        let used = Nodes::of(dest.document(), new);
        let (goes, stays): (Vec<_>, Vec<_>) = copied.into_iter().partition(|entry| is_used(*entry, &used));
        let goes = goes.into_iter().flat_map(|(key, value)| [Some(key), value]).flatten().collect();
        let lost = Nodes::of(dest.document(), goes);
        let (orphans, others): (Vec<_>, Vec<_>) =
            aliases.into_iter().partition(|alias| lost.any_around(alias.resolve()));
        if orphans.is_empty() {
            return uses;
        }
        uses.extend(&orphans);
        (copied, aliases, new) = (stays, others, orphans);
    }
}

/// The entries that cannot be edited inside, so that a copy replaces them as a whole: `<<` entries, and entries with an alias in their key.
/// Entries inside of a `<<` are copied with it.
fn copied_whole<'a>(tree: &Tree<'a>, out: &mut Vec<(NodeRef<'a>, Option<NodeRef<'a>>)>) {
    let Some(like) = tree.like().filter(|like| like.kind() != Kind::Alias) else { return };
    if !like.document().has_merge_keys() && !like.has_aliases() {
        return;
    }
    let entries = match tree {
        Tree::Branch(branch) => &branch.entries,
        _ => &Branch::of(like, By::Field).entries,
    };
    for entry in entries {
        let Some(value) = &entry.value else { continue };
        let key = entry.key.and_then(|key| key.node());
        let is_whole = |key: &NodeRef<'a>| entry.is_merge() || key.document().aliases_in(*key).next().is_some();
        out.extend(key.filter(is_whole).map(|key| (key, value.like())));
        if !entry.is_merge() {
            copied_whole(value, out);
        }
    }
}

/// Whether one of these entries must be written out: a `<<` entry for any alias in it, another entry for those in its key.
fn is_used((key, value): (NodeRef<'_>, Option<NodeRef<'_>>), uses: &Nodes<'_>) -> bool {
    uses.any_in(key) || key.is_merge_key() && value.is_some_and(|value| uses.any_in(value))
}

fn with_copies<'a>(tree: Tree<'a>, uses: &Nodes<'a>) -> Tree<'a> {
    let mut branch = match tree {
        Tree::Branch(branch) => *branch,
        Tree::Node(node) if !uses.any_in(node) => return tree,
        // The value is another node than the alias, so the splicer writes it in the place of the alias.
        Tree::Node(node) if node.kind() == Kind::Alias => return Tree::Node(node.resolve()),
        Tree::Node(node) => Branch::of(node, By::Field),
        tree => return tree,
    };
    let mut brought_in = branch.brought_in();
    branch.reorder(|entries| {
        let mut out = Vec::with_capacity(entries.len());
        for mut entry in entries {
            let key = entry.key.and_then(|key| key.node());
            let like = entry.value.as_ref().and_then(Tree::like);
            if entry.value.is_some() && key.is_some_and(|key| is_used((key, like), uses)) {
                let is_merge = entry.is_merge();
                let value = entry.value.take();
                let (key, source) = (entry.key, entry.source);
                out.push(entry);
                match value {
                    _ if is_merge => out.append(&mut brought_in),
                    Some(value) => out.push(Entry { source, ..Entry::new(key, value) }),
                    None => {}
                }
            } else {
                entry.value = entry.value.map(|value| with_copies(value, uses));
                out.push(entry);
            }
        }
        out
    });
    branch.into_tree()
}

/// An alias that crosses the border of this item: either the alias or its anchor is in another item.
pub fn shared(item: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let doc = item.document();
    let leads_out = doc.aliases_in(item).find(|alias| !item.holds(alias.resolve()));
    leads_out.or_else(|| doc.aliases_of(item).find(|alias| !item.holds(*alias)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_that_leads_out_of_an_item_or_into_it_is_found() {
        for (text, want) in [
            ("- a: &x 1\n  b: *x\n- c: 2\n", [None, None]),
            ("- &x {a: 1}\n- b: *x\n", [Some("1:5"), Some("1:5")]),
            ("- a: &x 1\n  b: *x\n- c: *x\n", [Some("2:5"), Some("2:5")]),
        ] {
            let doc = Document::parse(text).expect("valid");
            let root = doc.roots().next().expect("a root");
            let line_and_offset = |alias: NodeRef<'_>| {
                let line = text[..alias.start()].lines().count() - 1;
                let column = alias.start() - text[..alias.start()].rfind('\n').map_or(0, |at| at + 1);
                format!("{line}:{column}")
            };
            let found: Vec<_> = root.elements().map(|item| shared(item).map(line_and_offset)).collect();
            assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), want, "{text}");
        }
    }
}
