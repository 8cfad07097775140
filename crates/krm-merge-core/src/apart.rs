//! Children that are one conflict, although the sides changed them one by one: one side wins them all.
//!
//! They are the parts of one thing ([`things`]), fields of which a type allows one ([`Alternatives`]), two children to which the sides gave one
//! name, or what a side put in the place of a child that the other side removed or replaced, too: it may be that child under another name. In
//! all of these cases git stops, unless the fields are apart.

use std::collections::BTreeMap;

use krm_schema::schema::{Alternatives, Cursor};
use krm_tree::child::{By, ChildId, Value as _};
use krm_tree::leaves::{HALF, Hashes, Leaves, hash};
use krm_tree::path::Trail;
use krm_tree::sides::{Side, Sides};
use krm_tree::tree::View;
use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{NodeRef, Scalar, WrittenChild, same};

use crate::change::{Change, Child, Expects, Inside, Notes, Wants};
use crate::matched::{Matched, Row};
use crate::renamed::{FEWEST, replaced, share_of_one};
use crate::things;

/// The children of a map or list that are one conflict; none if each stands for itself. `changes` are those of updated.
pub(crate) fn apart<'a>(
    trail: &Trail<'a>,
    cursor: Cursor<'a>,
    changes: &[Child<'a>],
    matched: &Matched<'a>,
) -> Vec<ChildId<'a>> {
    let sides = matched.containers;
    let Sides { original, updated: Some(updated), dest: Some(dest) } = sides else { return Vec::new() };
    if changes.is_empty() || updated.is_map() != dest.is_map() {
        return Vec::new();
    }
    let within = trail.field().unwrap_or_default();
    let mut found = of_both(within, matched);
    found.extend(renamed_and_removed(changes, matched));
    found.extend(matched.of_one_name.iter().cloned());
    if matched.by == By::Field && !trail.is_empty() {
        let parts = original.map(|original| things::apart(within, changes, Sides { original, updated, dest }));
        let parts = parts.filter(|parts| !parts.is_empty()).unwrap_or_else(|| {
            let found = cursor.alternatives(within).map(|group| of_group(&group, changes, sides));
            found.into_iter().find(|fields| !fields.is_empty()).unwrap_or_default()
        });
        found.extend(parts.into_iter().map(ChildId::Field));
    }
    let mut seen = HashSet::new();
    found.retain(|id| seen.insert(id.clone()));
    found
}

/// Lists whose elements have names that are there once, although other fields are their keys. Source: the validation of ports in
/// kubernetes/pkg/apis/core.
const OF_NAMES: [&str; 1] = ["ports"];

/// The elements to which each side gave one name, if that is a name of one element alone.
fn of_both<'a>(within: &str, matched: &Matched<'a>) -> Vec<ChildId<'a>> {
    let By::Keys(keys) = &matched.by else { return Vec::new() };
    if !OF_NAMES.contains(&within) || keys.iter().any(|key| key.name == "name") {
        return Vec::new();
    }
    let name = |row: &Row<'a>, side: Side| row.on[side]?.value().get("name").and_then(NodeRef::as_str);
    let named = |side: Side| {
        let rows = matched.rows.iter().filter(|row| name(row, side) != name(row, Side::Original));
        rows.filter_map(|row| Some((name(row, side)?, matched.id(row)?))).collect::<BTreeMap<_, _>>()
    };
    let (updated, dest) = (named(Side::Updated), named(Side::Dest));
    let both = updated.into_iter().filter_map(|(name, id)| Some([id, dest.get(name)?.clone()]));
    both.filter(|[one, other]| one != other).flatten().collect()
}

/// The children that a side gave another name, it seems, and that the other side removed or replaced, or from which it removed something: each
/// with what stands in its place.
///
/// A child that a side replaced by one that is like it, while the other side removed it, is taken for that one: git stops there, too. But dest
/// may have had both beside each other, as many labels have one value. After a first run that removed the old one, the texts are the same, and a
/// second run must not remove dest's own child. So one text in common is enough only if updated renamed the child.
fn renamed_and_removed<'a>(changes: &[Child<'a>], matched: &Matched<'a>) -> Vec<ChildId<'a>> {
    let has_names = matches!(matched.by, By::Field | By::Keys(_));
    if !has_names || !matched.has_changed_names() || matched.has_merges() {
        return Vec::new();
    }
    let rows = Sides::of(|side| matched.rows_of(side).collect::<Vec<_>>());
    // Rows are told apart by their addresses.
    let keys = Sides::of(|side| rows[side].iter().map(|row| std::ptr::from_ref(*row)).collect::<Vec<_>>());
    let pairs = Sides::of(|side| {
        let found = if side == Side::Original { Vec::new() } else { replaced(&keys.original, &keys[side]) };
        let value = |row: &Row<'a>, side: Side| row.on[side].map(WrittenChild::value);
        // What both sides put in the place of a child has nothing to do with what one of them has beside it.
        let is_of_both =
            |new: usize| rows[side][new].on.iter().all(|(of, child)| of == Side::Original || child.is_some());
        let is_alike = |(old, new): (usize, usize)| {
            value(rows.original[old], Side::Original)
                .zip(value(rows[side][new], side))
                .is_some_and(|(was, is)| is_alike(was, is))
        };
        let done: HashSet<usize> =
            found.iter().filter(|pair| is_of_both(pair.1) && is_alike(**pair)).map(|(old, _)| *old).collect();
        let is_open = |(old, new): &(usize, usize)| !done.contains(old) && !is_of_both(*new);
        found.into_iter().filter(is_open).collect::<Vec<_>>()
    });
    if pairs.iter().all(|(_, pairs)| pairs.is_empty()) {
        return Vec::new();
    }
    let changes: HashMap<&ChildId<'a>, &Change<'a>> = changes.iter().map(|child| (&child.id, &child.change)).collect();
    // Whether the other side put something into the child, which is in conflict then.
    let is_in_conflict = |row: &Row<'a>, other: Side| {
        let id = row.on[other].and_then(|_| matched.id(row));
        id.and_then(|id| changes.get(&id)).is_some_and(|change| match other {
            Side::Dest => matches!(change.expects, Expects::Exactly(_)),
            _ => change.adds_values(),
        })
    };
    let mut found = Vec::new();
    for (side, other) in [(Side::Updated, Side::Dest), (Side::Dest, Side::Updated)] {
        if pairs[side].is_empty() {
            continue;
        }
        let gone: Vec<usize> = (0..rows.original.len()).filter(|at| rows.original[*at].on[side].is_none()).collect();
        let is_new = |at: &usize| rows[side][*at].on.original.is_none() && rows[side][*at].on[other].is_none();
        let come: Vec<usize> = (0..rows[side].len()).filter(is_new).collect();
        let is_one_by_one = |at, new| {
            gone.len() == come.len() && gone.binary_search(at).is_ok_and(|rank| come.binary_search(new) == Ok(rank))
        };
        // How many of the children that the side lacks have a value.
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for was in gone.iter().filter_map(|at| rows.original[*at].on.original) {
            let hashes: HashSet<u64> = Leaves::of(was.value()).hashes().iter().collect();
            hashes.into_iter().for_each(|hash| *counts.entry(hash).or_default() += 1);
        }
        let is_only = |was: NodeRef<'_>, is: NodeRef<'_>| {
            let new: HashSet<u64> = Leaves::of(is).hashes().iter().collect();
            Leaves::of(was).hashes().iter().any(|hash| new.contains(&hash) && counts.get(&hash) == Some(&1))
        };
        let mut instead: HashMap<usize, Vec<usize>> = HashMap::new();
        pairs[other].iter().for_each(|(removed, own)| instead.entry(*removed).or_default().push(*own));
        for (at, new_at) in &pairs[side] {
            let (old, new) = (rows.original[*at], rows[side][*new_at]);
            let (Some(was), Some(is)) = (old.on.original, new.on[side]) else { continue };
            let is_left = old.on[other].is_some_and(|there| same(there.value(), was.value()));
            let instead: Vec<&Row<'a>> = instead.get(at).into_iter().flatten().map(|own| rows[other][*own]).collect();
            // TODO: a small child that dest renamed and updated removed should be told, and stay whoever wins.
            let least = if side == Side::Dest && old.on.updated.is_none() { FEWEST } else { 1 };
            let is_one = match instead.is_empty() {
                // Many fields may have the same value.
                true => {
                    is_renamed(was.value(), is.value(), least)
                        && (is_only(was.value(), is.value()) || is_one_by_one(at, new_at))
                }
                false => is_alike(was.value(), is.value()),
            };
            if !is_left && !is_in_conflict(old, other) && is_one {
                found.extend([old, new].into_iter().chain(instead).filter_map(|row| matched.id(row)));
            }
        }
    }
    found
}

/// Whether a child may be another one under a new name: at least half of what it had is there.
fn is_alike(was: NodeRef<'_>, is: NodeRef<'_>) -> bool {
    let (old, new) = (Leaves::of(was), Leaves::of(is));
    old.kept(&new).map_or_else(|| has_its_texts(was, is, 1), |kept| kept >= HALF && old.common(&new) > 0)
}

/// Whether nothing but a new name explains what two children have in common: at least so many texts, or what makes one child of them anywhere.
fn is_renamed(was: NodeRef<'_>, is: NodeRef<'_>, least: usize) -> bool {
    has_its_texts(was, is, least) || share_of_one(&Leaves::of(was), &Leaves::of(is)).is_some()
}

/// Whether one has at least half of the texts of another one, and so many of them. Numbers, truth values and empty texts are equal by chance.
fn has_its_texts(was: NodeRef<'_>, is: NodeRef<'_>, least: usize) -> bool {
    let [old, new] = [was, is].map(|node| Hashes::from(texts_in(node)));
    let common = old.common(&new);
    was.resolve().kind() == is.resolve().kind() && common >= least && common * 2 >= old.count()
}

/// A hash of each text in a value that may tell it from another one.
fn texts_in(node: NodeRef<'_>) -> Vec<u64> {
    match node.scalar() {
        Some(Scalar::String(_)) => {
            let text = node.lines().unwrap_or_else(|| node.string().into());
            let says = |line: &&str| line.contains(char::is_alphabetic) && !["true", "false"].contains(line);
            text.lines().map(str::trim).filter(says).map(hash).collect()
        }
        Some(_) => Vec::new(),
        None => node.fields().map(|(_, value)| value).chain(node.elements()).flat_map(texts_in).collect(),
    }
}

/// The fields of a group that are in conflict: both sides changed the one that is set, and another one is set on each side.
fn of_group<'a>(group: &Alternatives<'_>, changes: &[Child<'a>], sides: Sides<Option<NodeRef<'a>>>) -> Vec<&'a str> {
    let is_member = |child: &Child<'a>| matches!(child.id, ChildId::Field(name) if group.has(name));
    if !changes.iter().any(|child| is_member(child) && child.change.asks()) {
        return Vec::new();
    }
    let set = sides.map(|map| {
        let fields = map.into_iter().flat_map(NodeRef::fields).filter(|(key, _)| !key.is_container());
        let fields = fields.map(|(key, value)| (key.string(), value));
        fields.filter(|(name, value)| group.has(name) && is_set(View::Node(*value))).collect::<Vec<_>>()
    });
    // Where a side has two of them, the type is another one.
    if set.iter().any(|(_, set)| set.len() > 1) {
        return Vec::new();
    }
    let name = |side: Side| set[side].first().map(|(name, _)| *name);
    let is_same = |one: Side, other: Side| {
        let value = |side: Side| set[side].first().map(|(_, value)| *value);
        name(one) == name(other) && value(one).zip(value(other)).is_none_or(|(one, other)| View::Node(one).same(other))
    };
    let is_changed = |side: Side| !is_same(Side::Original, side);
    let mut fields: Vec<&str> = Side::ALL.into_iter().filter_map(name).collect();
    fields.sort_unstable();
    fields.dedup();
    let is_apart = name(Side::Updated) != name(Side::Dest) && is_changed(Side::Updated) && is_changed(Side::Dest);
    if is_apart && fields.len() > 1 { fields } else { Vec::new() }
}

/// Whether a value sets its field. A null does not, and neither does an empty text.
pub fn is_set(value: View<'_, '_>) -> bool {
    !value.is_null() && value.text().is_none_or(|text| !text.is_empty())
}

/// The changes with which dest's children that are in conflict stay, and those with which the other side's are taken, whatever dest has.
pub(crate) fn each_way<'a>(inside: &Inside<'a>) -> [Inside<'a>; 2] {
    let ids: HashSet<&ChildId<'a>> = inside.apart.iter().collect();
    let (own, others): (Vec<&Child<'a>>, Vec<&Child<'a>>) =
        inside.children.iter().partition(|child| ids.contains(&child.id));
    let others: Vec<Child<'a>> = others.into_iter().cloned().collect();
    let notes: HashMap<&ChildId<'a>, Notes<'a>> = own.iter().map(|child| (&child.id, *child.change.notes)).collect();
    let written: HashMap<ChildId<'a>, (Option<NodeRef<'a>>, NodeRef<'a>)> = match inside.by {
        By::Field => inside
            .like
            .entries()
            .filter_map(|(key, value)| Some((ChildId::of_field(key)?, (Some(key), value))))
            .collect(),
        _ => inside.like.elements().filter_map(|element| Some((inside.by.id_of(element)?, (None, element)))).collect(),
    };
    let taken = inside.apart.iter().map(|id| {
        let notes = notes.get(id).copied().unwrap_or_default();
        let node = written.get(id).copied();
        let wants = node.map_or(Wants::Nothing, |(_, value)| Wants::Value(value));
        Child { id: id.clone(), node, change: Change { expects: Expects::Anything, wants, notes: notes.into() } }
    });
    let mut all: Vec<Child<'a>> = others.iter().cloned().chain(taken).collect();
    all.sort_by_key(|child| child.node.map_or(usize::MAX, |(_, value)| value.start()));
    [others, all].map(|children| Inside { children, apart: Vec::new(), ..inside.clone() })
}

#[cfg(test)]
mod tests {
    use krm_schema::mode::Mode;
    use krm_schema::schema::{Inference, Types};
    use krm_tree::path::FieldPath;
    use krm_yaml::Document;

    use crate::change::Change;
    use crate::diff::diff;
    use crate::policy::Renames;

    use super::*;

    /// The children that are one conflict, with the map or list that has them.
    fn found<'a>(change: &Change<'a>, path: &mut FieldPath<'a>, out: &mut Vec<String>) {
        let Wants::Inside(inside) = &change.wants else { return };
        let step = |id: &ChildId<'a>| FieldPath::from(id.step(&inside.by)).shown();
        if !inside.apart.is_empty() {
            let children = inside.apart.iter().map(step).collect::<Vec<_>>().join(" ");
            out.push(format!("{}: {children}", path.shown()));
        }
        for child in &inside.children {
            path.push(child.id.step(&inside.by), None);
            found(&child.change, path, out);
            path.pop();
        }
    }

    fn apart_in(kind: &str, [original, updated, dest]: [&str; 3]) -> String {
        let documents = [original, updated, dest].map(|text| Document::parse(text.to_owned()).expect("valid"));
        let [original, updated, dest] = documents.each_ref().map(|document| document.roots().next().expect("a root"));
        let types = Types::new([], Inference::On);
        let cursor = types.root(
            kind.rsplit_once('/').map_or("", |(api, _)| api),
            kind.rsplit('/').next().unwrap_or_default(),
            Mode::ThreeWay,
        );
        let change = diff(Some(original), updated, Some(dest), cursor, Renames::Follow).expect("comparable").change;
        let mut out = Vec::new();
        change.iter().for_each(|change| found(change, &mut FieldPath::default(), &mut out));
        out.join(", ")
    }

    #[test]
    fn alternatives_of_which_each_side_set_another_one_are_one_conflict() {
        for (kind, [original, updated, dest], want) in [
            // Both sides added one.
            ("Any", ["{a: {b: 1}}", "{a: {b: 1, value: 1}}", "{a: {b: 1, valueFrom: {}}}"], "a: value valueFrom"),
            ("Any", ["{}", "{preStop: {exec: {}}}", "{preStop: {sleep: {}}}"], "preStop: exec sleep"),
            (
                "v1/Pod",
                ["{spec: {}}", "{spec: {volumes: [{name: a, nfs: {}}]}}", "{spec: {volumes: [{name: a, csi: {}}]}}"],
                "spec.volumes[name=a]: csi nfs",
            ),
            (
                "policy/v1/PodDisruptionBudget",
                ["{spec: {}}", "{spec: {minAvailable: 1}}", "{spec: {maxUnavailable: 1}}"],
                "spec: maxUnavailable minAvailable",
            ),
            // Both replaced one, or one side replaced it, and the other one changed or removed it.
            (
                "Any",
                ["{preStop: {exec: {}}}", "{preStop: {grpc: {}}}", "{preStop: {sleep: {}}}"],
                "preStop: exec grpc sleep",
            ),
            ("Any", ["{a: {value: 1}}", "{a: {value: 2}}", "{a: {valueFrom: {}}}"], "a: value valueFrom"),
            ("Any", ["{a: {value: 1}}", "{a: {}}", "{a: {valueFrom: {}}}"], "a: value valueFrom"),
            // One side alone replaced it.
            ("Any", ["{a: {value: 1}}", "{a: {value: 1, b: 1}}", "{a: {valueFrom: {}}}"], ""),
            // Both have the same one.
            ("Any", ["{a: {value: 1}}", "{a: {valueFrom: {x: 1}}}", "{a: {valueFrom: {x: 2}}}"], ""),
            ("Any", ["{a: {value: 1}}", "{a: {value: 2}}", "{a: {value: 3}}"], ""),
            ("Any", ["{a: {value: 1}}", "{a: {}}", "{a: {value: 3}}"], ""),
            // What sets nothing, and a side that has both.
            ("Any", ["{a: {}}", "{a: {value: \"\"}}", "{a: {valueFrom: {}}}"], ""),
            ("Any", ["{a: {}}", "{a: {value: null}}", "{a: {valueFrom: {}}}"], ""),
            ("Any", ["{a: {}}", "{a: {value: 1, valueFrom: {}}}", "{a: {valueFrom: {x: 1}}}"], ""),
            // Fields that go together.
            ("v1/Pod", ["{resources: {}}", "{resources: {limits: {}}}", "{resources: {requests: {}}}"], ""),
            // Alternatives of one type.
            (
                "argoproj.io/v1alpha1/Application",
                ["{spec: {source: {}}}", "{spec: {source: {a: 1}}}", "{spec: {sources: []}}"],
                "spec: source sources",
            ),
            (
                "example.com/v1/Application",
                ["{spec: {source: {}}}", "{spec: {source: {a: 1}}}", "{spec: {sources: []}}"],
                "",
            ),
        ] {
            let children = |text: String| {
                let (place, names) = text.split_once(": ").unwrap_or(("", &text));
                let mut names: Vec<&str> = names.split(' ').collect();
                names.sort_unstable();
                format!("{place}: {}", names.join(" "))
            };
            let want = children(want.to_owned());
            assert_eq!(children(apart_in(kind, [original, updated, dest])), want, "{updated} {dest}");
            assert_eq!(children(apart_in(kind, [original, dest, updated])), want, "swapped: {updated} {dest}");
        }
    }
}
