//! Elements of a list without keys that both sides moved to the same place.
//!
//! diff3 sees such an element as dropped in one place and added in another. If one side also changed it, the two additions differ and would
//! be in conflict. After a first run, an element that one side moved and the other one changed is in this state: dest has both changes.

use std::collections::BTreeSet;

use krm_tree::tree::View;
use krm_yaml::hashed::{Empty, HashMap};

use super::partners::{FeaturesOf, are_one};
use super::three::{Anchor, Changed, Hunk, Matches, Part};

/// The parts of three versions, in which a hunk becomes anchors if both sides have the same elements of original in it, one by one.
pub(super) fn with_moved(
    parts: Vec<Part>,
    [original, updated, dest]: [FeaturesOf<'_, '_>; 3],
    places: [&Matches; 2],
) -> Vec<Part> {
    let mut moved = MovedElements { sides: [original, updated, dest], places, free: HashMap::new() };
    let hunks = parts.iter().filter_map(|part| match part {
        Part::Hunk(hunk) => Some(hunk),
        Part::Anchor(_) => None,
    });
    for at in hunks.flat_map(|hunk| hunk.original.clone()) {
        moved.free.entry(original.0[at]).or_default().insert(at);
    }
    let mut out = Vec::with_capacity(parts.len());
    for part in parts {
        match &part {
            Part::Hunk(hunk) => match moved.one_by_one(hunk) {
                Some(parts) => out.extend(parts),
                None => out.push(part),
            },
            Part::Anchor(_) => out.push(part),
        }
    }
    out
}

struct MovedElements<'v, 'a> {
    sides: [FeaturesOf<'v, 'a>; 3],
    /// The places of original's elements in updated and in dest.
    places: [&'v Matches; 2],
    /// By number, the elements of original that are no anchors.
    free: HashMap<u32, BTreeSet<usize>>,
}

/// How many elements with one number are looked at.
const TRIED: usize = 8;

impl MovedElements<'_, '_> {
    /// The parts of a hunk in which both sides have the same elements, some of them moved; `None` for any other hunk.
    fn one_by_one(&mut self, hunk: &Hunk) -> Option<Vec<Part>> {
        let [original, updated, dest] = self.sides;
        let is_apart = hunk.changed(original.0, updated.0, dest.0) == Changed::Apart;
        if !is_apart || hunk.updated.len() != hunk.dest.len() {
            return None;
        }
        let mut parts = Vec::with_capacity(hunk.updated.len());
        for (updated, dest) in hunk.updated.clone().zip(hunk.dest.clone()) {
            let Some(part) = self.part(hunk, updated, dest) else {
                self.release(&parts);
                return None;
            };
            parts.push(part);
        }
        Some(parts)
    }

    /// The part for an element of each side; `None` if they are not one element of original.
    fn part(&mut self, hunk: &Hunk, in_updated: usize, in_dest: usize) -> Option<Part> {
        let [_, updated, dest] = self.sides;
        if updated.0[in_updated] == dest.0[in_dest] {
            let none = hunk.original.start..hunk.original.start;
            return Some(Part::Hunk(Hunk {
                original: none,
                updated: in_updated..in_updated + 1,
                dest: in_dest..in_dest + 1,
            }));
        }
        let unchanged_in_updated = self.moved(hunk, updated.0[in_updated], dest.1[in_dest]);
        let unchanged_in_dest = self.moved(hunk, dest.0[in_dest], updated.1[in_updated]);
        let at = match (unchanged_in_updated, unchanged_in_dest) {
            (Some(at), None) | (None, Some(at)) => at,
            // Two elements that are alike, or none.
            _ => return None,
        };
        self.free.get_mut(&self.sides[0].0[at])?.remove(&at);
        Some(Part::Anchor(Anchor { original: at, updated: in_updated, dest: in_dest }))
    }

    /// The element of original that one side has unchanged, with this number, and the other side as `changed`.
    fn moved(&self, hunk: &Hunk, number: u32, changed: View<'_, '_>) -> Option<usize> {
        let [original, ..] = self.sides;
        let free = self.free.get(&number)?;
        let is_nowhere = |at: &&usize| self.places.iter().all(|places| places[**at].is_none());
        let here = free.range(hunk.original.clone()).next();
        let at = here.or_else(|| free.iter().take(TRIED).find(is_nowhere))?;
        are_one(original.1[*at], changed).then_some(*at)
    }

    fn release(&mut self, parts: &[Part]) {
        for part in parts {
            if let Part::Anchor(at) = part {
                self.free.entry(self.sides[0].0[at.original]).or_default().insert(at.original);
            }
        }
    }
}
