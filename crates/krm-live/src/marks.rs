//! The labels and annotations by which appliers know their objects. The files do not have them, because each applier adds them itself.
//!
//! Such a mark is no difference, and no apply removes it: without it, the applier would lose the object. Source: the code of Flux, Helm,
//! Argo CD, kpt, and of the apply sets of kubectl. Marks by which a user steers an applier, such as `prune: disabled`, are not among them.

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

/// The fields of `metadata` that hold marks.
const FIELDS: [&str; 2] = ["annotations", "labels"];

/// Marks that no one else sets.
const NAMES: [&str; 18] = [
    ID,
    KINDS,
    NAMESPACES,
    PART_OF,
    RESOURCES,
    TOOLING,
    "argocd.argoproj.io/installation-id",
    "argocd.argoproj.io/instance",
    "argocd.argoproj.io/tracking-id",
    "config.k8s.io/owning-inventory",
    "config.kubernetes.io/owning-inventory",
    HELM,
    "helm.toolkit.fluxcd.io/name",
    "helm.toolkit.fluxcd.io/namespace",
    "kustomize.toolkit.fluxcd.io/checksum",
    "kustomize.toolkit.fluxcd.io/name",
    "kustomize.toolkit.fluxcd.io/namespace",
    "meta.helm.sh/release-namespace",
];

/// The annotation that names the release of Helm.
const HELM: &str = "meta.helm.sh/release-name";

/// The label of a member of an ApplySet, with the id of the set.
pub const PART_OF: &str = "applyset.kubernetes.io/part-of";

/// The label of the parent of an ApplySet, with its id, and the annotations of the parent. A parent may be among the files.
pub const ID: &str = "applyset.kubernetes.io/id";
pub const TOOLING: &str = "applyset.kubernetes.io/tooling";
pub const KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
pub const NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";
const RESOURCES: &str = "applyset.kubernetes.io/contains-group-resources";

/// Makes a resource of the files a member of an ApplySet.
///
/// # Errors
/// It says already which set it is in.
pub fn join(resource: &mut Value, set: &str) -> Result<()> {
    let Some(metadata) = resource.get_mut("metadata").and_then(Value::as_object_mut) else { return Ok(()) };
    let labels = metadata.entry("labels").or_insert(Value::Null);
    if labels.is_null() {
        *labels = json!({});
    }
    // If the labels are not a map, the server refuses the object.
    if let Some(labels) = labels.as_object_mut()
        && labels.insert(PART_OF.to_owned(), set.into()).is_some()
    {
        bail!("ApplySet label {PART_OF:?} already set in input data");
    }
    Ok(())
}

/// The marks of a live object that the files do not have, as a part of its `metadata`.
pub fn of(live: &Value, files: &Value) -> Value {
    let mut found = Map::new();
    for field in FIELDS {
        let Some(entries) = live["metadata"][field].as_object() else { continue };
        let is_meant = |name: &&String, value: &Value| {
            is_mark(live, name, value) && files["metadata"][field].get(name.as_str()).is_none()
        };
        let of_field: Map<String, Value> = entries
            .iter()
            .filter(|(name, value)| is_meant(name, value))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if !of_field.is_empty() {
            found.insert(field.to_owned(), of_field.into());
        }
    }
    found.into()
}

/// Whether a label or an annotation of a live object is a mark.
pub fn is_mark(live: &Value, name: &str, value: &Value) -> bool {
    match name {
        // Charts and people set these labels, too.
        "app.kubernetes.io/managed-by" => *value == "Helm" && live["metadata"]["annotations"].get(HELM).is_some(),
        "app.kubernetes.io/instance" => is_of_argo(live),
        name => NAMES.contains(&name),
    }
}

/// Whether Argo CD writes an object.
fn is_of_argo(live: &Value) -> bool {
    let entries = live["metadata"]["managedFields"].as_array().into_iter().flatten();
    entries.filter_map(|entry| entry["manager"].as_str()).any(|manager| manager.starts_with("argocd"))
}

/// An object without some marks.
pub fn removed(marks: &Value, mut object: Value) -> Value {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return object };
    for (field, of_field) in marks.as_object().into_iter().flatten() {
        let Some(entries) = metadata.get_mut(field).and_then(Value::as_object_mut) else { continue };
        let before = entries.len();
        entries.retain(|name, _| of_field.get(name).is_none());
        if entries.is_empty() && before > 0 {
            metadata.shift_remove(field);
        }
    }
    object
}

/// Adds to a resource the marks that a part of an object has.
pub fn keep(marks: &Value, part: &Value, resource: &mut Value) {
    for (field, of_field) in marks.as_object().into_iter().flatten() {
        for (name, value) in of_field.as_object().into_iter().flatten() {
            if part["metadata"][field].get(name).is_none() {
                continue;
            }
            let metadata = resource.get_mut("metadata").and_then(Value::as_object_mut);
            let Some(entries) = metadata.map(|metadata| metadata.entry(field).or_insert(Value::Null)) else { return };
            if entries.is_null() {
                *entries = json!({});
            }
            if let Some(entries) = entries.as_object_mut() {
                entries.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(annotations: Value, labels: Value, manager: &str) -> Value {
        json!({"metadata": {"name": "n", "annotations": annotations, "labels": labels, "managedFields": [{"manager": manager}]}})
    }

    #[test]
    fn a_mark_is_known_by_its_applier() {
        let helm = json!({HELM: "r", "meta.helm.sh/release-namespace": "x", "own": "1"});
        let managed = json!({"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": "r"});
        let files = json!({"metadata": {"labels": {"app": "a"}}});
        for (live, want) in [
            (
                object(helm.clone(), managed.clone(), "helm"),
                json!({
                    "annotations": {HELM: "r", "meta.helm.sh/release-namespace": "x"},
                    "labels": {"app.kubernetes.io/managed-by": "Helm"},
                }),
            ),
            // Without a release of Helm, a person set the label.
            (object(json!({}), managed.clone(), "kubectl"), json!({})),
            (object(json!({}), managed, "argocd-controller"), json!({"labels": {"app.kubernetes.io/instance": "r"}})),
            (
                object(
                    json!({"kustomize.toolkit.fluxcd.io/prune": "disabled"}),
                    json!({"kustomize.toolkit.fluxcd.io/name": "a"}),
                    "kustomize-controller",
                ),
                json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "a"}}),
            ),
        ] {
            assert_eq!(of(&live, &files), want);
        }
        let named = json!({"metadata": {"annotations": {HELM: "other"}}});
        assert_eq!(of(&object(json!({HELM: "r"}), json!({}), "helm"), &named), json!({}), "the files decide");
    }

    #[test]
    fn a_mark_is_removed_from_what_was_applied_and_kept_in_what_is_sent() {
        let marks = json!({"annotations": {HELM: "r"}, "labels": {"argocd.argoproj.io/instance": "i"}});
        let applied = object(json!({HELM: "r"}), json!({"argocd.argoproj.io/instance": "i", "a": "b"}), "m");
        let mut sent = json!({"metadata": {"name": "n"}});
        keep(&marks, &json!({"metadata": {"annotations": {HELM: "r"}}}), &mut sent);
        assert_eq!(sent, json!({"metadata": {"name": "n", "annotations": {HELM: "r"}}}));
        let applied = removed(&marks, applied);
        assert_eq!(
            (&applied["metadata"]["annotations"], &applied["metadata"]["labels"]),
            (&Value::Null, &json!({"a": "b"}))
        );
    }
}
