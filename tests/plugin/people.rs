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
            let first = "kubectl krm-merge three-way --original v1 --updated v2 --dest my-package -o diff";
            let at = lines.iter().position(|line| *line == first).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                lines[at + 1],
                "kubectl krm-merge three-way --original v1 --updated v2 --dest my-package --in-place"
            );
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("SEE ALSO kubectl-krm-merge(1), kubectl-krm-merge-two-way(1), "), "{text}");
            assert!(text.contains("<(git show v1:web.yaml)"), "{text}");
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
