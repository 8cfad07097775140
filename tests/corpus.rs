//! One readable file per behaviour: `tests/corpus/<mode>/<outcome>.yaml` holds all sides, the result and what is reported.
//!
//! Every file is also run on its own output, and without a source: neither may change a byte. Where a second run cannot leave its output
//! alone, the file says what it makes of it: `again`.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use krm_yaml::{Document, NodeRef};

use support::{items, items_of, passes, resource_list, results, side};

fn files(mode: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(mode);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    files
}

/// A file of the corpus.
struct Case {
    spec: String,
    dest: String,
    result: String,
    /// What a second run makes of the result.
    again: String,
    messages: Vec<String>,
}

fn read(path: &Path, mode: &str) -> Case {
    let text = fs::read_to_string(path).expect("readable");
    let doc = Document::parse(text.as_str()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let root = doc.roots().next().expect("a map");
    for (key, _) in root.entries() {
        let allowed = ["spec", "dest", "source", "original", "updated", "result", "again", "results"];
        assert!(allowed.contains(&key.string()), "{}: unknown key {}", path.display(), key.string());
    }
    let get = |key: &str| root.get(key).map(|n| n.string().to_owned());
    let mut spec = format!("mode: {mode}\n");
    for (key, value) in root.get("spec").into_iter().flat_map(NodeRef::entries) {
        spec.push_str(&format!("{}: {}\n", key.text(), value.text()));
    }
    for role in ["source", "original", "updated"] {
        if let Some(yaml) = get(role) {
            spec.push_str(&side(role, &yaml));
        }
    }
    let messages = root.get("results").into_iter().flat_map(NodeRef::elements).map(|m| m.string().to_owned()).collect();
    let result = get("result").expect("result");
    let again = get("again").unwrap_or_else(|| result.clone());
    Case { spec, dest: get("dest").expect("dest"), result, again, messages }
}

fn check(folder: &str, mode: &str) {
    let files = files(folder);
    assert!(!files.is_empty());
    let mut wrong = Vec::new();
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let case = read(&path, mode);
        let stdin = resource_list(&items(&case.dest), &case.spec);
        // The programs of other platforms merge the same cases.
        if let Some(out) = std::env::var_os("KRM_MERGE_CORPUS") {
            fs::write(Path::new(&out).join(format!("{folder}-{name}.yaml")), &stdin).expect("written");
        }
        let output = passes(&stdin);
        if items_of(&output.stdout) != items(&case.result) {
            wrong.push(format!("{name}: the items are\n{}", items_of(&output.stdout)));
        }
        let messages: Vec<String> = results(&output.stdout).into_iter().map(|r| r.1).collect();
        if messages != case.messages {
            wrong.push(format!("{name}: the results are {messages:#?}"));
        }
        if messages.is_empty() && items(&case.dest) == items(&case.result) {
            assert_eq!(output.stdout, stdin, "{name}: a merge that changes nothing returns its input");
        }

        if !name.contains("-at-the-root-") {
            let again = passes(&resource_list(&items(&case.result), &case.spec));
            if items_of(&again.stdout) != items(&case.again) {
                wrong.push(format!("{name}: merged again\n{}", items_of(&again.stdout)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn two_way() {
    check("two-way", "TwoWay");
}

#[test]
fn three_way() {
    check("three-way", "ThreeWay");
}

#[test]
fn strategic() {
    check("strategic", "Strategic");
}

/// Whether a document merged into itself is asked to change: by a null, which is an order to clear, or by a second resource
/// of one identity.
fn asks_for_a_change(text: &str) -> bool {
    fn has_null(node: NodeRef<'_>) -> bool {
        node.is_null() || node.elements().any(has_null) || node.entries().any(|(_, v)| has_null(v))
    }
    let doc = Document::parse(text).expect("valid");
    let mut names: Vec<String> =
        doc.roots().filter_map(|r| Some(r.at(&["metadata", "name"])?.string().to_owned())).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    doc.roots().any(has_null) || names.len() < all
}

/// Merging any document of the corpus into itself changes nothing, to the byte.
#[test]
fn a_document_merged_into_itself_is_itself() {
    let mut checked = 0;
    for path in files("two-way") {
        let case = read(&path, "TwoWay");
        for text in [&case.dest, &case.result].into_iter().filter(|t| !asks_for_a_change(t)) {
            let stdin = resource_list(&items(text), &format!("mode: TwoWay\n{}", side("source", text)));
            assert_eq!(passes(&stdin).stdout, stdin, "{}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}
