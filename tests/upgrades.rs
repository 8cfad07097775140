//! Small packages in three versions and what becomes of them: `tests/upgrades/<name>/` holds original, updated, dest and merged.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{indent, items_of, passes, resource_list};

/// The files below a folder, in order.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

/// The resources of a version as items that lie below a folder of the package.
fn items(version: &Path, below: &str) -> String {
    let mut items = String::new();
    for file in files_below(version) {
        let path = file.strip_prefix(version).expect("below").to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).expect("readable");
        for (index, resource) in text.split("---\n").enumerate() {
            let (head, rest) = resource.split_once("metadata:\n").expect("metadata");
            let own = "internal.config.kubernetes.io";
            let annotations = format!("  annotations:\n    {own}/path: {below}{path}\n    {own}/index: '{index}'\n");
            let item = indent(&format!("{head}metadata:\n{annotations}{rest}"), 2);
            items.push_str(&format!("- {}", item.trim_start()));
        }
    }
    items
}

#[test]
fn packages_are_upgraded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrades");
    let packages: Vec<PathBuf> = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    assert!(!packages.is_empty());
    let spec = "mode: ThreeWay\noriginal: [{path: up/v1}]\nupdated: [{path: up/v2}]\nonConflict: Fail\n";
    for package in packages {
        let sides = items(&package.join("original"), "up/v1/") + &items(&package.join("updated"), "up/v2/");
        let merged = items(&package.join("merged"), "");
        for dest in ["dest", "merged"] {
            let stdin = items(&package.join(dest), "") + &sides;
            let output = passes(&resource_list(&stdin, spec)).stdout;
            assert_eq!(items_of(&output), format!("{merged}{sides}"), "{} from {dest}", package.display());
        }
        // What nobody touched becomes what upstream has.
        let stdin = items(&package.join("original"), "") + &sides;
        let output = passes(&resource_list(&stdin, spec)).stdout;
        let updated = items(&package.join("updated"), "");
        assert_eq!(items_of(&output), format!("{updated}{sides}"), "{} untouched", package.display());
    }
}
