//! Which release is nearest to what a package holds, for packages that do not record theirs. Nothing is guessed: the user says it.

use std::collections::BTreeSet;

use anyhow::{Error, Result, anyhow};
use krm_files::held::is_local;
use krm_files::side::{Side, SidePart};
use krm_git::refs::State;
use krm_git::store::Gone;
use krm_merge::file_path;
use krm_merge::resource::Resource;
use krm_merge::rules::Rules;
use krm_merge_core::policy::Policy;
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::limit::Budget;
use krm_yaml::shown;

use super::plan::{PackageFolder, Plan, Release, UpstreamSource, fetched};
use crate::pairs::{Pair, pairs};

/// How many releases are compared at most, the newest ones.
const MOST: usize = 200;

/// How much of a package is as in a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Likeness {
    /// The resources that are equal.
    pub equal: usize,
    /// The same, less the places that differ.
    places: usize,
    /// All resources of the release and the package.
    pub all: usize,
}

impl Likeness {
    /// The number of resources that differ.
    pub fn changed(self) -> usize {
        self.all - self.equal
    }
}

/// How much of a package is as in a release. Comments, layout and what kpt notes do not count, nor does what is for programs that read the
/// package.
///
/// # Errors
/// A resource cannot be compared.
pub fn likeness(release: &Side, dest: &Side) -> Result<Likeness> {
    let resources = |side| -> Vec<Resource<'_>> {
        let all = Side::resources(side, SidePart::Role).into_iter().map(|(_, resource)| resource);
        let is_rules = |resource: &Resource<'_>| {
            resource.path.and_then(|path| path.rsplit('/').next()).is_some_and(file_path::is_rules)
        };
        all.filter(|resource| !is_local(resource) && !is_rules(resource)).collect()
    };
    let types = Types::new([], Inference::On).with_definitions(dest.definitions());
    let budget = Budget::default();
    let rules = Rules { types: &types, mode: Mode::ThreeWay, policy: Policy::default(), budget: &budget };
    let mut found = Likeness { places: usize::MAX / 2, ..Likeness::default() };
    for Pair { old, new } in pairs(resources(release), resources(dest)) {
        found.all += 1;
        let places = match (&old, &new) {
            (Some(old), Some(new)) => {
                let places =
                    rules.differs(old, new).map_err(|e| anyhow!("{}:{}", e.resource.origin.text(), e.error))?;
                places.len()
            }
            // A whole resource counts more than some fields.
            _ => 100,
        };
        found.equal += usize::from(places == 0);
        found.places -= places;
    }
    Ok(found)
}

/// The error for a package whose release is not known, or is gone from upstream. It offers the nearest release.
///
/// # Errors
/// The releases cannot be fetched.
pub fn unknown(plan: &Plan, gone: &Gone, dest: &Side) -> Result<Error> {
    let UpstreamSource::Git { store, address } = &plan.to.source else {
        return Ok(anyhow!("`--from` must name the release that the package has"));
    };
    let refs = store.refs()?;
    let series = refs.series(address, plan.from.as_ref().map(|from| from.state.reference.as_str()));
    let mut releases: Vec<State> = refs.releases(address, &series).into_iter().map(|(_, state)| state).collect();
    releases.drain(..releases.len().saturating_sub(MOST));
    let folders = releases.iter().map(|state| PackageFolder { commit: &state.commit, path: &address.directory });
    let missing = fetched(store, &folders.collect::<BTreeSet<_>>())?;
    let mut best: Option<(Likeness, String)> = None;
    for state in releases.iter().filter(|state| !missing.contains_key(&state.commit)) {
        // A release that cannot be read is not offered.
        let release = Release { state: state.clone(), source: plan.to.source.clone() };
        let Ok(side) = release.side(None) else { continue };
        let likeness = likeness(&side, dest)?;
        if best.as_ref().is_none_or(|(best, _)| (likeness.equal, likeness.places) >= (best.equal, best.places)) {
            best = Some((likeness, state.name.clone()));
        }
    }
    let offer = match best.filter(|(likeness, _)| likeness.equal > 0 || likeness.all > 0) {
        Some((found, name)) => {
            let name = shown::name(&name).into_owned();
            let (equal, all) = (found.equal, found.all);
            format!(
                "nearest is {name}: {equal} of {all} resources are equal. If it comes from there, add `--from {name}`"
            )
        }
        None => "no tag with a version is like it: add `--from` with the tag, branch or commit that it comes from"
            .to_owned(),
    };
    let from = plan.from.as_ref().map(|from| &from.state);
    Ok(match from.and_then(|from| Some((from, gone.get(&from.commit)?))) {
        Some((from, why)) => {
            let (name, commit) = (shown::name(&from.name), &from.commit);
            anyhow!(
                "the release that the package has, {name} with commit {commit}, is gone from \"{}\" ({why}); {offer}",
                address.repo
            )
        }
        None => anyhow!("nobody knows which release of \"{}\" the package has; {offer}", address.repo),
    })
}
