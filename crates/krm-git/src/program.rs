//! The program `git`. It is started here and nowhere else, so that no repository that it reads can run anything, and that it asks nobody
//! where nobody is.
//!
//! The user's configuration stays, because it knows credentials, proxies and mirrors. That of a repository is read, too, because it says
//! how objects and texts are stored. But it may come from a stranger, so what it could run is off: hooks, monitors of files, pagers, and
//! all programs that fetch. Filters run only where git compares or writes files: see [`without_filters`]. The server that git starts
//! for a repository on disk gets none of these settings, and runs no program that a repository names.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use krm_files::credentials;
use krm_files::terminal::is_someone_there;
use krm_files::walk::path_of;
use krm_names::shown;

/// The repository that git works in.
#[derive(Clone, Copy, Debug)]
pub enum In<'a> {
    /// One that this program made, by its git directory. It alone may fetch.
    Own(&'a Path),
    /// The one around a folder, whoever made it.
    Around(&'a Path),
    /// The one that the current folder and git's variables name. git sets them when it starts this program.
    Environment,
}

/// Variables that would make git use another repository than the one it is told.
const LOCAL: [&str; 10] = [
    "GIT_CONFIG",
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

/// git, before its arguments.
pub fn git(place: In<'_>) -> Command {
    let mut git = Command::new("git");
    git.arg("--no-pager");
    OFF.iter().for_each(|setting| _ = git.args(["-c", setting]));
    if !matches!(place, In::Environment) {
        LOCAL.iter().for_each(|name| _ = git.env_remove(name));
    }
    match place {
        In::Own(folder) => _ = git.arg("--git-dir").arg(folder),
        // A clone may hold a folder that looks like a git directory, with a `config` of its own.
        In::Around(folder) => _ = git.args(["-c", "safe.bareRepository=explicit"]).current_dir(folder),
        In::Environment => {}
    }
    if !matches!(place, In::Own(_)) {
        // A partial clone names where and how git would fetch what it lacks. An old git does not know `GIT_NO_LAZY_FETCH`.
        git.env("GIT_ALLOW_PROTOCOL", "none");
    }
    git.env("GIT_NO_LAZY_FETCH", "1").env("GIT_NO_REPLACE_OBJECTS", "1").stdin(Stdio::null());
    if !is_someone_there() {
        git.env("GIT_TERMINAL_PROMPT", "0").env("GCM_INTERACTIVE", "never").env("SSH_ASKPASS_REQUIRE", "never");
    }
    git
}

/// git around a folder, without the filters that the repository names. It takes a file that only a filter would make equal for a changed one.
///
/// # Errors
/// The errors of [`filters_off`].
pub fn without_filters(folder: &Path) -> Result<Command> {
    let mut git = git(In::Around(folder));
    git.args(filters_off(folder)?);
    Ok(git)
}

/// The arguments of git that turn off the filters that the repository around a folder names.
///
/// # Errors
/// git cannot be run; or a filter has a name that cannot be turned off.
pub fn filters_off(folder: &Path) -> Result<Vec<String>> {
    let mut asked = git(In::Around(folder));
    asked.args(["config", "--show-scope", "--name-only", "-z", "--get-regexp", "^filter[.]"]);
    // It fails if no filter is configured.
    let told = output(&mut asked, b"")?.stdout;
    let mut off = Vec::new();
    for pair in told.split(|byte| *byte == 0).collect::<Vec<_>>().chunks_exact(2) {
        if ![&b"local"[..], b"worktree"].contains(&pair[0]) {
            continue;
        }
        let key = std::str::from_utf8(pair[1]).ok().filter(|key| !key.contains('='));
        let Some((filter, _)) = key.and_then(|key| key.rsplit_once('.')) else {
            bail!("the name of a filter must be UTF-8 without `=`, as that of {}", shown::name_of_bytes(pair[1]));
        };
        for value in ["clean=", "smudge=", "process=", "required=false"] {
            off.extend(["-c".to_owned(), format!("{filter}.{value}")]);
        }
    }
    Ok(off)
}

/// The paths that `git rev-parse` tells about a folder, one for each of its options in `what`, such as `--show-prefix` or `--git-path=NAME`.
/// What is relative is so to the folder.
///
/// # Errors
/// git cannot be run, or the folder is in no repository.
pub fn paths_told<const N: usize>(folder: &Path, what: [&str; N]) -> Result<[PathBuf; N]> {
    let options = what.iter().flat_map(|what| what.split('='));
    let told = run(git(In::Around(folder)).arg("rev-parse").args(options), b"")?;
    let told = told.strip_suffix(b"\n").unwrap_or(&told);
    let paths: Vec<PathBuf> = told.splitn(N, |byte| *byte == b'\n').map(path_of).collect();
    paths.try_into().ok().context("`git rev-parse` must tell a path for each option")
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
