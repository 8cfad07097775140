//! A list that replaces a list: elements that both have in the same order keep their bytes, so the text changes only where the value does.
//!
//! A second run may merge the new list by its keys, if nothing but an element of dest kept the first run from it. It then merges the
//! comments of each element, too. So the elements that stay get their comments in the first run.

use krm_tree::child::{By, ChildId};
use krm_tree::remarks::{Remarks, gap_of};
use krm_tree::sequence::common;
use krm_tree::tree::{Comments, Entry, Tree, View};
use krm_yaml::hashed::HashMap;
use krm_yaml::{Error, Kind, NodeRef, Place, WrittenChild};

use super::comments::wanted;
use super::{Walk, children_of};
use crate::change::{
    Change, Child, Expects, Inside, NoteChange, Notes, Order, Others, Wants, notes_between, notes_of_line,
};
use crate::likeness::{Partner, partners};

/// The comments that come with a list. They are for the elements that dest has already.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coming<'a> {
    /// Those that the other side changed in this list. Dest has the same value.
    Changed(NodeRef<'a>),
    /// Those of a patch: each replaces the comment on its line.
    OfPatch,
    /// Those of the winner of a conflict, and no others.
    OfWinner,
}

impl<'a> Walk<'a> {
    /// Replaces a list by a list.
    pub(super) fn list_over_list(
        &mut self,
        dest: Tree<'a>,
        updated: NodeRef<'a>,
        coming: Coming<'a>,
    ) -> Result<Tree<'a>, Error> {
        if let Coming::OfPatch = coming {
            return self.replaced(dest, updated);
        }
        let Some(mut branch) = dest.into_branch(&By::Index, 0) else { return Ok(Tree::Node(updated)) };
        let new: Vec<NodeRef<'a>> = updated.elements().collect();
        let live: Vec<usize> = (0..branch.entries.len()).filter(|at| branch.entries[*at].value.is_some()).collect();
        let anchors = {
            let views: Vec<View<'_, 'a>> =
                live.iter().filter_map(|at| branch.entries[*at].value.as_ref()?.view()).collect();
            common(&views, &new, |own, new| own.same(*new))
        };
        let old: Vec<NodeRef<'a>> = match coming {
            Coming::Changed(original) => original.elements().collect(),
            Coming::OfPatch | Coming::OfWinner => Vec::new(),
        };
        let like = branch.like;
        // The elements of an alias are written elsewhere.
        for &(at, of) in anchors.iter().filter(|_| like.kind() != Kind::Alias) {
            let was = old.get(at).map(|old| (None, *old));
            let child = only_comments(ChildId::Index(at), was, (None, new[of]), coming);
            if child.change.asks() {
                self.trail.push(child.id.step(&By::Index), Some(at));
                self.merge_into(&mut branch.entries[live[at]], Some(like), &child)?;
                self.trail.pop();
            }
        }
        branch.reorder(|entries| spliced(entries, &anchors, live.len(), [&old, &new], coming));
        Ok(branch.into_tree())
    }
}

impl<'a> Walk<'a> {
    /// Replaces a list by that of a patch. What stays of its elements keeps its text and its comments.
    fn replaced(&mut self, dest: Tree<'a>, list: NodeRef<'a>) -> Result<Tree<'a>, Error> {
        let is_alias = dest.like().is_some_and(|like| like.kind() == Kind::Alias);
        let own = dest.view().map(View::elements).unwrap_or_default();
        let new: Vec<NodeRef<'a>> = list.elements().collect();
        let partners = partners(&own, &new.iter().copied().map(View::Node).collect::<Vec<_>>());
        let ids = Partner::ids(&partners, own.len());
        let mut children = Vec::new();
        for ((element, partner), id) in new.iter().zip(&partners).zip(&ids) {
            children.push(match partner {
                // The elements of an alias are written elsewhere.
                Partner::Same(_) if is_alias => {
                    Child { id: id.clone(), node: Some((None, *element)), change: Change::patch(Wants::Same, None) }
                }
                Partner::Same(_) => only_comments(id.clone(), None, (None, *element), Coming::OfPatch),
                Partner::Changed(_) => replacing(id.clone(), (None, *element), replaced_inside),
                Partner::InPlaceOf(_) | Partner::None => replacing(id.clone(), (None, *element), Wants::Value),
            });
        }
        let inside = Inside { others: Others::Go, order: Order::Asked(ids), ..Inside::of(list, By::Index, children) };
        let tree = self.inside(dest, &inside)?;
        Ok(tree.unwrap_or(Tree::Node(list)))
    }
}

/// The change that replaces a child of a map or list, with the comment on its line.
fn replacing<'a>(id: ChildId<'a>, new: WrittenPair<'a>, wants: impl FnOnce(NodeRef<'a>) -> Wants<'a>) -> Child<'a> {
    let change =
        Change { notes: Coming::OfPatch.notes(None, Remarks::of(new)).into(), ..Change::patch(wants(new.1), None) };
    Child { id, node: Some(new), change }
}

/// A value that replaces another one. In a map, each field replaces the field of its name.
fn replaced_inside<'a>(value: NodeRef<'a>) -> Wants<'a> {
    if value.kind() != Kind::Map || value.has_merge_entry() || value.duplicate_key().is_some() {
        return Wants::Value(value);
    }
    let fields = value.entries().filter_map(|(key, field)| Some((ChildId::of_field(key)?, (Some(key), field))));
    let children: Vec<Child<'a>> = fields.map(|(id, field)| replacing(id, field, replaced_inside)).collect();
    if children.len() < value.entries().count() {
        return Wants::Value(value);
    }
    Inside { others: Others::Go, ..Inside::of(value, By::Field, children) }.into()
}

/// A field with its key, or an element of a list.
type WrittenPair<'a> = (Option<NodeRef<'a>>, NodeRef<'a>);

/// The change of the comments of a child of a map or list, and of all comments in it. The value is the same before and after.
fn only_comments<'a>(
    id: ChildId<'a>,
    old: Option<WrittenPair<'a>>,
    new: WrittenPair<'a>,
    coming: Coming<'a>,
) -> Child<'a> {
    let (_, value) = new;
    let mut before: HashMap<ChildId<'a>, WrittenPair<'a>> =
        old.into_iter().flat_map(|(_, old)| identified(old)).collect();
    let children = identified(value).map(|(id, child)| {
        let old = before.remove(&id);
        only_comments(id, old, child, coming)
    });
    let children: Vec<Child<'a>> = children.filter(|child| child.change.asks()).collect();
    let wants = match children.is_empty() {
        true => Wants::Same,
        false => Inside::of(value, if value.is_map() { By::Field } else { By::Index }, children).into(),
    };
    let notes = coming.notes(old.map(Remarks::of), Remarks::of(new)).into();
    Child { id, node: Some(new), change: Change { expects: Expects::Exactly(Some(value)), wants, notes } }
}

/// The children that are written in a map or list, by name or by index. What a `<<` brings in has its comments elsewhere.
fn identified<'a>(node: NodeRef<'a>) -> impl Iterator<Item = (ChildId<'a>, WrittenPair<'a>)> {
    children_of(node).into_iter().enumerate().filter_map(|(at, (was, key, value))| {
        let id = key.map_or(Some(ChildId::Index(at)), ChildId::of_field)?;
        was.map(|_| (id, (key, value)))
    })
}

impl<'a> Coming<'a> {
    /// The comments that come with a list that replaces dest's, after a change that expects this value.
    pub(super) fn of(expects: Expects<'a>, is_in_conflict: bool) -> Self {
        match expects {
            Expects::Anything => Self::OfPatch,
            Expects::Exactly(Some(original)) if !is_in_conflict => Self::Changed(original),
            Expects::Exactly(_) => Self::OfWinner,
        }
    }

    fn notes(self, old: Option<Remarks<'a>>, new: Remarks<'a>) -> Notes<'a> {
        match self {
            Self::Changed(_) => old.map(|old| notes_between(old, new)).unwrap_or_default(),
            Self::OfPatch => notes_of_line(Some(new.behind).filter(|comment| !comment.is_empty())),
            Self::OfWinner => new.slots().map(|new| new.map(NoteChange::anyway)),
        }
    }

    /// The comments of an element that replaces this one of dest. `old` is that element in original.
    fn of_replaced(self, old: Option<NodeRef<'a>>, dest: Option<NodeRef<'a>>, new: NodeRef<'a>) -> Comments<'a> {
        let of = |element: NodeRef<'a>| Remarks::of((None, element));
        let behind = Some(of(new).behind).filter(|comment| !comment.is_empty());
        match self {
            Self::Changed(_) => {
                let change = old.and_then(|old| notes_between(of(old), of(new)).above);
                let above = dest.and_then(|dest| wanted(change, of(dest).above, None));
                Comments { above, behind, ..Comments::default() }
            }
            Self::OfPatch => Comments { behind, ..Comments::default() },
            Self::OfWinner => {
                let place = dest.and_then(|dest| Some((Place::of_any_element(dest)?, dest)));
                of(new).along_with_value(place.map_or("", |(place, dest)| gap_of(&place, dest.document())))
            }
        }
    }
}

/// The entries of the new list. Elements that neither list keeps replace each other, as far as there are equally many in the same gap.
fn spliced<'a>(
    entries: Vec<Entry<'a>>,
    anchors: &[(usize, usize)],
    live: usize,
    [old, new]: [&[NodeRef<'a>]; 2],
    coming: Coming<'a>,
) -> Vec<Entry<'a>> {
    let mut out: Vec<Entry<'a>> = Vec::with_capacity(entries.len());
    let mut entries = entries.into_iter();
    let (mut from, mut at) = (0, 0);
    for (i, j) in anchors.iter().copied().chain([(live, new.len())]) {
        let mut replacing = new[from..j].iter();
        while at < i {
            let Some(mut entry) = entries.next() else { break };
            if entry.value.is_some() {
                let value = replacing.next().copied();
                let (old, dest) = (old.get(at).copied(), entry.was.map(WrittenChild::value));
                entry.comments = value.map(|value| coming.of_replaced(old, dest, value).into()).unwrap_or_default();
                entry.value = value.map(Tree::Node);
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
