//! [`Aim`]: which items the resources of an input are for.

use std::sync::Arc;

use krm_merge_core::patch::Missing;
use krm_package::package::Present;
use krm_package::resource::Resource;

use crate::name::Name;
use crate::target::Target;

/// Which items the resources of an input are for: those of their identity, or those that targets select.
#[derive(Debug)]
pub struct Aim {
    /// The name by which the user knows it: of its `target` or, if it has none, of the input.
    pub name: Name,
    /// The targets, of which one must select an item; empty if each resource is for the item of its identity.
    pub targets: Vec<Target>,
    /// What selects the items that are not meant.
    pub exclude: Vec<Target>,
    /// The folder that has the items of their identities.
    pub into: Option<Arc<str>>,
    /// What happens to resources, fields and elements that are not there.
    pub missing: Missing,
    /// Whether an item must be there.
    pub need: Need,
}

/// Whether an input must be for an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Need {
    /// It must.
    #[default]
    Hit,
    /// It may be for none.
    Optional,
}

/// An item, as targets look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The item is meant.
    Selected,
    /// Only what configures is selected, and that is meant only if its kind is named.
    PassedOver,
    /// The item is not meant.
    Missed,
}

impl Aim {
    /// The aim of an input whose resources are for the items of their identities.
    pub fn at_identity(name: Name) -> Self {
        let (missing, need) = (Missing::default(), Need::default());
        Self { name, targets: Vec::new(), exclude: Vec::new(), into: None, missing, need }
    }

    /// The aim at what a target selects.
    pub fn at_target(target: Target) -> Self {
        Self { targets: vec![target.clone()], ..Self::at_identity(target.name().clone()) }
    }

    /// How it looks at an item. `configures` says which items only configure.
    pub fn sight(&self, item: Present<'_, '_, '_>, configures: impl Fn(&Resource<'_>) -> bool) -> Sight {
        if !self.targets.iter().any(|target| target.fits(item)) || !item.resource.is_resource() {
            return Sight::Missed;
        }
        if self.exclude.iter().any(|target| target.fits(item)) {
            return Sight::Missed;
        }
        let is_named = || self.targets.iter().any(|target| target.names_kind(item.resource.named().kind));
        if configures(item.resource) && !is_named() { Sight::PassedOver } else { Sight::Selected }
    }
}
