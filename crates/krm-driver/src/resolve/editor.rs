//! Asks for the text of a conflict in the user's editor.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use krm_files::signals::Signals;
use krm_files::walk::shown;
use krm_show::screen;

use crate::repository::temporary_folder;
use krm_job::marked::Marked;

/// How often to check for a signal while the editor runs.
const PATIENCE: Duration = Duration::from_millis(50);

/// Opens an editor with a conflict and its markers, and returns the text that the user makes of it. No marker may be left in it.
///
/// # Errors
/// The editor cannot be run, or fails; markers are left; a signal arrived, or the terminal went away. The editor may survive the last two,
/// but its file is removed.
pub fn edit(of: &Path, conflict: &[u8], signals: &Signals) -> Result<Vec<u8>> {
    // Only this user can read it, because the text may be from a Secret. An editor recognises the type of a file by its extension.
    let folder = temporary_folder("edit")?;
    let end = of.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
    let file = folder.add(format!("conflict{end}"), conflict)?;
    let editor = ["VISUAL", "EDITOR"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    let editor = editor.unwrap_or_else(|| "vi".into());
    // As with git, the variable is a command that may have arguments.
    let mut script = editor.clone();
    script.push(" \"$@\"");
    let started = Command::new("sh").arg("-c").arg(&script).arg("sh").arg(&file).spawn();
    let mut started = started.context("`sh` must be on PATH to run the editor")?;
    let ended = loop {
        if let Some(ended) = started.try_wait().context("it must be possible to wait for the editor")? {
            break ended;
        }
        signals.check_beside()?;
        screen::check_someone_stays()?;
        thread::sleep(PATIENCE);
    };
    if !ended.success() {
        bail!(
            "the editor \"{}\" must end without an error, but it ended with {ended}: press `e` to try again, or set `VISUAL` or `EDITOR` to another one",
            editor.to_string_lossy()
        );
    }
    let mut text = fs::read(&file).with_context(|| shown(&file))?;
    let left = Marked::read(&text);
    if !left.conflicts.is_empty() || !left.faults.is_empty() {
        bail!("markers are left: edit again, or take a side");
    }
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    Ok(text)
}
