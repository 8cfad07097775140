//! Merges each source into the item that it is meant for: its partner, or every item that its targets select.

use krm_merge_core::patch::{self, Does, Missing};
use krm_package::package::{Found, Merged, Sourcing};
use krm_package::resource::{Identity, Resource};
use krm_package::rules::{Named, Rules};
use krm_tree::path::FieldPath;
use krm_yaml::hashed::{Empty, HashMap, HashSet};

use crate::aim::{Aim, Need, Sight};
use crate::config::Mode;
use crate::event::{Alike, Event, Severity, What, named};
use crate::results::Results;
use crate::role::Role;
use crate::roles::Roles;
use crate::target::Target;

/// Merges the sources into dest, one after the other, and reports what each of them is for.
pub(super) fn merge_sources<'r, 'a>(
    roles: &'r Roles<'a>,
    rules: Rules<'a>,
    results: &mut Results<'_>,
) -> Result<Merged<'r, 'a>, Box<Event>> {
    if rules.mode == Mode::Strategic {
        roles.require(Role::Source)?;
    }
    roles.own_aliases()?;
    let mut sourcing = Sourcing::of(&roles.dest, rules);
    let (mut alone, mut used) = (Vec::new(), HashSet::new());
    for sources in roles.of(Role::Source).chunk_by(|one, next| one.input.is_some() && one.input == next.input) {
        let aim = sources.first().and_then(|source| roles.aims.get(source.input? as usize));
        match aim.filter(|aim| !aim.targets.is_empty()) {
            Some(aim) => merge_selected(&mut sourcing, sources, aim, roles, results)?,
            None => {
                for source in sources {
                    let of_partners = |m| Box::new(Event::new(Severity::Error, m).about(source));
                    match sourcing.partner(source).map_err(of_partners)? {
                        Some(number) => {
                            used.extend(field(source, roles));
                            let left = sourcing.merge(number, source, Named::ByIdentity).map_err(Event::fault)?;
                            tell_left(aim.map(|aim| &**aim), &left, results)?;
                        }
                        None => alone.extend(without_partner(&mut sourcing, source, aim.map(|aim| &**aim), results)?),
                    }
                }
            }
        }
    }
    let mut unmet = Vec::new();
    for source in alone {
        // The source may itself be the item that the user wants to merge into. If it were merged, it would be added to its own file again.
        let itself = field(source, roles).filter(|f| !used.contains(f) || source.path == source.relative_path);
        match itself.filter(|_| rules.mode != Mode::Strategic) {
            Some(field) => {
                let what = What::SourceIsItem { source: named(source), field: field.to_owned() };
                results.tell([Event::of(what).about(source)])?;
            }
            None => unmet.push(source),
        }
    }
    tell_unmet(&unmet, &roles.dest, rules.mode, results)?;
    Ok(sourcing.finish())
}

/// Merges the sources of an input into all items that its targets select.
fn merge_selected<'r, 'a>(
    sourcing: &mut Sourcing<'r, 'a>,
    sources: &'r [Resource<'a>],
    aim: &Aim,
    roles: &Roles<'a>,
    results: &mut Results<'_>,
) -> Result<(), Box<Event>> {
    let (mut selected, mut passed_over) = (Vec::new(), 0);
    for (number, item) in sourcing.present() {
        match aim.sight(item, |item| roles.configures(item)) {
            Sight::Selected if item.resource.is_file() => selected.push((number, Named::ByIdentity)),
            Sight::Selected => selected.push((number, Named::ByOthers)),
            Sight::PassedOver => passed_over += 1,
            Sight::Missed => {}
        }
    }
    // What is gone already need not go again.
    let must_hit = aim.need == Need::Hit && !sources.iter().all(|source| patch::deletes(source.node()));
    if selected.is_empty() && must_hit {
        return results.tell([Event::of(What::NoneSelected {
            aim: aim.name.clone(),
            targets: aim.targets.iter().map(Target::to_string).collect(),
            exclude: aim.exclude.len(),
            items: sourcing.present().count(),
            passed_over,
        })]);
    }
    tell_idle_excludes(sourcing, aim, results)?;
    let edits = sources.first().and_then(|source| Some((source, roles.edits.get(&source.input?)?)));
    if let Some((source, edits)) = edits {
        for edit in edits {
            let mut found = Found::Nothing;
            for (number, _) in &selected {
                let here = sourcing.edit(*number, source, edit).map_err(Event::fault)?;
                found = if here == Found::Place { here } else { found };
            }
            if found == Found::Nothing && !selected.is_empty() && !matches!(edit.does, Does::Delete) {
                results.tell([no_place(aim, edit.path.to_string())])?;
            }
        }
    } else {
        for source in sources {
            let mut left: Option<Vec<FieldPath<'a>>> = None;
            for (number, named) in &selected {
                let here = sourcing.merge(*number, source, *named).map_err(Event::fault)?;
                match &mut left {
                    None => left = Some(here),
                    Some(left) => {
                        let here: HashSet<FieldPath<'a>> = here.into_iter().collect();
                        left.retain(|place| here.contains(place));
                    }
                }
            }
            tell_left(Some(aim), &left.unwrap_or_default(), results)?;
        }
    }
    let (aim, count) = (aim.name.clone(), selected.len());
    results.tell([Event::of(What::Selected { aim, count, passed_over })])
}

/// Reports what is to be left out and leaves out nothing: mostly a name in it is wrong, and the item that was meant is changed. A selector asks
/// what an item has by now, which may be nothing yet.
fn tell_idle_excludes(sourcing: &Sourcing<'_, '_>, aim: &Aim, results: &mut Results<'_>) -> Result<(), Box<Event>> {
    let is_idle = |exclude: &&Target| {
        !sourcing.present().any(|(_, item)| exclude.fits(item) && aim.targets.iter().any(|target| target.fits(item)))
    };
    let by_name = aim.exclude.iter().filter(|exclude| !exclude.has_selector());
    results.tell(
        by_name
            .filter(is_idle)
            .map(|target| Event::of(What::IdleExclude { name: target.name().clone(), target: target.to_string() })),
    )
}

/// Reports the places of a source that no item has and that it does not make.
fn tell_left(aim: Option<&Aim>, left: &[FieldPath<'_>], results: &mut Results<'_>) -> Result<(), Box<Event>> {
    let Some(aim) = aim else { return Ok(()) };
    results.tell(left.iter().map(|place| no_place(aim, place.shown())))
}

fn no_place(aim: &Aim, place: String) -> Event {
    Event::of(What::NoPlace { aim: aim.name.clone(), place })
}

/// Adds a source that has no partner, if it is to be added. Returns the source if someone must hear of it.
fn without_partner<'r, 'a>(
    sourcing: &mut Sourcing<'r, 'a>,
    source: &'r Resource<'a>,
    aim: Option<&Aim>,
    results: &mut Results<'_>,
) -> Result<Option<&'r Resource<'a>>, Box<Event>> {
    if patch::deletes(source.node()) {
        results.tell([Event::of(What::GoneBefore(named(source))).about(source)])?;
        return Ok(None);
    }
    let is_optional = aim.is_some_and(|aim| aim.need == Need::Optional);
    match sourcing.mode() {
        Mode::Strategic if is_optional => results.tell([not_added(source)]).map(|()| None),
        // A patch changes an item. If it matches no item, its name is mostly wrong.
        Mode::Strategic => Ok(Some(source)),
        // An overlay may add resources.
        Mode::TwoWay | Mode::ThreeWay if aim.is_some_and(|aim| aim.missing == Missing::Left) => {
            results.tell([not_added(source)]).map(|()| None)
        }
        Mode::TwoWay | Mode::ThreeWay => {
            sourcing.add(source).map_err(Event::fault)?;
            Ok(Some(source))
        }
    }
}

fn not_added(source: &Resource<'_>) -> Event {
    Event::of(What::NotAdded(named(source))).about(source)
}

/// The field whose `path` is the file of a source that stays in the package.
fn field<'r>(source: &Resource<'_>, roles: &'r Roles<'_>) -> Option<&'r str> {
    roles.files.get(&source.origin.item()?).map(String::as_str)
}

/// Reports sources without a partner. The result names an item that the user may have meant, for example one in another namespace.
fn tell_unmet(
    alone: &[&Resource<'_>],
    dest: &[Resource<'_>],
    mode: Mode,
    results: &mut Results<'_>,
) -> Result<(), Box<Event>> {
    let dest = if alone.is_empty() { &[] } else { dest };
    let known = || dest.iter().filter_map(|d| d.identity);
    let by_name: HashMap<(&str, &str), Identity<'_>> = known().map(|i| ((i.kind, i.name), i)).collect();
    let mut of_kind: HashMap<&str, Vec<Identity<'_>>> = HashMap::new();
    for identity in known() {
        of_kind.entry(identity.kind).or_default().push(identity);
    }
    for source in alone {
        let Some(identity) = source.identity else { continue };
        let of_name = by_name.get(&(identity.kind, identity.name)).copied();
        // If dest has the resource under another apiVersion, or one of both names no namespace, the source was mostly meant for that resource.
        let is_other_version = |alike: &Identity<'_>| alike.api_version != identity.api_version;
        let is_meant = of_name.is_some_and(|alike| {
            is_other_version(&alike) || alike.namespace.is_empty() || source.named().namespace.is_empty()
        });
        let alike = match of_name {
            Some(alike) if is_other_version(&alike) => Some(Alike::OtherVersion(alike.to_string())),
            Some(alike) => Some(Alike::OtherNamespace(alike.to_string())),
            None => match of_kind.get(identity.kind).map(Vec::as_slice) {
                Some([only]) if mode == Mode::Strategic => {
                    Some(Alike::OnlyOfKind(only.kind.to_owned(), only.to_string()))
                }
                _ => None,
            },
        };
        let own = named(source);
        let event = match mode {
            Mode::Strategic => Event::of(What::NoPartner { source: own, alike }),
            Mode::TwoWay | Mode::ThreeWay => {
                let severity = if is_meant { Severity::Warning } else { Severity::Info };
                Event { severity, ..Event::of(What::Added { source: own, alike }) }
            }
        };
        results.tell([event.about(source)])?;
    }
    Ok(())
}
