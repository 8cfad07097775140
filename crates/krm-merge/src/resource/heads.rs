//! [`outline()`]: a text with the heads of its unread resources.
//!
//! The three packages of a merge have most resources in common, and in the same order. So after a resource that came before, the next one
//! probably also did, and the reader compares it with that one before it reads it.

use std::collections::hash_map::Entry;

use super::Head;
use crate::hashed::HashMap;
use crate::yaml::{Error, Keep, Keeps, Moves, NodeRef, Outline};

/// The outline of a text, and the heads of the resources that are its parts, in the order of the text.
///
/// # Errors
/// Same as [`Outline::parse`].
pub fn outline(source: &str) -> Result<(Outline<'_>, Vec<Head<'_>>), Error> {
    let mut heads = Heads::of(source);
    let outline = Outline::parse(source, &mut heads)?;
    // There may be no parts although there were heads.
    heads.found.truncate(outline.parts().len());
    heads.found.shrink_to_fit();
    Ok((outline, heads.found))
}

/// The heads of the resources before the next one.
struct Heads<'s> {
    source: &'s str,
    found: Vec<Head<'s>>,
    /// The first head that has each name.
    by_name: HashMap<&'s str, usize>,
    /// The number of an earlier head with the identity of the last resource that has one.
    earlier: Option<usize>,
    /// Whether the last two resources are in the order of the earlier ones.
    order: Order,
}

#[derive(PartialEq)]
enum Order {
    Same,
    Unknown,
}

impl<'s> Heads<'s> {
    fn of(source: &'s str) -> Self {
        Self { source, found: Vec::new(), by_name: HashMap::default(), earlier: None, order: Order::Unknown }
    }

    /// Keeps the head of a resource, or else its nodes.
    fn add(&mut self, head: Option<Head<'s>>) -> Keep {
        let Some((head, identity)) = head.and_then(|head| Some((head, head.identity?))) else { return Keep::Nodes };
        let is_of_same = |number: &usize| self.found.get(*number).is_some_and(|other| other.identity == head.identity);
        if let Some(next) = self.earlier.map(|earlier| earlier + 1).filter(is_of_same) {
            (self.earlier, self.order) = (Some(next), Order::Same);
        } else {
            self.order = Order::Unknown;
            match self.by_name.entry(identity.name) {
                Entry::Occupied(first) => self.earlier = Some(*first.get()),
                Entry::Vacant(new) => _ = new.insert(self.found.len()),
            }
        }
        self.found.push(head);
        Keep::Place
    }
}

impl Keeps for Heads<'_> {
    fn of_item(&mut self, item: NodeRef<'_>) -> Keep {
        self.add(Head::in_source(item, self.source))
    }

    fn likely(&self) -> Option<usize> {
        self.earlier.map(|earlier| earlier + 1).filter(|_| self.order == Order::Same)
    }

    fn of_repeated(&mut self, moves: &Moves) -> Keep {
        let earlier = self.likely().and_then(|likely| self.found.get(likely));
        self.add(earlier.and_then(|earlier| earlier.repeated(self.source, moves)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An item whose lines have these values in their order.
    fn item(values: &[&str]) -> String {
        let [version, kind, known_as, name, namespace, own, role, path, index] = values else { panic!("nine values") };
        format!(
            "- apiVersion: {version}\n  kind: {kind}\n  metadata: # kpt-merge: {known_as}\n    name: {name}\n    namespace: {namespace}\n    annotations:\n      own: {own}\n      config.kubernetes.io/merge-source: {role}\n      config.kubernetes.io/path: {path}\n      config.kubernetes.io/index: {index}\n"
        )
    }

    #[test]
    fn an_item_that_repeats_another_has_the_head_that_its_nodes_tell() {
        let values = ["v1", "ConfigMap", "team/a", "a", "team", "1", "'dest'", "'a.yaml'", "'0'"];
        let named = |name: &'static str| values.map(|value| if value == "a" { name } else { value });
        let package = ["a", "b", "c"].map(|name| item(&named(name))).concat();
        let item_length = package.len() / 3;
        let others = ["d", "'d'", "''", "null", "AList", "'dest'", "original", "12", "d/e", "\"d\\x61\"", "d e"];
        let mut repeated = 0;
        for (i, other) in (0..values.len()).flat_map(|i| others.map(|other| (i, other))) {
            for role in ["'dest'", "'original'"] {
                let mut last = named("c");
                last[6] = role;
                last[i] = other;
                let text =
                    format!("items:\n- a:\n    b: 1\n{package}{}{}z: 1\n", &package[..item_length * 2], item(&last));
                let (outline, heads) = outline(&text).expect("YAML");
                for (part, head) in outline.parts().iter().zip(&heads) {
                    let told = Head::in_source(part.node(), &text).expect("a head");
                    assert_eq!(format!("{head:?}"), format!("{told:?}"), "{text}");
                }
                let mut count = Count { heads: Heads::of(&text), repeated: 0 };
                Outline::parse(&text, &mut count).expect("YAML");
                repeated += count.repeated;
            }
        }
        assert!(repeated > 50, "{repeated}");
    }

    /// Counts the items that repeat others.
    struct Count<'s> {
        heads: Heads<'s>,
        repeated: usize,
    }

    impl Keeps for Count<'_> {
        fn of_item(&mut self, item: NodeRef<'_>) -> Keep {
            self.heads.of_item(item)
        }

        fn likely(&self) -> Option<usize> {
            self.heads.likely()
        }

        fn of_repeated(&mut self, moves: &Moves) -> Keep {
            let keep = self.heads.of_repeated(moves);
            self.repeated += usize::from(keep == Keep::Place);
            keep
        }
    }
}
