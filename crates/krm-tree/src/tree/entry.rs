//! [`Entry`]: a child of a map or list after a merge, with its key and its comments.

use std::ops::Deref;

use krm_yaml::{NodeRef, WrittenChild};

use super::{Conflict, Tree};
use crate::child::ChildId;
use crate::slots::Slots;

/// A child of a map or list.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The child of `like` that it is; `None` for a new one.
    pub was: Option<WrittenChild<'a>>,
    /// The key of a field. If its name differs from the one in `like`, the field is renamed.
    pub key: Option<Key<'a>>,
    /// The key that the value is written with, if the value comes from another field; it shows the layout of the value.
    pub source: Option<NodeRef<'a>>,
    /// Its value; `None` if it is removed.
    pub value: Option<Tree<'a>>,
    /// The comments that it is to have.
    pub comments: Asked<'a>,
    /// The layout of its value, if that comes from another place.
    pub layout: Layout,
    /// Whether one of two outcomes of a conflict, dest's and the other side's, has the child, and the other one lacks it.
    pub is_contested: bool,
}

/// The layout of a value that comes from another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The layout of the document that it is added to.
    Host,
    /// The layout in which it is written, but the key and the comments at the child are those of the entry.
    Value,
    /// The layout in which it is written, with its key and its comments.
    Own,
    /// An alias of it: it is a node of dest with an anchor, which comes before.
    Alias,
}

/// The key of a field.
#[derive(Clone, Copy, Debug)]
pub enum Key<'a> {
    /// A key as it is written.
    Node(NodeRef<'a>),
    /// A name that is not in any document.
    Made(&'a str),
}

/// The comments that a child is to have, as they are written. An empty text removes a comment; `None` keeps the comment that is there.
pub type Comments<'a> = Slots<Option<&'a str>>;

/// The comments of an entry, and the conflict about them, if both sides changed them. They are in a box, because few entries ask for any,
/// and a tree has many entries.
#[derive(Clone, Debug, Default)]
pub struct Asked<'a>(Option<Box<Wanted<'a>>>);

#[derive(Clone, Debug)]
struct Wanted<'a> {
    comments: Comments<'a>,
    contested: Option<Box<Conflict<'a>>>,
}

impl<'a> Asked<'a> {
    /// Comments of which some are in conflict.
    pub fn contested(comments: Comments<'a>, contested: Option<Conflict<'a>>) -> Self {
        let is_any = !comments.is_empty() || contested.is_some();
        Self(is_any.then(|| Box::new(Wanted { comments, contested: contested.map(Box::new) })))
    }

    /// Whether all comments stay as they are.
    pub fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// Takes the conflict out of it.
    pub fn take_conflict(&mut self) -> Option<Conflict<'a>> {
        let conflict = self.0.as_mut()?.contested.take()?;
        *self = (**self).into();
        Some(*conflict)
    }
}

impl<'a> From<Comments<'a>> for Asked<'a> {
    fn from(comments: Comments<'a>) -> Self {
        Self::contested(comments, None)
    }
}

impl<'a> Deref for Asked<'a> {
    type Target = Comments<'a>;

    fn deref(&self) -> &Comments<'a> {
        self.0.as_ref().map_or(&Comments::NONE, |wanted| &wanted.comments)
    }
}

impl<'a> Key<'a> {
    /// The name of the field.
    pub fn name(&self) -> &'a str {
        match self {
            Self::Node(node) => node.string(),
            Self::Made(name) => name,
        }
    }

    /// The identity of the field; `None` for a `<<`, and for a key that is a map or list.
    pub(super) fn id(&self) -> Option<ChildId<'a>> {
        match self {
            Self::Node(node) => ChildId::of_field(*node),
            Self::Made(name) => Some(ChildId::Field(name)),
        }
    }

    /// The key, if it is written.
    pub fn node(&self) -> Option<NodeRef<'a>> {
        match self {
            Self::Node(node) => Some(*node),
            Self::Made(_) => None,
        }
    }
}

impl<'a> Entry<'a> {
    /// A child that stays as it is written.
    pub fn kept(place: usize, key: Option<NodeRef<'a>>, value: NodeRef<'a>) -> Self {
        Self {
            was: Some(WrittenChild::new(place, key, value)),
            key: key.map(Key::Node),
            source: None,
            value: Some(Tree::Node(value)),
            comments: Asked::default(),
            layout: Layout::Host,
            is_contested: false,
        }
    }

    /// Whether it is a conflict, or may have one in it.
    pub fn may_hold_conflicts(&self) -> bool {
        matches!(self.value, Some(Tree::Branch(_) | Tree::Conflict(_)))
    }

    /// Whether it is removed, or may be removed by whoever decides its conflict.
    pub(super) fn may_go(&self) -> bool {
        match &self.value {
            Some(Tree::Conflict(conflict)) => {
                conflict.dest.is_none() || conflict.taken.is_none() || conflict.original.is_none()
            }
            value => value.is_none(),
        }
    }

    /// Whether it is the field with this identity: the same as a comparison with [`Key::id`], and cheaper.
    pub(super) fn is_field(&self, id: &ChildId<'_>) -> bool {
        match (self.key, id) {
            (Some(Key::Node(key)), ChildId::Field(name)) => key.is_called(name) && !key.is_merge_key(),
            (Some(Key::Made(key)), ChildId::Field(name)) => key == *name,
            _ => false,
        }
    }

    /// Whether it is a `<<` entry.
    pub fn is_merge(&self) -> bool {
        self.key.and_then(|key| key.node()).is_some_and(NodeRef::is_merge_key)
    }

    /// A child that `like` lacks.
    pub fn new(key: Option<Key<'a>>, value: Tree<'a>) -> Self {
        let (comments, layout) = (Asked::default(), Layout::Host);
        Self { was: None, key, source: None, value: Some(value), comments, layout, is_contested: false }
    }

    /// The key that its value is written with.
    pub fn key_of_value(&self) -> Option<NodeRef<'a>> {
        self.source.or_else(|| self.key?.node())
    }

    /// Its place among the children of `like`, as they are written; `None` for a new one.
    pub fn place(&self) -> Option<usize> {
        self.was.map(WrittenChild::place)
    }

    /// Whether it stays as it is written.
    pub fn is_untouched(&self) -> bool {
        let Some(was) = &self.was else { return false };
        self.value.as_ref().is_some_and(|value| value.is(was.value()))
            && self.comments.is_nothing()
            && self.new_key().is_none()
    }

    /// Its key, if the field is written with another name.
    pub fn new_key(&self) -> Option<Key<'a>> {
        let (key, written) = (self.key?, self.was?.key()?);
        let is_same = || ChildId::of_field(written).zip(key.id()).is_none_or(|(old, new)| old == new);
        (!key.node().is_some_and(|key| key.is(written)) && !is_same()).then_some(key)
    }
}
