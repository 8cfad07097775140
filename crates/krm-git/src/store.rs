//! The objects of a repository: those of the repository that one stands in, a cache of those of a remote one, or what came from a [`Source`].
//!
//! The cache of a remote repository is a bare repository in the user's cache folder, which all packages share. It has the commits that were
//! asked for, without their history, and of the files only those that a release needs, if the server can leave out others. It has no refs:
//! what the remote repository had last stands in the file `remote-refs`. For a source, a release is a ref with its digest as its name, and the
//! digests for which the source had to be asked one by one stand in `remote-digests`. One run at a time fetches into it. The lock belongs to
//! git, too, so that it lasts until git ends, even if this program is killed. A killed fetch leaves whole packs or none. What else a
//! killed run left is taken away under the lock.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use krm_files::disk;
use krm_files::errors;
use krm_files::walk::shown;

use crate::address::{ReleaseAddress, Repo, absolute, is_digest};
use crate::cache::{self, remove, write};
use crate::found::AtPath;
use crate::objects::{GitObject, Objects};
use crate::program::{self, In, git};
use crate::refs::{self, RefKind, Refs, State, is_commit};
use crate::source::{self, Exact, Listed, ReleaseFile, Releases, Source};
use crate::versions::Range;

/// Whether git may use the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// It may.
    #[default]
    Online,
    /// Only what the cache has is used.
    Offline,
}

/// The objects of a repository.
#[derive(Debug)]
pub struct Store {
    /// The git directory of the cache; without a remote repository, a folder in the repository that one stands in.
    folder: PathBuf,
    /// The remote repository, of which this is a cache.
    remote: Option<Remote>,
    /// What says that the cache is in use.
    _held: Option<File>,
    /// The tags and branches, or why nobody can list them. The remote repository is asked once, also if it does not answer.
    refs: OnceCell<Result<Refs, String>>,
    /// The names of releases by their digests, as records say.
    names: RefCell<BTreeMap<String, String>>,
    /// The digests of releases by their names, for which a source was asked; `None` if there is no such release.
    digests: RefCell<BTreeMap<String, Result<Option<String>, String>>>,
    /// Why a source does not list its releases.
    refused: OnceCell<String>,
    /// What is at a path of a commit, for those that were looked up.
    found: RefCell<BTreeMap<(String, String), Rc<AtPath>>>,
    /// Objects that are known to be here.
    here: RefCell<BTreeSet<String>>,
    objects: RefCell<Option<Objects>>,
}

/// A remote repository.
#[derive(Clone, Debug)]
struct Remote {
    /// The address at which git fetches.
    url: OnceCell<String>,
    /// The address as it was given.
    given: String,
    network: Network,
    /// Who is asked instead of git.
    source: Option<Rc<dyn Source>>,
}

/// Where a fetch writes to, and where it fetches.
#[derive(Clone, Copy)]
struct Fetch<'f> {
    lock: &'f File,
    remote: &'f Remote,
}

/// Commits that a remote repository does not have any more, each with git's words.
pub type Gone = BTreeMap<String, String>;

impl Store {
    /// Opens the objects of a repository. `folder` is the folder in which `.git` is looked for.
    ///
    /// # Errors
    /// The folder is in no repository; the cache cannot be made; or git cannot fetch the repository.
    pub fn open(repo: &Repo, folder: &Path, network: Network) -> Result<Self> {
        if *repo == Repo::Here {
            let inside = program::run(git(In::Around(folder)).args(["rev-parse", "--is-inside-git-dir"]), b"");
            let inside = inside.with_context(|| format!("{} must be in a git repository", shown(folder)))?;
            // An old git does not know `safe.bareRepository`.
            if inside.trim_ascii() == b"true" {
                bail!("{} must be in the work tree of a git repository, not in its git directory", shown(folder));
            }
            return Ok(Self::at(folder.to_owned(), None, None));
        }
        if !repo.is_git() {
            bail!("this program was built without `releases`, so it fetches from git alone, and not \"{repo}\"");
        }
        let given = match repo.is_path() {
            true => absolute(&repo.to_string())?,
            false => repo.to_string(),
        };
        Self::cache_of(Remote { url: OnceCell::new(), given, network, source: None })
    }

    /// Opens what came from a source that is no git repository.
    ///
    /// # Errors
    /// The cache cannot be made.
    pub fn of_source(repo: &Repo, source: Rc<dyn Source>, network: Network) -> Result<Self> {
        Self::cache_of(Remote { url: OnceCell::new(), given: repo.to_string(), network, source: Some(source) })
    }

    fn cache_of(remote: Remote) -> Result<Self> {
        let folder = cache::repositories()?.join(name_of(&remote.given));
        let held = cache::hold(&folder, &remote.given);
        Ok(Self::at(folder, Some(remote), held))
    }

    fn at(folder: PathBuf, remote: Option<Remote>, held: Option<File>) -> Self {
        Self {
            folder,
            remote,
            _held: held,
            refs: OnceCell::new(),
            names: RefCell::default(),
            digests: RefCell::default(),
            refused: OnceCell::new(),
            found: RefCell::default(),
            here: RefCell::default(),
            objects: RefCell::default(),
        }
    }

    /// What is at a path of a commit. `look` finds it the first time.
    ///
    /// # Errors
    /// Those of `look`.
    pub fn remembered(
        &self,
        commit: &str,
        path: &str,
        look: impl FnOnce() -> Result<Option<AtPath>>,
    ) -> Result<Option<Rc<AtPath>>> {
        let key = (commit.to_owned(), path.to_owned());
        if let Some(found) = self.found.borrow().get(&key) {
            return Ok(Some(Rc::clone(found)));
        }
        let Some(found) = look()?.map(Rc::new) else { return Ok(None) };
        self.found.borrow_mut().insert(key, Rc::clone(&found));
        Ok(Some(found))
    }

    /// git on this repository. It fetches nothing by itself.
    pub fn git(&self) -> Command {
        git(match &self.remote {
            Some(_) => In::Own(&self.folder),
            None => In::Around(&self.folder),
        })
    }

    /// The tags and branches. A remote repository is asked once.
    ///
    /// # Errors
    /// git cannot list them, or the cache has none.
    pub fn refs(&self) -> Result<&Refs> {
        let refs = self.refs.get_or_init(|| {
            let lines = self.remote.as_ref().map_or_else(|| self.local_refs(), |remote| self.remote_refs(remote));
            lines.map(|lines| Refs::read(&lines)).map_err(|e| errors::chain(&e))
        });
        refs.as_ref().map_err(|why| anyhow!("{why}"))
    }

    /// The same for who looks for a release that nobody names.
    ///
    /// # Errors
    /// The errors of [`Store::refs`], or a source does not list its releases.
    pub fn listed(&self) -> Result<&Refs> {
        let refs = self.refs()?;
        match (self.refused.get(), &self.remote) {
            (Some(why), Some(remote)) => {
                bail!("nobody lists the releases of \"{}\", so one must be named: {why}", remote.given)
            }
            _ => Ok(refs),
        }
    }

    fn local_refs(&self) -> Result<Vec<u8>> {
        // As `ls-remote` prints them: a second line for what an annotated tag is for.
        let form =
            "--format=%(objectname)%09%(refname)%(if)%(*objectname)%(then)%0a%(*objectname)%09%(refname)^{}%(end)";
        let mut all = program::run(self.git().args(["for-each-ref", form, "refs/heads", "refs/tags"]), b"")?;
        if let Ok(head) = program::run(self.git().args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]), b"") {
            all.extend(head.trim_ascii().iter().chain(b"\tHEAD\n"));
        }
        Ok(all)
    }

    fn remote_refs(&self, remote: &Remote) -> Result<Vec<u8>> {
        let file = self.folder.join(REFS);
        if remote.network == Network::Offline {
            let refs = fs::read(&file).with_context(|| {
                format!("\"{}\" must have been fetched before it is used with `--offline`", remote.given)
            })?;
            return Ok(refs);
        }
        let (refs, format) = match &remote.source {
            Some(source) => (self.source_refs(&**source)?, ObjectFormat::Sha1),
            None => {
                let refs = self.ls_remote(remote)?;
                let format = ObjectFormat::of(&refs);
                (refs, format)
            }
        };
        self.make(&cache::lock(&self.folder)?, format)?;
        write(&file, &refs)?;
        Ok(refs)
    }

    /// What a source lists, as `ls-remote` prints it.
    fn source_refs(&self, source: &dyn Source) -> Result<Vec<u8>> {
        let mut listed = match source.releases()? {
            Releases::Listed(listed) => listed,
            Releases::Unlisted => Vec::new(),
            Releases::Refused(why) => {
                let _ = self.refused.set(why);
                Vec::new()
            }
        };
        let mut known = BTreeSet::new();
        listed.retain(|release| known.insert(release.name.clone()));
        Ok(listed.iter().map(refs::line).collect::<String>().into_bytes())
    }

    fn ls_remote(&self, remote: &Remote) -> Result<Vec<u8>> {
        let mut first = None;
        for url in remote.urls() {
            let mut git = self.git();
            git.args(["ls-remote", "--quiet", "--symref", "--", &url, "HEAD", "refs/heads/*", "refs/tags/*"]);
            match program::run(&mut git, b"") {
                Ok(refs) => {
                    let _ = remote.url.set(url);
                    return Ok(refs);
                }
                Err(e) => first = first.or(Some(e)),
            }
        }
        let told = || {
            let given = &remote.given;
            format!(
                "\"{given}\" must be a git repository that `git ls-remote` reaches from here; `--offline` uses what was fetched before"
            )
        };
        Err(first.unwrap_or_else(|| anyhow!("git was not asked"))).with_context(told)
    }

    /// The state that an address names, with its commit or digest.
    ///
    /// # Errors
    /// The errors of [`Store::find`] and [`Store::resolved`].
    pub fn state(&self, address: &ReleaseAddress) -> Result<State> {
        self.resolved(self.find(address)?)
    }

    /// The state with its commit or digest, for which a source is asked now if its list does not have it.
    ///
    /// # Errors
    /// The source cannot be asked, or must not; or it has no such release.
    pub fn resolved(&self, state: State) -> Result<State> {
        let Some(remote) = self.remote.as_ref().filter(|_| state.commit.is_empty()) else { return Ok(state) };
        let told = || format!("\"{}\" must have {}, and has not", remote.given, state.reference);
        let commit = self.asked(remote, &state.reference)?.with_context(told)?;
        Ok(State { commit, ..state })
    }

    /// The digest of a release of a source, which is asked for it once; `None` if there is no such release.
    fn asked(&self, remote: &Remote, name: &str) -> Result<Option<String>> {
        let known = self.digests.borrow().get(name).cloned();
        let known = known.unwrap_or_else(|| {
            let asked = self.ask(remote, name).map_err(|e| errors::chain(&e));
            self.digests.borrow_mut().insert(name.to_owned(), asked.clone());
            asked
        });
        known.map_err(|why| anyhow!("{why}"))
    }

    fn ask(&self, remote: &Remote, name: &str) -> Result<Option<String>> {
        let Some(source) = remote.source.as_ref().filter(|_| remote.network == Network::Online) else {
            let noted = fs::read(self.folder.join(DIGESTS)).unwrap_or_default();
            if let Some(digest) = Refs::read(&noted).digest_of(name) {
                return Ok(Some(digest.to_owned()));
            }
            bail!("{name} of \"{}\" must have been fetched before it is used with `--offline`", remote.given)
        };
        let Some(Exact { digest, files }) = source.exact(name)? else { return Ok(None) };
        if !is_digest(&digest) {
            bail!("\"{}\" must have a SHA-256 for {name}, not \"{digest}\"", remote.given);
        }
        self.note(name, &digest)?;
        if let Some(files) = files {
            self.import(&digest, &files)?;
        }
        Ok(Some(digest))
    }

    /// Notes the digest of a release, also for runs without the network.
    fn note(&self, name: &str, digest: &str) -> Result<()> {
        let _lock = cache::lock(&self.folder)?;
        let line = |digest| refs::line(&Listed { name: name.to_owned(), digest });
        let file = self.folder.join(DIGESTS);
        let old = fs::read_to_string(&file).unwrap_or_default();
        let others = old.split_inclusive('\n').filter(|old| !old.ends_with(&line(None)));
        write(&file, (others.collect::<String>() + &line(Some(digest.to_owned()))).as_bytes())?;
        self.knows(name, digest);
        Ok(())
    }

    /// Keeps in mind which name a release with a digest has: a source may need it to give the files.
    pub fn knows(&self, name: &str, digest: &str) {
        self.names.borrow_mut().insert(digest.to_owned(), name.to_owned());
    }

    /// The state that an address names. Of the repository that one stands in, it may be any revision, such as `HEAD~1`; of a source, a name that
    /// no list has.
    ///
    /// # Errors
    /// The errors of [`Store::refs`] and [`Refs::find`].
    pub fn find(&self, address: &ReleaseAddress) -> Result<State> {
        let found = self.refs()?.find(address);
        let Some(name) = address.reference.as_ref().filter(|name| Range::read(name).is_none()) else {
            return self.listed().and(found);
        };
        if found.is_ok() {
            return found;
        }
        if let Some(remote) = &self.remote {
            let asked = remote.source.as_ref().map_or(Ok(None), |_| self.asked(remote, name))?;
            let (name, kind) = (name.clone(), refs::kind(name));
            return match (asked, self.refused.get()) {
                (Some(commit), _) => Ok(State { reference: name.clone(), name, commit, kind }),
                (None, Some(why)) => found.map_err(|e| anyhow!("{why}").context(e.to_string())),
                (None, None) => found,
            };
        }
        let mut git = self.git();
        git.args(["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")]);
        let Ok(commit) = program::run(&mut git, b"") else { return found };
        let commit = String::from_utf8_lossy(commit.trim_ascii()).into_owned();
        Ok(State { name: name.clone(), reference: commit.clone(), commit, kind: RefKind::Commit })
    }

    /// Fetches commits that are not here yet, all at once. Returns those that the repository does not have.
    ///
    /// # Errors
    /// The errors of [`Store::refs`]; or the cache cannot be written.
    pub fn fetch(&self, commits: &BTreeSet<String>) -> Result<Gone> {
        let is_of_source = self.remote.as_ref().is_some_and(|remote| remote.source.is_some());
        if !is_of_source {
            // They say which kind of cache it must be.
            self.refs()?;
        }
        let missing = if is_of_source && !self.is_made() {
            commits.clone()
        } else {
            self.missing(commits.iter().map(|commit| (commit, self.tree_of(commit))))?
        };
        let Some(remote) = &self.remote else {
            let why = "there is no such commit in the repository".to_owned();
            return Ok(missing.into_iter().map(|commit| (commit, why.clone())).collect());
        };
        if missing.is_empty() {
            return Ok(Gone::new());
        }
        if remote.network == Network::Offline {
            let why = "it was not fetched before, and `--offline` is given".to_owned();
            return Ok(missing.into_iter().map(|commit| (commit, why.clone())).collect());
        }
        if let Some(source) = &remote.source {
            return self.imported(&**source, &missing);
        }
        let lock = cache::lock(&self.folder)?;
        let to = Fetch { lock: &lock, remote };
        let here: Vec<&String> = commits.difference(&missing).collect();
        let refused = match self.shallow(to, &missing, &here)? {
            None => return Ok(Gone::new()),
            Some(why) if missing.len() == 1 => missing.iter().map(|commit| (commit.clone(), why.clone())).collect(),
            Some(_) => self.one_by_one(to, &missing, &here)?,
        };
        if refused.is_empty() {
            return Ok(refused);
        }
        // A server may give only what its branches and tags reach, or no history in parts.
        self.whole(to)?;
        let missing = self.missing(refused.keys().map(|commit| (commit, self.tree_of(commit))))?;
        Ok(refused.into_iter().filter(|(commit, _)| missing.contains(commit)).collect())
    }

    /// git's name for a commit, or for the release with a digest.
    pub fn revision<'c>(&self, commit: &'c str) -> Cow<'c, str> {
        let is_of_source = self.remote.as_ref().is_some_and(|remote| remote.source.is_some());
        if is_of_source { Cow::Owned(source::ref_of(commit)) } else { Cow::Borrowed(commit) }
    }

    fn tree_of(&self, commit: &str) -> String {
        format!("{}^{{tree}}", self.revision(commit))
    }

    /// Puts releases of a source into the cache, by their digests. Returns those that it does not give, and why.
    fn imported(&self, source: &dyn Source, digests: &BTreeSet<String>) -> Result<Gone> {
        let mut gone = Gone::new();
        for digest in digests {
            let known = self.names.borrow().get(digest).cloned();
            let name = match known {
                Some(name) => Ok(Some(name)),
                None => self.refs().map(|refs| refs.name_of(digest).map(str::to_owned)),
            };
            match name.and_then(|name| source.files(name.as_deref(), digest)) {
                Ok(files) => self.import(digest, &files)?,
                Err(e) => _ = gone.insert(digest.clone(), errors::chain(&e)),
            }
        }
        Ok(gone)
    }

    fn import(&self, digest: &str, files: &[ReleaseFile]) -> Result<()> {
        let lock = cache::lock(&self.folder)?;
        self.make(&lock, ObjectFormat::Sha1)?;
        source::import(self.git(), digest, files)?;
        self.here.borrow_mut().insert(digest.to_owned());
        cache::grew();
        Ok(())
    }

    /// Whether a commit comes after another one: the other one is in its history. A cache has no history, so the part of it that is
    /// younger than the other commit is fetched.
    ///
    /// # Errors
    /// The commit cannot be fetched, or the network is needed and must not be used.
    pub fn is_after(&self, commit: &str, other: &str) -> Result<bool> {
        if self.fetch(&[other.to_owned()].into())?.contains_key(other) {
            // The package's own commit is gone, which is told elsewhere.
            return Ok(false);
        }
        if let Some(why) = self.fetch(&[commit.to_owned()].into())?.get(commit) {
            bail!("the commit {commit} cannot be fetched: {why}");
        }
        let unknown =
            || format!("`--to` must name the release, because git cannot tell whether {commit} is newer than {other}");
        let is_below = || {
            let mut git = self.git();
            git.args(["merge-base", "--is-ancestor", other, commit]);
            program::output(&mut git, b"").map(|output| output.status.success())
        };
        if self.remote.is_some() && !is_below()? {
            self.fetch_history(commit, other, "--filter=tree:0").with_context(unknown)?;
        }
        is_below()
    }

    /// Fetches the history of two commits as far as it is younger than both. `filter` is the flag of `git fetch` for what is left out.
    ///
    /// # Errors
    /// git cannot fetch it, or the network must not be used.
    pub fn fetch_history(&self, commit: &str, other: &str, filter: &str) -> Result<()> {
        let Some(remote) = &self.remote else { return Ok(()) };
        if remote.source.is_some() {
            bail!("\"{}\" is no git repository, so its releases have no history", remote.given);
        }
        if remote.network == Network::Offline {
            bail!("the history between {other} and {commit} must be fetched, and `--offline` is given");
        }
        let lock = cache::lock(&self.folder)?;
        let to = Fetch { lock: &lock, remote };
        // Clocks may be wrong, so a date only limits what is fetched.
        let since = format!("--shallow-since=@{}", self.time(other)?.min(self.time(commit)?));
        if self.fetched(to, &[&since, filter], &[commit.to_owned(), other.to_owned()].into())?.is_some() {
            self.whole(to)?;
        }
        Ok(())
    }

    /// When a commit was made, in seconds.
    fn time(&self, commit: &str) -> Result<u64> {
        let mut git = self.git();
        let told = program::run(git.args(["log", "-1", "--no-show-signature", "--format=%ct", commit]), b"")?;
        String::from_utf8_lossy(told.trim_ascii())
            .parse()
            .with_context(|| format!("the commit {commit} must have a time"))
    }

    fn one_by_one(&self, to: Fetch<'_>, commits: &BTreeSet<String>, here: &[&String]) -> Result<Gone> {
        let mut gone = Gone::new();
        for commit in commits {
            if let Some(why) = self.shallow(to, &BTreeSet::from([commit.clone()]), here)? {
                gone.insert(commit.clone(), why);
            }
        }
        Ok(gone)
    }

    /// Fetches commits without their history and their files. Returns git's words if it fails.
    ///
    /// A server that cannot leave out files sends only those that the commits in `here` lack.
    fn shallow(&self, to: Fetch<'_>, commits: &BTreeSet<String>, here: &[&String]) -> Result<Option<String>> {
        let tips: Vec<String> = here.iter().map(|commit| format!("--negotiation-tip={commit}")).collect();
        let mut how = vec!["--depth=1", "--filter=blob:none"];
        how.extend(tips.iter().map(String::as_str));
        self.fetched(to, &how, commits)
    }

    /// Fetches all branches and tags with their history. If git cannot do so in a cache that a killed run or a full disk may have broken,
    /// a new one takes its place.
    fn whole(&self, to: Fetch<'_>) -> Result<()> {
        let all = BTreeSet::from([
            "+refs/heads/*:refs/cache/heads/*".to_owned(),
            "+refs/tags/*:refs/cache/tags/*".to_owned(),
        ]);
        if self.fetched(to, &["--filter=blob:none"], &all)?.is_none() {
            return Ok(());
        }
        let file = self.folder.join(REFS);
        let refs = fs::read(&file).unwrap_or_default();
        let new = self.folder.with_extension("new");
        init(&new, to.lock, ObjectFormat::of(&refs))?;
        let other = Self::at(new.clone(), Some(to.remote.clone()), None);
        if other.fetched(to, &["--filter=blob:none"], &all)?.is_none() {
            write(&new.join(REFS), &refs)?;
            let old = self.folder.with_extension("old");
            fs::rename(&self.folder, &old)?;
            fs::rename(&new, &self.folder)?;
            remove(&old)?;
        }
        remove(&new)
    }

    fn fetched(&self, to: Fetch<'_>, how: &[&str], what: &BTreeSet<String>) -> Result<Option<String>> {
        // What git left when it was killed. Nobody else fetches now.
        ["shallow.lock", "config.lock", "packed-refs.lock"]
            .iter()
            .for_each(|name| _ = fs::remove_file(self.folder.join(name)));
        let mut git = self.git();
        if !how.iter().any(|flag| flag.starts_with("--negotiation-tip")) {
            // Nothing that is here is offered, for the server may not know it.
            git.args(["-c", "fetch.negotiationAlgorithm=noop"]);
        }
        git.args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--stdin"]);
        git.args(how).args(["--", &to.remote.url()]);
        let wanted: String = what.iter().map(|wanted| format!("{wanted}\n")).collect();
        // git prints nothing there, and holds the lock as long as it runs.
        git.stdout(to.lock.try_clone()?);
        let output = program::fed(&mut git, wanted.as_bytes())?;
        if output.status.success() {
            cache::grew();
            return Ok(None);
        }
        cache::remove_packs(&self.folder);
        let words = program::words(&output);
        cache::check_not_full(&words)?;
        Ok(Some(words))
    }

    /// Fetches the files that are not here yet, all at once.
    ///
    /// # Errors
    /// git cannot fetch them.
    pub fn fetch_files(&self, files: &BTreeSet<String>) -> Result<()> {
        let Some(remote) = &self.remote else { return Ok(()) };
        let missing = self.missing(files.iter().map(|file| (file, file.clone())))?;
        if missing.is_empty() {
            return Ok(());
        }
        if remote.network == Network::Offline {
            bail!("the files of the release were not fetched before, and `--offline` is given");
        }
        let lock = cache::lock(&self.folder)?;
        let to = Fetch { lock: &lock, remote };
        if let Some(first) = self.fetched(to, &["--filter=blob:none"], &missing)? {
            self.whole(to)?;
            if !self.missing(files.iter().map(|file| (file, file.clone())))?.is_empty() {
                bail!("the files of the release must be fetched: {first}");
            }
        }
        self.here.borrow_mut().extend(missing);
        Ok(())
    }

    /// Which objects are not here. Each has its name and an expression for what must be here.
    fn missing<'n>(&self, objects: impl Iterator<Item = (&'n String, String)>) -> Result<BTreeSet<String>> {
        let mut here = self.here.borrow_mut();
        let (names, asked): (Vec<&String>, Vec<String>) = objects.filter(|(name, _)| !here.contains(*name)).unzip();
        if names.is_empty() {
            return Ok(BTreeSet::new());
        }
        let input: String = asked.iter().map(|object| format!("{object}\n")).collect();
        let found = program::run(self.git().args(["cat-file", "--batch-check"]), input.as_bytes())?;
        let found = String::from_utf8_lossy(&found).into_owned();
        let lines: Vec<&str> = found.lines().collect();
        if lines.len() != names.len() {
            bail!("git must answer once for each object");
        }
        let is_missing = |line: &str| line.ends_with(" missing") || line.ends_with(" ambiguous");
        let (missing, there): (Vec<_>, Vec<_>) = names.into_iter().zip(lines).partition(|(_, line)| is_missing(line));
        here.extend(there.into_iter().map(|(name, _)| name.clone()));
        Ok(missing.into_iter().map(|(name, _)| name.clone()).collect())
    }

    /// Reads an object that is here; `None` if it is not.
    ///
    /// # Errors
    /// It has more than `most` bytes; or git cannot be run.
    pub fn read(&self, object: &str, most: u64) -> Result<Option<GitObject>> {
        let mut objects = self.objects.borrow_mut();
        let mut running = objects.take().map_or_else(|| Objects::of(self.git()), Ok)?;
        let read = running.read(object, most);
        // After an error, nobody knows what git prints next.
        *objects = Some(running).filter(|_| read.is_ok());
        read
    }

    /// How many bytes were fetched into the cache until now.
    pub fn packed(&self) -> u64 {
        self.meter()()
    }

    /// The same for who watches a fetch: the bytes that git has received of a pack count, too.
    pub fn meter(&self) -> impl Fn() -> u64 + Clone + Send + Sync + 'static {
        let folder = self.folder.join("objects/pack");
        move || {
            let packs = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
            packs.filter_map(|pack| Some(pack.metadata().ok()?.len())).sum()
        }
    }

    /// Makes the cache, unless it is there and names objects as the remote repository does.
    fn make(&self, lock: &File, format: ObjectFormat) -> Result<()> {
        let text = fs::read_to_string(self.folder.join("config")).unwrap_or_default();
        if self.is_made() && ObjectFormat::of_config(&text) == format {
            return Ok(());
        }
        let new = self.folder.with_extension("new");
        init(&new, lock, format)?;
        remove(&self.folder)?;
        fs::rename(&new, &self.folder).with_context(|| shown(&self.folder))
    }
}

impl Store {
    /// Whether the cache has what a repository had last.
    ///
    /// # Errors
    /// The cache cannot be made.
    pub fn is_known(repo: &Repo) -> Result<bool> {
        Ok(cache::repositories()?.join(name_of(&repo.to_string())).join(REFS).is_file())
    }

    fn is_made(&self) -> bool {
        self.folder.join("HEAD").is_file()
    }
}

/// The file of a cache with what the repository had last.
const REFS: &str = "remote-refs";

/// The file of a cache with the digests for which a source was asked, one by one.
const DIGESTS: &str = "remote-digests";

/// How a repository names its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ObjectFormat {
    Sha1,
    Sha256,
}

impl ObjectFormat {
    /// The format of a repository with these refs, as `git ls-remote` prints them.
    fn of(refs: &[u8]) -> Self {
        let refs = String::from_utf8_lossy(refs);
        let mut names = refs.lines().filter_map(|line| line.split('\t').next());
        if names.any(|name| name.len() == 64 && is_commit(name)) { Self::Sha256 } else { Self::Sha1 }
    }

    /// The format of a cache with this `config`, which git wrote.
    fn of_config(text: &str) -> Self {
        if text.contains("sha256") { Self::Sha256 } else { Self::Sha1 }
    }

    /// Its name for git.
    fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }
}

impl Remote {
    /// The addresses at which the repository may be. kpt records an address without `.git`, which not every server takes.
    fn urls(&self) -> Vec<String> {
        let bare = self.given.trim_end_matches('/');
        let mut all = vec![self.given.clone()];
        all.extend((!bare.ends_with(".git")).then(|| format!("{bare}.git")));
        all
    }

    fn url(&self) -> String {
        self.url.get().unwrap_or(&self.given).clone()
    }
}

/// Makes an empty repository without templates, which may have hooks. git holds the lock as long as it runs.
fn init(folder: &Path, lock: &File, format: ObjectFormat) -> Result<()> {
    let mut git = git(In::Own(folder));
    git.args(["init", "--quiet", "--bare", "--template="]).arg(format!("--object-format={}", format.name()));
    let output = program::fed(git.stdout(lock.try_clone()?), b"")?;
    if !output.status.success() {
        let words = program::words(&output);
        cache::check_not_full(&words)?;
        bail!("{}: {words}", shown(folder));
    }
    Ok(())
}

/// The name of the cache of a repository: one that people recognise, and one that is of this address alone. A repository is the same with
/// and without `.git`, as git finds it, unless there is a folder of either name.
fn name_of(url: &str) -> String {
    let url = url.trim_end_matches('/');
    let bare = url.strip_suffix(".git").unwrap_or(url);
    let url = if Path::new(bare.strip_prefix("file://").unwrap_or(bare)).exists() { url } else { bare };
    let last = bare.rsplit(['/', ':']).next().unwrap_or_default();
    let word: String = last.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(40).collect();
    let hash: String = disk::hash(url.as_bytes()).chars().take(16).collect();
    format!("{word}-{hash}")
}

#[cfg(all(test, unix))]
mod tests;
