//! A package is upgraded only if git has all of it.

use std::fs;
use std::path::Path;

use super::repository::{Upstream, commit, git};
use crate::support::{Folder, Ran, map};

/// What hides something from git, what git has not, and what the message names.
type Hides = (&'static str, fn(&Path), &'static str);

const EDIT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

#[test]
fn a_package_is_refused_if_it_is_not_sure_that_all_is_committed() {
    let all: [Hides; 10] = [
        (
            "files that the repository keeps elsewhere",
            |mine| {
                git(mine, &["config", "core.worktree", "/"]);
                fs::write(mine.join("p/a.yaml"), EDIT).expect("written");
            },
            "uncommitted changes in ",
        ),
        (
            "untracked files are not shown",
            |mine| {
                git(mine, &["config", "status.showUntrackedFiles", "no"]);
                fs::write(mine.join("p/new.txt"), "x").expect("written");
            },
            "uncommitted changes in new.txt",
        ),
        (
            "assume-unchanged",
            |mine| {
                git(mine, &["update-index", "--assume-unchanged", "p/a.yaml"]);
                fs::write(mine.join("p/a.yaml"), EDIT).expect("written");
            },
            "a.yaml, because it is marked `assume-unchanged`",
        ),
        (
            "skip-worktree",
            |mine| {
                git(mine, &["update-index", "--skip-worktree", "p/a.yaml"]);
                fs::write(mine.join("p/a.yaml"), EDIT).expect("written");
            },
            "a.yaml, because it is marked `skip-worktree`",
        ),
        ("a broken index", |mine| fs::write(mine.join(".git/index"), "broken").expect("written"), "git: "),
        (
            "an ignored file that the upgrade changes",
            |mine| {
                git(mine, &["rm", "--quiet", "--cached", "p/a.yaml"]);
                fs::write(mine.join("p/a.yaml"), map("a", &[("v", "'1'"), ("own", "x")])).expect("written");
                fs::write(mine.join(".gitignore"), "a.yaml\n").expect("written");
                commit(mine, "ignored");
            },
            "a.yaml: git ignores this file",
        ),
        (
            "an ignored package",
            |mine| {
                git(mine, &["rm", "-r", "--quiet", "--cached", "p"]);
                fs::write(mine.join("p/a.yaml"), map("a", &[("v", "'1'"), ("own", "x")])).expect("written");
                fs::write(mine.join(".gitignore"), "p/\n").expect("written");
                commit(mine, "ignored");
            },
            "git ignores this file",
        ),
        (
            "an edit in a submodule",
            |mine| {
                let sub = mine.join("p/sub");
                fs::create_dir(&sub).expect("a folder");
                fs::write(sub.join("s.yaml"), "a: 1\n").expect("written");
                commit(&sub, "sub");
                commit(mine, "with a submodule");
                git(mine, &["config", "diff.ignoreSubmodules", "all"]);
                fs::write(sub.join("s.yaml"), "a: 2\n").expect("written");
            },
            "the submodule sub: uncommitted changes in s.yaml",
        ),
        (
            "a commit in a submodule",
            |mine| {
                let sub = mine.join("p/sub");
                fs::create_dir(&sub).expect("a folder");
                commit(&sub, "sub");
                commit(mine, "with a submodule");
                fs::write(sub.join("s.yaml"), "a: 2\n").expect("written");
                commit(&sub, "more");
            },
            "uncommitted changes in sub",
        ),
        (
            "the files of a submodule without its repository",
            |mine| {
                let sub = mine.join("p/sub");
                fs::create_dir(&sub).expect("a folder");
                commit(&sub, "sub");
                commit(mine, "with a submodule");
                fs::remove_dir_all(sub.join(".git")).expect("removed");
                fs::write(sub.join("s.yaml"), "a: 2\n").expect("written");
            },
            "sub",
        ),
    ];
    for (what, hide, want) in all {
        let (folder, _) = package();
        hide(&folder.path("mine"));
        let before = folder.files("mine/p");
        let told = folder.run(&["upgrade", "mine/p", "--on-conflict", "keep-dest"]).failed(2);
        assert!(told.contains(want) && told.contains("--allow-dirty"), "{what}: {told}");
        assert_eq!(folder.files("mine/p"), before, "{what}");
        folder.run(&["upgrade", "mine/p", "--check"]).failed(1);
        folder.run(&["upgrade", "mine/p", "--allow-dirty", "--on-conflict", "keep-dest"]).passed();
    }
}

fn package() -> (Folder, Upstream) {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2")] {
        upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", value)]))], tag);
    }
    folder.run(&["get", &upstream.source("d@v1"), "mine/p"]).passed();
    commit(&folder.path("mine"), "got");
    (folder, upstream)
}

#[test]
fn a_repository_of_another_owner_is_not_looked_into() {
    let (folder, _) = package();
    folder.write("mine/p/a.yaml", EDIT);
    let run = |args: &[&str]| {
        let mut command = folder.command(args);
        Ran::of(command.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1").output().expect("the plugin runs"))
    };
    // It is offline, because the variable is for the server, too.
    folder.run(&["upgrade", "mine/p", "--check"]).failed(1);
    let told = run(&["upgrade", "mine/p", "--offline"]).failed(2);
    assert!(told.contains("Commit all changes first") && told.contains("dubious ownership"), "{told}");
    assert_eq!(folder.read("mine/p/a.yaml"), EDIT);
}

#[test]
fn a_repository_that_a_variable_names_is_not_guessed() {
    let (folder, _) = package();
    fs::rename(folder.path("mine/.git"), folder.path("elsewhere")).expect("moved");
    let mut command = folder.command(&["upgrade", "mine/p"]);
    command.env("GIT_DIR", folder.path("elsewhere")).env("GIT_WORK_TREE", folder.path("mine"));
    let told = Ran::of(command.output().expect("the plugin runs")).failed(2);
    assert!(told.contains("`GIT_DIR` must not be set"), "{told}");
}

#[test]
fn what_someone_saves_while_a_release_is_fetched_stays() {
    let (folder, _) = package();
    // The user's own configuration names a program that runs while git packs objects. It saves a file of the package.
    folder.write("edit", EDIT);
    let mut command = folder.command(&["upgrade", "mine/p"]);
    let config = format!("[uploadpack]\n\tpackObjectsHook = {}\n", folder.path("hook").display());
    folder.write("config", config);
    command.env("GIT_CONFIG_GLOBAL", folder.path("config"));
    let hook = format!(
        "#!/bin/sh\ncp {} {}\nexec \"$@\"\n",
        folder.path("edit").display(),
        folder.path("mine/p/a.yaml").display()
    );
    folder.write("hook", hook);
    fs::set_permissions(folder.path("hook"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("allowed");
    let told = Ran::of(command.output().expect("the plugin runs")).failed(2);
    assert!(told.contains("uncommitted changes in a.yaml. Commit all changes first"), "{told}");
    assert_eq!(folder.read("mine/p/a.yaml"), EDIT);
}

#[test]
fn a_package_in_another_one_may_be_upgraded_before_it() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2")] {
        let files = ["a", "b"].map(|name| (format!("{name}/{name}.yaml"), map(name, &[("v", value)])));
        upstream.release(&files, tag);
    }
    folder.run(&["get", &upstream.source("a@v1"), "mine/a"]).passed();
    folder.run(&["get", &upstream.source("b@v1"), "mine/a/b"]).passed();
    commit(&folder.path("mine"), "got");
    folder.run(&["upgrade", "mine/a/b", "mine/a"]).passed();
    assert!(folder.read("mine/a/b/b.yaml").contains("v: '2'") && folder.read("mine/a/a.yaml").contains("v: '2'"));
}

#[test]
fn what_is_committed_and_empty_submodules_are_no_hindrance() {
    let (folder, _) = package();
    let mine = folder.path("mine");
    // What git ignores and the upgrade does not change, and a submodule that was never fetched.
    fs::write(mine.join(".gitignore"), "build/\n*.log\n").expect("written");
    folder.write("mine/p/build/x.txt", "x");
    folder.write("mine/p/y.log", "y");
    let sub = mine.join("p/sub");
    fs::create_dir(&sub).expect("a folder");
    commit(&sub, "sub");
    commit(&mine, "more");
    fs::remove_dir_all(&sub).expect("removed");
    fs::create_dir(&sub).expect("a folder");
    folder.run(&["upgrade", "mine/p"]).passed();
    assert!(folder.read("mine/p/a.yaml").contains("v: '2'"));
}
