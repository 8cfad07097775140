//! OpenAPI schemas, read where they are in a document: a CustomResourceDefinition, or the functionConfig's `openapi`.
//!
//! A schema is a view of a node, and goes down field by field with the walk. So a document of many megabytes costs its index and the parts
//! that are used, and a recursive type needs no special case. Sources: `x-kubernetes-patch-strategy` and `-patch-merge-key` as kubectl
//! reads them, `x-kubernetes-list-type` and `-list-map-keys` as the API server does.

use std::borrow::Cow;

use krm_tree::child::key_text;
use krm_yaml::NodeRef;
use krm_yaml::hashed::{Empty, HashMap};

use super::alternatives::Alternatives;
use super::{ListKind, Members, merge_keys};
use crate::mode::Mode;

/// The models of an OpenAPI document, by name, and the types of resources among them.
#[derive(Debug, Default)]
pub(super) struct Models<'t> {
    by_name: HashMap<&'t str, NodeRef<'t>>,
    of_type: HashMap<(String, String), NodeRef<'t>>,
}

/// Why a document defines no types.
#[derive(Clone, Copy, Debug)]
pub enum NoTypes<'t> {
    /// The document has no `definitions`, a map from names to schemas.
    NoDefinitions(NodeRef<'t>),
    /// None of these definitions names its resource in `x-kubernetes-group-version-kind`.
    NoResource(NodeRef<'t>),
}

impl<'t> Models<'t> {
    /// Reads an OpenAPI v2 document (`definitions`) or a v3 one (`components.schemas`).
    ///
    /// # Errors
    /// There are no models, or none names its resource.
    pub(super) fn read(document: NodeRef<'t>) -> Result<Self, NoTypes<'t>> {
        let models = document.get("definitions").or_else(|| document.at(&["components", "schemas"]));
        let Some(models) = models.filter(|m| m.is_map()) else {
            return Err(NoTypes::NoDefinitions(document));
        };
        let by_name: HashMap<&str, NodeRef<'t>> = models.fields().map(|(name, model)| (name.string(), model)).collect();
        let mut of_type = HashMap::new();
        for (_, model) in models.fields() {
            let kinds = model.get("x-kubernetes-group-version-kind");
            for kind in kinds.into_iter().flat_map(NodeRef::elements) {
                let text = |key| kind.get(key).map(NodeRef::string).unwrap_or_default();
                let api_version = match text("group") {
                    "" => text("version").to_owned(),
                    group => format!("{group}/{}", text("version")),
                };
                of_type.insert((api_version, text("kind").to_owned()), model);
            }
        }
        if of_type.is_empty() {
            return Err(NoTypes::NoResource(models));
        }
        Ok(Self { by_name, of_type })
    }

    /// The types of the resources, by apiVersion and kind.
    pub(super) fn types(&self) -> impl Iterator<Item = &(String, String)> {
        self.of_type.keys()
    }

    /// The schema of a resource.
    pub(super) fn root(&'t self, api_version: &str, kind: &str) -> Option<Schema<'t>> {
        if self.of_type.is_empty() {
            return None;
        }
        let node = *self.of_type.get(&(api_version.to_owned(), kind.to_owned()))?;
        Some(Schema { node, models: Some(self) })
    }
}

/// The schema of one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schema<'t> {
    node: NodeRef<'t>,
    /// The models that `$ref` refers to.
    models: Option<&'t Models<'t>>,
}

impl<'t> Schema<'t> {
    /// A schema without references: structural schemas have no `$ref`.
    pub(super) fn structural(node: NodeRef<'t>) -> Self {
        Self { node, models: None }
    }

    /// The schema of a field. Lists are passed through: the field of a list is the field of its elements.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        let here = self.innermost();
        let parts = here.parts();
        let own = parts.iter().find_map(|part| part.get("properties")?.get(name));
        let any = || parts.iter().find_map(|part| part.get("additionalProperties").filter(|s| s.is_map()));
        Some(Self { node: own.or_else(any)?, ..here })
    }

    /// The required fields of the map that the schema describes, or of each element of the list.
    pub(super) fn required(self) -> Vec<&'t str> {
        let required = self.innermost().parts().into_iter().filter_map(|part| part.get("required"));
        required.flat_map(NodeRef::elements).filter_map(NodeRef::as_str).collect()
    }

    /// The schema of the innermost elements, if this one describes a list; otherwise this schema.
    fn innermost(self) -> Self {
        let mut here = self;
        for _ in 0..DEEP {
            let Some(items) = here.said("items") else { break };
            here = Self { node: items, ..here };
        }
        here
    }

    /// How the list that the schema describes merges; `None` if it does not describe a list. If the schema does not say how, the list is
    /// replaced.
    pub(super) fn list(self, mode: Mode) -> Option<ListKind<&'t str>> {
        let text = |key| self.said(key).and_then(NodeRef::as_str);
        let list_type = text("x-kubernetes-list-type");
        let is_list = self.is_list();
        let map_keys: Vec<&'t str> = {
            let keys = self.said("x-kubernetes-list-map-keys");
            keys.into_iter().flat_map(NodeRef::elements).map(NodeRef::string).collect()
        };
        if self.has_strategy("merge") {
            return match text("x-kubernetes-patch-merge-key") {
                Some(key) => Some(ListKind::Map(merge_keys(&[key], &map_keys).to_vec())),
                None if is_list => Some(ListKind::Set),
                None => None,
            };
        }
        let kind = match list_type.filter(|_| mode != Mode::Strategic) {
            Some("map") if !map_keys.is_empty() => ListKind::Map(map_keys),
            Some("set") => ListKind::Set,
            _ => ListKind::Atomic,
        };
        is_list.then_some(kind)
    }

    /// Whether it declares how its list merges.
    pub(super) fn declares(self) -> bool {
        self.said("x-kubernetes-list-type").is_some() || self.has_strategy("merge")
    }

    /// The names of its fields; for a list, of the fields of each element. `*` is any field.
    pub(super) fn names(self) -> impl Iterator<Item = &'t str> {
        let properties = self.innermost().parts().into_iter().filter_map(|part| part.get("properties"));
        let any = self
            .innermost()
            .parts()
            .into_iter()
            .any(|part| part.get("additionalProperties").is_some_and(|s| s.is_map()));
        properties.flat_map(NodeRef::fields).map(|(name, _)| name.string()).chain(any.then_some("*"))
    }

    /// Whether it is the same schema as another one of the document.
    pub(super) fn is(self, other: Self) -> bool {
        self.node.is(other.node)
    }

    /// Whether it describes a scalar.
    pub(super) fn is_scalar(self) -> bool {
        let types = ["string", "integer", "number", "boolean"];
        self.said("type").is_some_and(|t| types.contains(&t.string()))
    }

    /// Whether it describes a list.
    pub(super) fn is_list(self) -> bool {
        let is_array = self.said("type").is_some_and(|t| t.string() == "array");
        is_array || self.said("x-kubernetes-list-type").is_some() || self.said("items").is_some()
    }

    fn has_strategy(self, strategy: &str) -> bool {
        let said = self.said("x-kubernetes-patch-strategy").and_then(NodeRef::as_str).unwrap_or_default();
        said.split(',').any(|s| s.trim() == strategy)
    }

    /// Which fields of the map that the schema describes, or of each element of the list, may be set together.
    pub(super) fn members(self) -> Members<'t> {
        if !self.has_strategy("retainKeys") {
            return Members::Any;
        }
        let merge_key = self.said("x-kubernetes-patch-merge-key").and_then(NodeRef::as_str);
        Members::of(self.is_list().then_some(merge_key))
    }

    /// The fields of which the map that the schema describes has one, or each element of the list: what each way of a `oneOf` requires.
    pub(super) fn alternatives(self) -> Vec<Alternatives<'t>> {
        let ways = self.innermost().parts().into_iter().filter_map(|part| part.get("oneOf"));
        let of_ways = ways.filter_map(|ways| {
            // With a `not`, a way is that none is set.
            let required = ways.elements().filter_map(|way| way.get("required"));
            let only = required.map(|required| {
                let mut fields = required.elements();
                fields.next()?.as_str().filter(|_| fields.next().is_none())
            });
            let fields: Vec<&str> = only.collect::<Option<_>>()?;
            (fields.len() > 1).then_some(Alternatives::Of(fields.into()))
        });
        of_ways.collect()
    }

    /// Its default, as the value of a merge key.
    pub(super) fn default(self) -> Option<Cow<'t, str>> {
        self.said("default").and_then(key_text)
    }

    /// Whether its value is a resource of its own, with the metadata of one.
    pub(super) fn is_embedded_resource(self) -> bool {
        self.said("x-kubernetes-embedded-resource").is_some_and(|v| v.string() == "true")
    }

    /// Whether it describes a map that is replaced whole.
    pub(super) fn is_atomic_map(self) -> bool {
        self.said("x-kubernetes-map-type").is_some_and(|t| t.string() == "atomic")
    }
    /// The paths from its value to fields that must not change, by rules such as `self == oldSelf` or `self.class == oldSelf.class`; an
    /// empty path is the value itself. Source: transition rules of `x-kubernetes-validations`.
    pub(super) fn fixed(self) -> Vec<Vec<&'t str>> {
        let rules = self.parts().into_iter().filter_map(|part| part.get("x-kubernetes-validations"));
        let rules = rules.flat_map(NodeRef::elements);
        let text = |rule: NodeRef<'t>| rule.get("rule").and_then(NodeRef::as_str);
        // With `optionalOldSelf`, a rule holds for new values, too. A comparison of two states cannot check that.
        let is_transition = |rule: &NodeRef<'t>| rule.get("optionalOldSelf").is_none_or(|v| v.string() != "true");
        rules.filter(is_transition).filter_map(text).filter_map(fixed_by).collect()
    }

    /// Whether a patch replaces the whole map that it describes.
    pub(super) fn is_replaced(self) -> bool {
        self.has_strategy("replace")
    }

    /// The value of a keyword in the first part of the schema that has it.
    fn said(self, key: &str) -> Option<NodeRef<'t>> {
        // Most schemas have only one part: themselves.
        self.node.get(key).or_else(|| self.parts().iter().find_map(|part| part.get(key)))
    }

    /// The schema itself, the target of its `$ref`, and all parts of its `allOf`. OpenAPI v3 needs an `allOf` for a reference with an
    /// extension.
    fn parts(self) -> Vec<NodeRef<'t>> {
        let mut parts = vec![self.node];
        let mut next = 0;
        while let Some(part) = parts.get(next).copied().filter(|_| parts.len() < DEEP) {
            next += 1;
            let name = part.get("$ref").map(|reference| reference.string().rsplit('/').next().unwrap_or_default());
            let name = name.map(|name| name.replace("~1", "/").replace("~0", "~"));
            let found = self.models.zip(name).and_then(|(models, name)| models.by_name.get(name.as_str()).copied());
            let all = part.get("allOf").into_iter().flat_map(NodeRef::elements);
            parts.extend(found.into_iter().chain(all));
        }
        parts
    }
}

/// The field that a rule compares with its old value, if the rule does nothing else.
fn fixed_by(rule: &str) -> Option<Vec<&str>> {
    let (one, other) = rule.split_once("==")?;
    let now = path_below(one, "self").zip(path_below(other, "oldSelf"));
    let (now, old) = now.or_else(|| path_below(other, "self").zip(path_below(one, "oldSelf")))?;
    (now == old).then_some(now)
}

/// The fields after the root in an expression such as `self.a.b`.
fn path_below<'t>(expression: &'t str, root: &str) -> Option<Vec<&'t str>> {
    let mut names = expression.trim().split('.');
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let path: Vec<&str> = (names.next() == Some(root)).then(|| names.collect())?;
    path.iter().all(is_name).then_some(path)
}

/// How many steps a schema may take to its parts; more mean a cycle.
const DEEP: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Inference, Types, list_kind};
    use krm_yaml::Document;

    const DOCUMENT: &str = r##"
definitions:
  example.Node:
    x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Node}]
    properties:
      children:
        type: array
        items: {$ref: "#/definitions/example.Node"}
        x-kubernetes-patch-strategy: merge
        x-kubernetes-patch-merge-key: name
      ports:
        type: array
        items: {type: object}
        x-kubernetes-patch-strategy: merge
        x-kubernetes-patch-merge-key: port
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [port, protocol]
      tags: {type: array, items: {type: string}, x-kubernetes-patch-strategy: merge}
      mapped: {type: array, items: {type: object}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id]}
      plain: {type: array, items: {type: object, required: [id, at]}}
      atomic: {type: object, x-kubernetes-map-type: atomic, properties: {l: {type: array}}}
      whole: {$ref: "#/definitions/example.Node", x-kubernetes-patch-strategy: replace}
      composed: {allOf: [{$ref: "#/definitions/example.Node"}], description: as v3 has it}
      extended: {allOf: [{properties: {a: {type: array}}}, {$ref: "#/definitions/example.Node"}], properties: {b: {type: array, x-kubernetes-patch-strategy: merge}}}
      endless: {$ref: "#/definitions/example.Endless"}
      circle: {$ref: "#/definitions/example.Circle"}
      lost: {$ref: "#/definitions/nowhere"}
      byName: {type: object, additionalProperties: {$ref: "#/definitions/example.Node"}}
  example.Circle: {$ref: "#/definitions/example.Circle"}
  example.Endless: {items: {$ref: "#/definitions/example.Endless"}}
"##;

    fn kind(path: &str) -> String {
        let doc = Document::parse(DOCUMENT).expect("valid");
        let types = Types::new([], Inference::Off);
        let types = types.with_openapi(doc.roots().next().expect("a root")).expect("models");
        let root = types.root("example.com/v1", "Node", Mode::Strategic);
        let cursor = path.split('.').fold(root, |cursor, field| cursor.field(field));
        let kind = match list_kind(cursor, &[Vec::<krm_yaml::NodeRef<'_>>::new()]) {
            Ok(ListKind::Map(keys)) => keys.iter().map(|k| k.name).collect::<Vec<_>>().join("+"),
            Ok(kind) => format!("{kind:?}"),
            Err(unkeyed) => unkeyed.to_string(),
        };
        if cursor.is_replaced() { format!("replaced, {kind}") } else { kind }
    }

    #[test]
    fn a_document_names_the_keys_of_lists_however_deep() {
        for (path, want) in [
            ("children", "name"),
            ("children.children.children", "name"),
            ("composed.children", "name"),
            ("extended.children", "name"),
            ("extended.a", "Atomic"),
            ("extended.b", "Set"),
            ("endless.a", "Atomic"),
            ("byName.any.children", "name"),
            ("ports", "port+protocol"),
            ("tags", "Set"),
            ("mapped", "id"),
            ("plain", "Atomic"),
            ("circle.children", "Atomic"),
            ("lost.children", "Atomic"),
            ("whole", "replaced, Atomic"),
            ("atomic", "replaced, Atomic"),
            ("atomic.l", "Atomic"),
            ("whole.children", "name"),
        ] {
            assert_eq!(kind(path), want, "{path}");
        }
    }

    #[test]
    fn a_document_says_which_fields_are_required() {
        let text = DOCUMENT.replace(
            "  example.Circle",
            "  example.Other: {required: [a], allOf: [{required: [b]}]}\n  example.Circle",
        );
        let text = text.replace(
            "endless: {$ref: \"#/definitions/example.Endless\"}",
            "other: {$ref: \"#/definitions/example.Other\"}",
        );
        let doc = Document::parse(text).expect("valid");
        let types = Types::new([], Inference::Off);
        let types = types.with_openapi(doc.roots().next().expect("a root")).expect("models");
        let root = types.root("example.com/v1", "Node", Mode::Strategic);
        let required = |name: &str| root.field("children").field(name).required().collect::<Vec<_>>().join(" ");
        assert_eq!([required("plain"), required("other"), required("circle")], ["id at", "a b", ""]);
    }

    #[test]
    fn a_document_without_types_is_refused() {
        for (text, has_definitions) in
            [("{swagger: '2.0'}", false), ("{definitions: []}", false), ("{definitions: {a: {}}}", true)]
        {
            let doc = Document::parse(text).expect("valid");
            let error = Models::read(doc.roots().next().expect("a root")).expect_err("no types");
            assert_eq!(matches!(error, NoTypes::NoResource(_)), has_definitions, "{text}");
        }
    }
}
