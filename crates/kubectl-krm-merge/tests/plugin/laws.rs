//! What holds for every upgrade of a package, over generated ones: the diff, applied, is what is written in place; a second run changes
//! nothing; what is printed is what is on disk; and what neither side touched is as it was, to the byte.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use krm_tree::limit::Budget;
use krm_yaml::{Document, NodeRef};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{Folder, has, map};
use crate::{function, shared};

const SIDES: [&str; 3] = ["v1", "v2", "here"];
/// Without renames: the model of the laws knows of none.
const UPGRADE: [&str; 9] =
    ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--renames", "ignore"];

/// The files of a package: some may hold resources by their names, some cannot.
const PATHS: [&str; 8] =
    ["a.yaml", "sub/b.yml", "two words.yaml", "Kptfile", "-dash.yaml", "README", "bin/run.sh", "quo\"te's.md"];
const MAY_HOLD: usize = 5;

/// What can stand in a file that holds no resources.
const PLAIN: [&str; 8] = [
    "",
    "one\n",
    "one\ntwo\nthree\n",
    "one\r\ntwo\r\n",
    "no end",
    "one\rtwo\nthree\rfour\n",
    "# a comment\n",
    "\u{feff}x: 1\n",
];

/// A file of one side.
#[derive(Clone, Debug, PartialEq, Eq)]
enum File {
    Nothing,
    Plain(usize),
    Binary(u8),
    /// ConfigMaps by the number in their names, each with its value.
    Resources(BTreeMap<u8, u8>, Style),
}

/// How resources are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Style(u8);

impl Style {
    fn write(self, text: &str) -> String {
        let text = if self.0 & 1 != 0 { text.replace('\n', "\r\n") } else { text.to_owned() };
        let text = if self.0 & 2 != 0 { text.trim_end().to_owned() } else { text };
        let text = if self.0 & 4 != 0 { format!("\u{feff}{text}") } else { text };
        if self.0 & 8 != 0 { format!("# licence\n\n{text}") } else { text }
    }
}

impl File {
    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        match self {
            Self::Nothing => None,
            Self::Plain(n) => Some(PLAIN[*n].as_bytes().to_vec()),
            Self::Binary(n) => Some(vec![0, *n, 0xff]),
            Self::Resources(maps, style) => {
                let text = |(name, value): (&u8, &u8)| {
                    map(
                        &format!("{}-{name}", path.replace(|c: char| !c.is_ascii_alphanumeric(), "x")),
                        &[("x", &format!("'{value}'"))],
                    )
                };
                Some(style.write(&maps.iter().map(text).collect::<Vec<_>>().join("---\n")).into_bytes())
            }
        }
    }
}

fn file(may_hold: bool) -> BoxedStrategy<File> {
    let plain = (0..PLAIN.len()).prop_map(File::Plain);
    let maps = prop::collection::btree_map(0u8..4, 0u8..3, 1..4);
    // A comment before a mark of the order of bytes is none.
    let style = prop::sample::select(vec![0, 0, 1, 2, 3, 4, 5, 6, 8]).prop_map(Style);
    let resources = (maps, style).prop_map(|(maps, style)| File::Resources(maps, style));
    if may_hold {
        prop_oneof![1 => Just(File::Nothing), 1 => plain, 8 => resources].boxed()
    } else {
        prop_oneof![2 => Just(File::Nothing), 4 => plain, 1 => (0u8..3).prop_map(File::Binary)].boxed()
    }
}

/// The three states of a file, which mostly agree in something.
fn states(may_hold: bool) -> impl Strategy<Value = [File; 3]> {
    (file(may_hold), file(may_hold), file(may_hold), 0u8..16).prop_map(move |(one, two, three, which)| match which {
        0 => [one.clone(), two, one],
        1 => [one.clone(), one, two],
        2 => [one, two.clone(), two],
        3 => [one.clone(), one.clone(), one],
        // Plain content and resources on three sides mostly end in an error.
        4..14 if may_hold => {
            [&one, &two, &three].map(|file| if matches!(file, File::Plain(_)) { File::Nothing } else { file.clone() })
        }
        _ => [one, two, three],
    })
}

fn package() -> impl Strategy<Value = Vec<[File; 3]>> {
    (prop::collection::vec(states(true), MAY_HOLD), prop::collection::vec(states(false), PATHS.len() - MAY_HOLD))
        .prop_map(|(held, plain)| [held, plain].concat())
}

/// The ConfigMaps of a text, by name, and what they hold.
fn maps(text: &str) -> BTreeMap<String, String> {
    let document = Document::parse(text.to_owned()).expect("YAML");
    let roots = document.roots().filter(|root| root.at(&["metadata", "name"]).is_some());
    let value = |root: NodeRef<'_>| krm_tree::splice::to_json(root, &Budget::default()).expect("a small text");
    roots.map(|root| (root.at(&["metadata", "name"]).expect("a name").string().to_owned(), value(root))).collect()
}

fn check(package: &[[File; 3]], executable: &BTreeSet<(usize, usize)>) {
    let folder = Folder::new();
    for side in SIDES {
        folder.write(&format!("{side}/base.yaml"), map("base", &[("x", "'1'")]));
    }
    for (i, (path, states)) in PATHS.iter().zip(package).enumerate() {
        for (n, (side, state)) in SIDES.iter().zip(states).enumerate() {
            let Some(bytes) = state.bytes(path) else { continue };
            let path = format!("{side}/{path}");
            folder.write(&path, bytes);
            if executable.contains(&(n, i)) {
                let status = Command::new("chmod").arg("+x").arg(folder.path(&path)).status().expect("chmod");
                assert!(status.success());
            }
        }
    }
    let before = folder.files("here");
    let run = |more: &[&str]| folder.run(&[&UPGRADE[..], more].concat());
    let diff = run(&["-o", "diff"]);
    assert_eq!(folder.files("here"), before, "looking changes nothing");
    let told = |what: &str| format!("{what}\n{package:?}\n{}\n{}", diff.stdout, diff.stderr);
    let copies: Vec<Folder> = ["git", "patch"]
        .into_iter()
        .map(|_| {
            let copy = Folder::new();
            let status = Command::new("cp").arg("-a").arg(folder.path("here")).arg(copy.path("")).status().expect("cp");
            assert!(status.success());
            copy
        })
        .collect();
    let printed = run(&[]);
    let written = run(&["--in-place"]);
    assert_eq!(written.code, diff.code, "{}", told("both end alike"));
    let after = folder.files("here");
    if diff.code != Some(0) {
        assert_eq!(diff.code, Some(2), "{}", told("an error"));
        let names_a_file = |line: &str| PATHS.iter().any(|path| line.contains(path)) || line.contains("resources");
        assert!(
            diff.stderr.lines().filter(|l| l.starts_with("error: ")).any(names_a_file),
            "{}",
            told("it names a file")
        );
        assert!(after == before && printed.stdout.is_empty(), "{}", told("nothing is written"));
        return;
    }
    let modes = |folder: &Folder| {
        let mut find = Command::new("find");
        find.args([".", "-type", "f", "-printf", "%M %P\\n"]).current_dir(folder.path("here"));
        let find = find.output().expect("find");
        String::from_utf8_lossy(&find.stdout)
            .lines()
            .map(|l| (l[3..4].to_owned(), l[11..].to_owned()))
            .collect::<BTreeSet<_>>()
    };
    // What no patch can say: bytes that are no text, and for GNU patch that an empty file goes.
    let is_binary = diff.stdout.contains("Binary files");
    for (program, copy) in ["git", "patch"].into_iter().zip(&copies) {
        let patch = folder.path("diff.patch");
        std::fs::write(&patch, &diff.stdout).expect("written");
        let args = if program == "git" { ["apply", "--whitespace=nowarn"] } else { ["-Np1", "--binary"] };
        let mut command = Command::new(program);
        command.args(args).current_dir(copy.path("here")).env("GIT_CEILING_DIRECTORIES", "/");
        let ran = command.stdin(std::fs::File::open(&patch).expect("there")).output().expect(program);
        let empty_goes = before.iter().any(|(path, bytes)| bytes.is_empty() && !after.contains_key(path));
        if is_binary || (program == "patch" && empty_goes) {
            assert!(!ran.status.success(), "{}", told("it says so"));
            continue;
        }
        if diff.stdout.contains("diff --git") {
            assert!(ran.status.success(), "{program}: {ran:?}\n{}", told("the diff is taken"));
        }
        assert_eq!(copy.files("here"), after, "{program}: {}", told("the diff is all that is written"));
        assert_eq!(modes(copy), modes(&folder), "{program}: {}", told("modes"));
    }
    // What is printed are the resources that are on disk.
    let on_disk =
        after.iter().filter(|(path, _)| path.ends_with("yaml") || path.ends_with("yml") || *path == "Kptfile");
    let on_disk: BTreeMap<String, String> =
        on_disk.flat_map(|(_, bytes)| maps(std::str::from_utf8(bytes).expect("UTF-8"))).collect();
    assert_eq!(maps(&printed.stdout), on_disk, "{}", told(&printed.stdout));
    // What only dest has or changed is there.
    for (path, [original, updated, dest]) in PATHS.iter().zip(package) {
        if original == updated {
            assert_eq!(after.get(*path), dest.bytes(path).as_ref(), "{path}: {}", told("upstream did nothing"));
        }
        if original == dest
            && matches!((updated, original), (File::Plain(_) | File::Binary(_), File::Plain(_) | File::Binary(_)))
        {
            assert_eq!(after.get(*path), updated.bytes(path).as_ref(), "{path}: {}", told("dest did nothing"));
        }
        let (File::Resources(old, _), File::Resources(new, _), File::Resources(here, _)) = (original, updated, dest)
        else {
            continue;
        };
        let got = after.get(*path).map(|bytes| maps(std::str::from_utf8(bytes).expect("UTF-8"))).unwrap_or_default();
        let got: BTreeMap<u8, Value> = got
            .into_iter()
            .map(|(name, json)| {
                let value: Value = serde_json::from_str(&json).expect("JSON");
                (name.rsplit_once('-').expect("a number").1.parse().expect("a number"), value["data"]["x"].clone())
            })
            .collect();
        // One field, and the table of three-way.
        let want: BTreeMap<u8, Value> = (0..4)
            .filter_map(|i| {
                match [old.get(&i), new.get(&i), here.get(&i)] {
                    [None, None, here] => here,
                    [None, new, _] => new,
                    [Some(_), None, _] | [Some(_), _, None] => None,
                    [old, new, here] if old == new => here,
                    [_, new, _] => new,
                }
                .map(|value| (i, Value::from(value.to_string())))
            })
            .collect();
        assert_eq!(got, want, "{path}: {}", told("the table"));
    }
    // Whether a file can be executed goes the way of its content.
    let modes = modes(&folder);
    for (i, (path, states)) in PATHS.iter().zip(package).enumerate() {
        let bits = [0, 1, 2].map(|side| executable.contains(&(side, i)));
        if after.contains_key(*path) && states.iter().all(|s| *s == states[0]) {
            let want = if bits[0] == bits[1] { bits[2] } else { bits[1] };
            assert!(
                modes.contains(&(if want { "x" } else { "-" }.to_owned(), (*path).to_owned())),
                "{path}: {}",
                told("modes")
            );
        }
    }
    let again = run(&["--in-place"]);
    assert_eq!(again.code, Some(0), "{}{}", again.stderr, told("again"));
    assert_eq!(folder.files("here"), after, "{}", told("a second run changes nothing"));
}

/// What the function makes of the same package under kpt, which writes it in its own form: file by file the same resources.
fn check_with_kpt(package: &[[File; 3]]) {
    let folder = Folder::new();
    let config = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: m\nspec:\n  mode: ThreeWay\n  renames: Ignore\n  original:\n  - path: upstream/v1/\n  updated:\n  - path: upstream/v2/\n";
    folder.write("fn.yaml", config);
    for (n, side) in SIDES.iter().enumerate() {
        let under_kpt = ["kpt/upstream/v1", "kpt/upstream/v2", "kpt"][n];
        for root in [*side, under_kpt] {
            folder.write(&format!("{root}/base.yaml"), map("base", &[("x", "'1'")]));
            for (path, states) in PATHS.iter().zip(package).filter(|(path, _)| path.ends_with("ml")) {
                let Some(bytes) = states[n].bytes(path) else { continue };
                folder.write(&format!("{root}/{path}"), bytes);
            }
        }
    }
    let ours = folder.run(&[&UPGRADE[..], &["--in-place"]].concat());
    let mut kpt = Command::new("kpt");
    kpt.args(["fn", "eval", "kpt", "--fn-config", "fn.yaml", "--exec", function::program()]);
    let theirs = crate::support::Ran::of(kpt.current_dir(&folder.0).output().expect("kpt"));
    assert_eq!((ours.code, theirs.code), (Some(0), Some(0)), "{package:?} {ours:?} {theirs:?}");
    let held = |root: &str| -> BTreeMap<String, BTreeMap<String, String>> {
        let files = folder.files(root).into_iter().filter(|(path, _)| !path.starts_with("upstream/"));
        files.map(|(path, bytes)| (path, maps(std::str::from_utf8(&bytes).expect("UTF-8")))).collect()
    };
    assert_eq!(held("here"), held("kpt"), "{package:?}\n{ours:?}");
}

/// Resources alone, as kpt reads them: it knows no mark of the order of bytes.
fn resources() -> impl Strategy<Value = Vec<[File; 3]>> {
    let plain = |file: File| match file {
        File::Resources(maps, style) => File::Resources(maps, Style(style.0 & !4)),
        _ => File::Nothing,
    };
    prop::collection::vec(states(true).prop_map(move |states| states.map(plain)), MAY_HOLD)
}

proptest! {
    #![proptest_config(shared::tries(8))]

    #[test]
    fn a_folder_is_upgraded_as_the_function_does_it_under_kpt(package in resources()) {
        if has("kpt") {
            check_with_kpt(&package);
        }
    }
}

proptest! {
    #![proptest_config(shared::tries(40))]

    #[test]
    fn the_diff_is_what_is_written_and_nothing_is_lost(
        package in package(), executable in prop::collection::btree_set((0..3usize, MAY_HOLD..PATHS.len()), 0..5),
    ) {
        if has("git") && has("patch") {
            check(&package, &executable);
        }
    }
}
