//! Turns a patch and its directives into a [`Change`].
//!
//! A patch alone cannot answer two questions, so dest is asked: whether an unknown list merges (inference looks at all sides), and which
//! element a patch means if it names the element by fewer keys than the list has.

mod directive;
mod edit;
mod edits;
mod embedded;
mod replaced;

use krm_schema::schema::{
    Basis, Cursor, Fit, ListKind, Unkeyed, fit, is_named_in_full, is_unknown, list_basis, list_kind,
};
use krm_tree::child::{By, ChildId, ChildIndex, Elements, MergeKey, Value, element_key, key_text};
use krm_tree::path::{ElementKey, FieldPath, Trail};
use krm_tree::tree::{Branch, List, Tree, View};
use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{Error, NodeRef, Place, comment_text};

use crate::change::{Change, Child, Expects, Inside, Order, Others, Wants, notes_of_line};
use crate::host::{check_kept, is_all_protected, is_protected, must_stay};
use crate::likeness::{Partner, partners};
use crate::merge::merge;
use crate::policy::NewElements;
use crate::warning::{Notice, Warning};
pub use directive::{DELETE_FROM, ORDER, PATCH};
use directive::{Directive, OnList, RETAIN_KEYS, Reading, directive, must_be_list, said};
pub use edit::{Does, Edit, Missing};
pub use edits::lower_edit;

/// The change that a patch asks for, and what the user should know.
#[derive(Debug)]
pub struct Lowered<'a> {
    /// The change.
    pub change: Change<'a>,
    /// Lists that could not be merged by their keys, and parts of the patch that have no effect.
    pub warnings: Vec<Warning<'a>>,
    /// The places that dest lacks and that are not made.
    pub left: Vec<FieldPath<'a>>,
}

/// Lowers a patch: its values are set, a null removes a field, lists merge by their kind, and directives override this. The change contains
/// no directives. `missing` says what happens to fields and elements that dest lacks; a value that is replaced whole is one place. Source:
/// semantics.md section 1; apimachinery's `strategicpatch`, kyaml's `merge2`.
///
/// # Errors
/// Each with its place: a repeated key in the patch; a `$patch` whose value is not `merge`, `replace` or `delete`, or two that exclude each
/// other; a directive of the wrong type; a field that the map's own `$retainKeys` leaves out; elements that their `$setElementOrder` leaves
/// out or has in another order; in Strategic, an element without the merge key of its list.
pub fn lower<'a>(
    patch: NodeRef<'a>,
    dest: Option<View<'_, 'a>>,
    cursor: Cursor<'a>,
    missing: Missing,
) -> Result<Lowered<'a>, Error> {
    let mut lowering = Lowering {
        reading: cursor.mode().into(),
        missing,
        left: Vec::new(),
        trail: Trail::default(),
        replaced: 0,
        absent: 0,
        warnings: Vec::new(),
    };
    let change = lowering.node(patch, OnList::default(), dest, cursor, Others::Stay)?;
    Ok(Lowered { change, warnings: lowering.warnings, left: lowering.left })
}

/// The resource that a source adds where dest has none: all that it says is data, nulls and other directives as well. Only `$patch` at its root
/// speaks of the resource: `delete` adds none, and the others are left out.
///
/// # Errors
/// A repeated key in a map; a `$patch` at the root whose value is not `merge`, `replace` or `delete`.
pub fn added(source: NodeRef<'_>) -> Result<Option<Tree<'_>>, Error> {
    check_all_keys(source)?;
    match directive(source)? {
        None => Ok(Some(Tree::Node(source))),
        Some(Directive::Delete) => Ok(None),
        Some(Directive::Merge | Directive::Replace) => Ok(Some(Tree::Node(source).edited(&By::Field, |root| {
            root.entries.iter_mut().filter(|e| e.key.is_some_and(|k| k.name() == PATCH)).for_each(|e| e.value = None);
        }))),
    }
}

/// Whether a source only deletes a resource.
pub fn deletes(source: NodeRef<'_>) -> bool {
    matches!(directive(source), Ok(Some(Directive::Delete)))
}

/// Whether a source holds directives, which have another meaning in a patch than in a new resource.
pub fn has_directives(source: NodeRef<'_>) -> bool {
    Reading::Overlay.must_cut(source)
}

/// Checks each map of a node.
fn check_all_keys(node: NodeRef<'_>) -> Result<(), Error> {
    if node.is_map() {
        node.check_keys()?;
    }
    node.written().try_for_each(|(_, value)| check_all_keys(value))
}

struct Lowering<'a> {
    reading: Reading,
    missing: Missing,
    left: Vec<FieldPath<'a>>,
    trail: Trail<'a>,
    /// The number of enclosing lists that replace dest's.
    replaced: usize,
    /// The number of enclosing fields that dest lacks, and of lists that replace dest's because nothing says how they merge.
    absent: usize,
    warnings: Vec<Warning<'a>>,
}

/// A look-up for fields of dest, hashed if a patch asks for many.
fn fields_of<'t, 'a>(dest: Option<View<'t, 'a>>, patch: NodeRef<'a>) -> impl Fn(&str) -> Option<View<'t, 'a>> {
    let is_hashed = matches!(dest, Some(View::Branch(branch)) if branch.is_indexed(&By::Field));
    let hashed = patch.entries().nth(16).and(dest).filter(|_| !is_hashed).map(|map| {
        let mut fields = HashMap::new();
        for (name, value) in map.fields() {
            fields.entry(name).or_insert(value);
        }
        fields
    });
    move |name| match &hashed {
        Some(fields) => fields.get(name).copied(),
        None => dest?.field(name),
    }
}

/// The elements of dest's list by their merge keys. If several have one key, the first one counts.
enum InDest<'t, 'a> {
    /// The list is already indexed by an earlier merge.
    Merged(&'t Branch<'a>),
    /// The elements are read from the list.
    Read { elements: Vec<View<'t, 'a>>, index: ChildIndex<'a> },
}

/// The earlier elements of a patch with the same merge key.
enum Earlier<'a> {
    /// There is one; this is the index of its child.
    Child(usize),
    /// There are several, and this is dest's element after they are applied.
    Left(Option<Tree<'a>>),
}

impl<'t, 'a> InDest<'t, 'a> {
    /// Prepares a list for this many look-ups.
    fn of(list: Option<View<'t, 'a>>, by: &By<'a>, asked: usize) -> Self {
        if let Some(View::Branch(branch)) = list
            && branch.is_indexed(by)
        {
            return Self::Merged(branch);
        }
        let elements = list.map(View::elements).unwrap_or_default();
        let mut index = ChildIndex::of(by, elements.iter().map(|element| by.id_of(*element)));
        index.expect(asked);
        Self::Read { elements, index }
    }

    fn get(&self, key: &ElementKey<'a>) -> Option<View<'t, 'a>> {
        self.find(&ChildId::Key(key.clone()))
    }

    fn find(&self, id: &ChildId<'a>) -> Option<View<'t, 'a>> {
        match self {
            Self::Merged(branch) => branch.first(id),
            Self::Read { elements, index } => index.find(id).next().and_then(|at| elements.get(at).copied()),
        }
    }

    /// The keys of the elements that have the same first merge key as this one.
    fn alike(&self, key: &ElementKey<'a>) -> Vec<ElementKey<'a>> {
        match self {
            Self::Merged(branch) => branch.alike(key),
            Self::Read { index, .. } => index.keys_alike(key, |_| true),
        }
    }
}

impl<'a> Lowering<'a> {
    /// The lowering of values that are data.
    fn of_data() -> Self {
        let (missing, left, warnings) = (Missing::default(), Vec::new(), Vec::new());
        Self { reading: Reading::Data, missing, left, trail: Trail::default(), replaced: 0, absent: 0, warnings }
    }

    fn node(
        &mut self,
        patch: NodeRef<'a>,
        on_list: OnList<'a>,
        there: Option<View<'_, 'a>>,
        cursor: Cursor<'a>,
        others: Others,
    ) -> Result<Change<'a>, Error> {
        check_kept(&self.trail, patch, there)?;
        let is_other = |there: View<'_, 'a>| there.is_container() && !there.is_kind_of(patch);
        let wants = if patch.container_tag().is_some() && there.is_some_and(is_other) && !self.reading.must_cut(patch) {
            // A patch without a tag speaks of the fields alone.
            Wants::Value(patch)
        } else if patch.is_map() {
            self.tell_idle(patch);
            match self.reading.directive(patch)? {
                Some(Directive::Delete) if self.trail.is_fields(&["metadata"]) && there.is_some() => {
                    return Err(must_stay(&self.trail, patch));
                }
                Some(Directive::Delete) => self.nothing(there),
                Some(Directive::Replace) => self.map(patch, there, cursor, Others::Go)?,
                Some(Directive::Merge) | None if cursor.is_replaced() => self.map(patch, there, cursor, Others::Go)?,
                Some(Directive::Merge) | None => self.map(patch, there, cursor, others)?,
            }
        } else if patch.is_list() {
            self.list(patch, on_list, there, cursor, others)?
        } else if patch.is_null()
            && self.reading != Reading::Data
            && !(self.replaced > 0 && self.reading.keeps_nulls_of_lists())
        {
            self.nothing(there)
        } else {
            self.text(patch, there);
            Wants::Value(patch)
        };
        // A directive may delete values from a list that the patch removes, but an order says that the list exists.
        let spoken_of = if patch.is_null() { on_list.order } else { on_list.order.or(on_list.deleted) };
        match spoken_of.filter(|_| !patch.is_list()) {
            Some(at) => Err(at.error(self.must_be_list())),
            None => Ok(Change::patch(wants, None)),
        }
    }

    /// Whether a place that dest lacks is not made. To Kubernetes a null is no value.
    fn leaves(&mut self, there: Option<View<'_, 'a>>, value: NodeRef<'a>) -> bool {
        let leaves = self.missing == Missing::Left && self.replaced == 0 && there.is_none_or(View::is_null);
        // What is to go need not be there.
        if leaves && !value.is_null() && !deletes(value) {
            self.left.push(self.trail.path());
        }
        leaves && !value.is_null()
    }

    /// Warns if a text replaces one of dest that holds more than it.
    fn text(&mut self, patch: NodeRef<'a>, there: Option<View<'_, 'a>>) {
        let Some(there) = there.filter(|there| self.reading != Reading::Data && !there.is_container()) else { return };
        let name = self.trail.field().unwrap_or_default();
        if let Some(notice) = replaced::text_replaced(patch.string(), &there.string(), name, &self.trail) {
            let (path, dest) = (self.trail.path(), there.like());
            self.warnings.push(Warning { path, notice, dest, proposed: Some(patch) });
        }
    }

    fn nothing(&self, there: Option<View<'_, 'a>>) -> Wants<'a> {
        Wants::nothing_at(&self.trail, there, Expects::Anything)
    }

    fn map(
        &mut self,
        patch: NodeRef<'a>,
        there: Option<View<'_, 'a>>,
        cursor: Cursor<'a>,
        others: Others,
    ) -> Result<Wants<'a>, Error> {
        patch.check_keys()?;
        let of_dest = fields_of(there, patch);
        let mut on_lists = self.reading.on_lists(patch)?;
        let entries = patch.spelled_out();
        let mut children = Vec::with_capacity(entries.len());
        for (_, key, value) in entries {
            let name = key.string();
            if self.reading.is_directive(name) || is_protected(&self.trail, name) {
                continue;
            }
            if self.reading.is_unknown_directive(name) {
                return Err(self.reading.unknown_directive(key));
            }
            let on_list = on_lists.iter().position(|(field, _)| *field == name).map(|i| on_lists.swap_remove(i).1);
            let there = of_dest(name);
            let id = ChildId::Field(name);
            self.trail.push(id.step(&By::Field), None);
            if is_all_protected(&self.trail, value) || others == Others::Stay && self.leaves(there, value) {
                self.trail.pop();
                continue;
            }
            if self.reading == Reading::Strategic && name.starts_with('$') && !["$ref", "$schema"].contains(&name) {
                self.ignore("this is not a directive, so it is merged as a field", there.and_then(View::like), value);
            }
            // Only maps and lists have a type that says how they merge.
            let below = match value.is_container() {
                true => cursor.child(name, std::iter::once(View::Node(value)).chain(there)),
                false => cursor.untyped(),
            };
            self.absent += usize::from(there.is_none());
            let mut change = self.node(value, on_list.unwrap_or_default(), there, below, others)?;
            self.absent -= usize::from(there.is_none());
            change.notes = notes_of_line(comment_text(&Place::of_entry(key, value), value)).into();
            self.trail.pop();
            // What dest has already is no change. Where the others go, a field that stays must be named.
            let asks = others == Others::Go || !change.notes.is_empty() || !change.wants.is_there(there);
            if asks {
                children.push(Child { id, node: Some((Some(key), value)), change });
            }
        }
        // Directives about lists that are not in the patch itself.
        for (name, on_list) in on_lists {
            let found = of_dest(name);
            let id = ChildId::Field(name);
            self.trail.push(id.step(&By::Field), None);
            let said = on_list.order.or(on_list.deleted);
            if others == Others::Stay && found.is_some() {
                if let Some(at) = on_list.order.filter(|_| found.is_some_and(|list| !list.is_list() && !list.is_null()))
                {
                    return Err(at.error(self.must_be_list()));
                }
                let wants = self.arranged(found.filter(|list| list.is_list()), on_list, cursor.field(name))?;
                children.push(Child { id, node: None, change: Change::patch(wants, None) });
            } else if let Some(said) = said.filter(|_| self.absent == 0 && cursor.lacks_list(name)) {
                self.ignore("a directive names this list, but the type has no such field", None, said);
            }
            self.trail.pop();
        }
        let mut inside = Inside { others, ..Inside::of(patch, By::Field, children) };
        self.retain(patch, &mut inside)?;
        Ok(inside.sparing(&self.trail, there, Expects::Anything).into())
    }

    /// Notes the directives of a map that have nothing to act on. They may be meant as data, which is lost.
    fn tell_idle(&mut self, map: NodeRef<'a>) {
        if self.absent == 0 {
            return;
        }
        let reading = self.reading;
        for (key, value) in map.fields().filter(|(key, _)| reading.is_directive(key.string())) {
            let reason = format!(
                "{} has no effect and is not written, because this part of the patch is new to dest",
                said(key, value)
            );
            self.ignore(&reason, None, value);
        }
    }

    /// Notes that a part of the patch has no effect.
    fn ignore(&mut self, reason: &str, dest: Option<NodeRef<'a>>, proposed: NodeRef<'a>) {
        let (path, notice) = (self.trail.path(), Notice::Ignored(reason.to_owned()));
        self.warnings.push(Warning { path, notice, dest, proposed: Some(proposed) });
    }

    /// Keeps only the fields of dest that `$retainKeys` names.
    fn retain(&self, patch: NodeRef<'a>, inside: &mut Inside<'a>) -> Result<(), Error> {
        if self.reading != Reading::Strategic {
            return Ok(());
        }
        let Some((key, list)) = patch.fields().find(|(key, _)| key.is_called(RETAIN_KEYS)) else { return Ok(()) };
        must_be_list(key, list)?;
        if let Some(other) = list.elements().find(|e| e.is_container()) {
            return Err(other.error(format!("`{RETAIN_KEYS}` must hold names of fields only")));
        }
        if inside.others == Others::Go {
            return Ok(());
        }
        let names: HashSet<&str> = list.elements().map(NodeRef::string).collect();
        for (key, value) in patch.fields() {
            let name = key.string();
            if !names.contains(name) && !value.is_null() && !self.reading.is_directive(name) {
                return Err(key.error(format!("`{RETAIN_KEYS}` must name every field of its map, `{name}`, too")));
            }
        }
        inside.others = Others::Go;
        // A directive about a list does not retain the list.
        inside.children.retain(|c| c.node.is_some() || matches!(c.id, ChildId::Field(name) if names.contains(name)));
        let known: HashSet<ChildId<'a>> = inside.children.iter().map(|c| c.id.clone()).collect();
        // The order of the patch holds, so that one patch always gives the same change.
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
        there: Option<View<'_, 'a>>,
        cursor: Cursor<'a>,
        others: Others,
    ) -> Result<Wants<'a>, Error> {
        let said = self.list_directive(patch)?;
        match said {
            Some(Directive::Delete) if others == Others::Go => return Ok(Wants::Nothing),
            Some(Directive::Replace) => return self.atomic(patch, there, cursor),
            Some(Directive::Merge) | None if others == Others::Go => return self.atomic(patch, there, cursor),
            Some(Directive::Delete | Directive::Merge) | None => {}
        }
        let there = there.filter(|there| there.is_list());
        let of_patch = patch.elements().filter(|e| !self.reading.speaks_of_list(*e)).map(View::Node).collect();
        let sides: Vec<List<'_, 'a>> = std::iter::once(List::Views(of_patch)).chain(there.map(View::list)).collect();
        let kind = match list_kind(cursor, &sides) {
            Ok(kind) => kind,
            // A list that goes needs no keys.
            Err(Unkeyed::Element(_)) if said == Some(Directive::Delete) => return Ok(Wants::Nothing),
            Err(unkeyed @ Unkeyed::Element(_)) if self.reading == Reading::Strategic => {
                let is_patch = list_kind(cursor, &sides[..1]).is_err();
                return Err(self.unkeyed(patch, &unkeyed, if is_patch { "the patch" } else { "dest" }));
            }
            Err(unkeyed) => {
                let notice = Notice::Unkeyed(unkeyed);
                self.warnings.push(Warning {
                    path: self.trail.path(),
                    notice,
                    dest: there.and_then(View::like),
                    proposed: Some(patch),
                });
                ListKind::Atomic
            }
        };
        // Without an element, nothing shows how an unknown list merges.
        let is_bare = || is_unknown(cursor, &sides) && sides.iter().flat_map(List::each).next().is_none();
        let can_obey = matches!(kind, ListKind::Map(_)) || said == Some(Directive::Delete) && is_bare();
        if !can_obey {
            self.check_no_directives(patch)?;
        }
        if said == Some(Directive::Delete) {
            return Ok(Wants::Nothing);
        }
        let mut inside = match kind {
            ListKind::Atomic => {
                let by = if any_container(&sides) { By::Index } else { By::Value };
                let ids = sides[0].each().filter_map(|e| e.scalar().map(ChildId::Value)).map(|id| (id, patch));
                self.ordered(on_list.order, &by, ids.collect(), Vec::new())?;
                self.shortened(patch, &sides, cursor);
                self.absent += 1;
                let wants = self.atomic(patch, there, cursor)?;
                self.absent -= 1;
                self.check_none_below(patch, &wants, there)?;
                return Ok(wants);
            }
            ListKind::Set => self.set(patch, there),
            ListKind::Map(keys) => self.keyed(patch, there, keys, cursor)?,
        };
        self.delete_from(on_list.deleted, &mut inside)?;
        if on_list.order.is_none() {
            return Ok(inside.into());
        }
        let in_dest = sides[1..].iter().flat_map(List::each).filter_map(|e| inside.by.id_of(e)).collect();
        let in_patch = inside.children.iter().filter(|c| !matches!(c.change.wants, Wants::Nothing));
        let in_patch = in_patch.filter_map(|c| Some((c.id.clone(), c.node?.1))).collect();
        inside.order = Order::asked(self.ordered(on_list.order, &inside.by, in_patch, in_dest)?);
        Ok(inside.into())
    }

    /// Warns if dest loses elements because the patch's list replaces its list, and the user may not have meant that.
    fn shortened(&mut self, patch: NodeRef<'a>, sides: &[List<'_, 'a>], cursor: Cursor<'a>) {
        let [of_patch, of_dest] = sides else { return };
        // The user said so.
        if list_basis(cursor, sides) == Some(Basis::MergeKeys) {
            return;
        }
        let [of_patch, of_dest] = [of_patch, of_dest].map(|side| side.each().collect::<Vec<_>>());
        let notice = match is_unknown(cursor, sides) {
            true => replaced::shortened(&of_patch, &of_dest),
            false => replaced::replaced(&of_patch, &of_dest, cursor.names_of(&[&of_patch, &of_dest]), &self.trail),
        };
        if let Some(notice) = notice {
            self.warnings.push(Warning { path: self.trail.path(), notice, dest: None, proposed: Some(patch) });
        }
    }

    /// The request for a list about which the patch has directives only.
    fn arranged(
        &mut self,
        there: Option<View<'_, 'a>>,
        on_list: OnList<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Wants<'a>, Error> {
        let sides: Vec<List<'_, 'a>> = there.map(View::list).into_iter().collect();
        let Some(at) = on_list.order.or(on_list.deleted).filter(|_| !sides.is_empty()) else { return Ok(Wants::Same) };
        let kind = list_kind(cursor, &sides).map_err(|u| self.unkeyed(at, &u, "dest"))?;
        let by = match kind {
            ListKind::Map(keys) => By::Keys(keys),
            ListKind::Set => By::Value,
            ListKind::Atomic if any_container(&sides) => By::Index,
            ListKind::Atomic => By::Value,
        };
        let mut inside = Inside::of(at, by, Vec::new());
        self.delete_from(on_list.deleted, &mut inside)?;
        let in_dest = sides.iter().flat_map(List::each).filter_map(|e| inside.by.id_of(e)).collect();
        inside.order = Order::asked(self.ordered(on_list.order, &inside.by, Vec::new(), in_dest)?);
        Ok(inside.into())
    }

    fn keyed(
        &mut self,
        patch: NodeRef<'a>,
        there: Option<View<'_, 'a>>,
        keys: Vec<MergeKey<'a>>,
        cursor: Cursor<'a>,
    ) -> Result<Inside<'a>, Error> {
        let in_patch: Vec<(ElementKey<'a>, NodeRef<'a>)> =
            patch.elements().filter_map(|e| Some((element_key(e, &keys)?, e))).collect();
        let in_full = in_patch.iter().filter(|(_, e)| keys.len() > 1 && is_named_in_full(*e, &keys));
        let named: HashSet<&ElementKey<'a>> = in_full.map(|(key, _)| key).collect();
        let by = By::Keys(keys.clone());
        let in_dest = InDest::of(there, &by, in_patch.len());
        let mut seen: HashMap<ElementKey<'a>, Earlier<'a>> = HashMap::new();
        let mut children: Vec<Child<'a>> = Vec::new();
        for (key, element) in &in_patch {
            let is_known = keys.len() == 1 || seen.contains_key(key) || in_dest.get(key).is_some();
            let alike = if is_known { Vec::new() } else { in_dest.alike(key) };
            let key = match fit(*element, &keys, key, &alike, &named) {
                Fit::Only(key) => key,
                Fit::Several(open) if self.reading == Reading::Strategic => {
                    return Err(element.error(format!(
                        "an element of `{}` must have its merge key `{open}`, because several of dest have the others",
                        self.trail
                    )));
                }
                Fit::Several(_) | Fit::None => key.clone(),
            };
            let id = ChildId::Key(key.clone());
            // Elements of one key are applied in turn: a later one sees the result of the earlier ones.
            if let Some(Earlier::Child(first)) = seen.get(&key) {
                let dest = in_dest.get(&key).map(View::to_tree);
                let left = merge(dest, &children[*first].change, NewElements::Append)?.tree;
                seen.insert(key.clone(), Earlier::Left(left));
            }
            let there = match seen.get(&key) {
                Some(Earlier::Left(tree)) => tree.as_ref().and_then(Tree::view),
                _ => in_dest.get(&key),
            };
            self.trail.push(id.step(&by), None);
            if self.leaves(there, *element) {
                self.trail.pop();
                continue;
            }
            let change = self.node(*element, OnList::default(), there, cursor, Others::Stay)?;
            self.trail.pop();
            let earlier = match seen.remove(&key) {
                Some(Earlier::Left(tree)) => Earlier::Left(merge(tree, &change, NewElements::Append)?.tree),
                _ => Earlier::Child(children.len()),
            };
            seen.insert(key, earlier);
            children.push(Child { id, node: Some((None, *element)), change });
        }
        Ok(Inside::of(patch, by, children))
    }

    fn set(&mut self, patch: NodeRef<'a>, there: Option<View<'_, 'a>>) -> Inside<'a> {
        let mut children = Vec::new();
        let mut seen = HashSet::new();
        let in_dest = (self.missing == Missing::Left).then(|| InDest::of(there, &By::Value, patch.elements().count()));
        for element in patch.elements() {
            let Some(value) = element.scalar() else { continue };
            let id = ChildId::Value(value.clone());
            self.trail.push(id.step(&By::Value), None);
            let leaves = in_dest.as_ref().is_some_and(|in_dest| self.leaves(in_dest.find(&id), element));
            self.trail.pop();
            if !leaves && seen.insert(value.clone()) {
                let comment = comment_text(&Place::of_element(patch, element), element);
                let change = Change::patch(Wants::Value(element), comment);
                children.push(Child { id, node: Some((None, element)), change });
            }
        }
        let others = if self.reading == Reading::Strategic { Others::Once } else { Others::Stay };
        Inside { others, ..Inside::of(patch, By::Value, children) }
    }

    /// Asks that values are removed from a list. A value that the patch adds as well stays.
    fn delete_from(&self, deleted: Option<NodeRef<'a>>, inside: &mut Inside<'a>) -> Result<(), Error> {
        let Some(deleted) = deleted else { return Ok(()) };
        if !matches!(inside.by, By::Value) {
            return Err(
                deleted.error(format!("`{DELETE_FROM}…` must speak of a list of scalars, not of `{}`", self.trail))
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

    /// The children of a merged list in the order of a `$setElementOrder`. An element of it that leaves out a further merge key represents
    /// all children that have its other keys, as kubectl orders ports by their number alone.
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
                return Err(element.error(format!("an element of the `$setElementOrder` of `{}` {what}", self.trail)));
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
                (ChildId::Key(a), ChildId::Key(b)) => (0..given.len()).all(|i| a.value(i) == b.value(i) || !given[i]),
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
                        self.trail,
                        FieldPath::from(id.step(by))
                    )));
                }
            }
        }
        Ok(ids)
    }

    /// Checks that no element of a list without merge keys has a `$patch`. Only that of a list that is replaced could be obeyed.
    fn check_no_directives(&self, list: NodeRef<'a>) -> Result<(), Error> {
        for element in list.elements().filter(|element| element.is_map()) {
            if self.reading.directive(element)?.is_some() {
                return Err(element.error(format!(
                    "an element with `{PATCH}: {}` must be in a list that merges by a key, which `{}` does not: only `- {PATCH}: replace` may stand in it",
                    element.get(PATCH).map(NodeRef::string).unwrap_or_default(),
                    self.trail
                )));
            }
        }
        Ok(())
    }

    /// Checks that no directive is in a list that replaces another one of dest: the directive asks for one thing in dest's list, and the list
    /// would lose all that the patch does not name. After a first run, dest has the new list.
    fn check_none_below(&self, list: NodeRef<'a>, wants: &Wants<'a>, there: Option<View<'_, 'a>>) -> Result<(), Error> {
        let Some(there) = there.filter(|_| self.reading.must_cut(list)) else { return Ok(()) };
        let mut trail = Trail::from(self.trail.path());
        let Some((key, value)) = self.reading.directive_in(list, &mut trail) else { return Ok(()) };
        let merged = merge(Some(there.to_tree()), &Change::patch(wants.clone(), None), NewElements::Append)?.tree;
        if merged.as_ref().and_then(Tree::view).is_some_and(|merged| merged.meaning() == there.meaning()) {
            return Ok(());
        }
        Err(key.error(format!(
            "{} in `{trail}` must not be below a list that has no merge key: `{}` is replaced whole, so name all its elements, without directives",
            said(key, value),
            self.trail
        )))
    }

    /// The request for a list that replaces dest's. It is taken as it is, unless a directive or a null that clears must be removed from it.
    /// Directives in it have nothing to act on.
    fn atomic(
        &mut self,
        patch: NodeRef<'a>,
        there: Option<View<'_, 'a>>,
        cursor: Cursor<'a>,
    ) -> Result<Wants<'a>, Error> {
        if !self.reading.must_cut(patch) {
            return Ok(Wants::Value(patch));
        }
        let reading = self.reading;
        let mut children = Vec::new();
        self.replaced += 1;
        for element in patch.elements().filter(|element| !reading.speaks_of_list(*element)) {
            let id = ChildId::Index(children.len());
            if element.is_map() && self.reading.directive(element)? == Some(Directive::Delete) {
                self.tell_idle(element);
                continue;
            }
            self.trail.push(id.step(&By::Index), None);
            let mut change = if self.reading.must_cut(element) {
                self.node(element, OnList::default(), None, cursor, Others::Go)?
            } else {
                Change::patch(Wants::Value(element), None)
            };
            self.trail.pop();
            change.notes = notes_of_line(comment_text(&Place::of_element(patch, element), element)).into();
            children.push(Child { id, node: Some((None, element)), change });
        }
        self.replaced -= 1;
        // What stays of dest's elements keeps its text and its comments. A directive is no part of an element.
        let own = there.filter(|there| there.is_list()).map(View::elements).unwrap_or_default();
        let mut order = Order::OfDest;
        if !own.is_empty() {
            let made = |child: &Child<'a>| merge(None, &child.change, NewElements::Append).map(|made| made.tree);
            let trees = children.iter().map(made).collect::<Result<Vec<_>, Error>>()?;
            let raw = |child: &Child<'a>| child.node.map(|(_, element)| View::Node(element));
            let view = |(tree, child)| Option::as_ref(tree).and_then(Tree::view).or_else(|| raw(child));
            let new: Vec<View<'_, 'a>> = trees.iter().zip(&children).filter_map(view).collect();
            let ids = Partner::ids(&partners(&own, &new), own.len());
            children.iter_mut().zip(&ids).for_each(|(child, id)| child.id = id.clone());
            order = Order::Asked(ids);
        }
        Ok(Inside { others: Others::Go, order, ..Inside::of(patch, By::Index, children) }.into())
    }

    /// The directive that the elements of a list give for the list itself.
    fn list_directive(&mut self, list: NodeRef<'a>) -> Result<Option<Directive>, Error> {
        let mut found = None;
        for element in list.elements().filter(|e| e.is_map()) {
            if !self.reading.speaks_of_list(element) {
                continue;
            }
            self.tell_idle(element);
            let said = self.reading.directive(element)?;
            if found.is_some() && found != said {
                return Err(
                    element.error(format!("`{}` must have one `$patch` of its own, not two that differ", self.trail))
                );
            }
            found = said;
            if element.fields().nth(1).is_some() {
                let reason = "an element with `$patch: replace` replaces the whole list with the other elements, so its other fields have no effect";
                self.ignore(reason, None, element);
            }
        }
        Ok(found)
    }

    fn unkeyed(&self, at: NodeRef<'a>, unkeyed: &Unkeyed, side: &str) -> Error {
        at.error(format!("`{}` must be a list that can be merged, but in {side} {unkeyed}", self.trail))
    }

    fn must_be_list(&self) -> String {
        format!("`{}` must be a list, because a directive names it as a list", self.trail)
    }
}

/// Whether any element is a map or a list.
fn any_container(sides: &[List<'_, '_>]) -> bool {
    sides.iter().flat_map(List::each).any(|e| e.is_container())
}

/// An identity by its first merge key alone.
fn short<'a>(id: &ChildId<'a>) -> ChildId<'a> {
    match id {
        ChildId::Key(key) => ChildId::Key(ElementKey { first: key.first.clone(), others: Vec::new() }),
        id => id.clone(),
    }
}
