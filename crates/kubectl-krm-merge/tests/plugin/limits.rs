//! `--max-output`: how much a run may write, and how the message says so.

use crate::support::{Folder, Ran};

fn package() -> Folder {
    let aliases = vec!["*a"; 40].join(", ");
    let head = "apiVersion: v1\nkind: Thing\nmetadata: {name: x}\n";
    let web = format!("{head}a: &a {}\nl: [{aliases}]\n", "x".repeat(50_000));
    Folder::with(&[("here/x.yaml", &web), ("patch.yaml", &format!("{head}a: null\n"))])
}

/// Checks that a run failed, and what it says.
fn says(ran: Ran, parts: &[&str]) {
    let stderr = ran.failed(2);
    assert!(parts.iter().all(|part| stderr.contains(part)), "{stderr}");
}

#[test]
fn a_run_that_would_write_more_writes_nothing_and_names_the_flag() {
    let folder = package();
    let before = folder.files("here");
    let merge = ["two-way", "--source", "patch.yaml", "--dest", "here", "--in-place", "--max-output"];
    let ran = folder.run(&[&merge[..], &["1Mi"]].concat());
    says(ran, &["the 1Mi of `--max-output`: ", "set `--max-output` to more, as `4Mi`"]);
    assert_eq!(folder.files("here"), before);
    let ran = folder.run(&[&merge[..], &["1MB"]].concat());
    says(ran, &["'1MB' for '--max-output <SIZE>'", "must be a number of bytes, as `64Mi`"]);
    let ran = folder.run(&[&merge[..], &["3Mi"]].concat());
    ran.passed();
    assert!(folder.read("here/x.yaml").len() > 2_000_000);
}

#[test]
fn json_counts_with_what_its_aliases_stand_for() {
    let folder = package();
    folder.write("other.yaml", "apiVersion: v1\nkind: Thing\nmetadata: {name: x}\nb: 1\n");
    let merge = ["two-way", "--source", "other.yaml", "--dest", "here", "--max-output", "1Mi", "-o"];
    let ran = folder.run(&[&merge[..], &["json"]].concat());
    says(ran, &["set `--max-output` to more"]);
    folder.run(&[&merge[..], &["yaml"]].concat()).passed();
}

#[test]
fn json_has_no_infinity() {
    let folder = Folder::with(&[("x.yaml", "apiVersion: v1\nkind: Thing\nmetadata: {name: x}\na: {b: [1, .inf]}\n")]);
    let merge = [
        "two-way",
        "-p",
        "{apiVersion: v1, kind: Thing, metadata: {name: x, labels: {l: m}}}",
        "--dest",
        "x.yaml",
        "-o",
    ];
    says(folder.run(&[&merge[..], &["json"]].concat()), &["`a.b[1]` must be a number that JSON has, not \".inf\""]);
    assert!(folder.run(&[&merge[..], &["yaml"]].concat()).passed().contains(".inf"));
}

/// Merges a source into a package under a limit of the system.
#[cfg(unix)]
fn limited(folder: &Folder, limit: &str) -> Ran {
    let merge = format!(
        "ulimit {limit}; exec '{}' two-way --source source.yaml --dest here --in-place",
        crate::support::PLUGIN
    );
    let ran = std::process::Command::new("sh").args(["-c", &merge]).current_dir(&folder.0).output();
    Ran::of(ran.expect("runs"))
}

#[cfg(unix)]
#[test]
fn a_file_over_the_limit_of_the_system_is_an_error_and_nothing_is_left() {
    let map = |name: &str, x: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{x: '{x}'}}\n")
    };
    let folder = Folder::with(&[("here/a.yaml", &map("a", "1")), ("here/b.yaml", &map("b", "1"))]);
    folder.write("source.yaml", format!("{}---\n{}", map("a", "2"), map("b", &"2".repeat(5_000))));
    let before = folder.files("here");
    says(limited(&folder, "-f 2"), &["nothing is written: ", "here/b.yaml: File too large"]);
    assert_eq!(folder.files("here"), before);
}

/// A lock on each folder, or a descriptor of each, would use up the files that a process may open.
#[cfg(unix)]
#[test]
fn a_package_may_have_more_folders_than_a_run_may_open_files() {
    for (folders, files) in [(60, 20), (60, 40), (200, 64), (1_100, 1024)] {
        let map = |i: usize, x: u8| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{i}}}\ndata: {{x: '{x}'}}\n")
        };
        let folder = Folder::in_memory();
        for i in 0..folders {
            folder.write(&format!("here/f{i}/m.yaml"), map(i, 1));
        }
        folder.write("source.yaml", (0..folders).map(|i| map(i, 2)).collect::<Vec<_>>().join("---\n"));
        limited(&folder, &format!("-n {files}")).passed();
        (0..folders).for_each(|i| assert_eq!(folder.read(&format!("here/f{i}/m.yaml")), map(i, 2)));
    }
}

/// What a run takes for no input, in KiB, with room for another system.
#[cfg(target_os = "linux")]
const AT_LEAST: usize = 64 << 10;

/// A wide map of short fields, of which one has a value of its own.
#[cfg(target_os = "linux")]
fn wide(value: &str) -> String {
    let fields: String =
        (0..100_000).map(|i| format!("  key-{i:06}: {}\n", if i == 7 { value } else { "value" })).collect();
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n{fields}")
}

/// The limit counts room that is never used, too, so more than one thread or heap would spoil it.
#[cfg(target_os = "linux")]
#[test]
fn a_run_takes_at_most_twelve_times_its_input() {
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n".to_owned();
    let three = "three-way --original o --updated u --dest d";
    let driver = "git-driver o d u x.yaml";
    for (run, code, original, updated, dest) in [
        (three, 0, head.clone(), wide("value"), head.clone()),
        (three, 0, wide("value"), wide("theirs"), String::new()),
        (three, 0, wide("value"), wide("value") + "  u: 1\n", wide("value") + "  d: 1\n"),
        (driver, 1, wide("value"), wide("theirs"), wide("ours")),
    ] {
        let input = original.len() + updated.len() + dest.len();
        let folder = Folder::with(&[("o", &original), ("u", &updated), ("d", &dest)]);
        let limit = AT_LEAST + 12 * input / 1024;
        let ran = std::process::Command::new("sh")
            .args(["-c", &format!("ulimit -v {limit}; exec '{}' {run}", crate::support::PLUGIN)])
            .envs([("MALLOC_ARENA_MAX", "1"), ("RAYON_NUM_THREADS", "1")])
            .current_dir(&folder.0)
            .output()
            .expect("runs");
        assert_eq!(ran.status.code(), Some(code), "{run}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// Upstream deletes a large value beside which dest has a comment, in eight resources; both sides change a ninth one.
fn with_lost_comments() -> Folder {
    let resource = |name: &str, spec: &str| {
        format!("apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: {name}\nspec:\n{spec}")
    };
    let value = format!("  x:\n    k: {}\n", "v".repeat(3000));
    let sides = [("o", value.clone(), "1"), ("u", String::new(), "2"), ("d", format!("  # mine\n{value}"), "3")];
    let folder = Folder::with(&[]);
    for (side, large, small) in sides {
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            folder.write(&format!("{side}/{name}.yaml"), resource(name, &format!("  y: 1\n{large}")));
        }
        folder.write(&format!("{side}/z.yaml"), resource("z", &format!("  y: {small}\n")));
    }
    folder
}

#[test]
fn values_of_warnings_come_off_the_budget_of_their_own_text() {
    let folder = with_lost_comments();
    let merge = ["three-way", "--original", "o", "--updated", "u", "--dest", "d", "--max-output"];
    says(folder.run(&[&merge[..], &["2k", "-o", "results"]].concat()), &["set `--max-output` to more"]);
    // The merge is drawn three times, each with a budget of its own.
    let mark = ["28k", "--on-conflict", "mark", "--in-place"];
    folder.run(&[&merge[..], &mark[..]].concat()).failed(1);
    let marked = folder.read("d/z.yaml");
    assert!(marked.contains("|||||||") && marked.contains("y: 1\n"), "{marked}");
}

#[test]
fn warnings_that_say_the_same_are_told_once_whatever_they_are_about() {
    let folder = Folder::with(&[]);
    let resource = |name: &str, value: &str| {
        format!("apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: {name}\nspec:\n  y: 1\n{value}")
    };
    for number in 0..8 {
        let (name, file) = (format!("a{number}"), format!("a{number}.yaml"));
        let value = if number % 2 == 0 { "  x: 1\n" } else { "  x: {k: 1}\n" };
        let comment = if number % 2 == 0 { "  # my note\n" } else { "  # my  note\n" };
        folder.write(&format!("o/{file}"), resource(&name, value));
        folder.write(&format!("u/{file}"), resource(&name, ""));
        folder.write(&format!("d/{file}"), resource(&name, &format!("{comment}{value}")));
    }
    let ran = folder.run(&["three-way", "--original", "o", "--updated", "u", "--dest", "d", "-o", "name"]);
    assert!(ran.stderr.contains("(and 7 more like this; `-o results` has all)"), "{}", ran.stderr);
}
