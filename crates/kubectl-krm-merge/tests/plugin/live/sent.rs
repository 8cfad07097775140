//! What is sent, applied to the live object by the rules of the patch type, is what was shown.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::kept::{Kept, LAST_APPLIED, noted, of_type};
use super::replay::patched;
use super::{Answer, Answers, Server, folder, run, status, types};
use crate::support::Ran;

/// The files drop all annotations, in each way in which one can drop them.
#[test]
fn annotations_that_the_files_drop_go() {
    let map = |annotations: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod", "annotations": annotations}, "data": {"a": "b"}});
    let without = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod"}, "data": {"a": "b"}});
    let applied = map(json!({"a": "1", "b": "2"}));
    for (file, left) in [
        (without, &[][..]),
        (map(json!({})), &[]),
        (map(Value::Null), &[]),
        (map(json!({"a": null, "b": null})), &[]),
        (map(json!({"b": "2"})), &["b"]),
    ] {
        for others in [&[][..], &["other"]] {
            let mut live = noted(applied.clone(), &applied);
            others.iter().for_each(|name| live["metadata"]["annotations"][name] = json!("theirs"));
            let kept = Kept::new(Answers::new(), &[live]);
            let folder = folder(&kept.server, &[("m.yaml", &file.to_string())]);
            let shown = run(&folder, &["-f", "m.yaml"]).passed();
            assert!(
                shown.lines().any(|line| line.starts_with('-') && line.trim_start_matches('-').trim() == "a: \"1\""),
                "{shown}"
            );
            let ran = run(&folder, &["-f", "m.yaml", "--apply"]);
            assert_eq!(ran.passed(), "prod/configmap/m configured\n", "{file}");
            let now = kept.objects().remove(0);
            let names = now["metadata"]["annotations"].as_object().expect("a map").keys();
            let mut names: Vec<&str> = names.map(String::as_str).filter(|name| *name != LAST_APPLIED).collect();
            names.sort_unstable();
            // What someone else annotated stays, except under a null, which clears all and shows it.
            let clears = file["metadata"].get("annotations").is_some_and(Value::is_null);
            assert_eq!(names, [left, if clears { &[] } else { others }].concat(), "{file} {others:?}");
            assert_eq!(shown.contains("\n-    other: theirs\n"), clears && !others.is_empty(), "{shown}");
            let sent = kept.server.sent().len();
            assert_eq!(run(&folder, &["-f", "m.yaml", "--apply"]).passed(), "", "{file}");
            assert_eq!((run(&folder, &["-f", "m.yaml"]).passed(), kept.server.sent().len()), (String::new(), sent));
        }
    }
}

/// Another manager applied an empty map, which the server does not keep, but which is owned. And what nobody can predict.
#[test]
fn a_refusal_of_owners_is_told_as_one_and_may_be_taken_over() {
    let map = |labels: Value| {
        let mut map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod"}, "data": {"a": "b"}});
        map["metadata"]["labels"] = labels;
        map
    };
    let schema = json!({"components": {"schemas": {"it": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "ConfigMap"}],
        "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}}}}, "data": {"type": "object", "additionalProperties": {"type": "string"}}}}}}});
    for owned in [json!({"f:metadata": {"f:labels": {}}}), json!({"f:data": {}})] {
        let mut live = map(Value::Null);
        live["metadata"].as_object_mut().expect("a map").remove("labels");
        live["metadata"]["resourceVersion"] = json!("1");
        live["metadata"]["managedFields"] = json!([{"manager": "flux", "operation": "Apply", "fieldsV1": owned}]);
        let path = "/api/v1/namespaces/prod/configmaps/m";
        let schema = schema.clone();
        let server = Server::answering(move |asked, _| match asked.path() {
            "GET /api/v1" => Some(types(&[("ConfigMap", "configmaps", true)])),
            "GET /openapi/v3/api/v1" => Some(Answer::Json(200, schema.clone())),
            line if line == format!("GET {path}") => Some(Answer::Json(200, live.clone())),
            _ if asked.line.contains("force=true") => Some(Answer::Json(200, json!({}))),
            _ => {
                let mut refusal = status(409, "Apply failed with 1 conflict: conflict with \"flux\": .metadata.labels");
                refusal["details"] = json!({"causes": [{"reason": "FieldManagerConflict", "message": "conflict with \"flux\"", "field": ".metadata.labels"}]});
                Some(Answer::Json(409, refusal))
            }
        });
        let folder = folder(&server, &[("m.yaml", &map(json!({"a": "b"})).to_string())]);
        let args = ["-f", "m.yaml", "--server-side", "--apply"];
        let err = run(&folder, &args).failed(2);
        assert!(err.contains("will refuse `.metadata.labels` (409), which was set by \"flux\""), "{err}");
        assert!(!err.contains("changed in the cluster"), "{err}");
        assert!(server.sent().len() == 1 && server.sent()[0].0.contains("dryRun=All"), "{:?}", server.sent());
        let ran = run(&folder, &[&args[..], &["--take", ".metadata"]].concat());
        assert_eq!(ran.passed(), "prod/configmap/m applied on the server's side\n");
        assert!(server.sent().last().expect("sent").0.contains("force=true"));
    }
}

/// What kubectl noted is read as it was applied: `1` is `1.0`.
#[test]
fn a_note_that_says_the_same_in_other_words_is_not_sent_again() {
    let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t", "namespace": "prod"}, "spec": {"f": 1}});
    let text = thing.to_string().replace("\"f\":1", "\"f\":1.0");
    let kept = Kept::new(Answers::new(), &[thing]);
    let folder = folder(&kept.server, &[("t.yaml", &text)]);
    assert_eq!(run(&folder, &["-f", "t.yaml", "--apply"]).passed(), "prod/thing.example.com/t configured\n");
    assert_eq!(run(&folder, &["-f", "t.yaml", "--apply"]).passed(), "");
}

/// What server-side apply owns: one manager, with these fields.
fn applied_by(manager: &str, fields: Value) -> Value {
    json!([{"manager": manager, "operation": "Apply", "apiVersion": "v1", "time": "2026-01-02T03:04:05Z", "fieldsV1": fields}])
}

/// The server keeps nothing of what is false or empty, sets defaults into what was applied empty and into elements of lists, and notes who
/// applied it.
#[test]
fn what_a_manager_applied_on_the_server_s_side_is_sent_once() {
    let (flag, number) = (json!({"type": "boolean"}), json!({"type": "integer"}));
    let list = |items: Value| json!({"type": "array", "items": items, "x-kubernetes-list-type": "atomic"});
    let cases = [
        (
            "apps/v1",
            "Deployment",
            json!({"paused": flag, "template": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"hostNetwork": flag, "imagePullSecrets": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object"}}}}}}}),
            json!({"paused": false, "template": {"spec": {"hostNetwork": false, "imagePullSecrets": []}}}),
            json!({"replicas": 1, "template": {"spec": {"dnsPolicy": "ClusterFirst"}}}),
            json!({"f:paused": {}, "f:template": {"f:spec": {"f:hostNetwork": {}, "f:imagePullSecrets": {}}}}),
        ),
        (
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            json!({"maxReplicas": number, "behavior": {"allOf": [{"$ref": "#/components/schemas/behavior"}]}}),
            json!({"maxReplicas": 2, "behavior": {}}),
            json!({"maxReplicas": 2, "minReplicas": 1, "behavior": {"scaleDown": {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}, "scaleUp": {"selectPolicy": "Max", "stabilizationWindowSeconds": 0}}}),
            json!({"f:maxReplicas": {}, "f:behavior": {}}),
        ),
        (
            "example.com/v1",
            "Thing",
            json!({
                "parts": list(json!({"type": "object", "properties": {"x": number, "mode": {"type": "string", "default": "d"}}})),
                "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": number, "b": {"type": "object", "default": {}, "properties": {"c": {"type": "integer", "default": 1}}}}},
                "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"], "items": {"type": "object", "properties": {"port": number, "protocol": {"type": "string", "default": "TCP"}}}},
            }),
            json!({"parts": [{"x": 1}, {"x": 2, "mode": "e"}], "whole": {"a": 1}, "keyed": [{"port": 1}]}),
            json!({"parts": [{"x": 1, "mode": "d"}, {"x": 2, "mode": "e"}], "whole": {"a": 1, "b": {"c": 1}}, "keyed": [{"port": 1, "protocol": "TCP"}]}),
            json!({"f:parts": {}, "f:whole": {}, "f:keyed": {"k:{\"port\":1,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}}),
        ),
    ];
    for (version, kind, fields, spec, live_spec, owned) in cases {
        let file =
            json!({"apiVersion": version, "kind": kind, "metadata": {"name": "it", "namespace": "prod"}, "spec": spec});
        let mut live = file.clone();
        live["spec"] = live_spec;
        live["metadata"]["managedFields"] = applied_by("krm-merge", json!({"f:spec": owned}));
        let schemas = json!({
            "it": {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}},
            "behavior": {"type": "object", "properties": {"scaleUp": {"type": "object"}, "scaleDown": {"type": "object"}}},
        });
        let kept = Kept::new(of_type(version, kind, schemas), &[live]);
        let folder = folder(&kept.server, &[("it.yaml", &file.to_string())]);
        // Without `--server-side`, the note alone would be new.
        for way in [&[][..], &["--server-side"], &["--server-side", "--apply"]] {
            let ran = run(&folder, &[&["-f", "it.yaml"], way].concat());
            assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{kind} {way:?}");
        }
        assert_eq!(kept.server.sent().len(), 0, "{kind}");
    }
}

/// What someone adds to a list arrives in the file without its defaults, and is in nobody's way then.
#[test]
fn a_default_in_a_list_is_in_nobody_s_way_after_adopting() {
    let schemas = json!({"it": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "parts": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}, "mode": {"type": "string", "default": "d"}}}},
    }}}}});
    let file =
        "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: prod}\nspec:\n  parts:\n  - x: 1\n";
    let applied: Value = yaml_serde::from_str(file).expect("YAML");
    let mut live = noted(applied.clone(), &applied);
    live["spec"]["parts"] = json!([{"x": 1, "mode": "d"}, {"x": 2, "mode": "d"}]);
    live["metadata"]["managedFields"] =
        json!([{"manager": "console", "operation": "Update", "fieldsV1": {"f:spec": {"f:parts": {}}}}]);
    let kept = Kept::new(of_type("example.com/v1", "Thing", schemas), &[live]);
    let folder = folder(&kept.server, &[("t.yaml", file)]);
    let _ = run(&folder, &["-f", "t.yaml", "--adopt"]).passed();
    assert_eq!(folder.read("t.yaml"), format!("{file}  - x: 2\n"));
    let ran = run(&folder, &["-f", "t.yaml", "--on-conflict", "fail"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

/// Client-side apply leaves its fields to a manager of updates. They are handed over before server-side apply.
#[test]
fn the_move_to_server_side_apply_is_in_nobody_s_way() {
    let map = |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod"}, "data": data});
    let mut live = noted(map(json!({"a": "1", "b": "2", "theirs": "x"})), &map(json!({"a": "1", "b": "2"})));
    live["metadata"]["resourceVersion"] = json!("1");
    let entry = |manager: &str, fields: Value| json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-01-02T03:04:05Z", "fieldsV1": fields});
    let note = json!({".": {}, format!("f:{LAST_APPLIED}"): {}});
    let own = json!({"f:metadata": {"f:annotations": note}, "f:data": {".": {}, "f:a": {}, "f:b": {}}});
    live["metadata"]["managedFields"] =
        json!([entry("krm-merge", own.clone()), entry("console", json!({"f:data": {"f:theirs": {}}}))]);
    let path = "/api/v1/namespaces/prod/configmaps/m";
    let schemas = json!({"it": {"type": "object", "properties": {"data": {"type": "object", "additionalProperties": {"type": "string"}}}}});
    let mut answers = of_type("v1", "ConfigMap", schemas);
    answers.insert("GET /api/v1".into(), types(&[("ConfigMap", "configmaps", true)]));
    let state = Mutex::new(live.clone());
    let server = Server::answering(move |asked, before| {
        let mut state = state.lock().expect("no panic");
        let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
        let is_read = asked.path() == format!("GET {path}");
        if is_read || asked.path() != format!("PATCH {path}") {
            let other = answers.get(asked.path()).map(|answer| answer.clone().after(before));
            return if is_read { Some(Answer::Json(200, state.clone())) } else { other };
        }
        if body["metadata"]["resourceVersion"] != state["metadata"]["resourceVersion"] {
            return Some(Answer::Json(409, status(409, "the object has been modified")));
        }
        let managers = state["metadata"]["managedFields"].as_array().expect("a list");
        let is_owned = managers.iter().any(|m| m["manager"] == "krm-merge" && m["operation"] == "Update");
        let is_apply = asked.kind == "application/apply-patch+yaml";
        if is_apply && is_owned && !asked.line.contains("force=true") {
            let mut refusal = status(409, "Apply failed");
            refusal["details"] = json!({"causes": [{"reason": "FieldManagerConflict", "message": "conflict with \"krm-merge\" using v1", "field": ".data.a"}]});
            return Some(Answer::Json(409, refusal));
        }
        if !asked.is_dry() {
            if is_apply {
                state["data"] = json!({"a": body["data"]["a"], "theirs": "x"});
                state["metadata"]["managedFields"] = applied_by("krm-merge", json!({"f:data": {"f:a": {}}}));
                state["metadata"].as_object_mut().expect("a map").remove("annotations");
            } else {
                patched(&mut state, &body);
            }
            state["metadata"]["resourceVersion"] =
                json!(format!("{}1", state["metadata"]["resourceVersion"].as_str().expect("a text")));
        }
        Some(Answer::Json(200, state.clone()))
    });
    let folder = folder(&server, &[("m.yaml", &map(json!({"a": "2"})).to_string())]);
    let args = ["-f", "m.yaml", "--server-side"];
    // What the files drop goes, as with client-side apply, and is shown. The handover is told.
    let shown = run(&folder, &args);
    let told = "info: prod/configmap/m: its fields go over from client-side to server-side apply, and the note of kubectl is removed\n";
    assert!(shown.stderr == told && shown.stdout.contains("\n-  b: \"2\"\n"), "{shown:?}");
    let before = server.asked().len();
    let ran = run(&folder, &[&args[..], &["--apply"]].concat());
    assert_eq!(ran.passed(), "prod/configmap/m applied on the server's side\n");
    let sent = server.asked().split_off(before).into_iter().filter(|a| a.line.starts_with("PATCH"));
    // No dry run shows a handover: one names who is in the way, and one takes over what is handed over.
    let (dry, sent): (Vec<_>, Vec<_>) = sent.partition(|asked| asked.is_dry());
    assert_eq!((dry.len(), sent.len()), (2, 2), "the dry runs, the handover, and the apply: {sent:?}");
    let handover: Value = serde_json::from_str(&sent[0].body).expect("JSON");
    let [console, applier] = [&handover["metadata"]["managedFields"][0], &handover["metadata"]["managedFields"][1]];
    assert_eq!(
        (console, &applier["operation"], &applier["fieldsV1"]),
        (&live["metadata"]["managedFields"][1], &json!("Apply"), &own)
    );
    assert!(!sent[1].line.contains("force=true"), "nobody else loses a field");
    let before = server.sent().len();
    let ran = run(&folder, &[&args[..], &["--apply"]].concat());
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), server.sent().len()), ("", "", before));
}

/// Who asks a cluster gets what the cluster knows, and not what others publish.
#[test]
fn a_kind_that_the_cluster_does_not_have_is_not_explained() {
    let kept = Kept::new(Answers::new(), &[]);
    let folder = folder(&kept.server, &[]);
    for kind in ["Certificate.v1.cert-manager.io", "Thing.v1.example.com"] {
        let mut command = folder.command(&["explain", kind, "--live"]);
        let ran = Ran::of(command.env("KUBECONFIG", folder.path("kubeconfig")).output().expect("runs"));
        let err = ran.failed(2);
        assert!(err.contains("the cluster must know the kind `") && err.contains("but it does not"), "{err}");
    }
}

/// A proxy, or another program on the port, answers 200 to all.
#[test]
fn an_answer_with_another_object_is_no_success() {
    let object = |kind: &str, name: &str| json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "prod"}});
    for other in [object("Deployment", "other"), object("Status", "web"), json!([]), json!("done")] {
        for (when, sent) in [("PATCH", "it may have been sent: "), ("dry", "nothing was sent: ")] {
            let mut answers = super::cluster(3, "web:1");
            let path =
                if when == "dry" { format!("PATCH {} dry", super::WEB) } else { format!("PATCH {}", super::WEB) };
            answers.insert(format!("PATCH {} dry", super::WEB), super::Answer::Json(200, json!({})));
            answers.insert(path, super::Answer::Json(200, other.clone()));
            let server = super::Server::new(answers);
            let folder = folder(&server, &[("web.yaml", &super::deployment(5, "web:1").to_string())]);
            let err = run(&folder, &["-f", "web.yaml", "--apply"]).failed(2);
            assert!(
                err.contains(sent) && err.contains("the cluster must answer with the object that was sent"),
                "{err}"
            );
            assert!(err.contains("prod/deployment.apps/web"), "{err}");
        }
    }
}

/// Who may only read gets the diff of the merge, and is told so once.
#[test]
fn who_may_not_patch_is_shown_what_the_merge_foresees() {
    let mut answers = super::cluster(3, "web:1");
    answers.insert(format!("PATCH {}", super::WEB), super::Answer::Json(403, status(403, "you cannot patch it")));
    let server = super::Server::new(answers);
    let folder = folder(&server, &[("web.yaml", &super::deployment(5, "web:1").to_string())]);
    let ran = run(&folder, &["-f", "web.yaml", "--exit-code"]);
    assert!(ran.code == Some(1) && ran.stdout.contains("+  replicas: 5\n"), "{ran:?}");
    let why = "the cluster does not allow you to ask what a patch would do (403), so what the merge foresees is shown";
    assert_eq!(ran.stderr, format!("warning: prod/deployment.apps/web: {why}\n"));
    let err = run(&folder, &["-f", "web.yaml", "--apply"]).failed(2);
    assert!(err.contains("nothing was sent: not allowed in the cluster: 403 you cannot patch it"), "{err}");
}

/// cert-manager, an operator, or an ApplySet owns one field of an object that another tool made. The answers are made up.
#[test]
fn what_a_controller_applied_of_an_object_without_a_note_stays() {
    let map = |more: Value| {
        let mut map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod"}, "data": {"a": "1", "b": "1", "c": "1"}});
        map["data"].as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        map
    };
    for (manager, fields, is_gone) in [
        ("cainjector", json!({"f:data": {"f:ca.crt": {}}}), false),
        // The applier of the whole object drops what its files drop.
        ("flux", json!({"f:data": {"f:ca.crt": {}, "f:a": {}, "f:b": {}, "f:c": {}}}), true),
        ("krm-merge", json!({"f:data": {"f:ca.crt": {}}}), true),
    ] {
        let mut live = map(json!({"ca.crt": "x"}));
        live["metadata"]["managedFields"] = applied_by(manager, fields);
        let kept = Kept::new(Answers::new(), &[live]);
        let folder = folder(&kept.server, &[("m.yaml", &map(json!({})).to_string())]);
        let ran = run(&folder, &["-f", "m.yaml"]);
        assert_eq!(ran.stdout.contains("-  ca.crt: x"), is_gone, "{manager} {ran:?}");
    }
}

/// The parent of an ApplySet is among the files. The marks are those that kubectl 1.34 writes.
#[test]
fn the_parent_of_a_set_keeps_its_marks() {
    let mut live = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod"}});
    live["metadata"]["labels"] = json!({"applyset.kubernetes.io/id": "applyset-x-v1"});
    live["metadata"]["annotations"] = json!({
        "applyset.kubernetes.io/additional-namespaces": "", "applyset.kubernetes.io/contains-group-kinds": "ConfigMap", "applyset.kubernetes.io/tooling": "kubectl/v1.34.0",
    });
    let annotations: Value = live["metadata"]["annotations"]
        .as_object()
        .expect("a map")
        .keys()
        .map(|name| (format!("f:{name}"), json!({})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    live["metadata"]["managedFields"] = applied_by(
        "kubectl-applyset",
        json!({"f:metadata": {"f:annotations": annotations, "f:labels": {"f:applyset.kubernetes.io/id": {}}}}),
    );
    let kept = Kept::new(Answers::new(), &[live]);
    let file = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: prod}\ndata: {owner: us}\n";
    let folder = folder(&kept.server, &[("m.yaml", file)]);
    let out = run(&folder, &["-f", "m.yaml"]).passed();
    assert!(out.contains("+  owner: us") && !out.contains("-    applyset"), "{out}");
}

/// kubectl sends no nulls of a new object, and the server would make an empty text of one.
#[test]
fn a_null_in_a_new_object_is_not_sent() {
    let mut answers = super::cluster(3, "web:1");
    let things = ("Thing", "things", true);
    answers.insert("GET /apis/example.com/v1".to_owned(), types(&[things]));
    answers.insert("POST /apis/example.com/v1/namespaces/prod/things".into(), super::Answer::Json(201, json!({})));
    let server = super::Server::new(answers);
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: '1', b: }\n";
    // In a custom resource, a null may be a value.
    let thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {b: }\n";
    let folder = folder(&server, &[("all.yaml", &format!("{map}---\n{thing}"))]);
    let _ = run(&folder, &["-f", "all.yaml", "--apply"]).passed();
    let sent = |kind: &str| server.sent().into_iter().rfind(|(_, body)| body["kind"] == kind).expect("it was sent").1;
    assert_eq!(
        (sent("ConfigMap")["data"].to_string(), sent("Thing")["spec"].to_string()),
        ("{\"a\":\"1\"}".to_owned(), "{\"b\":null}".to_owned())
    );
    let note = sent("ConfigMap")["metadata"]["annotations"][LAST_APPLIED].to_string();
    assert!(note.contains("null"), "as kubectl's: {note}");
}

/// The server makes TCP of an empty protocol, so a port with one is the port with TCP.
#[test]
fn a_port_with_an_empty_protocol_goes_when_the_files_drop_it() {
    let service = |ports: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "prod"}, "spec": {"ports": ports}});
    let port = |port: u16, protocol: Value| json!({"name": format!("p{port}"), "port": port, "protocol": protocol});
    for empty in [json!(""), Value::Null] {
        let live = service(json!([port(80, json!("TCP")), port(81, json!("TCP"))]));
        let kept = Kept::new(
            Answers::new(),
            &[noted(live, &service(json!([port(80, empty.clone()), port(81, json!("TCP"))])))],
        );
        let folder = folder(&kept.server, &[("s.yaml", &service(json!([port(81, empty.clone())])).to_string())]);
        let ran = run(&folder, &["-f", "s.yaml", "--apply"]);
        assert!(ran.stderr.is_empty(), "{ran:?}");
        assert_eq!(kept.objects()[0]["spec"]["ports"].as_array().expect("a list").len(), 1, "{empty} {ran:?}");
        let ran = run(&folder, &["-f", "s.yaml", "--exit-code"]);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{empty}");
    }
}

/// A null over a default of the server is sent once, with the note, and is shown never. The server's default is that of a real one.
#[test]
fn a_null_over_a_default_is_no_change() {
    let pod = |resources: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "prod"}, "spec": {"containers": [{"name": "a", "image": "i:1", "resources": resources}]}});
    let live = noted(
        pod(json!({})),
        &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "prod"}, "spec": {"containers": [{"name": "a", "image": "i:1"}]}}),
    );
    let kept = Kept::setting(Answers::new(), &[live], |object| {
        let resources = &mut object["spec"]["containers"][0]["resources"];
        if resources.is_null() {
            *resources = json!({});
        }
    });
    let folder = folder(&kept.server, &[("p.yaml", &pod(Value::Null).to_string())]);
    let ran = run(&folder, &["-f", "p.yaml", "--exit-code"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    let _ = run(&folder, &["-f", "p.yaml", "--apply"]).passed();
    let before = kept.server.sent().len();
    let ran = run(&folder, &["-f", "p.yaml", "--apply"]);
    assert_eq!((ran.passed(), kept.server.sent().len()), (String::new(), before));
}

/// The note names the fields of another version of a custom resource, so it does not say what was applied.
#[test]
fn a_note_of_another_version_is_told() {
    let thing = |version: &str, spec: Value| json!({"apiVersion": format!("example.com/{version}"), "kind": "Thing", "metadata": {"name": "t", "namespace": "prod"}, "spec": spec});
    let live = noted(
        thing("v2", json!({"endpoints": [{"host": "a"}, {"host": "b"}]})),
        &thing("v1", json!({"hosts": ["a", "b"]})),
    );
    let kept = Kept::new(Answers::new(), &[live]);
    let folder = folder(&kept.server, &[("t.yaml", &thing("v2", json!({"endpoints": [{"host": "a"}]})).to_string())]);
    let ran = run(&folder, &["-f", "t.yaml"]);
    assert!(ran.stderr.contains("its last-applied-configuration annotation is of `example.com/v1`"), "{ran:?}");
    assert!(!ran.passed().contains("changed in the cluster"));
}

/// As with client-go, a read whose connection broke is sent again. A write is not.
#[test]
fn a_read_whose_connection_broke_is_sent_again() {
    let mut answers = super::cluster(3, "web:1");
    let path = format!("GET {}", super::WEB);
    let answer = answers.remove(&path).expect("an answer");
    answers.insert(path, super::Answer::First(vec!["", ""], Box::new(answer)));
    answers.insert(format!("PATCH {} dry", super::WEB), super::Answer::Raw(""));
    let server = super::Server::new(answers);
    let folder = folder(
        &server,
        &[
            ("web.yaml", &super::deployment(3, "web:1").to_string()),
            ("new.yaml", &super::deployment(5, "web:1").to_string()),
        ],
    );
    assert_eq!(run(&folder, &["-f", "web.yaml"]).passed(), "");
    let _ = run(&folder, &["-f", "new.yaml"]).failed(2);
    assert_eq!(server.sent().len(), 1);
}

/// The command of `exec` is run again when its token has ended, or when the cluster does not accept it any more, and only then.
#[cfg(unix)]
#[test]
fn a_token_that_is_over_is_asked_for_again() {
    let answers = super::cluster(3, "web:1");
    let server = super::Server::answering(move |asked, before| {
        let is_over = asked.user == "Bearer t1" && asked.line.contains("deployments/web");
        if is_over {
            Some(super::Answer::Json(401, status(401, "Unauthorized")))
        } else {
            Some(answers.get(asked.path())?.clone().after(before))
        }
    });
    let folder = folder(&server, &[("web.yaml", &super::deployment(3, "web:1").to_string())]);
    let login = folder.path("login.sh");
    folder.write("login.sh", format!("echo run >>{0}.runs\nruns=0\nwhile read -r _; do runs=$((runs + 1)); done <{0}.runs\nprintf '{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{{\"token\":\"t%s\",\"expirationTimestamp\":\"%s-01-01T00:00:00Z\"}}}}' $runs $(cat {0}.ends)\n", login.display()));
    let exec = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": [login], "interactiveMode": "Never"});
    let mut kubeconfig: Value = serde_json::from_str(&folder.read("kubeconfig")).expect("JSON");
    kubeconfig["users"][0]["user"] = json!({"exec": exec});
    folder.write("kubeconfig", kubeconfig.to_string());
    for (year, want) in [("2999", ["Bearer t1", "Bearer t1", "Bearer t2"]), ("2001", ["Bearer t2", "Bearer t3", ""])] {
        folder.write("login.sh.ends", year);
        folder.write("login.sh.runs", "");
        let before = server.asked().len();
        assert_eq!(run(&folder, &["-f", "web.yaml"]).passed(), "");
        let users: Vec<String> = server.asked().split_off(before).into_iter().map(|asked| asked.user).collect();
        let want: Vec<&str> = want.into_iter().filter(|user| !user.is_empty()).collect();
        assert_eq!(users, want);
        assert_eq!(folder.read("login.sh.runs").lines().count(), if year == "2999" { 2 } else { 3 });
    }
}

/// Of a new object, too, the server says what it does not take before anything is sent.
#[test]
fn a_new_object_is_asked_for_with_server_side_apply() {
    let mut answers = super::cluster(3, "web:1");
    let refusal = status(400, "strict decoding error: unknown field \"dataa\"");
    answers.insert("PATCH /api/v1/namespaces/prod/configmaps/m".into(), super::Answer::Json(400, refusal));
    let server = super::Server::new(answers);
    let folder =
        folder(&server, &[("m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndataa: {x: z}\n")]);
    let ran = run(&folder, &["-f", "m.yaml", "--server-side"]);
    assert!(
        ran.code == Some(0) && ran.stderr.contains("warning: prod/configmap/m: the server does not take it"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("unknown field \"dataa\"") && ran.stdout.contains("+++ b/prod/configmap/m"), "{ran:?}");
    let err = run(&folder, &["-f", "m.yaml", "--server-side", "--apply"]).failed(2);
    assert!(err.contains("unknown field"), "{err}");
    assert!(server.asked().iter().all(|asked| asked.line.starts_with("GET ") || asked.is_dry()));
}
