//! What an upgrade of a package will do: from which release to which one.
//!
//! All packages are planned before anything is fetched, so that git is asked once for each repository, however many packages come from it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Result, anyhow, bail};
use krm_yaml::shown;

use super::package::Package;
use super::produced::Producer;
use super::record::{Lock, Record, Upstream};
use crate::cli::Upgrade;
use crate::release::address::{ReleaseAddress, Repo};
use crate::release::refs::{self, RefKind, Refs, State};
use crate::release::store::{Gone, Network, Store};
use crate::release::tree;
use crate::told;

/// The repositories of a run, each opened once.
#[derive(Debug)]
pub struct Stores {
    network: Network,
    open: BTreeMap<(Repo, Option<PathBuf>), Rc<Store>>,
}

/// What an upgrade of a package will do.
#[derive(Debug)]
pub struct Plan {
    /// Where the releases come from.
    pub source: UpstreamSource,
    /// The release that the package has; `None` if it has none yet, or nobody knows which.
    pub from: Option<State>,
    /// The release that it gets.
    pub to: State,
    /// What it records then.
    pub record: Record,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Where releases come from.
#[derive(Debug)]
pub enum UpstreamSource {
    /// A directory of a repository.
    Git { store: Rc<Store>, address: ReleaseAddress },
    /// A command.
    Run(Producer),
}

impl Stores {
    pub fn new(network: Network) -> Self {
        Self { network, open: BTreeMap::new() }
    }

    /// The store of a repository, for a package at a folder.
    ///
    /// # Errors
    /// The errors of [`Store::open`].
    pub fn get(&mut self, repo: &Repo, folder: &Path) -> Result<Rc<Store>> {
        let key = (repo.clone(), (*repo == Repo::Here).then(|| folder.to_owned()));
        if let Some(store) = self.open.get(&key) {
            return Ok(Rc::clone(store));
        }
        let store = Rc::new(Store::open(repo, folder, self.network)?);
        self.open.insert(key, Rc::clone(&store));
        Ok(store)
    }
}

impl Plan {
    /// Plans the upgrade of a package.
    ///
    /// # Errors
    /// Nobody knows where the package comes from; or there is no such release.
    pub fn of(package: &Package, args: &Upgrade, stores: &mut Stores) -> Result<Self> {
        let given = args.upstream.as_deref().map(ReleaseAddress::parse).transpose()?;
        let recorded = package.record.as_ref();
        let lock = recorded.and_then(|record| record.lock.as_ref());
        match (given, recorded.map(|record| &record.upstream)) {
            (Some(given), _) => {
                let address = ReleaseAddress { repo: given.repo.recorded()?, ..given };
                let to = args.to.clone().or_else(|| address.reference.clone());
                Self::of_git(
                    stores.get(&address.repo, &package.root)?,
                    &address,
                    Asked { from: args.from.as_deref(), to, lock },
                )
            }
            (None, Some(Upstream::Git(address))) => {
                let asked = Asked { from: args.from.as_deref(), to: args.to.clone(), lock };
                Self::of_git(stores.get(&address.repo, &package.root)?, address, asked)
            }
            (None, Some(Upstream::Run { run, .. })) if !args.allow_exec => {
                let command = shown::line(&run.join(" ")).into_owned();
                bail!("the upstream of the package is a command, `{command}`: add `--allow-exec` if it may run")
            }
            (None, Some(Upstream::Run { run, reference })) => {
                let asked =
                    Asked { from: args.from.as_deref(), to: args.to.clone().or_else(|| reference.clone()), lock };
                Self::of_run(Producer::new(run, &package.root), asked)
            }
            (None, None) => bail!(
                "the package must record where it comes from, in its Kptfile or .krm-merge.yaml: the first time, add `--upstream REPO.git/DIRECTORY --from REF`"
            ),
        }
    }

    fn of_git(store: Rc<Store>, address: &ReleaseAddress, asked: Asked<'_>) -> Result<Self> {
        let refs = store.refs()?;
        let at = |name: &str| ReleaseAddress::new(address.repo.clone(), &address.directory, Some(name));
        let mut warnings = Vec::new();
        let from = match (asked.from, asked.lock) {
            (Some(name), _) => Some(store.state(&at(name)?)?),
            (None, Some(lock)) => {
                warnings.extend(moved(refs, &at(&lock.reference)?, lock));
                Some(State {
                    name: short(&lock.reference, address),
                    reference: lock.reference.clone(),
                    commit: lock.exact.clone(),
                    kind: RefKind::Commit,
                })
            }
            (None, None) => None,
        };
        let to = match &asked.to {
            Some(name) => store.state(&at(name)?)?,
            None => newest(refs, address, from.as_ref())?,
        };
        let upstream = Upstream::Git(ReleaseAddress { reference: Some(to.name.clone()), ..address.clone() });
        let lock = Some(Lock { reference: to.reference.clone(), exact: to.commit.clone() });
        Ok(Self {
            source: UpstreamSource::Git { store, address: address.clone() },
            from,
            to,
            record: Record { upstream, lock },
            warnings,
        })
    }

    fn of_run(command: Producer, asked: Asked<'_>) -> Result<Self> {
        let name = asked.to.or_else(|| asked.lock.map(|lock| lock.reference.clone()));
        let name = match name {
            Some(name) => name,
            None if command.takes_a_release() => {
                bail!("`--to` must name the release, for the command of the package has `{{ref}}`")
            }
            None => "latest".to_owned(),
        };
        crate::release::address::check_reference(&name)?;
        let mut warnings = Vec::new();
        let from = match (asked.from, asked.lock) {
            (Some(name), _) => Some(command.state(name)?),
            (None, Some(lock)) => Some(command.locked(lock, &mut warnings)?),
            (None, None) => None,
        };
        let to = command.state(&name)?;
        let upstream = Upstream::Run { run: command.words().to_vec(), reference: Some(name.clone()) };
        let lock = Some(Lock { reference: name, exact: to.commit.clone() });
        Ok(Self { source: UpstreamSource::Run(command), from, to, record: Record { upstream, lock }, warnings })
    }

    /// Whether the package has the release already.
    pub fn is_done(&self) -> bool {
        self.from.as_ref().is_some_and(|from| from.commit == self.to.commit)
    }
}

/// What the user and the record say about the releases.
struct Asked<'a> {
    from: Option<&'a str>,
    to: Option<String>,
    lock: Option<&'a Lock>,
}

/// The name of a tag of a directory without the directory.
fn short(reference: &str, address: &ReleaseAddress) -> String {
    let own = reference.strip_prefix(&address.directory).and_then(|rest| rest.strip_prefix('/'));
    own.filter(|_| !address.directory.is_empty()).unwrap_or(reference).to_owned()
}

/// The warning for a tag that names another commit than it did when the package got it.
fn moved(refs: &Refs, address: &ReleaseAddress, lock: &Lock) -> Option<String> {
    let now = refs.find(address).ok().filter(|now| now.kind == RefKind::Tag && now.commit != lock.exact)?;
    Some(format!(
        "the tag {} of \"{}\" is now commit {}, but the package has commit {}: `--to {}` takes the new one",
        lock.reference, address.repo, now.commit, lock.exact, now.name
    ))
}

/// The newest release, or the new state of the branch that the package records. A pre-release counts only if the package has one.
fn newest(refs: &Refs, address: &ReleaseAddress, from: Option<&State>) -> Result<State> {
    if let Some(branch) = address.reference.as_deref().filter(|name| refs.is_branch(name)) {
        return refs.find(&ReleaseAddress { reference: Some(branch.to_owned()), ..address.clone() });
    }
    let current = from.map_or_else(|| address.reference.as_deref().unwrap_or_default(), |from| &from.name);
    let (prefix, current) = refs::split(current).map_or(("", None), |(prefix, version)| (prefix, Some(version)));
    let takes_all = current.as_ref().is_some_and(|version| !version.pre.is_empty());
    let mut releases =
        refs.releases(address, prefix).into_iter().filter(|(version, _)| takes_all || version.pre.is_empty());
    match (releases.next_back(), from) {
        // A tag that moved, or that is not there any more, is no newer release.
        (Some((version, _)), Some(from)) if current.is_some_and(|current| version <= current) => Ok(from.clone()),
        (Some((_, newest)), _) => Ok(newest),
        (None, _) => {
            Err(anyhow!("\"{}\" has no tag with a version, so `--to` must name the new release", address.repo))
        }
    }
}

/// Fetches what the plans need, once for each repository. Returns the commits that each plan misses, or why nothing could be fetched.
pub fn fetch(plans: &[&Plan]) -> Vec<Result<Gone, String>> {
    let mut stores: BTreeMap<*const Store, (Rc<Store>, BTreeSet<PackageFolder<'_>>)> = BTreeMap::new();
    for plan in plans {
        if let UpstreamSource::Git { store, address } = &plan.source {
            let (_, folders) = stores.entry(Rc::as_ptr(store)).or_insert_with(|| (Rc::clone(store), BTreeSet::new()));
            folders
                .extend(plan.states().map(|state| PackageFolder { commit: &state.commit, path: &address.directory }));
        }
    }
    let fetched: BTreeMap<_, _> = stores
        .into_iter()
        .map(|(at, (store, folders))| (at, fetched(&store, &folders).map_err(|e| told::chain(&e))))
        .collect();
    let of_plan = |plan: &&Plan| match &plan.source {
        UpstreamSource::Git { store, .. } => {
            fetched.get(&Rc::as_ptr(store)).cloned().unwrap_or_else(|| Ok(Gone::new()))
        }
        UpstreamSource::Run(_) => Ok(Gone::new()),
    };
    plans.iter().map(of_plan).collect()
}

/// A folder of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageFolder<'a> {
    pub commit: &'a str,
    pub path: &'a str,
}

/// Fetches folders of commits, and returns the commits that are gone.
///
/// # Errors
/// git cannot be run, or the cache cannot be written.
pub fn fetched(store: &Store, folders: &BTreeSet<PackageFolder<'_>>) -> Result<Gone> {
    let gone = store.fetch(&folders.iter().map(|folder| folder.commit.to_owned()).collect())?;
    let mut files = BTreeSet::new();
    for folder in folders.iter().filter(|folder| !gone.contains_key(folder.commit)) {
        // What is wrong there is an error of its package.
        if let Ok(Some(found)) = tree::find(store, folder.commit, folder.path) {
            files.extend(found.objects());
        }
    }
    store.fetch_files(&files)?;
    Ok(gone)
}

impl Plan {
    fn states(&self) -> impl Iterator<Item = &State> {
        self.from.iter().chain([&self.to])
    }
}
