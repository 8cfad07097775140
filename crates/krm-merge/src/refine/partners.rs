//! Which elements of two versions of a list are one element that changed.
//!
//! A list without keys does not say this, so elements between the same neighbours are compared: two elements are one if at least half of
//! their values are equal, as git takes half of a file for a rename, or if both are maps with the same `name`. The rest was deleted and
//! added. The comparisons are bounded, so that a long list costs no more than its size allows.

use std::collections::HashSet;
use std::ops::Range;

use super::three::Matches;
use crate::leaves::{HALF, Leaves};
use crate::yaml::{Kind, NodeRef};

/// How many values may be compared for one gap; beyond that, elements are paired only by their place.
const COMPARISONS: usize = 200_000;

/// Adds the changed elements to `found`, which has the elements that are equal in both versions.
pub(super) fn add_changed(original: &[NodeRef<'_>], side: &[NodeRef<'_>], found: &mut Matches) {
    for (old, new) in gaps(found, side.len()) {
        if are_namesakes(&original[old.clone()], &side[new.clone()]) {
            old.zip(new).for_each(|(i, j)| found[i] = Some(j));
            continue;
        }
        let [olds, news] = [&original[old.clone()], &side[new.clone()]]
            .map(|of| of.iter().map(|e| Element::of(*e)).collect::<Vec<_>>());
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

/// Pairs, in the order of both versions, with as much in common as possible.
fn aligned(old: &[Element<'_>], new: &[Element<'_>]) -> Vec<(usize, usize)> {
    let values = |of: &[Element<'_>]| of.iter().map(|element| element.leaves.count() + 1).sum::<usize>();
    if values(old).saturating_mul(new.len()).saturating_add(values(new).saturating_mul(old.len())) > COMPARISONS {
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
