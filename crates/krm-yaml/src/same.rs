//! Whether two nodes mean the same, whatever their layout, their comments and the order of their fields.

use crate::hashed::HashMap;
use crate::node::{Kind, NodeRef, Style};

/// Whether two nodes mean the same: maps without regard to order, lists in order, scalars by type and value. A tag is
/// a part of the meaning.
pub fn same(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    let (a, b) = (a.resolve(), b.resolve());
    match (a.is_link(), b.is_link()) {
        (true, true) => return a.text() == b.text(),
        (false, false) => {}
        // One side wrote the link out.
        _ => return same(a.target(), b.target()),
    }
    if a.kind() != b.kind() {
        return false;
    }
    if are_written_alike(a, b) {
        return true;
    }
    if a.container_tag() != b.container_tag() {
        return false;
    }
    match a.kind() {
        Kind::Scalar => a.scalar() == b.scalar(),
        Kind::List => {
            let mut others = b.elements();
            a.elements().all(|x| others.next().is_some_and(|y| same(x, y))) && others.next().is_none()
        }
        Kind::Map => same_maps(a, b),
        Kind::Alias => false,
    }
}

/// Whether equal text proves that two nodes mean the same; it is the fast way to yes. Neither node is an alias. Blocks must also be in the
/// same column, and maps and lists must have no anchors, tags and aliases.
pub fn are_written_alike(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    a.style() == b.style()
        && a.text() == b.text()
        && a.tag() == b.tag()
        && match a.style() {
            Style::Literal | Style::Folded => a.string() == b.string(),
            Style::Plain | Style::Single | Style::Double => true,
            Style::Block | Style::Flow => {
                !a.has_props_within()
                    && !b.has_props_within()
                    && (a.style() == Style::Flow || a.column() == b.column())
                    && block_at_end(a).zip(block_at_end(b)).is_none_or(|(a, b)| a == b)
            }
        }
}

/// The text of the block scalar at the end of a container. What is below it decides how many line breaks it keeps.
fn block_at_end<'a>(container: NodeRef<'a>) -> Option<&'a str> {
    let last = container.subtree().end - 1;
    let found = container.doc.blocks.binary_search_by_key(&last, |(id, _)| *id);
    found.is_ok().then(|| NodeRef { doc: container.doc, id: last }.string())
}

fn same_maps(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    // Fields are mostly in the same order, so the next one is tried before the map is searched.
    let mut others: Vec<(&str, NodeRef<'_>)> = Vec::new();
    for (key, value) in b.fields() {
        if key.is_container() {
            return false;
        }
        others.push((key.string(), value));
    }
    let mut index: Option<HashMap<&str, usize>> = None;
    let mut count = 0;
    for (i, (key, value)) in a.fields().enumerate() {
        if key.is_container() {
            return false;
        }
        let name = key.string();
        let found = match others.get(i) {
            Some(other) if other.0 == name => Some(i),
            _ if others.len() <= 8 => others.iter().position(|o| o.0 == name),
            _ => index
                .get_or_insert_with(|| others.iter().enumerate().map(|(i, o)| (o.0, i)).collect())
                .get(name)
                .copied(),
        };
        if !found.is_some_and(|i| same(value, others[i].1)) {
            return false;
        }
        count += 1;
    }
    count == others.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    #[test]
    fn what_is_below_a_text_is_a_part_of_its_meaning() {
        for (a, b, want) in [
            ("a: {b: 1}\n", "a: {b: 1}", true),
            ("a: |\n  x\n", "a: |\n  x", false),
            ("a: |+\n  x\n", "a: |+\n  x\n\n", false),
            ("- a: |+\n    x\n- b\n", "- a: |+\n    x\n\n- b\n", false),
            ("- a: |\n    x\n- b\n", "- a: |\n    x\n\n- b\n", true),
        ] {
            let documents = [a, b].map(|text| Document::parse(text).expect("valid"));
            let [a, b] = documents.each_ref().map(|document| document.roots().next().expect("a root"));
            assert_eq!(same(a, b), want, "{a:?} {b:?}");
        }
    }
}
