//! ARCHITECTURE.md is a map: it is short, and each file that it names is there. The pages for users are tested in docs.rs.

#[path = "support/run.rs"]
mod run;

use std::fs;

use run::{files, root};

/// How many words a newcomer reads.
const MOST_WORDS: usize = 1200;

#[test]
fn the_architecture_is_short_and_names_files_that_are_there() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("readable");
    let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
    assert!(words < MOST_WORDS, "{words}");
    let folders = ["src", "crates", "xtask"]
        .map(|folder| files(&root().join(folder)).into_keys().map(move |path| format!("{folder}/{path}")));
    let tests = fs::read_dir(root().join("tests")).expect("the tests").map(|entry| entry.expect("an entry").path());
    let tests = tests.map(|path| format!("tests/{}", path.file_name().unwrap_or_default().to_string_lossy()));
    // The map leaves out the folder `src` of a crate.
    let folders = folders.into_iter().flatten().map(|path| path.replacen("/src/", "/", 1));
    let all: Vec<String> = folders.chain(tests).collect();
    let named: Vec<&str> = text.split('`').skip(1).step_by(2).filter(|word| word.ends_with(".rs")).collect();
    assert!(named.len() > 30, "{named:?}");
    let gone = named.iter().filter(|name| !all.iter().any(|path| path == *name || path.ends_with(&format!("/{name}"))));
    assert_eq!(gone.collect::<Vec<_>>(), [&""; 0]);
}
