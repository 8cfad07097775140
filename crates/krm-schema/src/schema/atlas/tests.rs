use super::*;

const TEXT: &str = include_str!("../atlas.txt");

fn at(api_version: &str, kind: &str, path: &str) -> Option<ListKind<&'static str>> {
    path.split('.').try_fold(root(api_version, kind)?.place, Place::field)?.list()
}

#[test]
fn lists_are_what_their_definitions_declare() {
    use ListKind::{Atomic, Map, Set};
    let pod = "spec.template.spec";
    for (api_version, kind, path, want) in [
        ("argoproj.io/v1alpha1", "Rollout", &*format!("{pod}.containers"), Some(Map(vec!["name"]))),
        (
            "argoproj.io/v1alpha1",
            "Rollout",
            &format!("{pod}.containers.ports"),
            Some(Map(vec!["containerPort", "protocol"])),
        ),
        ("argoproj.io/v1alpha1", "Rollout", &format!("{pod}.tolerations"), Some(Atomic)),
        ("argoproj.io/v1alpha1", "Rollout", "spec.strategy.canary.steps", None),
        ("operator.victoriametrics.com/v1beta1", "VMRule", "spec.groups", Some(Map(vec!["name"]))),
        ("operator.victoriametrics.com/v1beta1", "VMRule", "spec.groups.rules", None),
        ("monitoring.coreos.com/v1", "PrometheusRule", "spec.groups", Some(Map(vec!["name"]))),
        ("gateway.networking.k8s.io/v1", "Gateway", "spec.listeners", Some(Map(vec!["name"]))),
        ("cert-manager.io/v1", "Certificate", "spec.additionalOutputFormats", Some(Atomic)),
        ("cert-manager.io/v1", "Certificate", "status.conditions", Some(Map(vec!["type"]))),
        // A map from any name.
        (
            "datadoghq.com/v2alpha1",
            "DatadogAgent",
            "spec.override.nodeAgent.containers.agent.env",
            Some(Map(vec!["name"])),
        ),
        // A source that names its file after kind and group.
        ("machineconfiguration.openshift.io/v1", "MachineConfigPool", "status.conditions", Some(Atomic)),
        (
            "postgres-operator.crunchydata.com/v1beta1",
            "PostgresCluster",
            "spec.proxy.pgBouncer.volumes.additional.containers",
            Some(Set),
        ),
    ] {
        assert_eq!(at(api_version, kind, path), want, "{api_version} {kind} {path}");
    }
    assert_eq!(root("v1", "Rollout"), None);
    assert_eq!(root("apps/v1", "Deployment"), None);
    assert_eq!(root("", ""), None);
}

#[test]
fn a_version_that_is_not_known_is_the_one_before_it() {
    let of =
        |version: &str| root(&format!("gateway.networking.k8s.io/{version}"), "Gateway").and_then(|root| root.instead);
    for (version, want) in [
        ("v1", None),
        ("v1beta1", None),
        ("v2", Some("v1")),
        ("v2alpha1", Some("v1")),
        ("v1beta2", Some("v1beta1")),
        ("v1alpha2", Some("v1beta1")),
        ("next", Some("v1beta1")),
        ("", Some("v1beta1")),
    ] {
        assert_eq!(of(version), want, "{version}");
    }
}

#[test]
fn a_kind_is_found_in_each_group() {
    let groups: Vec<_> = groups_of("Certificate").collect();
    assert_eq!(groups, [("cert-manager.io", vec!["v1"])]);
    assert_eq!(groups_of("Nothing").count(), 0);
}

/// A field, as a line of the text.
fn line((name, place): (&str, Place)) -> String {
    let rule = match place.list() {
        None => String::new(),
        Some(ListKind::Atomic) => " atomic".into(),
        Some(ListKind::Set) => " set".into(),
        Some(ListKind::Map(keys)) => format!(" map={}", keys.join(",")),
    };
    format!("  {name} {}{rule}", place.ty)
}

#[test]
fn the_packed_table_is_the_text() {
    let mut packed = Vec::new();
    for [group, kind, _] in KINDS {
        let (group, kind) = (KIND_NAMES.get(*group), KIND_NAMES.get(*kind));
        let (_, versions) = versions_of(group, kind).expect("a kind");
        let versions: String = versions
            .iter()
            .map(|[name, ty]| format!(" {}={}", KIND_NAMES.get(*name), u16::from_le_bytes(*ty)))
            .collect();
        packed.push(format!("kind {group} {kind}{versions}"));
        assert!(versions.len() > 3);
    }
    for ty in 1..u16::try_from(TYPE_STARTS.len() - 1).expect("small") {
        packed.push(format!("type {ty}"));
        packed.extend(Place { ty, rule: 0 }.fields().map(line));
    }
    let text = TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("source "));
    assert!(text.eq(packed.iter().map(String::as_str)), "run `cargo xtask atlas`");
    assert!(KINDS.is_sorted_by_key(|[group, kind, _]| (KIND_NAMES.get(*group), KIND_NAMES.get(*kind))));
    assert!(TEXT.contains("\nsource lists "));
}

#[test]
fn versions_are_in_the_order_of_their_age() {
    for [group, kind, _] in KINDS {
        let (_, versions) = versions_of(KIND_NAMES.get(*group), KIND_NAMES.get(*kind)).expect("a kind");
        assert!(versions.is_sorted_by_key(|[name, _]| age(KIND_NAMES.get(*name))), "{}", KIND_NAMES.get(*kind));
    }
    let mut versions = ["v2", "v1", "v10", "v1beta2", "v2alpha1", "v1alpha1", "v1beta10", "next"];
    versions.sort_by_key(|version| age(version));
    assert_eq!(versions, ["next", "v1alpha1", "v1beta2", "v1beta10", "v1", "v2alpha1", "v2", "v10"]);
}
