//! Hides Secrets: a diff of files may show them, but a diff of a cluster must not, as with `kubectl diff`.

use krm_merge_function::results::{ORIGINAL, Outcome};
use serde_json::{Value, json};

use super::drift::Drift;
use super::text;
use crate::merge::Change;

const FIELDS: [&str; 2] = ["data", "stringData"];
/// What replaces a value.
const MASK: &str = "***";

/// The same object without the values of a Secret.
pub fn hidden(mut object: Value) -> Value {
    if is_secret(&object) {
        FIELDS.iter().for_each(|field| hide(Some(&mut object), field, &Value::Null, ""));
    }
    object
}

/// The same changes, with the values of Secrets removed.
pub fn without_values(changes: &[Change]) -> Vec<Change> {
    let mask = |bytes: &Vec<u8>| match read(bytes) {
        value if is_secret(&value) => text::yaml(&hidden(value)).into_bytes(),
        _ => bytes.clone(),
    };
    let both = |c: &Change| Change { old: c.old.as_ref().map(mask), new: c.new.as_ref().map(mask), ..c.clone() };
    changes.iter().map(both).collect()
}

/// An object; if it cannot be read, only the fact that it is a Secret can be shown.
fn read(bytes: &[u8]) -> Value {
    serde_yaml::from_slice(bytes).unwrap_or_else(|_| json!({"apiVersion": "v1", "kind": "Secret", "data": MASK}))
}

/// The same changes for display: for a Secret they show which values differ, but no value.
pub fn masked(changes: &[Change]) -> Vec<Change> {
    let read = |bytes: &Option<Vec<u8>>| bytes.as_deref().map(read);
    let write = |value: Option<Value>| value.map(|v| text::yaml(&v).into_bytes());
    let mask = |change: &Change| {
        let (mut old, mut new) = (read(&change.old), read(&change.new));
        if ![&old, &new].into_iter().flatten().any(is_secret) {
            return change.clone();
        }
        for field in FIELDS {
            let before = old.as_ref().map(|v| v[field].clone()).unwrap_or_default();
            let after = new.as_ref().map(|v| v[field].clone()).unwrap_or_default();
            hide(old.as_mut(), field, &after, "(before)");
            hide(new.as_mut(), field, &before, "(after)");
        }
        Change { old: write(old), new: write(new), ..change.clone() }
    };
    changes.iter().map(mask).collect()
}

/// Removes the values of a Secret from the fields of a result; the engine's messages contain none.
pub fn mask_fields(result: &mut Outcome) {
    if result.resource_ref.as_ref().is_none_or(|r| r.kind != "Secret" || r.api_version != "v1") {
        return;
    }
    if let Some(original) = result.tags.get_mut(ORIGINAL) {
        *original = format!("\"{MASK}\"");
    }
    if let Some(field) = &mut result.field {
        for value in [&mut field.current_value, &mut field.proposed_value].into_iter().flatten() {
            *value = MASK.into();
        }
    }
}

fn is_secret(value: &Value) -> bool {
    value["kind"] == "Secret" && value["apiVersion"] == "v1"
}

/// Replaces each value by a mask; `mark` distinguishes those that differ on the other side.
fn hide(object: Option<&mut Value>, field: &str, other: &Value, mark: &str) {
    let mask = |value: &mut Value, other: Option<&Value>| {
        let differs = other.is_some_and(|other| !other.is_null() && *other != *value);
        *value = if differs { format!("{MASK} {mark}").into() } else { MASK.into() };
    };
    match object.and_then(|o| o.get_mut(field)) {
        Some(Value::Object(values)) => values.iter_mut().for_each(|(name, value)| mask(value, other.get(name))),
        Some(Value::Null) | None => {}
        // The server would refuse it, but it may still be a secret value.
        Some(value) => mask(value, Some(other)),
    }
}

/// Removes the values from the drift of a Secret.
pub fn mask_drift(kind: &str, drifts: &mut [Drift]) {
    for drift in drifts.iter_mut().filter(|_| kind == "Secret") {
        drift.original = MASK.into();
        drift.live = drift.live.take().map(|_| MASK.into());
    }
}
