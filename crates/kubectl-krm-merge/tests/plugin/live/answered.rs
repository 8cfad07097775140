//! What the server answers is what is shown, said and sent: to dry runs of apply patches, with warnings, and while others still wait.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::kept::{Kept, LAST_APPLIED, noted};
use super::{Answer, Answers, Server, folder, run, types};
use crate::support::Ran;

/// A manager's entry in `managedFields`.
fn entry(manager: &str, operation: &str, day: u8, fields: Value) -> Value {
    json!({"manager": manager, "operation": operation, "apiVersion": "v1", "time": format!("2026-01-0{day}T00:00:00Z"), "fieldsType": "FieldsV1", "fieldsV1": fields})
}

const ACCOUNT: &str = "/api/v1/namespaces/prod/serviceaccounts/sa";

/// A server with an object, which answers an apply patch with another one.
fn answering(live: Value, becomes: Value) -> Server {
    Server::answering(move |asked, _| match asked.path() {
        "GET /api/v1" => Some(types(&[("ServiceAccount", "serviceaccounts", true)])),
        path if path == format!("GET {ACCOUNT}") => Some(Answer::Json(200, live.clone())),
        path if path == format!("PATCH {ACCOUNT}") => Some(Answer::Json(200, becomes.clone())),
        _ => None,
    })
}

/// The lines of a diff that go or come.
fn changed(ran: &Ran) -> Vec<&str> {
    let is_changed = |line: &&str| line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---");
    ran.stdout.lines().filter(is_changed).collect()
}

/// The server left out an empty list with keys, and it does not count it as owned. Nothing here knows that.
#[test]
fn the_answer_to_a_dry_run_says_what_is_shown_and_sent() {
    let file = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa", "namespace": "prod", "labels": {"z": "1", "a": "1"}}, "imagePullSecrets": []});
    let mut live = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa", "namespace": "prod", "uid": "u", "resourceVersion": "7", "labels": {"a": "1", "z": "1"}}});
    let owned = json!({"f:metadata": {"f:labels": {"f:a": {}, "f:z": {}}}});
    live["metadata"]["managedFields"] =
        json!([entry("console", "Update", 1, json!({"f:secrets": {}})), entry("krm-merge", "Apply", 1, owned.clone())]);
    let mut later = live.clone();
    later["metadata"]["managedFields"] =
        json!([entry("krm-merge", "Apply", 2, owned), entry("console", "Update", 1, json!({"f:secrets": {}}))]);
    later["metadata"]["resourceVersion"] = json!("8");
    let mut owns_more = later.clone();
    owns_more["metadata"]["managedFields"][0]["fieldsV1"]["f:imagePullSecrets"] = json!({});
    let mut differs = later.clone();
    differs["metadata"]["labels"] = json!({"z": "2", "a": "1"});
    for (becomes, lines, is_sent) in
        [(later, &[][..], false), (owns_more, &[], true), (differs, &["-    z: \"1\"", "+    z: \"2\""], true)]
    {
        let server = answering(live.clone(), becomes.clone());
        let folder = folder(&server, &[("sa.yaml", &file.to_string())]);
        let shown = run(&folder, &["-f", "sa.yaml", "--server-side", "--exit-code"]);
        assert_eq!((changed(&shown), shown.code), (lines.to_vec(), Some(i32::from(!lines.is_empty()))), "{becomes}");
        assert_eq!(server.sent().len(), 1, "it is asked once");
        assert!(server.sent()[0].0.contains("dryRun=All"));
        let ran = run(&folder, &["-f", "sa.yaml", "--server-side", "--apply"]);
        let said = if is_sent { "prod/serviceaccount/sa applied on the server's side\n" } else { "" };
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), (said, "", Some(0)), "{becomes}");
        let sent = server.sent().split_off(1);
        assert_eq!(sent.iter().filter(|(line, _)| line.contains("dryRun=All")).count(), 1, "{sent:?}");
        assert_eq!(sent.len(), 1 + usize::from(is_sent), "{sent:?}");
    }
}

/// Who may not send a patch, or sends a wrong one, sees why, and what the merge foresees.
#[test]
fn a_refused_dry_run_is_told() {
    let file = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa", "namespace": "prod", "labels": {"a": "2"}}});
    let mut live = file.clone();
    live["metadata"]["labels"] = json!({"a": "1"});
    live["metadata"]["resourceVersion"] = json!("7");
    let server = Server::answering(move |asked, _| match asked.path() {
        "GET /api/v1" => Some(types(&[("ServiceAccount", "serviceaccounts", true)])),
        path if path == format!("GET {ACCOUNT}") => Some(Answer::Json(200, live.clone())),
        path if path == format!("PATCH {ACCOUNT}") => {
            Some(Answer::Json(422, super::status(422, "labels: Invalid value")))
        }
        _ => None,
    });
    let folder = folder(&server, &[("sa.yaml", &file.to_string())]);
    let ran = run(&folder, &["-f", "sa.yaml", "--server-side"]);
    assert!(ran.stderr.starts_with("warning: ") && ran.stderr.contains("422 labels: Invalid value"), "{ran:?}");
    assert_eq!((changed(&ran), ran.code), (vec!["-    a: \"1\"", "+    a: \"2\""], Some(0)));
    let err = run(&folder, &["-f", "sa.yaml", "--server-side", "--apply"]).failed(2);
    assert!(err.contains("the server does not take it, and nothing was sent"), "{err}");
    assert!(server.sent().iter().all(|(line, _)| line.contains("dryRun=All")));
}

/// The files come from what was released, and Helm, Flux, Argo CD and kpt mark what they apply.
#[test]
fn what_an_applier_knows_its_object_by_stays() {
    let file = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod", "labels": {"own": "1"}}, "data": {"a": "b"}});
    let helm = json!({"annotations": {"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "prod"}, "labels": {"app.kubernetes.io/managed-by": "Helm"}});
    let flux = json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}});
    let argo = json!({"annotations": {"argocd.argoproj.io/tracking-id": "app:/ConfigMap:prod/m"}, "labels": {"app.kubernetes.io/instance": "app"}});
    let kpt = json!({"annotations": {"config.k8s.io/owning-inventory": "i"}});
    for (manager, marks, is_noted) in [
        ("helm", &helm, false),
        ("kustomize-controller", &flux, false),
        ("argocd-controller", &argo, false),
        ("argocd-controller", &argo, true),
        ("kpt", &kpt, true),
        ("kpt", &kpt, false),
    ] {
        let mut live = file.clone();
        let mut fields = json!({"f:data": {"f:a": {}}, "f:metadata": {"f:labels": {"f:own": {}}}});
        for (field, entries) in marks.as_object().expect("a map") {
            for (name, value) in entries.as_object().expect("a map") {
                live["metadata"][field][name] = value.clone();
                fields["f:metadata"][format!("f:{field}")][format!("f:{name}")] = json!({});
            }
        }
        let applied = live.clone();
        if is_noted {
            live = noted(live, &applied);
            fields["f:metadata"]["f:annotations"][format!("f:{LAST_APPLIED}")] = json!({});
        }
        let operation = if is_noted { "Update" } else { "Apply" };
        live["metadata"]["managedFields"] = json!([entry(manager, operation, 1, fields)]);
        let kept = Kept::new(Answers::new(), &[live]);
        let folder = folder(&kept.server, &[("m.yaml", &file.to_string())]);
        let ran = run(&folder, &["-f", "m.yaml", "--exit-code"]);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), ("", "", Some(0)), "{manager}");
        // Another change is sent, and the marks stay.
        folder.write("m.yaml", file.to_string().replace("\"b\"", "\"c\""));
        assert_eq!(changed(&run(&folder, &["-f", "m.yaml"])), ["-  a: b", "+  a: c"], "{manager}");
        let _ = run(&folder, &["-f", "m.yaml", "--apply"]).passed();
        let now = kept.objects().remove(0);
        for (field, entries) in marks.as_object().expect("a map") {
            for (name, value) in entries.as_object().expect("a map") {
                assert_eq!(&now["metadata"][field][name], value, "{manager} {name}");
            }
        }
        let _ = run(&folder, &["-f", "m.yaml", "--adopt"]).passed();
        assert!(!folder.read("m.yaml").contains("managed-by"));
    }
}

/// What is applied under the name of the applier must have its marks, or the server takes them away.
#[test]
fn a_patch_under_the_name_of_an_applier_has_its_marks() {
    let file = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa", "namespace": "prod", "labels": {"a": "2"}}});
    let mut live = file.clone();
    live["metadata"]["labels"] = json!({"a": "1"});
    live["metadata"]["annotations"] = json!({"meta.helm.sh/release-name": "r"});
    live["metadata"]["resourceVersion"] = json!("7");
    let fields = json!({"f:metadata": {"f:labels": {"f:a": {}}, "f:annotations": {"f:meta.helm.sh/release-name": {}}}});
    live["metadata"]["managedFields"] = json!([entry("helm", "Apply", 1, fields)]);
    for (manager, want) in [("helm", json!({"meta.helm.sh/release-name": "r"})), ("krm-merge", Value::Null)] {
        let server = answering(live.clone(), live.clone());
        let folder = folder(&server, &[("sa.yaml", &file.to_string())]);
        let _ = run(&folder, &["-f", "sa.yaml", "--server-side", "--field-manager", manager]).passed();
        assert_eq!(server.sent()[0].1["metadata"]["annotations"], want, "{manager}");
    }
}

/// The note says what kubectl applied first; the applier owns `b` since then, and the file drops it.
#[test]
fn what_was_applied_after_the_note_goes_if_the_files_drop_it() {
    let map = |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod"}, "data": data});
    let note =
        json!({"f:metadata": {"f:annotations": {".": {}, format!("f:{LAST_APPLIED}"): {}}}, "f:data": {"f:a": {}}});
    for (day, lines) in [(3, &["-  b: \"2\""][..]), (1, &[])] {
        let mut live = noted(map(json!({"a": "1", "b": "2"})), &map(json!({"a": "1"})));
        live["metadata"]["managedFields"] = json!([
            entry("kustomize-controller", "Apply", day, json!({"f:data": {"f:a": {}, "f:b": {}}})),
            entry("kubectl-client-side-apply", "Update", 2, note.clone()),
        ]);
        let kept = Kept::new(Answers::new(), &[live]);
        let folder = folder(&kept.server, &[("m.yaml", &map(json!({"a": "1"})).to_string())]);
        assert_eq!(changed(&run(&folder, &["-f", "m.yaml"])), lines, "{day}");
        let _ = run(&folder, &["-f", "m.yaml", "--apply"]).passed();
        assert_eq!(kept.objects()[0]["data"].get("b").is_none(), !lines.is_empty());
    }
}

/// The list of claims was applied as a whole, by Flux or by kubectl, and the server set defaults in it. A claim that differs is told.
#[test]
fn a_claim_that_gained_defaults_is_no_change() {
    let claim = |size: &str| json!([{"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}}]);
    let file = |size: &str| json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "prod"}, "spec": {"serviceName": "s", "volumeClaimTemplates": claim(size)}});
    let mut live = file("1Gi");
    live["spec"]["volumeClaimTemplates"] = json!([{
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "d", "creationTimestamp": null}, "status": {"phase": "Pending"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeMode": "Filesystem"},
    }]);
    let fields = json!({"f:spec": {"f:serviceName": {}, "f:volumeClaimTemplates": {}}});
    let mut by_flux = live.clone();
    by_flux["metadata"]["managedFields"] = json!([entry("kustomize-controller", "Apply", 1, fields)]);
    for live in [by_flux, noted(live, &file("1Gi"))] {
        let kept = Kept::setting(Answers::new(), &[live], |object| {
            let claim = object["spec"]["volumeClaimTemplates"][0].as_object_mut().expect("a map");
            claim["metadata"]["creationTimestamp"] = Value::Null;
            claim["spec"]["volumeMode"] = json!("Filesystem");
            let head = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"}});
            claim.extend(head.as_object().expect("a map").clone());
        });
        let folder = folder(&kept.server, &[("s.yaml", &file("1Gi").to_string())]);
        let ran = run(&folder, &["-f", "s.yaml", "--exit-code"]);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), ("", "", Some(0)));
        folder.write("s.yaml", file("2Gi").to_string());
        let ran = run(&folder, &["-f", "s.yaml"]);
        // Whether the claim may change, the server says.
        assert_eq!((ran.stderr.as_str(), kept.server.sent().len()), ("", 1));
        assert_eq!(changed(&ran), ["-          storage: 1Gi", "+          storage: 2Gi"]);
    }
}

/// A static volume asks for no class, and the server leaves that out.
#[test]
fn an_empty_class_of_a_volume_is_no_change() {
    let file = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": {"capacity": {"storage": "1Gi"}, "storageClassName": ""}});
    let mut live = file.clone();
    live["spec"].as_object_mut().expect("a map").remove("storageClassName");
    let kept = Kept::new(Answers::new(), &[noted(live, &file)]);
    let text = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec:\n  capacity: {storage: 1Gi}\n  storageClassName: \"\"\n";
    let folder = folder(&kept.server, &[("pv.yaml", text)]);
    let ran = run(&folder, &["-f", "pv.yaml"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let _ = run(&folder, &["-f", "pv.yaml", "--adopt"]).passed();
    assert_eq!(folder.read("pv.yaml"), text);
}

#[test]
fn what_the_server_warns_of_is_told_once() {
    let map = |value: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod", "resourceVersion": "1"}, "data": {"a": value}});
    let raw = |object: Value| {
        let body = object.to_string();
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nWarning: 299 - \"v1 is \\\"old\\\"\"\r\nContent-Length:";
        Answer::Raw(Box::leak(format!("{head} {}\r\n\r\n{body}", body.len()).into_boxed_str()))
    };
    let path = "/api/v1/namespaces/prod/configmaps/m";
    let server = Server::new(Answers::from([
        ("GET /api/v1".to_owned(), types(&[("ConfigMap", "configmaps", true)])),
        (format!("GET {path}"), raw(noted(map("1"), &map("1")))),
        (format!("PATCH {path}"), raw(map("2"))),
    ]));
    let folder = folder(&server, &[("m.yaml", &map("2").to_string())]);
    for way in [&[][..], &["--apply"], &["--server-side"], &["--server-side", "--apply"], &["--adopt"]] {
        let ran = run(&folder, &[&["-f", "m.yaml"], way].concat());
        assert_eq!(ran.stderr.matches("warning: the cluster warns: v1 is \"old\"").count(), 1, "{way:?} {ran:?}");
        assert_eq!(ran.code, Some(0), "{way:?} {ran:?}");
    }
}

/// The first object waits for its answer, and the job ends.
#[test]
fn what_was_sent_is_said_while_others_wait() {
    let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "prod"}, "data": {"a": "b"}});
    let server = Server::answering(move |asked, _| {
        let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
        match asked.path() {
            "GET /api/v1" => Some(types(&[("ConfigMap", "configmaps", true)])),
            _ if asked.line.starts_with("POST") && !asked.is_dry() && body["metadata"]["name"] == "m0" => {
                Some(Answer::Late(Duration::from_secs(25)))
            }
            _ if asked.line.starts_with("POST") => Some(Answer::Json(201, body)),
            _ => None,
        }
    });
    let files: String = (0..6).map(|i| format!("{}\n---\n", map(&format!("m{i}")))).collect();
    let folder = folder(&server, &[("all.yaml", &files)]);
    let mut command = folder.command(&["live", "-f", "all.yaml", "--apply"]);
    command.env("KUBECONFIG", folder.path("kubeconfig")).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the plugin runs");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut told: Vec<String> = lines.take(5).map(|line| line.expect("a line")).collect();
    child.kill().expect("it still waits");
    child.wait().expect("it ends");
    told.sort_unstable();
    assert_eq!(told, (1..6).map(|i| format!("prod/configmap/m{i} created")).collect::<Vec<_>>());
}
