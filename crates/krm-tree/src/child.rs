//! How the children of a map or list are identified, and how one of them is found.
//!
//! Diff, patch, the walker and the plugin all pair children, so the rule is here once: a field by its name, an element by its merge keys or
//! its value.

use std::borrow::Cow;
use std::cell::RefCell;
use std::hash::{BuildHasher, Hash};

use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{NodeRef, Scalar, SourceLines, is_canonical, trim_end};

use crate::path::{ElementKey, FieldPath, KeyDefault, KeyStep, Step};

/// A value that can be identified among its siblings: a node of a text, or of the result of a merge.
pub trait Value<'a>: Copy {
    /// The value of a field.
    fn field(self, name: &str) -> Option<Self>;
    /// Its typed value; `None` for a map or a list.
    fn scalar(self) -> Option<Scalar<'a>>;
    /// Its decoded text.
    fn string(self) -> Cow<'a, str>;
    /// The lines of a text, or those over which it is written; `None` for any other value.
    fn lines(self) -> Option<Cow<'a, str>>;
    /// Whether it is a map.
    fn is_map(self) -> bool;
    /// Whether it is a map or a list.
    fn is_container(self) -> bool;
    /// The elements of a list; empty for anything else.
    fn elements(self) -> Vec<Self>;
    /// The fields of a map that have a name; empty for anything else.
    fn fields(self) -> impl Iterator<Item = (&'a str, Self)>;
}

impl<'a> Value<'a> for NodeRef<'a> {
    fn field(self, name: &str) -> Option<Self> {
        self.get(name)
    }

    fn scalar(self) -> Option<Scalar<'a>> {
        NodeRef::scalar(self)
    }

    fn string(self) -> Cow<'a, str> {
        Cow::Borrowed(NodeRef::string(self))
    }

    fn lines(self) -> Option<Cow<'a, str>> {
        let text = NodeRef::string(self);
        if trim_end(text).contains('\n') {
            return Some(Cow::Borrowed(text));
        }
        let written = SourceLines::of(self.resolve())?.text;
        // The header of a block is no part of the text.
        let below = written.split_once('\n').filter(|(first, _)| first.starts_with(['>', '|']));
        Some(Cow::Owned(below.map_or_else(|| written.clone(), |(_, lines)| lines.to_owned())))
    }

    fn is_map(self) -> bool {
        NodeRef::is_map(self)
    }

    fn is_container(self) -> bool {
        NodeRef::is_container(self)
    }

    fn elements(self) -> Vec<Self> {
        NodeRef::elements(self).collect()
    }

    fn fields(self) -> impl Iterator<Item = (&'a str, Self)> {
        NodeRef::fields(self).filter(|(key, _)| !key.is_container()).map(|(key, value)| (key.string(), value))
    }
}

/// The elements of a list, as a rule reads them to identify them.
pub trait Elements<'a> {
    /// The type of an element.
    type Element: Value<'a>;
    /// All elements, in order.
    fn each(&self) -> impl Iterator<Item = Self::Element>;

    /// How much is known about these merge keys in the elements, without a look at each.
    fn keyed(&self, _: &[MergeKey<'_>]) -> Keyed {
        Keyed::Unknown
    }

    /// Whether all elements are known to be scalars, without a look at each.
    fn are_scalars(&self) -> bool {
        false
    }
}

impl<'a, V: Value<'a>> Elements<'a> for Vec<V> {
    type Element = V;

    fn each(&self) -> impl Iterator<Item = V> {
        self.iter().copied()
    }
}

impl<'a, V: Value<'a>> Elements<'a> for &[V] {
    type Element = V;

    fn each(&self) -> impl Iterator<Item = V> {
        self.iter().copied()
    }
}

/// How much is known about merge keys in the elements of a list, without a look at each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keyed {
    /// Nothing is known.
    Unknown,
    /// Each element has the keys.
    Each,
    /// Each element has the keys, and no two elements have the same values.
    Unique,
}

/// A field that identifies the elements of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeKey<'t> {
    /// Its name.
    pub name: &'t str,
    /// The value of an element that leaves the key out, if the type has a default.
    pub default: Option<KeyDefault<'t>>,
}

impl<'t> From<&'t str> for MergeKey<'t> {
    /// A key without a default.
    fn from(name: &'t str) -> Self {
        Self { name, default: None }
    }
}

impl<'a> KeyStep<'a> {
    /// A merge key, with its value in an element.
    pub fn of(key: &MergeKey<'a>, value: Cow<'a, str>) -> Self {
        Self { name: Cow::Borrowed(key.name), value, default: key.default.clone() }
    }
}

/// How the children of a map or list are identified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By<'a> {
    /// A map: by field.
    Field,
    /// A list of maps: by the values of these keys.
    Keys(Vec<MergeKey<'a>>),
    /// A list of scalars: by value.
    Value,
    /// A list: by index. Only for a list that is replaced whole.
    Index,
}

impl<'a> By<'a> {
    /// The merge keys, if children are identified by them.
    pub fn keys(&self) -> &[MergeKey<'a>] {
        match self {
            Self::Keys(keys) => keys,
            _ => &[],
        }
    }

    /// The identity of an element of a list; `None` if the element lacks the merge keys or the value for it.
    pub fn id_of(&self, element: impl Value<'a>) -> Option<ChildId<'a>> {
        match self {
            Self::Keys(keys) => element_key(element, keys).map(ChildId::Key),
            Self::Value => element.scalar().map(ChildId::Value),
            Self::Field | Self::Index => None,
        }
    }
}

/// The identity of a child among its siblings, of the kind that the [`By`] of its container asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChildId<'a> {
    /// A field.
    Field(&'a str),
    /// The values of the merge keys.
    Key(ElementKey<'a>),
    /// The value of a scalar.
    Value(Scalar<'a>),
    /// The index in the list.
    Index(usize),
}

impl<'a> ChildId<'a> {
    /// The identity of the field with this key. A `<<` entry has no name, and a key that is a map or list has none either.
    pub fn of_field(key: NodeRef<'a>) -> Option<Self> {
        (!key.is_container() && !key.is_merge_key()).then(|| Self::Field(key.string()))
    }

    /// The step to the child, for a path.
    pub fn step(&self, by: &By<'a>) -> Step<'a> {
        match (self, by) {
            (Self::Key(values), By::Keys(keys)) => Step::Element(
                keys.iter()
                    .zip(values.values())
                    .filter_map(|(key, value)| Some(KeyStep::of(key, value?.clone())))
                    .collect(),
            ),
            (Self::Field(name), _) => Step::Field(Cow::Borrowed(name)),
            (Self::Value(value), _) => Step::Value(Cow::Owned(show(value))),
            (Self::Index(i), _) => Step::Index(*i),
            (Self::Key(values), _) => Step::Value(Cow::Owned(values.to_string())),
        }
    }
}

fn show(value: &Scalar<'_>) -> String {
    match value {
        Scalar::Null => "null".into(),
        Scalar::Bool(b) => b.to_string(),
        Scalar::Number(n) => n.to_decimal().unwrap_or_else(|| ".inf".into()),
        Scalar::Timestamp(t) | Scalar::String(t) | Scalar::Tagged(_, t) => t.to_string(),
    }
}

/// The values of an element's merge keys, with the default for one that the element leaves out. `None` if the element is not a map, or if it lacks the first key and this key has no default.
pub fn element_key<'a>(element: impl Value<'a>, keys: &[MergeKey<'a>]) -> Option<ElementKey<'a>> {
    let value = |key: &MergeKey<'a>| {
        let default = key.default.as_ref();
        own_key(element, key.name, default).or_else(|| default.map(|default| default.text().clone()))
    };
    let (first, others) = keys.split_first()?;
    let first = value(first).filter(|_| element.is_map())?;
    Some(ElementKey { first, others: others.iter().map(value).collect() })
}

/// The value of a merge key that an element has itself; `None` if the default stands for it.
fn own_key<'a>(element: impl Value<'a>, name: &str, default: Option<&KeyDefault<'_>>) -> Option<Cow<'a, str>> {
    let own = element.field(name).and_then(key_text);
    own.filter(|text| default.is_none_or(|default| !default.replaces(text)))
}

/// The elements of a list by their merge keys. If several have the same keys, the first one counts.
pub fn by_keys<'a>(list: NodeRef<'a>, keys: &[MergeKey<'a>]) -> HashMap<ElementKey<'a>, NodeRef<'a>> {
    let mut found = HashMap::new();
    for element in list.elements() {
        if let Some(key) = element_key(element, keys) {
            found.entry(key).or_insert(element);
        }
    }
    found
}

/// A scalar as the value of a merge key: numbers in decimal, anything else its text; `None` for null and for containers.
pub fn key_text<'a>(value: impl Value<'a>) -> Option<Cow<'a, str>> {
    let text = value.string();
    // Most values are names or decimal numbers, which are their own key. A container has no text.
    if is_canonical(&text) {
        return Some(text);
    }
    match value.scalar()? {
        Scalar::Null => None,
        Scalar::Number(n) => Some(n.to_decimal().map_or(text, Cow::Owned)),
        Scalar::String(text) => Some(match Scalar::plain_number(&text) {
            Some(n) => Cow::Owned(n),
            None => text,
        }),
        _ => Some(text),
    }
}

/// The node of this resource at a path that comes from another resource.
pub fn find<'a>(root: NodeRef<'a>, path: &FieldPath<'_>) -> Option<NodeRef<'a>> {
    path.steps().try_fold(root, down)
}

/// A resource in which many places are found: the elements of a list are looked through once, however many of them are asked for.
#[derive(Debug)]
pub struct Searched<'a> {
    root: NodeRef<'a>,
    /// The elements of lists, by the offset of the list.
    elements: RefCell<HashMap<usize, Vec<NodeRef<'a>>>>,
    /// The first element of lists with each values of merge keys, by the offset of the list, and the keys and their defaults.
    keyed: RefCell<HashMap<(usize, Vec<KeyAndDefault>), FirstByKey<'a>>>,
}

/// The name of a merge key, and its default.
type KeyAndDefault = (String, Option<KeyDefault<'static>>);

/// The first element with each values of the merge keys of a list.
type FirstByKey<'a> = HashMap<Vec<Cow<'a, str>>, NodeRef<'a>>;

impl<'a> Searched<'a> {
    /// A resource in which nothing was found yet.
    pub fn new(root: NodeRef<'a>) -> Self {
        Self { root, elements: RefCell::default(), keyed: RefCell::default() }
    }

    /// What [`find`] finds.
    pub fn find(&self, path: &FieldPath<'_>) -> Option<NodeRef<'a>> {
        path.steps().try_fold(self.root, |node, step| match step {
            Step::Index(index) => self.elements(node, |elements| elements.get(*index).copied()),
            Step::Element(keys) => self.element(node, keys),
            Step::Field(_) | Step::Value(_) => down(node, step),
        })
    }

    /// How many elements the list at a path has; `None` if nothing is there.
    pub fn count(&self, path: &FieldPath<'_>) -> Option<usize> {
        let list = self.find(path).filter(|list| !list.is_null())?;
        Some(self.elements(list, <[_]>::len))
    }

    fn elements<T>(&self, list: NodeRef<'a>, of: impl FnOnce(&[NodeRef<'a>]) -> T) -> T {
        of(self.elements.borrow_mut().entry(list.start()).or_insert_with(|| list.elements().collect()))
    }

    fn element(&self, list: NodeRef<'a>, keys: &[KeyStep<'_>]) -> Option<NodeRef<'a>> {
        let by = keys.iter().map(|key| (key.name.to_string(), key.default.as_ref().map(KeyDefault::owned))).collect();
        let mut keyed = self.keyed.borrow_mut();
        let first = keyed.entry((list.start(), by)).or_insert_with(|| {
            let mut first = FirstByKey::default();
            for element in list.elements() {
                let value = |key: &KeyStep<'_>| {
                    let default = key.default.as_ref();
                    let filled = || default.map(|default| Cow::Owned(default.text().clone().into_owned()));
                    own_key(element, &key.name, default).or_else(filled)
                };
                if let Some(values) = keys.iter().map(value).collect() {
                    first.entry(values).or_insert(element);
                }
            }
            first
        });
        first.get(&keys.iter().map(|key| Cow::Borrowed(&*key.value)).collect::<Vec<_>>()).copied()
    }
}

/// The node at a path, or the last existing node on the way to it.
pub fn nearest<'a>(root: NodeRef<'a>, path: &FieldPath<'_>) -> NodeRef<'a> {
    let walked = path.steps().try_fold(root, |node, step| down(node, step).ok_or(node));
    walked.unwrap_or_else(|last| last)
}

fn down<'a>(node: NodeRef<'a>, step: &Step<'_>) -> Option<NodeRef<'a>> {
    match step {
        Step::Field(name) => node.get(name),
        Step::Index(index) => node.elements().nth(*index),
        Step::Value(value) => node.elements().find(|e| e.scalar().is_some_and(|scalar| show(&scalar) == **value)),
        Step::Element(keys) => {
            let has = |e: NodeRef<'a>, key: &KeyStep<'_>| {
                let default = key.default.as_ref();
                own_key(e, &key.name, default).as_ref().or(default.map(KeyDefault::text)) == Some(&key.value)
            };
            let is = |e: &NodeRef<'a>| keys.iter().all(|key| has(*e, key));
            match keys.first().and_then(|key| with_text(node, key)) {
                Some(mut some) => some.find(is),
                None => node.elements().find(is),
            }
        }
    }
}

/// The elements of a long list that may have this value of a merge key, in order; `None` if others may have it: a number has several forms, and
/// an element without the key has the default.
fn with_text<'a>(list: NodeRef<'a>, key: &KeyStep<'_>) -> Option<impl Iterator<Item = NodeRef<'a>> + use<'a>> {
    let may_be_number = key.value.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    if may_be_number || key.default.as_ref().map(KeyDefault::text) == Some(&key.value) {
        return None;
    }
    list.elements_with(&key.name, &key.value)
}

/// The identities of the children of a map or list, in their order. If several children have one identity, it is at the place of the first.
pub fn ids_of<'a>(container: NodeRef<'a>, by: &By<'a>) -> Vec<ChildId<'a>> {
    first_of_each(all_ids_of(container, by))
}

/// The identities of the children of two maps or lists, as [`ids_of`]; `None` if both have the same children in the same order.
pub fn ids_of_both<'a>(both: [NodeRef<'a>; 2], by: &By<'a>) -> Option<[Vec<ChildId<'a>>; 2]> {
    let both = both.map(|container| all_ids_of(container, by));
    (both[0] != both[1]).then(|| both.map(first_of_each))
}

fn all_ids_of<'a>(container: NodeRef<'a>, by: &By<'a>) -> Vec<ChildId<'a>> {
    match by {
        By::Field if container.has_merge_entry() => {
            container.spelled_out().into_iter().filter_map(|(_, key, _)| ChildId::of_field(key)).collect()
        }
        By::Field => container.entries().filter_map(|(key, _)| ChildId::of_field(key)).collect(),
        _ => container.elements().filter_map(|element| by.id_of(element)).collect(),
    }
}

fn first_of_each(ids: Vec<ChildId<'_>>) -> Vec<ChildId<'_>> {
    if ids.len().saturating_mul(ids.len()) <= COMPARISONS {
        let mut first: Vec<ChildId<'_>> = Vec::with_capacity(ids.len());
        for id in ids {
            if !first.contains(&id) {
                first.push(id);
            }
        }
        return first;
    }
    let mut seen = HashSet::with_capacity(ids.len());
    let is_first: Vec<bool> = ids.iter().map(|id| seen.insert(id)).collect();
    ids.into_iter().zip(is_first).filter_map(|(id, is_first)| is_first.then_some(id)).collect()
}

/// The identities of children, in their order, with a look-up that is hashed if that pays off.
#[derive(Clone, Debug)]
pub struct ChildIndex<'a> {
    ids: Ids<'a>,
    hashed: Option<Hashed>,
    /// The number of look-ups, including the expected ones.
    asked: usize,
}

/// The identities of children. There may be many fields, and a name takes less memory than any identity.
#[derive(Clone, Debug)]
enum Ids<'a> {
    Fields(Vec<Option<&'a str>>),
    Elements(Vec<Option<ChildId<'a>>>),
}

impl<'a> Ids<'a> {
    fn len(&self) -> usize {
        match self {
            Self::Fields(names) => names.len(),
            Self::Elements(ids) => ids.len(),
        }
    }

    fn id(&self, place: usize) -> Option<Cow<'_, ChildId<'a>>> {
        match self {
            Self::Fields(names) => names.get(place)?.map(|name| Cow::Owned(ChildId::Field(name))),
            Self::Elements(ids) => ids.get(place)?.as_ref().map(Cow::Borrowed),
        }
    }

    fn is(&self, place: usize, id: &ChildId<'a>) -> bool {
        match (self, id) {
            (Self::Fields(names), ChildId::Field(name)) => names.get(place).is_some_and(|other| *other == Some(*name)),
            (Self::Fields(_), _) => false,
            (Self::Elements(ids), id) => ids.get(place).is_some_and(|other| other.as_ref() == Some(id)),
        }
    }

    fn push(&mut self, id: Option<ChildId<'a>>) {
        match (self, id) {
            (Self::Fields(names), Some(ChildId::Field(name))) => names.push(Some(name)),
            (Self::Fields(names), _) => names.push(None),
            (Self::Elements(ids), id) => ids.push(id),
        }
    }

    fn reordered(self, order: &[usize]) -> Self {
        fn put<T>(mut all: Vec<Option<T>>, order: &[usize]) -> Vec<Option<T>> {
            order.iter().map(|old| all[*old].take()).collect()
        }
        match self {
            Self::Fields(names) => Self::Fields(put(names, order)),
            Self::Elements(ids) => Self::Elements(put(ids, order)),
        }
    }
}

/// The places of children by the hashes of their identities.
#[derive(Clone, Debug, Default)]
struct Hashed {
    places: PlacesByHash,
    /// The places of the elements with several merge keys, by the value of the first key.
    alike: PlacesByHash,
    /// Whether two children have one identity.
    has_repeated: bool,
}

/// Places by a hash. Places of different things may have one hash, so what is found must be compared.
#[derive(Clone, Debug, Default)]
struct PlacesByHash {
    /// The last place of each hash.
    last: HashMap<u32, u32>,
    /// For each place, the next one with its hash; for the last one, the first.
    next: Vec<u32>,
}

impl PlacesByHash {
    fn hash(&self, of: impl Hash) -> u32 {
        self.last.hasher().hash_one(of) as u32
    }

    fn add(&mut self, place: usize, of: impl Hash) {
        let (hash, place) = (self.hash(of), place as u32);
        // Places between may have no hash.
        self.next.resize(place as usize, place);
        let first = self.last.insert(hash, place).map(|last| std::mem::replace(&mut self.next[last as usize], place));
        self.next.push(first.unwrap_or(place));
    }

    /// The places with a hash, in order.
    fn find(&self, hash: u32) -> impl Iterator<Item = usize> {
        let last = self.last.get(&hash).copied();
        let first = last.map(|last| self.next[last as usize]);
        std::iter::successors(first, move |at| Some(self.next[*at as usize]).filter(|_| Some(*at) != last))
            .map(|at| at as usize)
    }
}

/// How many comparisons look-ups may cost before they are hashed.
const COMPARISONS: usize = 256;

/// How many look-ups are never hashed: to hash an identity takes as long as to compare it many times.
const FEW: usize = 8;

impl<'a> ChildIndex<'a> {
    /// The index of children that are identified in this way.
    pub fn of(by: &By<'a>, ids: impl Iterator<Item = Option<ChildId<'a>>>) -> Self {
        let room = ids.size_hint().1.unwrap_or_default();
        let mut all = match by {
            By::Field => Ids::Fields(Vec::with_capacity(room)),
            _ => Ids::Elements(Vec::with_capacity(room)),
        };
        ids.for_each(|id| all.push(id));
        Self { ids: all, hashed: None, asked: 0 }
    }

    /// Whether this many look-ups among some children cost less if the identities are hashed.
    pub fn pays_off(children: usize, asked: usize) -> bool {
        asked > FEW && children.saturating_mul(asked) > COMPARISONS
    }

    /// Prepares for this many more look-ups.
    pub fn expect(&mut self, asked: usize) {
        self.asked = self.asked.saturating_add(asked);
        if self.hashed.is_some() || !Self::pays_off(self.ids.len(), self.asked) {
            return;
        }
        let places =
            PlacesByHash { last: HashMap::with_capacity(self.ids.len()), next: Vec::with_capacity(self.ids.len()) };
        let mut hashed = Hashed { places, ..Hashed::default() };
        (0..self.ids.len()).for_each(|place| hashed.add(place, &self.ids));
        self.hashed = Some(hashed);
    }

    /// The number of a new last element.
    pub fn next_number(&self) -> usize {
        let Ids::Elements(ids) = &self.ids else { return 0 };
        match ids.iter().flatten().next_back() {
            Some(ChildId::Index(last)) => last + 1,
            _ => 0,
        }
    }

    /// Adds the identity of a new last child.
    pub fn push(&mut self, id: Option<ChildId<'a>>) {
        self.ids.push(id);
        match &mut self.hashed {
            Some(hashed) => hashed.add(self.ids.len() - 1, &self.ids),
            None => self.expect(0),
        }
    }

    /// Puts the children in another order. `order` has their old places.
    #[must_use]
    pub fn reordered(self, order: &[usize]) -> Self {
        let mut reordered = Self { ids: self.ids.reordered(order), hashed: None, ..self };
        reordered.expect(0);
        reordered
    }

    /// Whether all children are known to have different identities.
    pub fn is_unique(&self) -> bool {
        self.hashed.as_ref().is_some_and(|hashed| !hashed.has_repeated)
    }

    /// The identity of the child at a place.
    pub fn id(&self, place: usize) -> Option<ChildId<'a>> {
        self.ids.id(place).map(Cow::into_owned)
    }

    /// The places of the children of this identity.
    pub fn find<'i>(&'i self, id: &'i ChildId<'a>) -> impl Iterator<Item = usize> + use<'i, 'a> {
        let hashed = self.hashed.as_ref().map(|hashed| hashed.places.find(hashed.places.hash(id)));
        self.among(hashed).filter(move |at| self.ids.is(*at, id))
    }

    /// The merge keys of the elements that have the same first merge key as this one, each once. Only places for which `is_there` holds
    /// count.
    pub fn keys_alike(&self, key: &ElementKey<'a>, is_there: impl Fn(usize) -> bool) -> Vec<ElementKey<'a>> {
        let hashed = self.hashed.as_ref().map(|hashed| hashed.alike.find(hashed.alike.hash(&key.first)));
        let mut keys: Vec<ElementKey<'a>> = Vec::new();
        for id in self.among(hashed).filter(|at| is_there(*at)).filter_map(|at| self.ids.id(at)) {
            match &*id {
                ChildId::Key(other) if other.first == key.first && !keys.contains(other) => keys.push(other.clone()),
                _ => {}
            }
        }
        keys
    }

    /// The hashed places, if the index is hashed; otherwise all.
    fn among<'i>(&'i self, hashed: Option<impl Iterator<Item = usize> + 'i>) -> impl Iterator<Item = usize> + 'i {
        let all = if hashed.is_some() { 0..0 } else { 0..self.ids.len() };
        hashed.into_iter().flatten().chain(all)
    }
}

impl Hashed {
    /// Adds the last child.
    fn add(&mut self, place: usize, ids: &Ids<'_>) {
        let Some(id) = ids.id(place) else { return };
        if let ChildId::Key(ElementKey { first, others }) = &*id
            && !others.is_empty()
        {
            self.alike.add(place, first);
        }
        self.has_repeated = self.has_repeated || self.places.find(self.places.hash(&*id)).any(|at| ids.is(at, &id));
        self.places.add(place, &*id);
    }
}

#[cfg(test)]
mod tests {
    use krm_yaml::Document;

    use super::*;

    #[test]
    fn a_long_list_is_searched_as_a_short_one() {
        let odd = "- {n: 'e7', p: 2}\n- {n: 0x10}\n- {n: 16}\n- {p: 1}\n- x\n- {n: null}\n- {n: \"e8\", p: 8}\n- &a {n: anchor}\n- *a\n- {n: *v}\n";
        for count in [0, 100] {
            let few = (0..count).map(|i| format!("- {{n: e{i}, p: 1}}\n")).collect::<String>();
            let document = Document::parse(format!("v: &v value\nl:\n{few}{odd}")).expect("valid");
            let list = document.roots().next().and_then(|root| root.get("l")).expect("a list");
            let found = |keys: &[(&'static str, &str, Option<&'static str>)]| {
                let key = |(name, value, default): &(&'static str, &str, Option<&'static str>)| KeyStep {
                    name: (*name).into(),
                    value: (*value).to_owned().into(),
                    default: default.map(|text| KeyDefault::Declared(text.into())),
                };
                find(list, &FieldPath::from(Step::Element(keys.iter().map(key).collect()))).map(NodeRef::text)
            };
            assert_eq!(found(&[("n", "e7", None)]), Some(if count > 7 { "{n: e7, p: 1}" } else { "{n: 'e7', p: 2}" }));
            assert_eq!(found(&[("n", "e7", None), ("p", "2", None)]), Some("{n: 'e7', p: 2}"));
            assert_eq!(found(&[("n", "16", None)]), Some("{n: 0x10}"));
            assert_eq!(found(&[("n", "none", Some("none"))]), Some("{p: 1}"));
            assert_eq!(found(&[("n", "anchor", None)]), Some("{n: anchor}"));
            assert_eq!(found(&[("n", "value", None)]), Some("{n: *v}"));
            assert_eq!(found(&[("n", "e999", None)]), None);
        }
    }

    #[test]
    fn an_element_is_found_by_the_key_that_it_has() {
        for (default, own) in [
            (KeyDefault::BuiltIn("TCP".into()), ["TCP", "TCP", "TCP", "UDP"]),
            // The API server fills in no default for an empty text that a definition allows.
            (KeyDefault::Declared("TCP".into()), ["TCP", "TCP", "", "UDP"]),
        ] {
            for (text, own) in ["{}", "{p: null}", "{p: ''}", "{p: UDP}"].into_iter().zip(own) {
                let document = Document::parse(format!("- {{p: other}}\n- {text}\n")).expect("valid");
                let list = document.roots().next().expect("a list");
                let element = list.elements().last().expect("an element");
                let keys = vec![MergeKey { name: "p", default: Some(default.clone()) }];
                assert_eq!(element_key(element, &keys).map(|key| key.to_string()).as_deref(), Some(own), "{text}");
                let by = By::Keys(keys);
                let path = FieldPath::from(by.id_of(element).expect("an identity").step(&by));
                assert_eq!(find(list, &path).map(NodeRef::text), Some(text));
                assert_eq!(Searched::new(list).find(&path).map(NodeRef::text), Some(text));
            }
        }
    }

    #[test]
    fn a_searched_resource_finds_what_a_walk_finds() {
        let text = "l: [{n: a, p: 1}, {n: a, p: 2}, {n: b}, {p: 3}, x]\nm: {l: [[1, 2], [3]]}\ns: [v, w]\ne: null\n";
        let document = Document::parse(text).expect("valid");
        let root = document.roots().next().expect("a root");
        let searched = Searched::new(root);
        let field = |name: &'static str| Step::Field(name.into());
        let element = |keys: &[(&'static str, &'static str)]| {
            let key = |(name, value): &(&'static str, &'static str)| {
                let default = (*name == "p").then(|| KeyDefault::Declared("9".into()));
                KeyStep { name: (*name).into(), value: (*value).into(), default }
            };
            Step::Element(keys.iter().map(key).collect())
        };
        for (steps, want) in [
            (vec![field("l"), element(&[("n", "a")])], Some("{n: a, p: 1}")),
            (vec![field("l"), element(&[("n", "a"), ("p", "2")])], Some("{n: a, p: 2}")),
            (vec![field("l"), element(&[("n", "b"), ("p", "9")]), field("n")], Some("b")),
            (vec![field("l"), element(&[("n", "c")])], None),
            (vec![field("l"), Step::Index(4)], Some("x")),
            (vec![field("l"), Step::Index(5)], None),
            (vec![field("m"), field("l"), Step::Index(1), Step::Index(0)], Some("3")),
            (vec![field("s"), Step::Value("w".into())], Some("w")),
            (vec![field("s"), field("v")], None),
        ] {
            let mut path = FieldPath::default();
            steps.into_iter().for_each(|step| path.push(step, None));
            let text = |node: Option<NodeRef<'_>>| node.map(|node| node.text().to_owned());
            assert_eq!(text(find(root, &path)).as_deref(), want, "{path:?}");
            for _ in 0..2 {
                assert_eq!(text(searched.find(&path)).as_deref(), want, "{path:?}");
            }
        }
        let count = |name: &'static str| {
            let mut path = FieldPath::default();
            path.push(field(name), None);
            searched.count(&path)
        };
        assert_eq!([count("l"), count("s"), count("e"), count("x")], [Some(5), Some(2), None, None]);
    }
}
