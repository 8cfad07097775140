//! Finds the resources and paths that a range of a text touches.

use std::borrow::Cow;
use std::ops::Range;

use krm_merge::child::By;
use krm_merge::list;
use krm_merge::mode::Mode;
use krm_merge::path::{FieldPath, Step};
use krm_merge::resource::{Origin, Resource};
use krm_merge::schema::{Cursor, Types, list_kind};
use krm_merge::yaml::{Document, NodeRef, Place, Style, extent};

/// A place in a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The resource, as `Deployment prod/web`.
    pub resource: String,
    /// The path by keys, as `spec.template.spec.containers[name=app].image`; empty for the resource itself.
    pub path: String,
}

/// The outermost values that begin in some ranges of a text. If no value begins there, the value around the range counts. Outside of
/// resources there are no values. The ranges are sorted and disjoint. `types` says how to match the elements of lists.
pub fn spots(document: &Document<'_>, ranges: &[Range<usize>], types: &Types<'_>) -> Vec<Spot> {
    let mut found = Vec::new();
    let (Some(start), Some(end)) = (ranges.first().map(|r| r.start), ranges.last().map(|r| r.end)) else {
        return found;
    };
    let roots: Vec<NodeRef<'_>> = document.roots().collect();
    let first = roots.partition_point(|root| root.start() <= start).saturating_sub(1);
    for root in &roots[first..] {
        let (root, whole) = (*root, extent(*root));
        if whole.start >= end {
            break;
        }
        if !meets(&whole, ranges) {
            continue;
        }
        match list::items_of(root) {
            None => of_resource(root, whole.start, ranges, types, &mut found),
            Some(list) => {
                for element in list.elements() {
                    let place = Place::of_element(list, element);
                    if meets(&(place.top(document)..place.bottom(document)), ranges) {
                        of_resource(element, place.lead, ranges, types, &mut found);
                    }
                }
            }
        }
    }
    found
}

/// Whether a range shares a byte with one of the other ranges.
fn meets(range: &Range<usize>, others: &[Range<usize>]) -> bool {
    let next = others.partition_point(|other| other.end <= range.start);
    others.get(next).is_some_and(|other| other.start < range.end)
}

fn contains(ranges: &[Range<usize>], at: usize) -> bool {
    meets(&(at..at + 1), ranges)
}

fn of_resource(node: NodeRef<'_>, start: usize, ranges: &[Range<usize>], types: &Types<'_>, found: &mut Vec<Spot>) {
    let Some(identity) = Resource::read(node, Origin::Item(0)).identity else { return };
    let resource = identity.called();
    let mut paths = Vec::new();
    if contains(ranges, start) {
        paths.push(String::new());
    } else {
        let cursor = types.root(identity.api_version, identity.kind, Mode::ThreeWay);
        descend(node, cursor, ranges, &FieldPath::default(), &mut paths);
    }
    found.extend(paths.into_iter().map(|path| Spot { resource: resource.clone(), path }));
}

fn descend<'a>(
    node: NodeRef<'a>,
    cursor: Cursor<'a>,
    ranges: &[Range<usize>],
    path: &FieldPath<'a>,
    found: &mut Vec<String>,
) {
    let document = node.document();
    let (Some(start), Some(end)) = (ranges.first().map(|r| r.start), ranges.last().map(|r| r.end)) else { return };
    let fields = node.entries().map(|(key, value)| (Some(key), value));
    let children: Vec<_> = fields.chain(node.elements().map(|element| (None, element))).collect();
    // The lines of a child are between its neighbours. So no other children are looked at, for there may be many.
    let first = children.partition_point(|(_, value)| value.start() <= start).saturating_sub(1);
    let last = children.partition_point(|(_, value)| value.end() < end);
    let near = first..children.len().min(last + 1);
    let places: Vec<Place> = children[near.clone()].iter().map(|child| Place::of_child(node, *child)).collect();
    let exactly = |place: &Place| meets(&(place.lead..place.end), ranges);
    let by_line = |place: &Place| meets(&(place.top(document)..place.bottom(document)), ranges);
    // In a flow map, children share a line. So a child counts only if the range touches the child itself.
    let is_exact = node.style() == Style::Flow && places.iter().any(exactly);
    let touched: Vec<usize> =
        (0..places.len()).filter(|i| if is_exact { exactly(&places[*i]) } else { by_line(&places[*i]) }).collect();
    if touched.is_empty() {
        return found.push(path.shown());
    }
    let elements: Vec<NodeRef<'a>> = node.elements().collect();
    let by = list_kind(cursor, std::slice::from_ref(&elements)).map_or(By::Index, By::list);
    for i in touched {
        let mut path = path.clone();
        let (key, value) = children[near.start + i];
        let below = match key {
            Some(key) => {
                path.push(Step::Field(Cow::Borrowed(key.string())), None);
                cursor.child(key.string(), [value])
            }
            None => {
                path.push(step(near.start + i, value, &by), None);
                cursor
            }
        };
        if contains(ranges, places[i].lead) {
            found.push(path.shown());
        } else {
            descend(value, below, ranges, &path, found);
        }
    }
}

fn step<'a>(i: usize, element: NodeRef<'a>, by: &By<'a>) -> Step<'a> {
    by.id_of(element).map_or(Step::Index(i), |id| id.step(by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_merge::schema::Inference;

    #[test]
    fn what_begins_in_a_range_is_named_by_resource_and_keys() {
        let text = "# head\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: prod\nspec:\n  # how many\n  replicas: 1\n  template:\n    spec:\n      containers:\n      - name: app\n        image: a:1\n      - {name: b, image: b}\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n  data:\n    x: y\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: d}\n";
        let document = Document::parse(text).expect("valid");
        let of = |needle: &str| {
            let start = text.find(needle).expect("in the text");
            let types = Types::new([], Inference::On);
            let found = spots(&document, std::slice::from_ref(&(start..start + needle.len())), &types);
            found.iter().map(|s| format!("{} {}", s.resource, s.path)).collect::<Vec<_>>().join("; ")
        };
        let app = "Deployment prod/web spec.template.spec.containers";
        for (needle, want) in [
            ("        image: a:1\n", format!("{app}[name=app].image")),
            ("a:1", format!("{app}[name=app].image")),
            ("      - name: app\n", format!("{app}[name=app]")),
            ("      - {name: b, image: b}\n", format!("{app}[name=b]")),
            ("image: b", format!("{app}[name=b].image")),
            ("how many", "Deployment prod/web spec.replicas".to_owned()),
            (
                "  replicas: 1\n  template:\n",
                "Deployment prod/web spec.replicas; Deployment prod/web spec.template".to_owned(),
            ),
            ("x: y\n- api", "ConfigMap c data.x; ConfigMap d ".to_owned()),
            ("---\napiVersion: apps/v1\nkind", "Deployment prod/web ".to_owned()),
            ("# head", String::new()),
        ] {
            assert_eq!(of(needle), want, "{needle}");
        }
    }
}
