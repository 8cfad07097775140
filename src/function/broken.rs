//! References between the resources of a package that a three-way merge breaks.
//!
//! Upstream deletes or renames a ConfigMap together with its own references to it. A Deployment that only dest has keeps its reference, and
//! no conflict shows that: no resource was changed on both sides. Only references that the merge breaks are reported. If a package refers
//! to a resource that it never had, something outside of the package provides that resource.

use std::collections::{HashMap, HashSet};

use krm_merge::package::Member;
use krm_merge::reference::{Named, Reference, keys_of, made_of, references};
use krm_merge::sieve::{Known, Sieve};
use krm_merge::tree::View;

use super::after::After;
use crate::config::Role;
use crate::report::{Cause, Report};
use crate::results::{Outcome, Results, Severity};
use crate::roles::Roles;

/// Reports the references that lead nowhere after a merge. `becomes` has the merged resource of each member, or `None` if the merge deletes
/// it.
pub(super) fn tell<'a>(
    members: &[Member<'_, 'a>],
    becomes: &[Option<After<'_, 'a>>],
    roles: &Roles<'a>,
    results: &mut Results<'_>,
) -> Result<(), Box<Outcome>> {
    let lost = Lost::of(members, becomes);
    // A run with an error writes nothing, so it breaks nothing.
    if lost.is_empty() || results.count(|result| result.severity == Severity::Error) > 0 {
        return Ok(());
    }
    let present = Present::of(becomes, roles, &lost.names);
    for (member, after) in members.iter().zip(becomes) {
        let Some(after) = after else { continue };
        let Some(about) = member.sides.dest.or(member.sides.updated) else { continue };
        if after.unread_text().is_some_and(|text| !lost.names.may_be_in(text)) {
            continue;
        }
        let Some(after) = after.view().filter(|after| lost.names.are_in(*after)) else { continue };
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

/// Names that are looked for in many resources.
#[derive(Default)]
struct Names {
    all: HashSet<String>,
    sieve: Sieve,
    /// The length of the shortest name, if each name is a word of a text wherever it is in it as a scalar.
    shortest_word: Option<usize>,
}

/// Whether a byte may be in a word. The names of most kinds have no other bytes.
static IS_IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte: u8 = 0;
    while byte.is_ascii() {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
        byte += 1;
    }
    table
};

impl Names {
    fn of<'n>(names: impl Iterator<Item = &'n String>) -> Self {
        let all: HashSet<String> = names.cloned().collect();
        let sieve = all.iter().map(String::as_str).collect();
        let are_words = all.iter().all(|name| !name.is_empty() && name.bytes().all(|byte| IS_IN_WORD[byte as usize]));
        let shortest_word = all.iter().map(String::len).min().filter(|_| are_words);
        Self { all, sieve, shortest_word }
    }

    fn has(&self, name: &str) -> bool {
        self.sieve.knows(name) == Known::Maybe && self.all.contains(name)
    }

    /// Whether a text of YAML may have one of these names as a scalar. A backslash may stand for any character of a name.
    fn may_be_in(&self, text: &str) -> bool {
        let Some(shortest) = self.shortest_word.filter(|_| !text.as_bytes().contains(&b'\\')) else { return true };
        let mut start = 0;
        for (at, byte) in text.bytes().enumerate() {
            if IS_IN_WORD[byte as usize] {
                continue;
            }
            if at - start >= shortest && self.has(&text[start..at]) {
                return true;
            }
            start = at + 1;
        }
        text.get(start..).is_some_and(|last| self.has(last))
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

/// Values by the group, kind and name of a resource, each with the resource's identity.
type ByName<'a, T> = HashMap<[String; 3], Vec<(Named<'a>, T)>>;

fn key(named: &Named<'_>) -> [String; 3] {
    [&named.group, &named.kind, &named.name].map(|part| part.to_string())
}

/// The resources and keys that a merge takes away.
struct Lost<'a> {
    /// Resources that were deleted or renamed; `Fate::Renamed` has the new identity.
    resources: ByName<'a, Fate<'a>>,
    /// Keys that were removed from the data of a resource.
    keys: ByName<'a, HashSet<&'a str>>,
    /// The names of all these resources.
    names: Names,
}

enum Fate<'a> {
    Deleted,
    Renamed(Named<'a>),
    NotHere,
}

impl<'a> Lost<'a> {
    fn of(members: &[Member<'_, 'a>], becomes: &[Option<After<'_, 'a>>]) -> Self {
        let mut lost = Self { resources: HashMap::new(), keys: HashMap::new(), names: Names::default() };
        for (member, after) in members.iter().zip(becomes) {
            let is_here = member.sides.dest.is_some();
            let Some(before) = member.sides.dest.or(member.sides.updated) else { continue };
            if after.as_ref().is_some_and(|after| after.is(before)) {
                continue;
            }
            let before = View::Node(before.node());
            let after = after.as_ref().and_then(After::view);
            if matches!((before, after), (View::Node(before), Some(View::Node(after))) if after.is(before)) {
                continue;
            }
            let Some(old) = Named::of(before) else { continue };
            let new = after.and_then(Named::of);
            let fate = match (is_here, &new) {
                (_, Some(new)) if *new == old => None,
                (true, Some(new)) => Some(Fate::Renamed(new.clone())),
                (true, None) => Some(Fate::Deleted),
                (false, Some(_)) => None,
                (false, None) => Some(Fate::NotHere),
            };
            match (fate, after) {
                (Some(fate), _) => lost.resources.entry(key(&old)).or_default().push((old, fate)),
                (None, Some(after)) => {
                    let mut gone: HashSet<&str> = keys_of(before).into_iter().collect();
                    if !gone.is_empty() {
                        keys_of(after).into_iter().for_each(|key| _ = gone.remove(key));
                    }
                    if !gone.is_empty() {
                        lost.keys.entry(key(&old)).or_default().push((old, gone));
                    }
                }
                (None, None) => {}
            }
        }
        let all = lost.resources.keys().chain(lost.keys.keys());
        lost.names = Names::of(all.map(|[_, _, name]| name));
        lost
    }

    fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.keys.is_empty()
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
