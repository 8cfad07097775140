//! Aliases whose anchors a merge removes.

use krm_merge::Document;
use krm_merge::alias::written_out;
use krm_merge::child::By;
use krm_merge::limit::Budget;
use krm_merge::splice;
use krm_merge::tree::{Branch, Entry, Made, Quotes, Tree};

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
        let edits = splice::edits(root, &written_out(root, &tree), &Budget::default()).expect("within the limit");
        assert_eq!(edits.apply(text, 0..text.len()), want, "{text}");
    }
}
