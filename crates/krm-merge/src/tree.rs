//! [`Tree`]: the result of a merge, whose parts may come from several texts, and in which a conflict is a value.
//!
//! A merge can continue from a tree as from a text, so nothing is printed and parsed between two steps. A tree knows no policy: [`settle`]
//! decides its conflicts, once or several times, and the splicer writes the result.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use crate::child::{By, ChildId, Elements, Index, Keyed, MergeKey, Value};
use crate::leaves::hash;
use crate::path::{ElementKey, FieldPath};
use crate::sides::Sides;
use crate::yaml::{Kind, NodeRef, Scalar, same};

/// The result of a merge for one node.
#[derive(Clone, Debug)]
pub enum Tree<'a> {
    /// A node as it is written. If it is dest's own node, its bytes stay; any other node replaces dest's.
    Node(NodeRef<'a>),
    /// A scalar that no document holds.
    Made(Made<'a>),
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
#[derive(Clone, Copy, Debug)]
pub enum Quotes<'a> {
    /// Only if a reader would take the bare text for something else.
    Needed,
    /// Always in single quotes, as kpt writes numbers that are texts.
    Single,
    /// As a block scalar or in quotes, like the text of dest that it replaces.
    As(NodeRef<'a>),
}

/// A map or list after a merge.
#[derive(Clone, Debug)]
pub struct Branch<'a> {
    /// The node that it was made from, as it is written. An alias is written out if the branch differs from its value.
    pub like: NodeRef<'a>,
    /// How its children are identified.
    pub by: By<'a>,
    /// Its children in their order, including the removed ones of `like`.
    pub entries: Vec<Entry<'a>>,
    /// The conflict about the order of its elements, if both sides changed it in different ways. The entries are in dest's order.
    pub contested: Option<Box<Contested<'a>>>,
    /// The identities of the entries, once they have been looked up; `None` after entries were inserted.
    index: Option<Index<'a>>,
    /// How many present entries have no identity, if there is an index. It may be too high, because entries are removed.
    nameless: usize,
}

/// An order of elements that dest and the other side both changed, in different ways.
#[derive(Clone, Debug)]
pub struct Contested<'a> {
    /// The path of the list.
    pub path: FieldPath<'a>,
    /// The list that both sides started from.
    pub original: Option<NodeRef<'a>>,
    /// The list of the other side.
    pub updated: NodeRef<'a>,
    /// The elements that one side moved, and the elements that both added at different places, in the order that both sides started from.
    pub moved: Vec<FieldPath<'a>>,
    /// The order if updated wins.
    pub taken: Vec<ChildId<'a>>,
    /// The order if the original wins.
    pub was: Vec<ChildId<'a>>,
}

/// A child of a map or list.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Its place among the children of `like`, as they are written; `None` for a new one.
    pub place: Option<usize>,
    /// The key of a field. If its name differs from the one in `like`, the field is renamed.
    pub key: Option<Key<'a>>,
    /// The key that the value is written with, if the value comes from another field; it shows the layout of the value.
    pub source: Option<NodeRef<'a>>,
    /// Its value; `None` if it is removed.
    pub value: Option<Tree<'a>>,
    /// The comments that it is to have.
    pub comments: Comments<'a>,
    /// The layout of its value, if that comes from another document.
    pub layout: Layout,
}

/// The layout of a value that comes from another document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The layout of the document that it is added to.
    Host,
    /// The layout in which it is written, with its comments.
    Own,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comments<'a> {
    /// The comment lines above it.
    pub above: Option<&'a str>,
    /// The comment on its line.
    pub behind: Option<&'a str>,
    /// The comment lines at the end of its block.
    pub below: Option<&'a str>,
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
    /// The result if dest wins: dest's value or, if only parts overlap, dest's value with all other changes in it. A null is removed from
    /// the result, because it clears the field.
    pub dest: Option<Tree<'a>>,
    /// The result if updated wins.
    pub taken: Option<Tree<'a>>,
    /// Updated's key, if the place is a field.
    pub key: Option<NodeRef<'a>>,
    /// The comments of each side at this place, if the winner's comments come with its value; dest's are the ones in its text. `None` if
    /// the comments do not depend on the winner.
    pub comments: Option<Sides<Comments<'a>>>,
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
}

/// A node as a rule reads it: of a text, or of a tree.
#[derive(Clone, Copy, Debug)]
pub enum View<'t, 'a> {
    /// A node of a text.
    Node(NodeRef<'a>),
    /// A scalar that is not in any document.
    Made(&'t Made<'a>),
    /// A map or list of a tree.
    Branch(&'t Branch<'a>),
}

/// The elements of a list as a rule reads them.
#[derive(Clone, Debug)]
pub enum List<'t, 'a> {
    /// Each element.
    Views(Vec<View<'t, 'a>>),
    /// A list of a tree, which may already know whether its elements have keys.
    Branch(&'t Branch<'a>),
}

impl<'a> From<Conflict<'a>> for Tree<'a> {
    fn from(conflict: Conflict<'a>) -> Self {
        Self::Conflict(Box::new(conflict))
    }
}

impl<'a> From<Branch<'a>> for Tree<'a> {
    fn from(branch: Branch<'a>) -> Self {
        Self::Branch(Box::new(branch))
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
    fn id(&self) -> Option<ChildId<'a>> {
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
                [&mut conflict.dest, &mut conflict.taken].into_iter().flatten().for_each(Self::fold)
            }
            Self::Branch(branch) => {
                branch.entries.iter_mut().filter_map(|entry| entry.value.as_mut()).for_each(Self::fold);
                if branch.is_untouched() {
                    *self = Self::Node(branch.like);
                }
            }
        }
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

impl<'a> Entry<'a> {
    /// A child that stays as it is written.
    pub fn kept(place: usize, key: Option<NodeRef<'a>>, value: NodeRef<'a>) -> Self {
        Self {
            place: Some(place),
            key: key.map(Key::Node),
            source: None,
            value: Some(Tree::Node(value)),
            comments: Comments::default(),
            layout: Layout::Host,
        }
    }

    /// Whether it is removed, or may be removed by whoever decides its conflict.
    fn may_go(&self) -> bool {
        match &self.value {
            Some(Tree::Conflict(conflict)) => {
                conflict.dest.is_none() || conflict.taken.is_none() || conflict.original.is_none()
            }
            value => value.is_none(),
        }
    }

    /// Whether it is a `<<` entry.
    pub fn is_merge(&self) -> bool {
        self.key.and_then(|key| key.node()).is_some_and(NodeRef::is_merge_key)
    }

    /// A child that `like` lacks.
    pub fn new(key: Option<Key<'a>>, value: Tree<'a>) -> Self {
        Self { place: None, key, source: None, value: Some(value), comments: Comments::default(), layout: Layout::Host }
    }

    /// The key that its value is written with.
    pub fn key_of_value(&self) -> Option<NodeRef<'a>> {
        self.source.or_else(|| self.key?.node())
    }

    /// Its key, if the field is written with another name.
    pub fn new_key(&self, written: Option<NodeRef<'_>>) -> Option<Key<'a>> {
        let (key, written) = (self.key?, written?);
        let is_same = || ChildId::of_field(written).zip(key.id()).is_none_or(|(old, new)| old == new);
        (!key.node().is_some_and(|key| key.is(written)) && !is_same()).then_some(key)
    }
}

impl<'a> Entry<'a> {
    /// Sets a value whose conflicts are decided, with the comments of the side that wins. Returns whether updated lost any conflict.
    fn settle(&mut self, value: Tree<'a>, pick: &mut dyn FnMut(&Conflict<'a>) -> Option<Pick>) -> bool {
        let Tree::Conflict(conflict) = value else {
            let (value, has_lost) = settled(value, pick);
            self.value = value;
            if has_lost {
                self.comments = Comments::default();
            }
            return has_lost;
        };
        let Some(picked) = pick(&conflict) else {
            self.value = Some(Tree::Conflict(conflict));
            return false;
        };
        match (picked, conflict.comments) {
            (Pick::Updated, Some(comments)) => self.comments = comments.updated,
            (Pick::Updated, None) => {}
            (Pick::Original, Some(comments)) => self.comments = comments.original,
            (Pick::Original, None) | (Pick::Dest, _) => self.comments = Comments::default(),
        }
        if picked == Pick::Updated {
            self.source = conflict.key.or(self.source);
        }
        self.value = conflict.won_by(picked);
        picked != Pick::Updated
    }
}

impl<'a> Conflict<'a> {
    /// The result if this side wins.
    fn won_by(self, side: Pick) -> Option<Tree<'a>> {
        match side {
            // A null is removed from the text, because it asks to remove the field.
            Pick::Dest => self.dest.filter(|dest| !dest.view().is_some_and(View::is_null)),
            Pick::Updated => self.taken,
            Pick::Original => self.original.map(Tree::Node),
        }
    }
}

impl<'a> Branch<'a> {
    /// A map or list with all of its children.
    pub fn of(like: NodeRef<'a>, by: By<'a>) -> Self {
        let children = like.resolve().written().enumerate();
        let entries = children.map(|(i, (key, value))| Entry::kept(i, key, value)).collect();
        Self { like, by, entries, contested: None, index: None, nameless: 0 }
    }

    /// A map or list with these children.
    pub fn with(like: NodeRef<'a>, by: By<'a>, entries: Vec<Entry<'a>>) -> Self {
        Self { like, by, entries, contested: None, index: None, nameless: 0 }
    }

    /// A branch that the last change left. A new change counts the elements that are there now.
    fn counted_anew(mut self) -> Self {
        self.index = self.index.filter(|_| self.by != By::Index);
        self
    }

    /// Prepares for look-ups of children that are identified in this way.
    pub fn prepare(&mut self, by: &By<'a>, asked: usize) {
        if self.by != *by {
            self.by = by.clone();
            self.index = None;
        }
        self.indexed().expect(asked);
    }

    fn indexed(&mut self) -> &mut Index<'a> {
        let index = self.index.take().unwrap_or_else(|| {
            let ids = self.ids();
            self.nameless = self.entries.iter().zip(&ids).filter(|(e, id)| e.value.is_some() && id.is_none()).count();
            Index::of(ids)
        });
        self.index.insert(index)
    }

    /// The identities of the entries, for a look-up.
    fn index(&mut self) -> &Index<'a> {
        if self.index.is_none() {
            self.indexed().expect(1);
        }
        self.indexed()
    }

    /// The places of the entries with this identity that are not removed.
    pub fn find<'i>(&'i mut self, id: &'i ChildId<'a>) -> impl Iterator<Item = usize> + use<'i, 'a> {
        self.index();
        let (index, entries) = (self.index.as_ref(), &self.entries);
        let found = index.into_iter().flat_map(move |index| index.find(id));
        found.filter(|at| entries[*at].value.is_some())
    }

    /// The place among the entries of the first child with this identity that is not removed, or else of the first removed one.
    pub fn place_of(&mut self, id: &ChildId<'a>) -> Option<usize> {
        let there = self.find(id).next();
        there.or_else(|| self.index().find(id).next())
    }

    /// Whether a child of this identity was there and is removed, or may be removed by whoever decides its conflict.
    pub fn may_lose(&mut self, id: &ChildId<'a>) -> bool {
        let there = self.find(id).next();
        match there {
            Some(at) => self.entries[at].may_go(),
            None => self.place_of(id).is_some(),
        }
    }

    /// Whether its children are already indexed by these identities.
    pub fn is_indexed(&self, by: &By<'a>) -> bool {
        self.by == *by && self.index.is_some()
    }

    /// The first child of this identity that is not removed, if children are looked up already.
    pub fn first(&self, id: &ChildId<'a>) -> Option<View<'_, 'a>> {
        let found = self.index.as_ref()?.find(id).find_map(|at| self.entries.get(at)?.value.as_ref());
        found.and_then(Tree::view)
    }

    /// The merge keys of the elements that are not removed and have the same first merge key as this one, each once. Empty if elements are
    /// not looked up yet.
    pub fn alike(&self, key: &ElementKey<'a>) -> Vec<ElementKey<'a>> {
        let Some(index) = &self.index else { return Vec::new() };
        index.keys_alike(key, |at| self.entries.get(at).is_some_and(|entry| entry.value.is_some()))
    }

    /// A field of the map itself, not of a `<<`, that is not removed.
    fn field(&self, name: &str) -> Option<View<'_, 'a>> {
        if self.by == By::Field
            && let Some(index) = &self.index
        {
            let id = ChildId::Field(name);
            let value = index.find(&id).find_map(|at| self.entries.get(at)?.value.as_ref());
            return value.and_then(Tree::view);
        }
        let is_meant = |key: Key<'a>| key.id() == Some(ChildId::Field(name));
        let found = self.entries.iter().filter(|entry| entry.key.is_some_and(is_meant));
        found.filter_map(|entry| entry.value.as_ref()).next().and_then(Tree::view)
    }

    /// The entries with their numbers. Removed ones do not count.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &Entry<'a>)> {
        self.entries.iter().scan(0, |count, entry| {
            let number = *count;
            *count += usize::from(entry.value.is_some());
            Some((number, entry))
        })
    }

    /// The identity of an entry with this number, without the index.
    pub fn id_of(&self, number: usize, entry: &Entry<'a>) -> Option<ChildId<'a>> {
        id_of(&self.by, entry, number)
    }

    fn ids(&self) -> Vec<Option<ChildId<'a>>> {
        self.numbered().map(|(number, entry)| self.id_of(number, entry)).collect()
    }

    /// The identity of the entry at a place, from the index.
    pub fn id(&mut self, place: usize) -> Option<ChildId<'a>> {
        self.index().id(place).cloned()
    }

    /// How much is known about the identities of its children.
    pub fn keyed(&self) -> Keyed {
        match &self.index {
            Some(index) if self.nameless == 0 && index.is_unique() => Keyed::Unique,
            Some(_) if self.nameless == 0 => Keyed::Each,
            _ => Keyed::Unknown,
        }
    }

    /// Adds a child after all others.
    pub fn push(&mut self, entry: Entry<'a>) {
        if let Some(index) = &mut self.index {
            let id = id_of(&self.by, &entry, index.next_number());
            self.nameless += usize::from(id.is_none());
            index.push(id);
        }
        self.entries.push(entry);
    }

    /// Puts the entries into another order. `order` has their old places.
    pub fn put(&mut self, order: &[usize]) {
        if order.is_sorted() {
            return;
        }
        let mut entries: Vec<Option<Entry<'a>>> = std::mem::take(&mut self.entries).into_iter().map(Some).collect();
        // Keeps room for later entries.
        self.entries.reserve(entries.capacity());
        self.entries.extend(order.iter().filter_map(|at| entries.get_mut(*at)?.take()));
        let is_each_once = self.entries.len() == entries.len() && order.len() == entries.len();
        self.index = self.index.take().filter(|_| is_each_once).map(|index| index.reordered(order));
    }

    /// Gives fields of the map new keys. `new` says the key for one that is written.
    pub fn rename(&mut self, new: impl Fn(NodeRef<'a>) -> Option<NodeRef<'a>>) {
        let written: Vec<_> = self.like.resolve().written().collect();
        for entry in &mut self.entries {
            let key = entry.place.and_then(|place| written.get(place)?.0);
            if let Some(key) = key.and_then(&new) {
                entry.source = entry.key_of_value();
                entry.key = Some(Key::Node(key));
            }
        }
        self.index = None;
    }

    /// Puts the entries into another order, or replaces some of them.
    pub fn reorder(&mut self, change: impl FnOnce(Vec<Entry<'a>>) -> Vec<Entry<'a>>) {
        self.entries = change(std::mem::take(&mut self.entries));
        self.index = None;
    }

    /// The children that are not removed.
    pub fn children(&self) -> impl Iterator<Item = (Option<Key<'a>>, &Tree<'a>)> {
        self.entries.iter().filter_map(|e| Some((e.key, e.value.as_ref()?)))
    }

    /// The node itself if all children are as they are written; otherwise this branch.
    pub fn into_tree(self) -> Tree<'a> {
        if self.is_untouched() { Tree::Node(self.like) } else { self.into() }
    }

    /// Restores `<<` entries that were written out, if the result has all their fields as they bring them in.
    fn fold_merges(&mut self) {
        let is_gone = |entry: &Entry<'a>| entry.is_merge() && entry.value.is_none();
        if !self.like.document().has_merge_keys() || !self.entries.iter().any(is_gone) {
            return;
        }
        let whole = Branch::of(self.like, By::Field);
        let is_same = |entry: &Entry<'a>, other: &Entry<'a>| {
            let is_key = entry.key.zip(other.key).is_some_and(|(a, b)| a.name() == b.name());
            let value = other.value.as_ref().and_then(Tree::like);
            is_key
                && entry.comments == Comments::default()
                && value.is_some_and(|v| entry.value.as_ref().is_some_and(|e| e.is(v)))
        };
        let brought_in = whole.brought_in();
        // A restored entry would bring back a field that is removed from the map itself.
        let hidden: HashSet<&str> = whole.merge_entries().flat_map(fields_in).map(|(key, _)| key.string()).collect();
        let is_lost = |entry: &Entry<'a>| entry.may_go() && entry.key.is_some_and(|key| hidden.contains(key.name()));
        if self.entries.iter().any(is_lost) {
            return;
        }
        let new: Vec<&Entry<'a>> = self.entries.iter().filter(|entry| entry.place.is_none()).collect();
        if new.len() == brought_in.len() && new.iter().zip(&brought_in).all(|(a, b)| is_same(a, b)) {
            self.entries.retain(|entry| entry.place.is_some());
            for entry in self.entries.iter_mut().filter(|entry| is_gone(entry)) {
                let written = entry.place.and_then(|place| whole.entries.get(place));
                entry.value = written.and_then(|entry| entry.value.clone());
            }
            self.index = None;
        }
    }

    /// Puts the children in the order of these identities. Any other child stays after its predecessor.
    fn ordered(mut self, order: &[ChildId<'a>]) -> Self {
        let ranks: HashMap<&ChildId<'a>, usize> = order.iter().enumerate().map(|(rank, id)| (id, rank)).collect();
        let mut last = None;
        let mut entries = Vec::with_capacity(self.entries.len());
        for (id, entry) in self.ids().into_iter().zip(std::mem::take(&mut self.entries)) {
            last = id.and_then(|id| ranks.get(&id).copied()).or(last);
            entries.push((last, entry));
        }
        entries.sort_by_key(|(rank, _)| *rank);
        self.entries = entries.into_iter().map(|(_, entry)| entry).collect();
        self.index = None;
        self
    }

    /// Decides the order of its children.
    fn decided(
        mut self,
        contested: Contested<'a>,
        pick: &mut dyn FnMut(&Conflict<'a>) -> Option<Pick>,
    ) -> Option<Tree<'a>> {
        let conflict = Conflict {
            path: contested.path.clone(),
            original: contested.original,
            updated: Some(contested.updated),
            dest: Some(self.clone().into_tree()),
            taken: Some(self.clone().ordered(&contested.taken).into_tree()),
            key: None,
            comments: None,
            taking: Taking::Order(contested.moved.clone()),
            required: None,
        };
        match pick(&conflict) {
            Some(Pick::Dest) => conflict.dest,
            Some(Pick::Updated) => conflict.taken,
            Some(Pick::Original) => Some(self.ordered(&contested.was).into_tree()),
            None => {
                self.contested = Some(Box::new(contested));
                Some(self.into_tree())
            }
        }
    }

    fn is_untouched(&self) -> bool {
        if self.contested.is_some() {
            return false;
        }
        let mut entries = self.entries.iter();
        let mut written = self.like.resolve().written().enumerate();
        let is_kept = |((i, (key, value)), entry): ((usize, (Option<NodeRef<'a>>, NodeRef<'a>)), &Entry<'a>)| {
            entry.place == Some(i)
                && entry.new_key(key).is_none()
                && entry.comments == Comments::default()
                && entry.value.as_ref().is_some_and(|v| v.is(value))
        };
        written.by_ref().all(|child| entries.next().is_some_and(|entry| is_kept((child, entry))))
            && entries.next().is_none()
    }
}

/// The identity of an entry among its siblings. `number` says which element it is. A removed element has none.
fn id_of<'a>(by: &By<'a>, entry: &Entry<'a>, number: usize) -> Option<ChildId<'a>> {
    match (by, entry.key, &entry.value) {
        (By::Field, Some(key), _) => key.id(),
        (_, _, None) => None,
        (By::Index, ..) => Some(ChildId::Index(number)),
        (by, _, Some(value)) => by.id_of(value.view()?),
    }
}

impl<'t, 'a> View<'t, 'a> {
    /// Its node, or the node that it was made from; `None` for a scalar that no document holds.
    pub fn like(self) -> Option<NodeRef<'a>> {
        match self {
            Self::Node(node) => Some(node),
            Self::Made(_) => None,
            Self::Branch(branch) => Some(branch.like),
        }
    }

    /// A hash that is equal for values that mean the same.
    pub fn meaning(self) -> u64 {
        match self.scalar() {
            Some(scalar) => hash(scalar),
            None if self.is_list() => hash(("[]", self.elements().into_iter().map(Self::meaning).collect::<Vec<_>>())),
            None => {
                let fields = self.fields().into_iter().map(|(name, value)| hash((name, value.meaning())));
                hash(("{}", fields.fold(0_u64, u64::wrapping_add)))
            }
        }
    }

    /// A copy as a tree.
    pub fn to_tree(self) -> Tree<'a> {
        match self {
            Self::Node(node) => Tree::Node(node),
            Self::Made(made) => Tree::Made(made.clone()),
            Self::Branch(branch) => branch.clone().into(),
        }
    }

    /// Its kind; never [`Kind::Alias`].
    pub fn kind(self) -> Kind {
        match self {
            Self::Node(node) => node.resolve().kind(),
            Self::Made(_) => Kind::Scalar,
            Self::Branch(branch) => branch.like.resolve().kind(),
        }
    }

    /// Whether it is a list.
    pub fn is_list(self) -> bool {
        self.kind() == Kind::List
    }

    /// Whether it is null.
    pub fn is_null(self) -> bool {
        matches!(self, Self::Node(node) if node.is_null())
    }

    /// Its decoded text, if it is a scalar that is not null.
    pub fn text(self) -> Option<Cow<'a, str>> {
        (!self.is_container() && !self.is_null()).then(|| self.string())
    }

    /// The elements of a list, as a rule reads them.
    pub fn list(self) -> List<'t, 'a> {
        match self {
            Self::Branch(branch) if self.is_list() => List::Branch(branch),
            view => List::Views(view.elements()),
        }
    }

    /// The elements of a list; empty for anything else.
    pub fn elements(self) -> Vec<Self> {
        match self {
            Self::Node(node) => node.elements().map(View::Node).collect(),
            Self::Branch(branch) if self.is_list() => branch.children().filter_map(|c| c.1.view()).collect(),
            Self::Made(_) | Self::Branch(_) => Vec::new(),
        }
    }

    /// The fields of a map, including those of `<<`; empty for anything else.
    pub fn fields(self) -> Vec<(&'a str, Self)> {
        let branch = match self {
            Self::Node(node) => return node.fields().map(|(k, v)| (k.string(), View::Node(v))).collect(),
            Self::Branch(branch) if !self.is_list() => branch,
            Self::Made(_) | Self::Branch(_) => return Vec::new(),
        };
        let own = |key: &Key<'a>| key.node().is_none_or(|k| !k.is_container() && !k.is_merge_key());
        let mut fields: Vec<_> =
            branch.children().filter_map(|(key, value)| Some((key.filter(own)?.name(), value.view()?))).collect();
        let names: Vec<&str> = fields.iter().map(|f| f.0).collect();
        let mut merged: HashMap<&str, NodeRef<'a>> = HashMap::new();
        for node in branch.merge_entries() {
            for (key, value) in fields_in(node).filter(|f| !names.contains(&f.0.string())) {
                let name = key.string();
                if let std::collections::hash_map::Entry::Vacant(free) = merged.entry(name) {
                    free.insert(value);
                    fields.push((name, View::Node(value)));
                }
            }
        }
        fields
    }

    /// Whether it means the same as a node.
    pub fn same(self, node: NodeRef<'_>) -> bool {
        if let Self::Node(own) = self {
            return same(own, node);
        }
        if self.kind() != node.resolve().kind() {
            return false;
        }
        match self.kind() {
            Kind::List => {
                let (own, others) = (self.elements(), node.elements().collect::<Vec<_>>());
                own.len() == others.len() && own.iter().zip(others).all(|(a, b)| a.same(b))
            }
            Kind::Map => {
                let own = self.fields();
                let others: Vec<_> = node.fields().collect();
                // Fields are mostly in the same order, so the next one is tried before the map is searched.
                let by_name = LazyCell::new(|| own.iter().copied().collect::<HashMap<&str, Self>>());
                let field = |i: usize, name: &str| match own.get(i) {
                    Some((next, value)) if *next == name => Some(*value),
                    _ => by_name.get(name).copied(),
                };
                let is_same = |(i, (key, value)): (usize, &(NodeRef<'_>, NodeRef<'_>))| {
                    !key.is_container() && field(i, key.string()).is_some_and(|own| own.same(*value))
                };
                own.len() == others.len() && others.iter().enumerate().all(is_same)
            }
            Kind::Scalar | Kind::Alias => self.scalar() == node.scalar(),
        }
    }
}

impl<'a> Branch<'a> {
    /// The values of the present `<<` entries.
    pub fn merge_entries(&self) -> impl Iterator<Item = NodeRef<'a>> {
        self.entries.iter().filter(|entry| entry.is_merge()).filter_map(|entry| match entry.value {
            Some(Tree::Node(value)) => Some(value),
            _ => None,
        })
    }
}

impl<'a> Branch<'a> {
    /// The fields that its `<<` entries bring in, as fields of its own.
    pub fn brought_in(&self) -> Vec<Entry<'a>> {
        let own: HashSet<&str> = self.entries.iter().filter_map(|entry| Some(entry.key?.name())).collect();
        let mut seen = HashSet::new();
        let fields = self.merge_entries().flat_map(fields_in);
        let fields = fields.filter(|(key, _)| !own.contains(key.string()) && seen.insert(key.string()));
        fields.map(|(key, value)| Entry::new(Some(Key::Node(key)), Tree::Node(value))).collect()
    }
}

/// The fields in the value of a `<<` entry, in order of precedence: if several have one name, the first one counts.
pub fn fields_in<'a>(merged: NodeRef<'a>) -> impl Iterator<Item = (NodeRef<'a>, NodeRef<'a>)> {
    let one = Some(merged).filter(|m| !m.is_list());
    one.into_iter().chain(merged.elements()).flat_map(NodeRef::fields)
}

impl<'t, 'a> Elements<'a> for List<'t, 'a> {
    type Element = View<'t, 'a>;

    fn each(&self) -> impl Iterator<Item = View<'t, 'a>> {
        let (views, branch) = match self {
            Self::Views(views) => (&views[..], None),
            Self::Branch(branch) => (&[][..], Some(*branch)),
        };
        let of_branch = branch.into_iter().flat_map(|branch| branch.children().filter_map(|(_, value)| value.view()));
        views.iter().copied().chain(of_branch)
    }

    fn keyed(&self, keys: &[MergeKey<'_>]) -> Keyed {
        match self {
            Self::Branch(branch) if branch.by.keys() == keys => branch.keyed(),
            _ => Keyed::Unknown,
        }
    }

    fn are_scalars(&self) -> bool {
        matches!(self, Self::Branch(branch) if branch.by == By::Value && branch.keyed() >= Keyed::Each)
    }
}

impl<'t, 'a> Value<'a> for View<'t, 'a> {
    fn field(self, name: &str) -> Option<Self> {
        match self {
            Self::Node(node) => node.get(name).map(View::Node),
            Self::Made(_) => None,
            Self::Branch(branch) => branch.field(name).or_else(|| {
                let merged = branch.merge_entries().flat_map(fields_in).find(|f| f.0.string() == name);
                merged.map(|(_, value)| View::Node(value))
            }),
        }
    }

    fn scalar(self) -> Option<Scalar<'a>> {
        match self {
            Self::Node(node) => node.scalar(),
            Self::Made(made) => Some(Scalar::String(made.value.clone())),
            Self::Branch(_) => None,
        }
    }

    fn string(self) -> Cow<'a, str> {
        match self {
            Self::Node(node) => Cow::Borrowed(node.string()),
            Self::Made(made) => made.value.clone(),
            Self::Branch(_) => Cow::Borrowed(""),
        }
    }

    fn is_map(self) -> bool {
        self.kind() == Kind::Map
    }

    fn is_container(self) -> bool {
        self.kind() != Kind::Scalar
    }

    fn elements(self) -> Vec<Self> {
        View::elements(self)
    }

    fn fields(self) -> impl Iterator<Item = (&'a str, Self)> {
        View::fields(self).into_iter()
    }
}

/// Decides the conflicts of a tree. Where updated does not win, its comments at that place and at the places above it are not taken.
pub fn settle<'a>(tree: Tree<'a>, pick: &mut dyn FnMut(&Conflict<'a>) -> Pick) -> Option<Tree<'a>> {
    decide(tree, &mut |conflict| Some(pick(conflict)))
}

/// Decides some conflicts of a tree, and leaves the others in it.
pub fn decide<'a>(tree: Tree<'a>, pick: &mut dyn FnMut(&Conflict<'a>) -> Option<Pick>) -> Option<Tree<'a>> {
    settled(tree, pick).0
}

/// The result, and whether updated lost any conflict.
fn settled<'a>(tree: Tree<'a>, pick: &mut dyn FnMut(&Conflict<'a>) -> Option<Pick>) -> (Option<Tree<'a>>, bool) {
    match tree {
        Tree::Conflict(conflict) => match pick(&conflict) {
            Some(picked) => (conflict.won_by(picked), picked != Pick::Updated),
            None => (Some(Tree::Conflict(conflict)), false),
        },
        Tree::Branch(mut branch) => {
            let mut has_lost = false;
            for entry in &mut branch.entries {
                let Some(value) = entry.value.take() else { continue };
                has_lost |= entry.settle(value, pick);
            }
            branch.entries.retain(|entry| entry.place.is_some() || entry.value.is_some());
            branch.index = None;
            branch.fold_merges();
            let tree = match branch.contested.take() {
                Some(contested) => branch.decided(*contested, pick),
                None => Some(branch.into_tree()),
            };
            (tree, has_lost)
        }
        tree => (Some(tree), false),
    }
}

#[cfg(test)]
mod tests;
