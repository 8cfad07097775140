//! Aliases as links, which a merge of texts keeps: a link is written out only where its anchor is not before it in the result.
//!
//! Where [`Document::keep_links`](krm_yaml::Document::keep_links) holds, a tree has the aliases themselves, and each means its own text. In the
//! text, it stands for the last anchor of its name before it. So the result is read here in the order of its text. A link whose anchor is
//! gone, comes later, or is another side's own anchor of that name, gets the value that it had on its side.

use std::borrow::Cow;

use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{Kind, NodeRef, same};

use crate::child::{By, ChildId};
use crate::path::{FieldPath, Step, Trail};
use crate::sides::Sides;
use crate::tree::{Branch, Entry, Key, Layout, Tree};

/// Makes links of the aliases in the texts of a three-way merge.
///
/// Some texts can only be compared by values: resources are items of one list, which may share an anchor, and kustomize wrote the aliases of
/// dest's items out; a map has several `<<`, or one with a map of its own; an alias is a key.
pub fn keep(sides: Sides<&[NodeRef<'_>]>) {
    let has_anchors = |node: &NodeRef<'_>| node.document().has_anchors();
    let all = || [sides.original, sides.updated, sides.dest].into_iter().flatten();
    let can_have_links = |node: &NodeRef<'_>| node.is_root() && has_plain_fields(*node);
    let is_text = |side: &[NodeRef<'_>]| side.iter().any(has_anchors) || side.iter().all(|node| node.is_root());
    if all().any(has_anchors) && is_text(sides.dest) && all().filter(|node| has_anchors(node)).all(can_have_links) {
        all().for_each(|node| node.document().keep_links());
    }
}

/// Whether each map in a node has at most one `<<`, which names anchors alone, and no alias as a key.
fn has_plain_fields(node: NodeRef<'_>) -> bool {
    let is_alias = |value: NodeRef<'_>| value.kind() == Kind::Alias;
    let names_anchors = |value: NodeRef<'_>| is_alias(value) || value.is_list() && value.elements().all(is_alias);
    let merged = || node.entries().filter(|(key, _)| key.is_merge_key()).map(|(_, value)| value);
    if merged().nth(1).is_some() || !merged().all(names_anchors) {
        return false;
    }
    let is_plain = |(key, value): (Option<NodeRef<'_>>, NodeRef<'_>)| {
        key.is_none_or(|key| key.kind() == Kind::Scalar) && (value.kind() == Kind::Alias || has_plain_fields(value))
    };
    node.written().all(is_plain)
}

/// A settled tree as it is to be written, with each link that leads nowhere written out.
pub(crate) fn written_out<'t, 'a>(tree: &'t Tree<'a>) -> Cow<'t, Tree<'a>> {
    if !tree.like().is_some_and(|like| like.document().keeps_links()) {
        return Cow::Borrowed(tree);
    }
    let mut reader = LinkReader::default();
    reader.read(tree);
    match reader.broken.is_empty() {
        true => Cow::Borrowed(tree),
        false => Cow::Owned(LinkReader::default().value(tree.clone())),
    }
}

/// The links of a settled tree that are written out, each with its place.
pub fn lost<'a>(tree: &Tree<'a>) -> Vec<(FieldPath<'a>, NodeRef<'a>)> {
    let mut reader = LinkReader::default();
    reader.read(tree);
    reader.broken.into_iter().filter(|link| link.is_lost).map(|link| (link.path, link.node)).collect()
}

/// An anchor that a text, which was made of a tree, has more than once, although no text in the tree has it more than once.
pub(crate) fn repeated<'w>(text: NodeRef<'w>, tree: &Tree<'_>) -> Option<&'w str> {
    text.document().repeated_anchors(text).find(|anchor| !is_repeated_in(tree, name_in(anchor)))
}

/// Whether one of the texts that a tree is made of has an anchor more than once.
fn is_repeated_in(tree: &Tree<'_>, name: &str) -> bool {
    let is_repeated = |node: NodeRef<'_>| count(node, name) > 1;
    match tree {
        Tree::Node(node) => is_repeated(*node),
        Tree::Branch(branch) => {
            let mut values = branch.entries.iter().filter_map(|entry| entry.value.as_ref());
            is_repeated(branch.like) || values.any(|value| is_repeated_in(value, name))
        }
        Tree::Made(_) | Tree::Conflict(_) => false,
    }
}

/// A reader of the text that a tree becomes.
#[derive(Default)]
struct LinkReader<'a> {
    /// What has an anchor in the text up to here, by its name. Of one name, the last counts.
    anchors: HashMap<&'a str, NodeRef<'a>>,
    /// The anchored values of dest that another value replaces, each with that value.
    replaced: Vec<(NodeRef<'a>, NodeRef<'a>)>,
    /// Where it reads.
    trail: Trail<'a>,
    /// The links that lead nowhere.
    broken: Vec<BrokenLink<'a>>,
}

/// A link that leads nowhere.
struct BrokenLink<'a> {
    path: FieldPath<'a>,
    node: NodeRef<'a>,
    /// Whether it is written out. Otherwise its anchor has another name.
    is_lost: bool,
}

/// The name in an anchor or alias.
fn name_in(anchor_or_alias: &str) -> &str {
    anchor_or_alias.get(1..).unwrap_or_default()
}

impl<'a> LinkReader<'a> {
    fn read(&mut self, tree: &Tree<'a>) {
        match tree {
            Tree::Node(node) => self.read_text(*node),
            Tree::Branch(branch) => {
                self.anchor(branch.like);
                for (number, entry) in branch.numbered() {
                    let Some(value) = &entry.value else { continue };
                    let id = branch.id_of(number, entry).unwrap_or(ChildId::Index(number));
                    self.trail.push(id.step(&branch.by), None);
                    self.read(value);
                    self.trail.pop();
                    self.replace(entry);
                }
            }
            Tree::Made(_) | Tree::Conflict(_) => {}
        }
    }

    fn read_text(&mut self, text: NodeRef<'a>) {
        let document = text.document();
        if !document.keeps_links() {
            return;
        }
        for node in document.anchors_and_uses_in(text) {
            self.anchor(node);
            if node.is_link() && !self.leads(node) {
                let mut path = self.trail.path();
                steps(text, node, &mut path);
                self.broken.push(BrokenLink { path, node, is_lost: self.renamed(node).is_none() });
            }
        }
    }

    fn anchor(&mut self, node: NodeRef<'a>) {
        if let Some(anchor) = node.anchor_text() {
            self.anchors.insert(name_in(anchor), node);
        }
    }

    /// Reads the anchor of a value of dest that another value replaced. It stays, unless that value has one, or comes with its own lines.
    fn replace(&mut self, entry: &Entry<'a>) {
        let (Some(was), Some(like)) = (entry.was, entry.value.as_ref().and_then(Tree::like)) else { return };
        let was = was.value();
        let Some(anchor) = was.anchor_text().filter(|_| !like.is(was) && !like.is_link()) else { return };
        self.replaced.push((was, like));
        if let Some(anchor) = like.anchor_text().or(Some(anchor).filter(|_| entry.layout != Layout::Own)) {
            self.anchors.insert(name_in(anchor), like);
        }
    }

    /// What stands in the place of what a link refers to.
    fn target(&self, link: NodeRef<'a>) -> NodeRef<'a> {
        let target = link.target();
        self.replaced.iter().find(|(was, _)| was.is(target)).map_or(target, |(_, by)| *by)
    }

    /// Whether what has the anchor of a link is what the link refers to, or is of another text, which has the same value there or one anchor
    /// of this name, as the text of the link.
    fn leads(&self, link: NodeRef<'a>) -> bool {
        let Some(anchored) = self.anchors.get(name_in(link.text())) else { return false };
        let (target, name) = (self.target(link), name_in(link.text()));
        anchored.is(target) || same(*anchored, target) || count(target, name) == 1 && count(*anchored, name) == 1
    }

    /// The link to what a link refers to, if only its anchor has another name in the result, which the text of the link has not got.
    fn renamed(&self, link: NodeRef<'a>) -> Option<NodeRef<'a>> {
        let target = self.target(link);
        let is_it = |(name, anchored): &(&&'a str, &NodeRef<'a>)| count(link, name) == 0 && same(**anchored, target);
        let mut found = self.anchors.iter().filter(is_it);
        let (_, anchored) = found.next().filter(|_| found.next().is_none())?;
        anchored.document().aliases_of(*anchored).find(|link| link.target().is(*anchored))
    }

    fn value(&mut self, tree: Tree<'a>) -> Tree<'a> {
        match tree {
            Tree::Node(node) if node.is_link() && !self.leads(node) => {
                self.renamed(node).map_or_else(|| self.value(Tree::Node(self.target(node))), Tree::Node)
            }
            Tree::Node(node) if !node.is_container() => {
                self.anchor(node);
                tree
            }
            Tree::Node(node) => {
                let (before, count) = (self.anchors.clone(), self.broken.len());
                self.read_text(node);
                if self.broken.len() == count {
                    return tree;
                }
                self.anchors = before;
                let by = if node.is_map() { By::Field } else { By::Index };
                self.value(Branch::of(node, by).into())
            }
            Tree::Branch(branch) => self.children(*branch),
            tree => tree,
        }
    }

    fn children(&mut self, mut branch: Branch<'a>) -> Tree<'a> {
        self.anchor(branch.like);
        let names: HashSet<&'a str> = branch.entries.iter().filter_map(|entry| Some(entry.key?.name())).collect();
        branch.reorder(|entries| {
            let mut out = Vec::with_capacity(entries.len());
            for mut entry in entries {
                let brought_in = self.brought_in(&entry);
                if !brought_in.is_empty() {
                    let of_others = brought_in.into_iter().filter(|(key, _)| !names.contains(key.string()));
                    let fields: Vec<Entry<'a>> = of_others
                        .map(|(key, value)| Entry::new(Some(Key::Node(key)), self.value(Tree::Node(value))))
                        .collect();
                    entry.value = None;
                    out.push(entry);
                    out.extend(fields);
                    continue;
                }
                entry.value = entry.value.map(|value| self.value(value));
                self.replace(&entry);
                out.push(entry);
            }
            out
        });
        branch.into_tree()
    }

    /// The fields that a `<<` brings in, if one of its links leads nowhere.
    fn brought_in(&self, entry: &Entry<'a>) -> Vec<(NodeRef<'a>, NodeRef<'a>)> {
        let Some(Tree::Node(value)) = entry.value.as_ref().filter(|_| entry.key.is_some_and(|key| key.name() == "<<"))
        else {
            return Vec::new();
        };
        let links: Vec<NodeRef<'a>> = if value.is_link() { vec![*value] } else { value.elements().collect() };
        if links.iter().all(|link| !link.is_link() || self.leads(*link) || self.renamed(*link).is_some()) {
            return Vec::new();
        }
        let mut seen = HashSet::new();
        let fields = links.into_iter().flat_map(|link| self.target(link).meant_fields());
        fields.filter(|(key, _)| seen.insert(key.string())).collect()
    }
}

/// Goes down from a node to one below it.
fn steps<'a>(from: NodeRef<'a>, to: NodeRef<'a>, path: &mut FieldPath<'a>) {
    let Some((at, (key, child))) = from.written().enumerate().find(|(_, (_, child))| child.holds(to)) else { return };
    path.push(key.map_or(Step::Index(at), |key| Step::Field(key.string().into())), None);
    steps(child, to, path);
}

/// How many anchors of this name the document of a node has.
fn count(node: NodeRef<'_>, name: &str) -> usize {
    let document = node.document();
    let anchored = document.roots().filter(|root| root.holds(node)).flat_map(|root| document.anchored_in(root));
    anchored.filter(|node| node.anchor_text().is_some_and(|anchor| name_in(anchor) == name)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Budget;
    use crate::splice::{Unwritable, edits};
    use krm_yaml::Document;

    #[test]
    fn no_anchor_is_written_twice_that_each_text_has_once() {
        for (dest, other, refused) in [
            ("a: &x 1\nb: *x\n", "c: &x 1\n", Some("&x")),
            ("a: {b: &x 1}\n", "c: [{d: &x 1}]\n", Some("&x")),
            ("{a: &x 1}", "{c: [&x 1]}", Some("&x")),
            ("a: 1\n", "c: &x {d: 1}\n<<: *x\n", None),
            ("a: &x 1\n", "c: &y 1\nd: *y\n", None),
            ("a: &x 1\n", "c: &x 1\nd: &x 2\n", None),
            ("a: &x 1\nb: &x 2\n", "c: 1\n", None),
        ] {
            let documents = [dest, other].map(|text| Document::parse(text).expect("valid"));
            let [dest, other] = documents.each_ref().map(|document| document.roots().next().expect("a root"));
            documents.iter().for_each(Document::keep_links);
            let mut branch = Branch::of(dest, By::Field);
            branch
                .entries
                .extend(other.entries().map(|(key, value)| Entry::new(Some(Key::Node(key)), Tree::Node(value))));
            let written = edits(dest, &branch.into(), &Budget::default());
            let found = written.map(|_| None).or_else(|why| match why {
                Unwritable::Anchor(anchor) => Ok(Some(anchor)),
                other => Err(other),
            });
            assert_eq!(found, Ok(refused.map(str::to_owned)), "{} {}", documents[0].source(), documents[1].source());
        }
    }
}
