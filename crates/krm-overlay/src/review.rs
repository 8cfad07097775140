//! [`review`]: the verdict on each place of the layers over a release.

use std::ops::Range;

use krm_tree::path::{FieldPath, Step};
use krm_yaml::NodeRef;

use crate::chart::Chart;
use crate::values::Value;
use crate::verdict::{Copied, Finding, Hidden, HiddenAs, Verdict};

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
}

/// The verdict on each place of the layers, in the order of the layers and of their texts. A later layer lies over an earlier one.
pub fn review(old: &Chart, new: &Chart, layers: &[Layer<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, layer) in layers.iter().enumerate() {
        let mut path = layer.at.clone();
        leaves(layer.values, &mut path, None, &mut |path, span, value| {
            let verdict = verdict(old.defaults.at(path), new.defaults.at(path), Value::of(value));
            let mut place = FieldPath::default();
            path.iter().for_each(|name| place.push(Step::Field(name.clone().into()), None));
            findings.push(Finding { layer: number, place, span, verdict });
        });
    }
    findings
}

fn leaves(
    node: NodeRef<'_>,
    path: &mut Vec<String>,
    key: Option<NodeRef<'_>>,
    found: &mut impl FnMut(&[String], Range<usize>, NodeRef<'_>),
) {
    if node.is_map() && node.fields().next().is_some() {
        for (key, value) in node.fields() {
            path.push(key.string().to_owned());
            leaves(value, path, Some(key), found);
            path.pop();
        }
    } else {
        found(path, key.map_or(node.start(), NodeRef::start)..node.end(), node);
    }
}

fn verdict(original: Option<&Value>, updated: Option<&Value>, ours: Value) -> Verdict {
    match (original, updated) {
        (_, Some(updated)) if *updated == ours => match original {
            Some(original) if *original == ours => Verdict::Same,
            _ => Verdict::NewlySame,
        },
        (original, updated) if original == updated => Verdict::Holds,
        (None, Some(updated)) => Verdict::Appears { updated: updated.clone() },
        (original, updated) => Verdict::Hides(Hidden {
            copied: if original == Some(&ours) { Copied::Original } else { Copied::No },
            original: original.cloned(),
            updated: updated.cloned(),
            ours,
            siblings: Vec::new(),
            hidden_as: HiddenAs::Value,
        }),
    }
}
