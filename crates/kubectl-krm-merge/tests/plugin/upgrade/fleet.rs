//! Many packages at once: `list`, `upgrade --all`, `diff PACKAGE` and `log`.

use std::fs;

use serde_json::Value;

use super::repository::{Upstream, commit};
use crate::support::{Folder, map};

fn file(directory: &str, value: &str) -> Vec<(String, String)> {
    vec![(format!("{directory}/a.yaml"), map("a", &[("v", value), ("w", "x")]))]
}

/// Two upstreams with three releases, and three packages of them, one in another.
fn fleet() -> (Folder, [Upstream; 2]) {
    let folder = Folder::new();
    let upstreams = ["one.git", "two.git"].map(|name| Upstream::new(&folder, name));
    for upstream in &upstreams {
        for (value, tag) in [("'1'", "v1.0.0"), ("'2'", "v1.1.0"), ("'3'", "v2.0.0")] {
            upstream.release(&file("d", value), tag);
        }
    }
    for (upstream, at, name) in [(0, "v1.0.0", "apps/a"), (0, "~1.0", "apps/a/sub"), (1, "v2.0.0", "apps/b")] {
        folder.run(&["get", &upstreams[upstream].source(&format!("d@{at}")), &format!("mine/{name}")]).passed();
    }
    folder.write("mine/apps/b/a.yaml", map("a", &[("v", "'3'"), ("w", "ours")]));
    folder.write("mine/plain/a.yaml", map("plain", &[("v", "x")]));
    commit(&folder.path("mine"), "got");
    (folder, upstreams)
}

fn rows(json: &str) -> Vec<Value> {
    serde_json::from_str::<Value>(json).expect("JSON").as_array().expect("a list").clone()
}

#[test]
fn each_package_has_a_line_with_what_it_has_and_could_get() {
    let (folder, upstreams) = fleet();
    let repo = |at: usize| upstreams[at].source("").trim_end_matches('/').trim_end_matches(".git").to_owned();
    let [one, two] = [repo(0), repo(1)];
    let told = folder.run(&["list", "mine"]).passed();
    let lines: Vec<Vec<&str>> = told.lines().map(|line| line.split_whitespace().collect()).collect();
    let want = [
        vec!["PACKAGE", "HAS", "WANTS", "NEWEST", "BEHIND", "CHANGES", "UPSTREAM"],
        vec!["mine/apps/a", "v1.0.0", "v1.0.0", "v2.0.0", "2", "0", &one],
        vec!["mine/apps/a/sub", "v1.0.0", "~1.0", "v1.0.0", "0", "0", &one],
        vec!["mine/apps/b", "v2.0.0", "v2.0.0", "v2.0.0", "0", "1", &two],
    ];
    assert_eq!(lines, want, "{told}");
    assert_eq!(folder.run(&["list", "mine", "-o", "name"]).passed(), "mine/apps/a\nmine/apps/a/sub\nmine/apps/b\n");
    let row = &rows(&folder.run(&["list", "mine", "-o", "json"]).passed())[2];
    assert_eq!((&row["package"], &row["directory"]), (&"mine/apps/b".into(), &"d".into()));
    assert_eq!((&row["behind"], &row["localChanges"], &row["error"]), (&0.into(), &1.into(), &Value::Null));
    assert_eq!(row["commit"], upstreams[1].commit("v2.0.0"));
    // Without the release in the cache, nobody knows what the team changed.
    fs::remove_dir_all(folder.path(".cache")).expect("removed");
    let row = &rows(&folder.run(&["list", "mine", "-o", "json"]).passed())[2];
    assert_eq!((&row["newest"], &row["localChanges"]), (&"v2.0.0".into(), &Value::Null));
    let told = folder.run(&["list", "mine/plain"]).failed(2);
    assert!(told.contains("mine/plain: there must be a package that records its upstream"), "{told}");
}

#[test]
fn all_packages_are_upgraded_and_a_broken_upstream_stops_none() {
    let (folder, upstreams) = fleet();
    fs::rename(&upstreams[1].bare, folder.path("gone")).expect("renamed");
    let told = folder.run(&["list", "mine"]);
    assert!(told.code == Some(2) && told.stderr.contains("error: mine/apps/b: \""), "{told:?}");
    let check = folder.run(&["upgrade", "--all", "mine", "--check", "-o", "json"]);
    assert_eq!(check.code, Some(2), "{check:?}");
    let found: Vec<_> = rows(&check.stdout)
        .iter()
        .map(|row| (row["package"].clone(), row["to"].clone(), row["error"].is_null()))
        .collect();
    let want = [
        ("mine/apps/a/sub", Some("v1.0.0"), true),
        ("mine/apps/a", Some("v2.0.0"), true),
        ("mine/apps/b", None, false),
    ];
    assert_eq!(
        found,
        want.map(|(package, to, is_good)| (package.into(), to.map_or(Value::Null, Value::from), is_good))
    );
    let ran = folder.run(&["upgrade", "--all", "mine"]);
    assert!(ran.stdout.contains("mine/apps/a/sub: it has v1.0.0 already\n"), "{ran:?}");
    let summary = ran.failed(2);
    assert!(
        summary.contains("3 packages: 1 upgraded, 1 with the release already, 1 failed and untouched"),
        "{summary}"
    );
    assert!(folder.read("mine/apps/a/a.yaml").contains("v: '3'"));
}

#[test]
fn a_package_in_another_one_and_one_that_is_named_twice_are_on_their_own() {
    let (folder, _) = fleet();
    folder.write("mine/apps/a/sub/a.yaml", map("a", &[("v", "ours"), ("w", "x")]));
    let record = folder.read("mine/apps/a/sub/.krm-merge.yaml");
    folder.write("mine/apps/a/sub/.krm-merge.yaml", record.replacen("ref: ~1.0", "ref: v2.0.0", 1));
    commit(&folder.path("mine"), "edited");
    let row = &rows(&folder.run(&["list", "mine/apps/a", "-o", "json"]).passed())[1];
    assert_eq!((&row["wants"], &row["newest"], &row["behind"]), (&"v2.0.0".into(), &"v2.0.0".into(), &2.into()));
    let summary = folder.run(&["upgrade", "--all", "mine/apps/a"]).failed(1);
    assert!(summary.contains("2 packages: 1 upgraded, 1 upgraded with conflicts"), "{summary}");
    assert!(folder.read("mine/apps/a/a.yaml").contains("v: '3'"));
    let ran = folder.run(&["upgrade", "mine/apps/b", "mine/apps/b/"]);
    assert_eq!(ran.stderr, "", "{ran:?}");
    assert_eq!(ran.passed(), "mine/apps/b: it has v2.0.0 already\n");
    for args in
        [&["list", "mine/plain", "-o", "json"][..], &["upgrade", "--check", "--all", "mine/plain", "-o", "json"]]
    {
        assert_eq!(folder.run(args).passed(), "[]\n");
    }
}

/// Most packages of a fleet are so. They are not parsed, so each way to be touched must count.
#[test]
fn a_release_that_changes_nothing_conflicts_with_nothing() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "one.git");
    let values = || ("d/values.yaml".to_owned(), "a: 1\n".to_owned());
    let files = |other: &str| [file("d", "'1'"), vec![values()], file("e", other)].concat();
    upstream.release(&files("'1'"), "v1.0.0");
    folder.run(&["get", &upstream.source("d@v1.0.0"), "p"]).passed();
    upstream.release(&files("'2'"), "v2.0.0");
    let check = || folder.run(&["upgrade", "p", "--check"]).stdout;
    let line = |changes: &str| format!("p: has v1.0.0, newest is v2.0.0; {changes}, 0 conflicts to expect\n");
    assert_eq!(check(), line("0 local changes"));
    let own = folder.read("p/a.yaml");
    for (path, text, changes) in [
        ("p/a.yaml", map("a", &[("v", "'1'"), ("w", "ours")]), "1 local change"),
        ("p/b.yaml", map("b", &[("v", "'1'")]), "1 local change"),
        ("p/sub/b.yaml", map("b", &[("v", "'1'")]), "1 local change"),
        ("p/README.md", "# Ours\n".to_owned(), "1 local change"),
        ("p/a.yaml", format!("# ours\n{own}"), "0 local changes"),
        ("p/values.yaml", "a: 2\n".to_owned(), "1 local change"),
        ("p/values.yaml", "# ours\na: 1\n".to_owned(), "0 local changes"),
    ] {
        folder.write(path, text);
        assert_eq!(check(), line(changes), "{path}");
        fs::remove_file(folder.path(path)).expect("removed");
        folder.write("p/a.yaml", &own);
        folder.write("p/values.yaml", values().1);
    }
    fs::remove_file(folder.path("p/values.yaml")).expect("removed");
    assert_eq!(check(), line("1 local change"));
    let row = folder.run(&["list", "p", "-o", "json"]).passed();
    assert!(row.contains("\"localChanges\": 1"), "{row}");
    folder.write("p/values.yaml", values().1);
    fs::remove_file(folder.path("p/a.yaml")).expect("removed");
    assert_eq!(check(), line("1 local change"));
    folder.write("p/a.yaml", &own);
    // Rules that are wrong are wrong here, too.
    let record = folder.read("p/.krm-merge.yaml");
    folder.write("p/.krm-merge.yaml", record.replacen("spec:", "spec:\n  onConflict: Never", 1));
    let error = folder.run(&["upgrade", "p", "--check"]).failed(2);
    assert!(error.contains("onConflict"), "{error}");
    folder.write("p/.krm-merge.yaml", record);
    // What upstream changed is merged.
    upstream.release(&[file("d", "'3'"), vec![values()], file("e", "'3'")].concat(), "v3.0.0");
    folder.write("p/a.yaml", map("a", &[("v", "ours"), ("w", "x")]));
    assert_eq!(check(), "p: has v1.0.0, newest is v3.0.0; 1 local change, 1 conflict to expect\n");
}

#[test]
fn a_range_leads_to_its_newest_release_and_stays_in_the_record() {
    let (folder, upstreams) = fleet();
    let line = folder.run(&["upgrade", "mine/apps/a/sub", "--check"]).passed();
    assert_eq!(line, "mine/apps/a/sub: has v1.0.0, which is the newest in ~1.0\n");
    folder.run(&["upgrade", "mine/apps/a/sub", "--to", "v1.x"]).passed();
    let record = folder.read("mine/apps/a/sub/.krm-merge.yaml");
    assert!(record.contains("    ref: v1.x\n") && record.contains("    ref: v1.1.0\n"), "{record}");
    commit(&folder.path("mine"), "v1.1.0");
    upstreams[0].release(&file("d", "'4'"), "v1.2.0");
    folder.run(&["upgrade", "mine/apps/a/sub"]).passed();
    assert!(folder.read("mine/apps/a/sub/a.yaml").contains("v: '4'"));
    let told = folder.run(&["upgrade", "mine/apps/a/sub", "--to", "^7", "--allow-dirty"]).failed(2);
    assert!(told.contains("has no release in the range \"^7\""), "{told}");
}

#[test]
fn a_package_is_compared_with_a_release_of_its_upstream() {
    let (folder, _) = fleet();
    let told = folder.run(&["diff", "mine/apps/b"]);
    assert!(told.code == Some(1) && told.stdout.contains("data.w: \"x\" -> \"ours\""), "{told:?}");
    assert!(!told.stdout.contains("data.v"), "{told:?}");
    let told = folder.run(&["diff", "mine/apps/b", "--to", "v1.0.0"]);
    assert!(told.stdout.contains("data.v: \"1\" -> \"3\"") && told.stdout.contains("data.w"), "{told:?}");
    folder.run(&["diff", "mine/apps/a"]).passed();
    let told = folder.run(&["diff", "mine/plain"]).failed(2);
    assert!(told.contains("`B` must be given, because \"mine/plain\" is no package"), "{told}");
}

#[test]
fn upstreams_commits_of_the_folder_are_listed() {
    let (folder, upstreams) = fleet();
    upstreams[0].state(
        &[("d/a.yaml".to_owned(), map("a", &[("v", "'3'")])), ("e".to_owned(), "x".to_owned())],
        "other <b> @me",
    );
    upstreams[0].release(&[("d/a.yaml".to_owned(), map("a", &[("v", "'3'")]))], "v2.1.0");
    let told = folder.run(&["log", "mine/apps/a"]).passed();
    let mut lines = told.lines();
    assert_eq!(lines.next(), Some("mine/apps/a: v1.0.0 to v2.1.0, 3 commits"));
    // The last release changed nothing in the folder.
    let subjects: Vec<&str> = lines.map(|line| line.splitn(3, ' ').nth(2).expect("a title")).collect();
    assert_eq!(subjects, ["other <b> @me (me)", "v2.0.0 (me)", "v1.1.0 (me)"]);
    let told = folder.run(&["log", "mine/apps/a", "-o", "markdown", "--from", "v2.0.0"]).passed();
    assert!(told.starts_with("<code>v2.0.0</code> to <code>v2.1.0</code>, 1 commit\n\n* <code>"), "{told}");
    assert!(told.contains("<code>other &lt;b&gt; @me</code>\n"), "{told}");
    let told = folder.run(&["log", "mine/apps/a", "--from", "v2.0.0", "--to", "v1.0.0"]).passed();
    assert_eq!(told, "mine/apps/a: v2.0.0 to v1.0.0, 0 commits\n");
    let json: Value = serde_json::from_str(&folder.run(&["log", "mine/apps/a", "-o", "json"]).passed()).expect("JSON");
    assert_eq!(json["commits"].as_array().map(Vec::len), Some(3));
}

#[test]
fn the_nearest_release_of_many_is_found_and_progress_is_told() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for number in 1..=25 {
        upstream.release(&file("d", &format!("'{number}'")), &format!("v{number}"));
    }
    folder.write("p/a.yaml", map("a", &[("v", "'3'"), ("w", "x")]));
    // Another namespace makes no other resource.
    folder.write(
        "q/a.yaml",
        map("a", &[("v", "'4'"), ("w", "x")]).replace("metadata:\n", "metadata:\n  namespace: prod\n"),
    );
    folder.write("other/z.yaml", "apiVersion: v1\nkind: Service\nmetadata:\n  name: z\nspec:\n  ports: []\n");
    for (name, want) in [("q", "The closest is v4 (0 of 1 resources"), ("other", "No tag with a version is like it")] {
        let told = folder.run(&["upgrade", name, "--upstream", &upstream.source("d")]).failed(2);
        assert!(told.contains(want), "{told}");
    }
    let told = folder.run(&["upgrade", "p", "--upstream", &upstream.source("d")]).failed(2);
    assert!(told.starts_with("comparing 20 of 25 releases\n"), "{told}");
    assert!(told.contains("The closest is v3 (1 of 1 resources are equal)"), "{told}");
}
