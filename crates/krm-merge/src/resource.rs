//! Resources: their identity, their place, and which of them belong together.

mod body;
mod head;
mod heads;
mod seen;

use std::collections::BTreeMap;
use std::fmt;

use crate::alias;
use crate::edits::{Edit, TextEdits};
use crate::hashed::{Empty, HashMap};
use crate::limit::{Budget, Exceeded, Kind as Written};
use crate::list::{self, Listed};
use crate::shown;
use crate::tree::Tree;
use crate::yaml::NodeRef;
use seen::{Leaves, Lines};

pub use body::{Bodies, Body, Nodes, Unread};
pub use head::Head;
pub use heads::outline;
pub use seen::Seen;

/// The identity of a resource. Two resources with the same identity are the same; it is compared exactly, as in the Kubernetes API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity<'a> {
    /// `group/version`, or `version` for the core group.
    pub api_version: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The namespace; empty if none is written.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

impl fmt::Display for Identity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", shown::name(self.api_version), self.called())
    }
}

impl Identity<'_> {
    /// The name of the resource in messages: `Deployment prod/web`.
    pub fn called(&self) -> String {
        let [kind, namespace, name] = [self.kind, self.namespace, self.name].map(shown::name);
        if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") }
    }
}

/// The fields that make up an identity.
pub const IDENTITY: [&[&str]; 4] = [&["apiVersion"], &["kind"], &["metadata", "namespace"], &["metadata", "name"]];

/// Where a resource was found, for messages.
#[derive(Clone, Debug)]
pub enum Origin {
    /// It is this item of the ResourceList.
    Item(usize),
    /// It is in a list among the items of the ResourceList, or after such a list.
    Listed {
        /// Its number among the items, where each resource of a list counts as one.
        item: usize,
        /// Its place: `items[3].items[0]`.
        field: String,
    },
    /// It is in a file that the host reads and writes itself, so the host needs no annotation to find it again.
    File {
        /// The file, as the user knows it.
        name: String,
        /// Its number among the items; `None` if it only plays a role.
        item: Option<usize>,
    },
    /// It is in this field of the functionConfig.
    Field(String),
}

impl Origin {
    /// Its number among the items.
    pub fn item(&self) -> Option<usize> {
        match self {
            Self::Item(i) | Self::Listed { item: i, .. } => Some(*i),
            Self::File { item, .. } => *item,
            Self::Field(_) => None,
        }
    }

    /// The name of the text that contains the resource, for messages.
    pub fn text(&self) -> String {
        match self {
            Self::Item(_) | Self::Listed { .. } => "stdin".to_owned(),
            Self::File { name, .. } => name.clone(),
            Self::Field(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(i) => write!(f, "`items[{i}]`"),
            Self::File { name, .. } => f.write_str(name),
            Self::Listed { field, .. } | Self::Field(field) => write!(f, "`{field}`"),
        }
    }
}

/// The source of a resource's path in the folder of its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Located {
    /// The annotations of the host. They change when the resource moves.
    ByAnnotation,
    /// The file from which the resource was read, in a folder.
    ByFile,
    /// None: the resource is not in a file, or its file was given without its folder.
    Nowhere,
}

/// A resource, and the contents of its head: apiVersion, kind and metadata.
#[derive(Clone, Debug)]
pub struct Resource<'a> {
    /// Its map, or where its map is.
    pub body: Body<'a>,
    /// Where it was found.
    pub origin: Origin,
    /// Its identity; `None` if apiVersion, kind or name is missing, as in a Kustomization.
    pub identity: Option<Identity<'a>>,
    /// Its file, from the annotations of the host.
    pub path: Option<&'a str>,
    /// Its number in the file, from the annotations of the host.
    pub index: Option<&'a str>,
    /// The folder of its package on disk, from the annotations of the host.
    pub package: Option<&'a str>,
    /// The role that its annotation gives it.
    pub role: Option<&'a str>,
    /// The `namespace/name` by which its package knows it, if a comment says so; see [`Resource::package_identity`].
    pub known_as: Option<&'a str>,
    /// The list that it is an item of; `None` for a document, and for an item of the host.
    pub list: Option<NodeRef<'a>>,
    /// What was seen of it, if only its place is kept and nothing in it is unusual.
    pub seen: Option<Seen>,
    /// Its path without the folder of its role.
    pub relative_path: Option<&'a str>,
    /// The source of its path.
    pub located: Located,
    /// The number of the target that selects the items to which it applies; `None` if it applies to the item with its identity.
    pub target: Option<u32>,
}

/// The end of a message that a node must be a resource. It has a hint for a JSON patch, which users of kustomize may write instead of one.
pub fn why_no_resource(node: NodeRef<'_>) -> &'static str {
    let is_json_patch = node.elements().any(|e| e.get("op").is_some());
    if is_json_patch { "; a JSON patch (RFC 6902) is none" } else { "" }
}

impl<'a> Resource<'a> {
    /// Reads the head of a resource.
    pub fn read(node: NodeRef<'a>, origin: Origin) -> Self {
        Self::listed(Listed { node, list: None }, origin)
    }

    /// Reads the heads of the resources of a document: of the document itself, or of the elements of its list.
    pub fn of_document(document: NodeRef<'a>, origin: impl Fn(usize) -> Origin) -> Vec<Self> {
        let all = list::resources(document).into_iter().enumerate();
        all.map(|(number, listed)| Self::listed(listed, origin(number))).collect()
    }

    /// Reads the head of a resource. If it has neither apiVersion nor kind, it has the type that its list gives.
    pub fn listed(listed: Listed<'a>, origin: Origin) -> Self {
        Self { list: listed.list, ..Self::with_head(Body::Nodes(listed.node), Head::of(listed), origin) }
    }

    /// A resource whose head was read before.
    pub fn with_head(body: Body<'a>, head: Head<'a>, origin: Origin) -> Self {
        let Head { identity, path, index, package, role, known_as, seen } = head;
        let located = if path.is_some() { Located::ByAnnotation } else { Located::Nowhere };
        Self {
            body,
            origin,
            identity,
            path,
            index,
            package,
            role,
            known_as,
            list: None,
            seen,
            relative_path: path,
            located,
            target: None,
        }
    }

    /// Its map. If only its place is kept, this reads it.
    pub fn node(&self) -> NodeRef<'a> {
        self.body.node()
    }

    /// Whether only its place is kept.
    pub fn is_unread(&self) -> bool {
        matches!(self.body, Body::Place(_))
    }

    /// Its nodes for a while: dropped with the result, unless the resource keeps them or many items need them.
    pub fn nodes(&self) -> Nodes<'a> {
        match self.body {
            Body::Place(place) if self.target.is_none() => place.read(),
            body => Nodes::Kept(body.node()),
        }
    }

    /// The resource with the nodes that [`Resource::nodes`] gave.
    #[must_use]
    pub fn with<'i>(&self, read: &'i Nodes<'a>) -> Resource<'i> {
        Resource { body: Body::Nodes(read.node()), ..self.clone() }
    }

    /// The place of the resource and what was seen of it, if its nodes were dropped and nothing in it is unusual.
    fn unread(&self) -> Option<(&'a dyn Unread, Seen)> {
        match self.body {
            Body::Place(place) => Some((place, self.seen?)),
            Body::Nodes(_) => None,
        }
    }

    /// Whether upstream left a resource as it was, so that a merge changes nothing in dest. This reads no nodes, and is `false` if only
    /// nodes can tell.
    pub fn is_untouched(original: &Self, updated: &Self, dest: &Self) -> bool {
        let lines = |side: &Self| side.unread().and_then(|(place, seen)| Lines::of(place, seen));
        // If dest's role does not go alone, a merge tells what goes with it.
        let goes_alone = |seen: Seen| dest.role.is_none() || seen.role == Leaves::Alone;
        dest.unread().is_some_and(|(_, seen)| goes_alone(seen))
            && lines(original).zip(lines(updated)).is_some_and(|(a, b)| a == b)
    }

    /// Its text, with the comments around it, if its nodes were dropped. It is a list with the resource as its only element.
    pub fn unread_text(&self) -> Option<&'a str> {
        match self.body {
            Body::Place(place) => place.source().get(place.lines()),
            Body::Nodes(_) => None,
        }
    }

    /// Same as [`Resource::unread_text`], with edits, which are all in this text.
    pub fn edited_text(&self, edits: &TextEdits) -> Option<String> {
        match self.body {
            Body::Place(place) => Some(edits.apply(place.source(), place.lines())),
            Body::Nodes(_) => None,
        }
    }

    /// The edit that removes the annotation of dest's role, if no nodes are needed for it.
    pub fn without_role(&self) -> Option<TextEdits> {
        let (place, seen) = self.unread()?;
        let range = seen.line_of_role(place.source())?;
        Some(Edit { range, text: String::new() }.into())
    }

    /// An alias that connects the resource with another one. An unread item has no aliases.
    pub fn shared_alias(&self) -> Option<NodeRef<'a>> {
        match self.body {
            Body::Nodes(node) => alias::shared(node),
            Body::Place(_) => None,
        }
    }

    /// An alias in another resource that would mean something else if this one becomes a tree, or goes: see [`alias::breaks_elsewhere`].
    pub fn broken_elsewhere(&self, becomes: Option<&Tree<'a>>) -> Option<NodeRef<'a>> {
        match self.body {
            Body::Nodes(node) => alias::breaks_elsewhere(node, becomes),
            Body::Place(_) => None,
        }
    }

    /// The aliases in other resources whose anchors are in this one.
    pub fn aliases_elsewhere(&self) -> impl Iterator<Item = NodeRef<'a>> {
        let read = match self.body {
            Body::Nodes(node) => Some(node),
            Body::Place(_) => None,
        };
        read.into_iter().flat_map(alias::from_elsewhere)
    }

    /// Whether a node is in the resource.
    pub fn holds(&self, node: NodeRef<'_>) -> bool {
        matches!(self.body, Body::Nodes(own) if own.holds(node))
    }

    /// Its path in the folder of its role; `None` if other sides cannot know it by that path.
    pub fn place(&self) -> Option<&'a str> {
        self.relative_path.filter(|_| self.located != Located::Nowhere)
    }

    /// Whether it is a CustomResourceDefinition.
    pub fn is_definition(&self) -> bool {
        self.identity
            .is_some_and(|i| i.kind == "CustomResourceDefinition" && i.api_version.starts_with("apiextensions.k8s.io/"))
    }

    /// The identity by which a package knows it: a `# kpt-merge: namespace/name` comment on `metadata` replaces namespace and name. Source:
    /// kpt writes it when a function renames a resource from upstream.
    pub fn package_identity(&self) -> Option<Identity<'a>> {
        let identity = self.identity?;
        let known = self.known_as.and_then(|known| known.split_once('/'));
        Some(known.map_or(identity, |(namespace, name)| Identity { namespace, name, ..identity }))
    }

    /// The first field that it lacks for an identity.
    pub fn missing(&self) -> Option<&'static str> {
        if self.identity.is_some() {
            return None;
        }
        let has = |path: &[&str]| self.node().at(path).and_then(NodeRef::as_str).is_some();
        Some(if !has(&["apiVersion"]) {
            "apiVersion"
        } else if !has(&["kind"]) {
            "kind"
        } else {
            "metadata.name"
        })
    }

    /// Whether it lacks only a name, because the API server shall make one from its `generateName`.
    pub fn is_named_by_server(&self) -> bool {
        self.missing() == Some("metadata.name") && self.node().at(&["metadata", "generateName"]).is_some()
    }

    /// Its origin and its file, for messages: `` `items[3]` (overlays/web.yaml) ``, or file and line.
    pub fn whereabouts(&self) -> String {
        match (&self.origin, self.path) {
            (Origin::File { name, .. }, _) => format!("{name}:{}", self.node().position().line),
            (origin, Some(path)) => format!("{origin} ({path})"),
            (origin, None) => origin.to_string(),
        }
    }
}

/// The paths of items that are in sub-packages, by their numbers, relative to the package that the function runs on. An item that already
/// has such a path is not in it.
///
/// `kpt fn render` gives an item the path in its own package, and the folder of that package on disk; the running package is the one that
/// contains all of them. Source: kpt's `internal/util/render`, `pathRelToRoot`.
///
/// # Errors
/// The paths exceed the rest of the budget.
pub fn paths_in_sub_packages(items: &[Resource<'_>], budget: &Budget) -> Result<BTreeMap<usize, String>, Exceeded> {
    let parts = |package: &'_ str| package.split('/').map(str::to_owned).collect::<Vec<_>>();
    let mut root: Option<Vec<String>> = None;
    for package in items.iter().filter_map(|item| item.package) {
        match &mut root {
            None => root = Some(parts(package)),
            Some(root) => root.truncate(root.iter().zip(package.split('/')).take_while(|(a, b)| a == b).count()),
        }
    }
    let depth = root.map_or(0, |r| r.len());
    let path = |item: &Resource<'_>| {
        let below: Vec<&str> = item.package?.split('/').skip(depth).collect();
        let path = item.path.filter(|_| !below.is_empty())?;
        Some(budget.paid(item.package?.len() + path.len(), || format!("{}/{path}", below.join("/"))))
    };
    let paths = items.iter().enumerate().filter_map(|(number, item)| Some((number, path(item)?))).collect();
    budget.check(Written::Text).map(|()| paths)
}

/// The places of resources, for messages. If there are many, only the first ones are named.
pub fn all_whereabouts<'r, 'a: 'r>(resources: impl ExactSizeIterator<Item = &'r Resource<'a>>) -> String {
    const SHOWN: usize = 20;
    let more = resources.len().saturating_sub(SHOWN);
    let mut places: Vec<String> = resources.take(SHOWN).map(Resource::whereabouts).collect();
    if more > 0 {
        places.push(format!("and {more} more"));
    }
    places.join(", ")
}

/// Resources by identity, so that finding a partner is one look-up.
#[derive(Debug)]
pub struct Index<'r, 'a> {
    resources: &'r [Resource<'a>],
    by_identity: HashMap<Identity<'a>, Vec<usize>>,
}

impl<'r, 'a> Index<'r, 'a> {
    /// An index of these resources. A resource without an identity is not in it.
    pub fn of(resources: &'r [Resource<'a>]) -> Self {
        let mut by_identity: HashMap<Identity<'a>, Vec<usize>> = HashMap::with_capacity(resources.len());
        for (i, resource) in resources.iter().enumerate() {
            if let Some(identity) = resource.identity {
                by_identity.entry(identity).or_default().push(i);
            }
        }
        Self { resources, by_identity }
    }

    /// The number of the resource with an identity and, if several have it, with the path.
    ///
    /// # Errors
    /// Several have the identity, and not exactly one of them has the path: a message that names their files.
    pub fn partner(&self, identity: Identity<'_>, path: Option<&str>) -> Result<Option<usize>, String> {
        let found = self.by_identity.get(&identity).map_or(&[][..], Vec::as_slice);
        match found {
            [] => return Ok(None),
            [only] => return Ok(Some(*only)),
            _ => {}
        }
        let mut at_path = found.iter().filter(|i| path.is_some() && self.resources[**i].relative_path == path);
        if let (Some(only), None) = (at_path.next(), at_path.next()) {
            return Ok(Some(*only));
        }
        let places = all_whereabouts(found.iter().map(|i| &self.resources[*i]));
        Err(format!(
            "`{identity}` must be one item, or the one with the path of its partner, not {}: {places}; give the source the path of the one that is meant, or a `target` that selects all of them",
            found.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::Document;

    #[test]
    fn the_path_says_which_of_several_is_meant() {
        let doc = Document::parse("{apiVersion: v1, kind: A, metadata: {name: a}}").expect("valid");
        let read = |path| {
            let resource = Resource::read(doc.roots().next().expect("a root"), Origin::Item(0));
            Resource { path: Some(path), relative_path: Some(path), ..resource }
        };
        let resources = [read("x.yaml"), read("y.yaml")];
        let identity = resources[0].identity.expect("an identity");
        let index = Index::of(&resources);
        assert_eq!(index.partner(identity, Some("y.yaml")), Ok(Some(1)));
        let refused = index.partner(identity, Some("z.yaml")).expect_err("refused");
        for part in ["(x.yaml)", "(y.yaml)", "give the source the path of the one that is meant"] {
            assert!(refused.contains(part), "{refused}");
        }
    }
}
