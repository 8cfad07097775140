//! Reports selected items that are not resources and so take no part in the merge: mostly a `kustomization.yaml` without a name.
//!
//! This is not an error, because a folder of a package holds such files and kpt sends them as items. But if upstream changed one, the user
//! must learn that dest does not get the change. If dest misses nothing, the result is an `info`.

use krm_package::resource::Resource;
use krm_tree::limit::Budget;

use crate::config::{Config, Mode};

use crate::event::{Event, Missed, Stays, What};
use crate::results::Results;
use crate::role::Role;
use crate::roles::Roles;

/// Reports one result for each such file. In ThreeWay, the files of original and updated at the same path are one file.
///
/// # Errors
/// In ThreeWay, a file is a resource in only one of original and updated. The merge would delete or add it, though it only got or lost a
/// name.
pub(super) fn tell(
    config: &Config<'_>,
    roles: &Roles<'_>,
    results: &mut Results<'_>,
    budget: &Budget,
) -> Result<(), Box<Event>> {
    if roles.apart.is_empty() {
        return Ok(());
    }
    let of_role = |role: Role| roles.apart.iter().filter(move |(r, _)| *r == role).map(|(_, item)| item);
    let mut tell = |item: &Resource<'_>, missed| {
        let (whereabouts, field) = (item.whereabouts(), item.missing().unwrap_or("metadata.name"));
        let what = What::Apart { whereabouts, field, missed, stays: stays(item, roles) };
        results.tell([Event::of(what).about(item)])
    };
    if config.mode() != Mode::ThreeWay {
        return of_role(Role::Source).try_for_each(|item| tell(item, Missed::Source));
    }
    for (role, other) in [(Role::Original, Role::Updated), (Role::Updated, Role::Original)] {
        for item in of_role(role) {
            let is_alike = of_role(other).any(|o| o.relative_path == item.relative_path);
            if let Some(named) = roles.of(other).iter().find(|o| is_at(o, item)).filter(|_| !is_alike) {
                return Err(on_one_side(item, named));
            }
        }
    }
    let rules = config.rules(budget);
    let in_dest = |item: &Resource<'_>| roles.dest.iter().find(|d| d.identity.is_none() && is_at(d, item));
    for new in of_role(Role::Updated) {
        let old = of_role(Role::Original).find(|old| is_at(old, new));
        // Files that cannot be compared count as different, for example a map that has a key twice.
        let places = |old: &Resource<'_>| rules.differs(old, new).unwrap_or_else(|_| vec!["the whole".to_owned()]);
        let missed = match old.map(places) {
            _ if in_dest(new).is_some_and(|dest| places(dest).is_empty()) => Missed::SameInDest,
            Some(none) if none.is_empty() => Missed::Unchanged,
            Some(places) => Missed::Changed(places),
            None => Missed::New,
        };
        tell(new, missed)?;
    }
    for old in of_role(Role::Original).filter(|old| !of_role(Role::Updated).any(|new| is_at(old, new))) {
        tell(old, if in_dest(old).is_some() { Missed::Deleted } else { Missed::Gone })?;
    }
    Ok(())
}

/// Whether two items have the same path, relative to the folder of each one's role.
fn is_at(one: &Resource<'_>, other: &Resource<'_>) -> bool {
    one.relative_path == other.relative_path && one.index == other.index
}

fn on_one_side(item: &Resource<'_>, named: &Resource<'_>) -> Box<Event> {
    let field = item.missing().unwrap_or("metadata.name");
    let rest = format!(
        "`{field}`, because {} is the same file and has it. A file must be a resource in both original and updated, or in neither",
        named.whereabouts()
    );
    Box::new(Event::lacking(item, &rest))
}

fn stays(item: &Resource<'_>, roles: &Roles<'_>) -> Stays {
    let is_consumed = item.origin.item().and_then(|i| roles.gone.get(i)).is_some_and(|gone| *gone);
    if is_consumed { Stays::Consumed } else { Stays::Yes }
}
