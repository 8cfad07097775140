//! What has releases and is no git repository: who is asked for it.

use std::rc::Rc;

use anyhow::Result;
use krm_git::address::{ReleaseAddress, Repo};
#[cfg(not(feature = "releases"))]
use krm_git::source::ReleaseFile;
use krm_git::source::Source;
use krm_git::store::Network;

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
pub fn settled(address: ReleaseAddress, _network: Network) -> Result<ReleaseAddress> {
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
    use std::sync::{Arc, OnceLock};

    use anyhow::{Context, bail};
    use krm_files::errors::chain;
    use krm_git::address::is_web;
    use krm_git::cache;
    use krm_git::store::Store;
    pub use krm_release::packed_chart;
    use krm_release::{Client, Registries};

    use super::{Network, Rc, ReleaseAddress, Repo, Result, Source};

    /// How the run asks registries, if the user says it.
    static REGISTRIES: OnceLock<Registries> = OnceLock::new();

    /// Makes the run ask registries without TLS.
    pub fn use_plain_http() {
        let _ = REGISTRIES.set(Registries::Plain);
    }

    /// The client of the whole run, which keeps connections and what it read.
    fn client() -> Result<&'static Arc<Client>> {
        static CLIENT: OnceLock<Arc<Client>> = OnceLock::new();
        if CLIENT.get().is_none() {
            let registries = REGISTRIES.get().copied().unwrap_or_default();
            let _ = CLIENT.set(Arc::new(Client::new(&cache::indexes()?, registries)));
        }
        CLIENT.get().context("the client must be there")
    }

    /// Who is asked for the releases; `None` if git is.
    ///
    /// # Errors
    /// The cache cannot be made.
    pub fn of(repo: &Repo) -> Result<Option<Rc<dyn Source>>> {
        if repo.is_git() { Ok(None) } else { client()?.source(repo) }
    }

    /// An address as it is meant: `REPO//NAME` is a chart if REPO is a repository of charts, or else a directory of a repository of git.
    ///
    /// # Errors
    /// Nobody can say, for neither answers; or the cache cannot be made.
    pub fn settled(address: ReleaseAddress, network: Network) -> Result<ReleaseAddress> {
        let ReleaseAddress { repo, directory, reference } = &address;
        let Repo::Remote(url) = repo else { return Ok(address) };
        let is_git = !is_web(url) || url.ends_with(".git") || url.contains("://github.com/") || directory.is_empty();
        if is_git {
            return Ok(address);
        }
        let chart = ReleaseAddress::in_chart(url, directory, reference.as_deref());
        if network == Network::Offline {
            // The cache has it under the name that it had online.
            return Ok(match chart {
                Ok(chart) if Store::is_known(&chart.repo)? => chart,
                _ => address,
            });
        }
        match client()?.is_chart_repository(url) {
            Ok(true) => chart,
            Ok(false) => Ok(address),
            // git may know a way.
            Err(why) => match Store::open(repo, ".".as_ref(), network)?.refs() {
                Ok(_) => Ok(address),
                Err(of_git) => bail!(
                    "\"{url}\" must be a repository of charts or of git. As one of charts: {}. As one of git: {}",
                    chain(&why),
                    chain(&of_git)
                ),
            },
        }
    }
}
