//! [`Job`]: one merge of the resources of a package, as a user asked for it. It is the one door of all hosts.
//!
//! A host gives the resources of any texts, and the user's choices. The job gives the roles, merges, and lets the rules decide. What comes out are
//! edits of the texts and the events that say what happened.

mod apart;
mod lints;
mod run;
mod sources;
mod three_way;
mod two_way;

use krm_merge_core::policy::Treatment;
pub use krm_package::documents::Item;
pub use krm_package::package::{Added, Spot, Written};
use krm_package::package::{Conflict, Decisions, MergeAll, Merged, one_by_one};
use krm_package::resource::Resource;
use krm_tree::limit::Budget;
use krm_tree::sides::Side;
use krm_tree::tree::Pick;
use krm_yaml::NodeRef;
use krm_yaml::secret::Secret;

use crate::config::{Config, Mode};
use crate::decision::{ConflictView, Decision};
use crate::event::{Event, ResourceRef};
use crate::forms::WhyStays;
use crate::results::Results;
use crate::role::Role;
pub use crate::roles::Texts;
use crate::roles::{Roles, assign};
use run::Run;
use sources::merge_sources;
use three_way::three_way;
use two_way::merge_alike;

/// A merge that is ready to run: who plays which role, and how they merge.
pub struct Job<'a> {
    roles: Roles<'a>,
    config: Config<'a>,
    /// The budget for new text and results.
    budget: Budget,
    told: Vec<Event>,
    /// How the resources of a three-way merge are merged.
    merge_all: MergeAll,
    why_stays: WhyStays<'a>,
}

impl<'a> Job<'a> {
    /// Prepares the merge of the items of a package as a functionConfig says. The texts of the items may be anywhere. The item with the
    /// number `i` has `i` as its [`Origin::item`](krm_package::resource::Origin::item). `given` holds resources for the roles that the
    /// functionConfig leaves open. Items that an annotation marks with such a role are added to them.
    ///
    /// # Errors
    /// The merge is impossible: a role has no resources, or resources have the same identity.
    pub fn new(
        items: Vec<Resource<'a>>,
        given: Vec<(Role, Vec<Resource<'a>>)>,
        config: Config<'a>,
        texts: &'a Texts<'a>,
    ) -> Result<Self, Box<Event>> {
        let roles = assign(items, given, &config, texts)?;
        let config = Config { types: config.types.with_definitions(roles.definitions()), ..config };
        let budget = Budget::new(config.limit);
        let mut results = Results::new(&budget);
        apart::tell(&config, &roles, &mut results, &budget)?;
        let told = results.into_vec();
        Ok(Self { roles, config, budget, told, merge_all: one_by_one, why_stays: &|_, _| None })
    }

    /// Adds the kustomizations of dest and updated that are not items, because they make resources that others refer to.
    #[must_use]
    pub fn beside(mut self, kustomizations: Vec<NodeRef<'a>>) -> Self {
        self.roles.beside = kustomizations;
        self
    }

    /// Merges the resources of a three-way merge with this function, not one after the other.
    #[must_use]
    pub fn merging_with(self, merge_all: MergeAll) -> Self {
        Self { merge_all, ..self }
    }

    /// Moves no resource of dest for whose move the host has a reason against it.
    #[must_use]
    pub fn moving_unless(self, why_stays: WhyStays<'a>) -> Self {
        Self { why_stays, ..self }
    }

    /// Merges, and leaves all conflicts open.
    ///
    /// # Errors
    /// A resource cannot be merged.
    pub fn merged(&'a self) -> Result<OpenMerge<'a>, Box<Event>> {
        let Self { roles, config, budget, .. } = self;
        let rules = config.rules(budget);
        let mut results = Results::new(budget);
        let merged = match config.mode() {
            Mode::ThreeWay => three_way(roles, rules, self.merge_all, self.why_stays),
            Mode::TwoWay if roles.others.iter().all(|(role, _)| *role != Role::Source) => merge_alike(roles, rules),
            Mode::TwoWay | Mode::Strategic => merge_sources(roles, rules, &mut results),
        }?;
        Ok(OpenMerge { job: self, merged, told: results.into_vec() })
    }

    /// Merges, and lets the rules and `onConflict` of the functionConfig decide the conflicts. If a result is an error, the caller must write
    /// nothing.
    ///
    /// # Errors
    /// A resource cannot be merged; or there is more to write than the limit allows.
    pub fn run(&'a self) -> Result<(Written<'a, 'a>, Vec<Event>), Box<Event>> {
        self.merged()?.write_once(self.config.task.on_conflict().into(), &self.budget)
    }
}

/// The merge of a [`Job`], with its conflicts open.
pub struct OpenMerge<'a> {
    job: &'a Job<'a>,
    merged: Merged<'a, 'a>,
    /// What the merge told.
    told: Vec<Event>,
}

impl<'a> OpenMerge<'a> {
    /// The budget for one text of the merge.
    pub fn budget(&self) -> Budget {
        self.job.budget.again()
    }

    /// The rules of the functionConfig that say who wins a conflict.
    pub fn rules(&self) -> &[Decision<'a>] {
        self.job.config.task.rules()
    }

    /// What is a Secret on any side, by its identity on each.
    pub fn secrets(&self) -> Vec<ResourceRef> {
        let all = self.merged.resources.iter().map(|resource| resource.member.sides);
        let secret = all.filter(|sides| Resource::secret(*sides) == Secret::All);
        let known = secret.flat_map(|sides| Side::ALL.map(|side| sides[side].and_then(|own| own.identity)));
        known.flatten().map(ResourceRef::from).collect()
    }

    /// Decides some conflicts before the rules do. Nothing is told of them.
    #[must_use]
    pub fn decide(self, mut pick: impl FnMut(&Conflict<'_, 'a, 'a>) -> Option<Pick>) -> Self {
        Self { merged: self.merged.decide(&mut |conflict| pick(&conflict)), ..self }
    }

    /// Decides the conflicts and writes the merge, with the results. `otherwise` is for the conflicts that no rule decides. It may be called
    /// again, each time with a budget of its own.
    ///
    /// # Errors
    /// There is more to write than the limit allows, or a resource cannot be written.
    pub fn write<'w>(
        &self,
        otherwise: Treatment,
        budget: &'w Budget,
    ) -> Result<(Written<'w, 'w>, Vec<Event>), Box<Event>>
    where
        'a: 'w,
    {
        self.write_seen(otherwise, budget, |_, _| {})
    }

    /// Same as [`OpenMerge::write`], for someone who looks at each conflict, with its event.
    ///
    /// # Errors
    /// The errors of [`OpenMerge::write`].
    pub fn write_seen<'w>(
        &self,
        otherwise: Treatment,
        budget: &'w Budget,
        see: impl FnMut(&ConflictView<'_, 'w>, &Event),
    ) -> Result<(Written<'w, 'w>, Vec<Event>), Box<Event>>
    where
        'a: 'w,
    {
        let mut run = self.run(otherwise, budget)?;
        let decided = run.seen(|decide| self.merged.settle(decide), see)?;
        self.end(run, decided)
    }

    /// Same as [`OpenMerge::write`], without a copy of what was merged, which may be large. So there is nothing left to be written again.
    ///
    /// # Errors
    /// The errors of [`OpenMerge::write`].
    pub fn write_once<'w>(
        &mut self,
        otherwise: Treatment,
        budget: &'w Budget,
    ) -> Result<(Written<'w, 'w>, Vec<Event>), Box<Event>>
    where
        'a: 'w,
    {
        let mut run = self.run(otherwise, budget)?;
        let merged = &mut self.merged;
        let decided = run.decisions(|decide| merged.settle_once(&mut |conflict| decide(conflict)))?;
        self.end(run, decided)
    }

    /// The run, with what there is to tell before the conflicts are decided.
    fn run<'w>(&self, otherwise: Treatment, budget: &'w Budget) -> Result<Run<'w>, Box<Event>>
    where
        'a: 'w,
    {
        let mut run = Run::new(self.merged.rules, self.job.config.task.decisions(otherwise), budget);
        run.results.append(self.told.iter().cloned());
        self.merged.notes().try_for_each(|note| run.tell(note))?;
        Ok(run)
    }

    /// Writes the merge as it was decided.
    fn end<'w>(&self, mut run: Run<'w>, decided: Decisions<'w, 'w>) -> Result<(Written<'w, 'w>, Vec<Event>), Box<Event>>
    where
        'a: 'w,
    {
        let Job { roles, config, told, why_stays, .. } = self.job;
        let items = roles.gone.iter().map(|gone| if *gone { Item::Goes } else { Item::Stays }).collect();
        let written = run.write(&self.merged, decided, items, *why_stays)?;
        let mut results = run.end(&self.merged, &written, roles, config)?;
        results.extend(told.iter().cloned());
        Ok((written, results))
    }
}
