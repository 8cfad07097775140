//! The deepest nesting that the parser takes, in a stack of 1 MiB: what Windows gives a program, and most hosts of wasm.

mod support;

use std::thread;

use krm_merge_function::{Verdict, run};
use krm_yaml::Document;

use support::{indent, items, resource_list};

/// The stack of a thread, for whichever build the tests are of.
const STACK: usize = 1 << 20;

const HEAD: &str = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n";

/// Writes a value so many levels deep.
type Shape = fn(usize, &str) -> String;

fn block_maps(depth: usize, leaf: &str) -> String {
    (0..depth).map(|i| format!("{}a:\n", " ".repeat(i))).collect::<String>()
        + &format!("{}b: {leaf}\n", " ".repeat(depth))
}

fn flow_maps(depth: usize, leaf: &str) -> String {
    format!("a: {}{leaf}{}\n", "{a: ".repeat(depth), "}".repeat(depth))
}

fn block_lists(depth: usize, leaf: &str) -> String {
    format!("a:\n{}{leaf}\n", "- ".repeat(depth))
}

fn flow_lists(depth: usize, leaf: &str) -> String {
    format!("a: {}{leaf}{}\n", "[".repeat(depth), "]".repeat(depth))
}

fn block_elements(depth: usize, leaf: &str) -> String {
    let level = |i: usize| format!("{pad}l:\n{pad}- name: x\n", pad = "  ".repeat(i));
    (0..depth / 2).map(level).collect::<String>() + &format!("{}b: {leaf}\n", "  ".repeat(depth / 2))
}

fn flow_elements(depth: usize, leaf: &str) -> String {
    format!("l: {}{leaf}{}\n", "[{name: x, l: ".repeat(depth / 2), "}]".repeat(depth / 2))
}

/// A `<<` and an alias, behind which the levels stand.
fn alias(depth: usize, leaf: &str) -> String {
    format!("base: &base\n{}use: *base\nmore:\n  <<: *base\n", indent(&flow_maps(depth - 1, leaf), 2))
}

const SHAPES: [(&str, Shape); 7] = [
    ("block maps", block_maps),
    ("flow maps", flow_maps),
    ("block lists", block_lists),
    ("flow lists", flow_lists),
    ("block elements", block_elements),
    ("flow elements", flow_elements),
    ("alias", alias),
];

/// A resource with this spec; without one for `None`.
fn resource(spec: Option<&str>) -> String {
    let spec = spec.map_or("  other: 1\n".to_owned(), |spec| indent(spec, 2));
    format!("{HEAD}spec:\n{spec}")
}

/// What each side of a merge has at the end of the nesting; `None` for one that has no nesting at all.
type Leaves<'a> = [Option<&'a str>; 3];

/// What the function is given.
fn stdin(mode: &str, texts: [String; 3], is_inline: bool) -> String {
    let [original, updated, dest] = texts;
    let role = |name: &str, text: &str| {
        if is_inline {
            format!("{name}:\n- resources:\n{}", indent(&items(text), 2))
        } else {
            support::side(name, text)
        }
    };
    let roles = match mode {
        "ThreeWay" => role("original", &original) + &role("updated", &updated),
        _ => role("source", &updated),
    };
    resource_list(&items(&dest), &format!("mode: {mode}\n{roles}"))
}

/// The most levels with which the parser takes all texts.
fn deepest(texts: impl Fn(usize) -> Vec<String>) -> usize {
    let mut fits = 0;
    let mut step = 512;
    while step > 0 {
        if texts(fits + step).iter().all(|text| Document::parse(text.as_str()).is_ok()) {
            fits += step;
        }
        step /= 2;
    }
    fits
}

/// Runs the function in a small stack.
fn runs(what: &str, stdin: String) {
    let run = thread::Builder::new().stack_size(STACK).spawn(move || run(&stdin)).expect("a thread");
    let output = run.join().expect("no panic");
    assert_eq!(output.verdict, Verdict::Passed, "{what}: {:?}", output.stderr);
}

#[test]
fn the_deepest_texts_fit_into_a_small_stack() {
    // At the end of the nesting: a change, a conflict, an addition, a deletion, and a change of what dest lacks.
    let leaves: [Leaves<'_>; 5] = [
        [Some("1"), Some("2"), Some("1")],
        [Some("1"), Some("2"), Some("3")],
        [None, Some("2"), None],
        [Some("1"), None, Some("1")],
        [Some("1"), Some("2"), None],
    ];
    for ((name, shape), leaves) in SHAPES.into_iter().flat_map(|shape| leaves.map(|leaves| (shape, leaves))) {
        let sides = |depth: usize| leaves.map(|leaf| resource(leaf.map(|leaf| shape(depth, leaf)).as_deref()));
        for mode in ["TwoWay", "ThreeWay", "Strategic"] {
            for is_inline in [false, true] {
                let given = |depth: usize| stdin(mode, sides(depth), is_inline);
                // What dest lacks must fit into the items, too.
                let depth = deepest(|depth| vec![resource_list(&items(&sides(depth).join("---\n")), ""), given(depth)]);
                assert!(depth > 150, "{depth}");
                runs(&format!("{name}, {mode}, inline: {is_inline}, {leaves:?}"), given(depth));
            }
        }
    }
}
