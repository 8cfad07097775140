//! A package that takes a part of upstream, or keeps files of its own.

use super::repository::{Upstream, commit};
use crate::support::{Folder, map};

/// A release of four folders with a ConfigMap each, a file beside them, and a text.
fn release(value: &str) -> Vec<(String, String)> {
    let folder = |name: &&str| (format!("p/{name}/cm.yaml"), map(name, &[("v", value)]));
    let mut files: Vec<(String, String)> = ["a", "b", "c", "d"].iter().map(folder).collect();
    files.push(("p/top.yaml".to_owned(), map("top", &[("v", value)])));
    files.push(("p/README.md".to_owned(), format!("release {value}\n")));
    files
}

fn upstream(folder: &Folder) -> Upstream {
    let upstream = Upstream::new(folder, "up.git");
    ["'1'", "'2'", "'3'"]
        .iter()
        .zip(["v1", "v2", "v3"])
        .for_each(|(value, tag)| upstream.release(&release(value), tag));
    upstream
}

fn has(folder: &Folder, path: &str) -> bool {
    folder.path(path).exists()
}

#[test]
fn what_the_package_lacks_at_its_first_release_stays_away() {
    let folder = Folder::new();
    let upstream = upstream(&folder);
    // The team renamed a file.
    folder.write("mine/p/ours.yaml", map("top", &[("v", "'1'")]));
    folder.write("mine/p/a/cm.yaml", map("a", &[("v", "'1'"), ("own", "x")]));
    folder.write("mine/p/b/cm.yaml", map("b", &[("v", "'1'")]));
    commit(&folder.path("mine"), "copied");
    let ran = folder.run(&["upgrade", "mine/p", "--upstream", &upstream.source("p"), "--from", "v1", "--to", "v2"]);
    let want = "info: mine/p: it does not have README.md and 2 more of v1, so that stays away: `paths` in its .krm-merge.yaml says what it takes";
    assert!(ran.stderr.contains(want), "{ran:?}");
    ran.passed();
    assert_eq!(folder.read("mine/p/a/cm.yaml"), map("a", &[("v", "'2'"), ("own", "x")]));
    assert_eq!(folder.read("mine/p/ours.yaml"), map("top", &[("v", "'2'")]));
    for away in ["README.md", "c", "d", "top.yaml"] {
        assert!(!has(&folder, &format!("mine/p/{away}")), "{away}");
    }
    let rules = folder.read("mine/p/.krm-merge.yaml");
    assert!(rules.contains("  paths:\n  - '!README.md'\n  - '!c/'\n  - '!d/'\n"), "{rules}");
    commit(&folder.path("mine"), "v2");
    let ran = folder.run(&["upgrade", "mine/p"]);
    assert!(ran.stderr.is_empty(), "{ran:?}");
    ran.passed();
    assert!(!has(&folder, "mine/p/c") && folder.read("mine/p/b/cm.yaml").contains("v: '3'"));
}

#[test]
fn a_package_takes_the_paths_that_it_was_got_with() {
    let folder = Folder::new();
    let upstream = upstream(&folder);
    folder.run(&["get", &upstream.source("p@v1"), "mine/p", "--path", "a", "--path", "*.yaml"]).passed();
    let files: Vec<String> = folder.files("mine/p").into_keys().collect();
    assert_eq!(files, [".krm-merge.yaml", "a/cm.yaml", "top.yaml"]);
    commit(&folder.path("mine"), "got");
    folder.run(&["upgrade", "mine/p"]).passed();
    let files: Vec<String> = folder.files("mine/p").into_keys().collect();
    assert_eq!(files, [".krm-merge.yaml", "a/cm.yaml", "top.yaml"]);
    assert!(folder.read("mine/p/top.yaml").contains("v: '3'"));
    let told = folder.run(&["get", &upstream.source("p@v1"), "q", "--path", "nothing"]).failed(2);
    assert!(told.contains("must have a file that `--path` takes") && !has(&folder, "q"), "{told}");
    let told = folder.run(&["get", &upstream.source("p@v1"), "q", "--path", "../a"]).failed(2);
    assert!(told.contains("`--path`: \"../a\" must be a path in the package"), "{told}");
}

#[test]
fn what_the_package_keeps_is_left_alone() {
    let folder = Folder::new();
    let upstream = upstream(&folder);
    folder.run(&["get", &upstream.source("p@v1"), "mine/p"]).passed();
    folder.write("mine/p/a/cm.yaml", map("a", &[("v", "ours")]));
    let rules = folder.read("mine/p/.krm-merge.yaml");
    folder.write("mine/p/.krm-merge.yaml", rules.replace("spec:\n", "spec:\n  keep: [a/, README.md] # ours\n"));
    commit(&folder.path("mine"), "edited");
    folder.run(&["upgrade", "mine/p"]).passed();
    assert!(folder.read("mine/p/a/cm.yaml").contains("v: ours"));
    assert_eq!(folder.read("mine/p/README.md"), "release '1'\n");
    assert!(folder.read("mine/p/b/cm.yaml").contains("v: '3'"));
    assert!(folder.read("mine/p/.krm-merge.yaml").contains("  keep: [a/, README.md] # ours\n"));
}

#[test]
fn a_package_may_be_one_file_of_upstream() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let text = |value: &str, more: &str| format!("{}{more}", map("a", &[("v", value)]));
    let more = format!("---\n{}", map("new", &[("v", "x")]));
    upstream.release(&[("m/install.yaml".to_owned(), text("'1'", ""))], "v1");
    upstream.release(&[("m/install.yaml".to_owned(), text("'2'", &more))], "v2");
    let work = folder.path("mine");
    std::fs::create_dir(&work).expect("a folder");
    let mut get = folder.command(&["get", &upstream.source("m/install.yaml@v1")]);
    crate::support::Ran::of(get.current_dir(&work).output().expect("runs")).passed();
    let files: Vec<String> = folder.files("mine/install").into_keys().collect();
    assert_eq!(files, [".krm-merge.yaml", "install.yaml"]);
    folder.write("mine/install/install.yaml", map("a", &[("v", "'1'"), ("own", "x")]));
    commit(&work, "got");
    folder.run(&["upgrade", "mine/install"]).passed();
    let want = format!("{}{more}", map("a", &[("v", "'2'"), ("own", "x")]));
    assert_eq!(folder.read("mine/install/install.yaml"), want);
}

#[test]
fn a_deletion_that_was_decided_stays_decided() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2"), ("'3'", "v3")] {
        let files = ["gone", "a"].map(|name| (format!("p/{name}.yaml"), map(name, &[("v", value)])));
        upstream.release(&files, tag);
    }
    folder.run(&["get", &upstream.source("p@v1"), "mine/p"]).passed();
    std::fs::remove_file(folder.path("mine/p/gone.yaml")).expect("removed");
    commit(&folder.path("mine"), "without it");
    folder.run(&["upgrade", "mine/p", "--to", "v2"]).failed(1);
    folder.run(&["resolve", "mine/p", "--take", "ours", "--record"]).passed();
    let rules = folder.read("mine/p/.krm-merge.yaml");
    assert!(rules.contains("    take: Dest\n    when:\n      dest: null\n"), "{rules}");
    commit(&folder.path("mine"), "resolved");
    folder.run(&["upgrade", "mine/p"]).passed();
    assert!(!has(&folder, "mine/p/gone.yaml") && folder.read("mine/p/a.yaml").contains("v: '3'"));
}

#[test]
fn what_upstream_moves_out_of_the_part_stays_and_is_told() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let file = |path: &str, name: &str, value: &str| (format!("p/{path}"), map(name, &[("v", value), ("w", "x")]));
    upstream
        .release(&[file("in/a.yaml", "a", "'1'"), file("out/x.yaml", "x", "'1'"), file("in/b.yaml", "b", "'1'")], "v1");
    upstream
        .release(&[file("out/a.yaml", "a", "'2'"), file("in/x.yaml", "x", "'2'"), file("in/b.yaml", "b", "'2'")], "v2");
    folder.run(&["get", &upstream.source("p@v1"), "mine/p", "--path", "in"]).passed();
    folder.write("mine/p/in/a.yaml", map("a", &[("v", "'1'"), ("w", "ours")]));
    commit(&folder.path("mine"), "edited");
    let ran = folder.run(&["upgrade", "mine/p"]);
    let want = "warning: mine/p: upstream moved in/a.yaml to out/a.yaml, which `paths` in its .krm-merge.yaml does not take, so yours stays as it is\n";
    assert!(ran.stderr.contains(want), "{ran:?}");
    ran.passed();
    assert_eq!(folder.read("mine/p/in/a.yaml"), map("a", &[("v", "'1'"), ("w", "ours")]));
    assert_eq!(folder.read("mine/p/in/x.yaml"), map("x", &[("v", "'2'"), ("w", "x")]));
    assert!(folder.read("mine/p/in/b.yaml").contains("v: '2'"));
    let rules = folder.read("mine/p/.krm-merge.yaml");
    folder.write("mine/p/.krm-merge.yaml", rules.replace("  - in\n", "  - inn\n").replace("ref: v2", "ref: v1"));
    let told = folder.run(&["upgrade", "mine/p", "--allow-dirty", "--to", "v1"]).failed(2);
    assert!(told.contains("`paths` in its .krm-merge.yaml must take a file of v1"), "{told}");
}

#[test]
fn a_resource_of_the_team_is_none_that_it_left_out() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let text = |name: &str, value: &str| map(name, &[("image", value), ("more", "x"), ("and", "y"), ("last", "z")]);
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2")] {
        let files = ["web", "api"].map(|name| (format!("p/{name}.yaml"), text(name, value)));
        upstream.release(&files, tag);
    }
    folder.write("mine/p/web.yaml", text("web", "'1'"));
    folder.write("mine/p/worker.yaml", text("worker", "'7'"));
    commit(&folder.path("mine"), "copied");
    let args = ["upgrade", "mine/p", "--upstream", &upstream.source("p"), "--from", "v1"];
    folder.run(&args).passed();
    assert_eq!(folder.read("mine/p/worker.yaml"), text("worker", "'7'"));
    assert!(folder.read("mine/p/.krm-merge.yaml").contains("  paths:\n  - '!api.yaml'\n"));
}
