//! Output for people: conflicts below a diff, colours, help and man pages.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{Folder, PLUGIN, Ran, map, skipped};

const UPGRADE: [&str; 9] =
    ["three-way", "--original", "v1.yaml", "--updated", "v2.yaml", "--dest", "here.yaml", "-o", "diff"];

#[test]
fn a_text_in_conflict_is_shown_by_line_and_the_end_is_a_total() {
    let script = |second: &str, more: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: s\ndata:\n  run: |\n    set -e\n    echo {second}\n    exit 0\n  x: {more}\n"
        )
    };
    let long = "y".repeat(2000);
    let folder = Folder::with(&[
        ("v1.yaml", &script("one", "1")),
        ("v2.yaml", &script("--- a/x", &long)),
        ("here.yaml", &script("three", "3")),
    ]);
    let out = folder.run(&UPGRADE).passed();
    let text = "\
conflict: ConfigMap s (here.yaml:6): data.run
  original: a text of 3 lines
  dest:
  | set -e
  |-echo one
  |+echo three
  | exit 0
  updated:
  | set -e
  |-echo one
  |+echo --- a/x
  | exit 0
  outcome:  took updated's
";
    assert!(out.contains(text), "{out}");
    assert!(
        out.contains("conflict: ConfigMap s (here.yaml:10): data.x\n  original: 1\n  dest:     3\n  updated:  \"yyyy"),
        "{out}"
    );
    let blocks = &out[out.find("conflict: ").expect("conflicts")..];
    assert!(blocks.lines().all(|line| line.chars().count() < 300), "{blocks}");
    assert!(out.ends_with("\ntotal: 2 conflicts in 1 file, 1 file changed\n"), "{out}");
    let calm = folder.run(&["two-way", "-s", "v2.yaml", "-d", "here.yaml", "-o", "diff"]).passed();
    assert!(!calm.contains("total:"), "{calm}");
}

/// A package with a text and a file that both sides changed in different lines.
fn combined() -> Folder {
    let text = |lines: [&str; 3]| lines.map(|line| format!("{line}\n")).concat();
    let map = |lines: [&str; 3], x: &str| {
        let text: String = lines.map(|line| format!("    {line}\n")).concat();
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  run: |\n{text}  x: {x}\n")
    };
    let sides = [("v1", ["a", "b", "c"], "1"), ("v2", ["A", "b", "c"], "2"), ("here", ["a", "b", "C"], "3")];
    let folder = Folder::new();
    for (side, lines, x) in sides {
        folder.write(&format!("{side}/c.yaml"), map(lines, x));
        folder.write(&format!("{side}/README"), text(lines));
    }
    folder
}

const PACKAGE: [&str; 7] = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here"];

#[test]
fn a_diff_comes_with_the_total_and_what_someone_should_look_at() {
    let folder = combined();
    folder.write("v2/c.yaml", folder.read("v2/c.yaml").replace("x: 2", "x: 1"));
    let before = folder.files("here");
    let told = [
        "info: 1 merged, 0 added, 0 deleted, 0 unchanged; 0 conflicts",
        "info: files without resources: 1 changed, 0 added, 0 deleted; 0 conflicts",
        "info: README: merged the changes of both sides to the file (it holds no resources) line by line. Check the result",
        "info: ConfigMap c (c.yaml): merged the changes of both sides to `data.run` line by line. Check the result",
    ];
    for more in [&["-o", "diff"][..], &["--in-place", "--dry-run"], &["--stat"]] {
        let ran = folder.run(&[&PACKAGE, more].concat());
        assert_eq!(ran.stderr.lines().collect::<Vec<_>>(), told, "{more:?}");
        assert_eq!((ran.code, ran.stdout.contains("info:")), (Some(0), false), "{more:?}: {}", ran.stdout);
        assert_eq!(folder.files("here"), before, "{more:?}");
    }
    assert_eq!(folder.run(&PACKAGE).stderr, "");
    // Once more: dest has all of it already.
    assert_eq!(folder.run(&[&PACKAGE[..], &["--in-place"]].concat()).code, Some(0));
    let ran = folder.run(&[&PACKAGE[..], &["-o", "diff"]].concat());
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("", "info: 0 merged, 0 added, 0 deleted, 1 unchanged; 0 conflicts\n")
    );
}

#[test]
fn a_rule_that_decided_nothing_is_told_wherever_conflicts_are() {
    let folder = combined();
    folder.write(
        "rules.yaml",
        "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules:\n  - {path: data.y, take: Dest}\n",
    );
    let told = "info: `spec.rules[0]` decided nothing: either its conflict is resolved, or its `path` is wrong. Copy `path` from the message of the conflict, or leave it out for a conflict of a whole resource";
    for format in ["diff", "yaml", "json", "name"] {
        let ran = folder.run(&[&PACKAGE[..], &["--config", "rules.yaml", "-o", format]].concat());
        assert_eq!(ran.stderr.lines().filter(|line| *line == told).count(), 1, "{format}: {}", ran.stderr);
    }
    // Without a conflict, the text for a program comes without infos.
    folder.write("v2/c.yaml", folder.read("v2/c.yaml").replace("x: 2", "x: 3"));
    assert_eq!(folder.run(&[&PACKAGE[..], &["--config", "rules.yaml"]].concat()).stderr, "");
    assert_eq!(
        folder
            .run(&[&PACKAGE[..], &["--config", "rules.yaml", "--in-place"]].concat())
            .stdout
            .lines()
            .filter(|line| *line == told)
            .count(),
        1
    );
}

#[test]
fn a_deleted_resource_is_in_conflict_at_places_that_a_rule_takes() {
    let map =
        |value: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{main.cf: {value}}}\n");
    let folder = Folder::with(&[
        ("v1/c.yaml", &map("a")),
        ("here/c.yaml", &map("b")),
        ("v2/k.yaml", &map("a").replace("name: c", "name: k")),
    ]);
    let out = folder.run(&[&PACKAGE[..], &["--renames", "ignore", "-o", "diff"]].concat()).stdout;
    assert!(out.contains("\nconflict: ConfigMap c (c.yaml:1): data[\"main.cf\"]\n"), "{out}");
}

#[test]
fn lists_in_the_heads_of_hunks_are_named_by_the_user_s_keys() {
    let thing = |size: u8| {
        format!(
            "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: t\nspec:\n  steps:\n  - {{id: 1, size: 1}}\n  - {{id: 2, size: {size}}}\n"
        )
    };
    let folder = Folder::with(&[("p.yaml", &thing(5)), ("d.yaml", &thing(2))]);
    let rule = "apiVersion=example.com/v1,kind=Thing,path=spec.steps,keys=id";
    let out = folder.run(&["two-way", "-s", "p.yaml", "-d", "d.yaml", "-o", "diff", "--merge-keys", rule]).passed();
    assert!(
        out.contains(" @@ Thing t spec.steps[id=2].size\n") || out.contains(" Thing t spec.steps[id=2].size\n"),
        "{out}"
    );
}

#[test]
fn colours_are_as_the_user_says() {
    let folder = Folder::with(&[("a.yaml", &map("a", &[("x", "'1'")])), ("p.yaml", &map("a", &[("x", "'2'")]))]);
    let run = |color: &str, no_color: &str| {
        let mut command = folder.command(&["two-way", "-s", "p.yaml", "-d", "a.yaml", "-o", "diff", color]);
        Ran::of(command.env("NO_COLOR", no_color).output().expect("runs")).passed()
    };
    for (color, no_color, has_colour) in [
        ("--color=always", "", true),
        ("--color=always", "1", true),
        ("--color=auto", "", false),
        ("--color=never", "", false),
    ] {
        assert_eq!(run(color, no_color).contains("\x1b[32m+  x: '2'\x1b[0m"), has_colour, "{color} {no_color}");
    }
    assert!(
        folder
            .run(&["two-way", "-s", "p.yaml", "-d", "a.yaml", "--color=blue"])
            .failed(2)
            .contains("always, auto, never")
    );
    let line = format!("'{PLUGIN}' two-way -s p.yaml -d a.yaml -o diff --color=never");
    let mut script = Command::new("script");
    match script
        .args(["-qec", &line, "/dev/null"])
        .current_dir(&folder.0)
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
    {
        Ok(output) => assert!(!Ran::of(output).stdout.contains('\x1b')),
        Err(_) => skipped("script", "is not on PATH"),
    }
}

const PAGES: [&str; 10] =
    ["two-way", "three-way", "strategic", "live", "diff", "extract", "git-install", "git-driver", "completion", "man"];

#[test]
fn help_has_an_example_of_each_merge() {
    let folder = Folder::new();
    for name in ["two-way", "three-way", "strategic", "live", "diff", "extract", "git-install"] {
        let help = folder.run(&[name, "--help"]).passed();
        let examples = help.split("\nExamples:\n").nth(1).expect("examples");
        assert!(
            examples.contains(&format!("\n  kubectl krm-merge {name} "))
                || examples.contains(&format!("  kubectl krm-merge {name}\n")),
            "{help}"
        );
        assert!(help.contains("\nExit status:\n") && help.contains("\nDocumentation:\nhttps://"), "{help}");
    }
}

/// The page as `man` shows it, and its warnings.
fn shown(page: &str) -> Option<Ran> {
    let mut man = Command::new("man");
    man.args(["--warnings", "-E", "UTF-8", "-l", "-"])
        .env("MANWIDTH", "100")
        .env("LC_ALL", "C.UTF-8")
        .env("MANPAGER", "cat");
    let mut child = man.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?;
    child.stdin.take()?.write_all(page.as_bytes()).ok()?;
    Some(Ran::of(child.wait_with_output().ok()?))
}

#[test]
fn man_pages_are_without_a_warning_and_keep_the_lines_of_examples() {
    let folder = Folder::new();
    for name in [""].iter().chain(&PAGES) {
        let args = if name.is_empty() { vec!["man"] } else { vec!["man", name] };
        let page = folder.run(&args).passed();
        for section in ["EXIT STATUS", "ENVIRONMENT", "SEE ALSO"] {
            assert!(page.contains(&format!("\n.SH {section}\n")), "{section}\n{page}");
        }
        let Some(ran) = shown(&page) else { return skipped("man", "is not on PATH") };
        assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)), "{name}");
        // Bold and underlined letters are struck twice.
        let text = plain(&ran.stdout);
        if *name == "three-way" {
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            let first = "kubectl krm-merge three-way --original v1 --updated v2 --dest my-package \\";
            let at = lines.iter().position(|line| *line == first).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(lines[at + 1..at + 4], ["-o diff", first, "--in-place"]);
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("SEE ALSO kubectl-krm-merge(1), kubectl-krm-merge-get(1), "), "{text}");
            assert!(text.contains("--updated .git/deploy@v2 --dest deploy"), "{text}");
        }
        assert!(!text.contains("EXTRA"), "{text}");
    }
}

fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{8}' => _ = out.pop(),
            '\x1b' => while chars.next_if(|c| *c != 'm').is_some() {},
            c => out.push(c),
        }
    }
    out
}
