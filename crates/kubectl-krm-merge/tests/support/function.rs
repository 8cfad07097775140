//! The program of the function, beside which some tests run the plugin.

use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

use crate::run::root;

/// Its path. Cargo names and builds a program for the tests of its own package alone, so these tests ask for it.
pub fn program() -> &'static str {
    static BUILT: LazyLock<String> = LazyLock::new(build);
    &BUILT
}

fn build() -> String {
    let mut cargo = Command::new(env!("CARGO"));
    // In the root, this is the build that everybody has already.
    cargo.args(["build", "--quiet", "--locked", "--bin", "krm-merge", "--message-format=json"]).current_dir(root());
    // Cargo describes the package of these tests in their environment. Build scripts that read such variables would run again.
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.to_string_lossy().starts_with(start)) {
            cargo.env_remove(name);
        }
    }
    let built = cargo.stderr(Stdio::inherit()).output().expect("cargo runs");
    assert!(built.status.success(), "cargo must build the function");
    let messages = String::from_utf8(built.stdout).expect("UTF-8");
    let mut messages = messages.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let program = messages.find_map(|message| Some(message["executable"].as_str()?.to_owned()));
    program.expect("cargo says where the program is")
}
