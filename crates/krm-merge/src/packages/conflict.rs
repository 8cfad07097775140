//! [`Conflict`]: a conflict of a merge, owned.

use krm_job::decision::ConflictView;
use krm_job::event::{Clash, ClashPlace, Event, ResourceRef};
use krm_package::package;
use krm_tree::limit::Budget;
use krm_tree::sides::Sides;
use krm_tree::splice;

/// A conflict of a merge, with the values of the sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// What happened.
    event: Event,
    /// The place in the resource, elements by key; empty for the resource or the file as a whole.
    path: String,
    /// The value of each side as JSON.
    values: Sides<Option<String>>,
}

/// A resource, its file, and a place in it.
pub(super) type ConflictName = (Option<ResourceRef>, Option<String>, String);

/// Whether values of Secrets are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reveal {
    /// They are not, so that the result may go into a log or a comment.
    Public,
    /// They are, for the eyes of someone who may see them.
    Secrets,
}

impl Conflict {
    /// What happened, with the resource, the file and the place.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The resource; `None` for a file without resources.
    pub fn resource(&self) -> Option<&ResourceRef> {
        self.event.resource_ref.as_deref()
    }

    /// The file in the package; `None` if the package is one text.
    pub fn file(&self) -> Option<&str> {
        self.event.file.as_ref().map(|file| &file.path[..])
    }

    /// The place in the resource, elements by key, such as `spec.ports[port=80].name`; empty for the resource or the file as a whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value of each side as JSON. A side that has none, and a Secret that is not to be revealed, gives `None`.
    pub fn values(&self, reveal: Reveal) -> Sides<Option<&str>> {
        let is_shown = reveal == Reveal::Secrets || !self.event.is_secret;
        Sides::of(|side| self.values[side].as_deref().filter(|_| is_shown))
    }

    /// Whether the values are of a Secret.
    pub fn is_secret(&self) -> bool {
        self.event.is_secret
    }

    /// Whether no rule decided it.
    pub fn is_open(&self) -> bool {
        self.event.is_open()
    }

    /// The name by which a program decides it: the resource, the file and the place.
    pub(super) fn name(&self) -> ConflictName {
        (self.resource().cloned(), self.file().map(str::to_owned), self.path.clone())
    }

    /// Whether it is about a whole resource, so that original's state wins nothing.
    pub(super) fn is_of_a_whole(&self) -> bool {
        self.path.is_empty() && self.resource().is_some()
    }

    /// The path of a file without resources, if it is about one.
    pub(super) fn file_without_resources(&self) -> Option<&str> {
        self.file().filter(|_| self.resource().is_none())
    }
}

/// The conflict of a resource, with its event.
pub(super) fn of_resource(view: &ConflictView<'_, '_>, event: &Event, budget: &Budget) -> Conflict {
    let values = Sides::of(|side| view.values[side].as_ref().and_then(|tree| splice::json_of(tree, budget).ok()));
    Conflict { event: event.clone(), path: view.path.keyed(), values }
}

/// The conflict of a file without resources that an event tells, if it tells one.
pub(super) fn of_file(event: &Event) -> Option<Conflict> {
    let Clash { place, original, .. } = event.clash()?;
    let path = if let ClashPlace::Field(path) = place { path.clone() } else { String::new() };
    let json = |value: &Option<_>| value.as_ref().and_then(|value| serde_json::to_string(value).ok());
    let (dest, updated) =
        event.field.as_ref().map_or((None, None), |f| (json(&f.current_value), json(&f.proposed_value)));
    let values = Sides { original: original.clone(), updated, dest };
    Some(Conflict { event: event.clone(), path, values })
}

/// The name of a conflict of the engine.
pub(super) fn name_of(conflict: &package::Conflict<'_, '_, '_>) -> ConflictName {
    let resource = conflict.resource();
    let identity = resource.identity.filter(|_| !resource.is_file()).map(ResourceRef::from);
    (identity, resource.path.map(str::to_owned), conflict.path())
}
