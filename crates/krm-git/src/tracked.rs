//! Whether git tracks a file that looks like one that a killed run of this program left.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use krm_files::walk::{path_of, shown};

use crate::program::{self, In, git};

/// How many files git is asked for at once.
const MOST: usize = 500;

/// Checks that git tracks none of these files or folders below a folder, which are then taken away. What a repository holds was made by no run.
///
/// # Errors
/// It tracks one; or there is a repository, and git cannot say.
pub fn refuse(folder: &Path, leftovers: &[PathBuf]) -> Result<()> {
    if leftovers.is_empty() {
        return Ok(());
    }
    for some in leftovers.chunks(MOST) {
        let mut asked = git(In::Around(folder));
        asked.args(["--literal-pathspecs", "ls-files", "-z", "--"]).args(some);
        let told = program::output(&mut asked, b"")?;
        if !told.status.success() {
            // In its own directory, git tracks nothing.
            let is_inside = folder.components().any(|part| part.as_os_str() == ".git");
            if is_inside || !std::path::absolute(folder)?.ancestors().any(|above| above.join(".git").exists()) {
                return Ok(());
            }
            bail!("{}", program::words(&told));
        }
        if let Some(first) = told.stdout.split(|byte| *byte == 0).find(|path| !path.is_empty()) {
            bail!(
                "{}: git tracks this file, but it has the name of a temporary file of krm-merge, which removes it: rename it by `git mv`, or remove it by `git rm`",
                shown(&folder.join(path_of(first)))
            );
        }
    }
    Ok(())
}
