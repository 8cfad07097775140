//! `cargo xtask test`: all tests of the repository, and what they skipped, once at the end.
//!
//! The tests are many programs, and each knows only what it skipped itself. So all of them write it into one file, which
//! `KRM_MERGE_SKIPPED` names (`tests/support/skip.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::{env, fs};

/// Runs the tests. `cargo test` gets the arguments, too.
///
/// # Errors
/// A test fails, or the tests cannot be run.
pub fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let program = env::current_exe().map_err(|e| format!("this program: {e}"))?;
    let file = program.with_file_name("skipped-tests");
    let at = |e: std::io::Error| format!("{}: {e}", file.display());
    fs::write(&file, "").map_err(at)?;
    let mut cargo = Command::new(env!("CARGO"));
    // Cargo describes this program in its environment. A build script that reads such variables would run again, and all that needs it.
    for name in env::vars_os().filter_map(|(name, _)| name.into_string().ok()) {
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    cargo.args(["test", "--locked", "--workspace"]).args(args).env("KRM_MERGE_SKIPPED", &file);
    let ended = cargo.status().map_err(|e| format!("cargo: {e}"))?;
    print!("{}", summary(&fs::read_to_string(&file).map_err(at)?));
    if ended.success() { Ok(()) } else { Err("all tests must pass".to_owned()) }
}

/// A line for each reason why tests were skipped. A line of the file is a reason, a tab and a test, which may come more than once.
fn summary(skipped: &str) -> String {
    let mut tests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (why, test) in skipped.lines().filter_map(|line| line.split_once('\t')) {
        tests.entry(why).or_default().insert(test);
    }
    let line = |(why, tests): (&str, BTreeSet<&str>)| match tests.len() {
        1 => format!("skipped: {why}: 1 test\n"),
        n => format!("skipped: {why}: {n} tests\n"),
    };
    tests.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::summary;

    #[test]
    fn each_reason_is_said_once() {
        let skipped = "kpt is not on PATH\ta\nzsh is not on PATH\tb\nkpt is not on PATH\tc\nkpt is not on PATH\ta\n";
        assert_eq!(summary(skipped), "skipped: kpt is not on PATH: 2 tests\nskipped: zsh is not on PATH: 1 test\n");
        assert_eq!(summary(""), "");
    }
}
