//! `strategic`: directives, targets and types of the user's own, from the command line.

use std::process::Command;

use serde_json::Value;

use crate::support::{Folder, Ran, has};

const WEB: &str = "\
# Copyright someone

apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {tier: front}
spec:
  template:
    spec:
      containers:
      - name: app
        image: web:1   # pinned
      - name: sidecar
        image: s:1
";
const API: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: api\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n        image: api:1\n";

fn package() -> Folder {
    let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      containers:\n      - name: sidecar\n        $patch: delete\n      - name: app\n        image: web:2\n";
    Folder::with(&[("here/web.yaml", WEB), ("here/sub/api.yaml", API), ("patch.yaml", patch)])
}

#[test]
fn directives_are_carried_out_and_nothing_else_changes() {
    let folder = package();
    folder.run(&["strategic", "--patch", "patch.yaml", "--dest", "here", "--in-place"]).passed();
    let want = WEB.replace("web:1", "web:2").replace("      - name: sidecar\n        image: s:1\n", "");
    assert_eq!(folder.read("here/web.yaml"), want);
    assert_eq!(folder.read("here/sub/api.yaml"), API);
}

#[test]
fn a_target_is_every_resource_that_it_selects() {
    let patch = "spec:\n  replicas: 3\n";
    for (target, web, api) in [
        ("kind=Deployment", true, true),
        ("kind=Deployment,name=a.*", false, true),
        ("group=apps,version=v1,labelSelector=tier=front,tier notin (back,middle)", true, false),
    ] {
        let folder = package();
        folder.run(&["strategic", "-p", patch, "--target", target, "-d", "here", "-i"]).passed();
        let with = |text: &str, is: bool| if is { format!("{text}  replicas: 3\n") } else { text.to_owned() };
        assert_eq!(folder.read("here/web.yaml"), with(WEB, web), "{target}");
        assert_eq!(folder.read("here/sub/api.yaml"), with(API, api), "{target}");
    }
    let folder = package();
    for (args, want) in [
        (["-p", patch, "--target", "kind=Job"], "no resource matches `kind: Job`"),
        (["-p", patch, "--target", "Deployment"], "`--target` must be fields"),
        (
            ["-p", patch, "--target", "kin=Deployment"],
            "labelSelector`, `annotationSelector`, `path`, not `kin` as in \"kin=Deployment\"",
        ),
        (["-p", "[{op: replace, path: /none, value: 1}]", "--target", "kind=Deployment"], "`/none` must be there"),
        (["-p", "spec: {$patch: x}", "--target", "kind=Deployment"], "`$patch` must be"),
        (["-p", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: none}\n", "-d", "here"], "none"),
    ] {
        let before = folder.files("");
        let args: Vec<&str> = ["strategic", "-i"].into_iter().chain(args).collect();
        let args = if args.contains(&"-d") { args } else { [args, vec!["-d", "here"]].concat() };
        let err = folder.run(&args).failed(2);
        assert!(err.contains(want), "{err}");
        assert_eq!(folder.files(""), before);
    }
}

#[test]
fn a_patch_may_be_a_list_of_edits_or_a_json_patch() {
    for edits in [
        "[{set: spec.replicas, value: 3}]",
        "[{op: add, path: /spec/replicas, value: 3}]",
        "- {set: spec.replicas, value: 3}\n",
    ] {
        for file in [false, true] {
            let folder = package();
            folder.write("edits.yaml", edits);
            let patch = if file { "edits.yaml" } else { edits };
            let patch = format!("--patch={patch}");
            folder.run(&["strategic", &patch, "--target", "name=web", "-d", "here", "-i"]).passed();
            assert_eq!(folder.read("here/web.yaml"), format!("{WEB}  replicas: 3\n"), "{edits}");
            assert_eq!(folder.read("here/sub/api.yaml"), API);
        }
    }
    let folder = package();
    folder.write("edits.yaml", "- {set: spec.replicas, value: 3}\n");
    for (args, want) in [
        (["-p", "edits.yaml", "-p", "edits.yaml"], "`--target` must be given with a list of edits"),
        (["-p", "edits.yaml", "-p", "patch.yaml"], "`--patch` must be edits or resources, not both in one call"),
    ] {
        let err = folder.run(&[&["strategic", "-d", "here", "-i"][..], &args].concat()).failed(2);
        assert!(err.contains(want), "{err}");
    }
}

#[test]
fn an_openapi_document_names_the_keys_of_further_types() {
    let openapi = r##"{"definitions": {
        "Gateway": {
            "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Gateway"}],
            "properties": {"servers": {"type": "array", "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "host", "items": {"type": "object"}}}
        }}}"##;
    let gateway = |servers: &str| {
        format!("apiVersion: example.com/v1\nkind: Gateway\nmetadata: {{name: g}}\nservers: [{servers}]\n")
    };
    let folder = Folder::with(&[
        ("openapi.json", openapi),
        ("g.yaml", &gateway("{host: a, x: 1}, {host: b}")),
        ("p.yaml", &gateway("{host: a, x: 2}")),
    ]);
    let out = folder.run(&["strategic", "-s", "p.yaml", "-d", "g.yaml", "--openapi", "openapi.json"]).passed();
    assert_eq!(out, gateway("{host: a, x: 2}, {host: b}"));
    assert_eq!(folder.run(&["strategic", "-s", "p.yaml", "-d", "g.yaml"]).passed(), gateway("{host: a, x: 2}"));
}

#[test]
fn it_gives_what_kubectl_patch_gives() {
    if !has("kubectl") {
        return;
    }
    let folder = package();
    let patch = r#"{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"web:2","ports":[{"containerPort":80}]},{"name":"sidecar","$patch":"delete"}]}}}}"#;
    let kubectl = Command::new("kubectl")
        .args(["patch", "--local", "--type", "strategic", "-o", "json", "-f", "here/web.yaml", "-p", patch])
        .current_dir(&folder.0)
        .output()
        .expect("kubectl");
    let theirs: Value = serde_json::from_str(&Ran::of(kubectl).passed()).expect("JSON");
    let ours =
        folder.run(&["strategic", "-p", patch, "--target", "name=web", "-d", "here/web.yaml", "-o", "json"]).passed();
    assert_eq!(serde_json::from_str::<Value>(&ours).expect("JSON"), theirs);
}
