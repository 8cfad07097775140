//! The verdicts on values over charts: reads a line of JSON for each case from stdin, and writes one for each to stdout.
//!
//! A line in is `{"old": FOLDER, "new": FOLDER, "layers": [TEXT, …]}`. A line out is a list of `{"layer", "path", "verdict", "to"}`.
//! With an argument, it also says of each chart how long it took to read, and why it is not known what its templates read.
//! `tests/oracle/overlay_verdicts.py` runs it over real releases.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a tool of the tests")]

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead as _;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use krm_overlay::{Chart, Layer, Verdict, review};
use krm_yaml::Document;
use serde_json::{Value, json};

fn read(folder: &Path, at: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{at}{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => read(&entry.path(), &format!("{name}/"), files),
            false => _ = files.insert(name, std::fs::read(entry.path()).unwrap()),
        }
    }
}

fn main() {
    let is_told = std::env::args().nth(1).is_some();
    let mut charts: HashMap<String, Rc<Chart>> = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let [old, new] = ["old", "new"].map(|side| {
            let folder = case[side].as_str().unwrap();
            let chart = charts.entry(folder.to_owned()).or_insert_with(|| {
                let mut files = BTreeMap::new();
                read(Path::new(folder), "", &mut files);
                let started = Instant::now();
                let chart = Chart::read(&files).unwrap_or_else(|error| panic!("{folder}: {error}"));
                if is_told {
                    eprintln!("{:?} {folder} {:?}", started.elapsed(), chart.blind());
                }
                Rc::new(chart)
            });
            Rc::clone(chart)
        });
        let texts: Vec<&str> = case["layers"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let documents: Result<Vec<_>, _> = texts.iter().map(|text| Document::parse(*text)).collect();
        let Ok(documents) = documents else {
            println!("null");
            continue;
        };
        let layers: Vec<Layer<'_>> = documents.iter().filter_map(|doc| doc.roots().next()).map(Layer::of).collect();
        let findings = review(&old, &new, &layers);
        let out = findings.iter().map(|finding| {
            let to = match &finding.verdict {
                Verdict::Gone { moved_to: Some(to) } => to.place.names(),
                _ => None,
            };
            let verdict = format!("{:?}", finding.verdict);
            let verdict = verdict.split(|c: char| !c.is_alphanumeric()).next();
            json!({"layer": finding.layer, "path": finding.place.names(), "verdict": verdict, "to": to})
        });
        println!("{}", Value::Array(out.collect()));
    }
}
