//! The programs of docs/programs, which merge by `krm-merge merge` and by the function as `krm-merge.wasm`, do what the plugin and the function do.
//!
//! Python needs the package `wasmtime`, Go the module `wazero`. `KRM_MERGE_WASI` names the function that `cargo xtask wasi` built. Where one of them is
//! absent, the test is skipped.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

#[path = "support/function.rs"]
mod function;
#[path = "../../../tests/support/run.rs"]
mod run;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use run::{Run, files, has, root, run, run_with, scratch, skipped, write};

const PLUGIN: &str = env!("CARGO_BIN_EXE_kubectl-krm_merge");

/// A program with the tested one first on PATH.
fn on_path(program: &str) -> Command {
    let own = Path::new(function::program()).parent().expect("a folder").to_owned();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&rest))).expect("a PATH");
    let mut command = Command::new(program);
    command.env("PATH", path);
    command
}

fn example(name: &str) -> PathBuf {
    root().join("docs/programs").join(name)
}

/// The sides of an upgrade with a conflict, a new file, a deleted one, and one that moves.
fn sides(name: &str) -> PathBuf {
    let folder = scratch(name);
    let map = |name: &str, size: u32, color: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  size: \"{size}\" # ü\r\n  color: {color}\n"
        )
    };
    for (path, text) in [
        ("original/a.yaml", map("a", 1, "red")),
        ("updated/a.yaml", map("a", 2, "blue")),
        ("dest/a.yaml", map("a", 1, "green")),
        ("original/old.yaml", map("b", 1, "red")),
        ("updated/new/place.yaml", map("b", 2, "red")),
        ("dest/old.yaml", map("b", 1, "red")),
        ("original/gone.yaml", map("c", 1, "red")),
        ("dest/gone.yaml", map("c", 1, "red")),
        ("updated/more.yaml", map("d", 1, "red")),
        ("original/values.yaml", "a: 1\nb: 1\n".to_owned()),
        ("updated/values.yaml", "a: 2\nb: 1\n".to_owned()),
        ("dest/values.yaml", "a: 1 # own\nb: 1\n".to_owned()),
        ("dest/README", "own\r\n".to_owned()),
    ] {
        write(&folder.join(path), &text);
    }
    folder
}

/// Merges the sides by the plugin, with dest's values where nobody decided.
fn by_plugin(folder: &Path, sides: [&str; 3]) {
    let [original, updated, dest] = sides;
    let mut plugin = Command::new(PLUGIN);
    plugin.args(["three-way", "--original", original, "--updated", updated, "--dest", dest]);
    run(plugin.args(["--in-place", "--on-conflict", "keep-dest"]).current_dir(folder)).passes();
}

#[test]
fn python_merges_folders_as_the_plugin_does() {
    if !has("python3") {
        return;
    }
    let (own, other) = (sides("python"), sides("python-plugin"));
    let mut program = on_path("python3");
    let ran = run(program.arg(example("merge.py")).args(["original", "updated", "dest"]).current_dir(&own));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.starts_with("dest/a.yaml:7: both sides changed `data.color`"), "{}", ran.stdout);
    by_plugin(&other, ["original", "updated", "dest"]);
    let (own, other) = (files(&own.join("dest")), files(&other.join("dest")));
    assert_eq!(own, other);
    assert_eq!(
        own.keys().map(String::as_str).collect::<Vec<_>>(),
        ["README", "a.yaml", "more.yaml", "new/place.yaml", "values.yaml"]
    );
}

#[test]
fn go_merges_a_file_as_the_plugin_does() {
    if !has("go") {
        return;
    }
    let (own, other) = (sides("go"), sides("go-plugin"));
    let of_file = ["original/a.yaml", "updated/a.yaml", "dest/a.yaml"];
    let program = own.join("merge");
    run(Command::new("go").args(["build", "-o"]).arg(&program).arg(example("merge.go"))).passes();
    let program = program.to_str().expect("UTF-8");
    let ran = run(on_path(program).args(of_file).current_dir(&own));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.starts_with("7: both sides changed `data.color`"), "{}", ran.stdout);
    by_plugin(&other, of_file);
    assert_eq!(files(&own.join("dest")), files(&other.join("dest")));
}

#[test]
fn the_json_command_says_what_the_caller_gets_wrong() {
    for (stdin, code, want) in [
        (r#"{"dest": "", "upated": ""}"#, 2, "error: stdin: `upated` must be a field of the input: dest, original,"),
        (r#"{"source": ""}"#, 2, "error: stdin: `dest` must be given"),
        (r#"{"dest": {"a": 1}}"#, 2, "error: stdin: `dest[\"a\"]` must be a string, not a number"),
        (
            r#"{"dest": {"a": "", "b": "", "a": ""}}"#,
            2,
            "error: stdin:1:29: an object must have each key once, but \"a\" is there twice",
        ),
        ("{", 2, "error: stdin must be JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", 2, "error: stdin: `input` must be an object, not a list"),
        (r#"{"dest": "a: [", "source": ""}"#, 1, r#"{"passed":false,"files":{"":"a: ["},"#),
        (r#"{"dest": "a: 1\n", "source": "a: 2", "updated": null}"#, 0, r#"{"passed":true,"files":{"":"a: 2\n"},"#),
    ] {
        let ran = run_with(Command::new(function::program()).arg("merge"), stdin);
        assert_eq!(ran.code, Some(code), "{stdin}: {ran:?}");
        assert!(ran.shown().starts_with(want), "{stdin}: {}", ran.shown());
    }
}

/// The built function; `None` where nobody built one, which is told.
fn module() -> Option<PathBuf> {
    let module = std::env::var_os("KRM_MERGE_WASI").map(PathBuf::from);
    if module.is_none() {
        skipped("krm-merge.wasm", "is not named by `KRM_MERGE_WASI`");
    }
    module
}

/// Compares a program that runs the function with the function.
fn same_as_function(program: impl Fn() -> Command) {
    let list = |items: &str, config: &str| {
        format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:{items}\nfunctionConfig: {config}\n")
    };
    let merge = "{apiVersion: krm-merge.dev/v1alpha1, kind: Merge, spec: {mode: TwoWay, source: [{resources: [{apiVersion: v1, kind: A, metadata: {name: a}, b: 2}]}]}}";
    let item = "\n- apiVersion: v1\n  kind: A\n  metadata: {name: a}\n  b:   1 # ü";
    let deep = format!("{item}\n  c: {}{}", "[".repeat(500), "]".repeat(500));
    let many = (0..20_000).map(|at| format!("\n  - d{at}")).collect::<String>();
    for list in [
        list(item, merge),
        list(&deep, merge),
        list(&format!("{item}\n  e:{many}"), merge),
        list(item, "{kind: Merge}"),
        "a: [".to_owned(),
        format!("a: {}", "[".repeat(100_000)),
        String::new(),
    ] {
        let of_program = |run: Run| (run.code, run.stdout, run.stderr);
        let want = of_program(run_with(&mut Command::new(function::program()), &list));
        let start: String = list.chars().take(300).collect();
        assert_eq!(of_program(run_with(&mut program(), &list)), want, "{start}");
    }
}

#[test]
fn wasmtime_in_python_runs_the_function() {
    let Some(module) = module().filter(|_| has("python3")) else { return };
    if run(Command::new("python3").args(["-c", "import wasmtime"])).code != Some(0) {
        return skipped("wasmtime", "is no package of this Python");
    }
    same_as_function(|| {
        let mut program = Command::new("python3");
        program.arg(example("function.py")).arg(&module);
        program
    });
}

#[test]
fn node_runs_the_function() {
    let Some(module) = module().filter(|_| has("node")) else { return };
    same_as_function(|| {
        let mut program = Command::new("node");
        program.arg("--no-warnings").arg(example("function.mjs")).arg(&module);
        program
    });
}

#[test]
fn wazero_in_go_runs_the_function() {
    let Some(module) = module().filter(|_| has("go")) else { return };
    let folder = scratch("wazero");
    fs::copy(example("function.go"), folder.join("function.go")).expect("copied");
    let go = |args: &[&str]| run(Command::new("go").args(args).current_dir(&folder));
    go(&["mod", "init", "example"]).passes();
    if go(&["get", "github.com/tetratelabs/wazero@v1.9.0"]).code != Some(0) {
        return skipped("wazero", "cannot be fetched");
    }
    go(&["build", "-o", "function", "."]).passes();
    same_as_function(|| {
        let mut program = Command::new(folder.join("function"));
        program.arg(&module);
        program
    });
}
