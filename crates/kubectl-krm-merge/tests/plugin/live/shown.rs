//! Nothing of a cluster, of a kubeconfig or of its command reaches a terminal as anything but what it looks like.

use serde_json::{Value, json};

use super::{Answer, Answers, Server, cluster, folder, run, status, types};
use crate::shown::{ODD, ascii, check_all, odd};
use crate::support::{Folder, Ran};

const THING: &str = "/apis/example.com/v1/namespaces/prod/things/t";

fn thing(values: [&str; 2], fields: Value) -> Value {
    let data = json!({odd("a"): values[0], odd("b"): values[1], "lines": format!("x\n{ODD}\n")});
    let mut thing = json!({"apiVersion": "example.com/v1", "kind": odd("Thing"), "metadata": {"name": "t", "namespace": "prod"}, "data": data});
    fields.as_object().expect("a map").iter().for_each(|(name, value)| thing["metadata"][name] = value.clone());
    thing
}

/// A cluster in which someone changed both fields since they were applied.
fn odd_cluster() -> Answers {
    let applied = thing(["1", "1"], json!({})).to_string();
    let annotations = json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
    let metadata = json!({"resourceVersion": "1", "annotations": annotations, "deletionTimestamp": odd("since")});
    let mut answers = cluster(3, "web:1");
    answers.insert("GET /apis/example.com/v1".into(), types(&[(&odd("Thing"), "things", true)]));
    answers.insert(format!("GET {THING}"), Answer::Json(200, thing([&odd("mine"), &odd("drift")], metadata)));
    answers.insert(format!("PATCH {THING}"), Answer::Json(200, json!({})));
    answers
}

/// The files; one field is in conflict.
fn files(server: &Server) -> Folder {
    folder(server, &[("t.yaml", &ascii(&thing([&odd("theirs"), "1"], json!({}))))])
}

#[test]
fn no_format_prints_what_misleads() {
    let server = Server::new(odd_cluster());
    let folder = files(&server);
    for more in [&["-o", "name"][..], &["-o", "json"], &["-o", "results"], &["--apply"], &["--apply", "-o", "name"]] {
        let ran = run(&folder, &[&["-f", "t.yaml"], more].concat());
        check_all(&ran);
        assert!(ran.stderr.contains("is being deleted since since\\u0001") && ran.stdout.len() > 10, "{ran:?}");
        let _ = ran.passed();
    }
    check_all(&run(&folder, &["-f", "t.yaml", "--on-conflict", "fail"]));
    // Lines of the object are data; all others are not.
    let out = run(&folder, &["-f", "t.yaml"]).passed();
    for told in [
        "changed in the cluster: prod/\"thing\\u0001",
        "\n  live:     \"drift\\u0001",
        "conflict: \"Thing\\u0001",
        "\n  dest:     \"mine\\u0001",
    ] {
        assert!(out.contains(told), "{told}\n{out:?}");
    }
    for line in out.lines().filter(|l| !l.starts_with(['-', '+', ' ']) || l.contains(":     ") || l.contains(":  ")) {
        check_all(&Ran { code: None, stdout: line.to_owned(), stderr: String::new() });
    }
    let merged: Value = serde_json::from_str(&run(&folder, &["-f", "t.yaml", "-o", "json"]).passed()).expect("JSON");
    assert_eq!((&merged["kind"], &merged["data"][odd("a")]), (&json!(odd("Thing")), &json!(odd("theirs"))));
}

#[test]
fn no_error_tells_what_misleads() {
    let words = odd("words");
    for (request, answer) in [
        (format!("GET {THING}"), Answer::Json(403, status(403, &words))),
        (format!("GET {THING}"), Answer::Json(200, json!({"apiVersion": words}))),
        ("GET /apis/example.com/v1".into(), types(&[(&odd("Other"), "things", true)])),
        ("GET /apis/example.com/v1".into(), types(&[(&odd("Thing"), &words, true)])),
        (format!("PATCH {THING} dry"), Answer::Json(422, status(422, &words))),
        (format!("PATCH {THING}"), Answer::Json(500, status(500, &words))),
        (format!("GET {THING}"), Answer::Json(200, Value::Null)),
    ] {
        let mut answers = odd_cluster();
        answers.insert(request, answer);
        let ran = run(&files(&Server::new(answers)), &["-f", "t.yaml", "--apply"]);
        check_all(&ran);
        assert!(ran.failed(2).len() > 20);
    }
    let server = Server::new(odd_cluster());
    let folder = files(&server);
    let argument = odd("argument");
    for args in [["-f", "t.yaml", "--context", &argument], ["-f", "t.yaml", "-n", &argument]] {
        let ran = run(&folder, &args);
        check_all(&ran);
        let _ = ran.failed(2);
    }
    for (field, value) in [("name", words.as_str()), ("namespace", &words)] {
        let map = ascii(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", field: value}}));
        let ran = run(&super::folder(&server, &[("m.yaml", &map)]), &["-f", "m.yaml"]);
        check_all(&ran);
        let _ = ran.failed(2);
    }
}

/// What a command asks reaches whoever can answer it, and nobody else.
#[cfg(unix)]
#[test]
fn what_a_command_says_is_shown_at_a_terminal_only() {
    use std::os::unix::fs::PermissionsExt;
    let server = Server::new(odd_cluster());
    let folder = files(&server);
    let says = "printf 'login at \\033[31mexample.com\\302\\233: ' >&2; sleep 0.1; echo SAID >&2";
    let credential =
        "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\"}}";
    folder.write("login", format!("#!/bin/sh\n{says}\necho \"$KUBERNETES_EXEC_INFO\" >> asked\necho '{credential}'\n"));
    std::fs::set_permissions(folder.path("login"), std::fs::Permissions::from_mode(0o755)).expect("set");
    let mut kubeconfig: Value = serde_json::from_str(&folder.read("kubeconfig")).expect("JSON");
    kubeconfig["users"][0]["user"] = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./login", "interactiveMode": "IfAvailable"}});
    folder.write("kubeconfig", kubeconfig.to_string());
    let ran = run(&folder, &["-f", "t.yaml", "-o", "name"]);
    assert!(!ran.stderr.contains("SAID") && folder.read("asked").contains("\"interactive\":false"), "{ran:?}");
    let _ = ran.passed();
    if !crate::support::has("script") {
        return;
    }
    let words = format!("'{}' live -f t.yaml -o name", crate::support::PLUGIN);
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &words, "/dev/null"]).current_dir(&folder.0).env("KUBECONFIG", folder.path("kubeconfig"));
    let ran = Ran::of(command.output().expect("runs"));
    assert!(ran.stdout.contains("login at \\u001b[31mexample.com\\u009b: SAID\r\n"), "{ran:?}");
    // Once, and once without a terminal.
    let asked = folder.read("asked");
    assert_eq!(asked.lines().map(|l| l.contains("\"interactive\":true")).collect::<Vec<_>>(), [false, true], "{asked}");
}
