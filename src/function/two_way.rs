//! TwoWay: merges each source into its partner; if there is no source, merges items of one identity into the first of them.

use super::lints::{After, Subject};
use super::run::{Merged, Run, leaves_anchors};
use super::sources::merge_sources;
use crate::config::{Config, Role};
use crate::results::{Outcome, Results};
use crate::roles::Roles;
use krm_merge::hashed::{Empty, HashMap};
use krm_merge::limit::Budget;
use krm_merge::resource::{Identity, Resource};

/// Merges the sources into dest; without sources, merges the items that share an identity into the first of them.
pub(super) fn two_way<'a>(
    roles: &Roles<'a>,
    config: &'a Config<'a>,
    budget: &'a Budget,
) -> Result<(Merged<'a>, Results<'a>), Box<Outcome>> {
    if roles.others.iter().any(|o| o.0 == Role::Source) {
        merge_sources(roles, config, budget)
    } else {
        merge_alike(roles, config, budget)
    }
}

/// Merges items of one identity in the order of the list; later items win over earlier ones.
fn merge_alike<'a>(
    roles: &Roles<'a>,
    config: &'a Config<'a>,
    budget: &'a Budget,
) -> Result<(Merged<'a>, Results<'a>), Box<Outcome>> {
    let mut run = Run::new(config, roles, budget);
    let mut first: HashMap<Identity<'_>, usize> = HashMap::with_capacity(roles.dest.len());
    let mut groups: Vec<(&Resource<'_>, Vec<&Resource<'_>>)> = Vec::with_capacity(roles.dest.len());
    for item in &roles.dest {
        let first = item.identity.map(|identity| *first.entry(identity).or_insert(groups.len()));
        match first.and_then(|first| groups.get_mut(first)) {
            Some((_, later)) => {
                leaves_anchors(item, None)?;
                later.push(item);
                run.set_gone(item);
            }
            None => groups.push((item, Vec::new())),
        }
    }
    drop(first);
    let mut subjects = Vec::with_capacity(groups.len());
    for (item, later) in &groups {
        let after = match later.as_slice() {
            [] => {
                run.keep(item)?;
                Some(After::Kept(item))
            }
            later => run.merge_item(item, later)?.map(After::Made),
        };
        subjects.push(Subject::of_sources(item, later, after));
    }
    run.end(roles, config, &subjects, &[])
}
