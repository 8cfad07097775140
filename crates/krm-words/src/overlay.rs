//! What a new release of a chart does to the values over it, in words.

use krm_overlay::{Copied, Finding, Hidden, Unknown, Unread, Value, Verdict, Why};
use krm_tree::path::cut;
use krm_yaml::shown;

/// The longest value in a sentence, in bytes. All of it is in the file.
const VALUE: usize = 120;

/// The word for a verdict, with which its line begins.
pub fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Gone { .. } => "gone",
        Verdict::OtherKind { .. } => "other kind",
        Verdict::Hides(_) => "hides",
        Verdict::Appears { .. } => "appears",
        Verdict::NewlySame => "newly the same",
        Verdict::Unknown(_) => "unknown",
        Verdict::Nowhere => "nowhere",
        Verdict::Same => "the same",
        Verdict::Holds => "holds",
    }
}

/// What a new release does to a place, as a sentence.
pub fn finding(finding: &Finding) -> String {
    let place = finding.place.shown();
    let rest = match &finding.verdict {
        Verdict::Gone { moved_to: None } => "the old chart reads this value, the new chart does not".to_owned(),
        Verdict::Gone { moved_to: Some(to) } => {
            format!("the old chart reads this value, the new chart reads `{}` instead", to.place.shown())
        }
        Verdict::OtherKind { original, updated } => {
            format!(
                "the default was {}, and is now {}, which your value does not fit",
                old(original.as_ref()),
                value(updated)
            )
        }
        Verdict::Hides(hidden) => hides(hidden),
        Verdict::Appears { updated } => {
            format!("the new chart has a default here, {}, which your value hides", value(updated))
        }
        Verdict::NewlySame => "the new default is your value, so you can remove it".to_owned(),
        Verdict::Unknown(Unknown::NoSubchart(name)) => format!("the files of the chart `{name}` are missing"),
        Verdict::Nowhere => "neither chart reads this value".to_owned(),
        Verdict::Same => "your value is the default of both charts".to_owned(),
        Verdict::Holds => "the new chart changes nothing here".to_owned(),
    };
    format!("`{place}`: {rest}")
}

fn hides(Hidden { original, updated, ours, siblings, copied, .. }: &Hidden) -> String {
    let change = match (original, updated) {
        (Some(original), Some(updated)) if original == updated => String::new(),
        (None, Some(updated)) => format!("the new default is {}", value(updated)),
        (_, None) => format!("the default {} was removed", old(original.as_ref())),
        (Some(original), Some(updated)) => {
            format!("the default changed from {} to {}", value(original), value(updated))
        }
    };
    let ours = match copied {
        Copied::Original => "you copied the old default".to_owned(),
        Copied::No => format!("you set {}", value(ours)),
    };
    let names: Vec<String> = siblings.iter().map(|name| format!("`{}`", shown::line(name))).collect();
    let beside = match names.len() {
        0 => String::new(),
        1 => format!("the new chart has {} beside it", names[0]),
        _ => format!("the new chart has {} beside it", names.join(", ")),
    };
    let parts = [change, ours, beside].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

fn old(value_of: Option<&Value>) -> String {
    value_of.map_or_else(|| "not set".to_owned(), value)
}

/// A value on one line, cut if it is long.
fn value(value: &Value) -> String {
    cut(shown::line(&value.to_string()).into_owned(), VALUE)
}

/// Why something was not read, as a sentence.
pub fn unread(Unread { why, .. }: &Unread) -> String {
    match why {
        Why::NotYaml(message) => format!("the text must be YAML: {message}"),
        Why::NoChart => "nothing names the chart".to_owned(),
        Why::Missing { kind, name } => format!("no file has the {kind} `{name}`"),
        Why::Ambiguous { kind, name } => format!("several files have a {kind} `{name}`, and they differ"),
        Why::Lacking { kind, name, field } => format!("the {kind} `{name}` must have `{field}`"),
        Why::Source(source) => format!("charts of `{source}` are not read"),
        Why::Secret(name) => format!("values in the Secret `{name}` are not read"),
        Why::NoFile(path) => format!("there is no file `{path}`"),
        Why::Variable(text) => format!("`{text}` has a variable, which has no value here"),
        Why::NotValues => "values must be a map".to_owned(),
        Why::Field(field) => format!("`{field}` is not read"),
    }
}
