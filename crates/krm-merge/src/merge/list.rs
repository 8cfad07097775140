//! A list that replaces a list: elements that both have in the same order keep their bytes, so the text changes only where the value does.
//!
//! A second run may merge the new list by its keys, if nothing but an element of dest kept the first run from it. It then merges the
//! comments of each element, too. So the elements that stay get their comments in the first run.

use super::remarks::Remarks;
use super::{Walk, children_of};
use crate::change::{Change, Child, Expects, Inside, NoteChange, Notes, Wants};
use crate::child::{By, ChildId};
use crate::tree::{Comments, Entry, Tree, View};
use crate::yaml::{Error, NodeRef, Style};

/// The comments that come with a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coming {
    /// None: dest has the list that the other side changed.
    None,
    /// Those of a patch: each replaces the comment on its line.
    OfPatch,
    /// Those of the winner of a conflict: its elements have its comments alone.
    OfWinner,
}

impl<'a> Walk<'a> {
    /// Replaces a list by a list.
    pub(super) fn list_over_list(
        &mut self,
        dest: Tree<'a>,
        updated: NodeRef<'a>,
        coming: Coming,
    ) -> Result<Tree<'a>, Error> {
        let Some(mut branch) = dest.into_branch(&By::Index, 0) else { return Ok(Tree::Node(updated)) };
        let new: Vec<NodeRef<'a>> = updated.elements().collect();
        let live: Vec<usize> = (0..branch.entries.len()).filter(|at| branch.entries[*at].value.is_some()).collect();
        let anchors = {
            let views: Vec<View<'_, 'a>> =
                live.iter().filter_map(|at| branch.entries[*at].value.as_ref()?.view()).collect();
            common(&views, &new)
        };
        if coming != Coming::None {
            for &(old, of) in &anchors {
                let child = only_comments(ChildId::Index(old), (None, new[of]), coming);
                let like = branch.like;
                self.merge_into(&mut branch.entries[live[old]], Some(like), &child)?;
            }
        }
        branch.reorder(|entries| spliced(entries, &anchors, live.len(), &new, coming));
        Ok(branch.into_tree())
    }
}

/// The change of the comments of a child of a map or list, and of all comments in it, to those that come.
fn only_comments<'a>(id: ChildId<'a>, (key, value): (Option<NodeRef<'a>>, NodeRef<'a>), coming: Coming) -> Child<'a> {
    let children = children_of(value).into_iter().enumerate().filter_map(|(at, (place, key, inner))| {
        let id = key.map_or(Some(ChildId::Index(at)), ChildId::of_field)?;
        // What a `<<` brings in has its comments elsewhere.
        place.map(|_| only_comments(id, (key, inner), coming))
    });
    let children: Vec<Child<'a>> = children.filter(|child| child.change.asks()).collect();
    let wants = match children.is_empty() {
        true => Wants::Same,
        false => Wants::Inside(Inside::of(value, if value.is_map() { By::Field } else { By::Index }, children)),
    };
    let notes = coming.notes(Remarks::of((key, value)), value);
    Child { id, node: Some((key, value)), change: Change { expects: Expects::Exactly(Some(value)), wants, notes } }
}

impl Coming {
    /// The comments that come with a list that replaces dest's, after a change that expects this value.
    pub(super) fn of(expects: Expects<'_>, is_in_conflict: bool) -> Self {
        match expects {
            _ if is_in_conflict => Self::OfWinner,
            Expects::Anything => Self::OfPatch,
            Expects::Exactly(_) => Self::None,
        }
    }

    fn notes<'a>(self, Remarks { above, behind, below }: Remarks<'a>, value: NodeRef<'a>) -> Notes<'a> {
        let note = |wants| Some(NoteChange { expects: None, wants });
        match self {
            Self::None => Notes::default(),
            Self::OfPatch => Notes { behind: note(behind).filter(|_| !behind.is_empty()), ..Notes::default() },
            Self::OfWinner => Notes {
                above: note(above),
                behind: note(behind),
                below: note(below).filter(|_| value.style() == Style::Block),
            },
        }
    }

    /// The comments of an element that another one replaces.
    fn of_replaced<'a>(self, Remarks { above, behind, .. }: Remarks<'a>) -> Comments<'a> {
        let own = Some(behind).filter(|behind| !behind.is_empty());
        match self {
            Self::None | Self::OfPatch => Comments { behind: own, ..Comments::default() },
            Self::OfWinner => Comments { above: Some(above), behind: Some(behind), below: None },
        }
    }
}

/// The entries of the new list. Elements that neither list keeps replace each other, as far as there are equally many in the same gap.
fn spliced<'a>(
    entries: Vec<Entry<'a>>,
    anchors: &[(usize, usize)],
    live: usize,
    new: &[NodeRef<'a>],
    coming: Coming,
) -> Vec<Entry<'a>> {
    let mut out: Vec<Entry<'a>> = Vec::with_capacity(entries.len());
    let mut entries = entries.into_iter();
    let (mut from, mut at) = (0, 0);
    for (i, j) in anchors.iter().copied().chain([(live, new.len())]) {
        let mut replacing = new[from..j].iter();
        while at < i {
            let Some(mut entry) = entries.next() else { break };
            if entry.value.is_some() {
                let value = replacing.next();
                entry.comments = value.map(|value| coming.of_replaced(Remarks::of((None, *value)))).unwrap_or_default();
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
}

/// The longest common subsequence of two lists, as pairs of indices; for long lists only their common beginning and end.
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
