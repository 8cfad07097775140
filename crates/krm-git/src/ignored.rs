//! Which files git ignores.

use std::collections::BTreeSet;
use std::path::Path;

use crate::program::{In, git, output};

/// Those of the files of a folder that git ignores. Their paths are relative to the folder. Who names a folder that git ignores means it, so
/// then none of its files counts as ignored, as none does outside of a repository.
pub fn ignored(folder: &Path, files: &[&str]) -> BTreeSet<String> {
    let named = folder.parent().zip(folder.file_name().and_then(|name| name.to_str()));
    if named.is_some_and(|(parent, name)| !told(parent, &[name]).is_empty()) {
        return BTreeSet::new();
    }
    told(folder, files)
}

fn told(folder: &Path, files: &[&str]) -> BTreeSet<String> {
    let mut git = git(In::Around(folder));
    let input: String = files.iter().flat_map(|file| [file, "\0"]).collect();
    let printed = output(git.args(["check-ignore", "-z", "--stdin"]), input.as_bytes());
    let printed = printed.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let printed = String::from_utf8(printed.unwrap_or_default()).unwrap_or_default();
    printed.split_terminator('\0').map(str::to_owned).collect()
}
