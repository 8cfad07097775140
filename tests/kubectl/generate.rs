//! Patches for a dest: each one edit of a given kind at a random place, and up to two more beside it.
//!
//! A place is a node that a patch can address: through fields, and through the elements of lists that merge by keys. All choices are
//! drawn from one seed, so that every run tries the same patches.

use krm_schema::schema::ListKind;
use krm_schema::schema::builtin::{self, FieldRef, TypeRef};
use serde_json::{Map, Value, json};

/// SplitMix64: small, and every seed is as good as any other.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("below a usize")
    }

    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        if from.is_empty() { None } else { Some(&from[self.below(from.len())]) }
    }

    fn shuffled<T: Clone>(&mut self, from: &[T]) -> Vec<T> {
        let mut all = from.to_vec();
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i + 1));
        }
        all
    }

    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

/// Whether what a patch leaves has the types that Kubernetes wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    Typed,
    Untyped,
}

/// Patches for all dests of one kind.
#[derive(Clone, Debug)]
pub struct Case {
    pub kind: String,
    /// The edits that it is made of.
    pub edits: Vec<&'static str>,
    pub patch: Value,
    pub leaves: Leaves,
}

/// A string that is valid as any string of a manifest, Base64 included.
const FRESH: &str = "ZnJlc2g=";

/// A node of dest that a patch can address.
pub struct Place<'d> {
    steps: Vec<Step<'d>>,
    node: &'d Value,
    field: Option<FieldRef>,
    ty: Option<TypeRef>,
}

#[derive(Clone)]
enum Step<'d> {
    Field(&'d str),
    /// The merge keys of an element.
    Element(Map<String, Value>),
}

/// What a patch cannot change without losing the resource.
const IDENTITY: [&str; 4] = ["apiVersion", "kind", "name", "namespace"];

/// All places of a dest.
pub fn places(dest: &Value) -> Vec<Place<'_>> {
    let text = |field: &str| dest[field].as_str().unwrap_or_default();
    let root = builtin::root(text("apiVersion"), text("kind"));
    let mut all = Vec::new();
    walk(Place { steps: Vec::new(), node: dest, field: None, ty: root }, &mut all);
    all
}

fn walk<'d>(place: Place<'d>, all: &mut Vec<Place<'d>>) {
    match place.node {
        Value::Object(map) => {
            for (name, node) in map {
                if place.steps.len() < 2 && IDENTITY.contains(&name.as_str()) {
                    continue;
                }
                let field = place.ty.and_then(|ty| ty.field(name));
                let steps = place.steps.iter().cloned().chain([Step::Field(name)]).collect();
                walk(Place { steps, node, field, ty: field.and_then(FieldRef::ty) }, all);
            }
        }
        Value::Array(list) => {
            for node in list {
                let Some(keys) = place.keys().as_ref().and_then(|keys| keys_of(node, keys)) else { continue };
                let steps = place.steps.iter().cloned().chain([Step::Element(keys)]).collect();
                walk(Place { steps, node, field: None, ty: place.ty }, all);
            }
        }
        _ => {}
    }
    all.push(place);
}

/// The merge keys of an element, as far as it has them.
fn keys_of(element: &Value, keys: &[&str]) -> Option<Map<String, Value>> {
    element.get(keys[0])?;
    Some(keys.iter().filter_map(|k| Some(((*k).to_owned(), element.get(*k)?.clone()))).collect())
}

fn merges(field: Option<FieldRef>) -> ListKind<&'static str> {
    field.and_then(FieldRef::list).map_or(ListKind::Atomic, |list| list.in_patch())
}

impl Place<'_> {
    fn keys(&self) -> Option<Vec<&'static str>> {
        match merges(self.field) {
            ListKind::Map(keys) => Some(keys),
            _ => None,
        }
    }

    /// The whole patch that says this of the place.
    fn patch(&self, said: Value) -> Option<Value> {
        self.steps.iter().rev().try_fold(said, |below, step| match step {
            Step::Field(name) => Some(json!({ *name: below })),
            Step::Element(keys) => {
                let mut element = keys.clone();
                element.extend(below.as_object()?.clone());
                Some(json!([element]))
            }
        })
    }

    /// A map that a patch may take apart: not the root, nor the metadata, which hold the identity.
    fn map(&self) -> Option<&Map<String, Value>> {
        let is_own = self.steps.len() > 1 || matches!(self.steps.first(), Some(Step::Field(f)) if *f != "metadata");
        self.node.as_object().filter(|_| is_own)
    }

    fn is_element(&self) -> bool {
        matches!(self.steps.last(), Some(Step::Element(_)))
    }

    /// A map that is no element of a list.
    fn field_map(&self) -> Option<&Map<String, Value>> {
        self.map().filter(|_| !self.is_element())
    }

    fn keyed(&self) -> Option<(&Vec<Value>, Vec<&'static str>)> {
        Some((self.node.as_array()?, self.keys()?))
    }

    fn set(&self) -> Option<&Vec<Value>> {
        self.node.as_array().filter(|_| merges(self.field) == ListKind::Set)
    }

    fn atomic(&self) -> Option<&Vec<Value>> {
        self.node.as_array().filter(|_| self.field.is_some() && merges(self.field) == ListKind::Atomic)
    }

    fn scalar(&self) -> Option<&Value> {
        (!self.node.is_object() && !self.node.is_array()).then_some(self.node)
    }

    /// One of the lists in this map that merge by keys.
    fn keyed_child(&self, r: &mut Random) -> Option<(&str, &Vec<Value>, Vec<&'static str>)> {
        let lists: Vec<_> = self
            .node
            .as_object()?
            .iter()
            .filter_map(|(name, list)| match (merges(self.ty?.field(name)), list.as_array()) {
                (ListKind::Map(keys), Some(list)) if !list.is_empty() => Some((name.as_str(), list, keys)),
                _ => None,
            })
            .collect();
        r.pick(&lists).cloned()
    }

    /// One of the lists of scalars in this map that is a set, or of those that are not.
    fn scalars_child(&self, r: &mut Random, wanted: ListKind<&'static str>) -> Option<(&str, &Vec<Value>)> {
        let lists: Vec<_> = self
            .node
            .as_object()?
            .iter()
            .filter_map(|(name, list)| {
                let list = list.as_array()?;
                let fits = merges(self.ty?.field(name)) == wanted && list.iter().all(|v| !v.is_object());
                (fits && !list.is_empty()).then_some((name.as_str(), list))
            })
            .collect();
        r.pick(&lists).copied()
    }
}

/// A value of the same type, and another one.
fn changed(value: &Value) -> Value {
    match value {
        Value::Bool(b) => json!(!b),
        Value::Number(n) => json!(n.as_i64().unwrap_or_default() + 1),
        Value::String(_) => json!(FRESH),
        other => other.clone(),
    }
}

/// A time must stay one, and a type that decides on the rest is left alone.
fn is_free(name: &str) -> bool {
    !name.ends_with("Time")
}

/// A patch for a map, or an element, that changes one of its scalars.
fn change_in(map: &Map<String, Value>, keys: &[&str], r: &mut Random) -> Map<String, Value> {
    let scalars: Vec<_> = map
        .iter()
        .filter(|(k, v)| !v.is_object() && !v.is_array() && !keys.contains(&k.as_str()) && is_free(k))
        .collect();
    match r.pick(&scalars) {
        Some((name, value)) => Map::from_iter([((*name).clone(), changed(value))]),
        None => Map::from_iter([("fresh".to_owned(), json!(FRESH))]),
    }
}

/// The patch element that means an element of dest, with this beside its keys.
fn element(of: &Value, keys: &[&str], beside: Value) -> Value {
    let mut out = keys_of(of, keys).unwrap_or_default();
    out.extend(beside.as_object().cloned().unwrap_or_default());
    Value::Object(out)
}

/// An element that dest lacks.
fn new_element(like: Option<&Value>, keys: &[&str], name: &str, beside: Value) -> Value {
    let mut out = Map::new();
    for key in keys {
        let value = match like.and_then(|l| l.get(*key)) {
            Some(Value::Number(n)) => json!(n.as_i64().unwrap_or_default() + 1000 + name.len() as i64),
            Some(known) if *key != keys[0] => known.clone(),
            _ if ["port", "containerPort"].contains(key) => json!(7000 + name.len()),
            _ if *key == "protocol" => json!("UDP"),
            _ => json!(name),
        };
        out.insert((*key).to_owned(), value);
    }
    out.extend(beside.as_object().cloned().unwrap_or_default());
    Value::Object(out)
}

fn put(map: &mut Map<String, Value>, name: &str, value: Value) {
    map.insert(name.to_owned(), value);
}

/// A kind of edit: what a patch says at a place, if it can be said there.
pub struct Edit {
    pub name: &'static str,
    /// Whether other edits may stand beside it: one that is to be refused stands alone.
    with: With,
    leaves: Leaves,
    make: fn(&Place<'_>, &mut Random) -> Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum With {
    Others,
    Alone,
}

macro_rules! edits {
    ($( $name:literal $with:ident $leaves:ident |$p:ident, $r:ident| $make:expr ; )*) => {
        /// All kinds of edits.
        pub const EDITS: &[Edit] = &[$(Edit {
            name: $name,
            with: With::$with,
            leaves: Leaves::$leaves,
            make: { fn make($p: &Place<'_>, $r: &mut Random) -> Option<Value> { $make } make },
        }),*];
    };
}

edits! {
    // Scalars.
    "a scalar" Others Typed |p, _r| {
        let is_free = matches!(p.steps.last(), Some(Step::Field(f)) if is_free(f));
        p.scalar().filter(|_| is_free).map(changed)
    };
    "a scalar of another type" Others Untyped |p, _r| Some(match p.scalar()? {
        Value::String(_) => json!(7),
        Value::Number(n) => json!(n.to_string()),
        _ => json!("yes"),
    });
    "a map over a scalar" Others Untyped |p, _r| {
        p.scalar().map(|_| json!({"a": 1, "gone": null, "b": {"c": null, "$patch": "replace"}}))
    };
    "a list over a scalar" Others Untyped |p, _r| p.scalar().map(|_| json!(["a", null, {"b": 1}]));
    "null over a scalar" Others Typed |p, _r| p.scalar().map(|_| Value::Null);

    // Maps.
    "null over a map" Others Typed |p, _r| p.field_map().map(|_| Value::Null);
    "an empty map" Others Typed |p, _r| p.field_map().map(|_| json!({}));
    "a scalar over a map" Others Untyped |p, _r| p.field_map().map(|_| json!("flat"));
    "a list over a map" Others Untyped |p, _r| p.field_map().map(|_| json!([{"a": null, "b": 1}]));
    "a new field" Others Typed |p, _r| p.map().map(|_| json!({"fresh": FRESH}));
    "null for an absent field" Others Typed |p, _r| p.map().map(|_| json!({"absent": null}));
    "null for each field" Others Typed |p, _r| {
        p.field_map().map(|m| m.keys().map(|k| (k.clone(), Value::Null)).collect())
    };
    "a new map" Others Untyped |p, _r| p.map().map(|_| json!({"freshMap": {"a": 1, "b": {"c": FRESH}, "d": {}}}));
    "a new map with nulls" Others Untyped |p, _r| {
        p.map().map(|_| json!({"freshMap": {"a": null, "b": {"c": null}, "d": [{"e": null, "f": 1}]}}))
    };
    "a new map with directives" Others Untyped |p, _r| p.map().map(|_| json!({"freshMap": {
        "a": {"$patch": "delete", "b": 1}, "c": {"$patch": "replace", "d": 1}, "e": {"$retainKeys": ["f"], "f": 1},
        "$setElementOrder/g": ["x"], "g": ["x"], "$deleteFromPrimitiveList/h": ["y"],
    }}));
    "a map replaced" Others Typed |p, r| {
        let mut said = change_in(p.field_map()?, &[], r);
        put(&mut said, "$patch", json!("replace"));
        Some(Value::Object(said))
    };
    "a map replaced by nothing" Others Typed |p, _r| p.field_map().map(|_| json!({"$patch": "replace"}));
    "a map replaced, with nulls" Others Untyped |p, _r| {
        p.field_map().map(|_| json!({"$patch": "replace", "fresh": FRESH, "gone": null, "deep": {"a": null, "b": 1}}))
    };
    "a map replaced, with directives" Others Untyped |p, _r| p.field_map().map(|_| json!({
        "$patch": "replace", "deep": {"$patch": "delete", "a": 1}, "more": {"$patch": "replace", "b": 1}, "$retainKeys": ["more", "deep"],
    }));
    "a map deleted" Others Typed |p, _r| p.field_map().map(|_| json!({"$patch": "delete"}));
    "a map deleted, with fields" Others Typed |p, r| {
        let mut said = change_in(p.field_map()?, &[], r);
        put(&mut said, "$patch", json!("delete"));
        Some(Value::Object(said))
    };
    "a map merged" Others Typed |p, r| {
        let mut said = change_in(p.field_map()?, &[], r);
        put(&mut said, "$patch", json!("merge"));
        Some(Value::Object(said))
    };
    "keys retained" Others Typed |p, r| {
        let map = p.map()?;
        let Step::Element(own) = p.steps.last()? else {
            let mut keys = r.shuffled(&map.keys().cloned().collect::<Vec<_>>());
            keys.truncate(keys.len().div_ceil(2));
            keys.push("fresh".into());
            return Some(json!({"$retainKeys": keys, "fresh": FRESH}));
        };
        let keys: Vec<&str> = own.keys().map(String::as_str).chain(["fresh"]).collect();
        Some(json!({"$retainKeys": keys, "fresh": FRESH}))
    };
    "keys retained, and one cleared" Others Typed |p, _r| {
        let (first, _) = p.field_map()?.iter().next()?;
        Some(json!({"$retainKeys": [first, "absent"], first: null}))
    };
    "keys retained without one that is set" Alone Typed |p, _r| {
        p.map().map(|_| json!({"$retainKeys": ["other"], "fresh": FRESH}))
    };
    "keys retained, in no list" Alone Typed |p, _r| p.map().map(|_| json!({"$retainKeys": "fresh", "fresh": FRESH}));
    "a map with an unknown directive" Alone Typed |p, _r| p.map().map(|_| json!({"$patch": "remove", "fresh": FRESH}));
    "a map with a directive of another type" Alone Typed |p, r| {
        let wrong = [json!(5), json!(true), json!({"a": 1}), json!(["delete"])];
        p.map().map(|_| json!({"$patch": r.pick(&wrong), "fresh": FRESH}))
    };

    // Lists that merge by keys.
    "an element" Others Typed |p, r| {
        let (list, keys) = p.keyed()?;
        let of = r.pick(list)?;
        let said = change_in(of.as_object()?, &keys, r);
        Some(json!([element(of, &keys, Value::Object(said))]))
    };
    "all elements, and a new one among them" Others Typed |p, r| {
        let (list, keys) = p.keyed()?;
        let mut said: Vec<Value> = list.iter().map(|e| element(e, &keys, json!({"fresh": FRESH}))).collect();
        said.push(new_element(list.first(), &keys, "new", json!({})));
        Some(Value::Array(r.shuffled(&said)))
    };
    "a new element" Others Typed |p, _r| {
        let (list, keys) = p.keyed()?;
        Some(json!([new_element(list.first(), &keys, "new", json!({"fresh": FRESH}))]))
    };
    "a new element with nulls" Others Untyped |p, _r| {
        let (list, keys) = p.keyed()?;
        Some(json!([new_element(list.first(), &keys, "new", json!({"gone": null, "deep": {"a": null, "b": 1}}))]))
    };
    "a new element with directives" Others Untyped |p, _r| {
        let (list, keys) = p.keyed()?;
        let beside = json!({"deep": {"$patch": "delete", "a": 1}, "more": {"$patch": "replace", "b": 1}, "$retainKeys": keys.iter()
            .copied().chain(["deep", "more"]).collect::<Vec<_>>()});
        Some(json!([new_element(list.first(), &keys, "new", beside)]))
    };
    "a new element twice" Others Typed |p, _r| {
        let (list, keys) = p.keyed()?;
        let new = |beside| new_element(list.first(), &keys, "new", beside);
        Some(json!([new(json!({"fresh": FRESH, "gone": FRESH})), new(json!({"gone": null, "more": FRESH}))]))
    };
    "an element deleted" Others Typed |p, r| {
        let (list, keys) = p.keyed()?;
        Some(json!([element(r.pick(list)?, &keys, json!({"$patch": "delete"}))]))
    };
    "an absent element deleted" Others Typed |p, _r| {
        let (list, keys) = p.keyed()?;
        Some(json!([new_element(list.first(), &keys, "none", json!({"$patch": "delete"}))]))
    };
    "an element deleted and others merged" Others Typed |p, r| {
        let (list, keys) = p.keyed()?;
        let mut all = r.shuffled(list).into_iter();
        let gone = element(&all.next()?, &keys, json!({"$patch": "delete"}));
        let rest = all.map(|e| element(&e, &keys, json!({"fresh": FRESH})));
        Some(Value::Array([gone].into_iter().chain(rest).collect()))
    };
    "an element deleted and added" Others Typed |p, r| {
        let (list, keys) = p.keyed()?;
        let of = r.pick(list)?;
        Some(json!([element(of, &keys, json!({"$patch": "delete"})), element(of, &keys, json!({"fresh": FRESH}))]))
    };
    "a list replaced" Others Typed |p, r| {
        let (list, keys) = p.keyed()?;
        let new = new_element(list.first(), &keys, "new", json!({"fresh": FRESH}));
        Some(if r.below(2) == 0 { json!([{"$patch": "replace"}, new]) } else { json!([new, {"$patch": "replace"}]) })
    };
    "a list replaced by nothing" Others Typed |p, _r| p.keyed().map(|_| json!([{"$patch": "replace"}]));
    "a list replaced by an element that says so" Others Typed |p, r| {
        let (list, keys) = p.keyed()?;
        let of = element(r.pick(list)?, &keys, json!({"$patch": "replace", "fresh": FRESH}));
        Some(json!([of, new_element(list.first(), &keys, "new", json!({"fresh": FRESH}))]))
    };
    "a list replaced, with other directives" Others Typed |p, _r| {
        let (list, keys) = p.keyed()?;
        let gone = new_element(list.first(), &keys, "none", json!({"$patch": "delete"}));
        Some(json!([gone, {"$patch": "replace"}, new_element(list.first(), &keys, "new", json!({}))]))
    };
    "a list replaced, with nulls" Others Untyped |p, _r| {
        let (list, keys) = p.keyed()?;
        let beside = json!({"gone": null, "deep": {"a": null, "$patch": "replace"}});
        Some(json!([{"$patch": "replace"}, new_element(list.first(), &keys, "new", beside)]))
    };
    "an element merged" Others Typed |p, r| {
        let (list, keys) = p.keyed()?;
        Some(json!([element(r.pick(list)?, &keys, json!({"$patch": "merge", "fresh": FRESH}))]))
    };
    "a list merged" Others Typed |p, r| {
        let (list, keys) = p.keyed()?;
        Some(json!([{"$patch": "merge"}, element(r.pick(list)?, &keys, json!({"fresh": FRESH}))]))
    };
    "a list deleted" Alone Typed |p, _r| p.keyed().map(|_| json!([{"$patch": "delete"}]));
    "null over a keyed list" Others Typed |p, _r| p.keyed().map(|_| Value::Null);
    "an empty keyed list" Others Typed |p, _r| p.keyed().map(|_| json!([]));
    "a map over a keyed list" Others Untyped |p, _r| p.keyed().map(|_| json!({"a": 1, "b": null}));
    "a scalar over a keyed list" Others Untyped |p, _r| p.keyed().map(|_| json!("flat"));
    "an element without the key" Alone Typed |p, _r| p.keyed().map(|_| json!([{"fresh": FRESH}]));
    "a scalar among elements" Alone Typed |p, r| {
        let wrong = [json!("x"), json!(null), json!(["a"])];
        p.keyed().map(|_| json!([r.pick(&wrong)]))
    };
    "an element with an unknown directive" Alone Typed |p, r| {
        let (list, keys) = p.keyed()?;
        Some(json!([element(r.pick(list)?, &keys, json!({"$patch": "remove"}))]))
    };
    "an element by the first of its keys" Others Typed |p, r| {
        let (list, keys) = p.keyed().filter(|(_, keys)| keys.len() > 1)?;
        Some(json!([element(r.pick(list)?, &keys[..1], json!({"fresh": FRESH}))]))
    };
    "an element whose key is a text" Others Untyped |p, r| {
        let (list, keys) = p.keyed()?;
        let mut of = element(r.pick(list)?, &keys, json!({"fresh": FRESH}));
        of[keys[0]] = json!(of[keys[0]].as_i64()?.to_string());
        Some(json!([of]))
    };
    "one of two elements on one port" Others Typed |p, r| {
        let (list, keys) = p.keyed().filter(|(_, keys)| keys.len() > 1)?;
        let shared: Vec<&Value> = list.iter().filter(|a| list.iter().filter(|b| a[keys[0]] == b[keys[0]]).count() > 1).collect();
        let beside = if r.below(2) == 0 { json!({"fresh": FRESH}) } else { json!({"$patch": "delete"}) };
        Some(json!([element(r.pick(&shared)?, &keys, beside)]))
    };
    "a second element on one port" Others Typed |p, r| {
        let (list, keys) = p.keyed().filter(|(_, keys)| keys.len() > 1)?;
        let mut new = element(r.pick(list)?, &keys[..1], json!({"fresh": FRESH}));
        new[keys[1]] = json!("SCTP");
        Some(json!([new]))
    };

    // The order of such lists.
    "an order" Others Typed |p, r| {
        let (name, list, keys) = p.keyed_child(r)?;
        let order: Vec<Value> = r.shuffled(list).iter().map(|e| element(e, &keys, json!({}))).collect();
        Some(json!({format!("$setElementOrder/{name}"): order}))
    };
    "an order with elements" Others Typed |p, r| {
        let (name, list, keys) = p.keyed_child(r)?;
        let mut all: Vec<Value> = list.iter().map(|e| element(e, &keys, json!({}))).collect();
        all.push(new_element(list.first(), &keys, "new", json!({})));
        let order = r.shuffled(&all);
        let said: Vec<Value> = order.iter().enumerate().filter(|(i, e)| *e == &all[all.len() - 1] || i % 2 == 0).map(|(_, e)| {
            let mut e = e.clone();
            e["fresh"] = json!(FRESH);
            e
        }).collect();
        Some(json!({format!("$setElementOrder/{name}"): order, name: said}))
    };
    "an order of some" Others Typed |p, r| {
        let (name, list, keys) = p.keyed_child(r).filter(|(_, list, _)| list.len() > 1)?;
        let mut order: Vec<Value> = r.shuffled(list).iter().map(|e| element(e, &keys, json!({}))).collect();
        order.truncate(list.len() - 1);
        Some(json!({format!("$setElementOrder/{name}"): order}))
    };
    "an order of some, with a new element" Others Typed |p, r| {
        let (name, list, keys) = p.keyed_child(r).filter(|(_, list, _)| list.len() > 1)?;
        let new = new_element(list.first(), &keys, "new", json!({}));
        let mut order: Vec<Value> = r.shuffled(list).iter().map(|e| element(e, &keys, json!({}))).collect();
        order.truncate(list.len() - 1);
        let at = r.below(order.len() + 1);
        order.insert(at, new.clone());
        Some(json!({format!("$setElementOrder/{name}"): order, name: [new]}))
    };
    "an order with a deleted element" Others Typed |p, r| {
        let (name, list, keys) = p.keyed_child(r)?;
        let mut order = r.shuffled(list);
        let gone = element(&order.pop()?, &keys, json!({"$patch": "delete"}));
        let order: Vec<Value> = order.iter().map(|e| element(e, &keys, json!({}))).collect();
        Some(json!({format!("$setElementOrder/{name}"): order, name: [gone]}))
    };
    "an order that lacks an element" Alone Typed |p, r| {
        let (name, list, keys) = p.keyed_child(r)?;
        let new = new_element(list.first(), &keys, "new", json!({}));
        let order: Vec<Value> = list.iter().map(|e| element(e, &keys, json!({}))).collect();
        Some(json!({format!("$setElementOrder/{name}"): order, name: [new]}))
    };
    "an order that the elements contradict" Alone Typed |p, r| {
        let (name, list, keys) = p.keyed_child(r).filter(|(_, list, _)| list.len() > 1)?;
        let said: Vec<Value> = list.iter().map(|e| element(e, &keys, json!({"fresh": FRESH}))).collect();
        let order: Vec<Value> = list.iter().rev().map(|e| element(e, &keys, json!({}))).collect();
        Some(json!({format!("$setElementOrder/{name}"): order, name: said}))
    };
    "an order in no list" Alone Typed |p, r| {
        let (name, ..) = p.keyed_child(r)?;
        Some(json!({format!("$setElementOrder/{name}"): "x"}))
    };

    // Sets.
    "values" Others Typed |p, r| p.set().and_then(|set| Some(json!([r.pick(set)?, "example.com/new"])));
    "a value twice" Others Typed |p, _r| p.set().map(|_| json!(["example.com/new", "example.com/new"]));
    "values deleted" Others Typed |p, r| {
        let (name, list) = p.scalars_child(r, ListKind::Set)?;
        Some(json!({format!("$deleteFromPrimitiveList/{name}"): [r.pick(list)?, "example.com/none"]}))
    };
    "all values deleted" Others Typed |p, r| {
        let (name, list) = p.scalars_child(r, ListKind::Set)?;
        Some(json!({format!("$deleteFromPrimitiveList/{name}"): list}))
    };
    "values deleted and added" Others Typed |p, r| {
        let (name, list) = p.scalars_child(r, ListKind::Set)?;
        Some(json!({format!("$deleteFromPrimitiveList/{name}"): [r.pick(list)?], name: ["example.com/new"]}))
    };
    "an order of values" Others Typed |p, r| {
        let (name, list) = p.scalars_child(r, ListKind::Set)?;
        let mut order = r.shuffled(list);
        let at = r.below(order.len() + 1);
        order.insert(at, json!("example.com/new"));
        Some(json!({format!("$setElementOrder/{name}"): order, name: ["example.com/new"]}))
    };
    "an order of some values" Others Typed |p, r| {
        let (name, list) = p.scalars_child(r, ListKind::Set).filter(|(_, list)| list.len() > 1)?;
        Some(json!({format!("$setElementOrder/{name}"): r.shuffled(list)[1..]}))
    };
    "an order of values with one deleted" Others Typed |p, r| {
        let (name, list) = p.scalars_child(r, ListKind::Set)?;
        let mut order = r.shuffled(list);
        let gone = order.pop();
        order.push(json!("example.com/new"));
        Some(json!({
            format!("$setElementOrder/{name}"): order, format!("$deleteFromPrimitiveList/{name}"): [gone], name: ["example.com/new"],
        }))
    };
    "an order that lacks a value" Alone Typed |p, r| {
        let (name, list) = p.scalars_child(r, ListKind::Set)?;
        Some(json!({format!("$setElementOrder/{name}"): list, name: ["example.com/new"]}))
    };
    "values deleted, in no list" Alone Typed |p, r| {
        let (name, _) = p.scalars_child(r, ListKind::Set)?;
        Some(json!({format!("$deleteFromPrimitiveList/{name}"): "x"}))
    };
    "null over a set" Others Typed |p, _r| p.set().map(|_| Value::Null);
    "an empty set" Others Typed |p, _r| p.set().map(|_| json!([]));

    // Lists that are replaced.
    "a replaced list" Others Typed |p, r| {
        let list = p.atomic()?;
        let mut said = r.shuffled(list);
        said.truncate(list.len().div_ceil(2));
        said.extend(list.first().map(|e| match e.as_object() {
            Some(map) => Value::Object(change_in(map, &[], r)),
            None => changed(e),
        }));
        Some(Value::Array(said))
    };
    "a replaced list with nulls" Others Untyped |p, _r| {
        let list = p.atomic().filter(|l| l.iter().all(Value::is_object))?;
        let mut said = list.clone();
        said.push(json!({"gone": null, "deep": {"a": null, "b": [{"c": null}]}}));
        Some(Value::Array(said))
    };
    "a replaced list with directives" Others Untyped |p, _r| {
        p.atomic().filter(|l| l.iter().all(Value::is_object)).map(|_| json!([
            {"deep": {"$patch": "delete", "a": 1}, "more": {"$patch": "replace", "b": 1}},
            {"$retainKeys": ["a"], "a": 1, "$setElementOrder/b": ["x"], "$deleteFromPrimitiveList/c": ["x"]},
        ]))
    };
    "a replaced list that says so" Others Typed |p, r| {
        let list = p.atomic()?;
        Some(json!([{"$patch": "replace"}, r.pick(list)?]))
    };
    "a deleted element in a replaced list" Alone Untyped |p, _r| {
        let list = p.atomic().filter(|l| l.iter().all(Value::is_object))?;
        let mut gone = list.first()?.clone();
        gone["$patch"] = json!("delete");
        Some(json!([gone, {"fresh": FRESH}]))
    };
    "null over a replaced list" Others Typed |p, _r| p.atomic().map(|_| Value::Null);
    "an empty replaced list" Others Typed |p, _r| p.atomic().map(|_| json!([]));
    "a map over a replaced list" Others Untyped |p, _r| p.atomic().map(|_| json!({"a": 1, "b": null}));
    "values deleted from a replaced list" Others Typed |p, r| {
        let (name, list) = p.scalars_child(r, ListKind::Atomic)?;
        Some(json!({format!("$deleteFromPrimitiveList/{name}"): [r.pick(list)?]}))
    };
    "an order of a replaced list" Others Typed |p, r| {
        let (name, list) = p.scalars_child(r, ListKind::Atomic)?;
        Some(json!({format!("$setElementOrder/{name}"): r.shuffled(list)}))
    };
    "an order of a replaced list that is set" Others Typed |p, r| {
        let (name, list) = p.scalars_child(r, ListKind::Atomic)?;
        let order = r.shuffled(list);
        Some(json!({format!("$setElementOrder/{name}"): order, name: order}))
    };
}

/// Whether a value is to leave a list and to come into it: kubectl does the one or the other first, as Go's maps have it.
fn is_undecided(map: &Map<String, Value>) -> bool {
    map.iter().any(|(name, gone)| {
        let list = name.strip_prefix("$deleteFromPrimitiveList/").and_then(|list| map.get(list)?.as_array());
        list.into_iter().flatten().any(|v| gone.as_array().is_some_and(|gone| gone.contains(v)))
    })
}

/// Two patches in one; `None` where they speak of one thing.
fn join(a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let mut out = a.clone();
            for (name, value) in b {
                let both = match a.get(name) {
                    Some(known) if known == value && !value.is_object() => value.clone(),
                    Some(known) => join(known, value)?,
                    None if a.contains_key("$patch") || b.contains_key("$patch") || a.contains_key("$retainKeys") => {
                        return None;
                    }
                    None => value.clone(),
                };
                out.insert(name.clone(), both);
            }
            let has_order = |m: &Map<String, Value>| m.keys().any(|k| k.starts_with("$setElementOrder"));
            if has_order(a) != has_order(b) || is_undecided(&out) { None } else { Some(Value::Object(out)) }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == 1 && b.len() == 1 && a[0].is_object() && b[0].is_object() => {
            let shared = a[0].as_object()?.iter().filter(|(k, v)| !v.is_object() && b[0].get(*k) == Some(v)).count();
            if shared > 0 { Some(json!([join(&a[0], &b[0])?])) } else { Some(json!([a[0], b[0]])) }
        }
        _ => None,
    }
}

/// Patches for each kind of the dests. Of the kinds of edits that a kind has a place for, the one that was made least so far has its turn.
pub fn cases(dests: &[Value], per_kind: usize) -> Vec<Case> {
    let mut kinds: Vec<&str> = dests.iter().filter_map(|d| d["kind"].as_str()).collect();
    kinds.dedup();
    let mut r = Random(20_240_229);
    let mut turns: Vec<(usize, &Edit)> = EDITS.iter().map(|e| (0, e)).collect();
    let mut cases = Vec::new();
    for kind in kinds {
        let of_kind: Vec<Vec<Place<'_>>> = dests.iter().filter(|d| d["kind"] == kind).map(places).collect();
        for _ in 0..per_kind {
            turns.sort_by_key(|t| t.0);
            let at = r.below(of_kind.len());
            let said = (0..turns.len()).find_map(|turn| {
                let mut all = (0..of_kind.len()).map(|i| &of_kind[(at + i) % of_kind.len()]);
                let edit = turns[turn].1;
                all.find_map(|places| Some((turn, places, edit, say(edit, places, &mut r)?)))
            });
            let (turn, places, edit, patch) = said.expect("a kind has a place for some edit");
            turns[turn].0 += 1;
            let mut case = Case { kind: kind.to_owned(), edits: vec![edit.name], patch, leaves: edit.leaves };
            let more = if edit.with == With::Alone { 0 } else { r.below(3) };
            for _ in 0..more {
                let other = r.pick(EDITS).filter(|e| e.with == With::Others);
                let said = other.and_then(|e| Some((e, say(e, places, &mut r)?)));
                if let Some((other, both)) = said.and_then(|(e, said)| Some((e, join(&case.patch, &said)?))) {
                    case.patch = both;
                    case.edits.push(other.name);
                    if other.leaves == Leaves::Untyped {
                        case.leaves = Leaves::Untyped;
                    }
                }
            }
            cases.push(case);
        }
    }
    cases
}

/// Patches that chance would seldom make: unions, as kubectl and people write them, and lists with two keys.
pub fn written() -> Vec<Case> {
    let pod = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
    let ports = |ports: Value| pod(json!({"containers": [{"name": "app", "ports": ports}]}));
    [
        ("Deployment", "a union by keys retained", json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}})),
        ("Deployment", "a union replaced", json!({"spec": {"strategy": {"$patch": "replace", "type": "Recreate"}}})),
        ("Deployment", "a union by null", json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}})),
        (
            "Deployment",
            "unions in a list",
            pod(json!({"volumes": [
                {"name": "scratch", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/tmp"}},
                {"name": "config", "configMap": null, "emptyDir": {}},
            ]})),
        ),
        ("Deployment", "one of two ports", ports(json!([{"containerPort": 53, "protocol": "UDP", "name": "changed"}]))),
        ("Deployment", "one of two ports, deleted", ports(json!([{"containerPort": 53, "protocol": "UDP", "$patch": "delete"}]))),
        ("Deployment", "one of two ports, by default", ports(json!([{"containerPort": 53, "name": "changed"}]))),
        ("Deployment", "a second element on one port", ports(json!([{"containerPort": 8080, "protocol": "UDP"}]))),
        ("Deployment", "the only one of its port", ports(json!([{"containerPort": 8080, "name": "changed"}]))),
        (
            "Deployment",
            "ports in an order by number",
            pod(json!({"containers": [{
                "name": "app", "$setElementOrder/ports": [{"containerPort": 53}, {"containerPort": 53}, {"containerPort": 8080}],
            }]})),
        ),
        (
            "Deployment",
            "one of two constraints",
            pod(json!({"topologySpreadConstraints": [
                {"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 5},
                {"topologyKey": "host", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 3},
            ]})),
        ),
        (
            "Deployment",
            "directives about what an element before brought",
            pod(json!({"containers": [
                {"name": "app", "args": ["r", "q", "p"], "env": [{"name": "BROUGHT", "value": "1"}, {"name": "FIRST", "value": "2"}]},
                {"name": "app", "$deleteFromPrimitiveList/args": ["q"]},
                {"name": "app", "$setElementOrder/env": [{"name": "FIRST"}, {"name": "BROUGHT"}]},
            ]})),
        ),
        (
            "Deployment",
            "a directive about what an element before took away",
            pod(json!({"containers": [{"name": "app", "args": null}, {"name": "app", "$deleteFromPrimitiveList/args": ["-v"]}]})),
        ),
        ("Service", "one of two ports", json!({"spec": {"ports": [{"port": 53, "protocol": "UDP", "targetPort": 5353}]}})),
        ("Service", "a second element on one port", json!({"spec": {"ports": [{"port": 80, "protocol": "UDP", "name": "quic"}]}})),
        ("DaemonSet", "a port as a text", pod(json!({"containers": [{"name": "agent", "ports": [{"containerPort": "9100", "hostPort": 1}]}]}))),
        (
            "Pod",
            "values deleted, added and ordered",
            json!({"metadata": {
                "finalizers": ["example.com/d"],
                "$deleteFromPrimitiveList/finalizers": ["example.com/a"],
                "$setElementOrder/finalizers": ["example.com/c", "example.com/d", "example.com/b"],
            }}),
        ),
        ("PodDisruptionBudget", "a selector", json!({"spec": {"selector": {"matchLabels": {"app": "new"}}}})),
        ("PodDisruptionBudget", "a selector deleted", json!({"spec": {"selector": {"$patch": "delete"}}})),
        ("Node", "taints", json!({"spec": {"taints": [{"key": "new", "effect": "NoExecute"}], "unschedulable": null}})),
    ]
    .into_iter()
    .map(|(kind, name, patch)| {
        let leaves = if name == "a port as a text" { Leaves::Untyped } else { Leaves::Typed };
        Case { kind: kind.to_owned(), edits: vec![name], patch, leaves }
    })
    .collect()
}

/// The patch that says this at one of the places where it can be said.
fn say(edit: &Edit, places: &[Place<'_>], r: &mut Random) -> Option<Value> {
    let start = r.below(places.len());
    let all = (0..places.len()).map(|i| &places[(start + i) % places.len()]);
    let mut all = all.filter(|p| !p.steps.is_empty());
    all.find_map(|place| place.patch((edit.make)(place, r)?))
}
