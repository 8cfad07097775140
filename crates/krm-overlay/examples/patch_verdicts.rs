//! The verdicts on patches of kustomize: reads a line of JSON for each case from stdin, and writes one for each to stdout.
//!
//! A line in is `{"kustomization": {…}, "patch": TEXT, "old": TEXT, "new": TEXT}`: the kustomization has the resource `base.yaml`, and may name the
//! patch as `patch.yaml`. A line out is `{"findings": [{"object", "place", "line", "verdict", "message"}, …], "unread": […]}`.
//! `tests/oracle/patch_verdicts.py` runs it over real patches, and over random ones beside kustomize.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a tool of the tests")]

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::rc::Rc;

use krm_overlay::{Address, BaseFiles, BothFiles, Released, review_kustomization};
use krm_yaml::{Document, Position};
use serde_json::{Value, json};

struct Files(BTreeMap<&'static str, String>);

impl BaseFiles for Files {
    fn document(&self, path: &str) -> Result<Option<Rc<Document<'static>>>, String> {
        let text = self.0.get(path).cloned();
        text.map(|text| Document::parse(text).map(Rc::new).map_err(|e| e.to_string())).transpose()
    }

    fn release(&self, address: &Address) -> Result<Released, String> {
        Err(address.text.clone())
    }
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
        let mut kustomization = case["kustomization"].clone();
        kustomization["resources"] = json!(["base.yaml"]);
        let [old, new] = ["old", "new"].map(|side| {
            let files = [
                ("kustomization.yaml", kustomization.to_string()),
                ("patch.yaml", text("patch")),
                ("base.yaml", text(side)),
            ];
            Files(files.into())
        });
        let review = review_kustomization("kustomization.yaml", &BothFiles { old: &old, new: &new }).unwrap();
        let findings = review.findings.iter().map(|found| {
            let verdict = format!("{:?}", found.finding.verdict);
            let line = Position::of(&new.0[found.at.file.as_str()], found.at.offset).line;
            json!({
                "object": found.finding.object,
                "place": found.finding.place.keyed(),
                "file": found.at.file,
                "line": line,
                "verdict": verdict.split(|c: char| !c.is_alphanumeric()).next(),
                "detail": verdict,
            })
        });
        let findings: Vec<Value> = findings.collect();
        let unread: Vec<String> = review.unread.iter().map(|unread| format!("{:?}", unread.why)).collect();
        println!("{}", json!({"findings": findings, "unread": unread}));
    }
}
