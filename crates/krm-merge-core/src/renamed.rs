//! Which children of a map or a keyed list have another name on a side, but are the same child.
//!
//! A container that dest renamed is still the container whose image upstream changes; git sees one line of it change. So a child that a
//! side lacks and a child that the side added are one if at least half of their values are equal. They must also share a few values,
//! because small children are equal by chance. In doubt nothing is joined: the old child is deleted, and the new one is added. A value counts
//! at its depth: a child that moved below a new parent is not that parent.
//!
//! In the place of the old child, the new one may have grown: then it counts how much of the old child it kept. And there both sides may
//! have renamed an element, in different ways: then the name is in conflict. For fields, see `apart.rs`.
//!
//! After a first run, a child may have the name of one side and the values of the other, so that little of original is left in it. Or each side
//! changed another part of a name. So the new child of a side is also compared with what the other side made of the old one, under its old
//! or its new name. It is the one that the other side renamed if it has that name.

use std::collections::BTreeSet;
use std::hash::Hash;

use krm_tree::alike::alike;
use krm_tree::child::ChildId;
use krm_tree::leaves::{HALF, Leaves, Pairs};
use krm_tree::sides::{Side, Sides};
use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{NodeRef, same};

/// The children of each side with their identities.
type Children<'a> = Sides<Vec<(ChildId<'a>, NodeRef<'a>)>>;

/// The children of one side by their identities.
type ByName<'a> = HashMap<ChildId<'a>, NodeRef<'a>>;

/// The identity on one side of children of original that this side renamed.
type Partners<'a> = HashMap<ChildId<'a>, ChildId<'a>>;

/// How many equal values two children must have at least. Two `env` entries with one equal value are not one entry.
pub(crate) const FEWEST: usize = 2;

/// From how many equal values on it is enough that half are equal. With fewer, at most one value in three may differ: the name.
const FEW: usize = 3;

/// In thousandths.
const TWO_THIRDS: u32 = 666;

/// The share of equal values of two children that are equal, in thousandths.
const MOST_ALIKE: u32 = 1000;

/// How many values may be compared in one map or list. Beyond that, renames are not looked for.
const MOST_COMPARED: usize = 200_000;

/// What the sides did to names.
#[derive(Debug, Default)]
pub(crate) struct Renamed<'a> {
    /// The children that original, updated and dest all have, but not with one identity: one for each side.
    pub found: Vec<Sides<ChildId<'a>>>,
    /// The children that are in conflict because the sides gave two of them one name: see [`of_one_name`].
    pub of_one_name: Vec<ChildId<'a>>,
}

/// The children of updated that original has under another name.
pub fn renamed_since<'a>(
    original: Vec<(ChildId<'a>, NodeRef<'a>)>,
    updated: Vec<(ChildId<'a>, NodeRef<'a>)>,
) -> Vec<ChildId<'a>> {
    let Renamed { found, .. } = renamed(&Sides { dest: original.clone(), original, updated });
    found.into_iter().map(|names| names.updated).collect()
}

/// Finds the children that a side renamed.
pub(crate) fn renamed<'a>(children: &Children<'a>) -> Renamed<'a> {
    let by_name = Sides::of(|side| children[side].iter().cloned().collect::<ByName<'a>>());
    let found = |side: Side, other: &Partners<'a>| partners(children, &by_name, side, other);
    let [updated, dest] = [Side::Updated, Side::Dest].map(|side| found(side, &HashMap::new()));
    let again = |side: Side, other: &Partners<'a>| (!other.is_empty()).then(|| found(side, other));
    let (updated_again, dest_again) = (again(Side::Updated, &dest), again(Side::Dest, &updated));
    let (in_updated, in_dest) = (updated_again.unwrap_or(updated), dest_again.unwrap_or(dest));
    let are_both = !in_updated.is_empty() && !in_dest.is_empty();
    let in_place = Sides::of(|side| {
        let found = if are_both { in_place(children, side) } else { Vec::new() };
        found.into_iter().collect::<HashSet<_>>()
    });
    let joined = |(name, _): &(ChildId<'a>, NodeRef<'a>)| {
        let called = |side: Side, [own, other]: [&Partners<'a>; 2]| match by_name[side].contains_key(name) {
            true => Some(name.clone()),
            false => {
                let new = own.get(name).or_else(|| other.get(name).filter(|new| by_name[side].contains_key(*new)));
                new.cloned()
            }
        };
        let sides = Sides {
            original: name.clone(),
            updated: called(Side::Updated, [&in_updated, &in_dest])?,
            dest: called(Side::Dest, [&in_dest, &in_updated])?,
        };
        let (updated, dest) = (&sides.updated, &sides.dest);
        // If the other side has the name, too, both sides added it.
        let is_free = |own: &ChildId<'a>, other: Side| own == name || !by_name[other].contains_key(own);
        let is_one = updated == dest || (is_free(updated, Side::Dest) && is_free(dest, Side::Updated));
        let is_renamed = updated != name || dest != name;
        let is_twice = updated != dest && updated != name && dest != name;
        let are_there = |side: Side| in_place[side].contains(&(name, &sides[side]));
        let is_known =
            !is_twice || matches!(name, ChildId::Key(_)) && are_there(Side::Updated) && are_there(Side::Dest);
        // With fewer values, a second run would not find it again.
        let has_enough =
            |side: Side| by_name[side].get(&sides[side]).is_some_and(|node| Leaves::of(*node).count() >= FEWEST);
        let is_known_again = || updated == dest || has_enough(Side::Updated) && has_enough(Side::Dest);
        (is_renamed && is_one && is_known && is_known_again()).then_some(sides)
    };
    Renamed {
        found: each_once(children.original.iter().filter_map(joined).collect()),
        of_one_name: of_one_name(children, &by_name, &Sides { updated: in_updated, dest: in_dest, ..Sides::default() }),
    }
}

/// The name of a child of original on a side that perhaps renamed it.
fn name_on<'n, 'a>(side: &ByName<'a>, partners: &'n Partners<'a>, name: &'n ChildId<'a>) -> Option<&'n ChildId<'a>> {
    if side.contains_key(name) { Some(name) } else { partners.get(name) }
}

/// The children that a side renamed to a name under which the other side, which still has the child, has another one. Two children cannot have
/// one name, so they are in conflict: the child, what has its new name, and what the other side perhaps gave that name.
fn of_one_name<'a>(
    children: &Children<'a>,
    by_name: &Sides<ByName<'a>>,
    renamed_on: &Sides<Partners<'a>>,
) -> Vec<ChildId<'a>> {
    let is_new = |name: &ChildId<'a>| !by_name.original.contains_key(name);
    let is_contested = |name: &ChildId<'a>| {
        let both = by_name.updated.get(name).zip(by_name.dest.get(name));
        is_new(name) && both.is_some_and(|(updated, dest)| !same(*updated, *dest))
    };
    let mut found = Vec::new();
    if !children.dest.iter().any(|(name, _)| is_contested(name)) {
        return found;
    }
    for (side, other) in [(Side::Updated, Side::Dest), (Side::Dest, Side::Updated)] {
        // What the other side has under the new name does not count here.
        let alone = Sides { updated: children[side].clone(), ..Sides::of(|_| children.original.clone()) };
        let in_it = Sides::of(|side| alone[side].iter().cloned().collect::<ByName<'a>>());
        let on_side = partners(&alone, &in_it, Side::Updated, &HashMap::new());
        let in_place = in_place(children, other);
        for (old, _) in &children.original {
            let Some(new) = on_side.get(old).filter(|new| is_contested(new)) else { continue };
            let Some(there) = name_on(&by_name[other], &renamed_on[other], old).filter(|there| *there != new) else {
                continue;
            };
            let is = by_name[other].get(new).map(|node| Leaves::of(*node));
            let has_its_values = |old: &ChildId<'a>| {
                let was = by_name.original.get(old).map(|node| Leaves::of(*node));
                was.zip(is.as_ref()).is_some_and(|(was, is)| was.common(is) > 0)
            };
            let replaced = in_place.iter().filter(|(old, place)| *place == new && has_its_values(old));
            found.extend(replaced.map(|(old, _)| (*old).clone()));
            found.extend([there, old, new].map(ChildId::clone));
        }
    }
    found
}

/// The children whose names no other child has: each side may take another child for the one that was renamed.
fn each_once(mut children: Vec<Sides<ChildId<'_>>>) -> Vec<Sides<ChildId<'_>>> {
    let counts = Sides::of(|side| {
        let mut counts: HashMap<ChildId<'_>, usize> = HashMap::new();
        children.iter().for_each(|names| *counts.entry(names[side].clone()).or_default() += 1);
        counts
    });
    children.retain(|names| Side::ALL.into_iter().all(|side| counts[side].get(&names[side]) == Some(&1)));
    children
}

/// For each child of original that a side renamed, its name on that side. The old and the new child are each the only one that is most like
/// the other. `in_other` are such names on the other side: a child with that name comes before a copy of it that is more like the old one.
fn partners<'c, 'a>(
    children: &'c Children<'a>,
    by_name: &Sides<ByName<'a>>,
    side: Side,
    in_other: &Partners<'a>,
) -> Partners<'a> {
    let beyond = |of: Side, other: Side| -> Vec<&'c (ChildId<'a>, NodeRef<'a>)> {
        children[of].iter().filter(|(name, _)| !by_name[other].contains_key(name)).collect()
    };
    let (gone, come) = (beyond(Side::Original, side), beyond(side, Side::Original));
    if gone.is_empty() || come.is_empty() {
        return HashMap::new();
    }
    let other = if side == Side::Dest { Side::Updated } else { Side::Dest };
    let leaves = |node: &NodeRef<'_>| Leaves::by_depth(*node);
    let new: Vec<Leaves> = come.iter().map(|(_, node)| leaves(node)).collect();
    let old: Vec<(usize, Leaves)> = gone.iter().enumerate().map(|(i, (_, node))| (i, leaves(node))).collect();
    let name_in_other = |name: &'c ChildId<'a>| name_on(&by_name[other], in_other, name);
    let of_other = gone.iter().enumerate().filter_map(|(i, (name, _))| {
        let node = by_name[other].get(name_in_other(name)?)?;
        Some((i, leaves(node)))
    });
    let of_other: Vec<(usize, Leaves)> = of_other.collect();
    let mut left = MOST_COMPARED;
    let mut pairs = Pairs::of(gone.len(), come.len());
    let by_new: Vec<_> = new.iter().map(Leaves::hashes).enumerate().collect();
    let at = |all: &[&'c (ChildId<'a>, NodeRef<'a>)]| -> HashMap<&'c ChildId<'a>, usize> {
        all.iter().enumerate().map(|(at, (name, _))| (name, at)).collect()
    };
    let (at_gone, at_come) = (at(&gone), at(&come));
    let in_place: HashSet<(usize, usize)> =
        in_place(children, side).into_iter().map(|(old, new)| (at_gone[old], at_come[new])).collect();
    for old in [&old, &of_other] {
        let by_old: Vec<_> = old.iter().map(|(_, leaves)| leaves.hashes()).enumerate().collect();
        let places: HashMap<usize, usize> = old.iter().enumerate().map(|(at, (i, _))| (*i, at)).collect();
        let grown = in_place.iter().filter_map(|(i, j)| Some((*places.get(i)?, *j)));
        let all: BTreeSet<(usize, usize)> = alike(&by_old, &by_new, HALF).chain(grown).collect();
        for (at, j) in all {
            let ((i, old), new) = (&old[at], &new[j]);
            // The other side has both.
            let is_another = |name: &ChildId<'a>| *name != come[j].0 && by_name[other].contains_key(&come[j].0);
            if name_in_other(&gone[*i].0).is_some_and(is_another) {
                continue;
            }
            left = match left.checked_sub(old.count() + new.count()) {
                Some(left) => left,
                None => return HashMap::new(),
            };
            let is_grown = || {
                let kept = old.kept(new).filter(|_| old.common(new) >= FEW && in_place.contains(&(*i, j)));
                kept.is_some_and(|kept| kept >= TWO_THIRDS)
            };
            let share = share_of_one(old, new).or_else(|| old.share(new).filter(|_| is_grown()));
            let is_so_in_other = in_other.get(&gone[*i].0) == Some(&come[j].0);
            let more = if is_so_in_other { MOST_ALIKE } else { 0 };
            share.into_iter().for_each(|share| pairs.offer(*i, j, share + more));
        }
    }
    pairs.found().map(|(i, j)| (gone[i].0.clone(), come[j].0.clone())).collect()
}

/// How much two children have in common, in thousandths, if it is enough for one child.
pub(crate) fn share_of_one(old: &Leaves, new: &Leaves) -> Option<u32> {
    let common = old.common(new);
    let least = if common < FEW { TWO_THIRDS } else { HALF };
    old.share(new).filter(|share| *share >= least && common >= FEWEST)
}

/// The names of the children of original that a side lacks, each with those of the children of the side that are in its place.
fn in_place<'c, 'a>(children: &'c Children<'a>, side: Side) -> Vec<(&'c ChildId<'a>, &'c ChildId<'a>)> {
    let names = |side: Side| children[side].iter().map(|(name, _)| name).collect::<Vec<_>>();
    let (original, own) = (names(Side::Original), names(side));
    replaced(&original, &own).into_iter().map(|(old, new)| (original[old], own[new])).collect()
}

/// How many pairs of children at one place are looked at. With more, they are paired in their order.
const MOST_AT_ONE_PLACE: usize = 64;

/// The pairs of a child of original that a side lacks, and a child of the side that original lacks, behind the same child that both have. The
/// children are given by their keys, and found by their places.
pub(crate) fn replaced<K: Copy + Eq + Hash>(original: &[K], side: &[K]) -> Vec<(usize, usize)> {
    let beyond = |own: &[K], other: &[K]| {
        let other: HashSet<K> = other.iter().copied().collect();
        let mut last = None;
        let mut found: HashMap<Option<K>, Vec<usize>> = HashMap::new();
        for (place, key) in own.iter().enumerate() {
            if other.contains(key) {
                last = Some(*key);
            } else {
                found.entry(last).or_default().push(place);
            }
        }
        found
    };
    let (gone, come) = (beyond(original, side), beyond(side, original));
    let at_one_place = gone.iter().filter_map(|(behind, old)| Some((old, come.get(behind)?)));
    let pairs = at_one_place.flat_map(|(old, new)| match old.len() * new.len() <= MOST_AT_ONE_PLACE {
        true => old.iter().flat_map(|old| new.iter().map(|new| (*old, *new))).collect::<Vec<_>>(),
        false => old.iter().copied().zip(new.iter().copied()).collect(),
    });
    let mut pairs: Vec<(usize, usize)> = pairs.collect();
    pairs.sort_unstable();
    pairs
}
