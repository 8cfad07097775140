//! The address of a chart that a file of Flux, Argo CD, kustomize or helm names, and what its version can mean.

use anyhow::{Result, anyhow, bail};
use krm_git::address::{ReleaseAddress, Repo};
use krm_git::refs::State;
use krm_git::store::Store;
use krm_git::versions::{self, Range};
use krm_overlay::ChartSource;

/// The address of a chart, without a version.
///
/// # Errors
/// Nobody must be asked for it.
pub fn address(source: &ChartSource) -> Result<ReleaseAddress> {
    let (repo, directory) = match source {
        ChartSource::Repository { url, name } => (Repo::chart(url, name)?, ""),
        ChartSource::Oci(image) => (Repo::image(image)?, ""),
        ChartSource::Git { url, path } => (Repo::parse(url)?, path.as_str()),
        ChartSource::Folder(path) | ChartSource::Packed(path) => bail!("{path}: the chart is among the files"),
    };
    ReleaseAddress::new(repo, directory, None)
}

/// The release that a version of helm means: the likeliest one that is there.
///
/// # Errors
/// The likeliest one is not there, and neither is another one.
pub fn meant(store: &Store, address: &ReleaseAddress, wish: Option<&str>) -> Result<(ReleaseAddress, State)> {
    let mut first = None;
    for reference in references(wish) {
        let address = ReleaseAddress { reference, ..address.clone() };
        match store.state(&address) {
            Ok(state) => return Ok((address, state)),
            Err(e) => first = first.or(Some(e)),
        }
    }
    Err(first.unwrap_or_else(|| anyhow!("a chart must have a version")))
}

/// The references that a version of helm can mean, the likeliest first.
fn references(wish: Option<&str>) -> Vec<Option<String>> {
    let Some(wish) = wish.map(str::trim).filter(|wish| !wish.is_empty()) else { return vec![None] };
    if let Some((_, digest)) = wish.split_once("sha256:") {
        return vec![Some(digest.to_owned())];
    }
    if Range::read(wish).is_some() {
        return vec![Some(wish.to_owned())];
    }
    let (bare, other) = match wish.strip_prefix('v') {
        Some(bare) => (bare, bare.to_owned()),
        None => (wish, format!("v{wish}")),
    };
    let mut all = vec![wish.to_owned(), other];
    // A registry has no `+` in its tags.
    all.extend(wish.contains('+').then(|| wish.replace('+', "_")));
    // To helm, a version with fewer numbers is a range.
    let is_short = versions::version(bare).is_some() && bare.split('.').count() < 3 && !bare.contains('-');
    all.extend(is_short.then(|| format!("~{bare}")));
    all.into_iter().map(Some).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_of_helm_is_a_release_or_a_range() {
        for (wish, want) in [
            ("1.2.3", "1.2.3 v1.2.3"),
            ("v1.2.3", "v1.2.3 1.2.3"),
            ("1.2", "1.2 v1.2 ~1.2"),
            ("1.2.3+k1", "1.2.3+k1 v1.2.3+k1 1.2.3_k1"),
            (">=1.0.0 <2.0.0", ">=1.0.0 <2.0.0"),
            ("1.2.3@sha256:abc", "abc"),
            ("*", "*"),
        ] {
            let found: Vec<String> = references(Some(wish)).into_iter().flatten().collect();
            assert_eq!(found.join(" "), want, "{wish}");
        }
        assert_eq!(references(Some(" ")), [None]);
    }
}
