//! The repository of a package as it was when the record of the package was written, in a folder for temporary files.
//!
//! A command reads files of the package, such as its values, and perhaps a chart beside it. To print again what it printed then, it needs
//! these files as they were then.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use krm_files::temporary::TemporaryFolder;
use krm_files::walk;
use krm_git::program::{self, In, git};
use krm_yaml::shown;

/// The files of a commit. They go with its end.
#[derive(Debug)]
pub struct Past {
    folder: TemporaryFolder,
    /// The path of the package in the repository; empty for the root.
    package: PathBuf,
    /// The commit.
    pub commit: String,
    /// Why some of its files are not there, as in a partial clone: a part of a sentence. Empty if all are there.
    pub lacks: String,
}

impl Past {
    /// The repository around a package at the commit that wrote a text into a file of the package; `None` if there is no such commit.
    ///
    /// # Errors
    /// git cannot read the commit, or its files cannot be written.
    pub fn of(package: &Path, file: &str, text: &str) -> Result<Option<Self>> {
        let log = |args: &[&str]| {
            let mut git = git(In::Around(package));
            git.args(["log", "-1", "--format=%H", "--no-show-signature", "--no-ext-diff", "--no-textconv"]);
            program::run(git.args(args).args(["--", file]), b"")
        };
        // A partial clone may lack what the file was before.
        let Ok(told) = log(&["-S", text]).or_else(|_| log(&[])) else { return Ok(None) };
        let commit = String::from_utf8_lossy(told.trim_ascii()).into_owned();
        if commit.is_empty() {
            return Ok(None);
        }
        let [prefix] = program::paths_told(package, ["--show-prefix"])?;
        let folder = TemporaryFolder::new("past")?;
        let (index, files) = (folder.path().join("index"), folder.path().join("files"));
        fs::create_dir(&files).with_context(|| walk::shown(&files))?;
        let in_folder = |args: &[&str]| {
            let mut git = program::without_filters(package)?;
            git.env("GIT_INDEX_FILE", &index).args(["-c", "core.splitIndex=false"]);
            program::run(git.arg("--work-tree").arg(&files).args(args), b"")
        };
        in_folder(&["read-tree", &commit])?;
        let written = in_folder(&["checkout-index", "--all", "--quiet"]);
        let lacks = written
            .err()
            .map_or_else(String::new, |why| format!(", some of which are missing ({})", shown::line(&why.to_string())));
        Ok(Some(Self { folder, package: prefix, commit, lacks }))
    }

    /// The folder of the package.
    pub fn package(&self) -> PathBuf {
        self.folder.path().join("files").join(&self.package)
    }
}
