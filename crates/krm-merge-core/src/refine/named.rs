//! Three versions of a list whose elements have names, although no merge key identifies them (`schema/additive.rs`): merged by name.
//!
//! Additions of other names are no conflict, what one side removed and the other one changed is one, and elements are placed by their
//! neighbours, as in a list with keys. An element without a name is one that has its value. Where the names may be wrong, the list is
//! compared without them: a name repeats on a side, or both sides replaced an element, which perhaps changed its name.

use krm_schema::schema::{Named, Names};
use krm_tree::sides::{Side, Sides};
use krm_tree::tree::{Pick, View};
use krm_yaml::hashed::{Empty, HashMap, HashSet};

use super::partners::{FeaturesOf, any_is_one};
use super::three::Changed;
use crate::merge::order::in_both_orders;
use crate::policy::{NewElements, Policy, Renames};

/// How many pairs of a dropped element and an added one are looked at. In a list with more, nobody knows what changed its name.
const MOST_RIVALS: usize = 20_000;

/// What becomes of an element of dest, or of one that only updated has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementFate {
    /// It stays as it is.
    Stays,
    /// It is removed.
    Goes,
    /// It is merged inside, with the element at this place in original and the one at this place in updated. If original has none, both sides
    /// added it.
    Merges(Option<usize>, usize),
    /// It is new, at this place in updated.
    Comes(usize),
    /// A conflict of the element, with its places in original and in updated.
    Open(Option<usize>, Option<usize>),
}

/// A list merged by names.
#[derive(Clone, Debug)]
pub(super) struct NamedMerge {
    /// The elements of dest, and behind them what dest lacks.
    pub fates: Vec<ElementFate>,
    /// How many of them are of dest.
    pub of_dest: usize,
    /// The order of the elements if dest wins, and if updated wins. They differ if both sides changed the order, in different ways.
    pub orders: [Vec<usize>; 2],
}

impl NamedMerge {
    /// `None` if the list has no names, or if its elements may have changed their names.
    pub(super) fn of(names: Names, lists: Sides<FeaturesOf<'_, '_>>, policy: Policy) -> Option<Self> {
        let ids = Ids::of(names, lists)?;
        let mut versions = ThreeNamed { names, lists, ids, end: policy.new_elements };
        versions.unite_renamed(policy.renames);
        if versions.has_rivals() {
            return None;
        }
        let merge = versions.merged();
        versions.is_whole(&merge).then_some(merge)
    }

    /// Whether names have nothing against a result that was merged without them and in which this side won: none is there twice unless a side
    /// has it twice, and a second run, which may have names again, changes nothing.
    pub(super) fn allows(
        result: FeaturesOf<'_, '_>,
        pick: Pick,
        names: Names,
        lists: Sides<FeaturesOf<'_, '_>>,
        policy: Policy,
    ) -> bool {
        let again = Sides { dest: result, ..lists };
        (Ids::of(names, lists).is_none() || Ids::of(names, again).is_some())
            && Self::of(names, again, policy).is_none_or(|again| again.changes_nothing(pick))
    }

    /// The order of the elements if this side wins.
    pub(super) fn order(&self, pick: Pick) -> &[usize] {
        let [dest, taken] = &self.orders;
        if pick == Pick::Updated { taken } else { dest }
    }

    /// The elements of dest that are in another place if updated wins; empty if only one side changed the order.
    pub(super) fn moved(&self) -> Vec<usize> {
        let [dest, taken] = &self.orders;
        let moved = dest.iter().zip(taken).filter(|(own, taken)| own != taken && **own < self.of_dest);
        moved.map(|(own, _)| *own).collect()
    }

    /// Whether a second run that has this merge changes nothing, where the same side wins again.
    pub(super) fn changes_nothing(&self, pick: Pick) -> bool {
        let stays =
            |fate: &ElementFate| matches!(fate, ElementFate::Stays | ElementFate::Merges(..) | ElementFate::Open(..));
        self.fates[..self.of_dest].iter().all(stays)
            && self.fates[self.of_dest..].iter().all(|fate| matches!(fate, ElementFate::Open(..)))
            && self.order(pick).iter().filter(|at| **at < self.of_dest).is_sorted()
    }
}

/// A number for each element of each version. The same name, or the same value without a name, has the same number.
struct Ids {
    of: Sides<Vec<usize>>,
    at: Sides<HashMap<usize, usize>>,
    /// The numbers of elements without a name.
    nameless: HashSet<usize>,
    /// The numbers of values, by those of their flags.
    values: HashMap<usize, usize>,
}

/// What tells an element apart.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Id {
    Name(String),
    Flag(String),
    ValueOf(String),
    Value(u32),
}

impl Ids {
    /// `None` if a side has no names, has two elements of one name, or if the sides write a flag in different ways.
    fn of(names: Names, lists: Sides<FeaturesOf<'_, '_>>) -> Option<Self> {
        let mut known: HashMap<Id, usize> = HashMap::new();
        let mut forms: HashMap<String, std::mem::Discriminant<Named>> = HashMap::new();
        let mut ids =
            Self { of: Sides::default(), at: Sides::default(), nameless: HashSet::new(), values: HashMap::new() };
        for (side, list) in lists.iter() {
            let (mut of, mut at) = (Vec::with_capacity(list.0.len()), HashMap::new());
            for (place, named) in names.of_list(list.1)?.into_iter().enumerate() {
                let form = std::mem::discriminant(&named);
                let id = match named {
                    Named::No => Id::Value(list.0[place]),
                    Named::Yes(name) => Id::Name(name),
                    Named::ValueOf(flag) => Id::ValueOf(flag),
                    Named::Flag(flag) | Named::FlagWithValue(flag) | Named::FlagBefore(flag) => {
                        if *forms.entry(flag.clone()).or_insert(form) != form {
                            return None;
                        }
                        Id::Flag(flag)
                    }
                };
                let (is_nameless, is_value) = (matches!(id, Id::Value(_)), matches!(id, Id::ValueOf(_)));
                let next = known.len();
                let number = *known.entry(id).or_insert(next);
                if is_nameless {
                    ids.nameless.insert(number);
                }
                if let Some(flag) = of.last().filter(|_| is_value) {
                    ids.values.insert(*flag, number);
                }
                of.push(number);
                if at.insert(number, place).is_some() {
                    return None;
                }
            }
            (ids.of[side], ids.at[side]) = (of, at);
        }
        Some(ids)
    }
}

/// An element with another name on a side: its number in original, and the one that it has there.
#[derive(Clone, Copy, Debug)]
struct RenamedElement {
    old: usize,
    new: usize,
}

struct ThreeNamed<'v, 'a> {
    names: Names,
    lists: Sides<FeaturesOf<'v, 'a>>,
    ids: Ids,
    /// Where elements go that have no neighbour.
    end: NewElements,
}

impl<'v, 'a> ThreeNamed<'v, 'a> {
    fn at(&self, side: Side, id: usize) -> Option<usize> {
        self.ids.at[side].get(&id).copied()
    }

    fn number(&self, side: Side, id: usize) -> Option<u32> {
        Some(self.lists[side].0[self.at(side, id)?])
    }

    /// Gives each element that a side renamed the number that it has on the other sides.
    fn unite_renamed(&mut self, renames: Renames) {
        for renamed in self.renamed_on_a_side(renames) {
            for side in [Side::Updated, Side::Dest] {
                if let Some(place) = self.ids.at[side].remove(&renamed.new) {
                    self.ids.at[side].insert(renamed.old, place);
                    self.ids.of[side][place] = renamed.old;
                }
            }
        }
    }

    /// The elements that a side renamed, and that the other side deleted, has under the old name, or renamed as well. Each is the only element
    /// that is like it, in its place. After a first run, both sides have the new name. An element whose renames are not followed, or that has no name, is
    /// the one that updated wrote anew if dest left it alone. So dest's comments stay, and its layout.
    fn renamed_on_a_side(&self, renames: Renames) -> Vec<RenamedElement> {
        let added = Sides::of(|side| self.added(side));
        let mut dropped = Vec::new();
        self.each_in_gap(Side::Original, |id, gap| dropped.push((id, gap)));
        let count = |added: &HashMap<Option<usize>, Vec<usize>>| added.values().map(Vec::len).sum::<usize>();
        if dropped.len().saturating_mul(count(&added.updated) + count(&added.dest)) > MOST_RIVALS {
            return Vec::new();
        }
        // What a side added that is like a dropped element, as original or as the other side has it.
        let like = |id: usize, gap: &Option<usize>, side: Side, other: Side| -> Vec<usize> {
            let new = added[side].get(gap).into_iter().flatten().copied();
            new.filter(|new| {
                // After a first run, dest has what updated made of it, with its own changes.
                let own = [self.views(side, &[*new]), self.views(other, &[*new])].concat();
                [Side::Original, other].iter().any(|of| any_is_one(&self.views(*of, &[id]), &own))
            })
            .collect()
        };
        let mut found: Vec<RenamedElement> = Vec::new();
        let mut rivals: HashMap<usize, HashSet<usize>> = HashMap::new();
        for (id, gap) in dropped {
            let is_followed =
                renames == Renames::Follow && self.names != Names::Flags && !self.ids.nameless.contains(&id);
            let may_be_new = || !self.is_sure(id) && !self.is_changed(Side::Dest, id);
            let sides = [(Side::Updated, Side::Dest), (Side::Dest, Side::Updated)];
            let like = sides.map(|(side, other)| match self.at(side, id) {
                Some(_) => None,
                None => Some(like(id, &gap, side, other)),
            });
            like.iter().flatten().flatten().for_each(|new| _ = rivals.entry(*new).or_default().insert(id));
            let of_both = |new: &usize| self.at(Side::Updated, *new).is_some() && self.at(Side::Dest, *new).is_some();
            let renamed = |new: usize| RenamedElement { old: id, new };
            match &like {
                [Some(_), None] if !is_followed && !may_be_new() => {}
                [None | Some(_), Some(_)] if !is_followed => {}
                [Some(one), None] | [None, Some(one)] => {
                    found.extend(one.first().filter(|new| one.len() == 1 && !of_both(new)).copied().map(renamed));
                }
                [Some(one), Some(other)] => match (&one[..], &other[..]) {
                    ([one], [other]) if one == other || !of_both(one) && !of_both(other) => {
                        found.extend([renamed(*one), renamed(*other)]);
                    }
                    // The other side deleted what this side renamed.
                    ([one], []) | ([], [one]) if !of_both(one) => found.push(renamed(*one)),
                    _ => {}
                },
                [None, None] => {}
            }
        }
        found.retain(|renamed| rivals.get(&renamed.new).is_some_and(|rivals| rivals.len() == 1));
        found
    }

    /// The elements of a side that original lacks, by the element before them that all versions have.
    fn added(&self, side: Side) -> HashMap<Option<usize>, Vec<usize>> {
        let mut gaps: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        self.each_in_gap(side, |id, gap| {
            if self.at(Side::Original, id).is_none() {
                gaps.entry(gap).or_default().push(id);
            }
        });
        gaps
    }

    fn each_in_gap(&self, side: Side, mut visit: impl FnMut(usize, Option<usize>)) {
        let mut gap = None;
        for id in &self.ids.of[side] {
            if Side::ALL.iter().all(|side| self.at(*side, *id).is_some()) {
                gap = Some(*id);
            } else {
                visit(*id, gap);
            }
        }
    }

    /// Whether an element may have changed its name.
    fn has_rivals(&self) -> bool {
        let [of_updated, of_dest] = [Side::Updated, Side::Dest].map(|side| self.added(side));
        let count = |added: &HashMap<Option<usize>, Vec<usize>>| added.values().map(Vec::len).sum::<usize>();
        let mut dropped = 0_usize;
        self.each_in_gap(Side::Original, |_, _| dropped += 1);
        if dropped.saturating_mul(count(&of_updated) + count(&of_dest)) > MOST_RIVALS {
            return true;
        }
        let none = Vec::new();
        let mut found = false;
        let is_of_both = |id: &usize| {
            let numbers = [Side::Updated, Side::Dest].map(|side| self.number(side, *id));
            numbers[0].is_some() && numbers[0] == numbers[1]
        };
        let own = |gap: &Option<usize>, of: &HashMap<Option<usize>, Vec<usize>>| -> Vec<usize> {
            of.get(gap).unwrap_or(&none).iter().copied().filter(|id| !is_of_both(id)).collect()
        };
        self.each_in_gap(Side::Original, |id, gap| {
            let [is_in_updated, is_in_dest] = [Side::Updated, Side::Dest].map(|side| self.at(side, id).is_some());
            let [new, mine] = [own(&gap, &of_updated), own(&gap, &of_dest)];
            let is_like = |side: Side, added: &[usize]| self.is_like(id, side, added);
            let may_be = |side: Side, added: &[usize]| is_like(side, added) || self.are_words(id, side, added);
            found |= match (is_in_updated, is_in_dest) {
                // Both replaced it.
                (false, false) if !new.is_empty() && !mine.is_empty() => !self.is_sure(id),
                (false, false) => is_like(Side::Updated, &new) || is_like(Side::Dest, &mine),
                (false, true) => self.is_changed(Side::Dest, id) && may_be(Side::Updated, &new),
                (true, false) => self.is_changed(Side::Updated, id) && may_be(Side::Dest, &mine),
                (true, true) => false,
            };
        });
        // Nobody knows whether two additions without a name exclude each other.
        let of = |added: &HashMap<Option<usize>, Vec<usize>>| -> Vec<usize> {
            let all = added.values().flatten().copied();
            all.filter(|id| self.ids.nameless.contains(id) && !is_of_both(id)).collect()
        };
        let [new, mine] = [of(&of_updated), of(&of_dest)];
        found || !new.is_empty() && !mine.is_empty() && !self.are_apart(&new, &mine)
    }

    fn is_changed(&self, side: Side, id: usize) -> bool {
        self.number(side, id) != self.number(Side::Original, id)
    }

    /// Whether an element of original is like one that a side added.
    fn is_like(&self, id: usize, side: Side, added: &[usize]) -> bool {
        !self.is_sure(id) && any_is_one(&self.views(Side::Original, &[id]), &self.views(side, added))
    }

    /// Whether a field of the element gives its name, so that another name is another element.
    fn is_sure(&self, id: usize) -> bool {
        matches!(self.names, Names::OneOf(_) | Names::Perhaps(_) | Names::All(_)) && !self.ids.nameless.contains(&id)
    }

    /// Whether a side may have written an element of original anew: a reference with another address, or a word in another spelling.
    fn are_words(&self, id: usize, side: Side, added: &[usize]) -> bool {
        let may_change = self.ids.nameless.contains(&id) || matches!(self.names, Names::Reference(_));
        let is_word = |side: Side, ids: &[usize]| self.views(side, ids).iter().any(|element| element.text().is_some());
        may_change && is_word(Side::Original, &[id]) && is_word(side, added)
    }

    fn views(&self, side: Side, ids: &[usize]) -> Vec<View<'v, 'a>> {
        ids.iter().filter_map(|id| Some(self.lists[side].1[self.at(side, *id)?])).collect()
    }

    /// Whether files and patches without a name are surely different ones.
    fn are_apart(&self, new: &[usize], mine: &[usize]) -> bool {
        let [new, mine] = [self.views(Side::Updated, new), self.views(Side::Dest, mine)];
        matches!(self.names, Names::Reference(_)) && !any_is_one(&new, &mine)
    }

    fn merged(&self) -> NamedMerge {
        let mut fates = Vec::with_capacity(self.ids.of.dest.len());
        let mut entries: HashMap<usize, usize> = HashMap::new();
        for id in &self.ids.of.dest {
            entries.insert(*id, fates.len());
            fates.push(self.of_dest(*id));
        }
        let of_dest = fates.len();
        for (place, id) in self.ids.of.updated.iter().enumerate() {
            let fate = match (self.at(Side::Original, *id), self.at(Side::Dest, *id)) {
                (_, Some(_)) => continue,
                (None, None) => ElementFate::Comes(place),
                (Some(_), None) if !self.is_changed(Side::Updated, *id) => continue,
                (Some(original), None) => ElementFate::Open(Some(original), Some(place)),
            };
            entries.insert(*id, fates.len());
            fates.push(fate);
        }
        let places = |ids: &[usize]| -> Vec<usize> { ids.iter().filter_map(|id| entries.get(id).copied()).collect() };
        let is_gone = |at: usize| fates[at] == ElementFate::Goes;
        let places = [places(&self.ids.of.original), places(&self.upstream())];
        let [order, taken] = in_both_orders(of_dest, places, is_gone, self.end);
        // The order of files and bases means little.
        let taken = if matches!(self.names, Names::Reference(_)) { order.clone() } else { taken };
        NamedMerge { fates, of_dest, orders: [order, taken] }
    }

    /// The elements of updated, with those that it removed in their places, so that what it put there comes there. What dest moved or added
    /// elsewhere is no neighbour.
    fn upstream(&self) -> Vec<usize> {
        let gaps = |side: Side| {
            let mut gaps = HashMap::new();
            self.each_in_gap(side, |id, gap| _ = gaps.insert(id, gap));
            gaps
        };
        let gaps = Sides::of(gaps);
        let is_elsewhere =
            |side: Side, id: &usize| gaps.dest.get(id).is_some_and(|gap| gaps[side].get(id) != Some(gap));
        let mut removed: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        let mut last = None;
        for id in &self.ids.of.original {
            match self.at(Side::Updated, *id) {
                Some(_) => last = Some(*id),
                None if self.is_changed(Side::Dest, *id) => {}
                None if is_elsewhere(Side::Original, id) => {}
                None => removed.entry(last).or_default().push(*id),
            }
        }
        let mut out = removed.remove(&None).unwrap_or_default();
        for id in &self.ids.of.updated {
            if self.at(Side::Original, *id).is_some() || !is_elsewhere(Side::Updated, id) {
                out.push(*id);
            }
            out.extend(removed.remove(&Some(*id)).into_iter().flatten());
        }
        out
    }

    fn of_dest(&self, id: usize) -> ElementFate {
        match (self.at(Side::Original, id), self.at(Side::Updated, id)) {
            (None, None) => ElementFate::Stays,
            (Some(original), None) if self.is_changed(Side::Dest, id) => ElementFate::Open(Some(original), None),
            (Some(_), None) => ElementFate::Goes,
            (None, Some(_)) if self.number(Side::Updated, id) == self.number(Side::Dest, id) => ElementFate::Stays,
            (None, Some(updated)) if self.is_sure(id) => ElementFate::Merges(None, updated),
            (None, Some(updated)) => ElementFate::Open(None, Some(updated)),
            (Some(original), Some(updated)) => {
                let numbers = Side::ALL.map(|side| self.number(side, id));
                let [was, new, own] = numbers;
                match Changed::of(&was, &new, &own) {
                    Changed::Updated | Changed::Apart => ElementFate::Merges(Some(original), updated),
                    Changed::Nowhere | Changed::Dest | Changed::Alike => ElementFate::Stays,
                }
            }
        }
    }

    /// Whether each flag is followed by its value, and both come and go together.
    fn is_whole(&self, merge: &NamedMerge) -> bool {
        let id = |at: usize| match merge.fates[at] {
            ElementFate::Comes(place) | ElementFate::Open(_, Some(place)) if at >= merge.of_dest => {
                self.ids.of.updated[place]
            }
            _ => self.ids.of.dest[at],
        };
        let is_open = |at: usize| matches!(merge.fates[at], ElementFate::Open(_, None) | ElementFate::Open(Some(_), _));
        let values: HashSet<usize> = self.ids.values.values().copied().collect();
        merge.orders.iter().all(|order| {
            let there: Vec<usize> = order.iter().copied().filter(|at| merge.fates[*at] != ElementFate::Goes).collect();
            there.iter().enumerate().all(|(n, at)| {
                let (flag, before) = (id(*at), n.checked_sub(1).map(|n| id(there[n])));
                let next = there.get(n + 1).map(|at| id(*at));
                let follows = self.ids.values.get(&flag).is_none_or(|value| next == Some(*value));
                let is_value = values.contains(&flag);
                let is_led = || before.is_some_and(|before| self.ids.values.get(&before) == Some(&flag));
                follows && (!is_value || is_led() && !is_open(*at))
            })
        })
    }
}
