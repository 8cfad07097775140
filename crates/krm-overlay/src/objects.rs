//! [`Object`]: an object that a kustomization builds, with the names by which patches know it.

use std::rc::Rc;

use krm_job::target::Target;
use krm_package::package::Present;
use krm_package::resource::{Identity, Origin, Resource};
use krm_schema::schema::builtin::group_of;
use krm_schema::scope::is_cluster_scoped;
use krm_tree::tree::View;
use krm_yaml::{Document, NodeRef, shown};

use crate::texts::At;
use crate::values::Value;

/// An object below patches.
#[derive(Clone, Debug)]
pub struct Object {
    at: At,
    /// Its names, from that in its file to the one that it has now. A patch may use any of them.
    names: Vec<ObjectName>,
    /// The release that it comes from; `None` for a file of the tree.
    pub release: Option<Rc<str>>,
}

/// The name and the namespace of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ObjectName {
    name: String,
    namespace: String,
}

impl Object {
    /// The objects of a document: that of its root, or those of its list.
    pub fn all(root: &At, release: Option<&Rc<str>>) -> Vec<Self> {
        let Some(node) = root.node() else { return Vec::new() };
        let found = Resource::of_document(node, Origin::Item);
        let listed = root.elements(&["items"]);
        let is_list = found.iter().any(|resource| resource.list.is_some());
        let places = if is_list { listed } else { vec![root.clone()] };
        places.into_iter().filter_map(|at| Self::of(at, release)).collect()
    }

    fn of(at: At, release: Option<&Rc<str>>) -> Option<Self> {
        let Identity { name, namespace, .. } = identity(at.node()?)?;
        let names = vec![ObjectName { name: name.to_owned(), namespace: namespace.to_owned() }];
        Some(Self { at, names, release: release.cloned() })
    }

    /// Its map.
    pub fn node(&self) -> Option<NodeRef<'_>> {
        self.at.node()
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.node().map_or("", NodeRef::text)
    }

    /// Whether an object of another release has its type and one of its names.
    pub fn is_namesake(&self, other: &Self) -> bool {
        let (Some(own), Some(others)) = (self.node().and_then(identity), other.node().and_then(identity)) else {
            return false;
        };
        let is_of_type = group_of(own.api_version) == group_of(others.api_version) && own.kind == others.kind;
        is_of_type && self.names.iter().any(|name| other.names.contains(name))
    }

    /// Its name in messages.
    pub fn called(&self) -> String {
        let kind = self.node().and_then(|node| node.get("kind")).map_or("", NodeRef::string);
        let name = self.names.first().map_or("", |name| name.name.as_str());
        format!("{} {}", shown::name(kind), shown::name(name))
    }

    /// The same object with other content; `None` if that is nothing.
    pub fn with(&self, content: &Value) -> Option<Self> {
        let document = Rc::new(Document::parse(content.to_string()).ok()?);
        let at = At::root(&self.at.file, &document, 0);
        Some(Self { at, ..self.clone() })
    }

    /// Changes its content.
    pub fn edit(&mut self, change: impl FnOnce(&mut Value)) {
        let Some(before) = self.node().map(Value::of) else { return };
        let mut value = before.clone();
        change(&mut value);
        if value != before
            && let Some(edited) = self.with(&value)
        {
            *self = edited;
        }
    }

    /// Gives it another name. Patches may still use the old one.
    pub fn rename(&mut self, name: impl FnOnce(&str) -> String) {
        let Some(last) = self.names.last() else { return };
        // A definition keeps its name, which its fields give it.
        if self.is_of("apiextensions.k8s.io", "CustomResourceDefinition") || self.is_of("", "Namespace") {
            return;
        }
        let renamed = ObjectName { name: name(&last.name), namespace: last.namespace.clone() };
        self.edit(|value| value.set(&["metadata", "name"], Value::string(&renamed.name)));
        self.names.push(renamed);
    }

    /// Puts it into a namespace. Patches may still use the old one.
    pub fn move_to(&mut self, namespace: &str) {
        let (Some(last), Some(own)) = (self.names.last().cloned(), self.node().and_then(identity)) else { return };
        let moved = if self.is_of("", "Namespace") {
            ObjectName { name: namespace.to_owned(), ..last }
        } else if is_cluster_scoped(group_of(own.api_version), own.kind) {
            return;
        } else {
            ObjectName { namespace: namespace.to_owned(), ..last }
        };
        self.edit(|value| {
            let field = if moved.namespace == namespace { "namespace" } else { "name" };
            value.set(&["metadata", field], Value::string(namespace));
        });
        self.names.push(moved);
    }

    /// Adds fields to a map of its metadata.
    pub fn add_metadata(&mut self, map: &str, fields: &At) {
        let Some(Value::Map(fields)) = fields.node().map(Value::of) else { return };
        self.edit(|value| fields.into_iter().for_each(|(name, new)| value.set(&["metadata", map, &name], new)));
    }

    fn is_of(&self, of_group: &str, of_kind: &str) -> bool {
        let own = self.node().and_then(identity);
        own.is_some_and(|own| group_of(own.api_version) == of_group && own.kind == of_kind)
    }

    /// Whether a patch without a target is for it. Source: kustomize's `ResId.Equals`, with each name that the object had.
    pub fn is(&self, patch: Identity<'_>) -> bool {
        let Some(own) = self.node().and_then(identity) else { return false };
        let is_scoped = is_cluster_scoped(group_of(own.api_version), own.kind);
        let namespace =
            |namespace: &str| if namespace.is_empty() { "default".to_owned() } else { namespace.to_owned() };
        let is = |known: &ObjectName| {
            known.name == patch.name && (is_scoped || namespace(&known.namespace) == namespace(patch.namespace))
        };
        own.api_version == patch.api_version && own.kind == patch.kind && self.names.iter().any(is)
    }

    /// Whether a target selects it. Source: kustomize's `resWrangler.Select`, which looks at the first and at the last name.
    pub fn fits(&self, target: &Target) -> bool {
        let Some(node) = self.node() else { return false };
        let (Some(own), Some(first), Some(last)) = (identity(node), self.names.first(), self.names.last()) else {
            return false;
        };
        let resource = Resource::read(node, Origin::Item(0));
        let fits = |name: &ObjectName, namespace: &ObjectName| {
            // The target holds names of the document's life, and these are of the object's.
            let identity = Identity { name: &name.name, namespace: &namespace.namespace, ..own };
            target.fits(Present { resource: &resource, identity, view: View::Node(node) })
        };
        [first, last].into_iter().any(|name| [first, last].into_iter().any(|namespace| fits(name, namespace)))
    }

    /// Whether it has a kind and one of its names.
    pub fn is_called(&self, name: &str, kinds: &[&str]) -> bool {
        let kind = self.node().and_then(|node| node.get("kind")).map_or("", NodeRef::string);
        kinds.contains(&kind) && self.names.iter().any(|known| known.name == name)
    }
}

/// The apiVersion, kind, namespace and name of an object.
pub fn identity(node: NodeRef<'_>) -> Option<Identity<'_>> {
    Resource::read(node, Origin::Item(0)).identity
}
