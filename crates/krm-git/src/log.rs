//! Upstream's commits between two releases, for one folder of the repository.

use anyhow::{Result, bail};

use crate::program;
use crate::store::Store;

/// A commit of upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Its hash.
    pub commit: String,
    /// The day on which it was made, `2026-11-28`.
    pub date: String,
    /// Who wrote it.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
}

/// Between which commits, and in which folder.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// The commit after which it begins.
    pub from: &'a str,
    /// The last commit.
    pub to: &'a str,
    /// The folder, which is empty for the root.
    pub directory: &'a str,
}

/// The format of `git log`: the fields of a commit, separated by U+001F.
const FORM: &str = "--format=%H%x1f%cs%x1f%an%x1f%s";

/// The commits of a folder, from the newest to the oldest. A cache has no history, so the part between the two commits is fetched.
///
/// # Errors
/// A commit is gone, or the history cannot be fetched.
pub fn log(store: &Store, span: Span<'_>) -> Result<Vec<LogEntry>> {
    let Span { from, to, directory } = span;
    if let Some((commit, why)) = store.fetch(&[from.to_owned(), to.to_owned()].into())?.into_iter().next() {
        bail!("the commit {commit} cannot be fetched: {why}");
    }
    // The folders of the commits say which of them changed it.
    store.fetch_history(span.to, span.from, "--filter=blob:none")?;
    let mut git = store.git();
    git.args(["log", "-z", "--no-show-signature", FORM]).arg(format!("{from}..{to}")).arg("--");
    if !directory.is_empty() {
        // The path is that from the root, wherever git runs.
        git.arg(format!(":(top,literal){directory}"));
    }
    let told = program::run(&mut git, b"")?;
    let entry = |line: &str| {
        let mut parts = line.splitn(4, '\x1f').map(str::to_owned);
        Some(LogEntry { commit: parts.next()?, date: parts.next()?, author: parts.next()?, subject: parts.next()? })
    };
    Ok(String::from_utf8_lossy(&told).split('\0').filter_map(entry).collect())
}
