//! What real packages hold beside resources, and what users mean by the flags: templates, lists, local configuration, forgotten sources.

use crate::support::{Folder, map};

const UPGRADE: [&str; 7] = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here"];

/// A template of Helm's, which is no YAML.
fn template(name: &str, image: &str, own: &str) -> String {
    format!(
        "{{{{- if .Values.on }}}}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{{{ .Release.Name }}}}-{name}\n{own}data:\n  a: '1'\n  b: '1'\n  image: {image}\n{{{{- end }}}}\n"
    )
}

fn chart() -> Folder {
    let mine = "  labels: {mine: x}\n";
    Folder::with(&[
        ("v1/app.yaml", &map("app", &[("x", "'1'")])),
        ("v1/other.yaml", &map("other", &[])),
        ("v2/other.yaml", &map("other", &[])),
        ("v1/templates/a.yaml", &template("a", "a:1", "")),
        ("v1/templates/b.yml", &template("b", "b:1", "")),
        ("v1/gone.json", "{{- gone }}\n"),
        ("v2/app.yaml", &map("app", &[("x", "'2'")])),
        ("v2/templates/a.yaml", &template("a", "a:2", "")),
        ("v2/templates/b.yml", &template("b", "b:2", "")),
        ("v2/templates/new.yaml", &template("new", "n:1", "")),
        ("here/app.yaml", &map("app", &[("x", "'1'")])),
        ("here/templates/a.yaml", &template("a", "a:1", "")),
        ("here/templates/b.yml", &template("b", "b:1", mine)),
        ("here/gone.json", "{{- gone }}\n"),
    ])
}

#[test]
fn templates_are_carried_as_plain_files_with_one_warning() {
    let folder = chart();
    let ran = folder.run(&[&UPGRADE[..], &["-i"]].concat());
    let told = "warning: 4 files are not valid YAML and are treated as plain files, without resources: here/gone.json:1:3, here/templates/a.yaml:1:3, here/templates/b.yml:1:3, v2/templates/new.yaml:1:3: the text must be YAML: \"-\" is only valid inside a block\n";
    assert_eq!(ran.stderr, told);
    ran.passed();
    let here = folder.files("here");
    assert_eq!(
        here.keys().collect::<Vec<_>>(),
        ["app.yaml", "templates/a.yaml", "templates/b.yml", "templates/new.yaml"]
    );
    assert_eq!(folder.read("here/app.yaml"), map("app", &[("x", "'2'")]));
    assert_eq!(folder.read("here/templates/a.yaml"), template("a", "a:2", ""));
    // What both sides changed is merged by line.
    assert_eq!(folder.read("here/templates/b.yml"), template("b", "b:2", "  labels: {mine: x}\n"));
    assert_eq!(folder.read("here/templates/new.yaml"), template("new", "n:1", ""));
}

#[test]
fn templates_stop_no_mode_and_are_no_resources_of_it() {
    let folder = chart();
    let patch = map("app", &[("x", "'9'")]);
    for mode in ["two-way", "strategic"] {
        let ran = folder.run(&[mode, "-p", &patch, "-d", "here"]);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        let told = "warning: 3 files are not valid YAML and are treated as plain files, without resources: here/gone.json:1:3, ";
        assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
        assert_eq!(ran.passed(), patch);
    }
    // Of a source, too.
    let ran = folder.run(&["two-way", "-s", "v2", "-d", "here/app.yaml"]);
    assert!(
        ran.stderr.starts_with("warning: 3 files are not valid YAML")
            && ran.stderr.contains("v2/templates/new.yaml:1:3")
    );
    assert_eq!(ran.passed(), format!("{}---\n{}", map("app", &[("x", "'2'")]), map("other", &[])));
    let one = Folder::with(&[("d/a.yaml", &map("a", &[])), ("d/b.yaml", "a: [\n")]);
    let err = one.run(&["two-way", "-p", &map("a", &[]), "-d", "d"]).stderr;
    assert!(
        err.starts_with(
            "warning: 1 file is not valid YAML and is treated as a plain file, without resources: d/b.yaml:"
        ),
        "{err}"
    );
    // What is named alone must be resources.
    let err = folder.run(&["two-way", "-s", "v2/templates/a.yaml", "-d", "here"]).failed(2);
    assert!(err.starts_with("error: v2/templates/a.yaml:1:3: "), "{err}");
}

/// A file with a fault on one side is merged as a text, as git does it; the warning says where the fault is.
#[test]
fn a_fault_in_a_file_of_resources_deletes_nothing() {
    let folder = chart();
    folder.write("v2/app.yaml", "kind: [\n");
    let ran = folder.run(&[&UPGRADE[..], &["-i"]].concat());
    assert!(ran.stderr.contains("v2/app.yaml:1:7"), "{}", ran.stderr);
    assert_eq!(folder.read("here/app.yaml"), "kind: [\n");
    // Dest's own fault is an edit.
    let folder = chart();
    folder.write("here/app.yaml", "kind: [\n");
    let ran = folder.run(&[&UPGRADE[..], &["-i", "--on-conflict", "keep-dest"]].concat());
    let told = "warning: app.yaml: both sides changed the file (it holds resources on one side, and something else on another)";
    assert!(ran.stderr.contains(told) && ran.stderr.contains("here/app.yaml:1:7"), "{}", ran.stderr);
    assert_eq!(folder.read("here/app.yaml"), "kind: [\n");
}

/// A list of one type, as `kubectl get --raw` prints it.
fn typed(names: &[(&str, &str)]) -> String {
    let items: String =
        names.iter().map(|(n, v)| format!("- metadata: {{name: {n}}} # {n}\n  data:   {{x: {v}}}\n")).collect();
    format!("apiVersion: v1\nkind: ConfigMapList\nmetadata:\n  resourceVersion: ''\nitems:\n{items}")
}

#[test]
fn lists_of_one_type_are_read_as_their_items() {
    let folder = Folder::with(&[
        ("v1/all.yaml", &typed(&[("a", "1"), ("b", "1")])),
        ("v2/all.yaml", &typed(&[("a", "2"), ("b", "1"), ("new", "1")])),
        ("here/all.yaml", &typed(&[("own", "1"), ("a", "1"), ("b", "9")])),
    ]);
    folder.run(&[&UPGRADE[..], &["-i"]].concat()).passed();
    let new = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: new} # new\n  data:   {x: 1}\n";
    assert_eq!(folder.read("here/all.yaml"), typed(&[("own", "1"), ("a", "2"), ("b", "9")]) + new);
    let patch = map("b", &[("x", "'7'")]);
    let ran = folder.run(&["strategic", "-p", &patch, "-d", "here", "-o", "name"]);
    assert_eq!(ran.passed(), "configmap/b\n");
}

#[test]
fn local_configuration_is_left_out_where_that_is_asked_for() {
    let local = |name: &str, value: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  annotations:\n    config.kubernetes.io/local-config: '{value}'\n"
        )
    };
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {}- {}",
        local("l", "true").replace("\n", "\n  ").trim_end_matches(' '),
        map("in-list", &[]).replace("\n", "\n  ").trim_end_matches(' ')
    );
    let folder = Folder::with(&[
        ("d/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: pkg\n"),
        (
            "d/all.yaml",
            &format!("# head\n\n{}---\n{}---\n{}", map("a", &[]), local("fn", "true"), local("not", "false")),
        ),
        ("d/fn.yaml", &local("alone", "true")),
        ("d/list.yaml", &list),
    ]);
    let args = ["two-way", "-p", &map("a", &[("x", "'1'")]), "-d", "d", "--without-local-config"];
    let want = format!(
        "# head\n\n{}---\n{}---\napiVersion: v1\nkind: List\nitems:\n- {}",
        map("a", &[("x", "'1'")]),
        local("not", "false"),
        map("in-list", &[]).replace("\n", "\n  ").trim_end_matches(' ')
    );
    assert_eq!(folder.run(&args).passed(), want);
    let json = folder.run(&[&args[..], &["-o", "json"]].concat()).passed();
    assert!(json.contains("\"in-list\"") && !json.contains("Kptfile") && !json.contains("\"alone\""), "{json}");
    // Files are written with all that is in them.
    for more in [&["-i"][..], &["-o", "diff"], &["--dry-run"]] {
        let err = folder.run(&[&args[..], more].concat()).failed(2);
        assert_eq!(err, "error: `--without-local-config` must be given with `-o yaml` or `-o json`\n");
    }
    assert!(folder.run(&args[..5]).passed().contains("kind: Kptfile"));
}

#[test]
fn a_forgotten_source_is_an_error() {
    let folder = Folder::with(&[
        ("here/a.yaml", &map("a", &[])),
        ("config.yaml", "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  mode: TwoWay\n"),
    ]);
    for mode in ["two-way", "strategic"] {
        for dest in ["here", "here/a.yaml"] {
            let err = folder.run(&[mode, "--dest", dest]).failed(2);
            assert_eq!(err, "error: `--patch` or `--source` must be given: a file, a folder, or `-` for stdin\n");
        }
    }
    // A functionConfig says by itself what is merged, and so do marks in dest.
    folder.run(&["two-way", "--dest", "here", "--config", "config.yaml"]).passed();
    let marked = map("a", &[("x", "'2'")])
        .replace("  name: a\n", "  name: a\n  annotations: {config.kubernetes.io/merge-source: source}\n");
    folder.write("here/marked.yaml", marked);
    assert!(folder.run(&["two-way", "--dest", "here"]).passed().contains("x: '2'"));
}

#[test]
fn a_source_that_is_the_resource_itself_is_an_error() {
    let folder = Folder::with(&[("here/apps/a.yaml", &map("a", &[])), ("here/b.yaml", &map("b", &[]))]);
    for source in ["here/b.yaml", "here/apps/a.yaml"] {
        let err = folder.run(&["two-way", "-s", source, "-d", "here"]).failed(2);
        assert!(
            err.starts_with(&format!("error: {source}: the source must be for other resources of dest, but it is")),
            "{err}"
        );
    }
    // An overlay that lies in the package, of something that is there besides, is a source as any other one.
    folder.write("here/patch.yaml", map("b", &[("x", "'2'")]));
    assert!(folder.run(&["two-way", "-s", "here/patch.yaml", "-d", "here"]).passed().contains("x: '2'"));
    let config = |path: &str| {
        format!(
            "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  mode: TwoWay\n  source: [{{path: {path}}}]\n"
        )
    };
    folder.write("config.yaml", config("apps/a.yaml"));
    let err = folder.run(&["two-way", "-d", "here", "--config", "config.yaml"]).failed(2);
    assert!(err.contains("`spec.source[0].path` names this resource as the source, but the package has no other `v1 ConfigMap a` to merge it into"), "{err}");
}

/// If each side is one file, it is the same file, whatever it is called. So what stands in the same place is one resource.
#[test]
fn lone_files_of_other_names_are_one_file() {
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  other: '1'\n  more: '2'\n";
    let mine = map("a", &[("x", "'1'"), ("mine", "'1'")]);
    let folder = Folder::with(&[
        ("one.yaml", &map("a", &[("x", "'1'")])),
        ("two.yaml", other),
        ("mine.yaml", &mine),
        ("v2/one.yaml", other),
        ("here/mine.yaml", &mine),
        ("many/mine.yaml", &mine),
        ("many/other.yaml", &map("c", &[("x", "'1'")])),
    ]);
    let args = |updated: &'static str, dest: &'static str| {
        ["three-way", "--original", "one.yaml", "--updated", updated, "--dest", dest]
    };
    let want = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  mine: '1'\n  other: '1'\n  more: '2'\n";
    for (updated, dest) in [("two.yaml", "mine.yaml"), ("v2/one.yaml", "mine.yaml"), ("two.yaml", "here")] {
        assert_eq!(folder.run(&args(updated, dest)).passed(), want, "{updated} {dest}");
        let results = folder.run(&[&args(updated, dest)[..], &["-o", "results"]].concat()).passed();
        assert!(results.contains("one resource that was renamed"), "{results}");
    }
    assert_eq!(folder.run_with(&mine, &args("two.yaml", "-")).passed(), want);
    // A folder of several files is no single file.
    let results = folder.run(&[&args("two.yaml", "many")[..], &["-o", "results"]].concat()).passed();
    assert!(results.contains("0 merged, 1 added, 1 deleted") && !results.contains("moved"), "{results}");
    // The name of dest's file stays, and a second run changes nothing.
    for _ in 0..2 {
        folder.run(&[&args("two.yaml", "mine.yaml")[..], &["--in-place"]].concat()).passed();
        assert_eq!(folder.read("mine.yaml"), want);
    }
}

/// In one file, the version and the name of a resource may change at once, as in the git driver. Its kind may, too.
#[test]
fn documents_of_lone_files_are_followed_as_in_the_git_driver() {
    let text = |version: &str, kind: &str, name: &str, more: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\n---\napiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n  a: 1\n  b: 2\n  c: 3\n{more}"
        )
    };
    let mine = "  mine: 1\n";
    for [original, updated] in [
        [("apps/v1beta1", "Deployment", "x"), ("apps/v1", "Deployment", "y")],
        [("apps/v1", "Deployment", "x"), ("apps/v1", "StatefulSet", "x")],
    ] {
        let written = |(version, kind, name): (&str, &str, &str), more: &str| text(version, kind, name, more);
        let folder = Folder::with(&[
            ("v1.yaml", &written(original, "")),
            ("v2.yaml", &written(updated, "  d: 4\n")),
            ("mine.yaml", &written(original, mine)),
        ]);
        let out = folder.run(&["three-way", "--original", "v1.yaml", "--updated", "v2.yaml", "--dest", "mine.yaml"]);
        assert_eq!(out.passed(), written(updated, "  mine: 1\n  d: 4\n"));
    }
}
