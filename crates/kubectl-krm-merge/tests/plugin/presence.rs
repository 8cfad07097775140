//! One path of three packages, with plain content, with resources or with nothing on each side: nothing of it is lost in silence.

use crate::support::{Folder, map};

const UPGRADE: [&str; 8] = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place"];

/// What a side has there.
#[derive(Clone, Copy, Debug)]
enum Has {
    Nothing,
    /// Plain content.
    Plain(u8),
    /// The ConfigMap `a`.
    Resource(u8),
    /// The ConfigMap `b`.
    Another,
    /// Comments alone.
    Comments,
}
use Has::{Another, Comments, Nothing as No, Plain as P, Resource as R};

/// What comes of it.
#[derive(Debug)]
enum Comes {
    /// This, and nothing is told.
    Quiet(Has),
    /// This, and that on stderr.
    Told(Has, &'static str),
    /// Both ConfigMaps in one file.
    Both,
    /// An error that names the file, and nothing is written.
    Refused(&'static str),
}
use Comes::{Both, Quiet, Refused, Told};

fn text(has: Has) -> Option<String> {
    match has {
        No => None,
        P(value) => Some(format!("plain: '{value}'\n")),
        R(value) => Some(map("a", &[("x", &format!("'{value}'"))])),
        Another => Some(map("b", &[("x", "'1'")])),
        Comments => Some("# nothing yet\n".to_owned()),
    }
}

fn package(sides: [Has; 3]) -> Folder {
    let folder = Folder::new();
    for (version, has) in ["v1", "v2", "here"].iter().zip(sides) {
        folder.write(&format!("{version}/other.yaml"), map("other", &[]));
        if let Some(text) = text(has) {
            folder.write(&format!("{version}/a.yaml"), text);
        }
    }
    folder
}

const DELETED_HERE: &str = "), and updated changed it; did not add it";
const DELETED_THERE: &str = "), and dest changed it; deleted it";
const OVERLAP: &str = "both sides changed `plain`: dest has \"3\", updated has \"2\"";
const FIELD: &str = "both sides changed `data.x`: dest has \"3\", updated has \"2\"";
const MIXED: &str = "both sides changed the file (it holds resources on one side, and something else on another)";
const MIXED_NEW: &str =
    "both sides added the file (it holds resources on one side, and something else on another); took updated's";
const PLAIN_NOW: &str = "the file holds resources on another side, but not in updated";

#[test]
fn every_combination_of_plain_content_and_resources_is_settled() {
    for (sides, want) in [
        // Files alone.
        ([No, No, P(1)], Quiet(P(1))),
        ([No, P(1), No], Quiet(P(1))),
        ([No, P(1), P(1)], Quiet(P(1))),
        ([No, P(2), P(3)], Told(P(2), "both sides added the file (it holds no resources); took updated's")),
        ([P(1), No, No], Quiet(No)),
        ([P(1), No, P(1)], Quiet(No)),
        ([P(1), No, P(3)], Told(No, DELETED_THERE)),
        ([P(1), P(1), No], Quiet(No)),
        ([P(1), P(2), No], Told(No, DELETED_HERE)),
        ([P(1), P(2), P(1)], Quiet(P(2))),
        ([P(1), P(2), P(3)], Told(P(2), OVERLAP)),
        // Resources alone.
        ([No, No, R(1)], Quiet(R(1))),
        ([No, R(1), No], Quiet(R(1))),
        ([No, R(1), R(1)], Quiet(R(1))),
        ([No, Another, R(1)], Both),
        ([R(1), No, No], Quiet(No)),
        ([R(1), No, R(1)], Quiet(No)),
        ([R(1), No, R(3)], Told(No, "updated does not have the resource, and dest changed it")),
        ([R(1), R(1), No], Quiet(No)),
        ([R(1), R(2), No], Told(No, "dest does not have the resource, and updated changed it")),
        ([R(1), R(2), R(1)], Quiet(R(2))),
        ([R(1), R(2), R(3)], Told(R(2), FIELD)),
        // Nothing upstream before.
        ([No, P(1), R(1)], Told(P(1), MIXED_NEW)),
        ([No, R(1), P(1)], Told(R(1), MIXED_NEW)),
        // Nothing upstream any more.
        ([P(1), No, R(3)], Quiet(R(3))),
        ([R(1), No, P(3)], Quiet(P(3))),
        // Nothing in dest.
        ([P(1), R(2), No], Quiet(R(2))),
        ([R(1), P(2), No], Told(No, DELETED_HERE)),
        // Plain upstream, as before.
        ([P(1), P(1), R(3)], Quiet(R(3))),
        ([P(1), P(2), R(3)], Told(P(2), MIXED)),
        // Resources upstream, as before.
        ([R(1), R(1), P(3)], Quiet(P(3))),
        ([R(1), R(2), P(3)], Told(R(2), MIXED)),
        ([R(1), Another, P(3)], Told(Another, MIXED)),
        // Plain content became resources.
        ([P(1), R(2), P(1)], Quiet(R(2))),
        ([P(1), R(2), P(3)], Told(R(2), MIXED)),
        ([P(1), R(2), Comments], Told(No, "")),
        ([P(1), R(2), R(2)], Quiet(R(2))),
        ([P(1), Another, R(3)], Both),
        // Resources became plain content.
        ([R(1), P(2), P(2)], Quiet(P(2))),
        ([R(1), P(2), P(3)], Told(P(2), "both sides changed the file (it no longer holds resources)")),
        ([R(1), P(2), R(1)], Quiet(P(2))),
        ([R(1), P(2), R(3)], Told(P(2), MIXED)),
    ] {
        let folder = package(sides);
        let before = folder.files("here");
        let ran = folder.run(&UPGRADE);
        let here = || folder.path("here/a.yaml").exists().then(|| folder.read("here/a.yaml"));
        match want {
            Refused(why) => {
                assert!(ran.stderr.contains("a.yaml: ") && ran.stderr.contains(why), "{sides:?}\n{ran:?}");
                assert_eq!((ran.code, folder.files("here")), (Some(2), before), "{sides:?}");
                continue;
            }
            Both => {
                assert_eq!(ran.stderr, "", "{sides:?}");
                let both = format!("{}---\n{}", text(sides[2]).expect("a file"), text(Another).expect("a file"));
                assert_eq!(here(), Some(both), "{sides:?}");
            }
            // Comments that dest has in the place of upstream's plain content stay above what is new.
            Told(_, "") => assert_eq!(here(), text(R(2)).map(|new| format!("# nothing yet\n---\n{new}")), "{sides:?}"),
            Told(left, why) => {
                assert!(ran.stderr.starts_with("warning: ") && ran.stderr.contains(why), "{sides:?}\n{ran:?}");
                assert!(ran.stderr.contains("a.yaml") && ran.stderr.lines().count() == 1, "{sides:?}\n{ran:?}");
                assert_eq!(here(), text(left), "{sides:?}");
            }
            Quiet(left) => {
                assert_eq!(ran.stderr, "", "{sides:?}");
                assert_eq!(here(), text(left), "{sides:?}");
            }
        }
        assert_eq!(ran.code, Some(0), "{sides:?}");
        assert_eq!(folder.read("here/other.yaml"), map("other", &[]), "{sides:?}");
    }
}

/// Where dest has the resources in another file, none is new at the path.
#[test]
fn resources_that_lie_elsewhere_in_dest_leave_the_path_to_files() {
    for (sides, want) in [
        // The plain content is replaced, so it goes.
        ([P(1), R(2), P(1)], Quiet(No)),
        ([P(1), R(2), P(3)], Told(No, " by resources, and dest changed it; deleted it")),
        ([P(1), R(2), No], Quiet(No)),
        ([Comments, R(2), Comments], Quiet(Comments)),
        // Whether dest has moved the file, or deleted one of two, nobody can tell.
        ([R(1), P(2), No], Refused(PLAIN_NOW)),
    ] {
        let folder = package(sides);
        folder.write("here/moved/b.yaml", map("a", &[("x", "'1'"), ("mine", "y")]));
        let before = folder.files("here");
        // Upstream's value of both sides is the same, so only the path is in question.
        if matches!(sides[1], R(_)) {
            folder.write("v2/a.yaml", map("a", &[("x", "'1'")]));
        }
        let ran = folder.run(&UPGRADE);
        match want {
            Refused(why) => {
                assert!(ran.code == Some(2) && ran.stderr.contains(why), "{sides:?}\n{ran:?}");
                assert_eq!(folder.files("here"), before, "{sides:?}");
            }
            Told(_, why) => assert!(ran.stderr.contains(why) && ran.stderr.lines().count() == 1, "{sides:?}\n{ran:?}"),
            _ => assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{sides:?}"),
        }
        if let Quiet(left) | Told(left, _) = want {
            let here = folder.path("here/a.yaml").exists().then(|| folder.read("here/a.yaml"));
            assert_eq!(here, text(left), "{sides:?}");
        }
        assert_eq!(folder.read("here/moved/b.yaml"), map("a", &[("x", "'1'"), ("mine", "y")]), "{sides:?}");
    }
}

/// A file of several forms is merged by line, under every policy, and what it is merged with keeps its comments.
#[test]
fn resources_that_are_something_else_on_a_side_are_merged_by_line() {
    let resource = |image: &str, replicas: &str| {
        format!(
            "# ours\nkind: Deployment\napiVersion: apps/v1\nmetadata:\n  name: a\nspec:\n  image: {image}\n  template:\n    a: b\n  replicas: {replicas}\n"
        )
    };
    let nameless = |text: String| text.replace("metadata:\n  name: a\n", "metadata: {}\n");
    for (v1, v2, here, merged) in [
        // Dest has no name any more.
        (resource("1", "1"), resource("2", "1"), nameless(resource("1", "3")), nameless(resource("2", "3"))),
        // Upstream has none.
        (resource("1", "1"), nameless(resource("2", "1")), resource("1", "3"), nameless(resource("2", "3"))),
        // Upstream has a key twice.
        (
            resource("1", "1"),
            resource("2", "1").replace("spec:\n", "spec:\n  image: 0\n"),
            resource("1", "3"),
            resource("2", "3").replace("spec:\n", "spec:\n  image: 0\n"),
        ),
        // A resource in neither of them, but in updated.
        (nameless(resource("1", "1")), resource("2", "1"), nameless(resource("1", "3")), resource("2", "3")),
    ] {
        for policy in ["take-updated", "keep-dest", "fail"] {
            let folder = package([No, No, No]);
            for (version, text) in ["v1", "v2", "here"].iter().zip([&v1, &v2, &here]) {
                folder.write(&format!("{version}/a.yaml"), text);
            }
            let ran = folder.run(&[&UPGRADE[..], &["--on-conflict", policy]].concat());
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{here}");
            let told = "info: a.yaml: merged the changes of both sides to the file (it holds resources on one side, and something else on another)";
            assert!(ran.stdout.contains(told), "{ran:?}");
            assert_eq!(folder.read("here/a.yaml"), merged);
        }
    }
}

#[test]
fn a_conflict_of_a_file_is_settled_by_the_policy_whatever_upstream_made_of_it() {
    let folder = package([P(1), R(2), P(3)]);
    folder.write("here/b.yaml", map("a", &[("x", "'2'")]));
    let with = |policy| folder.run(&[&UPGRADE[..], &["--on-conflict", policy]].concat());
    let err = with("fail").failed(1);
    assert!(err.contains("error: a.yaml: updated replaced the file") && err.contains("unresolved"), "{err}");
    assert!(with("keep-dest").stderr.contains("kept dest's"));
    assert_eq!(folder.read("here/a.yaml"), text(P(3)).expect("a file"));
    assert!(with("take-updated").stderr.contains("deleted it"));
    assert!(!folder.path("here/a.yaml").exists());
}

#[test]
fn a_rule_that_leaves_conflicts_to_someone_leaves_those_of_a_broken_file_too() {
    let folder = package([No, No, No]);
    let twice = map("a", &[("x", "'3'"), ("x", "'3'")]);
    for (path, text) in [("v1", map("a", &[("x", "'1'")])), ("v2", map("a", &[("x", "'2'")])), ("here", twice.clone())]
    {
        folder.write(&format!("{path}/a.yaml"), text);
    }
    let with = |take: &str| {
        folder.write(
            "rules.yaml",
            format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules:\n  - {{target: {{kind: ConfigMap}}, take: {take}}}\n"),
        );
        folder.run(&[&UPGRADE[..], &["--config", "rules.yaml"]].concat())
    };
    let err = with("Fail").failed(1);
    assert!(err.contains("error: a.yaml: both sides changed the file") && err.contains("unresolved"), "{err}");
    assert_eq!(folder.read("here/a.yaml"), twice);
    // One that picks a side cannot, and that is told.
    let told = "warning: a.yaml: the file holds resources on one side and something else on another, so rules do not apply inside it: `spec.rules[0]` decided nothing here";
    assert!(!err.contains(told), "{err}");
    let err = with("Dest").stderr;
    assert!(err.contains("took updated's") && err.contains(told), "{err}");
    folder.write("here/a.yaml", &twice);
    folder.write(
        "rules.yaml",
        "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules:\n  - {target: {kind: Secret}, take: Dest}\n",
    );
    let err = folder.run(&[&UPGRADE[..], &["--config", "rules.yaml"]].concat()).stderr;
    assert!(err.contains("a.yaml: both sides changed the file") && !err.contains(told), "{err}");
}

#[test]
fn a_rule_decides_a_file_without_a_name() {
    let files = |suffix: &str, prefix: &str| format!("nameSuffix: {suffix}\nnamePrefix: {prefix}\n");
    let with = |rules: &str| {
        let folder = package([No, No, No]);
        for (side, text) in [("v1", files("s1", "p1")), ("v2", files("s2", "p2")), ("here", files("s3", "p3"))] {
            folder.write(&format!("{side}/app/kustomization.yaml"), text);
        }
        let config = format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules:\n{rules}");
        folder.write("rules.yaml", config);
        let ran = folder.run(&[&UPGRADE[..], &["--config", "rules.yaml", "-o", "diff"]].concat());
        (ran, folder.read("here/app/kustomization.yaml"))
    };
    // What no rule names is decided by `onConflict`.
    for (target, suffix, prefix) in [
        ("target: {kind: Kustomization}, path: namePrefix, take: Dest", "s2", "p3"),
        ("target: {path: app/kustomization.yaml}, path: namePrefix, take: Dest", "s2", "p3"),
        ("target: {path: '*/kustomization.yaml'}, take: Dest", "s3", "p3"),
        ("target: {kind: ConfigMap}, take: Dest", "s2", "p2"),
        ("target: {path: charts}, take: Dest", "s2", "p2"),
        ("path: namePrefix, take: Dest", "s2", "p3"),
    ] {
        let (ran, text) = with(&format!("  - {{{target}}}\n"));
        assert_eq!(text, files(suffix, prefix), "{target}: {}", ran.stderr);
        let decided = "info: app/kustomization.yaml: both sides changed `namePrefix`: dest has \"p3\", updated has \"p2\", original had \"p1\"; kept dest's, as `spec.rules[0]` says";
        assert_eq!(ran.stderr.lines().any(|line| line == decided), prefix == "p3", "{target}: {}", ran.stderr);
        assert_eq!(ran.stderr.contains("`spec.rules[0]` decided nothing"), prefix == "p2", "{target}: {}", ran.stderr);
    }
    // A rule that leaves a conflict to someone names that conflict alone.
    let (ran, text) = with("  - {path: namePrefix, take: Fail}\n  - {path: nameSuffix, take: Dest}\n");
    let err = ran.failed(1);
    assert_eq!(text, files("s3", "p3"));
    assert!(err.contains("error: app/kustomization.yaml: both sides changed `namePrefix`: dest has"), "{err}");
    assert!(!err.contains("the changes overlap"), "{err}");
}

#[test]
fn the_newer_version_of_a_chart_wins() {
    let chart = |version: &str, redis: &str| {
        format!("apiVersion: v2\nname: shop\nversion: {version}\ndependencies:\n- name: redis\n  version: {redis}\n")
    };
    let folder = package([No, No, No]);
    for (side, text) in
        [("v1", chart("1.0.0", "17.0.0")), ("v2", chart("1.2.0", "18.1.0")), ("here", chart("1.1.0", "18.2.0"))]
    {
        folder.write(&format!("{side}/Chart.yaml"), text);
    }
    folder.write(
        "rules.yaml",
        "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  onConflict: Fail\n  rules:\n  - {take: Newest}\n",
    );
    let merge = [&UPGRADE[..], &["--config", "rules.yaml"]].concat();
    // A second run changes nothing.
    for _ in 0..2 {
        folder.run(&merge).passed();
        assert_eq!(folder.read("here/Chart.yaml"), chart("1.2.0", "18.2.0"));
    }
}

/// A comment above the document is in conflict, too, and it is no place of the document.
#[test]
fn what_a_rule_decided_is_told_beside_a_comment_in_conflict() {
    let folder = package([No, No, No]);
    for (side, n) in [("v1", "1"), ("v2", "2"), ("here", "3")] {
        folder.write(&format!("{side}/Chart.yaml"), format!("# head {n}\n\nname: shop\nversion: 1.{n}.0\n"));
    }
    folder.write(
        "rules.yaml",
        "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules:\n  - {path: version, take: Newest}\n",
    );
    let ran = folder.run(&[&UPGRADE[..], &["--config", "rules.yaml", "-o", "diff"]].concat());
    assert!(folder.read("here/Chart.yaml").contains("version: 1.3.0\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("kept dest's, the newer version, as `spec.rules[0]` says"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("decided nothing"), "{}", ran.stderr);
}

#[test]
fn a_rule_for_a_file_that_did_not_merge_by_field_is_told_to_decide_nothing() {
    let folder = package([No, No, No]);
    for (side, x) in [("v1", "1"), ("v2", "2"), ("here", "3")] {
        folder.write(&format!("{side}/a.txt"), format!("a\n{x}\n"));
    }
    let told = "warning: a.txt: the file did not merge by field, so rules do not apply inside it: `spec.rules[0]` decided nothing here";
    for (target, is_told) in [("target: {path: a.txt}, ", true), ("target: {kind: ConfigMap}, ", false), ("", false)] {
        folder.write(
            "rules.yaml",
            format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules:\n  - {{{target}take: Dest}}\n"),
        );
        let merge = [&UPGRADE[..], &["--config", "rules.yaml", "-o", "yaml", "--dry-run"]].concat();
        let err = folder.run(&merge).stderr;
        assert!(err.contains("a.txt: both sides changed the file"), "{err}");
        assert_eq!(err.lines().any(|line| line == told), is_told, "{target}: {err}");
    }
}

#[test]
fn counts_tell_what_is_done_and_no_more() {
    let files = [
        ("v1/a.yaml", map("a", &[("x", "'1'")])),
        ("v1/left.yaml", map("left", &[("x", "'1'")])),
        ("v2/a.yaml", map("a", &[("x", "'1'")])),
        ("v2/left.yaml", map("left", &[("x", "'2'")])),
        ("v2/z.yaml", format!("{}---\n{}", map("z", &[("x", "'1'")]), map("zz", &[("x", "'1'")]))),
        ("here/a.yaml", map("a", &[("x", "'1'")])),
        ("here/left.yaml", map("left", &[("x", "'1'")])),
        ("here/.krmignore", "z.yaml\nleft.yaml\n".to_owned()),
    ];
    let folder = Folder::with(&files.each_ref().map(|(path, text)| (*path, text.as_str())));
    let ran = folder.run(&UPGRADE);
    let told: Vec<&str> =
        ran.stderr.lines().filter(|l| l.contains("z.yaml: new in v2/z.yaml, but not added")).collect();
    assert_eq!((ran.code, told.len()), (Some(0), 1), "{ran:?}");
    assert_eq!(ran.stdout, "info: 0 merged, 0 added, 0 deleted, 1 unchanged; 0 conflicts\n");
    let ran = folder.run(&["two-way", "-s", "v2", "-d", "here", "-i"]);
    assert!(ran.stderr.contains("z.yaml: new in v2/z.yaml, but not added"), "{ran:?}");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    let ran = folder.run(&["two-way", "-p", &map("n", &[]), "-d", "here", "-i"]);
    assert!(ran.stdout.contains("configmap_n.yaml") && ran.stdout.contains("ConfigMap n"), "{ran:?}");
    folder.write("here/.krmignore", "configmap_m.yaml\n");
    let ran = folder.run(&["two-way", "-p", &map("m", &[]), "-d", "here", "-i"]);
    assert!(ran.stderr.contains("configmap_m.yaml: new in --patch, but not added"), "{ran:?}");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    // Conflicts of files are counted beside those of resources.
    for name in ["one.txt", "two.txt"] {
        for (version, text) in [("v1", "1"), ("v2", "2"), ("here", "3")] {
            folder.write(&format!("{version}/{name}"), text);
        }
    }
    folder.write("v2/new.txt", "new");
    let ran = folder.run(&[&UPGRADE[..], &["--on-conflict", "fail"]].concat());
    let want = "info: files without resources: 0 changed, 0 added, 0 deleted; 2 conflicts\n";
    assert!(ran.code == Some(1) && ran.stdout.ends_with(want), "{ran:?}");
    let ran = folder.run(&UPGRADE);
    assert!(ran.stdout.ends_with("files without resources: 2 changed, 1 added, 0 deleted; 2 conflicts\n"), "{ran:?}");
}

#[test]
fn a_file_that_krmignore_leaves_out_is_named() {
    let folder = package([P(1), P(1), P(1)]);
    for (path, text) in [
        ("v1/left.txt", "1"),
        ("v2/left.txt", "2"),
        ("here/left.txt", "1"),
        ("v2/new.txt", "2"),
        ("v1/same.txt", "1"),
        ("v2/same.txt", "1"),
        ("here/same.txt", "3"),
        ("v1/gone.txt", "1"),
        ("v2/gone.txt", "2"),
        ("here/.krmignore", "*.txt\n"),
    ] {
        folder.write(path, text);
    }
    let before = folder.files("here");
    let ran = folder.run(&UPGRADE);
    let want = "warning: left.txt: changed in updated, but not merged, because dest's file was not read. It is a symbolic link, `.krmignore` excludes it, or it belongs to another side of the merge\nwarning: new.txt: new in v2/new.txt, but not added, because `.krmignore` excludes it\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), want));
    assert_eq!(folder.files("here"), before);
}

#[test]
fn what_a_kustomization_makes_is_there_for_those_who_refer_to_it() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: own}\nspec: {containers: [{name: a, envFrom: [{configMapRef: {name: a}}]}]}\n";
    let told = "Pod own (own.yaml): `spec.containers[name=a].envFrom[0].configMapRef.name` refers to ConfigMap a, which the merge deletes";
    for (updated, is_told) in [("resources: [b.yaml]\n", true), ("configMapGenerator: [{name: a}]\n", false)] {
        let kustomization = "resources: [a.yaml, b.yaml]\n";
        let folder = Folder::with(&[
            ("v1/a.yaml", &map("a", &[])),
            ("v1/b.yaml", &map("b", &[])),
            ("v1/kustomization.yaml", kustomization),
            ("v2/b.yaml", &map("b", &[])),
            ("v2/kustomization.yaml", updated),
            ("here/a.yaml", &map("a", &[])),
            ("here/b.yaml", &map("b", &[])),
            ("here/kustomization.yaml", kustomization),
            ("here/own.yaml", pod),
        ]);
        let ran = folder.run(&UPGRADE);
        assert_eq!(ran.stderr.contains(told), is_told, "{ran:?}");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(folder.read("here/own.yaml"), pod);
    }
}

/// The files of an overlay with an own version of a resource that its base has, too.
fn with_overlay(sides: [&str; 3]) -> Folder {
    let folder = Folder::new();
    for (side, text) in ["v1", "v2", "here"].into_iter().zip(sides) {
        folder.write(&format!("{side}/base/a.yaml"), map("a", &[("base", "'1'")]));
        if !text.is_empty() {
            folder.write(&format!("{side}/test/patch.yaml"), text);
        }
    }
    folder
}

/// Upgrades a folder, and checks that a second run changes nothing. Returns what was said.
fn upgraded(folder: &Folder, policy: &str) -> String {
    let args = [&UPGRADE[..], &["--on-conflict", policy]].concat();
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let once = folder.files("here");
    let again = folder.run(&args);
    assert_eq!((again.code, folder.files("here")), (Some(0), once), "{again:?}");
    ran.stderr
}

const JSON6902: &str = "- op: replace\n  path: /data/x\n  value: '2'\n";

/// A file that dest left alone becomes upstream's, whatever that holds, also where the resource of the file lies in a base, too.
#[test]
fn a_patch_that_dest_left_alone_becomes_what_upstream_made_of_it() {
    let patch = |value: &str| map("a", &[("x", value)]);
    let template = "{{- if .x }}\napiVersion: v1\n{{- end }}\n";
    for line_break in ["\n", "\r\n"] {
        let written = |text: &str| text.replace('\n', line_break);
        for (original, updated) in [
            (patch("'1'"), JSON6902.to_owned()),
            (patch("'1'"), template.to_owned()),
            (patch("'1'"), "[{\"op\": \"remove\", \"path\": \"/data/x\"}]\n".to_owned()),
            (patch("'1'") + "---\n" + &map("more", &[]), JSON6902.to_owned()),
            (
                format!("apiVersion: v1\nkind: List\nitems:\n- {}", patch("'1'").trim_end().replace('\n', "\n  ")),
                JSON6902.to_owned(),
            ),
            (JSON6902.to_owned(), patch("'1'")),
            (template.to_owned(), patch("'1'") + "---\n" + &map("more", &[])),
        ] {
            let [original, updated] = [written(&original), written(&updated)];
            let folder = with_overlay([&original, &updated, &original]);
            // An overlay of dest's own changes nothing.
            folder.write("here/mine/patch.yaml", patch("'7'"));
            let err = upgraded(&folder, "take-updated");
            assert!(err.lines().all(|line| line.contains("not valid YAML")), "{original}{updated}{err}");
            assert_eq!(folder.read("here/test/patch.yaml"), updated);
            assert_eq!(folder.read("here/mine/patch.yaml"), patch("'7'"));
        }
    }
}

/// What dest changed in such a file is a conflict, and stops nothing.
#[test]
fn a_patch_that_dest_changed_is_a_conflict_with_what_upstream_made_of_it() {
    let patch = |value: &str| map("a", &[("x", value)]);
    for has_own in [false, true] {
        for (policy, left) in [("take-updated", JSON6902.to_owned()), ("keep-dest", patch("'3'"))] {
            let folder = with_overlay([&patch("'1'"), JSON6902, &patch("'3'")]);
            if has_own {
                folder.write("here/mine/patch.yaml", patch("'7'"));
            }
            let err = upgraded(&folder, policy);
            assert!(
                err.contains("test/patch.yaml") && err.contains("dest changed it") || err.contains("both sides"),
                "{err}"
            );
            assert_eq!(folder.read("here/test/patch.yaml"), left);
        }
    }
    // A resource of dest's own stays, and the file with it.
    let own = patch("'1'") + "---\n" + &map("own", &[]);
    let folder = with_overlay([&patch("'1'"), JSON6902, &own]);
    folder.write("here/mine/patch.yaml", patch("'7'"));
    let err = upgraded(&folder, "take-updated");
    assert!(
        err.contains("test/patch.yaml: both sides changed the file (it no longer holds resources); kept dest's"),
        "{err}"
    );
    assert_eq!(folder.read("here/test/patch.yaml"), map("own", &[]));
    // What dest deleted stays deleted: the base has not moved.
    let folder = with_overlay([&patch("'1'"), JSON6902, ""]);
    assert!(upgraded(&folder, "take-updated").contains("dest does not have the file"));
    assert!(!folder.path("here/test/patch.yaml").exists());
}

/// If nobody can tell which of several resources of one identity is which, the file is merged as a text.
#[test]
fn a_file_that_has_a_resource_more_often_on_a_side_is_merged_as_a_text() {
    let twice = |first: &str, second: &str| map("a", &[("x", first)]) + "---\n" + &map("a", &[("y", second)]);
    let once = |first: &str, second: &str| map("a", &[("x", first)]) + "---\n" + &map("b", &[("y", second)]);
    for (original, updated, dest, want) in [
        // Only one side changed the file.
        (once("'1'", "'1'"), twice("'2'", "'1'"), once("'1'", "'1'"), twice("'2'", "'1'")),
        (once("'1'", "'1'"), once("'1'", "'1'"), twice("'1'", "'3'"), twice("'1'", "'3'")),
        (once("'1'", "'1'"), once("'2'", "'1'"), twice("'1'", "'3'"), twice("'2'", "'3'")),
    ] {
        let folder = with_overlay([&original, &updated, &dest]);
        assert_eq!(upgraded(&folder, "take-updated"), "");
        assert_eq!(folder.read("here/test/patch.yaml"), want);
    }
    let folder = with_overlay([&once("'1'", "'1'"), &once("'2'", "'1'"), &twice("'4'", "'3'")]);
    let err = upgraded(&folder, "take-updated");
    assert!(err.contains("(a resource is in it more often on one side than on another)"), "{err}");
    assert_eq!(folder.read("here/test/patch.yaml"), twice("'2'", "'3'"));
}

/// Nothing is written after an error, so nothing counts as merged.
#[test]
fn an_error_is_followed_by_no_counts_of_what_was_merged() {
    let folder = package([R(1), P(2), No]);
    folder.write("here/moved/b.yaml", map("a", &[("x", "'1'"), ("mine", "y")]));
    folder.write("v2/other.yaml", map("other", &[("x", "'2'")]));
    let ran = folder.run(&UPGRADE);
    assert!(ran.code == Some(2) && ran.stderr.contains(PLAIN_NOW), "{ran:?}");
    assert_eq!(ran.stdout, "");
    // An open conflict of a file stops all resources, too.
    let folder = package([P(1), P(2), P(3)]);
    folder.write("v2/other.yaml", map("other", &[("x", "'2'")]));
    let ran = folder.run(&[&UPGRADE[..], &["--on-conflict", "fail"]].concat());
    assert!(
        ran.code == Some(1) && ran.stdout.contains("0 merged, 0 added, 0 deleted, 1 unchanged; 0 conflicts\n"),
        "{ran:?}"
    );
}

/// A file of dest's own stays, under each policy, if it only has the name of a file of upstream. What dest changed in upstream's file is
/// merged.
#[test]
fn a_file_that_has_nothing_in_common_with_upstream_s_stays() {
    let old = "# The package\n\nInstall it with one command.\n\n## Usage\n\nRead on.\n";
    let new = old.replace("one command", "two commands");
    let own = "# Our platform\n\nThe only text that we have.\n";
    for line_break in ["\n", "\r\n"] {
        let own = own.replace('\n', line_break);
        for (original, updated) in [(old, &*new), ("", old), (old, "")] {
            for (policy, told) in [
                ("take-updated", "; kept dest's, because it looks unrelated to upstream's file of the same name"),
                ("keep-dest", "; kept dest's"),
            ] {
                let folder = package([No, No, No]);
                for (side, text) in [("v1", original), ("v2", updated), ("here", &own)] {
                    if !text.is_empty() {
                        folder.write(&format!("{side}/README.md"), text);
                    }
                }
                let err = upgraded(&folder, policy);
                assert!(err.contains("README.md: ") && err.contains(told), "{err}");
                assert_eq!(folder.read("here/README.md"), own);
                assert!(
                    folder.run(&[&UPGRADE[..], &["--on-conflict", "fail"]].concat()).failed(1).contains("README.md")
                );
                assert_eq!(folder.run(&[&UPGRADE[..], &["--on-conflict", "mark"]].concat()).code, Some(1));
                let marked = folder.read("here/README.md");
                assert!(marked.contains("<<<<<<< dest") && marked.contains("Our platform"), "{marked}");
            }
        }
    }
    let folder = package([No, No, No]);
    for (side, text) in [("v1", old), ("v2", &new), ("here", &old.replace("one command", "care"))] {
        folder.write(&format!("{side}/README.md"), text);
    }
    assert!(upgraded(&folder, "take-updated").contains("took updated's"));
    assert_eq!(folder.read("here/README.md"), new);
}

/// Two changed lock files give no third one: a digest of one beside the versions of the other would be wrong without a word.
#[test]
fn a_lock_file_is_taken_whole() {
    let lock = |common: &str, redis: &str, digest: &str| {
        let one = |name: &str, version: &str| {
            format!("- name: {name}\n  repository: https://example.com\n  version: {version}\n")
        };
        format!("dependencies:\n{}{}digest: sha256:{digest}\n", one("common", common), one("redis", redis))
    };
    let (old, new, own) = (lock("1.0.0", "2.0.0", "a"), lock("1.1.0", "2.0.0", "b"), lock("1.0.0", "2.1.0", "c"));
    for (policy, want, told) in [("take-updated", &new, "took updated's"), ("keep-dest", &own, "kept dest's")] {
        let folder = package([No, No, No]);
        for (side, text) in [("v1", &old), ("v2", &new), ("here", &own)] {
            folder.write(&format!("{side}/charts/web/Chart.lock"), text);
        }
        let err = upgraded(&folder, policy);
        let why = "because the parts of a lock file belong together. Make it again with `helm dependency update`";
        assert!(err.contains(&format!("{told}, {why}")), "{err}");
        assert_eq!(&folder.read("here/charts/web/Chart.lock"), want);
    }
    // What one side alone changed is no conflict.
    let folder = package([No, No, No]);
    for (side, text) in [("v1", &old), ("v2", &new), ("here", &old)] {
        folder.write(&format!("{side}/Chart.lock"), text);
    }
    assert!(!upgraded(&folder, "take-updated").contains("Chart.lock: both"));
    assert_eq!(folder.read("here/Chart.lock"), new);
}

#[test]
fn a_dest_above_the_package_is_told() {
    let package: Vec<(String, String)> = (0..10)
        .map(|i| (format!("{}x{i}.yaml", if i == 0 { "sub/" } else { "" }), map(&format!("x{i}"), &[("x", "'1'")])))
        .collect();
    let with = |left_out: usize| {
        let folder = Folder::new();
        for (path, text) in &package {
            folder.write(&format!("v1/{path}"), text);
            folder.write(&format!("v2/{path}"), text);
        }
        for (path, text) in &package[left_out..] {
            folder.write(&format!("here/apps/web/{path}"), text);
        }
        folder.write("here/README.md", "ours\n");
        folder
    };
    for (left_out, told) in [(0, Some("10 of 10")), (1, Some("9 of 10")), (2, None)] {
        let err = upgraded(&with(left_out), "take-updated");
        let want = told.map(|of| {
            format!(
                "warning: the directory \"apps/web\" of dest has {of} resources of original. Pass that directory as `--dest`"
            )
        });
        assert_eq!(want.is_some(), err.contains("--dest"), "{err}");
        assert!(err.contains(&want.unwrap_or_default()), "{err}");
    }
    // Dest has the package in its place, and a copy of it.
    let folder = with(0);
    package.iter().for_each(|(path, text)| folder.write(&format!("here/{path}"), text));
    assert!(!upgraded(&folder, "take-updated").contains("--dest"));
}

#[test]
fn a_text_that_upstream_turns_into_a_resource_is_merged_once() {
    let results = |indent: &str| format!("{indent}- kind: Pod\n{indent}  result: fail\n");
    let plain = |results: &str| format!("name: a\nresults:\n{results}");
    let resource =
        |results: &str| format!("apiVersion: x.io/v1\nkind: Test\nmetadata:\n  name: a\nresults:\n{results}");
    let folder = Folder::with(&[
        ("v1/test.yaml", &plain(&results(""))),
        ("v2/test.yaml", &resource(&results(""))),
        ("here/test.yaml", &plain(&results("  "))),
    ]);
    for _ in 0..2 {
        folder.run(&["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place"]).passed();
        assert_eq!(folder.read("here/test.yaml"), resource(&results("  ")));
    }
}
