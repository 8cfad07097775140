//! The files on disk that a merge replaces.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::change::Change;
use crate::side::{Root, Side};
use anyhow::{Context, Result};
use krm_files::disk::Replacement;

/// The files on disk that change, and the folder that contains all of them; `None` if dest has no files on disk.
///
/// # Errors
/// A file has no folder.
pub fn replacements<'c>(dest: &Side, changes: &'c [Change]) -> Result<Option<(PathBuf, Vec<Replacement<'c>>)>> {
    let (root, file) = match &dest.root {
        Root::Folder(tree) => (tree.root.clone(), None),
        Root::File(file) => (file.parent().context("dest must be a file")?.to_owned(), Some(file)),
        Root::Release(_) | Root::Stdin | Root::Stream | Root::Text | Root::Cluster => return Ok(None),
    };
    let replacements = changes.iter().map(|change| Replacement {
        file: file.cloned().unwrap_or_else(|| root.join(&change.path)),
        old: change.old.as_deref().map(Cow::Borrowed),
        new: change.new.as_deref().map(Cow::Borrowed),
        executable: change.executable,
    });
    let replacements = replacements.collect();
    Ok(Some((root, replacements)))
}
