//! Aliases that the merge writes out.

use krm_merge_core::warning::{Notice, Warning};
use krm_tree::links;

use super::{Package, Told};
use crate::event::Event;
use crate::results::Results;
use crate::role::Role;

/// A warning for each alias that would lead nowhere in the result.
pub(super) fn written_out(package: Package<'_, '_>, results: &mut Results<'_>) -> Told {
    let budget = results.budget();
    let all = package.changed().flat_map(|(subject, dest, tree)| {
        let about = subject.about(dest);
        links::lost(tree).into_iter().map(move |(path, alias)| {
            let notice = Notice::WrittenOut(alias.text().to_owned());
            let warning = Warning { path, notice, dest: None, proposed: None };
            Event::of_warning(&warning, about, Role::Updated, budget)
        })
    });
    results.tell(all)
}
