//! Where releases come from, and what they are.

use std::fmt;

use anyhow::Result;

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

impl Upstream {
    /// Checks what a user wrote, before any server is asked.
    ///
    /// # Errors
    /// The address is none, has a user, a password or a query, or the name of the chart or artifact is none.
    pub fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The git repository whose tags are the releases of an address: that of a release or an archive of GitHub, GitLab or Gitea.
    pub fn git(&self) -> Option<String> {
        None
    }
}
