//! [`Event`]: what happened in a merge, and where, as data.
//!
//! Hosts compare, count, group and filter events. Only `words.rs` makes English of them, when a host prints them.

mod message;
mod owned;
mod what;
mod words;

use std::slice;

use krm_merge::file_path;
use krm_merge::package::{Fault, Why};
use krm_merge::resource::{Identity, Origin, Resource};
use krm_merge::rules::Unmergeable;
use krm_merge_core::policy::Settled;
use krm_tree::child::Value as _;
use krm_tree::limit::{Budget, Exceeded, Kind as Written};
use krm_tree::path::cut;
use krm_tree::sides::{Side, Sides};
use krm_tree::splice::Unwritable;
use krm_tree::tree::View;
use krm_yaml::secret::Secret;
use krm_yaml::{Error, Kind, NodeRef, Position, Scalar, shown};
use serde::Serialize;
use serde_yaml::Value;
use serde_yaml::value::{Tag, TaggedValue};

use crate::name::Name;
pub use message::{Message, Word};
pub use owned::{About, called, named};
pub use what::{
    Alike, AsText, Cause, Clash, ClashNote, ClashPlace, Counts, Did, Dispute, FileForm, InTheWay, Lacks, LeftUpstream,
    Margin, Missed, MovedResource, NoYaml, Privacy, Stays, TextForm, TextPlace, What, WhyUnread,
};
pub use words::{counted, next_step};

/// How severe an event is; the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The run failed: the items are unchanged, and the exit code is 1.
    Error,
    /// The run passed, but someone should check this.
    Warning,
    /// Information only.
    Info,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// What happened.
    pub what: What,
    /// How severe it is.
    pub severity: Severity,
    /// The resource it is about.
    pub resource_ref: Option<ResourceRef>,
    /// The field it is about.
    pub field: Option<Field>,
    /// The file of the resource.
    pub file: Option<File>,
    /// The line of a text that cannot be read, for a person at a terminal.
    pub excerpt: Option<String>,
    /// The place in a text that the user knows.
    pub at: Option<At>,
    /// The byte offset of the place in the text that has dest's resource.
    pub here: Option<usize>,
    /// Whether its values are secret, so that no person may see them.
    pub is_secret: bool,
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct At {
    /// The name of the text for the user: `stdin`, a field, or a file.
    pub text: String,
    /// The place.
    pub position: Position,
}

impl Clash {
    /// The fields that it is about; none if it is about a file.
    pub fn fields(&self) -> &[String] {
        match &self.place {
            ClashPlace::Field(field) => slice::from_ref(field),
            ClashPlace::Fields(fields) => fields,
            ClashPlace::ItsFile | ClashPlace::File | ClashPlace::WholeFile => &[],
        }
    }

    /// The place, in words.
    pub fn place(&self) -> String {
        words::place_of(&self.place)
    }

    /// What the sides did, in words.
    pub fn what(&self) -> String {
        self.what_by(own_names())
    }

    /// The same, with these names for the sides.
    pub fn what_by(&self, names: Sides<&str>) -> String {
        words::what_of(self, names)
    }

    /// The outcome, in words.
    pub fn outcome(&self) -> String {
        words::outcome(self)
    }
}

/// The names of the sides, as the functionConfig has them.
fn own_names() -> Sides<&'static str> {
    Sides::of(Side::name)
}

/// The identity of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct File {
    /// Its path in the package.
    pub path: String,
    /// The number of the resource in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
}

/// The longest message, in bytes. A message is one line of a terminal or a log; details are in the other fields, or in the input.
const MESSAGE: usize = 8000;

/// A message on one line, without misleading characters, and not too long.
fn of_line(message: &str) -> String {
    cut(shown::line(message).into_owned(), MESSAGE)
}

impl What {
    /// How severe it is in most cases.
    fn severity(&self) -> Severity {
        match self {
            Self::Wrong { .. }
            | Self::Lacking { .. }
            | Self::NoPartner { .. }
            | Self::SourceIsItem { .. }
            | Self::NoneSelected { .. }
            | Self::DeletedBefore
            | Self::NeitherForm
            | Self::NoConfig
            | Self::OneIdentity { .. } => Severity::Error,
            Self::Noticed(noticed) if noticed.is_info() => Severity::Info,
            Self::Conflict(_)
            | Self::Noticed(_)
            | Self::OtherKind { .. }
            | Self::Shortened { .. }
            | Self::Commented { .. }
            | Self::CommentsLost { .. }
            | Self::Refused { .. }
            | Self::Broken { .. }
            | Self::NotMoved { .. }
            | Self::AddedUnclear(_)
            | Self::LeftBehind { .. }
            | Self::United(_)
            | Self::Deeper { .. }
            | Self::OtherOriginal { .. }
            | Self::NotRead { .. }
            | Self::NotReadHere(_)
            | Self::LeftOut { .. }
            | Self::StaysAt { .. }
            | Self::DestIsAbove { .. }
            | Self::ReleaseInDest(_)
            | Self::Obeyed
            | Self::TakesRole(_)
            | Self::NoYaml(_)
            | Self::NoMarkers { .. }
            | Self::UnnamedDocument
            | Self::Unreached { .. } => Severity::Warning,
            Self::Apart { missed: Missed::Source | Missed::Changed(_) | Missed::New | Missed::Deleted, .. } => {
                Severity::Warning
            }
            _ => Severity::Info,
        }
    }
}

impl Event {
    /// An event that a host says in its own words. It is not about a resource or a place.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self { severity, ..Self::of(What::Said(message.into())) }
    }

    /// The event for what happened, with the severity that this has in most cases. It is not about a resource or a place.
    pub fn of(what: What) -> Self {
        let severity = what.severity();
        let (resource_ref, field, file, excerpt, at, here) = (None, None, None, None, None, None);
        Self { what, severity, resource_ref, field, file, excerpt, at, here, is_secret: false }
    }

    /// The error for output about a resource that cannot be written.
    pub fn unwritable(why: impl Into<Unwritable>, resource: &Resource<'_>) -> Box<Self> {
        Box::new(Self::new(Severity::Error, why.into().to_string()).about(resource))
    }

    /// An error in a text; `text` says which.
    pub fn unreadable(text: &str, error: &Error) -> Self {
        let Error { position, message, .. } = error;
        let place = TextPlace { text: text.to_owned(), position: *position, form: TextForm::Input };
        let at = Some(At { text: text.to_owned(), position: *position });
        let excerpt = error.excerpt().map(str::to_owned);
        Self { excerpt, at, ..Self::of(What::Wrong { why: message.clone(), place }) }
    }

    /// This error in a text of the functionConfig or of stdin, with its place in a file that the user knows.
    #[must_use]
    pub fn moved_to(self, (path, position): (String, Position), why: String) -> Self {
        let file = self.file.or_else(|| Some(File { path: path.clone(), index: None }));
        let at = Some(At { text: path.clone(), position });
        let place = TextPlace { text: path, position, form: TextForm::File };
        Self { what: What::Wrong { why, place }, at, file, ..self }
    }

    /// This event, whose place is in a file, with the place at the beginning of its message, as editors find it.
    pub fn put_place_first(&mut self) {
        let Some(At { text, position }) = &self.at else { return };
        let why = match &self.what {
            What::Wrong { why, .. } => why.clone(),
            What::Lacking { rest, .. } => words::lacking(rest),
            _ => return,
        };
        let place = TextPlace { text: text.clone(), position: *position, form: TextForm::File };
        self.what = What::Wrong { why, place };
    }

    /// A resource lacks a field. `rest` names the field that it must have, and says why.
    pub fn lacking(resource: &Resource<'_>, rest: &str) -> Self {
        let at = match &resource.origin {
            Origin::File { name, .. } => Some(At { text: name.clone(), position: resource.node().position() }),
            Origin::Item(_) | Origin::Listed { .. } | Origin::Field(_) => None,
        };
        let what = What::Lacking { whereabouts: resource.whereabouts(), rest: rest.to_owned() };
        Self { at, ..Self::of(what) }.about(resource)
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
        Self { severity, ..Self::of(What::Conflict(Box::new(clash))) }
    }

    /// The conflict that it tells, if it tells one.
    pub fn clash(&self) -> Option<&Clash> {
        if let What::Conflict(clash) = &self.what { Some(clash) } else { None }
    }

    /// The same, to be changed.
    pub fn clash_mut(&mut self) -> Option<&mut Clash> {
        if let What::Conflict(clash) = &mut self.what { Some(clash) } else { None }
    }

    /// The counts, if it tells those of a three-way merge.
    pub fn counts(&self) -> Option<Counts> {
        if let What::Counts(counts) = self.what { Some(counts) } else { None }
    }

    /// The rule, if it tells that a rule decided nothing.
    pub fn idle(&self) -> Option<&Name> {
        if let What::IdleDecision { rule, .. } = &self.what { Some(rule) } else { None }
    }

    /// The kind of the event for programs, which a tag names.
    pub fn reason(&self) -> Option<&'static str> {
        Some(match &self.what {
            // A rule of the user decided it, so nobody needs to look.
            What::Conflict(_) if self.severity == Severity::Info => "decided",
            What::Conflict(_) => "conflict",
            What::Noticed(noticed) if noticed.is_info() => "combined",
            What::FileMerged { .. } => "combined",
            What::Moved { .. } => "moved",
            What::IdleDecision { .. } => "idle-rule",
            What::OtherOriginal { .. } => "other-original",
            What::Differs(_, kind) => kind,
            _ => return None,
        })
    }

    /// Makes a conflict open again: it has no winner, and someone must decide.
    pub fn leave_open(&mut self) {
        self.severity = Severity::Error;
        if let Some(clash) = self.clash_mut() {
            clash.settled = Settled::Open;
            clash.notes.clear();
        }
    }

    /// Its size in bytes, without the values, which come off the budget when they are read.
    pub fn size(&self) -> usize {
        let of_field = self.field.as_ref().map_or(0, |f| f.path.len());
        let of_resource = self.resource_ref.as_ref().map_or(0, |r| {
            [&r.api_version, &r.kind, &r.namespace, &r.name].into_iter().map(String::len).sum::<usize>()
        });
        let of_file = self.file.as_ref().map_or(0, |f| f.path.len());
        let of_place = self.clash().map_or(0, |clash| clash.place().len());
        self.message().len() + of_field + of_resource + of_file + of_place
    }

    /// This event, about a resource.
    #[must_use]
    pub fn about(mut self, resource: &Resource<'_>) -> Self {
        // A document of a file has no name, and its file says which it is.
        self.resource_ref = resource.identity.filter(|_| !resource.is_file()).map(ResourceRef::from);
        self.file =
            resource.path.map(|path| File { path: path.into(), index: resource.index.and_then(|i| i.parse().ok()) });
        self.is_secret |= resource.secret == Secret::All;
        self
    }

    /// Whether it is a conflict that no rule of the user decided.
    pub fn is_conflict(&self) -> bool {
        matches!(self.what, What::Conflict(_)) && self.severity != Severity::Info
    }

    /// Whether it is a conflict that nobody has decided.
    pub fn is_open(&self) -> bool {
        self.is_conflict() && self.clash().is_some_and(|clash| clash.settled == Settled::Open)
    }

    /// The message on one line, without misleading characters, and not too long: details are in the other fields, or in the input.
    pub fn message(&self) -> String {
        self.in_words_of(own_names())
    }

    /// The same, with these names for the sides.
    pub fn in_words_of(&self, names: Sides<&str>) -> String {
        of_line(&words::message(&self.what, names))
    }

    /// The message without the place, for hosts that show the place apart.
    pub fn without_place(&self) -> String {
        match &self.what {
            What::Wrong { why, .. } if self.at.is_some() => why.clone(),
            What::Lacking { rest, .. } if self.at.is_some() => words::lacking(rest),
            _ => self.message(),
        }
    }

    /// One line for stderr, with the resource and the file, which are in other fields than the message.
    pub fn line(&self) -> String {
        self.word().says(self.said(own_names())).to_string()
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
    fn said(&self, names: Sides<&str>) -> String {
        // A line that begins with a place in the resource's own file does not repeat the file.
        let is_there = |at: &&At| self.file.as_ref().is_some_and(|file| file.path == at.text);
        let at = self.at.as_ref().filter(is_there);
        at.map_or_else(|| self.said_with("", &self.in_words_of(names)), |at| self.said_at(at))
    }

    /// The same for an error in a text. It begins with the place.
    fn said_at(&self, At { text, position }: &At) -> String {
        Self { file: None, ..self.clone() }.said_with(&format!("{text}:{position}: "), &self.without_place())
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

impl From<Unwritable> for Box<Event> {
    fn from(unwritable: Unwritable) -> Self {
        Self::new(Event::new(Severity::Error, unwritable.to_string()))
    }
}

impl From<Exceeded> for Box<Event> {
    fn from(exceeded: Exceeded) -> Self {
        Self::new(Event::new(Severity::Error, exceeded.to_string()))
    }
}
