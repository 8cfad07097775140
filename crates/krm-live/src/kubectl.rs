//! Does with a file what kubectl does: reads its values in the same way, and notes the applied state in the same form.
//!
//! kubectl reads with sigs.k8s.io/yaml, which takes the bare words of YAML 1.1 as booleans. The next `kubectl apply` compares its note as a
//! text. So the note must equal kubectl's byte for byte: sorted keys, and the escapes of Go's `encoding/json`.

use anyhow::Result;
use krm_tree::limit::Budget;
use krm_tree::splice::exact_json;
use krm_yaml::{NodeRef, Style};
use serde_json::{Map, Value, json};

/// The value of a resource in the files.
///
/// # Errors
/// The value takes more than is left of the budget.
pub fn read(node: NodeRef<'_>, budget: &Budget) -> Result<Value> {
    // An alias may expand to a large value, so the budget is checked before anything is built.
    let json = exact_json(node, budget)?;
    Ok(if has_words(node) { of_node(node, budget)? } else { serde_json::from_str(&json)? })
}

/// The boolean that a bare word means in YAML 1.1, but not in YAML 1.2. Source: `resolveTable` of go-yaml v2.
fn word(node: NodeRef<'_>) -> Option<bool> {
    let node = node.resolve();
    if node.is_container() || node.style() != Style::Plain || node.tag().is_some() {
        return None;
    }
    match node.string() {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn has_words(node: NodeRef<'_>) -> bool {
    let in_fields = || node.fields().any(|(key, value)| word(key).is_some() || has_words(value));
    word(node).is_some() || (node.is_map() && in_fields()) || node.elements().any(has_words)
}

fn of_node(node: NodeRef<'_>, budget: &Budget) -> Result<Value> {
    if node.is_map() {
        let name = |key: NodeRef<'_>| word(key).map_or_else(|| key.string().to_owned(), |word| word.to_string());
        let entries = node.fields().map(|(key, value)| Ok((name(key), of_node(value, budget)?)));
        return entries.collect::<Result<Map<_, _>>>().map(Value::Object);
    }
    if node.is_list() {
        return node.elements().map(|element| of_node(element, budget)).collect::<Result<Vec<_>>>().map(Value::Array);
    }
    match word(node) {
        Some(word) => Ok(word.into()),
        None => Ok(serde_json::from_str(&exact_json(node, budget)?)?),
    }
}

/// kubectl's note of the object that it applies. Source: `GetModifiedConfiguration` of k8s.io/kubectl.
pub fn note(object: &Value) -> String {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        let annotations = metadata.entry("annotations").or_insert(Value::Null);
        if annotations.is_null() {
            *annotations = json!({});
        }
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.shift_remove(crate::object::LAST_APPLIED);
        }
    }
    let mut out = String::new();
    write(&object, &mut out);
    out.push('\n');
    out
}

/// Writes a value as Go's `encoding/json` does.
fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_by_key(|field| field.0);
            out.push('{');
            for (at, (name, value)) in fields.into_iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write_text(name, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(list) => {
            out.push('[');
            for (at, value) in list.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write(value, out);
            }
            out.push(']');
        }
        Value::String(text) => write_text(text, out),
        Value::Number(number) if number.is_f64() => out.push_str(&float(number.as_f64().unwrap_or_default())),
        other => out.push_str(&other.to_string()),
    }
}

/// Writes a string. Source: `appendString` of encoding/json, which also escapes characters that matter in HTML.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)))
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Writes a float. Source: `floatEncoder` of encoding/json. Whole numbers have no point. Only very large and very small numbers have an
/// exponent.
fn float(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        return match text.split_once('e') {
            Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
            _ => text,
        };
    }
    format!("{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::Document;

    #[test]
    fn bare_words_are_booleans_as_kubectl_reads_them() {
        let text = "a: yes\nb: [Off, 'no', \"on\", !!str y, N, none, nO]\non: y\nyes: {c: NO}\n? 'off'\n: |\n  yes\nd: &x Yes\ne: *x\n";
        let document = Document::parse(text).expect("YAML");
        let root = document.roots().next().expect("a root");
        let want = json!({"a": true, "b": [false, "no", "on", "y", false, "none", "nO"], "true": {"c": false}, "off": "yes\n", "d": true, "e": true});
        assert_eq!(read(root, &Budget::default()).expect("small"), want);
    }

    #[test]
    fn what_is_noted_is_written_as_go_writes_it() {
        for (value, want) in [
            (json!({"b": 1, "a": {"z": [], "y": {}}, "B": null}), "{\"B\":null,\"a\":{\"y\":{},\"z\":[]},\"b\":1}\n"),
            (
                json!(["<a> & b", "é\u{2028}\u{1}\u{7f}\t\u{8}\"\\/"]),
                "[\"\\u003ca\\u003e \\u0026 b\",\"é\\u2028\\u0001\u{7f}\\t\\b\\\"\\\\/\"]\n",
            ),
            (
                json!([1.0, 0.1, 1e20, 1e21, 1e-7, -2.5, 1e-6]),
                "[1,0.1,100000000000000000000,1e+21,1e-7,-2.5,0.000001]\n",
            ),
            (json!({"metadata": {"name": "a"}}), "{\"metadata\":{\"annotations\":{},\"name\":\"a\"}}\n"),
            (
                json!({"metadata": {"annotations": {crate::object::LAST_APPLIED: "x", "b": ""}}, "status": {}}),
                "{\"metadata\":{\"annotations\":{\"b\":\"\"}},\"status\":{}}\n",
            ),
        ] {
            assert_eq!(note(&value), want);
        }
    }
}
