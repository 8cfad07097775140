//! Resources that the bytes choose, merged in each mode: by the function and by the API, with the laws and the reference as oracles.

use std::collections::BTreeSet;

use krm_merge::{Conflict, Dispute, Merge, MergedPackage, Package, Pick};
use krm_merge_function::{Verdict, run};
use krm_yaml::{Document, Kind, Style::Block};
use serde_json::{Map, Value, json};

use super::alias::Sharing;
use super::bytes::Bytes;
use super::reference::{self, Known, in_order};
use super::render::{Style, TEXTS, odd};
use super::texts::{items, items_of, outside_of_lists, resource, resource_list, side, value_of};

/// Checks one merge.
pub fn check(bytes: &[u8]) {
    let bytes = &mut Bytes::new(bytes);
    match bytes.below(4) {
        0 => of_two_way(bytes),
        1 => of_strategic(bytes),
        _ => of_three_way(bytes),
    }
}

/// How one side is written.
struct Writing<'b> {
    style: &'b [u8],
    is_sharing: bool,
    odd: u8,
}

impl<'b> Writing<'b> {
    fn of(bytes: &mut Bytes<'b>) -> Self {
        Self { is_sharing: bytes.one_in(5), odd: if bytes.one_in(3) { bytes.byte() } else { 0 }, style: bytes.few(24) }
    }

    /// The document, which must be read as the value that it is written for.
    fn text(&self, value: &Value) -> String {
        let text = match self.is_sharing && is_plain(value) {
            true => Sharing::new(self.style).document(value),
            false => Style::new(self.style).document(value),
        };
        assert_eq!(read(&text).as_ref(), Some(value), "what is written is read\n{text}");
        text
    }

    fn odd(&self, text: &str) -> String {
        odd(text.to_owned(), self.odd)
    }
}

/// Whether [`Sharing`] can write it: it knows no keys that need quotes.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().all(|(k, v)| k.len() < 100 && is_plain(v)),
        Value::Array(list) => list.iter().all(is_plain),
        _ => true,
    }
}

/// The value of the only document of a text.
fn read(text: &str) -> Option<Value> {
    let doc = Document::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    doc.roots().next().map(value_of)
}

/// Whether a second run changed nothing.
///
/// TODO: an alias of dest, or a `<<`, is written out where an anchor is lost. What comes in its place should take the comments and the order
/// of the other side with the first run, and takes them with the second one.
fn is_same(once: &str, again: &str, dest: &str) -> bool {
    let in_order = |text: &str| read(text).as_ref().map(in_order);
    let aliases = |text: &str| text.matches("*a").count();
    let is_written_out = || dest.contains("<<:") || aliases(dest) > aliases(once);
    again == once || is_written_out() && in_order(again) == in_order(once)
}

fn atom(bytes: &mut Bytes<'_>) -> Value {
    match bytes.below(4) {
        0 => json!(bytes.below(5)),
        1 => json!(bytes.one_in(2)),
        _ => json!(bytes.pick(&TEXTS)),
    }
}

fn key(bytes: &mut Bytes<'_>) -> String {
    match bytes.below(24) {
        23 => "k".repeat(1020 + bytes.below(10)),
        22 => "$x y".to_owned(),
        21 => "a.b/c".to_owned(),
        number => ["a", "b", "c", "d"][number % 4].to_owned(),
    }
}

fn value(bytes: &mut Bytes<'_>, depth: usize) -> Value {
    match bytes.below(if depth > 3 { 3 } else { 7 }) {
        0..3 => atom(bytes),
        3 => (0..bytes.below(4)).map(|_| value(bytes, depth + 1)).collect(),
        4 => named(bytes, |bytes| map(bytes, depth + 1)),
        _ => Value::Object(map(bytes, depth + 1)),
    }
}

fn map(bytes: &mut Bytes<'_>, depth: usize) -> Map<String, Value> {
    (0..bytes.below(5)).map(|_| (key(bytes), value(bytes, depth))).collect()
}

/// Elements of distinct names.
fn named(bytes: &mut Bytes<'_>, mut fields: impl FnMut(&mut Bytes<'_>) -> Map<String, Value>) -> Value {
    let mut names = BTreeSet::new();
    let mut list = Vec::new();
    for _ in 0..bytes.below(4) {
        let name = *bytes.pick(&["p", "q", "r", "s", "t"]);
        if names.insert(name) {
            let mut element = Map::from_iter([("name".to_owned(), json!(name))]);
            element.extend(fields(bytes));
            list.push(Value::Object(element));
        }
    }
    Value::Array(list)
}

/// A value with changes; `new` makes the values that come.
fn changed(value: &Value, bytes: &mut Bytes<'_>, new: &impl Fn(&mut Bytes<'_>) -> Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut out = Map::new();
            for (key, value) in map {
                match bytes.below(8) {
                    7 if key != "name" => {}
                    6 if key != "name" => drop(out.insert(key.clone(), new(bytes))),
                    4 | 5 => drop(out.insert(key.clone(), changed(value, bytes, new))),
                    _ => drop(out.insert(key.clone(), value.clone())),
                }
            }
            if bytes.one_in(4) {
                out.insert(key(bytes), new(bytes));
            }
            Value::Object(out)
        }
        Value::Array(list) => {
            let mut out = Vec::new();
            for value in list {
                match bytes.below(8) {
                    7 => {}
                    6 => out.insert(0, value.clone()),
                    4 | 5 => out.push(changed(value, bytes, new)),
                    _ => out.push(value.clone()),
                }
            }
            if bytes.one_in(5) {
                let name = json!(bytes.pick(&["p", "q", "u", "v"]));
                let is_named = out.iter().all(|e| e.get("name").is_some_and(|n| *n != name));
                out.push(if is_named { json!({"name": name, "a": new(bytes)}) } else { new(bytes) });
            }
            Value::Array(out)
        }
        Value::String(text) if text.contains('\n') && bytes.one_in(2) => json!(format!("{text}more\n")),
        _ => new(bytes),
    }
}

fn package(text: String) -> Package {
    let shown = text.clone();
    Package::of_text(text).unwrap_or_else(|error| panic!("{error}\n{shown}"))
}

fn text_of(merged: &MergedPackage) -> String {
    merged.text(Pick::Updated).expect("within the limit")
}

/// The places in conflict. An index is where dest has an element, so with swapped sides it is another one: the place is the list.
///
/// TODO: a list without keys is one conflict if a second run would change the result, and for a value that one side deleted and the other
/// changed, updated's result is the change alone. So swapped sides may have one conflict for the list, or some in it.
fn places(merged: &MergedPackage) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    let is_of_comments = |conflict: &&Conflict| {
        conflict.event().clash().is_some_and(|clash| matches!(clash.dispute, Dispute::Comment { .. }))
    };
    for conflict in merged.conflicts().filter(|conflict| !is_of_comments(conflict)) {
        places.insert(outside_of_lists(conflict.path()).to_owned());
    }
    places
}

/// Whether a second run changes nothing.
#[derive(Clone, Copy, PartialEq)]
enum Again {
    IsEqual,
    MayDiffer,
}

/// The item that the function makes of texts; `None` if it refuses them. The items then go out as they came.
fn by_function(dest: &str, spec: &str, law: Again) -> Option<Value> {
    let stdin = resource_list(&items(dest), spec);
    let output = run(&stdin);
    if output.verdict == Verdict::Failed {
        assert_eq!(items_of(&output.stdout), items_of(&stdin), "the items go out as they came\n{stdin}");
        return None;
    }
    let doc = Document::parse(output.stdout.as_str()).unwrap_or_else(|error| panic!("{error}\n{}", output.stdout));
    let items = doc.roots().next().and_then(|root| root.get("items")).expect("items");
    let again = run(&output.stdout);
    assert!(
        again.verdict == Verdict::Passed || law == Again::MayDiffer,
        "it runs again: {:?}\n{}",
        again.stderr,
        output.stdout
    );
    let [items_once, items_again] = [&output.stdout, &again.stdout].map(|text| items_of(text));
    assert!(
        law == Again::MayDiffer || is_same(items_once, items_again, dest),
        "a second run changes nothing\n{stdin}--- once\n{}--- twice\n{}",
        output.stdout,
        again.stdout
    );
    Some(items.elements().next().map_or(Value::Null, value_of))
}

/// Whether a side may have given something another name. Once its whole value is the other side's, a second run cannot know that.
fn has_renamed(original: &Value, dest: &Value) -> bool {
    if let (Value::Array(original), Value::Array(dest)) = (original, dest)
        && !original.iter().chain(dest).any(|element| element.get("name").is_some())
    {
        return original.iter().zip(dest).any(|(original, dest)| has_renamed(original, dest));
    }
    let children = |value: &Value| -> Map<String, Value> {
        match value {
            Value::Object(map) => map.clone(),
            Value::Array(list) => list.iter().map(|e| (e["name"].to_string(), e.clone())).collect(),
            _ => Map::new(),
        }
    };
    let (original, dest) = (children(original), children(dest));
    let beyond = |a: &Map<String, Value>, b: &Map<String, Value>| a.keys().any(|key| !b.contains_key(key));
    beyond(&original, &dest) && beyond(&dest, &original)
        || original.iter().any(|(key, value)| dest.get(key).is_some_and(|dest| has_renamed(value, dest)))
}

fn of_three_way(bytes: &mut Bytes<'_>) {
    let writings = [Writing::of(bytes), Writing::of(bytes), Writing::of(bytes)];
    let original = Value::Object(map(bytes, 0));
    let new = |bytes: &mut Bytes<'_>| value(bytes, 3);
    let [updated, dest] =
        [(); 2].map(|()| if bytes.one_in(8) { original.clone() } else { changed(&original, bytes, &new) });
    let values = [original, updated, dest].map(|spec| resource(0, &spec));
    let [o, u, d] = [0, 1, 2].map(|i| writings[i].text(&values[i]));
    let [original, updated, dest] = [0, 1, 2].map(|i| package(writings[i].odd([&o, &u, &d][i])));
    let merge = Merge::three_way(&original, &updated, &dest);
    let merged = merge.run().unwrap_or_else(|error| panic!("{error}"));
    let text_by = |o, u, d| text_of(&Merge::three_way(o, u, d).run().unwrap_or_else(|error| panic!("{error}")));
    let all = format!("--- original\n{o}--- updated\n{u}--- dest\n{d}");
    let text = text_of(&merged);
    let got = read(&text).unwrap_or_default();

    let swapped = Merge::three_way(&original, &dest, &updated);
    let swapped = swapped.run().unwrap_or_else(|error| panic!("{error}"));
    let [places_in_merged, places_in_swapped] = [places(&merged), places(&swapped)];
    let is_renamed = has_renamed(&values[0], &values[1]) || has_renamed(&values[0], &values[2]);
    // What dest renamed has dest's name in a place, and swapped sides have another dest.
    if reference::may_be_renamed_and_removed(&values[0], &values[1], &values[2]) {
        let [one, other] = [&places_in_merged, &places_in_swapped];
        let is_part = one.is_subset(other) || other.is_subset(one);
        assert!(is_part || is_renamed, "swapped sides have the same conflicts, or fewer\n{all}");
    } else if is_renamed {
        assert_eq!(places_in_merged.len(), places_in_swapped.len(), "swapped sides have as many conflicts\n{all}");
    } else {
        assert_eq!(places_in_merged, places_in_swapped, "swapped sides have the same conflicts\n{all}");
    }
    match reference::three_way(Some(&values[0]), Some(&values[1]), Some(&values[2])) {
        // The reference knows no renames.
        Known::Value(_) | Known::Conflict if is_renamed => {}
        Known::Value(want) => {
            assert_eq!(places(&merged), BTreeSet::new(), "no conflict\n{all}");
            assert_eq!(Some(in_order(&got)), want.as_ref().map(in_order), "the result\n{all}");
        }
        Known::Conflict => assert_ne!(places(&merged), BTreeSet::new(), "a conflict\n{all}"),
        Known::Unknown => {}
    }
    let is_open = merged.conflicts().next().is_some();
    let second = package(text.clone());
    let again = text_by(&original, &updated, &second);
    // TODO: a second run should know an element that upstream renamed and that dest has but little of.
    assert!(
        is_same(&text, &again, &d) || is_renamed,
        "a second run changes nothing\n{all}--- once\n{text}--- twice\n{again}"
    );
    let kept = text_of(&merged.decide(|_| Some(Pick::Dest)));
    assert!(is_open || kept == text, "sides differ at conflicts alone\n{all}");
    read(&kept);

    assert_eq!(text_by(&original, &original, &dest), writings[2].odd(&d), "no change leaves dest\n{all}");
    let taken = text_by(&original, &updated, &original);
    assert_eq!(read(&taken).as_ref(), Some(&values[1]), "a change alone arrives\n{all}");
    let law = if is_renamed { Again::MayDiffer } else { Again::IsEqual };
    let of_function = |policy: &str| {
        let sides = side("original", &o) + &side("updated", &u);
        by_function(&d, &format!("mode: ThreeWay\nonConflict: {policy}\n{sides}"), law)
    };
    let by_function = of_function("TakeUpdated").expect("a merge");
    assert_eq!(in_order(&by_function), in_order(&got), "the function and the API are one\n{all}");
    assert_eq!(of_function("Fail").is_none(), is_open, "a conflict fails: {places_in_merged:?}\n{all}");
}

/// With nulls for some fields.
fn with_nulls(value: &mut Value, bytes: &mut Bytes<'_>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                if key != "name" && bytes.one_in(9) {
                    *value = Value::Null;
                }
                with_nulls(value, bytes);
            }
        }
        // In a list that is one value, a null is one.
        Value::Array(list) => list.iter_mut().filter(|e| e.get("name").is_some()).for_each(|e| with_nulls(e, bytes)),
        _ => {}
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().any(has_null),
        Value::Array(list) => list.iter().any(has_null),
        scalar => scalar.is_null(),
    }
}

/// Whether a list with a null replaces a list without names. The null is data there. Once dest has the list, all of it has names, and the
/// null removes a field.
fn replaces_with_nulls(dest: &Value, source: &Value) -> bool {
    match (dest, source) {
        (Value::Object(dest), Value::Object(source)) => {
            source.iter().any(|(key, source)| dest.get(key).is_some_and(|dest| replaces_with_nulls(dest, source)))
        }
        (Value::Array(dest), source) => dest.iter().any(|element| element.get("name").is_none()) && has_null(source),
        _ => false,
    }
}

fn of_two_way(bytes: &mut Bytes<'_>) {
    let writings = [Writing::of(bytes), Writing::of(bytes)];
    let dest = Value::Object(map(bytes, 0));
    let mut source = changed(&dest, bytes, &|bytes| value(bytes, 3));
    with_nulls(&mut source, bytes);
    // A null in a list without names is data, and an order in a list with names: not what this is about.
    if let Some(Value::Array(_)) = source.as_object().and_then(|m| m.values().find(|v| v.is_array() && has_null(v))) {
        return;
    }
    if replaces_with_nulls(&dest, &source) {
        return;
    }
    let values = [dest, source].map(|spec| resource(0, &spec));
    let [d, s] = [0, 1].map(|i| writings[i].text(&values[i]));
    let [dest, source] = [0, 1].map(|i| package(writings[i].odd([&d, &s][i])));
    let all = format!("--- dest\n{d}--- source\n{s}");
    let merge = |s: &Package, d: &Package| {
        text_of(&Merge::two_way(s, d).run().unwrap_or_else(|error| panic!("{error}\n{all}")))
    };
    let text = merge(&source, &dest);
    let want = reference::two_way(Some(&values[0]), &values[1]);
    assert_eq!(read(&text), want, "the result\n{all}");
    let again = merge(&source, &package(text.clone()));
    assert!(is_same(&text, &again, &d), "a second run changes nothing\n{all}--- once\n{text}--- twice\n{again}");
    assert_eq!(merge(&dest, &dest), writings[0].odd(&d), "a document into itself\n{all}");
    let of_function = by_function(&d, &format!("mode: TwoWay\n{}", side("source", &s)), Again::IsEqual);
    assert_eq!(of_function, want, "the function and the API are one\n{all}");
    adds((&values[0], &d), &writings[0], bytes);
}

/// What is added touches no line that is there. Dest is a value and the text that this writing makes of it.
fn adds((value_of_dest, dest): (&Value, &str), writing: &Writing<'_>, bytes: &mut Bytes<'_>) {
    let source = resource(0, &json!({"zz": value(bytes, 2)}));
    let doc = Document::parse(dest).expect("YAML");
    let spec = doc.roots().next().and_then(|root| root.get("spec"));
    let is_block = spec.is_some_and(|spec| spec.kind() == Kind::Map && spec.style() == Block);
    // Only one of them can be written with anchors. Then their comments differ, and dest takes those of the source.
    let is_alike = !writing.is_sharing || is_plain(value_of_dest) == is_plain(&source);
    // What comes into a map that `<<` brings in stands in a copy of it.
    if !is_block || has_null(&source) || dest.contains('&') || dest.contains("<<") || !is_alike {
        return;
    }
    let source = package(writing.text(&source));
    let output = text_of(&Merge::two_way(&source, &package(dest.to_owned())).run().expect("merged"));
    let mut lines = output.lines();
    for line in dest.lines() {
        assert!(lines.any(|l| l == line), "{line:?} is gone from\n{output}");
    }
}

fn of_strategic(bytes: &mut Bytes<'_>) {
    let writings = [Writing::of(bytes), Writing::of(bytes)];
    let (dest, mut patch) = (pod(bytes), pod(bytes));
    strew(&mut patch, bytes, 0);
    let [d, p] = [(0, &dest), (1, &patch)].map(|(i, value)| writings[i].text(value));
    let all = format!("--- dest\n{d}--- patch\n{p}");
    let [of_dest, of_patch] = [(0, &d), (1, &p)].map(|(i, text)| package(writings[i].odd(text)));
    let spec = format!("mode: Strategic\ninferMergeKeys: false\n{}", side("source", &p));
    let of_function = by_function(&d, &spec, Again::IsEqual);
    let merge = Merge::strategic(&of_patch, &of_dest);
    let Ok(merged) = merge.run() else {
        assert_eq!(of_function, None, "the function refuses what the API refuses\n{all}");
        return;
    };
    let text = text_of(&merged);
    let got = read(&text).unwrap_or_default();
    assert_eq!(of_function.unwrap_or_default(), got, "the function and the API are one\n{all}");
    let shown = got.to_string();
    assert!(!shown.contains("\"$") && !has_null(&got), "no directive arrives\n{all}");
    let want = reference::strategic(Some(&dest), &patch, "").unwrap_or_default();
    assert_eq!(bare(&got), bare(&want), "the result\n{all}");
    let second = package(text.clone());
    let again = Merge::strategic(&of_patch, &second);
    let again = text_of(&again.run().unwrap_or_else(|error| panic!("{error}\n{all}")));
    assert!(is_same(&text, &again, &d), "a second run changes nothing\n{all}--- once\n{text}--- twice\n{again}");
}

/// In order, and without what is empty.
fn bare(value: &Value) -> Value {
    match in_order(value) {
        Value::Object(map) => {
            let map = map.into_iter().map(|(k, v)| (k, bare(&v)));
            Value::Object(map.filter(|(_, v)| *v != json!({}) && *v != json!([])).collect())
        }
        Value::Array(list) => {
            let mut list: Vec<Value> = list.iter().map(bare).collect();
            // A set has no order.
            if list.iter().all(|v| ["k", "l", "m", "n"].iter().any(|k| v == k)) {
                list.sort_by_key(Value::to_string);
            }
            Value::Array(list)
        }
        scalar => scalar,
    }
}

fn set(bytes: &mut Bytes<'_>) -> Value {
    let chosen = bytes.byte();
    (0..4).filter(|i| chosen >> i & 1 == 1).map(|i| json!(["k", "l", "m", "n"][i])).collect()
}

fn pod(bytes: &mut Bytes<'_>) -> Value {
    let container = |bytes: &mut Bytes<'_>| {
        let mut out = Map::new();
        let parts = bytes.byte();
        let mut part = |bit: u8, key: &str, of: &mut dyn FnMut(&mut Bytes<'_>) -> Value| {
            if parts >> bit & 1 == 1 {
                out.insert(key.to_owned(), of(bytes));
            }
        };
        part(0, "image", &mut |bytes| json!(bytes.pick(&TEXTS)));
        part(1, "env", &mut |bytes| {
            named(bytes, |bytes| Map::from_iter([("value".to_owned(), json!(bytes.pick(&TEXTS)))]))
        });
        part(2, "args", &mut set);
        part(3, "resources", &mut |bytes| json!({"limits": {"cpu": atom(bytes)}}));
        out
    };
    let mut metadata = json!({"name": "web"});
    let mut spec = json!({});
    if bytes.one_in(2) {
        metadata["finalizers"] = set(bytes);
    }
    spec["containers"] = named(bytes, container);
    if bytes.one_in(3) {
        spec["initContainers"] = named(bytes, container);
    }
    if bytes.one_in(3) {
        spec["tolerations"] = (0..bytes.below(3)).map(|_| json!({"key": bytes.pick(&TEXTS)})).collect();
    }
    if bytes.one_in(3) {
        spec["nodeSelector"] = json!({"disk": bytes.pick(&TEXTS)});
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}

/// Strews directives and nulls over a patch, below its root.
fn strew(value: &mut Value, bytes: &mut Bytes<'_>, depth: usize) {
    match value {
        Value::Object(map) => {
            let names: Vec<String> = map.keys().cloned().collect();
            for name in &names {
                if depth > 0 && name != "name" && bytes.one_in(9) {
                    map[name] = Value::Null;
                }
                if depth > 0 || name == "spec" {
                    strew(&mut map[name], bytes, depth + 1);
                }
                if name == "metadata" && bytes.one_in(4) {
                    map[name]["$deleteFromPrimitiveList/finalizers"] = set(bytes);
                }
            }
            if depth > 0 {
                match bytes.below(12) {
                    11 => drop(map.insert("$patch".into(), json!("delete"))),
                    10 => drop(map.insert("$patch".into(), json!("replace"))),
                    9 => drop(map.insert("$patch".into(), json!("merge"))),
                    8 => drop(map.insert("$retainKeys".into(), json!(names))),
                    _ => {}
                }
            }
            for list in ["containers", "env"] {
                if map.get(list).is_some_and(Value::is_array) && bytes.one_in(4) {
                    let order = ["t", "s", "r", "q", "p"].map(|name| json!({"name": name}));
                    map.insert(format!("$setElementOrder/{list}"), json!(order));
                }
            }
        }
        Value::Array(list) if list.iter().any(|e| e.get("name").is_some()) => {
            list.iter_mut().for_each(|element| strew(element, bytes, depth + 1));
            if bytes.one_in(8) {
                list.push(json!({"$patch": "replace"}));
            }
        }
        _ => {}
    }
}
