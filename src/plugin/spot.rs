//! What stands at a place of a text: the resource, and the path in it by keys.

use std::borrow::Cow;

use krm_merge::path::{FieldPath, Step};
use krm_merge::resource::{Origin, Resource};
use krm_merge::schema::{Cursor, Dialect, Inference, ListKind, Types, element_key, list_kind};
use krm_merge::yaml::{Document, NodeRef, Place, extent};

use crate::side::list_of;

/// What stands at an offset: `Deployment prod/web spec.template.spec.containers[name=app].image`; empty where no resource does.
pub fn spot(document: &Document<'_>, offset: usize) -> String {
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
    descend(node, types.root(identity.api_version, identity.kind), offset, &mut path);
    let namespace = if identity.namespace.is_empty() { String::new() } else { format!("{}/", identity.namespace) };
    format!("{} {namespace}{} {}", identity.kind, identity.name, path.keyed()).trim_end().to_owned()
}

fn descend<'a>(node: NodeRef<'a>, cursor: Cursor<'_>, offset: usize, path: &mut FieldPath<'a>) {
    let document = node.document();
    let holds = |place: &Place| place.top(document) <= offset && offset < place.bottom(document);
    for (key, value) in node.entries() {
        if holds(&Place::of_entry(key, value)) {
            path.push(Step::Field(Cow::Borrowed(key.string())), None);
            return descend(value, cursor.field(key.string()), offset, path);
        }
    }
    let elements: Vec<NodeRef<'a>> = node.elements().collect();
    for (i, element) in elements.iter().enumerate() {
        if !holds(&Place::of_element(node, *element)) {
            continue;
        }
        let step = match list_kind(cursor, std::slice::from_ref(&elements)) {
            Ok(ListKind::Map(keys)) => element_key(*element, &keys).map(|values| {
                Step::Element(keys.iter().zip(values.0).map(|(k, v)| (Cow::Owned((*k).to_owned()), v)).collect())
            }),
            Ok(ListKind::Set) => Some(Step::Value(Cow::Borrowed(element.string()))),
            _ => None,
        };
        path.push(step.unwrap_or(Step::Index(i)), None);
        return descend(*element, cursor, offset, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_by_resource_and_keys() {
        let text = "# head\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: prod\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n        image: a:1\n      - {name: b, image: b}\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n  data:\n    x: y\n";
        let document = Document::parse(text).expect("valid");
        let at = |needle: &str| spot(&document, text.find(needle).expect("in the text"));
        assert_eq!(at("image: a:1"), "Deployment prod/web spec.template.spec.containers[name=app].image");
        assert_eq!(at("- {name: b"), "Deployment prod/web spec.template.spec.containers[name=b]");
        assert_eq!(at("x: y"), "ConfigMap c data.x");
        assert_eq!(at("# head"), "");
    }
}
