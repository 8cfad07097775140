//! Results as one line each. The place comes first, and no text of a file is shown that could be secret.
//!
//! Lines of a file are not repeated, because a line that cannot be read may be a password without its closing quote. The engine's messages
//! contain no values of Secrets.

use std::collections::HashSet;

use krm_job::event::{Event, Severity, TextForm};
use krm_package::resource::Resource;

use crate::side::Side;

/// The place of a resource in the form that editors accept: `web.yaml:3:1`.
pub fn whereabouts(resource: &Resource<'_>) -> String {
    format!("{}:{}", resource.origin.text(), resource.node().position())
}

/// Adds the file and position to errors in files of the sides, as in all other errors.
pub fn with_places<'s>(results: &mut [Event], sides: impl Iterator<Item = &'s Side>) {
    if results.iter().all(|r| r.severity != Severity::Error) {
        return;
    }
    let files: HashSet<&str> = sides.flat_map(|s| &s.files).map(|f| f.name.as_str()).collect();
    for result in results.iter_mut() {
        if let Some(place) = result.at_mut() {
            let is_known = files.contains(place.text.as_str());
            place.form = if is_known { TextForm::File } else { TextForm::Unknown };
        }
    }
}
