//! `review`: patches over bases in repositories of git.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]
#![allow(dead_code, reason = "other tests use more of what supports them")]

#[path = "plugin/upgrade/repository.rs"]
mod repository;
#[path = "../../../tests/support/run.rs"]
mod run;
#[path = "plugin/support.rs"]
#[allow(unused_imports, reason = "other tests use them")]
mod support;

use repository::{Upstream, commit, git};
use support::Folder;

/// The files of a base. Its kustomization is in another folder than its objects.
fn base(image: &str, containers: &[&str], env: &[(&str, &str)]) -> Vec<(String, String)> {
    let env: String = env.iter().map(|(name, value)| format!("        - {{name: {name}, value: {value}}}\n")).collect();
    let containers: String = containers
        .iter()
        .map(|name| {
            format!(
                "      - name: {name}\n        image: {image}\n        args: [--port=1, --{name}]\n        env:\n{env}"
            )
        })
        .collect();
    let deployment = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: 1\n  template:\n    spec:\n      containers:\n{containers}"
    );
    [
        ("default/kustomization.yaml", "namePrefix: my-\nresources: [../web]\n".to_owned()),
        ("web/kustomization.yaml", "resources: [web.yaml]\n".to_owned()),
        ("web/web.yaml", deployment),
    ]
    .map(|(path, text)| (path.to_owned(), text))
    .to_vec()
}

/// A base with two releases, in a folder.
fn upstream(folder: &Folder) -> Upstream {
    let upstream = Upstream::new(folder, "base.git");
    upstream.release(&base("web:1.0", &["app"], &[("A", "1"), ("B", "1"), ("C", "1")]), "v1.0.0");
    upstream.release(&base("web:2.0", &["proxy", "app"], &[("A", "2"), ("C", "2")]), "v1.1.0");
    upstream
}

const PATCH: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: app
        image: web:1.0 # ours
        env:
        - name: A
          value: \"9\"
        - name: B
          value: \"9\"
        - name: C
          value: 2
";

fn kustomization(address: &str) -> String {
    format!(
        "resources:
- {address} # renovate
patches:
- target: {{kind: Deploy.*, name: my-.*}}
  patch: |-
    - op: replace
      path: /spec/template/spec/containers/0/args/0
      value: --port=2
    - op: replace
      path: /spec/replicas
      value: 3
- path: patch.yaml
images:
- name: other
  newTag: \"1\"
"
    )
}

/// A repository with a kustomization over the base.
fn team(folder: &Folder, address: &str) {
    folder.write("team/prod/kustomization.yaml", kustomization(address));
    folder.write("team/prod/patch.yaml", PATCH);
    commit(&folder.path("team"), "begin");
}

const TOLD: &str = "team/prod/kustomization.yaml:6: another element: Deployment web `spec.template.spec.containers[0]`: the old release has `app` at this index, the new release has `proxy` (base v1.0.0 to v1.1.0)
team/prod/patch.yaml:14: gone: Deployment web `spec.template.spec.containers[name=app].env[name=B]`: the old release has it, the new release does not (base v1.0.0 to v1.1.0)
team/prod/patch.yaml:13: hides: Deployment web `spec.template.spec.containers[name=app].env[name=A].value`: the value changed from 1 to 2, your patch sets \"9\" (base v1.0.0 to v1.1.0)
team/prod/patch.yaml:17: newly the same: Deployment web `spec.template.spec.containers[name=app].env[name=C].value`: the new release has your value, so you can remove it (base v1.0.0 to v1.1.0)
team/prod/patch.yaml:10: hides: 1 image tag or digests, at team/prod/patch.yaml:10
total: 1 overlay of 1 base, 1 with another version; 1 another element, 1 gone, 2 hides, 1 newly the same
";

#[test]
fn patches_are_judged_over_the_next_release_of_their_base() {
    let folder = Folder::new();
    let upstream = upstream(&folder);
    let address = |version: &str| upstream.source(&format!("/default?ref={version}"));
    team(&folder, &address("v1.0.0"));
    let ran = folder.run(&["review", "team"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (TOLD, ""));
    ran.failed(1);
    assert_eq!(folder.run(&["review", "team/prod/patch.yaml", "--to", "v1.1.0"]).stdout, TOLD);
    // No option changes a patch, and what hides stops the run.
    assert_eq!(folder.run(&["review", "team", "--in-place", "--on-conflict", "fail"]).stdout, TOLD);
    assert_eq!(folder.read("team/prod/kustomization.yaml"), kustomization(&address("v1.0.0")));
    let by_hand = "next: edit the patches by hand: only values are removed, or written between markers\n";
    for wanted in
        [&["--drop-gone"][..], &["--drop-same"], &["--on-conflict", "mark"], &["--on-conflict", "take-updated"]]
    {
        let ran = folder.run(&[&["review", "team", "--in-place"], wanted].concat());
        assert_eq!((ran.stderr.as_str(), folder.read("team/prod/patch.yaml").as_str()), (by_hand, PATCH));
        folder.write("team/prod/kustomization.yaml", kustomization(&address("v1.0.0")));
    }
    let ran = folder.run(&["review", "team", "--in-place"]);
    assert_eq!(ran.stdout, format!("{TOLD}changed team/prod/kustomization.yaml\n"), "{ran:?}");
    assert_eq!(folder.read("team/prod/kustomization.yaml"), kustomization(&address("v1.1.0")));
    assert_eq!(folder.read("team/prod/patch.yaml"), PATCH);
    // The branch with the new version is compared with its base.
    let ran = folder.run(&["review", "team", "--base", "HEAD"]);
    assert_eq!(ran.stdout, TOLD, "{ran:?}");
    let ran = folder.run(&["review", "team", "--in-place"]);
    assert_eq!(ran.passed(), "total: 1 overlay of 1 base, 0 with another version\n");
}

#[test]
fn a_base_of_the_tree_is_compared_with_that_of_the_base_branch() {
    let folder = Folder::new();
    let write = |files: Vec<(String, String)>| {
        files.into_iter().for_each(|(path, text)| folder.write(&format!("team/{path}"), text));
    };
    write(base("web:1.0", &["app"], &[("A", "1")]));
    folder.write("team/prod/kustomization.yaml", "resources: [../default]\ncomponents: [../more]\n");
    folder.write("team/more/kustomization.yaml", "kind: Component\npatches: [{path: ../prod/patch.json, target: {name: web}}]\nreplicas: [{name: web, count: 2}]\n");
    folder.write(
        "team/prod/patch.json",
        "[\n  {\"op\": \"remove\", \"path\": \"/spec/template/spec/containers/0/env/0\"}\n]\n",
    );
    let repo = folder.path("team");
    commit(&repo, "begin");
    assert_eq!(
        folder.run(&["review", "team", "--base", "main"]).passed(),
        "total: 0 overlays of 0 charts, 0 with another version\n"
    );
    git(&repo, &["switch", "--quiet", "--create", "next"]);
    write(base("web:1.0", &["app"], &[]));
    let web = folder.read("team/web/web.yaml").replace("replicas: 1", "replicas: 3");
    folder.write("team/web/web.yaml", web);
    let ran = folder.run(&["review", "team", "--base", "main"]);
    let want = "team/prod/patch.json:2: gone: Deployment web `spec.template.spec.containers[0].env[0]`: the old release has it, the new release does not (prod main to the work tree)
team/more/kustomization.yaml:3: hides: Deployment web `replicas[name=web].count`: the value changed from 1 to 3, your patch sets 2 (prod main to the work tree)
";
    assert!(ran.stdout.starts_with(want), "{ran:?}");
    ran.failed(1);
}

#[test]
fn what_cannot_be_read_of_a_base_is_said() {
    let folder = Folder::new();
    let upstream = upstream(&folder);
    team(&folder, &upstream.source("/nowhere?ref=v1.0.0"));
    let ran = folder.run(&["review", "team"]);
    assert!(
        ran.stdout.contains("team/prod/kustomization.yaml:2: not read: kustomization prod: there is no file `nowhere`"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("unknown: Deployment web: the object may be in what is not read"), "{ran:?}");
    ran.passed();
}
