//! Which elements of two versions of a list are one element that changed.
//!
//! A list without keys does not say this, so elements between the same neighbours are compared: two elements are one if at least half of
//! their values are equal, as git takes half of a file for a rename, or if both are maps with the same `name`. The rest was deleted and
//! added. The comparisons are bounded, so that a long list costs no more than its size allows.
//!
//! A side may hold an element as the other side made it: after a first run, dest holds what updated changed. So an element that the other
//! side changed is looked for in both forms. Otherwise a second run would take such an element for a new one, and add updated's again.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::three::{Matches, matches};
use crate::leaves::{HALF, Leaves};
use crate::yaml::{Kind, NodeRef};

/// How many values may be compared for one gap; beyond that, elements are paired only by their place.
const COMPARISONS: usize = 200_000;

/// A version of a list, or a part of one: the numbers of its elements, and the elements. Equal elements have the same number.
#[derive(Clone, Copy)]
pub(super) struct Elements<'v, 'a>(pub &'v [u32], pub &'v [NodeRef<'a>]);

/// For each of two sides, the places of original's elements in it. The order of the sides makes no difference.
pub(super) fn partners(original: Elements<'_, '_>, [one, two]: [Elements<'_, '_>; 2]) -> [Matches; 2] {
    let first = |side: Elements<'_, '_>| {
        let mut found = matches(original.0, side.0);
        add_changed(original.1, side.1, &mut found);
        found
    };
    let [in_one, in_two] = [first(one), first(two)];
    let (of_one, of_two) = (Other::of(original, one, &in_one), Other::of(original, two, &in_two));
    let again = |side, other: &Other<'_>, found| match other.says_nothing_of(side) {
        true => found,
        false => other.partners(original, side),
    };
    [again(one, &of_two, in_one), again(two, &of_one, in_two)]
}

/// What the other side did to the elements of original.
struct Other<'a> {
    /// For each element, the changed one.
    forms: Vec<Option<NodeRef<'a>>>,
    /// By the number of each changed element, the number of original's.
    meant: HashMap<u32, u32>,
    /// The numbers of the elements that it added.
    added: HashSet<u32>,
}

impl<'a> Other<'a> {
    fn of(original: Elements<'_, '_>, side: Elements<'_, 'a>, found: &Matches) -> Self {
        let own: HashSet<u32> = original.0.iter().copied().collect();
        let (mut forms, mut meant) = (vec![None; found.len()], HashMap::new());
        let mut added: HashSet<u32> = side.0.iter().filter(|number| !own.contains(number)).copied().collect();
        for (i, place) in found.iter().enumerate().filter_map(|(i, place)| Some((i, (*place)?))) {
            let (number, form) = (original.0[i], side.0[place]);
            forms[i] = Some(side.1[place]).filter(|_| form != number);
            added.remove(&form);
            // An element that original has itself is not a form of another element.
            if !own.contains(&form) {
                meant.entry(form).or_insert(number);
            }
        }
        Self { forms, meant, added }
    }

    fn says_nothing_of(&self, side: Elements<'_, '_>) -> bool {
        self.forms.iter().all(Option::is_none) && !side.0.iter().any(|number| self.added.contains(number))
    }

    /// The places of original's elements in a side, which may have an element as original or as the other side has it.
    fn partners(&self, original: Elements<'_, '_>, side: Elements<'_, '_>) -> Matches {
        // Elements that both sides added decide nothing, so that dest gives the same matches before and after the first run.
        let places = side.0.iter().enumerate().filter(|(_, number)| !self.added.contains(number));
        let (places, numbers): (Vec<usize>, Vec<u32>) =
            places.map(|(place, number)| (place, *self.meant.get(number).unwrap_or(number))).unzip();
        let found = matches(original.0, &numbers);
        let mut found: Matches = found.into_iter().map(|place| place.map(|place| places[place])).collect();
        add_changed_or(original.1, |i| self.forms[i], side.1, &mut found);
        found
    }
}

/// Adds the changed elements to `found`, which has the elements that are equal in both versions.
pub(super) fn add_changed(original: &[NodeRef<'_>], side: &[NodeRef<'_>], found: &mut Matches) {
    add_changed_or(original, |_| None, side, found);
}

/// Same as [`add_changed`], but `other` gives a second form of an element of original.
fn add_changed_or<'a>(
    original: &[NodeRef<'_>],
    other: impl Fn(usize) -> Option<NodeRef<'a>>,
    side: &[NodeRef<'_>],
    found: &mut Matches,
) {
    for (old, new) in gaps(found, side.len()) {
        if are_namesakes(&original[old.clone()], &side[new.clone()]) {
            old.zip(new).for_each(|(i, j)| found[i] = Some(j));
            continue;
        }
        let olds: Vec<Old<'_>> =
            old.clone().map(|i| Old { own: Element::of(original[i]), other: other(i).map(Element::of) }).collect();
        let news: Vec<Element<'_>> = side[new.clone()].iter().map(|e| Element::of(*e)).collect();
        for (i, j) in aligned(&olds, &news) {
            found[old.start + i] = Some(new.start + j);
        }
    }
}

/// Whether both consist of maps with the same names in the same order, each once. Then no other pairing is better, whatever the maps
/// contain: a namesake counts more than any likeness.
fn are_namesakes(old: &[NodeRef<'_>], new: &[NodeRef<'_>]) -> bool {
    let (Some(old), Some(new)) = (names_of_maps(old), names_of_maps(new)) else { return false };
    old == new && old.iter().collect::<HashSet<_>>().len() == old.len()
}

/// The names of elements, if each is a map with a name.
fn names_of_maps<'a>(elements: &[NodeRef<'a>]) -> Option<Vec<&'a str>> {
    let of = |element: &NodeRef<'a>| Some(element.resolve()).filter(|e| e.kind() == Kind::Map).and_then(name);
    elements.iter().map(of).collect()
}

fn name(element: NodeRef<'_>) -> Option<&str> {
    element.get("name").and_then(NodeRef::as_str)
}

/// The ranges of elements between two that both versions have, if both have elements there.
fn gaps(found: &Matches, side: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let mut gaps = Vec::new();
    let mut from = (0, 0);
    let pairs = found.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?)));
    for (i, j) in pairs.chain([(found.len(), side)]) {
        if from.0 < i && from.1 < j {
            gaps.push((from.0..i, from.1..j));
        }
        from = (i + 1, j + 1);
    }
    gaps
}

/// The features of an element that show whether two elements are one.
struct Element<'a> {
    leaves: Leaves,
    name: Option<&'a str>,
}

impl<'a> Element<'a> {
    fn of(element: NodeRef<'a>) -> Self {
        Self { leaves: Leaves::of(element), name: name(element) }
    }

    /// How much two have in common, in thousandths; 0 if they are different elements.
    fn likeness(&self, other: &Self) -> u32 {
        let Some(share) = self.leaves.share(&other.leaves) else { return 0 };
        let is_namesake = self.name.is_some() && self.name == other.name;
        if is_namesake { 1000 + share } else { Some(share).filter(|share| *share >= HALF).unwrap_or_default() }
    }
}

/// An element of original in each form that it has.
struct Old<'a> {
    own: Element<'a>,
    /// The element as the other side changed it.
    other: Option<Element<'a>>,
}

impl<'a> Old<'a> {
    fn forms(&self) -> impl Iterator<Item = &Element<'a>> {
        std::iter::once(&self.own).chain(&self.other)
    }

    /// How much it has in common with an element of a side, in the form that has the most.
    fn likeness(&self, new: &Element<'_>) -> u32 {
        self.forms().map(|form| form.likeness(new)).max().unwrap_or_default()
    }
}

/// Pairs, in the order of both versions, with as much in common as possible.
fn aligned(old: &[Old<'_>], new: &[Element<'_>]) -> Vec<(usize, usize)> {
    let count = |element: &Element<'_>| element.leaves.count() + 1;
    let values = old.iter().flat_map(Old::forms).map(count).sum::<usize>();
    let forms = old.iter().flat_map(Old::forms).count();
    let values_in_new = new.iter().map(count).sum::<usize>();
    if values.saturating_mul(new.len()).saturating_add(values_in_new.saturating_mul(forms)) > COMPARISONS {
        let pairs = (0..old.len()).filter(|_| old.len() == new.len());
        return pairs.filter(|&i| old[i].likeness(&new[i]) > 0).map(|i| (i, i)).collect();
    }
    let likeness: Vec<Vec<u32>> = old.iter().map(|a| new.iter().map(|b| a.likeness(b)).collect()).collect();
    let mut best = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let paired = if likeness[i][j] > 0 { best[i + 1][j + 1] + likeness[i][j] } else { 0 };
            best[i][j] = paired.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        if likeness[i][j] > 0 && best[i][j] == best[i + 1][j + 1] + likeness[i][j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[i][j] == best[i + 1][j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::Document;

    #[test]
    fn elements_that_have_half_of_their_values_in_common_are_one() {
        for (old, new, want) in [
            ("[{a: 1, b: 1}]", "[{a: 1, b: 2}]", vec![(0, 0)]),
            ("[{a: 1, b: 1}]", "[{a: 2, b: 2}]", vec![]),
            ("[{a: 1, b: 1}]", "[x, {a: 1, b: 2}]", vec![(0, 1)]),
            ("[{name: x, b: 1, c: 1}]", "[{name: x, b: 2, c: 2}]", vec![(0, 0)]),
            ("[{name: x, b: 1}, {name: y, b: 2}]", "[{name: x, b: 2}, {name: y, b: 1}]", vec![(0, 0), (1, 1)]),
            // Two pairs of namesakes count more than one pair that has more in common.
            (
                "[{name: x, b: 1, c: 1}, {name: x, b: 2, c: 2}]",
                "[{name: x, b: 2, c: 2, d: 1}, {name: x, b: 3, c: 3}]",
                vec![(0, 0), (1, 1)],
            ),
            ("[{name: x, b: 1}, {name: y, b: 2}]", "[{name: y, b: 2, c: 1}, {name: z, b: 3}]", vec![(1, 0)]),
            ("[{name: x, b: 1}]", "[[name, x]]", vec![]),
            ("[{b: 1, v: [1, 2]}, {b: 2, v: [3, 4]}]", "[{b: 2, v: [3, 4, 5]}, {b: 1, v: [1, 2, 3]}]", vec![(1, 0)]),
            ("[x]", "[y]", vec![]),
            ("[[1, 2]]", "[[1, 2, 3]]", vec![(0, 0)]),
            ("[\"a\\nb\\n\"]", "[\"a\\nc\\n\"]", vec![(0, 0)]),
            ("[\"a\\nb\\n\"]", "[{a: 1}]", vec![]),
            ("[{}]", "[{a: 1}]", vec![]),
        ] {
            let docs = [old, new].map(|text| Document::parse(text).expect("valid"));
            let [olds, news] = docs.each_ref().map(|doc| doc.roots().flat_map(NodeRef::elements).collect::<Vec<_>>());
            let mut found = vec![None; olds.len()];
            add_changed(&olds, &news, &mut found);
            let pairs: Vec<(usize, usize)> = found.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?))).collect();
            assert_eq!(pairs, want, "{old} {new}");
        }
    }
}
