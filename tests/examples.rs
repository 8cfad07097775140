//! Every example is run twice: the first run gives `.expected`, the second one changes nothing. In memory everywhere, and through the
//! real kpt where that is on PATH.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use krm_merge::yaml::Document;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut all: Vec<PathBuf> = fs::read_dir(folder).expect("examples").map(|e| e.expect("an entry").path()).collect();
    all.sort();
    assert!(all.len() >= 3);
    all
}

/// The files below a folder by their paths in it; what lies in hidden folders is no part of a package.
fn files(folder: &Path) -> BTreeMap<String, String> {
    fn walk(folder: &Path, prefix: &str, out: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry")) {
            let name = entry.file_name().into_string().expect("UTF-8");
            if name.starts_with('.') || name == "README.md" {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{path}/"), out);
            } else {
                out.insert(path, fs::read_to_string(entry.path()).expect("readable"));
            }
        }
    }
    let mut out = BTreeMap::new();
    walk(folder, "", &mut out);
    out
}

/// The files of a package as a ResourceList, each with its path, and the functionConfig last.
fn packed(files: &BTreeMap<String, String>) -> String {
    let mut out = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n".to_owned();
    for (path, text) in files {
        let marks =
            format!("    internal.config.kubernetes.io/path: '{path}'\n    internal.config.kubernetes.io/index: '0'\n");
        let text = match text.split_once("  annotations:\n") {
            Some((head, rest)) => format!("{head}  annotations:\n{marks}{rest}"),
            None => text.replacen("metadata:\n", &format!("metadata:\n  annotations:\n{marks}"), 1),
        };
        out.push_str(&support::items(&text));
    }
    format!("{out}functionConfig:\n{}", support::indent(&files["fn-config.yaml"], 2))
}

/// The items of a ResourceList as files, without the annotations that carried them.
fn unpacked(stdout: &str) -> BTreeMap<String, String> {
    let items = support::items_of(stdout);
    let doc = Document::parse(items).expect("YAML");
    let mut out = BTreeMap::new();
    for item in doc.roots().next().expect("a list").elements() {
        let path =
            item.at(&["metadata", "annotations", "internal.config.kubernetes.io/path"]).expect("a path").string();
        let place = krm_merge::yaml::Place::of_element(doc.roots().next().expect("a list"), item);
        let text = items[place.top(&doc)..place.bottom(&doc)].replacen("- ", "  ", 1);
        let lines: Vec<&str> = text
            .lines()
            .filter(|l| !l.contains(" internal.config.kubernetes.io/"))
            .map(|l| l.strip_prefix("  ").unwrap_or(l))
            .collect();
        let text = lines.join("\n") + "\n";
        // An `annotations` map that held nothing else came with the marks.
        let bare = text
            .lines()
            .zip(text.lines().skip(1))
            .find(|(a, b)| *a == "  annotations:" && !b.starts_with("    "))
            .is_some();
        out.insert(path.to_owned(), if bare { text.replacen("  annotations:\n", "", 1) } else { text });
    }
    out
}

/// What an example's package becomes: the files of `.expected`, and those that stay as they are.
fn expected(example: &Path, before: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut after = files(&example.join(".expected"));
    after.remove("results.yaml");
    let stays = before.iter().filter(|(path, _)| path.starts_with("upstream/") || *path == "fn-config.yaml");
    after.extend(stays.map(|(p, t)| (p.clone(), t.clone())));
    after
}

#[test]
fn each_example_gives_what_it_says_and_again_the_same() {
    for example in examples() {
        let name = example.display();
        assert!(example.join("README.md").exists(), "{name}: README.md");
        if let Ok(stdin) = fs::read_to_string(example.join("resource-list.yaml")) {
            let want = fs::read_to_string(example.join(".expected/resource-list.yaml")).expect(".expected");
            assert_eq!(support::passes(&stdin).stdout, want, "{name}");
            assert_eq!(support::passes(&want).stdout, want, "{name}: run again");
            continue;
        }
        let before = files(&example);
        let output = support::passes(&packed(&before)).stdout;
        let after = expected(&example, &before);
        assert_eq!(unpacked(&output), after, "{name}");
        let results = &output[output.find("results:\n").expect("results") + "results:\n".len()..];
        assert_eq!(results, fs::read_to_string(example.join(".expected/results.yaml")).expect("results"), "{name}");
        let again = support::passes(&packed(&after)).stdout;
        assert_eq!(unpacked(&again), after, "{name}: run again");
    }
}

/// Writes the files of a package.
fn unpack(files: &BTreeMap<String, String>, folder: &Path) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }
}

/// Runs the function on a package through the real kpt.
fn eval(folder: &Path) -> std::process::Output {
    Command::new("kpt")
        .args(["fn", "eval", ".", "--exec", env!("CARGO_BIN_EXE_krm-merge"), "--fn-config", "fn-config.yaml"])
        .current_dir(folder)
        .output()
        .expect("kpt")
}

#[test]
fn each_example_gives_the_same_under_kpt() {
    if Command::new("kpt").arg("version").output().is_err() {
        eprintln!("skipped: kpt is not on PATH");
        return;
    }
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
    let _ = fs::remove_dir_all(&scratch);
    for example in examples().into_iter().filter(|e| e.join("fn-config.yaml").exists()) {
        let before = files(&example);
        let folder = scratch.join(example.file_name().expect("a name"));
        unpack(&before, &folder);
        for turn in ["once", "twice"] {
            let run = eval(&folder);
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            let after = expected(&example, &before);
            for (path, text) in &after {
                let got = fs::read_to_string(folder.join(path)).unwrap_or_default();
                assert_eq!(as_kpt_writes_it(&got), as_kpt_writes_it(text), "{turn}: {path} of {}", example.display());
            }
            assert_eq!(files(&folder).len(), after.len(), "{turn}: {}", example.display());
        }
    }
}

/// `kpt pkg update` leaves a package half updated when it fails; here it is as it was, and the user sees why.
#[test]
fn a_failed_upgrade_leaves_the_package_as_it_was_under_kpt() {
    if Command::new("kpt").arg("version").output().is_err() {
        eprintln!("skipped: kpt is not on PATH");
        return;
    }
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/merge-three-way-conflict");
    let mut before = files(&example);
    let config = before.get_mut("fn-config.yaml").expect("fn-config.yaml");
    *config = config.replace("TakeUpdated", "Fail");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failed");
    let _ = fs::remove_dir_all(&folder);
    unpack(&before, &folder);
    let run = eval(&folder);
    assert!(!run.status.success());
    let told = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    assert!(told.contains("`spec.template.spec.containers[name=app].image` was changed in dest"), "{told}");
    assert_eq!(files(&folder), before);
}

/// kpt itself folds the blanks before a comment and inside of flow maps, whatever the function does.
fn as_kpt_writes_it(text: &str) -> String {
    let text = text.replace("{ ", "{").replace(" }", "}").replace(" :", ":");
    text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}
