//! The licences of the crates that are in the programs, and the list of these crates (CycloneDX).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::files::Entry;
use crate::machine::{output, read};
use crate::release::PACKAGE;

/// The files that each archive has besides its program.
///
/// # Errors
/// cargo cannot tell the crates, or a file cannot be read.
pub fn of(root: &Path) -> Result<Vec<Entry>, String> {
    let told = output(root, "cargo", &["metadata", "--locked", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_str(&told).map_err(|e| format!("cargo metadata: {e}"))?;
    let crates = in_programs(&metadata);
    Ok(vec![
        Entry::text("LICENSE", read(&root.join("LICENSE"))?),
        Entry::text("THIRD-PARTY-LICENSES.txt", licences(&crates)?),
        Entry::text("krm-merge.cdx.json", bill(&crates)?),
    ])
}

/// The crates that the programs need to run on any platform, by their names and versions.
fn in_programs(metadata: &Value) -> BTreeMap<(&str, &str), &Value> {
    let id = |value: &Value| value["id"].as_str().unwrap_or_default().to_owned();
    let all = |of: &Value| of.as_array().cloned().unwrap_or_default();
    let nodes: BTreeMap<String, Value> =
        all(&metadata["resolve"]["nodes"]).into_iter().map(|node| (id(&node), node)).collect();
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_program = |package: &&Value| package["name"] == PACKAGE;
    let mut open: Vec<String> = packages.iter().filter(is_program).map(id).collect();
    let mut seen = BTreeSet::new();
    while let Some(next) = open.pop() {
        let Some(node) = nodes.get(&next).filter(|_| seen.insert(next.clone())) else { continue };
        // The kind of a normal dependency is null.
        let is_normal = |dep: &&Value| all(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        let deps = all(&node["deps"]);
        open.extend(deps.iter().filter(is_normal).filter_map(|dep| dep["pkg"].as_str()).map(str::to_owned));
    }
    let found = packages.iter().filter(|package| seen.contains(&id(package)));
    found.filter_map(|package| Some(((package["name"].as_str()?, package["version"].as_str()?), package))).collect()
}

/// The licence of each crate: what it declares, and the texts that it comes with.
fn licences(crates: &BTreeMap<(&str, &str), &Value>) -> Result<String, String> {
    let mut out = "The programs of krm-merge contain these crates.\n".to_owned();
    for ((name, version), package) in crates.iter().filter(|(_, package)| !package["source"].is_null()) {
        let declared = package["license"].as_str().unwrap_or("see its text");
        out.push_str(&format!("\n{name} {version}: {declared}\n"));
        let folder = package["manifest_path"].as_str().map(Path::new).and_then(Path::parent);
        let folder = folder.ok_or_else(|| format!("{name}: cargo must know where it is"))?;
        let listed = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut texts: Vec<_> = listed.flatten().map(|entry| entry.path()).filter(|path| is_licence(path)).collect();
        texts.sort();
        for text in texts {
            let bytes = fs::read(&text).map_err(|e| format!("{}: {e}", text.display()))?;
            String::from_utf8_lossy(&bytes)
                .lines()
                .for_each(|line| out.push_str(&format!("    {}\n", line.trim_end())));
        }
    }
    Ok(out)
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
    path.is_file() && ["LICEN", "COPYING", "NOTICE", "UNLICENSE"].iter().any(|start| name.starts_with(start))
}

/// The bill of materials, in the form of CycloneDX 1.5.
fn bill(crates: &BTreeMap<(&str, &str), &Value>) -> Result<String, String> {
    let component = |((name, version), package): (&(&str, &str), &&Value)| {
        let purl = format!("pkg:cargo/{name}@{version}");
        let mut component = json!({"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl});
        if let Some(licence) = package["license"].as_str() {
            component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
        }
        component
    };
    let components: Vec<Value> = crates.iter().map(component).collect();
    let bill = json!({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components});
    serde_json::to_string_pretty(&bill).map(|text| text + "\n").map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_told_and_what_tests_is_not() {
        let package = |name: &str| json!({"name": name, "version": "1.0.0", "id": name, "license": "MIT/Apache-2.0"});
        let dep = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [package("kubectl-krm-merge"), package("used"), package("below"), package("tests"), package("other")],
            "resolve": {"nodes": [
                {"id": "kubectl-krm-merge", "deps": [dep("used", Value::Null), dep("tests", json!("dev"))]},
                {"id": "used", "deps": [dep("below", Value::Null)]},
                {"id": "below", "deps": []},
                {"id": "tests", "deps": [dep("other", Value::Null)]},
            ]},
        });
        let crates = in_programs(&metadata);
        let names: Vec<&str> = crates.keys().map(|(name, _)| *name).collect();
        assert_eq!(names, ["below", "kubectl-krm-merge", "used"]);
        let bill = bill(&crates).expect("JSON");
        assert!(bill.contains("pkg:cargo/used@1.0.0") && bill.contains("MIT OR Apache-2.0"), "{bill}");
    }
}
