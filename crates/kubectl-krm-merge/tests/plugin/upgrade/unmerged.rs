//! git knows which files an upgrade left in conflict, and nothing is lost that nobody could bring back.

use super::repository::{Upstream, commit, git};
use crate::support::{Folder, map};

/// A package with an edit that conflicts with the second release.
fn package(name: &str) -> Folder {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2")] {
        let files = ["a", "b", "gone"].map(|name| (format!("p/{name}.yaml"), map(name, &[("v", value)])));
        upstream.release(&files, tag);
    }
    folder.run(&["get", &upstream.source("p@v1"), name]).passed();
    folder.write(&format!("{name}/a.yaml"), map("a", &[("v", "ours")]));
    std::fs::remove_file(folder.path(&format!("{name}/gone.yaml"))).expect("removed");
    folder
}

/// The unmerged files of the index: their paths and stages.
fn stages(mine: &std::path::Path) -> Vec<String> {
    let told = git(mine, &["ls-files", "--unmerged"]);
    told.lines()
        .map(|line| {
            line.split_once(' ').and_then(|(_, rest)| rest.split_once(' ')).expect("an entry").1.replace('\t', " ")
        })
        .collect()
}

#[test]
fn the_index_has_the_three_versions_until_the_conflict_is_resolved() {
    let folder = package("mine/p");
    let mine = folder.path("mine");
    commit(&mine, "edited");
    folder.run(&["upgrade", "mine/p"]).failed(1);
    assert_eq!(stages(&mine), ["1 p/a.yaml", "2 p/a.yaml", "3 p/a.yaml", "1 p/gone.yaml", "3 p/gone.yaml"]);
    for (stage, value) in [(1, "'1'"), (2, "ours"), (3, "'2'")] {
        let text = git(&mine, &["cat-file", "blob", &format!(":{stage}:p/a.yaml")]);
        assert_eq!(text + "\n", map("a", &[("v", value)]));
    }
    let status = git(&mine, &["status", "--porcelain"]);
    assert!(
        status.contains("UU p/a.yaml") && status.contains("DU p/gone.yaml") && status.contains(" M p/b.yaml"),
        "{status}"
    );
    folder.run(&["resolve", "mine/p", "--take", "theirs"]).passed();
    assert_eq!(stages(&mine), [""; 0]);
    // Nothing is staged, as after an upgrade without conflicts.
    assert_eq!(git(&mine, &["diff", "--cached", "--name-only"]), "");
    assert_eq!(git(&mine, &["diff", "--name-only"]), "p/.krm-merge.yaml\np/a.yaml\np/b.yaml");
}

#[test]
fn the_stages_of_a_merge_of_git_are_left_to_it() {
    for merge in [
        &["merge", "--quiet", "theirs"][..],
        &["merge", "--quiet", "--squash", "theirs"],
        &["cherry-pick", "-n", "theirs"],
    ] {
        stages_of_git(merge);
    }
}

fn stages_of_git(merge: &[&str]) {
    let folder = Folder::new();
    let mine = folder.path("mine");
    for (branch, value) in [("main", "'1'"), ("theirs", "'2'"), ("ours", "'3'")] {
        if branch != "main" {
            git(&mine, &["checkout", "--quiet", "-b", branch, "main"]);
        }
        folder.write("mine/a.yaml", map("a", &[("v", value)]));
        commit(&mine, branch);
    }
    let merge = std::process::Command::new("git").args(merge).current_dir(&mine).output();
    assert!(!merge.expect("git runs").status.success());
    let mut resolve = folder.command(&["resolve", "--take", "theirs"]);
    crate::support::Ran::of(resolve.current_dir(&mine).output().expect("runs")).passed();
    assert_eq!(stages(&mine), ["1 a.yaml", "2 a.yaml", "3 a.yaml"]);
}

#[test]
fn what_was_staged_comes_back_and_what_an_editor_decided_counts() {
    let folder = package("mine/p");
    let mine = folder.path("mine");
    commit(&mine, "edited");
    folder.write("mine/p/a.yaml", map("a", &[("v", "staged")]));
    git(&mine, &["add", "p/a.yaml"]);
    folder.write("mine/p/a.yaml", map("a", &[("v", "edited")]));
    folder.run(&["upgrade", "mine/p", "--allow-dirty"]).failed(1);
    assert_eq!(git(&mine, &["cat-file", "blob", ":2:p/a.yaml"]) + "\n", map("a", &[("v", "edited")]));
    // Someone decides in an editor.
    folder.write("mine/p/a.yaml", map("a", &[("v", "decided")]));
    std::fs::remove_file(folder.path("mine/p/gone.yaml")).expect("removed");
    let told = folder.run(&["resolve", "mine/p"]).passed();
    assert_eq!((stages(&mine), told), (Vec::<String>::new(), "no conflict to resolve\n".to_owned()));
    assert_eq!(git(&mine, &["cat-file", "blob", ":p/a.yaml"]) + "\n", map("a", &[("v", "staged")]));
    assert!(!mine.join(".git/krm-merge/unmerged").exists());
}

#[test]
fn a_conflict_in_a_file_that_upstream_moved_has_three_versions_at_its_new_path() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    upstream.release(&[("p/old.yaml".to_owned(), map("a", &[("v", "'1'"), ("w", "x")]))], "v1");
    upstream.release(&[("p/new.yaml".to_owned(), map("a", &[("v", "'2'"), ("w", "x")]))], "v2");
    folder.run(&["get", &upstream.source("p@v1"), "mine/p"]).passed();
    folder.write("mine/p/old.yaml", map("a", &[("v", "ours"), ("w", "x")]));
    let mine = folder.path("mine");
    commit(&mine, "edited");
    folder.run(&["upgrade", "mine/p"]).failed(1);
    assert_eq!(stages(&mine), ["1 p/new.yaml", "2 p/new.yaml", "3 p/new.yaml"]);
    assert_eq!(git(&mine, &["cat-file", "blob", ":2:p/new.yaml"]) + "\n", map("a", &[("v", "ours"), ("w", "x")]));
    folder.run(&["resolve", "mine/p", "--take", "ours"]).passed();
    assert_eq!(stages(&mine), [""; 0]);
}

#[test]
fn a_repository_of_sha256_is_told_too_and_one_at_work_is_left_alone() {
    let folder = package("mine/p");
    let mine = folder.path("mine");
    git(&mine, &["init", "--quiet", "--object-format=sha256"]);
    commit(&mine, "edited");
    std::fs::write(mine.join(".git/MERGE_HEAD"), format!("{}\n", git(&mine, &["rev-parse", "HEAD"]))).expect("written");
    let told = folder.run(&["upgrade", "mine/p"]).failed(2);
    assert!(told.contains("git has not finished a merge, cherry-pick, revert or rebase (MERGE_HEAD)"), "{told}");
    std::fs::remove_file(mine.join(".git/MERGE_HEAD")).expect("removed");
    let told = folder.run(&["upgrade", "mine/p"]).failed(1);
    assert!(!told.contains("warning") && stages(&mine).len() == 5, "{told}");
}

#[test]
fn markers_are_to_be_resolved_and_not_committed() {
    let folder = package("mine/p");
    commit(&folder.path("mine"), "edited");
    folder.run(&["upgrade", "mine/p"]).failed(1);
    for args in [&["upgrade", "mine/p"][..], &["upgrade", "mine/p", "--to", "v1"], &["upgrade", "mine/p", "--check"]] {
        let told = folder.run(args).failed(2);
        assert!(told.contains("a.yaml: ") && told.contains("resolve") && !told.contains("commit it"), "{told}");
    }
}

#[test]
fn outside_of_a_repository_only_what_nobody_edited_is_replaced() {
    let folder = package("p");
    let before = folder.files("p");
    let told = folder.run(&["upgrade", "p", "--on-conflict", "take-updated"]).failed(2);
    assert!(
        told.contains("p/a.yaml: it is in no git repository, so nothing would bring it back")
            && told.contains("--allow-dirty"),
        "{told}"
    );
    assert_eq!(folder.files("p"), before);
    // The release that the package has brings back what is as in it.
    folder.run(&["upgrade", "p", "--on-conflict", "keep-dest"]).passed();
    assert!(folder.read("p/b.yaml").contains("v: '2'") && folder.read("p/a.yaml").contains("v: ours"));
}
