//! Every example is run twice: the first run gives `.expected`, the second one changes nothing.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut all: Vec<PathBuf> = fs::read_dir(folder).expect("examples").map(|e| e.expect("an entry").path()).collect();
    all.sort();
    all
}

#[test]
fn each_example_gives_what_it_says_and_again_the_same() {
    let mut run = 0;
    for example in examples() {
        assert!(example.join("README.md").exists(), "{}: README.md", example.display());
        let stdin = example.join("resource-list.yaml");
        if !stdin.exists() {
            continue;
        }
        let stdin = fs::read_to_string(stdin).expect("readable");
        let want = fs::read_to_string(example.join(".expected/resource-list.yaml")).expect(".expected");
        assert_eq!(support::passes(&stdin).stdout, want, "{}", example.display());
        assert_eq!(support::passes(&want).stdout, want, "{}: run again", example.display());
        run += 1;
    }
    assert!(run > 0);
}
