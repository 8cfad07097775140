//! What the tests share: ResourceLists from readable pieces, and what the function makes of them.
#![allow(dead_code, unused_imports, reason = "each test file uses its part")]

mod texts;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub use krm_merge_function::run;
use krm_merge_function::{Output, Verdict};
use proptest::test_runner::{Config, RngSeed};

pub use texts::{indent, items, items_of, outside_of_lists, resource, resource_list, results, side, value_of};

/// How often a law is tried: this often and from one seed, so that a commit passes or fails whoever runs it, or, with
/// `KRM_MERGE_LAWS=N`, N times as often from a seed of its own.
pub fn tries(cases: u32) -> Config {
    let times = std::env::var("KRM_MERGE_LAWS").ok().map(|n| n.parse::<u32>().expect("`KRM_MERGE_LAWS` is a number"));
    let rng_seed = if times.is_some() { RngSeed::Random } else { RngSeed::Fixed(0) };
    let cases = cases.saturating_mul(times.unwrap_or(1));
    Config {
        cases,
        max_global_rejects: cases.saturating_mul(4).max(1024),
        failure_persistence: None,
        rng_seed,
        ..Config::default()
    }
}

/// Every case with `KRM_MERGE_LAWS`, and every so many else: the engine's own tests try each of them without a ResourceList.
pub fn sample<T>(cases: Vec<T>) -> Vec<T> {
    let step = if std::env::var_os("KRM_MERGE_LAWS").is_some() { 1 } else { SAMPLE };
    cases.into_iter().step_by(step).collect()
}

/// A prime, so that all values come together with all others.
const SAMPLE: usize = 13;

/// The files below a folder, by their paths.
pub fn files_below(folder: &Path) -> BTreeMap<String, String> {
    fn walk(folder: &Path, prefix: &str, out: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry")) {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{name}/"), out);
            } else {
                out.insert(name, fs::read_to_string(entry.path()).expect("readable"));
            }
        }
    }
    let mut out = BTreeMap::new();
    walk(folder, "", &mut out);
    out
}

/// Runs, expecting success.
pub fn passes(stdin: &str) -> Output {
    let output = run(stdin);
    assert_eq!(output.verdict, Verdict::Passed, "{:?}\n{stdin}", output.stderr);
    output
}

/// Runs, expecting failure with the items as they came; returns stderr as one text.
pub fn fails(stdin: &str) -> String {
    let output = run(stdin);
    assert_eq!(output.verdict, Verdict::Failed, "{}", output.stdout);
    assert!(!output.stderr.is_empty());
    if !output.stdout.is_empty() {
        assert!(output.stdout.starts_with(stdin.trim_end()), "what came in goes out\n{stdin}\n{}", output.stdout);
        assert!(results(&output.stdout).iter().any(|r| r.0 == "error"), "{}", output.stdout);
    }
    output.stderr.join("\n")
}
