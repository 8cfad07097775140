//! Applications and ApplicationSets of Argo CD.

use crate::layer_place::LayerPlace;
use crate::overlay::{Below, ChartSource, Overlay, OverlayKind, VersionPlace};
use crate::reads::Named;
use crate::resources::{Resource, Resources};
use crate::texts::{At, Texts, joined};
use crate::unread::{Unread, Why};

/// The sources with charts of the Applications among some resources.
pub fn overlays(resources: &Resources<'_>) -> Vec<Overlay> {
    let application = |of: &Resource| spec(OverlayKind::Application, of, &["spec"], resources.texts());
    let set = |of: &Resource| spec(OverlayKind::ApplicationSet, of, &["spec", "template", "spec"], resources.texts());
    let applications = resources.of_kind("Application").flat_map(application);
    applications.chain(resources.of_kind("ApplicationSet").flat_map(set)).collect()
}

fn spec(kind: OverlayKind, of: &Resource, path: &[&str], texts: &Texts<'_>) -> Vec<Overlay> {
    let Some(spec) = of.at.get(path) else { return Vec::new() };
    let mut sources = spec.elements(&["sources"]);
    if sources.is_empty() {
        sources.extend(spec.get(&["source"]));
    }
    let refs: Vec<String> = sources.iter().filter_map(|source| source.text(&["ref"])).collect();
    let overlay = |source: &At| {
        let below = below(source, texts)?;
        let mut overlay = Overlay {
            kind,
            name: of.called(),
            at: source.spot(),
            below,
            layers: Vec::new(),
            shared: 0,
            unread: Vec::new(),
            named: Named::default(),
        };
        add_values(source, &refs, texts, &mut overlay);
        Some(overlay)
    };
    sources.iter().filter_map(overlay).collect()
}

/// The chart of a source; `None` if it is no chart.
fn below(source: &At, texts: &Texts<'_>) -> Option<Result<Below, Unread>> {
    let named = |field: &str| source.text(&[field]);
    let (url, chart, path) = (named("repoURL")?, named("chart"), named("path"));
    let folder = path.as_deref().and_then(|path| joined("", path));
    let own = folder.filter(|folder| texts.has(&joined(folder, "Chart.yaml").unwrap_or_default()));
    let is_chart = chart.is_some() || own.is_some() || source.get(&["helm"]).is_some();
    if !is_chart {
        return None;
    }
    let revision = source.get(&["targetRevision"]);
    let written = ["repoURL", "chart", "path", "targetRevision"].into_iter().filter_map(|field| source.get(&[field]));
    let variable = written.filter_map(|at| Some((at.text(&[]).filter(|text| text.contains("{{"))?, at))).next();
    if let Some((text, at)) = variable {
        return Some(Err(at.unread(Why::Variable(text))));
    }
    let source = match (chart, own) {
        (Some(chart), _) if !url.contains("://") => ChartSource::of_registry(&url, &chart),
        (Some(chart), _) => ChartSource::of_repository(&url, &chart),
        (None, Some(own)) => ChartSource::Folder(own),
        (None, None) if url.starts_with("oci://") => ChartSource::of_registry(&url, ""),
        (None, None) => ChartSource::Git { url, path: path.unwrap_or_default() },
    };
    let version = revision.as_ref().and_then(VersionPlace::of);
    Some(Ok(Below { source, version, locked: None }))
}

/// Adds the values of a source, in the order of Argo CD: files, `valuesObject` or else `values`, and parameters.
fn add_values(source: &At, refs: &[String], texts: &Texts<'_>, overlay: &mut Overlay) {
    let Some(helm) = source.get(&["helm"]) else { return };
    for file in helm.elements(&["valueFiles"]) {
        match values_file(source, &file, refs, texts) {
            Ok(layer) => overlay.layers.extend(layer),
            Err(why) => overlay.unread.push(file.unread(why)),
        }
    }
    let object = helm.get(&["valuesObject"]);
    let values = match (object, helm.get(&["values"])) {
        (Some(object), _) => Some((LayerPlace::of_node(object.clone()).map(Some), object)),
        (None, Some(text)) => Some((LayerPlace::of_text(&text), text)),
        (None, None) => None,
    };
    match values {
        Some((Ok(layer), _)) => overlay.layers.extend(layer),
        Some((Err(why), at)) => overlay.unread.push(at.unread(why)),
        None => {}
    }
    for parameter in helm.elements(&["parameters"]) {
        let name = parameter.text(&["name"]).and_then(|name| keys(&name));
        match (name, parameter.get(&["value"])) {
            (Some(keys), Some(value)) if parameter.text(&["forceString"]).as_deref() == Some("true") => {
                overlay.layers.push(LayerPlace::of_value(value, keys));
            }
            (Some(keys), Some(value)) => overlay.layers.push(LayerPlace::of_set(value, keys)),
            _ => overlay.unread.push(parameter.unread(Why::Field("parameters".to_owned()))),
        }
    }
    if let Some(files) = helm.get(&["fileParameters"]) {
        overlay.unread.push(files.unread(Why::Field("fileParameters".to_owned())));
    }
}

/// The values in a file that a source names: of another source, which is taken for the repository with these files if it has the path, or
/// beside the chart.
fn values_file(source: &At, file: &At, refs: &[String], texts: &Texts<'_>) -> Result<Option<LayerPlace>, Why> {
    let named = file.text(&[]).unwrap_or_default();
    if named.contains("{{") {
        return Err(Why::Variable(named));
    }
    let of_source = named.strip_prefix('$').and_then(|rest| rest.split_once('/'));
    let path = match of_source {
        Some((name, path)) if refs.iter().any(|known| known == name) => joined("", path),
        Some(_) => None,
        // Beside a chart of a repository, nothing of this tree is meant.
        None if source.get(&["chart"]).is_some() => None,
        None => joined(&source.text(&["path"]).unwrap_or_default(), &named),
    };
    let path = path.filter(|path| texts.has(path)).ok_or(Why::NoFile(named))?;
    LayerPlace::of_file(texts, &path)
}

/// The keys in the name of a parameter, as helm's `--set` reads them; `None` if it names an element of a list.
fn keys(name: &str) -> Option<Vec<String>> {
    let (mut keys, mut is_escaped) = (vec![String::new()], false);
    for c in name.chars() {
        match c {
            '\\' if !is_escaped => {
                is_escaped = true;
                continue;
            }
            '.' if !is_escaped => keys.push(String::new()),
            '[' | ']' | '{' | '}' | ',' | '=' if !is_escaped => return None,
            c => keys.last_mut()?.push(c),
        }
        is_escaped = false;
    }
    (!keys.iter().any(String::is_empty)).then_some(keys)
}
