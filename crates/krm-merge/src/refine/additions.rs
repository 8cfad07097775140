//! Elements that both sides added at one place of an additive list, kept together.
//!
//! diff3 cannot know whether two such additions exclude each other. For some lists the schema does (`schema/additive.rs`). There, both
//! additions stay if their names differ, dest's first. A conflict remains if both sides may have changed the same: both have an element of
//! one name, both dropped an element, or both changed the order.

use std::collections::HashSet;

use super::partners::{Elements, add_changed};
use super::three::Matches;
use crate::schema::Names;
use crate::yaml::NodeRef;

/// An additive list: the names of its elements, and the additions of dest.
pub(super) struct Additions {
    names: Names,
    /// The numbers of the elements that dest added.
    of_dest: HashSet<u32>,
}

/// An element of the result, by its index in the part of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
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
    pub(super) fn united(
        &self,
        original: &[u32],
        updated: Elements<'_, '_>,
        dest: Elements<'_, '_>,
    ) -> Option<Vec<Element>> {
        let [was, is, there] = [original, updated.0, dest.0].map(unique);
        let (was, is, there) = (was?, is?, there?);
        let common = |numbers: &[u32], other: &HashSet<u32>| -> Vec<u32> {
            numbers.iter().copied().filter(|number| other.contains(number)).collect()
        };
        let is_dropped_twice = was.iter().any(|number| !is.contains(number) && !there.contains(number));
        if is_dropped_twice || common(updated.0, &there) != common(dest.0, &is) {
            return None;
        }
        let new = |numbers: &[u32], other: &HashSet<u32>| -> Vec<usize> {
            let is_new = |number: &u32| !was.contains(number) && !other.contains(number);
            (0..numbers.len()).filter(|at| is_new(&numbers[*at])).collect()
        };
        let (of_updated, of_dest) = (new(updated.0, &there), new(dest.0, &is));
        if self.are_rivals(of_updated.iter().map(|at| updated.1[*at]), of_dest.iter().map(|at| dest.1[*at])) {
            return None;
        }
        let mut out: Vec<Element> = Vec::with_capacity(dest.0.len() + of_updated.len());
        let kept = |(at, number)| match was.contains(number) && !is.contains(number) {
            true => Element::Removed(at),
            false => Element::Kept(at),
        };
        let mut ahead = dest.0.iter().enumerate().map(kept).peekable();
        for (at, number) in updated.0.iter().enumerate() {
            let is_shared = |element: &Element| matches!(element, Element::Kept(at) if is.contains(&dest.0[*at]));
            while let Some(element) = ahead.next_if(|element| !is_shared(element)) {
                out.push(element);
            }
            if there.contains(number) {
                out.extend(ahead.next());
            } else if !was.contains(number) && !self.has(*number) {
                out.push(Element::New(at));
            }
        }
        out.extend(ahead);
        Some(out)
    }

    /// Whether an element of one side may be the same as one of the other side.
    fn are_rivals<'a>(
        &self,
        updated: impl Iterator<Item = NodeRef<'a>>,
        dest: impl Iterator<Item = NodeRef<'a>>,
    ) -> bool {
        let is_named = |element: &NodeRef<'a>| self.names.of(*element).is_some();
        let (updated, unnamed): (Vec<_>, Vec<_>) = updated.partition(is_named);
        let (dest, unnamed_in_dest): (Vec<_>, Vec<_>) = dest.partition(is_named);
        let names: HashSet<&str> = updated.into_iter().filter_map(|element| self.names.of(element)).collect();
        let mut alike = vec![None; unnamed.len()];
        add_changed(&unnamed, &unnamed_in_dest, &mut alike);
        dest.into_iter().filter_map(|element| self.names.of(element)).any(|name| names.contains(name))
            || alike.iter().any(Option::is_some)
    }
}

/// The numbers as a set; `None` if one repeats.
fn unique(numbers: &[u32]) -> Option<HashSet<u32>> {
    let all: HashSet<u32> = numbers.iter().copied().collect();
    (all.len() == numbers.len()).then_some(all)
}
