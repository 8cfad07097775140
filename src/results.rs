//! Results as the KRM functions specification defines them: the JSON of events, and their order.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_tree::limit::{Budget, Exceeded, Kind as Written};
use serde::Serialize;
use yaml_serde::Value as Yaml;
use yaml_serde::value::{Tag, TaggedValue};

use krm_merge::event::{Event, Field, File, ResourceRef, Severity, Value, What};

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
        Value::Null => Yaml::Null,
        Value::Bool(value) => Yaml::Bool(*value),
        Value::Number(text) => match (text.parse::<i64>(), text.parse::<u64>(), text.parse::<f64>()) {
            (Ok(number), ..) => Yaml::Number(number.into()),
            (_, Ok(number), _) => Yaml::Number(number.into()),
            (.., Ok(number)) => Yaml::Number(number.into()),
            _ => Yaml::String(text.clone()),
        },
        Value::String(text) => Yaml::String(text.clone()),
        Value::List(elements) => Yaml::Sequence(elements.iter().map(yaml_of).collect()),
        Value::Map(fields) => {
            Yaml::Mapping(fields.iter().map(|(key, value)| (Yaml::String(key.clone()), yaml_of(value))).collect())
        }
        Value::Tagged(tag, value) => Yaml::Tagged(Box::new(TaggedValue { tag: Tag::new(tag), value: yaml_of(value) })),
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

/// The size of a result in bytes, without the values, which come off the budget when they are read.
fn size(event: &Event) -> usize {
    let of_field = event.field.as_ref().map_or(0, |f| f.path.len());
    let of_resource = event
        .resource_ref
        .as_ref()
        .map_or(0, |r| [&r.api_version, &r.kind, &r.namespace, &r.name].into_iter().map(String::len).sum::<usize>());
    let of_file = event.file.as_ref().map_or(0, |f| f.path.len());
    let of_place = event.clash().map_or(0, |clash| krm_words::place(clash).len());
    krm_words::message(event).len() + of_field + of_resource + of_file + of_place
}

/// The results of a run so far, as many as the budget allows.
#[derive(Debug)]
pub struct Results<'b> {
    all: Vec<Event>,
    budget: &'b Budget,
}

impl<'b> Results<'b> {
    /// An empty list of results.
    pub fn new(budget: &'b Budget) -> Self {
        Self { all: Vec::new(), budget }
    }

    /// The budget that the values of results come off.
    pub fn budget(&self) -> &'b Budget {
        self.budget
    }

    /// Adds results.
    ///
    /// # Errors
    /// They take more than is left of the budget.
    pub fn tell(&mut self, results: impl IntoIterator<Item = Event>) -> Result<(), Box<Event>> {
        for result in results {
            self.budget.take(size(&result));
            if let Err(exceeded) = self.budget.check(Written::Results) {
                let told = Event::new(Severity::Error, exceeded.to_string());
                return Err(Box::new(Event { resource_ref: result.resource_ref, file: result.file, ..told }));
            }
            self.all.push(result);
        }
        Ok(())
    }

    /// Adds results that are already counted in the same budget.
    pub fn append(&mut self, more: impl IntoIterator<Item = Event>) {
        self.all.extend(more);
    }

    /// How many results match.
    pub fn count(&self, is_meant: impl Fn(&Event) -> bool) -> usize {
        self.all.iter().filter(|result| is_meant(result)).count()
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Event> {
        self.all
    }
}

/// The results of a run as they are told: worst first, and what someone must decide, then by file, resource and place, so that kpt shows the
/// important ones. A run that fails did nothing, so nothing is told as done.
pub fn finish(results: &mut Vec<Event>) {
    if results.iter().any(|result| result.severity == Severity::Error) {
        results.retain(|result| !result.what.is_done());
    }
    let key = |r: &Event| {
        let of = |r: &Option<ResourceRef>| r.as_ref().map(|r| (r.kind.clone(), r.namespace.clone(), r.name.clone()));
        (
            // A wrong original makes conflicts that are none, and a host may show only the first results.
            !matches!(r.what, What::OtherOriginal { .. }),
            r.severity,
            !r.is_open(),
            r.file.as_ref().map(|f| (f.path.clone(), f.index)),
            of(&r.resource_ref),
            r.field.as_ref().map(|f| f.path.clone()),
            r.is_conflict(),
        )
    };
    results.sort_by_cached_key(key);
}
