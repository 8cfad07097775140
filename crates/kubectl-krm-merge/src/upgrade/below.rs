//! The packages below a folder: those that record their upstream, from the inside out.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use krm_files::command::called;
use krm_files::walk::{Tree, shown, there};
use krm_folders::package::{KPTFILE, Package};
use krm_git::ignored::ignored;
use krm_names::file_path::RULES;

/// The folders of the packages below some folders, each with its name as the user would type it. A package in another one comes before it. One
/// with a record that cannot be read is one, too: whoever opens it gets the error. Folders that git ignores are left out. `of` is the argument that names the folders.
///
/// # Errors
/// A folder is not there, or cannot be read.
pub fn below(of: &str, roots: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = BTreeSet::new();
    for root in roots {
        there(of, "a folder with packages", root)?;
        let tree = Tree::around_packages(root)?;
        let records = tree
            .files
            .iter()
            .filter(|path| path.rsplit('/').next().is_some_and(|name| [KPTFILE, RULES].contains(&name)));
        let records: Vec<&str> = records.map(String::as_str).collect();
        // A commit would not have what git ignores, such as a dependency.
        let ignored = ignored(&tree.root, &records);
        let records = records.into_iter().filter(|path| !ignored.contains(*path));
        let folders = records.map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder));
        for folder in folders.collect::<BTreeSet<_>>() {
            let name = if folder.is_empty() { root.clone() } else { root.join(folder) };
            let name = name.strip_prefix(".").map_or(name.clone(), Path::to_owned);
            let name = if name.as_os_str().is_empty() { PathBuf::from(".") } else { name };
            if Package::open(&name).map_or(true, |package| package.record.is_some()) {
                found.insert(name);
            }
        }
    }
    let mut found: Vec<PathBuf> = found.into_iter().collect();
    found.sort_by(|a, b| inside_out(a, b));
    Ok(found)
}

/// Checks that there is a package below some folders.
///
/// # Errors
/// There is none.
pub fn check_some(found: &[PathBuf], roots: &[PathBuf]) -> Result<()> {
    if found.is_empty() {
        let roots: Vec<String> = roots.iter().map(|root| shown(root)).collect();
        bail!(
            "{}: there must be a package that records its upstream; `{} upgrade PACKAGE --upstream REPO.git/DIRECTORY --from REF` makes the record",
            roots.join(", "),
            called()
        );
    }
    Ok(())
}

/// The order of two folders: one that lies in the other comes first.
fn inside_out(a: &Path, b: &Path) -> Ordering {
    let is_in = |a: &Path, b: &Path| a != b && (a.starts_with(b) || b == Path::new("."));
    match (is_in(a, b), is_in(b, a)) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_in_another_one_comes_first() {
        let mut all = ["b", ".", "a", "a/z/y", "a/c", "c", "a/z"].map(Path::new);
        all.sort_by(|a, b| inside_out(a, b));
        assert_eq!(all, ["a/c", "a/z/y", "a/z", "a", "b", "c", "."].map(Path::new));
    }
}
