//! Every row of `crates/krm-schema/src/schema/builtin.txt` at work: on a resource of a kind that leads there, its list merges one element, gets one and
//! loses one, in Strategic and in TwoWay, as the row says.
//!
//! The text is read anew here, and what a row means is said anew, so that neither the compiled table nor the look-ups can be wrong in
//! silence. Where the merge metadata of Kubernetes lies beside the project, each row must mean the same by that.
//!
//! A list below one that is replaced whole is never merged, so its row shows only where a user's `mergeKeys` lets the upper one merge.

#[path = "support/skip.rs"]
mod skip;
mod support;

use std::collections::{BTreeMap, HashMap, VecDeque};

use krm_yaml::Document;
use serde_json::{Map, Value, json};

use support::{resource_list, value_of};

const TEXT: &str = include_str!("../crates/krm-schema/src/schema/builtin.txt");

/// How a list merges.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Merges {
    Atomic,
    Set,
    Map(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Strategic,
    TwoWay,
}

/// What Kubernetes says of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    strategy: String,
    key: Option<String>,
    list_type: Option<String>,
    list_keys: Vec<String>,
}

impl Said {
    /// A patch merges what has the strategy `merge`, by the merge key and those that the server has beside it; a server also what has a
    /// list type that says so.
    fn merges(&self, mode: Mode) -> Merges {
        let strategy = self.strategy.split(',').any(|s| s == "merge");
        match (&self.key, self.list_type.as_deref()) {
            (None, _) if strategy => Merges::Set,
            (Some(key), _) if strategy && self.list_keys.first() == Some(key) => Merges::Map(self.list_keys.clone()),
            (Some(key), _) if strategy => Merges::Map(vec![key.clone()]),
            (_, Some("set")) if mode == Mode::TwoWay => Merges::Set,
            (_, Some("map")) if mode == Mode::TwoWay => Merges::Map(self.list_keys.clone()),
            _ => Merges::Atomic,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Value,
    List(Said),
    Map,
    MapOfLists,
}

/// A field of a type.
#[derive(Clone, Debug)]
struct Row {
    field: &'static str,
    shape: Shape,
    /// The type below, if anything is known of it.
    target: Option<&'static str>,
}

/// A kind's type, and the fields of each type.
struct Table {
    kinds: Vec<(&'static str, &'static str, &'static str)>,
    types: BTreeMap<&'static str, Vec<Row>>,
}

fn table() -> Table {
    let mut table = Table { kinds: Vec::new(), types: BTreeMap::new() };
    let mut current = "";
    for line in TEXT.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        let words: Vec<&'static str> = line.split(' ').filter(|w| !w.is_empty()).collect();
        match words[..] {
            [field, value, ref extensions @ ..] if line.starts_with("  ") => {
                table.types.entry(current).or_default().push(row(field, value, extensions));
            }
            ["versions", ..] | ["source", ..] => {}
            ["kind", api_version, kind, ty] => table.kinds.push((api_version, kind, ty)),
            // Which fields an object must have is no matter of how its lists merge.
            ["type", ty] | ["type", ty, _] => current = ty,
            _ => panic!("not a line of the table: {line}"),
        }
    }
    table
}

fn row(field: &'static str, value: &'static str, extensions: &[&str]) -> Row {
    let mut said = Said::default();
    for extension in extensions {
        let (name, text) = extension.split_once('=').expect("NAME=VALUE");
        match name {
            "patch" => text.clone_into(&mut said.strategy),
            "key" => said.key = Some(text.into()),
            "list" => said.list_type = Some(text.into()),
            "keys" => said.list_keys = text.split(',').map(str::to_owned).collect(),
            _ => panic!("not an extension: {extension}"),
        }
    }
    let within = |open, close| value.strip_prefix(open).and_then(|v: &str| v.strip_suffix(close));
    let (shape, target) = if let Some(target) = within("{[", "]}") {
        (Shape::MapOfLists, target)
    } else if let Some(target) = within("{", "}") {
        (Shape::Map, target)
    } else if let Some(target) = within("[", "]") {
        (Shape::List(said), target)
    } else {
        (Shape::Value, value)
    };
    Row { field, shape, target: (!["", "-"].contains(&target)).then_some(target) }
}

/// The rows from a kind to a list, the last one.
#[derive(Clone)]
struct Path<'t> {
    api_version: &'static str,
    kind: &'static str,
    rows: Vec<&'t Row>,
}

impl<'t> Path<'t> {
    fn to(&self, row: &'t Row) -> Self {
        Self { rows: self.rows.iter().copied().chain([row]).collect(), ..*self }
    }

    /// The lists before the last row that are replaced whole.
    fn atomic(&self, mode: Mode) -> usize {
        let above = &self.rows[..self.rows.len().saturating_sub(1)];
        above.iter().filter(|r| is_atomic(r, mode)).count()
    }
}

fn is_atomic(row: &Row, mode: Mode) -> bool {
    match &row.shape {
        Shape::List(said) => said.merges(mode) == Merges::Atomic,
        Shape::MapOfLists => true,
        Shape::Value | Shape::Map => false,
    }
}

/// A path to every list, and through every row that leads to one.
fn paths(table: &Table) -> Vec<Path<'_>> {
    // The shortest way to each type, through the fewest lists that are replaced.
    let mut ways: HashMap<&str, Path<'_>> = HashMap::new();
    for rounds_of_atomic in 0..8 {
        let starts = table.kinds.iter().map(|(v, k, ty)| (*ty, Path { api_version: v, kind: k, rows: Vec::new() }));
        let mut queue: VecDeque<(&str, Path<'_>)> = starts.collect();
        let mut seen = std::collections::HashSet::new();
        while let Some((ty, way)) = queue.pop_front() {
            if !seen.insert(ty) {
                continue;
            }
            for row in table.types.get(ty).into_iter().flatten() {
                let next = way.to(row);
                let crossed = next.rows.iter().filter(|r| is_atomic(r, Mode::Strategic)).count();
                if let Some(target) = row.target.filter(|_| crossed <= rounds_of_atomic) {
                    queue.push_back((target, next));
                }
            }
            ways.entry(ty).or_insert(way);
        }
    }
    let unreachable: Vec<_> = table.types.keys().filter(|ty| !ways.contains_key(*ty)).collect();
    assert!(unreachable.is_empty(), "no kind leads to {unreachable:?}");
    let mut all = Vec::new();
    for (ty, rows) in &table.types {
        for row in rows {
            let way = ways[ty].to(row);
            if matches!(row.shape, Shape::List(_) | Shape::MapOfLists) {
                all.push(way.clone());
            }
            all.extend(row.target.and_then(|target| on_to_a_list(table, &way, target)));
        }
    }
    // The metadata of every kind, so that each kind is tried.
    for (api_version, kind, ty) in &table.kinds {
        let metadata = table.types.get(ty).into_iter().flatten().find(|r| r.field == "metadata");
        let start = Path { api_version, kind, rows: Vec::new() };
        let target = metadata.and_then(|row| Some((row, row.target?)));
        all.extend(target.and_then(|(row, target)| on_to_a_list(table, &start.to(row), target)));
    }
    all
}

/// The shortest way from a type to a list that merges, or else to any.
fn on_to_a_list<'t>(table: &'t Table, way: &Path<'t>, from: &'t str) -> Option<Path<'t>> {
    let mut queue = VecDeque::from([(from, way.clone())]);
    let mut seen = std::collections::HashSet::new();
    let mut any = None;
    while let Some((ty, way)) = queue.pop_front() {
        if !seen.insert(ty) {
            continue;
        }
        for row in table.types.get(ty).into_iter().flatten() {
            let next = way.to(row);
            match &row.shape {
                Shape::List(said) if said.merges(Mode::Strategic) != Merges::Atomic => return Some(next),
                Shape::List(_) if any.is_none() => any = Some(next.clone()),
                _ => {}
            }
            queue.extend(row.target.map(|target| (target, next)));
        }
    }
    any
}

/// Dest, patch and what must come of them, each the value of the list.
struct Trial {
    dest: Value,
    patch: Value,
    want: Value,
    /// What the patch says beside the list, behind `/` and the list's name.
    directive: Option<(&'static str, Value)>,
}

fn trial(merges: &Merges, mode: Mode) -> Trial {
    match merges {
        Merges::Atomic => Trial {
            dest: json!([{"name": "a", "own": 1}, {"name": "b"}]),
            patch: json!([{"name": "a", "new": 1}, {"name": "c"}]),
            want: json!([{"name": "a", "new": 1}, {"name": "c"}]),
            directive: None,
        },
        Merges::Set => Trial {
            dest: json!(["a", "b"]),
            patch: json!(["b", "c"]),
            want: if mode == Mode::Strategic { json!(["b", "c"]) } else { json!(["a", "b", "c"]) },
            directive: (mode == Mode::Strategic).then(|| ("$deleteFromPrimitiveList", json!(["a"]))),
        },
        Merges::Map(keys) => {
            let element = |first: &str, further: &str, beside: Value| {
                let mut out = Map::new();
                for (i, key) in keys.iter().enumerate() {
                    out.insert(key.clone(), json!(if i == 0 { first } else { further }));
                }
                out.extend(beside.as_object().expect("a map").clone());
                Value::Object(out)
            };
            let mut dest = vec![
                element("a", "x", json!({"own": 1, "both": 1})),
                element("b", "x", json!({"own": 1})),
                element("d", "x", json!({"own": 1})),
            ];
            let mut want = vec![element("a", "x", json!({"own": 1, "both": 2})), element("d", "x", json!({"own": 1}))];
            if keys.len() > 1 {
                let other = element("a", "y", json!({"own": 1}));
                dest.push(other.clone());
                want.push(other);
            }
            want.push(element("c", "x", json!({"new": 1})));
            let patch = json!([
                element("c", "x", json!({"new": 1})),
                element("b", "x", json!({"$patch": "delete"})),
                element("a", "x", json!({"both": 2})),
            ]);
            Trial { dest: Value::Array(dest), patch, want: Value::Array(want), directive: None }
        }
    }
}

/// A list where the path has it, with what stands beside it.
fn nested(path: &Path<'_>, mode: Mode, name: &str, list: Value, beside: Option<(&str, Value)>) -> Value {
    let mut value = list;
    for (i, row) in path.rows.iter().enumerate().rev() {
        let is_last = i + 1 == path.rows.len();
        value = match &row.shape {
            Shape::List(said) if !is_last => {
                let keys = match said.merges(mode) {
                    Merges::Map(keys) => keys,
                    _ => vec!["id".to_owned()],
                };
                let mut element: Map<String, Value> = keys.into_iter().map(|key| (key, json!("here"))).collect();
                element.extend(value.as_object().expect("an element").clone());
                json!([element])
            }
            Shape::Map | Shape::MapOfLists => json!({ "any": value }),
            Shape::Value | Shape::List(_) => value,
        };
        let mut map = Map::from_iter([(row.field.to_owned(), value)]);
        if let Some((directive, said)) = beside.as_ref().filter(|_| is_last) {
            map.insert(format!("{directive}/{}", row.field), said.clone());
        }
        value = Value::Object(map);
    }
    let mut out = json!({"apiVersion": path.api_version, "kind": path.kind, "metadata": {"name": name}});
    for (field, value) in value.as_object().expect("a map") {
        match (field.as_str(), value.as_object()) {
            ("metadata", Some(inner)) => out["metadata"].as_object_mut().expect("a map").extend(inner.clone()),
            _ => out[field] = value.clone(),
        }
    }
    out
}

/// The fields of a path as `mergeKeys` names them, up to each list on the way that is replaced whole.
fn rules(path: &Path<'_>, mode: Mode) -> Vec<Value> {
    let mut fields: Vec<&str> = Vec::new();
    let mut rules = Vec::new();
    for row in &path.rows[..path.rows.len() - 1] {
        fields.push(row.field);
        if row.shape != Shape::Value && !matches!(row.shape, Shape::List(_)) {
            fields.push("any");
        }
        if is_atomic(row, mode) {
            let path_of = fields.join(".");
            rules.push(json!({"apiVersion": path.api_version, "kind": path.kind, "path": path_of, "keys": ["id"]}));
        }
    }
    rules
}

fn try_all(mode: Mode) {
    let table = table();
    let paths = paths(&table);
    assert!(paths.len() > 1500, "{}", paths.len());
    let most = paths.iter().map(|p| p.atomic(mode)).max().unwrap_or_default();
    let mut merged = 0;
    // All lists below as many lists that `mergeKeys` lets merge are tried at once: none of them is one of those.
    for rounds in 0..=most {
        let own: Vec<&Path<'_>> = paths.iter().filter(|p| p.atomic(mode) == rounds).collect();
        let (mut items, mut sources, mut wants, mut keys) = (String::new(), String::new(), Vec::new(), Vec::new());
        for (i, path) in own.iter().enumerate() {
            let merges = match &path.rows[path.rows.len() - 1].shape {
                Shape::List(said) => said.merges(mode),
                _ => Merges::Atomic,
            };
            merged += usize::from(merges != Merges::Atomic);
            let trial = trial(&merges, mode);
            let name = format!("r{i}");
            items += &format!("- {}\n", nested(path, mode, &name, trial.dest, None));
            sources += &format!("  - {}\n", nested(path, mode, &name, trial.patch, trial.directive));
            wants.push(nested(path, mode, &name, trial.want, None));
            keys.extend(rules(path, mode));
        }
        keys.sort_by_key(Value::to_string);
        keys.dedup();
        let spec = format!("mode: {mode:?}\nmergeKeys: {}\nsource:\n- resources:\n{sources}", Value::Array(keys));
        let output = krm_merge_function::run(&resource_list(&items, &spec));
        assert_eq!(output.verdict, krm_merge_function::Verdict::Passed, "{:?}", output.stderr);
        let doc = Document::parse(output.stdout).expect("what comes out is YAML");
        let root = doc.roots().next().and_then(|r| r.get("items")).expect("items");
        let got: Vec<Value> = root.elements().map(value_of).collect();
        assert_eq!(got.len(), wants.len());
        for ((got, want), path) in got.iter().zip(&wants).zip(&own) {
            let fields: Vec<&str> = path.rows.iter().map(|r| r.field).collect();
            assert_eq!(got, want, "{} {} {}", path.api_version, path.kind, fields.join("."));
        }
    }
    assert!(merged > 500, "{merged}");
}

#[test]
fn every_list_merges_as_its_row_says_in_strategic() {
    try_all(Mode::Strategic);
}

#[test]
fn every_list_merges_as_its_row_says_in_two_way() {
    try_all(Mode::TwoWay);
}

#[test]
fn every_row_means_what_kubernetes_says() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/schema/k8s-merge-schema.json");
    let Ok(text) = std::fs::read_to_string(file) else {
        skip::skipped("schema", "of all built-in types is not here");
        return;
    };
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    let own = |name: &str| name.rsplit('.').take(3).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(".");
    let types: HashMap<String, &Value> =
        schema["types"].as_object().expect("types").iter().map(|(name, fields)| (own(name), fields)).collect();
    let text = |v: &Value| v.as_str().map(str::to_owned);
    let mut compared = 0;
    for (ty, rows) in &table().types {
        for row in rows {
            let Shape::List(said) = &row.shape else { continue };
            // A field without merge metadata, and without a way to some, is not in the file.
            let field = types.get(*ty).map_or(&Value::Null, |fields| &fields[row.field]);
            let theirs = Said {
                strategy: text(&field["s"]).unwrap_or_default(),
                key: text(&field["k"]),
                list_type: text(&field["t"]),
                list_keys: field["K"].as_array().into_iter().flatten().filter_map(text).collect(),
            };
            for mode in [Mode::Strategic, Mode::TwoWay] {
                assert_eq!(said.merges(mode), theirs.merges(mode), "{ty}.{}", row.field);
            }
            compared += usize::from(!field.is_null());
        }
    }
    assert!(compared > 300, "{compared}");
}
