//! What upstream brings along besides resources: it never comes without a word, and rules of a package never come.

use crate::support::{Folder, map};

const MERGE: [&str; 8] = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place"];

#[test]
fn files_that_git_or_a_host_obeys_are_told_and_rules_never_come() {
    let names =
        [".gitattributes", ".gitmodules", ".github/workflows/a.yaml", "sub/.krmignore", "sub/.GitHub/CODEOWNERS"];
    for change in ["added", "changed", "deleted"] {
        let folder = Folder::new();
        for side in ["v1", "v2", "here"] {
            folder.write(&format!("{side}/a.yaml"), map("a", &[("x", "'1'")]));
            let text = if side == "v2" { "two\n" } else { "one\n" };
            let is_there = if side == "v2" { change != "deleted" } else { change != "added" };
            names.iter().filter(|_| is_there).for_each(|name| folder.write(&format!("{side}/{name}"), text));
        }
        folder.write("v2/.krm-merge.yaml", map("rules", &[]));
        folder.write("v2/sub/.krm-merge.yaml", "spec: {}\n");
        let ran = folder.run(&MERGE);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        for name in names {
            let want = format!("warning: {name}: upstream changed this file, which git, GitHub or krm-merge obeys");
            assert_eq!(ran.stderr.matches(&want).count(), 1, "{change} {name}: {}", ran.stderr);
        }
        assert!(!folder.path("here/.krm-merge.yaml").exists() && !folder.path("here/sub/.krm-merge.yaml").exists());
    }
}

#[test]
fn a_resource_that_upstream_makes_a_side_of_a_merge_is_told() {
    let side = |name: &str| {
        map(name, &[]).replace("metadata:", "metadata:\n  annotations: {config.kubernetes.io/merge-source: updated}")
    };
    let plain = map("a", &[]);
    for (original, updated, is_told) in
        [(&plain, side("a"), true), (&plain, side("b"), true), (&side("a"), side("a"), false)]
    {
        let folder = Folder::new();
        for (of, text) in [("v1", original), ("v2", &updated), ("here", original)] {
            folder.write(&format!("{of}/a.yaml"), text);
        }
        let told = folder.run(&MERGE).stderr;
        assert_eq!(
            told.contains("`config.kubernetes.io/merge-source: updated`, with which a function uses"),
            is_told,
            "{told}"
        );
    }
}
