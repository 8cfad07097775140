//! Fields that the merge changes, and that the API server does not let change in an object that exists.

use super::{Package, Told};
use crate::event::Event;
use crate::results::Results;

/// A result for each such field.
pub(super) fn refused(package: Package<'_, '_>, results: &mut Results<'_>) -> Told {
    let budget = results.budget();
    let all = package.changed().flat_map(|(subject, dest, tree)| {
        let about = subject.about(dest);
        let found = krm_schema::immutable::refused(dest.node(), tree, package.rules.cursor(dest));
        found.into_iter().map(move |refused| Event::of_refused(&refused, about, budget))
    });
    results.tell(all)
}
