//! `schemas/` is what the types of the functionConfig say, for editors.
//!
//! To remake the files: `KRM_MERGE_WRITE=1 cargo test --test schemas`.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::fs;
use std::path::Path;

use krm_merge_function::{Verdict, run};
use serde_json::{Value, json};

#[path = "support/schema.rs"]
mod schema;

use schema::takes;

/// The fields of `spec` that a package does not have, because the command says them.
const SIDES: [&str; 3] = ["source", "original", "updated"];

/// The schema of a functionConfig.
fn function_config() -> Value {
    let mut schema = krm_job::config::json_schema().to_value();
    schema["title"] = json!("functionConfig of krm-merge");
    schema["examples"] = json!([
        {"apiVersion": "krm-merge.dev/v1alpha1", "kind": "Merge", "metadata": {"name": "overlay"}, "spec": {"mode": "TwoWay", "source": [{"path": "overlay/"}]}},
        {"apiVersion": "krm-merge.dev/v1alpha1", "kind": "Merge", "metadata": {"name": "upgrade"}, "spec": {"mode": "ThreeWay", "original": [{"path": "upstream/v1/"}], "updated": [{"path": "upstream/v2/"}]}},
    ]);
    schema
}

/// The schema of a `.krm-merge.yaml`: a functionConfig without sides, which may leave out the mode.
fn rules() -> Value {
    let mut schema = krm_job::config::json_schema().to_value();
    schema["title"] = json!(".krm-merge.yaml");
    schema["description"] = json!("How a package or a repository merges, and where a package comes from.");
    let spec = &mut schema["properties"]["spec"];
    let fields = spec["properties"].as_object_mut().expect("fields");
    SIDES.iter().for_each(|side| drop(fields.shift_remove(*side)));
    fields["mode"]["description"] = json!("How resources are merged, which a command says itself.");
    spec.as_object_mut().expect("a schema").shift_remove("required");
    schema["examples"] = json!([
        {"apiVersion": "krm-merge.dev/v1alpha1", "kind": "Merge", "spec": {"rules": [{"target": {"kind": "Deployment"}, "path": "spec.replicas", "take": "Dest"}]}},
    ]);
    schema
}

#[test]
fn the_schemas_are_derived_from_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    for (name, schema) in [("function-config.json", function_config()), ("krm-merge-yaml.json", rules())] {
        let want = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
        if std::env::var_os("KRM_MERGE_WRITE").is_some() {
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join(name), &want).expect("written");
        }
        assert_eq!(fs::read_to_string(folder.join(name)).expect(name), want, "{name}");
    }
}

/// The descriptions that a schema lacks, by the way to the field.
fn undescribed(schema: &Value, way: &str, out: &mut Vec<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let way = format!("{way}.{name}");
        if field["description"].as_str().is_none_or(str::is_empty) {
            out.push(way.clone());
        }
        undescribed(field, &way, out);
    }
    for inner in schema.get("items").into_iter().chain(schema["anyOf"].as_array().into_iter().flatten()) {
        undescribed(inner, way, out);
    }
}

#[test]
fn an_editor_can_say_what_each_field_is() {
    for schema in [function_config(), rules()] {
        let mut missing = Vec::new();
        undescribed(&schema, "", &mut missing);
        missing.retain(|way| !way.ends_with(".apiVersion") && !way.ends_with(".kind"));
        assert_eq!(missing, [""; 0]);
        assert!(schema["$schema"].is_string() && schema["examples"].is_array(), "{schema}");
        assert!(!schema.to_string().contains("\"nullable\""), "a word of OpenAPI, which editors do not know");
    }
}

/// Runs a `spec` on an item.
fn verdict(spec: &Value) -> Verdict {
    let item = |folder: &str| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "annotations": {"config.kubernetes.io/path": format!("{folder}/web.yaml")}}, "spec": {"replicas": 1}});
    let items = json!([item("base"), item("over"), item("old"), item("new")]);
    let config = json!({"apiVersion": "krm-merge.dev/v1alpha1", "kind": "Merge", "spec": spec});
    let list = json!({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items, "functionConfig": config});
    run(&list.to_string()).verdict
}

/// Whether the schema takes a `spec`.
fn schema_takes(spec: &Value) -> bool {
    takes(&function_config(), &json!({"apiVersion": "krm-merge.dev/v1alpha1", "kind": "Merge", "spec": spec}))
}

fn specs(text: &str) -> Vec<Value> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| yaml_serde::from_str(&format!("{{{line}}}")).unwrap_or_else(|e| panic!("{line}: {e}"))).collect()
}

/// What is right.
const RIGHT: &str = r#"
    mode: TwoWay, source: [{path: over, into: base, keep: false, create: false, optional: true}]
    mode: TwoWay, source: [{path: "ov*", into: ./base/}]
    mode: TwoWay, source: [{path: "o[v]er/**", into: base, yaml: null, target: null}]
    mode: TwoWay, source: [{yaml: "spec: {replicas: 3}", target: {kind: Deployment, labelSelector: "!a", path: "base/*.yaml"}, exclude: [{name: x}]}]
    mode: TwoWay, source: [{yaml: "spec: {replicas: 3}", targets: [{kind: Deployment}, {kind: Service}]}]
    mode: Strategic, source: [{target: {kind: Deployment}, edits: [{set: spec.replicas, value: 3}, {set: 'metadata.annotations["a.b/c"]', value: null}, {append: 'spec.l[*].m[a=b,c="d]"].n', value: {a: b}}, {delete: 'spec.x.args[--port]'}, {delete: 'spec.x.*.y[=a][0]'}, {op: add, path: /spec/x, value: 1}, {op: remove, path: /spec/x}]}], newElements: Prepend, inferMergeKeys: true
    mode: TwoWay, source: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {resources: [{apiVersion: v1, kind: List, items: []}, {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}]
    mode: TwoWay, source: [{resources: [{spec: {replicas: 2}}], target: {kind: Deployment}}]
    mode: TwoWay, source: [{path: over, into: base}], mergeKeys: [{apiVersion: a/v1, kind: K, path: spec.l, keys: [name]}, {apiVersion: a/v1, kind: K, path: "spec.m[*].n[]", set: true}, {apiVersion: a/v1, kind: K, path: n, atomic: true, set: null}], maxOutput: 64Mi
    mode: ThreeWay, original: [{path: old, keep: true}], updated: [{path: new}], onConflict: theirs, rules: [{target: {kind: Deployment, path: "**/web.yaml"}, path: 'spec.containers[name=app].image', take: ours, when: {original: 1, dest: null}}, {take: Newest}], conflictLevel: Value, renames: Ignore, maxOutput: 33554432
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], openapi: {definitions: {a: {x-kubernetes-group-version-kind: [{group: a, version: v1, kind: K}]}}}, source: null
"#;

/// What the program and the schema refuse.
const WRONG: &str = r#"
    source: [{path: over, into: base}]
    mode: twoway, source: [{path: over, into: base}]
    mode: null, source: [{path: over, into: base}]
    mode: TwoWay, source: {path: over}
    mode: TwoWay, source: []
    mode: TwoWay, source: [over]
    mode: TwoWay, source: [null]
    mode: TwoWay, source: [{}]
    mode: TwoWay, sources: [{path: over}]
    mode: TwoWay, source: [{path: null}]
    mode: TwoWay, source: [{path: over, into: base, yaml: "a: 1"}]
    mode: TwoWay, source: [{yaml: "spec: {}", edits: [{set: a, value: 1}], target: {kind: Deployment}}]
    mode: TwoWay, source: [{resources: [{apiVersion: v1, kind: A, metadata: {name: a}}], path: over}]
    mode: TwoWay, source: [{path: ""}]
    mode: TwoWay, source: [{path: /over}]
    mode: TwoWay, source: [{path: ../over}]
    mode: TwoWay, source: [{path: over/../x}]
    mode: TwoWay, source: [{path: over/..}]
    mode: TwoWay, source: [{path: .}]
    mode: TwoWay, source: [{path: ./}]
    mode: TwoWay, source: [{path: 'over\..\x'}]
    mode: TwoWay, source: [{path: C:/over}]
    mode: TwoWay, source: [{path: "o[ver"}]
    mode: TwoWay, source: [{path: "o[]ver"}]
    mode: TwoWay, source: [{path: [over]}]
    mode: TwoWay, source: [{path: over, into: "ba*"}]
    mode: TwoWay, source: [{path: over, into: "ba?e"}]
    mode: TwoWay, source: [{path: over, into: ""}]
    mode: TwoWay, source: [{path: over, into: ../base}]
    mode: TwoWay, source: [{path: over, into: base, keep: "no"}]
    mode: TwoWay, source: [{path: over, into: base, create: 1}]
    mode: TwoWay, source: [{path: over, into: base, optional: []}]
    mode: TwoWay, source: [{path: over, into: base, extra: 1}]
    mode: TwoWay, source: [{yaml: "apiVersion: v1\nkind: A\nmetadata: {name: a}", keep: true}]
    mode: TwoWay, source: [{yaml: ""}]
    mode: TwoWay, source: [{yaml: {a: 1}}]
    mode: TwoWay, source: [{path: over, into: base, target: {kind: Deployment}}]
    mode: TwoWay, source: [{path: over, into: base, exclude: [{kind: Deployment}]}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: Deployment}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {kinds: Deployment}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {kind: [Deployment]}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {labelSelector: ""}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {annotationSelector: ""}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {path: ""}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {path: /base}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {path: "base["}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {path: ../base}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {kind: Deployment}, exclude: [{path: "a["}]}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {kind: Deployment}, exclude: []}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {kind: Deployment}, exclude: [{}]}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", targets: []}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", targets: {kind: Deployment}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", targets: [{kind: Deployment}], target: {kind: Deployment}}]
    mode: TwoWay, source: [{resources: [{apiVersion: v1, kind: A}]}]
    mode: TwoWay, source: [{resources: [{kind: A, metadata: {name: a}}]}]
    mode: TwoWay, source: [{resources: [{spec: {a: 1}}]}]
    mode: TwoWay, source: [{resources: [a]}]
    mode: TwoWay, source: [{apiVersion: v1, kind: A}]
    mode: TwoWay, source: [{apiVersion: v1, metadata: {name: a}}]
    mode: TwoWay, source: [{apiVersion: v1, kind: A, metadata: {namespace: a}}]
    mode: TwoWay, source: [{edits: [{set: a.b, value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: []}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: a.b}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{append: a.b}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{delete: a.b, value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: a.b, value: 1, path: /a}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: a.b, delete: a.c, value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: "", value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: a..b, value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: .a, value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: a., value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: "a[", value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: "a[b]", value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: "a[]", value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: "a[0]b", value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: "a[b=c", value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: 'a["b]', value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{delete: "a[-1]b"}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{append: [a], value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{op: move, path: /a, value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{op: add, path: /a}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{op: add, value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{op: add, path: a, value: 1}]}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{op: remove, path: /a, value: 1}]}]
    mode: TwoWay, source: [{path: over, into: base}], original: [{path: old}]
    mode: TwoWay, source: [{path: over, into: base}], onConflict: Fail
    mode: Strategic, source: [{path: over, into: base}], rules: [{take: Dest}]
    mode: TwoWay, source: [{path: over, into: base}], conflictLevel: Line
    mode: Strategic, source: [{path: over, into: base}], renames: Follow
    mode: TwoWay, source: [{path: over, into: base}], newElements: append
    mode: TwoWay, source: [{path: over, into: base}], inferMergeKeys: "yes"
    mode: TwoWay, source: [{path: over, into: base}], maxOutput: 64MB
    mode: TwoWay, source: [{path: over, into: base}], maxOutput: -1
    mode: TwoWay, source: [{path: over, into: base}], maxOutput: 1.5
    mode: TwoWay, source: [{path: over, into: base}], maxOutput: ""
    mode: TwoWay, source: [{path: over, into: base}], mergeKeys: [{kind: K, path: a, set: true}]
    mode: TwoWay, source: [{path: over, into: base}], mergeKeys: [{apiVersion: v1, kind: K, path: a}]
    mode: TwoWay, source: [{path: over, into: base}], mergeKeys: [{apiVersion: v1, kind: K, path: a, set: false}]
    mode: TwoWay, source: [{path: over, into: base}], mergeKeys: [{apiVersion: v1, kind: K, path: a, set: true, atomic: true}]
    mode: TwoWay, source: [{path: over, into: base}], mergeKeys: [{apiVersion: v1, kind: K, path: a, keys: []}]
    mode: TwoWay, source: [{path: over, into: base}], mergeKeys: [{apiVersion: v1, kind: K, path: a, keys: [""]}]
    mode: TwoWay, source: [{path: over, into: base}], mergeKeys: [{apiVersion: v1, kind: K, path: a..b, set: true}]
    mode: TwoWay, source: [{path: over, into: base}], mergeKeys: [{apiVersion: v1, kind: K, path: "a[b=c].d", set: true}]
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], source: [{path: over}]
    mode: ThreeWay, original: [{path: old, target: {kind: Deployment}}], updated: [{path: new}]
    mode: ThreeWay, original: [{path: old, create: false}], updated: [{path: new}]
    mode: ThreeWay, original: [{path: old}], updated: [{edits: [{set: a, value: 1}]}]
    mode: ThreeWay, original: [{path: old}], updated: []
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], onConflict: Dest
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], rules: []
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], rules: [{path: spec.replicas}]
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], rules: [{path: spec..replicas, take: Dest}]
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], rules: [{take: KeepDest}]
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], rules: [{take: Dest, when: {}}]
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], rules: [{take: Dest, target: {path: "a["}}]
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], openapi: {}
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], openapi: {definitions: {}}
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], openapi: {definitions: {a: {type: object}}}
    mode: ThreeWay, original: [{path: old}], updated: [{path: new}], renames: none
"#;

/// What only the program refuses: texts in other languages than that of schemas, what is not in the file, and numbers that are too large.
const WRONG_TO_THE_PROGRAM: &str = r#"
    mode: TwoWay, source: [{path: gone, into: base}]
    mode: TwoWay, source: [{yaml: "a: ["}]
    mode: TwoWay, source: [{yaml: "a: 1"}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {kind: "Deploy["}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {kind: Gone}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {labelSelector: "a=b=c"}}]
    mode: TwoWay, source: [{yaml: "spec: {a: 1}", target: {kind: null}}]
    mode: TwoWay, source: [{target: {kind: Deployment}, edits: [{set: spec.replicas.x, value: 1}]}]
    mode: TwoWay, source: [{path: over, into: base}], maxOutput: 99999999999999999999Gi
    mode: TwoWay, source: [{path: "[z-a]"}]
    mode: ThreeWay, original: [{path: old}]
"#;

#[test]
fn the_schema_refuses_what_the_program_refuses() {
    let of = |specs: Vec<Value>| {
        specs.into_iter().map(|spec| (verdict(&spec) == Verdict::Passed, schema_takes(&spec), spec.to_string()))
    };
    let wrong = |text: &str, want: [bool; 2]| {
        of(specs(text)).filter(|(program, schema, _)| [*program, *schema] != want).collect::<Vec<_>>()
    };
    assert_eq!(wrong(RIGHT, [true, true]), []);
    assert_eq!(wrong(WRONG, [false, false]), []);
    assert_eq!(wrong(WRONG_TO_THE_PROGRAM, [false, true]), []);
}
