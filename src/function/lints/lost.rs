//! Comments that only dest has, and that the merge removes from its text.

use krm_merge::package;

use super::Package;
use crate::config::Role;
use crate::report::Report;

/// A warning for each place that loses comments.
pub(super) fn comments<'p, 'a>(package: Package<'p, 'a>) -> Vec<Report<'p, 'a>> {
    let all = package.subjects.iter().filter_map(|subject| Some((subject, subject.sides.dest?)));
    let all = all.flat_map(|(subject, about)| {
        let warnings = package::lost(subject.sides, package.items, subject.replaced, package.rules).into_iter();
        warnings.map(move |warning| Report::Warning { about, warning, side: Role::Updated })
    });
    all.collect()
}
