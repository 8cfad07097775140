//! [`PackageRename`]: how one side renamed the resources of a package as a whole: another namespace, and something before or behind each name.
//!
//! The resources that are paired already say it, each with its old and its new identity. What all of them agree on holds for the others, too.

use std::borrow::Cow;
use std::hash::Hash;

use krm_schema::scope::is_cluster_scoped;
use krm_tree::sides::{Side, Sides};
use krm_yaml::NodeRef;
use krm_yaml::hashed::{HashMap, HashSet};

use crate::resource::{Identity, Resource};

/// How a side renamed a package. It is empty if the side did not.
#[derive(Debug, Default)]
pub(super) struct PackageRename<'a> {
    namespaces: HashMap<&'a str, Common<'a, &'a str>>,
    names: Option<Common<'a, Affixes<'a>>>,
    /// The custom types outside of all namespaces, by group and kind.
    cluster_scoped: HashSet<(&'a str, &'a str)>,
}

/// A change that most resources of a package have in common.
#[derive(Clone, Copy, Debug)]
struct Common<'a, T> {
    change: T,
    majority: Majority<'a>,
}

/// How many resources have a change in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Majority<'a> {
    /// The number of resources that have it.
    pub count: usize,
    /// The number of resources that could have it.
    pub all: usize,
    /// An old and a new name.
    pub example: [&'a str; 2],
}

/// A namespace and a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewName<'a> {
    /// The namespace; empty for none.
    pub namespace: Cow<'a, str>,
    /// The name.
    pub name: Cow<'a, str>,
}

/// A part of a new resource's identity that most resources of the package changed, but not all, so that it is unclear what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unclear<'a> {
    /// The field.
    pub field: &'static str,
    /// Those that changed it.
    pub majority: Majority<'a>,
}

/// What stands before and behind the part of a name that stays, in the old name and in the new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Affixes<'a> {
    old: [&'a str; 2],
    new: [&'a str; 2],
}

impl<'a> Affixes<'a> {
    /// `None` if the names have nothing in common.
    fn between(old: &'a str, new: &'a str) -> Option<Self> {
        let around = |outer: &'a str, inner: &str| {
            let at = if outer.ends_with(inner) { outer.len() - inner.len() } else { outer.find(inner)? };
            Some([&outer[..at], &outer[at + inner.len()..]])
        };
        if let Some(new) = around(new, old) {
            return Some(Self { old: [""; 2], new });
        }
        if let Some(old) = around(old, new) {
            return Some(Self { old, new: [""; 2] });
        }
        let length = |same: &mut dyn Iterator<Item = (char, char)>| -> usize {
            same.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
        };
        let before = length(&mut old.chars().zip(new.chars()));
        let behind = length(&mut old.chars().rev().zip(new.chars().rev()));
        match before.max(behind) {
            0 => None,
            _ if behind >= before => {
                Some(Self { old: [&old[..old.len() - behind], ""], new: [&new[..new.len() - behind], ""] })
            }
            _ => Some(Self { old: ["", &old[before..]], new: ["", &new[before..]] }),
        }
    }

    /// The new form of a name; `None` if it has not got what stands around the others.
    fn applied(self, name: &str) -> Option<String> {
        let stem = name.strip_prefix(self.old[0])?.strip_suffix(self.old[1])?;
        (!stem.is_empty()).then(|| [self.new[0], stem, self.new[1]].concat())
    }

    /// Whether a name that nobody changed looks as if it were changed already.
    fn are_around(self, name: &str) -> bool {
        self.new != [""; 2] && name.strip_prefix(self.new[0]).is_some_and(|rest| rest.ends_with(self.new[1]))
    }
}

/// Kinds whose names say what they are, so that a prefix of a package is never before them. Source: kustomize's `namePrefix`.
const NAMED_BY_MEANING: [(&str, &str); 2] =
    [("apiextensions.k8s.io", "CustomResourceDefinition"), ("apiregistration.k8s.io", "APIService")];

/// The groups of files that tools keep beside the resources of a package.
const OF_TOOLS: [&str; 3] = ["kpt.dev", "kustomize.config.k8s.io", "config.kubernetes.io"];

/// A part of an identity before and after the change of a side.
type PartChange<'a> = [&'a str; 2];

impl<'a> PackageRename<'a> {
    /// How `side` renamed the package, by resources that are the same on several sides.
    pub fn of<'r>(all: impl Iterator<Item = Sides<Option<&'r Resource<'a>>>> + Clone, side: Side) -> Self
    where
        'a: 'r,
    {
        let identities = |sides: Sides<Option<&Resource<'a>>>| sides.map(|one| one.and_then(|one| one.identity));
        let called = |identity: Identity<'a>| (identity.namespace, identity.name);
        let is_renamed = |sides: Sides<Option<&Resource<'a>>>| {
            let own = sides[side].and_then(|own| own.identity).map(called);
            let mut others = sides.iter().filter_map(|(_, other)| other.as_ref()?.identity.map(called));
            own.is_some() && others.any(|other| Some(other) != own)
        };
        if !all.clone().any(is_renamed) {
            return Self::default();
        }
        let definitions = all.clone().flat_map(|sides| Side::ALL.map(|side| sides[side])).flatten();
        let definitions = definitions.filter(|resource| resource.is_definition()).map(Resource::node);
        let mut found =
            Self { cluster_scoped: definitions.filter_map(cluster_scoped_type).collect(), ..Self::default() };
        let mut of_namespaces: HashMap<&'a str, Vec<PartChange<'a>>> = HashMap::default();
        let mut of_names = Vec::new();
        let other = if side == Side::Dest { Side::Updated } else { Side::Dest };
        for ids in all.map(identities) {
            let Some(own) = ids[side] else { continue };
            // What the other side deleted goes, and has no name in a second run.
            let goes = ids.original.is_some() && ids[other].is_none();
            if goes || OF_TOOLS.contains(&group_of(own)) {
                continue;
            }
            let changes = |of: fn(Identity<'a>) -> &'a str| changes(ids.map(|id| id.map(of)), side);
            let name = changes(|id| id.name);
            if found.may_have_affixes(own) {
                of_names.push(name);
            }
            if !is_namespace(own) && found.is_cluster_scoped(own) {
                continue;
            }
            let part: fn(Identity<'a>) -> &'a str = if is_namespace(own) { |id| id.name } else { |id| id.namespace };
            // What is only on this side says that it uses the namespace, and so does what it left there. If both sides moved a resource, nobody
            // knows where to.
            let [moved, of_both] = changes(part);
            let is_alone = ids.iter().all(|(of, id)| of == side || id.is_none());
            let is_left = ids.original.is_some_and(|was| part(was) == part(own));
            let stays = if is_alone || is_left { Some(part(own)) } else { of_both.and(moved).map(|change| change[0]) };
            let stays = stays.map(|stays| [stays; 2]);
            let all = moved.filter(|_| moved != stays).into_iter().chain(stays);
            all.for_each(|change| of_namespaces.entry(change[0]).or_default().push(change));
        }
        let namespace = |(old, changes): (&'a str, Vec<PartChange<'a>>)| {
            let moved = changes.iter().filter(|[old, new]| old != new);
            Some((old, most_common(moved.map(|change| (*change, Some(change[1]))), changes.len())?))
        };
        found.namespaces = of_namespaces.into_iter().filter_map(namespace).collect();
        found.names = common_affixes(&of_names);
        found
    }

    /// Whether the side changed nothing in common.
    pub fn is_none(&self) -> bool {
        self.namespaces.is_empty() && self.names.is_none()
    }

    /// The namespace and the name of a resource after the changes on which all agree.
    pub fn applied(&self, identity: Identity<'a>) -> NewName<'a> {
        let namespace = self.new_namespace(identity).filter(|common| common.majority.is_of_all());
        let namespace = namespace.map_or(identity.namespace, |common| common.change);
        let new = if is_namespace(identity) {
            let common = self.namespaces.get(identity.name).filter(|common| common.majority.is_of_all());
            common.map(|common| common.change.to_owned())
        } else {
            let common = self.new_affixes(identity).filter(|common| common.majority.is_of_several());
            common.and_then(|common| common.change.applied(identity.name))
        };
        let name = new.map_or(Cow::Borrowed(identity.name), Cow::Owned);
        NewName { namespace: Cow::Borrowed(namespace), name }
    }

    /// The parts of a new resource's identity that most resources changed, and that [`PackageRename::applied`] leaves alone.
    pub fn unclear(&self, identity: Identity<'a>) -> Vec<Unclear<'a>> {
        let namespace = self.new_namespace(identity).filter(|common| !common.majority.is_of_all());
        let name = self.names.filter(|_| self.may_have_affixes(identity));
        let name = name.filter(|common| !common.majority.is_of_several() || common.change.are_around(identity.name));
        let of_namespace = namespace.map(|common| ("metadata.namespace", common.majority));
        let of_name = name.map(|common| ("metadata.name", common.majority));
        let all = of_namespace.into_iter().chain(of_name).filter(|(_, majority)| majority.is_half());
        all.map(|(field, majority)| Unclear { field, majority }).collect()
    }

    fn new_namespace(&self, identity: Identity<'a>) -> Option<Common<'a, &'a str>> {
        let common = self.namespaces.get(identity.namespace).copied();
        common.filter(|_| !self.is_cluster_scoped(identity) && !OF_TOOLS.contains(&group_of(identity)))
    }

    fn new_affixes(&self, identity: Identity<'a>) -> Option<Common<'a, Affixes<'a>>> {
        // The team may have left alone a name that has the prefix already, or not.
        self.names.filter(|common| self.may_have_affixes(identity) && !common.change.are_around(identity.name))
    }

    fn may_have_affixes(&self, identity: Identity<'_>) -> bool {
        let group = group_of(identity);
        !is_namespace(identity) && !NAMED_BY_MEANING.contains(&(group, identity.kind)) && !OF_TOOLS.contains(&group)
    }

    fn is_cluster_scoped(&self, identity: Identity<'_>) -> bool {
        let of = (group_of(identity), identity.kind);
        is_cluster_scoped(of.0, of.1) || self.cluster_scoped.contains(&of)
    }
}

impl Majority<'_> {
    fn is_of_all(&self) -> bool {
        self.count == self.all
    }

    /// One new name says nothing about the other names of a package.
    fn is_of_several(&self) -> bool {
        self.is_of_all() && self.count > 1
    }

    fn is_half(&self) -> bool {
        self.count * 2 >= self.all
    }
}

/// The change of a part that `side` made, since original and since the other side. What it left alone gets what the other side made of it, so
/// that it says the same after a merge.
fn changes<'a>(part: Sides<Option<&'a str>>, side: Side) -> [Option<PartChange<'a>>; 2] {
    let other = if side == Side::Dest { Side::Updated } else { Side::Dest };
    let (was, there) = (part.original, part[other]);
    let own = if part[side] == was { there.or(was) } else { part[side] };
    match (was, there) {
        (Some(_), Some(_)) if was != there => [was, there].map(|old| Some([old?, own?])),
        _ => [was.or(there).zip(own).map(|(old, own)| [old, own]), None],
    }
}

/// The vote that most of `all` resources have; of several, the first one in order.
fn most_common<'a, T: Hash + Ord + Copy>(
    votes: impl Iterator<Item = (PartChange<'a>, Option<T>)>,
    all: usize,
) -> Option<Common<'a, T>> {
    let mut found: HashMap<T, (usize, PartChange<'a>)> = HashMap::default();
    for (example, vote) in votes {
        if let Some(vote) = vote {
            found.entry(vote).or_insert((0, example)).0 += 1;
        }
    }
    let best = found.into_iter().max_by(|a, b| (a.1.0, b.0).cmp(&(b.1.0, a.0)))?;
    let (change, (count, example)) = best;
    Some(Common { change, majority: Majority { count, all, example } })
}

/// The change that most names have in common, by the changes of each since original and since the other side.
fn common_affixes<'a>(all: &[[Option<PartChange<'a>>; 2]]) -> Option<Common<'a, Affixes<'a>>> {
    let vote = |change: &PartChange<'a>| {
        let [old, new] = *change;
        (*change, Affixes::between(old, new).filter(|_| !new.is_empty()))
    };
    let is_change = |affixes: &Affixes<'_>| *affixes != Affixes::default();
    let votes = all.iter().flatten().flatten().map(vote);
    let best = most_common(votes.filter(|(_, affixes)| affixes.as_ref().is_some_and(is_change)), all.len())?;
    // A name that has the prefix already, or has not got the one that goes, may stay as it is.
    let may_change = |old: &str| !best.change.are_around(old) && best.change.applied(old).is_some();
    let counts = |[old, new]: PartChange<'a>| old != new || may_change(old);
    let count = all.iter().filter(|changes| changes[0].is_some_and(counts)).count();
    // If upstream renamed a resource, too, its name is that of upstream, changed alike. If it renamed half of them, nobody knows how.
    let of_both = all.iter().filter(|changes| changes[1].is_some());
    let are_clear = of_both.clone().count() * 2 < all.len()
        && of_both.flatten().flatten().all(|[old, new]| old == new || best.change.applied(old).is_some());
    let all = count + usize::from(!are_clear);
    Some(Common { majority: Majority { all, ..best.majority }, ..best })
}

fn group_of(identity: Identity<'_>) -> &str {
    identity.api_version.split_once('/').map_or("", |(group, _)| group)
}

fn is_namespace(identity: Identity<'_>) -> bool {
    (identity.api_version, identity.kind) == ("v1", "Namespace")
}

/// The group and kind of a definition, if its resources are outside of all namespaces.
fn cluster_scoped_type(definition: NodeRef<'_>) -> Option<(&str, &str)> {
    let text = |path: &[&str]| definition.at(path)?.as_str();
    let is_cluster_scoped = text(&["spec", "scope"])? == "Cluster";
    let of = (text(&["spec", "group"])?, text(&["spec", "names", "kind"])?);
    is_cluster_scoped.then_some(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Origin;
    use krm_yaml::Document;

    /// The new identity of each new resource, and what is unclear of it. A resource is `kind namespace/name`.
    fn renamed(pairs: &[[&str; 2]], new: &str) -> (String, Vec<String>) {
        let document = |written: &str| {
            let (kind, name) = written.split_once(' ').expect("a kind");
            let (namespace, name) = name.split_once('/').expect("a namespace");
            let version = if kind == "ClusterRole" { "rbac.authorization.k8s.io/v1" } else { "v1" };
            let text = format!(
                "{{apiVersion: {version}, kind: {kind}, metadata: {{name: {name}, namespace: '{namespace}'}}}}"
            );
            Document::parse(text).expect("valid")
        };
        let documents: Vec<[Document<'static>; 2]> = pairs.iter().map(|pair| pair.map(document)).collect();
        let new = document(new);
        let read = |document| Resource::read(Document::roots(document).next().expect("a root"), Origin::Item(0));
        let resources: Vec<[Resource<'_>; 2]> = documents.iter().map(|pair| pair.each_ref().map(read)).collect();
        let all = resources.iter().map(|[old, own]| Sides { original: Some(old), updated: Some(old), dest: Some(own) });
        let found = PackageRename::of(all, Side::Dest);
        let identity = read(&new).identity.expect("an identity");
        let NewName { namespace, name } = found.applied(identity);
        let unclear = found.unclear(identity);
        let unclear = unclear.iter().map(|one| format!("{} {}/{}", one.field, one.majority.count, one.majority.all));
        (format!("{namespace}/{name}"), unclear.collect())
    }

    #[test]
    fn a_new_resource_gets_the_names_on_which_all_agree() {
        for (pairs, new, want, unclear) in [
            (&[["A s/a", "A t/a"], ["B s/b", "B t/b"]][..], "A s/c", "t/c", &[][..]),
            (&[["A s/a", "A t/a"]], "A s/c", "t/c", &[]),
            (&[["A s/a", "A t/a"]], "A x/c", "x/c", &[]),
            (&[["A s/a", "A t/a"], ["B x/b", "B x/b"]], "A s/c", "t/c", &[]),
            (&[["A s/a", "A t/a"], ["B s/b", "B s/b"]], "A s/c", "s/c", &["metadata.namespace 1/2"]),
            (&[["A s/a", "A t/a"], ["B s/b", "B s/b"], ["B s/c", "B s/c"]], "A s/d", "s/d", &[]),
            (&[["A /a", "A t/a"], ["ClusterRole /b", "ClusterRole /b"]], "A /c", "t/c", &[]),
            (&[["A /a", "A t/a"], ["ClusterRole /b", "ClusterRole /b"]], "ClusterRole /c", "/c", &[]),
            (&[["A s/a", "A /a"]], "A s/c", "/c", &[]),
            (&[["Namespace /s", "Namespace /t"], ["A s/a", "A t/a"]], "A s/c", "t/c", &[]),
            (&[["A s/a", "A t/a"], ["B s/b", "B t/b"]], "Namespace /s", "/t", &[]),
            (&[["A /a", "A /t-a"], ["B /b", "B /t-b"]], "A /c", "/t-c", &[]),
            (&[["A /a", "A /a-t"], ["B /b", "B /b-t"]], "A /c", "/c-t", &[]),
            (&[["A s/a", "A t/x-a-y"], ["B s/b", "B t/x-b-y"]], "A s/c", "t/x-c-y", &[]),
            (&[["A /x-a", "A /a"], ["B /x-b", "B /b"]], "A /x-c", "/c", &[]),
            (&[["A /x-a", "A /a"], ["B /x-b", "B /b"]], "A /c", "/c", &[]),
            (&[["A /dev-a", "A /prod-a"], ["B /dev-b", "B /prod-b"]], "A /dev-c", "/prod-c", &[]),
            (&[["A /dev-a", "A /prod-a"], ["B /dev-b", "B /prod-b"], ["B /x", "B /x"]], "A /dev-c", "/prod-c", &[]),
            // One new name says nothing about the others; nor do some of several.
            (&[["A /a", "A /t-a"]], "A /c", "/c", &["metadata.name 1/1"]),
            (&[["A /a", "A /t-a"], ["B /b", "B /t-b"], ["B /c", "B /c"]], "A /d", "/d", &["metadata.name 2/3"]),
            (&[["A /a", "A /t-a"], ["B /b", "B /b"], ["B /c", "B /c"]], "A /d", "/d", &[]),
            // The prefix is there already.
            (&[["A /a", "A /t-a"], ["B /b", "B /t-b"]], "A /t-c", "/t-c", &["metadata.name 2/2"]),
            (&[["A /a", "A /t-a"], ["B /b", "B /t-b"], ["B /t-d", "B /t-d"]], "A /c", "/t-c", &[]),
            (&[["A /a", "A /t-a"], ["B /b", "B /t-b"]], "Namespace /c", "/c", &[]),
        ] {
            let unclear: Vec<String> = unclear.iter().map(|one: &&str| (*one).to_owned()).collect();
            assert_eq!(renamed(pairs, new), (want.to_owned(), unclear), "{pairs:?} {new}");
        }
    }
}
