//! What a merge means, on plain values and without the engine: about what the specification says in prose, as short as it can be.
//!
//! Lists merge by `name` if all of their elements have one, as inference finds in the cases that the tests make. The order of elements is
//! not part of it: [`in_order`] puts them into one.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The name of an element, if it is a scalar: `1` and `"1"` are one name.
fn name(element: &Value) -> Option<String> {
    match element.get("name")? {
        Value::String(name) => Some(name.clone()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        scalar => Some(scalar.to_string()),
    }
}

/// The elements by name; `None` if the list does not merge by names.
fn names(list: &[Value]) -> Option<Vec<String>> {
    let names: Vec<String> = list.iter().map(name).collect::<Option<_>>()?;
    (names.iter().collect::<BTreeSet<_>>().len() == names.len()).then_some(names)
}

fn list_of(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A value with the elements of lists by names in the order of their names.
pub fn in_order(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), in_order(v))).collect()),
        Value::Array(list) => {
            let mut list: Vec<Value> = list.iter().map(in_order).collect();
            if names(&list).is_some() {
                list.sort_by_key(|e| e["name"].to_string());
            }
            Value::Array(list)
        }
        scalar => scalar.clone(),
    }
}

/// Whether one side may have renamed what the other side removed. If it is small, only the conflict with dest's removal is found: after a first
/// run, a small child of dest's own beside one that updated removed looks the same.
pub fn may_be_renamed_and_removed(original: &Value, one: &Value, other: &Value) -> bool {
    match (original, one, other) {
        (Value::Object(was), Value::Object(one), Value::Object(other)) => {
            let is_beyond = |a: &Map<String, Value>, b: &Map<String, Value>| a.keys().any(|key| !b.contains_key(key));
            let is_replaced =
                is_beyond(was, one) && is_beyond(was, other) && (is_beyond(one, was) || is_beyond(other, was));
            let inside = |(key, value): (&String, &Value)| {
                one.get(key)
                    .zip(other.get(key))
                    .is_some_and(|(one, other)| may_be_renamed_and_removed(value, one, other))
            };
            is_replaced || was.iter().any(inside)
        }
        (Value::Array(_), Value::Array(_), Value::Array(_)) => original != one && original != other,
        _ => false,
    }
}

/// TwoWay: RFC 7396, and lists by names.
pub fn two_way(dest: Option<&Value>, source: &Value) -> Option<Value> {
    match source {
        Value::Null => None,
        Value::Object(source) => {
            let mut out = dest.and_then(Value::as_object).cloned().unwrap_or_default();
            for (key, value) in source {
                match two_way(out.get(key), value) {
                    Some(value) => drop(out.insert(key.clone(), value)),
                    None => drop(out.remove(key)),
                }
            }
            Some(Value::Object(out))
        }
        Value::Array(source) => {
            let dest = list_of(dest);
            let (Some(of_dest), Some(of_source)) = (names(dest), names(source)) else {
                return Some(json!(source));
            };
            if dest.is_empty() && source.is_empty() {
                return Some(json!(source));
            }
            let mut out = dest.to_vec();
            for (name, element) in of_source.iter().zip(source) {
                match of_dest.iter().position(|n| n == name) {
                    Some(i) => out[i] = two_way(Some(&out[i]), element)?,
                    None => out.extend(two_way(None, element)),
                }
            }
            Some(Value::Array(out))
        }
        scalar => Some(scalar.clone()),
    }
}

/// What is known of a three-way merge.
#[derive(Clone, Debug, PartialEq)]
pub enum Known<T> {
    /// It has no conflict, and this result.
    Value(T),
    /// It has at least one conflict.
    Conflict,
    /// The specification says more than is here: of lists and texts that both sides changed, and of what one side deleted and the other
    /// one changed.
    Unknown,
}

impl<T> Known<T> {
    fn map<U>(self, of: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Self::Value(value) => Known::Value(of(value)),
            Self::Conflict => Known::Conflict,
            Self::Unknown => Known::Unknown,
        }
    }
}

/// ThreeWay, of values without null; no value stands for a field that is not there.
pub fn three_way(original: Option<&Value>, updated: Option<&Value>, dest: Option<&Value>) -> Known<Option<Value>> {
    let sides = [original, updated, dest];
    match sides {
        [o, u, d] if u == o => return Known::Value(d.cloned()),
        [o, u, d] if d == o || u == d => return Known::Value(u.cloned()),
        _ => {}
    }
    let is_new = original.is_none();
    match (updated, dest) {
        (Some(Value::Object(_)), Some(Value::Object(_))) if is_new || original.is_some_and(Value::is_object) => {
            let get = |side: Option<&Value>| side.and_then(Value::as_object).cloned().unwrap_or_default();
            by_key(sides.map(get)).map(|map| Some(Value::Object(map)))
        }
        (Some(Value::Array(u)), Some(Value::Array(d))) if is_new || original.is_some_and(Value::is_array) => {
            let o = list_of(original);
            match [names(o), names(u), names(d)] {
                [Some(o), Some(u), Some(d)] if !agree(&o, &u, &d) => Known::Unknown,
                [Some(_), Some(_), Some(_)] => {
                    let get = |list: &[Value]| list.iter().filter_map(|e| Some((name(e)?, e.clone()))).collect();
                    by_key([get(o), get(u), get(d)])
                        .map(|map| Some(map.into_iter().map(|(_, element)| element).collect()))
                }
                _ => Known::Unknown,
            }
        }
        (Some(u), Some(d)) if [Some(u), Some(d), original].into_iter().flatten().all(is_atom) => Known::Conflict,
        _ => Known::Unknown,
    }
}

/// A scalar that has no lines to merge.
fn is_atom(value: &Value) -> bool {
    !value.is_array() && !value.is_object() && !value.as_str().is_some_and(|text| text.contains('\n'))
}

/// Whether the elements of three sides have one order, so that no side moved any.
fn agree(original: &[String], updated: &[String], dest: &[String]) -> bool {
    let common = |a: &[String], b: &[String]| a.iter().filter(|n| b.contains(n)).cloned().collect::<Vec<_>>();
    [(original, updated), (original, dest), (updated, dest)].iter().all(|(a, b)| common(a, b) == common(b, a))
}

/// The merge of maps, or of elements by their names.
fn by_key([original, updated, dest]: [Map<String, Value>; 3]) -> Known<Map<String, Value>> {
    let keys: BTreeSet<&String> = original.keys().chain(updated.keys()).chain(dest.keys()).collect();
    let (mut out, mut worst) = (Map::new(), Known::Value(()));
    for key in keys {
        match three_way(original.get(key), updated.get(key), dest.get(key)) {
            Known::Value(value) => out.extend(value.map(|value| (key.clone(), value))),
            Known::Conflict => worst = Known::Conflict,
            Known::Unknown if worst != Known::Conflict => worst = Known::Unknown,
            Known::Unknown => {}
        }
    }
    worst.map(|()| out)
}

/// Strategic, of a Pod: what stays of a value, if any. `$setElementOrder` says nothing about values.
pub fn strategic(dest: Option<&Value>, patch: &Value, field: &str) -> Option<Value> {
    match patch {
        Value::Null => None,
        Value::Object(patch) => {
            let mut out = match patch.get("$patch").and_then(Value::as_str) {
                Some("delete") => return None,
                Some("replace") => Map::new(),
                _ => dest.and_then(Value::as_object).cloned().unwrap_or_default(),
            };
            if let Some(kept) = patch.get("$retainKeys") {
                out.retain(|key, _| list_of(Some(kept)).iter().any(|k| k == key));
            }
            for (key, value) in patch {
                match key.strip_prefix("$deleteFromPrimitiveList/") {
                    Some(list) if out.contains_key(list) => {
                        let stays = |v: &&Value| !list_of(Some(value)).contains(v);
                        out[list] = list_of(out.get(list)).iter().filter(stays).cloned().collect();
                    }
                    _ => {}
                }
            }
            for (key, value) in patch.iter().filter(|(key, _)| !key.starts_with('$')) {
                match strategic(out.get(key), value, key) {
                    Some(value) => drop(out.insert(key.clone(), value)),
                    None => drop(out.remove(key)),
                }
            }
            Some(Value::Object(out))
        }
        Value::Array(patch) => Some(Value::Array(match field {
            "containers" | "initContainers" | "env" => elements(list_of(dest), patch),
            "finalizers" => {
                let mut out: Vec<Value> = Vec::new();
                for value in list_of(dest).iter().chain(patch) {
                    if !out.contains(value) {
                        out.push(value.clone());
                    }
                }
                out
            }
            _ => patch.clone(),
        })),
        scalar => Some(scalar.clone()),
    }
}

fn elements(dest: &[Value], patch: &[Value]) -> Vec<Value> {
    // Such an element speaks of the list, whatever else it has.
    let replaces = |e: &Value| e["$patch"] == "replace";
    let mut out = if patch.iter().any(replaces) { Vec::new() } else { dest.to_vec() };
    for element in patch.iter().filter(|e| !replaces(e)) {
        match out.iter().position(|e| e["name"] == element["name"]) {
            Some(i) => match strategic(Some(&out[i]), element, "") {
                Some(value) => out[i] = value,
                None => drop(out.remove(i)),
            },
            None => out.extend(strategic(None, element, "")),
        }
    }
    out
}
