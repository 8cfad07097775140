//! Output for machines: annotations of GitHub, SARIF, comments of pull requests, and the exit code of conflicts.

use serde_json::{Value, json};

use crate::schema::faults;
use crate::support::{Folder, map};

const UPGRADE: [&str; 7] = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here"];

/// Four conflicts: of a value in a folder whose name wants escapes, of a text, in a Secret, and of a resource that dest deleted. Beside them
/// is a file that is no YAML.
fn package() -> Folder {
    let deployment = |replicas: u8| {
        format!(
            "# head\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: prod\nspec:\n  paused: true\n  replicas: {replicas}\n"
        )
    };
    let script = |second: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: s\ndata:\n  run: |\n    set -e\n    echo {second}\n    true\n    false\n    exit 0\n"
        )
    };
    let secret =
        |value: &str| format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: t\nstringData:\n  p: {value}\n");
    let folder = Folder::with(&[("here/t.tpl.yaml", "{{- x }}\n"), ("here/c.yaml", &map("c", &[("own", "'1'")]))]);
    for (side, release) in [("v1", 1), ("v2", 2), ("here", 3)] {
        folder.write(&format!("{side}/a, b/web:1.yaml"), deployment(release));
        folder
            .write(&format!("{side}/script.yaml"), script(["one", "<two> & @you", "three"][usize::from(release) - 1]));
        folder.write(&format!("{side}/secret.yaml"), secret(&format!("hidden-{release}")));
        if side != "here" {
            folder.write(&format!("{side}/gone.yaml"), map("gone", &[("x", &format!("'{release}'"))]));
        }
    }
    folder
}

fn run(folder: &Folder, more: &[&str]) -> String {
    folder.run(&[&UPGRADE[..], more].concat()).passed()
}

#[test]
fn a_merge_with_conflicts_may_end_with_1_and_is_done() {
    let folder = package();
    let ran = folder.run(&[&UPGRADE[..], &["-i", "--conflicts-exit-code"]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(folder.read("here/a, b/web:1.yaml").contains("replicas: 2\n"));
    // After that nothing is in conflict but what stays deleted.
    std::fs::remove_file(folder.path("v1/gone.yaml")).expect("removed");
    std::fs::remove_file(folder.path("v2/gone.yaml")).expect("removed");
    folder.run(&[&UPGRADE[..], &["-i", "--conflicts-exit-code"]].concat()).passed();
    let bad =
        folder.run(&["three-way", "--original", "v1", "--updated", "nowhere", "-d", "here", "--conflicts-exit-code"]);
    assert_eq!(bad.code, Some(2), "{bad:?}");
}

#[test]
fn annotations_of_github_name_file_and_line() {
    let folder = package();
    let out = run(&folder, &["-o", "github"]);
    let lines: Vec<&str> = out.lines().collect();
    for (start, end) in [
        (
            "::warning file=here/a%2C b/web%3A1.yaml,line=9,col=13,title=conflict in Deployment prod/web::both sides changed `spec.replicas`: dest has 3",
            "took updated's",
        ),
        (
            "::warning file=here/script.yaml,line=6,col=8,title=conflict in ConfigMap s::both sides changed `data.run`",
            "took updated's",
        ),
        (
            "::warning file=here/secret.yaml,line=6,col=6,title=conflict in Secret t::both sides changed `stringData.p`",
            "took updated's",
        ),
        (
            "::warning file=here/gone.yaml,line=1,col=1,title=conflict in ConfigMap gone::dest does not have the resource",
            "did not add it",
        ),
        (
            "::warning title=krm-merge::1 file is not valid YAML",
            "here/t.tpl.yaml:1:3: the text must be YAML: \"-\" is only valid inside a block",
        ),
    ] {
        let found: Vec<_> = lines.iter().filter(|line| line.starts_with(start) && line.ends_with(end)).collect();
        assert_eq!(found.len(), 1, "{start}\n{out}");
    }
    assert_eq!(lines.len(), 5, "{out}");
    assert!(!out.contains("hidden"), "{out}");
    let failed = folder.run(&[&UPGRADE[..], &["-o", "github", "--on-conflict", "fail"]].concat());
    assert!(failed.stdout.contains("::error file=here/secret.yaml,line=6,"), "{failed:?}");
    assert_eq!(failed.code, Some(1));
    // Seen from the folder itself, and from a file.
    let inside = folder
        .run(&[
            "three-way",
            "--original",
            "v1/script.yaml",
            "--updated",
            "v2/script.yaml",
            "-d",
            "./here/script.yaml",
            "-o",
            "github",
        ])
        .passed();
    assert!(inside.starts_with("::warning file=here/script.yaml,line=6,"), "{inside}");
}

fn sarif(folder: &Folder, more: &[&str]) -> Value {
    let text = folder.run(&[&UPGRADE[..], &["-o", "sarif"], more].concat()).stdout;
    let log: Value = serde_json::from_str(&text).expect("JSON");
    let schema: Value = serde_json::from_str(include_str!("sarif/sarif-schema-2.1.0.json")).expect("JSON");
    assert_eq!(faults(&schema, &log), [""; 0], "{text}");
    log
}

#[test]
fn sarif_is_what_the_standard_says() {
    let folder = package();
    let log = sarif(&folder, &[]);
    let run = &log["runs"][0];
    assert_eq!((&log["version"], &run["invocations"][0]["executionSuccessful"]), (&json!("2.1.0"), &json!(true)));
    let results = run["results"].as_array().expect("results");
    let of = |file: &str| {
        let is_there = |r: &&Value| r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == file;
        results.iter().find(is_there).unwrap_or_else(|| panic!("{file} is not in {log:#}"))
    };
    let web = of("here/a%2C%20b/web%3A1.yaml");
    assert_eq!(web["locations"][0]["physicalLocation"]["region"], json!({"startLine": 9, "startColumn": 13}));
    assert_eq!(
        web["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
        "apps/v1 Deployment prod/web spec.replicas"
    );
    assert_eq!((&web["ruleId"], &web["level"]), (&json!("conflict"), &json!("warning")));
    assert_eq!(web["properties"], json!({"original": "1", "dest": "3", "updated": "2"}));
    let rule = web["ruleIndex"].as_u64().expect("an index") as usize;
    assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], "conflict");
    assert!(of("here/secret.yaml")["properties"].is_null() && !log.to_string().contains("hidden"), "{log:#}");
    assert_eq!(of("here/gone.yaml")["ruleId"], "conflict");
    assert_eq!(results.len(), 5);
    let failed = sarif(&folder, &["--on-conflict", "fail"]);
    assert_eq!(failed["runs"][0]["invocations"][0]["executionSuccessful"], false);
    // Without a conflict, and with what is combined.
    folder.write("here/script.yaml", folder.read("v1/script.yaml").replace("exit 0", "exit 1"));
    let combined = sarif(&folder, &[]);
    let results = combined["runs"][0]["results"].as_array().expect("results");
    assert!(results.iter().any(|r| r["ruleId"] == "combined" && r["level"] == "note"), "{combined:#}");
}

#[test]
fn a_comment_has_a_summary_and_a_block_for_each_conflict() {
    let folder = package();
    let out = run(&folder, &["-o", "markdown"]);
    assert!(out.starts_with("### krm-merge: 4 conflicts\n\n<ul>\n<li><code>3 merged, 0 added, 0 deleted, 1 unchanged; 4 conflicts</code></li>\n"), "{out}");
    assert_eq!((out.matches("<details>").count(), out.matches("</details>").count()), (4, 4), "{out}");
    for part in [
        "<summary><code>here/a, b/web:1.yaml:9</code> <code>Deployment prod/web</code> <code>spec.replicas</code>: took updated's</summary>",
        "\noriginal:\n\n<pre>1</pre>\n\ndest:\n\n<pre>3</pre>\n\nupdated:\n\n<pre>2</pre>\n",
        "<pre lang=\"diff\"> set -e\n-echo one\n+echo &lt;two&gt; &amp; @you\n true\n false\n… 1 more line</pre>",
        "<summary><code>here/gone.yaml:1</code> <code>ConfigMap gone</code> <code>data.x</code>: did not add it</summary>",
        "<li><code>warning: 1 file is not valid YAML and is treated as a plain file, without resources: here/t.tpl.yaml:1:3: the text must be YAML: &quot;-&quot; is only valid inside a block</code></li>",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    assert!(!out.contains("hidden"), "{out}");
    let failed = folder.run(&[&UPGRADE[..], &["-o", "markdown", "--on-conflict", "fail"]].concat());
    assert!(failed.stdout.starts_with("### krm-merge: 4 conflicts, 4 unresolved\n"), "{failed:?}");
    assert_eq!(failed.code, Some(1));
}

#[test]
fn the_results_name_the_line_of_each_conflict() {
    let folder = package();
    let out = run(&folder, &["-o", "results"]);
    let results: Value = yaml_serde::from_str(&out).expect("YAML");
    let lines: Vec<(&str, &str)> = results["results"]
        .as_array()
        .expect("results")
        .iter()
        .filter_map(|r| Some((r["file"]["path"].as_str()?, r["tags"]["krm-merge.dev/line"].as_str()?)))
        .collect();
    assert_eq!(lines, [("a, b/web:1.yaml", "9"), ("gone.yaml", "1"), ("script.yaml", "6"), ("secret.yaml", "6")]);
}
