//! `upgrade --abort`: the package, its record and git's index are as before the run, whatever became of its conflicts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::repository::{Upstream, commit, git};
use crate::support::{Folder, Ran, map};

/// A package in `mine/p` whose upgrade changes, adds, deletes and moves files, with a conflict of each kind.
fn package() -> Folder {
    let folder = Folder::in_memory();
    let upstream = Upstream::new(&folder, "up.git");
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2")] {
        let moved = if tag == "v1" { "p/old.yaml" } else { "p/new/moved.yaml" };
        let mut files =
            ["a", "b", "gone", "c d"].map(|name| (format!("p/{name}.yaml"), map(&name[..1], &[("v", value)]))).to_vec();
        files.push((moved.to_owned(), map("moved", &[("w", "x"), ("v", value)])));
        files.push(("p/bin".to_owned(), format!("\0{value}")));
        files.push((format!("p/only-{tag}.yaml"), map(&format!("only-{tag}"), &[(tag, value)])));
        upstream.release(&files, tag);
    }
    folder.run(&["get", &upstream.source("p@v1"), "mine/p"]).passed();
    folder.write("mine/p/a.yaml", map("a", &[("v", "ours")]));
    folder.write("mine/p/c d.yaml", map("c", &[("v", "ours")]));
    folder.write("mine/p/bin", "\0ours");
    fs::set_permissions(folder.path("mine/p/b.yaml"), fs::Permissions::from_mode(0o755)).expect("set");
    fs::set_permissions(folder.path("mine/p/only-v1.yaml"), fs::Permissions::from_mode(0o755)).expect("set");
    fs::remove_file(folder.path("mine/p/gone.yaml")).expect("removed");
    commit(&folder.path("mine"), "edited");
    folder
}

/// All that must come back: what git says, and the files with their modes.
#[derive(Debug, PartialEq, Eq)]
struct State {
    status: String,
    index: String,
    files: Vec<(String, Vec<u8>, u32)>,
}

fn state(folder: &Folder, top: &str) -> State {
    let path = folder.path(top);
    let files = folder.files(top).into_iter().filter(|(path, _)| !path.starts_with(".git"));
    let mode = |file: &str| fs::metadata(path.join(file)).expect("there").permissions().mode() & 0o777;
    State {
        status: git(&path, &["status", "--untracked-files=all"]),
        index: git(&path, &["ls-files", "--stage"]),
        files: files.map(|(path, text)| (path.clone(), text, mode(&path))).collect(),
    }
}

/// What a person does between the upgrade and `--abort`.
type Meanwhile = fn(&Folder);

fn decide(folder: &Folder) {
    folder.write("mine/p/a.yaml", map("a", &[("v", "decided")]));
}

fn resolve(folder: &Folder, more: &[&str]) {
    folder.run(&[&["resolve", "mine/p", "--take", "theirs"], more].concat()).passed();
}

#[test]
fn all_is_as_before_whatever_became_of_the_conflicts() {
    let cases: [(&str, Meanwhile, &[&str]); 9] = [
        ("markers", |_| {}, &[]),
        ("half resolved", decide, &["mine/p/a.yaml"]),
        ("resolved", |folder| resolve(folder, &[]), &["mine/p/a.yaml", "mine/p/c d.yaml", "mine/p/gone.yaml"]),
        ("recorded", |folder| resolve(folder, &["--record"]), &["mine/p/.krm-merge.yaml"]),
        (
            "recorded elsewhere",
            |folder| resolve(folder, &["--record", "mine/decisions.yaml"]),
            &["mine/decisions.yaml"],
        ),
        (
            "resolved and staged",
            |folder| {
                resolve(folder, &["--git-add"]);
                git(&folder.path("mine"), &["add", "--all"]);
            },
            &["mine/p/gone.yaml"],
        ),
        (
            "the file beside is taken",
            |folder| {
                fs::rename(folder.path("mine/p/bin.updated"), folder.path("mine/p/bin")).expect("moved");
            },
            &["mine/p/bin"],
        ),
        (
            "files are deleted",
            |folder| {
                ["a.yaml", "b.yaml", "new/moved.yaml"]
                    .iter()
                    .for_each(|name| fs::remove_file(folder.path(&format!("mine/p/{name}"))).expect("removed"));
            },
            &[],
        ),
        (
            "an older note of git",
            |folder| {
                git(&folder.path("mine"), &["checkout", "--ours", "p/a.yaml"]);
            },
            &[],
        ),
    ];
    let folder = package();
    let before = state(&folder, "mine");
    for (about, meanwhile, lost) in cases {
        let told = folder.run(&["upgrade", "mine/p"]).failed(1);
        assert!(told.contains("or take all of it back with `kubectl krm-merge upgrade --abort mine/p`"), "{told}");
        let upgraded = state(&folder, "mine");
        assert!(upgraded.status.contains("both modified") && upgraded != before, "{about}: {upgraded:?}");
        meanwhile(&folder);
        let changed = state(&folder, "mine");
        let would = folder.run(&["upgrade", "--abort", "--dry-run", "mine/p"]);
        assert_eq!(state(&folder, "mine"), changed, "{about}");
        let ran = folder.run(&["upgrade", "--abort", "mine/p"]);
        assert!(
            would.stdout.starts_with("mine/p: would put back ") && ran.stdout.starts_with("mine/p: put back "),
            "{about}: {ran:?}"
        );
        assert_eq!(state(&folder, "mine"), before, "{about}");
        for file in lost {
            let is_told = |ran: &Ran| {
                ran.stderr.contains(&format!("info: {file}: what you changed or decided there since the run "))
            };
            assert!(is_told(&would) && is_told(&ran), "{about}, {file}: {ran:?}");
        }
        assert_eq!(ran.stderr.is_empty(), lost.is_empty(), "{about}: {ran:?}");
        // What was decided is in git.
        if let Some((_, rest)) = ran.stderr.split_once("`git cat-file blob ") {
            let object = rest.split('`').next().expect("a name");
            assert!(!git(&folder.path("mine"), &["cat-file", "blob", object]).is_empty());
        }
        let told = folder.run(&["upgrade", "--abort", "mine/p"]).failed(2);
        assert!(told.contains("mine/p: there is no run to undo"), "{told}");
    }
    // Then it can be upgraded.
    folder.run(&["upgrade", "mine/p"]).failed(1);
}

#[test]
fn what_was_staged_and_dirty_and_in_another_work_tree_comes_back() {
    let folder = package();
    git(&folder.path("mine"), &["worktree", "add", "--quiet", "../tree"]);
    for (file, value) in [("a", "staged"), ("b", "staged")] {
        folder.write(&format!("tree/p/{file}.yaml"), map(file, &[("v", value)]));
    }
    git(&folder.path("tree"), &["add", "--all"]);
    folder.write("tree/p/a.yaml", map("a", &[("v", "dirty")]));
    folder.write("tree/p/untracked.yaml", map("mine", &[]));
    let before = [state(&folder, "mine"), state(&folder, "tree")];
    folder.run(&["upgrade", "tree/p", "--allow-dirty"]).failed(1);
    assert_ne!(state(&folder, "tree"), before[1]);
    folder.run(&["upgrade", "--abort", "mine/p"]).failed(2);
    folder.run(&["upgrade", "--abort", "--all", "tree"]).passed();
    assert_eq!([state(&folder, "mine"), state(&folder, "tree")], before);
}

#[test]
fn a_merge_in_place_and_a_clean_upgrade_are_taken_back() {
    let folder = package();
    let before = state(&folder, "mine");
    let [v1, v2] = ["v1", "v2"].map(|tag| format!("file://{}/p@{tag}", folder.path("up.git").display()));
    let sides = ["--original", &v1, "--updated", &v2, "--in-place"];
    for args in [
        &[&["three-way", "--dest", "mine/p", "--on-conflict", "mark"][..], &sides].concat()[..],
        &[&["three-way", "--dest", "mine/p"][..], &sides].concat(),
        &["upgrade", "mine/p", "--on-conflict", "keep-dest"],
        &[
            "two-way",
            "--dest",
            "mine/p/b.yaml",
            "--in-place",
            "-p",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {v: 'x'}}",
        ],
    ] {
        let ran = folder.run(args);
        assert_ne!(state(&folder, "mine"), before, "{ran:?}");
        folder.run(&["upgrade", "--abort", "--all", "mine"]).passed();
        assert_eq!(state(&folder, "mine"), before, "{args:?}");
    }
}

#[test]
fn what_is_committed_stays_and_another_commit_does_not_matter() {
    let folder = package();
    let mine = folder.path("mine");
    let before = state(&folder, "mine");
    folder.run(&["upgrade", "mine/p"]).failed(1);
    folder.write("mine/other.txt", "x");
    git(&mine, &["add", "other.txt"]);
    // git commits nothing while files are unmerged.
    folder.run(&["resolve", "mine/p", "--take", "ours"]).passed();
    git(&mine, &["commit", "--quiet", "--message", "other"]);
    folder.run(&["upgrade", "--abort", "mine/p"]).passed();
    assert_eq!(state(&folder, "mine").files.len(), before.files.len() + 1);
    assert_eq!(state(&folder, "mine").status, before.status);
    folder.run(&["upgrade", "mine/p"]).failed(1);
    folder.run(&["resolve", "mine/p", "--take", "ours"]).passed();
    commit(&mine, "upgraded");
    let committed = state(&folder, "mine");
    let told = folder.run(&["upgrade", "--abort", "mine/p"]).failed(2);
    assert!(told.contains("a commit since the run has p/") && told.contains("git revert"), "{told}");
    assert_eq!(state(&folder, "mine"), committed);
    let told = folder.run(&["upgrade", "--abort", "mine"]).failed(2);
    assert!(told.contains("there is one of mine/p, so name that, or add `--all`"), "{told}");
    folder.write("outside/a.yaml", map("a", &[]));
    let told = folder.run(&["upgrade", "--abort", "outside"]).failed(2);
    assert!(told.contains("outside: it must be in a git repository"), "{told}");
    let told = folder.run(&["upgrade", "--abort", "mine/p", "--to", "v1"]).failed(2);
    assert!(told.contains("'--abort' cannot be used with '--to"), "{told}");
}

#[test]
fn a_note_that_no_run_wrote_leads_nowhere_else() {
    let folder = package();
    let mine = folder.path("mine");
    folder.run(&["upgrade", "mine/p"]).failed(1);
    let note = mine.join(".git/krm-merge/before");
    let good = fs::read_to_string(&note).expect("a note");
    folder.write("outside", "mine");
    for path in ["../outside", ".git/config", &folder.path("outside").to_string_lossy()] {
        fs::write(&note, good.replace("p/b.yaml", path)).expect("written");
        folder.run(&["upgrade", "--abort", "mine/p", "--dry-run"]).passed();
        folder.run(&["upgrade", "--abort", "mine/p"]).passed();
        assert_eq!(folder.read("outside"), "mine");
        assert!(folder.read("mine/.git/config").contains("[core]"));
    }
    fs::write(&note, "half").expect("written");
    folder.run(&["upgrade", "--abort", "mine/p"]).failed(2);
}

#[test]
fn the_lines_of_the_faq_take_an_upgrade_with_conflicts_back() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/faq.md")).expect("a page");
    let (_, answer) = page.split_once("## Can it undo?").expect("the question");
    let block = answer.split_once("```sh\n").and_then(|(_, rest)| rest.split_once("```")).expect("a block").0;
    let folder = package();
    let before = state(&folder, "mine");
    folder.run(&["upgrade", "mine/p"]).failed(1);
    for line in block.lines() {
        let args = line.strip_prefix("kubectl krm-merge ").expect("a command").replace("my-package", "p");
        let mut command = folder.command(&args.split(' ').collect::<Vec<_>>());
        Ran::of(command.current_dir(folder.path("mine")).output().expect("runs")).passed();
    }
    assert_eq!(state(&folder, "mine"), before);
}

/// Runs up to a change of the disk, and says whether it was killed there.
#[cfg(debug_assertions)]
fn is_killed(folder: &Folder, args: &[&str], at: usize) -> bool {
    let mut command = folder.command(args);
    Ran::of(command.env("KRM_MERGE_STOP_AT", at.to_string()).output().expect("the plugin runs")).code.is_none()
}

#[cfg(debug_assertions)]
#[test]
fn a_run_or_an_abort_that_is_killed_is_taken_back() {
    let folder = package();
    let before = state(&folder, "mine");
    let (upgrade, abort) = (["upgrade", "mine/p"], ["upgrade", "--abort", "mine/p"]);
    let kill_all = |args: &[&str], first: &dyn Fn()| {
        let mut kills = 0;
        for at in (1..).step_by(2) {
            first();
            let is_killed = is_killed(&folder, args, at);
            kills += usize::from(is_killed);
            let ran = folder.run(&abort);
            // Before the note there is nothing to take back, and after the end of an abort neither.
            let is_nothing = ran.stderr.contains("there is no run to undo");
            assert!(ran.code == Some(0) || is_nothing, "{args:?} at {at}: {ran:?}");
            assert_eq!(state(&folder, "mine"), before, "{args:?} at {at}: {ran:?}");
            if !is_killed {
                return kills;
            }
        }
        kills
    };
    assert!(kill_all(&upgrade, &|| ()) > 10);
    let upgraded = || {
        folder.run(&upgrade).failed(1);
        decide(&folder);
    };
    assert!(kill_all(&abort, &upgraded) > 10);
}
