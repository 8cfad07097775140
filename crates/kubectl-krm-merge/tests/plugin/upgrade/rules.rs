//! The `.krm-merge.yaml` of a package: its rules count in every run, and no one else writes it.

use super::repository::{Upstream, commit};
use crate::support::{Folder, map};

fn upstream(folder: &Folder) -> Upstream {
    let upstream = Upstream::new(folder, "up.git");
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2"), ("'2'", "v3")] {
        let other = format!("'{tag}'");
        let files = vec![("d/a.yaml".to_owned(), map("a", &[("v", value), ("w", &other)]))];
        upstream.release(&files, tag);
    }
    upstream
}

#[test]
fn a_recorded_decision_holds_in_the_next_run_without_a_flag() {
    for has_kptfile in [false, true] {
        let folder = Folder::new();
        let upstream = upstream(&folder);
        folder.run(&["get", &upstream.source("d@v1"), "mine/d"]).passed();
        if has_kptfile {
            let record = folder.read("mine/d/.krm-merge.yaml");
            let (_, record) = record.split_once("mode: ThreeWay\n").expect("the record");
            let record: String =
                record.lines().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect();
            folder.write(
                "mine/d/Kptfile",
                format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: d\n{record}"),
            );
            std::fs::remove_file(folder.path("mine/d/.krm-merge.yaml")).expect("removed");
        }
        folder.write("mine/d/a.yaml", map("a", &[("v", "ours"), ("w", "'v1'")]));
        commit(&folder.path("mine"), "edit");
        folder.run(&["upgrade", "mine/d", "--to", "v2"]).failed(1);
        let told = folder.run(&["resolve", "mine/d", "--take", "ours", "--record"]).passed();
        assert!(told.contains("recorded 1 decision in mine/d/.krm-merge.yaml"), "{told}");
        let rules = folder.read("mine/d/.krm-merge.yaml");
        assert!(rules.contains("take: Dest") && rules.contains("local-config"), "{rules}");
        let record = folder.read(if has_kptfile { "mine/d/Kptfile" } else { "mine/d/.krm-merge.yaml" });
        assert!(record.contains("ref: v2"), "{record}");
        // The same upgrade again, and the next one.
        folder.run(&["upgrade", "mine/d", "--allow-dirty", "--from", "v1", "--to", "v2"]).passed();
        assert_eq!(folder.read("mine/d/a.yaml"), map("a", &[("v", "ours"), ("w", "'v2'")]));
        folder.run(&["upgrade", "mine/d", "--allow-dirty"]).passed();
        assert_eq!(folder.read("mine/d/a.yaml"), map("a", &[("v", "ours"), ("w", "'v3'")]));
    }
}

#[test]
fn record_finds_the_package_by_what_it_resolves() {
    let folder = Folder::new();
    let upstream = upstream(&folder);
    for name in ["p", "q"] {
        folder.run(&["get", &upstream.source("d@v1"), name]).passed();
        folder.write(&format!("{name}/a.yaml"), map("a", &[("v", "ours"), ("w", "'v1'")]));
        folder.run(&["upgrade", name, "--allow-dirty", "--to", "v2"]).failed(1);
    }
    let told = folder.run(&["resolve", "p", "q", "--take", "ours", "--record"]).failed(2);
    assert!(told.contains("several packages"), "{told}");
    let told = folder.run(&["resolve", "--take", "ours", "--record", "q"]).passed();
    assert!(told.contains("recorded 1 decision in q/.krm-merge.yaml"), "{told}");
    assert!(folder.read("p/a.yaml").contains("<<<<<<<"));
    folder.write("r/a.yaml", folder.read("p/a.yaml"));
    let told = folder.run(&["resolve", "r", "--take", "ours", "--record"]).failed(2);
    assert!(told.contains("`--record` must name a file"), "{told}");
    let mut command = folder.command(&["resolve", "a.yaml", "--take", "theirs", "--record"]);
    let told = crate::support::Ran::of(command.current_dir(folder.path("p")).output().expect("runs")).passed();
    assert!(told.contains("recorded 1 decision in .krm-merge.yaml"), "{told}");
}

const RULES: &str = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules:\n  - take: Dest\n  mergeKeys:\n  - {apiVersion: e.x/v1, kind: T, path: l, keys: [id]}\n";

#[test]
fn every_run_on_a_package_uses_its_rules() {
    let list = |ids: &[&str]| {
        let items: String = ids.iter().map(|id| format!("- {{id: {id}, v: 1}}\n")).collect();
        format!("apiVersion: e.x/v1\nkind: T\nmetadata:\n  name: t\nl:\n{items}")
    };
    let folder = Folder::new();
    folder.write("old/a.yaml", map("a", &[("v", "'1'")]));
    folder.write("new/a.yaml", map("a", &[("v", "'2'")]));
    folder.write("p/a.yaml", map("a", &[("v", "ours")]));
    folder.write("p/t.yaml", list(&["x"]));
    folder.write("p/.krm-merge.yaml", RULES);
    folder.write("source/t.yaml", list(&["y"]));
    let three = ["three-way", "--original", "old", "--updated", "new", "--dest", "p"];
    assert!(folder.run(&three).passed().contains("v: ours"));
    // A flag counts before the rules of a package, but not before a rule for a place.
    assert!(folder.run(&[&three[..], &["--on-conflict", "take-updated"]].concat()).passed().contains("v: ours"));
    let two = folder.run(&["two-way", "--source", "source", "--dest", "p"]).passed();
    assert!(two.contains("{id: x, v: 1}") && two.contains("{id: y, v: 1}") && !two.contains("kind: Merge"), "{two}");
    folder.write("p/.krm-merge.yaml", RULES.replace("spec:\n", "spec:\n  mode: TwoWay\n"));
    let told = folder.run(&three).failed(2);
    assert!(
        told.starts_with("error: p/.krm-merge.yaml:4:9: `spec.mode` must be `ThreeWay`")
            || told.contains("must not be given"),
        "{told}"
    );
    folder.write("p/.krm-merge.yaml", "a: [\n");
    assert!(folder.run(&three).failed(2).starts_with("error: p/.krm-merge.yaml:1:4"));
}

#[test]
fn no_merge_takes_rules_from_another_side() {
    let folder = Folder::new();
    folder.write("old/a.yaml", map("a", &[("v", "'1'")]));
    folder.write("new/a.yaml", map("a", &[("v", "'2'")]));
    folder.write("new/.krm-merge.yaml", RULES);
    folder.write("new/sub/.Krm-Merge.yaml", RULES.replace("spec:", "metadata: {name: x}\nspec:"));
    folder.write("p/a.yaml", map("a", &[("v", "'1'")]));
    folder.run(&["three-way", "--original", "old", "--updated", "new", "--dest", "p", "--in-place"]).passed();
    assert_eq!(folder.files("p").into_keys().collect::<Vec<_>>(), ["a.yaml"]);
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  annotations: {config.kubernetes.io/path: .krm-merge.yaml}\n";
    let told = folder.run_with(text, &["two-way", "--source", "-", "--dest", "p", "--in-place"]).failed(2);
    assert!(told.contains("must not be `.krmignore` or `.krm-merge.yaml`"), "{told}");
}
