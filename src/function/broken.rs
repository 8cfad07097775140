//! References between the resources of a package that a three-way merge breaks.
//!
//! Upstream deletes or renames a ConfigMap together with its own references to it. A Deployment that only dest has keeps its reference, and
//! no conflict shows that: no resource was changed on both sides. Only references that the merge breaks are reported. If a package refers
//! to a resource that it never had, something outside of the package provides that resource.

use krm_merge::documents::Item;
use krm_merge::hashed::{Empty, HashMap, HashSet};
use krm_merge::package::Member;
use krm_merge::reference::{Named, Reference, keys_of, made_of, references};
use krm_merge::resource::Resource;
use krm_merge::sides::Sides;
use krm_merge::tree::View;

use super::after::{After, Reread};
use super::names::Names;
use crate::config::Role;
use crate::report::{Cause, Report};
use crate::results::{Outcome, Results, Severity};
use crate::roles::Roles;

/// Reports the references that lead nowhere after a merge, because of what is `lost`. `becomes` has the merged resource of each member, or
/// `None` if the merge deletes it. `items` has the edits of dest's items.
pub(super) fn tell<'a>(
    lost: &Lost,
    (members, becomes): (&[Member<'_, 'a>], &[Option<After<'_, 'a>>]),
    items: &[Item],
    roles: &Roles<'a>,
    results: &mut Results<'_>,
) -> Result<(), Box<Outcome>> {
    // A run with an error writes nothing, so it breaks nothing.
    if lost.is_empty() || results.count(|result| result.severity == Severity::Error) > 0 {
        return Ok(());
    }
    let names = lost.names();
    let present = Present::of(becomes, roles, &names);
    for (member, after) in members.iter().zip(becomes) {
        let Some(after) = after else { continue };
        let Some(about) = member.sides.dest.or(member.sides.updated) else { continue };
        let text = after.unread_text(items);
        if text.as_ref().is_some_and(|text| !names.may_be_in(text)) {
            continue;
        }
        let reread = text.and_then(Reread::of);
        let view = reread.as_ref().map_or_else(|| after.view(), Reread::view);
        let Some(after) = view.filter(|after| names.are_in(*after)) else { continue };
        let all = references(after);
        let broken: Vec<_> = all.iter().filter_map(|r| Some((r, lost.cause(r, &present)?))).collect();
        if broken.is_empty() {
            continue;
        }
        let before = member.sides.dest.map(|dest| references(View::Node(dest.node()))).unwrap_or_default();
        let before: HashSet<&Named<'_>> = before.iter().map(|reference| &reference.to).collect();
        let mut told = HashSet::new();
        for (reference, cause) in broken {
            // Dest deleted the resource itself and kept this reference to it, so the merge does not break the reference.
            let was_broken = cause == Cause::NotHere && before.contains(&reference.to);
            if !was_broken && told.insert(&reference.to) {
                results.report(&Report::Broken { about, reference, cause })?;
            }
        }
    }
    Ok(())
}

/// Values by the group, kind and name of a resource, each with the resource's identity.
type ByName<'a, T> = HashMap<[String; 3], Vec<(Named<'a>, T)>>;

fn key(named: &Named<'_>) -> [String; 3] {
    [&named.group, &named.kind, &named.name].map(|part| part.to_string())
}

/// The resources and keys that a merge takes away.
#[derive(Default)]
pub(super) struct Lost {
    /// Resources that were deleted or renamed; `Fate::Renamed` has the new identity.
    resources: ByName<'static, Fate>,
    /// Keys that were removed from the data of a resource.
    keys: ByName<'static, HashSet<String>>,
}

enum Fate {
    Deleted,
    Renamed(Named<'static>),
    NotHere,
}

impl Lost {
    /// Notes what a merge took away from the resource of these sides.
    pub fn note<'a>(&mut self, sides: Sides<Option<&Resource<'a>>>, after: Option<&After<'_, 'a>>) {
        // Mostly the resource stayed, and its nodes are not needed.
        let stayed = sides.dest.or(sides.updated).zip(after).is_some_and(|(before, after)| after.is(before));
        if !stayed {
            self.note_content(sides, after.and_then(After::view));
        }
    }

    /// Same as [`Lost::note`], for the content of the resource after the merge.
    pub fn note_content<'i>(&mut self, sides: Sides<Option<&Resource<'i>>>, after: Option<View<'_, 'i>>) {
        let Some(before) = sides.dest.or(sides.updated).map(Resource::node) else { return };
        if matches!(after, Some(View::Node(after)) if after.is(before)) {
            return;
        }
        let before = View::Node(before);
        let Some(old) = Named::of(before) else { return };
        let new = after.and_then(Named::of);
        let fate = match (sides.dest, new) {
            (_, Some(new)) if new == old => None,
            (Some(_), Some(new)) => Some(Fate::Renamed(new.into_owned())),
            (Some(_), None) => Some(Fate::Deleted),
            (None, Some(_)) => None,
            (None, None) => Some(Fate::NotHere),
        };
        match (fate, after) {
            (Some(fate), _) => self.resources.entry(key(&old)).or_default().push((old.into_owned(), fate)),
            (None, Some(after)) => {
                let mut gone: HashSet<&str> = keys_of(before).into_iter().collect();
                if !gone.is_empty() {
                    keys_of(after).into_iter().for_each(|key| _ = gone.remove(key));
                }
                if !gone.is_empty() {
                    let gone = gone.into_iter().map(str::to_owned).collect();
                    self.keys.entry(key(&old)).or_default().push((old.into_owned(), gone));
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
        Names::of(self.resources.keys().chain(self.keys.keys()).map(|[_, _, name]| name))
    }

    /// Why the merge breaks a reference; `None` if it does not.
    fn cause<'r>(&'r self, reference: &'r Reference<'_>, present: &Present<'_>) -> Option<Cause<'r, 'static>> {
        let key = key(&reference.to);
        let is_meant = |named: &Named<'_>| named.may_be(&reference.to);
        if let Some((_, fate)) = self.resources.get(&key).into_iter().flatten().find(|(named, _)| is_meant(named)) {
            let cause = match fate {
                Fate::Deleted => Cause::Deleted,
                Fate::Renamed(new) => Cause::Renamed(new),
                Fate::NotHere => Cause::NotHere,
            };
            return Some(cause).filter(|_| !present.has(&key, &reference.to));
        }
        let gone = self.keys.get(&key).into_iter().flatten().filter(|(named, _)| is_meant(named));
        let gone: Vec<&HashSet<String>> = gone.map(|(_, keys)| keys).collect();
        reference
            .keys
            .iter()
            .find(|key| gone.iter().any(|gone| gone.contains(&***key)))
            .map(|key| Cause::KeyRemoved(key))
    }
}

/// Resources with one of the looked-for names that exist after a merge. Resources that controllers and kustomize make count, too.
struct Present<'a>(ByName<'a, ()>);

impl<'a> Present<'a> {
    fn of(becomes: &[Option<After<'_, 'a>>], roles: &Roles<'a>, names: &Names) -> Self {
        let mut present = Self(HashMap::new());
        for after in becomes.iter().flatten() {
            present.extend(after.names(), names);
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

    fn extend(&mut self, all: impl IntoIterator<Item = Named<'a>>, names: &Names) {
        for named in all.into_iter().filter(|named| names.has(&named.name)) {
            self.0.entry(key(&named)).or_default().push((named, ()));
        }
    }

    fn has(&self, key: &[String; 3], named: &Named<'a>) -> bool {
        self.0.get(key).into_iter().flatten().any(|(other, ())| other.may_be(named))
    }
}
