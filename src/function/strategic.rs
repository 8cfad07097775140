//! Strategic: applies each patch with directives to the item that it names, or to all items that its target selects.

use std::collections::BTreeSet;

use super::run::Merged;
use super::sources::{Sourced, merge_sources};
use crate::config::{Config, Role};
use crate::report::Report;
use crate::results::{Outcome, Results};
use crate::roles::Roles;
use krm_merge::limit::Budget;

/// Applies the patches to dest.
pub(super) fn strategic<'a>(
    roles: &Roles<'a>,
    config: &'a Config<'a>,
    budget: &'a Budget,
) -> Result<(Merged<'a>, Results<'a>), Box<Outcome>> {
    roles.require(Role::Source)?;
    let Sourced { merged, mut results, hit } = merge_sources(roles, config, budget)?;
    let patched = roles.dest.iter().zip(&hit).filter(|(_, hit)| **hit).filter_map(|(item, _)| item.identity);
    let types_of_items: BTreeSet<(&str, &str)> = patched.map(|i| (i.api_version, i.kind)).collect();
    // Lists of unknown types are replaced, or merged by inferred keys. A user may not expect that.
    for (api_version, kind) in types_of_items.into_iter().filter(|(version, kind)| !config.types.know(version, kind)) {
        results.report(&Report::UnknownType { api_version, kind, inference: config.inference })?;
    }
    Ok((merged, results))
}
