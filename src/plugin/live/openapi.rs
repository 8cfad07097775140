//! The types of a cluster, from its `/openapi/v3`: merge keys of custom resources, as `mergeKeys` of a functionConfig, and the forms of values.

use krm_merge::schema::builtin;
use serde_json::{Value, json};

/// The deepest nesting that is looked into: a schema may refer to itself.
const DEPTH: usize = 40;

/// How the lists of a type merge; a list of which the schema says nothing is atomic, as it is to the server.
pub fn rules(document: &Value, api_version: &str, kind: &str) -> Vec<Value> {
    let mut walk = Walk { api_version, kind, path: Vec::new(), rules: Vec::new() };
    for (name, field) in Schema::of_type(document, api_version, kind).into_iter().flat_map(Schema::fields) {
        // What all types have is known already.
        if !["apiVersion", "kind", "metadata"].contains(&name) {
            walk.field(name, field);
        }
    }
    walk.rules
}

struct Walk<'d> {
    api_version: &'d str,
    kind: &'d str,
    path: Vec<&'d str>,
    rules: Vec<Value>,
}

impl<'d> Walk<'d> {
    fn field(&mut self, name: &'d str, schema: Schema<'d>) {
        // Such a name cannot be written in a path.
        if name.is_empty() || name.contains(['.', '[']) || self.path.len() == DEPTH {
            return;
        }
        self.path.push(name);
        self.value(schema);
        self.path.pop();
    }

    fn value(&mut self, schema: Schema<'d>) {
        if let Some(items) = schema.items() {
            let (api_version, kind, path) = (self.api_version, self.kind, self.path.join("."));
            let mut rule = json!({"apiVersion": api_version, "kind": kind, "path": path});
            match (schema.node["x-kubernetes-list-type"].as_str(), &schema.node["x-kubernetes-list-map-keys"]) {
                (Some("map"), Value::Array(keys)) if !keys.is_empty() => rule["keys"] = Value::Array(keys.clone()),
                (Some("set"), _) => rule["set"] = true.into(),
                _ => rule["atomic"] = true.into(),
            }
            self.rules.push(rule);
            return self.value(items);
        }
        for (name, field) in schema.fields() {
            self.field(name, field);
        }
    }
}

/// What a document says of a type, or of what is below it.
#[derive(Clone, Copy)]
pub struct Schema<'d> {
    document: &'d Value,
    node: &'d Value,
    child: Child,
    form: Form,
    is_builtin: bool,
}

/// What a value is to what holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// A field that the type has.
    Field,
    /// An entry of a map, under a name that the user chose, or an element of a list.
    Entry,
}

/// The form in which the server writes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it is given.
    Given,
    /// A quantity, as short as can be.
    Quantity,
    /// A time in UTC, to the second.
    Time,
    /// A time in UTC, to the microsecond.
    MicroTime,
    /// Base64 on one line.
    Bytes,
}

impl<'d> Schema<'d> {
    /// Of a type.
    pub fn of_type(document: &'d Value, api_version: &str, kind: &str) -> Option<Self> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_it = |schema: &&Value| {
            let named = schema["x-kubernetes-group-version-kind"].as_array();
            let fits = |gvk: &Value| gvk["group"] == group && gvk["version"] == version && gvk["kind"] == kind;
            named.is_some_and(|all| all.iter().any(fits))
        };
        let node = document["components"]["schemas"].as_object()?.values().find(is_it)?;
        let is_builtin = builtin::root(api_version, kind).is_some();
        Some(Self { document, node, child: Child::Field, form: Form::Given, is_builtin })
    }

    /// A field, or the entry of a map.
    pub fn field(self, name: &str) -> Option<Self> {
        match self.node["properties"].get(name) {
            Some(field) => Some(self.below(field, Child::Field)),
            None => self.node["additionalProperties"].is_object().then(|| self.entries()),
        }
    }

    /// The elements of a list.
    pub fn items(self) -> Option<Self> {
        (self.node["type"] == "array").then(|| self.below(&self.node["items"], Child::Entry))
    }

    /// What it is to what holds it.
    pub fn child(self) -> Child {
        self.child
    }

    /// The form in which the server writes it.
    pub fn form(self) -> Form {
        self.form
    }

    /// Whether it is a type of Kubernetes itself, of which the server keeps the values; of others it keeps the JSON.
    pub fn is_builtin(self) -> bool {
        self.is_builtin
    }

    /// Whether its entries have names that the user chose.
    pub fn is_map(self) -> bool {
        self.node["properties"].is_null() && self.node["additionalProperties"].is_object()
    }

    fn entries(self) -> Self {
        self.below(&self.node["additionalProperties"], Child::Entry)
    }

    fn fields(self) -> impl Iterator<Item = (&'d str, Self)> {
        let fields = self.node["properties"].as_object().into_iter().flatten();
        fields.map(move |(name, node)| (name.as_str(), self.below(node, Child::Field)))
    }

    /// What a part of it refers to: the API server writes a reference with a default as `allOf` of one.
    fn below(self, node: &'d Value, child: Child) -> Self {
        let mut below = Self { node, child, form: Form::Given, ..self };
        for _ in 0..DEPTH {
            let all = below.node["allOf"].as_array();
            if let Some([only]) = all.map(Vec::as_slice) {
                below.node = only;
            } else if let Some(name) = below.node["$ref"].as_str().and_then(|r| r.strip_prefix("#/components/schemas/"))
            {
                below.node = &self.document["components"]["schemas"][name];
                below.form = named(name);
                // All types have its metadata.
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

/// The form by what the schema says. The server keeps a quantity of a custom resource as it is given, but a controller that writes it does not;
/// there a quantity is known by the pattern that controller-gen gives it.
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
    use super::*;

    #[test]
    fn lists_are_found_behind_references_and_in_lists() {
        let document = json!({"components": {"schemas": {
            "com.example.v1.Gateway": {
                "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Gateway"}],
                "properties": {"metadata": {"$ref": "#/components/schemas/meta"}, "spec": {"allOf": [{"$ref": "#/components/schemas/spec"}]}},
            },
            "spec": {"properties": {
                "servers": {
                    "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["host"],
                    "items": {"properties": {"ports": {"type": "array", "x-kubernetes-list-type": "set"}}},
                },
                "loop": {"$ref": "#/components/schemas/spec"},
                "free": {"type": "array"},
            }},
        }}});
        let rule = |path: &str, name: &str, value: Value| {
            let mut rule = json!({"apiVersion": "example.com/v1", "kind": "Gateway", "path": path});
            rule[name] = value;
            rule
        };
        let rules = rules(&document, "example.com/v1", "Gateway");
        for want in [
            rule("spec.servers", "keys", json!(["host"])),
            rule("spec.servers.ports", "set", json!(true)),
            rule("spec.free", "atomic", json!(true)),
            rule("spec.loop.servers", "keys", json!(["host"])),
        ] {
            assert!(rules.contains(&want), "{want}");
        }
        assert!(super::rules(&document, "example.com/v1", "Other").is_empty());
    }
}
