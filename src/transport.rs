//! Annotations that are the host's: they carry an item between host and function and are never merged.
//!
//! kpt finds its way back to files and comments by them, and fails or overwrites files when two items carry the same; so dest keeps its
//! own, a source's are not taken, and an added resource has its path and, where it needs one, its number in the file. Source: hosts.md, measured on kpt and kustomize.

use crate::change::{Change, Child, ChildId, Expects, Inside, Others, Wants};
use crate::merge::{Comments, Plan, Slot};
use crate::resource::{INDEX, LEGACY_INDEX, LEGACY_PATH, PATH, ROLE, Resource};
use crate::yaml::{NodeRef, plain_or_quoted};

/// The annotations that hold an item's path, and those that hold its number in the file.
const PATHS: [&str; 2] = [PATH, LEGACY_PATH];
const INDICES: [&str; 2] = [INDEX, LEGACY_INDEX];

/// Whether an annotation is the host's.
pub fn is_transport(key: &str) -> bool {
    const PREFIXES: [&str; 3] =
        ["internal.config.kubernetes.io/", "internal.config.k8s.io/", "kustomize.config.k8s.io/"];
    const NAMES: [&str; 4] = [LEGACY_PATH, LEGACY_INDEX, "config.k8s.io/id", ROLE];
    PREFIXES.iter().any(|p| key.starts_with(p)) || NAMES.contains(&key)
}

fn nothing<'a>() -> Change<'a> {
    Change::patch(Wants::Nothing, None)
}

fn find<'c, 'a>(inside: &'c mut Inside<'a>, name: &'static str) -> Option<&'c mut Change<'a>> {
    inside.children.iter_mut().find(|c| c.id == ChildId::Field(name)).map(|c| &mut c.change)
}

/// The field that a change of a resource which stays must not take away or make something else: `metadata`, and the annotations where
/// the host's are among them.
pub fn broken(change: &Change<'_>, dest: NodeRef<'_>) -> Option<&'static str> {
    fn is_map(wants: &Wants<'_>) -> bool {
        matches!(wants, Wants::Inside(inside) if inside.like.is_map())
    }
    fn field<'c, 'a>(wants: &'c Wants<'a>, name: &'static str) -> Option<&'c Wants<'a>> {
        let Wants::Inside(inside) = wants else { return None };
        inside.children.iter().find(|c| c.id == ChildId::Field(name)).map(|c| &c.change.wants)
    }
    let metadata = field(&change.wants, "metadata").filter(|wants| !matches!(wants, Wants::Same))?;
    if !is_map(metadata) {
        return Some("metadata");
    }
    let annotations = field(metadata, "annotations").filter(|wants| !matches!(wants, Wants::Same | Wants::Nothing))?;
    let of_dest = dest.at(&["metadata", "annotations"]);
    let has_some = of_dest.is_some_and(|a| a.fields().any(|(key, _)| is_transport(key.string())));
    (has_some && !is_map(annotations)).then_some("metadata.annotations")
}

/// Takes the host's annotations out of what a source asks, so that dest's stay as they are.
pub fn leave_out<'a>(change: &mut Change<'a>, dest: Option<NodeRef<'a>>) {
    let Wants::Inside(root) = &mut change.wants else { return };
    let Some(metadata) = find(root, "metadata") else { return };
    let Wants::Inside(metadata) = &mut metadata.wants else { return };
    let of_dest = dest.and_then(|d| d.at(&["metadata", "annotations"]));
    let dest_has_some = of_dest.is_some_and(|a| a.fields().any(|(k, _)| is_transport(k.string())));
    if metadata.others == Others::Go && dest_has_some && find(metadata, "annotations").is_none() {
        metadata.children.push(Child { id: ChildId::Field("annotations"), node: None, change: nothing() });
    }
    let only_host = |node: NodeRef<'_>| node.is_map() && node.fields().all(|(k, _)| is_transport(k.string()));
    let Some(annotations) = find(metadata, "annotations") else { return };
    if matches!((&annotations.wants, annotations.expects), (Wants::Nothing, Expects::Exactly(Some(o))) if only_host(o))
    {
        metadata.children.retain(|c| c.id != ChildId::Field("annotations"));
        return;
    }
    if let (Some(of_dest), true) = (of_dest, dest_has_some) {
        clear_only_others(annotations, of_dest);
    }
    let Wants::Inside(inside) = &mut annotations.wants else { return };
    let asked = inside.children.len();
    inside.children.retain(|c| !matches!(c.id, ChildId::Field(name) if is_transport(name)));
    if inside.children.is_empty() && asked > 0 {
        metadata.children.retain(|c| c.id != ChildId::Field("annotations"));
    }
}

/// Turns "no annotations but these" into the removal of each that is not the host's.
fn clear_only_others<'a>(annotations: &mut Change<'a>, of_dest: NodeRef<'a>) {
    let mut inside = match &mut annotations.wants {
        Wants::Nothing => Inside::nothing_of(of_dest.resolve()),
        Wants::Inside(inside) if inside.others == Others::Go => inside.clone(),
        _ => return,
    };
    inside.others = Others::Stay;
    for (key, _) in of_dest.fields() {
        let id = ChildId::Field(key.string());
        if !is_transport(key.string()) && !inside.children.iter().any(|c| c.id == id) {
            inside.children.push(Child { id, node: None, change: nothing() });
        }
    }
    annotations.wants = Wants::Inside(inside);
}

/// Gives an added resource its path in the package; `marks` holds the annotations and their values.
pub fn set_path<'a>(change: &mut Change<'a>, marks: NodeRef<'a>) {
    let Wants::Inside(root) = &mut change.wants else { return };
    let Some(metadata) = find(root, "metadata") else { return };
    let Wants::Inside(metadata) = &mut metadata.wants else { return };
    let Some(of_source) = metadata.like.get("annotations").filter(|a| a.is_map()) else { return };
    if find(metadata, "annotations").is_none() {
        // All annotations of the source were the host's.
        let key = metadata.like.entries().find(|(k, _)| k.string() == "annotations").map(|(k, _)| k);
        let inside = Inside::nothing_of(of_source);
        let child = Child {
            id: ChildId::Field("annotations"),
            node: Some((key, of_source)),
            change: Change { wants: Wants::Inside(inside), ..nothing() },
        };
        let at = metadata
            .like
            .entries()
            .take_while(|(_, v)| !v.is(of_source))
            .filter(|(k, _)| metadata.children.iter().any(|c| c.id == ChildId::Field(k.string())))
            .count();
        metadata.children.insert(at.min(metadata.children.len()), child);
    }
    if let Some(Wants::Inside(annotations)) = find(metadata, "annotations").map(|c| &mut c.wants) {
        annotations.children.extend(marks.entries().map(|(key, value)| Child {
            id: ChildId::Field(key.string()),
            node: Some((Some(key), value)),
            change: Change { wants: Wants::Value(value), ..nothing() },
        }));
    }
}

/// A path as the annotations of an item have it. They are relative to its own package, where the host runs a package together with its
/// sub-packages. `None` where the path leads out of it.
pub fn path_in_package<'p>(item: &Resource<'_>, path: &'p str) -> Option<&'p str> {
    let annotations = item.node.at(&["metadata", "annotations"])?;
    let own = PATHS.iter().find_map(|name| annotations.get(name).and_then(NodeRef::as_str))?;
    path.strip_prefix(item.path?.strip_suffix(own)?)
}

/// The annotations that say where an item lies, as they are where it lies in another file: with its number there, if it cannot keep its
/// own. Both families say the same.
pub fn marks_of(item: &Resource<'_>, path: &str, number: Option<u64>) -> String {
    let annotations = item.node.at(&["metadata", "annotations"]);
    let has = |name: &&&str| annotations.is_some_and(|a| a.get(name).is_some());
    let paths = PATHS.iter().filter(has).map(|name| format!("{name}: {}\n", plain_or_quoted(path)));
    // One that has no number gets one in the family that is read first.
    let has_none = !INDICES.iter().any(|name| has(&name));
    let indices = INDICES.iter().filter(|name| has(name) || (has_none && **name == INDEX));
    let indices = number.into_iter().flat_map(|n| indices.clone().map(move |name| format!("{name}: '{n}'\n")));
    paths.chain(indices).collect()
}

/// What gives annotations of the host that an item has other values.
pub fn put_marks<'a>(change: &mut Change<'a>, dest: NodeRef<'a>, marks: NodeRef<'a>) {
    let Some(metadata) = dest.get("metadata").filter(|m| m.is_map()) else { return };
    let Some(annotations) = metadata.get("annotations").filter(|a| a.is_map()) else { return };
    within(change, dest, |root| {
        within(child_of(root, "metadata"), metadata, |metadata| {
            within(child_of(metadata, "annotations"), annotations, |inside| {
                inside.children.extend(marks.entries().map(|(key, value)| Child {
                    id: ChildId::Field(key.string()),
                    node: Some((Some(key), value)),
                    change: Change::patch(Wants::Value(value), None),
                }));
            });
        });
    });
}

/// What takes the role annotation off a dest item.
pub fn take_off_role<'a>(change: &mut Change<'a>, dest: NodeRef<'a>) {
    take_off(change, dest, &[ROLE]);
}

/// The annotations by which kpt finds an item as it was.
const IDS: [&str; 2] = ["internal.config.kubernetes.io/id", "config.k8s.io/id"];

/// Whether the host finds an item as it was, and puts back what it misses.
pub fn has_ids(dest: NodeRef<'_>) -> bool {
    let annotations = dest.at(&["metadata", "annotations"]);
    annotations.is_some_and(|a| a.fields().any(|(key, _)| IDS.contains(&key.string())))
}

/// What takes the annotations off by which kpt finds an item as it was, so that it does not put comments and the order of fields back. It
/// does so by place: in a list whose places are filled anew they would stand at the wrong elements, and where a value became one of
/// another kind it gives up. Source: measured on kpt.
pub fn take_off_ids<'a>(change: &mut Change<'a>, dest: NodeRef<'a>) {
    take_off(change, dest, &IDS);
}

/// What takes annotations off a dest item, and its `annotations` map if that holds nothing else. Added to what is asked already.
fn take_off<'a>(change: &mut Change<'a>, dest: NodeRef<'a>, names: &[&'static str]) {
    let Some(metadata) = dest.get("metadata").filter(|m| m.is_map()) else { return };
    let Some(annotations) = metadata.get("annotations").filter(|a| a.is_map()) else { return };
    let mut names = names.iter().copied().filter(|name| annotations.get(name).is_some()).peekable();
    if names.peek().is_none() {
        return;
    }
    let names: Vec<&'static str> = names.collect();
    within(change, dest, |root| {
        within(child_of(root, "metadata"), metadata, |metadata| {
            let asked = child_of(metadata, "annotations");
            let asked_children = match &asked.wants {
                Wants::Inside(inside) => inside.children.as_slice(),
                Wants::Same | Wants::Nothing | Wants::Value(_) => &[],
            };
            let goes = |name: &str| {
                let mut of_name = asked_children.iter().filter(|c| c.id == ChildId::Field(name));
                names.contains(&name) || of_name.any(|c| matches!(c.change.wants, Wants::Nothing))
            };
            let adds = asked_children.iter().any(|c| !matches!(c.change.wants, Wants::Nothing | Wants::Same));
            if annotations.fields().all(|(k, _)| goes(k.string())) && !adds {
                *asked = nothing();
            } else {
                within(asked, annotations, |inside| {
                    inside.children.extend(names.iter().map(|name| Child {
                        id: ChildId::Field(name),
                        node: None,
                        change: nothing(),
                    }));
                });
            }
        });
    });
}

/// Whether all that a plan does is to take the role annotation off.
pub fn only_takes_off_role(dest: NodeRef<'_>, plan: &Plan<'_>) -> bool {
    fn only<'p, 'a>(node: NodeRef<'_>, plan: &'p Plan<'a>, name: &str) -> Option<&'p Plan<'a>> {
        let Plan::Inside(slots) = plan else { return None };
        let keys: Vec<_> = node.entries().map(|(k, _)| k.string()).collect();
        let mut found = None;
        for slot in slots {
            match slot {
                Slot::Dest { plan: Plan::Keep, comments, .. } if *comments == Comments::default() => {}
                Slot::Dest { index, plan, .. } if keys.get(*index) == Some(&name) => found = Some(plan),
                _ => return None,
            }
        }
        found
    }
    let annotations = dest.get("metadata").zip(only(dest, plan, "metadata"));
    let annotations = annotations.and_then(|(node, plan)| only(node, plan, "annotations"));
    match (annotations, dest.at(&["metadata", "annotations"])) {
        (Some(Plan::Remove), Some(node)) => node.fields().all(|(k, _)| k.string() == ROLE),
        (Some(plan), Some(node)) => matches!(only(node, plan, ROLE), Some(Plan::Remove)),
        _ => false,
    }
}

/// Adds to the look inside a map that a change has, or gives it one.
fn within<'a>(change: &mut Change<'a>, dest: NodeRef<'a>, add: impl FnOnce(&mut Inside<'a>)) {
    let mut inside = match std::mem::replace(&mut change.wants, Wants::Same) {
        Wants::Inside(inside) => inside,
        _ => Inside::nothing_of(dest.resolve()),
    };
    add(&mut inside);
    change.wants = Wants::Inside(inside);
}

/// What is asked of a field, or is not asked yet.
fn child_of<'c, 'a>(inside: &'c mut Inside<'a>, name: &'static str) -> &'c mut Change<'a> {
    let at = inside.children.iter().position(|c| c.id == ChildId::Field(name)).unwrap_or_else(|| {
        let change = Change::patch(Wants::Same, None);
        inside.children.push(Child { id: ChildId::Field(name), node: None, change });
        inside.children.len() - 1
    });
    &mut inside.children[at].change
}

/// A change that asks for nothing yet.
pub fn no_change(dest: NodeRef<'_>) -> Change<'_> {
    let inside = Inside::nothing_of(dest.resolve());
    Change::patch(Wants::Inside(inside), None)
}
