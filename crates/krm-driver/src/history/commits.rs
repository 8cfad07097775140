//! The commits of a history that merged something, and what git had to merge for each.
//!
//! A merge has two parents. A cherry-pick names its original in the line that `git cherry-pick -x` writes, or has the author, the author's
//! time and the first line of an older commit that is not in its own history. A revert names what it takes back.

use std::collections::HashMap;

use anyhow::Result;
use krm_git::program::{In, git, run};

use crate::args::GitHistory;

/// How a commit came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By `git merge`.
    Merge,
    /// By `git cherry-pick`, or a rebase.
    CherryPick,
    /// By `git revert`.
    Revert,
}

/// A commit, and the three states that git merged for it.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The commit.
    pub commit: String,
    /// How it came to be.
    pub how: How,
    /// The state that both sides come from; `None` for a merge, whose common ancestors git finds.
    pub base: Option<String>,
    /// Our side.
    pub ours: String,
    /// Their side.
    pub theirs: String,
}

/// The replays of a history.
#[derive(Debug, Default)]
pub struct Replays {
    /// The replays, newest first.
    pub all: Vec<Replay>,
    /// How many merges of more than two branches there are. git merges them in several steps.
    pub octopuses: usize,
}

/// A commit as `git log` tells it.
#[derive(Clone, Debug)]
struct Commit {
    name: String,
    parents: Vec<String>,
    /// The author and the author's time, then the first line of the message.
    made: String,
    /// When it was committed.
    time: u64,
    message: String,
}

impl Replays {
    /// The replays of the repository around the current folder.
    ///
    /// # Errors
    /// There is no repository; or git does not know the range.
    pub fn of(args: &GitHistory) -> Result<Self> {
        let mut range: Vec<String> = args.since.iter().map(|since| format!("--since={since}")).collect();
        range.extend(args.all.then(|| "--all".to_owned()));
        range.push("--end-of-options".to_owned());
        range.extend(args.range.iter().cloned());
        let commits = log(&range, "%B")?;
        let everything = log(&["--all".to_owned(), "HEAD".to_owned()], "%s")?;
        let known: HashMap<&str, &Commit> = everything.iter().map(|commit| (&*commit.name, commit)).collect();
        let mut alike: HashMap<&str, Vec<&Commit>> = HashMap::new();
        everything.iter().for_each(|commit| alike.entry(&commit.made).or_default().push(commit));
        let mut found = Self::default();
        for commit in &commits {
            let replay = match &commit.parents[..] {
                [_] => commit.reverted(&known).or_else(|| commit.picked(&known, &alike)),
                [ours, theirs] => Some(commit.replay(How::Merge, None, [ours, theirs])),
                [] => None,
                _ => {
                    found.octopuses += 1;
                    None
                }
            };
            found.all.extend(replay);
        }
        Ok(found)
    }
}

impl Commit {
    fn read(text: &str) -> Option<Self> {
        let mut lines = text.splitn(5, '\n');
        let (name, parents, time) = (lines.next()?, lines.next()?, lines.next()?);
        let (made, body) = (lines.next()?, lines.next()?);
        let made = format!("{made}\n{}", body.lines().next().unwrap_or_default());
        let parents = parents.split_whitespace().map(str::to_owned).collect();
        Some(Self { name: name.to_owned(), parents, made, time: time.parse().ok()?, message: body.to_owned() })
    }

    fn replay(&self, how: How, base: Option<&str>, [ours, theirs]: [&str; 2]) -> Replay {
        let base = base.map(str::to_owned);
        Replay { commit: self.name.clone(), how, base, ours: ours.to_owned(), theirs: theirs.to_owned() }
    }

    /// The replay of a revert.
    fn reverted(&self, known: &HashMap<&str, &Self>) -> Option<Replay> {
        let mut named = names_after(&self.message, "This reverts commit ");
        let (gone, None) = (known.get(named.next()?)?, named.next()) else { return None };
        let kept = match &gone.parents[..] {
            [parent] => parent,
            // A revert of a merge goes back to one of its parents.
            parents => {
                let kept = names_after(&self.message, "reversing\nchanges made to ")
                    .chain(names_after(&self.message, "reversing changes made to "))
                    .next()?;
                parents.iter().find(|parent| *parent == kept)?
            }
        };
        Some(self.replay(How::Revert, Some(&gone.name), [self.parents.first()?, kept]))
    }

    /// The replay of a cherry-pick.
    fn picked(&self, known: &HashMap<&str, &Self>, alike: &HashMap<&str, Vec<&Self>>) -> Option<Replay> {
        let own = self.parents.first()?;
        let named = names_after(&self.message, "(cherry picked from commit ").last().and_then(|name| known.get(name));
        let older = || {
            let others = alike.get(&*self.made)?.iter().filter(|other| other.name != self.name);
            let oldest = others.min_by_key(|other| other.time)?;
            (oldest.time < self.time && !is_below(&oldest.name, &self.name)).then_some(oldest)
        };
        let original = named.or_else(older)?;
        let [base] = &original.parents[..] else { return None };
        (base != own).then(|| self.replay(How::CherryPick, Some(base), [own, &original.name]))
    }
}

/// Whether a commit is in the history of another one.
fn is_below(commit: &str, of: &str) -> bool {
    let status = git(In::Environment).args(["merge-base", "--is-ancestor", commit, of]).status();
    status.is_ok_and(|status| status.success())
}

/// The full names of commits that a message has after these words.
fn names_after<'m>(message: &'m str, words: &'m str) -> impl Iterator<Item = &'m str> {
    message.split(words).skip(1).filter_map(|rest| {
        let name = rest.split(|c: char| !c.is_ascii_hexdigit()).next()?;
        [40, 64].contains(&name.len()).then_some(name)
    })
}

/// The commits of a range, newest first, with as much of their messages as this format has.
fn log(range: &[String], message: &str) -> Result<Vec<Commit>> {
    let format = format!("--format=%H%n%P%n%ct%n%ae %at%n{message}");
    let told =
        run(git(In::Environment).args(["log", "-z", "--no-show-signature", &format]).args(range).arg("--"), &[])?;
    let told = String::from_utf8_lossy(&told);
    Ok(told.split('\0').filter_map(Commit::read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_commits_in_full() {
        let name = "0123456789abcdef0123456789abcdef01234567";
        for (message, found) in [
            (format!("Revert \"x\"\n\nThis reverts commit {name}."), 1),
            (format!("This reverts commit {name}.\nThis reverts commit {name}."), 2),
            ("This reverts commit 0123456.".to_owned(), 0),
            (format!("This takes back commit {name}."), 0),
        ] {
            assert_eq!(names_after(&message, "This reverts commit ").count(), found, "{message}");
        }
    }
}
