//! The types of a cluster, from its `/openapi/v3`: the models of custom resources, for the `openapi` of a functionConfig, and the forms in
//! which the server writes values.

use krm_schema::schema::builtin;
use serde_json::{Map, Value};

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
    form: Form,
    is_builtin: bool,
}

/// How a value belongs to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// A field that the schema of the parent names.
    Field,
    /// An entry of a map whose name the user chose, or an element of a list.
    Entry,
}

/// The form in which the server writes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The form in which it was sent.
    Given,
    /// A quantity, in its shortest form.
    Quantity,
    /// A time in UTC, with seconds.
    Time,
    /// A time in UTC, with microseconds.
    MicroTime,
    /// Base64, on one line.
    Bytes,
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
        Some(Self { document, node, default: None, child: Child::Field, form: Form::Given, is_builtin })
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

    /// The value that the server sets if nobody sets this field.
    pub fn default(self) -> Option<&'d Value> {
        self.default.filter(|_| self.child == Child::Field)
    }

    /// Whether the value has only the fields of its type, because the server drops all others.
    pub fn is_closed(self) -> bool {
        self.node["properties"].is_object()
            && !self.node["additionalProperties"].is_object()
            && self.node["x-kubernetes-preserve-unknown-fields"] != true
            && self.node["x-kubernetes-embedded-resource"] != true
    }

    /// How the value belongs to its parent.
    pub fn child(self) -> Child {
        self.child
    }

    /// The form in which the server writes the value.
    pub fn form(self) -> Form {
        self.form
    }

    /// Whether the type belongs to Kubernetes itself. The server parses values of such types. Of other types it keeps the JSON.
    pub fn is_builtin(self) -> bool {
        self.is_builtin
    }

    /// Whether the value is a map whose entries have names that the user chose.
    pub fn is_map(self) -> bool {
        self.node["properties"].is_null() && self.node["additionalProperties"].is_object()
    }

    fn entries(self) -> Self {
        self.below(&self.node["additionalProperties"], Child::Entry)
    }

    /// The schema of a part of this value, with its references followed. The API server writes a reference with a default as an `allOf`
    /// with one entry.
    fn below(self, node: &'d Value, child: Child) -> Self {
        let mut below = Self { node, default: node.get("default"), child, form: Form::Given, ..self };
        for _ in 0..REFERENCES {
            let all = below.node["allOf"].as_array();
            if let Some([only]) = all.map(Vec::as_slice) {
                below.node = only;
            } else if let Some(name) = below.node["$ref"].as_str().and_then(|r| r.strip_prefix("#/components/schemas/"))
            {
                below.node = &self.document["components"]["schemas"][name];
                below.form = named(name);
                // The types of Kubernetes' metadata are shared by all types, also by custom resources.
                below.is_builtin |= name.starts_with("io.k8s.apimachinery.pkg.");
            } else {
                break;
            }
        }
        if below.form == Form::Given {
            below.form = described(below.node);
        }
        below
    }
}

/// The form of a type by its name.
fn named(name: &str) -> Form {
    match name {
        "io.k8s.apimachinery.pkg.api.resource.Quantity" => Form::Quantity,
        "io.k8s.apimachinery.pkg.apis.meta.v1.Time" => Form::Time,
        "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime" => Form::MicroTime,
        _ => Form::Given,
    }
}

/// The form that a schema describes. The server keeps a quantity of a custom resource as it was sent, but a controller may write it in
/// another form. Such a quantity is recognised by the pattern that controller-gen writes.
fn described(schema: &Value) -> Form {
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    if schema["format"] == "byte" {
        Form::Bytes
    } else if schema["x-kubernetes-int-or-string"] == true && pattern.contains("(([KMGTPE]i)|[numkMGTPE]|([eE]") {
        Form::Quantity
    } else {
        Form::Given
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
