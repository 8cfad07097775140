//! The text of a file of dest after a merge: its documents edited, removed and added, and every other byte unchanged.

use krm_tree::child::By;
use krm_tree::limit::{self, Budget};
use krm_tree::splice::{self, Unwritable};
use krm_tree::tree::{Branch, Entry, Key, Layout, Tree};
use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{Document, DocumentParts, NodeRef, TextEdits, TextParts};

use super::Spot;
use super::comment_documents::{Behind, CommentDocuments};
use super::text_file::{FileFault, FileItem, NewResource, TextFile};
use crate::composed::{Composed, Own, Piece, Pieces, Top};
use crate::documents::{Item, NewDocument, sorted};
use crate::list;

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
    let roots: Vec<NodeRef<'_>> = document.roots().collect();
    let is_left = roots.iter().any(|root| !root.is_null() && !gone(*root));
    if !going.is_empty() && added.is_empty() && !is_left {
        return Ok(None);
    }
    let mut of_roots: Vec<Vec<&FileItem<'_>>> = vec![Vec::new(); roots.len()];
    for item in items {
        if let Some(root) = root_of(&roots, item.node) {
            of_roots[root].push(item);
        }
    }
    let mut of_lists: HashMap<usize, Vec<&NewResource>> = HashMap::new();
    let mut pieces = Pieces::default();
    let mut documents = Vec::new();
    let homes = Homes::of(&roots, items);
    for (number, added) in added.iter().enumerate() {
        match homes.of_new(added.spot) {
            Some(list) => of_lists.entry(list).or_default().push(added),
            None if file.is_json() => return Err(FileFault::Json(file.name.to_owned())),
            None => documents.push((number, added)),
        }
    }
    let mut is_reordered = false;
    comments.behind(Behind::Nothing).for_each(|piece| pieces.add(None, piece));
    let parts = TextParts::of(document);
    for (number, (own, items)) in parts.documents.iter().zip(of_roots).enumerate() {
        // An empty document parts nothing at the top.
        let is_over = number > 0 && pieces.is_empty() && own.is_empty(document.source());
        if !gone(own.root) && !is_over {
            let new = of_lists.remove(&number).unwrap_or_default();
            let left = items.iter().filter(|own| *own.item != Item::Goes);
            let spots: Vec<Spot> = left.map(|own| own.spot).chain(new.iter().map(|added| added.spot)).collect();
            let edits = edits_of_document(own.root, &items, &gone, &new, budget)?;
            let mark = items.iter().find_map(|item| item.mark).unwrap_or_default().to_owned();
            let apart = items.iter().find_map(|item| item.apart).unwrap_or_default().to_owned();
            let text = Own { mark, apart, ..in_order(own, edits, &spots, budget)? };
            is_reordered |= text.body.is_some();
            pieces.add(spots.into_iter().min(), Piece::Own(number, text));
        }
        comments.behind(Behind::Document(number)).for_each(|piece| pieces.add(None, piece));
    }
    for (number, added) in documents {
        pieces.add(Some(added.spot), Piece::New(added.document.clone()));
        comments.behind(Behind::New(number)).for_each(|piece| pieces.add(None, piece));
    }
    let pieces = pieces.in_order(&parts, document.source());
    let composed = Composed::of(document, parts, &pieces, &comments.top);
    let (text, edits) = (composed.text(), composed.edits()?.filter(|_| !is_reordered));
    if edits.is_none() {
        budget.take(text.len());
        budget.check(limit::Kind::Text).map_err(Unwritable::from)?;
    }
    if !composed.is_in_place(&pieces, &comments.top) {
        composed.check(&text).map_err(Unwritable::from)?;
    }
    Ok(Some(EditedFile { text, edits }))
}

/// A document with its edits. The resources of a list come into the order of their spots.
fn in_order(parts: &DocumentParts<'_>, edits: TextEdits, spots: &[Spot], budget: &Budget) -> Result<Own, FileFault> {
    if spots.is_sorted() {
        return Ok(Own::from(edits));
    }
    let body = sorted(edits.apply(parts.root.document().source(), parts.body.clone()), spots, budget)?;
    Ok(Own { body: Some(body), ..Own::from(edits) })
}

/// The lists that new resources of a file join.
struct Homes {
    /// The first document that is a list; `None` if all new resources become documents.
    first: Option<usize>,
    /// The spots of the items that stay, in order, and for each the document that it is in, if that is a list.
    beside: Vec<(Spot, Option<usize>)>,
}

impl Homes {
    fn of(roots: &[NodeRef<'_>], items: &[FileItem<'_>]) -> Self {
        let Some(first) = roots.iter().position(|root| list::is_list(*root)) else {
            return Self { first: None, beside: Vec::new() };
        };
        let left = items.iter().filter(|own| *own.item != Item::Goes);
        let list_of = |own: &FileItem<'_>| root_of(roots, own.node).filter(|root| list::is_list(roots[*root]));
        let mut beside: Vec<_> = left.map(|own| (own.spot, list_of(own))).collect();
        beside.sort_by_key(|(spot, _)| *spot);
        Self { first: Some(first), beside }
    }

    /// The number of the document whose list a new resource joins; `None` if the resource becomes a document. It joins the list of the item
    /// before it, or else of the item after it. If it comes after all items, it joins the first list of the file.
    fn of_new(&self, spot: Spot) -> Option<usize> {
        let first = self.first?;
        match self.beside.partition_point(|(own, _)| *own < spot) {
            behind if behind == self.beside.len() => Some(first),
            behind => self.beside[behind.saturating_sub(1)].1,
        }
    }
}

/// The edits of a document: those of its items, and those of its list, which loses elements and gets new ones.
fn edits_of_document<'a>(
    root: NodeRef<'a>,
    items: &[&FileItem<'_>],
    gone: &dyn Fn(NodeRef<'a>) -> bool,
    added: &[&NewResource],
    budget: &Budget,
) -> Result<TextEdits, FileFault> {
    let of_items =
        items.iter().filter_map(|own| if let Item::Edited(edits) = own.item { Some(edits.clone()) } else { None });
    let of_items = edits_of_list(root, gone, added, TextEdits::default().union(of_items)?, budget)?;
    // What is new at the end of the items comes before what is new below them.
    Ok(of_items.union(items.iter().filter_map(|own| own.list.cloned()))?)
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
    let documents = added.iter().map(|a| Document::parse(a.document.body.as_str())).collect::<Result<Vec<_>, _>>()?;
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
        for (i, line) in added.document.body.lines().enumerate() {
            let indent = if i == 0 { "- " } else { "  " };
            out.push_str(&format!("{}\n", if line.is_empty() { String::new() } else { format!("{indent}{line}") }));
        }
    }
    out
}

/// The text of new resources, one document each.
pub(super) fn joined<'n>(added: impl Iterator<Item = &'n NewResource>) -> String {
    added.map(|new| new.document.body.as_str()).collect::<Vec<_>>().join("---\n")
}

/// The text of a new file. If the file has all resources of a source file, unchanged, it gets the text of that file. Otherwise it gets only
/// the comments that belong to that file.
///
/// # Errors
/// Cannot occur: a resource of the source file cannot be written.
pub(super) fn created(added: &[NewResource], source: Option<&TextFile<'_>>) -> Result<String, FileFault> {
    let Some(document) = source.and_then(|source| source.document) else { return Ok(joined(added.iter())) };
    let own = |root| NewDocument::of_resource(&Tree::Node(root), &Budget::default());
    let all = document.roots().filter(|root| !root.is_null()).map(own).collect::<Result<Vec<_>, _>>()?;
    if all.iter().eq(added.iter().map(|new| &new.document)) {
        return Ok(document.source().to_owned());
    }
    let pieces: Vec<Piece> = added.iter().map(|new| Piece::New(new.document.clone())).collect();
    Ok(Composed::of(document, TextParts::of(document), &pieces, &Top::default()).text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Origin;

    fn document(text: &str) -> Document<'static> {
        Document::parse(text.to_owned()).expect("valid")
    }

    fn file<'f>(path: &'f str, document: &'f Document<'f>) -> TextFile<'f> {
        TextFile { path, name: path, text: document.source(), document: Some(document) }
    }

    fn added(text: &str) -> NewResource {
        let document = NewDocument { body: text.to_owned(), ..NewDocument::default() };
        NewResource { path: None, origin: Origin::Field(String::new()), document, spot: Spot::last(0) }
    }

    /// The edited text; checks that the edits turn the old text into it.
    fn text_of(document: &Document<'_>, becomes: &[(NodeRef<'_>, &Item)], added: &[NewResource]) -> Option<String> {
        let items = becomes.iter().enumerate().map(|(i, &(node, item))| FileItem::new(node, item, Spot::of_item(i)));
        let items: Vec<FileItem<'_>> = items.collect();
        let file = file("x.yaml", document);
        let edited = edited(&file, &items, added, &CommentDocuments::default(), &Budget::default()).expect("edited")?;
        let source = document.source();
        if let Some(edits) = edited.edits {
            assert_eq!(edits.apply(source, 0..source.len()), edited.text);
        }
        Some(edited.text)
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

    #[test]
    fn what_is_composed_is_read_again() {
        let document = document("a: 1\n");
        let (file, comments) = (file("x.yaml", &document), CommentDocuments::default());
        let two = added("n: 1\n---\nm: 1\n");
        let error = edited(&file, &[], &[two], &comments, &Budget::default()).expect_err("refused");
        assert!(matches!(error, FileFault::Unwritable(Unwritable::Fault(_))), "{error}");
    }

    /// The text of resources with these names after new ones are added; the rest keeps the order of the spots.
    fn put(text: &str, spots: &[Spot], new: &[(&str, Spot)]) -> String {
        let document = document(text);
        let items = list::nodes(&document).zip(spots).map(|(node, spot)| FileItem::new(node, &Item::Stays, *spot));
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
        // Its neighbour is the one before it in the new order, wherever that is in the text.
        let mixed = format!("{two}---\nc: 3\n");
        assert_eq!(
            put(&mixed, &[own(5), own(9), own(1)], &[("n: 1\n", own(7))]),
            format!("c: 3\n---\n{}", list("- a: 1\n- n: 1\n# two\n- b: 2\n"))
        );
    }
}
