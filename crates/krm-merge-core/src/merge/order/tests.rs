//! The positions of children after a merge, one case per line.

use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::limit::Budget;
use krm_tree::splice;
use krm_tree::tree::{Pick, Taking, Tree, settle};
use krm_yaml::{Document, NodeRef};

use super::{SideOrders, in_one};
use crate::diff::diff;
use crate::merge::merge;
use crate::patch::{Missing, lower};
use crate::policy::{NewElements, Renames};

/// How a list or a map of single letters is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A list that merges by `name`.
    Keyed,
    /// A map.
    Fields,
}

impl Kind {
    fn document(self, letters: &str) -> Document<'static> {
        let lines: String = match self {
            Self::Keyed => letters.chars().map(|c| format!("- name: {c}\n")).collect(),
            Self::Fields => letters.chars().map(|c| format!("  {c}: 0\n")).collect(),
        };
        let none = if self == Self::Keyed { "k: []\n" } else { "k: {}\n" };
        Document::parse(if lines.is_empty() { none.to_owned() } else { format!("k:\n{lines}") }).expect("valid")
    }

    /// The letters of a text that was merged.
    fn letters(self, text: &str) -> String {
        let doc = Document::parse(text).expect("valid");
        let value = doc.roots().next().and_then(|root| root.get("k")).expect("k");
        match self {
            Self::Keyed => value.elements().filter_map(|e| Some(e.get("name")?.string())).collect(),
            Self::Fields => value.fields().map(|(key, _)| key.string()).collect(),
        }
    }
}

fn root<'a>(doc: &'a Document<'_>) -> NodeRef<'a> {
    doc.roots().next().expect("a root")
}

fn written<'a>(dest: NodeRef<'a>, tree: &Tree<'a>) -> String {
    let edits = splice::edits(dest, tree, &Budget::default()).expect("within the limit");
    let text = dest.document().source();
    edits.apply(text, 0..text.len())
}

/// The letters after a merge of original, updated and dest, and those that are reported as moved in conflict.
fn three_way(kind: Kind, sides: [&str; 3], pick: Pick, new: NewElements) -> (String, String) {
    let documents = sides.map(|letters| kind.document(letters));
    let [original, updated, dest] = documents.each_ref().map(root);
    let types = Types::new([], Inference::On);
    let change = diff(Some(original), updated, Some(dest), types.root("", "", Mode::ThreeWay), Renames::Follow)
        .expect("a change")
        .change;
    let Some(change) = change else { return (sides[2].to_owned(), String::new()) };
    let tree = merge(Some(Tree::Node(dest)), &change, new).expect("a tree").tree.expect("a resource");
    let mut moved = String::new();
    let tree = settle(tree, &mut |conflict| {
        if let Taking::Order(paths) = &conflict.taking {
            moved.extend(paths.iter().map(|path| path.keyed().trim_matches(['[', ']']).replace("name=", "")));
        }
        pick
    });
    // Elements that both added are named in dest's order, so swapped sides name them in another order.
    let mut moved: Vec<char> = moved.chars().collect();
    moved.sort_unstable();
    (kind.letters(&written(dest, &tree.expect("a resource"))), moved.into_iter().collect())
}

fn both_ways(kind: Kind, case: &str) {
    let (sides, want) = case.split_once(" > ").expect("an arrow");
    let sides: Vec<&str> = sides.split(' ').map(|side| side.trim_matches('-')).collect();
    let [original, updated, dest] = sides[..] else { panic!("{case}") };
    let (found, moved) = three_way(kind, [original, updated, dest], Pick::Updated, NewElements::Append);
    assert_eq!((found.as_str(), moved.as_str()), (want, ""), "{kind:?} {case}");
    let (_, moved) = three_way(kind, [original, dest, updated], Pick::Updated, NewElements::Append);
    assert_eq!(moved, "", "{kind:?} {case} with the sides swapped");
}

#[test]
fn a_new_child_stands_beside_its_neighbours() {
    for case in [
        // original updated dest > merged
        "ab xab abd > xabd",
        "ab axb abd > axbd",
        "ab abx abd > abdx",
        "ab axyb adb > adxyb",
        "ab axb dab > daxb",
        "ab xab dab > dxab",
        "abc axbc bc > xbc",
        "abc abxc ac > axc",
        "abc abcx ad > adx",
        "ab xay abcd > xaycd",
        "a x d > dx",
        "-- x d > dx",
        "-- ax da > dax",
        "abc xc abdc > dxc",
    ] {
        both_ways(Kind::Keyed, case);
        both_ways(Kind::Fields, case);
    }
}

#[test]
fn an_order_that_one_side_changed_is_its_own() {
    for case in [
        "abc bac abc > bac",
        "abc bac abcd > bacd",
        "abc abc cab > cab",
        "abc abcx cab > cxab",
        "abc xabc cab > cxab",
        "abc cab abc > cab",
        "abc bac bac > bac",
        "abcd bacd abdc > badc",
        "abc cba adbc > cbad",
        "ab bna anb > bna",
        "ab bna anb > bna",
        "abcd dcba ab > ba",
    ] {
        both_ways(Kind::Keyed, case);
        both_ways(Kind::Fields, case);
    }
}

#[test]
fn an_order_that_both_changed_otherwise_is_one_conflict_of_the_list() {
    for (sides, taken, kept, was, moved) in [
        (["abc", "bac", "acb"], "bac", "acb", "abc", "bc"),
        (["abc", "cab", "bca"], "cab", "bca", "abc", "ac"),
        (["abcd", "bcda", "bacd"], "bcda", "bacd", "abcd", "ab"),
        (["abcde", "bacde", "bcade"], "bacde", "bcade", "abcde", "ab"),
        (["abc", "xbac", "acbd"], "xbdac", "acxbd", "axbdc", "bc"),
        (["abc", "bnac", "acnb"], "bnac", "acnb", "abcn", "bc"),
    ] {
        let [original, updated, dest] = sides;
        for (pick, want) in [(Pick::Updated, taken), (Pick::Dest, kept), (Pick::Original, was)] {
            let found = three_way(Kind::Keyed, sides, pick, NewElements::Append);
            assert_eq!((found.0.as_str(), found.1.as_str()), (want, moved), "{sides:?} {pick:?}");
        }
        let swapped = three_way(Kind::Keyed, [original, dest, updated], Pick::Updated, NewElements::Append);
        assert_eq!(swapped.1, moved, "{sides:?} with the sides swapped");
        // A map has no order that could be in conflict.
        let fields = three_way(Kind::Fields, sides, Pick::Updated, NewElements::Append);
        assert_eq!((fields.0.as_str(), fields.1.as_str()), (kept, ""), "{sides:?} as fields");
    }
}

#[test]
fn what_both_added_at_other_places_is_one_conflict_of_the_list() {
    for (sides, taken, kept, was, moved) in [
        (["ab", "anb", "abn"], "anb", "abn", "abn", "n"),
        (["a", "anm", "amn"], "anm", "amn", "amn", "mn"),
        (["", "nm", "mn"], "nm", "mn", "mn", "mn"),
        (["abc", "bacn", "nabc"], "bacn", "nabc", "nabc", "bn"),
    ] {
        for (pick, want) in [(Pick::Updated, taken), (Pick::Dest, kept), (Pick::Original, was)] {
            let found = three_way(Kind::Keyed, sides, pick, NewElements::Append);
            assert_eq!((found.0.as_str(), found.1.as_str()), (want, moved), "{sides:?} {pick:?}");
        }
        let [original, updated, dest] = sides;
        let swapped = three_way(Kind::Keyed, [original, dest, updated], Pick::Updated, NewElements::Append);
        assert_eq!(swapped, (kept.to_owned(), moved.to_owned()), "{sides:?} with the sides swapped");
    }
}

#[test]
fn a_new_element_without_neighbours_stands_where_new_elements_go() {
    for (sides, appended, prepended) in [
        (["a", "x", "d"], "dx", "xd"),
        (["", "x", "d"], "dx", "xd"),
        (["a", "ax", "ad"], "adx", "adx"),
        (["a", "xa", "da"], "dxa", "dxa"),
    ] {
        let merged = |new| three_way(Kind::Keyed, sides, Pick::Updated, new).0;
        assert_eq!(
            (merged(NewElements::Append).as_str(), merged(NewElements::Prepend).as_str()),
            (appended, prepended)
        );
    }
}

#[test]
fn elements_of_a_patch_stand_behind_dest_s_or_first() {
    for (dest, patch, appended, prepended) in [
        ("abc", "x", "abcx", "xabc"),
        ("abc", "bx", "abcx", "bxac"),
        ("abc", "xcya", "abcxy", "xcyab"),
        ("", "xy", "xy", "xy"),
    ] {
        for (new, want) in [(NewElements::Append, appended), (NewElements::Prepend, prepended)] {
            let [dest, patch] = [dest, patch].map(|letters| Kind::Keyed.document(letters));
            let types = Types::new([], Inference::On);
            let (tree, patch) = (Tree::Node(root(&dest)), root(&patch));
            let change =
                lower(patch, tree.view(), types.root("", "", Mode::ThreeWay), Missing::Made).expect("a change").change;
            let tree = merge(Some(tree), &change, new).expect("a tree").tree.expect("a resource");
            assert_eq!(Kind::Keyed.letters(&written(root(&dest), &tree)), want, "{}", patch.document().source());
        }
    }
}

/// All lists of some of these letters without repetition.
fn universe(letters: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut from = 0;
    while from < all.len() {
        let longer = letters.chars().filter(|c| !all[from].contains(*c)).map(|c| format!("{}{c}", all[from]));
        let longer: Vec<String> = longer.collect();
        all.extend(longer);
        from += 1;
    }
    all
}

#[test]
fn the_laws_of_order_hold_over_a_small_universe() {
    let all = universe("abc");
    assert_eq!(all.len(), 16);
    let merged = |sides| three_way(Kind::Keyed, sides, Pick::Updated, NewElements::Append);
    for original in &all {
        for updated in &all {
            assert_eq!(merged([original, updated, original]), (updated.clone(), String::new()));
            assert_eq!(merged([original, original, updated]), (updated.clone(), String::new()));
            assert_eq!(merged([original, updated, updated]), (updated.clone(), String::new()));
            for dest in &all {
                let (result, moved) = merged([original, updated, dest]);
                let case = format!("{original} {updated} {dest} > {result}");
                assert_eq!(merged([original, dest, updated]).1, moved, "{case}: the sides swapped");
                let precedes = |list: &str, a: char, b: char| list.find(a).zip(list.find(b)).map(|(a, b)| a < b);
                for (a, b) in [('a', 'b'), ('a', 'c'), ('b', 'c')] {
                    let [original, updated, dest, is] =
                        [original, updated, dest, &result].map(|list| precedes(list, a, b));
                    let (Some(updated), Some(dest), Some(is)) = (updated, dest, is) else { continue };
                    assert!(is == updated || is == dest, "{case}: {a} {b}");
                    // If only one side changed the order of two elements that all have, that side's order holds, if uncontested.
                    let changed = if original == Some(updated) { dest } else { updated };
                    assert!(original.is_none() || !moved.is_empty() || is == changed, "{case}: {a} {b}");
                }
            }
        }
    }
}

/// The letters that are left in their order, as for the resources of a file, and whether both sides moved the same ones.
fn in_a_file(original: &str, updated: &str, dest: &str) -> (String, bool) {
    let new = updated.chars().filter(|c| !dest.contains(*c) && !original.contains(*c));
    let all: Vec<char> = dest.chars().chain(new).collect();
    let places = |letters: &str| -> Vec<usize> {
        letters.chars().filter_map(|letter| all.iter().position(|own| *own == letter)).collect()
    };
    let sides = SideOrders::new(dest.len(), places(original), places(updated), |_| false, NewElements::Append);
    let [kept, taken, _] = sides.merged();
    let order = in_one(dest.len(), places(original), places(updated), NewElements::Append);
    let is_left = |letter: &char| updated.contains(*letter) || !original.contains(*letter);
    (order.into_iter().map(|at| all[at]).filter(is_left).collect(), kept != taken)
}

#[test]
fn the_laws_of_the_order_of_a_file_hold_over_a_small_universe() {
    let all = universe("abcd");
    let mut swapped_count = 0;
    for original in ["", "a", "b", "c", "ab", "ac", "bc", "abc"] {
        for (updated, dest) in all.iter().flat_map(|u| all.iter().map(move |d| (u, d))) {
            let (result, is_contested) = in_a_file(original, updated, dest);
            let case = format!("{original} {updated} {dest} > {result}");
            let of = |list: &str, of: &str| list.chars().filter(|c| of.contains(*c)).collect::<String>();
            let mut letters: Vec<char> = result.chars().collect();
            letters.sort_unstable();
            let was_kept = |c: &char| (updated.contains(*c) && dest.contains(*c)) || !original.contains(*c);
            let is_somewhere = |c: &char| updated.contains(*c) || dest.contains(*c);
            let want: Vec<char> = "abcd".chars().filter(is_somewhere).filter(was_kept).collect();
            assert_eq!(letters, want, "{case}: what a side deleted goes, and all else stays");
            if original == dest || updated == dest {
                assert_eq!(&result, updated, "{case}");
            }
            if original == updated {
                assert_eq!(&result, dest, "{case}");
            }
            let (swapped, is_contested_too) = in_a_file(original, dest, updated);
            assert_eq!(is_contested, is_contested_too, "{case}: the sides swapped");
            if !is_contested {
                assert_eq!(in_a_file(original, updated, &result).0, result, "{case}: a second run");
            }
            let (both, here) = (of(updated, dest), of(dest, updated));
            let precedes = |list: &str, a: char, b: char| list.find(a).zip(list.find(b)).map(|(a, b)| a < b);
            for (i, a) in result.chars().enumerate() {
                for b in result.chars().skip(i + 1) {
                    let sides = [updated, dest].map(|side| precedes(side, a, b));
                    let is_old = of(original, &both).contains(a) && of(original, &both).contains(b);
                    // If the sides contradict each other, an element of one side cannot be beside both of its neighbours.
                    if both == here || is_old {
                        assert!(sides.contains(&Some(true)) || sides == [None; 2], "{case}: {a} {b}");
                    }
                    // Elements that both sides added in different orders are in dest's order. Within one gap, elements that only dest has
                    // come first.
                    let is_agreed = both == here || both.chars().all(|c| original.contains(c));
                    if is_agreed && !is_contested && sides != [None; 2] {
                        assert_eq!(precedes(&swapped, a, b), Some(true), "{case}: {a} {b}: swapped {swapped}");
                        swapped_count += 1;
                    }
                }
            }
        }
    }
    assert!(swapped_count > 40_000, "{swapped_count}");
}
