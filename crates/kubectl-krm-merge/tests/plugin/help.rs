//! What the plugin says of itself and of a command line: help that can be pasted, and errors that name the flag.

use std::collections::HashSet;

use crate::support::{Folder, Ran, map};

const COMMANDS: [&str; 15] = [
    "",
    "cache",
    "two-way",
    "three-way",
    "strategic",
    "live",
    "diff",
    "extract",
    "merge",
    "explain",
    "git-history",
    "git-install",
    "git-driver",
    "resolve",
    "review",
];

/// The commands in the examples of a help, each on one line, as a shell reads them.
fn examples(command: &str, columns: &str) -> Vec<String> {
    let folder = Folder::new();
    let args: Vec<&str> = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
    let ran = Ran::of(folder.command(&args).env("COLUMNS", columns).output().expect("runs"));
    let help = ran.passed();
    let shown = help
        .split_once("Examples:\n")
        .map_or("", |(_, rest)| rest)
        .split_once("\n\nExit status:")
        .unwrap_or_default()
        .0;
    let joined = shown.replace(" \\\n", " ");
    let commands = joined.lines().filter(|line| line.starts_with("  "));
    commands.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn examples_can_be_pasted_from_a_terminal_of_80_columns() {
    for command in COMMANDS {
        let (narrow, wide) = (examples(command, "80"), examples(command, "1000"));
        assert_eq!(narrow, wide, "{command}");
        assert!(narrow.iter().all(|line| line.starts_with("kubectl krm-merge ")), "{command}: {narrow:?}");
        assert!(command == "git-driver" || !narrow.is_empty(), "{command}");
    }
}

#[test]
fn each_command_says_what_it_does_and_no_two_say_the_same() {
    let folder = Folder::new();
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let help = Ran::of(folder.command(&["--help"]).output().expect("runs")).passed();
    let commands = help.split_once("Commands:\n").and_then(|(_, rest)| rest.split_once("\n\n")).expect("commands").0;
    // What a command does may go on in lines that are indented deeper than its name.
    let commands = commands.replace("\n      ", " ");
    let mut seen = HashSet::new();
    for line in commands.lines() {
        let (name, does) = line.trim().split_once("  ").expect("a name and what it does");
        let does = joined(does);
        let own = joined(&Ran::of(folder.command(&[name, "--help"]).output().expect("runs")).passed());
        assert!(own.starts_with(&does), "{name}: {own}");
        assert!(seen.insert(does), "{line}");
    }
    assert!(seen.len() > 15, "{commands}");
}

#[test]
fn each_command_says_its_own_defaults_and_its_page() {
    let folder = Folder::new();
    for (command, said, of_others) in [
        ("upgrade", "reported [default: mark]", "take-updated]"),
        ("upgrade", "printed [default: nothing; diff with --dry-run]", "yaml; nothing"),
        ("three-way", "reported [default: take-updated]", "mark]"),
        ("three-way", "printed [default: yaml; nothing with --in-place, diff with --dry-run]", "upgrade:"),
        ("two-way", "keys [default: true]", "--conflicts-exit-code"),
        ("strategic", "keys [default: false]", "--conflicts-exit-code"),
        ("extract", "keys [default: true; with `--mode strategic`: false]", "strategic: false"),
        ("diff", "keys [default: true]", "strategic"),
        ("completion", "docs/src/install.md#shell-completion", "Examples:"),
        ("help", "docs/src/plugin.md", "Examples:"),
        ("version", "docs/src/plugin.md", "Examples:"),
    ] {
        let help =
            Ran::of(folder.command(&[command, "--help"]).env("COLUMNS", "1000").output().expect("runs")).passed();
        assert!(help.contains(said) && !help.contains(of_others) && help.contains("Documentation:\nhttps:"), "{help}");
    }
    // A flag that says nothing new of a command is still taken.
    folder.write("c.yaml", map("c", &[("x", "'1'")]));
    folder.write("s.yaml", map("c", &[("x", "'2'")]));
    folder.run(&["two-way", "--dest", "c.yaml", "--source", "s.yaml", "--conflicts-exit-code"]).passed();
}

#[test]
fn a_path_where_nothing_is_names_its_flag() {
    let folder =
        Folder::with(&[("here/c.yaml", &map("c", &[("x", "'1'")])), ("m.yaml", "<<<<<<< a\n=======\n>>>>>>> b\n")]);
    let two = ["two-way", "--dest", "here"];
    let three = ["three-way", "--original", "here", "--updated", "here", "--dest", "here"];
    let none = "a file or a folder";
    for (args, of, what) in [
        (&["three-way", "--original", "v1", "--updated", "here", "--dest", "here"][..], "--original", none),
        (&["three-way", "--original", "here", "--updated", "v1", "--dest", "here"], "--updated", none),
        (&["three-way", "--original", "here", "--updated", "here", "--dest", "v1"], "--dest", none),
        (&[&two[..], &["--source", "v1"]].concat(), "--source", none),
        (&[&two[..], &["-p", "v1"]].concat(), "--patch", none),
        (&[&three[..], &["--config", "v1"]].concat(), "--config", "a file"),
        (&[&three[..], &["--openapi", "v1"]].concat(), "--openapi", "a file"),
        (&["diff", "v1", "here"], "A", none),
        (&["diff", "here", "v1"], "B", none),
        (&["extract", "v1", "here"], "ORIGINAL", none),
        (&["explain", "Deployment", "-f", "v1"], "--filename", none),
        (&["resolve", "v1"], "FILES", none),
        (&["resolve", "m.yaml", "--answers", "v1"], "--answers", "a file"),
        (&["resolve", "m.yaml", "--take", "ours", "--record", "v1/d.yaml"], "--record", "a folder for it"),
    ] {
        let error = folder.run(args).failed(2);
        let want = format!("error: `{of}` \"v1\": there must be {what}, but nothing is there; correct the path\n");
        assert_eq!(error, want, "{args:?}");
    }
}

#[test]
fn a_file_that_is_no_yaml_says_why() {
    let upgrade = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here"];
    for (bytes, why) in [
        (&b"a: 1\n b: [\n"[..], "here/bad.yaml:2:"),
        (b"a: \"secret\n", "here/bad.yaml:2:1: "),
        (b"a: \xff\n", "here/bad.yaml: the text must be UTF-8, but the byte at offset 3 is not"),
        (b"\xff\xfea\0", "here/bad.yaml: the text must be UTF-8, not UTF-16"),
    ] {
        let folder = Folder::new();
        for side in ["v1", "v2", "here"] {
            folder.write(&format!("{side}/c.yaml"), map("c", &[("x", "'1'")]));
        }
        folder.write("here/bad.yaml", bytes);
        let told = folder.run(&upgrade).stderr;
        let start = "warning: 1 file is not valid YAML and is treated as a plain file, without resources: ";
        let line = told.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_else(|| panic!("{told}"));
        assert!(line.starts_with(why), "{line}");
        // More than the place, and nothing of the text.
        assert!(line.len() > "here/bad.yaml:1:1: the".len() && !line.contains("secret"), "{line}");
    }
}
