//! A server that has some objects and types, and keeps what is sent, as a real API server does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::replay::merged;
use super::{Answer, Answers, Asked, Server, types};

/// The annotation in which `kubectl apply` notes what it applied.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

type Objects = BTreeMap<String, Value>;

/// A server that keeps objects.
pub struct Kept {
    pub server: Server,
    objects: Arc<Mutex<Objects>>,
}

impl Kept {
    /// A server with some objects, which answers everything else from `said`.
    pub fn new(said: Answers, objects: &[Value]) -> Self {
        Self::setting(said, objects, |_| {})
    }

    /// The same; `defaults` sets in each object what the server sets by itself.
    pub fn setting(
        mut said: Answers,
        objects: &[Value],
        defaults: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Self {
        for object in objects {
            let (version, kind) = (text(object, "apiVersion"), text(object, "kind"));
            let of_kind = types(&[(kind, &plural(kind), object["metadata"].get("namespace").is_some())]);
            said.entry(format!("GET {}", folder(version))).or_insert(of_kind);
        }
        let objects: Objects = objects.iter().map(|object| (path(object), versioned(object.clone()))).collect();
        let objects = Arc::new(Mutex::new(objects));
        let kept = objects.clone();
        let server = Server::answering(move |asked, before| {
            let own = answer(asked, &mut kept.lock().expect("no panic"), &defaults);
            own.or_else(|| Some(said.get(asked.path())?.clone().after(before)))
        });
        Self { server, objects }
    }

    /// The objects as they are now, in the order of their paths.
    pub fn objects(&self) -> Vec<Value> {
        self.objects.lock().expect("no panic").values().cloned().collect()
    }
}

fn text<'v>(object: &'v Value, field: &str) -> &'v str {
    object[field].as_str().expect("a text")
}

fn folder(version: &str) -> String {
    format!("/{}/{version}", if version.contains('/') { "apis" } else { "api" })
}

fn plural(kind: &str) -> String {
    format!("{}s", kind.to_lowercase())
}

fn path(object: &Value) -> String {
    let namespace = object["metadata"]["namespace"].as_str().map(|n| format!("/namespaces/{n}")).unwrap_or_default();
    let name = text(&object["metadata"], "name");
    format!("{}{namespace}/{}/{name}", folder(text(object, "apiVersion")), plural(text(object, "kind")))
}

/// An object with a version that is not the one before.
fn versioned(mut object: Value) -> Value {
    let version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    object["metadata"]["resourceVersion"] = json!(format!("{version}1"));
    object
}

fn answer(asked: &Asked, objects: &mut Objects, defaults: &impl Fn(&mut Value)) -> Option<Answer> {
    let (method, path) = asked.path().split_once(' ')?;
    match method {
        "GET" => Some(Answer::Json(200, objects.get(path)?.clone())),
        "PATCH" if asked.kind == "application/merge-patch+json" => {
            let mut object = objects.get(path)?.clone();
            if let Some(refusal) = merged(&mut object, &asked.body) {
                return Some(refusal);
            }
            defaults(&mut object);
            let object = versioned(object);
            if !asked.is_dry() {
                objects.insert(path.to_owned(), object.clone());
            }
            Some(Answer::Json(200, object))
        }
        _ => None,
    }
}

/// An object to which `applied` was applied by kubectl.
pub fn noted(mut live: Value, applied: &Value) -> Value {
    live["metadata"]["annotations"][LAST_APPLIED] = applied.to_string().into();
    live
}

/// What a server says of a type in its OpenAPI; its schema is `it`.
pub fn of_type(api_version: &str, kind: &str, mut schemas: Value) -> Answers {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    schemas["it"]["x-kubernetes-group-version-kind"] = json!([{"group": group, "version": version, "kind": kind}]);
    let folder = if group.is_empty() { "api" } else { "apis" };
    let document = json!({"components": {"schemas": schemas}});
    Answers::from([(format!("GET /openapi/v3/{folder}/{api_version}"), Answer::Json(200, document))])
}
