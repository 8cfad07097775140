//! [`Address`]: where a resource is in a cluster.

use std::fmt;

use krm_yaml::shown;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, Request, Resource};

/// The address of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The namespace; `None` for a cluster-scoped resource.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// The name of the CustomResourceDefinition in the files that defines the type; `None` if the cluster already knows the type.
    pub defined_by: Option<String>,
    /// Its type.
    pub kind: GroupVersionKind,
    /// The name of the type in addresses.
    pub plural: String,
}

impl Address {
    /// The apiVersion.
    pub fn api_version(&self) -> String {
        self.kind.api_version()
    }

    /// Its group and kind.
    pub fn group_kind(&self) -> (&str, &str) {
        (&self.kind.group, &self.kind.kind)
    }

    /// The request for it.
    pub fn url(&self) -> Request {
        let resource = ApiResource::from_gvk_with_plural(&self.kind, &self.plural);
        Request::new(DynamicObject::url_path(&resource, self.namespace.as_deref()))
    }
}

impl fmt::Display for Address {
    /// `prod/deployment.apps/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{}/", shown::name(namespace))?;
        }
        f.write_str(&shown::name(&self.kind.kind.to_lowercase()))?;
        if !self.kind.group.is_empty() {
            write!(f, ".{}", shown::name(&self.kind.group))?;
        }
        write!(f, "/{}", shown::name(&self.name))
    }
}
