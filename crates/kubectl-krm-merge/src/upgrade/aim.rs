//! Which release a package gets if the user names none.
//!
//! `upstream` of a record is what is wanted, and `upstreamLock` what is there. A branch goes on; a range has a newest release; a release has
//! others of its series after it; what has no version, such as a commit, is older than a release if it is in its history. Nothing is guessed:
//! what is named and is not there is an error.

use std::rc::Rc;

use anyhow::{Context, Result, bail};
use krm_git::address::ReleaseAddress;
use krm_git::refs::{self, RefKind, State};
use krm_git::store::Store;
use krm_git::tree;
use krm_git::versions::{Range, followed, split};

/// Why a package gets a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// It is the newest one.
    Newest,
    /// The user or the record names it.
    Named,
    /// It is the one that the package has, which has no version, and no release comes after it.
    Last,
    /// It is the one that the package has, and nobody can say whether there is a newer one.
    Unknown,
}

/// A directory of a repository that is open.
#[derive(Clone, Debug)]
pub struct DirectoryAt {
    pub store: Rc<Store>,
    pub address: ReleaseAddress,
}

/// The release that a package gets.
#[derive(Debug)]
pub struct Next {
    pub state: State,
    /// Why it gets that one.
    pub aim: Aim,
    /// How many releases come after the one that it has, up to this one. A branch that went on counts as one.
    pub behind: usize,
}

/// The release that a package has, and where it came from.
#[derive(Clone, Copy)]
pub struct Came<'a> {
    pub state: &'a State,
    pub at: &'a ReleaseAddress,
}

/// The release that a package gets if nobody names one: the one that its record wants, if it has another; the newest one in the range that
/// the record wants; the new state of the branch that the record names; or else the newest release.
///
/// # Errors
/// What the record names is not there, or there is no release.
pub fn next(at: &DirectoryAt, from: Option<Came<'_>>) -> Result<Next> {
    let DirectoryAt { store, address } = at;
    if address.reference.is_none() {
        return newest_or_last(at, from, None);
    }
    let range = store.refs()?.range(address);
    // What a package has may be gone from a list by now.
    if range.is_some() || from.is_some_and(|came| is_it_by_name(came, address)) {
        return newest_or_last(at, from, range.as_ref());
    }
    let wanted = store.find(address).with_context(|| {
        let names = if address.repo.is_git() { "branch, tag or commit" } else { address.repo.names() };
        format!("the package must follow a {names} that is there: `--to` names another one")
    })?;
    let wanted = if wanted.kind == RefKind::Branch { store.resolved(wanted)? } else { wanted };
    let is_other = |from: Came<'_>| {
        let State { name, reference, commit, .. } = from.state;
        let is_named = *reference == wanted.reference || *name == wanted.name;
        let is_same_directory = from.at.directory == address.directory;
        let is_same = *commit == wanted.commit && is_same_directory;
        let is_elsewhere = !is_same_directory || !from.at.repo.is_same(&address.repo);
        !is_same && (is_elsewhere || !is_named && *commit != wanted.commit)
    };
    // The directory has moved since, and the record names the new place of it.
    let has_moved_on = |came: Came<'_>| -> Result<bool> {
        let is_that_release = came.state.name == wanted.name && came.at.directory != address.directory;
        let wanted = if is_that_release { store.resolved(wanted.clone())? } else { return Ok(false) };
        let commit = &wanted.commit;
        let is_there = store.fetch(&[commit.clone()].into())?.is_empty();
        Ok(is_there && tree::find(store, commit, &address.directory)?.is_none())
    };
    match wanted.kind {
        RefKind::Branch => {
            let behind = usize::from(from.is_none_or(|from| from.state.commit != wanted.commit));
            Ok(Next { state: wanted, aim: Aim::Newest, behind })
        }
        RefKind::Tag | RefKind::Commit => match from {
            Some(came) if !is_other(came) || has_moved_on(came)? => newest_or_last(at, from, None),
            _ => Ok(Next { state: wanted, aim: Aim::Named, behind: 1 }),
        },
    }
}

/// Whether a release that is not in git has the name that its address has, which says all of it but what it holds.
fn is_it_by_name(came: Came<'_>, address: &ReleaseAddress) -> bool {
    let has_name = |name: &String| *name == came.state.reference && refs::kind(name) == RefKind::Tag;
    !address.repo.is_git()
        && came.at.directory == address.directory
        && came.at.repo.is_same(&address.repo)
        && address.reference.as_ref().is_some_and(has_name)
}

/// The newest release, or the one that the package has if nobody can say.
fn newest_or_last(at: &DirectoryAt, from: Option<Came<'_>>, range: Option<&Range>) -> Result<Next> {
    match (newest(at, from, range)?, from) {
        (Some(next), _) => Ok(next),
        (None, Some(from)) => Ok(Next { state: from.state.clone(), aim: Aim::Unknown, behind: 0 }),
        (None, None) => {
            bail!("nobody lists the releases of \"{}\", so `--to` must name the new release", at.address.repo)
        }
    }
}

/// The newest release, or the one that the package has, if that is newer; `None` if nobody can say, which is so only for what is not in git. In a range, the newest one of the range counts, also for a package
/// that has a newer one. What has no version, such as a commit, is older than a release if it is in its history.
///
/// # Errors
/// There is no release.
pub fn newest(at: &DirectoryAt, from: Option<Came<'_>>, range: Option<&Range>) -> Result<Option<Next>> {
    let DirectoryAt { store, address } = at;
    let refs = store.listed()?;
    let moved = from.is_some_and(|from| from.at.directory != address.directory);
    let from = from.map(|from| from.state);
    let current = from.and_then(|from| Some(split(&from.reference)?.1));
    let is_git = address.repo.is_git();
    // Without a history, nothing comes after a digest.
    if !is_git && (refs.is_empty() || from.is_some() && current.is_none() && range.is_none()) {
        return Ok(None);
    }
    // The tags of the old directory say nothing about the new one.
    let came_with = from.filter(|from| !moved || from.name == from.reference).map(|from| from.reference.as_str());
    let series = refs.series(address, range, came_with);
    let releases = refs.releases(address, &series);
    let mut followed = followed(releases, current.as_ref(), range);
    let behind =
        followed.iter().filter(|(version, _)| current.as_ref().is_some_and(|current| version > current)).count();
    let Some((version, newest)) = followed.pop() else {
        match (&address.reference, range, from) {
            (Some(wish), Some(_), _) => bail!("\"{}\" has no release in the range \"{wish}\"", address.repo),
            (_, _, Some(from)) if !is_git => return Ok(Some(Next { state: from.clone(), aim: Aim::Last, behind: 0 })),
            _ => bail!("\"{}\" has no tag with a version, so `--to` must name the new release", address.repo),
        }
    };
    // Without a version, the package is compared by its commit.
    let newest = if from.is_some() && current.is_none() { store.resolved(newest)? } else { newest };
    match (from, current) {
        // A tag that moved is no newer release.
        (Some(from), Some(current)) if version <= current && range.is_none_or(|range| range.has(&current)) => {
            Ok(Some(Next { state: from.clone(), aim: Aim::Newest, behind: 0 }))
        }
        (Some(from), None)
            if newest.commit == from.commit || is_git && !store.is_after(&newest.commit, &from.commit)? =>
        {
            Ok(Some(Next { state: from.clone(), aim: Aim::Last, behind: 0 }))
        }
        _ => Ok(Some(Next { state: newest, aim: Aim::Newest, behind: behind.max(1) })),
    }
}
