//! kpt and krm-merge take turns on one package.

use std::process::Command;

use super::repository::{Upstream, commit, git};
use crate::support::{Folder, has, map};

fn kpt(folder: &Folder, args: &[&str]) -> String {
    let mut kpt = Command::new("kpt");
    kpt.args(args).current_dir(folder.path("mine")).env("HOME", folder.path("home"));
    let output = kpt.output().expect("kpt runs");
    assert!(output.status.success(), "kpt {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    commit(&folder.path("mine"), "by kpt");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: d\ninfo:\n  description: RELEASE\n";

fn upstream(folder: &Folder) -> Upstream {
    let upstream = Upstream::new(folder, "up.git");
    for tag in ["v1", "v2", "v3", "v4", "v5"] {
        let files = [("d/a.yaml", map("a", &[("v", tag), ("w", "x")])), ("d/Kptfile", KPTFILE.replace("RELEASE", tag))];
        upstream.release(&files.map(|(path, text)| (path.to_owned(), text)), tag);
        // kpt prefers the tag of a directory.
        git(&upstream.bare, &["tag", &format!("d/{tag}"), tag]);
    }
    std::fs::create_dir_all(folder.path("home")).expect("a folder");
    std::fs::create_dir_all(folder.path("mine")).expect("a folder");
    commit(&folder.path("mine"), "begin");
    upstream
}

/// What kpt writes into a Kptfile for a release.
fn record(upstream: &Upstream, tag: &str) -> String {
    let repo = upstream.source("");
    let git = |reference: &str| {
        format!(
            "  type: git\n  git:\n    repo: {}\n    directory: /d\n    ref: {reference}\n",
            repo.trim_end_matches(".git/")
        )
    };
    let (own, commit) = (git(&format!("d/{tag}")), upstream.commit(tag));
    format!("upstream:\n{}  updateStrategy: resource-merge\nupstreamLock:\n{own}    commit: {commit}\n", git(tag))
}

#[test]
fn kpt_and_this_program_take_turns_on_one_package() {
    if !has("kpt") {
        return;
    }
    for begins_with_kpt in [true, false] {
        let folder = Folder::new();
        let upstream = upstream(&folder);
        let source = upstream.source("d@v1");
        match begins_with_kpt {
            true => _ = kpt(&folder, &["pkg", "get", &source, "d"]),
            false => _ = folder.run(&["get", &source, "mine/d"]).passed(),
        }
        let check = |tag: &str| {
            let kptfile = folder.read("mine/d/Kptfile");
            let want = format!(
                "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: d\n{}info:\n  description: {tag}\n",
                record(&upstream, tag)
            );
            assert_eq!(kptfile.replace('"', ""), want);
            assert!(folder.read("mine/d/a.yaml").contains(&format!("  v: {tag}\n")));
            let text = folder.read("mine/d/a.yaml");
            assert!(text.contains("  w: x # why\n  ours: z\n") || tag == "v1", "{begins_with_kpt} {tag}: {text}");
        };
        check("v1");
        folder.write("mine/d/a.yaml", folder.read("mine/d/a.yaml").replace("w: x", "w: x # why\n  ours: z"));
        commit(&folder.path("mine"), "edit");
        for (tag, by_kpt) in [("v2", false), ("v3", true), ("v4", false), ("v5", true)] {
            match by_kpt {
                true => _ = kpt(&folder, &["pkg", "update", &format!("d@{tag}")]),
                false => _ = folder.run(&["upgrade", "mine/d", "--to", tag]).passed(),
            }
            commit(&folder.path("mine"), tag);
            check(tag);
        }
        assert!(folder.run(&["upgrade", "mine/d"]).passed().contains("has v5 already"));
    }
}

#[test]
fn what_kpt_notes_is_no_local_change() {
    if !has("kpt") {
        return;
    }
    let folder = Folder::new();
    let upstream = upstream(&folder);
    kpt(&folder, &["pkg", "get", &upstream.source("d@v1"), "d"]);
    let line = folder.run(&["upgrade", "mine/d", "--check"]);
    assert_eq!(
        (line.code, line.stdout.as_str()),
        (Some(1), "mine/d: has v1, newest is v5; 0 local changes, 0 conflicts to expect\n")
    );
}

#[test]
fn a_folder_with_an_upstream_of_its_own_is_left_alone() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let own = |repo: &str| {
        format!(
            "{}upstream:\n  type: git\n  git:\n    repo: {repo}\n    directory: /\n    ref: v1\n",
            KPTFILE.replace("name: d", "name: sub")
        )
    };
    for tag in ["v1", "v2"] {
        let mut files = vec![
            ("d/Kptfile", KPTFILE.replace("RELEASE", tag)),
            ("d/a.yaml", map("a", &[("v", tag)])),
            ("d/own/Kptfile", own("https://example.com/own")),
            ("d/own/b.yaml", map("b", &[("v", tag)])),
            ("d/part/Kptfile", KPTFILE.replace("name: d", "name: part")),
            ("d/part/c.yaml", map("c", &[("v", tag)])),
        ];
        if tag == "v2" {
            files.push(("d/new/Kptfile", own("https://example.com/new")));
            files.push(("d/new/e.yaml", map("e", &[("v", tag)])));
            files[4].1 = own("https://example.com/evil").replace("name: sub", "name: part");
        }
        upstream.release(&files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect::<Vec<_>>(), tag);
    }
    folder.run(&["get", &upstream.source("d@v1"), "p"]).passed();
    let before = folder.files("p/own");
    let ran = folder.run(&["upgrade", "p"]);
    assert!(ran.stderr.contains("info: p/own has an upstream of its own"), "{ran:?}");
    assert!(ran.stderr.contains("info: p/new comes with an upstream of its own"), "{ran:?}");
    ran.passed();
    assert_eq!(folder.files("p/own"), before);
    assert!(
        folder.read("p/a.yaml").contains("v2")
            && folder.read("p/part/c.yaml").contains("v2")
            && folder.read("p/new/e.yaml").contains("v2")
    );
    // A part of the package gets no upstream of its own from upstream.
    assert!(!folder.read("p/part/Kptfile").contains("evil"));
}

/// What a team finds, and what it does by hand before the next release comes.
struct Turn {
    what: &'static str,
    /// What is got.
    source: &'static str,
    /// Edits of the Kptfile: a text, and what takes its place at its first occurrence.
    edits: &'static [[&'static str; 2]],
    /// The text that the package has after the next turn.
    then: &'static str,
}

/// An upstream with a directory that moves, tags of directories, and a Kptfile that comes later.
fn moving(folder: &Folder) -> Upstream {
    let upstream = Upstream::new(folder, "up.git");
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: db\ninfo:\n  description: theirs\n";
    for (tag, directory, has_kptfile) in
        [("v1.0.0", "apps/db", false), ("v2.0.0", "apps/db", true), ("v3.0.0", "new/db", true)]
    {
        let mut files = vec![(format!("{directory}/a.yaml"), map("a", &[("v", tag), ("w", "x")]))];
        files.extend(has_kptfile.then(|| (format!("{directory}/Kptfile"), kptfile.to_owned())));
        upstream.release(&files, tag);
        upstream.tag(&format!("apps/{tag}"));
    }
    for name in ["home", "mine"] {
        std::fs::create_dir_all(folder.path(name)).expect("a folder");
    }
    commit(&folder.path("mine"), "begin");
    upstream
}

#[test]
fn a_package_of_kpt_goes_where_kpt_would_take_it() {
    if !has("kpt") {
        return;
    }
    let own = "pipeline:\n  mutators:\n  - image: example.com/ours:v1\n";
    for turn in [
        Turn {
            what: "the record wants another release",
            source: "apps/db@v1.0.0",
            edits: &[["ref: v1.0.0", "ref: v2.0.0"]],
            then: "v2.0.0",
        },
        Turn {
            what: "the directory moved",
            source: "apps/db@v1.0.0",
            edits: &[["directory: /apps/db", "directory: /new/db"], ["ref: v1.0.0", "ref: v3.0.0"]],
            then: "v3.0.0",
        },
        Turn { what: "a branch", source: "apps/db@v1.0.0", edits: &[["ref: v1.0.0", "ref: before"]], then: "before" },
    ] {
        let folder = Folder::new();
        let upstream = moving(&folder);
        git(&upstream.bare, &["branch", "before", "v2.0.0"]);
        kpt(&folder, &["pkg", "get", &upstream.source(turn.source), "db"]);
        let kptfile = folder.read("mine/db/Kptfile");
        let edited = turn.edits.iter().fold(kptfile, |text, [old, new]| text.replacen(old, new, 1));
        folder.write("mine/db/Kptfile", format!("{edited}{own}"));
        folder.write("mine/db/a.yaml", folder.read("mine/db/a.yaml").replace("w: x", "w: ours"));
        commit(&folder.path("mine"), "edit");
        git(&folder.0, &["clone", "--quiet", "mine", "other"]);
        kpt(&folder, &["pkg", "update", "db"]);
        folder.run(&["upgrade", "other/db"]).passed();
        let fields = |name: &str| -> Vec<String> {
            let text = folder.read(&format!("{name}/db/Kptfile")).replace(['"', '\''], "");
            let mut lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
            lines.sort();
            lines
        };
        assert_eq!(fields("other"), fields("mine"), "{}", turn.what);
        let text = folder.read("other/db/a.yaml");
        let value = if turn.then == "before" { "v2.0.0" } else { turn.then };
        assert!(text.contains(&format!("v: {value}\n")) && text.contains("w: ours"), "{}: {text}", turn.what);
        // The next turn is kpt's.
        commit(&folder.path("other"), "upgraded");
        let record = folder.read("other/db/Kptfile");
        assert!(record.contains(own) && record.contains("description: theirs"), "{}: {record}", turn.what);
    }
}

#[test]
fn what_kpt_got_follows_the_tags_of_the_directory_above() {
    if !has("kpt") {
        return;
    }
    let folder = Folder::new();
    let upstream = moving(&folder);
    kpt(&folder, &["pkg", "get", &upstream.source("apps/db@v1.0.0"), "db"]);
    assert!(folder.read("mine/db/Kptfile").contains("ref: apps/v1.0.0"), "kpt finds the tag of the directory above");
    git(&upstream.bare, &["tag", "--delete", "apps/v3.0.0"]);
    folder.run(&["upgrade", "mine/db"]).passed();
    let record = folder.read("mine/db/Kptfile");
    assert!(record.contains("ref: apps/v2.0.0") && record.contains(&upstream.commit("v2.0.0")), "{record}");
    commit(&folder.path("mine"), "upgraded");
    kpt(&folder, &["pkg", "update", "db@v2.0.0"]);
    assert_eq!(folder.read("mine/db/Kptfile"), record, "kpt finds nothing to do");
}

#[test]
fn what_kpt_got_at_a_commit_is_not_taken_back() {
    if !has("kpt") {
        return;
    }
    let folder = Folder::new();
    let upstream = moving(&folder);
    let after = upstream.state(&[("new/db/a.yaml".to_owned(), map("a", &[("v", "after")]))], "after");
    kpt(&folder, &["pkg", "get", &upstream.source(&format!("new/db@{after}")), "db"]);
    let before = folder.files("mine/db");
    assert!(folder.run(&["upgrade", "mine/db", "--check"]).passed().contains("there is no later release"));
    folder.run(&["upgrade", "mine/db"]).passed();
    assert_eq!(folder.files("mine/db"), before);
}

#[test]
fn a_kptfile_that_only_the_user_had_stays_the_users() {
    let folder = Folder::new();
    let upstream = moving(&folder);
    let ours = "# ours\npipeline: # why\n  mutators:\n  - image: example.com/ours:v1\n";
    let record = |tag: &str| {
        let git = |reference: &str| {
            format!(
                "  type: git\n  git:\n    repo: {}\n    directory: /apps/db\n    ref: {reference}\n",
                upstream.source("")
            )
        };
        let lock = git(&format!("apps/{tag}"));
        format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: db\n  labels: {{team: a}}\nupstream:\n{}upstreamLock:\n{lock}    commit: \"{}\"\n",
            git(tag),
            upstream.commit(tag)
        )
    };
    folder.write("db/Kptfile", record("v1.0.0") + ours);
    folder.write("db/a.yaml", map("a", &[("v", "v1.0.0"), ("w", "x")]));
    folder.run(&["upgrade", "db", "--allow-dirty", "--to", "v2.0.0"]).passed();
    let text = folder.read("db/Kptfile");
    assert!(text.contains(ours) && text.contains("labels: {team: a}"), "{text}");
    assert!(text.contains("info:\n  description: theirs\n") && text.contains("ref: apps/v2.0.0"), "{text}");
    // Back again, upstream takes its own part away, and nothing of the user's.
    folder.run(&["upgrade", "db", "--allow-dirty", "--to", "v1.0.0"]).passed();
    let text = folder.read("db/Kptfile");
    assert!(text.contains(ours) && text.contains("labels: {team: a}"), "{text}");
}

#[test]
fn a_kptfile_that_is_no_resource_brings_no_record() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let evil = "upstream: {type: git, git: {repo: https://example.com/evil, directory: /, ref: v9}}\n";
    let release = |tag: &str, kptfile: Option<&str>| {
        let mut files = vec![("d/a.yaml".to_owned(), map("a", &[("v", tag)]))];
        files.extend(kptfile.map(|text| ("d/Kptfile".to_owned(), text.replace("EVIL", evil))));
        upstream.release(&files, tag);
    };
    release("v1", None);
    let texts = [
        "EVIL",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nEVIL",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\nEVIL---\nEVIL",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\nold: &a\n  EVIL<<: *a\n",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\nEVILupstream: null\n",
        "\"upstream\": {git: {repo: https://example.com/evil, ref: v9}}\n",
        "<<: {upstream: {git: {repo: https://example.com/evil, ref: v9}}}\n",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\n---\nEVIL",
    ];
    for (at, text) in texts.iter().enumerate() {
        let (tag, name) = (format!("v2.0.{at}"), format!("p{at}"));
        release(&tag, Some(text));
        folder.run(&["get", &upstream.source("d@v1"), &name]).passed();
        let _ = folder.run(&["upgrade", &name, "--to", &tag, "--on-conflict", "take-updated"]);
        let line = folder.run(&["upgrade", &name, "--check", "--to", "v1"]);
        assert!(!format!("{line:?}").contains("example.com/evil"), "{text}: {line:?}");
    }
}

#[test]
fn a_release_of_one_file_has_no_part_in_the_kptfile() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let own = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\npipeline:\n  mutators:\n  - image: example.com/ours:v1\n";
    let evil = "---\napiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: p}\nupstream: {git: {repo: https://example.com/evil, directory: /, ref: v9}}\n";
    for (tag, more) in [("v1", ""), ("v2", ""), ("v3", evil)] {
        upstream.release(&[("all.yaml".to_owned(), map("a", &[("v", tag)]) + more)], tag);
    }
    folder.write("p/Kptfile", own);
    folder.write("p/a.yaml", map("a", &[("v", "v1")]));
    let source = upstream.source("all.yaml");
    folder.run(&["upgrade", "p", "--upstream", &source, "--from", "v1", "--to", "v2", "--allow-dirty"]).passed();
    let text = folder.read("p/Kptfile");
    assert!(
        text.contains("ours:v1") && text.contains("ref: v2") && folder.read("p/a.yaml").contains("v: v2"),
        "{text}"
    );
    let told = folder.run(&["upgrade", "p", "--to", "v3"]).failed(2);
    assert!(told.contains("a release must not write a Kptfile from elsewhere"), "{told}");
    assert_eq!(folder.read("p/Kptfile"), text);
}

#[test]
fn another_spelling_of_a_kptfile_brings_no_record() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: s}\n";
    let evil = "upstream: {git: {repo: https://example.com/evil, directory: /, ref: v9}}\n";
    let release = |tag: &str, name: &str, text: String| {
        let files = [("d/a.yaml".to_owned(), map("a", &[("v", tag)])), (format!("d/s/{name}"), text)];
        upstream.release(&files, tag);
    };
    release("v1", "Kptfile", kptfile.to_owned());
    release("v2", "kptfile", format!("{kptfile}{evil}"));
    folder.run(&["get", &upstream.source("d@v1"), "p"]).passed();
    let _ = folder.run(&["upgrade", "p", "--on-conflict", "take-updated"]);
    for (path, bytes) in folder.files("p") {
        assert!(!String::from_utf8_lossy(&bytes).contains("example.com/evil"), "{path}");
    }
}
