//! Makes the patch between two states of a resource: the reverse of `patch.rs`.
//!
//! The patch is a tree of the nodes of both states, so it has their spelling and their comments. It has the differences, the paths to them,
//! and the fields that identify a resource or an element. It names an equal field only if a new field would not find its place without that
//! neighbour. A patch cannot express every difference: a caller that needs to know merges it and compares.

use std::borrow::Cow;
use std::sync::LazyLock;

use krm_merge_core::change::{Change, Child, Inside, Wants};
use krm_merge_core::diff::diff;
use krm_merge_core::parts::Composed;
use krm_merge_core::patch::{DELETE_FROM, ORDER, PATCH};
use krm_merge_core::policy::Renames;
use krm_merge_core::renamed::renamed_since;
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, ListKind, list_kind};
use krm_tree::child::{By, ChildId, MergeKey};
use krm_tree::path::FieldPath;
use krm_tree::sides::Sides;
use krm_tree::tree::{Branch, Comments, Entry, Key, Made, Quotes, Tree};
use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{Document, Error, Kind, NodeRef, same};

use krm_package::resource::{IDENTITY, Resource};
use krm_package::transport;

/// The parts of dest that a patch must reproduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The text of dest, with its comments and the places of new fields.
    Text,
    /// The values of dest.
    Values,
}

/// The directives of Strategic about the lists of a resource, by the names of the lists.
#[derive(Debug, Default)]
pub struct ListDirectives(HashMap<String, OfList>);

#[derive(Debug)]
struct OfList {
    order: String,
    delete_from: String,
}

impl ListDirectives {
    /// The directives about all lists of some documents.
    pub fn of<'d>(documents: impl IntoIterator<Item = &'d Document<'static>>) -> Self {
        let mut all = HashMap::new();
        let mut todo: Vec<NodeRef<'_>> = documents.into_iter().flat_map(Document::roots).collect();
        while let Some(node) = todo.pop() {
            todo.extend(node.elements());
            for (key, value) in node.entries() {
                todo.push(value);
                if value.is_list() {
                    let name = key.string();
                    let of_list =
                        || OfList { order: format!("{ORDER}{name}"), delete_from: format!("{DELETE_FROM}{name}") };
                    all.entry(name.to_owned()).or_insert_with(of_list);
                }
            }
        }
        Self(all)
    }
}

/// How a patch is made.
#[derive(Clone, Copy, Debug)]
pub struct Extraction<'a> {
    /// The parts of dest that it must reproduce.
    pub extent: Extent,
    /// The directives about the lists of dest.
    pub directives: &'a ListDirectives,
}

/// A patch for one resource.
#[derive(Debug)]
pub struct Patch<'a> {
    /// The patch.
    pub tree: Tree<'a>,
    /// The places where it does more, or needs more, than it shows.
    pub held: Vec<HeldPlace<'a>>,
}

/// A place where a patch does more, or needs more, than it shows.
#[derive(Clone, Debug)]
pub struct HeldPlace<'a> {
    /// The place.
    pub path: FieldPath<'a>,
    /// The line of dest that it is from.
    pub at: NodeRef<'a>,
    /// How the patch holds the place.
    pub holds: Holds,
}

/// How a patch holds a value that original has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// As a whole: what a later release changes in it, the patch takes back.
    Whole,
    /// As elements that are named by their merge keys: whoever applies the patch must know these keys.
    ByKeys,
    /// As elements of a set: whoever applies the patch must know that it is one.
    ByValue,
    /// Under another name: a later release changes the value under its old name, which the patch deletes.
    Renamed,
}

impl<'a> Extraction<'a> {
    /// The patch from original to dest, as far as a patch in the mode of the cursor can express it; `None` if it would be empty.
    ///
    /// # Errors
    /// A repeated key in a map.
    pub fn patch(
        self,
        original: &Resource<'a>,
        dest: &Resource<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Patch<'a>>, Error> {
        let [old, new] = [original, dest].map(Resource::node);
        let found = diff(Some(old), new, None, cursor, Renames::Ignore)?;
        let Some(Change { wants: Wants::Inside(inside), .. }) = &found.change else { return Ok(None) };
        let mut making =
            Making { extent: self.extent, directives: self.directives, path: FieldPath::default(), held: Vec::new() };
        // A file without resources is known by its path.
        let named: &[&[&str]] = if original.is_file() { &[] } else { &IDENTITY };
        let Some(tree) = making.map(Pair { original: old, dest: new }, inside, cursor, named) else {
            return Ok(None);
        };
        Ok(Some(Patch { tree: transport::with_type(tree, original), held: making.held }))
    }
}

/// A patch while it is made.
struct Making<'a> {
    extent: Extent,
    directives: &'a ListDirectives,
    /// The place.
    path: FieldPath<'a>,
    held: Vec<HeldPlace<'a>>,
}

impl<'a> Making<'a> {
    fn hold(&mut self, at: NodeRef<'a>, holds: Holds) {
        self.held.push(HeldPlace { path: self.path.clone(), at, holds });
    }

    /// All of dest's value, held.
    fn whole(&mut self, pair: Pair<'a>) -> Tree<'a> {
        self.hold_whole(pair);
        Tree::Node(pair.dest)
    }

    /// Holds a value as a whole, if a three-way merge could also take a later release's change of it.
    fn hold_whole(&mut self, Pair { original, dest }: Pair<'a>) {
        let [old, new] = [original, dest].map(NodeRef::resolve);
        let is_several_lines = |node: NodeRef<'_>| {
            node.as_str().is_some_and(|text| text.trim_end().contains('\n') || node.text().contains('\n'))
        };
        let have_parts = || {
            let texts = Sides { original: old.as_str()?, updated: old.as_str()?, dest: new.as_str()? };
            Composed::of_place(&self.path)?.merged(texts)
        };
        let can_merge = match old.kind() {
            Kind::Map | Kind::List => old.kind() == new.kind() && old.written().next().is_some(),
            Kind::Scalar | Kind::Alias => {
                same(old, new) || (is_several_lines(old) && is_several_lines(new)) || have_parts().is_some()
            }
        };
        if can_merge {
            self.hold(dest, Holds::Whole);
        }
    }

    /// The shortest value that changes nothing in a field.
    fn unchanged(&mut self, field: &Kept<'a>) -> Tree<'a> {
        match (field.unchanged(), field.old) {
            (Tree::Node(dest), Some(original)) => self.whole(Pair { original, dest }),
            (tree, _) => tree,
        }
    }

    /// Holds the children that dest renamed.
    fn renamed(&mut self, by: &By<'a>, [old, new]: [Vec<(ChildId<'a>, NodeRef<'a>)>; 2]) {
        let in_dest: HashMap<ChildId<'a>, NodeRef<'a>> = new.iter().cloned().collect();
        for id in renamed_since(old, new) {
            self.path.push(id.step(by), None);
            if let Some(value) = in_dest.get(&id) {
                self.hold(*value, Holds::Renamed);
            }
            self.path.pop();
        }
    }

    /// A map of the patch; `None` if it would only identify the map. `named` has the paths below it that identify it.
    fn map(
        &mut self,
        pair: Pair<'a>,
        inside: &Inside<'a>,
        cursor: Cursor<'a>,
        named: &[&[&'a str]],
    ) -> Option<Tree<'a>> {
        let asked: HashMap<&ChildId<'a>, &Child<'a>> = inside.children.iter().map(|child| (&child.id, child)).collect();
        let mut gone = pair.gone();
        let mut fields: Vec<Field<'a>> = gone.remove(&None).into_iter().flatten().collect();
        for (key, value) in pair.dest.fields().filter(|(key, _)| !key.is_container()) {
            let (name, paths) = (key.string(), paths_below(key.string(), named));
            let old = pair.original.get(name);
            let below = cursor.child(name, old.into_iter().chain([value]));
            let kept = Kept { key, old, value, cursor: below };
            let asked = asked.get(&ChildId::Field(name));
            self.path.push(ChildId::Field(name).step(&By::Field), None);
            let entries = asked.map(|child| self.asked(&kept, child, &paths)).unwrap_or_default();
            self.path.pop();
            let stands = if old.is_some() { Stands::Kept(kept) } else { Stands::New };
            let mut field = Field { stands, says: !entries.is_empty(), entries };
            if field.entries.is_empty() && !paths.is_empty() {
                field.entries.push(uncommented(key, who(value, &paths)));
            }
            fields.push(field);
            fields.extend(gone.remove(&Some(name)).into_iter().flatten());
        }
        if !fields.iter().any(|field| field.says) {
            return None;
        }
        self.renamed(&By::Field, [pair.original, pair.dest].map(named_fields));
        if self.extent == Extent::Text {
            for neighbour in anchor(&mut fields) {
                if let Stands::Kept(kept) = &fields[neighbour].stands {
                    self.path.push(ChildId::Field(kept.key.string()).step(&By::Field), None);
                    self.unchanged(kept);
                    self.path.pop();
                }
            }
        }
        let entries = fields.into_iter().flat_map(|field| field.entries).collect();
        Some(Branch::with(pair.dest, By::Field, entries).into())
    }

    /// The entries of the patch for a field that differs.
    fn asked(&mut self, field: &Kept<'a>, child: &Child<'a>, named: &[&[&'a str]]) -> Vec<Entry<'a>> {
        let pair = field.old.filter(|old| !old.is_null()).map(|original| Pair { original, dest: field.value });
        let says_comment = child.change.notes.behind.is_some_and(|note| !note.wants.is_empty());
        let has_comment = says_comment && self.extent == Extent::Text;
        let (mut tree, mut entries) = match (&child.change.wants, pair) {
            (Wants::Same, _) => (None, Vec::new()),
            (Wants::Inside(inside), Some(pair)) => match &inside.by {
                By::Field => (self.map(pair, inside, field.cursor, named), Vec::new()),
                By::Keys(keys) => self.elements(field.key.string(), pair, inside, keys, field.cursor),
                By::Value => self.set(field.key.string(), pair, inside, field.cursor),
                By::Index => (Some(self.whole(pair)), Vec::new()),
            },
            (_, Some(pair)) => (Some(self.whole(pair)), Vec::new()),
            (_, None) => (Some(Tree::Node(field.value)), Vec::new()),
        };
        // A null in a patch would remove the field.
        if has_comment && tree.is_none() && !field.value.is_null() {
            tree = Some(if named.is_empty() { self.unchanged(field) } else { who(field.value, named) });
        }
        entries.extend(tree.map(|tree| match field.old {
            Some(_) if !has_comment => uncommented(field.key, tree),
            Some(_) => Entry {
                comments: Comments { above: Some(""), ..Comments::default() }.into(),
                ..named_entry(field.key, tree)
            },
            None => named_entry(field.key, tree),
        }));
        entries
    }

    /// A list of the patch that merges by keys, and the directives about it.
    fn elements(
        &mut self,
        name: &str,
        pair: Pair<'a>,
        inside: &Inside<'a>,
        keys: &[MergeKey<'a>],
        cursor: Cursor<'a>,
    ) -> (Option<Tree<'a>>, Vec<Entry<'a>>) {
        let paths: Vec<[&'a str; 1]> = keys.iter().map(|key| [key.name]).collect();
        let named: Vec<&[&'a str]> = paths.iter().map(|path| &path[..]).collect();
        let [old, new] = [pair.original, pair.dest].map(|list| by_id(list, &inside.by));
        let is_moved = is_moved(&old, &new);
        if is_moved && cursor.mode() != Mode::Strategic {
            self.hold_whole(pair);
            return (Some(replaced(pair.dest)), Vec::new());
        }
        let asked: HashMap<&ChildId<'a>, &Child<'a>> = inside.children.iter().map(|child| (&child.id, child)).collect();
        let in_original: HashMap<&ChildId<'a>, NodeRef<'a>> = old.iter().map(|(id, element)| (id, *element)).collect();
        let in_dest: HashSet<&ChildId<'a>> = new.iter().map(|(id, _)| id).collect();
        let mut entries = Vec::new();
        for (id, element) in &new {
            let pair = in_original.get(id).map(|original| Pair { original: *original, dest: *element });
            self.path.push(id.step(&inside.by), None);
            let tree = match (pair, asked.get(id).map(|child| &child.change.wants)) {
                (Some(pair), Some(Wants::Inside(inside))) => self.map(pair, inside, cursor, &named),
                (Some(_), None | Some(Wants::Same)) => None,
                (Some(pair), Some(_)) => Some(self.whole(pair)),
                (None, _) => Some(Tree::Node(*element)),
            };
            self.path.pop();
            entries.extend(tree.map(|tree| Entry::new(None, tree)));
        }
        let gone = old.iter().filter(|(id, _)| !in_dest.contains(id));
        entries.extend(gone.map(|(_, element)| Entry::new(None, deleted(*element, &named))));
        let order = new.iter().map(|(_, element)| who(*element, &named)).collect();
        self.renamed(&inside.by, [old.clone(), new.clone()]);
        let directives = if is_moved { self.directive(name, |of| &of.order, pair.dest, order) } else { None };
        if (!entries.is_empty() || directives.is_some()) && !old.is_empty() {
            self.hold(pair.dest, Holds::ByKeys);
        }
        (list(pair.dest, entries), directives.into_iter().collect())
    }

    /// A list of the patch that is a set, and the directives about it.
    fn set(
        &mut self,
        name: &str,
        pair: Pair<'a>,
        inside: &Inside<'a>,
        cursor: Cursor<'a>,
    ) -> (Option<Tree<'a>>, Vec<Entry<'a>>) {
        let [old, new] = [pair.original, pair.dest].map(|list| by_id(list, &inside.by));
        let [in_original, in_dest] = [&old, &new].map(|list| list.iter().map(|(id, _)| id).collect::<HashSet<_>>());
        let gone: Vec<Tree<'a>> =
            old.iter().filter(|(id, _)| !in_dest.contains(id)).map(|(_, value)| Tree::Node(*value)).collect();
        let is_moved = is_moved(&old, &new);
        if (is_moved || !gone.is_empty()) && cursor.mode() != Mode::Strategic {
            self.hold_whole(pair);
            return (Some(replaced(pair.dest)), Vec::new());
        }
        let added = new.iter().filter(|(id, _)| !in_original.contains(id));
        let added: Vec<Entry<'a>> = added.map(|(_, value)| Entry::new(None, Tree::Node(*value))).collect();
        let mut directives = Vec::new();
        if !gone.is_empty() {
            directives.extend(self.directive(name, |of| &of.delete_from, pair.original, gone));
        }
        if is_moved {
            let order = new.iter().map(|(_, value)| Tree::Node(*value)).collect();
            directives.extend(self.directive(name, |of| &of.order, pair.dest, order));
        }
        if (!added.is_empty() || !directives.is_empty()) && !old.is_empty() {
            self.hold(pair.dest, Holds::ByValue);
        }
        (list(pair.dest, added), directives)
    }

    /// A directive about a list, with its elements, laid out as a list.
    fn directive(
        &self,
        name: &str,
        which: impl Fn(&'a OfList) -> &'a String,
        like: NodeRef<'a>,
        elements: Vec<Tree<'a>>,
    ) -> Option<Entry<'a>> {
        let key = Key::Made(which(self.directives.0.get(name)?));
        let bare = |tree| Entry { comments: NO_COMMENTS.into(), ..Entry::new(None, tree) };
        Some(Entry::new(Some(key), Branch::with(like, By::Index, elements.into_iter().map(bare).collect()).into()))
    }
}

/// A list of the patch, unless it is empty.
fn list<'a>(like: NodeRef<'a>, entries: Vec<Entry<'a>>) -> Option<Tree<'a>> {
    (!entries.is_empty()).then(|| Branch::with(like, By::Index, entries).into())
}

/// The patch that deletes a resource.
pub fn deletion<'a>(original: &Resource<'a>) -> Tree<'a> {
    transport::with_type(deleted(original.node(), &IDENTITY), original)
}

/// The two states of a map or list.
#[derive(Clone, Copy)]
struct Pair<'a> {
    original: NodeRef<'a>,
    dest: NodeRef<'a>,
}

impl<'a> Pair<'a> {
    /// The fields that dest lacks, each after the field before it that dest has.
    fn gone(self) -> HashMap<Option<&'a str>, Vec<Field<'a>>> {
        let mut all: HashMap<Option<&'a str>, Vec<Field<'a>>> = HashMap::new();
        let mut before = None;
        for (key, _) in self.original.fields().filter(|(key, _)| !key.is_container()) {
            if self.dest.get(key.string()).is_some() {
                before = Some(key.string());
                continue;
            }
            let entries = root_of(&NULL).map(|null| uncommented(key, Tree::Node(null)));
            let field = Field { stands: Stands::Gone, says: true, entries: entries.into_iter().collect() };
            all.entry(before).or_default().push(field);
        }
        all
    }
}

/// A null, which in a patch removes a field.
static NULL: Scratch = LazyLock::new(|| Document::parse("null").ok());

/// A map with the layout of maps that are list elements.
static MAP: Scratch = LazyLock::new(|| Document::parse("a: b").ok());

/// A document for nodes that neither state has.
type Scratch = LazyLock<Option<Document<'static>>>;

fn root_of(scratch: &'static Scratch) -> Option<NodeRef<'static>> {
    scratch.as_ref()?.roots().next()
}

/// A field of a map, and its entries in the patch.
struct Field<'a> {
    stands: Stands<'a>,
    /// Whether these entries change anything.
    says: bool,
    /// The field in the patch, after the directives about it.
    entries: Vec<Entry<'a>>,
}

/// The states that have a field.
enum Stands<'a> {
    /// Both.
    Kept(Kept<'a>),
    /// Only dest.
    New,
    /// Only original.
    Gone,
}

/// A field of dest, and its value in original.
struct Kept<'a> {
    key: NodeRef<'a>,
    old: Option<NodeRef<'a>>,
    value: NodeRef<'a>,
    cursor: Cursor<'a>,
}

impl<'a> Kept<'a> {
    /// The shortest value in a patch that changes nothing in the field: an empty map or list if that merges, otherwise the whole value.
    fn unchanged(&self) -> Tree<'a> {
        let elements = |list: NodeRef<'a>| list.elements().collect::<Vec<_>>();
        let is_merged = match self.value.resolve().kind() {
            Kind::Map => !self.cursor.is_replaced(),
            Kind::List => {
                let sides = [Vec::new(), elements(self.value)];
                matches!(list_kind(self.cursor, &sides), Ok(ListKind::Map(_) | ListKind::Set))
            }
            Kind::Scalar | Kind::Alias => false,
        };
        if is_merged { Branch::with(self.value, By::Index, Vec::new()).into() } else { Tree::Node(self.value) }
    }

    /// Whether [`Kept::unchanged`] is a value that a later release may change, and its length; `None` for a null, which would remove the field.
    fn cost(&self) -> Option<(bool, usize)> {
        let cost = match self.unchanged() {
            Tree::Node(node) => (true, node.text().len()),
            _ => (false, "{}".len()),
        };
        (!self.value.is_null()).then_some(cost)
    }
}

/// Names the neighbours that new fields need to get dest's place. A patch puts a new field after the nearest field before it that dest has;
/// otherwise before the nearest one after it; otherwise at the end. Returns the indices of the neighbours.
fn anchor(fields: &mut [Field<'_>]) -> Vec<usize> {
    let mut named = Vec::new();
    let mut at = 0;
    let mut opening = None;
    while let Some(first) = (at..fields.len()).find(|at| matches!(fields[*at].stands, Stands::New)) {
        let is_kept = |at: &usize| matches!(fields[*at].stands, Stands::Kept(_));
        let (before, behind) = ((0..first).rev().find(is_kept), (first..fields.len()).find(is_kept));
        at = behind.unwrap_or(fields.len());
        let in_patch = |at: usize| !fields[at].entries.is_empty();
        let old_before = (0..first).rev().find(|at| !matches!(fields[*at].stands, Stands::New) && in_patch(*at));
        let old_behind = (first..fields.len()).find(|at| is_kept(at) && in_patch(*at));
        let is_in_place = match (old_before, old_behind) {
            // The nearest named field before it must be the neighbour that stays, or a removed field after that neighbour.
            (Some(old), _) => before.is_none_or(|before| old >= before),
            (None, Some(old)) => Some(old) == behind,
            (None, None) => behind.is_none(),
        };
        if is_in_place {
            continue;
        }
        let neighbour = cheaper(fields, before, behind.filter(|_| old_before.is_none()));
        if old_before.is_none() && neighbour == before {
            opening = before.zip(behind);
        }
        let Some(neighbour) = neighbour else { continue };
        if let Stands::Kept(kept) = &fields[neighbour].stands {
            let entry = uncommented(kept.key, kept.unchanged());
            fields[neighbour].entries.push(entry);
            named.push(neighbour);
        }
    }
    // If later new fields need the neighbour after the first ones, that neighbour also fixes the place of the first ones.
    if let Some((before, behind)) = opening
        && !fields[behind].entries.is_empty()
    {
        fields[before].entries.clear();
    }
    named.retain(|at| !fields[*at].entries.is_empty());
    named
}

/// The one of two neighbours that can be named, that a later release does not change, and that takes fewer bytes in the patch.
fn cheaper(fields: &[Field<'_>], before: Option<usize>, behind: Option<usize>) -> Option<usize> {
    let cost = |at: Option<usize>| match &fields[at?].stands {
        Stands::Kept(kept) => kept.cost(),
        Stands::New | Stands::Gone => None,
    };
    match (cost(before), cost(behind)) {
        (Some(one), Some(other)) if other < one => behind,
        (Some(_), _) => before,
        (None, _) => behind,
    }
}

/// No comments, even if the nodes have some.
const NO_COMMENTS: Comments<'static> = Comments { above: Some(""), behind: Some(""), ..Comments::NONE };

fn named_entry<'a>(key: NodeRef<'a>, tree: Tree<'a>) -> Entry<'a> {
    Entry::new(Some(Key::Node(key)), tree)
}

/// A field without its own comments.
fn uncommented<'a>(key: NodeRef<'a>, tree: Tree<'a>) -> Entry<'a> {
    Entry { comments: NO_COMMENTS.into(), ..named_entry(key, tree) }
}

/// The rest of each path that begins with this field.
fn paths_below<'p, 'a>(name: &str, paths: &[&'p [&'a str]]) -> Vec<&'p [&'a str]> {
    let below = |path: &&'p [&'a str]| path.split_first().filter(|(first, _)| **first == name).map(|(_, rest)| rest);
    paths.iter().filter_map(below).collect()
}

/// Only the parts of a value at some paths; the whole value if one of the paths is empty.
fn who<'a>(value: NodeRef<'a>, paths: &[&[&'a str]]) -> Tree<'a> {
    if paths.iter().any(|path| path.is_empty()) {
        return Tree::Node(value);
    }
    let fields = value.fields().filter_map(|(key, value)| {
        let below = paths_below(key.string(), paths);
        (!below.is_empty()).then(|| uncommented(key, who(value, &below)))
    });
    Branch::with(value, By::Field, fields.collect()).into()
}

/// The patch that removes a map. `named` has the paths of the fields that identify it.
fn deleted<'a>(map: NodeRef<'a>, named: &[&[&'a str]]) -> Tree<'a> {
    let Tree::Branch(mut branch) = who(map, named) else { return Tree::Node(map) };
    branch.entries.push(directive("delete"));
    Tree::Branch(branch)
}

/// A `$patch` with this value.
fn directive<'a>(value: &'static str) -> Entry<'a> {
    let made = Made { value: Cow::Borrowed(value), quotes: Quotes::Needed };
    Entry::new(Some(Key::Made(PATCH)), Tree::from(made))
}

/// The patch for a list that replaces another one, although it would merge.
fn replaced(list: NodeRef<'_>) -> Tree<'_> {
    let map = root_of(&MAP);
    let says = map.map(|map| Entry::new(None, Branch::with(map, By::Field, vec![directive("replace")]).into()));
    let elements = list.elements().map(|element| Entry::new(None, Tree::Node(element)));
    Branch::with(list, By::Index, says.into_iter().chain(elements).collect()).into()
}

/// The fields of a map.
fn named_fields(map: NodeRef<'_>) -> Vec<(ChildId<'_>, NodeRef<'_>)> {
    let fields = map.fields().filter(|(key, _)| !key.is_container());
    fields.map(|(key, value)| (ChildId::Field(key.string()), value)).collect()
}

/// The elements of a list that have an identity.
fn by_id<'a>(list: NodeRef<'a>, by: &By<'a>) -> Vec<(ChildId<'a>, NodeRef<'a>)> {
    list.elements().filter_map(|element| Some((by.id_of(element)?, element))).collect()
}

/// Whether a merge without directives would give another order: elements that stay keep theirs, and new ones come after them.
fn is_moved(old: &[(ChildId<'_>, NodeRef<'_>)], new: &[(ChildId<'_>, NodeRef<'_>)]) -> bool {
    let [in_old, in_new] = [old, new].map(|list| list.iter().map(|(id, _)| id).collect::<HashSet<_>>());
    let stays = old.iter().map(|(id, _)| id).filter(|id| in_new.contains(id));
    let comes = new.iter().map(|(id, _)| id).filter(|id| !in_old.contains(id));
    !stays.chain(comes).eq(new.iter().map(|(id, _)| id))
}

#[cfg(test)]
mod tests;
