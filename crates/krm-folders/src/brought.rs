//! Warns of what upstream brings along besides what the cluster gets: files that git, a host of git or this program obeys, and resources that
//! a function takes for a side of its merge.
//!
//! `.krm-merge.yaml` is not among them: it is never taken from another side.

use std::collections::{HashMap, HashSet};

use crate::change::Change;
use crate::held::Held;
use crate::side::{Side, SidePart};
use krm_job::event::{Event, File, What};
use krm_job::role::Role;
use krm_names::file_path;
use krm_package::resource::{Identity, Resource};

/// One warning for each such file that changes, and for each such resource that is new in updated.
pub fn warnings(given: &[(Role, Vec<Side>)], changes: &[Change]) -> Vec<Event> {
    let paths: HashSet<&str> =
        changes.iter().map(|change| &*change.path).filter(|path| file_path::is_obeyed(path)).collect();
    let mut paths: Vec<&str> = paths.into_iter().collect();
    paths.sort_unstable();
    let side = |of: Role| given.iter().filter(move |(role, _)| *role == of).flat_map(|(_, sides)| sides);
    let of_files = paths.into_iter().map(of_file);
    let has_role = |side: &Side| side.files.iter().flat_map(Held::resources).any(|resource| resource.role.is_some());
    if !side(Role::Updated).any(has_role) {
        return of_files.collect();
    }
    let resources = |of: Role| side(of).flat_map(|side| side.resources(SidePart::Role)).map(|(_, resource)| resource);
    let known: HashMap<Option<Identity<'_>>, Option<&str>> =
        resources(Role::Original).map(|resource| (resource.identity, resource.role)).collect();
    let is_new = |resource: &Resource<'_>| {
        resource.role.is_some() && known.get(&resource.identity).copied().flatten() != resource.role
    };
    of_files.chain(resources(Role::Updated).filter(is_new).map(|new| of_resource(&new))).collect()
}

fn of_file(path: &str) -> Event {
    let file = Some(File { path: path.to_owned(), index: None }.into());
    Event { file, ..Event::of(What::Obeyed) }
}

fn of_resource(resource: &Resource<'_>) -> Event {
    Event::of(What::TakesRole(resource.role.unwrap_or_default().to_owned())).about(resource)
}
