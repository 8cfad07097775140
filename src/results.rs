//! Results as the KRM functions specification defines them: the JSON of events.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_job::event::{Event, Field, File, ResourceRef, Severity, Value};
use krm_tree::limit::{Budget, Exceeded, Kind as Written};
use serde::Serialize;
use yaml_serde::Value as Yaml;
use yaml_serde::value::{Tag, TaggedValue};

/// The tag with the kind of a result, for programs: for example a conflict, or a move.
const REASON: &str = "krm-merge.dev/reason";

/// The tag that holds the value of original in a conflict, as JSON.
const ORIGINAL: &str = "krm-merge.dev/original";

/// The tag with the line of a conflict in dest's file.
const LINE: &str = "krm-merge.dev/line";

/// A result as the specification has it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Json<'r> {
    message: String,
    severity: Severity,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_ref: Option<&'r ResourceRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<JsonField<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'r File>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tags: BTreeMap<&'static str, Cow<'r, str>>,
}

/// A field, with its value in dest, and in source or updated.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonField<'r> {
    path: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_value: Option<Yaml>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposed_value: Option<Yaml>,
}

impl<'r> Json<'r> {
    /// A result, with the line of a conflict in dest's file if a host knows it.
    pub fn of(result: &'r Event, line: Option<usize>) -> Self {
        let original = result.clash().and_then(|clash| clash.original.as_deref()).map(Cow::Borrowed);
        let line = line.map(|line| Cow::Owned(line.to_string()));
        let tags = [(REASON, result.reason().map(Cow::Borrowed)), (ORIGINAL, original), (LINE, line)];
        let field = result.field.as_ref().map(|Field { path, current_value, proposed_value }| JsonField {
            path,
            current_value: current_value.as_ref().map(yaml_of),
            proposed_value: proposed_value.as_ref().map(yaml_of),
        });
        Self {
            message: krm_words::message(result),
            severity: result.severity,
            resource_ref: result.resource_ref.as_ref(),
            field,
            file: result.file.as_ref(),
            tags: tags.into_iter().filter_map(|(tag, value)| Some((tag, value?))).collect(),
        }
    }
}

/// A value as the YAML library has it.
pub fn yaml_of(value: &Value) -> Yaml {
    match value {
        Value::List(elements) => Yaml::Sequence(elements.iter().map(yaml_of).collect()),
        Value::Map(fields) => {
            Yaml::Mapping(fields.iter().map(|(key, value)| (Yaml::String(key.clone()), yaml_of(value))).collect())
        }
        Value::Tagged(tag, value) => Yaml::Tagged(Box::new(TaggedValue { tag: Tag::new(tag), value: yaml_of(value) })),
        // Every scalar has YAML.
        scalar => yaml_serde::to_value(scalar).unwrap_or_default(),
    }
}

/// Results as YAML: a map with the one field `results`. `line` says the line of a conflict in dest's file, if a host knows it.
///
/// # Errors
/// It takes more than is left of the budget.
pub fn to_yaml(results: &[Event], line: impl Fn(&Event) -> Option<usize>, budget: &Budget) -> Result<String, Exceeded> {
    let results: Vec<_> = results.iter().map(|result| Json::of(result, line(result))).collect();
    budget.written(Written::Results, |out| yaml_serde::to_writer(out, &BTreeMap::from([("results", &results)])))
}
