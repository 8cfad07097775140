//! [`merge`]: merges packages whose files are texts.
//!
//! It is a host of the function like the plugin: it runs a [`Job`] on the resources of the texts, and makes texts of files of what it writes. A
//! conflict that nobody decided leaves dest's value in the result, so that one sees the rest of the merge meanwhile.
//!
//! Only resources merge. The plugin also merges files that hold none, such as the values of a chart; here dest's stays, and a warning says so.

use std::collections::BTreeSet;

use krm_merge::packages::{self, PackageSide};
use krm_merge::resource::{Identity, is_kustomization};
use krm_merge::{Error, FileChange, Package, Pick};
use krm_merge_core::policy::{Settled, Treatment};
use krm_merge_core::refine::names_document;
use krm_merge_function::config::{Config, Given, Mode, Role, Settings, Task};
use krm_merge_function::decision::ConflictView;
use krm_merge_function::function::{Job, Open, Texts};
use krm_merge_function::recorded::Case;
use krm_merge_function::results::{self, Clash, Outcome, REASON, ResourceRef, Severity};
use krm_tree::limit::Budget;
use krm_tree::sides::{Side, Sides};
use krm_tree::splice;
use krm_tree::tree::Tree;
use krm_yaml::{Document, NodeRef};
use serde::{Deserialize, Serialize};

use crate::decide::ConflictCase;
use crate::texts::{Files, FilesByPath};

/// What is merged, and how.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MergeInput {
    /// What is merged into.
    pub dest: Files,
    /// The common earlier state of dest and updated, in a three-way merge.
    #[serde(default)]
    pub original: Option<Files>,
    /// The new state of original.
    #[serde(default)]
    pub updated: Option<Files>,
    /// The source of a two-way merge, or the strategic merge patch.
    #[serde(default)]
    pub source: Option<Files>,
    /// The functionConfig, as YAML. It may leave out the mode.
    #[serde(default)]
    pub function_config: Option<String>,
    /// The mode, if the functionConfig does not name it: `TwoWay`, `ThreeWay` or `Strategic`.
    #[serde(default)]
    pub mode: Option<String>,
}

/// A merge, with the conflicts that someone may decide.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeOutput {
    /// Whether no result is an error. If one is, the files are dest's, as they came.
    pub passed: bool,
    /// The files of dest after the merge.
    pub files: FilesByPath,
    /// The files that change, in the order of their paths.
    pub changes: Vec<Change>,
    /// What happened, the most severe first; the conflicts are not among them.
    pub results: Vec<ToldResult>,
    /// The conflicts, also those that a rule decided.
    pub conflicts: Vec<ToldConflict>,
}

/// What happens to a file of dest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Change {
    /// It is new.
    Added {
        /// Its path.
        path: String,
    },
    /// It has another text.
    Changed {
        /// Its path.
        path: String,
    },
    /// It is at another path.
    Moved {
        /// The new path.
        path: String,
        /// The old path.
        from: String,
    },
    /// It goes.
    Removed {
        /// Its path.
        path: String,
    },
}

/// A result that is no conflict.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToldResult {
    /// How severe it is.
    pub severity: Severity,
    /// One line, without the place.
    pub message: String,
    /// What kind of result it is, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The resource that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceRef>,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
}

/// A place in a text of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The text: `dest`, `updated/web.yaml`, `functionConfig`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

/// A conflict, with the values of the sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToldConflict {
    /// What the sides did.
    pub what: String,
    /// Who won, or that nobody did.
    pub outcome: String,
    /// Whether someone must decide it.
    pub open: bool,
    /// Who won, if it is one side as it is: `dest` or `updated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<&'static str>,
    /// The resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceRef>,
    /// Where the field is in dest.
    #[serde(flatten)]
    pub place: Place,
    /// The field, elements by key; empty for the resource as a whole.
    pub path: String,
    /// Original's value as YAML, unless it is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// Updated's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// Dest's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dest: Option<String>,
    /// Whether the values are secret, so that nobody should see them.
    pub secret: bool,
    /// What a rule must name to decide it; `None` if no rule can decide it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<ConflictCase>,
}

/// Merges texts.
pub fn merge(input: &MergeInput) -> MergeOutput {
    merged(input).unwrap_or_else(|error| MergeOutput {
        files: input.dest.to_owned(),
        results: vec![told(*error, None)],
        ..MergeOutput::default()
    })
}

/// The name of the functionConfig in messages.
const CONFIG: &str = "functionConfig";

fn merged(input: &MergeInput) -> Result<MergeOutput, Box<Outcome>> {
    let mode = input.mode()?;
    let text = input.function_config.clone().unwrap_or_default();
    let unreadable = |error: krm_yaml::Error| Box::new(Outcome::unreadable(CONFIG, &error));
    let document = Document::parse(text).map_err(unreadable)?;
    let given = Given { mode: Some(mode), ..Given::default() };
    let mut config = match document.roots().find(|root| !root.is_null()) {
        Some(root) => Config::read_with(root, given),
        None => Config::new(Task::of(mode), Settings::default()),
    }
    .map_err(unreadable)?;
    let packages = Packages::read(input)?;
    let sides = packages.sides();
    config.limit = sides.iter().fold(config.limit, |limit, (_, side)| limit.with_input(side.size()));
    let (limit, treatment) = (config.limit, Treatment::from(config.task.on_conflict()));
    let given = Role::of(config.mode()).iter().map(|role| {
        let side = if *role == Role::Original { &sides.original } else { &sides.updated };
        // In a text alone, a user meant each document as a resource, so the function says what it lacks.
        let unnamed = side.unnamed().filter(|resource| resource.path.is_none());
        (*role, side.resources.iter().chain(unnamed).cloned().collect())
    });
    let texts = Texts::parse(&config)?;
    // A `Merge` says it in `spec`, a ConfigMap in `data`.
    let says_who_wins = |root: NodeRef<'_>| ["spec", "data"].iter().any(|of| root.at(&[of, "onConflict"]).is_some());
    let says_who_wins = document.roots().any(says_who_wins);
    let job = Job::new(sides.dest.resources.clone(), given.collect(), config, &texts)?;
    let job = job.beside(kustomizations(&sides));
    let open = job.merged()?;
    let budget = open.budget();
    let treatment = if says_who_wins { treatment } else { Treatment::Open(Pick::Dest) };
    let (written, mut outcomes) = open.write(treatment, &budget)?;
    let conflicts = conflicts(&open, &outcomes, &sides, &budget)?;
    let failed = outcomes.iter().any(|outcome| outcome.severity == Severity::Error);
    let changes = match failed {
        true => Vec::new(),
        false => packages::changes(&sides, &written, &Budget::new(limit)).map_err(|error| of_files(&error))?,
    };
    outcomes.extend(not_merged(input, &sides));
    results::finish(&mut outcomes);
    let results = outcomes.into_iter().filter(|outcome| outcome.clash.is_none());
    let results = results.map(|outcome| told(outcome, Some(&sides.dest))).collect();
    let named = changes.iter().map(Change::of).collect();
    let mut files = sides.dest.with(changes);
    let others = input.dest.by_path().into_iter().filter(|(path, _)| !may_hold_resources(path));
    files.extend(others.map(|(path, text)| (path.to_owned(), text.to_owned())));
    Ok(MergeOutput { passed: !failed, files, changes: named, results, conflicts })
}

impl MergeInput {
    /// The mode that the sides, or the user, call for.
    fn mode(&self) -> Result<Mode, Box<Outcome>> {
        match self.mode.as_deref() {
            Some("TwoWay") => Ok(Mode::TwoWay),
            Some("ThreeWay") => Ok(Mode::ThreeWay),
            Some("Strategic") => Ok(Mode::Strategic),
            Some(other) => Err(Box::new(Outcome::new(
                Severity::Error,
                format!("`mode` must be `TwoWay`, `ThreeWay` or `Strategic`, not \"{other}\""),
            ))),
            None if self.source.is_some() => Ok(Mode::TwoWay),
            None => Ok(Mode::ThreeWay),
        }
    }
}

/// The packages of the sides. A source stands in updated's place.
struct Packages {
    original: Package,
    updated: (&'static str, Package),
    dest: Package,
}

impl Packages {
    fn read(input: &MergeInput) -> Result<Self, Box<Outcome>> {
        let role = if input.source.is_some() { "source" } else { "updated" };
        let updated = input.source.as_ref().or(input.updated.as_ref());
        Ok(Self {
            original: package("original", input.original.as_ref())?,
            updated: (role, package(role, updated)?),
            dest: package("dest", Some(&input.dest))?,
        })
    }

    fn sides(&self) -> Sides<PackageSide<'_>> {
        Sides {
            original: PackageSide::of("original", &self.original),
            updated: PackageSide::of(self.updated.0, &self.updated.1),
            dest: PackageSide::of("dest", &self.dest),
        }
    }
}

fn package(role: &str, files: Option<&Files>) -> Result<Package, Box<Outcome>> {
    let files = files.map(Files::by_path).unwrap_or_default().into_iter();
    let files = files.filter(|(path, _)| may_hold_resources(path));
    Package::of_files(files.map(|(path, text)| (path.to_owned(), text.to_owned()))).map_err(|error| match error {
        Error::Text { file, error } => {
            let name = if file.is_empty() { role.to_owned() } else { format!("{role}/{file}") };
            Box::new(Outcome::unreadable(&name, &error))
        }
        other => of_files(&other),
    })
}

fn of_files(error: &Error) -> Box<Outcome> {
    Box::new(Outcome::new(Severity::Error, error.to_string()))
}

/// Whether a file has the name of one with resources. A text alone has no name.
fn may_hold_resources(path: &str) -> bool {
    path.is_empty() || names_document(path)
}

/// The warnings for what is no resource in files, that upstream changed and that dest does not have like that.
fn not_merged(input: &MergeInput, sides: &Sides<PackageSide<'_>>) -> Vec<Outcome> {
    let [original, updated] =
        [&input.original, &input.updated].map(|files| files.as_ref().map(Files::by_path).unwrap_or_default());
    let (dest, with_resources) =
        (input.dest.by_path(), [&sides.original, &sides.updated, &sides.dest].map(PackageSide::text_files));
    let with_resources: BTreeSet<&str> =
        with_resources.iter().flatten().filter(|file| file.document.is_some()).map(|file| file.path).collect();
    let paths: BTreeSet<&str> = original.keys().chain(updated.keys()).copied().collect();
    let is_changed = |path: &&str| original.get(path) != updated.get(path) && dest.get(path) != updated.get(path);
    let plain = paths.into_iter().filter(is_changed).filter(|path| !with_resources.contains(path));
    let warning = |path: &str, what: &str| {
        let told = format!(
            "changed in updated and not merged, because {what}: `kubectl krm-merge three-way` merges such files, too"
        );
        let file = Some(results::File { path: path.to_owned(), index: None });
        Outcome { file, ..Outcome::new(Severity::Warning, told) }
    };
    let plain = plain.map(|path| warning(path, "it holds no resources"));
    let unnamed: BTreeSet<&str> = packages::missed(sides).filter_map(|resource| resource.path).collect();
    plain.chain(unnamed.into_iter().map(|path| warning(path, "a document in it has no name"))).collect()
}

/// The kustomizations of dest and updated, because they make resources that others refer to.
fn kustomizations<'a>(sides: &Sides<PackageSide<'a>>) -> Vec<NodeRef<'a>> {
    let files = [&sides.updated, &sides.dest].into_iter().flat_map(PackageSide::documents);
    files.filter(|(path, _)| is_kustomization(path)).flat_map(|(_, document)| document.roots()).collect()
}

/// The conflicts of a merge, each with its outcome among these.
fn conflicts<'a>(
    open: &Open<'a>,
    outcomes: &[Outcome],
    sides: &Sides<PackageSide<'a>>,
    budget: &Budget,
) -> Result<Vec<ToldConflict>, Box<Outcome>> {
    // Both come in the order in which the merge asks for decisions.
    let mut told = outcomes.iter().filter_map(|outcome| Some((outcome, outcome.clash.as_ref()?))).peekable();
    let mut conflicts = Vec::new();
    if told.peek().is_none() {
        return Ok(conflicts);
    }
    open.conflicts(|view| {
        if let Some((outcome, clash)) = told.next() {
            conflicts.push(conflict(view, outcome, clash, &sides.dest, budget));
        }
    })?;
    Ok(conflicts)
}

fn conflict(
    view: &ConflictView<'_, '_>,
    outcome: &Outcome,
    clash: &Clash,
    dest: &PackageSide<'_>,
    budget: &Budget,
) -> ToldConflict {
    let json = |tree: &Tree<'_>| splice::json_of(tree, budget).ok();
    let values = Sides::of(|side| view.values[side].as_ref().and_then(json));
    let secret = outcome.is_secret;
    let shown = |side: Side| values[side].as_deref().filter(|_| !secret).and_then(yaml);
    let case = view.resource.identity.and_then(|identity| case(view, identity, &values, secret));
    let taken = match clash.settled {
        Settled::Dest | Settled::StaysDeleted | Settled::StaysInPlace | Settled::OverlapOfDest => Some("dest"),
        Settled::Updated | Settled::Deleted | Settled::OverlapOfUpdated => Some("updated"),
        _ => None,
    };
    ToldConflict {
        what: clash.what.clone(),
        outcome: clash.outcome(),
        open: clash.settled == Settled::Open,
        taken,
        resource: outcome.resource_ref.clone(),
        place: place(outcome, Some(dest)),
        path: view.path.keyed(),
        original: shown(Side::Original),
        updated: shown(Side::Updated),
        dest: shown(Side::Dest),
        secret,
        case,
    }
}

/// What a rule must name to decide a conflict and no other one.
fn case(
    view: &ConflictView<'_, '_>,
    identity: Identity<'_>,
    values: &Sides<Option<String>>,
    secret: bool,
) -> Option<ConflictCase> {
    let null = || Some("null".to_owned());
    let json = |side: Side| values[side].clone().or_else(null);
    let when = match (view.path.is_empty(), &values.updated, &values.dest) {
        // The side that deleted the resource has no value, and that says enough.
        (true, None, _) => Sides { updated: null(), ..Sides::default() },
        (true, _, None) => Sides { dest: null(), ..Sides::default() },
        // Both sides moved the resource; a rule for that would be for all its fields, too.
        (true, ..) => return None,
        (false, ..) if secret => Sides::default(),
        (false, ..) => Sides { original: json(Side::Original), updated: json(Side::Updated), dest: None },
    };
    Some(Case::new(identity, &view.path, when).into())
}

/// A value as YAML.
fn yaml(json: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(json).ok()?;
    serde_yaml::to_string(&value).ok()
}

fn told(outcome: Outcome, dest: Option<&PackageSide<'_>>) -> ToldResult {
    let place = place(&outcome, dest);
    let message = outcome.at.map_or(outcome.message, |at| at.told);
    let reason = outcome.tags.get(REASON).cloned();
    ToldResult { severity: outcome.severity, message, reason, resource: outcome.resource_ref, place }
}

/// The place of a result: in a text that cannot be read, or in dest.
fn place(outcome: &Outcome, dest: Option<&PackageSide<'_>>) -> Place {
    if let Some(at) = &outcome.at {
        return Place { file: Some(at.text.clone()), line: Some(at.position.line), column: Some(at.position.column) };
    }
    let path = outcome.file.as_ref().map(|file| file.path.as_str());
    let Some(dest) = dest.filter(|_| path.is_some() || outcome.here.is_some()) else { return Place::default() };
    let path = path.unwrap_or_default();
    let at = dest.documents().find(|(own, _)| *own == path);
    let position = at.zip(outcome.here).map(|((_, document), here)| document.position(here));
    let name = if path.is_empty() { "dest".to_owned() } else { format!("dest/{path}") };
    Place {
        file: Some(name),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
    }
}

impl Change {
    fn of(change: &FileChange) -> Self {
        match change {
            FileChange::Added { path, .. } => Self::Added { path: path.clone() },
            FileChange::Changed { path, .. } => Self::Changed { path: path.clone() },
            FileChange::Moved { from, to, .. } => Self::Moved { path: to.clone(), from: from.clone() },
            FileChange::Removed { path } => Self::Removed { path: path.clone() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(original: &str, updated: &str, dest: &str) -> MergeOutput {
        let text = |text: &str| Files::Text(text.to_owned());
        merge(&MergeInput {
            dest: text(dest),
            original: Some(text(original)),
            updated: Some(text(updated)),
            ..MergeInput::default()
        })
    }

    #[test]
    fn a_document_without_a_name_is_not_left_out_in_silence() {
        let output = of("a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 1\nb: 2\n");
        assert_eq!((output.passed, &output.files[""][..]), (false, "a: 1\nb: 2\n"));
        assert_eq!(output.results[0].message, "the resource must have `apiVersion` to be merged");
        // In a file with resources, a warning is enough.
        let file = |value: u32| {
            let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n---\na: {value}\n");
            Some(Files::ByPath([("a.yaml".to_owned(), text)].into()))
        };
        let dest = file(3).unwrap_or_default();
        let output = merge(&MergeInput { dest, original: file(1), updated: file(2), ..MergeInput::default() });
        let warned = output.results.iter().filter(|result| result.severity == Severity::Warning).count();
        assert_eq!((output.passed, warned), (true, 1));
    }
}
