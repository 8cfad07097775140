//! What is done with git: in a work tree, and in a cache of a repository on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use krm_files::disk::Replacement;
use krm_files::temporary::TemporaryFolder;

use crate::address::{ReleaseAddress, Repo};
use crate::before::{self, Runs};
use crate::found::{AtPath, Entry, EntryKind};
use crate::ignored::ignored;
use crate::log::{LogEntry, Span, log};
use crate::program::{self, In};
use crate::store::{Network, Store};
use crate::unmerged::{self, Conflicted};
use crate::{tracked, tree};

/// A work tree of its own.
pub(crate) struct WorkTree(TemporaryFolder);

impl WorkTree {
    pub(crate) fn new() -> Self {
        let made = Self(TemporaryFolder::new("test-of-git").expect("a folder"));
        made.git(&["init", "--quiet"]);
        made
    }

    /// A file that anyone may execute, one in a folder, and one beside it.
    fn with_files() -> Self {
        let made = Self::new();
        for (path, text) in [("run.sh", "1\n"), ("p/a", "1\n"), ("p/b", "1\n")] {
            made.write(path, text);
        }
        fs::set_permissions(made.path("run.sh"), fs::Permissions::from_mode(0o755)).expect("set");
        made.commit("first");
        made
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("there").join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.path(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, text).expect("written");
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(self.0.path(), args)
    }

    /// Commits all that is there, and returns the commit.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// The index: mode, stage, path and text of each entry.
    fn index(&self) -> Vec<String> {
        let entry = |line: &str| {
            let (head, path) = line.split_once('\t').expect("an entry");
            let [mode, object, stage] = head.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            format!("{mode} {stage} {path} {}", self.git(&["cat-file", "blob", object]))
        };
        self.git(&["ls-files", "--stage"]).lines().map(entry).collect()
    }
}

/// git, without the configuration of whoever runs the tests. It must succeed.
pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let output = command(folder, args).output().expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=me", "-c", "user.email=me@example.com", "-c", "init.defaultBranch=main"]);
    git.args(args).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    git
}

fn conflicted<'c>(path: &'c str, texts: [Option<&str>; 3]) -> Conflicted<'c> {
    Conflicted { path, was: path, texts: texts.map(|text| text.map(|text| text.as_bytes().to_vec())) }
}

const ALL: [Option<&str>; 3] = [Some("base"), Some("ours"), Some("theirs")];

#[test]
fn the_index_has_three_versions_until_a_conflict_is_settled() {
    let made = WorkTree::with_files();
    let (before, note) = (made.index(), made.path(".git/krm-merge/unmerged"));
    let files = [
        conflicted("a", ALL),
        // Ours deleted it, and git tracked it.
        conflicted("b", [Some("base"), None, Some("theirs")]),
        // Nobody asked git to track it.
        conflicted("new", ALL),
        // Upstream moved it.
        Conflicted { was: "a", ..conflicted("moved", ALL) },
    ];
    unmerged::tell(&made.path("p"), &files).expect("told");
    let of_all = |path: &str| {
        [(1, "base"), (2, "ours"), (3, "theirs")].map(|(stage, text)| format!("100644 {stage} {path} {text}")).to_vec()
    };
    let told = [
        of_all("p/a"),
        vec!["100644 1 p/b base".to_owned(), "100644 3 p/b theirs".to_owned()],
        of_all("p/moved"),
        vec!["100755 0 run.sh 1".to_owned()],
    ];
    assert_eq!(made.index(), told.concat());
    // Who tells it again changes nothing, and what is open stays.
    unmerged::tell(&made.path("p"), &[conflicted("a", [Some("x"), Some("y"), Some("z")])]).expect("told");
    let is_open = |file: &Path| file == made.path("p/a");
    unmerged::settle(&made.path("p"), is_open).expect("settled");
    assert_eq!(made.index(), [of_all("p/a"), before[1..].to_vec()].concat());
    assert!(note.exists());
    unmerged::settle(&made.path("p"), |_| false).expect("settled");
    assert_eq!((made.index(), note.exists()), (before, false));
}

#[test]
fn what_a_user_added_since_is_not_undone() {
    let made = WorkTree::with_files();
    made.write("p/a", "staged\n");
    made.git(&["add", "p/a"]);
    let files = [conflicted("a", ALL), conflicted("b", ALL)];
    unmerged::tell(&made.path("p"), &files).expect("told");
    made.write("p/b", "decided\n");
    made.git(&["add", "p/b"]);
    unmerged::settle(&made.path("p"), |_| false).expect("settled");
    // What was staged before comes back.
    assert_eq!(made.index()[..2], ["100644 0 p/a staged", "100644 0 p/b decided"]);
}

#[test]
fn the_stages_of_a_merge_of_git_are_left_to_it() {
    let made = WorkTree::with_files();
    made.git(&["checkout", "--quiet", "-b", "theirs"]);
    made.write("p/a", "theirs\n");
    made.commit("theirs");
    made.git(&["checkout", "--quiet", "main"]);
    made.write("p/a", "ours\n");
    made.commit("ours");
    assert!(!command(&made.path(""), &["merge", "theirs"]).output().expect("git runs").status.success());
    let before = made.index();
    assert!(before.contains(&"100644 3 p/a theirs".to_owned()), "{before:?}");
    unmerged::tell(&made.path("p"), &[conflicted("a", ALL)]).expect("told");
    assert_eq!(made.index(), before);
    unmerged::settle(&made.path("p"), |_| false).expect("settled");
    assert_eq!(made.index(), before);
}

#[test]
fn a_version_is_stored_as_git_stores_the_file_and_without_filters() {
    let made = WorkTree::with_files();
    made.write(".gitattributes", "a text eol=crlf filter=own\n");
    made.git(&["config", "filter.own.clean", &format!("touch {}; cat", made.path("ran").display())]);
    unmerged::tell(&made.path("p"), &[conflicted("a", [Some("1\r\n2\r\n"), None, None])]).expect("told");
    assert_eq!(made.git(&["cat-file", "blob", ":1:p/a"]), "1\n2");
    assert!(!made.path("ran").exists());
}

#[test]
fn outside_of_a_work_tree_nothing_is_told() {
    let folder = TemporaryFolder::new("test-of-git").expect("a folder");
    unmerged::tell(folder.path(), &[conflicted("a", ALL)]).expect("nothing");
    unmerged::settle(folder.path(), |_| false).expect("nothing");
    before::note(folder.path(), &[replacement(folder.path().join("a"), None, "x")], &[]).expect("nothing");
    assert!(Runs::around(folder.path()).is_none());
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

fn replacement<'r>(file: PathBuf, old: Option<&'r str>, new: &'r str) -> Replacement<'r> {
    let bytes = |text: &'r str| text.as_bytes().into();
    Replacement { file, old: old.map(bytes), new: Some(bytes(new)), executable: None }
}

/// The files on their way back: path, text now, text before, and whether somebody edited it since.
fn back(made: &WorkTree, dest: &str) -> Vec<(String, Option<String>, Option<String>, bool)> {
    let text = |bytes: Option<Vec<u8>>| bytes.map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    let runs = Runs::around(&made.path("p")).expect("a work tree");
    let of = |back: before::Back| {
        let path = back.file.strip_prefix(made.path("")).expect("below").display().to_string();
        (path, text(back.now), text(back.old), back.is_edited)
    };
    runs.back(&made.path(dest)).expect("a way back").into_iter().map(of).collect()
}

#[test]
fn a_run_is_taken_back_file_by_file_with_its_entries() {
    let made = WorkTree::with_files();
    made.write("p/a", "staged\n");
    made.git(&["add", "p/a"]);
    made.write("p/a", "mine\n");
    let index = made.index();
    let files = [
        replacement(made.path("p/a"), Some("mine\n"), "new\n"),
        replacement(made.path("p/c"), None, "new\n"),
        replacement(made.path("run.sh"), Some("1\n"), "1\n"),
    ];
    let left = [replacement(made.path("p/b"), Some("1\n"), "1\n")];
    before::note(&made.path("p"), &[], &left).expect("noted");
    assert!(!made.path(".git/krm-merge/before").exists(), "who writes nothing needs no way back");
    before::note(&made.path("p"), &files, &left).expect("noted");
    made.write("p/a", "new\n");
    made.write("p/c", "edited\n");
    let text = |text: &str| Some(text.to_owned());
    let [a, c] =
        [("p/a".to_owned(), text("new\n"), text("mine\n"), false), ("p/c".to_owned(), text("edited\n"), None, true)];
    assert_eq!(back(&made, "p"), [a.clone(), c.clone()]);
    // A file that only lost its bit comes back, too, and one that somebody decided by hand.
    fs::set_permissions(made.path("run.sh"), fs::Permissions::from_mode(0o644)).expect("set");
    made.write("p/b", "decided\n");
    let run = ("run.sh".to_owned(), text("1\n"), text("1\n"), false);
    let b = ("p/b".to_owned(), text("decided\n"), text("1\n"), true);
    assert_eq!(back(&made, "p"), [a, c, run, b]);
    let mut runs = Runs::around(&made.path("p/a")).expect("a work tree");
    assert_eq!(runs.dests(), BTreeSet::from([made.path("p")]));
    assert!(runs.back(&made.path("other")).expect("none").is_empty());
    let executable: Vec<bool> =
        runs.back(&made.path("p")).expect("a way back").iter().map(|back| back.is_executable).collect();
    assert_eq!(executable, [false, false, true, false]);
    // What the run and the user staged goes.
    unmerged::tell(&made.path("p"), &[conflicted("b", ALL)]).expect("told");
    made.git(&["add", "p/a", "p/c"]);
    let lost = runs.keep(b"lost").expect("kept");
    runs.forget(&made.path("p")).expect("forgotten");
    assert_eq!((made.index(), made.git(&["cat-file", "blob", &lost])), (index, "lost".to_owned()));
    assert!(!made.path(".git/krm-merge/before").exists() && !made.path(".git/krm-merge/unmerged").exists());
}

#[test]
fn a_new_run_replaces_that_of_its_package_and_a_decision_belongs_to_its_run() {
    let made = WorkTree::with_files();
    let note = |dest: &str, file: &str| {
        before::note(&made.path(dest), &[replacement(made.path(file), Some("1\n"), "2\n")], &[]).expect("noted");
        made.write(file, "2\n");
    };
    note("run.sh", "run.sh");
    note("p", "p/b");
    made.write("p/b", "1\n");
    note("p", "p/a");
    assert_eq!(Runs::around(&made.path("p")).expect("runs").dests(), [made.path("p"), made.path("run.sh")].into());
    let paths = |dest: &str| back(&made, dest).into_iter().map(|(path, ..)| path).collect::<Vec<_>>();
    assert_eq!((paths("p"), paths("run.sh")), (vec!["p/a".to_owned()], vec!["run.sh".to_owned()]));
    // A later run decides a conflict of it, and writes another file, too.
    let all = [replacement(made.path("p/a"), Some("2\n"), "3\n"), replacement(made.path("p/b"), Some("1\n"), "3\n")];
    before::note_more(&all[1..]).expect("noted");
    assert_eq!(paths("p"), ["p/a"], "it is of no run");
    before::note_more(&all).expect("noted");
    for file in ["p/a", "p/b"] {
        made.write(file, "3\n");
    }
    let of = |path: &str| {
        let text = |text: &str| Some(text.to_owned());
        (path.to_owned(), text("3\n"), text("1\n"), true)
    };
    assert_eq!(back(&made, "p"), [of("p/a"), of("p/b")]);
}

#[test]
fn a_run_that_a_commit_has_is_not_taken_back_and_a_note_leads_nowhere_else() {
    let made = WorkTree::with_files();
    let note = || {
        before::note(&made.path("p"), &[replacement(made.path("p/a"), Some("1\n"), "2\n")], &[]).expect("noted");
    };
    note();
    made.write("p/a", "2\n");
    made.git(&["commit", "--quiet", "--allow-empty", "--message", "another"]);
    assert_eq!(back(&made, "p").len(), 1);
    made.commit("with the run");
    let runs = Runs::around(&made.path("p")).expect("a work tree");
    let told = runs.back(&made.path("p")).expect_err("committed").to_string();
    assert!(told.starts_with("a commit since the run has p/a: take that commit back with `git revert`"), "{told}");
    made.write("p/a", "1\n");
    note();
    let file = made.path(".git/krm-merge/before");
    let good = fs::read_to_string(&file).expect("a note");
    for path in ["../outside", ".git/config", "/etc/passwd", "p/.GIT/x"] {
        fs::write(&file, good.replace("p/a", path)).expect("written");
        assert_eq!(Runs::around(&made.path("p")).expect("runs").dests(), BTreeSet::new(), "{path}");
    }
}

#[test]
fn a_run_before_the_first_commit_is_taken_back_only_before_it() {
    let made = WorkTree::new();
    made.write("p/a", "1\n");
    before::note(&made.path("p"), &[replacement(made.path("p/a"), Some("1\n"), "2\n")], &[]).expect("noted");
    made.write("p/a", "2\n");
    assert_eq!(back(&made, "p").len(), 1);
    made.commit("first");
    let told = Runs::around(&made.path("p")).expect("a work tree").back(&made.path("p")).expect_err("committed");
    assert!(told.to_string().starts_with("a commit since the run has p/a"), "{told}");
}

#[test]
fn git_says_what_it_tracks_and_what_it_ignores() {
    let made = WorkTree::with_files();
    made.write(".gitignore", "*.log\nout/\n");
    for file in ["p/x.log", "out/a", "p/.krm-merge-1-0.tmp"] {
        made.write(file, "");
    }
    assert_eq!(ignored(&made.path("p"), &["a", "x.log", "y.log"]), ["x.log", "y.log"].map(str::to_owned).into());
    assert_eq!(ignored(&made.path("out"), &["a"]), BTreeSet::new(), "who names it means it");
    let left = [made.path("p/.krm-merge-1-0.tmp")];
    tracked::refuse(&made.path("p"), &left).expect("no run tracks it");
    made.git(&["add", "p/.krm-merge-1-0.tmp"]);
    let told = tracked::refuse(&made.path("p"), &left).expect_err("tracked").to_string();
    assert!(told.contains("p/.krm-merge-1-0.tmp: git tracks this file"), "{told}");
    tracked::refuse(&made.path("p"), &[]).expect("nothing is left");
    tracked::refuse(&made.path(".git"), &[made.path(".git/x")]).expect("git tracks nothing there");
    fs::write(made.path(".git/index"), "broken").expect("written");
    tracked::refuse(&made.path("p"), &left).expect_err("git cannot say");
    let outside = TemporaryFolder::new("test-of-git").expect("a folder");
    tracked::refuse(outside.path(), &[outside.path().join("x")]).expect("no repository");
}

#[test]
fn nothing_of_a_repository_runs() {
    let made = WorkTree::with_files();
    let ran = made.path("ran");
    for (key, value) in [
        ("filter.own.clean", format!("touch {}; cat", ran.display())),
        ("filter.own.required", "true".to_owned()),
        ("core.fsmonitor", format!("touch {}", ran.display())),
    ] {
        made.git(&["config", key, &value]);
    }
    made.write(".gitattributes", "a filter=own\n");
    made.write("p/a", "2\n");
    let mut git = program::without_filters(&made.path("p")).expect("git");
    let told = program::run(git.args(["diff", "--name-only"]), b"").expect("run");
    assert_eq!(String::from_utf8_lossy(&told), "p/a\n");
    assert!(!ran.exists());
    let off = program::filters_off(&made.path("p")).expect("git");
    for value in ["clean=", "smudge=", "process=", "required=false"] {
        assert!(off.contains(&format!("filter.own.{value}")), "{off:?}");
    }
    let mut git = program::git(In::Around(&made.path("p")));
    let told = program::run(git.args(["rev-parse", "--verify", "nothing"]), b"").expect_err("no such name").to_string();
    assert_eq!(told, "git: fatal: Needed a single revision");
    // A repository inside of the work tree is not one that somebody made here.
    git_bare(&made.path("p/bare"));
    let mut git = program::git(In::Around(&made.path("p/bare")));
    program::run(git.args(["rev-parse", "--git-dir"]), b"").expect_err("it may come from a stranger");
}

#[test]
fn the_words_of_git_have_no_password_and_no_progress() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{ExitStatus, Output};
    for (stderr, want) in [
        ("Counting: 1%\rfatal: cannot reach 'https://me:tok@h/r'\n", "git: fatal: cannot reach 'https://h/r'"),
        ("hint: x\nerror: a\nfatal: b\u{1b}\n", "git: error: a; fatal: b\\u001b"),
        ("first\nlast\nhint: x\n", "git: last"),
        ("", "git ended with exit status: 1"),
    ] {
        let output = Output { status: ExitStatus::from_raw(256), stdout: Vec::new(), stderr: stderr.into() };
        assert_eq!(program::words(&output), want);
    }
}

fn git_bare(folder: &Path) {
    fs::create_dir_all(folder).expect("made");
    git(folder, &["init", "--quiet", "--bare"]);
}

/// A repository with two releases on disk, and its address.
pub(crate) struct Upstream {
    pub(crate) work: WorkTree,
    pub(crate) commits: BTreeMap<&'static str, String>,
}

impl Upstream {
    pub(crate) fn new() -> Self {
        let work = WorkTree::with_files();
        work.write("p/sub/c", "1\n");
        symlink("a", work.path("p/link")).expect("a link");
        let first = work.commit("p: the first release");
        work.git(&["tag", "v1"]);
        work.write("run.sh", "2\n");
        let other = work.commit("run: another folder");
        work.write("p/a", "2\n");
        let second = work.commit("p: the second release");
        work.git(&["tag", "--annotate", "--message", "v2", "v2"]);
        let commits = [("v1", first), ("other", other), ("v2", second)].into();
        Self { work, commits }
    }

    /// The repository as the one that one stands in.
    fn here(&self) -> Store {
        Store::open(&Repo::Here, &self.work.path("p"), Network::Online).expect("a repository")
    }
}

#[test]
fn a_release_is_the_files_of_a_folder_of_a_commit() {
    let upstream = Upstream::new();
    let store = upstream.here();
    let [v1, v2] = ["v1", "v2"].map(|name| &upstream.commits[name]);
    let Some(AtPath::Folder(entries)) = tree::find(&store, v2, "p").expect("found").as_deref().map(clone) else {
        panic!("a folder")
    };
    let kinds: Vec<_> = entries.iter().map(|entry| (entry.path.as_str(), entry.kind)).collect();
    let (file, link) = (EntryKind::File, EntryKind::Link);
    assert_eq!(kinds, [("a", file), ("b", file), ("link", link), ("sub/c", file)]);
    let asked_for = |known: &str| {
        let known = |entry: &Entry| (entry.path == known).then(|| Ok(b"known".to_vec()));
        let files = tree::files(&store, &entries, known).expect("read");
        files.into_iter().map(|file| (file.path, String::from_utf8_lossy(&file.bytes).into_owned())).collect::<Vec<_>>()
    };
    let of = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    // `b` and `sub/c` are one object.
    assert_eq!(asked_for("none"), [of("a", "2\n"), of("b", "1\n"), of("sub/c", "1\n")]);
    assert_eq!(asked_for("a"), [of("a", "known"), of("b", "1\n"), of("sub/c", "1\n")]);
    let root = tree::find(&store, v1, "").expect("found");
    let Some(AtPath::Folder(entries)) = root.as_deref() else { panic!("{root:?}") };
    let files = tree::files(&store, entries, |_| None).expect("read");
    let executable: Vec<_> = files.iter().filter(|file| file.is_executable).map(|file| file.path.as_str()).collect();
    assert_eq!(executable, ["run.sh"]);
    let found = tree::find(&store, v2, "p/a").expect("found");
    let Some(AtPath::File(object)) = found.as_deref() else { panic!("{found:?}") };
    assert_eq!(tree::read_file(&store, object).expect("read"), b"2\n");
    for path in ["p/x", "x", "p/a/x"] {
        assert!(tree::find(&store, v2, path).expect("not there").is_none(), "{path}");
    }
}

fn clone(found: &AtPath) -> AtPath {
    match found {
        AtPath::File(object) => AtPath::File(object.clone()),
        AtPath::Folder(entries) => AtPath::Folder(entries.clone()),
    }
}

#[test]
fn a_tree_with_a_name_of_git_is_read_without_it() {
    let upstream = Upstream::new();
    let work = &upstream.work;
    let blob = work.git(&["rev-parse", "HEAD:p/b"]);
    let lines = format!("100644 blob {blob}\t.git\n100644 blob {blob}\tgit~1\n100644 blob {blob}\tx\n");
    let mut mktree = program::git(In::Around(&work.path("")));
    let tree_of = |told: Vec<u8>| String::from_utf8_lossy(told.trim_ascii()).into_owned();
    let made = tree_of(program::run(mktree.arg("mktree"), lines.as_bytes()).expect("a tree"));
    let commit = work.git(&["commit-tree", "-m", "x", &made]);
    let found = tree::find(&upstream.here(), &commit, "").expect("found");
    let Some(AtPath::Folder(entries)) = found.as_deref() else { panic!("{found:?}") };
    assert_eq!(entries.iter().map(|entry| entry.path.as_str()).collect::<Vec<_>>(), ["x"]);
}

#[test]
fn the_log_has_the_commits_of_a_folder_between_two_releases() {
    let upstream = Upstream::new();
    let store = upstream.here();
    let [v1, v2] = ["v1", "v2"].map(|name| upstream.commits[name].as_str());
    let subjects = |directory: &str| {
        let all = log(&store, Span { from: v1, to: v2, directory }).expect("a log");
        all.into_iter().map(|LogEntry { subject, author, .. }| format!("{author}: {subject}")).collect::<Vec<_>>()
    };
    assert_eq!(subjects("p"), ["me: p: the second release"]);
    assert_eq!(subjects("[p]"), [""; 0], "a path is no pattern");
    assert_eq!(subjects(""), ["me: p: the second release", "me: run: another folder"]);
    let all = log(&store, Span { from: v1, to: v2, directory: "p" }).expect("a log");
    assert_eq!((all[0].commit.as_str(), all[0].date.len()), (v2, "2026-11-28".len()));
    let gone = "0".repeat(40);
    let told = log(&store, Span { from: &gone, to: v2, directory: "" }).expect_err("no such commit").to_string();
    assert!(told.contains(&format!("the commit {gone} cannot be fetched")), "{told}");
}

#[test]
fn of_the_repository_that_one_stands_in_any_revision_is_a_release() {
    let upstream = Upstream::new();
    let store = upstream.here();
    let state = |reference: &str| {
        let address = ReleaseAddress::parse(&format!(".git/p@{reference}")).expect("an address");
        store.state(&address).map(|state| state.commit).ok()
    };
    let commit = |name: &str| Some(upstream.commits[name].clone());
    assert_eq!([state("v1"), state("v2"), state("main")], [commit("v1"), commit("v2"), commit("v2")]);
    assert_eq!([state("HEAD~1"), state("nothing")], [commit("other"), None]);
    let told = Store::open(&Repo::Here, &upstream.work.path(".git"), Network::Online).expect_err("no work tree");
    assert!(told.to_string().contains("must be in the work tree of a git repository"), "{told}");
    let outside = TemporaryFolder::new("test-of-git").expect("a folder");
    Store::open(&Repo::Here, outside.path(), Network::Online).expect_err("no repository");
    let missing = "0".repeat(40);
    let gone = store.fetch(&[missing.clone(), upstream.commits["v1"].clone()].into()).expect("asked");
    assert_eq!(
        gone.into_iter().collect::<Vec<_>>(),
        [(missing, "there is no such commit in the repository".to_owned())]
    );
}
