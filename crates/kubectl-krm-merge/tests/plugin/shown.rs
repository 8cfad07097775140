//! No name, path, key, value or argument reaches a terminal as anything but what it looks like, whichever way it takes.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Folder, PLUGIN, Ran, has};

/// Controls (C0, DEL, C1), breaks of lines of all kinds, marks of direction, and what has no width.
pub const ODD: &str = "\u{1}\u{7}\u{8}\t\u{1b}[2J\u{1b}]0;x\u{7}\u{7f}\u{85}\u{9b}31m\u{9d}\u{202e}\u{202a}\u{2066}\u{2069}\u{200e}\u{61c}\u{2028}\u{2029}\u{200b}\u{200d}\u{2060}\u{ad}\u{feff}\u{e0041}";

/// What makes a patch of a name that is printed as it is.
const PATCH: &str =
    "x\n--- /dev/null\n+++ b/OWNED\n@@ -0,0 +1 @@\n+OWNED\ndiff --git a/OWNED b/OWNED\n\rerror: OWNED\n";

pub fn odd(name: &str) -> String {
    format!("{name}{ODD}{PATCH}")
}

/// The same without what no file name may hold here.
fn odd_file(name: &str) -> String {
    format!("{name}{ODD}\"\\é.yaml")
}

fn misleads(c: char) -> bool {
    ODD.contains(c) && !c.is_ascii_graphic() || c == '\r'
}

/// Text for people: nothing misleads, and no line is another's.
fn check(text: &str) {
    // A tab ends a name with blanks in the head of a diff.
    assert!(!text.replace("\t\n", "\n").chars().any(misleads), "{text:?}");
    let is_owned = |line: &str| {
        ["--- ", "+++ b/OWNED", "@@ -0,0 +1 @@", "+OWNED", "diff --git a/OWNED", "error: OWNED"]
            .iter()
            .any(|own| line.starts_with(own) && line.contains("OWNED"))
    };
    assert!(!text.lines().any(is_owned), "{text:?}");
}

pub fn check_all(ran: &Ran) {
    check(&ran.stdout);
    check(&ran.stderr);
}

/// JSON in ASCII, which is YAML that all readers take.
pub fn ascii(value: &Value) -> String {
    let escape = |c: char| match c {
        c if c.is_ascii() && c != '\u{7f}' => c.to_string(),
        c => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    // A reader of YAML knows no surrogates.
    value.to_string().replace('\u{e0041}', "\\U000e0041").chars().map(escape).collect()
}

fn thing(kind: &str, namespace: &str, name: &str, value: &str) -> String {
    let map = json!({"apiVersion": odd("example.com/v1"), "kind": kind, "metadata": {"name": name, "namespace": namespace}, "data": {odd("key"): value, "same": "x"}});
    format!("{}\n", ascii(&map))
}

fn all_odd(value: &str) -> String {
    thing(&odd("Kind"), &odd("namespace"), &odd("name"), value)
}

#[test]
fn a_name_writes_no_patch() {
    let file = odd_file("a");
    for path in [file.as_str(), "plain.yaml", "a b.yaml", "é\"\\.yaml", "\u{9b}31m\u{202e}.yaml"] {
        let folder = Folder::with(&[]);
        folder.write(&format!("dest/{path}"), all_odd("1"));
        folder.write("source.yaml", all_odd("2"));
        let out = folder.run(&["two-way", "-s", "source.yaml", "-d", "dest", "-o", "diff"]).passed();
        // The lines of the file are ASCII.
        check(&out);
        assert_eq!(out.matches("\n@@ ").count(), 1, "{out:?}");
        folder.write("patch", &out);
        if has("git") {
            let mut git = Command::new("git");
            let ran = Ran::of(git.args(["apply", "../patch"]).current_dir(folder.path("dest")).output().expect("runs"));
            let _ = ran.passed();
            assert_eq!(folder.files("dest"), [(path.to_owned(), all_odd("2").into_bytes())].into(), "{out}");
        }
    }
}

/// git itself names a file in the same way.
#[test]
fn files_are_named_as_git_names_them() {
    if !has("git") {
        return;
    }
    let folder = Folder::with(&[]);
    let names =
        [odd_file("a"), "é.yaml".into(), "plain.yaml".into(), "q\"\\.yaml".into(), "bell\u{7}\u{b}\u{c}.yaml".into()];
    for name in &names {
        folder.write(
            &format!("dest/{name}"),
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\nx: 1\n"
                .replace("kind: A", &format!("kind: K{}", name.len())),
        );
    }
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(args).current_dir(folder.path("dest")).env("GIT_CONFIG_GLOBAL", "/dev/null");
        Ran::of(git.output().expect("runs")).passed()
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    let sources: String = names
        .iter()
        .map(|n| format!("---\napiVersion: v1\nkind: K{}\nmetadata: {{name: a}}\nx: 2\n", n.len()))
        .collect();
    folder.write("source.yaml", sources);
    let ours = folder.run(&["two-way", "-s", "source.yaml", "-d", "dest", "-o", "diff"]).passed();
    folder.run(&["two-way", "-s", "source.yaml", "-d", "dest", "--in-place"]).passed();
    let theirs = git(&["diff"]);
    let heads = |text: &str| {
        let mut heads: Vec<String> = text
            .lines()
            .filter(|l| ["diff ", "---", "+++"].iter().any(|h| l.starts_with(h)))
            .map(str::to_owned)
            .collect();
        heads.sort();
        heads
    };
    assert_eq!(heads(&ours), heads(&theirs));
    assert_eq!(heads(&ours).len(), 3 * names.len());
}

#[test]
fn no_format_of_a_merge_prints_what_misleads() {
    let folder = Folder::with(&[]);
    let path = odd_file("dir");
    let (original, dest, updated) = (all_odd("1"), all_odd(&odd("mine")), all_odd(&odd("theirs")));
    let sides = [("original", &original), ("updated", &updated), ("dest", &dest)];
    for (side, text) in sides {
        folder.write(&format!("{side}/{path}"), text);
        folder.write(&format!("{side}/{}", path.replace(".yaml", ".txt")), format!("{side}{ODD}"));
        folder.write(&format!("{side}/plain"), format!("{side}\n"));
    }
    let upgrade = ["three-way", "--original", "original", "--updated", "updated", "--dest", "dest"];
    for more in [
        &["-o", "name"][..],
        &["--stat"],
        &["-o", "results"],
        &["-o", "json"],
        &["-o", "github"],
        &["-o", "sarif"],
        &["-o", "markdown"],
        &["-o", "html"],
        &["--dry-run", "-i"],
        &["--on-conflict", "fail"],
        &["--on-conflict", "fail", "-o", "results"],
    ] {
        let ran = folder.run(&[&upgrade[..], more].concat());
        let is_fail = more.contains(&"fail");
        if more.contains(&"--dry-run") {
            // The text files are data, of which lines are in the diff.
            let heads = ran
                .stdout
                .lines()
                .filter(|l| !l.starts_with(['-', '+', ' ']) || l.starts_with("  ") && l.contains(": "));
            heads.for_each(check);
            check(&ran.stderr);
        } else {
            check_all(&ran);
        }
        assert_eq!(ran.code, Some(i32::from(is_fail)), "{more:?} {ran:?}");
        assert!(ran.stdout.len() > 10 || is_fail, "{more:?} {ran:?}");
    }
    let names = folder.run(&[&upgrade[..], &["-o", "name"]].concat()).passed();
    assert_eq!(names.lines().count(), 1, "{names}");
    // The data are the same ones, escaped or to the byte.
    let merged: Value =
        serde_json::from_str(&folder.run(&[&upgrade[..], &["-o", "json"]].concat()).passed()).expect("JSON");
    assert_eq!(
        (&merged["kind"], &merged["metadata"]["name"], &merged["data"][odd("key")]),
        (&json!(odd("Kind")), &json!(odd("name")), &json!(odd("theirs")))
    );
    let results = folder.run(&[&upgrade[..], &["-o", "results"]].concat()).passed();
    let results: Value = yaml_serde::from_str(&results).expect("YAML");
    let conflict =
        results["results"].as_array().expect("results").iter().find(|r| r["resourceRef"]["kind"] == odd("Kind"));
    let conflict = conflict.expect("a conflict");
    assert_eq!((&conflict["field"]["currentValue"], &conflict["file"]["path"]), (&json!(odd("mine")), &json!(path)));
    let yaml = folder.run(&[&upgrade[..], &["-o", "yaml"]].concat()).passed();
    let document = krm_yaml::Document::parse(yaml).expect("YAML");
    let root = document.roots().next().expect("a resource");
    let yaml = krm_tree::splice::to_json(root, &krm_tree::limit::Budget::default()).expect("a small text");
    assert_eq!(serde_json::from_str::<Value>(&yaml).expect("JSON"), merged);
    let ran = folder.run(&[&upgrade[..], &["--in-place"]].concat());
    check_all(&ran);
    assert_eq!(ran.passed().lines().filter(|l| l.starts_with("changed ")).count(), 3);
}

#[test]
fn no_warning_or_error_tells_what_misleads() {
    let folder = Folder::with(&[]);
    let odd_path = odd_file("odd");
    folder.write("dest.yaml", all_odd("1"));
    folder.write("dest/plain.yaml", all_odd("1"));
    folder.write(&format!("broken/{odd_path}"), "a: [b\n");
    let new = thing("Map", "", &odd("new"), "1");
    folder.write("new.yaml", &new);
    folder.write("twice.yaml", all_odd("1") + "---\n" + &all_odd("2"));
    folder.write(
        "directive.yaml",
        ascii(
            &json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": odd("n")}, odd("k"): {"$patch": odd("v")}}),
        ),
    );
    folder.write("patched.yaml", ascii(&json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": odd("n")}})));
    folder.write("config.yaml", ascii(&json!({"apiVersion": "krm-merge.dev/v1alpha1", "kind": "Merge", "spec": {"mode": odd("TwoWay"), odd("field"): 1}})));
    folder.write(&format!("link/{odd_path}"), all_odd("1"));
    let rule = format!("apiVersion=v1,kind=A,path={}", odd("spec"));
    let (argument, named) = (odd("arg"), format!("--{}", odd("flag")));
    for args in [
        &["two-way", "-s", &argument, "-d", "dest.yaml"][..],
        &["two-way", "-s", "broken", "-d", "dest.yaml"],
        &["two-way", "-s", "dest.yaml", "-d", "twice.yaml", "-i"],
        &["two-way", "-p", &new, "-d", "dest"],
        &["two-way", "-s", "directive.yaml", "-d", "patched.yaml"],
        &["two-way", "--config", "config.yaml", "-d", "dest"],
        &["two-way", "--config", &argument, "-d", "dest"],
        &["two-way", "-s", "dest.yaml", "-d", "dest", "--merge-keys", &rule],
        &["two-way", "-s", "dest.yaml", "-d", "dest", "--merge-keys", &argument],
        &["two-way", "-s", "dest.yaml", "-d", "dest", "--target", &argument],
        &["two-way", "-s", "dest.yaml", "-d", "dest", "--openapi", &argument],
        &["two-way", "-s", "dest.yaml", "-d", "dest", "--output", &argument],
        &["two-way", "-s", "dest.yaml", "-d", "dest", &named],
        &["two-way", "-s", "dest.yaml", "-d", "dest", &argument],
        &["two-way", "-s", "dest.yaml", "-d", "dest", &format!("--in-place={argument}")],
        &["strategic", "-p", "new.yaml", "-d", "dest"],
        &["strategic", "-p", &format!("{{{argument}"), "-d", "dest"],
        &["strategic", "-p", &argument, "-d", "dest"],
        &["three-way", "--original", &argument, "--updated", "dest", "-d", "dest"],
        &["three-way", "--original", "dest", "--updated", "dest", "-d", &argument],
        &["live", "-f", &argument],
        &["live", "-f", "dest.yaml", "--kubeconfig", &argument],
        &["live", "-f", "dest.yaml", "--timeout", &argument],
        &["git-driver", &argument, "dest.yaml", "dest.yaml"],
        &["git-driver", "--marker-size", &argument, "a", "b", "c"],
        &["git-install", &argument],
        &["completion", &argument],
        &["man", &argument],
        &[&argument],
        &[&named],
    ] {
        let ran = folder.run(args);
        check_all(&ran);
        // A driver that cannot read its files stops git.
        assert!(matches!(ran.code, Some(2 | 255)) && !ran.stderr.is_empty(), "{args:?} {ran:?}");
    }
    // Candidates repeat no word.
    check_all(&folder.run(&["complete", "--", "two-way", &argument]));
    check_all(&folder.run(&["complete", "--", &argument]));
}

#[test]
fn help_calls_the_program_by_a_name_that_can_be_shown() {
    #[cfg(unix)]
    {
        let folder = Folder::with(&[]);
        let program = folder.path(&format!("prog{ODD}"));
        std::os::unix::fs::symlink(PLUGIN, &program).expect("a link");
        for args in [&["--help"][..], &["two-way", "--nothing"], &["man"], &["completion", "bash"]] {
            let ran = Ran::of(Command::new(&program).args(args).output().expect("runs"));
            check_all(&ran);
            assert!(ran.stdout.len() + ran.stderr.len() > 50, "{ran:?}");
        }
    }
}

#[test]
fn the_driver_and_its_installation_say_nothing_that_misleads() {
    if !has("git") {
        return;
    }
    let folder = Folder::with(&[]);
    let home = format!("repo{ODD}");
    std::fs::create_dir_all(folder.path(&home)).expect("a folder");
    let git =
        |args: &[&str]| Ran::of(Command::new("git").args(args).current_dir(folder.path(&home)).output().expect("runs"));
    git(&["init", "-q"]).passed();
    let pattern = format!("*{ODD}.yaml").replace(['[', ']'], "");
    for more in [&["--dry-run"][..], &[], &[]] {
        let mut command = folder.command(&[&["git-install", "--pattern", &pattern], more].concat());
        let ran = Ran::of(command.current_dir(folder.path(&home)).output().expect("runs"));
        check_all(&ran);
        assert!(!ran.passed().is_empty());
    }
    let merged = git(&["check-attr", "merge", "--", &format!("a{ODD}.yaml").replace(['[', ']'], "")]).passed();
    assert!(merged.ends_with("merge: krm-merge\n"), "{merged}");

    let map = |value: &str| {
        ascii(&json!({"apiVersion": "v1", "kind": odd("Kind"), "metadata": {"name": odd("name")}}))
            .replace("}}", &format!("}},\n{}: {}}}", ascii(&json!(odd("key"))), ascii(&json!(value))))
    };
    for (name, value) in [("o", "1"), ("a", &odd("2")), ("b", &odd("3"))] {
        folder.write(name, map(value));
    }
    let label = odd("label");
    let ran =
        folder.run(&["git-driver", "--ours-label", &label, "--theirs-label", &label, "o", "a", "b", &odd("path")]);
    check_all(&ran);
    let _ = ran.failed(1);
    let marked = folder.read("a");
    let marks: Vec<&str> =
        marked.lines().filter(|line| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ")).collect();
    assert_eq!(marks.len(), 2, "{marked:?}");
    marks.into_iter().for_each(check);
}

/// Data stay as they are for a program, and are shown to someone at a terminal.
#[test]
fn a_terminal_is_shown_data_too() {
    if !has("script") {
        return;
    }
    let folder = Folder::with(&[]);
    let comment = "\u{202e}\u{200b}m";
    let text = |value: &str| format!("apiVersion: v1\nkind: A # {comment}\nmetadata: {{name: a}}\nx: {value}\n");
    folder.write("dest/a.yaml", text("1"));
    folder.write("source.yaml", text("2"));
    for (format, want) in [("diff", "A # \\u202e\\u200bm\r\n"), ("yaml", "A # \\u202e\\u200bm\r\n")] {
        let words = format!("'{PLUGIN}' two-way -s source.yaml -d dest -o {format}");
        let mut script = Command::new("script");
        let ran = Ran::of(
            script
                .args(["-qec", &words, "/dev/null"])
                .current_dir(&folder.0)
                .env("TERM", "xterm")
                .env_remove("NO_COLOR")
                .output()
                .expect("runs"),
        );
        assert!(ran.stdout.contains(want) && !ran.stdout.contains(comment), "{ran:?}");
        assert_eq!(ran.stdout.contains("\x1b[32m+x: 2\x1b[0m\r\n"), format == "diff", "{ran:?}");
        let out = folder.run(&["two-way", "-s", "source.yaml", "-d", "dest", "-o", format]).passed();
        assert!(out.contains(comment), "{out:?}");
    }
}
