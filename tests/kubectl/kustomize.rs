//! What `kubectl kustomize` makes of the same patches: one build of many resources, each with its own patch.
//!
//! kustomize knows one directive, `$patch`, refuses a value of another kind than dest's, and takes over the rest as it stands. So only
//! patches that it understands are put to it; what it makes of those is compared.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::equal;
use crate::generate::{Case, Leaves};
use crate::tools::{Event, kubectl, merge_by, named};

/// A disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// kustomize knows the types of Kubernetes 1.21: what it makes of a patch is what the function makes of it by these; see [`older`].
    OlderTypes,
    /// kustomize drops a map that is empty in the patch or becomes so. To Kubernetes `emptyDir: {}` is not the same as none.
    DroppedEmptyMap,
    /// kustomize replaces an element that says `$patch: replace`. Here, as in kubectl, it speaks of its list.
    ReplacedElement,
    /// kustomize leaves an element with `$patch: replace` alone in a list that does not merge, or that dest lacks.
    LeakedDirective,
    /// kustomize takes over two elements with one key. Here they are merged one after the other.
    RepeatedElement,
    /// kustomize loses a second element on one port, and gives an element without `protocol` to no one.
    SeveralKeys,
}

/// All of them.
pub const ALL: [Name; 6] = [
    Name::OlderTypes,
    Name::DroppedEmptyMap,
    Name::ReplacedElement,
    Name::LeakedDirective,
    Name::RepeatedElement,
    Name::SeveralKeys,
];

/// Whether kustomize understands a patch.
pub fn understands(case: &Case) -> bool {
    let text = case.patch.to_string();
    let is_foreign = ["$retainKeys", "$setElementOrder", "$deleteFromPrimitiveList"].iter().any(|d| text.contains(d));
    // Behind the patches kustomize looks for the names that resources refer to, and ends where the name is gone.
    let is_reference = case.kind.ends_with("WebhookConfiguration") && text.contains("\"clientConfig\"");
    case.leaves == Leaves::Typed && !is_foreign && !is_reference
}

/// By which disagreement two results differ, if by any.
pub fn name(case: &Case, dest: &Value, ours: &Value, theirs: &Value) -> Option<Name> {
    let makes = |edit: &str| case.edits.contains(&edit);
    if equal::difference(&filled(ours), &filled(theirs), &case.patch).is_none() {
        return Some(Name::DroppedEmptyMap);
    }
    if theirs.to_string().contains("\"$patch\"") {
        return Some(Name::LeakedDirective);
    }
    if older(case, dest).is_some_and(|older| equal::difference(&filled(&older), &filled(theirs), &case.patch).is_none())
    {
        return Some(Name::OlderTypes);
    }
    [
        ("a list replaced by an element that says so", Name::ReplacedElement),
        ("a new element twice", Name::RepeatedElement),
        ("an element deleted and added", Name::RepeatedElement),
        ("a second element on one port", Name::SeveralKeys),
        ("one of two ports, by default", Name::SeveralKeys),
    ]
    .into_iter()
    .find_map(|(edit, name)| makes(edit).then_some(name))
}

/// What the function makes of a patch where it knows of the type what kustomize knows; `None` where that is no less. `autoscaling/v2` is
/// newer, so none of its lists merges; of a `policy/v1` PodDisruptionBudget it is not known that the selector is replaced, and of webhooks
/// that `matchConditions` merge.
fn older(case: &Case, dest: &Value) -> Option<Value> {
    const UNKNOWN: &str = "example.com/v1";
    let own = dest["apiVersion"].as_str()?;
    let (api_version, rules) = match case.kind.as_str() {
        // Nothing is known of the type, and a list that looks like a built-in one must not merge for that.
        "HorizontalPodAutoscaler" => (UNKNOWN, vec![("status.conditions", json!({"atomic": true}))]),
        "PodDisruptionBudget" => (UNKNOWN, Vec::new()),
        kind if kind.ends_with("WebhookConfiguration") => {
            (own, vec![("webhooks.matchConditions", json!({"atomic": true}))])
        }
        _ => return None,
    };
    let rule = |(path, mut rule): (&str, Value)| {
        rule["apiVersion"] = json!(api_version);
        rule["kind"] = dest["kind"].clone();
        rule["path"] = json!(path);
        rule
    };
    let rules: Vec<Value> = rules.into_iter().map(rule).collect();
    let mut dest = dest.clone();
    dest["apiVersion"] = json!(api_version);
    match merge_by(&rules, &format!("{dest}\n"), &named(&dest, &case.patch), 0) {
        Event::Is(mut older) => {
            older["apiVersion"] = json!(own);
            Some(older)
        }
        other => panic!("{}: {other}", case.patch),
    }
}

/// A value without the maps in it that hold nothing.
fn filled(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let fields = map.iter().map(|(k, v)| (k.clone(), filled(v)));
            Value::Object(fields.filter(|(_, v)| v.as_object().is_none_or(|m| !m.is_empty())).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(filled).collect()),
        other => other.clone(),
    }
}

/// A folder that goes with its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the folder of the tests is writable");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The result of each patch on its dest. A build ends with the first patch that is refused, so that one with a refusal is made again
/// in halves.
pub fn build(name: &str, pairs: &[(&Value, &Value)]) -> Vec<Event> {
    let renamed = |i: usize, dest: &Value| {
        let mut dest = dest.clone();
        dest["metadata"]["name"] = json!(format!("r{i}"));
        dest
    };
    let dests: Vec<Value> = pairs.iter().enumerate().map(|(i, p)| renamed(i, p.0)).collect();
    let text = |all: Vec<Value>| all.iter().map(|v| format!("---\n{v}\n")).collect::<String>();
    let folder = Folder::new(name);
    let write = |file: &str, text: String| fs::write(folder.0.join(file), text).expect("the folder is writable");
    write("kustomization.yaml", "resources: [resources.yaml]\npatches: [{path: patches.yaml}]\n".into());
    write("patches.yaml", text(dests.iter().zip(pairs).map(|(d, p)| named(d, p.1)).collect()));
    write("resources.yaml", text(dests));
    let output = kubectl(&["kustomize", &folder.0.to_string_lossy()], "");
    if !output.status.success() {
        if pairs.len() > 1 {
            let (a, b) = pairs.split_at(pairs.len() / 2);
            return [build(&format!("{name}a"), a), build(&format!("{name}b"), b)].concat();
        }
        return vec![Event::Refused(String::from_utf8_lossy(&output.stderr).into_owned())];
    }
    let built = documents(&String::from_utf8(output.stdout).expect("kustomize prints UTF-8"));
    let by_name: std::collections::HashMap<&str, &Value> =
        built.iter().filter_map(|v| Some((v["metadata"]["name"].as_str()?, v))).collect();
    pairs
        .iter()
        .enumerate()
        .map(|(i, (dest, _))| match by_name.get(format!("r{i}").as_str()) {
            Some(found) => {
                let mut found = (*found).clone();
                found["metadata"]["name"] = dest["metadata"]["name"].clone();
                Event::Is(found)
            }
            None => Event::Gone,
        })
        .collect()
}

/// Which of the resources each target selects, by number: one build, in which each target sets a field of its own.
pub fn select(resources: &[Value], targets: &[Value]) -> Vec<BTreeSet<usize>> {
    let folder = Folder::new(&format!("targets-{}", targets.len()));
    let write = |file: &str, text: String| fs::write(folder.0.join(file), text).expect("the folder is writable");
    let with_number = |(i, resource): (usize, &Value)| {
        let mut resource = resource.clone();
        resource["number"] = json!(i);
        format!("---\n{resource}\n")
    };
    write("resources.yaml", resources.iter().enumerate().map(with_number).collect());
    let patch = |(i, target): (usize, &Value)| {
        let patch = json!([{"op": "add", "path": format!("/hit{i}"), "value": true}]).to_string();
        json!({"target": target, "patch": patch})
    };
    let patches: Vec<Value> = targets.iter().enumerate().map(patch).collect();
    write("kustomization.yaml", json!({"resources": ["resources.yaml"], "patches": patches}).to_string());
    let output = kubectl(&["kustomize", &folder.0.to_string_lossy()], "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let built = documents(&String::from_utf8(output.stdout).expect("kustomize prints UTF-8"));
    assert_eq!(built.len(), resources.len());
    let number = |v: &Value| v["number"].as_u64().expect("a number") as usize;
    let hit = |i: usize| built.iter().filter(|v| v.get(format!("hit{i}")).is_some()).map(number).collect();
    (0..targets.len()).map(hit).collect()
}

fn documents(text: &str) -> Vec<Value> {
    yaml_serde::Deserializer::from_str(text).map(|d| Value::deserialize(d).expect("kustomize prints YAML")).collect()
}
