//! One merge in each format: unresolved conflicts and those with a winner, secrets, and what is told of no file.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::collections::BTreeMap;
use std::fs;

use krm_files::temporary::TemporaryFolder;
use krm_folders::change::Change;
use krm_folders::given;
use krm_folders::merge::{Conflicts, Merge};
use krm_folders::side::Side;
use krm_job::event::{self, Clash, ClashPlace, Did, Dispute, Event, Field, File, ResourceRef, Severity};
use krm_merge_core::policy::Settled;
use krm_tree::limit::Limit;
use krm_tree::sides::Sides;
use serde_json::Value;

use crate::args::Output;
use crate::html::{Writing, html};
use crate::markdown::{headline, markdown};
use crate::output::Printed;
use crate::page;
use crate::place;
use crate::screen::{Page, Reader};

const TEXT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  a: ours\n";
const LOCAL: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: l\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\n";

/// A package on disk.
fn package() -> (TemporaryFolder, Side) {
    let folder = TemporaryFolder::new("test-of-show").expect("a folder");
    fs::create_dir(folder.path().join("p")).expect("made");
    for (name, text) in [("a.yaml", TEXT), ("l.yaml", LOCAL)] {
        fs::write(folder.path().join("p").join(name), text).expect("written");
    }
    let side = given::side("DEST", &folder.path().join("p").to_string_lossy(), &[]).expect("a side");
    (folder, side)
}

/// A conflict in a field of a resource of `a.yaml`.
fn conflict(settled: Settled, kind: &str) -> Event {
    let value = |text: &str| Some(event::Value::String(text.to_owned()));
    let (current_value, proposed_value) = (value("value-of-dest"), value("value-of-updated"));
    let clash = Clash {
        place: ClashPlace::Field("data.a".to_owned()),
        original: Some("\"value-of-original\"".to_owned()),
        settled,
        ..Clash::open(Dispute::Value { at: "data.a".to_owned(), did: [Did::Changed; 2] })
    };
    let name = ResourceRef { api_version: "v1".into(), kind: kind.into(), namespace: String::new(), name: "m".into() };
    Event {
        field: Some(Field { path: "data.a".into(), current_value, proposed_value }.into()),
        resource_ref: Some(name.into()),
        file: Some(File { path: "a.yaml".into(), index: None }.into()),
        here: TEXT.find("ours"),
        is_secret: kind == "Secret",
        ..Event::conflict(Severity::Warning, clash)
    }
}

fn of_file(severity: Severity, message: &str, path: &str) -> Event {
    Event { file: Some(File { path: path.into(), index: None }.into()), ..Event::new(severity, message) }
}

fn change(path: &str, old: Option<&str>, new: Option<&str>) -> Change {
    let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
    Change { path: path.into(), old: bytes(old), new: bytes(new), executable: None }
}

fn merge(results: Vec<Event>, changes: Vec<Change>) -> Merge {
    Merge {
        changes,
        results,
        made: BTreeMap::new(),
        rules: Vec::new(),
        limit: Limit::new(1 << 20, None, "x"),
        conflicts: Conflicts::Settled,
        secrets: Vec::new(),
        names: Sides::default(),
    }
}

fn shown(dest: &Side, merge: &Merge, output: Output) -> String {
    page::of(dest, merge, output, Printed::All, Reader::Program).expect("a page").text().to_owned()
}

#[test]
fn a_conflict_that_waits_for_someone_is_an_error_of_code_scanning() {
    let (_folder, dest) = package();
    let results = vec![
        conflict(Settled::Open, "ConfigMap"),
        conflict(Settled::Dest, "ConfigMap"),
        Event::new(Severity::Warning, "look"),
        of_file(Severity::Info, "noted", "a.yaml"),
        Event::new(Severity::Info, "1 merged"),
    ];
    let log = |results: Vec<Event>| -> Value {
        serde_json::from_str(&shown(&dest, &merge(results, Vec::new()), Output::Sarif)).expect("JSON")
    };
    let found = log(results.clone());
    let run = &found["runs"][0];
    let told: Vec<_> = run["results"].as_array().expect("results").iter().collect();
    let of = |field: &str| told.iter().map(|told| told[field].as_str().unwrap_or_default()).collect::<Vec<_>>();
    assert_eq!(of("level"), ["error", "warning", "warning", "note"], "{found:#}");
    assert_eq!(of("ruleId"), ["conflict", "conflict", "review", "review"]);
    let region = serde_json::json!({"startLine": 6, "startColumn": 6});
    let place = &told[0]["locations"][0]["physicalLocation"];
    assert!(place["artifactLocation"]["uri"].as_str().is_some_and(|uri| uri.ends_with("/p/a.yaml")), "{place}");
    assert_eq!(place["region"], region);
    assert_eq!(told[3]["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
    assert_eq!(told[2]["locations"], Value::Null);
    let whole = told[0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"].as_str().unwrap_or_default();
    assert_eq!(told[0]["partialFingerprints"]["resourceAndField/v1"], format!("conflict {whole}"));
    assert_eq!(told[0]["properties"]["dest"], "\"value-of-dest\"");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let found = log([vec![Event::new(Severity::Error, "bad")], results].concat());
    assert_eq!(found["runs"][0]["invocations"][0]["executionSuccessful"], false);
    assert_eq!(
        (&found["runs"][0]["results"][0]["level"], &found["runs"][0]["results"][0]["ruleId"]),
        (&"error".into(), &"error".into())
    );
}

#[test]
fn the_formats_agree_on_what_is_open() {
    let (_folder, dest) = package();
    let all = || vec![conflict(Settled::Open, "ConfigMap"), conflict(Settled::Dest, "ConfigMap")];
    assert_eq!(headline(&all()), "2 conflicts, 1 unresolved");
    assert_eq!(headline(&all()[..1]), "1 unresolved conflict");
    assert_eq!(headline(&all()[1..]), "1 conflict");
    assert_eq!(headline(&[conflict(Settled::Dest, "A"), conflict(Settled::Updated, "A")]), "2 conflicts");
    assert_eq!(headline(&[Event::new(Severity::Error, "bad")]), "no conflicts");
    let told = shown(&dest, &merge(all(), Vec::new()), Output::Github);
    let begins = |line: &str, level: &str| {
        let end = ",line=6,col=6,title=conflict in ConfigMap m::";
        assert!(line.starts_with(&format!("::{level} file=")) && line.contains(end), "{line}");
    };
    let [open, settled] = told.lines().collect::<Vec<_>>()[..] else { panic!("{told}") };
    begins(open, "error");
    begins(settled, "warning");
}

/// What is only for the eyes of one person is in no page that others read.
#[test]
fn values_of_secrets_are_in_no_format_for_others() {
    let (_folder, dest) = package();
    for (kind, is_there) in [("ConfigMap", true), ("Secret", false)] {
        let merge = merge(vec![conflict(Settled::Open, kind)], Vec::new());
        for output in [Output::Sarif, Output::Markdown, Output::Html] {
            let told = shown(&dest, &merge, output);
            for value in ["value-of-original", "value-of-dest", "value-of-updated"] {
                assert_eq!(told.contains(value), is_there, "{kind} {output:?}: {told}");
            }
            assert!(told.contains("data.a"), "{output:?}");
        }
    }
}

#[test]
fn a_comment_has_a_block_for_each_conflict_up_to_its_size() {
    let (_folder, dest) = package();
    let some = vec![
        conflict(Settled::Updated, "ConfigMap"),
        of_file(Severity::Warning, "look <here>", "b.yaml"),
        Event::new(Severity::Info, "1 merged"),
    ];
    let told = markdown(&dest, &some);
    let begin = "### krm-merge: 1 conflict\n\n<ul>\n<li><code>1 merged</code></li>\n</ul>\n\n<ul>\n<li><code>warning: b.yaml: look &lt;here&gt;</code></li>\n</ul>\n\n<details>\n";
    assert!(told.starts_with(begin), "{told}");
    for (side, value) in [("original", "value-of-original"), ("dest", "value-of-dest"), ("updated", "value-of-updated")]
    {
        assert!(told.contains(&format!("\n{side}:\n\n<pre>&quot;{value}&quot;</pre>\n")), "{side}: {told}");
    }
    let many = markdown(&dest, &vec![conflict(Settled::Open, "ConfigMap"); 1000]);
    let blocks = many.matches("<details>").count();
    assert!(many.len() < 65_536 && blocks > 50, "{}: {blocks}", many.len());
    assert!(many.ends_with(&format!("\n… and {} more, which are in the log of the run\n", 1000 - blocks)));
    let warnings = markdown(&dest, &vec![of_file(Severity::Warning, &"x".repeat(100), "b.yaml"); 1000]);
    let items = warnings.matches("<li><code>").count();
    assert!(warnings.len() < 35_000 && warnings.contains(&format!("<li>… and {} more</li>", 1000 - items)), "{items}");
}

#[test]
fn the_page_begins_with_what_is_unresolved() {
    let (_folder, dest) = package();
    let results = vec![
        Event { file: Some(File { path: "b.yaml".into(), index: None }.into()), ..conflict(Settled::Dest, "Service") },
        conflict(Settled::Open, "ConfigMap"),
        of_file(Severity::Warning, "look", "c.yaml"),
        of_file(Severity::Info, "noted", "d.yaml"),
        Event::new(Severity::Info, "1 merged"),
    ];
    let changes = vec![change("e.yaml", None, Some(TEXT)), change("sub/Kptfile", Some("a: 1\n"), Some("a: 2\n"))];
    let told = html(&dest, &merge(results, changes), Writing::Not);
    let has: Vec<&str> = told.split("data-has=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(has, ["conflict open", "conflict", "warning", "changed", "changed", ""]);
    let files: Vec<&str> = told.split("data-file=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(files, ["a.yaml", "b.yaml", "c.yaml", "e.yaml", "sub/Kptfile", "d.yaml"]);
    // The side that won is marked, and none of an open conflict.
    let won: Vec<&str> =
        told.split("<div class=\"side won\">").skip(1).filter_map(|rest| rest.split(" <").next()).collect();
    assert_eq!(won, ["<dt>dest"]);
    assert!(told.contains("2 files would change. Nothing was written."), "{told}");
    assert!(told.contains("<strong>Next:</strong> check each conflict, because only one side was taken."), "{told}");
    let marked =
        Merge { conflicts: Conflicts::Marked, ..merge(vec![conflict(Settled::Open, "ConfigMap")], Vec::new()) };
    let told = html(&dest, &marked, Writing::Done);
    assert!(told.contains("asks about each conflict, which has conflict markers"), "{told}");
    assert!(told.contains("0 files changed."), "{told}");
}

#[test]
fn what_was_written_is_listed_and_counted() {
    let changes = || {
        vec![
            change("a", Some("x"), Some("y")),
            change("b", None, Some("")),
            change("c", Some("x"), None),
            change("marked", Some("x"), Some("y")),
        ]
    };
    let told = |merge: &Merge| {
        let mut page = Page::new(Reader::Program);
        let marked = |change: &Change| if change.path == "marked" { vec![3, 7] } else { Vec::new() };
        page::written_with_markers(merge, marked, &mut page);
        page.text().to_owned()
    };
    let some = merge(vec![Event::new(Severity::Info, "noted"), Event::new(Severity::Warning, "look")], changes());
    assert_eq!(
        told(&some),
        "changed a\nadded b\ndeleted c\nconflict marked:3, 7\ntotal: 2 files changed, 1 file added, 1 file deleted\ninfo: noted\n"
    );
    let many = (0..200).map(|number| change(&format!("{number:03}"), None, Some("x"))).collect::<Vec<_>>();
    assert_eq!(told(&merge(Vec::new(), many.clone())).lines().count(), 201);
    let more = merge(Vec::new(), [many, changes()].concat());
    assert_eq!(told(&more), "conflict marked:3, 7\ntotal: 2 files changed, 201 files added, 1 file deleted\n");
    assert_eq!(told(&merge(Vec::new(), Vec::new())), "");
}

#[test]
fn the_resources_are_one_stream_and_only_those_for_a_cluster() {
    let (_folder, dest) = package();
    let new = TEXT.replace("ours", "new");
    let changes = vec![
        change("a.yaml", Some(TEXT), Some(&new)),
        change("README.md", None, Some("no resource\n")),
        change("z.yaml", None, Some("%YAML 1.1\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: z}\n")),
    ];
    let merge = merge(Vec::new(), changes);
    let of =
        |output, printed| page::of(&dest, &merge, output, printed, Reader::Program).expect("a page").text().to_owned();
    let z = "%YAML 1.1\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: z}\n";
    assert_eq!(of(Output::Yaml, Printed::All), format!("{new}---\n{LOCAL}...\n{z}"));
    assert_eq!(of(Output::Yaml, Printed::ForCluster), format!("{new}...\n{z}"));
    let json: Value = serde_json::from_str(&of(Output::Json, Printed::ForCluster)).expect("JSON");
    let names: Vec<_> = json["items"].as_array().expect("a List").iter().map(|item| item["kind"].as_str()).collect();
    assert_eq!((json["kind"].as_str(), names), (Some("List"), vec![Some("ConfigMap"), Some("Secret")]));
    assert_eq!(of(Output::Name, Printed::All), "configmap/m\nsecret/z\n");
    let failed = self::merge(vec![Event::new(Severity::Error, "bad")], Vec::new());
    assert_eq!(shown(&dest, &failed, Output::Yaml), "");
}

#[test]
fn a_diff_has_the_modes_and_names_that_git_reads() {
    let (_folder, dest) = package();
    let mut changes = vec![
        change("a.yaml", Some(TEXT), Some(&TEXT.replace("ours", "new"))),
        change("b c", None, Some("")),
        change("d", Some("x"), Some("x")),
        change("e", Some("\0"), Some("\0\0")),
        change("f", Some("x\n"), None),
        change("g", Some("x"), Some("x")),
    ];
    changes[1].executable = Some(true);
    changes[2].executable = Some(true);
    changes[5].executable = Some(false);
    let merge = merge(vec![conflict(Settled::Dest, "ConfigMap")], changes);
    let told = shown(&dest, &merge, Output::Diff);
    let want = "diff --git a/a.yaml b/a.yaml\n--- a/a.yaml\n+++ b/a.yaml\n@@ -3,4 +3,4 @@ ConfigMap m data.a\n metadata:\n   name: m\n data:\n-  a: ours\n+  a: new\ndiff --git \"a/b c\" \"b/b c\"\nnew file mode 100755\ndiff --git a/d b/d\nold mode 100644\nnew mode 100755\ndiff --git a/e b/e\nindex 0000000..0000000\nBinary files a/e and b/e differ\ndiff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/g b/g\nold mode 100755\nnew mode 100644\nconflict: ConfigMap m (a.yaml:6): data.a\n";
    assert!(told.starts_with(want), "{told}");
    assert!(told.ends_with("total: 1 conflict in 1 file, 6 files changed\n"), "{told}");
}

#[test]
fn each_conflict_has_its_line_in_the_results() {
    let (_folder, dest) = package();
    let merge =
        merge(vec![conflict(Settled::Dest, "ConfigMap"), of_file(Severity::Info, "noted", "a.yaml")], Vec::new());
    let told: Value = yaml_serde::from_str(&shown(&dest, &merge, Output::Results)).expect("YAML");
    let lines: Vec<_> = (0..2).map(|at| told["results"][at]["tags"]["krm-merge.dev/line"].as_str()).collect();
    assert_eq!((lines, &told["results"][1]["message"]), (vec![Some("6"), None], &"noted".into()), "{told:#}");
}

#[test]
fn a_value_of_a_file_without_resources_has_its_line() {
    let (folder, _) = package();
    fs::write(folder.path().join("p/values.yaml"), "a: 1\nb: 2\n").expect("written");
    let dest = given::side("DEST", &folder.path().join("p").to_string_lossy(), &[]).expect("a side");
    let line = |here: Option<usize>| {
        let event = Event { here, ..of_file(Severity::Warning, "look", "values.yaml") };
        place::of(&dest, &event).map(|at| at.position.line)
    };
    assert_eq!([line(None), line(Some(8)), line(Some(3))], [Some(1), Some(2), Some(1)]);
}
