//! [`Event`]: what happened in a merge, and where, as data.
//!
//! Hosts compare, count, group and filter events. Only the crate `krm-words` makes English of them, when a host prints them.

mod owned;
mod value;
mod what;

use std::slice;
use std::sync::Arc;

use krm_merge_core::policy::Settled;
use krm_tree::limit::Exceeded;
use krm_tree::splice::Unwritable;
use krm_yaml::secret::Secret;
use krm_yaml::{Error, NodeRef};
use serde::Serialize;

use crate::name::Name;
use krm_names::file_path;
use krm_package::package::{Fault, Why};
use krm_package::resource::{Identity, Origin, Resource};
use krm_package::rules::Unmergeable;
pub use owned::{About, called, named};
pub use value::{Value, to_value};
pub use what::{
    Alike, AsText, Cause, Clash, ClashNote, ClashPlace, Counts, Did, Dispute, FileForm, InTheWay, Inside, ItemFiles,
    Lacks, LeftUpstream, Majority, Margin, Missed, MovedResource, NoYaml, Noticed, Privacy, RoleFault, RuleParts,
    Stays, TextForm, TextPlace, What, WhyUnread,
};

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
    /// The resource it is about. All events of a resource have the same one: they may be many.
    pub resource_ref: Option<Arc<ResourceRef>>,
    /// The field it is about.
    pub field: Option<Box<Field>>,
    /// The file of the resource.
    pub file: Option<Arc<File>>,
    /// The line of a text that cannot be read, for a person at a terminal.
    pub excerpt: Option<Box<str>>,
    /// The byte offset of the place in the text that has dest's resource.
    pub here: Option<usize>,
    /// Whether its values are secret, so that no person may see them.
    pub is_secret: bool,
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The path, elements by index.
    pub path: String,
    /// Dest's value.
    pub current_value: Option<Value>,
    /// The value of source or updated.
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
            | Self::Roles(_)
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
        let (resource_ref, field, file, excerpt, here) = (None, None, None, None, None);
        Self { what, severity, resource_ref, field, file, excerpt, here, is_secret: false }
    }

    /// The error for output about a resource that cannot be written.
    pub fn unwritable(why: impl Into<Unwritable>, resource: &Resource<'_>) -> Box<Self> {
        Box::new(Self::new(Severity::Error, why.into().to_string()).about(resource))
    }

    /// An error in a text; `text` says which.
    pub fn unreadable(text: &str, error: &Error) -> Self {
        let place = TextPlace::new(text, error.position, TextForm::Input);
        let excerpt = error.excerpt().map(Into::into);
        Self { excerpt, ..Self::of(What::Wrong { why: error.message.clone(), place }) }
    }

    /// The place in a text that the user knows.
    pub fn at(&self) -> Option<&TextPlace> {
        let place = match &self.what {
            What::Wrong { place, .. } => Some(place),
            What::Lacking { place, .. } => place.as_ref(),
            _ => None,
        };
        place.filter(|place| place.form != TextForm::Unknown)
    }

    /// The same, to be changed.
    pub fn at_mut(&mut self) -> Option<&mut TextPlace> {
        match &mut self.what {
            What::Wrong { place, .. } => Some(place),
            What::Lacking { place, .. } => place.as_mut(),
            _ => None,
        }
    }

    /// A resource lacks a field. `rest` names the field that it must have, and says why.
    pub fn lacking(resource: &Resource<'_>, rest: &str) -> Self {
        let place = match &resource.origin {
            Origin::File { name, .. } => Some(TextPlace::new(name, resource.node().position(), TextForm::Input)),
            Origin::Item(_) | Origin::Listed { .. } | Origin::Field(_) => None,
        };
        let what = What::Lacking { whereabouts: resource.whereabouts(), rest: rest.to_owned(), place };
        Self::of(what).about(resource)
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
            "the alias `{}` must be in the same item as its anchor, because the merge changes one of them",
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

    /// Makes a conflict open again: it has no winner, and is unresolved.
    pub fn leave_open(&mut self) {
        self.severity = Severity::Error;
        if let Some(clash) = self.clash_mut() {
            clash.settled = Settled::Open;
            clash.notes.clear();
        }
    }

    /// This event, about a resource.
    #[must_use]
    pub fn about(mut self, resource: &Resource<'_>) -> Self {
        // A document of a file has no name, and its file says which it is.
        self.resource_ref = resource.identity.filter(|_| !resource.is_file()).map(|of| Arc::new(of.into()));
        let index = || resource.index.and_then(|i| i.parse().ok());
        self.file = resource.path.map(|path| File { path: path.into(), index: index() }.into());
        self.is_secret |= resource.secret == Secret::All;
        self
    }

    /// Takes the resource and the file of another event, if they are equal.
    pub(crate) fn share(&mut self, other: &Self) {
        if self.resource_ref == other.resource_ref {
            self.resource_ref.clone_from(&other.resource_ref);
        }
        if self.file == other.file {
            self.file.clone_from(&other.file);
        }
    }

    /// Whether it is a conflict that no rule of the user decided.
    pub fn is_conflict(&self) -> bool {
        matches!(self.what, What::Conflict(_)) && self.severity != Severity::Info
    }

    /// Whether it is a conflict that nobody has decided.
    pub fn is_open(&self) -> bool {
        self.is_conflict() && self.clash().is_some_and(|clash| clash.settled == Settled::Open)
    }
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
