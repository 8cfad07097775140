//! The sides that the user names: each is a file, a folder, a release in git, or stdin.
//!
//! A side that is only read may be a pipe, such as `<(…)` of a shell, or a device. If a side holds nothing, its path is mostly wrong, or a
//! command failed. So these sides must hold a resource: a pipe, a source, the files for a cluster, and updated if original has resources.
//! Original may be empty, because a package may have no earlier release. Dest may be empty, too.

use std::fs;
use std::io;
use std::path::Path;

use crate::held::{Before, Held};
use crate::release;
use crate::side::{Root, Side};
use anyhow::{Context, Result, bail};
use krm_files::cores;
use krm_files::regular;
use krm_files::walk::{Tree, shown};

/// The error for a user who names stdin twice.
pub const STDIN_ONCE: &str = "only one side must be `-`, because stdin can be read only once";

/// Reads a side: `-` is stdin, anything else a file, a folder, or the address of a release in git. `of` is the flag or the argument that
/// names it, and `before` is what was read before.
///
/// # Errors
/// A file cannot be read; a file that the user named is not YAML; or a path leads out of the folder.
pub fn side(of: &str, path: &str, before: &Before<'_>) -> Result<Side> {
    if path == "-" {
        let bytes = regular::read_stream(io::stdin().lock()).context("stdin must be readable")?;
        return Side::one(Root::Stdin, "stdin".into(), None, bytes)?.not_empty();
    }
    let disk = Path::new(path);
    let found = match fs::metadata(disk) {
        Ok(found) => found,
        Err(e) => return release::side_at(of, path, e, before),
    };
    if !found.is_dir() {
        let bytes = regular::read(disk).with_context(|| shown(disk))?;
        // A pipe has no path on disk, and neither has the file of a here-document.
        let canonical = if found.is_file() { fs::canonicalize(disk).ok() } else { None };
        let Some(canonical) = canonical else {
            let side = Side::one(Root::Stream, shown(disk), None, bytes)?;
            return if is_pipe(&found) { side.not_empty() } else { Ok(side) };
        };
        return Side::one(Root::File(canonical.clone()), shown(disk), Some(canonical), bytes);
    }
    let tree = Tree::read(disk)?;
    let read = cores::map(&tree.files, |path| Held::read(disk, &tree.root, path, before));
    let mut files = read.into_iter().collect::<Result<Vec<Held>>>()?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let side = Side { name: shown(disk), root: Root::Folder(Box::new(tree)), files };
    side.check()?;
    Ok(side)
}

/// Reads two sides, of which stdin can be only one. The rules of a package are no part of it.
///
/// # Errors
/// The errors of [`side`]; or both sides are stdin.
pub fn both_sides(of: [&str; 2], paths: [&str; 2]) -> Result<[Side; 2]> {
    if paths == ["-", "-"] {
        bail!(STDIN_ONCE);
    }
    let first = side(of[0], paths[0], &[])?;
    let second = side(of[1], paths[1], &[&first.files])?;
    let mut sides = [first, second];
    sides.iter_mut().filter(|side| side.is_folder()).for_each(|side| side.leave_out_of_package(&[]));
    Ok(sides)
}

#[cfg(unix)]
fn is_pipe(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_fifo() || found.is_file()
}

#[cfg(not(unix))]
fn is_pipe(found: &fs::Metadata) -> bool {
    found.is_file()
}
