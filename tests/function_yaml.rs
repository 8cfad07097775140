//! `functions/merge/function.yaml` is what the types of the functionConfig say.

use std::path::Path;

/// To remake the file: `KRM_MERGE_WRITE=1 cargo test --test function_yaml`.
#[test]
fn function_yaml_is_derived_from_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("functions/merge/function.yaml");
    let want = format!(
        "# Derived from the types in src/config.rs; remade by `KRM_MERGE_WRITE=1 cargo test --test function_yaml`.\n{}",
        serde_yaml::to_string(&krm_merge::config::definition()).expect("YAML")
    );
    if std::env::var_os("KRM_MERGE_WRITE").is_some() {
        std::fs::write(&path, &want).expect("written");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("functions/merge/function.yaml"), want);
}

#[test]
fn the_schema_names_every_field_and_every_value() {
    let schema = krm_merge::config::openapi_schema().to_value();
    let spec = &schema["properties"]["spec"]["properties"];
    let mut fields: Vec<&str> = spec.as_object().expect("fields").keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "inferMergeKeys",
            "mergeKeys",
            "mode",
            "newElements",
            "onConflict",
            "openapi",
            "original",
            "source",
            "updated"
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
