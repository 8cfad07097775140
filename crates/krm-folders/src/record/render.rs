//! `render` in a record: the release of a package is what helm makes of a chart.

use anyhow::anyhow;
use krm_names::file_path;
use krm_names::shown::quoted;
use krm_yaml::{NodeRef, plain_or_quoted};

use super::{RecordFault, text};

/// What helm makes a release of, besides the chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Render {
    /// The name of the release, as helm knows it.
    pub release: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// The paths of the values files in the package, the later ones over the earlier ones.
    pub values: Vec<String>,
    /// Whether the CustomResourceDefinitions of the chart's folder `crds` are part of it.
    pub include_crds: bool,
    /// The version of Kubernetes that the chart sees.
    pub kube_version: Option<String>,
    /// The API versions that the chart sees besides those that helm knows.
    pub api_versions: Vec<String>,
}

/// The field, in `upstream` and in `upstreamLock`.
pub const RENDER: &str = "render";

/// The fields of `render`.
const FIELDS: [&str; 6] = ["release", "namespace", "values", "includeCRDs", "kubeVersion", "apiVersions"];

impl Render {
    /// Reads the field of an upstream; `None` if there is none.
    pub(super) fn read(upstream: NodeRef<'_>) -> Result<Option<Self>, RecordFault> {
        let Some(node) = upstream.get(RENDER).filter(|node| !node.is_null()) else { return Ok(None) };
        let fault = |at: NodeRef<'_>, why| RecordFault { at: at.position(), why };
        if !node.is_map() {
            return Err(fault(node, anyhow!("`upstream.render` must be a map, such as `{{release: web}}`")));
        }
        let mut fields = node.fields();
        if let Some(unknown) = fields.find(|(name, _)| !FIELDS.contains(&name.string())).map(|(name, _)| name) {
            let (all, name) = (FIELDS.join("`, `"), quoted(unknown.string()));
            return Err(fault(unknown, anyhow!("`upstream.render` must have fields of `{all}` only, not {name}")));
        }
        let one = |field: &str| node.get(field).map(|_| text(node, &[field])).transpose();
        let all = |field: &str| {
            let list = node.get(field).filter(|list| !list.is_null());
            if let Some(other) = list.filter(|list| !list.is_list()) {
                return Err(fault(other, anyhow!("`upstream.render.{field}` must be a list")));
            }
            list.into_iter().flat_map(NodeRef::elements).map(|element| text(element, &[])).collect()
        };
        let include_crds = node.get("includeCRDs").map(|value| match value.text() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(fault(value, anyhow!("`upstream.render.includeCRDs` must be `true` or `false`"))),
        });
        let values: Vec<String> = all("values")?;
        if let Some(outside) = values.iter().find(|path| !is_of_package(path)) {
            let why = "`upstream.render.values` must be paths in the package";
            return Err(fault(node, anyhow!("{why}, not {}", quoted(outside))));
        }
        Ok(Some(Self {
            release: text(node, &["release"])?,
            namespace: one("namespace")?,
            values,
            include_crds: include_crds.transpose()?.unwrap_or_default(),
            kube_version: one("kubeVersion")?,
            api_versions: all("apiVersions")?,
        }))
    }

    /// The field as YAML, with its indentation in an upstream.
    pub(super) fn yaml(&self) -> String {
        let one = |name: &str, value: &str| format!("    {name}: {}\n", plain_or_quoted(value));
        let list = |name: &str, values: &[String]| {
            let values: String = values.iter().map(|value| format!("    - {}\n", plain_or_quoted(value))).collect();
            if values.is_empty() { values } else { format!("    {name}:\n{values}") }
        };
        let optional = |name, value: &Option<String>| value.as_deref().map_or(String::new(), |value| one(name, value));
        let crds = if self.include_crds { "    includeCRDs: true\n" } else { "" };
        [
            format!("  {RENDER}:\n"),
            one("release", &self.release),
            optional("namespace", &self.namespace),
            list("values", &self.values),
            crds.to_owned(),
            optional("kubeVersion", &self.kube_version),
            list("apiVersions", &self.api_versions),
        ]
        .concat()
    }

    /// Whether a path of a package is that of a values file.
    pub fn reads(&self, path: &str) -> bool {
        self.values.iter().any(|values| values.trim_start_matches("./") == path)
    }
}

/// Whether a path stays in the package.
pub fn is_of_package(path: &str) -> bool {
    !path.is_empty() && file_path::is_within(path) && !path.contains('\\')
}
