//! A value against a JSON schema: as much of draft 7 as the published schemas have that are checked here. A word of a schema that is not
//! known here is a fault, so that nothing is passed over in silence.

use serde_json::Value;

/// Words that say nothing of what is valid, and formats, which draft 7 lets a validator leave alone.
const NOTES: [&str; 7] = ["$schema", "$id", "title", "description", "default", "definitions", "format"];

/// What is wrong with a value.
pub fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(words) = schema.as_object() else {
        return if schema != &Value::Bool(true) {
            found.push(format!("{at}: nothing is allowed"))
        };
    };
    for (word, says) in words {
        let mut fault = |why: String| found.push(format!("{at}: {why}"));
        let valid = |schema: &Value| {
            let mut inner = Vec::new();
            check(root, schema, value, at, &mut inner);
            inner.is_empty()
        };
        let all = |says: &Value| says.as_array().cloned().unwrap_or_default();
        match word.as_str() {
            "$ref" => {
                let path = says.as_str().and_then(|r| r.strip_prefix('#')).expect("a reference into the schema");
                check(root, root.pointer(path).expect("what is referred to"), value, at, found);
            }
            "type" => {
                let is = |name: &Value| match name.as_str().expect("a type") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "null" => value.is_null(),
                    other => panic!("no type is {other}"),
                };
                if !(if says.is_array() { all(says).iter().any(is) } else { is(says) }) {
                    fault(format!("must be {says}, not {value}"));
                }
            }
            "enum" if !all(says).contains(value) => fault(format!("must be one of {says}, not {value}")),
            "enum" => {}
            "required" => {
                for name in all(says) {
                    if value.as_object().is_some_and(|o| !o.contains_key(name.as_str().expect("a name"))) {
                        fault(format!("must have {name}"));
                    }
                }
            }
            "properties" | "additionalProperties" => {}
            "items" => {
                for (i, element) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, says, element, &format!("{at}/{i}"), found);
                }
            }
            "anyOf" if !all(says).iter().any(valid) => fault("must fit one of anyOf".to_owned()),
            "allOf" if !all(says).iter().all(valid) => fault("must fit all of allOf".to_owned()),
            "oneOf" if all(says).iter().filter(|s| valid(s)).count() != 1 => fault("must fit one of oneOf".to_owned()),
            "not" if valid(says) => fault("must not fit".to_owned()),
            "anyOf" | "allOf" | "oneOf" | "not" => {}
            "minItems" if value.as_array().is_some_and(|a| (a.len() as u64) < says.as_u64().expect("a number")) => {
                fault(format!("must have at least {says} elements"));
            }
            "uniqueItems" => {
                let elements = all(value);
                let is_twice = |(i, e): (usize, &Value)| elements[..i].contains(e);
                if says == &Value::Bool(true) && elements.iter().enumerate().any(is_twice) {
                    fault("must have no element twice".to_owned());
                }
            }
            "minimum" if value.as_f64().is_some_and(|n| n < says.as_f64().expect("a number")) => {
                fault(format!("must be at least {says}"))
            }
            "maximum" if value.as_f64().is_some_and(|n| n > says.as_f64().expect("a number")) => {
                fault(format!("must be at most {says}"))
            }
            "pattern" => {
                // Only GUIDs and languages have one, and no output here has those.
                if value.is_string() {
                    fault(format!("the pattern {says} is not known here"));
                }
            }
            "minItems" | "minimum" | "maximum" => {}
            other => assert!(NOTES.contains(&other), "the word {other} of a schema is not known here"),
        }
    }
    let known = words.get("properties").and_then(Value::as_object);
    for (name, value) in value.as_object().into_iter().flatten() {
        let at = format!("{at}/{name}");
        match (known.and_then(|known| known.get(name)), words.get("additionalProperties")) {
            (Some(schema), _) | (None, Some(schema)) => check(root, schema, value, &at, found),
            (None, None) => {}
        }
    }
}

#[test]
fn faults_are_found() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {"a": {"$ref": "#/definitions/a"}, "l": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"minimum": 1}}},
        "definitions": {"a": {"enum": ["x", "y"]}}
    });
    for (value, want) in [
        (serde_json::json!({"a": "x", "l": [1, 2]}), 0),
        (serde_json::json!({"a": "z"}), 1),
        (serde_json::json!({"b": 1}), 2),
        (serde_json::json!({"a": "x", "l": []}), 1),
        (serde_json::json!({"a": "x", "l": [0, 0]}), 3),
        (serde_json::json!([]), 1),
    ] {
        assert_eq!(faults(&schema, &value).len(), want, "{value}");
    }
}
