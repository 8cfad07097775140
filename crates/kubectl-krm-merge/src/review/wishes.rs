//! What `review --in-place` does with values: it moves those whose place has another name, and removes those that somebody wants to be removed.
//!
//! A value goes only if that changes nothing else: no layer below has another value there, all that lies below is known, and each overlay with
//! these values agrees.

use std::collections::BTreeMap;

use krm_overlay::{Choice, Finding, LayerPlace, Overlay, Verdict};
use krm_yaml::NodeRef;

/// What somebody wants to be removed.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// What the new release says, too.
    pub same: bool,
    /// What the new release does not read.
    pub gone: bool,
}

/// The values of a layer, in its file, and a place in them.
type PlaceAt = (LayerAt, String);
type LayerAt = (String, usize);

/// What the overlays of a tree can do without.
#[derive(Default)]
pub struct Drops {
    /// How many overlays choose that for a place.
    asked: BTreeMap<PlaceAt, usize>,
    /// How many overlays have a layer.
    users: BTreeMap<LayerAt, usize>,
}

impl Drops {
    /// No values yet, for all overlays of a tree.
    pub fn of(overlays: &[Overlay]) -> Self {
        let mut drops = Self::default();
        let layers = overlays.iter().flat_map(|overlay| &overlay.layers).filter_map(at);
        layers.for_each(|layer| *drops.users.entry(layer).or_default() += 1);
        drops
    }

    /// Notes what one overlay can do without.
    pub fn add(&mut self, overlay: &Overlay, findings: &[Finding], wanted: Wanted) {
        for finding in findings.iter().filter(|finding| chosen(overlay, finding, wanted) != Choice::Keep) {
            if let Some(place) = place_at(overlay, finding) {
                *self.asked.entry(place).or_default() += 1;
            }
        }
    }

    /// What becomes of a place, if all overlays with it agree.
    pub fn choice(&self, overlay: &Overlay, finding: &Finding, wanted: Wanted) -> Choice {
        let agree = place_at(overlay, finding).is_some_and(|place| self.asked.get(&place) == self.users.get(&place.0));
        if agree { chosen(overlay, finding, wanted) } else { Choice::Keep }
    }
}

/// What one overlay chooses.
fn chosen(overlay: &Overlay, finding: &Finding, wanted: Wanted) -> Choice {
    let choice = match &finding.verdict {
        Verdict::NewlySame | Verdict::Same if wanted.same => Choice::Drop,
        Verdict::Gone { moved_to: None } if wanted.gone => Choice::Drop,
        Verdict::Gone { moved_to: Some(_) } => Choice::Move,
        _ => return Choice::Keep,
    };
    let (Some(path), Some(below)) = (finding.place.names(), overlay.layers.get(..finding.layer)) else {
        return Choice::Keep;
    };
    let hides = |below: &LayerPlace| below.node().is_some_and(|node| has(node, &below.prefix, &path));
    let is_alone = overlay.unread.is_empty() && !below.iter().any(hides);
    let is_editable = overlay.layers.get(finding.layer).is_some_and(LayerPlace::is_editable);
    if is_alone && is_editable { choice } else { Choice::Keep }
}

fn place_at(overlay: &Overlay, finding: &Finding) -> Option<PlaceAt> {
    Some((at(overlay.layers.get(finding.layer)?)?, finding.place.keyed()))
}

fn at(layer: &LayerPlace) -> Option<LayerAt> {
    let node = layer.node().filter(|node| node.is_map())?;
    Some((layer.file().to_owned(), layer.offset(node.start())))
}

/// Whether values that lie at a prefix say something of a place, of what is above it, or of what is below.
fn has(values: NodeRef<'_>, prefix: &[String], path: &[String]) -> bool {
    let common = prefix.len().min(path.len());
    if prefix[..common] != path[..common] {
        return false;
    }
    let mut node = values;
    for name in &path[common..] {
        match node.get(name) {
            Some(below) => node = below,
            None => return !node.is_map(),
        }
    }
    true
}
