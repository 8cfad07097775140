//! The checkout, the machine that it is on, and the programs that are started there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The checkout.
///
/// # Errors
/// It is not there.
pub fn root() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().map_err(|e| format!("{}: {e}", root.display()))
}

/// Where cargo builds.
pub fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// The platform of this machine, as krew calls it.
pub fn host() -> Result<String, String> {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        os => os,
    };
    match std::env::consts::ARCH {
        "x86_64" => Ok(format!("{os}-amd64")),
        "aarch64" => Ok(format!("{os}-arm64")),
        other => Err(format!("a release has no programs for {os} on {other}")),
    }
}

pub fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

pub fn size(path: &Path) -> Result<u64, String> {
    fs::metadata(path).map(|file| file.len()).map_err(|e| format!("{}: {e}", path.display()))
}

/// The output of a program; its errors go to stderr.
pub fn output(folder: &Path, program: &str, args: &[&str]) -> Result<String, String> {
    let ran = Command::new(program).args(args).current_dir(folder).stderr(Stdio::inherit()).output();
    let ran = ran.map_err(|e| format!("{program}: {e}"))?;
    if ran.status.success() {
        return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
    }
    Err(format!("`{program} {}` must pass", args.join(" ")))
}

/// Runs a program.
///
/// # Errors
/// It is not there, or fails.
pub fn start(command: &mut Command) -> Result<(), String> {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let told = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    println!("{told}");
    match command.status().map_err(|e| format!("{told}: {e}"))?.success() {
        true => Ok(()),
        false => Err(format!("`{told}` must pass")),
    }
}

/// Runs a program that builds in this target folder.
///
/// # Errors
/// It is not there, or fails.
pub fn call(folder: &Path, target: &Path, command: &mut Command) -> Result<(), String> {
    start(command.current_dir(folder).env("CARGO_TARGET_DIR", target))
}
