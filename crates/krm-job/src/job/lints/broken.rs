//! References between the resources of a package that a three-way merge breaks.
//!
//! Upstream deletes or renames a ConfigMap together with its own references to it. A Deployment that only dest has keeps its reference, and
//! no conflict shows that: no resource was changed on both sides. Only references that the merge breaks are reported. If a package refers
//! to a resource that it never had, something outside of the package provides that resource.

use std::cell::LazyCell;

use krm_package::package::After;
use krm_package::resource::Resource;
use krm_schema::reference::{NamedResource, Names, Reference, keys_of, made_of, references as references_of};
use krm_tree::child::nearest;
use krm_tree::tree::View;
use krm_yaml::hashed::{Empty, HashMap, HashSet};

use super::{Package, Subject, Told};
use crate::event::{Cause, Event, Field, What, called};
use crate::results::Results;
use crate::results::Verdict;
use crate::role::Role;

/// A result for each reference that leads nowhere after the merge.
pub(super) fn references(package: Package<'_, '_>, results: &mut Results<'_>) -> Told {
    let lost = Lost::of(package.subjects);
    // A run with an error writes nothing, so it breaks nothing.
    if lost.is_empty() || package.verdict == Verdict::Failed {
        return Ok(());
    }
    let names = lost.names();
    let present = Present::of(package, &names);
    for Subject { sides, after, .. } in package.subjects {
        let (Some(after), Some(about)) = (*after, sides.dest.or(sides.updated)) else { continue };
        let Some(after) = after.view().filter(|after| names.are_in(*after)) else { continue };
        let before = || sides.dest.map(|dest| references_of(View::Node(dest.node()))).unwrap_or_default();
        let before = LazyCell::new(|| before().into_iter().map(|reference| reference.to).collect::<HashSet<_>>());
        let mut told = HashSet::new();
        for reference in references_of(after) {
            let Some(cause) = lost.cause(&reference, &present) else { continue };
            // Dest deleted the resource itself and kept this reference to it, so the merge does not break the reference.
            let was_broken = cause == Cause::NotHere && before.contains(&reference.to);
            if !was_broken && told.insert(reference.to.clone()) {
                results.tell([broken(about, &reference, cause)])?;
            }
        }
    }
    Ok(())
}

/// A reference that leads nowhere.
fn broken(about: &Resource<'_>, reference: &Reference<'_>, cause: Cause) -> Event {
    let field = Field { path: reference.path.indexed(), current_value: None, proposed_value: None };
    let here = nearest(about.node(), &reference.path).start();
    let what = What::Broken { place: reference.path.shown(), to: called(&reference.to), cause };
    Event { field: Some(field.into()), here: Some(here), ..Event::of(what) }.about(about)
}

/// Values by the group, kind and name of a resource, each with the resource's identity.
type ByName<'a, T> = HashMap<[String; 3], Vec<(NamedResource<'a>, T)>>;

fn key(named: &NamedResource<'_>) -> [String; 3] {
    [&named.group, &named.kind, &named.name].map(|part| part.to_string())
}

/// The resources and keys that a merge takes away.
#[derive(Default)]
struct Lost<'a> {
    /// Resources that were deleted or renamed; `Fate::Renamed` has the new identity.
    resources: ByName<'a, Fate<'a>>,
    /// Keys that were removed from the data of a resource.
    keys: ByName<'a, HashSet<&'a str>>,
}

enum Fate<'a> {
    Deleted,
    Renamed(NamedResource<'a>),
    NotHere,
}

impl<'a> Lost<'a> {
    fn of(subjects: &[Subject<'_, 'a>]) -> Self {
        let mut lost = Self::default();
        subjects.iter().for_each(|subject| lost.note(subject));
        lost
    }

    /// Notes what the merge took away from a resource.
    fn note(&mut self, Subject { sides, after, .. }: &Subject<'_, 'a>) {
        let Some(before) = sides.dest.or(sides.updated) else { return };
        // Mostly the resource stayed, and its nodes are not needed.
        if after.is_some_and(|after| after.is(before)) {
            return;
        }
        let (before, after) = (before.node(), after.and_then(After::view));
        if matches!(after, Some(View::Node(after)) if after.is(before)) {
            return;
        }
        let before = View::Node(before);
        let Some(old) = NamedResource::of(before) else { return };
        let new = after.and_then(NamedResource::of);
        let fate = match (sides.dest, new) {
            (_, Some(new)) if new == old => None,
            (Some(_), Some(new)) => Some(Fate::Renamed(new)),
            (Some(_), None) => Some(Fate::Deleted),
            (None, Some(_)) => None,
            (None, None) => Some(Fate::NotHere),
        };
        match (fate, after) {
            (Some(fate), _) => self.resources.entry(key(&old)).or_default().push((old, fate)),
            (None, Some(after)) => {
                let mut gone: HashSet<&str> = keys_of(before).into_iter().collect();
                if !gone.is_empty() {
                    keys_of(after).into_iter().for_each(|key| _ = gone.remove(key));
                }
                if !gone.is_empty() {
                    self.keys.entry(key(&old)).or_default().push((old, gone));
                }
            }
            (None, None) => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.keys.is_empty()
    }

    /// The names of all these resources.
    fn names(&self) -> Names {
        self.resources.keys().chain(self.keys.keys()).map(|[_, _, name]| &**name).collect()
    }

    /// Why the merge breaks a reference; `None` if it does not.
    fn cause(&self, reference: &Reference<'a>, present: &Present<'_>) -> Option<Cause> {
        let key = key(&reference.to);
        let is_meant = |named: &NamedResource<'_>| named.may_be(&reference.to);
        if let Some((_, fate)) = self.resources.get(&key).into_iter().flatten().find(|(named, _)| is_meant(named)) {
            let cause = match fate {
                Fate::Deleted => Cause::Deleted,
                Fate::Renamed(new) => Cause::Renamed(called(new)),
                Fate::NotHere => Cause::NotHere,
            };
            return Some(cause).filter(|_| !present.has(&key, &reference.to));
        }
        let gone = self.keys.get(&key).into_iter().flatten().filter(|(named, _)| is_meant(named));
        let gone: Vec<&HashSet<&str>> = gone.map(|(_, keys)| keys).collect();
        reference
            .keys
            .iter()
            .find(|key| gone.iter().any(|gone| gone.contains(&***key)))
            .map(|key| Cause::KeyRemoved(key.clone().into_owned()))
    }
}

/// Resources with one of the looked-for names that exist after a merge. Resources that controllers and kustomize make count, too.
struct Present<'a>(ByName<'a, ()>);

impl<'a> Present<'a> {
    fn of(Package { subjects, roles, .. }: Package<'_, 'a>, names: &Names) -> Self {
        let mut present = Self(HashMap::new());
        for after in subjects.iter().filter_map(|subject| subject.after.and_then(After::view)) {
            // Controllers and kustomize make further resources of it.
            present.extend(NamedResource::of(after).into_iter().chain(made_of(after)), names);
        }
        // A kustomization mostly has no name, so the merge does not touch it. It is unknown which generators dest's will have, so those of
        // dest and of updated both count.
        let unnamed = roles.dest.iter().filter(|item| item.identity.is_none());
        let upstream = roles.apart.iter().filter(|(role, _)| *role == Role::Updated).map(|(_, item)| item);
        for node in unnamed.chain(upstream).map(|item| item.node()).chain(roles.beside.iter().copied()) {
            present.extend(made_of(View::Node(node)), names);
        }
        present
    }

    fn extend(&mut self, all: impl IntoIterator<Item = NamedResource<'a>>, names: &Names) {
        for named in all.into_iter().filter(|named| names.contains(&named.name)) {
            self.0.entry(key(&named)).or_default().push((named, ()));
        }
    }

    fn has(&self, key: &[String; 3], named: &NamedResource<'a>) -> bool {
        self.0.get(key).into_iter().flatten().any(|(other, ())| other.may_be(named))
    }
}
