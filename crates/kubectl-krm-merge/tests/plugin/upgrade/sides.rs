//! A side of any command that is a release in git.

use std::fs;

use super::repository::{Upstream, commit, git};
use crate::support::{Folder, map};

fn upstream(folder: &Folder) -> Upstream {
    let upstream = Upstream::new(folder, "up.git");
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2")] {
        let files = [("d/a.yaml", map("a", &[("v", value)])), ("d/README.md", format!("release {value}\n"))];
        upstream.release(&files.map(|(path, text)| (path.to_owned(), text)), tag);
    }
    upstream
}

#[test]
fn a_side_may_be_a_release_of_a_remote_repository_or_of_the_own_one() {
    let folder = Folder::new();
    let upstream = upstream(&folder);
    git(&folder.0, &["clone", "--quiet", "up.git", "fork"]);
    folder.write("fork/sub/x", "");
    let [old, new] = ["d@v1", "d@v2"].map(|rest| upstream.source(rest));
    let path = upstream.bare.display().to_string();
    for (old, new, here) in [
        (old.as_str(), new.as_str(), "."),
        (&format!("{path}/d@v1"), &format!("{path}//d/@v2"), "."),
        ("./up.git/d@v1", "./up.git/d@main", "."),
        (".git/d@v1", ".git/d@v2", "fork"),
        (".git/d@HEAD~1", ".git/d@HEAD", "fork/sub"),
        (".git/d/a.yaml@v1", ".git/d/a.yaml@v2", "fork"),
    ] {
        let run = |args: &[&str]| {
            let mut command = folder.command(args);
            crate::support::Ran::of(command.current_dir(folder.path(here)).output().expect("the plugin runs"))
        };
        let diff = run(&["diff", old, new]);
        assert_eq!((diff.code, diff.stdout.contains("~ data.v: \"1\" -> \"2\"")), (Some(1), true), "{old}: {diff:?}");
        let extract = run(&["extract", "--values", old, new]);
        assert!(extract.passed().contains("v: '2'"), "{old}");
    }
    folder.write("mine/a.yaml", map("a", &[("v", "'1'"), ("mine", "x # why")]));
    folder.write("mine/README.md", "release '1'\n");
    folder.run(&["three-way", "--original", &old, "--updated", &new, "--dest", "mine", "--in-place"]).passed();
    assert_eq!(folder.read("mine/a.yaml"), map("a", &[("v", "'2'"), ("mine", "x # why")]));
    assert_eq!(folder.read("mine/README.md"), "release '2'\n");
    let told = folder.run(&["two-way", "--source", &old, "--dest", &new]).failed(2);
    assert!(told.contains("`--dest` must be on disk"), "{told}");
}

#[test]
fn the_executable_bit_comes_from_the_release() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let upstream = upstream(&folder);
    let work = folder.path("work-up.git");
    fs::write(work.join("d/run.sh"), "echo\n").expect("written");
    fs::set_permissions(work.join("d/README.md"), fs::Permissions::from_mode(0o755)).expect("allowed");
    fs::set_permissions(work.join("d/run.sh"), fs::Permissions::from_mode(0o755)).expect("allowed");
    commit(&work, "v3");
    git(&work, &["tag", "v3"]);
    git(&work, &["push", "--quiet", "bare", "--tags"]);
    folder.run(&["get", &upstream.source("d@v2"), "mine"]).passed();
    folder.run(&["upgrade", "mine"]).passed();
    let is_executable = |file: &str| fs::metadata(folder.path(file)).expect("there").permissions().mode() & 0o111 != 0;
    assert!(is_executable("mine/run.sh") && is_executable("mine/README.md") && !is_executable("mine/a.yaml"));
    folder.run(&["get", &upstream.source("d@v3"), "other"]).passed();
    assert!(is_executable("other/run.sh") && !is_executable("other/a.yaml"));
}

#[test]
fn a_path_that_is_no_path_is_told_with_the_form_of_a_release() {
    let folder = Folder::new();
    let upstream = upstream(&folder);
    git(&folder.0, &["clone", "--quiet", "up.git", "fork"]);
    let told = |side: &str| {
        let mut command = folder.command(&["three-way", "--original", side, "--updated", "d", "--dest", "d"]);
        crate::support::Ran::of(command.current_dir(folder.path("fork")).output().expect("the plugin runs")).failed(2)
    };
    for (side, want) in [
        ("v1", "write `.git/DIRECTORY@v1`, or `.git@v1` for its root"),
        ("https://example.com/r", "must be REPO.git/DIRECTORY@REF"),
        ("git@example.com:a/b", "there must be a file, a folder, or a release in git: REPO.git/DIRECTORY@REF"),
        (&upstream.source("d@v9"), "has no tag, branch or whole commit \"v9\"; the newest releases are v2, v1"),
        (&upstream.source("e@v1"), "must have \"e\" in v1, and has not"),
        ("nothing", "error: `--original` \"nothing\": there must be a file or a folder, but nothing is there"),
    ] {
        let told = told(side);
        assert!(told.contains(want), "{side}: {told}");
    }
}
