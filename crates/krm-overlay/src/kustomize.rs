//! The charts that a kustomization inflates: `helmCharts`, and a HelmChartInflationGenerator.

use crate::layer_place::LayerPlace;
use crate::overlay::{Below, ChartSource, Overlay, OverlayKind, VersionPlace};
use crate::reads::Named;
use crate::resources::Resources;
use crate::texts::{At, Texts, folder, joined};
use crate::unread::{Unread, Why};

/// The folder in which kustomize looks for charts by itself.
const HOME: &str = "charts";

/// The charts of the kustomizations among some files.
pub fn overlays(resources: &Resources<'_>) -> Vec<Overlay> {
    let texts = resources.texts();
    let of_kustomization = |one: &At| {
        let home = one.text(&["helmGlobals", "chartHome"]);
        let charts = one.elements(&["helmCharts"]);
        charts.iter().map(|chart| of_chart(chart, home.as_deref(), texts)).collect::<Vec<_>>()
    };
    let generators = resources.of_kind("HelmChartInflationGenerator");
    let generated = generators.map(|one| of_chart(&one.at, one.at.text(&["chartHome"]).as_deref(), texts));
    resources.kustomizations().iter().flat_map(of_kustomization).chain(generated).collect()
}

fn of_chart(chart: &At, home: Option<&str>, texts: &Texts<'_>) -> Overlay {
    let name = ["releaseName", "name"].iter().find_map(|field| chart.text(&[field])).unwrap_or_default();
    let mut overlay = Overlay {
        kind: OverlayKind::HelmCharts,
        name,
        at: chart.spot(),
        below: below(chart, home, texts),
        layers: Vec::new(),
        shared: 0,
        unread: Vec::new(),
        named: Named::default(),
    };
    let merge = chart.text(&["valuesMerge"]);
    let inline = chart.get(&["valuesInline"]);
    let file = chart.get(&["valuesFile"]).filter(|_| inline.is_none() || merge.as_deref() != Some("replace"));
    let inline = inline.map(|inline| (inline.unread(Why::NotValues).at, LayerPlace::of_node(inline).map(Some)));
    let file = file.map(|file| (file.spot(), values_file(&file, texts)));
    let first = if merge.as_deref() == Some("merge") { [inline, file] } else { [file, inline] };
    let more = chart.elements(&["additionalValuesFiles"]);
    let more = more.iter().map(|file| (file.spot(), values_file(file, texts)));
    for (at, layer) in first.into_iter().flatten().chain(more) {
        match layer {
            Ok(layer) => overlay.layers.extend(layer),
            Err(why) => overlay.unread.push(Unread { at, why }),
        }
    }
    overlay
}

/// The chart of an entry.
pub fn below(chart: &At, home: Option<&str>, texts: &Texts<'_>) -> Result<Below, Unread> {
    let name = chart.text(&["name"]).ok_or_else(|| chart.unread(Why::NoChart))?;
    let source = match chart.text(&["repo"]) {
        Some(repo) => ChartSource::of_repository(&repo, &name),
        None => {
            let home = joined(folder(&chart.file), home.unwrap_or(HOME));
            let own = home.and_then(|home| joined(&home, &name));
            let own = own.filter(|own| texts.has(&format!("{own}/Chart.yaml")));
            ChartSource::Folder(own.ok_or_else(|| chart.unread(Why::NoFile(format!("{HOME}/{name}/Chart.yaml"))))?)
        }
    };
    let version = chart.get(&["version"]).as_ref().and_then(VersionPlace::of);
    Ok(Below { source, version, locked: None })
}

fn values_file(file: &At, texts: &Texts<'_>) -> Result<Option<LayerPlace>, Why> {
    let named = file.text(&[]).unwrap_or_default();
    let path = joined(folder(&file.file), &named).ok_or(Why::NoFile(named))?;
    LayerPlace::of_file(texts, &path)
}
