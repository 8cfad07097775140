//! A document inside a text, merged as a document: `values.yaml` in a ConfigMap, or a dashboard in JSON.
//!
//! The walk of a resource merges it, with an unknown type, and the changes are edits of dest's text. So nothing is printed again, and a
//! document that cannot be merged this way without a loss is not merged here.

use std::hash::Hash;

use krm_schema::schema::{ASSOCIATIVE_KEYS, Cursor};
use krm_tree::child::{MergeKey, element_key};
use krm_tree::limit::Budget;
use krm_tree::links;
use krm_tree::sides::{Side, Sides};
use krm_tree::splice::edits;
use krm_tree::tree::{Conflict, Pick, Taking, Tree, View, decide, settle};
use krm_yaml::hashed::{Empty, HashSet};
use krm_yaml::{Document, NodeRef, TextEdits, same};

use super::three::Changed;
use super::{Additions, Depth, DocumentNote, DocumentOwner, RefinedText, Sources, refined};
use crate::diff::diff;
use crate::lost::{Comments, Disputed, is_told};
use crate::merge::{Walked, merge};
use crate::own_comments::{OwnComments, contested_header};
use crate::policy::Policy;
use crate::warning::Combined;

/// Merges three versions of a document; `None` if one of them cannot be read as a map or list, or if the result cannot be
/// written.
pub(super) fn merged(
    texts: [&str; 3],
    cursor: Cursor<'_>,
    policy: Policy,
    budget: &Budget,
    depth: Depth,
    mut owner: Option<&mut dyn DocumentOwner>,
) -> Option<RefinedText> {
    let [original, updated, dest] = texts.map(|text| Document::parse(text).ok());
    let documents = [original?, updated?, dest?];
    let [original, updated, dest] = documents.each_ref().map(root);
    let (original, updated, dest) = (original?, updated?, dest?);
    if !original.is_kind_of(dest) || !updated.is_kind_of(dest) {
        return None;
    }
    links::keep(Sides { original: &[original], updated: &[updated], dest: &[dest] });
    let change = diff(Some(original), updated, Some(dest), cursor, policy.renames).ok()?.change;
    let merged = match &change {
        Some(change) => merge(Some(Tree::Node(dest)), change, policy.new_elements).ok()?,
        None => Walked { tree: Some(Tree::Node(dest)), warnings: Vec::new() },
    };
    let Walked { tree, mut warnings } = refined(merged, cursor, policy, budget, depth);
    let roots = Sides { original, updated, dest };
    let (mut places, mut disputed) = (Vec::new(), Disputed::default());
    let tree = match &mut owner {
        None => tree?,
        Some(owner) => {
            let (mut open, mut decided) = (tree, None);
            owner.decide(roots, &mut |wins| {
                decided = open.take().and_then(|tree| {
                    decide(tree, &mut |conflict| {
                        disputed.add(conflict);
                        wins(conflict)
                    })
                });
            });
            decided?
        }
    };
    let additions = owner.as_ref().map_or(Additions::Stay, |owner| owner.additions());
    let won_by = |pick| {
        move |conflict: &Conflict<'_>| match (&conflict.taking, additions) {
            (Taking::Both(_), Additions::Stay) => Pick::Both,
            _ => pick,
        }
    };
    let for_dest = settle(tree.clone(), &mut |conflict| {
        places.push(conflict.path.shown());
        won_by(Pick::Dest)(conflict)
    })?;
    let is_shown = additions == Additions::OfWinner && !places.is_empty();
    let for_original = if is_shown { settle(tree.clone(), &mut |_| Pick::Original) } else { None };
    let for_updated = settle(tree, &mut won_by(Pick::Updated))?;
    let sides = roots.map(Some);
    let [(own, contested), (theirs, _)] = [Side::Dest, Side::Updated].map(|winner| OwnComments::of(sides, winner));
    let ends = Sides { original: end(texts[0]), updated: end(texts[1]), dest: end(texts[2]) };
    // Blank lines at the end of a file are no reason to ask.
    let ends_apart = owner.is_none() && Changed::of(ends.original, ends.updated, ends.dest) == Changed::Apart;
    let apart = ends_apart || !places.is_empty() || !contested.is_empty() || contested_header(sides).is_some();
    places.extend(contested.iter().map(|contested| contested.path.shown()).filter(|path| !path.is_empty()));
    let of_original = |tree: Tree<'_>| edits_of(dest, &tree, OwnComments::of(sides, Side::Dest).0, budget);
    let edits_for_original = for_original.and_then(of_original);
    let edits_for_dest = edits_of(dest, &for_dest, own, budget)?;
    let edits_for_updated = edits_of(dest, &for_updated, theirs, budget)?;
    if let Some(owner) = owner {
        warnings.extend(contested);
        let comments = |(winner, edits)| {
            let comments = Comments { dest, edits, disputed: &disputed.nodes, told: &disputed.comments };
            let lost = comments.lost(&[original, updated], || cursor);
            let not_taken = comments.not_taken(original, updated, || cursor);
            let not_taken = not_taken.into_iter().filter(|warning| !is_told(warning, &warnings));
            lost.into_iter().chain(not_taken).map(|warning| (warning, Some(winner))).collect::<Vec<_>>()
        };
        let all = [(Side::Dest, &edits_for_dest), (Side::Updated, &edits_for_updated)].map(comments).concat();
        let all = warnings.into_iter().map(|warning| (warning, None)).chain(all);
        owner.note(roots, all.map(|(warning, winner)| DocumentNote { warning, winner }).collect());
    }
    let [_, text_of_updated, text_of_dest] = texts;
    let text_of = |edits: TextEdits, winner| {
        let merged = edits.apply(text_of_dest, 0..text_of_dest.len());
        with_end(merged, ends, winner)
    };
    let for_dest = text_of(edits_for_dest, Side::Dest);
    let for_updated = text_of(edits_for_updated, Side::Updated);
    let for_original = edits_for_original.map(|edits| text_of(edits, Side::Original));
    let sources = Sources { updated: for_dest != text_of_dest, dest: for_updated != text_of_updated, apart };
    let (dest, updated, original) = (for_dest, for_updated, for_original);
    Some(RefinedText { dest, updated, original, how: Combined::Document, places, sources })
}

/// A merged text with the line breaks at the end that the sides say. They belong to no value of the document, but in a text of a resource, they
/// belong to its value. If they mean something in the document, it has merged them already.
fn with_end(merged: String, ends: Sides<&str>, winner: Side) -> String {
    let end_of = match Changed::of(ends.original, ends.updated, ends.dest) {
        Changed::Updated => ends.updated,
        Changed::Apart => ends[winner],
        Changed::Nowhere | Changed::Dest | Changed::Alike => ends.dest,
    };
    if end(&merged) == end_of {
        return merged;
    }
    let ended = [&merged[..merged.len() - end(&merged).len()], end_of].concat();
    if mean_the_same(&merged, &ended) { ended } else { merged }
}

/// The line breaks at the end of a text.
fn end(text: &str) -> &str {
    &text[text.trim_end_matches(['\r', '\n']).len()..]
}

/// Whether a text that was merged by line consists of documents whose maps have each key once. Where each side added an element at another place,
/// it is not there twice either.
pub(super) fn is_document(text: &str, sides: [&str; 3]) -> bool {
    Document::parse(text).is_ok_and(|document| !document.roots().any(has_twins) && !adds_twins(&document, sides))
}

/// Whether a document has more elements that are like an element before them than the changes of both sides make.
fn adds_twins(document: &Document<'_>, sides: [&str; 3]) -> bool {
    let counts = twins_in_lists(document);
    if counts == [0; KINDS] {
        return false;
    }
    let [original, updated, dest] =
        sides.map(|text| Document::parse(text).map(|document| twins_in_lists(&document)).unwrap_or_default());
    (0..KINDS).any(|kind| counts[kind] + original[kind] > updated[kind] + dest[kind])
}

/// Elements have one of the keys by which a list of an unknown type merges, or are maps without one.
const KINDS: usize = ASSOCIATIVE_KEYS.len() + 1;

/// How many elements have the key of an element before them, for each key, and how many have no key and are maps like one before them.
fn twins_in_lists(document: &Document<'_>) -> [usize; KINDS] {
    let mut counts = [0; KINDS];
    let mut todo: Vec<NodeRef<'_>> = document.roots().collect();
    while let Some(node) = todo.pop() {
        let keys = |name: &'static str| {
            let key = [MergeKey::from(name)];
            node.elements().map(|element| element_key(element, &key)).collect::<Option<Vec<_>>>()
        };
        if node.is_list() {
            let found = ASSOCIATIVE_KEYS.iter().enumerate().find_map(|(at, name)| Some((at, keys(name)?)));
            let maps = || node.elements().filter(|element| element.is_map()).map(|map| View::Node(map).meaning());
            let (at, count) = match found {
                Some((at, keys)) => (at, repeated(keys)),
                None => (KINDS - 1, repeated(maps().collect())),
            };
            counts[at] += count;
        }
        todo.extend(node.children());
    }
    counts
}

/// How many of them are equal to one before.
fn repeated<T: Eq + Hash>(all: Vec<T>) -> usize {
    all.len() - all.into_iter().collect::<HashSet<_>>().len()
}

/// The keys that the maps of a text have more than once, and the anchors that its documents do; `None` if the text is no YAML.
pub fn twins(text: &str) -> Option<Vec<String>> {
    let document = Document::parse(text).ok()?;
    let mut todo: Vec<NodeRef<'_>> = document.roots().collect();
    let anchors = todo.iter().flat_map(|root| document.repeated_anchors(*root));
    let mut twins: Vec<String> = anchors.map(str::to_owned).collect();
    while let Some(node) = todo.pop() {
        if node.duplicate_key().is_some() {
            let mut seen = HashSet::new();
            let keys = node.entries().map(|(key, _)| key).filter(|key| !key.is_container() && !key.is_merge_key());
            twins.extend(keys.map(NodeRef::string).filter(|key| !seen.insert(*key)).map(str::to_owned));
        }
        todo.extend(node.children());
    }
    Some(twins)
}

/// Whether two texts are valid documents with the same value.
pub(super) fn mean_the_same(text: &str, other: &str) -> bool {
    compared([text, other], |[root, other]| same(root, other))
}

/// Whether something holds for the roots of texts, which are valid documents.
fn compared<const N: usize>(texts: [&str; N], holds: impl Fn([NodeRef<'_>; N]) -> bool) -> bool {
    let documents = texts.map(Document::parse);
    let roots: Vec<NodeRef<'_>> = documents.iter().filter_map(|document| root(document.as_ref().ok()?)).collect();
    !roots.iter().any(|root| has_twins(*root)) && roots.try_into().is_ok_and(holds)
}

/// Whether a map in a value has a key twice, or the value has an anchor twice.
pub fn has_twins(node: NodeRef<'_>) -> bool {
    node.document().repeated_anchors(node).next().is_some() || has_twin_keys(node)
}

fn has_twin_keys(node: NodeRef<'_>) -> bool {
    node.duplicate_key().is_some() || node.children().any(has_twin_keys)
}

/// The root of a text that is a single map or list.
fn root<'d>(document: &'d Document<'_>) -> Option<NodeRef<'d>> {
    let mut roots = document.roots();
    roots.next().filter(|root| root.is_container() && roots.len() == 0)
}

/// The edits that give dest's text the values of a tree and these comments; `None` if it cannot be written.
fn edits_of<'a>(dest: NodeRef<'a>, tree: &Tree<'a>, comments: OwnComments<'a>, budget: &Budget) -> Option<TextEdits> {
    let own = tree.like()?.is(dest).then(|| edits(dest, tree, budget).ok())??;
    own.union(comments.edits(dest, budget).into_iter().map(TextEdits::from)).ok()
}
