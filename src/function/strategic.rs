//! Strategic: patches with directives, each into the item that it names or into all that its target selects.

use std::collections::BTreeSet;

use super::run::Merged;
use super::sources::{Missing, Sourced, merge_sources};
use crate::config::{Config, Role};
use crate::resource::Identity;
use crate::results::{Outcome, Severity};
use crate::roles::Roles;
use crate::schema::Types;

/// Applies the patches to dest.
pub(super) fn strategic(roles: Roles<'_>, config: &Config<'_>) -> Result<(Merged, Vec<Outcome>), Box<Outcome>> {
    roles.require(Role::Source)?;
    let Sourced { merged, mut results, hit } = merge_sources(&roles, config, Missing::Refuse)?;
    let patched = roles.dest.iter().zip(&hit).filter(|(_, hit)| **hit).filter_map(|(item, _)| item.identity);
    results.extend(unknown(patched, &config.types));
    Ok((merged, results))
}

/// The types that are patched and of which nothing is known, each once: their lists are replaced, which a user may not expect.
fn unknown<'a>(patched: impl Iterator<Item = Identity<'a>>, types: &Types<'_>) -> Vec<Outcome> {
    let types_of_items: BTreeSet<(&str, &str)> = patched.map(|i| (i.api_version, i.kind)).collect();
    let unknown = types_of_items.into_iter().filter(|(version, kind)| !types.know(version, kind));
    let told = unknown.map(|(version, kind)| {
        let message = format!(
            "nothing is known of `{version} {kind}`: its lists are replaced whole, unless its CustomResourceDefinition is in the package or the functionConfig has `openapi`, `mergeKeys` or `inferMergeKeys: true`"
        );
        Outcome::new(Severity::Info, message)
    });
    told.collect()
}
