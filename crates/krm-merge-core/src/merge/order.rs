//! The order of the children of a merged map or list.
//!
//! Dest's children keep their places, and new children go beside their neighbours of the other side. In ThreeWay the order itself is
//! merged, stretch by stretch: if only one side changed it, that side's order holds. So an element that upstream puts before another one
//! runs before it, and a merge shows as few changed lines as possible.

use std::collections::BTreeMap;

use krm_tree::child::{By, ChildId, ids_of};
use krm_tree::path::{FieldPath, Trail};
use krm_tree::sides::Side;
use krm_tree::tree::{Branch, Contested, Entry};
use krm_yaml::NodeRef;
use krm_yaml::hashed::{Empty, HashMap, HashSet};

use crate::change::{Inside, Order};
use crate::policy::NewElements;

/// Puts the children of a map or list in their order. The entries after the first `known` ones are new.
pub(super) fn arrange<'a>(
    branch: &mut Branch<'a>,
    known: usize,
    inside: &Inside<'a>,
    place: NewElements,
    trail: &Trail<'a>,
) {
    if let Order::Asked(order) = &inside.order {
        return elements_as_ordered(branch, known, &inside.by, order);
    }
    let is_map = inside.by == By::Field;
    let has_new = branch.entries.len() > known;
    let order = match &inside.order {
        Order::OfDest if is_map && has_new => {
            let asked = places_of(branch, inside.like, inside, Side::Updated);
            among((0..known).collect(), |at| at < known, &asked, |_| Own::Shared, NewElements::Append)
        }
        Order::OfDest if !is_map && place == NewElements::Prepend => {
            let mut named = places_of(branch, inside.like, inside, Side::Updated);
            named.retain(|at| branch.entries[*at].value.is_some());
            let first: HashSet<usize> = named.iter().copied().collect();
            named.extend((0..branch.entries.len()).filter(|at| !first.contains(at)));
            named
        }
        Order::From(original) if has_new || inside.has_new_order() || (!is_map && inside.adds()) => {
            let sides =
                SideOrders::of(branch, known, inside, *original, if is_map { NewElements::Append } else { place });
            // No side asks for an order of fields, because it means nothing.
            let [dest, taken, was] = if is_map { sides.merged() } else { sides.contested() };
            if !is_map && taken != dest {
                let moved = sides.moved(&dest, &taken, &was);
                let mut ids = |order: &[usize]| order.iter().filter_map(|at| branch.id(*at)).collect::<Vec<_>>();
                let moved = ids(&moved).iter().map(|id| FieldPath::from(id.step(&inside.by))).collect();
                let (path, original, updated) = (trail.path(), *original, inside.like);
                let (taken, was) = (ids(&sides.whole(taken)), ids(&sides.whole(was)));
                branch.contested = Some(Box::new(Contested { path, original, updated, moved, taken, was }));
            }
            sides.whole(dest)
        }
        Order::OfDest | Order::From(_) | Order::Asked(_) => return,
    };
    branch.put(&order);
}

/// The places among the entries of the children of a side's node, in the node's order. Absent children are left out.
fn places_of<'a>(branch: &mut Branch<'a>, node: NodeRef<'a>, inside: &Inside<'a>, side: Side) -> Vec<usize> {
    let ids = inside.names_after(side, ids_of(node, &inside.by));
    branch.prepare(&inside.by, ids.len());
    // Both sides mostly have their fields in one order, so a search begins after the last field that was found.
    let mut next = 0;
    let place = |id: ChildId<'a>| {
        let at = branch.place_from(next, &id)?;
        next = at + 1;
        Some(at)
    };
    // A collected list would keep the memory of the identities.
    let mut places = Vec::with_capacity(ids.len());
    places.extend(ids.into_iter().filter_map(place));
    places
}

/// What an element is to the order that others are added to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    /// The other order has it, too.
    Shared,
    /// Only this order has it.
    Stays,
    /// Only this order has it, and it is removed.
    Goes,
}

/// Adds the elements that an order lacks, beside their neighbours in another order. Each goes after its nearest known predecessor, and
/// after the order's own elements in that gap, but only up to the first one that goes: it takes the place of that one. Without a
/// predecessor, it goes before its nearest known successor; without either, it goes to the `end`.
fn beside(order: Vec<usize>, other: &[usize], own: impl Fn(usize) -> Own, end: NewElements) -> Vec<usize> {
    let known: HashSet<usize> = order.iter().copied().collect();
    among(order, |at| known.contains(&at), other, own, end)
}

/// Like [`beside`], for a caller that can tell which elements the order has.
fn among(
    order: Vec<usize>,
    known: impl Fn(usize) -> bool,
    other: &[usize],
    own: impl Fn(usize) -> Own,
    end: NewElements,
) -> Vec<usize> {
    let mut behind: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut before = Vec::new();
    let (mut first, mut last) = (None, None);
    for &at in other {
        match last {
            _ if known(at) => {
                first = first.or(Some(at));
                last = Some(at);
            }
            Some(last) => behind.entry(last).or_default().push(at),
            None => before.push(at),
        }
    }
    let mut out = Vec::with_capacity(order.len() + other.len());
    if first.is_none() && end == NewElements::Prepend {
        out.append(&mut before);
    }
    let mut waiting = Vec::new();
    for at in order {
        if own(at) == Own::Shared {
            out.append(&mut waiting);
        }
        if first == Some(at) {
            out.append(&mut before);
        }
        out.push(at);
        if let Some(mut new) = behind.remove(&at) {
            waiting.append(&mut new);
        }
        if own(at) == Own::Goes {
            out.append(&mut waiting);
        }
    }
    out.extend(waiting);
    out.extend(before);
    out
}

/// Dest's elements, numbered in dest's order, and updated's new ones, in one order. If both sides moved something, dest's order holds.
pub fn in_one(known: usize, original: Vec<usize>, updated: Vec<usize>, end: NewElements) -> Vec<usize> {
    let sides = SideOrders::new(known, original, updated, |_| false, end);
    let [dest, ..] = sides.merged();
    sides.whole(dest)
}

/// Dest's elements, numbered in dest's order, and updated's new ones, in the order if dest wins and if updated wins. `places` has those of
/// original and of updated.
pub(crate) fn in_both_orders(
    known: usize,
    [original, updated]: [Vec<usize>; 2],
    is_gone: impl Fn(usize) -> bool,
    end: NewElements,
) -> [Vec<usize>; 2] {
    let sides = SideOrders::new(known, original, updated, is_gone, end);
    let [dest, taken, _] = sides.merged();
    [dest, taken].map(|order| sides.whole(order))
}

/// The orders of the three sides, as places among the entries. Dest's order is the order of the places themselves.
struct SideOrders {
    known: usize,
    original: Vec<usize>,
    updated: Vec<usize>,
    /// Children that updated lacks, and removed ones: they do not separate a new child from the one before it.
    own: HashMap<usize, Own>,
    /// The children that both dest and updated have.
    common: Vec<usize>,
    end: NewElements,
}

impl SideOrders {
    fn of<'a>(
        branch: &mut Branch<'a>,
        known: usize,
        inside: &Inside<'a>,
        original: Option<NodeRef<'a>>,
        end: NewElements,
    ) -> Self {
        let updated = places_of(branch, inside.like, inside, Side::Updated);
        let original = original.map(|node| places_of(branch, node, inside, Side::Original)).unwrap_or_default();
        Self::new(known, original, updated, |at| branch.entries[at].value.is_none(), end)
    }

    fn new(
        known: usize,
        mut original: Vec<usize>,
        updated: Vec<usize>,
        is_gone: impl Fn(usize) -> bool,
        end: NewElements,
    ) -> Self {
        let upstream: HashSet<usize> = updated.iter().copied().collect();
        let own = (0..known).filter_map(|at| match upstream.contains(&at) {
            _ if is_gone(at) => Some((at, Own::Goes)),
            true => None,
            false => Some((at, Own::Stays)),
        });
        let own = own.collect();
        let mut common: Vec<usize> = updated.iter().copied().filter(|at| *at < known && !is_gone(*at)).collect();
        common.sort_unstable();
        original.retain(|at| common.binary_search(at).is_ok());
        Self { known, original, updated, own, common, end }
    }

    /// The children of both sides in three orders: if dest wins, if updated wins, and the order that both sides started from. If only one
    /// side changed a stretch, all three have that side's order there.
    fn merged(&self) -> [Vec<usize>; 3] {
        let of_all: HashSet<usize> = self.original.iter().copied().collect();
        let (updated, dest) = (only(&self.updated, &of_all), only(&self.common, &of_all));
        let all = |order: &[usize]| [order.to_vec(), order.to_vec(), order.to_vec()];
        if updated == self.original || updated == dest {
            return all(&self.common);
        }
        if dest == self.original {
            return all(&self.upstream());
        }
        if of_all.len() < self.common.len() {
            // A child that both sides also added may belong to any stretch, so the order is not divided.
            let was = beside(self.original.clone(), &self.common, |_| Own::Shared, NewElements::Append);
            return [self.common.clone(), self.upstream(), was];
        }
        let mut out = [Vec::new(), Vec::new(), Vec::new()];
        let mut from = 0;
        for to in stretches(&self.original, [&updated, &dest]) {
            let [was, updated, dest] = [&self.original, &updated, &dest].map(|order| &order[from..to]);
            let taken = if updated == was { dest } else { updated };
            let kept = if dest == was { updated } else { dest };
            for (out, order) in out.iter_mut().zip([kept, taken, if kept == taken { kept } else { was }]) {
                out.extend_from_slice(order);
            }
            from = to;
        }
        out
    }

    /// Like [`SideOrders::merged`], except that each side has its own order if both sides added a child at different places.
    fn contested(&self) -> [Vec<usize>; 3] {
        let merged = self.merged();
        if merged[0] != merged[1] || self.disputed().is_empty() {
            return merged;
        }
        let was = beside(self.original.clone(), &self.common, |_| Own::Shared, NewElements::Append);
        [self.common.clone(), self.upstream(), was]
    }

    /// The children of both sides, in updated's order.
    fn upstream(&self) -> Vec<usize> {
        only(&self.updated, &self.common.iter().copied().collect())
    }

    /// Children that both sides added at different places: between different elements that all three have and no side moved, or in another
    /// order.
    fn disputed(&self) -> Vec<usize> {
        let upstream = self.upstream();
        let known: HashSet<usize> = self.original.iter().copied().collect();
        if known.len() == self.common.len() || upstream == self.common {
            return Vec::new();
        }
        let orders = [&self.common, &upstream];
        let moved: HashSet<usize> =
            orders.iter().flat_map(|order| turned(&self.original, &only(order, &known))).collect();
        let gaps = orders.map(|order| {
            let mut gap = 0;
            let mut of_added = HashMap::new();
            for at in order {
                if known.contains(at) {
                    gap += usize::from(!moved.contains(at));
                } else {
                    of_added.insert(*at, gap);
                }
            }
            of_added
        });
        let added =
            orders.map(|order| -> Vec<usize> { order.iter().copied().filter(|at| !known.contains(at)).collect() });
        let crossed: HashSet<usize> = turned(&added[0], &added[1]).into_iter().collect();
        let [dest, _] = added;
        dest.into_iter().filter(|at| crossed.contains(at) || gaps[0].get(at) != gaps[1].get(at)).collect()
    }

    /// All entries in one order, placed around the children that both sides have.
    fn whole(&self, common: Vec<usize>) -> Vec<usize> {
        let dest: Vec<usize> = (0..self.known).collect();
        let order = beside(common, &dest, |_| Own::Shared, NewElements::Append);
        beside(order, &self.updated, |at| self.own.get(&at).copied().unwrap_or(Own::Shared), self.end)
    }

    /// The children that a side moved, if the orders differ, and the children that both sides added at different places.
    fn moved(&self, dest: &[usize], taken: &[usize], was: &[usize]) -> Vec<usize> {
        let of_all: HashSet<usize> = self.original.iter().copied().collect();
        let known = only(was, &of_all);
        let mut moved: HashSet<usize> =
            [dest, taken].iter().flat_map(|order| out_of_line(&known, &only(order, &of_all))).collect();
        moved.extend(self.disputed());
        was.iter().copied().filter(|at| moved.contains(at)).collect()
    }
}

/// The place in the order `was` of each element of the order `is`.
fn ranks(was: &[usize], is: &[usize]) -> Vec<usize> {
    let rank: HashMap<usize, usize> = was.iter().enumerate().map(|(rank, at)| (*at, rank)).collect();
    is.iter().filter_map(|at| rank.get(at).copied()).collect()
}

/// The elements that come before some other element in one order, and after it in the other. Both orders have the same elements.
fn turned(was: &[usize], is: &[usize]) -> Vec<usize> {
    let ranks = ranks(was, is);
    let mut lowest_after: Vec<usize> = ranks
        .iter()
        .rev()
        .scan(usize::MAX, |low, rank| {
            *low = (*low).min(*rank);
            Some(*low)
        })
        .collect();
    lowest_after.reverse();
    let mut highest_before = 0;
    let mut out = Vec::new();
    for (rank, low) in ranks.iter().zip(lowest_after) {
        highest_before = highest_before.max(*rank);
        if low < *rank || highest_before > *rank {
            out.push(was[*rank]);
        }
    }
    out
}

/// The elements of an order that are in a set.
fn only(order: &[usize], of: &HashSet<usize>) -> Vec<usize> {
    order.iter().copied().filter(|at| of.contains(at)).collect()
}

/// Divides an order into stretches, each of which has the same children in all orders. Returns the ends of the stretches.
fn stretches(original: &[usize], others: [&[usize]; 2]) -> Vec<usize> {
    let rank: HashMap<usize, usize> = original.iter().enumerate().map(|(rank, at)| (*at, rank)).collect();
    let mut reach = 0;
    let mut ends = Vec::new();
    for i in 0..original.len() {
        let furthest = others.iter().filter_map(|other| rank.get(other.get(i)?)).max();
        reach = reach.max(furthest.copied().unwrap_or(i));
        if reach == i {
            ends.push(i + 1);
        }
    }
    ends
}

/// The elements that must move to turn one order into another: all but a longest common subsequence.
fn out_of_line(was: &[usize], is: &[usize]) -> Vec<usize> {
    let ranks = ranks(was, is);
    // `ends[n]` is the place of the smallest rank that ends an increasing subsequence of n + 1 elements.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(ranks.len());
    for (place, rank) in ranks.iter().enumerate() {
        let length = ends.partition_point(|end| ranks[*end] < *rank);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let in_line: HashSet<usize> =
        std::iter::successors(ends.last().copied(), |place| before[*place]).map(|place| was[ranks[place]]).collect();
    is.iter().copied().filter(|at| !in_line.contains(at)).collect()
}

/// Puts elements into the requested order; the entries after the first `known` ones are new. Elements that the order does not name come
/// before the first named one that follows them in dest. Source: `mergeSortedSlice` of apimachinery's strategic merge patch.
pub(super) fn elements_as_ordered<'a>(branch: &mut Branch<'a>, known: usize, by: &By<'a>, order: &[ChildId<'a>]) {
    let rank: HashMap<&ChildId<'a>, usize> = order.iter().enumerate().rev().map(|(rank, id)| (id, rank)).collect();
    let ranks: Vec<Option<usize>> =
        (0..branch.entries.len()).map(|at| branch.id(at).and_then(|id| rank.get(&id).copied())).collect();
    branch.reorder(|entries| {
        let is_gone = |entry: &Entry<'a>| entry.value.is_none();
        // In a list of maps, as many new elements as were deleted come after all of dest's: in kubectl's array they take the room of the
        // deleted elements.
        let gone = entries[..known].iter().filter(|entry| is_gone(entry)).count();
        let room = if matches!(by, By::Keys(_)) { gone } else { 0 };
        let mut named: Vec<(usize, Option<usize>, Entry<'a>)> = Vec::new();
        let mut others = Vec::new();
        for (at, entry) in entries.into_iter().enumerate() {
            if at >= known {
                let place = (at - known < room).then_some(known);
                named.push((ranks[at].unwrap_or(order.len()), place, entry));
            } else {
                match ranks[at].filter(|_| !is_gone(&entry)) {
                    Some(rank) => named.push((rank, Some(at), entry)),
                    None => others.push((at, entry)),
                }
            }
        }
        named.sort_by_key(|(rank, ..)| *rank);
        let mut others = others.into_iter().peekable();
        let mut out = Vec::new();
        for (_, place, entry) in named {
            while let Some((_, other)) = others.next_if(|(at, _)| place.is_some_and(|place| *at < place)) {
                out.push(other);
            }
            out.push(entry);
        }
        out.extend(others.map(|(_, entry)| entry));
        out
    });
}

#[cfg(test)]
mod tests;
