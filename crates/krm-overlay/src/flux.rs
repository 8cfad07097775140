//! HelmReleases of Flux, and the sources of their charts.

use std::collections::BTreeMap;

use crate::layer_place::LayerPlace;
use crate::overlay::{Below, ChartSource, Overlay, OverlayKind, VersionPlace};
use crate::reads::Named;
use crate::resources::{Resource, Resources};
use crate::texts::{At, joined};
use crate::unread::{Unread, Why};

const RELEASE: &str = "HelmRelease";

/// The HelmReleases among some resources. One without a chart is a patch of the one with its name.
pub fn overlays(resources: &Resources<'_>) -> Vec<Overlay> {
    let mut found: BTreeMap<usize, Overlay> = BTreeMap::new();
    let of_kind = || resources.of_kind(RELEASE).enumerate();
    for (at, release) in of_kind().filter(|(_, release)| has_chart(release)) {
        found.insert(at, whole(resources, release));
    }
    for (at, patch) in of_kind().filter(|(_, release)| !has_chart(release)) {
        found.extend(patched(resources, patch).map(|overlay| (at, overlay)));
    }
    found.into_values().collect()
}

fn has_chart(release: &Resource) -> bool {
    release.at.get(&["spec", "chart", "spec", "chart"]).is_some() || release.at.get(&["spec", "chartRef"]).is_some()
}

fn whole(resources: &Resources<'_>, release: &Resource) -> Overlay {
    let mut overlay = Overlay {
        kind: OverlayKind::HelmRelease,
        name: release.called(),
        at: release.at.spot(),
        below: below(resources, release),
        layers: Vec::new(),
        shared: 0,
        unread: Vec::new(),
        named: Named::default(),
    };
    if let Some(files) = release.at.get(&["spec", "chart", "spec", "valuesFiles"]) {
        overlay.unread.push(files.unread(Why::Field("valuesFiles".to_owned())));
    }
    add_values(resources, release, &mut overlay);
    overlay
}

/// A HelmRelease that says only what differs from the one that it is a patch of.
fn patched(resources: &Resources<'_>, patch: &Resource) -> Option<Overlay> {
    let version = patch.at.get(&["spec", "chart", "spec", "version"]);
    let has_values = ["values", "valuesFrom"].iter().any(|field| patch.at.get(&["spec", field]).is_some());
    if !has_values && version.is_none() {
        return None;
    }
    let bases =
        resources.of_kind(RELEASE).filter(|base| has_chart(base) && base.may_be(&patch.name, patch.namespace()));
    let mut overlay = match bases.collect::<Vec<_>>()[..] {
        [base] => whole(resources, base),
        // Some patches fit each release, and are named by none.
        [] => return None,
        _ => Overlay {
            kind: OverlayKind::HelmRelease,
            name: patch.called(),
            at: patch.at.spot(),
            below: Err(patch.at.unread(Why::Ambiguous { kind: RELEASE.to_owned(), name: patch.name.clone() })),
            layers: Vec::new(),
            shared: 0,
            unread: Vec::new(),
            named: Named::default(),
        },
    };
    overlay.at = patch.at.spot();
    overlay.shared = overlay.layers.len();
    overlay.unread.clear();
    if let (Some(version), Ok(below)) = (version.as_ref().and_then(VersionPlace::of), &mut overlay.below) {
        below.version = Some(version);
    }
    add_values(resources, patch, &mut overlay);
    Some(overlay)
}

fn below(resources: &Resources<'_>, release: &Resource) -> Result<Below, Unread> {
    if let Some(reference) = release.at.get(&["spec", "chartRef"]) {
        let source = source(resources, release, &reference)?;
        return match source.kind.as_str() {
            "HelmChart" => of_chart(resources, source, &source.at, &["spec"]),
            _ => of_image(source),
        };
    }
    of_chart(resources, release, &release.at, &["spec", "chart", "spec"])
}

/// The chart that a template of a chart names, of a HelmRelease or of a HelmChart.
fn of_chart(resources: &Resources<'_>, of: &Resource, at: &At, path: &[&str]) -> Result<Below, Unread> {
    let spec = at.get(path).ok_or_else(|| at.unread(Why::NoChart))?;
    let chart = spec.text(&["chart"]).ok_or_else(|| spec.unread(Why::NoChart))?;
    let reference = spec.get(&["sourceRef"]).ok_or_else(|| spec.unread(Why::NoChart))?;
    let version = spec.get(&["version"]);
    if let Some(version) = &version {
        check_plain(version)?;
    }
    let version = version.as_ref().and_then(VersionPlace::of);
    let kind = reference.text(&["kind"]).unwrap_or_default();
    let of_folder = || joined("", &chart).filter(|folder| resources.texts().has(&format!("{folder}/Chart.yaml")));
    let found = source(resources, of, &reference);
    let source = match (kind.as_str(), found) {
        ("HelmRepository", found) => ChartSource::of_repository(&address(found?)?, &chart),
        // The repository of the cluster itself is mostly the one with these files, and often no file says so.
        ("GitRepository", Err(unread)) => ChartSource::Folder(of_folder().ok_or(unread)?),
        ("GitRepository", Ok(found)) => match of_folder() {
            Some(folder) if found.name == "flux-system" => ChartSource::Folder(folder),
            _ => return of_git(found, &chart),
        },
        (kind, _) => return Err(reference.unread(Why::Source(kind.to_owned()))),
    };
    Ok(Below { source, version, locked: None })
}

/// A chart in a folder of a repository of git.
fn of_git(repository: &Resource, chart: &str) -> Result<Below, Unread> {
    let source = ChartSource::Git { url: address(repository)?, path: joined("", chart).unwrap_or_default() };
    let names = ["commit", "tag", "semver", "branch"];
    let version = names.iter().find_map(|name| repository.at.get(&["spec", "ref", name]));
    Ok(Below { source, version: version.as_ref().and_then(VersionPlace::of), locked: None })
}

/// The chart that an OCIRepository is.
pub fn of_image(repository: &Resource) -> Result<Below, Unread> {
    let version = ["digest", "tag", "semver"].iter().find_map(|name| repository.at.get(&["spec", "ref", name]));
    if let Some(version) = &version {
        check_plain(version)?;
    }
    let version = version.as_ref().and_then(VersionPlace::of);
    Ok(Below { source: ChartSource::of_registry(&address(repository)?, ""), version, locked: None })
}

/// The address of a source.
pub fn address(source: &Resource) -> Result<String, Unread> {
    let url = source.at.get(&["spec", "url"]);
    let lacking =
        || Why::Lacking { kind: source.kind.clone(), name: source.name.clone(), field: "spec.url".to_owned() };
    let url = url.ok_or_else(|| source.at.unread(lacking()))?;
    check_plain(&url)?;
    url.text(&[]).ok_or_else(|| url.unread(lacking()))
}

/// Checks that a text is what the cluster gets: Flux can put values for variables.
fn check_plain(at: &At) -> Result<(), Unread> {
    match at.text(&[]).filter(|text| text.contains("${") || text.contains("{{")) {
        Some(text) => Err(at.unread(Why::Variable(text))),
        None => Ok(()),
    }
}

/// The source that a reference names.
fn source<'r>(resources: &'r Resources<'_>, of: &Resource, reference: &At) -> Result<&'r Resource, Unread> {
    let [kind, name] = ["kind", "name"].map(|field| reference.text(&[field]).unwrap_or_default());
    let namespace = reference.text(&["namespace"]);
    let namespace = namespace.as_deref().or(of.namespace());
    resources.nearest(&kind, &name, namespace, &of.at.file).map_err(|why| reference.unread(why))
}

/// Adds the values of a release, in the order of Flux: `valuesFrom`, and `values` over them.
fn add_values(resources: &Resources<'_>, release: &Resource, overlay: &mut Overlay) {
    for from in release.at.elements(&["spec", "valuesFrom"]) {
        match values_from(resources, release, &from) {
            Ok(layers) => overlay.layers.extend(layers),
            Err(why) => overlay.unread.push(from.unread(why)),
        }
    }
    if let Some(values) = release.at.get(&["spec", "values"]) {
        match LayerPlace::of_node(values.clone()) {
            Ok(layer) => overlay.layers.push(layer),
            Err(why) => overlay.unread.push(values.unread(why)),
        }
    }
}

/// The values of a ConfigMap: one of the files, or one that a kustomization makes of files.
fn values_from(resources: &Resources<'_>, release: &Resource, from: &At) -> Result<Option<LayerPlace>, Why> {
    let [kind, name] = ["kind", "name"].map(|field| from.text(&[field]).unwrap_or_default());
    if kind == "Secret" {
        return Err(Why::Secret(name));
    }
    if from.get(&["targetPath"]).is_some() {
        return Err(Why::Field("targetPath".to_owned()));
    }
    let key = from.text(&["valuesKey"]).unwrap_or_else(|| "values.yaml".to_owned());
    let missing = match resources.nearest(&kind, &name, release.namespace(), &release.at.file) {
        Ok(map) => {
            let lacking = || Why::Lacking { kind, name: name.clone(), field: format!("data.{key}") };
            let scalar = map.at.get(&["data", &key]).ok_or_else(lacking)?;
            return LayerPlace::of_text(&scalar);
        }
        Err(why @ Why::Ambiguous { .. }) => return Err(why),
        Err(missing) => missing,
    };
    let file = resources.generated(&name, &key, &release.at.file).ok_or(missing)??;
    LayerPlace::of_file(resources.texts(), &file)
}
