//! The laws of Strategic, over generated Pods and patches with directives in any place.

#[path = "support/generate.rs"]
mod generate;
#[path = "support/render.rs"]
mod render;
mod support;

use krm_merge_function::Verdict;
use krm_yaml::{Document, NodeRef};
use proptest::prelude::*;
use serde_json::{Value, json};

use generate::{env, keyed, map_of};
use support::{items, items_of, passes, resource_list, side};

fn scalar() -> impl Strategy<Value = Value> {
    let texts = prop::sample::select(&render::TEXTS[..]).prop_map(|text| json!(text));
    prop_oneof![Just(json!("x")), Just(json!("y")), Just(json!("z")), texts]
}

fn set() -> impl Strategy<Value = Value> {
    prop::collection::btree_set("[k-n]", 0..4).prop_map(|s| json!(s))
}

fn container(name: &'static str) -> BoxedStrategy<Value> {
    let parts = (
        prop::option::of(scalar()),
        prop::option::of(keyed(|name| env(name, scalar()))),
        prop::option::of(set()),
        prop::option::of(prop::option::of(scalar())),
    );
    parts
        .prop_map(move |(image, env, args, cpu)| {
            map_of(vec![
                ("name", Some(json!(name))),
                ("image", image),
                ("env", env),
                ("args", args),
                ("resources", cpu.map(|cpu| map_of(vec![("limits", Some(map_of(vec![("cpu", cpu)])))]))),
            ])
        })
        .boxed()
}

fn pod() -> impl Strategy<Value = Value> {
    let tolerations = prop::collection::vec(scalar().prop_map(|k| json!({"key": k})), 0..3).prop_map(Value::Array);
    let parts = (
        prop::option::of(set()),
        prop::option::of(keyed(container)),
        prop::option::of(tolerations),
        prop::option::of(prop::option::of(scalar())),
    );
    parts.prop_map(|(finalizers, containers, tolerations, disk)| {
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": map_of(vec![("name", Some(json!("web"))), ("finalizers", finalizers)]),
            "spec": map_of(vec![
                ("containers", containers),
                ("tolerations", tolerations),
                ("nodeSelector", disk.map(|d| map_of(vec![("disk", d)]))),
            ]),
        })
    })
}

/// Strews directives and nulls over a patch, below its root; `choices` says where and which.
fn strew(value: &mut Value, choices: &mut impl Iterator<Item = u8>, depth: usize) {
    let mut one_in = |n: u8| choices.next().is_some_and(|c| c % n == 0);
    match value {
        Value::Object(map) => {
            if depth > 0 && one_in(4) {
                let said = if one_in(3) {
                    "merge"
                } else if one_in(2) {
                    "replace"
                } else {
                    "delete"
                };
                map.insert("$patch".into(), json!(said));
            }
            if depth > 0 && one_in(6) {
                let names: Vec<String> = map.keys().filter(|k| !k.starts_with('$')).cloned().collect();
                map.insert("$retainKeys".into(), json!(names));
            }
            let names: Vec<String> = map.keys().filter(|k| !k.starts_with('$')).cloned().collect();
            for name in &names {
                let is_set = name == "args" || name == "finalizers";
                if is_set && one_in(3) {
                    map.insert(format!("$deleteFromPrimitiveList/{name}"), json!(["k", "l"]));
                }
                if is_set && one_in(3) {
                    map.insert(format!("$setElementOrder/{name}"), json!(["k", "l", "m", "n"]));
                }
                if matches!(name.as_str(), "containers" | "env") && one_in(3) {
                    let order = map[name].as_array().map(|l| l.iter().map(|e| json!({"name": e["name"]})).collect());
                    map.insert(format!("$setElementOrder/{name}"), Value::Array(order.unwrap_or_default()));
                }
                if depth > 0 && name != "name" && one_in(7) {
                    map[name] = Value::Null;
                }
            }
            for name in names.iter().filter(|n| depth > 0 || *n == "spec" || *n == "metadata") {
                // The root and the metadata have to name the resource.
                let depth = if name == "metadata" { 0 } else { depth + 1 };
                strew(&mut map[name], choices, depth);
            }
        }
        Value::Array(list) => {
            if list.iter().any(Value::is_object) && one_in(6) {
                list.push(json!({"$patch": "replace"}));
            }
            for element in list {
                strew(element, choices, depth + 1);
            }
        }
        _ => {}
    }
}

/// Whether a directive, or a null, stands anywhere in a node.
fn holds_order(node: NodeRef<'_>) -> bool {
    node.is_null()
        || node.elements().any(holds_order)
        || node.entries().any(|(k, v)| k.string().starts_with('$') || holds_order(v))
}

fn strategic(dest: &str, patch: &str) -> String {
    resource_list(dest, &format!("mode: Strategic\n{}", side("source", patch)))
}

/// Sorts the keyed lists of a value by name.
fn sort(value: &mut Value) {
    match value {
        Value::Object(map) => map.values_mut().for_each(sort),
        Value::Array(list) => {
            list.iter_mut().for_each(sort);
            if list.iter().all(|e| e["name"].is_string()) {
                list.sort_by_key(|e| e["name"].to_string());
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(support::tries(1500))]

    /// Where a patch is refused, nothing is changed; where it is taken, nothing of its own grammar arrives, and again changes nothing.
    #[test]
    fn no_directive_and_no_null_arrives_and_again_changes_nothing(
        dest in pod(), patch in pod(), choices in prop::collection::vec(any::<u8>(), 1..200),
        style in prop::collection::vec(any::<u8>(), 1..40), other in prop::collection::vec(any::<u8>(), 1..40)
    ) {
        let mut patch = patch;
        strew(&mut patch, &mut choices.iter().copied(), 0);
        let dest = render::Style::new(&style).document(&dest);
        let patch = render::odd(render::Style::new(&other).document(&patch), other[0]);
        let stdin = render::odd(strategic(&items(&dest), &patch), style[0]);
        let output = krm_merge_function::run(&stdin);
        if output.verdict == Verdict::Failed {
            prop_assert!(output.stdout.starts_with(stdin.trim_end()), "{}", output.stdout);
            return Ok(());
        }
        let doc = Document::parse(output.stdout.as_str()).expect("YAML");
        let got = doc.roots().next().and_then(|r| r.get("items")).expect("items");
        prop_assert!(!holds_order(got), "\n{}\n{}\n{}", dest, patch, output.stdout);
        let again = passes(&strategic(items_of(&output.stdout), &patch));
        prop_assert_eq!(items_of(&again.stdout), items_of(&output.stdout), "\n{}\n{}", dest, patch);
    }

    /// TwoWay and Strategic are one merge: without directives they differ in nothing but what they know of types.
    #[test]
    fn without_directives_strategic_is_two_way(
        dest in pod(), patch in pod(),
        style in prop::collection::vec(any::<u8>(), 1..40), other in prop::collection::vec(any::<u8>(), 1..40)
    ) {
        let dest = render::Style::new(&style).document(&dest);
        let patch = render::Style::new(&other).document(&patch);
        let stdin = strategic(&items(&dest), &patch);
        let two_way = passes(&stdin.replace("mode: Strategic", "mode: TwoWay"));
        prop_assert_eq!(passes(&stdin).stdout.replace("mode: Strategic", "mode: TwoWay"), two_way.stdout);
    }

    /// Elements of one key are merged one after the other: as if each stood in a patch of its own.
    #[test]
    fn elements_of_one_key_are_patches_in_turn(
        dest in pod(), elements in prop::collection::vec(container("a"), 2..=3),
        choices in prop::collection::vec(any::<u8>(), 1..200), style in prop::collection::vec(any::<u8>(), 1..40)
    ) {
        let mut choices = choices.into_iter();
        let elements: Vec<Value> = elements.into_iter().map(|mut element| {
            strew(&mut element, &mut choices, 1);
            // Beside a name, too, it would speak of the list.
            if element["$patch"] == "replace" {
                element["$patch"] = json!("merge");
            }
            // Of lists that only dest or an element before may have.
            for (list, directive, value) in [
                ("args", "$deleteFromPrimitiveList/args", json!(["l", "n"])),
                ("args", "$setElementOrder/args", json!(["n", "m", "l", "k"])),
                ("env", "$setElementOrder/env", json!([{"name": "c"}, {"name": "b"}, {"name": "a"}])),
            ] {
                if element.get(list).is_none() && choices.next().is_some_and(|c| c % 2 == 0) {
                    element[directive] = value;
                }
            }
            element
        }).collect();
        let mut style = render::Style::new(&style);
        let mut patch = |elements: &[Value]| style.document(&json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": elements},
        }));
        let dest = format!("{dest}\n");
        let at_once = krm_merge_function::run(&strategic(&items(&dest), &patch(&elements)));
        let mut in_turn = items(&dest);
        for element in &elements {
            let output = krm_merge_function::run(&strategic(&in_turn, &patch(std::slice::from_ref(element))));
            if output.verdict == Verdict::Failed {
                prop_assert_eq!(at_once.verdict, Verdict::Failed, "\n{}\n{:?}\n{}", dest, elements, output.stdout);
                return Ok(());
            }
            in_turn = items_of(&output.stdout).to_owned();
        }
        prop_assert_eq!(at_once.verdict, Verdict::Passed, "\n{}\n{:?}\n{}", dest, elements, at_once.stdout);
        // What one deletes and a later one brings back has kept its place at once, and lost it in turn. An order that names some elements only
        // moves them among those that are there, which at once are dest's.
        let comes_back = elements.iter().any(|e| e.to_string().contains(r#""delete""#));
        let moves_some = elements.iter().any(|e| e.get("env").is_some() && e.get("$setElementOrder/env").is_some());
        let value = |items: &str| {
            let mut value = yaml_serde::from_str::<Value>(items).expect("YAML");
            if comes_back || moves_some {
                sort(&mut value);
            }
            value
        };
        prop_assert_eq!(value(items_of(&at_once.stdout)), value(&in_turn), "\n{}\n{:?}", dest, elements);
    }
}

proptest! {
    #![proptest_config(support::tries(1500))]

    /// Elements of one key bring each of their comments once, wherever it was, and again nothing.
    #[test]
    fn elements_of_one_key_bring_each_comment_once(
        dest in pod(), elements in prop::collection::vec(container("a"), 2..=3),
        style in prop::collection::vec(any::<u8>(), 1..40), other in prop::collection::vec(any::<u8>(), 1..40)
    ) {
        let dest = render::Style::new(&style).document(&dest);
        let patch = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": elements},
        });
        let patch = render::Style::new(&other).document(&patch).replace("# c", "# p");
        let output = passes(&strategic(&items(&dest), &patch));
        let merged = items_of(&output.stdout);
        // Texts have a `#` in them, too.
        let is_comment = |text: &&str| text.starts_with(['c', 'p']) && text[1..].bytes().all(|b| b.is_ascii_digit());
        let all = merged.lines().filter_map(|l| l.split_once("# ")).map(|c| c.1);
        let mut comments: Vec<&str> = all.filter(is_comment).collect();
        comments.sort_unstable();
        let all = comments.len();
        comments.dedup();
        prop_assert_eq!(comments.len(), all, "\n{}\n{}\n{}", dest, patch, merged);
        // TODO: a list that several elements replace in turn should keep its comments when they do it again.
        let replaced = elements.iter().filter(|element| element.get("args").is_some()).count();
        if replaced > 1 {
            return Ok(());
        }
        let again = passes(&strategic(merged, &patch));
        prop_assert_eq!(items_of(&again.stdout), merged, "\n{}\n{}", dest, patch);
    }
}

/// The generator must not miss what the law is about.
#[test]
fn most_strewn_patches_are_taken() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut taken, mut directives) = (0, 0);
    for _ in 0..300 {
        use proptest::strategy::ValueTree;
        let strategy = (pod(), pod(), prop::collection::vec(any::<u8>(), 50..200));
        let (dest, mut patch, choices) = strategy.new_tree(&mut runner).expect("a tree").current();
        strew(&mut patch, &mut choices.into_iter(), 0);
        directives += patch.to_string().matches("\"$").count();
        let output = krm_merge_function::run(&strategic(&items(&format!("{dest}\n")), &format!("{patch}\n")));
        taken += usize::from(output.verdict == Verdict::Passed);
    }
    assert!(taken > 150 && directives > 600, "{taken} taken, {directives} directives");
}

/// A toleration that shares no value with another one, as lines of a block; `comments` has a bit for each of its comments.
fn toleration(id: usize, changed: bool, comments: u8) -> String {
    let effect = if changed { "changed" } else { "effect" };
    let above = if comments & 1 == 0 { String::new() } else { format!("  # above {id};\n") };
    let behind = if comments & 2 == 0 { String::new() } else { format!(" # behind {id};") };
    format!("{above}  - key: key-{id};{behind}\n    value: value-{id}\n    effect: {effect}-{id}\n")
}

fn pod_with(tolerations: &[String]) -> String {
    let none = if tolerations.is_empty() { " []" } else { "" };
    format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  tolerations:{none}\n{}", tolerations.concat())
}

proptest! {
    #![proptest_config(support::tries(500))]

    /// A list without keys is replaced. What stays of dest's elements keeps its comments, in another order and if a part of it changed, too.
    #[test]
    fn comments_stay_at_the_elements_that_a_replaced_list_keeps(
        of_dest in prop::collection::vec(0_u8..4, 0..7),
        of_patch in prop::collection::vec((0_usize..9, any::<bool>()), 0..7),
    ) {
        let dest: Vec<String> = of_dest.iter().enumerate().map(|(id, comments)| toleration(id, false, *comments)).collect();
        let mut seen = std::collections::HashSet::new();
        let kept: Vec<(usize, bool)> = of_patch.into_iter().filter(|(id, _)| seen.insert(*id)).collect();
        let patch: Vec<String> = kept.iter().map(|(id, changed)| toleration(*id, *changed, 0)).collect();
        for mode in ["TwoWay", "Strategic"] {
            let spec = format!("mode: {mode}\n{}", side("source", &pod_with(&patch)));
            let output = passes(&resource_list(&items(&pod_with(&dest)), &spec));
            let merged = items_of(&output.stdout);
            let lines: Vec<&str> = merged.lines().collect();
            for (number, line) in lines.iter().enumerate().filter(|(_, line)| line.contains('#')) {
                let id = line.rsplit(' ').next().expect("an id");
                let element = lines[number..].iter().find(|line| line.contains("- key: "));
                prop_assert!(element.is_some_and(|own| own.contains(&format!("key-{id}"))), "{line}\n{merged}");
            }
            for (id, _) in kept.iter().filter(|(id, _)| *id < of_dest.len()) {
                for (bit, place) in [(1, "above"), (2, "behind")] {
                    let is_there = merged.contains(&format!("# {place} {id};"));
                    prop_assert_eq!(is_there, of_dest[*id] & bit != 0, "{} {}\n{}", place, id, merged);
                }
            }
        }
    }
}
