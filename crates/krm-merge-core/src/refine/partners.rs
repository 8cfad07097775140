//! Which elements of two versions of a list are one element that changed.
//!
//! A list without keys does not say this, so elements between the same neighbours are compared: two elements are one if at least half of
//! their values are equal, as git takes half of a file for a rename, or if both are maps with the same `name`. The rest was deleted and
//! added. The comparisons are bounded, so that a long list costs no more than its size allows.
//!
//! A side may hold an element as the other side made it: after a first run, dest holds what updated changed. So an element that the other
//! side changed is looked for in both forms. Otherwise a second run would take such an element for a new one, and add updated's again.
//!
//! A side may also add a copy of an element and leave the element itself: one alert for a second team, one metric more. The copy is often
//! as much like original's element as the other side's changed one is. So what a side surely inserted is a changed element on the other side
//! only if nothing else is.
//!
//! And a side may replace an element by one that the other side adds, or by one that is nearly that. Such an element is no changed one: what
//! one side replaced and the other side changed is a conflict.

use std::borrow::Cow;
use std::ops::Range;

use krm_tree::alike::alike;
use krm_tree::child::Value as _;
use krm_tree::leaves::{HALF, Leaves};
use krm_tree::tree::View;
use krm_yaml::hashed::{Empty, HashMap, HashSet};

use super::three::{Matches, matches};
use crate::likeness::{Features, are_few, name};

/// How many pairs of an element and a rival are looked at. In a list with more, many elements are alike, and no rival tells them apart.
const MOST_RIVALS: usize = 20_000;

/// A version of a list, or a part of one: the numbers of its elements, and the elements. Equal elements have the same number.
#[derive(Clone, Copy)]
pub(super) struct FeaturesOf<'v, 'a>(pub &'v [u32], pub &'v [View<'v, 'a>]);

impl FeaturesOf<'_, '_> {
    /// The elements in a range.
    pub(super) fn part(&self, range: &Range<usize>) -> Self {
        Self(&self.0[range.clone()], &self.1[range.clone()])
    }
}

/// Which of several shortest differences counts. They differ where elements repeat, or have another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartnerSearch {
    /// The one that is found from the start, as git finds it.
    Forward,
    /// The one that is found from the end.
    Backward,
}

impl PartnerSearch {
    fn matches(self, original: &[u32], side: &[u32]) -> Matches {
        if self == Self::Forward {
            return matches(original, side);
        }
        let reversed = |numbers: &[u32]| numbers.iter().rev().copied().collect::<Vec<_>>();
        let found = matches(&reversed(original), &reversed(side));
        found.into_iter().rev().map(|place| place.map(|place| side.len() - 1 - place)).collect()
    }
}

/// A version of a list, and the places of original's elements in it, found without a look at any other version.
#[derive(Clone)]
pub(super) struct FoundPartners<'v, 'a> {
    pub elements: FeaturesOf<'v, 'a>,
    search: PartnerSearch,
    /// The places of the elements that are equal.
    equal: Matches,
    /// The same, with the places of the elements that changed.
    places: Matches,
    /// The numbers of the elements that are surely new, see [`inserted`].
    inserted: HashSet<u32>,
}

impl<'v, 'a> FoundPartners<'v, 'a> {
    pub(super) fn of(original: FeaturesOf<'_, '_>, elements: FeaturesOf<'v, 'a>, search: PartnerSearch) -> Self {
        let equal = search.matches(original.0, elements.0);
        let mut places = equal.clone();
        add_changed(original.1, elements.1, &mut places);
        let inserted = inserted(original, elements, &equal, &places);
        Self { elements, search, equal, places, inserted }
    }

    /// The same, knowing what another side inserted: that is hardly an element of original that changed.
    fn beside<'f>(&'f self, original: FeaturesOf<'_, '_>, inserted: &HashSet<u32>) -> Cow<'f, Self> {
        if !self.elements.0.iter().any(|number| inserted.contains(number)) {
            return Cow::Borrowed(self);
        }
        let mut places = self.equal.clone();
        let is_new = self.elements.0.iter().map(|number| inserted.contains(number)).collect();
        Hints { is_new, ..Hints::default() }.add_changed(original.1, self.elements.1, &mut places);
        Cow::Owned(Self { places, ..self.clone() })
    }
}

/// For each of two sides, the places of original's elements in it. The order of the sides makes no difference.
pub(super) fn partners(original: FeaturesOf<'_, '_>, [one, two]: [&FoundPartners<'_, '_>; 2]) -> [Matches; 2] {
    let [one, two] = [one.beside(original, &two.inserted), two.beside(original, &one.inserted)];
    let again = |side: &FoundPartners<'_, '_>, other: &FoundPartners<'_, '_>| {
        let other = OtherSide::of(original, other);
        match other.says_nothing() {
            true => side.places.clone(),
            false => other.partners(original, side),
        }
    };
    [again(&one, &two), again(&two, &one)]
}

/// What the other side did to the elements of original.
struct OtherSide<'v, 'a> {
    /// Whether it has each element, perhaps changed.
    has: Vec<bool>,
    /// For each element, the changed one.
    forms: Vec<Option<View<'v, 'a>>>,
    /// By the number of each changed element, the number of original's.
    meant: HashMap<u32, u32>,
    /// The elements that it added, by their numbers.
    added: HashMap<u32, View<'v, 'a>>,
    /// Those of them that are surely new.
    inserted: &'v HashSet<u32>,
}

impl<'v, 'a> OtherSide<'v, 'a> {
    fn of(original: FeaturesOf<'_, '_>, found: &'v FoundPartners<'v, 'a>) -> Self {
        let inserted = &found.inserted;
        let (side, found) = (found.elements, &found.places);
        let own: HashSet<u32> = original.0.iter().copied().collect();
        let (mut forms, mut meant) = (vec![None; found.len()], HashMap::new());
        let new = side.0.iter().copied().zip(side.1.iter().copied()).filter(|(number, _)| !own.contains(number));
        let mut added: HashMap<u32, View<'v, 'a>> = new.collect();
        for (i, place) in found.iter().enumerate().filter_map(|(i, place)| Some((i, (*place)?))) {
            let (number, form) = (original.0[i], side.0[place]);
            forms[i] = Some(side.1[place]).filter(|_| form != number);
            added.remove(&form);
            // An element that original has itself is not a form of another element.
            if !own.contains(&form) {
                meant.entry(form).or_insert(number);
            }
        }
        Self { has: found.iter().map(Option::is_some).collect(), forms, meant, added, inserted }
    }

    fn says_nothing(&self) -> bool {
        self.forms.iter().all(Option::is_none) && self.added.is_empty()
    }

    /// The places of original's elements in a side, which may have an element as original or as the other side has it.
    fn partners(
        &self,
        original: FeaturesOf<'_, '_>,
        FoundPartners { elements: side, search, .. }: &FoundPartners<'_, '_>,
    ) -> Matches {
        // Elements that both sides added decide nothing, so that dest gives the same matches before and after the first run.
        let places = side.0.iter().enumerate().filter(|(_, number)| !self.added.contains_key(number));
        let (places, numbers): (Vec<usize>, Vec<u32>) =
            places.map(|(place, number)| (place, *self.meant.get(number).unwrap_or(number))).unzip();
        let found = search.matches(original.0, &numbers);
        let mut found: Matches = found.into_iter().map(|place| place.map(|place| places[place])).collect();
        let is_new = side.0.iter().map(|number| self.inserted.contains(number)).collect();
        let added = self.added.values().copied().collect();
        let hints = Hints { has: self.has.clone(), forms: self.forms.clone(), is_new, added };
        hints.add_changed(original.1, side.1, &mut found);
        found
    }
}

/// Adds the changed elements to `found`, which has the elements that are equal in both versions.
pub(super) fn add_changed(original: &[View<'_, '_>], side: &[View<'_, '_>], found: &mut Matches) {
    Hints::default().add_changed(original, side, found);
}

/// What the other side tells about the changed elements of a side.
#[derive(Default)]
struct Hints<'v, 'a> {
    /// For each element of original, whether the other side has it.
    has: Vec<bool>,
    /// For each element of original, the form that the other side gave it.
    forms: Vec<Option<View<'v, 'a>>>,
    /// For each element of the side, whether it counts only if nothing else is like the element of original.
    is_new: Vec<bool>,
    /// What the other side added. An element of the side that is more like one of these is no changed element of original that the other side
    /// has, too: see [`Old::has_rival`].
    added: Vec<View<'v, 'a>>,
}

impl Hints<'_, '_> {
    fn add_changed(&self, original: &[View<'_, '_>], side: &[View<'_, '_>], found: &mut Matches) {
        let is_new = |place: usize| self.is_new.get(place).is_some_and(|is_new| *is_new);
        let added: Vec<Features<'_>> = self.added.iter().copied().map(Features::of).collect();
        let rivals = rivals(&added, side);
        self.add_among(original, side, |place| !is_new(place), &rivals, found);
        if (0..side.len()).any(is_new) {
            self.add_among(original, side, |_| true, &rivals, found);
        }
    }

    /// Adds the changed elements among some elements of the side.
    fn add_among(
        &self,
        original: &[View<'_, '_>],
        side: &[View<'_, '_>],
        is_among: impl Fn(usize) -> bool,
        rivals: &Rivals<'_, '_>,
        found: &mut Matches,
    ) {
        for (old, new) in gaps(found, side.len()) {
            let new: Vec<usize> = new.filter(|place| is_among(*place)).collect();
            if old.is_empty() || new.is_empty() {
                continue;
            }
            let views: Vec<View<'_, '_>> = new.iter().map(|place| side[*place]).collect();
            if are_namesakes(&original[old.clone()], &views) {
                old.zip(new).for_each(|(i, j)| found[i] = Some(j));
                continue;
            }
            let form = |i: usize| self.forms.get(i).copied().flatten().map(Features::of);
            let has = |i: usize| self.has.get(i).is_some_and(|has| *has);
            let of_old = |i: usize| Old { own: Features::of(original[i]), other: form(i), is_in_other: has(i) };
            let olds: Vec<Old<'_>> = old.clone().map(of_old).collect();
            let news: Vec<Features<'_>> = views.into_iter().map(Features::of).collect();
            let rivals: Vec<&[&Features<'_>]> =
                new.iter().map(|place| rivals.get(place).map(Vec::as_slice).unwrap_or_default()).collect();
            for (i, j) in aligned(&olds, &news, &rivals) {
                found[old.start + i] = Some(new[j]);
            }
        }
    }
}

/// For each element of a side, by its place, what the other side added that may be like it.
type Rivals<'e, 'a> = HashMap<usize, Vec<&'e Features<'a>>>;

fn rivals<'e, 'a>(added: &'e [Features<'a>], side: &[View<'_, '_>]) -> Rivals<'e, 'a> {
    let mut found = Rivals::new();
    if added.is_empty() {
        return found;
    }
    let of_side: Vec<Leaves> = side.iter().copied().map(Leaves::of).collect();
    let added_parts: Vec<_> = added.iter().map(|element| element.leaves.hashes()).enumerate().collect();
    let side_parts: Vec<_> = of_side.iter().map(Leaves::hashes).enumerate().collect();
    for (i, place) in alike(&added_parts, &side_parts, HALF).take(MOST_RIVALS) {
        found.entry(place).or_default().push(&added[i]);
    }
    found
}

/// Whether both consist of maps with the same names in the same order, each once. Then no other pairing is better, whatever the maps
/// contain: a namesake counts more than any likeness.
fn are_namesakes(old: &[View<'_, '_>], new: &[View<'_, '_>]) -> bool {
    let (Some(old), Some(new)) = (names_of_maps(old), names_of_maps(new)) else { return false };
    old == new && old.iter().collect::<HashSet<_>>().len() == old.len()
}

/// The names of elements, if each is a map with a name.
fn names_of_maps<'a>(elements: &[View<'_, 'a>]) -> Option<Vec<Cow<'a, str>>> {
    elements.iter().map(|element| Some(*element).filter(|element| element.is_map()).and_then(name)).collect()
}

/// The ranges of elements between two that both versions have.
fn gaps(found: &Matches, side: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let mut gaps = Vec::new();
    let mut from = (0, 0);
    let pairs = found.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?)));
    for (i, j) in pairs.chain([(found.len(), side)]) {
        gaps.push((from.0..i, from.1..j));
        from = (i + 1, j + 1);
    }
    gaps
}

/// The numbers of the elements of a side that are surely new, and no element of original that changed: their neighbours are neighbours in
/// original as well, and they are not like any element that the side lacks. `equal` has the places of original's elements that are equal, and
/// `places` has those of the changed ones, too.
fn inserted(original: FeaturesOf<'_, '_>, side: FeaturesOf<'_, '_>, equal: &Matches, places: &Matches) -> HashSet<u32> {
    let paired = places.iter().flatten().map(|place| side.0[*place]);
    let known: HashSet<u32> = original.0.iter().copied().chain(paired).collect();
    let between_neighbours = gaps(equal, side.0.len()).into_iter().filter(|(old, _)| old.is_empty());
    let new = between_neighbours.flat_map(|(_, new)| new).filter(|place| !known.contains(&side.0[*place]));
    let new: Vec<usize> = new.collect();
    let lacks = places.iter().zip(original.1).filter(|(place, _)| place.is_none() && !new.is_empty());
    let lacks: Vec<Features<'_>> = lacks.map(|(_, element)| Features::of(*element)).collect();
    if lacks.is_empty() {
        return new.into_iter().map(|place| side.0[place]).collect();
    }
    let elements: Vec<Features<'_>> = new.iter().map(|place| Features::of(side.1[*place])).collect();
    if !are_few(&lacks, &elements) {
        return HashSet::new();
    }
    let is_new = |element: &Features<'_>| lacks.iter().all(|lacking| lacking.likeness(element) == 0);
    new.into_iter().zip(&elements).filter(|(_, element)| is_new(element)).map(|(place, _)| side.0[place]).collect()
}

/// Whether two elements are one that may have changed.
pub(super) fn are_one(one: View<'_, '_>, other: View<'_, '_>) -> bool {
    Features::of(one).likeness(&Features::of(other)) > 0
}

/// Whether any two of these elements are one that may have changed. If there are too many to compare, two may be.
pub(super) fn any_is_one(some: &[View<'_, '_>], others: &[View<'_, '_>]) -> bool {
    if some.is_empty() || others.is_empty() {
        return false;
    }
    let [some, others] = [some, others].map(|all| all.iter().copied().map(Features::of).collect::<Vec<_>>());
    !are_few(&some, &others) || some.iter().any(|one| others.iter().any(|other| one.likeness(other) > 0))
}

/// An element of original in each form that it has.
struct Old<'a> {
    own: Features<'a>,
    /// The element as the other side changed it, and whether the other side has it at all.
    other: Option<Features<'a>>,
    is_in_other: bool,
}

impl<'a> Old<'a> {
    fn forms(&self) -> impl Iterator<Item = &Features<'a>> {
        std::iter::once(&self.own).chain(&self.other)
    }

    /// Whether an element that the other side added may be meant instead of it: the other side left it as it is, or both are alike there.
    fn has_rival(&self, added: &Features<'_>) -> bool {
        self.is_in_other && self.other.as_ref().is_none_or(|form| form.likeness(added) > 0)
    }

    /// How much it has in common with an element of a side, in the form that has the most.
    fn likeness(&self, new: &Features<'_>) -> u32 {
        self.forms().map(|form| form.likeness(new)).max().unwrap_or_default()
    }
}

/// Pairs, in the order of both versions, with as much in common as possible. A new element is in no pair with an old one that has a rival
/// with more in common.
fn aligned(old: &[Old<'_>], new: &[Features<'_>], rivals: &[&[&Features<'_>]]) -> Vec<(usize, usize)> {
    if !are_few(old.iter().flat_map(Old::forms), new) {
        let pairs = (0..old.len()).filter(|_| old.len() == new.len());
        return pairs.filter(|&i| old[i].likeness(&new[i]) > 0).map(|i| (i, i)).collect();
    }
    let likeness = |old: &Old<'_>| -> Vec<u32> {
        let of_pair = |(new, rivals): (&Features<'_>, &&[&Features<'_>])| {
            let likeness = old.likeness(new);
            let is_beaten = |rival: &&Features<'_>| old.has_rival(rival) && rival.likeness(new) > likeness;
            if rivals.iter().any(is_beaten) { 0 } else { likeness }
        };
        new.iter().zip(rivals).map(of_pair).collect()
    };
    let likeness: Vec<Vec<u32>> = old.iter().map(likeness).collect();
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
    use krm_yaml::{Document, NodeRef};

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
            let [olds, news] =
                docs.each_ref().map(|doc| doc.roots().flat_map(NodeRef::elements).map(View::Node).collect::<Vec<_>>());
            let mut found = vec![None; olds.len()];
            add_changed(&olds, &news, &mut found);
            let pairs: Vec<(usize, usize)> = found.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?))).collect();
            assert_eq!(pairs, want, "{old} {new}");
        }
    }
}
