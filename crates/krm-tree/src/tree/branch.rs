//! [`Branch`]: a map or list after a merge, with all of its children, which are looked up by their identities.

use krm_yaml::hashed::{Empty, HashSet};
use krm_yaml::{NodeRef, WrittenChild};

use super::{Entry, Key, Tree};
use crate::child::{By, ChildId, ChildIndex, Keyed};
use crate::path::{ElementKey, FieldPath};

/// A map or list after a merge.
#[derive(Debug)]
pub struct Branch<'a> {
    /// The node that it was made from, as it is written. An alias is written out if the branch differs from its value.
    pub like: NodeRef<'a>,
    /// How its children are identified.
    pub by: By<'a>,
    /// Its children in their order, including the removed ones of `like`.
    pub entries: Vec<Entry<'a>>,
    /// The conflict about the order of its elements, if both sides changed it in different ways. The entries are in dest's order.
    pub contested: Option<Box<Contested<'a>>>,
    /// The identities of the entries. There is none before the first look-up, and after entries were inserted. A map has none until it
    /// pays off: the names of few fields are compared.
    index: Option<Box<ChildIndex<'a>>>,
    /// The number of look-ups since there is no index, and of those that are expected.
    asked: usize,
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

impl Clone for Branch<'_> {
    /// The same children without the index, which takes more memory than they do. A copy mostly is settled, and nothing is looked up in it.
    fn clone(&self) -> Self {
        let (by, entries, contested) = (self.by.clone(), self.entries.clone(), self.contested.clone());
        Self { like: self.like, by, entries, contested, index: None, asked: 0, nameless: 0 }
    }
}

impl<'a> Branch<'a> {
    /// A map or list with all of its children.
    pub fn of(like: NodeRef<'a>, by: By<'a>) -> Self {
        let children = like.resolve().written().enumerate();
        let entries = children.map(|(i, (key, value))| Entry::kept(i, key, value)).collect();
        Self { like, by, entries, contested: None, index: None, asked: 0, nameless: 0 }
    }

    /// A map or list with these children.
    pub fn with(like: NodeRef<'a>, by: By<'a>, entries: Vec<Entry<'a>>) -> Self {
        Self { like, by, entries, contested: None, index: None, asked: 0, nameless: 0 }
    }

    /// A branch that the last change left. A new change counts the elements that are there now.
    pub(super) fn counted_anew(mut self) -> Self {
        self.index = self.index.filter(|_| self.by != By::Index);
        self
    }

    /// Prepares for look-ups of children that are identified in this way.
    pub fn prepare(&mut self, by: &By<'a>, asked: usize) {
        if self.by != *by {
            self.by = by.clone();
            self.forget();
        }
        self.expect(asked);
    }

    /// Forgets what was looked up.
    fn forget(&mut self) {
        (self.index, self.asked) = (None, 0);
    }

    /// Prepares for this many more look-ups.
    #[inline]
    fn expect(&mut self, asked: usize) {
        if let Some(index) = &mut self.index {
            return index.expect(asked);
        }
        self.asked = self.asked.saturating_add(asked);
        if self.by != By::Field || ChildIndex::pays_off(self.entries.len(), self.asked) {
            self.make_index();
        }
    }

    fn make_index(&mut self) {
        self.nameless = self.numbered().filter(|(n, e)| e.value.is_some() && self.id_of(*n, e).is_none()).count();
        let mut index = ChildIndex::of(&self.by, self.ids());
        index.expect(self.asked);
        self.index = Some(Box::new(index));
    }

    /// Counts a look-up, which makes the index as soon as it pays off.
    fn count(&mut self) {
        if self.index.is_none() {
            self.expect(1);
        }
    }

    /// The places of the entries with this identity.
    pub(super) fn places<'i>(&'i self, id: &'i ChildId<'a>) -> impl Iterator<Item = usize> + use<'i, 'a> {
        let mut indexed = self.index.as_ref().map(|index| index.find(id));
        let mut compared = self.entries.iter().enumerate();
        std::iter::from_fn(move || match &mut indexed {
            Some(found) => found.next(),
            None => compared.find(|(_, entry)| entry.is_field(id)).map(|(at, _)| at),
        })
    }

    /// The places of the entries with this identity that are not removed.
    pub fn find<'i>(&'i mut self, id: &'i ChildId<'a>) -> impl Iterator<Item = usize> + use<'i, 'a> {
        self.count();
        let this: &Self = self;
        this.places(id).filter(|at| this.entries[*at].value.is_some())
    }

    /// The first place that [`Branch::find`] finds. For a field, which no map has twice, the search begins at the place `from`.
    pub fn find_from(&mut self, from: usize, id: &ChildId<'a>) -> Option<usize> {
        self.count();
        if self.by != By::Field || self.index.is_some() {
            return self.find(id).next();
        }
        let is_meant = |at: &usize| self.entries[*at].value.is_some() && self.entries[*at].is_field(id);
        (from..self.entries.len()).find(is_meant).or_else(|| (0..from).find(is_meant))
    }

    /// The place among the entries of the first child with this identity that is not removed, or else of the first removed one. For a field,
    /// the search begins at the place `from`.
    pub fn place_from(&mut self, from: usize, id: &ChildId<'a>) -> Option<usize> {
        let there = self.find_from(from, id);
        there.or_else(|| self.places(id).next())
    }

    /// Whether a child of this identity was there and is removed, or may be removed by whoever decides its conflict.
    pub fn may_lose(&mut self, id: &ChildId<'a>) -> bool {
        let there = self.find(id).next();
        match there {
            Some(at) => self.entries[at].may_go(),
            None => self.places(id).next().is_some(),
        }
    }

    /// Whether its children are already indexed by these identities.
    pub fn is_indexed(&self, by: &By<'a>) -> bool {
        self.by == *by && self.index.is_some()
    }

    /// The merge keys of the elements that are not removed and have the same first merge key as this one, each once. Empty if elements are
    /// not looked up yet.
    pub fn alike(&self, key: &ElementKey<'a>) -> Vec<ElementKey<'a>> {
        let Some(index) = &self.index else { return Vec::new() };
        index.keys_alike(key, |at| self.entries.get(at).is_some_and(|entry| entry.value.is_some()))
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

    pub(super) fn ids(&self) -> impl Iterator<Item = Option<ChildId<'a>>> {
        self.numbered().map(|(number, entry)| self.id_of(number, entry))
    }

    /// The identity of the entry at a place.
    pub fn id(&mut self, place: usize) -> Option<ChildId<'a>> {
        if self.by == By::Field {
            return self.entries.get(place)?.key?.id();
        }
        self.count();
        self.index.as_ref()?.id(place)
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
        self.entries.reserve_exact(entries.len());
        self.entries.extend(order.iter().filter_map(|at| entries.get_mut(*at)?.take()));
        let is_each_once = self.entries.len() == entries.len() && order.len() == entries.len();
        self.index = self.index.take().filter(|_| is_each_once).map(|index| Box::new(index.reordered(order)));
    }

    /// Gives fields of the map new keys. `new` says the key for one that is written.
    pub fn rename(&mut self, new: impl Fn(NodeRef<'a>) -> Option<NodeRef<'a>>) {
        for entry in &mut self.entries {
            if let Some(key) = entry.was.and_then(WrittenChild::key).and_then(&new) {
                entry.source = entry.key_of_value();
                entry.key = Some(Key::Node(key));
            }
        }
        self.forget();
    }

    /// Puts the entries into another order, or replaces some of them.
    pub fn reorder(&mut self, change: impl FnOnce(Vec<Entry<'a>>) -> Vec<Entry<'a>>) {
        self.entries = change(std::mem::take(&mut self.entries));
        self.forget();
    }

    /// The children that are not removed.
    pub fn children(&self) -> impl Iterator<Item = (Option<Key<'a>>, &Tree<'a>)> {
        self.entries.iter().filter_map(|e| Some((e.key, e.value.as_ref()?)))
    }

    /// Whether a value in it is in conflict.
    pub fn has_conflicts(&self) -> bool {
        self.children().any(|(_, tree)| match tree {
            Tree::Conflict(_) => true,
            Tree::Branch(branch) => branch.has_conflicts(),
            Tree::Node(_) | Tree::Made(_) => false,
        })
    }

    /// The node itself if all children are as they are written; otherwise this branch.
    pub fn into_tree(self) -> Tree<'a> {
        if self.is_untouched() { Tree::Node(self.like) } else { self.into() }
    }

    /// The values of the present `<<` entries.
    pub fn merge_entries(&self) -> impl Iterator<Item = NodeRef<'a>> {
        self.entries.iter().filter(|entry| entry.is_merge()).filter_map(|entry| match entry.value {
            Some(Tree::Node(value)) => Some(value),
            _ => None,
        })
    }

    /// The fields that its `<<` entries bring in, as fields of its own.
    pub fn brought_in(&self) -> Vec<Entry<'a>> {
        let own: HashSet<&str> = self.entries.iter().filter_map(|entry| Some(entry.key?.name())).collect();
        let mut seen = HashSet::new();
        let fields = self.merge_entries().flat_map(fields_in);
        let fields = fields.filter(|(key, _)| !own.contains(key.string()) && seen.insert(key.string()));
        fields.map(|(key, value)| Entry::new(Some(Key::Node(key)), Tree::Node(value))).collect()
    }

    pub(super) fn is_untouched(&self) -> bool {
        let is_in_place = |(place, entry): (usize, &Entry<'a>)| entry.place() == Some(place) && entry.is_untouched();
        self.contested.is_none()
            && self.entries.iter().enumerate().all(is_in_place)
            && self.entries.len() == self.like.resolve().written().count()
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

/// The fields in the value of a `<<` entry, in order of precedence: if several have one name, the first one counts.
pub fn fields_in<'a>(merged: NodeRef<'a>) -> impl Iterator<Item = (NodeRef<'a>, NodeRef<'a>)> {
    let one = Some(merged).filter(|m| !m.is_list());
    // A key that is a map or list has no name.
    one.into_iter().chain(merged.elements()).flat_map(NodeRef::fields).filter(|(key, _)| !key.is_container())
}
