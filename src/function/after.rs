//! [`After`]: a resource of a package after a three-way merge.

use std::borrow::Cow;

use krm_merge::documents::Item;
use krm_merge::reference::{Named, made_of};
use krm_merge::resource::{Identity, Resource};
use krm_merge::tree::{Tree, View};
use krm_merge::yaml::{Document, NodeRef};

/// A resource after the merge. Most questions about it need no nodes, so a large package has few of them in memory.
pub(super) enum After<'r, 'a> {
    /// A resource that is as it was, apart from its layout and the annotation of its role.
    Kept(&'r Resource<'a>),
    /// A resource that the merge made.
    Made(Tree<'a>),
    /// A resource of dest that the merge changed, and whose nodes were dropped.
    Edited {
        /// The resource as it was.
        dest: &'r Resource<'a>,
        /// Its names, see [`After::names`]; `None` if its only name is that of `dest`.
        names: Option<Vec<Named<'static>>>,
    },
}

/// The content of a resource whose nodes were dropped, read again.
pub(super) struct Reread<'t>(Document<'t>);

impl<'t> Reread<'t> {
    /// Reads the text of [`After::unread_text`].
    pub fn of(text: Cow<'t, str>) -> Option<Self> {
        let read = Document::parse(text);
        debug_assert!(read.is_ok(), "a merged resource can be read: {read:?}");
        read.ok().map(Self)
    }

    /// The resource, which is the one element of a list in this text.
    pub fn view(&self) -> Option<View<'_, '_>> {
        self.0.roots().next().and_then(|list| list.elements().next()).map(View::Node)
    }
}

impl<'r, 'a> After<'r, 'a> {
    /// What stays known of a resource of dest when the nodes of its merge are dropped.
    pub fn of_merged(dest: &'r Resource<'a>, before: NodeRef<'_>, merged: &Tree<'_>) -> Self {
        if merged.is(before) {
            return Self::Kept(dest);
        }
        let names: Vec<_> = merged.view().into_iter().flat_map(names_of).collect();
        let is_same = name_of(dest).is_some_and(|name| names == [name]);
        let names = (!is_same).then(|| names.into_iter().map(Named::into_owned).collect());
        Self::Edited { dest, names }
    }

    /// Whether it is this resource as it was.
    pub fn is(&self, resource: &Resource<'a>) -> bool {
        matches!(self, Self::Kept(kept) if std::ptr::eq(*kept, resource))
    }

    /// Its content, unless its nodes were dropped.
    pub fn view(&self) -> Option<View<'_, 'a>> {
        match self {
            Self::Kept(resource) => Some(View::Node(resource.node())),
            Self::Made(tree) => tree.view(),
            Self::Edited { .. } => None,
        }
    }

    /// Its text, if that is all that was kept of it. `items` has the edits of the run.
    pub fn unread_text(&self, items: &[Item]) -> Option<Cow<'a, str>> {
        match self {
            Self::Kept(resource) => resource.unread_text().map(Cow::Borrowed),
            Self::Made(_) => None,
            Self::Edited { dest, .. } => match dest.origin.item().and_then(|item| items.get(item)) {
                Some(Item::Edited(edits)) => dest.edited_text(edits).map(Cow::Owned),
                _ => None,
            },
        }
    }

    /// Its name, and the names of the resources that controllers and kustomize make of it.
    pub fn names(&self) -> Vec<Named<'a>> {
        match self {
            Self::Edited { names: Some(names), .. } => names.clone(),
            Self::Edited { dest, names: None } => name_of(dest).into_iter().collect(),
            Self::Kept(resource) if resource.unread_text().is_some() => match name_of(resource) {
                Some(name) if !name.may_make_others() => vec![name],
                _ => names_of(View::Node(resource.node())).collect(),
            },
            Self::Kept(_) | Self::Made(_) => self.view().into_iter().flat_map(names_of).collect(),
        }
    }
}

/// The name of a resource, by its identity.
fn name_of<'a>(resource: &Resource<'a>) -> Option<Named<'a>> {
    let Identity { api_version, kind, namespace, name } = resource.identity?;
    Some(Named::of_identity([api_version, kind, namespace, name]))
}

/// The name of a resource, and of those that are made of it.
fn names_of<'a>(resource: View<'_, 'a>) -> impl Iterator<Item = Named<'a>> {
    Named::of(resource).into_iter().chain(made_of(resource))
}
