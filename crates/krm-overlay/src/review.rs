//! [`review`]: the verdict on each place of the layers over a release.

use std::ops::Range;

use krm_tree::path::{FieldPath, Step};
use krm_yaml::{NodeRef, Scalar};

use crate::chart::{Chart, Files};
use crate::moved::moved;
use crate::reads::{Blind, Says, named_in};
use crate::values::{Value, laid_over};
use crate::verdict::{Copied, Finding, Hidden, HiddenAs, MovedTo, Unknown, Verdict};

/// Values that lie over a chart. The node may be any part of a document: a whole file, `spec.values` of a HelmRelease, or the field of an
/// alias in the values of another chart.
#[derive(Clone, Debug)]
pub struct Layer<'a> {
    /// The values.
    pub values: NodeRef<'a>,
    /// The place in the values of the chart at which the node lies, such as `["global"]`; empty for all values of the chart.
    pub at: Vec<String>,
}

impl<'a> Layer<'a> {
    /// All values of a chart.
    pub fn of(values: NodeRef<'a>) -> Self {
        Self { values, at: Vec::new() }
    }

    /// Its values, as those of the chart.
    fn value(&self) -> Value {
        let inner = Value::of(self.values);
        self.at.iter().rev().fold(inner, |value, name| Value::Map([(name.clone(), value)].into()))
    }
}

/// The verdict on each place of the layers, in the order of the layers and of their texts. A later layer lies over an earlier one.
pub fn review(old: &Chart, new: &Chart, layers: &[Layer<'_>]) -> Vec<Finding> {
    let values: Vec<Value> = layers.iter().map(Layer::value).collect();
    let mut named = Some(Vec::new());
    values.iter().for_each(|value| add_named(value, &mut named));
    let (mut below, mut findings) = ([old.defaults.clone(), new.defaults.clone()], Vec::new());
    for (number, layer) in layers.iter().enumerate() {
        let later = &values[number + 1..];
        let mut found = Vec::new();
        leaves(layer.values, &mut layer.at.clone(), None, &mut found);
        for leaf in found {
            let place = Place { old, new, below: &below, later, named: named.as_deref(), leaf: &leaf };
            let verdict = place.verdict();
            findings.push(Finding { layer: number, place: path_of(&leaf.path), span: leaf.span, verdict });
        }
        if !later.is_empty() {
            below = below.map(|below| laid_over(&below, &values[number]));
        }
    }
    follow(old, new, &mut findings);
    findings
}

/// Says of what is gone where it went.
fn follow(old: &Chart, new: &Chart, findings: &mut [Finding]) {
    let is_gone = |finding: &&Finding| matches!(finding.verdict, Verdict::Gone { .. });
    let gone: Vec<Vec<String>> = findings.iter().filter(is_gone).map(|finding| names_of(&finding.place)).collect();
    if gone.is_empty() {
        return;
    }
    let moved = moved(old, new, &gone);
    for finding in findings {
        if let Verdict::Gone { moved_to } = &mut finding.verdict {
            *moved_to = moved.get(&names_of(&finding.place)).map(|to| MovedTo { place: path_of(to) });
        }
    }
}

/// The names of a path of fields.
fn names_of(path: &FieldPath<'_>) -> Vec<String> {
    let name = |step: &Step<'_>| if let Step::Field(name) = step { name.to_string() } else { String::new() };
    path.steps().map(name).collect()
}

/// A path of fields.
pub(crate) fn path_of(names: &[String]) -> FieldPath<'static> {
    let mut path = FieldPath::default();
    names.iter().for_each(|name| path.push(Step::Field(name.clone().into()), None));
    path
}

/// A value of a layer that is not a map with fields.
struct Leaf {
    path: Vec<String>,
    span: Range<usize>,
    value: Value,
}

fn leaves(node: NodeRef<'_>, path: &mut Vec<String>, key: Option<NodeRef<'_>>, found: &mut Vec<Leaf>) {
    let mut fields = node.fields().filter(|(key, _)| !key.is_container()).peekable();
    if node.is_map() && fields.peek().is_some() {
        for (key, value) in fields {
            path.push(key.string().to_owned());
            leaves(value, path, Some(key), found);
            path.pop();
        }
    } else if !path.is_empty() {
        let span = key.map_or(node.start(), NodeRef::start)..node.end();
        found.push(Leaf { path: path.clone(), span, value: Value::of(node) });
    }
}

/// Adds the places that the texts of a value name in their actions; `None` if they name more than places.
fn add_named(value: &Value, named: &mut Option<Vec<Vec<String>>>) {
    match value {
        Value::Map(fields) => fields.values().for_each(|value| add_named(value, named)),
        Value::List(elements) => elements.iter().for_each(|value| add_named(value, named)),
        Value::Scalar(Scalar::String(text)) => match (named.as_mut(), named_in(text)) {
            (Some(named), Some(more)) => named.extend(more),
            _ => *named = None,
        },
        Value::Scalar(_) => {}
    }
}

/// A place of a layer, and what is known of it.
struct Place<'r> {
    old: &'r Chart,
    new: &'r Chart,
    /// What lies below the layer, in the old and the new release.
    below: &'r [Value; 2],
    /// The layers over this one.
    later: &'r [Value],
    /// The places that the layers name in their texts; `None` if they may name any.
    named: Option<&'r [Vec<String>]>,
    leaf: &'r Leaf,
}

impl Place<'_> {
    fn verdict(&self) -> Verdict {
        let path = &self.leaf.path;
        if let Some(chart) = self.missing() {
            return Verdict::Unknown(Unknown::NoSubchart(chart.to_owned()));
        }
        let [original, updated] = [&self.below[0], &self.below[1]].map(|below| below.at(path));
        let says = if self.leaf.value.is_null() { Says::Null } else { Says::Value };
        let [was_read, is_read] =
            [self.old, self.new].map(|chart| self.is_named() || chart.reads.read(path, says, &chart.defaults));
        if !is_read {
            let was_there = self.old.reads.unknown.is_none() || original.is_some();
            return if was_read && was_there { Verdict::Gone { moved_to: None } } else { Verdict::Nowhere };
        }
        if let (Some(Blind::NoSubchart(chart)), Some(_), None) = (&self.new.reads.unknown, original, updated) {
            return Verdict::Unknown(Unknown::NoSubchart(chart.clone()));
        }
        if self.later.iter().any(|later| later.at(path).is_some()) {
            return Verdict::Holds;
        }
        self.by_values(original, updated)
    }

    /// The chart that has this place, and whose files are missing.
    fn missing(&self) -> Option<&str> {
        let needed = self.old.dependencies.iter().chain(&self.new.dependencies);
        let mut missing = needed.filter(|needed| needed.files == Files::Missing);
        missing.find(|needed| Some(&needed.field) == self.leaf.path.first()).map(|needed| needed.name.as_str())
    }

    /// Whether a text of the layers names the place, something in it, or something that it is in.
    fn is_named(&self) -> bool {
        let path = &self.leaf.path;
        let meets = |named: &Vec<String>| named.iter().zip(path).all(|(one, other)| one == other);
        self.named.is_none_or(|named| named.iter().any(meets))
    }

    fn by_values(&self, original: Option<&Value>, updated: Option<&Value>) -> Verdict {
        let ours = &self.leaf.value;
        let fits = |below: Option<&Value>| {
            below.is_none_or(|below| below.kind() == ours.kind() || below.is_null() || ours.is_null())
        };
        let hides = |original: &Value| {
            Verdict::Hides(Hidden {
                original: Some(original.clone()),
                updated: updated.cloned(),
                ours: ours.clone(),
                siblings: self.siblings(),
                copied: if original == ours { Copied::Original } else { Copied::No },
                hidden_as: hidden_as(&self.leaf.path, ours),
            })
        };
        match (original, updated) {
            (original, Some(updated)) if ours == updated => {
                if original == Some(ours) {
                    Verdict::Same
                } else {
                    Verdict::NewlySame
                }
            }
            (original, Some(updated)) if !fits(Some(updated)) && fits(original) => {
                Verdict::OtherKind { original: original.cloned(), updated: updated.clone() }
            }
            // An empty map takes nothing away.
            _ if matches!(ours, Value::Map(_)) => Verdict::Holds,
            (original, updated) if original == updated => Verdict::Holds,
            // A null in the defaults says that the place is there, and no more.
            (Some(original), None) if original.is_null() && !self.has_lost_all() => Verdict::Holds,
            (Some(original), _) => hides(original),
            (None, Some(updated)) if updated.is_null() => Verdict::Holds,
            (None, Some(updated)) => Verdict::Appears { updated: updated.clone() },
            (None, None) => Verdict::Holds,
        }
    }

    /// Whether the new release has no default for the map that the place is in, and the old one had.
    fn has_lost_all(&self) -> bool {
        let above = &self.leaf.path[..self.leaf.path.len() - 1];
        self.below[0].at(above).is_some() && self.below[1].at(above).is_none()
    }

    /// The fields beside this one that only the new release has.
    fn siblings(&self) -> Vec<String> {
        let Some((_, above)) = self.leaf.path.split_last() else { return Vec::new() };
        match [&self.below[0], &self.below[1]].map(|below| below.at(above)) {
            [Some(Value::Map(old)), Some(Value::Map(new))] => {
                new.keys().filter(|name| !old.contains_key(*name)).cloned().collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The names of fields with the tag or the digest of an image end with these words.
const OF_IMAGES: [&str; 3] = ["tag", "digest", "sha"];

fn hidden_as(path: &[String], ours: &Value) -> HiddenAs {
    let name = path.last().map(|name| name.to_lowercase()).unwrap_or_default();
    let is_image = name == "image" && ours.text().is_some();
    if is_image || OF_IMAGES.iter().any(|word| name.ends_with(word)) { HiddenAs::Image } else { HiddenAs::Value }
}
