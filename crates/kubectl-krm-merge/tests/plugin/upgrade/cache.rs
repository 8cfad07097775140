//! The cache: what is in it, what goes, and what it refuses.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;

use super::good;
use super::repository::Upstream;
use crate::support::{Folder, SmallDisk, map};

#[test]
fn it_is_listed_and_cleared() {
    let folder = Folder::new();
    let root = folder.path(".cache/krm-merge");
    let empty = format!("0 entries, 0 bytes, in {}\n", root.display());
    assert_eq!(folder.run(&["cache"]).passed(), empty);
    let upstream = good(&folder);
    folder.run(&["get", &upstream.source("d@v1"), "p"]).passed();
    let listed = folder.run(&["cache"]).passed();
    let address = upstream.source("");
    let [entry, total] = listed.lines().collect::<Vec<_>>()[..] else { panic!("{listed}") };
    assert!(entry.starts_with(address.trim_end_matches('/')), "{listed}");
    assert!(entry.contains(" KiB, used 0 minutes ago"), "{listed}");
    assert!(total.starts_with("1 entry, ") && total.ends_with(&format!(" KiB, in {}", root.display())), "{listed}");
    // Another run reads it.
    let used = fs::read_dir(root.join("git")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let used = used.into_iter().find(|path| path.extension().is_some_and(|end| end == "used")).expect("its file");
    let held = File::open(&used).expect("opened");
    held.lock_shared().expect("locked");
    let ran = folder.run(&["cache", "--clear"]);
    assert!(
        ran.stderr.contains("another run uses it, so it stays") && ran.stdout.starts_with("removed 0 entries"),
        "{ran:?}"
    );
    folder.run(&["upgrade", "--check", "--offline", "p"]).passed();
    drop(held);
    let cleared = folder.run(&["cache", "--clear"]).passed();
    assert!(cleared.starts_with("removed 1 entry, "), "{cleared}");
    assert_eq!(folder.run(&["cache"]).passed(), empty);
    assert_eq!(fs::read_dir(root.join("git")).expect("a folder").count(), 0);
    // It comes again.
    let told = folder.run(&["upgrade", "--check", "--offline", "p"]).failed(2);
    assert!(told.contains("must have been fetched before"), "{told}");
    folder.run(&["upgrade", "--check", "p"]).passed();
}

#[test]
fn a_cache_that_others_may_write_is_refused() {
    let folder = Folder::new();
    let upstream = good(&folder);
    folder.run(&["get", &upstream.source("d@v1"), "p"]).passed();
    for path in [".cache/krm-merge", ".cache/krm-merge/git"] {
        let mode = |mode| fs::set_permissions(folder.path(path), fs::Permissions::from_mode(mode)).expect("set");
        mode(0o777);
        for args in [&["upgrade", "p"][..], &["get", &upstream.source("d@v1"), "q"]] {
            let told = folder.run(args).failed(2);
            assert!(told.contains(path) && told.contains("others may write it. Remove it, or set"), "{told}");
        }
        mode(0o700);
        folder.run(&["upgrade", "p"]).passed();
    }
}

#[test]
fn what_nobody_used_for_long_goes_after_a_fetch() {
    let folder = Folder::new();
    let upstream = good(&folder);
    let other = Upstream::new(&folder, "other.git");
    other.release(&[("d/a.yaml".to_owned(), map("a", &[("v", "'1'")]))], "v1");
    folder.run(&["get", &upstream.source("d@v1"), "p"]).passed();
    folder.run(&["get", &other.source("d@v1"), "q"]).passed();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(91 * 24 * 60 * 60);
    for entry in fs::read_dir(folder.path(".cache/krm-merge/git")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|end| end == "used") {
            File::options().write(true).open(path).and_then(|file| file.set_modified(long_ago)).expect("set");
        }
    }
    // It fetches, and the other one was not used.
    upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", "'2'")]))], "v2");
    folder.run(&["upgrade", "p"]).passed();
    let listed = folder.run(&["cache"]).passed();
    assert!(listed.contains("up") && !listed.contains("other") && listed.contains("1 entry, "), "{listed}");
}

#[test]
fn a_fetch_on_a_full_disk_says_so_and_leaves_what_was_there() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let small = [("d/a.yaml".to_owned(), map("a", &[("v", "'1'")]))];
    upstream.release(&small, "v1");
    let Some(disk) = SmallDisk::below(&folder, "2m") else { return };
    let run = |args: &[&str]| {
        let mut command = folder.command(args);
        command.env("XDG_CACHE_HOME", &disk.path);
        crate::support::Ran::of(command.output().expect("the plugin runs"))
    };
    run(&["get", &upstream.source("d@v1"), "p"]).passed();
    // No text that can be packed.
    let mut random = 1_u64;
    let mut word = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:016x}", random ^ (random >> 29))
    };
    let large: String = (0..300_000).map(|_| word()).collect();
    let mut files = small.to_vec();
    files.push(("d/b.yaml".to_owned(), map("b", &[("v", &large)])));
    upstream.release(&files, "v2");
    let before = folder.files("p");
    let told = run(&["upgrade", "p"]).failed(2);
    assert!(told.contains("the disk of the cache is full: make room"), "{told}");
    assert_eq!(folder.files("p"), before);
    run(&["upgrade", "p", "--to", "v1", "--offline"]).passed();
    let told = run(&["get", &upstream.source("d@v2"), "q"]).failed(2);
    assert!(told.contains("the disk of the cache is full"), "{told}");
    assert!(!folder.path("q").exists());
}
