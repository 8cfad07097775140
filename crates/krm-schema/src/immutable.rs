//! Fields that the API server refuses to change in an existing object, and the ones that a merge changes.
//!
//! Such a refusal comes late: after the upgrade of a package is reviewed, or during a rollout. So the fields are a table here, and one
//! function compares them in an object before and after a merge. Sources: the functions `Validate…Update` of Kubernetes
//! (`pkg/apis/*/validation` of k8s.io/kubernetes, and apiextensions-apiserver), and the API reference where it calls a field immutable. Each row
//! names its function, and all are as in Kubernetes 1.36. For a custom resource, the source is a rule of its definition, such as
//! `self == oldSelf`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_tree::child::{By, ChildId, MergeKey, Value};
use krm_tree::path::FieldPath;
use krm_tree::tree::{Tree, View};
use krm_yaml::NodeRef;
use krm_yaml::hashed::HashMap;

use crate::schema::Cursor;

/// A field that a merge changes although the API server refuses that.
#[derive(Clone, Debug)]
pub struct Refused<'t, 'a> {
    /// The path of the field.
    pub path: FieldPath<'a>,
    /// Its value before; `None` if it was not set.
    pub was: Option<NodeRef<'a>>,
    /// Its value after; `None` if it is not set.
    pub is: Option<View<'t, 'a>>,
    /// The source of the refusal.
    pub by: Refuser,
}

/// The sources that refuse the change of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refuser {
    /// The API server, for its own types.
    Server,
    /// The definition of a custom resource.
    Definition,
}

/// Fields of some types that must stay as they are.
struct Rule {
    /// The types: group and kind.
    of: &'static [(&'static str, &'static str)],
    /// The way to the map that has the fields; `[]` is each element of a list, which must keep its elements, and `[=]` each element that has
    /// the same name before and after the merge.
    at: &'static [&'static str],
    /// The fields.
    fields: FrozenFields,
    /// The conditions under which the rule holds; all must be true.
    when: &'static [When],
    /// What the server does with a field that one side does not set.
    unset: Unset,
    /// The values that the server assumes for fields that are not set.
    defaults: &'static [(&'static str, &'static str)],
}

enum FrozenFields {
    /// Only these fields.
    Only(&'static [&'static str]),
    /// All fields except these.
    AllBut(&'static [&'static str]),
    /// The first elements of these lists.
    FirstOf(&'static [&'static str]),
    /// The elements of this list.
    List(&'static str, ListChange),
}

/// How the elements of a list may change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListChange {
    /// They may change their order.
    AnyOrder,
    /// New ones may come at the end.
    MoreAtEnd,
    /// New ones may come.
    More,
    /// Old ones may go.
    Fewer,
}

/// A condition: a field has a value.
enum When {
    /// Before the merge.
    Before(&'static [&'static str], &'static str),
    /// Before and after the merge.
    Both(&'static [&'static str], &'static str),
    /// Neither before nor after the merge.
    Neither(&'static [&'static str], &'static str),
    /// Not before the merge.
    NotBefore(&'static [&'static str], &'static str),
    /// Before the merge, a field is set, to another value.
    OtherBefore(&'static [&'static str], &'static str),
    /// Before the merge, a field is not set.
    UnsetBefore(&'static [&'static str]),
    /// After the merge, two fields differ.
    Apart(&'static [&'static str], &'static [&'static str]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unset {
    /// The server refuses to set the field, and to remove it.
    Refused,
    /// The field may be set once.
    MayCome,
    /// The field may be left out: it keeps its value.
    MayGo,
}

const RULE: Rule =
    Rule { of: &[], at: &["spec"], fields: FrozenFields::Only(&[]), when: &[], unset: Unset::Refused, defaults: &[] };

const APPS: &str = "apps";
const STORAGE: &str = "storage.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const RESOURCE: &str = "resource.k8s.io";
const JOB: &[(&str, &str)] = &[("batch", "Job")];
const SERVICE: &[(&str, &str)] = &[("", "Service")];
const CLAIM: &[(&str, &str)] = &[("", "PersistentVolumeClaim")];
const VOLUME: &[(&str, &str)] = &[("", "PersistentVolume")];
const POD: &[(&str, &str)] = &[("", "Pod")];
const INDEXED: When = When::Both(&["spec", "completionMode"], "Indexed");
const UNBOUND: When = When::OtherBefore(&["status", "phase"], "Bound");
const CONFIG: &[(&str, &str)] = &[("", "ConfigMap"), ("", "Secret")];
const SUSPENDED: &[&str] = &["spec", "suspend"];

const RULES: &[Rule] = &[
    // ValidateImmutableField in the update strategies of apps/v1.
    Rule {
        of: &[(APPS, "Deployment"), (APPS, "ReplicaSet"), (APPS, "DaemonSet")],
        fields: FrozenFields::Only(&["selector"]),
        ..RULE
    },
    // ValidateStatefulSetUpdate.
    Rule {
        of: &[(APPS, "StatefulSet")],
        fields: FrozenFields::AllBut(&[
            "minReadySeconds",
            "ordinals",
            "persistentVolumeClaimRetentionPolicy",
            "replicas",
            "revisionHistoryLimit",
            "template",
            "updateStrategy",
        ]),
        defaults: &[("podManagementPolicy", "OrderedReady")],
        ..RULE
    },
    // ValidateControllerRevisionUpdate.
    Rule { of: &[(APPS, "ControllerRevision")], at: &[], fields: FrozenFields::Only(&["data"]), ..RULE },
    // ValidateJobSpecUpdate.
    Rule {
        of: JOB,
        fields: FrozenFields::Only(&[
            "backoffLimitPerIndex",
            "completionMode",
            "managedBy",
            "podFailurePolicy",
            "selector",
            "successPolicy",
        ]),
        defaults: &[("completionMode", "NonIndexed"), ("managedBy", "kubernetes.io/job-controller")],
        ..RULE
    },
    // validateCompletions: an indexed Job may be scaled by both `completions` and `parallelism`.
    Rule {
        of: JOB,
        fields: FrozenFields::Only(&["completions"]),
        when: &[When::Neither(&["spec", "completionMode"], "Indexed")],
        ..RULE
    },
    // validateCompletions.
    Rule {
        of: JOB,
        fields: FrozenFields::Only(&["completions"]),
        when: &[INDEXED, When::Apart(&["spec", "completions"], &["spec", "parallelism"])],
        ..RULE
    },
    // validatePodTemplateUpdate. While a Job is suspended, it may be told where its pods run and what they use.
    Rule { of: JOB, fields: FrozenFields::Only(&["template"]), when: &[When::NotBefore(SUSPENDED, "true")], ..RULE },
    // validatePodTemplateUpdate.
    Rule {
        of: JOB,
        at: &["spec", "template", "spec"],
        fields: FrozenFields::AllBut(&[
            "affinity",
            "containers",
            "initContainers",
            "nodeSelector",
            "schedulingGates",
            "tolerations",
        ]),
        when: &[When::Before(SUSPENDED, "true")],
        ..RULE
    },
    // validatePodTemplateUpdate.
    Rule {
        of: JOB,
        at: &["spec", "template", "spec", "containers", "[]"],
        fields: FrozenFields::AllBut(&["resources"]),
        when: &[When::Before(SUSPENDED, "true")],
        ..RULE
    },
    // validatePodTemplateUpdate.
    Rule {
        of: JOB,
        at: &["spec", "template", "spec", "initContainers", "[]"],
        fields: FrozenFields::AllBut(&["resources"]),
        when: &[When::Before(SUSPENDED, "true")],
        ..RULE
    },
    // ValidateServiceUpdate. The server gives every Service an address, except one of the type ExternalName.
    Rule {
        of: SERVICE,
        fields: FrozenFields::Only(&["clusterIP"]),
        when: &[When::Neither(&["spec", "type"], "ExternalName")],
        unset: Unset::MayGo,
        defaults: &[("clusterIP", "")],
        ..RULE
    },
    // validateUpgradeDowngradeClusterIPs, validateUpgradeDowngradeIPFamilies.
    Rule {
        of: SERVICE,
        fields: FrozenFields::FirstOf(&["clusterIPs", "ipFamilies"]),
        when: &[When::Neither(&["spec", "type"], "ExternalName")],
        unset: Unset::MayGo,
        ..RULE
    },
    // ValidateServiceUpdate.
    Rule {
        of: SERVICE,
        fields: FrozenFields::Only(&["healthCheckNodePort"]),
        when: &[When::Both(&["spec", "type"], "LoadBalancer"), When::Both(&["spec", "externalTrafficPolicy"], "Local")],
        unset: Unset::MayGo,
        defaults: &[("healthCheckNodePort", "0")],
        ..RULE
    },
    // validateLoadBalancerClassField.
    Rule {
        of: SERVICE,
        fields: FrozenFields::Only(&["loadBalancerClass"]),
        when: &[When::Both(&["spec", "type"], "LoadBalancer")],
        ..RULE
    },
    // ValidatePersistentVolumeClaimUpdate.
    Rule {
        of: CLAIM,
        fields: FrozenFields::AllBut(&["resources", "storageClassName", "volumeAttributesClassName", "volumeName"]),
        defaults: &[("volumeMode", "Filesystem")],
        ..RULE
    },
    // ValidatePersistentVolumeClaimUpdate.
    Rule { of: CLAIM, at: &["spec", "resources"], fields: FrozenFields::AllBut(&["requests"]), ..RULE },
    // ValidatePersistentVolumeClaimUpdate. Only a claim that is bound may grow, or get another class of attributes. A file does not say whether
    // it is; a live object does.
    Rule { of: CLAIM, at: &["spec", "resources"], fields: FrozenFields::Only(&["requests"]), when: &[UNBOUND], ..RULE },
    // ValidatePersistentVolumeClaimUpdate.
    Rule { of: CLAIM, fields: FrozenFields::Only(&["volumeAttributesClassName"]), when: &[UNBOUND], ..RULE },
    // ValidatePersistentVolumeClaimUpdate.
    Rule { of: CLAIM, fields: FrozenFields::Only(&["storageClassName", "volumeName"]), unset: Unset::MayCome, ..RULE },
    // ValidatePersistentVolumeUpdate.
    Rule {
        of: VOLUME,
        fields: FrozenFields::AllBut(&[
            "accessModes",
            "capacity",
            "claimRef",
            "csi",
            "mountOptions",
            "nodeAffinity",
            "persistentVolumeReclaimPolicy",
            "storageClassName",
            "volumeAttributesClassName",
        ]),
        defaults: &[("volumeMode", "Filesystem")],
        ..RULE
    },
    // ValidatePersistentVolumeUpdate.
    Rule { of: VOLUME, at: &["spec", "csi"], fields: FrozenFields::AllBut(&["controllerExpandSecretRef"]), ..RULE },
    // ValidatePersistentVolumeUpdate.
    Rule {
        of: VOLUME,
        at: &["spec", "csi"],
        fields: FrozenFields::Only(&["controllerExpandSecretRef"]),
        unset: Unset::MayCome,
        ..RULE
    },
    // ValidatePersistentVolumeUpdate, validatePvNodeAffinity.
    Rule { of: VOLUME, fields: FrozenFields::Only(&["nodeAffinity"]), unset: Unset::MayCome, ..RULE },
    // ValidatePodUpdate. Pods that wait at a gate may be told where they run.
    Rule {
        of: POD,
        fields: FrozenFields::AllBut(&[
            "activeDeadlineSeconds",
            "affinity",
            "containers",
            "initContainers",
            "nodeSelector",
            "schedulingGates",
            "terminationGracePeriodSeconds",
            "tolerations",
        ]),
        ..RULE
    },
    // ValidatePodUpdate.
    Rule {
        of: POD,
        fields: FrozenFields::Only(&["affinity", "nodeSelector"]),
        when: &[When::UnsetBefore(&["spec", "schedulingGates"])],
        ..RULE
    },
    // ValidatePodUpdate.
    Rule {
        of: POD,
        fields: FrozenFields::Only(&["terminationGracePeriodSeconds"]),
        defaults: &[("terminationGracePeriodSeconds", "30")],
        ..RULE
    },
    // validateOnlyAddedTolerations.
    Rule { of: POD, fields: FrozenFields::List("tolerations", ListChange::More), ..RULE },
    // validateOnlyDeletedSchedulingGates.
    Rule { of: POD, fields: FrozenFields::List("schedulingGates", ListChange::Fewer), ..RULE },
    // ValidatePodUpdate.
    Rule { of: POD, at: &["spec", "containers", "[]"], fields: FrozenFields::AllBut(&["image"]), ..RULE },
    // ValidatePodUpdate.
    Rule { of: POD, at: &["spec", "initContainers", "[]"], fields: FrozenFields::AllBut(&["image"]), ..RULE },
    // ValidateSecretUpdate.
    Rule {
        of: &[("", "Secret")],
        at: &[],
        fields: FrozenFields::Only(&["type"]),
        unset: Unset::MayGo,
        defaults: &[("type", "Opaque")],
        ..RULE
    },
    // ValidateConfigMapUpdate, ValidateSecretUpdate.
    Rule {
        of: CONFIG,
        at: &[],
        fields: FrozenFields::Only(&["binaryData", "data", "immutable", "stringData"]),
        when: &[When::Before(&["immutable"], "true")],
        ..RULE
    },
    // ValidateRoleBindingUpdate, ValidateClusterRoleBindingUpdate.
    Rule {
        of: &[(RBAC, "RoleBinding"), (RBAC, "ClusterRoleBinding")],
        at: &["roleRef"],
        fields: FrozenFields::Only(&["apiGroup", "kind", "name"]),
        defaults: &[("apiGroup", RBAC)],
        ..RULE
    },
    // ValidateStorageClassUpdate.
    Rule {
        of: &[(STORAGE, "StorageClass")],
        at: &[],
        fields: FrozenFields::Only(&["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"]),
        defaults: &[("reclaimPolicy", "Delete"), ("volumeBindingMode", "Immediate")],
        ..RULE
    },
    // ValidateVolumeAttributesClassUpdate.
    Rule {
        of: &[(STORAGE, "VolumeAttributesClass")],
        at: &[],
        fields: FrozenFields::Only(&["driverName", "parameters"]),
        ..RULE
    },
    // ValidateCSIStorageCapacityUpdate.
    Rule {
        of: &[(STORAGE, "CSIStorageCapacity")],
        at: &[],
        fields: FrozenFields::Only(&["nodeTopology", "storageClassName"]),
        ..RULE
    },
    // ValidateCSIDriverUpdate.
    Rule {
        of: &[(STORAGE, "CSIDriver")],
        fields: FrozenFields::Only(&["attachRequired", "volumeLifecycleModes"]),
        defaults: &[("attachRequired", "true"), ("volumeLifecycleModes", "Persistent")],
        ..RULE
    },
    // ValidateCSINodeUpdate: drivers come and go, and none changes, except how much it may attach.
    Rule {
        of: &[(STORAGE, "CSINode")],
        at: &["spec", "drivers", "[=]"],
        fields: FrozenFields::AllBut(&["allocatable"]),
        ..RULE
    },
    // ValidateVolumeAttachmentUpdate.
    Rule { of: &[(STORAGE, "VolumeAttachment")], fields: FrozenFields::AllBut(&[]), ..RULE },
    // ValidateNodeUpdate.
    Rule {
        of: &[("", "Node")],
        fields: FrozenFields::Only(&["podCIDR", "podCIDRs", "providerID"]),
        unset: Unset::MayCome,
        ..RULE
    },
    // ValidateResourceQuotaUpdate.
    Rule { of: &[("", "ResourceQuota")], fields: FrozenFields::List("scopes", ListChange::AnyOrder), ..RULE },
    // ValidateServiceCIDRUpdate: a second family may come.
    Rule {
        of: &[("networking.k8s.io", "ServiceCIDR")],
        fields: FrozenFields::List("cidrs", ListChange::MoreAtEnd),
        ..RULE
    },
    // ValidateIngressClassUpdate.
    Rule { of: &[("networking.k8s.io", "IngressClass")], fields: FrozenFields::Only(&["controller"]), ..RULE },
    // ValidatePriorityClassUpdate.
    Rule {
        of: &[("scheduling.k8s.io", "PriorityClass")],
        at: &[],
        fields: FrozenFields::Only(&["preemptionPolicy", "value"]),
        defaults: &[("preemptionPolicy", "PreemptLowerPriority")],
        ..RULE
    },
    // ValidateRuntimeClassUpdate.
    Rule { of: &[("node.k8s.io", "RuntimeClass")], at: &[], fields: FrozenFields::Only(&["handler"]), ..RULE },
    // ValidateEndpointSliceUpdate.
    Rule {
        of: &[("discovery.k8s.io", "EndpointSlice")],
        at: &[],
        fields: FrozenFields::Only(&["addressType"]),
        ..RULE
    },
    // ValidateResourceClaimUpdate, ValidateResourceClaimTemplateUpdate.
    Rule {
        of: &[(RESOURCE, "ResourceClaim"), (RESOURCE, "ResourceClaimTemplate")],
        fields: FrozenFields::AllBut(&[]),
        ..RULE
    },
    // ValidateResourceSliceUpdate.
    Rule { of: &[(RESOURCE, "ResourceSlice")], fields: FrozenFields::Only(&["driver", "nodeName"]), ..RULE },
    // ValidateResourceSliceUpdate.
    Rule { of: &[(RESOURCE, "ResourceSlice")], at: &["spec", "pool"], fields: FrozenFields::Only(&["name"]), ..RULE },
    // ValidateCustomResourceDefinitionUpdate.
    Rule {
        of: &[("apiextensions.k8s.io", "CustomResourceDefinition")],
        fields: FrozenFields::Only(&["group", "scope"]),
        ..RULE
    },
    // ValidateCustomResourceDefinitionUpdate.
    Rule {
        of: &[("apiextensions.k8s.io", "CustomResourceDefinition")],
        at: &["spec", "names"],
        fields: FrozenFields::Only(&["kind", "plural"]),
        ..RULE
    },
];

/// The fields of an object that a merge changes although the API server refuses that. An object with another identity after the merge is a
/// new one, so nothing is refused.
pub fn refused<'t, 'a>(before: NodeRef<'a>, after: &'t Tree<'a>, cursor: Cursor<'a>) -> Vec<Refused<'t, 'a>> {
    let Some(after) = after.view().filter(|after| !is_node(*after, before) && is_one_object(before, *after)) else {
        return Vec::new();
    };
    let mut look = FrozenLook { path: FieldPath::default(), found: Vec::new() };
    look.defined(before, after, cursor);
    let group = group_of(text_at(View::Node(before), &["apiVersion"]).as_deref().unwrap_or_default()).to_owned();
    let kind = text_at(View::Node(before), &["kind"]).unwrap_or_default();
    let is_of = |rule: &&Rule| rule.of.iter().any(|of| *of == (group.as_str(), &*kind));
    let holds = |rule: &&Rule| rule.when.iter().all(|when| when.holds(before, after));
    for rule in RULES.iter().filter(is_of).filter(holds) {
        look.walk(rule, rule.at, Some(before), Some(after));
    }
    look.found
}

/// The group of an apiVersion; empty for the core group.
pub fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

fn text_at<'a>(root: View<'_, 'a>, path: &[&str]) -> Option<Cow<'a, str>> {
    path.iter().try_fold(root, |view, name| view.field(name))?.text()
}

fn is_node(view: View<'_, '_>, node: NodeRef<'_>) -> bool {
    matches!(view, View::Node(own) if own.is(node))
}

/// Whether both are one object to the API server.
fn is_one_object(before: NodeRef<'_>, after: View<'_, '_>) -> bool {
    let is_same = |path: &[&str]| text_at(View::Node(before), path) == text_at(after, path);
    let group = |view: View<'_, '_>| text_at(view, &["apiVersion"]).map(|version| group_of(&version).to_owned());
    group(View::Node(before)) == group(after)
        && [&["kind"][..], &["metadata", "namespace"], &["metadata", "name"]].into_iter().all(is_same)
}

impl When {
    fn holds(&self, before: NodeRef<'_>, after: View<'_, '_>) -> bool {
        let was = |path: &[&str], value: &str| text_at(View::Node(before), path).is_some_and(|text| text == value);
        let is = |path: &[&str], value: &str| text_at(after, path).is_some_and(|text| text == value);
        match self {
            Self::Before(path, value) => was(path, value),
            Self::NotBefore(path, value) => !was(path, value),
            Self::Both(path, value) => was(path, value) && is(path, value),
            Self::Neither(path, value) => !was(path, value) && !is(path, value),
            Self::OtherBefore(path, value) => {
                text_at(View::Node(before), path).is_some_and(|text| !text.is_empty() && text != *value)
            }
            Self::UnsetBefore(path) => before.at(path).is_none_or(|was| !is_set(View::Node(was))),
            Self::Apart(one, other) => text_at(after, one) != text_at(after, other),
        }
    }
}

impl ListChange {
    /// Whether the server accepts the change of a list.
    fn take(self, was: &[NodeRef<'_>], is: &[View<'_, '_>]) -> bool {
        let stays = |was: &NodeRef<'_>| is.iter().any(|is| is.same(*was));
        let is_old = |is: &View<'_, '_>| was.iter().any(|was| is.same(*was));
        match self {
            Self::AnyOrder => was.iter().all(stays) && is.iter().all(is_old),
            Self::MoreAtEnd => was.len() <= is.len() && was.iter().zip(is).all(|(was, is)| is.same(*was)),
            Self::More => was.iter().all(|was| is.iter().any(|is| is_toleration(*was, *is))),
            Self::Fewer => is.iter().all(is_old),
        }
    }
}

/// Whether both are one toleration, which may hold for another time. Source: validateOnlyAddedTolerations.
fn is_toleration(was: NodeRef<'_>, is: View<'_, '_>) -> bool {
    let is_fixed = |name: &str| name != "tolerationSeconds";
    let before: Vec<_> = was.fields().filter(|(key, value)| is_fixed(key.string()) && !value.is_null()).collect();
    let after: Vec<_> = is.fields().into_iter().filter(|(name, value)| is_fixed(name) && !value.is_null()).collect();
    let stays =
        |(key, was): &(NodeRef<'_>, NodeRef<'_>)| after.iter().any(|(name, is)| *name == key.string() && is.same(*was));
    before.len() == after.len() && before.iter().all(stays)
}

impl Rule {
    fn default_of(&self, name: &str) -> Option<&'static str> {
        self.defaults.iter().find(|(field, _)| *field == name).map(|(_, default)| *default)
    }

    /// Whether the server accepts the change of a field.
    fn takes(&self, name: &str, was: Option<NodeRef<'_>>, is: Option<View<'_, '_>>) -> bool {
        let default = self.default_of(name);
        let is_set = |view: &View<'_, '_>| is_set(*view) && !(default == Some("") && view.string().is_empty());
        let (was, is) = (was.filter(|was| is_set(&View::Node(*was))), is.filter(is_set));
        // A list has its default as its only element.
        let is_default = |view: View<'_, '_>| {
            let only = match view.elements()[..] {
                [only] => only,
                _ => view,
            };
            default.is_some() && only.text().as_deref() == default
        };
        match (was, is) {
            (None, None) => true,
            (None, Some(is)) => self.unset == Unset::MayCome || is_default(is),
            (Some(was), None) => self.unset == Unset::MayGo || is_default(View::Node(was)),
            (Some(was), Some(is)) => is.same(was),
        }
    }
}

/// Whether a value is more than a null, an empty map or an empty list. To the server, these are the same as no value.
fn is_set(view: View<'_, '_>) -> bool {
    match view.is_container() {
        true => !(view.fields().is_empty() && view.elements().is_empty()),
        false => !view.is_null(),
    }
}

struct FrozenLook<'t, 'a> {
    path: FieldPath<'a>,
    found: Vec<Refused<'t, 'a>>,
}

impl<'t, 'a> FrozenLook<'t, 'a> {
    fn walk(&mut self, rule: &Rule, at: &[&'static str], was: Option<NodeRef<'a>>, is: Option<View<'t, 'a>>) {
        match at.split_first() {
            None => self.map(rule, was, is),
            Some((&"[]", rest)) => self.elements(rule, rest, was, is),
            Some((&"[=]", rest)) => self.partners(rule, rest, was, is),
            Some((name, rest)) => {
                self.path.push(ChildId::Field(name).step(&By::Field), None);
                self.walk(rule, rest, was.and_then(|was| was.get(name)), is.and_then(|is| is.field(name)));
                self.path.pop();
            }
        }
    }

    /// Compares the elements of a list, which all have a name. If the names or their order changed, the change of the whole list is
    /// refused.
    fn elements(&mut self, rule: &Rule, at: &[&'static str], was: Option<NodeRef<'a>>, is: Option<View<'t, 'a>>) {
        let old: Vec<NodeRef<'a>> = was.into_iter().flat_map(NodeRef::elements).collect();
        let new = is.map(View::elements).unwrap_or_default();
        let by = By::Keys(vec![MergeKey::from("name")]);
        let ids: Vec<_> = old.iter().map(|element| by.id_of(*element)).collect();
        if ids != new.iter().map(|element| by.id_of(*element)).collect::<Vec<_>>() {
            self.refuse(was, is, Refuser::Server);
            return;
        }
        for (index, ((was, is), id)) in old.into_iter().zip(new).zip(ids).enumerate() {
            self.path.push(id.unwrap_or(ChildId::Index(index)).step(&by), Some(index));
            self.walk(rule, at, Some(was), Some(is));
            self.path.pop();
        }
    }

    /// Compares the elements of a list that have a name in common. Others may come and go.
    fn partners(&mut self, rule: &Rule, at: &[&'static str], was: Option<NodeRef<'a>>, is: Option<View<'t, 'a>>) {
        let new = is.map(View::elements).unwrap_or_default();
        let by = By::Keys(vec![MergeKey::from("name")]);
        for (index, was) in was.into_iter().flat_map(NodeRef::elements).enumerate() {
            let Some(id) = by.id_of(was) else { continue };
            let Some(is) = new.iter().find(|is| by.id_of(**is).as_ref() == Some(&id)) else { continue };
            self.path.push(id.step(&by), Some(index));
            self.walk(rule, at, Some(was), Some(*is));
            self.path.pop();
        }
    }

    fn map(&mut self, rule: &Rule, was: Option<NodeRef<'a>>, is: Option<View<'t, 'a>>) {
        match rule.fields {
            FrozenFields::List(name, elements) => {
                let (was, is) = (was.and_then(|was| was.get(name)), is.and_then(|is| is.field(name)));
                let old: Vec<NodeRef<'a>> = was.into_iter().flat_map(NodeRef::elements).collect();
                if !elements.take(&old, &is.map(View::elements).unwrap_or_default()) {
                    self.path.push(ChildId::Field(name).step(&By::Field), None);
                    self.refuse(was, is, Refuser::Server);
                    self.path.pop();
                }
            }
            FrozenFields::Only(names) => {
                for name in names {
                    self.field(rule, name, (was.and_then(|was| was.get(name)), is.and_then(|is| is.field(name))));
                }
            }
            FrozenFields::FirstOf(names) => {
                for name in names {
                    let first = |list: View<'t, 'a>| list.elements().first().copied();
                    let was = was.and_then(|was| was.get(name)?.elements().next());
                    self.field(rule, name, (was, is.and_then(|is| is.field(name)).and_then(first)));
                }
            }
            FrozenFields::AllBut(others) => {
                let mut fields: BTreeMap<&'a str, (Option<NodeRef<'a>>, Option<View<'t, 'a>>)> = BTreeMap::new();
                for (key, value) in was.into_iter().flat_map(NodeRef::fields) {
                    fields.entry(key.string()).or_default().0 = Some(value);
                }
                for (name, value) in is.map(View::fields).unwrap_or_default() {
                    fields.entry(name).or_default().1 = Some(value);
                }
                for (name, both) in fields.into_iter().filter(|(name, _)| !others.contains(name)) {
                    self.field(rule, name, both);
                }
            }
        }
    }

    fn field(&mut self, rule: &Rule, name: &'a str, (was, is): (Option<NodeRef<'a>>, Option<View<'t, 'a>>)) {
        if rule.takes(name, was, is) {
            return;
        }
        self.path.push(ChildId::Field(name).step(&By::Field), None);
        let is_first = matches!(rule.fields, FrozenFields::FirstOf(_));
        if is_first {
            self.path.push(ChildId::Index(0).step(&By::Index), Some(0));
        }
        self.refuse(was, is, Refuser::Server);
        if is_first {
            self.path.pop();
        }
        self.path.pop();
    }

    /// Compares the fields that the definition of a custom resource fixes, in this map and below it. A rule compares the values of both
    /// states, so it does not apply if one of them has no value.
    fn defined(&mut self, was: NodeRef<'a>, is: View<'t, 'a>, cursor: Cursor<'a>) {
        if !cursor.has_schema() || is_node(is, was) {
            return;
        }
        for path in cursor.fixed() {
            let before = was.at(&path);
            let after = path.iter().try_fold(is, |view, name| view.field(name));
            if before.zip(after).is_some_and(|(before, after)| !after.same(before)) {
                path.iter().for_each(|name| self.path.push(ChildId::Field(name).step(&By::Field), None));
                self.refuse(before, after, Refuser::Definition);
                path.iter().for_each(|_| self.path.pop());
            }
        }
        if is.is_list() {
            return;
        }
        let before: HashMap<&str, NodeRef<'a>> = was.fields().map(|(key, value)| (key.string(), value)).collect();
        for (name, is) in is.fields() {
            let Some(was) = before.get(name).copied() else { continue };
            self.path.push(ChildId::Field(name).step(&By::Field), None);
            self.defined(was, is, cursor.field(name));
            self.path.pop();
        }
    }

    fn refuse(&mut self, was: Option<NodeRef<'a>>, is: Option<View<'t, 'a>>, by: Refuser) {
        let set = |view: &View<'_, '_>| is_set(*view);
        let was = was.filter(|was| set(&View::Node(*was)));
        self.found.push(Refused { path: self.path.clone(), was, is: is.filter(set), by });
    }
}

#[cfg(test)]
mod tests;
