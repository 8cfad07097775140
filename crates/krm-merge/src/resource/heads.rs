//! [`outline()`]: a text with the heads of its unread resources.
//!
//! The three packages of a merge have most resources in common, and in the same order. So after a resource that came before, the next one
//! probably also did, and the reader compares it with that one before it reads it.

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

/// The heads of the resources before the next one. All numbers are those of heads.
struct Heads<'s> {
    source: &'s str,
    found: Vec<Head<'s>>,
    /// The first head with each name.
    by_name: HashMap<&'s str, usize>,
    /// For each head, the last one after it with the same identity, as far as it is known.
    last_of_same: Vec<Option<usize>>,
    /// The head before the last resource that had the same identity.
    earlier: Option<usize>,
    /// The head that the next resource is likely to repeat.
    likely: Option<usize>,
}

/// How many resources in a row may be missing in a package that has the order of the one before it.
const MISSING: usize = 1;

impl<'s> Heads<'s> {
    fn of(source: &'s str) -> Self {
        let (found, by_name, last_of_same) = (Vec::new(), HashMap::default(), Vec::new());
        Self { source, found, by_name, last_of_same, earlier: None, likely: None }
    }

    /// Keeps the head of a resource, or else its nodes.
    fn add(&mut self, head: Option<Head<'s>>) -> Keep {
        let Some((head, identity)) = head.and_then(|head| Some((head, head.identity?))) else { return Keep::Nodes };
        let number = self.found.len();
        let is_of_same = |number: &usize| self.found.get(*number).is_some_and(|other| other.identity == head.identity);
        let next = self.earlier.map(|earlier| earlier + 1).filter(is_of_same);
        match next.or_else(|| self.by_name.get(identity.name).copied()) {
            Some(first) => {
                // Updated is more like original than like dest, so the last one counts.
                let last = self.last_of_same[first].unwrap_or(first);
                self.last_of_same[last] = Some(number);
                let missing = self.earlier.and_then(|before| last.checked_sub(before + 1));
                self.likely = missing.filter(|missing| *missing <= MISSING).map(|_| last + 1);
                self.earlier = Some(last);
            }
            // It is new, and the others around it may have their order.
            None => _ = self.by_name.insert(identity.name, number),
        }
        self.found.push(head);
        self.last_of_same.push(None);
        Keep::Place
    }
}

impl Keeps for Heads<'_> {
    fn of_item(&mut self, item: NodeRef<'_>) -> Keep {
        self.add(Head::in_source(item, self.source))
    }

    fn likely(&self) -> Option<usize> {
        self.likely
    }

    fn of_repeated(&mut self, moves: &Moves) -> Keep {
        let earlier = self.likely.and_then(|likely| self.found.get(likely));
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
