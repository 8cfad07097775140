//! Sets of objects whose dropped members are pruned, in turns with kubectl.

use std::process::Command;

use serde_json::{Value, json};

use super::kept::LAST_APPLIED;
use super::stand_in::{Refused, StandIn};
use super::{folder, run};
use crate::support::{Folder, Ran, has};

fn map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "prod"}, "data": {"a": value}})
}

fn files(objects: &[Value]) -> String {
    // A file that begins with a brace is no stream to kubectl 1.32.
    objects.iter().map(|object| format!("---\n{object}\n")).collect()
}

/// The flags for the set of this name in a namespace.
const SET: [&str; 4] = ["--prune", "--applyset=web", "-n", "prod"];

/// The same for a set whose parent has no namespace.
const WIDE: [&str; 2] = ["--prune", "--applyset=groups.example.com/web"];

fn live(folder: &Folder, more: &[&str]) -> Ran {
    run(folder, &[&["-f", "all.yaml"], &SET[..], more].concat())
}

/// Applies with kubectl; `KUBECTL` names another one than that of `PATH`.
fn kubectl(folder: &Folder, args: &[&str]) -> Ran {
    let program = std::env::var("KUBECTL").unwrap_or_else(|_| "kubectl".to_owned());
    let mut command = Command::new(program);
    command.args(["apply", "--validate=false", "--kubeconfig"]).arg(folder.path("kubeconfig"));
    command.arg("-f").arg(folder.path("all.yaml")).args(args);
    // What it learns of the server is kept by address, and addresses come again.
    command.arg("--cache-dir").arg(folder.path("cache")).env("KUBECTL_APPLYSET", "true");
    Ran::of(command.output().expect("kubectl runs"))
}

/// What is written to the parent, without who wrote it and when.
fn parent(server: &StandIn) -> Value {
    let found = server.object("Secret", "web").expect("a parent");
    json!({"labels": found["metadata"]["labels"], "annotations": found["metadata"]["annotations"]})
}

#[test]
fn what_the_files_dropped_is_shown_and_goes_with_apply() {
    let server = StandIn::new(&[map("other", "1")]);
    let folder = folder(&server.server, &[("all.yaml", &files(&[map("a", "1"), map("b", "1")]))]);
    let out = live(&folder, &["--apply"]).passed();
    let mut lines: Vec<&str> = out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["prod/configmap/a created", "prod/configmap/b created"]);
    let id = parent(&server)["labels"]["applyset.kubernetes.io/id"].clone();
    assert_eq!(
        server.object("ConfigMap", "a").expect("it")["metadata"]["labels"],
        json!({"applyset.kubernetes.io/part-of": id})
    );
    assert_eq!(
        parent(&server)["annotations"],
        json!({
            "applyset.kubernetes.io/tooling": "kubectl/v1.34.0",
            "applyset.kubernetes.io/contains-group-kinds": "ConfigMap",
            "applyset.kubernetes.io/additional-namespaces": "",
        })
    );
    let sent = server.server.sent().len();
    assert_eq!(live(&folder, &["--apply", "--exit-code"]).passed(), "", "nothing changed");
    assert_eq!(server.server.sent().len(), sent, "nothing is sent");
    folder.write("all.yaml", files(&[map("a", "1")]));
    let shown = live(&folder, &["--exit-code"]);
    assert_eq!(shown.code, Some(1));
    assert!(shown.stdout.contains("--- a/prod/configmap/b\n+++ /dev/null\n"), "{shown:?}");
    assert!(shown.stdout.contains("\n-apiVersion: v1\n-kind: ConfigMap\n-metadata:\n-  name: b\n"), "{shown:?}");
    assert!(live(&folder, &["-o", "results"]).passed().contains("prod/configmap/b: the files dropped it"));
    assert_eq!(server.server.sent().len(), sent, "nothing is sent");
    assert_eq!(live(&folder, &["--apply"]).passed(), "prod/configmap/b pruned\n");
    assert_eq!(server.names("ConfigMap"), ["a", "other"]);
    assert_eq!(live(&folder, &["--apply", "--exit-code"]).passed(), "");
}

/// The kinds and namespaces of a set change, and each tool finds what the other one left.
#[test]
fn kubectl_and_live_take_turns() {
    if !has("kubectl") {
        return;
    }
    let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "prod"}, "spec": {"replicas": 1}});
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}});
    let states = [
        vec![map("a", "1"), web.clone()],
        vec![map("a", "2"), map("b", "1"), role.clone()],
        vec![map("b", "1")],
        vec![map("b", "2"), web],
        vec![map("c", "1"), role],
        vec![map("a", "3")],
    ];
    for way in [&[][..], &["--server-side"]] {
        let mut ends = Vec::new();
        // Which of the two begins, and one that does all by itself.
        for turns in [[true, false], [false, true], [true, true]] {
            let server = StandIn::new(&[map("own", "1")]);
            let folder = folder(&server.server, &[]);
            let mut seen = Vec::new();
            for (at, state) in states.iter().enumerate() {
                folder.write("all.yaml", files(state));
                if turns[at % 2] {
                    let named = if way.is_empty() { &[][..] } else { &["--field-manager", "krm-merge"] };
                    let ran = kubectl(&folder, &[&SET, way, named].concat());
                    assert_eq!(ran.code, Some(0), "{at} {way:?} {turns:?} {ran:?}");
                } else {
                    let ran = live(&folder, &[&["--apply"], way].concat());
                    let is_info = ran.stderr.lines().all(|line| line.starts_with("info: "));
                    assert!(ran.code == Some(0) && is_info, "{at} {way:?} {turns:?} {ran:?}");
                    assert_eq!(live(&folder, &[&["--exit-code"], way].concat()).passed(), "", "{at} {way:?}");
                }
                let mut parent = parent(&server);
                let tooling = parent["annotations"]["applyset.kubernetes.io/tooling"].take();
                assert!(tooling.as_str().is_some_and(|tooling| tooling.starts_with("kubectl/v1.")), "{tooling}");
                let objects = server.objects().into_iter().filter(|object| object["kind"] != "Secret");
                let objects: Vec<Value> = objects
                    .map(|mut object| {
                        let metadata = object["metadata"].as_object_mut().expect("a map");
                        metadata.retain(|name, _| matches!(name.as_str(), "name" | "namespace" | "labels"));
                        object
                    })
                    .collect();
                seen.push((parent, objects));
            }
            ends.push(seen);
        }
        assert_eq!(ends[0], ends[2], "{way:?}");
        assert_eq!(ends[1], ends[2], "{way:?}");
    }
}

/// An object that another set has is not taken over, and none is pruned that left the set.
#[test]
fn another_set_keeps_its_objects() {
    let mut other = map("a", "1");
    other["metadata"]["labels"] = json!({"applyset.kubernetes.io/part-of": "applyset-other-v1"});
    let server = StandIn::new(&[other.clone()]);
    let folder = folder(&server.server, &[("all.yaml", &files(&[map("a", "2")]))]);
    for way in [&[][..], &["--apply"], &["--apply", "--server-side"]] {
        let err = live(&folder, way).failed(2);
        assert!(err.contains("prod/configmap/a: it is a member of another ApplySet, \"applyset-other-v1\""), "{err}");
    }
    assert_eq!(server.server.sent().len(), 0);
    assert_eq!(server.names("Secret").len(), 0);
    // It leaves this set between two runs.
    folder.write("all.yaml", files(&[map("b", "1"), map("c", "1")]));
    let _ = live(&folder, &["--apply"]).passed();
    server.edit("ConfigMap", "c", "other", |object| object["metadata"]["labels"] = other["metadata"]["labels"].clone());
    folder.write("all.yaml", files(&[map("b", "1")]));
    assert_eq!(live(&folder, &["--apply"]).passed(), "");
    assert_eq!(server.names("ConfigMap"), ["a", "b", "c"]);
}

#[test]
fn a_set_that_cannot_be_read_is_refused_in_the_words_of_kubectl() {
    let id = "applyset-x-v1";
    let parent = |labels: Value, annotations: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "web", "namespace": "prod", "labels": labels, "annotations": annotations}});
    let kinds =
        json!({"applyset.kubernetes.io/tooling": "kubectl/v1.34.0", "applyset.kubernetes.io/contains-group-kinds": ""});
    for parent in [
        parent(json!({}), json!({})),
        parent(json!({}), json!({"applyset.kubernetes.io/tooling": "helm/v3.1"})),
        parent(json!({}), kinds.clone()),
        parent(json!({"applyset.kubernetes.io/id": id}), kinds),
    ] {
        let server = StandIn::new(&[parent]);
        let folder = folder(&server.server, &[("all.yaml", &files(&[map("a", "1")]))]);
        let err = live(&folder, &["--apply"]).failed(2);
        let words = err.trim_start_matches("error: ").trim_end().to_owned();
        assert!(words.starts_with("ApplySet parent object \"secrets./web\" "), "{words}");
        assert_eq!(server.server.sent().len(), 0);
        if has("kubectl") {
            let theirs = kubectl(&folder, &SET).failed(1);
            assert_eq!(theirs.trim_start_matches("error: ").trim_end(), words);
        }
    }
}

/// Its definition must allow it, it must be there, and it names the namespaces of its members.
#[test]
fn a_custom_resource_may_be_a_parent() {
    let parent = json!({"apiVersion": "example.com/v1", "kind": "Group", "metadata": {"name": "web"}});
    let definition = |labels: Value| json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "groups.example.com", "labels": labels}});
    let allowed = definition(json!({"applyset.kubernetes.io/is-parent-type": "true"}));
    let mut far = map("far", "1");
    far["metadata"]["namespace"] = json!("other");
    for (objects, want) in [
        (
            vec![definition(json!({})), parent.clone()],
            "resource \"example.com/v1, Resource=groups\" is not permitted as an ApplySet parent",
        ),
        (vec![allowed.clone()], "custom resource ApplySet parents cannot be created automatically"),
    ] {
        let server = StandIn::new(&objects);
        let folder = folder(&server.server, &[("all.yaml", &files(&[map("a", "1")]))]);
        let err = run(&folder, &[&["-f", "all.yaml"], &WIDE[..]].concat()).failed(2);
        assert!(err.contains(want), "{err}");
        if has("kubectl") {
            assert!(kubectl(&folder, &WIDE).failed(1).contains(want));
        }
    }
    let mut parent = parent;
    parent["metadata"]["labels"] =
        json!({"applyset.kubernetes.io/id": "applyset-KiwBVx0JTVj1d146i6t2yeSk2PCySEgiL4SxCu8DNgw-v1"});
    parent["metadata"]["annotations"] =
        json!({"applyset.kubernetes.io/tooling": "kubectl/v1.30.0", "applyset.kubernetes.io/contains-group-kinds": ""});
    let server = StandIn::new(&[allowed, parent]);
    let folder = folder(&server.server, &[]);
    let annotations = || server.object("Group", "web").expect("it")["metadata"]["annotations"].clone();
    let namespaces = || annotations()["applyset.kubernetes.io/additional-namespaces"].clone();
    for by_kubectl in [false, has("kubectl")] {
        for (objects, want, left) in [
            (vec![map("a", "1"), far.clone()], "other,prod", vec!["far", "a"]),
            (vec![map("a", "1")], "prod", vec!["a"]),
        ] {
            folder.write("all.yaml", files(&objects));
            let ran = match by_kubectl {
                true => kubectl(&folder, &WIDE),
                false => run(&folder, &[&["-f", "all.yaml", "--apply"], &WIDE[..]].concat()),
            };
            assert_eq!((ran.code, namespaces()), (Some(0), json!(want)), "{by_kubectl} {ran:?}");
            assert_eq!(server.names("ConfigMap"), left, "{by_kubectl} {ran:?}");
        }
    }
    assert_eq!(annotations()["applyset.kubernetes.io/contains-group-kinds"], "ConfigMap");
}

/// The set is written before its members, so the parent changes between the merge and its own turn.
#[test]
fn a_parent_may_be_among_the_files() {
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}});
    let parent = |value: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "web", "namespace": "prod", "labels": {"own": value}}});
    for way in [&[][..], &["--server-side"]] {
        let mut ends = Vec::new();
        for by_kubectl in [false, true] {
            if by_kubectl && !has("kubectl") {
                continue;
            }
            let server = StandIn::new(&[]);
            let folder = folder(&server.server, &[]);
            for (objects, members) in [
                (vec![parent("1"), map("a", "1")], vec!["a"]),
                (vec![parent("2"), map("a", "1"), role.clone()], vec!["a"]),
                (vec![parent("3"), map("b", "1")], vec!["b"]),
            ] {
                folder.write("all.yaml", files(&objects));
                let ran = match by_kubectl {
                    true => kubectl(&folder, &[&SET, way, &["--field-manager", "krm-merge"]].concat()),
                    false => live(&folder, &[&["--apply"], way].concat()),
                };
                assert_eq!(ran.code, Some(0), "{way:?} {by_kubectl} {objects:?} {ran:?}");
                assert_eq!(server.names("ConfigMap"), members, "{way:?} {by_kubectl} {ran:?}");
                let mut found = server.object("Secret", "web").expect("it");
                assert_eq!(found["metadata"]["labels"]["own"], objects[0]["metadata"]["labels"]["own"]);
                let tooling = found["metadata"]["annotations"]["applyset.kubernetes.io/tooling"].take();
                assert!(tooling.is_string(), "{way:?} {by_kubectl} {found}");
                found["metadata"]["annotations"].as_object_mut().expect("a map").remove(LAST_APPLIED);
                ends.push(json!([found["metadata"]["annotations"], found["metadata"]["labels"]]));
                if !by_kubectl {
                    let again = live(&folder, &[&["--apply", "--exit-code"], way].concat());
                    assert_eq!((again.code, again.stdout.as_str()), (Some(0), ""), "{way:?} {again:?}");
                }
            }
        }
        let (ours, theirs) = ends.split_at(3);
        assert!(theirs.is_empty() || ours == theirs, "{way:?}\n{ours:#?}\n{theirs:#?}");
    }
}

/// A run that cannot prune sends nothing, and one that is interrupted forgets no member.
#[test]
fn what_was_not_pruned_is_found_again() {
    for refused in [Refused::DryRuns, Refused::Real] {
        let refuses_dry_runs = refused == Refused::DryRuns;
        let server = StandIn::new(&[]);
        let folder = folder(
            &server.server,
            &[(
                "all.yaml",
                &files(&[
                    map("a", "1"),
                    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}}),
                ]),
            )],
        );
        let _ = live(&folder, &["--apply"]).passed();
        folder.write("all.yaml", files(&[map("a", "2")]));
        server.refuse(Some(refused));
        let err = live(&folder, &["--apply"]).failed(2);
        assert!(err.contains("clusterrole.rbac.authorization.k8s.io/r") && err.contains("403"), "{err}");
        assert_eq!(err.contains("nothing was sent"), refuses_dry_runs, "{err}");
        assert_eq!(err.contains("of 1 members to prune: 0 gone, 1 left, 0 unknown"), !refuses_dry_runs, "{err}");
        let is_sent = server.object("ConfigMap", "a").expect("it")["data"]["a"] == "2";
        assert_eq!(is_sent, !refuses_dry_runs);
        let kinds = &parent(&server)["annotations"]["applyset.kubernetes.io/contains-group-kinds"];
        assert_eq!(kinds, "ClusterRole.rbac.authorization.k8s.io,ConfigMap");
        server.refuse(None);
        assert!(live(&folder, &["--apply"]).passed().ends_with("clusterrole.rbac.authorization.k8s.io/r pruned\n"));
        let kinds = &parent(&server)["annotations"]["applyset.kubernetes.io/contains-group-kinds"];
        assert_eq!(kinds, "ConfigMap");
    }
}

#[test]
fn flags_that_make_no_sense_together_are_refused() {
    let server = StandIn::new(&[]);
    let folder = folder(&server.server, &[("all.yaml", &files(&[map("a", "1")]))]);
    for (args, want) in [
        (&["--prune"][..], "--applyset"),
        (&["--applyset=web"], "--prune"),
        (&["--prune", "--applyset=web", "-l", "a=b"], "--selector"),
        (&["--prune", "--applyset=web", "--adopt"], "--adopt"),
        (&["--prune", "--applyset=web"], "namespace is required to use namespace-scoped ApplySet"),
        (
            &["--prune", "--applyset=secrets/", "-n", "prod"],
            "invalid parent reference \"secrets/\": name cannot be blank",
        ),
        (
            &["--prune", "--applyset=secrets/../a", "-n", "prod"],
            "`metadata.name` must be a name that can stand in a URL",
        ),
        (&["--prune", "--applyset=nothing/a", "-n", "prod"], "the cluster must have a resource \"nothing\""),
    ] {
        let err = run(&folder, &[&["-f", "all.yaml"], args].concat()).failed(2);
        assert!(err.contains(want), "{args:?} {err}");
    }
    let mut labelled = map("a", "1");
    labelled["metadata"]["labels"] = json!({"applyset.kubernetes.io/part-of": "x"});
    folder.write("all.yaml", files(&[labelled]));
    let err = live(&folder, &[]).failed(2);
    assert!(err.contains("ApplySet label \"applyset.kubernetes.io/part-of\" already set in input data"), "{err}");
}
