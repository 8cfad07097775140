//! A validator for the words that our schemas have, in JSON Schema and in OpenAPI 3.0. A word that it does not know is a panic.

use std::cell::RefCell;
use std::collections::HashMap;

use regex_lite::Regex;
use serde_json::{Value, json};

/// Whether a schema takes a value.
pub fn takes(schema: &Value, value: &Value) -> bool {
    let Value::Object(words) = schema else { return schema != &json!(false) };
    let all = |list: &Value| list.as_array().expect("a list").iter().map(|one| takes(one, value)).collect::<Vec<_>>();
    let (map, list, text) = (value.as_object(), value.as_array(), value.as_str());
    let at_least =
        |count: Option<usize>, least: &Value| count.is_none_or(|count| count as u64 >= least.as_u64().unwrap_or(0));
    words.iter().all(|(word, says)| match word.as_str() {
        "type" if value.is_null() && words.get("nullable") == Some(&json!(true)) => true,
        "type" => {
            let types: Vec<&str> = says
                .as_str()
                .into_iter()
                .chain(says.as_array().into_iter().flatten().filter_map(Value::as_str))
                .collect();
            types.iter().any(|of| match *of {
                "object" => map.is_some(),
                "array" => list.is_some(),
                "string" => text.is_some(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_i64() || value.is_u64(),
                "null" => value.is_null(),
                of => panic!("an unknown type: {of}"),
            })
        }
        "enum" => says.as_array().expect("a list").contains(value),
        "const" => says == value,
        "required" => says
            .as_array()
            .expect("a list")
            .iter()
            .all(|name| map.is_none_or(|map| map.contains_key(name.as_str().expect("a name")))),
        "properties" => map
            .is_none_or(|map| map.iter().all(|(name, value)| says.get(name).is_none_or(|schema| takes(schema, value)))),
        "additionalProperties" => map.is_none_or(|map| {
            let known = |name: &String| words.get("properties").is_some_and(|known| known.get(name).is_some());
            map.iter().filter(|(name, _)| !known(name)).all(|(_, value)| takes(says, value))
        }),
        "items" => list.is_none_or(|list| list.iter().all(|value| takes(says, value))),
        "minItems" => at_least(list.map(Vec::len), says),
        "minProperties" => at_least(map.map(serde_json::Map::len), says),
        "minLength" => at_least(text.map(|text| text.chars().count()), says),
        "minimum" => value.as_i64().is_none_or(|number| says.as_i64().is_none_or(|least| number >= least)),
        "pattern" => text.is_none_or(|text| matches(says.as_str().expect("a pattern"), text)),
        "not" => !takes(says, value),
        "allOf" => all(says).iter().all(|takes| *takes),
        "anyOf" => all(says).contains(&true),
        "oneOf" => all(says).iter().filter(|takes| **takes).count() == 1,
        "description" | "title" | "examples" | "$schema" | "nullable" => true,
        "x-kubernetes-int-or-string" | "x-kubernetes-preserve-unknown-fields" => true,
        word => panic!("an unknown word: {word}"),
    })
}

/// Whether a text has a part that a pattern fits.
fn matches(pattern: &str, text: &str) -> bool {
    thread_local!(static KNOWN: RefCell<HashMap<String, Regex>> = RefCell::default());
    KNOWN.with_borrow_mut(|known| {
        let regex = known.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).expect("a pattern"));
        regex.is_match(text)
    })
}
