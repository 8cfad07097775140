//! `--on-conflict mark`: conflicts between markers in files, and what comes of them.

use proptest::prelude::*;

use crate::shared;
use crate::support::{Folder, map};

const UPGRADE: [&str; 9] =
    ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--renames", "ignore"];
const SIDES: [&str; 3] = ["v1", "v2", "here"];

/// A folder with a file as original, updated and dest have it; an empty one is not there.
fn upgrade(path: &str, texts: [&str; 3]) -> Folder {
    let folder = Folder::new();
    for (side, text) in SIDES.iter().zip(texts) {
        folder.write(&format!("{side}/base.yaml"), map("base", &[("x", "'1'")]));
        if !text.is_empty() {
            folder.write(&format!("{side}/{path}"), text);
        }
    }
    folder
}

/// Marks, and says how it ended and what is told.
fn mark(folder: &Folder, more: &[&str]) -> (Option<i32>, String) {
    let ran = folder.run(&[&UPGRADE[..], &["--in-place", "--on-conflict", "mark"], more].concat());
    (ran.code, ran.stderr)
}

fn deployment(replicas: &str, image: &str, args: &str, script: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  # how many\n  replicas: {replicas}\n  template:\n    spec:\n      containers:\n      - name: app\n        image: {image}\n        args: [{args}]\n        command:\n        - sh\n        - |\n{script}"
    )
}

fn script(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("          {line}\n")).collect()
}

/// A list without keys, with these lines after its first element.
fn steps(more: &str) -> String {
    format!(
        "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: t\nspec:\n  steps:\n  - run: build\n    with: [a]\n{more}  last: 1\n"
    )
}

#[test]
fn a_comment_that_both_sides_changed_stands_between_markers_and_resolve_decides_it() {
    let text = |comment: &str, size: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  # {comment}\n  size: '1'\n  more: '{size}'\n"
        )
    };
    let texts = [text("old", "1"), text("upstream", "2"), text("ours", "1")];
    let folder = upgrade("map.yaml", texts.each_ref().map(String::as_str));
    let (code, told) = mark(&folder, &[]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("both sides changed the comment at `data.size`"), "{told}");
    let marked =
        "<<<<<<< dest (here)\n  # ours\n||||||| original (v1)\n  # old\n=======\n  # upstream\n>>>>>>> updated (v2)\n";
    assert_eq!(folder.read("here/map.yaml"), text("ours", "2").replace("  # ours\n", marked));
    folder.write("answers", "here/map.yaml:6 ours\n");
    let ran = folder.run(&["resolve", "--answers", "answers", "here/map.yaml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(folder.read("here/map.yaml"), text("ours", "2"));
}

#[test]
fn additions_of_both_sides_stand_between_markers_and_resolve_takes_both() {
    let [ours, theirs] = ["  - run: sign # ours\n    with: [c]\n", "  - run: test\n    with: [b]\n"];
    let texts = [steps(""), steps(theirs), steps(ours)];
    let folder = upgrade("thing.yaml", texts.each_ref().map(String::as_str));
    let (code, told) = mark(&folder, &[]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("both sides added elements to `spec.steps` at the same position"), "{told}");
    let marked = format!("<<<<<<< dest (here)\n{ours}||||||| original (v1)\n=======\n{theirs}>>>>>>> updated (v2)\n");
    assert_eq!(folder.read("here/thing.yaml"), steps(&marked));
    folder.write("answers", "here/thing.yaml:9 both\n");
    let ran = folder.run(&["resolve", "--answers", "answers", "here/thing.yaml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let both = steps(&format!("{ours}{theirs}"));
    assert_eq!(folder.read("here/thing.yaml"), both);
    // That is what each policy makes of it, and there is nothing left to decide.
    for policy in ["take-updated", "keep-dest", "fail"] {
        let ran = folder.run(&[&UPGRADE[..], &["--in-place", "--on-conflict", policy]].concat());
        assert_eq!((ran.code, folder.read("here/thing.yaml")), (Some(0), both.clone()), "{policy}: {}", ran.stderr);
    }
    for (policy, code) in [("take-updated", 0), ("keep-dest", 0), ("fail", 1)] {
        let folder = upgrade("thing.yaml", texts.each_ref().map(String::as_str));
        let ran = folder.run(&[&UPGRADE[..], &["--in-place", "--on-conflict", policy]].concat());
        let want = if code == 0 { &both } else { &texts[2] };
        assert_eq!((ran.code, &folder.read("here/thing.yaml")), (Some(code), want), "{policy}: {}", ran.stderr);
    }
}

#[test]
fn values_are_marked_where_they_are_in_conflict_and_nowhere_else() {
    let text = |tag: &str, more: &str, args: &str| format!("image:\n{tag}{more}args: # all\n- --a\n{args}last: 1\n");
    let [was, ours, theirs] = ["1", "1-fix", "2"].map(|tag| format!("  tag: '{tag}'\n"));
    let [own, new] = ["- --own # ours\n", "- --new\n"];
    let texts =
        [text(&was, "  # pull: no\n", ""), text(&theirs, "  # pull: no\n", new), text(&ours, "  pull: yes\n", own)];
    let marked = |ours: &str, was: &str, theirs: &str| {
        format!("<<<<<<< dest (here)\n{ours}||||||| original (v1)\n{was}=======\n{theirs}>>>>>>> updated (v2)\n")
    };
    let want = text(&marked(&ours, &was, &theirs), "  pull: yes\n", &marked(own, "", new));
    // As a file, and in a ConfigMap, where both sides made nothing but additions.
    let folder = upgrade("values.yaml", texts.each_ref().map(String::as_str));
    let (code, told) = mark(&folder, &[]);
    assert_eq!((code, folder.read("here/values.yaml")), (Some(1), want), "{told}");
    let inside = |args: &str| {
        let args = if args.is_empty() { String::new() } else { format!("    {args}") };
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  v.yaml: |\n    args: # all\n    - --a\n{args}    last: 1\n"
        )
    };
    let [original, updated, dest] = ["", new, own].map(inside);
    let folder = upgrade("map.yaml", [&original, &updated, &dest]);
    let (code, told) = mark(&folder, &[]);
    let want = inside("@").replace("    @", &marked(&format!("    {own}"), "", &format!("    {new}")));
    assert_eq!((code, folder.read("here/map.yaml")), (Some(1), want), "{told}");
    // Each policy keeps both.
    let folder = upgrade("map.yaml", [&original, &updated, &dest]);
    folder.run(&[&UPGRADE[..], &["--in-place", "--on-conflict", "ours"]].concat()).passed();
    assert_eq!(folder.read("here/map.yaml"), inside(&format!("{own}    {new}")));
}

#[test]
fn markers_stand_around_the_lines_in_conflict() {
    let texts = [
        deployment("1", "a:1", "x", &script(&["one", "two", "three", "four", "five", "six"])),
        deployment("2", "a:2", "x", &script(&["one", "2", "three", "four", "five", "SIX"])),
        deployment("3", "a:1", "y", &script(&["one", "zwei", "three", "vier", "five", "six"])),
    ];
    let folder = upgrade("web.yaml", texts.each_ref().map(String::as_str));
    let (code, told) = mark(&folder, &[]);
    assert_eq!(code, Some(1), "{told}");
    let open: Vec<&str> = told.lines().filter(|line| line.starts_with("conflict: ")).collect();
    assert_eq!((open.len(), told.contains("error: ")), (2, false), "{told}");
    assert!(open.iter().all(|line| line.contains("Deployment web") && line.ends_with("unresolved")), "{told}");
    let block = |ours: &str, was: &str, theirs: &str| {
        format!("<<<<<<< dest (here)\n{ours}\n||||||| original (v1)\n{was}\n=======\n{theirs}\n>>>>>>> updated (v2)")
    };
    let want = deployment("REPLICAS", "a:2", "y", &script(&["one", "LINE", "three", "vier", "five", "SIX"]))
        .replace("  replicas: REPLICAS", &block("  replicas: 3", "  replicas: 1", "  replicas: 2"))
        .replace("          LINE", &block("          zwei", "          two", "          2"));
    assert_eq!(folder.read("here/web.yaml"), want);
    assert_eq!(folder.read("here/base.yaml"), map("base", &[("x", "'1'")]));
    // It is resolved as any other.
    let told = folder.run(&["resolve", "--take", "theirs"]).passed();
    assert_eq!(told, "resolved here/web.yaml: 2 of 2 conflicts\n");
    let want = deployment("2", "a:2", "y", &script(&["one", "2", "three", "vier", "five", "SIX"]));
    assert_eq!(folder.read("here/web.yaml"), want);
}

#[test]
fn markers_stand_around_the_lines_in_which_a_text_is_written() {
    for way in [">-\n    %", "\n    %", "'%'", "\"%\" # why", ">+ # why\n    %\n"] {
        let text = |words: [&str; 5]| map("c", &[("a", &way.replace('%', &words.join("\n    "))), ("b", "'1'")]);
        let folder = upgrade(
            "c.yaml",
            [["a", "b", "c", "d", "e"], ["A", "b", "3", "d", "e"], ["a", "b", "2", "d", "E"]]
                .map(text)
                .each_ref()
                .map(String::as_str),
        );
        assert_eq!(mark(&folder, &[]).0, Some(1));
        let conflict =
            "<<<<<<< dest (here)\n    2\n||||||| original (v1)\n    c\n=======\n    3\n>>>>>>> updated (v2)\n";
        assert_eq!(folder.read("here/c.yaml"), text(["A", "b", "%", "d", "E"]).replace("    %\n", conflict), "{way}");
        folder.run(&["resolve", "--take", "ours"]).passed();
        assert_eq!(folder.read("here/c.yaml"), text(["A", "b", "2", "d", "E"]), "{way}");
    }
}

#[test]
fn a_run_with_open_conflicts_says_what_to_do_next() {
    let [v1, v2, here] = ["'1'", "'2'", "'3'"].map(|value| map("c", &[("a", value)]));
    let next = |more: &[&str]| {
        let ran = upgrade("c.yaml", [&v1, &v2, &here]).run(&[&UPGRADE[..], more].concat());
        let line = ran.stderr.lines().last().filter(|line| line.starts_with("next: ")).map(str::to_owned);
        (ran.code, line.unwrap_or_default())
    };
    let resolve = "next: decide the conflicts with `kubectl krm-merge resolve here` (add `--record decisions.yaml` to repeat the answers later), or between the markers in an editor";
    assert_eq!(next(&["--in-place", "--on-conflict", "mark"]), (Some(1), resolve.to_owned()));
    let (code, told) = next(&["--in-place", "--on-conflict", "fail"]);
    assert!(
        code == Some(1) && told.ends_with("or run it again with another `--on-conflict`; nothing was written"),
        "{told}"
    );
    // A file says who wins, so the flag may not say something else.
    let folder = upgrade("c.yaml", [&v1, &v2, &here]);
    let config = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata: {name: m}\nspec: {mode: ThreeWay, onConflict: Fail}\n";
    folder.write("m.yaml", config);
    let sides = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here"];
    let told = folder.run(&[&sides[..], &["--in-place", "--config", "m.yaml"]].concat()).failed(1);
    assert!(told.ends_with("or add rules to m.yaml or change its `onConflict`; nothing was written\n"), "{told}");
    // The words of the other places mean the same.
    for word in ["take-updated", "TakeUpdated", "updated", "Updated", "keep-dest", "KeepDest", "dest", "Dest"] {
        assert_eq!(next(&["--in-place", "--on-conflict", word]), (Some(0), String::new()), "{word}");
    }
    assert_eq!(next(&["--in-place", "--on-conflict", "Fail"]).0, Some(1));
}

#[test]
fn without_a_conflict_nothing_is_marked() {
    let [v1, v2, here] = ["'1'", "'2'", "'1'"].map(|value| map("c", &[("a", value), ("b", "'1'")]));
    let folder = upgrade("c.yaml", [&v1, &v2, &here.replace("b: '1'", "b: '3'")]);
    assert_eq!(mark(&folder, &[]).0, Some(0));
    assert_eq!(folder.read("here/c.yaml"), v2.replace("b: '1'", "b: '3'"));
}

#[test]
fn what_a_rule_decides_has_no_marker() {
    let [v1, v2, here] = ["1", "2", "3"].map(|n| map("c", &[("a", n), ("b", n), ("c", n)]));
    let config = |more: &str| {
        format!(
            "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata: {{name: m}}\nspec:\n  mode: ThreeWay\n  onConflict: KeepDest\n  rules:\n  - {{path: data.a, take: Dest}}\n  - {{path: data.b, take: {more}}}\n"
        )
    };
    for (take, want) in [("Updated", "  a: 3\n  b: 2\n<<<<<<< "), ("Fail", "  a: 3\n<<<<<<< dest (here)\n  b: 3\n")] {
        let folder = upgrade("c.yaml", [&v1, &v2, &here]);
        folder.write("m.yaml", config(take));
        let ran = folder.run(&[
            "three-way",
            "--original",
            "v1",
            "--updated",
            "v2",
            "--dest",
            "here",
            "--in-place",
            "--config",
            "m.yaml",
            "--on-conflict",
            "mark",
        ]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let text = folder.read("here/c.yaml");
        assert!(text.contains(want), "{take}: {text}");
    }
    // A config says by itself who wins.
    let folder = upgrade("c.yaml", [&v1, &v2, &here]);
    folder.write("m.yaml", config("Dest"));
    let error = folder.run(&[&UPGRADE[..7], &["--config", "m.yaml", "--on-conflict", "fail"]].concat()).failed(2);
    assert!(error.starts_with("error: `--on-conflict` must be `mark` or left out with `--config`"), "{error}");
}

#[test]
fn a_resource_that_one_side_deleted_is_marked_as_a_whole() {
    let all = |value: &str| ["a", "b", "c"].map(|name| map(name, &[("x", value)]));
    let ([a, b, c], [_, new, _]) = (all("'1'"), all("'2'"));
    let (three, two, changed) = ([&*a, &b, &c].join("---\n"), [&*a, &c].join("---\n"), [&*a, &new, &c].join("---\n"));
    for (texts, ours, theirs) in
        [([&three, &two, &changed], &changed, &two), ([&three, &changed, &two], &two, &[&*a, &c, &new].join("---\n"))]
    {
        for (take, want) in [("ours", ours), ("theirs", theirs)] {
            let folder = upgrade("m.yaml", texts.map(String::as_str));
            assert_eq!(mark(&folder, &[]).0, Some(1));
            let text = folder.read("here/m.yaml");
            assert_eq!(text.matches("<<<<<<<").count(), 1, "{text}");
            // Each half is a document or nothing.
            let half = text.split(['<', '|', '=', '>']).find(|half| half.contains("name: b")).expect("a half");
            assert!(half.contains("apiVersion") && !half.contains("name: c"), "{text}");
            folder.run(&["resolve", "--take", take]).passed();
            assert_eq!(&folder.read("here/m.yaml"), want, "{take}: {text}");
        }
    }
}

#[test]
fn a_file_that_one_side_deleted_is_marked_as_a_whole() {
    let [old, new] = ["'1'", "'2'"].map(|value| map("a", &[("x", value)]));
    for (path, [old, new]) in [("a.yaml", [&*old, &*new]), ("README", ["old\n", "new\n"])] {
        let file = format!("here/{path}");
        let after = |texts: [&str; 3]| {
            let folder = upgrade(path, texts);
            let (code, told) = mark(&folder, &[]);
            assert_eq!((code, told.contains("unresolved")), (Some(1), true), "{told}");
            folder
        };
        let (upstream, here) = ([old, "", new], [old, new, ""]);
        let want = format!(
            "<<<<<<< dest (here)\n{new}||||||| original (v1)\n{old}=======\n>>>>>>> updated (v2), which deleted the file\n"
        );
        assert_eq!(after(upstream).read(&file), want);
        let want = format!(
            "<<<<<<< dest (here), which deleted the file\n||||||| original (v1)\n{old}=======\n{new}>>>>>>> updated (v2)\n"
        );
        assert_eq!(after(here).read(&file), want);
        for (texts, take, stays) in
            [(upstream, "ours", true), (upstream, "theirs", false), (here, "ours", false), (here, "theirs", true)]
        {
            let folder = after(texts);
            // Another merge would take the markers for text.
            assert!(folder.run(&[&UPGRADE[..], &["--in-place"]].concat()).failed(2).contains("must be resolved"));
            assert!(
                folder
                    .run(&["resolve", "here"])
                    .stdout
                    .ends_with(&format!("{file}:1 the whole file, which one side deleted\n"))
            );
            let told = folder.run(&["resolve", "--take", take, "here"]).passed();
            let did = if stays { "" } else { ", which deletes the file" };
            assert_eq!(told, format!("resolved {file}: 1 of 1 conflict{did}\n"));
            assert_eq!(folder.files("here").get(path).map(Vec::as_slice), stays.then_some(new.as_bytes()), "{take}");
        }
    }
}

#[test]
fn what_is_no_text_stays_and_upstream_s_comes_beside_it() {
    let folder = Folder::new();
    for (side, logo) in [("v1", "\0old"), ("v2", "\0theirs"), ("here", "\0ours")] {
        folder.write(&format!("{side}/web.yaml"), map("web", &[("a", "'1'")]));
        folder.write(&format!("{side}/img/logo.png"), logo);
    }
    let run = || folder.run(&[&UPGRADE[..], &["--in-place", "--on-conflict", "mark"]].concat());
    let told = run().failed(1);
    let next = "img/logo.png: a file that is not text cannot have conflict markers. Dest's file is kept, and updated's is img/logo.png.updated. To take updated's, use `resolve --take theirs`; to keep dest's, use `resolve --take ours`";
    assert!(told.contains(next), "{told}");
    let files = || ["here/img/logo.png", "here/img/logo.png.updated"].map(|path| folder.read(path));
    assert_eq!(files(), ["\0ours", "\0theirs"]);
    // It may be there already, but nothing else may.
    run().failed(1);
    assert_eq!(files(), ["\0ours", "\0theirs"]);
    folder.write("here/img/logo.png.updated", "\0other");
    let told = run().failed(2);
    assert!(told.contains("img/logo.png.updated: nothing must be here"), "{told}");
    assert_eq!(files(), ["\0ours", "\0other"]);
}

/// What the user named decides which files are resolved. A file of the user's own beside a text is no version of it.
#[test]
fn a_file_that_is_no_text_is_resolved_by_taking_a_side() {
    let [own, other] = ["here/logo.png", "here/logo.png.updated"];
    for (take, named, want) in [
        ("theirs", "here", "\u{0}theirs"),
        ("ours", "here", "\u{0}ours"),
        ("theirs", own, "\u{0}theirs"),
        ("theirs", other, "\u{0}theirs"),
    ] {
        let folder = Folder::with(&[
            (own, "\u{0}ours"),
            (other, "\u{0}theirs"),
            ("here/a.txt", "a"),
            ("here/a.txt.updated", "b"),
        ]);
        let open = folder.run(&["resolve", "here"]).failed(1);
        assert!(
            open.contains("logo.png: it is not text, so it has no conflict markers, and theirs is here/logo.png.updated. Pass `--take theirs`"),
            "{open}"
        );
        let told = folder.run(&["resolve", "--take", take, named]).passed();
        assert_eq!(told, format!("resolved {own}: took {take}\n"));
        assert_eq!(folder.read(own), want);
        let left: Vec<String> = folder.files("here").into_keys().collect();
        assert_eq!(left, ["a.txt", "a.txt.updated", "logo.png"]);
        assert_eq!(folder.run(&["resolve", "here"]).passed(), "no conflict to resolve\n");
    }
}

#[test]
fn a_file_that_is_no_yaml_is_marked_by_line() {
    let folder = upgrade("README", ["a\nb\nc\nd\n", "a\nB\nc\nD\n", "A\nb!\nc\nd\n"]);
    let (code, told) = mark(&folder, &[]);
    assert_eq!(code, Some(1), "{told}");
    let want = "<<<<<<< dest (here)\nA\nb!\n||||||| original (v1)\na\nb\n=======\na\nB\n>>>>>>> updated (v2)\nc\nD\n";
    assert_eq!(folder.read("here/README"), want);
    // A file that is no text is dest's.
    let folder = upgrade("x", ["a", "b", "c"]);
    SIDES.iter().enumerate().for_each(|(i, side)| folder.write(&format!("{side}/x"), [0xff, i as u8]));
    assert_eq!(mark(&folder, &[]).0, Some(1));
    assert_eq!(folder.files("here")["x"], [0xff, 2]);
}

#[test]
fn markers_are_longer_than_what_looks_like_one() {
    let [v1, v2, here] = ["1", "2", "3"].map(|n| format!("{n}\n=======\n>>>>>>> {n}\n"));
    let folder = upgrade("README", [&v1, &v2, &here]);
    assert_eq!(mark(&folder, &[]).0, Some(1));
    let text = folder.read("here/README");
    assert!(text.starts_with("<<<<<<<< dest (here)\n3\n"), "{text}");
    folder.run(&["resolve", "--take", "ours", "here"]).passed();
    assert_eq!(folder.read("here/README"), here);
}

#[test]
fn a_package_with_markers_is_not_merged_again() {
    let [v1, v2, here] = ["1", "2", "3"].map(|n| map("c", &[("a", n)]));
    let folder = upgrade("c.yaml", [&v1, &v2, &here]);
    assert_eq!(mark(&folder, &[]).0, Some(1));
    let text = folder.read("here/c.yaml");
    let three_way = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place"];
    let two_way = ["two-way", "--source", "v2", "--dest", "here", "--in-place"];
    let policies = ["mark", "take-updated", "keep-dest", "fail"];
    let merges = policies.map(|policy| [&three_way[..], &["--on-conflict", policy]].concat());
    for merge in merges.iter().map(Vec::as_slice).chain([&two_way[..]]) {
        let told = folder.run(merge).failed(2);
        let want = "error: here/c.yaml: conflicts must be resolved before the next merge, by `resolve` of krm-merge or in an editor; nothing was written";
        assert!(told.starts_with(want), "{merge:?}: {told}");
        assert_eq!(folder.read("here/c.yaml"), text, "{merge:?}");
    }
}

#[test]
fn markers_in_a_file_or_a_pipe_are_told_as_such() {
    let [v1, v2, here] = ["1", "2", "3"].map(|n| map("c", &[("a", n)]));
    let folder = upgrade("c.yaml", [&v1, &v2, &here]);
    assert_eq!(mark(&folder, &[]).0, Some(1));
    let marked = folder.read("here/c.yaml");
    let told = "conflicts must be resolved before the next merge, by `resolve` of krm-merge or in an editor\n";
    let line = 1 + marked.lines().position(|line| line.starts_with("<<<<<<<")).expect("a marker");
    let merge = ["three-way", "--original", "v1/c.yaml", "--updated", "v2/c.yaml", "--dest"];
    let of_file = folder.run(&[&merge[..], &["here/c.yaml"]].concat()).failed(2);
    assert_eq!(of_file, format!("error: here/c.yaml:{line}:1: {told}"));
    let of_pipe = folder.run_with(&marked, &[&merge[..], &["-"]].concat()).failed(2);
    assert_eq!(of_pipe, format!("error: stdin:{line}:1: {told}"));
}

#[test]
fn what_is_printed_is_what_would_be_written() {
    let [v1, v2, here] = ["1", "2", "3"].map(|n| map("c", &[("a", n)]));
    let folder = upgrade("c.yaml", [&v1, &v2, &here]);
    let file = |side: &str| format!("{side}/c.yaml");
    let args = ["three-way", "--original", &file("v1"), "--updated", &file("v2"), "--dest", &file("here")];
    let run = |more: &[&str]| folder.run(&[&args[..], &["--on-conflict", "mark"], more].concat());
    let printed = run(&[]);
    assert_eq!(printed.code, Some(1), "{printed:?}");
    let diff = run(&["-o", "diff"]).stdout;
    for line in ["+<<<<<<< dest (here/c.yaml)", "+>>>>>>> updated (v2/c.yaml)", "  outcome:  unresolved"] {
        assert!(diff.lines().any(|own| own == line), "{diff}");
    }
    for format in ["json", "name"] {
        assert!(run(&["-o", format]).failed(2).contains("must not be given with `--on-conflict mark`"));
    }
    assert_eq!(folder.read("here/c.yaml"), here);
    assert_eq!(run(&["--in-place"]).code, Some(1));
    assert_eq!(folder.read("here/c.yaml"), printed.stdout);
    // A `--dest` that has markers is no YAML any more, so it is not merged twice.
    run(&["--in-place"]).failed(2);
}

/// A Deployment by numbers that say what stands where.
fn text(n: &[u8; 8]) -> String {
    let pick = |i: usize, of: &[&'static str]| of[usize::from(n[i]) % of.len()];
    let list = |i: usize| -> String {
        let names = ["- a\n", "- b\n", "- c\n", "- d\n"];
        (0..4).filter(|bit| n[i] >> bit & 1 == 1).map(|bit| format!("        {}", names[bit])).collect()
    };
    let args = list(4);
    let args = if args.is_empty() { String::new() } else { format!("        args:\n{args}") };
    [
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n",
        pick(0, &["", "  labels:\n    a: x\n", "  labels:\n    a: y\n    b: z\n", "  labels: {a: z}\n"]),
        "spec:\n",
        pick(1, &["", "  replicas: 1\n", "  replicas: 2 # two\n", "  # three\n  replicas: 3\n"]),
        "  template:\n    spec:\n      containers:\n",
        pick(2, &["", "      - name: side\n        image: s:1\n", "      - name: side\n        image: s:2\n"]),
        "      - name: app\n",
        pick(3, &["        image: a:1\n", "        image: 'a:2'\n", "        # pinned\n        image: a:3\n"]),
        &args,
        pick(
            5,
            &[
                "",
                "        env:\n        - name: A\n          value: '1'\n",
                "        env:\n        - {name: A, value: '2'}\n        - {name: B, value: '1'}\n",
            ],
        ),
        pick(
            6,
            &[
                "",
                "        workingDir: |\n          a\n          b\n          c\n",
                "        workingDir: |\n          a\n          x\n          c\n          d\n",
                "        workingDir: |-\n          z\n          b\n          c\n",
            ],
        ),
        pick(
            7,
            &[
                "",
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  k: v\n",
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  k: w\n",
            ],
        ),
    ]
    .concat()
}

proptest! {
    #![proptest_config(shared::tries(60))]

    /// It cannot hold for a resource that dest deleted: to take updated's brings it back, and no policy does. So none is deleted in dest here. Nor
    /// can it for elements that both sides added: policies keep those of both. So both add the same here.
    #[test]
    fn a_side_taken_everywhere_is_that_side_wins(sides in prop::array::uniform3(prop::array::uniform8(0u8..16))) {
        let [mut v1, v2, mut here] = sides;
        if here[7] % 3 == 0 {
            v1[7] = 0;
        }
        if [&v2, &here].into_iter().all(|side| side[4] & !v1[4] != 0) {
            here[4] = v2[4];
        }
        let texts = [text(&v1), text(&v2), text(&here)];
        let run = |conflict: &str| {
            let folder = upgrade("web.yaml", texts.each_ref().map(String::as_str));
            let ran = folder.run(&[&UPGRADE[..], &["--in-place", "--on-conflict", conflict]].concat());
            (folder, ran)
        };
        for (take, policy) in [("ours", "keep-dest"), ("theirs", "take-updated")] {
            let (marked, ran) = run("mark");
            let (settled, won) = run(policy);
            assert_eq!(won.code, Some(0), "{texts:#?} {won:?}");
            let text = marked.read("here/web.yaml");
            assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
            assert_eq!(ran.code == Some(1), text.contains("<<<<<<< "), "{ran:?} {text}");
            marked.run(&["resolve", "--take", take, "here"]).passed();
            assert_eq!(marked.read("here/web.yaml"), settled.read("here/web.yaml"), "{take} of {text}");
        }
    }
}
