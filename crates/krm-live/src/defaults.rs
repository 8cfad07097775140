//! The values of the built-in types that the server sets if nobody sets the field.
//!
//! The server counts a default as set by the manager that created the field around it. So `managedFields` cannot tell the default from a
//! value that a person set. A file without such a value has the same effect in the cluster. Most defaults of the built-in types are in no
//! schema. Source: the `SetDefaults_…` functions of kubernetes/pkg/apis, by the names of the fields.

use anyhow::Result;
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, ListKind, Types, builtin, list_kind};
use krm_tree::child::{by_keys, element_key};
use krm_yaml::{Document, NodeRef};
use serde_json::{Map, Value};

use crate::object::{Object, is_empty, value};
use crate::openapi::Schema;

/// A field of an object.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// The kind of the object.
    pub kind: &'a str,
    /// The name of the map that has the field; for an element of a list, of the list.
    pub parent: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The map that has the field.
    pub map: NodeRef<'a>,
}

/// The defaults of fields: the names of the maps that may have the field, the name of the field, and its default as JSON. Without names of
/// maps, the field has this default everywhere.
const OF_FIELDS: &[(&[&str], &str, &str)] = &[
    // Pods.
    (&[], "terminationMessagePath", "\"/dev/termination-log\""),
    (&[], "terminationMessagePolicy", "\"File\""),
    (&["containers", "ephemeralContainers", "initContainers", "spec"], "resources", "{}"),
    (PROBES, "failureThreshold", "3"),
    (PROBES, "periodSeconds", "10"),
    (PROBES, "successThreshold", "1"),
    (PROBES, "timeoutSeconds", "1"),
    (&["httpGet"], "path", "\"/\""),
    (&["httpGet"], "scheme", "\"HTTP\""),
    (&["grpc"], "service", "\"\""),
    (&["ports"], "protocol", "\"TCP\""),
    (&["fieldRef"], "apiVersion", "\"v1\""),
    (&["resourceFieldRef"], "divisor", "\"0\""),
    (&["spec"], "dnsPolicy", "\"ClusterFirst\""),
    (&["spec"], "enableServiceLinks", "true"),
    (&["spec"], "restartPolicy", "\"Always\""),
    (&["spec"], "schedulerName", "\"default-scheduler\""),
    (&["spec"], "securityContext", "{}"),
    (&["spec"], "terminationGracePeriodSeconds", "30"),
    (&["configMap", "downwardAPI", "projected", "secret"], "defaultMode", "420"),
    (&["hostPath"], "type", "\"\""),
    (&["serviceAccountToken"], "expirationSeconds", "3600"),
    (&["azureDisk"], "cachingMode", "\"ReadWrite\""),
    (&["azureDisk"], "fsType", "\"ext4\""),
    (&["azureDisk"], "kind", "\"Shared\""),
    (&["azureDisk"], "readOnly", "false"),
    (&["iscsi"], "iscsiInterface", "\"default\""),
    (&["rbd"], "keyring", "\"/etc/ceph/keyring\""),
    (&["rbd"], "pool", "\"rbd\""),
    (&["rbd"], "user", "\"admin\""),
    (&["scaleIO"], "fsType", "\"xfs\""),
    (&["scaleIO"], "storageMode", "\"ThinProvisioned\""),
    // Workloads.
    // The server writes whole claims into a StatefulSet. Source: `SetDefaults_PersistentVolumeClaim`.
    (&["volumeClaimTemplates"], "apiVersion", "\"v1\""),
    (&["volumeClaimTemplates"], "kind", "\"PersistentVolumeClaim\""),
    (&["volumeClaimTemplates"], "status", r#"{"phase": "Pending"}"#),
    (&["metadata"], "creationTimestamp", "null"),
    (&[], "maxSurge", "\"25%\""),
    (&["strategy"], "type", "\"RollingUpdate\""),
    (&["updateStrategy"], "type", "\"RollingUpdate\""),
    (&["rollingUpdate"], "partition", "0"),
    (&[], "podManagementPolicy", "\"OrderedReady\""),
    (&["persistentVolumeClaimRetentionPolicy"], "whenDeleted", "\"Retain\""),
    (&["persistentVolumeClaimRetentionPolicy"], "whenScaled", "\"Retain\""),
    (&[], "progressDeadlineSeconds", "600"),
    (&[], "revisionHistoryLimit", "10"),
    (&[], "concurrencyPolicy", "\"Allow\""),
    (&[], "failedJobsHistoryLimit", "1"),
    (&[], "successfulJobsHistoryLimit", "3"),
    (&[], "suspend", "false"),
    (&[], "backoffLimit", "6"),
    (&[], "completionMode", "\"NonIndexed\""),
    (&[], "manualSelector", "false"),
    (&[], "podReplacementPolicy", "\"TerminatingOrFailed\""),
    // The rules of an autoscaler are set as soon as it has `behavior`. Source: `SetDefaults_HorizontalPodAutoscalerBehavior`.
    (&[], "minReplicas", "1"),
    (
        &["spec"],
        "metrics",
        r#"[{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]"#,
    ),
    (&["scaleUp"], "stabilizationWindowSeconds", "0"),
    (&["scaleDown", "scaleUp"], "selectPolicy", "\"Max\""),
    (
        &["scaleUp"],
        "policies",
        r#"[{"type": "Pods", "value": 4, "periodSeconds": 15}, {"type": "Percent", "value": 100, "periodSeconds": 15}]"#,
    ),
    (&["scaleDown"], "policies", r#"[{"type": "Percent", "value": 100, "periodSeconds": 15}]"#),
    // Services.
    (&[], "internalTrafficPolicy", "\"Cluster\""),
    (&[], "externalTrafficPolicy", "\"Cluster\""),
    (&[], "ipFamilyPolicy", "\"SingleStack\""),
    (&[], "sessionAffinity", "\"None\""),
    (&[], "allocateLoadBalancerNodePorts", "true"),
    (&["clientIP"], "timeoutSeconds", "10800"),
    (&["ports"], "name", "\"\""),
    // Maps that are no pointers in the server's code, so it always writes them.
    (&["endpoints"], "conditions", "{}"),
    (&["service"], "port", "{}"),
    (&["spec"], "podSelector", "{}"),
    // Webhooks and policies.
    (&["matchConstraints", "matchResources", "spec", "webhooks"], "failurePolicy", "\"Fail\""),
    (&["matchConstraints", "matchResources", "webhooks"], "matchPolicy", "\"Equivalent\""),
    (&["matchConstraints", "matchResources", "webhooks"], "namespaceSelector", "{}"),
    (&["matchConstraints", "matchResources", "webhooks"], "objectSelector", "{}"),
    (&["webhooks"], "reinvocationPolicy", "\"Never\""),
    (&["webhooks"], "timeoutSeconds", "10"),
    (&["resourceRules", "excludeResourceRules", "rules"], "scope", "\"*\""),
    (&["service"], "port", "443"),
    // Storage.
    (&["spec"], "volumeMode", "\"Filesystem\""),
    (&[], "reclaimPolicy", "\"Delete\""),
    (&[], "volumeBindingMode", "\"Immediate\""),
    (&[], "persistentVolumeReclaimPolicy", "\"Retain\""),
    (&[], "attachRequired", "true"),
    (&[], "fsGroupPolicy", "\"ReadWriteOnceWithFSType\""),
    (&[], "podInfoOnMount", "false"),
    (&[], "requiresRepublish", "false"),
    (&[], "seLinuxMount", "false"),
    (&[], "storageCapacity", "false"),
    (&[], "volumeLifecycleModes", "[\"Persistent\"]"),
    // Others.
    (&[], "preemptionPolicy", "\"PreemptLowerPriority\""),
    (&["roleRef"], "apiGroup", "\"rbac.authorization.k8s.io\""),
];

const PROBES: &[&str] = &["livenessProbe", "readinessProbe", "startupProbe"];

/// The kinds whose `replicas` are 1 by default.
const WITH_REPLICAS: [&str; 4] = ["Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"];

/// Fields of a Service for which the server chooses a value.
const CHOSEN: [&str; 4] = ["clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies"];

impl<'a> Field<'a> {
    /// Whether the server sets this value if nobody sets the field.
    pub fn defaults_to(self, found: &Value) -> bool {
        let sibling = |name: &str| self.map.get(name).and_then(|node| value(node).ok());
        let is_of = |parents: &[&str]| parents.contains(&self.parent);
        match self.name {
            "imagePullPolicy" => {
                let image = sibling("image").unwrap_or_default();
                *found == if is_latest(image.as_str().unwrap_or_default()) { "Always" } else { "IfNotPresent" }
            }
            "replicas" => is_of(&["spec"]) && WITH_REPLICAS.contains(&self.kind) && *found == 1,
            // It has the value of the field that replaced it.
            "serviceAccount" => is_of(&["spec"]) && sibling("serviceAccountName").as_ref() == Some(found),
            "targetPort" => is_of(&["ports"]) && sibling("port").as_ref() == Some(found),
            "type" if self.kind == "Service" => is_of(&["spec"]) && *found == "ClusterIP",
            "completions" | "parallelism" => matches!(self.kind, "CronJob" | "Job") && *found == 1,
            "maxUnavailable" => is_of(&["rollingUpdate"]) && [Value::from("25%"), Value::from(1)].contains(found),
            "apiGroup" if is_of(&["subjects"]) => {
                let is_account = sibling("kind").is_some_and(|kind| kind == "ServiceAccount");
                *found == if is_account { "" } else { "rbac.authorization.k8s.io" }
            }
            name if self.kind == "Service" && CHOSEN.contains(&name) => true,
            name => {
                let mut of_field = OF_FIELDS.iter().filter(|(_, field, _)| *field == name);
                of_field.any(|(parents, _, json)| {
                    let is_it = || serde_json::from_str::<Value>(json).is_ok_and(|default| default == *found);
                    (parents.is_empty() || is_of(parents)) && is_it()
                })
            }
        }
    }
}

/// An object of original or updated, with the defaults that the live object has in elements of lists.
///
/// A list without keys is compared as a whole, and so is a map that has one owner as a whole. A default inside of it would look like a
/// change. Only fields that the server would set again are added, so nothing else changes.
///
/// # Errors
/// The objects cannot be compared.
pub fn completed(said: &Object, live: &Object, types: &Types<'_>, schema: Option<Schema<'_>>) -> Result<Object> {
    let documents = [Document::parse(said.yaml())?, Document::parse(live.yaml())?];
    let [Some(mine), Some(theirs)] = documents.each_ref().map(|d| d.roots().next()) else { return Ok(said.clone()) };
    let cursor = types.root(live.api_version(), live.kind(), Mode::ThreeWay);
    let is_builtin = builtin::root(live.api_version(), live.kind()).is_some();
    let root = ObjectPlace { kind: live.kind(), is_builtin, name: "", level: Level::Object, schema };
    Ok(Object::live(root.completed(mine, theirs, cursor)?))
}

/// A place in an object.
#[derive(Clone, Copy)]
struct ObjectPlace<'a> {
    kind: &'a str,
    is_builtin: bool,
    /// The name of the field; for an element, of its list.
    name: &'a str,
    level: Level,
    schema: Option<Schema<'a>>,
}

/// Whether a place is in a value that is compared as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Object,
    Whole,
}

impl<'a> ObjectPlace<'a> {
    fn field(self, name: &str) -> Option<Schema<'a>> {
        self.schema.and_then(|schema| schema.field(name))
    }

    fn completed(self, said: NodeRef<'a>, live: NodeRef<'a>, cursor: Cursor<'a>) -> Result<Value> {
        if said.is_list() && live.is_list() {
            let below = Self { level: Level::Whole, schema: self.schema.and_then(Schema::items), ..self };
            let elements = paired(said, live, cursor).into_iter().map(|(element, partner)| match partner {
                Some(partner) => below.completed(element, partner, cursor),
                None => value(element),
            });
            return elements.collect::<Result<Vec<_>>>().map(Value::Array);
        }
        if !(said.is_map() && live.is_map()) {
            return value(said);
        }
        let level = if self.schema.is_some_and(Schema::is_atomic) { Level::Whole } else { self.level };
        let mut out = Map::new();
        for (key, child) in said.entries() {
            let name = key.string();
            let below = Self { name, level, schema: self.field(name), ..self };
            let child = match live.get(name) {
                Some(live) => below.completed(child, live, cursor.child(name, [child, live]))?,
                None => value(child)?,
            };
            out.insert(name.to_owned(), child);
        }
        for (key, child) in live.entries().filter(|_| level == Level::Whole) {
            let (name, found) = (key.string(), value(child)?);
            // The default may depend on other fields of the map.
            let of_map = |map| Field { kind: self.kind, parent: self.name, name, map }.defaults_to(&found);
            let is_default = self.field(name).is_some_and(|field| field.defaults_to(&found))
                || self.is_builtin && of_map(live) && of_map(said);
            if said.get(name).is_none() && is_default {
                out.insert(name.to_owned(), found);
            }
        }
        Ok(Value::Object(out))
    }
}

/// The elements of a list, each with the same element of another list.
pub fn paired<'a>(
    mine: NodeRef<'a>,
    other: NodeRef<'a>,
    cursor: Cursor<'a>,
) -> Vec<(NodeRef<'a>, Option<NodeRef<'a>>)> {
    let lists: [Vec<NodeRef<'a>>; 2] = [mine.elements().collect(), other.elements().collect()];
    let keys = match list_kind(cursor, &lists) {
        Ok(ListKind::Map(keys)) => keys,
        _ => Vec::new(),
    };
    let is_as_long = lists[0].len() == lists[1].len();
    let others = by_keys(other, &keys);
    let partner = |i: usize, element: NodeRef<'a>| match element_key(element, &keys) {
        Some(key) => others.get(&key).copied(),
        None => lists[1].get(i).copied().filter(|_| is_as_long),
    };
    lists[0].iter().enumerate().map(|(i, element)| (*element, partner(i, *element))).collect()
}

/// Numbers and booleans of the built-in types that mean the same as a missing field if they are 0 or false. Most servers then omit them.
/// Fields with another default, such as `replicas`, are left out. So are fields where 0 or false has a meaning of its own, such as
/// `automountServiceAccountToken` and `runAsUser`.
const NOTHING_TO_SAY: [&str; 24] = [
    "allowVolumeExpansion",
    "deprecated",
    "globalDefault",
    "healthCheckNodePort",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostPort",
    "immutable",
    "initialDelaySeconds",
    "insecureSkipTLSVerify",
    "minReadySeconds",
    "nodePort",
    "optional",
    "paused",
    "preserveUnknownFields",
    "privileged",
    "publishNotReadyAddresses",
    "readOnly",
    "readOnlyRootFilesystem",
    "stdin",
    "stdinOnce",
    "tty",
    "unschedulable",
];

/// Fields of the built-in types in which an empty text differs from a missing field: it asks for no class at all.
const EMPTY_IS_A_VALUE: [&str; 2] = ["ingressClassName", "storageClassName"];

/// Maps of the built-in types whose entries have names that the user chose. The server keeps an empty text in them.
const OF_THE_USER: [&str; 9] = [
    "annotations",
    "binaryData",
    "data",
    "labels",
    "matchLabels",
    "nodeSelector",
    "parameters",
    "selector",
    "stringData",
];

/// Whether the server does not keep a field of a built-in type with this value. `parent` is the name of the map that has the field. Source:
/// the API's conventions, "Optional vs. Required": an optional field is left out if it is empty.
pub fn is_left_out(parent: &str, name: &str, value: &Value) -> bool {
    is_empty(value)
        && match value {
            Value::String(_) => !EMPTY_IS_A_VALUE.contains(&name) && !OF_THE_USER.contains(&parent),
            Value::Bool(_) | Value::Number(_) => NOTHING_TO_SAY.contains(&name) && !OF_THE_USER.contains(&parent),
            _ => true,
        }
}

/// Whether an image has the tag `latest`, or no tag. Source: `SetDefaults_Container`.
fn is_latest(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or(image);
    !name.contains('@') && name.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_schema::schema::Inference;
    use serde_json::json;

    #[test]
    fn what_is_said_has_the_defaults_that_the_server_sets_in_lists() {
        let pod = |spec: Value| {
            Object::live(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}))
        };
        let types = Types::new([], Inference::On);
        let live = json!({"dnsPolicy": "ClusterFirst", "containers": [
            {"name": "a", "image": "a:1", "imagePullPolicy": "IfNotPresent", "args": ["x"], "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "env": [{"name": "E", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "f"}}}]},
        ]});
        for (said, want) in [
            (
                json!({"containers": [{"name": "a", "image": "a:1", "ports": [{"containerPort": 80}], "env": [{"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "f"}}}]}]}),
                json!({"containers": [{"name": "a", "image": "a:1", "ports": [{"containerPort": 80, "protocol": "TCP"}], "env": [{"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "f", "apiVersion": "v1"}}}], "imagePullPolicy": "IfNotPresent"}]}),
            ),
            // With another image, another default is due.
            (
                json!({"containers": [{"name": "a", "image": "a"}]}),
                json!({"containers": [{"name": "a", "image": "a"}]}),
            ),
            (json!({"containers": [{"name": "b"}]}), json!({"containers": [{"name": "b"}]})),
        ] {
            let found = completed(&pod(said), &pod(live.clone()), &types, None);
            assert_eq!(found.expect("compared"), pod(want));
        }
    }

    #[test]
    fn defaults_are_known_by_their_fields() {
        for (kind, parent, map, want) in [
            ("Pod", "containers", "{image: a, imagePullPolicy: Always, resources: {}}", &[false, true, true][..]),
            ("Pod", "containers", "{image: 'r:5000/a:1', imagePullPolicy: IfNotPresent}", &[false, true]),
            ("Pod", "containers", "{image: 'r:5000/a', imagePullPolicy: IfNotPresent}", &[false, false]),
            ("Pod", "containers", "{image: 'a@sha256:0', imagePullPolicy: IfNotPresent}", &[false, true]),
            ("Pod", "livenessProbe", "{timeoutSeconds: 1, periodSeconds: 5}", &[true, false]),
            ("Deployment", "spec", "{replicas: 1, revisionHistoryLimit: 10}", &[true, true]),
            ("HorizontalPodAutoscaler", "spec", "{replicas: 1}", &[false]),
            ("Service", "ports", "{port: 80, targetPort: 80, protocol: TCP}", &[false, true, true]),
            ("Service", "ports", "{port: 80, targetPort: http, protocol: UDP}", &[false, false, false]),
            ("Service", "spec", "{type: ClusterIP, clusterIP: 10.0.0.1}", &[true, true]),
            ("Pod", "spec", "{serviceAccountName: a, serviceAccount: a}", &[false, true]),
            ("RoleBinding", "subjects", "{kind: User, apiGroup: rbac.authorization.k8s.io}", &[false, true]),
        ] {
            let document = Document::parse(map).expect("YAML");
            let node = document.roots().next().expect("a root");
            let found = node.entries().map(|(key, child)| {
                let field = Field { kind, parent, name: key.string(), map: node };
                field.defaults_to(&value(child).expect("small"))
            });
            assert_eq!(found.collect::<Vec<_>>(), want, "{map}");
        }
    }
}
