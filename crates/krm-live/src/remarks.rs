//! What a run remarks about an object of the cluster.

use krm_merge_function::results::{Outcome, Severity};

use crate::local::Local;
use crate::object;

/// Reports that nobody knows which state was applied to an object.
pub fn of_unknown_origin(local: &Local) -> Outcome {
    let why = match local.live.as_ref().and_then(object::last_applied) {
        None => "it was not applied by `kubectl apply`, so".to_owned(),
        Some(_) => format!("`{}` must hold what was applied to it, which it does not, so", object::LAST_APPLIED),
    };
    let message = format!("{}: {why} nobody can tell what changed in it since", local.address);
    Outcome::new(Severity::Warning, message)
}

/// Reports that an object is being deleted.
pub fn being_deleted(local: &Local) -> Option<Outcome> {
    let since = local.live.as_ref()?["metadata"]["deletionTimestamp"].as_str()?;
    let message = format!("{}: it is being deleted since {since}, and changes to it are lost", local.address);
    Some(Outcome::new(Severity::Warning, message))
}
