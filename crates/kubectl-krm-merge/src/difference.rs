//! The differences between two states of a resource, field by field.

use std::collections::HashMap;

use krm_merge_core::change::{Change, Expects, Inside, Wants};
use krm_tree::child::{By, ChildId};
use krm_tree::path::FieldPath;
use krm_yaml::NodeRef;

/// A difference at one place.
#[derive(Clone, Debug)]
pub struct Difference<'a> {
    /// The place in the new state.
    pub path: FieldPath<'a>,
    /// The kind of the difference, with the values.
    pub what: What<'a>,
}

/// A kind of difference at a place.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// Only the new state has a value there.
    Came(NodeRef<'a>),
    /// Only the old state has a value there.
    Went(NodeRef<'a>),
    /// The old value and the new one.
    Changed(NodeRef<'a>, NodeRef<'a>),
    /// A list has its elements in another order: the old list and the new list.
    Order(NodeRef<'a>, NodeRef<'a>),
    /// A map has its fields in another order, which changes no value: the new map.
    FieldOrder(NodeRef<'a>),
    /// The comment lines above a child differ. The node is the key of the child, or the element.
    Above(NodeRef<'a>),
    /// The comment on the line of a child differs. The node is the key of the child, or the element.
    Behind(NodeRef<'a>),
}

impl<'a> Difference<'a> {
    /// Whether the difference changes values.
    pub fn is_of_values(&self) -> bool {
        match self.what {
            What::Came(_) | What::Went(_) | What::Changed(..) | What::Order(..) => true,
            What::FieldOrder(_) | What::Above(_) | What::Behind(_) => false,
        }
    }

    /// The old value, if values differ and the old state has one.
    pub fn before(&self) -> Option<NodeRef<'a>> {
        match self.what {
            What::Went(old) | What::Changed(old, _) | What::Order(old, _) => Some(old),
            What::Came(_) | What::FieldOrder(_) | What::Above(_) | What::Behind(_) => None,
        }
    }

    /// The node of the new state at the place, if it has one.
    pub fn after(&self) -> Option<NodeRef<'a>> {
        match self.what {
            What::Came(new)
            | What::Changed(_, new)
            | What::Order(_, new)
            | What::FieldOrder(new)
            | What::Above(new)
            | What::Behind(new) => Some(new),
            What::Went(_) => None,
        }
    }
}

/// The differences between an old state and a new one, in the order of the new state.
pub fn differences<'a>(change: &Change<'a>) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    collect(change, &FieldPath::default(), &mut found);
    found
}

fn collect<'a>(change: &Change<'a>, path: &FieldPath<'a>, found: &mut Vec<Difference<'a>>) {
    let what = match (&change.wants, change.expects.value()) {
        // Only an edit makes a text that no document has.
        (Wants::Same | Wants::Made(_), _) | (Wants::Nothing, None) => return,
        (Wants::Nothing, Some(old)) => What::Went(old),
        (Wants::Value(new) | Wants::Text(new), Some(old)) => What::Changed(old, *new),
        (Wants::Value(new) | Wants::Text(new), None) => What::Came(*new),
        (Wants::Inside(inside), None) if matches!(change.expects, Expects::Exactly(_)) => What::Came(inside.like),
        (Wants::Inside(inside), old) => {
            if let (true, Some(old)) = (inside.has_new_order(), old) {
                let order =
                    if inside.by == By::Field { What::FieldOrder(inside.like) } else { What::Order(old, inside.like) };
                found.push(Difference { path: path.clone(), what: order });
            }
            let places = places(inside);
            let olds = values(inside, old);
            for child in &inside.children {
                let mut path = path.clone();
                let place = child.node.and_then(|(_, value)| places.get(&value.start()).copied());
                path.push(child.id.step(&inside.by), place);
                let notes = *child.change.notes;
                let notes = child.node.into_iter().flat_map(|(key, value)| {
                    let at = key.unwrap_or(value);
                    [notes.above.map(|_| What::Above(at)), notes.behind.map(|_| What::Behind(at))]
                });
                found.extend(notes.flatten().map(|what| Difference { path: path.clone(), what }));
                match olds.get(&child.id).filter(|_| matches!(child.change.wants, Wants::Nothing)) {
                    Some(old) => found.push(Difference { path, what: What::Went(*old) }),
                    None => collect(&child.change, &path, found),
                }
            }
            return;
        }
    };
    found.push(Difference { path: path.clone(), what });
}

/// The old elements of a set. Nothing is expected of such an element, because its identity is its value.
fn values<'a>(inside: &Inside<'a>, old: Option<NodeRef<'a>>) -> HashMap<ChildId<'a>, NodeRef<'a>> {
    let old = old.filter(|_| inside.by == By::Value);
    old.into_iter().flat_map(NodeRef::elements).filter_map(|old| Some((inside.by.id_of(old)?, old))).collect()
}

/// The index of each element of a list, by the offset at which the element begins in the text.
fn places(inside: &Inside<'_>) -> HashMap<usize, usize> {
    let elements = inside.like.elements().enumerate();
    elements.map(|(place, element)| (element.start(), place)).collect()
}

#[cfg(test)]
mod tests {
    use krm_merge_core::diff::diff;
    use krm_merge_core::policy::Renames;
    use krm_schema::mode::Mode;
    use krm_schema::schema::{Inference, Types};
    use krm_yaml::Document;

    use super::*;

    #[test]
    fn an_element_that_left_a_set_is_a_difference() {
        let [old, new] = ["[a, b, c]", "[a, c, d]"]
            .map(|list| Document::parse(format!("metadata: {{finalizers: {list}}}")).expect("valid"));
        let types = Types::new([], Inference::On);
        let [old, new] = [&old, &new].map(|document| document.roots().next().expect("a root"));
        let found = diff(Some(old), new, None, types.root("v1", "Pod", Mode::ThreeWay), Renames::Ignore);
        let found = found.expect("compared").change.expect("a change");
        let shown = |difference: &Difference<'_>| match difference.what {
            What::Went(old) => format!("- {} {}", difference.path.keyed(), old.string()),
            What::Came(new) => format!("+ {} {}", difference.path.keyed(), new.string()),
            what => format!("{what:?}"),
        };
        let found: Vec<String> = differences(&found).iter().filter(|d| d.is_of_values()).map(shown).collect();
        assert_eq!(found, ["+ metadata.finalizers[=d] d", "- metadata.finalizers[=b] b"]);
    }

    #[test]
    fn each_place_is_named_by_key_and_by_index_with_what_differs() {
        let pod = |spec: &str| Document::parse(format!("spec:\n{spec}")).expect("valid");
        let old = pod(
            "  containers:\n  - name: a\n    image: a:1\n  - name: b\n    tty: true # why\n  # x\n  gone: 1\n  same: 1\n",
        );
        let new = pod(
            "  same: 1\n  containers:\n  - name: b\n    tty: true # what\n  - name: a\n    image: a:2\n    new: {x: 1}\n",
        );
        let types = Types::new([], Inference::On);
        let [old, new] = [&old, &new].map(|document| document.roots().next().expect("a root"));
        let cursor = types.root("v1", "Pod", Mode::ThreeWay);
        let found = diff(Some(old), new, None, cursor, Renames::Ignore).expect("compared").change.expect("a change");
        let shown = |difference: &Difference<'_>| {
            let what = format!("{:?}", difference.what);
            let what = what.split('(').next().unwrap_or_default().to_owned();
            format!("{what} {} {} {}", difference.path.keyed(), difference.path.indexed(), difference.is_of_values())
        };
        let found: Vec<String> = differences(&found).iter().map(shown).collect();
        let a = "spec.containers[name=a]";
        assert_eq!(
            found,
            [
                "FieldOrder spec spec false".to_owned(),
                "Order spec.containers spec.containers true".to_owned(),
                "Behind spec.containers[name=b].tty spec.containers[0].tty false".to_owned(),
                format!("Changed {a}.image spec.containers[1].image true"),
                format!("Came {a}.new spec.containers[1].new true"),
                "Went spec.gone spec.gone true".to_owned(),
            ]
        );
    }
}
