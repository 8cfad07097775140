//! Fields that the merge changes, and that the API server does not let change in an object that exists.

use super::Package;
use crate::event::Event;

/// A result for each such field.
pub(super) fn refused<'p, 'a>(package: Package<'p, 'a>) -> Vec<Event> {
    let all = package.changed().flat_map(|(subject, dest, tree)| {
        let about = subject.about(dest);
        let found = krm_schema::immutable::refused(dest.node(), tree, package.rules.cursor(dest));
        found.into_iter().map(move |refused| Event::of_refused(&refused, about, package.rules.budget))
    });
    all.collect()
}
