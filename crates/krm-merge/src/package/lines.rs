//! [`Lines`]: how much of the text of two resources is the same.
//!
//! git follows a file that moved if at least half of its lines stay. Resources are compared in the same way, but layout does not count.

use std::collections::HashMap;

use crate::host::is_transport;
use crate::leaves::{HALF, hash};
use crate::resource::Resource;
use crate::yaml::{Kind, NodeRef};

/// The lines of a resource, as git compares them: each value with its key, at any place, because a field above it may have another name.
/// The host's additions do not count. The fields of the identity do not count either, because they may differ.
#[derive(Debug, Default)]
pub(super) struct Lines {
    counts: HashMap<u64, usize>,
    total: usize,
}

impl Lines {
    /// Those of a resource.
    pub(super) fn of(resource: &Resource<'_>) -> Self {
        let mut lines = Self::default();
        for (key, value) in resource.node.entries() {
            match key.string() {
                "apiVersion" | "kind" => {}
                "metadata" => lines.add_metadata(value),
                name => lines.add(name, value),
            }
        }
        lines
    }

    fn add_metadata(&mut self, metadata: NodeRef<'_>) {
        for (key, value) in metadata.entries() {
            match key.string() {
                "name" | "namespace" => {}
                "annotations" => {
                    let own = value.entries().filter(|(key, _)| !is_transport(key.string()));
                    own.for_each(|(key, value)| self.add(key.string(), value));
                }
                name => self.add(name, value),
            }
        }
    }

    fn add(&mut self, key: &str, node: NodeRef<'_>) {
        match node.kind() {
            Kind::Map => node.entries().for_each(|(key, value)| self.add(key.string(), value)),
            Kind::List => node.elements().for_each(|element| self.add("", element)),
            Kind::Scalar => node.string().lines().for_each(|line| self.push(hash((key, line.trim())))),
            Kind::Alias => self.push(hash((key, node.text()))),
        }
    }

    /// The number of different lines.
    pub(super) fn different(&self) -> usize {
        self.counts.len()
    }

    /// Whether two resources may be one that moved: at least half of their lines are the same, or both have none.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.total.max(other.total) == 0 || self.same_of_thousand(other) >= HALF
    }

    fn push(&mut self, line: u64) {
        *self.counts.entry(line).or_default() += 1;
        self.total += 1;
    }

    /// How many of each thousand lines of the longer one both have.
    pub(super) fn same_of_thousand(&self, other: &Self) -> u32 {
        let (few, many) = if self.counts.len() < other.counts.len() { (self, other) } else { (other, self) };
        let same = few.counts.iter().map(|(line, count)| many.counts.get(line).map_or(0, |other| *count.min(other)));
        same.sum::<usize>().saturating_mul(1000).checked_div(self.total.max(other.total)).unwrap_or_default() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Origin;
    use crate::yaml::Document;

    #[test]
    fn a_line_is_the_same_wherever_it_stands() {
        let documents =
            ["{labels: {a: 1}, specs: [{path: x, kind: y}]}", "{labels: {a: 2}, fields: [{path: x, kind: y}]}"]
                .map(|text| Document::parse(text.to_owned()).expect("valid"));
        let [old, new] = documents
            .each_ref()
            .map(|d| Lines::of(&Resource::read(d.roots().next().expect("a root"), Origin::Item(0))));
        assert_eq!(old.same_of_thousand(&new), 666);
    }

    #[test]
    fn what_the_host_adds_and_who_a_resource_is_are_no_text_of_it() {
        let lines = |text: &str| {
            let document = Document::parse(text.to_owned()).expect("valid");
            Lines::of(&Resource::read(document.roots().next().expect("a root"), Origin::Item(0))).total
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
