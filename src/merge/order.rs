//! In which order the children of a merged map or list stand.
//!
//! Dest's own keep their places: what is new goes where it belongs among them, and only an order that the other side asks for moves
//! anything. So a merge shows as few changed lines as it makes.

use std::collections::HashMap;

use super::{Children, Comments, New, NewElements, Plan, Planned, Slot};
use crate::change::{By, ChildId};
use crate::yaml::{NodeRef, Place, comment_text, same};

/// Each new field with the child of dest behind which it goes: the nearest sibling before it that dest has too.
pub(super) fn behind_siblings<'a>(
    like: NodeRef<'a>,
    old: &Children<'a>,
    new: Vec<New<'a>>,
) -> Vec<(Option<usize>, New<'a>)> {
    let mut placed = Vec::with_capacity(new.len());
    let mut new = new.into_iter().peekable();
    let mut last = None;
    for (key, _) in like.entries() {
        match new.next_if(|n| n.key.is_some_and(|k| k.is(key))) {
            Some(entry) => placed.push((last, entry)),
            None if new.peek().is_none() => break,
            None => last = old.find(&ChildId::Field(key.string())).0.or(last),
        }
    }
    placed.extend(new.map(|entry| (None, entry)));
    placed
}

/// Dest's fields in their order, with the new ones where they belong; those that belong nowhere come last.
pub(super) fn fields_in_order<'a>(plans: Planned<'a>, new: Vec<(Option<usize>, New<'a>)>) -> Vec<Slot<'a>> {
    let mut slots = Vec::with_capacity(plans.len() + new.len());
    let mut behind: HashMap<Option<usize>, Vec<New<'a>>> = HashMap::new();
    for (after, entry) in new {
        behind.entry(after).or_default().push(entry);
    }
    for (index, plan) in plans.into_iter().enumerate() {
        slots.push(dest_slot(index, plan));
        slots.extend(behind.remove(&Some(index)).into_iter().flatten().map(Slot::New));
    }
    slots.extend(behind.remove(&None).into_iter().flatten().map(Slot::New));
    slots
}

/// Dest's elements in their order, and the new ones before or behind them.
pub(super) fn elements_in_order<'a>(plans: Planned<'a>, new: Vec<New<'a>>, place: NewElements) -> Vec<Slot<'a>> {
    let old = plans.into_iter().enumerate().map(|(index, plan)| dest_slot(index, plan));
    let new = new.into_iter().map(Slot::New);
    match place {
        NewElements::Append => old.chain(new).collect(),
        NewElements::Prepend => new.chain(old).collect(),
    }
}

/// The elements as an order wants them. Those that it does not name stand before the first one that it names and that follows them in
/// dest. Source: `mergeSortedSlice` of apimachinery's strategic merge patch.
pub(super) fn elements_as_ordered<'a>(
    plans: Planned<'a>,
    old: &Children<'a>,
    new: Vec<(&ChildId<'a>, New<'a>)>,
    (by, order): (&By<'a>, &[ChildId<'a>]),
) -> Vec<Slot<'a>> {
    let rank: HashMap<&ChildId<'a>, usize> = order.iter().enumerate().rev().map(|(rank, id)| (id, rank)).collect();
    let mut named: Vec<(usize, Option<usize>, Slot<'a>)> = Vec::new();
    let mut others = Vec::new();
    for (index, plan) in plans.into_iter().enumerate() {
        let rank = old.ids[index].as_ref().and_then(|id| rank.get(id));
        let slot = dest_slot(index, plan);
        match rank.filter(|_| !matches!(slot, Slot::Dest { plan: Plan::Remove, .. })) {
            Some(rank) => named.push((*rank, Some(index), slot)),
            None => others.push((index, slot)),
        }
    }
    let (count, last) = (old.written.len(), order.len());
    // Of maps, as many new ones as were deleted follow all that dest has: kubectl's take the room of the deleted in its own array.
    let is_gone = |slot: &Slot<'a>| matches!(slot, Slot::Dest { plan: Plan::Remove, .. });
    let room = if matches!(by, By::Keys(_)) { others.iter().filter(|(_, slot)| is_gone(slot)).count() } else { 0 };
    named.extend(
        new.into_iter()
            .enumerate()
            .map(|(i, (id, n))| (rank.get(id).copied().unwrap_or(last), (i < room).then_some(count), Slot::New(n))),
    );
    named.sort_by_key(|(rank, ..)| *rank);
    let mut others = others.into_iter().peekable();
    let mut slots = Vec::new();
    for (_, place, slot) in named {
        while let Some((_, other)) = others.next_if(|(index, _)| place.is_some_and(|place| *index < place)) {
            slots.push(other);
        }
        slots.push(slot);
    }
    slots.extend(others.map(|(_, slot)| slot));
    slots
}

fn dest_slot<'a>(index: usize, plan: Option<(Plan<'a>, Comments<'a>)>) -> Slot<'a> {
    let (plan, comments) = plan.unwrap_or((Plan::Keep, Comments::default()));
    Slot::Dest { index, plan, comments }
}

/// A list for a list: elements that both have in one order stay to the byte, and only what lies between them is replaced.
pub(super) fn list_over_list<'a>(dest: NodeRef<'a>, updated: NodeRef<'a>) -> Plan<'a> {
    let (old, new): (Vec<_>, Vec<_>) = (dest.elements().collect(), updated.elements().collect());
    let put = |value: NodeRef<'a>| New::whole(None, value);
    let mut slots: Vec<Slot<'a>> = Vec::new();
    let (mut at, mut from) = (0, 0);
    let mut anchors = common(&old, &new);
    anchors.push((old.len(), new.len()));
    for (i, j) in anchors {
        // Elements that stand in the same gap take each other's places, as far as there are as many.
        let mut replacing = new[from..j].iter();
        for index in at..i {
            let (plan, behind) = match replacing.next() {
                Some(value) => {
                    (Plan::Put(Box::new(put(*value))), comment_text(&Place::of_element(updated, *value), *value))
                }
                None => (Plan::Remove, None),
            };
            slots.push(Slot::Dest { index, plan, comments: Comments { above: None, behind } });
        }
        slots.extend(replacing.map(|value| Slot::New(put(*value))));
        if i < old.len() {
            slots.push(Slot::dest(i, Plan::Keep));
        }
        (at, from) = (i + 1, j + 1);
    }
    Plan::Inside(slots)
}

/// The longest common subsequence of two lists, as pairs of indices; of long lists only what they begin and end with.
fn common(old: &[NodeRef<'_>], new: &[NodeRef<'_>]) -> Vec<(usize, usize)> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| same(**a, **b)).count();
    let rest = old[prefix..].iter().rev().zip(new[prefix..].iter().rev());
    let suffix = rest.take_while(|(a, b)| same(**a, **b)).count();
    let (old_middle, new_middle) = (&old[prefix..old.len() - suffix], &new[prefix..new.len() - suffix]);
    let mut pairs: Vec<(usize, usize)> = (0..prefix).map(|i| (i, i)).collect();
    let (n, m) = (old_middle.len(), new_middle.len());
    if n * m <= 4096 {
        let mut length = vec![vec![0u16; m + 1]; n + 1];
        for i in (0..n).rev() {
            for j in (0..m).rev() {
                length[i][j] = if same(old_middle[i], new_middle[j]) {
                    length[i + 1][j + 1] + 1
                } else {
                    length[i + 1][j].max(length[i][j + 1])
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < n && j < m {
            if same(old_middle[i], new_middle[j]) {
                pairs.push((prefix + i, prefix + j));
                (i, j) = (i + 1, j + 1);
            } else if length[i + 1][j] >= length[i][j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
    pairs.extend((0..suffix).map(|k| (old.len() - suffix + k, new.len() - suffix + k)));
    pairs
}
