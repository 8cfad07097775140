//! The text of a file after a merge: its documents edited, removed and added, and every other byte as it was.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use anyhow::{Result, bail};
use krm_merge::child::By;
use krm_merge::documents::{Item, changes, rewrite};
use krm_merge::edits::{Edit, TextEdits};
use krm_merge::limit::Budget;
use krm_merge::list;
use krm_merge::resource::Origin;
use krm_merge::splice;
use krm_merge::tree::{Branch, Entry, Key, Tree};
use krm_merge::yaml::{Document, NodeRef, Place, Style, ends_line, extent, next_line, same};

use crate::side::Held;

/// A resource that is new.
#[derive(Clone, Debug)]
pub struct Added {
    /// Its file, relative to the folder of the role that it comes from.
    pub path: Option<String>,
    /// Where it came from.
    pub origin: Origin,
    /// The resource, one YAML document.
    pub text: String,
}

/// The text of a file of dest after a merge.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The text.
    pub text: String,
    /// What makes it of the text that was there.
    pub edits: TextEdits,
}

impl Edited {
    /// A text that has nothing of the one that was there.
    fn anew(source: &str, text: String) -> Result<Self> {
        let edits = TextEdits::of(vec![Edit { range: 0..source.len(), text: text.clone() }])?;
        Ok(Self { text, edits })
    }
}

/// The text of a file of dest of whose resources, each with what becomes of it, and the ones that are added to it; `None` where nothing is
/// left in it.
///
/// # Errors
/// A resource that would have to be added to a JSON file; a text that takes more than is left of the budget.
pub fn edited(
    held: &Held,
    items: &[(NodeRef<'_>, &Item)],
    added: &[&Added],
    budget: &Budget,
) -> Result<Option<Edited>> {
    let Some(document) = held.document() else { bail!("{}: the file must hold resources", held.name) };
    let going = items.iter().filter(|(_, item)| **item == Item::Goes);
    let going: HashSet<usize> = going.map(|(node, _)| node.start()).collect();
    let gone = |node: NodeRef<'_>| going.contains(&node.start());
    let roots: Vec<NodeRef<'_>> = document.roots().filter(|root| !root.is_null()).collect();
    if !going.is_empty() && roots.iter().all(|root| gone(*root)) {
        let left = (!added.is_empty()).then(|| Edited::anew(document.source(), joined(added)));
        return left.transpose();
    }
    let documents = added.iter().map(|a| Document::parse(a.text.as_str())).collect::<Result<Vec<_>, _>>()?;
    let new = || documents.iter().flat_map(Document::roots).map(|value| Entry::new(None, Tree::Node(value)));
    let written = Document::parse(elements(added))?;
    let written = || written.roots().next().and_then(|root| root.entries().next());
    // What is new goes into the first list, where there is one.
    let first = roots.iter().position(|root| list::items_of(*root).is_some() || list::is_open(*root));
    let mut edits: HashMap<usize, Vec<TextEdits>> = HashMap::new();
    for (node, item) in items {
        if let (Item::Edited(of_item), Some(root)) = (item, root_of(&roots, *node)) {
            edits.entry(root).or_default().push(of_item.clone());
        }
    }
    for (i, root) in roots.iter().enumerate() {
        let takes_new = !added.is_empty() && first == Some(i);
        let Some(items) = list::items_of(*root) else {
            if let Some((key, value)) = written().filter(|_| takes_new) {
                edits.entry(i).or_default().push(splice::edits(*root, &filled(*root, key, value), budget)?);
            }
            continue;
        };
        if !takes_new && !list::resources(*root).iter().any(|listed| gone(listed.node)) {
            continue;
        }
        let mut branch = list::left(items, &gone);
        branch.entries.extend(new().filter(|_| takes_new));
        let tree = list::with_items(*root, items, branch);
        edits.entry(i).or_default().push(splice::edits(*root, &tree, budget)?);
    }
    let fates = roots.iter().enumerate().map(|(i, root)| match edits.remove(&i) {
        _ if gone(*root) => Ok(Item::Goes),
        None => Ok(Item::Stays),
        Some(edits) => TextEdits::default().union(edits).map(Item::Edited),
    });
    let fates: Vec<Item> = fates.collect::<Result<_, _>>()?;
    let (source, ranges) = (document.source(), extents(&roots, &fates));
    let edits = changes(source, ranges.iter().cloned().zip(&fates));
    let mut text = rewrite(source, ranges.into_iter().zip(&fates));
    if first.is_some() || added.is_empty() {
        return Ok(Some(Edited { text, edits }));
    }
    if held.path.ends_with(".json") {
        bail!("{}: a JSON file must hold one resource, so another one cannot be added to it", held.name);
    }
    let before = text.clone();
    append(&mut text, added, document.line_break());
    match text.strip_prefix(&before) {
        Some(tail) => {
            let tail = Edit { range: source.len()..source.len(), text: tail.to_owned() };
            let edits = edits.union([TextEdits::of(vec![tail])?])?;
            Ok(Some(Edited { text, edits }))
        }
        // A block scalar at the end was closed first.
        None => Edited::anew(source, text).map(Some),
    }
}

/// The number of the document that a resource is, or lies in.
fn root_of(roots: &[NodeRef<'_>], node: NodeRef<'_>) -> Option<usize> {
    roots.partition_point(|root| root.start() <= node.start()).checked_sub(1)
}

/// A list without `items` with these.
fn filled<'a>(root: NodeRef<'a>, key: NodeRef<'a>, value: NodeRef<'a>) -> Tree<'a> {
    let mut branch = Branch::of(root, By::Field);
    match root.entries().position(|(key, _)| key.string() == "items") {
        Some(at) => branch.entries[at].value = Some(Tree::Node(value)),
        None => branch.push(Entry::new(Some(Key::Node(key)), Tree::Node(value))),
    }
    branch.into_tree()
}

/// New resources as the `items` of a list.
fn elements(added: &[&Added]) -> String {
    let mut out = String::from("items:\n");
    for added in added {
        for (i, line) in added.text.lines().enumerate() {
            let indent = if i == 0 { "- " } else { "  " };
            out.push_str(&format!("{}\n", if line.is_empty() { String::new() } else { format!("{indent}{line}") }));
        }
    }
    out
}

/// Where each document lies that is edited or goes. The first one that goes leaves what stands above it, set apart by a blank line, to
/// the file; where nothing does, the mark of the first one that is left goes, too.
pub fn extents(roots: &[NodeRef<'_>], fates: &[Item]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = roots.iter().map(|root| extent(*root)).collect();
    let leading = fates.iter().take_while(|fate| **fate == Item::Goes).count();
    let (Some(root), Some(last)) = (roots.first(), leading.checked_sub(1)) else { return ranges };
    let document = root.document();
    let source = document.source();
    let bom = if source.starts_with('\u{feff}') { 3 } else { 0 };
    let first = &mut ranges[0];
    first.start = first.start.max(bom);
    let text = &source[first.clone()];
    if first.start > bom || text.starts_with("---") || text.starts_with('%') {
        return ranges;
    }
    let top = match root.style() {
        Style::Block => Place::of_children(*root).first().map(|place| place.top(document)),
        _ => None,
    };
    let top = top.unwrap_or(first.start).max(first.start);
    if !source[first.start..top].trim().is_empty() {
        first.start = top;
        return ranges;
    }
    let mut mark = ranges[last].end;
    if source[mark..].starts_with("...") {
        mark = next_line(source, mark);
    }
    let next = next_line(source, mark);
    if source[mark..next].trim_end() == "---" {
        ranges[last].end = next;
        if let Some(left) = ranges.get_mut(leading) {
            left.start = left.start.max(next);
        }
    }
    ranges
}

/// Puts new resources behind a text.
pub fn append(text: &mut String, added: &[&Added], line_break: &str) {
    let is_empty = text.trim().is_empty();
    if !is_empty {
        end(text, line_break);
    }
    if !is_empty {
        text.push_str(&format!("---{line_break}"));
    }
    text.push_str(&joined(added).replace('\n', line_break));
}

/// Ends the last line of a text. A block scalar that stands there has no line break at its end, and none comes into its value.
pub fn end(text: &mut String, line_break: &str) {
    if ends_line(text) {
        return;
    }
    if let Some(edit) = Document::parse(text.as_str()).ok().and_then(|document| splice::closed_end(&document)) {
        text.replace_range(edit.range, &edit.text);
    }
    if !ends_line(text) {
        text.push_str(line_break);
    }
}

/// New resources as one text.
fn joined(added: &[&Added]) -> String {
    added.iter().map(|a| a.text.as_str()).collect::<Vec<_>>().join("---\n")
}

/// The text of a file that is new: that of the file which its resources come from, if all of that file's resources come as they are.
pub fn created(added: &[&Added], source: Option<&Held>) -> String {
    let copy = source.and_then(Held::document).filter(|document| {
        let roots: Vec<NodeRef<'_>> = document.roots().filter(|r| !r.is_null()).collect();
        roots.len() == added.len()
            && roots.iter().zip(added).all(|(root, added)| {
                Document::parse(added.text.as_str()).is_ok_and(|d| d.roots().next().is_some_and(|new| same(*root, new)))
            })
    });
    copy.map_or_else(|| joined(added), |document| document.source().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::side::Content;
    use krm_merge::resource::Origin;

    fn held(path: &str, text: &str) -> Held {
        let document = Document::parse(text.to_owned()).expect("valid");
        Held { path: path.into(), name: path.into(), disk: None, content: Content::Resources(Box::new(document)) }
    }

    /// The text, which is what the edits make of the one that was there.
    fn text_of(held: &Held, items: &[(NodeRef<'_>, &Item)], added: &[&Added]) -> Option<String> {
        let edited = edited(held, items, added, &Budget::default()).expect("edited")?;
        let source = held.document().expect("resources").source();
        assert_eq!(edited.edits.apply(source, 0..source.len()), edited.text);
        Some(edited.text)
    }

    /// The text without the documents of these numbers, and with one that is new.
    fn without(text: &str, gone: &[usize], new: Option<&str>) -> Option<String> {
        let held = held("x.yaml", text);
        let roots: Vec<NodeRef<'_>> = held.document().expect("resources").roots().filter(|r| !r.is_null()).collect();
        let items: Vec<(NodeRef<'_>, Item)> = roots
            .iter()
            .enumerate()
            .map(|(i, r)| (*r, if gone.contains(&i) { Item::Goes } else { Item::Stays }))
            .collect();
        let items: Vec<(NodeRef<'_>, &Item)> = items.iter().map(|(r, i)| (*r, i)).collect();
        let added: Vec<Added> = new
            .map(|text| Added { path: None, origin: Origin::Field(String::new()), text: text.to_owned() })
            .into_iter()
            .collect();
        text_of(&held, &items, &added.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_document_goes_and_what_is_the_file_s_stays() {
        let two = "# licence\n\n# one\na: 1\n# of one\n\n---\n# two\nb: 2\n";
        for (text, gone, want) in [
            (two, &[0][..], Some("# licence\n\n---\n# two\nb: 2\n")),
            (two, &[1], Some("# licence\n\n# one\na: 1\n# of one\n\n")),
            (two, &[0, 1], None),
            ("a: 1\n---\nb: 2\n", &[0], Some("b: 2\n")),
            ("# one\na: 1\n---\nb: 2\n", &[0], Some("b: 2\n")),
            ("a: 1\n--- # two\nb: 2\n", &[0], Some("--- # two\nb: 2\n")),
            ("# licence\n---\na: 1\n---\nb: 2\n", &[0], Some("# licence\n---\nb: 2\n")),
            ("a: 1\n...\n---\nb: 2\n", &[0], Some("b: 2\n")),
            ("---\na: 1\n---\nb: 2\n---\nc: 3\n", &[1], Some("---\na: 1\n---\nc: 3\n")),
            ("\u{feff}a: 1\r\n---\r\nb: 2\r\n", &[0], Some("\u{feff}b: 2\r\n")),
            ("a: 1\r...\r---\rb: 2\r", &[0], Some("b: 2\r")),
            ("a: 1\n---\n{b: 2}", &[1], Some("a: 1\n")),
            ("{a: 1}\n---\nb: 2", &[0], Some("b: 2")),
            ("a: 1\n---\nb: 2\n---\nc: 3\n", &[0, 1], Some("c: 3\n")),
            ("\u{feff}a: 1\n...\n---\nb: 2\n...\n---\nc: 3\n---\nd: 4\n", &[0, 1, 2], Some("\u{feff}d: 4\n")),
            ("# licence\n\na: 1\n---\nb: 2\n---\nc: 3\n", &[0, 1], Some("# licence\n\n---\nc: 3\n")),
            ("a: 1\n---\nb: 2\n---\nc: 3\n---\nd: 4\n", &[0, 2], Some("b: 2\n---\nd: 4\n")),
            ("a: 1\n---\nb: 2\n...\nc: 3\n", &[1], Some("a: 1\n...\nc: 3\n")),
            ("a: 1\n---\nb: 2\n...\n%YAML 1.2\n---\nc: 3\n", &[0, 1], Some("%YAML 1.2\n---\nc: 3\n")),
        ] {
            let left = without(text, gone, None);
            assert_eq!(left.as_deref(), want, "{text}");
            let count = left.map_or(0, |t| Document::parse(t).expect("valid").roots().filter(|r| !r.is_null()).count());
            assert_eq!(count, Document::parse(text).expect("valid").roots().count() - gone.len());
        }
    }

    #[test]
    fn a_new_document_goes_behind_the_others() {
        assert_eq!(without("a: 1\n", &[], Some("n: 1\n")).as_deref(), Some("a: 1\n---\nn: 1\n"));
        assert_eq!(without("a: 1", &[], Some("n: 1\n")).as_deref(), Some("a: 1\n---\nn: 1\n"));
        for (header, with) in [("|", "|-"), ("|+", "|-"), ("|-", "|-"), (">2+", ">2-"), ("!t &x | # y", "!t &x |- # y")]
        {
            let [text, want] = [header, with].map(|header| format!("k:\n- a: {header}\n    | y > z"));
            let out = without(&text, &[], Some("n: 1\n")).expect("left");
            assert_eq!(out, format!("{want}\n---\nn: 1\n"));
            let [old, new] = [text, out].map(|text| Document::parse(text).expect("valid"));
            assert!(same(old.roots().next().expect("a root"), new.roots().next().expect("a root")), "{header}");
        }
        for (text, want) in [
            ("a: |+\n  x\n  ", "a: |+\n  x\n"),
            ("a: |\n  x\n  ", "a: |\n  x\n  \n"),
            ("a: |\n  x\n   ", "a: |-\n  x\n   \n"),
            ("a: |+\n  ", "a: |+\n"),
        ] {
            assert_eq!(without(text, &[], Some("n: 1\n")), Some(format!("{want}---\nn: 1\n")));
            let [old, new] = [text, want].map(|text| Document::parse(text).expect("valid"));
            assert!(same(old.roots().next().expect("a root"), new.roots().next().expect("a root")), "{text:?}");
        }
        assert_eq!(without("a: '|'", &[], Some("n: 1\n")).as_deref(), Some("a: '|'\n---\nn: 1\n"));
        assert_eq!(without("a: 1\r\n", &[], Some("n: 1\n")).as_deref(), Some("a: 1\r\n---\r\nn: 1\r\n"));
        assert_eq!(without("a: 1\n---\nb: 1\n", &[0], Some("n: 1\n")).as_deref(), Some("b: 1\n---\nn: 1\n"));
        assert_eq!(without("a: 1\n", &[0], Some("n: 1\n")).as_deref(), Some("n: 1\n"));
    }

    #[test]
    fn a_list_loses_and_gets_elements() {
        let text = "apiVersion: v1\nkind: List\nitems:\n- a: 1\n# two\n- b: 2\n";
        let held = held("x.yaml", text);
        let root = held.document().expect("resources").roots().next().expect("a root");
        let elements: Vec<NodeRef<'_>> = list::items_of(root).expect("a list").elements().collect();
        let items = [(elements[0], &Item::Goes), (elements[1], &Item::Stays)];
        let added = Added { path: None, origin: Origin::Field(String::new()), text: "n: 1\n".into() };
        let out = text_of(&held, &items, &[&added]);
        assert_eq!(out.as_deref(), Some("apiVersion: v1\nkind: List\nitems:\n# two\n- b: 2\n- n: 1\n"));
    }

    #[test]
    fn an_empty_list_gets_elements() {
        let added =
            Added { path: None, origin: Origin::Field(String::new()), text: "# new\nn: |\n  x\n\n  y\n".into() };
        for items in ["items: []\n", "items:\n", "items: # none\n", ""] {
            let held = held("x.yaml", &format!("apiVersion: v1\nkind: List\n{items}"));
            let out = text_of(&held, &[], &[&added]).expect("left");
            let document = Document::parse(out.clone()).expect("valid");
            let list = list::items_of(document.roots().next().expect("a root")).expect("a list");
            assert_eq!(
                list.elements().map(|e| e.get("n").map(|n| n.string())).collect::<Vec<_>>(),
                [Some("x\n\ny\n")],
                "{out}"
            );
            assert!(out.starts_with("apiVersion: v1\nkind: List\nitems:"), "{out}");
        }
    }

    #[test]
    fn every_list_of_a_file_and_what_stands_beside_it_loses_what_goes() {
        let list = |names: &[&str]| {
            let items: String = names.iter().map(|n| format!("- {n}: 1\n")).collect();
            format!("apiVersion: v1\nkind: List\nitems:\n{items}")
        };
        let text = format!("x: 1\n---\n{}---\ny: 1\n---\n{}", list(&["a", "b"]), list(&["c", "d"]));
        let held = held("x.yaml", &text);
        let nodes: Vec<NodeRef<'_>> = held.document().expect("resources").roots().collect();
        let (a, d) = (list::items_of(nodes[1]).expect("a list"), list::items_of(nodes[3]).expect("a list"));
        let (a, d) = (a.elements().next().expect("a"), d.elements().nth(1).expect("d"));
        let gone = [nodes[0], a, nodes[2], d].map(|node| (node, &Item::Goes));
        let added = Added { path: None, origin: Origin::Field(String::new()), text: "n: 1\n".into() };
        assert_eq!(text_of(&held, &gone, &[]), Some(format!("{}---\n{}", list(&["b"]), list(&["c"]))));
        let out = text_of(&held, &gone, &[&added]);
        assert_eq!(out, Some(format!("{}---\n{}", list(&["b", "n"]), list(&["c"]))));
    }

    #[test]
    fn a_json_file_takes_no_second_resource() {
        let held = held("x.json", "{\"a\": 1}\n");
        let added = Added { path: None, origin: Origin::Field(String::new()), text: "n: 1\n".into() };
        let error = edited(&held, &[], &[&added], &Budget::default()).expect_err("refused");
        assert!(error.to_string().starts_with("x.json: "), "{error}");
    }
}
