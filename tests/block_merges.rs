//! Three-way merges of maps with block scalars, with comments and blank lines between the fields, on each side. What comes out must mean to
//! another parser what the values of the sides say. That parser is libyaml's, the ancestor of the one that kubectl has.

#[path = "support/block_fields.rs"]
mod block_fields;
mod support;

use krm_merge::{FileChange, Merge, Package, Pick, Renames};
use proptest::prelude::*;

use block_fields::{FIELDS, fields, forms, may_be, read, text};

/// What a merge makes of dest's text.
fn merged(sides: &[String; 3], pick: Pick) -> String {
    let [original, updated, dest] = sides.each_ref().map(|text| Package::of_text(text.clone()).expect("valid"));
    // A field that is renamed has the values of two fields.
    let merge = Merge::three_way(&original, &updated, &dest).renames(Renames::Ignore);
    let changes = merge.run().expect("merged").write(pick).expect("written");
    let text = changes.into_iter().find_map(|change| match change {
        FileChange::Changed { text, .. } => Some(text),
        _ => None,
    });
    text.unwrap_or_else(|| sides[2].clone())
}

proptest! {
    #![proptest_config(support::tries(4000))]

    #[test]
    fn no_merge_changes_a_text_that_nobody_changed(fields in fields(), forms in forms()) {
        let sides = [0, 1, 2].map(|side| text(&fields.iter().map(|field| field[side]).collect::<Vec<_>>(), forms[side]));
        let [Some(original), Some(updated), Some(dest)] = sides.each_ref().map(|text| read(text)) else {
            return Err(TestCaseError::reject("a side that the other parser refuses"));
        };
        for pick in [Pick::Updated, Pick::Dest] {
            let out = merged(&sides, pick);
            let found = read(&out);
            prop_assert!(found.is_some(), "{}\n{sides:?}", out);
            let found = found.unwrap_or_default();
            for name in FIELDS {
                let of = [&original, &updated, &dest].map(|side| side.get(name));
                prop_assert!(may_be(found.get(name), of), "{name}: {:?} of {of:?}\n{out}\n{}", found.get(name), sides.join("\n"));
            }
            let again = merged(&[sides[0].clone(), sides[1].clone(), out.clone()], pick);
            prop_assert_eq!(read(&again), read(&out), "a second run\n{}\n{}", again, sides.join("\n"));
        }
    }
}
