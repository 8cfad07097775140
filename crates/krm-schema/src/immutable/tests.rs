use krm_yaml::Document;

use super::*;
use crate::mode::Mode;
use crate::schema::{Inference, Types};

/// The fields that the server would refuse to change from one object to another.
fn places(before: &str, after: &str, definition: &str) -> String {
    let docs = [before, after, definition].map(|text| Document::parse(text).expect("valid"));
    let [before, after, definition] = docs.each_ref().map(|doc| doc.roots().next().expect("a root"));
    let types = Types::new([], Inference::Off).with_definitions([definition]);
    let text = |name: &str| before.get(name).map(NodeRef::string).unwrap_or_default();
    let cursor = types.root(text("apiVersion"), text("kind"), Mode::ThreeWay);
    let tree = Tree::Node(after);
    let mut found: Vec<String> = refused(before, &tree, cursor).iter().map(|r| r.path.shown()).collect();
    found.sort();
    found.join(" ")
}

fn of(head: &str, before: &str, after: &str) -> String {
    let object = |rest: &str| format!("{{{head}, metadata: {{name: a}}, {rest}}}");
    places(&object(before), &object(after), "{}")
}

#[test]
fn fields_that_the_server_does_not_change_are_found() {
    for (head, before, after, want) in [
        (
            "apiVersion: apps/v1, kind: Deployment",
            "spec: {selector: {a: b}}",
            "spec: {selector: {a: c}}",
            "spec.selector",
        ),
        ("apiVersion: apps/v1, kind: ReplicaSet", "spec: {selector: {a: b}}", "spec: {}", "spec.selector"),
        (
            "apiVersion: apps/v1, kind: DaemonSet",
            "spec: {selector: {a: b}}",
            "spec: {selector: {a: c}}",
            "spec.selector",
        ),
        (
            "apiVersion: apps/v1, kind: Deployment",
            "spec: {replicas: 1, selector: {a: b, c: d}}",
            "spec: {selector: {c: d, a: 'b'}}",
            "",
        ),
        (
            "apiVersion: apps/v1, kind: StatefulSet",
            "spec: {replicas: 1, serviceName: a, template: {a: 1}, volumeClaimTemplates: [{a: 1}], ordinals: {start: 1}}",
            "spec: {replicas: 2, serviceName: b, template: {a: 2}, volumeClaimTemplates: [{a: 2}], podManagementPolicy: Parallel}",
            "spec.podManagementPolicy spec.serviceName spec.volumeClaimTemplates",
        ),
        (
            "apiVersion: apps/v1, kind: StatefulSet",
            "spec: {}",
            "spec: {podManagementPolicy: OrderedReady, selector: {}}",
            "",
        ),
        (
            "apiVersion: apps/v1, kind: ControllerRevision",
            "data: {a: 1}, revision: 1",
            "data: {a: 2}, revision: 2",
            "data",
        ),
        (
            "apiVersion: batch/v1, kind: Job",
            "spec: {template: {spec: {a: 1}}, completions: 1, parallelism: 1}",
            "spec: {template: {spec: {a: 2}}, completions: 2, parallelism: 2, completionMode: NonIndexed, podFailurePolicy: {rules: [1]}}",
            "spec.completions spec.podFailurePolicy spec.template",
        ),
        (
            "apiVersion: batch/v1, kind: Job",
            "spec: {completionMode: Indexed, completions: 1, parallelism: 1}",
            "spec: {completionMode: Indexed, completions: 2, parallelism: 2}",
            "",
        ),
        (
            "apiVersion: batch/v1, kind: Job",
            "spec: {suspend: true, template: {metadata: {a: 1}, spec: {nodeSelector: {a: b}, restartPolicy: Never, containers: [{name: c, image: i, resources: {a: 1}}]}}}",
            "spec: {suspend: true, template: {metadata: {a: 2}, spec: {restartPolicy: Always, containers: [{name: c, image: j, resources: {a: 2}}]}}}",
            "spec.template.spec.containers[name=c].image spec.template.spec.restartPolicy",
        ),
        ("apiVersion: batch/v1, kind: CronJob", "spec: {jobTemplate: {a: 1}}", "spec: {jobTemplate: {a: 2}}", ""),
        (
            "apiVersion: v1, kind: Service",
            "spec: {clusterIP: 10.0.0.1}",
            "spec: {clusterIP: 10.0.0.2}",
            "spec.clusterIP",
        ),
        ("apiVersion: v1, kind: Service", "spec: {ports: []}", "spec: {clusterIP: None}", "spec.clusterIP"),
        ("apiVersion: v1, kind: Service", "spec: {clusterIP: 10.0.0.1}", "spec: {clusterIP: ''}", ""),
        ("apiVersion: v1, kind: Service", "spec: {clusterIP: 10.0.0.1}", "spec: {ports: []}", ""),
        (
            "apiVersion: v1, kind: Service",
            "spec: {clusterIP: 10.0.0.1}",
            "spec: {type: ExternalName, clusterIP: ''}",
            "",
        ),
        (
            "apiVersion: v1, kind: Service",
            "spec: {type: ExternalName}",
            "spec: {type: ClusterIP, clusterIP: 10.0.0.1}",
            "",
        ),
        ("apiVersion: v1, kind: Service", "spec: {ipFamilies: [IPv4]}", "spec: {ipFamilies: [IPv4, IPv6]}", ""),
        (
            "apiVersion: v1, kind: Service",
            "spec: {ipFamilies: [IPv4]}",
            "spec: {ipFamilies: [IPv6, IPv4]}",
            "spec.ipFamilies[0]",
        ),
        (
            "apiVersion: v1, kind: Service",
            "spec: {type: LoadBalancer, loadBalancerClass: a}",
            "spec: {type: LoadBalancer, loadBalancerClass: b}",
            "spec.loadBalancerClass",
        ),
        (
            "apiVersion: v1, kind: Service",
            "spec: {type: LoadBalancer, loadBalancerClass: a}",
            "spec: {type: ClusterIP}",
            "",
        ),
        (
            "apiVersion: v1, kind: PersistentVolumeClaim",
            "spec: {accessModes: [a], resources: {requests: {storage: 1Gi}}}",
            "spec: {accessModes: [b], resources: {requests: {storage: 2Gi}, limits: {storage: 3Gi}}, volumeName: v, volumeMode: Filesystem}",
            "spec.accessModes spec.resources.limits",
        ),
        (
            "apiVersion: v1, kind: PersistentVolumeClaim",
            "spec: {volumeName: v, storageClassName: ''}",
            "spec: {volumeName: w, storageClassName: fast}",
            "spec.storageClassName spec.volumeName",
        ),
        (
            "apiVersion: v1, kind: PersistentVolume",
            "spec: {capacity: {storage: 1Gi}, hostPath: {path: /a}}",
            "spec: {capacity: {storage: 2Gi}, nfs: {path: /a}, nodeAffinity: {required: {a: b}}}",
            "spec.hostPath spec.nfs",
        ),
        (
            "apiVersion: v1, kind: PersistentVolume",
            "spec: {csi: {driver: a, volumeHandle: b}}",
            "spec: {csi: {driver: a, volumeHandle: c, controllerExpandSecretRef: {name: d}}}",
            "spec.csi.volumeHandle",
        ),
        (
            "apiVersion: v1, kind: PersistentVolume",
            "spec: {csi: {driver: a}}",
            "spec: {nfs: {path: b}}",
            "spec.csi.driver spec.nfs",
        ),
        (
            "apiVersion: v1, kind: Pod",
            "spec: {containers: [{name: a, image: i, env: []}], hostNetwork: false, tolerations: []}",
            "spec: {containers: [{name: a, image: j, args: [x]}], hostNetwork: true, tolerations: [{key: a}], activeDeadlineSeconds: 5}",
            "spec.containers[name=a].args spec.hostNetwork",
        ),
        (
            "apiVersion: v1, kind: Pod",
            "spec: {containers: [{name: a}]}",
            "spec: {containers: [{name: a}, {name: b}]}",
            "spec.containers",
        ),
        ("apiVersion: v1, kind: Secret", "type: Opaque, data: {a: b}", "data: {a: c}", ""),
        ("apiVersion: v1, kind: Secret", "data: {a: b}", "type: kubernetes.io/tls", "type"),
        ("apiVersion: v1, kind: Secret", "type: kubernetes.io/tls", "type: Opaque", "type"),
        ("apiVersion: v1, kind: Secret", "immutable: true, data: {a: b}", "data: {a: c}", "data immutable"),
        ("apiVersion: v1, kind: ConfigMap", "immutable: true, data: {a: b}", "immutable: true, data: {a: c}", "data"),
        ("apiVersion: v1, kind: ConfigMap", "data: {a: b}", "immutable: true, data: {a: c}", ""),
        ("apiVersion: example.com/v1, kind: ConfigMap", "immutable: true, data: {a: b}", "data: {a: c}", ""),
        (
            "apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding",
            "roleRef: {kind: Role, name: a}",
            "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a}",
            "roleRef.kind",
        ),
        (
            "apiVersion: storage.k8s.io/v1, kind: StorageClass",
            "provisioner: a, allowVolumeExpansion: false",
            "provisioner: b, allowVolumeExpansion: true, reclaimPolicy: Delete, volumeBindingMode: WaitForFirstConsumer",
            "provisioner volumeBindingMode",
        ),
        (
            "apiVersion: storage.k8s.io/v1, kind: CSIDriver",
            "spec: {attachRequired: true}",
            "spec: {podInfoOnMount: true}",
            "",
        ),
        (
            "apiVersion: storage.k8s.io/v1, kind: CSIDriver",
            "spec: {attachRequired: false}",
            "spec: {}",
            "spec.attachRequired",
        ),
        (
            "apiVersion: networking.k8s.io/v1, kind: IngressClass",
            "spec: {controller: a/b}",
            "spec: {controller: a/c}",
            "spec.controller",
        ),
        (
            "apiVersion: scheduling.k8s.io/v1, kind: PriorityClass",
            "value: 1, description: a",
            "value: 2, description: b",
            "value",
        ),
        ("apiVersion: node.k8s.io/v1, kind: RuntimeClass", "handler: a", "handler: b", "handler"),
        (
            "apiVersion: resource.k8s.io/v1, kind: ResourceClaim",
            "spec: {devices: {a: 1}}",
            "spec: {devices: {a: 2}}",
            "spec.devices",
        ),
        (
            "apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition",
            "spec: {group: a, scope: Cluster, names: {kind: A, plural: as, shortNames: [x]}}",
            "spec: {group: a, scope: Namespaced, names: {kind: A, plural: bs, shortNames: [y]}}",
            "spec.names.plural spec.scope",
        ),
        (
            "apiVersion: coordination.k8s.io/v1, kind: Lease",
            "spec: {holderIdentity: a}",
            "spec: {holderIdentity: b}",
            "",
        ),
        ("apiVersion: v1, kind: ConfigMap", "<<: {immutable: true}, data: {a: b}", "immutable: true, data: {a: b}", ""),
    ] {
        assert_eq!(of(head, before, after), want, "{head} {before} {after}");
    }
}

/// How lists may change, and what a live object says of itself, as a real server refused it.
#[test]
fn lists_and_states_that_the_server_does_not_change_are_found() {
    let pod = "apiVersion: v1, kind: Pod";
    let quota = "apiVersion: v1, kind: ResourceQuota";
    let cidr = "apiVersion: networking.k8s.io/v1, kind: ServiceCIDR";
    let node = "apiVersion: v1, kind: Node";
    let csi_node = "apiVersion: storage.k8s.io/v1, kind: CSINode";
    let csi_driver = "apiVersion: storage.k8s.io/v1, kind: CSIDriver";
    let claim = "apiVersion: v1, kind: PersistentVolumeClaim";
    let job = "apiVersion: batch/v1, kind: Job";
    for (head, before, after, want) in [
        (quota, "spec: {scopes: [a, b]}", "spec: {scopes: [b, a], hard: {x: 1}}", ""),
        (quota, "spec: {scopes: [a]}", "spec: {scopes: [a, b]}", "spec.scopes"),
        (quota, "spec: {scopes: [a]}", "spec: {}", "spec.scopes"),
        (cidr, "spec: {cidrs: [a]}", "spec: {cidrs: [a, b]}", ""),
        (cidr, "spec: {cidrs: [a, b]}", "spec: {cidrs: [a]}", "spec.cidrs"),
        (cidr, "spec: {cidrs: [a]}", "spec: {cidrs: [b]}", "spec.cidrs"),
        (
            "apiVersion: storage.k8s.io/v1, kind: VolumeAttachment",
            "spec: {attacher: a, nodeName: n}",
            "spec: {attacher: b, nodeName: n}",
            "spec.attacher",
        ),
        (node, "spec: {}", "spec: {podCIDR: a, podCIDRs: [a], providerID: p}", ""),
        (
            node,
            "spec: {podCIDR: a, podCIDRs: [a], providerID: p, taints: []}",
            "spec: {podCIDR: b, podCIDRs: [b], providerID: q}",
            "spec.podCIDR spec.podCIDRs spec.providerID",
        ),
        (
            csi_node,
            "spec: {drivers: [{name: a, nodeID: x, allocatable: {count: 1}}, {name: b, nodeID: y}]}",
            "spec: {drivers: [{name: c, nodeID: z}, {name: a, nodeID: n, topologyKeys: [k], allocatable: {count: 2}}]}",
            "spec.drivers[name=a].nodeID spec.drivers[name=a].topologyKeys",
        ),
        (csi_driver, "spec: {volumeLifecycleModes: [Persistent]}", "spec: {}", ""),
        (csi_driver, "spec: {volumeLifecycleModes: [Ephemeral]}", "spec: {}", "spec.volumeLifecycleModes"),
        (
            pod,
            "spec: {nodeSelector: {a: b}, terminationGracePeriodSeconds: 30, tolerations: [{key: a, tolerationSeconds: 1}, {key: b}]}",
            "spec: {nodeSelector: {a: b}, tolerations: [{key: c}, {key: b}, {key: a, tolerationSeconds: 2}]}",
            "",
        ),
        (
            pod,
            "spec: {nodeSelector: {a: b}, tolerations: [{key: a, operator: Exists}]}",
            "spec: {nodeSelector: {a: c}, affinity: {x: 1}, terminationGracePeriodSeconds: 5, tolerations: [{key: a}], schedulingGates: [{name: g}]}",
            "spec.affinity spec.nodeSelector spec.schedulingGates spec.terminationGracePeriodSeconds spec.tolerations",
        ),
        (pod, "spec: {schedulingGates: [{name: g}], nodeSelector: {}}", "spec: {nodeSelector: {a: b}}", ""),
        (
            claim,
            "spec: {resources: {requests: {storage: 1Gi}}, volumeAttributesClassName: a}, status: {phase: Pending}",
            "spec: {resources: {requests: {storage: 2Gi}}, volumeAttributesClassName: b}",
            "spec.resources.requests spec.volumeAttributesClassName",
        ),
        (
            claim,
            "spec: {resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}",
            "spec: {resources: {requests: {storage: 2Gi}}}",
            "",
        ),
        (claim, "spec: {resources: {requests: {storage: 1Gi}}}", "spec: {resources: {requests: {storage: 2Gi}}}", ""),
        (
            job,
            "spec: {completionMode: Indexed, completions: 1, parallelism: 1}",
            "spec: {completionMode: Indexed, completions: 2, parallelism: 1}",
            "spec.completions",
        ),
        (
            job,
            "spec: {completionMode: Indexed, completions: 1, parallelism: 1}",
            "spec: {completionMode: Indexed, completions: 2, parallelism: 2}",
            "",
        ),
    ] {
        assert_eq!(of(head, before, after), want, "{head}\n{before}\n{after}");
    }
}

#[test]
fn an_object_of_another_name_is_a_new_one() {
    let of = |head: &str, selector: &str| format!("{{{head}, spec: {{selector: {{a: {selector}}}}}}}");
    let before = of("apiVersion: apps/v1, kind: Deployment, metadata: {name: a}", "b");
    for (head, want) in [
        ("apiVersion: apps/v1, kind: Deployment, metadata: {name: a}", "spec.selector"),
        ("apiVersion: apps/v2, kind: Deployment, metadata: {name: a}", "spec.selector"),
        ("apiVersion: apps/v1, kind: Deployment, metadata: {name: b}", ""),
        ("apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: b}", ""),
        ("apiVersion: e.com/v1, kind: Deployment, metadata: {name: a}", ""),
    ] {
        assert_eq!(places(&before, &of(head, "c"), "{}"), want, "{head}");
    }
}

#[test]
fn a_definition_says_which_fields_are_fixed() {
    let definition = |rule: &str| {
        let rule = format!("x-kubernetes-validations: [{{rule: '{rule}'}}]");
        let class = format!("class: {{type: string, {rule}}}");
        let pools = format!("pools: {{type: object, additionalProperties: {{type: object, {rule}}}}}");
        let spec = format!("{{type: object, {rule}, properties: {{{class}, {pools}, other: {{type: object}}}}}}");
        format!(
            "{{spec: {{group: e.com, names: {{kind: T}}, versions: [{{name: v1, schema: {{openAPIV3Schema: {{properties: {{spec: {spec}}}}}}}}}]}}}}"
        )
    };
    let object = |spec: &str| format!("{{apiVersion: e.com/v1, kind: T, metadata: {{name: a}}, spec: {spec}}}");
    for (rule, before, after, want) in [
        ("self == oldSelf", "{class: a}", "{class: b}", "spec spec.class"),
        ("oldSelf==self", "{class: a}", "{class: b}", "spec spec.class"),
        ("self == oldSelf", "{class: a}", "{class: 'a'}", ""),
        ("self == oldSelf", "{}", "{class: a}", "spec"),
        ("self.class == oldSelf.class", "{class: a, other: {x: 1}}", "{class: b, other: {x: 2}}", "spec.class"),
        ("self.class == oldSelf.class", "{pools: {p: {class: a}}}", "{pools: {p: {class: b}}}", "spec.pools.p.class"),
        ("self.class == oldSelf.other", "{class: a}", "{class: b}", ""),
        ("self.class == oldSelf.class || self.other == 1", "{class: a}", "{class: b}", ""),
        ("self.class != oldSelf.class", "{class: a}", "{class: b}", ""),
        ("self == 1", "{class: a}", "{class: b}", ""),
        // The rest of the rule says that it holds for a new value, too.
        ("self == oldSelf', optionalOldSelf: 'true", "{class: a}", "{class: b}", ""),
        ("self == oldSelf', optionalOldSelf: 'false", "{class: a}", "{class: b}", "spec spec.class"),
    ] {
        assert_eq!(places(&object(before), &object(after), &definition(rule)), want, "{rule} {before} {after}");
    }
}
