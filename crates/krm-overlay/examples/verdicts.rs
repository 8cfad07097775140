//! The verdicts on values over charts: reads a line of JSON for each case from stdin, and writes one for each to stdout.
//!
//! A line in is `{"old": FOLDER, "new": FOLDER, "layers": [TEXT, …]}`. A line out is a list of `{"layer", "path", "verdict", "to"}`.
//! With `--times`, it also says of each chart how long it took to read, and why it is not known what its templates read. With `--helm`, the
//! `helm` on PATH settles what the templates leave open. A line has `{"verdict": "Unsettled", "why"}` then, if it does not.
//! `tests/oracle/overlay_verdicts.py` runs it over real releases.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a tool of the tests")]

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Instant;

use krm_overlay::{Chart, KnownBy, Layer, Named, NotRendered, Release, Renderer, Verdict, review, settle};
use krm_yaml::Document;
use serde_json::{Value, json};

/// A chart and its files.
struct Read {
    chart: Chart,
    texts: Vec<String>,
}

/// The `helm` on PATH, over the folders of both releases.
struct Helm<'c> {
    folders: [&'c str; 2],
    new: &'c Read,
}

impl Renderer for Helm<'_> {
    fn render(&mut self, release: Release, values: &[String]) -> Result<String, NotRendered> {
        let files: Vec<PathBuf> = (0..values.len())
            .map(|n| std::env::temp_dir().join(format!("verdicts-{}-{n}.yaml", std::process::id())))
            .collect();
        let mut helm = Command::new("helm");
        helm.args(["template", "rel", self.folders[release as usize], "--namespace", "ns", "--kube-version", "1.34.0"]);
        // A schema that asks a server is left out, as the plugin does.
        if self.new.texts.iter().any(|text| text.contains("\"$ref\": \"http")) {
            helm.arg("--skip-schema-validation");
        }
        for (file, text) in files.iter().zip(values) {
            std::fs::write(file, text).unwrap();
            helm.arg("--values").arg(file);
        }
        let done = helm.output().unwrap();
        files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
        match done.status.success() {
            true => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
            false => Err(NotRendered::Refused(String::from_utf8_lossy(&done.stderr).into_owned())),
        }
    }

    fn has_text(&self, text: &str) -> bool {
        ["rel", "ns"].into_iter().chain(self.new.texts.iter().map(String::as_str)).any(|other| other.contains(text))
    }
}

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
    let has = |flag: &str| std::env::args().any(|arg| arg == flag);
    let (is_told, asks_helm) = (has("--times"), has("--helm"));
    let mut charts: HashMap<String, Rc<Read>> = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let folders = ["old", "new"].map(|side| case[side].as_str().unwrap());
        let [old, new] = folders.map(|folder| {
            let chart = charts.entry(folder.to_owned()).or_insert_with(|| {
                let mut files = BTreeMap::new();
                read(Path::new(folder), "", &mut files);
                let started = Instant::now();
                let chart = Chart::read(&files).unwrap_or_else(|error| panic!("{folder}: {error}"));
                if is_told {
                    eprintln!("{:?} {folder} {:?}", started.elapsed(), chart.blind());
                }
                let texts = files.into_values().filter_map(|bytes| String::from_utf8(bytes).ok()).collect();
                Rc::new(Read { chart, texts })
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
        let mut findings = review(&old.chart, &new.chart, &layers, &Named::default());
        let unsettled = match asks_helm {
            true => settle(&old.chart, &layers, &mut findings, &mut Helm { folders, new: &new }).err(),
            false => None,
        };
        let out = findings.iter().map(|finding| {
            let to = match &finding.verdict {
                Verdict::Gone { moved_to: Some(to), .. } => to.place.names(),
                _ => None,
            };
            let verdict = format!("{:?}", finding.verdict);
            let verdict = verdict.split(|c: char| !c.is_alphanumeric()).next();
            let known_by = match &finding.verdict {
                Verdict::Gone { known_by, .. } | Verdict::NewlySame { known_by } => Some(known_by),
                _ => None,
            };
            let by_helm = known_by == Some(&KnownBy::Rendering);
            let path = finding.place.names();
            json!({"layer": finding.layer, "path": path, "verdict": verdict, "to": to, "helm": by_helm})
        });
        let unsettled = unsettled.map(|why| json!({"path": [], "verdict": "Unsettled", "why": format!("{why:?}")}));
        println!("{}", Value::Array(out.chain(unsettled).collect()));
        std::io::stdout().flush().unwrap();
    }
}
