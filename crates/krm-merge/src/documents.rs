//! The text of a file after a merge: its documents edited, removed and sorted.
//!
//! New documents are first written after the rest, and then all are sorted. So no edit touches text that another edit moves.

use std::ops::Range;

use krm_yaml::{Document, Edit, NodeRef, TextEdits, ends_line, extent, next_line, trim_end};

use crate::alias;
use crate::child::By;
use crate::limit::Budget;
use crate::list;
use crate::splice::{self, Unwritable};
use crate::tree::{Branch, Tree};

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

/// The edits of a text whose documents are edited and removed. Each document comes with its range; the ranges are disjoint, and in the order
/// of the text.
pub fn changes<'i>(text: &str, documents: impl IntoIterator<Item = (Range<usize>, &'i Item)>) -> TextEdits {
    // What stays of the text before each document: it says whether a document is open there.
    let (mut before, mut all) = (String::new(), Vec::new());
    let mut written = 0;
    for (range, item) in documents {
        if *item == Item::Stays {
            continue;
        }
        before.push_str(&text[written..range.start]);
        written = range.end;
        if let Item::Edited(edits) = item {
            let is_within = |edit: &&Edit| range.start <= edit.range.start && edit.range.end <= range.end;
            all.extend(edits.iter().filter(is_within).cloned());
            before.push_str(&edits.apply(text, range));
            continue;
        }
        // Three dots end a document, so they are removed with it, unless they now end the document before it.
        if text[written..].starts_with("...") && is_ended(&before) {
            written = next_line(text, written);
        }
        all.push(Edit { range: range.start..written, text: String::new() });
    }
    TextEdits::sorted(all)
}

/// Appends documents, which have no `---` at the top, to a text.
pub fn append(text: &mut String, documents: &str, line_break: &str) {
    if !text.trim().is_empty() {
        *text = ended(std::mem::take(text));
        text.push_str(&format!("---{line_break}"));
    }
    text.push_str(&documents.replace('\n', line_break));
}

/// The offset after the comments at the top of a text that belong to the text as a whole; 0 if there are none. A blank line or a `---`
/// separates them from the first resource.
pub fn below_header(text: &str) -> usize {
    let (mut at, mut below) = (0, 0);
    while at < text.len() {
        let next = next_line(text, at);
        match trim_end(text[at..next].trim_start_matches('\u{feff}')) {
            "" => below = next,
            "---" => below = at,
            line if line.starts_with('#') => {}
            _ => break,
        }
        at = next;
    }
    below
}

/// A text with its resources sorted by these keys: one for each resource, in the order of the text. A document or element that holds
/// several resources uses the least of their keys. A document without resources follows the one before it; an element keeps its place.
///
/// A text stays in its order if its documents have directives, or if aliases connect its elements.
///
/// # Errors
/// The new text exceeds the rest of the budget.
pub fn sorted<K: Ord>(text: String, keys: &[K], budget: &Budget) -> Result<String, Unwritable> {
    if keys.is_sorted() {
        return Ok(text);
    }
    let text = ended(text);
    let Ok(document) = Document::parse(text.as_str()) else { return Ok(text) };
    let roots: Vec<NodeRef<'_>> = document.roots().collect();
    let Some(mut firsts) = firsts(&roots, keys) else { return Ok(text) };
    // A document of comments follows the one before it.
    for at in 1..firsts.len() {
        firsts[at] = firsts[at].or(firsts[at - 1]);
    }
    let mut edits = Vec::new();
    let mut rest = keys;
    for root in &roots {
        let (own, others) = rest.split_at(list::resources(*root).len());
        rest = others;
        if let Some(tree) = sorted_list(*root, own) {
            edits.push(splice::edits(*root, &tree, budget)?);
        }
    }
    let edits = TextEdits::default().union(edits)?;
    let order = order_of(&firsts);
    if order.is_sorted() {
        return Ok(edits.apply(&text, 0..text.len()));
    }
    if !budget.take(text.len()) {
        return Ok(budget.check(crate::limit::Kind::Text).map(|()| text)?);
    }
    Ok(in_order(&roots, &edits, &order).unwrap_or_else(|| edits.apply(&text, 0..text.len())))
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

/// The order of the items with a key, by the keys; the rest stays in its place.
fn order_of<K: Ord>(keys: &[Option<&K>]) -> Vec<usize> {
    let places: Vec<usize> = (0..keys.len()).filter(|at| keys[*at].is_some()).collect();
    let mut by_key = places.clone();
    by_key.sort_by_key(|at| keys[*at]);
    let mut order: Vec<usize> = (0..keys.len()).collect();
    for (place, at) in places.into_iter().zip(by_key) {
        order[place] = at;
    }
    order
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

/// The text of documents in another order, with edits within them; `None` if a document has directives. A `---` without a comment stays
/// where it is, and so do the comments that belong to the text as a whole.
fn in_order(roots: &[NodeRef<'_>], edits: &TextEdits, order: &[usize]) -> Option<String> {
    let document = roots.first()?.document();
    let source = document.source();
    let header = below_header(source);
    let parts: Vec<DocumentLines> = roots.iter().map(|root| DocumentLines::of(*root, header)).collect();
    if roots.iter().any(|root| source[extent(*root).start..].trim_start_matches('\u{feff}').starts_with('%')) {
        return None;
    }
    let mut out = String::with_capacity(source.len());
    let mut written = 0;
    for (part, from) in parts.iter().zip(order) {
        out.push_str(&source[written..part.mark.start]);
        let body = edits.apply(source, parts[*from].body.clone());
        if !body.starts_with("---") {
            out.push_str(&source[part.mark.clone()]);
            // Other readers split a text at each `---`, so one with a comment leaves a bare one behind.
            let had_mark = || source[part.body.clone()].starts_with("---") && last_said(&out).is_some();
            if part.mark.is_empty() && (!is_ended(&out) || had_mark()) {
                out.extend(["---", document.line_break()]);
            }
        }
        out.push_str(&source[part.mark.end..part.body.start]);
        out.push_str(&body);
        written = part.body.end;
    }
    out.push_str(&source[written..]);
    Some(out)
}

/// The lines of a document: its `---`, if nothing else is on that line, and the rest. Comments that belong to the text as a whole are in
/// neither.
struct DocumentLines {
    mark: Range<usize>,
    body: Range<usize>,
}

impl DocumentLines {
    /// The parts of a document. `header` is the end of the comments that belong to the text as a whole.
    fn of(root: NodeRef<'_>, header: usize) -> Self {
        let source = root.document().source();
        let lines = extent(root);
        let start = lines.start.max(if source.starts_with('\u{feff}') { 3 } else { 0 });
        let top = header.clamp(start, lines.end);
        if !source[start..].starts_with("---") {
            return Self { mark: top..top, body: top..lines.end };
        }
        let next = next_line(source, start);
        let mark = start..if trim_end(&source[start..next]) == "---" { next } else { start };
        let body = top.max(mark.end)..lines.end;
        Self { mark, body }
    }
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

/// Whether no document is open at the end of a text.
fn is_ended(text: &str) -> bool {
    last_said(text).is_none_or(|line| line.starts_with("..."))
}

/// The last line of a text that is neither blank nor a comment.
fn last_said(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('\u{feff}');
    text.lines().rev().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_order_of(text: &str, keys: &[usize]) -> String {
        sorted(text.to_owned(), keys, &Budget::default()).expect("small")
    }

    #[test]
    fn documents_are_put_into_an_order() {
        for (text, keys, want) in [
            ("a: 1\n---\nb: 2\n", &[1, 0][..], "b: 2\n---\na: 1\n"),
            ("a: 1\n---\nb: 2\n---\nc: 3\n", &[1, 2, 0], "c: 3\n---\na: 1\n---\nb: 2\n"),
            ("a: 1\n---\nb: 2", &[1, 0], "b: 2\n---\na: 1\n"),
            // Each document takes its comments along, and a block scalar keeps its value.
            (
                "# of a\na: |+\n  x\n\n---\n# of b\nb: 2\n# foot\n",
                &[1, 0],
                "# of b\nb: 2\n# foot\n---\n# of a\na: |+\n  x\n\n",
            ),
            ("a: 1\n---\nb: |\n  x", &[1, 0], "b: |-\n  x\n---\na: 1\n"),
            ("---\na: 1\n--- # b\nb: 2\n", &[1, 0], "--- # b\nb: 2\n---\na: 1\n"),
            ("a: 1\n--- {b: 2}\n---\nc: 3\n", &[2, 1, 0], "c: 3\n--- {b: 2}\n---\na: 1\n"),
            ("a: 1\n--- {b: 2}\n", &[1, 0], "--- {b: 2}\n---\na: 1\n"),
            // Comments of the file stay above.
            ("# licence\n\n# of a\na: 1\n---\nb: 2\n", &[1, 0], "# licence\n\nb: 2\n---\n# of a\na: 1\n"),
            ("# licence\n---\na: 1\n---\nb: 2\n", &[1, 0], "# licence\n---\nb: 2\n---\na: 1\n"),
            ("\u{feff}a: 1\r\n---\r\nb: 2\r\n", &[1, 0], "\u{feff}b: 2\r\n---\r\na: 1\r\n"),
            ("a: 1\n...\nb: 2\n...\n", &[1, 0], "b: 2\n...\na: 1\n...\n"),
            // Other readers need the `---` below three dots.
            ("a: 1\n...\n--- # c\nc: 3\n---\nb: 2\n", &[0, 2, 1], "a: 1\n...\n---\nb: 2\n--- # c\nc: 3\n"),
            // A document of comments follows the one before it.
            ("a: 1\n---\n# none\n---\nb: 2\n", &[1, 0], "b: 2\n---\na: 1\n---\n# none\n"),
            ("---\n# none\n---\na: 1\n---\nb: 2\n", &[1, 0], "---\n# none\n---\nb: 2\n---\na: 1\n"),
            // Directives cannot move, so the order stays.
            ("%YAML 1.2\n---\na: 1\n---\nb: 2\n", &[1, 0], "%YAML 1.2\n---\na: 1\n---\nb: 2\n"),
        ] {
            assert_eq!(in_order_of(text, keys), want, "{text:?}");
            let values = |text: &str| {
                let document = Document::parse(text.to_owned()).expect("valid");
                let mut all: Vec<_> =
                    document.roots().map(|r| splice::to_json(r, &Budget::default()).expect("small")).collect();
                all.sort();
                all
            };
            assert_eq!(values(text), values(want), "{text:?}");
        }
    }

    #[test]
    fn elements_of_lists_are_put_into_an_order() {
        let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
        let two = list("# of a\n- a: 1\n- b: 2 # b\n");
        let swapped = list("- b: 2 # b\n# of a\n- a: 1\n");
        assert_eq!(in_order_of(&two, &[1, 0]), swapped);
        assert_eq!(in_order_of(&format!("{two}---\nc: 3\n"), &[2, 1, 0]), format!("c: 3\n---\n{swapped}"));
        assert_eq!(in_order_of(&format!("{two}---\nc: 3\n"), &[2, 0, 1]), format!("{swapped}---\nc: 3\n"));
        let json = "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{\"a\": 1}, {\"b\": 2}]}\n";
        assert_eq!(in_order_of(json, &[1, 0]), json.replace("{\"a\": 1}, {\"b\": 2}", "{\"b\": 2}, {\"a\": 1}"));
        // An alias must come after its anchor, so the order stays.
        let bound = list("- a: &x 1\n- b: *x\n");
        assert_eq!(in_order_of(&bound, &[1, 0]), bound);
    }
}
