//! How many requests a run sends, and how many of them at the same time.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use super::replay::patched;
use super::{Answer, Asked, Server, folder, run, types};

/// How many requests may wait for an answer at the same time, as docs/src/cluster.md says.
const LIMIT: usize = 8;

/// The kinds of the objects: two of one built-in apiVersion, one of another, and a custom one.
const KINDS: [(&str, &str, &str); 4] = [
    ("v1", "ConfigMap", "configmaps"),
    ("v1", "Service", "services"),
    ("apps/v1", "Deployment", "deployments"),
    ("example.com/v1", "Thing", "things"),
];

fn object(i: usize, value: &str) -> Value {
    let (version, kind, _) = KINDS[i % KINDS.len()];
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": format!("o{i}")}, "spec": {"x": value}})
}

fn files(count: usize, value: &str) -> String {
    (0..count).map(|i| format!("{}\n---\n", object(i, value))).collect()
}

/// A cluster that keeps what it is sent, and takes a while to answer.
fn cluster() -> Server {
    let kept: Mutex<BTreeMap<String, Value>> = Mutex::default();
    Server::answering(move |asked, _| {
        std::thread::sleep(Duration::from_millis(3));
        answer(asked, &mut kept.lock().expect("no panic"))
    })
}

fn answer(asked: &Asked, kept: &mut BTreeMap<String, Value>) -> Option<Answer> {
    let (method, path) = asked.path().split_once(' ')?;
    if let Some(version) = path.strip_prefix("/apis/").or_else(|| path.strip_prefix("/api/"))
        && let of = KINDS.iter().filter(|k| k.0 == version).map(|k| (k.1, k.2, true)).collect::<Vec<_>>()
        && !of.is_empty()
    {
        return Some(types(&of));
    }
    if path.starts_with("/openapi/v3/") {
        return Some(Answer::Json(200, json!({"components": {"schemas": {}}})));
    }
    let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
    let path =
        if method == "POST" { format!("{path}/{}", body["metadata"]["name"].as_str()?) } else { path.to_owned() };
    let mut object = kept.get(&path).cloned();
    match (method, asked.kind.as_str()) {
        ("GET", _) => return object.map(|object| Answer::Json(200, object)),
        ("PATCH", "application/merge-patch+json") => patched(object.as_mut()?, &body),
        // Nobody else owns anything.
        ("PATCH", "application/apply-patch+yaml") => {
            let fields = json!({"f:spec": {"f:x": {}}});
            let owner = json!({"manager": "krm-merge", "operation": "Apply", "fieldsV1": fields});
            let mut applied = body;
            applied["metadata"]["managedFields"] = json!([owner]);
            object = Some(applied);
        }
        _ => object = Some(body),
    }
    let mut object = object?;
    object["metadata"]["namespace"] = json!("prod");
    object["metadata"]["resourceVersion"] =
        json!(format!("{}1", object["metadata"]["resourceVersion"].as_str().unwrap_or_default()));
    if !asked.is_dry() {
        kept.insert(path, object.clone());
    }
    Some(Answer::Json(200, object))
}

/// What is asked, by what it is for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    discovery: usize,
    schemas: usize,
    objects: usize,
    dry: usize,
    writes: usize,
}

fn count(asked: &[Asked]) -> Count {
    let mut count = Count::default();
    for asked in asked {
        let what = match asked.path().split_once(' ') {
            Some(("GET", path)) if path.starts_with("/openapi/") => &mut count.schemas,
            Some(("GET", path)) if path.contains("/namespaces/") => &mut count.objects,
            Some(("GET", _)) => &mut count.discovery,
            _ if asked.is_dry() => &mut count.dry,
            _ => &mut count.writes,
        };
        *what += 1;
    }
    count
}

#[test]
fn each_question_is_asked_once_and_many_at_the_same_time() {
    for n in [1, 20, 300] {
        for way in [&[][..], &["--server-side"]] {
            let server = cluster();
            let folder = folder(&server, &[("old.yaml", &files(n, "old")), ("new.yaml", &files(n, "new"))]);
            let mut seen = 0;
            let mut check = |args: &[&str], want: Count| {
                let ran = run(&folder, &[args, way].concat());
                assert_eq!(ran.code, Some(0), "{ran:?}");
                let asked = server.asked();
                assert_eq!(count(&asked[seen..]), want, "{n} {args:?} {way:?}");
                seen = asked.len();
                let most = server.most_in_flight();
                assert!(most <= LIMIT && (n == 1 || most > 1), "{n} {args:?} {way:?}: {most} in flight");
                ran.stdout
            };
            let groups = n.min(3);
            // Without `--server-side`, only the types that are not built in are asked for.
            let custom = if n > 1 { 1 } else { 0 };
            let asks = |schemas| Count { discovery: groups, schemas, objects: n, ..Count::default() };
            let sends = |schemas| Count { dry: n, writes: n, ..asks(schemas) };
            let schemas = if way.is_empty() { custom } else { groups };
            // The answer to the dry run is what is shown.
            let shows = |schemas| Count { dry: n, ..asks(schemas) };
            // A new object is asked for with `--server-side`.
            check(&["-f", "old.yaml"], Count { dry: if way.is_empty() { 0 } else { n }, ..asks(custom) });
            let sent = check(&["-f", "old.yaml", "--apply"], sends(custom));
            let names: Vec<&str> = sent.lines().filter_map(|line| line.split(' ').next()).collect();
            assert_eq!(names.len(), n);
            check(&["-f", "old.yaml", "--apply"], asks(schemas));
            check(&["-f", "new.yaml"], shows(schemas));
            let again = check(&["-f", "new.yaml", "--apply"], sends(schemas));
            let names_again: Vec<&str> = again.lines().filter_map(|line| line.split(' ').next()).collect();
            // Each object is told when its answer comes, so the order varies.
            let sorted = |mut names: Vec<&str>| {
                names.sort_unstable();
                names.join(" ")
            };
            assert_eq!(sorted(names_again), sorted(names));
            check(&["-f", "new.yaml", "--apply"], asks(schemas));
        }
    }
}
