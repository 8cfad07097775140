//! Values that the server writes otherwise than they were applied.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Answer, Answers, Server, folder, run, types};

const POD: &str = "/api/v1/namespaces/prod/pods/p";

/// What the API server says of a Pod, cut down, with its references as it writes them.
fn openapi() -> Value {
    let of = |name: &str| json!({"allOf": [{"$ref": format!("#/components/schemas/{name}")}], "default": {}});
    let meta = "io.k8s.apimachinery.pkg.apis.meta.v1";
    let quantities = json!({"type": "object", "additionalProperties": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}});
    let text = json!({"type": "string"});
    let flag = json!({"type": "boolean"});
    let texts = json!({"type": "object", "additionalProperties": {"type": "string", "default": ""}});
    json!({"components": {"schemas": {
        "io.k8s.apimachinery.pkg.api.resource.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
        format!("{meta}.Time"): {"type": "string", "format": "date-time"},
        format!("{meta}.ObjectMeta"): {"properties": {"labels": texts, "annotations": texts}},
        "pod": {
            "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}],
            "properties": {"metadata": of(&format!("{meta}.ObjectMeta")), "spec": of("spec")},
        },
        "spec": {"properties": {
            "containers": {"type": "array", "items": of("container")},
            "nodeSelector": texts, "hostNetwork": flag, "automountServiceAccountToken": flag, "subdomain": text, "nodeName": text,
            "tolerations": {"type": "array", "items": {"type": "object"}},
            "securityContext": {"type": "object", "properties": {"x": text}},
            "until": of(&format!("{meta}.Time")),
        }},
        "container": {"properties": {
            "name": text, "image": text, "env": {"type": "array", "items": {"properties": {"name": text, "value": text}}},
            "resources": {"properties": {"limits": quantities, "requests": quantities}},
            "args": {"type": "array", "items": text},
        }},
        "secret": {
            "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Secret"}],
            "properties": {"data": {"type": "object", "additionalProperties": {"type": "string", "format": "byte"}}},
        },
        "map": {
            "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "ConfigMap"}],
            "properties": {"data": texts},
        },
    }}})
}

/// A server that has one object, to which `applied` was applied last.
fn server(path: &str, live: &Value, applied: &Value) -> Server {
    let mut live = live.clone();
    live["metadata"]["resourceVersion"] = json!("1");
    live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = applied.to_string().into();
    let kinds = [("Pod", "pods", true), ("Secret", "secrets", true), ("ConfigMap", "configmaps", true)];
    Server::new(Answers::from([
        ("GET /api/v1".to_owned(), types(&kinds)),
        ("GET /openapi/v3/api/v1".to_owned(), Answer::Json(200, openapi())),
        (format!("GET {path}"), Answer::Json(200, live)),
        (format!("PATCH {path}"), Answer::Json(200, json!({}))),
    ]))
}

fn object(kind: &str, name: &str, rest: Value) -> Value {
    let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "prod"}});
    rest.as_object().expect("a map").iter().for_each(|(name, value)| object[name] = value.clone());
    object
}

fn pod(spec: Value) -> Value {
    object("Pod", "p", json!({"spec": spec}))
}

/// What is shown of a pod that was applied as it is in the files, and which the cluster has so.
fn shown(applied: Value, live: Value) -> String {
    let server = server(POD, &pod(live), &pod(applied.clone()));
    run(&folder(&server, &[("p.yaml", &pod(applied).to_string())]), &["-f", "p.yaml"]).passed()
}

#[test]
fn what_the_server_writes_otherwise_is_no_drift_and_no_change() {
    let container = |limits: Value| json!([{"name": "app", "resources": {"limits": limits}}]);
    for (applied, live) in [
        (container(json!({"cpu": "1000m", "memory": "1024Mi"})), container(json!({"cpu": "1", "memory": "1Gi"}))),
        (container(json!({"cpu": 0.5, "memory": 1000})), container(json!({"cpu": "500m", "memory": "1k"}))),
        (
            container(json!({"cpu": 1, "example.com/gpu": "2.0"})),
            container(json!({"cpu": "1", "example.com/gpu": "2"})),
        ),
    ] {
        let mut live = json!({"containers": live});
        live["containers"].as_array_mut().expect("a list").insert(0, json!({"name": "injected"}));
        assert_eq!(shown(json!({"containers": applied}), live), "");
    }
    for (applied, live) in [
        (json!({"nodeSelector": {}, "tolerations": [], "subdomain": ""}), json!({})),
        (json!({"hostNetwork": false, "nodeName": ""}), json!({"nodeName": "n1"})),
        (json!({"hostNetwork": null, "nodeSelector": null}), json!({})),
        (json!({"until": "2026-01-01T01:00:00+01:00"}), json!({"until": "2026-01-01T00:00:00Z"})),
        (
            json!({"containers": [{"name": "a", "env": [{"name": "E", "value": ""}]}]}),
            json!({"containers": [{"name": "a", "env": [{"name": "E"}]}]}),
        ),
    ] {
        assert_eq!(shown(applied.clone(), live), "", "{applied}");
    }
}

#[test]
fn what_is_another_value_shows() {
    let container = |limits: Value| json!({"containers": [{"name": "app", "resources": {"limits": limits}}]});
    for (applied, live, place) in [
        (
            container(json!({"cpu": "1000m"})),
            container(json!({"cpu": "1001m"})),
            "containers[name=app].resources.limits.cpu",
        ),
        (
            container(json!({"memory": "1G"})),
            container(json!({"memory": "1Gi"})),
            "containers[name=app].resources.limits.memory",
        ),
        (container(json!({"cpu": "1000m"})), container(json!({})), "containers[name=app].resources.limits.cpu"),
        // The same text is no quantity in another field.
        (json!({"subdomain": "1000m"}), json!({"subdomain": "1"}), "subdomain"),
        (json!({"subdomain": "2026-01-01T01:00:00+01:00"}), json!({"subdomain": "2026-01-01T00:00:00Z"}), "subdomain"),
        // What means something where it is false or empty.
        (json!({"automountServiceAccountToken": false}), json!({}), "automountServiceAccountToken"),
        (json!({"securityContext": {}}), json!({}), "securityContext"),
        (json!({"nodeSelector": {"disk": ""}}), json!({}), "nodeSelector"),
        (json!({"hostNetwork": false}), json!({"hostNetwork": true}), "hostNetwork"),
        (json!({"subdomain": ""}), json!({"subdomain": "x"}), "subdomain"),
    ] {
        let out = shown(applied, live);
        assert!(out.starts_with(&format!("changed in the cluster: prod/pod/p: spec.{place}")), "{place}\n{out}");
    }
}

#[test]
fn a_change_of_a_quantity_is_sent_and_one_of_its_spelling_is_not() {
    let limits =
        |cpu: &str| pod(json!({"containers": [{"name": "app", "image": "a", "resources": {"limits": {"cpu": cpu}}}]}));
    let at = |file: &str, live: &str, applied: &str| {
        let server = server(POD, &limits(live), &limits(applied));
        let folder = folder(&server, &[("p.yaml", &limits(file).to_string())]);
        let out = run(&folder, &["-f", "p.yaml", "-o", "diff", "--apply"]).passed();
        (out, server.sent())
    };
    let (out, sent) = at("2000m", "1", "1000m");
    assert!(out.contains("-        cpu: \"1\"\n+        cpu: 2000m\n") && !out.contains("conflict"), "{out}");
    assert_eq!(sent[1].1["spec"]["containers"][0]["resources"]["limits"]["cpu"], "2000m");
    // The files say what they said, in other words: what someone set stays.
    let (out, sent) = at("1", "2", "1000m");
    assert!(
        out.contains("spec.containers[name=app].resources.limits.cpu\n  original: \"1\"\n  live:     \"2\"\n"),
        "{out}"
    );
    assert!(!out.contains("conflict") && sent[1].1.get("spec").is_none(), "{out}{sent:?}");
    let (out, _) = at("3", "2", "1000m");
    assert!(out.contains("conflict: Pod prod/p"), "{out}");
    // The annotation is what tells the next run what was applied.
    let (out, sent) = at("1000m", "1", "1");
    assert_eq!(out, "prod/pod/p configured\n");
    assert!(sent[1].1.to_string().contains("1000m") && sent[1].1.get("spec").is_none(), "{sent:?}");
    assert_eq!(at("1000m", "1", "1000m"), (String::new(), Vec::new()));
}

#[test]
fn base64_with_line_breaks_and_empty_values_of_maps() {
    let path = "/api/v1/namespaces/prod/secrets/s";
    let secret = |data: &str| object("Secret", "s", json!({"data": {"a": data}}));
    let at = |file: &str, live: &str| {
        let server = server(path, &secret(live), &secret(file));
        run(&folder(&server, &[("s.yaml", &secret(file).to_string())]), &["-f", "s.yaml"]).passed()
    };
    assert_eq!(at("bGl2\nZQ==\n", "bGl2ZQ=="), "");
    assert_eq!(
        at("bGl2ZQ==", "bGl2ZR=="),
        "changed in the cluster: prod/secret/s: data.a\n  original: \"***\"\n  live:     \"***\"\n"
    );
    let map = |data: Value| object("ConfigMap", "m", json!({"data": data}));
    let path = "/api/v1/namespaces/prod/configmaps/m";
    let applied = map(json!({"flag": "", "x": "1000m"}));
    let server = server(path, &map(json!({"x": "1"})), &applied);
    let out = run(&folder(&server, &[("m.yaml", &applied.to_string())]), &["-f", "m.yaml"]).passed();
    assert!(out.contains("configmap/m: data.flag\n") && out.contains("configmap/m: data.x\n"), "{out}");
}

#[test]
fn a_custom_resource_keeps_its_json_and_a_quantity_of_it_is_known_by_its_pattern() {
    let thing = |spec: Value| json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t", "namespace": "prod"}, "spec": spec});
    let quantity = json!({
        "x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}],
        "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
    });
    let schema = json!({"components": {"schemas": {"com.example.v1.Thing": {
        "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}],
        "properties": {"spec": {"type": "object", "properties": {"size": quantity, "name": {"type": "string"}, "list": {"type": "array"}, "rate": {"type": "number"}}}},
    }}}});
    let at = |applied: Value, live: Value| {
        let applied = thing(applied);
        let mut live = thing(live);
        live["metadata"]["resourceVersion"] = json!("1");
        live["metadata"]["annotations"] =
            json!({"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()});
        let server = Server::new(BTreeMap::from([
            ("GET /apis/example.com/v1".to_owned(), types(&[("Thing", "things", true)])),
            ("GET /openapi/v3/apis/example.com/v1".to_owned(), Answer::Json(200, schema.clone())),
            ("GET /apis/example.com/v1/namespaces/prod/things/t".to_owned(), Answer::Json(200, live)),
        ]));
        run(&folder(&server, &[("t.yaml", &applied.to_string())]), &["-f", "t.yaml"]).passed()
    };
    assert_eq!(at(json!({"size": "1024Mi", "rate": 1.0}), json!({"size": "1Gi", "rate": 1})), "");
    for (applied, live) in [
        (json!({"size": "1024Mi"}), json!({"size": "2Gi"})),
        (json!({"name": "1024Mi"}), json!({"name": "1Gi"})),
        (json!({"list": []}), json!({})),
        (json!({"name": ""}), json!({})),
        (json!({"rate": 1.5}), json!({"rate": 1})),
    ] {
        assert!(at(applied.clone(), live).starts_with("changed in the cluster"), "{applied}");
    }
}

#[test]
fn the_types_are_asked_for_only_where_they_decide_and_may_be_unknown() {
    let asked = |applied: Value, live: Value| {
        let server = server(POD, &pod(live), &pod(applied.clone()));
        let _ = run(&folder(&server, &[("p.yaml", &pod(applied).to_string())]), &["-f", "p.yaml"]).passed();
        server.asked().iter().filter(|a| a.line.contains("openapi")).count()
    };
    assert_eq!(asked(json!({"subdomain": "a"}), json!({"subdomain": "b", "nodeName": "n"})), 0);
    assert_eq!(asked(json!({"subdomain": "1000m"}), json!({"subdomain": "1"})), 1);
    let mut live = pod(json!({"containers": [{"name": "a", "resources": {"limits": {"cpu": "1"}}}]}));
    let applied = json!(live.to_string().replace("\"1\"", "\"1000m\""));
    live["metadata"]["resourceVersion"] = json!("1");
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
    let silent = Server::new(BTreeMap::from([
        ("GET /api/v1".to_owned(), types(&[("Pod", "pods", true)])),
        (format!("GET {POD}"), Answer::Json(200, live)),
    ]));
    let folder = folder(&silent, &[("p.yaml", applied.as_str().expect("JSON"))]);
    assert!(
        run(&folder, &["-f", "p.yaml"]).passed().contains("limits.cpu\n  original: \"1000m\"\n  live:     \"1\"\n")
    );
}
