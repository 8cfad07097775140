//! [`After`]: a resource of a package after a three-way merge.

use krm_merge::reference::{Named, made_of};
use krm_merge::resource::{Identity, Resource};
use krm_merge::tree::{Tree, View};

/// A resource after the merge. One that stays as it is may have no nodes, and most questions need none.
pub(super) enum After<'r, 'a> {
    /// A resource as it was.
    Kept(&'r Resource<'a>),
    /// A resource that the merge made.
    Made(Tree<'a>),
}

impl<'r, 'a> After<'r, 'a> {
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

    /// Its text, if that is all that was kept of it.
    pub fn unread_text(&self) -> Option<&'a str> {
        match self {
            Self::Kept(resource) => resource.unread_text(),
            Self::Made(_) => None,
        }
    }

    /// Its name, and the names of the resources that controllers and kustomize make of it.
    pub fn names(&self) -> Vec<Named<'a>> {
        if let Self::Kept(resource) = self
            && let Some(identity) = resource.identity.filter(|_| resource.unread_text().is_some())
        {
            let Identity { api_version, kind, namespace, name } = identity;
            let named = Named::of_identity([api_version, kind, namespace, name]);
            if !named.may_make_others() {
                return vec![named];
            }
        }
        let view = self.view();
        view.into_iter().flat_map(|view| Named::of(view).into_iter().chain(made_of(view))).collect()
    }
}
