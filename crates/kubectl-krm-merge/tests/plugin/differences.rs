//! What holds for every two states of a file: `diff` names it if its values differ, and only then; and the patch that `extract` prints turns
//! the one into the other, or the differences that it lacks are named. On the next release, the patch does what a three-way merge does,
//! unless that has a conflict, or an info says where the patch does more.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::render::{self, Style};
use crate::shared;
use crate::support::{Folder, Ran};

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// A resource of a built-in type.
    Pod,
    /// A resource of an unknown type.
    Custom,
    /// A document without a name.
    Values,
    /// The same, as a list.
    List,
}

/// A file in three states, each with the way in which it is written.
#[derive(Clone, Debug)]
struct Case {
    holds: Holds,
    /// The values in original, in dest, and in the next release.
    states: [Value; 3],
    styles: [(Vec<u8>, u8); 3],
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => prop::sample::select(&render::TEXTS[..]).prop_map(Value::from),
        2 => prop::sample::select(vec!["web:1", "web:2", "mirror.example.com/web:1", "one\ntwo\nthree\n", "one\n2\nthree\n"])
            .prop_map(Value::from),
        2 => (0..3i64).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

/// An element of a list that merges by name.
fn element() -> impl Strategy<Value = Value> {
    let field = prop::sample::select(vec!["image", "tty", "command", "workingDir"]);
    (prop::sample::select(vec!["a", "b", "c"]), prop::collection::btree_map(field, scalar(), 0..3)).prop_map(
        |(name, fields)| {
            let fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value));
            Value::Object([("name".to_owned(), name.into())].into_iter().chain(fields).collect())
        },
    )
}

/// The elements, each name once.
fn named(elements: Vec<Value>) -> Value {
    let mut known = BTreeSet::new();
    Value::Array(elements.into_iter().filter(|element| known.insert(element["name"].to_string())).collect())
}

fn field() -> impl Strategy<Value = (&'static str, Value)> {
    prop_oneof![
        3 => (prop::sample::select(vec!["a", "b", "nodeName", "image"]), scalar()),
        2 => prop::collection::btree_map("[a-c]", scalar(), 0..3)
            .prop_map(|fields| ("nodeSelector", Value::Object(fields.into_iter().collect()))),
        2 => prop::collection::vec(element(), 1..4).prop_map(|list| ("containers", named(list))),
        1 => prop::collection::vec(scalar(), 1..4).prop_map(|list| ("args", Value::Array(list))),
    ]
}

fn spec() -> impl Strategy<Value = Value> {
    let fields = prop::collection::vec(field(), 0..4);
    let of = |(key, value): (&str, Value)| (key.to_owned(), value);
    fields.prop_map(move |fields| Value::Object(fields.into_iter().map(of).collect()))
}

/// A state with a few fields of another one.
fn changed(mut state: Value, other: &Value, which: u8) -> Value {
    let Value::Object(fields) = &mut state else { return state };
    match which % 5 {
        0 => fields.pop_last(),
        1 => fields.extend(other.as_object().into_iter().flatten().take(1).map(|(k, v)| (k.clone(), v.clone()))),
        2 => return other.clone(),
        3 => {
            let below = fields.get_mut("containers").and_then(Value::as_array_mut);
            below.into_iter().flatten().for_each(|element| element["image"] = json!(format!("web:{which}")));
        }
        _ => {
            let below = fields.get_mut("containers").and_then(Value::as_array_mut);
            below.into_iter().for_each(|list| list.reverse());
        }
    }
    state
}

trait PopLast {
    fn pop_last(&mut self);
}

impl PopLast for Map<String, Value> {
    fn pop_last(&mut self) {
        if let Some(key) = self.keys().next_back().cloned() {
            self.remove(&key);
        }
    }
}

fn case(holds: &'static [Holds]) -> impl Strategy<Value = Case> {
    let style = || (prop::collection::vec(any::<u8>(), 1..12), prop::sample::select(vec![0, 0, 0, 1, 2, 4]));
    let states = (spec(), spec(), spec(), any::<[u8; 2]>()).prop_map(|(one, two, three, [own, of_next])| {
        let dest = if own < 80 { one.clone() } else { changed(one.clone(), &two, own) };
        let next = if of_next < 80 { one.clone() } else { changed(one.clone(), &three, of_next) };
        [one, dest, next]
    });
    (prop::sample::select(holds), states, [style(), style(), style()]).prop_map(|(holds, states, styles)| Case {
        holds,
        states,
        styles,
    })
}

impl Case {
    fn text(&self, number: usize, state: usize) -> String {
        let spec = self.states[state].clone();
        let resource = |api_version: &str, kind: &str| {
            let metadata = json!({"name": format!("no{number}")});
            json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec})
        };
        let value = match self.holds {
            Holds::Pod => resource("v1", "Pod"),
            Holds::Custom => resource("example.com/v1", "Thing"),
            Holds::Values => json!({"number": number, "values": spec}),
            Holds::List => json!([number, spec]),
        };
        let (style, odd) = &self.styles[state];
        render::odd(Style::new(style).document(&value), *odd)
    }
}

const STATES: [&str; 3] = ["original", "dest", "next"];

fn folder(cases: &[Case]) -> Folder {
    let folder = Folder::in_memory();
    for (number, case) in cases.iter().enumerate() {
        for (state, name) in STATES.into_iter().enumerate() {
            folder.write(&format!("{name}/{number}.yaml"), case.text(number, state));
        }
    }
    folder
}

/// The numbers of the files of a state that a text names.
fn numbers(text: &str, state: &str) -> BTreeSet<usize> {
    let before = format!("{state}/");
    let places = text.split(&before).skip(1);
    places.filter_map(|rest| rest.split(".yaml").next()?.parse().ok()).collect()
}

/// The number of the file that a difference is about.
fn number(difference: &Value) -> Option<usize> {
    difference["file"]["path"].as_str()?.split('.').next()?.parse().ok()
}

fn check_diff(cases: &[Case]) {
    let folder = folder(cases);
    let differ = |case: &Case| case.states[0] != case.states[1];
    let want: BTreeSet<usize> = (0..cases.len()).filter(|i| differ(&cases[*i])).collect();
    let run = |output: &str| {
        let ran = folder.run(&["diff", "original", "dest", "-o", output]);
        assert_eq!(ran.code, Some(i32::from(!want.is_empty())), "{output}: {ran:?} {cases:?}");
        ran.stdout
    };
    for output in ["fields", "markdown"] {
        assert_eq!(numbers(&run(output), "dest"), want, "{output} {cases:?}");
    }
    let of_name = |line: &str| line.rsplit('/').next()?.trim_start_matches("no").split('.').next()?.parse().ok();
    let names: BTreeSet<usize> = run("name").lines().filter_map(of_name).collect();
    assert_eq!(names, want, "{cases:?}");
    let json: Vec<Value> = serde_json::from_str(&run("json")).expect("JSON");
    assert_eq!(json.iter().filter_map(number).collect::<BTreeSet<usize>>(), want, "{cases:?}");
    let results = run("results");
    let paths = results.lines().filter_map(|line| line.trim().strip_prefix("path: ")?.strip_suffix(".yaml"));
    assert_eq!(paths.filter_map(|path| path.parse().ok()).collect::<BTreeSet<usize>>(), want, "{cases:?}");
}

/// Applies the patch to a state, and returns the files in which the result and another state have different values.
fn applied(folder: &Folder, mode: &str, state: &str, other: &str) -> BTreeSet<usize> {
    let ran = folder.run(&[mode, "--source", "patch.yaml", "--dest", state, "--in-place"]);
    assert_eq!(ran.code, Some(0), "{ran:?}\n{}", folder.read("patch.yaml"));
    let differences: Vec<Value> =
        serde_json::from_str(&folder.run(&["diff", state, other, "-o", "json"]).stdout).expect("JSON");
    // If the patch removes all fields of a map, an empty map stays, also where the next release has removed it. And where the release
    // adds elements, too, the patch puts its own after those.
    let is_known = |difference: &&Value| {
        let [old, new] = ["currentValue", "proposedValue"].map(|value| &difference["field"][value]);
        let is_order = difference["message"].as_str().is_some_and(|message| message.ends_with("in another order"));
        *old == json!({}) && new.is_null() || is_order && state == "next"
    };
    differences.iter().filter(|difference| !is_known(difference)).filter_map(number).collect()
}

fn check_extract(cases: &[Case], mode: &str, extent: &[&str]) {
    let folder = folder(cases);
    let extract = || -> Ran { folder.run(&[&["extract", "original", "dest", "--mode", mode], extent].concat()) };
    let mut ran = extract();
    // Where a patch cannot express a difference, its file is named. Without these files, a patch is printed.
    if ran.code == Some(1) {
        assert_eq!(ran.stdout, "");
        let named = numbers(&ran.stderr, "dest");
        assert!(!named.is_empty(), "{ran:?}");
        for (number, state) in named.iter().flat_map(|number| STATES.map(|state| (number, state))) {
            std::fs::remove_file(folder.path(&format!("{state}/{number}.yaml"))).expect("removed");
        }
        if folder.files("dest").is_empty() {
            return;
        }
        ran = extract();
    }
    assert_eq!(ran.code, Some(0), "{ran:?} {cases:?}");
    let infos = |what: &str| -> BTreeSet<usize> {
        ran.stderr.lines().filter(|line| line.contains(what)).flat_map(|line| numbers(line, "dest")).collect()
    };
    let nulls = infos("a null in a patch");
    let told: BTreeSet<usize> = ["takes back", "misses", "a null in a patch"].into_iter().flat_map(infos).collect();
    if extent == ["--values"] {
        let words: BTreeSet<&str> = ran.stdout.split(|c: char| !c.is_alphanumeric()).collect();
        let is_named = |number: &usize| words.contains(&*format!("no{number}"));
        let mut equal = (0..cases.len()).filter(|number| cases[*number].states[0] == cases[*number].states[1]);
        assert_eq!(equal.find(is_named), None, "what is only written otherwise is no part\n{}", ran.stdout);
    }
    folder.write("patch.yaml", &ran.stdout);
    if ran.stdout.is_empty() {
        return;
    }
    for (path, bytes) in folder.files("dest") {
        folder.write(&format!("three/{path}"), bytes);
    }
    let upgrade =
        ["three-way", "--original", "original", "--updated", "next", "--dest", "three", "--in-place", "-o", "sarif"];
    let upgraded = folder.run(&upgrade);
    assert_eq!(upgraded.code, Some(0), "{upgraded:?}");
    let upgraded: Value = serde_json::from_str(&upgraded.stdout).expect("JSON");
    let results = upgraded["runs"][0]["results"].as_array().expect("results");
    let is_conflict = |result: &&Value| result["ruleId"] == "conflict";
    let conflicts =
        results.iter().filter(is_conflict).flat_map(|result| numbers(&result["locations"].to_string(), "three"));
    let conflicts: BTreeSet<usize> = conflicts.collect();
    for number in applied(&folder, mode, "next", "three") {
        assert!(
            conflicts.contains(&number) || told.contains(&number),
            "{number} of\n{}\n{ran:?}\n{:?}\n{}\n{}",
            cases[number].text(number, 0),
            cases[number],
            folder.read(&format!("next/{number}.yaml")),
            folder.read(&format!("three/{number}.yaml"))
        );
    }
    let left = applied(&folder, mode, "original", "dest");
    assert!(left.is_subset(&nulls), "{left:?} {nulls:?} {cases:?}\n{}", ran.stdout);
    if extent.is_empty() {
        assert_eq!(folder.files("original"), folder.files("dest"), "{cases:?}");
    }
    assert_eq!(folder.run(&[&["extract", "dest", "dest", "--mode", mode], extent].concat()).passed(), "");
}

const FILES: &[Holds] = &[Holds::Pod, Holds::Custom, Holds::Values, Holds::List];
const RESOURCES: &[Holds] = &[Holds::Pod, Holds::Pod, Holds::Custom, Holds::Values];

proptest! {
    #![proptest_config(shared::tries(12))]

    #[test]
    fn diff_names_the_files_whose_values_differ(cases in prop::collection::vec(case(FILES), 1..60)) {
        check_diff(&cases);
    }

    #[test]
    fn a_patch_is_the_difference_and_merges_as_the_difference_does(
        cases in prop::collection::vec(case(RESOURCES), 1..60),
        mode in prop::sample::select(vec!["two-way", "strategic"]),
        extent in prop::sample::select(vec![&[][..], &["--values"]]),
    ) {
        check_extract(&cases, mode, extent);
    }
}
