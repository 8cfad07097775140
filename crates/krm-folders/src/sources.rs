//! What has releases and is no git repository: who is asked for it.

use std::rc::Rc;

use anyhow::Result;
use krm_git::address::{ReleaseAddress, Repo};
use krm_git::source::{ReleaseFile, Source};

#[cfg(feature = "releases")]
pub use asked::{of, packed_chart, settled, use_plain_http};

/// Makes the run ask registries without TLS.
#[cfg(not(feature = "releases"))]
pub fn use_plain_http() {}

/// Who is asked for the releases; `None` if git is.
///
/// # Errors
/// None.
#[cfg(not(feature = "releases"))]
pub fn of(_repo: &Repo) -> Result<Option<Rc<dyn Source>>> {
    Ok(None)
}

/// An address as it is meant.
///
/// # Errors
/// None.
#[cfg(not(feature = "releases"))]
pub fn settled(address: ReleaseAddress) -> Result<ReleaseAddress> {
    Ok(address)
}

/// The files of a packed chart.
///
/// # Errors
/// This program cannot unpack it.
#[cfg(not(feature = "releases"))]
pub fn packed_chart(_bytes: &[u8]) -> Result<Vec<ReleaseFile>> {
    anyhow::bail!("this program was built without `releases`, so it unpacks no chart")
}

#[cfg(feature = "releases")]
mod asked {
    use std::sync::OnceLock;

    use anyhow::Context;
    use krm_git::address::{Chart, is_web};
    use krm_git::cache;
    use krm_git::source::{Listed, Releases};
    use krm_release::{Client, Registries, Upstream};

    use super::{Rc, ReleaseAddress, ReleaseFile, Repo, Result, Source};

    /// A source, and the client that asks it.
    #[derive(Debug)]
    struct Asked {
        client: &'static Client,
        upstream: Upstream,
    }

    /// How the run asks registries, if the user says it.
    static REGISTRIES: OnceLock<Registries> = OnceLock::new();

    /// Makes the run ask registries without TLS.
    pub fn use_plain_http() {
        let _ = REGISTRIES.set(Registries::Plain);
    }

    /// The client of the whole run, which keeps connections and what it read.
    fn client() -> Result<&'static Client> {
        static CLIENT: OnceLock<Client> = OnceLock::new();
        if CLIENT.get().is_none() {
            let registries = REGISTRIES.get().copied().unwrap_or_default();
            let _ = CLIENT.set(Client::new(&cache::indexes()?, registries));
        }
        CLIENT.get().context("the client must be there")
    }

    /// Who is asked for the releases; `None` if git is.
    ///
    /// # Errors
    /// The cache cannot be made.
    pub fn of(repo: &Repo) -> Result<Option<Rc<dyn Source>>> {
        let upstream = match repo {
            Repo::Here | Repo::Remote(_) => return Ok(None),
            Repo::Chart(Chart { repo, name }) => Upstream::Chart { repo: repo.clone(), name: name.clone() },
            Repo::Oci(image) => Upstream::Oci { image: image.clone() },
            Repo::Http(url) => Upstream::Http { url: url.clone() },
        };
        upstream.check()?;
        Ok(Some(Rc::new(Asked { client: client()?, upstream })))
    }

    /// An address as it is meant: `REPO//NAME` is a chart if REPO is a repository of charts, or else a directory of a repository of git.
    ///
    /// # Errors
    /// The cache cannot be made.
    pub fn settled(address: ReleaseAddress) -> Result<ReleaseAddress> {
        let ReleaseAddress { repo, directory, reference } = &address;
        let Repo::Remote(url) = repo else { return Ok(address) };
        let is_git = !is_web(url) || url.ends_with(".git") || url.contains("://github.com/") || directory.is_empty();
        // Who does not answer is left to git, which may know a way.
        if is_git || !client()?.is_chart_repository(url).unwrap_or(false) {
            return Ok(address);
        }
        ReleaseAddress::in_chart(url, directory, reference.as_deref())
    }

    impl Source for Asked {
        fn releases(&self) -> Result<Releases> {
            if let Some(repository) = self.upstream.git() {
                return Ok(Releases::TagsOf(repository));
            }
            let listed = self.client.releases(&self.upstream)?.into_iter();
            Ok(Releases::Listed(listed.map(|listed| Listed { name: listed.name, digest: listed.digest }).collect()))
        }

        fn digest(&self, name: &str) -> Result<String> {
            self.client.digest(&self.upstream, name)
        }

        fn files(&self, name: Option<&str>, digest: &str) -> Result<Vec<ReleaseFile>> {
            let of_registry = format!("sha256:{digest}");
            // A tag may be another release by now.
            let name = if matches!(self.upstream, Upstream::Oci { .. }) { Some(of_registry.as_str()) } else { name };
            let name = name.with_context(|| format!("\"{}\" has no release with this digest", self.upstream))?;
            let files = self.client.files(&self.upstream, name, Some(digest))?.files.into_iter();
            Ok(files.map(of_git).collect())
        }
    }

    /// The files of a packed chart.
    ///
    /// # Errors
    /// It is broken or too large, or it is no chart.
    pub fn packed_chart(bytes: &[u8]) -> Result<Vec<ReleaseFile>> {
        Ok(krm_release::packed_chart(bytes)?.into_iter().map(of_git).collect())
    }

    fn of_git(file: krm_release::ReleaseFile) -> ReleaseFile {
        let krm_release::ReleaseFile { path, bytes, is_executable } = file;
        ReleaseFile { path, bytes, is_executable }
    }
}
