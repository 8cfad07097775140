//! Results as the KRM functions specification defines them: what happened, how severe it is, and where.
//!
//! A run makes a [`Report`] of each event. Only `words.rs` turns a report into English.

mod message;
mod tags;
mod words;

use std::collections::BTreeMap;

use krm_merge::file_path;
use krm_merge::package::{Fault, Why};
use krm_merge::resource::{Identity, Origin, Resource};
use krm_merge::rules::Unmergeable;
use krm_merge_core::policy::Settled;
use krm_tree::child::Value as _;
use krm_tree::limit::{Budget, Exceeded, Kind as Written};
use krm_tree::path::cut;
use krm_tree::splice::Unwritable;
use krm_tree::tree::View;
use krm_yaml::secret::Secret;
use krm_yaml::{Error, Kind, NodeRef, Position, Scalar, shown};
use serde::Serialize;
use serde_yaml::Value;
use serde_yaml::value::{Tag, TaggedValue};

use crate::name::Name;
use crate::report::{Counts, Report};
pub use message::{Message, Word};
use tags::Tags;
use words::of_settled;
pub use words::{Did, at_comment, changed_by, contradicting, counted, followed, how_of, listed, next_step};

/// The tag with the kind of a result, for programs: for example a conflict, or a move.
pub const REASON: &str = "krm-merge.dev/reason";

/// The reason of a result about a rule that decided nothing.
const IDLE_RULE: &str = "idle-rule";

/// The reason of the warning that dest did not come from original.
const OTHER_ORIGINAL: &str = "other-original";

/// The tag that holds the value of original in a conflict, as JSON.
pub const ORIGINAL: &str = "krm-merge.dev/original";

/// How severe a result is; the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The run failed: the items are unchanged, and the exit code is 1.
    Error,
    /// The run passed, but someone should check this.
    Warning,
    /// Information only.
    Info,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// What happened, on one line.
    pub message: String,
    /// How severe it is.
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
    /// Tags for programs.
    #[serde(skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// The line of a text that cannot be read, for a person at a terminal.
    #[serde(skip)]
    pub excerpt: Option<String>,
    /// The parts of the message, if it is a conflict.
    #[serde(skip)]
    pub clash: Option<Clash>,
    /// The counts, if it tells those of a three-way merge.
    #[serde(skip)]
    pub counts: Option<Counts>,
    /// The rule, if it tells that a rule decided nothing.
    #[serde(skip)]
    pub idle: Option<Name>,
    /// The place in a text that the user knows.
    #[serde(skip)]
    pub at: Option<At>,
    /// The byte offset of the place in the text that has dest's resource.
    #[serde(skip)]
    pub here: Option<usize>,
    /// Whether its values are secret, so that no person may see them.
    #[serde(skip)]
    pub is_secret: bool,
    /// Whether it tells what was done. A run that fails does nothing.
    #[serde(skip)]
    pub is_done: bool,
}

/// The parts of the message of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The place of the conflict: the field by key, or the fields that changed in a resource that one side deleted.
    pub place: String,
    /// The actions of the sides.
    pub what: String,
    /// Who won, or that nobody did.
    pub settled: Settled,
    /// Further words after the outcome.
    pub more: String,
}

impl Clash {
    fn message(&self) -> String {
        message(format!("{}; {}", self.what, self.outcome()))
    }

    /// The outcome in words.
    pub fn outcome(&self) -> String {
        format!("{}{}", of_settled(self.settled), self.more)
    }
}

/// A place in a text, and the message without that place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// The name of the text for the user: `stdin`, a field, or a file.
    pub text: String,
    /// The place.
    pub position: Position,
    /// The message, to be shown after the place.
    pub told: String,
}

/// The identity of a resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRef {
    /// The apiVersion.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace, if one is written.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ResourceRef {
    /// The same as an [`Identity`].
    pub fn identity(&self) -> Identity<'_> {
        let Self { api_version, kind, namespace, name } = self;
        Identity { api_version, kind, namespace, name }
    }
}

impl From<Identity<'_>> for ResourceRef {
    fn from(of: Identity<'_>) -> Self {
        let [api_version, kind, namespace, name] = [of.api_version, of.kind, of.namespace, of.name].map(str::to_owned);
        Self { api_version, kind, namespace, name }
    }
}

/// A field, with its value on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Field {
    /// The path, elements by index.
    pub path: String,
    /// Dest's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_value: Option<Value>,
    /// The value of source or updated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposed_value: Option<Value>,
}

/// A file of the package.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct File {
    /// Its path in the package.
    pub path: String,
    /// The number of the resource in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
}

/// The longest message, in bytes. A message is one line of a terminal or a log; details are in the other fields, or in the input.
const MESSAGE: usize = 8000;

/// A message for display: on one line, without misleading characters, and not too long.
fn message(text: String) -> String {
    cut(shown::line(&text).into_owned(), MESSAGE)
}

impl Outcome {
    /// A result that is not about a resource or a place.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            message: self::message(message.into()),
            severity,
            resource_ref: None,
            field: None,
            file: None,
            tags: Tags::default(),
            excerpt: None,
            clash: None,
            counts: None,
            idle: None,
            at: None,
            here: None,
            is_secret: false,
            is_done: false,
        }
    }

    /// The error for output about a resource that cannot be written.
    pub fn unwritable(why: impl Into<Unwritable>, resource: &Resource<'_>) -> Box<Self> {
        Box::new(Self::new(Severity::Error, why.into().to_string()).about(resource))
    }

    /// An error in a text; `text` says which.
    pub fn unreadable(text: &str, error: &Error) -> Self {
        let at = At { text: text.to_owned(), position: error.position, told: error.message.clone() };
        let excerpt = error.excerpt().map(str::to_owned);
        Self { excerpt, at: Some(at), ..Self::new(Severity::Error, format!("{text} {error}")) }
    }

    /// This result with its place in a file that the user knows, and with the message for that place.
    #[must_use]
    pub fn moved_to(self, (path, position): (String, Position), told: String) -> Self {
        let message = message(format!("{path}:{position}: {told}"));
        let file = self.file.or_else(|| Some(File { path: path.clone(), index: None }));
        Self { message, at: Some(At { text: path, position, told }), file, ..self }
    }

    /// A resource lacks a field. `rest` names the field that it must have, and says why.
    pub fn lacking(resource: &Resource<'_>, rest: &str) -> Self {
        let at = match &resource.origin {
            Origin::File { name, .. } => {
                let told = format!("the resource must have {rest}");
                Some(At { text: name.clone(), position: resource.node().position(), told })
            }
            Origin::Item(_) | Origin::Listed { .. } | Origin::Field(_) => None,
        };
        let message = format!("{} must have {rest}", resource.whereabouts());
        Self { at, ..Self::new(Severity::Error, message) }.about(resource)
    }

    /// A resource that cannot be merged.
    pub fn unmergeable(unmergeable: &Unmergeable<'_>) -> Box<Self> {
        let Unmergeable { resource, error } = unmergeable;
        Box::new(Self::unreadable(&resource.origin.text(), error).about(resource))
    }

    /// A resource stops the merge.
    pub fn fault(fault: Box<Fault<'_>>) -> Box<Self> {
        let Fault { resource, why } = *fault;
        match why {
            Why::Unmergeable(error) => Self::unmergeable(&Unmergeable { resource, error }),
            Why::Apart(alias) => Self::apart(&resource, alias),
            Why::Misplaced { path, fault } => Self::misplaced(&resource, &path, fault),
            Why::Unwritable(why) => Self::unwritable(why, &resource),
        }
    }

    /// An alias and its anchor are in two items.
    pub fn apart(item: &Resource<'_>, alias: NodeRef<'_>) -> Box<Self> {
        let message = format!(
            "the alias `{}` must stand in the same item as its anchor, for one of the two is to be changed",
            alias.text()
        );
        Box::new(Self::unreadable(&item.origin.text(), &alias.error(message)).about(item))
    }

    /// The path annotation of a new item names a place where the host must not write.
    fn misplaced(source: &Resource<'_>, path: &str, fault: file_path::PathFault) -> Box<Self> {
        let origin = &source.origin;
        let message = format!(
            "the path {path:?} of {origin}, which is new, must {fault}; correct its path annotation, or remove it"
        );
        Box::new(Self::new(Severity::Error, message).about(source))
    }

    /// A conflict.
    pub fn conflict(severity: Severity, clash: Clash) -> Self {
        Self { message: clash.message(), clash: Some(clash), ..Self::new(severity, "") }.because("conflict")
    }

    /// The same result with a tag that says its kind.
    #[must_use]
    pub fn because(mut self, reason: &str) -> Self {
        self.tags.insert(REASON, reason.to_owned());
        self
    }

    /// Makes a conflict open again: it has no winner, and someone must decide.
    pub fn leave_open(&mut self) {
        self.severity = Severity::Error;
        if let Some(clash) = &mut self.clash {
            clash.settled = Settled::Open;
            clash.more.clear();
            self.message = clash.message();
        }
    }

    /// Its size in bytes, without the values, which come off the budget when they are read.
    fn size(&self) -> usize {
        let of_field = self.field.as_ref().map_or(0, |f| f.path.len());
        let of_resource = self.resource_ref.as_ref().map_or(0, |r| {
            [&r.api_version, &r.kind, &r.namespace, &r.name].into_iter().map(String::len).sum::<usize>()
        });
        let of_file = self.file.as_ref().map_or(0, |f| f.path.len());
        let of_place = self.clash.as_ref().map_or(0, |clash| clash.place.len());
        self.message.len() + of_field + of_resource + of_file + of_place
    }

    /// This result, about a resource.
    #[must_use]
    pub fn about(mut self, resource: &Resource<'_>) -> Self {
        // A document of a file has no name, and its file says which it is.
        self.resource_ref = resource.identity.filter(|_| !resource.is_file()).map(ResourceRef::from);
        self.file =
            resource.path.map(|path| File { path: path.into(), index: resource.index.and_then(|i| i.parse().ok()) });
        self.is_secret |= resource.secret == Secret::All;
        self
    }

    /// Whether it is a conflict.
    pub fn is_conflict(&self) -> bool {
        self.is_because("conflict")
    }

    /// Whether it is a conflict that nobody has decided.
    pub fn is_open(&self) -> bool {
        self.is_conflict() && self.clash.as_ref().is_some_and(|clash| clash.settled == Settled::Open)
    }

    fn is_because(&self, reason: &str) -> bool {
        self.tags.get(REASON).is_some_and(|own| own == reason)
    }

    fn with_original(mut self, json: Option<String>) -> Self {
        json.into_iter().for_each(|json| self.tags.insert(ORIGINAL, json));
        self
    }

    /// One line for stderr, with the resource and the file, which are in other fields than the message.
    pub fn line(&self) -> String {
        self.word().says(self.said()).to_string()
    }

    /// What it is to people.
    fn word(&self) -> Word {
        match self.severity {
            Severity::Error => Word::Error,
            // All else is merged, and the conflict waits for someone in its file. That is no fault.
            Severity::Warning if self.is_open() => Word::Conflict,
            Severity::Warning => Word::Warning,
            Severity::Info => Word::Info,
        }
    }

    /// The line without its first word.
    fn said(&self) -> String {
        // A line that begins with a place in the resource's own file does not repeat the file.
        let is_there = |at: &&At| self.file.as_ref().is_some_and(|file| file.path == at.text);
        self.at.as_ref().filter(is_there).map_or_else(|| self.said_with("", &self.message), |at| self.said_at(at))
    }

    /// The same for an error in a text. It begins with the place.
    fn said_at(&self, At { text, position, told }: &At) -> String {
        Self { file: None, ..self.clone() }.said_with(&format!("{text}:{position}: "), told)
    }

    fn said_with(&self, place: &str, message: &str) -> String {
        let mut about = String::new();
        if let Some(r) = &self.resource_ref {
            about.push_str(&r.identity().called());
        }
        // A message without an identity may already name the file; then the line does not repeat it.
        let file = self.file.as_ref().map(|file| shown::name(&file.path));
        if let Some(file) = file.filter(|file| !about.is_empty() || !message.contains(&**file)) {
            about.push_str(&if about.is_empty() { file.into_owned() } else { format!(" ({file})") });
        }
        if !about.is_empty() {
            about = cut(about, MESSAGE) + ": ";
        }
        format!("{place}{about}{}", shown::line(message))
    }
}

/// The value of a node. A number that neither an integer nor a float holds exactly becomes its text.
///
/// # Errors
/// It takes more than is left of the budget.
pub fn to_value(node: NodeRef<'_>, budget: &Budget) -> Result<Value, Exceeded> {
    let value = value_of(View::Node(node), budget);
    budget.check(Written::Results).map(|()| value)
}

/// A value, as far as the budget allows.
fn value_of(view: View<'_, '_>, budget: &Budget) -> Value {
    // Each value takes at least its line break and one character of its own.
    if !budget.take(view.string().len() + 2) {
        return Value::Null;
    }
    let value = match view.kind() {
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
    };
    match view.like().and_then(own_tag) {
        Some(tag) => Value::Tagged(Box::new(TaggedValue { tag: Tag::new(tag), value })),
        None => value,
    }
}

/// The tag of a value, as it is written, if it is none of YAML's own.
fn own_tag(node: NodeRef<'_>) -> Option<&str> {
    node.tag_text().filter(|tag| tag.len() > 1 && !tag.starts_with("!!"))
}

impl From<Unwritable> for Box<Outcome> {
    fn from(unwritable: Unwritable) -> Self {
        Self::new(Outcome::new(Severity::Error, unwritable.to_string()))
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
    /// An empty list of results.
    pub fn new(budget: &'b Budget) -> Self {
        Self { all: Vec::new(), budget }
    }

    /// Reports what happened.
    ///
    /// # Errors
    /// It takes more than is left of the budget.
    pub fn report(&mut self, report: &Report<'_, '_>) -> Result<(), Box<Outcome>> {
        self.tell([Outcome::of(report, self.budget)])
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

    /// Adds results that are already counted in the same budget.
    pub fn append(&mut self, more: impl IntoIterator<Item = Outcome>) {
        self.all.extend(more);
    }

    /// How many results match.
    pub fn count(&self, is_meant: impl Fn(&Outcome) -> bool) -> usize {
        self.all.iter().filter(|result| is_meant(result)).count()
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Outcome> {
        self.all
    }
}

/// The results of a run as they are told: worst first, and what someone must decide, then by file, resource and place, so that kpt shows the
/// important ones. A run that fails did nothing, so nothing is told as done.
pub fn finish(results: &mut Vec<Outcome>) {
    if results.iter().any(|result| result.severity == Severity::Error) {
        results.retain(|result| !result.is_done);
    }
    let key = |r: &Outcome| {
        let of = |r: &Option<ResourceRef>| r.as_ref().map(|r| (r.kind.clone(), r.namespace.clone(), r.name.clone()));
        (
            // A wrong original makes conflicts that are none, and a host may show only the first results.
            !r.is_because(OTHER_ORIGINAL),
            r.severity,
            !r.is_open(),
            r.file.as_ref().map(|f| (f.path.clone(), f.index)),
            of(&r.resource_ref),
            r.field.as_ref().map(|f| f.path.clone()),
            r.is_conflict(),
        )
    };
    results.sort_by_cached_key(key);
}
