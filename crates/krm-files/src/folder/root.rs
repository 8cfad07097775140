//! The folder of a package, held open, and the files in it by their paths.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use super::Folder;
use crate::walk::shown;

/// The folder that must contain every file of a run.
#[derive(Debug)]
pub struct FolderRoot {
    path: PathBuf,
    folder: Folder,
}

/// What to do about a folder that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    Make,
    Leave,
}

impl FolderRoot {
    /// Opens a folder, or the nearest one above it that exists.
    ///
    /// # Errors
    /// It is a symbolic link, or cannot be entered.
    pub fn open(path: &Path) -> Result<Self> {
        for path in absolute(path)?.ancestors() {
            match Folder::open(path) {
                Ok(folder) => return Ok(Self { path: path.to_owned(), folder }),
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(_) if path.is_symlink() => bail!(link(path)),
                Err(e) => return Err(e).with_context(|| shown(path)),
            }
        }
        Err(anyhow!("{}: there must be such a folder", shown(path)))
    }

    /// The absolute path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Enters a folder below this one, or this folder itself; `None` if it does not exist.
    ///
    /// # Errors
    /// The path leads out of this folder, or through a symbolic link or a file.
    pub fn enter(&self, folder: &Path) -> Result<Option<Folder>> {
        self.walk(folder, Missing::Leave, &mut Vec::new())
    }

    /// Enters a folder, and makes it if it does not exist. The paths of all folders that it makes are added to `made`.
    ///
    /// # Errors
    /// The errors of [`FolderRoot::enter`]; or a folder cannot be made.
    pub fn make(&self, folder: &Path, made: &mut Vec<PathBuf>) -> Result<Folder> {
        self.walk(folder, Missing::Make, made)?.with_context(|| shown(folder))
    }

    /// Removes an empty folder below this one. A folder that is not empty stays.
    pub fn remove_folder(&self, folder: &Path) {
        if let Ok((path, name)) = parts(folder)
            && let Ok(Some(above)) = self.enter(path)
        {
            let _ = above.remove_folder(name);
        }
    }

    fn walk(&self, folder: &Path, missing: Missing, made: &mut Vec<PathBuf>) -> Result<Option<Folder>> {
        let outside = || anyhow!("the file must lie in {}", shown(&self.path));
        let folder = absolute(folder)?;
        let folders = folder.strip_prefix(&self.path).map_err(|_| outside())?;
        let (mut folder, mut path) = (self.folder.again()?, self.path.clone());
        for component in folders.components() {
            let Component::Normal(name) = component else { return Err(outside()) };
            path.push(name);
            folder = match folder.enter(name) {
                Ok(entered) => entered,
                Err(e) if e.kind() == ErrorKind::NotFound && missing == Missing::Leave => return Ok(None),
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    folder.make(name)?;
                    made.push(path.clone());
                    folder.enter(name)?
                }
                Err(_) if folder.is_link(name) => bail!(link(&path)),
                Err(e) if e.kind() == ErrorKind::NotADirectory => bail!("{} must be a folder", shown(&path)),
                Err(e) => return Err(e).with_context(|| shown(&path)),
            };
        }
        Ok(Some(folder))
    }
}

/// The folder of a file, and its name in that folder.
///
/// # Errors
/// The path ends with no name.
pub fn parts(file: &Path) -> Result<(&Path, &OsStr)> {
    file.parent().zip(file.file_name()).context("it must be a file")
}

fn link(folder: &Path) -> String {
    format!("the file must lie in the folder, but {} is a symbolic link", shown(folder))
}

/// An absolute path; the empty path is the current folder.
fn absolute(path: &Path) -> Result<PathBuf> {
    Ok(std::path::absolute(if path.as_os_str().is_empty() { Path::new(".") } else { path })?)
}
