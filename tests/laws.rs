//! The laws of the design: over a small universe, where every case is tried, and over generated resources in many styles.

#[path = "support/blanked.rs"]
mod blanked;
#[path = "support/reference.rs"]
mod reference;
#[path = "support/render.rs"]
mod render;
mod support;

use krm_yaml::{Document, Style};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use support::{indent, items, items_of, passes, resource, resource_list, sample, value_of};

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

/// Every value of a small universe: scalars, lists, and maps over two keys, two deep.
fn universe() -> Vec<Value> {
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

fn run_pairs(pairs: &[(Value, Value)], text: impl Fn(&Value) -> String) -> Vec<Value> {
    let mut dest = String::new();
    let mut source = String::new();
    for (i, (d, s)) in pairs.iter().enumerate() {
        dest.push_str(&format!("- {}", indent(&text(&resource(i, d)), 2).trim_start()));
        source.push_str(&format!("---\n{}", text(&resource(i, s))));
    }
    let spec = format!("mode: TwoWay\ninferMergeKeys: false\n{}", support::side("source", &source));
    let output = passes(&resource_list(&dest, &spec));
    let doc = Document::parse(output.stdout).expect("YAML");
    let root = doc.roots().next().expect("root");
    root.get("items").expect("items").elements().map(|i| i.get("spec").map_or(json!("(gone)"), value_of)).collect()
}

#[test]
fn two_way_is_rfc_7396_where_every_list_is_atomic() {
    let universe = universe();
    let mut pairs = Vec::new();
    for dest in &universe {
        for source in &universe {
            pairs.push((dest.clone(), source.clone()));
        }
    }
    assert!(pairs.len() > 16_000);
    let pairs = sample(pairs);
    for flow in [false, true] {
        let text = |v: &Value| if flow { format!("{v}\n") } else { render::Style::new(&[1]).document(v) };
        for (got, (dest, source)) in run_pairs(&pairs, text).iter().zip(&pairs) {
            let want = match source {
                Value::Null => json!("(gone)"),
                _ => merge_patch(Some(dest), source),
            };
            assert_eq!(*got, want, "{dest} with {source}, flow: {flow}");
        }
    }
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-5i64..500).prop_map(|n| json!(n)),
        prop::sample::select(vec!["1e3", " x", "[x]", "x, y", "-"]).prop_map(|s| json!(s)),
        prop::sample::select(&render::TEXTS[..]).prop_map(|s| json!(s)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map("[a-f]", inner.clone(), 0..5)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
            prop::collection::btree_map("[a-c]", inner, 0..4).prop_map(|elements| Value::Array(
                elements.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
            )),
        ]
    })
}

fn map() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-f]", value(), 0..5).prop_map(|m| Value::Object(m.into_iter().collect()))
}

/// Without nulls, which are orders to clear; or without those in lists, which an atomic list holds as they are, and which clear once
/// inference finds a key in both lists.
fn without_nulls(value: Value, everywhere: bool) -> Value {
    match value {
        Value::Array(list) => {
            Value::Array(list.into_iter().filter(|v| !v.is_null()).map(|v| without_nulls(v, true)).collect())
        }
        Value::Object(map) => Value::Object(
            map.into_iter()
                .filter(|(_, v)| !everywhere || !v.is_null())
                .map(|(k, v)| (k, without_nulls(v, everywhere)))
                .collect(),
        ),
        scalar => scalar,
    }
}

// The generated keys are single letters, so that of the associative keys only `name` comes into play.
proptest! {
    #![proptest_config(support::tries(1500))]

    #[test]
    fn two_way_means_what_the_model_says_and_again_changes_nothing(
        dest in map(), source in map(), style in prop::collection::vec(any::<u8>(), 1..40), other in prop::collection::vec(any::<u8>(), 1..40)
    ) {
        let (dest, source) = (without_nulls(dest, false), without_nulls(source, false));
        let dest_text = render::Style::new(&style).document(&resource(0, &dest));
        let source_text = render::odd(render::Style::new(&other).document(&resource(0, &source)), other[0]);
        let spec = format!("mode: TwoWay\n{}", support::side("source", &source_text));
        let stdin = render::odd(resource_list(&items(&dest_text), &spec), style[0]);
        let output = passes(&stdin);
        let doc = Document::parse(output.stdout.as_str()).expect("YAML");
        let item = doc.roots().next().and_then(|r| r.get("items")).and_then(|i| i.elements().next()).expect("the item");
        let want = reference::two_way(Some(&resource(0, &dest)), &resource(0, &source)).expect("a map");
        prop_assert_eq!(value_of(item), want, "\n{}\n{}\n{}", dest_text, source_text, output.stdout);

        let again = passes(&resource_list(items_of(&output.stdout), &spec));
        prop_assert_eq!(items_of(&again.stdout), items_of(&output.stdout), "\n{}\n{}", dest_text, source_text);
    }

    #[test]
    fn a_document_merged_into_itself_is_itself_to_the_byte(dest in map(), style in prop::collection::vec(any::<u8>(), 1..40)) {
        let text = render::Style::new(&style).document(&resource(0, &without_nulls(dest, true)));
        let source = support::side("source", &render::odd(text.clone(), style[style.len() / 2]));
        let stdin = render::odd(resource_list(&items(&text), &format!("mode: TwoWay\n{source}")), style[0]);
        prop_assert_eq!(passes(&stdin).stdout, stdin);
    }

    /// What is added touches no line that is there.
    #[test]
    fn an_addition_leaves_every_line_of_dest(dest in map(), source in value(), style in prop::collection::vec(any::<u8>(), 1..40)) {
        prop_assume!(!source.is_null() && dest.as_object().is_some_and(|d| !d.is_empty()));
        let text = render::Style::new(&style).document(&resource(0, &dest));
        let doc = Document::parse(text.as_str()).expect("YAML");
        let spec = doc.roots().next().and_then(|root| root.get("spec")).expect("a spec");
        prop_assume!(spec.style() == Style::Block);
        let source = render::Style::new(&style).document(&resource(0, &json!({"zz": source})));
        let stdin = resource_list(&items(&text), &format!("mode: TwoWay\n{}", support::side("source", &source)));
        let output = passes(&stdin).stdout;
        let mut lines = items_of(&output).lines();
        for line in items(&text).lines() {
            prop_assert!(lines.any(|l| l == line), "{:?} is gone from\n{}", line, output);
        }
    }

    /// With every span and every comment blanked out, only indicators are left: no byte of content lies outside of the tree.
    #[test]
    fn outside_of_the_spans_there_are_only_indicators(dest in map(), style in prop::collection::vec(any::<u8>(), 1..40)) {
        let text = render::Style::new(&style).document(&resource(0, &dest));
        blanked::check(&render::odd(text, style[0]));
    }
}

#[test]
fn outside_of_the_spans_of_hard_documents_there_are_only_indicators() {
    for text in [
        "a: &x !!map\n  b: !!str 1\nc: *x\nd: &y\ne: !t\n  - 1\n",
        "\u{feff}a: |2+ # c\n    x\n\n\nb: >-\n  y\n...\n---\n? {a: 1}\n: [b, c: d]\n",
        "--- # c\n- - a\n  -\n- |\n  x\n-   k: 'l\n      m'\n    n: \"o\n\n      p\"\n",
        "a:\r\n  b: 1 # c\r\n\r\n  c: |\r\n    d\r\n",
        // Marks that end no document.
        "...\n>",
        "...\r\t>",
        "# c\n...\n...\n|\n  x\n...\n...\n...x: 1\n",
    ] {
        blanked::check(text);
    }
}
