//! The last line of a text may lack its line break: that is no difference, unless it is the end of a block scalar.

use krm_merge::{Package, three_way};

/// Original, updated, dest, and the result. Each `|` is the end of a text, to show whether there is a line break before it.
const TEXTS: [[&str; 4]; 9] = [
    // Dest takes upstream's text and keeps the end of its own.
    ["a: \"x\"\n|", "a: 'x'\n|", "a: \"x\"|", "a: 'x'|"],
    ["a: \"x\"|", "a: 'x'\n|", "a: \"x\"\n|", "a: 'x'\n|"],
    ["a: \"x\"\n|", "a: 'x'|", "a: \"x\"\n|", "a: 'x'\n|"],
    ["l:\n- 1\n|", "l:\n  # of 1\n  - 1\n|", "l:\n- 1|", "l:\n  # of 1\n  - 1|"],
    // A block scalar ends with a line break if the text does.
    ["s: |\n  x\n|", "s: \"x\"\n|", "s: |\n  x|", "s: |\n  x|"],
    ["s: |\n  x\n|", "s: |\n  y\n|", "s: |-\n  x|", "s: |\n  y\n|"],
    ["s: |-\n  x\n|", "s: |-\n  y\n|", "s: |-\n  x|", "s: |-\n  y|"],
    ["s: 1\n|", "s: |\n  y\n|", "s: 1|", "s: |\n  y\n|"],
    ["s: |\n  x\n|", "s: 1\n|", "s: |\n  x\n|", "s: 1\n|"],
];

#[test]
fn a_line_break_at_the_end_makes_no_difference() {
    for texts in TEXTS {
        let text = |spec: &str| {
            let spec = spec.strip_suffix('|').expect("an end").replace('\n', "\n  ");
            format!(
                "apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n  {}",
                spec.strip_suffix("  ").unwrap_or(&spec)
            )
        };
        let [original, updated, dest, want] = texts.map(text);
        let package = |text: &str| Package::of_text(text.to_owned()).expect("valid");
        // Dest left the resource alone, or changed another field of it.
        for change in [|text: &str| text.to_owned(), |text: &str| text.replace("spec:", "own: 1\nspec:")] {
            let [original, updated, dest, want] = [original.clone(), updated.clone(), change(&dest), change(&want)];
            let merge = |dest: &str| {
                three_way(&package(&original), &package(&updated), &package(dest)).map(|merged| merged.text())
            };
            let once = merge(&dest).expect("merged").expect("within the limit");
            assert_eq!(once, want, "{original:?} {updated:?} {dest:?}");
            assert_eq!(merge(&once).expect("merged").expect("within the limit"), once, "again: {updated:?} {dest:?}");
        }
    }
}
