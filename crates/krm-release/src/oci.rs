//! A registry, by the distribution protocol of OCI: tags, manifests, and the one layer with the files.
//!
//! A manifest names its layer by its digest, and so does a tag its manifest. Each is checked. Signatures are not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Error, Result, bail};
use krm_git::address::name_of_tag;
use krm_git::source::{Listed, Releases};
use serde::Deserialize;

use crate::challenge::Challenge;
use crate::digest;
use crate::image::{Image, tag};
use crate::login::{Login, Logins};
use crate::unpack::{LIMITS, Root};
use crate::url::{Url, is_loopback, value};
use crate::web::{Answer, Ask, Authorization, TIMES, Web};

/// How many bytes a manifest may have; registries allow as many.
const MOST_OF_MANIFEST: usize = 1 << 22;

/// How many bytes a page of tags, or a token, may have.
const MOST_OF_PAGE: usize = 1 << 23;

/// How many pages of tags an image may have.
const MOST_PAGES: usize = 1000;

/// How many tags an image may have.
const MOST_TAGS: usize = 1_000_000;

/// The types of manifests.
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json, \
                         application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json";

/// The type of the layer with a chart.
const CHART: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// The type of the layer with what Flux applies.
const FLUX: &str = "application/vnd.cncf.flux.content.v1.tar+gzip";

/// How registries are spoken to. With `localhost` it is always plain HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Registries {
    /// By HTTPS.
    #[default]
    Https,
    /// By plain HTTP.
    Plain,
}

/// A manifest, as far as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    #[serde(default)]
    layers: Vec<Descriptor>,
    /// Those of an index.
    #[serde(default)]
    manifests: Vec<Descriptor>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    #[serde(default)]
    media_type: String,
    digest: String,
    #[serde(default)]
    size: u64,
}

#[derive(Deserialize)]
struct Tags {
    #[serde(default)]
    tags: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    token: String,
    #[serde(default)]
    access_token: String,
}

/// A layer, with what it is.
pub struct Layer {
    /// The digest of the layer.
    pub digest: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What its first folder is.
    pub root: Root,
}

/// The registries that are asked.
#[derive(Debug)]
pub struct Registry {
    registries: Registries,
    /// What each image let in.
    tokens: Mutex<BTreeMap<Image, Authorization>>,
}

impl Registry {
    /// One for the whole run.
    pub fn new(registries: Registries) -> Self {
        Self { registries, tokens: Mutex::default() }
    }

    /// The tags of an image.
    ///
    /// # Errors
    /// The registry does not answer, or does not end.
    pub fn tags(&self, web: &Web, logins: &Logins, image: &Image) -> Result<Releases> {
        let asked = Asked { registry: self, web, logins, image };
        let first = asked.address("tags/list?n=1000")?;
        let (mut next, mut seen, mut all) = (Some(first.clone()), BTreeSet::new(), Vec::new());
        let until = Instant::now() + TIMES.whole;
        while let Some(url) = next {
            if !seen.insert(url.text()) || seen.len() > MOST_PAGES || all.len() > MOST_TAGS || Instant::now() > until {
                bail!("{first}: the list of tags must end, with at most {MOST_PAGES} pages and {MOST_TAGS} tags");
            }
            let answer = match asked.answer(&url, "application/json") {
                // It may have the image, and give it to who knows the tag.
                Err(e) if e.is::<Refused>() => return Ok(Releases::Refused(e.to_string())),
                Ok(answer) if answer.is_nothing() => {
                    return Ok(Releases::Refused(format!(
                        "{image}: the registry must have this image, but it has not"
                    )));
                }
                Ok(answer) if matches!(answer.status, 403 | 405 | 501) => {
                    return Ok(Releases::Refused(answer.refusal().to_string()));
                }
                answer => answer?,
            };
            // A registry behind another server may not know its own name, so the path alone counts.
            next = match answer.header("link").and_then(next_page) {
                Some(link) => Some(url.at_path_of(url.join(&link)?)),
                None => None,
            };
            let page: Tags = serde_json::from_slice(&answer.text(MOST_OF_PAGE)?)
                .ok()
                .with_context(|| format!("{first}: the list of tags must be JSON as a registry sends it"))?;
            let listed = |tag: String| Listed { name: name_of_tag(&tag), digest: None };
            all.extend(
                page.tags.unwrap_or_default().into_iter().filter(|tag| crate::image::tag(tag).is_ok()).map(listed),
            );
        }
        Ok(Releases::Listed(all))
    }

    /// The digest of the manifest of a tag; `None` if there is no such tag.
    ///
    /// # Errors
    /// The registry does not answer, refuses, or sends something else.
    pub fn digest(&self, web: &Web, logins: &Logins, image: &Image, name: &str) -> Result<Option<String>> {
        let asked = Asked { registry: self, web, logins, image };
        Ok(asked.manifest(&tag(name)?)?.map(|(_, digest)| digest))
    }

    /// The layer with the files of a tag.
    ///
    /// # Errors
    /// Those of [`Registry::digest`], or it has no layer that we can read.
    pub fn layer(&self, web: &Web, logins: &Logins, image: &Image, name: &str) -> Result<Layer> {
        let asked = Asked { registry: self, web, logins, image };
        let there = |tag: &str| {
            let told = || format!("{image}: the registry must have \"{}\", but it has not", name_of_tag(tag));
            asked.manifest(tag)?.with_context(told)
        };
        let (mut manifest, _) = there(&tag(name)?)?;
        if let [only] = manifest.manifests.as_slice() {
            manifest = there(&tag(&only.digest)?)?.0;
        } else if !manifest.manifests.is_empty() {
            bail!(
                "{image}: the artifact must be one for all platforms, but it has {} manifests",
                manifest.manifests.len()
            );
        }
        let typed = |wanted: &str| manifest.layers.iter().find(|layer| layer.media_type == wanted);
        let (layer, root) = match (typed(CHART), typed(FLUX), manifest.layers.as_slice()) {
            (Some(chart), ..) => (chart, Root::Chart),
            (None, Some(flux), _) => (flux, Root::Kept),
            (None, None, [only]) => (only, Root::Kept),
            (.., layers) => bail!(
                "{image}: the artifact must be a chart, one of Flux, or one layer of a tar, but it has {} layers",
                layers.len()
            ),
        };
        let hex = digest::read(&layer.digest).filter(|_| layer.digest.starts_with("sha256:"));
        let hex = hex.with_context(|| format!("{image}: the layer must be named by its sha256"))?;
        if layer.size > LIMITS.all as u64 {
            bail!("{image}: a release must have at most {} bytes, but its layer has {}", LIMITS.all, layer.size);
        }
        let url = asked.address(&format!("blobs/sha256:{hex}"))?;
        let bytes = asked.answer(&url, "*/*")?.bytes(LIMITS.all)?;
        digest::check(&digest::of(&bytes), &hex, &url.to_string(), "the manifest says")?;
        Ok(Layer { digest: hex, bytes, root })
    }
}

/// The registry wants another login.
#[derive(Debug)]
struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// A question about an image.
struct Asked<'a> {
    registry: &'a Registry,
    web: &'a Web,
    logins: &'a Logins,
    image: &'a Image,
}

impl Asked<'_> {
    fn address(&self, rest: &str) -> Result<Url> {
        let Image { host, path } = self.image;
        let is_plain = self.registry.registries == Registries::Plain || is_loopback(host);
        Url::read(&format!("{}://{host}/v2/{path}/{rest}", if is_plain { "http" } else { "https" }))
    }

    /// A manifest, and its digest; `None` if there is none.
    fn manifest(&self, tag: &str) -> Result<Option<(Manifest, String)>> {
        let url = self.address(&format!("manifests/{tag}"))?;
        let answer = self.answer(&url, MANIFESTS)?;
        if answer.is_nothing() {
            return Ok(None);
        }
        let said = answer.header("docker-content-digest").and_then(digest::read);
        let bytes = answer.text(MOST_OF_MANIFEST)?;
        let found = digest::of(&bytes);
        if let Some(wanted) = digest::read(tag).filter(|_| tag.starts_with("sha256:")) {
            digest::check(&found, &wanted, &url.to_string(), "is its name")?;
        }
        if let Some(said) = said {
            digest::check(&found, &said, &url.to_string(), "the registry says")?;
        }
        let manifest = serde_json::from_slice(&bytes).ok();
        let told = || format!("{url}: a manifest must be JSON as a registry sends it");
        Ok(Some((manifest.with_context(told)?, found)))
    }

    /// The answer of the registry, after a login if it wants one.
    fn answer(&self, url: &Url, accept: &str) -> Result<Answer> {
        let tokens = || self.registry.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let known = tokens().get(self.image).cloned();
        let answer = self.web.ask(&Ask { accept, authorization: known.as_ref(), ..Ask::at(url) })?;
        // Nobody but the registry may ask for the login.
        if answer.status != 401 || !answer.url.is_of_server_of(url) {
            return Ok(answer);
        }
        let authorization = self.let_in(url, answer.header("www-authenticate").unwrap_or_default())?;
        let again = self.web.ask(&Ask { accept, authorization: Some(&authorization), ..Ask::at(url) })?;
        if matches!(again.status, 401 | 403) {
            return Err(self.wants_login());
        }
        tokens().insert(self.image.clone(), authorization);
        Ok(again)
    }

    fn wants_login(&self) -> Error {
        let (image, host) = (self.image, &self.image.host);
        Error::new(Refused(format!(
            "{image} must be one that you may read: log in by `helm registry login {host}` or `docker login {host}`"
        )))
    }

    /// What lets a request in, as the registry asks for it.
    fn let_in(&self, url: &Url, challenge: &str) -> Result<Authorization> {
        let Image { host, path } = self.image;
        let login = self.logins.of_registry(host, path)?;
        let told = || format!("{}: the registry must ask for a login as others do", self.image);
        match Challenge::read(challenge).with_context(told)? {
            Challenge::Basic => login.as_ref().and_then(Login::as_basic).ok_or_else(|| self.wants_login()),
            Challenge::Bearer { realm, service } => {
                let bearer = |token: &str| Authorization(format!("Bearer {token}"));
                if let Some(Login::Token(token)) = &login {
                    return Ok(bearer(token));
                }
                let realm = Url::read(&realm).with_context(told)?;
                let is_elsewhere = !realm.is_of_server_of(url);
                if is_elsewhere
                    && (realm.is_plain() && !url.is_plain() || is_loopback(realm.authority()) && !is_loopback(host))
                {
                    bail!("{}: the registry must not ask for the login at {realm}", self.image);
                }
                let token = self.token(&realm, &service, login.as_ref())?;
                Ok(bearer(&token))
            }
        }
    }

    /// A token to read the image.
    fn token(&self, realm: &Url, service: &str, login: Option<&Login>) -> Result<String> {
        let scope = value(&format!("repository:{}:pull", self.image.path));
        let query = format!("service={}&scope={scope}", value(service));
        let basic = login.and_then(Login::as_basic);
        let form = match login {
            Some(Login::Identity(token)) => {
                Some(format!("grant_type=refresh_token&client_id=krm-merge&refresh_token={}&{query}", value(token)))
            }
            _ => None,
        };
        let joined = if realm.text().contains('?') { "&" } else { "?" };
        let url = if form.is_some() { realm.clone() } else { Url::read(&format!("{}{joined}{query}", realm.text()))? };
        let answer = self.web.ask(&Ask { authorization: basic.as_ref(), form: form.as_deref(), ..Ask::at(&url) })?;
        if matches!(answer.status, 400 | 401 | 403 | 404) {
            return Err(self.wants_login());
        }
        let token: Option<Token> = serde_json::from_slice(&answer.text(MOST_OF_PAGE)?).ok();
        let token = token.map(|Token { token, access_token }| if token.is_empty() { access_token } else { token });
        // It is never shown, and a header holds no other bytes.
        let token = token.filter(|token| !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic()));
        token.with_context(|| format!("{realm} must send a token as JSON"))
    }
}

/// The address of the next page, as `<…>; rel="next"` names it.
fn next_page(link: &str) -> Option<String> {
    let (address, rest) = link.trim_start().strip_prefix('<')?.split_once('>')?;
    rest.contains("next").then(|| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_names_the_next_page() {
        assert_eq!(
            next_page("</v2/a/tags/list?last=b&n=1>; rel=\"next\"").as_deref(),
            Some("/v2/a/tags/list?last=b&n=1")
        );
        assert_eq!(next_page("nothing"), None);
    }
}
