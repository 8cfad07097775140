//! The function under kustomize: as a legacy exec plugin and as a container transformer inside kubectl, as an exec function in kustomize.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

#[path = "support/hosts.rs"]
mod hosts;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use hosts::{BINARY, IMAGE, Run, executable, files, has, image, run, run_with, scratch, write};

const KUSTOMIZATION: &str = "resources: [app.yaml]\nnamePrefix: shop-\ntransformers: [merge.yaml]\n";

const APP: &str = "# the shop
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations:
    config.kubernetes.io/merge-source: dest
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: app
        image: app:1
      - name: logs
        image: logs:1
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: script
data:
  run.sh: |
    a
    ---
    b
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: old
";

const TWO_WAY: &str = "mode: TwoWay
source:
- yaml: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: shop-web}
    spec:
      template:
        spec:
          containers:
          - name: app
            image: app:2
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: shop-old}
    $patch: delete
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: new
      annotations: {internal.config.kubernetes.io/path: new.yaml}
    data: {a: b}
";

/// What kustomize makes of it: the merge, and not one annotation.
const BUILT: &str = "apiVersion: v1
data:
  a: b
kind: ConfigMap
metadata:
  name: new
---
apiVersion: v1
data:
  run.sh: |
    a
    ---
    b
kind: ConfigMap
metadata:
  name: shop-script
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-web
spec:
  replicas: 2
  template:
    spec:
      containers:
      - image: app:2
        name: app
      - image: logs:1
        name: logs
";

const CONFLICT: &str = "mode: ThreeWay
onConflict: Fail
original:
- yaml: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop-web}, spec: {replicas: 3}}'
updated:
- yaml: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop-web}, spec: {replicas: 4}}'
";

/// What every host must show of [`CONFLICT`].
const CONFLICT_SHOWN: &str = "error: Deployment shop-web: both sides changed `spec.replicas`: dest has 2, updated has 4, original had 3; unresolved";

fn config(function: &str, spec: &str) -> String {
    let indented = |text: &str| text.lines().map(|l| format!("  {l}\n")).collect::<String>();
    let annotations = match function {
        "" => String::new(),
        function => format!("  annotations:\n    config.kubernetes.io/function: |\n      {function}\n"),
    };
    format!(
        "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: merge\n{annotations}spec:\n{}",
        indented(spec)
    )
}

/// A kustomization whose transformer has this function and spec.
fn kustomization(folder: &Path, function: &str, spec: &str) -> PathBuf {
    let app = folder.join("app");
    write(&app.join("kustomization.yaml"), KUSTOMIZATION);
    write(&app.join("app.yaml"), APP);
    write(&app.join("merge.yaml"), &config(function, spec));
    app
}

/// Where kustomize looks for the plugin of `krm-merge.dev/v1alpha1`, kind `Merge`.
fn plugin(home: &Path) -> PathBuf {
    let folder = home.join("krm-merge.dev/v1alpha1/merge");
    fs::create_dir_all(&folder).expect("a folder");
    folder.join("Merge")
}

fn kubectl_kustomize(app: &Path, home: &Path) -> Run {
    let mut command = Command::new("kubectl");
    run(command.args(["kustomize", "--enable-alpha-plugins"]).arg(app).env("KUSTOMIZE_PLUGIN_HOME", home))
}

/// kubectl and its plugins, where there is a kubectl.
fn legacy(name: &str, function: &Path, spec: &str) -> Option<Run> {
    if !has("kubectl") {
        return None;
    }
    let folder = scratch(name);
    let app = kustomization(&folder, "", spec);
    symlink(function, plugin(&folder.join("plugins"))).expect("a link");
    let before = files(&app);
    let run = kubectl_kustomize(&app, &folder.join("plugins"));
    assert_eq!(files(&app), before, "kustomize writes nothing");
    Some(run)
}

#[test]
fn a_legacy_exec_plugin_merges_inside_kubectl() {
    let Some(run) = legacy("legacy", Path::new(BINARY), TWO_WAY) else { return };
    assert_eq!(run.passes().stdout, BUILT);
}

#[test]
fn a_legacy_exec_plugin_takes_roles_from_annotations() {
    if !has("kubectl") {
        return;
    }
    let folder = scratch("legacy-roles");
    let app = kustomization(&folder, "", "mode: ThreeWay\n");
    // One identity stands once in a build, so only resources of different groups can meet: here nothing but the roles is seen.
    let role = |name: &str, role: &str| {
        format!(
            "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n  annotations:\n    config.kubernetes.io/merge-source: {role}\n"
        )
    };
    write(&app.join("app.yaml"), &format!("{APP}{}{}", role("from", "original"), role("to", "updated")));
    symlink(BINARY, plugin(&folder.join("plugins"))).expect("a link");
    let built = kubectl_kustomize(&app, &folder.join("plugins")).passes().stdout;
    assert!(built.contains("name: shop-to\n") && !built.contains("name: shop-from\n"), "{built}");
    assert!(!built.contains("merge-source") && !built.contains("annotations"), "{built}");
}

#[test]
fn a_legacy_exec_plugin_fails_with_the_reason_first() {
    let folder = scratch("no-program");
    write(&folder.join("Merge"), "no program\n");
    executable(&folder.join("Merge"));
    for (name, function, spec, why) in [
        ("legacy-conflict", Path::new(BINARY), CONFLICT, CONFLICT_SHOWN),
        (
            "legacy-mode",
            Path::new(BINARY),
            "mode: twoWay\n",
            "error: functionConfig 6:9: `spec.mode` must be `TwoWay`, `ThreeWay` or `Strategic`, not \"twoWay\"",
        ),
        ("legacy-crash", &folder.join("Merge"), TWO_WAY, "exec format error"),
    ] {
        let Some(run) = legacy(name, function, spec) else { return };
        let run = run.fails();
        assert_eq!(run.stdout, "", "{name}");
        // kubectl's own line, and then what the plugin said.
        let said: String = run.stderr.lines().take(2).collect();
        assert!(said.contains(why), "{name}: {}", run.stderr);
    }
}

#[test]
fn a_container_transformer_merges_inside_kubectl() {
    if !has("kubectl") || !image() {
        return;
    }
    let folder = scratch("container");
    let function = format!("container: {{image: {IMAGE}}}");
    let app = kustomization(&folder, &function, TWO_WAY);
    assert_eq!(kubectl_kustomize(&app, &folder).passes().stdout, BUILT);
    for (spec, why) in [(CONFLICT, CONFLICT_SHOWN), ("mode: twoWay\n", "`spec.mode` must be `TwoWay`")] {
        write(&app.join("merge.yaml"), &config(&function, spec));
        let run = kubectl_kustomize(&app, &folder).fails();
        assert_eq!(run.stdout, "");
        assert!(run.stderr.lines().next().is_some_and(|l| l.contains(why)), "{}", run.stderr);
    }
}

#[test]
fn an_exec_function_merges_in_kustomize() {
    if !has("kustomize") {
        return;
    }
    let folder = scratch("exec");
    let app = kustomization(&folder, &format!("exec: {{path: {BINARY}}}"), TWO_WAY);
    let mut build = Command::new("kustomize");
    let built = run(build.args(["build", "--enable-alpha-plugins", "--enable-exec"]).arg(&app));
    // Without kubectl's sorting.
    let documents = |text: &str| text.split("---\n").map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(documents(&built.passes().stdout), documents(BUILT));
}

#[test]
fn documents_keep_their_text_and_their_comments() {
    let folder = scratch("documents");
    let file = folder.join("merge.yaml");
    write(&file, &config("", &TWO_WAY.replace("shop-", "")));
    let run = run_with(Command::new(BINARY).arg(&file), APP).passes();
    let (before, after) =
        APP.split_once("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: old\n").expect("old");
    let want =
        before.replace("app:1", "app:2").replace("  annotations:\n    config.kubernetes.io/merge-source: dest\n", "");
    let new = "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: new\n";
    assert!(run.stdout.starts_with(&format!("{want}{after}{new}")), "{}", run.stdout);
    assert_eq!(run.stderr, "");
}

#[test]
fn what_goes_wrong_leaves_the_documents_as_they_came() {
    let folder = scratch("documents-fail");
    let file = folder.join("merge.yaml");
    write(&file, &config("", &CONFLICT.replace("shop-", "")));
    let failed = run_with(Command::new(BINARY).arg(&file), APP).fails();
    assert_eq!(failed.stdout, APP);
    assert!(failed.stderr.starts_with(&CONFLICT_SHOWN.replace("shop-", "")), "{}", failed.stderr);
    let valid = config("", CONFLICT);
    for (config, documents, why) in [
        ("a: [\n", APP, "error: functionConfig 1:4: "),
        ("", APP, "error: functionConfig 1:1: the config file must hold a functionConfig, but it is empty"),
        (
            "a: 1\n---\nb: 2\n",
            APP,
            "error: functionConfig 3:1: the config file must hold one document, a functionConfig",
        ),
        (&valid, "a: 1\n---\n- b\n", "error: stdin 3:1: stdin must hold resources, which are maps"),
        (&valid, "a: [\n", "error: stdin 1:4: "),
    ] {
        write(&file, config);
        let failed = run_with(Command::new(BINARY).arg(&file), documents).fails();
        assert_eq!(failed.stdout, documents);
        assert!(failed.stderr.starts_with(why), "{}", failed.stderr);
    }
}
