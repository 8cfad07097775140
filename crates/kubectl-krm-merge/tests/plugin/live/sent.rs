//! What is sent, applied to the live object by the rules of the patch type, is what was shown.

use serde_json::{Value, json};

use super::kept::{Kept, LAST_APPLIED, noted};
use super::{Answer, Answers, Server, folder, run, status, types};

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
    for is_predicted in [true, false] {
        let owned = if is_predicted { json!({"f:metadata": {"f:labels": {}}}) } else { json!({"f:data": {}}) };
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
        assert!(
            err.contains("`--take .metadata.labels`")
                || is_predicted && err.contains("will refuse `.metadata.labels` (409), which was set by \"flux\""),
            "{err}"
        );
        assert!(!err.contains("changed in the cluster"), "{err}");
        assert_eq!(server.sent().len(), usize::from(!is_predicted));
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
