//! Results as SARIF 2.1.0, the format that code scanning accepts.

use krm_folders::side::Side;
use krm_job::event::{Event, Severity};
use krm_yaml::Position;
use serde_json::{Value, json};

use crate::clash::{Shown, Values, public_values};
use crate::output::indented;
use crate::place;

/// The rules, each with its description and its default level.
const RULES: [(&str, &str, &str); 5] = [
    ("conflict", "Dest and updated changed the same place, and not in the same way.", "warning"),
    ("combined", "A list or a text holds changes of both sides.", "note"),
    ("moved", "A resource moved to another file, as upstream moved it.", "note"),
    ("review", "Something else that the owner of a resource should look at.", "warning"),
    ("error", "Something that cannot be merged.", "error"),
];

/// The results as a log with one run.
pub fn sarif(dest: &Side, results: &[Event]) -> String {
    let found: Vec<Value> = results.iter().filter(|r| place::is_shown(r)).map(|r| result(dest, r)).collect();
    log(&RULES, found, results.iter().all(|r| r.severity != Severity::Error))
}

/// A log with one run, of these rules, each with its description and its default level.
pub fn log(rules: &[(&str, &str, &str)], found: Vec<Value>, is_successful: bool) -> String {
    let rules = rules.iter().map(|(id, about, level)| {
        json!({"id": id, "shortDescription": {"text": about}, "defaultConfiguration": {"level": level}})
    });
    let rules: Vec<Value> = rules.collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "krm-merge",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "invocations": [{"executionSuccessful": is_successful}],
            "columnKind": "unicodeCodePoints",
            "results": found,
        }],
    });
    indented(&log.to_string())
}

fn result(dest: &Side, result: &Event) -> Value {
    let reason = result.reason();
    let fallback = if result.severity == Severity::Error { "error" } else { "review" };
    let is_rule = |id: &&str| RULES.iter().any(|rule| rule.0 == *id);
    let rule = reason.filter(is_rule).unwrap_or(fallback);
    let level = match result.severity {
        Severity::Error => "error",
        Severity::Warning if result.is_open() => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    let told = krm_words::without_place(result);
    let mut out = json!({"ruleId": rule, "level": level, "message": {"text": told}});
    out["ruleIndex"] = json!(RULES.iter().position(|r| r.0 == rule));
    let about = result.resource_ref.as_ref().map(|r| r.identity().to_string());
    let path = result.field.as_ref().map(|field| field.path.as_str()).filter(|path| !path.is_empty());
    let mut location = serde_json::Map::new();
    if let Some(at) = place::of(dest, result) {
        location.insert("physicalLocation".to_owned(), physical(&at.file, at.position));
    }
    if let Some(about) = about {
        let name = [Some(about.as_str()), path].into_iter().flatten().collect::<Vec<_>>().join(" ");
        location.insert("logicalLocations".to_owned(), logical(&name));
        out["partialFingerprints"] = fingerprints(rule, &name);
    }
    if !location.is_empty() {
        out["locations"] = json!([location]);
    }
    if let Some(Values { original, dest, updated }) = public_values(result).filter(|_| result.is_conflict()) {
        out["properties"] = json!({"original": shown(&original), "dest": shown(&dest), "updated": shown(&updated)});
    }
    out
}

/// The place of a result in a file.
pub fn physical(file: &str, at: Position) -> Value {
    let region = json!({"startLine": at.line, "startColumn": at.column});
    json!({"artifactLocation": {"uri": uri(file)}, "region": region})
}

/// What a result is about: a resource or an overlay, and a field of it.
pub fn logical(name: &str) -> Value {
    json!([{"fullyQualifiedName": name, "kind": "resource"}])
}

/// The fingerprint of a result, which keeps its identity when the lines around it move.
pub fn fingerprints(rule: &str, name: &str) -> Value {
    json!({"resourceAndField/v1": format!("{rule} {name}")})
}

fn shown(value: &Shown) -> String {
    match value {
        Shown::Whole(text) => text.clone(),
        Shown::Against(lines) => lines.iter().map(|line| line.marked() + "\n").collect(),
    }
}

/// A path as a URI reference. Source: RFC 3986. A colon in the first segment would look like the end of a scheme, so it is encoded.
fn uri(path: &str) -> String {
    let is_bare = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~' | b'/');
    let encoded = |b: u8| if is_bare(b) { char::from(b).to_string() } else { format!("%{b:02X}") };
    let path: String = path.bytes().map(encoded).collect();
    if path.starts_with('/') { format!("file://{path}") } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_uri_reference() {
        for (path, want) in
            [("a/b.yaml", "a/b.yaml"), ("a b:c%.yaml", "a%20b%3Ac%25.yaml"), ("/x/é", "file:///x/%C3%A9")]
        {
            assert_eq!(uri(path), want);
        }
    }
}
