//! Rules of the user that nothing obeys: entries of `rules` that decide no conflict, and entries of `mergeKeys` that match no list. In most
//! of them, a name is wrong.
//!
//! Without this event, the list would be replaced whole, or merged by an inferred key, and the user would not learn why. It is an `info`,
//! because one functionConfig may serve many packages, and not every package has every list.

use krm_package::resource::Resource;
use krm_schema::schema::KUSTOMIZATION;
use krm_yaml::NodeRef;

use super::{Package, Told};
use crate::event::{Event, Lacks, What};
use crate::results::Results;

/// A result for each rule that decided no conflict.
pub(super) fn decisions(package: Package<'_, '_>, results: &mut Results<'_>) -> Told {
    results.tell(package.decisions.idle().map(|idle| Event::of_idle(&idle)))
}

/// A result for each rule whose list no resource of any role has. The kustomizations of a package count, too: the plugin merges them by the
/// same rules.
pub(super) fn lists(Package { config, roles, .. }: Package<'_, '_>, results: &mut Results<'_>) -> Told {
    let resources = || roles.dest.iter().chain(roles.others.iter().flat_map(|(_, members)| members));
    for named in &config.merge_keys {
        let rule = &named.rule;
        let of_type = resources().filter(|r| is_of(r, &rule.api_version, &rule.kind)).map(|r| r.node());
        let beside = roles.beside.iter().copied().filter(|_| [&*rule.api_version, &*rule.kind] == KUSTOMIZATION);
        let of_type: Vec<NodeRef<'_>> = of_type.chain(beside).collect();
        let lacks = match of_type.as_slice() {
            [] => Lacks::Type,
            some if some.iter().any(|node| has_list(*node, &rule.path)) => continue,
            _ => Lacks::List,
        };
        let of = [&*rule.api_version, &*rule.kind].map(str::to_owned);
        let path = rule.path.iter().map(ToString::to_string).collect();
        results.tell([Event::of(What::IdleRule { rule: named.name.clone(), of, path, lacks })])?;
    }
    Ok(())
}

fn is_of(resource: &Resource<'_>, api_version: &str, kind: &str) -> bool {
    resource.identity.is_some_and(|i| i.api_version == api_version && i.kind == kind)
}

/// Whether the fields lead to a list. Lists on the way are passed through, as in a rule.
fn has_list(node: NodeRef<'_>, path: &[String]) -> bool {
    let node = node.resolve();
    match path {
        [] => node.is_list(),
        _ if node.is_list() => node.elements().any(|element| has_list(element, path)),
        [field, rest @ ..] => node.get(field).is_some_and(|value| has_list(value, rest)),
    }
}
