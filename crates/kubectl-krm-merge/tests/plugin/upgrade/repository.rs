//! Real repositories of upstream, and of a team.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Folder;

/// git in a folder, without the configuration of whoever runs the tests.
pub fn git(folder: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=me", "-c", "user.email=me@example.com", "-c", "init.defaultBranch=main"]);
    let output = git.args(args).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Commits all that is in a folder, which becomes a repository if it is none.
pub fn commit(folder: &Path, message: &str) {
    if !folder.join(".git").exists() {
        git(folder, &["init", "--quiet"]);
    }
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--allow-empty", "--message", message]);
}

/// A bare repository with releases.
pub struct Upstream {
    work: PathBuf,
    pub bare: PathBuf,
}

impl Upstream {
    pub fn new(folder: &Folder, name: &str) -> Self {
        let (work, bare) = (folder.path(&format!("work-{name}")), folder.path(name));
        fs::create_dir_all(&work).expect("a folder");
        commit(&work, "begin");
        git(&folder.0, &["clone", "--quiet", "--bare", &work.to_string_lossy(), name]);
        git(&bare, &["config", "uploadpack.allowFilter", "true"]);
        git(&work, &["remote", "add", "bare", &bare.to_string_lossy()]);
        Self { work, bare }
    }

    /// Makes a release: these files and no others, with a tag.
    pub fn release(&self, files: &[(String, String)], tag: &str) {
        self.state(files, tag);
        self.tag(tag);
    }

    /// Adds a tag for the newest state.
    pub fn tag(&self, tag: &str) {
        git(&self.work, &["tag", "--force", tag]);
        git(&self.work, &["push", "--quiet", "--force", "bare", tag]);
    }

    /// Makes a state of the branch `main` without a tag: these files and no others. Returns its commit.
    pub fn state(&self, files: &[(String, String)], message: &str) -> String {
        for entry in fs::read_dir(&self.work).expect("a folder").map(|entry| entry.expect("an entry")) {
            if entry.file_name() != ".git" {
                let removed = if entry.path().is_dir() {
                    fs::remove_dir_all(entry.path())
                } else {
                    fs::remove_file(entry.path())
                };
                removed.expect("removed");
            }
        }
        for (path, text) in files {
            let file = self.work.join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, text).expect("written");
        }
        commit(&self.work, message);
        git(&self.work, &["push", "--quiet", "--force", "bare", "HEAD:main"]);
        git(&self.work, &["rev-parse", "HEAD"])
    }

    /// The address of a folder in a release, `deploy@v1`.
    pub fn source(&self, rest: &str) -> String {
        format!("file://{}/{rest}", self.bare.display())
    }

    pub fn commit(&self, name: &str) -> String {
        git(&self.bare, &["rev-parse", &format!("{name}^{{commit}}")])
    }
}
