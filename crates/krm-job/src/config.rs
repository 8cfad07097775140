//! The functionConfig: the form that users write, and the form that the program works with.
//!
//! Users write a [`Merge`], a set of types with a derived JSON schema. The program works with a [`Config`], which cannot say anything
//! impossible. A ConfigMap has the same settings as strings, for `kpt fn eval -- mode=…`. The reader guesses nothing: any field or value
//! that it does not know is an error. The error names the field, quotes what was written and says what is allowed.

mod checked;
mod checks;
mod data;
mod definition;
mod deserialize;
mod edits;
mod merge;
mod written;

use std::rc::Rc;
use std::sync::Arc;

use krm_merge_core::policy::{ConflictLevel, NewElements, OnConflict, Policy, Renames, Treatment};
use krm_package::resource::{Identity, Origin, Resource};
use krm_package::rules::Rules;
pub use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, ListRule, NoTypes, Types};
use krm_tree::limit::{Asked, Budget, Kind, Limit};
use krm_yaml::{Error, NodeRef};

use crate::aim::Aim;
use crate::decision::{Decision, Decisions};
use crate::glob::Glob;
use crate::name::Name;
use crate::role::Role;
pub use checked::{Wrong, target};
pub use definition::definition;
pub use deserialize::one_of;
pub use edits::{Action, EditInput, are_edits, edits_in};
pub use written::{Merge, WrittenRule, WrittenTarget, json_schema, openapi_schema};

/// The group and version of the functionConfig.
pub const API_VERSION: &str = "krm-merge.dev/v1alpha1";
/// The kind of the functionConfig.
pub const KIND: &str = "Merge";

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
    /// The items for sources that a host gives besides the functionConfig. `None`: each source is for the item with its identity.
    pub aim_of_given: Option<Rc<Aim>>,
    /// The identity of the functionConfig itself, which may be an item of the package.
    pub own: Option<Identity<'a>>,
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
        /// Who wins a conflict that no rule fits.
        on_conflict: OnConflict,
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
    /// The items that its resources are for.
    pub aim: Rc<Aim>,
}

/// The source of the resources of an input.
#[derive(Debug)]
pub enum From<'a> {
    /// These nodes of the functionConfig.
    Resources(Vec<NodeRef<'a>>),
    /// The input is a resource itself.
    Itself(NodeRef<'a>),
    /// YAML text.
    Yaml(&'a str),
    /// Edits by path.
    Edits(Vec<EditInput<'a>>),
    /// The items in files or folders.
    Path {
        /// The files or folders.
        path: Glob,
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
                on_conflict: OnConflict::default(),
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

    /// The rules that say who wins a conflict.
    pub fn rules(&self) -> &[Decision<'a>] {
        match self {
            Self::Upgrade { rules, .. } => rules,
            // These modes have no conflicts.
            Self::Overlay { .. } | Self::Patch { .. } => &[],
        }
    }

    /// The rules, with `otherwise` for the conflicts that no rule fits.
    pub fn decisions(&self, otherwise: Treatment) -> Decisions<'_> {
        Decisions::new(self.rules(), otherwise)
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

    /// Who wins a conflict that no rule fits.
    pub fn on_conflict(&self) -> OnConflict {
        match self {
            Self::Upgrade { on_conflict, .. } => *on_conflict,
            // These modes have no conflicts.
            Self::Overlay { .. } | Self::Patch { .. } => OnConflict::default(),
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
        Ok(Self { task, new_elements, merge_keys, inference, types, aim_of_given: None, own: None, limit })
    }

    /// Its mode.
    pub fn mode(&self) -> Mode {
        self.task.mode()
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
        let own = Resource::read(node, Origin::Field("functionConfig".to_owned())).identity;
        let known = |config: Self| Self { own, ..config };
        match (text("apiVersion"), text("kind")) {
            (API_VERSION, KIND) => merge::read(node, given).map(known),
            ("v1", "ConfigMap") => data::read(node).map(known),
            (version, kind) => {
                let at = if kind == KIND || kind == "ConfigMap" { node.get("apiVersion") } else { node.get("kind") };
                let but = match (version, kind) {
                    ("", "") => ", but has neither".to_owned(),
                    ("", _) => ", but has no apiVersion".to_owned(),
                    (_, "") => ", but has no kind".to_owned(),
                    _ => format!(", not \"{kind}\" of \"{version}\""),
                };
                Err(at.unwrap_or(node).error(format!(
                    "`functionConfig` must be of kind `{KIND}` and apiVersion `{API_VERSION}`, or of kind `ConfigMap` and apiVersion `v1`{but}"
                )))
            }
        }
    }
}

/// The path of a file with the OpenAPI document, if a functionConfig has one instead of the document.
pub fn openapi_path(root: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let openapi = root.at(&["spec", "openapi"])?;
    let path = openapi.get("path").filter(|path| path.as_str().is_some())?;
    (openapi.fields().count() == 1).then_some(path)
}

/// Whether a functionConfig says who wins a conflict that no rule fits. A `Merge` says it in `spec`, a ConfigMap in `data`.
pub fn says_who_wins(root: NodeRef<'_>) -> bool {
    ["spec", "data"].iter().any(|of| root.at(&[of, "onConflict"]).is_some())
}

/// Checks that a functionConfig is not too large to read: reading it writes out its aliases.
fn check_size(node: NodeRef<'_>) -> Result<(), Error> {
    let asked = ["spec", "data"].into_iter().find_map(|parent| node.at(&[parent, "maxOutput"])).map(NodeRef::string);
    let budget = Budget::new(limit(node, asked.and_then(Asked::parse), "spec.maxOutput"));
    if node.has_aliases() {
        budget.take(node.expanded_len());
    }
    budget.check(Kind::FunctionConfig).map_err(|e| node.error(e.to_string()))
}

fn limit(node: NodeRef<'_>, asked: Option<Asked>, field: &'static str) -> Limit {
    Limit::new(node.document().source().len(), asked, field)
}

/// The fields that only ThreeWay has, each with the reason.
const OF_THREE_WAY: [(&str, &str); 4] = [
    ("onConflict", "has conflicts"),
    ("rules", "has conflicts"),
    ("conflictLevel", "has conflicts"),
    ("renames", "follows renames"),
];

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

/// A path in the package, which may have wildcards.
fn path_at(node: NodeRef<'_>, field: &str) -> Result<Glob, Error> {
    let path = node.string();
    Glob::new(path).map_err(|why| node.error(format!("`{field}` must be a path in the package, not \"{path}\": {why}")))
}

/// One folder of the package, in the form of annotations.
fn folder_at(node: NodeRef<'_>, field: &str) -> Result<Arc<str>, Error> {
    let path = path_at(node, field)?;
    if path.has_wildcards() {
        let path = path.as_str();
        return Err(node.error(format!("`{field}` must be one folder, without `*`, `?`, `[` and `\\`, not \"{path}\"")));
    }
    Ok(path.as_str().into())
}
