//! Comments that the merge loses: those that only dest has, and those that upstream added.

use krm_merge::package;

use super::Package;
use crate::config::Role;
use crate::event::Event;

/// A warning for each place that loses comments.
pub(super) fn comments<'p, 'a>(package: Package<'p, 'a>) -> Vec<Event> {
    let all = package.subjects.iter().filter_map(|subject| Some((subject.merged?, subject.about(subject.sides.dest?))));
    let all = all.flat_map(|((merged, replaced), about)| {
        let warnings = package::lost(merged, package.items, replaced, package.rules).into_iter();
        warnings.map(move |warning| Event::of_warning(&warning, about, Role::Updated, package.rules.budget))
    });
    all.collect()
}
