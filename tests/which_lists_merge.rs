//! Who says how a list merges: `mergeKeys`, `openapi`, a CustomResourceDefinition, the built-in types and inference, the first of them that
//! speaks. Each names a key of its own for one list; which element a source is merged into tells who was heard.

mod support;

use krm_yaml::Document;
use serde_json::{Value, json};

use support::{passes, resource_list, value_of};

/// In their order, with the key that each gives the list `hostAliases` of a Deployment's pods. Inference would take `mountPath` before `ip`.
const ORDER: [(Speaker, &str); 5] = [
    (Speaker::MergeKeys, "byRule"),
    (Speaker::OpenApi, "byOpenApi"),
    (Speaker::Definition, "byDefinition"),
    (Speaker::BuiltIn, "ip"),
    (Speaker::Inference, "mountPath"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaker {
    MergeKeys,
    OpenApi,
    Definition,
    BuiltIn,
    Inference,
}

/// A Deployment, or what is called so in an unknown group.
fn deployment(group: &str, list: Value) -> Value {
    json!({
        "apiVersion": format!("{group}/v1"),
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"hostAliases": list}}},
    })
}

/// The schema of such a Deployment, with this of the list.
fn schema(list: Value) -> Value {
    let below = |name: &str, schema: Value| json!({"type": "object", "properties": {name: schema}});
    below("spec", below("template", below("spec", below("hostAliases", list))))
}

fn keyed(key: &str) -> Value {
    json!({
        "type": "array",
        "items": {"type": "object"},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": [key],
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": key,
    })
}

/// The list after a merge in which these speak.
fn merged(mode: &str, speakers: &[Speaker], definition: &Value, openapi: &Value) -> Vec<Value> {
    let speaks = |speaker| speakers.contains(&speaker);
    let group = if speaks(Speaker::BuiltIn) { "apps" } else { "example.com" };
    // Each element of dest shares one key with the source's only element: the one that its number says.
    let element = |i: usize| -> Value {
        let value = |(at, (_, key)): (usize, &(Speaker, &str))| {
            (key.to_string(), json!(format!("{}", if at == i { 9 } else { i })))
        };
        Value::Object(ORDER.iter().enumerate().map(value).collect())
    };
    let dest = deployment(group, (0..ORDER.len()).map(element).collect());
    let mut source: Value = ORDER.iter().map(|(_, key)| (key.to_string(), json!("9"))).collect();
    source["hit"] = json!(true);
    let mut items = format!("- {dest}\n");
    let mut spec = json!({"mode": mode, "inferMergeKeys": speaks(Speaker::Inference), "source": [{"resources": [deployment(group, json!([source]))]}]});
    if speaks(Speaker::MergeKeys) {
        let path = "spec.template.spec.hostAliases";
        spec["mergeKeys"] =
            json!([{"apiVersion": format!("{group}/v1"), "kind": "Deployment", "path": path, "keys": ["byRule"]}]);
    }
    if speaks(Speaker::OpenApi) {
        let mut of_type = schema(openapi.clone());
        of_type["x-kubernetes-group-version-kind"] = json!([{"group": group, "version": "v1", "kind": "Deployment"}]);
        spec["openapi"] = json!({"definitions": {"deployment": of_type}});
    }
    if speaks(Speaker::Definition) {
        let version = json!({"name": "v1", "served": true, "schema": {"openAPIV3Schema": schema(definition.clone())}});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("deployments.{group}")},
            "spec": {"group": group, "names": {"kind": "Deployment"}, "versions": [version]},
        });
        items.push_str(&format!("- {definition}\n"));
    }
    let output = passes(&resource_list(&items, &spec.to_string())).stdout;
    let doc = Document::parse(output).expect("YAML");
    let items = doc.roots().next().and_then(|r| r.get("items")).expect("items");
    let web = value_of(items.elements().next().expect("an item"));
    web["spec"]["template"]["spec"]["hostAliases"].as_array().expect("a list").clone()
}

#[test]
fn the_first_that_speaks_says_how_a_list_merges() {
    for mode in ["TwoWay", "Strategic"] {
        // Every choice of those that speak, so every pair, too.
        for chosen in 0..1_u32 << ORDER.len() {
            let first = ORDER.iter().enumerate().filter(|(i, _)| chosen & (1 << i) != 0);
            let speakers: Vec<Speaker> = first.clone().map(|(_, (speaker, _))| *speaker).collect();
            let list = merged(mode, &speakers, &keyed("byDefinition"), &keyed("byOpenApi"));
            let hit: Vec<usize> = (0..list.len()).filter(|i| list[*i]["hit"] == json!(true)).collect();
            match first.map(|(i, _)| i).next() {
                Some(first) => assert_eq!((list.len(), hit), (ORDER.len(), vec![first]), "{mode}: {speakers:?}"),
                None => assert_eq!((list.len(), hit), (1, vec![0]), "{mode}: nobody speaks, so the list is replaced"),
            }
        }
    }
}

/// Who knows the list and gives it no key has spoken: nobody behind is asked.
#[test]
fn a_schema_without_a_key_is_heard_before_those_behind_it() {
    let atomic = json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "atomic"});
    let keyed = keyed("byDefinition");
    use Speaker::{BuiltIn, Definition, Inference, OpenApi};
    for mode in ["TwoWay", "Strategic"] {
        let len = |speakers: &[Speaker], definition, openapi| merged(mode, speakers, definition, openapi).len();
        assert_eq!(len(&[OpenApi, Definition, BuiltIn, Inference], &keyed, &atomic), 1, "{mode}");
        assert_eq!(len(&[Definition, BuiltIn, Inference], &atomic, &atomic), 1, "{mode}");
        assert_eq!(len(&[Definition, Inference], &atomic, &atomic), 1, "{mode}");
    }
}
