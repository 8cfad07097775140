//! Lints: what the owner of a package should look at, by the package before and after a merge.
//!
//! A lint changes nothing and decides nothing, so all of them run when the merge is done. Each one is a function that looks at the [`Package`] and
//! tells what it finds, and knows no other lint.

mod broken;
mod idle;
mod immutable;
mod links;
mod lost;
mod release;
mod review;
mod unknown;

use krm_package::documents::Item;
use krm_package::package::{After, Disputed, Effect, MergedList, MergedResource};
use krm_package::resource::Resource;
use krm_package::rules::Rules;
use krm_schema::mode::Mode;
use krm_tree::sides::Sides;
use krm_tree::tree::Tree;

use crate::config::Config;
use crate::decision::Decisions;
use crate::event::{About, Event};
use crate::results::Results;
use crate::results::Verdict;
use crate::roles::Roles;

/// A lint: tells what it finds in a package, one event after the other, so that the budget of the results stops it.
type Lint = for<'p, 'a> fn(Package<'p, 'a>, &mut Results<'_>) -> Told;

/// Whether all that was found could be told.
type Told = Result<(), Box<Event>>;

/// The lints of a mode: first those of what the merge made, then those of what the user gave for it.
fn of(mode: Mode) -> [&'static [Lint]; 2] {
    match mode {
        // Here dest may be any text, and a source says itself what goes.
        Mode::TwoWay => [&[review::review], &[idle::lists]],
        Mode::Strategic => [&[review::review], &[unknown::types, idle::lists]],
        Mode::ThreeWay => [
            &[review::review, immutable::refused, lost::comments, links::written_out, broken::references],
            &[idle::decisions, idle::lists, release::releases],
        ],
    }
}

/// A package before and after a merge.
#[derive(Clone, Copy)]
pub(super) struct Package<'p, 'a> {
    /// The resources of dest and, in a three-way merge, those of upstream, in the order in which they were merged.
    pub subjects: &'p [Subject<'p, 'a>],
    /// The lists of its resources, without their items.
    pub lists: &'p [Subject<'p, 'a>],
    /// What happened to each item, by its number.
    pub items: &'p [Item],
    /// Who played which role.
    pub roles: &'p Roles<'a>,
    /// What the user chose.
    pub config: &'p Config<'a>,
    /// How its resources merged.
    pub rules: Rules<'a>,
    /// Who won its conflicts.
    pub decisions: &'p Decisions<'a>,
    /// Whether it is written.
    pub verdict: Verdict,
}

/// A resource before and after a merge.
#[derive(Clone, Copy)]
pub(super) struct Subject<'p, 'a> {
    /// The resource on each side; in a merge of sources, on the side of dest alone.
    pub sides: Sides<Option<&'p Resource<'a>>>,
    /// The sources that were merged into it, in their order.
    pub sources: &'p [&'p Resource<'a>],
    /// What the package then has of it, if anything.
    pub after: Option<&'p After<'p, 'a>>,
    /// Its merge, and what that replaced; a list without its items has none here.
    pub merged: Option<(&'p MergedResource<'p, 'a>, &'p Disputed<'a>)>,
}

/// Tells what is found in what the merge made.
pub(super) fn of_result(package: Package<'_, '_>, results: &mut Results<'_>) -> Told {
    let [of_result, _] = of(package.rules.mode);
    of_result.iter().try_for_each(|lint| lint(package, results))
}

/// Tells what is found in what the user gave.
pub(super) fn of_input(package: Package<'_, '_>, results: &mut Results<'_>) -> Told {
    let [_, of_input] = of(package.rules.mode);
    of_input.iter().try_for_each(|lint| lint(package, results))
}

impl<'p, 'a> Package<'p, 'a> {
    /// The resources and lists of dest that the merge changed, each with what dest had and with what it became.
    fn changed(self) -> impl Iterator<Item = (&'p Subject<'p, 'a>, &'p Resource<'a>, &'p Tree<'a>)> {
        let changed = |subject: &'p Subject<'p, 'a>| match (subject.sides.dest, subject.after) {
            (Some(dest), Some(After::Made(tree))) if !tree.is(dest.node()) => Some((subject, dest, tree)),
            _ => None,
        };
        self.subjects.iter().chain(self.lists).filter_map(changed)
    }
}

impl<'p, 'a> Subject<'p, 'a> {
    /// A resource and what the merge did to it.
    pub fn of(merged: &'p MergedResource<'p, 'a>, effect: &'p Effect<'p, 'a>) -> Self {
        let Effect { after, replaced, .. } = effect;
        Self {
            sides: merged.member.sides,
            sources: &merged.sources,
            after: after.as_ref(),
            merged: Some((merged, replaced)),
        }
    }

    /// One of its resources, for a result.
    fn about(&self, resource: &'p Resource<'a>) -> About<'p, 'a> {
        let of_sources = self.sources.iter().map(|source| source.secret).max();
        About { resource, secret: Resource::secret(self.sides).max(of_sources.unwrap_or_default()) }
    }

    /// A list without its items.
    pub fn of_list(merged: &'p MergedList<'a>, after: Option<&'p After<'p, 'a>>) -> Self {
        Self { sides: Sides::of(|side| Some(&merged.sides[side])), sources: &[], after, merged: None }
    }
}
