//! What `review --in-place` does with values: it moves those whose place has another name, removes those that somebody wants to be removed, and
//! decides those that hide a changed default.
//!
//! A value goes only if that changes nothing else: no layer below has another value there, and all that lies below is known. Each overlay
//! with these values must agree.

use std::collections::BTreeMap;

use krm_overlay::{Choice, Finding, KnownBy, LayerPlace, Overlay, Value, Verdict};
use krm_tree::path::FieldPath;
use krm_tree::sides::Side;
use krm_yaml::NodeRef;

use crate::cli::InConflict;

/// What somebody wants to be done.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Whether what the new release says, too, is removed.
    pub same: bool,
    /// Whether what the new release does not read is removed.
    pub gone: bool,
    /// What becomes of what hides a changed default.
    pub hidden: InConflict,
}

impl Wanted {
    /// Whether it asks for another text where a verdict is this one.
    pub fn asks_for(self, verdict: &Verdict) -> bool {
        match verdict {
            Verdict::NewlySame { .. } | Verdict::Same => self.same,
            Verdict::Gone { .. } => self.gone,
            verdict => {
                matches!(self.hidden, InConflict::Mark | InConflict::TakeUpdated)
                    && verdict.hidden(Side::Updated).is_some()
            }
        }
    }
}

/// The values of a layer, in its file, and a place in them.
type PlaceAt = (LayerAt, String);
type LayerAt = (String, usize);

/// What becomes of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wish {
    Drop,
    Move(FieldPath<'static>),
    /// Somebody chooses among the layer and what the old and the new release say.
    Choose([Option<Value>; 2]),
}

/// What the overlays of a tree want for their values.
#[derive(Default)]
pub struct Wishes {
    /// Those for each place.
    of_places: BTreeMap<PlaceAt, Vec<Wish>>,
    /// How many overlays have a layer.
    users: BTreeMap<LayerAt, usize>,
}

impl Wishes {
    /// No wishes yet, for all overlays of a tree.
    pub fn of(overlays: &[Overlay]) -> Self {
        let mut wishes = Self::default();
        let layers = overlays.iter().flat_map(|overlay| &overlay.layers).filter_map(at);
        layers.for_each(|layer| *wishes.users.entry(layer).or_default() += 1);
        wishes
    }

    /// Notes what one overlay wants.
    pub fn add(&mut self, overlay: &Overlay, findings: &[Finding], wanted: Wanted) {
        for finding in findings {
            if let (Some(wish), Some(place)) = (wish(overlay, finding, wanted), place_at(overlay, finding)) {
                self.of_places.entry(place).or_default().push(wish);
            }
        }
    }

    /// What a place becomes in the text for one side, if all overlays with it agree.
    pub fn choice(&self, overlay: &Overlay, finding: &Finding, hidden: InConflict, side: Side) -> Choice {
        let wishes = place_at(overlay, finding).and_then(|place| Some((self.of_places.get(&place)?, place.0)));
        let agreed = wishes.filter(|(wishes, layer)| self.users.get(layer) == Some(&wishes.len()));
        match agreed.map(|(wishes, _)| &wishes[..]) {
            Some([first, others @ ..]) if others.iter().all(|other| other == first) => match first {
                Wish::Drop => Choice::Drop,
                Wish::Move(_) => Choice::Move,
                Wish::Choose(_) if hidden == InConflict::TakeUpdated => Choice::Says(Side::Updated),
                Wish::Choose(_) => Choice::Says(side),
            },
            _ => Choice::Keep,
        }
    }
}

/// What one overlay wants.
fn wish(overlay: &Overlay, finding: &Finding, wanted: Wanted) -> Option<Wish> {
    overlay.layers.get(finding.layer).filter(|layer| layer.is_editable())?;
    let hidden = [Side::Original, Side::Updated].map(|side| finding.verdict.hidden(side));
    if let ([Some(original), Some(updated)], InConflict::Mark | InConflict::TakeUpdated) = (hidden, wanted.hidden) {
        return Some(Wish::Choose([original.cloned(), updated.cloned()]));
    }
    let wish = match &finding.verdict {
        // With other values, the chart may need it again.
        Verdict::Gone { known_by: KnownBy::Rendering, .. } | Verdict::NewlySame { known_by: KnownBy::Rendering } => {
            return None;
        }
        Verdict::NewlySame { .. } | Verdict::Same if wanted.same => Wish::Drop,
        Verdict::Gone { moved_to: None, .. } if wanted.gone => Wish::Drop,
        Verdict::Gone { moved_to: Some(to), .. } => Wish::Move(to.place.clone()),
        _ => return None,
    };
    let (path, below) = (finding.place.names()?, overlay.layers.get(..finding.layer)?);
    let hides = |below: &LayerPlace| below.node().is_some_and(|node| has(node, &below.prefix, &path));
    (overlay.unread.is_empty() && !below.iter().any(hides)).then_some(wish)
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
