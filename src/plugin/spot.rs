//! What stands at a place of a text: the resource, and the path in it by keys.

use std::borrow::Cow;

use krm_merge::path::{FieldPath, Step};
use krm_merge::resource::{Origin, Resource};
use krm_merge::schema::{Cursor, Dialect, Inference, ListKind, Types, element_key, list_kind};
use krm_merge::yaml::{Document, NodeRef, Place, extent};

use crate::side::list_of;

/// How closely a place is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The resource.
    Resource,
    /// The resource and the path in it.
    Field,
}

/// What stands at an offset: `Deployment prod/web spec.template.spec.containers[name=app].image`; empty where no resource does.
pub fn spot(document: &Document<'_>, offset: usize, depth: Depth) -> String {
    let Some(mut node) = document.roots().find(|root| extent(*root).contains(&offset)) else { return String::new() };
    if let Some(list) = list_of(node) {
        match list.elements().find(|e| Place::of_element(list, *e).bottom(document) > offset) {
            Some(element) => node = element,
            None => return String::new(),
        }
    }
    let resource = Resource::read(node, Origin::Item(0));
    let Some(identity) = resource.identity else { return String::new() };
    let types = Types::new([], Inference::On, Dialect::Server);
    let mut path = FieldPath::default();
    if depth == Depth::Field {
        descend(node, types.root(identity.api_version, identity.kind), offset, &mut path);
    }
    let namespace = if identity.namespace.is_empty() { String::new() } else { format!("{}/", identity.namespace) };
    format!("{} {namespace}{} {}", identity.kind, identity.name, path.keyed()).trim_end().to_owned()
}

fn descend<'a>(node: NodeRef<'a>, cursor: Cursor<'a>, offset: usize, path: &mut FieldPath<'a>) {
    let document = node.document();
    let places = Place::of_children(node);
    // In a flow map children share their line, so only the child itself says which one it is.
    let exact = places.iter().position(|place| (place.lead..place.end).contains(&offset));
    let by_line = || places.iter().position(|place| (place.top(document)..place.bottom(document)).contains(&offset));
    let Some(i) = exact.or_else(by_line) else { return };
    if let Some((key, value)) = node.entries().nth(i) {
        path.push(Step::Field(Cow::Borrowed(key.string())), None);
        return descend(value, cursor.field(key.string()), offset, path);
    }
    let elements: Vec<NodeRef<'a>> = node.elements().collect();
    if let Some(element) = elements.get(i) {
        let step = match list_kind(cursor, std::slice::from_ref(&elements)) {
            Ok(ListKind::Map(keys)) => element_key(*element, &keys).map(|values| {
                Step::Element(keys.iter().zip(values.0).map(|(k, v)| (Cow::Owned(k.name.to_owned()), v)).collect())
            }),
            Ok(ListKind::Set) => Some(Step::Value(Cow::Borrowed(element.string()))),
            _ => None,
        };
        path.push(step.unwrap_or(Step::Index(i)), None);
        descend(*element, cursor, offset, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_by_resource_and_keys() {
        let text = "# head\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: prod\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n        image: a:1\n      - {name: b, image: b}\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n  data:\n    x: y\n";
        let document = Document::parse(text).expect("valid");
        let at = |needle: &str| spot(&document, text.find(needle).expect("in the text"), Depth::Field);
        assert_eq!(at("image: a:1"), "Deployment prod/web spec.template.spec.containers[name=app].image");
        assert_eq!(at("- {name: b"), "Deployment prod/web spec.template.spec.containers[name=b]");
        assert_eq!(at("x: y"), "ConfigMap c data.x");
        assert_eq!(at("# head"), "");
    }
}
