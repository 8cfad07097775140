//! Resources: their identity, their place, and which of them belong together.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use krm_merge_core::host::{INDEX, LEGACY_INDEX, LEGACY_PATH, PATH, ROLE, known_to_kpt};
use krm_merge_core::patch::Missing;
pub use krm_schema::schema::files::is_kustomization;
use krm_tree::limit::{Budget, Exceeded, Kind as Written};
use krm_tree::sides::{Side, Sides};
use krm_yaml::hashed::HashSet;
use krm_yaml::secret::Secret;
use krm_yaml::{Document, NodeRef, Place, comment_text, shown};

use crate::list::{self, Listed};

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

/// The annotation that holds the folder of an item's package on disk, if the host runs a package together with its sub-packages.
const PACKAGE: &str = "internal.config.kubernetes.io/package-path";

/// The annotation of a resource that is only for programs that read the package. Such a resource is not for a cluster.
const LOCAL: &str = "config.kubernetes.io/local-config";

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
    /// Its map.
    pub node: NodeRef<'a>,
    /// Where it was found.
    pub origin: Origin,
    /// Its identity; `None` if apiVersion, kind or name is missing, as in a Kustomization.
    pub identity: Option<Identity<'a>>,
    /// What of it no message may show.
    pub secret: Secret,
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
    /// Its path without the folder of its role.
    pub relative_path: Option<&'a str>,
    /// The source of its path.
    pub located: Located,
    /// The number of the input that it comes from, if the role of a source has several, of which each has its own items.
    pub input: Option<u32>,
    /// The folder of dest in which its partner is, or into which it is added.
    pub into: Option<Arc<str>>,
    /// What happens where a resource lacks a place that it has, if it is a source.
    pub missing: Missing,
}

/// The end of a message that a node must be a resource. It has a hint for a JSON patch, which users of kustomize may write instead of one.
pub fn why_no_resource(node: NodeRef<'_>) -> &'static str {
    if is_json_patch(node) { "; a JSON patch (RFC 6902) is none" } else { "" }
}

/// Whether a node is a JSON patch.
pub fn is_json_patch(node: NodeRef<'_>) -> bool {
    node.elements().any(|element| element.get("op").is_some())
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
        // Of fields with one name the first counts, as for `NodeRef::get`.
        let (mut api_version, mut kind, mut metadata) = (None, None, None);
        let mut secret = Secret::Nothing;
        for (key, value) in listed.node.fields() {
            match key.string() {
                "apiVersion" => _ = api_version.get_or_insert(value),
                "kind" => _ = kind.get_or_insert(value),
                "metadata" => _ = metadata.get_or_insert((key, value)),
                field => secret = secret.max(Secret::of_field(field)),
            }
        }
        let (mut name, mut namespace, mut annotations) = (None, None, None);
        if let Some((_, metadata)) = metadata {
            for (key, value) in metadata.fields() {
                match key.string() {
                    "name" => _ = name.get_or_insert(value),
                    "namespace" => _ = namespace.get_or_insert(value),
                    "annotations" => _ = annotations.get_or_insert(value),
                    _ => {}
                }
            }
        }
        let (mut path, mut legacy_path, mut index, mut legacy_index) = (None, None, None, None);
        let (mut package, mut role) = (None, None);
        if let Some(annotations) = annotations {
            for (key, value) in annotations.fields() {
                match key.string() {
                    PATH => _ = path.get_or_insert(value),
                    LEGACY_PATH => _ = legacy_path.get_or_insert(value),
                    INDEX => _ = index.get_or_insert(value),
                    LEGACY_INDEX => _ = legacy_index.get_or_insert(value),
                    PACKAGE => _ = package.get_or_insert(value),
                    ROLE => _ = role.get_or_insert(value),
                    _ => {}
                }
            }
        }
        let text = |value: Option<NodeRef<'a>>| value.and_then(NodeRef::as_str);
        let (api_version, kind) = match (text(api_version), text(kind), listed.type_of_list()) {
            (None, None, Some((of_list, kind))) => (Some(of_list), Some(kind)),
            (api_version, kind, _) => (api_version, kind),
        };
        let secret = secret.max(Secret::of_type(api_version, kind));
        let identity = match (api_version, kind, text(name)) {
            (Some(api_version), Some(kind), Some(name)) => {
                Some(Identity { api_version, kind, namespace: text(namespace).unwrap_or_default(), name })
            }
            _ => None,
        };
        let path = text(path).or(text(legacy_path));
        Self {
            node: listed.node,
            origin,
            identity,
            secret,
            path,
            index: text(index).or(text(legacy_index)),
            package: text(package),
            role: role.map(NodeRef::string),
            known_as: metadata.and_then(|(key, value)| known_as(key, value)),
            list: listed.list,
            relative_path: path,
            located: if path.is_some() { Located::ByAnnotation } else { Located::Nowhere },
            input: None,
            into: None,
            missing: Missing::default(),
        }
    }

    /// The same document as the only one of its file, which its type tells apart: it is one on all sides, whatever it says of itself.
    #[must_use]
    pub fn of_file(self, [api_version, kind]: [&'a str; 2]) -> Self {
        self.known_in_file(Some(Identity { api_version, kind, namespace: "", name: "" }))
    }

    /// The same with this identity. A file without a name may have a Secret anywhere: the values of a chart among further resources, a
    /// kustomization in a patch.
    #[must_use]
    pub fn known_in_file(self, identity: Option<Identity<'a>>) -> Self {
        let has_secret = Secret::is_in(self.node().document().source());
        let secret = if has_secret { Secret::All } else { self.secret };
        Self { identity, secret, ..self }
    }

    /// What of a resource no message may show: what is secret on one side is secret.
    pub fn secret(sides: Sides<Option<&Self>>) -> Secret {
        sides.iter().filter_map(|(_, side)| Some(side.as_ref()?.secret)).max().unwrap_or_default()
    }

    /// Its file, from the root of the package that is merged; `None` if it is in no file.
    pub fn file(&self) -> Option<&str> {
        let of_origin = match &self.origin {
            Origin::File { name, .. } => Some(&**name),
            Origin::Item(_) | Origin::Listed { .. } | Origin::Field(_) => None,
        };
        self.relative_path.or(of_origin)
    }

    /// Its map.
    pub fn node(&self) -> NodeRef<'a> {
        self.node
    }

    /// Its file in dest: its path in the folder of its role, below the folder that it goes into.
    pub fn path_in_dest(&self) -> Option<Cow<'a, str>> {
        let path = self.relative_path?;
        Some(self.into.as_ref().map_or(Cow::Borrowed(path), |into| Cow::Owned(format!("{into}/{path}"))))
    }

    /// Whether its file lies below a folder, which is written without `/` at its end.
    pub fn is_below(&self, folder: &str) -> bool {
        self.path_in_dest().is_some_and(|path| {
            let path = path.strip_prefix("./").unwrap_or(&path);
            path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        })
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

    /// What it says of its identity; what it lacks is empty.
    pub fn named(&self) -> Identity<'a> {
        let text = |path: &[&str]| self.node().at(path).and_then(NodeRef::as_str).unwrap_or_default();
        self.identity.unwrap_or_else(|| Identity {
            api_version: text(&["apiVersion"]),
            kind: text(&["kind"]),
            namespace: text(&["metadata", "namespace"]),
            name: text(&["metadata", "name"]),
        })
    }

    /// Whether it is only for programs that read the package: a Kptfile, or one with the annotation for it. Source: kyaml, where any value
    /// except `false` counts.
    pub fn is_local(&self) -> bool {
        let is_kptfile = self.identity.is_some_and(|i| i.kind == "Kptfile" && i.api_version.starts_with("kpt.dev/"));
        let says = self.node().at(&["metadata", "annotations", LOCAL]).map(NodeRef::string);
        is_kptfile || says.is_some_and(|value| value != "false")
    }

    /// Whether it is the only document of a file, and no resource.
    pub fn is_file(&self) -> bool {
        self.identity.is_some_and(|identity| identity.name.is_empty())
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

    /// Whether it is a resource: one with an identity, or one that the API server will name.
    pub fn is_resource(&self) -> bool {
        self.identity.is_some() || self.is_named_by_server()
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

/// What kpt knows a resource by, in the comment on its `metadata`.
fn known_as<'a>(key: NodeRef<'a>, metadata: NodeRef<'a>) -> Option<&'a str> {
    known_to_kpt(comment_text(&Place::of_entry(key, metadata), metadata)?)
}

/// Marks what was or becomes a Secret: a side has the resource and not the Secret, another side has the Secret and not the resource, and they
/// have the same name or a key of their data in common.
pub fn mark_as_secret<'a>(mut sides: Sides<&mut [Resource<'a>]>) {
    fn name<'a>(resource: &Resource<'a>) -> Option<(&'a str, &'a str)> {
        resource.identity.map(|identity| (identity.namespace, identity.name))
    }
    let is_secret = |resource: &&Resource<'a>| resource.secret == Secret::All;
    let secrets = Sides::of(|side| -> HashSet<_> { sides[side].iter().filter(is_secret).filter_map(name).collect() });
    if Side::ALL.into_iter().all(|side| secrets[side].is_empty()) {
        return;
    }
    let of_side = |side: Side| -> HashSet<Identity<'a>> { sides[side].iter().filter_map(|own| own.identity).collect() };
    let identities = LazyCell::new(|| Sides::of(of_side));
    let mut turned: HashSet<Identity<'a>> = HashSet::default();
    for (side, other) in Side::ALL.into_iter().flat_map(|side| Side::ALL.map(|other| (side, other))) {
        let is_gone = |own: &&Resource<'a>| name(own).is_some_and(|name| !secrets[side].contains(&name));
        let gone = || sides[other].iter().filter(is_secret).filter(is_gone);
        let names: HashSet<_> = gone().filter_map(name).collect();
        if names.is_empty() {
            continue;
        }
        let keys: HashSet<&str> = gone().flat_map(data_keys).collect();
        let is_turned = |own: &&Resource<'a>| {
            own.identity.is_some_and(|identity| !identities[other].contains(&identity))
                && name(own).is_some_and(|name| !secrets[side].contains(&name))
                && (name(own).is_some_and(|name| names.contains(&name)) || data_keys(own).any(|key| keys.contains(key)))
        };
        turned.extend(sides[side].iter().filter(is_turned).filter_map(|own| own.identity));
    }
    for side in Side::ALL {
        let own = sides[side].iter_mut().filter(|resource| resource.identity.is_some_and(|i| turned.contains(&i)));
        own.for_each(|resource| resource.secret = Secret::All);
    }
}

/// The keys of the data of a Secret, or of what has data as a Secret has it.
fn data_keys<'a>(resource: &Resource<'a>) -> impl Iterator<Item = &'a str> {
    let node = resource.node();
    let data = ["data", "stringData", "binaryData"].into_iter().filter_map(move |field| node.get(field));
    data.flat_map(NodeRef::fields).map(|(key, _)| key.string())
}

/// Whether a text holds resources: one with an identity, or a list of resources, which may be empty.
pub fn are_in(text: &Document<'_>) -> bool {
    let is_resource = |listed| Resource::listed(listed, Origin::Field(String::new())).identity.is_some();
    text.roots().any(|root| list::is_list(root) || list::resources(root).into_iter().any(is_resource))
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

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::Document;

    /// Whether each ConfigMap of these versions is marked as a Secret.
    fn marked(texts: [&String; 3]) -> Vec<bool> {
        let documents = texts.map(|text| Document::parse(text.as_str()).expect("valid"));
        let mut all = documents
            .each_ref()
            .map(|document| document.roots().map(|root| Resource::read(root, Origin::Item(0))).collect::<Vec<_>>());
        let [original, updated, dest] = &mut all;
        mark_as_secret(Sides { original, updated, dest });
        let maps = all.iter().flatten().filter(|own| own.identity.is_some_and(|i| i.kind == "ConfigMap"));
        maps.map(|map| map.secret == Secret::All).collect()
    }

    #[test]
    fn what_a_side_turned_into_a_secret_is_secret() {
        let [map, secret] =
            ["ConfigMap", "Secret"].map(|kind| format!("{{apiVersion: v1, kind: {kind}, metadata: {{name: a}}}}\n"));
        let both = format!("{map}---\n{secret}");
        for (texts, want) in [
            ([&map, &secret, &map], true),
            ([&map, &map, &secret], true),
            ([&both, &both, &both], false),
            // Upstream deleted the ConfigMap, and had the Secret before.
            ([&both, &secret, &both], false),
            ([&map, &map, &both], false),
        ] {
            assert!(marked(texts).into_iter().all(|is_secret| is_secret == want), "{texts:?}");
        }
    }

    #[test]
    fn what_has_another_name_and_the_data_of_a_secret_that_is_gone_is_secret() {
        let of = |kind: &str, name: &str, data: &str| {
            format!("{{apiVersion: v1, kind: {kind}, metadata: {{name: {name}}}, data: {data}}}\n")
        };
        let secret = of("Secret", "a", "{password: x, user: y}");
        let [alike, other, string] =
            ["{password: z}", "{host: z}", "[password]"].map(|data| of("ConfigMap", "b", data));
        let both = format!("{secret}---\n{alike}");
        for (texts, want) in [
            ([&secret, &alike, &secret], true),
            ([&secret, &secret, &alike], true),
            ([&secret, &alike, &alike], true),
            ([&alike, &secret, &alike], true),
            ([&secret, &other, &secret], false),
            ([&secret, &string, &secret], false),
            // The Secret is still there.
            ([&secret, &both, &secret], false),
            ([&both, &alike, &both], false),
        ] {
            assert!(marked(texts).into_iter().all(|is_secret| is_secret == want), "{texts:?}");
        }
    }
}
