//! The charts below overlays: which release lies below, which one could, and what is in it. Each release is fetched and read once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Result, anyhow, bail};
use krm_files::errors;
use krm_folders::{release, sources};
use krm_git::address::ReleaseAddress;
use krm_git::refs::State;
use krm_git::store::{Network, Store};
use krm_names::file_path::is_within;
use krm_overlay::{Below, Chart, ChartSource};
use krm_yaml::Document;

use super::tree::Tree;
use crate::helm::{ChartOnDisk, Helm};
use crate::upgrade::chart::{address, meant};
use crate::upgrade::{Came, DirectoryAt, MayRender, Stores, newest};

/// The charts of a run.
pub struct Charts {
    stores: RefCell<Stores>,
    /// The folder in which `.git` is looked for.
    folder: PathBuf,
    /// The charts by where they come from, and by their commits or digests.
    read: Known<(ChartSource, String), Rc<Loaded>>,
    /// The newest releases by where they come from, and by the release that somebody has.
    newest: Known<(ChartSource, String), State>,
    /// The releases by where they come from, and by the wish for them.
    wished: Known<(ChartSource, Option<String>), State>,
    /// What renders the charts, if somebody wants that.
    helm: Option<&'static Helm>,
}

/// A chart that was read.
pub struct Loaded {
    /// What its files say.
    pub chart: Chart,
    /// Its files for helm, if helm is asked.
    pub rendered: Option<ForHelm>,
}

/// The files of a chart for helm.
pub struct ForHelm {
    /// As they came.
    pub on_disk: ChartOnDisk,
    /// Their texts, those of packed charts included.
    pub texts: Vec<String>,
}

/// What somebody asked for once, or why nobody gets it.
pub struct Known<K, T>(RefCell<BTreeMap<K, Result<T, String>>>);

impl<K, T> Default for Known<K, T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: Ord, T: Clone> Known<K, T> {
    pub fn get(&self, key: K, ask: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone().map_err(|why| anyhow!(why));
        }
        let found = ask().map_err(|e| errors::chain(&e));
        self.0.borrow_mut().insert(key, found.clone());
        found.map_err(|why| anyhow!(why))
    }
}

/// A release of a chart.
#[derive(Clone, Debug)]
pub struct Release {
    /// Its version.
    pub version: String,
    source: ChartSource,
    state: State,
}

impl Release {
    /// The digest, if it is that of a registry.
    pub fn digest(&self) -> Option<&str> {
        matches!(self.source, ChartSource::Oci(_)).then_some(self.state.commit.as_str())
    }

    /// Whether two releases are the same.
    pub fn is(&self, other: &Self) -> bool {
        self.source == other.source && self.state.reference == other.state.reference
    }
}

impl Charts {
    /// The charts for the files around a folder.
    pub fn new(folder: &Path, network: Network, helm: Option<&'static Helm>) -> Self {
        Self {
            stores: RefCell::new(Stores::new(network, MayRender::No)),
            folder: folder.to_owned(),
            read: Known::default(),
            newest: Known::default(),
            wished: Known::default(),
            helm,
        }
    }

    /// The release that lies below; `None` if that is a chart among the files.
    ///
    /// # Errors
    /// Nobody has it, or nobody can be asked.
    pub fn has(&self, below: &Below) -> Result<Option<Release>> {
        let wish = below.locked.as_deref().or(below.version.as_ref().map(|version| version.text.as_str()));
        self.wished(&below.source, wish)
    }

    /// The release of a name.
    ///
    /// # Errors
    /// Nobody has it, or nobody can be asked.
    pub fn wished(&self, source: &ChartSource, wish: Option<&str>) -> Result<Option<Release>> {
        if matches!(source, ChartSource::Folder(_) | ChartSource::Packed(_)) {
            return Ok(None);
        }
        let key = (source.clone(), wish.map(str::to_owned));
        let state = self.wished.get(key, || self.look(source, wish))?;
        Ok(Some(Release { version: state.name.clone(), source: source.clone(), state }))
    }

    fn look(&self, source: &ChartSource, wish: Option<&str>) -> Result<State> {
        let (store, address) = self.open(source)?;
        meant(&store, &address, wish).map(|(_, state)| state)
    }

    /// The newest release after one; that one, if it is the newest.
    ///
    /// # Errors
    /// Nobody can be asked.
    pub fn newest(&self, from: &Release) -> Result<Release> {
        let key = (from.source.clone(), from.state.reference.clone());
        let state = self.newest.get(key, || self.look_for_newest(from))?;
        Ok(Release { version: state.name.clone(), state, ..from.clone() })
    }

    fn look_for_newest(&self, from: &Release) -> Result<State> {
        let (store, address) = self.open(&from.source)?;
        let at = DirectoryAt { store: Rc::clone(&store), address };
        let next = newest(&at, Some(Came { state: &from.state, at: &at.address }), None)?;
        store.resolved(next.map_or_else(|| from.state.clone(), |next| next.state))
    }

    /// A chart of a release.
    ///
    /// # Errors
    /// It cannot be fetched, or it is no chart.
    pub fn of_release(&self, release: &Release) -> Result<Rc<Loaded>> {
        let key = (release.source.clone(), release.state.commit.clone());
        let read = || {
            let (store, address) = self.open(&release.source)?;
            let files = release::files_of(&store, &address, &release.state)?;
            self.load(files.into_iter().map(|file| (file.path, file.bytes)).collect())
        };
        self.read.get(key, read)
    }

    /// A chart among the files of a tree.
    ///
    /// # Errors
    /// It is not there, or it is no chart.
    pub fn of_tree(&self, tree: &Tree, source: &ChartSource) -> Result<Rc<Loaded>> {
        match source {
            ChartSource::Folder(folder) => self.load(tree.folder(folder)?),
            ChartSource::Packed(path) => self.load(tree.packed(path)?),
            _ => bail!("the chart must be among the files"),
        }
    }

    fn load(&self, files: BTreeMap<String, Vec<u8>>) -> Result<Rc<Loaded>> {
        let on_disk = self.helm.map(|helm| helm.chart(&files)).transpose()?;
        let files = unpacked(files)?;
        let chart = Chart::read(&files)?;
        let rendered = on_disk.map(|on_disk| {
            let texts = files.into_values().filter_map(|bytes| String::from_utf8(bytes).ok()).collect();
            ForHelm { on_disk, texts }
        });
        Ok(Rc::new(Loaded { chart, rendered }))
    }

    fn open(&self, source: &ChartSource) -> Result<(Rc<Store>, ReleaseAddress)> {
        let address = address(source)?;
        let store = self.stores.borrow_mut().get(&address.repo, &self.folder)?;
        Ok((store, address))
    }
}

/// How many packed charts a chart may have, those in packed charts included.
const MOST_PACKED: usize = 200;

/// The files of a chart. Charts that are packed in it are unpacked.
fn unpacked(mut files: BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, Vec<u8>>> {
    for _ in 0..=MOST_PACKED {
        let Some(path) = files.keys().find(|path| is_packed_subchart(path)).cloned() else { break };
        let bytes = files.remove(&path).unwrap_or_default();
        let (folder, file) = path.rsplit_once('/').unwrap_or_default();
        let unpacked = sources::packed_chart(&bytes).map_err(|e| anyhow!("{path}: {}", errors::chain(&e)))?;
        let own = unpacked.iter().find(|file| file.path == "Chart.yaml");
        let own = own.and_then(|own| Document::parse(String::from_utf8_lossy(&own.bytes).into_owned()).ok());
        let own = own.as_ref().and_then(|own| own.roots().next()?.get("name")?.as_str());
        let name = own.filter(|name| is_within(name)).unwrap_or_else(|| file.trim_end_matches(".tgz"));
        let below = |file: krm_git::source::ReleaseFile| (format!("{folder}/{name}/{}", file.path), file.bytes);
        files.extend(unpacked.into_iter().map(below));
    }
    Ok(files)
}

fn is_packed_subchart(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(folder, file)| folder.ends_with("charts") && file.ends_with(".tgz"))
}
