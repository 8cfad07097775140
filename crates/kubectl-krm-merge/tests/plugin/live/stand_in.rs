//! A stand-in for an API server that applies as a real one does: it keeps who owns which field, lists by label, and deletes. It serves what kubectl
//! asks for, too.
//!
//! It sets no defaults. The elements of a list are known by their `name`; a list of other elements is one value.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

use super::kept::LAST_APPLIED;
use super::replay::patched;
use super::{Answer, Asked, Server, status};

/// The types: apiVersion, kind, plural, and whether it has a namespace.
const TYPES: [(&str, &str, &str, bool); 8] = [
    ("v1", "ConfigMap", "configmaps", true),
    ("v1", "Namespace", "namespaces", false),
    ("v1", "Secret", "secrets", true),
    ("apps/v1", "Deployment", "deployments", true),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", false),
    ("example.com/v1", "Group", "groups", false),
    ("example.com/v1", "Thing", "things", true),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false),
];

/// Where an object has kubectl's note.
const NOTE: &str = "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration";

/// The path of a field, as FieldsV1 names its steps.
type Path = Vec<String>;

/// The server.
pub struct StandIn {
    pub server: Server,
    state: Arc<Mutex<State>>,
}

/// What the server keeps.
#[derive(Clone, Default)]
pub struct State {
    /// By path.
    objects: BTreeMap<String, Value>,
    /// How much was written so far.
    writes: u32,
    /// Which deletions are refused.
    refused: Option<Refused>,
}

/// Deletions that are refused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    DryRuns,
    Real,
}

impl StandIn {
    /// A server with some objects, which an installer created.
    pub fn new(objects: &[Value]) -> Self {
        let mut state = State::default();
        for object in objects {
            let mut new = object.clone();
            state.keep(&path(object), Value::Null, &mut new, "installer");
        }
        let state = Arc::new(Mutex::new(state));
        let kept = state.clone();
        Self { server: Server::answering(move |asked, _| kept.lock().expect("no panic").answer(asked)), state }
    }

    /// The objects as they are now.
    pub fn objects(&self) -> Vec<Value> {
        self.state.lock().expect("no panic").objects.values().cloned().collect()
    }

    /// An object as it is now.
    pub fn object(&self, kind: &str, name: &str) -> Option<Value> {
        self.objects().into_iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name)
    }

    /// The names of the objects of a kind.
    pub fn names(&self, kind: &str) -> Vec<String> {
        let all = self.objects().into_iter().filter(|object| object["kind"] == kind);
        all.filter_map(|object| object["metadata"]["name"].as_str().map(str::to_owned)).collect()
    }

    /// Applies an object as a controller does, which takes over what it needs.
    pub fn apply(&self, object: &Value, manager: &str) {
        let mut state = self.state.lock().expect("no panic");
        let _ =
            state.apply(&path(object), object, &Query { manager: manager.to_owned(), is_forced: true, is_dry: false });
    }

    /// Creates an object as a manager of updates.
    pub fn create(&self, object: &Value, manager: &str) {
        self.state.lock().expect("no panic").keep(&path(object), Value::Null, &mut object.clone(), manager);
    }

    /// What it keeps now.
    pub fn state(&self) -> State {
        self.state.lock().expect("no panic").clone()
    }

    /// Goes back to what it kept.
    pub fn go_back(&self, state: &State) {
        *self.state.lock().expect("no panic") = state.clone();
    }

    /// Refuses some deletions from now on.
    pub fn refuse(&self, refused: Option<Refused>) {
        self.state.lock().expect("no panic").refused = refused;
    }

    /// Changes an object as a person does.
    pub fn edit(&self, kind: &str, name: &str, manager: &str, edit: impl FnOnce(&mut Value)) {
        let old = self.object(kind, name).expect("an object");
        let mut new = old.clone();
        edit(&mut new);
        self.state.lock().expect("no panic").keep(&path(&old), old, &mut new, manager);
    }
}

struct Query {
    manager: String,
    is_forced: bool,
    is_dry: bool,
}

impl Query {
    fn of(asked: &Asked) -> Self {
        let parts = asked.line.split_once('?').map_or("", |(_, query)| query).split('&');
        let value = |name: &str| parts.clone().find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        let manager = value("fieldManager").unwrap_or("unknown").to_owned();
        Self { manager, is_forced: value("force") == Some("true"), is_dry: asked.is_dry() }
    }
}

impl State {
    fn answer(&mut self, asked: &Asked) -> Option<Answer> {
        let (method, path) = asked.path().split_once(' ')?;
        let query = Query::of(asked);
        let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
        match (method, asked.kind.as_str()) {
            ("GET", _) => self.get(path, &asked.line),
            ("POST", _) => {
                let path = format!("{path}/{}", body["metadata"]["name"].as_str()?);
                if self.objects.contains_key(&path) {
                    return Some(Answer::Json(409, status(409, "it already exists")));
                }
                self.write(&path, Value::Null, body, &query)
            }
            ("PATCH", "application/apply-patch+yaml") => Some(self.apply(path, &body, &query)),
            ("PATCH", kind) => {
                let old = self.objects.get(path)?.clone();
                let mut new = old.clone();
                match kind {
                    "application/json-patch+json" => replaced(&mut new, &body)?,
                    "application/strategic-merge-patch+json" => strategic(&mut new, &body),
                    _ => patched(&mut new, &body),
                }
                if stale(&old, &new["metadata"]["resourceVersion"]) {
                    return Some(Answer::Json(409, status(409, "the object has been modified")));
                }
                self.write(path, old, new, &query)
            }
            ("DELETE", _) => {
                let old = self.objects.get(path)?;
                let wants = &body["preconditions"];
                let is_other = wants["uid"].is_string() && wants["uid"] != old["metadata"]["uid"];
                if is_other || stale(old, &wants["resourceVersion"]) {
                    return Some(Answer::Json(409, status(409, "the object has been modified")));
                }
                let is_dry = query.is_dry || !body["dryRun"].is_null();
                if self.refused == Some(if is_dry { Refused::DryRuns } else { Refused::Real }) {
                    return Some(Answer::Json(403, status(403, "not allowed")));
                }
                if !is_dry {
                    self.objects.remove(path);
                }
                Some(Answer::Json(200, json!({"kind": "Status", "apiVersion": "v1", "status": "Success"})))
            }
            _ => None,
        }
    }

    fn get(&self, path: &str, line: &str) -> Option<Answer> {
        if let Some(object) = self.objects.get(path) {
            return Some(Answer::Json(200, object.clone()));
        }
        if let Some(found) = discovered(path) {
            return Some(Answer::Json(200, found));
        }
        let (version, kind, ..) = TYPES.into_iter().find(|(version, _, plural, _)| {
            path.starts_with(&format!("{}/", folder(version))) && path.ends_with(&format!("/{plural}"))
        })?;
        let selector = line.split_once("labelSelector=").map_or("", |(_, rest)| rest.split('&').next().unwrap_or(""));
        let selector = selector.replace("%2F", "/").replace("%3D", "=");
        let is_meant = |object: &&Value| match selector.split_once('=') {
            Some((name, value)) => object["metadata"]["labels"][name] == value,
            None => selector.is_empty() || object["metadata"]["labels"].get(&selector).is_some(),
        };
        let below = self.objects.iter().filter(|(own, _)| {
            let of_all = own.starts_with(&format!("{}/", folder(version))) && path.matches('/').count() < 5;
            own.strip_prefix(path).is_some_and(|rest| rest.matches('/').count() == 1) || of_all
        });
        let items: Vec<Value> = below
            .map(|(_, object)| object)
            .filter(|object| object["kind"] == kind)
            .filter(is_meant)
            .map(|object| {
                let mut item = object.clone();
                item.as_object_mut().expect("a map").retain(|name, _| name != "kind" && name != "apiVersion");
                item
            })
            .collect();
        let list = json!({"kind": format!("{kind}List"), "apiVersion": version, "metadata": {"resourceVersion": "1"}, "items": items});
        Some(Answer::Json(200, list))
    }

    fn write(&mut self, path: &str, old: Value, mut new: Value, query: &Query) -> Option<Answer> {
        let before = (self.objects.clone(), self.writes);
        let code = if old.is_null() { 201 } else { 200 };
        self.keep(path, old, &mut new, &query.manager);
        if query.is_dry {
            (self.objects, self.writes) = before;
        }
        Some(Answer::Json(code, new))
    }

    /// Keeps an object as a manager of updates wrote it: what changed is that manager's.
    fn keep(&mut self, path: &str, old: Value, new: &mut Value, manager: &str) {
        let leaves = leaves(new);
        let changed: BTreeSet<Path> = leaves.iter().filter(|leaf| at(&old, leaf) != at(new, leaf)).cloned().collect();
        // Whoever writes the owners says who owns what.
        let says_owners = !new["metadata"]["managedFields"].is_null();
        let mut owners = Owners::of(if says_owners { new } else { &old });
        owners.0.values_mut().for_each(|own| own.retain(|leaf| leaves.contains(leaf) && !changed.contains(leaf)));
        let own = (manager.to_owned(), "Update");
        if !changed.is_empty() {
            owners.0.entry(own.clone()).or_default().extend(changed);
        }
        let times = if says_owners { new.clone() } else { old.clone() };
        self.settle(path, &old, new, owners, (&own, &times));
    }

    /// Keeps an object. Only the manager that wrote it gets a new time; the others have those that an object says.
    fn settle(
        &mut self,
        path: &str,
        old: &Value,
        new: &mut Value,
        mut owners: Owners,
        (own, times): (&(String, &str), &Value),
    ) {
        owners.0.retain(|_, leaves| !leaves.is_empty());
        let is_same = Owners::of(old) == owners && bare(old) == bare(new);
        if !is_same {
            self.writes += 1;
            let time = format!("2026-01-01T00:{:02}:{:02}Z", self.writes / 60, self.writes % 60);
            let before = times["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
            let entry = |(of @ (manager, operation), leaves): (&(String, &str), &BTreeSet<Path>)| {
                let was = before.iter().find(|e| e["manager"] == **manager && e["operation"] == *operation);
                let time = was.filter(|_| of != own).map_or_else(|| json!(time), |e| e["time"].clone());
                json!({"manager": manager, "operation": operation, "apiVersion": new["apiVersion"], "time": time, "fieldsType": "FieldsV1", "fieldsV1": nested(leaves)})
            };
            let entries: Vec<Value> = owners.0.iter().map(entry).collect();
            new["metadata"]["managedFields"] = entries.into();
            new["metadata"]["resourceVersion"] = json!(self.writes.to_string());
            if old.is_null() {
                new["metadata"]["uid"] = json!(format!("uid-{}", self.writes));
            }
        }
        self.objects.insert(path.to_owned(), new.clone());
    }

    fn apply(&mut self, path: &str, patch: &Value, query: &Query) -> Answer {
        let old = self.objects.get(path).cloned().unwrap_or_default();
        if stale(&old, &patch["metadata"]["resourceVersion"]) {
            return Answer::Json(409, status(409, "the object has been modified"));
        }
        let own = (query.manager.clone(), "Apply");
        let leaves = leaves(patch);
        let mut owners = Owners::of(&old);
        let before = owners.0.remove(&own).unwrap_or_default();
        let differs = |leaf: &&Path| leaf.last().is_some_and(|step| step != ".") && at(&old, leaf) != at(patch, leaf);
        let taken: Vec<&Path> = leaves.iter().filter(differs).collect();
        let mut causes = Vec::new();
        for ((manager, _), held) in &mut owners.0 {
            for leaf in taken.iter().filter(|leaf| held.contains(**leaf)) {
                let message =
                    format!("conflict with \"{manager}\" using {}", patch["apiVersion"].as_str().unwrap_or_default());
                causes.push(json!({"reason": "FieldManagerConflict", "message": message, "field": place(leaf)}));
            }
            if query.is_forced {
                held.retain(|leaf| !taken.contains(&leaf));
            }
        }
        if !causes.is_empty() && !query.is_forced {
            let mut refusal = status(409, &format!("Apply failed with {} conflicts", causes.len()));
            refusal["reason"] = json!("Conflict");
            refusal["details"] = json!({"causes": causes});
            return Answer::Json(409, refusal);
        }
        let mut new = if old.is_null() { json!({}) } else { old.clone() };
        // An element stays while someone owns a part of it.
        let is_held = |leaf: &Path| {
            let whole = leaf.strip_suffix(&[".".to_owned()]).unwrap_or(leaf);
            owners.0.values().flatten().any(|held| held.starts_with(whole))
        };
        let mut gone: Vec<&Path> = before.iter().filter(|leaf| !leaves.contains(*leaf) && !is_held(leaf)).collect();
        gone.sort_by_key(|leaf| leaf.last().is_none_or(|step| step != "."));
        gone.into_iter().for_each(|leaf| remove(&mut new, leaf));
        merge(&mut new, patch);
        // Source: `lastappliedupdater.go` of k8s.io/apimachinery/pkg/util/managedfields.
        if let Some(note) = new.pointer_mut(NOTE).filter(|_| query.manager == "kubectl") {
            let mut noted = patch.clone();
            noted["metadata"].as_object_mut().expect("a map").shift_remove("managedFields");
            if let Some(annotations) = noted["metadata"]["annotations"].as_object_mut() {
                annotations.shift_remove(LAST_APPLIED);
            }
            *note = json!(format!("{noted}\n"));
        }
        owners.0.insert(own.clone(), leaves);
        let kept = (self.objects.clone(), self.writes);
        self.settle(path, &old, &mut new, owners, (&own, &old));
        if query.is_dry {
            (self.objects, self.writes) = kept;
        }
        Answer::Json(if old.is_null() { 201 } else { 200 }, new)
    }
}

/// A JSON patch that only replaces fields.
fn replaced(object: &mut Value, patch: &Value) -> Option<()> {
    for operation in patch.as_array()? {
        *object.pointer_mut(operation["path"].as_str()?)? = operation["value"].clone();
    }
    Some(())
}

/// A strategic merge patch of lists with keys. It keeps the order of elements.
fn strategic(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return *value = patch.clone() };
    if !value.is_object() {
        *value = json!({});
    }
    let map = value.as_object_mut().expect("a map");
    for (name, patch) in patch.iter().filter(|(name, _)| !name.starts_with('$')) {
        match (map.get_mut(name), patch) {
            (_, Value::Null) => drop(map.shift_remove(name)),
            (Some(Value::Array(list)), Value::Array(patch)) if has_keys(list) && has_keys(patch) => {
                for patch in patch {
                    let found = list.iter().position(|element| key(element) == key(patch));
                    match found {
                        Some(at) if patch["$patch"] == "delete" => drop(list.remove(at)),
                        Some(at) => strategic(&mut list[at], patch),
                        None => list.push(patch.clone()),
                    }
                }
            }
            (Some(value), patch) => strategic(value, patch),
            (None, patch) => drop(map.insert(name.clone(), patch.clone())),
        }
    }
}

/// Whether a version is not that of an object.
fn stale(object: &Value, version: &Value) -> bool {
    version.is_string() && *version != object["metadata"]["resourceVersion"]
}

fn folder(version: &str) -> String {
    format!("/{}/{version}", if version.contains('/') { "apis" } else { "api" })
}

fn path(object: &Value) -> String {
    let (version, _, plural, _) = TYPES
        .into_iter()
        .find(|(version, kind, ..)| object["apiVersion"] == *version && object["kind"] == *kind)
        .expect("a type of the server");
    let namespace = object["metadata"]["namespace"].as_str().map(|n| format!("/namespaces/{n}")).unwrap_or_default();
    format!("{}{namespace}/{plural}/{}", folder(version), object["metadata"]["name"].as_str().expect("a name"))
}

/// What the server says of its groups and types.
fn discovered(path: &str) -> Option<Value> {
    let groups: BTreeSet<&str> = TYPES.iter().filter_map(|(version, ..)| Some(version.split_once('/')?.0)).collect();
    let group = |group: &str| {
        let version = json!({"groupVersion": format!("{group}/v1"), "version": "v1"});
        json!({"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": [version], "preferredVersion": version})
    };
    match path {
        "/version" => return Some(json!({"major": "1", "minor": "34", "gitVersion": "v1.34.0"})),
        "/api" => return Some(json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})),
        "/apis" => {
            let all: Vec<Value> = groups.into_iter().map(group).collect();
            return Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": all}));
        }
        path if groups.contains(path.strip_prefix("/apis/").unwrap_or_default()) => {
            return path.strip_prefix("/apis/").map(group);
        }
        _ => {}
    }
    let of_version = TYPES.iter().filter(|(version, ..)| folder(version) == path);
    let resource = |(_, kind, plural, namespaced): &(&str, &str, &str, bool)| {
        let verbs = ["create", "delete", "get", "list", "patch", "update"];
        json!({"name": plural, "singularName": kind.to_lowercase(), "namespaced": namespaced, "kind": kind, "verbs": verbs})
    };
    let all: Vec<Value> = of_version.map(resource).collect();
    let version = path.trim_start_matches("/apis/").trim_start_matches("/api/");
    (!all.is_empty())
        .then(|| json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": all}))
}

/// Who owns which fields: by manager and operation.
#[derive(Clone, Default, PartialEq)]
struct Owners(BTreeMap<(String, &'static str), BTreeSet<Path>>);

impl Owners {
    fn of(object: &Value) -> Self {
        let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
        let read = |entry: &Value| {
            let operation = if entry["operation"] == "Apply" { "Apply" } else { "Update" };
            let mut leaves = BTreeSet::new();
            unnested(&entry["fieldsV1"], &mut Vec::new(), &mut leaves);
            ((entry["manager"].as_str().unwrap_or_default().to_owned(), operation), leaves)
        };
        Self(entries.map(read).collect())
    }
}

/// The object without what the server populates.
fn bare(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|name, _| !matches!(name.as_str(), "managedFields" | "resourceVersion" | "uid"));
    }
    object
}

/// The fields of an object that can be owned.
fn leaves(object: &Value) -> BTreeSet<Path> {
    let mut object = object.clone();
    if let Some(map) = object.as_object_mut() {
        map.retain(|name, _| !matches!(name.as_str(), "apiVersion" | "kind" | "status"));
        if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.retain(|name, value| matches!(name.as_str(), "labels" | "annotations") && !value.is_null());
        }
    }
    let mut all = BTreeSet::new();
    collect(&object, &mut Vec::new(), &mut all);
    all.remove(&vec!["f:metadata".to_owned()]);
    all
}

fn key(element: &Value) -> Option<String> {
    Some(format!("k:{}", json!({"name": element.get("name")?.as_str()?})))
}

fn has_keys(list: &[Value]) -> bool {
    !list.is_empty() && list.iter().all(|element| key(element).is_some())
}

fn collect(value: &Value, path: &mut Path, all: &mut BTreeSet<Path>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, value) in map {
                path.push(format!("f:{name}"));
                collect(value, path, all);
                path.pop();
            }
        }
        Value::Array(list) if has_keys(list) => {
            for element in list {
                path.push(key(element).expect("a key"));
                path.push(".".to_owned());
                all.insert(path.clone());
                path.pop();
                collect(element, path, all);
                path.pop();
            }
        }
        _ => _ = all.insert(path.clone()),
    }
}

/// The value at a path.
fn at<'v>(value: &'v Value, path: &Path) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match step.split_at_checked(2) {
        Some(("f:", name)) => value.get(name),
        Some(("k:", _)) => value.as_array()?.iter().find(|element| key(element).as_ref() == Some(step)),
        _ => Some(value),
    })
}

fn remove(value: &mut Value, path: &[String]) {
    let Some((step, rest)) = path.split_first() else { return };
    match (step.split_at_checked(2), value) {
        (Some(("f:", name)), Value::Object(map)) => {
            if let Some(below) = map.get_mut(name).filter(|_| !rest.is_empty()) {
                remove(below, rest);
                if *below == json!({}) || *below == json!([]) {
                    map.shift_remove(name);
                }
            } else {
                map.shift_remove(name);
            }
        }
        (Some(("k:", _)), Value::Array(list)) => {
            if rest == ["."] {
                list.retain(|element| key(element).as_ref() != Some(step));
            } else if let Some(element) = list.iter_mut().find(|element| key(element).as_ref() == Some(step)) {
                remove(element, rest);
            }
        }
        _ => {}
    }
}

fn merge(value: &mut Value, patch: &Value) {
    match (&mut *value, patch) {
        (Value::Object(map), Value::Object(patch)) if !patch.is_empty() => {
            for (name, patch) in patch.iter().filter(|(name, _)| *name != "resourceVersion") {
                merge(map.entry(name).or_insert(Value::Null), patch);
            }
        }
        (Value::Null, Value::Object(patch)) if !patch.is_empty() => {
            *value = json!({});
            merge(value, &Value::Object(patch.clone()));
        }
        (Value::Array(list), Value::Array(patch)) if has_keys(list) && has_keys(patch) => {
            for patch in patch {
                match list.iter_mut().find(|element| key(element) == key(patch)) {
                    Some(element) => merge(element, patch),
                    None => list.push(patch.clone()),
                }
            }
        }
        (value, patch) => *value = patch.clone(),
    }
}

fn nested(leaves: &BTreeSet<Path>) -> Value {
    let mut all = json!({});
    for leaf in leaves {
        leaf.iter().fold(&mut all, |below, step| {
            let below = below.as_object_mut().expect("a map");
            below.entry(step).or_insert_with(|| Map::new().into())
        });
    }
    all
}

fn unnested(fields: &Value, path: &mut Path, all: &mut BTreeSet<Path>) {
    let Some(below) = fields.as_object().filter(|below| !below.is_empty()) else {
        all.insert(path.clone());
        return;
    };
    for (step, fields) in below {
        path.push(step.clone());
        unnested(fields, path, all);
        path.pop();
    }
}

/// A path as the server writes it in a refusal.
fn place(path: &Path) -> String {
    let step = |step: &String| match step.split_at_checked(2) {
        Some(("f:", name)) => format!(".{name}"),
        Some(("k:", keys)) => {
            let keys: Value = serde_json::from_str(keys).expect("JSON");
            format!("[name={}]", keys["name"])
        }
        _ => String::new(),
    };
    path.iter().map(step).collect()
}
