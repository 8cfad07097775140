//! Aliases, anchors and `<<` in dest: they stay in the text as long as they mean what the merge asks for. Where one does not, only that one is
//! written out.
//!
//! A tree knows values alone: an alias in it stands for the value that its anchor had. In the text it stands for what its anchor has after
//! the merge. So the result is read here in the order of its text, as a reader would: each alias follows the anchor before it, and is
//! written out if the anchor is gone, or has another value than the tree wants in the place of the alias.

use std::borrow::Cow;

use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{Kind, NodeRef};

use crate::child::By;
use crate::tree::{Branch, Entry, Key, Layout, Tree, View, fields_in};

/// A settled tree of dest as it is to be written: with each alias and `<<` that can stay in its place, and the others written out. Read as
/// values, this tree means nothing: see above.
pub(crate) fn written_out<'t, 'a>(dest: NodeRef<'a>, tree: &'t Tree<'a>) -> Cow<'t, Tree<'a>> {
    if tree.is(dest) || !dest.has_aliases() && !dest.document().has_anchors_in(dest) {
        return Cow::Borrowed(tree);
    }
    Cow::Owned(AliasReader::of(dest).value(dest, tree.clone()))
}

/// An alias outside of an item that would lose its anchor in the item, or that would stand for another value; `tree` is what the item
/// becomes, if it stays.
pub fn breaks_elsewhere<'a>(item: NodeRef<'a>, tree: Option<&Tree<'a>>) -> Option<NodeRef<'a>> {
    let mut aliases = from_elsewhere(item).peekable();
    if tree.is_some_and(|tree| tree.is(item)) || aliases.peek().is_none() {
        return None;
    }
    let mut reader = AliasReader::of(item);
    if let Some(tree) = tree {
        reader.value(item, tree.clone());
    }
    aliases.find(|alias| !reader.is_same(*alias))
}

/// A reader of the text that a tree becomes.
struct AliasReader<'a> {
    dest: NodeRef<'a>,
    /// What has an anchor in the text up to here, by the name of the anchor. Of one name, the last counts.
    anchors: HashMap<&'a str, Anchored<'a>>,
}

/// A node of dest with an anchor.
struct Anchored<'a> {
    node: NodeRef<'a>,
    /// What it becomes.
    tree: Tree<'a>,
    /// Whether it means what it meant.
    is_same: bool,
}

/// The name in an anchor or alias.
fn name_in(anchor_or_alias: &str) -> &str {
    anchor_or_alias.get(1..).unwrap_or_default()
}

/// Whether two values are the same.
fn same(a: View<'_, '_>, b: View<'_, '_>) -> bool {
    match (a, b) {
        (View::Node(a), View::Node(b)) if a.resolve().is(b.resolve()) => true,
        (a, View::Node(b)) => a.same(b),
        (View::Node(a), b) => b.same(a),
        (a, b) => a.meaning() == b.meaning(),
    }
}

/// The fields that the value of a `<<` entry brings in.
fn merged_fields<'t, 'a>(value: View<'t, 'a>) -> Vec<(&'a str, View<'t, 'a>)> {
    let maps = if value.is_list() { value.elements() } else { vec![value] };
    let mut seen = HashSet::new();
    maps.into_iter().flat_map(View::fields).filter(|(name, _)| seen.insert(*name)).collect()
}

impl<'a> AliasReader<'a> {
    fn of(dest: NodeRef<'a>) -> Self {
        Self { dest, anchors: HashMap::new() }
    }

    /// What a node of dest, as it is written, stands for after the text up to here; `None` if an alias in it has lost its anchor, which is
    /// gone, or is not the last one of its name. What is outside of dest stays as it is.
    fn reading(&self, node: NodeRef<'a>) -> Option<Cow<'_, Tree<'a>>> {
        self.reading_in(node, node)
    }

    /// What a node stands for in a node that stays as it is written.
    fn reading_in(&self, whole: NodeRef<'a>, node: NodeRef<'a>) -> Option<Cow<'_, Tree<'a>>> {
        if node.kind() == Kind::Alias {
            let target = node.resolve();
            return match self.anchors.get(name_in(node.text())) {
                _ if whole.holds(target) => self.reading_in(whole, target),
                Some(anchored) if anchored.node.is(target) => Some(Cow::Borrowed(&anchored.tree)),
                None if !self.dest.holds(target) => Some(Cow::Owned(Tree::Node(target))),
                _ => None,
            };
        }
        if self.means_the_same(node) {
            return Some(Cow::Owned(Tree::Node(node)));
        }
        let (mut own, mut merged) = (Vec::new(), Vec::new());
        for (key, value) in node.written() {
            let value = self.reading_in(whole, value)?;
            match key {
                Some(key) if key.is_merge_key() => merged.push(value),
                Some(key) if !self.means_the_same(key) => return None,
                key => own.push(Entry::new(key.map(Key::Node), value.into_owned())),
            }
        }
        let mut names: HashSet<&str> = own.iter().filter_map(|entry| Some(entry.key?.name())).collect();
        for (name, value) in merged.iter().filter_map(|value| value.view()).flat_map(merged_fields) {
            if names.insert(name) {
                own.push(Entry::new(Some(Key::Made(name)), value.to_tree()));
            }
        }
        Some(Cow::Owned(Branch::with(node, By::Field, own).into()))
    }

    /// Whether a node of dest, as it is written, stands for the value of a tree.
    fn says(&self, node: NodeRef<'a>, wanted: &Tree<'a>) -> bool {
        let reading = self.reading(node);
        let both = reading.as_deref().and_then(Tree::view).zip(wanted.view());
        both.is_some_and(|(reading, wanted)| same(reading, wanted))
    }

    /// Whether an alias still stands for what it stood for.
    fn is_same(&self, alias: NodeRef<'a>) -> bool {
        match self.anchors.get(name_in(alias.text())) {
            Some(anchored) => anchored.is_same && anchored.node.is(alias.resolve()),
            None => !self.dest.holds(alias.resolve()),
        }
    }

    /// Whether all aliases in a node still stand for what they stood for.
    fn means_the_same(&self, node: NodeRef<'a>) -> bool {
        node.document().aliases_in(node).all(|alias| node.holds(alias.resolve()) || self.is_same(alias))
    }

    /// Reads the anchors of a node that stays as it is written.
    fn read(&mut self, node: NodeRef<'a>) {
        for anchored in node.document().anchored_in(node) {
            let tree = self.reading(anchored).map(Cow::into_owned);
            self.anchor(anchored, || tree);
        }
    }

    /// Reads the anchor of a node, if it has one. Without a tree, no alias can follow it.
    fn anchor(&mut self, node: NodeRef<'a>, tree: impl FnOnce() -> Option<Tree<'a>>) {
        let Some(name) = node.anchor_text().map(name_in) else { return };
        match tree() {
            Some(tree) => {
                let is_same = tree.view().is_some_and(|view| same(view, View::Node(node)));
                self.anchors.insert(name, Anchored { node, tree, is_same });
            }
            None => _ = self.anchors.remove(name),
        }
    }

    /// The tree to write in the place of a node of dest.
    fn value(&mut self, was: NodeRef<'a>, tree: Tree<'a>) -> Tree<'a> {
        if was.kind() == Kind::Alias {
            return match self.says(was, &tree) {
                true => Tree::Node(was),
                // The value is another node than the alias, so the splicer writes it in the place of the alias.
                false if tree.is(was) => Tree::Node(was.resolve()),
                false => tree,
            };
        }
        let branch = match tree {
            Tree::Node(node) if node.is(was) && self.means_the_same(was) => {
                self.read(was);
                return tree;
            }
            Tree::Node(node) if node.is(was) => Branch::of(node, By::Field),
            Tree::Branch(branch) if branch.like.is(was) => *branch,
            // A value of another text: its aliases are read there, and its anchors are not copied.
            tree if was.has_aliases() && self.says(was, &tree) => {
                self.read(was);
                return Tree::Node(was);
            }
            tree => {
                self.anchor(was, || Some(tree.clone()));
                return tree;
            }
        };
        self.anchor(was, || Some(branch.clone().into()));
        self.children(branch)
    }

    fn children(&mut self, mut branch: Branch<'a>) -> Tree<'a> {
        let mut merges = KeptMerges::of(&branch);
        branch.reorder(|entries| {
            let mut out = Vec::with_capacity(entries.len());
            for entry in entries {
                match entry.was.filter(|_| entry.is_merge()) {
                    Some(was) => self.merge_entry(was.value(), entry, &mut merges, &mut out),
                    None => self.child(entry, &mut out),
                }
            }
            out.retain(|entry| entry.was.is_some() || entry.key.is_none_or(|key| !merges.stay.contains(key.name())));
            out
        });
        branch.into_tree()
    }

    /// Puts a child as it is to be written.
    fn child(&mut self, mut entry: Entry<'a>, out: &mut Vec<Entry<'a>>) {
        self.spell(&mut entry);
        let (Some(was), true) = (entry.was, entry.value.is_some() && entry.layout != Layout::Own) else {
            return out.push(entry);
        };
        let key = was.key().filter(|_| entry.new_key().is_none());
        if key.is_some_and(|key| !self.means_the_same(key)) {
            // A key cannot be edited inside, so a copy of the child replaces it.
            let value = entry.value.take();
            let (key, source) = (entry.key, entry.source);
            out.push(entry);
            return out.extend(value.map(|value| Entry { source, ..Entry::new(key, value) }));
        }
        if let Some(key) = key {
            self.read(key);
        }
        entry.value = entry.value.map(|tree| self.value(was.value(), tree));
        if entry.value.as_ref().is_some_and(|tree| tree.is(was.value())) {
            (entry.source, entry.layout) = (None, Layout::Host);
        }
        out.push(entry);
    }

    /// Writes a value of updated's field as an alias if it is what has an anchor before it in dest. In what is new, all such values are.
    fn spell(&self, entry: &mut Entry<'a>) {
        let is_other = |node: NodeRef<'_>| !node.is_of(self.dest.document());
        let is_new = entry.key_of_value().is_some_and(is_other);
        // The anchor of a value that is replaced stays, and an alias cannot have one.
        let keeps_anchor = entry.was.is_some_and(|was| was.value().anchor_text().is_some());
        match &mut entry.value {
            Some(Tree::Node(node)) if is_new && !keeps_anchor && self.is_anchored(*node) => {
                entry.layout = Layout::Alias;
            }
            Some(Tree::Branch(branch)) if is_other(branch.like) => branch.reorder(|mut entries| {
                entries.iter_mut().for_each(|entry| self.spell(entry));
                entries
            }),
            _ => {}
        }
    }

    /// Whether a node is the last one of dest up to here that has its anchor, and still means the same.
    fn is_anchored(&self, node: NodeRef<'a>) -> bool {
        let anchored = node.anchor_text().and_then(|anchor| self.anchors.get(name_in(anchor)));
        anchored.is_some_and(|anchored| anchored.is_same && anchored.node.is(node))
    }

    /// Puts a `<<` entry: as it is written, if it brings in what the tree wants, or else its fields.
    fn merge_entry(
        &mut self,
        merged: NodeRef<'a>,
        mut entry: Entry<'a>,
        merges: &mut KeptMerges<'a>,
        out: &mut Vec<Entry<'a>>,
    ) {
        let old: Vec<&str> = fields_in(merged).map(|(key, _)| key.string()).collect();
        let reading = self.reading(merged);
        let fields = reading.as_deref().and_then(Tree::view).map(merged_fields);
        let brings_in: Option<Vec<_>> =
            fields.map(|fields| fields.into_iter().map(|(name, value)| (name, value.meaning())).collect());
        if let Some(brings_in) = brings_in.filter(|brings_in| merges.wants(&old, brings_in)) {
            merges.stay.extend(brings_in.into_iter().map(|(name, _)| name).filter(|name| !merges.own.contains(name)));
            entry.value = Some(Tree::Node(merged));
            self.read(merged);
            return out.push(entry);
        }
        let goes = entry.value.take().is_some();
        out.push(entry);
        if goes {
            out.extend(merges.brought_in.extract_if(.., |field| field.key.is_some_and(|k| old.contains(&k.name()))));
        }
    }
}

/// What the `<<` entries of a map must bring in, so that they can stay.
#[derive(Default)]
struct KeptMerges<'a> {
    /// The fields that the tree wants in the map, and that are not the map's own in its text, with their meanings.
    wanted: HashMap<&'a str, u64>,
    /// The fields of `wanted` that the `<<` entries of the tree bring in.
    brought_in: Vec<Entry<'a>>,
    /// The map's own fields.
    own: HashSet<&'a str>,
    /// The fields that the `<<` entries that stay bring in.
    stay: HashSet<&'a str>,
}

impl<'a> KeptMerges<'a> {
    fn of(branch: &Branch<'a>) -> Self {
        if !branch.entries.iter().any(|entry| entry.was.is_some() && entry.is_merge()) {
            return Self::default();
        }
        let named = |entry: &Entry<'a>| Some((entry.key?.name(), entry.value.as_ref()?.view()?.meaning()));
        let brought_in = branch.brought_in();
        let (own, new): (Vec<_>, Vec<_>) =
            branch.entries.iter().filter(|entry| !entry.is_merge()).partition(|entry| entry.was.is_some());
        let wanted = new.into_iter().chain(&brought_in).filter_map(named).collect();
        let own = own.into_iter().filter(|entry| entry.value.is_some()).filter_map(|entry| Some(entry.key?.name()));
        Self { wanted, own: own.collect(), brought_in, stay: HashSet::new() }
    }

    /// Whether a `<<` entry that brought in the `old` fields and now brings in others can stay: each field is wanted, and none that it
    /// brought in is missing.
    fn wants(&self, old: &[&'a str], brings_in: &[(&'a str, u64)]) -> bool {
        let is_hidden = |name: &&str| self.own.contains(name) || self.stay.contains(name);
        let is_wanted = |(name, value): &(&str, u64)| is_hidden(name) || self.wanted.get(name) == Some(value);
        let is_there = |name: &&str| {
            is_hidden(name) || !self.wanted.contains_key(name) || brings_in.iter().any(|(other, _)| other == name)
        };
        brings_in.iter().all(is_wanted) && old.iter().all(is_there)
    }
}

/// An alias that crosses the border of this item: either the alias or its anchor is in another item.
pub fn shared(item: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let leads_out = item.document().aliases_in(item).find(|alias| !item.holds(alias.resolve()));
    leads_out.or_else(|| from_elsewhere(item).next())
}

/// The aliases outside of this item whose anchors are in it.
pub fn from_elsewhere(item: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
    item.document().aliases_of(item).filter(move |alias| !item.holds(*alias))
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::Document;

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
