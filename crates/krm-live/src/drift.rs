//! The drift of an object: applied fields whose value someone changed in the cluster since.
//!
//! A field that was not applied is not drift. What the server made of what was applied is in the original already: see `unset.rs`.

use std::collections::BTreeSet;

use anyhow::{Result, anyhow};
use krm_job::event::{Clash, ClashNote, Event};
use krm_merge_core::change::{Change, Expects, Wants};
use krm_merge_core::diff::diff;
use krm_merge_core::policy::Renames;
use krm_package::resource::{Origin, Resource};
use krm_schema::mode::Mode;
use krm_schema::schema::Types;
use krm_show::screen::{Page, Paint};
use krm_tree::path::FieldPath;
use krm_yaml::Document;
use serde_json::Value;

use crate::object::{Object, value};
use crate::owners::Owners;

/// A field that changed in the cluster.
#[derive(Debug, PartialEq)]
pub struct Drift {
    /// The place, by key.
    pub place: String,
    /// The applied value.
    pub original: Value,
    /// The live value; `None` if the field is gone.
    pub live: Option<Value>,
    /// Who set the live value, and when.
    pub by: Vec<String>,
}

/// The fields of a live object that differ from what was applied.
///
/// # Errors
/// The objects cannot be compared.
pub fn drifts(original: &Object, live: &Object, types: &Types) -> Result<Vec<Drift>> {
    let documents = [Document::parse(original.yaml())?, Document::parse(live.yaml())?];
    let [Some(original), Some(live)] = documents.each_ref().map(|d| d.roots().next()) else { return Ok(Vec::new()) };
    let Some(identity) = Resource::read(live, Origin::Item(0)).identity else { return Ok(Vec::new()) };
    let cursor = types.root(identity.api_version, identity.kind, Mode::ThreeWay);
    let found = diff(Some(original), live, None, cursor, Renames::Ignore).map_err(|e| anyhow!("{e}"))?;
    let mut drifts = Vec::new();
    if let Some(change) = &found.change {
        collect(change, &mut FieldPath::default(), &mut drifts)?;
    }
    Ok(drifts)
}

/// Leaves out drift that the files already have, for example after `--adopt`.
///
/// # Errors
/// The objects cannot be compared.
pub fn leave_out_agreed(drifts: &mut Vec<Drift>, files: &Object, live: &Object, types: &Types) -> Result<()> {
    if !drifts.is_empty() {
        let left = self::drifts(files, live, types)?;
        let left: Places<'_> = left.iter().map(|left| left.place.as_str()).collect();
        drifts.retain(|drift| left.touch(&drift.place));
    }
    Ok(())
}

/// Places to compare other places with.
struct Places<'p>(BTreeSet<&'p str>);

impl<'p> FromIterator<&'p str> for Places<'p> {
    fn from_iter<T: IntoIterator<Item = &'p str>>(places: T) -> Self {
        Self(places.into_iter().collect())
    }
}

impl Places<'_> {
    /// Whether one of them is this place, contains it, or is in it.
    fn touch(&self, place: &str) -> bool {
        let mut ends = place.match_indices(['.', '[']).map(|(end, _)| end).chain([place.len()]);
        let is_in_one = ends.any(|end| self.0.contains(&place[..end]));
        let holds_one = |below: String| {
            let next = self.0.range(below.as_str()..).next();
            next.is_some_and(|next| next.starts_with(&below))
        };
        is_in_one || ['.', '['].into_iter().any(|sign| holds_one(format!("{place}{sign}")))
    }
}

/// Adds to each drift who set the live value, according to the server.
///
/// # Errors
/// The object cannot be read.
pub fn sign(drifts: &mut [Drift], live: &Object, owners: &Owners) -> Result<()> {
    if drifts.is_empty() {
        return Ok(());
    }
    let document = Document::parse(live.yaml())?;
    let Some(root) = document.roots().next() else { return Ok(()) };
    drifts.iter_mut().filter(|drift| drift.live.is_some()).for_each(|drift| drift.by = owners.at(&drift.place, root));
    Ok(())
}

/// Adds to each conflict of an object who set the live value.
///
/// # Errors
/// The object cannot be read.
pub fn sign_conflicts<'o>(
    conflicts: impl Iterator<Item = &'o mut Event>,
    live: &Object,
    owners: &Owners,
) -> Result<()> {
    let mut conflicts = conflicts.peekable();
    if conflicts.peek().is_none() {
        return Ok(());
    }
    let document = Document::parse(live.yaml())?;
    let Some(root) = document.roots().next() else { return Ok(()) };
    for conflict in conflicts {
        let is_there = conflict.field.as_ref().is_some_and(|field| field.current_value.is_some());
        let Some(clash) = conflict.clash_mut().filter(|_| is_there) else { continue };
        let by: Vec<String> = clash.fields().iter().flat_map(|field| owners.at(field, root)).collect();
        if !by.is_empty() {
            clash.notes.push(ClashNote::SetBy(by));
        }
    }
    Ok(())
}

fn collect<'a>(change: &Change<'a>, path: &mut FieldPath<'a>, out: &mut Vec<Drift>) -> Result<()> {
    let Expects::Exactly(Some(original)) = change.expects else { return Ok(()) };
    let live = match &change.wants {
        Wants::Same => return Ok(()),
        Wants::Inside(inside) => {
            for child in &inside.children {
                path.push(child.id.step(&inside.by), None);
                collect(&child.change, path, out)?;
                path.pop();
            }
            return Ok(());
        }
        // An edit by path alone makes a text that no document has.
        Wants::Nothing | Wants::Made(_) => None,
        Wants::Value(node) | Wants::Text(node) => Some(value(*node)?),
    };
    out.push(Drift { place: path.keyed(), original: value(original)?, live, by: Vec::new() });
    Ok(())
}

/// Prints the drift of a resource, one block for each field. Fields in conflict are left out, because the conflict shows them.
pub fn show(address: &str, drifts: &[Drift], conflicts: &[&Event], page: &mut Page) {
    let of_resource = conflicts.iter().filter(|c| c.file.as_ref().is_some_and(|f| f.path == address));
    let told = of_resource.copied().filter_map(Event::clash).flat_map(Clash::fields);
    let told: Places<'_> = told.map(String::as_str).collect();
    for drift in drifts.iter().filter(|drift| !told.touch(&drift.place)) {
        let live = drift.live.as_ref().map_or_else(|| "(none)".to_owned(), Value::to_string);
        page.painted(Paint::Yellow, &format!("changed in the cluster: {address}: {}", drift.place));
        page.line(&format!("  original: {}", drift.original));
        page.line(&format!("  live:     {live}"));
        if !drift.by.is_empty() {
            page.line(&format!("  by:       {}", drift.by.join(", ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_schema::schema::Inference;

    #[test]
    fn places_touch_what_they_hold_and_what_holds_them() {
        let places: Places<'_> = ["spec.a", "spec.list[name=x].b", "spec-1.c"].into_iter().collect();
        for touched in ["spec.a", "spec.a.b", "spec.a[0]", "spec", "spec.list", "spec.list[name=x]", "spec-1"] {
            assert!(places.touch(touched), "{touched}");
        }
        for other in ["spec.ab", "spec.b", "spe", "spec.list[name=y]", "spec.list[name=x].bc", ""] {
            assert!(!places.touch(other), "{other}");
        }
    }

    #[test]
    fn what_was_applied_and_is_otherwise_now_is_drift() {
        let applied = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 3, paused: true, template: {spec: {containers: [{name: app, image: a}], tolerations: [{key: x}]}}}\n";
        let live = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, labels: {x: y}}\nspec: {replicas: 5, revisionHistoryLimit: 10, template: {spec: {containers: [{name: app, image: b, imagePullPolicy: Always}, {name: injected}], tolerations: [{key: x}]}}}\n";
        let types = Types::new([], Inference::On);
        let [applied, live] = [applied, live].map(|yaml| Object::live(yaml_serde::from_str(yaml).expect("YAML")));
        let found = drifts(&applied, &live, &types).expect("compared");
        let found: Vec<(&str, String)> = found
            .iter()
            .map(|d| (d.place.as_str(), format!("{} {}", d.original, d.live.clone().unwrap_or_default())))
            .collect();
        assert_eq!(
            found,
            [
                ("spec.replicas", "3 5".to_owned()),
                ("spec.template.spec.containers[name=app].image", "\"a\" \"b\"".to_owned()),
                ("spec.paused", "true null".to_owned()),
            ]
        );
    }
}
