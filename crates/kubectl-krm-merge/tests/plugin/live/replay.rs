//! A server that says what a real API server said: discovery, OpenAPI and the objects of recorded scenarios. It applies what is sent.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

use super::{Answer, Asked, Server, status, types};

/// What someone created, changed and applied, and what the real server made of it.
#[derive(Clone)]
pub struct Scenario(Value);

impl Scenario {
    pub fn id(&self) -> &str {
        self.0["id"].as_str().expect("an id")
    }

    /// Adds a writer to the first object before.
    pub fn managed_by(&mut self, entry: Value) {
        let managed = &mut self.0["live"][0]["metadata"]["managedFields"];
        managed.as_array_mut().expect("a list").push(entry);
    }

    /// The same, of which nobody knows what the real server made: it sets nothing by itself.
    pub fn without_answers(&self) -> Self {
        let mut scenario = self.clone();
        scenario.0["kubectl_apply"]["objects"] = json!([]);
        scenario
    }

    /// The same with another object before, and nothing of what the real server made of the files.
    pub fn with_live(&self, live: Value) -> Self {
        let mut scenario = self.without_answers();
        scenario.0["live"] = json!([live]);
        scenario
    }

    /// Whether someone else changed an object.
    pub fn is_changed(&self) -> bool {
        let managers = |object: &Value| object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
        self.live().iter().flat_map(managers).any(|entry| entry["manager"] == "console")
    }

    /// The files that are applied.
    pub fn files(&self) -> &str {
        self.0["v2"].as_str().expect("a text")
    }

    /// The files that were applied before.
    pub fn files_before(&self) -> &str {
        self.0["v1"].as_str().expect("a text")
    }

    /// Under which name the objects were created.
    pub fn creator(&self) -> &str {
        let created = self.0["created"].as_str().expect("a text");
        created.strip_prefix("server-side apply by ").unwrap_or("kubectl-client-side-apply")
    }

    /// The files as the server reads them.
    pub fn applied(&self) -> Vec<Value> {
        use serde::Deserialize;
        let documents = yaml_serde::Deserializer::from_str(self.files());
        documents.map(|document| Value::deserialize(document).expect("JSON")).filter(|v| !v.is_null()).collect()
    }

    /// The objects before.
    pub fn live(&self) -> &[Value] {
        self.0["live"].as_array().expect("a list")
    }

    /// What came of applying the files in one of three ways.
    pub fn result(&self, way: &str) -> Recorded<'_> {
        Recorded(&self.0[way])
    }
}

/// What a real server answered.
pub struct Recorded<'s>(&'s Value);

impl<'s> Recorded<'s> {
    pub fn is_refused(&self) -> bool {
        self.0["code"] != 0
    }

    /// The server's refusal because of fields of others.
    fn refusal(&self) -> Option<Value> {
        let cause = |(place, owner): (String, String)| json!({"reason": "FieldManagerConflict", "message": format!("conflict with \"{owner}\" using v1"), "field": place});
        let causes: Vec<Value> = self.refused().into_iter().map(cause).collect();
        let mut refusal = status(409, "Apply failed");
        refusal["details"] = json!({"causes": causes});
        (!causes.is_empty()).then_some(refusal)
    }

    /// The fields that the server refused, each with whose it was.
    pub fn refused(&self) -> BTreeSet<(String, String)> {
        let text = self.0["stderr"].as_str().expect("a text").split("Please review").next().unwrap_or_default();
        let (mut owner, mut fields) = (String::new(), BTreeSet::new());
        for line in text.lines() {
            if let Some((_, rest)) = line.split_once("onflict with \"").or_else(|| line.split_once("onflicts with \""))
            {
                owner = rest.split('"').next().expect("a name").to_owned();
                fields.extend(rest.split_once(": .").map(|(_, place)| (format!(".{place}"), owner.clone())));
            }
            fields.extend(line.strip_prefix("- ").map(|place| (place.to_owned(), owner.clone())));
        }
        fields
    }

    /// The objects after.
    pub fn objects(&self) -> &'s [Value] {
        self.0["objects"].as_array().expect("a list")
    }
}

/// Lines of JSON in a file, compressed or not; `None` where there is no such file.
fn lines(file: &Path) -> Option<Vec<Value>> {
    let text = if file.extension().is_some_and(|e| e == "gz") {
        let out = Command::new("gzip").arg("-dc").arg(file).output().ok().filter(|out| out.status.success())?;
        String::from_utf8(out.stdout).expect("UTF-8")
    } else {
        fs::read_to_string(file).ok()?
    };
    Some(text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

/// Scenarios, and what the server says of its types, by path.
pub struct Recording {
    pub scenarios: Vec<Scenario>,
    /// All servers share it, because each lives as long as the tests.
    said: Arc<BTreeMap<String, Answer>>,
}

impl Recording {
    /// Reads a folder; `None` where it is not there.
    pub fn read(folder: &Path, extension: &str) -> Option<Self> {
        let scenarios = lines(&folder.join(format!("scenarios.{extension}")))?.into_iter().map(Scenario).collect();
        let server = lines(&folder.join(format!("server.{extension}")))?;
        let of = |mut line: Value| {
            let path = line["path"].as_str().expect("a path").split('?').next().expect("a part").to_owned();
            let status = u16::try_from(line["status"].as_u64().expect("a status")).expect("a status");
            (format!("GET {path}"), Answer::Json(status, line["body"].take()))
        };
        Some(Self { scenarios, said: Arc::new(server.into_iter().map(of).collect()) })
    }

    /// A server with the objects of a scenario.
    pub fn server(&self, scenario: &Scenario) -> Replay {
        let plural = |object: &Value| self.plural(object);
        let objects = scenario.live().iter().map(|o| (path(o, &plural(o)), o.clone())).collect();
        let objects = Arc::new(Mutex::new(objects));
        let (said, keeps) = (self.said.clone(), objects.clone());
        let mut more = BTreeMap::new();
        for object in scenario.live() {
            // Discovery of the custom resources was not recorded.
            let (version, kind) =
                (object["apiVersion"].as_str().expect("a text"), object["kind"].as_str().expect("a text"));
            if version.contains('/') {
                more.entry(format!("GET /apis/{version}")).or_insert_with(|| types(&[(kind, &plural(object), true)]));
            }
        }
        let of = |objects: &[Value]| objects.iter().map(|o| (path(o, &plural(o)), o.clone())).collect();
        let known = Known {
            before: of(scenario.live()),
            files: of(&scenario.applied()),
            after: of(scenario.result("kubectl_apply").objects()),
        };
        let applied = ["server_side_apply_as_other", "server_side_apply_as_owner"].map(|way| {
            let recorded = scenario.result(way);
            let is_other = way.ends_with("other");
            Applied { refusal: recorded.refusal(), is_other, objects: of(recorded.objects()) }
        });
        let creator = scenario.creator().to_owned();
        let server = Server::answering(move |asked, _| {
            let is_owner = asked.line.contains(&format!("fieldManager={creator}&"));
            let own = answer(asked, &said, &keeps, &known);
            own.or_else(|| more.get(asked.path()).cloned())
                .or_else(|| applied[usize::from(is_owner)].answer(asked, &keeps))
        });
        Replay { server, objects }
    }

    fn plural(&self, object: &Value) -> String {
        let version = object["apiVersion"].as_str().expect("a text");
        let folder = if version.contains('/') { "apis" } else { "api" };
        let served = match self.said.get(&format!("GET /{folder}/{version}")) {
            Some(Answer::Json(_, body)) => body["resources"].as_array().cloned().unwrap_or_default(),
            _ => Vec::new(),
        };
        let found = served.iter().find(|r| r["kind"] == object["kind"] && !r["name"].to_string().contains('/'));
        found
            .and_then(|r| r["name"].as_str())
            .map_or_else(|| format!("{}s", object["kind"].as_str().expect("a kind").to_lowercase()), str::to_owned)
    }
}

/// A server that keeps what is sent.
pub struct Replay {
    pub server: Server,
    objects: Arc<Mutex<BTreeMap<String, Value>>>,
}

impl Replay {
    /// The objects as they are now, in the order of their paths.
    pub fn objects(&self) -> Vec<Value> {
        self.objects.lock().expect("no panic").values().cloned().collect()
    }
}

/// The path of an object.
fn path(object: &Value, plural: &str) -> String {
    let version = object["apiVersion"].as_str().expect("a text");
    let folder = if version.contains('/') { "apis" } else { "api" };
    let namespace = object["metadata"]["namespace"].as_str().map(|n| format!("/namespaces/{n}")).unwrap_or_default();
    format!("/{folder}/{version}{namespace}/{plural}/{}", object["metadata"]["name"].as_str().expect("a name"))
}

/// By which the server's defaults are known: by path, an object before, as the files have it, and after.
struct Known {
    before: BTreeMap<String, Value>,
    files: BTreeMap<String, Value>,
    after: BTreeMap<String, Value>,
}

fn answer(
    asked: &Asked,
    said: &BTreeMap<String, Answer>,
    objects: &Mutex<BTreeMap<String, Value>>,
    known: &Known,
) -> Option<Answer> {
    let (method, path) = asked.path().split_once(' ')?;
    let mut objects = objects.lock().ok()?;
    match method {
        "GET" => match objects.get(path) {
            Some(object) => Some(Answer::Json(200, object.clone())),
            None => said.get(asked.path()).cloned(),
        },
        "PATCH" if asked.kind == "application/merge-patch+json" => {
            let mut object = objects.get(path)?.clone();
            if let Some(refusal) = merged(&mut object, &asked.body) {
                return Some(refusal);
            }
            let none = Value::Null;
            let [before, files, after] =
                [&known.before, &known.files, &known.after].map(|all| all.get(path).unwrap_or(&none));
            let noted = before["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"].as_str();
            let noted: Value = noted.map(|json| serde_json::from_str(json).expect("JSON")).unwrap_or_default();
            defaulted(&mut object, [before, &noted, files], after);
            object["metadata"]["resourceVersion"] =
                json!(format!("{}1", object["metadata"]["resourceVersion"].as_str()?));
            if !asked.is_dry() {
                objects.insert(path.to_owned(), object.clone());
            }
            Some(Answer::Json(200, object))
        }
        _ => None,
    }
}

/// What came of an apply patch.
struct Applied {
    refusal: Option<Value>,
    /// Whether another manager applied than the one that created the object.
    is_other: bool,
    objects: BTreeMap<String, Value>,
}

impl Applied {
    /// Where nothing is recorded, the patch is merged as it is. No manager is in its own way.
    fn answer(&self, asked: &Asked, objects: &Mutex<BTreeMap<String, Value>>) -> Option<Answer> {
        let path = asked.path().strip_prefix("PATCH ").filter(|_| asked.kind == "application/apply-patch+yaml")?;
        let manager = asked.line.split("fieldManager=").nth(1)?.split('&').next()?;
        let is_own = |cause: &Value| {
            self.is_other && cause["message"].as_str().is_some_and(|text| text.contains(&format!("\"{manager}\"")))
        };
        let causes = |refusal: &Value| refusal["details"]["causes"].as_array().cloned().unwrap_or_default();
        let is_refused = |refusal: &&Value| !causes(refusal).iter().all(is_own) && !asked.line.contains("force=true");
        if let Some(refusal) = self.refusal.as_ref().filter(is_refused) {
            return Some(Answer::Json(409, refusal.clone()));
        }
        let recorded = self.objects.get(path).cloned();
        let object = recorded.or_else(|| {
            let mut object = objects.lock().ok()?.get(path).cloned()?;
            patched(&mut object, &serde_json::from_str(&asked.body).ok()?);
            Some(object)
        })?;
        Some(Answer::Json(200, object))
    }
}

/// Merges a patch into an object, if it is for the version that the server has.
pub fn merged(object: &mut Value, patch: &str) -> Option<Answer> {
    let patch: Value = serde_json::from_str(patch).ok()?;
    let version = &patch["metadata"]["resourceVersion"];
    if !version.is_null() && *version != object["metadata"]["resourceVersion"] {
        return Some(Answer::Json(409, status(409, "the object has been modified")));
    }
    patched(object, &patch);
    None
}

/// A JSON merge patch. Source: RFC 7396.
pub fn patched(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return *target = patch.clone() };
    if !target.is_object() {
        *target = Map::new().into();
    }
    for (name, value) in patch {
        match value {
            Value::Null => drop(target.as_object_mut().expect("a map").shift_remove(name)),
            value => patched(&mut target[name], value),
        }
    }
}

/// Sets what the real server set by itself: what is in the object after, and neither in the files nor, as it is, in the one before.
fn defaulted(object: &mut Value, [before, noted, files]: [&Value; 3], after: &Value) {
    match (object, after) {
        (Value::Object(object), Value::Object(after)) => {
            // What is empty, the server leaves out, and what depends on the type of a Service.
            let empty = [json!({}), json!([]), json!(""), json!(false), json!(0)];
            let is_dropped = |name: &str, value: &Value| empty.contains(value) || OF_SERVICE_TYPES.contains(&name);
            object.retain(|name, value| after.contains_key(name) || !is_dropped(name, value));
            for (name, after) in after {
                let says_null = files.get(name).is_some_and(Value::is_null);
                let states = [before, noted, files].map(|v| v.get(name).unwrap_or(&Value::Null));
                let [before, noted, files] = states;
                let is_new = match after {
                    Value::Object(map) if !map.is_empty() => before.is_null() || !noted.is_null(),
                    Value::Array(list) if !list.is_empty() => before.is_null(),
                    // What was applied and is no more goes: the server set it again.
                    after => before != after || !noted.is_null(),
                };
                match object.get_mut(name) {
                    // What the files say is written as the server writes it.
                    Some(value) if value == files && is_leaf(files) => *value = after.clone(),
                    Some(value) if !value.is_null() => defaulted(value, states, after),
                    _ if says_null || is_new && files.is_null() => drop(object.insert(name.clone(), after.clone())),
                    _ => {}
                }
            }
        }
        (Value::Array(object), Value::Array(after)) => {
            let is_as_long = object.len() == after.len();
            for (at, value) in object.iter_mut().enumerate() {
                let by_place = after.get(at).filter(|_| is_as_long && !has_name(value));
                let Some(after) = by_place.or_else(|| partner(after, value)) else { continue };
                let of = |list: &'_ Value| list.as_array().and_then(|l| partner(l, after)).cloned().unwrap_or_default();
                let states = [before, noted, files].map(of);
                defaulted(value, states.each_ref(), after);
            }
        }
        _ => {}
    }
}

/// Whether a value has nothing in it that another one could have in its place.
fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => true,
    }
}

/// Source: `dropTypeDependentFields` of kubernetes/pkg/registry/core/service.
const OF_SERVICE_TYPES: [&str; 6] = [
    "allocateLoadBalancerNodePorts",
    "externalTrafficPolicy",
    "healthCheckNodePort",
    "loadBalancerClass",
    "nodePort",
    "sessionAffinityConfig",
];

/// What the elements of lists are known by, the first that they have.
const NAMES: [&str; 7] = ["name", "mountPath", "devicePath", "containerPort", "port", "topologyKey", "ip"];

fn has_name(element: &Value) -> bool {
    NAMES.iter().any(|name| element.get(name).is_some())
}

/// The element of a list that is the same as another one; what has no name is sent as a whole, and is no element of before.
fn partner<'v>(list: &'v [Value], element: &Value) -> Option<&'v Value> {
    let name = NAMES.iter().find(|name| element.get(name).is_some())?;
    let is_it = |other: &&Value| {
        other.get(name) == element.get(name)
            && [other.get("protocol"), element.get("protocol")]
                .map(|p| p.and_then(Value::as_str).unwrap_or("TCP").to_owned())
                .windows(2)
                .all(|p| p[0] == p[1])
    };
    list.iter().find(is_it)
}
