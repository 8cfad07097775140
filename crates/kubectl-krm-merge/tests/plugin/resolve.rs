//! `resolve`: conflicts of real merges and of other tools, decided by flags, by a file and at a terminal.

use std::process::Command;

use crate::support::{Folder, PLUGIN, has, send};

const CONFLICTS: &str = "a: 0\n<<<<<<< HEAD\nb: 1\n||||||| base\nb: 0\n=======\nb: 2\n>>>>>>> topic\nc: 0\n<<<<<<< HEAD\nd: 1\n=======\n>>>>>>> topic\n";
const OURS: &str = "a: 0\nb: 1\nc: 0\nd: 1\n";
const THEIRS: &str = "a: 0\nb: 2\nc: 0\n";

#[test]
fn taking_a_side_gives_its_text_and_changes_nothing_else() {
    for (take, want) in [("ours", OURS), ("theirs", THEIRS), ("dest", OURS), ("updated", THEIRS)] {
        let folder =
            Folder::with(&[("a b.yaml", CONFLICTS), (".hidden/x", CONFLICTS), ("plain", "=======\n>>>>>>> x\n")]);
        let told = folder.run(&["resolve", "--take", take]).passed();
        assert_eq!(told, "resolved .hidden/x: 2 of 2 conflicts\nresolved a b.yaml: 2 of 2 conflicts\n");
        assert_eq!((folder.read("a b.yaml"), folder.read(".hidden/x")), (want.to_owned(), want.to_owned()));
        assert_eq!(folder.read("plain"), "=======\n>>>>>>> x\n");
        // The key seals the journal of a run that changes more than one file.
        let files: Vec<_> = folder.files(".").into_keys().collect();
        assert_eq!(files, [".cache/krm-merge/key", ".hidden/x", "a b.yaml", "plain"]);
        assert_eq!(folder.run(&["resolve"]).passed(), "no conflict to resolve\n");
    }
}

#[test]
fn a_conflict_inside_of_a_side_is_left_and_told() {
    let inner = "<<<<<<<< HEAD:a\nb: 1\n========\nb: 2\n>>>>>>>> topic:b\n";
    let text = format!("a: 0\n<<<<<<< HEAD\nb: 3\n=======\n{inner}>>>>>>> topic\n");
    let folder = Folder::with(&[("a.yaml", &text)]);
    let ran = folder.run(&["resolve", "--take", "theirs"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "resolved a.yaml: 1 of 1 conflict\n"), "{ran:?}");
    assert_eq!(ran.stderr, "error: a.yaml:2: the side that was taken has a conflict of its own: run `resolve` again\n");
    assert_eq!(folder.read("a.yaml"), format!("a: 0\n{inner}"));
    folder.run(&["resolve", "--take", "theirs"]).passed();
    assert_eq!(folder.read("a.yaml"), "a: 0\nb: 2\n");
}

#[test]
fn only_files_that_were_named_are_resolved() {
    let folder = Folder::with(&[("a.yaml", CONFLICTS), ("b/c.yaml", CONFLICTS), ("d.yaml", CONFLICTS)]);
    folder.run(&["resolve", "--take", "ours", "b", "./d.yaml", "d.yaml"]).passed();
    assert_eq!(folder.read("a.yaml"), CONFLICTS);
    assert_eq!((folder.read("b/c.yaml"), folder.read("d.yaml")), (OURS.to_owned(), OURS.to_owned()));
    let error = folder.run(&["resolve", "--take", "ours", "a.yaml", "gone"]).failed(2);
    assert!(error.starts_with("error: `FILES` \"gone\": "), "{error}");
    assert_eq!(folder.read("a.yaml"), CONFLICTS);
}

#[test]
fn answers_of_a_file_are_of_one_conflict_each() {
    let folder =
        Folder::with(&[("a.yaml", CONFLICTS), ("b.yaml", CONFLICTS), ("answers", "# here\na.yaml:2 theirs\n4 both\n")]);
    let args = ["resolve", "--answers", "answers", "a.yaml", "b.yaml"];
    let ran = folder.run(&args);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""), "{ran:?}");
    assert_eq!(ran.stdout, "resolved a.yaml: 1 of 2 conflicts\nresolved b.yaml: 1 of 2 conflicts\n");
    assert!(folder.read("a.yaml").starts_with("a: 0\nb: 2\nc: 0\n<<<<<<< HEAD\n"));
    assert!(folder.read("b.yaml").ends_with(">>>>>>> topic\nc: 0\nd: 1\n"));
    folder.write("answers", "a.yaml:3 theirs\n");
    let error = folder.run(&args).failed(2);
    assert!(error.starts_with("error: answers:1: the place must be that of a conflict"), "{error}");
    folder.write("answers", "1 ours\n");
    folder.run(&["resolve", "--answers", "answers", "--take", "theirs"]).passed();
    assert_eq!(folder.read("a.yaml"), "a: 0\nb: 2\nc: 0\nd: 1\n");
}

#[test]
fn where_nobody_can_be_asked_the_conflicts_are_listed() {
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n";
    let text = format!("{head}<<<<<<< HEAD\n  a: '1'\n=======\n  a: '2'\n>>>>>>> topic\n");
    let folder = Folder::with(&[("c.yaml", &text), ("x", CONFLICTS)]);
    let ran = folder.run(&["resolve"]);
    assert_eq!(ran.stdout, "1 c.yaml:6 ConfigMap c data.a\n2 x:2\n3 x:10\n");
    assert!(ran.stderr.contains("Pass `--take ours`, `--take theirs` or `--answers FILE`"), "{ran:?}");
    assert_eq!((ran.code, folder.read("c.yaml")), (Some(2), text));
}

#[test]
fn markers_that_nobody_can_read_are_left_and_told() {
    let text = format!("<<<<<<< HEAD\nTitle\n=======\nx\n=======\ny\n>>>>>>> topic\n{CONFLICTS}");
    let folder = Folder::with(&[("a.rst", &text)]);
    let error = folder.run(&["resolve", "--take", "ours"]).failed(1);
    assert!(
        error.starts_with("error: a.rst:1: several lines between the markers may be the line that separates the sides"),
        "{error}"
    );
    assert!(folder.read("a.rst").ends_with(&format!("\ny\n>>>>>>> topic\n{OURS}")));
    // It is found where nobody named it and nothing else is in the file.
    assert!(folder.run(&["resolve", "--take", "ours"]).failed(1).starts_with("error: a.rst:1: "));
    folder.write("a.rst", "<<<<<<< alone\n");
    folder.run(&["resolve", "--take", "ours"]).passed();
    folder.run(&["resolve", "--take", "ours", "a.rst"]).failed(1);
}

#[test]
fn the_files_are_those_that_git_lists_as_unmerged() {
    if !has("git") {
        return;
    }
    for style in ["merge", "diff3", "zdiff3"] {
        let folder = Folder::with(&[("docs.md", CONFLICTS), ("web/a.yaml", "a: 0\nb: 0\nc: 0\n")]);
        let git = |args: &[&str]| {
            let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null"];
            let mut git = Command::new("git");
            git.args(who).args(["-c", &format!("merge.conflictStyle={style}")]).args(args);
            git.current_dir(&folder.0).output().expect("git runs").status.success()
        };
        let commit = || assert!(git(&["add", "."]) && git(&["commit", "-q", "-m", "x"]));
        assert!(git(&["init", "-q", "-b", "main"]));
        commit();
        assert!(git(&["checkout", "-q", "-b", "topic"]));
        folder.write("web/a.yaml", "a: 0\nb: 2\nc: 0\n");
        commit();
        assert!(git(&["checkout", "-q", "main"]));
        folder.write("web/a.yaml", "a: 0\nb: 1\nc: 0\n");
        commit();
        // A rule may ignore what git knows.
        folder.write(".gitignore", "web/\n");
        for named in [&[][..], &["web"]] {
            git(&["reset", "-q", "--hard"]);
            assert!(!git(&["merge", "-q", "topic"]));
            let told = folder.run(&[&["resolve", "--take", "theirs"], named].concat()).passed();
            assert_eq!(told, "resolved web/a.yaml: 1 of 1 conflict\n");
        }
        assert_eq!(folder.read("web/a.yaml"), "a: 0\nb: 2\nc: 0\n");
        assert_eq!(folder.read("docs.md"), CONFLICTS, "it is no part of the merge");
    }
}

#[test]
fn unmerged_files_without_markers_are_named() {
    if !has("git") {
        return;
    }
    let (text, bytes) = ("a: 0\n", "a\0b: 0\n");
    let folder = Folder::with(&[("gone.yaml", text), ("here.yaml", text), ("u.yaml", bytes), ("w.yaml", text)]);
    folder.write("m.yaml", text);
    folder.write(".gitattributes", "m.yaml -merge\n");
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null"];
        Command::new("git").args(who).args(args).current_dir(&folder.0).output().expect("git runs").status.success()
    };
    let commit = || assert!(git(&["add", "--all", "."]) && git(&["commit", "-q", "-m", "x"]));
    let change = |to: &str, gone: &str, files: &[&str]| {
        std::fs::remove_file(folder.path(gone)).expect("removed");
        files.iter().for_each(|file| folder.write(file, folder.read(file).replace('0', to)));
        commit();
    };
    assert!(git(&["init", "-q", "-b", "main"]));
    commit();
    assert!(git(&["checkout", "-q", "-b", "topic"]));
    change("2", "here.yaml", &["gone.yaml", "m.yaml", "u.yaml", "w.yaml"]);
    assert!(git(&["checkout", "-q", "main"]));
    change("1", "gone.yaml", &["here.yaml", "m.yaml", "u.yaml", "w.yaml"]);
    assert!(!git(&["merge", "-q", "topic"]));
    let no_lines = |name: &str| {
        format!(
            "error: {name}: git does not merge it by line, so it has no conflict markers. Run `git checkout --ours` or `git checkout --theirs`, and `git add`\n"
        )
    };
    let [gone, here, attribute, no_text] = [
        "error: gone.yaml: only theirs has the file. Run `git add` to keep it, or `git rm` to delete it\n",
        "error: here.yaml: only ours has the file. Run `git add` to keep it, or `git rm` to delete it\n",
        &no_lines("m.yaml"),
        &no_lines("u.yaml"),
    ];
    let ran = folder.run(&["resolve", "--take", "theirs"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "resolved w.yaml: 1 of 1 conflict\n"), "{ran:?}");
    assert_eq!(ran.stderr, [gone, here, attribute, no_text].concat());
    // Nothing else is left, so the file with markers is resolved.
    let ran = folder.run(&["resolve", "--take", "theirs"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (Some(1), "", [gone, here, attribute, no_text].concat()));
    let ran = folder.run(&["resolve", "u.yaml", "w.yaml"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(1), "", no_text));
    assert_eq!(folder.run(&["resolve", "w.yaml"]).passed(), "no conflict to resolve\n");
    // git's index knows of no resolved file until it is staged.
    assert!(!git(&["diff", "--quiet", "--diff-filter=U", "--", "w.yaml"]));
    // Where git keeps ours without markers, as where a driver is missing, it looks the same. So only the user says that it is resolved.
    let unsure = "error: w.yaml: git has this file as unmerged, but it has no conflict markers. If it is resolved, run `git add w.yaml`\n";
    let ran = folder.run(&["resolve", "--git-add", "w.yaml"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(1), "", unsure));
    assert!(!git(&["diff", "--quiet", "--diff-filter=U", "--", "w.yaml"]));
    let ran = folder.run(&["resolve", "--git-add", "w.yaml", "u.yaml"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (Some(1), "", [no_text, unsure].concat()));
    // It is named beside what is resolved, too, and from outside of the repository, and if someone deleted it.
    folder.write("own.yaml", CONFLICTS);
    let ran = folder.run(&["resolve", "--git-add", "--take", "ours", "own.yaml", "w.yaml"]);
    let untracked =
        "warning: own.yaml: not staged, because git does not track it. To track it, run `git add own.yaml`\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), &[unsure, untracked].concat()[..]), "{ran:?}");
    assert!(!git(&["ls-files", "--error-unmatch", "own.yaml"]));
    let outside = Folder::with(&[("a.yaml", text)]);
    let path = folder.path("w.yaml");
    let ran = outside.run(&["resolve", "--git-add", "a.yaml", path.to_str().expect("UTF-8")]);
    let add = format!("run `git -C {} add w.yaml`\n", folder.0.display());
    assert!(ran.code == Some(1) && ran.stderr.lines().count() == 1 && ran.stderr.ends_with(&add), "{ran:?}");
    std::fs::remove_file(path).expect("removed");
    let ran = folder.run(&["resolve", "--git-add"]);
    let deleted = "error: w.yaml: git has this file as unmerged, but it is deleted. Run `git rm w.yaml` to delete it, or `git checkout --merge w.yaml` to get it back\n";
    assert!(ran.code == Some(1) && ran.stderr.ends_with(deleted), "{ran:?}");
    assert!(git(&["rm", "-q", "gone.yaml", "w.yaml"]) && git(&["add", "here.yaml", "m.yaml", "u.yaml"]));
    assert_eq!(folder.run(&["resolve"]).passed(), "no conflict to resolve\n");
}

/// Other systems refuse such names.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf_8_is_shown_with_escapes_and_read_so() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let file = folder.0.join(OsStr::from_bytes(b"caf\xe9.yaml"));
    std::fs::write(&file, CONFLICTS).expect("written");
    // Its name is not that of the file above.
    folder.write("caf\u{fffd}.yaml", CONFLICTS);
    let listed = folder.run(&["resolve"]);
    assert!(listed.stdout.contains("\"caf\\xe9.yaml\":2\n"), "{listed:?}");
    folder.write("answers", "\"caf\\xe9.yaml\":2 ours\n\"caf\\xe9.yaml\":10 ours\n");
    let told = folder.run(&["resolve", "--answers", "answers"]);
    assert!(told.stdout.contains("resolved \"caf\\xe9.yaml\": 2 of 2 conflicts\n"), "{told:?}");
    assert_eq!(std::fs::read_to_string(&file).expect("there"), OURS);
    assert_eq!(folder.read("caf\u{fffd}.yaml"), CONFLICTS);
}

/// A file in which both answers together are a field twice.
const TWICE: &str = "a: 0\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> topic\nc: 0\n";

#[test]
fn answers_that_leave_no_yaml_are_refused() {
    let folder = Folder::with(&[("a.yaml", TWICE), ("a.txt", TWICE), ("answers", "1 both\n2 both\n")]);
    let error = folder.run(&["resolve", "--answers", "answers", "a.txt", "a.yaml"]).failed(2);
    assert!(error.starts_with("error: a.yaml:3:1: ") && error.lines().count() == 1, "{error}");
    assert!(error.ends_with(": the answers must make YAML, as each side alone does; nothing was written\n"), "{error}");
    assert_eq!([folder.read("a.yaml"), folder.read("a.txt")], [TWICE, TWICE]);
    folder.write("answers", "1 both\n");
    folder.run(&["resolve", "--answers", "answers", "a.txt"]).passed();
    assert_eq!(folder.read("a.txt"), "a: 0\nb: 1\nb: 2\nc: 0\n", "it need not be YAML");
    // A side alone is no fault of the answers, and neither is what was no YAML on a side.
    for text in [TWICE.to_owned(), TWICE.replace("b: 1", "b: [")] {
        folder.write("a.yaml", text);
        folder.write("answers", "1 theirs\n");
        assert_eq!(folder.run(&["resolve", "--answers", "answers", "a.yaml"]).stderr, "");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_both_sides_that_leave_no_yaml_are_asked_again() {
    if !has("script") {
        return;
    }
    for (keys, code, want) in [("boq", 0, "a: 0\nb: 1\nc: 0\n"), ("btq", 0, "a: 0\nb: 2\nc: 0\n"), ("bq", 1, TWICE)] {
        let folder = Folder::with(&[("a.yaml", TWICE)]);
        let (ended, shown) = at_terminal(&folder, keys);
        assert!(shown.contains("a.yaml:3:1: ") && shown.contains("press `e` to edit"), "{keys:?}: {shown}");
        assert_eq!((ended, folder.read("a.yaml")), (Some(code), want.to_owned()), "{keys:?}: {shown}");
    }
}

/// A run at a terminal that gets these keys and ends by itself: what the terminal showed. `script` of util-linux makes the terminal.
#[cfg(target_os = "linux")]
fn at_terminal(folder: &Folder, keys: &str) -> (Option<i32>, String) {
    use std::io::Write;
    use std::process::Stdio;
    use std::time::Duration;

    let mut script = Command::new("script");
    script.args(["-q", "-e", "-E", "never", "-c", &format!("stty rows 12 cols 100; '{PLUGIN}' resolve"), "/dev/null"]);
    script.current_dir(&folder.0).env("TERM", "xterm").env("EDITOR", "sed -i /d:/!d").env_remove("VISUAL");
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("runs");
    let mut stdin = child.stdin.take().expect("piped");
    for key in keys.chars() {
        // A key that comes before the terminal is raw would be a line of the shell's.
        std::thread::sleep(Duration::from_millis(400));
        stdin.write_all(key.encode_utf8(&mut [0; 4]).as_bytes()).expect("written");
        stdin.flush().expect("written");
    }
    let output = child.wait_with_output().expect("ends");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_keys_decide() {
    if !has("script") {
        return;
    }
    for (keys, code, want) in [
        ("toq", 0, "a: 0\nb: 2\nc: 0\nd: 1\n"),
        ("suteq", 0, "a: 0\nb: 2\nc: 0\nd: 1\n"),
        (
            "oq",
            1,
            &CONFLICTS.replace("<<<<<<< HEAD\nb: 1\n||||||| base\nb: 0\n=======\nb: 2\n>>>>>>> topic\n", "b: 1\n"),
        ),
        ("o\u{3}", 130, CONFLICTS),
    ] {
        let folder = Folder::with(&[("a.yaml", CONFLICTS)]);
        let (ended, shown) = at_terminal(&folder, keys);
        assert!(shown.contains("a.yaml:2 · conflict 1 of 2"), "{keys:?}: {shown}");
        assert_eq!((ended, folder.read("a.yaml")), (Some(code), want.to_owned()), "{keys:?}: {shown}");
        assert_eq!(folder.files(".").len(), 1);
    }
}

/// `script` of util-linux makes the terminal, and all of it is killed at once. The program leads its session, as a shell would that passes
/// the signal on. Under `nohup` the program ignores the signal, and sees that the terminal is gone.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_goes_away_ends_the_program() {
    for before in ["", "trap '' HUP; "] {
        for (key, shown) in [(None, "conflict 1"), (Some("e"), "in the editor")] {
            goes_away(before, key, shown);
        }
    }
}

/// A terminal that goes away once this is shown, after this key. The shell does something before it runs the program.
#[cfg(target_os = "linux")]
fn goes_away(before: &str, key: Option<&str>, shown: &str) {
    use std::io::Write;
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    if !has("script") {
        return;
    }
    let folder = Folder::with(&[("a.yaml", CONFLICTS), ("tmp/kept", "")]);
    let run = format!("{before}stty rows 12 cols 100; echo $$ > pid; exec '{PLUGIN}' resolve a.yaml");
    let mut script = Command::new("script");
    script.args(["-q", "-f", "-E", "never", "-c", &run, "shown"]).current_dir(&folder.0).env("TERM", "xterm");
    script.env("TMPDIR", folder.path("tmp")).env("EDITOR", "echo $$ > editor; echo in the editor; exec sleep 300; :");
    script.env_remove("VISUAL");
    let mut terminal = script.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("runs");
    let wait = |is_so: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < Duration::from_secs(60), "it takes too long");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let is_shown = |what: &str| {
        std::fs::read(folder.path("shown")).is_ok_and(|b| b.windows(what.len()).any(|w| w == what.as_bytes()))
    };
    wait(&|| is_shown("conflict 1"));
    let mut stdin = terminal.stdin.take().expect("piped");
    if let Some(key) = key {
        std::thread::sleep(Duration::from_millis(400));
        stdin.write_all(key.as_bytes()).expect("written");
        stdin.flush().expect("written");
    }
    wait(&|| is_shown(shown));
    let program = format!("/proc/{}/cmdline", folder.read("pid").trim());
    assert!(std::fs::read(&program).is_ok_and(|line| !line.is_empty()), "it waits for a key");
    assert!(send("KILL", &format!("-{}", terminal.id())));
    terminal.wait().expect("ended");
    // Who ended and was not waited for yet has no arguments any more.
    wait(&|| std::fs::read(&program).map_or(true, |line| line.is_empty()));
    if key.is_some() && !before.is_empty() {
        // The editor ignores the signal, too.
        assert!(send("TERM", folder.read("editor").trim()));
    }
    assert_eq!(folder.read("a.yaml"), CONFLICTS);
    assert_eq!(folder.files("tmp").len(), 1, "a temporary file is left");
}
