//! The functionConfig: the form that users write, and the form that the program works with.
//!
//! Users write a [`Merge`], a set of types with a derived JSON schema. The program works with a [`Config`], which cannot say anything
//! impossible. A ConfigMap has the same settings as strings, for `kpt fn eval -- mode=…`. The reader guesses nothing: any field or value
//! that it does not know is an error. The error names the field, quotes what was written and says what is allowed.

mod data;
mod deserialize;

use std::collections::BTreeMap;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::decision::{Decision, Decisions, Verdict};
use crate::name::Name;
use crate::target::{Field, Target};
use deserialize::from_node;
pub(crate) use deserialize::one_of;
use krm_merge::file_path;
use krm_merge::limit::{Asked, Budget, Kind as Written, Limit};
pub use krm_merge::mode::Mode;
use krm_merge::path::PathPattern;
use krm_merge::policy::{ConflictLevel, NewElements, OnConflict, Policy, Renames};
use krm_merge::rules::Rules;
use krm_merge::schema::{Inference, ListKind, ListRule, NoTypes, Types};
use krm_merge::sides::{Side, Sides};
use krm_merge::tree::Pick;
use krm_merge::yaml::{Error, NodeRef};

/// The group and version of the functionConfig.
pub const API_VERSION: &str = "krm-merge.dev/v1alpha1";
/// The kind of the functionConfig.
pub const KIND: &str = "Merge";

/// A part that resources play in a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The resources that are merged into dest, in TwoWay and Strategic.
    Source,
    /// The common earlier state of dest and updated, in ThreeWay.
    Original,
    /// The new state of original, in ThreeWay.
    Updated,
}

impl Role {
    /// Its name, in the functionConfig and as the value of `config.kubernetes.io/merge-source`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Original => "original",
            Self::Updated => "updated",
        }
    }

    /// The roles that a mode has besides dest.
    pub fn of(mode: Mode) -> &'static [Self] {
        match mode {
            Mode::TwoWay | Mode::Strategic => &[Self::Source],
            Mode::ThreeWay => &[Self::Original, Self::Updated],
        }
    }
}

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
    spec: Spec,
}

/// What is merged, and how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Spec {
    /// How resources are merged. Required.
    #[schemars(with = "Mode")]
    mode: Option<Mode>,
    /// TwoWay and Strategic: what is merged into the other items. Default: the items with the annotation
    /// `config.kubernetes.io/merge-source: source` (or `patch`).
    #[schemars(length(min = 1))]
    source: Option<Vec<WrittenInput>>,
    /// ThreeWay: the state that both sides come from. Default: the items with the annotation `config.kubernetes.io/merge-source: original`.
    #[schemars(length(min = 1), transform = without_target)]
    original: Option<Vec<WrittenInput>>,
    /// ThreeWay: the new state of original. Default: the items with the annotation `config.kubernetes.io/merge-source: updated`.
    #[schemars(length(min = 1), transform = without_target)]
    updated: Option<Vec<WrittenInput>>,
    /// ThreeWay: who wins if dest and updated both changed something. Default `TakeUpdated`.
    on_conflict: Option<OnConflict>,
    /// ThreeWay: who wins at some places of some resources. The first rule that fits decides. If no rule fits, `onConflict` decides.
    #[schemars(length(min = 1))]
    rules: Option<Vec<WrittenDecision>>,
    /// ThreeWay: how large the parts are that only one side may change. Default `Line`.
    conflict_level: Option<ConflictLevel>,
    /// ThreeWay: whether a resource that has another name or namespace on a side is found again. Default `Follow`.
    renames: Option<Renames>,
    /// Where new elements of a merged list go. Default `Append`.
    new_elements: Option<NewElements>,
    /// Whether lists of unknown types merge by the first of mountPath, devicePath, ip, type, topologyKey, name and containerPort that all
    /// their elements have. Default `true` in TwoWay and ThreeWay, `false` in Strategic.
    infer_merge_keys: Option<bool>,
    /// How lists merge, ahead of every schema.
    merge_keys: Option<Vec<WrittenRule>>,
    /// An OpenAPI v2 document with the merge metadata of further types: `definitions` with `x-kubernetes-group-version-kind`.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    openapi: Option<IgnoredAny>,
    /// How many bytes of new text and results a run may write, as `64Mi`, `1Gi` or a number. Default: 20 times the input, and at least
    /// `32Mi`.
    #[schemars(extend("x-kubernetes-int-or-string" = true))]
    max_output: Option<Size>,
}

/// A number of bytes, as Kubernetes writes quantities.
#[derive(Debug)]
struct Size(Asked);

/// The description of a valid size, for error messages.
const SIZE: &str = "a number of bytes, as `64Mi`, `1Gi` or `1048576`";

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

/// Removes `target` from the schema of inputs that cannot have one. Both kinds of inputs share one Rust type, because the message that
/// `target` is not allowed here helps more than the message that it is unknown.
fn without_target(inputs: &mut schemars::Schema) {
    let properties = inputs.pointer_mut("/items/properties").and_then(serde_json::Value::as_object_mut);
    if let Some(properties) = properties {
        properties.remove("target");
    }
}

/// Where resources come from: exactly one of `resources`, `yaml` and `path`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "Input")]
struct WrittenInput {
    /// Resources as objects.
    #[schemars(with = "Option<Vec<BTreeMap<String, serde_json::Value>>>")]
    resources: Option<Vec<IgnoredAny>>,
    /// One or more YAML documents as text; their comments are merged, too.
    yaml: Option<String>,
    /// The items whose path is this file or lies below this folder.
    #[schemars(length(min = 1))]
    path: Option<String>,
    /// With `path`: whether these items stay in the output. Default `true`.
    keep: Option<bool>,
    /// Which dest items a source is applied to, instead of the items with its identity. An item must match all fields that are given.
    /// Group, version, kind, name and namespace are regular expressions for the whole value.
    target: Option<WrittenTarget>,
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
    pub label_selector: Option<String>,
    /// A selector for annotations, in the same form.
    pub annotation_selector: Option<String>,
}

/// Who wins the conflicts at some places of some resources.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "Rule")]
struct WrittenDecision {
    /// The resources, as they are in dest. A resource that dest deleted is selected as it is in updated. Default: all.
    target: Option<WrittenTarget>,
    /// The field, with everything below it, as messages and results write it: `spec.replicas`,
    /// `spec.template.spec.containers[name=app].image`, `metadata.annotations["example.com/a"]`. `*` stands for one field, `[*]` for all
    /// elements. Default: everything, including the resource as a whole.
    #[schemars(length(min = 1))]
    path: Option<String>,
    /// Who wins.
    #[schemars(with = "Take")]
    take: Option<Take>,
    /// The values for which the rule was made. If a side has another value, the rule decides nothing.
    when: Option<WrittenWhen>,
}

/// The values that the sides must have at `path`, or the rule decides nothing. A side that is left out may have any value; `null` means
/// that there is no value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "When", extend("minProperties" = 1))]
struct WrittenWhen {
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
enum Take {
    /// Dest.
    Dest,
    /// Updated.
    Updated,
    /// Nobody: nothing is merged. A person decides first.
    Fail,
}

impl Take {
    fn policy(self) -> OnConflict {
        match self {
            Self::Dest => OnConflict::KeepDest,
            Self::Updated => OnConflict::TakeUpdated,
            Self::Fail => OnConflict::Fail,
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

/// The functionConfig, in the form that the program works with.
#[derive(Debug)]
pub struct Config<'a> {
    /// The mode, with its inputs and settings.
    pub task: Task<'a>,
    /// Where new elements of a list go.
    pub new_elements: NewElements,
    /// The user's rules for lists; `types` has them, too.
    pub merge_keys: Vec<NamedRule>,
    /// Whether lists without a schema merge by their elements; `types` has it, too.
    pub inference: Inference,
    /// The known types with their schemas, and the user's rules for lists.
    pub types: Types<'a>,
    /// Selects the items for sources that a host gives besides the functionConfig. `None`: each source applies to the item with its
    /// identity.
    pub target_of_given: Option<Rc<Target>>,
    /// How much a run may write. Until more input is added, its input is the text that contains the functionConfig.
    pub limit: Limit,
}

/// The mode of a merge, with its inputs and with the settings that only this mode has. If an input is `None`, annotated items play the
/// role, or resources that the host gives.
#[derive(Debug)]
pub enum Task<'a> {
    /// TwoWay.
    Overlay {
        /// The resources that are merged into dest.
        source: Option<Vec<Input<'a>>>,
    },
    /// ThreeWay.
    Upgrade {
        /// The common earlier state of updated and dest.
        original: Option<Vec<Input<'a>>>,
        /// The new state of original.
        updated: Option<Vec<Input<'a>>>,
        /// How to handle a conflict that no rule fits.
        on_conflict: Verdict,
        /// The rules that say who wins at some places of some resources.
        rules: Vec<Decision<'a>>,
        /// How large the parts are that only one side may change.
        conflict_level: ConflictLevel,
        /// Whether a resource is found again under another name.
        renames: Renames,
    },
    /// Strategic.
    Patch {
        /// The patches.
        source: Option<Vec<Input<'a>>>,
    },
}

/// The settings that all modes have.
#[derive(Debug, Default)]
pub struct Settings<'a> {
    /// Where new elements of a list go.
    pub new_elements: NewElements,
    /// Whether lists of unknown types merge by inferred keys; if the user does not say it, the mode decides.
    pub infer_merge_keys: Option<bool>,
    /// The user's rules for lists.
    pub merge_keys: Vec<NamedRule>,
    /// An OpenAPI document with further types.
    pub openapi: Option<(Name, NodeRef<'a>)>,
    /// How much a run may write.
    pub limit: Limit,
}

/// Settings that a functionConfig may leave out, because the caller already knows them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// The mode; `None` if the functionConfig must name it.
    pub mode: Option<Mode>,
    /// Who wins a conflict if the functionConfig does not say it.
    pub on_conflict: OnConflict,
    /// The OpenAPI document, if `spec.openapi` only names its file.
    pub openapi: Option<NodeRef<'a>>,
}

/// A rule of the user for a list.
#[derive(Clone, Debug)]
pub struct NamedRule {
    /// The name by which the user knows it.
    pub name: Name,
    /// The rule.
    pub rule: ListRule,
}

/// One input of a role.
#[derive(Debug)]
pub struct Input<'a> {
    /// Its field, for messages: `spec.source[0].path`.
    pub field: String,
    /// The node in the functionConfig.
    pub node: NodeRef<'a>,
    /// The source of its resources.
    pub from: From<'a>,
    /// The items to which its resources are applied; `None` for the items with their identity.
    pub target: Option<Rc<Target>>,
}

/// The source of the resources of an input.
#[derive(Debug)]
pub enum From<'a> {
    /// These nodes of the functionConfig.
    Resources(Vec<NodeRef<'a>>),
    /// YAML text.
    Yaml(&'a str),
    /// The items in this file or folder.
    Path {
        /// The file or folder, without `./` and without a `/` at the end.
        path: String,
        /// Whether the items stay in the output.
        keep: Keep,
    },
}

/// Whether the items that a `path` selects stay in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// They stay as they are: the folder is part of the package.
    Stay,
    /// They are consumed.
    Consumed,
}

impl<'a> Task<'a> {
    /// The task of a mode, with a default for everything else.
    pub fn of(mode: Mode) -> Self {
        match mode {
            Mode::TwoWay => Self::Overlay { source: None },
            Mode::ThreeWay => Self::Upgrade {
                original: None,
                updated: None,
                on_conflict: Verdict::default(),
                rules: Vec::new(),
                conflict_level: ConflictLevel::default(),
                renames: Renames::default(),
            },
            Mode::Strategic => Self::Patch { source: None },
        }
    }

    /// Its mode.
    pub fn mode(&self) -> Mode {
        match self {
            Self::Overlay { .. } => Mode::TwoWay,
            Self::Upgrade { .. } => Mode::ThreeWay,
            Self::Patch { .. } => Mode::Strategic,
        }
    }

    /// The roles that the functionConfig itself fills.
    pub fn inputs(&self) -> impl Iterator<Item = (Role, &[Input<'a>])> {
        let roles = match self {
            Self::Overlay { source } | Self::Patch { source } => {
                [(Role::Source, source.as_deref()), (Role::Updated, None)]
            }
            Self::Upgrade { original, updated, .. } => {
                [(Role::Original, original.as_deref()), (Role::Updated, updated.as_deref())]
            }
        };
        roles.into_iter().filter_map(|(role, inputs)| Some((role, inputs?)))
    }

    /// The rules that say who wins a conflict, with `onConflict` for the conflicts that no rule fits.
    pub fn decisions(&self) -> Decisions<'_> {
        match self {
            Self::Upgrade { rules, on_conflict, .. } => Decisions::new(rules, *on_conflict),
            // These modes have no conflicts.
            Self::Overlay { .. } | Self::Patch { .. } => Decisions::new(&[], Verdict::default()),
        }
    }

    /// How to handle a conflict of a file that one side broke. No rule can look into the file, so a person decides if any rule has
    /// `take: Fail`.
    pub fn on_broken(&self) -> Verdict {
        match self {
            Self::Upgrade { rules, on_conflict: Verdict::By(_), .. }
                if rules.iter().any(|rule| rule.take == OnConflict::Fail) =>
            {
                OnConflict::Fail.into()
            }
            _ => self.on_conflict(),
        }
    }

    /// The rules that pick a side for some conflicts of a resource.
    pub fn picking<'t>(&'t self, resource: NodeRef<'_>) -> impl Iterator<Item = &'t Decision<'a>> {
        let rules = match self {
            Self::Upgrade { rules, .. } => &rules[..],
            Self::Overlay { .. } | Self::Patch { .. } => &[],
        };
        let is_meant = move |rule: &&Decision<'a>| rule.target.as_ref().is_none_or(|target| target.selects(resource));
        rules.iter().filter(|rule| rule.take != OnConflict::Fail).filter(is_meant)
    }

    /// The user's choices that steer a merge, except who wins a conflict.
    pub fn policy(&self, new_elements: NewElements) -> Policy {
        let (conflict_level, renames) = match self {
            Self::Upgrade { conflict_level, renames, .. } => (*conflict_level, *renames),
            // These modes have no conflicts, and a source names the resource that it is for.
            Self::Overlay { .. } | Self::Patch { .. } => (ConflictLevel::default(), Renames::Ignore),
        };
        Policy { new_elements, conflict_level, renames }
    }

    /// How to handle a conflict that no rule fits.
    pub fn on_conflict(&self) -> Verdict {
        match self {
            Self::Upgrade { on_conflict, .. } => *on_conflict,
            // These modes have no conflicts.
            Self::Overlay { .. } | Self::Patch { .. } => Verdict::default(),
        }
    }
}

impl<'a> Config<'a> {
    /// Makes a config of a task and the settings. The types come from the OpenAPI document and the user's rules.
    ///
    /// # Errors
    /// An OpenAPI document without types, with the place of the fault.
    pub fn new(task: Task<'a>, settings: Settings<'a>) -> Result<Self, Error> {
        let Settings { new_elements, infer_merge_keys, merge_keys, openapi, limit } = settings;
        let is_patch = task.mode() == Mode::Strategic;
        let inference = if infer_merge_keys.unwrap_or(!is_patch) { Inference::On } else { Inference::Off };
        let mut types = Types::new(merge_keys.iter().map(|named| named.rule.clone()), inference);
        if let Some((name, document)) = openapi {
            types = types.with_openapi(document).map_err(|none| match none {
                NoTypes::NoDefinitions(at) => {
                    at.error(format!("{name} must have `definitions`, a map from names to schemas"))
                }
                NoTypes::NoResource(at) => at.error(format!(
                    "{} must have a definition with `x-kubernetes-group-version-kind`, which says of which resource it is",
                    name.of("definitions")
                )),
            })?;
        }
        Ok(Self { task, new_elements, merge_keys, inference, types, target_of_given: None, limit })
    }

    /// Its mode.
    pub fn mode(&self) -> Mode {
        self.task.mode()
    }

    /// This config, except that conflicts stay open if no rule decides them. The merge then writes the outcome of the side `pick`.
    #[must_use]
    pub fn left_open(mut self, pick: Pick) -> Self {
        if let Task::Upgrade { on_conflict, .. } = &mut self.task {
            *on_conflict = Verdict::Open(pick);
        }
        self
    }

    /// Whether a resource is found again under another name.
    pub fn renames(&self) -> Renames {
        self.policy().renames
    }

    /// The user's choices that steer a merge, except who wins a conflict.
    pub fn policy(&self) -> Policy {
        self.task.policy(self.new_elements)
    }

    /// The rules by which resources merge. `budget` says how much new text may still be written.
    pub fn rules<'r>(&'r self, budget: &'r Budget) -> Rules<'r> {
        Rules { types: &self.types, mode: self.mode(), policy: self.policy(), budget }
    }

    /// Reads a functionConfig.
    ///
    /// # Errors
    /// An error that names the field, quotes what was written and says what is allowed.
    pub fn read(node: NodeRef<'a>) -> Result<Self, Error> {
        Self::read_with(node, Given::default())
    }

    /// Reads a functionConfig that may leave out the settings in `given`.
    ///
    /// # Errors
    /// The errors of [`Config::read`].
    pub fn read_with(node: NodeRef<'a>, given: Given<'a>) -> Result<Self, Error> {
        if !node.is_map() {
            return Err(
                node.error(format!("`functionConfig` must be a map: a `{KIND}` of `{API_VERSION}`, or a ConfigMap"))
            );
        }
        check_size(node)?;
        let text = |key| node.get(key).and_then(NodeRef::as_str).unwrap_or_default();
        match (text("apiVersion"), text("kind")) {
            (API_VERSION, KIND) => read_merge(node, given),
            ("v1", "ConfigMap") => data::read(node),
            (version, kind) => {
                let at = if kind == KIND || kind == "ConfigMap" { node.get("apiVersion") } else { node.get("kind") };
                Err(at.unwrap_or(node).error(format!(
                    "`functionConfig` must be of kind `{KIND}` and apiVersion `{API_VERSION}`, or of kind `ConfigMap` and apiVersion `v1`, not \"{kind}\" of \"{version}\""
                )))
            }
        }
    }
}

/// Checks that a functionConfig is not too large to read: reading it writes out its aliases.
fn check_size(node: NodeRef<'_>) -> Result<(), Error> {
    let asked = ["spec", "data"].into_iter().find_map(|parent| node.at(&[parent, "maxOutput"])).map(NodeRef::string);
    let budget = Budget::new(limit(node, asked.and_then(Asked::parse), "spec.maxOutput"));
    if node.has_aliases() {
        budget.take(node.expanded_len());
    }
    budget.check(Written::FunctionConfig).map_err(|e| node.error(e.to_string()))
}

fn limit(node: NodeRef<'_>, asked: Option<Asked>, field: &'static str) -> Limit {
    Limit::new(node.document().source().len(), asked, field)
}

const MODES: [&str; 3] = ["TwoWay", "ThreeWay", "Strategic"];

fn read_merge<'a>(node: NodeRef<'a>, given: Given<'a>) -> Result<Config<'a>, Error> {
    let written: Merge = from_node(node, "functionConfig")?;
    let spec = written.spec;
    let spec_node = node.get("spec").unwrap_or(node);
    let Some(mode) = spec.mode.or(given.mode) else {
        return Err(spec_node.error(format!("`spec.mode` must be given: {}", one_of(&MODES))));
    };
    let read = |role: Role, inputs: Option<Vec<WrittenInput>>| {
        let Some(inputs) = inputs else { return Ok(None) };
        let at = spec_node.get(role.name()).unwrap_or(spec_node);
        check_role(mode, role, "spec", at)?;
        if inputs.is_empty() {
            return Err(at.error(format!("`spec.{}` must hold at least one input, or be left out", role.name())));
        }
        let inputs = inputs.into_iter().zip(at.elements()).enumerate();
        inputs
            .map(|(i, (written, node))| input(written, node, format!("spec.{}[{i}]", role.name())))
            .collect::<Result<_, _>>()
            .map(Some)
    };
    let source: Option<Vec<Input<'a>>> = read(Role::Source, spec.source)?;
    let (original, updated) = (read(Role::Original, spec.original)?, read(Role::Updated, spec.updated)?);
    check_three_way(mode, "spec", "ThreeWay", |name| spec_node.get(name).filter(|given| !given.is_null()))?;
    let task = match mode {
        Mode::TwoWay => Task::Overlay { source },
        Mode::ThreeWay => Task::Upgrade {
            original,
            updated,
            on_conflict: spec.on_conflict.unwrap_or(given.on_conflict).into(),
            rules: decisions(spec.rules, spec_node)?,
            conflict_level: spec.conflict_level.unwrap_or_default(),
            renames: spec.renames.unwrap_or_default(),
        },
        Mode::Strategic => Task::Patch { source },
    };
    let rules = spec_node.get("mergeKeys").into_iter().flat_map(NodeRef::elements);
    let rules = spec.merge_keys.unwrap_or_default().into_iter().zip(rules).enumerate();
    let merge_keys = rules.map(|(i, (rule, at))| {
        let in_rule = |wrong: Wrong| at.get(wrong.part).unwrap_or(at).error(wrong.message);
        NamedRule::new(Name::Field(format!("spec.mergeKeys[{i}]")), rule).map_err(in_rule)
    });
    let openapi = given.openapi.or(spec_node.get("openapi").filter(|_| spec.openapi.is_some()));
    let settings = Settings {
        new_elements: spec.new_elements.unwrap_or_default(),
        infer_merge_keys: spec.infer_merge_keys,
        merge_keys: merge_keys.collect::<Result<_, _>>()?,
        openapi: openapi.map(|at| (Name::Field("spec.openapi".to_owned()), at)),
        limit: limit(node, spec.max_output.map(|size| size.0), "spec.maxOutput"),
    };
    Config::new(task, settings)
}

/// The fields that only ThreeWay has, each with the reason.
const OF_THREE_WAY: [(&str, &str); 4] = [
    ("onConflict", "has conflicts"),
    ("rules", "has conflicts"),
    ("conflictLevel", "has conflicts"),
    ("renames", "follows renames"),
];

/// Reads `spec.rules`, which say who wins the conflicts at some places.
fn decisions<'a>(written: Option<Vec<WrittenDecision>>, spec: NodeRef<'a>) -> Result<Vec<Decision<'a>>, Error> {
    let Some((written, rules)) = written.zip(spec.get("rules")) else { return Ok(Vec::new()) };
    if written.is_empty() {
        return Err(rules.error("`spec.rules` must hold at least one rule, or be left out"));
    }
    let decision = |(i, (written, node)): (usize, (WrittenDecision, NodeRef<'a>))| {
        let name = Name::Field(format!("spec.rules[{i}]"));
        let take = written.take.ok_or_else(|| {
            node.error(format!("{} must be given: {}", name.of("take"), one_of(&["Dest", "Updated", "Fail"])))
        })?;
        let path = written.path.map(|path| {
            let at = node.get("path").unwrap_or(node);
            let wrong = |why| {
                at.error(format!("{} must be a path, as `spec.replicas`, not \"{path}\": {why}", name.of("path")))
            };
            PathPattern::parse(&path).map_err(wrong)
        });
        let target = match (node.get("target"), written.target) {
            (Some(at), Some(written)) => Some(target_at(at, written, Name::Field(format!("spec.rules[{i}].target")))?),
            _ => None,
        };
        let when = node.get("when").filter(|_| written.when.is_some());
        if let Some(at) = when.filter(|at| at.fields().next().is_none()) {
            let sides = one_of(&Side::ALL.map(Side::name));
            return Err(at.error(format!("{} must have a value of {sides}", name.of("when"))));
        }
        let when = Sides::of(|side| when.and_then(|when| when.get(side.name())));
        Ok(Decision { path: path.transpose()?, target, take: take.policy(), when, name })
    };
    written.into_iter().zip(rules.elements()).enumerate().map(decision).collect()
}

/// The target that the user wrote at a place; errors point into it.
fn target_at(at: NodeRef<'_>, written: WrittenTarget, name: Name) -> Result<Target, Error> {
    let in_target = |wrong: Wrong| at.get(wrong.part).unwrap_or(at).error(wrong.message);
    target(name, written, shown_fields(at)).map_err(in_target)
}

/// Refuses the fields of ThreeWay in the other modes. `three_way` is the name of ThreeWay in messages.
fn check_three_way<'a>(
    mode: Mode,
    parent: &str,
    three_way: &str,
    given: impl Fn(&str) -> Option<NodeRef<'a>>,
) -> Result<(), Error> {
    let found = OF_THREE_WAY.iter().find_map(|(name, why)| Some((name, why, given(name)?)));
    match found.filter(|_| mode != Mode::ThreeWay) {
        Some((name, why, at)) => {
            Err(at.error(format!("`{parent}.{name}` must not be given: only mode `{three_way}` {why}")))
        }
        None => Ok(()),
    }
}

fn check_role(mode: Mode, role: Role, parent: &str, at: NodeRef<'_>) -> Result<(), Error> {
    if Role::of(mode).contains(&role) {
        return Ok(());
    }
    let names: Vec<&str> = Role::of(mode).iter().map(|r| r.name()).collect();
    Err(at.error(format!(
        "`{parent}.{}` must not be given: mode `{mode:?}` has {}",
        role.name(),
        one_of(&names).replace(" or ", " and ")
    )))
}

fn input<'a>(input: WrittenInput, node: NodeRef<'a>, field: String) -> Result<Input<'a>, Error> {
    let given =
        [("resources", input.resources.is_some()), ("yaml", input.yaml.is_some()), ("path", input.path.is_some())];
    let given: Vec<&str> = given.iter().filter(|g| g.1).map(|g| g.0).collect();
    let [kind] = given.as_slice() else {
        let found = if given.is_empty() {
            "none".into()
        } else {
            given.iter().map(|g| format!("`{g}`")).collect::<Vec<_>>().join(" and ")
        };
        return Err(
            node.error(format!("`{field}` must have exactly one of `resources`, `yaml` and `path`, not {found}"))
        );
    };
    if let Some(at) = node.get("keep").filter(|_| input.keep.is_some() && *kind != "path") {
        return Err(at.error(format!("`{field}.keep` must not be given without `path`")));
    }
    if let Some(at) = node.get("target").filter(|_| !field.starts_with("spec.source")) {
        return Err(at.error(format!("`{field}.target` must not be given: only a source has a target")));
    }
    let target = match (node.get("target"), input.target) {
        (Some(at), Some(written)) => Some(Rc::new(target_at(at, written, Name::Field(format!("{field}.target")))?)),
        _ => None,
    };
    let value = node.get(kind).unwrap_or(node);
    let field = format!("{field}.{kind}");
    let from = match *kind {
        "resources" => {
            if let Some(other) = value.elements().find(|e| !e.is_map()) {
                return Err(other.error(format!("`{field}` must hold maps only")));
            }
            From::Resources(value.elements().collect())
        }
        "yaml" => From::Yaml(value.string()),
        _ => From::Path {
            path: clean_path(value, &field)?,
            keep: if input.keep == Some(false) { Keep::Consumed } else { Keep::Stay },
        },
    };
    Ok(Input { field, node: value, from, target })
}

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

/// The fields of a target as they are written, for messages.
fn shown_fields(target: NodeRef<'_>) -> Vec<String> {
    let given = target.fields().filter(|(_, value)| !value.is_null());
    given.map(|(key, value)| format!("`{}: {}`", key.string(), value.string())).collect()
}

/// The target that the user wrote, checked. `given` holds its fields as the user wrote them.
///
/// # Errors
/// The target has no field; or a pattern or a selector is invalid.
pub fn target(name: Name, written: WrittenTarget, given: Vec<String>) -> Result<Target, Wrong> {
    if given.is_empty() {
        return Err(Wrong::whole(format!(
            "{name} must have at least one field: without any it would select every item"
        )));
    }
    let mut target = Target::new(name.clone(), given.join(", "));
    let patterns = [
        ("group", Field::Group, written.group),
        ("version", Field::Version, written.version),
        ("kind", Field::Kind, written.kind),
        ("name", Field::Name, written.name),
        ("namespace", Field::Namespace, written.namespace),
    ];
    for (part, of, pattern) in patterns {
        let Some(pattern) = pattern else { continue };
        target = target.with_pattern(of, &pattern).map_err(|e| {
            Wrong::of(part, format!("{} must be a regular expression, not \"{pattern}\": {e}", name.of(part)))
        })?;
    }
    let not_selector = |part: &'static str, written: &str, e: String| {
        let name = name.of(part);
        Wrong::of(part, format!("{name} must be a selector, as `app=web,tier in (a, b)`, not \"{written}\": {e}"))
    };
    if let Some(selector) = written.label_selector {
        target = target.with_labels(&selector).map_err(|e| not_selector("labelSelector", &selector, e))?;
    }
    if let Some(selector) = written.annotation_selector {
        target = target.with_annotations(&selector).map_err(|e| not_selector("annotationSelector", &selector, e))?;
    }
    Ok(target)
}

/// A path in the form of annotations: relative to the package, with `/`, without `.` and without `/` at the end.
fn clean_path(node: NodeRef<'_>, field: &str) -> Result<String, Error> {
    let path = node.string();
    let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
    if !file_path::is_within(path) {
        return Err(node.error(format!("`{field}` must be a path within the package, without `..`, not \"{path}\"")));
    }
    if parts.is_empty() {
        return Err(node.error(format!("`{field}` must name a file or a folder below the package, not \"{path}\"")));
    }
    Ok(parts.join("/"))
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

/// The JSON schema of the functionConfig in the dialect of OpenAPI 3.0, derived from the types above.
pub fn openapi_schema() -> schemars::Schema {
    let mut settings = schemars::generate::SchemaSettings::openapi3();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.into_generator().into_root_schema_for::<Merge>()
}

/// The URL of the repository.
const HOME: &str = env!("CARGO_PKG_REPOSITORY");

/// The packages in examples/, without the prefix that all of them share.
const EXAMPLES: [&str; 8] = [
    "inline",
    "kustomize-legacy-plugin",
    "kustomize-transformer",
    "strategic",
    "strategic-crd",
    "three-way",
    "three-way-conflict",
    "two-way",
];

/// The KRMFunctionDefinition of the function: what `functions/merge/function.yaml` holds.
///
/// It has all fields that the KRM functions registry requires of a definition, as its schema lists them.
pub fn definition() -> serde_json::Value {
    let page = |folder: &str| format!("{HOME}/blob/main/{folder}/README.md");
    serde_json::json!({
        "apiVersion": "config.kubernetes.io/v1alpha1",
        "kind": "KRMFunctionDefinition",
        "metadata": {"name": "merge"},
        "spec": {
            "group": "krm-merge.dev",
            "names": {"kind": KIND},
            "description": "Merges Kubernetes resources: two-way, three-way, or by strategic merge patch.",
            "publisher": "krm-merge.dev",
            "home": HOME,
            "maintainers": ["krm-merge maintainers"],
            "tags": ["mutator"],
            "versions": [{
                "name": "v1alpha1",
                // A second run is an error if it deletes what the first run deleted, or selects sides that the first run consumed.
                "idempotent": false,
                "usage": page("functions/merge"),
                "examples": EXAMPLES.map(|name| page(&format!("examples/merge-{name}"))),
                "license": "Apache 2.0",
                "runtime": {"container": {
                    "image": "ghcr.io/krm-merge/krm-merge",
                    "requireNetwork": false,
                    "requireStorageMount": false,
                }},
                "schema": {"openAPIV3Schema": openapi_schema()},
            }],
        },
    })
}
