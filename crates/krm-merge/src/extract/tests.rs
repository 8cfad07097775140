//! A patch is enough, and every part of it is needed: over all pairs of small states.

use krm_schema::schema::{Inference, Types};
use krm_tree::limit::Budget;
use krm_tree::splice::standalone;
use krm_tree::tree::Pick;

use super::*;
use crate::packages::{Merge, Package};
use krm_package::resource::{Identity, Origin};

/// The patch between two resources; empty if it would say nothing.
fn patch(original: &str, dest: &str, mode: Mode, extent: Extent) -> String {
    let documents = [original, dest].map(|text| Document::parse(text.to_owned()).expect("valid"));
    let directives = ListDirectives::of(&documents);
    let types = Types::new([], if mode == Mode::Strategic { Inference::Off } else { Inference::On });
    let [original, dest] = documents.each_ref().map(|document| {
        let root = document.roots().next().expect("a root");
        Resource::read(root, Origin::Item(0))
    });
    let Some(Identity { api_version, kind, .. }) = dest.identity else { panic!("{dest:?}") };
    let extraction = Extraction { extent, directives: &directives };
    let tree = extraction.patch(&original, &dest, types.root(api_version, kind, mode)).expect("no key stands twice");
    tree.map(|patch| standalone(&patch.tree, &Budget::default()).expect("small")).unwrap_or_default()
}

/// The result of merging a patch into a resource, or the error.
fn merged(original: &str, patch: &str, mode: Mode) -> String {
    let [source, dest] = [patch, original].map(|text| Package::of_text(text).expect("valid"));
    let merge = match mode {
        Mode::Strategic => Merge::strategic(&source, &dest),
        Mode::TwoWay | Mode::ThreeWay => Merge::two_way(&source, &dest),
    };
    merge.run().map_or_else(|error| error.to_string(), |merged| merged.text(Pick::Updated).expect("small"))
}

/// Checks that the patch between any two states turns the one into the other to the byte, and gives a different result without any of its
/// lines that can be removed alone. Returns the number of lines of all patches.
fn check(states: &[String], mode: Mode, can_go: impl Fn(&str) -> bool) -> usize {
    let mut lines = 0;
    for original in states {
        for dest in states {
            let patch = patch(original, dest, mode, Extent::Text);
            assert_eq!(merged(original, &patch, mode), *dest, "of\n{original}by\n{patch}");
            assert_eq!(patch.is_empty(), original == dest, "{patch}");
            let all: Vec<&str> = patch.lines().collect();
            lines += all.len();
            for at in (0..all.len()).filter(|at| can_go(all[*at])) {
                let less: String =
                    all.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, line)| format!("{line}\n")).collect();
                assert_ne!(merged(original, &less, mode), *dest, "of\n{original}by\n{patch}without {}", all[at]);
            }
        }
    }
    lines
}

/// All sequences of some of these items, each at most once.
fn sequences(items: &[&'static str]) -> Vec<Vec<&'static str>> {
    let mut all = vec![Vec::new()];
    for item in items {
        let rest: Vec<&str> = items.iter().copied().filter(|other| other != item).collect();
        all.extend(sequences(&rest).into_iter().map(|behind| [vec![*item], behind].concat()));
    }
    all
}

#[test]
fn fields_come_change_and_go_in_their_places() {
    let field = |name: &str, values: &[&str]| {
        let present = values.iter().map(|value| format!("  {name}: {value}\n"));
        std::iter::once(String::new()).chain(present).collect::<Vec<_>>()
    };
    let fields = [
        field("a", &["'1'", "'2'"]),
        field("b", &["{x: '1'}", "{x: '1', y: '2'}"]),
        field("c", &["[long, list]"]),
        field("e", &["|-\n    several\n    lines"]),
    ];
    let mut states = vec!["apiVersion: example.com/v1\nkind: A\nmetadata:\n  name: a\nspec:\n".to_owned()];
    for values in &fields {
        states = states.iter().flat_map(|state| values.iter().map(move |value| format!("{state}{value}"))).collect();
    }
    states.retain(|state| !state.ends_with("spec:\n"));
    for state in &mut states {
        state.push_str("status: x\n");
    }
    let can_go = |line: &str| line.find(|c| c != ' ') == Some(2) && !line.contains("name:") && !line.contains('|');
    assert!(check(&states, Mode::TwoWay, can_go) > 5000);
}

#[test]
fn elements_come_change_go_and_move() {
    let containers = sequences(&["a", "b", "c"]).into_iter().flat_map(|names| {
        let count = names.len();
        (0..1 << count).map(move |images| {
            let element = |(at, name): (usize, &&str)| {
                let image = if images >> at & 1 == 1 { "new" } else { "old" };
                format!("  - name: {name}\n    image: {image}\n    tty: true\n")
            };
            let elements: String = names.iter().enumerate().map(element).collect();
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:{}\n",
                if elements.is_empty() { " []".to_owned() } else { format!("\n{}", elements.trim_end()) }
            )
        })
    });
    let states: Vec<String> = containers.filter(|state| state.matches("new").count() < 2).collect();
    let can_go = |line: &str| line.contains("image:");
    for mode in [Mode::TwoWay, Mode::Strategic] {
        assert!(check(&states, mode, can_go) > 1000);
    }
}

#[test]
fn values_of_a_set_come_go_and_move() {
    let state = |names: Vec<&str>| {
        let elements: String = names.iter().map(|name| format!("\n  - {name}")).collect();
        let elements = if elements.is_empty() { " []".to_owned() } else { elements };
        format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  finalizers:{elements}\n")
    };
    let states: Vec<String> = sequences(&["x", "y", "z"]).into_iter().map(state).collect();
    assert!(check(&states, Mode::TwoWay, |line| line.starts_with("  - ") && !line.contains('$')) > 100);
    // An order names all elements, as kubectl's does.
    assert!(check(&states, Mode::Strategic, |_| false) > 100);
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    app: x\nspec:\n  # who runs\n  containers:\n  - name: b\n    image: b:1 # pinned\n  - name: c\n    image: c:1\n  nodeName: n\n";
const HEAD: &str = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";

#[test]
fn a_patch_says_what_differs_and_who_it_is() {
    for (from, to, want) in [
        ("b:1 # pinned", "b:2 # pinned", "spec:\n  containers:\n  - name: b\n    image: b:2\n"),
        ("b:1 # pinned", "b:1 # why", "spec:\n  containers:\n  - name: b\n    image: b:1 # why\n"),
        ("  nodeName: n\n", "", "spec:\n  nodeName: null\n"),
        ("  - name: c\n    image: c:1\n", "", "spec:\n  containers:\n  - name: c\n    $patch: delete\n"),
        ("  nodeName: n\n", "  nodeName: n\n  # new\n  hostname: h\n", "spec:\n  # new\n  hostname: h\n"),
        ("  # who", "  hostname: h\n  # who", "spec:\n  hostname: h\n  containers: []\n"),
        ("    app: x\n", "    app: x\n    tier: y\n", ""),
    ] {
        let dest = POD.replace(from, to);
        let patch = patch(POD, &dest, Mode::TwoWay, Extent::Text);
        match want {
            "" => assert_eq!(patch, HEAD.replace("  name: a\n", "  name: a\n  labels:\n    tier: y\n")),
            want => assert_eq!(patch, format!("{HEAD}{want}")),
        }
        assert_eq!(merged(POD, &patch, Mode::TwoWay), dest);
    }
}

#[test]
fn of_values_alone_a_patch_has_no_comments_and_no_neighbours() {
    for (from, to, want) in [
        ("b:1 # pinned", "b:1 # why", String::new()),
        ("b:1 # pinned", "\"b:2\" # why", format!("{HEAD}spec:\n  containers:\n  - name: b\n    image: \"b:2\"\n")),
        ("  # who", "  hostname: h\n  # who", format!("{HEAD}spec:\n  hostname: h\n")),
        ("spec:", "# above\nspec:", String::new()),
    ] {
        assert_eq!(patch(POD, &POD.replace(from, to), Mode::TwoWay, Extent::Values), want);
    }
}

#[test]
fn a_null_of_original_goes_and_one_of_dest_removes() {
    let state =
        |field: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: '1'\n{field}");
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";
    for (from, to, want) in [
        ("  y: null\n", "", "data:\n  y: null\n"),
        ("  y: null\n", "  y: '1'\n", "data:\n  y: '1'\n"),
        ("  y: null # old\n", "  # ours\n  y: null # new\n", ""),
        // The patch does what is possible: a merge of it leaves no field.
        ("  y: '1'\n", "  y: null\n", "data:\n  y: null\n"),
    ] {
        let want = if want.is_empty() { String::new() } else { format!("{head}{want}") };
        for extent in [Extent::Text, Extent::Values] {
            assert_eq!(patch(&state(from), &state(to), Mode::TwoWay, extent), want);
        }
    }
}
