//! What the documentation shows is what the function does, and what it names is there.

#[path = "support/hosts.rs"]
mod hosts;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hosts::{BINARY, has, root, run, scratch};
use krm_merge::yaml::Document;
use serde_json::Value;
use support::{items, passes, resource_list, side, value_of};

const LIST: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList";

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The blocks of a text in order, each with its language.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let inside = text.split("```").skip(1).step_by(2);
    inside.map(|block| block.split_once('\n').expect("a language, or none")).collect()
}

#[test]
fn each_block_of_the_readme_is_true() {
    let text = read("README.md");
    let blocks = blocks(&text);
    let lists: Vec<&str> = blocks.iter().map(|b| b.1).filter(|b| b.starts_with(LIST)).collect();
    assert_eq!(lists.len(), 2, "TwoWay and Strategic");
    let mut input = None;
    for (language, block) in &blocks {
        if let Some(input) = input.take() {
            let output = passes(input).stdout;
            assert!(output.contains(block), "{block}\nis not in\n{output}");
            continue;
        }
        match (*language, block.split('\n').next().unwrap_or_default()) {
            ("yaml", _) if block.starts_with(LIST) => input = Some(block),
            ("yaml", "apiVersion: krm-merge.dev/v1alpha1") => {
                let spec = block.split_once("spec:\n").expect("a spec").1;
                assert!(read("examples/merge-three-way/fn-config.yaml").ends_with(spec), "{block}");
            }
            ("yaml", first) if first.starts_with("- message: ") => assert_eq!(value(block)[0], conflict()),
            ("yaml", "source:") => {
                let item = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-a, labels: {app: web}}\nspec: {replicas: 1}\n";
                let output = passes(&resource_list(&items(item), &format!("mode: Strategic\n{block}")));
                assert!(output.stdout.contains("spec: {replicas: 3}"), "{}", output.stdout);
            }
            ("yaml", "rules:") => {
                let web = |replicas: u8| {
                    format!(
                        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {{replicas: {replicas}}}\n"
                    )
                };
                let sides = format!("{}{}", side("original", &web(1)), side("updated", &web(2)));
                let output = passes(&resource_list(&items(&web(5)), &format!("mode: ThreeWay\n{sides}{block}")));
                assert!(output.stdout.contains("{replicas: 5}"), "{}", output.stdout);
                assert!(output.stdout.contains("dest''s was kept, as `spec.rules[0]` says"), "{}", output.stdout);
            }
            // The tests of the merge driver merge by it.
            ("yaml", "# .krm-merge.yaml") => {
                assert!(read("tests/plugin/git/repository.rs").contains("# .krm-merge.yaml"))
            }
            ("yaml", "pipeline:") => assert!(read("examples/merge-three-way/Kptfile").ends_with(block), "{block}"),
            ("yaml", "resources:") => {
                let kustomization = read("examples/merge-kustomize-legacy-plugin/kustomization.yaml");
                assert!(kustomization.ends_with(block), "{block}");
            }
            ("", _) => {
                let stderr = support::fails(&lists[0].replace("mode: TwoWay", "mode: twoway"));
                assert_eq!(format!("{stderr}\n"), *block);
            }
            ("sh", first) => {
                let elsewhere = ["cargo install", "image/build", "kubectl krm-merge completion"];
                let is_known = RUN.iter().chain(&elsewhere).any(|known| first.starts_with(known));
                assert!(is_known, "no test runs\n{block}");
            }
            _ => panic!("no test reads\n{block}"),
        }
    }
}

/// How those commands begin that are run here. Those of images and of completion are, in other words, in the tests of them.
const RUN: [&str; 3] = ["cp -r examples/", "kpt fn source ", "plugin="];

fn value(yaml: &str) -> Value {
    value_of(Document::parse(yaml).expect("YAML").roots().next().expect("a root"))
}

/// The result of a conflict over an image.
fn conflict() -> Value {
    let image = |tag: &str, metadata: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n{metadata}spec:\n  template:\n    spec:\n      containers:\n      - name: app\n        image: web:{tag}\n"
        )
    };
    let at = "  annotations:\n    config.kubernetes.io/path: deployment.yaml\n    config.kubernetes.io/index: '0'\n";
    let sides = format!("{}{}", side("original", &image("1.4.0", "")), side("updated", &image("1.5.0", "")));
    let stdin = resource_list(&items(&image("1.4.0-patched", at)), &format!("mode: ThreeWay\n{sides}"));
    value(&passes(&stdin).stdout)["results"][0].clone()
}

/// Runs a block of commands in a folder, with the tested programs first on PATH and a home of its own.
fn shell(block: &str, folder: &Path) -> String {
    let programs = Path::new(BINARY).parent().expect("a folder");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("PATH"));
    let mut sh = Command::new("sh");
    sh.args(["-e", "-c", block]).current_dir(folder).env("PATH", path).env("HOME", folder.join("home"));
    run(sh.env_remove("XDG_CONFIG_HOME").env_remove("KUSTOMIZE_PLUGIN_HOME")).passes().stdout
}

/// A folder with the examples in it, as a checkout has them.
fn checkout(name: &str) -> PathBuf {
    let folder = scratch(name);
    run(Command::new("cp").arg("-r").arg(root().join("examples")).arg(&folder)).passes();
    folder
}

#[test]
fn the_commands_of_the_hosts_do_what_they_are_printed_for() {
    if !has("kpt") || !has("kubectl") || !has("git") {
        return;
    }
    let folder = checkout("readme");
    let here = |path: &str| read(folder.join(path));
    let text = read("README.md");
    let mut runs = 0;
    for (_, block) in blocks(&text).into_iter().filter(|b| b.0 == "sh" && !b.1.contains("kubectl krm-merge")) {
        let Some(begins) = RUN.iter().find(|begins| block.starts_with(*begins)) else { continue };
        let stdout = shell(block, &folder);
        match *begins {
            "plugin=" => assert_eq!(stdout, here("examples/merge-kustomize-legacy-plugin/.expected/build.yaml")),
            "kpt fn source " => assert_eq!(here("nginx-merged/deployment.yaml"), here("nginx/deployment.yaml")),
            _ if block.contains(" shop") => {
                assert!(stdout.ends_with(&here("examples/merge-three-way/.expected/diff.patch")), "{stdout}");
            }
            _ => assert!(here("nginx/deployment.yaml").contains("image: nginx:1.7 # pinned"), "{stdout}"),
        }
        runs += 1;
    }
    assert_eq!(runs, 4);
}

#[cfg(feature = "plugin")]
#[test]
fn the_commands_of_the_plugin_do_what_they_are_printed_for() {
    if !has("kubectl") {
        return;
    }
    let _ = env!("CARGO_BIN_EXE_kubectl-krm_merge");
    let folder = checkout("readme-plugin");
    let text = read("README.md");
    let upgrade = blocks(&text).into_iter().find(|(_, block)| block.contains("kubectl krm-merge three-way"));
    let stdout = shell(upgrade.expect("an upgrade").1, &folder);
    let diff = read(folder.join("examples/merge-three-way/.expected/diff.patch"));
    for line in diff.lines().filter(|l| l.starts_with(['+', '-']) && !l.starts_with("+++") && !l.starts_with("---")) {
        assert!(stdout.contains(&format!("\n{line}\n")), "{line}\nis not in\n{stdout}");
    }
    assert!(read(folder.join("web/deployment.yaml")).contains("web:1.5.0\n"));
}

/// The pages for people, by their path.
fn pages() -> Vec<String> {
    let examples = fs::read_dir(root().join("examples")).expect("examples").map(|e| e.expect("an entry").file_name());
    let examples = examples.map(|name| format!("examples/{}/README.md", name.display()));
    ["README.md", "ARCHITECTURE.md", "functions/merge/README.md"]
        .map(str::to_owned)
        .into_iter()
        .chain(examples)
        .collect()
}

#[test]
fn each_link_leads_somewhere() {
    let slug = |heading: &str| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    let mut links = 0;
    for page in pages() {
        let text = read(&page);
        let headings: BTreeSet<String> =
            text.lines().filter(|l| l.starts_with('#')).map(|l| slug(l.trim_start_matches('#').trim())).collect();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap_or_default()) {
            links += 1;
            match link.strip_prefix('#') {
                Some(heading) => assert!(headings.contains(heading), "{page}: {link}"),
                None if link.starts_with("https://") => {}
                None => assert!(root().join(&page).with_file_name(link).exists(), "{page}: {link}"),
            }
        }
    }
    assert!(links > 20, "{links}");
}

#[test]
fn both_pages_have_one_table_of_directives() {
    let table = |path: &str| {
        let text = read(path);
        let rows = text.lines().skip_while(|l| !l.starts_with("| directive |")).take_while(|l| l.starts_with('|'));
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(table("README.md").len() > 5);
    assert_eq!(table("README.md"), table("functions/merge/README.md"));
}

/// Files below a folder, by their path in it.
fn sources(folder: &str) -> Vec<String> {
    let all = hosts::files(&root().join(folder)).into_keys().filter(|path| path.ends_with(".rs"));
    // Made from a table, and tests beside what they test.
    all.filter(|path| !path.ends_with("/packed.rs") && !path.ends_with("/tests.rs")).collect()
}

#[test]
fn the_architecture_names_each_module_in_the_order_of_imports() {
    let text = read("ARCHITECTURE.md");
    let (table, plugin) = text.split_once("## The plugin").expect("the plugin");
    let names = |text: &str| -> BTreeSet<String> {
        let words = text.split('`').skip(1).step_by(2).filter(|word| word.ends_with(".rs"));
        words.map(|word| word.rsplit('/').next().unwrap_or(word).to_owned()).collect()
    };
    let is_named = |path: &String, names: &BTreeSet<String>| names.contains(path.rsplit('/').next().unwrap_or(path));
    let function: Vec<String> = sources("src").into_iter().filter(|path| !path.starts_with("plugin/")).collect();
    let engine = "crates/krm-merge/src";
    let library: Vec<String> = sources(engine).into_iter().chain(function.iter().cloned()).collect();
    let of_plugin = sources("src/plugin");
    let unnamed: Vec<&String> = library.iter().filter(|path| !is_named(path, &names(table))).collect();
    assert_eq!(unnamed, [""; 0]);
    let entry = ["main.rs", "git.rs", "live.rs"];
    let unnamed: Vec<&String> =
        of_plugin.iter().filter(|path| !is_named(path, &names(plugin)) && !entry.contains(&path.as_str())).collect();
    assert_eq!(unnamed, [""; 0]);
    let there: BTreeSet<&str> =
        library.iter().chain(&of_plugin).map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
    let gone: Vec<String> = names(&text)
        .into_iter()
        .filter(|name| !there.contains(name.as_str()) && name != "layers.rs" && name != "readme.rs")
        .collect();
    assert_eq!(gone, [""; 0]);

    let rows: Vec<&str> = table.lines().filter(|l| l.starts_with("| `")).collect();
    let row = |module: &str| {
        rows.iter().position(|row| row.split(" | ").next().is_some_and(|c| c.contains(&format!("`{module}.rs`"))))
    };
    let mut uses = 0;
    for path in &library {
        let own = path.split(['/', '.']).next().unwrap_or(path);
        let folder = if function.contains(path) { "src" } else { engine };
        for line in read(format!("{folder}/{path}")).lines().filter(|l| !l.trim_start().starts_with("//")) {
            let Some(used) =
                line.split("crate::").nth(1).and_then(|u| u.split(|c: char| !c.is_alphabetic() && c != '_').next())
            else {
                continue;
            };
            let (Some(from), Some(to)) = (row(own), row(used)) else { continue };
            uses += 1;
            assert!(from <= to, "{path}: {line}");
        }
    }
    assert!(uses > 50, "{uses}");
}

/// Every functionConfig that the function's own documentation shows is understood, or is refused for the items that are not there.
#[test]
fn each_config_of_the_documentation_is_understood() {
    let text = read("functions/merge/README.md");
    let mut fields = 0;
    for (language, block) in blocks(&text) {
        assert_eq!(language, "yaml", "{block}");
        let config = if block.starts_with("apiVersion") {
            block.to_owned()
        } else {
            let modes = [
                ("original:", "ThreeWay"),
                ("onConflict", "ThreeWay"),
                ("rules:", "ThreeWay"),
                ("conflictLevel", "ThreeWay"),
                ("renames", "ThreeWay"),
                ("mode:", ""),
                ("", "TwoWay"),
            ];
            let mode = modes.iter().find(|(word, _)| block.contains(word)).map_or("", |(_, mode)| mode);
            let spec = match block.strip_prefix("spec:\n") {
                Some(spec) => spec.to_owned(),
                None => support::indent(&format!("mode: {mode}\n{block}"), 2),
            };
            format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n{spec}")
        };
        let config = support::indent(&config, 2);
        let stdin =
            format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n{config}");
        for error in krm_merge_function::run(&stdin).stderr.iter().filter(|line| line.starts_with("error: ")) {
            let of_items =
                ["must select at least one item", "a patch must hit an item", "must be given, or items must carry"];
            assert!(of_items.iter().any(|known| error.contains(known)), "{error}\n{block}");
        }
        fields += 1;
    }
    assert!(fields > 10, "{fields}");
}
