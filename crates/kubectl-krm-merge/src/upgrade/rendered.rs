//! A chart that helm renders, whose output is the release of a package.
//!
//! A chart is data, so it needs no more than the user's `--helm`. The values are files of the package, which stay local. They are those of
//! the package as it is, or as it was when it got the release that it has. Which chart that is, the source of the chart knows.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use krm_files::regular;
use krm_files::walk::shown;
use krm_folders::package::Package;
use krm_folders::record::{Lock, Render};
use krm_folders::release;
use krm_git::refs::State;

use super::aim::DirectoryAt;
use super::outputs::{MadeBefore, Outputs};
use crate::helm::{ChartOnDisk, Crds, Helm, Rendering, Values};

/// The largest values file, in bytes.
const MOST_OF_VALUES: u64 = 16 << 20;

/// Whether helm may render charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayRender {
    /// The user allows it.
    Yes,
    /// Only what the cache has is used.
    No,
}

impl MayRender {
    /// What the flag `--helm` says.
    pub fn of_flag(helm: bool) -> Self {
        if helm { Self::Yes } else { Self::No }
    }

    /// Checks that helm may render.
    ///
    /// # Errors
    /// It may not.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Yes => Ok(()),
            Self::No => bail!("the package is what helm makes of a chart. Pass `--helm` to allow it to run `helm`"),
        }
    }
}

/// A release of a chart.
#[derive(Clone, Debug)]
pub struct ChartAt {
    pub at: DirectoryAt,
    pub state: State,
}

/// What helm makes of the releases of a chart, for one package.
#[derive(Debug)]
pub struct Renderer {
    may: MayRender,
    render: Render,
    folder: PathBuf,
    charts: RefCell<BTreeMap<String, Rc<ChartOnDisk>>>,
    outputs: Outputs,
}

impl Renderer {
    /// The one of a package in a folder.
    pub fn new(render: &Render, folder: &Path, may: MayRender) -> Self {
        let (render, folder) = (render.clone(), folder.to_owned());
        Self { may, render, folder, charts: RefCell::default(), outputs: Outputs::default() }
    }

    /// Renders a release of the chart with the files of the package. The commit is the hash of the output.
    ///
    /// # Errors
    /// helm may not render, or refuses; or a values file cannot be read.
    pub fn state(&self, chart: &ChartAt) -> Result<State> {
        let commit = self.outputs.made(|| self.made(chart, &self.render, &self.folder))?;
        Ok(State { commit, ..chart.state.clone() })
    }

    /// The release that a package has, as helm made it.
    ///
    /// # Errors
    /// helm does not make it again.
    pub fn locked(&self, chart: &ChartAt, lock: &Lock) -> Result<State> {
        let release = lock.reference.as_str();
        let hash = lock.rendered.as_deref().unwrap_or(&lock.exact);
        let was = MadeBefore { release, hash, maker: "helm", folder: &self.folder };
        self.outputs.locked(was, |folder| {
            // What the record says today is no word about the past.
            let past = if folder == self.folder { None } else { Package::open(folder)?.record };
            let render = past.and_then(|record| record.render).unwrap_or_else(|| self.render.clone());
            self.made(chart, &render, folder)
        })?;
        Ok(State { commit: hash.to_owned(), ..chart.state.clone() })
    }

    fn made(&self, chart: &ChartAt, render: &Render, folder: &Path) -> Result<Vec<u8>> {
        self.may.check()?;
        let values = render.values.iter().map(|path| Ok((path.as_str(), values_text(folder, path)?)));
        let values = values.collect::<Result<Vec<_>>>()?;
        let values: Vec<Values<'_>> = values.iter().map(|(name, text)| Values { name, text }).collect();
        let chart_on_disk = self.chart(chart)?;
        let asked = Rendering {
            release: &render.release,
            namespace: render.namespace.as_deref(),
            values: &values,
            crds: if render.include_crds { Crds::Included } else { Crds::LeftOut },
            kube_version: render.kube_version.as_deref(),
            api_versions: &render.api_versions,
        };
        let with = || format!("{} with helm {}", chart.state.name, chart_on_disk.version());
        let text = chart_on_disk.render(&asked).with_context(with)?;
        Ok(text.into_bytes())
    }

    /// The chart as helm reads it, which is written once.
    fn chart(&self, ChartAt { at, state }: &ChartAt) -> Result<Rc<ChartOnDisk>> {
        let key = format!("{}:{}", state.commit, at.address.directory);
        if let Some(chart) = self.charts.borrow().get(&key) {
            return Ok(Rc::clone(chart));
        }
        let files = release::chart_files(&at.store, &at.address, state)?;
        let chart = Rc::new(Helm::on_path()?.chart(&files)?);
        self.charts.borrow_mut().insert(key, Rc::clone(&chart));
        Ok(chart)
    }

    /// The name of a release, for messages.
    pub fn name(&self, state: &State) -> String {
        format!("helm template {} {}", self.render.release, state.name)
    }

    /// What helm made.
    pub fn outputs(&self) -> &Outputs {
        &self.outputs
    }
}

/// The text of a values file of a package.
fn values_text(folder: &Path, path: &str) -> Result<String> {
    let file = folder.join(path);
    let read = || -> Result<String> {
        if !file.exists() {
            bail!("there must be the values file that `render.values` names");
        }
        let file = regular::within_of(&fs::canonicalize(folder)?, &file, MOST_OF_VALUES)?;
        String::from_utf8(fs::read(file)?).map_err(|_| anyhow!("it must be UTF-8"))
    };
    read().with_context(|| shown(&file))
}
