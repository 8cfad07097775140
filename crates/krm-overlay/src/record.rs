//! The record of a package that renders a chart with values of its own.

use crate::layer_place::LayerPlace;
use crate::overlay::{Below, ChartSource, Overlay, OverlayKind, VersionPlace};
use crate::reads::Named;
use crate::texts::{At, Texts, folder, joined, name};
use crate::unread::Why;

/// The file with the record.
const RECORD: &str = ".krm-merge.yaml";

/// The packages among some files that render a chart.
pub fn overlays(texts: &Texts<'_>) -> Vec<Overlay> {
    let files = texts.iter().map(|(path, _)| path).filter(|path| name(path) == RECORD);
    let roots = files.flat_map(|path| texts.roots(path).unwrap_or_default().into_iter().next());
    roots.filter_map(|root| of_record(texts, &root)).collect()
}

fn of_record(texts: &Texts<'_>, root: &At) -> Option<Overlay> {
    let upstream = root.get(&["spec", "upstream"])?;
    let render = upstream.get(&["render"]).or_else(|| root.get(&["spec", "render"]))?;
    let package = folder(&root.file);
    let (chart, image) = (upstream.get(&["chart"]), upstream.get(&["oci"]));
    let (source, version, field) = match (chart, image) {
        (Some(chart), _) => {
            let source = ChartSource::of_repository(&chart.text(&["repo"])?, &chart.text(&["name"])?);
            (source, chart.get(&["version"]), ["chart", "version"])
        }
        (None, Some(image)) => {
            (ChartSource::of_registry(&image.text(&["image"])?, ""), image.get(&["tag"]), ["oci", "tag"])
        }
        (None, None) => return None,
    };
    let locked = root.text(&["spec", "upstreamLock", field[0], field[1]]);
    let mut overlay = Overlay {
        kind: OverlayKind::Record,
        name: if package.is_empty() { ".".to_owned() } else { package.to_owned() },
        at: upstream.spot(),
        below: Ok(Below { source, version: version.as_ref().and_then(VersionPlace::of), locked }),
        layers: Vec::new(),
        shared: 0,
        unread: Vec::new(),
        named: Named::default(),
    };
    for file in render.elements(&["values"]) {
        let named = file.text(&[]).unwrap_or_default();
        let layer =
            joined(package, &named).ok_or(Why::NoFile(named)).and_then(|path| LayerPlace::of_file(texts, &path));
        match layer {
            Ok(layer) => overlay.layers.extend(layer),
            Err(why) => overlay.unread.push(file.unread(why)),
        }
    }
    Some(overlay)
}
