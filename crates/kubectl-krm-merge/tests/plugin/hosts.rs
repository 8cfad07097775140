//! The plugin under the real kubectl, beside the function under the real kpt, and what a package of it holds.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use crate::function;
use crate::support::{Folder, PLUGIN, Ran, has, map, root};

/// A folder with the plugin, to be put on PATH.
fn installed() -> (Folder, std::ffi::OsString) {
    let bin = Folder::new();
    symlink(PLUGIN, bin.path("kubectl-krm_merge")).expect("a link");
    let path = bin.first_on_path();
    (bin, path)
}

#[test]
fn kubectl_finds_the_plugin_and_passes_on_what_it_says() {
    if !has("kubectl") {
        return;
    }
    let (_bin, path) = installed();
    let folder = Folder::with(&[
        ("a.yaml", &map("a", &[("x", "'1'")])),
        ("v1.yaml", &map("a", &[("x", "'0'")])),
        ("v2.yaml", &map("a", &[("x", "'2'")])),
    ]);
    let kubectl = |args: &[&str]| {
        let mut command = Command::new("kubectl");
        command.args(args).current_dir(&folder.0).env("PATH", &path).stdin(Stdio::null());
        Ran::of(command.output().expect("kubectl"))
    };
    for name in ["krm-merge", "krm_merge"] {
        let upgrade = [name, "three-way", "--original", "v1.yaml", "--updated", "v2.yaml", "--dest", "a.yaml"];
        let with = |more: &[&'static str]| kubectl(&[&upgrade[..], more].concat());
        assert_eq!(with(&[]).passed(), map("a", &[("x", "'2'")]));
        let err = with(&["--on-conflict", "fail"]).failed(1);
        assert!(err.contains("both sides changed `data.x`: dest has"), "{err}");
        with(&["--exit-code"]).failed(1);
        assert!(kubectl(&[name, "--help"]).passed().contains("Usage: kubectl krm-merge <COMMAND>"));
        assert!(kubectl(&[name, "three-way", "-h"]).passed().contains("Usage: kubectl krm-merge three-way"));
        kubectl(&[name, "three-way"]).failed(2);
    }
    let listed = kubectl(&["plugin", "list"]).passed();
    assert!(listed.contains("kubectl-krm_merge"), "{listed}");
}

#[test]
fn there_is_a_man_page_for_the_plugin_and_for_each_command() {
    let folder = Folder::new();
    let page = folder.run(&["man"]).passed();
    assert!(
        page.contains(".TH kubectl-krm-merge 1") && page.contains("kubectl\\-krm\\-merge\\-three\\-way(1)"),
        "{page}"
    );
    assert!(page.contains("deploy@v1 my\\-package"), "the examples are in it");
    let page = folder.run(&["man", "three-way"]).passed();
    assert!(page.contains("\\-\\-on\\-conflict"), "{page}");
    for name in ["", "two-way", "three-way", "strategic", "live", "git-install", "git-driver", "completion", "man"] {
        let (args, suffix) =
            if name.is_empty() { (vec!["man"], "".into()) } else { (vec!["man", name], format!("-{name}")) };
        let want = format!(".TH kubectl-krm-merge{suffix} 1  \"kubectl-krm-merge {}\" \n", env!("CARGO_PKG_VERSION"));
        let page = folder.run(&args).passed();
        assert!(page.contains(&want), "{want}{page}");
    }
    assert!(folder.run(&["man", "five-way"]).failed(2).contains("five-way"));
}

#[test]
fn the_krew_manifest_has_the_shape_that_krew_wants() {
    let text = std::fs::read_to_string(root().join("plugin.yaml")).expect("plugin.yaml");
    let manifest: yaml_serde::Value = yaml_serde::from_str(&text).expect("YAML");
    let at = |path: &[&str]| {
        let found = path.iter().fold(&manifest, |value, key| &value[*key]);
        found.as_str().unwrap_or_else(|| panic!("{path:?} must be a string")).to_owned()
    };
    assert_eq!(at(&["apiVersion"]), "krew.googlecontainertools.github.com/v1alpha2");
    assert_eq!(at(&["kind"]), "Plugin");
    assert_eq!(at(&["metadata", "name"]), "krm-merge");
    assert_eq!(at(&["spec", "version"]), format!("v{}", env!("CARGO_PKG_VERSION")));
    assert!(at(&["spec", "shortDescription"]).len() <= 50, "krew's guide: one short line");
    assert!(at(&["spec", "homepage"]).starts_with("https://"));
    assert!(!at(&["spec", "description"]).is_empty());
    let mut platforms = BTreeMap::new();
    for platform in manifest["spec"]["platforms"].as_sequence().expect("platforms") {
        let label = |name: &str| platform["selector"]["matchLabels"][name].as_str().expect("a label").to_owned();
        let (os, arch) = (label("os"), label("arch"));
        let uri = platform["uri"].as_str().expect("a uri");
        assert!(uri.starts_with("https://") && uri.ends_with(&format!("{os}-{arch}.tar.gz")), "{uri}");
        assert!(uri.contains(&format!("/v{}/", env!("CARGO_PKG_VERSION"))), "{uri}");
        let sum = platform["sha256"].as_str().expect("a sum");
        assert!(sum.len() == 64 && sum.chars().all(|c| c.is_ascii_hexdigit()), "{sum}");
        assert_eq!(platform["bin"].as_str(), Some("kubectl-krm_merge"));
        assert!(platforms.insert((os, arch), ()).is_none(), "one for each platform");
    }
    assert_eq!(platforms.len(), 4);
}

#[test]
fn a_sign_of_life_is_on_a_terminal_only_and_after_a_second() {
    let folder = Folder::with(&[("a.yaml", &map("a", &[("x", "'1'")])), ("p.yaml", &map("a", &[("x", "'2'")]))]);
    let slow = format!("(sleep 1.6; cat p.yaml) | '{PLUGIN}' two-way -s - -d a.yaml");
    let in_terminal = |line: &str| {
        let mut command = Command::new("script");
        command.args(["-qec", line, "/dev/null"]).current_dir(&folder.0).stdin(Stdio::null());
        command.output().map(Ran::of)
    };
    let Ok(shown) = in_terminal(&format!("{slow} > out.yaml")) else {
        crate::support::skipped("script", "is not on PATH");
        return;
    };
    assert!(shown.stdout.contains("reading"), "{shown:?}");
    assert_eq!(folder.read("out.yaml"), map("a", &[("x", "'2'")]), "nothing of it is on stdout");
    let quick = in_terminal(&format!("'{PLUGIN}' two-way -s p.yaml -d a.yaml > out.yaml")).expect("script");
    assert_eq!(quick.stdout, "");
    let piped = Command::new("sh").args(["-c", &slow]).current_dir(&folder.0).output().map(Ran::of).expect("sh");
    assert_eq!(piped.stderr, "");
}

#[test]
fn colours_are_for_terminals_and_no_color_is_heard() {
    let folder = Folder::with(&[("a.yaml", &map("a", &[("x", "'1'")])), ("p.yaml", &map("a", &[("x", "'2'")]))]);
    let line = format!("'{PLUGIN}' two-way -s p.yaml -d a.yaml -o diff");
    let run = |no_color: &str| {
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(&folder.0).stdin(Stdio::null());
        command.env("NO_COLOR", no_color).env("TERM", "xterm").output().map(Ran::of)
    };
    match (run(""), run("1")) {
        (Ok(coloured), Ok(plain)) => {
            assert!(coloured.stdout.contains("\x1b[32m+  x: '2'\x1b[0m"), "{coloured:?}");
            assert!(!plain.stdout.contains('\x1b'), "{plain:?}");
        }
        _ => crate::support::skipped("script", "is not on PATH"),
    }
    assert!(!folder.run(&["two-way", "-s", "p.yaml", "-d", "a.yaml", "-o", "diff"]).passed().contains('\x1b'));
}

/// The function under kpt writes each file as kpt prints it; so both sides are brought into kpt's form, by a function that does nothing.
#[test]
fn three_way_on_a_folder_gives_what_the_function_gives_under_kpt() {
    if !has("kpt") {
        return;
    }
    let example = root().join("examples/merge-three-way").display().to_string();
    let copied = |from: &str, to: &Folder, path: &str| {
        let status = Command::new("cp").args(["-r", from]).arg(to.path(path)).status().expect("cp");
        assert!(status.success());
    };
    let kpt = |folder: &Folder, args: &[&str]| {
        let mut command = Command::new("kpt");
        command.args(["fn", "eval", "package", "--truncate-output=false"]).args(args).current_dir(&folder.0);
        let ran = Ran::of(command.output().expect("kpt"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
    };
    let function = function::program();
    let folder = Folder::new();
    copied(&example, &folder, "package");
    // More than the example has: a file of many documents, JSON, new files, and a conflict.
    let many = |x: u8, before: &str, behind: &str| {
        let second =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m2\ndata:\n{before}  y: '1'\n{behind}");
        format!("{}---\n# second\n{second}", map("m1", &[("x", &format!("'{x}'"))]))
    };
    let json = |x: u8| {
        format!(
            "{{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {{\"name\": \"j\"}}, \"data\": {{\"x\": \"{x}\"}}}}\n"
        )
    };
    for (path, text) in [
        ("upstream/v1/sub/many.yaml", many(1, "", "")),
        ("upstream/v2/sub/many.yaml", many(2, "", "  z: '1'\n")),
        // kpt puts new fields last in their map, whatever the function does; here that is where they go.
        ("sub/many.yaml", many(1, "  mine: '1' # mine\n", "")),
        ("upstream/v1/j.json", json(1)),
        ("upstream/v2/j.json", json(2)),
        ("j.json", json(1)),
        ("upstream/v1/both.yaml", map("both", &[("x", "'1'")])),
        ("upstream/v2/both.yaml", map("both", &[("x", "'2'")])),
        ("both.yaml", map("both", &[("x", "'3'")])),
        ("upstream/v2/new/one.yaml", format!("{}---\n{}", map("new1", &[("x", "'1'")]), map("new2", &[("x", "'1'")]))),
    ] {
        folder.write(&format!("package/{path}"), text);
    }
    kpt(&folder, &["--exec", "cat"]);
    let plain = Folder::new();
    copied(folder.path("package").to_str().expect("UTF-8"), &plain, "package");
    kpt(&folder, &["--exec", function, "--fn-config", &format!("{example}/fn-config.yaml")]);
    for version in ["v1", "v2"] {
        std::fs::rename(plain.path(&format!("package/upstream/{version}")), plain.path(version)).expect("moved");
    }
    let upgrade = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "package", "--in-place"];
    let stderr = plain.run(&upgrade).stderr;
    assert!(stderr.contains("ConfigMap both (both.yaml): both sides changed `data.x`: dest has"), "{stderr}");
    for version in ["v1", "v2"] {
        std::fs::create_dir_all(plain.path("package/upstream")).expect("a folder");
        std::fs::rename(plain.path(version), plain.path(&format!("package/upstream/{version}"))).expect("moved");
    }
    kpt(&plain, &["--exec", "cat"]);
    let (theirs, ours) = (folder.files("package"), plain.files("package"));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (path, bytes) in theirs {
        assert_eq!(String::from_utf8_lossy(&ours[&path]), String::from_utf8_lossy(&bytes), "{path}");
    }
    assert!(plain.path("package/new/one.yaml").exists() && plain.read("package/sub/many.yaml").contains("x: '2'"));
}
