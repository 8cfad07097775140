//! A run that is killed between any two calls that change the disk: the next run makes the package whole.
//!
//! A build for tests ends itself at the change with the number of `KRM_MERGE_STOP_AT`, without tidying up, as SIGKILL does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::repository::{Upstream, commit, git};
use crate::support::{Folder, Ran, SmallDisk, laws, map};

const JOURNAL: &str = ".krm-merge-journal.tmp";

type Files = BTreeMap<String, Vec<u8>>;

/// A package that a command brings from one state to another.
struct Case<'c> {
    folder: &'c Folder,
    args: Vec<&'c str>,
    old: Files,
    new: Files,
}

impl<'c> Case<'c> {
    /// The package is in `here`, and old.
    fn of(folder: &'c Folder, args: &[&'c str]) -> Self {
        let mut case = Self { folder, args: args.to_vec(), old: folder.files("here"), new: Files::new() };
        case.run().passed();
        case.new = folder.files("here");
        case
    }

    fn reset(&self) {
        fs::remove_dir_all(self.folder.path("here")).expect("removed");
        self.old.iter().for_each(|(path, bytes)| self.folder.write(&format!("here/{path}"), bytes));
    }

    fn run(&self) -> Ran {
        self.folder.run(&self.args)
    }

    /// Runs up to this change of the disk.
    fn stopped(&self, at: usize) -> Ran {
        let mut command = self.folder.command(&self.args);
        Ran::of(command.env("KRM_MERGE_STOP_AT", at.to_string()).output().expect("the plugin runs"))
    }

    /// Checks that each file is old or new as a whole, and answers whether there is a journal.
    fn has_journal(&self, about: &str) -> bool {
        let is_own = |path: &String| path.rsplit('/').next().is_some_and(|name| name.starts_with(".krm-merge-"));
        let here = self.folder.files("here");
        let paths = self.old.keys().chain(self.new.keys()).chain(here.keys().filter(|path| !is_own(path)));
        for path in paths.chain([&".krm-merge.yaml".to_owned()]) {
            let is = here.get(path);
            assert!(is == self.old.get(path) || is == self.new.get(path), "{about}: {path} is half: {is:?}");
        }
        here.contains_key(JOURNAL)
    }

    /// Checks that the package is new, with nothing left behind.
    fn check_new(&self, about: &str) {
        let here = self.folder.files("here");
        let differ = |path: &&String| here.get(*path) != self.new.get(*path);
        let differing: Vec<_> = here.keys().chain(self.new.keys()).filter(differ).collect();
        assert_eq!(differing, [""; 0], "{about}");
        assert_eq!(empty_folders(&self.folder.path("here")), [""; 0], "{about}");
    }

    /// Kills the run at each change of the disk, and then, often, the one that makes the package whole. Answers how many were killed.
    fn kill_everywhere(&self) -> usize {
        let (mut kills, mut finished) = (0, 0);
        for at in 1.. {
            self.reset();
            if self.stopped(at).code.is_some() {
                break;
            }
            kills += 1;
            let about = format!("{:?}, killed at {at}", self.args);
            let mut is_finished = self.has_journal(&about);
            if at % 3 == 0 {
                let again = self.stopped(1 + at * 7 % 31);
                kills += usize::from(again.code.is_none());
                is_finished = is_finished && self.has_journal(&about) || again.stderr.contains("now finished");
            }
            let ran = self.run();
            assert_eq!(ran.code, Some(0), "{about}: {ran:?}");
            if at % 3 != 0 {
                let info = "info: here: a run that was killed while it wrote is now finished\n";
                assert_eq!(ran.stderr.contains(info), is_finished, "{about}: {ran:?}");
            }
            finished += usize::from(is_finished);
            self.check_new(&about);
        }
        assert!(finished > 0 && finished < kills, "{finished} of {kills} were finished");
        kills
    }
}

fn empty_folders(folder: &Path) -> Vec<String> {
    let mut empty = Vec::new();
    let entries: Vec<_> = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")).collect();
    if entries.is_empty() {
        empty.push(folder.to_string_lossy().into_owned());
    }
    for entry in entries.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        empty.extend(empty_folders(&entry.path()));
    }
    empty
}

/// Two states of a package: of `count` resources some change, some come, some go, and some move to another file.
fn release(number: usize, count: usize, seed: usize) -> Vec<(String, String)> {
    let file = |at: usize| {
        let is_new = number == 2;
        let (path, value) = match (at * 7 + seed) % 5 {
            0 => (format!("s{}/f{at}.yaml", at % 3), if is_new { "'2'" } else { "'1'" }),
            1 if is_new => return None,
            1 => (format!("gone{at}/f{at}.yaml"), "'1'"),
            2 if !is_new => return None,
            2 => (format!("new/deep/f{at}.yaml"), "'2'"),
            3 => (format!("{}/f{at}.yaml", if is_new { "moved" } else { "here" }), "'1'"),
            _ => (format!("same/f{at}.yaml"), "'1'"),
        };
        let more: Vec<_> = (0..4).map(|field| (format!("k{field}"), format!("x{at}-{field}"))).collect();
        let mut fields = vec![("v", value)];
        fields.extend(more.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        Some((path, map(&format!("c{at}"), &fields)))
    };
    (0..count).filter_map(file).collect()
}

const THREE_WAY: [&str; 8] = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place"];

/// A folder with both states, and a package that is old.
fn three_way(count: usize, seed: usize) -> Folder {
    let folder = Folder::in_memory();
    for (number, to) in [(1, "v1"), (2, "v2"), (1, "here")] {
        release(number, count, seed).iter().for_each(|(path, text)| folder.write(&format!("{to}/{path}"), text));
    }
    folder
}

/// With `KRM_MERGE_LAWS=N`, N times as many packages.
#[test]
fn a_run_that_is_killed_anywhere_is_finished_by_the_next_one() {
    let mut kills = 0;
    for seed in 0..3 * laws() {
        let folder = three_way(10 + seed % 5, seed);
        kills += Case::of(&folder, &THREE_WAY).kill_everywhere();
    }
    assert!(kills >= 240, "{kills} kills");
    eprintln!("{kills} kills");
}

#[test]
fn an_upgrade_that_is_killed_anywhere_is_finished_with_its_record() {
    for kptfile in [None, Some("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: d\n")] {
        let folder = Folder::in_memory();
        let upstream = Upstream::new(&folder, "up.git");
        for number in [1, 2] {
            let mut files = release(number, 8, 0);
            files.extend(kptfile.map(|text| ("Kptfile".to_owned(), text.to_owned())));
            let files: Vec<_> = files.into_iter().map(|(path, text)| (format!("d/{path}"), text)).collect();
            upstream.release(&files, &format!("v{number}"));
        }
        folder.run(&["get", &upstream.source("d@v1"), "here"]).passed();
        folder.run(&["upgrade", "here", "-o", "name"]);
        let case = Case::of(&folder, &["upgrade", "here", "--offline"]);
        let kills = case.kill_everywhere();
        assert!(kills >= 40, "{kills} kills");
        let record = case.new.get(if kptfile.is_some() { "Kptfile" } else { ".krm-merge.yaml" }).expect("a record");
        assert!(String::from_utf8_lossy(record).contains("ref: v2"));
    }
}

/// A package whose run was killed after half of its files, and all of it was committed before.
fn half() -> Folder {
    let folder = three_way(10, 0);
    commit(&folder.0, "old");
    let case = Case { folder: &folder, args: THREE_WAY.to_vec(), old: folder.files("here"), new: Files::new() };
    let count = |at: usize| {
        case.reset();
        assert_eq!(case.stopped(at).code, None, "{at}");
        git(&folder.0, &["diff", "--name-only"]).lines().count()
    };
    // Two of the files that change have changed, and none is deleted yet.
    assert!((1..200).any(|at| count(at) == 2 && folder.path(&format!("here/{JOURNAL}")).exists()));
    folder
}

#[test]
fn a_file_that_changed_since_the_kill_is_not_overwritten() {
    let folder = half();
    let changed = git(&folder.0, &["diff", "--name-only"]);
    let [new, other] = [changed.lines().next().expect("a file"), "here/s2/f5.yaml"];
    for path in [new, other] {
        let folder = half();
        folder.write(path, folder.read(path) + "# mine\n");
        let mut before = folder.files("here");
        // That goes with any run.
        before.remove(".krm-merge-lock.tmp");
        let told = folder.run(&THREE_WAY).failed(2);
        assert!(told.contains(path) && told.contains("it changed since") && told.contains(JOURNAL), "{told}");
        assert_eq!(folder.files("here"), before);
        // As it says: without the journal, the files stay as they are.
        fs::remove_file(folder.path(&format!("here/{JOURNAL}"))).expect("removed");
        folder.run(&THREE_WAY);
        assert!(folder.read(path).contains("# mine"));
        assert!(!folder.files("here").keys().any(|path| path.contains(".tmp")));
    }
}

#[test]
fn what_the_user_took_back_is_taken_back_as_a_whole() {
    let folder = half();
    git(&folder.0, &["checkout", "--quiet", "--", "here"]);
    let ran = folder.run(&[
        "two-way",
        "--patch",
        "metadata: {labels: {a: b}}",
        "--target",
        "name=none",
        "--dest",
        "here",
        "--in-place",
    ]);
    let info = "info: here: a run that was killed while it wrote is now taken back\n";
    assert!(ran.stderr.contains(info), "{ran:?}");
    assert_eq!(git(&folder.0, &["status", "--porcelain", "--", "here"]), "", "{ran:?}");
}

#[test]
fn a_journal_is_found_from_below_and_no_reader_takes_it_for_a_file() {
    let folder = half();
    let at_file = ["two-way", "--patch", "data: {z: z}", "--target", "name=c2", "--dest", "here/same/f2.yaml"];
    // Who only reads does not mind it.
    for args in [&THREE_WAY[..7], &at_file, &["diff", "v1", "here", "-o", "name"]] {
        let ran = folder.run(args);
        assert!(ran.code < Some(2) && !format!("{ran:?}").contains("journal"), "{ran:?}");
    }
    assert!(folder.path(&format!("here/{JOURNAL}")).exists());
    let mut args = at_file.to_vec();
    args.push("--in-place");
    let ran = folder.run(&args);
    assert!(ran.stderr.contains("/here: a run that was killed while it wrote is now finished"), "{ran:?}");
    assert!(folder.read("here/same/f2.yaml").contains("z: z"));
    assert!(folder.path("here/new/deep").is_dir() && !folder.path(&format!("here/{JOURNAL}")).exists());
}

/// Half of the files are new, so what differs from the release is no change of the team.
#[test]
fn who_counts_the_changes_of_a_package_tells_a_killed_run() {
    let folder = half();
    let upstream = Upstream::new(&folder, "up.git");
    let files: Vec<_> = release(1, 10, 0).into_iter().map(|(path, text)| (format!("d/{path}"), text)).collect();
    upstream.release(&files, "v1");
    folder.run(&["get", &upstream.source("d@v1"), "got"]).passed();
    folder.write("here/.krm-merge.yaml", folder.read("got/.krm-merge.yaml"));
    let files = folder.files("here");
    let looks = [&["list", "here"][..], &["upgrade", "here", "--check"], &["upgrade", "here", "-o", "diff"]];
    for args in looks {
        let ran = folder.run(args);
        let told = ran.failed(2);
        assert!(told.contains("a run was killed while it wrote in ") && told.contains("upgrade here`"), "{told}");
    }
    let row = folder.run(&["list", "here", "-o", "json"]).stdout;
    assert!(row.contains("a run was killed") && row.contains("\"localChanges\": null"), "{row}");
    assert_eq!(folder.files("here"), files);
    // As it says.
    let ran = folder.run(&["upgrade", "here", "--allow-dirty"]);
    assert!(ran.stderr.contains("is now finished"), "{ran:?}");
    for args in looks {
        assert!(!format!("{:?}", folder.run(args)).contains("killed"));
    }
}

#[test]
fn a_strangers_journal_does_nothing_that_its_files_could_not_do() {
    let folder = three_way(10, 0);
    commit(&folder.0, "old");
    let journal = folder.path(&format!("here/{JOURNAL}"));
    fs::write(&journal, "krm-merge journal 1\n").expect("written");
    let before = folder.files("here");
    let told = folder.run(&THREE_WAY).failed(2);
    assert!(told.contains("no such run wrote it. Delete it"), "{told}");
    assert_eq!(folder.files("here"), before);
    fs::remove_file(&journal).expect("removed");
    // A link is no journal.
    std::os::unix::fs::symlink("same/f2.yaml", &journal).expect("a link");
    folder.run(&THREE_WAY).passed();
}

#[test]
fn two_runs_at_once_leave_a_whole_package() {
    let folder = three_way(40, 1);
    let case = Case::of(&folder, &THREE_WAY);
    for round in 0..10 * laws() {
        case.reset();
        let start = || {
            let mut command = folder.command(&THREE_WAY);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the plugin runs")
        };
        let ran = [start(), start()].map(|child| Ran::of(child.wait_with_output().expect("the plugin ends")));
        assert!(ran.iter().any(|ran| ran.code == Some(0)), "round {round}: {ran:?}");
        case.check_new(&format!("round {round}: {ran:?}"));
    }
}

#[test]
fn a_full_disk_leaves_the_package_as_it_was() {
    let folder = three_way(10, 0);
    let Some(_disk) = SmallDisk::below(&folder, "128k") else { return };
    let args = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "small/here", "--in-place"];
    for room in 0..24 {
        let _ = fs::remove_dir_all(folder.path("small/here"));
        let _ = fs::remove_file(folder.path("small/full"));
        release(1, 10, 0).iter().for_each(|(path, text)| folder.write(&format!("small/here/{path}"), text));
        let before = folder.files("small/here");
        // It takes all that there is, but for this many pages.
        let mut full = fs::File::create(folder.path("small/full")).expect("made");
        while std::io::Write::write_all(&mut full, &[0; 4096]).is_ok() {}
        let size = full.metadata().expect("there").len();
        full.set_len(size.saturating_sub(room * 4096)).expect("cut");
        let ran = folder.run(&args);
        match ran.code {
            Some(0) => assert_eq!(folder.files("small/here"), folder.files("v2"), "{room}"),
            _ => {
                assert!(ran.stderr.contains("No space left on device"), "{room}: {ran:?}");
                assert_eq!(folder.files("small/here"), before, "{room}: {ran:?}");
            }
        }
    }
    assert_eq!(folder.files("small/here"), folder.files("v2"));
}
