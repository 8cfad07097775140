//! What holds for all objects: here, for the recorded ones, with files and changes that are made at random.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::adopt::defaults;
use super::kept::LAST_APPLIED;
use super::recorded::{compare, recordings};
use super::replay::{Recording, Scenario, patched};
use super::{folder, run};
use crate::support::laws;

/// Numbers that look like chance, and are the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).expect("small")).expect("small")
    }
}

/// Fields without which an object is another one, or none.
const FIXED: [&str; 8] = ["apiVersion", "kind", "name", "namespace", "metadata", "port", "containerPort", "mountPath"];

/// The places of the fields of maps in a value, each a way of names and positions.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                if !FIXED.contains(&name.as_str()) {
                    out.push(place.clone());
                }
                places(value, &place, out);
            }
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, value)| places(value, &format!("{at}/{index}"), out));
        }
        _ => {}
    }
}

/// Removes a field, and returns it.
fn taken(value: &mut Value, place: &str) -> Option<Value> {
    let (parent, name) = place.rsplit_once('/')?;
    let name = name.replace("~1", "/").replace("~0", "~");
    value.pointer_mut(parent)?.as_object_mut()?.shift_remove(&name)
}

/// A resource after someone edited its file.
fn edited(mut resource: Value, chance: &mut Chance) -> Value {
    for _ in 0..=chance.below(3) {
        let mut all = Vec::new();
        places(&resource, "", &mut all);
        let annotations = &mut resource["metadata"]["annotations"];
        match chance.below(6) {
            0 => *annotations = [Value::Null, json!({}), json!({"new": "1"})][chance.below(3)].clone(),
            1 => resource["metadata"]["labels"] = json!({"new": "1"}),
            _ if all.is_empty() => {}
            2 => {
                let place = &all[chance.below(all.len())];
                let value = resource.pointer_mut(place).expect("a place");
                *value = match &*value {
                    Value::String(text) => json!(format!("{text}x")),
                    Value::Number(number) => json!(number.as_i64().unwrap_or_default() + 1),
                    Value::Bool(flag) => json!(!flag),
                    other => other.clone(),
                };
            }
            _ => drop(taken(&mut resource, &all[chance.below(all.len())])),
        }
    }
    if resource["metadata"]["annotations"].is_null() && chance.below(2) == 0 {
        taken(&mut resource, "/metadata/annotations");
    }
    resource
}

/// An object without what the server populates, and without kubectl's note.
fn plain(mut object: Value) -> Value {
    object.as_object_mut().expect("a map").shift_remove("status");
    let metadata = object["metadata"].as_object_mut().expect("a map");
    metadata.retain(|name, _| ["name", "namespace", "labels", "annotations", "finalizers"].contains(&name.as_str()));
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.shift_remove(LAST_APPLIED);
        if annotations.is_empty() {
            metadata.shift_remove("annotations");
        }
    }
    object
}

fn documents(text: &str) -> Vec<Value> {
    let all = yaml_serde::Deserializer::from_str(text);
    all.map(|document| Value::deserialize(document).expect("YAML")).filter(|value| !value.is_null()).collect()
}

/// Each recorded scenario with one object: once, or, with `KRM_MERGE_LAWS=N`, N times.
fn each(mut check: impl FnMut(&Recording, &Scenario, &mut Chance)) {
    let tries = u64::try_from(laws()).expect("small");
    for recording in &recordings() {
        for (number, scenario) in recording.scenarios.iter().enumerate().filter(|(_, s)| s.live().len() == 1) {
            for seed in 0..tries {
                let number = u64::try_from(number).expect("small");
                let mut chance = Chance((number * 1000 + seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                check(recording, scenario, &mut chance);
            }
        }
    }
}

/// What `--apply` sends, applied to the live object by the rules of a merge patch, is what was shown. The next run sends and shows nothing.
#[test]
fn what_is_sent_makes_of_the_live_object_what_was_shown() {
    let mut sent_something = 0;
    each(|recording, scenario, chance| {
        let file = edited(documents(scenario.files_before()).remove(0), chance);
        let text = file.to_string();
        let scenario = &scenario.without_answers();
        let replay = recording.server(scenario);
        let folder = folder(&replay.server, &[("all.yaml", &text)]);
        let shown = run(&folder, &["-f", "all.yaml", "-o", "json"]).passed();
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        let ran = run(&folder, &["-f", "all.yaml", "--apply"]);
        assert_eq!(ran.code, Some(0), "{} {text} {ran:?}", scenario.id());
        let mut now = scenario.live()[0].clone();
        for (line, patch) in replay.server.sent() {
            if !line.contains("dryRun") {
                patched(&mut now, &patch);
                sent_something += 1;
            }
        }
        let mut faults = Vec::new();
        compare(&plain(now), &plain(shown), "", &mut faults);
        assert!(faults.is_empty(), "{}\n{text}\n{}", scenario.id(), faults.join("\n"));
        let before = replay.server.sent().len();
        let ran = run(&folder, &["-f", "all.yaml", "--apply", "-o", "diff"]);
        assert!(ran.code == Some(0) && !ran.stdout.contains("+++"), "{}\n{text}\n{ran:?}", scenario.id());
        assert_eq!(replay.server.sent().len(), before, "{}\n{text}", scenario.id());
    });
    assert!(sent_something > 5, "{sent_something}");
}

/// The leaves of a value, with their places.
fn leaves(value: &Value, at: &str, out: &mut BTreeSet<(String, String)>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(name, value)| leaves(value, &format!("{at}/{name}"), out));
        }
        Value::Array(list) if !list.is_empty() => list.iter().for_each(|value| leaves(value, at, out)),
        other => drop(out.insert((at.to_owned(), other.to_string()))),
    }
}

fn leaves_of(value: &Value) -> BTreeSet<(String, String)> {
    let mut out = BTreeSet::new();
    leaves(value, "", &mut out);
    out
}

/// Someone sets, in the cluster, a field that the files do not have, and the server sets its defaults in it. Adopting takes what the person
/// set and no default, and the files are as the cluster is then.
#[test]
fn adopting_takes_what_a_person_set_and_no_default() {
    let mut adopted = 0;
    let recordings = recordings();
    let all: Vec<&Scenario> = recordings.iter().flat_map(|recording| &recording.scenarios).collect();
    let defaults = defaults(&all);
    each(|recording, scenario, chance| {
        let mut live = scenario.live()[0].clone();
        let note = live["metadata"]["annotations"][LAST_APPLIED].as_str().map(str::to_owned);
        let writers = live["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
        let (Some(note), [writer]) = (note, &writers[..]) else { return };
        let whole: Value = serde_json::from_str(&note).expect("JSON");
        let mut all = Vec::new();
        places(&whole, "", &mut all);
        all.retain(|place| !place.starts_with("/metadata") && !place.starts_with("/stringData"));
        if all.is_empty() {
            return;
        }
        let place = &all[chance.below(all.len())];
        let mut before = whole.clone();
        let Some(set) = taken(&mut before, place) else { return };
        live["metadata"]["annotations"][LAST_APPLIED] = json!(before.to_string());
        let mut person = writer.clone();
        person["manager"] = json!("console");
        let fields = person["fieldsV1"].as_object_mut().expect("a map");
        fields.shift_remove("f:metadata");
        let mut ours = writer.clone();
        ours["fieldsV1"] = json!({"f:metadata": writer["fieldsV1"]["f:metadata"]});
        live["metadata"]["managedFields"] = json!([ours, person]);
        let mut file = before.clone();
        file["metadata"].as_object_mut().expect("a map").retain(|_, value| *value != json!({}));
        let scenario = scenario.with_live(live.clone());
        let replay = recording.server(&scenario);
        let folder = folder(&replay.server, &[("all.yaml", &file.to_string())]);
        let ran = run(&folder, &["-f", "all.yaml", "--adopt"]);
        let what = format!("{} {place}: {set}\n{ran:?}", scenario.id());
        assert_eq!(ran.code, Some(0), "{what}");
        let after = documents(&folder.read("all.yaml")).remove(0);
        let [before, after, whole, live] = [&before, &after, &whole, &live].map(leaves_of);
        let new: Vec<_> = after.difference(&before).collect();
        // The server may have the value in another form, such as a map without the empty one in it.
        let is_set = |leaf: &&(String, String)| {
            whole.iter().any(|(path, _)| {
                path.strip_prefix(&leaf.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let others: Vec<_> = new.iter().filter(|leaf| !is_set(leaf)).collect();
        assert!(others.is_empty(), "{what}\nnobody set {others:?}");
        adopted += new.len();
        let missing: Vec<_> =
            whole.difference(&after).filter(|leaf| live.contains(*leaf) && !before.contains(*leaf)).collect();
        // The server sets the same value again.
        let is_default = |(path, value): &&(String, String)| {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            name == "apiGroup" || defaults.contains(&(name, value.clone()))
        };
        let lost: Vec<_> = missing.into_iter().filter(|leaf| !is_default(leaf)).collect();
        assert!(lost.is_empty(), "{what}\nit did not arrive: {lost:?}");
        let ran = run(&folder, &["-f", "all.yaml"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{what}\n{ran:?}");
    });
    assert!(adopted > 5, "{adopted}");
}
