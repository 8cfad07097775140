//! Gives a value the order of another value, so that a diff shows what changed and nothing that moved.
//!
//! The fields of a map have no order in a cluster. The elements of a list keep theirs.

use serde_json::{Map, Value};

/// A value with the fields of its maps in the order of another value. A field that the other value lacks comes after the one before it.
pub fn like(value: &Value, other: &Value) -> Value {
    match (value, other) {
        (Value::Object(map), Value::Object(other)) => fields(map, other),
        (Value::Array(list), Value::Array(other)) => elements(list, other),
        _ => value.clone(),
    }
}

fn fields(map: &Map<String, Value>, other: &Map<String, Value>) -> Value {
    let mut names: Vec<&String> = other.keys().filter(|name| map.contains_key(*name)).collect();
    let mut before: Option<&String> = None;
    for name in map.keys() {
        if !other.contains_key(name) {
            let at = before.and_then(|before| names.iter().position(|name| *name == before)).map_or(0, |at| at + 1);
            names.insert(at, name);
        }
        before = Some(name);
    }
    let ordered = names.into_iter().map(|name| {
        let value = other.get(name).map_or_else(|| map[name].clone(), |other| like(&map[name], other));
        (name.clone(), value)
    });
    Value::Object(ordered.collect())
}

/// The elements of a list, each in the order of its partner: the element that is equal, else the one with the same name, else the one at the
/// same place.
fn elements(list: &[Value], other: &[Value]) -> Value {
    let is_named = |a: &Value, b: &Value| a.get("name").is_some_and(|name| b.get("name") == Some(name));
    let ordered = list.iter().enumerate().map(|(at, element)| {
        let here = other.get(at);
        let of = |is_it: &dyn Fn(&Value) -> bool| here.filter(|o| is_it(o)).or_else(|| other.iter().find(|o| is_it(o)));
        let partner = of(&|other| other == element).or_else(|| of(&|other| is_named(other, element))).or(here);
        partner.map_or_else(|| element.clone(), |partner| like(element, partner))
    });
    ordered.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_change_stands_where_it_stood() {
        for (value, other, want) in [
            (r#"{"b":1,"a":2}"#, r#"{"a":1,"b":1}"#, r#"{"a":2,"b":1}"#),
            (r#"{"c":1,"a":2,"new":3,"b":4}"#, r#"{"a":2,"b":4,"c":1}"#, r#"{"a":2,"new":3,"b":4,"c":1}"#),
            (r#"{"new":1,"b":2,"a":3}"#, r#"{"a":3,"gone":1,"b":2}"#, r#"{"new":1,"a":3,"b":2}"#),
            (r#"[{"b":1,"a":1},{"b":2,"a":2}]"#, r#"[{"a":2,"b":2}]"#, r#"[{"a":1,"b":1},{"a":2,"b":2}]"#),
            (
                r#"[{"x":1,"name":"b"},{"x":1,"name":"a"}]"#,
                r#"[{"name":"a","x":2},{"y":3,"name":"b","x":2}]"#,
                r#"[{"name":"b","x":1},{"name":"a","x":1}]"#,
            ),
            (r#"{"a":[2,1]}"#, r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#),
            (r#"{"a":{"y":1,"x":1}}"#, r#"{"a":[1]}"#, r#"{"a":{"y":1,"x":1}}"#),
        ] {
            let [value, other] = [value, other].map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
            assert_eq!(like(&value, &other).to_string(), want);
        }
    }
}
