//! Remove, replace, add and move any child of any map or list, in hard documents and generated ones, and parse again: the value is what a
//! model says, and the comments that belong to nobody touched are still there.

#[path = "support/render.rs"]
mod render;
mod support;

use krm_job::event::to_value;
use krm_merge_function::results::yaml_of;
use krm_tree::child::By;
use krm_tree::limit::Budget;
use krm_tree::splice::edits;
use krm_tree::tree::{Branch, Comments, Entry, Key, Layout, Tree};
use krm_yaml::{Document, Kind, NodeRef};
use proptest::prelude::*;
use serde_json::{Value, json};

const HARD: [&str; 17] = [
    "\u{feff}a: 1 # one\nb:\n  c: 2\n",
    "\u{feff}# head\n# of a\na:\n- 1\nb: 2\n",
    "# head\na: 1 # one\n\n# of b\nb:\n  c: 2\n  # foot of b\n# of d\nd: [1, 2, 3]\n",
    "a:\n- x # x\n# of y\n- y\n- - p\n  - q\n-\n- # dash\n  k: v\n  # in\n  l: w\nb: z\n",
    "a:\n  - name: x\n    # about v\n    v: |\n      text\n      # no comment\n\n  - name: y\n    v: >-\n      fold\n\n      ed\n    w: 1\nb: 1\n",
    "a: |2+\n    x\n\n\nb: \"q\n  r\"\nc: plain\n  more # c\nd: 'it''s'\ne:\nf: ~\n",
    "m: {a: 1, b: {c: 2,d: [x,y]}, e: }\nn: {\n  a: 1, # one\n  b: 2\n}\no: [a: b, c]\n",
    "{\"a\":{\"b\":[1,2,{\"c\":null}],\"d\":\"e\"},\"f\":[]}\n",
    "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {\n    \"c\": true\n  }\n}\n",
    "? a\n: b\n? [x]\n: c\nd: e\n",
    "a: !!str 1\nb: !t {x: 1}\nc: !!map\n  d: 1\n",
    "a:\r\n  b: 1 # c\r\n  c:\r\n  - x\r\n  - y\r\nd: |\r\n  t\r\n",
    "a:\n    b:\n        - c\n        -   d: 1\n            e: 2\n    f: {}",
    "a:\n  # free\n\n  b: 1\n  # under b\n\n  # free too\nc: 1",
    "a: 1\nb: |\n  t\n  u",
    "a:\n- x: 1\n- |+\n  t",
    "a: 1\nb:\n- c: >\n    t\n    u",
];

fn value_of(node: NodeRef<'_>) -> Value {
    match node.resolve().kind() {
        Kind::Map => {
            let fields = node
                .fields()
                .map(|(k, v)| (if k.is_container() { "(complex)".into() } else { k.string().to_owned() }, value_of(v)));
            Value::Object(fields.collect())
        }
        Kind::List => Value::Array(node.elements().map(value_of).collect()),
        _ => serde_json::to_value(yaml_of(&to_value(node, &Budget::default()).expect("a scalar"))).expect("a value"),
    }
}

/// The children of a container: keys, where it has them, and values.
fn children(node: NodeRef<'_>) -> Vec<(Option<NodeRef<'_>>, NodeRef<'_>)> {
    if node.is_map() {
        node.entries().map(|(k, v)| (Some(k), v)).collect()
    } else {
        node.elements().map(|e| (None, e)).collect()
    }
}

/// The paths of all containers that have children, as child numbers from the root.
fn containers(node: NodeRef<'_>, path: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
    let children = children(node);
    if !children.is_empty() {
        out.push(path.clone());
    }
    for (i, (_, child)) in children.into_iter().enumerate() {
        path.push(i);
        containers(child, path, out);
        path.pop();
    }
}

/// The only entry of another document.
type Other<'a> = (NodeRef<'a>, NodeRef<'a>);

/// Writes another branch into the place of the container at a path, made with the entry of another document.
fn splice(text: &str, path: &[usize], other: &str, edit: impl for<'a> Fn(&mut Branch<'a>, Other<'a>)) -> String {
    fn wrap<'a>(
        node: NodeRef<'a>,
        path: &[usize],
        other: Other<'a>,
        edit: &impl for<'b> Fn(&mut Branch<'b>, Other<'b>),
    ) -> Tree<'a> {
        let mut branch = Branch::of(node, By::Index);
        match path.split_first() {
            None => edit(&mut branch, other),
            Some((first, rest)) => {
                branch.entries[*first].value = Some(wrap(children(node)[*first].1, rest, other, edit));
            }
        }
        Tree::Branch(Box::new(branch))
    }
    let other = Document::parse(other).expect("valid");
    let other = other.roots().next().and_then(|r| r.entries().next()).expect("an entry");
    let doc = Document::parse(text).expect("valid");
    let root = doc.roots().next().expect("root");
    let edits = edits(root, &wrap(root, path, other, &edit), &Budget::default()).expect("a small text");
    edits.apply(text, 0..text.len())
}

/// The value at a path of child numbers.
fn at<'v>(value: &'v mut Value, path: &[usize]) -> &'v mut Value {
    path.iter().fold(value, |value, i| match value {
        Value::Object(map) => map.values_mut().nth(*i).expect("a field"),
        Value::Array(list) => &mut list[*i],
        scalar => scalar,
    })
}

fn parsed(text: &str) -> Value {
    let doc = Document::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    doc.roots().next().map_or(Value::Null, value_of)
}

/// Every removal, replacement, addition and move in one document.
fn check(text: &str, other: &str) {
    let before = parsed(text);
    // A model that goes by number wants keys in the order of the text and each once.
    let doc = Document::parse(text).expect("valid");
    let root = doc.roots().next().expect("root");
    let mut paths = Vec::new();
    containers(root, &mut Vec::new(), &mut paths);
    let other_doc = Document::parse(other).expect("valid");
    let (other_key, other_value) = other_doc.roots().next().and_then(|r| r.entries().next()).expect("an entry");
    for path in &paths {
        let node = path.iter().fold(root, |n, i| children(n)[*i].1);
        let count = children(node).len();
        for i in 0..count {
            // Not the only field of the document: a root that is emptied is the caller's to write.
            if count > 1 || !path.is_empty() {
                let after = splice(text, path, other, |branch, _| branch.entries[i].value = None);
                let mut want = before.clone();
                match at(&mut want, path) {
                    Value::Object(map) => drop(map.keys().nth(i).cloned().map(|k| map.shift_remove(&k))),
                    Value::Array(list) => drop(list.remove(i)),
                    _ => {}
                }
                assert_eq!(parsed(&after), want, "remove {i} of {path:?} from\n{text}\n=>\n{after}");
            }
            let after = splice(text, path, other, |branch, (_, other_value)| {
                branch.entries[i].value = Some(Tree::Node(other_value));
            });
            let mut want = before.clone();
            let mut inner = path.clone();
            inner.push(i);
            *at(&mut want, &inner) = value_of(other_value);
            assert_eq!(parsed(&after), want, "replace {i} of {path:?} in\n{text}\n=>\n{after}");
        }
        for i in 0..=count {
            let after = splice(text, path, other, |branch, (other_key, other_value)| {
                let key = branch.like.is_map().then_some(Key::Node(other_key));
                branch.entries.insert(i, Entry::new(key, Tree::Node(other_value)));
            });
            let mut want = before.clone();
            match at(&mut want, path) {
                Value::Object(map) => drop(map.insert(other_key.string().to_owned(), value_of(other_value))),
                Value::Array(list) => list.insert(i, value_of(other_value)),
                _ => {}
            }
            assert_eq!(parsed(&after), want, "add at {i} of {path:?} in\n{text}\n=>\n{after}");
            let comments = |t: &str| Document::parse(t).expect("valid").comments_in(0..t.len()).count();
            assert!(comments(&after) >= comments(text), "comments are lost from\n{text}\n=>\n{after}");
        }
        let after = splice(text, path, other, |branch, _| branch.entries.reverse());
        let mut want = before.clone();
        if let Value::Array(list) = at(&mut want, path) {
            list.reverse();
        }
        assert_eq!(parsed(&after), want, "reverse {path:?} of\n{text}\n=>\n{after}");
    }
}

#[test]
fn hard_documents() {
    for text in HARD {
        for other in [
            "zz: 1\n",
            "zz: # c\n  # d\n  x: |\n    t\n  y:\n    - 1\n    - k: v\n",
            "zz: [a, {b: c}]\n",
            "zz: |-\n  two\n  lines\n",
            "zz: yes, 'and' # c\n",
        ] {
            check(text, other);
        }
    }
}

#[test]
fn the_field_that_slides_up_to_a_dash_brings_its_new_comments() {
    for (text, want) in [
        // A comment behind the dash would belong to the element.
        ("- a: 1\n  b: 2\n  c: 3\n", "-\n  # new\n  b: 2\n  c: 3\n"),
        ("- a: 1\n  # old\n  b: 2\n  c: 3\n", "-\n  # new\n  b: 2\n  c: 3\n"),
        ("- a: 1 # a\n\n  # free\n\n  b: 2\n", "-\n  # free\n  # new\n  b: 2\n"),
    ] {
        let doc = Document::parse(text).expect("valid");
        let list = doc.roots().next().expect("a root");
        let mut outer = Branch::of(list, By::Index);
        let mut inner = Branch::of(list.elements().next().expect("an element"), By::Field);
        inner.entries[0].value = None;
        inner.entries[1].comments = Comments { above: Some("# new"), ..*inner.entries[1].comments }.into();
        outer.entries[0].value = Some(Tree::Branch(Box::new(inner)));
        let edits = edits(list, &Tree::Branch(Box::new(outer)), &Budget::default()).expect("small");
        assert_eq!(edits.apply(text, 0..text.len()), want, "{text}");
    }
}

#[test]
fn the_child_that_moves_down_from_a_dash_gets_its_new_comments() {
    let text = "l:\n- - a\n  - b\n";
    let after = splice(text, &[0, 0], "z: c", |branch, (_, value)| {
        branch.entries[0].comments = Comments { above: Some("# new"), ..*branch.entries[0].comments }.into();
        branch.entries.insert(0, Entry::new(None, Tree::Node(value)));
    });
    assert_eq!(after, "l:\n- - c\n  # new\n  - a\n  - b\n");
}

#[test]
fn the_comments_at_a_dash_get_lines() {
    let set = |behind: &'static str, above: &'static str| {
        let text = "l:\n- - a\n  - b\n";
        splice(text, &[0], "z: 1", move |branch, _| {
            let mut inner = Branch::of(children(branch.like)[0].1, By::Index);
            inner.entries[0].comments = Comments { above: Some(above), ..*inner.entries[0].comments }.into();
            branch.entries[0].comments = Comments { behind: Some(behind), ..*branch.entries[0].comments }.into();
            branch.entries[0].value = Some(Tree::Branch(Box::new(inner)));
        })
    };
    assert_eq!(set("", ""), "l:\n- - a\n  - b\n");
    assert_eq!(set("# dash", ""), "l:\n- # dash\n  - a\n  - b\n");
    assert_eq!(set("", "# of a"), "l:\n-\n  # of a\n  - a\n  - b\n");
    assert_eq!(set("# dash", "# of a"), "l:\n- # dash\n  # of a\n  - a\n  - b\n");
}

#[test]
fn the_first_child_after_a_dash_gets_its_new_comments_where_others_move() {
    for text in ["l:\n- a: 1\n  b: 2\n  c: 3\n", "l:\n- - a\n  - b\n  - c\n"] {
        let after = splice(text, &[0, 0], "z: 1", |branch, _| {
            branch.entries[0].comments = Comments { above: Some("# new"), ..*branch.entries[0].comments }.into();
            branch.entries.swap(1, 2);
        });
        let [head, a, b, c] = <[&str; 4]>::try_from(text.lines().collect::<Vec<_>>()).expect("four lines");
        assert_eq!(after, format!("{head}\n-\n  # new\n  {}\n{c}\n{b}\n", &a[2..]));
    }
}

#[test]
fn a_child_moves_with_its_comments_and_what_lies_between_stays_between() {
    let text = "l:\n# a1\n- a: 1 # a2\n  # a3\n\n# free\n\n# b1\n- b # b2\nk: v\n";
    let after = splice(text, &[0], "z: 1", |branch, _| branch.entries.swap(0, 1));
    assert_eq!(after, "l:\n# b1\n- b # b2\n\n# free\n\n# a1\n- a: 1 # a2\n  # a3\nk: v\n");
    let text = "l:\n- a: 1\n  # about b\n  b: 2\n";
    let after = splice(text, &[0, 0], "z: 1", |branch, _| branch.entries.swap(0, 1));
    assert_eq!(after, "l:\n-\n  # about b\n  b: 2\n  a: 1\n");
}

#[test]
fn a_block_scalar_takes_no_blank_line_for_its_own() {
    // What stood between goes, at two levels, and something new comes.
    let text = "a:\n  b: |+\n    x\n  c: 1\n\nd: 2\n";
    let after = splice(text, &[], "z: 3", |branch, (key, value)| {
        let mut inner = Branch::of(children(branch.like)[0].1, By::Index);
        inner.entries[1].value = None;
        branch.entries[0].value = Some(Tree::Branch(Box::new(inner)));
        branch.entries.insert(1, Entry::new(Some(Key::Node(key)), Tree::Node(value)));
    });
    assert_eq!(after, "a:\n  b: |+\n    x\nz: 3\nd: 2\n");
    for (text, want) in [
        ("a: |\n  x\nb: 1\n   \n\nc: 2\n", "a: |\n  x\n\nc: 2\n"),
        ("a: |\n  x\nb: 1\n  \nc: 2\n", "a: |\n  x\n  \nc: 2\n"),
        ("a: x\nb: |\n  x\n    \n\nc: 2\n", "a: x\n\nc: 2\n"),
        ("a: |\n  x\nb: 1\n   ", "a: |\n  x\n"),
    ] {
        let after = splice(text, &[], "z: 3", |branch, _| branch.entries[1].value = None);
        assert_eq!(after, want, "{text:?}");
    }
    let put = |text: &str| {
        splice(text, &[], "z: |\n  n\n", |branch, (_, value)| {
            branch.entries[0].value = Some(Tree::Node(value));
        })
    };
    assert_eq!(put("a: 1\n    \n\nb: 2\n"), "a: |\n  n\n\nb: 2\n");
    assert_eq!(put("a: 1\n  \nb: 2\n"), "a: |\n  n\n  \nb: 2\n");
    // The end of the text ends no line of it.
    assert_eq!(put("a: 1"), "a: |\n  n\n");
}

#[test]
fn a_block_scalar_takes_no_comment_below_it_for_its_own() {
    let put = |text: &str, value: &str| {
        splice(text, &[], &format!("z: {value}"), |branch, (_, value)| {
            branch.entries[0].value = Some(Tree::Node(value));
        })
    };
    for (text, value, want) in [
        ("a: 1\n  # deep\nb: 2\n", "|\n  n\n", "a: |\n  n\n # deep\nb: 2\n"),
        ("a: 1 # x\n # less\n    # deep\nb: 2\n", "|\n  n\n", "a: | # x\n  n\n # less\n # deep\nb: 2\n"),
        ("a: 1\n # less\nb: 2\n", "|\n  n\n", "a: |\n  n\n # less\nb: 2\n"),
        ("a:\n\n   # deep\nb: 2\n", "|+\n  n\n\n", "a: |+\n  n\n\n # deep\nb: 2\n"),
        // Each deeper line would be its content, for it has none.
        ("a: 1\n # deep", "|-\n", "a: |-\n# deep"),
        ("- 1\n   # deep\n- 2\n", "|\n  n\n", "- |\n  n\n # deep\n- 2\n"),
    ] {
        assert_eq!(put(text, value), want, "{text:?}");
    }
}

#[test]
fn a_block_scalar_that_ended_with_its_text_keeps_its_value_in_another_place() {
    // A text that is copied as it is written, in a child that moves up.
    let turned = |text: &str, other: &str| {
        splice(text, &[], other, |branch, (_, value)| {
            branch.entries[1].value = Some(Tree::Node(value));
            branch.entries[1].layout = Layout::Own;
            branch.reorder(|mut entries| {
                entries.reverse();
                entries
            });
        })
    };
    assert_eq!(turned("a: 1\nb: 2", "b: |\n  n"), "b: |-\n  n\na: 1\n");
    assert_eq!(turned("a: 1\nb: 2", "b: >\n  n\n"), "b: >\n  n\na: 1\n");
    // A list that is copied as it is written, above a comment.
    let put = splice("a: 1\nb: 2\n", &[], "z:\n- |\n  n", |branch, (key, value)| {
        let new = Entry { layout: Layout::Value, ..Entry::new(Some(Key::Node(key)), Tree::Node(value)) };
        branch.entries.insert(0, new);
    });
    assert_eq!(put, "z:\n- |-\n  n\na: 1\nb: 2\n");
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        (0i64..9).prop_map(|n| json!(n)),
        prop::sample::select(vec!["x, y", "[x]"]).prop_map(|s| json!(s)),
        prop::sample::select(&render::TEXTS[..]).prop_map(|s| json!(s)),
    ];
    scalar.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map("[a-f]", inner, 0..4).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(support::tries(150))]

    #[test]
    fn generated_documents(root in prop::collection::btree_map("[a-f]", value(), 2..4), other in value(), style in prop::collection::vec(any::<u8>(), 1..30)) {
        let text = render::Style::new(&style).document(&Value::Object(root.into_iter().collect()));
        let other = render::Style::new(&style).document(&json!({"zz": other}));
        check(&text, &other);
    }
}

/// A key of more than 1,024 characters is one to its readers only behind a `?`.
#[test]
fn a_long_key_keeps_its_question_mark() {
    for length in [1024, 1025, 5000] {
        let key = "k".repeat(length);
        let entries =
            [format!("? {key}\n: v # c\n"), format!("? {key}\n: a: 1\n  b: [2]\n"), format!("? \"{key} y\"\n: - x\n")];
        for entry in &entries {
            HARD.iter().filter(|text| !text.starts_with('{')).for_each(|text| check(text, entry));
            check(&format!("{entry}a: 1\n"), "n: 1\n");
        }
    }
}
