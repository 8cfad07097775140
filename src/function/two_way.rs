//! TwoWay: merges each source into its partner; if there is no source, merges items of one identity into the first of them.

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
        merge_sources(roles, config, budget).map(|sourced| (sourced.merged, sourced.results))
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
    let mut later: Vec<Vec<&Resource<'_>>> = vec![Vec::new(); roles.dest.len()];
    for (i, item) in roles.dest.iter().enumerate() {
        let Some(identity) = item.identity else { continue };
        let first = *first.entry(identity).or_insert(i);
        if first != i {
            leaves_anchors(item, None)?;
            later[first].push(item);
            run.set_gone(item);
        }
    }
    drop(first);
    for (item, later) in roles.dest.iter().zip(&later) {
        match later.as_slice() {
            [] => run.keep(item)?,
            later => run.merge_item(item, later)?,
        }
    }
    run.tell_grounds()?;
    Ok((run.merged, run.results))
}
