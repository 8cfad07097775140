//! TwoWay: each source into its partner, or where there is no source, items of one identity into the first of them.

use std::collections::HashMap;

use super::run::{Fate, Merged, Numbering, Run, flatten, own_anchors, with_flat};
use crate::config::{Config, Role};
use crate::resource::{Identity, Index, Resource};
use crate::results::{Outcome, Severity};
use crate::roles::Roles;

/// Merges the sources into dest; without any, the items that share an identity into the first of them.
pub(super) fn two_way(roles: Roles<'_>, config: &Config<'_>) -> Result<(Merged, Vec<Outcome>), Box<Outcome>> {
    let flat = roles.of(Role::Source).iter().map(flatten).collect::<Result<Vec<_>, _>>()?;
    let sources: Vec<Resource<'_>> =
        roles.of(Role::Source).iter().zip(&flat).map(|(source, flat)| with_flat(source, flat.as_ref())).collect();
    let has_sources = roles.others.iter().any(|o| o.0 == Role::Source);
    let mut run = Run::new(config, &roles);
    let mut groups = Groups::default();
    for source in roles.of(Role::Source) {
        own_anchors(source, source.node)?;
    }
    if has_sources {
        let index = Index::of(&roles.dest);
        for source in &sources {
            let Some(identity) = source.identity else { continue };
            let partner = index
                .partner(identity, source.relative_path)
                .map_err(|m| Box::new(Outcome::new(Severity::Error, m).about(source)))?;
            groups.add(identity, partner, source);
        }
    } else {
        let mut first: HashMap<Identity<'_>, usize> = HashMap::new();
        for (i, item) in roles.dest.iter().enumerate() {
            let Some(identity) = item.identity else { continue };
            let first = *first.entry(identity).or_insert(i);
            if first != i {
                own_anchors(item, item.node)?;
                groups.add(identity, Some(first), item);
                run.set_gone(item);
            }
        }
    }
    let coming = groups.groups.iter().filter(|g| g.dest.is_none()).filter_map(|g| g.sources.first().copied());
    run.numbering = Numbering::of(coming, &roles.dest);
    let mut new = Vec::new();
    let mut merged = vec![false; roles.dest.len()];
    for group in &groups.groups {
        match group.dest {
            Some(i) => {
                merged[i] = true;
                run.merge_item(&roles.dest[i], &group.sources)?;
            }
            None => {
                if let Fate::Text(text) = run.merge_all(None, &group.sources)? {
                    let Some(first) = group.sources.first() else { continue };
                    run.add(first, text);
                    new.push(*first);
                }
            }
        }
    }
    for (item, _) in roles.dest.iter().zip(&merged).filter(|(_, merged)| !**merged) {
        run.keep(item)?;
    }
    run.results.extend(added(&new, &roles.dest));
    Ok((run.merged, run.results))
}

/// The sources of each dest item, and of each resource that dest lacks, in the order in which they come.
#[derive(Default)]
struct Groups<'r, 'a> {
    groups: Vec<Group<'r, 'a>>,
    by_dest: HashMap<usize, usize>,
    by_identity: HashMap<Identity<'a>, usize>,
}

struct Group<'r, 'a> {
    dest: Option<usize>,
    sources: Vec<&'r Resource<'a>>,
}

impl<'r, 'a> Groups<'r, 'a> {
    fn add(&mut self, identity: Identity<'a>, dest: Option<usize>, source: &'r Resource<'a>) {
        let next = self.groups.len();
        let at = match dest {
            Some(i) => *self.by_dest.entry(i).or_insert(next),
            None => *self.by_identity.entry(identity).or_insert(next),
        };
        if at == next {
            self.groups.push(Group { dest, sources: Vec::new() });
        }
        self.groups[at].sources.push(source);
    }
}

/// That sources were added: one may have been meant for an item that has another namespace or version.
fn added(new: &[&Resource<'_>], dest: &[Resource<'_>]) -> Vec<Outcome> {
    let dest = if new.is_empty() { &[] } else { dest };
    let known = dest.iter().filter_map(|d| d.identity);
    let alike: HashMap<(&str, &str), Identity<'_>> = known.map(|i| ((i.kind, i.name), i)).collect();
    let told = new.iter().filter_map(|source| {
        let identity = source.identity?;
        let hint = match alike.get(&(identity.kind, identity.name)) {
            Some(alike) if alike.api_version == identity.api_version => format!("; `{alike}` has another namespace"),
            Some(alike) => format!("; `{alike}` has another apiVersion"),
            None => String::new(),
        };
        Some(Outcome::new(Severity::Info, format!("added, for no item is `{identity}`{hint}")).about(source))
    });
    told.collect()
}
