//! What the reader checks by hand, said in the schema, too: which fields go together, and what a path is.
//!
//! The words are those that both JSON Schema and OpenAPI 3.0 know. A field whose value is null is left out. `tests/schemas.rs` has a table of wrong
//! configurations, with what the schema cannot say.

use serde_json::{Value, json};

/// What is no path in a package: it begins at the root of the disk, has `..`, or names nothing.
const NO_PATH: &str = r"^/|^[A-Za-z]:/|(^|[/\\])[. ]*\.[. ]*\.[. ]*([/\\]|$)|^[./]*$";
/// A path with wildcards, whose brackets are closed.
const GLOB: &str = r"^([^\[\\]|\\.|\\$|\[[^\]]+\])*$";
/// One folder.
const NO_FOLDER: &str = r"[*?\[\\]";
/// A value in brackets, which may be quoted.
const VALUE: &str = r#"("([^"\\]|\\.)*"|[^",\]][^,\]]*)?"#;
/// The path of a list in `mergeKeys`.
const LIST: &str = r"^[^.\[\]]+(\[\*\])*(\[\])*(\.[^.\[\]]+(\[\*\])*(\[\])*)*$";
/// A number of bytes.
const SIZE: &str = "^[0-9]+([kMG]|[KMG]i)?$";

/// Says it in the schema of a functionConfig.
pub(super) fn say(schema: &mut schemars::Schema) {
    let mut at = |pointer: &str, says: Value| {
        if let Some(schema) = schema.pointer_mut(pointer).and_then(Value::as_object_mut) {
            schema.insert("allOf".to_owned(), json!([says]));
        }
    };
    let spec = "/properties/spec";
    at(spec, json!({"anyOf": [of_mode(&["ThreeWay"], &["source"]), of_mode(&["TwoWay", "Strategic"], &THREE_WAY)]}));
    at(
        &format!("{spec}/properties/openapi"),
        json!({"anyOf": [left_out(), given("path"), {"required": ["definitions"], "properties": {"definitions": types()}}]}),
    );
    at(&format!("{spec}/properties/maxOutput/anyOf/0/anyOf/1"), json!({"pattern": SIZE}));
    at(&format!("{spec}/properties/mergeKeys/items"), exactly_one(&["keys", "set", "atomic"]));
    at(&format!("{spec}/properties/mergeKeys/items/properties/path"), json!({"pattern": LIST}));
    at(&format!("{spec}/properties/rules/items/properties/path"), json!({"pattern": field()}));
    at(&format!("{spec}/properties/rules/items/properties/target/properties/path"), path());
    for role in ["source", "original", "updated"] {
        let items = format!("{spec}/properties/{role}/items/anyOf");
        at(&format!("{items}/1"), named());
        let input = format!("{items}/0");
        let kinds: &[&str] =
            if role == "source" { &["resources", "yaml", "edits", "path"] } else { &["resources", "yaml", "path"] };
        let aimed = || json!({"anyOf": [given("target"), given("targets")]});
        let unnamed =
            json!({"anyOf": [without("resources"), aimed(), {"properties": {"resources": {"items": named()}}}]});
        let together = [
            exactly_one(kinds),
            needs("keep", given("path")),
            unnamed,
            needs("edits", aimed()),
            needs("exclude", aimed()),
            needs("into", json!({"not": aimed()})),
            needs("target", without("targets")),
        ];
        at(&input, json!({"allOf": together}));
        at(&format!("{input}/properties/path"), path());
        at(&format!("{input}/properties/yaml"), json!({"minLength": 1}));
        at(
            &format!("{input}/properties/into"),
            json!({"not": {"type": "string", "pattern": format!("{NO_PATH}|{NO_FOLDER}")}}),
        );
        for target in ["target", "targets/items", "exclude/items"] {
            at(&format!("{input}/properties/{target}/properties/path"), path());
        }
        let edit = format!("{input}/properties/edits/items");
        let one = |kind: &str, more: Value| json!({"allOf": [given(kind), more]});
        let (no_path, no_value) = (json!({"not": {"required": ["path"]}}), json!({"not": {"required": ["value"]}}));
        let valued = json!({"required": ["value"], "not": {"required": ["path"]}});
        let pointer = json!({"required": ["path"], "properties": {"path": {"type": "string", "pattern": "^/"}}});
        let removes = json!({"properties": {"op": {"enum": ["remove"]}}});
        let of_op = json!({"allOf": [pointer, {"oneOf": [{"allOf": [removes, no_value]}, {"required": ["value"], "not": removes}]}]});
        at(
            &edit,
            json!({"allOf": [
                exactly_one(&["set", "append", "delete", "op"]),
                {"anyOf": [one("set", valued.clone()), one("append", valued), one("delete", json!({"allOf": [no_path, no_value]})), one("op", of_op)]},
            ]}),
        );
        for kind in ["set", "append", "delete"] {
            at(&format!("{edit}/properties/{kind}"), json!({"pattern": field()}));
        }
    }
}

/// The path of a field, as `krm_tree::path::PathPattern` reads it: names behind dots, and what is in brackets.
fn field() -> String {
    let keys = format!(r#"[^"=\]-][^=\]]*={VALUE}(,[^=]*={VALUE})*"#);
    let step = format!(r#"\[("([^"\\]|\\.)*"|={VALUE}|\*|-[^=\]]*|\+?[0-9]+|{keys})\]"#);
    format!(r"^([^.\[]+|{step})(\.[^.\[]+|{step})*$")
}

/// The fields that only ThreeWay has.
const THREE_WAY: [&str; 6] = ["original", "updated", "onConflict", "rules", "conflictLevel", "renames"];

/// What these modes have not.
fn of_mode(modes: &[&str], without: &[&str]) -> Value {
    let fields = without.iter().map(|name| ((*name).to_owned(), left_out()));
    let fields: serde_json::Map<String, Value> = fields.chain([("mode".to_owned(), json!({"enum": modes}))]).collect();
    json!({"properties": fields})
}

/// The value of a field that is left out.
fn left_out() -> Value {
    json!({"enum": [null]})
}

fn given(field: &str) -> Value {
    json!({"required": [field], "properties": {field: {"not": left_out()}}})
}

fn without(field: &str) -> Value {
    json!({"properties": {field: left_out()}})
}

fn needs(field: &str, what: Value) -> Value {
    json!({"anyOf": [without(field), what]})
}

fn exactly_one(fields: &[&str]) -> Value {
    json!({"oneOf": fields.iter().map(|field| given(field)).collect::<Vec<_>>()})
}

fn path() -> Value {
    json!({"pattern": GLOB, "not": {"type": "string", "pattern": NO_PATH}})
}

/// A resource that names itself, or a list of resources.
fn named() -> Value {
    let scalar = json!({"not": {"anyOf": [left_out(), {"type": "array"}, {"type": "object"}]}});
    let of = |fields: &[&str]| {
        let known = fields.iter().map(|name| ((*name).to_owned(), scalar.clone())).collect::<serde_json::Map<_, _>>();
        json!({"type": "object", "required": fields, "properties": known})
    };
    let metadata = json!({"required": ["metadata"], "properties": {"metadata": of(&["name"])}});
    json!({"anyOf": [given("items"), {"allOf": [of(&["apiVersion", "kind"]), metadata]}]})
}

/// A map of schemas. One of them names the type of a resource.
fn types() -> Value {
    json!({"type": "object", "not": {"additionalProperties": {"not": {"required": ["x-kubernetes-group-version-kind"]}}}})
}
