//! Which items a target selects, beside the real kustomize.

use std::collections::BTreeSet;

use krm_schema::scope::is_cluster_scoped;
use krm_yaml::Document;
use serde_json::{Value, json};

use crate::kustomize::select;
use crate::support::{resource_list, results, value_of};
use crate::tools::has_kubectl;

fn item(api_version: &str, kind: &str, metadata: Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": metadata})
}

fn items() -> Vec<Value> {
    let map = |name: &str, namespace: &str| item("v1", "ConfigMap", json!({"name": name, "namespace": namespace}));
    let labels = json!({"app": "web", "tier": "a", "empty": ""});
    vec![
        item("v1", "ConfigMap", json!({"name": "web"})),
        map("web-2", "default"),
        map("a-web", "prod"),
        map("web", "prod-2"),
        map("empty", ""),
        item("v1", "ConfigMap", json!({"name": "api", "labels": labels})),
        item("v1", "ConfigMap", json!({"name": "a.b", "annotations": labels})),
        item("v1", "ConfigMap", json!({"name": "web+2"})),
        item("apps/v1", "Deployment", json!({"name": "web"})),
        item("apps/v1beta1", "Deployment", json!({"name": "api"})),
        item("example.com/v1", "Thing", json!({"name": "web"})),
        item("example.com/v1", "Thing", json!({"name": "api", "namespace": "prod"})),
        item("v1", "Namespace", json!({"name": "prod"})),
        item("v1", "Namespace", json!({"name": "default", "namespace": "default"})),
        item("v1", "Namespace", json!({"name": "web", "namespace": "prod"})),
        item("rbac.authorization.k8s.io/v1", "ClusterRole", json!({"name": "web"})),
        item("v1", "Node", json!({"name": "web", "labels": labels})),
    ]
}

/// Which of the items the function selects, by number.
fn selected(items: &[Value], target: &Value) -> Result<BTreeSet<usize>, String> {
    let list: String = items.iter().map(|item| format!("- {item}\n")).collect();
    let source = json!({"resources": [{"hit": true}], "target": target});
    let output = krm_merge_function::run(&resource_list(&list, &format!("mode: Strategic\nsource: [{source}]\n")));
    if results(&output.stdout).iter().any(|(_, message)| message.contains("no resource matches")) {
        return Ok(BTreeSet::new());
    }
    if output.verdict == krm_merge_function::Verdict::Failed {
        return Err(output.stderr.join("\n"));
    }
    let doc = Document::parse(output.stdout).expect("YAML");
    let items = doc.roots().next().and_then(|r| r.get("items")).expect("items");
    let hit = items.elements().map(value_of).enumerate().filter(|(_, item)| item["hit"] == json!(true));
    Ok(hit.map(|(i, _)| i).collect())
}

#[test]
fn a_target_selects_what_kustomize_selects() {
    if !has_kubectl() {
        return;
    }
    let of = |field: &str, values: &[&str]| values.iter().map(|v| json!({field: v})).collect::<Vec<_>>();
    let targets = [
        of("namespace", &["default", "prod", "prod.*", ".*", "[a-z]+", "_non_namespaceable_", "(default)?", "^$"]),
        of("namespace", &["prod-2|default", "^default$", "efault", "defaul", "default-2"]),
        of("name", &["web", "we", "eb", "we.", "web.*", ".*web", "web|api", "^web", "web$", "^web$|api$", "a|web"]),
        of(
            "name",
            &["a.b", "a[.]b", r"a\.b", r"\Qa.b\E", r"\Qweb+2\E", "(?i)WEB", "WEB", "web-[[:digit:]]", r"web\W\d"],
        ),
        of(
            "name",
            &["(?s).*", r"web\z", r"\Aweb", "[[:word:]]+", "(we)(b)", "w(?:e|a)b", "web(-2)?", "[^a].*", r"\x77eb"],
        ),
        of("kind", &["Namespace", "Deploy", "Deployment", "Deployment|Thing", ".*Role", "Role", "deployment"]),
        of("group", &["apps", "app", "rbac.*", "example.com", "rbac", ".*"]),
        of("version", &["v1", "v1beta1", "v1.*", "v", "beta1"]),
        of("labelSelector", &["app", "app=web,tier in (a, b)", "!app", "empty=", "app notin (web)", "tier!=a"]),
        of("annotationSelector", &["app=web", "tier!=a", "app,empty"]),
        vec![
            json!({"kind": "ConfigMap", "namespace": "default", "labelSelector": "app"}),
            json!({"group": "apps", "version": "v1", "kind": "Deployment", "name": "web"}),
            json!({"kind": "Node", "labelSelector": "app=web"}),
        ],
    ]
    .concat();
    let items = items();
    let theirs = select(&items, &targets);
    let mut hits = BTreeSet::new();
    for (target, theirs) in targets.iter().zip(theirs) {
        let ours = selected(&items, target).unwrap_or_else(|e| panic!("{target}: {e}"));
        assert_eq!(ours, theirs, "{target}");
        hits.extend(ours);
    }
    assert_eq!(hits.len(), items.len());
}

/// An empty pattern says nothing to kustomize. Here it fits what is empty, for else no pattern could mean the core group.
#[test]
fn an_empty_pattern_fits_what_is_empty() {
    let items = items();
    let ours = |field: &str| selected(&items, &json!({field: ""})).expect("a target");
    let is_empty = |of: fn(&Value) -> bool| -> BTreeSet<usize> {
        items.iter().enumerate().filter(|(_, item)| of(item)).map(|(i, _)| i).collect()
    };
    assert_eq!(ours("group"), is_empty(|i| !i["apiVersion"].as_str().expect("text").contains('/')));
    assert_eq!(ours("namespace"), is_empty(|i| i["metadata"]["namespace"].as_str().unwrap_or_default().is_empty()));
    assert_eq!(ours("name"), BTreeSet::new());
    if has_kubectl() {
        let all: BTreeSet<usize> = (0..items.len()).collect();
        assert_eq!(select(&items, &[json!({"group": ""}), json!({"namespace": ""})]), [all.clone(), all]);
    }
}

/// Group and kind of the built-in types that live outside of all namespaces, and that kustomize, which knows those of Kubernetes 1.21 that can be
/// read from a server, takes for others.
const UNKNOWN_TO_KUSTOMIZE: [&str; 24] = [
    "admissionregistration.k8s.io InitializerConfiguration",
    "admissionregistration.k8s.io MutatingAdmissionPolicy",
    "admissionregistration.k8s.io MutatingAdmissionPolicyBinding",
    "admissionregistration.k8s.io ValidatingAdmissionPolicy",
    "admissionregistration.k8s.io ValidatingAdmissionPolicyBinding",
    "auditregistration.k8s.io AuditSink",
    "authentication.k8s.io SelfSubjectReview",
    "authentication.k8s.io TokenReview",
    "authorization.k8s.io SelfSubjectAccessReview",
    "authorization.k8s.io SelfSubjectRulesReview",
    "authorization.k8s.io SubjectAccessReview",
    "certificates.k8s.io ClusterTrustBundle",
    "extensions PodSecurityPolicy",
    "internal.apiserver.k8s.io StorageVersion",
    "networking.k8s.io ClusterCIDR",
    "networking.k8s.io IPAddress",
    "networking.k8s.io ServiceCIDR",
    "resource.k8s.io DeviceClass",
    "resource.k8s.io DeviceTaintRule",
    "resource.k8s.io ResourceClass",
    "resource.k8s.io ResourcePoolStatusRequest",
    "resource.k8s.io ResourceSlice",
    "storage.k8s.io VolumeAttributesClass",
    "storagemigration.k8s.io StorageVersionMigration",
];

#[test]
fn the_scope_of_every_built_in_type_is_that_of_kustomize_or_newer() {
    let table = include_str!("../../crates/krm-schema/src/schema/builtin.txt");
    let kinds = table.lines().filter_map(|l| l.strip_prefix("kind ")).map(|l| l.split(' ').collect::<Vec<_>>());
    let kinds: Vec<(&str, &str)> = kinds.map(|words| (words[0], words[1])).collect();
    let of_kind = |(i, (version, kind)): (usize, &(&str, &str))| item(version, kind, json!({"name": format!("r{i}")}));
    let items: Vec<Value> = kinds.iter().enumerate().map(of_kind).collect();
    let target = json!({"namespace": "default"});
    if !has_kubectl() {
        return;
    }
    // By group and kind: kustomize knows `v1` of a type and not always `v1alpha1`.
    let outside = |selected: BTreeSet<usize>| -> BTreeSet<String> {
        let name = |(version, kind): &(&str, &str)| format!("{} {kind}", version.rsplit_once('/').map_or("", |v| v.0));
        kinds.iter().enumerate().filter(|(i, _)| !selected.contains(i)).map(|(_, kind)| name(kind)).collect()
    };
    let theirs = outside(select(&items, std::slice::from_ref(&target)).remove(0));
    let ours = outside(selected(&items, &target).expect("a target"));
    assert_eq!(theirs.difference(&ours).collect::<Vec<_>>(), [""; 0]);
    assert_eq!(ours.difference(&theirs).collect::<Vec<_>>(), UNKNOWN_TO_KUSTOMIZE);
}

fn outside<T: k8s_openapi::Resource<Scope = k8s_openapi::ClusterResourceScope>>() -> (&'static str, &'static str) {
    (T::GROUP, T::KIND)
}

fn inside<T: k8s_openapi::Resource<Scope = k8s_openapi::NamespaceResourceScope>>() -> (&'static str, &'static str) {
    (T::GROUP, T::KIND)
}

/// Types that kustomize does not know; the test above asks it for the others.
#[test]
fn the_newer_types_have_the_scope_that_k8s_openapi_gives_them() {
    use k8s_openapi::api::*;
    for (group, kind) in [
        outside::<admissionregistration::v1::MutatingAdmissionPolicy>(),
        outside::<admissionregistration::v1::MutatingAdmissionPolicyBinding>(),
        outside::<admissionregistration::v1::ValidatingAdmissionPolicy>(),
        outside::<admissionregistration::v1::ValidatingAdmissionPolicyBinding>(),
        outside::<authentication::v1::SelfSubjectReview>(),
        outside::<authentication::v1::TokenReview>(),
        outside::<authorization::v1::SelfSubjectAccessReview>(),
        outside::<authorization::v1::SelfSubjectRulesReview>(),
        outside::<authorization::v1::SubjectAccessReview>(),
        outside::<certificates::v1beta1::ClusterTrustBundle>(),
        outside::<flowcontrol::v1::FlowSchema>(),
        outside::<networking::v1::IPAddress>(),
        outside::<networking::v1::ServiceCIDR>(),
        outside::<resource::v1::DeviceClass>(),
        outside::<resource::v1::ResourceSlice>(),
        outside::<storage::v1::VolumeAttributesClass>(),
    ] {
        assert!(is_cluster_scoped(group, kind), "{group} {kind}");
    }
    for (group, kind) in [
        inside::<core::v1::Pod>(),
        inside::<resource::v1::ResourceClaim>(),
        inside::<storage::v1::CSIStorageCapacity>(),
        inside::<certificates::v1beta1::PodCertificateRequest>(),
    ] {
        assert!(!is_cluster_scoped(group, kind), "{group} {kind}");
    }
    assert!(!is_cluster_scoped("example.com", "Node"));
}
