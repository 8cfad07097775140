//! Results as the KRM functions specification defines them: the JSON of events.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

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
        let field = result.field.as_deref().map(|Field { path, current_value, proposed_value }| JsonField {
            path,
            current_value: current_value.as_ref().map(yaml_of),
            proposed_value: proposed_value.as_ref().map(yaml_of),
        });
        Self {
            message: krm_words::message(result),
            severity: result.severity,
            resource_ref: result.resource_ref.as_deref(),
            field,
            file: result.file.as_deref(),
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
    budget.written(Written::Results, |out| {
        out.write_all(if results.is_empty() { b"results: []\n" } else { b"results:\n" })?;
        results.iter().try_for_each(|result| {
            let usual = usual_lines(result, line(result)).map(Ok);
            let lines = usual.unwrap_or_else(|| yaml_serde::to_string(&[Json::of(result, line(result))]));
            out.write_all(lines.map_err(io::Error::other)?.as_bytes())
        })
    })
}

/// A result as the YAML library writes it, which takes far longer; `None` if it has a value that is not surely written like this.
fn usual_lines(result: &Event, line: Option<usize>) -> Option<String> {
    let mut out = String::new();
    let severity = match result.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    let mut text = |key: &str, value: &str| push_text(&mut out, key, value);
    text("- message", &krm_words::message(result))?;
    text("  severity", severity)?;
    if let Some(ResourceRef { api_version, kind, namespace, name }) = result.resource_ref.as_deref() {
        text("  resourceRef:\n    apiVersion", api_version)?;
        text("    kind", kind)?;
        if !namespace.is_empty() {
            text("    namespace", namespace)?;
        }
        text("    name", name)?;
    }
    if let Some(Field { path, current_value, proposed_value }) = result.field.as_deref() {
        text("  field:\n    path", path)?;
        for (key, value) in [("    currentValue", current_value), ("    proposedValue", proposed_value)] {
            match value {
                None => {}
                Some(Value::String(value)) => push_text(&mut out, key, value)?,
                Some(Value::Null) => out.extend([key, ": null\n"]),
                Some(Value::Bool(value)) => out.extend([key, if *value { ": true\n" } else { ": false\n" }]),
                Some(Value::Number(value)) if is_integer(value) => out.extend([key, ": ", value, "\n"]),
                Some(_) => return None,
            }
        }
    }
    if let Some(File { path, index }) = result.file.as_deref() {
        push_text(&mut out, "  file:\n    path", path)?;
        out.extend(index.map(|index| format!("    index: {index}\n")));
    }
    let line = line.map(|line| line.to_string());
    let original = result.clash().and_then(|clash| clash.original.as_deref());
    let tags = [(LINE, line.as_deref()), (ORIGINAL, original), (REASON, result.reason())];
    let mut head = "  tags:\n    ";
    for (tag, value) in tags.into_iter().filter_map(|(tag, value)| Some((tag, value?))) {
        push_text(&mut out, &format!("{head}{tag}"), value)?;
        head = "    ";
    }
    Some(out)
}

/// Adds a line with a text, which is plain or in single quotes, as the YAML library writes it; `None` if it may write it otherwise.
fn push_text(out: &mut String, key: &str, text: &str) -> Option<()> {
    const NO_TEXTS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let (first, last) = (*text.as_bytes().first()?, *text.as_bytes().last()?);
    let may_be_number = || !text.bytes().any(|byte| matches!(byte, b'g'..=b'n' | b'p'..=b'w' | b'y' | b'z'));
    let is_quoted = match first {
        b'a'..=b'z' | b'A'..=b'Z' if NO_TEXTS.iter().any(|other| other.eq_ignore_ascii_case(text)) => return None,
        b'0'..=b'9' if is_integer(text) => true,
        b'0'..=b'9' if may_be_number() => return None,
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' => last == b':' || text.contains(": ") || text.contains(" #"),
        b'`' | b'"' | b'[' | b'{' => true,
        _ => return None,
    };
    if last == b' ' || !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return None;
    }
    out.extend([key, ": "]);
    if is_quoted {
        out.extend(["'", &text.replace('\'', "''"), "'"]);
    } else {
        out.push_str(text);
    }
    out.push('\n');
    Some(())
}

/// Whether a text is an integer that surely fits into 64 bits, as it is written.
fn is_integer(text: &str) -> bool {
    text == "0" || !text.starts_with('0') && text.len() < 19 && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_as_the_library_writes_it() {
        let starts =
            ["", "a", "Z", "0", "7", "/", "`", "\"", "[", "{", "'", "-", ".", "#", "~", " ", "é", "null", "Yes"];
        let rests = [
            "", "x", "12", "1e5", "0x1f", "o7", " b", ": b", ":", ":b", " #", "#", "'s", "\"", ", ", " ", "\n", "\t",
            "…", "}",
        ];
        for text in starts.iter().flat_map(|start| rests.iter().map(move |rest| format!("{start}{rest}"))) {
            for long in [text.clone(), format!("{text} {}", "and more ".repeat(30).trim_end())] {
                let mut line = String::new();
                if push_text(&mut line, "k", &long).is_some() {
                    let library = yaml_serde::to_string(&BTreeMap::from([("k", &long)])).expect("written");
                    assert_eq!(line, library, "{long:?}");
                }
            }
        }
    }

    #[test]
    fn a_result_is_written_as_the_library_writes_it() {
        let values = [
            None,
            Some(Value::Null),
            Some(Value::Bool(true)),
            Some(Value::Number("0".to_owned())),
            Some(Value::Number("123456789012345678".to_owned())),
            Some(Value::Number("-1.5".to_owned())),
            Some(Value::String("92s".to_owned())),
            Some(Value::List(vec![Value::Bool(false)])),
        ];
        let resource_ref = |namespace: &str| {
            let [api_version, kind, name] = ["v1", "Pod", "x"].map(str::to_owned);
            Some(ResourceRef { api_version, kind, namespace: namespace.to_owned(), name }.into())
        };
        for (at, current_value) in values.iter().cloned().enumerate() {
            let field = Field { path: "a.b".to_owned(), current_value, proposed_value: values[7 - at].clone() };
            let field = Some(field.into());
            let file = Some(File { path: "a/b.yaml".to_owned(), index: Some(1).filter(|_| at > 0) }.into());
            let moved = krm_job::event::What::Moved { from: "a".to_owned(), to: "b".to_owned() };
            let events = [
                Event { resource_ref: resource_ref(""), field, ..Event::of(moved) },
                Event { resource_ref: resource_ref("n"), file, ..Event::new(Severity::Error, "a: b") },
            ];
            for line in [None, Some(3)] {
                let json: Vec<_> = events.iter().map(|event| Json::of(event, line)).collect();
                let library = yaml_serde::to_string(&BTreeMap::from([("results", &json)])).expect("written");
                assert_eq!(to_yaml(&events, |_| line, &Budget::default()).as_deref(), Ok(&*library));
            }
        }
    }
}
