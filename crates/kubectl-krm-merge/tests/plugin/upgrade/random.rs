//! Upgrades of random packages between random releases, with random edits and random records, beside a reference merge.
//!
//! The reference knows nothing of YAML: a package is a map of files, a file is a map of fields. `KRM_MERGE_LAWS=N` upgrades
//! N times as many.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

use super::repository::{commit, git};
use crate::support::{Folder, laws, seed};

/// Random numbers: SplitMix64.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).expect("small")
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A package: its files, each with its fields.
type Files = BTreeMap<String, Fields>;
type Fields = BTreeMap<String, String>;

const NAMES: [&str; 6] = ["a", "b", "deep/c", "deep/er/d", "e e", "ü"];
const KEYS: [&str; 5] = ["one", "two", "three", "four", "five"];
const VALUES: [&str; 7] = ["x", "'1'", "\"\"", "|\n    two\n    lines", "\"a: b\"", "y", ">-\n    folded\n    text"];

/// How a file is written: it is the same to the reference.
#[derive(Clone, Copy)]
enum Writing {
    Plain,
    Commented,
    WithoutEnd,
    Windows,
}

const WRITINGS: [Writing; 5] =
    [Writing::Plain, Writing::Plain, Writing::Commented, Writing::WithoutEnd, Writing::Windows];

/// The text of a file. Its `id` keeps it apart from the others, so that none is taken for another one under a new name. The last one stands
/// at the end, for a block scalar there would have another value without a line break.
fn text(name: &str, fields: &Fields, writing: Writing) -> String {
    let id: String = (0..8).map(|at| format!("  id{at}: {name}-{}\n", at * name.len())).collect();
    let name: String = name.chars().filter(char::is_ascii_alphabetic).collect();
    let comment = |key: &str| match writing {
        Writing::Commented if key.len() == 3 => format!("  # about {key}\n\n    # deeper than {key}\n"),
        _ => String::new(),
    };
    let fields: String = fields.iter().map(|(key, value)| format!("{}  {key}: {value}\n", comment(key))).collect();
    let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x{name}\ndata:\n{id}{fields}  id9: end\n");
    match writing {
        Writing::WithoutEnd => text.trim_end().to_owned(),
        Writing::Windows => text.replace('\n', "\r\n"),
        Writing::Plain | Writing::Commented => text,
    }
}

/// Changes some fields and files.
fn changed(files: &Files, random: &mut Random) -> Files {
    let mut files = files.clone();
    for _ in 0..random.below(5) {
        let (name, key) = (random.of(&NAMES).to_owned(), random.of(&KEYS).to_owned());
        match random.below(6) {
            0 => _ = files.remove(&name),
            1 => _ = files.entry(name).or_default().remove(&key),
            _ => _ = files.entry(name).or_default().insert(key, random.of(&VALUES).to_owned()),
        }
    }
    files
}

/// How one name of a map merges: what each side has there.
struct Sides<'a, T> {
    original: Option<&'a T>,
    updated: Option<&'a T>,
    dest: Option<&'a T>,
}

/// A conflict.
struct Both;

impl<T: Clone + PartialEq> Sides<'_, T> {
    /// What the side that changed it says; if both did, what `both` says.
    fn merged(&self, both: impl Fn(&Self) -> Result<T, Both>) -> Result<Option<T>, Both> {
        let Self { original, updated, dest } = *self;
        match (updated, dest) {
            _ if updated == dest || updated == original => Ok(dest.cloned()),
            _ if dest == original => Ok(updated.cloned()),
            (Some(_), Some(_)) => both(self).map(Some),
            _ => Err(Both),
        }
    }
}

/// Merges maps name by name.
fn map_merged<T: Clone + PartialEq>(
    sides: &Sides<'_, BTreeMap<String, T>>,
    both: impl Fn(&Sides<'_, T>) -> Result<T, Both>,
) -> Result<BTreeMap<String, T>, Both> {
    let all = [sides.original, sides.updated, sides.dest];
    let names: BTreeSet<&String> = all.iter().flatten().flat_map(|side| side.keys()).collect();
    let mut out = BTreeMap::new();
    for name in names {
        let [original, updated, dest] = all.map(|side| side.and_then(|side| side.get(name)));
        if let Some(value) = (Sides { original, updated, dest }).merged(&both)? {
            out.insert(name.clone(), value);
        }
    }
    Ok(out)
}

/// What the upgrade must give. Files that both sides added merge as if original had an empty one.
fn reference(original: &Files, updated: &Files, dest: &Files) -> Result<Files, Both> {
    let sides = Sides { original: Some(original), updated: Some(updated), dest: Some(dest) };
    map_merged(&sides, |fields| map_merged(fields, |_| Err(Both)))
}

/// A record that a stranger wrote: the true one with some of it replaced.
fn strange(record: &str, random: &mut Random) -> String {
    const PARTS: [&str; 14] = [
        "\"\"",
        "null",
        "[]",
        "{}",
        "../..",
        "-x",
        "ext::touch ran",
        "file:///",
        ".git",
        "refs/heads/main",
        "*x",
        "&x y",
        "00000000000000000000000000000000000000000000000000000000000000ff",
        "!!binary x",
    ];
    let mut lines: Vec<String> = record.lines().map(str::to_owned).collect();
    for _ in 0..=random.below(3) {
        let at = random.below(lines.len());
        let line = lines[at].clone();
        match (random.below(4), line.split_once(": ")) {
            (0, _) => _ = lines.remove(at),
            (1, _) => lines.insert(at, line),
            (_, Some((key, _))) => lines[at] = format!("{key}: {}", random.of(&PARTS)),
            (_, None) => lines[at] = format!("{line} {}", random.of(&PARTS)),
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n") + "\n"
}

/// A repository with a branch of releases `v0` and so on: git reads all of them from one stream.
fn released(folder: &Folder, releases: &[Files], random: &mut Random) {
    let repository = folder.path("up.git");
    git(&folder.0, &["init", "--quiet", "--bare", "up.git"]);
    git(&repository, &["config", "uploadpack.allowFilter", "true"]);
    let mut stream = Vec::new();
    let data = |text: &str| format!("data {}\n{text}\n", text.len());
    for (at, files) in releases.iter().enumerate() {
        let head = format!("commit refs/heads/main\ncommitter x <x@example.com> {at} +0000\n");
        stream.extend([head, data("x"), "deleteall\n".to_owned()].concat().into_bytes());
        let mut all: Vec<(String, String)> = files
            .iter()
            .map(|(name, fields)| (format!("{name}.yaml"), text(name, fields, random.of(&WRITINGS))))
            .collect();
        if random.one_in(2) {
            let evil = "upstream:\n  git: {repo: https://example.com/evil, directory: /, ref: v1}\n";
            let evil = if random.one_in(2) { evil } else { "" };
            let kptfile = format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: up\n{evil}");
            all.push(("Kptfile".to_owned(), kptfile));
        }
        if random.one_in(3) {
            all.push((".krm-merge.yaml".to_owned(), "spec: {upstream: {run: [touch, ran]}}\n".to_owned()));
        }
        for (path, text) in all {
            stream.extend(format!("M 100644 inline \"d/{path}\"\n{}", data(&text)).into_bytes());
        }
        stream.extend(format!("reset refs/tags/v{at}\nfrom refs/heads/main\n\n").into_bytes());
    }
    let mut import = Command::new("git");
    import.args(["fast-import", "--quiet"]).current_dir(&repository).stdin(Stdio::piped());
    let mut child = import.spawn().expect("git runs");
    child.stdin.take().expect("piped").write_all(&stream).expect("written");
    assert!(child.wait().expect("git ends").success());
}

/// The fields of the resources of a package.
fn read(folder: &Folder, package: &str) -> Files {
    let mut files = Files::new();
    for (path, bytes) in folder.files(package) {
        let Some(name) = path.strip_suffix(".yaml").filter(|name| NAMES.contains(name)) else { continue };
        let value: serde_json::Value = yaml_serde::from_slice(&bytes).expect("YAML");
        let data = value.get("data").and_then(serde_json::Value::as_object).cloned().unwrap_or_default();
        let own = data.iter().filter(|(key, _)| !key.starts_with("id"));
        files.insert(name.to_owned(), own.map(|(key, value)| (key.clone(), value.to_string())).collect());
    }
    files
}

/// The fields as a reader of YAML sees them.
fn values(files: &Files) -> Files {
    let value = |written: &String| {
        let read: serde_json::Value = yaml_serde::from_str(&format!("x: {written}\n")).expect("YAML");
        read["x"].to_string()
    };
    let of = |fields: &Fields| fields.iter().map(|(key, written)| (key.clone(), value(written))).collect();
    files.iter().map(|(name, fields)| (name.clone(), of(fields))).collect()
}

fn write(folder: &Folder, package: &str, old: &Files, new: &Files, random: &mut Random) {
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        std::fs::remove_file(folder.path(&format!("{package}/{name}.yaml"))).expect("removed");
    }
    for (name, fields) in new.iter().filter(|(name, fields)| old.get(*name) != Some(fields)) {
        let writing = random.of(&WRITINGS);
        folder.write(&format!("{package}/{name}.yaml"), text(name, fields, writing));
    }
}

/// Upgrades one package between two releases. Returns whether it merged without a conflict.
fn upgraded(folder: &Folder, releases: &[Files], random: &mut Random, name: &str) -> bool {
    let [from, to] = [random.below(releases.len()), random.below(releases.len())];
    let source = format!("file://{}/d@v{from}", folder.path("up.git").display());
    folder.run(&["get", &source, &format!("mine/{name}")]).passed();
    let package = format!("mine/{name}");
    let dest = changed(&releases[from], random);
    write(folder, &package, &releases[from], &dest, random);
    commit(&folder.path("mine"), name);
    let before = folder.files(&package);
    let ran = folder.run(&["upgrade", &package, "--to", &format!("v{to}")]);
    assert!(!ran.stderr.contains("fault of krm-merge"), "{ran:?}");
    let want = reference(&releases[from], &releases[to], &dest);
    let what = || format!("{:?}\n{:?}\n{dest:?}\n{ran:?}", releases[from], releases[to]);
    match (&want, ran.code) {
        (_, Some(2)) => panic!("{}", what()),
        (Ok(want), code) => {
            assert_eq!(code, Some(0), "{}", what());
            assert_eq!(read(folder, &package), values(want), "{}", what());
        }
        (Err(Both), code) => assert_eq!(code, Some(1), "{}", what()),
    }
    let record = ["Kptfile", ".krm-merge.yaml"].map(|file| folder.files(&package).remove(file).unwrap_or_default());
    let record = String::from_utf8(record.concat()).expect("text");
    assert!(!record.contains("evil") && record.contains("upstreamLock") && !record.contains("touch"), "{}", what());
    if want.is_ok() {
        assert_eq!(record.matches(&format!("ref: v{to}\n")).count(), 2, "{record}");
        let after = folder.files(&package);
        let again = folder.run(&["upgrade", &package, "--to", &format!("v{to}"), "--allow-dirty"]);
        assert!(again.passed().contains("already"));
        assert_eq!(folder.files(&package), after);
    }
    // Back to what was committed, with a record that a stranger wrote.
    git(&folder.path("mine"), &["reset", "--quiet", "--hard"]);
    let file = if before.contains_key("Kptfile") { "Kptfile" } else { ".krm-merge.yaml" };
    let strange = strange(&String::from_utf8_lossy(&before[file]), random);
    folder.write(&format!("{package}/{file}"), &strange);
    commit(&folder.path("mine"), "strange");
    let before = folder.files(&package);
    for args in [&["upgrade", &package, "--check"][..], &["upgrade", &package, "--allow-exec", "--on-conflict", "fail"]]
    {
        let ran = folder.run(args);
        assert!(matches!(ran.code, Some(0..=2)), "{strange}\n{ran:?}");
        assert!(ran.code != Some(2) || folder.files(&package) == before, "{strange}\n{ran:?}");
    }
    assert!(!folder.path("ran").exists() && !folder.path("mine/ran").exists(), "{strange}");
    want.is_ok()
}

#[test]
fn random_packages_are_upgraded_as_the_reference_says() {
    let times = 25 * laws();
    let random = &mut Random(seed());
    let (mut clean, mut folder, mut releases) = (0, Folder::new(), Vec::new());
    for at in 0..times {
        if at % 50 == 0 {
            folder = Folder::new();
            let first: Files = NAMES[..4].iter().map(|name| ((*name).to_owned(), Fields::new())).collect();
            releases = vec![changed(&changed(&first, random), random)];
            for _ in 0..8 {
                releases.push(changed(releases.last().expect("one"), random));
            }
            releases.iter_mut().for_each(|files| _ = files.entry("a".to_owned()).or_default());
            released(&folder, &releases, random);
        }
        clean += usize::from(upgraded(&folder, &releases, random, &format!("p{at}")));
    }
    assert!(clean * 4 > times, "too few merges without a conflict: {clean} of {times}");
}
