//! The owners of the fields of a live object: who set which field, according to its `managedFields`.
//!
//! The server notes for each manager the fields that it set last. A default of the server counts for the manager that created the field
//! around it. Source: FieldsV1 of the API. `f:` is a field, `k:` is the element of a list with these keys, `v:` is the element with this
//! value, and `.` is the map, list or element itself. A map or list without further entries belongs to the manager as a whole.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::iter::Sum;

use krm_tree::path::PathPattern;
use krm_yaml::{NodeRef, shown};
use serde_json::{Value, json};

use crate::object::{self, LAST_APPLIED, Object, is_empty};
use crate::openapi::Schema;

/// The name of the manager with which kubectl applies.
const KUBECTL: &str = "kubectl-client-side-apply";

/// The names of the managers of Kubernetes' own controllers. Names that begin with `kube-` count, too.
const OF_THE_CLUSTER: [&str; 3] = ["cloud-controller-manager", "endpoint-controller", "kubelet"];

/// A manager that set fields of a live object.
#[derive(Debug, PartialEq)]
pub struct Owner {
    /// Its name.
    pub manager: String,
    /// Whether it set its fields by server-side apply.
    pub applies: bool,
    /// The time of its last change.
    pub time: Option<String>,
    /// Whether it acts for the user who applies the files.
    pub is_ours: bool,
    /// Whether it wrote kubectl's note.
    notes: bool,
    /// Whether it set its fields before kubectl's note was written. What was applied with the note was applied over them.
    is_before_note: bool,
    fields: Fields,
}

/// All managers that set fields of a live object.
#[derive(Debug, Default, PartialEq)]
pub struct Owners(Vec<Owner>);

impl Owners {
    /// The managers that a live object names, or its handover. These count as ours: the manager that wrote kubectl's note, kubectl itself,
    /// and the manager with which this program sends.
    pub fn of(live: &Value, handover: Option<&Value>, manager: &str) -> Self {
        let entries = handover.unwrap_or(&live["metadata"]["managedFields"]).as_array().into_iter().flatten();
        let read = |entry: &Value| {
            // The status is no part of what is compared.
            let is_of_object =
                |fields: &&Value| fields.as_object().is_some_and(|all| all.keys().any(|name| name != "f:status"));
            let fields = entry.get("fieldsV1").filter(is_of_object)?;
            let text = |name: &str| entry[name].as_str().map(str::to_owned);
            let name = text("manager").unwrap_or_default();
            let notes = fields["f:metadata"]["f:annotations"].get(format!("f:{LAST_APPLIED}")).is_some();
            let is_ours = notes || name == KUBECTL || name == manager;
            // A write to a subresource, such as `status`, does not apply the files.
            let applies = entry["operation"] == "Apply" && text("subresource").is_none_or(|s| s.is_empty());
            let (time, fields) = (text("time"), Fields::of(fields));
            Some(Owner { manager: name, applies, time, is_ours, notes, is_before_note: false, fields })
        };
        let mut all = Self(entries.filter_map(read).collect());
        let noted = all.noted().map(str::to_owned);
        all.0.iter_mut().for_each(|owner| owner.is_before_note = owner.time.is_some() && owner.time < noted);
        all
    }

    /// When kubectl's note was written.
    fn noted(&self) -> Option<&str> {
        self.0.iter().filter(|owner| owner.notes).filter_map(|owner| owner.time.as_deref()).max()
    }

    /// The whole object.
    pub fn root(&self) -> HeldFields<'_> {
        HeldFields { by: self.0.iter().map(|owner| (owner, &owner.fields)).collect(), are_known: !self.0.is_empty() }
    }

    /// The other managers that set the field at a place of an object, by key, each with the time. About removed fields, the server keeps
    /// nothing.
    pub fn at(&self, place: &str, object: NodeRef<'_>) -> Vec<String> {
        let Ok(pattern) = PathPattern::parse(place) else { return Vec::new() };
        let held = self.root().at(pattern.trail(object));
        held.others().map(ToString::to_string).collect()
    }

    /// The manager with this name, with the time of its last change, for people.
    pub fn named(&self, manager: &str) -> String {
        let all = self.0.iter().filter(|owner| owner.manager == manager);
        let last = all.max_by(|a, b| a.time.cmp(&b.time));
        last.map_or_else(|| format!("\"{}\"", shown::name(manager)), ToString::to_string)
    }

    /// The manager with this name that used server-side apply.
    pub fn applied_under(&self, manager: &str) -> Option<&Owner> {
        self.0.iter().find(|owner| owner.applies && owner.manager == manager)
    }

    /// The manager that used server-side apply for a resource: the one with which this program sends, or else the only one that owns at least
    /// half of the fields that the resource names. Others do not count, because controllers apply single fields.
    pub fn applier(&self, resource: &Object, manager: &str) -> Option<&Owner> {
        let named = object::ownable(resource.clone().into_json());
        let mut of_half = self.0.iter().filter(|owner| owner.applies && owner.fields.covers_half(&named));
        let own = self.applied_under(manager);
        own.or_else(|| of_half.next().filter(|_| of_half.next().is_none()))
    }

    /// The manager that used server-side apply after kubectl's note was written; `None` also if nobody knows which of them is newer.
    pub fn applier_after(&self, noted: &Object, manager: &str) -> Option<&Owner> {
        let written = self.noted()?;
        let is_after = |applier: &&Owner| applier.time.as_deref().is_some_and(|time| time > written);
        self.applier(noted, manager).filter(is_after)
    }

    /// The owners, with this manager counted as ours, too.
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
    /// Whether it is a part of Kubernetes itself, so not a person.
    pub fn is_of_the_cluster(&self) -> bool {
        OF_THE_CLUSTER.contains(&self.manager.as_str()) || self.manager.starts_with("kube-")
    }

    /// The part of an object that the manager set. Elements of lists keep their keys.
    pub fn part_of(&self, object: &Value, schema: Option<Schema<'_>>) -> Value {
        self.fields.part_of(object, schema)
    }

    /// Whether the manager owns everything that is applied, also what the server does not keep.
    pub fn owns(&self, applied: &Value, schema: Option<Schema<'_>>) -> bool {
        let covered = Fields::covered(Some(&self.fields), applied, schema);
        covered.owned == covered.all
    }
}

/// The fields that a manager set in the elements of a list, by the values of the keys.
type ByKeys = BTreeMap<Vec<String>, Fields>;

/// The fields that a manager set in a value.
#[derive(Debug, Default, PartialEq)]
struct Fields {
    /// Whether the manager owns the whole value, because no fields inside are named.
    is_whole: bool,
    /// Whether the manager owns the map, list or element itself.
    is_itself: bool,
    fields: HashMap<String, Fields>,
    /// The elements of a list with keys: by the names of the keys, and then by the values of the keys.
    elements: Vec<(Vec<String>, ByKeys)>,
    /// The elements of a list of scalars, by value.
    values: HashMap<String, Fields>,
}

impl Fields {
    /// Reads FieldsV1. Parts that cannot be read are left out.
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
                            all.elements.push((names, ByKeys::new()));
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

    /// The fields that are set in an element of a list, and the names of the keys that identify the element. A key that it lacks has its
    /// default.
    fn element(&self, element: &Value) -> Option<(&[String], &Self)> {
        let by_keys = self.elements.iter().find_map(|(names, all)| {
            let of_element: Vec<Option<String>> =
                names.iter().map(|name| element.get(name).map(Value::to_string)).collect();
            if let Some(values) = of_element.iter().cloned().collect::<Option<Vec<String>>>() {
                return Some((&names[..], all.get(&values)?));
            }
            let fits = |values: &[String]| {
                of_element.iter().any(Option::is_some)
                    && of_element.iter().zip(values).all(|(own, value)| own.as_ref().is_none_or(|own| own == value))
            };
            // Elements with the same first keys are neighbours, so the others are not looked at.
            let first: Vec<String> = of_element.iter().map_while(Clone::clone).collect();
            let mut near = all.range(first.clone()..).take_while(|(values, _)| values.starts_with(&first));
            near.find(|(values, _)| fits(values)).map(|(_, fields)| (&names[..], fields))
        });
        by_keys.or_else(|| Some((&[][..], self.values.get(&element.to_string())?)))
    }

    /// The part of a value that these fields cover.
    fn part_of(&self, value: &Value, schema: Option<Schema<'_>>) -> Value {
        let field = |name: &str| schema.and_then(|schema| schema.field(name));
        match value {
            // A map or list whose entries have owners of their own was applied empty. What is in it came later.
            Value::Object(_) if self.is_whole && schema.is_some_and(Schema::has_entries) => json!({}),
            Value::Array(_) if self.is_whole && schema.is_some_and(Schema::has_entries) => json!([]),
            _ if self.is_whole => value.clone(),
            Value::Object(map) => {
                let below = map.iter().filter_map(|(name, value)| {
                    Some((name.clone(), self.fields.get(name)?.part_of(value, field(name))))
                });
                Value::Object(below.collect())
            }
            Value::Array(list) => {
                let below = list.iter().filter_map(|element| {
                    let (keys, fields) = self.element(element)?;
                    let mut found = fields.part_of(element, schema.and_then(Schema::items));
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

    fn covers_half(&self, resource: &Value) -> bool {
        let covered = Self::covered(Some(self), resource, None);
        2 * covered.owned >= covered.all
    }

    /// How much of an applied value some fields cover. A list counts as one value if they cover nothing of it. A null need not be covered, because
    /// the server keeps no field for it.
    fn covered(fields: Option<&Self>, applied: &Value, schema: Option<Schema<'_>>) -> Covered {
        let inside: Covered = match applied {
            Value::Null => return Covered::default(),
            applied if fields.is_some_and(|fields| fields.is_whole) => {
                let is_owned = is_empty(applied) || !schema.is_some_and(Schema::has_entries);
                let all = Self::covered(None, applied, None).all;
                return Covered { owned: if is_owned { all } else { 0 }, all };
            }
            Value::Object(map) => {
                let of_field = |(name, value): (&String, &Value)| {
                    let below = fields.and_then(|fields| fields.fields.get(name));
                    Self::covered(below, value, schema.and_then(|schema| schema.field(name)))
                };
                map.iter().map(of_field).sum()
            }
            Value::Array(list) => {
                let of_element = |fields: &Self, element: &Value| {
                    let known = schema.map_or_else(|| element.clone(), |schema| schema.with_keys(element));
                    let below = fields.element(&known).map(|(_, below)| below);
                    Self::covered(below, element, schema.and_then(Schema::items))
                };
                fields.into_iter().flat_map(|fields| list.iter().map(|element| of_element(fields, element))).sum()
            }
            _ => Covered::default(),
        };
        match inside.all {
            0 => Covered { owned: usize::from(fields.is_some()), all: 1 },
            _ => inside,
        }
    }
}

/// How many values there are, and how many of them a manager owns.
#[derive(Default)]
struct Covered {
    owned: usize,
    all: usize,
}

impl Sum for Covered {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |a, b| Self { owned: a.owned + b.owned, all: a.all + b.all })
    }
}

/// The fields that each manager set at a place.
#[derive(Clone, Debug)]
pub struct HeldFields<'o> {
    by: Vec<(&'o Owner, &'o Fields)>,
    /// Whether the server notes any managers. If it does not, someone may have removed `managedFields`.
    are_known: bool,
}

impl<'o> HeldFields<'o> {
    /// The owners of a field of a map. The owner of a whole map owns its fields.
    pub fn field(&self, name: &str) -> Self {
        self.below(|fields| if fields.is_whole { Some(fields) } else { fields.fields.get(name) })
    }

    /// The owners of an element of a list. The owner of a whole list owns its elements.
    pub fn element(&self, element: &Value) -> Self {
        self.below(|fields| if fields.is_whole { Some(fields) } else { Some(fields.element(element)?.1) })
    }

    fn below(&self, find: impl Fn(&'o Fields) -> Option<&'o Fields>) -> Self {
        let by = self.by.iter().filter_map(|(owner, fields)| Some((*owner, find(fields)?))).collect();
        Self { by, ..self.clone() }
    }

    /// The owners of a place. `trail` leads there: it has each node on the way, with its name if it is a field.
    fn at<'n>(&self, trail: impl IntoIterator<Item = (Option<String>, NodeRef<'n>)>) -> Self {
        trail.into_iter().fold(self.clone(), |held, (name, node)| match name {
            Some(name) => held.field(&name),
            None => held.element(&object::value(node).unwrap_or_default()),
        })
    }

    /// The managers that own this value itself. Managers that own only a part of it do not count.
    pub fn owners_of_this(&self) -> impl Iterator<Item = &'o Owner> {
        self.by.iter().filter(|(_, fields)| fields.is_whole || fields.is_itself).map(|(owner, _)| *owner)
    }

    /// The managers, other than ours, that set this value or a part of it.
    pub fn others(&self) -> impl Iterator<Item = &'o Owner> {
        self.by.iter().map(|(owner, _)| *owner).filter(|owner| !owner.is_ours)
    }

    /// Whether a manager that is neither ours nor a part of Kubernetes set this value or a part of it.
    pub fn is_someones(&self) -> bool {
        self.others().any(|owner| !owner.is_of_the_cluster())
    }

    /// Whether a manager that is neither ours nor a part of Kubernetes set this value itself.
    pub fn itself_is_someones(&self) -> bool {
        self.owners_of_this().any(|owner| !owner.is_ours && !owner.is_of_the_cluster())
    }

    /// Whether no manager but ours set anything here since kubectl's note was written. Then the server made what is here of what was applied:
    /// a quantity in its shortest form, a time in UTC, the defaults in a list.
    pub fn is_as_applied(&self) -> bool {
        self.are_known && self.others().all(|owner| owner.is_before_note)
    }

    /// Whether no manager but ours set anything here. Then the server set what we did not apply.
    pub fn is_ours(&self) -> bool {
        self.are_known && self.others().next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            {"manager": "says-nothing", "operation": "Update"}, entry("kubelet", json!({"f:status": {}})),
        ]}});
        let owners = Owners::of(&live, None, "krm-merge");
        let spec = owners.root().field("spec");
        let part = spec.field("parts").element(&json!({"port": 80, "protocol": "TCP", "size": 1}));
        let of = |held: &HeldFields<'_>| held.others().map(|o| o.manager.clone()).collect::<Vec<_>>();
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
        let unknown = Owners::of(&json!({"metadata": {"managedFields": [{"manager": "a"}]}}), None, "b");
        assert!(!unknown.root().field("spec").is_ours(), "nobody knows");
    }

    #[test]
    fn the_newer_one_of_a_note_and_an_applier_counts() {
        let entry = |manager: &str, operation: &str, day: u8, fields: Value| json!({"manager": manager, "operation": operation, "time": format!("2026-01-0{day}T00:00:00Z"), "fieldsV1": fields});
        let noted = Object::live(
            json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "annotations": {}}, "data": {"a": 1, "b": 2}}),
        );
        let note = json!({"f:metadata": {"f:annotations": {format!("f:{LAST_APPLIED}"): {}}}, "f:data": {"f:a": {}, "f:b": {}}});
        let [all, one] = [json!({"f:data": {"f:a": {}, "f:c": {}}}), json!({"f:data": {"f:c": {}}})];
        for (entries, want) in [
            (json!([entry("kubectl", "Update", 1, note.clone()), entry("me", "Apply", 2, one.clone())]), Some("me")),
            (json!([entry("kubectl", "Update", 2, note.clone()), entry("me", "Apply", 1, all.clone())]), None),
            (json!([entry("kubectl", "Update", 2, note.clone()), entry("me", "Apply", 2, all.clone())]), None),
            (
                json!([entry("kubectl", "Update", 1, note.clone()), entry("flux", "Apply", 2, all.clone())]),
                Some("flux"),
            ),
            // A controller applies a field of its own.
            (json!([entry("kubectl", "Update", 1, note.clone()), entry("injector", "Apply", 2, one)]), None),
            (
                json!([
                    entry("kubectl", "Update", 1, note),
                    entry("a", "Apply", 2, all.clone()),
                    entry("b", "Apply", 2, all.clone())
                ]),
                None,
            ),
            // Nobody knows when the note was written.
            (json!([entry("me", "Apply", 2, all)]), None),
        ] {
            let live = json!({"metadata": {"name": "n", "managedFields": entries}, "data": {"a": 1, "b": 2, "c": 3}});
            let owners = Owners::of(&live, None, "me");
            let found = owners.applier_after(&noted, "me").map(|owner| owner.manager.as_str());
            assert_eq!(found, want, "{live}");
        }
    }

    #[test]
    fn only_one_manager_that_applied_half_of_it_is_the_applier() {
        let file = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n"}, "hooks": [{"name": "a", "port": 1, "rules": [1, 2], "to": {"service": "s"}}], "ports": [{"port": 80, "x": 1}]});
        let applied =
            |manager: &str, fields: Value| json!({"manager": manager, "operation": "Apply", "fieldsV1": fields});
        let bundle = applied(
            "injector",
            json!({"f:hooks": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:to": {"f:bundle": {}}}}}),
        );
        // The server names the key that the files leave out.
        let flux = applied(
            "flux",
            json!({
                "f:hooks": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:port": {}}},
                "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:x": {}}},
            }),
        );
        let whole = applied("whole", json!({"f:hooks": {}, "f:ports": {}}));
        for (entries, want) in [
            (json!([bundle]), None),
            (json!([bundle, flux]), Some("flux")),
            (json!([whole, bundle]), Some("whole")),
            (json!([flux, whole]), None),
            (json!([flux, whole, applied("me", json!({"f:x": {}}))]), Some("me")),
        ] {
            let owners = Owners::of(&json!({"metadata": {"managedFields": entries}}), None, "me");
            assert_eq!(
                owners.applier(&Object::live(file.clone()), "me").map(|owner| owner.manager.as_str()),
                want,
                "{entries}"
            );
        }
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
        let owners = Owners::of(&live, None, "krm-merge");
        let want = json!({
            "metadata": {"labels": {"a": "1"}},
            "spec": {"selector": {"c": "d"}, "parts": [{"size": 1, "port": 80}], "tags": ["x"]},
        });
        assert_eq!(owners.applier(&Object::live(want.clone()), "krm-merge").expect("one").part_of(&live, None), want);
    }
}
