//! The dependencies of a chart: its values below the name of one lie over the values of that chart.

use crate::chart::conditions;
use crate::layer_place::LayerPlace;
use crate::overlay::{Below, ChartSource, Overlay, OverlayKind, VersionPlace};
use crate::reads::Named;
use crate::texts::{At, Texts, folder, joined, name};
use crate::unread::{Unread, Why};

/// The file of a chart that names its dependencies.
pub const CHART: &str = "Chart.yaml";

/// The values that all charts see.
const GLOBAL: &str = "global";

/// A dependency of a chart, with the name that its values have.
pub struct Dependency {
    at: At,
    /// The key of its values.
    pub key: String,
    /// The chart.
    pub below: Result<Below, Unread>,
    /// The places in its values that the chart around it reads.
    pub named: Named,
}

/// The dependencies of the chart in a folder.
pub fn dependencies(texts: &Texts<'_>, chart: &str) -> Vec<Dependency> {
    let roots = |name: &str| texts.roots(&joined(chart, name).unwrap_or_default()).unwrap_or_default();
    let locked: Vec<At> = roots("Chart.lock").iter().flat_map(|lock| lock.elements(&["dependencies"])).collect();
    let all: Vec<At> = roots(CHART).iter().take(1).flat_map(|root| root.elements(&["dependencies"])).collect();
    let named = named(texts, chart, &all);
    let dependency = |(at, one): (usize, At)| {
        let name = one.text(&["name"])?;
        let is_it = |lock: &&At| lock.text(&["name"]).as_deref() == Some(&name);
        let lock = locked.get(at).filter(is_it).or_else(|| locked.iter().find(is_it));
        let locked = lock.and_then(|lock| lock.text(&["version"]));
        let key = one.text(&["alias"]).unwrap_or_else(|| name.clone());
        let named = named.below(&key, GLOBAL);
        Some(Dependency { below: below(texts, chart, &one, &name, locked), at: one, key, named })
    };
    all.into_iter().enumerate().filter_map(dependency).collect()
}

/// The places in the values of a chart that its own templates and the conditions of its dependencies read.
fn named(texts: &Texts<'_>, chart: &str, dependencies: &[At]) -> Named {
    let mut named = Named::default();
    let templates = joined(chart, "templates").unwrap_or_default() + "/";
    texts.iter().filter(|(path, _)| path.starts_with(&templates)).for_each(|(_, text)| named.add_text(text));
    for condition in dependencies.iter().filter_map(|one| one.text(&["condition"])) {
        conditions(&condition).for_each(|place| named.add(place));
    }
    named
}

/// The chart of a dependency. `chart` is the folder of the chart that has it.
fn below(texts: &Texts<'_>, chart: &str, of: &At, name: &str, locked: Option<String>) -> Result<Below, Unread> {
    let version = of.get(&["version"]).as_ref().and_then(VersionPlace::of);
    let repository = of.text(&["repository"]).unwrap_or_default();
    let is_folder = |folder: &String| texts.has(&format!("{folder}/{CHART}"));
    let source = if let Some(path) = repository.strip_prefix("file://") {
        let own = joined(chart, path).filter(is_folder);
        ChartSource::Folder(own.ok_or_else(|| of.unread(Why::NoFile(format!("{path}/{CHART}"))))?)
    } else if repository.is_empty() {
        let charts = joined(chart, "charts").unwrap_or_default();
        let own = joined(&charts, name).filter(is_folder).map(ChartSource::Folder);
        let number = locked.as_ref().or(version.as_ref().map(|version| &version.text)).cloned().unwrap_or_default();
        let packed = format!("{charts}/{name}-{number}.tgz");
        let found = own.or_else(|| texts.has(&packed).then_some(ChartSource::Packed(packed)));
        found.ok_or_else(|| of.unread(Why::NoFile(format!("{charts}/{name}/{CHART}"))))?
    } else if repository.starts_with('@') || repository.starts_with("alias:") {
        return Err(of.unread(Why::Source(repository)));
    } else {
        ChartSource::of_repository(&repository, name)
    };
    Ok(Below { source, version, locked })
}

/// The chart of a dependency that stands alone, without its chart.
pub fn pasted(texts: &Texts<'_>, of: &At) -> Option<Result<Below, Unread>> {
    let name = of.text(&["name"])?;
    of.get(&["repository"])?;
    Some(below(texts, folder(&of.file), of, &name, None))
}

impl Dependency {
    /// The values of a chart that lie over the dependency.
    pub fn narrowed(&self, layer: &LayerPlace) -> Vec<LayerPlace> {
        [self.key.as_str(), GLOBAL].into_iter().filter_map(|key| layer.narrowed(key, key == GLOBAL)).collect()
    }
}

/// The dependencies of the charts among the files. The values of a chart are those of `values.yaml`; each file `values*.yaml` beside it lies over
/// them, unless something says over what it lies.
pub fn overlays(texts: &Texts<'_>, is_named: impl Fn(&str) -> bool) -> Vec<Overlay> {
    let mut found = Vec::new();
    for (path, _) in texts.iter().filter(|(path, _)| name(path) == CHART) {
        let chart = folder(path);
        let is_values = |path: &str| {
            let is_yaml = path.ends_with(".yaml") || path.ends_with(".yml");
            folder(path) == chart && name(path).starts_with("values") && is_yaml && name(path) != "values.yaml"
        };
        let others: Vec<&str> =
            texts.iter().map(|(path, _)| path).filter(|path| is_values(path) && !is_named(path)).collect();
        for dependency in dependencies(texts, chart) {
            let own = joined(chart, "values.yaml").unwrap_or_default();
            let first = overlay(texts, chart, &dependency, Vec::new(), texts.has(&own).then_some(own.as_str()));
            let of_others =
                others.iter().map(|other| overlay(texts, chart, &dependency, first.layers.clone(), Some(other)));
            let of_others: Vec<Overlay> = of_others.filter(|one| one.layers.len() > one.shared).collect();
            found.push(first);
            found.extend(of_others);
        }
    }
    found
}

fn overlay(texts: &Texts<'_>, chart: &str, of: &Dependency, shared: Vec<LayerPlace>, file: Option<&str>) -> Overlay {
    let chart = if chart.is_empty() { "." } else { chart };
    let mut overlay = Overlay {
        kind: OverlayKind::Dependency,
        name: format!("{} of {}", of.key, name(chart)),
        at: of.at.spot(),
        below: of.below.clone(),
        shared: shared.len(),
        layers: shared,
        unread: Vec::new(),
        named: of.named.clone(),
    };
    if let Some(import) = of.at.get(&["import-values"]).filter(|_| overlay.shared == 0) {
        overlay.unread.push(import.unread(Why::Field("import-values".to_owned())));
    }
    match file.map(|file| LayerPlace::of_file(texts, file)) {
        Some(Ok(layer)) => overlay.layers.extend(layer.iter().flat_map(|layer| of.narrowed(layer))),
        Some(Err(why)) => overlay.unread.push(of.at.unread(why)),
        None => {}
    }
    overlay
}
