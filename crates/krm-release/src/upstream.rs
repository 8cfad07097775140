//! Where releases come from, and what they are.

use std::fmt;

use anyhow::{Result, bail};
use krm_names::shown;

use crate::image::Image;
use crate::url::Url;

/// Where releases come from that no git repository holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Upstream {
    /// A chart of an HTTP repository.
    Chart {
        /// The address of the folder with `index.yaml`.
        repo: String,
        /// The name of the chart.
        name: String,
    },
    /// An artifact of an OCI registry.
    Oci {
        /// The host and the path, without `oci://` and without a tag: `ghcr.io/org/charts/web`.
        image: String,
    },
    /// A file or an archive at an address.
    Http {
        /// The address. `{ref}` stands where the name of the release does.
        url: String,
    },
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chart { repo, name } => write!(f, "{}//{name}", repo.trim_end_matches('/')),
            Self::Oci { image } => write!(f, "oci://{image}"),
            Self::Http { url } => f.write_str(url),
        }
    }
}

/// A release in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Its version or tag, by which the other questions name it.
    pub name: String,
    /// What it is exactly, if the list says so: a sha256 of 64 hex digits.
    pub digest: Option<String>,
    /// The version of what the chart installs.
    pub app_version: Option<String>,
}

/// A release that was fetched and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// What it is exactly: a sha256 of 64 hex digits.
    pub digest: String,
    /// Its files, in the order of their paths.
    pub files: Vec<ReleaseFile>,
}

/// A file of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseFile {
    /// Its path, with `/`. No two paths differ only by case.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether its owner may execute it.
    pub is_executable: bool,
}

/// What stands in an address for the name of the release.
pub const REF: &str = "{ref}";

impl Upstream {
    /// Checks what a user wrote, before any server is asked.
    ///
    /// # Errors
    /// The address is none, it has a user, a password or a query, or the name of the chart or the image is none.
    pub fn check(&self) -> Result<()> {
        let bare = |text: &str| {
            let url = Url::read(text)?;
            if url.text().contains('?') {
                bail!("{url}: the address must have no query, which may be secret");
            }
            Ok(url)
        };
        match self {
            Self::Chart { repo, name } => {
                bare(repo)?;
                let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
                if name.is_empty() || name.starts_with('.') || !name.chars().all(is_name) {
                    bail!(
                        "\"{}\": the name of a chart must have letters, digits, `.`, `_` and `-` only",
                        shown::line(name)
                    );
                }
            }
            Self::Oci { image } => _ = Image::read(image)?,
            Self::Http { url } => {
                let host = bare(url)?;
                if host.name().is_empty() {
                    bail!("{host}: the address must be that of a file");
                }
                // The name of a release must not choose the server.
                if url.split('/').take(3).any(|part| part.contains(REF)) {
                    bail!("{host}: `{REF}` must come after the host");
                }
            }
        }
        Ok(())
    }

    /// The git repository whose tags are the releases of an address: that of a release, an archive or a file of GitHub, GitLab or Gitea.
    /// `None` if the address has no `{ref}`, or another form.
    pub fn git(&self) -> Option<String> {
        let Self::Http { url } = self else { return None };
        let before = url.split_once(REF)?.0;
        // GitLab has groups in groups.
        if let Some((repository, _)) = before.split_once("/-/") {
            return Some(repository.to_owned());
        }
        let (scheme, rest) = before.split_once("://")?;
        let mut parts = rest.split('/');
        let [host, owner, name, kind] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
        let host = match host {
            "raw.githubusercontent.com" | "codeload.github.com" => "github.com",
            host if matches!(kind, "releases" | "archive" | "raw") => host,
            _ => return None,
        };
        Some(format!("{scheme}://{host}/{owner}/{name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tags_of_a_repository_are_the_releases_of_its_files() {
        for (url, want) in [
            ("https://github.com/o/r/releases/download/{ref}/install.yaml", Some("https://github.com/o/r")),
            ("https://github.com/o/r/archive/refs/tags/{ref}.tar.gz", Some("https://github.com/o/r")),
            ("https://raw.githubusercontent.com/o/r/{ref}/a/b.yaml", Some("https://github.com/o/r")),
            ("https://codeload.github.com/o/r/tar.gz/refs/tags/{ref}", Some("https://github.com/o/r")),
            ("https://gitlab.com/g/h/r/-/archive/{ref}/r-{ref}.tar.gz", Some("https://gitlab.com/g/h/r")),
            ("https://gitea.test:3000/o/r/raw/tag/{ref}/a.yaml", Some("https://gitea.test:3000/o/r")),
            ("https://github.com/o/r/releases/download/v1/install.yaml", None),
            ("https://example.com/{ref}/install.yaml", None),
            ("https://example.com/a/b/c/{ref}/install.yaml", None),
        ] {
            assert_eq!(Upstream::Http { url: url.to_owned() }.git().as_deref(), want, "{url}");
        }
    }

    #[test]
    fn what_cannot_be_asked_is_refused_before() {
        let chart = |repo: &str, name: &str| Upstream::Chart { repo: repo.to_owned(), name: name.to_owned() };
        let oci = |image: &str| Upstream::Oci { image: image.to_owned() };
        let http = |url: &str| Upstream::Http { url: url.to_owned() };
        for good in [
            chart("https://h/charts/", "a.b_c-1"),
            oci("h/a/b"),
            http("https://h/{ref}/install.yaml"),
            http("http://h/a"),
        ] {
            good.check().expect("good");
        }
        for bad in [
            chart("https://tok@h", "web"),
            chart("https://h?x=tok", "web"),
            chart("ftp://h", "web"),
            chart("https://h", ""),
            chart("https://h", "a/b"),
            chart("https://h", ".."),
            oci("h"),
            oci("me:tok@h/a"),
            http("https://{ref}.h/a"),
            http("https://h/"),
            http("https://h/a?token=tok"),
        ] {
            let told = format!("{:#}", bad.check().expect_err("bad"));
            assert!(!told.contains("tok@") && !told.contains("=tok"), "{told}");
        }
    }
}
