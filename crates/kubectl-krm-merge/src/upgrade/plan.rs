//! What an upgrade of a package will do: from which release to which one.
//!
//! All packages are planned before anything is fetched, so that git is asked once for each repository, however many packages come from it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use krm_files::command::called;
use krm_files::errors;
use krm_folders::held::Before;
use krm_folders::package::Package;
use krm_folders::record::{Lock, Record, Upstream};
use krm_folders::release;
use krm_folders::side::Side;
use krm_folders::sources;
use krm_git::address::{ReleaseAddress, Repo, check_name};
use krm_git::refs::{self, RefKind, State};
use krm_git::store::{Gone, Network, Store};
use krm_git::tree;
use krm_names::file_path::RULES;
use krm_show::progress::Progress;
use krm_yaml::shown;

use super::aim::{Aim, Came, DirectoryAt, Next, newest, next};
use super::produced::Producer;
use crate::cli::Upgrade;

/// The repositories of a run, each opened once.
#[derive(Debug)]
pub struct Stores {
    network: Network,
    open: BTreeMap<(Repo, Option<PathBuf>), Rc<Store>>,
}

/// What an upgrade of a package will do.
#[derive(Debug)]
pub struct Plan {
    /// The release that the package has; `None` if it has none yet, or nobody knows which.
    pub from: Option<Release>,
    /// The release that it gets.
    pub to: Release,
    /// Why it gets that one.
    pub aim: Aim,
    /// How many releases come after the one that it has, up to this one.
    pub behind: usize,
    /// What it records then.
    pub record: Record,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// A release, and where it comes from.
#[derive(Clone, Debug)]
pub struct Release {
    pub state: State,
    pub source: UpstreamSource,
}

/// Where releases come from.
#[derive(Clone, Debug)]
pub enum UpstreamSource {
    /// A directory of what has releases.
    Directory(DirectoryAt),
    /// A command.
    Run(Rc<Producer>),
}

impl Stores {
    pub fn new(network: Network) -> Self {
        Self { network, open: BTreeMap::new() }
    }

    /// The store of a repository, for a package at a folder.
    ///
    /// # Errors
    /// The errors of [`release::open`].
    pub fn get(&mut self, repo: &Repo, folder: &Path) -> Result<Rc<Store>> {
        let key = (repo.clone(), (*repo == Repo::Here).then(|| folder.to_owned()));
        if let Some(store) = self.open.get(&key) {
            return Ok(Rc::clone(store));
        }
        let store = Rc::new(release::open(repo, folder, self.network)?);
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
        let given = given.map(sources::settled).transpose()?;
        let recorded = package.record.as_ref();
        let asked = Asked {
            from: args.from.as_deref(),
            to: args.to.as_deref(),
            lock: recorded.and_then(|record| record.lock.as_ref()),
            digests: Digests::Asked,
        };
        match (given, recorded.map(|record| &record.upstream)) {
            (Some(given), _) => {
                let address = ReleaseAddress { repo: given.repo.recorded()?, ..given };
                let to = args.to.clone().or_else(|| address.reference.clone());
                Self::of_address(package, &address, Asked { to: to.as_deref(), ..asked }, stores)
            }
            (None, Some(Upstream::Releases(address))) => Self::of_address(package, address, asked, stores),
            (None, Some(Upstream::Run { run, .. })) if !args.allow_exec => {
                let program = shown::line(run.first().map_or("", String::as_str)).into_owned();
                bail!(
                    "the upstream of the package is a command in its {RULES} that runs the program `{program}`. Pass `--allow-exec` to allow it"
                )
            }
            (None, Some(Upstream::Run { run, reference })) => {
                Self::of_run(Producer::new(run, package), reference.as_deref(), asked, args)
            }
            (None, None) => bail!(
                "the package must record where it comes from, in its Kptfile or .krm-merge.yaml. The first time, pass `--upstream REPO.git/DIRECTORY --from REF`"
            ),
        }
    }

    fn of_address(package: &Package, address: &ReleaseAddress, asked: Asked<'_>, stores: &mut Stores) -> Result<Self> {
        let store = stores.get(&address.repo, &package.root)?;
        let mut warnings = Vec::new();
        let had = had_at(package, address, asked.lock, stores)?;
        let from = match (asked.from, asked.lock) {
            (Some(name), _) => Some(had.store.state(&named(&had.address, name))?),
            (None, Some(lock)) => {
                if Rc::ptr_eq(&had.store, &store) {
                    warnings.extend(moved(&store, &named(&had.address, &lock.reference), asked.digests, lock));
                }
                Some(locked(lock, &had.address))
            }
            (None, None) => None,
        };
        let wanted = asked.to.map_or_else(|| address.clone(), |name| named(address, name));
        let here = DirectoryAt { store: Rc::clone(&store), address: wanted };
        let is_range = store.refs()?.range(&here.address).is_some();
        let Next { state: to, aim, behind } = if asked.to.is_some() && !is_range {
            Next { state: store.find(&here.address)?, aim: Aim::Named, behind: 1 }
        } else {
            let at = asked.lock.and_then(|lock| lock.address.as_ref()).unwrap_or(address);
            next(&here, from.as_ref().map(|state| Came { state, at }))?
        };
        let to = asked.digests.of(&store, to)?;
        Ok(Self {
            record: Record::of_release(&store.refs()?.wish(&here.address, &to), &to),
            from: from.map(|state| Release::of(&had, state)),
            to: Release::of(&here, to),
            aim,
            behind,
            warnings,
        })
    }

    fn of_run(command: Producer, reference: Option<&str>, asked: Asked<'_>, args: &Upgrade) -> Result<Self> {
        let has = asked.lock.map(|lock| lock.reference.as_str());
        let name = match asked.to.or(reference).or(has) {
            Some(name) => name,
            None if command.takes_a_release() => {
                bail!("`--to` must name the release, because the command of the package has `{{ref}}`")
            }
            None => "latest",
        };
        check_name(name)?;
        let aim = match asked.to {
            None if has == Some(name) && command.takes_a_release() => Aim::Unknown,
            None if !command.takes_a_release() => Aim::Newest,
            _ => Aim::Named,
        };
        let (from, to) = match asked.lock {
            // Nothing can be newer, so nothing runs.
            Some(lock) if args.check && aim == Aim::Unknown => (Some(lock.state()), lock.state()),
            lock => {
                // The volatile values that the package has come first, for two releases may be equal but for them.
                let from = match (asked.from, lock) {
                    (Some(name), _) => Some(command.state(name)?),
                    (None, Some(lock)) => Some(command.locked(lock)?),
                    (None, None) => None,
                };
                (from, command.state(name)?)
            }
        };
        let upstream = Upstream::Run { run: command.words().to_vec(), reference: Some(name.to_owned()) };
        let lock = Some(Lock { reference: name.to_owned(), exact: to.commit.clone(), address: None });
        let source = UpstreamSource::Run(Rc::new(command));
        let release = |state| Release { state, source: source.clone() };
        let record = Record { upstream, lock };
        Ok(Self { from: from.map(release), to: release(to), aim, behind: 0, record, warnings: Vec::new() })
    }

    /// Plans the upgrade of a package to what its record wants, or what `to` names.
    ///
    /// # Errors
    /// The package records no upstream with releases, or there is no such release.
    pub fn of_record(package: &Package, to: Option<&str>, stores: &mut Stores) -> Result<Self> {
        let (address, lock) = recorded(package)?;
        Self::of_address(package, address, Asked { from: None, to, lock, digests: Digests::Asked }, stores)
    }

    /// The same for who only wants to know which release it is: nobody is asked for its digest.
    ///
    /// # Errors
    /// The errors of [`Plan::of_record`].
    pub fn of_list(package: &Package, stores: &mut Stores) -> Result<Self> {
        let (address, lock) = recorded(package)?;
        Self::of_address(package, address, Asked { from: None, to: None, lock, digests: Digests::AsListed }, stores)
    }

    /// The newest release that could come after the one that the package has, whatever its record wants; `None` if the plan is that.
    ///
    /// # Errors
    /// There is no release.
    pub fn newest(&self) -> Result<Option<Next>> {
        let (Aim::Named, UpstreamSource::Directory(at)) = (self.aim, &self.to.source) else { return Ok(None) };
        let came = self.from.as_ref().and_then(|from| match &from.source {
            UpstreamSource::Directory(had) => Some(Came { state: &from.state, at: &had.address }),
            UpstreamSource::Run(_) => None,
        });
        newest(at, came, None).map(Some)
    }

    /// The range of releases that the record wants, if it does not name one.
    pub fn range(&self) -> Option<&str> {
        let Upstream::Releases(wish) = &self.record.upstream else { return None };
        wish.reference.as_deref().filter(|wish| *wish != self.to.state.name)
    }

    /// Whether the package has the release already.
    pub fn is_done(&self) -> bool {
        self.from.as_ref().is_some_and(|from| from.is_as(&self.to))
    }
}

impl Release {
    fn of(at: &DirectoryAt, state: State) -> Self {
        Self { state, source: UpstreamSource::Directory(at.clone()) }
    }

    /// Whether two releases are the same files.
    fn is_as(&self, other: &Self) -> bool {
        let directory = |release: &Self| match &release.source {
            UpstreamSource::Directory(at) => Some(at.address.directory.clone()),
            UpstreamSource::Run(_) => None,
        };
        self.state.commit == other.state.commit && directory(self) == directory(other)
    }

    /// Its commit or digest, for messages.
    pub fn exact(&self) -> String {
        match &self.source {
            UpstreamSource::Directory(at) => at.address.repo.exact(&self.state.commit),
            UpstreamSource::Run(_) => format!("output {}", self.state.commit),
        }
    }

    /// The directory of the repository that it is in, and its commit; `None` for a command.
    pub fn folder(&self) -> Option<(&Rc<Store>, PackageFolder<'_>)> {
        let UpstreamSource::Directory(DirectoryAt { store, address }) = &self.source else { return None };
        Some((store, PackageFolder { commit: &self.state.commit, path: &address.directory }))
    }

    /// The files of the release. `older` is the release that the package has, and `before` is what was read before.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn side(&self, older: Option<&Self>, before: &Before<'_>) -> Result<Side> {
        match &self.source {
            UpstreamSource::Directory(DirectoryAt { store, address }) => {
                let named = named(address, &self.state.name);
                release::package(store, &named, &self.state, named.to_string(), before)
            }
            UpstreamSource::Run(command) => command.side(&self.state, older.map(|older| &older.state)),
        }
    }
}

/// What the user and the record say about the releases.
#[derive(Clone, Copy)]
struct Asked<'a> {
    from: Option<&'a str>,
    to: Option<&'a str>,
    lock: Option<&'a Lock>,
    digests: Digests,
}

/// Whether someone is asked for digests of releases that a list does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Digests {
    Asked,
    AsListed,
}

impl Digests {
    fn of(self, store: &Store, state: State) -> Result<State> {
        match self {
            Self::Asked => store.resolved(state),
            Self::AsListed => Ok(state),
        }
    }
}

/// Where a package says that it comes from, and which release it has.
fn recorded(package: &Package) -> Result<(&ReleaseAddress, Option<&Lock>)> {
    match &package.record {
        Some(Record { upstream: Upstream::Releases(address), lock }) => Ok((address, lock.as_ref())),
        Some(Record { upstream: Upstream::Run { .. }, .. }) => {
            bail!("{}: a command makes this package, so no upstream repository has releases of it", package.name)
        }
        None => bail!(
            "{}: the package must record where it comes from, in its Kptfile or {RULES}. `{} upgrade PACKAGE --upstream REPO.git/DIRECTORY --from REF` makes the record",
            package.name,
            called()
        ),
    }
}

/// The release that a lock says.
fn locked(lock: &Lock, at: &ReleaseAddress) -> State {
    // kpt records a tag as the user named it.
    let reference = lock.reference.strip_prefix("refs/tags/").unwrap_or(&lock.reference).to_owned();
    let name = refs::short(&reference, at).to_owned();
    State { name, reference, commit: lock.exact.clone(), kind: RefKind::Commit }
}

impl Release {
    /// The release that a package has.
    ///
    /// # Errors
    /// The package records no release in git.
    pub fn of_package(package: &Package, stores: &mut Stores) -> Result<Self> {
        let (address, lock) = recorded(package)?;
        let at = had_at(package, address, lock, stores)?;
        let lock = lock.with_context(|| format!("{}: it must record which release it has", package.name))?;
        Ok(Self::of(&at, locked(lock, &at.address)))
    }
}

/// Where the release that a package has is read: where its lock says, for upstream may have moved since. A commit is the same in each
/// repository of git, so the old repository is asked only if the new one does not have it.
fn had_at(
    package: &Package,
    address: &ReleaseAddress,
    lock: Option<&Lock>,
    stores: &mut Stores,
) -> Result<DirectoryAt> {
    let store = stores.get(&address.repo, &package.root)?;
    let Some((lock, at)) = lock.and_then(|lock| Some((lock, lock.address.as_ref()?))) else {
        return Ok(DirectoryAt { store, address: address.clone() });
    };
    let are_git = at.repo.is_git() && address.repo.is_git();
    store.knows(&lock.reference, &lock.exact);
    let is_there = |store: &Store| Ok::<_, anyhow::Error>(store.fetch(&[lock.exact.clone()].into())?.is_empty());
    if at.repo.is_same(&address.repo) || are_git && is_there(&store)? {
        return Ok(DirectoryAt {
            store,
            address: ReleaseAddress { directory: at.directory.clone(), ..address.clone() },
        });
    }
    let store = stores.get(&at.repo, &package.root)?;
    store.knows(&lock.reference, &lock.exact);
    Ok(DirectoryAt { store, address: at.clone() })
}

/// The address of a state.
fn named(address: &ReleaseAddress, name: &str) -> ReleaseAddress {
    ReleaseAddress { reference: Some(name.to_owned()), ..address.clone() }
}

/// The warning for a tag or a version that is another commit or has another digest than when the package got it.
fn moved(store: &Store, address: &ReleaseAddress, digests: Digests, lock: &Lock) -> Option<String> {
    // A list may name it otherwise, or not at all.
    let now = match digests {
        Digests::Asked => store.find(address),
        Digests::AsListed => store.refs().and_then(|refs| refs.find(address)),
    };
    let now = now.ok().filter(|now| now.kind == RefKind::Tag)?;
    let now = digests.of(store, now).ok().filter(|now| !now.commit.is_empty() && now.commit != lock.exact)?;
    let repo = &address.repo;
    let noun = if matches!(repo, Repo::Chart(_)) { "version" } else { "tag" };
    let [new, old] = [&now.commit, &lock.exact].map(|commit| repo.exact(commit));
    let (tag, is) = (&lock.reference, if repo.is_git() { "is now" } else { "now has" });
    Some(format!(
        "the {noun} {tag} of \"{repo}\" {is} {new}, but the package has {old}: `--to {}` takes the new one",
        now.name
    ))
}

/// Fetches what the plans need, once for each repository. Returns the commits that each plan misses, or why nothing could be fetched.
pub fn fetch(plans: &[&Plan], progress: &Progress) -> Vec<Result<Gone, String>> {
    let mut stores: BTreeMap<*const Store, (Rc<Store>, BTreeSet<PackageFolder<'_>>)> = BTreeMap::new();
    for (store, folder) in plans.iter().flat_map(|plan| plan.folders()) {
        let (_, folders) = stores.entry(Rc::as_ptr(store)).or_insert_with(|| (Rc::clone(store), BTreeSet::new()));
        folders.insert(folder);
    }
    let count = stores.len();
    let fetched: BTreeMap<_, _> = stores
        .into_iter()
        .enumerate()
        .map(|(number, (at, (store, folders)))| {
            progress.set(|| format!("fetching from repository {} of {count}", number + 1));
            progress.measure(store.meter());
            (at, fetched(&store, &folders).map_err(|e| errors::chain(&e)))
        })
        .collect();
    let of_plan = |plan: &&Plan| {
        let mut gone = Gone::new();
        for (store, _) in plan.folders() {
            gone.extend(fetched.get(&Rc::as_ptr(store)).cloned().unwrap_or_else(|| Ok(Gone::new()))?);
        }
        Ok(gone)
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
    /// The places where the package keeps its own values, for its command makes them anew at each rendering.
    pub fn kept_places(&self) -> Vec<String> {
        match (&self.to.source, &self.from) {
            (UpstreamSource::Run(command), Some(from)) => command.kept_places(&self.to.state, &from.state),
            _ => Vec::new(),
        }
    }

    fn folders(&self) -> impl Iterator<Item = (&Rc<Store>, PackageFolder<'_>)> {
        self.from.iter().chain([&self.to]).filter_map(Release::folder)
    }
}

/// A package with its plan.
#[derive(Debug)]
pub struct Planned {
    pub package: Package,
    pub plan: Plan,
}

/// A package with its plan, and the commits that its upstream does not have any more.
#[derive(Clone, Copy, Debug)]
pub struct Job<'u> {
    pub package: &'u Package,
    pub plan: &'u Plan,
    pub gone: &'u Gone,
    /// The release that the package has; `None` if it has none yet.
    pub from: Option<&'u State>,
}

impl<'u> Job<'u> {
    pub fn of(planned: &'u Planned, gone: &'u Gone) -> Self {
        let Planned { package, plan } = planned;
        Self { package, plan, gone, from: plan.from.as_ref().map(|from| &from.state) }
    }
}
