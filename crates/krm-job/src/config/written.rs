//! The functionConfig as users write it: a `Merge`.
//!
//! The reader and the JSON schema are both derived from these types, so they know the same fields.

use std::collections::BTreeMap;

use krm_merge_core::policy::{ConflictLevel, NewElements, OnConflict, Renames};
use krm_schema::mode::Mode;
use krm_tree::limit::Asked;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::deserialize::OR_RESOURCE;
use super::{API_VERSION, KIND, checks};
use crate::decision;
use schemars::JsonSchema;

/// Merges Kubernetes resources: a source into dest, the change from original to updated into dest, or a strategic merge patch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Merge {
    /// Always `krm-merge.dev/v1alpha1`.
    #[schemars(extend("enum" = [API_VERSION]))]
    #[allow(dead_code, reason = "read for the schema; checked before")]
    api_version: String,
    /// Always `Merge`.
    #[schemars(extend("enum" = [KIND]))]
    #[allow(dead_code, reason = "read for the schema; checked before")]
    kind: String,
    /// Standard object metadata; only for the host.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    #[allow(dead_code, reason = "the host's, not ours")]
    metadata: Option<BTreeMap<String, IgnoredAny>>,
    /// What is merged, and how.
    pub(super) spec: Spec,
}

/// What is merged, and how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Spec {
    /// How resources are merged. Required.
    #[schemars(with = "Mode")]
    pub(super) mode: Option<Mode>,
    /// TwoWay and Strategic: what is merged into the other items. Default: the items with the annotation
    /// `config.kubernetes.io/merge-source: source` (or `patch`).
    #[schemars(with = "Option<Vec<WrittenInput>>", length(min = 1), transform = or_resources)]
    pub(super) source: Option<Vec<Element>>,
    /// ThreeWay: the state that both sides come from. Default: the items with the annotation `config.kubernetes.io/merge-source: original`.
    #[schemars(with = "Option<Vec<WrittenInput>>", length(min = 1), transform = without_target, transform = or_resources)]
    pub(super) original: Option<Vec<Element>>,
    /// ThreeWay: the new state of original. Default: the items with the annotation `config.kubernetes.io/merge-source: updated`.
    #[schemars(with = "Option<Vec<WrittenInput>>", length(min = 1), transform = without_target, transform = or_resources)]
    pub(super) updated: Option<Vec<Element>>,
    /// ThreeWay: who wins if dest and updated both changed something. Default `TakeUpdated`.
    #[schemars(transform = or_ours_and_theirs)]
    pub(super) on_conflict: Option<OnConflict>,
    /// ThreeWay: who wins at some places of some resources. The first rule that fits decides. If no rule fits, `onConflict` decides.
    #[schemars(length(min = 1))]
    pub(super) rules: Option<Vec<WrittenDecision>>,
    /// ThreeWay: how large the parts are that only one side may change. Default `Line`.
    pub(super) conflict_level: Option<ConflictLevel>,
    /// ThreeWay: whether a resource that has another name or namespace on a side is found again. Default `Follow`.
    pub(super) renames: Option<Renames>,
    /// Where new elements of a merged list go. Default `Append`.
    pub(super) new_elements: Option<NewElements>,
    /// Whether lists of unknown types merge by the first of mountPath, devicePath, ip, type, topologyKey, name and containerPort that all
    /// their elements have. Default `true` in TwoWay and ThreeWay, `false` in Strategic.
    pub(super) infer_merge_keys: Option<bool>,
    /// How lists merge, ahead of every schema.
    pub(super) merge_keys: Option<Vec<WrittenRule>>,
    /// An OpenAPI v2 document with the merge metadata of further types: `definitions` with `x-kubernetes-group-version-kind`. In a file that the
    /// plugin reads, it may be `path`, the file with the document.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub(super) openapi: Option<IgnoredAny>,
    /// Where the package comes from, as in a Kptfile; or a command whose output is the release. Only `kubectl krm-merge upgrade` uses it.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    #[allow(dead_code, reason = "the plugin's, which reads it where it stands")]
    upstream: Option<BTreeMap<String, IgnoredAny>>,
    /// The release that the package has. Only `kubectl krm-merge upgrade` uses it.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    #[allow(dead_code, reason = "the plugin's, which reads it where it stands")]
    upstream_lock: Option<BTreeMap<String, IgnoredAny>>,
    /// Which folders and files of upstream the package takes, with `!` before those that it does not take. Only `kubectl krm-merge upgrade`
    /// uses it.
    #[allow(dead_code, reason = "the plugin's, which reads it where it stands")]
    paths: Option<Vec<String>>,
    /// Which files of the package upgrades leave alone. Only `kubectl krm-merge upgrade` uses it.
    #[allow(dead_code, reason = "the plugin's, which reads it where it stands")]
    keep: Option<Vec<String>>,
    /// How many bytes of new text and results a run may write, as `64Mi`, `1Gi` or a number. Default: 20 times the input, and at least
    /// `32Mi`.
    #[schemars(extend("x-kubernetes-int-or-string" = true))]
    pub(super) max_output: Option<Size>,
}

/// Where resources come from: exactly one of `resources`, `yaml`, `edits` and `path`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "Input")]
pub(super) struct WrittenInput {
    /// Resources as objects.
    #[schemars(with = "Option<Vec<BTreeMap<String, serde_json::Value>>>")]
    pub(super) resources: Option<Vec<IgnoredAny>>,
    /// One or more YAML documents as text; their comments are merged, too.
    pub(super) yaml: Option<String>,
    /// Edits by path, which are made in each item of the target, one after the other.
    #[schemars(length(min = 1))]
    pub(super) edits: Option<Vec<WrittenEdit>>,
    /// The items whose path is this file or lies below this folder.
    #[schemars(length(min = 1))]
    pub(super) path: Option<String>,
    /// With `path`: whether these items stay in the output. Default `true`.
    pub(super) keep: Option<bool>,
    /// Which dest items a source is applied to, instead of the items with its identity. An item must match all fields that are given.
    /// Group, version, kind, name and namespace are regular expressions for the whole value.
    pub(super) target: Option<WrittenTarget>,
    /// Several targets, of which one must match, instead of `target`.
    #[schemars(length(min = 1))]
    pub(super) targets: Option<Vec<WrittenTarget>>,
    /// With `target` or `targets`: the items that are not meant.
    #[schemars(length(min = 1))]
    pub(super) exclude: Option<Vec<WrittenTarget>>,
    /// Without a target: the folder in which the items with the identities of these resources are looked for, and to which new resources go.
    #[schemars(length(min = 1))]
    pub(super) into: Option<String>,
    /// Whether items, fields and elements of lists that are not there are made. Default `true`.
    pub(super) create: Option<bool>,
    /// Whether it may be for no item. Default `false`.
    pub(super) optional: Option<bool>,
}

/// An edit: exactly one of `set`, `append` and `delete`, each with a path, or an operation of a JSON patch (RFC 6902).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "Edit")]
pub(super) struct WrittenEdit {
    /// The place that gets the value: `spec.replicas`, `spec.template.spec.containers[name=app].image`, `data["app.yaml"].server.port`. `*`
    /// stands for one field, `[*]` for all elements, and `[--port]` for a flag of a command.
    #[schemars(length(min = 1))]
    pub(super) set: Option<String>,
    /// The list that gets the value as an element, unless it has the element.
    #[schemars(length(min = 1))]
    pub(super) append: Option<String>,
    /// The place that goes.
    #[schemars(length(min = 1))]
    pub(super) delete: Option<String>,
    /// The operation of a JSON patch.
    pub(super) op: Option<Op>,
    /// With `op`: the place, as a JSON pointer.
    pub(super) path: Option<String>,
    /// The value.
    #[schemars(with = "Option<serde_json::Value>", extend("nullable" = true, "x-kubernetes-preserve-unknown-fields" = true))]
    #[allow(dead_code, reason = "read where it stands")]
    value: Option<IgnoredAny>,
}

/// The operations of a JSON patch that are read.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Op {
    /// The place gets the value. In a list the value comes before the element that is there, unless the list has the value.
    Add,
    /// What is at the place goes.
    Remove,
    /// The place, which must be there, gets the value.
    Replace,
    /// The place must have the value.
    Test,
}

/// An element of the inputs of a role.
#[derive(Debug)]
pub(super) enum Element {
    /// A resource as it stands, which is read where it is.
    Resource,
    /// An input.
    Input(Box<WrittenInput>),
}

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Element;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }

            fn visit_unit<E: serde::de::Error>(self) -> Result<Element, E> {
                Ok(Element::Resource)
            }

            fn visit_newtype_struct<D: serde::Deserializer<'de>>(self, input: D) -> Result<Element, D::Error> {
                WrittenInput::deserialize(input).map(|input| Element::Input(Box::new(input)))
            }
        }
        deserializer.deserialize_newtype_struct(OR_RESOURCE, Visitor)
    }
}

/// Which dest items a source is applied to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct WrittenTarget {
    /// The API group; empty for the core group.
    pub group: Option<String>,
    /// The API version.
    pub version: Option<String>,
    /// The kind.
    pub kind: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
    /// A label selector, as kubectl's `-l` takes it.
    #[schemars(length(min = 1))]
    pub label_selector: Option<String>,
    /// A selector for annotations, in the same form.
    #[schemars(length(min = 1))]
    pub annotation_selector: Option<String>,
    /// The file, or a folder that contains it, from the root of the package, such as `charts/*/Chart.yaml`. It may have `*`, `?`, `[…]` and
    /// `**`, as in `.gitignore`.
    #[schemars(length(min = 1))]
    pub path: Option<String>,
}

/// Who wins the conflicts at some places of some resources.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "Rule")]
pub(super) struct WrittenDecision {
    /// The resources, as they are in dest. A resource that dest deleted is selected as it is in updated. Default: all.
    pub(super) target: Option<WrittenTarget>,
    /// The field, with everything below it, as messages and results write it: `spec.replicas`,
    /// `spec.template.spec.containers[name=app].image`, `metadata.annotations["example.com/a"]`. `*` stands for one field, `[*]` for all
    /// elements. Default: everything, including the resource as a whole.
    #[schemars(length(min = 1))]
    pub(super) path: Option<String>,
    /// Who wins.
    #[schemars(with = "Take", transform = or_ours_and_theirs)]
    pub(super) take: Option<Take>,
    /// The values for which the rule was made. If a side has another value, the rule decides nothing.
    pub(super) when: Option<WrittenWhen>,
}

/// The values that the sides must have at `path`, or the rule decides nothing. A side that is left out may have any value; `null` means
/// that there is no value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "When", extend("minProperties" = 1))]
pub(super) struct WrittenWhen {
    /// The value in original.
    #[schemars(with = "Option<serde_json::Value>", extend("nullable" = true, "x-kubernetes-preserve-unknown-fields" = true))]
    #[allow(dead_code, reason = "read where it stands")]
    original: Option<IgnoredAny>,
    /// The value in updated. If a text or list is merged in parts, the value that is written if updated wins fits, too.
    #[schemars(with = "Option<serde_json::Value>", extend("nullable" = true, "x-kubernetes-preserve-unknown-fields" = true))]
    #[allow(dead_code, reason = "read where it stands")]
    updated: Option<IgnoredAny>,
    /// The value in dest.
    #[schemars(with = "Option<serde_json::Value>", extend("nullable" = true, "x-kubernetes-preserve-unknown-fields" = true))]
    #[allow(dead_code, reason = "read where it stands")]
    dest: Option<IgnoredAny>,
}

/// Who wins a conflict, as a rule says it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(super) enum Take {
    /// Dest.
    #[serde(alias = "ours")]
    Dest,
    /// Updated.
    #[serde(alias = "theirs")]
    Updated,
    /// Who has the newer version, if the values are versions of one form. Else the rule decides nothing.
    Newest,
    /// Nobody: nothing is merged. A person decides first.
    Fail,
}

impl Take {
    pub(super) fn meant(self) -> decision::Take {
        match self {
            Self::Dest => decision::Take::Policy(OnConflict::KeepDest),
            Self::Updated => decision::Take::Policy(OnConflict::TakeUpdated),
            Self::Newest => decision::Take::Newest,
            Self::Fail => decision::Take::Policy(OnConflict::Fail),
        }
    }
}

/// How one list of one type merges: exactly one of `keys`, `set` and `atomic`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "MergeKey")]
pub struct WrittenRule {
    /// The type's apiVersion, `group/version`.
    pub api_version: String,
    /// The type's kind.
    pub kind: String,
    /// The fields from the root to the list, joined by dots; lists on the way are passed through.
    #[schemars(length(min = 1))]
    pub path: String,
    /// The list holds maps, and the values of these keys tell them apart.
    #[schemars(length(min = 1), inner(length(min = 1)))]
    pub keys: Option<Vec<String>>,
    /// The list holds scalars, each at most once.
    #[schemars(extend("enum" = [true, null]))]
    pub set: Option<bool>,
    /// The list is replaced as a whole.
    #[schemars(extend("enum" = [true, null]))]
    pub atomic: Option<bool>,
}

/// A number of bytes, as Kubernetes writes quantities.
#[derive(Debug)]
pub(super) struct Size(pub(super) Asked);

/// The description of a valid size, for error messages.
pub(super) const SIZE: &str = "a number of bytes, as `64Mi`, `1Gi` or `1048576`";

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Size;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(SIZE)
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Size, E> {
                let wrong = || E::invalid_type(serde::de::Unexpected::Str(text), &self);
                Asked::parse(text).map(Size).ok_or_else(wrong)
            }

            fn visit_u64<E: serde::de::Error>(self, bytes: u64) -> Result<Size, E> {
                Ok(Size(Asked::bytes(bytes)))
            }

            fn visit_i64<E: serde::de::Error>(self, bytes: i64) -> Result<Size, E> {
                let wrong = |_| E::invalid_type(serde::de::Unexpected::Signed(bytes), &self);
                u64::try_from(bytes).map_err(wrong).and_then(|bytes| self.visit_u64(bytes))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Size {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]})
    }
}

/// The fields that only an input of `source` may have.
pub(super) const OF_SOURCE: [&str; 7] = ["edits", "target", "targets", "exclude", "into", "create", "optional"];

/// Removes these fields from the schema of inputs that cannot have them. Both kinds of inputs share one Rust type, because the message that
/// `target` is not allowed here helps more than the message that it is unknown.
fn without_target(inputs: &mut schemars::Schema) {
    let properties = inputs.pointer_mut("/items/properties").and_then(serde_json::Value::as_object_mut);
    if let Some(properties) = properties {
        OF_SOURCE.iter().for_each(|field| _ = properties.remove(*field));
    }
}

/// Adds to the schema of inputs that each may be a resource itself.
fn or_resources(inputs: &mut schemars::Schema) {
    let text = serde_json::json!({"type": "string"});
    let resource = serde_json::json!({
        "description": "A resource as it stands.",
        "type": "object",
        "properties": {"apiVersion": text, "kind": text},
        "required": ["apiVersion", "kind"],
        "additionalProperties": true,
    });
    if let Some(items) = inputs.pointer_mut("/items") {
        *items = serde_json::json!({"anyOf": [items.take(), resource]});
    }
}

/// Adds the names of the sides in git to the schema of who wins.
fn or_ours_and_theirs(who: &mut schemars::Schema) {
    let words = [("Dest stays: yours.", "ours"), ("Updated wins: upstream's.", "theirs")];
    let words = words.map(|(about, name)| serde_json::json!({"description": about, "type": "string", "enum": [name]}));
    let variants = ["/anyOf/0/oneOf", "/oneOf"].into_iter().find(|at| who.pointer(at).is_some());
    let variants = variants.and_then(|at| who.pointer_mut(at)).and_then(serde_json::Value::as_array_mut);
    if let Some(variants) = variants {
        variants.extend(words);
    }
}

/// The JSON schema of the functionConfig for editors, without the words of OpenAPI.
pub fn json_schema() -> schemars::Schema {
    let settings = schemars::generate::SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let settings = settings.with_transform(schemars::transform::RecursiveTransform(|schema: &mut schemars::Schema| {
        for word in ["nullable", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"] {
            schema.remove(word);
        }
    }));
    let mut schema = settings.into_generator().into_root_schema_for::<Merge>();
    checks::say(&mut schema);
    schema
}

/// The JSON schema of the functionConfig in the dialect of OpenAPI 3.0, derived from the types above.
pub fn openapi_schema() -> schemars::Schema {
    let mut settings = schemars::generate::SchemaSettings::openapi3();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<Merge>();
    checks::say(&mut schema);
    schema
}
