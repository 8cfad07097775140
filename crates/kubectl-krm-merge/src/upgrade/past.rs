//! The repository of a package as it was when the record of the package was written, in a folder for temporary files.
//!
//! A command reads files of the package, such as its values, and perhaps a chart beside it. To print again what it printed then, it needs
//! these files as they were then.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::release::address::Repo;
use crate::release::found::AtPath;
use crate::release::program::{self, In, git};
use crate::release::store::{Network, Store};
use crate::release::tree;
use crate::temporary::TemporaryFolder;
use crate::walk::shown;

/// The files of a commit. They go with its end.
#[derive(Debug)]
pub struct Past {
    folder: TemporaryFolder,
    /// The path of the package in the repository; empty for the root.
    package: PathBuf,
    /// The commit.
    pub commit: String,
}

impl Past {
    /// The repository around a package at the commit that wrote a text into a file of the package; `None` if there is no such commit.
    ///
    /// # Errors
    /// The commit cannot be read, or its files cannot be written.
    pub fn of(package: &Path, file: &str, text: &str) -> Result<Option<Self>> {
        let mut git_log = git(In::Around(package));
        git_log.args(["log", "-1", "--format=%H", "--no-show-signature", "--no-ext-diff", "--no-textconv"]);
        git_log.args(["-S", text, "--", file]);
        let Ok(told) = program::run(&mut git_log, b"") else { return Ok(None) };
        let commit = String::from_utf8_lossy(told.trim_ascii()).into_owned();
        if commit.is_empty() {
            return Ok(None);
        }
        let prefix = program::run(git(In::Around(package)).args(["rev-parse", "--show-prefix"]), b"")?;
        let prefix = PathBuf::from(String::from_utf8_lossy(prefix.trim_ascii_end()).into_owned());
        let store = Store::open(&Repo::Here, package, Network::Offline)?;
        let Some(found) = tree::find(&store, &commit, "")? else { return Ok(None) };
        let AtPath::Folder(entries) = &*found else { return Ok(None) };
        let past = Self { folder: TemporaryFolder::new("past")?, package: prefix, commit };
        for raw in tree::files(&store, entries)? {
            let file = past.folder.path().join(&raw.path);
            let written = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&file, &raw.bytes));
            written.with_context(|| shown(&file))?;
            #[cfg(unix)]
            if raw.is_executable {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
                fs::set_permissions(&file, mode).with_context(|| shown(&file))?;
            }
        }
        Ok(Some(past))
    }

    /// The folder of the package.
    pub fn package(&self) -> PathBuf {
        self.folder.path().join(&self.package)
    }
}
