//! What a run that was killed leaves: whole files, and nothing that the next run does not take away.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use super::attacks::large;
use super::good;
use super::repository::{commit, git};
use crate::support::{Folder, Ran, laws, map};

/// A plugin with a cache of its own in a folder, run in full or killed after some time.
struct Run<'r> {
    folder: &'r Folder,
    cache: &'r str,
}

impl Run<'_> {
    fn whole(&self, args: &[&str]) -> Ran {
        let mut command = self.folder.command(args);
        Ran::of(command.env("XDG_CACHE_HOME", self.folder.path(self.cache)).output().expect("the plugin runs"))
    }

    fn killed(&self, args: &[&str], after: Duration) {
        let mut command = self.folder.command(args);
        command.env("XDG_CACHE_HOME", self.folder.path(self.cache)).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the plugin runs");
        sleep(after);
        let _ = child.kill();
        child.wait().expect("ended");
    }
}

/// Names below a folder that only this program gives, and takes away again.
fn left(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry")) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains("krm-merge-get-") || [".tmp", ".new", ".old"].iter().any(|end| name.ends_with(end)) {
            all.push(name);
        }
        if entry.file_type().expect("a type").is_dir() {
            all.extend(left(&entry.path()));
        }
    }
    all
}

/// Kills `get` and `upgrade` at random moments. `KRM_MERGE_LAWS=13` makes 312 kills.
#[test]
fn a_killed_run_leaves_whole_files_and_the_next_one_goes_on() {
    let laws = laws();
    let folder = Folder::new();
    let upstream = large(&folder);
    let get = ["get", &upstream.source("d@v1"), "mine/d"];
    let upgrade = ["upgrade", "mine/d"];
    let first = Run { folder: &folder, cache: "cache" };
    let mut last = [Duration::ZERO; 2];
    for (args, last) in [&get[..], &upgrade].into_iter().zip(&mut last) {
        let start = Instant::now();
        first.whole(args).passed();
        *last = start.elapsed();
        commit(&folder.path("mine"), "whole");
    }
    let seed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time").subsec_nanos();
    let mut random = u64::from(seed);
    let mut moment = |last: Duration| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        last.mul_f64((random >> 32) as f64 / f64::from(u32::MAX) * 1.1)
    };
    for round in 0..12 * laws {
        let cache = format!("cache-{round}");
        let run = Run { folder: &folder, cache: &cache };
        fs::remove_dir_all(folder.path("mine")).expect("removed");
        run.killed(&get, moment(last[0]));
        // The folder is there whole, or not at all.
        if folder.path("mine/d").exists() {
            assert_eq!(folder.files("mine/d").len(), 151, "seed {seed}, round {round}");
        } else {
            run.whole(&get).passed();
        }
        assert_eq!(left(&folder.path("mine")), [""; 0], "seed {seed}, round {round}");
        commit(&folder.path("mine"), "got");
        run.killed(&upgrade, moment(last[1]));
        let is_new = |text: &str| text.contains("'2'");
        let texts = || {
            let files = folder.files("mine/d").into_iter().filter(|(path, _)| path.starts_with('c'));
            files.map(|(_, text)| String::from_utf8(text).expect("UTF-8")).collect::<Vec<_>>()
        };
        let is_whole = |text: &String| text.starts_with("apiVersion") && (is_new(text) || text.contains("'1'"));
        assert!(texts().len() == 150 && texts().iter().all(is_whole), "seed {seed}, round {round}");
        if folder.read("mine/d/.krm-merge.yaml").contains("ref: v2") {
            assert!(texts().iter().all(|text| is_new(text)), "seed {seed}, round {round}: a record without its files");
        }
        // Once it began to rename, the next run finishes it. Then its files are changes that are not committed; nothing else is.
        let is_begun = folder.path("mine/d/.krm-merge-journal.tmp").exists()
            || !git(&folder.path("mine"), &["diff", "--name-only"]).is_empty();
        if is_begun {
            let told = run.whole(&upgrade).failed(2);
            assert!(
                told.contains("Commit all changes first") && !told.contains(".tmp"),
                "seed {seed}, round {round}: {told}"
            );
        } else {
            run.whole(&upgrade).passed();
        }
        assert!(texts().iter().all(|text| is_new(text)), "seed {seed}, round {round}");
        assert_eq!(folder.files("mine/d").len(), 151, "seed {seed}, round {round}");
        for left_in in ["mine", cache.as_str()] {
            assert_eq!(left(&folder.path(left_in)), [""; 0], "seed {seed}, round {round}: {left_in}");
        }
        let _ = fs::remove_dir_all(folder.path(&cache));
    }
}

#[test]
fn what_a_killed_run_left_is_no_change_and_goes_with_the_next_run() {
    let folder = Folder::new();
    let upstream = good(&folder);
    folder.run(&["get", &upstream.source("d@v1"), "mine/p"]).passed();
    commit(&folder.path("mine"), "got");
    // No process has this number.
    let dead = "4194999";
    let leave = |path: String| folder.write(&path, "half");
    for (number, next) in [(2, "upgrade"), (3, "three-way"), (4, "get")] {
        upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", &format!("'{number}'"))]))], &format!("v{number}"));
        leave(format!("mine/p/.krm-merge-{dead}-0.tmp"));
        leave(format!("mine/p/.krm-merge-{dead}-1.tmp"));
        leave(format!("mine/p/.sub.krm-merge-get-{dead}/a.yaml"));
        leave(format!("mine/.q.krm-merge-get-{dead}/a.yaml"));
        let cache = fs::read_dir(folder.path(".cache/krm-merge/git")).expect("a cache");
        let cache =
            cache.map(|entry| entry.expect("an entry").path()).find(|path| path.is_dir()).expect("a repository");
        let in_cache = [format!(".krm-merge-{dead}-0.tmp"), "objects/pack/tmp_pack_x".to_owned()];
        in_cache.iter().for_each(|name| fs::write(cache.join(name), "half").expect("written"));
        ["new", "old"].iter().for_each(|end| fs::create_dir_all(cache.with_extension(end).join("x")).expect("made"));
        let sources = [format!("d@v{}", number - 1), format!("d@v{number}")].map(|rest| upstream.source(&rest));
        let ran = match next {
            "upgrade" => folder.run(&["upgrade", "mine/p"]),
            "get" => folder.run(&["get", &sources[1], &format!("mine/p/q{number}")]),
            _ => folder.run(&[
                "three-way",
                "--original",
                &sources[0],
                "--updated",
                &sources[1],
                "--dest",
                "mine/p",
                "--in-place",
            ]),
        };
        assert_eq!(ran.code, Some(0), "{next}: {ran:?}");
        assert_eq!(left(&folder.path("mine/p")), [""; 0], "{next}");
        assert_eq!(left(&folder.path(".cache")), [""; 0], "{next}");
        // Only `get` looks there.
        let _ = folder.run(&["get", &sources[1], &format!("mine/other{number}")]);
        assert_eq!(left(&folder.path("mine")), [""; 0], "{next}");
        commit(&folder.path("mine"), next);
    }
    // The driver takes away its own.
    leave(format!(".krm-merge-{dead}-0.tmp"));
    for (side, value) in [("o", "'1'"), ("a", "'1'"), ("b", "'2'")] {
        folder.write(side, map("a", &[("v", value)]));
    }
    folder.run(&["git-driver", "o", "a", "b", "x.yaml"]).passed();
    assert!(!folder.path(&format!(".krm-merge-{dead}-0.tmp")).exists() && folder.read("a").contains("'2'"));
}

#[test]
fn a_run_that_is_still_at_work_keeps_what_is_its_own() {
    let folder = Folder::new();
    let upstream = good(&folder);
    let own = format!(".x.krm-merge-get-{}", std::process::id());
    for (name, is_locked) in [(".x.krm-merge-get-4194999", true), (own.as_str(), false)] {
        folder.write(&format!("{name}/a.yaml"), "half");
        let lock = is_locked.then(|| {
            folder.write(&format!("{name}/.krm-merge-lock.tmp"), "");
            let lock = File::open(folder.path(&format!("{name}/.krm-merge-lock.tmp"))).expect("a file");
            lock.lock().expect("locked");
            lock
        });
        folder.run(&["get", &upstream.source("d@v1"), &format!("p{is_locked}")]).passed();
        assert!(folder.path(name).exists(), "{name}");
        drop(lock);
    }
    // Now the first one is at work no more.
    folder.run(&["get", &upstream.source("d@v1"), "q"]).passed();
    assert_eq!(left(&folder.0), [own]);
}
