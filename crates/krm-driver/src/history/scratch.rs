//! A repository for trials: it reads the objects of the user's repository, and writes its own elsewhere.
//!
//! The user's configuration of git is left out, so that git merges as it does without it, and the driver is given on the command line.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use krm_files::made;
use krm_files::temporary::TemporaryFolder;
use krm_files::walk::{path_of, shown};
use krm_git::objects::Objects;
use krm_git::program::{In, git, output, run, words};
use krm_names::file_path::RULES;

use super::commits::Replay;
use crate::args::PATTERNS;
use crate::install::{attribute, settings};
use krm_job::marked::Marked;

/// The rules with which the newer version wins.
const NEWEST: &str = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules:\n  - {take: Newest}\n";

/// The largest file that is looked into, in bytes.
const MOST: u64 = 1 << 28;

/// A repository for trials. It goes with its end.
#[derive(Debug)]
pub struct Scratch {
    folder: TemporaryFolder,
}

/// Who merges the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merger {
    /// git alone.
    Git,
    /// git with the driver.
    Driver,
    /// The same, with a rule that takes the newer version.
    Newest,
}

/// What git made of a replay.
#[derive(Debug)]
pub struct GitMerged {
    /// The tree.
    pub tree: String,
    /// The files that both sides changed and the driver is for, or that are in conflict.
    pub files: BTreeSet<String>,
    /// Those of them that are in conflict.
    pub in_conflict: BTreeSet<String>,
    /// How long it took.
    pub time: Duration,
}

impl Scratch {
    /// Makes one for the repository around the current folder.
    ///
    /// # Errors
    /// There is no repository; git is too old; or the folder for temporary files cannot be written.
    pub fn new() -> Result<Self> {
        let usage = output(git(In::Environment).args(["merge-tree", "-h"]), &[])?;
        if !String::from_utf8_lossy(&[usage.stdout, usage.stderr].concat()).contains("merge-base") {
            bail!("git must be 2.40 or newer: its `git merge-tree` must know `--merge-base`");
        }
        let asked = ["--path-format=absolute", "--git-path", "objects", "--git-path", "shallow"];
        let told = run(git(In::Environment).args(["rev-parse", "--show-object-format"]).args(asked), &[])?;
        let told: Vec<&[u8]> = told.split(|byte| *byte == b'\n').collect();
        let [format, objects, shallow, ..] = told[..] else { bail!("`git rev-parse` must answer") };

        let scratch = Self { folder: TemporaryFolder::new("history")? };
        let format = format!("--object-format={}", String::from_utf8_lossy(format));
        run(scratch.git().args(["init", "--quiet", "--template=", &format]), &[])?;
        let write = |file: &str, text: &[u8]| {
            scratch.folder.path().join(file).parent().map_or(Ok(()), fs::create_dir_all)?;
            scratch.folder.add(file, text).map(drop)
        };
        write(".git/objects/info/alternates", &[objects, b"\n"].concat())?;
        if let Ok(shallow) = fs::read(path_of(shallow)) {
            write(".git/shallow", &shallow)?;
        }
        write("attributes", PATTERNS.map(|pattern| attribute(pattern) + "\n").concat().as_bytes())?;
        Ok(scratch)
    }

    fn git(&self) -> Command {
        let mut git = git(In::Own(&self.folder.path().join(".git")));
        git.arg("--work-tree").arg(self.folder.path()).arg("--literal-pathspecs").current_dir(self.folder.path());
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        git
    }

    /// The files of the repository.
    ///
    /// # Errors
    /// git cannot be run.
    pub fn objects(&self) -> Result<Objects> {
        Objects::of(self.git())
    }

    /// Reads a state into the index, where git finds attributes, and the driver definitions.
    ///
    /// # Errors
    /// The state is not there.
    pub fn read(&self, state: &str) -> Result<()> {
        run(self.git().args(["read-tree", state]), &[]).map(drop)
    }

    /// Merges the two sides of a replay.
    ///
    /// # Errors
    /// git cannot merge them.
    pub fn merge(&self, replay: &Replay, merger: Merger) -> Result<GitMerged> {
        let mut git = self.git();
        match merger {
            Merger::Git => git.args(["-c", "core.attributesFile=/dev/null"]),
            Merger::Driver | Merger::Newest => {
                git.arg("-c").arg(format!("core.attributesFile={}", self.folder.path().join("attributes").display()));
                let settings = settings();
                git.args(settings.iter().flat_map(|(key, value)| ["-c".to_owned(), format!("{key}={value}")]))
            }
        };
        let rules = self.folder.path().join(RULES);
        match merger {
            Merger::Newest => made::replace(&rules, NEWEST.as_bytes()).with_context(|| shown(&rules))?,
            Merger::Git | Merger::Driver => _ = fs::remove_file(&rules),
        }
        git.args(["merge-tree", "--write-tree", "-z", "--messages", "--allow-unrelated-histories"]);
        git.args(replay.base.iter().map(|base| format!("--merge-base={base}")));
        let start = Instant::now();
        let output = output(git.args([&replay.ours, &replay.theirs]), &[])?;
        let time = start.elapsed();
        if output.status.code().is_none_or(|code| code > 1) {
            bail!("{}", words(&output));
        }
        GitMerged::read(&String::from_utf8_lossy(&output.stdout), time)
            .context("`git merge-tree` must say what it merged")
    }

    /// What differs between a commit and a tree in one file. `name` stands for the tree.
    ///
    /// # Errors
    /// git cannot read them.
    pub fn diff(&self, [commit, tree]: [&str; 2], path: &str, name: &str) -> Result<String> {
        let prefixes = ["--src-prefix=committed/".to_owned(), format!("--dst-prefix={name}/")];
        let mut git = self.git();
        git.args(["diff", "--no-ext-diff", "--no-textconv"]).args(prefixes).args([commit, tree, "--", path]);
        Ok(String::from_utf8_lossy(&run(&mut git, &[])?).into_owned())
    }
}

impl GitMerged {
    /// Reads what `git merge-tree -z --messages` prints: the tree, the entries of files in conflict, and messages with the files that they
    /// are about.
    fn read(told: &str, time: Duration) -> Option<Self> {
        let mut fields = told.split('\0');
        let tree = fields.next()?.to_owned();
        let (mut files, mut in_conflict) = (BTreeSet::new(), BTreeSet::new());
        for entry in fields.by_ref().take_while(|entry| !entry.is_empty()) {
            in_conflict.extend(entry.split_once('\t').map(|(_, path)| path.to_owned()).filter(|path| is_meant(path)));
        }
        while let Some(count) = fields.next().and_then(|count| count.parse::<usize>().ok()) {
            let paths: Vec<&str> = fields.by_ref().take(count).collect();
            let (kind, _) = (fields.next()?, fields.next()?);
            if kind == "Auto-merging" {
                files.extend(paths.into_iter().filter(|path| is_meant(path)).map(str::to_owned));
            }
        }
        files.extend(in_conflict.iter().cloned());
        Some(Self { tree, files, in_conflict, time })
    }
}

/// Whether the driver is for a file, and `git cat-file` can be asked for it.
fn is_meant(path: &str) -> bool {
    if path.contains('\n') {
        return false;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    PATTERNS.iter().any(|pattern| pattern.strip_prefix('*').map_or(name == *pattern, |end| name.ends_with(end)))
}

/// How many lines of a file stand between conflict markers.
///
/// # Errors
/// git does not answer.
pub fn lines_in_conflict(objects: &mut Objects, file: &str) -> Result<usize> {
    let Some(object) = objects.read(file, MOST)? else { return Ok(0) };
    let marked = Marked::read(&object.bytes);
    let lines =
        |range: &std::ops::Range<usize>| object.bytes[range.clone()].split_inclusive(|byte| *byte == b'\n').count();
    Ok(marked.conflicts.iter().map(|conflict| lines(&conflict.ours.text) + lines(&conflict.theirs.text)).sum())
}
