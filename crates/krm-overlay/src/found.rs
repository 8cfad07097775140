//! Finds the overlays in a tree of files, and what lies below each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use krm_yaml::Document;

use crate::dependency::{self, CHART, dependencies};
use crate::flux::{address, of_image};
use crate::layer_place::LayerPlace;
use crate::overlay::{Below, ChartSource, Overlay, OverlayKind};
use crate::reads::Named;
use crate::resources::Resources;
use crate::texts::{At, Texts};
use crate::unread::Unread;
use crate::{argo, flux, helmfile, kustomize, record};

/// The overlays among the files of a tree, in the order of their places. A packed chart is a file with an empty text.
pub fn overlays(files: &BTreeMap<String, String>) -> Vec<Overlay> {
    let texts = Texts::new(files);
    let resources = Resources::read(&texts);
    let mut all = flux::overlays(&resources);
    all.extend(argo::overlays(&resources));
    all.extend(kustomize::overlays(&resources));
    all.extend(helmfile::overlays(&texts));
    all.extend(record::overlays(&texts));
    all.extend(resources.unread().iter().map(unreadable));
    let named: BTreeSet<String> =
        all.iter().flat_map(|overlay| &overlay.layers).map(|layer| layer.file().to_owned()).collect();
    let below: Vec<Overlay> = all.iter().flat_map(|overlay| of_dependencies(&texts, overlay)).collect();
    all.extend(below);
    all.extend(dependency::overlays(&texts, |path| named.contains(path)));
    all.sort_by(|a, b| (&a.at.file, a.at.offset, a.shared).cmp(&(&b.at.file, b.at.offset, b.shared)));
    all
}

fn unreadable(unread: &Unread) -> Overlay {
    Overlay {
        kind: OverlayKind::Unreadable,
        name: unread.at.file.clone(),
        at: unread.at.clone(),
        below: Err(unread.clone()),
        layers: Vec::new(),
        shared: 0,
        unread: Vec::new(),
        named: Named::default(),
    }
}

/// The values of an overlay of a chart among the files that lie over the chart's dependencies.
fn of_dependencies(texts: &Texts<'_>, overlay: &Overlay) -> Vec<Overlay> {
    let Ok(Below { source: ChartSource::Folder(chart), .. }) = &overlay.below else { return Vec::new() };
    let own = LayerPlace::of_file(texts, &format!("{chart}/values.yaml")).ok().flatten();
    let over = |dependency: &dependency::Dependency| {
        let mut layers: Vec<_> = own.iter().flat_map(|own| dependency.narrowed(own)).collect();
        let shared = layers.len();
        layers.extend(overlay.layers.iter().flat_map(|layer| dependency.narrowed(layer)));
        (layers.len() > shared).then(|| Overlay {
            kind: overlay.kind,
            name: format!("{} of {}", dependency.key, overlay.name),
            at: overlay.at.clone(),
            below: dependency.below.clone(),
            layers,
            shared,
            unread: Vec::new(),
            named: dependency.named.clone(),
        })
    };
    dependencies(texts, chart).iter().filter_map(over).collect()
}

/// The name of a text that somebody copied.
const PASTED: &str = "pasted.yaml";

/// The charts that a text names, as somebody copies it from a file: a HelmRelease with its source, a HelmRepository, an OCIRepository, an
/// Application, a kustomization or an entry of its `helmCharts`, a `Chart.yaml` or a dependency of it. A repository without a chart has an
/// empty name.
///
/// # Errors
/// The text is not YAML.
pub fn pasted(text: &str) -> Result<Vec<Result<Below, Unread>>, krm_yaml::Error> {
    let document = Rc::new(Document::parse(text.to_owned())?);
    // Files are known by their names.
    let named = |name: &str| BTreeMap::from([(name.to_owned(), text.to_owned())]);
    for name in [PASTED, "kustomization.yaml", CHART] {
        let found: Vec<_> = overlays(&named(name)).into_iter().map(|overlay| overlay.below).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let files = named(PASTED);
    let texts = Texts::new(&files);
    let resources = Resources::read(&texts);
    let images = resources.of_kind("OCIRepository").map(of_image);
    let repository = |one| {
        let source = ChartSource::of_repository(&address(one)?, "");
        Ok(Below { source, version: None, locked: None })
    };
    let found: Vec<_> = images.chain(resources.of_kind("HelmRepository").map(repository)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let entries = (0..document.roots().len()).map(|root| At::root(PASTED, &document, root)).flat_map(|root| {
        let elements = root.elements(&[]);
        if elements.is_empty() { vec![root] } else { elements }
    });
    let entry = |entry: At| {
        let of_chart = dependency::pasted(&texts, &entry);
        of_chart.or_else(|| entry.text(&["repo"]).map(|_| kustomize::below(&entry, None, &texts)))
    };
    Ok(entries.filter_map(entry).collect())
}

#[cfg(test)]
mod tests;
