//! What an upgrade of a package will do: from which release to which one.
//!
//! All packages are planned before anything is fetched, so that git is asked once for each repository, however many packages come from it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use krm_files::command::{called, command};
use krm_files::errors;
use krm_folders::held::Before;
use krm_folders::package::Package;
use krm_folders::record::{Lock, Record, Render, Upstream};
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
use super::outputs::Outputs;
use super::produced::Producer;
use super::rendered::{ChartAt, MayRender, Renderer};
use crate::cli::Upgrade;

/// The repositories of a run, each opened once.
#[derive(Debug)]
pub struct Stores {
    network: Network,
    may_render: MayRender,
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
    /// A chart that helm renders.
    Rendered { chart: ChartAt, by: Rc<Renderer> },
    /// A command.
    Run(Rc<Producer>),
}

impl Stores {
    pub fn new(network: Network, may_render: MayRender) -> Self {
        Self { network, may_render, open: BTreeMap::new() }
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
        let given = given.map(|given| sources::settled(given, args.reach.network())).transpose()?;
        let recorded = package.record.as_ref();
        let asked = Asked {
            from: args.from.as_deref(),
            to: args.to.as_deref(),
            lock: recorded.and_then(|record| record.lock.as_ref()),
            render: recorded.and_then(|record| record.render.as_ref()),
            digests: Digests::Asked,
        };
        match (given, recorded.map(|record| &record.upstream)) {
            (Some(given), _) => {
                let address = ReleaseAddress { repo: given.repo.recorded()?, ..given };
                let to = args.to.clone().or_else(|| address.reference.clone());
                Self::of_address(package, &address, Asked { to: to.as_deref(), ..asked }, stores)
            }
            (None, Some(Upstream::Releases(address))) => {
                check_as_made(package, asked.from)?;
                Self::of_address(package, address, asked, stores)
            }
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
        // Nothing is fetched for an upgrade that may not be.
        asked.render.map_or(Ok(()), |_| stores.may_render.check())?;
        let store = stores.get(&address.repo, &package.root)?;
        let mut warnings = Vec::new();
        let had = had_at(package, address, asked, stores)?;
        let from = match (asked.from, asked.lock) {
            (Some(name), _) => Some(had.store.state(&had.address.named(name)?)?),
            (None, Some(lock)) => {
                if Rc::ptr_eq(&had.store, &store) {
                    let range = store.refs()?.range(address).and(address.reference.as_deref());
                    warnings.extend(moved(&had, asked.digests, lock, range)?);
                }
                Some(locked(lock, &had.address))
            }
            (None, None) => None,
        };
        let wanted = asked.to.map_or_else(|| Ok(address.clone()), |name| address.named(name))?;
        let here = DirectoryAt { store: Rc::clone(&store), address: wanted };
        let is_range = store.refs()?.range(&here.address).is_some();
        let Next { state: to, aim, behind } = if asked.to.is_some() && !is_range {
            Next { state: store.find(&here.address)?, aim: Aim::Named, behind: 1 }
        } else {
            let at = asked.lock.and_then(|lock| lock.address.as_ref()).unwrap_or(address);
            next(&here, from.as_ref().map(|state| Came { state, at }))?
        };
        let to = asked.digests.of(&store, to)?;
        let plan = Self {
            record: Record::of_release(&store.refs()?.wish(&here.address, &to), &to),
            from: from.map(|state| Release::of(&had, state)),
            to: Release::of(&here, to),
            aim,
            behind,
            warnings,
        };
        match asked.render {
            Some(render) => plan.rendered(render, Renderer::new(render, &package.root, stores.may_render), asked),
            None => Ok(plan),
        }
    }

    /// The same with what helm makes of the charts.
    fn rendered(self, render: &Render, renderer: Renderer, asked: Asked<'_>) -> Result<Self> {
        let by = Rc::new(renderer);
        let Self { from, to, mut record, .. } = self;
        // The volatile values that the package has come first, for two releases may be equal but for them.
        let lock = asked.lock.filter(|_| asked.from.is_none());
        let from = from.map(|from| from.rendered(&by, lock)).transpose()?;
        let to = to.rendered(&by, None)?;
        record.render = Some(render.clone());
        if let Some(lock) = &mut record.lock {
            lock.rendered = Some(to.state.commit.clone());
        }
        Ok(Self { from, to, record, ..self })
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
        let lock = Some(Lock { reference: name.to_owned(), exact: to.commit.clone(), address: None, rendered: None });
        let source = UpstreamSource::Run(Rc::new(command));
        let release = |state| Release { state, source: source.clone() };
        let record = Record { upstream, render: None, lock };
        Ok(Self { from: from.map(release), to: release(to), aim, behind: 0, record, warnings: Vec::new() })
    }

    /// Plans the upgrade of a package to what its record wants, or what `to` names.
    ///
    /// # Errors
    /// The package records no upstream with releases, or there is no such release.
    pub fn of_record(package: &Package, to: Option<&str>, stores: &mut Stores) -> Result<Self> {
        let Recorded { address, lock, render } = recorded(package)?;
        Self::of_address(package, address, Asked { from: None, to, lock, render, digests: Digests::Asked }, stores)
    }

    /// The same for who asks for the history of what comes from upstream: a chart is not rendered.
    ///
    /// # Errors
    /// The errors of [`Plan::of_record`].
    pub fn of_log(package: &Package, to: Option<&str>, stores: &mut Stores) -> Result<Self> {
        let Recorded { address, lock, .. } = recorded(package)?;
        let asked = Asked { from: None, to, lock, render: None, digests: Digests::Asked };
        Self::of_address(package, address, asked, stores)
    }

    /// The same for who only wants to know which release it is: nobody is asked for its digest, either.
    ///
    /// # Errors
    /// The errors of [`Plan::of_record`].
    pub fn of_list(package: &Package, stores: &mut Stores) -> Result<Self> {
        let Recorded { address, lock, .. } = recorded(package)?;
        let asked = Asked { from: None, to: None, lock, render: None, digests: Digests::AsListed };
        Self::of_address(package, address, asked, stores)
    }

    /// The newest release that could come after the one that the package has, whatever its record wants; `None` if nobody can say.
    ///
    /// # Errors
    /// There is no release.
    pub fn newest(&self) -> Result<Option<Next>> {
        let at = match (self.aim, self.to.fetched()) {
            (Aim::Unknown, _) => return Ok(None),
            (Aim::Named, Some((at, _))) => at,
            (aim, _) => return Ok(Some(Next { state: self.to.state.clone(), aim, behind: self.behind })),
        };
        let came = self.from.as_ref().and_then(Release::fetched);
        let came = came.map(|(had, state)| Came { state, at: &had.address });
        newest(at, came, None)
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
    /// A release as upstream has it.
    pub fn of(at: &DirectoryAt, state: State) -> Self {
        Self { state, source: UpstreamSource::Directory(at.clone()) }
    }

    /// Whether two releases are the same files, and come from the same place.
    fn is_as(&self, other: &Self) -> bool {
        // helm may make the same of two charts, and then the record says which of them it is.
        let place =
            |release: &Self| release.fetched().map(|(at, state)| (at.address.directory.clone(), state.commit.clone()));
        self.state.commit == other.state.commit && place(self) == place(other)
    }

    /// Its commit or digest, for messages.
    pub fn exact(&self) -> String {
        match &self.source {
            UpstreamSource::Directory(at) => at.address.repo.exact(&self.state.commit),
            UpstreamSource::Rendered { .. } | UpstreamSource::Run(_) => format!("output {}", self.state.commit),
        }
    }

    /// What helm makes of it for a new package.
    ///
    /// # Errors
    /// helm refuses the chart or the values.
    pub fn made_by(self, renderer: Renderer) -> Result<Self> {
        self.rendered(&Rc::new(renderer), None)
    }

    /// What helm makes of it. `lock` is that of the package which has it.
    fn rendered(self, by: &Rc<Renderer>, lock: Option<&Lock>) -> Result<Self> {
        let UpstreamSource::Directory(at) = self.source else { return Ok(self) };
        let chart = ChartAt { at, state: self.state };
        let state = lock.map_or_else(|| by.state(&chart), |lock| by.locked(&chart, lock))?;
        Ok(Self { state, source: UpstreamSource::Rendered { chart, by: Rc::clone(by) } })
    }

    /// Where it was fetched, and as which state; `None` for a command.
    pub fn fetched(&self) -> Option<(&DirectoryAt, &State)> {
        match &self.source {
            UpstreamSource::Directory(at) => Some((at, &self.state)),
            UpstreamSource::Rendered { chart, .. } => Some((&chart.at, &chart.state)),
            UpstreamSource::Run(_) => None,
        }
    }

    /// The directory of the repository that it is in, and its commit; `None` if it is made.
    pub fn folder(&self) -> Option<(&Rc<Store>, PackageFolder<'_>)> {
        let UpstreamSource::Directory(DirectoryAt { store, address }) = &self.source else { return None };
        Some((store, PackageFolder { commit: &self.state.commit, path: &address.directory }))
    }

    /// The files of the release. `older` is the release that the package has, and `before` is what was read before.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn side(&self, older: Option<&Self>, before: &Before<'_>) -> Result<Side> {
        let made = |by: &Outputs, name| by.side(name, &self.state, older.map(|older| &older.state));
        match &self.source {
            UpstreamSource::Directory(DirectoryAt { store, address }) => {
                let named = address.named(&self.state.name)?;
                release::package(store, &named, &self.state, named.to_string(), before)
            }
            UpstreamSource::Rendered { by, .. } => made(by.outputs(), by.name(&self.state)),
            UpstreamSource::Run(by) => made(by.outputs(), by.name(&self.state)),
        }
    }

    /// The files of the release, to be compared with a package: what is made anew each time is as in the package.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn side_beside(&self, dest: &Side) -> Result<Side> {
        match &self.source {
            UpstreamSource::Directory(_) => self.side(None, &[&dest.files]),
            UpstreamSource::Rendered { by, .. } => by.outputs().side_beside(by.name(&self.state), &self.state, dest),
            UpstreamSource::Run(by) => by.outputs().side_beside(by.name(&self.state), &self.state, dest),
        }
    }

    /// Who makes the releases, for messages.
    pub fn maker(&self) -> &'static str {
        if matches!(self.source, UpstreamSource::Run(_)) { "its command" } else { "its chart" }
    }
}

/// What the user and the record say about the releases.
#[derive(Clone, Copy)]
struct Asked<'a> {
    from: Option<&'a str>,
    to: Option<&'a str>,
    lock: Option<&'a Lock>,
    /// How helm makes the releases; `None` also if nobody needs their files.
    render: Option<&'a Render>,
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

/// Checks that a package has what its record says: what helm makes of a chart, or the files of the chart. `from` is the release that the user
/// says it has.
///
/// # Errors
/// Someone added `render` to the record, or removed it.
fn check_as_made(package: &Package, from: Option<&str>) -> Result<()> {
    let record = package.record.as_ref();
    let lock = record.and_then(|record| record.lock.as_ref()).filter(|_| from.is_none());
    let Some((has, wants)) = lock.zip(record).map(|(lock, record)| (lock.rendered.is_some(), record.render.is_some()))
    else {
        return Ok(());
    };
    let name = &package.name;
    match (has, wants) {
        (false, true) => bail!(
            "{name}: `render` is in its record, but the package has the files of the chart. Make a new package with `get` and `--render`. If it has what helm makes of the chart, add `--from` with the version"
        ),
        (true, false) => bail!(
            "{name}: `render` is not in its record, but the package has what helm makes of the chart. Put it back, or make a new package with `get`"
        ),
        _ => Ok(()),
    }
}

/// Where a package says that it comes from, which release it has, and how helm makes it.
struct Recorded<'p> {
    address: &'p ReleaseAddress,
    lock: Option<&'p Lock>,
    render: Option<&'p Render>,
}

fn recorded(package: &Package) -> Result<Recorded<'_>> {
    match &package.record {
        Some(Record { upstream: Upstream::Releases(address), render, lock }) => {
            Ok(Recorded { address, lock: lock.as_ref(), render: render.as_ref() })
        }
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
        check_as_made(package, None)?;
        let Recorded { address, lock, render } = recorded(package)?;
        let asked = Asked { from: None, to: None, lock, render: None, digests: Digests::AsListed };
        let at = had_at(package, address, asked, stores)?;
        let lock = lock.with_context(|| format!("{}: it must record which release it has", package.name))?;
        let release = Self::of(&at, locked(lock, &at.address));
        match render {
            Some(render) => {
                let renderer = Renderer::new(render, &package.root, stores.may_render);
                release.rendered(&Rc::new(renderer), Some(lock))
            }
            None => Ok(release),
        }
    }
}

/// Where the release that a package has is read: where its lock says, for upstream may have moved since. A commit is the same in each
/// repository of git, so the old repository is asked only if the new one does not have it. What is not in git and moved may be gone, so there
/// a release that the user names is one of the new place.
fn had_at(package: &Package, address: &ReleaseAddress, asked: Asked<'_>, stores: &mut Stores) -> Result<DirectoryAt> {
    let store = stores.get(&address.repo, &package.root)?;
    let Some((lock, at)) = asked.lock.and_then(|lock| Some((lock, lock.address.as_ref()?))) else {
        return Ok(DirectoryAt { store, address: address.clone() });
    };
    let are_git = at.repo.is_git() && address.repo.is_git();
    if asked.from.is_some() && !are_git && !at.repo.is_same(&address.repo) {
        return Ok(DirectoryAt { store, address: address.clone() });
    }
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

/// The warning for a tag or a version that is another commit or has another digest than when the package got it. `range` is what the package
/// follows, if it follows one.
///
/// # Errors
/// A record names what its address has no place for.
fn moved(at: &DirectoryAt, digests: Digests, lock: &Lock, range: Option<&str>) -> Result<Option<String>> {
    let DirectoryAt { store, address } = at;
    let address = address.named(&lock.reference)?;
    // A list may name it otherwise, or not at all.
    let now = match digests {
        Digests::Asked => store.find(&address),
        Digests::AsListed => store.refs().and_then(|refs| refs.find(&address)),
    };
    let now = now.ok().filter(|now| now.kind == RefKind::Tag).and_then(|now| digests.of(store, now).ok());
    let Some(now) = now.filter(|now| !now.commit.is_empty() && now.commit != lock.exact) else { return Ok(None) };
    let repo = &address.repo;
    let noun = if matches!(repo, Repo::Chart(_)) { "version" } else { "tag" };
    let [new, old] = [&now.commit, &lock.exact].map(|commit| repo.exact(commit));
    let (tag, is) = (&lock.reference, if repo.is_git() { "is now" } else { "now has" });
    let then = range.map(|range| format!(", and then `{}` follows the range again", command(&["--to", range])));
    Ok(Some(format!(
        "the {noun} {tag} of \"{repo}\" {is} {new}, but the package has {old}: `--to {}` takes the new one{}",
        now.name,
        then.unwrap_or_default()
    )))
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
        let outputs = match &self.to.source {
            UpstreamSource::Directory(_) => return Vec::new(),
            UpstreamSource::Rendered { by, .. } => by.outputs(),
            UpstreamSource::Run(command) => command.outputs(),
        };
        self.from.as_ref().map_or_else(Vec::new, |from| outputs.kept_places(&self.to.state, &from.state))
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
