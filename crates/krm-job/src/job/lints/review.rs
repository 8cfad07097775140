//! What the owner of a resource should check in what the merge made of it, and by which guesses lists merged.

use std::collections::{BTreeMap, BTreeSet};

use krm_merge_core::review::Reviewed;
use krm_merge_core::warning::Warning;
use krm_schema::grounds::Ground;
use krm_schema::mode::Mode;
use krm_schema::schema::Basis;
use krm_tree::child::find;

use super::{Package, Told};
use crate::event::{Event, What};
use crate::results::Results;
use crate::role::Role;

/// A warning for each place, and a result for each type with lists that merged by a guess.
pub(super) fn review<'a>(package: Package<'_, 'a>, results: &mut Results<'_>) -> Told {
    let side = if package.rules.mode == Mode::ThreeWay { Role::Updated } else { Role::Source };
    let budget = results.budget();
    let mut of_types: BTreeMap<(&'a str, &'a str), BTreeSet<Ground>> = BTreeMap::new();
    for (subject, about, tree) in package.changed() {
        let Reviewed { warnings, grounds } =
            krm_merge_core::review::review(tree, package.rules.cursor(about), about.node());
        if let Some(identity) = about.identity.filter(|_| !grounds.is_empty()) {
            of_types.entry((identity.api_version, identity.kind)).or_default().extend(grounds);
        }
        for warning in warnings {
            // The last source that has a value at the place proposed it.
            let mut sources = subject.sources.iter().rev().copied().chain(subject.sides.updated);
            let proposed = sources.find_map(|source| find(source.node(), &warning.path)).or(warning.proposed);
            let (about, warning) = (subject.about(about), Warning { proposed, ..warning });
            results.tell([Event::of_warning(&warning, about, side, budget)])?;
        }
    }
    // If all keys of a type were inferred, that is no news: a user expects inference for an unknown type.
    of_types.retain(|_, lists| lists.iter().any(|list| list.basis != Basis::Inferred));
    let types = package.rules.types;
    results.tell(of_types.into_iter().map(|((api_version, kind), lists)| {
        let of = [api_version, kind].map(str::to_owned);
        Event::of(What::Grounds { of, instead: types.instead(api_version, kind), lists })
    }))
}
