//! What `npm/browser.js` calls, which checks the types; `npm/index.d.ts` says what goes in and out. Each function turns values of JavaScript into ours, and back.

use krm_merge_function::Verdict;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

use crate::decide::ConflictCase;
use crate::merge::MergeInput;
use crate::texts::Files;

/// Merges texts.
#[wasm_bindgen]
pub fn merge(input: JsValue) -> Result<JsValue, JsError> {
    to_js(&crate::merge::merge(&of_js::<MergeInput>(input)?))
}

/// The functionConfig with a decision of some conflicts.
#[wasm_bindgen]
pub fn decide(function_config: &str, cases: JsValue, take: Option<String>) -> Result<String, JsError> {
    let cases: Vec<ConflictCase> = of_js(cases)?;
    crate::decide::decide(function_config, cases, take.as_deref()).map_err(|error| JsError::new(&error))
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
pub fn explain(kind: &str, files: JsValue) -> Result<JsValue, JsError> {
    let files = if files.is_undefined() || files.is_null() { Files::default() } else { of_js(files)? };
    to_js(&crate::explain::explain(kind, &files).map_err(|error| JsError::new(&error))?)
}

/// The conflicts between markers in a text.
#[wasm_bindgen]
pub fn markers(text: &str) -> Result<JsValue, JsError> {
    to_js(&crate::markers::markers(text))
}

/// The version of the merge.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

fn of_js<T: DeserializeOwned>(value: JsValue) -> Result<T, JsError> {
    serde_wasm_bindgen::from_value(value).map_err(|error| JsError::new(&error.to_string()))
}

fn to_js(value: &impl Serialize) -> Result<JsValue, JsError> {
    value.serialize(&Serializer::json_compatible()).map_err(|error| JsError::new(&error.to_string()))
}
