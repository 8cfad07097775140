//! Upstreams, addresses and records that are made to do harm; and runs beside each other.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::good;
use super::repository::{Upstream, commit, git};
use crate::support::{Folder, Ran, map};

/// A commit of a bare repository with these lines of `git mktree`, in a folder `d`, and a tag for it.
pub fn tree(upstream: &Upstream, lines: &str, tag: &str) {
    let made = |input: &str, args: &[&str]| {
        let mut git = Command::new("git");
        git.args(args).current_dir(&upstream.bare).stdin(Stdio::piped()).stdout(Stdio::piped());
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "me").env(format!("GIT_{who}_EMAIL"), "me@example.com");
        }
        let mut child = git.spawn().expect("git runs");
        std::io::Write::write_all(&mut child.stdin.take().expect("piped"), input.as_bytes()).expect("written");
        let output = child.wait_with_output().expect("git ends");
        assert!(output.status.success(), "{args:?}: {lines}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    };
    let blob = made(&map("x", &[("v", "evil")]), &["hash-object", "-w", "--stdin"]);
    let within = made("b.yaml", &["hash-object", "-w", "--stdin"]);
    let folder = made(&lines.replace("BLOB", &blob).replace("WITHIN", &within), &["mktree", "--missing"]);
    let root = made(&format!("040000 tree {folder}\td\n"), &["mktree"]);
    let commit = made("evil\n", &["commit-tree", &root]);
    git(&upstream.bare, &["tag", "--force", tag, &commit]);
}

#[test]
fn a_tree_writes_nothing_outside_of_the_package_and_nothing_that_git_runs() {
    let folder = Folder::new();
    let upstream = good(&folder);
    folder.run(&["get", &upstream.source("d@v1"), "p"]).passed();
    let before = folder.files("p");
    let refused = [
        ("100644 blob BLOB\t..\n", "must lie within"),
        (
            "040000 tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\t..\n100644 blob BLOB\ta\\..\\..\\x\n",
            "must lie within",
        ),
        ("100644 blob BLOB\ta.yaml\n100644 blob BLOB\tA.yaml\n", "differ in more than case"),
    ];
    for (at, (lines, want)) in refused.iter().enumerate() {
        tree(&upstream, lines, &format!("v2.0.{at}"));
        let told = folder.run(&["upgrade", "p"]).failed(2);
        assert!(told.contains(want), "{lines}: {told}");
        assert_eq!(folder.files("p"), before, "{lines}");
        folder.run(&["get", &upstream.source(&format!("d@v2.0.{at}")), "q"]).failed(2);
        assert!(!folder.path("q").exists(), "{lines}");
    }
    // These are left out.
    let left = "100644 blob BLOB\t.git\n100644 blob BLOB\tgit~1\n120000 blob BLOB\tlink\n120000 blob WITHIN\twithin\n160000 commit 5a3e1b0c9d8f7e6a5b4c3d2e1f0a9b8c7d6e5f4a\tmodule\n100644 blob BLOB\tb.yaml\n100644 blob BLOB\t.krm-merge.yaml\n";
    tree(&upstream, left, "v3");
    let ran = folder.run(&["get", &upstream.source("d@v3"), "q"]);
    assert!(
        ["link", "module", "within"].iter().all(|left| ran.stderr.contains(&format!("warning: {left}: not copied"))),
        "{ran:?}"
    );
    assert_eq!(folder.files("q").into_keys().collect::<Vec<_>>(), [".krm-merge.yaml", "b.yaml"]);
    assert!(folder.read("q/.krm-merge.yaml").contains("upstreamLock"));
    let ran = folder.run(&["upgrade", "p", "--on-conflict", "take-updated"]);
    assert!(ran.stderr.contains("link: not read"), "{ran:?}");
    ran.passed();
    assert_eq!(folder.files("p").into_keys().collect::<Vec<_>>(), [".krm-merge.yaml", "b.yaml"]);
}

#[test]
fn a_record_of_upstream_is_not_taken() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let kptfile = |more: &str| format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: d\n{more}");
    let evil = "upstream:\n  type: git\n  git: {repo: https://example.com/evil, directory: /, ref: v9}\nupstreamLock:\n  type: git\n  git: {repo: https://example.com/evil, directory: /, ref: v9, commit: 5a3e1b0c9d8f7e6a5b4c3d2e1f0a9b8c7d6e5f4a}\n";
    let rules = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  upstream: {run: [touch, evil]}\n  rules: [{take: Updated}]\n";
    let release = |tag: &str, kpt: &str| {
        let files = [
            ("d/Kptfile", kptfile(kpt)),
            ("d/a.yaml", map("a", &[("v", tag)])),
            ("d/.krm-merge.yaml", rules.to_owned()),
        ];
        upstream.release(&files.map(|(path, text)| (path.to_owned(), text)), tag);
    };
    release("v1", evil);
    release("v2", &format!("info:\n  description: new\n{evil}"));
    release("v3", "pipeline:\n  mutators: [a: [\n");
    folder.run(&["get", &upstream.source("d@v1"), "p"]).passed();
    for (tag, want) in [("v1", ""), ("v2", "description: new"), ("v3", "")] {
        folder.run(&["upgrade", "p", "--allow-exec", "--to", tag]).passed();
        let record = folder.read("p/Kptfile");
        assert!(
            !record.contains("evil") && record.matches(&format!("ref: {tag}\n")).count() == 2 && record.contains(want),
            "{record}"
        );
        assert_eq!(folder.files("p").len(), 2);
    }
    assert!(!folder.path("evil").exists() && !folder.path("p/evil").exists());
}

#[test]
fn an_address_or_a_record_gives_git_no_option_and_no_program() {
    let folder = Folder::new();
    folder.write("p/a.yaml", map("a", &[("v", "'1'")]));
    let touch = folder.path("evil").display().to_string();
    for address in [
        format!("--upload-pack=touch {touch}.git/d@v1"),
        format!("ext::touch {touch}.git/d@v1"),
        format!("-c{touch}.git/d@v1"),
        format!("https://-oProxyCommand=touch {touch}/x.git/d@v1"),
        format!("ssh://-oProxyCommand=touch {touch}/x.git/d@v1"),
        "file:///x\n.git/d@v1".to_owned(),
        "up.git/d@--output=x".to_owned(),
        "up.git/d@a\nb".to_owned(),
        "up.git/../../d@v1".to_owned(),
    ] {
        folder.run(&["get", "--", &address]).failed(2);
        folder.run(&["upgrade", "p", &format!("--upstream={address}"), "--from", "v1"]).failed(2);
        folder.run(&["diff", "--", &address, "p"]).failed(2);
        for (field, value) in address
            .rsplit_once(".git/d@")
            .map(|(repo, name)| [("repo", repo.to_owned()), ("ref", name.to_owned())])
            .into_iter()
            .flatten()
        {
            let quoted = serde_json::Value::from(value).to_string();
            let [repo, name] = if field == "repo" { [quoted.as_str(), "v1"] } else { ["up", quoted.as_str()] };
            folder.write("k/Kptfile", format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {{name: k}}\nupstream:\n  type: git\n  git: {{repo: {repo}, directory: d, ref: {name}}}\n"));
            folder.run(&["upgrade", "k"]).failed(2);
        }
        assert!(!folder.path("evil").exists(), "{address}");
    }
    // What the user's configuration forbids stays forbidden.
    let upstream = good(&folder);
    let mut command = folder.command(&["get", &upstream.source("d@v1"), "q"]);
    let told = Ran::of(command.env("GIT_ALLOW_PROTOCOL", "https").output().expect("the plugin runs")).failed(2);
    assert!(told.contains("transport 'file' not allowed"), "{told}");
}

#[test]
fn the_cache_is_for_the_user_alone() {
    let folder = Folder::new();
    folder.run(&["get", &good(&folder).source("d@v1"), "p"]).passed();
    let found = fs::metadata(folder.path(".cache/krm-merge")).expect("a cache");
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777, 0o700);
}

#[test]
fn no_hook_of_the_user_or_of_a_template_runs() {
    let folder = Folder::new();
    let upstream = good(&folder);
    let hook = format!("#!/bin/sh\ntouch {}\n", folder.path("evil").display());
    for name in ["post-checkout", "reference-transaction", "pre-auto-gc", "post-index-change"] {
        folder.write(&format!("hooks/{name}"), &hook);
        folder.write(&format!("template/hooks/{name}"), &hook);
        for file in [format!("hooks/{name}"), format!("template/hooks/{name}")] {
            fs::set_permissions(folder.path(&file), std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .expect("allowed");
        }
    }
    let config = format!("[core]\n\thooksPath = {0}/hooks\n[init]\n\ttemplateDir = {0}/template\n", folder.0.display());
    folder.write("config", config);
    let mut command = folder.command(&["get", &upstream.source("d@v1"), "p"]);
    Ran::of(command.env("GIT_CONFIG_GLOBAL", folder.path("config")).output().expect("the plugin runs")).passed();
    assert!(!folder.path("evil").exists());
}

#[test]
fn a_file_of_100_megabytes_is_refused_by_its_name() {
    let folder = Folder::new();
    let upstream = good(&folder);
    folder.run(&["get", &upstream.source("d@v1"), "p"]).passed();
    let before = folder.files("p");
    let large = "# a comment\n".repeat(100 * 1024 * 1024 / 12);
    upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", "'2'")])), ("d/large.yaml".to_owned(), large)], "v2");
    let told = folder.run(&["upgrade", "p"]).failed(2);
    assert!(told.contains("large.yaml: a file of a release must have at most 67108864 bytes"), "{told}");
    assert_eq!(folder.files("p"), before);
}

#[test]
fn a_file_counts_under_each_of_its_names() {
    let folder = Folder::new();
    let upstream = good(&folder);
    folder.write("large", "# c\n".repeat(2 * 1024 * 1024));
    let large = git(&upstream.bare, &["hash-object", "-w", &folder.path("large").display().to_string()]);
    let lines =
        |count: usize| -> String { (0..count).map(|at| format!("100644 blob {large}\tx{at:02}.txt\n")).collect() };
    tree(&upstream, &format!("100644 blob BLOB\ta.yaml\n{}", lines(40)), "v2");
    // 40 times 8 MiB would not fit into this memory, and git holds 24 KiB.
    let script = "ulimit -v 500000; exec \"$0\" get \"$1\" q";
    let mut sh = Command::new("sh");
    sh.args(["-c", script, env!("CARGO_BIN_EXE_kubectl-krm_merge"), &upstream.source("d@v2")]);
    sh.current_dir(&folder.0).env("XDG_CACHE_HOME", folder.path(".cache"));
    let told = Ran::of(sh.output().expect("a shell")).failed(2);
    assert!(told.contains("d@v2: x31.txt: the files of a release must have at most 268435456 bytes"), "{told}");
    assert!(!folder.path("q").exists());
}

#[test]
fn a_tag_that_moved_is_told_and_taken_only_by_its_name() {
    let folder = Folder::new();
    let upstream = good(&folder);
    folder.run(&["get", &upstream.source("d@v1"), "p"]).passed();
    let before = folder.files("p");
    upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", "moved")]))], "v1");
    let ran = folder.run(&["upgrade", "p"]);
    assert!(
        ran.stderr.contains("warning: p: the tag v1 of") && ran.stderr.contains("`--to v1` takes the new one"),
        "{ran:?}"
    );
    ran.passed();
    assert_eq!(folder.files("p"), before);
    folder.run(&["upgrade", "p", "--to", "v1"]).passed();
    assert!(
        folder.read("p/a.yaml").contains("moved") && folder.read("p/.krm-merge.yaml").contains(&upstream.commit("v1"))
    );
}

fn started(folder: &Folder, args: &[&str]) -> Child {
    folder.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the plugin runs")
}

/// An upstream of two releases with many files.
pub fn large(folder: &Folder) -> Upstream {
    let upstream = Upstream::new(folder, "up.git");
    for value in ["'1'", "'2'"] {
        let files: Vec<_> =
            (0..150).map(|at| (format!("d/c{at}.yaml"), map(&format!("c{at}"), &[("v", value)]))).collect();
        upstream.release(&files, &format!("v{}", value.trim_matches('\'')));
    }
    upstream
}

/// What is wrong with a cache, and how it comes to be.
type Spoil = (&'static str, fn(&Path));

#[test]
fn what_a_killed_git_leaves_in_the_cache_does_not_stop_the_next_run() {
    let folder = Folder::new();
    let upstream = good(&folder);
    folder.run(&["get", &upstream.source("d@v1"), "p"]).passed();
    let cache = fs::read_dir(folder.path(".cache/krm-merge/git"))
        .expect("a cache")
        .map(|entry| entry.expect("an entry").path());
    let cache = cache.into_iter().find(|path| path.is_dir()).expect("a repository");
    let spoil: [Spoil; 4] = [
        ("a lock", |cache| fs::write(cache.join("shallow.lock"), "").expect("written")),
        ("no list of commits without history", |cache| _ = fs::remove_file(cache.join("shallow"))),
        ("no objects", |cache| fs::remove_dir_all(cache.join("objects/pack")).expect("removed")),
        ("no repository", |cache| fs::remove_file(cache.join("HEAD")).expect("removed")),
    ];
    for (number, (what, spoil)) in spoil.iter().enumerate() {
        spoil(&cache);
        let tag = format!("v{}", number + 2);
        upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", &tag)]))], &tag);
        let ran = folder.run(&["upgrade", "p"]);
        assert_eq!(ran.code, Some(0), "{what}: {ran:?}");
        assert!(folder.read("p/a.yaml").contains(&tag), "{what}");
    }
}

#[test]
fn two_runs_at_once_share_the_cache_and_do_not_mix_in_a_package() {
    let folder = Folder::new();
    let upstream = large(&folder);
    let names: Vec<String> = (0..6).map(|at| format!("p{at}")).collect();
    let source = upstream.source("d@v1");
    let runs: Vec<Child> = names.iter().map(|name| started(&folder, &["get", &source, name])).collect();
    for run in runs {
        Ran::of(run.wait_with_output().expect("ended")).passed();
    }
    let runs: Vec<Child> = (0..6).map(|_| started(&folder, &["upgrade", "p0"])).collect();
    let ends: Vec<Ran> = runs.into_iter().map(|run| Ran::of(run.wait_with_output().expect("ended"))).collect();
    assert!(ends.iter().any(|end| end.code == Some(0)), "{ends:?}");
    assert!(
        folder
            .files("p0")
            .iter()
            .all(|(path, text)| !path.starts_with('c') || String::from_utf8_lossy(text).contains("'2'"))
    );
    assert!(folder.read("p0/.krm-merge.yaml").contains("ref: v2"));
    commit(&folder.path("p0"), "done");
    folder.run(&["upgrade", "p0"]).passed();
}
