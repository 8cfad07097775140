//! [`ResourceLines`]: how much of the text of two resources is the same.
//!
//! git follows a file that moved if at least half of its lines stay. Resources are compared in the same way, but layout does not count.

use krm_merge_core::host::is_transport;
use krm_tree::leaves::{HALF, Hashes, hash};
use krm_yaml::{Kind, NodeRef};

use crate::resource::Resource;

/// The lines of a resource, as git compares them: each value with its key, at any place, because a field above it may have another name.
/// The host's additions do not count. The fields of the identity do not count either, because they may differ.
#[derive(Debug, Default)]
pub(super) struct ResourceLines {
    hashes: Hashes,
}

impl From<Vec<u64>> for ResourceLines {
    fn from(hashes: Vec<u64>) -> Self {
        Self { hashes: hashes.into() }
    }
}

impl ResourceLines {
    /// The lines of a resource.
    pub(super) fn of(resource: &Resource<'_>) -> Self {
        let mut lines = Vec::new();
        for (key, value) in resource.node().entries() {
            match key.string() {
                "apiVersion" | "kind" => {}
                "metadata" => add_metadata(value, &mut lines),
                name => add(name, value, &mut lines),
            }
        }
        lines.into()
    }

    /// A hash of each line.
    pub(super) fn hashes(&self) -> &Hashes {
        &self.hashes
    }

    /// The number of lines.
    pub(super) fn count(&self) -> usize {
        self.hashes.count()
    }

    /// Whether two resources may be one that moved: at least half of their lines are the same, or both have none.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.count().max(other.count()) == 0 || self.same_of_thousand(other) >= HALF
    }

    /// How many lines both have, in thousandths of the longer one.
    pub(super) fn same_of_thousand(&self, other: &Self) -> u32 {
        let most = self.count().max(other.count());
        self.hashes.common(&other.hashes).saturating_mul(1000).checked_div(most).unwrap_or_default() as u32
    }
}

fn add_metadata(metadata: NodeRef<'_>, lines: &mut Vec<u64>) {
    for (key, value) in metadata.entries() {
        match key.string() {
            "name" | "namespace" => {}
            "annotations" => {
                let own = value.entries().filter(|(key, _)| !is_transport(key.string()));
                own.for_each(|(key, value)| add(key.string(), value, lines));
            }
            name => add(name, value, lines),
        }
    }
}

fn add(key: &str, node: NodeRef<'_>, lines: &mut Vec<u64>) {
    match node.kind() {
        Kind::Map => node.entries().for_each(|(key, value)| add(key.string(), value, lines)),
        Kind::List => node.elements().for_each(|element| add("", element, lines)),
        Kind::Scalar => lines.extend(node.string().lines().map(|line| hash((key, line.trim())))),
        Kind::Alias => lines.push(hash((key, node.text()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Origin;
    use krm_yaml::Document;

    #[test]
    fn a_line_is_the_same_wherever_it_stands() {
        let documents =
            ["{labels: {a: 1}, specs: [{path: x, kind: y}]}", "{labels: {a: 2}, fields: [{path: x, kind: y}]}"]
                .map(|text| Document::parse(text.to_owned()).expect("valid"));
        let [old, new] = documents
            .each_ref()
            .map(|d| ResourceLines::of(&Resource::read(d.roots().next().expect("a root"), Origin::Item(0))));
        assert_eq!(old.same_of_thousand(&new), 666);
    }

    #[test]
    fn what_the_host_adds_and_who_a_resource_is_are_no_text_of_it() {
        let lines = |text: &str| {
            let document = Document::parse(text.to_owned()).expect("valid");
            ResourceLines::of(&Resource::read(document.roots().next().expect("a root"), Origin::Item(0))).count()
        };
        for (text, want) in [
            ("{apiVersion: v1, kind: A, metadata: {name: a, namespace: b}}", 0),
            ("{kind: A, metadata: {annotations: {internal.config.kubernetes.io/path: f, mine: x}, labels: {a: b}}}", 2),
            ("data:\n  script: |\n    one\n    two\n  list: [a, {b: c}]\n", 4),
        ] {
            assert_eq!(lines(text), want, "{text}");
        }
    }
}
