//! Of most items the function keeps only the place, and reads one when it is merged. That changes no byte of what it writes.

mod support;
#[path = "../benches/workload.rs"]
#[allow(dead_code, reason = "benchmarks use the rest")]
mod workload;

use krm_merge::resource::{self, Resource};
use krm_merge::yaml::Document;
use krm_merge_function::resource_list::ResourceList;
use proptest::prelude::*;
use support::{resource_list, run, tries};

/// Lines that a mutation inserts: what a host, a person or an attacker may write.
const LINES: [&str; 17] = [
    "      # a comment",
    "  # a comment",
    "# a comment",
    "",
    "      config.kubernetes.io/merge-source: 'dest' # mine",
    "      config.kubernetes.io/merge-source: 'updated'",
    "      config.kubernetes.io/path: >-\n        a.yaml",
    "      config.kubernetes.io/path: a\n        b",
    "      internal.config.kubernetes.io/id: '7'",
    "      internal.config.kubernetes.io/index: '1'",
    "      'config.kubernetes.io/index': '1'",
    "      mine: |\n        a\n\n",
    "  metadata: # kpt-merge: team/other",
    "  spec: null",
    "  x: &a [1]",
    "  y: *a",
    "  <<: {z: 1}",
];

/// A text with some lines dropped, doubled, moved or inserted.
fn mutant(text: &str, changes: &[(prop::sample::Index, u8, prop::sample::Index)]) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for (at, kind, other) in changes {
        let (at, other) = (at.index(lines.len() - 8), other.index(lines.len() - 8));
        match kind % 5 {
            0 => drop(lines.remove(at.max(3))),
            1 => lines.insert(at.max(3), lines[at]),
            2 => lines.swap(at.max(3), other.max(3)),
            3 => lines.insert(at.max(3), lines[other]),
            _ => lines.insert(at.max(3), LINES[other % LINES.len()]),
        }
    }
    lines.join("\n") + "\n"
}

proptest! {
    #![proptest_config(tries(200))]

    #[test]
    fn an_outline_gives_what_all_nodes_give(
        size in 1usize..8,
        workload in prop::sample::select(vec![workload::two_way, workload::three_way, workload::strategic]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<prop::sample::Index>()), 0..4),
    ) {
        run(&mutant(&workload(size), &changes));
    }
}

/// An item that belongs to a role by its annotation, which has these lines above it.
fn of_role(role: &str, above: &str, rest: &str) -> String {
    format!(
        "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n    annotations:\n{above}      config.kubernetes.io/merge-source: {role}\n{rest}"
    )
}

#[test]
fn an_item_that_goes_leaves_a_block_scalar_above_it_alone() {
    let source = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: b\n    annotations:\n      config.kubernetes.io/merge-source: source\n";
    for (header, blank) in
        [("|", "\n"), ("|", "          \n"), ("|-", "          \n"), ("|+", "\n"), (">+", "          \n")]
    {
        let dest = |name: &str| {
            format!(
                "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {name}\n  data:\n    text: {header}\n      c\n"
            )
        };
        let items = format!("{}{}{source}{blank}{}{source}{blank}{}", dest("x"), dest("a"), dest("b"), dest("c"));
        let stdin = resource_list(&items, "mode: TwoWay\n")
            .replace("\nitems:\n", "\nitems:\n- kind: First\n  spec:\n    a: 1\n");
        let output = run(&stdin).stdout;
        let texts = |text: &str| {
            let document = Document::parse(text.to_owned()).expect("YAML");
            let items = document.roots().next().and_then(|list| list.get("items")).expect("items");
            let data = items.elements().filter_map(|item| item.at(&["data", "text"]));
            data.map(|text| text.string().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&output), texts(&stdin), "{output}");
    }
}

#[test]
fn blanks_below_a_scalar_of_an_item_that_goes_are_no_content_of_the_block_scalar_above_it() {
    let block = "  data:\n    t: |\n      text\n";
    for (plain, blank) in [
        ("  x: a\n    b\n", "         \n"),
        ("  x: \"a\n    b\"\n", "         \n"),
        ("  x: [a,\n    b]\n", "         \n"),
    ] {
        let package = |role: &str, blank: &str| {
            let item = |rest: &str| of_role(role, "", rest);
            [item(&format!("{plain}{blank}")).replace("name: a", "name: b"), item(block)].concat()
        };
        let items = [package("dest", ""), package("original", blank), package("updated", "")].concat();
        let output = run(&resource_list(&items, "mode: ThreeWay\n")
            .replace("\nitems:\n", "\nitems:\n- kind: First\n  spec:\n    a: 1\n"));
        assert!(output.stdout.contains("      text\nfunctionConfig:"), "{}", output.stdout);
    }
}

#[test]
fn what_other_items_have_changes_nothing() {
    let odd = [
        "",
        "- kind: First\n  <<: {m: 1}\n",
        "- kind: First\n  spec: &a\n    b: 1\n",
        "- kind: First\n  kind: Second\n",
    ];
    let above = [
        "",
        "      # mine\n",
        "      # mine\n\n",
        "      own: y\n#     config.kubernetes.io/merge-source: mine\n      more: z\n",
    ];
    let rest = [
        "",
        "      other: x\n",
        "  spec:\n    name: a-b  # t0\n",
        "  spec:\n    ref:\n      kind: |+\n        c\n      name: a-b  # t0\n",
    ];
    for odd in odd {
        for dest in above.iter().flat_map(|above| rest.map(|rest| of_role("dest", above, rest))) {
            for original in rest.map(|rest| of_role("original", "", rest)) {
                for updated in above.iter().flat_map(|above| rest.map(|rest| of_role("updated", above, rest))) {
                    run(&resource_list(&[odd, &dest, &original, &updated].concat(), "mode: ThreeWay\n"));
                }
            }
        }
    }
}

/// How many unread items a text has, and how many of them `look` reads.
fn read_by(text: &str, look: impl Fn(&[Resource<'_>])) -> (usize, usize) {
    let (outline, heads) = resource::outline(text).expect("YAML");
    let resources = ResourceList::read(&outline).expect("a ResourceList").resources(heads);
    look(&resources);
    (outline.parts().len(), outline.parts().iter().filter(|part| part.is_read()).count())
}

#[test]
fn an_untouched_resource_is_told_by_its_text() {
    let item = |host: &str, value: &str| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n    annotations:\n      # own\n      mine: 1{host}\n  data:\n    k: {value}\n"
        )
    };
    let host = |role: &str| {
        format!(
            "\n      config.kubernetes.io/merge-source: {role}\n      internal.config.kubernetes.io/path: {role}/a.yaml"
        )
    };
    let list = |items: &[String]| resource_list(&[&[item("", "0")], items].concat().concat(), "mode: ThreeWay\n");
    let is_untouched = |[original, updated, dest]: [String; 3]| {
        let text = list(&[original, updated, dest]);
        let found = std::cell::Cell::new(false);
        let (parts, read) = read_by(&text, |all| found.set(Resource::is_untouched(&all[1], &all[2], &all[3])));
        assert_eq!((parts, read), (3, 0), "{text}");
        found.get()
    };
    let [original, updated, dest] = ["original", "updated", "dest"].map(|role| item(&host(role), "1"));
    assert!(is_untouched([original.clone(), updated.clone(), dest.clone()]));
    assert!(is_untouched([original.clone(), updated.clone(), item(&host("dest"), "2")]));
    // The host may write its annotations in any number and order.
    assert!(is_untouched([
        original.clone(),
        item("\n      internal.config.kubernetes.io/index: '0'", "1"),
        dest.clone()
    ]));
    for other in [
        item(&host("updated"), "2"),
        item(&host("updated"), "1 # c"),
        item(&format!("{}\n      other: 1", host("updated")), "1"),
        // These may be untouched, too, but only nodes can tell.
        item(&format!("\n      # c{}", host("updated")), "1"),
        item(&format!("{}\n      internal.config.kubernetes.io/x: a\n        more", host("updated")), "1"),
    ] {
        assert!(!is_untouched([original.clone(), other.clone(), dest.clone()]), "{other}");
    }
    assert!(is_untouched([original.clone(), updated.clone(), item(&host("dest"), "null")]));
    // A key twice is for the merge to find.
    let odd = item(&format!("{}\n      mine: 2", host("dest")), "1");
    assert!(!is_untouched([original, updated, odd]));
}
