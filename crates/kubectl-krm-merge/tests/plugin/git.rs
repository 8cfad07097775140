//! The merge driver under the real git: merges and rebases in repositories that the test makes.

#[path = "../../../../tests/support/custom_resources.rs"]
mod custom_resources;

mod absent;
mod answers;
mod apart;
mod blocks;
mod by_field;
mod commands;
mod halves;
mod history;
mod laws;
mod nameless;
mod repository;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::time::Duration;

use crate::support::{Folder, PLUGIN, Ran, has};
use custom_resources::{CASES, Case};

const WEB: &str = "\
# Copyright someone

apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: app
        image: web:1
        env:
        - name: A
          value: a
";

struct Repository(Folder);

impl Repository {
    /// A repository with the driver installed, and this file in its first commit.
    fn new(path: &str, text: &str) -> Self {
        let repository = Self(Folder::new());
        repository.git(&["init", "-q", "-b", "main", "."]);
        let installed = repository.0.run(&["git-install"]).passed();
        assert!(installed.contains("git config --local merge.krm-merge.driver"), "{installed}");
        repository.0.write(path, text);
        repository.commit("first");
        repository
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(args).current_dir(&self.0.0).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@example.com");
        }
        command
    }

    fn git(&self, args: &[&str]) -> String {
        Ran::of(self.command(args).output().expect("git")).passed()
    }

    fn fails(&self, args: &[&str]) -> Ran {
        let ran = Ran::of(self.command(args).output().expect("git"));
        assert_ne!(ran.code, Some(0), "{ran:?}");
        ran
    }

    /// Whether git is older than 2.44.
    fn is_old(&self) -> bool {
        let help = self.command(&["merge-file", "-h"]).output().expect("git");
        !String::from_utf8_lossy(&[help.stdout, help.stderr].concat()).contains("--diff-algorithm")
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Two branches from the first commit: `topic` with their text, and `main`, which is checked out, with ours.
    fn branch(&self, path: &str, ours: &str, theirs: &str) {
        self.git(&["checkout", "-q", "-b", "topic"]);
        self.0.write(path, theirs);
        self.commit("theirs");
        self.git(&["checkout", "-q", "main"]);
        self.0.write(path, ours);
        self.commit("ours");
    }
}

#[test]
fn neighbouring_changes_merge_and_rebase() {
    if !has("git") {
        return;
    }
    // Both add to one list, and change neighbouring lines: git alone has conflicts in both.
    let ours = WEB.replace("replicas: 1", "replicas: 3 # ours") + "        - name: B\n          value: b\n";
    let theirs = WEB.replace("spec:\n  replicas", "spec:\n  paused: true\n  replicas")
        + "        - name: C\n          value: c\n";
    // A new field without a sibling before it goes before the nearest one behind it.
    let want = ours.replace("spec:\n  replicas", "spec:\n  paused: true\n  replicas")
        + "        - name: C\n          value: c\n";
    let repository = Repository::new("a b/web.yaml", WEB);
    repository.branch("a b/web.yaml", &ours, &theirs);
    repository.git(&["merge", "-q", "topic"]);
    assert_eq!(repository.0.read("a b/web.yaml"), want);
    assert_eq!(repository.git(&["status", "--porcelain"]), "");

    let repository = Repository::new("web.yaml", WEB);
    repository.branch("web.yaml", &theirs, &ours);
    repository.git(&["checkout", "-q", "topic"]);
    repository.git(&["rebase", "-q", "main"]);
    // Ours is, in a rebase, what is rebased on.
    let want = theirs.replace("replicas: 1", "replicas: 3 # ours") + "        - name: B\n          value: b\n";
    assert_eq!(repository.0.read("web.yaml"), want);
}

#[test]
fn annotations_that_users_write_for_kustomize_arrive() {
    if !has("git") {
        return;
    }
    let hash = "  annotations:\n    kustomize.config.k8s.io/needs-hash: \"true\"\n    kustomize.config.k8s.io/behavior: merge\n";
    let theirs = |text: &str| text.replace("  name: web\nspec", &format!("  name: web\n{hash}spec"));
    let ours = WEB.replace("web:1", "web:ours");
    assert_eq!(merges(WEB, &ours, &theirs(WEB)), theirs(&ours));
}

#[test]
fn a_conflict_is_marked_around_the_lines_of_its_field() {
    if !has("git") {
        return;
    }
    let ours = WEB.replace("web:1", "web:ours").replace("replicas: 1", "replicas: 3");
    let theirs = WEB.replace("web:1", "web:theirs") + "        - name: C\n          value: c\n";
    let repository = Repository::new("web.yaml", WEB);
    repository.branch("web.yaml", &ours, &theirs);
    let ran = repository.fails(&["merge", "topic"]);
    let told = "conflict: Deployment web (web.yaml): both sides changed the tag of `spec.template.spec.containers[name=app].image`: ours (HEAD) has \"web:ours\", theirs (topic) has \"web:theirs\", original (";
    assert!(ran.stderr.contains(told) && ran.stderr.contains(") had \"web:1\"; unresolved\n"), "{ran:?}");
    let want = ours.replace(
        "        image: web:ours\n",
        "<<<<<<< HEAD\n        image: web:ours\n=======\n        image: web:theirs\n>>>>>>> topic\n",
    ) + "        - name: C\n          value: c\n";
    assert_eq!(repository.0.read("web.yaml"), want);
    assert_eq!(repository.git(&["status", "--porcelain"]), "UU web.yaml\n");
    repository.git(&["merge", "--abort"]);
    assert_eq!(repository.0.read("web.yaml"), ours);

    repository.git(&["checkout", "-q", "topic"]);
    repository.fails(&["rebase", "main"]);
    let text = repository.0.read("web.yaml");
    assert!(text.contains("\n=======\n        image: web:theirs\n>>>>>>> "), "{text}");
    assert!(text.contains("<<<<<<< HEAD\n        image: web:ours\n======="), "{text}");
    repository.0.write(
        "web.yaml",
        want.replace("<<<<<<< HEAD\n        image: web:ours\n=======\n", "").replace(">>>>>>> topic\n", ""),
    );
    repository.git(&["add", "web.yaml"]);
    repository.git(&["-c", "core.editor=true", "rebase", "--continue"]);
    assert!(repository.0.read("web.yaml").contains("web:theirs"));
}

/// Two branches that merged each other have two originals, which git merges first, by the driver as well.
#[test]
fn branches_that_crossed_merge() {
    if !has("git") {
        return;
    }
    let map = |[a, b, c]: [u8; 3]| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: '{a}'\n  b: '{b}'\n  c: '{c}'\n")
    };
    let repository = Repository::new("c.yaml", &map([1, 1, 1]));
    repository.branch("c.yaml", &map([2, 1, 1]), &map([1, 2, 1]));
    repository.git(&["branch", "ours"]);
    repository.git(&["merge", "-q", "topic", "-m", "one"]);
    repository.git(&["checkout", "-q", "topic"]);
    repository.git(&["merge", "-q", "ours", "-m", "other"]);
    for (branch, values) in [("topic", [2, 2, 5]), ("main", [3, 2, 1])] {
        repository.git(&["checkout", "-q", branch]);
        repository.0.write("c.yaml", map(values));
        repository.commit(branch);
    }
    repository.git(&["merge", "-q", "topic", "-m", "last"]);
    assert_eq!(repository.0.read("c.yaml"), map([3, 2, 5]));
}

#[test]
fn resources_of_a_file_come_go_and_are_in_conflict_whole() {
    if !has("git") {
        return;
    }
    let map = |name: &str, x: u8| crate::support::map(name, &[("x", &format!("'{x}'"))]);
    // Nothing in it is like the others, so it is no other one that was renamed.
    let new = |name: &str| crate::support::map(name, &["p", "q", "r", "s", "t"].map(|key| (key, name)));
    let file = |all: &[String]| all.join("---\n");
    let original = file(&[map("a", 1), map("b", 1), map("c", 1)]);
    let ours = file(&[map("a", 1), map("c", 2), new("ours")]);
    let theirs = file(&[map("b", 2), map("c", 1), new("theirs")]);
    let repository = Repository::new("all.yaml", &original);
    repository.branch("all.yaml", &ours, &theirs);
    repository.fails(&["merge", "topic"]);
    let block = format!("<<<<<<< HEAD\n=======\n---\n{}>>>>>>> topic\n", map("b", 2));
    let want = file(&[map("c", 2), new("ours")]) + &block + "---\n" + &new("theirs");
    assert_eq!(repository.0.read("all.yaml"), want);
}

#[test]
fn comments_and_layout_of_both_sides_stay_where_git_can_merge_the_lines() {
    if !has("git") {
        return;
    }
    let ours = WEB.replace("web:1", "web:ours");
    let theirs =
        WEB.replace("Copyright someone", "Copyright someone else").replace("  replicas: 1", "  replicas:    1");
    let repository = Repository::new("web.yaml", WEB);
    repository.branch("web.yaml", &ours, &theirs);
    repository.git(&["merge", "-q", "topic"]);
    assert_eq!(repository.0.read("web.yaml"), theirs.replace("web:1", "web:ours"));
}

/// A merge that goes through, and what it leaves.
fn merges(original: &str, ours: &str, theirs: &str) -> String {
    let repository = Repository::new("web.yaml", original);
    repository.branch("web.yaml", ours, theirs);
    repository.git(&["merge", "-q", "topic"]);
    repository.0.read("web.yaml")
}

/// A merge that leaves conflicts, and the text with them.
fn conflicts(original: &str, ours: &str, theirs: &str) -> String {
    let repository = Repository::new("web.yaml", original);
    repository.branch("web.yaml", ours, theirs);
    repository.fails(&["merge", "topic"]);
    repository.0.read("web.yaml")
}

#[test]
fn additions_with_names_and_parts_merge_where_git_stops() {
    if !has("git") {
        return;
    }
    let role = |more: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: a\nrules:\n- apiGroups: [a]\n  resources: [b]\n  verbs: [get]\n{more}"
        )
    };
    let rule = |group: &str| format!("- apiGroups: [{group}]\n  resources: [b]\n  verbs: [get]\n");
    let out = merges(&role(""), &role(&rule("ours")), &role(&rule("theirs")));
    assert_eq!(out, role(&(rule("ours") + &rule("theirs"))));
    let web = |image: &str| WEB.replace("web:1", image);
    let out = merges(&web("g.io/a/web:1"), &web("m.io/a/web:1"), &web("g.io/a/web:2"));
    assert_eq!(out, web("m.io/a/web:2"));
    // Nobody knows whether two additions without names exclude each other.
    let thing = |more: &str| format!("apiVersion: a.b/v1\nkind: Thing\nmetadata:\n  name: a\nsteps:\n- run: a\n{more}");
    let out = conflicts(&thing(""), &thing("- run: ours\n"), &thing("- run: theirs\n"));
    assert!(
        out.starts_with(&thing("<<<<<<< ")) && out.contains("- run: ours\n") && out.contains("- run: theirs\n"),
        "{out}"
    );
}

#[test]
fn the_order_that_they_gave_stays_where_git_can_merge_the_lines() {
    if !has("git") {
        return;
    }
    let env = |names: &[&str]| -> String { names.iter().map(|n| format!("        - name: {n}\n")).collect() };
    let web = |image: &str, names: &[&str]| {
        let head = WEB.split("        - name: A").next().expect("a head");
        head.replace("web:1", image).replace("  replicas: 1\n", "  replicas: 1\n  paused: true\n") + &env(names)
    };
    let ours = web("web:1", &["A", "B", "C"]).replace("replicas: 1", "replicas: 2");
    let out = merges(&web("web:1", &["A", "B", "C"]), &ours, &web("web:1", &["C", "A", "B"]));
    assert_eq!(out, web("web:1", &["C", "A", "B"]).replace("replicas: 1", "replicas: 2"));
    let map = |name: &str, x: u8| crate::support::map(name, &[("a", "'1'"), ("b", "'1'"), ("x", &format!("'{x}'"))]);
    let file = |all: &[String]| all.join("---\n");
    let out = merges(
        &file(&[map("a", 1), map("b", 1), map("c", 1)]),
        &file(&[map("a", 1), map("b", 1), map("c", 2)]),
        &file(&[map("b", 1), map("a", 1), map("c", 1)]),
    );
    assert_eq!(out, file(&[map("b", 1), map("a", 1), map("c", 2)]));
}

#[test]
fn a_comment_that_both_changed_is_a_conflict() {
    if !has("git") {
        return;
    }
    let with = |comment: &str| WEB.replace("replicas: 1", &format!("replicas: 1 # {comment}"));
    let out = conflicts(&with("one"), &with("ours"), &with("theirs"));
    let block = "<<<<<<< HEAD\n  replicas: 1 # ours\n=======\n  replicas: 1 # theirs\n>>>>>>> topic\n";
    assert_eq!(out, WEB.replace("  replicas: 1\n", block));
    // What both changed beside it is merged all the same.
    let ours = with("ours").replace("web:1", "web:ours");
    let theirs = with("theirs").replace("name: app\n", "name: app\n        tty: true\n");
    let out = conflicts(&with("one"), &ours, &theirs);
    assert!(out.contains(block) && out.contains("image: web:ours") && out.contains("tty: true"), "{out}");
    assert_eq!(out.matches("<<<<<<<").count(), 1, "{out}");
}

#[test]
fn comments_around_the_resources_are_taken_where_values_conflict() {
    if !has("git") {
        return;
    }
    let ours = WEB.replace("web:1", "web:ours");
    let theirs = WEB.replace("web:1", "web:theirs").replace("someone", "someone else") + "# the end\n";
    let out = conflicts(WEB, &ours, &theirs);
    assert!(out.starts_with("# Copyright someone else\n\n") && out.ends_with("value: a\n# the end\n"), "{out}");
    assert_eq!(out.matches("<<<<<<<").count(), 1, "{out}");
    // What they put above the first resource stays, whatever becomes of that.
    let map = |name: &str, x: u8| crate::support::map(name, &[("x", &format!("'{x}'"))]);
    let file = |all: &[String]| all.join("---\n");
    let theirs = "# licence\n\n".to_owned() + &map("b", 1);
    let out = conflicts(&file(&[map("a", 1), map("b", 1)]), &file(&[map("a", 2), map("b", 1)]), &theirs);
    assert_eq!(resolved(&out, Half::Ours), "# licence\n\n".to_owned() + &file(&[map("a", 2), map("b", 1)]));
    assert_eq!(resolved(&out, Half::Theirs), theirs);
    // Indented comments there are no comments of the file.
    let of = |top: &str, x: u8| format!("{top}# of the first\n{}", map("a", x));
    for [original, theirs] in [["# k\n", "  # k\n"], ["", "  # k\n"]] {
        let out = conflicts(&of(original, 1), &of(original, 2), &of(theirs, 3));
        assert!(out.trim_start().starts_with("# k\n# of the first\napiVersion"), "{out}");
    }
}

#[test]
fn a_null_that_git_merges_cleanly_stays_as_it_is_written() {
    if !has("git") {
        return;
    }
    let pod = |image: &str, volume: &str, last: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: a\n    image: {image}\n  volumes:\n  - name: v\n    emptyDir:{volume}\n  dnsPolicy: Default\n  hostname: h\n{last}"
        )
    };
    // Ours empties a field with a word on it, and theirs adds one.
    assert_eq!(
        merges(&pod("a:1", " {}", ""), &pod("a:1", " # on disk", ""), &pod("a:2", " {}", "")),
        pod("a:2", " # on disk", "")
    );
    let off = "  hostUsers: null # off\n";
    assert_eq!(merges(&pod("a:1", " {}", ""), &pod("a:2", " {}", ""), &pod("a:1", " {}", off)), pod("a:2", " {}", off));
}

#[test]
fn what_git_merges_by_line_is_no_conflict() {
    if !has("git") {
        return;
    }
    let script = |first: &str, last: &str| {
        format!(
            "{}  run.sh: |\n    echo {first}\n    a\n    b\n    c\n    echo {last}\n",
            crate::support::map("s", &[("x", "y")])
        )
    };
    assert_eq!(merges(&script("1", "1"), &script("2", "1"), &script("1", "2")), script("2", "2"));
    // Lists that are replaced whole: the versions of a CustomResourceDefinition.
    let definition = |first: &str, last: &str| {
        let versions: String = ["v1", "v2", "v3"]
            .map(|name| format!("  - name: {name}\n    served: true\n    storage: {}\n", name == "v1"))
            .concat();
        let head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: c\nspec:\n";
        let versions = versions.replacen("served: true", first, 1);
        format!("{head}  versions:\n{versions}  - name: v4\n    served: {last}\n")
    };
    let (ours, theirs) = (definition("served: false", "true"), definition("served: true", "false"));
    assert_eq!(merges(&definition("served: true", "true"), &ours, &theirs), definition("served: false", "false"));
    // And one of them in an element of another one that has no keys.
    let results = |first: &str, file: &str, more: &str| {
        format!(
            "apiVersion: a/v1\nkind: R\nmetadata:\n  name: r\nitems:\n  - exitCode: 0\n    results:\n{first}        file:\n          path: {file}\n{more}"
        )
    };
    let old = "      - message: set labels\n        field:\n          path: metadata.labels\n";
    let new = "      - message: set color\n        file:\n          path: a.yaml\n      - message: set fruit\n";
    let more = format!("{old}        file:\n          path: a.yaml\n");
    let out = merges(&results(old, "a.yaml", ""), &results(old, "b.yaml", &more), &results(new, "a.yaml", ""));
    assert_eq!(out, results(new, "b.yaml", &more));
    let (bumped, renamed) = (WEB.replace("apps/v1", "apps/v2"), WEB.replace("name: web", "name: shop"));
    let changed = WEB.replace("web:1", "web:2");
    assert_eq!(merges(WEB, &changed, &bumped), bumped.replace("web:1", "web:2"));
    assert_eq!(merges(WEB, &renamed, &changed), renamed.replace("web:1", "web:2"));
    // Lines of two resources that are alike are none of a rename: ours has no more what theirs changed.
    let map = |name: &str, y: u8| crate::support::map(name, &[("y", &format!("'{y}'")), ("z", "'1'"), ("x", "'1'")]);
    let file = |all: &[String]| all.join("---\n");
    let [both, one] = [file(&[map("a", 1), map("b", 1)]), map("b", 1)];
    assert!(conflicts(&both, &one, &file(&[map("a", 2), map("b", 1)])).contains("<<<<<<<"));
    // Beside a conflict elsewhere the lines of a script are merged, too.
    let beside = |x: &str, first: &str, last: &str| script(first, last).replace("x: y", &format!("x: {x}"));
    let out = conflicts(&script("1", "1"), &beside("2", "2", "1"), &beside("3", "1", "2"));
    assert!(out.ends_with(">>>>>>> topic\n  run.sh: |\n    echo 2\n    a\n    b\n    c\n    echo 2\n"), "{out}");
    // A line that both changed is one.
    assert!(conflicts(&script("1", "1"), &script("2", "1"), &script("3", "1")).contains("<<<<<<<"));
}

#[test]
fn the_lines_in_which_a_text_is_written_are_merged() {
    if !has("git") {
        return;
    }
    for way in [">-\n    %", "\n    %", "'%'", "\"%\" # why", "!!str >+\n    %\n", "[1, \"%\"]"] {
        let text = |x: u8, words: [&str; 5]| {
            let value = way.replace('%', &words.join("\n    "));
            format!("apiVersion: a/v1\nkind: A\nmetadata:\n  name: a\nspec:\n  x: {x}\n  k: {value}\n  z: 1\n")
        };
        let original = text(1, ["a", "b", "c", "d", "e"]);
        // To git, the change of the field above touches that of the first line.
        let (ours, theirs) = (text(2, ["a", "b", "c", "d", "E"]), text(1, ["A", "b", "c", "d", "e"]));
        assert_eq!(merges(&original, &ours, &theirs), text(2, ["A", "b", "c", "d", "E"]), "{way}");
        let (ours, theirs) = (text(2, ["a", "b", "2", "d", "e"]), text(1, ["A", "b", "3", "d", "e"]));
        let want = text(2, ["A", "b", "%", "d", "e"])
            .replace("    %\n", "<<<<<<< HEAD\n    2\n=======\n    3\n>>>>>>> topic\n");
        assert_eq!(conflicts(&original, &ours, &theirs), want, "{way}");
    }
}

#[test]
fn what_is_no_kubernetes_is_merged_as_by_git() {
    if !has("git") {
        return;
    }
    for (original, ours, theirs, want) in [
        (
            "a: 1\nb: 1\nc: 1\nd: 1\n",
            "a: 2\nb: 1\nc: 1\nd: 1\n",
            "a: 1\nb: 1\nc: 1\nd: 2\n",
            Some("a: 2\nb: 1\nc: 1\nd: 2\n"),
        ),
        ("{{ x }}\nb\nc\nd\n", "{{ y }}\nb\nc\nd\n", "{{ x }}\nb\nc\ne\n", Some("{{ y }}\nb\nc\ne\n")),
        ("a: 1\n", "a: 2\n", "a: 3\n", None),
    ] {
        let repository = Repository::new("values.yaml", original);
        repository.branch("values.yaml", ours, theirs);
        match want {
            Some(want) => {
                repository.git(&["merge", "-q", "topic"]);
                assert_eq!(repository.0.read("values.yaml"), want);
            }
            None => {
                repository.fails(&["merge", "topic"]);
                assert_eq!(repository.0.read("values.yaml"), "<<<<<<< HEAD\na: 2\n=======\na: 3\n>>>>>>> topic\n");
            }
        }
    }
}

/// Blocks that are alike change places, and one of them gets another value: only some algorithms find the right block.
#[test]
fn lines_are_merged_by_the_algorithm_of_git_s_own_merge() {
    if !has("git") {
        return;
    }
    let block = |name: &str, cpu: u8| {
        format!(
            "{name}:\n  enabled: true\n  image:\n    repository: {name}\n    tag: v1\n  resources:\n    limits:\n      cpu: {cpu}\n      memory: 1Gi\n  env:\n  - name: A\n    value: {name}\n\n"
        )
    };
    let file = |blocks: &[(&str, u8)]| blocks.iter().map(|(name, cpu)| block(name, *cpu)).collect::<String>();
    let original = file(&[("web", 1), ("api", 1), ("mail", 1), ("jobs", 1)]);
    let ours = file(&[("web", 1), ("api", 1), ("mail", 1), ("jobs", 4)]);
    let theirs = file(&[("web", 1), ("api", 1), ("jobs", 1), ("mail", 1)]);
    let repository = Repository::new("values.yaml", &original);
    repository.branch("values.yaml", &ours, &theirs);
    // An old git cannot merge a file by this algorithm.
    if !repository.is_old() {
        repository.git(&["merge", "-q", "topic"]);
        assert_eq!(repository.0.read("values.yaml"), file(&[("web", 1), ("api", 1), ("jobs", 4), ("mail", 1)]));
    }
}

#[test]
fn an_old_git_that_knows_no_other_algorithm_merges_lines() {
    if !has("git") {
        return;
    }
    let folder = Folder::with(&[
        ("o", "a: 1\nb\nc\nd: 1\n"),
        ("a", "a: 2\nb\nc\nd: 1\n"),
        ("b", "a: 1\nb\nc\nd: 2\n"),
        ("bin/git", "#!/bin/sh\ncase \"$*\" in *--diff-algorithm*) exit 129;; esac\nPATH=${PATH#*:} exec git \"$@\"\n"),
    ]);
    fs::set_permissions(folder.path("bin/git"), fs::Permissions::from_mode(0o755)).expect("set");
    let path = std::env::var("PATH").expect("PATH");
    let mut driver = folder.command(&["git-driver", "o", "a", "b"]);
    let ran = driver.env("PATH", format!("{}:{path}", folder.path("bin").display())).output().expect("runs");
    assert_eq!((ran.status.code(), folder.read("a")), (Some(0), "a: 2\nb\nc\nd: 2\n".to_owned()));
}

/// Most files of a merge are so, and to start a program takes longer than to merge them.
#[test]
fn git_is_not_started_where_its_merge_by_line_is_plain() {
    let other = WEB.replace("  replicas: 1\n", "  replicas: 3\n");
    let theirs = WEB.replace("web:1", "web:2");
    let folder = Folder::with(&[("o", WEB), ("a", &other), ("b", &theirs)]);
    let mut driver = folder.command(&["git-driver", "o", "a", "b", "web.yaml"]);
    let ran = driver.env("PATH", "").output().expect("runs");
    assert_eq!((ran.status.code(), folder.read("a")), (Some(0), other.replace("web:1", "web:2")));
}

#[test]
fn a_file_that_is_not_text_has_no_markers() {
    if !has("git") {
        return;
    }
    let [original, ours, theirs] = ["0", "1", "2"].map(|x| format!("a\0: {x}\n"));
    let folder = Folder::with(&[("o", &original), ("a", &ours), ("b", &theirs)]);
    let error = folder.run(&["git-driver", "o", "a", "b", "u.yaml"]).failed(1);
    assert_eq!(
        error,
        "error: u.yaml: git cannot merge its lines and keeps our version without conflict markers; unresolved. Choose a version with `git checkout --ours FILE` or `git checkout --theirs FILE`\n"
    );
    assert_eq!(folder.read("a"), ours);
    // git itself takes the original if it merges common ancestors.
    let ran = folder.run(&["git-driver", "--common-ancestor", "o", "a", "b", "u.yaml"]);
    assert_eq!((ran.code, ran.stderr.as_str(), folder.read("a")), (Some(0), "", original));
}

#[test]
fn a_file_that_both_sides_added_is_merged_without_an_original() {
    if !has("git") {
        return;
    }
    let repository = Repository::new("other.txt", "x\n");
    let theirs = WEB.replace("  replicas: 1\n", "  replicas: 1\n  paused: true\n");
    repository.branch("web.yaml", WEB, &theirs);
    repository.git(&["merge", "-q", "topic"]);
    assert_eq!(repository.0.read("web.yaml"), theirs);
}

/// A driver that ends with 0 says that it merged.
#[cfg(target_os = "linux")]
#[test]
fn a_conflict_that_cannot_be_told_is_one() {
    if !has("git") {
        return;
    }
    let folder =
        Folder::with(&[("o", WEB), ("a", &WEB.replace("web:1", "web:2")), ("b", &WEB.replace("web:1", "web:3"))]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let ran = folder.command(&["git-driver", "o", "a", "b"]).stderr(full).status().expect("runs");
    assert_eq!(ran.code(), Some(1));
    assert!(folder.read("a").contains("<<<<<<< ours\n        image: web:2\n=======\n"));
}

#[test]
fn a_pattern_with_a_blank_and_the_size_of_markers_are_git_s() {
    if !has("git") {
        return;
    }
    let repository = Repository::new("a b/x.yaml", WEB);
    for _ in 0..2 {
        repository.0.run(&["git-install", "--pattern", "a b/*.cfg"]).passed();
    }
    assert_eq!(repository.0.read(".gitattributes").matches("\"a b/*.cfg\" merge=krm-merge\n").count(), 1);
    let attribute = repository.git(&["check-attr", "merge", "a b/x.cfg"]);
    assert_eq!(attribute, "a b/x.cfg: merge: krm-merge\n");
    for size in ["0", "65536", "99999999999"] {
        let err = repository.0.run(&["git-driver", "a", "b", "c", "--marker-size", size]).failed(2);
        assert!(err.contains("--marker-size"), "{err}");
    }
}

#[test]
fn installing_twice_changes_nothing_and_keeps_what_is_there() {
    if !has("git") {
        return;
    }
    let repository = Repository::new("x.txt", "x\n");
    let attributes =
        "*.yaml merge=krm-merge\n*.yml merge=krm-merge\nKptfile merge=krm-merge\nKustomization merge=krm-merge\n";
    assert_eq!(repository.0.read(".gitattributes"), attributes);
    repository.0.write(".gitattributes", "*.png binary");
    repository.0.run(&["git-install", "--dry-run"]).passed();
    assert_eq!(repository.0.read(".gitattributes"), "*.png binary");
    let added = repository.0.run(&["git-install"]).passed();
    for line in attributes.lines() {
        assert!(added.contains(&format!(".gitattributes: {line}\n")), "{added}");
    }
    assert!(!added.contains("git config"), "the configuration is there already: {added}");
    assert!(
        added.ends_with("\nnext: commit these files; each clone of the repository needs `git-install` once\n"),
        "{added}"
    );
    for args in [&[][..], &["--dry-run"]] {
        let said = repository.0.run(&[&["git-install"], args].concat()).passed();
        assert!(said.starts_with("nothing changed: ") && said.lines().count() == 1, "{said}");
        assert_eq!(repository.0.read(".gitattributes"), format!("*.png binary\n{attributes}"));
    }
    repository.git(&["config", "merge.krm-merge.driver", "another"]);
    let said = repository.0.run(&["git-install"]).passed();
    assert!(said.starts_with("git config --local merge.krm-merge.driver '") && said.lines().count() == 1, "{said}");
    let driver = repository.git(&["config", "merge.krm-merge.driver"]);
    assert!(driver.contains(" git-driver --marker-size=%L "), "{driver}");
    let elsewhere = Folder::new();
    let ran = Ran::of(
        Command::new(PLUGIN)
            .arg("git-install")
            .current_dir(&elsewhere.0)
            .env("GIT_CEILING_DIRECTORIES", "/")
            .output()
            .expect("runs"),
    );
    assert!(ran.failed(2).contains("not a git repository"));
}

/// What came with a clone must not lead the installation elsewhere.
#[test]
fn attributes_that_are_no_file_of_the_repository_are_not_written() {
    if !has("git") {
        return;
    }
    let repository = Repository(Folder::new());
    repository.git(&["init", "-q", "-b", "main", "."]);
    let outside = Folder::with(&[("profile", "export A=1\n")]);
    let attributes = repository.0.path(".gitattributes");
    let refuses = |what: &str| {
        for args in [&["git-install"][..], &["git-install", "--dry-run"]] {
            let err = repository.0.run_within(args, Duration::from_secs(20)).failed(2);
            assert!(
                err.contains(&format!("/.gitattributes: it must be a regular file, but it is {what}; put ")),
                "{err}"
            );
            assert!(!repository.git(&["config", "--list"]).contains("krm-merge"), "nothing is half installed");
        }
    };
    for to in ["profile", "new"] {
        symlink(outside.path(to), &attributes).expect("a link");
        refuses("a symbolic link");
        assert_eq!((outside.read("profile").as_str(), outside.files("").len()), ("export A=1\n", 1));
        fs::remove_file(&attributes).expect("removed");
    }
    assert!(Command::new("mkfifo").arg(&attributes).status().expect("mkfifo").success());
    refuses("a FIFO");
    fs::remove_file(&attributes).expect("removed");
    repository.0.run(&["git-install"]).passed();
    assert_eq!(repository.git(&["check-attr", "merge", "a.yaml"]), "a.yaml: merge: krm-merge\n");
}

/// The attributes of a user are mostly a link into a repository of such files.
#[test]
fn a_link_of_the_user_s_own_is_kept_and_what_it_leads_to_is_written() {
    if !has("git") {
        return;
    }
    let home = Folder::with(&[("dotfiles/attributes", "*.png binary\n")]);
    fs::create_dir_all(home.path(".config/git")).expect("a folder");
    symlink("../../dotfiles/attributes", home.path(".config/git/attributes")).expect("a link");
    let mut command = home.command(&["git-install", "--global", "--pattern", "*.yaml"]);
    command.env("HOME", &home.0).env_remove("XDG_CONFIG_HOME").env_remove("GIT_CONFIG_GLOBAL");
    Ran::of(command.output().expect("runs")).passed();
    assert_eq!(home.read("dotfiles/attributes"), "*.png binary\n*.yaml merge=krm-merge\n");
    assert!(fs::symlink_metadata(home.path(".config/git/attributes")).expect("there").is_symlink());
}

/// The parts of a conflict.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Half {
    Ours,
    Theirs,
}

/// A text with conflicts after someone deleted the other half of each, and the lines between `|||||||` and `=======`.
fn resolved(text: &str, half: Half) -> String {
    let (mut out, mut at) = (String::new(), None);
    for line in text.split_inclusive('\n') {
        let is = |mark: &str| line.trim_end() == mark || line.starts_with(&format!("{mark} "));
        match at {
            None if is("<<<<<<<") => at = Some("ours"),
            Some("ours") if is("|||||||") => at = Some("original"),
            Some("ours" | "original") if is("=======") => at = Some("theirs"),
            Some("theirs") if is(">>>>>>>") => at = None,
            Some("ours") if half == Half::Theirs => {}
            Some("theirs") if half == Half::Ours => {}
            Some("original") => {}
            _ => out.push_str(line),
        }
    }
    assert_eq!(at, None, "{text}");
    out
}

/// A container with these lines besides its name.
fn container(name: &str, lines: &[&str]) -> String {
    let lines: String = lines.iter().map(|l| format!("        {l}\n")).collect();
    format!("      - name: {name}\n{lines}")
}

#[test]
fn what_one_side_deleted_is_in_conflict_whole() {
    if !has("git") {
        return;
    }
    let whole = |image: &str| container("log", &["# ships the logs", &format!("image: log:{image}"), "tty: true"]);
    let original = WEB.to_owned() + &whole("1");
    let (gone, changed) = (WEB.replace("replicas: 1", "replicas: 2"), WEB.to_owned() + &whole("2"));
    for (ours, theirs, left, right) in [(&gone, &changed, "", &*whole("2")), (&changed, &gone, &*whole("2"), "")] {
        let merged = WEB.replace("replicas: 1", "replicas: 2");
        let want = format!("{merged}<<<<<<< HEAD\n{left}=======\n{right}>>>>>>> topic\n");
        assert_eq!(conflicts(&original, ours, theirs), want);
        // In a rebase ours is what is rebased on.
        let repository = Repository::new("web.yaml", &original);
        repository.branch("web.yaml", theirs, ours);
        repository.git(&["checkout", "-q", "topic"]);
        repository.fails(&["rebase", "main"]);
        let text = repository.0.read("web.yaml");
        assert_eq!(resolved(&text, Half::Ours), merged.clone() + right, "{text}");
        assert_eq!(resolved(&text, Half::Theirs), merged + left, "{text}");
    }
    // A map, in the middle of its siblings.
    let with = |strategy: &str| WEB.replace("  template:\n", &format!("{strategy}  template:\n"));
    let strategy =
        |surge: u8| format!("  strategy:\n    rollingUpdate:\n      maxSurge: {surge}\n      maxUnavailable: 1\n");
    let (original, changed) = (with(&strategy(1)), with(&strategy(2)));
    let block = format!("<<<<<<< HEAD\n=======\n{}>>>>>>> topic\n", strategy(2));
    assert_eq!(conflicts(&original, WEB, &changed), with(&block));
    let block = format!("<<<<<<< HEAD\n{}=======\n>>>>>>> topic\n", strategy(2));
    assert_eq!(conflicts(&original, &changed, WEB), with(&block));
}

/// Two elements that look alike, of which each side deleted one and changed the other: a diff by line would pair their lines.
#[test]
fn neighbouring_conflicts_are_decided_one_by_one() {
    if !has("git") {
        return;
    }
    let [a, b] = ["a", "b"].map(|name| move |x: u8| container(name, &["tty: true", &format!("image: log:{x}")]));
    let ours = WEB.to_owned() + &a(2);
    let out = conflicts(&(WEB.to_owned() + &a(1) + &b(1)), &ours, &(WEB.to_owned() + &b(2)));
    let block = |left: &str, right: &str| format!("<<<<<<< HEAD\n{left}=======\n{right}>>>>>>> topic\n");
    assert_eq!(out, WEB.to_owned() + &block(&a(2), "") + &block("", &b(2)));
    let change = |x: u8, y: u8| WEB.replace("replicas: 1", &format!("replicas: {x}\n  minReadySeconds: {y}"));
    let out = conflicts(&change(1, 1), &change(2, 2), &change(3, 3));
    let want = block("  replicas: 2\n", "  replicas: 3\n") + &block("  minReadySeconds: 2\n", "  minReadySeconds: 3\n");
    assert_eq!(out, WEB.replace("  replicas: 1\n", &want));
}

#[test]
fn the_original_is_shown_where_the_user_asks_for_it() {
    if !has("git") {
        return;
    }
    let with = |image: &str| WEB.replace("web:1", image) + &container("log", &["image: log:1"]);
    let ours = WEB.replace("web:1", "web:ours");
    let theirs = with("web:theirs").replace("log:1", "log:2");
    for style in ["diff3", "zdiff3"] {
        let repository = Repository::new("web.yaml", &with("web:1"));
        repository.branch("web.yaml", &ours, &theirs);
        repository.git(&["config", "merge.conflictStyle", style]);
        repository.git(&["checkout", "-q", "--detach"]);
        repository.fails(&["merge", "topic"]);
        let base = repository.git(&["merge-base", "HEAD", "topic"]);
        let base = &base.trim()[..7];
        let block = |[ours, original, theirs]: [&str; 3]| {
            format!("<<<<<<< HEAD\n{ours}||||||| {base}\n{original}=======\n{theirs}>>>>>>> topic\n")
        };
        let image = ["ours", "1", "theirs"].map(|image| format!("        image: web:{image}\n"));
        let log = ["log:1", "log:2"].map(|image| container("log", &[&format!("image: {image}")]));
        let want = WEB.replace("        image: web:1\n", &block([&image[0], &image[1], &image[2]]))
            + &block(["", &log[0], &log[1]]);
        assert_eq!(repository.0.read("web.yaml"), want, "{style}");
        // What is no Kubernetes is marked alike, by git itself.
        repository.git(&["merge", "--abort"]);
    }
    let repository = Repository::new("values.yaml", "a: 1\n");
    repository.branch("values.yaml", "a: 2\n", "a: 3\n");
    repository.fails(&["-c", "merge.conflictStyle=diff3", "merge", "topic"]);
    let text = repository.0.read("values.yaml");
    assert!(text.starts_with("<<<<<<< HEAD\na: 2\n||||||| ") && text.contains("\na: 1\n=======\na: 3\n"), "{text}");
}

#[test]
fn markers_are_as_long_as_the_attribute_says_and_labelled_as_git_labels_them() {
    if !has("git") {
        return;
    }
    let repository = Repository::new("web.yaml", WEB);
    repository.branch("web.yaml", &WEB.replace("web:1", "web:2"), &WEB.replace("web:1", "web:3"));
    let attributes = repository.0.read(".gitattributes");
    repository.0.write(".gitattributes", attributes + "web.yaml conflict-marker-size=9\n");
    repository.commit("longer markers");
    repository.git(&["branch", "-m", "topic", "%a'b'"]);
    repository.fails(&["-c", "merge.conflictStyle=diff3", "merge", "%a'b'"]);
    let text = repository.0.read("web.yaml");
    for mark in ["\n<<<<<<<<< HEAD\n", "\n||||||||| ", "\n=========\n", "\n>>>>>>>>> %a'b'\n"] {
        assert!(text.contains(mark), "{mark}{text}");
    }
}

#[test]
fn a_comment_at_the_top_of_theirs_comes_once_below_a_mark_of_ours() {
    if !has("git") {
        return;
    }
    let map = |a: &str, b: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  a: {a}\n  b: {b}\n")
    };
    let repository = Repository::new("m.yaml", &map("x", "x"));
    repository.branch("m.yaml", &format!("---\n{}", map("y", "x")), &format!("# a licence\n\n{}", map("x", "y")));
    repository.git(&["merge", "-q", "topic"]);
    assert_eq!(repository.0.read("m.yaml"), format!("---\n# a licence\n\n{}", map("y", "y")));
}

#[test]
fn a_resource_that_is_taken_for_a_renamed_one_is_told() {
    if !has("git") {
        return;
    }
    let map = |name: &str, data: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  labels:\n    x: y\ndata:\n{data}")
    };
    let repository = Repository::new("m.yaml", &map("p", "  b: \"1\"\n  c: \"1\"\n"));
    repository.branch("m.yaml", &map("r", "  b: \"1\"\n"), &map("p", "  b: \"2\"\n  c: \"1\"\n"));
    let told = repository.command(&["merge", "-q", "topic"]).output().expect("git");
    assert!(told.status.success(), "{told:?}");
    let want = "info: ConfigMap r: `v1 ConfigMap r` is `v1 ConfigMap p` in theirs (topic). They are merged as one resource that was renamed, and the edits of both sides are kept\n";
    assert_eq!(String::from_utf8_lossy(&told.stderr), want);
    assert_eq!(repository.0.read("m.yaml"), map("r", "  b: \"2\"\n"));
}

#[test]
fn a_resource_whose_identity_both_branches_changed_is_one() {
    if !has("git") {
        return;
    }
    let was = "apiVersion: example.com/v1\nkind: Install\nmetadata:\n  name: p\n  namespace: one\nspec:\n  image: i\n  size: 1\n";
    let [request, order] = ["Request", "Order"].map(|kind| was.replace("Install", kind));
    let two = was.replace("one", "two");
    // In different parts: in a second merge, too.
    let repository = Repository::new("m.yaml", was);
    let ours = request.replace("size: 1", "size: 2");
    repository.branch("m.yaml", &ours, &two);
    repository.git(&["merge", "-q", "topic"]);
    let want = ours.replace("one", "two");
    assert_eq!(repository.0.read("m.yaml"), want);
    for (name, text) in [("was", was), ("theirs", &two), ("ours", &want)] {
        repository.0.write(name, text);
    }
    let again = repository.0.command(&["git-driver", "was", "ours", "theirs", "m.yaml"]).output().expect("run");
    assert!(again.status.success() && again.stderr.is_empty(), "{again:?}");
    assert_eq!(repository.0.read("ours"), want);
    // The same part, differently.
    let repository = Repository::new("m.yaml", was);
    repository.branch("m.yaml", &request, &order.replace("size: 1", "size: 2"));
    let told = repository.command(&["merge", "-q", "topic"]).output().expect("git");
    assert!(!told.status.success(), "{told:?}");
    let open = "<<<<<<< HEAD\nkind: Request\n=======\nkind: Order\n>>>>>>> topic\n";
    let want = was.replace("kind: Install\n", open).replace("size: 1", "size: 2");
    assert_eq!(repository.0.read("m.yaml"), want);
}

#[test]
fn the_name_of_a_file_is_no_option() {
    if !has("git") {
        return;
    }
    for path in ["-x.yaml", "--help.yaml", "it's \"a\" $(b).yaml"] {
        let repository = Repository::new(path, WEB);
        repository.branch(path, &WEB.replace("web:1", "web:2"), &WEB.replace("replicas: 1", "replicas: 2"));
        repository.git(&["merge", "-q", "topic"]);
        assert_eq!(repository.0.read(path), WEB.replace("web:1", "web:2").replace("replicas: 1", "replicas: 2"));
        repository.git(&["checkout", "-q", "-B", "topic"]);
        repository.0.write(path, WEB.replace("web:1", "web:3"));
        repository.commit("theirs");
        repository.git(&["checkout", "-q", "main"]);
        repository.0.write(path, WEB.replace("web:1", "web:4"));
        repository.commit("ours");
        repository.fails(&["merge", "topic"]);
        assert!(repository.0.read(path).contains("<<<<<<< HEAD\n        image: web:4\n======="), "{path}");
    }
}

/// Other systems refuse such names.
#[cfg(target_os = "linux")]
#[test]
fn paths_that_are_not_utf_8_are_merged_and_shown_with_escapes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    if !has("git") {
        return;
    }
    let name = OsStr::from_bytes(b"caf\xe9");
    let above = Folder::new();
    let repository = Repository(Folder(above.0.join(name)));
    let file = repository.0.0.join(name).with_extension("yaml");
    let write = |text: String, message: &str| {
        fs::write(&file, text).expect("written");
        repository.commit(message);
    };
    fs::create_dir(&repository.0.0).expect("a folder");
    repository.git(&["init", "-q", "-b", "main", "."]);
    assert!(repository.0.command(&["git-install"]).output().expect("runs").status.success());
    assert!(repository.0.read(".gitattributes").contains("*.yaml merge=krm-merge\n"));
    write(WEB.to_owned(), "first");
    repository.git(&["checkout", "-q", "-b", "topic"]);
    write(WEB.replace("web:1", "web:2").replace("replicas: 1", "replicas: 5"), "theirs");
    repository.git(&["checkout", "-q", "main"]);
    write(WEB.replace("web:1", "web:3").replace("value: a", "value: b"), "ours");
    let run = |args: &[&str]| repository.command(args).output().expect("git");
    let merged = run(&["merge", "topic"]);
    assert!(!merged.status.success(), "{merged:?}");
    let text = fs::read_to_string(&file).expect("there");
    assert!(text.contains("replicas: 5\n") && text.contains("value: b\n"), "{text}");
    assert!(
        text.contains("<<<<<<< HEAD\n        image: web:3\n=======\n        image: web:2\n>>>>>>> topic\n"),
        "{text}"
    );
    // The rules at the top of the repository are found there, too.
    repository.git(&["merge", "--abort"]);
    let rules = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules:\n  - path: spec.template.spec.containers[name=app].image\n    take: Updated\n";
    repository.0.write(".krm-merge.yaml", rules);
    let merged = run(&["merge", "-q", "topic"]);
    assert!(merged.status.success(), "{merged:?}");
    assert!(fs::read_to_string(&file).expect("there").contains("image: web:2\n"));
    // A label, such as the first line of a commit.
    let label = [b"--ours-label=", name.as_bytes()].concat();
    let mut driver = repository.0.command(&["git-driver"]);
    for (version, value) in [("o", "a"), ("a", "b"), ("b", "c")] {
        repository.0.write(version, WEB.replace("value: a", &format!("value: {value}")));
    }
    let ran = driver.arg(OsStr::from_bytes(&label)).args(["o", "a", "b"]).output().expect("runs");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(repository.0.read("a").contains("<<<<<<< caf\u{fffd}\n"));
    // What git merges by line is told with the path.
    ["o", "a", "b"].iter().for_each(|version| repository.0.write(version, format!("{{{{ {version} }}}}\n")));
    let ran = repository.0.command(&["git-driver", "o", "a", "b"]).arg(name).output().expect("runs");
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(1) && told.contains("conflict: caf\\xe9: git merged its lines"), "{told}");
}

/// Many editors leave out the line break at the end of a file.
#[test]
fn what_comes_after_a_last_line_without_a_break_begins_on_a_line_of_its_own() {
    if !has("git") {
        return;
    }
    let map = |name: &str, x: &str| crate::support::map(name, &[("x", x), (name, name)]);
    let open = |all: &[String]| all.join("---\n").trim_end().to_owned();
    let [old, new, ours, theirs] = [map("a", "1"), map("a", "2"), map("ours", "1"), map("theirs", "1")];
    // Theirs appends a document.
    let base = open(std::slice::from_ref(&old));
    let with_theirs = open(&[old.clone(), theirs.clone()]);
    let want = [new.clone(), theirs.clone()].join("---\n");
    assert_eq!(merges(&base, &open(std::slice::from_ref(&new)), &with_theirs), want);
    // So do both sides.
    let want = [old.clone(), ours.clone(), theirs.clone()].join("---\n");
    assert_eq!(merges(&base, &open(&[old.clone(), ours]), &with_theirs), want);
    // The lines of ours end with `\r\n`.
    let break_with = |text: &str| text.replace('\n', "\r\n");
    let out = merges(&break_with(&base), &break_with(&open(std::slice::from_ref(&new))), &break_with(&with_theirs));
    assert_eq!(out, break_with(&[new.clone(), theirs].join("---\n")));
    // The documents are JSON.
    let json = |name: &str, x: u8| {
        format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}"}},"data":{{"x":"{x}"}}}}"#)
    };
    let out = merges(&json("a", 1), &json("a", 2), &format!("{}\n---\n{}", json("a", 1), json("b", 1)));
    assert_eq!(out, format!("{}\n---\n{}\n", json("a", 2), json("b", 1)));
    // Theirs appends a comment.
    assert_eq!(merges(&base, &open(std::slice::from_ref(&new)), &format!("{base}\n# end")), format!("{new}# end"));
    // A document comes after a comment, and its own comments come along.
    let foot = |text: &str| format!("{text}# end");
    let out = merges(&foot(&old), &foot(&new), &format!("{}\n---\n{}", foot(&old), foot(&map("theirs", "1"))));
    assert!(out.starts_with(&format!("{new}# end\n")) && out.contains("\n---\n"), "{out}");
    // A text of several lines keeps its value.
    let script = |x: &str| format!("{}  s: |\n    echo", map("a", x));
    let out =
        merges(&script("1"), &script("2"), &format!("{}\n---\n{}", script("1").replace('|', "|-"), map("theirs", "1")));
    assert!(out.contains("  s: |-\n    echo\n---\n"), "{out}");
    // Ours deleted the last document, and theirs changed it.
    let both = |x: &str| open(&[old.clone(), map("b", x)]);
    let out = conflicts(&both("1"), &base, &both("2"));
    let half = map("b", "2");
    assert_eq!(out, format!("{old}<<<<<<< HEAD\n=======\n---\n{half}>>>>>>> topic\n"));
}

/// A comment is no value, so the merge of the resources has no say in it: one that nobody sees any more is lost.
#[test]
fn no_comment_that_a_side_added_is_lost() {
    if !has("git") {
        return;
    }
    let block = |left: &str, right: &str| format!("<<<<<<< HEAD\n{left}=======\n{right}>>>>>>> topic\n");
    let log = |comment: &str| container("log", &[&format!("image: log:1{comment}"), "tty: true"]);
    let web = |replicas: &str| WEB.replace("replicas: 1", replicas);
    // Both changed the comment, and a value in the same lines.
    let out = conflicts(WEB, &web("replicas: 2 # ours"), &web("replicas: 3 # theirs"));
    assert_eq!(out, WEB.replace("  replicas: 1\n", &block("  replicas: 2 # ours\n", "  replicas: 3 # theirs\n")));
    let out = conflicts(
        &web("replicas: 1 # one"),
        &web("replicas: 1 # ours\n  paused: true"),
        &web("replicas: 2 # theirs\n  minReadySeconds: 1"),
    );
    assert!(out.contains("# ours\n") && out.contains("# theirs\n") && out.contains("<<<<<<<"), "{out}");
    // In what the other side deleted, whichever that is.
    let original = WEB.to_owned() + &log("");
    let commented = WEB.to_owned() + &log(" # new");
    assert_eq!(conflicts(&original, WEB, &commented), WEB.to_owned() + &block("", &log(" # new")));
    assert_eq!(conflicts(&original, &commented, WEB), WEB.to_owned() + &block(&log(" # new"), ""));
    // In a list that has no keys, and that the other side changed.
    let args = |args: &str| WEB.replace("        env:\n", &format!("        args:\n{args}        env:\n"));
    let out = conflicts(&args("        - -a\n"), &args("        - -b\n"), &args("        # why\n        - -a # how\n"));
    assert!(out.contains("# why") && out.contains("# how") && out.contains("- -b\n"), "{out}");
    // Set apart by a blank line, in lines that git cannot merge.
    let theirs = web("# -- scale --\n\n  replicas: 1\n  minReadySeconds: 3");
    let out = merges(WEB, &web("replicas: 1\n  paused: true"), &theirs);
    assert!(out.contains("spec:\n  # -- scale --\n\n  replicas: 1\n"), "{out}");
    // In lines that git can merge, beside a conflict elsewhere.
    let theirs = theirs.replace("web:1", "web:theirs");
    let out = conflicts(WEB, &WEB.replace("web:1", "web:ours"), &theirs);
    assert!(out.contains("spec:\n  # -- scale --\n\n  replicas: 1\n"), "{out}");
    // In a resource that the other side deleted.
    let map = |name: &str, comment: &str| crate::support::map(name, &[("x", &format!("'1'{comment}"))]);
    let file = |all: &[String]| all.join("---\n");
    let both = file(&[map("a", ""), map("b", "")]);
    let out = conflicts(&both, &map("a", ""), &file(&[map("a", ""), map("b", " # new")]));
    assert_eq!(resolved(&out, Half::Ours), map("a", ""));
    assert_eq!(resolved(&out, Half::Theirs), file(&[map("a", ""), map("b", " # new")]));
    let out = conflicts(&both, &file(&[map("a", ""), map("b", " # new")]), &map("a", ""));
    assert_eq!(resolved(&out, Half::Ours), file(&[map("a", ""), map("b", " # new")]));
    assert_eq!(resolved(&out, Half::Theirs), map("a", ""));
}

/// Each half has its side's order, and what only one side changed in an element is in both.
#[test]
fn elements_that_both_sides_moved_are_a_choice_between_the_lists() {
    if !has("git") {
        return;
    }
    let list = |names: &str, image: u8| -> String {
        let element = |name: char| {
            let image = if name == 'a' { image } else { 1 };
            container(&name.to_string(), &[&format!("image: {name}:{image}"), "tty: true"])
        };
        names.chars().map(element).collect()
    };
    let pod =
        |list: &str| WEB.replace("      containers:\n", &format!("      initContainers:\n{list}      containers:\n"));
    let texts = [pod(&list("abc", 1)), pod(&list("bac", 1)), pod(&list("cab", 2))];
    let out = conflicts(&texts[0], &texts[1], &texts[2]);
    assert_eq!(resolved(&out, Half::Ours), pod(&list("bac", 2)), "{out}");
    assert_eq!(resolved(&out, Half::Theirs), pod(&list("cab", 2)), "{out}");
    assert_eq!(out.matches("<<<<<<<").count(), 1, "{out}");
}

#[test]
fn the_driver_is_taken_out_again() {
    if !has("git") {
        return;
    }
    let Repository(folder) = Repository::new("x.txt", "x\n");
    folder.write(".gitattributes", format!("*.go text\n{}", folder.read(".gitattributes")));
    let dry = folder.run(&["git-install", "--uninstall", "--dry-run"]).passed();
    assert!(folder.read(".gitattributes").contains("merge=krm-merge"), "{dry}");
    assert!(folder.read(".git/config").contains("krm-merge"), "{dry}");
    assert_eq!(folder.run(&["git-install", "--uninstall"]).passed(), dry);
    for part in
        ["git config --local --remove-section merge.krm-merge\n", ".gitattributes: without *.yaml merge=krm-merge\n"]
    {
        assert!(dry.contains(part), "{dry}");
    }
    assert_eq!(folder.read(".gitattributes"), "*.go text\n");
    assert!(!folder.read(".git/config").contains("krm-merge"));
    let again = folder.run(&["git-install", "--uninstall"]).passed();
    assert!(again.starts_with("nothing changed: neither the configuration of git nor "), "{again}");
    // What holds nothing else goes.
    fs::remove_file(folder.path(".gitattributes")).expect("removed");
    folder.run(&["git-install"]).passed();
    folder.run(&["git-install", "--uninstall"]).passed();
    assert!(!folder.path(".gitattributes").exists());
}

#[test]
fn custom_resources_merge_as_their_maintainers_say() {
    if !has("git") {
        return;
    }
    let repository = Repository::new("README", "");
    let cases: Vec<(String, &Case)> =
        CASES.iter().map(|case| (format!("{}.yaml", case.of.replace([' ', '/'], "-")), case)).collect();
    let write = |spec: fn(&Case) -> &str, message: &str| {
        cases.iter().for_each(|(file, case)| repository.0.write(file, case.resource(spec(case))));
        repository.commit(message);
    };
    write(|case| case.original, "original");
    repository.git(&["checkout", "-q", "-b", "topic"]);
    write(|case| case.theirs, "theirs");
    repository.git(&["checkout", "-q", "main"]);
    write(|case| case.ours, "ours");
    repository.git(&["merge", "-q", "topic"]);
    for (file, case) in &cases {
        assert_eq!(repository.0.read(file), case.resource(case.merged), "{}", case.source);
    }
}

/// As on a full disk, a write stops in the middle of the file.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_stays_whole_and_git_stops() {
    if !has("git") || !has("bash") {
        return;
    }
    let long = |value: &str| format!("{WEB}# {}\n# {value}\n", "x".repeat(100_000));
    for (ours, theirs) in [("2", "1"), ("2", "3")] {
        let folder =
            Folder::with(&[("o", &long("1")), ("a", &long(ours)), ("b", &long(theirs).replace("web:1", "web:3"))]);
        let before = folder.files("");
        let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" git-driver o a b web.yaml";
        let ran = Command::new("bash").args(["-c", script, PLUGIN]).current_dir(&folder.0).output().expect("bash");
        let ran = Ran::of(ran);
        assert_eq!(ran.code, Some(255), "{ran:?}");
        assert!(ran.stderr.contains("error: a: File too large"), "{ran:?}");
        assert_eq!(folder.files(""), before);
    }
}

#[cfg(unix)]
#[test]
fn an_installation_has_both_halves_or_none() {
    if !has("git") {
        return;
    }
    let folder = Folder::new();
    let git = |args: &[&str]| Command::new("git").args(args).current_dir(&folder.0).output().expect("git");
    git(&["init", "-q"]);
    let is_configured = || folder.read(".git/config").contains("krm-merge");
    // git cannot write its configuration.
    folder.write(".git/config.lock", "");
    let err = folder.run(&["git-install"]).failed(2);
    assert!(err.contains("config") && !folder.path(".gitattributes").exists() && !is_configured(), "{err}");
    std::fs::remove_file(folder.path(".git/config.lock")).expect("removed");
    // The attributes cannot be written.
    folder.write(".gitattributes", "*.md text\n");
    let only_read = std::fs::Permissions::from_mode(0o444);
    std::fs::set_permissions(folder.path(".gitattributes"), only_read).expect("set");
    let err = folder.run(&["git-install"]).failed(2);
    assert!(err.contains("read-only") && !is_configured(), "{err}{}", folder.read(".git/config"));
    std::fs::set_permissions(folder.path(".gitattributes"), std::fs::Permissions::from_mode(0o644)).expect("set");
    folder.run(&["git-install"]).passed();
    assert!(is_configured() && folder.read(".gitattributes").contains("merge=krm-merge"));
}
