//! The bases below kustomizations: which release an address means, which one comes next, and the files of both.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use krm_files::errors;
use krm_git::address::{ReleaseAddress, Repo};
use krm_git::found::AtPath;
use krm_git::refs::{RefKind, State, is_commit};
use krm_git::store::{Network, Store};
use krm_git::tree as git_tree;
use krm_git::versions::split;
use krm_overlay::{Address, BaseFiles, Released};
use krm_yaml::{Document, Edit};

use super::charts::Known;
use super::tree::Tree;
use crate::upgrade::{Came, DirectoryAt, MayRender, Stores, newest};

/// A parsed file; `None` if there is none.
type Parsed = Result<Option<Rc<Document<'static>>>, String>;

/// The releases of a run.
pub struct Releases {
    stores: RefCell<Stores>,
    /// The folder in which `.git` is looked for.
    folder: PathBuf,
    /// The release that the user names.
    to: Option<String>,
    states: Known<String, State>,
    newest: Known<(String, String), State>,
    files: RefCell<BTreeMap<(Repo, String), Rc<ReleaseFiles>>>,
    /// Whoever gives itself to the files of a release.
    own: std::rc::Weak<Self>,
}

impl Releases {
    /// The releases for the files around a folder. `to` is the one that the user names.
    pub fn new(folder: PathBuf, network: Network, to: Option<String>) -> Rc<Self> {
        Rc::new_cyclic(|own| Self {
            stores: RefCell::new(Stores::new(network, MayRender::No)),
            folder,
            to,
            states: Known::default(),
            newest: Known::default(),
            files: RefCell::default(),
            own: own.clone(),
        })
    }

    fn open(&self, repo: &Repo) -> Result<Rc<Store>> {
        self.stores.borrow_mut().get(repo, &self.folder)
    }

    fn state(&self, address: &ReleaseAddress) -> Result<State> {
        self.states.get(address.to_string(), || self.open(&address.repo)?.state(address))
    }

    /// The release that comes next; the same if there is none, or if the address names a branch.
    fn next(&self, address: &ReleaseAddress, from: &State) -> Result<State> {
        if let Some(to) = &self.to {
            return self.state(&address.named(to)?);
        }
        let floats = from.kind == RefKind::Branch
            || address.reference.is_none()
            || split(&from.reference).is_none() && !is_commit(&from.reference);
        if floats {
            return Ok(from.clone());
        }
        self.newest.get((address.to_string(), from.reference.clone()), || {
            let store = self.open(&address.repo)?;
            let at = DirectoryAt {
                store: Rc::clone(&store),
                address: ReleaseAddress { reference: None, ..address.clone() },
            };
            let next = newest(&at, Some(Came { state: from, at: &at.address }), None)?;
            store.resolved(next.map_or_else(|| from.clone(), |next| next.state))
        })
    }

    fn files(&self, address: &ReleaseAddress, state: &State) -> Result<Rc<ReleaseFiles>> {
        let key = (address.repo.clone(), state.commit.clone());
        if let Some(files) = self.files.borrow().get(&key) {
            return Ok(Rc::clone(files));
        }
        let store = self.open(&address.repo)?;
        if let Some(why) = store.fetch(&[state.commit.clone()].into())?.get(&state.commit) {
            bail!("the {} cannot be fetched: {why}", address.repo.exact(&state.commit));
        }
        let found = git_tree::find(&store, &state.commit, "")?.context("a release must have files")?;
        let entries = match &*found {
            AtPath::Folder(entries) => entries
                .iter()
                .filter(|entry| entry.kind.is_file())
                .map(|entry| (entry.path.clone(), entry.object.clone()))
                .collect(),
            AtPath::File(object) => [(String::new(), object.clone())].into(),
        };
        let releases = self.own.upgrade().context("the run must go on")?;
        let files = ReleaseFiles { store, entries, releases, parsed: RefCell::default(), fetched: RefCell::default() };
        let files = Rc::new(files);
        self.files.borrow_mut().insert(key, Rc::clone(&files));
        Ok(files)
    }

    fn released(&self, address: &ReleaseAddress, state: &State) -> Result<Released> {
        let files = self.files(address, state)?;
        // The address of a file has no directory, and its release has the file alone.
        let only = match (&address.repo, files.entries.keys().collect::<Vec<_>>().as_slice()) {
            (Repo::Http(_), [only]) if address.directory.is_empty() => Some((*only).clone()),
            _ => None,
        };
        let path = only.unwrap_or_else(|| address.directory.clone());
        Ok(Released { files, path, name: address.repo.to_string().into() })
    }
}

/// The files of a release.
struct ReleaseFiles {
    store: Rc<Store>,
    /// The objects of the files, by their paths.
    entries: BTreeMap<String, String>,
    releases: Rc<Releases>,
    parsed: RefCell<BTreeMap<String, Parsed>>,
    /// The folders whose files are here.
    fetched: RefCell<BTreeSet<String>>,
}

impl ReleaseFiles {
    fn read(&self, path: &str) -> Result<Option<String>> {
        let Some(object) = self.entries.get(path) else { return Ok(None) };
        let folder = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        if self.fetched.borrow_mut().insert(folder(path)) {
            // A kustomization mostly names the files beside it, and one request is faster than many.
            let is_beside = |other: &str| {
                folder(other) == folder(path)
                    && [".yaml", ".yml", ".json", "Kustomization"].iter().any(|end| other.ends_with(end))
            };
            let beside = self.entries.iter().filter(|(other, _)| other.as_str() == path || is_beside(other));
            self.store.fetch_files(&beside.map(|(_, object)| object.clone()).collect())?;
        }
        self.store.fetch_files(&[object.clone()].into())?;
        Ok(Some(String::from_utf8(git_tree::read_file(&self.store, object)?).context("a file must be UTF-8")?))
    }
}

impl BaseFiles for ReleaseFiles {
    fn document(&self, path: &str) -> Parsed {
        parsed(&self.parsed, path, || self.read(path))
    }

    fn release(&self, address: &Address) -> Result<Released, String> {
        // A release names others as it was made.
        let found = || {
            let address = ReleaseAddress::parse(&address.text)?;
            // It must not name what only this machine has.
            if !is_remote(&address.repo) {
                bail!("a release must name other releases by `https://` or `ssh://`, not \"{}\"", address.repo);
            }
            self.releases.released(&address, &self.releases.state(&address)?)
        };
        found().map_err(|e| errors::chain(&e))
    }
}

fn is_remote(repo: &Repo) -> bool {
    match repo {
        Repo::Http(_) => true,
        Repo::Remote(url) => ["https://", "http://", "ssh://", "git@"].iter().any(|begin| url.starts_with(begin)),
        _ => false,
    }
}

fn parsed(
    known: &RefCell<BTreeMap<String, Parsed>>,
    path: &str,
    read: impl FnOnce() -> Result<Option<String>>,
) -> Parsed {
    if let Some(known) = known.borrow().get(path) {
        return known.clone();
    }
    let parse = |text: String| Document::parse(text).map(Rc::new).map_err(|e| format!("{path}: {e}"));
    let found = read().map_err(|e| errors::chain(&e)).and_then(|text| text.map(parse).transpose());
    known.borrow_mut().insert(path.to_owned(), found.clone());
    found
}

/// Which release of an address a tree has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    /// The one that it names.
    Named,
    /// The next one.
    Next,
}

/// The files of a tree, with releases below them.
pub struct TreeFiles<'t> {
    tree: &'t Tree,
    releases: Rc<Releases>,
    has: Has,
    parsed: RefCell<BTreeMap<String, Parsed>>,
    /// What was asked for: the version of each repository, by its name.
    asked: RefCell<BTreeMap<Rc<str>, String>>,
    /// The edits that raise an address, each with its file.
    raised: RefCell<Vec<(String, Edit)>>,
    /// What only a person can raise.
    by_hand: RefCell<BTreeSet<String>>,
}

impl<'t> TreeFiles<'t> {
    pub fn new(tree: &'t Tree, releases: &Rc<Releases>, has: Has) -> Self {
        Self {
            tree,
            releases: Rc::clone(releases),
            has,
            parsed: RefCell::default(),
            asked: RefCell::default(),
            raised: RefCell::default(),
            by_hand: RefCell::default(),
        }
    }

    /// The versions of the repositories that were asked for since the last time.
    pub fn asked(&self) -> BTreeMap<Rc<str>, String> {
        std::mem::take(&mut self.asked.borrow_mut())
    }

    /// The edits that raise what was asked for since the last time, each with its file; and what only a person can raise.
    pub fn raised(&self) -> (Vec<(String, Edit)>, BTreeSet<String>) {
        (std::mem::take(&mut self.raised.borrow_mut()), std::mem::take(&mut self.by_hand.borrow_mut()))
    }

    fn found(&self, written: &Address) -> Result<Released> {
        let address = ReleaseAddress::parse(&written.text)?;
        let named = self.releases.state(&address)?;
        let state = match self.has {
            Has::Named => named,
            Has::Next => {
                let next = self.releases.next(&address, &named)?;
                if next.reference != named.reference {
                    self.raise(written, &address, &next);
                }
                next
            }
        };
        let released = self.releases.released(&address, &state)?;
        self.asked.borrow_mut().insert(Rc::clone(&released.name), state.name);
        Ok(released)
    }

    fn raise(&self, written: &Address, address: &ReleaseAddress, next: &State) {
        let source = self.tree.texts.get(&written.file).and_then(|text| text.get(written.range.clone()));
        match source.and_then(|source| raised(source, &written.text, address, next)) {
            Some(text) => {
                self.raised.borrow_mut().push((written.file.clone(), Edit { range: written.range.clone(), text }))
            }
            None => {
                _ = self
                    .by_hand
                    .borrow_mut()
                    .insert(format!("{}: raise \"{}\" to {}", written.file, written.text, next.name))
            }
        }
    }
}

/// The source of a scalar with an address, raised to another release.
fn raised(source: &str, text: &str, address: &ReleaseAddress, next: &State) -> Option<String> {
    let old = address.reference.as_deref()?;
    let new = if is_commit(old) { &next.commit } else { &next.name };
    let wanted = address.named(new).ok()?;
    let is_wanted = |text: &str| ReleaseAddress::parse(text).is_ok_and(|found| found == wanted);
    let one = |at: usize| format!("{}{new}{}", &text[..at], &text[at + old.len()..]);
    let all = std::iter::once(text.replace(old, new));
    let raised = all.chain(text.rmatch_indices(old).map(|(at, _)| one(at))).find(|text| is_wanted(text))?;
    // The scalar has its quotes, and may have escapes.
    (source.matches(text).count() == 1).then(|| source.replace(text, &raised))
}

impl BaseFiles for TreeFiles<'_> {
    fn document(&self, path: &str) -> Parsed {
        parsed(&self.parsed, path, || self.tree.text(path))
    }

    fn release(&self, address: &Address) -> Result<Released, String> {
        self.found(address).map_err(|e| errors::chain(&e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_raised_where_its_release_stands() {
        for (text, want) in [
            ("https://github.com/a/b//d?ref=v1.0.0", "https://github.com/a/b//d?ref=v1.1.0"),
            ("github.com/a/b/d?timeout=90s&ref=v1.0.0", "github.com/a/b/d?timeout=90s&ref=v1.1.0"),
            ("git@github.com:a/b.git//v1.0.0?ref=v1.0.0", "git@github.com:a/b.git//v1.0.0?ref=v1.1.0"),
            (
                "https://raw.githubusercontent.com/a/b/v1.0.0/x.yaml",
                "https://raw.githubusercontent.com/a/b/v1.1.0/x.yaml",
            ),
            (
                "https://github.com/a/b/releases/download/v1.0.0/i-v1.0.0.yaml",
                "https://github.com/a/b/releases/download/v1.1.0/i-v1.1.0.yaml",
            ),
            ("https://example.com/v1.0.0/install.yaml", "https://example.com/v1.1.0/install.yaml"),
        ] {
            let address = ReleaseAddress::parse(text).expect(text);
            let commit = String::new();
            let next = State { name: "v1.1.0".to_owned(), reference: "v1.1.0".to_owned(), commit, kind: RefKind::Tag };
            let source = format!("\"{text}\"");
            assert_eq!(raised(&source, text, &address, &next), Some(format!("\"{want}\"")), "{text}");
        }
    }
}
