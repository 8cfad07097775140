//! That an entry of `mergeKeys` speaks of no list: mostly a name that is not the type's own.
//!
//! Without a word its list would be replaced whole, or merged by an inferred key, and nobody would learn why. It is an `info`, for one
//! functionConfig may serve many packages, of which not each has every list.

use crate::results::{Outcome, Severity};
use crate::roles::Roles;
use krm_merge::resource::Resource;
use krm_merge::schema::ListRule;
use krm_merge::yaml::NodeRef;

/// The rules of which no resource, whatever its role, has the list.
pub(super) fn idle(rules: &[ListRule], roles: &Roles<'_>) -> Vec<Outcome> {
    let resources = || roles.dest.iter().chain(roles.others.iter().flat_map(|(_, members)| members));
    let told = rules.iter().enumerate().filter_map(|(i, rule)| {
        let ListRule { api_version, kind, path, .. } = rule;
        let of_type: Vec<_> = resources().filter(|r| is_of(r, api_version, kind)).collect();
        let lacks = match of_type.as_slice() {
            [] => format!("is of the type `{api_version} {kind}`"),
            some if some.iter().any(|r| has_list(r.node, path)) => return None,
            _ => format!("of the type `{api_version} {kind}` has a list `{}`", path.join(".")),
        };
        Some(Outcome::new(Severity::Info, format!("`spec.mergeKeys[{i}]` is not used, for no resource {lacks}")))
    });
    told.collect()
}

fn is_of(resource: &Resource<'_>, api_version: &str, kind: &str) -> bool {
    resource.identity.is_some_and(|i| i.api_version == api_version && i.kind == kind)
}

/// Whether the fields lead to a list. Lists on the way are passed through, as a rule has it.
fn has_list(node: NodeRef<'_>, path: &[String]) -> bool {
    let node = node.resolve();
    match path {
        [] => node.is_list(),
        _ if node.is_list() => node.elements().any(|element| has_list(element, path)),
        [field, rest @ ..] => node.get(field).is_some_and(|value| has_list(value, rest)),
    }
}
