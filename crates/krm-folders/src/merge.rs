//! A merge of sides: runs the engine over their resources, and turns its result into changes of files.

mod files;
mod left_out;
mod open;
mod placed;

use std::collections::{BTreeMap, HashSet};

use crate::change::{Change, Made};
use crate::held::Held;
use crate::side::{Root, Side, SidePart};
use anyhow::{Result, bail};
use krm_files::cores;
use krm_job::config::Config;
use krm_job::event::{Counts, Event, ResourceRef, Severity, What};
use krm_job::forms;
use krm_job::results::has_failed;
use krm_job::role::Role;
use krm_package::package::{Done, Member, NewResource, one_by_one};
use krm_package::resource::{Origin, Resource};
use krm_package::rules::Rules;
use krm_schema::schema::{Inference, ListRule, Types};
use krm_tree::limit::Limit;
use krm_tree::sides::Sides;
use krm_yaml::Document;

use crate::end::End;
use left_out::LeftOut;
pub use open::{Open, Stop, drawn};
use placed::path_of;

/// The outcome of a merge for dest.
#[derive(Debug)]
pub struct Merge {
    /// The files whose bytes change, in the order of their paths.
    pub changes: Vec<Change>,
    /// The results to report, the most severe first.
    pub results: Vec<Event>,
    /// How the new texts of files are made by edits of dest's files, by the paths of the new files.
    pub made: BTreeMap<String, Made>,
    /// The user's rules for lists.
    pub rules: Vec<ListRule>,
    /// How much the merge may write.
    pub limit: Limit,
    /// How conflicts were treated.
    pub conflicts: Conflicts,
    /// What is a Secret on any side, by its identity on each.
    pub secrets: Vec<ResourceRef>,
    /// The names of the sides, as the user knows them; a source stands in updated's place.
    pub names: Sides<Option<String>>,
}

/// What becomes of conflicts without a winner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflicts {
    /// They do not exist: every conflict has a winner, or nothing is merged.
    Settled,
    /// They are written to the files, between markers.
    Marked,
}

impl Merge {
    /// The same merge with other texts of its changes, to be shown.
    #[must_use]
    pub fn with_changes(&self, changes: Vec<Change>) -> Self {
        Self {
            changes,
            results: self.results.clone(),
            made: BTreeMap::new(),
            rules: self.rules.clone(),
            secrets: self.secrets.clone(),
            names: self.names.clone(),
            ..*self
        }
    }

    /// Whether any result is an error that stops the merge.
    pub fn has_failed(&self) -> bool {
        has_failed(&self.results)
    }

    /// The types by which a diff matches the elements of lists: the user's rules, the definitions among dest's resources, and the built-in
    /// types. Lists of other types match by inferred keys.
    pub fn types<'d>(&self, dest: &'d Side) -> Types<'d> {
        Types::new(self.rules.iter().cloned(), Inference::On).with_definitions(dest.definitions())
    }

    /// Whether any result is a conflict.
    pub fn is_in_conflict(&self) -> bool {
        self.results.iter().any(Event::is_conflict)
    }

    /// How a run ends if its merge failed, or if a conflict is open; else `None`. Open conflicts alone are not bad input.
    pub fn failure(&self) -> Option<End> {
        let mut errors = self.results.iter().filter(|r| r.severity == Severity::Error).peekable();
        if errors.peek().is_none() {
            return self.results.iter().any(Event::is_open).then_some(End::Differs);
        }
        Some(if errors.all(|result| result.is_conflict()) { End::Differs } else { End::Bad })
    }
}

/// How many resources a merge must have to use more than one core. To start the threads takes as long as the merge of a few resources.
const MANY: usize = 64;

/// Merges the resources of a three-way merge on all cores.
fn on_all_cores<'m, 'a>(members: &'m [Member<'_, 'a>], rules: Rules<'a>) -> Box<dyn Iterator<Item = Done<'a>> + 'm> {
    if members.len() < MANY {
        return one_by_one(members, rules);
    }
    Box::new(cores::map(members, |member| member.merged(&rules)).into_iter())
}

/// Merges the other sides into dest. If a result is an error, there are no changes.
///
/// # Errors
/// The files of dest cannot hold the result: two resources would be in one file, or a path leads out of dest.
pub fn merge<'c>(dest: &Side, given: &[(Role, Vec<Side>)], config: impl Fn() -> Result<Config<'c>>) -> Result<Merge> {
    drawn(dest, given, config, |open| open.draw_once())
}

/// Corrects the counts of a merge that failed, because nothing is written: all of dest is unchanged. Bad input has no counts.
fn count_nothing(results: &mut Vec<Event>, dest: &Side) {
    let is_bad = results.iter().any(|result| result.severity == Severity::Error && !result.is_conflict());
    results.retain(|result| result.counts().is_none() || !is_bad);
    for result in results {
        if let What::Counts(counts) = &mut result.what {
            *counts = Counts { conflicts: counts.conflicts, unchanged: dest.count(), ..Counts::default() };
        }
    }
}

/// The kustomizations of updated and dest. They generate resources to which others refer.
fn kustomizations(dest: &Side, given: &[(Role, Vec<Side>)]) -> Result<Vec<Document<'static>>> {
    let upstream = given.iter().filter(|(role, _)| *role == Role::Updated).flat_map(|(_, sides)| sides);
    let of_sides = upstream.chain([dest]).map(Side::kustomizations).collect::<Result<Vec<_>>>()?;
    Ok(of_sides.into_iter().flatten().collect())
}

/// The resources of each role that take part in the merge.
fn playing<'g>(given: &'g [(Role, Vec<Side>)], left_out: &'g LeftOut) -> Vec<(Role, Vec<Resource<'g>>)> {
    let of_role = |(role, sides): &'g (Role, Vec<Side>)| {
        let part = if *role == Role::Source { SidePart::Source } else { SidePart::Role };
        let all = sides.iter().flat_map(move |side| side.resources(part)).map(|(_, resource)| resource);
        (*role, all.filter(|resource| !left_out.has(resource)).collect())
    };
    given.iter().map(of_role).collect()
}

/// Checks a source that is a file in dest's folder, which is then not part of dest. It must patch a resource of dest. Otherwise its own
/// resources would be added to dest and exist twice.
///
/// # Errors
/// A source is dest itself; or dest has none of its resources; or a new resource would go to the file of the source.
fn check_sources(dest: &Side, given: &[(Role, Vec<Side>)], added: &[NewResource]) -> Result<()> {
    let mut sources = given.iter().filter(|(role, _)| *role == Role::Source).flat_map(|(_, sides)| sides);
    if let Some(itself) = sources.find(|side| side.place().is_some() && side.place() == dest.place()) {
        bail!("{}: the source must not be dest itself: name what has the new values", itself.name);
    }
    let Root::Folder(tree) = &dest.root else { return Ok(()) };
    for side in given.iter().filter(|(role, _)| *role == Role::Source).flat_map(|(_, sides)| sides) {
        let Some(held) = side.place().filter(|place| place.starts_with(&tree.root)).and(side.files.first()) else {
            continue;
        };
        let is_of_side =
            |added: &&NewResource| matches!(&added.origin, Origin::File { name, .. } if *name == held.name);
        let new = added.iter().filter(is_of_side).count();
        let all: HashSet<_> = side.files.iter().flat_map(Held::identities).collect();
        let is_there =
            |added: &NewResource| Ok::<_, anyhow::Error>(side.place() == Some(&tree.root.join(path_of(dest, added)?)));
        let comes_back = added.iter().filter(is_of_side).map(is_there).collect::<Result<Vec<_>>>()?.contains(&true);
        if new > 0 && !side.is_folder() && (new == all.len() || comes_back) {
            bail!(
                "{}: the source must be for other resources of dest, but it is the resource itself, and dest has no other one of its identity",
                held.name
            );
        }
    }
    Ok(())
}

/// Whether a file of dest holds something else than resources, so that none may come to it.
fn is_in_the_way(held: &Held, given: &[(Role, Vec<Side>)]) -> Result<bool> {
    let original = given.iter().filter(|(role, _)| *role == Role::Original).flat_map(|(_, sides)| sides);
    forms::is_in_the_way(held, original.filter(|side| side.is_folder()).find_map(|side| side.at(&held.path)))
}
