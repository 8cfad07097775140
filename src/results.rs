//! Results as the KRM functions specification has them: what happened, how bad it is, and where.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_yaml::Value;

use krm_merge::child::{Value as _, find};
use krm_merge::limit::{Budget, Exceeded, Kind as Written};
use krm_merge::path::cut;
use krm_merge::policy::{OnConflict, Settled};
use krm_merge::resource::{Identity, Resource};
use krm_merge::shown;
use krm_merge::splice::{json_of, to_json};
use krm_merge::tree::{Conflict, Taking, Tree, View};
use krm_merge::warning::{Combined, Notice, Warning};
use krm_merge::yaml::{Error, Kind, NodeRef, Scalar};

/// The tag that says to a program what a result is: a conflict, or a move.
pub const REASON: &str = "krm-merge.dev/reason";

/// How bad a result is; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The run failed: the items go out as they came, and the exit code is 1.
    Error,
    /// The run went through, and someone should look.
    Warning,
    /// Good to know.
    Info,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// What happened, on one line.
    pub message: String,
    /// How bad it is.
    pub severity: Severity,
    /// The resource it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_ref: Option<ResourceRef>,
    /// The field it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<Field>,
    /// The file of the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<File>,
    /// What programs may look for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The line of a text that cannot be read, for a person at a terminal.
    #[serde(skip)]
    pub excerpt: Option<String>,
    /// Of a conflict, what the message says in words, for a host that shows it otherwise.
    #[serde(skip)]
    pub told: Option<Told>,
}

/// A conflict as its message tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Where: the field by key, or the fields of a resource that one side deleted.
    pub place: String,
    /// What became of it.
    pub settled: &'static str,
}

/// The identity of a resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRef {
    /// The apiVersion.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace, where one is written.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ResourceRef {
    /// Who that is.
    pub fn identity(&self) -> Identity<'_> {
        let Self { api_version, kind, namespace, name } = self;
        Identity { api_version, kind, namespace, name }
    }
}

/// A field, with its value on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Field {
    /// The path, elements by index.
    pub path: String,
    /// What dest has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_value: Option<Value>,
    /// What source or updated has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposed_value: Option<Value>,
}

/// A file of the package.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct File {
    /// Its path in the package.
    pub path: String,
    /// The number of the resource in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
}

/// The longest message, for it is one line of a terminal or a log; what is left out is in the other fields, or in the input.
const MESSAGE: usize = 8000;

impl Outcome {
    /// A result about nothing in particular.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            message: cut(shown::line(&message.into()).into_owned(), MESSAGE),
            severity,
            resource_ref: None,
            field: None,
            file: None,
            tags: BTreeMap::new(),
            excerpt: None,
            told: None,
        }
    }

    /// More was to be written about a resource than a limit allows.
    pub fn exceeded(exceeded: Exceeded, resource: &Resource<'_>) -> Box<Self> {
        Box::new(Self::new(Severity::Error, exceeded.to_string()).about(resource))
    }

    /// An error in a text; `text` says which.
    pub fn unreadable(text: &str, error: &Error) -> Self {
        Self { excerpt: error.excerpt().map(str::to_owned), ..Self::new(Severity::Error, format!("{text} {error}")) }
    }

    /// How many bytes it takes, but for the values, which come off the budget where they are read.
    fn size(&self) -> usize {
        let of_field = self.field.as_ref().map_or(0, |f| f.path.len());
        let of_resource = self.resource_ref.as_ref().map_or(0, |r| {
            [&r.api_version, &r.kind, &r.namespace, &r.name].into_iter().map(String::len).sum::<usize>()
        });
        let of_file = self.file.as_ref().map_or(0, |f| f.path.len());
        let of_place = self.told.as_ref().map_or(0, |t| t.place.len());
        self.message.len() + of_field + of_resource + of_file + of_place
    }

    /// The same about a resource.
    #[must_use]
    pub fn about(mut self, resource: &Resource<'_>) -> Self {
        self.resource_ref = resource.identity.map(|i| ResourceRef {
            api_version: i.api_version.into(),
            kind: i.kind.into(),
            namespace: i.namespace.into(),
            name: i.name.into(),
        });
        self.file =
            resource.path.map(|path| File { path: path.into(), index: resource.index.and_then(|i| i.parse().ok()) });
        self
    }

    /// A warning of the merge, about a resource of dest. `side` is the word for the other side: source or updated.
    pub fn warning(warning: &Warning<'_>, resource: &Resource<'_>, side: &str, budget: &Budget) -> Self {
        let place = warning.path.shown();
        let kind = |node: Option<NodeRef<'_>>| node.map_or("nothing", kind_of);
        let message = match &warning.notice {
            Notice::Clash => format!(
                "`{place}` is {} in dest and {} in {side}: {side}'s was taken",
                kind(warning.dest),
                kind(warning.proposed)
            ),
            Notice::Repeated => {
                format!("`{place}` stands more than once in dest: the first was merged, the others stay as they are")
            }
            Notice::Unkeyed(reason) => format!("`{place}` is replaced whole: {reason}"),
            Notice::Combined(how) => {
                format!(
                    "`{place}` was changed in dest and in updated, and merged {}: look whether it is right",
                    how_of(*how)
                )
            }
            Notice::Ignored(reason) => format!("`{place}`: {reason}"),
            Notice::Union(members) => {
                format!(
                    "`{place}` has {members} after the merge, of which the API server allows one: remove the others with null"
                )
            }
        };
        let field = Field {
            path: warning.path.indexed(),
            current_value: warning.dest.map(|node| value_of(View::Node(node), budget)),
            proposed_value: warning.proposed.map(|node| value_of(View::Node(node), budget)),
        };
        if let Notice::Combined(_) = warning.notice {
            let mut outcome = Self { field: Some(field), ..Self::new(Severity::Info, message) }.about(resource);
            outcome.tags.insert(REASON.into(), "combined".into());
            return outcome;
        }
        Self { field: Some(field), ..Self::new(Severity::Warning, message) }.about(resource)
    }

    /// A conflict of the merge, about a resource of dest. Of a Secret the message shows no values, for messages stand in the logs of
    /// pipelines; the fields have them, for they are what a user asks the results for.
    pub fn conflict(conflict: &Conflict<'_>, resource: &Resource<'_>, policy: OnConflict, budget: &Budget) -> Self {
        // Where the budget is used up nobody sees the result.
        let json = |node| to_json(node, budget).unwrap_or_default();
        // What stays of a value whose parts overlap holds changes of updated's, too; dest's own says what dest did.
        let own = Some(conflict.taking).filter(|taking| *taking == Taking::Overlap);
        let own = own.and_then(|_| find(resource.node, &conflict.path)).map(Tree::Node);
        let in_dest = own.as_ref().or(conflict.dest.as_ref());
        let dest = in_dest.map(|dest| json_of(dest, budget).unwrap_or_default());
        let (original, updated) = (conflict.original.map(json), conflict.updated.map(json));
        let start = first_difference([&dest, &original, &updated].into_iter().flatten());
        let show = |word: &str, value: &Option<String>| match value.as_ref().filter(|_| !is_secret(resource)) {
            Some(value) => format!(" {word} {}", brief(value, start)),
            None => String::new(),
        };
        let is_null = |value: &String| value == "null";
        let did = |value: &Option<String>, side: &str| match (&original, value) {
            (_, Some(value)) if is_null(value) => format!("cleared with null in {side}"),
            (Some(_), None) => format!("deleted in {side}"),
            (Some(_), Some(_)) => format!("changed in {side}{}", show("to", value)),
            (None, Some(_)) => format!("added in {side}{}", show("as", value)),
            // Without an original, only a null can remove.
            (None, None) => format!("cleared with null in {side}"),
        };
        let settled = verdict_of(policy.settles(conflict));
        let message = format!(
            "`{}` was {} and {}{}: {settled}",
            conflict.path.shown(),
            did(&dest, "dest"),
            did(&updated, "updated"),
            show("from", &original),
        );
        let field = Field {
            path: conflict.path.indexed(),
            current_value: in_dest.and_then(Tree::view).map(|view| value_of(view, budget)),
            proposed_value: conflict.updated.map(|node| value_of(View::Node(node), budget)),
        };
        let field = (!conflict.path.is_empty()).then_some(field);
        let told = Some(Told { place: conflict.path.keyed(), settled });
        Self { field, told, ..Self::new(severity_of(policy), message) }.about(resource).tagged(original)
    }

    /// A resource that updated deleted and dest changed at these places; `json` is the original one.
    pub fn deleted_upstream(dest: &Resource<'_>, places: &[String], json: String, policy: OnConflict) -> Self {
        let changed = listed(places);
        let settled = verdict_of(policy.settled(Taking::Deletion));
        let message = format!("the resource was deleted in updated and changed in dest ({changed}): {settled}");
        let told = Some(Told { place: changed, settled });
        Self { told, ..Self::new(severity_of(policy), message) }.about(dest).tagged(Some(json))
    }

    /// A resource that dest deleted and updated changed at these places; `json` is the original one.
    pub fn deleted_here(updated: &Resource<'_>, places: &[String], json: String, policy: OnConflict) -> Self {
        let changed = listed(places);
        let settled = "it stays deleted";
        let message = format!("the resource was deleted in dest and changed in updated ({changed}): {settled}");
        let told = Some(Told { place: changed, settled });
        Self { told, ..Self::new(severity_of(policy), message) }.about(updated).tagged(Some(json))
    }

    /// A resource that moved to another file of dest, as upstream moved it.
    pub fn moved(dest: &Resource<'_>, to: &str) -> Self {
        let from = dest.path.unwrap_or_default();
        let message = format!("moved from \"{from}\" to \"{to}\", as upstream moved it");
        let mut outcome = Self::new(Severity::Info, message).about(dest);
        outcome.tags.insert(REASON.into(), "moved".into());
        outcome
    }

    /// A resource that upstream moved to a file of another package, to which the host of dest takes none.
    pub fn not_moved(dest: &Resource<'_>, to: &str) -> Self {
        let message =
            format!("upstream moved it to \"{to}\", in another package: move it by hand, for it stays where it is");
        Self::new(Severity::Warning, message).about(dest)
    }

    /// A resource that both sides moved, and not to the same file.
    pub fn moved_apart(dest: &Resource<'_>, [from, to]: [&str; 2], policy: OnConflict) -> Self {
        let here = dest.path.unwrap_or_default();
        let settled = if policy == OnConflict::Fail { verdict_of(Settled::Open) } else { "it stays where dest has it" };
        let message = format!(
            "the resource was moved from \"{from}\" to \"{here}\" in dest and to \"{to}\" in updated: {settled}"
        );
        let told = Some(Told { place: "its file".to_owned(), settled });
        Self { told, ..Self::new(severity_of(policy), message) }.about(dest).tagged(None)
    }

    /// Whether it is a conflict.
    pub fn is_conflict(&self) -> bool {
        self.tags.get(REASON).is_some_and(|reason| reason == "conflict")
    }

    fn tagged(mut self, original: Option<String>) -> Self {
        self.tags.insert(REASON.into(), "conflict".into());
        if let Some(original) = original {
            self.tags.insert("krm-merge.dev/original".into(), original);
        }
        self
    }

    /// One line for stderr, with the resource and the file that the message leaves to the other fields.
    pub fn line(&self) -> String {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        };
        let mut about = String::new();
        if let Some(r) = &self.resource_ref {
            about.push_str(&r.identity().called());
        }
        // What says itself where it lies has no identity that the line could begin with.
        let file = self.file.as_ref().map(|file| shown::name(&file.path));
        if let Some(file) = file.filter(|file| !about.is_empty() || !self.message.contains(&**file)) {
            about.push_str(&if about.is_empty() { file.into_owned() } else { format!(" ({file})") });
        }
        if !about.is_empty() {
            about = cut(about, MESSAGE) + ": ";
        }
        format!("{severity}: {about}{}", shown::line(&self.message))
    }
}

fn severity_of(policy: OnConflict) -> Severity {
    match policy {
        OnConflict::TakeUpdated | OnConflict::KeepDest => Severity::Warning,
        OnConflict::Fail => Severity::Error,
    }
}

fn is_secret(resource: &Resource<'_>) -> bool {
    resource.identity.is_some_and(|i| i.api_version == "v1" && i.kind == "Secret")
}

/// What becomes of a conflict.
pub fn verdict_of(settled: Settled) -> &'static str {
    match settled {
        Settled::Updated => "updated's was taken",
        Settled::Dest => "dest's was kept",
        Settled::Deleted => "it is deleted",
        Settled::Cleared => "dest's was kept, and the field is removed",
        Settled::CutDown => "what upstream had in it is deleted, what dest added stays",
        Settled::OverlapOfUpdated => "updated's was taken where the changes overlap, and all other changes were made",
        Settled::OverlapOfDest => "dest's was kept where the changes overlap, and all other changes were made",
        Settled::Open => "someone must decide",
    }
}

/// In which parts a value was merged.
pub fn how_of(how: Combined) -> &'static str {
    match how {
        Combined::Elements => "element by element",
        Combined::Lines => "line by line",
        Combined::Document => "as the document that it holds",
    }
}

/// The first places of a list of them, quoted.
pub fn listed(places: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut shown: Vec<String> = places.iter().take(SHOWN).map(|p| format!("`{p}`")).collect();
    if places.len() > SHOWN {
        shown.push(format!("and {} more", places.len() - SHOWN));
    }
    shown.join(", ")
}

/// The longest piece of a value that a message shows; the whole is in the other fields.
const BRIEF: usize = 60;

/// A value on one line, cut where it is long: what is shown of several values begins shortly before they differ.
fn brief(json: &str, start: usize) -> String {
    let count = json.chars().count();
    if count <= BRIEF {
        return json.to_owned();
    }
    let skip = start.saturating_sub(BRIEF / 3).min(count - BRIEF);
    let shown: String = json.chars().skip(skip).take(BRIEF).collect();
    format!("{}{shown}{}", if skip > 0 { "…" } else { "" }, if skip + BRIEF < count { "…" } else { "" })
}

/// How many characters the texts begin with in common.
fn first_difference<'t>(mut texts: impl Iterator<Item = &'t String>) -> usize {
    let Some(first) = texts.next() else { return 0 };
    let common = |text: &String| first.chars().zip(text.chars()).take_while(|(a, b)| a == b).count();
    texts.map(common).min().unwrap_or_default()
}

fn kind_of(node: NodeRef<'_>) -> &'static str {
    match node.resolve().kind() {
        Kind::Map => "a map",
        Kind::List => "a list",
        Kind::Scalar | Kind::Alias => "a scalar",
    }
}

/// The value of a node. A number that neither an integer nor a float holds exactly is given as its text.
///
/// # Errors
/// It takes more than is left of the budget.
pub fn to_value(node: NodeRef<'_>, budget: &Budget) -> Result<Value, Exceeded> {
    let value = value_of(View::Node(node), budget);
    budget.check(Written::Results).map(|()| value)
}

/// A value as far as the budget goes.
fn value_of(view: View<'_, '_>, budget: &Budget) -> Value {
    // Nothing of it is shorter than its line break and a letter of its own.
    if !budget.take(view.string().len() + 2) {
        return Value::Null;
    }
    match view.kind() {
        Kind::Map => {
            let fields = view.fields().into_iter().filter(|(key, _)| budget.take(key.len()));
            Value::Mapping(fields.map(|(k, v)| (Value::String(k.to_owned()), value_of(v, budget))).collect())
        }
        Kind::List => Value::Sequence(view.elements().into_iter().map(|view| value_of(view, budget)).collect()),
        Kind::Scalar | Kind::Alias => match view.scalar() {
            None | Some(Scalar::Null) => Value::Null,
            Some(Scalar::Bool(b)) => Value::Bool(b),
            Some(Scalar::Number(n)) => {
                let text = view.string();
                let decimal = n.to_decimal().unwrap_or_else(|| text.to_string());
                match (decimal.parse::<i64>(), decimal.parse::<u64>(), decimal.parse::<f64>()) {
                    (Ok(n), ..) => Value::Number(n.into()),
                    (_, Ok(n), _) => Value::Number(n.into()),
                    (.., Ok(n)) if decimal.len() <= 15 => Value::Number(n.into()),
                    _ => Value::String(text.into()),
                }
            }
            Some(_) => Value::String(view.string().into()),
        },
    }
}

impl From<Exceeded> for Box<Outcome> {
    fn from(exceeded: Exceeded) -> Self {
        Self::new(Outcome::new(Severity::Error, exceeded.to_string()))
    }
}

/// Results as YAML: a map with the one field `results`.
///
/// # Errors
/// It takes more than is left of the budget.
pub fn to_yaml(results: &[Outcome], budget: &Budget) -> Result<String, Exceeded> {
    let results = BTreeMap::from([("results", results)]);
    budget.written(Written::Results, |out| serde_yaml::to_writer(out, &results))
}

/// The results of a run so far, as many as the budget allows.
#[derive(Debug)]
pub struct Results<'b> {
    all: Vec<Outcome>,
    budget: &'b Budget,
}

impl<'b> Results<'b> {
    /// None yet.
    pub fn new(budget: &'b Budget) -> Self {
        Self { all: Vec::new(), budget }
    }

    /// Adds results.
    ///
    /// # Errors
    /// They take more than is left of the budget.
    pub fn tell(&mut self, results: impl IntoIterator<Item = Outcome>) -> Result<(), Box<Outcome>> {
        for result in results {
            self.budget.take(result.size());
            if let Err(exceeded) = self.budget.check(Written::Results) {
                let told = Outcome::new(Severity::Error, exceeded.to_string());
                return Err(Box::new(Outcome { resource_ref: result.resource_ref, file: result.file, ..told }));
            }
            self.all.push(result);
        }
        Ok(())
    }

    /// Adds results that came off the same budget already.
    pub fn append(&mut self, mut more: Self) {
        self.all.append(&mut more.all);
    }

    /// How many there are of a sort.
    pub fn count(&self, is_meant: impl Fn(&Outcome) -> bool) -> usize {
        self.all.iter().filter(|result| is_meant(result)).count()
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Outcome> {
        self.all
    }
}

/// Worst first, then by file, resource and place, so that what kpt shows of them is what matters.
pub fn sort(results: &mut [Outcome]) {
    let key = |r: &Outcome| {
        let of = |r: &Option<ResourceRef>| r.as_ref().map(|r| (r.kind.clone(), r.namespace.clone(), r.name.clone()));
        (
            r.severity,
            r.file.as_ref().map(|f| (f.path.clone(), f.index)),
            of(&r.resource_ref),
            r.field.as_ref().map(|f| f.path.clone()),
        )
    };
    results.sort_by_cached_key(key);
}
