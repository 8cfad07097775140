//! Lists of resources, as `kubectl get` prints them: documents that are not resources, but contain resources.
//!
//! A resource stays in its place in its list. A list may hold lists.

use krm_tree::child::By;
use krm_tree::tree::{Branch, Tree};
use krm_yaml::{Document, NodeRef};

/// The kinds of lists that do not name the type of their items.
const KINDS: [&str; 2] = ["List", "ResourceList"];

/// The list of a document that holds resources in its `items`: a List, a ResourceList, or a list of one type, such as a `ConfigMapList`. A
/// document with a name is a resource of its own type, unless it is a ResourceList or kubectl's List.
pub fn items_of(document: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let kind = kind_of(document)?;
    let is_plain = kind == "ResourceList" || (kind == "List" && text(document, "apiVersion") == Some("v1"));
    let is_list = is_plain || document.at(&["metadata", "name"]).is_none();
    document.get("items").filter(|items| is_list && items.is_list())
}

/// Whether a document is such a list, but its items are absent or null.
pub fn is_open(document: NodeRef<'_>) -> bool {
    let Some(kind) = kind_of(document) else { return false };
    let is_unnamed = document.get("apiVersion").is_some() && document.at(&["metadata", "name"]).is_none();
    is_unnamed && document.get("items").map_or(KINDS.contains(&kind), NodeRef::is_null)
}

fn kind_of(document: NodeRef<'_>) -> Option<&str> {
    text(document, "kind").filter(|kind| kind.ends_with("List"))
}

fn text<'a>(document: NodeRef<'a>, field: &str) -> Option<&'a str> {
    document.get(field).and_then(NodeRef::as_str)
}

/// The maps of a text that are resources: its documents, or the elements of lists.
pub fn nodes<'a>(text: &'a Document<'_>) -> impl Iterator<Item = NodeRef<'a>> {
    text.roots().flat_map(resources).map(|listed| listed.node)
}

/// Whether a document is a list of resources, which may be empty.
pub fn is_list(document: NodeRef<'_>) -> bool {
    items_of(document).is_some() || is_open(document)
}

/// A resource, and the list that contains it.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// The resource.
    pub node: NodeRef<'a>,
    /// The document or element that is its list; `None` for a document of its own.
    pub list: Option<NodeRef<'a>>,
}

impl<'a> Listed<'a> {
    /// The apiVersion and kind that its list gives for the elements. Source: apimachinery's decoder of unstructured lists.
    pub fn type_of_list(&self) -> Option<(&'a str, &'a str)> {
        let list = self.list?;
        let kind = kind_of(list)?.strip_suffix("List").filter(|kind| !kind.is_empty())?;
        Some((text(list, "apiVersion")?, kind)).filter(|_| kind_of(list) != Some("ResourceList"))
    }
}

/// The resources of a document, in order: the document itself, or the resources in its lists.
pub fn resources(document: NodeRef<'_>) -> Vec<Listed<'_>> {
    let mut found = Vec::new();
    each(Listed { node: document, list: None }, &mut |listed| found.push(listed));
    found
}

fn each<'a>(listed: Listed<'a>, see: &mut dyn FnMut(Listed<'a>)) {
    let list = Some(listed.node);
    match ListPart::of(listed.node) {
        ListPart::Resource => see(listed),
        ListPart::List(items) => items.elements().for_each(|node| each(Listed { node, list }, see)),
        ListPart::Neither => {}
    }
}

/// What a document, or an element of a list of resources, is.
pub enum ListPart<'a> {
    /// A resource.
    Resource,
    /// A list with these items.
    List(NodeRef<'a>),
    /// Neither of them.
    Neither,
}

impl<'a> ListPart<'a> {
    /// Looks at a document or an element.
    pub fn of(node: NodeRef<'a>) -> Self {
        if !node.is_map() {
            return Self::Neither;
        }
        // Most are resources, and are asked once.
        if kind_of(node).is_none() {
            return Self::Resource;
        }
        match items_of(node) {
            Some(items) => Self::List(items),
            None if is_open(node) => Self::Neither,
            None => Self::Resource,
        }
    }
}

/// A list without the resources that go, each of which is asked for once, in order. If a list inside of it loses all its resources, it is
/// removed, too.
pub fn left<'a>(items: NodeRef<'a>, goes: &mut dyn FnMut(NodeRef<'a>) -> bool) -> Branch<'a> {
    Left::of(items, goes).branch
}

/// A list without the resources that go.
struct Left<'a> {
    branch: Branch<'a>,
    any_goes: bool,
    any_stays: bool,
}

impl<'a> Left<'a> {
    fn of(items: NodeRef<'a>, goes: &mut dyn FnMut(NodeRef<'a>) -> bool) -> Self {
        let mut branch = Branch::of(items, By::Index);
        let (mut any_goes, mut any_stays) = (false, false);
        for (entry, element) in branch.entries.iter_mut().zip(items.elements()) {
            let (goes, stays) = match ListPart::of(element) {
                ListPart::Resource => {
                    let is_gone = goes(element);
                    (is_gone, !is_gone)
                }
                ListPart::List(inner) => {
                    let left = Self::of(inner, goes);
                    if left.any_goes {
                        entry.value = Some(with_items(element, inner, left.branch));
                    }
                    (left.any_goes, left.any_stays)
                }
                ListPart::Neither => continue,
            };
            if goes && !stays {
                entry.value = None;
            }
            any_goes |= goes;
            any_stays |= stays;
        }
        Self { branch, any_goes, any_stays }
    }
}

/// A document with these new items instead of its own.
pub fn with_items<'a>(document: NodeRef<'a>, items: NodeRef<'a>, new: Branch<'a>) -> Tree<'a> {
    let mut branch = Branch::of(document, By::Field);
    if let Some(at) = document.entries().position(|(_, value)| value.is(items)) {
        branch.entries[at].value = Some(Tree::Branch(Box::new(new)));
    }
    branch.into_tree()
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_tree::limit::Budget;
    use krm_tree::splice;
    use krm_yaml::Document;

    /// The names of the resources of a document, each with the type that its list gives.
    fn names(text: &str) -> String {
        let document = Document::parse(text).expect("valid");
        let name = |listed: Listed<'_>| {
            let name = listed.node.at(&["metadata", "name"]).map_or("-", NodeRef::string).to_owned();
            listed.type_of_list().map_or(name.clone(), |(version, kind)| format!("{name}:{version}/{kind}"))
        };
        let all: Vec<String> = document.roots().flat_map(resources).map(name).collect();
        all.join(" ")
    }

    #[test]
    fn lists_of_any_kind_are_read_as_their_items() {
        let a = "{kind: A, metadata: {name: a}}";
        let b = "{metadata: {name: b}}";
        for (head, want) in [
            ("apiVersion: v1, kind: List", "a b"),
            ("apiVersion: v1, kind: List, metadata: {name: all}", "a b"),
            ("apiVersion: v1, kind: ConfigMapList", "a:v1/ConfigMap b:v1/ConfigMap"),
            (
                "apiVersion: apps/v1, kind: DeploymentList, metadata: {resourceVersion: '1'}",
                "a:apps/v1/Deployment b:apps/v1/Deployment",
            ),
            ("apiVersion: config.kubernetes.io/v1, kind: ResourceList", "a b"),
            // These are resources, not lists.
            ("apiVersion: example.com/v1, kind: AllowList, metadata: {name: own}", "own"),
            ("apiVersion: example.com/v1, kind: List, metadata: {name: own}", "own"),
            ("apiVersion: example.com/v1, kind: Listing, metadata: {name: own}", "own"),
        ] {
            assert_eq!(names(&format!("{{{head}, items: [{a}, {b}, text]}}")), want, "{head}");
        }
        let inner = format!("{{apiVersion: v1, kind: List, items: [{b}]}}");
        assert_eq!(names(&format!("{{apiVersion: v1, kind: List, items: [{inner}, {a}, {inner}]}}")), "b a b");
        for empty in ["items: []", "items: null", ""] {
            assert_eq!(names(&format!("{{apiVersion: v1, kind: List, {empty}}}")), "", "{empty}");
        }
        // A list of one type without `items` is not a list.
        assert_eq!(names("{apiVersion: v1, kind: ConfigMapList, items: null}"), "");
        assert_eq!(names("{apiVersion: v1, kind: ConfigMapList}"), "-");
    }

    #[test]
    fn what_goes_leaves_the_rest_where_it_stands() {
        let text = "kind: List\nitems:\n- a: 1 # one\n- kind: List\n  items:\n  # two\n  - b: 2\n  - c: 3\n- kind: List\n  items:\n  - d: 4\n";
        let document = Document::parse(text).expect("valid");
        let root = document.roots().next().expect("a root");
        let items = items_of(root).expect("a list");
        let goes = |node: NodeRef<'_>| node.get("c").is_some() || node.get("d").is_some();
        let tree = with_items(root, items, left(items, &mut |node| goes(node)));
        let edits = splice::edits(root, &tree, &Budget::default()).expect("small");
        let want = "kind: List\nitems:\n- a: 1 # one\n- kind: List\n  items:\n  # two\n  - b: 2\n";
        assert_eq!(edits.apply(text, 0..text.len()), want);
    }
}
