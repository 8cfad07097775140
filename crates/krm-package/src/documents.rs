//! Documents of a text: what happens to each, how it is written as one of another text, and the order of the resources in it.

use krm_tree::alias;
use krm_tree::child::By;
use krm_tree::limit::{self, Budget};
use krm_tree::splice::{self, Unwritable};
use krm_tree::tree::{Branch, Tree};
use krm_yaml::{Document, DocumentParts, NodeRef, TextEdits, ends_line};

use crate::list;

/// What happens to one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// It stays as it is.
    Stays,
    /// It stays, with these edits of the text that contains it.
    Edited(TextEdits),
    /// It is removed.
    Goes,
}

/// A document that a text gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewDocument {
    /// The comment on the line of its `---`; empty if it has none.
    pub mark: String,
    /// Its lines below the `---`, which end with a line feed.
    pub body: String,
}

impl NewDocument {
    /// A document of another text.
    pub fn of(own: &DocumentParts<'_>, source: &str) -> Self {
        let body = source[own.body.clone()].replace("\r\n", "\n");
        Self { mark: own.comment_at_mark(source).to_owned(), body: ended(body) }
    }

    /// A resource as a document. One that is a document keeps its text, with what is around it.
    ///
    /// # Errors
    /// The errors of [`splice::standalone`].
    pub fn of_resource(tree: &Tree<'_>, budget: &Budget) -> Result<Self, Unwritable> {
        let own = tree.like().filter(|like| like.is_root()).map(DocumentParts::of);
        let source = own.as_ref().map_or("", |own| own.root.document().source());
        // Names of tags and a value on the line of the `---` cannot be taken apart from it.
        let is_apart =
            |own: &DocumentParts<'_>| !source[own.mark.clone()].contains("%TAG") && !own.has_mark_in_body(source);
        let Some(own) = own.filter(is_apart) else {
            return Ok(Self { mark: String::new(), body: splice::standalone(tree, budget)? });
        };
        let edits = splice::edits(own.root, tree, budget)?;
        budget.take(own.body.len());
        budget.check(limit::Kind::Text)?;
        let body = ended(edits.apply(source, own.body.clone())).replace("\r\n", "\n");
        Ok(Self { mark: own.comment_at_mark(source).to_owned(), body })
    }
}

/// Appends documents, which have no `---` at the top, to a text.
pub fn append(text: &mut String, documents: &str, line_break: &str) {
    if !text.trim().is_empty() {
        *text = ended(std::mem::take(text));
        text.push_str(&format!("---{line_break}"));
    }
    text.push_str(&documents.replace('\n', line_break));
}

/// An order of these items by their keys. Those without a key stay in their places.
pub(crate) fn order_of<K: Ord>(keys: &[Option<&K>]) -> Vec<usize> {
    let places: Vec<usize> = (0..keys.len()).filter(|at| keys[*at].is_some()).collect();
    let mut by_key = places.clone();
    by_key.sort_by_key(|at| keys[*at]);
    let mut order: Vec<usize> = (0..keys.len()).collect();
    for (place, at) in places.into_iter().zip(by_key) {
        order[place] = at;
    }
    order
}

/// The least key of each document or element, if there is a key for each resource.
fn firsts<'k, K: Ord>(nodes: &[NodeRef<'_>], keys: &'k [K]) -> Option<Vec<Option<&'k K>>> {
    let mut rest = keys;
    let mut firsts = Vec::with_capacity(nodes.len());
    for node in nodes {
        let (own, others) = rest.split_at_checked(list::resources(*node).len())?;
        firsts.push(own.iter().min());
        rest = others;
    }
    rest.is_empty().then_some(firsts)
}

/// The text of a document with the resources of its list sorted by these keys: one for each resource, in the order of the text. An element that
/// holds several resources uses the least of their keys. If aliases connect the elements, they stay in their order.
///
/// # Errors
/// The new text exceeds the rest of the budget.
pub fn sorted<K: Ord>(text: String, keys: &[K], budget: &Budget) -> Result<String, Unwritable> {
    if keys.is_sorted() {
        return Ok(text);
    }
    let Ok(document) = Document::parse(text.as_str()) else { return Ok(text) };
    let tree = document.roots().next().and_then(|root| Some((root, sorted_list(root, keys)?)));
    match tree {
        Some((root, tree)) => Ok(splice::edits(root, &tree, budget)?.apply(&text, 0..text.len())),
        None => Ok(text),
    }
}

/// A document that is a list with its elements in their new order; `None` if they are already in that order.
fn sorted_list<'a, K: Ord>(document: NodeRef<'a>, keys: &[K]) -> Option<Tree<'a>> {
    let items = list::items_of(document).filter(|_| !keys.is_sorted())?;
    let elements: Vec<NodeRef<'a>> = items.elements().collect();
    let firsts = firsts(&elements, keys)?;
    let order = order_of(&firsts);
    if elements.iter().enumerate().any(|(at, element)| order[at] != at && alias::shared(*element).is_some()) {
        return None;
    }
    let mut branch = Branch::of(items, By::Index);
    let mut rest = keys;
    for (entry, element) in branch.entries.iter_mut().zip(&elements) {
        let (own, others) = rest.split_at(list::resources(*element).len());
        rest = others;
        if let Some(tree) = sorted_list(*element, own) {
            entry.value = Some(tree);
        }
    }
    branch.put(&order);
    Some(list::with_items(document, items, branch))
}

/// Ends the last line of a text with a line break, if it has none. A block scalar at the end keeps its value.
pub fn ended(mut text: String) -> String {
    if ends_line(&text) {
        return text;
    }
    let document = Document::parse(text.as_str()).ok();
    let line_break = document.as_ref().map_or("\n", Document::line_break);
    if let Some(edit) = document.as_ref().and_then(splice::closed_end) {
        text.replace_range(edit.range, &edit.text);
    }
    if !ends_line(&text) {
        text.push_str(line_break);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_moves_only_what_has_a_key() {
        let order = |keys: &[Option<u32>]| order_of(&keys.iter().map(Option::as_ref).collect::<Vec<_>>());
        assert_eq!(order(&[Some(2), None, Some(1), Some(1)]), [2, 1, 3, 0]);
        assert_eq!(order(&[None, None]), [0, 1]);
    }

    #[test]
    fn elements_of_lists_are_put_into_an_order() {
        let in_order_of =
            |text: &str, keys: &[usize]| sorted(text.to_owned(), keys, &Budget::default()).expect("small");
        let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
        let two = list("# of a\n- a: 1\n- b: 2 # b\n");
        assert_eq!(in_order_of(&two, &[1, 0]), list("- b: 2 # b\n# of a\n- a: 1\n"));
        let json = "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{\"a\": 1}, {\"b\": 2}]}\n";
        assert_eq!(in_order_of(json, &[1, 0]), json.replace("{\"a\": 1}, {\"b\": 2}", "{\"b\": 2}, {\"a\": 1}"));
        // An alias must come after its anchor, so the order stays.
        let bound = list("- a: &x 1\n- b: *x\n");
        assert_eq!(in_order_of(&bound, &[1, 0]), bound);
        let before = list("- a: &x 1\n- b: *x\n- c: 3\n- d: 4\n");
        let after = list("- a: &x 1\n- b: *x\n- d: 4\n- c: 3\n");
        assert_eq!(in_order_of(&before, &[0, 1, 3, 2]), after);
    }

    #[test]
    fn a_new_document_needs_nothing_that_is_above_it() {
        let new = |text: &str| {
            let document = Document::parse(text).expect("valid");
            let tree = Tree::Node(document.roots().next().expect("a root"));
            NewDocument::of_resource(&tree, &Budget::default()).map(|new| new.body)
        };
        let body = new("--- {a: 1}\n").expect("small");
        assert!(!body.starts_with("---") && Document::parse(body.as_str()).is_ok(), "{body:?}");
        // Without its directive, the tag has no meaning.
        assert!(new("%TAG !e! tag:example.com,2000:\n---\na: !e!x 1\n").is_err());
    }
}
