//! Values that the server writes otherwise than they were applied: nobody else set them, so they are no change. The answers are made up, after
//! what a real server does: it writes a quantity in its shortest form, and leaves out what is empty.

use serde_json::{Value, json};

use super::kept::{Kept, LAST_APPLIED, noted};
use super::{Answers, folder, run};

fn object(version: &str, kind: &str, rest: &Value) -> Value {
    let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "it", "namespace": "prod"}});
    rest.as_object().expect("a map").iter().for_each(|(name, value)| object[name] = value.clone());
    object
}

fn pod(spec: &Value) -> Value {
    object("v1", "Pod", &json!({"spec": spec}))
}

/// Who set all that a live object has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Who applied it.
    Applier,
    /// Someone, after it was applied.
    Console,
    /// Someone, before it was applied over that.
    Creator,
}

/// A live object to which `applied` was applied.
fn live(object: Value, applied: &Value, by: By) -> Value {
    let mut live = noted(object, applied);
    let names = live
        .as_object()
        .expect("a map")
        .keys()
        .filter(|name| !["apiVersion", "kind", "metadata"].contains(&name.as_str()));
    let all: serde_json::Map<String, Value> = names.map(|name| (format!("f:{name}"), json!({}))).collect();
    let entry = |manager: &str, day: u8, fields: Value| json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "time": format!("2026-01-0{day}T00:00:00Z"), "fieldsV1": fields});
    let mut own = json!({"f:metadata": {"f:annotations": {".": {}, format!("f:{LAST_APPLIED}"): {}}}});
    let mut entries = Vec::new();
    match by {
        By::Applier => own.as_object_mut().expect("a map").extend(all),
        By::Console => entries.push(entry("console", 3, all.into())),
        By::Creator => entries.push(entry("kubectl-create", 1, all.into())),
    }
    entries.push(entry("kubectl-client-side-apply", 2, own));
    live["metadata"]["managedFields"] = entries.into();
    live
}

/// What is shown of an object that was applied as it is in the files. Nobody is asked what it would become.
fn shown(applied: &Value, now: Value, by: By) -> String {
    let kept = Kept::new(Answers::new(), &[live(now, applied, by)]);
    let out = run(&folder(&kept.server, &[("it.yaml", &applied.to_string())]), &["-f", "it.yaml"]).passed();
    let asked = kept.server.asked();
    assert!(asked.iter().all(|asked| asked.line.starts_with("GET ")), "{asked:?}");
    out
}

#[test]
fn what_the_server_writes_otherwise_is_no_drift_and_no_change() {
    let container = |limits: Value| json!({"containers": [{"name": "app", "resources": {"limits": limits}}]});
    let cases = [
        (container(json!({"cpu": "1000m", "memory": "1024Mi"})), container(json!({"cpu": "1", "memory": "1Gi"}))),
        (container(json!({"cpu": 0.5, "memory": 1000})), container(json!({"cpu": "500m", "memory": "1k"}))),
        (json!({"nodeSelector": {}, "tolerations": [], "subdomain": ""}), json!({})),
        (json!({"hostNetwork": false, "nodeName": ""}), json!({"nodeName": "n1"})),
        (json!({"hostNetwork": null, "nodeSelector": null}), json!({})),
        (json!({"until": "2026-01-01T01:00:00+01:00"}), json!({"until": "2026-01-01T00:00:00Z"})),
        (
            json!({"containers": [{"name": "a", "env": [{"name": "E", "value": ""}]}]}),
            json!({"containers": [{"name": "a", "env": [{"name": "E"}]}]}),
        ),
    ];
    for by in [By::Applier, By::Creator] {
        for (applied, now) in &cases {
            assert_eq!(shown(&pod(applied), pod(now), by), "", "{applied}");
        }
        let secret = |data: &str| object("v1", "Secret", &json!({"data": {"a": data}}));
        assert_eq!(shown(&secret("bGl2\nZQ==\n"), secret("bGl2ZQ=="), by), "");
        let thing = |spec: Value| object("example.com/v1", "Thing", &json!({"spec": spec}));
        assert_eq!(
            shown(&thing(json!({"size": "1024Mi", "rate": 1.0})), thing(json!({"size": "1Gi", "rate": 1})), by),
            ""
        );
    }
}

#[test]
fn what_someone_set_since_shows() {
    let container = |limits: Value| json!({"containers": [{"name": "app", "resources": {"limits": limits}}]});
    for (applied, now, place) in [
        (
            container(json!({"cpu": "1"})),
            container(json!({"cpu": "1001m"})),
            "containers[name=app].resources.limits.cpu",
        ),
        (container(json!({"cpu": "1000m"})), container(json!({})), "containers[name=app].resources.limits.cpu"),
        (json!({"subdomain": "a"}), json!({"subdomain": "b"}), "subdomain"),
        // What means something where it is false or empty.
        (json!({"automountServiceAccountToken": false}), json!({}), "automountServiceAccountToken"),
        (json!({"nodeSelector": {"disk": ""}}), json!({}), "nodeSelector"),
        (json!({"hostNetwork": false}), json!({"hostNetwork": true}), "hostNetwork"),
        (json!({"subdomain": ""}), json!({"subdomain": "x"}), "subdomain"),
    ] {
        let out = shown(&pod(&applied), pod(&now), By::Console);
        assert!(out.starts_with(&format!("changed in the cluster: prod/pod/it: spec.{place}")), "{place}\n{out}");
    }
    let secret = |data: &str| object("v1", "Secret", &json!({"data": {"a": data}}));
    assert_eq!(
        shown(&secret("bGl2ZQ=="), secret("bGl2ZR=="), By::Console),
        "changed in the cluster: prod/secret/it: data.a\n  original: \"***\"\n  live:     \"***\"\n  by:       \"console\" at 2026-01-03T00:00:00Z\n"
    );
    // The server keeps an empty text of the user's own names, and the JSON of a custom resource.
    let map = |data: Value| object("v1", "ConfigMap", &json!({"data": data}));
    let out = shown(&map(json!({"flag": "", "x": "1"})), map(json!({"x": "1"})), By::Applier);
    assert!(out.contains("configmap/it: data.flag\n"), "{out}");
    for spec in [json!({"list": []}), json!({"name": ""})] {
        let thing = |spec: &Value| object("example.com/v1", "Thing", &json!({"spec": spec}));
        let out = shown(&thing(&spec), thing(&json!({})), By::Applier);
        assert!(out.starts_with("changed in the cluster"), "{spec}");
    }
}

#[test]
fn a_change_of_a_quantity_is_sent_and_one_of_its_spelling_is_not() {
    let limits =
        |cpu: &str| pod(&json!({"containers": [{"name": "app", "image": "a", "resources": {"limits": {"cpu": cpu}}}]}));
    let at = |file: &str, now: &str, applied: &str, by: By| {
        let kept = Kept::setting(Answers::new(), &[live(limits(now), &limits(applied), by)], |object| {
            let cpu = &mut object["spec"]["containers"][0]["resources"]["limits"]["cpu"];
            let whole = cpu.as_str().and_then(|cpu| cpu.strip_suffix("000m")).map(str::to_owned);
            if let Some(whole) = whole {
                *cpu = json!(whole);
            }
        });
        let folder = folder(&kept.server, &[("p.yaml", &limits(file).to_string())]);
        let out = run(&folder, &["-f", "p.yaml", "-o", "diff", "--apply"]).passed();
        (out, kept.server.sent())
    };
    let (out, sent) = at("2000m", "1", "1000m", By::Applier);
    assert!(out.contains("-        cpu: \"1\"\n+        cpu: \"2\"\n") && !out.contains("conflict"), "{out}");
    assert_eq!(sent[1].1["spec"]["containers"][0]["resources"]["limits"]["cpu"], "2000m");
    // TODO: the files say what they said, in other words, so what someone set should stay. Only a dry run of the note could tell.
    for file in ["1", "3"] {
        let (out, _) = at(file, "2", "1000m", By::Console);
        assert!(out.contains("conflict: Pod prod/it"), "{out}");
    }
    // The annotation is what tells the next run what was applied.
    let (out, sent) = at("1000m", "1", "1", By::Applier);
    assert_eq!(out, "prod/pod/it configured\n");
    let (_, last) = sent.last().expect("the note");
    assert!(last.to_string().contains("1000m") && last.get("spec").is_none(), "{sent:?}");
    assert_eq!(at("1000m", "1", "1000m", By::Applier), (String::new(), Vec::new()));
}
