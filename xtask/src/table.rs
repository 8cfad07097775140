//! The declarations of definitions documents about lists, unions and required fields, as one table.
//!
//! Documents are read oldest first, and a newer document that has a field overwrites it whole. So a type keeps the fields that Kubernetes
//! has dropped (a resource of an old cluster has them), and the meaning of a field never mixes two versions. The required fields of a type
//! are those of the newest document that has the type.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The form of the value of a field, as far as merging needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// An object of a type, or a scalar.
    #[default]
    Value,
    /// A list.
    List,
    /// A map from any name to objects of a type.
    Map,
    /// A map from any name to lists.
    MapOfLists,
}

/// The `x-kubernetes-*` extensions of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// `patch-strategy`, as written; empty if there is none.
    pub strategy: String,
    /// `patch-merge-key`.
    pub merge_key: Option<String>,
    /// `list-type`; empty if there is none.
    pub list_type: String,
    /// `list-map-keys`.
    pub map_keys: Vec<String>,
}

/// A field of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The form of its value.
    pub shape: Shape,
    /// The type of its value, of its elements or of its map's values.
    pub target: Option<String>,
    /// Its extensions.
    pub rule: Rule,
}

/// The table: kinds, types and fields.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// (apiVersion, kind) to the name of the type.
    pub kinds: BTreeMap<(String, String), String>,
    /// The fields of each type.
    pub types: BTreeMap<String, BTreeMap<String, Field>>,
    /// The fields that an object of a type must have. A type without such fields has no entry.
    pub required: BTreeMap<String, BTreeSet<String>>,
    /// The full name for each short name.
    full: BTreeMap<String, String>,
}

impl Table {
    /// Reads a document: a swagger v2 or kustomize's `openapi` file (`definitions`), JSON schemas (`$defs`), OpenAPI v3
    /// (`components.schemas`). Returns the number of its definitions.
    pub fn read(&mut self, document: &Value) -> Result<usize, String> {
        let definitions =
            ["/definitions", "/$defs", "/components/schemas"].iter().find_map(|at| document.pointer(at)?.as_object());
        let definitions = definitions.ok_or("no `definitions`, `$defs` or `components.schemas`")?;
        for (name, schema) in definitions {
            if schema.get("properties").is_none() {
                continue;
            }
            let short = short_name(name);
            if let Some(other) = self.full.insert(short.clone(), name.clone()).filter(|other| other != name) {
                return Err(format!("`{name}` and `{other}` would both be called `{short}`"));
            }
            self.read_type(&short, schema, definitions);
            for gvk in schema.get("x-kubernetes-group-version-kind").and_then(Value::as_array).into_iter().flatten() {
                let text = |key| gvk.get(key).and_then(Value::as_str).unwrap_or_default();
                let api_version = if text("group").is_empty() {
                    text("version").to_owned()
                } else {
                    format!("{}/{}", text("group"), text("version"))
                };
                self.kinds.insert((api_version, text("kind").to_owned()), short.clone());
            }
        }
        Ok(definitions.len())
    }

    fn read_type(&mut self, name: &str, schema: &Value, definitions: &Map<String, Value>) {
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: BTreeSet<String> = required.filter_map(Value::as_str).map(str::to_owned).collect();
        self.required.remove(name);
        if !required.is_empty() {
            self.required.insert(name.to_owned(), required);
        }
        for (field, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let text = |key: &str| schema.get(format!("x-kubernetes-{key}")).and_then(Value::as_str).map(str::to_owned);
            let map_keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array).into_iter().flatten();
            let rule = Rule {
                strategy: text("patch-strategy").unwrap_or_default(),
                merge_key: text("patch-merge-key"),
                list_type: text("list-type").unwrap_or_default(),
                map_keys: map_keys.filter_map(Value::as_str).map(str::to_owned).collect(),
            };
            let (shape, value) = shape_of(schema);
            let target = self.target(value, definitions, || format!("{name}.{field}"));
            self.types.entry(name.to_owned()).or_default().insert(field.clone(), Field { shape, target, rule });
        }
    }

    /// The name of the type of a value. A type that is written out in place is named after the place; the swagger of a cluster has such
    /// types for custom resources.
    fn target(
        &mut self,
        schema: &Value,
        definitions: &Map<String, Value>,
        place: impl Fn() -> String,
    ) -> Option<String> {
        let mut name = reference(schema);
        // Definitions that only point to another one: names that Kubernetes 1.11 to 1.13 kept for older clients.
        while let Some(next) = name.and_then(|n| definitions.get(n)).and_then(reference) {
            name = Some(next);
        }
        if name.is_none() && schema.get("properties").is_some() {
            self.read_type(&place(), schema, definitions);
            return Some(place());
        }
        name.map(short_name)
    }

    /// Adds required fields: the API server refuses an object without them, although no document says so. A line of the list has a type and
    /// fields of it. Text after `#` is for readers.
    pub fn require(&mut self, list: &str) -> Result<(), String> {
        for line in list.lines() {
            let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
            let Some(name) = words.next() else { continue };
            let fields =
                self.types.get(name).ok_or_else(|| format!("there is no type `{name}`, of which to require fields"))?;
            for field in words {
                if !fields.contains_key(field) {
                    return Err(format!("`{name}` has no field `{field}` to require"));
                }
                self.required.entry(name.to_owned()).or_default().insert(field.to_owned());
            }
        }
        Ok(())
    }

    /// Keeps only the kinds that are resources: their metadata is an ObjectMeta, unlike that of lists and options. Of the types that can be
    /// reached from these, keeps lists, fields with a strategy, types with required fields, and the fields that lead there.
    pub fn prune(&mut self) {
        let types = &mut self.types;
        let is_resource = |t: &BTreeMap<String, Field>| {
            t.get("metadata")
                .and_then(|f| f.target.as_deref())
                .is_some_and(|m| m.starts_with("meta.") && m.ends_with(".ObjectMeta"))
        };
        self.kinds.retain(|_, name| types.get(name).is_some_and(is_resource));
        for fields in types.values_mut() {
            for field in fields.values_mut().filter(|f| f.shape != Shape::List) {
                // Keys and list types have no effect on a field that is not a list.
                field.rule = Rule { strategy: std::mem::take(&mut field.rule.strategy), ..Rule::default() };
            }
        }
        let says = |f: &Field| matches!(f.shape, Shape::List | Shape::MapOfLists) || !f.rule.strategy.is_empty();
        let mut useful: BTreeSet<String> = self.required.keys().cloned().collect();
        loop {
            let leads = |f: &Field| f.target.as_ref().is_some_and(|t| useful.contains(t));
            let more = types
                .iter()
                .filter(|(name, fields)| !useful.contains(*name) && fields.values().any(|f| says(f) || leads(f)));
            let more: Vec<String> = more.map(|(name, _)| name.clone()).collect();
            if more.is_empty() {
                break;
            }
            useful.extend(more);
        }
        for fields in types.values_mut() {
            fields.values_mut().for_each(|f| f.target = f.target.take().filter(|t| useful.contains(t)));
            fields.retain(|_, f| says(f) || f.target.is_some());
        }
        let mut reached: BTreeSet<String> = BTreeSet::new();
        let mut todo: Vec<String> = self.kinds.values().cloned().collect();
        while let Some(name) = todo.pop() {
            todo.extend(
                types
                    .get(&name)
                    .into_iter()
                    .flat_map(BTreeMap::values)
                    .filter_map(|f| f.target.clone())
                    .filter(|t| !reached.contains(t)),
            );
            reached.insert(name);
        }
        types.retain(|name, _| reached.contains(name));
        self.required.retain(|name, _| reached.contains(name));
    }
}

/// Group, version and name: `io.k8s.api.core.v1.PodSpec` is `core.v1.PodSpec`.
fn short_name(name: &str) -> String {
    name.rmatch_indices('.').nth(2).map_or(name, |(at, _)| &name[at + 1..]).to_owned()
}

/// The definition that a schema refers to, directly or in a lone `allOf`. OpenAPI v3 needs the `allOf` for a reference with extensions.
fn reference(schema: &Value) -> Option<&str> {
    let schema = schema.get("allOf").and_then(|all| all.get(0)).unwrap_or(schema);
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// The shape of a field, and the schema of its value, its elements or its map's values.
fn shape_of(schema: &Value) -> (Shape, &Value) {
    if let Some(items) = schema.get("items") {
        return (Shape::List, items);
    }
    match schema.get("additionalProperties").filter(|values| values.is_object()) {
        Some(values) => values.get("items").map_or((Shape::Map, values), |items| (Shape::MapOfLists, items)),
        None => (Shape::Value, schema),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_kinds_of_documents_say_the_same() {
        let definitions = |at: &str, wrap: fn(Value) -> Value| {
            let to = |name: &str| wrap(json!({"$ref": format!("{at}{name}")}));
            let mut owners =
                json!({"type": "array", "items": to("io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference")});
            owners["x-kubernetes-patch-strategy"] = "merge".into();
            owners["x-kubernetes-patch-merge-key"] = "uid".into();
            let mut strategy = to("x.k8s.io.a.v1.Strategy");
            strategy["x-kubernetes-patch-strategy"] = "retainKeys".into();
            json!({
                "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {"properties": {"ownerReferences": owners, "name": {"type": "string"}}},
                "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference": {"properties": {"uid": {"type": "string"}}},
                "x.k8s.io.a.v1.Strategy": {"properties": {"type": {"type": "string"}}},
                "x.k8s.io.a.v1.Source": {"properties": {"path": {"type": "string"}, "plain": {"type": "string"}}, "required": ["path"]},
                "x.k8s.io.a.v1.Thing": {
                    "x-kubernetes-group-version-kind": [{"group": "a", "version": "v1", "kind": "Thing"}],
                    "properties": {
                        "metadata": to("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
                        "strategy": strategy,
                        "source": to("x.k8s.io.a.v1.Source"),
                        "extra": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
                        "inline": {"type": ["object", "null"], "properties": {"names": {"type": ["array", "null"], "items": {"type": "string"}}}},
                    },
                },
            })
        };
        let read = |document: Value| {
            let mut table = Table::default();
            table.read(&document).expect("readable");
            table.prune();
            table
        };
        let v2 = read(json!({"definitions": definitions("#/definitions/", |r| r)}));
        assert_eq!(v2, read(json!({"$defs": definitions("#/$defs/", |r| r)})));
        assert_eq!(
            v2,
            read(json!({"components": {"schemas": definitions("#/components/schemas/", |r| json!({"allOf": [r]}))}}))
        );
        assert_eq!(v2.kinds[&("a/v1".into(), "Thing".into())], "a.v1.Thing");
        assert_eq!(
            v2.types.keys().collect::<Vec<_>>(),
            ["a.v1.Source", "a.v1.Thing", "a.v1.Thing.inline", "meta.v1.ObjectMeta"]
        );
        assert_eq!(
            (v2.types["a.v1.Source"].len(), v2.required["a.v1.Source"].first().map(String::as_str)),
            (0, Some("path"))
        );
        let thing = &v2.types["a.v1.Thing"];
        assert_eq!(thing.keys().collect::<Vec<_>>(), ["extra", "inline", "metadata", "source", "strategy"]);
        assert_eq!((thing["extra"].shape, thing["strategy"].rule.strategy.as_str()), (Shape::MapOfLists, "retainKeys"));
        assert_eq!(v2.types["meta.v1.ObjectMeta"]["ownerReferences"].rule.merge_key.as_deref(), Some("uid"));
    }

    #[test]
    fn the_newest_document_wins_a_field_and_old_fields_stay() {
        let document = |fields: Value| json!({"definitions": {"a.b.v1.T": {"properties": fields}}});
        let mut table = Table::default();
        let list = |kind: &str| json!({"type": "array", "items": {}, "x-kubernetes-list-type": kind});
        table.read(&document(json!({"x": list("set"), "old": list("set")}))).expect("readable");
        table.read(&document(json!({"x": list("atomic")}))).expect("readable");
        assert_eq!(table.types["b.v1.T"]["x"].rule.list_type, "atomic");
        assert_eq!(table.types["b.v1.T"]["old"].rule.list_type, "set");
        let clash = json!({"definitions": {"c.b.v1.T": {"properties": {}}}});
        assert!(table.read(&clash).is_err());
    }

    #[test]
    fn the_newest_document_says_what_is_required_and_a_list_requires_more() {
        let document = |required: Value| json!({"definitions": {"a.b.v1.T": {"properties": {"x": {}, "y": {}, "z": {}}, "required": required}}});
        let mut table = Table::default();
        table.read(&document(json!(["x", "y"]))).expect("readable");
        table.read(&document(json!(["y"]))).expect("readable");
        table.require("# beyond\nb.v1.T z # validateT\n\n").expect("known");
        assert_eq!(table.required["b.v1.T"].iter().collect::<Vec<_>>(), ["y", "z"]);
        assert!(table.require("b.v1.T w").is_err());
        assert!(table.require("b.v1.Other x").is_err());
        table.read(&document(json!([]))).expect("readable");
        assert!(table.required.is_empty());
    }
}
