//! Nulls of live objects: the server writes them where it has nothing, and they clear nothing. A null of the files clears.

use serde_json::{Value, json};

use super::kept::Kept;
use super::replay::patched;
use super::{Answer, Answers, Server, folder, run, types};
use crate::support::Ran;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object of a type, and where the server has both.
struct Case {
    /// The path of its apiVersion.
    version: &'static str,
    /// The plural of its kind, and whether it lies in a namespace.
    of_type: (&'static str, bool),
    /// What was applied, without a head: what the files say now, and what the server has.
    applied: Value,
    files: Value,
    live: Value,
}

/// What the server says of the types: enough to know an empty list as nothing.
fn openapi(group: &str, kind: &str) -> Value {
    let list = json!({"type": "array", "items": {"type": "object", "properties": {"topologyKeys": {"type": "array"}}}});
    json!({"components": {"schemas": {"it": {
        "x-kubernetes-group-version-kind": [{"group": group, "version": "v1", "kind": kind}],
        "properties": {
            "rules": list, "endpoints": list, "ports": list, "spec": {"type": "object", "properties": {"drivers": list}},
        },
    }}}})
}

impl Case {
    fn object(&self, kind: &str, rest: &Value) -> Value {
        let namespace = if self.of_type.1 { json!({"namespace": "prod"}) } else { json!({}) };
        let version = self.version.trim_start_matches("/apis/");
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": namespace});
        object["metadata"]["name"] = "it".into();
        object.as_object_mut().expect("a map").extend(rest.as_object().expect("a map").clone());
        object
    }

    /// Runs twice, against what the server has and against what it has then; what was printed and sent, each time.
    fn twice(&self, kind: &str, args: &[&str]) -> [(Ran, Vec<(String, Value)>); 2] {
        let mut live = self.object(kind, &self.live);
        live["metadata"]["resourceVersion"] = json!("1");
        live["metadata"]["annotations"] = json!({LAST_APPLIED: self.object(kind, &self.applied).to_string()});
        let first = self.once(kind, &live, args);
        if let Some((_, patch)) = first.1.last() {
            patched(&mut live, patch);
            live["metadata"]["resourceVersion"] = json!("2");
        }
        let second = self.once(kind, &live, args);
        [first, second]
    }

    fn once(&self, kind: &str, live: &Value, args: &[&str]) -> (Ran, Vec<(String, Value)>) {
        let (plural, is_namespaced) = self.of_type;
        let namespace = if is_namespaced { "/namespaces/prod" } else { "" };
        let path = format!("{}{namespace}/{plural}/it", self.version);
        let group = self.version.split('/').nth(2).expect("a group");
        let server = Server::new(Answers::from([
            (format!("GET {}", self.version), types(&[(kind, plural, is_namespaced)])),
            (format!("GET /openapi/v3{}", self.version), Answer::Json(200, openapi(group, kind))),
            (format!("GET {path}"), Answer::Json(200, live.clone())),
            (format!("PATCH {path}"), Answer::Json(200, json!({}))),
        ]));
        let folder = folder(&server, &[("it.yaml", &self.object(kind, &self.files).to_string())]);
        let ran = run(&folder, &[&["-f", "it.yaml", "--apply"], args].concat());
        (ran, server.sent())
    }
}

fn role(applied: Value, files: Value, live: Value) -> Case {
    let version = "/apis/rbac.authorization.k8s.io/v1";
    Case { version, of_type: ("roles", true), applied, files, live }
}

/// As kube-apiserver answers each of them.
#[test]
fn a_null_that_the_server_wrote_clears_nothing() {
    let rules = json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
    let (none, null) = (json!({"rules": []}), json!({"rules": null}));
    let endpoints = json!({"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 80}]});
    let slice = |of: Value| json!({"addressType": "IPv4", "endpoints": of, "ports": of});
    let drivers = |keys: Value| json!({"spec": {"drivers": [{"name": "d", "nodeID": "n", "topologyKeys": keys}]}});
    let cases = [
        ("Role", role(none.clone(), rules.clone(), null.clone())),
        ("Role", role(json!({}), rules.clone(), null.clone())),
        ("Role", role(null.clone(), rules.clone(), null.clone())),
        ("ClusterRole", Case { of_type: ("clusterroles", false), ..role(none, rules, null) }),
        (
            "EndpointSlice",
            Case {
                version: "/apis/discovery.k8s.io/v1",
                of_type: ("endpointslices", true),
                applied: slice(json!([])),
                files: endpoints,
                live: slice(Value::Null),
            },
        ),
        (
            "CSINode",
            Case {
                version: "/apis/storage.k8s.io/v1",
                of_type: ("csinodes", false),
                applied: json!({"spec": {"drivers": []}}),
                files: drivers(json!(["zone"])),
                live: json!({"spec": {"drivers": null}}),
            },
        ),
        (
            "CSINode",
            Case {
                version: "/apis/storage.k8s.io/v1",
                of_type: ("csinodes", false),
                applied: drivers(json!([])),
                files: drivers(json!(["zone"])),
                live: drivers(Value::Null),
            },
        ),
    ];
    for (kind, case) in &cases {
        for policy in ["take-updated", "keep-dest", "fail"] {
            let [(ran, sent), (again, sent_again)] = case.twice(kind, &["--on-conflict", policy]);
            let is_refusal =
                |line: &&str| line.contains("but the API server does not allow this change of an existing object");
            let told = ran.stderr.lines().filter(|line| !is_refusal(line)).count();
            assert_eq!(told, 0, "nothing is in conflict: {kind} {policy}: {ran:?}");
            let name = kind.to_lowercase();
            assert!(ran.passed().contains(&format!("{name}.")), "{kind} {policy}");
            let patch = &sent.last().expect("a patch").1;
            for (field, value) in case.files.as_object().expect("a map").iter().filter(|f| f.0 != "addressType") {
                assert_eq!(&patch[field], value, "{kind} {policy}: {patch}");
            }
            assert_eq!((again.passed(), sent_again.len()), (String::new(), 0), "{kind} {policy}");
        }
    }
}

/// What someone emptied in the cluster stays so while the files say what they said, and is shown.
#[test]
fn a_null_of_the_server_over_what_was_applied_is_drift() {
    let rules = json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
    let more = json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]});
    let null = json!({"rules": null});
    let [(ran, sent), (again, sent_again)] =
        role(rules.clone(), rules.clone(), null.clone()).twice("Role", &["-o", "diff"]);
    let out = ran.passed();
    assert!(out.starts_with("changed in the cluster: prod/role.rbac.authorization.k8s.io/it: rules\n"), "{out}");
    assert!(out.ends_with("  live:     (none)\n"), "{out}");
    assert_eq!((again.passed(), sent.len(), sent_again.len()), (out, 0, 0));
    // Where they say something else, the two are in conflict.
    let [(ran, sent), (again, sent_again)] = role(rules, more.clone(), null).twice("Role", &[]);
    assert!(ran.stderr.contains("dest does not have `rules`, and updated changed it: updated has"), "{ran:?}");
    ran.passed();
    assert_eq!(sent.last().expect("a patch").1["rules"], more["rules"]);
    assert_eq!((again.passed(), sent_again.len()), (String::new(), 0));
}

#[test]
fn a_null_of_the_files_clears() {
    let rules = json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
    let null = json!({"rules": null});
    // What was applied, and what someone set where nothing was applied: to lose that is a conflict.
    for (applied, conflict) in [(rules.clone(), None), (json!({}), Some("took updated's"))] {
        let [(ran, sent), (again, sent_again)] = role(applied, null.clone(), rules.clone()).twice("Role", &[]);
        assert_eq!(ran.stderr.contains("updated set `rules` to null"), conflict.is_some(), "{ran:?}");
        assert!(ran.stderr.contains(conflict.unwrap_or_default()), "{ran:?}");
        ran.passed();
        assert_eq!(sent.last().expect("a patch").1.get("rules"), Some(&Value::Null), "{sent:?}");
        assert_eq!((again.passed(), sent_again.len()), (String::new(), 0));
    }
    // What the files cleared before, and someone set since, stays.
    let [(ran, sent), _] = role(null.clone(), null.clone(), rules).twice("Role", &[]);
    assert_eq!((ran.passed(), sent.len()), (String::new(), 0));
    // Both: nothing to do.
    let [(ran, sent), _] = role(null.clone(), null.clone(), null).twice("Role", &[]);
    assert_eq!((ran.passed(), sent.len()), (String::new(), 0));
}

/// What a server sets in a field by itself, as in the recordings; null if it leaves the field out.
fn defaults() -> Vec<(&'static str, &'static str, Value)> {
    let (pod, container) = ("/spec/template/spec", "/spec/template/spec/containers/0");
    let at = |head: &str, name: &str| -> &'static str { Box::leak(format!("{head}/{name}").into_boxed_str()) };
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}});
    vec![
        ("Deployment", "/spec/strategy", rolling),
        ("Deployment", "/spec/replicas", json!(1)),
        ("Deployment", "/spec/revisionHistoryLimit", json!(10)),
        ("Deployment", "/spec/progressDeadlineSeconds", json!(600)),
        ("Deployment", "/spec/paused", Value::Null),
        ("Deployment", "/metadata/labels", Value::Null),
        ("Deployment", "/metadata/finalizers", Value::Null),
        ("Deployment", at(pod, "securityContext"), json!({})),
        ("Deployment", at(pod, "restartPolicy"), json!("Always")),
        ("Deployment", at(pod, "dnsPolicy"), json!("ClusterFirst")),
        ("Deployment", at(pod, "schedulerName"), json!("default-scheduler")),
        ("Deployment", at(pod, "terminationGracePeriodSeconds"), json!(30)),
        ("Deployment", at(pod, "hostNetwork"), Value::Null),
        ("Deployment", at(pod, "subdomain"), Value::Null),
        ("Deployment", at(pod, "serviceAccountName"), Value::Null),
        ("Deployment", at(pod, "nodeSelector"), Value::Null),
        ("Deployment", at(pod, "tolerations"), Value::Null),
        ("Deployment", at(pod, "imagePullSecrets"), Value::Null),
        ("Deployment", at(pod, "volumes"), Value::Null),
        ("Deployment", at(container, "resources"), json!({})),
        ("Deployment", at(container, "imagePullPolicy"), json!("IfNotPresent")),
        ("Deployment", at(container, "terminationMessagePath"), json!("/dev/termination-log")),
        ("Deployment", at(container, "terminationMessagePolicy"), json!("File")),
        ("Deployment", at(container, "env"), Value::Null),
        ("Deployment", at(container, "args"), Value::Null),
        ("Deployment", at(container, "workingDir"), Value::Null),
        ("Deployment", at(container, "stdin"), Value::Null),
        ("Deployment", at(container, "ports/0/protocol"), json!("TCP")),
        ("Deployment", at(container, "ports/0/hostPort"), Value::Null),
        ("Service", "/spec/type", json!("ClusterIP")),
        ("Service", "/spec/sessionAffinity", json!("None")),
        ("Service", "/spec/internalTrafficPolicy", json!("Cluster")),
        ("Service", "/spec/clusterIP", json!("10.0.0.7")),
        ("Service", "/spec/selector", Value::Null),
        ("Service", "/spec/externalIPs", Value::Null),
        ("Service", "/spec/ports/0/protocol", json!("TCP")),
        ("Service", "/spec/ports/0/nodePort", Value::Null),
        ("NetworkPolicy", "/spec/podSelector", json!({})),
        ("NetworkPolicy", "/spec/ingress", Value::Null),
        ("CronJob", "/spec/concurrencyPolicy", json!("Allow")),
        ("CronJob", "/spec/suspend", json!(false)),
        ("CronJob", "/spec/timeZone", Value::Null),
    ]
}

/// Sets a field.
fn set(object: &mut Value, place: &str, value: &Value) {
    let (parent, name) = place.rsplit_once('/').expect("a place");
    let at = parent.split('/').skip(1).fold(object, |at, name| match name.parse::<usize>() {
        Ok(index) => &mut at[index],
        Err(_) => &mut at[name],
    });
    at[name] = value.clone();
}

fn unset(object: &mut Value, place: &str) {
    let (parent, name) = place.rsplit_once('/').expect("a place");
    if let Some(Value::Object(map)) = object.pointer_mut(parent) {
        map.shift_remove(name);
    }
}

/// Templates write fields with nothing in them. The server sets its default or leaves the field out; nothing is shown, and a second run sends
/// nothing, as with kubectl. The answers are made up of the defaults.
#[test]
fn an_empty_field_is_sent_once_and_shown_never() {
    let base = |kind: &str| {
        let (version, spec) = match kind {
            "Deployment" => (
                "apps/v1",
                json!({"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "i:1", "ports": [{"containerPort": 80}]}]}}}),
            ),
            "Service" => ("v1", json!({"ports": [{"name": "p", "port": 80}]})),
            "NetworkPolicy" => ("networking.k8s.io/v1", json!({"policyTypes": ["Ingress"]})),
            _ => ("batch/v1", json!({"schedule": "* * * * *"})),
        };
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": "it", "namespace": "prod"}, "spec": spec})
    };
    let set_defaults = |object: &mut Value| {
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        for (_, place, default) in defaults().into_iter().filter(|(of, ..)| *of == kind) {
            let found = object.pointer(place).cloned().unwrap_or_default();
            let is_false = default.is_null() && (found == json!(false) || found == json!(0));
            let is_nothing = found.is_null() || is_false || found == "" || found == json!([]) || found == json!({});
            match is_nothing {
                true if default.is_null() => unset(object, place),
                true => set(object, place, &default),
                false => {}
            }
        }
    };
    let mut shapes = 0;
    for (kind, place, default) in defaults() {
        // What is empty of the type of the field.
        let name = place.rsplit('/').next().expect("a name");
        let empty = match &default {
            Value::String(_) => Some(json!("")),
            Value::Object(_) => Some(json!({})),
            Value::Bool(_) => Some(json!(false)),
            Value::Null => Some(match name {
                "labels" | "nodeSelector" | "selector" => json!({}),
                "paused" | "hostNetwork" | "stdin" => json!(false),
                "hostPort" | "nodePort" => json!(0),
                "subdomain" | "serviceAccountName" | "workingDir" => json!(""),
                "timeZone" => continue,
                _ => json!([]),
            }),
            _ => None,
        };
        for value in [Some(Value::Null), empty].into_iter().flatten() {
            shapes += 1;
            let mut live = base(kind);
            set_defaults(&mut live);
            live["metadata"]["annotations"] = json!({LAST_APPLIED: base(kind).to_string()});
            let own =
                json!({"f:metadata": {"f:annotations": {".": {}, format!("f:{LAST_APPLIED}"): {}}}, "f:spec": {}});
            live["metadata"]["managedFields"] = json!([{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": live["apiVersion"], "time": "2026-01-01T00:00:00Z", "fieldsV1": own}]);
            let kept = Kept::setting(Answers::new(), &[live], set_defaults);
            let mut file = base(kind);
            set(&mut file, place, &value);
            let folder = folder(&kept.server, &[("it.yaml", &file.to_string())]);
            let what = format!("{kind} {place}: {value}");
            let ran = run(&folder, &["-f", "it.yaml", "--apply", "-o", "diff"]);
            assert!(ran.code == Some(0) && ran.stderr.is_empty() && !ran.stdout.contains("@@"), "{what} {ran:?}");
            let sent = kept.server.sent().len();
            let ran = run(&folder, &["-f", "it.yaml", "--apply"]);
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{what}");
            assert_eq!(kept.server.sent().len(), sent, "{what}");
            let ran = run(&folder, &["-f", "it.yaml", "--exit-code"]);
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{what}");
        }
    }
    assert!(shapes >= 76, "{shapes}");
}
