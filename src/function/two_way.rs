//! TwoWay without sources: merges items of one identity into the first of them.

use krm_merge::package::{Merged, MergedResource, Sourced};
use krm_merge::resource::Identity;
use krm_merge::rules::Rules;
use krm_yaml::hashed::{Empty, HashMap};

use crate::results::Outcome;
use crate::roles::Roles;

/// Merges items of one identity in the order of the list; later items win over earlier ones.
pub(super) fn merge_alike<'r, 'a>(roles: &'r Roles<'a>, rules: Rules<'a>) -> Result<Merged<'r, 'a>, Box<Outcome>> {
    let mut first: HashMap<Identity<'_>, usize> = HashMap::with_capacity(roles.dest.len());
    let mut all: Vec<Sourced<'r, 'a>> = Vec::with_capacity(roles.dest.len());
    let mut later = Vec::new();
    for item in &roles.dest {
        let number = item.identity.map(|identity| *first.entry(identity).or_insert(all.len()));
        match number.and_then(|number| all.get_mut(number)) {
            Some(group) => {
                group.sources.push(item);
                later.push(MergedResource::going(item));
            }
            None => all.push(Sourced { dest: Some(item), sources: Vec::new() }),
        }
    }
    drop(first);
    let mut merged = Merged::of_sources(&roles.dest, all, rules).map_err(Outcome::fault)?;
    merged.resources.extend(later);
    Ok(merged)
}
