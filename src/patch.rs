//! From a patch and its directives to a [`Change`].
//!
//! Dest is asked only for what a patch alone cannot say: whether an unknown list merges (inference looks at all sides) and which element a
//! patch means that names it by fewer keys than the list has.

mod directive;
mod follow;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::change::{By, Change, Child, ChildId, Inside, Notes, Others, Wants};
use crate::merge::{Notice, Warning};
use crate::path::{ElementKey, FieldPath};
use crate::schema::{
    Cursor, Fit, ListKind, MergeKey, Unkeyed, element_key, fit, is_named_in_full, key_text, list_kind,
};
use crate::yaml::{Error, NodeRef, Place, comment_text};
use directive::{DELETE_FROM, Directive, ORDER, OnList, PATCH, RETAIN_KEYS, directive, must_be_list};
use follow::follow;

pub use directive::Reader;

/// What a patch asks of dest, and what the user should hear of.
#[derive(Debug)]
pub struct Lowered<'a> {
    /// The change.
    pub change: Change<'a>,
    /// Lists that could not be merged by their keys, and what of the patch counts for nothing.
    pub warnings: Vec<Warning<'a>>,
}

/// Lowers a patch: what it holds is set, null removes, lists merge by their kind, directives say otherwise. None of them is in the
/// change. Source: semantics.md section 1; apimachinery's `strategicpatch`, kyaml's `merge2`.
///
/// # Errors
/// Each with its place: a repeated key in the patch; a `$patch` whose value is none of `merge`, `replace` and `delete`, or two that
/// exclude each other; a directive of the wrong type; a field that the map's own `$retainKeys` leaves out; elements that their
/// `$setElementOrder` leaves out or has in another order; as [`Reader::Kubectl`], an element without the merge key of its list.
pub fn lower<'a>(
    patch: NodeRef<'a>,
    dest: Option<NodeRef<'a>>,
    cursor: Cursor<'a>,
    reader: Reader,
) -> Result<Lowered<'a>, Error> {
    let mut lowering = Lowering { reader, path: FieldPath::default(), replaced: 0, warnings: Vec::new() };
    let there = There { dest, before: Vec::new() };
    let change = lowering.node(patch, OnList::default(), &there, cursor, Others::Stay)?;
    Ok(Lowered { change, warnings: lowering.warnings })
}

struct Lowering<'a> {
    reader: Reader,
    path: FieldPath<'a>,
    /// In how many lists it is that replace dest's.
    replaced: usize,
    warnings: Vec<Warning<'a>>,
}

/// What stands at a place when a node of the patch comes to it.
#[derive(Default)]
struct There<'a> {
    /// Dest's node.
    dest: Option<NodeRef<'a>>,
    /// What elements of the patch brought that have its merge key and stand before it.
    before: Vec<NodeRef<'a>>,
}

impl<'a> There<'a> {
    fn each(&self) -> impl Iterator<Item = NodeRef<'a>> {
        self.dest.into_iter().chain(self.before.iter().copied())
    }

    /// What looks up a field of dest, hashed where a patch asks for many.
    fn of_dest(&self, patch: NodeRef<'a>) -> impl Fn(&str) -> Option<NodeRef<'a>> + use<'a> {
        let dest = self.dest;
        let hashed = patch.entries().nth(16).and(dest).map(|map| {
            let mut fields = HashMap::new();
            for (key, value) in map.fields().filter(|(key, _)| !key.is_container()) {
                fields.entry(key.string()).or_insert(value);
            }
            fields
        });
        move |name| match &hashed {
            Some(fields) => fields.get(name).copied(),
            None => dest?.get(name),
        }
    }

    fn field(&self, name: &str, dest: Option<NodeRef<'a>>, reader: Reader) -> Self {
        let mut there = Self { dest, before: Vec::new() };
        for map in &self.before {
            if !reader.retains(*map, name) {
                there = Self::default();
            }
            if let Some(node) = map.get(name) {
                there.meet(node, reader);
            }
        }
        there
    }

    /// Lets a node of the patch come to it, which may leave nothing of what was there.
    fn meet(&mut self, node: NodeRef<'a>, reader: Reader) {
        let said = reader.says_of_itself(node);
        // What stands there is of one kind.
        let is_alike = |other: NodeRef<'a>| node.is_container() && other.resolve().kind() == node.resolve().kind();
        if matches!(said, Some(Directive::Delete | Directive::Replace)) || !self.each().next().is_none_or(is_alike) {
            *self = Self::default();
        }
        if !node.is_null() && said != Some(Directive::Delete) {
            self.before.push(node);
        }
    }

    /// The elements of each list, but for those of the patch that only say what goes.
    fn elements(&self, reader: Reader) -> impl Iterator<Item = Vec<NodeRef<'a>>> {
        let is_deleted = |e: NodeRef<'a>| matches!(directive(e), Ok(Some(Directive::Delete)));
        let stays = move |e: &NodeRef<'a>| !reader.speaks_of_list(*e) && !is_deleted(*e);
        let before = self.before.iter().map(move |list| list.elements().filter(stays).collect());
        self.dest.into_iter().map(|list| list.elements().collect()).chain(before)
    }

    fn lists(&self) -> Self {
        let is_list = |node: &NodeRef<'a>| node.is_list();
        Self { dest: self.dest.filter(is_list), before: self.before.iter().copied().filter(is_list).collect() }
    }
}

impl<'a> Lowering<'a> {
    fn node(
        &mut self,
        patch: NodeRef<'a>,
        on_list: OnList<'a>,
        there: &There<'a>,
        cursor: Cursor<'a>,
        others: Others,
    ) -> Result<Change<'a>, Error> {
        let wants = if patch.is_map() {
            match directive(patch)? {
                Some(Directive::Delete) => Wants::Nothing,
                Some(Directive::Replace) => self.map(patch, there, cursor, Others::Go)?,
                Some(Directive::Merge) | None if cursor.is_replaced() => self.map(patch, there, cursor, Others::Go)?,
                Some(Directive::Merge) | None => self.map(patch, there, cursor, others)?,
            }
        } else if patch.is_list() {
            self.list(patch, on_list, there, cursor, others)?
        } else if patch.is_null() && !(self.replaced > 0 && self.reader.keeps_nulls_of_lists()) {
            Wants::Nothing
        } else {
            Wants::Value(patch)
        };
        // Values may be deleted from a list that goes; an order of it says that it is there.
        let spoken_of = if patch.is_null() { on_list.order } else { on_list.order.or(on_list.deleted) };
        match spoken_of.filter(|_| !patch.is_list()) {
            Some(at) => Err(at.error(self.must_be_list())),
            None => Ok(Change::patch(wants, None)),
        }
    }

    fn map(
        &mut self,
        patch: NodeRef<'a>,
        there: &There<'a>,
        cursor: Cursor<'a>,
        others: Others,
    ) -> Result<Wants<'a>, Error> {
        if let Some(key) = patch.duplicate_key() {
            return Err(key.error(format!("the key `{}` must stand once in a map", key.string())));
        }
        let of_dest = there.of_dest(patch);
        let mut on_lists = self.reader.on_lists(patch)?;
        let mut children = Vec::new();
        for (key, value) in patch.entries() {
            let name = key.string();
            if self.reader.is_directive(name) {
                continue;
            }
            if self.reader.misspells(name) {
                return Err(key.error(format!(
                    "a directive must be `{PATCH}`, `{RETAIN_KEYS}`, `{ORDER}…` or `{DELETE_FROM}…`, not \"{name}\""
                )));
            }
            let on_list = on_lists.iter().position(|(field, _)| *field == name).map(|i| on_lists.swap_remove(i).1);
            let there = there.field(name, of_dest(name), self.reader);
            let id = ChildId::Field(name);
            self.path.push(id.step(&By::Field), None);
            if self.reader == Reader::Kubectl && name.starts_with('$') && !["$ref", "$schema"].contains(&name) {
                self.ignore("it is no directive, and is merged as a field", there.dest, value);
            }
            let mut change = self.node(value, on_list.unwrap_or_default(), &there, cursor.field(name), others)?;
            change.notes = Notes::of_line(comment_text(&Place::of_entry(key, value), value));
            self.path.pop();
            children.push(Child { id, node: Some((Some(key), value)), change });
        }
        // Directives about lists that the patch itself does not have.
        for (name, on_list) in on_lists {
            let found = there.field(name, of_dest(name), self.reader);
            let id = ChildId::Field(name);
            self.path.push(id.step(&By::Field), None);
            let said = on_list.order.or(on_list.deleted);
            if others == Others::Stay && found.each().next().is_some() {
                if let Some(at) = on_list.order.filter(|_| found.each().any(|list| !list.is_list() && !list.is_null()))
                {
                    return Err(at.error(self.must_be_list()));
                }
                let wants = self.arranged(&found.lists(), on_list, cursor.field(name))?;
                children.push(Child { id, node: None, change: Change::patch(wants, None) });
            } else if let Some(said) = said.filter(|_| cursor.lacks_list(name)) {
                self.ignore("a directive speaks of this list, but its type has no such field", None, said);
            }
            self.path.pop();
        }
        let mut inside = Inside { others, members: cursor.members(), ..Inside::of(patch, By::Field, children) };
        self.retain(patch, &mut inside)?;
        Ok(Wants::Inside(inside))
    }

    /// Notes that what a patch says here counts for nothing.
    fn ignore(&mut self, reason: &str, dest: Option<NodeRef<'a>>, proposed: NodeRef<'a>) {
        let (path, notice) = (self.path.clone(), Notice::Ignored(reason.to_owned()));
        self.warnings.push(Warning { path, notice, dest, proposed: Some(proposed) });
    }

    /// Lets only those fields of dest stay that `$retainKeys` names.
    fn retain(&self, patch: NodeRef<'a>, inside: &mut Inside<'a>) -> Result<(), Error> {
        let retained = patch.entries().find(|(k, _)| self.reader == Reader::Kubectl && k.string() == RETAIN_KEYS);
        let Some((key, list)) = retained else { return Ok(()) };
        must_be_list(key, list)?;
        if let Some(other) = list.elements().find(|e| e.is_container()) {
            return Err(other.error(format!("`{RETAIN_KEYS}` must hold names of fields only")));
        }
        if inside.others == Others::Go {
            return Ok(());
        }
        let names: HashSet<&str> = list.elements().map(NodeRef::string).collect();
        for (key, value) in patch.entries() {
            let name = key.string();
            if !names.contains(name) && !value.is_null() && !self.reader.is_directive(name) {
                return Err(key.error(format!("`{RETAIN_KEYS}` must name every field of its map, `{name}`, too")));
            }
        }
        inside.others = Others::Go;
        // A directive alone retains no list.
        inside.children.retain(|c| c.node.is_some() || matches!(c.id, ChildId::Field(name) if names.contains(name)));
        let known: HashSet<ChildId<'a>> = inside.children.iter().map(|c| c.id.clone()).collect();
        // In the order of the patch, so that one patch gives one change.
        for name in list.elements().map(NodeRef::string) {
            let id = ChildId::Field(name);
            if !known.contains(&id) {
                inside.children.push(Child { id, node: None, change: Change::patch(Wants::Same, None) });
            }
        }
        Ok(())
    }

    fn list(
        &mut self,
        patch: NodeRef<'a>,
        on_list: OnList<'a>,
        there: &There<'a>,
        cursor: Cursor<'a>,
        others: Others,
    ) -> Result<Wants<'a>, Error> {
        match self.list_directive(patch)? {
            Some(Directive::Delete) => return Ok(Wants::Nothing),
            by @ Some(Directive::Replace) => return self.atomic(patch, cursor, by),
            Some(Directive::Merge) | None if others == Others::Go => {
                return self.atomic(patch, cursor, Some(Directive::Replace));
            }
            Some(Directive::Merge) | None => {}
        }
        let there = there.lists();
        let of_patch = patch.elements().filter(|e| !self.reader.speaks_of_list(*e)).collect();
        let sides: Vec<Vec<NodeRef<'a>>> = std::iter::once(of_patch).chain(there.elements(self.reader)).collect();
        let kind = match list_kind(cursor, &sides) {
            Ok(kind) => kind,
            Err(unkeyed @ Unkeyed::Element(_)) if self.reader == Reader::Kubectl => {
                let is_patch = list_kind(cursor, &sides[..1]).is_err();
                return Err(self.unkeyed(patch, &unkeyed, if is_patch { "the patch" } else { "dest" }));
            }
            Err(unkeyed) => {
                let notice = Notice::Unkeyed(unkeyed);
                self.warnings.push(Warning {
                    path: self.path.clone(),
                    notice,
                    dest: there.dest,
                    proposed: Some(patch),
                });
                ListKind::Atomic
            }
        };
        let mut inside = match kind {
            ListKind::Atomic => {
                let by = if sides.iter().flatten().any(|e| e.is_container()) { By::Index } else { By::Value };
                let ids = sides[0].iter().filter_map(|e| e.scalar().map(ChildId::Value)).map(|id| (id, patch));
                self.ordered(on_list.order, &by, ids.collect(), Vec::new())?;
                return self.atomic(patch, cursor, None);
            }
            ListKind::Set => self.set(patch),
            ListKind::Map(keys) => self.keyed(patch, &there, keys, cursor)?,
        };
        self.delete_from(on_list.deleted, &mut inside)?;
        let in_dest = sides[1..].iter().flatten().filter_map(|e| inside.by.id_of(*e)).collect();
        let in_patch = inside.children.iter().filter(|c| !matches!(c.change.wants, Wants::Nothing));
        let in_patch = in_patch.filter_map(|c| Some((c.id.clone(), c.node?.1))).collect();
        inside.order = self.ordered(on_list.order, &inside.by, in_patch, in_dest)?;
        Ok(Wants::Inside(inside))
    }

    /// A list about which the patch has directives only.
    fn arranged(&mut self, there: &There<'a>, on_list: OnList<'a>, cursor: Cursor<'a>) -> Result<Wants<'a>, Error> {
        let sides: Vec<Vec<NodeRef<'a>>> = there.elements(self.reader).collect();
        let Some(at) = on_list.order.or(on_list.deleted).filter(|_| !sides.is_empty()) else { return Ok(Wants::Same) };
        let kind = list_kind(cursor, &sides).map_err(|u| self.unkeyed(at, &u, "dest"))?;
        let by = match kind {
            ListKind::Map(keys) => By::Keys(keys),
            ListKind::Set => By::Value,
            ListKind::Atomic if sides.iter().flatten().any(|e| e.is_container()) => By::Index,
            ListKind::Atomic => By::Value,
        };
        let mut inside = Inside::of(at, by, Vec::new());
        self.delete_from(on_list.deleted, &mut inside)?;
        let in_dest = sides.iter().flatten().filter_map(|e| inside.by.id_of(*e)).collect();
        inside.order = self.ordered(on_list.order, &inside.by, Vec::new(), in_dest)?;
        Ok(Wants::Inside(inside))
    }

    fn keyed(
        &mut self,
        patch: NodeRef<'a>,
        there: &There<'a>,
        keys: Vec<MergeKey<'a>>,
        cursor: Cursor<'a>,
    ) -> Result<Inside<'a>, Error> {
        let in_patch: Vec<(ElementKey<'a>, NodeRef<'a>)> = keyed(patch, &keys).collect();
        let in_full = in_patch.iter().filter(|(_, e)| keys.len() > 1 && is_named_in_full(*e, &keys));
        let named: HashSet<&ElementKey<'a>> = in_full.map(|(key, _)| key).collect();
        let mut found: HashMap<ElementKey<'a>, There<'a>> = HashMap::new();
        // Of dest's elements with one key, the first is meant.
        for (key, element) in there.dest.into_iter().flat_map(|list| keyed(list, &keys)) {
            found.entry(key).or_insert(There { dest: Some(element), before: Vec::new() });
        }
        for (key, element) in there.before.iter().flat_map(|list| keyed(*list, &keys)) {
            found.entry(key).or_default().meet(element, self.reader);
        }
        let mut alike: HashMap<Cow<'a, str>, Vec<ElementKey<'a>>> = HashMap::new();
        for key in found.keys().filter(|_| keys.len() > 1) {
            alike.entry(key.0[0].clone()).or_default().push(key.clone());
        }
        let by = By::Keys(keys.clone());
        let mut children: Vec<(usize, Child<'a>)> = Vec::new();
        let mut seen: HashMap<ElementKey<'a>, usize> = HashMap::new();
        for (at, (key, element)) in in_patch.iter().enumerate() {
            let alike = alike.get(&key.0[0]).filter(|_| !found.contains_key(key)).map(Vec::as_slice);
            let key = match fit(*element, &keys, key, alike.unwrap_or_default(), &named) {
                Fit::Only(key) => key,
                Fit::Several(open) if self.reader == Reader::Kubectl => {
                    return Err(element.error(format!(
                        "an element of `{}` must say its merge key `{open}`, for several of dest have the others",
                        self.path
                    )));
                }
                Fit::Several(_) | Fit::None => key.clone(),
            };
            let id = ChildId::Key(key.clone());
            let there = found.entry(key.clone()).or_default();
            self.path.push(id.step(&by), None);
            let change = self.node(*element, OnList::default(), there, cursor, Others::Stay)?;
            self.path.pop();
            // Two elements of one key are merged one after the other.
            there.meet(*element, self.reader);
            match seen.get(&key) {
                Some(&first) => {
                    let (place, known) = &mut children[first];
                    let comes_back =
                        matches!(known.change.wants, Wants::Nothing) && !matches!(change.wants, Wants::Nothing);
                    follow(&mut known.change, change);
                    // What was deleted is new where it comes back.
                    if comes_back {
                        known.node = Some((None, *element));
                        *place = at;
                    }
                }
                None => {
                    seen.insert(key, children.len());
                    children.push((at, Child { id, node: Some((None, *element)), change }));
                }
            }
        }
        children.sort_by_key(|(place, _)| *place);
        Ok(Inside::of(patch, by, children.into_iter().map(|(_, child)| child).collect()))
    }

    fn set(&self, patch: NodeRef<'a>) -> Inside<'a> {
        let mut children = Vec::new();
        let mut seen = HashSet::new();
        for element in patch.elements() {
            let Some(value) = element.scalar() else { continue };
            if seen.insert(value.clone()) {
                let comment = comment_text(&Place::of_element(patch, element), element);
                let change = Change::patch(Wants::Value(element), comment);
                children.push(Child { id: ChildId::Value(value), node: Some((None, element)), change });
            }
        }
        let others = if self.reader == Reader::Kubectl { Others::Once } else { Others::Stay };
        Inside { others, ..Inside::of(patch, By::Value, children) }
    }

    /// Asks that values leave a list. A value that the patch adds as well stays.
    fn delete_from(&self, deleted: Option<NodeRef<'a>>, inside: &mut Inside<'a>) -> Result<(), Error> {
        let Some(deleted) = deleted else { return Ok(()) };
        if !matches!(inside.by, By::Value) {
            return Err(
                deleted.error(format!("`{DELETE_FROM}…` must speak of a list of scalars, not of `{}`", self.path))
            );
        }
        let mut known: HashSet<ChildId<'a>> = inside.children.iter().map(|c| c.id.clone()).collect();
        for id in deleted.elements().filter_map(|e| e.scalar().map(ChildId::Value)) {
            if known.insert(id.clone()) {
                inside.children.push(Child { id, node: None, change: Change::patch(Wants::Nothing, None) });
            }
        }
        Ok(())
    }

    /// The children of a merged list in the order of a `$setElementOrder`. An element of it that leaves out a further merge key stands for
    /// all that fit the others, as kubectl orders ports by their number alone.
    fn ordered(
        &self,
        order: Option<NodeRef<'a>>,
        by: &By<'a>,
        in_patch: Vec<(ChildId<'a>, NodeRef<'a>)>,
        in_dest: Vec<ChildId<'a>>,
    ) -> Result<Vec<ChildId<'a>>, Error> {
        let Some(order) = order else { return Ok(Vec::new()) };
        let mut known: HashMap<ChildId<'a>, Vec<ChildId<'a>>> = HashMap::new();
        let mut listed = HashSet::new();
        for id in in_dest.iter().chain(in_patch.iter().map(|(id, _)| id)) {
            if listed.insert(id.clone()) {
                known.entry(short(id)).or_default().push(id.clone());
            }
        }
        let mut ids = Vec::new();
        let mut expanded = HashSet::new();
        for element in order.elements() {
            let Some(id) = by.id_of(element) else {
                let what = match by {
                    By::Keys(keys) => format!("must have the merge key `{}`", keys[0].name),
                    By::Value => "must be a scalar".into(),
                    By::Field | By::Index => "must belong to a list that merges by a key".into(),
                };
                return Err(element.error(format!("an element of the `$setElementOrder` of `{}` {what}", self.path)));
            };
            let given = match by {
                By::Keys(keys) => keys.iter().map(|key| element.get(key.name).and_then(key_text).is_some()).collect(),
                _ => Vec::new(),
            };
            if given.iter().all(|given| *given) {
                ids.extend(listed.get(&id).cloned());
                continue;
            }
            let fits = |other: &&ChildId<'a>| match (&id, other) {
                (ChildId::Key(a), ChildId::Key(b)) => (0..given.len()).all(|i| a.0[i] == b.0[i] || !given[i]),
                _ => false,
            };
            let fitting = known.get(&short(&id)).into_iter().flatten().filter(fits).cloned();
            if expanded.insert((id.clone(), given.clone())) {
                ids.extend(fitting);
            }
        }
        let rank: HashMap<&ChildId<'a>, usize> = ids.iter().enumerate().rev().map(|(i, id)| (id, i)).collect();
        let mut last = 0;
        for (id, element) in &in_patch {
            match rank.get(id) {
                Some(&rank) if rank >= last => last = rank,
                found => {
                    let what = if found.is_some() { "in the same order" } else { "as well" };
                    return Err(element.error(format!(
                        "`{}{}` must stand in the `$setElementOrder` of its list {what}",
                        self.path,
                        FieldPath::from(id.step(by))
                    )));
                }
            }
        }
        Ok(ids)
    }

    /// A list that replaces dest's: as it stands, unless a directive or a null that clears has to be taken out of it. `by` is the directive
    /// that says so; under `$patch: replace` any further directive in the list is ignored.
    fn atomic(&mut self, patch: NodeRef<'a>, cursor: Cursor<'a>, by: Option<Directive>) -> Result<Wants<'a>, Error> {
        if !self.reader.must_cut(patch) {
            return Ok(Wants::Value(patch));
        }
        let mut children = Vec::new();
        for element in patch.elements() {
            if self.reader.speaks_of_list(element) {
                continue;
            }
            if element.is_map() && directive(element)? == Some(Directive::Delete) {
                if by == Some(Directive::Replace) {
                    continue;
                }
                return Err(element.error(format!(
                    "an element with `$patch: delete` must stand in a list that merges by a key, which `{}` does not",
                    self.path
                )));
            }
            let mut change = if self.reader.must_cut(element) {
                self.replaced += 1;
                let change = self.node(element, OnList::default(), &There::default(), cursor, Others::Go)?;
                self.replaced -= 1;
                change
            } else {
                Change::patch(Wants::Value(element), None)
            };
            change.notes = Notes::of_line(comment_text(&Place::of_element(patch, element), element));
            children.push(Child { id: ChildId::Index(children.len()), node: Some((None, element)), change });
        }
        Ok(Wants::Inside(Inside { others: Others::Go, ..Inside::of(patch, By::Index, children) }))
    }

    /// What the elements of a list say of the list itself.
    fn list_directive(&mut self, list: NodeRef<'a>) -> Result<Option<Directive>, Error> {
        let mut found = None;
        for element in list.elements().filter(|e| e.is_map()) {
            if !self.reader.speaks_of_list(element) {
                continue;
            }
            let said = directive(element)?;
            if found.is_some() && found != said {
                return Err(
                    element.error(format!("`{}` must have one `$patch` of its own, not two that differ", self.path))
                );
            }
            found = said;
            if element.entries().nth(1).is_some() {
                let reason = "an element with `$patch: replace` replaces the whole list by the other elements; what else it holds counts for nothing";
                self.ignore(reason, None, element);
            }
        }
        Ok(found)
    }

    fn unkeyed(&self, at: NodeRef<'a>, unkeyed: &Unkeyed, side: &str) -> Error {
        at.error(format!("`{}` must be a list that can be merged, but in {side} {unkeyed}", self.path))
    }

    fn must_be_list(&self) -> String {
        format!("`{}` must be a list, for a directive speaks of it as one", self.path)
    }
}

/// The elements of a list, by their merge keys.
fn keyed<'a>(list: NodeRef<'a>, keys: &[MergeKey<'a>]) -> impl Iterator<Item = (ElementKey<'a>, NodeRef<'a>)> {
    list.elements().filter_map(|e| Some((element_key(e, keys)?, e)))
}

/// An identity by its first merge key alone.
fn short<'a>(id: &ChildId<'a>) -> ChildId<'a> {
    match id {
        ChildId::Key(values) => ChildId::Key(ElementKey(values.0[..1].to_vec())),
        id => id.clone(),
    }
}
