//! The function under kpt: every way in which kpt calls it, a large package of which only three resources change, and every way to fail.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

#[path = "support/hosts.rs"]
mod hosts;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use hosts::{BINARY, IMAGE, Run, executable, files, has, image, root, run, run_with, scratch, write};

const HEADER: &str = "# Copyright of the shop.\n# All rights are theirs.\n\n";

/// Names of the package: its sub-packages, and how many resources each of the files has.
const FOLDERS: [&str; 4] = ["", "db/", "db/backup/", "front/"];
const RESOURCES: usize = 300;
const FILES: usize = 60;

fn kptfile(name: &str, pipeline: &str) -> String {
    format!(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name}\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\n{pipeline}"
    )
}

/// One resource; comments, quotes and numbers as people write them.
fn resource(i: usize) -> String {
    match i % 3 {
        0 => format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: r{i} # of the shop\nspec:\n  # by hand\n  replicas:   {}\n  template:\n    spec:\n      containers:\n      - name: app # the server\n        image: \"app:1\"\n        args: ['-v', \"--port\", 0x1F90]\n      - name: logs\n        image: logs:1.10\n",
            i % 5 + 1
        ),
        1 => format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: r{i}\n  labels: {{app: 'shop',   tier: \"a\"}}\ndata:\n  on: \"yes\" # as text\n\n  script: |\n    #!/bin/sh\n    echo {i}\n"
        ),
        _ => format!(
            "apiVersion: shop.example.com/v1\nkind: Till\nmetadata:\n  name: r{i}\nspec:\n  slots:\n  # left\n  - id: one\n    coin: 1e2\n  # right\n  - id: two\n    coin: ~\n"
        ),
    }
}

fn definition() -> String {
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: tills.shop.example.com\nspec:\n  group: shop.example.com\n  names: {kind: Till, plural: tills}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            type: object\n            properties:\n              slots: # by id\n                type: array\n                x-kubernetes-list-type: map\n                x-kubernetes-list-map-keys: [id]\n                items: {type: object, properties: {id: {type: string}, coin: {type: integer}}}\n".to_owned()
}

/// A package of 300 resources in 60 files: licence headers, comments, sub-packages, JSON, a definition, files of several documents.
fn package() -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut next = 0;
    let mut take = |n: usize| {
        next += n;
        next - n..next
    };
    for (i, folder) in FOLDERS.iter().enumerate() {
        out.insert(format!("{folder}Kptfile"), kptfile(&format!("shop-{i}"), ""));
        let json = take(1).start;
        out.insert(
            format!("{folder}settings.json"),
            format!("{{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"ConfigMap\",\n  \"metadata\": {{\"name\": \"j{json}\"}},\n  \"data\": {{\"k\": \"old\"}}\n}}\n"),
        );
        out.insert(format!("{folder}crd.yaml"), format!("{HEADER}{}", definition().replace("ill", &format!("ill{i}"))));
        take(1);
        let files = FILES / FOLDERS.len() - 3;
        for file in 0..files {
            // What is left of the 75 resources of a folder, behind the three files above.
            let resources = (72 * (file + 1)) / files - (72 * file) / files;
            let text: Vec<String> = take(resources).map(resource).collect();
            out.insert(format!("{folder}file-{file}.yaml"), format!("{HEADER}{}", text.join("---\n")));
        }
        take(1);
    }
    // The definition of the kind that is used stands in one of the sub-packages.
    out.insert("db/crd.yaml".into(), format!("{HEADER}{}", definition()));
    let documents: usize = out.values().map(|text| text.split("---\n").count()).sum();
    assert_eq!((out.len(), documents), (FILES, RESOURCES));
    out
}

/// A merge of three resources: a Deployment, a custom resource whose list the definition keys, and a JSON file.
const MERGE: &str = "apiVersion: krm-merge.dev/v1alpha1
kind: Merge
metadata:
  name: merge
  annotations:
    config.kubernetes.io/local-config: \"true\"
spec:
  mode: TwoWay
  source:
  - yaml: |
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: r3}
      spec: {template: {spec: {containers: [{name: app, image: \"app:2\"}]}}}
      ---
      apiVersion: shop.example.com/v1
      kind: Till
      metadata: {name: r104}
      spec: {slots: [{id: two, coin: 50}]}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: j225}
      data: {k: new}
";

/// The lines that differ, as `git diff` counts them.
const CHANGED: [&str; 6] = [
    "-    \"k\": \"old\"",
    "+    \"k\": \"new\"",
    "-        image: \"app:1\"",
    "+        image: \"app:2\"",
    "-    coin: ~",
    "+    coin: 50",
];

fn unpack(package: &BTreeMap<String, String>, folder: &Path) {
    for (path, text) in package {
        write(&folder.join(path), text);
    }
}

/// The lines that differ between two folders.
fn diff(from: &Path, to: &Path) -> Vec<String> {
    let shown = run(Command::new("git").args(["diff", "--no-index", "--unified=0"]).arg(from).arg(to)).stdout;
    let changed =
        |l: &&str| (l.starts_with('-') || l.starts_with('+')) && !l.starts_with("---") && !l.starts_with("+++");
    shown.lines().filter(changed).map(str::to_owned).collect()
}

/// A folder of programs, in which `merge` is this one; PATH with that folder first.
fn path_with(folder: &Path, program: &Path) -> String {
    fs::create_dir_all(folder).expect("a folder");
    symlink(program, folder.join("merge")).expect("a link");
    format!("{}:{}", folder.display(), std::env::var("PATH").expect("PATH"))
}

fn kpt(folder: &Path, args: &[&str]) -> Run {
    run(Command::new("kpt").args(args).current_dir(folder))
}

fn cat() -> PathBuf {
    let path = std::env::var_os("PATH").expect("PATH");
    std::env::split_paths(&path).map(|p| p.join("cat")).find(|p| p.is_file()).expect("cat")
}

#[test]
fn three_resources_of_a_large_package_change_under_eval() {
    if !has("kpt") || !has("git") {
        return;
    }
    let folder = scratch("large-eval");
    for (name, function) in [("cat", "cat"), ("merge", BINARY)] {
        unpack(&package(), &folder.join(name));
        write(&folder.join("merge.yaml"), MERGE);
        kpt(&folder, &["fn", "eval", name, "--exec", function, "--fn-config", "merge.yaml"]).passes();
    }
    assert_eq!(sorted(diff(&folder.join("cat"), &folder.join("merge"))), sorted(CHANGED.map(str::to_owned).to_vec()));
}

#[test]
fn three_resources_of_a_large_package_change_under_render() {
    if !has("kpt") || !has("git") {
        return;
    }
    let folder = scratch("large-render");
    for (name, function) in [("cat", cat()), ("merge", BINARY.into())] {
        let pipeline = "pipeline:\n  mutators:\n  - exec: merge\n    configPath: merge.yaml\n";
        let mut package = package();
        package.insert("Kptfile".into(), kptfile("shop", pipeline));
        package.insert("merge.yaml".into(), MERGE.into());
        unpack(&package, &folder.join(name));
        let path = path_with(&folder.join(format!("bin-{name}")), &function);
        let mut render = Command::new("kpt");
        run(render.args(["fn", "render", name, "--allow-exec"]).env("PATH", path).current_dir(&folder)).passes();
    }
    assert_eq!(sorted(diff(&folder.join("cat"), &folder.join("merge"))), sorted(CHANGED.map(str::to_owned).to_vec()));
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

/// A small package that has what is easily lost.
fn shop() -> BTreeMap<String, String> {
    BTreeMap::from(
        [
            ("Kptfile", kptfile("shop", "")),
            ("web.yaml", "# Copyright\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web # ours\nspec:\n  replicas: 2 # few\n".into()),
            ("db/Kptfile", kptfile("db", "")),
            ("db/settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  level: info # for now\n".into()),
            ("overlay/web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n".into()),
            ("notes.txt", "no resource\n".into()),
        ]
        .map(|(path, text)| (path.to_owned(), text)),
    )
}

/// An empty folder for a test; `None` where kpt is not on PATH, which is then said.
fn with_kpt(test: &str) -> Option<PathBuf> {
    has("kpt").then(|| scratch(test))
}

/// [`shop`] with the overlay merged.
fn merged_shop() -> BTreeMap<String, String> {
    let mut merged = shop();
    let web = merged.get_mut("web.yaml").expect("a file");
    *web = web.replace("replicas: 2", "replicas: 3");
    merged
}

const OVERLAY: &str = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: merge\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\nspec:\n  mode: TwoWay\n  source:\n  - path: overlay/\n";

#[test]
fn eval_takes_a_config_file_and_words() {
    let Some(folder) = with_kpt("eval") else { return };
    write(&folder.join("merge.yaml"), OVERLAY);
    for (name, last) in
        [("file", &["--fn-config", "merge.yaml"][..]), ("words", &["--", "mode=two-way", "source=overlay"])]
    {
        unpack(&shop(), &folder.join(name));
        kpt(&folder, &[&["fn", "eval", name, "--exec", BINARY], last].concat()).passes();
        assert_eq!(files(&folder.join(name)), merged_shop(), "{name}");
    }
}

#[test]
fn eval_with_a_selector_sends_and_loses_nothing_else() {
    let Some(folder) = with_kpt("selector") else { return };
    unpack(&shop(), &folder.join("shop"));
    let source = "source={apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {level: debug}}";
    let select = ["fn", "eval", "shop", "--exec", BINARY, "--match-kind", "ConfigMap", "--", "mode=two-way", source];
    kpt(&folder, &select).passes();
    let mut want = shop();
    let settings = want.get_mut("db/settings.yaml").expect("a file");
    *settings = settings.replace("level: info", "level: debug");
    assert_eq!(files(&folder.join("shop")), want);
}

#[test]
fn render_runs_pipelines_with_config_files_maps_selectors_and_sub_packages() {
    let Some(folder) = with_kpt("render") else { return };
    let source = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {LEVEL: \"yes\"}}";
    let of = |level: &str| source.replace("LEVEL", level);
    let mutators = format!(
        "pipeline:\n  mutators:\n  - exec: {BINARY}\n    configPath: merge.yaml\n  - exec: {BINARY}\n    configMap:\n      mode: two-way\n      source: '{}'\n    selectors:\n    - kind: ConfigMap\n",
        of("above")
    );
    let below = format!(
        "pipeline:\n  mutators:\n  - exec: {BINARY}\n    configMap:\n      mode: two-way\n      source: '{}'\n",
        of("below")
    );
    let mut package = shop();
    package.insert("Kptfile".into(), kptfile("shop", &mutators));
    package.insert("db/Kptfile".into(), kptfile("db", &below));
    package.insert("merge.yaml".into(), OVERLAY.into());
    unpack(&package, &folder.join("shop"));
    for _ in ["once", "twice"] {
        kpt(&folder, &["fn", "render", "shop", "--allow-exec"]).passes();
        let now = files(&folder.join("shop"));
        assert_eq!(now["web.yaml"], merged_shop()["web.yaml"]);
        let settings = &shop()["db/settings.yaml"];
        assert_eq!(now["db/settings.yaml"], format!("{settings}  below: \"yes\"\n  above: \"yes\"\n"));
        assert_eq!(now.keys().collect::<Vec<_>>(), package.keys().collect::<Vec<_>>());
    }
}

/// kpt gives an item of a sub-package its path in there, but a path in the functionConfig is one of the package that the function runs on.
#[test]
fn an_upgrade_under_render_reads_releases_that_are_packages_themselves() {
    let Some(folder) = with_kpt("releases") else { return };
    let settings = |level: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  level: {level}\n")
    };
    let added = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: added\n";
    let config = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: merge\nspec:\n  mode: ThreeWay\n  original: [{path: up/v1}]\n  updated: [{path: up/v2}]\n";
    let pipeline = format!("pipeline:\n  mutators:\n  - exec: {BINARY}\n    configPath: merge.yaml\n");
    let package = BTreeMap::from(
        [
            ("Kptfile", kptfile("shop", &pipeline)),
            ("merge.yaml", config.to_owned()),
            ("db/Kptfile", kptfile("db", "")),
            ("db/settings.yaml", settings("info # ours")),
            ("up/v1/db/Kptfile", kptfile("db", "")),
            ("up/v1/db/settings.yaml", settings("info")),
            ("up/v2/db/Kptfile", kptfile("db", "")),
            ("up/v2/db/settings.yaml", settings("debug")),
            ("up/v2/db/new/added.yaml", added.to_owned()),
        ]
        .map(|(path, text)| (path.to_owned(), text)),
    );
    unpack(&package, &folder.join("shop"));
    let mut want = package;
    want.insert("db/settings.yaml".into(), settings("debug # ours"));
    want.insert("db/new/added.yaml".into(), added.to_owned());
    for _ in ["once", "twice"] {
        kpt(&folder, &["fn", "render", "shop", "--allow-exec"]).passes();
        assert_eq!(files(&folder.join("shop")), want);
    }
}

/// Files that upstream moved move under kpt, too: whole, in parts, into a file that is there, and in a sub-package.
#[test]
fn files_that_upstream_moved_move_with_comments_and_edits() {
    let Some(folder) = with_kpt("moved") else { return };
    let map = |name: &str, x: &str| {
        format!("# about {name}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name} # named\ndata:\n  x: {x}\n")
    };
    let joined = |all: &[(&str, &str)]| all.iter().map(|(name, x)| map(name, x)).collect::<Vec<_>>().join("---\n");
    let config = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: merge\nspec:\n  mode: ThreeWay\n  original: [{path: up/v1}]\n  updated: [{path: up/v2}]\n";
    let pipeline = format!("pipeline:\n  mutators:\n  - exec: {BINARY}\n    configPath: merge.yaml\n");
    let own = |x: &str| {
        [
            ("two.yaml", joined(&[("one", x), ("two", "b # ours")])),
            ("split.yaml", joined(&[("stays", "a"), ("goes", "a # ours")])),
            ("into.yaml", joined(&[("into", "a")])),
            ("there.yaml", joined(&[("there", "a")])),
            ("db/in.yaml", joined(&[("in", "a # ours")])),
        ]
    };
    let new = [
        ("sub/dir/two.yaml", joined(&[("one", "c"), ("two", "b # ours")])),
        ("split.yaml", joined(&[("stays", "a")])),
        ("sub/goes.yaml", joined(&[("goes", "a # ours")])),
        ("there.yaml", joined(&[("there", "a"), ("into", "a")])),
        ("db/deep/in.yaml", joined(&[("in", "a # ours")])),
    ];
    let of = |prefix: &str, files: &[(&str, String)]| {
        files.iter().map(|(path, text)| (format!("{prefix}{path}"), text.clone())).collect::<Vec<_>>()
    };
    let without =
        |files: Vec<(String, String)>| files.into_iter().map(|(path, text)| (path, text.replace(" # ours", "")));
    let rest = [
        ("Kptfile".to_owned(), kptfile("shop", &pipeline)),
        ("db/Kptfile".to_owned(), kptfile("db", "")),
        ("merge.yaml".to_owned(), config.to_owned()),
    ];
    let sides: Vec<_> = without(of("up/v1/", &own("a"))).chain(without(of("up/v2/", &new))).collect();
    let all = |own: Vec<(String, String)>| -> BTreeMap<String, String> {
        rest.iter().cloned().chain(sides.iter().cloned()).chain(own).collect()
    };
    let want = all(of("", &new));
    for (name, args) in [
        ("eval", &["fn", "eval", "eval", "--exec", BINARY, "--fn-config", "eval/merge.yaml"][..]),
        ("render", &["fn", "render", "render", "--allow-exec"]),
    ] {
        unpack(&all(of("", &own("a"))), &folder.join(name));
        for _ in ["once", "twice"] {
            kpt(&folder, args).passes();
            assert_eq!(files(&folder.join(name)), want, "{name}");
        }
    }
}

/// kpt refuses YAML that is no resource but for one file: a kustomization needs neither apiVersion nor name.
#[test]
fn a_kustomization_in_a_side_stops_no_upgrade() {
    let Some(folder) = with_kpt("kustomization") else { return };
    let settings = |level: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  level: {level}\n")
    };
    let kustomization = |rest: &str| format!("# of the shop\nresources:\n- settings.yaml\n{rest}");
    let config = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: merge\nspec:\n  mode: ThreeWay\n  original: [{path: up/v1}]\n  updated: [{path: up/v2}]\n";
    let pipeline = format!("pipeline:\n  mutators:\n  - exec: {BINARY}\n    configPath: merge.yaml\n");
    let package = BTreeMap::from(
        [
            ("Kptfile", kptfile("shop", &pipeline)),
            ("merge.yaml", config.to_owned()),
            ("settings.yaml", settings("info # ours")),
            ("kustomization.yaml", kustomization("namePrefix: own # ours\n")),
            ("up/v1/settings.yaml", settings("info")),
            ("up/v1/kustomization.yaml", kustomization("")),
            ("up/v2/settings.yaml", settings("debug")),
            ("up/v2/kustomization.yaml", kustomization("nameSuffix: new\n")),
        ]
        .map(|(path, text)| (path.to_owned(), text)),
    );
    let mut want = package.clone();
    want.insert("settings.yaml".into(), settings("debug # ours"));
    for (name, args) in [
        ("eval", &["fn", "eval", "eval", "--exec", BINARY, "--fn-config", "eval/merge.yaml"][..]),
        ("render", &["fn", "render", "render", "--allow-exec"]),
    ] {
        unpack(&package, &folder.join(name));
        let shown = kpt(&folder, args).passes().shown();
        assert_eq!(files(&folder.join(name)), want, "{name}");
        let word =
            "(up/v2/kustomization.yaml): skipped, because it has no `apiVersion`. Upstream changed `nameSuffix` in it";
        assert!(shown.contains(word), "{name}: {shown}");
    }
}

#[test]
fn source_and_sink_carry_a_package_through_a_pipe() {
    let Some(folder) = with_kpt("pipe") else { return };
    unpack(&shop(), &folder.join("shop"));
    write(&folder.join("merge.yaml"), OVERLAY);
    let list = kpt(&folder, &["fn", "source", "shop", "--fn-config", "merge.yaml"]).passes().stdout;
    let merged = run_with(&mut Command::new(BINARY), &list).passes().stdout;
    run_with(Command::new("kpt").args(["fn", "sink", "out"]).current_dir(&folder), &merged).passes();
    let mut want = merged_shop();
    want.remove("notes.txt");
    assert_eq!(files(&folder.join("out")), want);
}

#[test]
fn an_image_does_under_eval_and_render_what_the_program_does() {
    if !has("kpt") || !image() {
        return;
    }
    let folder = scratch("image");
    let pipeline = format!("pipeline:\n  mutators:\n  - image: {IMAGE}\n    configPath: merge.yaml\n");
    for name in ["eval", "render"] {
        let mut package = shop();
        package.insert("Kptfile".into(), kptfile("shop", if name == "render" { &pipeline } else { "" }));
        package.insert("merge.yaml".into(), OVERLAY.into());
        unpack(&package, &folder.join(name));
        let args: &[&str] = match name {
            "eval" => &["fn", "eval", "eval", "--image", IMAGE, "--fn-config", "eval/merge.yaml"],
            _ => &["fn", "render", "render"],
        };
        kpt(&folder, args).passes();
        assert_eq!(files(&folder.join(name))["web.yaml"], merged_shop()["web.yaml"]);
        assert_eq!(files(&folder.join(name)).len(), package.len());
        package.insert("merge.yaml".into(), CONFLICT.into());
        package.insert("web.yaml".into(), shop()["web.yaml"].clone());
        unpack(&package, &folder.join(name));
        let before = files(&folder.join(name));
        let failed = kpt(&folder, args).fails();
        assert_eq!(files(&folder.join(name)), before);
        assert!(first_result(&failed).contains(CONFLICT_SHOWN), "{}", failed.shown());
    }
    let help = kpt(&folder, &["fn", "doc", "--image", IMAGE]).passes().stdout;
    assert_eq!(help.trim(), fs::read_to_string(root().join("src/usage.txt")).expect("usage").trim());
}

const CONFLICT: &str = "apiVersion: krm-merge.dev/v1alpha1
kind: Merge
metadata:
  name: merge
  annotations:
    config.kubernetes.io/local-config: \"true\"
spec:
  mode: ThreeWay
  onConflict: Fail
  original:
  - yaml: '{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {level: warn}}'
  updated:
  - yaml: '{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {level: error}}'
";

const CONFLICT_SHOWN: &str =
    "both sides changed `data.level`: dest has \"info\", updated has \"error\", original had \"warn\"; unresolved";

/// The first line of what kpt shows of a function that failed.
fn first_result(run: &Run) -> String {
    let lines = run.stderr.lines().skip_while(|l| !l.starts_with("[FAIL]")).skip(1);
    lines.skip_while(|l| l.trim() == "Results:" || l.trim() == "Stderr:").take(1).collect()
}

#[test]
fn whatever_fails_leaves_the_package_as_it_was_and_says_why_first() {
    let Some(folder) = with_kpt("fails") else { return };
    let program = |name: &str, text: &str| {
        write(&folder.join(name), text);
        executable(&folder.join(name));
        folder.join(name).into_os_string().into_string().expect("UTF-8")
    };
    let no_program = program("text", "no program\n");
    let crashes = program("aborts", "#!/bin/sh\necho 'lost the thread' >&2\nexit 134\n");
    let breaks_off = program("half", "#!/bin/sh\necho 'apiVersion: config.kubernetes.io/v1'\nexit 134\n");
    for (name, function, config, why) in [
        ("conflict", BINARY, CONFLICT, CONFLICT_SHOWN),
        (
            "mode",
            BINARY,
            &OVERLAY.replace("TwoWay", "twoWay"),
            "`spec.mode` must be `TwoWay`, `ThreeWay` or `Strategic`, not \"twoWay\"",
        ),
        ("path", BINARY, &OVERLAY.replace("overlay/", "overlays"), "no item of the package is in \"overlays\""),
        ("no-program", &no_program, OVERLAY, "exec format error"),
        ("crash", &crashes, OVERLAY, "lost the thread"),
        ("break-off", &breaks_off, OVERLAY, "output resource list must contain only KRM resources"),
    ] {
        let pipeline = format!("pipeline:\n  mutators:\n  - exec: {function}\n    configPath: merge.yaml\n");
        let mut package = shop();
        package.insert("Kptfile".into(), kptfile("shop", &pipeline));
        package.insert("merge.yaml".into(), config.into());
        let before = package.clone();
        unpack(&package, &folder.join(name));
        let config = folder.join(name).join("merge.yaml");
        for args in [
            &["fn", "eval", name, "--exec", function, "--fn-config", config.to_str().expect("UTF-8")][..],
            &["fn", "render", name, "--allow-exec"],
        ] {
            let failed = kpt(&folder, args).fails();
            assert!(first_result(&failed).contains(why), "{name}: {}", failed.shown());
            assert_eq!(files(&folder.join(name)), before, "{name}: {args:?}");
        }
    }
}

/// kpt puts comments back by place, and gives up where a value became one of another kind. Neither may reach the user.
#[test]
fn comments_stay_at_their_elements_and_a_value_may_become_another_kind() {
    let Some(folder) = with_kpt("places") else { return };
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  # the old one\n  - name: old # deprecated\n    image: old:1 # pinned\n  - name: app\n    image: app:1\n    args: [run] # for now\n";
    let config = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: patch\nspec:\n  mode: TwoWay\n  source:\n  - yaml: |\n      apiVersion: v1\n      kind: Pod\n      metadata:\n        name: web\n      spec:\n        containers:\n        - name: old\n          $patch: delete\n        - name: app\n          args: {first: run}\n";
    write(&folder.join("package/pod.yaml"), pod);
    write(&folder.join("merge.yaml"), config);
    kpt(&folder, &["fn", "eval", "package", "--exec", BINARY, "--fn-config", "merge.yaml"]).passes();
    let (head, _) = pod.split_once("  # the old one").expect("the list");
    assert_eq!(
        fs::read_to_string(folder.join("package/pod.yaml")).expect("there"),
        format!("{head}  - name: app\n    image: app:1\n    args: {{first: run}} # for now\n")
    );
}

/// kpt knows a comment at the end of a map by the field above it. Where another field comes between, kpt would write it there, too.
#[test]
fn a_comment_at_the_end_stands_once_however_much_comes_before_it() {
    let Some(folder) = with_kpt("end") else { return };
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n  # debug: \"1\"\n";
    write(&folder.join("package/map.yaml"), map);
    for key in ["one", "two", "three"] {
        let config = format!(
            "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: m\nspec:\n  mode: TwoWay\n  source:\n  - target: {{kind: ConfigMap}}\n    yaml: \"data: {{{key}: x}}\"\n"
        );
        write(&folder.join("merge.yaml"), &config);
        kpt(&folder, &["fn", "eval", "package", "--exec", BINARY, "--fn-config", "merge.yaml"]).passes();
    }
    let made = fs::read_to_string(folder.join("package/map.yaml")).expect("there");
    assert_eq!(made, map.replace("  # debug", "  one: x\n  two: x\n  three: x\n  # debug"));
}

/// An upgrade of a package whose releases are in it: a licence that a blank line sets apart stays, though kpt does not show it; a comment goes
/// that upstream removed; and a second run changes nothing.
#[test]
fn an_upgrade_keeps_the_licence_and_takes_away_what_upstream_did() {
    let Some(folder) = with_kpt("licence") else { return };
    let service = |first: &str, ours: &str| {
        format!(
            "# Copyright\n# SPDX\n\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:\n{first}  - port: 80{ours}\n    name: http\n"
        )
    };
    let deployment = |above: &str, image: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n{above}      - name: a\n        image: a:{image}\n"
        )
    };
    let metrics = "  - port: 9090\n    name: metrics\n";
    let [old, new] = [deployment("      # do not upgrade\n", "1 # pinned"), deployment("", "2")];
    for (path, text) in [
        ("Kptfile", kptfile("shop", "")),
        ("upstream/v1/s.yaml", service("", "")),
        ("upstream/v2/s.yaml", service(metrics, "")),
        ("s.yaml", service("", " # ours")),
        ("upstream/v1/d.yaml", old.clone()),
        ("upstream/v2/d.yaml", new.clone()),
        ("d.yaml", old),
    ] {
        write(&folder.join("package").join(path), &text);
    }
    let words = ["--", "mode=three-way", "original=upstream/v1", "updated=upstream/v2"];
    for _ in 0..2 {
        kpt(&folder, &[&["fn", "eval", "package", "--exec", BINARY], &words[..]].concat()).passes();
        let read = |path: &str| fs::read_to_string(folder.join("package").join(path)).expect("there");
        // kpt itself removes the blank line.
        assert_eq!(read("s.yaml"), service(metrics, " # ours").replace("\n\n", "\n"));
        assert_eq!(read("d.yaml"), new);
    }
}
