//! Elements that both sides added at one place of a list without keys.
//!
//! diff3 cannot know whether two such additions exclude each other. Additions are never lost: both stay, dest's first, and a conflict tells
//! it. What both sides added alike is there once. Where one side added elements and the other one replaced what stood before them, the
//! additions stay, too, whoever wins.

use std::cell::Cell;
use std::ops::Range;

use krm_schema::schema::Names;
use krm_tree::tree::View;
use krm_yaml::hashed::{Empty, HashMap, HashSet};

use super::partners::{FeaturesOf, any_is_one};
use super::three::{Changed, Hunk, Matches, matches};

/// An element of the result, by its index in the part of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MergedElement {
    /// An element of dest that stays.
    Kept(usize),
    /// An element of dest that is removed.
    Removed(usize),
    /// An element of updated that is added.
    New(usize),
}

/// Whether the order of the elements of a list is their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordOrder {
    /// Each element stands for itself, or a name tells it apart.
    Free,
    /// The list is one sentence, such as a command. So additions of both sides, one behind the other, would say something that neither side
    /// said.
    Sentence,
}

impl WordOrder {
    /// For a list of this field, with these elements on the sides. Arguments that are flags are told apart by them.
    pub(super) fn of(field: &str, sides: [&[View<'_, '_>]; 3]) -> Self {
        let are_words = || sides.iter().flat_map(|side| side.iter()).all(|word| word.text().is_some());
        let has_flags = || sides.iter().any(|side| is_command(side));
        let is_sentence = ["command", "entrypoint", "args"].contains(&field) && are_words() && !has_flags();
        if is_sentence { Self::Sentence } else { Self::Free }
    }
}

/// How many comparisons there may be for each element of a list.
const COMPARED: usize = 8;

/// The elements of a hunk that both sides changed, if at least one of them added some.
pub(super) enum BothAdded {
    /// Every addition has a place of its own, or one side has all that the other one has.
    Apart(Vec<MergedElement>),
    /// Both sides added elements at one place: both additions.
    Together(Vec<MergedElement>),
    /// One side added elements, and the other one replaced those before them: the elements if dest wins, and if updated wins.
    Beside([Vec<MergedElement>; 2]),
}

/// What updated and dest have in a list that original lacks.
pub(super) struct AddedElements<'v, 'a> {
    original: FeaturesOf<'v, 'a>,
    sides: [SideWithNew<'v, 'a>; 2],
    /// How often original has each number.
    counts: HashMap<u32, usize>,
    /// How elements are named, if they are.
    names: Option<Names>,
    order: WordOrder,
    /// How many elements may still be compared. If there are too many to compare, any may be one that moved.
    left: Cell<usize>,
}

struct SideWithNew<'v, 'a> {
    elements: FeaturesOf<'v, 'a>,
    /// How often it has each number.
    counts: HashMap<u32, usize>,
    /// The elements of original that it lacks.
    lacks: Vec<View<'v, 'a>>,
}

impl<'v, 'a> AddedElements<'v, 'a> {
    /// `places` has the places of original's elements in updated and in dest.
    pub(super) fn of(
        original: FeaturesOf<'v, 'a>,
        sides: [FeaturesOf<'v, 'a>; 2],
        places: [&Matches; 2],
        (names, order): (Option<Names>, WordOrder),
    ) -> Self {
        let [updated, dest] = [0, 1].map(|side: usize| SideWithNew {
            elements: sides[side],
            counts: counted(sides[side].0),
            lacks: original.1.iter().zip(places[side]).filter(|(_, place)| place.is_none()).map(|(e, _)| *e).collect(),
        });
        let left = COMPARED * (original.0.len() + sides[0].0.len() + sides[1].0.len());
        Self { original, sides: [updated, dest], counts: counted(original.0), names, order, left: left.into() }
    }

    /// What becomes of a hunk; `None` if not both sides changed it, if a side did not only add, or if it moved an element there.
    pub(super) fn in_hunk(&self, hunk: &Hunk) -> Option<BothAdded> {
        let original = self.original.part(&hunk.original);
        let [updated, dest] = [(&self.sides[0], &hunk.updated), (&self.sides[1], &hunk.dest)];
        let parts = [updated, dest].map(|(side, range)| side.elements.part(range));
        if Changed::of(original.0, parts[0].0, parts[1].0) != Changed::Apart {
            return None;
        }
        let has_moved = [updated, dest].into_iter().any(|(side, range)| self.has_moved(side, range, original.0));
        if has_moved || self.has_rivals(parts) {
            return None;
        }
        let added = BothAdded::of(original, parts[0], parts[1])?;
        (self.order == WordOrder::Free || matches!(added, BothAdded::Apart(_))).then_some(added)
    }

    /// Whether the sides have different elements of one name.
    fn has_rivals(&self, parts: [FeaturesOf<'v, 'a>; 2]) -> bool {
        let Some(names) = self.names else { return false };
        let [of_updated, of_dest] = parts.map(|part| -> HashMap<_, _> {
            part.0.iter().zip(part.1).filter_map(|(number, element)| Some((names.of(*element)?, *number))).collect()
        });
        of_updated.iter().any(|(name, number)| of_dest.get(name).is_some_and(|other| other != number))
    }

    /// Whether a side has an element of original in a range in which original has only these: another one, which the side moved there and
    /// perhaps changed. The words of a command may repeat, so there only more of one are new.
    fn has_moved(&self, side: &SideWithNew<'v, 'a>, range: &Range<usize>, here: &[u32]) -> bool {
        let own = side.elements.part(range);
        let new = own.0.iter().zip(own.1).filter(|(number, _)| !here.contains(number));
        let (known, unknown): (Vec<_>, Vec<_>) = new.partition(|(number, _)| self.counts.contains_key(number));
        let is_old = |number| !is_command(own.1) || side.counts.get(number) <= self.counts.get(number);
        if known.into_iter().any(|(number, _)| is_old(number)) {
            return true;
        }
        let unknown: Vec<View<'_, '_>> = unknown.into_iter().map(|(_, element)| *element).collect();
        let left = self.left.get().checked_sub(side.lacks.len().saturating_mul(unknown.len()));
        self.left.set(left.unwrap_or_default());
        left.is_none() || any_is_one(&side.lacks, &unknown)
    }
}

/// How often each number is there.
pub(super) fn counted(numbers: &[u32]) -> HashMap<u32, usize> {
    let mut counts = HashMap::with_capacity(numbers.len());
    numbers.iter().for_each(|number| *counts.entry(*number).or_default() += 1);
    counts
}

impl BothAdded {
    /// `None` if a side did not only add.
    fn of(original: FeaturesOf<'_, '_>, updated: FeaturesOf<'_, '_>, dest: FeaturesOf<'_, '_>) -> Option<Self> {
        match original.0.is_empty() {
            true if updated.0.is_empty() || dest.0.is_empty() => None,
            true if is_command(updated.1) || is_command(dest.1) => Some(Self::words(updated.0, dest.0)),
            true => Some(Self::elements(updated.0, dest.0)),
            false => Self::after(original, updated, dest),
        }
    }

    /// Additions in which each element stands for itself.
    fn elements(updated: &[u32], dest: &[u32]) -> Self {
        let known = matches(dest, updated);
        let shared = known.iter().flatten().count();
        if shared == updated.len() {
            return Self::Apart(kept(0..dest.len()).collect());
        }
        if shared == dest.len() {
            return Self::Apart(replaced(updated, dest));
        }
        let [is_new, is_own] = [updated, dest].map(|side| side.iter().copied().collect::<HashSet<u32>>());
        let are_unique = is_new.len() == updated.len() && is_own.len() == dest.len();
        let is_in_line = are_unique && is_new.intersection(&is_own).count() == shared;
        if !is_in_line {
            let new = (0..updated.len()).filter(|at| !is_own.contains(&updated[*at])).map(MergedElement::New);
            return Self::Together(kept(0..dest.len()).chain(new).collect());
        }
        let mut out = Vec::with_capacity(dest.len() + updated.len());
        let (mut from, mut of_dest, mut is_crowded) = (0, 0, false);
        let shared = known.iter().enumerate().filter_map(|(own, at)| Some((own, (*at)?)));
        for (own, at) in shared.chain([(dest.len(), updated.len())]) {
            is_crowded |= of_dest < own && from < at;
            out.extend(kept(of_dest..own));
            out.extend((from..at).map(MergedElement::New));
            out.extend(kept(own..(own + 1).min(dest.len())));
            (of_dest, from) = (own + 1, at + 1);
        }
        if is_crowded { Self::Together(out) } else { Self::Apart(out) }
    }

    /// Additions to a command: an element may mean something only behind the one before it.
    fn words(updated: &[u32], dest: &[u32]) -> Self {
        let starts = |all: &[u32], part: &[u32]| all.windows(part.len()).position(|window| window == part);
        if starts(dest, updated).is_some() {
            return Self::Apart(kept(0..dest.len()).collect());
        }
        let new = |range: Range<usize>| range.map(MergedElement::New);
        match starts(updated, dest) {
            Some(at) => {
                Self::Apart(new(0..at).chain(kept(0..dest.len())).chain(new(at + dest.len()..updated.len())).collect())
            }
            None => Self::Together(kept(0..dest.len()).chain(new(0..updated.len())).collect()),
        }
    }

    /// Elements that one side added after those of original, which the other side replaced.
    fn after(original: FeaturesOf<'_, '_>, updated: FeaturesOf<'_, '_>, dest: FeaturesOf<'_, '_>) -> Option<Self> {
        let count = original.0.len();
        if updated.0.is_empty() || dest.0.is_empty() {
            return None;
        }
        if dest.0.starts_with(original.0) && are_others(dest.part(&(count..dest.0.len())), updated) {
            let taken = replaced(updated.0, &dest.0[..count]);
            let stay = kept(0..dest.0.len()).collect();
            return Some(Self::Beside([stay, taken.into_iter().chain(kept(count..dest.0.len())).collect()]));
        }
        if updated.0.starts_with(original.0) && are_others(updated.part(&(count..updated.0.len())), dest) {
            let added = (count..updated.0.len()).map(MergedElement::New);
            let stay = kept(0..dest.0.len()).chain(added).collect();
            return Some(Self::Beside([stay, replaced(updated.0, dest.0)]));
        }
        // Both sides replaced the elements alike.
        if dest.0.starts_with(updated.0) && are_others(dest.part(&(updated.0.len()..dest.0.len())), original) {
            return Some(Self::Apart(kept(0..dest.0.len()).collect()));
        }
        if updated.0.starts_with(dest.0) && are_others(updated.part(&(dest.0.len()..updated.0.len())), original) {
            return Some(Self::Apart(replaced(updated.0, dest.0)));
        }
        None
    }
}

fn kept(places: Range<usize>) -> impl Iterator<Item = MergedElement> {
    places.map(MergedElement::Kept)
}

/// Whether elements are of a command line, so that a flag may have its value after it.
fn is_command(elements: &[View<'_, '_>]) -> bool {
    elements.iter().any(|element| element.text().is_some_and(|text| text.starts_with('-')))
}

/// Whether none of the added elements may be one of the others.
fn are_others(added: FeaturesOf<'_, '_>, others: FeaturesOf<'_, '_>) -> bool {
    !added.0.iter().any(|number| others.0.contains(number)) && !any_is_one(added.1, others.1)
}

/// Replaces the elements of dest by those of updated; elements that both have stay.
pub(super) fn replaced(updated: &[u32], dest: &[u32]) -> Vec<MergedElement> {
    let mut new = 0..updated.len();
    let mut out = Vec::new();
    for (own, stays) in matches(dest, updated).into_iter().enumerate() {
        match stays {
            Some(at) => {
                out.extend((new.start..at).map(MergedElement::New));
                new.start = at + 1;
                out.push(MergedElement::Kept(own));
            }
            None => out.push(MergedElement::Removed(own)),
        }
    }
    out.extend(new.map(MergedElement::New));
    out
}
