//! The order of the resources of a file: merged like the order of the fields of a map.
//!
//! If only one side moved a resource, that side's place holds, and a new resource goes beside its neighbours from upstream. A host keeps
//! resources in texts of its own, so it gets a [`Spot`] for each, by which it sorts the resources of its text.

use std::collections::BTreeMap;

use krm_merge_core::merge::order::in_one;
use krm_merge_core::policy::NewElements;
use krm_yaml::hashed::{Empty, HashMap};

use super::Member;
use crate::resource::{Located, Origin, Resource};

/// The position of a resource among the items of dest: a text is in order when it is sorted by these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The number of the item whose place it takes, or beside which it goes.
    item: usize,
    turn: Turn,
    /// Its turn among the resources at that item.
    nth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Before,
    Itself,
    Behind,
}

impl Spot {
    /// The position of an item.
    pub fn of_item(item: usize) -> Self {
        Self { item, turn: Turn::Itself, nth: 0 }
    }

    /// A position after all items.
    pub fn last(nth: usize) -> Self {
        Self { item: usize::MAX, turn: Turn::Behind, nth }
    }
}

/// The order of the resources of one file, by the numbers of their members.
pub type FileOrder = Vec<usize>;

/// The resources of one file after the merge and on each side, by the numbers of their members.
#[derive(Default)]
struct File {
    /// Dest's resources that are in this file before and after the merge.
    own: Vec<usize>,
    /// Dest's resources that come from other files.
    moved: Vec<usize>,
    /// The resources that are new upstream.
    new: Vec<usize>,
    /// The resources that original has in the same file as dest.
    original: Vec<usize>,
    /// The resources that updated has in this file.
    updated: Vec<usize>,
}

/// The new order of each file. A file is left out if dest's order holds, its new resources come last, and none comes from another file.
pub fn orders(members: &[Member<'_, '_>], end: NewElements) -> Vec<FileOrder> {
    let mut files: BTreeMap<Option<&str>, File> = BTreeMap::new();
    for (number, member) in members.iter().enumerate() {
        let [original, updated, dest] =
            [member.sides.original, member.sides.updated, member.sides.dest].map(|side| side.map(file_of));
        let Some(here) = member.moves_to().map(Some).or(dest).or(updated.filter(|_| original.is_none())) else {
            continue;
        };
        let file = files.entry(here).or_default();
        match dest {
            Some(dest) if dest == here => file.own.push(number),
            Some(_) => file.moved.push(number),
            None => file.new.push(number),
        }
        if original.is_some() && original == dest {
            file.original.push(number);
        }
        if updated == Some(here) {
            file.updated.push(number);
        }
    }
    files.into_values().filter_map(|file| file.order(members, end)).collect()
}

/// The file of a resource, on its side. A file that was given without its folder does not say where the resource is on another side.
fn file_of<'a>(resource: &Resource<'a>) -> Option<&'a str> {
    let is_alone = resource.located == Located::Nowhere && matches!(resource.origin, Origin::File { .. });
    resource.relative_path.filter(|_| !is_alone)
}

/// The number that a resource has in its file.
pub fn number_of(resource: &Resource<'_>) -> u64 {
    resource.index.and_then(|index| index.parse().ok()).unwrap_or_default()
}

impl File {
    /// The new order of the file; `None` if the present order holds and the added resources come last. The present order says nothing about a
    /// resource that comes from another file.
    fn order(mut self, members: &[Member<'_, '_>], end: NewElements) -> Option<FileOrder> {
        if self.own.len() + self.moved.len() + self.new.len() < 2 {
            return None;
        }
        let sort = |numbers: &mut [usize], side: fn(&Member<'_, '_>) -> Option<(u64, usize)>| {
            numbers.sort_by_key(|number| side(&members[*number]));
        };
        fn place(resource: &Resource<'_>) -> (u64, usize) {
            (number_of(resource), resource.node.start())
        }
        let of_dest: fn(&Member<'_, '_>) -> Option<(u64, usize)> = |member| member.sides.dest.map(place);
        sort(&mut self.own, of_dest);
        sort(&mut self.original, |member| member.sides.original.map(place));
        sort(&mut self.updated, |member| member.sides.updated.map(place));
        // A file that moves whole keeps its order. A resource that moves to another file is new in that file.
        let sources = self.moved.iter().filter_map(|number| members[*number].sides.dest.map(file_of));
        let is_whole = self.own.is_empty() && sources.is_sorted_by(|a, b| a == b);
        if is_whole {
            sort(&mut self.moved, of_dest);
        }
        let is_any_from_elsewhere = !is_whole && !self.moved.is_empty();
        let (come, stay): (Vec<usize>, Vec<usize>) =
            self.moved.into_iter().partition(|number| !is_whole && self.updated.contains(number));
        let known = self.own.len() + stay.len();
        let all: Vec<usize> = [self.own, stay, come, self.new].concat();
        let at: HashMap<usize, usize> = all.iter().enumerate().map(|(at, number)| (*number, at)).collect();
        let local = |numbers: &[usize]| numbers.iter().filter_map(|number| at.get(number).copied()).collect();
        let order = in_one(known, local(&self.original), local(&self.updated), end);
        (is_any_from_elsewhere || !order.is_sorted()).then(|| order.into_iter().map(|at| all[at]).collect())
    }
}

/// The positions of the resources of these files, by the numbers of their members.
pub fn spots(orders: &[FileOrder], members: &[Member<'_, '_>]) -> HashMap<usize, Spot> {
    let item = |number: &usize| members[*number].sides.dest.and_then(|dest| dest.origin.item());
    let mut spots = HashMap::new();
    for order in orders {
        let mut items: Vec<usize> = order.iter().filter_map(item).collect();
        items.sort_unstable();
        let mut items = items.into_iter().peekable();
        let mut before = None;
        for (nth, number) in order.iter().enumerate() {
            let spot = match (item(number), before, items.peek()) {
                (Some(_), ..) => {
                    before = items.next();
                    before.map_or_else(|| Spot::last(nth), Spot::of_item)
                }
                // A resource after all others of a file needs no spot: it comes after all items.
                (None, _, None) => continue,
                (None, Some(item), Some(_)) => Spot { item, turn: Turn::Behind, nth },
                (None, None, Some(item)) => Spot { item: *item, turn: Turn::Before, nth },
            };
            spots.insert(*number, spot);
        }
    }
    spots
}
