//! `--in-place`: each file is old or new, whole, and all are written or none, whatever goes wrong.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};

use crate::support::{Folder, PLUGIN, Ran, map};
use crate::upgrade::repository::{commit, git};

fn one(value: u8) -> String {
    map("a", &[("x", &format!("'{value}'"))])
}

const UPGRADE: [&str; 8] = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place"];

/// An upgrade of a file `a.yaml` and a file `b.yaml`.
fn package() -> Folder {
    let b = |value: u8| map("b", &[("x", &format!("'{value}'"))]);
    Folder::with(&[
        ("v1/a.yaml", &one(1)),
        ("v1/sub/b.yaml", &b(1)),
        ("v2/a.yaml", &one(2)),
        ("v2/sub/b.yaml", &b(2)),
        ("here/a.yaml", &one(1)),
        ("here/sub/b.yaml", &b(1)),
    ])
}

/// Runs, expecting an error that names a file and a folder in which nothing changed.
fn refuses(folder: &Folder, args: &[&str], name: &str) -> String {
    let before = folder.files("");
    let err = folder.run(args).failed(2);
    assert!(err.starts_with("error: ") && err.contains(name), "{err}");
    assert_eq!(folder.files(""), before);
    err
}

/// Whether this user is root, for whom no file is closed.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0)
}

#[test]
fn permissions_stay_and_no_other_file_is_touched() {
    let folder = package();
    folder.write("here/other.yaml", map("other", &[]));
    fs::set_permissions(folder.path("here/a.yaml"), fs::Permissions::from_mode(0o640)).expect("set");
    let old = |path: &str| fs::metadata(folder.path(path)).expect("metadata");
    let other = old("here/other.yaml");
    let ours = old("here/a.yaml");
    folder.run(&UPGRADE).passed();
    assert_eq!(old("here/a.yaml").permissions().mode(), ours.permissions().mode());
    assert_ne!(old("here/a.yaml").ino(), ours.ino(), "a file is replaced, not written into");
    assert_eq!((old("here/other.yaml").ino(), old("here/other.yaml").mtime_nsec()), (other.ino(), other.mtime_nsec()));
    let a = old("here/a.yaml");
    assert_eq!(folder.run(&UPGRADE).passed().lines().count(), 1);
    assert_eq!((old("here/a.yaml").ino(), old("here/a.yaml").mtime_nsec()), (a.ino(), a.mtime_nsec()));
}

/// As after a write: nobody vouches for the new content.
#[test]
fn bits_that_let_a_file_run_as_someone_else_do_not_survive() {
    let folder = package();
    let mode = |path: &str| fs::metadata(folder.path(path)).expect("metadata").permissions().mode() & 0o7777;
    for (path, bits) in [("here/a.yaml", 0o6755), ("here/sub/b.yaml", 0o1640)] {
        fs::set_permissions(folder.path(path), fs::Permissions::from_mode(bits)).expect("set");
    }
    folder.run(&UPGRADE).passed();
    assert_eq!((mode("here/a.yaml"), mode("here/sub/b.yaml")), (0o755, 0o640));
}

#[test]
fn a_run_leaves_the_temporary_files_of_one_that_is_still_at_work() {
    let folder = package();
    folder.write("here/.krm-merge-1-0.tmp", "");
    let lock = locked(&folder, "here");
    let err = refuses(&folder, &UPGRADE, "a.yaml");
    let here = fs::canonicalize(folder.path("here")).expect("there");
    assert!(err.contains(&format!("another run is writing in {}", here.display())), "{err}");
    drop(lock);
    folder.run(&UPGRADE).passed();
    assert!(!folder.path("here/.krm-merge-1-0.tmp").exists());
}

#[test]
fn a_run_keeps_out_of_the_folders_above_and_below_that_another_run_has() {
    for of in ["here/sub", "."] {
        let folder = package();
        let lock = locked(&folder, of);
        let err = refuses(&folder, &UPGRADE, ".yaml");
        let of = fs::canonicalize(folder.path(of)).expect("there");
        assert!(err.contains(&format!("another run is writing in {}:", of.display())), "{err}");
        drop(lock);
        folder.run(&UPGRADE).passed();
    }
}

/// The lock of a run on a folder.
fn locked(folder: &Folder, of: &str) -> fs::File {
    let path = format!("{of}/.krm-merge-lock.tmp");
    folder.write(&path, "");
    let lock = fs::File::open(folder.path(&path)).expect("a file");
    lock.lock().expect("locked");
    lock
}

#[test]
fn a_lock_of_another_program_stops_nothing() {
    for of in [".", "here", "here/sub"] {
        let folder = package();
        let lock = fs::File::open(folder.path(of)).expect("a folder");
        lock.lock().expect("locked");
        folder.run(&UPGRADE).passed();
    }
}

#[test]
fn what_git_tracks_is_no_leftover_of_a_run() {
    let folder = package();
    folder.write("here/sub/.krm-merge-1-0.tmp", "tracked");
    commit(&folder.0, "a name of ours");
    let err = refuses(&folder, &UPGRADE, "sub/.krm-merge-1-0.tmp");
    assert!(err.contains("git tracks this file"), "{err}");
    git(&folder.0, &["rm", "--quiet", "--cached", "here/sub/.krm-merge-1-0.tmp"]);
    folder.run(&UPGRADE).passed();
    assert!(!folder.path("here/sub/.krm-merge-1-0.tmp").exists());
}

#[test]
fn a_read_only_file_stops_everything() {
    let folder = package();
    fs::set_permissions(folder.path("here/sub/b.yaml"), fs::Permissions::from_mode(0o444)).expect("set");
    let err = refuses(&folder, &UPGRADE, "here/sub/b.yaml");
    assert!(err.contains("read-only"), "{err}");
}

#[test]
fn a_folder_that_it_may_not_enter_or_write_in_stops_everything() {
    let folder = package();
    let closed = folder.path("here/sub");
    let run = |folder: &Folder| {
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", PLUGIN]).args(UPGRADE);
            command
        } else {
            folder.command(&UPGRADE)
        };
        command.current_dir(&folder.0).output().map(Ran::of)
    };
    // The build's own folder may be closed to other users.
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o755)).expect("set");
    let probe = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", PLUGIN, "--version"])
        .output();
    if is_root() && !probe.is_ok_and(|p| p.status.success()) {
        crate::support::skipped("setpriv", "cannot run the plugin as another user here");
        return;
    }
    for mode in [0o600, 0o555] {
        let before = folder.files("");
        fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).expect("set");
        let err = run(&folder).expect("runs").failed(2);
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("set");
        assert!(err.contains("here/") && err.contains("ermission denied"), "{mode:o} {err}");
        assert_eq!(folder.files(""), before);
    }
}

#[test]
fn a_full_disk_stops_everything() {
    let folder = package();
    let big = map("b", &[("x", &"y".repeat(300_000))]);
    folder.write("v2/sub/b.yaml", &big);
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "none"])
        .arg(folder.path("here"))
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|s| s.success()) {
        crate::support::skipped("mount", "cannot mount a file system here");
        return;
    }
    folder.write("here/a.yaml", one(1));
    folder.write("here/sub/b.yaml", map("b", &[("x", "'1'")]));
    let before = folder.files("here");
    let ran = folder.run(&UPGRADE);
    let after = folder.files("here");
    let unmounted = Command::new("umount").arg(folder.path("here")).status();
    assert!(unmounted.is_ok_and(|s| s.success()));
    let err = ran.failed(2);
    assert!(err.contains("here/sub/b.yaml") && err.contains("No space left"), "{err}");
    assert_eq!(after, before);
}

#[test]
fn bad_paths_stop_everything() {
    let folder = package();
    folder.write("here/new\nline.yaml", one(7));
    assert!(refuses(&folder, &UPGRADE, "new\\nline.yaml").contains("line break"));

    for (path, fault) in [
        ("../../out.yaml", "must lie within the package: relative to it, and without `..`"),
        ("/tmp/out.yaml", "must lie within the package"),
        ("sub/../../out.yaml", "must lie within the package"),
        ("sub//out.yaml", "must be names with one `/` between them"),
        (".git/hooks/pre-commit", "must not lead into `.git`"),
        ("sub/.GIT/config", "must not lead into `.git`"),
        ("GIT~1/config", "must not lead into `.git`"),
        (".krmignore", "must not be `.krmignore`"),
        ("sub/.KrmIgnore", "must not be `.krmignore`"),
        ("sub/.krm-merge-1-0.tmp", "must not be the name of a temporary file"),
    ] {
        for annotation in ["config.kubernetes.io/path", "internal.config.kubernetes.io/path"] {
            let folder = package();
            let item = format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: out\n  annotations:\n    {annotation}: '{path}'\n"
            );
            let told = format!(": the path annotation {path:?} {fault}");
            let says = |err: &str| assert!(err.contains(&told) && err.contains("; correct it, or remove it"), "{err}");
            folder.write("v2/out.yaml", &item);
            says(&refuses(&folder, &UPGRADE, "v2/out.yaml:1:1"));
            let list = format!(
                "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {}",
                item.trim_end().replace('\n', "\n  ")
            );
            folder.write("list.yaml", list);
            says(&refuses(&folder, &["two-way", "-s", "list.yaml", "-d", "here", "-i"], "list.yaml:4:3"));
        }
    }
}

/// A resource that says no path gets one from its namespace and name.
#[test]
fn a_namespace_that_is_no_name_of_a_folder_stops_everything() {
    for (namespace, fault) in [("..", "must lie within the package"), (".Git", "must not lead into `.git`")] {
        let folder = package();
        let item = map("out", &[]).replace("  name: out\n", &format!("  name: out\n  namespace: '{namespace}'\n"));
        let err = refuses(&folder, &["two-way", "-p", &item, "-d", "here", "-i"], "--patch");
        let path = format!("the path \"{namespace}/configmap_out.yaml\" of a new resource {fault}");
        assert!(err.contains(&path) && err.contains("; put it into another file"), "{err}");
    }
}

/// On some file systems it is `.git`, and on others another system's checkout of it is.
#[test]
fn a_folder_that_is_git_s_somewhere_is_no_part_of_a_package() {
    for name in [".git", ".GIT", "git~1", ".git ", ".g\u{200c}it"] {
        let folder = package();
        folder.write(&format!("v2/sub/{name}/hooks/pre-commit"), "#!/bin/sh\n");
        folder.write(&format!("v2/{name}/x.yaml"), map("x", &[]));
        folder.run(&UPGRADE).passed();
        assert_eq!(folder.files("here").into_keys().collect::<Vec<_>>(), ["a.yaml", "sub/b.yaml"], "{name}");
    }
}

#[test]
fn two_items_for_one_file_stop_everything() {
    let item = |name: &str| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}, annotations: {{internal.config.kubernetes.io/path: new.yaml, internal.config.kubernetes.io/index: '0'}}}}\n"
        )
    };
    let list = format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{}{}", item("x"), item("y"));
    let folder = package();
    folder.write("list.yaml", &list);
    refuses(&folder, &["two-way", "-s", "list.yaml", "-d", "here", "-i"], "\"new.yaml\"");
    // From two folders.
    let folder = package();
    folder.write("s1/new.yaml", map("x", &[]));
    folder.write("s2/new.yaml", map("y", &[]));
    refuses(&folder, &["two-way", "-s", "s1", "-s", "s2", "-d", "here", "-i"], "new.yaml: two items");
    let folder = package();
    folder.write("v2/new.yaml", map("new", &[]));
    folder.write("here/new.yaml", "a: b\n");
    // What is no part of dest is left alone.
    folder.write("here/.krmignore", "new.yaml\n");
    let ran = folder.run(&UPGRADE);
    assert!(ran.stderr.contains("new.yaml: new in v2/new.yaml, but not added"), "{ran:?}");
    assert_eq!(
        (ran.code, folder.read("here/new.yaml"), folder.read("here/a.yaml")),
        (Some(0), "a: b\n".into(), one(2))
    );
}

#[test]
fn folders_that_are_emptied_go_and_dest_itself_stays() {
    let folder = package();
    folder.write("v1/deep/er/c.yaml", map("c", &[]));
    folder.write("here/deep/er/c.yaml", map("c", &[]));
    fs::remove_dir_all(folder.path("v2")).expect("removed");
    // Upstream has one resource left, which dest has deleted.
    folder.write("v1/left.yaml", map("left", &[]));
    folder.write("v2/left.yaml", map("left", &[]));
    folder.run(&UPGRADE).passed();
    assert!(folder.files("here").is_empty() && folder.path("here").is_dir());
    assert!(!folder.path("here/deep").exists() && !folder.path("here/sub").exists());
}

#[test]
fn links_are_not_followed_out_of_the_folder() {
    let folder = package();
    folder.write("outside/a.yaml", one(1));
    folder.write("v2/linked/new.yaml", map("new", &[]));
    symlink(folder.path("outside"), folder.path("here/linked")).expect("a link");
    refuses(&folder, &UPGRADE, "here/linked");
    fs::remove_file(folder.path("v2/linked/new.yaml")).expect("removed");
    symlink(folder.path("outside/a.yaml"), folder.path("here/file.yaml")).expect("a link");
    symlink(folder.path("nowhere"), folder.path("here/dangling.yaml")).expect("a link");
    folder.run(&UPGRADE).passed();
    assert_eq!(folder.read("outside/a.yaml"), one(1), "what a link leads to is not the package's");
    assert_eq!(folder.read("here/a.yaml"), one(2));
    assert!(fs::symlink_metadata(folder.path("here/file.yaml")).expect("there").is_symlink());
}

/// A folder that is a link to another one now and then.
#[test]
fn a_folder_that_is_swapped_for_a_link_keeps_the_run_out() {
    use std::sync::atomic::{AtomicBool, Ordering};
    const FILES: usize = 20;
    let text = |i: usize, x: u8| map(&format!("m{i}"), &[("x", &format!("'{x}'"))]);
    let folder = Folder::in_memory();
    for (side, x) in [("here/sub", 1), ("outside", 1), ("v1/sub", 1), ("v2/sub", 2)] {
        (0..FILES).for_each(|i| folder.write(&format!("{side}/m{i}.yaml"), text(i, x)));
    }
    let is_over = AtomicBool::new(false);
    let outside = folder.files("outside");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (sub, away) = (folder.path("here/sub"), folder.path("away"));
            for round in 0_u32.. {
                fs::rename(&sub, &away).expect("moved");
                symlink(folder.path(if round % 2 == 0 { "outside" } else { "away" }), &sub).expect("a link");
                std::thread::sleep(std::time::Duration::from_micros(200));
                fs::remove_file(&sub).expect("removed");
                fs::rename(&away, &sub).expect("moved back");
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_micros(u64::from(round % 7) * 1000));
            }
        });
        for _ in 0..40 {
            let ran = folder.run(&UPGRADE);
            // Who reads while the folder is away finds other files.
            assert!(matches!(ran.code, Some(0 | 2)), "{ran:?}");
            let now = folder.files("outside");
            let changed: Vec<&String> = now.keys().filter(|name| outside.get(*name) != now.get(*name)).collect();
            if !changed.is_empty() {
                is_over.store(true, Ordering::Relaxed);
                panic!("written outside: {changed:?}");
            }
            (0..FILES).filter(|i| i % 2 == 0).for_each(|i| {
                // Away and back again, the folder is never gone for long.
                let file = folder.path(&format!("here/sub/m{i}.yaml"));
                let _ = fs::write(&file, text(i, 1));
            });
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(folder.files("outside"), outside);
    let left: Vec<String> = folder.files("").into_keys().filter(|path| path.contains(".krm-merge-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn links_that_lead_back_stop_everything() {
    let folder = package();
    symlink("..", folder.path("here/sub/up")).expect("a link");
    refuses(&folder, &UPGRADE, "here/sub/up");
    let folder = package();
    symlink("y", folder.path("here/x")).expect("a link");
    symlink("x", folder.path("here/y")).expect("a link");
    refuses(&folder, &UPGRADE, "here/x");
    let folder = package();
    symlink("l2", folder.path("l1")).expect("a link");
    symlink("l1", folder.path("l2")).expect("a link");
    refuses(&folder, &["two-way", "-s", "v2/a.yaml", "-d", "l1", "-i"], "l1");
}

/// What upstream did to a file's bit is taken, and nothing else of the file's permissions is touched.
#[cfg(unix)]
#[test]
fn whether_a_file_can_be_executed_is_merged() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let files = [
        // Name, modes of original, updated and dest, what dest's is then; whether updated's text is another one.
        ("on", [0o644, 0o755, 0o640], 0o750, false),
        ("on-and-text", [0o644, 0o755, 0o600], 0o700, true),
        ("off", [0o755, 0o644, 0o755], 0o644, false),
        ("mine", [0o644, 0o644, 0o755], 0o755, true),
        ("both", [0o644, 0o755, 0o755], 0o755, false),
        ("as-it-was", [0o755, 0o755, 0o644], 0o644, false),
        // Files of resources.
        ("r-mine.yaml", [0o644, 0o644, 0o755], 0o755, true),
        ("r-on-and-text.yaml", [0o644, 0o755, 0o600], 0o700, true),
        ("r-on.yaml", [0o644, 0o755, 0o644], 0o755, false),
    ];
    let text = |name: &str, word: &str| match name.strip_suffix(".yaml") {
        Some(name) => crate::support::map(name, &[("x", word)]),
        None => format!("{word}\n"),
    };
    for (n, side) in ["v1", "v2", "here"].iter().enumerate() {
        folder.write(&format!("{side}/base.yaml"), one(1));
        for (name, modes, _, is_changed) in files {
            let path = format!("{side}/{name}");
            folder.write(&path, text(name, if is_changed && n == 1 { "two" } else { "one" }));
            std::fs::set_permissions(folder.path(&path), std::fs::Permissions::from_mode(modes[n])).expect("set");
        }
    }
    let upgrade = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here"];
    let diff = folder.run(&[&upgrade[..], &["-o", "diff"]].concat()).passed();
    assert!(diff.contains("diff --git a/on b/on\nold mode 100644\nnew mode 100755\ndiff"), "{diff}");
    let out = folder.run(&[&upgrade[..], &["-i"]].concat()).passed();
    let changed: Vec<&str> = out.lines().filter_map(|l| l.strip_prefix("changed ")).collect();
    assert_eq!(changed, ["mine", "off", "on", "on-and-text", "r-mine.yaml", "r-on-and-text.yaml", "r-on.yaml"]);
    for (name, _, want, is_changed) in files {
        let file = folder.path(&format!("here/{name}"));
        assert_eq!(std::fs::metadata(&file).expect("there").permissions().mode() & 0o777, want, "{name}");
        let want = text(name, if is_changed { "two" } else { "one" });
        assert_eq!(std::fs::read_to_string(file).expect("there"), want);
    }
}

/// An end with 2 does not hide that the files are written.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_told_is_written_all_the_same() {
    let folder = Folder::with(&[("a.yaml", &one(1)), ("b.yaml", &one(2))]);
    let mut command = folder.command(&["two-way", "-s", "b.yaml", "-d", "a.yaml", "-i"]);
    command.stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").expect("there"));
    let err = crate::support::Ran::of(command.output().expect("runs")).failed(2);
    assert!(err.starts_with("error: the files are written, but not the output: stdout must be writable: "), "{err}");
    assert_eq!(folder.read("a.yaml"), one(2));
}

/// A dry run that passes is followed by a run that does.
#[test]
fn a_dry_run_refuses_what_writing_would_refuse() {
    let folder = Folder::with(&[("v1/a.yaml", &one(1)), ("v2/a.yaml", &one(2)), ("here/a.yaml", &one(1))]);
    folder.write("v2/sub/b", "new");
    folder.write("here/.krmignore", "sub\n");
    folder.write("v2/file", "new");
    folder.write("here/file/x", "dest's own");
    let upgrade = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place"];
    let before = folder.files("here");
    let errors = [&[][..], &["--dry-run"]].map(|more| {
        let err = folder.run(&[&upgrade[..], more].concat()).failed(2);
        assert!(err.contains("nothing is written: ") && err.contains("here/file: "), "{err}");
        err
    });
    assert_eq!(errors[0], errors[1]);
    assert_eq!(folder.files("here"), before);
}
