use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::splice::edits;
use krm_tree::tree::{Pick, settle};
use krm_yaml::{Document, Kind};

use super::*;
use crate::diff::diff;
use crate::merge::merge;
use crate::policy::{NewElements, Renames};

/// The result of three versions of a document.
#[derive(Debug, PartialEq)]
struct Found {
    dest: String,
    updated: String,
    /// If additions of both sides stay, as each policy has it.
    both: String,
    conflicts: Vec<String>,
    combined: Vec<(String, Combined)>,
}

fn found(original: &str, updated: &str, dest: &str, conflict_level: ConflictLevel) -> Found {
    found_at(Cursor::unknown(Inference::On), [original, updated, dest], conflict_level)
}

/// The result of three versions of a document; `cursor` is at the root of its type.
fn found_at(cursor: Cursor<'_>, [original, updated, dest]: [&str; 3], conflict_level: ConflictLevel) -> Found {
    let docs = [original, updated, dest].map(|text| Document::parse(text).expect("valid"));
    let [o, u, d] = docs.each_ref().map(|doc| doc.roots().next().expect("a root"));
    let policy = Policy { conflict_level, ..Policy::default() };
    let budget = Budget::default();
    let change = diff(Some(o), u, Some(d), cursor, Renames::Follow).expect("a difference").change;
    let merged = match &change {
        Some(change) => merge(Some(Tree::Node(d)), change, NewElements::Append).expect("a merge"),
        None => Walked { tree: Some(Tree::Node(d)), warnings: Vec::new() },
    };
    let merged = refine(merged, cursor, policy, &budget);
    let tree = merged.tree.expect("a tree");
    let mut conflicts = Vec::new();
    let [dest_wins, updated_wins, both] = [Pick::Dest, Pick::Updated, Pick::Both].map(|pick| {
        conflicts.clear();
        let tree = settle(tree.clone(), &mut |conflict| {
            conflicts.push(conflict.path.keyed());
            pick
        });
        let edits = edits(d, &tree.expect("a root"), &budget).expect("a text");
        edits.apply(dest, 0..dest.len())
    });
    let combined = merged.warnings.iter().filter_map(|w| match w.notice {
        Notice::Combined(how) => Some((w.path.keyed(), how)),
        _ => None,
    });
    Found { dest: dest_wins, updated: updated_wins, both, combined: combined.collect(), conflicts }
}

/// The field `k` of three documents, merged: the result if dest wins and if updated wins, and the places in conflict.
fn lists(original: &str, updated: &str, dest: &str) -> (String, String, Vec<String>) {
    let map = |value: &str| format!("k: {value}\n");
    let found = found(&map(original), &map(updated), &map(dest), ConflictLevel::Line);
    let value = |text: &str| text.trim_end().strip_prefix("k: ").unwrap_or(text).to_owned();
    (value(&found.dest), value(&found.updated), found.conflicts)
}

#[test]
fn a_second_run_finds_what_the_first_one_made_of_an_element() {
    for (original, updated, dest, want) in [
        // Dest moved an element that updated changed.
        ("[{a: 1, b: 1}, {c: 1}]", "[{a: 1, b: 2}, {c: 1}]", "[{c: 1}, {a: 1, b: 1}]", "[{c: 1}, {a: 1, b: 2}]"),
        ("[[p, q], x]", "[[p, r], x]", "[x, [p, q], y]", "[x, [p, r], y]"),
        // Both sides changed half of an element, so that nothing of original's is left.
        (
            "[{a: 1, b: 1, c: 1, d: 1}]",
            "[{a: 2, b: 2, c: 1, d: 1}]",
            "[{a: 1, b: 1, c: 2, d: 2}]",
            "[{a: 2, b: 2, c: 2, d: 2}]",
        ),
        ("[[a, b, c, d]]", "[[A, B, c, d]]", "[[a, b, c, D, E]]", "[[A, B, c, D, E]]"),
        // One side added a copy of an element that the other side changed.
        (
            "[{a: 1, b: 1, c: 1, d: 1}, x]",
            "[{a: 1, b: 1, c: 2, d: 2}, x]",
            "[{a: 3, b: 3, c: 1, d: 1}, {a: 1, b: 1, c: 1, d: 1}, x]",
            "[{a: 3, b: 3, c: 1, d: 1}, {a: 1, b: 1, c: 2, d: 2}, x]",
        ),
        (
            "[{a: 1, b: 1, c: 1}, x]",
            "[{a: 2, b: 1, c: 1}, {a: 1, b: 1, c: 1}, x]",
            "[{a: 1, b: 1, c: 3}, x]",
            "[{a: 2, b: 1, c: 1}, {a: 1, b: 1, c: 3}, x]",
        ),
        // What one side inserted is what the other side made of the element.
        (
            "[{a: 1, b: 1, c: 1}]",
            "[{a: 1, b: 1, c: 1}, {a: 2, b: 1, c: 1}]",
            "[{a: 1, b: 3, c: 1}, {a: 2, b: 1, c: 1}]",
            "[{a: 1, b: 3, c: 1}, {a: 2, b: 1, c: 1}]",
        ),
        // The same, where the other side also changed another element.
        (
            "[{a: 1, b: 1, c: 1}, x, {e: 1, f: 1}]",
            "[{a: 1, b: 1, c: 2}, x, {e: 1, f: 1}]",
            "[{a: 3, b: 1, c: 1}, {a: 1, b: 1, c: 1}, x, {e: 2, f: 1}]",
            "[{a: 3, b: 1, c: 1}, {a: 1, b: 1, c: 2}, x, {e: 2, f: 1}]",
        ),
        // Both sides did the same, and dest moved it, too.
        ("[{a: 1, b: 1}, {c: 1}]", "[{a: 1, b: 2}, {c: 1}]", "[{c: 1}, {a: 1, b: 2}, d]", "[{c: 1}, {a: 1, b: 2}, d]"),
    ] {
        let (kept, taken, conflicts) = lists(original, updated, dest);
        assert_eq!((kept.as_str(), taken.as_str(), conflicts.len()), (want, want, 0), "{original} {updated} {dest}");
        let again = lists(original, updated, want);
        assert_eq!(again, (want.to_owned(), want.to_owned(), Vec::new()), "again: {original} {updated} {dest}");
        let (_, _, swapped) = lists(original, dest, updated);
        assert_eq!(swapped, [""; 0], "swapped: {original} {updated} {dest}");
    }
}

#[test]
fn lists_without_keys_are_merged_element_by_element() {
    for (original, updated, dest, want) in [
        ("[a, b, c]", "[a, b, c, x]", "[y, a, b, c]", "[y, a, b, c, x]"),
        ("[a, b, c]", "[X, b, c]", "[a, b, Y]", "[X, b, Y]"),
        ("[a, b, c]", "[b, c]", "[a, b, Y]", "[b, Y]"),
        ("[a, b, c, d, e]", "[a, b, X, d, e]", "[a, c, d, Y]", ""),
        ("[a, b, c, d, e]", "[a, b, c, X, e]", "[b, c, d, e]", "[b, c, X, e]"),
        ("[a, b]", "[a, x, b]", "[a, x, b, y]", "[a, x, b, y]"),
        // Maps are merged inside, even beside elements of other kinds.
        ("[{a: 1, b: 1}]", "[{a: 1, b: 2}]", "[{a: 1, b: 1, c: 1}]", "[{a: 1, b: 2, c: 1}]"),
        (
            "[{v: 1, w: 1}, {v: 2, w: 2}]",
            "[{v: 1, w: 1}, {v: 2, w: 0}]",
            "[{v: 1, w: 9}, {v: 2, w: 2}]",
            "[{v: 1, w: 9}, {v: 2, w: 0}]",
        ),
        ("[{v: 1, w: 1}]", "[{v: 1, w: 2}]", "[{v: 9, w: 9}, {v: 1, w: 1}]", "[{v: 9, w: 9}, {v: 1, w: 2}]"),
        ("[{v: [x, y, z]}, p]", "[{v: [x, y, z, u]}, p]", "[{v: [d, x, y, z]}, p]", "[{v: [d, x, y, z, u]}, p]"),
        ("[[a, b, c]]", "[[a, b, c, x]]", "[[y, a, b, c]]", "[[y, a, b, c, x]]"),
        ("[\"a\\nb\\nc\\n\"]", "[\"a\\nb\\nX\\n\"]", "[\"Y\\nb\\nc\\n\"]", "[\"Y\\nb\\nX\\n\"]"),
    ]
    .into_iter()
    .filter(|case| !case.3.is_empty())
    {
        assert_eq!(lists(original, updated, dest), (want.into(), want.into(), Vec::new()), "{original}");
        let (swapped, _, conflicts) = lists(original, dest, updated);
        let values = [swapped.as_str(), want].map(|text| Document::parse(text.to_owned()).expect("valid"));
        let [a, b] = values.each_ref().map(|doc| doc.roots().next().expect("a root"));
        assert!(krm_yaml::same(a, b) && conflicts.is_empty(), "swapped: {swapped}");
    }
}

#[test]
fn what_overlaps_or_touches_is_a_conflict() {
    for (original, updated, dest, if_dest, if_updated, places) in [
        ("[a, b, c]", "[a, X, c]", "[a, Y, c]", "[a, Y, c]", "[a, X, c]", ["k[1]"].as_slice()),
        ("[a, b, c, d]", "[a, X, c, e]", "[z, b, c, d]", "[z, b, c, e]", "[a, X, c, e]", &["k"]),
        ("[a]", "[a, X]", "[a, Y]", "[a, Y]", "[a, X]", &["k"]),
        ("[a, b]", "[b]", "[X, b]", "[X, b]", "[b]", &["k[0]"]),
        ("[a, b]", "[X, b]", "[b]", "[b]", "[X, b]", &["k[0]"]),
        ("[a, b, c]", "[a, X, c, x]", "[a, Y1, Y2, c]", "[a, Y1, Y2, c, x]", "[a, X, c, x]", &["k"]),
        ("[{v: 1, w: 1}]", "[{v: 1, w: 2}]", "[{v: 1, w: 3}]", "[{v: 1, w: 3}]", "[{v: 1, w: 2}]", &["k[0].w"]),
        ("[{v: 1}, b, c]", "[{v: 2}, b, X]", "[{v: 3}, b, c]", "[{v: 3}, b, X]", "[{v: 2}, b, X]", &["k[0]"]),
        // The changes cannot be combined: the conflict stays that of the whole.
        ("[a, b]", "[X, Y, Z]", "[U, V]", "[U, V]", "[X, Y, Z]", &["k"]),
        // Dest replaced the element by one that upstream adds beside it, or by nearly that one.
        (
            "[{g: 1, r: p, v: [get]}]",
            "[{g: 2, r: p, v: [get]}, {g: 3, r: p, v: [get]}]",
            "[{g: 3, r: p, v: [get]}]",
            "[{g: 3, r: p, v: [get]}]",
            "[{g: 2, r: p, v: [get]}, {g: 3, r: p, v: [get]}]",
            &["k"],
        ),
        (
            "[{g: 1, r: p, v: [get]}]",
            "[{g: 1, r: p, v: [get]}, {g: 2, r: p, v: [get]}]",
            "[{g: 2, r: p, v: [get, list]}]",
            "[{g: 2, r: p, v: [get, list]}]",
            "[{g: 1, r: p, v: [get]}, {g: 2, r: p, v: [get]}]",
            &["k"],
        ),
        // Upstream made of the element what dest added beside it. Two equal elements never both stay.
        (
            "[{a: 1, b: 1, c: 1}]",
            "[{a: 2, b: 1, c: 1}]",
            "[{a: 1, b: 1, c: 1}, {a: 9, b: 8, c: 7}, {a: 2, b: 1, c: 1}]",
            "[{a: 1, b: 1, c: 1}, {a: 9, b: 8, c: 7}, {a: 2, b: 1, c: 1}]",
            "[{a: 2, b: 1, c: 1}]",
            &["k"],
        ),
        // After a first run, the copy that dest added would be as much like original's element as the one that upstream changed, and both
        // would be alike.
        (
            "[{a: 1, b: 1, c: 1}, x]",
            "[{a: 2, b: 1, c: 1}, x]",
            "[{a: 3, b: 1, c: 1}, {a: 1, b: 1, c: 1}, x]",
            "[{a: 3, b: 1, c: 1}, {a: 1, b: 1, c: 1}, x]",
            "[{a: 2, b: 1, c: 1}, x]",
            &["k"],
        ),
        // Nobody changed the first element. Dest removed the last one, which upstream changed, and only by place is another one there.
        (
            "[{t: 1, c: 1, v: 1}, {t: 1, c: 2, v: 2}, {t: 1, c: 2, v: 3}]",
            "[{t: 1, c: 1, v: 1}, {t: 1, c: 2, v: 2}, {t: 2, c: 2, v: 3}]",
            "[{t: 1, c: 2, v: 2}, {t: 1, c: 1, v: 1}]",
            "[{t: 1, c: 2, v: 2}, {t: 1, c: 1, v: 1}]",
            "[{t: 1, c: 1, v: 1}, {t: 1, c: 2, v: 2}, {t: 2, c: 2, v: 3}]",
            &["k"],
        ),
    ] {
        let found = lists(original, updated, dest);
        let want = (if_dest.to_owned(), if_updated.to_owned(), places.iter().map(|p| (*p).to_owned()).collect());
        assert_eq!(found, want, "{original}");
        let swapped = lists(original, dest, updated).2;
        assert_eq!(swapped, found.2, "swapped");
    }
}

/// The list at `k` in which the additions of both sides stay, and how many conflicts it has.
fn both(original: &str, updated: &str, dest: &str) -> (String, usize) {
    let [o, u, d] = [original, updated, dest].map(|list| format!("k: {list}\n"));
    let found = found(&o, &u, &d, ConflictLevel::Line);
    (found.both.trim_end().trim_start_matches("k: ").to_owned(), found.conflicts.len())
}

#[test]
fn additions_of_both_sides_stay_in_a_list_without_keys() {
    for (original, updated, dest, want, swapped, conflicts) in [
        ("[a]", "[a, x]", "[a, y]", "[a, y, x]", "[a, x, y]", 1),
        ("[a]", "[x, a]", "[y, a]", "[y, x, a]", "[x, y, a]", 1),
        ("[a]", "[a, x, v]", "[a, y, w]", "[a, y, w, x, v]", "[a, x, v, y, w]", 1),
        (
            "[{a: 1, b: 1}]",
            "[{a: 1, b: 1}, {c: 1}]",
            "[{a: 1, b: 1}, {d: 1}]",
            "[{a: 1, b: 1}, {d: 1}, {c: 1}]",
            "[{a: 1, b: 1}, {c: 1}, {d: 1}]",
            1,
        ),
        // What both added is there once.
        ("[a]", "[a, x, y]", "[a, y, z]", "[a, x, y, z]", "[a, x, y, z]", 0),
        ("[a]", "[a, x]", "[a, y, x, z]", "[a, y, x, z]", "[a, y, x, z]", 0),
        ("[a]", "[a, x, y]", "[a, y, x]", "[a, y, x]", "[a, x, y]", 1),
        ("[a]", "[a, x, y]", "[a, z, y]", "[a, z, x, y]", "[a, x, z, y]", 1),
        // A word of a command may mean something only behind the one before it.
        ("[a]", "[a, --x, 1]", "[a, --y, 1]", "[a, --y, 1, --x, 1]", "[a, --x, 1, --y, 1]", 1),
        ("[--s, 1]", "[--s, 1, --s, 2]", "[--s, 1, --s, 3]", "[--s, 1, --s, 3, --s, 2]", "[--s, 1, --s, 2, --s, 3]", 1),
        ("[a]", "[a, --x, 1]", "[a, --y, --x, 1]", "[a, --y, --x, 1]", "[a, --y, --x, 1]", 0),
        // An addition stays behind elements that the other side replaced.
        ("[a, b]", "[a, B]", "[a, b, y]", "[a, B, y]", "[a, b, y]", 1),
        ("[a, b]", "[a, B, C]", "[a, b, y]", "[a, B, C, y]", "[a, b, y]", 1),
        // A conflict beside it keeps its own place.
        (
            "[{v: 1, w: 1}, b]",
            "[{v: 1, w: 2}, b, x]",
            "[{v: 1, w: 3}, b, y]",
            "[{v: 1, w: 2}, b, y, x]",
            "[{v: 1, w: 3}, b, x, y]",
            2,
        ),
        // A side moved an element: no addition.
        ("[a, b, c]", "[a, b, c, x]", "[b, c, a]", "[a, b, c, x]", "[b, c, a]", 1),
    ] {
        assert_eq!(both(original, updated, dest), (want.into(), conflicts), "{original} {updated} {dest}");
        assert_eq!(both(original, dest, updated), (swapped.into(), conflicts), "swapped: {original} {updated} {dest}");
        assert_eq!(both(original, updated, want).0, want, "again: {original} {updated} {dest}");
    }
}

#[test]
fn scalars_without_names_are_merged_as_git_merges_lines() {
    for (original, updated, dest, want, conflicts) in [
        ("[s, a, b, e]", "[s, a, b, b, e]", "[s, x, a, b, e]", "[s, x, a, b, b, e]", 0),
        ("[a, b, a, a, a]", "[a, a, a, a]", "[c, a, b, a, a, a]", "[c, a, a, a, a]", 0),
        // TODO: There is no conflict for git. But a second run, with the sides as they are or swapped, would add one more, as git does.
        ("[s, a, e]", "[s, x, a, e]", "[s, a, a, e]", "[s, x, a, e]", 1),
        ("[s, r, e]", "[s, r, r, e]", "[s, p, r, e]", "[s, r, r, e]", 1),
        ("[a, a]", "[a, a, a]", "[a, X, a]", "[a, a, a]", 1),
    ] {
        assert_eq!(both(original, updated, dest), (want.into(), conflicts), "{original} {updated} {dest}");
        assert_eq!(both(original, dest, updated).1, conflicts, "swapped: {original} {updated} {dest}");
        assert_eq!(both(original, updated, want).0, want, "again: {original} {updated} {dest}");
    }
}

#[test]
fn additions_stay_in_a_list_that_original_lacks_as_in_an_empty_one() {
    for (updated, dest, want) in [
        ("[x]", "[y]", "[y, x]"),
        ("[{a: 1}]", "[{b: 1}, {c: 1}]", "[{b: 1}, {c: 1}, {a: 1}]"),
        // What both added is there once, wherever they put it.
        ("[b, x]", "[a, x, q]", "[a, b, x, q]"),
        ("[x]", "[y, x]", "[y, x]"),
        ("[x, y]", "[y, x]", "[y, x]"),
    ] {
        let with = |list: &str| format!("z: 1\nk: {list}\n");
        let merged = |dest: &str| found("z: 1\n", &with(updated), &with(dest), ConflictLevel::Line);
        let of_empty = found(&with("[]"), &with(updated), &with(dest), ConflictLevel::Line);
        let Found { both, conflicts, .. } = merged(dest);
        assert_eq!((&both, &conflicts), (&with(want), &of_empty.conflicts), "{updated} {dest}");
        assert_eq!(both, of_empty.both, "{updated} {dest}");
        assert_eq!(merged(want).both, with(want), "again: {updated} {dest}");
    }
    // A map is no list, and is one conflict.
    let found = found("z: 1\n", "z: 1\nk: [x]\n", "z: 1\nk: {y: 1}\n", ConflictLevel::Line);
    assert_eq!((found.dest.as_str(), found.conflicts), ("z: 1\nk: {y: 1}\n", vec!["k".to_owned()]));
}

#[test]
fn every_addition_of_random_lists_is_there_once() {
    let mut random = Random(11);
    for case in 0..tries(1500) {
        let count = random.below(5);
        let original: Vec<String> = (0..count).map(|n| random.one(&format!("o{n}"))).collect();
        let mut side = |name: &str| {
            let mut list = original.clone();
            for n in 0..random.below(4) {
                let element = random.one(&format!("{name}{n}"));
                list.insert(random.below(list.len() + 1), element);
            }
            // Both sides may add the same.
            (random.below(3) == 0).then(|| list.push("{b: 1, z: 2}".to_owned()));
            list
        };
        let [updated, dest] = [side("u"), side("d")];
        let [o, u, d] = [&original, &updated, &dest].map(|list| format!("[{}]", list.join(", ")));
        let (merged, conflicts) = both(&o, &u, &d);
        if [&d, &merged].into_iter().any(|list| *list == "[]") {
            continue;
        }
        for element in updated.iter().chain(&dest) {
            let times = merged.matches(element.as_str()).count();
            assert_eq!(times, 1, "{case}: {element} in {merged}: {o} {u} {d}");
        }
        assert_eq!(both(&o, &u, &merged).0, merged, "again: {o} {u} {d}");
        assert_eq!(both(&o, &d, &u).1, conflicts, "swapped: {o} {u} {d}");
    }
}

const SCRIPT: &str = "a.sh: |\n  one\n  two\n\n  three\n";

#[test]
fn a_text_stays_written_as_dest_has_it() {
    let with = |lines: &[(&str, &str)]| lines.iter().fold(SCRIPT.to_owned(), |text, (from, to)| text.replace(from, to));
    let updated = with(&[("three", "3")]);
    for (dest, want) in [
        (with(&[("one", "1")]), with(&[("one", "1"), ("three", "3")])),
        ("a.sh: |2\n   1\n  two\n\n  three\n".to_owned(), "a.sh: |2\n   1\n  two\n\n  3\n".to_owned()),
        (
            "a.sh: |    # ours\n    1\n    two\n\n    three\n".to_owned(),
            "a.sh: | # ours\n    1\n    two\n\n    3\n".to_owned(),
        ),
        ("a.sh: \"1\\ntwo\\n\\nthree\\n\"\n".to_owned(), "a.sh: \"1\\ntwo\\n\\n3\\n\"\n".to_owned()),
        (
            "b: 1\na.sh: |\n  1\n  two\n\n  three\n\nc: 1\n".to_owned(),
            "b: 1\na.sh: |\n  1\n  two\n\n  3\n\nc: 1\n".to_owned(),
        ),
        ("{\"a.sh\": \"1\\ntwo\\n\\nthree\\n\"}\n".to_owned(), "{\"a.sh\": \"1\\ntwo\\n\\n3\\n\"}\n".to_owned()),
    ] {
        let found = found(SCRIPT, &updated, &dest, ConflictLevel::Line);
        assert_eq!((&found.dest, &found.updated), (&want, &want), "{dest}");
        assert_eq!(found.combined, [("[\"a.sh\"]".to_owned(), Combined::Lines)]);
    }
}

#[test]
fn every_text_can_be_written_in_lines_or_in_quotes() {
    let alphabet = ["a", " a", "a ", "", " ", "\ta", "#", "- a", "é"];
    let text = |n: usize| -> String {
        let picks =
            std::iter::successors(Some(n), |n| Some(n / alphabet.len())).take(3).map(|n| alphabet[n % alphabet.len()]);
        picks.collect::<Vec<_>>().join("\n")
    };
    for n in 0..alphabet.len().pow(3) {
        for end in ["", "\n"] {
            let dest = "k:\n  a.sh: |\n    x\n    y\n    end\n  b: 1\n";
            let wanted = format!("{}{end}", text(n));
            let doc = Document::parse(dest).expect("valid");
            let root = doc.roots().next().expect("a root");
            let old = root.at(&["k", "a.sh"]).expect("a text");
            let made = Tree::from(Made { value: Cow::Owned(wanted.clone()), quotes: Quotes::As(old) });
            let by = krm_tree::child::By::Field;
            let map =
                Tree::Node(root.get("k").expect("a map")).edited(&by, |branch| branch.entries[0].value = Some(made));
            let tree = Tree::Node(root).edited(&by, |branch| branch.entries[0].value = Some(map));
            let out = edits(root, &tree, &Budget::default()).expect("a text").apply(dest, 0..dest.len());
            let read = Document::parse(out.as_str()).unwrap_or_else(|e| panic!("{e}: {out}"));
            let root = read.roots().next().expect("a root");
            assert_eq!(root.at(&["k", "a.sh"]).map(NodeRef::string), Some(&*wanted), "{out}");
            assert_eq!(root.at(&["k", "b"]).map(NodeRef::string), Some("1"), "{out}");
        }
    }
}

#[test]
fn a_text_that_is_a_document_is_merged_as_one() {
    let text = |name: &str, lines: &[&str]| -> String {
        format!("{name}: |\n{}", lines.iter().map(|line| format!("  {line}\n")).collect::<String>())
    };
    // By line, the two changes touch.
    let sides = |name: &str| {
        let versions =
            [["a: 1", "b: 1", "c: [x, y]"], ["a: 2", "b: 1", "c: [x, y, u]"], ["a: 1", "b: 2", "c: [d, x, y]"]];
        versions.map(|lines| text(name, &lines))
    };
    let [o, u, d] = sides("v.yaml");
    let found_in_yaml = found(&o, &u, &d, ConflictLevel::Line);
    assert_eq!(found_in_yaml.dest, text("v.yaml", &["a: 2", "b: 2", "c: [d, x, y, u]"]));
    assert_eq!(
        (found_in_yaml.conflicts.len(), found_in_yaml.combined),
        (0, vec![("[\"v.yaml\"]".to_owned(), Combined::Document)])
    );
    // A text that is not a document has only its lines.
    let [o, u, d] = sides("v.txt");
    assert_eq!(found(&o, &u, &d, ConflictLevel::Line).conflicts, ["[\"v.txt\"]"]);
    for (original, updated, dest, want) in [
        (r#"{"a":1,"b":1}"#, r#"{"a":2,"b":1}"#, r#"{"a":1,"b":2}"#, Some(r#"{"a":2,"b":2}"#)),
        (r#"{"a":1,"b":1}"#, r#"{"a":2,"b":1}"#, r#"{"a":3,"b":2}"#, None),
        ("{a: 1, b: 1}", "{a: 2, b: 1}", "{a: 1, b: ", None),
        ("a", "b", "c", None),
    ] {
        let [original, updated, dest] = [original, updated, dest].map(|json| format!("x.json: '{json}'\n"));
        let found = found(&original, &updated, &dest, ConflictLevel::Line);
        assert_eq!(found.conflicts.is_empty(), want.is_some(), "{dest}");
        if let Some(want) = want {
            assert_eq!(found.dest, format!("x.json: '{want}'\n"));
        }
    }
}

#[test]
fn the_line_breaks_at_the_end_of_a_document_in_a_text_are_merged() {
    let text = |text: &str| format!("v.yaml: {text:?}\n");
    for (original, updated, dest, want) in [
        ("a: 1\nb: 2\n", "a: 1\n", "a: 1\nb: 2", "a: 1"),
        ("a: 1\nb: 2\n", "a: 1\nb: 2", "a: 1\nb: 2\nc: 3\n", "a: 1\nb: 2\nc: 3"),
        ("a: 1\nb: 2\n", "a: 1\n", "a: 1\nb: 2\n\n", "a: 1\n\n"),
        ("a: 1\nb: 2\n", "a: 1\nb: 2\n\n", "a: 1\n", "a: 1\n\n"),
        ("a: 1\nb: 2\n", "a: 1\nb: 3\n", "c: 1\na: 1\nb: 2\n", "c: 1\na: 1\nb: 3\n"),
        // Here the line breaks are a part of a value.
        ("a: 1\nb: |+\n  x\n\n", "a: 2\nb: |+\n  x\n\n", "c: 1\na: 1\nb: |+\n  x\n", "c: 1\na: 2\nb: |+\n  x\n"),
    ] {
        let [original, updated, dest, want] = [original, updated, dest, want].map(text);
        let found = found(&original, &updated, &dest, ConflictLevel::Line);
        assert_eq!((found.dest, found.updated, found.conflicts.len()), (want.clone(), want, 0), "{updated} {dest}");
    }
    let [original, updated, dest] = ["a: 1\nb: 2\n", "a: 1\n\n", "a: 1\nb: 2"].map(text);
    let found = found(&original, &updated, &dest, ConflictLevel::Line);
    assert_eq!((found.dest, found.updated), (text("a: 1"), text("a: 1\n\n")));
    assert_eq!(found.conflicts, ["[\"v.yaml\"]"]);
}

#[test]
fn a_conflict_leaves_something_to_choose() {
    // The changes touch, and in whichever order they are made, they come to the same list. Nobody could see that conflict.
    for (original, updated, dest) in
        [("[1, 1, 7, 7, 7]", "[7, 1, 1, 1, 7, 7]", "[1, 7, 7]"), ("[7, 7, 4, 4]", "[7, 4, 4]", "[4, 7, 7, 4]")]
    {
        let text = |list: &str| format!("k: {list}\n");
        let found = found(&text(original), &text(updated), &text(dest), ConflictLevel::Line);
        assert_eq!((found.dest, found.updated), (text(dest), text(updated)), "{original}");
        assert_eq!(found.conflicts, ["k"]);
    }
}

#[test]
fn beside_a_conflict_no_element_stands_at_its_old_and_its_new_place() {
    let found = found("k: [a, b, c]\n", "k: [a, b]\n", "k: [b, a, c]\n", ConflictLevel::Line);
    assert_eq!((&*found.dest, &*found.updated), ("k: [b, a, c]\n", "k: [a, b]\n"));
    assert_eq!(found.conflicts, ["k"]);
}

#[test]
fn a_document_in_conflict_is_so_only_where_the_changes_overlap() {
    let sides =
        ["{a: 1, b: 1, c: 1}", "{a: 2, b: 2, c: 1}", "{a: 1, b: 3, c: 3}"].map(|text| format!("x.yaml: '{text}'\n"));
    let found = found(&sides[0], &sides[1], &sides[2], ConflictLevel::Line);
    assert_eq!(found.dest, "x.yaml: '{a: 2, b: 3, c: 3}'\n");
    assert_eq!(found.updated, "x.yaml: '{a: 2, b: 2, c: 3}'\n");
    assert_eq!(found.conflicts, ["[\"x.yaml\"]"]);
}

#[test]
fn additions_of_both_sides_to_a_document_in_a_text_are_each_sides_own() {
    let text = |list: &str| format!("v.yaml: |\n  a: [{list}]\n  b: 1\n");
    let [original, updated, dest] = ["x", "x, up", "x, own"].map(text);
    let of = found(&original, &updated, &dest, ConflictLevel::Line);
    assert_eq!((of.dest, of.updated, of.both), (dest.clone(), updated.clone(), text("x, own, up")));
    assert_eq!(of.conflicts, ["[\"v.yaml\"]"]);
    // TODO: Beside another conflict, a person who decides must see the additions, too.
    let updated = updated.replace("b: 1", "b: 2");
    let dest = dest.replace("b: 1", "b: 3");
    let of = found(&original, &updated, &dest, ConflictLevel::Line);
    let want = text("x, own, up");
    assert_eq!((of.dest, of.updated), (want.replace("b: 1", "b: 3"), want.replace("b: 1", "b: 2")));
}

/// git puts an element twice into a list if both sides added it, at two places.
#[test]
fn an_element_that_both_sides_added_to_a_document_in_a_text_is_there_once() {
    let text = |lines: &str| format!("v.yaml: |\n  {}\n", lines.replace('\n', "\n  "));
    let json = |lines: &str| format!("v.json: |\n  {}\n", lines.replace('\n', "\n  "));
    for (sides, element, times, conflicts) in [
        (
            ["- name: a\n- name: b", "- name: a\n- name: e\n- name: b", "- name: a\n- name: b\n- name: e"].map(text),
            "name: e",
            1,
            1,
        ),
        (
            [
                "l:\n- {name: a}\n- {name: b}",
                "l:\n- {name: a}\n- {name: e, v: 1}\n- {name: b}",
                "l:\n- {name: a}\n- {name: b}\n- {name: e, v: 2}",
            ]
            .map(text),
            "name: e",
            1,
            1,
        ),
        (
            [
                "[\n  {\"name\": \"a\"},\n  {\"name\": \"b\"}\n]",
                "[\n  {\"name\": \"e\"},\n  {\"name\": \"a\"},\n  {\"name\": \"b\"}\n]",
                "[\n  {\"name\": \"a\"},\n  {\"name\": \"e\"},\n  {\"name\": \"b\"}\n]",
            ]
            .map(json),
            "\"e\"",
            1,
            1,
        ),
        // Without a key, what is equal is one, and stays where dest has it.
        (
            [
                "- a: {b: 1}\n- a: {b: 2}",
                "- a: {b: 1}\n- a: {b: 3}\n- a: {b: 2}",
                "- a: {b: 1}\n- a: {b: 2}\n- a: {b: 3}",
            ]
            .map(text),
            "b: 3",
            1,
            0,
        ),
        // Each side has it in another list, or has two of its name.
        (
            [
                "a:\n- name: a\nb:\n- name: b",
                "a:\n- name: a\n- name: e\nb:\n- name: b",
                "a:\n- name: a\nb:\n- name: b\n- name: e",
            ]
            .map(text),
            "name: e",
            2,
            0,
        ),
        (
            [
                "- name: e\n- name: e\n- name: b",
                "- name: e\n- name: e\n- name: e\n- name: b",
                "- name: e\n- name: e\n- name: b\n- name: e",
            ]
            .map(text),
            "name: e",
            4,
            0,
        ),
        // A plain list is no set.
        (["- a\n- b", "- a\n- e\n- b", "- a\n- b\n- e"].map(text), "- e", 2, 0),
    ] {
        let [original, updated, dest] = sides.each_ref().map(String::as_str);
        for [updated, dest] in [[updated, dest], [dest, updated]] {
            let found = found(original, updated, dest, ConflictLevel::Line);
            let times_in = [&found.dest, &found.updated].map(|result| result.matches(element).count());
            assert_eq!((times_in, found.conflicts.len()), ([times; 2], conflicts), "{updated}{dest}{found:?}");
        }
    }
}

#[test]
fn the_lines_of_a_document_in_a_text_count_where_they_mean_the_same() {
    let text = |lines: &str| format!("v.yaml: |\n  {}\n", lines.replace('\n', "\n  "));
    for (original, updated, dest, want) in [
        ("a: 1", "a: 2\n# up", "a: 1\nb: 1", "a: 2\nb: 1\n# up"),
        ("- a\n- b\n# old", "- c\n- b\n# up", "- a\n- b\n- d\n# old", "- c\n- b\n- d\n# up"),
        // An alias that upstream adds stands for what dest made of its anchor.
        ("a: &x 1\nb: 2", "a: &x 1\nb: 2\nc: *x", "a: &x 5\nb: 2", "a: &x 5\nb: 2\nc: *x"),
        (
            "a: &x {y: 1}\nb: 2",
            "a: &x {y: 1}\nb: 2\nc:\n  <<: *x",
            "a: &x {y: 5}\nb: 2",
            "a: &x {y: 5}\nb: 2\nc:\n  <<: *x",
        ),
        ("[\n  1\n]", "[\n  1,\n  2\n]\n# up", "[\n  0,\n  1\n]", "[\n  0,\n  1,\n  2\n]\n# up"),
    ] {
        let found = found(&text(original), &text(updated), &text(dest), ConflictLevel::Line);
        assert_eq!((found.dest, found.conflicts.len()), (text(want), 0));
    }
    let [original, updated, dest] = ["- a: 1", "- a: 2\n# up", "- a: 1\n# ours"].map(text);
    let found = found(&original, &updated, &dest, ConflictLevel::Line);
    assert_eq!(found.conflicts, ["[\"v.yaml\"]"]);
    assert_eq!((found.dest, found.updated), (text("- a: 2\n# ours"), text("- a: 2\n# up")));
}

#[test]
fn comments_and_layout_travel_with_the_elements() {
    let original = "k:\n# one\n- a\n- b\n- c\n";
    let updated = "k:\n# one\n- a\n- b\n# three\n- c # c\n# four\n- d # d\n";
    let dest = "k:\n  # ours\n  - x # x\n  # one\n  - a\n  - b\n  - c\n";
    let found = found(original, updated, dest, ConflictLevel::Line);
    assert_eq!(
        found.dest,
        "k:\n  # ours\n  - x # x\n  # one\n  - a\n  - b\n  # three\n  - c # c\n  # four\n  - d # d\n"
    );
    assert_eq!(found.combined, [("k".to_owned(), Combined::Elements)]);
}

#[test]
fn the_comments_at_the_end_of_a_list_are_merged_whether_elements_are_in_conflict() {
    let list = |elements: &[&str], end: &str| {
        let elements: String = elements.iter().map(|element| format!("  - {element}\n")).collect();
        format!("k:\n{elements}{end}l: 1\n")
    };
    let original = list(&["a", "b", "c"], "");
    let updated = list(&["a", "B", "c"], " # end\n");
    for (dest, want) in [
        (["x", "a", "b", "c"], ["x", "a", "B", "c"]),
        (["a", "b", "c", "x"], ["a", "B", "c", "x"]),
        // In conflict.
        (["a", "x", "c", "d"], ["a", "B", "c", "d"]),
    ] {
        let found = found(&original, &updated, &list(&dest, ""), ConflictLevel::Line);
        assert_eq!(found.updated, list(&want, "  # end\n"));
    }
    // All elements of dest go, and its own comment stays at the end.
    let own = "  # own\n";
    let found = found(&original, &list(&["a", "b", "c", "d"], ""), &list(&["x"], own), ConflictLevel::Line);
    assert_eq!(found.updated, list(&["a", "b", "c", "d"], own));
}

#[test]
fn a_comment_at_the_end_of_a_list_stays_one_in_a_column_where_it_cannot_stand() {
    let original = "k:\n- l:\n  - a\n";
    let updated = "k:\n  - l:\n      - a\n      # end\n";
    let dest = "k:\n- l:\n  - a\n- own\n";
    let want = "k:\n- l:\n  - a\n   # end\n- own\n";
    assert_eq!(found(original, updated, dest, ConflictLevel::Line).dest, want);
    assert_eq!(found(original, updated, want, ConflictLevel::Line).dest, want);
}

#[test]
fn the_level_of_values_leaves_every_conflict_whole() {
    let [o, u, d] = ["[a, b, c]", "[a, b, c, x]", "[y, a, b, c]"].map(|list| format!("k: {list}\n"));
    let found = found(&o, &u, &d, ConflictLevel::Value);
    assert_eq!((found.dest, found.updated), (d, "k: [a, b, c, x]\n".to_owned()));
    assert_eq!((found.conflicts, found.combined.len()), (vec!["k".to_owned()], 0));
}

#[test]
fn documents_in_documents_end_somewhere() {
    let nested = |leaf: &str| {
        let depth = 600;
        let open = (0..depth).map(|i| format!("{}a.yaml: |\n", " ".repeat(i))).collect::<String>();
        let leaf: String = leaf.split(' ').map(|line| format!("{}{line}\n", " ".repeat(depth))).collect();
        open + &leaf
    };
    let found = found(&nested("a b c"), &nested("X b c"), &nested("a b Y"), ConflictLevel::Line);
    assert!(found.dest == nested("X b Y") && found.conflicts.is_empty());
}

#[test]
fn lists_of_all_small_shapes_hold_the_laws() {
    let all: Vec<String> = (0..4_usize.pow(3))
        .map(|n| {
            let letters = [n % 4, n / 4 % 4, n / 16].map(|i| ["", "a", "b", "c"][i]);
            let letters: Vec<&str> = letters.into_iter().filter(|letter| !letter.is_empty()).collect();
            format!("[{}]", letters.join(", "))
        })
        .collect();
    let elements = |text: &str| -> Vec<String> {
        let doc = Document::parse(text.to_owned()).expect("valid");
        let root = doc.roots().next().expect("a root");
        let root = root.get("k").unwrap_or(root);
        assert_eq!(root.kind(), Kind::List, "{text}");
        root.elements().map(|e| e.string().to_owned()).collect()
    };
    let mut merged = 0;
    for original in ["[a, b, c]", "[a, b]", "[]", "[a, a, b]"] {
        for updated in &all {
            assert_eq!(elements(&lists(original, updated, original).0), elements(updated), "{original} {updated}");
            assert_eq!(elements(&lists(original, original, updated).0), elements(updated));
            for dest in &all {
                let (if_dest, if_updated, conflicts) = lists(original, updated, dest);
                let (if_theirs, if_ours, swapped) = lists(original, dest, updated);
                assert_eq!(conflicts.len(), swapped.len(), "{original} {updated} {dest}");
                assert_eq!(elements(&if_dest), elements(&if_ours), "{original} {updated} {dest}");
                assert_eq!(elements(&if_updated), elements(&if_theirs), "{original} {updated} {dest}");
                if conflicts.is_empty() {
                    // Elements that one side added stay, and so do elements that no side removed.
                    let [o, u, d, m] = [original, updated, dest, &if_dest].map(elements);
                    for letter in ["a", "b", "c"].map(str::to_owned) {
                        let count = |of: &[String]| of.iter().filter(|e| **e == letter).count();
                        let nobody_removed = count(&u).min(count(&d)) >= count(&o);
                        let is_wanted = count(&u).max(count(&d)) > 0 && nobody_removed;
                        assert!(!is_wanted || count(&m) > 0, "{original} {updated} {dest}: {if_dest}");
                    }
                    merged += 1;
                }
            }
        }
    }
    assert!(merged > 1900, "{merged}");
}

/// Lists of what a side makes of `a`, `b` and `c`, in each order that it may put them in.
fn sides(orders: &[[usize; 3]], forms: fn() -> Vec<&'static str>) -> Vec<String> {
    let [a, b, c] = &['a', 'b', 'c'].map(|name| {
        let element = |form: &str| form.replace('_', &name.to_string());
        forms().into_iter().map(element).collect::<Vec<String>>()
    });
    let mut all = Vec::new();
    for element in a.iter().flat_map(|a| b.iter().flat_map(move |b| c.iter().map(move |c| [a, b, c]))) {
        for order in orders {
            let list: Vec<&str> = order.iter().map(|i| element[*i].as_str()).filter(|e| !e.is_empty()).collect();
            all.push(format!("[{}]", list.join(", ")));
        }
    }
    all.sort();
    all.dedup();
    all
}

#[test]
fn a_second_run_changes_no_list_in_which_dest_moved_and_upstream_changed() {
    let moved = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let original = sides(&moved[..1], || vec!["{v: _, w: _, x: _, y: _}"]).concat();
    // Each side changes another half of an element; dest drops some, too.
    let updated = sides(&moved[..1], || vec!["{v: _, w: _, x: _, y: _}", "{v: _u, w: _u, x: _, y: _}"]);
    let dest = sides(&moved, || vec!["{v: _, w: _, x: _, y: _}", "{v: _, w: _, x: _d, y: _d}", ""]);
    let mut merged = 0;
    for new in ["", ", {n: 1}"] {
        for updated in updated.iter().map(|list| list.replace(']', &format!("{new}]"))) {
            // What comes into an empty list is written in lines.
            for dest in dest.iter().filter(|list| *list != "[]") {
                let (if_dest, if_updated, _) = lists(&original, &updated, dest);
                assert_eq!(lists(&original, &updated, &if_dest).0, if_dest, "dest wins: {updated} {dest}");
                assert_eq!(lists(&original, &updated, &if_updated).1, if_updated, "updated wins: {updated} {dest}");
                merged += 1;
            }
        }
    }
    assert!(merged > 1000, "{merged}");
}

/// The list at a field of a Kustomization, merged: the result if dest wins, and the places in conflict.
fn of_kustomization(field: &str, versions: [&str; 3]) -> (String, Vec<String>) {
    let types = Types::default();
    let cursor = types.root("kustomize.config.k8s.io/v1beta1", "Kustomization", Mode::ThreeWay);
    let texts = versions.map(|value| format!("{field}: {value}\n"));
    let found = found_at(cursor, texts.each_ref().map(String::as_str), ConflictLevel::Line);
    let value = found.dest.trim_end().strip_prefix(field).and_then(|text| text.strip_prefix(": "));
    (value.unwrap_or(&found.dest).to_owned(), found.conflicts)
}

#[test]
fn additive_lists_keep_the_additions_of_both_sides() {
    for (field, original, updated, dest, want) in [
        ("resources", "[a]", "[a, x]", "[a, y]", Some("[a, y, x]")),
        ("resources", "[a]", "[x, a]", "[y, a]", Some("[y, x, a]")),
        ("resources", "[]", "[x]", "[y]", Some("[y, x]")),
        ("resources", "[a]", "[a, x, z]", "[a, y, z]", Some("[a, y, x, z]")),
        ("resources", "[a]", "[a, x, z]", "[a, z, x, y]", Some("[a, z, x, y]")),
        // A new element takes the place of one that its side removed.
        ("resources", "[a, b]", "[a, x]", "[a, b, y]", Some("[a, x, y]")),
        ("resources", "[a, b]", "[a, b, x]", "[a, y]", Some("[a, y, x]")),
        ("resources", "[a, b, c]", "[a, x, c]", "[a, b, y, c]", Some("[a, x, y, c]")),
        ("resources", "[a, b, c]", "[a, x, c]", "[a, y, b, c]", Some("[a, y, x, c]")),
        ("resources", "[a, b]", "[x, b]", "[a, y]", Some("[x, y]")),
        ("resources", "[a, b]", "[a, y]", "[x, b]", Some("[x, y]")),
        ("resources", "[a, b]", "[x, b, z]", "[a, y]", Some("[x, z, y]")),
        ("resources", "[a]", "[x, z]", "[a, y]", Some("[x, z, y]")),
        // Unless dest moved that one.
        ("resources", "[a, b]", "[a, x]", "[b, a]", Some("[a, x]")),
        // An element that the other side added elsewhere is not added twice.
        ("resources", "[a, b]", "[x, a, b]", "[a, b, x]", Some("[a, b, x]")),
        ("resources", "[a, b]", "[a, b, x, z]", "[x, a, b, y]", Some("[x, a, b, y, z]")),
        ("resources", "[a, b, c]", "[c, a, b]", "[a, c, b]", Some("[a, c, b]")),
        // Each new element may be the new state of the element that both dropped.
        ("resources", "[a]", "[x]", "[y]", None),
        ("resources", "[a]", "[]", "[y]", Some("[y]")),
        ("resources", "['a?ref=1']", "[]", "['a?ref=2']", None),
        ("resources", "[a, b]", "[a]", "[a, b, y]", Some("[a, y]")),
        ("resources", "['b?ref=1']", "['b?ref=2']", "['b?ref=3']", None),
        ("resources", "[a]", "[a, 'b?ref=2']", "[a, 'b?ref=3']", None),
        ("resources", "[a]", "[a, 'b?ref=2']", "[a, 'c?ref=2']", Some("[a, 'c?ref=2', 'b?ref=2']")),
        ("bases", "[a]", "[a, x]", "[a, y]", Some("[a, y, x]")),
        (
            "patches",
            "[{path: a}]",
            "[{path: a}, {path: x}]",
            "[{path: a}, {path: y}]",
            Some("[{path: a}, {path: y}, {path: x}]"),
        ),
        ("patches", "[]", "[{patch: x, target: {kind: A}}]", "[{patch: y, target: {kind: A}}]", None),
        (
            "patches",
            "[]",
            "[{patch: x, target: {kind: A}}]",
            "[{patch: y, target: {kind: B}}]",
            Some("[{patch: y, target: {kind: B}}, {patch: x, target: {kind: A}}]"),
        ),
        ("unknown", "[a]", "[a, x]", "[a, y]", None),
    ] {
        let (merged, conflicts) = of_kustomization(field, [original, updated, dest]);
        assert_eq!(conflicts.is_empty().then_some(merged.as_str()), want, "{field} {original} {updated} {dest}");
        let (_, swapped) = of_kustomization(field, [original, dest, updated]);
        assert_eq!(swapped.is_empty(), conflicts.is_empty(), "swapped: {field} {original} {updated} {dest}");
    }
}

/// The rules of a group of a PrometheusRule, or the words of a container, merged: the result if dest wins and if updated wins, and the
/// places in conflict.
fn of_type(
    [before, indent]: [&str; 2],
    [api_version, kind]: [&str; 2],
    versions: [&str; 3],
) -> (String, String, Vec<String>) {
    let types = Types::default();
    let cursor = types.root(api_version, kind, Mode::ThreeWay);
    let texts = versions.map(|value| format!("{before}{indent}{value}\n"));
    let found = found_at(cursor, texts.each_ref().map(String::as_str), ConflictLevel::Line);
    let value = |text: &str| text.trim_end().rsplit_once(indent.trim_start()).map(|(_, text)| text.to_owned());
    (value(&found.dest).expect("a list"), value(&found.updated).expect("a list"), found.conflicts)
}

fn alerts(versions: [&str; 3]) -> (String, String, Vec<String>) {
    of_type(
        ["spec:\n  groups:\n  - name: g\n", "    rules: "],
        ["monitoring.coreos.com/v1", "PrometheusRule"],
        versions,
    )
}

fn containers(versions: [&str; 3]) -> (String, String, Vec<String>) {
    of_type(["spec:\n", "  containers: "], ["v1", "Pod"], versions)
}

fn words(versions: [&str; 3]) -> (String, String, Vec<String>) {
    of_type(["spec:\n  containers:\n  - name: c\n    image: i\n", "    args: "], ["v1", "Pod"], versions)
}

#[test]
fn elements_with_names_are_merged_by_them() {
    let [a, b] = ["{alert: A, expr: 1, for: 1m}", "{alert: B, expr: 1, for: 1m}"];
    let (list, one) = (format!("[{a}, {b}]"), format!("[{a}]"));
    for (original, updated, dest, if_dest, if_updated, conflicts) in [
        // One side gave it another name, and the other side changed it.
        (
            &*one,
            "[{alert: A, expr: 1, for: 2m}]",
            "[{alert: Y, expr: 1, for: 1m}]",
            "[{alert: Y, expr: 1, for: 2m}]",
            "",
            0,
        ),
        (
            &one,
            "[{alert: X, expr: 1, for: 1m}]",
            "[{alert: A, expr: 2, for: 1m}]",
            "[{alert: X, expr: 2, for: 1m}]",
            "",
            0,
        ),
        (
            "[{alert: A, expr: 1, for: 1m}, {alert: C, expr: 3}]",
            "[{alert: A, expr: 1, for: 1m}, {alert: C, expr: 4}, {alert: N, expr: 5}]",
            "[{alert: Y, expr: 1, for: 1m}, {alert: Z, expr: 3}]",
            "[{alert: Y, expr: 1, for: 1m}, {alert: Z, expr: 4}, {alert: N, expr: 5}]",
            "",
            0,
        ),
        // Both gave it another name.
        (
            &one,
            "[{alert: X, expr: 1, for: 1m}]",
            "[{alert: Y, expr: 1, for: 1m}]",
            "[{alert: Y, expr: 1, for: 1m}]",
            "[{alert: X, expr: 1, for: 1m}]",
            1,
        ),
        // Both added one.
        (
            &*one,
            "[{alert: A, expr: 1, for: 1m}, {alert: X, expr: 1}]",
            "[{alert: A, expr: 1, for: 1m}, {alert: Y, expr: 1}]",
            "[{alert: A, expr: 1, for: 1m}, {alert: Y, expr: 1}, {alert: X, expr: 1}]",
            "",
            0,
        ),
        // Both changed it: inside.
        (
            &one,
            "[{alert: A, expr: 2, for: 1m}]",
            "[{alert: A, expr: 1, for: 9m}]",
            "[{alert: A, expr: 2, for: 9m}]",
            "",
            0,
        ),
        // Nothing in common but the name.
        (
            "[{alert: A, expr: 1}]",
            "[{alert: A, expr: 2, x: 1}]",
            "[{alert: A, expr: 1, y: 1, z: 1}]",
            "[{alert: A, expr: 2, y: 1, z: 1, x: 1}]",
            "",
            0,
        ),
        // Updated removed one and added one in its place, and dest changed the one.
        (
            &list,
            "[{alert: A, expr: 1, for: 1m}, {alert: X, v: 1}]",
            "[{alert: A, expr: 1, for: 1m}, {alert: B, expr: 1, for: 9m}]",
            "[{alert: A, expr: 1, for: 1m}, {alert: B, expr: 1, for: 9m}, {alert: X, v: 1}]",
            "[{alert: A, expr: 1, for: 1m}, {alert: X, v: 1}]",
            1,
        ),
        // Dest removed one that updated changed, and updated added one beside it.
        (
            &list,
            "[{alert: A, expr: 1, for: 1m}, {alert: B, expr: 2, for: 1m}, {alert: X, v: 1}]",
            "[{alert: A, expr: 1, for: 1m}]",
            "[{alert: A, expr: 1, for: 1m}, {alert: X, v: 1}]",
            "[{alert: A, expr: 1, for: 1m}, {alert: B, expr: 2, for: 1m}, {alert: X, v: 1}]",
            1,
        ),
        // Updated moved one that dest changed.
        (
            &list,
            "[{alert: B, expr: 1, for: 1m}, {alert: A, expr: 1, for: 1m}]",
            "[{alert: A, expr: 1, for: 1m}, {alert: B, expr: 2, for: 1m}]",
            "[{alert: B, expr: 2, for: 1m}, {alert: A, expr: 1, for: 1m}]",
            "",
            0,
        ),
        // Both added one of this name.
        ("[]", "[{alert: X, expr: 1}]", "[{alert: X, expr: 2}]", "[{alert: X, expr: 2}]", "[{alert: X, expr: 1}]", 1),
        // The same, with fields of one side alone.
        (
            &one,
            "[{alert: A, expr: 1, for: 1m}, {alert: X, expr: 1, for: 2m}]",
            "[{alert: X, expr: 1, labels: {a: b}}, {alert: A, expr: 1, for: 1m}]",
            "[{alert: X, expr: 1, labels: {a: b}, for: 2m}, {alert: A, expr: 1, for: 1m}]",
            "",
            0,
        ),
    ] {
        let if_updated = if if_updated.is_empty() { if_dest } else { if_updated };
        let found = alerts([original, updated, dest]);
        assert_eq!(
            (&*found.0, &*found.1, found.2.len()),
            (if_dest, if_updated, conflicts),
            "{original} {updated} {dest}"
        );
        assert_eq!(alerts([original, updated, if_dest]).0, if_dest, "again");
        assert_eq!(alerts([original, updated, if_updated]).1, if_updated, "again");
        assert_eq!(alerts([original, dest, updated]).2.len(), conflicts, "swapped: {original} {updated} {dest}");
    }
}

#[test]
fn flags_are_told_apart_by_their_names() {
    for (original, updated, dest, want, conflicts) in [
        (
            "[s, --a=1, --b=1, --c=1]",
            "[s, --a=2, --b=1, --c=2, --u]",
            "[s, --a=1, --b=2, --c=1, --d=1]",
            "[s, --a=2, --b=2, --c=2, --d=1, --u]",
            0,
        ),
        ("[--a=1, --b=1]", "[--a=2, --b=1]", "[--a=3, --b=2]", "[--a=2, --b=2]", 1),
        ("[--a, x, --b, y]", "[--a, X, --b, y]", "[--a, x, --b, Y]", "[--a, X, --b, Y]", 0),
        ("[--a, x]", "[--a, x, --u, 1]", "[--a, x, --d, 1]", "[--a, x, --d, 1, --u, 1]", 0),
        // A flag may come with its value, and both go.
        ("[--a, x, --b, y]", "[--b, y]", "[--a, x, --b, Y]", "[--b, Y]", 0),
        ("[-c, \"a\\nb\\nc\\n\"]", "[-c, \"A\\nb\\nc\\n\"]", "[-c, \"a\\nb\\nC\\n\"]", "[-c, \"A\\nb\\nC\\n\"]", 0),
        // Nobody knows whether `x` is the value of `--a`.
        ("[--a, x]", "[--a, --u, x]", "[--a, y]", "[--a, --u, x]", 1),
        // A flag that both sides added in different places does not come twice, if dest wins.
        ("[--a, --b, --c]", "[--x, --a, --b, --u]", "[--d, --a, --b, --x, --e]", "[--x, --a, --b, --u]", 1),
        // The flag that both replaced may have another name now.
        ("[-Xmx1g]", "[-Xmx2g]", "[-Xmx3g]", "[-Xmx2g]", 1),
        // A flag repeats, so the list has no names: both additions stay, and it is told.
        ("[--s, a]", "[--s, a, --s, b]", "[--s, a, --s, c]", "[--s, a, --s, b]", 1),
    ] {
        let found = words([original, updated, dest]);
        assert_eq!((&*found.1, found.2.len()), (want, conflicts), "{original} {updated} {dest}: {found:?}");
        assert_eq!(words([original, updated, want]).1, want, "again: {original} {updated} {dest}");
        assert_eq!(words([original, dest, updated]).2.len(), conflicts, "swapped: {original} {updated} {dest}");
    }
}

#[test]
fn of_two_sentences_one_stands() {
    for (original, updated, dest, if_dest, if_updated) in [
        ("", "[run, all]", "[serve, now]", "[serve, now]", "[run, all]"),
        ("[]", "[run, all]", "[serve]", "[serve]", "[run, all]"),
        ("[sh]", "[sh, run, all]", "[sh, serve]", "[sh, serve]", "[sh, run, all]"),
        ("[sh, a]", "[sh, x, a]", "[sh, a, y]", "[sh, x, a, y]", "[sh, x, a, y]"),
    ] {
        for field in ["command", "args", "entrypoint"] {
            let map =
                |value: &str| if value.is_empty() { "k: 1\n".to_owned() } else { format!("k: 1\n{field}: {value}\n") };
            let found = found(&map(original), &map(updated), &map(dest), ConflictLevel::Line);
            assert_eq!((found.dest, found.updated), (map(if_dest), map(if_updated)), "{field} {original}");
            assert_eq!(found.conflicts.len(), usize::from(if_dest != if_updated), "{field} {original}");
            // With rules for both, too: there is nothing that both sides could have.
            assert_ne!(found.both, map("[serve, now, run, all]"));
        }
    }
}

#[test]
fn random_lists_with_names_hold_the_laws() {
    let mut random = Random(23);
    let (mut clean, mut all) = (0, 0);
    for case in 0..tries(1500) {
        let element = |name: &str, value: usize| match case % 3 {
            0 => format!("--{name}={value}"),
            // Without this field, an element that is new and has the value of one that goes would be that one.
            1 => format!("{{alert: {name}, of: {name}, expr: {value}}}"),
            _ => format!("{{apiGroups: [{name}], resources: [{name}], verbs: [{value}]}}"),
        };
        let original: Vec<(String, usize)> = (0..=random.below(5)).map(|n| (format!("o{n}"), 0)).collect();
        let mut side = |name: &str, value: usize| {
            let mut list = Vec::new();
            for known in &original {
                match random.below(8) {
                    0 => {}
                    1 => list.push((known.0.clone(), value)),
                    2 => list.insert(0, known.clone()),
                    _ => list.push(known.clone()),
                }
            }
            for n in 0..random.below(3) {
                list.insert(random.below(list.len() + 1), (format!("{name}{n}"), 0));
            }
            if random.below(4) == 0 {
                list.insert(random.below(list.len() + 1), ("both".to_owned(), 0));
            }
            list
        };
        let [updated, dest] = [side("u", 1), side("d", 2)];
        let shown = |list: &[(String, usize)]| {
            format!("[{}]", list.iter().map(|(name, value)| element(name, *value)).collect::<Vec<_>>().join(", "))
        };
        let [o, u, d] = [&original, &updated, &dest].map(|list| shown(list));
        let merged = |versions: [&str; 3]| match case % 3 {
            0 => words(versions),
            1 => alerts(versions),
            _ => of_type(["", "rules: "], ["rbac.authorization.k8s.io/v1", "Role"], versions),
        };
        if [&o, &u, &d].into_iter().any(|list| list == "[]") {
            continue;
        }
        let (if_dest, if_updated, conflicts) = merged([&o, &u, &d]);
        if [&if_dest, &if_updated].into_iter().any(|list| list.ends_with("[]")) {
            continue;
        }
        // If both sides replaced an element, one of the new ones may be the old one.
        let has = |side: &[(String, usize)], name: &String| side.iter().any(|(own, _)| own == name);
        let is_replaced = original.iter().any(|(name, _)| !has(&updated, name) && !has(&dest, name));
        let is_of_list = |place: &String| place.ends_with("rules") || place.ends_with("args");
        let may_lose = !conflicts.is_empty() && (case % 3 == 2 || case % 3 == 0 && is_replaced)
            || conflicts.iter().any(is_of_list);
        for (side, [won, lost]) in [(&updated, [&if_updated, &if_dest]), (&dest, [&if_dest, &if_updated])] {
            for (name, _) in side.iter().filter(|(name, _)| !name.starts_with('o')) {
                let [won, lost] = [won, lost].map(|outcome| outcome.matches(&element(name, 0)).count());
                assert!(won == 1 && (lost == 1 || lost == 0 && may_lose), "{case}: {name}: {o} {u} {d}");
            }
        }
        assert_eq!(merged([&o, &u, &if_dest]).0, if_dest, "dest wins: {o} {u} {d}");
        assert_eq!(merged([&o, &u, &if_updated]).1, if_updated, "updated wins: {o} {u} {d}");
        // TODO: the list is one conflict if a second run would put its elements in another order. So swapped sides may have one conflict for the
        // list, or some in it.
        let swapped = merged([&o, &d, &u]).2;
        let is_one = [&conflicts, &swapped].iter().any(|all| all.len() == 1 && is_of_list(&all[0]));
        assert!(swapped.len() == conflicts.len() || is_one, "swapped: {o} {u} {d}");
        (all, clean) = (all + 1, clean + usize::from(conflicts.is_empty()));
    }
    assert!(clean * 3 > all, "{clean} of {all}");
}

/// An element is the same one under another name: what a merge makes of a list in which a side renamed elements is what it makes of the list
/// without the renames, with the new names. The elements have names, or merge keys.
#[test]
fn random_renames_of_elements_change_nothing_else() {
    type Merged = fn([&str; 3]) -> (String, String, Vec<String>);
    for (key, merged) in [("alert", alerts as Merged), ("name", containers)] {
        let mut random = Random(29);
        let mut followed = 0;
        for case in 0..tries(1500) {
            let element = |name: &str, of: &str, value: usize, more: usize| {
                format!(
                    "{{{key}: {name}, expr: of-{of}, for: {value}, labels: {{a: a-{of}, b: b-{of}, more: {more}}}}}"
                )
            };
            let names: Vec<String> = (0..2 + random.below(4)).map(|at| format!("o{at}")).collect();
            let list = |random: &mut Random, own: &str, side: usize| {
                let mut list: Vec<String> = Vec::new();
                for name in &names {
                    match random.below(6) {
                        0 => list.push(element(name, name, side, 0)),
                        1 => list.push(element(name, name, 0, side)),
                        _ => list.push(element(name, name, 0, 0)),
                    }
                }
                match random.below(6) {
                    0 | 1 => list.push(element(own, own, 0, 0)),
                    // It is like another one, as that one is on this side.
                    2 if key == "name" => list.push(list[0].replacen("o0", own, 1)),
                    _ => {}
                }
                format!("[{}]", list.join(", "))
            };
            let original: Vec<String> = names.iter().map(|name| element(name, name, 0, 0)).collect();
            let original = format!("[{}]", original.join(", "));
            let [updated, dest] = [list(&mut random, "u", 1), list(&mut random, "d", 2)];
            // The name alone changes, as that of a host does.
            let renamed: Vec<&String> = names.iter().filter(|_| random.below(3) == 0).collect();
            let rename = |text: &str| {
                let old_and_new = renamed.iter().map(|name| (format!("{key}: {name},"), format!("{key}: new-{name},")));
                old_and_new.fold(text.to_owned(), |text, (old, new)| text.replace(&old, &new))
            };
            let plain = merged([&original, &updated, &dest]);
            // Nobody knows which of two equal new elements is the old one.
            let has_twice = |side: &str| renamed.contains(&&names[0]) && side.matches("expr: of-o0,").count() > 1;
            for (side, [updated, dest]) in
                [(&updated, [rename(&updated), dest.clone()]), (&dest, [updated.clone(), rename(&dest)])]
            {
                if has_twice(side) {
                    continue;
                }
                let found = merged([&original, &updated, &dest]);
                let what = format!("{case}: {original} {updated} {dest}");
                assert_eq!((&found.0, &found.1), (&rename(&plain.0), &rename(&plain.1)), "{what}");
                assert_eq!(found.2.len(), plain.2.len(), "{what}");
                assert_eq!(merged([&original, &updated, &found.0]).0, found.0, "again: {what}");
                assert_eq!(merged([&original, &updated, &found.1]).1, found.1, "again: {what}");
                followed += usize::from(found.0 != plain.0);
            }
        }
        assert!(followed > 500, "{followed}");
    }
}

/// How many random cases a law has: this many, or, with `KRM_MERGE_LAWS=N`, N times as many.
fn tries(cases: usize) -> usize {
    cases * std::env::var("KRM_MERGE_LAWS").map_or(1, |n| n.parse::<usize>().expect("`KRM_MERGE_LAWS` is a number"))
}

/// Numbers below a limit, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// An element that only this name has: a scalar, or a map.
    fn one(&mut self, name: &str) -> String {
        match self.below(3) {
            0 => format!("'{name}'"),
            1 => format!("{{a: {name}}}"),
            _ => format!("{{a: {name}, b: {name}}}"),
        }
    }

    /// A scalar, or the values of the fields of a map.
    fn element(&mut self) -> Vec<usize> {
        let fields = 1 + self.below(4);
        (0..fields).map(|_| self.below(4)).collect()
    }

    /// The list with elements that are dropped, moved, changed and added.
    fn changed(&mut self, list: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let mut out = Vec::new();
        for element in list {
            match self.below(8) {
                0 => {}
                1 => out.insert(0, element.clone()),
                2 | 3 => {
                    let mut element = element.clone();
                    let at = self.below(element.len());
                    element[at] = self.below(6);
                    out.push(element);
                }
                _ => out.push(element.clone()),
            }
        }
        if self.below(5) == 0 {
            out.push(self.element());
        }
        out
    }
}

#[test]
fn random_lists_hold_the_laws() {
    let shown = |list: &[Vec<usize>]| {
        let fields = |values: &[usize]| {
            let fields: Vec<String> = values.iter().enumerate().map(|(i, v)| format!("f{i}: {v}")).collect();
            fields.join(", ")
        };
        let element = |values: &Vec<usize>| match values[..] {
            [scalar] => scalar.to_string(),
            _ => format!("{{{}}}", fields(values)),
        };
        format!("[{}]", list.iter().map(element).collect::<Vec<_>>().join(", "))
    };
    let mut random = Random(7);
    let (mut all, mut clean) = (0, 0);
    for _ in 0..tries(4000) {
        let original: Vec<Vec<usize>> = (0..=random.below(4)).map(|_| random.element()).collect();
        let [updated, dest] = [random.changed(&original), random.changed(&original)].map(|list| shown(&list));
        let original = shown(&original);
        let (if_dest, if_updated, conflicts) = lists(&original, &updated, &dest);
        // What comes into an empty list is written in lines.
        if [&dest, &if_dest, &if_updated].into_iter().any(|list| list == "[]") {
            continue;
        }
        assert_eq!(lists(&original, &updated, &if_updated).1, if_updated, "updated wins: {original} {updated} {dest}");
        assert_eq!(lists(&original, &updated, &if_dest).0, if_dest, "dest wins: {original} {updated} {dest}");
        let (_, _, swapped) = lists(&original, &dest, &updated);
        assert_eq!(swapped.len(), conflicts.len(), "swapped: {original} {updated} {dest}");
        (all, clean) = (all + 1, clean + usize::from(conflicts.is_empty()));
    }
    assert!(clean * 2 > all, "{clean} of {all}");
}

/// Each of these ways to write the lines of a text over several, with the way of dest last.
const WAYS: [&str; 12] = [
    "k: %\n",
    "k:\n  %\nl: 1\n",
    "k: '%'\n",
    "k: \"%\" # why\nl: 1\n",
    "k: >-\n  %\nl: 1\n",
    "k: > # why\n    %\n\nl: 1\n",
    "k: !!str >+\n  %\n\nl: 1\n",
    "k: >2-\n   %\n  x\n",
    "k:\n- n: 1\n  o: 1\n  m: >-\n        %\n- 1\n",
    "k:\n- >-\n  %\n- 1\n",
    "k: [1, {n: 1, o: 1, m: \"%\"}]\n",
    "k: [1, %, # why\n  2]\n",
];

/// Lines, each a word, in a way. The lines after the first one are where the first one is, or two columns deeper than the key.
fn written(way: &str, words: &str, line_break: &str) -> String {
    let line = &way[..way.find('%').expect("lines")];
    let line = line.rsplit('\n').next().unwrap_or_default();
    let indent = if line.trim().is_empty() { line.len() } else { 2 };
    let lines: Vec<&str> = words.split(' ').collect();
    way.replace('%', &lines.join(&format!("\n{}", " ".repeat(indent)))).replace('\n', line_break)
}

#[test]
fn a_text_that_is_written_over_several_lines_is_merged_by_these() {
    for way in WAYS {
        for line_break in ["\n", "\r\n"] {
            for [original, updated, dest, want_of_dest, want_of_updated] in [
                ["a b c d", "A b c d", "a b c D", "A b c D", "A b c D"],
                ["a b c d", "a b c", "x a b c d", "x a b c", "x a b c"],
                ["a b c d", "b c d", "a b c d e", "b c d e", "b c d e"],
                // In conflict.
                ["a b c d e", "a B c d E", "a 2 c d e", "a 2 c d E", "a B c d E"],
                ["a b c d e", "A b c d E", "a b c d e f", "A b c d e f", "A b c d E"],
            ] {
                let sides = [original, updated, dest].map(|words| written(way, words, line_break));
                let [o, u, d] = sides.each_ref();
                let want = [want_of_dest, want_of_updated].map(|words| written(way, words, line_break));
                let merged = found(o, u, d, ConflictLevel::Line);
                assert_eq!([merged.dest, merged.updated], want, "{d}");
                let is_open = want_of_dest != want_of_updated;
                let is_told = merged.combined.iter().any(|(_, how)| *how == Combined::Lines);
                assert_eq!((merged.conflicts.len() == 1, is_told), (is_open, !is_open), "{d}");
                let again = want.each_ref().map(|want| found(o, u, want, ConflictLevel::Line));
                assert_eq!([&again[0].dest, &again[1].updated], want.each_ref(), "again: {d}");
                let swapped = found(o, d, u, ConflictLevel::Line);
                assert_eq!((swapped.updated, swapped.dest), want.clone().into(), "swapped: {d}");
                let values = found(o, u, d, ConflictLevel::Value);
                assert_eq!((&values.dest, values.conflicts.len(), values.combined.len()), (d, 1, 0), "{d}");
            }
        }
    }
}

#[test]
fn source_lines_keep_what_they_say_and_how_dest_has_them() {
    for [original, updated, dest, want] in [
        // Deeper lines, blank lines and the sign for the end belong to a folded text.
        [
            "k: >\n  a\n  b\n\n  c\n    d\n  e\n",
            "k: >-\n  a\n  b\n\n  c\n    d\n  e\n",
            "k: >\n    a\n    b\n\n    c\n      d\n       x\n    e\n",
            "k: >-\n    a\n    b\n\n    c\n      d\n       x\n    e\n",
        ],
        // A `+` without a blank line says nothing.
        [
            "k: >+\n a\n b\n c\nl: 1\n",
            "k: >+\n A\n b\n c\nl: 1\n",
            "k: >+\n a\n b\n C\nl: 1\n",
            "k: >\n A\n b\n C\nl: 1\n",
        ],
        ["k: >1\n  a\n b\n c\n", "k: >1\n  a\n b\n C\n", "k: >3\n    A\n   b\n   c\n", "k: >3\n    A\n   b\n   C\n"],
        // The number has one digit.
        [
            "k: >-\n  a\n  b\n  c\n",
            "k: >1-\n  a\n b\n c\n",
            "k: >-\n            a\n            b\n            C\n",
            "k: >9-\n          a\n         b\n         C\n",
        ],
        // Escapes, also those of line breaks and blanks.
        [
            "k: \"a \\\n  \\ b\\n\\\n  c\n\n  d\\\"\"\n",
            "k: \"A \\\n  \\ b\\n\\\n  c\n\n  d\\\"\"\n",
            "k: \"a \\\n  \\ b\\n\\\n  c\n\n  D\\\"\"\n",
            "k: \"A \\\n  \\ b\\n\\\n  c\n\n  D\\\"\"\n",
        ],
        ["k: 'a''\n  b\n  c'\n", "k: 'A''\n  b\n  c'\n", "k: 'a''\n  b\n  ''c'\n", "k: 'A''\n  b\n  ''c'\n"],
        // Indentation and line breaks are dest's, also where its lines are not all equally deep.
        [
            "k: a\n b\n  c\n d\n",
            "k:\n  A\n  b\n   c\n  d\n",
            "k: a\r\n           b\r\n            c\r\n           D\r\n",
            "k: A\r\n           b\r\n            c\r\n           D\r\n",
        ],
        // Dest wrapped the end anew.
        ["k: a\n b\n c\n d x\n", "k: A a\n b\n c\n d x\n", "k: a\n b\n c\n d\n x y\n", "k: A a\n b\n c\n d\n x y\n"],
        // In the source, the changes touch. In the value, there is a line between them.
        ["k: \"a\\nb\\n\n  c\"\n", "k: \"A\\nb\\n\n  c\"\n", "k: \"a\\nb\\n\n  C\"\n", "k: \"A\\nb\\n C\"\n"],
    ] {
        let merged = found(original, updated, dest, ConflictLevel::Line);
        assert_eq!([&merged.dest, &merged.updated], [want, want], "{dest}");
        assert_eq!(merged.combined, [("k".to_owned(), Combined::Lines)], "{dest}");
        let again = found(original, updated, want, ConflictLevel::Line);
        assert_eq!([&again.dest, &again.updated], [want, want], "again: {dest}");
    }
}

#[test]
fn where_a_side_has_other_lines_a_text_is_one_value() {
    for [original, updated, dest] in [
        // Another style.
        ["k: a\n b\n c\n", "k: A\n b\n c\n", "k: 'a\n b\n C'\n"],
        ["k: >\n a\n b\n c\n", "k: |\n a\n b\n X\n", "k: >\n A\n b\n c\n"],
        // One line.
        ["k: a\n b\n c\n", "k: A\n b\n c\n", "k: a b C\n"],
        ["k: a\n b\n c\n", "k: A b c\n", "k: a\n b\n C\n"],
        ["k: a b c\n", "k: A\n b\n c\n", "k: a\n b\n C\n"],
        // A second run would find one line.
        ["k: a\n b\n c\n", "k: a\n b\n", "k: b\n c\n"],
        ["k: >\n a\n b\n c\n", "k: >\n a\n b\n", "k: >\n b\n c\n"],
        // A comma would end the text.
        ["k: a\n b\n c\nl: 1\n", "k: a, A\n b\n c\nl: 1\n", "{k: a\n b\n C # why\n , l: 1}\n"],
        // A text is no number and has no tag of its own.
        ["k: !x a\n b\n c\n", "k: !x A\n b\n c\n", "k: !x a\n b\n C\n"],
        // All lines are in conflict.
        ["k: a\n b\n", "k: A\n B\n", "k: x\n y\n"],
    ] {
        let merged = found(original, updated, dest, ConflictLevel::Line);
        assert_eq!((&*merged.dest, &*merged.conflicts, merged.combined.len()), (dest, &["k".to_owned()][..], 0));
        let values = [updated, &merged.updated].map(|text| Document::parse(text.to_owned()).expect("valid"));
        let [theirs, taken] = values.each_ref().map(|document| document.roots().next().and_then(|root| root.get("k")));
        assert!(krm_yaml::same(theirs.expect("a value"), taken.expect("a value")), "{}", merged.updated);
    }
}

#[test]
fn a_name_says_that_a_text_is_a_document() {
    for (name, want) in [
        ("a/web.yaml", true),
        ("Kptfile", true),
        ("v1.ConfigMap.default.a", true),
        ("MERGED-1/networking.k8s.io.v1.Ingress.prod.web", true),
        ("README.v1.Draft", false),
        ("app.v2.properties", false),
        ("web", false),
    ] {
        assert_eq!(super::names_document(name), want, "{name}");
    }
}
