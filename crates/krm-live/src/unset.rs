//! Values that nobody set in a live object, such as the server's defaults. They must neither conflict with the files, nor outlive the
//! fields around them.
//!
//! A default is in the live object but not in the applied state, so it looks as if someone had added it. `managedFields` shows that nobody
//! did. If the files mention the field, it is added to original. Then the files change or remove a value that both sides had before.
//! Otherwise it is left alone. If the files exclude a field, because they choose another member of its union, the field is removed. If
//! someone else set it, that is a conflict.

use anyhow::Result;
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, ListKind, Types, builtin, list_kind};
use krm_tree::child::{MergeKey, by_keys, element_key};
use krm_yaml::{Document, NodeRef, same};
use serde_json::{Map, Value};

use crate::object::{Object, value};
use crate::owners::{HeldFields, Owners};
use crate::union;

/// Original and updated, adjusted for values that nobody set.
#[derive(Debug)]
pub struct Settled {
    /// The applied state, with the values that nobody set and that the files mention.
    pub original: Object,
    /// The state in the files, with a null for each field that the files exclude.
    pub updated: Object,
}

/// Adjusts original and updated for values that nobody set in the live object.
///
/// # Errors
/// The objects cannot be compared.
pub fn settled(
    dest: &Object,
    original: &Object,
    updated: &Object,
    owners: &Owners,
    types: &Types<'_>,
) -> Result<Settled> {
    let dest_text = Document::parse(dest.yaml())?;
    let Some(live) = dest_text.roots().next() else { return unchanged(original, updated) };
    let chosen = {
        let said = Document::parse(updated.yaml())?;
        let Some(said) = said.roots().next() else { return unchanged(original, updated) };
        let is_builtin = builtin::root(dest.api_version(), dest.kind()).is_some();
        let cursor = types.root(dest.api_version(), dest.kind(), Mode::ThreeWay);
        let map = union::Map { kind: dest.kind(), name: "", cursor };
        if is_builtin { Object::live(without_ruled_out(said, live, map)?) } else { updated.clone() }
    };
    let texts = [Document::parse(original.yaml())?, Document::parse(chosen.yaml())?];
    let [applied, said] = texts.each_ref().map(|text| text.roots().next());
    let cursor = types.root(dest.api_version(), dest.kind(), Mode::ThreeWay);
    let place = PlaceOfStates { live, applied, said, cursor, held: owners.root() };
    let original = place.original()?.map_or_else(|| original.clone(), Object::live);
    Ok(Settled { original, updated: chosen })
}

fn unchanged(original: &Object, updated: &Object) -> Result<Settled> {
    Ok(Settled { original: original.clone(), updated: updated.clone() })
}

/// A place in a live object, in all three states.
struct PlaceOfStates<'a, 'o> {
    live: NodeRef<'a>,
    applied: Option<NodeRef<'a>>,
    said: Option<NodeRef<'a>>,
    cursor: Cursor<'a>,
    held: HeldFields<'o>,
}

impl<'a> PlaceOfStates<'a, '_> {
    fn field(&self, name: &str, live: NodeRef<'a>) -> Self {
        let [applied, said] = [self.applied, self.said].map(|node| node.and_then(|node| node.get(name)));
        let cursor = self.cursor.child(name, [Some(live), applied, said].into_iter().flatten());
        Self { live, applied, said, cursor, held: self.held.field(name) }
    }

    /// The value that original gets at this place.
    fn original(&self) -> Result<Option<Value>> {
        let said = self.said.filter(|said| !said.is_null());
        match (self.applied, said) {
            // Neither the applied state nor the files mention the place.
            (None, None) if self.said.is_none() => Ok(None),
            (_, None) => self.dropped(),
            (_, Some(said)) if said.is_map() && self.live.is_map() && self.is_applied_as(NodeRef::is_map) => {
                self.map(|place| place.original())
            }
            (_, Some(said)) if said.is_list() && self.live.is_list() && self.is_applied_as(NodeRef::is_list) => {
                self.list(said)
            }
            (Some(applied), Some(said)) if same(applied, said) => value(applied).map(Some),
            (Some(applied), _) if !applied.is_container() => value(applied).map(Some),
            _ => self.whole(),
        }
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

    fn list(&self, said: NodeRef<'a>) -> Result<Option<Value>> {
        if !self.keys().is_empty() {
            return self.elements(|place| place.original());
        }
        match self.applied {
            Some(applied) if same(applied, said) => value(applied).map(Some),
            _ => self.whole(),
        }
    }

    /// The applied value, with everything that nobody set.
    fn whole(&self) -> Result<Option<Value>> {
        match self.applied {
            None => self.unset(),
            Some(applied) if applied.is_map() && self.live.is_map() => self.map(|place| place.whole()),
            Some(applied) if applied.is_list() && self.live.is_list() => {
                let lists: [Vec<NodeRef<'a>>; 2] = [applied.elements().collect(), self.live.elements().collect()];
                if !self.keys().is_empty() {
                    return self.elements(|place| place.whole());
                }
                if lists[0].len() != lists[1].len() {
                    return value(applied).map(Some);
                }
                let pairs = lists[0].iter().zip(&lists[1]);
                let elements = pairs.map(|(applied, live)| self.element(*live, Some(*applied), None)?.whole());
                Ok(Some(elements.filter_map(Result::transpose).collect::<Result<Vec<_>>>()?.into()))
            }
            Some(applied) => value(applied).map(Some),
        }
    }

    /// The part of the live value that nobody set.
    fn unset(&self) -> Result<Option<Value>> {
        if self.held.is_ours() {
            return value(self.live).map(Some);
        }
        let found = if self.live.is_map() { self.map(|place| place.whole())? } else { None };
        Ok(found.filter(|found| found.as_object().is_some_and(|map| !map.is_empty())))
    }

    /// A map: applied fields that are gone, and each field of the live object. The fields have the order of the files, because kubectl's
    /// note has another order, which is not a change.
    fn map(&self, of: impl Fn(&Self) -> Result<Option<Value>>) -> Result<Option<Value>> {
        let mut out = Map::new();
        for (key, _) in [self.said, self.applied, Some(self.live)].into_iter().flatten().flat_map(NodeRef::fields) {
            let name = key.string();
            if out.contains_key(name) {
                continue;
            }
            let found = match (self.live.get(name), self.applied.and_then(|applied| applied.get(name))) {
                (Some(live), _) => of(&self.field(name, live))?,
                (None, Some(applied)) => Some(value(applied)?),
                (None, None) => None,
            };
            out.extend(found.map(|found| (name.to_owned(), found)));
        }
        let is_there = self.applied.is_some() || !out.is_empty() || self.held.is_ours();
        Ok(is_there.then_some(Value::Object(out)))
    }

    /// A list with keys: applied elements that are gone, and each element of the live object.
    fn elements(&self, what: impl Fn(&Self) -> Result<Option<Value>>) -> Result<Option<Value>> {
        let keys = self.keys();
        let of = |list: Option<NodeRef<'a>>| list.map(|list| by_keys(list, &keys)).unwrap_or_default();
        let [of_live, of_applied, of_said] = [Some(self.live), self.applied, self.said].map(of);
        let mut out = Vec::new();
        for applied in self.applied.into_iter().flat_map(NodeRef::elements) {
            let Some(key) = element_key(applied, &keys) else { continue };
            out.extend(match of_live.get(&key) {
                Some(live) => what(&self.element(*live, Some(applied), of_said.get(&key).copied())?)?,
                None => Some(value(applied)?),
            });
        }
        for live in self.live.elements() {
            let Some(key) = element_key(live, &keys).filter(|key| !of_applied.contains_key(key)) else { continue };
            out.extend(what(&self.element(live, None, of_said.get(&key).copied())?)?);
        }
        let is_there = self.applied.is_some() || !out.is_empty() || self.held.is_ours();
        Ok(is_there.then_some(Value::Array(out)))
    }

    fn element(&self, live: NodeRef<'a>, applied: Option<NodeRef<'a>>, said: Option<NodeRef<'a>>) -> Result<Self> {
        Ok(Self { live, applied, said, cursor: self.cursor, held: self.held.element(&value(live)?) })
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
