//! Every example is a kpt package in the form of kpt's own examples: the real kpt runs it twice, which must give `.expected` both times,
//! and the real kubectl builds those that are kustomizations.
//!
//! `.expected/config.yaml` says how it is run, `diff.patch` is what `git diff` shows after it, `results.yaml` what the first run reports,
//! and `build.yaml` what kustomize makes of it.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

#[path = "support/hosts.rs"]
mod hosts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use krm_yaml::Document;
use serde_json::Value;

use hosts::{BINARY, Run, has, image, root, run, run_with, scratch};

fn examples() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(root().join("examples")).expect("examples").map(|e| e.expect("an entry").path()).collect();
    all.sort();
    assert!(all.len() >= 6, "{all:?}");
    all
}

fn name(folder: &Path) -> &str {
    folder.file_name().and_then(|n| n.to_str()).expect("a name")
}

fn read(path: PathBuf) -> String {
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Compares a file of `.expected` with what came out. To remake them all: `KRM_MERGE_WRITE=1 cargo test --test examples`, and read them.
fn expect(path: PathBuf, got: &str) {
    if std::env::var_os("KRM_MERGE_WRITE").is_some() {
        fs::write(&path, got).expect("written");
    }
    assert_eq!(got, read(path.clone()), "{}", path.display());
}

/// A copy of an example below this folder, as a repository with all in it committed.
fn copy(example: &Path, below: &str) -> PathBuf {
    let folder = scratch(&format!("{below}/{}", name(example)));
    run(Command::new("cp").arg("-r").arg(example.join(".")).arg(&folder)).passes();
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "--all"]);
    git(
        &folder,
        &["-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message=before"],
    );
    folder
}

fn git(folder: &Path, args: &[&str]) -> String {
    run(Command::new("git").arg("-C").arg(folder).args(args)).passes().stdout
}

/// PATH with the folder of the tested program first, for examples name it `krm-merge`.
fn path() -> String {
    let folder = Path::new(BINARY).parent().expect("a folder");
    format!("{}:{}", folder.display(), std::env::var("PATH").expect("PATH"))
}

fn render(folder: &Path, results: &Path) -> Run {
    let mut kpt = Command::new("kpt");
    run(kpt.args(["fn", "render", "--allow-exec", "--results-dir"]).arg(results).arg(folder).env("PATH", path()))
}

#[test]
fn each_example_gives_what_it_says_under_kpt_and_again_the_same() {
    if !has("kpt") || !has("git") {
        return;
    }
    for example in examples() {
        let expected = example.join(".expected");
        assert_eq!(read(expected.join("config.yaml")), "testType: render\nallowExec: true\n", "{}", example.display());
        let folder = copy(&example, "examples");
        let results = scratch(&format!("results/{}", name(&example)));
        for turn in ["once", "twice"] {
            render(&folder, &results).passes();
            git(&folder, &["add", "--all"]);
            expect(expected.join("diff.patch"), &git(&folder, &["diff", "--cached"]));
            if turn == "once" {
                expect(expected.join("results.yaml"), &read(results.join("results.yaml")));
            }
        }
    }
}

#[test]
fn each_kustomization_gives_what_it_says_under_kubectl() {
    if !has("kubectl") {
        return;
    }
    let plugins = scratch("examples-plugins");
    let plugin = plugins.join("krm-merge.dev/v1alpha1/merge");
    fs::create_dir_all(&plugin).expect("a folder");
    std::os::unix::fs::symlink(BINARY, plugin.join("Merge")).expect("a link");
    for example in examples().into_iter().filter(|e| e.join("kustomization.yaml").exists()) {
        if read(example.join("merge.yaml")).contains("container:") && !image() {
            continue;
        }
        let mut build = Command::new("kubectl");
        build.args(["kustomize", "--enable-alpha-plugins"]).arg(&example).env("KUSTOMIZE_PLUGIN_HOME", &plugins);
        expect(example.join(".expected/build.yaml"), &run(&mut build).passes().stdout);
    }
}

#[test]
fn a_custom_resource_without_its_definition_is_left_alone_and_replaced_lists_are_told() {
    if !has("kpt") || !has("git") {
        return;
    }
    let folder = copy(&root().join("examples/merge-strategic-crd"), "examples-without");
    fs::remove_file(folder.join("crd.yaml")).expect("removed");
    let before = read(folder.join("rollout.yaml"));
    let results = scratch("examples-without-results");
    let run = render(&folder, &results).fails();
    assert!(run.shown().contains("must be in a list that merges by a key, which `spec.steps` does not"), "{run:?}");
    assert_eq!(read(folder.join("rollout.yaml")), before);

    let config = folder.join("fn-config.yaml");
    let patch = read(config.clone());
    fs::write(&config, patch.replace("        - name: half\n          $patch: delete\n", "")).expect("written");
    let run = render(&folder, &results).passes();
    assert!(run.shown().contains("[info]"), "{run:?}");
    let rollout = read(folder.join("rollout.yaml"));
    assert!(rollout.contains("hosts: [www.example.com]\n") && !rollout.contains("name: all"), "{rollout}");
}

#[test]
fn an_example_that_is_one_resource_list_goes_through_a_pipe() {
    let mut lists = 0;
    for example in examples() {
        let Ok(stdin) = fs::read_to_string(example.join("resource-list.yaml")) else { continue };
        lists += 1;
        let out = run_with(&mut Command::new(BINARY), &stdin).passes().stdout;
        expect(example.join(".expected/resource-list.yaml"), &out);
        assert_eq!(run_with(&mut Command::new(BINARY), &out).passes().stdout, out, "again");
    }
    assert!(lists > 0);
}

#[test]
fn each_example_can_be_fetched_as_a_package() {
    if !has("kpt") || !has("git") {
        return;
    }
    let folder = scratch("fetch");
    let upstream = folder.join("krm-merge.git");
    fs::create_dir_all(&upstream).expect("a folder");
    for part in ["Kptfile", ".krmignore", "examples", "functions"] {
        run(Command::new("cp").arg("-r").arg(root().join(part)).arg(&upstream)).passes();
    }
    git(&upstream, &["init", "--quiet", "--initial-branch=main"]);
    git(&upstream, &["add", "--all"]);
    git(
        &upstream,
        &["-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message=all"],
    );
    let get = |part: &str, to: &str| {
        let from = format!("{}/{part}@main", upstream.display());
        let mut kpt = Command::new("kpt");
        run(kpt.args(["pkg", "get", &from, to]).env("KPT_CACHE_DIR", folder.join("cache")).current_dir(&folder))
            .passes();
    };
    get("", "whole");
    assert_eq!(read(folder.join("whole/Kptfile")).lines().nth(1), Some("kind: Kptfile"));
    get("functions/merge", "merge");
    // kpt adds a comment and an annotation that say where it came from.
    assert!(read(folder.join("merge/function.yaml")).contains("kind: KRMFunctionDefinition\n"));
    for example in examples() {
        get(&format!("examples/{}", name(&example)), name(&example));
        render(&folder.join(name(&example)), &folder.join("results")).passes();
    }
    // As a package it holds the function and the examples, and not what they are expected to become.
    run(Command::new("kpt").args(["fn", "eval", "whole", "--exec", "cat"]).current_dir(&folder)).passes();
}

#[test]
fn the_catalog_lists_every_example() {
    let metadata = read(root().join("functions/merge/metadata.yaml"));
    let doc = Document::parse(&*metadata).expect("YAML");
    let metadata = doc.roots().next().expect("a map");
    let listed = metadata.get("examplePackageURLs").expect("examples").elements();
    let mut listed: Vec<String> = listed.map(|e| e.string().rsplit('/').next().expect("a name").to_owned()).collect();
    listed.sort();
    assert_eq!(listed, examples().iter().map(|e| name(e).to_owned()).collect::<Vec<_>>());
    let definition = krm_job::config::definition();
    let version = &definition["spec"]["versions"][0];
    let pages = version["examples"].as_array().expect("examples").iter().filter_map(Value::as_str);
    let names: Vec<&str> = pages.filter_map(|page| page.strip_suffix("/README.md")?.rsplit('/').next()).collect();
    assert_eq!(names, listed, "the definition lists them, too");
    assert_eq!(metadata.get("image").map(|i| i.string()), version["runtime"]["container"]["image"].as_str());
    for field in ["image", "description", "sourceURL", "license"] {
        assert!(metadata.get(field).is_some_and(|v| !v.string().is_empty()), "{field}");
    }
    for example in examples() {
        let readme = read(example.join("README.md"));
        assert!(readme.starts_with("# "), "{}", example.display());
        let headings: Vec<&str> = readme.lines().filter(|l| l.starts_with("### ")).collect();
        let want = ["Overview", "Fetch the example package", "Function invocation", "Expected result"];
        assert_eq!(headings, want.map(|heading| format!("### {heading}")), "{}", example.display());
        let command = format!("kpt fn render {} --allow-exec", name(&example));
        assert!(readme.contains(&command), "{readme}");
        assert_eq!(read(example.join("Kptfile")).lines().nth(3), Some(&*format!("  name: {}", name(&example))));
    }
}

#[test]
fn the_function_s_own_page_and_the_reference_name_every_field() {
    fn names<'a>(schema: &'a Value, out: &mut Vec<&'a str>) {
        let Value::Object(fields) = schema else { return };
        for (key, value) in fields {
            match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for (name, schema) in properties {
                        out.push(name);
                        names(schema, out);
                    }
                }
                ("oneOf" | "anyOf", Value::Array(variants)) => variants.iter().for_each(|v| names(v, out)),
                ("enum", Value::Array(values)) => out.extend(values.iter().filter_map(Value::as_str)),
                (_, value) => names(value, out),
            }
        }
    }
    let schema = krm_job::config::openapi_schema().to_value();
    let mut all = Vec::new();
    names(&schema, &mut all);
    assert!(all.len() > 30, "{all:?}");
    for page in ["functions/merge/README.md", "docs/src/function-config.md"] {
        let text = read(root().join(page));
        let is_named = |name: &&&str| text.contains(&format!("`{name}`")) || text.contains(&format!("{name}:"));
        let missing: Vec<&&str> = all.iter().filter(|name| !is_named(name)).collect();
        assert_eq!(missing, [] as [&&str; 0], "{page}");
    }
}
