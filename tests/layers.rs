//! Imports point down only: no file uses a file that uses it, directly or through others. That holds in each crate, for each `use` line.
//!
//! A name counts for the file that defines it, wherever it is published again. A file and those of its own folder are one room: these may use
//! what the file above them defines.

#[path = "support/run.rs"]
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use run::{files, root};

/// The folders with the sources of the crates.
fn crates() -> Vec<String> {
    let crates =
        fs::read_dir(root().join("crates")).expect("a folder").map(|entry| entry.expect("readable").file_name());
    let mut crates: Vec<String> = crates.map(|name| format!("crates/{}/src", name.display())).collect();
    crates.extend(["src".to_owned(), "xtask/src".to_owned()]);
    crates
}

/// The files of a crate, by the paths of their modules.
struct Crate {
    modules: BTreeMap<Vec<String>, Module>,
}

#[derive(Default)]
struct Module {
    file: String,
    /// The names that it defines.
    defined: BTreeSet<String>,
    /// What it imports: a path, with the name that the last part of the path has here, and whether others may use that name.
    imports: Vec<Import>,
}

struct Import {
    path: Vec<String>,
    name: String,
    is_published: bool,
}

impl Crate {
    fn read(folder: &str) -> Self {
        let src = root().join(folder);
        let mut modules = BTreeMap::new();
        for file in files(&src).into_keys().filter(|file| file.ends_with(".rs")) {
            let path: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            // Tests beside the code may look at anything.
            if path.last().is_some_and(|name| name == "tests") {
                continue;
            }
            let path = if path == ["lib"] || path == ["main"] { Vec::new() } else { path };
            let text = fs::read_to_string(src.join(&file)).expect("readable");
            let code = without_tests(&text);
            let module: &mut Module = modules.entry(path.clone()).or_default();
            module.file = format!("{folder}/{file}");
            module.read(code, &path);
        }
        Self { modules }
    }

    /// The module whose file defines what a path names; `None` if it is of another crate.
    fn home(&self, path: &[String], most: usize) -> Option<&Vec<String>> {
        let (module, own) = (0..=path.len()).rev().find_map(|n| self.modules.get_key_value(&path[..n]))?;
        let Some(name) = path.get(module.len()) else { return Some(module) };
        let published = own.imports.iter().find(|import| import.is_published && import.name == *name);
        match published.filter(|_| most > 0 && !own.defined.contains(name)) {
            Some(import) => self.home(&import.path, most - 1),
            None => Some(module),
        }
    }

    /// For each module the modules that it uses.
    fn uses(&self) -> BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> {
        let of = |own: &[String], module: &Module| -> BTreeSet<&Vec<String>> {
            let used = module.imports.iter().filter(|import| !import.is_published);
            let used = used.filter_map(|import| self.home(&import.path, 8));
            used.filter(|used| !used.is_empty() && !own.starts_with(used)).collect()
        };
        self.modules.iter().map(|(path, module)| (path, of(path, module))).collect()
    }
}

/// The text of a file up to its tests.
fn without_tests(text: &str) -> &str {
    let tests = ["#[cfg(test)]\nmod ", "#[cfg(all(test, unix))]\nmod "];
    let at = tests.iter().filter_map(|tests| text.find(tests)).min();
    &text[..at.unwrap_or(text.len())]
}

impl Module {
    fn read(&mut self, code: &str, own: &[String]) {
        let mut lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        while let Some(line) = lines.next() {
            let line = line.trim();
            let bare = line
                .strip_prefix("pub ")
                .or_else(|| line.split_once(") ").filter(|(p, _)| p.starts_with("pub(")).map(|(_, l)| l));
            let (rest, is_published) = (bare.unwrap_or(line), bare.is_some());
            if let Some(first) = rest.strip_prefix("use ") {
                let mut all = first.to_owned();
                while !all.contains(';') {
                    all.push_str(lines.next().unwrap_or(";").trim());
                }
                for (path, name) in leaves(all.split(';').next().unwrap_or_default()) {
                    self.import(path, name, is_published, own);
                }
                continue;
            }
            let mut words = rest.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            let kinds = ["struct", "enum", "fn", "trait", "type", "const", "static"];
            if words.by_ref().take(3).any(|word| kinds.contains(&word)) {
                self.defined.extend(words.next().map(str::to_owned));
            }
        }
    }

    fn import(&mut self, path: Vec<String>, name: String, is_published: bool, own: &[String]) {
        let (up, rest) = match path.first().map(String::as_str) {
            Some("crate") => (Vec::new(), &path[1..]),
            Some("self") => (own.to_vec(), &path[1..]),
            Some("super") => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                (own[..own.len().saturating_sub(ups)].to_vec(), &path[ups..])
            }
            // A child, or another crate: a crate has no file of this name here.
            _ => (own.to_vec(), &path[..]),
        };
        self.imports.push(Import { path: [up, rest.to_vec()].concat(), name, is_published });
    }
}

/// The paths of a `use` tree, each with the name that it gets.
fn leaves(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    let Some((before, inside)) = tree.split_once('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let path: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
        let name = if name.is_empty() { path.last().cloned().unwrap_or_default() } else { name.trim().to_owned() };
        return vec![(path.into_iter().filter(|part| !part.is_empty()).collect(), name)];
    };
    let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inside.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("a part").push(c);
    }
    let whole = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    let paths = whole
        .map(|part| if part == "self" { before.trim_end_matches("::").to_owned() } else { format!("{before}{part}") });
    paths.flat_map(|path| leaves(&path)).collect()
}

#[test]
fn imports_point_down_only() {
    let mut circles = Vec::new();
    for folder in crates() {
        let all = Crate::read(&folder);
        let mut uses = all.uses();
        assert!(uses.len() > 2, "{folder}");
        // What uses nothing that is left is below the rest.
        while let Some(bottom) =
            uses.iter().find(|(own, used)| used.iter().all(|used| used == *own)).map(|(own, _)| *own)
        {
            uses.remove(bottom);
            uses.values_mut().for_each(|used| _ = used.remove(bottom));
        }
        // What nobody uses is above the circle.
        while let Some(top) =
            uses.keys().find(|own| !uses.iter().any(|(other, used)| other != *own && used.contains(*own))).copied()
        {
            uses.remove(top);
        }
        let file = |path: &Vec<String>| all.modules[path].file.clone();
        circles.extend(uses.iter().map(|(own, used)| {
            format!(
                "{} uses {}",
                file(own),
                used.iter().filter(|used| *used != own).map(|used| file(used)).collect::<Vec<_>>().join(", ")
            )
        }));
    }
    assert!(circles.is_empty(), "\n{}", circles.join("\n"));
}

#[test]
fn the_walker_knows_no_text_and_the_splicer_no_kubernetes() {
    let src = root().join("crates");
    let read = |name: &str| fs::read_to_string(src.join(Path::new(name))).expect("readable");
    let code = |text: String| text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let parts = ["merge.rs", "merge/comments.rs", "merge/list.rs", "merge/merged.rs", "merge/order.rs"]
        .map(|file| format!("krm-merge-core/src/{file}"));
    let walker = code(parts.map(|file| read(&file)).concat());
    for word in ["config", "Mode", "$patch", "source()"] {
        assert!(!walker.contains(word), "merge.rs must not know {word}");
    }
    let splicer = ["", "/block", "/comments", "/flow", "/json", "/print", "/print/flow", "/value"];
    let splicer = code(splicer.map(|file| read(&format!("krm-tree/src/splice{file}.rs"))).concat());
    for word in ["apiVersion", "metadata", "schema", "annotations"] {
        assert!(!splicer.contains(word), "splice must not know {word}");
    }
}

/// The crates of files and of git can serve any program: they know neither YAML nor packages of resources.
#[test]
fn a_leaf_needs_no_crate_but_leaves() {
    let leaves = ["krm-names", "krm-files", "krm-git", "krm-release"];
    for leaf in leaves {
        let text = fs::read_to_string(root().join(format!("crates/{leaf}/Cargo.toml"))).expect("readable");
        let needs = text.lines().filter_map(|line| line.split_once(".workspace").map(|(name, _)| name));
        let others: Vec<&str> = needs.filter(|name| name.starts_with("krm-") && !leaves.contains(name)).collect();
        assert!(others.is_empty(), "{leaf} needs {others:?}");
    }
}

/// The code of all files of the crates, without their tests, by the paths of the files.
fn codes() -> BTreeMap<String, String> {
    let of_crate = |folder: String| {
        let src = root().join(&folder);
        let names = files(&src).into_keys().filter(|name| name.ends_with(".rs") && !name.ends_with("tests.rs"));
        let read = move |name: String| {
            let text = fs::read_to_string(src.join(&name)).expect("readable");
            let code = without_tests(&text);
            let is_code = |line: &&str| !line.trim_start().starts_with("//");
            (format!("{folder}/{name}"), code.lines().filter(is_code).map(str::trim).collect::<String>())
        };
        names.map(read).collect::<Vec<_>>()
    };
    crates().into_iter().flat_map(of_crate).collect()
}

/// A word in a message may change on any day. So hosts look at what happened, and never at its English.
#[test]
fn nobody_reads_a_message() {
    let makers = ["message", "message_by", "without_place", "what", "what_by", "outcome", "place", "line"];
    let reads =
        ["==", "!=", ".contains", ".starts_with", ".ends_with", ".find", ".split", ".strip", ".replace", ".parse"];
    let is_read = |code: &str, maker: &str| {
        code.match_indices(maker).any(|(at, _)| {
            let mut depth = 0;
            let end = code[at..].find(|c: char| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                c == ')' && depth == 0
            });
            let rest = end.map_or("", |end| code[at + end + 1..].trim_start());
            reads.iter().any(|read| rest.starts_with(read))
        })
    };
    assert!(is_read("if krm_words::message(of(a)).contains(b)", "krm_words::message("));
    for (file, code) in codes() {
        let found: Vec<&str> =
            makers.into_iter().filter(|maker| is_read(&code, &format!("krm_words::{maker}("))).collect();
        assert!(found.is_empty(), "{file} reads {found:?}");
    }
}

/// What a merge tells is a `What`, and `krm-words` has its sentence. These files still make sentences of their own.
#[test]
fn sentences_are_made_in_one_crate() {
    let own: BTreeSet<String> =
        codes().into_iter().filter(|(_, code)| code.contains("Event::new(")).map(|(file, _)| file).collect();
    // TODO: errors of the functionConfig and of roles, what `live` says, and errors of the module become events, too.
    let known = [
        "crates/krm-job/src/event.rs",
        "crates/krm-job/src/job/sources.rs",
        "crates/krm-job/src/job/three_way.rs",
        "crates/krm-job/src/results.rs",
        "crates/krm-json/src/merge.rs",
        "crates/krm-live/src/adopt.rs",
        "crates/krm-live/src/applyset.rs",
        "crates/krm-live/src/claim.rs",
        "crates/krm-live/src/cluster.rs",
        "crates/krm-live/src/remarks.rs",
        "crates/krm-live/src/send.rs",
        "src/exec_plugin.rs",
    ];
    assert_eq!(own, known.map(str::to_owned).into());
}
