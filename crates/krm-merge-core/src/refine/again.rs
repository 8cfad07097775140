//! Whether a second run leaves a merged list without keys as it is.
//!
//! Such a list does not say which elements are one, so a merge finds out by their values (`partners.rs`). It may find something else in its
//! own result: of two equal elements, the other one seems to be gone; an element that dest moved and upstream dropped seems to be new. A
//! second run would then add elements twice or drop some. A pipeline merges at each run, so such a list must stay one conflict. The second
//! run needs no walk: it leaves each element alone whose three versions it pairs as the first run did.

use krm_schema::schema::Names;
use krm_tree::sides::Side;

use super::additions::{AddedElements, BothAdded, MergedElement, WordOrder, replaced};
use super::compared::{Compared, Ways, any_strays, compared};
use super::partners::FeaturesOf;
use super::three::{Anchor, Changed, Hunk, Part};

/// How an element was merged from three versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MergedFrom {
    /// All of its fields or elements, as those of any other value.
    Inside,
    /// As a whole: by line or by element, because the versions are not alike.
    Whole,
}

/// The merged list in which one side won all conflicts.
#[derive(Clone, Copy)]
pub(super) struct AgainOutcome<'v, 'a> {
    /// Its elements, and original's among them.
    pub ways: &'v Ways<'v, 'a>,
    /// For each element that may be merged from three versions, how, and the places of these.
    pub from: &'v [Option<(MergedFrom, Anchor)>],
    /// How elements are named, if they are.
    pub names: Option<Names>,
    /// Whether the order of its words is their meaning.
    pub order: WordOrder,
    /// The side that won.
    pub winner: Side,
    /// The additions that it has, where both sides added elements at one place.
    pub additions: Kept,
}

/// The additions that stay where both sides added elements at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Those of both sides, as each policy has it.
    Both,
    /// Those of the winner, as a rule may have it.
    OfWinner,
}

impl<'a> AgainOutcome<'_, 'a> {
    /// Whether nothing changes if a side is merged into it again, and the same side wins again.
    pub(super) fn stays(&self, original: FeaturesOf<'_, 'a>, side: Side, other: &Ways<'_, 'a>) -> bool {
        let this = self.ways.elements();
        if this.0 == other.elements().0 {
            return true;
        }
        let Compared { parts, in_updated, in_dest } = compared(original, other, self.ways);
        let new =
            AddedElements::of(original, [other.elements(), this], [&in_updated, &in_dest], (self.names, self.order));
        let is_apart = |part: &Part| match part {
            Part::Anchor(_) => false,
            Part::Hunk(hunk) => {
                let is_apart = hunk.changed(original.0, other.elements().0, this.0) == Changed::Apart;
                let added = if is_apart { new.in_hunk(hunk) } else { None };
                is_apart && !matches!(added, Some(BothAdded::Apart(_) | BothAdded::Together(_)))
            }
        };
        if !parts.iter().any(is_apart) && any_strays([original.0, other.elements().0, this.0], this.0) {
            return false;
        }
        let again = Again { outcome: self, original, side, other: other.elements(), new: &new };
        parts.iter().all(|part| match part {
            Part::Anchor(at) => again.keeps_element(*at),
            Part::Hunk(hunk) => again.keeps_hunk(hunk),
        })
    }
}

/// A second run, which merges a side into an outcome.
struct Again<'v, 'a> {
    outcome: &'v AgainOutcome<'v, 'a>,
    original: FeaturesOf<'v, 'a>,
    side: Side,
    /// The elements of the side.
    other: FeaturesOf<'v, 'a>,
    new: &'v AddedElements<'v, 'a>,
}

impl Again<'_, '_> {
    fn keeps_element(&self, at: Anchor) -> bool {
        let (old, new) = (self.original.0[at.original], self.other.0[at.updated]);
        match Changed::of(&old, &new, &self.outcome.ways.elements().0[at.dest]) {
            Changed::Nowhere | Changed::Dest | Changed::Alike => true,
            Changed::Updated => false,
            Changed::Apart => self.was_merged(MergedFrom::Inside, [old, new], at.dest),
        }
    }

    fn keeps_hunk(&self, hunk: &Hunk) -> bool {
        let (old, new) = (self.original.part(&hunk.original), self.other.part(&hunk.updated));
        let own = self.outcome.ways.elements().part(&hunk.dest);
        match Changed::of(old.0, new.0, own.0) {
            Changed::Nowhere | Changed::Dest | Changed::Alike => true,
            Changed::Updated => are_kept(&replaced(new.0, own.0)),
            Changed::Apart => {
                let is_one_by_one = [new.0.len(), own.0.len()] == [old.0.len(); 2];
                let was_merged = |n| self.was_merged(MergedFrom::Whole, [old.0[n], new.0[n]], hunk.dest.start + n);
                match self.new.in_hunk(hunk) {
                    Some(BothAdded::Apart(elements)) => are_kept(&elements),
                    Some(BothAdded::Together(elements)) if self.outcome.additions == Kept::Both => are_kept(&elements),
                    // It is in conflict again, and the outcome has what won.
                    _ if self.side != self.outcome.winner => true,
                    Some(BothAdded::Beside([_, updated])) => are_kept(&updated),
                    Some(BothAdded::Together(_)) => are_kept(&replaced(new.0, own.0)),
                    None => is_one_by_one && (0..old.0.len()).all(was_merged),
                }
            }
        }
    }

    /// Whether the first run made an element of the outcome of the same element of original and the same one of the side.
    fn was_merged(&self, way: MergedFrom, numbers: [u32; 2], at: usize) -> bool {
        let is_of = |from: Anchor| numbers == [self.original.0[from.original], self.other.0[from.of(self.side)]];
        self.outcome.from[at].is_some_and(|(how, from)| how == way && is_of(from))
    }
}

fn are_kept(elements: &[MergedElement]) -> bool {
    elements.iter().all(|element| matches!(element, MergedElement::Kept(_)))
}
