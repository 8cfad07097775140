//! Elements that both sides added at one place of an additive list, kept together.
//!
//! diff3 cannot know whether two such additions exclude each other. For some lists the schema does (`schema/additive.rs`). There, both
//! additions stay if their names differ: dest's first, unless updated's takes the place of an element that updated removed. A conflict
//! remains if both sides may have changed the same: both have an element of one name, both replaced an element, or both changed the order.

use std::borrow::Cow;

use super::partners::{FeaturesOf, add_changed};
use super::three::{Matches, matches};
use crate::hashed::HashSet;
use crate::schema::Names;
use crate::tree::View;

/// An additive list: the names of its elements, and the additions of dest.
pub(super) struct Additions {
    names: Names,
    /// The numbers of the elements that dest added.
    of_dest: HashSet<u32>,
}

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

impl Additions {
    /// The additions among dest's elements with these numbers; `in_dest` has the elements that original has, too.
    pub(super) fn of(names: Names, dest: &[u32], in_dest: &Matches) -> Self {
        let matched: HashSet<usize> = in_dest.iter().flatten().copied().collect();
        let added = dest.iter().enumerate().filter(|(place, _)| !matched.contains(place));
        Self { names, of_dest: added.map(|(_, number)| *number).collect() }
    }

    /// Whether dest added an element with this number, so that updated's would be a second one.
    pub(super) fn has(&self, number: u32) -> bool {
        self.of_dest.contains(&number)
    }

    /// The elements of a part that both sides changed; `None` if their changes may exclude each other.
    pub(super) fn united<'v, 'a>(
        &self,
        original: FeaturesOf<'v, 'a>,
        updated: FeaturesOf<'v, 'a>,
        dest: FeaturesOf<'v, 'a>,
    ) -> Option<Vec<MergedElement>> {
        let [was, is, there] = [original.0, updated.0, dest.0].map(unique);
        let (was, is, there) = (was?, is?, there?);
        let common = |numbers: &[u32], other: &HashSet<u32>| -> Vec<u32> {
            numbers.iter().copied().filter(|number| other.contains(number)).collect()
        };
        if common(updated.0, &there) != common(dest.0, &is) {
            return None;
        }
        let new = |numbers: &[u32], other: &HashSet<u32>| -> Vec<usize> {
            let is_new = |number: &u32| !was.contains(number) && !other.contains(number);
            (0..numbers.len()).filter(|at| is_new(&numbers[*at])).collect()
        };
        let (of_updated, of_dest) = (new(updated.0, &there), new(dest.0, &is));
        let are_dropped = |at: &usize| !is.contains(&original.0[*at]) && !there.contains(&original.0[*at]);
        let dropped: Vec<View<'_, '_>> = (0..original.0.len()).filter(are_dropped).map(|at| original.1[at]).collect();
        let added = |version: FeaturesOf<'v, 'a>, places: &[usize]| -> Vec<View<'v, 'a>> {
            places.iter().map(|at| version.1[*at]).collect()
        };
        let [new, own] = [added(updated, &of_updated), added(dest, &of_dest)];
        let are_two = !new.is_empty() && !own.is_empty();
        if are_two && !dropped.is_empty()
            || self.are_rivals(&new, &own)
            || self.are_rivals(&dropped, &[new, own].concat())
        {
            return None;
        }
        let kept = |(at, number)| match was.contains(number) && !is.contains(number) {
            true => MergedElement::Removed(at),
            false => MergedElement::Kept(at),
        };
        let of_dest: Vec<MergedElement> = dest.0.iter().enumerate().map(kept).collect();
        let is_shared =
            |element: &MergedElement| matches!(element, MergedElement::Kept(at) if is.contains(&dest.0[*at]));
        let mut out: Vec<MergedElement> = Vec::with_capacity(dest.0.len() + of_updated.len());
        // Dest's own elements come first, but a new element of updated takes the place of one that updated removed.
        let mut ahead = &of_dest[..];
        let mut takes_place = false;
        for (at, number) in updated.0.iter().enumerate() {
            let own = ahead.iter().position(is_shared).unwrap_or(ahead.len());
            if was.contains(number) || there.contains(number) {
                takes_place = false;
            }
            if there.contains(number) {
                let (before, rest) = ahead.split_at((own + 1).min(ahead.len()));
                out.extend_from_slice(before);
                ahead = rest;
            } else if !was.contains(number) && !self.has(*number) {
                let removed = ahead[..own].iter().position(|element| matches!(element, MergedElement::Removed(_)));
                let end = removed.map_or(if takes_place { 0 } else { own }, |removed| removed + 1);
                takes_place |= removed.is_some();
                let (before, rest) = ahead.split_at(end);
                out.extend_from_slice(before);
                ahead = rest;
                out.push(MergedElement::New(at));
            }
        }
        out.extend_from_slice(ahead);
        Some(out)
    }

    /// Whether an element of one side may be the same as one of the other side.
    fn are_rivals(&self, updated: &[View<'_, '_>], dest: &[View<'_, '_>]) -> bool {
        let is_named = |element: &View<'_, '_>| self.names.of(*element).is_some();
        let (updated, unnamed): (Vec<_>, Vec<_>) = updated.iter().copied().partition(is_named);
        let (dest, unnamed_in_dest): (Vec<_>, Vec<_>) = dest.iter().copied().partition(is_named);
        let names: HashSet<Cow<'_, str>> = updated.into_iter().filter_map(|element| self.names.of(element)).collect();
        let mut alike = vec![None; unnamed.len()];
        add_changed(&unnamed, &unnamed_in_dest, &mut alike);
        dest.into_iter().filter_map(|element| self.names.of(element)).any(|name| names.contains(&name))
            || alike.iter().any(Option::is_some)
    }
}

/// Replaces the elements of dest by those of updated; elements that both have stay. In an additive list, an element that dest added
/// elsewhere is not added a second time.
pub(super) fn replaced(updated: &[u32], dest: &[u32], additions: Option<&Additions>) -> Vec<MergedElement> {
    let is_there = |at: &usize| additions.is_some_and(|additions| additions.has(updated[*at]));
    let added = |at: usize| Some(at).filter(|at| !is_there(at)).map(MergedElement::New);
    let mut new = 0..updated.len();
    let mut out = Vec::new();
    for (own, stays) in matches(dest, updated).into_iter().enumerate() {
        match stays {
            Some(at) => {
                out.extend((new.start..at).filter_map(added));
                new.start = at + 1;
                out.push(MergedElement::Kept(own));
            }
            None => out.push(MergedElement::Removed(own)),
        }
    }
    out.extend(new.filter_map(added));
    out
}

/// The numbers as a set; `None` if one repeats.
pub(super) fn unique(numbers: &[u32]) -> Option<HashSet<u32>> {
    let all: HashSet<u32> = numbers.iter().copied().collect();
    (all.len() == numbers.len()).then_some(all)
}
