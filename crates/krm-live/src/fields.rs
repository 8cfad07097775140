//! Finds the fields of an apply patch that the server will refuse, before the patch is sent, and the owner of each.
//!
//! The server refuses a field whose value differs from the live value if another manager owns it, whichever operation that manager used.
//! Only the OpenAPI schema of the type says how lists and maps are split into fields. Source: structured-merge-diff, `Updater.Apply`.

use serde_json::{Map, Value};

use crate::openapi::Schema;
use crate::owners::{HeldFields, Owner};

/// Fields that nobody owns, because the server leaves them out. Source: `stripMeta` of k8s.io/apimachinery/pkg/util/managedfields.
const IDENTITY: [&str; 6] =
    ["apiVersion", "kind", "status", "metadata.name", "metadata.namespace", "metadata.creationTimestamp"];

/// A field that the server will refuse.
#[derive(Debug, PartialEq)]
pub struct Refusal<'o> {
    /// The place, as the server writes it: `.spec.containers[name="a"].image`.
    pub place: String,
    /// The manager that owns it.
    pub owner: &'o Owner,
}

/// The fields of a patch that the server will refuse. `others` has the owners except the manager that sends the patch.
pub fn refused<'o>(
    sent: &Value,
    live: &Value,
    schema: Option<Schema<'_>>,
    others: &HeldFields<'o>,
) -> Vec<Refusal<'o>> {
    let mut walk = Walk { place: String::new(), refused: Vec::new() };
    walk.node(sent, Some(live), schema, others);
    walk.refused
}

struct Walk<'o> {
    place: String,
    refused: Vec<Refusal<'o>>,
}

impl<'o> Walk<'o> {
    fn node(&mut self, sent: &Value, live: Option<&Value>, schema: Option<Schema<'_>>, others: &HeldFields<'o>) {
        match sent {
            Value::Object(map) if !map.is_empty() && !schema.is_some_and(Schema::is_atomic) => {
                self.added(live, others);
                for (name, value) in map {
                    let before = self.place.len();
                    self.place.push_str(&format!(".{name}"));
                    if !IDENTITY.contains(&self.place.trim_start_matches('.')) {
                        let live = live.and_then(|live| live.get(name));
                        self.node(value, live, schema.and_then(|s| s.field(name)), &others.own_field(name));
                    }
                    self.place.truncate(before);
                }
            }
            Value::Array(list) if schema.is_some_and(|s| s.keys().is_some()) => {
                self.added(live, others);
                let keys = schema.and_then(Schema::keys).unwrap_or_default();
                let items = schema.and_then(Schema::items);
                for element in list {
                    // If an element lacks a key with a default, the default identifies it.
                    let known = schema.map_or_else(|| element.clone(), |schema| schema.with_keys(element));
                    let (name, key) = key_of(&known, &keys);
                    let is_it = |other: &&Value| key.iter().all(|(name, value)| other.get(name) == Some(value));
                    let live = live.and_then(Value::as_array).and_then(|list| list.iter().find(is_it));
                    let before = self.place.len();
                    self.place.push_str(&name);
                    self.node(element, live, items, &others.own_element(&known));
                    self.place.truncate(before);
                }
            }
            // Each value has its own owner, so adding one takes nothing over.
            Value::Array(_) if schema.is_some_and(Schema::is_set) => self.added(live, others),
            _ if live.is_some_and(|live| is_one(live, sent)) => {}
            // An empty map sets no entries and removes none, so there is nothing to refuse. This also holds for a null in the place of a
            // map or list.
            Value::Null if schema.is_some_and(Schema::has_entries) => {}
            Value::Object(map)
                if map.is_empty() && live.is_some_and(Value::is_object) && !schema.is_some_and(Schema::is_atomic) => {}
            _ => self.refuse(others),
        }
    }

    /// A map or list of which the live object has nothing. Who applied it empty owns it, although the server does not keep it.
    fn added(&mut self, live: Option<&Value>, others: &HeldFields<'o>) {
        if live.is_none_or(Value::is_null) {
            self.refuse(others);
        }
    }

    fn refuse(&mut self, others: &HeldFields<'o>) {
        self.refused.extend(others.owners_of_this().map(|owner| Refusal { place: self.place.clone(), owner }));
    }
}

/// Whether two values are one to the server, which compares numbers by their value. Source: `EqualsUsing` of structured-merge-diff.
fn is_one(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => a.as_f64() == b.as_f64(),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| is_one(a, b)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_one(a, b)),
        _ => a == b,
    }
}

/// The name of an element in the server's form, and the values of its keys.
fn key_of(element: &Value, keys: &[(String, Value)]) -> (String, Map<String, Value>) {
    let value = |(name, _): &(String, Value)| Some((name.clone(), element.get(name).filter(|v| !v.is_null())?.clone()));
    let mut key: Vec<(String, Value)> = keys.iter().filter_map(value).collect();
    key.sort_by(|a, b| a.0.cmp(&b.0));
    let parts: Vec<String> = key.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (format!("[{}]", parts.join(",")), key.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owners::Owners;
    use serde_json::json;

    #[test]
    fn a_field_is_refused_that_differs_and_is_another_s() {
        let ports = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"], "items": {
            "type": "object", "properties": {"port": {}, "protocol": {"default": "TCP"}, "name": {}},
        }});
        let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {}});
        let selector = json!({"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {}});
        let spec = json!({"type": "object", "properties": {"ports": ports, "set": set, "list": {"type": "array", "items": {}}, "selector": selector, "size": {}, "keyed": ports, "values": set}});
        let document = json!({"components": {"schemas": {"it": {
            "type": "object", "properties": {"spec": spec}, "x-kubernetes-group-version-kind": [{"group": "e.com", "version": "v1", "kind": "T"}],
        }}}});
        let schema = Schema::of_type(&document, "e.com/v1", "T");
        let live = json!({
            "spec": {"size": 1, "ports": [{"port": 80, "protocol": "TCP", "name": "a"}], "set": ["x"], "list": [1], "selector": {"a": "b"}, "map": {}},
            "metadata": {"managedFields": [{"manager": "console", "operation": "Update", "fieldsV1": {"f:spec": {
                "f:size": {}, "f:ports": {".": {}, "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}}, "f:set": {"v:\"x\"": {}},
                "f:list": {}, "f:selector": {}, "f:map": {}, "f:gone": {}, "f:keyed": {}, "f:values": {},
            }}}]},
        });
        let owners = Owners::of(&live, None, "me");
        for (sent, want) in [
            (json!({"size": 1}), &[][..]),
            (json!({"size": 2, "other": 3}), &[".spec.size"]),
            (json!({"ports": [{"port": 80, "name": "b"}]}), &[".spec.ports[port=80,protocol=\"TCP\"].name"]),
            (json!({"ports": [{"port": 80, "protocol": "UDP", "name": "b"}]}), &[]),
            (json!({"set": ["y"]}), &[]),
            (json!({"list": [1, 2], "selector": {"a": "c"}}), &[".spec.list", ".spec.selector"]),
            (json!({"selector": {}}), &[".spec.selector"]),
            (json!({"selector": null, "size": null}), &[".spec.selector", ".spec.size"]),
            (json!({"ports": null}), &[]),
            (json!({"map": {"a": {"b": []}}}), &[]),
            // What another manager applied as an empty map or list, which the server does not keep.
            (
                json!({"gone": {"a": 1}, "keyed": [{"port": 1}], "values": ["x"]}),
                &[".spec.gone", ".spec.keyed", ".spec.values"],
            ),
            (json!({"size": 1.0, "list": [1.0]}), &[]),
            (json!({"list": [1], "selector": {"a": "b"}}), &[]),
        ] {
            let found = refused(&json!({"spec": sent}), &live, schema, &owners.but("me"));
            assert_eq!(found.iter().map(|r| r.place.as_str()).collect::<Vec<_>>(), want);
        }
    }
}
