//! Parts that users write in the functionConfig and in flags alike, checked: targets, and rules for lists.

use krm_schema::schema::{ListKind, ListRule};
use krm_yaml::NodeRef;

use super::NamedRule;
use super::written::{WrittenRule, WrittenTarget};
use crate::name::Name;
use crate::target::{Target, TargetField};

/// An error in a part of the functionConfig, or of a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The field with the error; empty if the part as a whole is wrong.
    pub part: &'static str,
    /// The message: what must hold.
    pub message: String,
}

impl Wrong {
    fn whole(message: String) -> Self {
        Self::of("", message)
    }

    fn of(part: &'static str, message: String) -> Self {
        Self { part, message }
    }
}

/// The target that the user wrote, checked. `given` holds its fields as the user wrote them.
///
/// # Errors
/// The target has no field; or a pattern or a selector is invalid.
pub fn target(name: Name, written: &WrittenTarget, given: Vec<String>) -> Result<Target, Wrong> {
    if given.is_empty() {
        return Err(Wrong::whole(format!(
            "{name} must have at least one field: without any it would select every item"
        )));
    }
    let mut target = Target::new(name.clone(), given.join(", "));
    let patterns = [
        ("group", TargetField::Group, &written.group),
        ("version", TargetField::Version, &written.version),
        ("kind", TargetField::Kind, &written.kind),
        ("name", TargetField::Name, &written.name),
        ("namespace", TargetField::Namespace, &written.namespace),
    ];
    for (part, of, pattern) in patterns {
        let Some(pattern) = pattern else { continue };
        target = target.with_pattern(of, pattern).map_err(|e| {
            Wrong::of(part, format!("{} must be a regular expression, not \"{pattern}\": {e}", name.of(part)))
        })?;
    }
    let not_selector = |part: &'static str, written: &str, e: String| {
        let name = name.of(part);
        Wrong::of(part, format!("{name} must be a selector, as `app=web,tier in (a, b)`, not \"{written}\": {e}"))
    };
    if let Some(selector) = &written.label_selector {
        target = target.with_labels(selector).map_err(|e| not_selector("labelSelector", selector, e))?;
    }
    if let Some(selector) = &written.annotation_selector {
        target = target.with_annotations(selector).map_err(|e| not_selector("annotationSelector", selector, e))?;
    }
    if let Some(path) = &written.path {
        let wrong = |e: String| {
            let name = name.of("path");
            Wrong::of("path", format!("{name} must be a path, as `charts/*/Chart.yaml`, not \"{path}\": {e}"))
        };
        target = target.with_path(path).map_err(wrong)?;
    }
    Ok(target)
}

/// The fields of a target as they are written, for messages.
pub(super) fn shown_fields(target: NodeRef<'_>) -> Vec<String> {
    let given = target.fields().filter(|(_, value)| !value.is_null());
    given.map(|(key, value)| format!("`{}: {}`", key.string(), value.string())).collect()
}

impl NamedRule {
    /// The rule that the user wrote, checked.
    ///
    /// # Errors
    /// The rule does not say in exactly one way how the list merges; or its path is invalid.
    pub fn new(name: Name, rule: WrittenRule) -> Result<Self, Wrong> {
        let list = match (rule.keys, rule.set, rule.atomic) {
            (Some(keys), None, None) if !keys.is_empty() && keys.iter().all(|k| !k.is_empty()) => ListKind::Map(keys),
            (Some(_), None, None) => {
                return Err(Wrong::whole(format!("{} must name at least one field", name.of("keys"))));
            }
            (None, Some(true), None) => ListKind::Set,
            (None, None, Some(true)) => ListKind::Atomic,
            _ => {
                let kinds = "`keys: […]`, `set: true` and `atomic: true`";
                return Err(Wrong::whole(format!("{name} must have exactly one of {kinds}")));
            }
        };
        let path: Vec<String> =
            rule.path.split('.').map(|p| p.trim_end_matches("[]").trim_end_matches("[*]").to_owned()).collect();
        let not_a_path = |why: &str| {
            let must = format!("{} must be field names joined by dots, as `spec.steps`", name.of("path"));
            Wrong::of("path", format!("{must}, not \"{}\"{why}", rule.path))
        };
        if path.iter().any(String::is_empty) {
            return Err(not_a_path(""));
        }
        if path.iter().any(|name| name.contains(['[', ']'])) {
            return Err(not_a_path(
                ": a list on the way is passed through, all its elements alike, as in `spec.steps.args`, `spec.steps[].args` or `spec.steps[*].args`",
            ));
        }
        Ok(Self { name, rule: ListRule { api_version: rule.api_version, kind: rule.kind, path, list } })
    }
}
