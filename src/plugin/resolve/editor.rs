//! Asks the user's editor for what shall stand in the place of a conflict.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::marked::Marked;
use crate::walk::shown;

/// A file that is removed with its end.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What someone makes of a conflict of a file: the editor shows it with its markers, and no marker may be left.
///
/// # Errors
/// An editor that cannot be run or that fails, and markers that are left.
pub fn edit(of: &Path, conflict: &[u8]) -> Result<Vec<u8>> {
    let file = temporary(of, conflict)?;
    let editor = ["VISUAL", "EDITOR"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    let editor = editor.unwrap_or_else(|| "vi".into());
    // As git does: the variable is a command with arguments.
    let mut script = editor;
    script.push(" \"$@\"");
    let ended = Command::new("sh").arg("-c").arg(&script).arg("sh").arg(&file.0).status();
    let ended = ended.context("`sh` must be on PATH to run the editor")?;
    if !ended.success() {
        bail!("the editor must end without an error, but it did not: set `EDITOR`");
    }
    let mut text = fs::read(&file.0).with_context(|| shown(&file.0))?;
    let left = Marked::read(&text);
    if !left.conflicts.is_empty() || !left.faults.is_empty() {
        bail!("markers are left: edit again, or take a side");
    }
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    Ok(text)
}

/// A file of this text that only this user can read, for it may be of a Secret. Its name ends as that of the file it is of, which tells an
/// editor what it holds.
fn temporary(of: &Path, text: &[u8]) -> Result<Temporary> {
    let end = of.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
    for number in 0..1000 {
        let file = std::env::temp_dir().join(format!("krm-merge-{}-{number}{end}", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&file) {
            Ok(mut out) => {
                let file = Temporary(file);
                out.write_all(text).with_context(|| shown(&file.0))?;
                return Ok(file);
            }
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e).with_context(|| shown(&file)),
        }
    }
    bail!("{}: the folder must have room for a temporary file", shown(&std::env::temp_dir()))
}
