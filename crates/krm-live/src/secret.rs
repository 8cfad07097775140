//! Hides the values of Secrets. A diff of files may show them, but a diff of a cluster must not, as with `kubectl diff`.

use std::collections::BTreeMap;

use anyhow::Result;
use krm_folders::change::Change;
use krm_folders::side::Side;
use krm_job::event::Event;
use krm_package::resource::{Origin, Resource};
use krm_yaml::secret::Secret;
use krm_yaml::{Document, Edit, TextEdits, same};
use serde_json::{Value, json};

use crate::drift::Drift;
use crate::text;

const FIELDS: [&str; 2] = ["data", "stringData"];
/// The text that replaces a value.
const MASK: &str = "***";

/// An object; if it is a Secret, without its values.
pub fn hidden(mut object: Value) -> Value {
    if is_secret(&object) {
        FIELDS.iter().for_each(|field| hide(Some(&mut object), field, &Value::Null, ""));
    }
    object
}

/// The changes, without the values of Secrets.
pub fn without_values(changes: &[Change]) -> Vec<Change> {
    let mask = |bytes: &Vec<u8>| match read(bytes) {
        value if is_secret(&value) => text::yaml(&hidden(value)).into_bytes(),
        _ => bytes.clone(),
    };
    let both = |c: &Change| Change { old: c.old.as_ref().map(mask), new: c.new.as_ref().map(mask), ..c.clone() };
    changes.iter().map(both).collect()
}

/// An object from YAML. A text that cannot be read becomes a Secret, so that its content is hidden.
fn read(bytes: &[u8]) -> Value {
    yaml_serde::from_slice(bytes).unwrap_or_else(|_| json!({"apiVersion": "v1", "kind": "Secret", "data": MASK}))
}

/// The changes for display. For a Secret they show which values differ, but no values.
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

/// The changes of files for display. For a Secret they show which values differ, but no values.
pub fn masked_files(changes: &[Change]) -> Vec<Change> {
    let both = |change: &Change| {
        let [old, new] = [&change.old, &change.new].map(Option::as_deref);
        Change {
            old: old.map(|old| masked_file(old, new, "(before)")),
            new: new.map(|new| masked_file(new, old, "(after)")),
            ..change.clone()
        }
    };
    changes.iter().map(both).collect()
}

/// A side whose files lack the values of Secrets.
///
/// # Errors
/// Cannot occur: files of resources can be read.
pub fn hidden_side(side: &Side) -> Result<Side> {
    let hidden = side.files.iter().filter_map(|held| Some((held, held.document()?)));
    Side::of_cluster(hidden.map(|(held, document)| {
        let text = masked_file(document.source().as_bytes(), None, "");
        (held.path.clone(), held.name.clone(), String::from_utf8_lossy(&text).into_owned())
    }))
}

/// A file with a mask in the place of each value of a Secret. The mask of a value that differs in the other file ends with `mark`.
fn masked_file(bytes: &[u8], other: Option<&[u8]>, mark: &str) -> Vec<u8> {
    let parse = |bytes: &[u8]| Document::parse(String::from_utf8(bytes.to_vec()).ok()?).ok();
    let masked = || {
        let (document, other) = (parse(bytes)?, other.map(parse));
        let others = other.iter().flatten().flat_map(secrets).collect::<Vec<_>>();
        let mut edits = BTreeMap::new();
        for secret in secrets(&document) {
            let partner = others.iter().find(|other| other.identity == secret.identity).map(|other| other.node());
            for field in FIELDS {
                let Some(values) = secret.node().get(field) else { continue };
                let theirs = partner.and_then(|partner| partner.get(field));
                let pairs: Vec<_> = match values.is_map() {
                    true => values.fields().map(|(key, v)| (v, theirs.and_then(|t| t.get(key.string())))).collect(),
                    // The server refuses `data` that is not a map, but the value may still be secret.
                    false => vec![(values, theirs)],
                };
                for (value, theirs) in pairs.into_iter().filter(|(value, _)| !value.is_null()) {
                    let differs = theirs.is_some_and(|theirs| !same(theirs, value));
                    let end = if value.text().ends_with('\n') { "\n" } else { "" };
                    let text = if differs { format!("'{MASK} {mark}'{end}") } else { format!("'{MASK}'{end}") };
                    edits.insert(value.start(), Edit { range: value.start()..value.end(), text });
                }
            }
        }
        let source = document.source();
        Some(TextEdits::of(edits.into_values().collect()).ok()?.apply(source, 0..source.len()))
    };
    masked().unwrap_or_else(|| format!("{MASK}\n")).into_bytes()
}

/// The Secrets of a file.
fn secrets<'d>(document: &'d Document<'_>) -> Vec<Resource<'d>> {
    let all = document.roots().flat_map(|root| Resource::of_document(root, Origin::Item));
    all.filter(|resource| resource.secret == Secret::All).collect()
}

/// Removes the values of a Secret from the fields of a result. The messages of the engine contain no values of Secrets.
pub fn mask_fields(result: &mut Event) {
    if !result.is_secret {
        return;
    }
    if let Some(original) = result.clash_mut().and_then(|clash| clash.original.as_mut()) {
        *original = format!("\"{MASK}\"");
    }
    if let Some(field) = &mut result.field {
        for value in [&mut field.current_value, &mut field.proposed_value].into_iter().flatten() {
            *value = krm_job::event::Value::String(MASK.to_owned());
        }
    }
}

fn is_secret(value: &Value) -> bool {
    Secret::of_type(value["apiVersion"].as_str(), value["kind"].as_str()) == Secret::All
}

/// Replaces each value by a mask. The mask of a value that differs on the other side ends with `mark`.
fn hide(object: Option<&mut Value>, field: &str, other: &Value, mark: &str) {
    let mask = |value: &mut Value, other: Option<&Value>| {
        let differs = other.is_some_and(|other| !other.is_null() && *other != *value);
        *value = if differs { format!("{MASK} {mark}").into() } else { MASK.into() };
    };
    match object.and_then(|o| o.get_mut(field)) {
        Some(Value::Object(values)) => values.iter_mut().for_each(|(name, value)| mask(value, other.get(name))),
        Some(Value::Null) | None => {}
        // The server refuses `data` that is not a map, but the value may still be secret.
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
