//! TwoWay without sources: merges items of one identity into the first of them.

use krm_package::package::{Merged, Sourcing};
use krm_package::resource::{Identity, Resource};
use krm_package::rules::Rules;
use krm_yaml::hashed::{Empty, HashMap};

use crate::event::{Event, What};
use crate::roles::Roles;

/// Merges items of one identity in the order of the list; later items win over earlier ones.
///
/// # Errors
/// Such items lie in different folders: one may be the overlay of the other, and be lost.
pub(super) fn merge_alike<'r, 'a>(roles: &'r Roles<'a>, rules: Rules<'a>) -> Result<Merged<'r, 'a>, Box<Event>> {
    let mut first: HashMap<Identity<'_>, usize> = HashMap::with_capacity(roles.dest.len());
    let mut sourcing = Sourcing::of(&roles.dest, rules);
    for (number, item) in roles.dest.iter().enumerate().filter(|(_, item)| !roles.configures(item)) {
        let Some(identity) = item.identity else { continue };
        let into = *first.entry(identity).or_insert(number);
        if into == number {
            continue;
        }
        if let Some(error) = apart(&roles.dest[into], item) {
            return Err(error);
        }
        sourcing.unite([number, into]).map_err(Event::fault)?;
    }
    Ok(sourcing.finish())
}

/// The error for items of one identity in different folders, as in a base and an overlay of it.
fn apart(one: &Resource<'_>, other: &Resource<'_>) -> Option<Box<Event>> {
    let folder = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let [base, overlay] = [folder(one.path?), folder(other.path?)];
    if base == overlay {
        return None;
    }
    let what = What::OneIdentity { items: [one, other].map(Resource::whereabouts), folders: [base, overlay] };
    Some(Box::new(Event::of(what).about(other)))
}
