//! Documents of comments alone, which belong to the file: those that upstream adds come to their place, and those that it removes go.
//!
//! Such a document is known by its lines and by the document of resources before it. A document that another side lacks does not count there.

use std::ops::Range;

use krm_tree::sides::Sides;
use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{Document, NodeRef, TextParts, byte_order_mark, extent, same_words};

use super::text_file::{FileItem, NewResource};
use crate::composed::{Apart, Opening, Piece, Top};
use crate::documents::{Item, NewDocument};
use crate::list;
use crate::resource::{Origin, Resource};

/// What becomes of the documents of comments of a file of dest, and of the comments at its top.
#[derive(Debug, Default)]
pub struct CommentDocuments {
    /// Those that come to it, in order, by their places.
    added: HashMap<Behind, Vec<NewDocument>>,
    /// Where the ones of dest that go begin.
    pub(super) gone: HashSet<usize>,
    /// What becomes of what the text begins with.
    pub(super) top: Top,
}

/// Where a document of comments comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Behind {
    /// Before all documents of dest.
    Nothing,
    /// After the document of dest with this number, or the nearest one before it that stays.
    Document(usize),
    /// After the new resource with this number.
    New(usize),
}

/// The apiVersion, kind, namespace and name of a resource.
type ResourceName = [String; 4];

/// A document of a file.
enum CommentPart<'d> {
    /// It holds resources of these names, or none.
    Resources(Vec<ResourceName>),
    /// It holds only comments: these lines.
    Comments(Vec<&'d str>),
}

/// What tells documents of comments apart: a resource of the document before it, and its lines.
type CommentKey<'d> = (Option<ResourceName>, Vec<&'d str>);

impl CommentDocuments {
    /// Merges the documents of comments of a file. `items` are dest's resources in it, and `added` the resources
    /// that are new.
    pub fn merged(documents: Sides<&Document<'_>>, items: &[FileItem<'_>], added: &[NewResource]) -> Self {
        let mut out = Self { top: top(documents, items), ..Self::default() };
        if !documents.original.roots().chain(documents.updated.roots()).any(|root| comments(root).is_some()) {
            return out;
        }
        let mut parts = documents.map(|document| document.roots().map(part).collect::<Vec<_>>());
        let followed = items.iter().filter_map(|item| {
            let own = name(&resource(item.node))?;
            Some((item.followed?.map(str::to_owned), own))
        });
        let followed: HashMap<ResourceName, ResourceName> = followed.collect();
        [&mut parts.original, &mut parts.updated].into_iter().for_each(|parts| rename(parts, &followed));
        let named =
            added.iter().enumerate().filter_map(|(number, added)| Some((name_of(&added.document.body)?, number)));
        let new: HashMap<ResourceName, usize> = named.collect();
        // What goes counts on no side, so that a second run finds the same.
        let going = items.iter().filter(|own| *own.item == Item::Goes);
        let going: HashSet<ResourceName> = going.filter_map(|own| name(&resource(own.node))).collect();
        let stays = |name: &&ResourceName| !going.contains(*name);
        let in_upstream = names(&parts.original).chain(names(&parts.updated)).filter(stays).collect();
        let in_result = names(&parts.dest).filter(stays).chain(new.keys()).collect();
        let keys = Sides {
            original: keys(&parts.original, &in_result),
            updated: keys(&parts.updated, &in_result),
            dest: keys(&parts.dest, &in_upstream),
        };
        let mut here = Here::of(&keys);
        let has_list = documents.dest.roots().any(list::is_list);
        let in_dest = positions(&parts.dest);
        let mut at = Behind::Nothing;
        let source = documents.updated.source();
        let updated = TextParts::of(documents.updated).documents;
        for (number, (own, part)) in updated.iter().zip(&parts.updated).enumerate() {
            if let CommentPart::Resources(names) = part {
                let there = names.iter().find_map(|name| in_dest.get(name).copied());
                let added = names.iter().find_map(|name| new.get(name)).filter(|_| !has_list);
                let place = there.map(Behind::Document).or(added.map(|number| Behind::New(*number)));
                at = place.unwrap_or(at);
            }
            let Some(key) = keys.updated.get(&number) else { continue };
            match here.known(key) {
                Some(known) => at = known.map_or(at, Behind::Document),
                None => out.added.entry(at).or_default().push(NewDocument::of(own, source)),
            }
        }
        let roots: Vec<NodeRef<'_>> = documents.dest.roots().collect();
        out.gone = here.gone.iter().map(|number| roots[*number].start()).collect();
        out
    }

    /// Whether nothing changes, as long as the first document stays.
    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.gone.is_empty() && self.top.opening.is_none()
    }

    /// The documents that come to a place, in order.
    pub(super) fn behind(&self, place: Behind) -> impl Iterator<Item = Piece> {
        self.added.get(&place).into_iter().flatten().map(|new| Piece::New(new.clone()))
    }
}

/// What becomes of what dest's text begins with. If upstream changed comments there, and dest has original's, they are as any other comments:
/// the ones set apart above the first resource follow it, and what upstream has above the others comes with those. If the first resource goes,
/// what dest has set apart above it would be above what is left.
fn top(documents: Sides<&Document<'_>>, items: &[FileItem<'_>]) -> Top {
    let parts = documents.map(TextParts::of);
    let texts = |of: fn(&TextParts<'_>, &str) -> Range<usize>| {
        Sides::of(|side| &documents[side].source()[of(&parts[side], documents[side].source())])
    };
    let is_upstreams =
        |texts: Sides<&str>| same_words(texts.original, texts.dest) && !same_words(texts.original, texts.updated);
    let apart = texts(|parts, text| parts.documents.first().map(|first| first.apart(text)).unwrap_or_default());
    // Without a `---` below them, comments are not above it.
    let header =
        texts(|parts, text| if parts.is_marked(text) { byte_order_mark(text)..parts.header.end } else { 0..0 });
    let updated = || Opening {
        header: header.updated.replace("\r\n", "\n"),
        is_marked: parts.updated.is_marked(documents.updated.source()),
    };
    let goes = || {
        let first = items.iter().min_by_key(|item| item.node.start());
        first.is_some_and(|first| *first.item == Item::Goes)
    };
    let is_header =
        !parts.dest.is_marked(documents.dest.source()) && is_upstreams(Sides { dest: apart.dest, ..header }) && goes();
    Top {
        apart: if is_upstreams(apart) || is_header { Apart::Follows } else { Apart::Stays },
        opening: (is_upstreams(header) || is_header).then(updated),
    }
}

/// Dest's file, and which of its documents of comments upstream has.
struct Here<'d> {
    /// The documents of comments that upstream removed.
    gone: HashSet<usize>,
    /// How often updated has documents of comments that are not new, and for each whether dest has it, and where.
    known: HashMap<CommentKey<'d>, Vec<Option<usize>>>,
}

impl<'d> Here<'d> {
    fn of(keys: &Sides<HashMap<usize, CommentKey<'d>>>) -> Self {
        let (mut was, is) = (counted(&keys.original), counted(&keys.updated));
        let mut known: HashMap<CommentKey<'d>, Vec<Option<usize>>> = HashMap::new();
        let mut gone = HashSet::new();
        let mut of_dest: Vec<(&usize, &CommentKey<'d>)> = keys.dest.iter().collect();
        of_dest.sort_by_key(|(number, _)| **number);
        for (number, key) in of_dest {
            let was = was.get_mut(key).filter(|was| **was > 0);
            let had = was.is_some();
            was.into_iter().for_each(|was| *was -= 1);
            let of_key = known.entry(key.clone()).or_default();
            match is.get(key).is_some_and(|is| of_key.len() < *is) {
                true => of_key.push(Some(*number)),
                false if had => _ = gone.insert(*number),
                false => {}
            }
        }
        // What original has besides, dest deleted.
        for (key, left) in was {
            known.entry(key.clone()).or_default().extend(std::iter::repeat_n(None, left));
        }
        known.values_mut().for_each(|of_key| of_key.reverse());
        Self { gone, known }
    }

    /// Whether a document of updated is not new, and where dest has it.
    fn known(&mut self, key: &CommentKey<'d>) -> Option<Option<usize>> {
        self.known.get_mut(key)?.pop()
    }
}

fn part(root: NodeRef<'_>) -> CommentPart<'_> {
    match comments(root) {
        Some(lines) => CommentPart::Comments(lines),
        None => {
            let resources = Resource::of_document(root, |_| Origin::Field(String::new()));
            CommentPart::Resources(resources.iter().filter_map(name).collect())
        }
    }
}

/// The lines of a document that holds only comments.
fn comments(root: NodeRef<'_>) -> Option<Vec<&str>> {
    if !root.is_null() || !root.text().is_empty() {
        return None;
    }
    let text = root.document().source()[extent(root)].trim_start_matches('\u{feff}');
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    (lines.len() > 1 && lines[0].starts_with("---")).then_some(lines)
}

fn resource(node: NodeRef<'_>) -> Resource<'_> {
    Resource::read(node, Origin::Field(String::new()))
}

fn name(resource: &Resource<'_>) -> Option<ResourceName> {
    let identity = resource.package_identity()?;
    Some([identity.api_version, identity.kind, identity.namespace, identity.name].map(str::to_owned))
}

/// The name of the resource of a text.
fn name_of(text: &str) -> Option<ResourceName> {
    let document = Document::parse(text).ok()?;
    name(&resource(document.roots().find(|root| root.is_map())?))
}

fn names<'p>(parts: &'p [CommentPart<'_>]) -> impl Iterator<Item = &'p ResourceName> {
    let names = parts.iter().map(|part| if let CommentPart::Resources(names) = part { &names[..] } else { &[] });
    names.flatten()
}

/// Gives resources the names that dest has for them, by their names in updated.
fn rename(parts: &mut [CommentPart<'_>], followed: &HashMap<ResourceName, ResourceName>) {
    let names =
        parts.iter_mut().filter_map(|part| if let CommentPart::Resources(names) = part { Some(names) } else { None });
    for name in names.flatten() {
        if let Some(own) = followed.get(name) {
            name.clone_from(own);
        }
    }
}

/// The number of the first document that holds each resource.
fn positions<'p>(parts: &'p [CommentPart<'_>]) -> HashMap<&'p ResourceName, usize> {
    let mut positions = HashMap::new();
    for (number, part) in parts.iter().enumerate() {
        for name in names(std::slice::from_ref(part)) {
            positions.entry(name).or_insert(number);
        }
    }
    positions
}

/// The key of each document of comments, by its number. Only documents with a `known` resource count as the ones before it.
fn keys<'d>(parts: &[CommentPart<'d>], known: &HashSet<&ResourceName>) -> HashMap<usize, CommentKey<'d>> {
    let mut before: Option<&ResourceName> = None;
    let mut keys = HashMap::new();
    for (number, part) in parts.iter().enumerate() {
        match part {
            CommentPart::Resources(names) => before = names.iter().find(|name| known.contains(name)).or(before),
            CommentPart::Comments(lines) => _ = keys.insert(number, (before.cloned(), lines.clone())),
        }
    }
    keys
}

fn counted<'k, 'd>(keys: &'k HashMap<usize, CommentKey<'d>>) -> HashMap<&'k CommentKey<'d>, usize> {
    let mut counts = HashMap::new();
    keys.values().for_each(|key| *counts.entry(key).or_default() += 1);
    counts
}
