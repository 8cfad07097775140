//! What is no resource is one document under its path, in each command: the values of a chart, which the user names.

use crate::support::{Folder, map};

const OLD: &str = "replicas: 1\nimage: # ours\n  tag: '1'\nkind: a\nargs: [a, b]\n";
const NEW: &str = "replicas: 1\nimage: # ours\n  tag: '2'\nkind: b\nargs: [a, b]\n";
const MINE: &str = "replicas: 3 # prod\nimage: # ours\n  tag: '1'\nkind: a\nargs: [a, b]\n";
const MERGED: &str = "replicas: 3 # prod\nimage: # ours\n  tag: '2'\nkind: b\nargs: [a, b]\n";

fn folder() -> Folder {
    Folder::with(&[
        ("old.yaml", OLD),
        ("new.yaml", NEW),
        ("mine.yaml", MINE),
        ("o/values.yaml", OLD),
        ("u/values.yaml", NEW),
        ("d/values.yaml", MINE),
        ("d/a.yaml", &map("a", &[])),
    ])
}

fn three_way(sides: [&str; 3]) -> [&str; 7] {
    let [original, updated, dest] = sides;
    ["three-way", "--original", original, "--updated", updated, "--dest", dest]
}

#[test]
fn single_files_merge_as_in_folders() {
    let folder = folder();
    for sides in
        [["old.yaml", "new.yaml", "mine.yaml"], ["o", "u", "d/values.yaml"], ["o", "new.yaml", "d/values.yaml"]]
    {
        assert_eq!(folder.run(&three_way(sides)).passed(), MERGED, "{sides:?}");
    }
    let args = three_way(["old.yaml", "new.yaml", "-"]);
    assert_eq!(folder.run_with(MINE, &args).passed(), MERGED);
    let args = three_way(["old.yaml", "-", "mine.yaml"]);
    assert_eq!(folder.run_with(NEW, &args).passed(), MERGED);
    folder.run(&[&three_way(["old.yaml", "new.yaml", "mine.yaml"])[..], &["--in-place"]].concat()).passed();
    assert_eq!(folder.read("mine.yaml"), MERGED);
    let again =
        folder.run(&[&three_way(["old.yaml", "new.yaml", "mine.yaml"])[..], &["--in-place", "--exit-code"]].concat());
    again.passed();
    // The output has the resources of a folder alone.
    assert_eq!(folder.run(&three_way(["o", "u", "d"])).passed(), map("a", &[]));
}

#[test]
fn what_has_no_partner_is_an_error() {
    let folder = folder();
    folder.write("a.yaml", map("a", &[]));
    for (sides, want) in [
        (
            ["old.yaml", "new.yaml", "d"],
            "old.yaml: `--dest` must be the file that it is a version of, and not the directory d",
        ),
        (["o", "u", "mine.yaml"], "o: there must be a file \"mine.yaml\" without resources, as mine.yaml is"),
        (["old.yaml", "new.yaml", "a.yaml"], "old.yaml:1:1: the resource must have `apiVersion` to be merged"),
    ] {
        let told = folder.run(&three_way(sides)).failed(2);
        assert!(told.contains(want), "{told}");
    }
    for (source, dest, want) in [
        ("a.yaml", "mine.yaml", "a.yaml: the source must hold no resources, but one map, as mine.yaml does"),
        ("o", "mine.yaml", "o: there must be a file \"mine.yaml\" without resources, as mine.yaml is"),
        ("mine.yaml", "a.yaml", "mine.yaml:1:1: the resource must have `apiVersion` to be merged, or a `target`"),
        ("mine.yaml", "d", "mine.yaml:1:1: the resource must have `apiVersion` to be merged, or a `target`"),
    ] {
        let told = folder.run(&["two-way", "--source", source, "--dest", dest]).failed(2);
        assert!(told.contains(want), "{told}");
    }
}

#[test]
fn a_conflict_has_its_values_and_its_line() {
    let folder = folder();
    folder.write("new.yaml", OLD.replace("s: 1", "s: 2"));
    let args = three_way(["old.yaml", "new.yaml", "mine.yaml"]);
    let told = folder.run(&[&args[..], &["--on-conflict", "fail"]].concat()).failed(1);
    let want = "mine.yaml: both sides changed `replicas`: dest has 3, updated has 2, original had 1";
    assert!(told.contains(want), "{told}");
    let marked = folder.run(&[&args[..], &["--on-conflict", "mark", "--in-place"]].concat());
    assert_eq!(marked.code, Some(1));
    let text = folder.read("mine.yaml");
    assert!(text.starts_with("<<<<<<< dest (mine.yaml)\nreplicas: 3 # prod\n"), "{text}");
    folder.write("d/values.yaml", MINE);
    folder.write("u/values.yaml", OLD.replace("ag: '1'", "ag: '2'"));
    folder.write("d/values.yaml", OLD.replace("ag: '1'", "ag: '3'"));
    let told = folder.run(&[&three_way(["o", "u", "d"])[..], &["-o", "diff"]].concat()).passed();
    assert!(told.contains("conflict: (values.yaml:3): image.tag"), "{told}");
}

#[test]
fn a_source_is_merged_into_a_file() {
    for mode in ["two-way", "strategic"] {
        let folder = folder();
        let lists = "env: [{name: a, value: x}, {name: b}]\n";
        folder.write("mine.yaml", format!("{MINE}{lists}"));
        folder.write("prod.yaml", "replicas: 5\nkind: null\nargs: [c]\nenv: [{name: a, value: y}]\n");
        let args = [mode, "--source", "prod.yaml", "--dest", "mine.yaml"];
        let ran = folder.run(&args);
        let want = "replicas: 5 # prod\nimage: # ours\n  tag: '1'\nargs: [c]\nenv: [{name: a, value: y}]\n";
        assert_eq!((ran.code, &*ran.stdout), (Some(0), want));
        let rule = "add to `mergeKeys`: `{apiVersion: file, kind: document, path: env, keys: [name]}`";
        assert!(
            ran.stderr.contains(
                "`env` is replaced as a whole, as with helm, and dest loses 1 element, because krm-merge does not know its merge key"
            ),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains(rule), "{}", ran.stderr);
        let rule = ["--merge-keys", "apiVersion=file,kind=document,path=env,keys=name"];
        let merged = folder.run(&[&args[..], &rule].concat()).passed();
        assert!(merged.ends_with("env: [{name: a, value: y}, {name: b}]\n"), "{merged}");
    }
}

#[test]
fn a_folder_has_the_source_of_a_file() {
    let folder = folder();
    let merged = folder.run(&["two-way", "--source", "u", "--dest", "d/values.yaml"]).passed();
    assert_eq!(merged, MERGED.replace("replicas: 3", "replicas: 1"));
    let told = folder.run(&["two-way", "--source", "u", "--dest", "d"]).failed(2);
    assert!(told.contains("u: there must be at least one resource"), "{told}");
}

#[test]
fn a_target_names_a_file_by_its_path() {
    let folder = folder();
    let edits = "- {op: replace, path: /image/tag, value: '2'}\n- {op: replace, path: /kind, value: b}\n";
    folder.write("edits.yaml", edits);
    for patch in ["{image: {tag: '2'}, kind: b}", "edits.yaml"] {
        for dest in ["d/values.yaml", "d"] {
            let target = ["--target", "path=values.yaml", "--patch", patch, "--dest", dest, "-o", "diff"];
            let diff = folder.run(&[&["two-way"][..], &target].concat()).passed();
            assert!(diff.contains("\n-  tag: '1'\n-kind: a\n+  tag: '2'\n+kind: b\n"), "{patch} {dest}: {diff}");
        }
    }
    // A folder stands for its resources.
    folder.write("d/x/values.yaml", MINE);
    let told = folder.run(&["two-way", "--target", "path=x", "--patch", "{replicas: 4}", "--dest", "d"]).failed(2);
    assert!(told.contains("no resource matches `path: x`"), "{told}");
}

#[test]
fn extract_makes_a_patch_of_values() {
    let folder = folder();
    folder.write("new.yaml", MERGED);
    for mode in ["two-way", "strategic"] {
        let patch = folder.run(&["extract", "--mode", mode, "mine.yaml", "new.yaml"]).passed();
        assert_eq!(patch, "image:\n  tag: '2'\nkind: b\n");
        folder.write("patch.yaml", patch);
        assert_eq!(folder.run(&[mode, "--source", "patch.yaml", "--dest", "mine.yaml"]).passed(), MERGED);
    }
    // In a folder, a patch cannot say which file it is for, and says so also of the values alone.
    folder.write("u/a.yaml", map("a", &[]));
    let told = folder.run(&["extract", "--values", "d", "u"]).failed(1);
    assert!(told.contains("u/values.yaml: a patch changes resources alone, and this file holds none"), "{told}");
    assert!(!told.contains("--values"), "{told}");
    folder.write("u/values.yaml", MINE.replace(" # prod", ""));
    assert_eq!(folder.run(&["extract", "--values", "d", "u"]).passed(), "");
}

#[test]
fn of_two_comments_in_a_file_without_resources_dest_s_stays() {
    // A null of dest clears its field, whoever wins.
    for [original, updated, dest] in [
        ["m:\n  a: 1 # one\nn: 1\n", "m:\n  a: 1 # two\nn: 1\n", "m:\n  a: 1 # three\nn: 1\n"],
        ["# one\na: 1\nn: 1\n", "# two\na: 1\nn: 1\n", "# three\na: 1\nn: 1\n"],
        ["a: 1 # one\nn: 1\n", "a: 1 # two\nn: 1\n", "a: 1\nn: 1\n"],
        ["a: 1\nn: 1\n", "a: 2\nn: 1\n", "a: null\nn: 1\n"],
    ] {
        let sides = [("v1/values.yaml", original), ("v2/values.yaml", updated), ("here/values.yaml", dest)];
        let folder = Folder::with(&sides);
        let merge = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place"];
        let told = folder.run(&merge).stderr;
        assert!(told.contains("; kept dest's\n"), "{told}");
        assert_eq!(folder.read("here/values.yaml"), dest);
        // All else is upstream's.
        folder.write("v2/values.yaml", updated.replace("n: 1", "n: 2"));
        folder.write("here/values.yaml", dest.replace("n: 1", "n: 3"));
        folder.run(&merge);
        assert_eq!(folder.read("here/values.yaml"), dest.replace("n: 1", "n: 2"));
    }
}
