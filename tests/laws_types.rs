//! What a merge makes of valid resources of built-in types: nothing lacks a field that its type requires, whoever wins its conflicts.
//!
//! The resources are made of choices, one for each place: which of several forms an optional part has, or whether it is there. A side is
//! the original with some choices made otherwise. So each side is valid, and the sides differ anywhere, in parts that belong together.

#[path = "support/render.rs"]
mod render;
mod support;
#[path = "kubectl/typed.rs"]
mod typed;

use std::cell::Cell;

use krm_merge::{Merge, Package};
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, Inference, Types};
use krm_tree::tree::Pick;
use krm_yaml::{Document, NodeRef};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use support::{items, items_of, passes, resource_list, side, value_of};

/// The choices of which a resource is made.
#[derive(Clone, Debug)]
struct Choices(Vec<u8>);

/// How many there are: fewer than places, so that some places choose together.
const CHOICES: usize = 47;

impl Choices {
    /// One of so many forms of what stands at a place.
    fn of(&self, place: &str, forms: usize) -> usize {
        usize::from(self.0[Self::at(place)]) % forms
    }

    /// The number of the choice for a place.
    fn at(place: &str) -> usize {
        place.bytes().fold(5381_usize, |hash, byte| hash.wrapping_mul(33) ^ usize::from(byte)) % CHOICES
    }

    /// One of these values.
    fn one(&self, place: &str, forms: &[Value]) -> Value {
        forms[self.of(place, forms.len())].clone()
    }

    /// With some choices made otherwise.
    fn changed(&self, others: &[(usize, u8)]) -> Self {
        let mut choices = self.0.clone();
        others.iter().for_each(|(at, choice)| choices[*at] = *choice);
        Self(choices)
    }

    /// A map of these fields, without those that are null.
    fn map(fields: Vec<(&str, Value)>) -> Value {
        Value::Object(fields.into_iter().filter(|f| !f.1.is_null()).map(|(k, v)| (k.to_owned(), v)).collect())
    }

    /// A list of the elements of these names that are there, or none.
    fn list(&self, place: &str, names: &[&str], element: impl Fn(&str, &str) -> Value) -> Value {
        let at = |name: &str| format!("{place}/{name}");
        let there: Vec<&&str> = names.iter().filter(|name| self.of(&at(name), 3) > 0).collect();
        if there.is_empty() { Value::Null } else { there.iter().map(|name| element(&at(name), name)).collect() }
    }

    fn env(&self, place: &str) -> Value {
        self.list(place, &["A", "B", "C"], |at, name| {
            let from = |kind: &str, key: &str| json!({kind: {"name": "n", "key": key, "optional": true}});
            match self.of(&format!("{at}:form"), 5) {
                0 => json!({"name": name, "value": "1"}),
                1 => json!({"name": name, "value": "2"}),
                2 => json!({"name": name, "valueFrom": from("configMapKeyRef", "x")}),
                3 => json!({"name": name, "valueFrom": from("secretKeyRef", "y")}),
                _ => json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}),
            }
        })
    }

    fn probe(&self, place: &str) -> Value {
        let delay = self.one(&format!("{place}:delay"), &[json!(null), json!(1), json!(2)]);
        let path = self.one(&format!("{place}:path"), &[json!(null), json!("/"), json!("/healthz")]);
        let host = self.one(&format!("{place}:host"), &[json!(null), json!("here")]);
        let handler = match self.of(place, 4) {
            0 => return Value::Null,
            1 => ("tcpSocket", json!({"port": 80})),
            2 => ("exec", json!({"command": ["ls"]})),
            _ => ("httpGet", Self::map(vec![("path", path), ("port", json!(80)), ("host", host)])),
        };
        Self::map(vec![handler, ("initialDelaySeconds", delay)])
    }

    fn container(&self, place: &str, name: &str) -> Value {
        let at = |part: &str| format!("{place}.{part}");
        let ports = self.list(&at("ports"), &["80", "53"], |port, number| {
            let number: u16 = number.parse().expect("a number");
            let name = self.one(&format!("{port}:name"), &[json!(null), json!("x"), json!("y")]);
            let protocol = self.one(&format!("{port}:protocol"), &[json!(null), json!("UDP")]);
            Self::map(vec![("containerPort", json!(number)), ("name", name), ("protocol", protocol)])
        });
        let mounts = self.list(&at("volumeMounts"), &["/data", "/tmp"], |mount, path| {
            let read_only = self.one(&format!("{mount}:readOnly"), &[json!(null), json!(true)]);
            let name = self.one(&format!("{mount}:name"), &[json!("data"), json!("other")]);
            Self::map(vec![("name", name), ("mountPath", json!(path)), ("readOnly", read_only)])
        });
        let context = match self.of(&at("securityContext"), 4) {
            0 => Value::Null,
            1 => json!({"runAsUser": 1}),
            2 => json!({"seccompProfile": {"type": "RuntimeDefault"}}),
            _ => json!({"runAsUser": 2, "seccompProfile": {"type": "Localhost", "localhostProfile": "x"}}),
        };
        Self::map(vec![
            ("name", json!(name)),
            ("image", self.one(&at("image"), &[json!("a:1"), json!("a:2"), json!("b:1")])),
            ("args", self.one(&at("args"), &[json!(null), json!(["--v=1"]), json!(["--v=2", "x"])])),
            ("env", self.env(&at("env"))),
            ("ports", ports),
            ("volumeMounts", mounts),
            ("livenessProbe", self.probe(&at("livenessProbe"))),
            ("securityContext", context),
        ])
    }

    fn volume(&self, place: &str, name: &str) -> Value {
        let items = self.one(&format!("{place}:items"), &[json!(null), json!([{"key": "k", "path": "p"}])]);
        let mode = self.one(&format!("{place}:mode"), &[json!(null), json!(384)]);
        let source = match self.of(&format!("{place}:source"), 4) {
            0 => ("emptyDir", json!({})),
            1 => ("configMap", Self::map(vec![("name", json!("n")), ("items", items), ("defaultMode", mode)])),
            2 => ("secret", Self::map(vec![("secretName", json!("n")), ("items", items), ("defaultMode", mode)])),
            _ => ("hostPath", json!({"path": "/x", "type": "Directory"})),
        };
        Self::map(vec![("name", json!(name)), source])
    }

    fn template(&self) -> Value {
        let names = ["app", "proxy", "logs"];
        let containers = self.list("containers", &names, |place, name| self.container(place, name));
        // Without any container it would be no pod.
        let containers = if containers.is_null() { json!([self.container("only", "only")]) } else { containers };
        let init = self.list("initContainers", &["migrate"], |place, name| self.container(place, name));
        let term = json!({"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "a"}}});
        let preferred = json!([{"weight": 1, "podAffinityTerm": term}]);
        let affinity = match self.of("affinity", 4) {
            0 => Value::Null,
            1 => json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}),
            2 => json!({"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}),
            _ => json!({"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}),
        };
        let spread = self.list("spread", &["zone", "host"], |place, key| {
            let most = self.one(&format!("{place}:most"), &[json!(1), json!(2)]);
            json!({"topologyKey": key, "maxSkew": most, "whenUnsatisfiable": "DoNotSchedule"})
        });
        let tolerations = self.one("tolerations", &[json!(null), json!([{"key": "a"}]), json!([{"key": "b"}])]);
        let spec = Self::map(vec![
            ("initContainers", init),
            ("containers", containers),
            ("volumes", self.list("volumes", &["data", "other"], |place, name| self.volume(place, name))),
            ("affinity", affinity),
            ("topologySpreadConstraints", spread),
            ("tolerations", tolerations),
        ]);
        json!({"metadata": {"labels": {"app": "a"}}, "spec": spec})
    }

    fn ingress(&self) -> Value {
        let service = |at: String| {
            let port = self.one(&at, &[json!({"number": 80}), json!({"name": "http"})]);
            json!({"service": {"name": "web", "port": port}})
        };
        let rules = self.list("rules", &["a.example.com", "b.example.com"], |place, host| {
            let paths = self.list(&format!("{place}/paths"), &["/", "/api"], |place, path| {
                let how = self.one(&format!("{place}:type"), &[json!("Prefix"), json!("Exact")]);
                json!({"path": path, "pathType": how, "backend": service(format!("{place}:port"))})
            });
            let http = if paths.is_null() { Value::Null } else { json!({"paths": paths}) };
            Self::map(vec![("host", json!(host)), ("http", http)])
        });
        let backend = if self.of("default", 2) == 0 { Value::Null } else { service("default:port".to_owned()) };
        let tls = self.one("tls", &[json!(null), json!([{"hosts": ["a.example.com"], "secretName": "t"}])]);
        Self::map(vec![("defaultBackend", backend), ("rules", rules), ("tls", tls)])
    }

    fn service(&self) -> Value {
        let ports = self.list("ports", &["80", "443"], |place, number| {
            let number: u16 = number.parse().expect("a number");
            let target = self.one(&format!("{place}:target"), &[json!(null), json!("http"), json!(8080)]);
            let protocol = self.one(&format!("{place}:protocol"), &[json!(null), json!("UDP")]);
            Self::map(vec![
                ("name", json!(format!("p{number}"))),
                ("port", json!(number)),
                ("targetPort", target),
                ("protocol", protocol),
            ])
        });
        let kind = self.one("type", &[json!(null), json!("NodePort")]);
        Self::map(vec![("selector", json!({"app": "a"})), ("ports", ports), ("type", kind)])
    }

    fn autoscaler(&self) -> Value {
        let metrics = self.list("metrics", &["cpu", "memory"], |place, name| {
            let target = self.one(&format!("{place}:target"), &[json!(50), json!(80)]);
            let target = json!({"type": "Utilization", "averageUtilization": target});
            json!({"type": "Resource", "resource": {"name": name, "target": target}})
        });
        let policies = json!([{"type": "Pods", "value": 1, "periodSeconds": 60}]);
        let behavior = self.one("behavior", &[json!(null), json!({"scaleDown": {"policies": policies}})]);
        Self::map(vec![
            ("scaleTargetRef", json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"})),
            ("maxReplicas", self.one("most", &[json!(5), json!(9)])),
            ("minReplicas", self.one("least", &[json!(null), json!(2)])),
            ("metrics", metrics),
            ("behavior", behavior),
        ])
    }

    fn strategy(&self) -> Value {
        let rolling = |most: Value| json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": most}});
        self.one("strategy", &[json!(null), json!({"type": "Recreate"}), rolling(json!(1)), rolling(json!("20%"))])
    }

    /// A resource of this kind.
    fn resource(&self, kind: &str) -> Value {
        let selector = json!({"matchLabels": {"app": "a"}});
        let replicas = self.one("replicas", &[json!(null), json!(1), json!(3)]);
        let (api_version, body) = match kind {
            "Deployment" => {
                let spec = vec![
                    ("replicas", replicas),
                    ("selector", selector),
                    ("strategy", self.strategy()),
                    ("template", self.template()),
                ];
                ("apps/v1", vec![("spec", Self::map(spec))])
            }
            "StatefulSet" => {
                let claim = |size: &str| {
                    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}});
                    json!([{"metadata": {"name": "data"}, "spec": spec}])
                };
                let claims = self.one("claims", &[json!(null), claim("1Gi"), claim("2Gi")]);
                let spec = vec![
                    ("serviceName", json!("web")),
                    ("selector", selector),
                    ("template", self.template()),
                    ("volumeClaimTemplates", claims),
                ];
                ("apps/v1", vec![("spec", Self::map(spec))])
            }
            "CronJob" => {
                let limit = self.one("limit", &[json!(null), json!(1), json!(2)]);
                let job = Self::map(vec![("backoffLimit", limit), ("template", self.template())]);
                let schedule = self.one("schedule", &[json!("@daily"), json!("@hourly")]);
                ("batch/v1", vec![("spec", json!({"schedule": schedule, "jobTemplate": {"spec": job}}))])
            }
            "Service" => ("v1", vec![("spec", self.service())]),
            "Ingress" => ("networking.k8s.io/v1", vec![("spec", self.ingress())]),
            "HorizontalPodAutoscaler" => ("autoscaling/v2", vec![("spec", self.autoscaler())]),
            "RoleBinding" => {
                let subjects = self.list("subjects", &["one", "two"], |place, name| {
                    let kind = self.one(&format!("{place}:kind"), &[json!("User"), json!("Group")]);
                    json!({"kind": kind, "name": name, "apiGroup": "rbac.authorization.k8s.io"})
                });
                let role = self.one("role", &[json!("view"), json!("edit")]);
                let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role});
                ("rbac.authorization.k8s.io/v1", vec![("subjects", subjects), ("roleRef", role)])
            }
            "Role" => {
                let rules = self.list("rules", &["pods", "services"], |place, name| {
                    let verbs = [json!(["get"]), json!(["get", "list"]), json!(["*"])];
                    json!({"apiGroups": [""], "resources": [name], "verbs": self.one(&format!("{place}:verbs"), &verbs)})
                });
                ("rbac.authorization.k8s.io/v1", vec![("rules", rules)])
            }
            // An unknown type with a pod template in it.
            _ => ("example.com/v1", vec![("spec", json!({"pool": {"template": self.template()}}))]),
        };
        let mut resource = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "web"}});
        let fields: Map<String, Value> =
            body.into_iter().map(|(k, v)| (k.to_owned(), v)).filter(|f| !f.1.is_null()).collect();
        resource.as_object_mut().expect("a map").extend(fields);
        resource
    }
}

const KINDS: [&str; 9] = [
    "Deployment",
    "StatefulSet",
    "CronJob",
    "Service",
    "Ingress",
    "HorizontalPodAutoscaler",
    "RoleBinding",
    "Role",
    "Rollout",
];

/// What dest may delete, and what upstream may change in it that cannot stand without the rest.
const PARTS: [[&str; 2]; 4] = [
    ["containers/app", "containers/app.args"],
    ["containers/proxy", "containers/proxy.args"],
    ["containers/app.livenessProbe", "containers/app.livenessProbe:path"],
    ["volumes/data", "volumes/data:mode"],
];

fn triples() -> impl Strategy<Value = (&'static str, [Choices; 3])> {
    let others = || prop::collection::vec((0..CHOICES, any::<u8>()), 0..16);
    let original = prop::collection::vec(any::<u8>(), CHOICES).prop_map(Choices);
    let part = prop::option::of(prop::sample::select(&PARTS[..]));
    (prop::sample::select(&KINDS[..]), original, others(), others(), part).prop_map(
        |(kind, original, one, two, part)| {
            let Some([whole, part]) = part.map(|places| places.map(Choices::at)) else {
                let (updated, dest) = (original.changed(&one), original.changed(&two));
                return (kind, [original, updated, dest]);
            };
            // Of an element, 11 says that it is there; of a probe, that it has the form with most fields.
            let original = original.changed(&[(whole, 11), (part, 1)]);
            let updated = original.changed(&one).changed(&[(whole, 11), (part, 2)]);
            let dest = original.changed(&two).changed(&[(whole, 0)]);
            (kind, [original, updated, dest])
        },
    )
}

/// A resource as YAML.
fn text(resource: &Value) -> String {
    render::Style::new(&[1]).document(resource)
}

/// The required fields that a resource lacks.
fn missing(node: NodeRef<'_>) -> Vec<String> {
    fn collect(node: NodeRef<'_>, cursor: Cursor<'_>, path: &str, out: &mut Vec<String>) {
        if node.is_map() {
            let lacking = cursor.required().filter(|name| node.get(name).is_none_or(NodeRef::is_null));
            out.extend(lacking.map(|name| format!("{path}.{name}")));
        }
        for (key, value) in node.fields() {
            let name = key.string();
            collect(value, cursor.child(name, [value]), &format!("{path}.{name}"), out);
        }
        node.elements().for_each(|element| collect(element, cursor, &format!("{path}[]"), out));
    }
    let types = Types::new([], Inference::On);
    let said = |name: &str| node.get(name).map(NodeRef::string).unwrap_or_default();
    let mut out = Vec::new();
    collect(node, types.root(said("apiVersion"), said("kind"), Mode::ThreeWay), "", &mut out);
    out
}

fn check(what: &str, text: &str) {
    let doc = Document::parse(text).expect("YAML");
    let root = doc.roots().next().expect("a resource");
    let resource = if root.is_list() { root.elements().next().expect("an item") } else { root };
    assert_eq!(missing(resource), Vec::<String>::new(), "{what}\n{text}");
    let kind = resource.get("kind").map(NodeRef::string).unwrap_or_default();
    if kind != "Rollout" {
        assert_eq!(typed::check(&value_of(resource)), Ok(()), "{what}\n{text}");
    }
}

#[test]
fn a_missing_field_is_found() {
    let doc = Document::parse("{apiVersion: v1, kind: Pod, spec: {containers: [{name: a}], volumes: [{name: null}]}}")
        .expect("YAML");
    assert_eq!(missing(doc.roots().next().expect("a root")), [".spec.containers[].image", ".spec.volumes[].name"]);
}

/// How often a part of a value could not stand alone, so that all of it was taken.
fn wholes(output: &str) -> usize {
    output.matches("which its type requires").count()
}

#[test]
fn nothing_lacks_what_its_type_requires() {
    let cases = (triples(), prop::collection::vec(0_u8..3, 1..8));
    let mut runner = TestRunner::new(support::tries(100));
    let (counted, tries) = (Cell::new(0), Cell::new(0));
    let tried = runner.run(&cases, |((kind, sides), picks)| {
        tries.set(tries.get() + 1);
        let [original, updated, dest] = sides.each_ref().map(|side| text(&side.resource(kind)));
        [&original, &updated, &dest].iter().for_each(|side| check("a side", side));
        for policy in ["TakeUpdated", "KeepDest"] {
            let sides = format!("{}{}", side("original", &original), side("updated", &updated));
            let spec = format!("mode: ThreeWay\nonConflict: {policy}\n{sides}");
            let output = passes(&resource_list(&items(&dest), &spec)).stdout;
            counted.set(counted.get() + wholes(&output));
            check(policy, items_of(&output));
        }
        let [original, updated, dest] = [original, updated, dest].map(|text| Package::of_text(text).expect("YAML"));
        let merge = Merge::three_way(&original, &updated, &dest);
        let mut picks = picks.iter().cycle();
        let decided = merge.run().expect("merged").decide(|conflict| match picks.next() {
            Some(1) => Some(Pick::Updated),
            // If both sides added a field, original says that there is none: of a required one, too.
            Some(2) if conflict.values(krm_merge::Reveal::Secrets).original.is_some() => Some(Pick::Original),
            _ => Some(Pick::Dest),
        });
        check("each conflict by itself", &decided.text(Pick::Updated).expect("small"));
        Ok(())
    });
    tried.unwrap_or_else(|error| panic!("{error}"));
    let (found, tries) = (counted.get(), tries.get());
    assert!(found * 8 > tries, "of {tries} cases hardly any had a part that could not stand alone: {found}");
}
