//! `diff`: files and folders compared by resource and field.

use serde_json::Value;

use crate::support::{Folder, Ran, map};

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: prod\nspec:\n  replicas: 1\n  paused: true\n  template:\n    spec:\n      containers:\n      - name: app\n        image: web:1\n        args: [a, b, c]\n      - name: proxy\n        image: p:1\n";

fn compared(a: &str, b: &str, args: &[&str]) -> Ran {
    let folder = Folder::with(&[("a.yaml", a), ("b.yaml", b)]);
    folder.run(&[&["diff", "a.yaml", "b.yaml"], args].concat())
}

#[test]
fn each_field_is_shown_with_both_of_its_values() {
    let app = "spec.template.spec.containers[name=app]";
    let proxy = "spec.template.spec.containers[name=proxy]";
    let (one, other) = (
        "      - name: app\n        image: web:1\n        args: [a, b, c]\n",
        "      - name: proxy\n        image: p:1\n",
    );
    for (from, to, want) in [
        ("replicas: 1", "replicas: 3", "  ~ spec.replicas: 1 -> 3\n".to_owned()),
        ("replicas: 1", "replicas: \"1\"", "  ~ spec.replicas: 1 -> \"1\"\n".to_owned()),
        ("  paused: true\n", "", "  - spec.paused: true\n".to_owned()),
        (
            "spec:\n  rep",
            "spec:\n  strategy: {type: Recreate}\n  rep",
            "  + spec.strategy: {\"type\":\"Recreate\"}\n".to_owned(),
        ),
        ("web:1", "web:2", format!("  ~ {app}.image: \"web:1\" -> \"web:2\"\n")),
        (other, "", format!("  - {proxy}: {{\"name\":\"proxy\",\"image\":\"p:1\"}}\n")),
        ("b, c]", "c]", format!("  ~ {app}.args:\n    | \"a\"\n    |-\"b\"\n    | \"c\"\n")),
        (
            &format!("{one}{other}"),
            &format!("{other}{one}"),
            "  ~ spec.template.spec.containers: the elements stand in another order\n".to_owned(),
        ),
    ] {
        let ran = compared(WEB, &WEB.replace(from, to), &[]);
        let head = "changed: Deployment prod/web (b.yaml:1)\n";
        assert_eq!(ran.stdout, format!("{head}{want}total: 1 resource changed\n"));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""));
    }
    let text = |line: &str| map("a", &[("x", &format!("|\n    one\n    {line}\n    three"))]);
    let want = "changed: ConfigMap a (b.yaml:1)\n  ~ data.x:\n    | one\n    |-two\n    |+2\n    | three\ntotal: 1 resource changed\n";
    assert_eq!(compared(&text("two"), &text("2"), &[]).stdout, want);
}

#[test]
fn what_is_only_written_otherwise_is_no_difference() {
    let moved = WEB.replace("  replicas: 1\n  paused: true\n", "  paused: true # why\n\n  replicas: 0x1\n");
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    for (a, b) in [
        (WEB.to_owned(), moved),
        (format!("{WEB}---\n{other}"), format!("{other}---\n{WEB}")),
        (WEB.to_owned(), format!("# head\n{WEB}")),
    ] {
        let ran = compared(&a, &b, &[]);
        assert_eq!(ran.stderr, "info: only comments, layout or order differ in b.yaml\n");
        assert_eq!(ran.passed(), "");
    }
    let ran = compared(WEB, WEB, &[]);
    assert_eq!((ran.stderr.as_str(), ran.stdout.as_str(), ran.code), ("", "", Some(0)));
}

/// Annotations of the host say nothing of a resource. Those that users write for kustomize do.
#[test]
fn annotations_that_users_write_for_kustomize_are_compared() {
    let with = |name: &str| {
        let annotation = format!("  annotations:\n    kustomize.config.k8s.io/{name}: \"1\"\n");
        WEB.replace("  namespace: prod\n", &format!("  namespace: prod\n{annotation}"))
    };
    for (name, code) in [("id", 0), ("needs-hash", 1), ("behavior", 1)] {
        let ran = compared(WEB, &with(name), &[]);
        assert_eq!(
            (ran.code, ran.stdout.contains(&format!("kustomize.config.k8s.io/{name}"))),
            (Some(code), code == 1)
        );
    }
}

#[test]
fn the_exit_code_is_that_of_diff() {
    let other = WEB.replace("replicas: 1", "replicas: 2");
    for (args, code) in [(&[][..], 1), (&["--exit-code"], 1), (&["--exit-code=false"], 0), (&["-o", "name"], 1)] {
        assert_eq!(compared(WEB, &other, args).code, Some(code), "{args:?}");
        assert_eq!(compared(WEB, WEB, args).code, Some(0), "{args:?}");
    }
    assert_eq!(compared(WEB, "a: [", &[]).code, Some(2));
    // Of lines, also one that means nothing is a difference.
    let commented = format!("# head\n{WEB}");
    assert_eq!(compared(WEB, &commented, &["-o", "diff"]).code, Some(1));
    assert_eq!(compared(WEB, &commented, &["-o", "name"]).code, Some(0));
}

/// Two packages: resources that change, come, go and move, and files without any.
fn packages() -> Folder {
    Folder::with(&[
        ("a/web.yaml", WEB),
        ("a/maps.yaml", &format!("{}---\n{}", map("gone", &[("x", "'1'")]), map("moved", &[("x", "'1'")]))),
        ("a/kustomization.yaml", "kind: Kustomization\nresources: [web.yaml]\n"),
        ("a/README.md", "read\n"),
        ("b/web.yaml", &WEB.replace("web:1", "web:2")),
        ("b/other.yaml", &map("moved", &[("x", "'1'")])),
        ("b/new.yaml", &map("new", &[("x", "'1'")])),
        ("b/kustomization.yaml", "kind: Kustomization\nresources: [web.yaml, new.yaml]\n"),
        ("b/README.md", "read it\n"),
    ])
}

#[test]
fn folders_are_compared_resource_by_resource() {
    let ran = packages().run(&["diff", "a", "b"]);
    let want = "\
removed: ConfigMap gone (a/maps.yaml:1)
changed: Deployment prod/web (b/web.yaml:1)
  ~ spec.template.spec.containers[name=app].image: \"web:1\" -> \"web:2\"
changed: b/kustomization.yaml:1
  ~ resources:
    | \"web.yaml\"
    |+\"new.yaml\"
added: ConfigMap new (b/new.yaml:1)
changed: b/README.md
total: 2 resources and 1 file changed, 1 resource added, 1 resource removed
";
    assert_eq!(ran.stdout, want);
    assert_eq!(ran.stderr, "info: ConfigMap moved is in another file: maps.yaml -> other.yaml\n");
    assert_eq!(ran.code, Some(1));
}

/// A value that is a template has no fields. Where the file may hold a Secret, no line of it is shown.
#[test]
fn a_template_is_compared_by_line() {
    let template = |kind: &str, port: &str| {
        format!(
            "apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {{{{ .Release.Name }}}}\nspec:\n  port: {{{{ .{port} }}}}\n"
        )
    };
    let lines = "    |… 3 more lines\n    |   name: {{ .Release.Name }}\n    | spec:\n    |-  port: {{ .a }}\n    |+  port: {{ .b }}\n";
    for (kind, lines) in [("Service", lines), ("Secret", "")] {
        let folder = Folder::with(&[("a/x.yaml", &template(kind, "a")), ("b/x.yaml", &template(kind, "b"))]);
        let want = format!("changed: b/x.yaml\n{lines}total: 1 file changed\n");
        assert_eq!(folder.run(&["diff", "a", "b"]).stdout, want);
    }
}

/// A document that is empty holds no value. One that is a list does, also beside a resource.
#[test]
fn each_document_of_a_file_counts_by_its_value() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";
    let list = |value: u8| format!("{pod}---\n- {value}\n");
    let folder = Folder::with(&[
        ("a/empty.yaml", "a: 1\n---\n"),
        ("b/empty.yaml", "a: 1\n"),
        ("a/list.yaml", &list(1)),
        ("b/list.yaml", &list(2)),
    ]);
    let want = "changed: b/list.yaml:6\n  ~ the whole document:\n    |-1\n    |+2\ntotal: 1 resource changed\n";
    assert_eq!(folder.run(&["diff", "a", "b"]).stdout, want);
}

/// JSON has no tags and no dates, so such values are shown as they are written.
#[test]
fn values_that_are_one_in_json_are_shown_as_they_are_written() {
    for (old, new, want) in [
        ("!x {b: 1}", "{b: 1}", "!x {b: 1} -> {b: 1}"),
        ("2001-01-01", "'2001-01-01'", "2001-01-01 -> '2001-01-01'"),
        ("1", "2", "1 -> 2"),
    ] {
        let ran = compared(&format!("a: {old}\n"), &format!("a: {new}\n"), &[]);
        assert_eq!(ran.stdout, format!("changed: b.yaml:1\n  ~ a: {want}\ntotal: 1 resource changed\n"));
    }
}

#[test]
fn a_resource_without_a_name_is_named_by_its_file() {
    let prefix = |prefix: &str| {
        format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamePrefix: {prefix}\n")
    };
    let (one, other) = (prefix("a-"), prefix("b-"));
    let folder = Folder::with(&[
        ("a/c/kustomization.yaml", &one),
        ("b/c/kustomization.yaml", &other),
        ("a/x", "1"),
        ("b/x", "2"),
    ]);
    assert_eq!(folder.run(&["diff", "a", "b", "-o", "name"]).stdout, "c/kustomization.yaml\nx\n");
}

/// `KUBECTL_EXTERNAL_DIFF` gets two folders, with a file for each object.
#[test]
fn the_folders_of_kubectl_diff_hold_resources() {
    let name = "apps.v1.Deployment.prod.web";
    let (old, new) = (format!("LIVE-1/{name}"), format!("MERGED-2/{name}"));
    let folder = Folder::with(&[(&old, WEB), (&new, &WEB.replace("replicas: 1", "replicas: 2"))]);
    let want =
        format!("changed: Deployment prod/web ({new}:1)\n  ~ spec.replicas: 1 -> 2\ntotal: 1 resource changed\n");
    assert_eq!(folder.run(&["diff", "LIVE-1", "MERGED-2"]).stdout, want);
}

#[test]
fn other_programs_get_what_they_take() {
    let folder = packages();
    let names = folder.run(&["diff", "a", "b", "-o", "name"]).stdout;
    assert_eq!(names, "configmap/gone\ndeployment.apps/web\nkustomization.yaml\nconfigmap/new\nREADME.md\n");
    let patch = folder.run(&["diff", "a", "b", "-o", "diff"]).stdout;
    assert!(patch.contains("@@ Deployment prod/web spec.template.spec.containers[name=app].image\n"), "{patch}");
    assert!(patch.contains("diff --git a/README.md b/README.md\n"), "{patch}");
    let json = folder.run(&["diff", "a", "b", "-o", "json"]).stdout;
    let json: Vec<Value> = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json.len(), 5);
    let web = json.iter().find(|r| r["resourceRef"]["kind"] == "Deployment").expect("the Deployment");
    assert_eq!(web["field"]["path"], "spec.template.spec.containers[0].image");
    assert_eq!(web["message"], "`spec.template.spec.containers[name=app].image`: the value is changed");
    assert_eq!((&web["field"]["currentValue"], &web["field"]["proposedValue"]), (&"web:1".into(), &"web:2".into()));
    assert_eq!(web["tags"]["krm-merge.dev/reason"], "changed");
    let yaml = folder.run(&["diff", "a", "b", "-o", "results"]).stdout;
    let yaml: Value = yaml_serde::from_str(&yaml).expect("YAML");
    assert_eq!(yaml["results"], Value::from(json));
    let comment = folder.run(&["diff", "a", "b", "-o", "markdown"]).stdout;
    assert!(comment.starts_with("### krm-merge: 2 resources and 1 file changed, "), "{comment}");
    assert!(comment.contains("\n<pre>  ~ spec.template.spec.containers[name=app].image: &quot;web:1"), "{comment}");
    assert_eq!(comment.matches("<details>").count(), 5);
}

#[test]
fn values_of_a_secret_are_in_no_output_but_the_lines() {
    let secret = |value: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData:\n  password: {value}\n")
    };
    for output in ["fields", "json", "results", "markdown"] {
        let text = compared(&secret("hunter2"), &secret("hunter3"), &["-o", output]).stdout;
        assert!(text.contains("stringData.password") && !text.contains("hunter"), "{text}");
    }
    assert!(compared(&secret("hunter2"), &secret("hunter3"), &["-o", "diff"]).stdout.contains("hunter3"));
}

#[test]
fn a_side_may_be_stdin_and_only_one() {
    let folder = Folder::with(&[("a.yaml", WEB)]);
    let ran = folder.run_with(&WEB.replace("replicas: 1", "replicas: 2"), &["diff", "a.yaml", "-"]);
    assert!(ran.stdout.contains("  ~ spec.replicas: 1 -> 2\n"), "{ran:?}");
    assert!(folder.run(&["diff", "-", "-"]).failed(2).contains("only one side must be `-`"));
}
