//! Aliases, anchors and `<<` in dest: they stay in the text until a merge changes something inside of one. Then only that one is written
//! out.
//!
//! A merge must not change the value of an alias elsewhere, and must not leave an alias without its anchor. In the tree, an alias with
//! changes inside is already a branch. This module finds the other aliases that would break, and writes their values in their place.

use std::borrow::Cow;

use crate::child::By;
use crate::tree::{Branch, Entry, Tree};
use crate::yaml::{Kind, NodeRef};

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
        let uses = with_orphans(dest, &tree, uses);
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
        let written: Vec<_> = node.written().collect();
        for entry in &branch.entries {
            let Some(&(key, value)) = entry.place.and_then(|place| written.get(place)) else { continue };
            let key = key.filter(|key| entry.new_key(Some(*key)).is_none());
            if let Some(tree) = &entry.value {
                out.extend(key.into_iter().flat_map(|key| key.document().aliases_in(key)));
                collect(value, tree, out);
            }
        }
    }
    let mut out = Vec::new();
    collect(dest, tree, &mut out);
    out
}

fn in_the_way<'a>(dest: NodeRef<'a>, tree: &Tree<'a>) -> Vec<NodeRef<'a>> {
    let mut changed = Vec::new();
    collect_changed(dest, tree, &mut changed);
    let is_in_the_way = |alias: &NodeRef<'a>| {
        let target = alias.resolve();
        changed.iter().any(|c| match c {
            Changed::Gone(node) => node.holds(target) || target.holds(*node),
            Changed::Within(node) => target.holds(*node),
            Changed::Moved(node) => {
                let may_mean_another = || node.holds(*alias) && node.document().has_anchors_in(*node);
                node.holds(target) || target.holds(*node) || may_mean_another()
            }
        })
    };
    aliases_of(dest, tree).into_iter().filter(is_in_the_way).collect()
}

enum Changed<'a> {
    /// The node is removed or replaced.
    Gone(NodeRef<'a>),
    /// Children of the node are added or removed.
    Within(NodeRef<'a>),
    /// Children of the node change places, and an alias may end up before its anchor, or after another anchor of that name.
    Moved(NodeRef<'a>),
}

fn collect_changed<'a>(node: NodeRef<'a>, tree: &Tree<'a>, out: &mut Vec<Changed<'a>>) {
    let branch = match tree {
        Tree::Node(own) if own.is(node) => return,
        Tree::Branch(branch) if branch.like.is(node) => branch,
        // The same value in another layout is no change, but the anchors in it may be gone.
        _ if tree.view().is_some_and(|view| view.same(node)) && !node.document().has_anchors_in(node) => return,
        _ => return out.push(Changed::Gone(node)),
    };
    // Changes inside an alias do not change the value of its anchor, but of each node around the alias.
    if node.kind() == Kind::Alias {
        return out.push(Changed::Within(node));
    }
    let written: Vec<_> = node.written().collect();
    if branch.entries.iter().any(|entry| entry.place.is_none() || entry.value.is_none()) {
        out.push(Changed::Within(node));
    }
    if !branch.entries.iter().filter_map(|entry| entry.place).is_sorted() {
        out.push(Changed::Moved(node));
    }
    for entry in &branch.entries {
        let Some(&(key, value)) = entry.place.and_then(|place| written.get(place)) else { continue };
        if entry.new_key(key).is_some() {
            out.extend(key.map(Changed::Gone));
            out.push(Changed::Within(node));
        }
        match &entry.value {
            Some(tree) => collect_changed(value, tree, out),
            None => {
                out.extend(key.map(Changed::Gone));
                out.push(Changed::Gone(value));
            }
        }
    }
}

/// Adds the aliases whose anchors are lost when these aliases are written out, because a copy has no anchors.
fn with_orphans<'a>(dest: NodeRef<'a>, tree: &Tree<'a>, uses: Vec<NodeRef<'a>>) -> Vec<NodeRef<'a>> {
    let mut uses = uses;
    let mut copied = Vec::new();
    copied_whole(tree, &mut copied);
    let mut aliases = aliases_of(dest, tree);
    loop {
        let (goes, stays): (Vec<_>, Vec<_>) = copied.into_iter().partition(|entry| is_used(*entry, &uses));
        let (orphans, others): (Vec<_>, Vec<_>) = aliases.into_iter().partition(|alias| {
            let is_lost = |node: &NodeRef<'_>| node.holds(alias.resolve());
            goes.iter().any(|(key, value)| is_lost(key) || value.as_ref().is_some_and(is_lost))
        });
        if orphans.is_empty() {
            return uses;
        }
        uses.extend(orphans);
        (copied, aliases) = (stays, others);
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
fn is_used((key, value): (NodeRef<'_>, Option<NodeRef<'_>>), uses: &[NodeRef<'_>]) -> bool {
    let is_merged = |alias| key.is_merge_key() && value.is_some_and(|value| value.holds(alias));
    uses.iter().any(|alias| key.holds(*alias) || is_merged(*alias))
}

fn with_copies<'a>(tree: Tree<'a>, uses: &[NodeRef<'a>]) -> Tree<'a> {
    let mut branch = match tree {
        Tree::Branch(branch) => *branch,
        Tree::Node(node) if !uses.iter().any(|u| node.holds(*u)) => return tree,
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
    use std::time::{Duration, Instant};

    use super::*;
    use crate::yaml::Document;

    /// Items of which each has an anchor and an alias of it.
    fn items(count: usize) -> String {
        (0..count).map(|i| format!("- {{a: &x{i} [1], b: *x{i}}}\n")).collect()
    }

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

    /// The aliases of other items are not looked at: eight times the items take about eight times as long, not sixty-four times.
    #[test]
    fn the_work_grows_with_the_items() {
        let took = |count: usize| {
            let text = items(count);
            let doc = Document::parse(text.as_str()).expect("valid");
            let root = doc.roots().next().expect("a root");
            let run = || {
                let start = Instant::now();
                assert!(root.elements().all(|item| shared(item).is_none()));
                start.elapsed()
            };
            (0..5).map(|_| run()).min().unwrap_or_default()
        };
        let (few, many) = (took(2_000), took(16_000));
        assert!(many < few.max(Duration::from_micros(50)) * 24, "2,000 items: {few:?}, 16,000 items: {many:?}");
    }
}
