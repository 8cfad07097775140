//! When two results say the same: the order of fields is free, and so is that of a list that merges, unless the patch sets it.

use krm_schema::schema::ListKind;
use krm_schema::schema::builtin::{self, FieldRef, TypeRef};
use serde_json::Value;

/// Where two results of one patch differ first, and in what; `None` where they say the same.
pub fn difference(ours: &Value, theirs: &Value, patch: &Value) -> Option<String> {
    let text = |field: &str| theirs[field].as_str().unwrap_or_default();
    let ty = builtin::root(text("apiVersion"), text("kind"));
    value(ours, theirs, Some(patch), ty, &mut Vec::new())
}

fn value(a: &Value, b: &Value, patch: Option<&Value>, ty: Option<TypeRef>, path: &mut Vec<String>) -> Option<String> {
    let (Value::Object(ours), Value::Object(theirs)) = (a, b) else {
        return (a != b).then(|| tell(a, b, path));
    };
    let names: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    for name in names {
        path.push(name.clone());
        let (Some(a), Some(b)) = (ours.get(name), theirs.get(name)) else {
            return Some(tell_absent(ours.get(name), theirs.get(name), path));
        };
        let field = ty.and_then(|t| t.field(name));
        let below = field.and_then(FieldRef::ty);
        let said = patch.and_then(|p| p.get(name));
        let found = match (a, b) {
            (Value::Array(a), Value::Array(b)) => {
                let is_ordered = patch.is_some_and(|p| p.get(format!("$setElementOrder/{name}")).is_some());
                let merges = field.and_then(FieldRef::list).map_or(ListKind::Atomic, |l| l.in_patch());
                list((a, b), is_ordered, merges, said, below, path)
            }
            _ => value(a, b, said, below, path),
        };
        if found.is_some() {
            return found;
        }
        path.pop();
    }
    None
}

fn list(
    (ours, theirs): (&[Value], &[Value]),
    is_ordered: bool,
    merges: ListKind<&'static str>,
    patch: Option<&Value>,
    ty: Option<TypeRef>,
    path: &mut Vec<String>,
) -> Option<String> {
    let keys: &[&str] = match &merges {
        ListKind::Map(keys) => keys,
        _ => &[],
    };
    let (mut a, mut b): (Vec<&Value>, Vec<&Value>) = (ours.iter().collect(), theirs.iter().collect());
    if merges != ListKind::Atomic && !is_ordered {
        let by = |v: &&Value| (key(v, keys), sorted(v).to_string());
        a.sort_by_key(by);
        b.sort_by_key(by);
    }
    if a.len() != b.len() {
        return Some(tell(&Value::from(ours), &Value::from(theirs), path));
    }
    for (a, b) in a.iter().zip(&b) {
        let of_patch =
            || patch?.as_array()?.iter().find(|p| !keys.is_empty() && key(p, &keys[..1]) == key(b, &keys[..1]));
        path.push(if keys.is_empty() { "[]".into() } else { format!("[{}]", key(b, keys)) });
        // What the keys say is the same, however it is spelled.
        if key(a, keys) != key(b, keys) {
            return Some(tell(a, b, path));
        }
        let found = value(&without(a, keys), &without(b, keys), of_patch(), ty, path);
        if found.is_some() {
            return found;
        }
        path.pop();
    }
    None
}

fn without(element: &Value, keys: &[&str]) -> Value {
    let mut out = element.clone();
    if let Some(map) = out.as_object_mut() {
        map.retain(|name, value| !keys.contains(&name.as_str()) || value.is_object() || value.is_array());
    }
    out
}

/// The merge keys of an element as one text.
pub fn key(element: &Value, keys: &[&str]) -> String {
    let text = |key: &&str| match element.get(*key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(n)) => n.to_string(),
        Some(Value::Bool(b)) => b.to_string(),
        _ if *key == "protocol" => "TCP".into(),
        _ => String::new(),
    };
    keys.iter().map(text).collect::<Vec<_>>().join("/")
}

/// A value with the fields of its maps in alphabetical order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let fields: std::collections::BTreeMap<_, _> = map.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn tell(ours: &Value, theirs: &Value, path: &[String]) -> String {
    format!("{}: {ours} here, {theirs} there", path.join("."))
}

fn tell_absent(ours: Option<&Value>, theirs: Option<&Value>, path: &[String]) -> String {
    let text = |v: Option<&Value>| v.map_or("absent".to_owned(), Value::to_string);
    format!("{}: {} here, {} there", path.join("."), text(ours), text(theirs))
}
