//! Resources that take no part in a merge, because dest or another side leaves out their file.

use std::cell::LazyCell;
use std::collections::HashSet;

use crate::held::Held;
use crate::side::{Root, Side};
use anyhow::Result;
use krm_job::event::{Event, InTheWay, What};
use krm_job::role::Role;
use krm_package::package::NewResource;
use krm_package::resource::Resource;
use krm_yaml::Document;

use super::is_in_the_way;
use super::placed::path_of;
use crate::carry::{is_unread, not_read};

/// The resources of other sides that would go to files that dest leaves out, or that a side may have in files that it does not read.
#[derive(Clone, Default)]
pub struct LeftOut {
    of: HashSet<ResourceKey>,
    /// Files that a side does not read, and what dest does not get for it.
    pub warnings: Vec<Event>,
}

/// A resource of a side: its path in the side, and its apiVersion, kind, namespace and name.
type ResourceKey = (Option<String>, [String; 4]);

/// Whether a search found new resources to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    More,
    Nothing,
}

impl LeftOut {
    /// Finds the files that sources and updated do not read, and the resources of original that updated may have in them.
    pub fn of_sides(given: &[(Role, Vec<Side>)]) -> Self {
        let mut left_out = Self::default();
        let all = |of| given.iter().filter(move |(role, _)| *role == of).flat_map(|(_, sides)| sides);
        let (original, updated) = (all(Role::Original).next(), all(Role::Updated).next());
        let was_link = |side: &Side, path: &str| {
            let before = original.filter(|_| updated.is_some_and(|updated| std::ptr::eq(updated, side)));
            before.is_some_and(|before| before.links().any(|link| link == path))
        };
        for side in all(Role::Source).chain(updated) {
            for link in side.links().filter(|link| !was_link(side, link)) {
                left_out.warn(not_read(side, link));
            }
        }
        let (Some(original), Some(updated)) = (original, updated) else { return left_out };
        let identities: LazyCell<HashSet<_>, _> =
            LazyCell::new(|| updated.files.iter().flat_map(Held::identities).collect());
        for held in original.files.iter().filter(|held| held.document().is_some()) {
            let Some(told) = not_read(updated, &held.path) else { continue };
            for resource in held.resources().filter(|r| r.identity.is_some_and(|i| !identities.contains(&i))) {
                left_out.of.extend(key(Some(&held.path), &resource));
                left_out.warn(Some(told.clone()));
            }
        }
        left_out
    }

    fn warn(&mut self, what: Option<What>) {
        let warning = what.map(Event::of);
        self.warnings.extend(warning.filter(|new| !self.warnings.contains(new)));
    }

    pub fn has(&self, resource: &Resource<'_>) -> bool {
        !self.of.is_empty() && key(resource.relative_path, resource).is_some_and(|key| self.of.contains(&key))
    }

    /// Finds resources to leave out in the result of a merge: new ones, and ones that only seem to be deleted in dest, because their file
    /// was not read.
    pub fn found(&mut self, dest: &Side, added: &[NewResource], results: &[Event]) -> Result<Found> {
        let Root::Folder(tree) = &dest.root else { return Ok(Found::Nothing) };
        let before = self.of.len();
        for result in results.iter().filter(|r| r.is_conflict() && r.field.is_none()) {
            if let (Some(file), Some(r)) = (&result.file, &result.resource_ref)
                && is_unread(dest, &file.path)
            {
                let identity = [&r.api_version, &r.kind, &r.namespace, &r.name].map(String::clone);
                self.push((Some(file.path.clone()), identity), What::NotReadHere(file.path.clone()));
            }
        }
        for added in added {
            let path = path_of(dest, added)?;
            if !tree.ignores(&path) {
                continue;
            }
            let document = Document::parse(added.document.body.as_str())?;
            let resource = document.roots().next().map(|root| Resource::read(root, added.origin.clone()));
            if let Some(key) = resource.and_then(|resource| key(added.path.as_deref(), &resource)) {
                self.push(key, What::LeftOut { path, from: added.origin.to_string() });
            }
        }
        Ok(if self.of.len() > before { Found::More } else { Found::Nothing })
    }

    fn push(&mut self, key: ResourceKey, what: What) {
        if self.of.insert(key) {
            self.warn(Some(what));
        }
    }
}

fn key(path: Option<&str>, resource: &Resource<'_>) -> Option<ResourceKey> {
    let i = resource.identity?;
    Some((path.map(str::to_owned), [i.api_version, i.kind, i.namespace, i.name].map(str::to_owned)))
}

/// Why a resource of dest stays in the file `here`, though upstream moved it to the file `to`: dest leaves that file out or holds something else in
/// it, or updated may still have the resource in a file that it does not read. `None` if it moves.
pub(super) fn why_stays(dest: &Side, given: &[(Role, Vec<Side>)], [here, to]: [&str; 2]) -> Option<What> {
    let Root::Folder(tree) = &dest.root else { return None };
    // What nobody can read may be something else.
    let is_other = |held| is_in_the_way(held, given).unwrap_or(true);
    let why = match () {
        () if tree.ignores(to) => Some(InTheWay::Ignored),
        () if is_unread(dest, to) => Some(InTheWay::Unread),
        () if dest.at(to).is_some_and(is_other) => Some(InTheWay::Other),
        () => None,
    };
    let stays = why.map(|why| What::StaysAt { here: here.to_owned(), to: to.to_owned(), why });
    let mut updated = given.iter().filter(|(role, _)| *role == Role::Updated).flat_map(|(_, sides)| sides);
    stays.or_else(|| not_read(updated.next()?, here))
}
