//! Comments that the merge loses: those that only dest has, and those that upstream added.

use krm_package::package;

use super::{Package, Told};
use crate::event::Event;
use crate::results::Results;
use crate::role::Role;

/// A warning for each place that loses comments.
pub(super) fn comments(package: Package<'_, '_>, results: &mut Results<'_>) -> Told {
    let budget = results.budget();
    let all = package.subjects.iter().filter_map(|subject| Some((subject.merged?, subject.about(subject.sides.dest?))));
    let all = all.flat_map(|((merged, replaced), about)| {
        let warnings = package::lost(merged, package.items, replaced, package.rules).into_iter();
        warnings.map(move |warning| Event::of_warning(&warning, about, Role::Updated, budget))
    });
    results.tell(all)
}
