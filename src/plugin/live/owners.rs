//! Who set which fields of a live object, according to its `managedFields`.
//!
//! The server notes for each writer the fields that it set last; defaults of the server count for whoever created the field around them.
//! Source: FieldsV1 of the API: `f:` a field, `k:` the element of a list with these keys, `v:` the element that is this value, `.` the map,
//! list or element itself. A map or list without further entries belongs to the writer as a whole.

use std::collections::HashMap;
use std::fmt;

use krm_merge::path::PathPattern;
use krm_merge::shown;
use krm_merge::yaml::NodeRef;
use serde_json::Value;

use super::object::{self, LAST_APPLIED};

/// The manager under which kubectl applies.
const KUBECTL: &str = "kubectl-client-side-apply";

/// The managers of Kubernetes' own controllers, besides those that begin with `kube-`.
const OF_THE_CLUSTER: [&str; 3] = ["cloud-controller-manager", "endpoint-controller", "kubelet"];

/// A writer of a live object.
#[derive(Debug, PartialEq)]
pub struct Owner {
    /// Its name.
    pub manager: String,
    /// Whether it owns its fields by server-side apply.
    pub applies: bool,
    /// When it wrote last.
    pub time: Option<String>,
    /// Whether it writes for the user who applies the files.
    pub is_ours: bool,
    fields: Fields,
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
            let fields = entry.get("fieldsV1").filter(|fields| fields.is_object())?;
            let text = |name: &str| entry[name].as_str().map(str::to_owned);
            let name = text("manager").unwrap_or_default();
            let notes = fields["f:metadata"]["f:annotations"].get(format!("f:{LAST_APPLIED}")).is_some();
            let is_ours = notes || name == KUBECTL || name == manager;
            // On a subresource, a controller writes its own fields.
            let applies = entry["operation"] == "Apply" && text("subresource").is_none_or(|s| s.is_empty());
            Some(Owner { manager: name, applies, time: text("time"), is_ours, fields: Fields::of(fields) })
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

    /// The same owners, but this manager also writes for the user who applies the files.
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
    /// Whether it is a part of Kubernetes itself, which no person is.
    pub fn is_of_the_cluster(&self) -> bool {
        OF_THE_CLUSTER.contains(&self.manager.as_str()) || self.manager.starts_with("kube-")
    }

    /// The part of an object that it set, with the keys of elements.
    pub fn part_of(&self, object: &Value) -> Value {
        self.fields.part_of(object)
    }
}

/// What a writer set in the elements of a list, by the values of their keys.
type ByKeys = HashMap<Vec<String>, Fields>;

/// What a writer set in a value.
#[derive(Debug, Default, PartialEq)]
struct Fields {
    /// Whether it set all of the value: nothing inside is named.
    is_whole: bool,
    /// Whether it set the map, list or element itself.
    is_itself: bool,
    fields: HashMap<String, Fields>,
    /// The elements of a list with keys: by the names of their keys, and then by the values of these.
    elements: Vec<(Vec<String>, ByKeys)>,
    /// The elements that are these values.
    values: HashMap<String, Fields>,
}

impl Fields {
    /// Reads FieldsV1. Parts that cannot be read name nothing.
    fn of(named: &Value) -> Self {
        let Some(entries) = named.as_object().filter(|entries| !entries.is_empty()) else {
            return Self { is_whole: true, ..Self::default() };
        };
        let mut all = Self::default();
        for (name, below) in entries {
            let parsed = |json: &str| serde_json::from_str::<Value>(json).ok();
            match name.split_at_checked(2) {
                Some(("f:", field)) => _ = all.fields.insert(field.to_owned(), Self::of(below)),
                Some(("k:", keys)) => {
                    if let Some(Value::Object(keys)) = parsed(keys) {
                        let names: Vec<String> = keys.keys().cloned().collect();
                        let values = keys.values().map(Value::to_string).collect();
                        let of_names = all.elements.iter().position(|(other, _)| *other == names);
                        let at = of_names.unwrap_or_else(|| {
                            all.elements.push((names, HashMap::new()));
                            all.elements.len() - 1
                        });
                        all.elements[at].1.insert(values, Self::of(below));
                    }
                }
                Some(("v:", value)) => {
                    all.values.extend(parsed(value).map(|value| (value.to_string(), Self::of(below))));
                }
                _ => all.is_itself |= name == ".",
            }
        }
        all
    }

    /// What is set in an element of a list, and the names of the keys by which it is named.
    fn element(&self, element: &Value) -> Option<(&[String], &Self)> {
        let by_keys = self.elements.iter().find_map(|(names, all)| {
            let values: Option<Vec<String>> =
                names.iter().map(|name| element.get(name).map(Value::to_string)).collect();
            Some((&names[..], all.get(&values?)?))
        });
        by_keys.or_else(|| Some((&[][..], self.values.get(&element.to_string())?)))
    }

    /// The part of a value that is set here.
    fn part_of(&self, value: &Value) -> Value {
        match value {
            _ if self.is_whole => value.clone(),
            Value::Object(map) => {
                let below =
                    map.iter().filter_map(|(name, value)| Some((name.clone(), self.fields.get(name)?.part_of(value))));
                Value::Object(below.collect())
            }
            Value::Array(list) => {
                let below = list.iter().filter_map(|element| {
                    let (keys, fields) = self.element(element)?;
                    let mut found = fields.part_of(element);
                    if let Some(found) = found.as_object_mut() {
                        let keys = keys.iter().filter_map(|name| Some((name, element.get(name)?)));
                        keys.for_each(|(name, value)| _ = found.entry(name).or_insert_with(|| value.clone()));
                    }
                    Some(found)
                });
                Value::Array(below.collect())
            }
            other => other.clone(),
        }
    }
}

/// What each writer set at a place.
#[derive(Clone, Debug)]
pub struct Held<'o> {
    by: Vec<(&'o Owner, &'o Fields)>,
    /// Whether the server says anything about writers. If it does not, someone may have told it to forget them.
    are_known: bool,
}

impl<'o> Held<'o> {
    /// A field of a map. The owner of a whole map owns its fields.
    pub fn field(&self, name: &str) -> Self {
        self.below(|fields| if fields.is_whole { Some(fields) } else { fields.fields.get(name) })
    }

    /// An element of a list. The owner of a whole list owns its elements.
    pub fn element(&self, element: &Value) -> Self {
        self.below(|fields| if fields.is_whole { Some(fields) } else { Some(fields.element(element)?.1) })
    }

    /// A field of a map in which each field has its own owner: the owner of the map does not own it.
    pub fn own_field(&self, name: &str) -> Self {
        self.below(|fields| fields.fields.get(name))
    }

    /// An element of a list in which each element has its own owner.
    pub fn own_element(&self, element: &Value) -> Self {
        self.below(|fields| Some(fields.element(element)?.1))
    }

    fn below(&self, find: impl Fn(&'o Fields) -> Option<&'o Fields>) -> Self {
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

    /// The owners of this value itself, not only of something in it.
    pub fn owners_of_this(&self) -> impl Iterator<Item = &'o Owner> {
        self.by.iter().filter(|(_, fields)| fields.is_whole || fields.is_itself).map(|(owner, _)| *owner)
    }

    /// The other writers that set something here or below.
    pub fn others(&self) -> impl Iterator<Item = &'o Owner> {
        self.by.iter().map(|(owner, _)| *owner).filter(|owner| !owner.is_ours)
    }

    /// Whether someone else set something here or below, and no part of the cluster itself did so.
    pub fn is_someones(&self) -> bool {
        self.others().any(|owner| !owner.is_of_the_cluster())
    }

    /// Whether someone else set this value itself, and no part of the cluster itself did so.
    pub fn itself_is_someones(&self) -> bool {
        self.owners_of_this().any(|owner| !owner.is_ours && !owner.is_of_the_cluster())
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
