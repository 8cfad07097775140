//! The merge of whole texts and packages, for programs that have files and want files.
//!
//! A host that needs more, such as results or annotations, uses [`crate::package`] and [`crate::rules`] instead.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use crate::documents::{Item, rewrite, sorted};
use crate::hashed::{Empty, HashMap};
use crate::layout;
use crate::limit::{Budget, Exceeded, Limit};
use crate::merge::Merging;
use crate::mode::Mode;
use crate::package::{Ambiguous, Becomes, Member, Spot, members, orders, spots};
use crate::path::FieldPath;
use crate::policy::{NewElements, Policy, Renames};
use crate::resource::{Identity, Index, Located, Origin, Resource};
use crate::rules::{Rules, Unmergeable};
use crate::schema::{Inference, Types};
use crate::sides::Sides;
use crate::splice::{self, Fault, NotJson, Unwritable};
use crate::tree::{self, Pick, Taking, Tree, settle};
use crate::yaml::{self, Document, NodeRef, extent};

/// Resources in their texts: one text, or files with their paths.
#[derive(Debug)]
pub struct Package {
    files: Vec<File>,
    /// The budget for the text that a merge into it makes.
    budget: Budget,
}

#[derive(Debug)]
struct File {
    path: String,
    document: Document<'static>,
}

/// The result of a merge into dest. Its conflicts are open until [`Merged::resolve`] decides them.
#[derive(Debug)]
pub struct Merged<'a> {
    dest: &'a Package,
    resources: Vec<MergedResource<'a>>,
    /// The side that wins each conflict; updated wins conflicts that are not listed.
    picks: Vec<Pick>,
}

/// The result for one resource.
#[derive(Debug)]
struct MergedResource<'a> {
    /// Its number among dest's resources; `None` if it is new.
    number: Option<usize>,
    identity: Option<Identity<'a>>,
    /// The file that it is in.
    path: &'a str,
    /// Its new state; `None` if it is removed.
    tree: Option<Tree<'a>>,
    /// The resource whose layout it gets, if it does not keep dest's.
    like: Option<NodeRef<'a>>,
    /// Its position; `None` puts it after dest's resources.
    spot: Option<Spot>,
}

/// A place that dest and the other side both changed, in different ways.
#[derive(Debug)]
pub struct Conflict<'a> {
    identity: Option<Identity<'a>>,
    conflict: tree::Conflict<'a>,
}

/// Why texts cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A text is not YAML, or a resource in it cannot be merged.
    Text {
        /// The path of the text; empty if it has none.
        path: String,
        /// What is wrong, and where.
        error: yaml::Error,
    },
    /// It is ambiguous which resources are the same.
    Ambiguous(Ambiguous),
    /// A source names several resources of dest, or a patch names none.
    Partner(String),
    /// The result would take more bytes than the limit for such an input.
    Exceeded(Exceeded),
    /// A resource of dest is JSON, which lacks one of the numbers of the result.
    NotJson(NotJson),
    /// The result cannot be written, because of a fault in this crate.
    Fault(Fault),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { path, error } if path.is_empty() => error.fmt(f),
            Self::Text { path, error } => write!(f, "{path}:{error}"),
            Self::Ambiguous(error) => error.fmt(f),
            Self::Partner(message) => f.write_str(message),
            Self::Exceeded(error) => error.fmt(f),
            Self::NotJson(error) => error.fmt(f),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<Exceeded> for Error {
    fn from(exceeded: Exceeded) -> Self {
        Self::Exceeded(exceeded)
    }
}

impl From<Unwritable> for Error {
    fn from(unwritable: Unwritable) -> Self {
        match unwritable {
            Unwritable::Exceeded(exceeded) => Self::Exceeded(exceeded),
            Unwritable::NotJson(not_json) => Self::NotJson(not_json),
            Unwritable::Fault(fault) => Self::Fault(fault),
        }
    }
}

impl From<Box<Unmergeable<'_>>> for Error {
    fn from(unmergeable: Box<Unmergeable<'_>>) -> Self {
        let Unmergeable { resource, error } = *unmergeable;
        Self::Text { path: resource.path.unwrap_or_default().to_owned(), error }
    }
}

/// Merges the changes from original to updated into dest. Each file of dest stays where it is.
///
/// Lists merge by the keys of the built-in types, and by inferred keys if a type is not known.
///
/// # Errors
/// A text that cannot be merged; resources that cannot be told apart.
///
/// # Examples
/// ```
/// use krm_merge::{Package, Pick, three_way};
///
/// let map = |size: u32, color: &str| {
///     format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  size: '{size}' # big\n  color: {color}\n")
/// };
/// let original = Package::of_text(map(1, "red"))?;
/// let updated = Package::of_text(map(2, "blue"))?;
/// let dest = Package::of_text(map(1, "green"))?;
/// let merged = three_way(&original, &updated, &dest)?;
/// let conflicts = merged.conflicts();
/// assert_eq!((conflicts.len(), conflicts[0].path().as_str()), (1, "data.color"));
/// assert_eq!(conflicts[0].updated().as_deref(), Some("\"blue\""));
/// assert_eq!(merged.text()?, map(2, "blue"));
/// assert_eq!(merged.resolve(|_| Pick::Dest).text()?, map(2, "green"));
/// # Ok::<(), krm_merge::Error>(())
/// ```
pub fn three_way<'a>(original: &'a Package, updated: &'a Package, dest: &'a Package) -> Result<Merged<'a>, Error> {
    let rules = with_built_in_types(dest);
    let sides = Sides { original, updated, dest }.map(Package::resources);
    let sides = Sides { original: &sides.original[..], updated: &sides.updated, dest: &sides.dest };
    let mut resources = Vec::new();
    let members = members(sides, Renames::Follow).map_err(Error::Ambiguous)?;
    let spots = spots(&orders(&members, NewElements::default()), &members);
    for (number, member) in members.iter().enumerate() {
        let becomes = member.merged(&rules)?;
        let like = match &becomes {
            Becomes::Merged(_, upstream) => layout::of(member.sides, *upstream, rules.budget),
            _ => None,
        };
        let spot = spots.get(&number).copied();
        resources.extend(made(member, becomes).map(|made| MergedResource { like, spot: spot.or(made.spot), ..made }));
    }
    Ok(Merged::new(dest, resources))
}

/// Merges a source into dest: its values are set, a null removes a field, and a resource that dest lacks is added.
///
/// # Errors
/// A text that cannot be merged; a resource that matches several ones of dest.
///
/// # Examples
/// ```
/// let map = |data: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{{data}}}\n");
/// let (source, dest) = (krm_merge::Package::of_text(map("b: null, c: '3'"))?, krm_merge::Package::of_text(map("a: '1', b: '2'"))?);
/// assert_eq!(krm_merge::two_way(&source, &dest)?.text()?, map("a: '1', c: '3'"));
/// # Ok::<(), krm_merge::Error>(())
/// ```
pub fn two_way<'a>(source: &'a Package, dest: &'a Package) -> Result<Merged<'a>, Error> {
    let rules = with_built_in_types(dest);
    let put = |source: &Resource<'a>, rules: &Rules<'a>| Ok(rules.added(source)?);
    merge_sources(source, dest, &rules, put)
}

/// Applies a strategic merge patch to dest, as `kubectl patch` does. `types` says which lists merge:
/// `Types::new([], Inference::Off)` knows the built-in types.
///
/// # Errors
/// A text that cannot be merged; a patch that is for no resource of dest, or for several.
///
/// # Examples
/// ```
/// use krm_merge::{Inference, Types};
///
/// let pod = |containers: &str| format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: [{containers}]\n");
/// let patch = krm_merge::Package::of_text(pod("{name: b, $patch: delete}"))?;
/// let dest = krm_merge::Package::of_text(pod("{name: a}, {name: b}"))?;
/// let types = Types::new([], Inference::Off);
/// assert_eq!(krm_merge::strategic(&patch, &dest, &types)?.text()?, pod("{name: a}"));
/// # Ok::<(), krm_merge::Error>(())
/// ```
pub fn strategic<'a>(patch: &'a Package, dest: &'a Package, types: &'a Types<'a>) -> Result<Merged<'a>, Error> {
    let rules = Rules { types, mode: Mode::Strategic, policy: Policy::default(), budget: &dest.budget };
    let refuse = |source: &Resource<'a>, _: &Rules<'a>| {
        let named = source.identity.map(|identity| format!("`{identity}`")).unwrap_or_default();
        Err(Error::Partner(format!("a patch must be for a resource of dest, and none is {named}")))
    };
    merge_sources(patch, dest, &rules, refuse)
}

/// Rules for a merge into dest that know the built-in types.
fn with_built_in_types(dest: &Package) -> Rules<'_> {
    static TYPES: LazyLock<Types<'static>> = LazyLock::new(|| Types::new([], Inference::On));
    Rules { types: &TYPES, mode: Mode::ThreeWay, policy: Policy::default(), budget: &dest.budget }
}

/// Merges each source into its partner. `alone` gives the result for a source without one.
fn merge_sources<'a>(
    source: &'a Package,
    dest: &'a Package,
    rules: &Rules<'a>,
    alone: impl Fn(&Resource<'a>, &Rules<'a>) -> Result<Option<Tree<'a>>, Error>,
) -> Result<Merged<'a>, Error> {
    let items = dest.resources();
    let index = Index::of(&items);
    let stays =
        |(number, item): (usize, &Resource<'a>)| MergedResource::of(item, Some(number), Some(Tree::Node(item.node())));
    let mut resources: Vec<MergedResource<'a>> = items.iter().enumerate().map(stays).collect();
    let mut merging: BTreeMap<usize, Merging<'a>> = BTreeMap::new();
    let mut added: HashMap<Identity<'a>, usize> = HashMap::new();
    for source in source.resources() {
        let Some(identity) = source.identity else { continue };
        // A later source merges into a resource that an earlier source added.
        let new = || added.get(&identity).copied();
        match index.partner(identity, source.relative_path).map_err(Error::Partner)?.or_else(new) {
            Some(number) => {
                let merging = merging.entry(number).or_insert_with(|| Merging::of(resources[number].tree.take()));
                if merging.tree().is_some() {
                    rules.patched(items.get(number).unwrap_or(&source), merging, &source)?;
                }
            }
            None => {
                added.insert(identity, resources.len());
                resources.push(MergedResource::of(&source, None, alone(&source, rules)?));
            }
        }
    }
    for (number, merging) in merging {
        resources[number].tree = merging.finish();
    }
    Ok(Merged::new(dest, resources))
}

/// The result of a three-way merge of a resource; `None` if no side has it any more.
fn made<'a>(member: &Member<'_, 'a>, becomes: Becomes<'a>) -> Option<MergedResource<'a>> {
    let Sides { original, updated, dest } = member.sides;
    let whole = |dest: Option<&Resource<'a>>, updated: Option<&Resource<'a>>| {
        let conflict = tree::Conflict {
            path: FieldPath::default(),
            original: original.map(|resource| resource.node()),
            updated: updated.map(|resource| resource.node()),
            dest: dest.map(|resource| Tree::Node(resource.node())),
            taken: None,
            key: None,
            comments: None,
            taking: Taking::Deletion,
            required: None,
        };
        Some(Tree::from(conflict))
    };
    let (of, tree) = match becomes {
        Becomes::Kept => (dest, dest.map(|dest| Tree::Node(dest.node()))),
        Becomes::Arrived(tree) => (updated, tree),
        Becomes::Merged(merged, _) => (dest, merged.tree),
        Becomes::Deleted(places) if places.is_empty() => (dest, None),
        Becomes::Deleted(_) => (dest, whole(dest, None)),
        Becomes::StaysDeleted(places) if places.is_empty() => return None,
        Becomes::StaysDeleted(_) => (updated, whole(None, updated)),
        Becomes::Gone => return None,
    };
    Some(MergedResource::of(of?, dest.and_then(|dest| dest.origin.item()), tree))
}

impl Package {
    /// The resources of one text: YAML documents, or JSON.
    ///
    /// # Errors
    /// The text is not YAML.
    pub fn of_text(text: impl Into<String>) -> Result<Self, Error> {
        Self::of_files([(String::new(), text.into())])
    }

    /// The resources of files, each with its path and its text.
    ///
    /// # Errors
    /// A text that is not YAML.
    pub fn of_files(files: impl IntoIterator<Item = (String, String)>) -> Result<Self, Error> {
        let parse = |(path, text): (String, String)| match Document::parse(text) {
            Ok(document) => Ok(File { path, document }),
            Err(error) => Err(Error::Text { path, error }),
        };
        let files = files.into_iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let limit = limit(&files);
        Ok(Self { files, budget: Budget::new(limit) })
    }

    fn roots(&self) -> impl Iterator<Item = (&File, NodeRef<'_>)> {
        let all = self.files.iter().flat_map(|file| file.document.roots().map(move |root| (file, root)));
        all.filter(|(_, root)| root.is_map())
    }

    fn resources(&self) -> Vec<Resource<'_>> {
        let all = self.roots().enumerate().map(|(number, (file, root))| {
            let path = Some(file.path.as_str()).filter(|path| !path.is_empty());
            let located = if path.is_some() { Located::ByFile } else { Located::Nowhere };
            Resource { path, relative_path: path, located, ..Resource::read(root, Origin::Item(number)) }
        });
        all.collect()
    }
}

impl<'a> MergedResource<'a> {
    fn of(resource: &Resource<'a>, number: Option<usize>, tree: Option<Tree<'a>>) -> Self {
        let (identity, path) = (resource.identity, resource.path.unwrap_or_default());
        Self { number, identity, path, tree, like: None, spot: number.map(Spot::of_item) }
    }
}

impl<'a> Merged<'a> {
    fn new(dest: &'a Package, resources: Vec<MergedResource<'a>>) -> Self {
        Self { dest, resources, picks: Vec::new() }
    }

    /// The conflicts, in the order of the resources.
    pub fn conflicts(&self) -> Vec<Conflict<'a>> {
        let all = self.resources.iter().flat_map(|made| {
            let conflicts = made.tree.iter().flat_map(Tree::conflicts);
            conflicts.map(move |conflict| Conflict { identity: made.identity, conflict })
        });
        all.collect()
    }

    /// Picks the side that wins each conflict. If this is not called, updated wins all of them.
    #[must_use]
    pub fn resolve(mut self, pick: impl FnMut(&Conflict<'a>) -> Pick) -> Self {
        self.picks = self.conflicts().iter().map(pick).collect();
        self
    }

    /// The files of dest after the merge, and the new files, by path; `None` for a file that no longer has a resource.
    ///
    /// # Errors
    /// The files take more bytes than the limit for such an input.
    pub fn files(&self) -> Result<Vec<(String, Option<String>)>, Error> {
        let budget = Budget::new(limit(&self.dest.files));
        let mut picks = self.picks.iter().copied();
        let mut items = vec![Item::Stays; self.dest.roots().count()];
        let roots: Vec<_> = self.dest.roots().collect();
        let mut added: Vec<(&str, Spot, String)> = Vec::new();
        let mut kept: Vec<Spot> = (0..items.len()).map(Spot::of_item).collect();
        for made in &self.resources {
            let tree = made.tree.clone().and_then(|tree| settle(tree, &mut |_| picks.next().unwrap_or(Pick::Updated)));
            match (made.number.and_then(|number| Some((number, roots.get(number)?.1))), tree) {
                (Some((number, root)), Some(tree)) if tree.like().is_some_and(|like| like.is(root)) => {
                    let (edits, _) = layout::edits(root, &tree, made.like, &budget)?;
                    items[number] = if edits.is_empty() { Item::Stays } else { Item::Edited(edits) };
                }
                (Some((number, _)), _) => items[number] = Item::Goes,
                (None, Some(tree)) => {
                    let spot = made.spot.unwrap_or_else(|| Spot::last(added.len()));
                    added.push((made.path, spot, splice::standalone(&tree, &budget)?));
                }
                (None, None) => {}
            }
            if let (Some(number), Some(spot)) = (made.number, made.spot) {
                kept[number] = spot;
            }
        }
        let mut files = Vec::new();
        for file in &self.dest.files {
            let own = roots.iter().zip(&items).zip(&kept).filter(|(((of, _), _), _)| std::ptr::eq(*of, file));
            let own = own.map(|(((_, root), item), spot)| (extent(*root), item, *spot)).collect::<Vec<_>>();
            let is_gone = !own.is_empty() && own.iter().all(|(_, item, _)| **item == Item::Goes);
            let left = own.iter().filter(|(_, item, _)| **item != Item::Goes);
            let mut order: Vec<Spot> = left.map(|(.., spot)| *spot).collect();
            let mut text = rewrite(file.document.source(), own.into_iter().map(|(lines, item, _)| (lines, item)));
            let is_new = |(path, ..): &(&str, Spot, String)| *path == file.path;
            let is_left = !is_gone || added.iter().any(is_new);
            for (_, spot, new) in added.extract_if(.., |new| is_new(new)) {
                append(&mut text, &new);
                order.push(spot);
            }
            files.push((file.path.clone(), is_left.then_some(sorted(text, &order, &budget)?)));
        }
        for (path, _, new) in added {
            match files.iter_mut().find(|(known, _)| known == path) {
                Some((_, Some(text))) => append(text, &new),
                Some((_, text)) => *text = Some(new),
                None => files.push((path.to_owned(), Some(new))),
            }
        }
        Ok(files)
    }

    /// All resources as one text: the files in their order.
    ///
    /// # Errors
    /// Same as [`Merged::files`].
    pub fn text(&self) -> Result<String, Error> {
        let mut out = String::new();
        for text in self.files()?.into_iter().filter_map(|(_, text)| text) {
            append(&mut out, &text);
        }
        Ok(out)
    }
}

fn limit(files: &[File]) -> Limit {
    Limit::default().with_input(files.iter().map(|file| file.document.source().len()).sum())
}

/// Appends a text to another one, as further documents.
fn append(text: &mut String, more: &str) {
    if !text.is_empty() {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        text.push_str(end);
        if !more.starts_with("---") {
            text.push_str("---\n");
        }
    }
    text.push_str(more);
}

impl<'a> Conflict<'a> {
    /// The resource; `None` if it has no apiVersion, kind or name.
    pub fn resource(&self) -> Option<Identity<'a>> {
        self.identity
    }

    /// The place, with elements by their keys: `spec.containers[name=web].image`; empty for the whole resource.
    pub fn path(&self) -> String {
        self.conflict.path.keyed()
    }

    /// The value that both sides started from, as JSON.
    pub fn original(&self) -> Option<String> {
        json(self.conflict.original.map(Tree::Node).as_ref())
    }

    /// The value of updated, as JSON.
    pub fn updated(&self) -> Option<String> {
        json(self.conflict.updated.map(Tree::Node).as_ref())
    }

    /// The value of dest, as JSON.
    pub fn dest(&self) -> Option<String> {
        json(self.conflict.dest.as_ref())
    }
}

/// A value as JSON, unless it is larger than the limit for a small input.
fn json(tree: Option<&Tree<'_>>) -> Option<String> {
    splice::json_of(tree?, &Budget::default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(name: &str, data: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{{data}}} # why\n")
    }

    fn package(files: &[(&str, String)]) -> Package {
        Package::of_files(files.iter().map(|(path, text)| ((*path).to_owned(), text.clone()))).expect("YAML")
    }

    #[test]
    fn files_change_come_and_go() {
        let original = package(&[("a", map("a", "x: 1")), ("b", map("b", "x: 1"))]);
        let updated = package(&[("a", map("a", "x: 2")), ("c", map("c", "z: 1"))]);
        let dest = package(&[("a", map("a", "x: 1, y: 1")), ("b", map("b", "x: 1")), ("d", map("d", "x: 1"))]);
        let merged = three_way(&original, &updated, &dest).expect("merged");
        let want = [
            ("a", Some(map("a", "x: 2, y: 1"))),
            ("b", None),
            ("d", Some(map("d", "x: 1"))),
            ("c", Some(map("c", "z: 1"))),
        ];
        assert_eq!(merged.files().expect("small"), want.map(|(path, text)| (path.to_owned(), text)));
        assert_eq!(merged.conflicts().len(), 0);
    }

    #[test]
    fn a_document_stands_beside_the_neighbours_that_it_has_upstream() {
        let file = |names: &str| names.split(' ').map(|name| map(name, "x: 1")).collect::<Vec<_>>().join("---\n");
        for (original, updated, dest, want) in [
            ("a b", "n a b", "a b", "n a b"),
            ("a b", "a n b", "a mine b", "a mine n b"),
            ("a b", "a n b", "b", "n b"),
            ("a b", "a b n", "a b mine", "a b mine n"),
            ("a b", "n m", "a b", "n m"),
            // If only one side changed the order, its order holds.
            ("a b c", "c a n b", "a b c", "c a n b"),
            // Within one gap, elements that only dest has come first.
            ("a b c", "a b c n", "c mine a b", "c mine n a b"),
            ("a b c", "b a c", "c a b", "c a b"),
        ] {
            let [original, updated, dest] = [original, updated, dest].map(|names| package(&[("f", file(names))]));
            let merged = three_way(&original, &updated, &dest).expect("merged");
            assert_eq!(merged.text().expect("small"), file(want), "{want}");
        }
        let [one, two] = ["a b", "n b a"].map(|names| Package::of_text(file(names)).expect("YAML"));
        assert_eq!(three_way(&one, &two, &one).expect("merged").text().expect("small"), file("n b a"));
    }

    #[test]
    fn a_conflict_of_a_whole_resource_is_one() {
        let [old, new, none] =
            [map("a", "x: 1"), map("a", "x: 2"), String::new()].map(|text| Package::of_text(text).expect("YAML"));
        let deleted_upstream = three_way(&old, &none, &new).expect("merged");
        assert_eq!(deleted_upstream.conflicts()[0].path(), "");
        assert_eq!(deleted_upstream.text().expect("small"), "");
        assert_eq!(deleted_upstream.resolve(|_| Pick::Dest).text().expect("small"), map("a", "x: 2"));
        let deleted_here = three_way(&old, &new, &none).expect("merged");
        assert_eq!((deleted_here.conflicts().len(), deleted_here.text().expect("small").as_str()), (1, ""));
    }

    #[test]
    fn an_error_names_the_file_and_the_place() {
        let error = Package::of_files([("a.yaml".to_owned(), "a: [".to_owned())]).expect_err("no YAML");
        assert!(error.to_string().starts_with("a.yaml:1:4: "), "{error}");
    }
}
