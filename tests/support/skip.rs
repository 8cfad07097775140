//! What a test needs that may not be there: a tool that is absent skips the test aloud.
//!
//! `KRM_MERGE_SKIPPED` names a file for what was skipped: `cargo xtask test` reads it, and says it once.
//! `KRM_MERGE_REQUIRE=kpt,kubectl,docker` names the tools that must be there: a test that lacks one of them fails.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::fs::OpenOptions;
use std::io::Write;

/// Whether a program is on PATH; skips the test where it is not.
pub fn has(program: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()));
    if !found {
        skipped(program, "is not on PATH");
    }
    found
}

/// Says that the test is skipped, and why the tool is no help; fails where the tool is required.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "tests say what they like")]
pub fn skipped(tool: &str, why: &str) {
    let required = std::env::var("KRM_MERGE_REQUIRE").unwrap_or_default();
    assert!(!is_required(&required, tool), "`KRM_MERGE_REQUIRE` names {tool}, which {why}");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let Some(file) = std::env::var_os("KRM_MERGE_SKIPPED") else {
        // Not by a macro: the test runner would keep that to itself.
        let _ = writeln!(std::io::stderr(), "skipped: {test}: {tool} {why}");
        return;
    };
    // Other tests write there at the same time, so it is one piece.
    let line = format!("{tool} {why}\t{test}\n");
    let written = OpenOptions::new().append(true).open(&file).and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|e| panic!("`KRM_MERGE_SKIPPED` must name a file, not {}: {e}", file.display()));
}

fn is_required(required: &str, tool: &str) -> bool {
    required.split(',').any(|name| name.trim() == tool)
}

#[test]
fn a_required_tool_is_one_of_those_that_are_named() {
    for (required, tool, want) in [
        ("", "kpt", false),
        ("kpt", "kpt", true),
        ("kubectl, kpt", "kpt", true),
        ("kpt2", "kpt", false),
        ("docker", "kpt", false),
    ] {
        assert_eq!(is_required(required, tool), want, "{required} {tool}");
    }
}
