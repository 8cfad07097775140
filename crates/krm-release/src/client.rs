//! The three questions, for each kind of source.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use krm_git::address::{Chart, Repo};
use krm_git::source::{Exact, Listed, ReleaseFile, Releases, Source, tags_of};
use krm_names::shown;

use crate::chart::Repositories;
use crate::digest;
use crate::image::Image;
use crate::login::Logins;
use crate::oci::{Registries, Registry};
use crate::page;
use crate::unpack::{LIMITS, Root, unpack};
use crate::web::{TIMES, Times, Web};

/// Asks servers for releases. It keeps connections, tokens and lists, so one client is for the whole run.
#[derive(Debug)]
pub struct Client {
    web: Web,
    logins: Logins,
    repositories: Repositories,
    registry: Registry,
    /// The releases of the files of a repository of git: each is asked for once.
    tags: Mutex<BTreeMap<String, Vec<Listed>>>,
}

impl Client {
    /// A client with the logins of the user. `cache` is the folder for lists of repositories, which must exist.
    pub fn new(cache: &Path, registries: Registries) -> Self {
        Self::with(cache, registries, Logins::of_user(), TIMES)
    }

    pub(crate) fn with(cache: &Path, registries: Registries, logins: Logins, times: Times) -> Self {
        let (repositories, registry) = (Repositories::new(cache.to_owned()), Registry::new(registries));
        Self { web: Web::new(times), logins, repositories, registry, tags: Mutex::default() }
    }

    /// Who is asked for the releases; `None` if git is.
    ///
    /// # Errors
    /// The name of an image is none.
    pub fn source(self: &Arc<Self>, repo: &Repo) -> Result<Option<Rc<dyn Source>>> {
        let client = Arc::clone(self);
        Ok(match repo {
            Repo::Here | Repo::Remote(_) => None,
            Repo::Chart(chart) => Some(Rc::new(OfChart { client, chart: chart.clone() })),
            Repo::Oci(image) => Some(Rc::new(OfImage { client, image: Image::read(image)? })),
            Repo::Http(url) => Some(Rc::new(OfAddress { client, url: url.clone() })),
        })
    }

    /// Whether an address is that of a chart repository, so that it has an `index.yaml`.
    ///
    /// # Errors
    /// The server does not answer, or refuses.
    pub fn is_chart_repository(&self, repo: &str) -> Result<bool> {
        Ok(self.repositories.list(&self.web, &self.logins, repo)?.is_some())
    }
}

/// A chart. What it is exactly is the digest of its archive.
#[derive(Debug)]
struct OfChart {
    client: Arc<Client>,
    chart: Chart,
}

impl OfChart {
    /// The files of a version, and the digest of its archive.
    fn fetched(&self, version: &str) -> Result<(String, Vec<ReleaseFile>)> {
        let Client { web, logins, repositories, registry, .. } = &*self.client;
        let archive = repositories.archive(web, logins, registry, &self.chart, version)?;
        let told = || format!("\"{}\" of \"{}\"", shown::line(version), Repo::Chart(self.chart.clone()));
        let files = unpack(&archive.bytes, Root::Chart, LIMITS).with_context(told)?;
        Ok((archive.digest, files))
    }
}

impl Source for OfChart {
    fn releases(&self) -> Result<Releases> {
        let Client { web, logins, repositories, .. } = &*self.client;
        repositories.versions(web, logins, &self.chart).map(Releases::Listed)
    }

    fn exact(&self, name: &str) -> Result<Option<Exact>> {
        let Client { web, logins, repositories, .. } = &*self.client;
        let Some(version) = repositories.version(web, logins, &self.chart, name)? else { return Ok(None) };
        if let Some(digest) = version.digest() {
            return Ok(Some(Exact { digest, files: None }));
        }
        let (digest, files) = self.fetched(name)?;
        Ok(Some(Exact { digest, files: Some(files) }))
    }

    fn files(&self, name: Option<&str>, digest: &str) -> Result<Vec<ReleaseFile>> {
        let name = name.with_context(|| {
            let chart = Repo::Chart(self.chart.clone());
            format!("\"{chart}\" must list the version with this digest, and does not")
        })?;
        let (found, files) = self.fetched(name)?;
        let told = format!("\"{}\" of \"{}\"", shown::line(name), Repo::Chart(self.chart.clone()));
        digest::check(&found, digest, &told, "was named").map(|()| files)
    }
}

/// An image of a registry. What it is exactly is the digest of its manifest.
#[derive(Debug)]
struct OfImage {
    client: Arc<Client>,
    image: Image,
}

impl Source for OfImage {
    fn releases(&self) -> Result<Releases> {
        let Client { web, logins, registry, .. } = &*self.client;
        registry.tags(web, logins, &self.image)
    }

    fn exact(&self, name: &str) -> Result<Option<Exact>> {
        let Client { web, logins, registry, .. } = &*self.client;
        let digest = registry.digest(web, logins, &self.image, name)?;
        Ok(digest.map(|digest| Exact { digest, files: None }))
    }

    // A tag may be another release by now.
    fn files(&self, _name: Option<&str>, digest: &str) -> Result<Vec<ReleaseFile>> {
        let Client { web, logins, registry, .. } = &*self.client;
        let name = format!("sha256:{digest}");
        let layer = registry.layer(web, logins, &self.image, &name)?;
        unpack(&layer.bytes, layer.root, LIMITS).with_context(|| format!("\"{name}\" of {}", self.image))
    }
}

/// A file or an archive at an address. What it is exactly is its own digest.
#[derive(Debug)]
struct OfAddress {
    client: Arc<Client>,
    url: String,
}

impl OfAddress {
    fn fetched(&self, name: &str) -> Result<Option<(String, Vec<ReleaseFile>)>> {
        let Client { web, logins, .. } = &*self.client;
        let Some(bytes) = page::bytes(web, logins, &self.url, name)? else { return Ok(None) };
        let digest = digest::of(&bytes);
        let files = page::files(&self.url, bytes).with_context(|| format!("\"{}\"", shown::line(&self.url)))?;
        Ok(Some((digest, files)))
    }
}

impl Source for OfAddress {
    fn releases(&self) -> Result<Releases> {
        let Some(repository) = page::repository(&self.url) else { return Ok(Releases::Unlisted) };
        let mut known = self.client.tags.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tags) = known.get(&repository) {
            return Ok(Releases::Listed(tags.clone()));
        }
        let tags = tags_of(&repository)?;
        known.insert(repository, tags.clone());
        Ok(Releases::Listed(tags))
    }

    fn exact(&self, name: &str) -> Result<Option<Exact>> {
        Ok(self.fetched(name)?.map(|(digest, files)| Exact { digest, files: Some(files) }))
    }

    fn files(&self, name: Option<&str>, digest: &str) -> Result<Vec<ReleaseFile>> {
        let told = format!("\"{}\"", shown::line(&self.url));
        let found = name.map(|name| self.fetched(name)).transpose()?.flatten();
        let (found, files) = found.with_context(|| format!("{told} must have this release, and has not"))?;
        digest::check(&found, digest, &told, "was named").map(|()| files)
    }
}
