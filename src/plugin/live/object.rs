//! Objects of a cluster as values: without what the server populates, and back into what it takes.

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

use super::cluster::Address;

/// The annotation in which `kubectl apply` keeps what it applied.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What of `metadata` is the server's. Source: ObjectMeta of the API, "Populated by the system. Read-only.".
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

/// A resource without what the server populates.
#[derive(Clone, Debug, PartialEq)]
pub struct Object(Value);

impl Object {
    /// From its JSON.
    ///
    /// # Errors
    /// Text that is no JSON object.
    pub fn parse(json: &str) -> Result<Self> {
        match serde_json::from_str(json)? {
            value @ Value::Object(_) => Ok(Self::live(value)),
            _ => bail!("it must be an object"),
        }
    }

    /// From a live object.
    pub fn live(mut value: Value) -> Self {
        if let Some(root) = value.as_object_mut() {
            root.shift_remove("status");
            if let Some(metadata) = root.get_mut("metadata").and_then(Value::as_object_mut) {
                for field in POPULATED {
                    metadata.shift_remove(field);
                }
                let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
                let removed = annotations.map(|a| (a.shift_remove(LAST_APPLIED).is_some(), a.is_empty()));
                if removed == Some((true, true)) {
                    metadata.shift_remove("annotations");
                }
            }
        }
        Self(value)
    }

    /// The apiVersion.
    pub fn api_version(&self) -> &str {
        self.0["apiVersion"].as_str().unwrap_or_default()
    }

    /// The kind.
    pub fn kind(&self) -> &str {
        self.0["kind"].as_str().unwrap_or_default()
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.0["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// The namespace, where it says one.
    pub fn namespace(&self) -> Option<&str> {
        self.0["metadata"]["namespace"].as_str()
    }

    /// Says where it lies, as the live object does, so that the three states of it have one identity.
    pub fn settle(&mut self, address: &Address) {
        self.0["apiVersion"] = address.api_version().into();
        if let Some(metadata) = self.0["metadata"].as_object_mut() {
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

    /// As YAML.
    pub fn yaml(&self) -> String {
        serde_yaml::to_string(&self.0).unwrap_or_default()
    }

    /// An object to create, which says what was applied.
    pub fn with_last_applied(&self, mut object: Value) -> Value {
        let annotations = &mut object["metadata"]["annotations"];
        if !annotations.is_object() {
            *annotations = json!({});
        }
        annotations[LAST_APPLIED] = self.0.to_string().into();
        object
    }
}

/// What was applied last to a live object.
pub fn last_applied(live: &Value) -> Option<&str> {
    live["metadata"]["annotations"][LAST_APPLIED].as_str()
}

/// The JSON merge patch that makes the merged object of a live one, says what was applied, and holds only for the state that was read.
pub fn patch(live: &Value, applied: &Object, merged: &Value) -> Value {
    let Object(before) = Object::live(live.clone());
    let mut patch = difference(&before, merged).unwrap_or_else(|| json!({}));
    patch["metadata"]["annotations"][LAST_APPLIED] = applied.0.to_string().into();
    patch["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    patch
}

/// What a JSON merge patch has to say to make one value of another. Source: RFC 7396.
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
    fn a_patch_says_what_changes_and_for_which_state() {
        let live = json!({"metadata": {"name": "a", "resourceVersion": "7", "uid": "x"}, "spec": {"a": 1, "b": [1], "c": 3}, "status": {"d": 1}});
        let merged = json!({"metadata": {"name": "a"}, "spec": {"a": 1, "b": [1, 2], "e": {}}});
        let applied = Object(json!({"kind": "T"}));
        assert_eq!(
            patch(&live, &applied, &merged),
            json!({
                "spec": {"c": null, "b": [1, 2], "e": {}},
                "metadata": {"annotations": {LAST_APPLIED: "{\"kind\":\"T\"}"}, "resourceVersion": "7"},
            })
        );
    }
}
