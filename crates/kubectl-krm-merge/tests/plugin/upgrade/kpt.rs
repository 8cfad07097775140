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
