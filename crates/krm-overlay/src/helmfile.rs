//! The releases of a helmfile, as far as it is no template.

use std::collections::BTreeMap;

use crate::layer_place::LayerPlace;
use crate::overlay::{Below, ChartSource, Overlay, OverlayKind, VersionPlace};
use crate::reads::Named;
use crate::texts::{At, Texts, folder, joined, name};
use crate::unread::{Unread, Why};

/// The releases of the helmfiles among some files.
pub fn overlays(texts: &Texts<'_>) -> Vec<Overlay> {
    let is_helmfile = |path: &str| {
        let is_yaml = path.ends_with(".yaml") || path.ends_with(".yml");
        is_yaml && (name(path).starts_with("helmfile") || name(folder(path)) == "helmfile.d")
    };
    let files = texts.iter().map(|(path, _)| path).filter(|path| is_helmfile(path));
    files.flat_map(|path| of_helmfile(texts, &texts.roots(path).unwrap_or_default())).collect()
}

fn of_helmfile(texts: &Texts<'_>, roots: &[At]) -> Vec<Overlay> {
    let repositories = roots.iter().flat_map(|root| root.elements(&["repositories"]));
    let repositories: BTreeMap<String, At> = repositories.filter_map(|one| Some((one.text(&["name"])?, one))).collect();
    let releases = roots.iter().flat_map(|root| root.elements(&["releases"]));
    releases.filter_map(|release| of_release(texts, &repositories, &release)).collect()
}

fn of_release(texts: &Texts<'_>, repositories: &BTreeMap<String, At>, release: &At) -> Option<Overlay> {
    let (own, chart) = (release.text(&["name"])?, release.text(&["chart"])?);
    let namespace = release.text(&["namespace"]).map(|namespace| format!("{namespace}/"));
    let mut overlay = Overlay {
        kind: OverlayKind::Helmfile,
        name: namespace.unwrap_or_default() + &own,
        at: release.spot(),
        below: below(texts, repositories, release, &chart),
        layers: Vec::new(),
        shared: 0,
        unread: Vec::new(),
        named: Named::default(),
    };
    for value in release.elements(&["values"]) {
        let layer = match value.text(&[]) {
            Some(path) if path.contains("{{") || path.ends_with(".gotmpl") => Err(Why::Variable(path)),
            Some(path) => joined(folder(&value.file), &path)
                .ok_or(Why::NoFile(path))
                .and_then(|path| LayerPlace::of_file(texts, &path)),
            None => LayerPlace::of_node(value.clone()).map(Some),
        };
        match layer {
            Ok(layer) => overlay.layers.extend(layer),
            Err(why) => overlay.unread.push(value.unread(why)),
        }
    }
    for field in ["set", "secrets"] {
        overlay.unread.extend(release.get(&[field]).map(|set| set.unread(Why::Field(field.to_owned()))));
    }
    Some(overlay)
}

fn below(texts: &Texts<'_>, repositories: &BTreeMap<String, At>, release: &At, chart: &str) -> Result<Below, Unread> {
    let version = release.get(&["version"]).as_ref().and_then(VersionPlace::of);
    let unread = |why| release.unread(why);
    let source = match chart.split_once('/') {
        _ if chart.contains("{{") => return Err(unread(Why::Variable(chart.to_owned()))),
        _ if chart.starts_with("oci://") => ChartSource::of_registry(chart, ""),
        Some((repository, name)) if repositories.contains_key(repository) => {
            let repository = &repositories[repository];
            let lacking =
                Why::Lacking { kind: "repository".to_owned(), name: name.to_owned(), field: "url".to_owned() };
            let url = repository.text(&["url"]).ok_or_else(|| repository.unread(lacking))?;
            match repository.text(&["oci"]).as_deref() {
                Some("true") => ChartSource::of_registry(&url, name),
                _ => ChartSource::of_repository(&url, name),
            }
        }
        _ => {
            let own = joined(folder(&release.file), chart);
            let own = own.filter(|own| texts.has(&format!("{own}/Chart.yaml")));
            ChartSource::Folder(own.ok_or_else(|| unread(Why::NoFile(format!("{chart}/Chart.yaml"))))?)
        }
    };
    Ok(Below { source, version, locked: None })
}
