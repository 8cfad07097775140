//! `--adopt`: what someone changed in the cluster comes into the files, and nothing else does.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::kept::{Kept, noted, of_type};
use super::recorded::recordings;
use super::replay::Scenario;
use super::{Answer, Answers, Server, WEB, cluster, deployment, folder, live, run, types, with_secret};
use crate::support::{Folder, Ran};

const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What `--adopt` writes, without the summary.
fn written(ran: Ran) -> String {
    let lines = ran.passed();
    lines.lines().filter(|line| !line.starts_with("info: ")).collect::<Vec<_>>().join("\n")
}

/// The file of the Deployment of [`cluster`], as someone wrote it.
const FILE: &str = "# the shop
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3   # enough
  template:
    spec:
      containers:
      # the server
      - name: app
        image: \"web:1\"  # pinned
        ports:
        - containerPort: 80
";

/// A writer of the live object.
fn entry(manager: &str, operation: &str, fields: Value) -> Value {
    json!({"manager": manager, "operation": operation, "time": "2026-02-03T04:05:06Z", "fieldsV1": fields})
}

/// The Deployment of [`cluster`] after someone changed it: more replicas, another image, a label, a container with what the server
/// sets in it; a controller notes a revision, and a webhook has put in a sidecar.
fn changed() -> Value {
    let mut object = live(&deployment(3, "web:1"), 5, "web:2");
    object["metadata"]["labels"] = json!({"team": "blue"});
    let containers = object["spec"]["template"]["spec"]["containers"].as_array_mut().expect("a list");
    containers.push(json!({
        "name": "debug", "image": "debug:1", "imagePullPolicy": "IfNotPresent", "resources": {}, "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File", "args": ["-v"], "livenessProbe": {"exec": {"command": ["x"]}, "periodSeconds": 10, "timeoutSeconds": 5},
    }));
    object["metadata"]["managedFields"] = json!([
        entry(
            "kubectl-client-side-apply",
            "Update",
            json!({"f:metadata": {"f:annotations": {".": {}, format!("f:{APPLIED}"): {}}}, "f:spec": {"f:template": {"f:spec": {"f:containers": {
                "k:{\"name\":\"sidecar\"}": {".": {}, "f:image": {}, "f:name": {}},
            }}}}})
        ),
        entry(
            "console",
            "Update",
            json!({"f:metadata": {"f:labels": {".": {}, "f:team": {}}}, "f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {
                "k:{\"name\":\"app\"}": {"f:image": {}},
                "k:{\"name\":\"debug\"}": {".": {}, "f:name": {}, "f:image": {}, "f:imagePullPolicy": {}, "f:resources": {}, "f:terminationMessagePath": {}, "f:terminationMessagePolicy": {}, "f:args": {},
                    "f:livenessProbe": {".": {}, "f:exec": {".": {}, "f:command": {}}, "f:periodSeconds": {}, "f:timeoutSeconds": {}}},
            }}}}})
        ),
        entry(
            "kube-controller-manager",
            "Update",
            json!({"f:metadata": {"f:annotations": {"f:deployment.kubernetes.io/revision": {}}}, "f:status": {}})
        ),
    ]);
    object
}

fn with(object: Value) -> Server {
    let mut answers = cluster(3, "web:1");
    answers.insert(format!("GET {WEB}"), Answer::Json(200, object));
    Server::new(answers)
}

fn text(folder: &Folder, file: &str) -> String {
    fs::read_to_string(folder.path(file)).expect("a file")
}

#[test]
fn what_someone_changed_comes_into_the_file_and_nothing_else() {
    let server = with(changed());
    // A package also has files and resources that are not for the cluster.
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: all\n";
    let local = "apiVersion: e.com/v1\nkind: Own\nmetadata:\n  name: a\n  annotations:\n    config.kubernetes.io/local-config: 'true'\n";
    let files =
        [("all/web.yaml", FILE), ("all/other.yaml", "a: 1\n"), ("all/Kptfile", kptfile), ("all/own.yaml", local)];
    let folder = folder(&server, &files);
    let ran = run(&folder, &["-f", "all", "--adopt", "-o", "diff"]);
    assert!(ran.stdout.contains("+  replicas: 5   # enough\n"), "{ran:?}");
    assert_eq!((ran.code, text(&folder, "all/web.yaml").as_str()), (Some(0), FILE), "it is only shown");
    assert_eq!(written(run(&folder, &["-f", "all", "--adopt"])), "changed web.yaml");
    let want = FILE
        .replace("metadata: {name: web}", "metadata: {name: web, labels: {team: blue}}")
        .replace("replicas: 3 ", "replicas: 5 ")
        .replace("\"web:1\"", "web:2")
        + "      - name: debug\n        image: debug:1\n        args:\n        - -v\n        livenessProbe:\n          exec:\n            command:\n            - x\n          timeoutSeconds: 5\n";
    assert_eq!(text(&folder, "all/web.yaml"), want);
    assert_eq!(server.sent().len(), 0);
    // Nothing is left to adopt, and nothing differs from the cluster.
    assert_eq!(written(run(&folder, &["-f", "all", "--adopt", "--exit-code"])), "");
    assert_eq!(run(&folder, &["-f", "all", "--exit-code"]).passed(), "");
}

/// What the file and the cluster both changed is a conflict, as between files; a rule decides it.
#[test]
fn the_file_and_the_cluster_may_be_in_conflict() {
    let server = with(changed());
    let file = FILE.replace("replicas: 3 ", "replicas: 4 ");
    let rules = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata: {name: r}\nspec:\n  rules:\n  - path: spec.replicas\n    take: Dest\n";
    for (args, replicas, code) in [
        (&[][..], "replicas: 5   # enough\n", 0),
        (&["--on-conflict", "keep-dest"], "replicas: 4 ", 0),
        (&["--on-conflict", "fail"], "replicas: 4 ", 1),
        (&["--config", "rules.yaml"], "replicas: 4 ", 0),
    ] {
        let folder = folder(&server, &[("web.yaml", &file), ("rules.yaml", rules)]);
        let ran = run(&folder, &[&["-f", "web.yaml", "--adopt"], args].concat());
        assert_eq!(ran.code, Some(code), "{args:?} {ran:?}");
        let told = ran.stderr.contains("both sides changed `spec.replicas`: dest has 4, updated has 5")
            && ran.stderr.contains("set by \"console\" at 2026-02-03T04:05:06Z");
        assert_eq!(told, !args.contains(&"--config"), "{args:?} {ran:?}");
        let text = text(&folder, "web.yaml");
        assert!(text.contains(replicas), "{args:?} {text}");
        assert_eq!(text.contains("web:2"), code == 0, "{args:?} {text}");
    }
}

#[test]
fn what_cannot_be_adopted_is_told() {
    let server = with(changed());
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n";
    let folder = folder(&server, &[("web.yaml", FILE), ("map.yaml", map)]);
    for (args, want) in [
        (
            &["-k", ".", "--adopt"][..],
            "`--adopt` must be given with `-f`, because the output of a kustomization has no files",
        ),
        (&["-f", "web.yaml", "--adopt", "--apply"], "--apply"),
        (&["-f", "web.yaml", "--config", "x"], "--adopt"),
        (&["-f", "web.yaml", "-f", "map.yaml", "--adopt", "-o", "yaml"], "one `-f`"),
    ] {
        let err = run(&folder, args).failed(2);
        assert!(err.contains(want), "{err}");
    }
    let ran = run(&folder, &["-f", "web.yaml", "-f", "map.yaml", "--adopt"]);
    assert!(
        ran.stderr.contains("prod/configmap/gone: it is not in the cluster")
            && ran.stdout.starts_with("changed web.yaml\n"),
        "{ran:?}"
    );
    assert_eq!(text(&folder, "map.yaml"), map);
    // Nobody knows what was applied.
    let mut object = changed();
    object["metadata"]["annotations"].as_object_mut().expect("a map").shift_remove(APPLIED);
    object["metadata"]["managedFields"].as_array_mut().expect("a list").remove(0);
    let server = with(object);
    let folder = self::folder(&server, &[("web.yaml", FILE)]);
    let ran = run(&folder, &["-f", "web.yaml", "--adopt"]);
    assert!(ran.stderr.contains("krm-merge cannot detect changes made in the cluster"), "{ran:?}");
    assert_eq!(text(&folder, "web.yaml"), FILE);
}

/// Objects of several files are written together, or none is.
#[cfg(unix)]
#[test]
fn all_files_are_written_or_none() {
    let mut answers = cluster(3, "web:1");
    answers.insert(format!("GET {WEB}"), Answer::Json(200, changed()));
    let note = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod", "annotations": {}}, "data": {"a": "1"}});
    let mut map = note.clone();
    map["data"]["a"] = json!("2");
    map["metadata"]["resourceVersion"] = json!("1");
    map["metadata"]["annotations"] = json!({APPLIED: note.to_string()});
    answers.insert("GET /api/v1/namespaces/prod/configmaps/m".into(), Answer::Json(200, map));
    let server = Server::new(answers);
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: '1'} # one\n";
    let folder = folder(&server, &[("a/web.yaml", FILE), ("b/map.yaml", map)]);
    let out = written(run(&folder, &["-f", "a", "-f", "b/map.yaml", "--adopt"]));
    assert_eq!(out, "changed web.yaml\nchanged map.yaml");
    assert_eq!(text(&folder, "b/map.yaml"), map.replace("'1'", "\"2\""));
    folder.write("a/web.yaml", FILE);
    folder.write("c/map.yaml", map);
    let mut readonly = fs::metadata(folder.path("c")).expect("a folder").permissions();
    readonly.set_readonly(true);
    fs::set_permissions(folder.path("c"), readonly.clone()).expect("allowed");
    let ran = run(&folder, &["-f", "a", "-f", "c/map.yaml", "--adopt"]);
    #[expect(clippy::permissions_set_readonly_false, reason = "the folder is removed afterwards")]
    readonly.set_readonly(false);
    fs::set_permissions(folder.path("c"), readonly).expect("allowed");
    // Root may write everywhere.
    if ran.code != Some(0) {
        assert!(ran.stderr.contains("nothing is written"), "{ran:?}");
        assert_eq!(text(&folder, "a/web.yaml"), FILE);
    }
}

#[test]
fn a_secret_is_adopted_where_the_file_has_it_and_is_not_shown() {
    let note = |rest: Value| {
        let mut note = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "prod", "annotations": {}}});
        rest.as_object().expect("a map").iter().for_each(|(name, value)| note[name] = value.clone());
        note.to_string()
    };
    let object = |data: Value, note: String| {
        let fields: serde_json::Map<String, Value> =
            data.as_object().expect("a map").keys().map(|key| (format!("f:{key}"), json!({}))).collect();
        json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": data, "metadata": {
            "name": "s", "namespace": "prod", "resourceVersion": "5", "annotations": {APPLIED: note},
            "managedFields": [entry("console", "Update", json!({"f:data": fields}))],
        }})
    };
    let head = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";
    for (applied, data, file, want) in [
        (
            json!({"data": {"a": "b2xk"}}),
            json!({"a": "bmV3", "b": "bmV3ZXI="}),
            "data:\n  a: b2xk # mine\n",
            "data:\n  a: bmV3 # mine\n  b: bmV3ZXI=\n",
        ),
        (
            json!({"stringData": {"a": "old", "c": "same"}}),
            json!({"a": "bmV3", "b": "bmV3ZXI=", "c": "c2FtZQ=="}),
            "stringData:\n  a: old # mine\n  c: same\n",
            "stringData:\n  a: new # mine\n  c: same\n  b: newer\n",
        ),
        // Bytes that are no text have no place in `stringData`.
        (json!({"stringData": {"a": "old"}}), json!({"a": "/w=="}), "stringData:\n  a: old\n", "data:\n  a: /w==\n"),
    ] {
        let server = with_secret(object(data, note(applied)));
        let folder = folder(&server, &[("s.yaml", &format!("{head}{file}"))]);
        for format in ["diff", "results", "markdown", "github"] {
            let ran = run(&folder, &["-f", "s.yaml", "--adopt", "-o", format]);
            let all = format!("{}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            assert!(
                format != "diff" || all.contains("(after)") || all.contains("/w==") || all.contains("'***'"),
                "{ran:?}"
            );
            for value in ["b2xk", "bmV3", "old", "new", "/w==", "c2FtZQ", "same"] {
                assert!(!all.contains(value), "{value} {ran:?}");
            }
        }
        let _ = run(&folder, &["-f", "s.yaml", "--adopt"]).passed();
        let text = text(&folder, "s.yaml");
        let rest = text.strip_prefix(head).expect("the head stays");
        assert_eq!(rest.trim_end(), want.trim_end());
        assert_eq!(written(run(&folder, &["-f", "s.yaml", "--adopt"])), "");
    }
}

/// The values that the server sets by itself, by kind and name: those that nobody applied, in objects that nobody else changed.
pub fn defaults(scenarios: &[&Scenario]) -> BTreeSet<(String, String)> {
    fn collect(live: &Value, applied: &Value, of: &mut BTreeSet<(String, String)>) {
        match live {
            Value::Object(map) => {
                for (name, value) in map {
                    let before = &applied[name];
                    if before.is_null() && !matches!(value, Value::Array(list) if !list.is_empty()) {
                        of.insert((name.clone(), value.to_string()));
                    }
                    collect(value, before, of);
                }
            }
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(at, value)| collect(value, applied.get(at).unwrap_or(value), of));
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    for object in scenarios.iter().flat_map(|scenario| scenario.live()) {
        let metadata = &object["metadata"];
        let writers = metadata["managedFields"].as_array().map_or(0, Vec::len);
        if let (1, Some(note)) = (writers, metadata["annotations"][APPLIED].as_str()) {
            let applied: Value = serde_json::from_str(note).expect("JSON");
            for (name, value) in object.as_object().expect("a map") {
                // The texts of a Secret are in its data.
                if !["apiVersion", "data", "kind", "metadata", "status"].contains(&name.as_str()) {
                    collect(value, &applied[name], &mut found);
                }
            }
        }
    }
    found
}

/// Every leaf of a value, with the names on the way to it.
fn leaves(value: &Value, path: &str, out: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(name, v)| leaves(v, &format!("{path}/{name}"), out))
        }
        Value::Array(list) if !list.is_empty() => list.iter().for_each(|v| leaves(v, path, out)),
        other => out.push((path.to_owned(), other.to_string())),
    }
}

/// Each line of a file with a comment, as far as a line is not part of a text.
fn commented(text: &str) -> String {
    let is_text = text.contains(": |") || text.contains(": >") || text.contains(": \"");
    let line = |(at, line): (usize, &str)| match line.ends_with([':', '\'']) || is_text {
        true => line.to_owned(),
        false => format!("{line} # {at}"),
    };
    text.lines().enumerate().map(line).map(|line| line + "\n").collect::<String>()
}

/// Someone changed the cluster in each of these scenarios: then the file has it, in the same place, and nothing else is new in it.
#[test]
fn every_recorded_change_is_adopted_without_a_default() {
    let recordings = recordings();
    let all: Vec<&Scenario> = recordings.iter().flat_map(|recording| &recording.scenarios).collect();
    let defaults = defaults(&all);
    let mut changed = 0;
    for recording in &recordings {
        for scenario in recording.scenarios.iter().filter(|scenario| scenario.is_changed()) {
            let id = scenario.id();
            let replay = recording.server(scenario);
            let before = commented(scenario.files_before());
            let folder = folder(&replay.server, &[("all.yaml", &before)]);
            let ran = run(&folder, &["-f", "all.yaml", "--adopt"]);
            assert_eq!(ran.code, Some(0), "{id} {ran:?}");
            let after = text(&folder, "all.yaml");
            let [mut old, mut new] = [Vec::new(), Vec::new()];
            leaves(&yaml_serde::from_str(&before).expect("YAML"), "", &mut old);
            leaves(&yaml_serde::from_str(&after).expect("YAML"), "", &mut new);
            for (path, value) in new.iter().filter(|leaf| !old.contains(leaf)) {
                changed += 1;
                let name = path.rsplit('/').next().unwrap_or_default();
                let is_new = old.iter().all(|(other, _)| other != path);
                assert!(
                    !is_new || !defaults.contains(&(name.to_owned(), value.clone())),
                    "{id}: {path}: {value}\n{after}"
                );
            }
            let lines: BTreeSet<&str> = after.lines().filter_map(|line| line.split_once(" # ")).map(|l| l.1).collect();
            // The comment of an empty map or list goes with it.
            let gone =
                before.lines().filter_map(|line| line.split_once(" # ")).filter(|(_, n)| !lines.contains(n)).count();
            assert!(gone <= 3, "{id}: {gone} comments are gone\n{before}\n{after}");
            let ran = run(&folder, &["-f", "all.yaml"]);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{id} {ran:?}\n{before}\n{after}");
            let again = run(&folder, &["-f", "all.yaml", "--adopt"]);
            assert_eq!(written(again), "", "{id}");
        }
    }
    assert!(changed > 20 || recordings.len() == 1, "{changed}");
}

/// The schema of a custom type says its defaults.
#[test]
fn defaults_of_a_custom_type_do_not_arrive() {
    let note = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t", "namespace": "prod", "annotations": {}}, "spec": {"a": 1}});
    let mut object = note.clone();
    object["spec"] = json!({"a": 2, "cache": {"mode": "lru", "size": 20}});
    object["metadata"] = json!({"name": "t", "namespace": "prod", "resourceVersion": "1", "annotations": {APPLIED: note.to_string()}, "managedFields": [
        entry("console", "Update", json!({"f:spec": {"f:a": {}, "f:cache": {".": {}, "f:mode": {}, "f:size": {}}}})),
    ]});
    let schema = json!({"components": {"schemas": {"thing": {
        "type": "object", "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}],
        "properties": {"spec": {"type": "object", "properties": {
            "a": {"type": "integer"},
            "cache": {"type": "object", "properties": {"mode": {"type": "string", "default": "lru"}, "size": {"type": "integer", "default": 10}}},
        }}},
    }}}});
    let answers = Answers::from([
        ("GET /apis/example.com/v1".to_owned(), types(&[("Thing", "things", true)])),
        ("GET /apis/example.com/v1/namespaces/prod/things/t".to_owned(), Answer::Json(200, object)),
        ("GET /openapi/v3/apis/example.com/v1".to_owned(), Answer::Json(200, schema)),
    ]);
    let server = Server::new(answers);
    let file = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: t\nspec:\n  a: 1 # one\n";
    let folder = folder(&server, &[("t.yaml", file)]);
    let _ = run(&folder, &["-f", "t.yaml", "--adopt"]).passed();
    assert_eq!(text(&folder, "t.yaml"), file.replace("a: 1", "a: 2") + "  cache:\n    size: 20\n");
}

/// Where the file says something, the server's default is a value like any other.
#[test]
fn a_change_to_the_default_is_adopted_where_the_file_has_another_value() {
    let template = "  template:\n    spec:\n      containers:\n      - name: app\n        image: web:1\n        ports:\n        - containerPort: 80\n";
    let head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: prod}\nspec:\n";
    let file = &format!("{head}  replicas: 3\n{template}");
    for (replicas, said) in [(1, true), (5, true), (1, false)] {
        let mut live = deployment(replicas, "web:1");
        let applied = json!({"f:spec": {"f:template": {}}});
        // `kubectl scale` takes the field over from the one that applied it.
        let scaled = json!({"f:spec": {"f:replicas": {}}});
        live["metadata"] = json!({"name": "web", "namespace": "prod", "managedFields": [entry("flux", "Apply", applied), entry("kubectl", "Update", scaled)]});
        let kept = Kept::new(Answers::new(), &[live]);
        let text_before = if said { file.to_owned() } else { file.replace("  replicas: 3\n", "  paused: true\n") };
        let folder = folder(&kept.server, &[("web.yaml", &text_before)]);
        let _ = run(&folder, &["-f", "web.yaml", "--adopt"]).passed();
        let want = text_before.replace("replicas: 3", &format!("replicas: {replicas}"));
        assert_eq!(text(&folder, "web.yaml"), want, "{replicas} {said}");
    }
}

/// Someone sets one rule of an autoscaler, and the server sets the others.
#[test]
fn defaults_of_a_rule_that_someone_set_do_not_arrive() {
    let api_version = "autoscaling/v2";
    let file = format!(
        "apiVersion: {api_version}\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: h\n  namespace: prod\nspec:\n  maxReplicas: 3 # most\n"
    );
    let applied: Value = yaml_serde::from_str(&file).expect("YAML");
    let mut live = noted(applied.clone(), &applied);
    live["spec"]["behavior"] = json!({
        "scaleDown": {"stabilizationWindowSeconds": 60, "selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]},
        "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}, {"type": "Percent", "value": 100, "periodSeconds": 15}]},
    });
    live["spec"]["minReplicas"] = json!(1);
    live["spec"]["metrics"] = json!([{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]);
    live["metadata"]["managedFields"] = json!([entry(
        "console",
        "Update",
        json!({"f:spec": {"f:behavior": {
        "f:scaleDown": {".": {}, "f:stabilizationWindowSeconds": {}, "f:selectPolicy": {}, "f:policies": {}},
        "f:scaleUp": {".": {}, "f:stabilizationWindowSeconds": {}, "f:selectPolicy": {}, "f:policies": {}},
    }, "f:metrics": {}, "f:minReplicas": {}}})
    )]);
    let kept = Kept::new(Answers::new(), &[live]);
    let folder = folder(&kept.server, &[("h.yaml", &file)]);
    let _ = run(&folder, &["-f", "h.yaml", "--adopt"]).passed();
    let want = format!("{file}  behavior:\n    scaleDown:\n      stabilizationWindowSeconds: 60\n");
    assert_eq!(text(&folder, "h.yaml"), want);
    assert_eq!(run(&folder, &["-f", "h.yaml", "--exit-code"]).passed(), "");
}

/// The server always writes some empty maps, and lists that it replaces as a whole have lines of their own in the file.
#[test]
fn an_address_that_someone_added_arrives_alone() {
    let file = "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: e\n  namespace: prod\naddressType: IPv4\nendpoints:\n- addresses: # here\n  - 10.0.0.1 # one\n  - 10.0.0.2\n- addresses: [10.0.1.1]\nports:\n- port: 80 # web\n";
    let applied: Value = yaml_serde::from_str(file).expect("YAML");
    let mut live = noted(applied.clone(), &applied);
    live["endpoints"][0]["addresses"] = json!(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    for endpoint in live["endpoints"].as_array_mut().expect("a list") {
        endpoint["conditions"] = json!({});
    }
    live["ports"] = json!([{"name": "", "port": 80, "protocol": "TCP"}]);
    live["metadata"]["managedFields"] = json!([entry("console", "Update", json!({"f:endpoints": {}, "f:ports": {}}))]);
    let text_type = json!({"type": "string"});
    let schemas = json!({
        "it": {"type": "object", "properties": {"addressType": text_type, "endpoints": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {
            "type": "object", "properties": {"addresses": {"type": "array", "items": text_type, "x-kubernetes-list-type": "set"}, "conditions": {"default": {}, "allOf": [{"$ref": "#/components/schemas/conditions"}]}},
        }}}},
        "conditions": {"type": "object", "properties": {"ready": {"type": "boolean"}}},
    });
    let kept = Kept::new(of_type("discovery.k8s.io/v1", "EndpointSlice", schemas), &[live]);
    let folder = folder(&kept.server, &[("e.yaml", file)]);
    let _ = run(&folder, &["-f", "e.yaml", "--adopt"]).passed();
    // An element of such a list is written anew as a whole, with its comments, and without quotes that nobody needs.
    let want =
        file.replace(" # here", "").replace(" # one", "").replace("  - 10.0.0.2\n", "  - 10.0.0.2\n  - 10.0.0.3\n");
    assert_eq!(text(&folder, "e.yaml"), want);
    assert_eq!(run(&folder, &["-f", "e.yaml", "--exit-code"]).passed(), "");
}

/// A restart is an event. It stays in the cluster, and is told.
#[test]
fn a_restart_of_the_pods_is_told_and_not_adopted() {
    let mut object = changed();
    object["spec"]["template"]["metadata"] =
        json!({"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-02-03T04:05:06Z", "own": "x"}});
    let fields = json!({"f:spec": {"f:template": {"f:metadata": {"f:annotations": {".": {}, "f:kubectl.kubernetes.io/restartedAt": {}, "f:own": {}}}}}});
    object["metadata"]["managedFields"].as_array_mut().expect("a list").push(entry(
        "kubectl-rollout",
        "Update",
        fields,
    ));
    let server = with(object);
    let folder = folder(&server, &[("web.yaml", FILE)]);
    let ran = run(&folder, &["-f", "web.yaml", "--adopt"]);
    let told = "info: prod/deployment.apps/web: `kubectl rollout restart` at \"2026-02-03T04:05:06Z\" is not adopted";
    assert!(ran.code == Some(0) && ran.stdout.contains(told), "{ran:?}");
    let text = text(&folder, "web.yaml");
    assert!(text.contains("own: x") && !text.contains("restartedAt"), "{text}");
    assert_eq!(written(run(&folder, &["-f", "web.yaml", "--adopt"])), "");
}

/// Someone added a verb, a rule and a port; in lists without keys, too, the file keeps its lines, comments and quotes.
#[test]
fn an_element_without_a_key_keeps_its_lines() {
    let role = "apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: prod}
rules:
# pods are read
- apiGroups: [\"\"] # core
  resources: [\"pods\"] # only pods
  verbs: [\"get\"]
# deployments
- apiGroups:
  - \"apps\"
  resources: [deployments]
  verbs: [get, list] # no more
";
    let applied: Value = yaml_serde::from_str(role).expect("YAML");
    let rule = |group: &str, resource: &str, verbs: &[&str]| json!({"verbs": verbs, "apiGroups": [group], "resources": [resource]});
    for (rules, want) in [
        (
            json!([rule("", "pods", &["get", "watch"]), rule("apps", "deployments", &["get", "list"])]),
            role.replace("[\"get\"]", "[\"get\", \"watch\"]"),
        ),
        (
            json!([rule("", "pods", &["get"]), rule("apps", "deployments", &["list"])]),
            role.replace("[get, list]", "[list]"),
        ),
        (json!([rule("apps", "deployments", &["get", "list"])]), {
            let (head, rest) = role.split_once("# pods").expect("a comment");
            format!("{head}# deployments{}", rest.split_once("# deployments").expect("a comment").1)
        }),
    ] {
        let mut live = noted(applied.clone(), &applied);
        live["rules"] = rules;
        live["metadata"]["managedFields"] = json!([entry("console", "Update", json!({"f:rules": {}}))]);
        let kept = Kept::new(Answers::new(), &[live]);
        let folder = folder(&kept.server, &[("role.yaml", role)]);
        let ran = run(&folder, &["-f", "role.yaml", "--adopt"]);
        assert_eq!((ran.code, folder.read("role.yaml")), (Some(0), want), "{ran:?}");
        assert!(!ran.stderr.contains("a comment that only dest has"), "{ran:?}");
    }
}

/// Flux made a list that has one owner, and someone removed an element. Flux owns nothing of the list then, so it comes from the cluster as a
/// whole, in the words of the file.
#[test]
fn a_list_that_someone_took_from_its_applier_comes_as_a_whole() {
    let version = "rbac.authorization.k8s.io/v1";
    let file = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: r, namespace: prod}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\nsubjects:\n# gone\n- {kind: User, name: left, apiGroup: rbac.authorization.k8s.io}\n# here\n- {kind: User, name: here, apiGroup: rbac.authorization.k8s.io}\n";
    let subject = json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "here"});
    let live = json!({"apiVersion": version, "kind": "RoleBinding", "metadata": {"name": "r", "namespace": "prod", "managedFields": [
        entry("kustomize-controller", "Apply", json!({"f:roleRef": {}})), entry("kubectl-edit", "Update", json!({"f:subjects": {}})),
    ]}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, "subjects": [subject]});
    let kept = Kept::new(Answers::new(), &[live]);
    let folder = folder(&kept.server, &[("r.yaml", file)]);
    let _ = run(&folder, &["-f", "r.yaml", "--adopt"]).passed();
    let want = file.replace("# gone\n- {kind: User, name: left, apiGroup: rbac.authorization.k8s.io}\n", "");
    assert_eq!(text(&folder, "r.yaml"), want);
}
