//! Things whose parts are in several fields of a map: an image with its repository, tag and digest, a chart with its version.
//!
//! A digest goes with its tag, and a version with its thing. So where both sides changed a thing, in ways that nobody can combine, all of its
//! fields are one conflict. A mirror and a new tag can be combined, as in the text of an image. Where git is clean, so is the merge, but for a
//! digest beside another tag.

use std::borrow::Cow;

use krm_tree::child::{ChildId, Value as _};
use krm_tree::path::FieldPath;
use krm_tree::sides::{Side, Sides};
use krm_tree::tree::View;
use krm_yaml::NodeRef;

use crate::change::Child;

/// A kind of thing.
#[derive(Debug)]
pub struct Thing {
    /// The field that holds the map, or the list with the map in it; `None` for every map with these fields.
    within: Option<&'static [&'static str]>,
    /// The fields that name it, or whose last word does.
    names: &'static [&'static str],
    /// The field that a mirror changes.
    mirrors: &'static [&'static str],
    /// The other fields that say where it is.
    places: &'static [&'static str],
    /// The fields that say which version of it, in words that people compare.
    versions: &'static [&'static str],
    /// The fields with a hash of that version.
    hashes: &'static [&'static str],
}

/// The kinds of things, each with its source.
const THINGS: [Thing; 7] = [
    // kustomize, `Image` in `api/types/image.go`.
    Thing {
        within: Some(&["images"]),
        names: &["newName"],
        mirrors: &[],
        places: &[],
        versions: &["newTag"],
        hashes: &["digest"],
    },
    // The values of charts: `helm create`, the charts of Bitnami (`digest`), and of Grafana (`sha`).
    Thing {
        within: None,
        names: &["repository"],
        mirrors: &["registry"],
        places: &[],
        versions: &["tag"],
        hashes: &["digest", "sha"],
    },
    // Helm, `Dependency` in `pkg/chart`; kustomize, `HelmChart` in `api/types/helmchartargs.go`.
    Thing {
        within: Some(&["dependencies", "helmCharts"]),
        names: &["name"],
        mirrors: &[],
        places: &["repo", "repository"],
        versions: &["version"],
        hashes: &[],
    },
    // Flux, `HelmChartTemplateSpec`.
    Thing {
        within: None,
        names: &["chart"],
        mirrors: &[],
        places: &["sourceRef"],
        versions: &["version"],
        hashes: &[],
    },
    // Argo CD, `ApplicationSource`.
    Thing {
        within: None,
        names: &["chart"],
        mirrors: &[],
        places: &["path", "repoURL"],
        versions: &["targetRevision"],
        hashes: &[],
    },
    // kpt, `Git` and `GitLock` in `api/kptfile/v1`.
    Thing {
        within: Some(&["git"]),
        names: &[],
        mirrors: &[],
        places: &["directory", "repo"],
        versions: &["ref"],
        hashes: &["commit"],
    },
    // Flux, `GitRepositoryRef` and `OCIRepositoryRef`.
    Thing {
        within: Some(&["ref"]),
        names: &[],
        mirrors: &[],
        places: &["branch", "name"],
        versions: &["semver", "tag"],
        hashes: &["commit", "digest"],
    },
];

impl Thing {
    /// The kind of thing of which a map has more than one of these fields. `within` is the field of the map, or of the list that it is in.
    fn at<'f>(within: Option<&str>, fields: impl Iterator<Item = &'f str>) -> Option<&'static Self> {
        let fields: Vec<&str> = fields.collect();
        THINGS.iter().find(|thing| {
            let has = |name: &&str| fields.contains(name);
            thing.versions().any(|name| has(&name))
                && thing.fields().filter(has).count() > 1
                && thing.within.is_none_or(|around| within.is_some_and(|field| around.contains(&field)))
        })
    }

    /// The fields that say which version of it.
    fn versions(&self) -> impl Iterator<Item = &'static str> {
        self.versions.iter().chain(self.hashes).copied()
    }

    /// All of its fields.
    fn fields(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().chain(self.mirrors).chain(self.places).copied().chain(self.versions())
    }

    /// The fields that are one conflict; none if the sides can be combined, or if one field alone is in conflict.
    fn apart(&self, sides: Sides<NodeRef<'_>>) -> Vec<&'static str> {
        let value = |side: Side, name: &str| sides[side].get(name);
        let is_same = |one: Side, other: Side, name: &str| match (value(one, name), value(other, name)) {
            (Some(one), Some(other)) => View::Node(one).same(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let is_changed =
            |side: Side, name: &str| !is_same(Side::Original, side, name) && !is_same(Side::Updated, Side::Dest, name);
        let changed: Vec<&str> =
            self.fields().filter(|name| is_changed(Side::Updated, name) || is_changed(Side::Dest, name)).collect();
        let changes = |side: Side, fields: &[&str]| fields.iter().any(|name| is_changed(side, name));
        let versions: Vec<&str> = self.versions().filter(|name| changed.contains(name)).collect();
        if changed.len() < 2 || versions.is_empty() {
            return Vec::new();
        }
        let word = |side: Side, name: &str| {
            let text = value(side, name)?.as_str()?;
            Some(text.trim_end_matches('/').rsplit('/').next().unwrap_or(text))
        };
        let names = self.names.iter().copied().filter(|name| {
            let [updated, dest] = [Side::Updated, Side::Dest].map(|side| word(side, name));
            changed.contains(name) && updated.is_some() && dest.is_some() && updated != dest
        });
        let names: Vec<&str> = names.collect();
        let is_of_both = [Side::Updated, Side::Dest].into_iter().all(|side| changes(side, &versions));
        let is_other =
            [Side::Updated, Side::Dest].into_iter().all(|side| changes(side, &names) || changes(side, &versions));
        if !names.is_empty() && is_other && (is_of_both || self.git_stops(sides, &changed, &is_changed)) {
            return changed;
        }
        if is_of_both { versions } else { Vec::new() }
    }

    /// Whether git stops at these fields: both sides changed one of them, or two whose lines touch.
    fn git_stops(&self, sides: Sides<NodeRef<'_>>, changed: &[&str], is_changed: &impl Fn(Side, &str) -> bool) -> bool {
        let places: Vec<(usize, &str)> =
            sides.original.fields().enumerate().map(|(at, (key, _))| (at, key.string())).collect();
        let of = |side: Side| {
            let of_side = places.iter().filter(move |(_, name)| changed.contains(name) && is_changed(side, name));
            of_side.map(|(at, _)| *at).collect::<Vec<_>>()
        };
        let [updated, dest] = [Side::Updated, Side::Dest].map(of);
        updated.iter().any(|one| dest.iter().any(|other| one.abs_diff(*other) < 2))
    }
}

/// The fields of a map that are one conflict, because they are parts of one thing that both sides changed; none if there is no such thing.
pub(crate) fn apart(within: &str, changes: &[Child<'_>], sides: Sides<NodeRef<'_>>) -> Vec<&'static str> {
    let is_part = |child: &Child<'_>| {
        let ChildId::Field(name) = child.id else { return false };
        child.change.asks_for_values() && THINGS.iter().any(|thing| thing.fields().any(|field| field == name))
    };
    if !changes.iter().any(is_part) {
        return Vec::new();
    }
    let fields = sides.iter().flat_map(|(_, map)| map.fields().map(|(key, _)| key.string()));
    Thing::at(Some(within), fields).map(|thing| thing.apart(sides)).unwrap_or_default()
}

/// The versions of one thing on each side; `None` if the maps are no thing, or if updated and dest differ in more than the version.
pub fn versions<'a>(path: &FieldPath<'_>, maps: Sides<Option<View<'_, 'a>>>) -> Option<Sides<Option<Cow<'a, str>>>> {
    let (updated, dest) = (maps.updated?, maps.dest?);
    let names: Vec<&str> = [updated, dest].into_iter().flat_map(View::fields).map(|(name, _)| name).collect();
    let thing = Thing::at(path.field(), names.iter().copied())?;
    let version = only(thing.versions.iter().copied().filter(|name| !is_alike(updated, dest, name)))?;
    names
        .iter()
        .all(|name| thing.versions().any(|version| version == *name) || is_alike(updated, dest, name))
        .then(|| maps.map(|map| map?.field(version)?.text()))
}

/// Whether two maps say that the thing that they are is at one place, or at a mirror of it.
pub fn is_at_one_place(path: &FieldPath<'_>, one: View<'_, '_>, other: View<'_, '_>) -> bool {
    let names = [one, other].into_iter().flat_map(View::fields).map(|(name, _)| name);
    let thing = Thing::at(path.field(), names);
    thing.is_some_and(|thing| thing.places.iter().all(|name| is_alike(one, other, name)))
}

/// Whether a field of this name holds a hash that goes with a version.
pub fn is_hash(name: &str) -> bool {
    THINGS.iter().any(|thing| thing.hashes.contains(&name))
}

/// Whether two maps have the same value in a field.
fn is_alike(one: View<'_, '_>, other: View<'_, '_>, name: &str) -> bool {
    one.field(name).map(View::meaning) == other.field(name).map(View::meaning)
}

fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use krm_yaml::Document;

    use super::*;

    #[test]
    fn the_parts_of_a_thing_are_one_conflict_if_nobody_can_combine_them() {
        for (within, [original, updated, dest], want) in [
            // A digest goes with its tag.
            (
                "images",
                ["{name: a, newTag: 1}", "{name: a, newTag: 2}", "{name: a, newTag: 1, digest: x}"],
                "newTag digest",
            ),
            ("images", ["{name: a, newTag: 1}", "{name: a, newTag: 2}", "{name: a, digest: x}"], "newTag digest"),
            (
                "image",
                [
                    "{repository: a, tag: 1, digest: x}",
                    "{repository: a, tag: 2, digest: y}",
                    "{repository: a, tag: 3, digest: z}",
                ],
                "tag digest",
            ),
            ("image", ["{tag: 1}", "{tag: 2}", "{tag: 1, digest: x}"], "tag digest"),
            // Both sides did the same, and one did more.
            ("image", ["{tag: 1}", "{tag: 2}", "{tag: 2, digest: x}"], ""),
            ("image", ["{tag: 1, digest: x}", "{tag: 2, digest: y}", "{tag: 1, digest: x, pullPolicy: Never}"], ""),
            // A mirror and a new tag.
            ("image", ["{repository: g/a, tag: 1}", "{repository: g/a, tag: 2}", "{repository: m/a, tag: 1}"], ""),
            (
                "image",
                [
                    "{registry: g, repository: a, tag: 1}",
                    "{registry: g, repository: a, tag: 2}",
                    "{registry: m, repository: a, tag: 1}",
                ],
                "",
            ),
            ("images", ["{name: a, newTag: 1}", "{name: a, newTag: 2}", "{name: a, newName: m/a, newTag: 1}"], ""),
            ("image", ["{repository: g/a, tag: 1}", "{repository: g/a, tag: 2}", "{repository: m/a, tag: 3}"], "tag"),
            // Another image, another chart.
            (
                "image",
                ["{repository: g/a, tag: 1}", "{repository: g/a, tag: 2}", "{repository: m/b, tag: 1}"],
                "repository tag",
            ),
            (
                "image",
                [
                    "{repository: g/a, x: 1, tag: 1}",
                    "{repository: g/a, x: 1, tag: 2}",
                    "{repository: m/b, x: 1, tag: 1}",
                ],
                "",
            ),
            ("spec", ["{chart: a, version: 1}", "{chart: b, version: 2}", "{chart: a, version: 3}"], "chart version"),
            (
                "dependencies",
                [
                    "{name: a, version: 1, repository: g}",
                    "{name: a, version: 2, repository: h}",
                    "{name: a, version: 3, repository: g}",
                ],
                "version",
            ),
            (
                "git",
                ["{repo: g, ref: 1, commit: x}", "{repo: g, ref: 2, commit: y}", "{repo: g, ref: 3, commit: z}"],
                "ref commit",
            ),
            // One field alone is a conflict of its own.
            ("image", ["{repository: a, tag: 1}", "{repository: a, tag: 2}", "{repository: a, tag: 3}"], ""),
            ("image", ["{repository: a, tag: 1}", "{repository: b, tag: 1}", "{repository: c, tag: 1}"], ""),
            // No thing.
            (
                "data",
                [
                    "{name: a, version: 1, repository: g}",
                    "{name: a, version: 2, repository: h}",
                    "{name: a, version: 3, repository: g}",
                ],
                "",
            ),
        ] {
            let documents = [original, updated, dest].map(|text| Document::parse(text.to_owned()).expect("valid"));
            let roots = documents.each_ref().map(|document| document.roots().next().expect("a root"));
            let found = |[original, updated, dest]: [NodeRef<'_>; 3]| {
                let sides = Sides { original, updated, dest };
                let fields = roots.iter().flat_map(|root| root.fields().map(|(key, _)| key.string()));
                Thing::at(Some(within), fields).map(|thing| thing.apart(sides)).unwrap_or_default().join(" ")
            };
            let [original, updated, dest] = roots;
            assert_eq!(found([original, updated, dest]), want, "{within} {updated:?} {dest:?}");
            assert_eq!(found([original, dest, updated]), want, "swapped: {within} {updated:?} {dest:?}");
        }
    }
}
