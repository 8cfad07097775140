//! A second run with the same sides changes nothing, in packages with several resources of one identity, and in lists that only the second
//! run merges by their keys.
//!
//! Small universes: each side may have the same resource at each of a few paths, with one of two values, or a list with a comment at each of
//! a few places. One of several triples of sides is tried; with `KRM_MERGE_LAWS`, all of them.

#[path = "support/sampled.rs"]
mod sampled;

use krm_merge::{EmptyUpdated, Merge, MergedPackage, Package, Pick};
use sampled::Sampled;

/// The files of one side: for each path, the values of the resources in it.
type Files = Vec<(&'static str, &'static [u8])>;

/// All sides that have some of `contents` at each path.
fn sides(paths: &[&'static str], contents: &[&'static [u8]]) -> Vec<Files> {
    paths.iter().fold(vec![Vec::new()], |sides, path| {
        let with = |side: &Files, content| side.iter().copied().chain([(*path, content)]).collect();
        sides.iter().flat_map(|side| contents.iter().map(|content| with(side, *content)).collect::<Vec<_>>()).collect()
    })
}

fn text(merged: &MergedPackage) -> String {
    merged.text(Pick::Updated).expect("within the limit")
}

fn conflicts_of(merged: &MergedPackage) -> usize {
    let mut conflicts = 0;
    conflicts += merged.conflicts().count();
    conflicts
}

fn package(files: &Files) -> Package {
    let files = files.iter().filter(|(_, values)| !values.is_empty()).map(|(path, values)| {
        // Most of what a resource says depends on its path, as that of a base and its overlays does.
        let own = path.replace(['.', '/'], "-");
        let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";
        let document = |v: &u8| format!("{head}data:\n  {own}: 0\n  of-{own}: 0\n  v: \"{v}\"\n");
        ((*path).to_owned(), values.iter().map(document).collect::<Vec<_>>().join("---\n"))
    });
    Package::of_files(files).expect("valid")
}

/// How many of the triples that are tried were merged, and how many were refused; a merge that is not the same after a second run fails.
fn runs(all: &[Files], sampled: &mut Sampled) -> [usize; 2] {
    let packages: Vec<Package> = all.iter().map(package).collect();
    let [mut merged, mut refused] = [0, 0];
    for (o, original) in packages.iter().enumerate() {
        for (u, updated) in packages.iter().enumerate() {
            for (d, dest) in packages.iter().enumerate().filter(|_| sampled.is_next()) {
                let case = || format!("original {:?}\nupdated {:?}\ndest {:?}", all[o], all[u], all[d]);
                let merge = Merge::three_way(original, updated, dest).empty_updated(EmptyUpdated::Deletes);
                let Ok(first) = merge.run() else {
                    refused += 1;
                    continue;
                };
                let first = first.files(Pick::Updated).expect("within the limit");
                let result = Package::of_files(first.clone()).expect("valid");
                let merge = Merge::three_way(original, updated, &result).empty_updated(EmptyUpdated::Deletes);
                let again = merge.run().unwrap_or_else(|e| panic!("{e}\n{}\n{first:?}", case()));
                assert_eq!(again.files(Pick::Updated).expect("within the limit"), first, "{}", case());
                merged += 1;
            }
        }
    }
    [merged, refused]
}

#[test]
fn nothing_changes_where_each_file_has_one() {
    let all = sides(&["base.yaml", "a/patch.yaml", "b/patch.yaml"], &[&[], &[1], &[2]]);
    let mut sampled = Sampled::one_of(7);
    assert_eq!(runs(&all, &mut sampled), [sampled.of(19_683), 0]);
}

#[test]
fn nothing_changes_where_a_file_has_several() {
    let all = sides(&["base.yaml", "a/patch.yaml"], &[&[], &[1], &[1, 2], &[2, 2]]);
    // Of the 64 triples of a path, 30 have one resource on a side and two on another. Such a file is merged as text, unless the resource is at the
    // other path, too: it may have moved, so the merge is refused, except where that path is one of an overlay.
    let [merged, refused] = runs(&all, &mut Sampled::one_of(1));
    assert!(merged > 34 * 34 + 2 * 30 && merged + refused == 64 * 64, "{merged}");
    assert_eq!(refused, 1556);
}

/// The places of a comment in a list; the first one is none.
const COMMENTED: [&str; 7] = ["", "above", "dash", "line", "inner", "below", "end"];

/// The text of a resource whose list has these elements: maps named by a letter, or a number. The comment is at the element `p`.
fn with_list(elements: &str, commented: &str, indent: usize, word: &str) -> String {
    let pad = " ".repeat(indent);
    let at = |place: &str, before: &str| if place == commented { format!("{before}# {word}") } else { String::new() };
    let on_own_line = |place: &str, column: usize| match at(place, &" ".repeat(column)) {
        line if line.is_empty() => line,
        line => line + "\n",
    };
    let element = |letter: char| match letter {
        'p' => [
            on_own_line("above", indent),
            format!("{pad}- name: p{}\n", at("dash", " ")),
            format!("{pad}  a: 1{}\n{pad}  b:\n{pad}    c: 2{}\n", at("line", " "), at("inner", " ")),
            on_own_line("below", indent + 4),
            on_own_line("end", indent + 2),
        ]
        .concat(),
        't'..='z' => format!("{pad}- name: {letter}\n"),
        number => format!("{pad}- {number}\n"),
    };
    let list: String = elements.chars().map(element).collect();
    format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  list:\n{list}  z: 1\n")
}

/// The texts of three sides, for each combination of comments: original, updated, dest.
fn commented(in_updated: &str, in_dest: &str) -> Vec<[String; 3]> {
    let mut all = Vec::new();
    for original in COMMENTED {
        for updated in COMMENTED {
            all.extend(COMMENTED.map(|dest| {
                [
                    with_list("pt", original, 2, "original"),
                    with_list(in_updated, updated, 2, "updated"),
                    with_list(in_dest, dest, 4, "dest"),
                ]
            }));
        }
    }
    all
}

#[test]
fn nothing_changes_where_a_list_is_keyed_after_the_first_run() {
    let package = |text: &str| Package::of_text(text.to_owned()).expect("valid");
    let (mut conflicts, mut sampled) = (0, Sampled::one_of(5));
    // In most of dest's lists an element has no name, or two have one name.
    for in_dest in ["p4", "4p", "pt4", "tp4", "ptt", "tpt", "pu4", "u"] {
        let all = ["pt", "tp", "p", "ptu"].iter().flat_map(|in_updated| commented(in_updated, in_dest));
        for texts in all.filter(|_| sampled.is_next()) {
            let [original, updated, dest] = texts.each_ref().map(|text| package(text));
            let three = |dest: &Package| {
                let merge = Merge::three_way(&original, &updated, dest);
                let merged = merge.run().expect("merged");
                (text(&merged), conflicts_of(&merged))
            };
            let two = |dest: &Package| text(&Merge::two_way(&updated, dest).run().expect("merged"));
            let (once, found) = three(&dest);
            conflicts += found;
            assert_eq!(three(&package(&once)).0, once, "{texts:#?}");
            let once = two(&dest);
            assert_eq!(two(&package(&once)), once, "{texts:#?}");
        }
    }
    assert!(conflicts > sampled.of(5_000), "{conflicts}");
}

/// The text of a resource whose list has one of the writings of each element, or lacks it.
fn with_elements(writings: [&str; 3]) -> String {
    format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  list:\n{}", writings.concat())
}

#[test]
fn nothing_changes_where_an_element_without_keys_is_written_in_several_ways() {
    let package = |text: &str| Package::of_text(text.to_owned()).expect("valid");
    let map = ["", "  - b:\n    - - true\n", "  - b:\n\n    - - true\n", "  - {b: [[true], c]}\n"];
    let all: Vec<Package> = ["", "  - - - 1\n"]
        .iter()
        .flat_map(|first| map.map(|map| [*first, map]))
        .flat_map(|[first, map]| {
            ["  - - - true\n", "  - - [ true ]\n  - {}\n", "  - {}\n"].map(|last| [first, map, last])
        })
        .map(|writings| package(&with_elements(writings)))
        .collect();
    let (mut conflicts, mut sampled) = (0, Sampled::one_of(5));
    for original in &all {
        for updated in &all {
            for dest in all.iter().filter(|_| sampled.is_next()) {
                let merge = Merge::three_way(original, updated, dest).empty_updated(EmptyUpdated::Deletes);
                let merged = merge.run().expect("merged");
                let once = text(&merged);
                conflicts += conflicts_of(&merged);
                let result = package(&once);
                let again = Merge::three_way(original, updated, &result).empty_updated(EmptyUpdated::Deletes);
                assert_eq!(text(&again.run().expect("merged")), once);
            }
        }
    }
    assert!(conflicts > sampled.of(5_000), "{conflicts}");
}
