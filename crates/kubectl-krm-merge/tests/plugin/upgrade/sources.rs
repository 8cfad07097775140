//! Releases that a command prints.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::repository::{commit, git};
use crate::support::{Folder, Ran, has, map};

const RULES: &str = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  upstream: # the chart\n    run: [render, \"{ref}\", -f, values.yaml]\n";

/// A program that prints a ConfigMap with its release, and with the values of the package.
fn with_program() -> Folder {
    let folder = Folder::new();
    let script = "#!/bin/sh\necho ran >> \"$0.ran\"\n[ \"$1\" = bad ] && { echo 'no such chart' >&2; exit 3; }\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  name: web\\ndata:\\n  release: %s\\n  value: \\047%s\\047\\n  more: x\\n' \"$1$(cat \"$0.more\" 2>/dev/null)\" \"$(cat \"$3\")\"\n";
    folder.write("render", script);
    fs::set_permissions(folder.path("render"), fs::Permissions::from_mode(0o755)).expect("allowed");
    folder.write("p/.krm-merge.yaml", RULES);
    folder.write("p/values.yaml", "a: 1");
    folder
}

fn run(folder: &Folder, args: &[&str]) -> Ran {
    let mut command = folder.command(args);
    Ran::of(command.env("PATH", folder.first_on_path()).output().expect("the plugin runs"))
}

#[test]
fn a_command_runs_only_if_it_is_allowed() {
    let folder = with_program();
    let told = run(&folder, &["upgrade", "p", "--to", "r1"]).failed(2);
    assert!(told.contains("a command of the program `render`") && told.contains("add `--allow-exec`"), "{told}");
    assert!(!folder.path("render.ran").exists());
    let told = run(&folder, &["upgrade", "p", "--allow-exec"]).failed(2);
    assert!(told.contains("`--to` must name the release"), "{told}");
    let told = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "bad"]).failed(2);
    assert!(told.contains("`render` failed with exit status: 3: no such chart"), "{told}");
    for release in ["-x", "a b", "a\nb"] {
        let told = run(&folder, &["upgrade", "p", "--allow-exec", &format!("--to={release}")]).failed(2);
        assert!(told.contains("a release must be the name"), "{told}");
    }
}

#[test]
fn releases_of_a_command_are_merged_and_local_files_stay() {
    let folder = with_program();
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    let file = "p/configmap_web.yaml";
    assert_eq!(folder.read(file), map("web", &[("release", "r1"), ("value", "'a: 1'"), ("more", "x")]));
    let record = folder.read("p/.krm-merge.yaml");
    assert!(
        record.starts_with(RULES) && record.contains("    ref: r1\n  upstreamLock:\n    ref: r1\n    sha256: "),
        "{record}"
    );
    folder.write(file, folder.read(file).replace("more: x", "more: ours # why"));
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r2"]).passed();
    assert_eq!(folder.read(file), map("web", &[("release", "r2"), ("value", "'a: 1'"), ("more", "ours # why")]));
    assert_eq!(folder.read("p/values.yaml"), "a: 1");
    // New values of the same release come by the same command.
    folder.write("p/values.yaml", "a: 2");
    let ran = run(&folder, &["upgrade", "p", "--allow-exec"]);
    assert!(ran.stderr.is_empty(), "{ran:?}");
    assert!(folder.read(file).contains("value: 'a: 2'\n"));
    assert!(run(&folder, &["upgrade", "p", "--allow-exec"]).passed().contains("has r2 already"));
}

/// Takes the cache away, as on another machine.
fn without_cache(folder: &Folder) {
    fs::remove_dir_all(folder.path(".cache")).expect("removed");
}

#[test]
fn a_release_that_changed_under_its_name_is_an_error_that_says_how_to_go_on() {
    let folder = with_program();
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    commit(&folder.path("p"), "r1");
    folder.write("render.more", "-again");
    without_cache(&folder);
    let before = folder.files("p");
    let told = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r2"]).failed(2);
    assert!(told.contains("with the files of commit ") && told.contains("`--from r1` takes what it prints"), "{told}");
    assert_eq!(folder.files("p"), before);
    run(&folder, &["upgrade", "p", "--allow-exec", "--from", "r1", "--to", "r2"]).failed(1);
    assert!(folder.read("p/configmap_web.yaml").contains("  release: r2-again\n"), "between markers");
}

#[test]
fn a_release_is_made_again_with_the_files_that_the_package_had() {
    let folder = with_program();
    // The package is a folder of its repository.
    let record = |name: &str| folder.read(&format!("{name}/.krm-merge.yaml"));
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    commit(&folder.0, "r1");
    folder.write("p/values.yaml", "a: 2");
    folder.write("p/configmap_web.yaml", folder.read("p/configmap_web.yaml").replace("more: x", "more: ours"));
    commit(&folder.0, "values");
    for cache in ["here", "gone"] {
        if cache == "gone" {
            git(&folder.0, &["checkout", "--quiet", "p"]);
            without_cache(&folder);
        }
        let ran = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r2"]);
        assert!(ran.stderr.is_empty(), "{cache}: {ran:?}");
        let want = map("web", &[("release", "r2"), ("value", "'a: 2'"), ("more", "ours")]);
        assert_eq!(folder.read("p/configmap_web.yaml"), want, "{cache}");
        assert!(record("p").contains("ref: r2"), "{cache}");
    }
}

/// A program that makes a password at each run.
const ANEW: &str = "#!/bin/sh\nfor a; do :; done\nprintf 'apiVersion: v1\\nkind: Secret\\nmetadata:\\n  name: web\\nstringData:\\n  release: %s\\n  password: p%s\\n  other: x\\n' \"$1\" \"$$\"\n";

#[test]
fn what_a_chart_makes_anew_stays_as_the_package_has_it() {
    let folder = with_program();
    folder.write("render", ANEW);
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    commit(&folder.path("p"), "r1");
    let file = "p/secret_web.yaml";
    let old = folder.read(file);
    for (release, cache) in [("r2", "here"), ("r3", "gone")] {
        if cache == "gone" {
            without_cache(&folder);
        }
        let told = run(&folder, &["upgrade", "p", "--allow-exec", "--to", release]);
        assert_eq!(folder.read(file), old.replace("release: r1", &format!("release: {release}")), "{cache}");
        let want = "info: p: its command makes Secret web: stringData.password anew at each rendering, so the package keeps its own\n";
        assert_eq!(told.stderr, want);
        told.passed();
        commit(&folder.path("p"), release);
    }
    // Nobody made the same release again.
    assert!(run(&folder, &["upgrade", "p", "--allow-exec"]).passed().contains("has r3 already"));
}

#[test]
fn nobody_knows_the_newest_release_of_a_command() {
    let folder = with_program();
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    fs::remove_file(folder.path("render.ran")).expect("it ran");
    let line = run(&folder, &["upgrade", "p", "--allow-exec", "--check"]).passed();
    assert_eq!(
        line,
        "p: has r1, and nobody knows whether there is a newer one, for a command makes it: `--to` names one\n"
    );
    assert!(!folder.path("render.ran").exists(), "it need not run");
    assert_eq!(run(&folder, &["upgrade", "p", "--allow-exec", "--check", "--to", "r2"]).code, Some(1));
    // The record wants another release than the package has.
    folder.write("p/.krm-merge.yaml", folder.read("p/.krm-merge.yaml").replacen("ref: r1", "ref: r4", 1));
    let line = run(&folder, &["upgrade", "p", "--allow-exec", "--check"]);
    assert_eq!((line.code, line.stdout.starts_with("p: has r1, wanted is r4;")), (Some(1), true), "{line:?}");
    run(&folder, &["upgrade", "p", "--allow-exec"]).passed();
    assert!(folder.read("p/configmap_web.yaml").contains("release: r4"));
}

#[test]
fn the_output_of_a_command_writes_no_record() {
    let folder = with_program();
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    let before = folder.files("p");
    for path in ["Kptfile", "sub/Kptfile", "KPTFILE", "./Kptfile"] {
        let kptfile = format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: x\n  annotations: {{config.kubernetes.io/path: {path}}}\nupstream:\n  git: {{repo: https://example.com/evil, ref: v1}}\n"
        );
        folder.write("render", format!("#!/bin/sh\ncat <<X\n{kptfile}X\n"));
        let told = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r2"]).failed(2);
        assert!(told.contains("a release must not write a Kptfile from elsewhere"), "{told}");
        assert_eq!(folder.files("p"), before, "{path}");
    }
}

#[test]
fn no_message_repeats_the_arguments_of_a_command() {
    let folder = with_program();
    let rules = RULES.replace("values.yaml", "values.yaml, --password, a-long-password-123");
    folder.write("p/.krm-merge.yaml", &rules);
    let without = run(&folder, &["upgrade", "p", "--to", "r1"]);
    let fails = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "bad"]);
    folder.write("render", "#!/bin/sh\necho \"no $*\" >&2\nexit 1\n");
    let repeats = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]);
    folder.write("p/.krm-merge.yaml", rules.replace("[render,", "[gone-program,"));
    let gone = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]);
    for ran in [without, fails, repeats, gone] {
        assert!(!ran.stderr.contains("password-123"), "{ran:?}");
        ran.failed(2);
    }
}

#[test]
fn a_command_that_prints_without_end_is_stopped() {
    let folder = with_program();
    folder.write("render", "#!/bin/sh\nyes '# comment'\n");
    let told = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).failed(2);
    assert!(told.contains("`render` must print at most 268435456 bytes"), "{told}");
}

#[test]
fn a_chart_of_helm_is_an_upstream() {
    if !has("helm") {
        return;
    }
    let folder = Folder::new();
    for release in ["1", "2"] {
        folder.write(
            &format!("charts/{release}/Chart.yaml"),
            format!("apiVersion: v2\nname: web\nversion: {release}.0.0\n"),
        );
        let text = map("web", &[("release", &format!("'{release}'")), ("value", "{{ .Values.a | quote }}")]);
        folder.write(&format!("charts/{release}/templates/a.yaml"), text);
    }
    folder.write("p/values.yaml", "a: mine\n");
    folder
        .write("p/.krm-merge.yaml", RULES.replace("[render, \"{ref}\",", "[helm, template, web, \"../charts/{ref}\","));
    for release in ["1", "2"] {
        folder.run(&["upgrade", "p", "--allow-exec", "--to", release]).passed();
        let text = folder.read("p/configmap_web.yaml");
        assert!(text.contains(&format!("release: '{release}'")) && text.contains("value: \"mine\""), "{text}");
    }
}
