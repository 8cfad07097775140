//! Block scalars in the git driver: where it ends without a conflict, each text is one that a side has.

#[path = "../../../../../tests/support/block_fields.rs"]
mod block_fields;

use proptest::prelude::*;

use crate::shared;
use crate::support::{Folder, has};
use block_fields::{FIELDS, fields, forms, may_be, read, text};

proptest! {
    #![proptest_config(shared::tries(100))]

    #[test]
    fn the_driver_changes_no_text_that_nobody_changed(fields in fields(), forms in forms()) {
        prop_assume!(has("git"));
        let sides = [0, 1, 2].map(|side| text(&fields.iter().map(|field| field[side]).collect::<Vec<_>>(), forms[side]));
        let [Some(original), Some(updated), Some(dest)] = sides.each_ref().map(|text| read(text)) else {
            return Err(TestCaseError::reject("a side that the other parser refuses"));
        };
        // A field that is renamed has the values of two fields.
        let is_renamed = [&updated, &dest].iter().any(|side| {
            let has = |name: &&str, side: &serde_json::Map<_, _>| side.contains_key(*name);
            FIELDS.iter().any(|name| has(name, &original) && !has(name, side))
                && FIELDS.iter().any(|name| !has(name, &original) && has(name, side))
        });
        prop_assume!(!is_renamed);
        let folder = Folder::in_memory();
        ["o", "b", "a"].iter().zip(&sides).for_each(|(name, text)| folder.write(name, text));
        let ran = folder.run(&["git-driver", "o", "a", "b", "x.yaml"]);
        if ran.code == Some(0) {
            let out = folder.read("a");
            let found = read(&out);
            prop_assert!(found.is_some(), "{}\n{:?}", out, sides);
            let found = found.unwrap_or_default();
            for name in FIELDS {
                let of = [&original, &updated, &dest].map(|side| side.get(name));
                prop_assert!(may_be(found.get(name), of), "{name}: {:?} of {of:?}\n{out}\n{}", found.get(name), sides.join("\n"));
            }
        }
    }
}
