//! The charts of an HTTP repository.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, anyhow, bail};
use krm_git::address::Chart;
use krm_git::source::Listed;
use krm_names::shown;

use crate::digest;
use crate::image::Image;
use crate::index::{Index, Version};
use crate::login::Logins;
use crate::oci::Registry;
use crate::unpack::LIMITS;
use crate::url::Url;
use crate::web::Web;

/// How many charts a message names.
const OFFERED: usize = 10;

/// The repositories that are asked.
#[derive(Debug)]
pub struct Repositories {
    /// The folder for their lists.
    cache: PathBuf,
    /// The lists of this run: each is asked for once, and no question waits for another repository.
    lists: Mutex<BTreeMap<String, Known>>,
}

/// The list of a repository, once it is known.
type Known = Arc<Mutex<Option<Arc<Index>>>>;

/// The archive of a chart.
pub struct Archive {
    /// Its digest.
    pub digest: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// An address of a list, of a version.
#[derive(Clone, Copy)]
struct From<'a> {
    repo: &'a Url,
    address: &'a str,
    version: &'a Version,
}

impl Repositories {
    /// Those whose lists are kept in a folder.
    pub fn new(cache: PathBuf) -> Self {
        Self { cache, lists: Mutex::default() }
    }

    /// The list of a repository; `None` if the address has none.
    ///
    /// # Errors
    /// The server does not answer, refuses, or sends something else.
    pub fn list(&self, web: &Web, logins: &Logins, repo: &str) -> Result<Option<Arc<Index>>> {
        let place = {
            let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(lists.entry(repo.to_owned()).or_default())
        };
        // Whoever waits here gets the list that another one asked for.
        let mut known = place.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_some() {
            return Ok(known.clone());
        }
        let url = Url::read(repo)?;
        let Some(list) = Index::of(web, &self.cache, &url, &logins.of_repository(&url)?)? else { return Ok(None) };
        *known = Some(Arc::new(list));
        Ok(known.clone())
    }

    /// The versions of a chart.
    ///
    /// # Errors
    /// Those of [`Repositories::list`], or there is no such chart.
    pub fn versions(&self, web: &Web, logins: &Logins, chart: &Chart) -> Result<Vec<Listed>> {
        let list = self.known(web, logins, chart)?;
        let listed = |one: &Version| Listed { name: one.version.clone(), digest: one.digest() };
        Ok(list.chart(&chart.name).unwrap_or_default().iter().map(listed).collect())
    }

    /// What the list says of a version; `None` if it has no such version.
    ///
    /// # Errors
    /// Those of [`Repositories::versions`].
    pub fn version(&self, web: &Web, logins: &Logins, chart: &Chart, version: &str) -> Result<Option<Version>> {
        Ok(self.known(web, logins, chart)?.version(&chart.name, version).cloned())
    }

    /// The archive of a version, from the first of its addresses that gives it. It has the digest that the list gives to it.
    ///
    /// # Errors
    /// Those of [`Repositories::version`], there is no such version, or the archive is another one.
    pub fn archive(
        &self,
        web: &Web,
        logins: &Logins,
        registry: &Registry,
        chart: &Chart,
        version: &str,
    ) -> Result<Archive> {
        let list = self.known(web, logins, chart)?;
        let repo = Url::read(&chart.repo)?;
        let version = list.version(&chart.name, version).with_context(|| {
            format!("{repo} has no version \"{}\" of the chart \"{}\"", shown::line(version), shown::line(&chart.name))
        })?;
        let mut first = None;
        for address in &version.urls {
            match self.at(web, logins, registry, From { repo: &repo, address, version }) {
                Ok(archive) => return Ok(archive),
                Err(e) => first = first.or(Some(e)),
            }
        }
        let told = || anyhow!("{repo} must have an address for the chart \"{}\"", shown::line(&chart.name));
        Err(first.unwrap_or_else(told))
    }

    fn at(&self, web: &Web, logins: &Logins, registry: &Registry, from: From<'_>) -> Result<Archive> {
        let From { repo, address, version } = from;
        let (place, archive) = match address.strip_prefix("oci://") {
            Some(image) => {
                // The list may hold no tag, and then the version is it.
                let name = image.rfind('/').map_or(0, |at| at + 1);
                let (image, tag) = match image[name..].split_once(':') {
                    Some((end, tag)) => (&image[..name + end.len()], tag),
                    None => (image, version.version.as_str()),
                };
                let image = Image::read(image)?;
                let layer = registry.layer(web, logins, &image, tag)?;
                (image.to_string(), Archive { digest: layer.digest, bytes: layer.bytes })
            }
            None => {
                let url = repo.below("index.yaml")?.join(address).with_context(|| format!("an address in {repo}"))?;
                let access = logins.of_repository(repo)?;
                let access = if url.is_of_server_of(repo) { access } else { access.elsewhere() };
                let bytes = web.ask(&access.ask(&url))?.bytes(LIMITS.all)?;
                (url.to_string(), Archive { digest: digest::of(&bytes), bytes })
            }
        };
        if let Some(wanted) = version.digest() {
            digest::check(&archive.digest, &wanted, &place, &format!("the list of {repo} says"))?;
        }
        Ok(archive)
    }

    fn known(&self, web: &Web, logins: &Logins, chart: &Chart) -> Result<Arc<Index>> {
        let url = || Url::read(&chart.repo).map(|url| url.to_string());
        let Some(list) = self.list(web, logins, &chart.repo)? else {
            bail!("{} must be a chart repository, but it has no `index.yaml`", url()?);
        };
        if list.chart(&chart.name).is_none() {
            let names: Vec<_> = list.charts().take(OFFERED).map(shown::name).collect();
            let more = if list.charts().nth(OFFERED).is_some() { ", …" } else { "" };
            let (url, name) = (url()?, shown::line(&chart.name));
            let others = if names.is_empty() { String::new() } else { format!("; it has {}{more}", names.join(", ")) };
            bail!("{url} has no chart \"{name}\"{others}");
        }
        Ok(list)
    }
}
