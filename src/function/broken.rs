//! References between the resources of a package that a three-way merge breaks.
//!
//! Upstream deletes or renames a ConfigMap together with its own references to it. A Deployment that only dest has keeps its reference, and
//! no conflict shows that: no resource was changed on both sides. Only references that the merge breaks are reported. If a package refers
//! to a resource that it never had, something outside of the package provides that resource.

use std::ops::RangeInclusive;

use krm_merge::hashed::{Empty, HashMap, HashSet};
use krm_merge::package::Member;
use krm_merge::reference::{Named, Reference, keys_of, made_of, references};
use krm_merge::resource::Resource;
use krm_merge::sides::Sides;
use krm_merge::tree::{Tree, View};

use crate::config::Role;
use crate::report::{Cause, Report};
use crate::results::{Outcome, Results, Severity};
use crate::roles::Roles;

/// Reports the references that lead nowhere after a merge. `becomes` has the merged resource of each member, or `None` if the merge deletes
/// it.
pub(super) fn tell<'a>(
    members: &[Member<'_, 'a>],
    becomes: &[Option<Tree<'a>>],
    roles: &Roles<'a>,
    results: &mut Results<'_>,
) -> Result<(), Box<Outcome>> {
    // A run with an error writes nothing, so it breaks nothing.
    if results.count(|result| result.severity == Severity::Error) > 0 {
        return Ok(());
    }
    let lost = Lost::of(members, becomes);
    if lost.is_empty() {
        return Ok(());
    }
    let names = lost.names();
    let present = Present::of(becomes, roles, &names);
    for (member, after) in members.iter().zip(becomes) {
        let Some(after) = after.as_ref().and_then(Tree::view).filter(|after| names.are_in(*after)) else { continue };
        let Some(about) = member.sides.dest.or(member.sides.updated) else { continue };
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

/// Names that are looked for in many resources.
struct Names<'l> {
    all: HashSet<&'l str>,
    /// How long they are: most other texts are shorter.
    lengths: RangeInclusive<usize>,
}

impl<'l> Names<'l> {
    fn of(names: impl Iterator<Item = &'l str>) -> Self {
        let all: HashSet<&str> = names.collect();
        let lengths = || all.iter().map(|name| name.len());
        Self { lengths: lengths().min().unwrap_or_default()..=lengths().max().unwrap_or_default(), all }
    }

    /// Whether this is one of the names.
    fn has(&self, name: &str) -> bool {
        self.lengths.contains(&name.len()) && self.all.contains(name)
    }

    /// Whether a resource may refer to one of these names, because it has the name as a text anywhere. Few resources do, and this check
    /// costs far less than finding the references.
    fn are_in(&self, value: View<'_, '_>) -> bool {
        match value {
            // An alias may bring in text from outside of the node.
            View::Node(node) => node.has_aliases() || node.strings().any(|text| self.has(text)),
            View::Made(_) => value.text().is_some_and(|text| self.has(&text)),
            View::Branch(branch) => {
                branch.children().filter_map(|(_, tree)| tree.view()).any(|value| self.are_in(value))
            }
        }
    }
}

/// The resources and keys that a merge takes away.
struct Lost<'a> {
    /// Resources that were deleted or renamed; `Fate::Renamed` has the new identity.
    resources: ByName<'a, Fate<'a>>,
    /// Keys that were removed from the data of a resource.
    keys: ByName<'a, HashSet<&'a str>>,
}

enum Fate<'a> {
    Deleted,
    Renamed(Named<'a>),
    NotHere,
}

impl<'a> Lost<'a> {
    fn of(members: &[Member<'_, 'a>], becomes: &[Option<Tree<'a>>]) -> Self {
        let mut lost = Self { resources: HashMap::new(), keys: HashMap::new() };
        for (member, after) in members.iter().zip(becomes) {
            lost.note(member.sides, after.as_ref().and_then(Tree::view));
        }
        lost
    }

    /// Notes what a merge took away from the resource of these sides.
    fn note(&mut self, sides: Sides<Option<&Resource<'a>>>, after: Option<View<'_, 'a>>) {
        let Some(before) = sides.dest.or(sides.updated).map(Resource::node) else { return };
        if matches!(after, Some(View::Node(after)) if after.is(before)) {
            return;
        }
        let before = View::Node(before);
        let Some(old) = Named::of(before) else { return };
        let new = after.and_then(Named::of);
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
    fn names(&self) -> Names<'_> {
        Names::of(self.resources.keys().chain(self.keys.keys()).map(|[_, _, name]| &**name))
    }

    /// Why the merge breaks a reference; `None` if it does not.
    fn cause<'r>(&'r self, reference: &'r Reference<'a>, present: &Present<'a>) -> Option<Cause<'r, 'a>> {
        let key = key(&reference.to);
        let is_meant = |named: &Named<'a>| named.may_be(&reference.to);
        if let Some((_, fate)) = self.resources.get(&key).into_iter().flatten().find(|(named, _)| is_meant(named)) {
            let cause = match fate {
                Fate::Deleted => Cause::Deleted,
                Fate::Renamed(new) => Cause::Renamed(new),
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
            .map(|key| Cause::KeyRemoved(key))
    }
}

/// Resources with one of the looked-for names that exist after a merge. Resources that controllers and kustomize make count, too.
struct Present<'a>(ByName<'a, ()>);

impl<'a> Present<'a> {
    fn of(becomes: &[Option<Tree<'a>>], roles: &Roles<'a>, names: &Names<'_>) -> Self {
        let mut present = Self(HashMap::new());
        for after in becomes.iter().flatten().filter_map(Tree::view) {
            present.extend(Named::of(after).into_iter().chain(made_of(after)), names);
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

    fn extend(&mut self, all: impl IntoIterator<Item = Named<'a>>, names: &Names<'_>) {
        for named in all.into_iter().filter(|named| names.has(&named.name)) {
            self.0.entry(key(&named)).or_default().push((named, ()));
        }
    }

    fn has(&self, key: &[String; 3], named: &Named<'a>) -> bool {
        self.0.get(key).into_iter().flatten().any(|(other, ())| other.may_be(named))
    }
}
