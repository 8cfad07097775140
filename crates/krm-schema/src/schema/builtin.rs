//! The built-in types of Kubernetes: which of their lists merge, by which keys, and which fields an object must have.
//!
//! The table is made ahead of time (`cargo xtask schema`) and compiled as static arrays, found by binary search. So a run that needs three
//! types pays for three look-ups, not for reading seven hundred types. `builtin.txt` is the same table for people; a test compares the two.
//! The table keeps "not merged" and "unknown" apart: it has every list of a known type, including lists that are replaced whole, so nothing
//! is inferred where Kubernetes declares it. A field that is not in the table is a scalar, an object without a list or a rule, or newer
//! than the table.

#[rustfmt::skip]
mod packed;
#[cfg(test)]
mod tests;

pub use packed::VERSIONS;
use packed::{FIELDS, KINDS, NAME_STARTS, NAMES, REQUIRED, REQUIRED_STARTS, RULES, TYPE_STARTS};

/// What a patch does with the value in dest: `x-kubernetes-patch-strategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Kubernetes does not say.
    None,
    /// A list merges.
    Merge,
    /// The value is replaced whole.
    Replace,
    /// The map is a union: kubectl writes `$retainKeys` into patches of it.
    RetainKeys,
    /// A list merges, and its elements are unions.
    MergeRetainKeys,
}

impl Strategy {
    /// Whether a list merges.
    pub fn merges(self) -> bool {
        matches!(self, Self::Merge | Self::MergeRetainKeys)
    }

    /// Whether the value, or each element of the list, is a union.
    pub fn retains_keys(self) -> bool {
        matches!(self, Self::RetainKeys | Self::MergeRetainKeys)
    }
}

/// `x-kubernetes-list-type`: what the server does with a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListType {
    /// Replaces it whole.
    Atomic,
    /// Merges its scalars by value.
    Set,
    /// Merges its maps by their keys.
    Map,
}

/// The declarations of Kubernetes for a list, in Kubernetes' own terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinList {
    /// What a patch does with the list.
    pub strategy: Strategy,
    /// The key by which a patch merges the list: `x-kubernetes-patch-merge-key`.
    pub merge_key: Option<&'static str>,
    /// What the server does with the list; Kubernetes declares it for most lists only since 1.30.
    pub list_type: Option<ListType>,
    /// The keys by which the server merges the list: `x-kubernetes-list-map-keys`.
    pub map_keys: &'static [&'static str],
}

/// How a list merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merges {
    /// Not at all: the list is replaced whole.
    Atomic,
    /// By value.
    Set,
    /// By these keys; an element must have the first one.
    Map(&'static [&'static str]),
}

impl BuiltinList {
    /// How a patch merges the list, by its patch strategy.
    pub fn in_patch(&'static self) -> Merges {
        let key = self.merge_key.as_slice();
        match (self.strategy.merges(), key) {
            (false, _) => Merges::Atomic,
            (true, []) => Merges::Set,
            (true, key) => Merges::Map(super::merge_keys(key, self.map_keys)),
        }
    }

    /// How TwoWay and ThreeWay merge the list: as a patch does if the patch strategy merges it, otherwise as the server does.
    pub fn in_merge(&'static self) -> Merges {
        match self.list_type {
            _ if self.strategy.merges() => self.in_patch(),
            Some(ListType::Set) => Merges::Set,
            Some(ListType::Map) => Merges::Map(self.map_keys),
            Some(ListType::Atomic) | None => Merges::Atomic,
        }
    }
}

/// The form of the value of a field; the two upper bits of its second number in [`FIELDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// An object of a type, or a scalar.
    Value,
    /// A list.
    List,
    /// A map from any name to objects of a type.
    Map,
    /// A map from any name to lists.
    MapOfLists,
}

/// The value of the lower bits for an unknown type.
const NOTHING: u16 = 0x3fff;

/// A built-in type: an object with its fields, or a map whose fields are all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeRef {
    target: u16,
    /// The form of its values, if it is a map.
    map_to: Option<Shape>,
}

/// A field of a built-in type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldRef {
    target: u16,
    shape: Shape,
    rule: &'static BuiltinList,
}

/// The type of a resource; `None` for a type that no version in [`VERSIONS`] has.
pub fn root(api_version: &str, kind: &str) -> Option<TypeRef> {
    let at = KINDS.binary_search_by(|row| (name(row.0), name(row.1)).cmp(&(api_version, kind))).ok()?;
    Some(TypeRef { target: KINDS.get(at)?.2, map_to: None })
}

/// Whether the newest Kubernetes may serve a group. It moved all types of `extensions` to other groups, and serves none of them since 1.22.
/// Source: the deprecated API migration guide of Kubernetes.
pub fn is_served(group: &str) -> bool {
    group != "extensions"
}

/// The types of resources: apiVersion and kind.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.iter().map(|row| (name(row.0), name(row.1)))
}

impl TypeRef {
    /// The names of its fields that are in the table; `*` is any field.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let rows = if self.map_to.is_some() { &[] } else { self.rows() };
        rows.iter().map(|row| name(row.0)).chain(self.map_to.map(|_| "*"))
    }

    /// A field; `None` if it is not in the table.
    pub fn field(self, field: &str) -> Option<FieldRef> {
        if let Some(shape) = self.map_to {
            // Kubernetes declares nothing for the lists in a map of lists. The first rule stands for that.
            return Some(FieldRef { target: self.target, shape, rule: &RULES[0] });
        }
        let fields = self.rows();
        let at = fields.binary_search_by(|row| name(row.0).cmp(field)).ok()?;
        let (_, value, rule) = fields.get(at)?;
        let shape = match value >> 14 {
            0 => Shape::Value,
            1 => Shape::List,
            2 => Shape::Map,
            _ => Shape::MapOfLists,
        };
        Some(FieldRef { target: value & NOTHING, shape, rule: RULES.get(usize::from(*rule))? })
    }

    /// The fields that an object of this type must have.
    pub fn required(self) -> impl Iterator<Item = &'static str> {
        let of_object = Some(self.target).filter(|_| self.map_to.is_none());
        let range = of_object.and_then(|target| between(&REQUIRED_STARTS, target));
        range.and_then(|range| REQUIRED.get(range)).unwrap_or_default().iter().map(|index| name(*index))
    }

    fn rows(self) -> &'static [(u16, u16, u16)] {
        between(&TYPE_STARTS, self.target).and_then(|range| FIELDS.get(range)).unwrap_or_default()
    }
}

impl FieldRef {
    /// The type of its value; for a list, the type of its elements. `None` if nothing below it is known.
    pub fn ty(self) -> Option<TypeRef> {
        match self.shape {
            Shape::Value | Shape::List if self.target == NOTHING => None,
            Shape::Value | Shape::List => Some(TypeRef { target: self.target, map_to: None }),
            Shape::Map => Some(TypeRef { target: self.target, map_to: Some(Shape::Value) }),
            Shape::MapOfLists => Some(TypeRef { target: self.target, map_to: Some(Shape::List) }),
        }
    }

    /// The declaration of the list that is its value; `None` if the value is not a list.
    pub fn list(self) -> Option<&'static BuiltinList> {
        (self.shape == Shape::List).then_some(self.rule)
    }

    /// The default of a field that an element of its list leaves out. Source: the API server gives every port of a built-in type the
    /// protocol TCP; the documents that the table is made from have no defaults.
    pub fn default_of(self, key: &str) -> Option<&'static str> {
        (self.shape == Shape::List && key == "protocol").then_some("TCP")
    }

    /// What a patch does with its value, whether it is a list or not.
    pub fn strategy(self) -> Strategy {
        self.rule.strategy
    }
}

fn name(index: u16) -> &'static str {
    between(&NAME_STARTS, index).and_then(|range| NAMES.get(range)).unwrap_or_default()
}

/// The range of the part with this index.
pub(super) fn between(starts: &[u16], index: u16) -> Option<std::ops::Range<usize>> {
    let index = usize::from(index);
    Some(usize::from(*starts.get(index)?)..usize::from(*starts.get(index + 1)?))
}
