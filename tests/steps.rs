//! Nothing is quadratic: the function does work in proportion to its input, for the inputs that a quadratic loop once took long for.

#[path = "support/skip.rs"]
mod skip;
#[path = "support/steps.rs"]
mod steps;
#[path = "support/texts.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod texts;

use steps::{Run, grows_with_the_input};
use texts::{indent, items, resource_list, side};

/// Checks the growth of a run of the function; `stdin` makes the input of a size.
fn check(n: usize, stdin: impl Fn(usize) -> String) {
    check_until(0, n, stdin);
}

/// The same for a run that ends with this exit code.
fn check_until(code: i32, n: usize, stdin: impl Fn(usize) -> String) {
    if skip::has("valgrind") {
        let program = env!("CARGO_BIN_EXE_krm-merge-function");
        grows_with_the_input(n, |n| Run { program, args: Vec::new(), folder: None, stdin: stdin(n), code });
    }
}

/// One text for each number below `n`.
fn each(n: usize, text: impl Fn(usize) -> String) -> String {
    (0..n).map(text).collect()
}

fn pod(containers: &str) -> String {
    format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n{}", indent(containers, 2))
}

fn thing(spec: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: x\nspec:\n{}", indent(spec, 2))
}

fn three_way(original: &str, updated: &str, dest: &str) -> String {
    let spec =
        format!("mode: ThreeWay\nonConflict: TakeUpdated\n{}{}", side("original", original), side("updated", updated));
    resource_list(&items(dest), &spec)
}

#[test]
fn elements_that_repeat_one_key_on_both_sides() {
    let env = |n: usize, value: char| {
        let variables = each(n, |i| format!("  - {{name: a, value: {value}{i}}}\n"));
        pod(&format!("- name: c\n  env:\n{variables}"))
    };
    for mode in ["TwoWay", "Strategic"] {
        check(60, |n| resource_list(&items(&env(n, 'd')), &format!("mode: {mode}\n{}", side("source", &env(n, 's')))));
    }
}

#[test]
fn ports_without_a_protocol() {
    let service =
        |ports: String| format!("apiVersion: v1\nkind: Service\nmetadata:\n  name: s\nspec:\n  ports:\n{ports}");
    let dest = |n: usize| service(each(n, |i| format!("  - {{port: {i}, protocol: UDP}}\n")));
    let patch = |n: usize| service(each(n, |i| format!("  - {{port: {i}, name: p{i}}}\n")));
    check(60, |n| resource_list(&items(&dest(n)), &format!("mode: Strategic\n{}", side("source", &patch(n)))));
}

#[test]
fn conflicts_on_one_line_of_json() {
    let map = |n: usize, value: char| {
        let data: Vec<String> = (0..n).map(|i| format!("\"k{i}\":\"{value}\"")).collect();
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"m\"}},\"data\":{{{}}}}}\n",
            data.join(",")
        )
    };
    check(60, |n| three_way(&map(n, 'o'), &map(n, 'u'), &map(n, 'd')));
}

fn map(i: usize) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{i}\n  labels: {{a: b}}\n")
}

#[test]
fn a_selector_of_many_terms() {
    let spec = |n: usize| {
        let terms: Vec<String> = (0..n).map(|i| format!("k{i}!=v")).collect();
        let patch = "  yaml: |\n    data: {x: y}\n";
        format!("mode: Strategic\nsource:\n- target:\n    labelSelector: \"{}\"\n{patch}", terms.join(","))
    };
    check(250, |n| resource_list(&items(&each(4, map)), &spec(n)));
}

#[test]
fn one_patch_for_many_items() {
    let patch = "  yaml: |\n    data: {x: y}\n";
    let target = "target:\n    kind: ConfigMap\n    labelSelector: a=b,c!=d\n";
    let spec = format!("mode: Strategic\nsource:\n- {target}{patch}");
    check(240, |n| resource_list(&items(&each(n, map)), &spec));
}

/// Below some hundred elements, the search for what both sides have is quadratic on purpose: it finds the shortest difference.
#[test]
fn places_that_a_source_does_not_make() {
    check(500, |n| {
        let two = each(2, |i| format!("{}\n---\n", thing("a: b").replace("name: x", &format!("name: x{i}"))));
        let patch = format!("spec:\n{}", each(n, |i| format!("  f{i}: 1\n")));
        let source = format!("- target: {{kind: Thing}}\n  create: false\n  yaml: |\n{}", indent(&patch, 4));
        resource_list(&items(&two), &format!("mode: Strategic\nsource:\n{source}"))
    });
}

#[test]
fn new_ports_beside_others() {
    let service = |ports: String| {
        format!("apiVersion: v1\nkind: Service\nmetadata:\n  name: s\nspec:\n  ports:\n{}", indent(&ports, 2))
    };
    let ports = |n: usize, first: usize| each(n, |i| format!("- name: p{}\n  port: {}\n", first + i, first + i));
    check(200, |n| {
        let source = side("source", &service(ports(n, 30_000)));
        resource_list(&items(&service(ports(n, 1))), &format!("mode: Strategic\n{source}"))
    });
}

#[test]
fn elements_and_lines_without_keys_that_both_sides_changed() {
    let part = |before: &str, n: usize, value: char| {
        each(n, |i| if i % 8 == 0 { format!("{before}{value}{i}\n") } else { format!("{before}v{i}\n") })
    };
    let lists = |n: usize, value: char| thing(&format!("l:\n{}", part("- ", n, value)));
    let texts = |n: usize, value: char| thing(&format!("t: |\n{}", part("  ", n, value)));
    // Shorter lists and texts are compared by histogram, which takes more steps.
    check(2100, |n| three_way(&lists(n, 'o'), &lists(n, 'u'), &lists(n, 'd')));
    check(2100, |n| three_way(&texts(n, 'o'), &texts(n, 'u'), &texts(n, 'd')));
}

#[test]
fn comments_in_an_element_of_a_list_that_upstream_changed() {
    // The only element of original and dest is a list or a map of `n` lines.
    for before in ["- ", "k{i}: "] {
        let wide = |n: usize, quote: &str, comment: &str, added: &str| {
            let line = |i: usize| format!("  {}{quote}v{quote}{comment}\n", before.replace("{i}", &i.to_string()));
            thing(&format!("l:\n-{}{added}", &each(n, line)[1..]))
        };
        let sides = |n| [wide(n, "", "", ""), wide(n, "", " # new", "- added\n"), wide(n, "'", "", "")];
        // Most names have four bytes: a hash reads shorter ones in another way.
        check(250, |n| {
            let [original, updated, dest] = sides(n);
            three_way(&original, &updated, &dest)
        });
    }
}

#[test]
fn comments_that_upstream_added_after_dashes() {
    let list = |n: usize, after_dash: &str| thing(&format!("l:\n{}", each(n, |i| format!("-{after_dash}- v{i}\n"))));
    // Dest changed something else.
    let dest = |n| list(n, " ") + "  own: 1\n";
    check(60, |n| three_way(&list(n, " "), &list(n, " # new\n  "), &dest(n)));
}

#[test]
fn fields_that_upstream_put_into_another_order() {
    let map = |order: &mut dyn Iterator<Item = usize>, value: char| {
        thing(&order.map(|i| format!("f{i}: {value}\n")).collect::<String>())
    };
    check(500, |n| {
        let original = map(&mut (0..n), '1');
        three_way(&original, &map(&mut (0..n).rev(), '2'), &original)
    });
}

#[test]
fn items_of_one_identity_without_a_source() {
    let dest = |n: usize| {
        each(n, |i| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: same\ndata:\n  k: v{i}\n"))
    };
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\n";
    check(300, |n| resource_list(&items(&dest(n)), &format!("mode: TwoWay\n{}", side("source", other))));
}

#[test]
fn a_patch_of_many_directives() {
    let dest = |n: usize| pod(&each(n, |i| format!("- name: c{i}\n  image: a\n")));
    let patch = |n: usize| {
        let order = each(n, |i| format!("  - name: c{}\n", n - 1 - i));
        let elements =
            each(n, |i| format!("- name: c{i}\n  $patch: {}\n", if i % 2 == 0 { "delete" } else { "replace" }));
        pod(&elements).replacen(
            "  containers:\n",
            &format!("  $setElementOrder/containers:\n{order}  containers:\n"),
            1,
        )
    };
    check(60, |n| resource_list(&items(&dest(n)), &format!("mode: Strategic\n{}", side("source", &patch(n)))));
}

#[test]
fn aliases_of_one_anchor() {
    let map = |n: usize, last: &str| {
        thing(&format!("first: &x\n  a: 1\n{}last:\n  a: {last}\n", each(n, |i| format!("k{i}: *x\n"))))
    };
    let source = |n: usize| thing(&each(n, |i| format!("k{i}:\n  a: 2\n")));
    check(60, |n| resource_list(&items(&map(n, "1")), &format!("mode: TwoWay\n{}", side("source", &source(n)))));
    check(60, |n| three_way(&map(n, "1"), &map(n, "2").replacen("  a: 1", "  a: 3", 1), &map(n, "1")));
}

/// All together stand for more than a text can, so the text is refused before anything reads their values.
#[test]
fn aliases_of_a_long_text() {
    let source = side("source", &thing("a: 2\n"));
    check_until(1, 6000, |n| {
        let text = thing(&format!("a: 1\nt: &t {}\nl: [{}]\n", "x".repeat(4 * n), "*t, ".repeat(n)));
        resource_list(&items(&text), &format!("mode: TwoWay\n{source}"))
    });
}

#[test]
fn aliases_of_many_anchors_of_which_half_go() {
    let dest = |n: usize| {
        let (anchors, aliases) = (each(n, |i| format!("  a{i}: &x{i} 1\n")), each(n, |i| format!("  b{i}: *x{i}\n")));
        thing(&format!("a:\n{anchors}b:\n{aliases}"))
    };
    let source = |n: usize| thing(&format!("a:\n{}", each(n, |i| format!("  a{}: null\n", 2 * i))));
    check(60, |n| resource_list(&items(&dest(n)), &format!("mode: TwoWay\n{}", side("source", &source(n / 2)))));
}

#[test]
fn items_with_an_anchor_and_an_alias_each() {
    let item = |value: char, i: usize| format!("{}data: {{a: &x{i} {value}, b: *x{i}}}\n", map(i));
    let source = |n: usize| each(n, |i| format!("{}data: {{c: d}}\n", map(i)));
    check(60, |n| {
        let dest = each(n, |i| item('v', i));
        resource_list(&items(&dest), &format!("mode: TwoWay\n{}", side("source", &source(n))))
    });
}

#[test]
fn fields_beside_a_merge_key_that_is_written_out() {
    let map = |n: usize| thing(&format!("first: &x\n  a: 1\nmap:\n  <<: *x\n{}", each(n, |i| format!("  k{i}: 1\n"))));
    let source = |n: usize| thing(&format!("map:\n  a: 2\n{}", each(n, |i| format!("  k{i}: 2\n"))));
    check(250, |n| resource_list(&items(&map(n)), &format!("mode: TwoWay\n{}", side("source", &source(n)))));
}

#[test]
fn fields_of_a_new_map() {
    let source = |n: usize| thing(&format!("map:\n{}", each(n, |i| format!("  k{i}: 2\n"))));
    // The C library copies texts of fewer fields by another way.
    check(500, |n| resource_list(&items(&thing("a: 1\n")), &format!("mode: TwoWay\n{}", side("source", &source(n)))));
}

/// The elements are found again by what else they hold.
#[test]
fn elements_that_upstream_renamed() {
    let list = |n: usize, name: char, value: &str| {
        pod(&each(n, |i| format!("- name: {name}{i:04}\n  image: im{i:04}\n  a: {value}\n  b: x{i:04}\n")))
    };
    check(130, |n| three_way(&list(n, 'a', "1"), &list(n, 'b', "1"), &list(n, 'a', "2")));
}

#[test]
fn fields_that_upstream_renamed() {
    let map = |n: usize, name: char, value: &str| {
        thing(&each(n, |i| format!("{name}{i:04}:\n  a: v{i:04}{value}\n  b: w{i:04}\n  c: y{i:04}\n")))
    };
    check(130, |n| three_way(&map(n, 'o', ""), &map(n, 'u', ""), &map(n, 'o', "x")));
}

/// Upstream changed each element, and dest deleted them all.
#[test]
fn conflicts_of_elements_that_dest_deleted() {
    let list = |n: usize, value: &str| pod(&each(n, |i| format!("- name: c{i:04}\n  image: {value}\n")));
    let dest = |n: usize| pod(&each(n, |i| format!("- name: d{i:04}\n  image: own\n")));
    check(130, |n| three_way(&list(n, "a"), &list(n, "b"), &dest(n)));
}

#[test]
fn maps_with_one_merge_key_each() {
    let map = |n: usize, first: char, own: char| {
        thing(&format!("a: &a\n  k: {first}\n{}", each(n, |i| format!("m{i:04}:\n  <<: *a\n  own: {own}\n"))))
    };
    check(130, |n| three_way(&map(n, '1', '1'), &map(n, '1', '2'), &map(n, '3', '1')));
}
