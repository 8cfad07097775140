//! [`Head`]: what a resource says about itself, and what its host says about it.

use super::{Identity, Seen};
use crate::host::{INDEX, LEGACY_INDEX, LEGACY_PATH, PATH, ROLE};
use crate::list::Listed;
use crate::sieve::{Known, Sieve};
use crate::yaml::{Moves, NodeRef, Place, comment_text};

/// The annotation that holds the folder of an item's package on disk, if the host runs a package together with its sub-packages.
const PACKAGE: &str = "internal.config.kubernetes.io/package-path";

/// The role of dest.
pub(super) const DEST: &str = "dest";

/// The contents of apiVersion, kind and metadata. The fields are those of [`Resource`](super::Resource).
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the fields of a resource have their docs")]
pub struct Head<'a> {
    pub identity: Option<Identity<'a>>,
    pub path: Option<&'a str>,
    pub index: Option<&'a str>,
    pub package: Option<&'a str>,
    pub role: Option<&'a str>,
    pub known_as: Option<&'a str>,
    pub seen: Option<Seen>,
}

/// The maps of a head.
struct Maps<'a> {
    metadata: Option<NodeRef<'a>>,
    annotations: Option<NodeRef<'a>>,
    /// The annotation that gives the resource its role.
    role: Option<(NodeRef<'a>, NodeRef<'a>)>,
    /// Whether the resource or one of its maps may have a key twice.
    repeats: Known,
}

/// Shows each field of a map: its name, its key and its value. Returns whether the map may have a name twice.
fn each_field<'a>(map: Option<NodeRef<'a>>, mut see: impl FnMut(&'a str, NodeRef<'a>, NodeRef<'a>)) -> Known {
    let mut names = Sieve::<8>::default();
    // In a map with `<<`, `fields` leaves out repeated names.
    let mut repeats = if map.is_some_and(NodeRef::has_merge_entry) { Known::Maybe } else { Known::No };
    for (key, value) in map.into_iter().flat_map(NodeRef::fields) {
        let name = key.string();
        repeats = repeats.max(names.add(name.as_bytes()));
        see(name, key, value);
    }
    repeats
}

impl<'a> Head<'a> {
    /// The head of a resource. If it has neither apiVersion nor kind, it has the type that its list gives.
    pub fn of(listed: Listed<'a>) -> Self {
        Self::with_maps(listed).0
    }

    fn with_maps(listed: Listed<'a>) -> (Self, Maps<'a>) {
        // Of fields with one name the first counts, as for `NodeRef::get`.
        let (mut api_version, mut kind, mut metadata) = (None, None, None);
        let of_root = each_field(Some(listed.node), |name, key, value| match name {
            "apiVersion" => _ = api_version.get_or_insert(value),
            "kind" => _ = kind.get_or_insert(value),
            "metadata" => _ = metadata.get_or_insert((key, value)),
            _ => {}
        });
        let (mut name, mut namespace, mut annotations) = (None, None, None);
        let of_metadata = each_field(metadata.map(|(_, metadata)| metadata), |field, _, value| match field {
            "name" => _ = name.get_or_insert(value),
            "namespace" => _ = namespace.get_or_insert(value),
            "annotations" => _ = annotations.get_or_insert(value),
            _ => {}
        });
        let (mut path, mut legacy_path, mut index, mut legacy_index) = (None, None, None, None);
        let (mut package, mut role) = (None, None);
        let of_annotations = each_field(annotations, |name, key, value| match name {
            PATH => _ = path.get_or_insert(value),
            LEGACY_PATH => _ = legacy_path.get_or_insert(value),
            INDEX => _ = index.get_or_insert(value),
            LEGACY_INDEX => _ = legacy_index.get_or_insert(value),
            PACKAGE => _ = package.get_or_insert(value),
            ROLE => _ = role.get_or_insert((key, value)),
            _ => {}
        });
        let text = |value: Option<NodeRef<'a>>| value.and_then(NodeRef::as_str);
        let (mut api_version, mut kind, name, namespace) = (text(api_version), text(kind), text(name), text(namespace));
        if let (None, None, Some((list_version, list_kind))) = (api_version, kind, listed.type_of_list()) {
            (api_version, kind) = (Some(list_version), Some(list_kind));
        }
        let identity = match (api_version, kind, name) {
            (Some(api_version), Some(kind), Some(name)) => {
                Some(Identity { api_version, kind, namespace: namespace.unwrap_or_default(), name })
            }
            _ => None,
        };
        let known_as = metadata.and_then(|(key, value)| known_as(key, value));
        let (path, index) = (text(path).or(text(legacy_path)), text(index).or(text(legacy_index)));
        let package = text(package);
        let repeats = of_root.max(of_metadata).max(of_annotations);
        let metadata = metadata.map(|(_, metadata)| metadata);
        let maps = Maps { metadata, annotations, role, repeats };
        let role = role.map(|(_, role)| role.string());
        (Self { identity, path, index, package, role, known_as, seen: None }, maps)
    }

    /// The head of a resource that is not a list, with its texts taken from the source of its document. So the head outlives the nodes.
    /// `None` if the resource has no identity, or one of its texts is not in the source as it is read.
    pub(super) fn in_source<'s>(node: NodeRef<'_>, source: &'s str) -> Option<Head<'s>> {
        let (head, maps) = Head::with_maps(Listed { node, list: None });
        let role_of_dest = maps.role.filter(|(_, value)| value.string() == DEST);
        let seen =
            maps.metadata.and_then(|metadata| Seen::of([node, metadata], maps.annotations, role_of_dest, maps.repeats));
        Head { seen, ..head }.with_texts(|text| part_of(source, text))
    }

    /// The head of an item that repeats the item of this one, with the texts moved. `None` if only its nodes can tell the head.
    pub(super) fn repeated(&self, source: &'a str, moves: &Moves) -> Option<Self> {
        let head = self.with_texts(|text| {
            let start = offset_of(source, text)?;
            let [start, end] = [start, start + text.len()].map(|at| moves.moved(at as u32) as usize);
            source.get(start..end)
        })?;
        let seen = match self.seen {
            Some(seen) => Some(seen.repeated(moves, [self.role, head.role])?),
            None => None,
        };
        Some(Head { seen, ..head })
    }

    /// The head with other texts. `None` if a text has no other one, or the head is that of a list or has no identity.
    fn with_texts<'t>(&self, text: impl Fn(&str) -> Option<&'t str>) -> Option<Head<'t>> {
        let optional = |given: Option<&str>| given.map_or(Some(None), |given| text(given).map(Some));
        let Identity { api_version, kind, namespace, name } = self.identity?;
        let identity = Identity {
            api_version: text(api_version)?,
            kind: text(kind).filter(|kind| !kind.ends_with("List"))?,
            namespace: if namespace.is_empty() { "" } else { text(namespace)? },
            name: text(name)?,
        };
        Some(Head {
            identity: Some(identity),
            path: optional(self.path)?,
            index: optional(self.index)?,
            package: optional(self.package)?,
            role: optional(self.role)?,
            known_as: optional(self.known_as)?,
            seen: self.seen,
        })
    }
}

/// The part of a text that another text is, by its address in memory; `None` if it is elsewhere.
fn part_of<'s>(whole: &'s str, part: &str) -> Option<&'s str> {
    let start = offset_of(whole, part)?;
    whole.get(start..start.checked_add(part.len())?)
}

/// How far after the beginning of a text another text is in memory.
fn offset_of(whole: &str, part: &str) -> Option<usize> {
    part.as_ptr().addr().checked_sub(whole.as_ptr().addr())
}

/// The `namespace/name` in the comment `# kpt-merge: namespace/name` on `metadata`.
fn known_as<'a>(key: NodeRef<'a>, metadata: NodeRef<'a>) -> Option<&'a str> {
    let comment = comment_text(&Place::of_entry(key, metadata), metadata)?;
    comment.trim_start_matches(['#', ' ']).strip_prefix("kpt-merge:").map(str::trim).filter(|known| known.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::Document;

    #[test]
    fn a_head_outlives_the_nodes_if_the_source_has_its_texts() {
        let head = |text: &'static str| {
            let document = Document::parse(text).expect("valid");
            Head::in_source(document.roots().next().expect("a root"), text).map(|head| format!("{head:?}"))
        };
        let usual = head(
            "apiVersion: v1\nkind: 'A'\nmetadata: # kpt-merge: b/c\n  name: \"d\"\n  annotations:\n    config.kubernetes.io/path: x\n",
        );
        let want = "Head { identity: Some(Identity { api_version: \"v1\", kind: \"A\", namespace: \"\", name: \"d\" }), path: Some(\"x\"), index: None, package: None, role: None, known_as: Some(\"b/c\"), seen: Some(Seen { annotations: (79, 112), role: WithMore }) }";
        assert_eq!(usual.as_deref(), Some(want));
        for text in [
            // An escape is decoded into another text.
            "apiVersion: v1\nkind: A\nmetadata:\n  name: \"\\x61\"\n",
            "apiVersion: v1\nkind: A\nmetadata: {}\n",
            "apiVersion: v1\nkind: AList\nmetadata:\n  name: a\n",
        ] {
            assert_eq!(head(text), None, "{text:?}");
        }
    }
}
