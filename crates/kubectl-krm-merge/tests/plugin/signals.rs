//! `--in-place` and the signals that end a program: each file is old or new, and but for SIGKILL the package is, with nothing left behind.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Folder, PLUGIN, Ran, map, seed};

const UPGRADE: [&str; 8] = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place"];

/// A package of many files, of which upstream changes, adds and deletes some.
struct Package {
    folder: Folder,
    old: BTreeMap<String, Vec<u8>>,
    new: BTreeMap<String, Vec<u8>>,
}

impl Package {
    fn of(files: usize) -> Self {
        let folder = Folder::in_memory();
        for i in 0..files {
            let text = |value: u8| map(&format!("c{i}"), &[("x", &format!("'{value}'"))]);
            if i % 11 != 3 {
                folder.write(&format!("v1/s{}/f{i}.yaml", i % 7), text(1));
            }
            if i % 11 != 5 {
                folder.write(&format!("v2/s{}/f{i}.yaml", if i % 11 == 3 { 8 } else { i % 7 }), text(2));
            }
        }
        let (old, new) = (folder.files("v1"), folder.files("v2"));
        let package = Self { folder, old, new };
        package.reset();
        package
    }

    /// Makes dest what it was.
    fn reset(&self) {
        let here = self.folder.path("here");
        if here.exists() {
            fs::remove_dir_all(&here).expect("removed");
        }
        self.old.iter().for_each(|(path, bytes)| self.folder.write(&format!("here/{path}"), bytes));
    }

    fn start(&self) -> Child {
        self.folder.command(&UPGRADE).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs")
    }

    /// Waits until the run has begun to write this many files, or for its end.
    fn wait_for_writing(&self, child: &mut Child, files: usize) {
        let folders = (0..9).map(|i| self.folder.path(&format!("here/s{i}"))).collect::<Vec<_>>();
        let temporary = |folder: &Path| {
            let names = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|e| e.file_name());
            names.filter(|name| name.to_string_lossy().starts_with(".krm-merge-")).count()
        };
        let begun = || folders.iter().map(|folder| temporary(folder)).sum::<usize>();
        while begun() < files && child.try_wait().expect("a state").is_none() {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// Checks that dest as a whole is old or new, and says which.
    fn state(&self, about: &str) -> State {
        let here = self.folder.files("here");
        let folders = fs::read_dir(self.folder.path("here")).expect("a folder").count();
        if here == self.old {
            assert_eq!(folders, 7, "{about}: new folders are left");
            return State::Old;
        }
        assert_eq!(folders, 8, "{about}: folders are missing, or left");
        let left: Vec<_> = here.keys().filter(|path| !self.new.contains_key(*path)).take(3).collect();
        assert!(here == self.new, "{about}: half done, with {left:?}");
        State::New
    }

    /// Checks that each file is old or new, and answers how many are not old, temporary ones among them.
    fn changed(&self, about: &str) -> usize {
        let here = self.folder.files("here");
        let of = |bytes: &BTreeMap<String, Vec<u8>>, path: &str| bytes.get(path).cloned();
        for (path, bytes) in here.iter().filter(|(path, _)| path.ends_with(".yaml")) {
            let is_whole = [of(&self.old, path), of(&self.new, path)].contains(&Some(bytes.clone()));
            assert!(is_whole, "{about}: {path} is neither old nor new");
        }
        here.iter().filter(|(path, bytes)| self.old.get(*path) != Some(*bytes)).count()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Old,
    New,
}

fn send(signal: &str, child: &Child) {
    crate::support::send(signal, &child.id().to_string());
}

fn ended(child: Child) -> Ran {
    Ran::of(child.wait_with_output().expect("ends"))
}

/// Whether a run ended by itself, or by this signal.
fn is_ended_by(status: ExitStatus, signal: i32) -> bool {
    use std::os::unix::process::ExitStatusExt;
    matches!(status.code(), Some(0)) || status.code() == Some(128 + signal) || status.signal() == Some(signal)
}

/// Whether the tests were started to ignore a signal, as under `nohup`. A program that they start ignores it, too.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[test]
fn a_run_that_is_stopped_while_it_writes_undoes_it_and_says_so() {
    let package = Package::of(400);
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        if is_ignored(code - 128) {
            crate::support::skipped(&format!("SIG{signal}"), "is ignored by what started these tests");
            continue;
        }
        // A signal may come when all is written.
        let mut tries = 0..50;
        let undone = loop {
            assert!(tries.next().is_some(), "no run was stopped by {signal}");
            package.reset();
            let mut child = package.start();
            package.wait_for_writing(&mut child, 1);
            // Who is impatient does not stop it from tidying up.
            send(signal, &child);
            send(signal, &child);
            let ran = ended(child);
            if package.state(signal) == State::Old {
                break ran;
            }
        };
        assert_eq!((undone.code, undone.stdout.as_str()), (Some(code), ""), "{undone:?}");
        assert_eq!(undone.stderr, format!("error: stopped by SIG{signal}, and nothing is written\n"));
    }
    package.folder.run(&UPGRADE).passed();
    assert_eq!(package.state("at last"), State::New);
}

/// `nohup` starts a program so that it goes on when its terminal is closed.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_the_run_was_started_to_ignore_stays_ignored() {
    let package = Package::of(300);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", PLUGIN]).args(UPGRADE).current_dir(&package.folder.0);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    package.wait_for_writing(&mut child, 1);
    send("HUP", &child);
    ended(child).passed();
    assert_eq!(package.state("HUP"), State::New);
}

/// How often a run is ended by each signal: a few times, or with `KRM_MERGE_LAWS=N` N times fifty.
fn tries() -> (u32, usize) {
    match std::env::var("KRM_MERGE_LAWS").ok() {
        Some(n) => (50 * n.parse::<u32>().expect("`KRM_MERGE_LAWS` is a number"), 2000),
        None => (4, 500),
    }
}

#[test]
fn a_run_that_ends_at_any_moment_leaves_old_or_new_files() {
    let (tries, files) = tries();
    let package = Package::of(files);
    let time = || {
        package.reset();
        let start = Instant::now();
        package.folder.run(&UPGRADE).passed();
        assert_eq!(package.state("a whole run"), State::New);
        start.elapsed()
    };
    let whole = time().min(time());
    let seed = seed();
    eprintln!("seed {seed}");
    let (mut random, cut_short) = (seed, Cell::new(0));
    let mut ends: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    // Where the machine is busy, signals come late.
    for turn in (0..10 * tries).take_while(|turn| *turn < tries || cut_short.get() == 0) {
        for (signal, number) in [("INT", 2), ("TERM", 15), ("KILL", 9)] {
            package.reset();
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let share = (random >> 11) as f64 / (1u64 << 53) as f64;
            let mut child = package.start();
            // Half of the signals come at any moment, half while it writes.
            if turn % 2 == 0 {
                package.wait_for_writing(&mut child, 1 + (files as f64 * share * 0.5) as usize);
            } else {
                std::thread::sleep(whole.mul_f64(share));
            }
            send(signal, &child);
            let status = child.wait_with_output().expect("ends").status;
            let about = format!("seed {seed}, turn {turn}, {signal}");
            assert!(is_ended_by(status, number), "{about}: {status:?}");
            if signal == "KILL" {
                let changed = package.changed(&about);
                let is_cut_short = changed > 0 && package.folder.files("here") != package.new;
                let end = if is_cut_short {
                    "in between"
                } else if changed > 0 {
                    "new"
                } else {
                    "old"
                };
                *ends.entry((signal, end)).or_default() += 1;
                cut_short.set(cut_short.get() + usize::from(is_cut_short));
                package.folder.run(&UPGRADE).passed();
                assert_eq!(package.state(&about), State::New, "the next run makes it whole and cleans up");
            } else if package.state(&about) == State::Old {
                assert_ne!(status.code(), Some(0), "{about}");
                // Before it holds signals, one ends it as any program.
                let is_undone = status.code() == Some(128 + number);
                *ends.entry((signal, if is_undone { "undone" } else { "old" })).or_default() += 1;
                cut_short.set(cut_short.get() + usize::from(is_undone));
            } else {
                *ends.entry((signal, "new")).or_default() += 1;
            }
        }
    }
    eprintln!("{files} files, seed {seed}: {ends:?}");
    assert!(cut_short.get() > 0, "seed {seed}: no run was ended while it wrote");
}
