//! Nothing is quadratic: the plugin does work in proportion to its input, where conflicts and elements are many.

use crate::counts::{Run, grows_with_the_input};
use crate::support::{Folder, PLUGIN, has};

/// Checks the growth of a run of the plugin that ends with this exit code; `files` makes the files of a size.
fn check(n: usize, args: &[&str], code: i32, files: impl Fn(usize) -> Vec<(&'static str, String)>) {
    if !has("valgrind") {
        return;
    }
    let folders = [n, 2 * n, 4 * n].map(|n| {
        let folder = Folder::new();
        files(n).iter().for_each(|(name, text)| folder.write(name, text));
        (n, folder)
    });
    grows_with_the_input(n, |n| Run {
        program: PLUGIN,
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        folder: folders.iter().find(|(size, _)| *size == n).map(|(_, folder)| folder.0.clone()),
        stdin: String::new(),
        code,
    });
}

/// One text for each number below `n`.
fn each(n: usize, text: impl Fn(usize) -> String) -> String {
    (0..n).map(text).collect()
}

fn map(n: usize, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n{}",
        each(n, |i| format!("  k{i}: {value}\n"))
    )
}

#[test]
fn conflicts_in_one_file_of_git() {
    if !has("git") {
        return;
    }
    check(60, &["git-driver", "o", "a", "b", "m.yaml"], 1, |n| {
        vec![("o", map(n, "o")), ("a", map(n, "a")), ("b", map(n, "b"))]
    });
}

fn pod(n: usize, image: &str) -> String {
    let containers = each(n, |i| format!("  - name: c{i}\n    image: {image}\n"));
    format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n{containers}")
}

/// A list without keys, of which each eighth element has a value of its own.
fn thing(n: usize, value: &str) -> String {
    let elements = each(n, |i| if i % 8 == 0 { format!("  - {value}{i}\n") } else { format!("  - v{i}\n") });
    format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: x\nspec:\n  l:\n{elements}")
}

#[test]
fn differences_of_long_lists() {
    for (command, code) in [("diff", 1), ("extract", 0)] {
        let args = [command, "a.yaml", "b.yaml"];
        // Most names have four bytes: a hash reads shorter ones in another way.
        check(250, &args, code, |n| vec![("a.yaml", pod(n, "a")), ("b.yaml", pod(n, "b"))]);
        // Below some hundred elements, the search for what both sides have is quadratic on purpose.
        check(1000, &args, code, |n| vec![("a.yaml", thing(n, "a")), ("b.yaml", thing(n, "b"))]);
    }
}
