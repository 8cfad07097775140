//! [`Overlay`]: values that a team lays over a chart, what lies below them, and where each of it stands in files.

use std::ops::Range;

use krm_yaml::{Style, plain_or_quoted};

use crate::layer_place::LayerPlace;
use crate::reads::Named;
use crate::texts::At;
use crate::unread::{Spot, Unread};

/// Values over a chart.
#[derive(Debug)]
pub struct Overlay {
    /// What says that they lie over the chart.
    pub kind: OverlayKind,
    /// Its name, such as that of the release, with its namespace if it has one.
    pub name: String,
    /// Where it stands.
    pub at: Spot,
    /// The chart below, or why nobody can say which one it is.
    pub below: Result<Below, Unread>,
    /// The values, later over earlier.
    pub layers: Vec<LayerPlace>,
    /// How many of the first layers belong to another overlay, which is told apart.
    pub shared: usize,
    /// Values that could not be read, so that nobody knows what they hide.
    pub unread: Vec<Unread>,
    /// The places that others than the chart below read, such as the templates of a chart with dependencies.
    pub named: Named,
}

/// What lays values over a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OverlayKind {
    /// A HelmRelease of Flux.
    HelmRelease,
    /// An Application of Argo CD.
    Application,
    /// An ApplicationSet of Argo CD.
    ApplicationSet,
    /// An entry of `helmCharts` in a kustomization.
    HelmCharts,
    /// A kustomization over its bases.
    Kustomization,
    /// A dependency of a chart.
    Dependency,
    /// A release of a helmfile.
    Helmfile,
    /// The record of a package, which renders a chart.
    Record,
    /// A file that names what lays values over a chart, and that is not YAML.
    Unreadable,
}

impl OverlayKind {
    /// Its name in the words of its tool.
    pub fn name(self) -> &'static str {
        match self {
            Self::HelmRelease => "HelmRelease",
            Self::Application => "Application",
            Self::ApplicationSet => "ApplicationSet",
            Self::HelmCharts => "helmCharts",
            Self::Kustomization => "kustomization",
            Self::Dependency => "dependency",
            Self::Helmfile => "helmfile",
            Self::Record => "package",
            Self::Unreadable => "file",
        }
    }
}

/// The chart below an overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Below {
    /// Where the chart comes from.
    pub source: ChartSource,
    /// The version as it is written; `None` if nothing names one, so that the newest counts.
    pub version: Option<VersionPlace>,
    /// The exact version that a lock file names.
    pub locked: Option<String>,
}

/// Where a chart comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChartSource {
    /// A chart of a repository with an `index.yaml`.
    Repository {
        /// The address of the repository.
        url: String,
        /// The name of the chart.
        name: String,
    },
    /// An image of a registry, `HOST/PATH`.
    Oci(String),
    /// A folder of a repository of git.
    Git {
        /// The address of the repository.
        url: String,
        /// The folder.
        path: String,
    },
    /// A folder among the files.
    Folder(String),
    /// A packed chart among the files.
    Packed(String),
}

impl ChartSource {
    /// The image of a chart in a registry.
    pub fn of_registry(registry: &str, chart: &str) -> Self {
        let registry = registry.strip_prefix("oci://").unwrap_or(registry).trim_end_matches('/');
        Self::Oci(if chart.is_empty() { registry.to_owned() } else { format!("{registry}/{chart}") })
    }

    /// The chart of a repository, which may be a registry.
    pub fn of_repository(url: &str, chart: &str) -> Self {
        match url.starts_with("oci://") {
            true => Self::of_registry(url, chart),
            false => Self::Repository { url: url.trim_end_matches('/').to_owned(), name: chart.to_owned() },
        }
    }
}

/// A version, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionPlace {
    /// The version, or a range of versions.
    pub text: String,
    /// The file.
    pub file: String,
    /// The bytes of the scalar, with its quotes.
    pub range: Range<usize>,
    style: Style,
}

impl VersionPlace {
    /// The version in a scalar.
    pub(crate) fn of(at: &At) -> Option<Self> {
        let node = at.node()?;
        let text = node.as_str()?.to_owned();
        let node = node.resolve();
        Some(Self { text, file: at.file.clone(), range: node.start()..node.end(), style: node.style() })
    }

    /// Another version as it would stand here.
    pub fn written(&self, version: &str) -> String {
        match self.style {
            Style::Single => format!("'{version}'"),
            Style::Double => format!("\"{version}\""),
            _ => plain_or_quoted(version),
        }
    }
}
