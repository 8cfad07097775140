//! The seeds of the fuzz target `diff`: `git apply` takes the diff that the plugin prints, and gives the files after.

#[path = "../../../../fuzz/src/bytes.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod bytes;
#[path = "../../../../fuzz/src/diff.rs"]
#[allow(dead_code, reason = "the fuzzer names the plugin by a variable")]
mod diff;

use std::path::Path;

use crate::support::{PLUGIN, has, root};

#[test]
fn the_diff_of_each_seed_is_taken() {
    if !has("git") {
        return;
    }
    let folder = root().join("fuzz/corpus/diff");
    let seeds: Vec<_> = std::fs::read_dir(folder).expect("the seeds").map(|e| e.expect("a seed").path()).collect();
    assert!(seeds.len() > 20, "{}", seeds.len());
    for seed in seeds {
        diff::check_plugin(Path::new(PLUGIN), &std::fs::read(&seed).expect("readable"));
    }
}
