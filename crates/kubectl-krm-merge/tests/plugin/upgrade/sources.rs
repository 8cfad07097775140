//! Releases that a command prints.

use std::fs;
use std::os::unix::fs::PermissionsExt;

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
    assert!(told.contains("`render {ref} -f values.yaml`: add `--allow-exec`"), "{told}");
    assert!(!folder.path("render.ran").exists());
    let told = run(&folder, &["upgrade", "p", "--allow-exec"]).failed(2);
    assert!(told.contains("`--to` must name the release"), "{told}");
    let told = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "bad"]).failed(2);
    assert!(told.contains("`render bad -f values.yaml` failed with exit status: 3: no such chart"), "{told}");
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

#[test]
fn a_release_that_changed_under_its_name_is_told() {
    let folder = with_program();
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    folder.write("render.more", "-again");
    fs::remove_dir_all(folder.path(".cache")).expect("removed");
    let ran = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r2"]);
    assert!(ran.stderr.contains("warning: p: the release r1 is not what it was"), "{ran:?}");
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
