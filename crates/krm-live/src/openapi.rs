//! The types of a cluster, from its `/openapi/v3`: the models of custom resources, for the `openapi` of a functionConfig, with their defaults
//! and with what has an owner as a whole.

use krm_schema::schema::builtin;
use serde_json::{Map, Value};

use crate::object::is_empty;

/// How many references may be followed to a schema; more of them mean a cycle.
const REFERENCES: usize = 40;

/// All models of a document, if one of them is the model of the type. The merge reads only the models that it reaches, so a type may
/// contain itself.
pub fn models<'d>(document: &'d Value, api_version: &str, kind: &str) -> Option<&'d Map<String, Value>> {
    Schema::of_type(document, api_version, kind)?;
    document["components"]["schemas"].as_object()
}

/// The schema of a type, or of a value inside of it, in an OpenAPI document.
#[derive(Clone, Copy)]
pub struct Schema<'d> {
    document: &'d Value,
    node: &'d Value,
    /// The default of the value. It may be next to the `$ref` to the rest of the schema.
    default: Option<&'d Value>,
    child: Child,
    is_builtin: bool,
}

/// How a value belongs to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Child {
    /// A field that the schema of the parent names.
    Field,
    /// An entry of a map whose name the user chose, or an element of a list.
    Entry,
}

impl<'d> Schema<'d> {
    /// The schema of a type; `None` if the document lacks it.
    pub fn of_type(document: &'d Value, api_version: &str, kind: &str) -> Option<Self> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_it = |schema: &&Value| {
            let named = schema["x-kubernetes-group-version-kind"].as_array();
            let fits = |gvk: &Value| gvk["group"] == group && gvk["version"] == version && gvk["kind"] == kind;
            named.is_some_and(|all| all.iter().any(fits))
        };
        let node = document["components"]["schemas"].as_object()?.values().find(is_it)?;
        let is_builtin = builtin::root(api_version, kind).is_some();
        Some(Self { document, node, default: None, child: Child::Field, is_builtin })
    }

    /// The schema of a field, or of an entry of a map.
    pub fn field(self, name: &str) -> Option<Self> {
        match self.node["properties"].get(name) {
            Some(field) => Some(self.below(field, Child::Field)),
            None => self.node["additionalProperties"].is_object().then(|| self.entries()),
        }
    }

    /// The schema of the elements of a list.
    pub fn items(self) -> Option<Self> {
        (self.node["type"] == "array").then(|| self.below(&self.node["items"], Child::Entry))
    }

    /// Whether the value has one owner as a whole. A list has, unless its type says otherwise. Source: `x-kubernetes-map-type` and
    /// `x-kubernetes-list-type`.
    pub fn is_atomic(self) -> bool {
        match self.node["type"].as_str() {
            Some("array") => !self.is_set() && self.keys().is_none(),
            _ => self.node["x-kubernetes-map-type"] == "atomic",
        }
    }

    /// Whether the value is a map or list whose entries have owners of their own.
    pub fn has_entries(self) -> bool {
        matches!(self.node["type"].as_str(), Some("array" | "object")) && !self.is_atomic()
    }

    /// Whether the value is a list of scalars that have owners of their own.
    pub fn is_set(self) -> bool {
        self.node["x-kubernetes-list-type"] == "set"
    }

    /// The keys of a list whose elements have owners of their own, each with its default, or with null.
    pub fn keys(self) -> Option<Vec<(String, Value)>> {
        let is_map = self.node["x-kubernetes-list-type"] == "map";
        let names = self.node["x-kubernetes-list-map-keys"].as_array().filter(|_| is_map)?;
        let items = self.items()?;
        let default = |name: &str| items.node["properties"][name]["default"].clone();
        Some(names.iter().filter_map(Value::as_str).map(|name| (name.to_owned(), default(name))).collect())
    }

    /// An element of this list with the keys that identify it. A key that the element lacks has its default.
    pub fn with_keys(self, element: &Value) -> Value {
        let mut known = element.clone();
        if let Some(map) = known.as_object_mut() {
            for (name, default) in self.keys().into_iter().flatten().filter(|(_, default)| !default.is_null()) {
                let key = map.entry(name).or_insert(Value::Null);
                if key.is_null() {
                    *key = default;
                }
            }
        }
        known
    }

    /// Whether the server sets this value if nobody sets the field.
    pub fn defaults_to(self, value: &Value) -> bool {
        let default = self.default.filter(|_| self.child == Child::Field);
        // The schemas of the built-in types give each required field its zero value as default. Such defaults do not count, except an empty
        // map: the server always writes a map that is no pointer in its own code, such as `conditions` of an endpoint.
        let counts = !self.is_builtin || !is_empty(value) || value.is_object();
        counts && default.is_some_and(|default| self.is_made_of(default, value))
    }

    /// Whether the server makes this value of a default: it sets the defaults of the fields of a map in the default of the map, too.
    fn is_made_of(self, default: &Value, value: &Value) -> bool {
        let (Value::Object(default), Value::Object(map)) = (default, value) else { return default == value };
        let is_of = |(name, value): (&String, &Value)| match (default.get(name), self.field(name)) {
            (Some(default), Some(field)) => field.is_made_of(default, value),
            (Some(default), None) => default == value,
            (None, field) => field.is_some_and(|field| field.defaults_to(value)),
        };
        default.keys().all(|name| map.contains_key(name)) && map.iter().all(is_of)
    }

    /// Whether the server drops a field with this name, because the value has only the fields of its type.
    pub fn drops(self, name: &str) -> bool {
        self.node["properties"].is_object()
            && !self.node["additionalProperties"].is_object()
            && self.node["x-kubernetes-preserve-unknown-fields"] != true
            && self.node["x-kubernetes-embedded-resource"] != true
            && self.field(name).is_none()
    }

    fn entries(self) -> Self {
        self.below(&self.node["additionalProperties"], Child::Entry)
    }

    /// The schema of a part of this value, with its references followed. The API server writes a reference with a default as an `allOf`
    /// with one entry.
    fn below(self, node: &'d Value, child: Child) -> Self {
        let mut below = Self { node, default: node.get("default"), child, ..self };
        for _ in 0..REFERENCES {
            let all = below.node["allOf"].as_array();
            if let Some([only]) = all.map(Vec::as_slice) {
                below.node = only;
            } else if let Some(name) = below.node["$ref"].as_str().and_then(|r| r.strip_prefix("#/components/schemas/"))
            {
                below.node = &self.document["components"]["schemas"][name];
                // The types of Kubernetes' metadata are shared by all types, also by custom resources.
                below.is_builtin |= name.starts_with("io.k8s.apimachinery.pkg.");
            } else {
                break;
            }
        }
        below
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_models_of_a_document_are_those_that_a_type_may_refer_to() {
        let document = json!({"components": {"schemas": {
            "gateway": {
                "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Gateway"}],
                "properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/spec"}]}},
            },
            "spec": {"properties": {"loop": {"$ref": "#/components/schemas/spec"}}},
        }}});
        assert_eq!(models(&document, "example.com/v1", "Gateway"), document["components"]["schemas"].as_object());
        assert_eq!(models(&document, "example.com/v1", "Other"), None);
        assert_eq!(models(&json!({}), "example.com/v1", "Gateway"), None);
    }
}
