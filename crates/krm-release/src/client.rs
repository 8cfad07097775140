//! The three questions.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::upstream::{Fetched, Listed, Upstream};

/// How registries are spoken to. With `localhost` it is always plain HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Registries {
    /// By HTTPS.
    #[default]
    Https,
    /// By plain HTTP.
    Plain,
}

/// Asks servers for releases. It keeps connections, tokens and indexes, so one client is for the whole run.
#[derive(Debug)]
pub struct Client {
    /// The folder for what is kept of servers: indexes with their ETags.
    cache: PathBuf,
    registries: Registries,
}

impl Client {
    /// A client with the logins of the user. `cache` is the folder for indexes of repositories, which must exist.
    pub fn new(cache: &Path, registries: Registries) -> Self {
        Self { cache: cache.to_owned(), registries }
    }

    /// The releases of an upstream, in no order. An address has no list; [`Upstream::git`] may have its tags.
    ///
    /// # Errors
    /// The server does not answer, refuses, or has no such chart or artifact.
    pub fn releases(&self, upstream: &Upstream) -> Result<Vec<Listed>> {
        bail!("{upstream}: {:?} and {} cannot be read yet", self.registries, self.cache.display())
    }

    /// What a release is exactly: a sha256 of 64 hex digits. For a chart it is that of its archive, for an artifact that of its manifest, and
    /// for an address that of the file there. `name` is a version or a tag, for an artifact also `sha256:…`. An address without `{ref}` needs none.
    ///
    /// # Errors
    /// Those of [`Client::releases`], or it has no such release.
    pub fn digest(&self, upstream: &Upstream, name: &str) -> Result<String> {
        bail!("{upstream}: \"{name}\" cannot be read yet")
    }

    /// The files of a release. A chart is the root of its files. If `digest` is given, the release must be that.
    ///
    /// # Errors
    /// Those of [`Client::digest`]; the bytes have another digest; or it holds what a release must not hold.
    pub fn files(&self, upstream: &Upstream, name: &str, digest: Option<&str>) -> Result<Fetched> {
        bail!("{upstream}: \"{name}\" {digest:?} cannot be read yet")
    }

    /// Whether an address is that of a chart repository, so that it has an `index.yaml`.
    ///
    /// # Errors
    /// The server does not answer, or refuses.
    pub fn is_chart_repository(&self, repo: &str) -> Result<bool> {
        bail!("{repo} cannot be read yet")
    }
}
