//! [`Open`]: a merge of sides whose conflicts are open, and from which changes of files are drawn, once or several times.

use std::collections::{BTreeMap, HashSet};

use crate::side::{Side, SidePart};
use crate::told;
use anyhow::{Error, Result, bail};
use krm_job::carried::Combiner;
use krm_job::compared::ComparedTexts;
use krm_job::config::Config;
use krm_job::event::Event;
use krm_job::forms::{Taken, no_yaml};
use krm_job::job::{Job, OpenMerge, Texts, Written};
use krm_job::results::{self, has_failed};
use krm_job::role::Role;
use krm_merge_core::policy::{OnConflict, Policy, Treatment};
use krm_package::package::{Conflict, FileItem, FileMerge, ItemsOfFiles, NewResource};
use krm_schema::schema::{ListRule, Types};
use krm_tree::limit::{Budget, Limit};
use krm_tree::sides::Sides;
use krm_tree::tree::Pick;
use krm_yaml::{Document, NodeRef};

use super::files::{changes, compared, of_sides};
use super::left_out::{Found, LeftOut, why_stays};
use super::placed::{Placed, place};
use super::{Conflicts, Merge, check_sources, count_nothing, kustomizations, on_all_cores, playing};
use crate::beside;
use crate::brought;
use crate::carry::{carry, carry_executable};

/// A merge of sides whose conflicts are open.
pub struct Open<'m> {
    dest: &'m Side,
    given: &'m [(Role, Vec<Side>)],
    left_out: &'m LeftOut,
    /// The items of dest, each with the number of its file.
    items: &'m [(usize, NodeRef<'m>)],
    merged: Result<OpenMerge<'m>, Box<Event>>,
    /// Who wins the conflicts of files.
    on_conflict: OnConflict,
    policy: Policy,
    rules: Vec<ListRule>,
    types: Types<'static>,
    limit: Limit,
}

/// What the engine writes, the texts of the new resources, and the results.
type Engine<'w> = (Written<'w, 'w>, Vec<NewResource>, Vec<Event>);

/// Why a merge is not drawn.
pub enum Stop {
    /// Other resources take no part in it, so it must begin again.
    Again(Box<LeftOut>),
    /// It cannot be drawn.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Merges the other sides into dest, and draws the merge by `draw`.
///
/// A side may have files that it does not read, such as a symbolic link. These take no part in the merge; a warning names those that could
/// matter. If updated does not read a file, the file does not count as deleted, so dest keeps it.
///
/// Files that dest leaves out take no part either. If resources of other sides would go to such files, warnings name them. Then the engine
/// runs again without these resources, so that no count and no result includes them.
///
/// # Errors
/// The errors of `draw`.
pub fn drawn<'c, T>(
    dest: &Side,
    given: &[(Role, Vec<Side>)],
    config: impl Fn() -> Result<Config<'c>>,
    draw: impl Fn(Open<'_>) -> Result<T, Stop>,
) -> Result<T> {
    let mut left_out = LeftOut::of_sides(given);
    let input = given.iter().flat_map(|(_, sides)| sides).chain([dest]).map(Side::size).sum();
    let kustomizations = kustomizations(dest, given)?;
    let why_stays = |here: &str, to: &str| why_stays(dest, given, [here, to]);
    loop {
        let mut config = config()?;
        config.limit = config.limit.with_input(input);
        let (limit, policy) = (config.limit, config.policy());
        let rules: Vec<ListRule> = config.merge_keys.iter().map(|named| named.rule.clone()).collect();
        let types = Types::new(rules.iter().cloned(), config.inference);
        let on_conflict = config.task.on_conflict();
        let (owners, resources): (Vec<usize>, Vec<_>) = dest.resources(SidePart::Package).into_iter().unzip();
        let items: Vec<_> = owners.into_iter().zip(resources.iter().map(|resource| resource.node())).collect();
        let texts = Texts::parse(&config);
        let job = texts.as_ref().map_err(Clone::clone).and_then(|texts| {
            let job = Job::new(resources, playing(given, &left_out), config, texts)?.merging_with(on_all_cores);
            Ok(job.moving_unless(&why_stays).beside(kustomizations.iter().flat_map(Document::roots).collect()))
        });
        let merged = job.as_ref().map_err(Clone::clone).and_then(Job::merged);
        let (left, items) = (&left_out, &items[..]);
        let open = Open { dest, given, left_out: left, items, merged, on_conflict, policy, rules, types, limit };
        match draw(open) {
            Ok(drawn) => return Ok(drawn),
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Again(more)) => {
                drop(job);
                left_out = *more;
            }
        }
    }
}

impl<'m> Open<'m> {
    /// Decides some conflicts of resources before the rules and `onConflict` do. Nothing is told of them.
    #[must_use]
    pub fn decide(self, pick: impl FnMut(&Conflict<'_, 'm, 'm>) -> Option<Pick>) -> Self {
        Self { merged: self.merged.map(|merged| merged.decide(pick)), ..self }
    }

    /// The changes of dest's files, if the rules and `onConflict` decide the conflicts. With a side, what no rule decides stays open, and the
    /// changes are those of that side. If a result is an error, there are no changes.
    ///
    /// # Errors
    /// The files of dest cannot hold the result: two resources would be in one file, or a path leads out of dest.
    pub fn draw(&self, open: Option<Pick>) -> Result<Merge, Stop> {
        let budget = self.budget();
        let treatment = self.treatment(open, self.on_conflict);
        let merged = self.merged.as_ref().map_err(Clone::clone);
        let engine = merged.and_then(|merged| {
            let (written, results) = merged.write(treatment, &budget)?;
            let added = added(&written, self.limit)?;
            Ok((written, added, results))
        });
        self.drawn(open, engine)
    }

    /// The same, once: what was merged is not copied.
    ///
    /// # Errors
    /// The errors of [`Open::draw`].
    pub fn draw_once(mut self) -> Result<Merge, Stop> {
        let budget = self.budget();
        let (treatment, limit) = (self.treatment(None, self.on_conflict), self.limit);
        let merged = self.merged.as_mut().map_err(|error| error.clone());
        let engine = merged.and_then(|merged| {
            let (written, results) = merged.write_once(treatment, &budget)?;
            let added = added(&written, limit)?;
            Ok((written, added, results))
        });
        self.drawn(None, engine)
    }

    fn budget(&self) -> Budget {
        self.merged.as_ref().map(OpenMerge::budget).unwrap_or_default()
    }

    fn drawn(&self, open: Option<Pick>, engine: Result<Engine<'_>, Box<Event>>) -> Result<Merge, Stop> {
        let Self { dest, given, .. } = *self;
        let (written, added, mut results) =
            engine.unwrap_or_else(|error| (Written::default(), Vec::new(), vec![*error]));
        self.check_left_out(&added, &results)?;
        told::with_places(&mut results, given.iter().flat_map(|(_, sides)| sides).chain([dest]));
        results.extend(self.left_out.warnings.iter().cloned());
        results.extend(beside::warnings(dest, given));
        let sides = [dest].into_iter().chain(given.iter().rev().flat_map(|(_, sides)| sides));
        results.extend(no_yaml(sides.flat_map(|side| &side.files)));
        if !has_failed(&results) {
            check_sources(dest, given, &added)?;
        }
        let added = match place(dest, given, added) {
            // The results already have a better error.
            Err(_) if has_failed(&results) => Placed::new(),
            placed => placed?,
        };
        let moved = written.moved.values().copied().filter(|_| dest.is_folder());
        let receiving = added.keys().map(String::as_str).chain(moved).collect();
        let texts = ComparedTexts::of(of_sides(dest, given), &receiving)?;
        let files = compared(dest, given, &texts);
        let budget = Budget::new(self.limit);
        let files = FileMerge::of(files.view(), self.items(&written), added, &budget).map_err(Error::from)?;
        let placed = files.receiving();
        let left = files.left().iter().copied().filter(|path| !placed.contains(path)).collect();
        let taken = Taken { placed, left };
        let mut carried = carry(dest, given, &self.combiner(open, &budget), &taken)?;
        if has_failed(&results) || has_failed(&carried.results) {
            carried.changes.clear();
        }
        results.extend(carried.summary());
        let is_new = |told: &Event| results.iter().all(|own| own.what != told.what || own.file != told.file);
        carried.results.retain(|told| told.is_conflict() || is_new(told));
        results.append(&mut carried.results);
        results::drop_idle(&mut results, &carried.rules);
        if has_failed(&results) {
            count_nothing(&mut results, dest);
        }
        let (made, conflicts) = (BTreeMap::new(), Conflicts::Settled);
        let (rules, limit) = (self.rules.clone(), self.limit);
        let secrets = self.merged.as_ref().map(OpenMerge::secrets).unwrap_or_default();
        let name = |meant: Role| given.iter().find(|(role, _)| *role == meant).and_then(|(_, sides)| sides.first());
        let name = |meant: Role| name(meant).map(|side| side.name.clone());
        let names = Sides {
            original: name(Role::Original),
            updated: name(Role::Updated).or_else(|| name(Role::Source)),
            dest: Some(dest.name.clone()),
        };
        let mut merge = Merge { changes: carried.changes, results, made, rules, limit, conflicts, secrets, names };
        if merge.has_failed() {
            results::finish(&mut merge.results);
            return Ok(merge);
        }
        // A list that all its items leave is still there, but not if upstream's text comes to its path.
        let paths = merge.changes.iter().map(|change| &change.path);
        let replaced: HashSet<String> = paths.filter(|path| taken.left.contains(path.as_str())).cloned().collect();
        let changes = changes(dest, given, &files, &mut merge.made)?;
        merge.changes.extend(changes.into_iter().filter(|change| !replaced.contains(&change.path)));
        carry_executable(dest, given, &mut merge.changes)?;
        merge.results.extend(brought::warnings(given, &merge.changes));
        results::finish(&mut merge.results);
        Ok(in_order(merge)?)
    }

    fn treatment(&self, open: Option<Pick>, otherwise: OnConflict) -> Treatment {
        open.map_or(otherwise.into(), Treatment::Open)
    }

    fn combiner<'b>(&'b self, open: Option<Pick>, budget: &'b Budget) -> Combiner<'b> {
        Combiner {
            on_conflict: self.treatment(open, self.on_conflict),
            rules: self.merged.as_ref().map(|merged| merged.rules()).unwrap_or_default(),
            policy: self.policy,
            types: &self.types,
            budget,
        }
    }

    /// Checks that the merge goes to no file that dest leaves out.
    fn check_left_out(&self, added: &[NewResource], results: &[Event]) -> Result<(), Stop> {
        let mut left_out = self.left_out.clone();
        let found = left_out.found(self.dest, added, results)?;
        if found == Found::Nothing { Ok(()) } else { Err(Stop::Again(Box::new(left_out))) }
    }

    /// What happens to each resource of dest, by the number of its file.
    fn items<'w>(&'w self, written: &'w Written<'_, '_>) -> ItemsOfFiles<'w> {
        let mut items = ItemsOfFiles::new();
        for (number, (owner, node)) in self.items.iter().enumerate() {
            let item = written.file_item(number, *node);
            items
                .entry(*owner)
                .or_insert_with(|| Vec::with_capacity(1))
                .push(FileItem { to: item.to.filter(|_| self.dest.is_folder()), ..item });
        }
        items
    }
}

/// The texts of the new resources.
fn added(written: &Written<'_, '_>, limit: Limit) -> Result<Vec<NewResource>, Box<Event>> {
    let texts = Budget::new(limit);
    written.added.iter().map(|new| Ok(new.in_file(&texts)?)).collect()
}

/// The merge with its changes in the order of their paths, one for each path.
///
/// # Errors
/// Two files would be in one.
fn in_order(mut merge: Merge) -> Result<Merge> {
    // Another file may come to the path of a file whose resources all moved.
    let written: HashSet<String> =
        merge.changes.iter().filter(|change| change.new.is_some()).map(|change| change.path.clone()).collect();
    merge.changes.retain(|change| change.new.is_some() || !written.contains(&change.path));
    merge.changes.sort_by(|a, b| a.path.cmp(&b.path));
    if let Some(twice) = merge.changes.windows(2).find(|w| w[0].path == w[1].path) {
        bail!("{}: two files must not be for one path: one holds resources, the other one does not", twice[0].path);
    }
    Ok(merge)
}
