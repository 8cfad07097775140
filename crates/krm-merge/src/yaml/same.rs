//! Whether two nodes mean the same, whatever their layout, their comments and the order of their fields.

use super::node::{Kind, NodeRef, Style};
use crate::hashed::HashMap;

/// Whether two nodes mean the same: maps without regard to order, lists in order, scalars by type and value.
pub fn same(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    let (a, b) = (a.resolve(), b.resolve());
    if a.kind() != b.kind() {
        return false;
    }
    if are_written_alike(a, b) {
        return true;
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
/// same column, and maps and lists must be in documents without anchors and tags.
pub(crate) fn are_written_alike(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    a.style() == b.style()
        && a.text() == b.text()
        && a.tag() == b.tag()
        && match a.style() {
            Style::Literal | Style::Folded => a.string() == b.string(),
            Style::Plain | Style::Single | Style::Double => true,
            Style::Block | Style::Flow => {
                a.doc.props.is_empty()
                    && b.doc.props.is_empty()
                    && (a.style() == Style::Flow || a.column() == b.column())
                    && last_of(a) == last_of(b)
            }
        }
}

/// The text of the last scalar in a container. What is below a block scalar decides how many line breaks it keeps.
fn last_of<'a>(container: NodeRef<'a>) -> &'a str {
    NodeRef { doc: container.doc, id: container.subtree().end - 1 }.string()
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
