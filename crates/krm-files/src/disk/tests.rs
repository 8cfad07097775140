use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("krm-merge-disk-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn replacement<'r>(file: PathBuf, old: Option<&'r str>, new: Option<&'r str>) -> Replacement<'r> {
    let bytes = |text: Option<&'r str>| text.map(|text| text.as_bytes().into());
    Replacement { file, old: bytes(old), new: bytes(new), executable: None }
}

fn stage<'r>(run: &mut DiskRun<'r>, replacement: &'r Replacement<'r>) {
    if let (Some(out), Some(new)) = (run.stage(replacement).expect("staged"), &replacement.new) {
        fill(&out, new).expect("written");
    }
}

/// A replacement of each kind, and one whose file an editor may change.
fn of_all_kinds(root: &Path) -> [Replacement<'static>; 4] {
    [
        replacement(root.join("a"), Some("old"), Some("new")),
        replacement(root.join("sub/new"), None, Some("new")),
        replacement(root.join("gone"), Some("old"), None),
        replacement(root.join("z"), Some("old"), None),
    ]
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
    let root = folder("changed");
    fs::write(root.join("a"), "now").expect("written");
    fs::write(root.join("b"), "then").expect("written");
    let all = [
        replacement(root.join("b"), Some("then"), Some("new")),
        replacement(root.join("a"), Some("then"), Some("new")),
        replacement(root.join("sub/c"), None, Some("new")),
    ];
    let error = format!("{:#}", write(&root, &all, || Ok(())).expect_err("it changed"));
    assert!(
        error.starts_with("nothing is written: ") && error.ends_with("/a: the file changed while it was merged"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(root.join("b")).expect("there"), "then");
    assert_eq!(names(&root), ["a", "b"]);
    fs::remove_dir_all(root).expect("removed");
}

#[test]
fn a_write_that_fails_in_the_middle_leaves_everything_as_it_was() {
    let root = folder("middle");
    for name in ["a", "gone"] {
        fs::write(root.join(name), "old").expect("written");
    }
    // Each of the last two may be there, but not both.
    let all = [
        replacement(root.join("a"), Some("old"), Some("new")),
        replacement(root.join("gone"), Some("old"), None),
        replacement(root.join("new"), None, Some("new")),
        replacement(root.join("x"), None, Some("new")),
        replacement(root.join("x/y"), None, Some("new")),
    ];
    let error = format!("{:#}", write(&root, &all, || Ok(())).expect_err("x is a folder by then"));
    assert!(error.contains("/x: "), "{error}");
    assert_eq!(names(&root), ["a", "gone"]);
    for name in ["a", "gone"] {
        assert_eq!(fs::read_to_string(root.join(name)).expect("there"), "old");
    }
    fs::remove_dir_all(root).expect("removed");
}

#[cfg(unix)]
#[test]
fn what_was_done_is_undone_where_a_later_step_fails() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let root = folder("undone");
    for name in ["a", "gone", "z"] {
        fs::write(root.join(name), "old").expect("written");
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o600)).expect("set");
    }
    let inode = || fs::metadata(root.join("gone")).expect("there").ino();
    let before = inode();
    let all = of_all_kinds(&root);
    let mut run = DiskRun::new(FolderRoot::open(&root).expect("a folder"), None);
    all.iter().for_each(|replacement| stage(&mut run, replacement));
    // An editor was faster.
    fs::write(root.join("z"), "mine").expect("written");
    let (at, error) = run.commit().expect_err("z changed");
    assert_eq!((at, error.to_string()), (root.join("z"), "the file changed while it was merged".to_owned()));
    assert!(run.committed.len() == 3 && !root.join("gone").exists());
    assert_eq!(run.undo(), Vec::<PathBuf>::new());
    drop(run);
    assert_eq!(names(&root), ["a", "gone", "z"]);
    for (name, text) in [("a", "old"), ("gone", "old"), ("z", "mine")] {
        assert_eq!(fs::read_to_string(root.join(name)).expect("there"), text);
        assert_eq!(fs::metadata(root.join(name)).expect("there").permissions().mode() & 0o777, 0o600, "{name}");
    }
    assert_eq!(inode(), before);
    fs::remove_dir_all(root).expect("removed");
}

/// Moves a folder away, and leads its path to another one.
#[cfg(unix)]
fn swap(folder: &Path, moved: &Path, to: &Path) {
    fs::rename(folder, moved).expect("moved");
    std::os::unix::fs::symlink(to, folder).expect("a link");
}

/// The files below a folder, with their texts.
#[cfg(unix)]
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for name in names(folder) {
        let path = folder.join(name);
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push((path.clone(), fs::read_to_string(path).expect("there")));
        }
    }
    files
}

/// A package whose `sub/deep` changes, and another folder with the same files. While the changes are written, for the `at`th time that
/// the run asks whether to go on, a folder of the package is moved to `moved`, and a link to the folder `to` takes its place.
#[cfg(unix)]
fn swapped(top: &Path, swapped: &str, to: &str, at: usize) -> Result<()> {
    for folder in
        ["package", "other"].into_iter().flat_map(|f| [f.to_owned(), format!("{f}/sub"), format!("{f}/sub/deep")])
    {
        fs::create_dir_all(top.join(&folder)).expect("a folder");
        for name in ["a", "b", "gone"] {
            fs::write(top.join(&folder).join(name), "old").expect("written");
        }
    }
    let deep = top.join("package/sub/deep");
    let all = [
        replacement(deep.join("a"), Some("old"), Some("new")),
        replacement(deep.join("b"), Some("old"), Some("new")),
        replacement(deep.join("c/d"), None, Some("new")),
        replacement(deep.join("gone"), Some("old"), None),
    ];
    let asked = std::cell::Cell::new(0);
    write(&top.join("package"), &all, || {
        asked.set(asked.get() + 1);
        if asked.get() == at {
            swap(&top.join(swapped), &top.join("moved"), &top.join(to));
        }
        Ok(())
    })
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_swapped_for_a_link_keeps_the_run_out() {
    for (path, to) in [
        ("package/sub", "other/sub"),
        ("package/sub", "moved"),
        ("package/sub/deep", "other/sub/deep"),
        ("package/sub/deep", "moved"),
    ] {
        for at in 1..=5 {
            let top = folder("swapped");
            let error = format!("{:#}", swapped(&top, path, to, at).expect_err("a link"));
            assert!(error.contains(&format!("/{path} is a symbolic link")), "{path} {to} {at}: {error}");
            assert_eq!(files(&top.join("other")).len(), 9);
            for (file, text) in files(&top.join("other")).into_iter().chain(files(&top.join("moved"))) {
                let name = file.file_name().and_then(OsStr::to_str).expect("a name");
                assert!(text == "old" && ["a", "b", "gone"].contains(&name), "{path} {to} {at}: {file:?} {text}");
            }
            fs::remove_dir_all(top).expect("removed");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_package_that_is_moved_is_written_where_it_is() {
    for at in 1..=5 {
        let top = folder("moved");
        swapped(&top, "package", "other", at).expect("the run holds the package");
        assert!(files(&top.join("other")).iter().all(|(_, text)| text == "old"), "{at}");
        let deep = top.join("moved/sub/deep");
        let new = |name: &str| (deep.join(name), "new".to_owned());
        assert_eq!(files(&deep), [new("a"), new("b"), new("c/d")], "{at}");
        fs::remove_dir_all(top).expect("removed");
    }
}

#[cfg(unix)]
#[test]
fn the_folder_of_a_package_is_not_opened_through_a_link() {
    let top = folder("linked");
    for folder in ["root", "other"] {
        fs::create_dir(top.join(folder)).expect("a folder");
        fs::write(top.join(folder).join("a"), "old").expect("written");
        fs::write(top.join(folder).join(".krm-merge-1-0.tmp"), "").expect("written");
    }
    let root = top.join("root");
    let leftovers = leftovers_in(&root);
    swap(&root, &top.join("moved"), &top.join("other"));
    let all = [replacement(root.join("a"), Some("old"), Some("new"))];
    for done in [write(&root, &all, || Ok(())), look(&root, &all), clean(&root, &leftovers), clean(&top, &leftovers)] {
        let error = format!("{:#}", done.expect_err("a link"));
        assert!(error.contains("/root is a symbolic link"), "{error}");
    }
    assert_eq!(names(&top.join("other")), [".krm-merge-1-0.tmp", "a"]);
    assert_eq!(fs::read_to_string(top.join("other/a")).expect("there"), "old");
    fs::remove_dir_all(top).expect("removed");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_written_anew_runs_as_nobody_else() {
    use std::os::unix::fs::PermissionsExt;
    let root = folder("bits");
    let mode = |name: &str| fs::metadata(root.join(name)).expect("there").permissions().mode() & 0o7777;
    for (bits, want) in [(0o4755, 0o755), (0o2640, 0o640), (0o1604, 0o604), (0o7711, 0o711)] {
        fs::write(root.join("a"), "old").expect("written");
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(bits)).expect("set");
        let all =
            [replacement(root.join("a"), Some("old"), Some("new")), replacement(root.join("a/b"), None, Some("new"))];
        let mut run = DiskRun::new(FolderRoot::open(&root).expect("a folder"), None);
        stage(&mut run, &all[0]);
        run.commit().expect("committed");
        assert_eq!(mode("a"), want);
        // What is undone is as it was, with every bit.
        assert_eq!(run.undo(), Vec::<PathBuf>::new());
        assert_eq!((mode("a"), names(&root)), (bits, vec!["a".to_owned()]));
        drop(run);
        write(&root, &all[..1], || Ok(())).expect("written");
        assert_eq!(mode("a"), want);
    }
    fs::remove_dir_all(root).expect("removed");
}

#[test]
fn a_file_that_someone_made_meanwhile_is_not_overwritten() {
    let root = folder("made");
    let all = [replacement(root.join("new"), None, Some("new"))];
    let mut run = DiskRun::new(FolderRoot::open(&root).expect("a folder"), None);
    stage(&mut run, &all[0]);
    fs::write(root.join("new"), "mine").expect("written");
    run.commit().expect_err("it is there");
    drop(run);
    assert_eq!(names(&root), ["new"]);
    assert_eq!(fs::read_to_string(root.join("new")).expect("there"), "mine");
    fs::remove_dir_all(root).expect("removed");
}

#[test]
fn a_run_that_shall_end_leaves_everything_as_it_was() {
    let root = folder("end");
    for name in ["a", "b", "gone"] {
        fs::write(root.join(name), "old").expect("written");
    }
    let all = [
        replacement(root.join("a"), Some("old"), Some("new")),
        replacement(root.join("gone"), Some("old"), None),
        replacement(root.join("sub/deep/new"), None, Some("new")),
        replacement(root.join("b"), Some("old"), Some("new")),
    ];
    let asked = std::cell::Cell::new(0);
    for end in 0..=all.len() {
        asked.set(0);
        let go_on = || {
            asked.set(asked.get() + 1);
            if asked.get() > end { bail!("the end") } else { Ok(()) }
        };
        assert_eq!(write(&root, &all, go_on).expect_err("ended").to_string(), "the end");
        assert_eq!(names(&root), ["a", "b", "gone"], "{end}");
        for name in ["a", "b", "gone"] {
            assert_eq!(fs::read_to_string(root.join(name)).expect("there"), "old");
        }
    }
    asked.set(0);
    let count = || {
        asked.set(asked.get() + 1);
        Ok(())
    };
    write(&root, &all, count).expect("written");
    assert_eq!(asked.get(), all.len() + 1, "once for each file, and once more before the first rename");
    assert_eq!(names(&root), ["a", "b", "sub"]);
    fs::remove_dir_all(root).expect("removed");
}

/// The run fails, and is killed when it has begun to put the files back.
#[test]
fn what_is_half_undone_is_undone_by_the_next_run() {
    for done in 0..=3 {
        let root = folder("half-undone");
        for name in ["a", "gone", "z"] {
            fs::write(root.join(name), "old").expect("written");
        }
        let all = of_all_kinds(&root);
        let mut run = DiskRun::new(FolderRoot::open(&root).expect("a folder"), None);
        all.iter().for_each(|replacement| stage(&mut run, replacement));
        run.note().expect("noted");
        fs::write(root.join("z"), "mine").expect("written");
        run.commit().expect_err("z changed");
        let committed = std::mem::take(&mut run.committed);
        let back: Vec<_> = committed.iter().rev().map(|staged| run.way_back(staged).expect("a way")).collect();
        run.write_journal(Journal::new(back.clone(), Ended::TakenBack)).expect("written");
        for (staged, entry) in committed.iter().rev().zip(&back).take(done) {
            let (path, _) = parts(&staged.of.file).expect("a file");
            entry.carry_out(&run.folder(path).expect("a folder")).expect("put back");
        }
        std::mem::forget(run);
        let repaired = repair(&root, |_, _| Ok(())).expect("repaired");
        let [Repaired { folder, finished: Finished { end, files } }] = &repaired[..] else { panic!("{repaired:?}") };
        assert_eq!((folder, *end), (&root, Ended::TakenBack));
        let back = [("gone", Step::Rename), ("sub/new", Step::Remove), ("a", Step::Rename)].into_iter().skip(done);
        assert_eq!(*files, back.map(|(file, step)| (PathBuf::from(file), step)).collect::<Vec<_>>());
        assert_eq!(names(&root), ["a", "gone", "z"], "{done}");
        for (name, text) in [("a", "old"), ("gone", "old"), ("z", "mine")] {
            assert_eq!(fs::read_to_string(root.join(name)).expect("there"), text, "{done}");
        }
        fs::remove_dir_all(root).expect("removed");
    }
}

#[test]
fn a_file_without_a_way_back_is_named() {
    let root = folder("no-way");
    fs::write(root.join("a"), "old").expect("written");
    let all = [replacement(root.join("a"), Some("old"), Some("new"))];
    let mut run = DiskRun::new(FolderRoot::open(&root).expect("a folder"), None);
    stage(&mut run, &all[0]);
    run.commit().expect("committed");
    fs::create_dir(root.join(&run.committed[0].temporary)).expect("made");
    assert_eq!(run.undo(), [root.join("a")]);
    drop(run);
    fs::remove_dir_all(root).expect("removed");
}

#[test]
fn a_folder_goes_with_its_last_file() {
    let root = folder("emptied");
    for path in ["sub/deep/gone", "sub/mine", "other/gone"] {
        fs::create_dir_all(root.join(path).parent().expect("a folder")).expect("made");
        fs::write(root.join(path), "old").expect("written");
    }
    let all = ["sub/deep/gone", "other/gone"].map(|path| replacement(root.join(path), Some("old"), None));
    write(&root, &all, || Ok(())).expect("written");
    assert_eq!((names(&root), names(&root.join("sub"))), (vec!["sub".to_owned()], vec!["mine".to_owned()]));
    fs::remove_dir_all(root).expect("removed");
}

#[test]
fn what_cannot_be_put_back_is_named() {
    let root = folder("left");
    fs::write(root.join("gone"), "old").expect("written");
    let all = [replacement(root.join("gone"), Some("old"), None)];
    let mut run = DiskRun::new(FolderRoot::open(&root).expect("a folder"), None);
    stage(&mut run, &all[0]);
    run.commit().expect("committed");
    fs::remove_file(root.join(&run.committed[0].temporary)).expect("removed");
    assert_eq!(run.undo(), [root.join("gone")]);
    drop(run);
    fs::remove_dir_all(root).expect("removed");
}

/// Leaves a run on three files half done, as a kill does, with its temporary files and its journal.
fn killed(root: &Path) {
    for name in ["a", "gone", "z"] {
        fs::write(root.join(name), "old").expect("written");
    }
    let all = of_all_kinds(root);
    let mut run = DiskRun::new(FolderRoot::open(root).expect("a folder"), None);
    all.iter().for_each(|replacement| stage(&mut run, replacement));
    run.note().expect("noted");
    std::mem::forget(run);
}

#[test]
fn what_a_killed_run_still_needs_is_not_cleaned_away() {
    let root = folder("beside");
    killed(&root);
    let before = names(&root);
    assert!(before.contains(&JOURNAL.to_owned()) && before.len() > 4, "{before:?}");
    clean(&root, &leftovers_in(&root)).expect("cleaned");
    clean(&root.join("sub"), &leftovers_in(&root.join("sub"))).expect("cleaned");
    assert_eq!((names(&root), names(&root.join("sub")).len()), (before, 1));
    assert_eq!(unfinished(&root).expect("read"), [fs::canonicalize(&root).expect("there")]);
    // A file below it is not whole either.
    assert_eq!(unfinished(&root.join("a")).expect("read").len(), 1);
    let refuse: Check = |_, left| if left.is_empty() { Ok(()) } else { bail!("git tracks it") };
    assert_eq!(repair(&root, refuse).expect_err("refused").to_string(), "git tracks it");
    assert!(root.join(JOURNAL).exists());
    // A run that is at work there finishes by itself.
    let at_work = FolderRoot::open(&root).and_then(|root| lock(root.path(), root.folder().again()?)).expect("a lock");
    assert!(at_work.is_some() && unfinished(&root).expect("read").is_empty());
    assert!(repair(&root, |_, _| Ok(())).expect("left to it").is_empty() && root.join(JOURNAL).exists());
    let error = format!(
        "{:#}",
        write(&root, &[replacement(root.join("sub/x"), None, Some("x"))], || Ok(())).expect_err("locked")
    );
    assert!(error.contains("another run is writing in "), "{error}");
    drop(at_work);
    let error = format!(
        "{:#}",
        write(&root, &[replacement(root.join("sub/x"), None, Some("x"))], || Ok(())).expect_err("not whole")
    );
    assert!(error.contains("a run that was killed must be finished first"), "{error}");
    let repaired = repair(&root.join("a"), |_, _| Ok(())).expect("repaired");
    assert_eq!(repaired.iter().map(|one| one.finished.end).collect::<Vec<_>>(), [Ended::Finished]);
    assert_eq!((names(&root), unfinished(&root).expect("read")), (vec!["a".to_owned(), "sub".to_owned()], Vec::new()));
    assert_eq!(fs::read_to_string(root.join("a")).expect("there"), "new");
    fs::remove_dir_all(root).expect("removed");
}

#[test]
fn what_killed_runs_left_is_removed_and_nothing_else() {
    let root = folder("clean");
    let new = format!(".p.krm-merge-get-{}", std::process::id());
    for name in [".krm-merge-1-0.tmp", "sub/.krm-merge-2-0.tmp", ".krm-merge-notes.tmp", "mine"] {
        fs::create_dir_all(root.join(name).parent().expect("a folder")).expect("made");
        fs::write(root.join(name), "x").expect("written");
    }
    // The folder of a run that is at work, and of one that was killed: no process has this number.
    for name in [&new, ".p.krm-merge-get-4194999"] {
        fs::create_dir(root.join(name)).expect("made");
    }
    assert!(repair(&root, |_, _| Ok(())).expect("repaired").is_empty());
    assert_eq!(names(&root), [".krm-merge-notes.tmp", &new, "mine", "sub"]);
    assert_eq!(names(&root.join("sub")), [""; 0]);
    assert!(repair(&root.join("nothing"), |_, _| bail!("asked")).expect("whole").is_empty());
    fs::remove_dir_all(root).expect("removed");
}

#[test]
fn records_of_releases_come_last_and_deletions_before_them() {
    let root = folder("order");
    let files = ["sub/Kptfile", "gone", RULES, "a"];
    fs::write(root.join("gone"), "old").expect("written");
    let new = |name: &str| (name != "gone").then_some("new");
    let all = files.map(|name| replacement(root.join(name), (name == "gone").then_some("old"), new(name)));
    let mut run = DiskRun::new(FolderRoot::open(&root).expect("a folder"), None);
    all.iter().for_each(|replacement| stage(&mut run, replacement));
    run.note().expect("noted");
    let order: Vec<_> = run.staged.iter().map(|staged| staged.of.file.strip_prefix(&root).expect("below")).collect();
    assert_eq!(order, ["a", "gone", "sub/Kptfile", RULES].map(Path::new));
    drop(run);
    let _ = fs::remove_file(root.join(JOURNAL));
    fs::remove_dir_all(root).expect("removed");
}

#[cfg(unix)]
#[test]
fn what_is_no_writable_file_is_not_replaced() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let root = folder("kinds");
    fs::create_dir(root.join("folder")).expect("made");
    for name in ["target", "locked"] {
        fs::write(root.join(name), "old").expect("written");
    }
    symlink("target", root.join("link")).expect("a link");
    fs::set_permissions(root.join("locked"), fs::Permissions::from_mode(0o444)).expect("set");
    for (name, why) in [
        ("folder", "it must be a file"),
        ("link", "it must be a file"),
        ("locked", "the file must be writable, but it is read-only"),
    ] {
        let all = [replacement(root.join(name), Some("old"), Some("new"))];
        let error = format!("{:#}", look(&root, &all).expect_err("refused"));
        assert!(error.starts_with("nothing is written: ") && error.ends_with(why), "{error}");
        write(&root, &all, || Ok(())).expect_err("refused");
    }
    let outside = [replacement(root.join("../outside"), None, Some("new"))];
    look(&root, &outside).expect_err("it leads out of the folder");
    let own = [replacement(root.join("sub/.krm-merge-1-0.tmp"), None, Some("new"))];
    let error = format!("{:#}", look(&root, &own).expect_err("a name of a run"));
    assert!(error.contains("not be the name of a temporary file of krm-merge"), "{error}");
    assert_eq!(fs::read_to_string(root.join("target")).expect("there"), "old");
    fs::remove_dir_all(root).expect("removed");
}

#[cfg(unix)]
#[test]
fn who_may_read_a_file_may_execute_it_if_anyone_may() {
    use std::os::unix::fs::PermissionsExt;
    let root = folder("executable");
    for (was, executable, want) in [
        (0o640, Some(true), 0o750),
        (0o600, Some(true), 0o700),
        (0o755, Some(false), 0o644),
        (0o750, None, 0o750),
        (0o4755, None, 0o755),
    ] {
        fs::write(root.join("a"), "old").expect("written");
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(was)).expect("set");
        let one = Replacement { executable, ..replacement(root.join("a"), Some("old"), Some("new")) };
        write(&root, &[one], || Ok(())).expect("written");
        let is = fs::metadata(root.join("a")).expect("there").permissions().mode() & 0o7777;
        assert_eq!(is, want, "{was:o} {executable:?}");
    }
    fs::remove_dir_all(root).expect("removed");
}

#[test]
fn one_run_writes_in_the_deepest_folder_of_all() {
    let root = folder("deepest");
    fs::create_dir_all(root.join("a/b")).expect("made");
    let of = |paths: &[&str]| {
        let all: Vec<_> = paths.iter().map(|path| replacement(root.join(path), None, Some("x"))).collect();
        folder_of(&all)
    };
    assert_eq!(of(&["a/b/x", "a/y"]), root.join("a"));
    assert_eq!(of(&["a/b/x"]), root.join("a/b"));
    assert_eq!(of(&["a/new/x", "a/new/y"]), root.join("a"));
    assert_eq!(of(&["a/b/x", "c/y"]), root);
    assert_eq!(folder_of(&[]), PathBuf::new());
    fs::remove_dir_all(root).expect("removed");
}

#[test]
fn who_cleans_where_a_run_is_at_work_makes_it_not_wait() {
    let root = folder("busy");
    let new = root.join(file_path::temporary_folder(std::process::id(), "new"));
    fs::create_dir(&new).expect("made");
    let (done, left) = (AtomicBool::new(false), leftovers_in(&root));
    assert_eq!(left, std::slice::from_ref(&new));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    clean(&root, &left).expect("cleaned");
                }
            });
        }
        for at in 0..20 {
            let one = [replacement(new.join(format!("{at}")), None, Some("x"))];
            let no_lock = || if root.join(LOCK).exists() { bail!("it is locked") } else { Ok(()) };
            write(&new, &one, no_lock).expect("written");
        }
        done.store(true, Ordering::Relaxed);
    });
    fs::remove_dir_all(root).expect("removed");
}
