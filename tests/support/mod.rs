//! What the tests share: ResourceLists from readable pieces, and what the function makes of them.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use krm_merge::limit::Budget;
use krm_merge::yaml::{Document, Kind, NodeRef};
use krm_merge_function::{Output, Verdict, run};
use proptest::test_runner::{Config, RngSeed};
use serde_json::{Value, json};

/// How often a law is tried: this often and from one seed, so that a commit passes or fails whoever runs it, or, with
/// `KRM_MERGE_LAWS=N`, N times as often from a seed of its own.
pub fn tries(cases: u32) -> Config {
    let times = std::env::var("KRM_MERGE_LAWS").ok().map(|n| n.parse::<u32>().expect("`KRM_MERGE_LAWS` is a number"));
    let rng_seed = if times.is_some() { RngSeed::Random } else { RngSeed::Fixed(0) };
    let cases = cases.saturating_mul(times.unwrap_or(1));
    Config { cases, max_global_rejects: cases.max(1024), failure_persistence: None, rng_seed, ..Config::default() }
}

/// Every case with `KRM_MERGE_LAWS`, and every so many else: the engine's own tests try each of them without a ResourceList.
pub fn sample<T>(cases: Vec<T>) -> Vec<T> {
    let step = if std::env::var_os("KRM_MERGE_LAWS").is_some() { 1 } else { SAMPLE };
    cases.into_iter().step_by(step).collect()
}

/// A prime, so that all values come together with all others.
const SAMPLE: usize = 13;

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
        let d = d.trim_start_matches('\n');
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

/// A role of the functionConfig, filled with YAML text.
pub fn side(role: &str, yaml: &str) -> String {
    format!("{role}:\n- yaml: |\n{}", indent(yaml, 4))
}

/// The files below a folder, by their paths.
pub fn files_below(folder: &Path) -> BTreeMap<String, String> {
    fn walk(folder: &Path, prefix: &str, out: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry")) {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{name}/"), out);
            } else {
                out.insert(name, fs::read_to_string(entry.path()).expect("readable"));
            }
        }
    }
    let mut out = BTreeMap::new();
    walk(folder, "", &mut out);
    out
}

/// What stands between `items:` and `functionConfig:`.
pub fn items_of(stdout: &str) -> &str {
    let start = stdout.find("items:").map_or(0, |i| i + "items:".len());
    let end = stdout.find("functionConfig:").unwrap_or(stdout.len());
    stdout[start..end].trim_start_matches([' ', '\n'])
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

/// Runs, expecting success.
pub fn passes(stdin: &str) -> Output {
    let output = run(stdin);
    assert_eq!(output.verdict, Verdict::Passed, "{:?}\n{stdin}", output.stderr);
    output
}

/// Runs, expecting failure with the items as they came; returns stderr as one text.
pub fn fails(stdin: &str) -> String {
    let output = run(stdin);
    assert_eq!(output.verdict, Verdict::Failed, "{}", output.stdout);
    assert!(!output.stderr.is_empty());
    if !output.stdout.is_empty() {
        assert!(output.stdout.starts_with(stdin.trim_end()), "what came in goes out\n{stdin}\n{}", output.stdout);
        assert!(results(&output.stdout).iter().any(|r| r.0 == "error"), "{}", output.stdout);
    }
    output.stderr.join("\n")
}

/// The value of a node, aliases and `<<` resolved.
pub fn value_of(node: NodeRef<'_>) -> Value {
    let node = node.resolve();
    match node.kind() {
        Kind::Map => Value::Object(node.fields().map(|(k, v)| (k.string().to_owned(), value_of(v))).collect()),
        Kind::List => Value::Array(node.elements().map(value_of).collect()),
        _ => serde_json::to_value(krm_merge_function::results::to_value(node, &Budget::default()).expect("a scalar"))
            .expect("a value"),
    }
}

/// A resource with this spec.
pub fn resource(name: usize, spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": format!("r{name}")}, "spec": spec})
}
