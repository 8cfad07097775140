//! The program `git`, run so that no repository that it reads can run anything, and that it asks nobody where nobody is.
//!
//! The user's configuration stays, because it knows credentials, proxies and mirrors.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use krm_yaml::shown;

use crate::credentials;
use crate::screen;

/// Variables that would make git use another repository than the one it is told.
const LOCAL: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
    "GIT_PREFIX",
];

/// What a repository or an address could use to run a program.
const OFF: [&str; 7] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    // A killed fetch then leaves whole packs or none.
    "fetch.unpackLimit=1",
];

/// git, before its arguments. `repository` is the directory of a repository.
pub fn git(repository: Option<&Path>) -> Command {
    let mut git = Command::new("git");
    LOCAL.iter().for_each(|name| _ = git.env_remove(name));
    OFF.iter().for_each(|setting| _ = git.args(["-c", setting]));
    if let Some(repository) = repository {
        git.arg("--git-dir").arg(repository);
    }
    git.env("GIT_NO_REPLACE_OBJECTS", "1").stdin(Stdio::null());
    if !screen::is_someone_there() {
        git.env("GIT_TERMINAL_PROMPT", "0").env("GCM_INTERACTIVE", "never").env("SSH_ASKPASS_REQUIRE", "never");
    }
    git
}

/// Runs git, and returns its stdout. `input` is its stdin.
///
/// # Errors
/// git cannot be run; or it fails, in git's own words.
pub fn run(git: &mut Command, input: &[u8]) -> Result<Vec<u8>> {
    let output = output(git, input)?;
    if !output.status.success() {
        bail!("{}", words(&output));
    }
    Ok(output.stdout)
}

/// Runs git, and returns how it ended.
///
/// # Errors
/// git cannot be run.
pub fn output(git: &mut Command, input: &[u8]) -> Result<Output> {
    fed(git.stdout(Stdio::piped()), input)
}

/// Runs git, whose stdout goes where the caller says.
///
/// # Errors
/// git cannot be run.
pub fn fed(git: &mut Command, input: &[u8]) -> Result<Output> {
    let mut child = git.stderr(Stdio::piped()).stdin(Stdio::piped()).spawn().context(MISSING)?;
    let stdin = child.stdin.take();
    // git answers before it has read everything, so both pipes must move at the same time.
    Ok(std::thread::scope(|scope| {
        // If git ends early, its exit code says why.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        child.wait_with_output()
    })?)
}

/// The error for a missing git.
pub const MISSING: &str = "the program `git` must be on PATH";

/// What git said when it failed: its last lines, without progress and hints.
pub fn words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("hint:"));
    // git knows addresses of the user's configuration, too.
    let said: Vec<String> = lines.map(|line| credentials::hidden(&shown::line(line))).collect();
    let is_fault =
        |line: &&String| ["fatal: ", "error: ", "remote: ", "ssh: "].iter().any(|word| line.starts_with(word));
    let faults: Vec<&str> = said.iter().filter(is_fault).map(String::as_str).collect();
    match (faults.as_slice(), said.last()) {
        ([], Some(last)) => format!("git: {last}"),
        ([], None) => format!("git ended with {}", output.status),
        (faults, _) => format!("git: {}", faults.join("; ")),
    }
}
