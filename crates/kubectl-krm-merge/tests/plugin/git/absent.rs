//! git runs the driver where its program is not there, or fails: then the file holds what git's own merge by line gives.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Repository, WEB};
use crate::support::{Folder, PLUGIN, Ran, has};

const DRIVERS: [&str; 2] = ["merge.krm-merge.driver", "merge.krm-merge-ancestors.driver"];

impl Repository {
    /// Lets git run another program in place of the plugin.
    fn run_by(&self, program: &str) {
        for driver in DRIVERS {
            let command = self.git(&["config", driver]);
            let rest = command.trim_end().split_once(" git-driver").expect("a driver").1;
            self.git(&["config", driver, &format!("{program} git-driver{rest}")]);
        }
    }

    /// What a merge of `topic` leaves: its exit code, the file, and what git says of the file. Then goes back.
    fn outcome(&self, path: &str, style: &str) -> (Option<i32>, Vec<u8>, String) {
        let style = format!("merge.conflictStyle={style}");
        let ran = self.command(&["-c", &style, "merge", "-q", "topic", "-m", "m"]).output().expect("git");
        let file = fs::read(self.0.path(path)).expect("the file");
        let status = self.git(&["status", "--porcelain", "--untracked-files=no"]);
        self.git(&["reset", "-q", "--hard", "main@{0}"]);
        if ran.status.success() {
            self.git(&["reset", "-q", "--hard", "main~1"]);
        }
        (ran.status.code(), file, status)
    }
}

fn executable(folder: &Folder, path: &str, script: &str) -> String {
    folder.write(path, script);
    fs::set_permissions(folder.path(path), fs::Permissions::from_mode(0o755)).expect("set");
    format!("'{}'", folder.path(path).display())
}

/// Blocks that are alike change places: only one algorithm finds that ours changed one of them.
fn moved() -> [String; 3] {
    let block = |name: &str, cpu: u8| {
        format!("{name}:\n  image:\n    tag: v1\n  limits:\n    cpu: {cpu}\n    memory: 1Gi\n  env:\n  - {name}\n\n")
    };
    let file = |all: &[(&str, u8)]| all.iter().map(|(name, cpu)| block(name, *cpu)).collect::<String>();
    [[("a", 1), ("b", 1), ("c", 1)], [("a", 1), ("b", 1), ("c", 4)], [("a", 1), ("c", 1), ("b", 1)]]
        .map(|all| file(&all))
}

#[test]
fn without_the_program_a_file_gets_what_git_s_own_merge_gives() {
    if !has("git") {
        return;
    }
    let with = |image: &str| WEB.replace("web:1", image);
    let conflict = [with("web:1"), with("web:2"), with("web:3")];
    let clean = [with("web:1"), with("web:2"), WEB.replace("someone", "someone else")];
    let binary = ["0", "1", "2"].map(|x| format!("a\0: {x}\n"));
    let folder = Folder::new();
    let not_executable = folder.path("not executable");
    folder.write("not executable", "");
    let programs = [
        "kubectl-krm_merge-of-nobody".to_owned(),
        "'/no such folder/100%%/kubectl-krm_merge'".to_owned(),
        format!("'{}'", not_executable.display()),
        // Another version, which does not know an argument.
        executable(&folder, "old", "#!/bin/sh\necho 'error: unexpected argument' >&2\nexit 2\n"),
    ];
    for [original, ours, theirs] in [conflict, clean, moved(), binary] {
        let path = "a b/it's %O.yaml";
        let repository = Repository::new(path, &original);
        repository.0.write(".gitattributes", repository.0.read(".gitattributes") + "*.yaml conflict-marker-size=9\n");
        repository.commit("longer markers");
        repository.branch(path, &ours, &theirs);
        repository.git(&["branch", "-m", "topic", "100%X"]);
        repository.git(&["branch", "topic", "100%X"]);
        for style in ["merge", "diff3"] {
            let own = {
                let undriven = Repository(Folder::new());
                undriven.git(&["clone", "-q", "--no-local", repository.0.0.to_str().expect("UTF-8"), "."]);
                undriven.git(&["branch", "-q", "topic", "origin/topic"]);
                undriven.outcome(path, style)
            };
            for program in &programs {
                repository.run_by(program);
                assert_eq!(repository.outcome(path, style), own, "{program}");
            }
        }
    }
}

/// What the program itself says counts, whatever it left in the file.
#[test]
fn a_program_that_is_there_has_the_last_word() {
    if !has("git") {
        return;
    }
    let folder = Folder::new();
    let repository = Repository::new("web.yaml", WEB);
    repository.branch("web.yaml", &WEB.replace("web:1", "web:2"), &WEB.replace("web:1", "web:3"));
    let ours = repository.0.read("web.yaml");
    for (exit, code, text, status) in [(0, Some(0), "mine\n", ""), (1, Some(1), "mine\n", "UU web.yaml\n")] {
        // Of the arguments, the last three are `%A`, `%B` and `%P`.
        let script = format!("#!/bin/sh\nwhile [ $# -gt 3 ]; do shift; done\necho mine >\"$1\"\nexit {exit}\n");
        repository.run_by(&executable(&folder, "program", &script));
        assert_eq!(repository.outcome("web.yaml", "merge"), (code, text.as_bytes().to_vec(), status.to_owned()));
    }
    // It could not write, so git stops.
    repository.run_by(&executable(&folder, "program", "#!/bin/sh\nexit 255\n"));
    let ran = repository.fails(&["merge", "topic"]);
    assert_eq!(repository.0.read("web.yaml"), ours, "{ran:?}");
}

#[test]
fn a_file_that_cannot_be_read_stops_git() {
    let folder = Folder::with(&[("o", WEB), ("b", &WEB.replace("web:1", "web:2"))]);
    let error = folder.run(&["git-driver", "o", "no-file", "b"]).failed(255);
    assert!(error.starts_with("error: no-file: "), "{error}");
}

/// A git before 2.44 leaves the labels as they are, and takes no algorithm.
#[test]
fn an_old_git_is_given_labels_and_no_algorithm() {
    if !has("git") {
        return;
    }
    let repository = Repository::new("x.txt", "x\n");
    let old = "#!/bin/sh\ncase \"$*\" in *--diff-algorithm*) exit 129;; esac\nPATH=${PATH#*:} exec git \"$@\"\n";
    executable(&repository.0, "bin/git", old);
    repository.run_by("kubectl-krm_merge-of-nobody");
    for driver in DRIVERS {
        for (texts, code, want) in [
            (["a: 1\n", "a: 2\n", "a: 3\n"], 1, "<<<<<<<<< ours\na: 2\n=========\na: 3\n>>>>>>>>> theirs\n"),
            (["a: 1\nb\nc\nd: 1\n", "a: 2\nb\nc\nd: 1\n", "a: 1\nb\nc\nd: 2\n"], 0, "a: 2\nb\nc\nd: 2\n"),
        ] {
            ["o", "a", "b"].iter().zip(texts).for_each(|(path, text)| repository.0.write(path, text));
            let command = repository.git(&["config", driver]);
            let command = [("%%", "%"), ("%O", "o"), ("%A", "a"), ("%B", "b"), ("%P", "'x y'"), ("%L", "9")]
                .iter()
                .fold(command, |command, (of, is)| command.replace(of, is));
            let path = std::env::var("PATH").expect("PATH");
            let path = format!("{}:{path}", repository.0.path("bin").display());
            let ran = Command::new("sh").args(["-c", &command]).current_dir(&repository.0.0).env("PATH", path).output();
            let ran = Ran::of(ran.expect("a shell"));
            assert_eq!((ran.code, repository.0.read("a").as_str()), (Some(code), want), "{ran:?}");
        }
    }
}

#[test]
fn a_second_installation_mends_an_old_configuration() {
    if !has("git") {
        return;
    }
    let repository = Repository::new("web.yaml", WEB);
    let new = DRIVERS.map(|driver| repository.git(&["config", driver]));
    let labels = "--marker-size=%L --original-label=%S --ours-label=%X --theirs-label=%Y -- %O %A %B %P";
    for (driver, option) in DRIVERS.iter().zip(["", " --common-ancestor"]) {
        repository.git(&["config", driver, &format!("kubectl-krm_merge git-driver{option} {labels}")]);
    }
    let said = repository.0.run(&["git-install", "--dry-run"]).passed();
    assert_eq!(repository.0.run(&["git-install"]).passed(), said);
    assert_eq!(said.matches("git config --local merge.krm-merge").count(), 2, "{said}");
    assert_eq!(DRIVERS.map(|driver| repository.git(&["config", driver])), new);
}

/// The path of the program stands in the command if no name leads to it.
#[test]
fn a_program_at_any_path_is_run() {
    if !has("git") {
        return;
    }
    let folder = Folder::new();
    let program = folder.path("it's 100%O/kubectl-krm_merge");
    fs::create_dir(program.parent().expect("a folder")).expect("made");
    fs::copy(PLUGIN, &program).expect("copied");
    let repository = Repository::new("web.yaml", WEB);
    let ran = Command::new(&program).arg("git-install").current_dir(&repository.0.0).output().expect("runs");
    Ran::of(ran).passed();
    let theirs = WEB.replace("replicas: 1", "replicas: 1\n  paused: true");
    repository.branch("web.yaml", &WEB.replace("replicas: 1", "replicas: 2"), &theirs);
    repository.git(&["merge", "-q", "topic"]);
    assert_eq!(repository.0.read("web.yaml"), theirs.replace("replicas: 1", "replicas: 2"));
}
