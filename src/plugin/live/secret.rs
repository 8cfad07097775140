//! Secrets are not shown: what a diff of files may show, a diff of a cluster must not, as with `kubectl diff`.

use krm_merge::results::Outcome;
use serde_json::Value;

use super::drift::Drift;
use crate::merge::Change;

const FIELDS: [&str; 2] = ["data", "stringData"];
const MASK: &str = "***";

/// The same changes for whoever reads them: of a Secret one sees which values differ, and none of them.
pub fn masked(changes: &[Change]) -> Vec<Change> {
    let read = |bytes: &Option<Vec<u8>>| bytes.as_deref().and_then(|b| serde_yaml::from_slice::<Value>(b).ok());
    let write = |value: Option<Value>| value.and_then(|v| serde_yaml::to_string(&v).ok()).map(String::into_bytes);
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

fn is_secret(value: &Value) -> bool {
    value["kind"] == "Secret" && value["apiVersion"] == "v1"
}

/// Puts a mask in the place of each value; `mark` tells those that the other side has otherwise.
fn hide(value: Option<&mut Value>, field: &str, other: &Value, mark: &str) {
    let values = value.and_then(|v| v.get_mut(field)).and_then(Value::as_object_mut);
    for (name, value) in values.into_iter().flatten() {
        let differs = other.get(name).is_some_and(|other| other != value);
        *value = if differs { format!("{MASK} {mark}").into() } else { MASK.into() };
    }
}

/// Takes the values of a Secret out of a result.
pub fn mask_result(result: &mut Outcome) {
    if result.resource_ref.as_ref().is_none_or(|r| r.kind != "Secret" || r.api_version != "v1") {
        return;
    }
    if let Some(original) = result.tags.get_mut("krm-merge.dev/original") {
        *original = format!("\"{MASK}\"");
    }
    if let Some(field) = &mut result.field {
        for value in [&mut field.current_value, &mut field.proposed_value].into_iter().flatten() {
            *value = MASK.into();
        }
    }
    if let Some(told) = result.told.as_ref().filter(|_| result.field.is_some()) {
        result.message = format!("`{}` was changed in dest and in updated: {}", told.place, told.settled);
    }
}

/// Takes the values out of what changed in a Secret.
pub fn mask_drift(kind: &str, drifts: &mut [Drift]) {
    for drift in drifts.iter_mut().filter(|_| kind == "Secret") {
        drift.original = MASK.into();
        drift.live = drift.live.take().map(|_| MASK.into());
    }
}
