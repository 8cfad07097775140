//! Lists compared: element by element where they have keys, value by value where they are sets, and otherwise as one value.

use krm_schema::schema::{Cursor, ListKind, Unkeyed, list_kind};
use krm_tree::child::{By, ChildId, Elements, MergeKey, element_key};
use krm_tree::path::ElementKey;
use krm_tree::sequence::common;
use krm_tree::sides::{self, Side};
use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{Error, NodeRef, Place, same};

use super::moved::Moved;
use super::notes::{changed_remarks, notes_of, of_gap};
use super::placed::{LinesFit, Placed, is_left_alone, same_child};
use super::{DiffChildren, Differ, NamesOfChild, NodeOfSides, Paired, gap};
use crate::change::{Change, Child, Emptied, Expects, Inside, Wants};
use crate::warning::{Notice, Warning};

impl<'a> Differ<'a> {
    pub(super) fn list(
        &mut self,
        like: NodeRef<'a>,
        emptied: Emptied,
        sides: NodeOfSides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        let lists: Vec<Vec<NodeRef<'a>>> =
            sides.each().filter(|s| s.is_list()).map(|s| s.elements().collect()).collect();
        let (kind, unkeyed) = match kind_of_list(cursor, [sides.original, sides.updated], &lists) {
            Ok(kind) => (kind, None),
            Err(unkeyed) => (ListKind::Atomic, Some(unkeyed)),
        };
        let by = By::from(kind);
        let (children, names) = match &by {
            By::Keys(keys) => self.elements(keys.clone(), sides, cursor)?,
            By::Value => (set(sides), Vec::new()),
            By::Field | By::Index => {
                let unchanged = matches!((sides.original, sides.updated), (Some(o), Some(u)) if same(o, u));
                if unchanged {
                    return self.comments_in_list(sides, cursor);
                }
                self.warnings.extend(unkeyed.map(|unkeyed| Warning {
                    path: self.trail.path(),
                    notice: Notice::Unkeyed(unkeyed),
                    dest: sides.dest,
                    proposed: sides.updated,
                }));
                return Ok(sides.expecting(sides.updated.map_or(Wants::Nothing, Wants::Value)));
            }
        };
        Ok(sides.inside(Inside { emptied, names, ..Inside::of(like, by, children) }))
    }

    /// The change of the comments in a list that is one value, if original and updated have the same value. It is for the elements that dest
    /// has.
    fn comments_in_list(&mut self, sides: NodeOfSides<'a>, cursor: Cursor<'a>) -> Result<Option<Change<'a>>, Error> {
        let (Some(original), Some(updated), Some(dest)) = (sides.original, sides.updated, sides.dest) else {
            return Ok(None);
        };
        let [old, new, own] = [original, updated, dest].map(|list| list.elements().collect::<Vec<_>>());
        let both = common(&own, &new, |a, b| same(*a, *b)).into_iter();
        let paired: Vec<Paired<'a>> = both
            .map(|(place, at)| Paired { original: Some(old[at]), updated: new[at], dest: own[place], place })
            .collect();
        let mut children = self.paired([original, updated, dest], &paired, cursor)?;
        children.retain(|child| child.change.asks());
        let inside = Inside::of(updated, By::Index, children);
        Ok(if inside.children.is_empty() { None } else { sides.expecting(inside.into()) })
    }

    /// What changed upstream in these elements of a list, and in their comments.
    pub(super) fn paired(
        &mut self,
        [original, updated, dest]: [NodeRef<'a>; 3],
        paired: &[Paired<'a>],
        cursor: Cursor<'a>,
    ) -> Result<Vec<Child<'a>>, Error> {
        let (nothing, mut children) = (Moved::default(), Vec::with_capacity(paired.len()));
        for pair in paired {
            let id = ChildId::Index(pair.place);
            let sides = NodeOfSides { original: pair.original, updated: Some(pair.updated), dest: Some(pair.dest) };
            self.trail.push(id.step(&By::Index), Some(pair.place));
            let placed = |list, element| (Place::of_element(list, element), element);
            let [there, is] = [(dest, pair.dest), (updated, pair.updated)].map(|(list, e)| placed(list, e));
            let fit = self.fit.below(Some(there), Some(is));
            let change = self.fitting(fit, |differ| differ.node(sides, cursor))?;
            self.trail.pop();
            let was = pair.original.map(|was| placed(original, was));
            let notes = notes_of(was, Some(there), is, || &nothing);
            let change = Change { notes, ..change.unwrap_or_else(|| Change::patch(Wants::Same, None)) };
            children.push(Child { id, node: Some((None, pair.updated)), change });
        }
        Ok(children)
    }

    /// The requests for the elements of a keyed list, and the names of the elements that a side renamed.
    fn elements(
        &mut self,
        keys: Vec<MergeKey<'a>>,
        sides: NodeOfSides<'a>,
        cursor: Cursor<'a>,
    ) -> Result<(Vec<Child<'a>>, Vec<NamesOfChild<'a>>), Error> {
        let list = KeyedList { elements: self.elements_by_key(&keys, sides), keys, sides, cursor };
        let renamed = &list.elements.renamed;
        let mut children = Vec::new();
        let new = sides.updated.into_iter().flat_map(NodeRef::elements).map(|e| (e, Side::Updated));
        let old = sides.original.into_iter().flat_map(NodeRef::elements).map(|e| (e, Side::Original));
        for (element, side) in new.chain(old) {
            let Some(key) = element_key(element, &list.keys) else { continue };
            let key = renamed.in_dest(side, &key).clone();
            if side == Side::Updated || !list.elements.of.updated.contains_key(&key) {
                children.extend(self.element(element, key, &list)?);
            }
        }
        gap::remove(&mut children, sides.updated, || list.children(Side::Original));
        let names = renamed.iter().map(|names| names.clone().map(ChildId::Key)).collect();
        Ok((children, names))
    }

    /// The elements of a keyed list on all sides.
    fn elements_by_key(
        &self,
        keys: &[MergeKey<'a>],
        sides: NodeOfSides<'a>,
    ) -> DiffChildren<'a, ByKey<'a>, ElementKey<'a>> {
        let by_key = |side: Option<NodeRef<'a>>| -> ByKey<'a> {
            let elements: Vec<_> = side.into_iter().flat_map(NodeRef::elements).enumerate().collect();
            // If several elements have one key, the first one counts.
            elements.into_iter().rev().filter_map(|e| Some((element_key(e.1, keys)?, e))).collect()
        };
        let (mut original, mut updated, dest) = (by_key(sides.original), by_key(sides.updated), by_key(sides.dest));
        let renamed = self.renamed(sides, || {
            let is_beyond = |own: &ByKey<'a>, other: &ByKey<'a>| own.keys().any(|key| !other.contains_key(key));
            let is_other = |side: &ByKey<'a>| is_beyond(side, &original) && is_beyond(&original, side);
            let named = |side: &ByKey<'a>| side.iter().map(|(key, e)| (key.clone(), e.1)).collect();
            let elements = sides::Sides { original: &original, updated: &updated, dest: &dest };
            (is_other(&updated) || is_other(&dest)).then(|| elements.map(named))
        });
        for names in renamed.iter() {
            for (side, name) in [(&mut original, &names.original), (&mut updated, &names.updated)] {
                if let Some(element) = side.remove(name) {
                    side.insert(names.dest.clone(), element);
                }
            }
        }
        let mut repeated = HashSet::new();
        if let Some(list) = sides.dest.filter(|list| list.elements().nth(dest.len()).is_some()) {
            let mut seen = HashSet::new();
            let in_dest = list.elements().filter_map(|element| element_key(element, keys));
            repeated.extend(in_dest.filter(|key| !seen.insert(key.clone())));
        }
        DiffChildren::of(sides::Sides { original, updated, dest }, renamed, repeated)
    }

    /// The request for an element that original or updated has, by its key in dest.
    fn element(
        &mut self,
        element: NodeRef<'a>,
        key: ElementKey<'a>,
        list: &KeyedList<'a>,
    ) -> Result<Option<Child<'a>>, Error> {
        let sides = list.sides;
        let sides::Sides { original: was, updated: is, dest: there } = list.placed(&key);
        let node = is.map(|is| (None, is.1));
        let changed_gap = || gap::changed(was?, there?, is?);
        match is {
            Some(is) if was.is_some_and(|was| same_child(was, is)) => {
                let change = changed_gap().map(|gap| of_gap(Wants::Same, Some(gap)));
                return Ok(change.map(|change| Child { id: ChildId::Key(key), node, change }));
            }
            Some(is) if sides.are_blocks() && is_left_alone(was, there, is, self.fit) => {
                let change = of_gap(Wants::Text(is.1), changed_gap());
                return Ok(Some(Child { id: ChildId::Key(key), node, change }));
            }
            Some(_) | None => {}
        }
        let change = match is {
            Some(_) => self.in_element(element, &key, list, self.fit.below(there, is))?,
            None => self.without_element(&key, list)?,
        };
        if let Some(names) = list.elements.renamed.called(&key)
            && change.is_some()
            && !there.zip(was).is_some_and(|(there, was)| same(there.1, was.1))
        {
            self.tell_renamed(names, &list.by(), |key| ChildId::Key(key.clone()));
        }
        let notes = is.map(|is| notes_of(was, there, is, || list.moved())).unwrap_or_default();
        let change = change.or_else(|| (!notes.is_empty()).then(|| Change::patch(Wants::Same, None)));
        Ok(change.map(|change| Child { id: ChildId::Key(key), node, change: Change { notes, ..change } }))
    }

    /// What changed upstream in an element of updated.
    fn in_element(
        &mut self,
        element: NodeRef<'a>,
        key: &ElementKey<'a>,
        list: &KeyedList<'a>,
        fit: LinesFit,
    ) -> Result<Option<Change<'a>>, Error> {
        let sides::Sides { original, updated, dest } = &list.elements.of;
        let in_dest = dest.get(key);
        let inner = list.inner(key);
        self.trail.push(ChildId::Key(key.clone()).step(&list.by()), in_dest.map(|e| e.0));
        let change = self.fitting(fit, |differ| differ.node(inner, list.cursor))?;
        self.trail.pop();
        let is_added = inner.original.is_none() && in_dest.is_none();
        let twin = if is_added { twin(element, &list.keys, [original, updated, dest]) } else { None };
        Ok(match (change, twin) {
            (Some(change), Some(twin)) => Some(Change { expects: Expects::Exactly(Some(twin)), ..change }),
            (change, _) => change,
        })
    }

    /// The removal of an element that updated lacks. It is removed whole: dest's values in it mean nothing without its key.
    fn without_element(&mut self, key: &ElementKey<'a>, list: &KeyedList<'a>) -> Result<Option<Change<'a>>, Error> {
        let inner = list.inner(key);
        let change = inner.expecting(Wants::Nothing);
        match (inner.original, inner.dest) {
            // The further elements with this key are dest's own.
            _ if list.elements.repeated.contains(key) => Ok(change),
            (Some(old), Some(dest)) => self.expecting_if_added(change, old, dest, list.cursor),
            _ => Ok(change),
        }
    }
}

/// A keyed list on all sides.
struct KeyedList<'a> {
    keys: Vec<MergeKey<'a>>,
    sides: NodeOfSides<'a>,
    cursor: Cursor<'a>,
    elements: DiffChildren<'a, ByKey<'a>, ElementKey<'a>>,
}

impl<'a> KeyedList<'a> {
    fn by(&self) -> By<'a> {
        By::Keys(self.keys.clone())
    }

    /// The element with a key in dest.
    fn inner(&self, key: &ElementKey<'a>) -> NodeOfSides<'a> {
        let element = |side: Side| self.elements.of[side].get(key).map(|e| e.1);
        let (original, updated, dest) = (element(Side::Original), element(Side::Updated), element(Side::Dest));
        NodeOfSides { original, updated, dest }
    }

    /// The same, each with its place.
    fn placed(&self, key: &ElementKey<'a>) -> sides::Sides<Option<Placed<'a>>> {
        let (lists, elements) = (self.sides.by_side(), self.inner(key).by_side());
        sides::Sides::of(|side| {
            let (list, element) = lists[side].zip(elements[side])?;
            Some((Place::of_element(list, element), element))
        })
    }

    /// The elements of a side, in order.
    fn children(&self, of: Side) -> Vec<(ChildId<'a>, sides::Sides<Option<Placed<'a>>>)> {
        let keys = self.sides.by_side()[of].into_iter().flat_map(NodeRef::elements);
        let keys = keys.filter_map(|element| element_key(element, &self.keys));
        let keys = keys.map(|key| self.elements.renamed.in_dest(of, &key).clone());
        keys.map(|key| (ChildId::Key(key.clone()), self.placed(&key))).collect()
    }

    fn moved(&self) -> &Moved<'a> {
        let children = |side| self.children(side).into_iter().map(|(_, on_sides)| on_sides).collect();
        self.elements.moved.get_or_init(|| Moved::of(self.sides.by_side(), children))
    }
}

/// The elements of one side by their merge keys, each with its place.
type ByKey<'a> = HashMap<ElementKey<'a>, (usize, NodeRef<'a>)>;

/// For a new element of upstream, the element of original whose merge key both sides changed. This element, upstream's and one that dest
/// added have the same name, and the old key is gone on both sides. Then the two new elements are one element in conflict, not two elements
/// with one name.
fn twin<'a>(
    element: NodeRef<'a>,
    keys: &[MergeKey<'a>],
    [original, updated, dest]: [&ByKey<'a>; 3],
) -> Option<NodeRef<'a>> {
    if keys.iter().any(|key| key.name == "name") {
        return None;
    }
    let name = element.get("name").and_then(NodeRef::as_str)?;
    let is_named = |e: NodeRef<'a>| e.get("name").and_then(NodeRef::as_str) == Some(name);
    let changed = |key: &ElementKey<'a>| !original.contains_key(key) && !updated.contains_key(key);
    let rivals = dest.iter().any(|(key, e)| changed(key) && is_named(e.1));
    let mut gone = original.iter().filter(|(key, _)| !updated.contains_key(*key) && !dest.contains_key(*key));
    gone.find(|(_, e)| rivals && is_named(e.1)).map(|(_, e)| e.1)
}

/// The changes of a set: values that only updated has are added, values that updated lacks are removed. They cannot conflict. A value that
/// both have gets the comments that changed. If a value repeats, the first one counts.
fn set<'a>(sides: NodeOfSides<'a>) -> Vec<Child<'a>> {
    let values = |side: Option<NodeRef<'a>>| {
        let all = side.into_iter().flat_map(|list| list.elements().map(move |element| (list, element)));
        all.filter_map(|(list, element)| Some((element.scalar()?, (list, element))))
    };
    let firsts = |side: Option<NodeRef<'a>>| {
        let mut firsts = HashMap::new();
        values(side).for_each(|(value, element)| _ = firsts.entry(value).or_insert(element));
        firsts
    };
    let (old, own) = (firsts(sides.original), firsts(sides.dest));
    let placed = |(list, element)| (Place::of_element(list, element), element);
    let mut seen = HashSet::new();
    let mut children = Vec::new();
    for (value, new) in values(sides.updated).filter(|(value, _)| seen.insert(value.clone())) {
        let change = match (old.get(&value), own.get(&value)) {
            (None, _) => Change::patch(Wants::Value(new.1), None),
            (Some(_), None) => continue,
            (Some(old), Some(own)) => Change {
                notes: changed_remarks(placed(*old), placed(*own), placed(new)),
                ..Change::patch(Wants::Same, None)
            },
        };
        if change.asks() {
            children.push(Child { id: ChildId::Value(value), node: Some((None, new.1)), change });
        }
    }
    for (value, _) in values(sides.original).filter(|(value, _)| seen.insert(value.clone())) {
        children.push(Child { id: ChildId::Value(value), node: None, change: Change::patch(Wants::Nothing, None) });
    }
    children
}

/// How a list of original and updated merges, given the elements of all sides.
///
/// # Errors
/// A side has an element that cannot be identified as its type demands.
pub fn kind_of_list<'a, L: Elements<'a>>(
    cursor: Cursor<'a>,
    of: [Option<NodeRef<'a>>; 2],
    sides: &[L],
) -> Result<ListKind<MergeKey<'a>>, Unkeyed> {
    match list_kind(cursor, sides)? {
        ListKind::Map(keys) => unique(&keys, of).map(|()| ListKind::Map(keys)),
        kind => Ok(kind),
    }
}

/// Checks that original and updated have each key only once. Otherwise it is unclear which of two elements became which.
fn unique<'a>(keys: &[MergeKey<'a>], sides: [Option<NodeRef<'a>>; 2]) -> Result<(), Unkeyed> {
    for (side, name) in sides.into_iter().zip(["original", "updated"]) {
        let mut seen = HashSet::new();
        for (i, element) in side.into_iter().flat_map(NodeRef::elements).enumerate() {
            if element_key(element, keys).is_some_and(|k| !seen.insert(k)) {
                return Err(Unkeyed::Element(format!("element [{i}] of {name} repeats a merge key")));
            }
        }
    }
    Ok(())
}
