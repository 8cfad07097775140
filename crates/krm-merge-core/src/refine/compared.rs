//! Three versions of a list without keys, compared.
//!
//! Where elements repeat or have another order, several shortest differences exist, and which one a search finds depends on its direction.
//! Two sides that were searched in one direction may disagree about an element. So short lists are searched in both, and the comparison
//! counts in which both sides changed the fewest parts.

use std::cmp::Ordering;

use krm_yaml::hashed::{Empty, HashMap};

use super::moved::with_moved;
use super::partners::{FeaturesOf, FoundPartners, PartnerSearch, partners};
use super::three::{Changed, Matches, Part, parts};

/// Three versions of a list, compared.
pub(super) struct Compared {
    /// Their parts. The anchors are in the order of updated and dest, which may be another one in original.
    pub parts: Vec<Part>,
    /// The places of original's elements in updated.
    pub in_updated: Matches,
    /// The places of original's elements in dest.
    pub in_dest: Matches,
}

/// A side of a comparison, as each search finds it.
#[derive(Clone)]
pub(super) struct Ways<'v, 'a> {
    forward: FoundPartners<'v, 'a>,
    /// `None` for a long list.
    backward: Option<FoundPartners<'v, 'a>>,
}

/// The most elements of a side that is searched in both directions.
const FEW: usize = 500;

impl<'v, 'a> Ways<'v, 'a> {
    pub(super) fn of(original: FeaturesOf<'_, '_>, side: FeaturesOf<'v, 'a>) -> Self {
        let found = |search| FoundPartners::of(original, side, search);
        Self {
            forward: found(PartnerSearch::Forward),
            backward: (side.0.len() <= FEW).then(|| found(PartnerSearch::Backward)),
        }
    }

    /// The elements of the side.
    pub(super) fn elements(&self) -> FeaturesOf<'v, 'a> {
        self.forward.elements
    }
}

/// Compares three versions, so that both sides changed as few parts as possible.
pub(super) fn compared(original: FeaturesOf<'_, '_>, updated: &Ways<'_, '_>, dest: &Ways<'_, '_>) -> Compared {
    let [of_updated, of_dest] = [updated, dest].map(|side| side.elements().0);
    let of = |updated: &FoundPartners<'_, '_>, dest: &FoundPartners<'_, '_>| {
        let compared = in_one_way(original, updated, dest);
        let is_apart = |part: &&Part| part.changed(original.0, of_updated, of_dest) == Changed::Apart;
        (compared.parts.iter().filter(is_apart).count(), compared)
    };
    let first = of(&updated.forward, &dest.forward);
    let (Some(back_updated), Some(back_dest)) = (&updated.backward, &dest.backward) else { return first.1 };
    if first.0 == 0 {
        return first.1;
    }
    let last = of(back_updated, back_dest);
    let best = if last.0 < first.0 { last } else { first };
    // Swapped sides must have the same parts, so of two equally good ways that are each other's mirror neither counts.
    let (one, other) = (of(&updated.forward, back_dest), of(back_updated, &dest.forward));
    let mixed = match one.0.cmp(&other.0) {
        Ordering::Less => Some(one),
        Ordering::Greater => Some(other),
        Ordering::Equal => None,
    };
    mixed.filter(|mixed| mixed.0 < best.0).unwrap_or(best).1
}

/// Whether the merged list has more or fewer of an element than both sides ask for. The lists are original, updated and dest.
///
/// An element that one side removed is there, because the other side moved it: by place, a move is a removal, which both sides made, and an
/// addition. Or an element that all versions have is not there, because it was taken for another one that it is like.
pub(super) fn any_strays(versions: [&[u32]; 3], merged: &[u32]) -> bool {
    let count = |numbers: &[u32]| {
        let mut count: HashMap<u32, usize> = HashMap::new();
        numbers.iter().for_each(|number| *count.entry(*number).or_default() += 1);
        count
    };
    let ([original, updated, dest], merged) = (versions.map(count), count(merged));
    original.iter().any(|(number, original)| {
        let [updated, dest, merged] = [&updated, &dest, &merged].map(|of| of.get(number).copied().unwrap_or_default());
        let is_unchanged = updated == *original && dest == *original;
        // Both sides may have removed the same one, or one side may have added another one.
        let most = updated.min(dest).max((updated + dest).saturating_sub(*original));
        merged > most || is_unchanged && merged < *original
    })
}

fn in_one_way(original: FeaturesOf<'_, '_>, updated: &FoundPartners<'_, '_>, dest: &FoundPartners<'_, '_>) -> Compared {
    let [in_updated, in_dest] = partners(original, [updated, dest]);
    let (updated, dest) = (updated.elements, dest.elements);
    let parts = parts(&in_updated, &in_dest, updated.0.len(), dest.0.len());
    let parts = with_moved(parts, [original, updated, dest], [&in_updated, &in_dest]);
    Compared { parts, in_updated, in_dest }
}
