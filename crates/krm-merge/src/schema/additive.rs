//! Lists of kustomize and kpt to which both sides may add elements, although no merge key identifies the elements.
//!
//! Two files that two sides append to `resources` do not exclude each other, so a three-way merge keeps both. These lists are not sets: the
//! version of a remote base is a part of its element, and if both sides change it, one of them must win. So elements have names, and two
//! elements of one name are in conflict.
//!
//! Sources: `Kustomization` in kustomize's `api/types`; for a Kptfile the design "Pipeline Merge" of kpt, which names a function by `name`,
//! or by its image without the version, and runs the functions that upstream added after the local ones.

use std::borrow::Cow;

use crate::child::Value as _;
use crate::tree::View;

/// A place in a type that has additive lists.
#[derive(Debug)]
pub struct AdditivePlace {
    /// How the elements are named, if this place is an additive list.
    list: Option<Names>,
    fields: &'static [(&'static str, AdditivePlace)],
}

/// The fields that may name an element that is a map: the first one that the element has. A scalar names itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names(&'static [&'static str]);

/// A list of scalars.
const SCALARS: AdditivePlace = list(&[]);

const fn list(names: &'static [&'static str]) -> AdditivePlace {
    AdditivePlace { list: Some(Names(names)), fields: &[] }
}

const fn map(fields: &'static [(&'static str, AdditivePlace)]) -> AdditivePlace {
    AdditivePlace { list: None, fields }
}

/// The sources of a ConfigMap or Secret that kustomize generates.
const GENERATOR: AdditivePlace = map(&[("envs", SCALARS), ("files", SCALARS), ("literals", SCALARS)]);

const KUSTOMIZATION: AdditivePlace = map(&[
    ("bases", SCALARS),
    ("components", SCALARS),
    ("configMapGenerator", GENERATOR),
    ("configurations", SCALARS),
    ("crds", SCALARS),
    ("generators", SCALARS),
    ("patches", list(&["path"])),
    ("patchesJson6902", list(&["path"])),
    ("patchesStrategicMerge", SCALARS),
    ("replacements", list(&["path"])),
    ("resources", SCALARS),
    ("secretGenerator", GENERATOR),
    ("transformers", SCALARS),
    ("validators", SCALARS),
]);

const FUNCTIONS: AdditivePlace = list(&["name", "image", "exec"]);

const KPTFILE: AdditivePlace = map(&[("pipeline", map(&[("mutators", FUNCTIONS), ("validators", FUNCTIONS)]))]);

/// The root of a type that has additive lists, in any version.
pub fn root(api_version: &str, kind: &str) -> Option<&'static AdditivePlace> {
    let (group, _) = api_version.split_once('/')?;
    match (group, kind) {
        ("kustomize.config.k8s.io", "Kustomization" | "Component") => Some(&KUSTOMIZATION),
        ("kpt.dev", "Kptfile") => Some(&KPTFILE),
        _ => None,
    }
}

impl AdditivePlace {
    /// The place of a field. Lists are passed through.
    pub fn field(&'static self, name: &str) -> Option<&'static Self> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, place)| place)
    }

    /// How the elements of the list here are named, if it is additive.
    pub fn list(&self) -> Option<Names> {
        self.list
    }
}

impl Names {
    /// The name of an element, without its version. A text of several lines is not a name.
    pub fn of<'a>(self, element: View<'_, 'a>) -> Option<Cow<'a, str>> {
        let name = self.0.iter().find_map(|name| element.field(name)).unwrap_or(element).text()?;
        (!name.contains('\n')).then(|| without_version(name))
    }
}

/// A reference without the part that may change: the query of a URL, the value of a `KEY=VALUE`, the tag or digest of an image.
fn without_version(text: Cow<'_, str>) -> Cow<'_, str> {
    let end = text.find(['?', '=']).unwrap_or(text.len());
    let last = text[..end].rfind('/').map_or(0, |slash| slash + 1);
    let end = text[last..end].find(['@', ':']).map_or(end, |at| last + at);
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
        Cow::Owned(mut text) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::Document;

    #[test]
    fn names_are_without_versions() {
        for (text, want) in [
            ("a.yaml", "a.yaml"),
            ("../base", "../base"),
            ("https://github.com/a/b//c?ref=v1/x", "https://github.com/a/b//c"),
            ("git@github.com:a/b.git?ref=v1", "git@github.com:a/b.git"),
            ("KEY=https://a/b", "KEY"),
            ("localhost:5000/fn/set-labels:v0.1", "localhost:5000/fn/set-labels"),
            ("set-labels@sha256:0a", "set-labels"),
            ("", ""),
        ] {
            assert_eq!(without_version(text.into()), want, "{text}");
        }
    }

    #[test]
    fn functions_are_named_as_kpt_names_them() {
        let functions =
            root("kpt.dev/v1", "Kptfile").and_then(|kptfile| kptfile.field("pipeline")?.field("mutators")?.list());
        let functions = functions.expect("an additive list");
        for (element, want) in [
            ("{image: 'a/set-labels:v0.1', configPath: a.yaml}", Some("a/set-labels")),
            ("{image: 'a/set-labels:v0.1', name: first}", Some("first")),
            ("{exec: ./set-labels}", Some("./set-labels")),
            ("{configPath: a.yaml}", None),
            ("{name: [a]}", None),
            ("\"kind: Pod\\nmetadata: {}\"", None),
        ] {
            let document = Document::parse(element).expect("valid");
            let name = document.roots().next().and_then(|element| functions.of(View::Node(element)));
            assert_eq!(name.as_deref(), want, "{element}");
        }
    }
}
