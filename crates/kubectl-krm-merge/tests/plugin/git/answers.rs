//! What holds for the answers to conflicts, over generated files: each marker is answered on its own. A text with any answers has, at each place,
//! what the answer says whose conflict the place is in, and all else.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::shared;
use crate::support::{Folder, laws, seed};
use krm_yaml::{Document, NodeRef};

/// Numbers as if at random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn is_one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn scalar(&mut self) -> Value {
        json!(self.below(9))
    }

    fn key(&mut self) -> String {
        ["h", "k", "m", "n", "t", "z"][self.below(6)].to_owned()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth > 1 { 1 } else { 4 }) {
            0 | 1 => self.scalar(),
            2 => self.map(depth + 1),
            _ => {
                let names: BTreeMap<String, Value> = (0..=self.below(3)).map(|_| (self.key(), self.scalar())).collect();
                names.into_iter().map(|(name, value)| json!({"name": name, "image": value})).collect()
            }
        }
    }

    fn map(&mut self, depth: usize) -> Value {
        let fields: Map<String, Value> = (0..=self.below(4))
            .map(|_| (self.key(), self.value(depth)))
            .collect::<BTreeMap<_, _>>()
            .into_iter()
            .collect();
        Value::Object(fields)
    }

    /// The value with fields and elements that a side replaced, deleted, added or changed.
    fn edited(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut out = Map::new();
                for (key, value) in map {
                    match self.below(7) {
                        _ if key == "name" => drop(out.insert(key.clone(), value.clone())),
                        0 => {}
                        1 => drop(out.insert(self.key(), self.scalar())),
                        _ => drop(out.insert(key.clone(), self.edited(value))),
                    }
                }
                Value::Object(out)
            }
            Value::Array(list) => {
                let mut out: Vec<Value> = Vec::new();
                for element in list {
                    let element = match self.below(6) {
                        0 => continue,
                        1 => json!({"name": self.key(), "image": self.scalar()}),
                        _ => self.edited(element),
                    };
                    if out.iter().all(|other| other.get("name") != element.get("name")) {
                        out.push(element);
                    }
                }
                Value::Array(out)
            }
            _ if self.is_one_in(3) => self.scalar(),
            _ => value.clone(),
        }
    }
}

/// A resource with this spec: in JSON, or in YAML in block style.
fn text(spec: &Value, is_json: bool) -> String {
    fn lines(value: &Value, indent: usize, out: &mut String) {
        let blanks = " ".repeat(indent);
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    out.push_str(&format!("{blanks}{key}:"));
                    below(value, indent + 2, out);
                }
            }
            Value::Array(list) if !list.is_empty() => {
                for element in list {
                    let mut own = String::new();
                    lines(element, indent + 2, &mut own);
                    out.push_str(&format!("{blanks}- {}", &own[indent + 2..]));
                }
            }
            other => out.push_str(&format!("{blanks}{other}\n")),
        }
    }
    fn below(value: &Value, indent: usize, out: &mut String) {
        let is_block = matches!(value, Value::Object(map) if !map.is_empty())
            || matches!(value, Value::Array(list) if !list.is_empty());
        out.push(if is_block { '\n' } else { ' ' });
        lines(value, if is_block { indent } else { 0 }, out);
    }
    let resource = shared::resource(0, spec);
    if is_json {
        return serde_json::to_string_pretty(&resource).expect("JSON") + "\n";
    }
    let mut out = String::new();
    lines(&resource, 0, &mut out);
    out
}

/// The places of a resource that hold no map, with what they hold; `None` if it is not YAML, or not JSON, or has a place twice.
fn places(text: &str, is_json: bool) -> Option<BTreeMap<String, String>> {
    fn collect(node: NodeRef<'_>, path: &str, out: &mut BTreeMap<String, String>) -> Option<()> {
        for (key, value) in node.entries() {
            collect(value, &format!("{path}/{}", key.string()), out)?;
        }
        for element in node.elements() {
            collect(element, &format!("{path}/[{}]", element.get("name")?.string()), out)?;
        }
        let is_empty = node.entries().next().is_none() && node.elements().next().is_none();
        let is_new = !is_empty || out.insert(path.to_owned(), node.text().to_owned()).is_none();
        is_new.then_some(())
    }
    if is_json && serde_json::from_str::<Value>(text).is_err() {
        return None;
    }
    let (document, mut out) = (Document::parse(text).ok()?, BTreeMap::new());
    collect(document.roots().next()?, "", &mut out)?;
    Some(out)
}

/// A text whose conflicts have these answers.
fn answered(parts: &[[String; 2]], is_theirs: impl Fn(usize) -> bool) -> String {
    parts
        .iter()
        .enumerate()
        .map(|(number, part)| part[usize::from(number % 2 == 1 && is_theirs(number / 2))].as_str())
        .collect()
}

/// The parts of a text with markers: a text without, a conflict with both its sides, and so on.
fn parts(text: &str) -> Vec<[String; 2]> {
    let new = || [String::new(), String::new()];
    let (mut parts, mut side) = (vec![new()], None);
    for line in text.split_inclusive('\n') {
        side = match (line.get(..7), side) {
            (Some("<<<<<<<"), None) => Some(0),
            (Some("|||||||"), Some(0)) => Some(2),
            (Some("======="), Some(0 | 2)) => Some(1),
            (Some(">>>>>>>"), Some(1)) => None,
            _ => {
                let text = parts.last_mut().and_then(|part| part.get_mut(side.unwrap_or(0)));
                text.into_iter().for_each(|text| text.push_str(line));
                continue;
            }
        };
        if side.is_none_or(|side| side == 0) {
            parts.push(new());
        }
    }
    parts
}

/// Checks that each conflict of a text with markers is answered on its own, and gives the number of conflicts. `shown` has the case for a message.
fn checked(marked: &str, is_json: bool, shown: &dyn Fn(&str) -> String) -> usize {
    let parts = parts(marked);
    let count = parts.len() / 2;
    let of = |is_theirs: &dyn Fn(usize) -> bool| {
        let text = answered(&parts, is_theirs);
        places(&text, is_json).unwrap_or_else(|| panic!("{}", shown(&text)))
    };
    let sides = [of(&|_| false), of(&|_| true)];
    // The conflict of each place that differs.
    let mut owners: BTreeMap<&String, usize> = BTreeMap::new();
    for number in 0..count {
        let one = of(&|other| other == number);
        for path in sides[0].keys().chain(sides[1].keys()).filter(|path| sides[0].get(*path) != sides[1].get(*path)) {
            if one.get(path) == sides[1].get(path) {
                let owner = *owners.entry(path).or_insert(number);
                assert_eq!(owner, number, "{}", shown(path));
            }
        }
    }
    for answers in (0..1_usize << count.min(4)).map(|bits| move |number: usize| bits >> (number % 4) & 1 == 1) {
        let mut want = sides[0].clone();
        for (path, _) in owners.iter().filter(|(_, number)| answers(**number)) {
            want.remove(*path);
            want.extend(sides[1].get(*path).map(|value| ((*path).clone(), value.clone())));
        }
        assert_eq!(of(&answers), want, "{}", shown("mixed"));
    }
    count
}

#[test]
fn each_conflict_is_answered_on_its_own() {
    let folder = Folder::in_memory();
    let mut numbers = Numbers(seed() + 7);
    let mut several = 0;
    for number in 0..120 * laws() {
        let (original, is_json) = (numbers.map(0), numbers.is_one_in(5));
        let file = if is_json { "x.json" } else { "x.yaml" };
        let [ours, theirs] = [0, 1].map(|_| numbers.edited(&original));
        let [original, ours, theirs] = [&original, &ours, &theirs].map(|spec| text(spec, is_json));
        for (name, text) in [("original", &original), ("dest", &ours), ("updated", &theirs)] {
            folder.write(name, text);
            folder.write(&format!("{name}-{number}/{file}"), text);
        }
        folder.run(&["git-driver", "original", "dest", "updated", file]);
        let [was, own, new] = ["original", "dest", "updated"].map(|name| format!("{name}-{number}"));
        let sides = ["--original", &was, "--updated", &new, "--dest", &own];
        folder.run(&[&["three-way"], &sides[..], &["--in-place", "--on-conflict", "mark"]].concat());
        for marked in [folder.read("dest"), folder.read(&format!("{own}/{file}"))] {
            let shown = |what: &str| {
                format!("{what}\n== original\n{original}\n== ours\n{ours}\n== theirs\n{theirs}\n== gave\n{marked}")
            };
            several += usize::from(checked(&marked, is_json, &shown) > 1);
        }
    }
    assert!(several > 40, "{several}");
}

/// What theirs has in the place of a field is new, and no conflict. What depends on one answer is one conflict.
#[test]
fn markers_say_what_their_sides_have() {
    let folder = Folder::in_memory();
    let thing = |spec: &str| format!("apiVersion: a.example.com/v1\nkind: Thing\nmetadata:\n  name: x\nspec:\n{spec}");
    for (original, ours, theirs, want) in [
        // The first field of a map.
        ("  h: 1\n  z: 1\n", "  h: 2\n  z: 1\n", "  t: 3\n  z: 1\n", "{  h: 2\n|}  t: 3\n  z: 1\n"),
        // All its fields.
        ("  m:\n    h: 1\n", "  m:\n    h: 2\n", "  m:\n    t: 3\n", "  m:\n{    h: 2\n|}    t: 3\n"),
        // The first element of a list.
        (
            "  l:\n  - name: a\n    v: 1\n  - name: z\n",
            "  l:\n  - name: a\n    v: 2\n  - name: z\n",
            "  l:\n  - name: b\n  - name: z\n",
            "  l:\n{  - name: a\n    v: 2\n|}  - name: b\n  - name: z\n",
        ),
        // Without both fields, the map would be empty.
        ("  m:\n    a: 1\n    b: 1\n", "  m:\n    a: 2\n", "  m:\n    b: 2\n", "  m:\n{    a: 2\n|    b: 2\n}"),
        // The first field after a dash: no half can begin without it.
        (
            "  l:\n  - h: 1\n    name: z\n",
            "  l:\n  - h: 2\n    name: z\n",
            "  l:\n  - t: 3\n    name: z\n",
            "  l:\n{  - h: 2\n    t: 3\n|  - t: 3\n}    name: z\n",
        ),
    ] {
        for (name, spec) in [("o", original), ("d", ours), ("u", theirs)] {
            folder.write(name, thing(spec));
        }
        folder.run(&["git-driver", "o", "d", "u", "x.yaml"]);
        let shown =
            folder.read("d").replace("<<<<<<< ours\n", "{").replace("=======\n", "|").replace(">>>>>>> theirs\n", "}");
        assert_eq!(shown, thing(want));
    }
}
