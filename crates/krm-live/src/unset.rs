//! Values of a live object that nobody but the applier set: the server's defaults, and what the server made of what was applied. They must
//! neither conflict with the files, nor look like changes, nor outlive the fields around them.
//!
//! The server writes a quantity in its shortest form, a time in UTC, base64 on one line, and defaults into elements of lists. `managedFields`
//! show that nobody else set such a value, so nothing here knows how the server writes. Original gets the live value at such a place, and so
//! does updated if the files say what was applied. What the files say otherwise is sent, and a dry run says whether it is another value.
//!
//! So original is the live object without what someone else made of it, and updated differs from original only where the files differ from
//! what was applied. What the files drop goes with all that nobody set in it. If the files exclude a field, because they choose another member
//! of its union, the field goes, too. If someone else set it, that is a conflict.
//!
//! A null of original or of the files at a field that is not there says nothing, and neither does one that was applied and is still in the
//! files.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, ListKind, Types, builtin, list_kind};
use krm_tree::child::{MergeKey, by_keys, element_key};
use krm_yaml::{Document, NodeRef, same};
use serde_json::{Map, Value, json};

use crate::defaults::{Field, is_left_out};
use crate::object::{Object, value};
use crate::openapi::Schema;
use crate::owners::{HeldFields, Owners};

/// Original and updated, adjusted for values that nobody set.
#[derive(Debug)]
pub struct Settled {
    /// The applied state, as the server has it where nobody set anything since, with the values that nobody set.
    pub original: Option<Object>,
    /// The same with what the files changed, and with a null for each field that the files exclude.
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
    let OfType { types, schema } = of_type;
    let unchanged = || Settled { original: original.cloned(), updated: updated.clone() };
    let Some(original) = original else { return Ok(unchanged()) };
    // Most objects are as they were applied, and need no closer look.
    let is_as_applied = original == updated && owners.root().is_as_applied();
    if is_as_applied && is_there(&updated.clone().into_json(), &dest.clone().into_json()) {
        return Ok(Settled { original: Some(dest.clone()), updated: dest.clone() });
    }
    let texts = [Document::parse(dest.yaml())?, Document::parse(original.yaml())?, Document::parse(updated.yaml())?];
    let [live, applied, said] = texts.each_ref().map(|text| text.roots().next());
    let is_builtin = builtin::root(dest.api_version(), dest.kind()).is_some();
    let cursor = types.root(dest.api_version(), dest.kind(), Mode::ThreeWay);
    let of = Of { kind: dest.kind(), is_builtin };
    let Both { original, updated } = {
        let root = Place { live, applied, said, cursor, held: owners.root(), schema, parent: "", name: "", of };
        root.both()?
    };
    Ok(original.zip(updated).map_or_else(unchanged, |(original, updated)| Settled {
        original: Some(Object::live(original)),
        updated: Object::live(updated),
    }))
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

/// The type of an object.
#[derive(Clone, Copy)]
struct Of<'a> {
    kind: &'a str,
    is_builtin: bool,
}

impl Of<'_> {
    /// Whether a live value only adds something to another one: nothing that was applied, except what the server sets by itself. `name` is
    /// the field that has the value.
    fn only_adds(self, name: &str, [said, live, applied]: [&Value; 3], schema: Option<Schema<'_>>) -> bool {
        let parent = name;
        match (said, live) {
            (Value::Object(map), Value::Object(found)) => {
                let field = |name: &str| schema.and_then(|schema| schema.field(name));
                let is_there = |(name, said): (&String, &Value)| match found.get(name) {
                    Some(live) => self.only_adds(name, [said, live, &applied[name]], field(name)),
                    None => said.is_null() || self.leaves_out(parent, name, said),
                };
                let is_added = |(name, value): (&String, &Value)| {
                    map.contains_key(name)
                        || applied[name].is_null()
                        || self.sets([parent, name], value, Some([said, live]), field(name))
                };
                map.iter().all(is_there) && found.iter().all(is_added)
            }
            (Value::Array(list), Value::Array(found)) => {
                let items = schema.and_then(Schema::items);
                let mut pairs = list.iter().zip(found).enumerate();
                list.len() == found.len()
                    && pairs.all(|(at, (said, live))| self.only_adds(name, [said, live, &applied[at]], items))
            }
            _ => said == live,
        }
    }

    /// Whether the server sets a field to this value by itself. `maps` are the map that has the field, as the files say it and as it is live.
    fn sets(
        self,
        [parent, name]: [&str; 2],
        found: &Value,
        maps: Option<[&Value; 2]>,
        schema: Option<Schema<'_>>,
    ) -> bool {
        let in_map = |map: &Value| Field { kind: self.kind, parent, name, map }.defaults_to(found);
        schema.is_some_and(|schema| schema.defaults_to(found))
            || self.is_builtin && maps.is_some_and(|maps| maps.into_iter().all(in_map))
    }

    /// Whether the server does not keep a field with this value.
    fn leaves_out(self, parent: &str, name: &str, value: &Value) -> bool {
        self.is_builtin && is_left_out(parent, name, value)
    }
}

/// A place in the three states of an object.
struct Place<'a, 'o> {
    live: Option<NodeRef<'a>>,
    /// What was applied, and what the files say.
    applied: Option<NodeRef<'a>>,
    said: Option<NodeRef<'a>>,
    cursor: Cursor<'a>,
    held: HeldFields<'o>,
    schema: Option<Schema<'a>>,
    /// The name of the map that has the field; for an element, of the map that has the list.
    parent: &'a str,
    /// The name of the field; for an element, of its list.
    name: &'a str,
    of: Of<'a>,
}

/// The values that original and updated get at a place.
#[derive(Default)]
struct Both {
    original: Option<Value>,
    updated: Option<Value>,
}

impl Both {
    fn same(value: Option<Value>) -> Self {
        Self { original: value.clone(), updated: value }
    }
}

impl<'a> Place<'a, '_> {
    /// The place in each state that has it. Fields have the order of the files, because that of kubectl's note is no change.
    fn states(&self) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        [self.said, self.applied, self.live].into_iter().flatten()
    }

    fn both(&self) -> Result<Both> {
        let is_each = |is: fn(NodeRef<'a>) -> bool| self.live.is_some() && self.states().all(is);
        let keys = if is_each(NodeRef::is_list) { self.keys() } else { Vec::new() };
        let found = if is_each(NodeRef::is_map) && !(self.applied.is_none() && self.is_there()?) {
            self.map()?
        } else if !keys.is_empty() {
            self.elements(&keys)?
        } else {
            self.whole()?
        };
        // What the files drop goes with all that nobody set in it.
        Ok(if self.applied.is_some() && self.said.is_none() { Both { updated: None, ..found } } else { found })
    }

    /// Whether the live value is what the files say, with nothing in it that they drop: then there is nothing to send.
    fn is_there(&self) -> Result<bool> {
        let [live, applied, said] = self.values()?;
        let states = said.zip(live).map(|(said, live)| [said, live, applied.unwrap_or_default()]);
        Ok(states.is_some_and(|states| self.of.only_adds(self.name, states.each_ref(), self.schema)))
    }

    fn values(&self) -> Result<[Option<Value>; 3]> {
        let [live, applied, said] = [self.live, self.applied, self.said].map(|node| node.map(value).transpose());
        Ok([live?, applied?, said?])
    }

    /// A value into which nothing looks.
    fn whole(&self) -> Result<Both> {
        let [live, applied, said] = self.values()?;
        let is_unset = match applied.as_ref().zip(live.as_ref()) {
            Some((applied, live)) => {
                self.held.is_as_applied() || self.of.only_adds(self.name, [applied, live, &Value::Null], self.schema)
            }
            None => self.held.is_ours(),
        };
        let is_said = self.applied.zip(self.said).is_some_and(|(applied, said)| same(applied, said));
        let original = live.clone().filter(|_| is_unset).or(applied);
        let updated = match said {
            Some(_) if is_said => original.clone(),
            Some(_) if self.is_there()? => live,
            Some(said) => Some(said),
            None => original.clone(),
        };
        // What the server leaves out, nobody removed. What is new is sent: the server fills some empty maps.
        let is_new = original != updated && self.held.owners_of_this().next().is_none();
        // Nulls remove fields, so nothing is left of a map of them.
        let is_nothing = |value: &Value| match value.as_object() {
            Some(map) if !map.is_empty() => map.values().all(Value::is_null),
            _ => self.of.leaves_out(self.parent, self.name, value),
        };
        let is_kept = |value: &Value| self.live.is_some() || !is_nothing(value);
        Ok(Both { original: original.filter(is_kept), updated: updated.filter(|value| is_new || is_kept(value)) })
    }

    fn map(&self) -> Result<Both> {
        let (mut original, mut updated) = (Map::new(), Map::new());
        let mut seen = HashSet::new();
        let (chosen, beside) = (self.chosen(), self.beside()?);
        for name in self.states().flat_map(NodeRef::fields).map(|(key, _)| key.string()) {
            if !seen.insert(name) {
                continue;
            }
            let place = self.field(name);
            let is_dropped = self.said.is_some() && place.said.is_none();
            let both = if self.rules_out(name, &chosen) {
                place.ruled_out()?
            } else if is_dropped && (place.applied.is_none() || place.is_set_beside(beside.as_ref())?) {
                // What nobody mentions stays, and so does what the server would set again.
                Both::same(place.live.map(value).transpose()?)
            } else {
                place.both()?
            };
            original.extend(both.original.map(|value| (name.to_owned(), value)));
            updated.extend(both.updated.map(|value| (name.to_owned(), value)));
        }
        Ok(self.found(original.into(), updated.into()))
    }

    /// What the files say of this map, and the live map, if the files drop a field whose default may depend on the other fields.
    fn beside(&self) -> Result<Option<[Value; 2]>> {
        let Some((said, live)) = self.said.zip(self.live).filter(|_| self.of.is_builtin) else { return Ok(None) };
        let mut applied = self.applied.into_iter().flat_map(NodeRef::fields);
        match applied.any(|(key, _)| said.get(key.string()).is_none()) {
            true => Ok(Some([value(said)?, value(live)?])),
            false => Ok(None),
        }
    }

    /// Whether the server sets this field by itself. `beside` has the map around it, as the files say it and as it is live.
    fn is_set_beside(&self, beside: Option<&[Value; 2]>) -> Result<bool> {
        let Some(live) = self.live.map(value).transpose()? else { return Ok(false) };
        Ok(self.of.sets([self.parent, self.name], &live, beside.map(<[Value; 2]>::each_ref), self.schema))
    }

    fn field(&self, name: &'a str) -> Self {
        let [live, applied, said] = [self.live, self.applied, self.said].map(|node| node.and_then(|n| n.get(name)));
        let is_cleared = applied.is_some_and(NodeRef::is_null);
        let says_nothing = said.is_some_and(NodeRef::is_null) && (is_cleared || live.is_none());
        let (applied, said) = (applied.filter(|_| !is_cleared), said.filter(|_| !says_nothing));
        let cursor = self.cursor.child(name, [live, applied, said].into_iter().flatten());
        let schema = self.schema.and_then(|schema| schema.field(name));
        Self { live, applied, said, cursor, held: self.held.field(name), schema, parent: self.name, name, of: self.of }
    }

    /// Whether the files exclude a field of this map, which they do not mention: they choose another member of its union. The server refuses
    /// the fields of both. For what the value of a field excludes, no schema says so. Source: the validation of Deployments and StatefulSets.
    ///
    /// `chosen` are the fields that the files set in this map.
    fn rules_out(&self, name: &str, chosen: &[&str]) -> bool {
        let Some((said, live)) = self.said.zip(self.live).filter(|_| self.of.is_builtin) else { return false };
        if said.get(name).is_some() || live.get(name).is_none() {
            return false;
        }
        let mut groups = self.cursor.alternatives(self.name).filter(|group| group.has(name));
        let is_rolling = name == "rollingUpdate" && ["strategy", "updateStrategy"].contains(&self.name);
        let is_of_another = said.get("type").and_then(NodeRef::as_str).is_some_and(|chosen| chosen != "RollingUpdate");
        groups.any(|group| chosen.iter().any(|name| group.has(name))) || is_rolling && is_of_another
    }

    /// The fields that the files set in this map.
    fn chosen(&self) -> Vec<&'a str> {
        let all = self.said.into_iter().flat_map(NodeRef::fields);
        all.filter(|(_, value)| !value.is_null()).map(|(key, _)| key.string()).collect()
    }

    /// A field that the files exclude. If someone else set a part of it, that is a conflict of the whole value.
    fn ruled_out(&self) -> Result<Both> {
        let live = self.live.map(value).transpose()?;
        Ok(Both {
            original: self.both()?.original.filter(|own| Some(own) == live.as_ref()),
            updated: Some(Value::Null),
        })
    }

    /// A list with keys.
    fn elements(&self, keys: &[MergeKey<'a>]) -> Result<Both> {
        let of = |list: Option<NodeRef<'a>>| list.map(|list| by_keys(list, keys)).unwrap_or_default();
        let [of_live, of_applied, of_said] = [self.live, self.applied, self.said].map(of);
        let (mut original, mut updated) = (Vec::new(), HashMap::new());
        let mut seen = HashSet::new();
        let lists = [self.applied, self.live, self.said].into_iter().flatten();
        let all = lists.flat_map(NodeRef::elements).filter_map(|element| element_key(element, keys));
        for key in all.filter(|key| seen.insert(key.clone())) {
            let [live, applied, said] = [&of_live, &of_applied, &of_said].map(|all| all.get(&key).copied());
            if self.said.is_some() && applied.or(said).is_none() {
                continue;
            }
            let now = live.map(value).transpose()?.unwrap_or_default();
            let (held, schema) = (self.held.element(&now), self.schema.and_then(Schema::items));
            let mut both = Self { live, applied, said, held, schema, ..*self }.both()?;
            // To the server, a key that is empty or not there is one with its default.
            for element in
                [&mut both.original, &mut both.updated].into_iter().flatten().filter_map(Value::as_object_mut)
            {
                let known = keys.iter().filter_map(|key| Some((key.name.to_owned(), now.get(key.name)?.clone())));
                element.extend(known);
            }
            original.extend(both.original);
            updated.extend(both.updated.map(|value| (key, value)));
        }
        let said = self.said.into_iter().flat_map(NodeRef::elements).filter_map(|element| element_key(element, keys));
        let updated: Vec<Value> = said.filter_map(|key| updated.remove(&key)).collect();
        Ok(self.found(original.into(), updated.into()))
    }

    /// What is found of a map or list. If it was not applied, it is there with what nobody set in it.
    fn found(&self, original: Value, updated: Value) -> Both {
        let is_there = self.applied.is_some() || self.held.is_ours() || original != json!({}) && original != json!([]);
        let original = is_there.then_some(original);
        Both { updated: if self.said.is_some() { Some(updated) } else { original.clone() }, original }
    }

    /// The merge keys of a list; empty if an element lacks one.
    fn keys(&self) -> Vec<MergeKey<'a>> {
        let lists: Vec<Vec<NodeRef<'a>>> = self.states().map(|list| list.elements().collect()).collect();
        match list_kind(self.cursor, &lists) {
            Ok(ListKind::Map(keys)) if lists.iter().flatten().all(|e| element_key(*e, &keys).is_some()) => keys,
            _ => Vec::new(),
        }
    }
}
