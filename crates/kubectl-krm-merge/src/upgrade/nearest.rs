//! Which release is nearest to what a package holds, for packages that do not record theirs. Nothing is guessed: the user says it.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use anyhow::{Error, Result, anyhow};
use krm_files::terminal::is_someone_there;
use krm_folders::side::Side;
use krm_git::refs::State;
use krm_git::store::Gone;
use krm_show::progress::Progress;
use krm_show::screen;
use krm_words::Word;
use krm_yaml::shown;

use super::aim::DirectoryAt;
use super::plan::{PackageFolder, Plan, Release, UpstreamSource, fetched};
use crate::likeness::{Likeness, has_tag_of, likeness};

/// How many releases are compared at most, the newest ones.
const MOST: usize = 200;

/// How many releases are fetched and compared at a time.
const BATCH: usize = 20;

/// How long releases are compared before the user is asked.
const LONGEST: Duration = Duration::from_secs(60);

/// How many bytes are fetched before the user is asked. A server that cannot leave out files sends whole releases.
const LARGEST: u64 = 100_000_000;

/// The release that is nearest to a package, of those that were compared.
struct Nearest {
    found: Option<(Likeness, String)>,
    /// How many releases there are.
    all: usize,
    /// How many were compared, the newest ones.
    compared: usize,
}

/// Compares a package with the releases of a series, from the newest on.
///
/// # Errors
/// The releases cannot be fetched.
fn nearest(plan: &Plan, at: &DirectoryAt, dest: &Side) -> Result<Nearest> {
    let DirectoryAt { store, address } = at;
    let refs = store.refs()?;
    let series = refs.series(address, None, plan.from.as_ref().map(|from| from.state.reference.as_str()));
    let mut releases: Vec<State> = refs.releases(address, &series).into_iter().rev().map(|(_, state)| state).collect();
    let mut nearest = Nearest { found: None, all: releases.len(), compared: 0 };
    releases.truncate(MOST);
    let (mut since, mut packed) = (Instant::now(), store.packed());
    let mut progress = Progress::begin("comparing");
    for batch in releases.chunks(BATCH) {
        let count = batch.len();
        if since.elapsed() > LONGEST || store.packed().saturating_sub(packed) > LARGEST {
            drop(progress);
            if !goes_on(&nearest)? {
                break;
            }
            (since, packed, progress) = (Instant::now(), store.packed(), Progress::begin("comparing"));
        }
        if nearest.compared > 0 {
            let told = format!("comparing {} of {} releases", nearest.compared, nearest.all);
            if screen::is_told_to_someone() { progress.set(|| told) } else { screen::tell(Word::Plain, &told) }
        }
        let batch: Vec<State> = batch.iter().filter_map(|state| store.resolved(state.clone()).ok()).collect();
        let folders = batch.iter().map(|state| PackageFolder { commit: &state.commit, path: &address.directory });
        let missing = fetched(store, &folders.collect::<BTreeSet<_>>())?;
        for state in batch.iter().filter(|state| !missing.contains_key(&state.commit)) {
            // A release that cannot be read is not offered.
            let release = Release { state: state.clone(), source: plan.to.source.clone() };
            let Ok(side) = release.side(None, &[&dest.files]) else { continue };
            let likeness = likeness(&side, dest)?;
            let is_nearer = |(best, name): &(Likeness, String)| match likeness.rank().cmp(&best.rank()) {
                Ordering::Equal => has_tag_of(&state.name, dest) && !has_tag_of(name, dest),
                order => order.is_gt(),
            };
            if nearest.found.as_ref().is_none_or(is_nearer) {
                nearest.found = Some((likeness, state.name.clone()));
            }
        }
        nearest.compared += count;
    }
    Ok(nearest)
}

/// Whether the user wants to wait for the rest of the releases. Where nobody is asked, nobody waits.
fn goes_on(nearest: &Nearest) -> Result<bool> {
    if !is_someone_there() {
        return Ok(false);
    }
    let so_far = nearest.found.as_ref().map_or_else(String::new, |(_, name)| format!("; so far, {name} is nearest"));
    screen::tell(
        Word::Plain,
        &format!("compared {} of {} releases{}: go on? [y/N]", nearest.compared, nearest.all, shown::line(&so_far)),
    );
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().eq_ignore_ascii_case("y"))
}

/// The error for a package whose release is not known, or is gone from upstream. It offers the nearest release.
///
/// # Errors
/// The releases cannot be fetched.
pub fn unknown(plan: &Plan, gone: &Gone, dest: &Side) -> Result<Error> {
    let UpstreamSource::Directory(at) = &plan.to.source else {
        return Ok(anyhow!("`--from` must name the release that the package has"));
    };
    let nearest = nearest(plan, at, dest)?;
    let part = if nearest.compared < nearest.all {
        format!(" of the newest {} of {} releases", nearest.compared, nearest.all)
    } else {
        String::new()
    };
    let offer = match nearest.found.filter(|(likeness, _)| likeness.paired > 0) {
        Some((found, name)) => {
            let name = shown::name(&name).into_owned();
            let (equal, all) = (found.equal, found.all);
            format!(
                "The closest{part} is {name} ({equal} of {all} resources are equal). If that is right, run again with `--from {name}`"
            )
        }
        None if !at.address.repo.is_git() => {
            format!(
                "No release is like it. Run again with `--from` and the {} that it comes from",
                at.address.repo.names()
            )
        }
        None => {
            "No tag with a version is like it. Run again with `--from` and the tag, branch or commit that it comes from"
                .to_owned()
        }
    };
    let gone = plan.from.as_ref().and_then(|from| {
        let (had, state) = from.fetched()?;
        Some((state, &had.address.repo, gone.get(&state.commit)?))
    });
    Ok(match gone {
        Some((from, repo, why)) => {
            let (name, exact) = (shown::name(&from.name), repo.exact(&from.commit));
            anyhow!("the release that the package has, {name} with {exact}, is gone from \"{repo}\" ({why}). {offer}")
        }
        None => anyhow!("cannot tell which release of \"{}\" the package has. {offer}", at.address.repo),
    })
}
