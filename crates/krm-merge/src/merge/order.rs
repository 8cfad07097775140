//! In which order the children of a merged map or list stand.
//!
//! Dest's own keep their places: what is new goes where it belongs among them, and only an order that the other side asks for moves
//! anything. So a merge shows as few changed lines as it makes.

use std::collections::HashMap;

use crate::child::{By, ChildId};
use crate::policy::NewElements;
use crate::tree::{Branch, Entry, Key, Tree, View};
use crate::yaml::{NodeRef, Place, comment_text};

/// Puts each new field behind the nearest sibling before it, in the other side's order, that dest has too; those without one come last.
pub(super) fn fields_beside_siblings<'a>(branch: &mut Branch<'a>, like: NodeRef<'a>, new: Vec<Entry<'a>>) {
    let mut behind: HashMap<Option<usize>, Vec<Entry<'a>>> = HashMap::new();
    let mut new = new.into_iter().peekable();
    let mut last = None;
    for (_, key, _) in like.spelled_out() {
        let is_it = |entry: &Entry<'a>| matches!(entry.key, Some(Key::Node(own)) if own.is(key));
        match new.next_if(is_it) {
            Some(entry) => behind.entry(last).or_default().push(entry),
            None if new.peek().is_none() => break,
            None => last = branch.place_of(&ChildId::Field(key.string())).or(last),
        }
    }
    behind.entry(None).or_default().extend(new);
    branch.reorder(|entries| {
        let mut out = Vec::with_capacity(entries.len());
        for (at, entry) in entries.into_iter().enumerate() {
            out.push(entry);
            out.extend(behind.remove(&Some(at)).into_iter().flatten());
        }
        out.extend(behind.remove(&None).into_iter().flatten());
        out
    });
}

/// Puts new elements before or behind dest's.
pub(super) fn with_new_elements<'a>(branch: &mut Branch<'a>, new: Vec<Entry<'a>>, place: NewElements) {
    match place {
        NewElements::Append => new.into_iter().for_each(|entry| branch.push(entry)),
        NewElements::Prepend => branch.reorder(|entries| new.into_iter().chain(entries).collect()),
    }
}

/// Puts elements into the order that is asked for; those behind the first `known` ones are new. Those that the order does not name stand
/// before the first one that it names and that follows them in dest. Source: `mergeSortedSlice` of apimachinery's strategic merge patch.
pub(super) fn elements_as_ordered<'a>(branch: &mut Branch<'a>, known: usize, by: &By<'a>, order: &[ChildId<'a>]) {
    let rank: HashMap<&ChildId<'a>, usize> = order.iter().enumerate().rev().map(|(rank, id)| (id, rank)).collect();
    let ranks: Vec<Option<usize>> =
        (0..branch.entries.len()).map(|at| branch.id(at).and_then(|id| rank.get(&id).copied())).collect();
    branch.reorder(|entries| {
        let is_gone = |entry: &Entry<'a>| entry.value.is_none();
        // Of maps, as many new ones as were deleted follow all that dest has: kubectl's take the room of the deleted in its own array.
        let gone = entries[..known].iter().filter(|entry| is_gone(entry)).count();
        let room = if matches!(by, By::Keys(_)) { gone } else { 0 };
        let mut named: Vec<(usize, Option<usize>, Entry<'a>)> = Vec::new();
        let mut others = Vec::new();
        for (at, entry) in entries.into_iter().enumerate() {
            if at >= known {
                let place = (at - known < room).then_some(known);
                named.push((ranks[at].unwrap_or(order.len()), place, entry));
            } else {
                match ranks[at].filter(|_| !is_gone(&entry)) {
                    Some(rank) => named.push((rank, Some(at), entry)),
                    None => others.push((at, entry)),
                }
            }
        }
        named.sort_by_key(|(rank, ..)| *rank);
        let mut others = others.into_iter().peekable();
        let mut out = Vec::new();
        for (_, place, entry) in named {
            while let Some((_, other)) = others.next_if(|(at, _)| place.is_some_and(|place| *at < place)) {
                out.push(other);
            }
            out.push(entry);
        }
        out.extend(others.map(|(_, entry)| entry));
        out
    });
}

/// A list for a list: elements that both have in one order stay to the byte, and only what lies between them is replaced.
pub(super) fn list_over_list<'a>(dest: Tree<'a>, updated: NodeRef<'a>) -> Tree<'a> {
    let Some(mut branch) = dest.into_branch(&By::Index, 0) else { return Tree::Node(updated) };
    let new: Vec<NodeRef<'a>> = updated.elements().collect();
    let live: Vec<usize> = (0..branch.entries.len()).filter(|at| branch.entries[*at].value.is_some()).collect();
    let anchors = {
        let views: Vec<View<'_, 'a>> =
            live.iter().filter_map(|at| branch.entries[*at].value.as_ref()?.view()).collect();
        common(&views, &new)
    };
    branch.reorder(|entries| {
        let mut out: Vec<Entry<'a>> = Vec::with_capacity(entries.len());
        let mut entries = entries.into_iter();
        let mut from = 0;
        let mut at = 0;
        for (i, j) in anchors.into_iter().chain([(live.len(), new.len())]) {
            // Elements that stand in the same gap take each other's places, as far as there are as many.
            let mut replacing = new[from..j].iter();
            while at < i {
                let Some(mut entry) = entries.next() else { break };
                if entry.value.is_some() {
                    let value = replacing.next();
                    entry.comments.above = None;
                    entry.comments.behind =
                        value.and_then(|value| comment_text(&Place::of_element(updated, *value), *value));
                    entry.value = value.map(|value| Tree::Node(*value));
                    at += 1;
                }
                out.push(entry);
            }
            out.extend(replacing.map(|value| Entry::new(None, Tree::Node(*value))));
            for entry in entries.by_ref() {
                let is_there = entry.value.is_some();
                out.push(entry);
                if is_there {
                    at += 1;
                    break;
                }
            }
            from = j + 1;
        }
        out
    });
    branch.into_tree()
}

/// The longest common subsequence of two lists, as pairs of indices; of long lists only what they begin and end with.
fn common<'a>(old: &[View<'_, 'a>], new: &[NodeRef<'a>]) -> Vec<(usize, usize)> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a.same(**b)).count();
    let rest = old[prefix..].iter().rev().zip(new[prefix..].iter().rev());
    let suffix = rest.take_while(|(a, b)| a.same(**b)).count();
    let (old_middle, new_middle) = (&old[prefix..old.len() - suffix], &new[prefix..new.len() - suffix]);
    let mut pairs: Vec<(usize, usize)> = (0..prefix).map(|i| (i, i)).collect();
    let (n, m) = (old_middle.len(), new_middle.len());
    if n * m <= 4096 {
        let mut length = vec![vec![0u16; m + 1]; n + 1];
        for i in (0..n).rev() {
            for j in (0..m).rev() {
                length[i][j] = if old_middle[i].same(new_middle[j]) {
                    length[i + 1][j + 1] + 1
                } else {
                    length[i + 1][j].max(length[i][j + 1])
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < n && j < m {
            if old_middle[i].same(new_middle[j]) {
                pairs.push((prefix + i, prefix + j));
                (i, j) = (i + 1, j + 1);
            } else if length[i + 1][j] >= length[i][j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
    pairs.extend((0..suffix).map(|k| (old.len() - suffix + k, new.len() - suffix + k)));
    pairs
}
