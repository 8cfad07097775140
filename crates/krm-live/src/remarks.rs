//! What a run remarks about an object of the cluster.

use krm_job::event::{Event, Severity};
use krm_yaml::shown;

use crate::local::Local;
use crate::object::{self, Object};

/// Reports that nobody knows which state was applied to an object.
pub fn of_unknown_origin(local: &Local) -> Event {
    let note = local.live.as_ref().and_then(object::last_applied);
    let version = note.and_then(|json| Object::parse(json).ok()).map(|note| note.api_version().to_owned());
    let why = match (note, version) {
        (None, _) => "it has no last-applied-configuration annotation, so".to_owned(),
        (Some(_), Some(version)) if !version.is_empty() && version != local.address.api_version() => {
            format!(
                "its last-applied-configuration annotation is of `{}`, whose fields may have other names, so",
                shown::name(&version)
            )
        }
        (Some(_), _) => format!("its annotation `{}` does not hold a resource, so", object::LAST_APPLIED),
    };
    let message = format!("{}: {why} krm-merge cannot detect changes made in the cluster", local.address);
    Event::new(Severity::Warning, message)
}

/// Reports that an object is being deleted.
pub fn being_deleted(local: &Local) -> Option<Event> {
    let since = local.live.as_ref()?["metadata"]["deletionTimestamp"].as_str()?;
    let message = format!("{}: it is being deleted since {since}, and changes to it are lost", local.address);
    Some(Event::new(Severity::Warning, message))
}
