//! Merge keys of custom resources from the `/openapi/v3` of their cluster, as `mergeKeys` of a functionConfig.

use serde_json::{Value, json};

/// The deepest nesting that is looked into: a schema may refer to itself.
const DEPTH: usize = 40;

/// How the lists of a type merge; a list of which the schema says nothing is atomic, as it is to the server.
pub fn rules(document: &Value, api_version: &str, kind: &str) -> Vec<Value> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let is_it = |schema: &&Value| {
        let named = schema["x-kubernetes-group-version-kind"].as_array();
        let fits = |gvk: &Value| gvk["group"] == group && gvk["version"] == version && gvk["kind"] == kind;
        named.is_some_and(|all| all.iter().any(fits))
    };
    let schemas = document["components"]["schemas"].as_object();
    let mut walk = Walk { document, api_version, kind, path: Vec::new(), rules: Vec::new() };
    if let Some(schema) = schemas.and_then(|all| all.values().find(is_it)) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            // What all types have is known already.
            if !["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
                walk.field(name, property);
            }
        }
    }
    walk.rules
}

struct Walk<'d> {
    document: &'d Value,
    api_version: &'d str,
    kind: &'d str,
    path: Vec<&'d str>,
    rules: Vec<Value>,
}

impl<'d> Walk<'d> {
    fn field(&mut self, name: &'d str, schema: &'d Value) {
        // Such a name cannot be written in a path.
        if name.is_empty() || name.contains(['.', '[']) || self.path.len() == DEPTH {
            return;
        }
        self.path.push(name);
        self.value(schema);
        self.path.pop();
    }

    fn value(&mut self, schema: &'d Value) {
        let schema = self.resolved(schema);
        if schema["type"] == "array" {
            let (api_version, kind, path) = (self.api_version, self.kind, self.path.join("."));
            let mut rule = json!({"apiVersion": api_version, "kind": kind, "path": path});
            match (schema["x-kubernetes-list-type"].as_str(), &schema["x-kubernetes-list-map-keys"]) {
                (Some("map"), Value::Array(keys)) if !keys.is_empty() => rule["keys"] = Value::Array(keys.clone()),
                (Some("set"), _) => rule["set"] = true.into(),
                _ => rule["atomic"] = true.into(),
            }
            self.rules.push(rule);
            return self.value(&schema["items"]);
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            self.field(name, property);
        }
    }

    /// What a schema refers to: the API server writes a reference with a default as `allOf` of one.
    fn resolved(&self, schema: &'d Value) -> &'d Value {
        let mut schema = schema;
        for _ in 0..DEPTH {
            let all = schema["allOf"].as_array();
            if let Some([only]) = all.map(Vec::as_slice) {
                schema = only;
            } else if let Some(name) = schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/components/schemas/")) {
                schema = &self.document["components"]["schemas"][name];
            } else {
                break;
            }
        }
        schema
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
