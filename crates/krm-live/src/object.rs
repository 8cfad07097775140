//! Objects of a cluster as values: without the fields that the server populates, and as patches that the server accepts.

use anyhow::{Result, bail};
use k8s_openapi::ByteString;
use krm_schema::schema::builtin;
use krm_tree::limit::{Budget, Limit};
use krm_tree::splice::exact_json;
use krm_yaml::NodeRef;
use serde_json::{Map, Value, json};

use crate::address::Address;
use crate::text;

/// The annotation in which `kubectl apply` keeps the applied state.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields of `metadata` that belong to the server. Source: ObjectMeta of the API, "Populated by the system. Read-only.".
const POPULATED: [&str; 8] = [
    "managedFields",
    "resourceVersion",
    "uid",
    "creationTimestamp",
    "generation",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// The value of a node. The node must come from a text of an object, which has no aliases.
///
/// # Errors
/// Cannot occur for the objects that this module writes.
pub fn value(node: NodeRef<'_>) -> Result<Value> {
    let budget = Budget::new(Limit::default().with_input(node.document().source().len()));
    Ok(serde_json::from_str(&exact_json(node, &budget)?)?)
}

/// A resource without the fields that the server populates.
#[derive(Clone, Debug, PartialEq)]
pub struct Object(Value);

impl Object {
    /// An object from its JSON.
    ///
    /// # Errors
    /// The text is not a JSON object.
    pub fn parse(json: &str) -> Result<Self> {
        match serde_json::from_str(json)? {
            value @ Value::Object(_) => Ok(Self::live(value)),
            _ => bail!("it must be an object"),
        }
    }

    /// An object from a live object.
    pub fn live(mut value: Value) -> Self {
        if let Some(root) = value.as_object_mut() {
            root.shift_remove("status");
            if let Some(metadata) = root.get_mut("metadata").and_then(Value::as_object_mut) {
                for field in POPULATED {
                    metadata.shift_remove(field);
                }
                let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
                // If there are no annotations, kubectl notes them as `{}`. So empty annotations count as missing.
                let is_empty = annotations.is_some_and(|a| {
                    a.shift_remove(LAST_APPLIED);
                    a.is_empty()
                });
                if is_empty {
                    metadata.shift_remove("annotations");
                }
            }
        }
        Self(value)
    }

    /// The object as the server stores it: the `stringData` of a Secret is in its `data`, and a PersistentVolume has no empty class. To a
    /// claim, an empty class is a value: it gets no default one.
    pub fn stored(&self) -> Self {
        let mut object = self.clone();
        if self.api_version() == "v1"
            && self.kind() == "PersistentVolume"
            && let Some(spec) = object.0.get_mut("spec").and_then(Value::as_object_mut)
            && spec.get("storageClassName").is_some_and(|class| class == "")
        {
            spec.shift_remove("storageClassName");
        }
        if !self.is_secret() {
            return object;
        }
        let Some(Value::Object(texts)) = self.0.get("stringData") else { return object };
        let texts: Option<Vec<_>> = texts.iter().map(|(name, text)| Some((name, text.as_str()?))).collect();
        let Some(root) = object.0.as_object_mut() else { return object };
        let data = root.entry("data").or_insert(Value::Null);
        if data.is_null() {
            *data = json!({});
        }
        // If a value is not a string, nothing is moved, and the server refuses the object.
        if let (Some(texts), Some(data)) = (texts, data.as_object_mut()) {
            data.extend(
                texts.into_iter().map(|(name, text)| (name.clone(), json!(ByteString(text.as_bytes().to_vec())))),
            );
            root.shift_remove("stringData");
        }
        object
    }

    /// A live object as it is compared: as it is stored, and without nulls. The server writes null for an empty list, as in a Role without
    /// rules.
    pub fn compared(value: Value) -> Self {
        Self(without_nulls(Self::live(value).stored().0))
    }

    /// The object as it is created: kubectl sends no nulls. In an object of a built-in type, the server would make an empty value of one.
    pub fn created(self) -> Self {
        match builtin::root(self.api_version(), self.kind()) {
            Some(_) => Self(without_nulls(self.0)),
            None => self,
        }
    }

    /// Whether it is a Secret.
    pub fn is_secret(&self) -> bool {
        self.api_version() == "v1" && self.kind() == "Secret"
    }

    /// The apiVersion.
    pub fn api_version(&self) -> &str {
        self.0["apiVersion"].as_str().unwrap_or_default()
    }

    /// The kind.
    pub fn kind(&self) -> &str {
        self.0["kind"].as_str().unwrap_or_default()
    }

    /// Its `spec`.
    pub fn spec(&self) -> &Value {
        &self.0["spec"]
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.0["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// The name, which must be a string.
    ///
    /// # Errors
    /// The name is not a string.
    pub fn named(&self) -> Result<&str> {
        match &self.0["metadata"]["name"] {
            Value::String(name) => Ok(name),
            other => bail!(
                "`metadata.name` must be a text, not {other}: put it in quotes (bare y, n, yes, no, on and off are booleans)"
            ),
        }
    }

    /// The namespace; `None` if the object has none, or an empty one.
    ///
    /// # Errors
    /// The namespace is not a string.
    pub fn namespace(&self) -> Result<Option<&str>> {
        match &self.0["metadata"]["namespace"] {
            Value::Null => Ok(None),
            Value::String(name) => Ok(Some(name.as_str()).filter(|name| !name.is_empty())),
            other => bail!("`metadata.namespace` must be a text, not {other}"),
        }
    }

    /// Gives the object the apiVersion and namespace of the live object, so that its three states have the same identity.
    pub fn settle(&mut self, address: &Address) {
        place(&mut self.0, address);
    }

    /// Gives the object the identity of another object.
    pub fn identify(&mut self, other: &Self) {
        self.0["apiVersion"] = other.api_version().into();
        self.0["kind"] = other.kind().into();
        if !self.0["metadata"].is_object() {
            self.0["metadata"] = json!({});
        }
        for field in ["name", "namespace"] {
            if let Some(value) = other.0["metadata"].get(field) {
                self.0["metadata"][field] = value.clone();
            }
        }
    }

    /// The object as JSON.
    pub fn into_json(self) -> Value {
        self.0
    }

    /// The object as YAML.
    pub fn yaml(&self) -> String {
        text::yaml(&self.0)
    }
}

/// Gives a resource the apiVersion and namespace of the live object.
pub fn place(resource: &mut Value, address: &Address) {
    resource["apiVersion"] = address.api_version().into();
    if let Some(metadata) = resource.get_mut("metadata").and_then(Value::as_object_mut) {
        match &address.namespace {
            Some(namespace) => {
                metadata.insert("namespace".into(), namespace.as_str().into());
            }
            None => {
                metadata.shift_remove("namespace");
            }
        }
    }
}

/// Whether a value is null, false, zero or empty.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

/// Whether a live value contains everything that was applied. Additional fields in a map are defaults of the server.
pub fn covers(live: &Value, applied: &Value) -> bool {
    match (live, applied) {
        (Value::Object(live), Value::Object(applied)) => {
            applied.iter().all(|(name, value)| covers(live.get(name).unwrap_or(&Value::Null), value))
        }
        // Nulls remove fields, so nothing is left to be there.
        (Value::Null, Value::Object(applied)) => {
            !applied.is_empty() && applied.values().all(|value| covers(live, value))
        }
        (Value::Array(live), Value::Array(applied)) => {
            live.len() == applied.len() && live.iter().zip(applied).all(|(live, applied)| covers(live, applied))
        }
        _ => live == applied,
    }
}

/// A value without the fields that are null.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let fields = map.into_iter().filter(|(_, value)| !value.is_null());
            fields.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        Value::Array(list) => list.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// The part of a resource that can be owned: without its identity and its status.
pub fn ownable(mut resource: Value) -> Value {
    if let Some(root) = resource.as_object_mut() {
        root.retain(|name, _| !matches!(name.as_str(), "apiVersion" | "kind" | "status"));
        if let Some(metadata) = root.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.retain(|name, _| !matches!(name.as_str(), "name" | "namespace"));
            if metadata.is_empty() {
                root.shift_remove("metadata");
            }
        }
    }
    resource
}

/// An object to create, with a note of the applied state.
pub fn with_last_applied(mut object: Value, applied: &str) -> Value {
    note(&mut object, applied);
    object
}

/// Notes the applied state in an object; `None` if its metadata or its annotations are not a map. The server refuses such an object.
pub fn note(object: &mut Value, applied: &str) -> Option<()> {
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    let annotations = metadata.entry("annotations").or_insert(Value::Null);
    if annotations.is_null() {
        *annotations = json!({});
    }
    annotations.as_object_mut()?.insert(LAST_APPLIED.to_owned(), applied.into());
    Some(())
}

/// The note of the last applied state of a live object.
pub fn last_applied(live: &Value) -> Option<&str> {
    live["metadata"]["annotations"][LAST_APPLIED].as_str()
}

/// The JSON merge patch that turns a live object into the merged one and notes the applied state. It is valid only for the version of the
/// object that was read. `before` is the live object that was merged.
///
/// The note is in both objects that are compared. So a merged object without annotations still removes those of the live object.
pub fn patch(live: &Value, applied: &str, before: &Object, merged: &Value) -> Value {
    let (mut before, mut merged) = (before.0.clone(), merged.clone());
    if let Some(noted) = last_applied(live) {
        note(&mut before, noted);
    }
    note(&mut merged, applied);
    let mut patch = difference(&before, &merged).unwrap_or_else(|| json!({}));
    patch["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    patch
}

/// The JSON merge patch that turns one value into another. Source: RFC 7396.
fn difference(old: &Value, new: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        return (old != new).then(|| new.clone());
    };
    let mut patch = Map::new();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in after {
        let change = match before.get(name) {
            Some(old) => difference(old, value),
            None => Some(value.clone()),
        };
        patch.extend(change.map(|change| (name.clone(), change)));
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_populates_is_no_part_of_an_object() {
        let live = json!({"kind": "T", "metadata": {"name": "a", "uid": "x", "resourceVersion": "7", "annotations": {LAST_APPLIED: "{}"}}, "status": {}});
        assert_eq!(Object::live(live).0, json!({"kind": "T", "metadata": {"name": "a"}}));
        let live = json!({"metadata": {"annotations": {LAST_APPLIED: "{}", "own": "x"}, "generation": 1}});
        assert_eq!(Object::live(live).0, json!({"metadata": {"annotations": {"own": "x"}}}));
    }

    #[test]
    fn a_secret_is_compared_as_it_is_stored() {
        let secret = |rest: Value| {
            let mut object = json!({"apiVersion": "v1", "kind": "Secret"});
            rest.as_object().expect("a map").iter().for_each(|(name, value)| object[name] = value.clone());
            Object(object)
        };
        for (written, stored) in [
            (
                json!({"stringData": {"a": "new", "b": ""}, "data": {"a": "b2xk"}}),
                json!({"data": {"a": "bmV3", "b": ""}}),
            ),
            (json!({"stringData": {"a": "é"}, "data": null}), json!({"data": {"a": "w6k="}})),
            (json!({"stringData": {"a": 1}, "data": {}}), json!({"stringData": {"a": 1}, "data": {}})),
            (json!({"data": {"a": "b2xk"}}), json!({"data": {"a": "b2xk"}})),
        ] {
            assert_eq!(secret(written).stored(), secret(stored));
        }
    }

    #[test]
    fn a_volume_has_no_empty_class() {
        for (kind, class, want) in [
            ("PersistentVolume", "", json!({"a": 1})),
            ("PersistentVolume", "c", json!({"a": 1, "storageClassName": "c"})),
            ("PersistentVolumeClaim", "", json!({"a": 1, "storageClassName": ""})),
        ] {
            let object = Object(json!({"apiVersion": "v1", "kind": kind, "spec": {"a": 1, "storageClassName": class}}));
            assert_eq!(object.stored().0["spec"], want, "{kind} {class:?}");
        }
    }

    #[test]
    fn a_patch_says_what_changes_and_for_which_state() {
        let live = json!({"metadata": {"name": "a", "resourceVersion": "7", "uid": "x"}, "spec": {"a": 1, "b": [1], "c": 3}, "status": {"d": 1}});
        let merged = json!({"metadata": {"name": "a"}, "spec": {"a": 1, "b": [1, 2], "e": {}}});
        assert_eq!(
            patch(&live, "{\"kind\":\"T\"}", &Object::live(live.clone()), &merged),
            json!({
                "spec": {"c": null, "b": [1, 2], "e": {}},
                "metadata": {"annotations": {LAST_APPLIED: "{\"kind\":\"T\"}"}, "resourceVersion": "7"},
            })
        );
    }
}
