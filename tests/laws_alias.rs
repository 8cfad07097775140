//! The law of aliases: a document with anchors, aliases and `<<` means what its twin means, in which all of them are written out, on
//! whatever side it stands and whatever becomes of it.

#[path = "support/alias.rs"]
mod alias;
#[path = "support/generate.rs"]
mod generate;
#[path = "support/render.rs"]
mod render;
mod support;

use krm_merge_function::{Output, Verdict, run};
use krm_yaml::{Document, Kind, NodeRef};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use generate::{env, keyed, map_of};
use support::{items, items_of, passes, resource_list, side, value_of};

/// Choices, again and again the same ones.
type Bytes<'b> = std::iter::Cycle<std::slice::Iter<'b, u8>>;

fn one_in(bytes: &mut Bytes<'_>, n: u8) -> bool {
    bytes.next().is_some_and(|b| b % n == 0)
}

/// Of a few, so that equal ones are many.
fn scalar() -> impl Strategy<Value = Value> {
    let few = prop::sample::select(vec![json!(1), json!("x"), json!("y z"), json!("two\nlines\n")]);
    prop_oneof![3 => few, 1 => prop::sample::select(&render::TEXTS[..]).prop_map(|text| json!(text))]
}

fn fields(value: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-c]", value, 0..4).prop_map(|m| Value::Object(m.into_iter().collect()))
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        let element = inner.clone();
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            fields(inner),
            keyed(move |name| element.clone().prop_map(move |v| json!({"name": name, "v": v})).boxed())
        ]
    })
}

fn container(name: &'static str) -> BoxedStrategy<Value> {
    let parts = (
        prop::option::of(scalar()),
        prop::option::of(keyed(|name| env(name, scalar()))),
        prop::option::of(prop::collection::vec(scalar(), 0..3).prop_map(Value::Array)),
        prop::option::of(fields(scalar())),
        prop::option::of(value()),
    );
    parts
        .prop_map(move |(image, env, args, limits, x)| {
            map_of(vec![
                ("name", Some(json!(name))),
                ("image", image),
                ("env", env),
                ("args", args),
                ("resources", limits.map(|l| json!({"limits": l}))),
                ("x", x),
            ])
        })
        .boxed()
}

/// The spec of a Pod, with a field that no type knows of.
fn spec() -> impl Strategy<Value = Value> {
    let parts = (
        prop::option::of(keyed(container)),
        prop::option::of(keyed(container)),
        prop::option::of(fields(scalar())),
        prop::option::of(prop::collection::vec(fields(scalar()), 0..3).prop_map(Value::Array)),
        prop::option::of(value()),
    );
    parts.prop_map(|(containers, init, selector, tolerations, x)| {
        map_of(vec![
            ("initContainers", init),
            ("containers", containers),
            ("nodeSelector", selector),
            ("tolerations", tolerations),
            ("x", x),
        ])
    })
}

/// A value with parts of another one in it, so that sides have something in common.
fn mixed(base: &Value, other: &Value, bytes: &mut Bytes<'_>) -> Value {
    let name = |v: &Value| v.get("name").cloned();
    match (base, other) {
        (Value::Object(a), Value::Object(b)) => {
            let mut out = Map::new();
            for (key, value) in a {
                match b.get(key) {
                    Some(other) => drop(out.insert(key.clone(), mixed(value, other, bytes))),
                    None if key == "name" || !one_in(bytes, 4) => drop(out.insert(key.clone(), value.clone())),
                    None => {}
                }
            }
            let more = b.iter().filter(|(k, _)| !a.contains_key(*k)).filter(|_| one_in(bytes, 3));
            out.extend(more.map(|(k, v)| (k.clone(), v.clone())));
            Value::Object(out)
        }
        (Value::Array(a), Value::Array(b)) if a.iter().chain(b).all(|e| name(e).is_some()) => {
            let mut out = Vec::new();
            for element in a {
                match b.iter().find(|o| name(o) == name(element)) {
                    Some(other) => out.push(mixed(element, other, bytes)),
                    None if !one_in(bytes, 4) => out.push(element.clone()),
                    None => {}
                }
            }
            let more = b.iter().filter(|o| !a.iter().any(|e| name(e) == name(o))).filter(|_| one_in(bytes, 3));
            out.extend(more.cloned());
            Value::Array(out)
        }
        _ if !one_in(bytes, 4) => base.clone(),
        _ => other.clone(),
    }
}

/// Strews nulls and directives over a patch.
fn strew(value: &mut Value, bytes: &mut Bytes<'_>, lists: bool) {
    match value {
        Value::Object(map) => {
            let names: Vec<String> = map.keys().cloned().collect();
            for name in &names {
                if name != "name" && one_in(bytes, 9) {
                    map[name] = Value::Null;
                }
                strew(&mut map[name], bytes, lists);
            }
            if one_in(bytes, 13) {
                let said = ["merge", "replace", "delete"][usize::from(bytes.next().copied().unwrap_or(0)) % 3];
                map.insert("$patch".into(), json!(said));
            }
            if lists && one_in(bytes, 13) {
                map.insert("$retainKeys".into(), json!(names));
            }
            for list in ["containers", "env"].into_iter().filter(|_| lists) {
                if one_in(bytes, 4) {
                    map.insert(
                        format!("$setElementOrder/{list}"),
                        json!([{"name": "c"}, {"name": "b"}, {"name": "a"}]),
                    );
                    if let Some(Value::Array(elements)) = map.get_mut(list) {
                        elements.sort_by_key(|e| std::cmp::Reverse(e.get("name").map(ToString::to_string)));
                    }
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|e| strew(e, bytes, lists)),
        _ => {}
    }
}

/// A Pod of this spec, with some of what is in it in a list before that: what an alias may stand for.
fn pod(number: usize, spec: &Value, bytes: &mut Bytes<'_>) -> Value {
    fn parts<'v>(value: &'v Value, bytes: &mut Bytes<'_>, out: &mut Vec<&'v Value>) {
        if one_in(bytes, 5) {
            out.push(value);
        }
        match value {
            Value::Object(map) => map.values().for_each(|v| parts(v, bytes, out)),
            Value::Array(list) => list.iter().for_each(|v| parts(v, bytes, out)),
            _ => {}
        }
    }
    let mut defs = Vec::new();
    parts(spec, bytes, &mut defs);
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("p{number}")}});
    if !defs.is_empty() {
        pod["defs"] = json!(defs);
    }
    pod["spec"] = spec.clone();
    pod
}

/// One side of a merge: a text with aliases, and its twin.
struct Side {
    aliased: String,
    twin: String,
}

impl Side {
    fn of(values: &[Value], bytes: &[u8]) -> Self {
        let (mut aliased, mut twin) = (String::new(), String::new());
        for value in values {
            let text = alias::Sharing::new(bytes).document(value);
            let doc = Document::parse(text.as_str()).unwrap_or_else(|e| panic!("{e}\n{text}"));
            // In the order in which a reader sees the fields.
            let read = doc.roots().next().map_or(Value::Null, value_of);
            assert_eq!(&read, value, "\n{text}");
            aliased.push_str(&format!("---\n{text}"));
            twin.push_str(&format!("---\n{}", render::Style::new(&[1]).document(&read)));
        }
        Self { aliased, twin }
    }
}

/// What came of a run, told without regard to how it is written.
#[derive(Debug, PartialEq)]
struct Told {
    verdict: Verdict,
    items: Value,
    results: Vec<(String, String, Value)>,
}

/// How many resources were added, deleted and in conflict. Where upstream only puts fields into another order, the twin is merged; what `<<`
/// brings in has no order, and stays as it is.
fn counts(message: &str) -> String {
    let is_of_order = |part: &&str| part.ends_with(" merged") || part.ends_with(" unchanged");
    message.split([',', ';']).map(str::trim).filter(|part| !is_of_order(part)).collect::<Vec<_>>().join(", ")
}

fn told(stdin: &str) -> (Told, Output) {
    let output = run(stdin);
    let doc = Document::parse(output.stdout.as_str()).unwrap_or_else(|e| panic!("{e}\n{stdin}\n{}", output.stdout));
    let root = doc.roots().next().expect("a root");
    let result = |r: NodeRef<'_>| {
        let text = |key: &str| r.get(key).map(NodeRef::string).unwrap_or_default().to_owned();
        let (severity, message) = (text("severity"), text("message"));
        let field = r.get("field").map_or(Value::Null, value_of);
        // A message shows but a part of the values, and of a whole resource but some places in it: those in the order of its fields. The
        // field has the values whole.
        let message = if r.at(&["tags", "krm-merge.dev/reason"]).is_some() {
            let place = if field.is_null() { "resource" } else { message.split('`').nth(1).unwrap_or_default() };
            let end = message.rsplit("; ").next().unwrap_or_default();
            format!("{place} {}", end.split(", so ").next().unwrap_or_default())
        } else if let Some((_, why)) = message.split_once(", but the API server does not allow this") {
            format!("{} {why}", message.split('`').nth(1).unwrap_or_default())
        } else if severity == "error" {
            String::new()
        } else {
            counts(&message)
        };
        let original = r.at(&["tags", "krm-merge.dev/original"]).map(NodeRef::string).unwrap_or_default();
        let original: Value = serde_json::from_str(original).unwrap_or_default();
        let mut values = json!([field, original]);
        values.sort_all_objects();
        (severity, message, values)
    };
    // The twin also says how lists were merged if only the order of the fields in them changed.
    let is_of_order = |r: &NodeRef<'_>| r.get("message").is_some_and(|m| m.string().starts_with("lists of "));
    let results = root.get("results").into_iter().flat_map(NodeRef::elements).filter(|r| !is_of_order(r));
    let mut results: Vec<_> = results.map(result).collect();
    // They come in the order of the fields, where those that `<<` brings in stand elsewhere.
    results.sort_by_key(|r| format!("{r:?}"));
    let items = root.get("items").map_or(Value::Null, value_of);
    (Told { verdict: output.verdict, items, results }, output)
}

/// The items and the results of an output.
fn gave(output: &Output) -> String {
    let results = output.stdout.find("\nresults:").map_or("", |at| &output.stdout[at + 1..]);
    format!("{}{results}", items_of(&output.stdout))
}

/// Whether a text is in something that is not edited inside: in a map that is written in a `<<` entry, or in an element without a name.
fn is_in_one_piece(node: NodeRef<'_>, text: &str) -> bool {
    let has = |value: NodeRef<'_>| value.strings().any(|own| own == text);
    let in_entry =
        |(key, value): (NodeRef<'_>, NodeRef<'_>)| key.text() == "<<" && has(value) || is_in_one_piece(value, text);
    let in_element = |element: NodeRef<'_>| {
        element.is_container() && element.get("name").is_none() && has(element) || is_in_one_piece(element, text)
    };
    node.kind() != Kind::Alias && (node.entries().any(in_entry) || node.elements().any(in_element))
}

/// Whether dest has a document as original writes it and updated does not. Then it takes updated's text, even if only the text differs.
fn is_rewritten(dest: &str, others: &[(&str, &str)]) -> bool {
    let documents = |text: &str| text.split("---\n").map(str::to_owned).collect::<Vec<_>>();
    let of = |wanted: &str| others.iter().find(|(role, _)| *role == wanted).map(|(_, text)| documents(text));
    let (Some(original), Some(updated)) = (of("original"), of("updated")) else { return false };
    let dest = documents(dest);
    original.iter().any(|document| dest.contains(document) && !updated.contains(document))
}

/// Merges each mix of texts and twins, and says what came of it.
fn check(dest: &Side, others: &[(&str, &Side)], spec: &str) -> Result<Told, TestCaseError> {
    let texts = |is_twin: bool| -> Vec<(&str, &str)> {
        others.iter().map(|(role, s)| (*role, if is_twin { s.twin.as_str() } else { &s.aliased })).collect()
    };
    let stdin = |d: &str, others: &[(&str, &str)]| {
        let sides: String = others.iter().map(|(role, text)| side(role, text)).collect();
        resource_list(&items(d), &format!("{spec}{sides}"))
    };
    let (twins, aliased) = (texts(true), texts(false));
    let twin = stdin(&dest.twin, &twins);
    let (want, of_twin) = told(&twin);
    for (dest, others) in [(&dest.aliased, &twins), (&dest.twin, &aliased), (&dest.aliased, &aliased)] {
        let stdin = stdin(dest, others);
        let (got, output) = told(&stdin);
        prop_assert_eq!(
            &got,
            &want,
            "\n--- in\n{}\n--- gave\n{}\n--- and the twin\n{}\n--- gave\n{}",
            stdin,
            gave(&output),
            twin,
            gave(&of_twin)
        );
        if items_of(&of_twin.stdout) == items_of(&twin) && !is_rewritten(dest, others) {
            prop_assert_eq!(items_of(&output.stdout), items_of(&stdin), "nothing changed");
        }
    }
    Ok(want)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 400, ..support::tries(80) })]

    #[test]
    fn a_patched_document_and_its_twin_are_equal(
        dests in prop::collection::vec(spec(), 1..3), patch in spec(),
        how in prop::collection::vec(any::<u8>(), 8..60), style in prop::collection::vec(any::<u8>(), 30..120)
    ) {
        let bytes = &mut how.iter().cycle();
        let values: Vec<Value> = dests.iter().enumerate().map(|(i, spec)| pod(i, spec, bytes)).collect();
        let dest = Side::of(&values, &style);
        for mode in ["TwoWay", "Strategic"] {
            let mut patch = mixed(&dests[0], &patch, bytes);
            strew(&mut patch, bytes, mode == "Strategic");
            let source = Side::of(&[pod(0, &patch, bytes)], &how);
            check(&dest, &[("source", &source)], &format!("mode: {mode}\n"))?;
        }
    }

    #[test]
    fn an_upgraded_document_and_its_twin_are_equal(
        original in spec(), one in spec(), two in spec(),
        how in prop::collection::vec(any::<u8>(), 8..60), style in prop::collection::vec(any::<u8>(), 30..120)
    ) {
        let bytes = &mut how.iter().cycle();
        // Of a second resource, each side may be without it.
        let mut side = |first: &Value, second: &Value, style: &[u8]| {
            let mut all = vec![pod(0, first, bytes)];
            all.extend((!one_in(bytes, 3)).then(|| pod(1, second, bytes)));
            Side::of(&all, style)
        };
        let bytes = &mut how[3..].iter().cycle();
        let dest = side(&mixed(&original, &two, bytes), &mixed(&one, &two, bytes), &style);
        let updated = side(&mixed(&original, &one, bytes), &mixed(&one, &original, bytes), &how);
        let original = side(&original, &one, &style[7..]);
        let policy = if one_in(bytes, 2) { "KeepDest" } else { "TakeUpdated" };
        // Renames are not looked for in a map with `<<`.
        let spec = format!("mode: ThreeWay\nonConflict: {policy}\nrenames: Ignore\n");
        check(&dest, &[("original", &original), ("updated", &updated)], &spec)?;
    }

    #[test]
    fn what_is_not_asked_for_stays_to_the_byte(spec in spec(), style in prop::collection::vec(any::<u8>(), 30..120)) {
        let value = pod(0, &spec, &mut style.iter().cycle());
        let dest = Side::of(&[value], &style);
        for text in [&dest.aliased, &dest.twin] {
            for spec in [
                format!("mode: TwoWay\n{}", side("source", text)),
                format!("mode: ThreeWay\n{}{}", side("original", text), side("updated", text)),
                format!("mode: Strategic\n{}", side("source", "{apiVersion: v1, kind: Pod, metadata: {name: p0}}\n")),
            ] {
                let stdin = resource_list(&items(&dest.aliased), &spec);
                let output = passes(&stdin).stdout;
                prop_assert_eq!(items_of(&output), items_of(&stdin), "\n{}", stdin);
            }
        }
    }

    /// Upstream keeps its anchors, aliases and `<<`, and changes values. Dest, which changed something else, keeps them all.
    #[test]
    fn what_follows_its_anchor_upstream_follows_it_in_dest(
        spec in spec(), style in prop::collection::vec(any::<u8>(), 30..120)
    ) {
        let mut value = pod(0, &spec, &mut style.iter().cycle());
        if let Some(Value::Array(defs)) = value.get_mut("defs").map(Value::take) {
            value["defs"] = defs.into_iter().enumerate().map(|(i, part)| (format!("d{i}"), part)).collect();
        }
        let original = Side::of(&[value], &style).aliased;
        // A map between brackets has no line for what dest adds.
        prop_assume!(!original.starts_with("---\n{"));
        let doc = Document::parse(original.as_str()).expect("valid");
        prop_assume!(!doc.roots().any(|root| is_in_one_piece(root, "y z")));
        let updated = original.replace("y z", "z y");
        let [dest, want] = [&original, &updated].map(|text| format!("{text}own: 1\n"));
        let sides = format!("mode: ThreeWay\n{}{}", side("original", &original), side("updated", &updated));
        let output = passes(&resource_list(&items(&dest), &sides)).stdout;
        prop_assert_eq!(items_of(&output), items(&want), "\n{}", dest);
    }
}

/// The generator must not miss what the law is about.
#[test]
fn most_documents_share_something() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut anchors, mut aliases, mut merges) = (0, 0, 0);
    for _ in 0..100 {
        use proptest::strategy::ValueTree;
        let strategy = (spec(), prop::collection::vec(any::<u8>(), 30..120));
        let (spec, style) = strategy.new_tree(&mut runner).expect("a tree").current();
        let text = Side::of(&[pod(0, &spec, &mut style.iter().cycle())], &style).aliased;
        anchors += text.matches('&').count();
        aliases += text.matches('*').count();
        merges += text.matches("<<:").count();
    }
    assert!(anchors > 500 && aliases > 300 && merges > 300, "{anchors} anchors, {aliases} aliases, {merges} merges");
}
