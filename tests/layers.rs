//! Imports point down only: each module may use those below it, and none above.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the function from top to bottom. A module may use those of the lines below its own.
const FUNCTION: &[&[&str]] = &[
    &["exec_plugin"],
    &["function"],
    &["roles"],
    &["resource_list"],
    &["results"],
    &["report"],
    &["config"],
    &["decision"],
    &["target"],
];

/// The modules of the merge, in the same way.
const MERGE: &[&[&str]] = &[
    &["api"],
    &["package", "documents"],
    &["rules"],
    &["layout", "extract"],
    &["transport"],
    &["resource"],
    &["refine"],
    &["review"],
    &["grounds", "immutable", "reference", "lost", "diff", "patch", "stump", "list"],
    &["splice"],
    &["alias"],
    &["merge"],
    &["warning", "policy", "change"],
    &["schema"],
    &["host"],
    &["tree"],
    &["leaves"],
    &["child"],
    &["path"],
    &["yaml", "file_path"],
    &["shown", "limit", "sides", "edits", "mode", "sieve"],
];

const ENGINE: &str = "crates/krm-merge/src";

#[test]
fn imports_point_down_only() {
    let uses = uses_below("src", FUNCTION) + uses_below(ENGINE, MERGE);
    assert!(uses > 40, "{uses}");
}

/// Checks the `use` lines between the modules of a crate, and counts them.
fn uses_below(folder: &str, layers: &[&[&str]]) -> usize {
    let level: BTreeMap<&str, usize> =
        layers.iter().enumerate().flat_map(|(i, names)| names.iter().map(move |n| (*n, i))).collect();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut uses = 0;
    for (module, own) in &level {
        let mut text = fs::read_to_string(src.join(format!("{module}.rs"))).expect("a module is a file");
        if let Ok(folder) = fs::read_dir(src.join(module)) {
            // Tests may look at anything.
            let is_code = |p: &PathBuf| p.extension().is_some_and(|e| e == "rs") && !p.ends_with("tests.rs");
            for file in folder.map(|f| f.expect("an entry").path()).filter(is_code) {
                text.push_str(&fs::read_to_string(file).expect("readable"));
            }
        }
        for line in text.lines().filter(|l| l.contains("crate::") && !l.trim_start().starts_with("//")) {
            let used = line
                .split("crate::")
                .nth(1)
                .and_then(|u| u.split([':', ';', ',', '(', ' ']).next())
                .unwrap_or_default();
            if used == *module || !level.contains_key(used) {
                continue;
            }
            uses += 1;
            assert!(level[used] > *own, "{module} must not use {used}: {line}");
        }
    }
    uses
}

#[test]
fn the_walker_knows_no_text_and_the_splicer_no_kubernetes() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join(ENGINE);
    let read = |name: &str| fs::read_to_string(src.join(name)).expect("readable");
    let code = |text: String| text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let parts = ["merge.rs", "merge/comments.rs", "merge/list.rs", "merge/merged.rs", "merge/order.rs"];
    let walker = code(parts.map(read).concat());
    for word in ["config", "Mode", "$patch", "source()"] {
        assert!(!walker.contains(word), "merge.rs must not know {word}");
    }
    let splicer = code(["splice.rs", "splice/flow.rs", "splice/print.rs"].map(read).concat());
    for word in ["apiVersion", "metadata", "schema", "annotations"] {
        assert!(!splicer.contains(word), "splice must not know {word}");
    }
}

#[test]
fn the_engine_publishes_its_api_alone() {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(ENGINE).join("lib.rs")).expect("lib.rs");
    let lines: Vec<&str> = lib.lines().collect();
    let modules: Vec<usize> = (0..lines.len()).filter(|i| lines[*i].starts_with("pub mod ")).collect();
    assert!(modules.len() > 20);
    for at in modules {
        assert_eq!(lines[at - 1], "#[doc(hidden)]", "{}", lines[at]);
    }
}
