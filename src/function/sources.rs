//! Merges each source into the item that it is meant for: its partner, or every item that its target selects.

use std::collections::BTreeMap;

use krm_merge::package::{Becomes, Group, Groups, Hit, Merged, Sourced};
use krm_merge::resource::{Identity, Index, Resource};
use krm_merge::rules::Rules;
use krm_yaml::hashed::{Empty, HashMap, HashSet};

use crate::config::{Mode, Role};
use crate::name::Name;
use crate::report::{Alike, Report};
use crate::results::{Outcome, Results, Severity};
use crate::roles::Roles;
use crate::target::Target;

/// Merges the sources into dest, and reports what each of them is for.
pub(super) fn merge_sources<'r, 'a>(
    roles: &'r Roles<'a>,
    rules: Rules<'a>,
    results: &mut Results<'_>,
) -> Result<Merged<'r, 'a>, Box<Outcome>> {
    if rules.mode == Mode::Strategic {
        roles.require(Role::Source)?;
    }
    roles.own_aliases()?;
    let (groups, idle) = grouped(roles.of(Role::Source), roles)?;
    let itself = itself(&groups.all, roles);
    let (mut all, mut alone) = (Vec::new(), Vec::new());
    for Group { dest, sources } in &groups.all {
        match (dest, rules.mode) {
            (Some(i), _) => all.push(Sourced { dest: roles.dest.get(*i), sources: sources.clone() }),
            // A patch changes an item. If it matches no item, its name is mostly wrong.
            (None, Mode::Strategic) => alone.extend(sources),
            // An overlay may add resources.
            (None, Mode::TwoWay | Mode::ThreeWay) => {
                match sources.iter().find_map(|source| Some((*source, itself(source)?))) {
                    Some((source, field)) => results.report(&Report::SourceIsItem { source, field })?,
                    None => all.push(Sourced { dest: None, sources: sources.clone() }),
                }
            }
        }
    }
    all.extend(groups.without_source(&roles.dest));
    let merged = Merged::of_sources(&roles.dest, all, rules).map_err(Outcome::fault)?;
    let added = merged.resources.iter().filter(|resource| matches!(resource.becomes, Becomes::Arrived(Some(_))));
    alone.extend(added.filter_map(|resource| resource.member.sides.updated));
    without_partner(&alone, &roles.dest, rules.mode, results)?;
    for target in idle.into_values() {
        results.report(&Report::NoneSelected(target))?;
    }
    Ok(merged)
}

/// The targets that select no item, by their names.
type IdleTargets<'r> = BTreeMap<&'r Name, &'r Target>;

/// The sources by what they are for.
fn grouped<'r, 'a>(
    sources: &'r [Resource<'a>],
    roles: &'r Roles<'a>,
) -> Result<(Groups<'r, 'a>, IdleTargets<'r>), Box<Outcome>> {
    let mut groups = Groups::default();
    let mut idle = BTreeMap::new();
    let index = Index::of(&roles.dest);
    let selected = Target::selected(&roles.targets, &roles.dest);
    let targets: Vec<(&Target, Vec<usize>)> = roles.targets.iter().map(|target| &**target).zip(selected).collect();
    for source in sources {
        if let Some((target, selected)) = source.target.and_then(|number| targets.get(number as usize)) {
            if selected.is_empty() {
                idle.insert(target.name(), *target);
            }
            selected.iter().for_each(|item| groups.add(Hit::Item(*item), source));
            continue;
        }
        let Some(identity) = source.identity else { continue };
        let partner = index
            .partner(identity, source.relative_path)
            .map_err(|m| Box::new(Outcome::new(Severity::Error, m).about(source)))?;
        groups.add(partner.map_or(Hit::None(identity), Hit::Item), source);
    }
    Ok((groups, idle))
}

/// Recognises a source without a partner that may itself be the item that the user wants to merge into. Returns the field that makes the
/// item a source. Such a source stays in the package, and no source of its file has a partner. If the source were merged, it would be added
/// to its own file again.
fn itself<'r>(groups: &[Group<'_, '_>], roles: &'r Roles<'_>) -> impl Fn(&Resource<'_>) -> Option<&'r str> {
    let field = |source: &Resource<'_>| roles.files.get(&source.origin.item()?).map(String::as_str);
    let with_partner = groups.iter().filter(|group| group.dest.is_some());
    let used: HashSet<&str> =
        with_partner.flat_map(|group| &group.sources).filter_map(|source| field(source)).collect();
    move |source| field(source).filter(|field| !used.contains(field) || source.path == source.relative_path)
}

/// Reports sources without a partner. The result names an item that the user may have meant, for example one in another namespace.
fn without_partner(
    alone: &[&Resource<'_>],
    dest: &[Resource<'_>],
    mode: Mode,
    results: &mut Results<'_>,
) -> Result<(), Box<Outcome>> {
    let dest = if alone.is_empty() { &[] } else { dest };
    let known = || dest.iter().filter_map(|d| d.identity);
    let by_name: HashMap<(&str, &str), Identity<'_>> = known().map(|i| ((i.kind, i.name), i)).collect();
    let mut of_kind: HashMap<&str, Vec<Identity<'_>>> = HashMap::new();
    for identity in known() {
        of_kind.entry(identity.kind).or_default().push(identity);
    }
    for source in alone {
        let Some(identity) = source.identity else { continue };
        let alike = match by_name.get(&(identity.kind, identity.name)) {
            Some(alike) if alike.api_version == identity.api_version => Some(Alike::OtherNamespace(*alike)),
            Some(alike) => Some(Alike::OtherVersion(*alike)),
            None => match of_kind.get(identity.kind).map(Vec::as_slice) {
                Some([only]) if mode == Mode::Strategic => Some(Alike::OnlyOfKind(*only)),
                _ => None,
            },
        };
        results.report(&match mode {
            Mode::TwoWay | Mode::ThreeWay => Report::Added { source, alike },
            Mode::Strategic => Report::NoPartner { source, alike },
        })?;
    }
    Ok(())
}
