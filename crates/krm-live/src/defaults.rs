//! The values of the built-in types that the server sets if nobody sets the field.
//!
//! The server counts a default as set by the manager that created the field around it. So `managedFields` cannot tell the default from a
//! value that a person set. A file without such a value has the same effect in the cluster. Most defaults of the built-in types are in no
//! schema. Source: the `SetDefaults_…` functions of kubernetes/pkg/apis, by the names of the fields.

use krm_schema::schema::{Cursor, ListKind, list_kind};
use krm_tree::child::{by_keys, element_key};
use krm_yaml::NodeRef;
use serde_json::Value;

use crate::object::is_empty;

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
    pub map: &'a Value,
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
        let sibling = |name: &str| self.map.get(name);
        let is_of = |parents: &[&str]| parents.contains(&self.parent);
        match self.name {
            "imagePullPolicy" => {
                let image = sibling("image").and_then(Value::as_str);
                *found == if is_latest(image.unwrap_or_default()) { "Always" } else { "IfNotPresent" }
            }
            "replicas" => is_of(&["spec"]) && WITH_REPLICAS.contains(&self.kind) && *found == 1,
            // It has the value of the field that replaced it.
            "serviceAccount" => is_of(&["spec"]) && sibling("serviceAccountName") == Some(found),
            "targetPort" => is_of(&["ports"]) && sibling("port") == Some(found),
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

/// Numbers and booleans of the built-in types that the server omits if they are 0 or false. It keeps those that are pointers in its code,
/// such as `automountServiceAccountToken`, `immutable` and `runAsUser`, so they are not here.
const NOTHING_TO_SAY: [&str; 19] = [
    "deprecated",
    "globalDefault",
    "healthCheckNodePort",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostPort",
    "initialDelaySeconds",
    "insecureSkipTLSVerify",
    "minReadySeconds",
    "nodePort",
    "paused",
    "preserveUnknownFields",
    "publishNotReadyAddresses",
    "readOnly",
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
            let map: Value = yaml_serde::from_str(map).expect("YAML");
            let fields = map.as_object().expect("a map");
            let found = fields.iter().map(|(name, value)| Field { kind, parent, name, map: &map }.defaults_to(value));
            assert_eq!(found.collect::<Vec<_>>(), want, "{map}");
        }
    }
}
