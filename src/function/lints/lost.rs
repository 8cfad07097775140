//! Comments that only dest has, and that the merge removes from its text.

use krm_merge::documents::Item;
use krm_merge::edits::{Edit, TextEdits};
use krm_merge::lost::{bytes_of, lost_comments};
use krm_merge::resource::Resource;
use krm_merge::warning::Warning;

use super::{Package, Subject};
use crate::config::Role;
use crate::report::Report;

/// A warning for each place that loses comments.
pub(super) fn comments<'p, 'a>(package: Package<'p, 'a>) -> Vec<Report<'p, 'a>> {
    let all = package.subjects.iter().filter_map(|subject| Some((subject, subject.sides.dest?)));
    let all = all.flat_map(|(subject, about)| {
        let warnings = lost(package, subject, about).into_iter();
        warnings.map(move |warning| Report::Warning { about, warning, side: Role::Updated })
    });
    all.collect()
}

fn lost<'a>(package: Package<'_, 'a>, subject: &Subject<'_, 'a>, dest: &Resource<'a>) -> Vec<Warning<'a>> {
    if subject.replaced.iter().any(|node| node.is(dest.node())) {
        return Vec::new();
    }
    let all;
    let edits = match dest.origin.item().and_then(|item| package.items.get(item)) {
        Some(Item::Edited(edits)) => edits,
        Some(Item::Goes) => {
            let range = bytes_of(dest.node());
            all = TextEdits::of(vec![Edit { range, text: String::new() }]).unwrap_or_default();
            &all
        }
        Some(Item::Stays) | None => return Vec::new(),
    };
    let upstream = [subject.sides.original, subject.sides.updated].into_iter().flatten();
    let upstream: Vec<_> = upstream.map(Resource::node).collect();
    lost_comments(dest.node(), edits, &upstream, subject.replaced, || package.rules.cursor(dest))
}
