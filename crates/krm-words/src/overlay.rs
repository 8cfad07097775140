//! What a new release does to the values over a chart, and to the patches over bases, in words.

use krm_overlay::{Copied, Finding, Hidden, KnownBy, Unknown, Unread, Unsettled, Value, Verdict, Why};
use krm_tree::path::{FieldPath, cut};
use krm_yaml::shown;

/// The longest value in a sentence, in bytes. All of it is in the file.
const VALUE: usize = 120;

/// How many places of a map are named.
const PLACES: usize = 8;

/// The word for a verdict, with which its line begins.
pub fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::DoesNotRender { .. } => "does not render",
        Verdict::AnotherElement { .. } => "another element",
        Verdict::Gone { .. } => "gone",
        Verdict::OtherKind { .. } => "other kind",
        Verdict::Hides(_) => "hides",
        Verdict::Appears { .. } => "appears",
        Verdict::NewlySame { .. } => "newly the same",
        Verdict::Unknown(_) => "unknown",
        Verdict::Nowhere => "nowhere",
        Verdict::Same => "the same",
        Verdict::Holds => "holds",
    }
}

/// What a new release does to a place, as a sentence.
pub fn finding(finding: &Finding) -> String {
    match &finding.object {
        Some(object) => of_patch(object, finding),
        None => of_value(finding),
    }
}

/// The same of a value over a chart. A program that reviews no patches needs these words alone.
pub fn of_value(finding: &Finding) -> String {
    let place = finding.place.shown();
    let rest = match &finding.verdict {
        Verdict::DoesNotRender { message } => {
            return format!("with these values, helm renders the old chart, but not the new chart: {}", line(message));
        }
        Verdict::Gone { known_by: KnownBy::Rendering, .. } => {
            "with your values, the old chart uses this value, the new chart does not".to_owned()
        }
        Verdict::Gone { moved_to: None, .. } => "the old chart reads this value, the new chart does not".to_owned(),
        Verdict::Gone { moved_to: Some(to), .. } => {
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
        Verdict::NewlySame { known_by: KnownBy::Chart } => {
            "the new default is your value, so you can remove it".to_owned()
        }
        Verdict::NewlySame { known_by: KnownBy::Rendering } => {
            "with your values, the new chart renders the same without this value, so you can remove it".to_owned()
        }
        Verdict::Unknown(Unknown::NoSubchart(name)) => format!("the files of the chart `{name}` are missing"),
        Verdict::Nowhere => "neither chart reads this value".to_owned(),
        Verdict::Same => "your value is the default of both charts".to_owned(),
        Verdict::AnotherElement { .. } | Verdict::Unknown(_) | Verdict::Holds => {
            "the new chart changes nothing here".to_owned()
        }
    };
    format!("`{place}`: {rest}")
}

/// A map whose defaults the new release does not have, and the places in it that a team sets. A template still reads them.
pub fn lost_with(map: &FieldPath<'_>, places: &[&FieldPath<'_>]) -> String {
    let inside = |place: &&FieldPath<'_>| {
        let place = place.keyed();
        let inside = place.strip_prefix(&map.keyed()).unwrap_or(&place).trim_start_matches('.').to_owned();
        format!("`{}`", cut(shown::line(&inside).into_owned(), VALUE))
    };
    let shown: Vec<String> = places.iter().take(PLACES).map(inside).collect();
    let more = places.len().saturating_sub(PLACES);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("`{}`: the defaults of this map were removed, you set {}{more} in it", map.shown(), shown.join(", "))
}

/// What a team reads if many of its values are gone.
pub fn notes(link: &str) -> String {
    format!("many of your values are gone. The notes of the chart may tell where they went: {link}")
}

/// The default of a release, as a value on one line.
pub fn default(default: Option<&Value>) -> String {
    default.map_or_else(|| "none".to_owned(), value)
}

/// How many defaults a new release changes that no value hides.
pub fn changed_defaults(count: usize) -> String {
    match count {
        1 => "1 changed default that you do not set".to_owned(),
        _ => format!("{count} changed defaults that you do not set"),
    }
}

/// What helm does not settle, as a sentence.
pub fn unsettled(why: &Unsettled) -> String {
    match why {
        Unsettled::OldRefused(message) => {
            format!("helm does not render the old chart with these values: {}", line(message))
        }
        Unsettled::Unknown(why) => why.clone(),
        Unsettled::TooMany(left) => format!("helm is not asked about {left} of the values"),
    }
}

/// Why helm is not asked about a chart.
pub fn no_files(chart: &str) -> String {
    format!("helm is not asked: the files of the chart `{}` are missing", shown::line(chart))
}

/// Why helm is not asked about values.
pub const VALUES_UNREAD: &str = "helm is not asked: some of the values are not read";

/// Why helm is asked no more.
pub fn took_longer(seconds: u64) -> String {
    format!("helm is asked no more: all renderings of one release must take at most {seconds} seconds")
}

/// A message of several lines on one line.
fn line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    shown::line(&lines.join(" ")).into_owned()
}

/// The same of a patch of an object.
fn of_patch(object: &str, finding: &Finding) -> String {
    let rest = match &finding.verdict {
        Verdict::AnotherElement { original, updated } => {
            let [original, updated] = [original, updated].map(|name| cut(shown::line(name).into_owned(), VALUE));
            format!("the old release has `{original}` at this index, the new release has `{updated}`")
        }
        Verdict::Gone { .. } => "the old release has it, the new release does not".to_owned(),
        Verdict::OtherKind { original, updated } => {
            format!(
                "the value was {}, and is now {}, which your patch does not fit",
                old(original.as_ref()),
                value(updated)
            )
        }
        Verdict::Hides(Hidden { original, updated, ours, copied, .. }) => {
            let change = match updated {
                Some(updated) => format!("changed from {} to {}", old(original.as_ref()), value(updated)),
                None => format!("{} was removed", old(original.as_ref())),
            };
            let ours = match copied {
                Copied::Original => "you copied the old value".to_owned(),
                Copied::No => format!("your patch sets {}", value(ours)),
            };
            format!("the value {change}, {ours}")
        }
        Verdict::Appears { updated } => {
            format!("the new release has a value here, {}, which your patch replaces", value(updated))
        }
        Verdict::NewlySame { .. } => "the new release has your value, so you can remove it".to_owned(),
        Verdict::Unknown(unknown) => of_unknown(unknown),
        Verdict::Nowhere => "neither release has it".to_owned(),
        Verdict::Same => "both releases have your value".to_owned(),
        Verdict::DoesNotRender { .. } | Verdict::Holds => "the new release changes nothing here".to_owned(),
    };
    let place = if finding.place.is_empty() { String::new() } else { format!(" `{}`", finding.place.shown()) };
    format!("{object}{place}: {rest}")
}

fn of_unknown(unknown: &Unknown) -> String {
    match unknown {
        Unknown::NoSubchart(name) => format!("the files of the chart `{name}` are missing"),
        Unknown::NotRead(why) => format!("the object may be in what is not read: {}", because(why)),
        Unknown::NoPatch(why) => why.clone(),
    }
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
    because(why)
}

fn because(why: &Why) -> String {
    match why {
        Why::NotRead(message) => message.clone(),
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
