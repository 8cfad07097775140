//! ARCHITECTURE.md names each file of the sources, in the order of imports. The pages for users are tested in docs.rs.

#[path = "support/run.rs"]
mod run;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use run::{files, root};

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Files below a folder, by their path in it.
fn sources(folder: &str) -> Vec<String> {
    let all = files(&root().join(folder)).into_keys().filter(|path| path.ends_with(".rs"));
    // Made from a table, and tests beside what they test.
    all.filter(|path| !path.ends_with("/packed.rs") && !path.ends_with("/tests.rs")).collect()
}

#[test]
fn the_architecture_names_each_module_in_the_order_of_imports() {
    let text = read("ARCHITECTURE.md");
    let (table, plugin) = text.split_once("## The plugin").expect("the plugin");
    let names = |text: &str| -> BTreeSet<String> {
        let words = text.split('`').skip(1).step_by(2).filter(|word| word.ends_with(".rs"));
        words.map(|word| word.rsplit('/').next().unwrap_or(word).to_owned()).collect()
    };
    let is_named = |path: &String, names: &BTreeSet<String>| names.contains(path.rsplit('/').next().unwrap_or(path));
    let function = sources("src");
    let engine = "crates/krm-merge/src";
    let library: Vec<String> = sources(engine).into_iter().chain(function.iter().cloned()).collect();
    let of_plugin = sources("crates/kubectl-krm-merge/src");
    let unnamed: Vec<&String> = library.iter().filter(|path| !is_named(path, &names(table))).collect();
    assert_eq!(unnamed, [""; 0]);
    let entry = ["main.rs", "git.rs", "live.rs"];
    let unnamed: Vec<&String> =
        of_plugin.iter().filter(|path| !is_named(path, &names(plugin)) && !entry.contains(&path.as_str())).collect();
    assert_eq!(unnamed, [""; 0]);
    let there: BTreeSet<&str> =
        library.iter().chain(&of_plugin).map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
    let gone: Vec<String> = names(&text)
        .into_iter()
        .filter(|name| {
            !there.contains(name.as_str()) && !["layers.rs", "readme.rs", "docs.rs"].contains(&name.as_str())
        })
        .collect();
    assert_eq!(gone, [""; 0]);

    let rows: Vec<&str> = table.lines().filter(|l| l.starts_with("| `")).collect();
    let row = |module: &str| {
        rows.iter().position(|row| row.split(" | ").next().is_some_and(|c| c.contains(&format!("`{module}.rs`"))))
    };
    let mut uses = 0;
    for path in &library {
        let own = path.split(['/', '.']).next().unwrap_or(path);
        let folder = if function.contains(path) { "src" } else { engine };
        for line in read(format!("{folder}/{path}")).lines().filter(|l| !l.trim_start().starts_with("//")) {
            let Some(used) =
                line.split("crate::").nth(1).and_then(|u| u.split(|c: char| !c.is_alphabetic() && c != '_').next())
            else {
                continue;
            };
            let (Some(from), Some(to)) = (row(own), row(used)) else { continue };
            uses += 1;
            assert!(from <= to, "{path}: {line}");
        }
    }
    assert!(uses > 50, "{uses}");
}
