//! Attacks of several kinds at once: an address, a reference, a tree, a record, a configuration and an environment.
//!
//! Each run takes some of them at random; `KRM_MERGE_LAWS=N` takes N times as many. Whatever comes together, no program runs, nothing is
//! written outside of the package, nobody is asked, and an error says why.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::attacks::tree;
use super::random::Random;
use super::repository::{Upstream, commit, git};
use crate::support::{Folder, Ran, laws, map, seed};

/// Repositories. `GOOD` is one that is there, `RUN` a program that must not run, and `BARE` a folder of the clone that is a repository.
const ADDRESSES: [&str; 14] = [
    "GOOD",
    "GOOD",
    "BARE",
    ".git",
    "./.git",
    "ext::RUN",
    "ext::sh -c RUN% x",
    "fd::17",
    "--upload-pack=RUN",
    "-oProxyCommand=RUN",
    "ssh://-oProxyCommand=RUN/x",
    "file://RUN",
    "../../../../..",
    "https://user:secret-1@127.0.0.1:1/x",
];

const REFERENCES: [&str; 10] = [
    "v2",
    "v2",
    "refs/heads/main",
    "--output=ran",
    "-v2",
    "v2:a.yaml",
    "@{-1}",
    "v2^{/x}",
    "../v2",
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
];

/// The lines of a tree, as in [`tree`].
const TREES: [&str; 8] = [
    "100644 blob BLOB\ta.yaml\n",
    "100644 blob BLOB\ta.yaml\n100755 blob BLOB\t.git\n",
    "100644 blob BLOB\t..\n",
    "100644 blob BLOB\ta.yaml\n120000 blob BLOB\tKptfile\n",
    "100644 blob BLOB\ta.yaml\n100644 blob BLOB\tKptfile\n",
    "100644 blob BLOB\ta.yaml\n100644 blob BLOB\t.KRM-merge.yaml\n",
    "100644 blob BLOB\ta.yaml\n100644 blob BLOB\tA.yaml\n",
    "160000 commit 5a3e1b0c9d8f7e6a5b4c3d2e1f0a9b8c7d6e5f4a\ta.yaml\n",
];

/// Records. `ADDRESS` and `REF` are those of the attack.
const RECORDS: [&str; 6] = [
    "upstream:\n  git: {repo: 'ADDRESS', directory: /d, ref: 'REF'}\n",
    "upstream:\n  git: {repo: 'ADDRESS', directory: /d, ref: 'REF'}\nupstreamLock:\n  git: {repo: 'ADDRESS', directory: /d, ref: v1, commit: COMMIT}\n",
    "upstream:\n  git: {repo: 'GOOD', directory: /d, ref: v1}\nupstreamLock:\n  git: {repo: 'ADDRESS', directory: /../d, ref: 'REF', commit: COMMIT}\n",
    "upstream:\n  git: {repo: 'GOOD', directory: /d, ref: v1}\nupstreamLock:\n  git: {repo: 'ADDRESS', directory: /d, ref: 'REF', commit: COMMIT}\n",
    "upstream:\n  run: [RUN]\n",
    "upstream:\n  run: [cat, RUN]\n  ref: 'REF'\nupstreamLock: {ref: v1, sha256: COMMIT}\n",
];

const CONFIGS: [&str; 5] = [
    "",
    "[core]\n\tfsmonitor = RUN\n\tsshCommand = RUN\n\tpager = RUN\n\tgitProxy = RUN\n",
    "[filter \"x\"]\n\tclean = RUN\n\tsmudge = RUN\n\tprocess = RUN\n",
    "[credential]\n\thelper = RUN\n[core]\n\taskPass = RUN\n\teditor = RUN\n[url \"ext::RUN\"]\n\tinsteadOf = file://\n\tinsteadOf = /\n",
    "[remote \"origin\"]\n\turl = .\n\tpromisor = true\n\tuploadpack = RUN\n[extensions]\n\tpartialClone = origin\n[include]\n\tpath = RUN\n",
];

/// Variables that lead git elsewhere. `BARE` and `RUN` are as in an address.
const ENVIRONMENTS: [&[(&str, &str)]; 5] = [
    &[],
    &[("GIT_DIR", "BARE"), ("GIT_WORK_TREE", "/")],
    &[("GIT_INDEX_FILE", "RUN"), ("GIT_OBJECT_DIRECTORY", "/nowhere")],
    &[("GIT_EXTERNAL_DIFF", "RUN"), ("GIT_PAGER", "RUN"), ("PAGER", "RUN"), ("GIT_EDITOR", "RUN")],
    &[("GIT_COMMON_DIR", "BARE"), ("GIT_ALTERNATE_OBJECT_DIRECTORIES", "BARE/objects"), ("GIT_NAMESPACE", "x")],
];

/// All files of a folder but those of the cache, of one package and of git.
fn others(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let is_own = |path: &str| [".cache/", "mine/p/", "mine/new/"].iter().any(|own| path.starts_with(own));
    folder.files(".").into_iter().filter(|(path, _)| !is_own(path)).collect()
}

#[test]
fn attacks_of_several_kinds_at_once_run_and_write_nothing() {
    let random = &mut Random(seed());
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", "'1'")]))], "v1");
    let run = folder.path("program").display().to_string();
    folder.write("program", format!("#!/bin/sh\n: >{}\ncat\n", folder.path("ran").display()));
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).expect("allowed");
    let bare = folder.path("mine/bare").display().to_string();
    for _ in 0..40 * laws() {
        let _ = fs::remove_dir_all(folder.path("mine"));
        let [address, reference, lines] = [random.of(&ADDRESSES), random.of(&REFERENCES), random.of(&TREES)];
        tree(&upstream, lines, "v2");
        let filled = |text: &str| {
            let text = text.replace("ADDRESS", address).replace("REF", reference);
            let text = text.replace("COMMIT", &upstream.commit("v1")).replace("GOOD", &upstream.source(""));
            text.replace("RUN", &run).replace("BARE", &bare)
        };
        let record = filled(random.of(&RECORDS));
        let record: String = record.lines().map(|line| format!("  {line}\n")).collect();
        folder.write("mine/p/a.yaml", map("a", &[("v", "'1'")]));
        folder.write(
            "mine/p/.krm-merge.yaml",
            format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n{record}"),
        );
        folder.write("mine/.gitattributes", "* filter=x diff=x\n");
        git(&folder.path("mine"), &["init", "--quiet", "--bare", "--template=", "bare"]);
        commit(&folder.path("mine"), "begin");
        let config = folder.read("mine/.git/config") + &filled(random.of(&CONFIGS));
        folder.write("mine/.git/config", &config);
        folder.write("mine/bare/config", config.replace("bare = false", "bare = true"));
        folder.write("mine/p/a.yaml", map("a", &[("v", "'1'")]));
        let before = others(&folder);
        let source = format!("{}.git/d@{}", filled(address), filled(reference));
        let upstream_flag = format!("--upstream={source}");
        for args in [
            &["get", "--", &source, "new"][..],
            &["diff", "--", &source, "p"],
            &["upgrade", "p", "--check"],
            &["upgrade", "p"],
            &["upgrade", "p", "--allow-dirty", &upstream_flag, "--from", "v1"],
        ] {
            let mut command = folder.command(args);
            for (name, value) in random.of(&ENVIRONMENTS) {
                command.env(name, filled(value));
            }
            command.current_dir(folder.path("mine")).stdout(Stdio::piped()).stderr(Stdio::piped());
            let start = Instant::now();
            let ran = Ran::of(command.output().expect("the plugin runs"));
            let what = || format!("{args:?}\n{record}\n{config}\n{ran:?}");
            assert!(start.elapsed() < Duration::from_secs(20), "{}", what());
            assert!(matches!(ran.code, Some(0..=2)), "{}", what());
            assert!(ran.code != Some(2) || ran.stderr.contains("error: "), "{}", what());
            assert!(!folder.path("ran").exists(), "a program ran: {}", what());
            assert!(!format!("{ran:?}").contains("secret-1"), "{}", what());
            assert_eq!(others(&folder), before, "{}", what());
        }
    }
}
