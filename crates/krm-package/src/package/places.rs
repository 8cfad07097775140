//! [`Places`]: where the resources of a package stand after a merge: beside which others, and with which number in their file.

use krm_merge_core::policy::NewElements;
use krm_yaml::hashed::HashMap;

use super::numbering::Numbering;
use super::{FileOrder, Member, Spot, orders, spots};
use crate::resource::{Located, Origin, Resource};

/// The places of the resources that do not keep their own, by the numbers of their members.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// Their places among the items of dest.
    pub spots: HashMap<usize, Spot>,
    /// Their numbers in their files.
    pub numbers: HashMap<usize, u64>,
    /// The numbers of those that come to a file without an order.
    pub numbering: Numbering,
}

impl Places {
    /// The places after a merge.
    pub fn of(members: &[Member<'_, '_>], dest: &[Resource<'_>], new_elements: NewElements) -> Self {
        let numbering = Numbering::of(members.iter(), dest);
        // For a list among the items, the host gives the place of the list, but not of the resources in it.
        let is_listed = |dest: &Resource<'_>| {
            dest.located == Located::Nowhere && matches!(dest.origin, Origin::Listed { .. }) && dest.path.is_some()
        };
        let mut orders: Vec<FileOrder> = orders(members, new_elements);
        orders.retain(|order| !order.iter().any(|number| members[*number].sides.dest.is_some_and(is_listed)));
        let own = |number: usize| members[number].sides.dest.and_then(|dest| dest.origin.item()).map(Spot::of_item);
        let mut spots = spots(&orders, members);
        spots.retain(|number, spot| own(*number) != Some(*spot));
        let numbers = orders.iter().flat_map(|order| numbering.in_order(order, members)).collect();
        Self { spots, numbers, numbering }
    }

    /// The places after a merge in which dest's resources keep their own, and new ones come last.
    pub fn beside<'m>(members: impl Iterator<Item = &'m Member<'m, 'm>> + Clone, dest: &[Resource<'_>]) -> Self {
        Self { spots: HashMap::default(), numbers: HashMap::default(), numbering: Numbering::of(members, dest) }
    }
}
