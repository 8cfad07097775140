//! The built-in types of Kubernetes: which of their lists merge, by which keys, and which fields an object must have.
//!
//! The table is made ahead of time (`cargo xtask schema`) as bytes, found by binary search. So a run that needs three types pays for three
//! look-ups, not for reading seven hundred types. `builtin.txt` is the same table for people; a test compares the two.
//! The table keeps "not merged" and "unknown" apart: it has every list of a known type, including lists that are replaced whole, so nothing
//! is inferred where Kubernetes declares it. A field that is not in the table is a scalar, an object without a list or a rule, or newer
//! than the table.

#[cfg(test)]
mod tests;

use super::ListKind;
use super::packed::{KEYS, NameTable, Number, between, numbers, part, rows};

static TABLE: [u8; include_bytes!("builtin.bin").len()] = *include_bytes!("builtin.bin");

/// The versions of Kubernetes whose types are known.
pub static VERSIONS: &str = match str::from_utf8(part(&TABLE, 0)) {
    Ok(versions) => versions,
    Err(_) => "",
};

static NAMES: NameTable = NameTable::of(&TABLE, 1);

/// Name of the apiVersion, name of the kind, type; sorted by what the names say.
static KINDS: &[[Number; 3]] = rows(&TABLE, 3);

/// The first field of each type, and where the last type ends.
static TYPE_STARTS: &[Number] = numbers(&TABLE, 4);

/// Name, shape and type, rule; sorted by what the names say within each type.
static FIELDS: &[[Number; 3]] = rows(&TABLE, 5);

/// The first required field of each type, and where those of the last type end.
static REQUIRED_STARTS: &[Number] = numbers(&TABLE, 6);

/// Names of required fields.
static REQUIRED: &[Number] = numbers(&TABLE, 7);

/// Every rule that a field has; the first says nothing.
static RULES: &[Rule] = rows(&TABLE, 8);

/// The number of a strategy, the number of a list type, the merge key, and the map keys.
type Rule = [Number; 3 + KEYS];

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

impl From<Number> for Strategy {
    fn from(number: Number) -> Self {
        match u16::from_le_bytes(number) {
            1 => Self::Merge,
            2 => Self::Replace,
            3 => Self::RetainKeys,
            4 => Self::MergeRetainKeys,
            _ => Self::None,
        }
    }
}

/// The declarations of Kubernetes for a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinList(&'static Rule);

impl BuiltinList {
    /// The key by which a patch merges the list: `x-kubernetes-patch-merge-key`.
    pub fn merge_key(self) -> Option<&'static str> {
        let [_, _, merge_key, ..] = *self.0;
        Some(NAMES.get(merge_key)).filter(|key| !key.is_empty())
    }

    /// How a patch merges the list, by its patch strategy.
    pub fn in_patch(self) -> ListKind<&'static str> {
        let [strategy, _, merge_key, map_keys @ ..] = self.0;
        match (Strategy::from(*strategy).merges(), self.merge_key()) {
            (false, _) => ListKind::Atomic,
            (true, None) => ListKind::Set,
            (true, Some(_)) => NAMES.by_keys(super::merge_keys(std::slice::from_ref(merge_key), map_keys)),
        }
    }

    /// How TwoWay and ThreeWay merge the list: as a patch does if the patch strategy merges it, otherwise as the server does
    /// (`x-kubernetes-list-type`, which Kubernetes declares for most lists only since 1.30).
    pub fn in_merge(self) -> ListKind<&'static str> {
        let [strategy, list_type, _, map_keys @ ..] = self.0;
        match Strategy::from(*strategy).merges() {
            true => self.in_patch(),
            false => NAMES.list_kind(*list_type, map_keys).unwrap_or(ListKind::Atomic),
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
    rule: &'static Rule,
}

/// The type of a resource; `None` for a type that no version in [`VERSIONS`] has.
pub fn root(api_version: &str, kind: &str) -> Option<TypeRef> {
    let names = |[api_version, kind, _]: &[Number; 3]| (NAMES.get(*api_version), NAMES.get(*kind));
    let at = KINDS.binary_search_by(|row| names(row).cmp(&(api_version, kind))).ok()?;
    let [_, _, target] = *KINDS.get(at)?;
    Some(TypeRef { target: u16::from_le_bytes(target), map_to: None })
}

/// The group of an apiVersion; empty for the core group.
pub fn group_of(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

/// Whether the newest Kubernetes may serve a group. It moved all types of `extensions` to other groups, and serves none of them since 1.22.
/// Source: the deprecated API migration guide of Kubernetes.
pub fn is_served(group: &str) -> bool {
    group != "extensions"
}

/// The types of resources: apiVersion and kind.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.iter().map(|[api_version, kind, _]| (NAMES.get(*api_version), NAMES.get(*kind)))
}

impl TypeRef {
    /// The names of its fields that are in the table; `*` is any field.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let rows = if self.map_to.is_some() { &[] } else { self.rows() };
        rows.iter().map(|[field, ..]| NAMES.get(*field)).chain(self.map_to.map(|_| "*"))
    }

    /// A field; `None` if it is not in the table.
    pub fn field(self, field: &str) -> Option<FieldRef> {
        if let Some(shape) = self.map_to {
            // Kubernetes declares nothing for the lists in a map of lists. The first rule stands for that.
            return Some(FieldRef { target: self.target, shape, rule: RULES.first()? });
        }
        let fields = self.rows();
        let at = fields.binary_search_by(|[name, ..]| NAMES.get(*name).cmp(field)).ok()?;
        let [_, value, rule] = fields.get(at)?.map(u16::from_le_bytes);
        let shape = match value >> 14 {
            0 => Shape::Value,
            1 => Shape::List,
            2 => Shape::Map,
            _ => Shape::MapOfLists,
        };
        Some(FieldRef { target: value & NOTHING, shape, rule: RULES.get(usize::from(rule))? })
    }

    /// The fields that an object of this type must have.
    pub fn required(self) -> impl Iterator<Item = &'static str> {
        let of_object = Some(self.target).filter(|_| self.map_to.is_none());
        let range = of_object.and_then(|target| between(REQUIRED_STARTS, target));
        range.and_then(|range| REQUIRED.get(range)).unwrap_or_default().iter().map(|field| NAMES.get(*field))
    }

    fn rows(self) -> &'static [[Number; 3]] {
        between(TYPE_STARTS, self.target).and_then(|range| FIELDS.get(range)).unwrap_or_default()
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
    pub fn list(self) -> Option<BuiltinList> {
        (self.shape == Shape::List).then_some(BuiltinList(self.rule))
    }

    /// The default of a field that an element of its list leaves out. Source: the API server gives every port of a built-in type the
    /// protocol TCP; the documents that the table is made from have no defaults.
    pub fn default_of(self, key: &str) -> Option<&'static str> {
        (self.shape == Shape::List && key == "protocol").then_some("TCP")
    }

    /// What a patch does with its value, whether it is a list or not.
    pub fn strategy(self) -> Strategy {
        let [strategy, ..] = *self.rule;
        strategy.into()
    }
}
