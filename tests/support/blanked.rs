//! No byte of content lies outside of the tree.

use krm_yaml::{Document, Kind, NodeRef};

/// Checks that only indicators are left of a text once the span of each node and of each comment is blank.
pub fn check(text: &str) {
    let doc = Document::parse(text).expect("valid");
    let mut bytes = text.as_bytes().to_vec();
    let mut blank = |start: usize, end: usize| bytes[start..end].fill(b' ');
    let mut todo: Vec<NodeRef<'_>> = doc.roots().collect();
    while let Some(node) = todo.pop() {
        if matches!(node.kind(), Kind::Scalar | Kind::Alias) {
            blank(node.full_start().min(node.start()), node.end());
        } else {
            blank(node.full_start(), node.start().max(node.full_start()));
            todo.extend(node.entries().flat_map(|(k, v)| [k, v]));
            todo.extend(node.elements());
        }
    }
    for (start, end) in doc.comments_in(0..text.len()) {
        blank(start, end);
    }
    let left: String = String::from_utf8_lossy(&bytes)
        .chars()
        .filter(|c| !c.is_whitespace() && !"-:?,[]{}\u{feff}".contains(*c))
        .collect();
    let left = left.replace("...", "");
    assert!(left.is_empty(), "{left:?} lies outside of the tree of\n{text}");
}
