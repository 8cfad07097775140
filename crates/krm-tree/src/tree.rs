//! [`Tree`]: the result of a merge, whose parts may come from several texts, and in which a conflict is a value.
//!
//! A merge can continue from a tree as from a text, so nothing is printed and parsed between two steps. A tree knows no policy: [`settle()`]
//! decides its conflicts, once or several times, and the splicer writes the result.

mod branch;
mod entry;
mod settle;
mod view;

use std::borrow::Cow;
use std::sync::Arc;

use krm_yaml::{Document, Kind, NodeRef};

use crate::child::By;
use crate::path::{FieldPath, Step};
use crate::sides::{Side, Sides};
use crate::slots::BoxedSlots;
pub use branch::{Branch, Contested, fields_in};
pub use entry::{Asked, Comments, Entry, Key, Layout};
pub use settle::{decide, settle};
pub use view::{List, View};

/// The result of a merge for one node.
#[derive(Clone, Debug)]
pub enum Tree<'a> {
    /// A node as it is written. If it is dest's own node, its bytes stay; any other node replaces dest's.
    Node(NodeRef<'a>),
    /// A scalar that no document holds.
    Made(Box<Made<'a>>),
    /// A map or list with these children.
    Branch(Box<Branch<'a>>),
    /// Both sides changed the node, in different ways.
    Conflict(Box<Conflict<'a>>),
}

/// A text that is not in any document.
#[derive(Clone, Debug)]
pub struct Made<'a> {
    /// Its decoded text.
    pub value: Cow<'a, str>,
    /// How it is quoted.
    pub quotes: Quotes<'a>,
}

/// How a text that is not in any document is quoted.
#[derive(Clone, Debug)]
pub enum Quotes<'a> {
    /// Only if a reader would take the bare text for something else.
    Needed,
    /// Always in single quotes, as kpt writes numbers that are texts.
    Single,
    /// As a block scalar or in quotes, like the text of dest that it replaces.
    As(NodeRef<'a>),
    /// In these lines.
    Lines(OwnLines),
}

/// The lines in which a text of no user's document is written.
#[derive(Clone, Debug)]
pub struct OwnLines {
    /// A document of their own, with one field, whose value is the text.
    pub document: Arc<Document<'static>>,
    /// How deep the lines below the first one are indented in the text of dest that they replace, from the first column.
    pub indent: usize,
}

impl OwnLines {
    /// The text.
    pub fn scalar(&self) -> Option<NodeRef<'_>> {
        self.document.roots().next()?.entries().next().map(|(_, value)| value)
    }
}

/// Dest and the other side both changed a node, in different ways.
#[derive(Clone, Debug)]
pub struct Conflict<'a> {
    /// The path of the node.
    pub path: FieldPath<'a>,
    /// The value that both sides started from.
    pub original: Option<NodeRef<'a>>,
    /// The value of the other side.
    pub updated: Option<NodeRef<'a>>,
    /// The result if dest wins: dest's value or, if only parts overlap, dest's value with all other changes in it.
    pub dest: Option<Tree<'a>>,
    /// The result if updated wins.
    pub taken: Option<Tree<'a>>,
    /// Updated's key, if the place is a field.
    pub key: Option<NodeRef<'a>>,
    /// The comments of each side at this place, if the winner's comments come with its value; dest's are the ones in its text. `None` if
    /// the comments do not depend on the winner.
    pub comments: Option<Sides<BoxedSlots<&'a str>>>,
    /// The kind of change that is made if updated wins.
    pub taking: Taking<'a>,
    /// A field that the type requires and that the changed part alone lacks. Because of it, updated wins with its whole value or deletion.
    pub required: Option<&'a str>,
}

/// The kind of change that is made if updated wins a conflict.
#[derive(Clone, Debug)]
pub enum Taking<'a> {
    /// Updated's value is taken.
    Value,
    /// Upstream's changes inside of the value are added, because dest deleted the whole value.
    Delta,
    /// The value is deleted, because updated deleted it.
    Deletion,
    /// Upstream's values inside of it are deleted; dest's own values stay.
    CutDown,
    /// The elements of the list are in updated's order; both sides have the list, and a side moved these elements.
    Order(Vec<FieldPath<'a>>),
    /// Updated's value is taken where the changes of both sides overlap. All other changes are made for every winner.
    Overlap,
    /// Updated's elements are added in the place of those that dest added there. This is the list with both additions, dest's first.
    Both(Tree<'a>),
    /// Updated's comments at the place are taken, whoever wins its value. These are the comments of each side; empty if it has none. Dest's
    /// stay if the conflict has none to take.
    Comments(Box<Sides<String>>),
}

/// The side that wins a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Dest's value stays.
    Dest,
    /// Updated's change is made.
    Updated,
    /// The value that both sides started from is written.
    Original,
    /// What both sides added is written; in any other conflict, updated's change is made.
    Both,
}

impl From<Side> for Pick {
    fn from(side: Side) -> Self {
        match side {
            Side::Original => Self::Original,
            Side::Updated => Self::Updated,
            Side::Dest => Self::Dest,
        }
    }
}

impl<'a> Conflict<'a> {
    /// A conflict about comments alone. `texts` are those of each side. Dest's stay, whoever wins.
    pub fn of_comments(path: FieldPath<'a>, texts: Sides<String>) -> Self {
        Self {
            path,
            original: None,
            updated: None,
            dest: None,
            taken: None,
            key: None,
            comments: None,
            taking: Taking::Comments(Box::new(texts)),
            required: None,
        }
    }

    /// Replaces the results in which other conflicts may be: those of children that are one conflict.
    #[must_use]
    pub fn with_outcomes(self, mut replace: impl FnMut(Tree<'a>) -> Tree<'a>) -> Self {
        if !matches!(self.taking, Taking::Overlap) {
            return self;
        }
        Self { dest: self.dest.map(&mut replace), taken: self.taken.map(&mut replace), ..self }
    }

    /// The value of each side; for dest what comes out if dest wins.
    pub fn values(&self) -> Sides<Option<Tree<'a>>> {
        let Self { original, updated, dest, .. } = self;
        Sides { original: original.map(Tree::Node), updated: updated.map(Tree::Node), dest: dest.clone() }
    }
}

impl<'a> From<Conflict<'a>> for Tree<'a> {
    fn from(conflict: Conflict<'a>) -> Self {
        Self::Conflict(Box::new(conflict))
    }
}

impl<'a> From<Made<'a>> for Tree<'a> {
    fn from(made: Made<'a>) -> Self {
        Self::Made(Box::new(made))
    }
}

impl<'a> From<Branch<'a>> for Tree<'a> {
    fn from(branch: Branch<'a>) -> Self {
        Self::Branch(Box::new(branch))
    }
}

impl<'a> Tree<'a> {
    /// Its conflicts, in the order in which [`settle`] decides them.
    pub fn conflicts(&self) -> Vec<Conflict<'a>> {
        let mut all = Vec::new();
        settle(self.clone(), &mut |conflict| {
            all.push(conflict.clone());
            Pick::Dest
        });
        all
    }

    /// The view through which rules read it. A conflict is read as dest's value, if dest has one.
    pub fn view(&self) -> Option<View<'_, 'a>> {
        match self {
            Self::Node(node) => Some(View::Node(*node)),
            Self::Made(made) => Some(View::Made(made)),
            Self::Branch(branch) => Some(View::Branch(branch)),
            Self::Conflict(conflict) => conflict.dest.as_ref().or(conflict.taken.as_ref())?.view(),
        }
    }

    /// The views of all values that may be the result: for a conflict, the value of each side.
    pub fn views(&self) -> impl Iterator<Item = View<'_, 'a>> {
        let views = match self {
            Self::Conflict(conflict) => {
                let (original, updated) = (conflict.original.map(View::Node), conflict.updated.map(View::Node));
                [
                    original,
                    updated,
                    conflict.dest.as_ref().and_then(Tree::view),
                    conflict.taken.as_ref().and_then(Tree::view),
                ]
            }
            tree => [tree.view(), None, None, None],
        };
        views.into_iter().flatten()
    }

    /// Its node, or the node that it was made from; `None` for a scalar that no document holds.
    pub fn like(&self) -> Option<NodeRef<'a>> {
        match self {
            Self::Node(node) => Some(*node),
            Self::Made(_) => None,
            Self::Branch(branch) => Some(branch.like),
            Self::Conflict(conflict) => conflict.dest.as_ref().or(conflict.taken.as_ref())?.like(),
        }
    }

    /// Whether it is this very node, unchanged.
    pub fn is(&self, node: NodeRef<'_>) -> bool {
        matches!(self, Self::Node(own) if own.is(node))
    }

    /// Splits a map or list into its children; `None` for anything else.
    pub fn into_branch(self, by: &By<'a>, asked: usize) -> Option<Branch<'a>> {
        let mut branch = match self {
            Self::Branch(branch) => branch.counted_anew(),
            other => Branch::of(other.like()?, by.clone()),
        };
        branch.prepare(by, asked);
        Some(branch)
    }
}

impl<'a> Tree<'a> {
    /// Replaces each map and list by its node, if all of its children are as they are written.
    #[must_use]
    pub fn folded(mut self) -> Self {
        self.fold();
        self
    }

    fn fold(&mut self) {
        match self {
            Self::Node(_) | Self::Made(_) => {}
            Self::Conflict(conflict) => {
                let both = if let Taking::Both(both) = &mut conflict.taking { Some(both) } else { None };
                [conflict.dest.as_mut(), conflict.taken.as_mut(), both].into_iter().flatten().for_each(Self::fold)
            }
            Self::Branch(branch) => {
                branch.entries.iter_mut().filter_map(|entry| entry.value.as_mut()).for_each(Self::fold);
                if branch.is_untouched() {
                    *self = Self::Node(branch.like);
                }
            }
        }
    }

    /// Replaces the value that these fields and indices lead to, or removes it. Where an alias or a conflict is on the way, everything stays.
    #[must_use]
    pub fn replaced(self, way: &[Step<'_>], value: Option<Self>) -> Self {
        let Some((step, way)) = way.split_first() else { return self };
        let by = match &self {
            Self::Branch(branch) => branch.by.clone(),
            Self::Node(node) if matches!(node.kind(), Kind::Map) => By::Field,
            Self::Node(node) if matches!(node.kind(), Kind::List) => By::Index,
            Self::Node(_) | Self::Made(_) | Self::Conflict(_) => return self,
        };
        self.edited(&by, |branch| {
            let mut there = branch.entries.iter_mut().filter(|entry| entry.value.is_some());
            let entry = match step {
                Step::Index(index) => there.nth(*index),
                Step::Field(name) => there.find(|entry| entry.key.is_some_and(|key| key.name() == name)),
                Step::Element(_) | Step::Value(_) => None,
            };
            if let Some(entry) = entry {
                entry.value =
                    if way.is_empty() { value } else { entry.value.take().map(|own| own.replaced(way, value)) };
            }
        })
    }

    /// Changes the children of a map or list. Anything else stays, because it has no children.
    pub fn edited(self, by: &By<'a>, edit: impl FnOnce(&mut Branch<'a>)) -> Self {
        let mut branch = match self {
            Self::Branch(branch) => *branch,
            Self::Node(node) => Branch::of(node, by.clone()),
            tree => return tree,
        };
        branch.prepare(by, 1);
        edit(&mut branch);
        branch.into_tree()
    }
}
