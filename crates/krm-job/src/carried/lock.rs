//! The lock files that stand beside packages: which command makes one.
//!
//! A lock file names versions and their digest. Lines of two lock files in one give a third one, which no command ever made.

/// Each name of a lock file, with the command that makes it. Source: the manuals of helm, helmfile, jsonnet-bundler and vendir.
const COMMANDS: [(&str, &str); 5] = [
    ("Chart.lock", "helm dependency update"),
    ("requirements.lock", "helm dependency update"),
    ("helmfile.lock", "helmfile deps"),
    ("jsonnetfile.lock.json", "jb update"),
    ("vendir.lock.yml", "vendir sync"),
];

/// The command that makes the lock file at a path; `None` if it is no lock file.
pub fn made_by(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    COMMANDS.iter().find(|(lock, _)| *lock == name).map(|(_, command)| *command)
}
