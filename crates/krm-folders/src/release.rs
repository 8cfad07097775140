//! A release of upstream, as a side of a merge: the files of a folder of it, without a checkout.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use krm_files::credentials;
use krm_files::walk::{Tree, absent};
use krm_git::address::{self, FORM, ReleaseAddress, Repo};
use krm_git::found::{AtPath, Entry, EntryKind};
use krm_git::program;
use krm_git::refs::State;
use krm_git::store::{Network, Store};
use krm_git::tree::{self, Raw};
use krm_job::event::WhyUnread;
use krm_job::forms::at;
use krm_names::shown;

use crate::held::{Before, Held};
use crate::side::{Side, Unread};
use crate::sources;

/// Opens what has releases. `folder` is the folder in which `.git` is looked for.
///
/// # Errors
/// The errors of [`Store::open`].
pub fn open(repo: &Repo, folder: &Path, network: Network) -> Result<Store> {
    match sources::of(repo)? {
        Some(source) => Store::of_source(repo, source, network),
        None => Store::open(repo, folder, network),
    }
}

/// Reads the side at an address, for a path that does not exist on disk. `of` is the flag or the argument with this path, and `before` is what was
/// read before.
///
/// # Errors
/// The path is no address, so `why` is the error; or the release cannot be read.
pub fn side_at(of: &str, path: &str, why: io::Error, before: &Before<'_>) -> Result<Side> {
    if !ReleaseAddress::is_meant(path) {
        if why.kind() == io::ErrorKind::NotFound && is_ref_here(path) {
            bail!(
                "`{of}` \"{path}\" must be a path, but it is a tag, branch or commit of the repository that you stand in: write `.git/DIRECTORY@{path}`, or `.git@{path}` for its root"
            );
        }
        let what = format!("a file, a folder, or a release in git: {FORM}");
        let may_be_release = path.contains(['@', ':']);
        let what = if may_be_release { &what } else { "a file or a folder" };
        return Err(absent(of, what, Path::new(&credentials::hidden(path)), why));
    }
    let address = ReleaseAddress::parse(path)?;
    let address = sources::settled(address, Network::Online)?;
    let store = open(&address.repo, Path::new("."), Network::Online)?;
    let state = store.state(&address)?;
    let name = path.to_owned();
    match read(&store, &address, &state, before).with_context(|| name.clone())? {
        Read::File(bytes) => Side::of_file(name, bytes),
        Read::Folder(files, unread) => Side::of_release(name, files, unread, before),
    }
}

/// Whether a text names a tag, branch or commit of the repository that one stands in.
fn is_ref_here(text: &str) -> bool {
    let is_name = address::check_name(text).is_ok();
    let mut git = program::git(program::In::Around(Path::new(".")));
    git.args(["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{text}^{{commit}}")]);
    is_name && program::run(&mut git, b"").is_ok()
}

/// The side of a release that a package gets. A release that is one file is a folder with this file alone. `name` is its name for messages, and
/// `before` is what was read before.
///
/// # Errors
/// The commit or its files cannot be fetched or read; or the directory is not there.
pub fn package(
    store: &Store,
    address: &ReleaseAddress,
    state: &State,
    name: String,
    before: &Before<'_>,
) -> Result<Side> {
    let (files, unread) = match read(store, address, state, before).with_context(|| name.clone())? {
        Read::Folder(files, unread) => (files, unread),
        Read::File(bytes) => {
            let path = address.directory.rsplit('/').next().unwrap_or_default().to_owned();
            (vec![Raw { path, bytes, object: None, is_executable: false }], Unread::default())
        }
    };
    Side::of_release(name, files, unread, before)
}

/// The files of a release, each with its path and its bytes, as they are.
///
/// # Errors
/// The commit or its files cannot be fetched or read; or the directory is not there, or is a file.
pub fn files_of(store: &Store, address: &ReleaseAddress, state: &State) -> Result<Vec<Raw>> {
    match &*found(store, address, state)? {
        AtPath::File(_) => bail!("\"{}\" of \"{}\" must be a directory", address.directory, address.repo),
        AtPath::Folder(entries) => tree::files(store, entries, |_| None),
    }
}

/// The files of a release that is a chart, by their paths in it, for helm.
///
/// # Errors
/// The commit or its files cannot be fetched or read; the directory is not there; or what helm would read is a link.
pub fn chart_files(store: &Store, address: &ReleaseAddress, state: &State) -> Result<BTreeMap<String, Vec<u8>>> {
    let chart = found(store, address, state)?;
    let entries: &[Entry] = if let AtPath::Folder(entries) = &*chart { entries } else { &[] };
    let is_read = |path: &str| {
        let folder = path.split('/').next().unwrap_or_default();
        ["templates", "crds", "charts", "Chart.yaml", "values.yaml"].contains(&folder)
    };
    let is_link = |entry: &&Entry| matches!(entry.kind, EntryKind::Link | EntryKind::Submodule);
    if let Some(link) = entries.iter().filter(is_link).find(|entry| is_read(&entry.path)) {
        let path = shown::name(&link.path);
        bail!(
            "a chart that helm renders must have files only, but {path} is a link or a submodule, which is not followed"
        );
    }
    let raw = files_of(store, address, state)?;
    Ok(raw.into_iter().map(|raw| (raw.path, raw.bytes)).collect())
}

/// A file of a release, whatever part of it a package takes; `None` if there is none.
///
/// # Errors
/// The release or the file cannot be fetched.
pub fn file(store: &Store, address: &ReleaseAddress, state: &State, path: &str) -> Result<Option<Vec<u8>>> {
    let whole = ReleaseAddress { directory: path.to_owned(), ..address.clone() };
    match looked_up(store, &whole, state)?.as_deref() {
        Some(AtPath::File(object)) => tree::read_file(store, object).map(Some),
        Some(AtPath::Folder(_)) | None => Ok(None),
    }
}

/// What a release holds.
enum Read {
    File(Vec<u8>),
    Folder(Vec<Raw>, Unread),
}

/// What is at the directory of an address in a release, with all of its files in the store.
fn found(store: &Store, address: &ReleaseAddress, state: &State) -> Result<Rc<AtPath>> {
    let missing = || {
        anyhow!(
            "\"{}\" must have \"{}\" in {}, and has not: if it moved, name the new directory",
            address.repo,
            address.directory,
            state.name
        )
    };
    looked_up(store, address, state)?.ok_or_else(missing)
}

/// The same; `None` if nothing is there.
fn looked_up(store: &Store, address: &ReleaseAddress, state: &State) -> Result<Option<Rc<AtPath>>> {
    let gone = store.fetch(&[state.commit.clone()].into())?;
    if let Some(why) = gone.get(&state.commit) {
        bail!("the {} cannot be fetched: {why}", address.repo.exact(&state.commit));
    }
    let found = tree::find(store, &state.commit, &address.directory)?;
    found.iter().try_for_each(|found| store.fetch_files(&found.objects()))?;
    Ok(found)
}

fn read(store: &Store, address: &ReleaseAddress, state: &State, before: &Before<'_>) -> Result<Read> {
    match &*found(store, address, state)? {
        AtPath::File(object) => tree::read_file(store, object).map(Read::File),
        AtPath::Folder(entries) => files(store, entries, before).map(|(files, unread)| Read::Folder(files, unread)),
    }
}

/// The files of a folder, and which are not read. git is not asked for a file that `before` has at the same path.
fn files(store: &Store, entries: &[Entry], before: &Before<'_>) -> Result<(Vec<Raw>, Unread)> {
    let known = |entry: &Entry| {
        let is_here = |held: &&Held| held.is_object(&entry.object);
        let held = before.iter().find_map(|files| at(files, &entry.path).filter(is_here))?;
        Some(held.bytes().map(Cow::into_owned))
    };
    let mut raw = tree::files(store, entries, known)?;
    let rules = Tree::rules_in(raw.iter().map(|raw| (raw.path.as_str(), raw.bytes.as_slice())))?;
    let mut unread = Unread::default();
    for entry in entries {
        match entry.kind {
            _ if rules.ignores(&entry.path) => unread.add(entry.path.clone(), WhyUnread::Ignored),
            EntryKind::Submodule => unread.add(entry.path.clone(), WhyUnread::Submodule),
            EntryKind::Link => unread.add(entry.path.clone(), WhyUnread::Link),
            EntryKind::File | EntryKind::Executable => {}
        }
    }
    raw.retain(|raw| !rules.ignores(&raw.path));
    Ok((raw, unread))
}
