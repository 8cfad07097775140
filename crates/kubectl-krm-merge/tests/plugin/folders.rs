//! Sides as files, folders and stdin; what is printed; exit codes.

use crate::support::{Folder, map};

const WEB: &str = "\u{feff}# Copyright someone\r\n\r\n# The shop.\r\napiVersion: apps/v1\r\nkind: Deployment\r\nmetadata:\r\n  name: web\r\nspec:\r\n  replicas:   3  # by hand\r\n  template:\r\n    spec:\r\n      containers:\r\n      - name: app\r\n        image: web:1\r\n";
const PATCH: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: app, image: 'web:2'}]}}}\n";

#[test]
fn a_file_into_a_file_changes_only_what_it_says() {
    let folder = Folder::with(&[("web.yaml", WEB), ("patch.yaml", PATCH)]);
    let out = folder.run(&["two-way", "--source", "patch.yaml", "--dest", "web.yaml"]).passed();
    assert_eq!(out, WEB.replace("web:1", "'web:2'"));
    assert_eq!(folder.read("web.yaml"), WEB, "nothing is written without --in-place");
    let out = folder.run(&["two-way", "--source", "patch.yaml", "--dest", "web.yaml", "--in-place"]).passed();
    assert_eq!(out, "changed web.yaml\ntotal: 1 file changed\n");
    assert_eq!(folder.read("web.yaml"), WEB.replace("web:1", "'web:2'"));
    assert_eq!(folder.files("").len(), 2);
}

#[test]
fn an_empty_file_becomes_the_source_unless_it_is_json() {
    let folder = Folder::new();
    let text = format!("# licence\n\n{}", map("one", &[("x", "'1'")]));
    for (path, text) in [("source.yaml", &*text), ("empty.yaml", ""), ("empty.json", "")] {
        folder.write(path, text);
    }
    let merged = |dest: &str| folder.run(&["two-way", "--source", "source.yaml", "--dest", dest, "--in-place"]);
    assert_eq!(merged("empty.yaml").code, Some(0));
    assert_eq!(folder.read("empty.yaml"), text);
    let ran = merged("empty.json");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("a JSON file must hold one resource"), "{ran:?}");
}

#[test]
fn stdin_is_a_side() {
    let folder = Folder::with(&[("web.yaml", WEB), ("patch.yaml", PATCH)]);
    let want = WEB.replace("web:1", "'web:2'");
    assert_eq!(folder.run_with(PATCH, &["two-way", "-s", "-", "-d", "web.yaml"]).passed(), want);
    assert_eq!(folder.run_with(WEB, &["two-way", "-s", "patch.yaml", "-d", "-"]).passed(), want);
    assert_eq!(folder.run(&["two-way", "-p", PATCH, "-d", "web.yaml"]).passed(), want);
    let list = "apiVersion: v1\nkind: List\nitems:\n- ".to_owned() + &map("a", &[("x", "'1'")]).replace('\n', "\n  ");
    let source = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '2'}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n";
    let out = folder.run_with(list.trim_end(), &["two-way", "-p", source, "-d", "-"]).passed();
    let want =
        list.trim_end().replace("'1'", "'2'") + "\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: b\n";
    assert_eq!(out, want);
    let err = folder.run(&["two-way", "-s", "-", "-d", "-"]).failed(2);
    assert!(err.contains("stdin"), "{err}");
}

/// Two releases and a package with local edits.
fn package() -> Folder {
    let one = map("one", &[("x", "'1'"), ("y", "'1'")]);
    let two = map("two", &[("x", "'1'")]);
    let gone = map("gone", &[("x", "'1'")]);
    let new = format!("# Copyright someone\n\n{}---\n# second\n{}", map("new", &[("x", "'1'")]), map("newer", &[]));
    let many = |one: &str, two: &str| format!("# licence\n\n{one}\n---\n\n# two\n{two}---\n{gone}");
    Folder::with(&[
        ("v1/many.yaml", &many(&one, &two)),
        ("v1/gone.yaml", &map("whole", &[("x", "'1'")])),
        ("v1/README.md", "v1\n"),
        ("v1/run.sh", "#!/bin/sh\n"),
        ("v1/both.txt", "v1\n"),
        ("v1/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"),
        (
            "v1/j.json",
            "{\n  \"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"j\"}, \"data\": {\"x\": \"1\"}\n}\n",
        ),
        ("v2/many.yaml", &format!("# licence\n\n{}\n---\n\n# two\n{two}", one.replace("x: '1'", "x: '2'"))),
        ("v2/sub/dir/new.yaml", &new),
        ("v2/README.md", "v2\n"),
        ("v2/run.sh", "#!/bin/sh\necho\n"),
        ("v2/both.txt", "v2\n"),
        ("v2/bin", "\0new"),
        ("v2/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamePrefix: x\n"),
        (
            "v2/j.json",
            "{\n  \"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"j\"}, \"data\": {\"x\": \"2\"}\n}\n",
        ),
        ("here/many.yaml", &many(&one.replace("y: '1'", "y: '7' # mine"), &two)),
        ("here/gone.yaml", &map("whole", &[("x", "'1'")])),
        ("here/README.md", "v1\n"),
        ("here/both.txt", "mine\n"),
        ("here/mine.txt", "mine\n"),
        ("here/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"),
        (
            "here/j.json",
            "{\n  \"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"j\"}, \"data\": {\"x\": \"1\"}\n}\n",
        ),
        ("here/.krmignore", "/drafts\n*.tmpl.yaml\n"),
        ("here/drafts/x.yaml", "{{ no yaml\n"),
        ("here/a.tmpl.yaml", "{{ no yaml\n"),
    ])
}

const UPGRADE: [&str; 7] = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here"];

fn upgrade(more: &[&'static str]) -> Vec<&'static str> {
    UPGRADE.iter().chain(more).copied().collect()
}

#[test]
fn a_folder_is_upgraded_file_by_file() {
    let folder = package();
    let before = folder.files("here");
    let ran = folder.run(&upgrade(&["--in-place"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        ran.stderr,
        "warning: both.txt: both sides changed the file (it holds no resources); took updated's\nwarning: run.sh: dest does not have the file (it holds no resources), and updated changed it; did not add it\n"
    );
    let mut want = before.clone();
    let many = String::from_utf8(before["many.yaml"].clone()).expect("UTF-8").replace("x: '1'\n  y", "x: '2'\n  y");
    let cut = many.find("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: gone").expect("the last one");
    want.insert("many.yaml".into(), many[..cut].into());
    want.remove("gone.yaml");
    for (path, same) in [("sub/dir/new.yaml", "v2/sub/dir/new.yaml"), ("bin", "v2/bin"), ("README.md", "v2/README.md")]
    {
        want.insert(path.into(), folder.read(same).into());
    }
    for path in ["both.txt", "kustomization.yaml", "j.json"] {
        want.insert(path.into(), folder.read(&format!("v2/{path}")).into());
    }
    let after = folder.files("here");
    assert_eq!(after.keys().collect::<Vec<_>>(), want.keys().collect::<Vec<_>>());
    for (path, bytes) in &want {
        assert_eq!(String::from_utf8_lossy(&after[path]), String::from_utf8_lossy(bytes), "{path}");
    }
    assert!(!folder.path("here/run.sh").exists(), "what was deleted here stays deleted");
}

/// git checks a text out with other line ends than its repository has.
#[test]
fn line_ends_that_a_checkout_changed_are_no_edit_and_stay() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let web = |comment: &str, value: &str| format!("# {comment}\n\n{}", map("web", &[("x", value)]));
    let files = [
        // The path, the versions of original, updated and dest, and what dest becomes but for its line ends.
        ("README.md", "one\ntwo\n", "one\ntwo\nthree\n", "one\ntwo\n", "one\ntwo\nthree\n"),
        ("both.md", "one\ntwo\nthree\n", "one\ntwo\nTHREE\n", "ONE\ntwo\nthree\n", "ONE\ntwo\nTHREE\n"),
        ("open.md", "one\ntwo", "one\ntwo\nthree", "one\ntwo", "one\ntwo\nthree"),
        ("values.yaml", "a: 1\nb: 1\n", "a: 1\nb: 2 # two\n", "a: 1\nb: 1\n", "a: 1\nb: 2 # two\n"),
        ("t.yaml", "{{ a }}\n- b\n", "{{ a }}\n- c\n", "{{ a }}\n- b\n", "{{ a }}\n- c\n"),
        ("web.yaml", &web("old", "'1'"), &web("new", "'2'"), &web("old", "'1'"), &web("new", "'2'")),
        ("added.txt", "", "one\ntwo\n", "one\ntwo\n", "one\ntwo\n"),
        ("gone.txt", "one\ntwo\n", "", "one\ntwo\n", ""),
    ];
    let same = |text: &str| text.to_owned();
    for [upstream, own] in [[&same as &dyn Fn(&str) -> String, &crlf], [&crlf, &same]] {
        let folder = Folder::new();
        for (path, old, new, here, _) in files {
            for (side, text) in [("v1", upstream(old)), ("v2", upstream(new)), ("here", own(here))] {
                if !text.is_empty() {
                    folder.write(&format!("{side}/{path}"), text);
                }
            }
        }
        folder.run(&upgrade(&["--in-place", "--on-conflict", "fail"])).passed();
        let after = folder.files("here");
        for (path, _, _, _, want) in files {
            let text = after.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
            assert_eq!(text, own(want), "{path}");
        }
    }
    // What is no text has no line ends.
    let folder = Folder::new();
    for (side, text) in [("v1", "\0a\n"), ("v2", "\0b\n"), ("here", "\0a\r\n")] {
        folder.write(&format!("{side}/logo"), text);
        folder.write(&format!("{side}/web.yaml"), map("web", &[("x", "y")]));
    }
    let told = folder.run(&upgrade(&["--in-place", "--on-conflict", "fail"])).failed(1);
    assert!(told.contains("logo: both sides changed the file"), "{told}");
}

#[test]
fn a_file_without_resources_that_dest_left_alone_becomes_upstream_s() {
    let folder = Folder::with(&[
        ("v1/values.yaml", "# old\na: 1\n"),
        ("v2/values.yaml", "# new\n\na: 2\n\n\nb: 3\n"),
        ("here/values.yaml", "# old\na: 1\n"),
    ]);
    let ran = folder.run(&upgrade(&["--in-place"]));
    assert!(ran.code == Some(0) && !ran.stderr.contains("both sides"), "{ran:?}");
    assert_eq!(folder.read("here/values.yaml"), folder.read("v2/values.yaml"));
}

#[test]
fn a_package_may_hold_the_releases_that_it_is_upgraded_by() {
    let folder = package();
    for version in ["v1", "v2"] {
        for (path, bytes) in folder.files(version) {
            folder.write(&format!("here/upstream/{version}/{path}"), bytes);
        }
    }
    let upstream = folder.files("here/upstream");
    let here = ["three-way", "--original", "here/upstream/v1", "--updated", "here/upstream/v2", "-d", "here", "-i"];
    let ran = folder.run(&here);
    assert!(ran.code == Some(0) && !ran.stderr.contains("another release"), "{ran:?}");
    assert_eq!(folder.files("here/upstream"), upstream);
    let inside: Vec<String> = folder.files("here").into_keys().filter(|path| !path.starts_with("upstream/")).collect();
    let beside = package();
    beside.run(&upgrade(&["-i"])).passed();
    assert_eq!(inside, beside.files("here").into_keys().collect::<Vec<_>>());
    assert_eq!(folder.read("here/many.yaml"), beside.read("here/many.yaml"));
    // A source that lies in dest, too.
    folder.write("all/a.yaml", map("a", &[("x", "'1'")]));
    folder.write("all/over/a.yaml", map("a", &[("x", "'2'")]));
    folder.run(&["two-way", "-s", "all/over", "-d", "all", "-i"]).passed();
    assert_eq!(folder.read("all/a.yaml"), map("a", &[("x", "'2'")]));
}

#[test]
fn a_third_release_beside_those_that_are_merged_is_told() {
    let folder = Folder::new();
    for (path, n) in [("up/v1/a", 1), ("up/v2/a", 2), ("up/v0/deep/a", 0), ("up/v0/b", 0), ("a", 1)] {
        folder.write(&format!("here/{path}.yaml"), map(&path[path.len() - 1..], &[("x", &format!("'{n}'"))]));
    }
    folder.write("here/up/own/c.yaml", map("c", &[("x", "'1'")]));
    let run = ["three-way", "--original", "here/up/v1", "--updated", "here/up/v2", "-d", "here", "-o", "diff"];
    let told = folder.run(&run).stderr;
    let warning = "warning: up/v0/deep/a.yaml: the directory \"up/v0\" looks like another release of upstream, but it is merged as a part of dest. Move it out of dest, or delete it\n";
    assert_eq!((told.matches("another release").count(), told.contains(warning)), (1, true), "{told}");
}

#[test]
fn a_copy_of_a_release_in_dest_is_told_if_both_releases_lie_elsewhere() {
    let folder = Folder::new();
    let files = [("v1/a", 1), ("v1/sub/b", 1), ("v2/a", 2), ("v2/sub/b", 1), ("v2/c", 2), ("here/a", 3)];
    let copies =
        [("here/sub/b", 1), ("here/up/v1/a", 1), ("here/up/v1/sub/b", 1), ("here/up/v2/a", 2), ("here/up/v2/c", 2)];
    for (path, n) in files.into_iter().chain(copies) {
        folder.write(&format!("{path}.yaml"), map(&path[path.len() - 1..], &[("x", &format!("'{n}'"))]));
    }
    // A patch in a folder of dest's own is no release, and neither is a folder that upstream has as well.
    folder.write("here/prod/a.yaml", map("a", &[("x", "'4'")]));
    let told = folder.run(&["three-way", "--original", "v1", "--updated", "v2", "-d", "here", "-o", "diff"]).stderr;
    let warning = |folder: &str, file: &str| {
        format!(
            "warning: {folder}/{file}.yaml: the directory \"{folder}\" looks like another release of upstream, but it is merged as a part of dest. Move it out of dest, or delete it\n"
        )
    };
    let all = ["up/v1", "up/v2"].map(|folder| warning(folder, "a"));
    assert_eq!(told.matches("another release").count(), 2, "{told}");
    assert!(all.iter().all(|warning| told.contains(warning)), "{told}");
}

#[test]
fn keep_dest_and_fail_settle_files_as_they_settle_fields() {
    let folder = package();
    let before = folder.files("here");
    let err = folder.run(&upgrade(&["--in-place", "--on-conflict", "fail"])).failed(1);
    assert!(err.starts_with("error: both.txt: both sides changed the file"), "{err}");
    assert!(
        err.contains(
            "error: run.sh: dest does not have the file (it holds no resources), and updated changed it; unresolved"
        ),
        "{err}"
    );
    assert_eq!(folder.files("here"), before);
    folder.run(&upgrade(&["--in-place", "--on-conflict", "KeepDest"])).passed();
    assert_eq!(folder.read("here/both.txt"), "mine\n");
    assert_eq!(folder.read("here/README.md"), "v2\n");
}

#[test]
fn a_dry_run_shows_the_diff_and_writes_nothing() {
    let folder = package();
    let before = folder.files("here");
    let out = folder.run(&upgrade(&["--in-place", "--dry-run"])).passed();
    assert!(out.contains("@@ -5,7 +5,7 @@ ConfigMap one data.x\n"), "{out}");
    assert!(
        out.contains("--- /dev/null\n+++ b/sub/dir/new.yaml\n@@ -0,0 +1,15 @@ ConfigMap new; ConfigMap newer\n"),
        "{out}"
    );
    assert!(out.contains("@@ -1,3 +1,3 @@ ConfigMap j data.x\n"), "{out}");
    assert!(out.contains("-  name: gone\n-data:\n-  x: '1'\ndiff --git a/"), "{out}");
    assert!(out.contains("conflict: (both.txt): the whole file\n"), "{out}");
    assert!(out.contains("Binary files /dev/null and b/bin differ\n"), "{out}");
    assert_eq!(folder.files("here"), before);
    let out = folder.run(&upgrade(&["--stat", "--dry-run"])).passed();
    assert!(out.contains(" many.yaml          |   9 +--------\n"), "{out}");
    assert_eq!(folder.run(&upgrade(&["--exit-code", "-o", "name"])).code, Some(1));
    let mut lines: Vec<String> = folder.run(&upgrade(&["-o", "name"])).passed().lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(
        lines,
        ["configmap/gone", "configmap/j", "configmap/new", "configmap/newer", "configmap/one", "configmap/whole"]
    );
}

#[test]
fn the_diff_can_be_applied_by_patch() {
    if !crate::support::has("git") {
        return;
    }
    let folder = package();
    std::fs::remove_file(folder.path("v2/bin")).expect("removed");
    let diff = folder.run(&upgrade(&["-o", "diff"])).passed();
    let diff = &diff[..diff.find("conflict: ").expect("conflicts come last")];
    folder.write("diff.patch", diff);
    let copy = Folder::new();
    for (path, bytes) in folder.files("here") {
        copy.write(&path, bytes);
    }
    let patch = folder.path("diff.patch");
    let run = std::process::Command::new("git").current_dir(&copy.0).arg("apply").arg(&patch).output().expect("git");
    assert!(run.status.success(), "{run:?}\n{diff}");
    folder.run(&upgrade(&["--in-place"])).passed();
    assert_eq!(copy.files(""), folder.files("here"));
}

/// patch takes a name to end at a blank unless a tab stands behind it.
#[test]
fn names_with_blanks_and_marks_go_through_patch_and_git() {
    let names = [
        "two words.yaml",
        "a folder/new one.yaml",
        "a folder/gone one.yaml",
        "tab\tin it.yaml",
        "quo\"te.yaml",
        "gr\u{fc}n.yaml",
    ];
    let folder = Folder::new();
    for (i, name) in names.iter().enumerate() {
        let text = |x: &str| map(&format!("m{i}"), &[("x", x)]);
        let is = |word: &str| name.contains(word);
        if !is("new") {
            folder.write(&format!("v1/{name}"), text("'1'"));
            folder.write(&format!("here/{name}"), text("'1'"));
        }
        if !is("gone") {
            folder.write(&format!("v2/{name}"), text("'2'"));
        }
    }
    let diff = folder.run(&upgrade(&["-o", "diff"])).passed();
    assert!(diff.contains("--- a/two words.yaml\t\n+++ b/two words.yaml\t\n@@"), "{diff}");
    folder.write("diff.patch", &diff);
    let before = folder.files("here");
    folder.run(&upgrade(&["-i"])).passed();
    for (program, args) in [("patch", vec!["-p1", "-s", "-E", "-i"]), ("git", vec!["apply"])] {
        if !crate::support::has(program) {
            continue;
        }
        let copy = Folder::new();
        before.iter().for_each(|(path, bytes)| copy.write(path, bytes));
        let mut command = std::process::Command::new(program);
        let ran = command.args(args).arg(folder.path("diff.patch")).current_dir(&copy.0).output().expect(program);
        assert!(ran.status.success(), "{program}: {ran:?}\n{diff}");
        assert_eq!(copy.files(""), folder.files("here"), "{program}");
    }
}

#[test]
fn results_json_and_yaml_are_printed() {
    let folder = package();
    let out = folder.run(&upgrade(&["-o", "results"])).passed();
    assert!(out.starts_with("results:\n- message: "), "{out}");
    assert!(out.contains("krm-merge.dev/reason: conflict"), "{out}");
    let json: serde_json::Value = serde_json::from_str(&folder.run(&upgrade(&["-o", "json"])).passed()).expect("JSON");
    let names: Vec<&str> =
        json["items"].as_array().expect("items").iter().filter_map(|i| i["metadata"]["name"].as_str()).collect();
    assert_eq!((json["kind"].as_str(), names), (Some("List"), vec!["j", "one", "two", "new", "newer"]));
    let yaml = folder.run(&upgrade(&[])).passed();
    let parsed = krm_yaml::Document::parse(yaml.as_str()).expect("YAML");
    assert_eq!(parsed.roots().filter(|r| r.is_map()).count(), 5, "{yaml}");
    let out = folder.run(&["two-way", "-p", "{}", "-d", "here/gone.yaml", "-o", "json"]).failed(2);
    assert!(out.contains("--patch") && out.contains("must have `apiVersion`"), "{out}");
}

#[test]
fn a_function_config_says_what_the_flags_say() {
    let folder = package();
    let config = |spec: &str| format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {spec}\n");
    folder.write("keep.yaml", config("{mode: ThreeWay, onConflict: KeepDest}"));
    folder.run(&upgrade(&["--config", "keep.yaml", "-i"])).passed();
    assert_eq!(folder.read("here/both.txt"), "mine\n");
    // Roles within the package, as under kpt.
    folder.write("all/one.yaml", map("one", &[("x", "'1'")]));
    folder.write("all/over/one.yaml", map("one", &[("x", "'9'")]));
    folder.write("two.yaml", config("{mode: TwoWay, source: [{path: over/}]}"));
    folder.run(&["two-way", "--config", "two.yaml", "-d", "all", "-i"]).passed();
    assert_eq!(folder.read("all/one.yaml"), map("one", &[("x", "'9'")]));
    for (args, want) in [
        (["two-way", "--config", "keep.yaml", "-d", "all"], "keep.yaml: the mode must be `TwoWay`"),
        (["two-way", "--config", "none.yaml", "-d", "all"], "\"none.yaml\": there must be a file"),
    ] {
        let err = folder.run(&args).failed(2);
        assert!(err.contains(want), "{err}");
    }
    folder.write("bad.yaml", config("{mode: TwoWay, sorce: []}"));
    let err = folder.run(&["two-way", "--config", "bad.yaml", "-d", "all"]).failed(2);
    assert!(err.starts_with("error: bad.yaml:3:22: ") && err.contains("sorce"), "{err}");
}

#[test]
fn each_field_of_the_function_config_is_a_flag() {
    let list = |items: &str| {
        format!("apiVersion: example.com/v1\nkind: Rollout\nmetadata:\n  name: r\nspec:\n  steps: [{items}]\n")
    };
    let folder = Folder::with(&[("r.yaml", &list("{id: a, x: 1}"))]);
    let run = |more: &[&str]| {
        let patch = list("{id: b}");
        let args: Vec<&str> = ["two-way", "-d", "r.yaml", "-p", &patch].iter().chain(more).copied().collect();
        folder.run(&args).passed()
    };
    assert_eq!(run(&[]), list("{id: b}"));
    let line = "--merge-keys={apiVersion: example.com/v1, kind: Rollout, path: spec.steps, keys: [id]}";
    let keys = "--merge-keys=apiVersion=example.com/v1,kind=Rollout,path=spec.steps,keys=id";
    for how in [keys, line] {
        assert_eq!(run(&[how]), list("{id: a, x: 1}, {id: b}"));
    }
    assert_eq!(run(&[keys, "--new-elements=prepend"]), list("{id: b}, {id: a, x: 1}"));
    let named = |items: &str| list(items).replace("id:", "name:");
    let folder = Folder::with(&[("r.yaml", &named("{id: a, x: 1}"))]);
    let patch = named("{id: b}");
    let run = |more: &str| folder.run(&["two-way", "-d", "r.yaml", "-p", &patch, more]).passed();
    assert_eq!(run("--infer-merge-keys"), named("{id: a, x: 1}, {id: b}"));
    assert_eq!(run("--infer-merge-keys=false"), named("{id: b}"));
}

#[test]
fn a_resource_that_lay_in_no_file_gets_one() {
    let folder = Folder::with(&[("here/a.yaml", &map("a", &[]))]);
    let source = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: n}\n";
    assert_eq!(
        folder.run(&["two-way", "-d", "here", "-p", source, "-i"]).passed().lines().next(),
        Some("added n/configmap_b.yaml")
    );
    assert_eq!(folder.read("here/n/configmap_b.yaml"), source);
    // Into a single file it goes behind what is there.
    folder.run(&["two-way", "-d", "here/a.yaml", "-p", &map("c", &[("x", "y")]), "-i"]).passed();
    assert_eq!(folder.read("here/a.yaml"), format!("{}---\n{}", map("a", &[]), map("c", &[("x", "y")])));
}

#[test]
fn a_kustomization_is_merged_under_each_of_its_names() {
    for name in ["kustomization.yaml", "kustomization.yml", "Kustomization", "base/Kustomization"] {
        let folder = Folder::new();
        let of = |more: &str| format!("namePrefix: a-\nresources:\n- a.yaml\n{more}");
        for (side, more) in [("v1", ""), ("v2", "- c.yaml\n"), ("here", "- b.yaml\n")] {
            folder.write(&format!("{side}/{name}"), of(more));
            folder.write(&format!("{side}/a.yaml"), map("a", &[]));
        }
        let ran = folder.run(&upgrade(&["--in-place"]));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(!ran.stderr.contains("took updated's"), "{name}: {ran:?}");
        let now = String::from_utf8(folder.files("here")[name].clone()).expect("UTF-8");
        let mut lines: Vec<&str> = now.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["- a.yaml", "- b.yaml", "- c.yaml", "namePrefix: a-", "resources:"], "{name}");
    }
}

#[test]
fn a_file_with_a_resource_that_has_generate_name_is_merged_as_a_text() {
    let job = |limit: u8, image: u8| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: mig-\nspec:\n  backoffLimit: {limit}\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: m\n        image: m:{image}\n"
        )
    };
    let both = |x: &str, job: &str| format!("{}---\n{job}", map("one", &[("x", x), ("y", "'1'")]));
    let named = |name: &str, text: &str| text.replace("name: one", &format!("name: {name}"));
    let of = |x: &str| map("other", &[("x", x)]);
    let merged = |files: &[(&str, &str)]| {
        let folder = Folder::new();
        files.iter().for_each(|(path, text)| folder.write(path, text));
        let ran = folder.run(&upgrade(&["--in-place"]));
        let now = folder.files("here");
        if ran.code == Some(0) {
            assert_eq!(folder.run(&upgrade(&["--in-place"])).code, Some(0));
            assert_eq!(folder.files("here"), now, "a second run");
        }
        let now = now.into_iter().map(|(path, bytes)| (path, String::from_utf8(bytes).expect("UTF-8")));
        (ran, now.collect::<std::collections::BTreeMap<_, _>>())
    };
    let (old, new) = (both("'1'", &job(1, 1)), both("'2'", &job(1, 2)));
    let (ran, now) = merged(&[
        ("v1/a.yaml", &old),
        ("v1/left.yaml", &named("left", &old)),
        ("v1/other.yaml", &of("'1'")),
        ("v2/a.yaml", &new),
        ("v2/left.yaml", &named("left", &new)),
        ("v2/new.yaml", &named("new", &new)),
        ("v2/other.yaml", &of("'2'")),
        ("here/a.yaml", &both("'1'", &job(7, 1))),
        ("here/left.yaml", &named("left", &old)),
        ("here/other.yaml", &of("'1'")),
        ("here/own.yaml", &named("own", &old)),
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = "a.yaml: merged the changes of both sides to the file (a resource in it has no `apiVersion`, no `kind` or no `metadata.name`) line by line. Check the result";
    assert!(ran.stdout.contains(told) || ran.stderr.contains(told), "{ran:?}");
    assert_eq!(now["a.yaml"], both("'2'", &job(7, 2)));
    assert_eq!(now["left.yaml"], named("left", &new));
    assert_eq!(now["new.yaml"], named("new", &new));
    assert_eq!(now["other.yaml"], of("'2'"));
    assert_eq!(now["own.yaml"], named("own", &old));
    // Where only dest has it, the other resources are merged as resources.
    let flow = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {x: '1', y: '7'}\n";
    let (_, now) = merged(&[
        ("v1/a.yaml", &map("one", &[("x", "'1'"), ("y", "'1'")])),
        ("v2/a.yaml", &map("one", &[("x", "'2'"), ("y", "'1'")])),
        ("here/a.yaml", &format!("{flow}---\n{}", job(1, 1))),
    ]);
    assert_eq!(now["a.yaml"], format!("{}---\n{}", flow.replace("x: '1'", "x: '2'"), job(1, 1)));
    // Where dest moved another resource of the file, the file cannot be merged as a text.
    let (ran, _) = merged(&[
        ("v1/a.yaml", &old),
        ("v2/a.yaml", &new),
        ("here/a.yaml", &job(1, 1)),
        ("here/one.yaml", &map("one", &[("x", "'1'"), ("y", "'1'")])),
    ]);
    let told = "the resource must have `metadata.name` to be merged, because `metadata.generateName` does not tell which resource it is on another side. Give it a name";
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains(told), "{ran:?}");
}

#[test]
fn one_file_without_a_name_or_of_a_template_does_not_refuse_the_others() {
    let one = |x: &str, y: &str| map("one", &[("x", x), ("m", "'1'"), ("n", "'1'"), ("y", y)]);
    let nameless = |kind: &str| format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  labels: {{a: b}}\n---\n");
    let template = |x: &str, y: &str| one(x, y).replace("  m: '1'\n", "  m: {{ .Values.m }}\n");
    // The first line is a document of its own without a type.
    let untyped = "name: x\n---\n";
    for (path, text) in [
        ("nameless.yaml", &|x: &str, y: &str| nameless("Gateway") + &one(x, y)),
        ("untyped.yaml", &|x: &str, y: &str| untyped.to_owned() + &one(x, y)),
        ("template.yaml", &template),
    ] as [(&str, &dyn Fn(&str, &str) -> String); 3]
    {
        let folder = Folder::new();
        for (side, x, y) in [("v1", "'1'", "'1'"), ("v2", "'1'", "'2'"), ("here", "'2'", "'1'")] {
            folder.write(&format!("{side}/{path}"), text(x, y));
            folder.write(&format!("{side}/other.yaml"), map("other", &[("y", y)]));
        }
        folder.write(&format!("v2/new/{path}"), text("'3'", "'3'").replace("name: one", "name: new"));
        for _ in 0..2 {
            folder.run(&upgrade(&["--in-place", "--on-conflict", "fail"])).passed();
            assert_eq!(folder.read(&format!("here/{path}")), text("'2'", "'2'"));
            assert_eq!(folder.read("here/other.yaml"), map("other", &[("y", "'2'")]));
            let new = folder.read(&format!("here/new/{path}"));
            assert_eq!(new, folder.read(&format!("v2/new/{path}")));
        }
    }
}

#[test]
fn a_file_that_held_no_resources_gets_those_of_upstream() {
    let kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
    let named = format!("{kustomization}metadata:\n  name: k\nresources: []\n");
    let list = "apiVersion: v1\nkind: List\nitems: []\n";
    let folder = Folder::with(&[
        ("v1/empty.yaml", "# nothing yet\n"),
        ("v1/kustomization.yaml", kustomization),
        ("v1/list.yaml", list),
        ("v2/empty.yaml", &format!("# now\n{}", map("a", &[("x", "'1'")]))),
        ("v2/kustomization.yaml", &named),
        ("v2/list.yaml", &list.replace(" []", "\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: l}}")),
        ("v2/mine.yaml", &map("m", &[])),
        ("here/empty.yaml", "# nothing yet\n"),
        ("here/kustomization.yaml", kustomization),
        ("here/list.yaml", list),
        ("here/mine.yaml", "# nothing of mine\n"),
    ]);
    folder.run(&upgrade(&["-i"])).passed();
    for path in ["empty.yaml", "kustomization.yaml"] {
        assert_eq!(folder.read(&format!("here/{path}")), folder.read(&format!("v2/{path}")));
    }
    assert!(folder.read("here/list.yaml").contains("{name: l}"));
    assert_eq!(folder.read("here/mine.yaml"), format!("# nothing of mine\n---\n{}", map("m", &[])));
    folder.write("here/kustomization.yaml", format!("{kustomization}namePrefix: mine\n"));
    folder.run(&upgrade(&["-i"])).passed();
    // In one gap what is new in dest stands first.
    let both = named.replace("metadata:", "namePrefix: mine\nmetadata:");
    assert_eq!(folder.read("here/kustomization.yaml"), both, "a name in updated alone keeps no edit from being merged");
}

#[cfg(unix)]
#[test]
fn a_file_that_holds_no_resources_any_more_upstream_is_merged_as_a_text() {
    let one = map("a", &[("x", "'1'")]);
    let nameless = one.replace("  name: a\n", "  labels: {}\n");
    for now in ["x: y\n", &nameless] {
        let folder = Folder::with(&[("v1/a.yaml", &one), ("v2/a.yaml", now), ("here/a.yaml", &one)]);
        ["v1", "v2", "here"].iter().for_each(|side| folder.write(&format!("{side}/other.yaml"), map("other", &[])));
        for _ in ["once", "twice"] {
            folder.run(&upgrade(&["--in-place"])).passed();
            assert_eq!(folder.read("here/a.yaml"), now);
        }
        // Where upstream moved the resources, both have their place.
        folder.write("here/a.yaml", one.replace("'1'", "'3'"));
        folder.write("v2/b.yaml", &one);
        for _ in ["once", "twice"] {
            assert_eq!(folder.run(&upgrade(&["--in-place"])).code, Some(0));
            assert_eq!(folder.read("here/a.yaml"), now);
            assert_eq!(folder.read("here/b.yaml"), one.replace("'1'", "'3'"));
        }
    }
}

#[test]
fn a_file_of_dest_that_is_not_read_is_not_told_to_be_deleted() {
    let folder = Folder::new();
    for (version, x) in [("v1", "'1'"), ("v2", "'2'"), ("here", "'1'")] {
        for name in ["link", "left", "there"] {
            folder.write(&format!("{version}/{name}.yaml"), map(name, &[("x", x)]));
        }
        folder.write(&format!("{version}/link.txt"), x);
    }
    folder.write("here/.krmignore", "left.yaml\n");
    for name in ["link.yaml", "link.txt"] {
        std::fs::rename(folder.path(&format!("here/{name}")), folder.path(name)).expect("moved");
        std::os::unix::fs::symlink(folder.path(name), folder.path(&format!("here/{name}"))).expect("a link");
    }
    let ran = folder.run(&upgrade(&["-i"]));
    assert!(ran.code == Some(0) && !ran.stderr.contains("does not have"), "{ran:?}");
    for name in ["link.yaml", "left.yaml", "link.txt"] {
        let want = format!("warning: {name}: changed in updated, but not merged, because dest's file was not read");
        assert_eq!(ran.stderr.matches(&want).count(), 1, "{ran:?}");
    }
    assert_eq!(folder.read("here/there.yaml"), folder.read("v2/there.yaml"));
    assert_eq!(
        (folder.read("link.yaml"), folder.read("here/left.yaml")),
        (map("link", &[("x", "'1'")]), map("left", &[("x", "'1'")]))
    );
}

#[test]
fn what_upstream_deletes_goes_wherever_it_stands_in_its_file() {
    let [a, b, c] = ["a", "b", "c"].map(|name| map(name, &[("x", "'1'")]));
    let list = |items: &[&str]| {
        let items: String =
            items.iter().map(|i| format!("- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: {i}}}}}\n")).collect();
        format!("apiVersion: v1\nkind: List\nitems:\n{items}")
    };
    let folder = Folder::with(&[
        ("v1/all.yaml", &format!("{a}---\n{b}---\n{c}")),
        ("v2/all.yaml", &c),
        ("v1/list.yaml", &format!("{}---\n{}---\n{}", list(&["d", "e"]), map("f", &[]), list(&["g", "h"]))),
        ("v2/list.yaml", &format!("{}---\n{}", list(&["d"]), list(&["h"]))),
    ]);
    for (path, bytes) in folder.files("v1") {
        folder.write(&format!("here/{path}"), bytes);
    }
    folder.run(&upgrade(&["-i"])).passed();
    assert_eq!(folder.files("here"), folder.files("v2"));
    // git's driver goes the same way.
    let git = Folder::with(&[("o", &format!("{a}---\n{b}---\n{c}")), ("b", &c)]);
    git.write("a", git.read("o").replace("name: c\n", "name: c\n  labels: {x: y}\n"));
    git.run(&["git-driver", "o", "a", "b"]).passed();
    assert_eq!(git.read("a"), c.replace("name: c\n", "name: c\n  labels: {x: y}\n"));
}

#[test]
fn what_lies_in_a_side_is_no_part_of_it() {
    let (one, two) = (map("a", &[("x", "'1'")]), map("a", &[("x", "'2'")]));
    let folder = Folder::with(&[("o/a.yaml", &one), ("u/a.yaml", &two), ("u/d/a.yaml", &one)]);
    folder.run(&["three-way", "--original", "o", "--updated", "u", "--dest", "u/d", "-i"]).passed();
    assert_eq!(folder.files("u/d").into_keys().collect::<Vec<_>>(), ["a.yaml"]);
    assert_eq!(folder.read("u/d/a.yaml"), two);

    let folder = Folder::with(&[("g/a.yaml", &two), ("g/base/a.yaml", &one)]);
    folder.run(&["two-way", "--source", "g", "--dest", "g/base", "-i"]).passed();
    assert_eq!(folder.files("g").into_keys().collect::<Vec<_>>(), ["a.yaml", "base/a.yaml"]);
    assert_eq!(folder.read("g/base/a.yaml"), two);

    let folder = Folder::with(&[("u/o/a.yaml", &one), ("u/a.yaml", &two), ("d/a.yaml", &one)]);
    folder.run(&["three-way", "--original", "u/o", "--updated", "u", "--dest", "d", "-i"]).passed();
    assert_eq!(folder.files("d").into_keys().collect::<Vec<_>>(), ["a.yaml"]);
    assert_eq!(folder.read("d/a.yaml"), two);
}

#[test]
fn usage_and_input_that_are_bad_end_with_2() {
    let folder =
        Folder::with(&[("a.yaml", &map("a", &[])), ("bad.yaml", "a: [\n"), ("list.yaml", "- a\n"), ("latin", "\u{0}")]);
    folder.write("latin", [b'a', b':', 0xe9]);
    for (args, want) in [
        (&["two-way"][..], "--dest"),
        (&["five-way"], "unrecognized subcommand 'five-way'"),
        (&["two-way", "-d", "none.yaml"], "\"none.yaml\": there must be a file"),
        (&["two-way", "-d", "a.yaml", "-s", "bad.yaml"], "bad.yaml:1:4: the text must be YAML"),
        (&["two-way", "-d", "a.yaml", "-s", "list.yaml"], "list.yaml:1:1: a document must be a resource"),
        (&["two-way", "-d", "a.yaml", "-s", "latin"], "latin: the text must be UTF-8"),
        (&["two-way", "-d", ".", "-s", "a.yaml"], "a.yaml: the source must be for other resources of dest"),
        (&["two-way", "-d", "a.yaml"], "`--patch` or `--source`"),
        (&["three-way", "-d", "a.yaml", "--original", "a.yaml"], "--updated"),
        (&["strategic", "-d", "a.yaml"], "`--patch` or `--source`"),
        (&["two-way", "-d", "-", "-i", "-s", "a.yaml"], "--in-place"),
    ] {
        let err = folder.run(args).failed(2);
        assert!(err.contains(want), "{args:?}\n{err}");
        assert!(err.starts_with("error: "), "{err}");
    }
    assert!(folder.run(&["--help"]).passed().contains("Usage: kubectl krm-merge <COMMAND>"));
    assert!(folder.run(&["--version"]).passed().contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_error_names_one_place_and_shows_no_line_of_a_file() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n";
    let nameless = format!("{}---\nkind: ConfigMap\nmetadata: {{name: b}}\ndata: {{x: hunter2}}\n", map("a", &[]));
    let folder = Folder::with(&[
        ("d.yaml", &format!("{secret}  password: old\n")),
        ("smp/open.yaml", &format!("{secret}  password: \"hunter2\n  other: x\n")),
        ("smp/alias.yaml", &format!("{secret}  password: *hunter2\n")),
        ("smp/twice.yaml", &format!("{secret}  password: hunter2\n  password: hunter2\n")),
        ("smp/nameless.yaml", &nameless),
        ("smp/list.yaml", "a: b\n---\n- hunter2\n"),
        (
            "smp/config.yaml",
            "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  mode: TwoWay\n  hunter: {yaml: hunter2}\n",
        ),
    ]);
    for (file, want) in [
        ("smp/open.yaml", "smp/open.yaml:6:3: the text must be YAML: "),
        ("smp/alias.yaml", "smp/alias.yaml:5:13: the text must be YAML: "),
        ("smp/twice.yaml", "smp/twice.yaml:6:3: Secret s: the key `password` must be in a map only once\n"),
        ("smp/nameless.yaml", "smp/nameless.yaml:7:1: the resource must have `apiVersion` to be merged"),
        ("smp/list.yaml", "smp/list.yaml:3:1: a document must be a resource, which is a map\n"),
    ] {
        for mode in ["two-way", "strategic"] {
            let err = folder.run(&[mode, "-s", file, "-d", "d.yaml"]).failed(2);
            assert!(err.starts_with(&format!("error: {want}")), "{err}");
            assert!(err.lines().count() == 1 && !err.contains("hunter2"), "{err}");
        }
        let err = folder.run(&["live", "-f", file, "--kubeconfig", "none"]).failed(2);
        assert!(!err.contains("hunter2"), "{err}");
    }
    let err = folder.run(&["two-way", "--config", "smp/config.yaml", "-d", "d.yaml"]).failed(2);
    assert!(err.starts_with("error: smp/config.yaml:5:3: ") && !err.contains("hunter2"), "{err}");
    // A conflict says where, not what.
    for (path, x) in [("v1.yaml", "hunter1"), ("v2.yaml", "hunter2"), ("here.yaml", "hunter3")] {
        folder.write(path, format!("{secret}  password: {x}\n"));
    }
    let err = folder.run(&["three-way", "--original", "v1.yaml", "--updated", "v2.yaml", "-d", "here.yaml"]).stderr;
    assert!(err.contains("both sides changed `stringData.password`; took updated's\n"), "{err}");
    assert!(!err.contains("hunter"), "{err}");
    let err = folder.run(&["git-driver", "v1.yaml", "here.yaml", "v2.yaml", "here.yaml"]).failed(1);
    assert!(err.contains("stringData.password") && !err.contains("hunter"), "{err}");
}

#[test]
fn a_side_in_which_nothing_is_found_is_an_error() {
    let folder = Folder::with(&[
        ("d/d.yaml", &map("a", &[("x", "'1'")])),
        ("d.yaml", &map("a", &[("x", "'1'")])),
        ("empty.yaml", "# nothing\n"),
        ("plain/README.md", "nothing\n"),
        ("plain/kustomization.yaml", "resources: []\n"),
        ("g/base/a.yaml", &map("a", &[("x", "'1'")])),
    ]);
    std::fs::create_dir(folder.path("empty")).expect("a folder");
    for source in ["empty", "empty.yaml", "plain", "/dev/null"] {
        for (mode, flag) in [("two-way", "-s"), ("two-way", "-p"), ("strategic", "-s"), ("strategic", "-p")] {
            for more in [&[][..], &["--target", "kind=ConfigMap"]] {
                let err = folder.run(&[&[mode, flag, source, "-d", "d.yaml", "-i"], more].concat()).failed(2);
                assert_eq!(err, format!("error: {source}: there must be at least one resource\n"));
            }
        }
        let err = folder.run(&["live", "-f", source, "--kubeconfig", "none"]).failed(2);
        assert_eq!(err, format!("error: {source}: there must be at least one resource\n"));
        let err = folder.run(&["three-way", "--original", "d", "--updated", source, "-d", "d", "-i"]).failed(2);
        let want = format!(
            "error: {source}: updated has no resources, so the merge would delete all resources of original. Check the path\n"
        );
        assert_eq!(err, want);
        // What had no release before comes whole.
        folder.run(&["three-way", "--original", source, "--updated", "d", "-d", "empty", "-i"]).passed();
        assert_eq!(folder.files("empty"), folder.files("d"));
        std::fs::remove_file(folder.path("empty/d.yaml")).expect("there");
    }
    // What the folder of a source holds is dest itself.
    let err = folder.run(&["two-way", "-s", "g", "-d", "g/base", "-i"]).failed(2);
    assert_eq!(err, "error: g: there must be at least one resource\n");
    for (source, dest) in [("d", "d"), ("d/d.yaml", "d/d.yaml")] {
        let err = folder.run(&["two-way", "-s", source, "-d", dest, "-i"]).failed(2);
        assert_eq!(err, format!("error: {source}: the source must not be dest itself: name what has the new values\n"));
    }
    // A package may hold no resources at all.
    folder.write("v1/a.txt", "1");
    folder.write("v2/a.txt", "2");
    folder.write("here/a.txt", "1");
    folder.run(&upgrade(&["-i"])).passed();
    assert_eq!(folder.read("here/a.txt"), "2");
    assert_eq!(folder.read("d.yaml"), map("a", &[("x", "'1'")]));
}

#[test]
fn what_is_only_read_may_be_a_pipe() {
    if !crate::support::has("bash") {
        return;
    }
    let folder = Folder::with(&[
        ("r.yaml", &map("a", &[("x", "'2'")])),
        ("d.yaml", &map("a", &[("x", "'1'")])),
        ("config.yaml", "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {mode: TwoWay}\n"),
    ]);
    let bash = |line: &str| {
        let line = line.replace("KRM", &format!("'{}'", crate::support::PLUGIN));
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &line]).current_dir(&folder.0).stdin(std::process::Stdio::null());
        crate::support::Ran::of(command.output().expect("bash"))
    };
    let want = map("a", &[("x", "'2'")]);
    for line in [
        "KRM two-way -s <(cat r.yaml) -d d.yaml",
        "KRM two-way -p <(cat r.yaml) -d <(cat d.yaml)",
        "KRM two-way -s /dev/stdin -d d.yaml < r.yaml",
        "cat r.yaml | KRM two-way -s /dev/stdin -d d.yaml",
        "KRM two-way -s /dev/fd/3 -d /dev/fd/4 3< r.yaml 4< d.yaml",
        "KRM two-way -s /dev/stdin -d d.yaml <<< \"$(cat r.yaml)\"",
        "mkfifo p && (cat r.yaml > p & KRM two-way -s p -d d.yaml)",
        "KRM strategic -s <(cat r.yaml) --target kind=ConfigMap -d <(cat d.yaml)",
        "KRM three-way --original <(cat d.yaml) --updated <(cat r.yaml) -d <(cat d.yaml)",
        "KRM three-way --original /dev/null --updated <(cat r.yaml) -d <(cat d.yaml)",
        "KRM two-way --config <(cat config.yaml; echo '  # x') -s r.yaml -d d.yaml",
    ] {
        let ran = bash(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), want.as_str()), "{line}\n{ran:?}");
    }
    let diff = bash("KRM two-way -s r.yaml -d <(cat d.yaml) -o diff").passed();
    assert!(
        diff.starts_with("diff --git a/- b/-\n--- a/-\n+++ b/-\n@@") && diff.contains("\n-  x: '1'\n+  x: '2'\n"),
        "{diff}"
    );
    for (line, want) in [
        (
            "KRM two-way -s r.yaml -d <(cat d.yaml) -i",
            "error: `--in-place` must be given with a `--dest` that is a file or a folder, not \"/dev/fd/",
        ),
        ("KRM two-way -s <(false) -d d.yaml", ": there must be at least one resource\n"),
        ("KRM three-way --original <(false) --updated r.yaml -d d.yaml", ": there must be at least one resource\n"),
        ("KRM two-way -s <(echo 'a: [') -d d.yaml", ":1:4: the text must be YAML"),
    ] {
        let err = bash(line).failed(2);
        assert!(err.contains(want), "{line}\n{err}");
    }
    // What stdin leads to is a file all the same.
    bash("KRM two-way -s r.yaml -d /dev/stdin -i < d.yaml").passed();
    assert_eq!(folder.read("d.yaml"), want);
}

/// Nobody wrote the functionConfig that flags become.
#[test]
fn an_error_of_a_flag_names_the_flag_and_what_was_given() {
    let folder = Folder::with(&[
        ("d.yaml", &map("a", &[("x", "'1'")])),
        ("bad.yaml", "metadata: {}\n---\nspec:\n  a: {$patch: x}\n"),
        ("list.yaml", "- a\n"),
        ("o.json", "{\"definitions\": {\"A\": {}}}"),
    ]);
    let keys = "`--merge-keys`";
    let one_of = format!("{keys} must have exactly one of `keys=FIELD,…`, `set=true` and `atomic=true`, not ");
    for (flag, value, want) in [
        (
            "--merge-keys",
            "kind=A,path=x,keys=a",
            format!("{keys} \"kind=A,path=x,keys=a\" must have the field `apiVersion`\n"),
        ),
        ("--merge-keys", "apiVersion=v1,kind=A,path=x", format!("{one_of}\"apiVersion=v1,kind=A,path=x\"\n")),
        (
            "--merge-keys",
            "apiVersion=v1,kind=A,path=x,keys=a,set=true",
            format!("{one_of}\"apiVersion=v1,kind=A,path=x,keys=a,set=true\"\n"),
        ),
        (
            "--merge-keys",
            "apiVersion=v1,kind=A,path=x,keys=",
            format!("`keys` of {keys} \"apiVersion=v1,kind=A,path=x,keys=\" must name at least one field\n"),
        ),
        (
            "--merge-keys",
            "apiVersion=v1,kind=A,path=x..y,keys=a",
            format!("`path` of {keys} \"apiVersion=v1,kind=A,path=x..y,keys=a\" must be field names"),
        ),
        (
            "--merge-keys",
            "apiVersion=v1,kind=A,path=x,keys=a,name=b",
            format!(
                "{keys} must have fields among `apiVersion`, `kind`, `path`, `keys`, `set`, `atomic`, not `name` as in"
            ),
        ),
        (
            "--target",
            "labelSelector=a in",
            "`labelSelector` of `--target` \"labelSelector=a in\" must be a selector".into(),
        ),
        ("--target", "name=(", "`name` of `--target` \"name=(\" must be a regular expression, not \"(\"".into()),
        ("--target", "paths=x", "`--target` must have fields among `group`, ".into()),
        ("--target", "kind=Job", "`--target` \"kind=Job\": no resource matches `kind: Job`".into()),
        ("--openapi", "d.yaml", "`--openapi` \"d.yaml\" must have `definitions`".into()),
        ("--openapi", "list.yaml", "`--openapi` \"list.yaml\" must have `definitions`".into()),
        ("--openapi", "o.json", "`definitions` of `--openapi` \"o.json\" must have a definition".into()),
    ] {
        let err = folder.run(&["two-way", "-s", "d.yaml", "-d", "d.yaml", flag, value]).failed(2);
        assert!(err.starts_with(&format!("error: {want}")) && err.lines().count() == 1, "{want}\n{err}");
        assert!(!err.contains("spec.") || err.contains("as `spec.steps`"), "{err}");
    }
    folder.write("empty/README.md", "no YAML\n");
    let err = folder.run(&["two-way", "-s", "d.yaml", "-d", "empty", "--target", "kind=Job"]).failed(2);
    assert_eq!(err, "error: `--target` \"kind=Job\" must select at least one resource, but there are no resources\n");
    folder.write("e.yaml", folder.read("d.yaml"));
    let idle = ["two-way", "-s", "e.yaml", "-d", "d.yaml", "-o", "results", "--merge-keys"];
    let out = folder.run(&[&idle[..], &["apiVersion=v1,kind=A,path=x,set=true"]].concat()).passed();
    assert!(out.contains("`--merge-keys` \"apiVersion=v1,kind=A,path=x,set=true\" is not used"), "{out}");
    // A kustomization without a name merges by the rules, too.
    for (side, list) in [("v1", "[a]"), ("v2", "[a, b]"), ("here", "[a, c]")] {
        folder.write(&format!("k/{side}/kustomization.yaml"), format!("resources: {list}\n"));
        folder.write(&format!("k/{side}/d.yaml"), folder.read("d.yaml"));
    }
    let upgrade = ["three-way", "--original", "k/v1", "--updated", "k/v2", "--dest", "k/here", "-o", "results"];
    let of = "--merge-keys=apiVersion=kustomize.config.k8s.io/v1beta1,kind=Kustomization,set=true,path=";
    let with = |path: &str| folder.run(&[&upgrade[..], &[&format!("{of}{path}")]].concat()).passed();
    assert!(!with("resources").contains("is not used"));
    assert!(with("resource").contains("has a list `resource`"), "{}", with("resource"));
    // A patch for a target is told by its own places.
    let strategic = ["strategic", "-d", "d.yaml", "--target", "kind=ConfigMap", "-p"];
    let err = folder.run(&[&strategic[..], &["bad.yaml"]].concat()).failed(2);
    assert!(err.starts_with("error: bad.yaml:4:15: `$patch` must be"), "{err}");
    let err = folder.run(&[&strategic[..], &["spec: {$patch: x}"]].concat()).failed(2);
    assert!(err.starts_with("error: --patch:1:16: `$patch` must be"), "{err}");
    // What the user wrote as a functionConfig is told as such.
    folder.write(
        "c.yaml",
        "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {mode: TwoWay, mergeKeys: [{kind: A}]}\n",
    );
    let err = folder.run(&["two-way", "-s", "d.yaml", "-d", "d.yaml", "--config", "c.yaml"]).failed(2);
    assert!(err.starts_with("error: c.yaml:3:34: `spec.mergeKeys[0]` must have"), "{err}");
    let help = folder.run(&["two-way", "--help"]).passed();
    assert!(help.contains("keys=port,protocol"), "{help}");
}

/// A package with a `.krmignore` in each folder, and the files that a run reads of it.
fn with_rules(rules: &[(&str, &str)]) -> (Folder, Vec<String>) {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("here")).expect("a folder");
    let folders = ["", "sub/", "sub/deep/", "sub/deeper/", "dir/", "other/"];
    let names = ["a.tmp.yaml", "keep.tmp.yaml", "shown.yaml", "nested.yaml", "rooted.yaml"];
    let all = folders.iter().flat_map(|folder| names.iter().map(move |name| format!("{folder}{name}")));
    for (i, path) in all.enumerate() {
        folder.write(&format!("p/{path}"), map(&format!("m{i}"), &[]));
    }
    for (path, text) in rules {
        folder.write(&format!("p/{path}"), text);
    }
    folder.run(&["two-way", "-s", "p", "-d", "here", "-i"]).passed();
    let read = folder.files("here").into_keys().filter(|path| path.ends_with(".yaml")).collect();
    (folder, read)
}

const RULES: [(&str, &str); 4] = [
    (".krmignore", "*.tmp.yaml\n!shown.yaml\n/sub/rooted.yaml\ndir/\n"),
    ("sub/.krmignore", "!keep.tmp.yaml\nshown.yaml\nnested.yaml\n/deep/rooted.yaml\n"),
    ("sub/deep/.krmignore", "!nested.yaml\nkeep.tmp.yaml\n"),
    ("dir/.krmignore", "!*.yaml\n"),
];

#[test]
fn the_rules_of_a_package_end_where_a_sub_package_begins_as_under_kpt() {
    let kptfile = |name: &str| format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name}\n");
    let (root, sub, dir, other) = (kptfile("root"), kptfile("sub"), kptfile("dir"), kptfile("other"));
    let packages =
        [("Kptfile", root.as_str()), ("sub/Kptfile", &sub), ("dir/Kptfile", &dir), ("other/Kptfile", &other)];
    let mut rules: Vec<(&str, &str)> = packages.into_iter().chain(RULES).collect();
    // kpt does not read the one in a folder that is no package.
    rules.retain(|(path, _)| *path != "sub/deep/.krmignore");
    rules.push(("other/.krmignore", "nested.yaml\n"));
    let (folder, read) = with_rules(&rules);
    for (path, is_read) in
        [("other/a.tmp.yaml", true), ("other/nested.yaml", false), ("sub/rooted.yaml", true), ("dir/shown.yaml", false)]
    {
        assert_eq!(read.iter().any(|r| r == path), is_read, "{path} {read:?}");
    }
    if !crate::support::has("kpt") {
        return;
    }
    let kpt =
        std::process::Command::new("kpt").args(["fn", "source", "p"]).current_dir(&folder.0).output().expect("kpt");
    let list = crate::support::Ran::of(kpt).passed();
    let path = |line: &str| {
        Some(line.trim().strip_prefix("internal.config.kubernetes.io/path: ")?.trim_matches('\'').to_owned())
    };
    let mut theirs: Vec<String> = list.lines().filter_map(path).filter(|path| path.ends_with(".yaml")).collect();
    theirs.sort();
    assert_eq!(read, theirs);
}

/// What is printed goes to `kubectl apply`: all resources, nothing else, and one stream whatever the files begin with.
#[test]
fn what_is_printed_are_the_resources_and_one_stream() {
    let folder = Folder::with(&[("v1/p.yaml", "plain: 1\n"), ("here/p.yaml", "plain: 1\n")]);
    for side in ["v1", "v2", "here"] {
        folder.write(&format!("{side}/a.yaml"), map("a", &[("x", "|\n    y")]).trim_end());
        folder.write(&format!("{side}/b.yaml"), format!("\u{feff}{}", map("b", &[])));
        folder.write(&format!("{side}/c.yaml"), format!("# c\n%YAML 1.2\n---\n{}", map("c", &[])));
    }
    folder.write("v2/p.yaml", map("p", &[]));
    folder.write("v2/values.yaml", "image: web\n");
    let text = folder.run(&upgrade(&[])).passed();
    let document = krm_yaml::Document::parse(text.clone()).expect("one stream");
    let names: Vec<_> =
        document.roots().map(|r| r.at(&["metadata", "name"]).expect("a name").string().to_owned()).collect();
    assert_eq!(names, ["a", "b", "c", "p"], "{text}");
    let value = document.roots().next().and_then(|r| r.at(&["data", "x"])).expect("a value");
    assert_eq!(value.string(), "y", "no line break comes into a text at the end of a file");
    assert_eq!(folder.run(&upgrade(&["-o", "json"])).passed().matches("\"name\":").count(), 4);
}

/// What updated has and does not read it has not deleted.
#[cfg(unix)]
#[test]
fn what_a_side_has_and_does_not_read_is_told_and_not_deleted() {
    let folder = Folder::new();
    for side in ["v1", "v2", "here"] {
        folder.write(&format!("{side}/base.yaml"), map("base", &[]));
    }
    for (path, text) in [
        ("link.yaml", map("link", &[])),
        ("link.txt", "link".to_owned()),
        ("hidden.yaml", map("hidden", &[])),
        ("hidden.txt", "hidden".to_owned()),
        ("moved.yaml", map("moved", &[])),
        ("gone.yaml", map("gone", &[])),
    ] {
        folder.write(&format!("v1/{path}"), &text);
        folder.write(&format!("here/{path}"), &text);
        folder.write(&format!("outside/{path}"), &text);
    }
    folder.write("v2/.krmignore", "hidden.*\n");
    folder.write("v2/new/moved.yaml", map("moved", &[]));
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, folder.path(at)).expect("a link");
    for name in ["link.yaml", "link.txt", "new.yaml"] {
        link(&format!("../outside/{name}"), &format!("v2/{name}"));
    }
    link("new/moved.yaml", "v2/moved.yaml");
    for name in ["hidden.yaml", "hidden.txt"] {
        folder.write(&format!("v2/{name}"), "plain");
    }
    // In both, so nothing changed.
    link("../outside", "v1/both");
    link("../outside", "v2/both");
    let before = folder.files("here");
    let ran = folder.run(&upgrade(&["-i"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut after = folder.files("here");
    assert_eq!(after.remove(".krmignore").as_deref(), Some(&b"hidden.*\n"[..]));
    let gone: Vec<&String> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    assert_eq!(gone, ["gone.yaml"], "{ran:?}");
    let mut told: Vec<&str> = ran.stderr.lines().collect();
    told.sort_unstable();
    let line =
        |name: &str, why: &str| format!("warning: v2/{name}: not read, because {why}. The merge changes nothing there");
    let [link, ignored] =
        ["it is a symbolic link", "`.krmignore` excludes it there, or it is another side of the merge"];
    let rules = "warning: .krmignore: upstream changed this file, which git, GitHub or krm-merge obeys. Check it before you use the package";
    let want = [
        rules.to_owned(),
        line("hidden.txt", ignored),
        line("hidden.yaml", ignored),
        line("link.txt", link),
        line("link.yaml", link),
        line("moved.yaml", link),
        line("new.yaml", link),
    ];
    assert_eq!(told, want);
    let out = folder.run(&["two-way", "-s", "v2", "-d", "here", "-o", "name"]);
    assert_eq!(out.stderr.lines().filter(|l| l.contains("it is a symbolic link")).count(), 4, "{out:?}");
}

/// Other systems refuse such names.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf_8_are_shown_with_escapes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let name = OsStr::from_bytes(b"caf\xe9");
    // Only the path to the package is such a name.
    let folder = package();
    std::fs::create_dir(folder.path("x")).expect("a folder");
    for side in ["v1", "v2", "here"] {
        std::fs::rename(folder.path(side), folder.path("x").join(side)).expect("moved");
    }
    std::fs::rename(folder.path("x"), folder.0.join(name)).expect("moved");
    let mut command = folder.command(&upgrade(&["-i"]));
    let ran = crate::support::Ran::of(command.current_dir(folder.0.join(name)).output().expect("runs"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let read = |path: &str| std::fs::read(folder.0.join(name).join(path)).expect("there");
    assert_eq!(read("here/README.md"), read("v2/README.md"));
    // A file of the package.
    let folder = package();
    std::fs::write(folder.path("here").join(name).with_extension("yaml"), map("a", &[])).expect("written");
    let before = folder.files("here");
    let err = folder.run(&upgrade(&["-i"])).failed(2);
    assert!(err.ends_with("/here/caf\\xe9.yaml\": a file name must be UTF-8\n"), "{err}");
    assert_eq!(folder.files("here"), before);
}

/// A policy that holds patches, and what else a patch could mean otherwise, in a layout of its own.
const POLICY: &str = "\
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
    name: p # named
    labels: &labels {a: b}
spec:
  rules:
    -   name: r
        mutate:
          patchStrategicMerge:
            metadata: {labels: *labels, <<: {$patch: delete}}
            spec:
              volumes:
              - $patch: delete
                name: docker-sock
              $setElementOrder/volumes: [{name: x}]
  'unset'  : ~
  none:
  script: |+
    #!/bin/sh

";

#[test]
fn a_source_without_a_partner_is_written_to_the_byte_wherever_it_goes() {
    let dest = map("z", &[]);
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let json = "{\"apiVersion\": \"v1\", \"kind\": \"A\", \"metadata\": {\"name\":  \"a\"}, \"l\": [{\"$patch\": \"delete\", \"x\": null}]}\n";
    for (source, dest, want) in [
        (POLICY.to_owned(), dest.clone(), format!("{dest}---\n{POLICY}")),
        (format!("{POLICY}# foot\n"), dest.clone(), format!("{dest}---\n{POLICY}# foot\n")),
        (crlf(POLICY), crlf(&dest), crlf(&format!("{dest}---\n{POLICY}"))),
        (crlf(POLICY), dest.clone(), format!("{dest}---\n{POLICY}")),
        (json.to_owned(), dest.clone(), format!("{dest}---\n{json}")),
        // A part of the first source is changed by the second one, which is a patch of what is there now.
        (
            format!(
                "{POLICY}---\napiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {{name: p}}\nspec: {{none: 1}}\n"
            ),
            dest.clone(),
            format!("{dest}---\n{}", POLICY.replace("none:", "none: 1")),
        ),
    ] {
        let folder = Folder::with(&[("source.yaml", &source), ("dest.yaml", &dest)]);
        let args = ["two-way", "-s", "source.yaml", "-d", "dest.yaml", "-i"];
        folder.run(&args).passed();
        assert_eq!(folder.read("dest.yaml"), want);
    }
    // Its own file, and a second run.
    let folder = Folder::with(&[("source/p.yaml", POLICY), ("source/j.json", json), ("dest/z.yaml", &dest)]);
    for _ in 0..2 {
        folder.run(&["two-way", "-s", "source", "-d", "dest", "-i"]).passed();
        assert_eq!([folder.read("dest/p.yaml"), folder.read("dest/j.json")], [POLICY, json]);
    }
    // As an element, it has no anchor that another element may have, too.
    let item =
        "- apiVersion: v1\n  kind: A\n  metadata: {name: a}\n  x:\n      -   y: null\n          $patch: delete\n";
    let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
    let other = item.replace("kind: A", "kind: B");
    let folder = Folder::with(&[("source.yaml", &list(item)), ("dest.yaml", &list(&other))]);
    folder.run(&["two-way", "-s", "source.yaml", "-d", "dest.yaml", "-i"]).passed();
    assert_eq!(folder.read("dest.yaml"), list(&format!("{other}{item}")));
}

/// Upgrades dest in the folder `here` from `v1` to `v2`, and checks that a second run changes nothing. Returns what was printed, and what
/// was said.
fn upgraded(folder: &Folder, more: &[&'static str]) -> [String; 2] {
    let args: Vec<&str> = upgrade(&["--in-place"]).into_iter().chain(more.iter().copied()).collect();
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let once = folder.files("here");
    let again = folder.run(&args);
    assert_eq!((again.code, folder.files("here")), (Some(0), once), "{again:?}");
    [ran.stdout, ran.stderr]
}

#[test]
fn what_a_list_says_beside_its_items_is_merged() {
    let item = |name: &str, more: &str| {
        format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}}}\n  data: {{k: '1'{more}}}\n")
    };
    let list = |head: &str, items: &str, foot: &str| format!("apiVersion: v1\nkind: List\n{head}items:\n{items}{foot}");
    let (one, two) = (item("one", ""), item("two", ""));
    let mine = item("one", ", mine: 'x'");
    let before = map("before", &[("x", "'1'")]) + "---\n";
    for (original, updated, dest, want) in [
        // New fields above and below the items, and a new item between them.
        (
            list("", &one, ""),
            list("metadata: {a: '1'}\n", &format!("{one}{two}"), "more: x\n"),
            list("", &mine, ""),
            list("metadata: {a: '1'}\n", &format!("{mine}{two}"), "more: x\n"),
        ),
        // Upstream put its fields into another order: dest's items stay where they are, with all changes.
        (
            list("", &one, ""),
            format!("items:\n{}metadata:\n  a: x\nkind: List\napiVersion: v1\n", item("one", ", new: 'x'")),
            list("", &mine, ""),
            list("", &item("one", ", mine: 'x', new: 'x'"), "metadata:\n  a: x\n"),
        ),
        // The list stands among documents, and dest deleted the item by which it was known first.
        (
            format!("{before}{}", list("metadata: {a: '1', gone: x}\n", &format!("{one}{two}"), "")),
            format!("{before}{}", list("metadata: {a: '2'}\n", &format!("{one}{two}"), "")),
            format!("{before}{}", list("metadata: {a: '1', gone: x, mine: y}\n", &two, "")),
            format!("{before}{}", list("metadata: {a: '2', mine: y}\n", &two, "")),
        ),
        // JSON.
        (
            r#"{"apiVersion":"v1","kind":"List","metadata":{"a":"1"},"items":[{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"x":1}]}"#.to_owned(),
            r#"{"apiVersion":"v1","kind":"List","metadata":{"a":"2","b":"1"},"items":[{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"x":1,"y":2}]}"#.to_owned(),
            r#"{"apiVersion":"v1","kind":"List","metadata":{"a":"1"},"items":[{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"x":3}]}"#.to_owned(),
            r#"{"apiVersion":"v1","kind":"List","metadata":{"a":"2","b":"1"},"items":[{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"x":3,"y":2}]}"#.to_owned(),
        ),
    ] {
        let path = if original.starts_with('{') { "x.json" } else { "x.yaml" };
        for line_break in ["\n", "\r\n"] {
            let written = |text: &str| text.replace('\n', line_break);
            let folder = Folder::new();
            for (side, text) in [("v1", &original), ("v2", &updated), ("here", &dest)] {
                folder.write(&format!("{side}/{path}"), written(text));
            }
            upgraded(&folder, &[]);
            assert_eq!(folder.read(&format!("here/{path}")), written(&want));
        }
    }
}

#[test]
fn what_both_sides_say_of_a_list_is_a_conflict() {
    let folder = Folder::new();
    for (side, value) in [("v1", "1"), ("v2", "2"), ("here", "3")] {
        let items = "items:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n";
        folder.write(
            &format!("{side}/x.yaml"),
            format!("apiVersion: v1\nkind: List\nmetadata: {{a: '{value}'}}\n{items}"),
        );
    }
    let run = |more: &[&'static str]| folder.run(&upgrade(more));
    assert!(run(&["--on-conflict", "Fail"]).failed(1).contains("x.yaml: both sides changed `metadata.a`"));
    assert!(run(&["--on-conflict", "KeepDest", "-o", "yaml"]).passed().contains("{a: '3'}"));
    assert!(run(&["-o", "yaml"]).passed().contains("{a: '2'}"));
    run(&["--on-conflict", "mark", "--in-place"]).failed(1);
    let marked = folder.read("here/x.yaml");
    assert!(
        marked.contains("metadata: {a: '3'}\n|||||||") && marked.contains("metadata: {a: '2'}\n>>>>>>>"),
        "{marked}"
    );
}

/// A document of comments stands at its place, also among documents that come, go or move. `A` is a ConfigMap of that name, `A'` one that
/// dest changed, and `#a` a document of that comment.
#[test]
fn documents_of_comments_come_and_go_at_their_place() {
    let document = |word: &str| match word.strip_prefix('#') {
        Some(comment) => format!("# Source: {comment}\n#\n"),
        None => {
            let (name, mine) = word.split_once('\'').map_or((word, "1"), |(name, _)| (name, "mine"));
            map(&name.to_lowercase(), &[("x", "'1'"), ("y", mine)])
        }
    };
    // Whether the first document has a `---` does not matter.
    let own = |text: &str| text.trim_start_matches("---\n").to_owned();
    let text = |words: &str| {
        let documents: Vec<String> = words.split(' ').map(document).collect();
        let text = documents.join("---\n");
        // Comments above the first `---` are no document.
        if words.starts_with('#') { format!("---\n{text}") } else { text }
    };
    for (original, updated, dest, want) in [
        ("A B", "A #c B", "A' B", "A' #c B"),
        ("A B", "A B #c", "A' B", "A' B #c"),
        ("A B", "#c A B", "A' B", "#c A' B"),
        ("#b A", "#b #c A", "#b A'", "#b #c A'"),
        ("A #b B", "A #b #c B", "A' #b B", "A' #b #c B"),
        ("A #b B", "A #c #b B", "A' #b B", "A' #c #b B"),
        // They go, where dest left them alone.
        ("A #c B", "A B", "A' #c B", "A' B"),
        ("A B #c", "A B", "A' B #c", "A' B"),
        ("#c A B", "A B", "#c A' B", "A' B"),
        ("A #c B", "A B", "A' #own B", "A' #own B"),
        ("A #c B", "A #d B", "A' #c B", "A' #d B"),
        ("A #c #c B", "A #c B", "A' #c #c B", "A' #c B"),
        // What dest removed stays away, and what it added stays.
        ("A #c B", "A #c B", "A' B", "A' B"),
        ("A #c B", "A #c #d B", "A' B", "A' #d B"),
        ("A B", "A B", "A' #own B", "A' #own B"),
        ("A B", "A #c B", "A' #c B", "A' #c B"),
        // Documents come and go around them.
        ("A B", "A N #c B", "A' B", "A' N #c B"),
        ("A B", "A #c N B", "A' B", "A' #c N B"),
        ("A B", "A N #c", "A' B", "A' N #c"),
        ("A X B", "A B #c", "A' X B", "A' B #c"),
        ("A #x X B", "A B", "A' #x X B", "A' B"),
        ("A X #x B", "A B", "A' X #x B", "A' B"),
        ("A X B", "A X #c B", "A' B", "A' #c B"),
        ("A B", "A #c B", "A' OWN B", "A' #c OWN B"),
        ("A #c B", "A B", "A' OWN #c B", "A' OWN B"),
        ("A #a B #b", "B #b A #a", "A' #a B #b", "B #b A' #a"),
    ] {
        for line_break in ["\n", "\r\n"] {
            let folder = Folder::new();
            for (side, words) in [("v1", original), ("v2", updated), ("here", dest)] {
                folder.write(&format!("{side}/x.yaml"), text(words).replace('\n', line_break));
            }
            upgraded(&folder, &[]);
            assert_eq!(
                own(&folder.read("here/x.yaml").replace(line_break, "\n")),
                own(&text(want)),
                "{original} | {updated} | {dest}"
            );
        }
        // A file of another name, and a file that was named alone.
        if updated.contains('B') && dest.contains('B') {
            let folder = Folder::new();
            for (path, words) in [("v1/x.yaml", original), ("v2/y.yaml", updated), ("here/x.yaml", dest)] {
                folder.write(path, text(words));
            }
            upgraded(&folder, &[]);
            assert_eq!(own(&folder.read("here/y.yaml")), own(&text(want)), "{original} | {updated} | {dest}");
        }
        let folder = Folder::with(&[("v1", &text(original)), ("v2", &text(updated)), ("here", &text(dest))]);
        assert_eq!(own(&folder.run(&upgrade(&[])).passed()), own(&text(want)), "{original} | {updated} | {dest}");
    }
}

#[test]
fn what_a_file_begins_with_is_merged() {
    let [a, b] = ["a", "b"].map(|name| map(name, &[("x", "'1'")]));
    let own = |text: &str| text.replace("x: '1'", "x: mine");
    let told = "a comment that only dest has is lost";
    for (original, updated, dest, want, warns) in [
        // Above the first `---`: the text's.
        (format!("# v1\n---\n{a}"), format!("# v2\n---\n{a}"), format!("# v1\n---\n{}", own(&a)), "# v2\n---\nA'", ""),
        (format!("# v1\n---\n{a}"), a.clone(), format!("# v1\n---\n{}", own(&a)), "A'", ""),
        (a.clone(), format!("# v1\n---\n{a}"), own(&a), "# v1\n---\nA'", ""),
        (format!("# v1\n---\n{a}"), format!("# v1\n---\n{a}"), own(&a), "A'", ""),
        (format!("# v1\n---\n{a}---\n{b}"), b.clone(), format!("# v1\n---\n{a}---\n{}", own(&b)), "B'", ""),
        (
            format!("# v1\r\n---\r\n{a}"),
            format!("# v2\n---\n{a}"),
            format!("# v1\n---\n{}", own(&a)),
            "# v2\n---\nA'",
            "",
        ),
        (
            format!("# v1\n---\n{a}"),
            format!("# v2\n---\n{a}"),
            format!("# v0\n---\n{}", own(&a)),
            "# v0\n---\nA'",
            "both sides changed the comment: dest has \"# v0\", updated has \"# v2\", original had \"# v1\"; kept dest's",
        ),
        // Set apart above the first resource: that one's, as far as upstream knows it.
        (
            format!("---\n# of b\n\n{b}"),
            format!("---\n# of a\n\n{a}\n---\n# of b\n\n{b}"),
            format!("---\n# of b\n\n{}", own(&b)),
            "---\n# of a\n\nA\n---\n# of b\n\nB'",
            "",
        ),
        (
            format!("# of b\n\n{b}"),
            format!("# of a\n\n{a}---\n# of b\n\n{b}"),
            format!("# of b\n\n{}", own(&b)),
            "# of a\n\nA---\n# of b\n\nB'",
            "",
        ),
        (
            format!("# of a\n\n{a}---\n# of b\n\n{b}"),
            format!("# of b\n\n{b}"),
            format!("# of a\n\n{a}---\n# of b\n\n{}", own(&b)),
            "# of b\n\nB'",
            "",
        ),
        // A licence that upstream leaves at the top, and one that only dest has.
        (format!("# l\n\n{b}"), format!("# l\n\n{a}---\n{b}"), format!("# l\n\n{}", own(&b)), "# l\n\nA---\nB'", ""),
        (format!("# l\n\n{a}---\n{b}"), format!("# l\n\n{b}"), format!("# l\n\n{a}---\n{}", own(&b)), "# l\n\nB'", ""),
        (format!("{a}---\n{b}"), b.clone(), format!("# mine\n\n{a}---\n{}", own(&b)), "# mine\n\nB'", ""),
        (format!("{a}---\n{b}"), b.clone(), format!("# mine\n{a}---\n{}", own(&b)), "B'", told),
        (b.clone(), format!("{a}---\n{b}"), format!("# mine\n\n{}", own(&b)), "# mine\n\nA---\nB'", ""),
    ] {
        let want =
            want.replace("A'", &own(&a)).replace("B'", &own(&b)).replace('A', &a).replace("\nB", &format!("\n{b}"));
        let folder = Folder::new();
        for (side, text) in [("v1", &original), ("v2", &updated), ("here", &dest)] {
            folder.write(&format!("{side}/x.yaml"), text.clone());
        }
        let [stdout, stderr] = upgraded(&folder, &[]);
        assert_eq!(folder.read("here/x.yaml"), want, "{original} | {updated} | {dest}");
        assert!(stderr.contains(warns) && stderr.is_empty() == warns.is_empty(), "{stderr}");
        assert_eq!(stdout.contains("; 1 conflict\n"), warns.contains("both sides"), "{stdout}");
    }
}
