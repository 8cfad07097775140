//! Small packages in three versions, and the merged ones: `tests/upgrades/<name>/` holds original, updated, dest and merged, and in
//! `conflicts` the places that are unresolved. There dest wins. The plugin's tests read the same packages.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use krm_yaml::{Document, NodeRef};

use support::{files_below, indent, passes, resource_list};

const OWN: &str = "internal.config.kubernetes.io";

/// The resources of a version as the items that kpt makes of them, where the version lies below a folder of the package.
fn items(version: &BTreeMap<String, String>, below: &str) -> String {
    let mut items = String::new();
    for (path, text) in version {
        for (index, resource) in text.split("---\n").enumerate() {
            let annotations = format!("  annotations:\n    {OWN}/path: {below}{path}\n    {OWN}/index: '{index}'\n");
            let resource = match resource.split_once("metadata:\n") {
                Some((head, rest)) => format!("{head}metadata:\n{annotations}{rest}"),
                None => format!("{resource}metadata:\n{annotations}"),
            };
            let top: usize =
                resource.split_inclusive('\n').take_while(|l| l.starts_with(['#', '\n'])).map(str::len).sum();
            items.push_str(&format!("{}- {}", &resource[..top], indent(&resource[top..], 2).trim_start()));
        }
    }
    items
}

/// The files that kpt makes of the items of a ResourceList.
fn written(stdout: &str) -> BTreeMap<String, String> {
    let doc = Document::parse(stdout).expect("YAML");
    let root = doc.roots().next().expect("a root");
    let mut files: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    let starts: Vec<usize> =
        root.get("items").into_iter().flat_map(NodeRef::elements).map(|e| start(stdout, e)).collect();
    let end = stdout.find("functionConfig:").expect("a functionConfig");
    let ends = starts.iter().skip(1).copied().chain([end]);
    for ((from, to), item) in starts.iter().zip(ends).zip(root.get("items").into_iter().flat_map(NodeRef::elements)) {
        let annotation = |name: &str| item.at(&["metadata", "annotations", &format!("{OWN}/{name}")]);
        let path = annotation("path").expect("a path").string().to_owned();
        let index = annotation("index").map_or(0, |index| index.string().parse().expect("a number"));
        let text = without_annotations(&stdout[*from..to]);
        files.entry(path).or_default().push((index, text));
    }
    let joined = |mut texts: Vec<(usize, String)>| {
        texts.sort_by_key(|(index, _)| *index);
        assert!(texts.windows(2).all(|two| two[0].0 != two[1].0), "two items with one number: {stdout}");
        texts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("---\n")
    };
    files.into_iter().map(|(path, texts)| (path, joined(texts))).collect()
}

/// The start of the lines of an item, its comments above it among them.
fn start(stdout: &str, item: NodeRef<'_>) -> usize {
    let is_top = |line: &&str| line.starts_with('#') || *line == "\n";
    let at = stdout[..item.start()].rfind("- ").expect("a dash");
    let top: usize = stdout[..at].split_inclusive('\n').rev().take_while(is_top).map(str::len).sum();
    at - top
}

/// The text of an item as a document, without the annotations of the host.
fn without_annotations(item: &str) -> String {
    let lines: Vec<&str> = item.split_inclusive('\n').collect();
    let is_own = |line: &str| line.trim_start().starts_with(OWN);
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        let rest = || lines[i + 1..].iter().take_while(|l| l.starts_with("      "));
        let is_empty_now = line.trim() == "annotations:" && rest().all(|l| is_own(l));
        let is_metadata_of_it = line.trim() == "metadata:"
            && lines.get(i + 1).is_some_and(|l| l.trim() == "annotations:")
            && lines[i + 2..].iter().all(|l| is_own(l));
        if !is_own(line) && !is_empty_now && !is_metadata_of_it {
            out.push_str(line.strip_prefix("- ").or_else(|| line.strip_prefix("  ")).unwrap_or(line));
        }
    }
    out
}

/// The places in conflict of a run.
fn conflicts(stdout: &str) -> Vec<String> {
    let doc = Document::parse(stdout).expect("YAML");
    let results = doc.roots().next().and_then(|root| root.get("results"));
    let is_conflict = |r: &NodeRef<'_>| {
        r.at(&["tags", "krm-merge.dev/reason"]).is_some() && r.get("severity").is_some_and(|s| s.string() != "info")
    };
    let all = results.into_iter().flat_map(NodeRef::elements).filter(is_conflict);
    // A conflict of a whole resource has no field.
    let place = |r: NodeRef<'_>| r.at(&["field", "path"]).or(r.get("message")).expect("a message").string().to_owned();
    all.map(place).collect()
}

/// An upgrade under kpt, where dest wins: the files, and the places in conflict.
fn upgraded(sides: &str, dest: &BTreeMap<String, String>) -> (BTreeMap<String, String>, Vec<String>) {
    let spec = "mode: ThreeWay\noriginal: [{path: up/v1}]\nupdated: [{path: up/v2}]\nonConflict: KeepDest\n";
    let output = passes(&resource_list(&(items(dest, "") + sides), spec)).stdout;
    let (upstream, own) = written(&output).into_iter().partition(|(path, _)| path.starts_with("up/"));
    let _: BTreeMap<String, String> = upstream;
    assert!(output.contains(sides), "the other sides stay as they are: {output}");
    (own, conflicts(&output))
}

#[test]
fn packages_are_upgraded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrades");
    let mut packages: Vec<_> = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    packages.sort();
    assert!(packages.len() > 8);
    let mut wrong = Vec::new();
    for package in packages {
        let [original, updated, dest, merged] =
            ["original", "updated", "dest", "merged"].map(|version| files_below(&package.join(version)));
        let sides = items(&original, "up/v1/") + &items(&updated, "up/v2/");
        let places = fs::read_to_string(package.join("conflicts")).unwrap_or_default();
        let places: Vec<String> = places.lines().map(str::to_owned).collect();
        // What nobody touched becomes what upstream has.
        let untouched = (updated.clone(), Vec::new());
        let merged = (merged, places);
        for (what, dest, want) in
            [("", &dest, &merged), ("again", &merged.0, &merged), ("untouched", &original, &untouched)]
        {
            let now = upgraded(&sides, dest);
            if now != *want {
                wrong.push(format!("{} {what}\n{}\n{}", package.display(), shown(&now), shown(want)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What an upgrade made, to be read.
fn shown((files, conflicts): &(BTreeMap<String, String>, Vec<String>)) -> String {
    let files: String = files.iter().map(|(path, text)| format!("# {path}\n{text}")).collect();
    format!("{files}# conflicts: {conflicts:?}\n")
}

/// The numbers in their file that items have before and after an upgrade, as `name:number` in the order of the items.
fn numbered(original: &str, updated: &str, dest: &str) -> String {
    let side = |path: &str, names: &str| -> String {
        let item = |(i, name): (usize, &str)| {
            let (name, number) = name.split_once(':').unwrap_or((name, ""));
            let number = if number.is_empty() { i.to_string() } else { number.to_owned() };
            let head =
                format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {name}\n    annotations:\n");
            let legacy =
                format!("      config.kubernetes.io/path: '{path}'\n      config.kubernetes.io/index: '{number}'\n");
            format!("{head}{legacy}      {OWN}/path: '{path}'\n      {OWN}/index: '{number}'\n")
        };
        names.split(' ').enumerate().map(item).collect()
    };
    let sides = side("up/v1/f.yaml", original) + &side("up/v2/f.yaml", updated);
    let spec = "mode: ThreeWay\noriginal: [{path: up/v1}]\nupdated: [{path: up/v2}]\n";
    let stdout = passes(&resource_list(&(side("f.yaml", dest) + &sides), spec)).stdout;
    let doc = Document::parse(stdout.as_str()).expect("YAML");
    let items = doc.roots().next().and_then(|root| root.get("items")).expect("items");
    let mut out = Vec::new();
    for item in items.elements() {
        let metadata = item.get("metadata").expect("metadata");
        let of_host = |name: &str| metadata.at(&["annotations", name]).map(|node| node.string().to_owned());
        let [own, legacy] = [OWN, "config.kubernetes.io"].map(|family| of_host(&format!("{family}/index")));
        if of_host(&format!("{OWN}/path")).as_deref() == Some("f.yaml") {
            assert!(legacy.is_none() || legacy == own, "both families say the same: {stdout}");
            let name = metadata.get("name").expect("a name").string();
            out.push(format!("{name}:{}", own.unwrap_or_default()));
        }
    }
    out.join(" ")
}

#[test]
fn the_items_of_a_file_have_the_order_and_the_numbers_of_the_merge() {
    for (original, updated, dest, want) in [
        ("a b", "a n b", "a b", "a:0 n:1 b:2"),
        ("a b", "n a b", "a b", "n:0 a:1 b:2"),
        ("a b", "n m a b", "a b", "n:0 m:1 a:2 b:3"),
        ("a b", "b a", "a b", "b:0 a:1"),
        ("a b c", "c a n b", "a b c", "c:0 a:1 n:2 b:3"),
        ("a b", "n b a", "mine a b", "n:0 b:1 mine:2 a:3"),
        // A number that is free is taken, and the others stay.
        ("a b", "a n b", "a:3 b:7", "a:3 n:4 b:7"),
        ("a b", "n a b", "a:3 b:7", "n:0 a:3 b:7"),
        ("a b", "n a b", "a:3 mine:4 b:7", "n:0 a:3 mine:4 b:7"),
        // Behind the rest, one that comes alone needs no number. Its host puts it there.
        ("a b", "a b n", "a b", "a:0 b:1 n:"),
        ("a b", "a b n m", "a b", "a:0 b:1 n:2 m:3"),
        // The order of the items may not be that of their numbers.
        ("a b", "a n b", "b:1 a:0", "a:0 n:1 b:2"),
        ("a b", "a b", "b:1 a:0", "b:1 a:0"),
    ] {
        assert_eq!(numbered(original, updated, dest), want, "{original} {updated} {dest}");
    }
}
