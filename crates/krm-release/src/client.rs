//! The three questions.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use krm_names::shown;

use crate::chart::{Chart, Repositories};
use crate::digest;
use crate::image::Image;
use crate::login::Logins;
use crate::oci::{Registries, Registry};
use crate::page;
use crate::unpack::{LIMITS, Root, unpack};
use crate::upstream::{Fetched, Listed, Upstream};
use crate::web::{TIMES, Times, Web};

/// Asks servers for releases. It keeps connections, tokens and lists, so one client is for the whole run.
#[derive(Debug)]
pub struct Client {
    web: Web,
    logins: Logins,
    repositories: Repositories,
    registry: Registry,
    /// What the last question for a digest fetched, by its address and name: mostly its files are asked for next.
    last: Mutex<Option<(String, String, Vec<u8>)>>,
}

impl Client {
    /// A client with the logins of the user. `cache` is the folder for lists of repositories, which must exist.
    pub fn new(cache: &Path, registries: Registries) -> Self {
        Self::with(cache, registries, Logins::of_user(), TIMES)
    }

    pub(crate) fn with(cache: &Path, registries: Registries, logins: Logins, times: Times) -> Self {
        let (repositories, registry) = (Repositories::new(cache.to_owned()), Registry::new(registries));
        Self { web: Web::new(times), logins, repositories, registry, last: Mutex::default() }
    }

    /// The releases of an upstream, in no order. An address has no list; [`Upstream::git`] may have its tags.
    ///
    /// # Errors
    /// The server does not answer, refuses, or has no such chart or artifact.
    pub fn releases(&self, upstream: &Upstream) -> Result<Vec<Listed>> {
        upstream.check()?;
        match upstream {
            Upstream::Chart { repo, name } => self.repositories.versions(&self.web, &self.logins, Chart { repo, name }),
            Upstream::Oci { image } => self.registry.tags(&self.web, &self.logins, &Image::read(image)?),
            Upstream::Http { .. } => Ok(Vec::new()),
        }
    }

    /// What a release is exactly: a sha256 of 64 hex digits. For a chart it is that of its archive, for an artifact that of its manifest, and
    /// for an address that of the file there. `name` is a version or a tag, for an artifact also `sha256:…`. An address without `{ref}` needs none.
    ///
    /// # Errors
    /// Those of [`Client::releases`], or it has no such release.
    pub fn digest(&self, upstream: &Upstream, name: &str) -> Result<String> {
        upstream.check()?;
        match upstream {
            Upstream::Chart { repo, name: chart } => {
                let chart = Chart { repo, name: chart };
                match self.repositories.listed_digest(&self.web, &self.logins, chart, name)? {
                    Some(digest) => Ok(digest),
                    None => Ok(self.archive(chart, name)?.digest),
                }
            }
            Upstream::Oci { image } => self.registry.digest(&self.web, &self.logins, &Image::read(image)?, name),
            Upstream::Http { url } => {
                let bytes = page::bytes(&self.web, &self.logins, url, name)?;
                let digest = digest::of(&bytes);
                *self.last() = Some((url.clone(), name.to_owned(), bytes));
                Ok(digest)
            }
        }
    }

    /// The files of a release. A chart is the root of its files. If `digest` is given, the release must be that.
    ///
    /// # Errors
    /// Those of [`Client::digest`]; the bytes have another digest; or it holds what a release must not hold.
    pub fn files(&self, upstream: &Upstream, name: &str, digest: Option<&str>) -> Result<Fetched> {
        upstream.check()?;
        let told = || match upstream {
            Upstream::Http { url } => format!("\"{}\"", shown::line(url)),
            _ => format!("\"{}\" of \"{upstream}\"", shown::line(name)),
        };
        let wanted = |found: &str| match digest {
            Some(wanted) => digest::check(found, wanted, &told(), "was named"),
            None => Ok(()),
        };
        match upstream {
            Upstream::Chart { repo, name: chart } => {
                let archive = self.archive(Chart { repo, name: chart }, name)?;
                wanted(&archive.digest)?;
                let files = unpack(&archive.bytes, Root::Chart, LIMITS).with_context(told)?;
                Ok(Fetched { digest: archive.digest, files })
            }
            Upstream::Oci { image } => {
                // A tag may have moved since.
                let exact = digest.map(|digest| format!("sha256:{digest}"));
                let name = exact.as_deref().unwrap_or(name);
                let layer = self.registry.layer(&self.web, &self.logins, &Image::read(image)?, name)?;
                wanted(&layer.manifest)?;
                let files = unpack(&layer.bytes, layer.root, LIMITS).with_context(told)?;
                Ok(Fetched { digest: layer.manifest, files })
            }
            Upstream::Http { url } => {
                let last = self.last().take_if(|(address, of, _)| (&*address, of.as_str()) == (url, name));
                let bytes = match last {
                    Some((.., bytes)) => bytes,
                    None => page::bytes(&self.web, &self.logins, url, name)?,
                };
                wanted(&digest::of(&bytes))?;
                page::files(url, bytes).with_context(told)
            }
        }
    }

    /// Whether an address is that of a chart repository, so that it has an `index.yaml`.
    ///
    /// # Errors
    /// The server does not answer, or refuses.
    pub fn is_chart_repository(&self, repo: &str) -> Result<bool> {
        Ok(self.repositories.list(&self.web, &self.logins, repo)?.is_some())
    }

    fn last(&self) -> MutexGuard<'_, Option<(String, String, Vec<u8>)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn archive(&self, chart: Chart<'_>, version: &str) -> Result<crate::chart::Archive> {
        self.repositories.archive(&self.web, &self.logins, &self.registry, chart, version)
    }
}
