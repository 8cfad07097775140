//! Where kubectl disagrees with what holds here, each disagreement by name.
//!
//! A disagreement is more than a licence to differ. For most of them the same patch can be said in words that kubectl understands
//! alike: `null` for a map with `$patch: delete`, one key for two. [`Plain`] is the patch in those words, and what kubectl makes of
//! that is what the function must make of the patch as it was written. For the rest kubectl takes what must be refused here.

use std::collections::BTreeSet;

use krm_schema::schema::ListKind;
use krm_schema::schema::builtin::{self, FieldRef, Strategy, TypeRef};
use serde_json::{Map, Value, json};

use crate::equal;

/// A disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// kubectl writes a null that meant "clear" into what it takes over whole: a new element of a list, a replaced map or list.
    LeakedNull,
    /// So it does with directives.
    LeakedDirective,
    /// kubectl drops a map with `$patch: replace` where dest lacks it. Here the patch's map stands.
    DroppedReplacement,
    /// kubectl leaves `{}` where a map had `$patch: delete`. Here the map goes, exactly as with null.
    DeletedMap,
    /// kubectl refuses `$patch: merge`. Here it is the default, spelled out.
    MergeSpelledOut,
    /// kubectl knows only the first merge key of a list, so that 53/TCP and 53/UDP are one port.
    SeveralKeys,
    /// kubectl holds the key values `80` and `"80"` apart.
    KeySpelling,
    /// kubectl takes over two elements with one key, or a value twice, where dest lacks the list. Here they are merged one after the other.
    RepeatedElement,
    /// kubectl takes over elements without the merge key where dest lacks the list. Here they are refused, wherever they stand.
    ElementWithoutKey,
    /// kubectl looks at a directive only where dest has something for it. Here one that is wrong is refused, wherever it stands.
    WrongDirective,
    /// kubectl writes `$patch: delete` into a list that is replaced. Here it is refused, for there is nothing that it could mean.
    DeletedInReplacedList,
}

/// All of them.
pub const ALL: [Name; 11] = [
    Name::LeakedNull,
    Name::LeakedDirective,
    Name::DroppedReplacement,
    Name::DeletedMap,
    Name::MergeSpelledOut,
    Name::SeveralKeys,
    Name::KeySpelling,
    Name::RepeatedElement,
    Name::ElementWithoutKey,
    Name::WrongDirective,
    Name::DeletedInReplacedList,
];

/// Dest and patch in words that kubectl understands as they are meant here.
pub struct Plain {
    pub dest: Value,
    pub patch: Value,
    /// The disagreements that were put into other words.
    pub names: BTreeSet<Name>,
    /// Why the patch must be refused here.
    pub faults: BTreeSet<Name>,
}

impl Plain {
    pub fn of(dest: &Value, patch: &Value) -> Self {
        let text = |field: &str| dest[field].as_str().unwrap_or_default();
        let ty = builtin::root(text("apiVersion"), text("kind"));
        let mut words = Words { names: BTreeSet::new(), faults: BTreeSet::new() };
        let plain = words.node(patch, Some(dest), None, ty, Taken::Merged);
        let patch = plain.unwrap_or_else(|| json!({}));
        Self { dest: one_key(dest, None, ty), patch, names: words.names, faults: words.faults }
    }
}

/// What kubectl does with a part of a patch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// It looks into it.
    Merged,
    /// It takes it over as it stands, for dest has nothing like it.
    New,
    /// It takes it over as it stands, for it replaces what dest has. What a directive in it says of dest says nothing.
    Replaced,
}

struct Words {
    names: BTreeSet<Name>,
    faults: BTreeSet<Name>,
}

const PATCH: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const DELETE: &str = "$deleteFromPrimitiveList/";

impl Words {
    /// `None` where nothing is left of what is taken over whole.
    fn node(
        &mut self,
        patch: &Value,
        dest: Option<&Value>,
        field: Option<FieldRef>,
        ty: Option<TypeRef>,
        taken: Taken,
    ) -> Option<Value> {
        match patch {
            Value::Object(map) => self.map(map, dest, field, ty, taken),
            Value::Array(list) => Some(Value::Array(self.list(list, dest, field, ty, taken))),
            Value::Null if taken != Taken::Merged => {
                self.names.insert(Name::LeakedNull);
                None
            }
            other => Some(other.clone()),
        }
    }

    fn map(
        &mut self,
        patch: &Map<String, Value>,
        dest: Option<&Value>,
        field: Option<FieldRef>,
        ty: Option<TypeRef>,
        taken: Taken,
    ) -> Option<Value> {
        let is_new = taken == Taken::Merged && !dest.is_some_and(Value::is_object);
        let mut below = if is_new { Taken::New } else { taken };
        let mut out = Map::new();
        match patch.get(PATCH).map(|v| v.as_str().unwrap_or_default()) {
            None => {}
            Some("delete") if taken != Taken::Merged => {
                self.names.insert(Name::LeakedDirective);
                return None;
            }
            Some("delete") => {
                self.names.insert(Name::DeletedMap);
                return Some(Value::Null);
            }
            Some("merge") => {
                self.names.insert(if below == Taken::Merged { Name::MergeSpelledOut } else { Name::LeakedDirective });
            }
            Some("replace") => {
                if dest.is_none() {
                    self.names.insert(Name::DroppedReplacement);
                } else if taken == Taken::Merged {
                    out.insert(PATCH.into(), json!("replace"));
                } else {
                    self.names.insert(Name::LeakedDirective);
                }
                below = Taken::Replaced;
            }
            Some(_) => {
                self.faults.insert(Name::WrongDirective);
            }
        }
        if field.is_some_and(|f| f.list().is_none() && f.strategy() == Strategy::Replace) {
            below = Taken::Replaced;
            if out.remove(PATCH).is_some() {
                self.names.insert(Name::LeakedDirective);
            }
        }
        let dest = dest.filter(|_| below == Taken::Merged);
        for (name, value) in patch.iter().filter(|(name, _)| *name != PATCH) {
            if name.starts_with('$') {
                self.check(name, value, patch, dest.filter(|_| below == Taken::Merged), ty, below);
                if below != Taken::Merged {
                    self.names.insert(Name::LeakedDirective);
                    continue;
                }
                let list = name.strip_prefix(ORDER);
                let field = list.and_then(|list| ty?.field(list));
                let of_dest = list.and_then(|list| dest?.get(list)).and_then(Value::as_array);
                let order = value.as_array().filter(|_| keys(field).len() > 1);
                let of_patch = list.and_then(|list| patch.get(list)).and_then(Value::as_array);
                let all: Vec<&Value> = of_dest.into_iter().chain(of_patch).flatten().collect();
                let order = order.map(|order| self.order(order, &all, &keys(field)));
                out.insert(name.clone(), order.unwrap_or_else(|| value.clone()));
                continue;
            }
            let field = ty.and_then(|ty| ty.field(name));
            let dest = dest.and_then(|d| d.get(name));
            if let Some(value) = self.node(value, dest, field, field.and_then(FieldRef::ty), below) {
                out.insert(name.clone(), value);
            }
        }
        Some(Value::Object(out))
    }

    /// An order in which each element has one key. An entry that leaves out a further key stands for all elements that fit it.
    fn order(&mut self, order: &[Value], elements: &[&Value], keys: &[&str]) -> Value {
        let mut out: Vec<Value> = Vec::new();
        for entry in order {
            let fits = |e: &&&Value| {
                keys.iter().all(|k| entry.get(*k).is_none() || equal::key(entry, &[*k]) == equal::key(e, &[*k]))
            };
            let fitting: Vec<&&Value> = elements.iter().filter(fits).collect();
            if fitting.len() > 1 && entry.get(keys[1]).is_none() {
                self.names.insert(Name::SeveralKeys);
            }
            for element in fitting {
                let mut one = entry.clone();
                one[keys[0]] = coded(&element[keys[0]], &key(element, keys, None));
                if !out.contains(&one) {
                    out.push(one);
                }
            }
        }
        Value::Array(out)
    }

    /// Whether a directive beside a list, or `$retainKeys`, is in order.
    fn check(
        &mut self,
        name: &str,
        value: &Value,
        patch: &Map<String, Value>,
        dest: Option<&Value>,
        ty: Option<TypeRef>,
        taken: Taken,
    ) {
        let Some(directive) = value.as_array() else {
            self.faults.insert(Name::WrongDirective);
            return;
        };
        let is_right = if taken == Taken::Replaced {
            true
        } else if name == RETAIN {
            patch
                .iter()
                .filter(|(k, v)| !k.starts_with('$') && !v.is_null())
                .all(|(k, _)| directive.contains(&json!(k)))
        } else if let Some(list) = name.strip_prefix(ORDER) {
            let keys = keys(ty.and_then(|ty| ty.field(list)));
            let of_dest = dest.and_then(|d| d.get(list)).and_then(Value::as_array);
            let one = |e: &Value| if e.is_object() { key(e, &keys, of_dest) } else { e.to_string() };
            let stays = |e: &&Value| e.get(PATCH).is_none();
            let said: Vec<String> =
                patch.get(list).and_then(Value::as_array).into_iter().flatten().filter(stays).map(one).collect();
            let mut order: Vec<String> = directive.iter().map(one).filter(|k| said.contains(k)).collect();
            order.dedup();
            said == order
        } else {
            name.starts_with(DELETE)
        };
        if !is_right {
            self.faults.insert(Name::WrongDirective);
        }
    }

    fn list(
        &mut self,
        patch: &[Value],
        dest: Option<&Value>,
        field: Option<FieldRef>,
        ty: Option<TypeRef>,
        taken: Taken,
    ) -> Vec<Value> {
        let dest = dest.and_then(Value::as_array).filter(|_| taken == Taken::Merged);
        let says_so = patch.iter().any(|e| e.get(PATCH) == Some(&json!("replace")));
        let is_replaced = says_so || taken == Taken::Replaced;
        match merges(field) {
            merges if is_replaced || merges == ListKind::Atomic => {
                let mut out = Vec::new();
                if says_so && dest.is_some() && merges != ListKind::Atomic {
                    out.push(json!({PATCH: "replace"}));
                }
                let below = if is_replaced { Taken::Replaced } else { Taken::New };
                for element in patch {
                    match element.get(PATCH) {
                        Some(_) if is_bare_merge(element) => {
                            self.names.insert(Name::LeakedDirective);
                        }
                        None if element.is_null() => out.push(Value::Null),
                        None => out.extend(self.node(&self.own(element, &keys(field)), None, None, ty, below)),
                        Some(_) if is_replaced => {
                            let leaks = merges == ListKind::Atomic || dest.is_none();
                            self.names.extend(leaks.then_some(Name::LeakedDirective));
                        }
                        Some(_) => {
                            self.faults.insert(Name::DeletedInReplacedList);
                        }
                    }
                }
                out
            }
            ListKind::Map(keys) => self.keyed(patch, dest, &keys, ty),
            _ => {
                let mut out: Vec<Value> = Vec::new();
                for value in patch {
                    if value.is_object() || value.is_array() {
                        self.faults.insert(Name::ElementWithoutKey);
                    }
                    if out.contains(value) {
                        self.names.insert(Name::RepeatedElement);
                        continue;
                    }
                    out.push(value.clone());
                }
                out
            }
        }
    }

    /// An element that stands alone, under its one key.
    fn own(&self, element: &Value, keys: &[&str]) -> Value {
        if keys.len() > 1 { with_one_key(element, &key(element, keys, None), keys) } else { element.clone() }
    }

    fn keyed(&mut self, patch: &[Value], dest: Option<&Vec<Value>>, keys: &[&str], ty: Option<TypeRef>) -> Vec<Value> {
        let mut out: Vec<Value> = Vec::new();
        let mut seen: Vec<(String, Option<usize>)> = Vec::new();
        for element in patch {
            if is_bare_merge(element) {
                self.names.insert(if dest.is_some() { Name::MergeSpelledOut } else { Name::LeakedDirective });
                continue;
            }
            let first = element.get(keys[0]).filter(|key| key.is_string() || key.is_number() || key.is_boolean());
            let (Some(map), Some(first)) = (element.as_object(), first) else {
                self.faults.insert(Name::ElementWithoutKey);
                continue;
            };
            let own = key(element, keys, dest);
            let of_dest = dest.into_iter().flatten().find(|d| key(d, keys, None) == own);
            if of_dest.is_some_and(|d| d[keys[0]] != *first) {
                self.names.insert(Name::KeySpelling);
            }
            let shares = |other: &str| other != own && other.split('\u{1}').next() == own.split('\u{1}').next();
            if dest.into_iter().flatten().any(|d| shares(&key(d, keys, None))) || seen.iter().any(|s| shares(&s.0)) {
                self.names.insert(Name::SeveralKeys);
            }
            let mut named = map.clone();
            let directive = named.remove(PATCH);
            let spelled = of_dest.map_or(first, |d| &d[keys[0]]);
            named[keys[0]] = if keys.len() > 1 { coded(spelled, &own) } else { spelled.clone() };
            match directive.as_ref().map(|d| d.as_str().unwrap_or_default()) {
                Some("delete") => {
                    if dest.is_some() {
                        named.insert(PATCH.into(), json!("delete"));
                        out.push(Value::Object(named));
                    } else {
                        self.names.insert(Name::LeakedDirective);
                    }
                    seen.push((own, None));
                    continue;
                }
                Some("merge") => {
                    self.names.insert(if dest.is_some() { Name::MergeSpelledOut } else { Name::LeakedDirective });
                }
                None => {}
                Some(_) => {
                    self.faults.insert(Name::WrongDirective);
                }
            }
            let before = seen.iter().rev().find(|s| s.0 == own).map(|s| s.1);
            match before {
                // It follows one that stays.
                Some(Some(at)) if dest.is_some() => {
                    let known = out[at].clone();
                    let more = self.node(&Value::Object(named), Some(&known), None, ty, Taken::Merged);
                    seen.push((own, Some(out.len())));
                    out.extend(more);
                }
                Some(Some(at)) => {
                    self.names.insert(Name::RepeatedElement);
                    overlay(&mut out[at], &Value::Object(named));
                }
                _ => {
                    let of_dest = of_dest.filter(|_| before.is_none());
                    let taken = if of_dest.is_some() { Taken::Merged } else { Taken::New };
                    let plain = self.node(&Value::Object(named), of_dest, None, ty, taken);
                    seen.push((own, Some(out.len())));
                    out.extend(plain);
                }
            }
        }
        out
    }
}

/// Whether an element says of its list what holds anyway.
fn is_bare_merge(element: &Value) -> bool {
    *element == json!({PATCH: "merge"})
}

/// Lets a later element of a patch follow an earlier one; RFC 7396.
fn overlay(first: &mut Value, second: &Value) {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) => {
            for (name, value) in second {
                if value.is_null() {
                    first.remove(name);
                } else {
                    overlay(first.entry(name.clone()).or_insert(json!({})), value);
                }
            }
        }
        (first, second) => *first = second.clone(),
    }
}

fn merges(field: Option<FieldRef>) -> ListKind<&'static str> {
    field.and_then(FieldRef::list).map_or(ListKind::Atomic, |list| list.in_patch())
}

fn keys(field: Option<FieldRef>) -> Vec<&'static str> {
    match merges(field) {
        ListKind::Map(keys) => keys,
        _ => Vec::new(),
    }
}

/// The values of all merge keys as one text. An element that lacks a further key, and fits one element of dest by the first, means that.
fn key(element: &Value, keys: &[&str], dest: Option<&Vec<Value>>) -> String {
    let text = |e: &Value| keys.iter().map(|k| equal::key(e, &[*k])).collect::<Vec<_>>().join("\u{1}");
    let is_short = keys.iter().skip(1).any(|k| element.get(*k).is_none());
    let fits = |d: &&Value| {
        keys.iter().all(|k| element.get(*k).is_none() || equal::key(element, &[*k]) == equal::key(d, &[*k]))
    };
    let fitting: Vec<&Value> = dest.into_iter().flatten().filter(fits).collect();
    match fitting[..] {
        [only] if is_short => text(only),
        _ => text(element),
    }
}

/// The value of the first key, as it was, and those of all keys: one value, so that one key says it all.
fn coded(first: &Value, key: &str) -> Value {
    json!(format!("\u{1}{first}\u{1}{key}"))
}

fn with_one_key(element: &Value, key: &str, keys: &[&str]) -> Value {
    let mut out = element.clone();
    if let Some(first) = keys.first().and_then(|k| out.get_mut(*k)) {
        *first = coded(first, key);
    }
    out
}

/// A dest in which each list with several merge keys has one that says it all.
fn one_key(dest: &Value, field: Option<FieldRef>, ty: Option<TypeRef>) -> Value {
    match dest {
        Value::Object(map) => {
            let below = |name: &str| ty.and_then(|ty| ty.field(name));
            map.iter().map(|(k, v)| (k.clone(), one_key(v, below(k), below(k).and_then(FieldRef::ty)))).collect()
        }
        Value::Array(list) => {
            let keys = keys(field);
            let one = |e: &Value| if keys.len() > 1 { with_one_key(e, &key(e, &keys, None), &keys) } else { e.clone() };
            list.iter().map(|e| one_key(&one(e), None, ty)).collect()
        }
        other => other.clone(),
    }
}

/// What kubectl made of a [`Plain`], with the keys as they were.
pub fn with_all_keys(value: &Value) -> Value {
    match value {
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), with_all_keys(v))).collect(),
        Value::Array(list) => list.iter().map(with_all_keys).collect(),
        Value::String(text) => match text.strip_prefix('\u{1}').and_then(|t| t.split('\u{1}').next()) {
            Some(first) => serde_json::from_str(first).expect("a key is JSON"),
            None => value.clone(),
        },
        other => other.clone(),
    }
}
