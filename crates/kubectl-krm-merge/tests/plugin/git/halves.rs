//! What stands between the markers: the lines that conflict, each half as its side wrote it, and why someone must choose.

use super::{Half, Repository, conflicts, container, resolved};
use crate::support::{Folder, Ran, has, map};

/// The stderr and the text of a merge that stops.
fn stops([original, ours, theirs]: [&str; 3]) -> (String, String) {
    let folder = Folder::with(&[("o", original), ("a", ours), ("b", theirs)]);
    let Ran { code, stderr, .. } = folder.run(&["git-driver", "o", "a", "b", "web.yaml"]);
    let text = folder.read("a");
    assert_eq!(code, Some(1), "{stderr}{text}");
    (stderr, text)
}

fn block(ours: &str, theirs: &str) -> String {
    format!("<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n")
}

/// A pod with these lines as its containers and tolerations.
fn pod(containers: &str, tolerations: &str) -> String {
    let head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n";
    format!("{head}{containers}  tolerations:\n{tolerations}")
}

fn app(comment: &str, image: &str, arg: &str) -> String {
    format!("  # {comment}\n  - name: app\n    image: {image}\n    args: # log\n    # see\n    - {arg}\n    - --b\n")
}

fn tolerations(first: &str, second: &str, key: &str) -> String {
    format!("  # {first}\n  - key: a\n    operator: Exists\n  # {second}\n  - key: {key}\n    operator: Exists\n")
}

#[test]
fn a_comment_that_both_changed_is_marked_without_what_is_below_it() {
    if !has("git") {
        return;
    }
    let with =
        |comment: &str, image: &str, arg: &str| pod(&app(comment, image, arg), &tolerations("first", "second", "b"));
    let (ours, theirs) = (with("ours", "web:2", "--a"), with("theirs", "web:1", "--c"));
    let (err, text) = stops([&with("app", "web:1", "--a"), &ours, &theirs]);
    // What each side changed below the comment is merged.
    assert_eq!(text, with("app", "web:2", "--c").replace("  # app\n", &block("  # ours\n", "  # theirs\n")));
    let place = "conflict: Pod web: both sides changed the comment at `spec.containers[name=app]`: ours has \"# ours\", theirs has \"# theirs\", original had \"# app\"; unresolved\n";
    assert_eq!(err, place);
    // One that ours took out, and theirs changed.
    let (err, text) = stops([&with("app", "web:1", "--a"), &ours.replace("  # ours\n", ""), &theirs]);
    assert_eq!(text, with("app", "web:2", "--c").replace("  # app\n", &block("", "  # theirs\n")));
    assert!(err.contains("and theirs changed it: theirs has \"# theirs\""), "{err}");
    // One behind the key of a block.
    let behind = |comment: &str, b: &str| {
        let text = pod(&app("app", "web:1", "--a"), &tolerations("first", "second", b));
        text.replace("spec:\n", &format!("spec: # {comment}\n"))
    };
    let (_, text) = stops([&behind("spec", "b"), &behind("ours", "b"), &behind("theirs", "c")]);
    assert_eq!(text, behind("spec", "c").replace("spec: # spec\n", &block("spec: # ours\n", "spec: # theirs\n")));
}

/// Whoever decides about the tag keeps the mirror.
#[test]
fn of_an_image_the_halves_differ_in_the_part_that_both_changed() {
    if !has("git") {
        return;
    }
    let with = |image: &str| pod(&app("app", image, "--a"), "");
    let [original, ours, theirs] = ["ghcr.io/a/web:1", "mirror.example.com/web:1.1", "ghcr.io/a/web:2"].map(with);
    let image = |image: &str| format!("    image: {image}\n");
    let halves = block(&image("mirror.example.com/web:1.1"), &image("mirror.example.com/web:2"));
    let (err, text) = stops([&original, &ours, &theirs]);
    assert_eq!(text, ours.replace(&image("mirror.example.com/web:1.1"), &halves), "{err}");
    assert!(
        err.contains(
            "both sides changed the tag of `spec.containers[name=app].image`: ours has \"mirror.example.com/web:1.1\""
        ),
        "{err}"
    );
    // The registry is in conflict, and upstream's tag comes to both.
    let (err, text) = stops([&original, &with("mirror.example.com/web:1"), &with("quay.io/a/web:2")]);
    let halves = block(&image("mirror.example.com/web:2"), &image("quay.io/a/web:2"));
    assert_eq!(text, ours.replace(&image("mirror.example.com/web:1.1"), &halves), "{err}");
}

/// One side also renamed the container.
#[test]
fn each_half_has_its_image_of_a_container_that_a_side_renamed() {
    if !has("git") {
        return;
    }
    let container = |name: &str, image: &str| {
        pod(
            &format!("  - name: {name}\n    image: x:{image}\n    tty: true\n    stdin: true\n    workingDir: /a\n"),
            "",
        )
    };
    for (ours, theirs) in [("web", "api"), ("api", "web")] {
        let sides = [container("web", "1"), container(ours, "2"), container(theirs, "3")];
        let (stderr, text) = stops(sides.each_ref().map(String::as_str));
        let marked = block("    image: x:2\n", "    image: x:3\n");
        assert_eq!(text, container("api", "2").replace("    image: x:2\n", &marked), "{stderr}");
    }
}

#[test]
fn a_comment_at_the_end_of_a_block_comes_once() {
    let with = |note: &str, a: &str, b: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n{note}data:\n  a: {a}\n  b: {b}\n")
    };
    let note = "  # note\n";
    let folder = Folder::with(&[("o", &with("", "x", "x")), ("a", &with("", "z", "x")), ("b", &with(note, "x", "z"))]);
    folder.run(&["git-driver", "o", "a", "b", "web.yaml"]).passed();
    assert_eq!(folder.read("a"), with(note, "z", "z"));
}

#[test]
fn lines_of_a_long_comment_are_merged_as_git_merges_them() {
    if !has("git") {
        return;
    }
    let with = |lines: [&str; 3], image: &str| {
        pod(&app(&lines.join("\n  # "), image, "--a"), &tolerations("first", "second", "b"))
    };
    let sides =
        [with(["1", "2", "3"], "web:1"), with(["ours", "2", "3"], "web:2"), with(["1", "2", "theirs"], "web:3")];
    let (err, text) = stops([&sides[0], &sides[1], &sides[2]]);
    let image = block("    image: web:2\n", "    image: web:3\n");
    assert_eq!(text, with(["ours", "2", "theirs"], "web:1").replace("    image: web:1\n", &image));
    assert!(!err.contains("the comment"), "{err}");
    let sides =
        [with(["1", "2", "3"], "web:1"), with(["ours", "2", "3"], "web:1"), with(["theirs", "2", "3"], "web:1")];
    let (_, text) = stops([&sides[0], &sides[1], &sides[2]]);
    assert_eq!(text, with(["1", "2", "3"], "web:1").replace("  # 1\n", &block("  # ours\n", "  # theirs\n")));
}

#[test]
fn comments_in_a_list_without_keys_are_marked_as_git_marks_them() {
    if !has("git") {
        return;
    }
    let with =
        |first: &str, second: &str, key: &str| pod(&app("app", "web:1", "--a"), &tolerations(first, second, key));
    let marked = block("  # ours\n", "  # theirs\n");
    // Beside a comment that one side changed.
    let sides = [with("first", "second", "b"), with("new", "ours", "b"), with("first", "theirs", "b")];
    let (err, text) = stops([&sides[0], &sides[1], &sides[2]]);
    assert_eq!(text, with("new", "second", "b").replace("  # second\n", &marked));
    assert!(err.contains("conflict: Pod web: one side changed a comment of `spec.tolerations`, and"), "{err}");
    // A comment alone that each side changed is merged.
    let sides = [with("first", "second", "b"), with("ours", "second", "b"), with("first", "theirs", "b")];
    let image = |text: &str, tag: &str| text.replace("web:1", tag);
    let (_, text) = stops([&sides[0], &image(&sides[1], "web:2"), &image(&sides[2], "web:3")]);
    let marked = block("    image: web:2\n", "    image: web:3\n");
    assert_eq!(text, with("ours", "theirs", "b").replace("    image: web:1\n", &marked));
}

#[test]
fn each_half_has_the_comments_of_its_side() {
    if !has("git") {
        return;
    }
    let line = |cpu: u8, comment: &str| {
        format!("  - name: app\n    resources:\n      limits: {{cpu: {cpu}, memory: 1}} # {comment}\n")
    };
    let with = |cpu: u8, comment: &str| pod(&line(cpu, comment), &tolerations("first", "second", "b"));
    // In a flow map whose comment one side changed.
    let (_, text) = stops([&with(1, "why"), &with(2, "ours"), &with(3, "why")]);
    assert_eq!(resolved(&text, Half::Ours), with(2, "ours"));
    assert_eq!(resolved(&text, Half::Theirs), with(3, "why"));
    // In a list without keys.
    let with = |comment: &str, arg: &str| {
        let args = format!("    # {comment}\n    - {arg} # {comment}\n    - --last\n");
        let app = format!("  - name: app\n    args:\n{args}");
        pod(&app, &tolerations("first", "second", "b"))
    };
    for [ours, theirs] in [["ours", "why"], ["why", "theirs"], ["ours", "theirs"]] {
        let (_, text) = stops([&with("why", "--a"), &with(ours, "--b"), &with(theirs, "--c")]);
        assert_eq!(resolved(&text, Half::Ours), with(ours, "--b"), "{text}");
        assert_eq!(resolved(&text, Half::Theirs), with(theirs, "--c"), "{text}");
        assert_eq!(text.matches("--last").count(), 1, "{text}");
    }
}

#[test]
fn a_resource_of_another_version_and_name_is_followed() {
    if !has("git") {
        return;
    }
    let job = |version: &str, name: &str, image: &str, command: &str| {
        let head = format!(
            "apiVersion: batch/{version}\nkind: CronJob\nmetadata:\n  name: {name}\nspec:\n  schedule: '@daily'\n"
        );
        format!(
            "{head}  suspend: false\n  containers:\n{}",
            container("app", &[&format!("image: {image}"), &format!("command: [{command}]")])
        )
    };
    let original = job("v1beta1", "job", "a:1", "x");
    let moved = job("v1", "task", "a:1", "y");
    // Neighbouring lines, which git cannot merge.
    let changed = job("v1beta1", "job", "a:2", "x");
    let want = job("v1", "task", "a:2", "y");
    for (ours, theirs) in [(&moved, &changed), (&changed, &moved)] {
        let folder = Folder::with(&[("o", &original), ("a", ours), ("b", theirs)]);
        folder.run(&["git-driver", "o", "a", "b", "job.yaml"]).passed();
        assert_eq!(folder.read("a"), want);
    }
    // With little in common it is another one.
    let other = "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: other\nspec:\n  schedule: '@hourly'\n  suspend: true\n";
    let (err, _) = stops([&original, &changed, other]);
    assert!(err.contains("conflict: CronJob job: both sides changed") || err.contains("CronJob job"), "{err}");
}

#[test]
fn a_new_document_stands_in_its_place() {
    if !has("git") {
        return;
    }
    let with =
        |name: &str, x: &str| map(name, &["a", "b", "c", "x"].map(|key| (key, if key == "x" { x } else { name })));
    let file = |all: &[String]| all.join("---\n");
    let original = file(&[with("a", "1"), with("b", "1")]);
    let new = map("new", &[("k", "1"), ("l", "2")]);
    // Between two, before the first one, and both, with changes that git cannot merge.
    let ours = file(&[with("a", "2"), with("b", "2")]);
    for (theirs, want) in [
        ([with("a", "1"), new.clone(), with("b", "1")], [with("a", "2"), new.clone(), with("b", "2")]),
        ([new.clone(), with("a", "1"), with("b", "1")], [new.clone(), with("a", "2"), with("b", "2")]),
        ([with("a", "1"), with("b", "1"), new.clone()], [with("a", "2"), with("b", "2"), new.clone()]),
    ] {
        let theirs = file(&theirs).replace("  x: 1\n", "  w: 1\n  x: 1\n");
        let want = file(&want).replace("  x: 2\n", "  w: 1\n  x: 2\n");
        let folder = Folder::with(&[("o", &original), ("a", &ours), ("b", &theirs)]);
        folder.run(&["git-driver", "o", "a", "b", "all.yaml"]).passed();
        assert_eq!(folder.read("a"), want);
        let marked = |text: &str| format!("# head\n\n---\n{text}");
        let folder = Folder::with(&[("o", &marked(&original)), ("a", &marked(&ours)), ("b", &marked(&theirs))]);
        folder.run(&["git-driver", "o", "a", "b", "all.yaml"]).passed();
        assert_eq!(folder.read("a"), marked(&want));
    }
    // One that ours deleted and theirs changed is a choice in its place.
    let original = file(&[with("a", "1"), new.clone(), with("b", "1")]);
    let changed = map("new", &[("k", "1"), ("l", "3")]);
    let (_, text) = stops([&original, &ours, &file(&[with("a", "1"), changed.clone(), with("b", "1")])]);
    assert_eq!(text, format!("{}{}---\n{}", with("a", "2"), block("", &format!("---\n{changed}")), with("b", "2")));
}

#[test]
fn comments_at_the_top_of_a_file_that_both_changed_are_told() {
    if !has("git") {
        return;
    }
    let with = |comment: &str| format!("# {comment}\n\n{}", map("a", &[("x", "1")]));
    let (err, text) = stops([&with("head"), &with("ours"), &with("theirs")]);
    assert_eq!(text, with("head").replace("# head\n", &block("# ours\n", "# theirs\n")));
    assert!(err.starts_with("conflict: web.yaml: ") && err.ends_with("unresolved\n"), "{err}");
    // Set apart by blank lines in a resource.
    let with = |comment: &str, x: u8| {
        map("a", &[("v", "1"), ("x", &x.to_string())]).replace("  x:", &format!("\n  # {comment}\n\n  x:"))
    };
    let (err, text) = stops([&with("part", 1), &with("ours", 1), &with("theirs", 2)]);
    assert!(text.contains("<<<<<<<") && err.contains("unresolved\n"), "{err}{text}");
}

#[test]
fn whole_lists_and_names_of_branches_are_told_in_a_repository() {
    if !has("git") {
        return;
    }
    let with = |comment: &str| pod(&app(comment, "web:1", "--a"), &tolerations("first", "second", "b"));
    let repository = Repository::new("web.yaml", &with("app"));
    repository.branch("web.yaml", &with("ours"), &with("theirs"));
    let ran = repository.fails(&["merge", "topic"]);
    assert!(ran.stderr.contains(": ours (HEAD) has \"# ours\", theirs (topic) has \"# theirs\""), "{ran:?}");
    assert_eq!(conflicts(&with("app"), &with("ours"), &with("theirs")).matches("<<<<<<<").count(), 1);
}

/// A list in which one element has no name. Theirs adds a field to each, and ours deletes two neighbours.
#[test]
fn a_conflict_in_a_list_is_no_larger_than_what_overlaps() {
    if !has("git") {
        return;
    }
    let apps = |names: &str, field: &str| {
        let app = |name: char| format!("  - conf:\n{field}      path: p/{name}\n    name: {name}\n");
        let all: String = names.chars().map(app).collect();
        format!("apiVersion: example.com/v1\nkind: Apps\nmetadata:\n  name: a\nspec:\n  apps:\n{all}  - conf: {{}}\n")
    };
    let field = "      overlays:\n      - y\n";
    let (original, ours, theirs) = (apps("efabcd", ""), apps("efad", ""), apps("efabcd", field));
    let (err, text) = stops([&original, &ours, &theirs]);
    let end = "      path: p/d\n    name: d\n  - conf: {}\n";
    let head = apps("efa", field).replace("  - conf: {}\n", "  - conf:\n");
    let between = theirs.strip_prefix(&*head).and_then(|rest| rest.strip_suffix(end)).expect("the lines between");
    assert_eq!(text, head.clone() + &block("", between) + end);
    assert!(err.starts_with("conflict: Apps a (web.yaml): both sides changed `spec.apps`: "), "{err}");
}

/// Ours and theirs add the same version to a definition, and it differs in two lines far apart.
#[test]
fn what_both_added_under_one_name_is_marked_by_field() {
    if !has("git") {
        return;
    }
    let head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: doors.example.com\n\
                spec:\n  group: example.com\n  names: {kind: Door, plural: doors}\n  scope: Namespaced\n  versions:\n\
                \x20 - name: v1\n    served: true\n    storage: true\n";
    let with = |first: &str, last: &str| {
        format!(
            "{head}  - name: v2\n    served: true\n    storage: false\n    schema:\n      openAPIV3Schema:\n{first}        type: object\n        properties:\n          a: {{type: string}}\n          z:\n{last}            type: string\n"
        )
    };
    let [first, last] = [("        ", "A door"), ("            ", "The last")]
        .map(|(pad, words)| ["", " of all"].map(|more| format!("{pad}description: {words}{more}.\n")));
    let (err, text) = stops([head, &with(&first[0], &last[0]), &with(&first[1], &last[1])]);
    assert_eq!(text, with(&block(&first[0], &first[1]), &block(&last[0], &last[1])));
    let place = "conflict: CustomResourceDefinition doors.example.com (web.yaml): both sides added `spec.versions[1].schema.openAPIV3Schema.description`: ";
    assert!(err.starts_with(place), "{err}");
}
