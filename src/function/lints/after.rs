//! [`After`]: what a package has of a resource after a merge.

use krm_merge::reference::{Named, made_of};
use krm_merge::resource::{Identity, Resource};
use krm_merge::tree::{Tree, View};

/// What a package has of a resource after a merge.
pub(in super::super) enum After<'r, 'a> {
    /// A resource that is as it was, apart from its layout and the annotation of its role.
    Kept(&'r Resource<'a>),
    /// A resource that the merge made.
    Made(Tree<'a>),
}

impl<'a> After<'_, 'a> {
    /// Whether it is this resource as it was.
    pub fn is(&self, resource: &Resource<'a>) -> bool {
        matches!(self, Self::Kept(kept) if std::ptr::eq(*kept, resource))
    }

    /// Its content.
    pub fn view(&self) -> Option<View<'_, 'a>> {
        match self {
            Self::Kept(resource) => Some(View::Node(resource.node())),
            Self::Made(tree) => tree.view(),
        }
    }

    /// Its text, if its nodes were never read.
    pub fn unread_text(&self) -> Option<&'a str> {
        match self {
            Self::Kept(resource) => resource.unread_text(),
            Self::Made(_) => None,
        }
    }

    /// Its name, and the names of the resources that controllers and kustomize make of it.
    pub fn names(&self) -> Vec<Named<'a>> {
        match self {
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
