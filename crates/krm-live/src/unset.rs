//! Values of a live object that nobody but the applier set: the server's defaults, and what the server made of what was applied. They must
//! neither conflict with the files, nor look like changes, nor outlive the fields around them.
//!
//! The server writes a quantity in its shortest form, a time in UTC, base64 on one line, and defaults into elements of lists. `managedFields`
//! show that nobody else set such a value, so nothing here knows how the server writes. Original gets the live value at such a place, and so
//! does updated if the files say what was applied. What the files say otherwise is sent, and a dry run says whether it is another value.
//!
//! A default is in the live object but not in the applied state, so it looks as if someone had added it. If the files mention the field, it is
//! added to original. Otherwise it is left alone. If the files exclude a field, because they choose another member of its union, the field
//! is removed. If someone else set it, that is a conflict.
//!
//! A null of original or of the files at a field that is not there says nothing, and neither does one that was applied and is still in the
//! files.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, ListKind, Types, builtin, list_kind};
use krm_tree::child::{MergeKey, by_keys, element_key};
use krm_yaml::{Document, NodeRef, same};
use serde_json::{Map, Value};

use crate::defaults::{completed, is_left_out};
use crate::object::{Object, value};
use crate::openapi::Schema;
use crate::owners::{HeldFields, Owners};
use crate::union;

/// Original and updated, adjusted for values that nobody set.
#[derive(Debug)]
pub struct Settled {
    /// The applied state, as the server has it where nobody set anything since, with the values that nobody set and that the files mention.
    pub original: Option<Object>,
    /// The state in the files, as the server has it where it is the applied one, with a null for each field that the files exclude.
    pub updated: Object,
}

/// What is known of a type.
#[derive(Clone, Copy)]
pub struct OfType<'t> {
    pub types: &'t Types<'t>,
    pub schema: Option<Schema<'t>>,
}

/// Adjusts original and updated for values that nobody set in the live object.
///
/// # Errors
/// The objects cannot be compared.
pub fn settled(
    dest: &Object,
    original: Option<&Object>,
    updated: &Object,
    owners: &Owners,
    of_type: OfType<'_>,
) -> Result<Settled> {
    // Most objects are as they were applied, and need no closer look.
    let is_unchanged = original == Some(updated) && owners.root().is_as_applied();
    if is_unchanged && is_there(&updated.clone().into_json(), &dest.clone().into_json()) {
        return Ok(Settled { original: Some(dest.clone()), updated: dest.clone() });
    }
    let types = of_type.types;
    let live = Document::parse(dest.yaml())?;
    let is_builtin = builtin::root(dest.api_version(), dest.kind()).is_some();
    let cursor = types.root(dest.api_version(), dest.kind(), Mode::ThreeWay);
    let keyed = |object: &Object| -> Result<Object> {
        let text = Document::parse(object.yaml())?;
        let root = text.roots().next().filter(|_| is_builtin && object.has_nothing());
        let object =
            root.map_or_else(|| Ok(object.clone()), |root| without_empty_keys(root, cursor).map(Object::live))?;
        completed(&object, dest, types, of_type.schema)
    };
    let original = original.map(keyed).transpose()?;
    let updated = keyed(updated)?;
    let chosen = {
        let said = Document::parse(updated.yaml())?;
        let map = union::Map { kind: dest.kind(), name: "", cursor };
        match (live.roots().next(), said.roots().next()) {
            (Some(live), Some(said)) if is_builtin && original.is_some() => {
                Object::live(without_ruled_out(said, live, map)?)
            }
            _ => updated,
        }
    };
    let Some(original) = original else { return Ok(Settled { original, updated: chosen }) };
    let texts = [Document::parse(original.yaml())?, Document::parse(chosen.yaml())?];
    let [applied, said] = texts.each_ref().map(|text| text.roots().next());
    let Some(live) = live.roots().next() else { return Ok(Settled { original: Some(original), updated: chosen }) };
    let place = PlaceOfStates { live, applied, said, cursor, held: owners.root(), name: "", is_builtin };
    let both = place.both()?;
    let [original, updated] =
        [(both.original, original), (both.updated, chosen)].map(|(found, before)| found.map_or(before, Object::live));
    Ok(Settled { original: Some(original), updated })
}

/// Whether a live value has each field and element that was applied, whatever its value.
fn is_there(applied: &Value, live: &Value) -> bool {
    match (applied, live) {
        (Value::Object(applied), Value::Object(live)) => applied
            .iter()
            .all(|(name, applied)| applied.is_null() || live.get(name).is_some_and(|live| is_there(applied, live))),
        (Value::Array(applied), Value::Array(live)) => {
            applied.len() == live.len() && applied.iter().zip(live).all(|(applied, live)| is_there(applied, live))
        }
        (applied, live) => [applied, live].into_iter().all(|value| !value.is_object() && !value.is_array()),
    }
}

/// A place in a live object, in all three states.
struct PlaceOfStates<'a, 'o> {
    live: NodeRef<'a>,
    applied: Option<NodeRef<'a>>,
    said: Option<NodeRef<'a>>,
    cursor: Cursor<'a>,
    held: HeldFields<'o>,
    /// The name of the field; for an element, of its list.
    name: &'a str,
    is_builtin: bool,
}

/// The values that original and updated get at a place.
#[derive(Default)]
struct Both {
    original: Option<Value>,
    updated: Option<Value>,
}

impl Both {
    fn same(value: Value) -> Self {
        Self { original: Some(value.clone()), updated: Some(value) }
    }

    /// Original, where the files say nothing.
    fn of(original: Option<Value>) -> Self {
        Self { original, updated: None }
    }
}

impl<'a> PlaceOfStates<'a, '_> {
    fn field(&self, name: &'a str, live: NodeRef<'a>) -> Self {
        let [applied, said] = self.states(name);
        let cursor = self.cursor.child(name, [Some(live), applied, said].into_iter().flatten());
        Self { live, applied, said, cursor, held: self.held.field(name), name, ..*self }
    }

    /// What was applied to a field, and what the files say of it.
    fn states(&self, name: &str) -> [Option<NodeRef<'a>>; 2] {
        let [applied, said] = [self.applied, self.said].map(|node| node.and_then(|node| node.get(name)));
        let is_cleared = applied.is_some_and(NodeRef::is_null);
        [applied.filter(|_| !is_cleared), said.filter(|said| !(is_cleared && said.is_null()))]
    }

    fn both(&self) -> Result<Both> {
        let said = self.said.filter(|said| !said.is_null());
        Ok(match (self.applied, said) {
            // Neither the applied state nor the files mention the place.
            (None, None) if self.said.is_none() => Both::default(),
            (_, None) => Both { original: self.dropped()?, updated: self.said.map(value).transpose()? },
            (_, Some(said)) if said.is_map() && self.live.is_map() && self.is_applied_as(NodeRef::is_map) => {
                self.map(|place| place.both())?
            }
            (_, Some(said))
                if said.is_list()
                    && self.live.is_list()
                    && self.is_applied_as(NodeRef::is_list)
                    && !self.keys().is_empty() =>
            {
                self.elements(|place| place.both())?
            }
            (Some(applied), Some(said)) if same(applied, said) => Both::same(self.as_the_server_has_it(applied)?),
            (_, Some(said)) => Both { original: self.whole()?, updated: Some(value(said)?) },
        })
    }

    /// The value for a place that the files drop. A null in the files clears the whole value. If someone else set a part of it, that is a
    /// conflict of the whole value.
    fn dropped(&self) -> Result<Option<Value>> {
        let whole = self.whole()?;
        let is_cleared = self.said.is_some() && self.live.is_map();
        Ok(if is_cleared && whole != Some(value(self.live)?) { None } else { whole })
    }

    fn is_applied_as(&self, kind: impl Fn(NodeRef<'a>) -> bool) -> bool {
        self.applied.is_none_or(kind)
    }

    /// The applied value, with everything that nobody set.
    fn whole(&self) -> Result<Option<Value>> {
        let all = |place: &Self| Ok(Both::of(place.whole()?));
        match self.applied {
            None => self.unset(),
            Some(_) if self.held.is_ours() => value(self.live).map(Some),
            Some(applied) if applied.is_map() && self.live.is_map() => Ok(self.map(all)?.original),
            Some(applied) if applied.is_list() && self.live.is_list() && !self.keys().is_empty() => {
                Ok(self.elements(all)?.original)
            }
            Some(applied) => self.as_the_server_has_it(applied).map(Some),
        }
    }

    /// The applied value in the server's form, if nobody else set it, or if it has only what the server does not keep beside the live value.
    fn as_the_server_has_it(&self, applied: NodeRef<'a>) -> Result<Value> {
        let live = value(self.live)?;
        if self.held.is_as_applied() {
            return Ok(live);
        }
        let applied = value(applied)?;
        let is_kept = self.is_builtin && kept(self.name, &applied) == kept(self.name, &live);
        Ok(if is_kept { live } else { applied })
    }

    /// The part of the live value that nobody set.
    fn unset(&self) -> Result<Option<Value>> {
        if self.held.is_ours() {
            return value(self.live).map(Some);
        }
        let found = if self.live.is_map() { self.map(|place| Ok(Both::of(place.whole()?)))?.original } else { None };
        Ok(found.filter(|found| found.as_object().is_some_and(|map| !map.is_empty())))
    }

    /// A map: fields that are gone, and each field of the live object. The fields have the order of the files, because kubectl's note has
    /// another order, which is not a change.
    fn map(&self, of: impl Fn(&Self) -> Result<Both>) -> Result<Both> {
        let (mut original, mut updated) = (Map::new(), Map::new());
        let mut seen = HashSet::new();
        for (key, _) in [self.said, self.applied, Some(self.live)].into_iter().flatten().flat_map(NodeRef::fields) {
            let name = key.string();
            if !seen.insert(name) {
                continue;
            }
            let both = match self.live.get(name) {
                Some(live) => of(&self.field(name, live))?,
                None => self.gone(name)?,
            };
            original.extend(both.original.map(|value| (name.to_owned(), value)));
            updated.extend(both.updated.map(|value| (name.to_owned(), value)));
        }
        let is_there = self.applied.is_some() || !original.is_empty() || self.held.is_ours();
        Ok(Both { original: is_there.then_some(original.into()), updated: Some(updated.into()) })
    }

    /// What was applied and what the files say of a field that the live object lacks. What the server does not keep is no change.
    fn gone(&self, name: &str) -> Result<Both> {
        let states = self.states(name).map(|node| node.filter(|node| !node.is_null()));
        let is_left_out = |value: &Value| self.is_builtin && is_left_out(self.name, name, value);
        let [original, updated] = states.map(|node| node.map(value).transpose());
        let [original, updated] = [original?, updated?];
        Ok(match original == updated {
            true => original.filter(|value| !is_left_out(value)).map_or_else(Both::default, Both::same),
            // TODO: the server fills some empty maps, such as `behavior: {}`. A dry run would say so.
            false => {
                let [original, updated] = [original, updated].map(|value| value.filter(|value| !is_left_out(value)));
                Both { original, updated }
            }
        })
    }

    /// A list with keys: original has the applied elements and then those of the live object, updated those of the files, in their order.
    fn elements(&self, what: impl Fn(&Self) -> Result<Both>) -> Result<Both> {
        let keys = self.keys();
        let of = |list: Option<NodeRef<'a>>| list.map(|list| by_keys(list, &keys)).unwrap_or_default();
        let [of_live, of_applied, of_said] = [Some(self.live), self.applied, self.said].map(of);
        let lists = [self.applied, Some(self.live), self.said].into_iter().flatten();
        let mut seen = HashSet::new();
        let all = lists.flat_map(NodeRef::elements).filter_map(|element| element_key(element, &keys));
        let (mut original, mut updated) = (Vec::new(), HashMap::new());
        for key in all.filter(|key| seen.insert(key.clone())) {
            let [applied, said] = [&of_applied, &of_said].map(|all| all.get(&key).copied());
            let both = match of_live.get(&key) {
                Some(live) => what(&self.element(*live, applied, said)?)?,
                None => Both { original: applied.map(value).transpose()?, updated: said.map(value).transpose()? },
            };
            original.extend(both.original);
            updated.extend(both.updated.map(|value| (key, value)));
        }
        let said = self.said.into_iter().flat_map(NodeRef::elements).filter_map(|element| element_key(element, &keys));
        let updated: Vec<Value> = said.filter_map(|key| updated.remove(&key)).collect();
        let is_there = self.applied.is_some() || !original.is_empty() || self.held.is_ours();
        Ok(Both { original: is_there.then_some(original.into()), updated: Some(updated.into()) })
    }

    fn element(&self, live: NodeRef<'a>, applied: Option<NodeRef<'a>>, said: Option<NodeRef<'a>>) -> Result<Self> {
        Ok(Self { live, applied, said, held: self.held.element(&value(live)?), ..*self })
    }

    /// The merge keys of a list; empty if an element lacks one.
    fn keys(&self) -> Vec<MergeKey<'a>> {
        let lists: Vec<Vec<NodeRef<'a>>> = [Some(self.live), self.applied, self.said]
            .into_iter()
            .flatten()
            .map(|list| list.elements().collect())
            .collect();
        match list_kind(self.cursor, &lists) {
            Ok(ListKind::Map(keys)) if lists.iter().flatten().all(|e| element_key(*e, &keys).is_some()) => keys,
            _ => Vec::new(),
        }
    }
}

/// A value without the fields that the server does not keep. `parent` is the name of the field that has the value.
fn kept(parent: &str, value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let fields = map.iter().map(|(name, value)| (name.clone(), kept(name, value)));
            fields.filter(|(name, value)| !is_left_out(parent, name, value)).collect::<Map<_, _>>().into()
        }
        Value::Array(list) => list.iter().map(|element| kept(parent, element)).collect::<Vec<_>>().into(),
        value => value.clone(),
    }
}

/// The state in the files, with a null for each field of the live object that the files exclude.
fn without_ruled_out<'a>(said: NodeRef<'a>, live: NodeRef<'a>, map: union::Map<'a>) -> Result<Value> {
    if said.is_map() && live.is_map() {
        let mut out = Map::new();
        for (key, child) in said.fields() {
            let name = key.string();
            let kept = match live.get(name) {
                Some(live) => {
                    let cursor = map.cursor.child(name, [child, live]);
                    without_ruled_out(child, live, union::Map { name, cursor, ..map })?
                }
                None => value(child)?,
            };
            out.insert(name.to_owned(), kept);
        }
        for (key, _) in live.fields().filter(|(key, child)| !child.is_null() && map.rules_out(said, live, key.string()))
        {
            out.insert(key.string().to_owned(), Value::Null);
        }
        return Ok(Value::Object(out));
    }
    if said.is_list() && live.is_list() {
        let lists: [Vec<NodeRef<'a>>; 2] = [said.elements().collect(), live.elements().collect()];
        let Ok(ListKind::Map(keys)) = list_kind(map.cursor, &lists) else { return value(said) };
        let of_live = by_keys(live, &keys);
        let elements = lists[0].iter().map(|element| {
            let partner = element_key(*element, &keys).and_then(|key| of_live.get(&key));
            partner.map_or_else(|| value(*element), |partner| without_ruled_out(*element, *partner, map))
        });
        return elements.collect::<Result<Vec<_>>>().map(Value::Array);
    }
    value(said)
}

/// A value without the merge keys that are null or an empty text and that have a default. The server takes both for a missing key.
fn without_empty_keys<'a>(node: NodeRef<'a>, cursor: Cursor<'a>) -> Result<Value> {
    if node.is_map() {
        let fields = node.fields().map(|(key, child)| {
            let name = key.string();
            Ok((name.to_owned(), without_empty_keys(child, cursor.child(name, [child]))?))
        });
        return Ok(Value::Object(fields.collect::<Result<_>>()?));
    }
    if !node.is_list() {
        return value(node);
    }
    let list: Vec<NodeRef<'a>> = node.elements().collect();
    let keys = match list_kind(cursor, &[list]) {
        Ok(ListKind::Map(keys)) => keys,
        _ => Vec::new(),
    };
    let is_empty = |value: &Value| value.is_null() || *value == "";
    let elements = node.elements().map(|element| {
        let mut element = without_empty_keys(element, cursor)?;
        if let Some(map) = element.as_object_mut() {
            let has_default = |name: &str| keys.iter().any(|key| key.name == name && key.default.is_some());
            map.retain(|name, value| !(is_empty(value) && has_default(name)));
        }
        Ok(element)
    });
    Ok(Value::Array(elements.collect::<Result<_>>()?))
}
