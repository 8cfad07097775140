//! Aliases and `<<` of dest where a merge changes what they stand for.

use krm_merge::{Document, Merge, Package, Pick};
use krm_tree::child::By;
use krm_tree::limit::Budget;
use krm_tree::splice;
use krm_tree::tree::{Branch, Entry, Made, Quotes, Tree};

/// A key may be a map or a list, and its value may be made of no document.
#[test]
fn an_alias_inside_of_a_key_is_written_out_with_the_key() {
    for (text, want) in [
        ("x: &q {y: 2}\n? r: *q\n", "{r: {y: 2}}:\n"),
        ("x: &q {y: 2}\n? {r: *q}\n: 6 # kept\n", "{r: {y: 2}}: 6 # kept\n"),
        ("x: &q {y: 2}\n? - *q\n  - 1\n: {s: *q}\n", "[{y: 2}, 1]: {s: {y: 2}}\n"),
        ("x: &q 2\nm: {? [*q]: 6}\n", "m: {[2]: 6}\n"),
        ("x: &q {y: &r 2}\n? &s {a: *q}\n: *r\nm: {? [*s]: 6}\n", "{a: {y: 2}}: 2\nm: {[{a: {y: 2}}]: 6}\n"),
        ("x: &q 2\nl: [{? *q : made}]\n", "l: [{2: made}]\n"),
    ] {
        let doc = Document::parse(text).expect("valid");
        let root = doc.roots().next().expect("a root");
        let mut branch = Branch::of(root, By::Field);
        branch.entries[0].value = None;
        if text.contains("made") {
            let list = root.get("l").expect("a list");
            let map_node = list.elements().next().expect("a map");
            let mut map = Branch::of(map_node, By::Field);
            let made = Made { value: "made".into(), quotes: Quotes::Needed };
            map.entries[0].value = Some(Tree::from(made));
            let element = Entry { value: Some(map.into()), ..Entry::kept(0, None, map_node) };
            branch.entries[1].value = Some(Branch::with(list, By::Index, vec![element]).into());
        }
        let tree = branch.into_tree();
        let edits = splice::edits(root, &tree, &Budget::default()).expect("within the limit");
        assert_eq!(edits.apply(text, 0..text.len()), want, "{text}");
    }
}

/// A resource with this spec.
fn thing(spec: &str) -> String {
    let head = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec:";
    match spec.starts_with('{') {
        true => format!("{head} {spec}"),
        false => format!("{head}\n{}", spec.split_inclusive('\n').map(|line| format!("  {line}")).collect::<String>()),
    }
}

fn package(text: &str) -> Package {
    Package::of_text(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Merges a source into dest with this line break. A second run changes nothing.
fn check([dest, source, want]: [&str; 3], line_break: &str) {
    let [dest, source, want] = [dest, source, want].map(|spec| thing(spec).replace('\n', line_break));
    for dest in [&dest, &want] {
        let merged =
            Merge::two_way(&package(&source), &package(dest)).run().and_then(|merged| merged.text(Pick::Updated));
        assert_eq!(merged.as_ref(), Ok(&want), "{source} into {dest}");
    }
}

/// What the anchor gets is the wanted value of the alias or `<<`, so the alias or `<<` stays.
#[test]
fn an_alias_follows_its_anchor() {
    for row in [
        // A scalar keeps its anchor, with the comments of both lines.
        ["a: &x v1 # a\nb: *x # b\n", "{a: v2, b: v2}\n", "a: &x v2 # a\nb: *x # b\n"],
        ["a: &x\nb: *x\n", "{a: 1, b: 1}\n", "a: &x 1\nb: *x\n"],
        ["a: &x |\n  v1\nb: *x\n", "{a: v2, b: v2}\n", "a: &x v2\nb: *x\n"],
        ["a: &x v1\nb: *x\n", "a: &x |\n  two\n  lines\nb: *x\n", "a: &x |\n  two\n  lines\nb: *x\n"],
        ["{a: &x v1, b: *x}\n", "{a: v2, b: v2}\n", "{a: &x v2, b: *x}\n"],
        // Another kind.
        ["a: &x\n  y: 1\nb: *x # b\n", "{a: [1], b: [1]}\n", "a: &x [1]\nb: *x # b\n"],
        ["a: &x 1\nb: *x\n", "{a: {y: 1}, b: {y: 1}}\n", "a: &x {y: 1}\nb: *x\n"],
        // Only what the alias stands for counts, not how deep in it the change is.
        [
            "a: &x {b: &y {c: 1}}\nd: *x\ne: *y\n",
            "{a: {b: {c: 2}}, d: {b: {c: 2}}, e: {c: 2}}\n",
            "a: &x {b: &y {c: 2}}\nd: *x\ne: *y\n",
        ],
        [
            "a: &x {b: &y {c: 1}}\nd: *x\ne: *y\n",
            "{a: {b: {c: 2}}, d: {b: {c: 2}}}\n",
            "a: &x {b: &y {c: 2}}\nd: *x\ne: {c: 1}\n",
        ],
        // An anchor in what another anchor repeats, and a name that has two anchors.
        ["y: &y 1\na: &x {b: *y}\nc: *x\n", "{y: 2, a: {b: 2}, c: {b: 2}}\n", "y: &y 2\na: &x {b: *y}\nc: *x\n"],
        ["a: &x 1\nb: *x\nc: &x 5\nd: *x\n", "{a: 2, b: 2}\n", "a: &x 2\nb: *x\nc: &x 5\nd: *x\n"],
        // Elements of a list that has no keys.
        ["l: [&x 1, *x, 3]\n", "l: [2, 2, 3]\n", "l: [&x 2, *x, 3]\n"],
        [
            "y: &y {c: 1}\nl:\n- q: *y # q\n- z\n",
            "{y: {c: 2}, l: [{q: {c: 2}}, z]}\n",
            "y: &y {c: 2}\nl:\n- q: *y # q\n- z\n",
        ],
        // `<<`, with fields of the map itself, and with several maps.
        [
            "a: &x {b: 1, c: 2}\nd:\n  # d\n  <<: *x # x\n  c: 3\n",
            "{a: {b: 2}, d: {b: 2}}\n",
            "a: &x {b: 2, c: 2}\nd:\n  # d\n  <<: *x # x\n  c: 3\n",
        ],
        [
            "a: &x {b: 1, c: 2}\nd:\n  <<: *x # x\n  c: 3\n",
            "{a: {c: 5, b: null}, d: {b: null}}\n",
            "a: &x {c: 5}\nd:\n  <<: *x # x\n  c: 3\n",
        ],
        ["a: &x {b: 1}\nd: {<<: *x, e: 1}\n", "{a: {n: 2}, d: {n: 2}}\n", "a: &x {b: 1, n: 2}\nd: {<<: *x, e: 1}\n"],
        [
            "a: &x {b: 1}\nc: &y {b: 5, d: 1}\ne:\n  <<: [*x, *y]\n",
            "{a: {b: 2}, c: {d: 2}, e: {b: 2, d: 2}}\n",
            "a: &x {b: 2}\nc: &y {b: 5, d: 2}\ne:\n  <<: [*x, *y]\n",
        ],
        [
            "a: &x {b: 1}\nc: &y {<<: *x, d: 1}\ne: {<<: *y}\n",
            "{a: {b: 2}, c: {b: 2}, e: {b: 2}}\n",
            "a: &x {b: 2}\nc: &y {<<: *x, d: 1}\ne: {<<: *y}\n",
        ],
        // What the map has besides comes, too.
        ["a: &x {b: 1}\nd:\n  <<: *x\n", "{a: {b: 2}, d: {b: 2, n: 3}}\n", "a: &x {b: 2}\nd:\n  <<: *x\n  n: 3\n"],
    ] {
        check(row, "\n");
        check(row, "\r\n");
    }
}

/// Only the use that does not get the value of its anchor is written out.
#[test]
fn an_alias_that_wants_another_value_is_written_out() {
    for row in [
        // The anchor changes, and the alias does not; the other way round; both, in different ways.
        ["a: &x 1\nb: *x # b\nc: *x\n", "{a: 2, c: 2}\n", "a: &x 2\nb: 1 # b\nc: *x\n"],
        ["a: &x 1\nb: *x # b\nc: *x\n", "{b: 2}\n", "a: &x 1\nb: 2 # b\nc: *x\n"],
        ["a: &x 1\nb: *x # b\nc: *x\n", "{a: 2, b: 3, c: 2}\n", "a: &x 2\nb: 3 # b\nc: *x\n"],
        // `<<` brings in a field too many, one too few, or another value.
        ["a: &x {b: 1}\nd:\n  <<: *x\n", "{a: {n: 2}}\n", "a: &x {b: 1, n: 2}\nd:\n  b: 1\n"],
        ["a: &x {b: 1, c: 1}\nd:\n  <<: *x\n", "{a: {c: null}}\n", "a: &x {b: 1}\nd:\n  b: 1\n  c: 1\n"],
        [
            "a: &x {b: 1}\nd: {<<: *x, c: 1}\ne: {<<: *x}\n",
            "{a: {b: 2}, e: {b: 2}}\n",
            "a: &x {b: 2}\nd: {b: 1, c: 1}\ne: {<<: *x}\n",
        ],
        // A field that the map itself hid is deleted there. It does not come back.
        [
            "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n",
            "{a: {b: 2}, d: {b: 2, c: null}}\n",
            "a: &x {b: 2, c: 2}\nd:\n  b: 2\n",
        ],
        // The anchor is deleted, and its alias stays. The next anchor of its name is not its own.
        ["a: &x 1\nb: *x\nc: &x 1\nd: *x\n", "{a: null}\n", "b: 1\nc: &x 1\nd: *x\n"],
    ] {
        check(row, "\n");
    }
}

/// The change of upstream is that of a file with the same anchors, and dest changed something else.
#[test]
fn upstreams_change_below_an_anchor_is_all_that_changes() {
    let original = "# head\nlabels: &l # labels\n  a: '1' # a\n  b: &b '2'\nuse: *l # use\nm:\n  # above\n  <<: *l # behind\n  own: *b\nlist:\n- *b # first\n- {<<: *l, z: 1}\nown: 1\n";
    for (from, to) in [
        ("a: '1' # a", "a: '3' # c"),
        ("&b '2'", "&b '3'"),
        ("  b: &b '2'\n", "  b: &b '2'\n  c: 3\n"),
        ("  a: '1' # a\n", ""),
        ("&b '2'", "&b {x: [1]}"),
    ] {
        let [original, updated] = [original.to_owned(), original.replace(from, to)];
        let [dest, want] = [&original, &updated].map(|text| text.replace("own: 1", "own: 2"));
        let merged = |dest: &str| {
            let [original, updated, dest] = [&original[..], &updated, dest].map(|spec| package(&thing(spec)));
            let merge = Merge::three_way(&original, &updated, &dest);
            let merged = merge.run().expect("merged");
            assert_eq!(merged.conflicts().map(krm_merge::Conflict::path).next(), None, "{to}");
            merged.text(Pick::Updated).expect("merged")
        };
        assert_eq!(merged(&dest), thing(&want), "{to}");
        assert_eq!(merged(&want), thing(&want), "{to}: a second run");
    }
}

/// In a three-way merge an alias and a `<<` are links. The last text is what the result is, with no conflict, also of a second run.
#[test]
fn a_link_stays_as_it_is_written() {
    for [original, updated, dest, want] in [
        // The anchored value changes, and a use comes.
        ["a: &x 1\nb: 1\n", "a: &x 2\nb: 1\n", "a: &x 1\nb: 1\nc: *x\n", "a: &x 2\nb: 1\nc: *x\n"],
        ["a: &x 1\nb: 1\n", "a: &x 1\nb: 1\nc: *x\n", "a: &x 2\nb: 1\n", "a: &x 2\nb: 1\nc: *x\n"],
        // Dest has the first anchors of all sides.
        ["a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: &x 1\nb: 1\nc: *x\n", "a: &x 2\nb: 1\nc: *x\n"],
        // A use goes.
        [
            "a: &x {k: 1}\nb:\n  <<: *x\nc: 1\n",
            "a: &x {k: 2}\nb:\n  <<: *x\nc: 1\n",
            "a: &x {k: 1}\nc: 1\n",
            "a: &x {k: 2}\nc: 1\n",
        ],
        // A field beside a `<<`, whose map changes.
        [
            "a: &x {k: 1, l: 1}\nb:\n  <<: *x\n  m: 1\n",
            "a: &x {l: 1}\nb:\n  <<: *x\n  m: 1\n",
            "a: &x {k: 1, l: 1}\nb:\n  <<: *x\n  k: 3\n  m: 1\n",
            "a: &x {l: 1}\nb:\n  <<: *x\n  k: 3\n  m: 1\n",
        ],
        // Another use.
        [
            "a: &x {k: 1}\nc: &y {l: 1}\nb:\n  <<: *x\n",
            "a: &x {k: 1}\nc: &y {l: 1}\nb:\n  <<: [*x, *y]\n",
            "a: &x {k: 1}\nc: &y {l: 2}\nb:\n  <<: *x\n  m: 1\n",
            "a: &x {k: 1}\nc: &y {l: 2}\nb:\n  <<: [*x, *y]\n  m: 1\n",
        ],
        // One side writes a use out, and the other one changes the anchored value, or only the anchor's name.
        ["a: &x 1\nb: *x\n", "a: &x 2\nb: *x\n", "a: &x 1\nb: 1\n", "a: &x 2\nb: 1\n"],
        ["a: &x 1\nb: *x\n", "a: &y 1\nb: *y\n", "a: &x 1\nb: 3\n", "a: &y 1\nb: 3\n"],
        // The anchor gets another name, and a use comes.
        ["a: &x 1\nb: *x\n", "a: &x 1\nb: *x\nc: *x\n", "a: &y 1\nb: *y\n", "a: &y 1\nb: *y\nc: *y\n"],
        // The anchor goes with its lines.
        ["a: &x 1\nb: 1\n", "a: 1\nb: 1\n", "a: &x 1\nb: 1\nc: *x\n", "a: 1\nb: 1\nc: 1\n"],
        // Nothing has the anchor in the result: the first use has the value with the anchor, and a `<<` has its fields.
        ["a: &x 1\nb: 1\n", "a: &x 1\nb: 1\nc: *x\nd: *x\n", "b: 1\n", "b: 1\nc: &x 1\nd: *x\n"],
        ["a: &x {k: 1}\nb: 1\n", "a: &x {k: 1}\nb: 1\nc:\n  <<: *x\n  l: 1\n", "b: 1\n", "b: 1\nc:\n  k: 1\n  l: 1\n"],
    ] {
        let [original, updated, want] = [original, updated, want].map(thing);
        for dest in [thing(dest), want.clone()] {
            let [from, to, own] = [&original, &updated, &dest].map(|text| package(text));
            let merge = Merge::three_way(&from, &to, &own);
            let merged = merge.run().expect("merged");
            assert_eq!(merged.conflicts().map(krm_merge::Conflict::path).next(), None, "{original}{updated}{dest}");
            assert_eq!(merged.text(Pick::Updated).as_ref(), Ok(&want), "{original}{updated}{dest}");
        }
    }
}
