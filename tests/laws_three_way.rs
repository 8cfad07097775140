//! The laws of the three-way merge: over a small universe, where every triple is tried, and over generated resources in many styles.

#[path = "support/reference.rs"]
mod reference;
#[path = "support/render.rs"]
mod render;
mod support;

use std::collections::BTreeSet;

use krm_merge_function::{Verdict, run};
use krm_yaml::{Document, NodeRef};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use reference::may_be_renamed_and_removed;
use support::{indent, items, items_of, outside_of_lists, passes, resource, resource_list, sample, side, value_of};

/// The specs of one resource on three sides.
#[derive(Clone, Debug)]
struct Triple {
    original: Value,
    updated: Value,
    dest: Value,
}

/// The value with keyed lists in the order of their keys: where a new element goes is no matter of value.
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

/// What a run made of each triple: its spec, and the places in conflict.
type Outcomes = Vec<(Value, BTreeSet<String>)>;

fn text(triples: &[Triple], of: impl Fn(&Triple) -> &Value) -> Vec<String> {
    triples.iter().enumerate().map(|(i, t)| render::Style::new(&[1]).document(&resource(i, of(t)))).collect()
}

fn stdin(triples: &[Triple], policy: &str) -> String {
    let dest: String = text(triples, |t| &t.dest).iter().map(|t| format!("- {}", indent(t, 2).trim_start())).collect();
    let original = text(triples, |t| &t.original).join("---\n");
    let updated = text(triples, |t| &t.updated).join("---\n");
    let spec =
        format!("mode: ThreeWay\nonConflict: {policy}\n{}{}", side("original", &original), side("updated", &updated));
    resource_list(&dest, &spec)
}

fn outcomes(stdout: &str, count: usize) -> Outcomes {
    let doc = Document::parse(stdout).expect("YAML");
    let root = doc.roots().next().expect("root");
    let mut all: Outcomes = root
        .get("items")
        .expect("items")
        .elements()
        .map(|i| (i.get("spec").map_or(json!("(gone)"), |s| in_order(&value_of(s))), BTreeSet::new()))
        .collect();
    assert_eq!(all.len(), count);
    for result in root.get("results").into_iter().flat_map(NodeRef::elements) {
        let reason = result.at(&["tags", "krm-merge.dev/reason"]);
        // A field that dest renamed has its place among the changes of both sides, too.
        if reason.is_none_or(|reason| reason.string() == "combined") {
            continue;
        }
        let place = result.get("message").expect("a message").string().split('`').nth(1).expect("a place");
        assert!(all[number(result)].1.insert(place.to_owned()), "one conflict a place: {place}");
    }
    all
}

fn merge(triples: &[Triple], policy: &str) -> Outcomes {
    outcomes(&passes(&stdin(triples, policy)).stdout, triples.len())
}

/// Values without nulls: scalars, atomic lists, keyed lists and maps, two deep.
fn universe() -> Vec<Value> {
    let mut all = vec![json!(1), json!("x"), json!([1]), json!([1, 2]), json!({}), json!([])];
    let inner = [None, Some(json!(1)), Some(json!(2)), Some(json!({"x": 1})), Some(json!({"x": 2, "y": 1}))];
    for a in &inner {
        for b in &inner[..3] {
            let entries = [("a", a), ("b", b)].into_iter().filter_map(|(k, v)| Some((k.to_owned(), v.clone()?)));
            all.push(Value::Object(entries.collect()));
        }
    }
    for elements in
        [json!([{"name": "p", "v": 1}]), json!([{"name": "p", "v": 2}, {"name": "q"}]), json!([{"name": "q", "v": 1}])]
    {
        all.push(json!({"l": elements}));
    }
    all
}

fn triples(universe: &[Value]) -> Vec<Triple> {
    let mut all = Vec::new();
    for original in universe {
        for updated in universe {
            for dest in universe {
                all.push(Triple { original: original.clone(), updated: updated.clone(), dest: dest.clone() });
            }
        }
    }
    all
}

/// For each triple, whether a side gave a field another name, and the changes of both sides were made in it.
fn renamed(stdout: &str, count: usize) -> Vec<bool> {
    let doc = Document::parse(stdout).expect("YAML");
    let results = doc.roots().next().and_then(|root| root.get("results"));
    let mut all = vec![false; count];
    for result in results.into_iter().flat_map(NodeRef::elements) {
        let message = result.get("message").expect("a message").string();
        if message.contains("one that was renamed") {
            all[number(result)] = true;
        }
    }
    all
}

/// The number of the triple that a result is about.
fn number(result: NodeRef<'_>) -> usize {
    let name = result.at(&["resourceRef", "name"]).expect("a resource").string();
    name.trim_start_matches('r').parse().expect("a number")
}

/// The conflicts that swapped sides have.
#[derive(Clone, Copy, PartialEq)]
enum Swapped {
    AreEqual,
    /// TODO: a list without keys is one conflict if a second run would merge it by keys, and only updated's elements can have keys then. So
    /// swapped sides may have one conflict for the list, or some in it.
    MayBeOfTheList,
}

/// Whether one of two runs has a conflict for a whole list without keys, and the other has conflicts in it instead. A renamed field has
/// another name in the other run.
fn is_list_or_inside(one: &BTreeSet<String>, other: &BTreeSet<String>, is_renamed: bool) -> bool {
    let [lists, of_other] = [one, other].map(|all| all.iter().map(|at| outside_of_lists(at)).collect::<BTreeSet<_>>());
    let is_whole = |list: &&str| one.contains(*list) != other.contains(*list);
    if is_renamed { lists.len() == of_other.len() } else { lists == of_other && lists.iter().any(is_whole) }
}

fn check(triples: &[Triple], law: Swapped) {
    let stdout = passes(&stdin(triples, "TakeUpdated")).stdout;
    let (taken, renamed) = (outcomes(&stdout, triples.len()), renamed(&stdout, triples.len()));
    let kept = merge(triples, "KeepDest");
    let swapped: Vec<Triple> = triples
        .iter()
        .map(|t| Triple { original: t.original.clone(), updated: t.dest.clone(), dest: t.updated.clone() })
        .collect();
    let swapped = merge(&swapped, "TakeUpdated");
    for (i, t) in triples.iter().enumerate() {
        let (value, conflicts) = &taken[i];
        // A place has dest's name, and swapped sides have another dest.
        match renamed[i] {
            is_renamed if law == Swapped::MayBeOfTheList && is_list_or_inside(conflicts, &swapped[i].1, is_renamed) => {
            }
            is_renamed if may_be_renamed_and_removed(&t.original, &t.updated, &t.dest) => {
                let (one, other) = (conflicts, &swapped[i].1);
                let is_part = one.is_subset(other) || other.is_subset(one);
                assert!(is_part || is_renamed, "swapped sides have the same conflicts, or fewer: {t:?}");
            }
            true => assert_eq!(conflicts.len(), swapped[i].1.len(), "swapped sides have as many conflicts: {t:?}"),
            false => {
                assert_eq!(conflicts, &swapped[i].1, "swapping dest and updated finds the same conflicts: {t:?}")
            }
        }
        assert_eq!(conflicts, &kept[i].1, "a policy finds no conflict: {t:?}");
        if conflicts.is_empty() {
            assert_eq!(value, &kept[i].0, "the policies differ only at conflicts: {t:?}");
        }
        if t.updated == t.original {
            assert_eq!((value, conflicts.len()), (&in_order(&t.dest), 0), "no change upstream keeps dest: {t:?}");
        }
        if t.dest == t.original {
            assert_eq!((value, conflicts.len()), (&in_order(&t.updated), 0), "fast-forward gives updated: {t:?}");
        }
        if t.dest == t.updated {
            assert_eq!((value, conflicts.len()), (&in_order(&t.updated), 0), "equal changes give no conflict: {t:?}");
        }
        // What a side renamed has the changes of both under the new name.
        if !renamed[i] {
            one_sided_changes_arrive(t, value);
        }
    }
}

/// Field by field: what one side alone changed is what the result has.
fn one_sided_changes_arrive(t: &Triple, value: &Value) {
    let (Some(o), Some(u), Some(d), Some(r)) =
        (t.original.as_object(), t.updated.as_object(), t.dest.as_object(), value.as_object())
    else {
        return;
    };
    let keys: BTreeSet<&String> = o.keys().chain(u.keys()).chain(d.keys()).collect();
    for key in keys {
        let (o, u, d, r) = (o.get(key), u.get(key), d.get(key), r.get(key));
        if o == d {
            assert_eq!(r, u, "{key}: only upstream changed it: {t:?} gave {value}");
        }
        if o == u {
            assert_eq!(r, d, "{key}: only dest changed it: {t:?} gave {value}");
        }
        assert!(r.is_none() || [o, u, d].iter().any(|s| s.is_some()), "{key} comes from nowhere: {t:?}");
    }
}

#[test]
fn the_laws_hold_over_a_small_universe() {
    let triples = triples(&universe());
    assert!(triples.len() > 13_000, "{}", triples.len());
    check(&sample(triples), Swapped::AreEqual);
}

/// Maps with nulls beside values of each kind, two deep.
fn with_nulls() -> Vec<Value> {
    let keyed = |v: Value| json!([{"name": "p", "v": v}]);
    let mut inner = vec![json!(null), json!(1), json!(2), json!([1]), json!({}), keyed(json!(1)), keyed(json!(null))];
    inner.extend([json!({"x": null}), json!({"x": 1}), json!({"x": 2, "y": null}), json!({"x": 1, "y": 1})]);
    let field = |value: &Value| json!({"a": value});
    std::iter::once(json!({})).chain(inner.iter().map(field)).collect()
}

/// Here a null is a value like any other.
#[test]
fn the_laws_hold_with_nulls() {
    let triples = triples(&with_nulls());
    assert!(triples.len() > 1_700, "{}", triples.len());
    check(&sample(triples), Swapped::MayBeOfTheList);
}

#[test]
fn running_again_with_the_same_sides_changes_nothing() {
    let triples = sample([triples(&universe()), triples(&with_nulls())].concat());
    let first = passes(&stdin(&triples, "TakeUpdated")).stdout;
    let config = &first[first.find("functionConfig:").expect("a functionConfig")..];
    let spec = config[..config.find("results:").unwrap_or(config.len())].to_owned();
    let head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n";
    let again = passes(&format!("{head}{}{spec}", items_of(&first))).stdout;
    assert_eq!(items_of(&again), items_of(&first));
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        (0i64..4).prop_map(|n| json!(n)),
        prop::sample::select(vec!["a", "yes", "two\nlines\n", "x, y"]).prop_map(|s| json!(s)),
        prop::sample::select(&render::TEXTS[..]).prop_map(|s| json!(s))
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map("[a-d]", inner.clone(), 0..4)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
            prop::collection::btree_map("[a-c]", inner, 1..4).prop_map(|elements| Value::Array(
                elements.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
            )),
        ]
    })
}

fn map() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-d]", value(), 0..5).prop_map(|m| Value::Object(m.into_iter().collect()))
}

/// A value and a changed one: fields of another value mixed in, so that sides have something in common.
fn mixed(base: &Value, other: &Value, choice: &[bool], at: &mut usize) -> Value {
    let mut choose = || {
        *at += 1;
        choice[*at % choice.len()]
    };
    match (base, other) {
        (Value::Object(a), Value::Object(b)) => {
            let mut out = Map::new();
            for (key, value) in a {
                match b.get(key) {
                    Some(other) => drop(out.insert(key.clone(), mixed(value, other, choice, at))),
                    None if choice[*at % choice.len()] => drop(out.insert(key.clone(), value.clone())),
                    None => {}
                }
                *at += 1;
            }
            for (key, value) in b.iter().filter(|(k, _)| !a.contains_key(*k)) {
                *at += 1;
                if choice[*at % choice.len()] {
                    out.insert(key.clone(), value.clone());
                }
            }
            Value::Object(out)
        }
        _ if choose() => base.clone(),
        _ => other.clone(),
    }
}

/// The scalars of a value, each with the fields and merge keys that lead to it.
fn scalars(value: &Value, place: &str, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| scalars(value, &format!("{place}.{key}"), out)),
        Value::Array(list) => {
            let is_keyed = list.iter().all(|element| element.get("name").is_some());
            for element in list {
                let name = element.get("name").filter(|_| is_keyed);
                scalars(element, &format!("{place}[{}]", name.unwrap_or(&Value::Null)), out);
            }
        }
        scalar => drop(out.insert(format!("{place}={scalar}"))),
    }
}

fn style() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..40)
}

/// Whether a text ends with a block scalar that keeps the blank lines below it. What comes below decides its value, so such a text is not
/// taken whole.
fn ends_with_kept_lines(text: &str) -> bool {
    let doc = Document::parse(text).expect("YAML");
    let mut last = doc.roots().last();
    while let Some(child) =
        last.and_then(|node| node.entries().last().map(|(_, value)| value).or(node.elements().last()))
    {
        last = Some(child);
    }
    let header = last.and_then(|node| node.text().lines().next()).unwrap_or_default();
    header.starts_with(['|', '>']) && header.contains('+')
}

/// Dest after an upgrade from original to updated. The line breaks and marks of each of these two may be other ones, and dest has those of
/// updated.
fn upgraded(dest: &str, [(original, of_original), (updated, of_updated)]: [(&str, u8); 2]) -> String {
    let original = side("original", &render::odd(original.to_owned(), of_original));
    let updated = side("updated", &render::odd(updated.to_owned(), of_updated));
    let stdin = resource_list(&items(dest), &format!("mode: ThreeWay\n{original}{updated}"));
    let output = passes(&render::odd(stdin, of_updated)).stdout;
    let lines = if of_updated & render::OF_WINDOWS > 0 { "\r\n" } else { "\n" };
    let merged = items_of(&output);
    assert!(!merged.replace(lines, "").contains(['\r', '\n']), "{merged:?} has two kinds of line breaks");
    merged.replace(lines, "\n")
}

proptest! {
    #![proptest_config(support::tries(400))]

    #[test]
    fn the_laws_hold_for_generated_resources(
        original in map(), one in map(), two in map(), choice in prop::collection::vec(any::<bool>(), 3..20)
    ) {
        let (mut at, mut from) = (0, 7);
        let updated = mixed(&original, &one, &choice, &mut at);
        let dest = mixed(&original, &two, &choice, &mut from);
        check(&[Triple { original, updated, dest }], Swapped::MayBeOfTheList);
    }

    #[test]
    fn what_nobody_upstream_changed_stays_to_the_byte(original in map(), dest in map(), style in style(), other in style()) {
        let original = render::Style::new(&other).document(&resource(0, &original));
        let dest = render::Style::new(&style).document(&resource(0, &dest));
        prop_assert_eq!(upgraded(&dest, [(&original, other[0]), (&original, style[0])]), items(&dest));
    }

    #[test]
    fn what_dest_left_alone_becomes_what_upstream_has_to_the_byte(original in map(), updated in map(), style in style(), other in style()) {
        let original = render::Style::new(&other).document(&resource(0, &original));
        let updated = render::Style::new(&style).document(&resource(0, &updated));
        prop_assume!(!ends_with_kept_lines(&original) && !ends_with_kept_lines(&updated));
        // Without its last line break, the text of original would be another one than dest's.
        let how = style[0] & !render::NO_LINE_BREAK;
        let upgraded = upgraded(&original, [(&original, how), (&updated, how)]);
        // The blank lines below a resource are not a part of it.
        let updated = items(&updated);
        prop_assert_eq!(upgraded.trim_end(), updated.trim_end(), "{}", original);
    }

    #[test]
    fn what_both_sides_did_alike_stays_to_the_byte(original in map(), updated in map(), style in style(), other in style()) {
        let original = render::Style::new(&other).document(&resource(0, &original));
        let updated = render::Style::new(&style).document(&resource(0, &updated));
        prop_assert_eq!(upgraded(&updated, [(&original, other[0]), (&updated, style[0])]), items(&updated), "{}", original);
    }

    #[test]
    fn nothing_vanishes_without_a_conflict_or_a_deletion(
        original in map(), one in map(), two in map(), choice in prop::collection::vec(any::<bool>(), 3..20)
    ) {
        let (mut at, mut from) = (0, 7);
        let updated = mixed(&original, &one, &choice, &mut at);
        let dest = mixed(&original, &two, &choice, &mut from);
        let triple = [Triple { original, updated, dest }];
        let (value, conflicts) = &merge(&triple, "TakeUpdated")[0];
        if conflicts.is_empty() {
            let [original, updated, dest, out] = [&triple[0].original, &triple[0].updated, &triple[0].dest, value].map(|value| {
                let mut out = BTreeSet::new();
                scalars(value, "", &mut out);
                out
            });
            let is_deleted = |scalar: &&String| original.contains(*scalar) && !(updated.contains(*scalar) && dest.contains(*scalar));
            let lost: Vec<&String> = updated.union(&dest).filter(|scalar| !out.contains(*scalar) && !is_deleted(scalar)).collect();
            prop_assert!(lost.is_empty(), "{:?} of {:?} in {}", lost, triple, value);
        }
    }

    #[test]
    fn under_fail_the_items_go_out_as_they_came(original in map(), updated in map(), dest in map()) {
        let triple = Triple { original, updated, dest };
        let stdin = stdin(std::slice::from_ref(&triple), "Fail");
        let output = run(&stdin);
        let conflicts = merge(&[triple], "TakeUpdated")[0].1.len();
        prop_assert_eq!(output.verdict, if conflicts > 0 { Verdict::Failed } else { Verdict::Passed });
        if conflicts > 0 {
            prop_assert!(output.stdout.starts_with(&stdin));
        }
    }
}

/// Images of two registries, with versions that have an order, and with others.
fn images() -> Vec<Value> {
    let tags = ["1.0", "1.1", "1.10", "1.2-alpine", "latest"];
    let all =
        ["g.io/a", "m.io/a"].into_iter().flat_map(|place| tags.map(|tag| json!({"image": format!("{place}:{tag}")})));
    all.chain([json!({"image": "g.io/b:1.1"}), json!({})]).collect()
}

#[test]
fn the_newer_version_wins_on_whatever_side_it_is_and_wins_again() {
    let newest = |policy: &str| format!("{policy}\nrules: [{{take: Newest}}]");
    let all = triples(&images());
    let swap = |t: &Triple| Triple { updated: t.dest.clone(), dest: t.updated.clone(), ..t.clone() };
    let swapped: Vec<Triple> = all.iter().map(swap).collect();
    for [policy, mirrored] in [["TakeUpdated", "KeepDest"], ["KeepDest", "TakeUpdated"]] {
        let merged = merge(&all, &newest(policy));
        for ((triple, one), other) in all.iter().zip(&merged).zip(merge(&swapped, &newest(mirrored))) {
            assert_eq!(one.0, other.0, "swapped: {triple:?}");
        }
        let again: Vec<Triple> =
            all.iter().zip(&merged).map(|(t, (dest, _))| Triple { dest: dest.clone(), ..t.clone() }).collect();
        for (triple, (value, _)) in again.iter().zip(merge(&again, &newest(policy))) {
            assert_eq!(value, triple.dest, "again: {triple:?}");
        }
        // The next release is merged into the newer version as into any other one.
        let next = |t: &Triple| Triple {
            original: t.updated.clone(),
            updated: json!({"image": "g.io/a:2.0"}),
            dest: t.dest.clone(),
        };
        let chained: Vec<Triple> = again.iter().map(next).collect();
        for (triple, (value, _)) in chained.iter().zip(merge(&chained, &newest(policy))) {
            let tag =
                |value: &Value| value["image"].as_str().and_then(|image| image.split(':').nth(1)).map(str::to_owned);
            let has_order = |value: &Value| tag(value).is_some_and(|tag| ["1.0", "1.1", "1.10"].contains(&&*tag));
            let is_one = |value: &Value| value["image"].as_str().is_some_and(|image| image.contains("/a:"));
            if [&triple.original, &triple.dest].into_iter().all(|v| has_order(v) && is_one(v)) {
                assert_eq!(tag(&value).as_deref(), Some("2.0"), "chain: {triple:?}");
            }
        }
    }
}
