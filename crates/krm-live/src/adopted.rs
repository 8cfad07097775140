//! The state of a live object in the form of a file: the applied state with what someone changed since.
//!
//! An applied field gets its live value, or is removed if the live object lacks it. A field that was not applied is taken only if a person
//! set it to a value that is not its default, or that the file contradicts. Defaults, and values that the server and its controllers set,
//! are nobody's change. What nobody set since keeps its applied spelling.

use std::collections::HashMap;

use anyhow::Result;
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, ListKind, Types, builtin, list_kind};
use krm_tree::child::{MergeKey, by_keys, element_key};
use krm_yaml::{Document, NodeRef};
use serde_json::{Map, Value};

use crate::defaults::{Field, is_left_out, paired};
use crate::object::{Object, is_empty, value};
use crate::openapi::Schema;
use crate::owners::{HeldFields, Owners};

/// The annotation of the pods that `kubectl rollout restart` sets. It is an event, and no state.
pub const RESTARTED: &str = "kubectl.kubernetes.io/restartedAt";

/// Fields of `metadata`, and entries of its labels and annotations, that the cluster sets for its own use.
const OF_THE_CLUSTER: [&str; 9] = [
    RESTARTED,
    "finalizers",
    "generateName",
    "ownerReferences",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deployment.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
    "kubernetes.io/metadata.name",
];

/// The three states of an object that adopting compares.
#[derive(Clone, Copy)]
pub struct States<'s> {
    /// As it was applied.
    pub applied: &'s Object,
    /// As the file has it.
    pub file: &'s Object,
    /// As it is in the cluster.
    pub live: &'s Object,
}

/// The applied state, with what someone changed in the live object since.
///
/// # Errors
/// The objects cannot be compared.
pub fn adopted(states: States<'_>, owners: &Owners, types: &Types<'_>, schema: Option<Schema<'_>>) -> Result<Object> {
    let States { applied, file, live } = states;
    let documents = [applied, file, live].map(|object| Document::parse(object.yaml()));
    let [Ok(before), Ok(said), Ok(now)] = &documents else { return Ok(applied.clone()) };
    let [Some(before), said, Some(now)] = [before, said, now].map(|d| d.roots().next()) else {
        return Ok(applied.clone());
    };
    let is_builtin = builtin::root(live.api_version(), live.kind()).is_some();
    let of = Of { kind: live.kind(), is_builtin };
    let cursor = types.root(live.api_version(), live.kind(), Mode::ThreeWay);
    let root = LivePlace { of, parent: "", name: "", live: now, said, cursor, held: owners.root(), schema };
    Ok(Object::live(root.kept(before)?))
}

/// The type of an object.
#[derive(Clone, Copy)]
struct Of<'a> {
    kind: &'a str,
    is_builtin: bool,
}

/// A place in a live object.
struct LivePlace<'a, 'o> {
    of: Of<'a>,
    /// The name of the parent field; for an element of a list, of the parent of the list.
    parent: &'a str,
    /// The name of the field; for an element, of its list.
    name: &'a str,
    live: NodeRef<'a>,
    /// What the file says here.
    said: Option<NodeRef<'a>>,
    cursor: Cursor<'a>,
    held: HeldFields<'o>,
    schema: Option<Schema<'a>>,
}

impl<'a, 'o> LivePlace<'a, 'o> {
    fn field(&self, name: &'a str, live: NodeRef<'a>, applied: Option<NodeRef<'a>>) -> Self {
        let cursor = self.cursor.child(name, [Some(live), applied].into_iter().flatten());
        let held = self.held.field(name);
        let schema = self.schema.and_then(|schema| schema.field(name));
        let said = self.said.and_then(|said| said.get(name));
        Self { of: self.of, parent: self.name, name, live, said, cursor, held, schema }
    }

    /// The elements of this list.
    fn places(&self) -> Result<Vec<Self>> {
        let said = self.said.filter(|said| said.is_list());
        let pairs = match said {
            Some(said) => paired(self.live, said, self.cursor),
            None => self.live.elements().map(|live| (live, None)).collect(),
        };
        let places = pairs.into_iter().map(|(live, said)| {
            let held = self.held.element(&value(live)?);
            Ok(Self { live, said, held, schema: self.schema.and_then(Schema::items), ..*self })
        });
        places.collect()
    }

    /// The value at this place for the file, where a value was applied: the live value, but in the applied spelling if nobody set it since.
    fn kept(&self, applied: NodeRef<'a>) -> Result<Value> {
        if applied.is_map() && self.live.is_map() {
            return self.map(applied);
        }
        if applied.is_list() && self.live.is_list() {
            let keys = self.keys(applied);
            return match self.held.is_as_applied() && keys.is_empty() {
                true => value(applied),
                false if keys.is_empty() => self.values(applied),
                false => self.elements(applied, &keys),
            };
        }
        value(if self.held.is_as_applied() { applied } else { self.live })
    }

    fn map(&self, applied: NodeRef<'a>) -> Result<Value> {
        let mut out = Map::new();
        for (key, before) in applied.entries() {
            let (name, written) = (key.string(), value(before)?);
            let is_dropped = || self.schema.is_some_and(|schema| schema.drops(name));
            let is_left_out = || self.of.is_builtin && is_left_out(self.name, name, &written);
            // The applied null removed the field, so its absence is nobody's change.
            let kept = match self.live.get(name).filter(|live| !live.is_null() && !before.is_null()) {
                Some(live) => self.field(name, live, Some(before)).kept(before)?,
                None if before.is_null() || is_left_out() || is_dropped() => written,
                None => continue,
            };
            out.insert(name.to_owned(), kept);
        }
        let now = value(self.live)?;
        for (key, live) in self.live.entries() {
            let name = key.string();
            if applied.get(name).is_none_or(NodeRef::is_null)
                && let Some(added) = self.field(name, live, None).added(&now)?
            {
                out.insert(name.to_owned(), added);
            }
        }
        Ok(Value::Object(out))
    }

    /// A list with keys: the applied elements that still exist, and the new ones. Each new element comes after the element before it in the
    /// cluster.
    fn elements(&self, applied: NodeRef<'a>, keys: &[MergeKey<'a>]) -> Result<Value> {
        let of_applied = by_keys(applied, keys);
        let places = self.places()?;
        let of_live: HashMap<_, _> =
            places.iter().filter_map(|place| Some((element_key(place.live, keys)?, place))).collect();
        let mut out = Vec::new();
        for before in applied.elements() {
            let Some(key) = element_key(before, keys) else { continue };
            if let Some(place) = of_live.get(&key) {
                out.push((key, place.kept(before)?));
            }
        }
        let mut after = None;
        for place in &places {
            let Some(key) = element_key(place.live, keys) else { continue };
            if of_applied.contains_key(&key) {
                after = out.iter().position(|(other, _)| *other == key);
            } else if let Some(added) = place.added_element()? {
                let at = after.map_or(0, |after| after + 1);
                out.insert(at, (key, added));
                after = Some(at);
            }
        }
        Ok(out.into_iter().map(|(_, element)| element).collect())
    }

    /// A list without keys. An element that still means the same keeps its applied spelling.
    fn values(&self, applied: NodeRef<'a>) -> Result<Value> {
        let mut left: Vec<Option<NodeRef<'a>>> = applied.elements().map(Some).collect();
        let places = self.places()?;
        let mut found: Vec<Option<Value>> = Vec::new();
        for place in &places {
            let mut same = None;
            for before in &mut left {
                let Some(node) = before.filter(|node| node.kind() == place.live.kind()) else { continue };
                let written = value(node)?;
                if place.kept(node)? == written {
                    same = Some(written);
                    *before = None;
                    break;
                }
            }
            found.push(same);
        }
        let is_as_long = left.len() == places.len();
        let mut out = Vec::new();
        for (at, (place, found)) in places.iter().zip(found).enumerate() {
            let before = left.get(at).copied().flatten().filter(|_| is_as_long);
            out.extend(match (found, before) {
                (Some(same), _) => Some(same),
                (None, Some(before)) => Some(place.kept(before)?),
                (None, None) => place.added_element()?,
            });
        }
        Ok(Value::Array(out))
    }

    /// The value at this place that a person set, if no value was applied here. `map` is the map that has this field.
    fn added(&self, map: &Value) -> Result<Option<Value>> {
        let found = value(self.live)?;
        let is_of_the_cluster =
            ["metadata", "annotations", "labels"].contains(&self.parent) && OF_THE_CLUSTER.contains(&self.name);
        let field = Field { kind: self.of.kind, parent: self.parent, name: self.name, map };
        let is_default = self.schema.is_some_and(|schema| schema.defaults_to(&found))
            || (self.of.is_builtin && field.defaults_to(&found));
        // If the file has another value, the default is a change of it: someone scaled to 1.
        let is_default = is_default && self.said.is_none_or(NodeRef::is_null);
        if is_of_the_cluster || is_default || found.is_null() || !self.held.is_someones() {
            return Ok(None);
        }
        self.someones(found)
    }

    /// A new element that a person set. It does not count if the person set only a field in it.
    fn added_element(&self) -> Result<Option<Value>> {
        if self.held.itself_is_someones() { self.someones(value(self.live)?) } else { Ok(None) }
    }

    /// The part of a live value that a person set.
    fn someones(&self, found: Value) -> Result<Option<Value>> {
        if is_empty(&found) || !self.live.is_container() {
            return Ok(Some(found));
        }
        let left = if self.live.is_map() {
            let fields = self.live.entries().map(|(key, live)| {
                let added = self.field(key.string(), live, None).added(&found)?;
                Ok(added.map(|added| (key.string().to_owned(), added)))
            });
            Value::Object(fields.filter_map(Result::transpose).collect::<Result<_>>()?)
        } else {
            let places = self.places()?;
            let elements = places.iter().map(|place| place.added_element());
            Value::Array(elements.filter_map(Result::transpose).collect::<Result<_>>()?)
        };
        Ok(Some(left).filter(|left| !is_empty(left)))
    }

    /// The merge keys of a list; empty if an element lacks one.
    fn keys(&self, applied: NodeRef<'a>) -> Vec<MergeKey<'a>> {
        let lists: [Vec<NodeRef<'a>>; 2] = [self.live, applied].map(|list| list.elements().collect());
        match list_kind(self.cursor, &lists) {
            Ok(ListKind::Map(keys)) if lists.iter().flatten().all(|e| element_key(*e, &keys).is_some()) => keys,
            _ => Vec::new(),
        }
    }
}
