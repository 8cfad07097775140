//! A merge that continues from a tree, and a tree that is settled, one case per line.

use krm_merge_core::change::{Change, Wants};
use krm_merge_core::diff::diff;
use krm_merge_core::merge::{Merging, merge};
use krm_merge_core::patch::{Missing, lower};
use krm_merge_core::policy::{NewElements, Renames};
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::child::{By, Elements, Keyed, Value};
use krm_tree::limit::Budget;
use krm_tree::path::FieldPath;
use krm_tree::splice;
use krm_tree::tree::{Branch, Conflict, Pick, Taking, Tree, View, decide, settle};
use krm_yaml::{Document, NodeRef};

fn root<'a>(doc: &'a Document<'_>) -> NodeRef<'a> {
    doc.roots().next().expect("a root")
}

fn parsed(text: &str) -> Document<'static> {
    Document::parse(text.to_owned()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The text of dest with sources merged into it, each into the tree of the one before it.
fn in_turn(dest: &str, sources: &[&str]) -> String {
    let types = Types::new([], Inference::On);
    let (doc, sources) = (parsed(dest), sources.iter().map(|s| parsed(s)).collect::<Vec<_>>());
    let mut tree = Tree::Node(root(&doc));
    for source in &sources {
        let change = lower(root(source), tree.view(), types.root("", "", Mode::ThreeWay), Missing::Made)
            .expect("a change")
            .change;
        tree = merge(Some(tree), &change, NewElements::Append).expect("a tree").tree.expect("a resource");
    }
    let edits = splice::edits(root(&doc), &tree, &Budget::default()).expect("within the limit");
    edits.apply(dest, 0..dest.len())
}

#[test]
fn a_second_source_goes_on_from_the_tree_of_the_first() {
    for (dest, sources, want) in [
        ("a: 1 # one\n", &["{a: 2}", "{a: 3}"][..], "a: 3 # one\n"),
        ("a: 1\nb: 2\n", &["{a: 2}", "{a: 1}"], "a: 1\nb: 2\n"),
        ("a: 1\nb: 2\n", &["{b: null}", "{b: 2}"], "a: 1\nb: 2\n"),
        // Fields in another order than in dest.
        ("a: 1\nb: 2\nc: 3\n", &["{c: 4, a: 5}", "{z: 7, b: 6}"], "a: 5\nz: 7\nb: 6\nc: 4\n"),
        ("a: {x: 1}\n", &["{a: {y: 2}}", "{a: {z: 3, y: null}}"], "a: {x: 1, z: 3}\n"),
        ("a: 1\n", &["{m: {x: 1}}", "{m: {z: 2}}"], "a: 1\nm: {x: 1, z: 2}\n"),
        ("l:\n- name: a\n", &["{l: [{name: b}]}", "{l: [{name: b, v: 1}]}"], "l:\n- name: a\n- {name: b, v: 1}\n"),
        ("l: [1, 2]\n", &["{l: [1, 3]}", "{l: [0, 1, 3]}"], "l: [0, 1, 3]\n"),
        ("a: &x {k: 1}\nb: *x\n", &["{b: {l: 2}}", "{b: {m: 3}}"], "a: &x {k: 1}\nb: {k: 1, l: 2, m: 3}\n"),
    ] {
        assert_eq!(in_turn(dest, sources), want, "{dest} {sources:?}");
    }
}

#[test]
fn what_is_looked_up_stays_known_where_nothing_changes() {
    let types = Types::new([], Inference::On);
    let dest = parsed("l:\n- {name: a, v: 1}\n- {name: b, v: 2}\n");
    let source = parsed("l: [{name: b, v: 2}]\n");
    let mut merging = Merging::of(Some(Tree::Node(root(&dest))));
    for _ in 0..200 {
        let there = merging.tree().and_then(Tree::view);
        let change =
            lower(root(&source), there, types.root("", "", Mode::ThreeWay), Missing::Made).expect("a change").change;
        merging.apply(FieldPath::default(), &change, NewElements::Append).expect("a tree");
    }
    let list = merging.tree().and_then(Tree::view).and_then(|root| root.field("l")).map(View::list);
    assert_eq!(list.expect("a list").keyed(&["name".into()]), Keyed::Unique);
    assert!(merging.finish().is_some_and(|tree| tree.is(root(&dest))));
}

/// Looked-up elements keep their places when the order changes.
#[test]
fn an_order_keeps_what_is_looked_up() {
    let doc = parsed(&format!("[{}]", (0..300).map(|i| format!("{{name: n{i}}}, ")).collect::<String>()));
    let by = By::Keys(vec!["name".into()]);
    let mut branch = Branch::of(root(&doc), by.clone());
    branch.prepare(&by, 300);
    let order: Vec<usize> = (0..300).rev().collect();
    branch.put(&order);
    assert!(branch.is_indexed(&by));
    let eighth = root(&doc).elements().nth(292).and_then(|element| by.id_of(View::Node(element))).expect("an identity");
    assert_eq!((branch.find(&eighth).collect(), branch.id(7).as_ref()), (vec![7], Some(&eighth)));
}

/// A conflict of one field, as a tree: dest has 1, updated wants 2, both started from 0.
fn conflict<'a>(dest: NodeRef<'a>, [original, updated]: [NodeRef<'a>; 2]) -> Tree<'a> {
    dest_with(dest, |own| {
        Tree::Conflict(Box::new(Conflict {
            path: FieldPath::default(),
            original: original.get("a"),
            updated: updated.get("a"),
            dest: Some(Tree::Node(own)),
            taken: updated.get("a").map(Tree::Node),
            key: None,
            comments: None,
            taking: Taking::Value,
            required: None,
        }))
    })
}

fn dest_with<'a>(dest: NodeRef<'a>, value: impl Fn(NodeRef<'a>) -> Tree<'a>) -> Tree<'a> {
    let mut branch = Branch::of(dest, By::Field);
    branch.entries[0].value = dest.get("a").map(value);
    branch.into_tree()
}

#[test]
fn one_tree_is_settled_for_each_side() {
    let [dest, original, updated] = ["a: 1 # own\n", "a: 0\n", "a: 2\n"].map(parsed);
    let tree = conflict(root(&dest), [root(&original), root(&updated)]);
    let settled = |pick| {
        let tree = settle(tree.clone(), &mut |_| pick).expect("a resource");
        let edits = splice::edits(root(&dest), &tree, &Budget::default()).expect("within the limit");
        (edits.apply(dest.source(), 0..dest.source().len()), tree.is(root(&dest)))
    };
    assert_eq!(settled(Pick::Dest), ("a: 1 # own\n".into(), true));
    assert_eq!(settled(Pick::Updated), ("a: 2 # own\n".into(), false));
    assert_eq!(settled(Pick::Original), ("a: 0 # own\n".into(), false));
}

/// The tree is the same for any order and any number of decisions.
#[test]
fn conflicts_are_decided_one_after_the_other() {
    let list = |names: &str| names.chars().map(|name| format!("{{name: {name}}}")).collect::<Vec<_>>().join(", ");
    let text =
        |x: &str, names: &str| format!("# {x}\na: {x} # {x}\nb:\n  # {x}\n  c: {x}\n  d: {x}\nl: [{}]\n", list(names));
    let docs = [text("0", "abc"), text("1", "bac"), text("2", "cab")].map(|text| parsed(&text));
    let [original, dest, updated] = docs.each_ref().map(|doc| root(doc));
    let types = Types::new([], Inference::On);
    let found = diff(Some(original), updated, Some(dest), types.root("", "", Mode::ThreeWay), Renames::Ignore)
        .expect("a change");
    let change = found.change.expect("a change");
    let merged = merge(Some(Tree::Node(dest)), &change, NewElements::Append).expect("a tree");
    let tree = merged.tree.expect("a resource");
    let mut paths = Vec::new();
    drop(settle(tree.clone(), &mut |conflict| {
        paths.push(conflict.path.keyed());
        Pick::Dest
    }));
    assert_eq!(paths, ["a", "b.c", "b.d", "l"]);
    let shown = |tree: Option<Tree<'_>>| {
        let edits = splice::edits(dest, &tree.expect("a resource"), &Budget::default()).expect("within the limit");
        edits.apply(docs[1].source(), 0..docs[1].source().len())
    };
    for sides in 0..16u32 {
        let pick = |path: &str| {
            let number = paths.iter().position(|known| known == path).expect("a conflict");
            if sides >> number & 1 == 1 { Pick::Updated } else { Pick::Dest }
        };
        let at_once = shown(settle(tree.clone(), &mut |conflict| pick(&conflict.path.keyed())));
        for first in 0..16u32 {
            let is_first =
                |path: &str| first >> paths.iter().position(|known| known == path).expect("a conflict") & 1 == 1;
            let mut left = 0;
            let tree = decide(tree.clone(), &mut |conflict| {
                let path = conflict.path.keyed();
                is_first(&path).then(|| pick(&path))
            });
            let tree = settle(tree.expect("a resource"), &mut |conflict| {
                left += 1;
                pick(&conflict.path.keyed())
            });
            assert_eq!((shown(tree), left), (at_once.clone(), 4 - first.count_ones()), "{sides} {first}");
        }
    }
}

#[test]
fn the_comments_of_a_conflict_are_those_of_the_side_that_wins() {
    let [dest, original, updated] = ["# ours\na: 1 # own\n", "a: 0 # was\n", "# theirs\na: 2\n"].map(parsed);
    let types = Types::new([], Inference::On);
    let found = diff(
        Some(root(&original)),
        root(&updated),
        Some(root(&dest)),
        types.root("", "", Mode::ThreeWay),
        Renames::Ignore,
    )
    .expect("a change");
    let change = found.change.expect("a change");
    let merged = merge(Some(Tree::Node(root(&dest))), &change, NewElements::Append).expect("a tree");
    let tree = merged.tree.expect("a resource");
    for (pick, want) in
        [(Pick::Dest, "# ours\na: 1 # own\n"), (Pick::Updated, "# theirs\na: 2\n"), (Pick::Original, "a: 0 # was\n")]
    {
        let tree = settle(tree.clone(), &mut |_| pick).expect("a resource");
        let edits = splice::edits(root(&dest), &tree, &Budget::default()).expect("within the limit");
        assert_eq!(edits.apply(dest.source(), 0..dest.source().len()), want, "{pick:?}");
    }
}

#[test]
fn the_comments_around_a_conflict_come_whoever_wins_it() {
    let text = |comment: &str, value: u8| format!("# {comment}\na: # {comment}\n  b: {value}\n  # {comment}\n");
    let [dest, original, updated] = [text("old", 1), text("old", 0), text("new", 2)].map(|text| parsed(&text));
    let types = Types::new([], Inference::On);
    let sides = [&dest, &original, &updated].map(root);
    let cursor = types.root("", "", Mode::ThreeWay);
    let found = diff(Some(sides[1]), sides[2], Some(sides[0]), cursor, Renames::Ignore).expect("a change");
    let change = found.change.expect("a change");
    let merged = merge(Some(Tree::Node(sides[0])), &change, NewElements::Append).expect("a tree");
    let tree = merged.tree.expect("a resource");
    for (pick, value) in [(Pick::Dest, 1), (Pick::Updated, 2), (Pick::Original, 0)] {
        let tree = settle(tree.clone(), &mut |_| pick).expect("a resource");
        let edits = splice::edits(sides[0], &tree, &Budget::default()).expect("within the limit");
        assert_eq!(edits.apply(dest.source(), 0..dest.source().len()), text("new", value), "{pick:?}");
    }
}

#[test]
fn a_change_of_a_conflict_is_made_on_both_sides() {
    let [dest, original, updated, more] = ["a: 1\n", "a: 0\n", "a: 2\n", "a: 3\n"].map(parsed);
    let tree = conflict(root(&dest), [root(&original), root(&updated)]);
    let types = Types::new([], Inference::On);
    let change = lower(root(&more), None, types.root("", "", Mode::ThreeWay), Missing::Made).expect("a change").change;
    assert!(matches!(change, Change { wants: Wants::Inside(_), .. }));
    let tree = merge(Some(tree), &change, NewElements::Append).expect("a tree").tree.expect("a resource");
    for pick in [Pick::Dest, Pick::Updated] {
        let settled = settle(tree.clone(), &mut |_| pick).expect("a resource");
        let value = settled.view().and_then(|view| view.field("a")).map(|a| a.string().into_owned());
        assert_eq!(value.as_deref(), Some("3"));
    }
}
