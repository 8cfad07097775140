//! Documents of comments alone, which belong to the file: those that upstream adds come to their place, and those that it removes go.
//!
//! Such a document is known by its lines and by the document of resources before it. A document that another side lacks does not count there.

use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{Document, Edit, NodeRef, ends_line, extent};

use super::text_file::{FileItem, NewResource};
use crate::documents::{Item, below_header};
use crate::list;
use crate::resource::{Origin, Resource};
use crate::sides::Sides;

/// What becomes of the documents of comments of a file of dest.
#[derive(Debug, Default)]
pub struct CommentDocuments {
    /// The edits of dest's text that add some.
    pub edits: Vec<Edit>,
    /// Where the ones of dest that go begin.
    pub gone: HashSet<usize>,
    /// The documents that follow a new resource, as one text, by the number of that resource among the new ones.
    pub behind: HashMap<usize, String>,
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

/// Where a document goes.
#[derive(Clone, Copy)]
enum At {
    /// Before all documents of dest.
    Top,
    /// After the document of dest with this number.
    Behind(usize),
    /// After the new resource with this number.
    New(usize),
}

impl CommentDocuments {
    /// Merges the documents of comments of a file. `items` are dest's resources in it, and `added` the resources
    /// that are new.
    pub fn merged(documents: Sides<&Document<'_>>, items: &[FileItem<'_>], added: &[NewResource]) -> Self {
        if !documents.original.roots().chain(documents.updated.roots()).any(|root| comments(root).is_some()) {
            return Self::default();
        }
        let mut parts = documents.map(|document| document.roots().map(part).collect::<Vec<_>>());
        let followed = items.iter().filter_map(|item| {
            let own = name(&Resource::read(item.node, Origin::Field(String::new())))?;
            Some((item.followed?.map(str::to_owned), own))
        });
        let followed: HashMap<ResourceName, ResourceName> = followed.collect();
        [&mut parts.original, &mut parts.updated].into_iter().for_each(|parts| rename(parts, &followed));
        let named = added.iter().enumerate().filter_map(|(number, added)| Some((name_of(&added.text)?, number)));
        let new: HashMap<ResourceName, usize> = named.collect();
        let in_upstream: HashSet<&ResourceName> = names(&parts.original).chain(names(&parts.updated)).collect();
        let in_result: HashSet<&ResourceName> = names(&parts.dest).chain(new.keys()).collect();
        let keys = Sides {
            original: keys(&parts.original, &in_result),
            updated: keys(&parts.updated, &in_result),
            dest: keys(&parts.dest, &in_upstream),
        };
        let mut here = Here::of(documents.dest, items, &keys);
        let has_list = documents.dest.roots().any(list::is_list);
        let mut at = At::Top;
        let mut out = Self::default();
        for ((number, root), part) in documents.updated.roots().enumerate().zip(&parts.updated) {
            if let CommentPart::Resources(names) = part {
                let own = names.iter().find_map(|name| position(&parts.dest, name));
                let added = names.iter().find_map(|name| new.get(name)).filter(|_| !has_list);
                at = own.map(At::Behind).or(added.map(|number| At::New(*number))).unwrap_or(at);
            }
            let Some(key) = keys.updated.get(&number) else { continue };
            match here.known(key) {
                Some(known) => at = known.map_or(at, At::Behind),
                None => out.put(at, &here, root),
            }
        }
        out.gone = here.gone.iter().map(|number| here.roots[*number].start()).collect();
        out
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.gone.is_empty() && self.behind.is_empty()
    }

    /// Puts a document of updated to a place in dest.
    fn put(&mut self, at: At, here: &Here<'_>, root: NodeRef<'_>) {
        let mut text = root.document().source()[extent(root)].replace("\r\n", "\n");
        if !ends_line(&text) {
            text.push('\n');
        }
        let document = here.document;
        let (source, line_break) = (document.source(), document.line_break());
        let behind = match at {
            At::New(number) => return self.behind.entry(number).or_default().push_str(&text),
            // The nearest document before it that stays.
            At::Behind(number) => (0..=number).rev().find(|number| here.stays(*number)),
            At::Top => None,
        };
        let (at, text) = match behind.map(|number| extent(here.roots[number]).end) {
            Some(end) if ends_line(&source[..end]) => (end, text),
            Some(end) => (end, format!("\n{text}")),
            None => {
                let bom = if source.starts_with('\u{feff}') { 3 } else { 0 };
                let at = below_header(source).max(bom);
                (at, if source[at..].starts_with("---") { text } else { format!("{text}---\n") })
            }
        };
        self.edits.push(Edit { range: at..at, text: text.replace('\n', line_break) });
    }
}

/// Dest's file, and which of its documents of comments upstream has.
struct Here<'d> {
    document: &'d Document<'d>,
    roots: Vec<NodeRef<'d>>,
    /// The documents of resources that go.
    leaving: HashSet<usize>,
    /// The documents of comments that upstream removed.
    gone: HashSet<usize>,
    /// How often updated has documents of comments that are not new, and for each whether dest has it, and where.
    known: HashMap<CommentKey<'d>, Vec<Option<usize>>>,
}

impl<'d> Here<'d> {
    fn of(document: &'d Document<'d>, items: &[FileItem<'_>], keys: &Sides<HashMap<usize, CommentKey<'d>>>) -> Self {
        let roots: Vec<NodeRef<'d>> = document.roots().collect();
        let goes: HashSet<usize> =
            items.iter().filter(|own| *own.item == Item::Goes).map(|own| own.node.start()).collect();
        let leaving = (0..roots.len()).filter(|number| goes.contains(&roots[*number].start())).collect();
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
        Self { document, roots, leaving, gone, known }
    }

    /// Whether a document of updated is not new, and where dest has it.
    fn known(&mut self, key: &CommentKey<'d>) -> Option<Option<usize>> {
        self.known.get_mut(key)?.pop()
    }

    fn stays(&self, number: usize) -> bool {
        !self.leaving.contains(&number) && !self.gone.contains(&number)
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
    let lines = root.document().source()[extent(root)].lines().map(str::trim_end).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    (lines.len() > 1 && lines[0].starts_with("---")).then_some(lines)
}

fn name(resource: &Resource<'_>) -> Option<ResourceName> {
    let identity = resource.package_identity()?;
    Some([identity.api_version, identity.kind, identity.namespace, identity.name].map(str::to_owned))
}

/// The name of the resource of a text.
fn name_of(text: &str) -> Option<ResourceName> {
    let document = Document::parse(text).ok()?;
    name(&Resource::read(document.roots().find(|root| root.is_map())?, Origin::Field(String::new())))
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

/// The number of the document that holds a resource.
fn position(parts: &[CommentPart<'_>], name: &ResourceName) -> Option<usize> {
    parts.iter().position(|part| matches!(part, CommentPart::Resources(names) if names.contains(name)))
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
