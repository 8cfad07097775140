//! All lists of a type: how each merges, and which source says so.
//!
//! The walk follows every name that any source has, so it answers as a merge would. Values show what no source names: elements that are
//! inferred to merge, and types that are recognised by their values. A recursive type is walked once.

use std::collections::BTreeSet;

use krm_tree::tree::View;
use krm_yaml::NodeRef;

use super::{
    Basis, ByType, Cursor, ListKind, Names, Schema, Sureness, Types, additive, atlas, builtin, list_basis, list_kind,
};
use crate::mode::Mode;

/// A list of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The fields from the root to the list, with dots; `*` is any field.
    pub path: String,
    /// How it merges.
    pub list: ListKind<String>,
    /// The source that says so; `None` if no source does.
    pub basis: Option<Basis>,
    /// What names its elements in a three-way merge, if it has no merge keys; in words.
    pub names: Option<String>,
}

/// How many levels of a type the walk enters.
const DEEP: usize = 40;

impl<'t> Types<'t> {
    /// How each list of a type merges in a mode. `resources` are of the type; their values may show more than the sources.
    pub fn explain(&self, api_version: &str, kind: &str, mode: Mode, resources: &[NodeRef<'t>]) -> Vec<Explained>
    where
        Self: 't,
    {
        let mut walk = Explanation { path: Vec::new(), above: Vec::new(), found: Vec::new() };
        walk.below(self.root(api_version, kind, mode), resources);
        walk.found
    }

    /// The types of a kind in any group, each with its apiVersion. The name of the kind may be in any case.
    pub fn named(&self, kind: &str) -> BTreeSet<(String, String)> {
        let (rules, definitions) = (types_of(&self.rules), types_of(&self.definitions));
        let built_in = builtin::kinds().chain(additive::kinds());
        let built_in = built_in.map(|(api_version, kind)| (api_version.to_owned(), kind.to_owned()));
        let known = rules.chain(definitions).chain(self.openapi.types().cloned()).chain(built_in);
        let mut found: BTreeSet<_> = known.filter(|(_, name)| name.eq_ignore_ascii_case(kind)).collect();
        let spelled = found.first().map_or(kind, |(_, name)| name.as_str()).to_owned();
        for (group, versions) in atlas::groups_of(kind) {
            found.extend(versions.iter().map(|version| (format!("{group}/{version}"), spelled.clone())));
        }
        found
    }

    /// The names of all kinds that are known. Those of public definitions are in lower case.
    pub fn kinds(&self) -> BTreeSet<String> {
        let (rules, definitions) = (types_of(&self.rules), types_of(&self.definitions));
        let said = rules.chain(definitions).chain(self.openapi.types().cloned()).map(|(_, kind)| kind);
        let built_in = builtin::kinds().chain(additive::kinds()).map(|(_, kind)| kind);
        let known = built_in.chain(atlas::kinds()).map(str::to_owned);
        said.chain(known).collect()
    }
}

fn types_of<T>(map: &ByType<T>) -> impl Iterator<Item = (String, String)> {
    map.iter().flat_map(|(api_version, of_kind)| of_kind.keys().map(|kind| (api_version.clone(), kind.clone())))
}

/// A place on the way down, to recognise a recursive type.
struct WayDown<'s> {
    built_in: Option<builtin::TypeRef>,
    schemas: [Option<Schema<'s>>; 2],
}

struct Explanation<'s> {
    path: Vec<String>,
    above: Vec<WayDown<'s>>,
    found: Vec<Explained>,
}

impl<'s> Explanation<'s> {
    fn below(&mut self, cursor: Cursor<'s>, values: &[NodeRef<'s>]) {
        if self.path.len() >= DEEP || self.is_within_itself(cursor) {
            return;
        }
        self.above.push(WayDown { built_in: cursor.below, schemas: [cursor.openapi, cursor.definition] });
        for name in names(cursor, values) {
            let values: Vec<NodeRef<'_>> = match name {
                "*" => values.iter().flat_map(|value| value.fields()).map(|(_, value)| value).collect(),
                name => values.iter().filter_map(|value| value.get(name)).collect(),
            };
            let child = cursor.child(name, values.iter().copied());
            self.path.push(name.to_owned());
            self.found.extend(self.list(child, &values));
            self.below(child, &values.into_iter().flat_map(maps_in).collect::<Vec<_>>());
            self.path.pop();
        }
        self.above.pop();
    }

    fn list(&self, cursor: Cursor<'s>, values: &[NodeRef<'s>]) -> Option<Explained> {
        let lists = values.iter().filter(|value| value.resolve().is_list());
        let sides: Vec<Vec<NodeRef<'_>>> = lists.map(|list| list.elements().collect()).collect();
        if sides.is_empty() && cursor.answers().next().is_none() && cursor.names().is_none() {
            return None;
        }
        let list = list_kind(cursor, &sides).unwrap_or(ListKind::Atomic);
        let list = list.with_keys(|key| key.name.to_owned());
        let views: Vec<Vec<View<'_, '_>>> =
            sides.iter().map(|side| side.iter().copied().map(View::Node).collect()).collect();
        let views: Vec<&[View<'_, '_>]> = views.iter().map(Vec::as_slice).collect();
        let names = cursor.names_of(&views).filter(|_| list == ListKind::Atomic).map(Names::shown);
        Some(Explained { path: self.path.join("."), list, basis: list_basis(cursor, &sides), names })
    }

    fn is_within_itself(&self, cursor: Cursor<'s>) -> bool {
        let is_same = |above: &WayDown<'s>| {
            let is_type = cursor.below.is_some() && cursor.below == above.built_in && cursor.sureness == Sureness::Said;
            let schemas = [cursor.openapi, cursor.definition];
            let both = schemas.into_iter().zip(above.schemas).filter_map(|(here, above)| here.zip(above));
            is_type || both.into_iter().any(|(here, above)| here.is(above))
        };
        self.above.iter().any(is_same)
    }
}

/// The value itself if it is a map, or the maps among its elements.
fn maps_in(value: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let value = value.resolve();
    match value.is_list() {
        true => value.elements().flat_map(maps_in).collect(),
        false => Vec::from_iter(value.is_map().then_some(value)),
    }
}

/// A name of a table, with the shorter lifetime of a run.
fn shorter<'s>(name: &'static str) -> &'s str {
    name
}

/// The names of the fields of a map that any source or any value has.
fn names<'s>(cursor: Cursor<'s>, values: &[NodeRef<'s>]) -> BTreeSet<&'s str> {
    let mut names = BTreeSet::new();
    names.extend(cursor.rules.into_iter().flat_map(|rules| rules.fields.keys()).map(String::as_str));
    names.extend([cursor.openapi, cursor.definition].into_iter().flatten().flat_map(Schema::names));
    names.extend(cursor.below.into_iter().flat_map(builtin::TypeRef::names).map(shorter));
    names.extend(cursor.atlas.into_iter().flat_map(atlas::Place::fields).map(|(name, _)| shorter(name)));
    names.extend(cursor.additive.into_iter().flat_map(|place| place.fields).map(|(name, _)| shorter(name)));
    names.extend(cursor.metadata.map(|_| "metadata"));
    if !names.contains("*") {
        names.extend(values.iter().flat_map(|value| value.fields()).map(|(name, _)| name.string()));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Inference, ListRule};
    use krm_yaml::Document;

    /// The lists of a type, a line each.
    fn told(types: &Types<'_>, api_version: &str, kind: &str, value: &str) -> Vec<String> {
        let document = Document::parse(value).expect("valid");
        let resources: Vec<NodeRef<'_>> = document.roots().collect();
        let line = |e: Explained| format!("{} {:?} {:?}", e.path, e.list, e.basis);
        types.explain(api_version, kind, Mode::ThreeWay, &resources).into_iter().map(line).collect()
    }

    #[test]
    fn each_source_is_named() {
        let definition = Document::parse(
            "{spec: {group: a.b, names: {kind: K}, versions: [{name: v1, schema: {openAPIV3Schema: {properties: {spec: {properties: {
               keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id]},
               silent: {type: array, items: {type: string}},
               env: {type: array, items: {properties: {name: {}, value: {}}}},
               byName: {additionalProperties: {properties: {l: {type: array, x-kubernetes-list-type: set}}}}}}}}}}]}}",
        )
        .expect("valid");
        let path = vec!["spec".to_owned(), "ruled".to_owned()];
        let rule = ListRule { api_version: "a.b/v1".into(), kind: "K".into(), path, list: ListKind::Set };
        let types = Types::new([rule], Inference::On).with_definitions(definition.roots());
        let lines = told(&types, "a.b/v1", "K", "{spec: {free: [{name: a}], other: [{x: 1}], byName: {n: {l: [a]}}}}");
        let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|line| line.starts_with("spec")).collect();
        assert_eq!(
            lines,
            [
                "spec.byName.*.l Set Some(Definition)",
                "spec.env Map([\"name\"]) Some(Shape)",
                "spec.free Map([\"name\"]) Some(Inferred)",
                "spec.keyed Map([\"id\"]) Some(Definition)",
                "spec.other Atomic None",
                "spec.ruled Set Some(MergeKeys)",
                "spec.silent Atomic Some(Definition)",
            ]
        );
        assert_eq!(types.named("k"), BTreeSet::from([("a.b/v1".to_owned(), "K".to_owned())]));
    }

    #[test]
    fn a_type_that_holds_itself_ends() {
        let types = Types::new([], Inference::On);
        let lines = told(&types, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "{}");
        let schema = "spec.versions.schema.openAPIV3Schema";
        assert!(lines.contains(&format!("{schema}.required Atomic Some(BuiltIn)")), "{lines:?}");
        assert!(lines.len() < 100, "{}", lines.len());
        let openapi = Document::parse(
            "{definitions: {n: {x-kubernetes-group-version-kind: [{group: a.b, version: v1, kind: N}], properties: {
               l: {type: array, items: {$ref: '#/definitions/n'}}}}}}",
        )
        .expect("valid");
        let types = types.with_openapi(openapi.roots().next().expect("a root")).expect("types");
        let lines = told(&types, "a.b/v1", "N", "{}");
        let lines: Vec<&String> = lines.iter().filter(|line| line.starts_with('l')).collect();
        assert_eq!(lines, ["l Atomic Some(OpenApi)", "l.l Atomic Some(OpenApi)"]);
    }

    #[test]
    fn public_and_built_in_types_are_found_by_their_kind() {
        let types = Types::new([], Inference::On);
        let named = |kind: &str| types.named(kind).into_iter().map(|(version, _)| version).collect::<Vec<_>>();
        assert_eq!(named("rollout"), ["argoproj.io/v1alpha1"]);
        assert!(named("deployment").contains(&"apps/v1".to_owned()));
        assert!(named("nothing").is_empty());
        let named = |api_version: &str, kind: &str| -> Vec<String> {
            let lists = types.explain(api_version, kind, Mode::ThreeWay, &[]);
            lists.into_iter().filter_map(|list| Some(format!("{}: {}", list.path, list.names?))).collect()
        };
        assert_eq!(named("loki.grafana.com/v1", "AlertingRule"), ["spec.groups.rules: alert or record"]);
        assert_eq!(
            named("rbac.authorization.k8s.io/v1", "Role"),
            [
                "rules: all but verbs",
                "rules.apiGroups: the whole element",
                "rules.nonResourceURLs: the whole element",
                "rules.resourceNames: the whole element",
                "rules.resources: the whole element",
                "rules.verbs: the whole element"
            ]
        );
        let lines = told(&types, "argoproj.io/v1alpha1", "Rollout", "{}");
        assert!(lines.contains(&"spec.template.spec.containers Map([\"name\"]) Some(Atlas)".to_owned()), "{lines:?}");
    }
}
