//! Finds the resources and paths that a range of a text touches.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use krm_job::marked::Marked;
use krm_package::list;
use krm_package::resource::{Origin, Resource};
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, Types, list_kind};
use krm_tree::child::By;
use krm_tree::path::{FieldPath, Step};
use krm_yaml::{Document, NodeRef, Place, Style, extent};

/// The document of a text; `None` if it is no YAML. One with markers is read with one side of each conflict, and has the places of the text.
pub fn document_of(text: &str) -> Option<Document<'_>> {
    Document::parse(text).ok().or_else(|| {
        let marked = Marked::read(text.as_bytes());
        let one_side = (!marked.conflicts.is_empty()).then(|| String::from_utf8(marked.one_side()).ok())?;
        Document::parse(one_side?).ok()
    })
}

/// A place in a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The resource, as `Deployment prod/web`.
    pub resource: String,
    /// The path by keys, as `spec.template.spec.containers[name=app].image`; empty for the resource itself.
    pub path: String,
}

/// Finds the places of ranges in a document. A large map may have many of the ranges, so it is taken apart once.
pub struct Finder<'d> {
    document: &'d Document<'d>,
    /// They say how to match the elements of lists.
    types: &'d Types<'d>,
    roots: Vec<NodeRef<'d>>,
    /// The maps and lists that were taken apart, by their ranges.
    known: RefCell<HashMap<Range<usize>, Rc<Container<'d>>>>,
}

/// A map or list, taken apart.
struct Container<'d> {
    node: NodeRef<'d>,
    /// The children, each with its key in a map, in the order of the text.
    children: Vec<(Option<NodeRef<'d>>, NodeRef<'d>)>,
    /// How a list tells its elements apart.
    by: OnceCell<By<'d>>,
}

impl<'d> Finder<'d> {
    /// Finds places in a document, whose types say how lists tell their elements apart.
    pub fn new(document: &'d Document<'d>, types: &'d Types<'d>) -> Self {
        Self { document, types, roots: document.roots().collect(), known: RefCell::default() }
    }

    /// The outermost values that begin in some ranges. If no value begins there, the value around the range counts. Outside of resources there
    /// are no values. The ranges are sorted and disjoint.
    pub fn spots(&self, ranges: &[Range<usize>]) -> Vec<Spot> {
        let mut found = Vec::new();
        let (Some(start), Some(end)) = (ranges.first().map(|r| r.start), ranges.last().map(|r| r.end)) else {
            return found;
        };
        let first = self.roots.partition_point(|root| root.start() <= start).saturating_sub(1);
        for root in &self.roots[first..] {
            let (root, whole) = (*root, extent(*root));
            if whole.start >= end {
                break;
            }
            if !meets(&whole, ranges) {
                continue;
            }
            match list::items_of(root) {
                None => self.of_resource(root, whole.start, ranges, &mut found),
                Some(list) => {
                    let list = self.container(list);
                    for at in list.near(start, end) {
                        let (place, element) = (list.place(at), list.children[at].1);
                        if meets(&(place.top(self.document)..place.bottom(self.document)), ranges) {
                            self.of_resource(element, place.lead, ranges, &mut found);
                        }
                    }
                }
            }
        }
        found
    }

    fn container(&self, node: NodeRef<'d>) -> Rc<Container<'d>> {
        let mut known = self.known.borrow_mut();
        Rc::clone(known.entry(node.start()..node.end()).or_insert_with(|| {
            let fields = node.entries().map(|(key, value)| (Some(key), value));
            let children = fields.chain(node.elements().map(|element| (None, element))).collect();
            Rc::new(Container { node, children, by: OnceCell::new() })
        }))
    }

    fn of_resource(&self, node: NodeRef<'d>, start: usize, ranges: &[Range<usize>], found: &mut Vec<Spot>) {
        let Some(identity) = Resource::read(node, Origin::Item(0)).identity else { return };
        let resource = identity.called();
        let mut paths = Vec::new();
        if contains(ranges, start) {
            paths.push(String::new());
        } else {
            let cursor = self.types.root(identity.api_version, identity.kind, Mode::ThreeWay);
            self.descend(node, cursor, ranges, &FieldPath::default(), &mut paths);
        }
        found.extend(paths.into_iter().map(|path| Spot { resource: resource.clone(), path }));
    }

    fn descend(
        &self,
        node: NodeRef<'d>,
        cursor: Cursor<'d>,
        ranges: &[Range<usize>],
        path: &FieldPath<'d>,
        found: &mut Vec<String>,
    ) {
        let (Some(start), Some(end)) = (ranges.first().map(|r| r.start), ranges.last().map(|r| r.end)) else { return };
        let container = self.container(node);
        let near = container.near(start, end);
        let places: Vec<Place> = near.clone().map(|at| container.place(at)).collect();
        let exactly = |place: &Place| meets(&(place.lead..place.end), ranges);
        let by_line = |place: &Place| meets(&(place.top(self.document)..place.bottom(self.document)), ranges);
        // In a flow map, children share a line. So a child counts only if the range touches the child itself.
        let is_exact = node.style() == Style::Flow && places.iter().any(exactly);
        let touched: Vec<usize> =
            (0..places.len()).filter(|i| if is_exact { exactly(&places[*i]) } else { by_line(&places[*i]) }).collect();
        if touched.is_empty() {
            return found.push(path.shown());
        }
        for i in touched {
            let mut path = path.clone();
            let (key, value) = container.children[near.start + i];
            let below = match key {
                Some(key) => {
                    path.push(Step::Field(Cow::Borrowed(key.string())), None);
                    cursor.child(key.string(), [value])
                }
                None => {
                    path.push(step(near.start + i, value, container.by(cursor)), None);
                    cursor
                }
            };
            if contains(ranges, places[i].lead) {
                found.push(path.shown());
            } else {
                self.descend(value, below, ranges, &path, found);
            }
        }
    }
}

impl<'d> Container<'d> {
    /// The children whose lines may be between two offsets. The lines of a child are between its neighbours.
    fn near(&self, start: usize, end: usize) -> Range<usize> {
        let first = self.children.partition_point(|(_, value)| value.start() <= start).saturating_sub(1);
        let last = self.children.partition_point(|(_, value)| value.end() < end);
        first..self.children.len().min(last + 1)
    }

    fn place(&self, at: usize) -> Place {
        Place::of_child(self.node, self.children[at])
    }

    fn by(&self, cursor: Cursor<'d>) -> &By<'d> {
        self.by.get_or_init(|| {
            let elements: Vec<NodeRef<'d>> = self.children.iter().map(|(_, element)| *element).collect();
            list_kind(cursor, std::slice::from_ref(&elements)).map_or(By::Index, By::from)
        })
    }
}

/// Whether a range shares a byte with one of the other ranges.
fn meets(range: &Range<usize>, others: &[Range<usize>]) -> bool {
    let next = others.partition_point(|other| other.end <= range.start);
    others.get(next).is_some_and(|other| other.start < range.end)
}

fn contains(ranges: &[Range<usize>], at: usize) -> bool {
    meets(&(at..at + 1), ranges)
}

fn step<'a>(i: usize, element: NodeRef<'a>, by: &By<'a>) -> Step<'a> {
    by.id_of(element).map_or(Step::Index(i), |id| id.step(by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_schema::schema::Inference;

    #[test]
    fn what_begins_in_a_range_is_named_by_resource_and_keys() {
        let text = "# head\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: prod\nspec:\n  # how many\n  replicas: 1\n  template:\n    spec:\n      containers:\n      - name: app\n        image: a:1\n      - {name: b, image: b}\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n  data:\n    x: y\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: d}\n";
        let document = Document::parse(text).expect("valid");
        let of = |needle: &str| {
            let start = text.find(needle).expect("in the text");
            let types = Types::new([], Inference::On);
            let found = Finder::new(&document, &types).spots(std::slice::from_ref(&(start..start + needle.len())));
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
