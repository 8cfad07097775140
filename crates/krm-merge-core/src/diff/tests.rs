//! What a null on any side means, one case per line.

use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::limit::Budget;
use krm_tree::links;
use krm_tree::sides::Sides;
use krm_tree::splice;
use krm_tree::tree::{Tree, settle};
use krm_yaml::{Document, NodeRef};

use super::diff;
use crate::merge::merge;
use crate::policy::{NewElements, OnConflict, Renames, Settled};

fn json(node: NodeRef<'_>) -> String {
    splice::to_json(node, &Budget::default()).expect("within the limit")
}

/// The merge result of three documents, and the result of each conflict, with its place.
fn merged(sides: [impl AsRef<str>; 3], on_conflict: OnConflict) -> (String, Vec<(String, Settled)>) {
    let sides = sides.each_ref().map(AsRef::as_ref);
    let documents = sides.map(|text: &str| Document::parse(text.to_owned()).unwrap_or_else(|e| panic!("{e}\n{text}")));
    let [original, updated, dest] = documents.each_ref().map(|d| d.roots().next().expect("a root"));
    let types = Types::new([], Inference::On);
    let change = diff(Some(original), updated, Some(dest), types.root("", "", Mode::ThreeWay), Renames::Follow)
        .expect("a change")
        .change;
    let Some(change) = change else { return (sides[2].to_owned(), Vec::new()) };
    let tree = merge(Some(Tree::Node(dest)), &change, NewElements::Append).expect("a tree").tree;
    let mut conflicts = Vec::new();
    let tree = settle(tree.expect("a resource"), &mut |conflict| {
        let policy = on_conflict.over(conflict.dest.as_ref().and_then(Tree::view));
        conflicts.push((conflict.path.keyed(), policy.settled(&conflict.taking)));
        policy.pick()
    });
    let edits = splice::edits(dest, &tree.expect("a resource"), &Budget::default()).expect("within the limit");
    (edits.apply(sides[2], 0..sides[2].len()), conflicts)
}

/// Original, updated and dest of one field, each without it (`-`), with a null (`~`), or with one of two values; the results of TakeUpdated
/// and KeepDest, and `!` if these are a conflict.
const TABLE: [&str; 64] = [
    // original updated dest > TakeUpdated KeepDest
    "- - - > - -",
    "- - ~ > ~ ~",
    "- - 1 > 1 1",
    "- - 2 > 2 2",
    "- ~ - > ~ ~",
    "- ~ ~ > ~ ~",
    "- ~ 1 > ~ 1 !",
    "- ~ 2 > ~ 2 !",
    "- 1 - > 1 1",
    "- 1 ~ > ~ ~ !",
    "- 1 1 > 1 1",
    "- 1 2 > 1 2 !",
    "- 2 - > 2 2",
    "- 2 ~ > ~ ~ !",
    "- 2 1 > 2 1 !",
    "- 2 2 > 2 2",
    "~ - - > - -",
    "~ - ~ > - -",
    "~ - 1 > - 1 !",
    "~ - 2 > - 2 !",
    "~ ~ - > - -",
    "~ ~ ~ > ~ ~",
    "~ ~ 1 > 1 1",
    "~ ~ 2 > 2 2",
    "~ 1 - > 1 - !",
    "~ 1 ~ > 1 1",
    "~ 1 1 > 1 1",
    "~ 1 2 > 1 2 !",
    "~ 2 - > 2 - !",
    "~ 2 ~ > 2 2",
    "~ 2 1 > 2 1 !",
    "~ 2 2 > 2 2",
    "1 - - > - -",
    "1 - ~ > ~ ~ !",
    "1 - 1 > - -",
    "1 - 2 > - 2 !",
    "1 ~ - > ~ - !",
    "1 ~ ~ > ~ ~",
    "1 ~ 1 > ~ ~",
    "1 ~ 2 > ~ 2 !",
    "1 1 - > - -",
    "1 1 ~ > ~ ~",
    "1 1 1 > 1 1",
    "1 1 2 > 2 2",
    "1 2 - > 2 - !",
    "1 2 ~ > ~ ~ !",
    "1 2 1 > 2 2",
    "1 2 2 > 2 2",
    "2 - - > - -",
    "2 - ~ > ~ ~ !",
    "2 - 1 > - 1 !",
    "2 - 2 > - -",
    "2 ~ - > ~ - !",
    "2 ~ ~ > ~ ~",
    "2 ~ 1 > ~ 1 !",
    "2 ~ 2 > ~ ~",
    "2 1 - > 1 - !",
    "2 1 ~ > ~ ~ !",
    "2 1 1 > 1 1",
    "2 1 2 > 1 1",
    "2 2 - > - -",
    "2 2 ~ > ~ ~",
    "2 2 1 > 1 1",
    "2 2 2 > 2 2",
];

/// The two values of the table, of each kind.
const VALUES: [[&str; 2]; 5] = [
    ["one", "two"],
    ["{k: 1}", "{k: 2}"],
    ["[{name: e, v: 1}]", "[{name: e, v: 2}]"],
    ["[1]", "[2]"],
    ["{m: {l: [{name: e, v: 1}]}}", "{m: {l: [{name: e, v: 2}]}}"],
];

/// Texts that contain the field: of a resource, of an element, and after comments of dest's own.
const AROUND: [[&str; 3]; 3] =
    [["a: 0\n", "", "z: 0\n"], ["l:\n- name: x\n", "  ", "  z: 0\n"], ["# own\na: 0 # own\n", "", "z: 0 # own\n"]];

fn text(state: &str, values: [&str; 2], [before, indent, after]: [&str; 3]) -> String {
    let value = match state {
        "-" => return format!("{before}{after}"),
        "1" => values[0],
        "2" => values[1],
        other => other,
    };
    format!("{before}{indent}f: {value}\n{after}")
}

/// The cells of a row.
fn cells(row: &str) -> ([&str; 3], [&str; 2], bool) {
    let cells: Vec<&str> = row.split(' ').collect();
    ([cells[0], cells[1], cells[2]], [cells[4], cells[5]], cells.get(6) == Some(&"!"))
}

#[test]
fn a_field_on_all_sides() {
    for (row, values, around) in
        TABLE.iter().flat_map(|row| VALUES.map(|v| (row, v))).flat_map(|(r, v)| AROUND.map(|a| (r, v, a)))
    {
        let (sides, [taken, kept], is_conflict) = cells(row);
        let texts = sides.map(|state| text(state, values, around));
        let sides = texts.each_ref().map(String::as_str);
        let count = usize::from(is_conflict);
        for (policy, want) in [(OnConflict::TakeUpdated, taken), (OnConflict::KeepDest, kept)] {
            let (got, conflicts) = merged(sides, policy);
            let same = |a: &str, b: &str| {
                let [a, b] = [a, b].map(|t| Document::parse(t.to_owned()).expect("YAML"));
                a.roots().zip(b.roots()).all(|(a, b)| json(a) == json(b))
            };
            assert!(same(&got, &text(want, values, around)), "{row} {policy:?} {values:?}\n{got}");
            assert_eq!(conflicts.len(), count, "{row} {policy:?} {values:?}: {conflicts:?}");
            if got != sides[2] {
                assert!(!same(&got, sides[2]), "{row} {policy:?}: nothing changed but the text\n{got}");
            }
        }
        let open = merged(sides, OnConflict::Fail).1;
        assert_eq!(open.len(), count, "{row} {values:?}: {open:?}");
        assert!(open.iter().all(|(_, settled)| *settled == Settled::Open), "{row}: {open:?}");
    }
}

/// Swapped sides have the same conflicts, and a second run has nothing to do.
#[test]
fn the_table_keeps_the_laws() {
    let find = |sides: [&str; 3]| TABLE.iter().map(|row| cells(row)).find(|row| row.0 == sides).expect("a row");
    for ([original, updated, dest], [taken, kept], is_conflict) in TABLE.iter().map(|row| cells(row)) {
        assert_eq!(find([original, dest, updated]).2, is_conflict, "{original} {updated} {dest}");
        assert_eq!(find([original, updated, taken]).1[0], taken, "{original} {updated} {dest}");
        assert_eq!(find([original, updated, kept]).1[1], kept, "{original} {updated} {dest}");
    }
}

#[test]
fn a_null_beside_maps_and_lists() {
    use Settled::{CutDown, Deleted, Dest, Updated};
    let cleared = |place| vec![(place, Dest, Dest)];
    let updated = |place| vec![(place, Updated, Dest)];
    for (original, new, dest, taken, kept, conflicts) in [
        // Dest cleared a map or list that upstream changed: the null wins.
        ("f: {k: v}", "f: {k: v, n: w}", "f: ~", "f: ~", "f: ~", cleared("f")),
        ("f: {k: v}", "f: {k: v, n: {m: w}}", "f:", "f:", "f:", cleared("f")),
        ("f: [{name: a}]", "f: [{name: a}, {name: b, c: 1}]", "f: ~", "f: ~", "f: ~", cleared("f")),
        ("f: [1]", "f: [1, 2]", "f: ~", "f: ~", "f: ~", cleared("f")),
        ("f: {k: v}", "f: [1]", "f: ~", "f: ~", "f: ~", cleared("f")),
        ("f: {k: 1}", "f: {k: 2, n: 3}", "f: {k: ~}", "f: {k: ~, n: 3}", "f: {k: ~, n: 3}", cleared("f.k")),
        ("f: 1", "f: {}", "f: ~", "f: ~", "f: ~", cleared("f")),
        ("f: {k: v, x: y}", "f: {k: v}", "f: ~", "f: ~", "f: ~", cleared("f")),
        ("f: {k: v}", "", "f: ~", "f: ~", "f: ~", cleared("f")),
        ("f: [{name: a}]", "", "f: ~", "f: ~", "f: ~", cleared("f")),
        (
            "f: {k: {x: 1}, o: 1}",
            "f: {o: 1}",
            "f: {k: {x: ~}, o: 1}",
            "f: {o: 1}",
            "f: {k: {x: ~}, o: 1}",
            vec![("f.k", Deleted, Dest)],
        ),
        // Both sides added the field, dest as a null.
        ("", "f: {k: ~, x: 1}", "f: ~", "f: ~", "f: ~", cleared("f")),
        // Upstream, or both, made something of a null.
        ("f: ~", "f: {k: ~, x: 1}", "f: ~", "f: {k: ~, x: 1}", "f: {k: ~, x: 1}", vec![]),
        ("f: ~", "f: {}", "f: ~", "f: {}", "f: {}", vec![]),
        ("f: ~", "f: [{name: a}]", "f: ~", "f: [{name: a}]", "f: [{name: a}]", vec![]),
        ("f: ~", "f: {x: 1}", "f: {y: 1}", "f: {y: 1, x: 1}", "f: {y: 1, x: 1}", vec![]),
        ("f: ~", "f: [{name: a}]", "f: [{name: b}]", "f: [{name: b}, {name: a}]", "f: [{name: b}, {name: a}]", vec![]),
        ("f: ~", "f: {x: 1}", "f: [1]", "f: {x: 1}", "f: [1]", updated("f")),
        // A null is new in updated.
        ("", "f: ~", "f: {own: 1}", "f: ~", "f: {own: 1}", updated("f")),
        ("", "f: {k: ~, n: 1}", "f: {k: 1}", "f: {k: ~, n: 1}", "f: {k: 1, n: 1}", updated("f.k")),
        ("f: {n: 1}", "f: {n: 1, k: ~}", "f: {n: 1, k: 1}", "f: {n: 1, k: ~}", "f: {n: 1, k: 1}", updated("f.k")),
        ("f: {n: 1}", "f: {n: 1, k: ~}", "f: {n: 2}", "f: {n: 2, k: ~}", "f: {n: 2, k: ~}", vec![]),
        ("f: {k: 1}", "f: ~", "f: {k: 1}", "f: ~", "f: ~", vec![]),
        ("f: {k: 1}", "f: ~", "f: {k: 1, own: 1}", "f: ~", "f: {k: 1, own: 1}", updated("f")),
        // A null goes with the map that upstream dropped, unless dest set it.
        ("f: {x: ~, y: 1}", "", "f: {x: ~, y: 1}", "", "", vec![]),
        ("f: {x: ~, y: 1}", "", "f: {x: ~}", "", "", vec![]),
        (
            "f: {x: ~, y: 1}",
            "",
            "f: {x: ~, y: 1, o: 1}",
            "f: {o: 1}",
            "f: {x: ~, y: 1, o: 1}",
            vec![("f", CutDown, Dest)],
        ),
        ("f: {x: ~}", "", "f: {x: ~, own: ~}", "f: {own: ~}", "f: {x: ~, own: ~}", vec![("f", CutDown, Dest)]),
        ("f: {x: ~, y: 1}", "f: {y: 1}", "f: {x: null, y: 2}", "f: {y: 2}", "f: {y: 2}", vec![]),
        // The null is in an element of a keyed list.
        (
            "f: [{name: a, x: 1}]",
            "f: [{name: a, x: 2}]",
            "f: [{name: a, x: ~}]",
            "f: [{name: a, x: ~}]",
            "f: [{name: a, x: ~}]",
            cleared("f[name=a].x"),
        ),
        ("f: [{name: a, x: ~}]", "f: [{name: a}]", "f: [{name: a, x: ~}]", "f: [{name: a}]", "f: [{name: a}]", vec![]),
        // In a list without keys, too, a null is a value.
        ("f: [{x: 1}]", "f: [{x: 1}]", "f: [{x: ~}]", "f: [{x: ~}]", "f: [{x: ~}]", vec![]),
        ("f: [~]", "f: [1]", "f: [~]", "f: [1]", "f: [1]", vec![]),
    ] {
        let line = |field: &str| format!("a: 0\n{field}\n").replace("\n\n", "\n");
        let [original, new, dest] = [original, new, dest].map(line);
        for (policy, want) in [(OnConflict::TakeUpdated, taken), (OnConflict::KeepDest, kept)] {
            let (got, settled) = merged([&original, &new, &dest], policy);
            let got = Document::parse(got).expect("YAML");
            let want = Document::parse(line(want)).expect("YAML");
            let [got, want] = [&got, &want].map(|d| json(d.roots().next().expect("a root")));
            assert_eq!(got, want, "{original}{new}{dest}{policy:?}");
            let of_policy = |(place, taken, kept): &(&str, Settled, Settled)| {
                ((*place).to_owned(), if policy == OnConflict::KeepDest { *kept } else { *taken })
            };
            let want: Vec<_> = conflicts.iter().map(of_policy).collect();
            assert_eq!(settled, want, "{original}{new}{dest}{policy:?}");
        }
    }
}

#[test]
fn what_dest_left_alone_becomes_what_upstream_has() {
    for [original, updated, dest, want] in [
        ["a: \"x\"\nz: 1\n", "a: 'x'\nz: 1\n", "a: \"x\"\nz: 2\n", "a: 'x'\nz: 2\n"],
        // An anchor, an alias or a tag in another field makes no difference.
        ["a: \"x\"\nz: 1\n", "a: 'x'\nz: 1\n", "a: \"x\"\nz: &z 2\n", "a: 'x'\nz: &z 2\n"],
        [
            "a: \"x\"\ny: &y 1\nz: *y\n",
            "a: 'x'\ny: &y 1\nz: *y\n",
            "a: \"x\"\ny: &y 2\nz: *y\n",
            "a: 'x'\ny: &y 2\nz: *y\n",
        ],
        ["z: !!str 1\na: \"x\"\n", "z: !!str 1\na: 'x'\n", "z: !!str 2\na: \"x\"\n", "z: !!str 2\na: 'x'\n"],
        // One in the field itself keeps dest's text.
        ["a: &a \"x\"\nz: 1\n", "a: &a 'x'\nz: 1\n", "a: &a \"x\"\nz: 2\n", "a: &a \"x\"\nz: 2\n"],
        ["&a a: \"x\"\nz: *a\n", "&a a: 'x'\nz: *a\n", "&a a: \"x\"\nz: 2\n", "&a a: \"x\"\nz: 2\n"],
        ["z: &z x\na: {b: *z}\n", "z: &z x\na:\n  b: *z\n", "z: &z y\na: {b: *z}\n", "z: &z y\na: {b: *z}\n"],
        // A field that `<<` brings in stays where it is, also if its text in the other map is upstream's.
        [
            "b: &b\n  a: 1\nm:\n  <<: *b\n  c: 1\n",
            "b: &b\n  a: 1 # why\nm:\n  <<: *b\n  c: 1\n",
            "b: &b\n  a: 1\nm:\n  <<: *b\n  c: 2\n",
            "b: &b\n  a: 1 # why\nm:\n  <<: *b\n  c: 2\n",
        ],
        ["m: {a: 1}\nz: 1\n", "m:\n  a: 1\nz: 1\n", "m: {a: 1}\nz: 2\n", "m:\n  a: 1\nz: 2\n"],
        ["m:\n  a: 1\nz: 1\n", "m: {a: 1} # flow\nz: 1\n", "m:\n  a: 1\nz: 2\n", "m: {a: 1} # flow\nz: 2\n"],
        [
            "l:\n- 1\n- 2\nz: 1\n",
            "l:\n# one\n- 1\n\n- 2 # two\nz: 1\n",
            "l:\n- 1\n- 2\nz: 2\n",
            "l:\n# one\n- 1\n\n- 2 # two\nz: 2\n",
        ],
        [
            "m:\n  a: 1\n  b: 1\nz: 1\n",
            "m:\n  b: 1\n\n  a: 1\nz: 1\n",
            "m:\n  a: 1\n  b: 1\nz: 2\n",
            "m:\n  b: 1\n\n  a: 1\nz: 2\n",
        ],
        [
            "m:\n  l:\n  - 1\nz: 1\n",
            "m:\n    l:\n        - 1\nz: 1\n",
            "m:\n  l:\n  - 1\nz: 2\n",
            "m:\n    l:\n        - 1\nz: 2\n",
        ],
        [
            "# was\na: 1 # was\nz: 1\n",
            "# is\na: 2 # is\nz: 1\n",
            "# was\na: 1 # was\nz: 2\n",
            "# is\na: 2 # is\nz: 2\n",
        ],
        [
            "l:\n- name: a\n  v: 'x'\n- name: b\n",
            "l:\n# is\n- name: a\n  v: x\n- name: b\n",
            "l:\n- name: a\n  v: 'x'\n- name: b\n  w: 1\n",
            "l:\n# is\n- name: a\n  v: x\n- name: b\n  w: 1\n",
        ],
        [
            "l:\n- a: 'x'\n  name: a\n",
            "l:\n- a: x\n  name: a\n",
            "l:\n- a: 'x'\n  name: a\n  w: 1\n",
            "l:\n- a: x\n  name: a\n  w: 1\n",
        ],
        ["s: |\n  a\nz: 1\n", "s: |-\n  a\n\n  b\nz: 1\n", "s: |\n  a\nz: 2\n", "s: |-\n  a\n\n  b\nz: 2\n"],
        // A list that is indented differently keeps dest's indentation.
        [
            "m:\n  l:\n  - a: 'x'\n  z: 1\n",
            "m:\n    l:\n      - a: x\n    z: 1\n",
            "m:\n  l:\n  - a: 'x'\n  z: 2\n",
            "m:\n  l:\n  - a: x\n  z: 2\n",
        ],
        // Parts that dest changed keep their text.
        ["a: \"x\"\nz: 1\n", "a: 'x'\nz: 1\n", "a: \"x\" # own\nz: 2\n", "a: \"x\" # own\nz: 2\n"],
        // A null of updated is written as it is there.
        [
            "m:\n  a: 1\n  b: 1\nz: 1\n",
            "m:\n  a: ~ # why\n  b: 1\nz: 1\n",
            "m:\n  a: 1\n  b: 1\nz: 2\n",
            "m:\n  a: ~ # why\n  b: 1\nz: 2\n",
        ],
        ["m:\n  a: 1\nz: 1\n", "m:\n  a:\nz: 1\n", "m:\n  a: 1\nz: 2\n", "m:\n  a:\nz: 2\n"],
        ["m: {a: 1}\nz: 1\n", "m: {a: 1, b: }\nz: 1\n", "m: {a: 2}\nz: 1\n", "m: {a: 2, b: null}\nz: 1\n"],
        // The last line of a text may lack its line break.
        ["z: 1\na: \"x\"", "z: 1\na: 'x'\n", "z: 2\na: \"x\"\n", "z: 2\na: 'x'\n"],
        ["z: 1\na: \"x\"\n", "z: 1\na: 'x'\n", "z: 2\na: \"x\"", "z: 2\na: 'x'"],
        ["z: 1\r\nl:\r\n- 'x'\r\n", "z: 1\nl:\n- x\n", "z: 2\r\nl:\r\n- 'x'", "z: 2\r\nl:\r\n- x"],
        ["z: 1\ns: |\n  a\n  # b", "z: 1\ns: \"a\\n# b\"\n", "z: 2\ns: |\n  a\n  # b", "z: 2\ns: \"a\\n# b\""],
        ["z: 1\nb: 2\n", "z: 1\nc: 3\n", "z: 2\nb: 2", "z: 2\nc: 3\n"],
        ["z: 1\nb: 2 # x\n", "z: 1\nb: 2\nc: 3\n", "z: 2\nb: 2 # x", "z: 2\nb: 2\nc: 3\n"],
        // It is a part of a block scalar there.
        ["z: 1\ns: |\n  a", "z: 1\ns: 'a'\n", "z: 2\ns: |\n  a\n", "z: 2\ns: |\n  a\n"],
        // In flow style, a child does not have its lines for itself.
        ["{a: 'x', z: 1}\n", "{a: x, z: 1}\n", "{a: 'x', z: 2}\n", "{a: 'x', z: 2}\n"],
    ] {
        assert_eq!(merged([original, updated, dest], OnConflict::Fail), (want.to_owned(), Vec::new()), "{dest}");
        assert_eq!(merged([original, original, dest], OnConflict::Fail).0, dest, "nothing happened upstream");
    }
}

#[test]
fn comments_at_the_end_of_a_block_are_merged() {
    for [original, updated, dest, want] in [
        // Upstream adds, changes and removes one.
        ["m:\n  a: 1\n", "m:\n  a: 1\n  # is\n", "m:\n  a: 1\n  b: 2\n", "m:\n  a: 1\n  b: 2\n  # is\n"],
        [
            "m:\n  a: 1\n  # was\nz: 1\n",
            "m:\n  a: 1\n  # is\nz: 1\n",
            "m:\n  a: 2\n  # was\nz: 2\n",
            "m:\n  a: 2\n  # is\nz: 2\n",
        ],
        [
            "l:\n- name: a\n  # was\n- name: b\n",
            "l:\n- name: a\n- name: b\n",
            "l:\n- name: a\n  v: 1\n  # was\n- name: b\n",
            "l:\n- name: a\n  v: 1\n- name: b\n",
        ],
        // It is in the column of dest's children, below all of them.
        [
            "m:\n  a: 1\n  b:\n    c: 1\n",
            "m:\n  a: 1\n  b:\n    c: 2\n    d: 3\n    # of b\n\n  # of m\n",
            "m:\n    a: 2\n    b:\n        c: 1\n        e: 1\n",
            "m:\n    a: 2\n    b:\n        c: 2\n        e: 1\n        d: 3\n        # of b\n\n    # of m\n",
        ],
        // The text may end there, without a line break.
        ["m:\n  a: 1\n", "m:\n  a: 1\n  # is\n", "m:\n  a: 2", "m:\n  a: 2\n  # is\n"],
        ["m:\n  a: 1\n  # was", "m:\n  a: 1\n  # is", "m:\n  a: 2\n  # was", "m:\n  a: 2\n  # is"],
        // It comes with the list that wins.
        ["m: 1\n", "m:\n  - 1\n  # is\n", "m:\n  - 2\n  - 3\n   # of 3\n", "m:\n  - 1\n  # is\n"],
        // What dest wrote there is in conflict.
        ["m:\n  a: 1\n", "m:\n  a: 1\n  # is\n", "m:\n  a: 2\n  # own\n", "m:\n  a: 2\n  # is\n"],
        // A block that is replaced brings its own.
        ["m: 1\nz: 1\n", "m:\n  a: 1\n  # is\nz: 1\n", "m: 1\nz: 2\n", "m:\n  a: 1\n  # is\nz: 2\n"],
        [
            "m:\n  a: |\n    x\n",
            "m:\n  a: |\n    x\n  # is\n",
            "m:\n  a: |\n    x\n  b: |-\n    y\n",
            "m:\n  a: |\n    x\n  b: |-\n    y\n  # is\n",
        ],
    ] {
        let once = merged([original, updated, dest], OnConflict::TakeUpdated).0;
        assert_eq!(once, want, "{original}{updated}{dest}");
        assert_eq!(merged([original, updated, &once], OnConflict::TakeUpdated).0, want, "again");
    }
}

/// Original, updated, dest, the result of TakeUpdated, and the number of conflicts.
const RENAMED: [[&str; 5]; 55] = [
    // Upstream renamed the field and dest edited it; dest renamed the field and upstream changed it; both gave it the same name.
    [
        "a: {x: 1, y: 2, z: 3, v: 4}",
        "b: {x: 1, y: 2, z: 3, v: 4}",
        "a: {x: 1, y: 2, z: 3, v: 5}",
        "b: {x: 1, y: 2, z: 3, v: 5}",
        "0",
    ],
    [
        "a: {x: 1, y: 2, z: 3, v: 4}",
        "a: {x: 1, y: 2, z: 3, v: 5}",
        "b: {x: 1, y: 2, z: 3, v: 4}",
        "b: {x: 1, y: 2, z: 3, v: 5}",
        "0",
    ],
    [
        "a: {x: 1, y: 2, z: 3, v: 4}",
        "b: {x: 1, y: 2, z: 3, v: 5}",
        "b: {x: 1, y: 2, z: 3, v: 4}",
        "b: {x: 1, y: 2, z: 3, v: 5}",
        "0",
    ],
    // A second run, on the result.
    [
        "a: {x: 1, y: 2, z: 3, v: 4}",
        "b: {x: 1, y: 2, z: 3, v: 4}",
        "b: {x: 1, y: 2, z: 3, v: 5}",
        "b: {x: 1, y: 2, z: 3, v: 5}",
        "0",
    ],
    // Both sides renamed the field, differently.
    [
        "a: {x: 1, y: 2, z: 3, v: 4}",
        "b: {x: 1, y: 2, z: 3, v: 4}",
        "c: {x: 1, y: 2, z: 3, v: 4}",
        "b: {x: 1, y: 2, z: 3, v: 4}",
        "1",
    ],
    ["a: one", "b: one", "c: one", "b: one", "1"],
    // One side renamed it, and the other one replaced it, removed it, or removed what is in it.
    ["a: one", "b: two", "c: one", "b: two", "1"],
    ["z: 1\na: {x: one, y: two}", "z: 1", "z: 1\nc: {x: one, y: two}", "z: 1", "1"],
    ["z: 1\na: one", "z: 1\nb: one", "z: 1", "z: 1\nb: one", "1"],
    ["z: 1\na: {x: 1, y: 2}", "z: 1", "z: 1\nb: {x: 1, y: 2}", "z: 1", "1"],
    ["z: 1\na: [one]", "z: 1\nb: [one]", "z: 1", "z: 1\nb: [one]", "1"],
    ["z: 1\na: {x: one}", "z: 1\na: {}", "z: 1\nb: {x: one}", "z: 1\na: {}", "1"],
    // Of several with one value, each is the one in its place, if there are as many.
    ["a: x\nb: x\nz: 1", "b: x\nz: 1", "d: x\nz: 1", "d: x\nz: 1", "0"],
    ["a: {v: x, n: 1}\nb: {v: x, n: 2}\nz: 1", "b: {v: x, n: 2}\nz: 1", "c: {v: x, n: 1}\nz: 1", "z: 1", "1"],
    // A small child that dest has instead of one that updated removed stays: after a first run, dest's own child beside it looks the same.
    ["z: 1\na: one", "z: 1", "z: 1\n# why\nb: one # so", "z: 1\n# why\nb: one # so", "0"],
    ["z: 1\na: one", "z: 1", "z: 1\nc: one\nb: one", "z: 1\nc: one\nb: one", "0"],
    ["{z: 1, a: {x: one, y: 2}}", "{z: 1}", "{z: 1, b: {x: one, y: 3}}", "{z: 1, b: {x: one, y: 3}}", "0"],
    [
        "env: [{name: a, value: x}, {name: z}]",
        "env: [{name: z}]",
        "env: [{name: b, value: x}, {name: z}]",
        "env: [{name: b, value: x}, {name: z}]",
        "0",
    ],
    [
        "ports: [{containerPort: 80, name: http}, {containerPort: 90}]",
        "ports: [{containerPort: 90}]",
        "ports: [{containerPort: 81, name: http}, {containerPort: 90}]",
        "ports: [{containerPort: 81, name: http}, {containerPort: 90}]",
        "0",
    ],
    ["a: x\nb: x\nz: 1", "b: x\nz: 1", "c: x\nd: x\nz: 1", "c: x\nd: x\nz: 1", "0"],
    // Numbers say nothing, and neither does what is at another place, or beside what both sides did.
    ["z: 1\na: 1", "z: 1", "z: 1\nb: 1", "z: 1\nb: 1", "0"],
    ["z: 1\na: {x: 1}", "z: 1", "z: 1\nb: {x: 1}", "z: 1\nb: {x: 1}", "0"],
    ["z: 1\na: one", "z: 1", "z: 1\na: one\nb: one", "z: 1\nb: one", "0"],
    [
        "env: [{name: a, value: '1'}, {name: z}]",
        "env: [{name: z}]",
        "env: [{name: b, value: '1'}, {name: z}]",
        "env: [{name: b, value: '1'}, {name: z}]",
        "0",
    ],
    ["z: 1\na: \"true\"", "z: 1", "z: 1\nb: \"true\"", "z: 1\nb: \"true\"", "0"],
    ["a: one\nz: 1", "z: 1", "z: 1\nb: one", "z: 1\nb: one", "0"],
    ["a: one\nz: 1", "b: one\nz: 1", "b: one\nc: one\nz: 1", "b: one\nc: one\nz: 1", "0"],
    // In its place, a field may have grown; elsewhere, it may be another one.
    [
        "z: 1\na: {x: 1, y: 2, z: 3}",
        "z: 1\na: {x: 1, y: 2, z: 4}",
        "z: 1\nb: {x: 1, y: 2, z: 3, l: [4, 5, 6, 7]}",
        "z: 1\nb: {x: 1, y: 2, z: 4, l: [4, 5, 6, 7]}",
        "0",
    ],
    [
        "z: 1\na: {x: 1, y: 2, z: 3}",
        "z: 1\na: {x: 1, y: 2, z: 4}",
        "b: {x: 1, y: 2, z: 3, l: [4, 5, 6, 7]}\nz: 1",
        "b: {x: 1, y: 2, z: 3, l: [4, 5, 6, 7]}\nz: 1\na: {z: 4}",
        "1",
    ],
    // A renamed field with a renamed field in it, and a renamed text of several lines.
    [
        "a: {m: 1, n: {o: {x: 1, y: 2}}}",
        "b: {m: 1, n: {p: {x: 1, y: 2}}}",
        "a: {m: 1, n: {o: {x: 1, y: 3}}}",
        "b: {m: 1, n: {p: {x: 1, y: 3}}}",
        "0",
    ],
    [
        "a: >-\n  one\n  two\n  three",
        "b: >-\n  one\n  two\n  three",
        "a: >-\n  one\n  two\n  four",
        "b: >-\n  one\n  two\n  four",
        "0",
    ],
    // A field that moved below a new parent is not that parent.
    [
        "a: {x: one, y: two, z: 3}",
        "b: {a: {x: one, y: two, z: 3}}",
        "a: {x: one, y: two, z: 3, v: 4}",
        "a: {v: 4}\nb: {a: {x: one, y: two, z: 3}}",
        "1",
    ],
    [
        "a: {x: one, y: two, z: 3}",
        "b: {a: {x: one, y: two, z: 3}}",
        "a: {x: one, y: two}",
        "b: {a: {x: one, y: two, z: 3}}",
        "1",
    ],
    // The fields have too little in common, or only as much as small fields have by chance.
    [
        "a: {x: 1, y: 2, z: 3, v: 4}",
        "b: {x: 1, y: 3, z: 4, v: 4}",
        "a: {x: 1, y: 2, z: 3, v: 5}",
        "b: {x: 1, y: 3, z: 4, v: 4}",
        "1",
    ],
    ["a: {x: 1, y: 2, z: 3, v: 4}", "b: {x: 1, y: 2}", "a: {x: 1, y: 2, z: 3}", "b: {x: 1, y: 2}", "0"],
    ["a: {x: 1}", "b: {x: 1}", "a: {x: 2}", "b: {x: 1}", "1"],
    ["a: 1", "b: 1", "a: 2", "b: 1", "1"],
    // Two values and nothing else are enough.
    ["a: {x: 1, y: 2}", "b: {x: 1, y: 2}", "a: {x: 1, y: 3}", "b: {x: 1, y: 3}", "0"],
    ["a: {x: 1, y: 2}", "b: {x: 1, y: 2}", "b: {x: 1, y: 3}", "b: {x: 1, y: 3}", "0"],
    [
        "volumeMounts: [{mountPath: /a, name: v, readOnly: true}]",
        "volumeMounts: [{mountPath: /b, name: v, readOnly: true}]",
        "volumeMounts: [{mountPath: /a, name: v}]",
        "volumeMounts: [{mountPath: /b, name: v}]",
        "0",
    ],
    [
        "volumeMounts: [{mountPath: /a, name: v, readOnly: true}]",
        "volumeMounts: [{mountPath: /a, name: v}]",
        "volumeMounts: [{mountPath: /b, name: v, readOnly: true}]",
        "volumeMounts: [{mountPath: /b, name: v}]",
        "0",
    ],
    // A second run: little of original is left in dest, but dest has upstream's name or upstream's values.
    [
        "volumeMounts: [{mountPath: /a, name: v, readOnly: true}]",
        "volumeMounts: [{mountPath: /b, name: v, readOnly: true}]",
        "volumeMounts: [{mountPath: /b, name: v}]",
        "volumeMounts: [{mountPath: /b, name: v}]",
        "0",
    ],
    ["a: {x: 1, y: 2, z: 3, v: 4}", "b: {x: 1, y: 2, z: 3, v: 4}", "b: {x: 1}", "b: {x: 1}", "0"],
    [
        "a: {x: 1, y: 2, z: 3, v: 4}",
        "a: {x: 5, y: 6, z: 7, v: 4}",
        "b: {x: 5, y: 6, z: 7, v: 4}",
        "b: {x: 5, y: 6, z: 7, v: 4}",
        "0",
    ],
    // Each side gave another field the same new name, so it is ambiguous which one it is.
    [
        "a: {x: 1, y: 2, z: 3, v: 4}\nb: {x: 5, y: 6, z: 7, v: 8}",
        "p: {x: 1, y: 2, z: 3, v: 4}",
        "p: {x: 5, y: 6, z: 7, v: 8}",
        "p: {x: 1, y: 2, z: 3, v: 4}",
        "4",
    ],
    // Dest already has a field of the new name.
    [
        "a: {x: 1, y: 2, z: 3, v: 4}",
        "b: {x: 1, y: 2, z: 3, v: 4}",
        "a: {x: 1, y: 2, z: 3, v: 5}\nb: 1",
        "b: {x: 1, y: 2, z: 3, v: 4}",
        "1",
    ],
    // A side renamed one to a name under which the other side, which still has it, has another one.
    [
        "a: {x: 1, y: 2, z: 3}\nb: {s: 4, t: 5, u: 6}",
        "c: {x: 1, y: 2, z: 3}\nb: {s: 4, t: 5, u: 6}",
        "a: {x: 1, y: 2, z: 3}\nc: {s: 4, t: 5, u: 6}",
        "c: {x: 1, y: 2, z: 3}\nb: {s: 4, t: 5, u: 6}",
        "1",
    ],
    ["b: {s: 4, t: 5}", "b: {s: 4, t: 5}\nc: {u: 6}", "c: {s: 4, t: 5}", "b: {s: 4, t: 5}\nc: {u: 6}", "1"],
    ["b: {s: 4, t: 5}", "c: {s: 4, t: 5}", "b: {s: 4, t: 5}\nc: {u: 6}", "c: {s: 4, t: 5}", "1"],
    ["b: {s: 4, t: 5}", "c: {s: 4, t: 5}", "b: {s: 4, t: 5}\nc: {s: 4, t: 5}", "c: {s: 4, t: 5}", "0"],
    [
        "volumeMounts: [{mountPath: /a, name: v}, {mountPath: /b, name: v, subPath: s}]",
        "volumeMounts: [{mountPath: /c, name: v}, {mountPath: /b, name: v, subPath: s}]",
        "volumeMounts: [{mountPath: /a, name: v}, {mountPath: /c, name: v, subPath: s}]",
        "volumeMounts: [{mountPath: /c, name: v}, {mountPath: /b, name: v, subPath: s}]",
        "1",
    ],
    // Each side changed another part of the name. After a first run, no side has this name.
    [
        "ports: [{containerPort: 1, protocol: TCP, name: a}, {containerPort: 9, name: z}]",
        "ports: [{containerPort: 1, protocol: UDP, name: a}, {containerPort: 9, name: z}]",
        "ports: [{containerPort: 2, protocol: TCP, name: a}, {containerPort: 9, name: z}]",
        "ports: [{containerPort: 2, protocol: UDP, name: a}, {containerPort: 9, name: z}]",
        "0",
    ],
    // An element of a keyed list, renamed by upstream and by dest.
    [
        "containers: [{name: a, image: i, args: [x, y], tty: true}, {name: s}]",
        "containers: [{name: b, image: i, args: [x, y], tty: true}, {name: s}]",
        "containers: [{name: a, image: o, args: [x, y], tty: true}, {name: s}]",
        "containers: [{name: b, image: o, args: [x, y], tty: true}, {name: s}]",
        "0",
    ],
    [
        "containers: [{name: a, image: i, args: [x, y], tty: true}, {name: s}]",
        "containers: [{name: a, image: j, args: [x, y], tty: true}, {name: s}]",
        "containers: [{name: b, image: i, args: [x, y], tty: true}, {name: s}]",
        "containers: [{name: b, image: j, args: [x, y], tty: true}, {name: s}]",
        "0",
    ],
    // The renamed field is a text.
    [
        "a: |\n  1\n  2\n  3\n  4",
        "b: |\n  1\n  2\n  3\n  4",
        "a: |\n  0\n  1\n  2\n  3\n  4",
        "b: |\n  0\n  1\n  2\n  3\n  4",
        "0",
    ],
];

#[test]
fn a_child_that_a_side_renamed_is_one_child() {
    for [original, updated, dest, want, conflicts] in RENAMED {
        let line = |text: &str| format!("{text}\n");
        let [original, updated, dest] = [original, updated, dest].map(line);
        let (merged, found) = merged([&original, &updated, &dest], OnConflict::TakeUpdated);
        assert_eq!((merged, found.len().to_string().as_str()), (line(want), conflicts), "{original}{updated}{dest}");
    }
}

#[test]
fn an_anchor_that_one_side_moved_from_what_the_other_one_changed_is_refused() {
    let (was, moved, renamed) = ("a: &x {b: 1}\nc: *x\n", "a: {d: &x {b: 1}}\nc: *x\n", "a: &y {b: 1}\nc: *y\n");
    let written_out = "a: {b: 1}\nc: {b: 1}\n";
    for (updated, dest, is_refused) in [
        (moved, renamed, true),
        (renamed, moved, true),
        ("a: &x 1\nb: &y {b: 1}\nc: *y\n", renamed, false),
        (moved, "a: &x {b: 2}\nc: *x\n", true),
        ("a: &x {b: 1, d: 1}\nc: *x\n", moved, true),
        ("a: {b: 1}\nc: &x {b: 1}\n", "a: &x {b: 2}\nc: *x\n", false),
        (moved, was, false),
        (renamed, was, false),
        (written_out, renamed, false),
        (renamed, written_out, false),
    ] {
        let documents = [was, updated, dest].map(|text| Document::parse(text).expect("valid"));
        let [original, updated, dest] = documents.each_ref().map(|d| d.roots().next().expect("a root"));
        links::keep(Sides { original: &[original], updated: &[updated], dest: &[dest] });
        let types = Types::new([], Inference::On);
        let found = diff(Some(original), updated, Some(dest), types.root("", "", Mode::ThreeWay), Renames::Follow);
        assert_eq!(found.is_err(), is_refused, "{} {}", documents[1].source(), documents[2].source());
    }
}

#[test]
fn the_lines_above_a_child_are_merged_as_git_merges_them() {
    for [original, updated, dest, want] in [
        // A blank line decides whether a comment belongs to the field below it.
        ["# why\n", "# why\n\n", "# why\n", "# why\n\n"],
        ["# why\n\n", "# why\n", "# why\n\n", "# why\n"],
        ["# why\n# so\n", "# why\n\n# so\n", "# why\n# so\n", "# why\n\n# so\n"],
        ["# why\n", "# why\n\n", "# mine\n", "# mine\n"],
        // A comment that belongs to no field is added, changed, removed.
        ["", "# of all\n\n", "", "# of all\n\n"],
        ["# of all\n\n", "# of none\n\n", "# of all\n\n", "# of none\n\n"],
        ["# of all\n\n", "", "# of all\n\n", ""],
        ["# of all\n\n# own\n", "# of none\n\n# own\n", "# of all\n\n# mine\n", "# of none\n\n# mine\n"],
        ["# of all\n\n# own\n", "# of none\n\n# new\n", "# of all\n\n# own\n", "# of none\n\n# new\n"],
        ["# of all\n\n", "# of all\n\n", "# mine\n\n", "# mine\n\n"],
        // A comment that is deeper than the field belongs to the one above.
        ["", "  # of a\n\n# of all\n\n", "", "  # of a\n\n# of all\n\n"],
        // Blank lines alone.
        ["", "\n", "", "\n"],
        ["\n\n", "\n", "\n\n", "\n"],
        ["\n", "", "\n\n", "\n\n"],
    ] {
        for b in ["x", "z"] {
            let text = |a: &str, gap: &str, b: &str| format!("a:\n  c: {a}\n{gap}b: {b}\n");
            let texts = [text("x", original, "x"), text("x", updated, b), text("y", dest, "x")];
            let [original, updated, dest] = &texts;
            let (once, conflicts) = merged([original, updated, dest], OnConflict::TakeUpdated);
            assert_eq!((&once, conflicts.len()), (&text("y", want, b), 0), "{texts:?}");
            assert_eq!(merged([original, updated, &once], OnConflict::TakeUpdated).0, once, "again: {texts:?}");
        }
    }
}

#[test]
fn lines_above_a_child_that_both_sides_changed_are_a_conflict() {
    let text = |gap: &str, x: &str| format!("a: {x}\n{gap}b: 1\n");
    for [original, updated, dest] in [
        ["# of all\n\n", "# of none\n\n", "# mine\n\n"],
        ["", "# of none\n\n", "# mine\n\n"],
        ["# of all\n\n", "", "# mine\n\n"],
        ["# of all\n\n", "# of none\n\n", ""],
    ] {
        let sides = [text(original, "1"), text(updated, "2"), text(dest, "1")];
        let sides = sides.each_ref().map(String::as_str);
        for (winner, gap) in [(OnConflict::TakeUpdated, updated), (OnConflict::KeepDest, dest)] {
            let (out, conflicts) = merged(sides, winner);
            assert_eq!((out.as_str(), conflicts.len()), (&*text(gap, "2"), 1), "{sides:?}");
        }
    }
}

#[test]
fn comments_in_conflict_are_decided_as_values_are() {
    for [original, updated, dest, taken] in [
        ["# own\n", "# new\n", "# mine\n", "# new\n"],
        // The lines that are set apart stay: who wins is asked for the comment of the field.
        ["# of all\n\n# own\n", "# of none\n\n# new\n", "# of all\n\n# mine\n", "# of all\n\n# new\n"],
        ["# own\n", "", "# mine\n", ""],
        ["", "# new\n", "# mine\n", "# new\n"],
    ] {
        let text = |a: &str, above: &str| format!("a: {a}\n{above}b: x\n");
        let texts = [text("x", original), text("x", updated), text("y", dest)];
        let [original, updated, dest] = &texts;
        for (policy, want) in [(OnConflict::TakeUpdated, text("y", taken)), (OnConflict::KeepDest, dest.clone())] {
            let (once, conflicts) = merged([original, updated, dest], policy);
            assert_eq!((&once, conflicts.len()), (&want, 1), "{texts:?}");
            assert_eq!(merged([original, updated, &once], policy).0, once, "again: {texts:?}");
        }
    }
}

#[test]
fn the_lines_above_a_child_come_and_stay_with_its_place() {
    for [original, updated, dest, want] in [
        // A new field brings them. Dest's own fields keep theirs.
        [
            "a: 1\n",
            "a: 1\n\n# part 2\n\n# of b\nb: 1\n",
            "a: 1\nown: 1\n",
            "a: 1\nown: 1\n\n# part 2\n\n# of b\nb: 1\n",
        ],
        ["a: 1\nb: 1\n", "a: 1\n\nb: 1\n", "a: 1\nown: 1\nb: 1\n", "a: 1\nown: 1\n\nb: 1\n"],
        // Upstream removes the field above.
        [
            "a: 1\nb: 1\n\nc: 1\n",
            "a: 1\n\n# of c and d\n\nc: 1\n",
            "a: 2\nb: 1\n\nc: 1\n",
            "a: 2\n\n# of c and d\n\nc: 1\n",
        ],
        [
            "a: 1\n\n# part 2\n\nb: 1\n\n# part 3\n\nc: 1\n",
            "a: 1\n\n# part 3\n\nc: 1\n",
            "a: 2\n\n# part 2\n\nb: 1\n\n# part 3\n\nc: 1\n",
            "a: 2\n\n# part 3\n\nc: 1\n",
        ],
        [
            "a: 1\n\n# part 2\n\nb: 1\nc: 1\n",
            "a: 1\n\n# part 2\n\nc: 1\n",
            "a: 2\n\n# part 2\n\nb: 1\nc: 1\n",
            "a: 2\n\n# part 2\n\nc: 1\n",
        ],
        [
            "a: 1\n\n# part 2\n\nb: 1\nc: 1\n",
            "a: 1\n\n# part 2\n\nc: 1\n",
            "a: 2\n\n# part 2\n\nb: 1\n\nc: 1\n",
            "a: 2\n\n# part 2\n\n\nc: 1\n",
        ],
        ["a: 1\n\n# part 2\n\nb: 1\n", "a: 1\n", "a: 2\n\n# part 2\n\nb: 1\n", "a: 2\n"],
        ["a: 1\n\n# part 2\n\nb: 1\n", "a: 1\n\n# part 2\n", "a: 2\n\n# part 2\n\nb: 1\n", "a: 2\n\n# part 2\n\n"],
        ["a: 1\n\nb: 1\n", "a: 1\n", "a: 2\n\nb: 1\n", "a: 2\n"],
        [
            "k:\n  # part 1\n\n  a: 1\n\n  # part 2\n\n  b: 1\n",
            "k:\n  # part 2\n\n  b: 1\n",
            "k:\n  # part 1\n\n  a: 1\n\n  # part 2\n\n  b: 2\n",
            "k:\n  # part 2\n\n  b: 2\n",
        ],
        // Dest has other lines below the field that upstream removes.
        ["a: 1\n\n# part 2\n\nb: 1\nc: 1\n", "a: 1\nc: 1\n", "a: 1\n\n# part 2\n\nb: 1\n\nc: 2\n", "a: 1\n\nc: 2\n"],
        // In another order, no lines are between the same fields.
        ["a: 1\nb: 1\nc: 1\n", "b: 1\n\na: 1\nc: 1\n", "a: 2\nb: 1\nc: 1\n", "b: 1\na: 2\nc: 1\n"],
        // Blank lines are a part of the value above.
        ["a: x\nb: 1\n", "a: x\n\n# c\n\nb: 1\n", "a: |+\n  x\nb: 1\n", "a: |+\n  x\n# c\n\nb: 1\n"],
        ["a: |\n  x\nb: 1\n", "a: |\n  x\n\nb: 1\n", "a: |\n  y\nb: 1\n", "a: |\n  y\n\nb: 1\n"],
        // Above the first field of a map.
        ["k:\n  a: 1\n  b: 1\n", "k:\n\n  a: 1\n  b: 1\n", "k:\n  a: 1\n  b: 2\n", "k:\n\n  a: 1\n  b: 2\n"],
        ["k:\n\n  a: 1\n  b: 1\n", "k:\n  a: 1\n  b: 1\n", "k:\n\n  a: 1\n  b: 2\n", "k:\n  a: 1\n  b: 2\n"],
        ["k:\n  a: 1\n", "k:\n  a: 1\n", "k:\n\n  a: 1\n", "k:\n\n  a: 1\n"],
        ["z: 1\n", "z: 1\nk:\n\n  a: 1\n", "z: 2\n", "z: 2\nk:\n\n  a: 1\n"],
        ["l: []\n", "l:\n-\n\n  a: 1\n", "k: 1\nl: []\n", "k: 1\nl:\n-\n\n  a: 1\n"],
        // A new first field comes above the lines of the next one. At the top of a text, these lines are the text's.
        ["k:\n\n  a: 1\n", "k:\n  c: 1\n\n  a: 1\n", "k:\n\n  a: 2\n", "k:\n  c: 1\n\n  a: 2\n"],
        ["k:\n  a: 1\n", "k:\n  c: 1\n  a: 1\n", "k:\n  # d\n\n  a: 1\n", "k:\n  c: 1\n  # d\n\n  a: 1\n"],
        ["a: 1\n", "c: 1\na: 1\n", "# d\n\na: 1\n", "# d\n\nc: 1\na: 1\n"],
        // Elements.
        [
            "a:\n- name: x\n- name: y\n",
            "a:\n- name: x\n\n# z\n\n- name: y\n",
            "a:\n- name: x\n  o: 1\n- name: y\n",
            "a:\n- name: x\n  o: 1\n\n# z\n\n- name: y\n",
        ],
        [
            "a:\n- {}\n- {b: 1}\n",
            "a:\n- {}\n\n- {b: 2}\n",
            "a:\n- {}\n- {b: 1}\nc: 1\n",
            "a:\n- {}\n\n- {b: 2}\nc: 1\n",
        ],
    ] {
        let (once, conflicts) = merged([original, updated, dest], OnConflict::TakeUpdated);
        assert_eq!((once.as_str(), conflicts.len()), (want, 0), "{original}{updated}{dest}");
        assert_eq!(merged([original, updated, want], OnConflict::TakeUpdated).0, want, "again: {want}");
    }
}

#[test]
fn what_comes_brings_no_comment_that_dest_has_at_another_child() {
    for [original, updated, dest, want] in [
        // Dest deleted a field, and left the comment above the next one, or at the end.
        ["# a\na: 1\nb: 1\n", "# a\nnew: 1\na: 1\nb: 1\n", "# a\nb: 1\n", "new: 1\n# a\nb: 1\n"],
        ["z: 1\n# a\na: 1\nb: 1\n", "z: 1\n# a\na: 2\nb: 1\n", "z: 1\n# a\nb: 1\n", "z: 1\na: 2\n# a\nb: 1\n"],
        [
            "k:\n  a: 1\n  # b\n  b: 1\n",
            "k:\n  a: 1\n  # b\n  b: 2\n",
            "k:\n  a: 1\n  # b\n",
            "k:\n  a: 1\n  b: 2\n  # b\n",
        ],
        [
            "z: 1\n\n# part\n\na: 1\nb: 1\n",
            "z: 1\n\n# part\n\nnew: 1\na: 1\nb: 1\n",
            "z: 1\n\n# part\n\nb: 1\n",
            "z: 1\nnew: 1\n\n# part\n\nb: 1\n",
        ],
        [
            "l:\n# a\n- name: a\n- name: b\n",
            "l:\n# a\n- name: new\n- name: a\n- name: b\n",
            "l:\n# a\n- name: b\n",
            "l:\n- name: new\n# a\n- name: b\n",
        ],
        // Only the lines at its begin are dest's.
        ["# a\na: 1\nb: 1\n", "# a\n# new\nnew: 1\na: 1\nb: 1\n", "# a\nb: 1\n", "# new\nnew: 1\n# a\nb: 1\n"],
        // Dest put a field between the comment and its field.
        ["# a\na: 1\n", "# a\nnew: 1\na: 1\n", "# a\nown: 1\na: 1\n", "# a\nown: 1\nnew: 1\na: 1\n"],
        // Upstream removes the field that has the comment in dest.
        ["# a\na: 1\nb: 1\nz: 1\n", "# a\nnew: 1\nz: 1\n", "# a\nb: 1\nz: 1\n", "# a\nnew: 1\nz: 1\n"],
        // The other field had these words before.
        ["# c\na: 1\n# c\nb: 1\n", "# c\na: 2\n# c\nb: 1\n", "# c\nb: 1\n", "# c\na: 2\n# c\nb: 1\n"],
        // The comment went with its field, and comes back with it, and so do the lines above it.
        ["z: 1\n# a\na: 1\nb: 1\n", "z: 1\n# a\na: 2\nb: 1\n", "z: 1\nb: 1\n", "z: 1\n# a\na: 2\nb: 1\n"],
        ["z: 1\na: 1\nb: 1\n", "z: 1\n\na: 2\nb: 1\n", "z: 1\nb: 1\n", "z: 1\n\na: 2\nb: 1\n"],
    ] {
        let once = merged([original, updated, dest], OnConflict::TakeUpdated).0;
        assert_eq!(once, want, "{original}{updated}{dest}");
        assert_eq!(merged([original, updated, want], OnConflict::TakeUpdated).0, want, "again: {want}");
    }
}

#[test]
fn a_field_under_another_name_keeps_its_comments_and_its_place() {
    let original = "z: 1\n# why\na: # here\n  x: 1 # one\n  y: 2\n  v: 3\nw: 2\n";
    let updated = original.replace("a:", "b:");
    let dest = original.replace("x: 1", "w: 0\n  x: 1").replace("w: 2", "w: 4");
    let (merged, conflicts) = merged([original, &updated, &dest], OnConflict::TakeUpdated);
    assert_eq!((merged, conflicts), (dest.replace("a:", "b:"), Vec::new()));
}

#[test]
fn a_copy_is_not_taken_for_the_element_that_the_other_side_renamed() {
    let list = |elements: &[&str]| format!("env:\n{}", elements.concat());
    let own = "- name: a\n  v: 1\n  w: 2\n  x: 3\n  y: 4\n";
    let [original, dest] = [list(&[own]), list(&[&own.replace('4', "5"), &own.replace("a\n", "c\n")])];
    let updated = original.replace("a\n", "b\n");
    let want = dest.replacen("a\n", "b\n", 1);
    for dest in [&dest, &want] {
        let (merged, conflicts) = merged([&original, &updated, dest], OnConflict::TakeUpdated);
        assert_eq!((&merged, conflicts), (&want, Vec::new()), "{dest}");
    }
}

/// Dest renamed `a`, and upstream changed it and added `b`, which is as like the old `a` as the new one is: the first and the second run.
#[test]
fn an_element_that_the_other_side_has_beside_the_renamed_one_is_another() {
    let list = |elements: &[[&str; 2]]| {
        let element = |[name, v]: &[&str; 2]| format!("- name: {name}\n  v: {v}\n  w: 2\n  x: 3\n  y: 4\n");
        format!("env:\n{}", elements.iter().map(element).collect::<String>())
    };
    let [original, updated] = [list(&[["a", "1"]]), list(&[["a", "2"], ["b", "2"]])];
    let want = list(&[["c", "2"], ["b", "2"]]);
    for dest in [&list(&[["c", "1"]]), &want] {
        let (merged, conflicts) = merged([&original, &updated, dest], OnConflict::TakeUpdated);
        assert_eq!((&merged, conflicts), (&want, Vec::new()), "{dest}");
    }
}

/// The child is called `a` or `b` on each side, or is absent, and one value in it differs.
#[test]
fn the_laws_of_a_three_way_merge_hold_for_children_under_another_name() {
    let states = ["a1", "a2", "a3", "b1", "b2", "--"];
    let field = |state: &str| match state.split_at(1) {
        ("-", _) => "z: 1\n".to_owned(),
        (name, value) => format!("z: 1\n{name}: {{x: 1, y: 2, w: 3, v: {value}}}\n"),
    };
    let element = |state: &str| match state.split_at(1) {
        ("-", _) => "l: [{name: z}]\n".to_owned(),
        (name, value) => format!("l: [{{name: z}}, {{name: {name}, x: 1, y: 2, w: 3, v: {value}}}]\n"),
    };
    for write in [&field as &dyn Fn(&str) -> String, &element] {
        for number in 0..states.len().pow(3) {
            let [o, u, d] = [36, 6, 1].map(|place| states[number / place % 6]);
            let [original, updated, dest] = [o, u, d].map(write);
            let (result, conflicts) = merged([&original, &updated, &dest], OnConflict::TakeUpdated);
            let shown = format!("{original}{updated}{dest}> {result}");
            let (_, swapped) = merged([&original, &dest, &updated], OnConflict::TakeUpdated);
            assert_eq!(conflicts.len(), swapped.len(), "swapped sides\n{shown}");
            let (again, _) = merged([&original, &updated, &result], OnConflict::TakeUpdated);
            assert_eq!(again, result, "a second run\n{shown}");
            if o == u {
                assert_eq!(result, dest, "nothing happened upstream\n{shown}");
            }
            if o == d || u == d {
                assert_eq!(result, updated, "nothing happened in dest\n{shown}");
            }
        }
    }
}

#[test]
fn an_alias_that_upstream_adds_follows_the_anchor_of_dest() {
    for [original, updated, dest, want] in [
        [
            "a: &x 1\nb: 1\n",
            "a: &x 1\nb: 1\n# c\nc: *x # new\n",
            "a: &x 2\nb: 1\n",
            "a: &x 2\nb: 1\n# c\nc: *x # new\n",
        ],
        ["a: &x 1\nb: 1\n", "a: &x 1\nb: 1\nc: *x\n", "a: &x 1\nb: 3\n", "a: &x 1\nb: 3\nc: *x\n"],
        ["a: &x {k: 1}\n", "a: &x {k: 1}\nc: *x\n", "a: &x {k: 2}\n", "a: &x {k: 2}\nc: *x\n"],
        [
            "a: &x\n  k: 1\nb: 1\n",
            "a: &x\n  k: 1\nb: 1\nc: *x\n",
            "a: &x\n  k: 2\nb: 1\n",
            "a: &x\n  k: 2\nb: 1\nc: *x\n",
        ],
        ["a: &x 1\nb: 5\n", "a: &x 1\nb: *x # y\n", "a: &x 2\nb: 5\n", "a: &x 2\nb: *x # y\n"],
        ["a: &x 1\n", "a: &x 1\nc:\n  # d\n  d: *x # e\n", "a: &x 2\n", "a: &x 2\nc:\n  # d\n  d: *x # e\n"],
        [
            "- name: a\n  v: &x 1\n",
            "- name: a\n  v: &x 1\n- name: b\n  v: *x\n",
            "- name: a\n  v: &x 2\n",
            "- name: a\n  v: &x 2\n- name: b\n  v: *x\n",
        ],
        // An alias is of an anchor before it, and has none of its own.
        ["a: &x 1\nb: 1\n", "b: 1\na: &x 1\nc: *x\n", "b: 1\nz: 1\na: &x 2\n", "b: 1\nz: 1\na: &x 2\nc: *x\n"],
        ["a: &x 1\nb: 1\n", "a: &x 1\nb: 1\nc: *x\n", "b: 1\na: &x 2\n", "b: 1\nc: 2\na: &x 2\n"],
        ["a: &x 1\nb: &y 5\n", "a: &x 1\nb: *x\n", "a: &x 2\nb: &y 5\n", "a: &x 2\nb: &y 2\n"],
        ["{a: &x 1, b: 1}\n", "{a: &x 1, b: 1, c: *x}\n", "{a: &x 2, b: 1}\n", "{a: &x 2, b: 1, c: 2}\n"],
        // It has updated's value: dest has no such anchor, two of them, or another one, or upstream changed what has it.
        ["a: &x 1\n", "a: &x 1\nc: *x\n", "a: 2\n", "a: 2\nc: 1\n"],
        ["a: &x 1\nb: 1\n", "a: &x 1\nb: 1\nc: *x\n", "a: &x 2\nb: &x 1\n", "a: &x 2\nb: &x 1\nc: 1\n"],
        ["a: 1\n", "a: &x 1\nc: *x\n", "a: 1\nb: &x 2\n", "a: 1\nb: &x 2\nc: 1\n"],
        ["a: &x 1\n", "a: &x 3\nc: *x\n", "a: &x 1\nb: 1\n", "a: &x 3\nb: 1\nc: 3\n"],
    ] {
        for dest in [dest, want] {
            let (merged, conflicts) = merged([original, updated, dest], OnConflict::TakeUpdated);
            assert_eq!((merged.as_str(), conflicts), (want, Vec::new()), "{original}{updated}{dest}");
        }
    }
}

#[test]
fn an_alias_in_conflict_is_updateds_value() {
    for [updated, dest, want] in [
        ["a: &x 1\nb: *x\n", "a: &x 2\nb: 4\n", "a: &x 2\nb: 1\n"],
        ["a: &x 3\nb: 5\nc: *x\n", "a: &x 2\nb: 5\n", "a: &x 3\nb: 5\nc: 3\n"],
    ] {
        let (merged, conflicts) = merged(["a: &x 1\nb: 5\n", updated, dest], OnConflict::TakeUpdated);
        assert_eq!((merged.as_str(), conflicts.len()), (want, 1), "{updated}{dest}");
    }
}

/// Original, updated and dest, each with one field; what the field is if updated wins, and `!` if that is a conflict.
const TAGS: [[&str; 4]; 13] = [
    ["!x {k: 1}", "!y {k: 1}", "!x {k: 1}", "!y {k: 1}"],
    ["!x {k: 1}", "!y {k: 1}", "!x {k: 2}", "!y {k: 1} !"],
    ["{k: 1}", "!y {k: 1}", "{k: 1, l: 2}", "!y {k: 1} !"],
    ["!x {k: 1}", "{k: 1}", "!x {k: 1}", "{k: 1}"],
    ["!x {k: 1}", "!x {k: 2}", "!x {k: 1, l: 2}", "!x {k: 2, l: 2}"],
    ["!x {k: 1}", "!!map {k: 2}", "{k: 1, l: 2}", "!!map {k: 2} !"],
    ["!!map {k: 1}", "{k: 2}", "{k: 1, l: 2}", "{k: 2, l: 2}"],
    ["!x [a]", "!y [a]", "!x [a]", "!y [a]"],
    ["!x [a]", "!y [a]", "!x [a, b]", "!y [a] !"],
    ["\n  - !x [a]\n  - b", "\n  - !y [a]\n  - b", "\n  - !x [a]\n  - c", "\n  - !y [a]\n  - b !"],
    ["~", "!y {k: 1}", "!x {k: 1}", "!y {k: 1} !"],
    ["{}", "{n: !z {p: !q [1]}}", "{m: 1}", "{m: 1, n: !z {p: !q [1]}}"],
    ["\n  k: 1", "\n  k: 1\n  n: !z\n    p: 1", "\n  k: 2", "\n  k: 2\n  n: !z\n    p: 1"],
];

#[test]
fn a_tag_is_a_part_of_the_value() {
    for [original, updated, dest, want] in TAGS {
        let text = |value: &str| format!("a: {value}\n").replace(": \n", ":\n");
        let (result, conflicts) = merged([original, updated, dest].map(text), OnConflict::TakeUpdated);
        let (want, is_conflict) = want.strip_suffix(" !").map_or((want, false), |want| (want, true));
        assert_eq!(result, text(want), "{original:?} {updated:?} {dest:?}");
        assert_eq!(!conflicts.is_empty(), is_conflict, "{original:?} {updated:?} {dest:?}");
    }
}
