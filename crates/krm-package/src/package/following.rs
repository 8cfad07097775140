//! [`Following`]: what upstream adds and deletes in a package that the team renamed as a whole.
//!
//! The merge of one resource knows nothing of the others. So this changes what becomes of it: a new resource gets the names that the team gave
//! to all others, also where resources refer to each other, and a name that all resources got is no change of one of them.

use std::borrow::Cow;
use std::cell::LazyCell;

use krm_merge_core::merge::Walked;
use krm_schema::reference::{NamedResource, Names, Reference, references};
use krm_tree::child::Value as _;
use krm_tree::path::{FieldPath, Step};
use krm_tree::sides::{Side, Sides};
use krm_tree::tree::{Made, Pick, Quotes, Tree, View, decide};
use krm_yaml::hashed::{HashMap, HashSet};

use super::package_rename::{NewName, PackageRename, Unclear};
use super::{Becomes, Member};
use crate::layout::Upstream;
use crate::resource::{Identity, Resource};
use crate::transport;

/// The renames of a whole package.
#[derive(Debug)]
pub struct Following<'a> {
    of_dest: PackageRename<'a>,
    of_updated: PackageRename<'a>,
    /// The new name of each resource, by the identity that upstream's references have.
    known: HashMap<NamedResource<'a>, NewName<'a>>,
    /// The old names of these resources.
    old: Names,
}

/// What the owner of a package that was renamed as a whole should know.
#[derive(Clone, Debug)]
pub enum NameNote<'r, 'a> {
    /// A new resource of upstream got another name or namespace, as all resources of the package have in dest.
    Added {
        /// Updated's resource.
        updated: &'r Resource<'a>,
        /// What it is called in dest.
        new: NewName<'a>,
    },
    /// Most resources of the package have other names or another namespace in dest, and a new one of upstream has not.
    Unclear {
        /// Updated's resource.
        updated: &'r Resource<'a>,
        /// What nobody knows of its new identity.
        unclear: Vec<Unclear<'a>>,
    },
    /// Dest's resource goes, because upstream deleted it. Dest renamed it as all resources of the package, and changed nothing else.
    Deleted {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// Original's resource.
        original: &'r Resource<'a>,
    },
}

impl<'r, 'a> NameNote<'r, 'a> {
    /// The resource that it is about.
    pub fn resource(&self) -> &'r Resource<'a> {
        match self {
            Self::Added { updated, .. } | Self::Unclear { updated, .. } => updated,
            Self::Deleted { dest, .. } => dest,
        }
    }
}

impl<'a> Following<'a> {
    /// The renames of a package with these resources.
    pub fn of(members: &[Member<'_, 'a>]) -> Self {
        let all = members.iter().map(|member| member.sides);
        let of_dest = PackageRename::of(all.clone(), Side::Dest);
        let of_updated = PackageRename::of(all, Side::Updated);
        let mut known = HashMap::default();
        if !of_dest.is_none() {
            let new = |member: &Member<'_, 'a>| {
                let old = member.sides.updated.or(member.sides.original)?.identity?;
                let new = new_name(&of_dest, member)?;
                (new != NewName::from(old)).then(|| (named(old), new))
            };
            // What upstream renamed has its old name in original's references.
            let was = |member: &Member<'_, 'a>| {
                let old = member.sides.original?.identity?;
                let new = of_dest.applied(old);
                (new != NewName::from(old)).then(|| (named(old), new))
            };
            known.extend(members.iter().filter_map(was));
            known.extend(members.iter().filter_map(new));
        }
        let old = known.keys().map(|named| &*named.name).collect();
        Self { of_dest, of_updated, known, old }
    }

    /// What becomes of a resource as the renames have it, and what its owner should know of them.
    pub fn applied<'r>(
        &self,
        member: &Member<'r, 'a>,
        becomes: Becomes<'a>,
    ) -> (Becomes<'a>, Option<NameNote<'r, 'a>>) {
        let Sides { original, updated, dest } = member.sides;
        match (becomes, original, updated, dest) {
            (Becomes::Arrived(Some(tree)), _, Some(updated), _) if !self.of_dest.is_none() => {
                let (tree, note) = self.arrived(tree, updated);
                (Becomes::Arrived(Some(tree)), note)
            }
            (Becomes::Deleted(places), Some(original), _, Some(dest))
                if !places.is_empty() && self.is_renamed_alone(&self.of_dest, [original, dest]) =>
            {
                (Becomes::Deleted(Vec::new()), Some(NameNote::Deleted { dest, original }))
            }
            (Becomes::StaysDeleted(_), Some(original), Some(updated), _)
                if self.is_renamed_alone(&self.of_updated, [original, updated]) =>
            {
                (Becomes::StaysDeleted(Vec::new()), None)
            }
            (Becomes::Merged(merged, upstream), _, Some(updated), Some(dest))
                if !self.known.is_empty() && !merged.tree.as_ref().is_some_and(|tree| tree.is(dest.node())) =>
            {
                let tree = merged.tree.and_then(|tree| self.decided(tree, member));
                let new = tree.map(|tree| self.with_new_references(tree, [updated, dest]));
                let is_new = new.as_ref().is_some_and(|(_, is_new)| *is_new);
                let merged = Walked { tree: new.map(|(tree, _)| tree), ..merged };
                (Becomes::Merged(merged, if is_new { Upstream::Unknown } else { upstream }), None)
            }
            (becomes, ..) => (becomes, None),
        }
    }

    /// A new resource of upstream with its new names, and what its owner should know of them.
    fn arrived<'r>(&self, tree: Tree<'a>, updated: &'r Resource<'a>) -> (Tree<'a>, Option<NameNote<'r, 'a>>) {
        let Some(old) = updated.identity else { return (tree, None) };
        let tree = self.with_references(tree);
        let new = self.of_dest.applied(old);
        let unclear = self.of_dest.unclear(old);
        if !unclear.is_empty() {
            return (named_anew(tree, old, new), Some(NameNote::Unclear { updated, unclear }));
        }
        if new == NewName::from(old) {
            return (tree, None);
        }
        (named_anew(tree, old, new.clone()), Some(NameNote::Added { updated, new }))
    }

    /// Whether the second resource is the first one after the rename of its package, and nothing else is different.
    fn is_renamed_alone(&self, rename: &PackageRename<'a>, [old, new]: [&Resource<'a>; 2]) -> bool {
        let (Some(was), Some(is)) = (old.identity, new.identity) else { return false };
        if rename.is_none() || rename.applied(was) != NewName::from(is) || NewName::from(was) == NewName::from(is) {
            return false;
        }
        let tree = self.with_references(Tree::Node(old.node()));
        let tree = named_anew(tree, was, NewName::from(is));
        let meaning = |tree| transport::without_host_and_note(tree).view().map(View::meaning);
        meaning(tree) == meaning(Tree::Node(new.node()))
    }

    /// The references of a tree, if it may have some to a resource with a new name. Most have none.
    fn references_in(&self, tree: &Tree<'a>) -> Vec<Reference<'a>> {
        tree.view().filter(|view| self.old.are_in(*view)).map(references).unwrap_or_default()
    }

    /// A tree of upstream's resource with new names in its references.
    fn with_references(&self, tree: Tree<'a>) -> Tree<'a> {
        self.references_in(&tree).into_iter().fold(tree, |tree, reference| match self.known.get(&reference.to) {
            Some(new) => renamed(tree, &reference, new),
            None => tree,
        })
    }

    /// A merged resource in which upstream's new references have new names, and whether there are some.
    fn with_new_references(&self, tree: Tree<'a>, [updated, dest]: [&Resource<'a>; 2]) -> (Tree<'a>, bool) {
        let space = |resource: &Resource<'a>| resource.identity.map(|identity| identity.namespace).unwrap_or_default();
        let [theirs, own] = [updated, dest].map(space);
        // Most resources refer to none that was renamed, so dest's own references are looked for only then.
        let before = LazyCell::new(|| {
            references(View::Node(dest.node())).into_iter().map(|own| own.to).collect::<HashSet<NamedResource<'_>>>()
        });
        let found = self.references_in(&tree);
        let new = found.into_iter().filter_map(|reference| {
            // Without a namespace, it is in that of its resource.
            let of_own = || NamedResource { namespace: Cow::Borrowed(theirs), ..reference.to.clone() };
            let is_own = reference.to.namespace == own;
            let new = self.known.get(&reference.to).or_else(|| self.known.get(&of_own()).filter(|_| is_own))?;
            (!before.contains(&reference.to)).then_some((reference, new))
        });
        let new: Vec<_> = new.collect();
        let is_new = !new.is_empty();
        let tree = new
            .into_iter()
            .rev()
            .fold(tree, |tree, (reference, new)| without_twin(renamed(tree, &reference, new), &reference.path));
        (tree, is_new)
    }

    /// A merged resource in which what only the rename of the package made different is no conflict.
    fn decided(&self, tree: Tree<'a>, member: &Member<'_, 'a>) -> Option<Tree<'a>> {
        // Most resources have no conflict that asks for them.
        let [original, updated] = [member.sides.original, member.sides.updated]
            .map(|side| LazyCell::new(move || side.map(|side| self.renamed(side))));
        let new = new_name(&self.of_dest, member);
        let mut is_named = false;
        let tree = decide(tree, &mut |conflict| {
            let way = conflict.path.steps_by_index();
            let own = conflict.dest.as_ref()?.view()?.meaning();
            let is = |tree: &Option<Tree<'a>>| {
                tree.as_ref().and_then(|tree| at(tree.view()?, &way)).is_some_and(|view| view.meaning() == own)
            };
            if is(&updated) {
                return Some(Pick::Dest);
            }
            let is_name =
                [["metadata", "name"], ["metadata", "namespace"]].iter().any(|name| conflict.path.is_fields(name));
            is_named |= is_name && new.is_some() && is(&original);
            (is(&original) && (!is_name || new.is_some())).then_some(Pick::Updated)
        })?;
        Some(match new.filter(|_| is_named) {
            Some(new) => transport::with_name(tree, new.namespace, new.name),
            None => tree,
        })
    }

    /// A resource of upstream with its new names.
    fn renamed(&self, resource: &Resource<'a>) -> Tree<'a> {
        let tree = self.with_references(Tree::Node(resource.node()));
        match resource.identity {
            Some(old) => named_anew(tree, old, self.of_dest.applied(old)),
            None => tree,
        }
    }
}

/// A tree without the list element that holds a place, if another element of the list means the same: with its new name, it is one that dest
/// has already.
fn without_twin<'a>(tree: Tree<'a>, path: &FieldPath<'a>) -> Tree<'a> {
    let way = path.steps_by_index();
    let Some(last) = way.iter().rposition(|step| matches!(step, Step::Index(_))) else { return tree };
    let meaning = |view: View<'_, 'a>| view.meaning();
    let is_twin = tree.view().is_some_and(|root| {
        let (Some(list), Some(own)) = (at(root, &way[..last]), at(root, &way[..=last])) else { return false };
        list.elements().into_iter().map(meaning).filter(|other| *other == own.meaning()).count() > 1
    });
    if is_twin { tree.replaced(&way[..=last], None) } else { tree }
}

/// The value at a place.
fn at<'t, 'a>(view: View<'t, 'a>, way: &[Step<'_>]) -> Option<View<'t, 'a>> {
    let Some((step, way)) = way.split_first() else { return Some(view) };
    at(
        match step {
            Step::Field(name) => view.field(name)?,
            Step::Index(index) => *view.elements().get(*index)?,
            Step::Element(_) | Step::Value(_) => return None,
        },
        way,
    )
}

/// What a resource of upstream is called in dest after the merge; `None` if both sides gave it another name, or another namespace.
fn new_name<'a>(rename: &PackageRename<'a>, member: &Member<'_, 'a>) -> Option<NewName<'a>> {
    let ids = member.sides.map(|side| side.and_then(|side| side.identity));
    let there = ids.updated.or(ids.original)?;
    let new = rename.applied(there);
    let Some(own) = ids.dest else { return Some(new) };
    let was = ids.original.unwrap_or(there);
    let renamed = rename.applied(was);
    let part = |of: fn(&Identity<'a>) -> &'a str, renamed: &Cow<'a, str>, new: Cow<'a, str>| {
        let [was, there, own] = [&was, &there, &own].map(of);
        match () {
            () if own == was => Some(Cow::Borrowed(there)),
            () if there == was || there == own => Some(Cow::Borrowed(own)),
            () => (*renamed == own && new != there).then_some(new),
        }
    };
    Some(NewName {
        namespace: part(|id| id.namespace, &renamed.namespace, new.namespace)?,
        name: part(|id| id.name, &renamed.name, new.name)?,
    })
}

impl<'a> From<Identity<'a>> for NewName<'a> {
    fn from(identity: Identity<'a>) -> Self {
        Self { namespace: Cow::Borrowed(identity.namespace), name: Cow::Borrowed(identity.name) }
    }
}

fn named(identity: Identity<'_>) -> NamedResource<'_> {
    NamedResource {
        group: Cow::Borrowed(identity.api_version.split_once('/').map_or("", |(group, _)| group)),
        kind: Cow::Borrowed(identity.kind),
        namespace: Cow::Borrowed(identity.namespace),
        name: Cow::Borrowed(identity.name),
    }
}

fn named_anew<'a>(tree: Tree<'a>, old: Identity<'a>, new: NewName<'a>) -> Tree<'a> {
    if new == NewName::from(old) { tree } else { transport::with_name(tree, new.namespace, new.name) }
}

/// The field for the namespace beside the name of a reference.
fn in_space<'a>(path: &FieldPath<'a>) -> FieldPath<'a> {
    let mut space = path.clone();
    space.pop();
    space.push(Step::Field(Cow::Borrowed("namespace")), None);
    space
}

/// A tree with a new name in a reference, also for the namespace, if that is written.
fn renamed<'a>(tree: Tree<'a>, reference: &Reference<'a>, new: &NewName<'a>) -> Tree<'a> {
    let text = |value: &Cow<'a, str>| Tree::from(Made { value: value.clone(), quotes: Quotes::Needed });
    let tree = if reference.to.name == new.name {
        tree
    } else {
        tree.replaced(&reference.path.steps_by_index(), Some(text(&new.name)))
    };
    if reference.to.namespace == new.namespace || new.namespace.is_empty() {
        return tree;
    }
    tree.replaced(&in_space(&reference.path).steps_by_index(), Some(text(&new.namespace)))
}
