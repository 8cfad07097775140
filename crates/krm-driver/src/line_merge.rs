//! Checks whether git's own clean merge by line means the same as the merge of the resources.
//!
//! git's merge may put documents and elements in another order. It may also decide conflicts line by line, in texts of several lines and in
//! lists that are replaced whole. If one side renamed resources, git may decide even more, because the merge of resources sees a deleted
//! resource and a new one.

use std::collections::{HashMap, HashSet};

use krm_merge_core::refine::has_twins;
use krm_package::package::Conflict;
use krm_package::resource::{Identity, Resource};
use krm_tree::child::Value as _;
use krm_tree::sides::Sides;
use krm_tree::tree::{Branch, Tree, View};
use krm_yaml::{NodeRef, same};

use crate::file_merge::Merge;
use crate::hunks::{has_lines, is_of_lines, is_untold};

/// Whether the resources of the text that git merged mean the same as a merge.
pub fn agrees(git: &[Resource<'_>], merge: &Merge<'_, '_>, sides: Sides<&[Resource<'_>]>) -> bool {
    // Where each side added a key, git may put it there twice.
    if merge.is_stopped() || git.iter().any(|resource| has_twins(resource.node())) {
        return false;
    }
    let found = git.iter().filter_map(|resource| Some((resource.identity?, resource.node())));
    let found: Vec<(Identity<'_>, NodeRef<'_>)> = found.collect();
    let kept = merge.kept();
    let kept: HashMap<Identity<'_>, &Tree<'_>> =
        kept.iter().filter_map(|(resource, tree)| Some((resource.identity?, tree))).collect();
    let is_same = |identity: &Identity<'_>, node| kept.get(identity).is_some_and(|tree| means(tree, node));
    if !merge.is_any_disputed() {
        return found.len() == kept.len() && found.iter().all(|(identity, node)| is_same(identity, *node));
    }
    // If a side renamed a resource or changed its version, it still has the same number of resources.
    let is_rename = sides.iter().all(|(_, side)| side.len() == found.len());
    // Each side may have changed a different part of an identity. So each part must be one that a side has.
    let parts = |i: Identity<'_>| [i.api_version, i.kind, i.namespace, i.name].map(str::to_owned);
    let known: HashSet<(usize, String, String)> = sides
        .iter()
        .flat_map(|(_, side)| side.iter().filter_map(|resource| resource.identity))
        .flat_map(|i| parts(i).into_iter().enumerate().map(move |(n, part)| (n, i.kind.to_owned(), part)))
        .collect();
    let is_known = |i: &Identity<'_>| {
        parts(*i).into_iter().enumerate().all(|(n, part)| known.contains(&(n, i.kind.to_owned(), part)))
    };
    let is_everywhere = |i: &Identity<'_>| {
        sides.iter().all(|(_, side)| side.iter().any(|resource| resource.identity.is_some_and(|own| own == *i)))
    };
    is_rename
        && are_of_lines(merge)
        && found.iter().all(|(i, node)| is_known(i) && (!is_everywhere(i) || is_same(i, *node)))
}

/// Whether a node has the value that the merge gives, whichever side wins its conflicts.
fn means(tree: &Tree<'_>, node: NodeRef<'_>) -> bool {
    match tree {
        Tree::Node(own) => same(*own, node) || unordered(View::Node(*own)) == unordered(View::Node(node)),
        Tree::Made(made) => View::Made(made).same(node),
        Tree::Conflict(conflict) => {
            is_of_lines(conflict) && (has_lines(View::Node(node)) || node.is_map() && is_untold(conflict))
        }
        Tree::Branch(branch) if branch.like.is_map() => has_fields(branch, node),
        Tree::Branch(branch) => has_elements(branch, node),
    }
}

fn has_fields(branch: &Branch<'_>, node: NodeRef<'_>) -> bool {
    if branch.merge_entries().next().is_some() {
        return !branch.has_conflicts() && View::Branch(branch).same(node);
    }
    let fields = node.fields().filter(|(key, _)| !key.is_container()).map(|(key, value)| (key.string(), value));
    let fields: HashMap<&str, NodeRef<'_>> = fields.collect();
    let mut known: HashSet<&str> = HashSet::new();
    let is_said = branch.children().all(|(key, tree)| {
        let Some(name) = key.map(|key| key.name()) else { return false };
        known.insert(name);
        fields.get(name).is_some_and(|value| means(tree, *value))
    });
    is_said && node.fields().all(|(key, _)| known.contains(key.string()))
}

fn has_elements(branch: &Branch<'_>, node: NodeRef<'_>) -> bool {
    let elements: Vec<NodeRef<'_>> = node.elements().collect();
    let by_id: HashMap<_, NodeRef<'_>> = elements.iter().filter_map(|e| Some((branch.by.id_of(*e)?, *e))).collect();
    let mut count = 0;
    let is_there = branch.numbered().all(|(number, entry)| {
        let Some(tree) = &entry.value else { return true };
        count += 1;
        let found = branch.id_of(number, entry).and_then(|id| by_id.get(&id));
        found.is_some_and(|element| means(tree, *element))
    });
    // If no key tells the elements apart, each element of git's text must mean the same as the merged element at its index.
    let own: Vec<&Tree<'_>> = branch.entries.iter().filter_map(|entry| entry.value.as_ref()).collect();
    let is_in_order =
        || own.len() == elements.len() && own.iter().zip(&elements).all(|(tree, element)| means(tree, *element));
    let is_same = || !branch.has_conflicts() && unordered(View::Branch(branch)) == unordered(View::Node(node));
    (is_there && count == elements.len()) || is_in_order() || is_same()
}

/// The content of a value as a text in a canonical order.
fn unordered(view: View<'_, '_>) -> String {
    if view.is_list() {
        let mut parts: Vec<String> = view.elements().into_iter().map(unordered).collect();
        parts.sort();
        return format!("[{}]", parts.join(", "));
    }
    if !view.is_map() {
        return format!("{:?}", view.scalar());
    }
    let mut parts: Vec<String> =
        view.fields().into_iter().map(|(key, value)| format!("{key:?}: {}", unordered(value))).collect();
    parts.sort();
    format!("{{{}}}", parts.join(", "))
}

/// Whether git may decide every conflict inside of a resource line by line.
pub fn are_of_lines(merge: &Merge<'_, '_>) -> bool {
    let mut all = true;
    merge.conflicts(&mut |conflict| {
        if let Conflict::Place { conflict, .. } = conflict {
            all &= is_of_lines(conflict);
        }
    });
    all
}
