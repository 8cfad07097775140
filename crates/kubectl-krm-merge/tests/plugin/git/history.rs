//! `git-history` over repositories with known merges: it counts right, and touches nothing.

use std::process::Command;

use serde_json::{Value, json};

use super::{Repository, WEB};
use crate::support::{Ran, has, skipped};

/// The neighbour of a line that the other side changes: git stops at two lines of each side, the driver merges.
const NEIGHBOURS: [(&str, &str); 2] =
    [("replicas: 1", "replicas: 3"), ("spec:\n  replicas", "spec:\n  paused: true\n  replicas")];

fn with(text: &str, [old, new]: [&str; 2]) -> String {
    assert!(text.contains(old), "{text}");
    text.replacen(old, new, 1)
}

/// Whether git is there, and is one with which `git-history` works.
fn has_merge_tree() -> bool {
    if !has("git") {
        return false;
    }
    let usage = Command::new("git").args(["merge-tree", "-h"]).output().expect("git");
    let is_new = String::from_utf8_lossy(&[usage.stdout, usage.stderr].concat()).contains("merge-base");
    if !is_new {
        skipped("git", "is older than 2.40");
    }
    is_new
}

impl Repository {
    /// Commits one file.
    fn write(&self, path: &str, text: &str, message: &str) {
        self.0.write(path, text);
        self.commit(message);
    }

    /// Makes a branch from here whose one commit has this text, and comes back.
    fn side(&self, branch: &str, text: &str) {
        self.git(&["checkout", "-q", "-b", branch]);
        self.write("web.yaml", text, branch);
        self.git(&["checkout", "-q", "main"]);
    }

    fn web(&self) -> String {
        self.0.read("web.yaml")
    }

    /// Merges a branch, and commits this text.
    fn merge(&self, branch: &str, text: &str) {
        let _ = self.command(&["merge", "-q", "--no-commit", "--no-ff", branch]).output().expect("git");
        self.write("web.yaml", text, "a merge");
    }

    /// The history as JSON, without the times and the commits.
    fn history(&self, args: &[&str]) -> Value {
        let told = self.0.run(&[&["git-history", "-o", "json"], args].concat()).passed();
        let mut told: Value = serde_json::from_str(&told).expect("JSON");
        told.as_object_mut().expect("an object").remove("seconds");
        for file in told["files"].as_array_mut().expect("files") {
            let file = file.as_object_mut().expect("a file");
            let commit = file.remove("commit").expect("a commit");
            let show = format!("kubectl krm-merge git-history -o diff '{}^!'", &commit.as_str().expect("a name")[..12]);
            assert_eq!(file.remove("show"), Some(json!(show)));
        }
        told
    }
}

fn conflict(lines: usize) -> Value {
    json!({"outcome": "Conflict", "linesBetweenMarkers": lines})
}

fn sums([in_conflict, lines, same, other]: [usize; 4]) -> Value {
    json!({"filesInConflict": in_conflict, "linesBetweenMarkers": lines, "filesAsCommitted": same, "filesNotAsCommitted": other})
}

#[test]
fn merges_picks_and_reverts_are_counted_and_nothing_is_touched() {
    if !has_merge_tree() {
        return;
    }
    let repository = Repository::new("web.yaml", WEB);
    let [ours, theirs] = NEIGHBOURS.map(|(old, new)| [old, new]);
    // A merge at which git stops and the driver does not.
    repository.side("paused", &with(WEB, theirs));
    repository.write("web.yaml", &with(WEB, ours), "three replicas");
    repository.git(&["merge", "-q", "--no-edit", "paused"]);
    // One at which both stop, and one that was changed by hand.
    repository.side("five", &with(&repository.web(), ["replicas: 3", "replicas: 5"]));
    repository.write("web.yaml", &with(&repository.web(), ["replicas: 3", "replicas: 4"]), "four replicas");
    repository.merge("five", &with(&repository.web(), ["replicas: 4", "replicas: 5"]));
    repository.side("b", &with(&repository.web(), ["value: a", "value: b"]));
    repository.write("web.yaml", &with(&repository.web(), ["replicas: 5", "replicas: 6"]), "six replicas");
    repository.merge("b", &with(&with(&repository.web(), ["value: a", "value: b"]), ["web:1", "web:2"]));
    // Picks from a branch that stays: by its line, and by its author, time and first line. Then a revert at which git stops.
    let name = |name: &str| format!("        - name: {name}\n          value: x\n");
    repository.side("c", &with(&repository.web(), ["paused: true", "paused: false"]));
    repository.write("web.yaml", &with(&repository.web(), ["replicas: 6", "replicas: 7"]), "seven replicas");
    let mut pick = repository.command(&["cherry-pick", "c"]);
    Ran::of(pick.env("GIT_COMMITTER_DATE", "2090-01-01T00:00:00Z").output().expect("git")).passed();
    repository.side("d", &(repository.web() + &name("D")));
    repository.write("web.yaml", &(repository.web() + &name("B")), "a name");
    repository.git(&["cherry-pick", "-x", "d"]);
    repository.git(&["revert", "--no-edit", "HEAD^"]);
    // What the driver is not for, and what git merges in several steps.
    repository.git(&["checkout", "-q", "-b", "text"]);
    repository.write("a.txt", "theirs\n", "text");
    repository.git(&["checkout", "-q", "-b", "more", "main"]);
    repository.write("b.txt", "b\n", "more");
    repository.git(&["checkout", "-q", "main"]);
    repository.write("a.txt", "ours\n", "our text");
    repository.fails(&["merge", "-q", "text"]);
    repository.write("a.txt", "both\n", "a merge of text");
    repository.git(&["branch", "-q", "one", "more~1"]);
    repository.git(&["checkout", "-q", "one"]);
    repository.write("c.txt", "c\n", "one");
    repository.git(&["checkout", "-q", "main"]);
    repository.git(&["merge", "-q", "--no-edit", "more", "one"]);

    let before = repository.0.files(".");
    let file = |how: &str, git: Value, driver: Value| json!({"how": how, "path": "web.yaml", "git": git, "newest": driver, "driver": driver});
    let [same, other] = ["AsCommitted", "NotAsCommitted"].map(|outcome| json!({"outcome": outcome}));
    let want = json!({
        "replayed": {"merges": 4, "cherryPicks": 2, "reverts": 1},
        "leftOut": 1,
        "git": sums([5, 15, 0, 1]),
        "driver": sums([1, 2, 4, 1]),
        "newest": sums([1, 2, 4, 1]),
        "files": [
            file("revert", conflict(4), same.clone()),
            file("cherry-pick", conflict(2), same.clone()),
            file("cherry-pick", conflict(4), same.clone()),
            file("merge", other.clone(), other.clone()),
            file("merge", conflict(2), conflict(2)),
            file("merge", conflict(3), same.clone()),
        ],
    });
    let told = repository.history(&[]);
    assert_eq!(told, want, "{}", serde_json::to_string_pretty(&told).expect("JSON"));
    assert_eq!(repository.0.files("."), before);
}

/// Two files in which both sides set a version. In one, the older one was committed.
#[test]
fn what_the_newer_version_would_decide_is_counted() {
    if !has_merge_tree() {
        return;
    }
    let repository = Repository::new("web.yaml", WEB);
    let set = |text: &str, tag: &str| with(text, ["web:1", tag]);
    repository.write("api.yaml", &set(WEB, "web:1.0"), "api");
    repository.write("web.yaml", &set(WEB, "web:1.0"), "web");
    let tag = |tag: &str| with(WEB, ["web:1", tag]);
    repository.git(&["checkout", "-q", "-b", "theirs"]);
    repository.write("api.yaml", &tag("web:1.10"), "their api");
    repository.write("web.yaml", &tag("web:1.10"), "their web");
    repository.git(&["checkout", "-q", "main"]);
    repository.write("api.yaml", &tag("web:1.9"), "our api");
    repository.write("web.yaml", &tag("web:1.9"), "our web");
    repository.fails(&["merge", "-q", "theirs"]);
    repository.0.write("api.yaml", tag("web:1.10"));
    repository.write("web.yaml", &tag("web:1.9"), "a merge");
    let told = repository.history(&[]);
    assert_eq!((&told["driver"], &told["newest"]), (&sums([2, 4, 0, 0]), &sums([0, 0, 1, 1])), "{told}");
    let text = repository.0.run(&["git-history"]).passed();
    let line = "With `git-install --newest`, the driver merges 2 files more, of which 1 as people committed them.";
    assert!(text.lines().any(|own| own == line), "{text}");
}

#[test]
fn the_first_line_is_the_outcome() {
    if !has_merge_tree() {
        return;
    }
    let repository = Repository::new("web.yaml", WEB);
    let told = |args: &[&str]| repository.0.run(&[&["git-history"], args].concat()).passed();
    let first = |text: &str| text.lines().next().expect("a line").to_owned();
    assert_eq!(told(&[]), "There is no merge, cherry-pick or revert to replay.\n");
    let [ours, theirs] = NEIGHBOURS.map(|(old, new)| [old, new]);
    repository.side("env", &with(WEB, ["value: a", "value: b"]));
    repository.write("web.yaml", &with(WEB, ours), "three replicas");
    repository.git(&["merge", "-q", "--no-edit", "env"]);
    let nothing = "In 1 merge, neither git nor the driver stops in a YAML file, so there is nothing to gain.";
    assert_eq!(first(&told(&[])), nothing);
    repository.side("paused", &with(&repository.web(), theirs));
    repository.write("web.yaml", &with(&repository.web(), ["replicas: 3", "replicas: 4"]), "four replicas");
    repository.merge("paused", &with(&repository.web(), ["replicas: 4", "replicas: 4 # by hand"]));
    let commit = repository.git(&["rev-parse", "--short=12", "HEAD"]);
    let text = told(&[]);
    assert_eq!(first(&text), "In 2 merges, git stops in 1 YAML file, and the driver in 0.");
    let show = format!("kubectl krm-merge git-history -o diff '{}^!'", commit.trim());
    let line = "web.yaml: git stops at 3 lines, the driver merges it, not as committed";
    assert!(text.contains(&format!("\n{show}\n  {line}\n")), "{text}");
    let shown = told(&["-o", "diff", &format!("{}^!", commit.trim())]);
    assert!(shown.starts_with(&format!("{line}\n")), "{shown}");
    for part in
        ["--- committed/web.yaml\n+++ git/web.yaml\n", "+++ driver/web.yaml\n", "+<<<<<<<", "\n+  paused: true\n"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let markdown = told(&["-o", "markdown"]);
    assert!(markdown.starts_with("### krm-merge: In 2 merges, git stops in 1 YAML file,"), "{markdown}");
    assert!(markdown.contains("\n| files in conflict | 1 | 0 |\n"), "{markdown}");
    assert_eq!(first(&told(&["HEAD~1"])), nothing);
    assert!(told(&["--since", "2090-01-01"]).starts_with("There is no merge"));
    for args in [&["nowhere"][..], &["--", "--output=a"]] {
        assert!(repository.0.run(&[&["git-history"], args].concat()).failed(2).starts_with("error: git: "));
    }
    assert!(!repository.0.path("a").exists());
}
