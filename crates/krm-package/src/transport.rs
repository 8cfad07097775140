//! Adds, changes and removes the annotations of the host. They carry an item between host and function, and are never merged.
//!
//! kpt uses them to find files and comments again, and fails or overwrites files if two items have the same ones. So dest keeps its own, a
//! source's are not taken, and an added resource has its path and, if it needs one, its number in the file. Source: hosts.md, measured on
//! kpt and kustomize.

use std::borrow::Cow;

use krm_merge_core::change::{Change, Inside, Wants};
use krm_merge_core::host::{INDEX, KPT_NOTE, LEGACY_INDEX, LEGACY_PATH, PATH, ROLE, is_transport};
use krm_tree::child::{By, ChildId, Value};
use krm_tree::remarks::Remarks;
use krm_tree::tree::{Branch, Entry, Key, Made, Quotes, Tree, View};
use krm_yaml::{NodeRef, Place, comments_at_end, same};

use crate::resource::Resource;

/// The annotations that hold an item's path, and those that hold its number in the file.
const PATHS: [&str; 2] = [PATH, LEGACY_PATH];
const INDICES: [&str; 2] = [INDEX, LEGACY_INDEX];

/// Gives an added resource its path in the package and, if it needs one, its number in the file.
pub fn with_path<'a>(tree: Tree<'a>, path: Cow<'a, str>, number: Option<u64>) -> Tree<'a> {
    let made = |value: Cow<'a, str>, quotes| Tree::from(Made { value, quotes });
    let mut marks = vec![Entry::new(Some(Key::Made(PATH)), made(path, Quotes::Needed))];
    let index = number.map(|n| Entry::new(Some(Key::Made(INDEX)), made(Cow::Owned(n.to_string()), Quotes::Single)));
    marks.extend(index);
    within(tree, "metadata", |metadata| {
        let Some((place, key, of_source)) = written(metadata.like, "annotations") else {
            // Without annotations, the source may be an element of a list: only the list has the host's annotations.
            let value = Tree::Branch(Box::new(Branch::with(metadata.like, By::Field, std::mem::take(&mut marks))));
            return metadata.push(Entry::new(Some(Key::Made("annotations")), value));
        };
        let id = ChildId::Field("annotations");
        if metadata.find(&id).next().is_none() {
            // All annotations of the source were the host's.
            let mut annotations = Branch::of(of_source, By::Field);
            annotations.entries.iter_mut().for_each(|entry| entry.value = None);
            marks.drain(..).for_each(|mark| annotations.push(mark));
            let entry = Entry { value: Some(annotations.into_tree()), ..Entry::kept(place, Some(key), of_source) };
            // The map that went comes back in its place: the text of a child is edited once.
            metadata.reorder(|mut entries| {
                let at = entries.iter().take_while(|e| e.place().is_some_and(|p| p < place)).count();
                match entries.get_mut(at).filter(|gone| gone.place() == Some(place)) {
                    Some(gone) => *gone = entry,
                    None => entries.insert(at, entry),
                }
                entries
            });
        } else {
            let like = metadata.like;
            change(metadata, &id, |annotations| match annotations {
                // Templates leave a null where they have no annotations.
                Tree::Node(node) if node.resolve().is_null() => {
                    Tree::Branch(Box::new(Branch::with(like, By::Field, std::mem::take(&mut marks))))
                }
                own => inside(own, |annotations| marks.drain(..).for_each(|mark| annotations.push(mark))),
            });
        }
    })
}

/// Whether only the list that contains a resource gives its type.
fn is_typed_by_list(resource: &Resource<'_>) -> bool {
    let says = |name: &str| resource.node().get(name).is_some();
    resource.list.is_some() && !says("apiVersion") && !says("kind")
}

/// Removes apiVersion and kind from a change, if the source has the type of dest, and dest has this type only from the list around it.
pub fn leave_type<'a>(change: &mut Change<'a>, dest: &Resource<'a>, source: &Resource<'a>) {
    let type_of = |resource: &Resource<'a>| resource.identity.map(|i| (i.api_version, i.kind));
    let Wants::Inside(root) = &mut change.wants else { return };
    if is_typed_by_list(dest) && type_of(dest) == type_of(source) {
        root.children.retain(|child| !matches!(child.id, ChildId::Field("apiVersion" | "kind")));
    }
}

/// Writes the type into an added resource, if only its list gave it.
pub fn with_type<'a>(tree: Tree<'a>, source: &Resource<'a>) -> Tree<'a> {
    let Some(identity) = source.identity.filter(|_| is_typed_by_list(source)) else { return tree };
    inside(tree, |resource| {
        let fields = [("apiVersion", identity.api_version), ("kind", identity.kind)].map(|(name, value)| {
            let value = Made { value: Cow::Borrowed(value), quotes: Quotes::Needed };
            Entry::new(Some(Key::Made(name)), value.into())
        });
        resource.reorder(|entries| fields.into_iter().chain(entries).collect());
    })
}

/// A field of a map as it is written: its place, key and value.
fn written<'a>(map: NodeRef<'a>, name: &str) -> Option<(usize, NodeRef<'a>, NodeRef<'a>)> {
    let mut entries = map.resolve().entries().enumerate();
    entries.find(|(_, (key, _))| key.string() == name).map(|(place, (key, value))| (place, key, value))
}

/// The form of a path in the annotations of an item. It is relative to the item's own package, if the host runs a package together with its
/// sub-packages. `None` if the path leads out of that package.
pub fn path_in_package<'p>(item: &Resource<'_>, path: &'p str) -> Option<&'p str> {
    let annotations = item.node().at(&["metadata", "annotations"])?;
    let own = PATHS.iter().find_map(|name| annotations.get(name).and_then(NodeRef::as_str))?;
    path.strip_prefix(item.path?.strip_suffix(own)?)
}

/// The new place of an item that moved, to another file or within its own.
#[derive(Clone, Copy, Debug)]
pub struct NewPlace<'a> {
    /// Its new path for the annotations; `None` if it keeps its own.
    pub path: Option<&'a str>,
    /// Its number in the file, if it cannot keep its own.
    pub number: Option<u64>,
}

/// Writes a new place into the annotations of an item, the current and the legacy ones.
pub fn at<'a>(tree: Tree<'a>, place: NewPlace<'a>) -> Tree<'a> {
    let made = |value: String, quotes| Tree::from(Made { value: Cow::Owned(value), quotes });
    within(tree, "metadata", |metadata| {
        change(metadata, &ChildId::Field("annotations"), |annotations| {
            inside(annotations, |annotations| {
                let has_number = INDICES.iter().any(|name| annotations.find(&ChildId::Field(name)).next().is_some());
                for (name, path) in PATHS.into_iter().filter_map(|name| Some((name, place.path?))) {
                    change(annotations, &ChildId::Field(name), |_| made(path.to_owned(), Quotes::Needed));
                }
                let Some(number) = place.number else { return };
                for name in INDICES {
                    change(annotations, &ChildId::Field(name), |_| made(number.to_string(), Quotes::Single));
                }
                // An item without a number gets one in the current annotation, which is read first.
                if !has_number {
                    annotations.push(Entry::new(Some(Key::Made(INDEX)), made(number.to_string(), Quotes::Single)));
                }
            })
        });
    })
}

/// Removes the role annotation from a dest item.
pub fn without_role(tree: Tree<'_>) -> Tree<'_> {
    // Most items have none.
    let has_role = annotations_of(&tree).is_some_and(|annotations| annotations.field(ROLE).is_some());
    if has_role { without(tree, |name| name == ROLE) } else { tree }
}

/// Removes all annotations of the host from a resource.
pub fn without_host(tree: Tree<'_>) -> Tree<'_> {
    without(tree, is_transport)
}

/// Removes all annotations of the host from a resource, and kpt's note of where it comes from.
pub fn without_host_and_note(tree: Tree<'_>) -> Tree<'_> {
    without(tree, |name| is_transport(name) || name == KPT_NOTE)
}

/// Gives a resource this namespace and name.
pub fn with_name<'a>(tree: Tree<'a>, namespace: Cow<'a, str>, name: Cow<'a, str>) -> Tree<'a> {
    let text = |value, old: Option<&Entry<'a>>| {
        let old = old.and_then(|entry| entry.value.as_ref()).and_then(Tree::like);
        Tree::from(Made { value, quotes: old.map_or(Quotes::Needed, Quotes::As) })
    };
    within(tree, "metadata", |metadata| {
        let mut at = |field: &'static str| metadata.find(&ChildId::Field(field)).next();
        let (of_name, of_namespace) = (at("name"), at("namespace"));
        if let Some(at) = of_name {
            let value = text(name, metadata.entries.get(at));
            metadata.entries[at].value = Some(value);
        }
        match of_namespace {
            Some(at) if namespace.is_empty() => metadata.entries[at].value = None,
            Some(at) => {
                let value = text(namespace, metadata.entries.get(at));
                metadata.entries[at].value = Some(value);
            }
            None if namespace.is_empty() => {}
            None => metadata.reorder(|mut entries| {
                let field = Entry::new(Some(Key::Made("namespace")), text(namespace, None));
                entries.insert(of_name.map_or(entries.len(), |at| at + 1), field);
                entries
            }),
        }
    })
}

/// The annotations by which kpt finds the old state of an item.
const IDS: [&str; 2] = ["internal.config.kubernetes.io/id", "config.k8s.io/id"];

/// Whether a resource has the annotations by which kpt finds the old state of an item.
pub fn has_ids(tree: &Tree<'_>) -> bool {
    annotations_of(tree).is_some_and(|annotations| IDS.iter().any(|id| annotations.field(id).is_some()))
}

fn annotations_of<'t, 'a>(tree: &'t Tree<'a>) -> Option<View<'t, 'a>> {
    tree.view()?.field("metadata")?.field("annotations")
}

/// Removes the annotations by which kpt finds the old state of an item, so that it does not put old comments and the old order of fields
/// back.
pub fn without_ids(tree: Tree<'_>) -> Tree<'_> {
    without(tree, |name| IDS.contains(&name))
}

/// Gives a resource the annotations by which kpt finds the old state of another item.
pub fn with_ids_of<'a>(tree: Tree<'a>, other: NodeRef<'a>) -> Tree<'a> {
    let value = |name: &str| other.get("metadata")?.get("annotations")?.get(name);
    within(tree, "metadata", |metadata| {
        change(metadata, &ChildId::Field("annotations"), |annotations| {
            inside(annotations, |annotations| {
                for entry in &mut annotations.entries {
                    let name = entry.key.map(|key| key.name()).filter(|name| IDS.contains(name));
                    entry.value = name.and_then(value).map(Tree::Node).or(entry.value.take());
                }
            })
        });
    })
}

/// Whether kpt would change a resource that it finds by its ids. kpt knows the old state, and copies each comment of it to the same field, or to
/// the element in the same place of a list, if that has no comment there. So a comment that the merge removed comes back, one that moved to
/// another field or element stands twice, and kpt gives up if a value has another kind now. Source: measured on kpt.
pub fn misleads(before: NodeRef<'_>, after: NodeRef<'_>) -> bool {
    let (before, after) = (before.resolve(), after.resolve());
    if before.is_null() || after.is_null() {
        return false;
    }
    if before.kind() != after.kind() {
        return true;
    }
    let gets_foot = || {
        let [old, new] = [before, after].map(|node| (comments_at_end(node), node.written().last()));
        let stays_last = old.1.zip(new.1).is_some_and(|(old, new)| is_one_field(old, new));
        !old.0.trim().is_empty() && (!stays_last || new.0.trim().is_empty())
    };
    let places = [before, after].map(Place::of_children);
    let misleads_at = |(number, new): (usize, ChildOfText<'_>)| {
        let Some((was, old)) = partner(before, number, new) else { return false };
        let old_comments = Remarks::at(&places[0][was], old.1);
        let new_comments = Remarks::at(&places[1][number], new.1);
        let comes_back = |old: &str, new: &str| !old.trim().is_empty() && new.trim().is_empty();
        comes_back(old_comments.above, new_comments.above)
            || comes_back(old_comments.behind, new_comments.behind)
            || misleads(old.1, new.1)
    };
    gets_foot() || after.written().enumerate().any(misleads_at)
}

/// The key and the value of a child.
type ChildOfText<'a> = (Option<NodeRef<'a>>, NodeRef<'a>);

fn is_one_field(old: ChildOfText<'_>, new: ChildOfText<'_>) -> bool {
    match (old.0, new.0) {
        (Some(old), Some(new)) => same(old, new),
        _ => same(old.1, new.1),
    }
}

/// The child from which kpt copies comments to a child, with its place: the field of the same name, or the element in the same place. An element
/// that is a scalar must have the same value.
fn partner<'a>(before: NodeRef<'a>, number: usize, new: ChildOfText<'_>) -> Option<(usize, ChildOfText<'a>)> {
    if new.0.is_some() {
        return before.written().enumerate().find(|(_, old)| is_one_field(*old, new));
    }
    let old = before.written().nth(number)?;
    let is_meant = new.1.resolve().is_container() || old.1.resolve().is_container() || same(old.1, new.1);
    is_meant.then_some((number, old))
}

/// Removes annotations from a resource, and its `annotations` map if that holds nothing else.
fn without(tree: Tree<'_>, goes: impl Fn(&str) -> bool) -> Tree<'_> {
    let has_any = |annotations: View<'_, '_>| annotations.fields().iter().any(|(name, _)| goes(name));
    if !annotations_of(&tree).is_some_and(has_any) {
        return tree;
    }
    within(tree, "metadata", |metadata| {
        let id = ChildId::Field("annotations");
        let mut is_empty = false;
        change(metadata, &id, |annotations| {
            inside(annotations, |annotations| {
                for entry in &mut annotations.entries {
                    if entry.key.is_some_and(|key| goes(key.name())) {
                        entry.value = None;
                    }
                }
                is_empty = annotations.children().next().is_none();
            })
        });
        let at = metadata.find(&id).next().filter(|_| is_empty);
        if let Some(at) = at {
            metadata.entries[at].value = None;
        }
    })
}

/// Changes the content of a field of a map that has it.
fn within<'a>(tree: Tree<'a>, name: &'static str, edit: impl FnOnce(&mut Branch<'a>)) -> Tree<'a> {
    inside(tree, |root| change(root, &ChildId::Field(name), |field| inside(field, edit)))
}

/// Changes a map.
fn inside<'a>(tree: Tree<'a>, edit: impl FnOnce(&mut Branch<'a>)) -> Tree<'a> {
    if tree.view().is_some_and(Value::is_map) { tree.edited(&By::Field, edit) } else { tree }
}

/// Changes a field of a map.
fn change<'a>(map: &mut Branch<'a>, id: &ChildId<'a>, edit: impl FnOnce(Tree<'a>) -> Tree<'a>) {
    let at = map.find(id).next();
    if let Some(at) = at {
        let entry = &mut map.entries[at];
        entry.value = entry.value.take().map(edit);
    }
}

/// A change that asks for nothing yet.
pub fn no_change(dest: NodeRef<'_>) -> Change<'_> {
    let inside = Inside::nothing_of(dest.resolve());
    Change::patch(inside.into(), None)
}
