//! The packages of `tests/upgrades/` as folders, byte for byte: by the plugin, and by the library.

use std::collections::BTreeMap;
use std::fs;

use krm_merge::{Merge, Package, Pick};

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

/// The files of a version, by their paths.
type Files = BTreeMap<String, String>;

/// The three-way merge of folders: by the plugin, and by the library.
fn by_both([original, updated, dest]: [&Files; 3], undecided: Pick) -> [Files; 2] {
    let folder = Folder::new();
    for (version, files) in [("v1", original), ("v2", updated), ("here", dest)] {
        folder.write(&format!("{version}/README"), "");
        files.iter().for_each(|(path, text)| folder.write(&format!("{version}/{path}"), text));
    }
    let policy = if undecided == Pick::Dest { "keep-dest" } else { "take-updated" };
    let ran = folder.run(&[&UPGRADE[..9], &[policy]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let sides = [original, updated, dest].map(|files| Package::of_files(files.clone()).expect("YAML"));
    let merge = Merge::three_way(&sides[0], &sides[1], &sides[2]);
    let of_library = merge.run().expect("merged").files(undecided).expect("written");
    [files_below(&folder.path("here")), of_library].map(|mut files| {
        files.remove("README");
        files
    })
}

#[test]
fn the_library_writes_what_the_plugin_writes() {
    let mut changed = 0;
    for package in fs::read_dir(root().join("tests/upgrades")).expect("a folder") {
        let package = package.expect("an entry").path();
        let versions = ["original", "updated", "dest", "merged"].map(|version| files_below(&package.join(version)));
        // Each version in each role, so that files come, go and move in more ways than the package has.
        for roles in 0..64 {
            let [original, updated, dest] = [0, 2, 4].map(|bits| roles >> bits & 3);
            if original == updated || original == dest || updated == dest {
                continue;
            }
            let sides = [original, updated, dest].map(|version| &versions[version]);
            let undecided = if original % 2 == 0 { Pick::Updated } else { Pick::Dest };
            let [of_plugin, of_library] = by_both(sides, undecided);
            assert_eq!(of_library, of_plugin, "{} {roles} {undecided:?}", package.display());
            changed += usize::from(of_plugin != *sides[2]);
        }
    }
    assert!(changed > 100, "{changed}");
}

#[test]
fn lists_and_documents_without_names_are_the_same_in_both() {
    let map =
        |name: &str, x: u8| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  x: '{x}'\n");
    let list = |items: &[String]| {
        let items: Vec<String> =
            items.iter().map(|item| format!("- {}\n", item.trim_end().replace('\n', "\n  "))).collect();
        format!("apiVersion: v1\nkind: List\nitems:\n{}", items.concat())
    };
    let unnamed = "kind: Anything\nx: 1\n".to_owned();
    let files = |files: &[(&str, String)]| -> Files {
        files.iter().map(|(path, text)| ((*path).to_owned(), text.clone())).collect()
    };
    for sides in [
        // A list that loses, gets and changes items.
        [
            files(&[("list.yaml", list(&[map("a", 1), map("b", 1)]))]),
            files(&[("list.yaml", list(&[map("a", 2), map("c", 1)]))]),
            files(&[("list.yaml", list(&[map("own", 1), map("a", 1), map("b", 1)]))]),
        ],
        // A document without a name stays as dest has it, beside resources that change.
        [
            files(&[("a.yaml", map("a", 1))]),
            files(&[("a.yaml", map("a", 2))]),
            files(&[("a.yaml", [unnamed.clone(), map("a", 1)].join("---\n"))]),
        ],
        // A file moves, with what only dest has in it.
        [
            files(&[("a.yaml", map("a", 1))]),
            files(&[("b/c.yaml", map("a", 2))]),
            files(&[("a.yaml", [map("a", 1), map("own", 1)].join("---\n"))]),
        ],
        // A file is new, and one goes.
        [
            files(&[("a.yaml", map("a", 1))]),
            files(&[("n.yaml", format!("# the file\n\n# n\n{}", map("n", 1)))]),
            files(&[("a.yaml", map("a", 1)), ("own.yaml", map("own", 1))]),
        ],
        // A file is a template in the next release, and has a key twice.
        [
            files(&[("a.yaml", map("a", 1)), ("b.yaml", map("b", 1))]),
            files(&[("a.yaml", map("a", 1) + "{{ .Values.more }}\n"), ("b.yaml", map("b", 2))]),
            files(&[
                ("a.yaml", map("a", 1).replace("data", "immutable: true\ndata")),
                ("b.yaml", map("b", 1) + "data: {}\n"),
            ]),
        ],
        // A resource is there twice, and without a name.
        [
            files(&[("a.yaml", map("a", 1)), ("b.yaml", unnamed.clone()), ("c.yaml", map("c", 1))]),
            files(&[
                ("a.yaml", [map("a", 1), map("a", 2)].join("---\n")),
                ("b.yaml", map("b", 1).replace("name", "generateName")),
                ("c.yaml", map("c", 2)),
            ]),
            files(&[("a.yaml", map("a", 1)), ("b.yaml", unnamed.clone()), ("c.yaml", map("c", 1))]),
        ],
    ] {
        let [original, updated, dest] = &sides;
        let [of_plugin, of_library] = by_both([original, updated, dest], Pick::Updated);
        assert_eq!(of_library, of_plugin, "{sides:#?}");
        assert_ne!(of_plugin, *dest, "{sides:#?}");
        let [again, _] = by_both([original, updated, &of_library], Pick::Updated);
        assert_eq!(again, of_library, "a second run changes nothing");
    }
}
