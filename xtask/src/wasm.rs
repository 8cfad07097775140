//! `cargo xtask wasm`: the merge as a package for JavaScript, in `target/wasm`. `cargo xtask wasi`: the function as a module, in `target/wasi`.
//!
//! The files in `crates/krm-merge-wasm/npm` are the package; what is built comes beside them. `wasm-bindgen` makes the code between both sides, and must
//! have the version that the crate has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use wasm_bindgen_cli_support::Bindgen;

use crate::machine::{self, read};
use crate::release;

const TARGET: &str = "wasm32-unknown-unknown";

/// The target of the function: a host gives it stdin, stdout and stderr.
const WASI: &str = "wasm32-wasip1";

/// Browsers have 16 bytes at once since 2021 (Safari: 2023), and the module is smaller and a quarter faster with them.
const FLAGS: &str = "-C target-feature=+simd128";

/// The files of the package that are in the repository.
const OWN: [&str; 4] = ["README.md", "browser.js", "index.d.ts", "index.js"];

/// The function as a module.
pub fn function_file(root: &Path) -> PathBuf {
    machine::target_folder(root).join("wasi/krm-merge.wasm")
}

/// Builds the function.
///
/// # Errors
/// It cannot be built.
pub fn function() -> Result<(), String> {
    let root = machine::root()?;
    let module = built(&root, "krm-merge-function", WASI)?.join("krm-merge-function.wasm");
    let out = function_file(&root);
    let folder = out.parent().unwrap_or(&root);
    let copied = fs::create_dir_all(folder).and_then(|()| fs::copy(&module, &out));
    copied.map(drop).map_err(|e| format!("{}: {e}", out.display()))
}

/// Builds a package for a target, and returns the folder with what was built.
fn built(root: &Path, package: &str, target: &str) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["build", "--locked", "--profile", "wasm", "--package", package, "--target", target]);
    // Only `wasm-bindgen` needs the names.
    let flags = if target == WASI { format!("{FLAGS} -C strip=symbols") } else { FLAGS.to_owned() };
    let name = format!("CARGO_TARGET_{}_RUSTFLAGS", target.replace('-', "_").to_uppercase());
    machine::start(cargo.env(name, flags)).map_err(|e| format!("{e}; `rustup target add {target}` adds the target"))?;
    Ok(machine::target_folder(root).join(target).join("wasm"))
}

/// The folder of the package.
pub fn folder(root: &Path) -> PathBuf {
    machine::target_folder(root).join("wasm")
}

/// Builds the package.
///
/// # Errors
/// It cannot be built.
pub fn run() -> Result<(), String> {
    let root = machine::root()?;
    let module = built(&root, "krm-merge-wasm", TARGET)?;
    let out = folder(&root);
    let on = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|e| on(&out, e))?;
    }
    fs::create_dir_all(&out).map_err(|e| on(&out, e))?;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(module.join("krm_merge_wasm.wasm"))
        .out_name("krm_merge")
        .typescript(false)
        .reset_state_function(true);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.web(true).and_then(|bindgen| bindgen.generate(&out)).map_err(|e| format!("wasm-bindgen: {e:#}"))?;
    for file in OWN {
        let text = read(&root.join("crates/krm-merge-wasm/npm").join(file))?;
        fs::write(out.join(file), text).map_err(|e| on(&out, e))?;
    }
    let package = json!({
        "name": "@krm-merge/wasm",
        "version": release::current(&read(&root.join("Cargo.toml"))?)?.to_string(),
        "description": "Merges Kubernetes YAML by field, in browsers, Node and Deno",
        "license": "Apache-2.0",
        "repository": "github:krm-merge/krm-merge",
        "type": "module",
        "main": "index.js",
        "browser": "browser.js",
        "types": "index.d.ts",
        "exports": {
            ".": {"types": "./index.d.ts", "node": "./index.js", "default": "./browser.js"},
            "./krm_merge_bg.wasm": "./krm_merge_bg.wasm",
            "./package.json": "./package.json",
        },
        "sideEffects": false,
        "engines": {"node": ">=18"},
    });
    let text = serde_json::to_string_pretty(&package).map_err(|e| e.to_string())? + "\n";
    fs::write(out.join("package.json"), text).map_err(|e| on(&out, e))
}
