//! What tells the children of a map or list apart, and finding one of them.
//!
//! Diff, patch, the walker and the plugin all pair children, so the rule stands here once: a field by its name, an element by its merge
//! keys or its value.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::path::{ElementKey, FieldPath, KeyStep, Step};
use crate::yaml::{NodeRef, Scalar};

/// What must be known of a value to tell it from its siblings. A node of a text has it, and so has a node of a merge's result.
pub trait Value<'a>: Copy {
    /// The value of a field.
    fn field(self, name: &str) -> Option<Self>;
    /// Its typed value; `None` for a map or a list.
    fn scalar(self) -> Option<Scalar<'a>>;
    /// Its decoded text.
    fn string(self) -> Cow<'a, str>;
    /// Whether it is a map.
    fn is_map(self) -> bool;
    /// Whether it is a map or a list.
    fn is_container(self) -> bool;
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

    fn is_map(self) -> bool {
        NodeRef::is_map(self)
    }

    fn is_container(self) -> bool {
        NodeRef::is_container(self)
    }
}

/// A field by which the elements of a list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeKey<'t> {
    /// Its name.
    pub name: &'t str,
    /// What it is for an element that leaves it out, where the type says so. An empty text is a default, too.
    pub default: Option<Cow<'t, str>>,
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

/// How the children of a map or list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By<'a> {
    /// A map: by field.
    Field,
    /// A list of maps: by the values of these keys.
    Keys(Vec<MergeKey<'a>>),
    /// A list of scalars: by value.
    Value,
    /// A list: by place. Only for a list that is replaced whole.
    Index,
}

impl<'a> By<'a> {
    /// The merge keys, where it is by these.
    pub fn keys(&self) -> &[MergeKey<'a>] {
        match self {
            Self::Keys(keys) => keys,
            _ => &[],
        }
    }

    /// What tells an element of a list from the others, where it has what it takes.
    pub fn id_of(&self, element: impl Value<'a>) -> Option<ChildId<'a>> {
        match self {
            Self::Keys(keys) => element_key(element, keys).map(ChildId::Key),
            Self::Value => element.scalar().map(ChildId::Value),
            Self::Field | Self::Index => None,
        }
    }
}

/// What tells a child from its siblings; fits the [`By`] of its container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChildId<'a> {
    /// A field.
    Field(&'a str),
    /// The values of the merge keys.
    Key(ElementKey<'a>),
    /// The value of a scalar.
    Value(Scalar<'a>),
    /// The place in the list.
    Index(usize),
}

impl<'a> ChildId<'a> {
    /// What tells the field with this key from the others. A `<<` entry has no name, and neither has a key that is a map or list.
    pub fn of_field(key: NodeRef<'a>) -> Option<Self> {
        (!key.is_container() && !key.is_merge_key()).then(|| Self::Field(key.string()))
    }

    /// The step to the child, for a path.
    pub fn step(&self, by: &By<'a>) -> Step<'a> {
        match (self, by) {
            (Self::Key(values), By::Keys(keys)) => Step::Element(
                keys.iter().zip(&values.0).filter_map(|(key, value)| Some(KeyStep::of(key, value.clone()?))).collect(),
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

/// The values of an element's merge keys, an absent one with its default; `None` where the element is no map, or lacks the first key and
/// that has no default.
pub fn element_key<'a>(element: impl Value<'a>, keys: &[MergeKey<'a>]) -> Option<ElementKey<'a>> {
    let mut values = Vec::with_capacity(keys.len());
    for (i, key) in keys.iter().enumerate() {
        match element.field(key.name).and_then(key_text) {
            Some(value) => values.push(Some(value)),
            None if !element.is_map() || (i == 0 && key.default.is_none()) => return None,
            None => values.push(key.default.clone()),
        }
    }
    (!values.is_empty()).then_some(ElementKey(values))
}

/// A scalar as the value of a merge key: numbers in decimal, anything else its text; `None` for null and for containers.
pub fn key_text<'a>(value: impl Value<'a>) -> Option<Cow<'a, str>> {
    match value.scalar()? {
        Scalar::Null => None,
        Scalar::Number(n) => Some(n.to_decimal().map_or_else(|| value.string(), Cow::Owned)),
        Scalar::String(text) => Some(match Scalar::plain_number(&text) {
            Some(n) => Cow::Owned(n),
            None => text,
        }),
        _ => Some(value.string()),
    }
}

/// The node at a path, in another resource than the one that the path was found in.
pub fn find<'a>(root: NodeRef<'a>, path: &FieldPath<'_>) -> Option<NodeRef<'a>> {
    path.steps().try_fold(root, down)
}

/// The node at a path, or the last one on the way to it that is there.
pub fn nearest<'a>(root: NodeRef<'a>, path: &FieldPath<'_>) -> NodeRef<'a> {
    let walked = path.steps().try_fold(root, |node, step| down(node, step).ok_or(node));
    walked.unwrap_or_else(|last| last)
}

fn down<'a>(node: NodeRef<'a>, step: &Step<'_>) -> Option<NodeRef<'a>> {
    match step {
        Step::Field(name) => node.get(name),
        Step::Index(index) => node.elements().nth(*index),
        Step::Value(value) => node.elements().find(|e| e.scalar().is_some_and(|scalar| show(&scalar) == **value)),
        Step::Element(keys) => node.elements().find(|e| {
            keys.iter()
                .all(|key| e.get(&key.name).and_then(key_text).or(key.default.clone()).as_ref() == Some(&key.value))
        }),
    }
}

/// What tells the children of a map or list apart, in their order; of several that nothing tells apart, the first.
pub fn ids_of<'a>(container: NodeRef<'a>, by: &By<'a>) -> Vec<ChildId<'a>> {
    let mut seen = HashSet::new();
    let ids: Vec<ChildId<'a>> = match by {
        By::Field => container.spelled_out().into_iter().filter_map(|(_, key, _)| ChildId::of_field(key)).collect(),
        _ => container.elements().filter_map(|element| by.id_of(element)).collect(),
    };
    ids.into_iter().filter(|id| seen.insert(id.clone())).collect()
}

/// The identities of children, in their order, with a look-up that is hashed where that pays.
#[derive(Clone, Debug, Default)]
pub struct Index<'a> {
    ids: Vec<Option<ChildId<'a>>>,
    hashed: Option<HashMap<ChildId<'a>, Vec<usize>>>,
}

/// How many comparisons a look-up may cost before it is hashed.
const COMPARISONS: usize = 256;

impl<'a> Index<'a> {
    /// Of children of which so many will be looked up.
    pub fn of(ids: Vec<Option<ChildId<'a>>>, asked: usize) -> Self {
        let mut index = Self { ids, hashed: None };
        index.expect(asked);
        index
    }

    /// Prepares for so many look-ups.
    pub fn expect(&mut self, asked: usize) {
        if self.hashed.is_some() || self.ids.len() * asked <= COMPARISONS {
            return;
        }
        let mut hashed: HashMap<ChildId<'a>, Vec<usize>> = HashMap::with_capacity(self.ids.len());
        for (i, id) in self.ids.iter().enumerate() {
            if let Some(id) = id {
                hashed.entry(id.clone()).or_default().push(i);
            }
        }
        self.hashed = Some(hashed);
    }

    /// Adds the identity of a child that comes last.
    pub fn push(&mut self, id: Option<ChildId<'a>>) {
        if let (Some(hashed), Some(id)) = (&mut self.hashed, &id) {
            hashed.entry(id.clone()).or_default().push(self.ids.len());
        }
        self.ids.push(id);
    }

    /// The identity of the child at a place.
    pub fn id(&self, place: usize) -> Option<&ChildId<'a>> {
        self.ids.get(place)?.as_ref()
    }

    /// The places of the children of this identity.
    pub fn find<'i>(&'i self, id: &'i ChildId<'a>) -> impl Iterator<Item = usize> + use<'i, 'a> {
        let hashed = self.hashed.as_ref().map(|hashed| hashed.get(id).map_or(&[][..], Vec::as_slice));
        let listed = if hashed.is_some() { &[][..] } else { &self.ids[..] };
        let listed = listed.iter().enumerate().filter(move |(_, i)| i.as_ref() == Some(id)).map(|(i, _)| i);
        hashed.unwrap_or_default().iter().copied().chain(listed)
    }
}
