//! What `npm/browser.js` calls; `npm/index.d.ts` says what goes in and out. Each function turns values of JavaScript into ours, and back.

use js_sys::TypeError;
use krm_json::decide::Decision;
use krm_json::files::Files;
use krm_json::merge::MergeInput;
use krm_merge_function::Verdict;
use krm_tree::sides::Sides;
use serde::Serialize;
use serde_json::Value;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

/// Merges texts.
#[wasm_bindgen]
pub fn merge(input: JsValue) -> Result<JsValue, JsValue> {
    let input = MergeInput::of(json("input", input)?).map_err(|error| TypeError::new(&error))?;
    Ok(to_js(&krm_json::merge::merge(&input))?)
}

/// The functionConfig with decisions: a list of cases, each with who wins.
#[wasm_bindgen]
pub fn decide(function_config: &str, decisions: JsValue) -> Result<String, JsValue> {
    let all = match json("conflict", decisions)? {
        Value::Array(all) => all,
        one => vec![one],
    };
    let decisions =
        all.into_iter().map(Decision::of).collect::<Result<_, _>>().map_err(|error| TypeError::new(&error))?;
    Ok(krm_json::decide::decide(function_config, decisions).map_err(|error| JsError::new(&error))?)
}

/// The KRM function.
#[wasm_bindgen]
pub fn run(resource_list: &str) -> Result<JsValue, JsError> {
    #[derive(Serialize)]
    struct Output {
        stdout: String,
        stderr: Vec<String>,
        passed: bool,
    }
    let output = krm_merge_function::run(resource_list);
    to_js(&Output { stdout: output.stdout, stderr: output.stderr, passed: output.verdict == Verdict::Passed })
}

/// A unified diff.
#[wasm_bindgen]
pub fn diff(before: &str, after: &str, path: &str) -> String {
    crate::texts::diff(before, after, path)
}

/// How the lists of a type merge.
#[wasm_bindgen]
pub fn explain(kind: &str, files: JsValue) -> Result<JsValue, JsValue> {
    let files = match json("files", files)? {
        Value::Null => Files::default(),
        files => Files::of("files", files).map_err(|error| TypeError::new(&error))?,
    };
    Ok(to_js(&crate::explain::explain(kind, &files).map_err(|error| JsError::new(&error))?)?)
}

/// The conflicts between markers in a text.
#[wasm_bindgen]
pub fn markers(text: &str) -> Result<JsValue, JsError> {
    to_js(&crate::markers::markers(text))
}

/// What new defaults do to values.
#[wasm_bindgen]
pub fn review(original: &str, updated: &str, dest: &str) -> Result<JsValue, JsError> {
    to_js(&crate::review::review(Sides { original, updated, dest }))
}

/// The version of the merge.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// What the caller gives, as JSON; `undefined` is null. Values of JavaScript are read by the names of fields, so a field of another name shows only here.
fn json(name: &str, value: JsValue) -> Result<Value, TypeError> {
    serde_wasm_bindgen::from_value(value).map_err(|error| TypeError::new(&format!("`{name}`: {error}")))
}

fn to_js(value: &impl Serialize) -> Result<JsValue, JsError> {
    value.serialize(&Serializer::json_compatible()).map_err(|error| JsError::new(&error.to_string()))
}
