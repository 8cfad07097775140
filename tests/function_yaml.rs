//! `functions/merge/function.yaml` is what the types of the functionConfig say.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::collections::BTreeSet;
use std::path::Path;

use krm_job::config::Config;
use krm_merge_function::run;
use krm_yaml::Document;
use serde_json::{Value, json};

#[path = "support/schema.rs"]
mod schema;

use schema::takes;

/// To remake the file: `KRM_MERGE_WRITE=1 cargo test --test function_yaml`.
#[test]
fn function_yaml_is_derived_from_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("functions/merge/function.yaml");
    let want = format!(
        "# Derived from the types in crates/krm-job/src/config.rs; remade by `KRM_MERGE_WRITE=1 cargo test --test function_yaml`.\n{}",
        yaml_serde::to_string(&krm_job::config::definition()).expect("YAML")
    );
    if std::env::var_os("KRM_MERGE_WRITE").is_some() {
        std::fs::write(&path, &want).expect("written");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("functions/merge/function.yaml"), want);
}

#[test]
fn the_schema_names_every_field_and_every_value() {
    let schema = krm_job::config::openapi_schema().to_value();
    let spec = &schema["properties"]["spec"]["properties"];
    let mut fields: Vec<&str> = spec.as_object().expect("fields").keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "conflictLevel",
            "inferMergeKeys",
            "keep",
            "maxOutput",
            "mergeKeys",
            "mode",
            "newElements",
            "onConflict",
            "openapi",
            "original",
            "paths",
            "renames",
            "rules",
            "source",
            "updated",
            "upstream",
            "upstreamLock"
        ]
    );
    assert_eq!(schema["properties"]["spec"]["required"], serde_json::json!(["mode"]));
    let text = schema.to_string();
    for part in
        ["TwoWay", "ThreeWay", "Strategic", "TakeUpdated", "KeepDest", "Fail", "Append", "Prepend", "labelSelector"]
    {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("$ref"), "a KRMFunctionDefinition holds its schema whole");
}

/// Every map in a schema, as the way to a value of it, with its fields.
fn maps(schema: &Value, way: &[Step], out: &mut Vec<(Vec<Step>, Vec<String>)>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        out.push((way.to_vec(), properties.keys().cloned().collect()));
        for (name, schema) in properties {
            maps(schema, &[way, &[Step::Field(name.clone())]].concat(), out);
        }
    }
    if let Some(items) = schema.get("items") {
        maps(items, &[way, &[Step::Element]].concat(), out);
    }
    for variant in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        maps(variant, way, out);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Field(String),
    Element,
}

fn at<'v>(value: &'v mut Value, way: &[Step]) -> Option<&'v mut serde_json::Map<String, Value>> {
    let end = way.iter().try_fold(value, |value, step| match step {
        Step::Field(name) => value.get_mut(name),
        Step::Element => value.get_mut(0),
    });
    end?.as_object_mut()
}

/// A functionConfig of each mode that has every field which it may have; of an input and of a rule, what goes together.
fn full() -> Vec<Value> {
    let config = |spec: Value| json!({"apiVersion": "krm-merge.dev/v1alpha1", "kind": "Merge", "metadata": {"name": "x"}, "spec": spec});
    let target = json!({"group": "apps", "version": "v1", "kind": "Deployment", "name": "web", "namespace": "prod", "labelSelector": "a", "annotationSelector": "b", "path": "a/*.yaml"});
    let path = json!({"path": "x", "keep": true});
    let yaml = json!({"yaml": "a: 1"});
    let itself = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "a"}, "a": 1});
    let resources = json!({"resources": [itself]});
    let rule = |(how, said): (&str, Value)| json!({"apiVersion": "v1", "kind": "K", "path": "spec.l", how: said});
    let rules = [("keys", json!(["name"])), ("set", json!(true)), ("atomic", json!(true))].map(rule);
    let openapi = json!({"definitions": {"k": {"x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "K"}]}}});
    let mut out = vec![
        config(json!({"mode": "TwoWay", "source": [itself]})),
        config(json!({"mode": "ThreeWay", "original": [itself], "updated": [itself], "onConflict": "ours"})),
    ];
    let edits = [json!({"set": "spec.a", "value": 1}), json!({"op": "add", "path": "/spec/a", "value": 1})];
    for edit in edits {
        let all = json!({"edits": [edit], "targets": [target], "exclude": [target], "create": false, "optional": true});
        out.push(config(json!({"mode": "TwoWay", "source": [all]})));
    }
    out.push(config(json!({"mode": "TwoWay", "source": [{"path": "x", "into": "base"}]})));
    for input in [path, yaml, resources] {
        let mut source = input.clone();
        source["target"] = target.clone();
        for rule in &rules {
            for mode in ["TwoWay", "Strategic"] {
                out.push(config(json!({"mode": mode, "source": [source], "newElements": "Append", "inferMergeKeys": true, "maxOutput": "64Mi", "mergeKeys": [rule], "openapi": openapi, "upstream": {"run": ["x"]}, "upstreamLock": {"ref": "x"}})));
            }
        }
        out.push(config(json!({"mode": "ThreeWay", "original": [input], "updated": [input], "onConflict": "Fail", "rules": [{"target": target, "path": "spec.a", "take": "Dest", "when": {"original": 1, "updated": {"a": []}, "dest": "x"}}], "conflictLevel": "Value", "renames": "Ignore"})));
    }
    out
}

fn is_read(config: &Value) -> Result<(), String> {
    let text = config.to_string();
    let doc = Document::parse(text.as_str()).expect("JSON is YAML");
    Config::read(doc.roots().next().expect("a root")).map(drop).map_err(|e| e.to_string())
}

/// Whether the function refuses the resources that a functionConfig holds, which the reader does not look at.
fn has_wrong_resources(config: &Value) -> bool {
    let list =
        json!({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [], "functionConfig": config});
    let told = run(&list.to_string()).stderr.concat();
    ["must hold at least one resource", "must have `metadata.name`", "must have `apiVersion`", "must have `kind`"]
        .iter()
        .any(|part| told.contains(part))
}

/// What the reader refuses and no schema can say: by a part of the message.
const BEYOND_THE_SCHEMA: [&str; 2] = ["must be a regular expression", "must be a selector"];

#[test]
fn schema_and_code_take_the_same_in_every_field_of_every_role() {
    let schema = krm_job::config::openapi_schema().to_value();
    let values = [
        json!(null),
        json!(true),
        json!(false),
        json!(""),
        json!("Append"),
        json!("Fail"),
        json!("../x"),
        json!("["),
        json!([]),
        json!([""]),
        json!(["x"]),
        json!([{}]),
        json!([null]),
        json!({}),
        json!({"x": "y"}),
        json!({"kind": "K"}),
        json!([{"yaml": "a: 1", "target": {"kind": "K"}}]),
    ];
    let mut all = Vec::new();
    maps(&schema, &[], &mut all);
    let (mut tried, mut beyond, mut taken) = (BTreeSet::new(), BTreeSet::new(), 0);
    for config in full() {
        assert!(takes(&schema, &config), "{config}");
        assert_eq!(is_read(&config), Ok(()), "{config}");
        for (way, fields) in &all {
            if at(&mut config.clone(), way).is_none() {
                continue;
            }
            let unknown = ["no", "target", "keep", "source"].map(str::to_owned);
            for field in fields.iter().chain(&unknown) {
                tried.insert(format!("{way:?} {field}"));
                for value in values.iter().map(Some).chain([None]) {
                    let mut changed = config.clone();
                    let map = at(&mut changed, way).expect("a map");
                    match value {
                        Some(value) => map.insert(field.clone(), value.clone()),
                        None => map.remove(field),
                    };
                    match (takes(&schema, &changed), is_read(&changed)) {
                        (true, Ok(())) => taken += 1,
                        (false, Err(_)) => {}
                        (true, Err(e)) => {
                            let part = BEYOND_THE_SCHEMA.iter().find(|part| e.contains(**part));
                            beyond.insert(
                                *part.unwrap_or_else(|| {
                                    panic!("the schema takes {way:?} {field} in {changed}, but: {e}")
                                }),
                            );
                        }
                        (false, Ok(())) => {
                            assert!(has_wrong_resources(&changed), "the schema refuses {way:?} {field} in {changed}");
                        }
                    }
                }
            }
        }
    }
    let of_schema = all.iter().flat_map(|(way, fields)| fields.iter().map(move |field| format!("{way:?} {field}")));
    assert_eq!(
        of_schema.filter(|field| !tried.contains(field)).collect::<Vec<_>>(),
        [""; 0],
        "not in any functionConfig"
    );
    assert_eq!(beyond.len(), BEYOND_THE_SCHEMA.len(), "{beyond:?}");
    assert!(taken > 100, "{taken}");
}
