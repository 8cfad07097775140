//! The seeds of the fuzz targets, without a fuzzer: what was found once stays found.

#![allow(clippy::duplicate_mod, reason = "the bodies of the targets bring the texts that the tests share, too")]
#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

#[path = "../fuzz/src/lib.rs"]
#[allow(dead_code, reason = "the fuzzer uses the rest")]
mod fuzz;
mod support;

use std::fs;
use std::path::Path;

use proptest::prelude::*;

/// Runs a target with each of its seeds.
fn run(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let seeds: Vec<_> = fs::read_dir(folder).expect("the seeds").map(|e| e.expect("a seed").path()).collect();
    assert!(seeds.len() > 20, "{target}: {}", seeds.len());
    for seed in seeds {
        let bytes = fs::read(&seed).expect("readable");
        if let Err(panic) = std::panic::catch_unwind(|| check(&bytes)) {
            panic!("{}: {panic:?}", seed.display());
        }
    }
}

#[test]
fn stdin() {
    run("stdin", fuzz::stdin::check);
}

#[test]
fn parse() {
    run("parse", fuzz::parse::check);
}

#[test]
fn merge() {
    run("merge", fuzz::merge::check);
}

proptest! {
    #![proptest_config(support::tries(300))]

    /// Without a fuzzer to guide them.
    #[test]
    fn merges_of_random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzz::merge::check(&bytes);
    }
}
