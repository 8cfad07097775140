//! What is sent in which order, and what of it is checked before.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{Answer, Answers, Server, WEB, cluster, deployment, folder, live, run, status, types, wire};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: new}\ndata: {x: y}\n";
const SPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: new}\n";

fn with_namespaces(answers: &mut Answers) {
    let kinds = [("ConfigMap", "configmaps", true), ("Namespace", "namespaces", false)];
    answers.insert("GET /api/v1".into(), types(&kinds));
    answers.insert("POST /api/v1/namespaces".into(), Answer::Json(201, json!({})));
    // As the server has it: nothing can be checked in a namespace that is not there.
    let missing = status(404, "namespaces \"new\" not found");
    answers.insert("POST /api/v1/namespaces/new/configmaps dry".into(), Answer::Json(404, missing));
    answers.insert("POST /api/v1/namespaces/new/configmaps".into(), Answer::Json(201, json!({})));
}

fn lines(server: &Server) -> Vec<String> {
    server.sent().into_iter().map(|s| s.0).collect()
}

/// What was sent for the server to keep, by its method and the end of its path, in the order in which it came.
fn kept(server: &Server) -> Vec<String> {
    let all = server.asked().into_iter().filter(|a| !a.line.starts_with("GET ") && !a.is_dry());
    all.map(|a| a.path().rsplit('/').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_new_namespace_comes_before_what_lies_in_it() {
    let mut answers = cluster(3, "web:1");
    with_namespaces(&mut answers);
    let server = Server::new(answers.clone());
    let all = format!("{}\n---\n{MAP}---\n{SPACE}", deployment(3, "web:2"));
    let folder = folder(&server, &[("all.yaml", &all)]);
    let ran = run(&folder, &["-f", "all.yaml", "--apply"]);
    assert_eq!(ran.stderr, "info: new/configmap/m: no dry run can check it, because namespace/new is new, too\n");
    assert_eq!(ran.passed(), "namespace/new created\nnew/configmap/m created\nprod/deployment.apps/web configured\n");
    let mut sent = lines(&server);
    sent[..2].sort();
    assert_eq!(
        sent,
        [
            format!("PATCH {WEB}?&dryRun=All&fieldManager=krm-merge&fieldValidation=Strict"),
            "POST /api/v1/namespaces?&dryRun=All&fieldManager=krm-merge&fieldValidation=Strict".to_owned(),
            "POST /api/v1/namespaces?&fieldManager=krm-merge&fieldValidation=Strict".to_owned(),
            "POST /api/v1/namespaces/new/configmaps?&fieldManager=krm-merge&fieldValidation=Strict".to_owned(),
            format!("PATCH {WEB}?&fieldManager=krm-merge&fieldValidation=Strict"),
        ]
    );
    // It is told where results are asked for, and not where nothing is sent.
    let ran = run(&folder, &["-f", "all.yaml", "--apply", "-o", "results"]);
    assert!(ran.stdout.contains("severity: info") && ran.stdout.contains("no dry run can check it"), "{ran:?}");
    assert!(!format!("{:?}", run(&folder, &["-f", "all.yaml"])).contains("no dry run"));
}

#[test]
fn a_namespace_that_is_there_is_no_reason_not_to_check() {
    let mut answers = cluster(3, "web:1");
    with_namespaces(&mut answers);
    let mut space =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new", "resourceVersion": "1"}});
    space["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}).to_string()});
    answers.insert("GET /api/v1/namespaces/new".into(), Answer::Json(200, space));
    let server = Server::new(answers);
    let folder = folder(&server, &[("all.yaml", &format!("{MAP}---\n{SPACE}"))]);
    let err = run(&folder, &["-f", "all.yaml", "--apply"]).failed(2);
    assert!(err.contains("nothing was sent") && !err.contains("info:"), "{err}");
    assert_eq!(lines(&server).len(), 1);
}

#[test]
fn what_fails_after_the_dry_run_ends_the_run_and_says_what_was_sent() {
    let mut answers = cluster(3, "web:1");
    with_namespaces(&mut answers);
    let refused = status(422, "ConfigMap \"m\" is invalid: data.x: too long");
    answers.insert("POST /api/v1/namespaces/new/configmaps".into(), Answer::Json(422, refused));
    let server = Server::new(answers);
    let web = deployment(3, "web:2");
    let folder = folder(&server, &[("all.yaml", &format!("{web}\n---\n{MAP}---\n{SPACE}"))]);
    let ran = run(&folder, &["-f", "all.yaml", "--apply"]);
    assert_eq!(ran.stdout, "namespace/new created\n");
    let err = ran.failed(2);
    assert!(err.contains("error: new/configmap/m: the cluster answered: 422"), "{err}");
    assert!(err.trim_end().ends_with("; of 3 objects: 1 sent, 1 not taken, 1 not tried"), "{err}");
    assert_eq!(kept(&server), ["namespaces", "configmaps"], "nothing is sent after it");
}

/// Those that are on their way when another one is refused are awaited: what is told of them is what came of them.
#[test]
fn all_that_was_sent_is_told_when_one_of_many_is_refused() {
    let server = Server::answering(|asked, _| {
        let is_refused = asked.body.contains("\"name\":\"c3\"") || asked.body.contains("\"name\":\"c5\"");
        match asked.path() {
            "GET /api/v1" => Some(types(&[("ConfigMap", "configmaps", true)])),
            path if path.starts_with("GET ") => None,
            _ if asked.is_dry() => Some(Answer::Json(201, json!({}))),
            _ if is_refused => Some(Answer::Json(422, status(422, "too long"))),
            _ => {
                std::thread::sleep(std::time::Duration::from_millis(20));
                Some(Answer::Json(201, json!({})))
            }
        }
    });
    let map = |i: usize| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}}}\ndata: {{x: y}}\n");
    let all: Vec<String> = (0..40).map(map).collect();
    let folder = folder(&server, &[("all.yaml", &all.join("---\n"))]);
    let ran = run(&folder, &["-f", "all.yaml", "--apply"]);
    let told = ran.stdout.matches(" created\n").count();
    assert_eq!(told + 2, kept(&server).len(), "{ran:?}");
    assert!((3..38).contains(&told), "{told}");
    let err = ran.failed(2);
    let each = ["c3", "c5"].map(|name| format!("prod/configmap/{name}: the cluster answered: 422 too long; "));
    let counts = format!("of 40 objects: {told} sent, 2 not taken, {} not tried\n", 38 - told);
    assert!(err.ends_with(&format!("error: {}{counts}", each.concat())), "{err}");
}

/// A Pod needs its ServiceAccount, a binding its role; policies do not judge what is sent with them.
#[test]
fn what_others_need_comes_first() {
    let kinds = [
        ("v1", "Pod", "pods"),
        ("v1", "ServiceAccount", "serviceaccounts"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
        ("rbac.authorization.k8s.io/v1", "Role", "roles"),
        ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
        ("example.com/v1", "Thing", "things"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions"),
        ("v1", "Namespace", "namespaces"),
    ];
    let mut answers = Answers::new();
    for (version, ..) in kinds {
        let of: Vec<_> = kinds.iter().filter(|k| k.0 == version).map(|k| (k.1, k.2, true)).collect();
        let folder = if version.contains('/') { "apis" } else { "api" };
        answers.insert(format!("GET /{folder}/{version}"), types(&of));
        for (_, _, plural) in of.iter().map(|k| ((), (), k.1)) {
            let path = format!("POST /{folder}/{version}/namespaces/prod/{plural}");
            answers.insert(path, Answer::Json(201, json!({})));
        }
    }
    let server = Server::new(answers);
    let object = |(version, kind, _): (&str, &str, &str)| {
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}}).to_string()
    };
    let folder = folder(&server, &[("all.yaml", &kinds.map(object).join("\n---\n"))]);
    let _ = run(&folder, &["-f", "all.yaml", "--apply"]).passed();
    let sent = kept(&server);
    let at = |plural: &str| sent.iter().position(|p| p == plural).expect(plural);
    for (first, then) in [
        ("namespaces", "customresourcedefinitions"),
        ("customresourcedefinitions", "serviceaccounts"),
        ("serviceaccounts", "pods"),
        ("roles", "rolebindings"),
        ("rolebindings", "pods"),
        ("pods", "validatingwebhookconfigurations"),
        ("things", "validatingwebhookconfigurations"),
    ] {
        assert!(at(first) < at(then), "{first} {then}: {sent:?}");
    }
}

fn definition() -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"},
        "versions": [{"name": "v1", "served": true}, {"name": "v0", "served": false}],
    }})
}

fn thing(version: &str) -> String {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Thing", "metadata": {"name": "t"}}).to_string()
}

fn with_definitions() -> Answers {
    let crds = types(&[("CustomResourceDefinition", "customresourcedefinitions", false)]);
    Answers::from([
        ("GET /apis/apiextensions.k8s.io/v1".to_owned(), crds),
        ("POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions".to_owned(), Answer::Json(201, json!({}))),
        ("POST /apis/example.com/v1/namespaces/prod/things".to_owned(), Answer::Json(201, json!({}))),
    ])
}

#[test]
fn a_new_type_comes_before_what_is_of_it_and_is_waited_for() {
    let mut answers = with_definitions();
    let served = types(&[("Thing", "things", true)]);
    let unknown = wire(404, &status(404, "page not found"));
    answers.insert("GET /apis/example.com/v1".into(), Answer::First(vec![unknown; 4], Box::new(served)));
    let server = Server::new(answers.clone());
    let files = [("all.yaml", format!("{}\n---\n{}\n", thing("v1"), definition()))];
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let folder = folder(&server, &files);
    let out = run(&folder, &["-f", "all.yaml"]).passed();
    assert!(out.contains("+++ b/prod/thing.example.com/t\n"), "{out}");
    assert_eq!(lines(&server).len(), 0);
    let ran = run(&folder, &["-f", "all.yaml", "--apply"]);
    let name = "customresourcedefinition.apiextensions.k8s.io/things.example.com";
    assert_eq!(
        ran.stderr,
        format!("info: prod/thing.example.com/t: no dry run can check it, because {name} is new, too\n")
    );
    assert_eq!(ran.passed(), format!("{name} created\nprod/thing.example.com/t created\n"));
    let last = server.asked().into_iter().rev().take(3).map(|a| a.line).collect::<Vec<_>>();
    assert_eq!(last[1], "GET /apis/example.com/v1", "asked until it is there\n{last:?}");
    // A type that never comes.
    answers.remove("GET /apis/example.com/v1");
    let server = Server::new(answers.clone());
    let folder = self::folder(&server, &files);
    let ran = run(&folder, &["-f", "all.yaml", "--apply", "--timeout", "1"]);
    assert_eq!(ran.stdout, format!("{name} created\n"));
    let err = ran.failed(2);
    assert!(err.contains("within 1 seconds") && err.contains("of 2 objects: 1 sent"), "{err}");
}

/// A definition that gets a field, and a resource that uses it, are sent in one run. The server takes a moment to learn the definition.
#[test]
fn a_changed_type_comes_before_what_is_of_it_and_is_waited_for() {
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com";
    let things = "/apis/example.com/v1/namespaces/prod/things";
    for is_there in [true, false] {
        for way in [&[][..], &["--server-side"]] {
            for refuses in [1, usize::MAX] {
                let learned = AtomicUsize::new(0);
                let server = Server::answering(move |asked, _| {
                    let is_sent = |path: &str| asked.path().ends_with(path) && !asked.path().starts_with("GET");
                    match asked.path() {
                        "GET /apis/apiextensions.k8s.io/v1" => {
                            Some(types(&[("CustomResourceDefinition", "customresourcedefinitions", false)]))
                        }
                        "GET /apis/example.com/v1" => Some(types(&[("Thing", "things", true)])),
                        path if path == format!("GET {definitions}") => {
                            Some(Answer::Json(200, versioned(definition())))
                        }
                        path if path == format!("GET {things}/t") && is_there => {
                            Some(Answer::Json(200, versioned(serde_json::from_str(&thing("v1")).expect("JSON"))))
                        }
                        path if path.starts_with("GET") => None,
                        _ if is_sent(definitions) => Some(Answer::Json(200, json!({}))),
                        // As the server has it: what it does not know is refused, for a moment also after it got the definition.
                        _ if asked.is_dry() || learned.fetch_add(1, Ordering::SeqCst) < refuses => {
                            let code = if asked.line.starts_with("POST") { 400 } else { 422 };
                            Some(Answer::Json(code, status(code, "strict decoding error: unknown field \"spec.new\"")))
                        }
                        _ => Some(Answer::Json(200, json!({}))),
                    }
                });
                let mut changed = definition();
                changed["spec"]["versions"][0]["schema"] = json!({"openAPIV3Schema": {"type": "object"}});
                let mut new: Value = serde_json::from_str(&thing("v1")).expect("JSON");
                new["spec"] = json!({"new": 1});
                let folder = folder(&server, &[("all.yaml", &format!("{new}\n---\n{changed}\n"))]);
                let ran = run(&folder, &[&["-f", "all.yaml", "--apply"], way].concat());
                let name = "customresourcedefinition.apiextensions.k8s.io/things.example.com";
                assert!(
                    ran.stderr.contains(&format!(
                        "info: prod/thing.example.com/t: no dry run can check it, because {name} changes, too\n"
                    )),
                    "{ran:?}"
                );
                assert!(ran.stdout.starts_with(name), "{ran:?}");
                if refuses == 1 {
                    assert!(ran.passed().contains("\nprod/thing.example.com/t "));
                } else {
                    let err = ran.failed(2);
                    assert!(
                        err.contains("unknown field") && err.contains("of 2 objects: 1 sent, 1 not taken"),
                        "{err}"
                    );
                }
                // A definition that stays as it is is no reason not to check.
                let folder = self::folder(&server, &[("all.yaml", &format!("{new}\n---\n{}\n", definition()))]);
                let err = run(&folder, &[&["-f", "all.yaml", "--apply"], way].concat()).failed(2);
                assert!(err.contains("nothing was sent") && !err.contains("info:"), "{err}");
            }
        }
    }
}

fn versioned(mut object: Value) -> Value {
    object["metadata"]["resourceVersion"] = json!("1");
    if object["kind"] == "Thing" {
        object["metadata"]["namespace"] = json!("prod");
    }
    object
}

/// Where an answer is lost, nobody knows whether the object was sent.
#[test]
fn what_may_have_been_sent_is_told_apart_from_what_was_refused() {
    let lost = [
        Answer::Raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"),
        Answer::Raw(""),
        Answer::Late(std::time::Duration::from_secs(5)),
        Answer::Json(504, status(504, "the request did not end in time")),
        Answer::Json(500, status(500, "etcdserver: request timed out")),
    ];
    for answer in lost {
        let mut answers = cluster(3, "web:1");
        answers.insert(format!("PATCH {WEB}"), answer);
        answers.insert(format!("PATCH {WEB} dry"), Answer::Json(200, json!({})));
        let server = Server::new(answers);
        let folder = folder(&server, &[("web.yaml", &deployment(3, "web:2").to_string())]);
        let err = run(&folder, &["-f", "web.yaml", "--apply", "--timeout", "1"]).failed(2);
        assert!(err.starts_with("error: prod/deployment.apps/web: it may have been sent: "), "{err}");
        assert!(err.trim_end().ends_with("; of 1 objects: 0 sent, 1 maybe sent"), "{err}");
    }
}

/// kubectl's note has the whole object, and annotations are shorter than objects may be.
#[test]
fn an_object_that_is_too_long_for_its_note_has_another_way() {
    let mut answers = cluster(3, "web:1");
    let mut long =
        status(422, "ConfigMap \"m\" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes");
    long["details"] =
        json!({"causes": [{"reason": "FieldValueTooLong", "message": "Too long", "field": "metadata.annotations"}]});
    answers.insert("POST /api/v1/namespaces/prod/configmaps".into(), Answer::Json(422, long));
    let server = Server::new(answers);
    let folder = folder(&server, &[("m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n")]);
    let err = run(&folder, &["-f", "m.yaml", "--apply"]).failed(2);
    assert!(err.contains("it is too long for that; `--server-side` sends it without") && err.contains("422"), "{err}");
}

#[test]
fn a_type_that_a_definition_would_only_add_must_be_applied_first() {
    let mut answers = with_definitions();
    let mut there = definition();
    there["metadata"]["resourceVersion"] = json!("1");
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com";
    answers.insert(format!("GET {path}"), Answer::Json(200, there));
    let server = Server::new(answers);
    let folder = folder(
        &server,
        &[("all.yaml", &format!("{}\n---\n{}\n", thing("v1"), definition())), ("old.yaml", &thing("v0"))],
    );
    let err = run(&folder, &["-f", "all.yaml", "--apply"]).failed(2);
    assert!(err.contains("the cluster must know `example.com/v1`; apply customresourcedefinition"), "{err}");
    let err = run(&folder, &["-f", "all.yaml", "-f", "old.yaml"]).failed(2);
    assert!(err.contains("the cluster must know `example.com/v0`, but it does not"), "{err}");
}

#[test]
fn a_status_that_is_written_meanwhile_is_no_conflict() {
    let first = live(&deployment(3, "web:1"), 3, "web:1");
    let sent = |now: Value| {
        let mut answers = cluster(3, "web:1");
        answers.insert(format!("GET {WEB}"), Answer::First(vec![wire(200, &first)], Box::new(Answer::Json(200, now))));
        let stale = wire(409, &status(409, "the object has been modified"));
        answers.insert(format!("PATCH {WEB}"), Answer::First(vec![stale], Box::new(Answer::Json(200, json!({})))));
        let server = Server::new(answers);
        let folder = folder(&server, &[("web.yaml", &deployment(3, "web:2").to_string())]);
        let ran = run(&folder, &["-f", "web.yaml", "--apply"]);
        let of: Vec<Value> = server.sent().iter().map(|s| s.1["metadata"]["resourceVersion"].clone()).collect();
        (ran, of)
    };
    let mut now = first.clone();
    now["metadata"]["resourceVersion"] = json!("42");
    now["status"] = json!({"replicas": 2});
    let (ran, of) = sent(now.clone());
    assert_eq!((ran.passed().as_str(), of[1].as_str()), ("prod/deployment.apps/web configured\n", Some("42")));
    now["spec"]["replicas"] = json!(9);
    let (ran, of) = sent(now);
    let err = ran.failed(2);
    assert!(err.contains("it changed in the cluster since it was read; run this again"), "{err}");
    assert_eq!(of.len(), 1);
}
