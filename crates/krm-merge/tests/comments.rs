//! Comments of the elements of lists that have no keys, merged as git merges lines: a comment that only upstream changed arrives, and any
//! other comment of dest stays.
//!
//! A small universe: each side has some of three comments at each of two elements, and may have an element of its own. One of several triples of
//! sides is tried; with `KRM_MERGE_LAWS`, all of them.

#[path = "support/sampled.rs"]
mod sampled;

use krm_merge::{Conflict, Dispute, Merge, Package, Pick};
use sampled::Sampled;

/// Where the comment of an element is.
#[derive(Clone, Copy, Debug)]
enum At {
    Above,
    Behind,
}

/// A list in a resource, by the type that says how it merges, and by the text of an element.
#[derive(Clone, Copy, Debug)]
struct List {
    head: &'static str,
    element: fn(char) -> String,
}

const LISTS: [List; 3] = [
    List { head: "spec:\n  args:\n", element: |letter| letter.to_string() },
    List { head: "spec:\n  rules:\n", element: |letter| format!("verb: {letter}") },
    // A set.
    List { head: "  finalizers:\n", element: |letter| format!("example.com/{letter}") },
];

/// The elements of a side in their order, each with the number of its comment; 0 is none.
type Elements = Vec<(char, u8)>;

impl List {
    fn element(self, (letter, comment): (char, u8), at: At) -> String {
        let element = (self.element)(letter);
        match (comment, at) {
            (0, _) => format!("  - {element}\n"),
            (comment, At::Above) => format!("  # {comment}\n  - {element}\n"),
            (comment, At::Behind) => format!("  - {element} # {comment}\n"),
        }
    }

    fn text(self, elements: &[(char, u8)], at: At) -> String {
        let elements: String = elements.iter().map(|element| self.element(*element, at)).collect();
        format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n{}{elements}", self.head)
    }
}

/// Both elements with each combination of comments, and around them the element that is the side's own.
fn sides(own: char) -> Vec<Elements> {
    let mut all = Vec::new();
    for comments in 0..9 {
        let both = [('a', comments % 3), ('b', comments / 3)];
        all.extend([both.to_vec(), [&[(own, 0)], &both[..]].concat(), [&both[..], &[(own, 0)]].concat()]);
        all.push(vec![both[0], (own, 0), both[1]]);
    }
    all
}

fn merged(original: &str, updated: &str, dest: &str) -> (String, usize) {
    let [original, updated, dest] = [original, updated, dest].map(|text| Package::of_text(text).expect("valid"));
    let merge = Merge::three_way(&original, &updated, &dest);
    let merged = merge.run().expect("merged");
    let mut conflicts = 0;
    let is_of_comments = |conflict: &&Conflict| {
        conflict.event().clash().is_some_and(|clash| matches!(clash.dispute, Dispute::Comment { .. }))
    };
    conflicts += merged.conflicts().filter(|conflict| !is_of_comments(conflict)).count();
    (merged.text(Pick::Updated).expect("within the limit"), conflicts)
}

/// The comment of an element that is there.
fn comment(elements: &Elements, of: char) -> u8 {
    elements.iter().find(|(letter, _)| *letter == of).expect("the element").1
}

#[test]
fn a_comment_that_only_upstream_changed_arrives() {
    let (mut seen, mut sampled) = (0, Sampled::one_of(7));
    for (list, at) in LISTS.into_iter().flat_map(|list| [(list, At::Above), (list, At::Behind)]) {
        for original in sides('-').into_iter().filter(|side| side.len() == 2) {
            for updated in sides('u') {
                for dest in sides('d').into_iter().filter(|_| sampled.is_next()) {
                    let texts = [&original, &updated, &dest].map(|side| list.text(side, at));
                    let (once, conflicts) = merged(&texts[0], &texts[1], &texts[2]);
                    assert_eq!(merged(&texts[0], &texts[1], &once).0, once, "{texts:#?}");
                    if conflicts > 0 {
                        continue;
                    }
                    seen += 1;
                    for letter in ['a', 'b'] {
                        let [was, is, own] = [&original, &updated, &dest].map(|side| comment(side, letter));
                        let want = if own == was { is } else { own };
                        let element = list.element((letter, want), at);
                        // An element without a comment follows another element, or the head of the list.
                        let is_alone =
                            |text: &str| text.lines().last().is_none_or(|line| !line.trim().starts_with('#'));
                        let has = once.split_once(&element).is_some_and(|(before, _)| is_alone(before));
                        assert!(has, "{element:?} must be in\n{once}{texts:#?}");
                    }
                }
            }
        }
    }
    assert!(seen > sampled.of(50_000), "{seen}");
}

#[test]
fn a_comment_of_a_source_replaces_the_one_on_its_line() {
    for list in LISTS {
        for (source, dest) in
            sides('u').into_iter().flat_map(|source| sides('d').into_iter().map(move |d| (source.clone(), d)))
        {
            let texts = [&source, &dest].map(|side| list.text(side, At::Behind));
            let [source_of, dest_of] = texts.each_ref().map(|text| Package::of_text(text.as_str()).expect("valid"));
            let two = |dest: &Package| {
                let merge = Merge::two_way(&source_of, dest);
                merge.run().expect("merged").text(Pick::Updated).expect("within the limit")
            };
            let once = two(&dest_of);
            assert_eq!(two(&Package::of_text(once.as_str()).expect("valid")), once, "{texts:#?}");
            for letter in ['a', 'b'] {
                let [is, own] = [&source, &dest].map(|side| comment(side, letter));
                let element = list.element((letter, if is == 0 { own } else { is }), At::Behind);
                assert!(once.contains(&element), "{element:?} must be in\n{once}{texts:#?}");
            }
        }
    }
}
