//! `schemas/` is what the types of the functionConfig say, for editors.
//!
//! To remake the files: `KRM_MERGE_WRITE=1 cargo test --test schemas`.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// The fields of `spec` that a package does not have, because the command says them.
const SIDES: [&str; 3] = ["source", "original", "updated"];

/// The schema of a functionConfig.
fn function_config() -> Value {
    let mut schema = krm_merge_function::config::json_schema().to_value();
    schema["title"] = json!("functionConfig of krm-merge");
    schema["examples"] = json!([
        {"apiVersion": "krm-merge.dev/v1alpha1", "kind": "Merge", "metadata": {"name": "overlay"}, "spec": {"mode": "TwoWay", "source": [{"path": "overlay/"}]}},
        {"apiVersion": "krm-merge.dev/v1alpha1", "kind": "Merge", "metadata": {"name": "upgrade"}, "spec": {"mode": "ThreeWay", "original": [{"path": "upstream/v1/"}], "updated": [{"path": "upstream/v2/"}]}},
    ]);
    schema
}

/// The schema of a `.krm-merge.yaml`: a functionConfig without sides, which may leave out the mode.
fn rules() -> Value {
    let mut schema = krm_merge_function::config::json_schema().to_value();
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
