//! Whether git has all of a package, so that the user can go back. What nobody knows counts as not committed.
//!
//! git looks with its own eyes, so whatever may close them is asked for: `assume-unchanged`, `skip-worktree`, submodules, ignored files, and
//! settings that leave out untracked files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use krm_files::errors::chain;
use krm_files::walk::{path_of, shown};
use krm_git::program::{self, In, git};
use krm_names::file_path;
use krm_yaml::shown;

/// The files of a package of which git keeps no copy.
#[derive(Debug)]
pub enum Uncommitted {
    /// All, because the package is in no repository.
    All,
    /// Those that git ignores: their paths in the package. A folder ends with `/`.
    Ignored(BTreeSet<String>),
}

impl Uncommitted {
    /// Why git has no copy of a file of the package; `None` if it has one.
    pub fn why(&self, path: &str) -> Option<&'static str> {
        let Self::Ignored(ignored) = self else { return Some("it is in no git repository") };
        let folders = path.match_indices('/').map(|(at, _)| &path[..=at]);
        let is_ignored = [path, "./"].into_iter().chain(folders).any(|path| ignored.contains(path));
        is_ignored.then_some("git ignores this file")
    }
}

/// Checks that git has all of a folder, except what it ignores, and the folders in it that are in `but`. `name` is the name of the package
/// for messages. Outside of a repository, git has nothing.
///
/// # Errors
/// Some of it is not committed, or git cannot say.
pub fn check(folder: &Path, name: &str, but: &[String]) -> Result<Uncommitted> {
    if repository(folder).is_none() {
        if std::env::var_os("GIT_DIR").is_some() {
            bail!(
                "{name}: `GIT_DIR` must not be set, because it hides what is committed. Unset it, or pass `--allow-dirty`"
            );
        }
        return Ok(Uncommitted::All);
    }
    looked(folder, but).map_err(|why| {
        anyhow!(
            "{name}: {}. Commit all changes first, so that you can undo the upgrade, or pass `--allow-dirty`",
            chain(&why)
        )
    })
}

/// The folder with the repository that a folder is in.
pub fn repository(folder: &Path) -> Option<&Path> {
    // git looks for a repository up to these folders.
    let ceilings = std::env::var_os("GIT_CEILING_DIRECTORIES").unwrap_or_default();
    let ceilings: Vec<_> = std::env::split_paths(&ceilings).filter_map(|path| fs::canonicalize(path).ok()).collect();
    let mut above = folder.ancestors().take_while(|above| *above == folder || !ceilings.iter().any(|end| end == above));
    above.find(|above| fs::symlink_metadata(above.join(".git")).is_ok())
}

/// The repositories of a run, and whether git has all of each. So git is asked once, however many packages are in one.
#[derive(Debug, Default)]
pub struct Repositories(BTreeMap<PathBuf, bool>);

impl Repositories {
    /// Whether git has all of the repository that a folder is in. If it has not, it may still have all of the folder.
    pub fn has_all_around(&mut self, folder: &Path) -> bool {
        let Some(root) = repository(folder) else { return false };
        *self.0.entry(root.to_owned()).or_insert_with(|| looked(root, &[]).is_ok())
    }
}

fn looked(folder: &Path, but: &[String]) -> Result<Uncommitted> {
    let [prefix, top, at_work @ ..] = program::paths_told(
        folder,
        [
            "--show-prefix",
            "--show-toplevel",
            // What git leaves while it merges, picks, reverts or rebases. To abort that would take a part of an upgrade back.
            "--git-path=MERGE_HEAD",
            "--git-path=CHERRY_PICK_HEAD",
            "--git-path=REVERT_HEAD",
            "--git-path=rebase-merge",
            "--git-path=rebase-apply",
        ],
    )?;
    if let Some(at) = at_work.iter().find(|path| folder.join(path).exists()).and_then(|path| path.file_name()) {
        bail!("git has not finished a merge, cherry-pick, revert or rebase ({})", at.display());
    }
    let prefix = prefix.to_string_lossy();
    if !fs::canonicalize(&top).is_ok_and(|top| folder.starts_with(top)) {
        bail!("its git repository has its files in another directory, {}", shown(&top));
    }
    let but: Vec<String> = but.iter().map(|folder| format!(":(exclude,literal){folder}")).collect();
    check_index(folder, &but)?;
    let mut git = program::without_filters(folder)?;
    git.args(["--no-optional-locks", "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"]);
    git.args(["--ignored=matching", "--ignore-submodules=dirty", "--", "."]).args(&but);
    let told = program::run(&mut git, b"")?;
    let mut ignored = BTreeSet::new();
    for line in String::from_utf8_lossy(&told).split('\0').filter(|line| !line.is_empty()) {
        let (state, path) = line.split_at_checked(3).context("`git status` must say what it means")?;
        // A folder that holds the package is ignored as a whole.
        let own = path.strip_prefix(&*prefix).map_or("./", |path| if path.is_empty() { "./" } else { path });
        match state {
            "!! " => _ = ignored.insert(own.to_owned()),
            // Another run is at work there. That is no change of the user.
            _ if own.split('/').any(file_path::is_of_a_run) => {}
            _ => bail!("uncommitted changes in {}", shown::name(own)),
        }
    }
    Ok(Uncommitted::Ignored(ignored))
}

/// Checks that git looks at each file of its index, and that each submodule is committed, too.
fn check_index(folder: &Path, but: &[String]) -> Result<()> {
    let told =
        program::run(git(In::Around(folder)).args(["ls-files", "-v", "--stage", "-z", "--", "."]).args(but), b"")?;
    for entry in told.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        // `H 100644 0123… 0`, a tab and the path. A small letter stands for `assume-unchanged`, and `S` for `skip-worktree`.
        let tab = entry.iter().position(|byte| *byte == b'\t').context("`git ls-files` must name each file")?;
        let (head, path) = (&entry[..tab], path_of(&entry[tab + 1..]));
        match head.first() {
            Some(b'S' | b's') => bail!("git ignores changes in {}, because it is marked `skip-worktree`", shown(&path)),
            Some(b'a'..=b'z') => {
                bail!("git ignores changes in {}, because it is marked `assume-unchanged`", shown(&path))
            }
            _ => {}
        }
        if head.get(2..).is_some_and(|head| head.starts_with(b"160000 ")) {
            let below = folder.join(&path);
            let is_empty = fs::read_dir(&below).map_or(true, |mut names| names.next().is_none());
            if !is_empty {
                let is_own = fs::symlink_metadata(below.join(".git")).is_ok();
                let clean = if is_own { looked(&below, &[]).map(drop) } else { Err(anyhow!("it has no `.git`")) };
                clean.with_context(|| format!("the submodule {}", shown(&path)))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_ignored_by_its_path_or_with_its_folder() {
        let ignored = Uncommitted::Ignored(BTreeSet::from(["a.yaml".to_owned(), "build/".to_owned()]));
        for (path, want) in [("a.yaml", true), ("b.yaml", false), ("build/x/c.yaml", true), ("builds/c.yaml", false)] {
            assert_eq!(ignored.why(path).is_some(), want, "{path}");
        }
        assert!(Uncommitted::Ignored(BTreeSet::from(["./".to_owned()])).why("any/file").is_some());
    }
}
