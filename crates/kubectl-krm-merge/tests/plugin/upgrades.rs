//! The packages of `tests/upgrades/` as folders, byte for byte.

use std::fs;

use crate::shared::files_below;
use crate::support::{Folder, root};

const UPGRADE: [&str; 10] =
    ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place", "--on-conflict", "keep-dest"];

#[test]
fn packages_are_upgraded() {
    let packages = fs::read_dir(root().join("tests/upgrades")).expect("a folder");
    for package in packages.map(|e| e.expect("an entry").path()) {
        let [original, updated, dest, merged] =
            ["original", "updated", "dest", "merged"].map(|version| files_below(&package.join(version)));
        for (here, want) in [(&dest, &merged), (&merged, &merged), (&original, &updated)] {
            let folder = Folder::new();
            for (version, files) in [("v1", &original), ("v2", &updated), ("here", here)] {
                files.iter().for_each(|(path, text)| folder.write(&format!("{version}/{path}"), text));
            }
            let ran = folder.run(&UPGRADE);
            assert_eq!(ran.code, Some(0), "{}: {ran:?}", package.display());
            assert_eq!(&files_below(&folder.path("here")), want, "{}", package.display());
        }
    }
}
