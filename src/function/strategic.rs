//! Strategic: patches with directives, each into the item that it names or into all that its target selects.

use std::collections::BTreeSet;

use super::run::Merged;
use super::sources::{Missing, Sourced, merge_sources};
use crate::config::{Config, Role};
use crate::results::{Outcome, Results, Severity};
use crate::roles::Roles;
use krm_merge::limit::Budget;
use krm_merge::resource::Identity;
use krm_merge::schema::Inference;

/// Applies the patches to dest.
pub(super) fn strategic<'a>(
    roles: &'a Roles<'a>,
    config: &'a Config<'a>,
    budget: &'a Budget,
) -> Result<(Merged<'a>, Results<'a>), Box<Outcome>> {
    roles.require(Role::Source)?;
    let Sourced { merged, mut results, hit } = merge_sources(roles, config, budget, Missing::Refuse)?;
    let patched = roles.dest.iter().zip(&hit).filter(|(_, hit)| **hit).filter_map(|(item, _)| item.identity);
    results.tell(unknown(patched, config))?;
    Ok((merged, results))
}

/// The types that are patched and of which nothing is known, each once: their lists are replaced, or merged by keys that are inferred,
/// which a user may not expect.
fn unknown<'a>(patched: impl Iterator<Item = Identity<'a>>, config: &Config<'_>) -> Vec<Outcome> {
    let types_of_items: BTreeSet<(&str, &str)> = patched.map(|i| (i.api_version, i.kind)).collect();
    let unknown = types_of_items.into_iter().filter(|(version, kind)| !config.types.know(version, kind));
    let (so, what_helps) = match config.inference {
        Inference::Off => ("its lists are replaced whole", "`openapi`, `mergeKeys` or `inferMergeKeys: true`"),
        Inference::On => (
            "its lists merge by an inferred key, or are replaced whole where their elements have none",
            "`openapi` or `mergeKeys`",
        ),
    };
    let told = unknown.map(|(version, kind)| {
        let message = format!(
            "nothing is known of `{version} {kind}`: {so}, unless its CustomResourceDefinition is in the package or the functionConfig has {what_helps}"
        );
        Outcome::new(Severity::Info, message)
    });
    told.collect()
}
