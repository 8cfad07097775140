//! That an item which a role selects is no resource, and so takes no part in the merge: mostly a `kustomization.yaml` without a name.
//!
//! It is no error, for a folder of a package holds such files and kpt sends them as items; but what upstream changed in one would be
//! missed in silence. Where there is nothing to miss, the word is an `info`.

use super::run::Run;
use crate::config::{Config, Mode, Role};
use crate::results::{Outcome, Severity, listed};
use crate::roles::Roles;
use krm_merge::limit::Budget;
use krm_merge::resource::Resource;

/// One result for each such file: in ThreeWay original's and updated's at one path are one.
///
/// # Errors
/// In ThreeWay, a file that is a resource in one of original and updated alone: it would be deleted or added, though it only got a name.
pub(super) fn told(config: &Config<'_>, roles: &Roles<'_>, budget: &Budget) -> Result<Vec<Outcome>, Box<Outcome>> {
    if roles.apart.is_empty() {
        return Ok(Vec::new());
    }
    let run = Run::new(config, roles, budget);
    let of_role = |role: Role| roles.apart.iter().filter(move |(r, _)| *r == role).map(|(_, item)| item);
    let state = |item, severity, what: &str| state(item, severity, what, is_consumed(item, roles));
    if config.mode != Mode::ThreeWay {
        return Ok(of_role(Role::Source).map(|item| state(item, Severity::Warning, "")).collect());
    }
    for (role, other) in [(Role::Original, Role::Updated), (Role::Updated, Role::Original)] {
        for item in of_role(role) {
            let is_alike = of_role(other).any(|o| o.relative_path == item.relative_path);
            if let Some(named) = roles.of(other).iter().find(|o| is_at(o, item)).filter(|_| !is_alike) {
                return Err(on_one_side(item, named));
            }
        }
    }
    let in_dest = |item: &Resource<'_>| roles.dest.iter().find(|d| d.identity.is_none() && is_at(d, item));
    let updated = of_role(Role::Updated).map(|new| {
        let old = of_role(Role::Original).find(|old| is_at(old, new));
        // What cannot be compared, as a map with a key twice, may differ.
        let places = |old: &Resource<'_>| run.differs(old, new).unwrap_or_else(|_| vec!["the whole".to_owned()]);
        if in_dest(new).is_some_and(|dest| places(dest).is_empty()) {
            return state(new, Severity::Info, ", and dest's says the same");
        }
        match old.map(places) {
            Some(none) if none.is_empty() => state(new, Severity::Info, ", and upstream did not change it"),
            Some(places) => {
                let what = format!(": upstream changed {} in it, and dest does not get that", listed(&places));
                state(new, Severity::Warning, &what)
            }
            None => state(new, Severity::Warning, ": it is new upstream, and dest does not get it"),
        }
    });
    let deleted = of_role(Role::Original).filter(|old| !of_role(Role::Updated).any(|new| is_at(old, new)));
    let deleted = deleted.map(|old| match in_dest(old) {
        Some(_) => state(old, Severity::Warning, ": upstream deleted it, and dest's stays"),
        None => state(old, Severity::Info, ", and neither updated nor dest has it"),
    });
    Ok(updated.chain(deleted).collect())
}

/// Whether two items lie at one place, each below the folder of its role.
fn is_at(one: &Resource<'_>, other: &Resource<'_>) -> bool {
    one.relative_path == other.relative_path && one.index == other.index
}

fn on_one_side(item: &Resource<'_>, named: &Resource<'_>) -> Box<Outcome> {
    let field = item.missing().unwrap_or("metadata.name");
    let message = format!(
        "{} must have `{field}`, for {} is the same file and has it: a file must be a resource in both of original and updated, or in neither",
        item.whereabouts(),
        named.whereabouts()
    );
    Box::new(Outcome::new(Severity::Error, message).about(item))
}

fn is_consumed(item: &Resource<'_>, roles: &Roles<'_>) -> bool {
    item.origin.item().and_then(|i| roles.gone.get(i)).is_some_and(|gone| *gone)
}

fn state(item: &Resource<'_>, severity: Severity, what: &str, consumed: bool) -> Outcome {
    let field = item.missing().unwrap_or("metadata.name");
    let becomes = if consumed { "; it is consumed with its side" } else { "" };
    let whereabouts = item.whereabouts();
    let message = format!("{whereabouts} has no `{field}` and takes no part in the merge{what}{becomes}");
    Outcome::new(severity, message).about(item)
}
