//! [`Features`]: how much two elements of a list have in common; and which elements of a list stay in the list that replaces it.
//!
//! Two elements are one if at least half of their values are equal, as git takes half of a file for a rename, or if both are maps with the
//! same `name`.

use std::borrow::Cow;

use krm_tree::child::{ChildId, Value as _};
use krm_tree::leaves::{HALF, Leaves, Pairs};
use krm_tree::remarks::Remarks;
use krm_tree::sequence::common;
use krm_tree::tree::View;
use krm_yaml::hashed::{Empty, HashMap};

/// How many values may be compared for one gap; beyond that, elements are paired only by their place.
const COMPARISONS: usize = 200_000;

/// The features of an element that show whether two elements are one.
pub(crate) struct Features<'a> {
    pub leaves: Leaves,
    pub name: Option<Cow<'a, str>>,
}

impl<'a> Features<'a> {
    pub(crate) fn of(element: View<'_, 'a>) -> Self {
        Self { leaves: Leaves::of(element), name: name(element) }
    }

    /// How much two have in common, in thousandths; 0 if they are different elements.
    pub(crate) fn likeness(&self, other: &Self) -> u32 {
        let Some(share) = self.leaves.share(&other.leaves) else { return 0 };
        let is_namesake = self.name.is_some() && self.name == other.name;
        if is_namesake { 1000 + share } else { Some(share).filter(|share| *share >= HALF).unwrap_or_default() }
    }
}

/// The name of an element that is a map.
pub(crate) fn name<'a>(element: View<'_, 'a>) -> Option<Cow<'a, str>> {
    element.field("name").and_then(View::text)
}

/// Whether comparing each with each takes no more than [`COMPARISONS`].
pub(crate) fn are_few<'e, 'a: 'e>(old: impl IntoIterator<Item = &'e Features<'a>>, new: &[Features<'_>]) -> bool {
    let values = |element: &Features<'_>| element.leaves.count() + 1;
    let (count, of_old) = old.into_iter().fold((0_usize, 0), |(count, sum), old| (count + 1, sum + values(old)));
    let of_new: usize = new.iter().map(values).sum();
    of_old.saturating_mul(new.len()).saturating_add(of_new.saturating_mul(count)) <= COMPARISONS
}

/// What an element of a list is to the list that it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Partner {
    /// The element at this place, which is equal.
    Same(usize),
    /// The element at this place, which changed.
    Changed(usize),
    /// It comes where another one goes that nobody wrote a comment at.
    InPlaceOf(usize),
    /// The list has no such element.
    None,
}

impl Partner {
    /// The place of the element in the list that is replaced.
    pub(crate) fn place(self) -> Option<usize> {
        match self {
            Self::Same(place) | Self::Changed(place) | Self::InPlaceOf(place) => Some(place),
            Self::None => None,
        }
    }

    /// The identities, by index, of elements with these partners in a list of this length. New elements come behind.
    pub(crate) fn ids<'a>(partners: &[Self], len: usize) -> Vec<ChildId<'a>> {
        let mut new = len..;
        partners.iter().map(|own| ChildId::Index(own.place().or_else(|| new.next()).unwrap_or(len))).collect()
    }
}

/// For each element of a new list, its partner in the old one.
pub(crate) fn partners(old: &[View<'_, '_>], new: &[View<'_, '_>]) -> Vec<Partner> {
    let mut found = vec![Partner::None; new.len()];
    let mut is_free = vec![true; old.len()];
    let is_same = |own: &View<'_, '_>, new: &View<'_, '_>| match new {
        View::Node(node) => own.same(*node),
        made => own.meaning() == made.meaning(),
    };
    for (i, j) in common(old, new, is_same) {
        (found[j], is_free[i]) = (Partner::Same(i), false);
    }
    if !found.contains(&Partner::None) || !is_free.contains(&true) {
        return found;
    }
    // Those that moved.
    let mut moved: HashMap<u64, Vec<usize>> = HashMap::new();
    for i in (0..old.len()).rev().filter(|i| is_free[*i]) {
        moved.entry(old[i].meaning()).or_default().push(i);
    }
    for (j, slot) in found.iter_mut().enumerate().filter(|(_, slot)| **slot == Partner::None) {
        if let Some(i) = moved.get_mut(&new[j].meaning()).and_then(Vec::pop) {
            (*slot, is_free[i]) = (Partner::Same(i), false);
        }
    }
    let olds: Vec<usize> = (0..old.len()).filter(|i| is_free[*i]).collect();
    let news: Vec<usize> = (0..new.len()).filter(|j| found[*j] == Partner::None).collect();
    let of_old: Vec<Features<'_>> = olds.iter().map(|i| Features::of(old[*i])).collect();
    let of_new: Vec<Features<'_>> = news.iter().map(|j| Features::of(new[*j])).collect();
    if are_few(&of_old, &of_new) {
        let mut pairs = Pairs::of(olds.len(), news.len());
        for (i, own) in of_old.iter().enumerate() {
            let alike =
                of_new.iter().map(|other| own.likeness(other)).enumerate().filter(|(_, likeness)| *likeness > 0);
            alike.for_each(|(j, likeness)| pairs.offer(i, j, likeness));
        }
        for (i, j) in pairs.found() {
            (found[news[j]], is_free[olds[i]]) = (Partner::Changed(olds[i]), false);
        }
    }
    // The rest replace each other where they stand between the same neighbours.
    let is_bare = |i: usize| {
        let remarks = old[i].like().map(|node| Remarks::of((None, node))).unwrap_or_default();
        remarks.above.is_empty() && remarks.behind.is_empty()
    };
    let mut next = 0;
    for slot in &mut found {
        match slot.place() {
            Some(place) => next = place + 1,
            None if next < old.len() && is_free[next] && is_bare(next) => {
                *slot = Partner::InPlaceOf(next);
                next += 1;
            }
            None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::{Document, NodeRef};

    #[test]
    fn an_element_stays_if_it_is_equal_or_has_the_name_or_half_of_the_values() {
        use Partner::{Changed, InPlaceOf, Same};
        for (old, new, want) in [
            ("[a, b, c]", "[a, x, c]", vec![Same(0), InPlaceOf(1), Same(2)]),
            ("[a, b, c]", "[c, a]", vec![Same(2), Same(0)]),
            ("[a]", "[a, a]", vec![Same(0), Partner::None]),
            ("[a # why\n]", "[b]", vec![Partner::None]),
            ("[{name: a, v: 1}, {name: b, v: 2}]", "[{name: b, v: 3}]", vec![Changed(1)]),
            ("[{h: a, p: 1, q: 1}, {h: b, p: 1, q: 2}]", "[{h: b, p: 2, q: 2}]", vec![Changed(1)]),
            ("[{h: a, p: 1}, {h: b, p: 2}]", "[{h: c, p: 3}]", vec![InPlaceOf(0)]),
            // Two that are equally like it: neither is meant.
            ("[{a: 1, b: 1}, {a: 1, b: 2}]", "[{a: 1, b: 3}]", vec![InPlaceOf(0)]),
            ("[]", "[a]", vec![Partner::None]),
        ] {
            let docs = [old, new].map(|text| Document::parse(text).expect("valid"));
            let [old_nodes, new_nodes] =
                docs.each_ref().map(|doc| doc.roots().flat_map(NodeRef::elements).collect::<Vec<_>>());
            let [old_views, new_views] =
                [old_nodes, new_nodes].map(|nodes| nodes.into_iter().map(View::Node).collect::<Vec<_>>());
            assert_eq!(partners(&old_views, &new_views), want, "{old} {new}");
        }
    }
}
