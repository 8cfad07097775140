//! Short text that means a long one ends the run before the memory is taken: the built program, under a limit of the system's own.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

#[path = "../benches/workload.rs"]
mod workload;

use std::io::Write;
use std::process::{Command, Output, Stdio};

use krm_merge_function::{Verdict, run};

/// How many KiB of memory a run may take here. A run that writes as much as it may takes a third of that.
const MEMORY: usize = 400 << 10;

/// How many seconds of CPU time it may take; a build without optimization takes forty times as long.
const SECONDS: usize = if cfg!(debug_assertions) { 60 } else { 5 };

/// Runs the program on a text, within that memory and time.
fn limited(args: &[&str], stdin: &str) -> Output {
    let limits =
        if cfg!(target_os = "linux") { format!("ulimit -v {MEMORY}; ulimit -t {SECONDS}; ") } else { String::new() };
    let mut child = Command::new("sh")
        .args(["-c", &format!("{limits}exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_krm-merge-function")])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let (mut to, text) = (child.stdin.take().expect("a pipe"), stdin.to_owned());
    let writer = std::thread::spawn(move || to.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("an end");
    // Who was killed has not read all.
    let _ = writer.join().expect("no panic");
    output
}

const HEAD: &str = "apiVersion: v1\nkind: Thing\nmetadata: {name: x}\n";

/// A functionConfig.
fn merge(spec: &str) -> String {
    format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata: {{name: m}}\nspec:\n{spec}")
}

/// A functionConfig with one source, which holds this.
fn two_way(source: &str) -> String {
    let source: String = format!("{HEAD}{source}").lines().map(|l| format!("      {l}\n")).collect();
    merge(&format!("  mode: TwoWay\n  source:\n  - yaml: |\n{source}"))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// A ResourceList of these items.
fn list(items: &[&str], config: &str) -> String {
    let items: String = items.iter().map(|item| indented(item).replacen(' ', "-", 1)).collect();
    format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}functionConfig:\n{}",
        indented(config)
    )
}

/// A merge of three versions of one thing.
fn three_way(version: impl Fn(usize) -> String) -> String {
    let item = |side: usize| {
        let role = ["dest", "original", "updated"][side];
        let of_role = format!("{{name: x, annotations: {{config.kubernetes.io/merge-source: {role}}}}}");
        format!("{HEAD}{}", version(side)).replacen("{name: x}", &of_role, 1)
    };
    list(&[&item(0), &item(1), &item(2)], &merge("  mode: ThreeWay\n"))
}

/// Fields with a value that is another one in each version.
fn fields(count: usize, side: usize) -> String {
    (0..count).map(|i| format!("f{i}: {side},\n  ")).collect()
}

/// Checks that a run ends with this error, and the items go out as they came.
fn exceeds(stdin: &str, what: &str) {
    let output = limited(&[], stdin);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{what}: {:.300}", stderr);
    assert!(stderr.contains(&format!("{what} must not take more bytes than 32Mi")), "{stderr:.300}");
    assert!(stderr.contains("set `spec.maxOutput` to more, as `128Mi`"), "{stderr}");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(stdout.starts_with(stdin), "{what}: the items are not as they came");
    assert!(stdout.len() < stdin.len() + 1000, "{}", stdout.len());
}

#[test]
fn aliases_that_are_written_out_are_counted_in_bytes() {
    let long = "x".repeat(50_000);
    let flow = vec!["*a"; 2000].join(", ");
    let block = "- *a\n".repeat(2000);
    let merge_keys: String = (0..1000).map(|i| format!("  m{i}: {{<<: *a}}\n")).collect();
    let keys = "- {? *a : 1}\n".repeat(1000);
    let lines = "  a\n".repeat(10_000);
    let gone = two_way("a: null\n");
    let text = "the new text of resources";
    exceeds(&list(&[&format!("{HEAD}a: &a {long}\nl: [{flow}]\n")], &gone), text);
    exceeds(&list(&[&format!("{HEAD}a: &a |\n{lines}l:\n{block}")], &gone), text);
    exceeds(&list(&[&format!("{HEAD}a: &a {{k: {long}}}\nl:\n{merge_keys}")], &two_way("a: {k: 1}\n")), text);
    exceeds(&list(&[HEAD], &two_way(&format!("a: &a {long}\nl:\n{keys}"))), text);
}

#[test]
fn a_patch_for_many_items_is_counted_for_each() {
    let items: Vec<String> = (0..2500)
        .map(|i| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{i}, labels: {{a: b}}}}\n"))
        .collect();
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    for target in ["{kind: ConfigMap}", "{labelSelector: 'a in (b, c)'}"] {
        for mode in ["TwoWay", "Strategic"] {
            let config = |bytes: usize| {
                let patch = format!("      data: {{x: {}}}\n", "x".repeat(bytes));
                merge(&format!("  mode: {mode}\n  source:\n  - target: {target}\n    yaml: |\n{patch}"))
            };
            exceeds(&list(&items, &config(20_000)), "the new text of resources");
            let passed = limited(&[], &list(&items, &config(100)));
            assert_eq!(passed.status.code(), Some(0), "{}", String::from_utf8_lossy(&passed.stderr));
        }
    }
}

#[test]
fn blanks_that_indent_a_line_are_counted() {
    let depth = 180;
    let dest: String = (0..depth).map(|i| format!("{}a:\n", " ".repeat(4 * i))).collect();
    let dest = format!("{HEAD}{dest}{}z: 1\n", " ".repeat(4 * depth));
    let below = format!("{{new: [\n{}]}}", "1,\n".repeat(100_000));
    let source = format!("a: {}{below}{}\n", "{a: ".repeat(depth - 1), "}".repeat(depth - 1));
    exceeds(&list(&[&dest], &two_way(&source)), "the new text of resources");
}

#[test]
fn what_a_user_puts_between_two_children_is_counted() {
    let blanks = " ".repeat(50_000);
    let new = (0..1000).map(|i| format!("n{i}: 1")).collect::<Vec<_>>().join(", ");
    let source = two_way(&format!("a: {{{new}}}\n"));
    let text = "the new text of resources";
    exceeds(&list(&[&format!("{HEAD}a: {{k: 1,{blanks}l: 2}}\n")], &source), text);
    exceeds(&list(&[&format!("{HEAD}a: {{k: 1,\n{blanks}l: 2}}\n")], &source), text);
    // Each has a line of its own, as deep as the others.
    exceeds(&list(&[&format!("{HEAD}a: {{\n{blanks}k: 1 # one\n{blanks}}}\n")], &source), text);
}

#[test]
fn results_are_counted_with_their_paths_and_values() {
    let key = "k".repeat(100_000);
    exceeds(&three_way(|side| format!("? {key}\n: {{{}}}\n", fields(1000, side))), "the results");
    let long = "x".repeat(50_000);
    let of_alias = |side: usize| (0..1000).map(|i| format!("f{i}: {}\n", ["*a", "1", "2"][side])).collect::<String>();
    exceeds(&three_way(|side| format!("a: &a {long}\n{}", of_alias(side))), "the results");
    // One value, whose lines are indented by a thousand blanks where the results are YAML.
    let deep = |side: usize| match side {
        2 => format!("a: {}[{}]{}\n", "{a: ".repeat(180), vec!["1"; 150_000].join(", "), "}".repeat(180)),
        _ => format!("a: {side}\n"),
    };
    exceeds(&three_way(deep), "the results");
}

#[test]
fn conflicts_below_one_deep_place_share_their_path() {
    let deep = |side: usize| format!("a: {}{{{}}}{}\n", "{a: ".repeat(180), fields(5000, side), "}".repeat(180));
    let output = limited(&[], &three_way(deep));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr:.300}");
    assert_eq!(stderr.lines().count(), 5000);
    let longest = stderr.lines().map(str::len).max();
    assert!(longest.is_some_and(|longest| longest < 800), "{longest:?}");
    assert!(
        stderr
            .lines()
            .all(|line| line.starts_with("warning: Thing x: both sides changed `a.a.a.") && line.contains("a.f"))
    );
}

#[test]
fn a_function_config_is_counted_with_its_aliases() {
    let source = format!("  - &a {{yaml: \"kind: {}\"}}\n{}", "x".repeat(50_000), "  - *a\n".repeat(2000));
    exceeds(&list(&[HEAD], &merge(&format!("  mode: TwoWay\n  source:\n{source}"))), "the functionConfig");
}

#[test]
fn a_package_path_is_counted_for_each_item() {
    let path = "p".repeat(50_000);
    let item = |i: usize, package: &str, path: &str| {
        let host = "internal.config.kubernetes.io";
        let annotations = format!("{{{host}/package-path: {package}, {host}/path: {path}}}");
        HEAD.replacen("{name: x}", &format!("{{name: x{i}, annotations: {annotations}}}"), 1)
    };
    let mut items = vec![item(0, &format!("&p {path}"), &format!("&q {path}")), item(1, "r", "*q")];
    items.extend((2..1000).map(|i| item(i, "*p", "*q")));
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    exceeds(&list(&items, &two_way("")), "the new text of resources");
}

#[test]
fn documents_of_an_exec_plugin_are_counted_too() {
    let documents = format!("{HEAD}a: &a {}\nl: [{}]\n", "x".repeat(50_000), vec!["*a"; 2000].join(", "));
    let file = std::env::temp_dir().join(format!("krm-merge-limits-{}.yaml", std::process::id()));
    std::fs::write(&file, two_way("a: null\n")).expect("written");
    let output = limited(&[file.to_str().expect("UTF-8")], &documents);
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout), documents);
    assert!(String::from_utf8_lossy(&output.stderr).contains("set `spec.maxOutput` to more"));
}

#[test]
fn who_asks_for_another_limit_has_it() {
    let dest = format!("{HEAD}a: &a {}\nl: [{}]\n", "x".repeat(50_000), vec!["*a"; 20].join(", "));
    for (asked, passes) in [("2Mi", true), ("\"2000000\"", true), ("1500000", true), ("500k", false), ("0", false)] {
        let merge = two_way("a: null\n").replacen("spec:\n", &format!("spec:\n  maxOutput: {asked}\n"), 1);
        let map = format!(
            "apiVersion: v1\nkind: ConfigMap\ndata:\n  mode: two-way\n  maxOutput: {asked}\n  source: '{{apiVersion: v1, kind: Thing, metadata: {{name: x}}, a: null}}'\n"
        );
        for (config, field) in [(merge, "spec.maxOutput"), (map, "data.maxOutput")] {
            let output = run(&list(&[&dest], &config));
            let said = output.stderr.join("\n");
            assert_eq!(output.verdict == Verdict::Passed, passes, "{asked}: {said}");
            assert_eq!(output.stdout.len() > 1_000_000, passes, "{asked}: {}", output.stdout.len());
            let size = asked.trim_matches('"');
            let told = said.contains(&format!("`{field}`: ")) && said.contains(&format!("set `{field}` to more, as `"));
            assert!(passes || told, "{size}: {said}");
        }
    }
}

#[test]
fn a_size_that_is_none_is_refused() {
    for asked in ["1.5Gi", "64MB", "-1", "true", "[1]"] {
        let config = two_way("").replacen("spec:\n", &format!("spec:\n  maxOutput: {asked}\n"), 1);
        let said = run(&list(&[HEAD], &config)).stderr.join("\n");
        let want = "`spec.maxOutput` must be a number of bytes, as `64Mi`, `1Gi` or `1048576`, not ";
        assert!(said.contains(want), "{asked}: {said}");
    }
    let map = "apiVersion: v1\nkind: ConfigMap\ndata: {mode: two-way, maxOutput: much}\n";
    let said = run(&list(&[HEAD], map)).stderr.join("\n");
    assert!(said.contains("`data.maxOutput` must be a number of bytes"), "{said}");
    assert!(said.contains("not \"much\""), "{said}");
}

#[test]
fn ordinary_packages_stay_far_below_the_limit() {
    for (name, workload) in workload::ALL {
        let stdin = workload(200);
        // A twentieth of what they may write.
        let output = run(&format!("{stdin}    maxOutput: '{}'\n", stdin.len()));
        assert_eq!(output.verdict, Verdict::Passed, "{name}: {:?}", output.stderr);
    }
    assert_eq!((workload::kustomization(1).len(), workload::packages(1).len()), (3, 3));
}
