//! The text of a file of dest after a merge: its documents edited, removed and added, and every other byte unchanged.

use std::ops::Range;

use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{Document, Edit, NodeRef, TextEdits, extent, lines, next_line, without_break};

use super::Spot;
use super::comment_documents::CommentDocuments;
use super::text_file::{FileFault, FileItem, NewResource, TextFile};
use crate::child::By;
use crate::documents::{Item, append, below_header, changes, sorted};
use crate::limit::Budget;
use crate::list;
use crate::splice::{self, Unwritable, standalone};
use crate::tree::{Branch, Entry, Key, Layout, Tree};

/// The text of a file of dest after a merge.
#[derive(Clone, Debug)]
pub struct EditedFile {
    /// The text.
    pub text: String,
    /// The edits that turn the old text into this one; `None` if edits in place cannot do it.
    pub edits: Option<TextEdits>,
}

/// The text of a file of dest after the merge; `None` if the file has no resources left. `items` are all resources of the file, in
/// the order of the text. `added` are the new resources of the file, in order.
///
/// # Errors
/// The file is JSON, and a resource would have to be added to it; or the text takes more than is left of the budget.
pub fn edited(
    file: &TextFile<'_>,
    items: &[FileItem<'_>],
    added: &[NewResource],
    comments: &CommentDocuments,
    budget: &Budget,
) -> Result<Option<EditedFile>, FileFault> {
    let Some(document) = file.document else {
        return Ok(Some(EditedFile { text: file.text.to_owned(), edits: Some(TextEdits::default()) }));
    };
    let going = items.iter().filter(|own| *own.item == Item::Goes);
    let going: HashSet<usize> = going.map(|own| own.node.start()).collect();
    let gone = |node: NodeRef<'_>| going.contains(&node.start()) || comments.gone.contains(&node.start());
    let roots = document.roots().filter(|root| !root.is_null() || comments.gone.contains(&root.start()));
    let roots: Vec<NodeRef<'_>> = roots.collect();
    if !going.is_empty() && roots.iter().all(|root| gone(*root)) {
        let text = || with_header(document.source(), &joined(added.iter()), document.line_break());
        return Ok((!added.is_empty()).then(|| EditedFile { text: text(), edits: None }));
    }
    let commented = comments.behind.iter().filter_map(|(number, text)| Some((*number, added.get(*number)?.with(text))));
    let commented: HashMap<usize, NewResource> = commented.collect();
    let mut new: HashMap<Option<usize>, Vec<&NewResource>> = HashMap::new();
    for (number, added) in added.iter().enumerate() {
        let added = commented.get(&number).unwrap_or(added);
        new.entry(home(&roots, items, added.spot)).or_default().push(added);
    }
    let mut of_roots: Vec<Vec<&FileItem<'_>>> = vec![Vec::new(); roots.len()];
    for item in items {
        if let Some(root) = root_of(&roots, item.node) {
            of_roots[root].push(item);
        }
    }
    let (mut order, mut becomes) = (Vec::new(), Vec::new());
    for (i, (root, items)) in roots.iter().zip(of_roots).enumerate() {
        let new = new.remove(&Some(i)).unwrap_or_default();
        let left = items.iter().filter(|own| *own.item != Item::Goes);
        order.extend(left.map(|own| own.spot).chain(new.iter().map(|added| added.spot)));
        let of_items =
            items.iter().filter_map(|own| if let Item::Edited(edits) = own.item { Some(edits.clone()) } else { None });
        let of_items = edits_of_list(*root, &gone, &new, TextEdits::default().union(of_items)?, budget)?;
        // What is new at the end of the items comes before what is new below them.
        let all = of_items.union(items.iter().filter_map(|own| own.list.cloned()))?;
        becomes.push(match all.is_empty() {
            _ if gone(*root) => Item::Goes,
            true => Item::Stays,
            false => Item::Edited(all),
        });
    }
    let (source, ranges) = (document.source(), extents(&roots, &becomes));
    let own = changes(source, ranges.into_iter().zip(&becomes)).union([TextEdits::of(comments.edits.clone())?])?;
    let mut text = own.apply(source, 0..source.len());
    let mut edits = Some(own);
    if let Some(new) = new.remove(&None) {
        if file.is_json() {
            return Err(FileFault::Json(file.name.to_owned()));
        }
        let before = text.clone();
        append(&mut text, &joined(new.iter().copied()), document.line_break());
        order.extend(new.iter().map(|added| added.spot));
        // Appending may have changed the end of the text, where a block scalar ended. Then `before` is not a prefix of the text.
        let tail =
            text.strip_prefix(&before).map(|tail| Edit { range: source.len()..source.len(), text: tail.to_owned() });
        edits = match (edits, tail) {
            (Some(edits), Some(tail)) => Some(edits.union([tail.into()])?),
            _ => None,
        };
    }
    let edits = edits.filter(|_| order.is_sorted());
    Ok(Some(EditedFile { text: sorted(text, &order, budget)?, edits }))
}

/// The number of the document whose list a new resource joins; `None` if the resource becomes a document. It joins the list of the item
/// before it, or else of the item after it. If it comes after all items, it joins the first list of the file.
fn home(roots: &[NodeRef<'_>], items: &[FileItem<'_>], spot: Spot) -> Option<usize> {
    let left = || items.iter().filter(|own| *own.item != Item::Goes);
    if left().all(|own| own.spot < spot) {
        return roots.iter().position(|root| list::is_list(*root));
    }
    let behind = left().filter(|own| own.spot < spot).max_by_key(|own| own.spot);
    let beside = behind.or_else(|| left().min_by_key(|own| own.spot))?;
    root_of(roots, beside.node).filter(|root| list::is_list(roots[*root]))
}

/// The edits of a document that is a list: it loses elements and gets new ones, and `inner` edits change others.
fn edits_of_list<'a>(
    root: NodeRef<'a>,
    gone: &dyn Fn(NodeRef<'a>) -> bool,
    added: &[&NewResource],
    inner: TextEdits,
    budget: &Budget,
) -> Result<TextEdits, FileFault> {
    let Some(items) = list::items_of(root) else {
        if added.is_empty() {
            return Ok(inner);
        }
        let written = Document::parse(elements(added))?;
        let Some((key, value)) = written.roots().next().and_then(|root| root.entries().next()) else {
            return Ok(inner);
        };
        return Ok(splice::edits_around(root, &filled(root, key, value), inner, budget)?);
    };
    if added.is_empty() && !list::resources(root).iter().any(|listed| gone(listed.node)) {
        return Ok(inner);
    }
    let documents = added.iter().map(|a| Document::parse(a.text.as_str())).collect::<Result<Vec<_>, _>>()?;
    let mut branch = list::left(items, &mut |node| gone(node));
    let new = documents
        .iter()
        .flat_map(Document::roots)
        .map(|value| Entry { layout: Layout::Own, ..Entry::new(None, Tree::Node(value)) });
    branch.entries.extend(new);
    Ok(splice::edits_around(root, &list::with_items(root, items, branch), inner, budget)?)
}

/// The number of the document that contains a node.
fn root_of(roots: &[NodeRef<'_>], node: NodeRef<'_>) -> Option<usize> {
    roots.partition_point(|root| root.start() <= node.start()).checked_sub(1)
}

/// A list that has no `items` yet, with these items.
fn filled<'a>(root: NodeRef<'a>, key: NodeRef<'a>, value: NodeRef<'a>) -> Tree<'a> {
    let mut branch = Branch::of(root, By::Field);
    match root.entries().position(|(key, _)| key.string() == "items") {
        Some(at) => branch.entries[at].value = Some(Tree::Node(value)),
        None => branch.push(Entry::new(Some(Key::Node(key)), Tree::Node(value))),
    }
    branch.into_tree()
}

/// The text of new resources as the `items` of a list.
fn elements(added: &[&NewResource]) -> String {
    let mut out = String::from("items:\n");
    for added in added {
        for (i, line) in added.text.lines().enumerate() {
            let indent = if i == 0 { "- " } else { "  " };
            out.push_str(&format!("{}\n", if line.is_empty() { String::new() } else { format!("{indent}{line}") }));
        }
    }
    out
}

/// The range of the text that each document takes when it is edited or removed. The comments at the top that belong to the file stay in it
/// if the first document goes. The `---` of the first remaining document is also removed. It stays if it ends these comments.
pub fn extents(roots: &[NodeRef<'_>], fates: &[Item]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = roots.iter().map(|root| extent(*root)).collect();
    let leading = fates.iter().take_while(|fate| **fate == Item::Goes).count();
    let (Some(root), Some(last)) = (roots.first(), leading.checked_sub(1)) else { return ranges };
    let source = root.document().source();
    let bom = if source.starts_with('\u{feff}') { 3 } else { 0 };
    let first = &mut ranges[0];
    // A document of comments that goes is no header.
    let header = if root.is_null() { 0 } else { below_header(source) };
    first.start = first.start.max(bom).max(header);
    let (above, text) = (&source[bom..first.start], &source[first.clone()]);
    let is_open = lines(above).into_iter().any(|line| line == "---");
    if text.starts_with("---") || text.starts_with('%') || !(is_open || above.trim().is_empty()) {
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

/// The text of a resource that comes from another file, without the comments that belong to that file.
pub(super) fn without_header(text: &str, resource: NodeRef<'_>) -> String {
    let first = resource.document().roots().find(|root| !root.is_null());
    let is_first = first.is_some_and(|first| first.is(resource));
    text[if is_first { below_header(text) } else { 0 }..].to_owned()
}

/// Documents below the comments of a text that belong to its file.
fn with_header(of: &str, documents: &str, line_break: &str) -> String {
    let header = &of[..below_header(of)];
    let is_apart = lines(without_break(header)).last().is_none_or(|line| line.trim().is_empty());
    let mark = if is_apart { "" } else { "---\n" };
    format!("{header}{}", format!("{mark}{documents}").replace('\n', line_break))
}

/// The text of new resources, one document each.
pub(super) fn joined<'n>(added: impl Iterator<Item = &'n NewResource>) -> String {
    added.map(|new| new.text.as_str()).collect::<Vec<_>>().join("---\n")
}

/// The text of a new file. If the file has all resources of a source file, unchanged, it gets the text of that file. Otherwise it gets only
/// the comments that belong to that file.
///
/// # Errors
/// Cannot occur: a resource of the source file cannot be written.
pub(super) fn created(added: &[NewResource], source: Option<&TextFile<'_>>) -> Result<String, FileFault> {
    let Some(document) = source.and_then(|source| source.document) else { return Ok(joined(added.iter())) };
    let text = |root| Ok::<_, Unwritable>(without_header(&standalone(&Tree::Node(root), &Budget::default())?, root));
    let texts = document.roots().filter(|root| !root.is_null()).map(text).collect::<Result<Vec<_>, _>>()?;
    let source = document.source();
    if texts.iter().eq(added.iter().map(|new| &new.text)) {
        return Ok(source.to_owned());
    }
    let header = source[..below_header(source)].trim_start_matches('\u{feff}').replace("\r\n", "\n");
    Ok(with_header(&header, &joined(added.iter()), "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Origin;
    use krm_yaml::same;

    fn document(text: &str) -> Document<'static> {
        Document::parse(text.to_owned()).expect("valid")
    }

    fn file<'f>(path: &'f str, document: &'f Document<'f>) -> TextFile<'f> {
        TextFile { path, name: path, text: document.source(), document: Some(document) }
    }

    fn added(text: &str) -> NewResource {
        NewResource { path: None, origin: Origin::Field(String::new()), text: text.to_owned(), spot: Spot::last(0) }
    }

    /// The edited text; checks that the edits turn the old text into it.
    fn text_of(document: &Document<'_>, becomes: &[(NodeRef<'_>, &Item)], added: &[NewResource]) -> Option<String> {
        let mut items = Vec::new();
        for (i, &(node, item)) in becomes.iter().enumerate() {
            items.push(FileItem { node, item, to: None, followed: None, list: None, spot: Spot::of_item(i) });
        }
        let file = file("x.yaml", document);
        let edited = edited(&file, &items, added, &CommentDocuments::default(), &Budget::default()).expect("edited")?;
        let source = document.source();
        if let Some(edits) = edited.edits {
            assert_eq!(edits.apply(source, 0..source.len()), edited.text);
        }
        Some(edited.text)
    }

    /// The text without the documents of these numbers, and with one new document.
    fn without(text: &str, gone: &[usize], new: Option<&str>) -> Option<String> {
        let document = document(text);
        let roots: Vec<NodeRef<'_>> = document.roots().filter(|r| !r.is_null()).collect();
        let items: Vec<(NodeRef<'_>, &Item)> = roots
            .iter()
            .enumerate()
            .map(|(i, r)| (*r, if gone.contains(&i) { &Item::Goes } else { &Item::Stays }))
            .collect();
        let added: Vec<NewResource> = new.map(added).into_iter().collect();
        text_of(&document, &items, &added)
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
            ("---\n# licence\n\na: 1\n---\nb: 2\n", &[0], Some("---\n# licence\n\nb: 2\n")),
            ("# licence\n\n{a: 1}\n---\nb: 2\n", &[0], Some("# licence\n\n---\nb: 2\n")),
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
        assert_eq!(without("# f\n\n# a\na: 1\n", &[0], Some("n: 1\n")).as_deref(), Some("# f\n\nn: 1\n"));
        assert_eq!(without("# f\r\n---\r\na: 1\r\n", &[0], Some("n: 1\n")).as_deref(), Some("# f\r\n---\r\nn: 1\r\n"));
    }

    #[test]
    fn a_list_loses_and_gets_elements() {
        let text = "apiVersion: v1\nkind: List\nitems:\n- a: 1\n# two\n- b: 2\n";
        let document = document(text);
        let root = document.roots().next().expect("a root");
        let elements: Vec<NodeRef<'_>> = list::items_of(root).expect("a list").elements().collect();
        let items = [(elements[0], &Item::Goes), (elements[1], &Item::Stays)];
        let added = added("n: 1\n");
        let out = text_of(&document, &items, &[added]);
        assert_eq!(out.as_deref(), Some("apiVersion: v1\nkind: List\nitems:\n# two\n- b: 2\n- n: 1\n"));
    }

    #[test]
    fn an_empty_list_gets_elements() {
        let added = added("# new\nn: |\n  x\n\n  y\n");
        for items in ["items: []\n", "items:\n", "items: # none\n", ""] {
            let list = document(&format!("apiVersion: v1\nkind: List\n{items}"));
            let out = text_of(&list, &[], std::slice::from_ref(&added)).expect("left");
            let document = document(&out);
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
    fn documents_of_comments_go_as_documents_of_resources_do() {
        for (text, gone, want) in [
            ("a: 1\n---\n# none\n---\nb: 2\n", &[0, 1][..], "b: 2\n"),
            ("a: 1\n---\n# none\n---\nb: 2\n", &[1], "a: 1\n---\nb: 2\n"),
            ("---\n# none\n---\na: 1\n...\n---\nb: 2\n", &[0, 1], "---\nb: 2\n"),
            ("--- # first\na: 1\n---\n# none\n---\nb: 2\n...\n---\nc: 3\n", &[0, 1, 2], "---\nc: 3\n"),
            ("a: 1\n---\n# none\n...\n---\nb: 2\n", &[1], "a: 1\n...\n---\nb: 2\n"),
        ] {
            let document = document(text);
            let (comments, resources): (Vec<(usize, NodeRef<'_>)>, Vec<_>) =
                document.roots().enumerate().partition(|(_, root)| root.is_null());
            let goes = |number: &usize| gone.contains(number);
            let gone = comments.iter().filter(|(number, _)| goes(number)).map(|(_, root)| root.start()).collect();
            let comments = CommentDocuments { gone, ..CommentDocuments::default() };
            let mut items = Vec::new();
            for (number, node) in resources {
                let item = if goes(&number) { &Item::Goes } else { &Item::Stays };
                items.push(FileItem { node, item, to: None, followed: None, list: None, spot: Spot::of_item(number) });
            }
            let edited = edited(&file("x.yaml", &document), &items, &[], &comments, &Budget::default());
            assert_eq!(edited.expect("edited").expect("left").text, want, "{text:?}");
        }
    }

    #[test]
    fn every_list_of_a_file_and_what_stands_beside_it_loses_what_goes() {
        let list = |names: &[&str]| {
            let items: String = names.iter().map(|n| format!("- {n}: 1\n")).collect();
            format!("apiVersion: v1\nkind: List\nitems:\n{items}")
        };
        let text = format!("x: 1\n---\n{}---\ny: 1\n---\n{}", list(&["a", "b"]), list(&["c", "d"]));
        let document = document(&text);
        let nodes: Vec<NodeRef<'_>> = document.roots().collect();
        let (a, d) = (list::items_of(nodes[1]).expect("a list"), list::items_of(nodes[3]).expect("a list"));
        let (a, d) = (a.elements().next().expect("a"), d.elements().nth(1).expect("d"));
        let gone = [nodes[0], a, nodes[2], d].map(|node| (node, &Item::Goes));
        let added = added("n: 1\n");
        assert_eq!(text_of(&document, &gone, &[]), Some(format!("{}---\n{}", list(&["b"]), list(&["c"]))));
        let out = text_of(&document, &gone, &[added]);
        assert_eq!(out, Some(format!("{}---\n{}", list(&["b", "n"]), list(&["c"]))));
    }

    #[test]
    fn a_json_file_takes_no_second_resource() {
        let document = document("{\"a\": 1}\n");
        let file = file("x.json", &document);
        let comments = CommentDocuments::default();
        let error = edited(&file, &[], &[added("n: 1\n")], &comments, &Budget::default()).expect_err("refused");
        assert!(error.to_string().starts_with("x.json: "), "{error}");
    }

    /// The text of resources with these names after new ones are added; the rest keeps the order of the spots.
    fn put(text: &str, spots: &[Spot], new: &[(&str, Spot)]) -> String {
        let document = document(text);
        let items = list::nodes(&document).zip(spots).map(|(node, spot)| FileItem {
            node,
            item: &Item::Stays,
            to: None,
            followed: None,
            list: None,
            spot: *spot,
        });
        let items: Vec<FileItem<'_>> = items.collect();
        let new: Vec<NewResource> = new.iter().map(|(text, spot)| NewResource { spot: *spot, ..added(text) }).collect();
        edited(&file("x.yaml", &document), &items, &new, &CommentDocuments::default(), &Budget::default())
            .expect("edited")
            .expect("left")
            .text
    }

    #[test]
    fn what_is_new_comes_to_its_place_in_documents_and_lists() {
        let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
        let own = |n: usize| Spot::of_item(n);
        // Here the even numbers are the places between items.
        let text = "a: 1\n---\nb: 2\n";
        assert_eq!(put(text, &[own(0), own(2)], &[("n: 1\n", own(1))]), "a: 1\n---\nn: 1\n---\nb: 2\n");
        assert_eq!(put(text, &[own(1), own(2)], &[("n: 1\n", own(0))]), "n: 1\n---\na: 1\n---\nb: 2\n");
        assert_eq!(put(text, &[own(1), own(0)], &[]), "b: 2\n---\na: 1\n");
        let two = list("- a: 1\n# two\n- b: 2\n");
        assert_eq!(put(&two, &[own(0), own(2)], &[("n: 1\n", own(1))]), list("- a: 1\n- n: 1\n# two\n- b: 2\n"));
        assert_eq!(put(&two, &[own(1), own(2)], &[("n: 1\n", own(0))]), list("- n: 1\n- a: 1\n# two\n- b: 2\n"));
        // In a file of a document and a list, it goes where its neighbour is.
        let mixed = format!("c: 3\n---\n{two}");
        let spots = [own(0), own(3), own(5)];
        assert_eq!(put(&mixed, &spots, &[("n: 1\n", own(1))]), format!("c: 3\n---\nn: 1\n---\n{two}"));
        assert_eq!(
            put(&mixed, &spots, &[("n: 1\n", own(4))]),
            format!("c: 3\n---\n{}", list("- a: 1\n- n: 1\n# two\n- b: 2\n"))
        );
    }
}
