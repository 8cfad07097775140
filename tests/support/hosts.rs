//! The hosts that run the function: the real ones, where they are on this machine. A test whose host is absent is skipped, see `skip.rs`.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

#[path = "run.rs"]
mod run;

use std::fs;
use std::path::Path;
use std::process::Command;

pub use run::*;

/// The function, built for the tests.
pub const BINARY: &str = env!("CARGO_BIN_EXE_krm-merge-function");

/// The image that [`image`] builds.
pub const IMAGE: &str = "localhost/krm-merge:0.1.0";

/// Builds the image from a static binary, and says whether that could be done: where no container engine answers, it cannot.
pub fn image() -> bool {
    if !has("docker") {
        return false;
    }
    if run(Command::new("docker").args(["version", "--format", "{{.Server.Version}}"])).code != Some(0) {
        skipped("docker", "has no container engine that answers");
        return false;
    }
    if !has("rustc") {
        return false;
    }
    let _alone = alone();
    run(&mut in_root("image/build")).passes();
    run(in_root("docker").args(["build", "--target", "local", "--tag", IMAGE, "."])).passes();
    true
}

/// Several tests, in several programs, want the image and the binary, which lie in one place.
fn alone() -> fs::File {
    let lock = fs::File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("image.lock")).expect("a lock");
    lock.lock().expect("locked");
    lock
}

fn in_root(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}
