//! The recipes of the book: each under kpt and kustomize, twice. The second run changes nothing, and every host makes the same changes.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

#[path = "support/hosts.rs"]
mod hosts;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use hosts::{BINARY, IMAGE, files, has, image, root, run, run_with, scratch, write};

const FILES_OF_KPT: [&str; 2] = ["Kptfile", "merge.yaml"];

struct Recipe {
    name: String,
    spec: String,
    /// What the page shows, as a diff.
    changes: String,
}

/// What stands in the next block behind this comment.
fn block<'a>(text: &'a str, comment: &str, language: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<!-- {comment} -->\n```{language}\n"))?;
    Some(rest.split_once("```")?.0)
}

fn recipes() -> Vec<Recipe> {
    let page = fs::read_to_string(root().join("docs/recipes/README.md")).expect("a page");
    let of_section = |section: &str| {
        let name = section.lines().next().expect("a heading").to_owned();
        let spec = block(section, "recipe", "yaml")?.to_owned();
        Some(Recipe { name, spec, changes: block(section, "changes", "diff").unwrap_or_default().to_owned() })
    };
    let recipes: Vec<Recipe> = page.split("\n### ").skip(1).filter_map(of_section).collect();
    assert_eq!(recipes.len(), page.matches("<!-- recipe -->").count());
    assert!(recipes.len() >= 28, "{}", recipes.len());
    recipes
}

/// A functionConfig, with further annotations.
fn config(recipe: &Recipe, annotations: &str) -> String {
    let head = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: merge\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\n";
    let spec: String = recipe.spec.lines().map(|line| format!("  {line}\n")).collect();
    format!("{head}{annotations}spec:\n{spec}")
}

fn shop() -> BTreeMap<String, String> {
    files(&root().join("docs/recipes/shop"))
}

fn documents(files: &BTreeMap<String, String>) -> String {
    let of_shop = files.iter().filter(|(path, _)| !FILES_OF_KPT.contains(&path.as_str()));
    of_shop.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("---\n")
}

/// How often each line is there more often, or less often, than before, whatever the host makes of order, indentation and comments.
fn net(before: &str, after: &str) -> BTreeMap<String, isize> {
    let mut out = BTreeMap::new();
    for (text, by) in [(before, -1), (after, 1)] {
        for line in text.lines().filter(|line| *line != "---") {
            let line = line.split(" #").next().unwrap_or_default().trim();
            *out.entry(line.strip_prefix("- ").unwrap_or(line).to_owned()).or_default() += by;
        }
    }
    out.retain(|line, n| *n != 0 && !line.is_empty());
    out
}

/// What a host makes of a package: before, after one run, and after two.
struct Runs {
    before: String,
    once: String,
    twice: String,
}

/// Runs each recipe under a host, which gets an empty folder.
fn each_under(host: &str, run_in: impl Fn(&Path, &Recipe) -> Runs) {
    let folder = scratch(host);
    let all = documents(&shop());
    for (i, recipe) in recipes().iter().enumerate() {
        let folder = folder.join(i.to_string());
        write(&folder.join("alone.yaml"), &config(recipe, ""));
        let alone = run_with(Command::new(BINARY).arg(folder.join("alone.yaml")), &all).passes().stdout;
        let runs = run_in(&folder, recipe);
        assert_eq!(net(&runs.before, &runs.once), net(&all, &alone), "{host}: {}", recipe.name);
        assert_eq!(runs.once, runs.twice, "{host}: {}: the second run", recipe.name);
    }
}

/// The lines of a diff that are there before (`-`) or after (`+`).
fn side(changes: &str, sign: char) -> String {
    let of_side = |line: &str| line.strip_prefix([' ', sign]).map(|line| format!("{line}\n"));
    changes.lines().filter_map(of_side).collect()
}

fn shows(recipe: &Recipe, runs: &Runs) {
    assert_eq!(runs.before == runs.once, recipe.changes.is_empty(), "{}", recipe.name);
    for (text, sign) in [(&runs.before, '-'), (&runs.once, '+')] {
        let shown = format!("\n{}", side(&recipe.changes, sign));
        assert!(format!("\n{text}").contains(&shown), "{}:\n{shown}\nis not in\n{text}", recipe.name);
    }
}

/// Runs kpt twice on the shop, with this file more.
fn under_kpt(folder: &Path, kptfile: Option<String>, config: &str, args: &[&str]) -> Runs {
    let mut package = shop();
    package.extend(kptfile.map(|text| ("Kptfile".to_owned(), text)));
    package.insert("merge.yaml".to_owned(), config.to_owned());
    for (path, text) in &package {
        write(&folder.join("shop").join(path), text);
    }
    let again = || {
        run(Command::new("kpt").args(["fn"]).args(args).current_dir(folder)).passes();
        documents(&files(&folder.join("shop")))
    };
    Runs { before: documents(&package), once: again(), twice: again() }
}

#[test]
fn each_recipe_changes_what_it_shows_under_kpt_fn_eval() {
    if !has("kpt") {
        return;
    }
    each_under("eval", |folder, recipe| {
        let args = ["eval", "shop", "--exec", BINARY, "--fn-config", "shop/merge.yaml"];
        let runs = under_kpt(folder, None, &config(recipe, ""), &args);
        shows(recipe, &runs);
        runs
    });
}

#[test]
fn each_recipe_goes_under_kpt_fn_render() {
    if !has("kpt") {
        return;
    }
    each_under("render", |folder, recipe| {
        let pipeline = format!("pipeline:\n  mutators:\n  - exec: {BINARY}\n    configPath: merge.yaml\n");
        let kptfile = Some(format!("{}{pipeline}", shop()["Kptfile"]));
        under_kpt(folder, kptfile, &config(recipe, ""), &["render", "shop", "--allow-exec"])
    });
}

/// Builds the shop with a transformer, and then what was built once more.
fn under_kustomize(folder: &Path, config: &str) -> Runs {
    let plugin = folder.join("plugins/krm-merge.dev/v1alpha1/merge");
    fs::create_dir_all(&plugin).expect("a folder");
    symlink(BINARY, plugin.join("Merge")).expect("a link");
    let build = |name: &str, resources: &[(&str, &str)], transformers: &str| {
        let folder = folder.join(name);
        resources.iter().for_each(|(path, text)| write(&folder.join(path), text));
        write(&folder.join("merge.yaml"), config);
        let paths: Vec<&str> = resources.iter().map(|(path, _)| *path).collect();
        let kustomization = format!("resources: [{}]\n{transformers}", paths.join(", "));
        write(&folder.join("kustomization.yaml"), &kustomization);
        let mut kubectl = Command::new("kubectl");
        let kubectl = kubectl.args(["kustomize", "--enable-alpha-plugins"]).arg(&folder);
        run(kubectl.env("KUSTOMIZE_PLUGIN_HOME", plugin.ancestors().nth(3).expect("a folder"))).passes().stdout
    };
    let shop = shop();
    let resources = shop.iter().filter(|(path, _)| !FILES_OF_KPT.contains(&path.as_str()));
    let resources: Vec<(&str, &str)> = resources.map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let before = build("before", &resources, "");
    let once = build("once", &resources, "transformers: [merge.yaml]\n");
    let twice = build("twice", &[("once.yaml", &once)], "transformers: [merge.yaml]\n");
    Runs { before, once, twice }
}

#[test]
fn each_recipe_goes_as_a_plugin_of_kustomize() {
    if !has("kubectl") {
        return;
    }
    each_under("legacy", |folder, recipe| under_kustomize(folder, &config(recipe, "")));
}

#[test]
fn each_recipe_goes_as_a_container_of_kustomize() {
    if !has("kubectl") || !image() {
        return;
    }
    let function = format!("    config.kubernetes.io/function: |\n      container:\n        image: {IMAGE}\n");
    each_under("container", |folder, recipe| under_kustomize(folder, &config(recipe, &function)));
}

#[test]
fn each_recipe_goes_as_an_image_of_kpt() {
    if !has("kpt") || !image() {
        return;
    }
    each_under("image", |folder, recipe| {
        let args = ["eval", "shop", "--image", IMAGE, "--fn-config", "shop/merge.yaml"];
        under_kpt(folder, None, &config(recipe, ""), &args)
    });
}
