//! npm packages: `npx krm-merge` runs the program. One package for each platform has its programs; npm installs the one that fits. The package
//! `krm-merge` names them all as optional, and starts the program of the one that is there.

use std::fs;

use serde_json::{Value, json};

use super::files::{Entry, of_folder, tar_gz};
use super::platform::Platform;
use super::{Built, Dist};
use crate::release::PLUGIN;
use crate::wasm;

/// What starts a program. It ends as the program ends.
const START: &str = r#"#!/usr/bin/env node
"use strict";
const { spawn } = require("node:child_process");
const name = `@krm-merge/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "kubectl-krm_merge.exe" : "kubectl-krm_merge";
let program;
try {
  program = require.resolve(`${name}/${file}`);
} catch {
  console.error(`error: the package ${name} must be installed, and is not: krm-merge has no programs for this platform, or optional dependencies are left out`);
  process.exit(2);
}
const ran = spawn(program, process.argv.slice(2), { argv0: "PROGRAM", stdio: "inherit" });
// A signal to this process is meant for the program, which then ends as it must.
const signals = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"];
for (const signal of signals) process.on(signal, () => ran.kill(signal));
ran.on("error", (error) => {
  console.error(`error: ${program}: ${error.message}`);
  process.exit(2);
});
ran.on("exit", (code, signal) => {
  if (!signal) process.exit(code ?? 2);
  for (const signal of signals) process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
"#;

/// Makes the package with the programs of a platform.
///
/// # Errors
/// It cannot be written.
pub fn of_platform(dist: &Dist, built: &Built) -> Result<(), String> {
    let Platform { npm_os, npm_cpu, .. } = built.platform;
    let own = json!({
        "name": format!("@krm-merge/{npm_os}-{npm_cpu}"),
        "description": format!("The programs of krm-merge for {npm_os} on {npm_cpu}"),
        "os": [npm_os],
        "cpu": [npm_cpu],
        "preferUnplugged": true,
    });
    // What starts it says by which name.
    let program = built.program(PLUGIN, "package/");
    packed(dist, &format!("krm-merge-{npm_os}-{npm_cpu}-{}.tgz", dist.version), own, vec![program])
}

/// Makes the package that users name.
///
/// # Errors
/// It cannot be written.
pub fn of_all(dist: &Dist) -> Result<(), String> {
    let all = super::PLATFORMS.iter();
    let optional: Value = all
        .map(|Platform { npm_os, npm_cpu, .. }| (format!("@krm-merge/{npm_os}-{npm_cpu}"), json!(dist.version)))
        .collect();
    let own = json!({
        "name": "krm-merge",
        "description": "Merges Kubernetes YAML by field, and keeps every other byte",
        "bin": {"krm-merge": "krm-merge.js", "kubectl-krm_merge": "plugin.js", "krm-merge-function": "krm-merge.js"},
        "optionalDependencies": optional,
        "engines": {"node": ">=18"},
    });
    let start = |file: &str, program: &str| Entry {
        mode: super::Mode::Program,
        ..Entry::text(format!("package/{file}"), START.replace("PROGRAM", program))
    };
    let page = Entry::text("package/README.md", dist.front.as_str());
    let files = vec![start("krm-merge.js", "krm-merge"), start("plugin.js", PLUGIN), page];
    packed(dist, &format!("krm-merge-{}.tgz", dist.version), own, files)
}

/// Puts the function as a module, if it was built.
///
/// # Errors
/// It cannot be read or written.
pub fn of_function(dist: &Dist) -> Result<(), String> {
    let file = wasm::function_file(&dist.root);
    if !file.exists() {
        return Ok(());
    }
    dist.put("krm-merge.wasm", &fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?)
}

/// Makes the package for JavaScript, if it was built.
///
/// # Errors
/// It cannot be written.
pub fn of_module(dist: &Dist) -> Result<(), String> {
    let folder = wasm::folder(&dist.root);
    if !folder.exists() {
        return Ok(());
    }
    let entries = of_folder(&folder, "package")?;
    with_notices(dist, &format!("krm-merge-wasm-{}.tgz", dist.version), entries)
}

fn packed(dist: &Dist, file: &str, own: Value, files: Vec<Entry>) -> Result<(), String> {
    let mut package = own;
    package["version"] = json!(dist.version);
    package["license"] = json!("Apache-2.0");
    package["repository"] = json!("github:krm-merge/krm-merge");
    let text = serde_json::to_string_pretty(&package).map_err(|e| e.to_string())? + "\n";
    with_notices(dist, file, [Entry::text("package/package.json", text)].into_iter().chain(files).collect())
}

fn with_notices(dist: &Dist, file: &str, mut entries: Vec<Entry>) -> Result<(), String> {
    entries.extend(
        dist.notices.iter().cloned().map(|notice| Entry { path: format!("package/{}", notice.path), ..notice }),
    );
    dist.put(file, &tar_gz(&entries, dist.date)?)
}
