//! How well lists of custom resources are recognised by their shape: `zcat lists.jsonl.gz | cargo run -p krm-merge --example recognition`.
//!
//! Each line is a list of a public definition, with the fields of its elements. Of each version of each kind a schema is made in which no list
//! declares how it merges. What is recognised in it is compared with what the definition declares. So each group is held back from its own
//! answer. The program fails if precision or recall is below the bound.
#![expect(clippy::print_stdout, reason = "a table is all that it is for")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Read;

use krm_merge::{Document, ListKind, NodeRef, Types};
use krm_schema::schema::{ASSOCIATIVE_KEYS, Basis, Inference, list_basis, list_kind};
use serde_json::{Map, Value, json};

/// What must be reached.
const PRECISION: f64 = 0.99;
const RECALL: f64 = 0.60;

/// A version of a kind, by group, kind and version.
type Place = (String, String, String);

/// What a list declares: its type and its keys. A list of scalars has no fields.
struct List {
    declared: Option<ListKind<String>>,
    fields: Vec<String>,
}

/// How many lists were recognised rightly and wrongly, how many there are that merge, and how many were recognised that declare nothing.
#[derive(Clone, Copy, Default)]
struct Score {
    right: usize,
    wrong: usize,
    keyed: usize,
    silent: usize,
}

impl Score {
    fn count(&mut self, list: &List, found: Option<&ListKind<String>>) {
        let keyed = |kind: &&ListKind<String>| matches!(kind, ListKind::Map(_));
        self.keyed += usize::from(list.declared.as_ref().is_some_and(|kind| keyed(&kind)));
        match (&list.declared, found.filter(keyed)) {
            (_, None) => {}
            (None, Some(_)) => self.silent += 1,
            (Some(declared), Some(found)) if declared == found => self.right += 1,
            (Some(_), Some(_)) => self.wrong += 1,
        }
    }

    fn precision(self) -> f64 {
        self.right as f64 / (self.right + self.wrong).max(1) as f64
    }

    fn recall(self) -> f64 {
        self.right as f64 / self.keyed.max(1) as f64
    }

    fn print(self, name: &str) {
        let Self { right, wrong, keyed, silent } = self;
        let (precision, recall) = (100.0 * self.precision(), 100.0 * self.recall());
        println!("| {name} | {keyed} | {right} | {wrong} | {precision:.1} % | {recall:.1} % | {silent} |");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut of_place: BTreeMap<Place, BTreeMap<String, List>> = BTreeMap::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line)?;
        let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let words = |key: &str| {
            row[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let declared = match &*word("type") {
            "map" => Some(ListKind::Map(words("keys"))),
            "set" => Some(ListKind::Set),
            "atomic" => Some(ListKind::Atomic),
            _ => None,
        };
        let lists = of_place.entry((word("group"), word("kind"), word("version"))).or_default();
        lists.insert(word("path"), List { declared, fields: words("fields") });
    }

    let (mut all, mut inferred) = (Score::default(), Score::default());
    let mut by_name: BTreeMap<String, Score> = BTreeMap::new();
    let mut groups: BTreeMap<String, Score> = BTreeMap::new();
    for ((group, kind, version), lists) in &of_place {
        let definition = json!({"spec": {"group": group, "names": {"kind": kind}, "versions": [
            {"name": version, "schema": {"openAPIV3Schema": schema("", lists)}}]}});
        let document = Document::parse(definition.to_string())?;
        let types = Types::new([], Inference::Off).with_definitions(document.roots());
        for (path, list) in lists {
            let found = recognised(&types, &format!("{group}/{version}"), kind, path);
            let name = path.rsplit('.').next().unwrap_or_default();
            for score in
                [&mut all, by_name.entry(name.to_owned()).or_default(), groups.entry(group.clone()).or_default()]
            {
                score.count(list, found.as_ref());
            }
            let by_key = ASSOCIATIVE_KEYS.iter().find(|key| list.fields.iter().any(|field| field == *key));
            inferred.count(list, found.or_else(|| Some(ListKind::Map(vec![(*by_key?).to_owned()]))).as_ref());
        }
    }
    println!(
        "| list | declared with keys | right | wrong | precision | recall | recognised, nothing declared |\n|---|---|---|---|---|---|---|"
    );
    let mut by_name: Vec<(String, Score)> = by_name.into_iter().collect();
    by_name.sort_by_key(|(name, score)| (std::cmp::Reverse(score.right), name.clone()));
    by_name
        .iter()
        .filter(|(_, score)| score.right + score.wrong > 0)
        .for_each(|(name, score)| score.print(&format!("`{name}`")));
    all.print("all, by shape");
    inferred.print("all, by shape, then by an inferred key");
    let with_mistakes = groups.values().filter(|score| score.wrong > 0).count();
    println!("\n{} groups, {with_mistakes} of them with a list that is recognised wrongly", groups.len());
    if all.precision() < PRECISION || all.recall() < RECALL {
        return Err(format!("precision must be {PRECISION}, and recall {RECALL}").into());
    }
    Ok(())
}

/// The schema of what lies at a path: of a list that of its elements. No list declares how it merges.
fn schema(path: &str, lists: &BTreeMap<String, List>) -> Value {
    let below = if path.is_empty() { String::new() } else { format!("{path}.") };
    let own = lists.get(path).into_iter().flat_map(|list| list.fields.iter().map(String::as_str));
    let further = lists.keys().filter_map(|list| list.strip_prefix(&below)?.split('.').next());
    let names: BTreeSet<&str> = own.chain(further).collect();
    let mut properties = Map::new();
    for name in names.iter().filter(|name| **name != "*") {
        properties.insert((*name).to_owned(), schema(&format!("{below}{name}"), lists));
    }
    let mut object = Map::from_iter([("properties".to_owned(), Value::Object(properties))]);
    if names.contains("*") {
        object.insert("additionalProperties".into(), schema(&format!("{below}*"), lists));
    }
    match lists.contains_key(path) {
        true => json!({"type": "array", "items": object}),
        false => Value::Object(object),
    }
}

/// How a list merges by its shape.
fn recognised(types: &Types<'_>, api_version: &str, kind: &str, path: &str) -> Option<ListKind<String>> {
    let root = types.root(api_version, kind, krm_schema::mode::Mode::ThreeWay);
    let cursor = path.split('.').fold(root, |cursor, name| cursor.field(name));
    let nothing: [Vec<NodeRef<'_>>; 1] = [Vec::new()];
    list_basis(cursor, &nothing).filter(|basis| *basis == Basis::Shape)?;
    Some(match list_kind(cursor, &nothing).ok()? {
        ListKind::Map(keys) => ListKind::Map(keys.iter().map(|key| key.name.to_owned()).collect()),
        ListKind::Set => ListKind::Set,
        ListKind::Atomic => ListKind::Atomic,
    })
}
