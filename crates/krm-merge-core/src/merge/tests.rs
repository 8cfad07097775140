//! The laws of the merge over small universes, where every case is tried, with the walker called directly.
//!
//! The function's own tests try a sample of these cases through whole ResourceLists. A law that fails prints its case.

use std::collections::BTreeSet;
use std::fmt;

use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::limit::Budget;
use krm_tree::splice;
use krm_tree::tree::{Pick, Tree, settle};
use krm_yaml::{Document, NodeRef};
use serde_json::{Map, Value, json};

use super::merge;
use crate::change::Change;
use crate::diff::diff;
use crate::patch::{Missing, lower};
use crate::policy::{NewElements, Renames};

/// A resource as a block of YAML with this value in it.
fn text(spec: &Value) -> String {
    yaml_serde::to_string(&json!({"spec": spec})).expect("YAML")
}

fn parsed(text: &str) -> Document<'_> {
    Document::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn root<'a>(document: &'a Document<'_>) -> NodeRef<'a> {
    document.roots().next().expect("a root")
}

/// The value in the resource that such a text holds; `None` if it has none.
fn value(text: &str) -> Option<Value> {
    let document = parsed(text);
    let spec = root(&document).get("spec")?;
    Some(serde_json::from_str(&splice::to_json(spec, &Budget::default()).expect("within the limit")).expect("JSON"))
}

/// Dest's text after a change in which this side wins, and the places of the conflicts.
fn applied<'a>(dest: NodeRef<'a>, change: Option<&Change<'a>>, pick: Pick) -> (String, BTreeSet<String>) {
    let source = dest.document().source();
    let Some(change) = change else { return (source.to_owned(), BTreeSet::new()) };
    let tree = merge(Some(Tree::Node(dest)), change, NewElements::Append).expect("no key twice").tree;
    let mut conflicts = BTreeSet::new();
    let settled = settle(tree.expect("a resource"), &mut |conflict| {
        let place = conflict.path.keyed();
        assert!(conflicts.insert(place.clone()), "one conflict a place: {place} in\n{source}");
        pick
    });
    let edits = splice::edits(dest, &settled.expect("a resource"), &Budget::default()).expect("within the limit");
    (edits.apply(source, 0..source.len()), conflicts)
}

/// A value and its text.
#[derive(PartialEq)]
struct Side {
    value: Value,
    text: String,
}

impl Side {
    fn of(values: Vec<Value>) -> Vec<Self> {
        values.into_iter().map(|value| Self { text: text(&value), value }).collect()
    }
}

impl fmt::Debug for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value)
    }
}

/// One case of a three-way merge.
#[derive(Clone, Copy, Debug)]
struct Case<'v> {
    original: &'v Side,
    updated: &'v Side,
    dest: &'v Side,
}

/// The result of a case: the text, its value, and the places in conflict.
#[derive(Debug, PartialEq)]
struct Outcome {
    text: String,
    value: Option<Value>,
    conflicts: BTreeSet<String>,
}

impl<'v> Case<'v> {
    fn all(universe: &'v [Side]) -> impl Iterator<Item = Self> {
        let pairs = universe.iter().flat_map(move |original| universe.iter().map(move |updated| (original, updated)));
        pairs.flat_map(move |(original, updated)| universe.iter().map(move |dest| Case { original, updated, dest }))
    }

    fn swapped(self) -> Self {
        Self { updated: self.dest, dest: self.updated, ..self }
    }

    fn merged(self, pick: Pick) -> Outcome {
        self.merged_into(&self.dest.text, pick)
    }

    /// The result of a case with this text as dest.
    fn merged_into(self, dest: &str, pick: Pick) -> Outcome {
        let [original, updated, dest] = [&self.original.text, &self.updated.text, dest].map(parsed);
        let [original, updated, dest] = [&original, &updated, &dest].map(root);
        let types = Types::new([], Inference::On);
        let change = diff(Some(original), updated, Some(dest), types.root("", "", Mode::ThreeWay), Renames::Follow)
            .expect("no key twice")
            .change;
        let (text, conflicts) = applied(dest, change.as_ref(), pick);
        Outcome { value: value(&text), text, conflicts }
    }
}

/// Values without nulls: scalars, lists, keyed lists in each order, and maps, two deep.
fn universe() -> Vec<Value> {
    let mut all = vec![json!(1), json!("x"), json!([1]), json!([1, 2]), json!({}), json!([])];
    let inner = [None, Some(json!(1)), Some(json!(2)), Some(json!({"x": 1})), Some(json!({"x": 2, "y": 1}))];
    for a in &inner {
        for b in &inner[..3] {
            let entries = [("a", a), ("b", b)].into_iter().filter_map(|(k, v)| Some((k.to_owned(), v.clone()?)));
            all.push(Value::Object(entries.collect()));
        }
    }
    let lists = [
        json!([{"name": "p", "v": 1}]),
        json!([{"name": "p", "v": 2}, {"name": "q"}]),
        json!([{"name": "q"}, {"name": "p", "v": 2}]),
        json!([{"name": "q", "v": 1}]),
    ];
    all.extend(lists.map(|elements| json!({"l": elements})));
    all
}

/// The value with keyed lists in the order of their keys.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), in_order(v))).collect()),
        Value::Array(list) => {
            let mut list: Vec<Value> = list.iter().map(in_order).collect();
            let name = |v: &Value| v.get("name").map(ToString::to_string);
            if list.iter().all(|v| name(v).is_some()) {
                list.sort_by_key(name);
            }
            Value::Array(list)
        }
        scalar => scalar.clone(),
    }
}

#[test]
fn the_laws_of_a_three_way_merge_hold_over_a_small_universe() {
    for universe in [universe(), with_nulls()] {
        the_laws_hold(&Side::of(universe));
    }
}

fn the_laws_hold(universe: &[Side]) {
    for case in Case::all(universe) {
        let [taken, kept] = [Pick::Updated, Pick::Dest].map(|pick| case.merged(pick));
        let swapped = case.swapped().merged(Pick::Updated);
        assert_eq!(taken.conflicts, swapped.conflicts, "swapped sides have the same conflicts: {case:?}");
        assert_eq!(taken.conflicts, kept.conflicts, "who wins finds no conflict: {case:?}");
        if taken.conflicts.is_empty() {
            assert_eq!(taken, kept, "who wins matters only in a conflict: {case:?}");
        }
        let again = case.merged_into(&taken.text, Pick::Updated);
        assert_eq!(again.text, taken.text, "again changes nothing: {case:?}");
        if case.updated == case.original || case.updated == case.dest {
            let dest = Outcome {
                text: case.dest.text.clone(),
                value: Some(case.dest.value.clone()),
                conflicts: BTreeSet::new(),
            };
            assert_eq!(taken, dest, "no change upstream, or an equal one, keeps dest: {case:?}");
        }
        if case.dest == case.original {
            assert!(taken.conflicts.is_empty(), "fast-forward has no conflict: {case:?}");
            assert_eq!(taken.value.as_ref(), Some(&case.updated.value), "fast-forward gives updated: {case:?}");
        }
        one_sided_changes_arrive(case, &taken);
    }
}

/// Field by field: if only one side changed a field, the result has that side's value.
fn one_sided_changes_arrive(case: Case<'_>, outcome: &Outcome) {
    let (Some(original), Some(updated), Some(dest), Some(Value::Object(result))) =
        (case.original.value.as_object(), case.updated.value.as_object(), case.dest.value.as_object(), &outcome.value)
    else {
        return;
    };
    let keys: BTreeSet<&String> = original.keys().chain(updated.keys()).chain(dest.keys()).collect();
    for key in keys {
        let of = |map: &Map<String, Value>| map.get(key).map(in_order);
        let [o, u, d, r] = [original, updated, dest, result].map(of);
        assert!(o != d || r == u, "only upstream changed {key}: {case:?} gave {outcome:?}");
        assert!(o != u || r == d, "only dest changed {key}: {case:?} gave {outcome:?}");
        assert!(r.is_none() || [&o, &u, &d].iter().any(|s| s.is_some()), "{key} comes from nowhere: {case:?}");
    }
}

/// Maps with nulls beside values of each kind, two deep.
fn with_nulls() -> Vec<Value> {
    let keyed = |v: Value| json!([{"name": "p", "v": v}]);
    let mut inner = vec![json!(null), json!(1), json!(2), json!([1]), json!({}), keyed(json!(1)), keyed(json!(null))];
    inner.extend([json!({"x": null}), json!({"x": 1}), json!({"x": 2, "y": null}), json!({"x": 1, "y": 1})]);
    let field = |value: &Value| json!({"a": value});
    std::iter::once(json!({})).chain(inner.iter().map(field)).collect()
}

/// RFC 7396, section 2, word for word.
fn merge_patch(target: Option<&Value>, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut target = match target {
        Some(Value::Object(map)) => map.clone(),
        _ => Map::new(),
    };
    for (name, value) in patch {
        if value.is_null() {
            target.remove(name);
        } else {
            let merged = merge_patch(target.get(name), value);
            target.insert(name.clone(), merged);
        }
    }
    Value::Object(target)
}

/// Values with nulls: scalars, lists, and maps over two keys, two deep.
fn patches() -> Vec<Value> {
    let leaves = [json!(null), json!(1), json!("x"), json!([]), json!([1]), json!([{"a": null}])];
    let inner: Vec<Option<Value>> = std::iter::once(None)
        .chain(leaves.iter().cloned().map(Some))
        .chain([json!({}), json!({"a": 1}), json!({"a": null}), json!({"b": {"a": []}})].map(Some))
        .collect();
    let mut all: Vec<Value> = leaves.to_vec();
    for a in &inner {
        for b in &inner {
            let entries = [("a", a), ("b", b)].into_iter().filter_map(|(k, v)| Some((k.to_owned(), v.clone()?)));
            all.push(Value::Object(entries.collect()));
        }
    }
    all
}

#[test]
fn a_two_way_merge_is_rfc_7396_where_every_list_is_atomic_and_again_changes_nothing() {
    let universe = patches();
    let types = Types::new([], Inference::Off);
    let texts: Vec<String> = universe.iter().map(text).collect();
    let documents: Vec<Document<'_>> = texts.iter().map(|text| parsed(text)).collect();
    let merged = |dest: NodeRef<'_>, source: &Document<'_>| {
        // Parsed anew: a change has one lifetime for all of its sides.
        let (dest, source) = (dest.document().source(), source.source());
        let [dest, source] = [dest, source].map(parsed);
        let (dest, source) = (root(&dest), root(&source));
        let there = Tree::Node(dest);
        let lowered =
            lower(source, there.view(), types.root("", "", Mode::ThreeWay), Missing::Made).expect("no directive");
        applied(dest, Some(&lowered.change), Pick::Updated).0
    };
    for (dest, of_dest) in universe.iter().zip(&documents) {
        for (source, of_source) in universe.iter().zip(&documents) {
            let got = merged(root(of_dest), of_source);
            let want = if source.is_null() { None } else { Some(merge_patch(Some(dest), source)) };
            assert_eq!(value(&got), want, "{dest} with {source}");
            let again = parsed(&got);
            assert_eq!(merged(root(&again), of_source), got, "{dest} with {source} again");
        }
    }
}
