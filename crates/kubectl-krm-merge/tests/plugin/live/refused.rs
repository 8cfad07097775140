//! What is refused before anything is asked for or sent, and what is told of it.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Answer, Answers, Server, WEB, cluster, deployment, folder, live, run, secret, status, types};
use crate::support::Ran;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn map(metadata: Value) -> String {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "x"}}).to_string()
}

#[test]
fn names_that_would_lead_elsewhere_are_refused() {
    let server = Server::new(cluster(3, "web:1"));
    for (metadata, want) in [
        (json!({"name": "m/status"}), "`metadata.name` must be a name that can stand in a URL, not \"m/status\""),
        (json!({"name": ".."}), "not \"..\""),
        (json!({"name": "m?dryRun=All"}), "not \"m?dryRun=All\""),
        (json!({"name": "m%2fx"}), "not \"m%2fx\""),
        (json!({"name": "a b\u{e9}"}), "`metadata.name`"),
        (json!({"name": "m", "namespace": "../kube-system"}), "`metadata.namespace` must be a name"),
        (json!({"name": "m", "namespace": 5}), "`metadata.namespace` must be a text, not 5"),
        (json!({"name": 5}), "`metadata.name`"),
        (json!({"name": false}), "`metadata.name` must be a text, not false"),
        (json!({"name": ""}), "`metadata.name`"),
        (json!({"generateName": "m-"}), "the resource must have `metadata.name`"),
    ] {
        let folder = folder(&server, &[("m.yaml", &map(metadata))]);
        let err = run(&folder, &["-f", "m.yaml", "--apply"]).failed(2);
        assert!(err.contains("m.yaml:1:1: ") && err.contains(want), "{want}\n{err}");
    }
    let elsewhere = map(json!({"name": "m"})).replace("\"v1\"", "\"apps/v1/../../v1\"");
    let err = run(&folder(&server, &[("m.yaml", &elsewhere)]), &["-f", "m.yaml"]).failed(2);
    assert!(err.contains("`apiVersion` must be a name"), "{err}");
    assert!(server.asked().iter().all(|a| a.line == "GET /api/v1"), "{:?}", server.asked());
    // What names of the cluster may hold.
    let odd = map(json!({"name": "system:node-1.a_b~", "namespace": ""}));
    let out = run(&folder(&server, &[("m.yaml", &odd)]), &["-f", "m.yaml"]).passed();
    assert!(out.contains("+++ b/prod/configmap/system:node-1.a_b~\n"), "{out}");
}

#[test]
fn another_namespace_than_the_one_that_is_asked_for_is_an_error() {
    let server = Server::new(cluster(3, "web:1"));
    let files = [
        ("dev.yaml", map(json!({"name": "m", "namespace": "dev"}))),
        ("none.yaml", map(json!({"name": "m"}))),
        ("space.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: space}\n".to_owned()),
    ];
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let folder = folder(&server, &files);
    let err = run(&folder, &["-f", "dev.yaml", "-n", "prod"]).failed(2);
    assert!(
        err.contains("dev.yaml:1:1: `metadata.namespace` must be the one that `-n` says, \"prod\", not \"dev\""),
        "{err}"
    );
    assert!(run(&folder, &["-f", "dev.yaml", "-n", "dev"]).passed().contains("b/dev/configmap/m\n"));
    // The kubeconfig's is only for those that say none.
    assert!(run(&folder, &["-f", "dev.yaml"]).passed().contains("b/dev/configmap/m\n"));
    assert!(
        run(&folder, &["-f", "none.yaml", "-f", "space.yaml", "-n", "dev"]).passed().contains("b/dev/configmap/m\n")
    );
}

fn with_web(change: impl Fn(&mut Value)) -> Server {
    let mut web = live(&deployment(3, "web:1"), 3, "web:1");
    change(&mut web);
    let mut answers = cluster(3, "web:1");
    answers.insert(format!("GET {WEB}"), Answer::Json(200, web));
    Server::new(answers)
}

#[test]
fn an_annotation_that_is_not_what_was_applied_is_told_and_replaced() {
    let other =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "old"}, "spec": {"paused": true}});
    for annotation in ["{broken", "null", "[]", "", &other.to_string()] {
        let server = with_web(|web| web["metadata"]["annotations"][LAST_APPLIED] = annotation.into());
        let folder = folder(&server, &[("web.yaml", &deployment(4, "web:1").to_string())]);
        let ran = run(&folder, &["-f", "web.yaml", "--apply"]);
        let warning = format!(
            "warning: prod/deployment.apps/web: its annotation `{LAST_APPLIED}` does not hold a resource, so krm-merge cannot detect"
        );
        assert!(ran.stderr.starts_with(&warning), "{ran:?}");
        assert_eq!(ran.passed(), "prod/deployment.apps/web configured\n");
        let patch = &server.sent()[1].1;
        assert_eq!(patch["spec"], json!({"replicas": 4}));
        assert!(patch["metadata"]["annotations"][LAST_APPLIED].as_str().expect("noted").contains("\"web\""));
    }
    // It was applied under a version that is gone.
    let mut old = deployment(3, "web:1");
    old["apiVersion"] = json!("extensions/v1beta1");
    let server = with_web(|web| web["metadata"]["annotations"][LAST_APPLIED] = old.to_string().into());
    let folder = folder(&server, &[("web.yaml", &deployment(4, "web:1").to_string())]);
    let ran = run(&folder, &["-f", "web.yaml"]);
    assert!(
        ran.stderr.is_empty() && !ran.stdout.contains("conflict") && ran.stdout.contains("+  replicas: 4\n"),
        "{ran:?}"
    );
}

#[test]
fn an_object_that_is_being_deleted_is_told() {
    let server = with_web(|web| web["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z".into());
    let folder = folder(&server, &[("web.yaml", &deployment(4, "web:1").to_string())]);
    let ran = run(&folder, &["-f", "web.yaml"]);
    assert_eq!(
        ran.stderr,
        "warning: prod/deployment.apps/web: it is being deleted since 2026-01-02T03:04:05Z, and changes to it are lost\n"
    );
    assert!(!ran.stdout.contains("deletionTimestamp"), "{ran:?}");
}

#[test]
fn annotations_that_are_none_are_the_server_s_to_refuse() {
    let mut web = deployment(3, "web:2");
    for annotations in [json!([]), json!("x"), json!(5)] {
        web["metadata"]["annotations"] = annotations.clone();
        let server = Server::new(cluster(3, "web:1"));
        let new = map(json!({"name": "m", "annotations": annotations}));
        let folder = folder(&server, &[("all.yaml", &format!("{web}\n---\n{new}"))]);
        let _ = run(&folder, &["-f", "all.yaml", "--apply"]).passed();
        let sent = server.sent();
        let to_web = sent.iter().find(|s| s.0.starts_with("PATCH")).expect("sent");
        let to_map = sent.iter().find(|s| s.0.starts_with("POST")).expect("sent");
        assert_eq!(
            (&to_web.1["metadata"]["annotations"], &to_map.1["metadata"]["annotations"]),
            (&annotations, &annotations)
        );
    }
}

#[test]
fn words_of_the_server_that_may_hold_a_secret_are_not_shown() {
    let path = "/api/v1/namespaces/prod/secrets";
    let words = "\"\" is invalid: patch: Invalid value: \"{\\\"data\\\":{\\\"a\\\":\\\"U0VDUkVU\\\"},\\\"x\\\":\\\"SECRET\\\"}\": json: no";
    let mut refusal = status(422, words);
    refusal["details"] = json!({"causes": [{"field": "patch", "message": "Invalid value: \"SECRET\""}]});
    let file = secret(json!({"stringData": {"a": "SECRET"}}));
    for code in [400, 422, 500] {
        for exists in [true, false] {
            let mut answers = Answers::from([
                ("GET /api/v1".to_owned(), types(&[("Secret", "secrets", true)])),
                (format!("POST {path}"), Answer::Json(code, refusal.clone())),
                (format!("PATCH {path}/s"), Answer::Json(code, refusal.clone())),
            ]);
            if exists {
                answers.insert(format!("GET {path}/s"), Answer::Json(200, secret(json!({"data": {"a": "b2xk"}}))));
            }
            let server = Server::new(answers);
            let ran = run(&folder(&server, &[("s.yaml", &file.to_string())]), &["-f", "s.yaml", "--apply"]);
            assert!(!format!("{ran:?}").contains("SECRET") && !format!("{ran:?}").contains("U0VDUkVU"), "{ran:?}");
            let err = ran.failed(2);
            assert!(
                err.contains(&format!("{code} patch: its message is not shown")) && err.contains("nothing was sent"),
                "{err}"
            );
        }
    }
    // Others are told in full.
    let forbidden = status(403, "secrets is forbidden: User \"u\" cannot create");
    let server = Server::new(BTreeMap::from([
        ("GET /api/v1".to_owned(), types(&[("Secret", "secrets", true)])),
        (format!("POST {path}"), Answer::Json(403, forbidden)),
    ]));
    let err = run(&folder(&server, &[("s.yaml", &file.to_string())]), &["-f", "s.yaml", "--apply"]).failed(2);
    assert!(err.contains("User \"u\" cannot create"), "{err}");
}

#[test]
fn a_credential_must_come_in_time() {
    let server = Server::new(cluster(3, "web:1"));
    let folder = folder(&server, &[("web.yaml", &deployment(3, "web:2").to_string())]);
    for (name, text) in [("sleeps", "sleep 60"), ("closes", "exec >&-; sleep 60"), ("prints", "yes")] {
        folder.write(name, format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(0o755)).expect("set");
    }
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().expect("runs").success());
    let exec = |name: &str| json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": format!("./{name}"), "interactiveMode": "Never"}});
    let late = "within 1 seconds (`--timeout`)";
    for (user, want) in [
        (exec("sleeps"), late),
        (exec("closes"), late),
        (exec("prints"), "/prints, failed with"),
        (json!({"tokenFile": "pipe"}), late),
        (json!({"tokenFile": "/dev/zero"}), "`tokenFile` /dev/zero of the user must be a token"),
    ] {
        let mut kubeconfig: Value = serde_json::from_str(&folder.read("kubeconfig")).expect("JSON");
        kubeconfig["users"][0]["user"] = user;
        folder.write("other", kubeconfig.to_string());
        let mut command = folder.command(&["live", "-f", "web.yaml", "--timeout", "1"]);
        let started = Instant::now();
        let err = Ran::of(command.env("KUBECONFIG", folder.path("other")).output().expect("runs")).failed(2);
        assert!(err.contains(want), "{want}\n{err}");
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }
    assert!(server.asked().is_empty());
}

#[test]
fn a_kubeconfig_s_users_are_asked_for_and_not_shown() {
    let server = Server::new(cluster(3, "web:1"));
    let folder = folder(&server, &[("web.yaml", &deployment(3, "web:2").to_string()), ("token", "t")]);
    let script = |name: &str, text: &str| {
        folder.write(name, format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(0o755)).expect("set");
    };
    let credential = |status: &str| {
        format!(
            "echo '{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{status}'"
        )
    };
    script("good", &credential("{\"token\":\"TOKEN\"}}"));
    script("fails", &format!("{}; echo TOKEN >&2; exit 3", credential("{\"token\":\"TOKEN\"}}")));
    script("ends-with-a-break", &credential("{\"token\":\"TOKEN\\\\n\"}}"));
    script("expires", &credential("{\"token\":\"TOKEN\\\\n\",\"expirationTimestamp\":\"2999-01-01T00:00:00Z\"}}"));
    script("is-two-lines", &credential("{\"token\":\"TOKEN\\\\nTOKEN\"}}"));
    script("says-nothing", &credential("{}}"));
    folder.write("token-with-break", "TOKEN\n");
    folder.write("token-of-two-lines", "TOKEN\nTOKEN\n");
    folder.write("empty", "\n");
    script("garbled", &credential("\"TOKEN\"}"));
    script("cut", &credential("{\"token\":\"TOKEN\""));
    let with = |user: Value, extra: Value| {
        let mut kubeconfig: Value = serde_json::from_str(&folder.read("kubeconfig")).expect("JSON");
        kubeconfig["users"][0]["user"] = user;
        extra
            .as_object()
            .expect("a map")
            .iter()
            .for_each(|(name, value)| kubeconfig["clusters"][0]["cluster"][name] = value.clone());
        folder.write("other", kubeconfig.to_string());
        let mut command = folder.command(&["live", "-f", "web.yaml", "--timeout", "5"]);
        Ran::of(command.env("KUBECONFIG", folder.path("other")).output().expect("runs"))
    };
    let exec = |command: &str| json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": format!("./{command}"), "interactiveMode": "Never"}});
    for fine in [
        exec("good"),
        exec("ends-with-a-break"),
        exec("expires"),
        json!({"tokenFile": "token"}),
        json!({"tokenFile": "token-with-break"}),
        json!({"token": "TOKEN\n"}),
        json!({"token": "\n", "tokenFile": "token"}),
        json!({"auth-provider": {"name": "oidc", "config": {"id-token": "TOKEN\n"}}}),
        json!({"username": "a", "password": "b"}),
        json!({}),
    ] {
        let is_token = fine.to_string().contains("TOKEN") || fine.get("exec").is_some();
        assert!(with(fine, json!({})).passed().contains("web:2"));
        let asked = server.asked().pop().expect("asked");
        assert!(!is_token || asked.user == "Bearer TOKEN", "{asked:?}");
    }
    for (user, want) in [
        (
            exec("fails"),
            "/fails, failed with exit status: 3; its output is not shown, because it may hold a secret. Run it",
        ),
        (exec("none"), "/none, must be one that can be run"),
        (exec("is-two-lines"), "`status.token` that `exec` prints of the user must be a token, which is one line"),
        (exec("says-nothing"), "must print an ExecCredential with a `token`"),
        (exec("bad\u{1b}[2J\u{202e}"), "bad\\u001b[2J\\u202e\", must be one that can be run"),
        (json!({"token": "TOKEN\nTOKEN"}), "`token` of the user must be a token, which is one line"),
        (json!({"tokenFile": "token-of-two-lines"}), "token-of-two-lines of the user must be a token"),
        (json!({"tokenFile": "empty"}), "empty of the user must be a token"),
        (
            json!({"auth-provider": {"name": "gcp", "config": {"cmd-path": "echo"}}}),
            "`auth-provider` must be `oidc`, not \"gcp\"",
        ),
        (exec("garbled"), "must print an ExecCredential"),
        (exec("cut"), "must print an ExecCredential"),
        (json!("TOKEN"), "it must be a kubeconfig, which it is not at 1:"),
        (json!({"token": ["TOKEN"]}), "it must be a kubeconfig, which it is not at 1:"),
        (json!({"client-certificate-data": "TOKEN", "client-key-data": "TOKEN"}), "kubeconfig"),
        (json!({"client-certificate": "none.pem", "client-key": "none.pem"}), "none.pem"),
    ] {
        let err = with(user, json!({})).failed(2);
        assert!(err.contains(want) && !err.contains("TOKEN"), "{want}\n{err}");
    }
    // A proxy is asked for the way to the cluster.
    let proxy = json!({"proxy-url": format!("http://127.0.0.1:{}", server.port), "server": "https://192.0.2.1:6443"});
    let err = with(json!({}), proxy).failed(2);
    assert!(err.contains("tunnel"), "{err}");
    assert!(server.asked().iter().any(|a| a.line == "CONNECT 192.0.2.1:6443"), "{:?}", server.asked());
    // As for kubectl, a password may have a bare `@`.
    let proxy = format!("http://me:p@ss%3A@127.0.0.1:{}", server.port);
    let err = with(json!({}), json!({"proxy-url": proxy, "server": "https://192.0.2.1:6443"})).failed(2);
    assert!(err.contains(&format!("(through the proxy http://127.0.0.1:{}/)", server.port)), "{err}");
    assert_eq!(server.asked().pop().expect("asked").user, "Basic bWU6cEBzczo=");
    // Its password is told to the proxy, and to nobody else.
    for (proxy, want) in [
        ("socks5://user:PASSWORD@127.0.0.1:1", "SOCKS error"),
        (
            "ftp://user:PASSWORD@127.0.0.1:1",
            "`proxy-url` must begin with `http://`, `https://` or `socks5://`, not \"ftp\"",
        ),
        ("http://user:PASSWORD@127.0.0.1:1", "cannot be asked"),
        ("http://user:PASSWORD@[", "kubeconfig"),
        ("//user:PASSWORD@127.0.0.1:1", "`proxy-url` must begin with"),
        ("user:PASSWORD@127.0.0.1:1", "proxy"),
    ] {
        let ran = with(json!({}), json!({"proxy-url": proxy, "server": "https://user:PASSWORD@192.0.2.1:6443"}));
        assert!(!format!("{ran:?}").contains("PASSWORD"), "{ran:?}");
        let err = ran.failed(2);
        assert!(err.contains(want), "{want}\n{err}");
    }
}

#[test]
fn a_timeout_of_any_length_is_waited_for_or_refused() {
    let server = Server::new(cluster(3, "web:1"));
    let folder = folder(&server, &[("web.yaml", &deployment(3, "web:2").to_string())]);
    assert!(run(&folder, &["-f", "web.yaml", "--timeout", "31536000"]).passed().contains("web:2"));
    for timeout in ["31536001", "18446744073709551615", "99999999999999999999", "0", "-1"] {
        let err = run(&folder, &["-f", "web.yaml", &format!("--timeout={timeout}")]).failed(2);
        assert!(err.contains(timeout) && err.contains("--timeout <SECONDS>"), "{err}");
    }
    assert!(run(&folder, &["--help"]).passed().contains("at most 31536000, a year"));
}

/// The default kubeconfig is read by another way, on which its text must not be shown either.
#[test]
fn a_kubeconfig_that_is_none_is_not_shown_wherever_it_lies() {
    let server = Server::new(cluster(3, "web:1"));
    let folder = folder(&server, &[("web.yaml", &deployment(3, "web:2").to_string())]);
    folder.write(".kube/config", "users:\n- name: u\n  user: {token: [TOKEN]}\n");
    let mut command = folder.command(&["live", "-f", "web.yaml"]);
    let ran = Ran::of(command.env_remove("KUBECONFIG").env("HOME", &folder.0).output().expect("runs"));
    assert!(!format!("{ran:?}").contains("TOKEN"), "{ran:?}");
    let err = ran.failed(2);
    assert!(err.contains("it must be a kubeconfig, which it is not at 3:"), "{err}");
}
