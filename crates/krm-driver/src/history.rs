//! `git-history`: merges once more what the commits of a repository merged, with git alone and with the driver, and counts.
//!
//! git itself merges, and calls the driver as it does after `git-install`. What it makes goes into a repository for trials, so the user's
//! repository stays as it is. The driver has no rules there, and finds definitions in our side of each commit. Where it stops, git merges once
//! more with the rule that the newer version wins.

mod commits;
mod counts;
mod scratch;

use std::collections::BTreeSet;

use anyhow::Result;
use krm_files::errors;
use krm_files::signals::Signals;
use krm_folders::end::End;
use krm_git::objects::Objects;
use krm_show::args::Color;
use krm_show::progress::Progress;
use krm_show::screen::{self, Page, Reader};
use krm_words::Word;

use crate::args::{GitHistory, HistoryOutput};
use crate::install::check_repository;
use commits::{Replay, Replays};
use counts::{Counts, Outcome, ReplayedFile};
use scratch::{GitMerged, Merger, Scratch, lines_in_conflict};

/// How many commits that are left out are told one by one. In a partial clone, it may be all of them.
const MOST_TOLD: usize = 3;

/// Replays a history, and prints what came of it.
///
/// # Errors
/// There is no repository here; git is too old, or does not know the range; or a signal came.
pub fn history(args: &GitHistory) -> Result<End> {
    let signals = Signals::hold()?;
    check_repository("go to the folder of one")?;
    let replays = Replays::of(args)?;
    let scratch = Scratch::new()?;
    let mut objects = scratch.objects()?;
    let mut counts = Counts::default();
    counts.left_out = replays.octopuses;
    let progress = Progress::begin("replaying");
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    for (i, replay) in replays.all.iter().enumerate() {
        progress.set(|| format!("replaying commit {} of {}", i + 1, replays.all.len()));
        let merged = merged(&scratch, replay);
        signals.check()?;
        let merged = match merged {
            Ok(merged) => merged,
            Err(e) => {
                if counts.left_out < MOST_TOLD {
                    screen::tell(Word::Warning, &format!("{} is left out: {}", replay.commit, errors::chain(&e)));
                }
                counts.left_out += 1;
                continue;
            }
        };
        counts.count(replay.how);
        let Some(merged) = merged else { continue };
        counts.add_time(merged.git.time, merged.driver.time);
        for file in merged.files(replay, &mut objects)? {
            if args.output == HistoryOutput::Diff && file.is_shown() {
                page.line(&file.line());
                for (tree, name) in [(&merged.git.tree, "git"), (&merged.driver.tree, "driver")] {
                    page.data(&scratch.diff([&replay.commit, tree], &file.path, name)?);
                }
            }
            counts.files.push(file);
        }
    }
    drop(progress);
    match args.output {
        HistoryOutput::Text => counts.text(&mut page),
        HistoryOutput::Markdown => page.data(&counts.markdown()),
        HistoryOutput::Json => page.data(&counts.json()),
        HistoryOutput::Diff => {}
    }
    page.print()?;
    Ok(End::Done)
}

/// A replay with git alone and with the driver.
struct Merged {
    git: GitMerged,
    driver: GitMerged,
    /// With the rule that the newer version wins; `None` if the driver has merged all.
    newest: Option<GitMerged>,
}

/// Merges the sides of a replay; `None` if there is nothing for the driver.
fn merged(scratch: &Scratch, replay: &Replay) -> Result<Option<Merged>> {
    scratch.read(&replay.ours)?;
    let git = scratch.merge(replay, Merger::Git)?;
    if git.files.is_empty() {
        return Ok(None);
    }
    let driver = scratch.merge(replay, Merger::Driver)?;
    let newest = match driver.in_conflict.is_empty() {
        true => None,
        false => Some(scratch.merge(replay, Merger::Newest)?),
    };
    Ok(Some(Merged { git, driver, newest }))
}

impl Merged {
    /// What came of each file.
    fn files(&self, replay: &Replay, objects: &mut Objects) -> Result<Vec<ReplayedFile>> {
        let paths: BTreeSet<&String> = self.git.files.union(&self.driver.files).collect();
        let mut files = Vec::new();
        for path in paths {
            let mut outcome = |merged: &GitMerged| -> Result<Outcome> {
                let made = format!("{}:{path}", merged.tree);
                if merged.in_conflict.contains(path) {
                    return Ok(Outcome::Conflict { lines: lines_in_conflict(objects, &made)? });
                }
                let committed = name_of(objects, &format!("{}:{path}", replay.commit))?;
                let is_same = committed == name_of(objects, &made)?;
                Ok(if is_same { Outcome::AsCommitted } else { Outcome::NotAsCommitted })
            };
            let (git, driver) = (outcome(&self.git)?, outcome(&self.driver)?);
            let newest = match (&self.newest, driver) {
                (Some(newest), Outcome::Conflict { .. }) => outcome(newest)?,
                (_, driver) => driver,
            };
            let (commit, how) = (replay.commit.clone(), replay.how);
            files.push(ReplayedFile { commit, how, path: path.clone(), git, driver, newest });
        }
        Ok(files)
    }
}

/// The name of an object; `None` if it is not there.
fn name_of(objects: &mut Objects, what: &str) -> Result<Option<String>> {
    Ok(objects.read(what, u64::MAX)?.map(|object| object.name))
}
