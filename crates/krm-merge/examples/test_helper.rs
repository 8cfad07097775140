//! A helper for tests: two texts of resources must mean the same.
//!
//! `cargo run -p krm-merge --example test_helper WANTED GOT`. It panics as a test would.

use std::error::Error;
use std::{env, fs};

use krm_merge::Package;

/// Fails unless two texts mean the same, and says which resources and places differ.
#[track_caller]
fn assert_same(wanted: &str, got: &str) {
    let package = |text: &str| Package::of_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found = package(wanted).differences(&package(got)).unwrap_or_else(|error| panic!("{error}"));
    let told = found.iter().map(|one| {
        let name = one.resource.as_ref().map_or("a text", |resource| &resource.name);
        if one.places.is_empty() {
            format!("{name}: only one side has it")
        } else {
            format!("{name}: {}", one.places.join(", "))
        }
    });
    assert!(found.is_empty(), "{}", told.collect::<Vec<_>>().join("\n"));
}

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = env::args().skip(1).collect();
    let [wanted, got] = files.as_slice() else { return Err("two files must be given".into()) };
    assert_same(&fs::read_to_string(wanted)?, &fs::read_to_string(got)?);
    Ok(())
}
