//! A folder for temporary files that the user alone can read. It goes with its end.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::walk::shown;

/// The folder.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes one. `purpose` is part of its name.
    ///
    /// # Errors
    /// The folder for temporary files cannot be written.
    pub fn new(purpose: &str) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("krm-merge-{purpose}-{}", std::process::id()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).with_context(|| shown(&folder))?;
        Ok(Self(folder))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
