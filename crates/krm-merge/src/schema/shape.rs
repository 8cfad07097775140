//! Kubernetes types that are recognised by their shape where no schema knows them: a pod template in a custom resource.
//!
//! Operators put Kubernetes' own objects into theirs. What such an object is can be read off its field and off what stands in it, so its
//! lists merge as they do in a built-in type. That is a guess: whatever a user or a schema says comes first, and a list whose elements lack
//! the keys of the type is one of which nothing is known.

use super::builtin::{FieldRef, root};
use crate::child::Value;

/// A field in whose value an object of a built-in type is recognised.
struct Shape {
    /// The name of the field.
    field: &'static str,
    /// What must stand in it.
    marks: &'static [Mark],
    /// The built-in field whose value is of that type: apiVersion, kind and name of the field.
    like: (&'static str, &'static str, &'static str),
}

/// Something that stands in an object.
struct Mark {
    path: &'static [&'static str],
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Map,
    List,
}

const SHAPES: &[Shape] = &[Shape {
    field: "template",
    marks: &[Mark { path: &["metadata"], form: Form::Map }, Mark { path: &["spec", "containers"], form: Form::List }],
    like: ("v1", "PodTemplate", "template"),
}];

/// What a field is like by its name and its value, as several sides have it: one of them with the shape is enough.
pub(super) fn recognise<'a, V: Value<'a>>(name: &str, values: impl IntoIterator<Item = V>) -> Option<FieldRef> {
    let shapes = SHAPES.iter().filter(|shape| shape.field == name);
    let mut shapes = shapes.peekable();
    shapes.peek()?;
    let values: Vec<V> = values.into_iter().collect();
    let shape = shapes.find(|shape| values.iter().any(|value| shape.marks.iter().all(|mark| mark.is_in(*value))))?;
    let (api_version, kind, field) = shape.like;
    root(api_version, kind)?.field(field)
}

impl Mark {
    fn is_in<'a, V: Value<'a>>(&self, value: V) -> bool {
        let found = self.path.iter().try_fold(value, |value, name| value.field(name));
        let form = found.filter(|found| found.is_container()).map(|found| match found.is_map() {
            true => Form::Map,
            false => Form::List,
        });
        form == Some(self.form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Document, NodeRef};

    #[test]
    fn a_pod_template_is_recognised_by_its_metadata_and_its_containers() {
        for (name, sides, want) in [
            ("template", &["{metadata: {}, spec: {containers: []}}"][..], true),
            ("template", &["{metadata: {}, spec: {containers: [{name: a}], volumes: []}, more: 1}"], true),
            ("template", &["1", "{metadata: {}, spec: {containers: []}}"], true),
            ("podTemplate", &["{metadata: {}, spec: {containers: []}}"], false),
            ("template", &["{spec: {containers: []}}"], false),
            ("template", &["{metadata: {}, spec: {}}"], false),
            ("template", &["{metadata: {}, spec: {containers: {}}}"], false),
            ("template", &["{metadata: x, spec: {containers: []}}"], false),
            ("template", &["[]", "null"], false),
            ("template", &[], false),
        ] {
            let docs: Vec<Document<'_>> = sides.iter().map(|side| Document::parse(*side).expect("valid")).collect();
            let nodes: Vec<NodeRef<'_>> = docs.iter().map(|doc| doc.roots().next().expect("a root")).collect();
            assert_eq!(recognise(name, nodes).is_some(), want, "{name} {sides:?}");
        }
    }
}
