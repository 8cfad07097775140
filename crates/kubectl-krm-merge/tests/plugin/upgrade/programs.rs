//! No program that a repository names is run by a look at it.
//!
//! All that git's documentation knows to name a program stands in the configuration of a repository that a stranger made. Each of the
//! programs writes a file, which must not be there after any command.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::repository::{Upstream, commit, git};
use crate::support::{Folder, map};

/// The keys that name a program. `x` stands for any name.
const KEYS: [&str; 61] = [
    "alias.status",
    "browser.x.cmd",
    "browser.x.path",
    "core.alternateRefsCommand",
    "core.askPass",
    "core.editor",
    "core.fsmonitor",
    "core.gitProxy",
    "core.hooksPath",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "credential.https://example.com.helper",
    "diff.x.command",
    "diff.x.textconv",
    "diff.external",
    "difftool.x.cmd",
    "difftool.x.path",
    "filter.x.clean",
    "filter.x.smudge",
    "filter.x.process",
    "gc.recentObjectsHook",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "guitool.x.cmd",
    "imap.tunnel",
    "instaweb.browser",
    "instaweb.httpd",
    "interactive.diffFilter",
    "man.x.cmd",
    "man.x.path",
    "merge.x.driver",
    "merge.krm-merge.driver",
    "mergetool.x.cmd",
    "mergetool.x.path",
    "pager.status",
    "pager.log",
    "pager.config",
    "pager.ls-files",
    "remote.origin.receivepack",
    "remote.origin.uploadpack",
    "remote.origin.vcs",
    "sendemail.ccCmd",
    "sendemail.headerCmd",
    "sendemail.smtpServer",
    "sendemail.toCmd",
    "sequence.editor",
    "submodule.x.update",
    "tar.x.command",
    "trailer.x.cmd",
    "trailer.x.command",
    "uploadpack.packObjectsHook",
    "web.browser",
    // These lead to programs.
    "gitcvs.dbDriver",
    "help.browser",
    "include.path",
    "init.templateDir",
    "core.attributesFile",
    "url.ext::touch.insteadOf",
    "hook.x.command",
];

/// Beginnings of keys that sound as if they named a program, and do not.
const HARMLESS: [&str; 27] = [
    "advice.",
    "bundle.",
    "clean.requireForce",
    "color.",
    "column.",
    "commit.cleanup",
    "completion.commands",
    "diff.<driver>.",
    "feature.",
    "fetch.fsck.",
    "fsck.",
    "guitool.<name>.",
    "http.<url>.",
    "maintenance.",
    "mergetool.",
    "notes.",
    "pack.",
    "pretty.<name>",
    "rebase.",
    "receive.",
    "remotes.<group>",
    "repack.",
    "submodule.<name>.active",
    "trace2.",
    "transfer.",
    "uploadpackfilter.",
    "versionsort.",
];

#[test]
fn the_table_has_each_key_of_git_that_names_a_program() {
    let told = Command::new("git").args(["help", "--config"]).output().expect("git runs").stdout;
    let sounds = [
        "cmd",
        "command",
        "program",
        "helper",
        "pager",
        "editor",
        "hook",
        "driver",
        "textconv",
        "clean",
        "smudge",
        "process",
        "askpass",
        "pack",
        "fsmonitor",
        "vcs",
        "external",
        "browser",
        "tunnel",
        "httpd",
        "smtpserver",
        "*",
        ">",
    ];
    fn ends(key: &str) -> [&str; 2] {
        [key.split('.').next().unwrap_or(key), key.rsplit('.').next().unwrap_or(key)]
    }
    let is_known = |key: &str| {
        let [first, last] = ends(key);
        KEYS.iter()
            .map(|known| ends(known))
            .any(|known| known[0] == first && (known[1] == last || last.ends_with(['*', '>'])))
    };
    let told = String::from_utf8_lossy(&told).into_owned();
    let names = |key: &&str| sounds.iter().any(|sound| ends(key)[1].to_lowercase().ends_with(sound));
    let harmless = |key: &&str| HARMLESS.iter().any(|harmless| key.starts_with(harmless));
    let unknown: Vec<&str> = told.lines().filter(|key| names(key) && !is_known(key) && !harmless(key)).collect();
    assert!(unknown.is_empty(), "these may name a program, so add them to a table: {unknown:?}");
    assert!(told.contains("core.sshCommand"), "git lists its keys");
}

/// A repository of a stranger: its `config` names a program at each key, its attributes use them, and its hooks are programs, too.
fn strangers(folder: &Folder) -> Upstream {
    let upstream = Upstream::new(folder, "up.git");
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2")] {
        upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", value)]))], tag);
    }
    folder.run(&["get", &upstream.source("d@v1"), "mine/d"]).passed();
    folder.write("mine/.gitattributes", "* filter=x diff=x merge=x\n");
    commit(&folder.path("mine"), "got");
    let mine = folder.path("mine");
    git(&mine, &["tag", "v1"]);
    let program = folder.path("program").display().to_string();
    folder.write("program", format!("#!/bin/sh\n: >{}\ncat\n", folder.path("ran").display()));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("allowed");
    for hook in ["post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"] {
        fs::create_dir_all(mine.join(".git/hooks")).expect("a folder");
        fs::copy(&program, mine.join(".git/hooks").join(hook)).expect("copied");
    }
    let mut config = fs::read_to_string(mine.join(".git/config")).expect("a config");
    for key in KEYS {
        let (section, name) = key.rsplit_once('.').expect("a section");
        let head = match section.split_once('.') {
            Some((section, of)) => format!("[{section} \"{of}\"]"),
            None => format!("[{section}]"),
        };
        let value = match key {
            "include.path" | "core.attributesFile" | "init.templateDir" | "core.hooksPath" => continue,
            "remote.origin.vcs" => "ext".to_owned(),
            "url.ext::touch.insteadOf" => "https://".to_owned(),
            "alias.status" | "submodule.x.update" => format!("!{program}"),
            _ => program.clone(),
        };
        config.push_str(&format!("{head}\n\t{name} = {value}\n"));
    }
    let promisor = "[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = .\n\tpromisor = true\n";
    fs::write(mine.join(".git/config"), config + promisor).expect("written");
    upstream
}

/// The time stamps of all files change, so that git looks into each.
fn touched(folder: &Folder) {
    for path in ["mine/d/a.yaml", "mine/d/.krm-merge.yaml", "mine/.gitattributes"] {
        let text = folder.read(path);
        folder.write(path, text);
    }
}

#[test]
fn no_program_that_the_repository_of_a_package_names_is_run() {
    let folder = Folder::new();
    let upstream = strangers(&folder);
    // git itself runs them, so the test can fail.
    touched(&folder);
    let mut plain = Command::new("git");
    plain.args(["status", "--porcelain"]).current_dir(folder.path("mine")).output().expect("git runs");
    assert!(folder.path("ran").exists(), "git runs what the config names");
    let new = upstream.source("d@v2");
    let gone = "b".repeat(40);
    let here = format!(".git/d@{gone}");
    for args in [
        &["upgrade", "d", "--check"][..],
        &["upgrade", "d", "-o", "diff"],
        &["upgrade", "d"],
        &["upgrade", "d", "--allow-dirty"],
        &["upgrade", "d", "--allow-dirty", "--upstream", ".git/d", "--from", "v1"],
        &["get", &new, "other"],
        &["get", ".git/d@v1", "more"],
        &["get", &here, "gone"],
        &["diff", ".git/d@v1", "d"],
        &["diff", "v1", "d"],
        &["three-way", "--original", ".git/d@v1", "--updated", &new, "--dest", "d", "-o", "name"],
        &["resolve", "--list"],
        &["git-history", "--all"],
    ] {
        let _ = fs::remove_file(folder.path("ran"));
        touched(&folder);
        let mut command = folder.command(args);
        let output = command.current_dir(folder.path("mine")).output().expect("the plugin runs");
        assert!(!folder.path("ran").exists(), "{args:?}: {output:?}");
    }
}

#[test]
fn a_filter_that_the_package_s_repository_names_does_not_hide_a_change() {
    let folder = Folder::new();
    strangers(&folder);
    // The filter would give git what it has.
    let committed = folder.read("mine/d/a.yaml");
    folder.write("committed", &committed);
    folder.write("program", format!("#!/bin/sh\ncat {}\n", folder.path("committed").display()));
    folder.write("mine/d/a.yaml", committed.replace("'1'", "ours"));
    let told = folder.run(&["upgrade", "mine/d"]).failed(2);
    assert!(told.contains("uncommitted changes in a.yaml. Commit all changes first"), "{told}");
}

#[test]
fn a_filter_whose_name_cannot_be_turned_off_stops_the_upgrade() {
    let folder = Folder::new();
    strangers(&folder);
    let config = folder.path("mine/.git/config");
    let own = fs::read(&config).expect("a config");
    for name in [&b"\xff"[..], b"a=b"] {
        let filter =
            [b"[filter \"", name, b"\"]\n\tclean = ", folder.path("program").display().to_string().as_bytes(), b"\n"]
                .concat();
        fs::write(&config, [&own[..], &filter].concat()).expect("written");
        let attributes = [b"* filter=", name, b"\n"].concat();
        for variables in [&[][..], &[("GIT_CONFIG", "/dev/null")]] {
            folder.write("mine/.gitattributes", "");
            touched(&folder);
            fs::write(folder.path("mine/.gitattributes"), &attributes).expect("written");
            let _ = fs::remove_file(folder.path("ran"));
            let mut command = folder.command(&["upgrade", "mine/d"]);
            let output = command.envs(variables.iter().copied()).output().expect("the plugin runs");
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            assert!(!folder.path("ran").exists(), "{output:?}");
        }
    }
}

/// Where a bare repository lies in a clone, and the settings of its `config`.
const EMBEDDED: [&str; 4] = [
    "[core]\n\tbare = true\n",
    "[core]\n\tbare = false\n\tworktree = .\n",
    "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tworktree = .\n\tfsmonitor = PROGRAM\n[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = .\n\tpromisor = true\n\tuploadpack = PROGRAM\n",
    "[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = PROGRAM\n\tsshCommand = PROGRAM\n",
];

#[test]
fn a_folder_of_a_clone_that_is_a_bare_repository_runs_nothing() {
    for (at, config) in EMBEDDED.iter().enumerate() {
        let folder = Folder::new();
        let program = format!(": >{}; cat", folder.path("ran").display());
        let evil = folder.path("evil/pkg");
        fs::create_dir_all(&evil).expect("a folder");
        git(&evil, &["init", "--quiet", "--bare", "--template="]);
        fs::write(evil.join("config"), config.replace("PROGRAM", &program)).expect("written");
        for keep in ["refs/heads/keep", "refs/tags/keep", "objects/keep"] {
            fs::write(evil.join(keep), "").expect("written");
        }
        folder.write("evil/pkg/a.yaml", map("a", &[("v", "'1'")]));
        let git_of = |commit: &str| format!("    git: {{repo: .git, directory: /d, ref: v1{commit}}}\n");
        let commit_of = format!(", commit: {}", "b".repeat(40));
        let rules = format!(
            "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  upstream:\n{}  upstreamLock:\n{}",
            git_of(""),
            git_of(&commit_of)
        );
        folder.write("evil/pkg/.krm-merge.yaml", rules);
        commit(&folder.path("evil"), "x");
        git(&folder.0, &["clone", "--quiet", "evil", "mine"]);
        assert!(folder.path("mine/pkg/HEAD").exists(), "git checks such a folder out");
        for (from, args) in [
            ("mine", &["upgrade", "pkg", "--check"][..]),
            ("mine", &["upgrade", "pkg", "-o", "diff"]),
            ("mine", &["upgrade", "pkg"]),
            ("mine", &["upgrade", "pkg", "--allow-dirty"]),
            ("mine/pkg", &["upgrade", "--check"]),
            ("mine/pkg", &["diff", ".git/d@v1", "a.yaml"]),
            ("mine/pkg", &["get", ".git/d@v1", "x"]),
        ] {
            let output = folder.command(args).current_dir(folder.path(from)).output().expect("the plugin runs");
            assert_eq!(output.status.code(), Some(2), "{at} {args:?}: {output:?}");
            assert!(!folder.path("ran").exists(), "{at} {args:?}: {output:?}");
        }
    }
}
