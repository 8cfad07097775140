//! ResourceLists from readable pieces, and what is in the texts that come back.

use krm_job::event::to_value;
use krm_merge_function::results::yaml_of;
use krm_tree::limit::Budget;
use krm_yaml::{Document, Kind, NodeRef, quoted_json};
use serde_json::{Value, json};

/// Indents every line that is not empty.
pub fn indent(text: &str, by: usize) -> String {
    let pad = " ".repeat(by);
    let lines = text.split_inclusive('\n');
    lines.map(|l| if matches!(l, "\n" | "\r\n") { l.to_owned() } else { format!("{pad}{l}") }).collect()
}

/// The documents of a YAML text as compact list items, their head comments above the dash.
pub fn items(documents: &str) -> String {
    let documents = documents.split("---\n").filter(|d| !d.trim().is_empty());
    let item = |d: &str| {
        let d = d.trim_start_matches([' ', '\n']);
        let head: usize =
            d.split_inclusive('\n').take_while(|l| l.starts_with('#') || l.trim().is_empty()).map(str::len).sum();
        format!("{}- {}", &d[..head], indent(&d[head..], 2).trim_start())
    };
    documents.map(item).collect()
}

/// A ResourceList with these items and a functionConfig with this `spec`.
pub fn resource_list(items: &str, spec: &str) -> String {
    let items = if items.is_empty() { " []\n".to_owned() } else { format!("\n{items}") };
    format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:{items}functionConfig:\n  apiVersion: krm-merge.dev/v1alpha1\n  kind: Merge\n  metadata:\n    name: test\n  spec:\n{}",
        indent(spec, 4)
    )
}

/// A role of the functionConfig, filled with YAML text: in quotes where a block scalar would be refused, or would lose lines at its end.
pub fn side(role: &str, yaml: &str) -> String {
    let is_plain = !yaml.contains(['\r', '\u{85}', '\u{2028}', '\u{2029}', '\u{feff}'])
        && !yaml.starts_with(' ')
        && yaml.ends_with('\n')
        && !yaml.ends_with("\n\n");
    match is_plain {
        true => format!("{role}:\n- yaml: |\n{}", indent(yaml, 4)),
        false => format!("{role}:\n- yaml: {}\n", quoted_json(yaml)),
    }
}

/// What stands between `items:` and `functionConfig:`.
pub fn items_of(stdout: &str) -> &str {
    let start = stdout.find("items:").map_or(0, |i| i + "items:".len());
    let end = stdout.find("functionConfig:").unwrap_or(stdout.len());
    stdout[start..end].trim_start_matches([' ', '\r', '\n'])
}

/// A place in conflict; the list, if the place is in a list without keys.
pub fn outside_of_lists(place: &str) -> &str {
    let index = place.match_indices('[').find(|(at, _)| place[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    &place[..index.map_or(place.len(), |(at, _)| at)]
}

/// The messages of the results, in order, and their severities.
pub fn results(stdout: &str) -> Vec<(String, String)> {
    let doc = Document::parse(stdout).expect("output is YAML");
    let root = doc.roots().next().expect("output has a root");
    let text = |r: NodeRef<'_>, key: &str| r.get(key).map(NodeRef::string).unwrap_or_default().to_owned();
    root.get("results")
        .into_iter()
        .flat_map(NodeRef::elements)
        .map(|r| (text(r, "severity"), text(r, "message")))
        .collect()
}

/// The value of a node, aliases and `<<` resolved.
pub fn value_of(node: NodeRef<'_>) -> Value {
    let node = node.resolve();
    match node.kind() {
        Kind::Map => Value::Object(node.fields().map(|(k, v)| (k.string().to_owned(), value_of(v))).collect()),
        Kind::List => Value::Array(node.elements().map(value_of).collect()),
        _ => serde_json::to_value(yaml_of(&to_value(node, &Budget::default()).expect("a scalar"))).expect("a value"),
    }
}

/// A resource with this spec.
pub fn resource(name: usize, spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": format!("r{name}")}, "spec": spec})
}
