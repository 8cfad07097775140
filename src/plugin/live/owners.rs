//! Who set which fields of a live object, according to its `managedFields`.
//!
//! The server notes for each writer the fields that it set last; defaults of the server count for whoever created the field around them.
//! Source: FieldsV1 of the API: `f:` a field, `k:` the element of a list with these keys, `v:` the element that is this value, `.` the map,
//! list or element itself. A map or list without further entries belongs to the writer as a whole.

use std::fmt;

use krm_merge::path::PathPattern;
use krm_merge::shown;
use krm_merge::yaml::NodeRef;
use serde_json::Value;

use super::object::{self, LAST_APPLIED};

/// The manager under which kubectl applies.
const KUBECTL: &str = "kubectl-client-side-apply";

/// A writer of a live object.
#[derive(Debug, PartialEq)]
pub struct Owner {
    /// Its name.
    pub manager: String,
    /// Whether it owns its fields by server-side apply.
    pub applies: bool,
    /// When it wrote last.
    pub time: Option<String>,
    /// Whether it writes for whoever applies the files.
    pub is_ours: bool,
    fields: Value,
}

/// All writers of a live object.
#[derive(Debug, Default, PartialEq)]
pub struct Owners(Vec<Owner>);

impl Owners {
    /// The writers that a live object names. Ours are the writer that noted what was applied last, kubectl, and the manager under which
    /// this sends.
    pub fn of(live: &Value, manager: &str) -> Self {
        let entries = live["metadata"]["managedFields"].as_array().into_iter().flatten();
        let read = |entry: &Value| {
            let fields = entry.get("fieldsV1").filter(|fields| fields.is_object())?.clone();
            let text = |name: &str| entry[name].as_str().map(str::to_owned);
            let name = text("manager").unwrap_or_default();
            let notes = fields["f:metadata"]["f:annotations"].get(format!("f:{LAST_APPLIED}")).is_some();
            let is_ours = notes || name == KUBECTL || name == manager;
            // On a subresource, a controller writes its own fields.
            let applies = entry["operation"] == "Apply" && text("subresource").is_none_or(|s| s.is_empty());
            Some(Owner { manager: name, applies, time: text("time"), is_ours, fields })
        };
        Self(entries.filter_map(read).collect())
    }

    /// The whole object.
    pub fn root(&self) -> Held<'_> {
        Held { by: self.0.iter().map(|owner| (owner, &owner.fields)).collect(), are_known: !self.0.is_empty() }
    }

    /// Who else set the field at a place of an object, by key, with the time; nothing is known about removed fields.
    pub fn at(&self, place: &str, object: NodeRef<'_>) -> Vec<String> {
        let Ok(pattern) = PathPattern::parse(place) else { return Vec::new() };
        let held = self.root().at(pattern.trail(object));
        held.others().map(ToString::to_string).collect()
    }

    /// What everyone except the applier of this name owns: fields set by an update under that name do not belong to that manager either.
    pub fn but(&self, manager: &str) -> Held<'_> {
        let is_other = |owner: &&Owner| !(owner.applies && owner.manager == manager);
        Held { by: self.0.iter().filter(is_other).map(|owner| (owner, &owner.fields)).collect(), are_known: true }
    }

    /// The server-side applier of this name.
    pub fn applied_under(&self, manager: &str) -> Option<&Owner> {
        self.0.iter().find(|owner| owner.applies && owner.manager == manager)
    }

    /// The server-side applier: the manager under which this sends, or else the only one.
    pub fn applier(&self, manager: &str) -> Option<&Owner> {
        let mut all = self.0.iter().filter(|owner| owner.applies);
        all.clone().find(|owner| owner.manager == manager).or_else(|| all.next().filter(|_| all.next().is_none()))
    }

    /// The same owners, but a manager also writes for whoever applies the files.
    #[must_use]
    pub fn with_ours(mut self, manager: &str) -> Self {
        self.0
            .iter_mut()
            .filter(|owner| owner.applies && owner.manager == manager)
            .for_each(|owner| owner.is_ours = true);
        self
    }
}

impl fmt::Display for Owner {
    /// `"console" at 2026-01-02T03:04:05Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", shown::name(&self.manager))?;
        self.time.as_deref().map_or(Ok(()), |time| write!(f, " at {}", shown::name(time)))
    }
}

impl Owner {
    /// The part of an object that it set, with the keys of elements.
    pub fn part_of(&self, object: &Value) -> Value {
        part(object, &self.fields)
    }
}

/// The part of a value that a set of fields names.
fn part(value: &Value, fields: &Value) -> Value {
    let Some(named) = fields.as_object().filter(|named| !named.is_empty()) else { return value.clone() };
    match value {
        Value::Object(map) => {
            let below = map
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), part(value, named.get(&format!("f:{name}"))?))));
            Value::Object(below.collect())
        }
        Value::Array(list) => {
            let below = list.iter().filter_map(|element| {
                let (name, fields) = named.iter().find(|(name, _)| is_named(element, name))?;
                let mut found = part(element, fields);
                if let (Some(keys), Some(found)) = (keys(name), found.as_object_mut()) {
                    keys.as_object().into_iter().flatten().for_each(|(name, value)| {
                        found.entry(name).or_insert_with(|| value.clone());
                    });
                }
                Some(found)
            });
            Value::Array(below.collect())
        }
        other => other.clone(),
    }
}

/// The keys in the name of an element.
fn keys(name: &str) -> Option<Value> {
    serde_json::from_str(name.strip_prefix("k:")?).ok()
}

/// Whether a name in a set of fields means this element.
fn is_named(element: &Value, name: &str) -> bool {
    let value = || serde_json::from_str::<Value>(name.strip_prefix("v:")?).ok();
    match keys(name) {
        Some(keys) => keys.as_object().is_some_and(|keys| keys.iter().all(|(n, v)| element.get(n) == Some(v))),
        None => value().is_some_and(|value| value == *element),
    }
}

/// What each writer set at a place.
#[derive(Clone, Debug)]
pub struct Held<'o> {
    by: Vec<(&'o Owner, &'o Value)>,
    /// Whether the server says anything about writers. If it does not, someone may have told it to forget them.
    are_known: bool,
}

impl<'o> Held<'o> {
    /// A field of a map.
    pub fn field(&self, name: &str) -> Self {
        let name = format!("f:{name}");
        self.below(|fields| fields.get(&name))
    }

    /// An element of a list.
    pub fn element(&self, element: &Value) -> Self {
        self.below(|fields| {
            fields.as_object()?.iter().find(|(name, _)| is_named(element, name)).map(|(_, below)| below)
        })
    }

    /// A field of a map in which each field has its own owner: the owner of the map does not own it.
    pub fn own_field(&self, name: &str) -> Self {
        let name = format!("f:{name}");
        self.below_named(|fields| fields.get(&name))
    }

    /// An element of a list in which each element has its own owner.
    pub fn own_element(&self, element: &Value) -> Self {
        self.below_named(|fields| {
            fields.as_object()?.iter().find(|(name, _)| is_named(element, name)).map(|(_, below)| below)
        })
    }

    fn below_named(&self, find: impl Fn(&'o Value) -> Option<&'o Value>) -> Self {
        let by = self.by.iter().filter_map(|(owner, fields)| Some((*owner, find(fields)?))).collect();
        Self { by, ..self.clone() }
    }

    /// A place by its steps from here: each node, with its name if it is a field.
    fn at<'n>(&self, trail: impl IntoIterator<Item = (Option<String>, NodeRef<'n>)>) -> Self {
        trail.into_iter().fold(self.clone(), |held, (name, node)| match name {
            Some(name) => held.field(&name),
            None => held.element(&object::value(node).unwrap_or_default()),
        })
    }

    fn below(&self, find: impl Fn(&'o Value) -> Option<&'o Value>) -> Self {
        let is_whole = |fields: &Value| fields.as_object().is_none_or(serde_json::Map::is_empty);
        let below = |(owner, fields): &(&'o Owner, &'o Value)| {
            Some((*owner, if is_whole(fields) { *fields } else { find(fields)? }))
        };
        Self { by: self.by.iter().filter_map(below).collect(), ..self.clone() }
    }

    /// The owners of this value itself, not only of something in it.
    pub fn owners_of_this(&self) -> impl Iterator<Item = &'o Owner> {
        let owns = |fields: &Value| fields.as_object().is_none_or(|named| named.is_empty() || named.contains_key("."));
        self.by.iter().filter(move |(_, fields)| owns(fields)).map(|(owner, _)| *owner)
    }

    /// The other writers that set something here or below.
    pub fn others(&self) -> impl Iterator<Item = &'o Owner> {
        self.by.iter().map(|(owner, _)| *owner).filter(|owner| !owner.is_ours)
    }

    /// Whether only we set anything here or below: then the rest comes from the server.
    pub fn is_ours(&self) -> bool {
        self.are_known && self.others().next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_someone_else_set_is_told_from_what_the_server_set() {
        let entry =
            |manager: &str, fields: Value| json!({"manager": manager, "operation": "Update", "fieldsV1": fields});
        let live = json!({"metadata": {"managedFields": [
            entry("ci", json!({"f:metadata": {"f:annotations": {format!("f:{LAST_APPLIED}"): {}}}, "f:spec": {"f:size": {}}})),
            entry("console", json!({"f:spec": {
                "f:selector": {}, "f:replicas": {}, "f:parts": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {"f:note": {}}},
                "f:tags": {"v:\"x\"": {}},
            }})),
            {"manager": "says-nothing", "operation": "Update"},
        ]}});
        let owners = Owners::of(&live, "krm-merge");
        let spec = owners.root().field("spec");
        let part = spec.field("parts").element(&json!({"port": 80, "protocol": "TCP", "size": 1}));
        let of = |held: &Held<'_>| held.others().map(|o| o.manager.clone()).collect::<Vec<_>>();
        for (held, want) in [
            (spec.field("size"), vec![]),
            (spec.field("unset"), vec![]),
            (spec.field("replicas"), vec!["console"]),
            // The manager owns all of it, because no entries are listed inside.
            (spec.field("selector").field("app"), vec!["console"]),
            (part.clone(), vec!["console"]),
            (part.field("note"), vec!["console"]),
            (part.field("size"), vec![]),
            (spec.field("parts").element(&json!({"port": 80, "protocol": "UDP"})), vec![]),
            (spec.field("tags").element(&json!("x")), vec!["console"]),
            (spec.field("tags").element(&json!("y")), vec![]),
        ] {
            assert_eq!(of(&held), want);
        }
        let unknown = Owners::of(&json!({"metadata": {"managedFields": [{"manager": "a"}]}}), "b");
        assert!(!unknown.root().field("spec").is_ours(), "nobody knows");
    }

    #[test]
    fn what_a_manager_applied_is_its_part_of_the_object() {
        let fields = json!({
            "f:metadata": {"f:labels": {"f:a": {}}},
            "f:spec": {"f:selector": {}, "f:parts": {"k:{\"port\":80}": {".": {}, "f:size": {}}}, "f:tags": {"v:\"x\"": {}}},
        });
        let live = json!({
            "metadata": {"name": "n", "labels": {"a": "1", "b": "2"}, "managedFields": [
                {"manager": "flux", "operation": "Apply", "fieldsV1": fields}, {"manager": "a", "operation": "Update", "fieldsV1": {}},
            ]},
            "spec": {"selector": {"c": "d"}, "parts": [{"port": 80, "size": 1, "mode": 2}, {"port": 81}], "tags": ["w", "x"], "other": 1},
        });
        let owners = Owners::of(&live, "krm-merge");
        let want = json!({
            "metadata": {"labels": {"a": "1"}},
            "spec": {"selector": {"c": "d"}, "parts": [{"size": 1, "port": 80}], "tags": ["x"]},
        });
        assert_eq!(owners.applier("krm-merge").expect("one").part_of(&live), want);
    }
}
