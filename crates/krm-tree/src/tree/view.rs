//! [`View`]: a node as a rule reads it, so that one rule serves texts and trees.

use std::borrow::Cow;
use std::cell::LazyCell;

use krm_yaml::hashed::{Empty, HashMap};
use krm_yaml::{Kind, NodeRef, Scalar, same, trim_end};

use super::{Branch, Key, Made, Quotes, Tree, fields_in};
use crate::child::{By, ChildId, Elements, Keyed, MergeKey, Value};
use crate::leaves::hash;

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
            Self::Made(made) => made.clone().into(),
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

    /// Whether it is of the kind of a node: maps and lists have tags.
    pub fn is_kind_of(self, node: NodeRef<'_>) -> bool {
        self.like().map_or(node.resolve().kind() == Kind::Scalar, |like| like.is_kind_of(node))
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
        let mut merges = branch.merge_entries().peekable();
        if merges.peek().is_none() {
            return fields;
        }
        let names: Vec<&str> = fields.iter().map(|f| f.0).collect();
        let mut merged: HashMap<&str, NodeRef<'a>> = HashMap::new();
        for node in merges {
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
        if !self.is_kind_of(node) {
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

    fn lines(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Node(node) => node.lines(),
            Self::Made(made) if trim_end(&made.value).contains('\n') => Some(made.value.clone()),
            Self::Made(made) => match &made.quotes {
                Quotes::Lines(own) => own.scalar()?.lines().map(|lines| Cow::Owned(lines.into_owned())),
                Quotes::Needed | Quotes::Single | Quotes::As(_) => None,
            },
            Self::Branch(_) => None,
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

impl<'a> Branch<'a> {
    /// The first child of this identity that is not removed. Elements are known only if there is an index.
    pub fn first(&self, id: &ChildId<'_>) -> Option<View<'_, 'a>> {
        let found = self.places(id).find_map(|at| self.entries.get(at)?.value.as_ref());
        found.and_then(Tree::view)
    }

    /// A field of the map itself, not of a `<<`, that is not removed.
    pub(super) fn field(&self, name: &str) -> Option<View<'_, 'a>> {
        self.first(&ChildId::Field(name))
    }
}
