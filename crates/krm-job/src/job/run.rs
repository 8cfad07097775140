//! One run over the merge of a package: says what happened, asks the user's rules who wins, and writes it.

use krm_merge_core::policy::Treatment;
use krm_package::documents::Item;
use krm_package::package::{self, Conflict, Merged, Note, Written};
use krm_package::resource::Resource;
use krm_package::rules::Rules;
use krm_tree::limit::Budget;
use krm_tree::splice;

use super::lints::{self, Package, Subject};
use super::three_way;
use crate::config::{Config, Mode};
use crate::decision::{ConflictView, Decisions};
use crate::event::{Counts, Event, Severity, What};
use crate::forms::WhyStays;
use crate::results::Results;
use crate::results::Verdict;
use crate::role::Role;
use crate::roles::Roles;

/// One run: the decisions of the user, and what was said so far.
pub(super) struct Run<'a> {
    rules: Rules<'a>,
    decisions: Decisions<'a>,
    budget: &'a Budget,
    pub results: Results<'a>,
}

impl<'a> Run<'a> {
    /// A run in which nothing was said yet.
    pub fn new(rules: Rules<'a>, decisions: Decisions<'a>, budget: &'a Budget) -> Self {
        Self { rules, decisions, budget, results: Results::new(budget) }
    }

    /// The decisions for the conflicts of a merge, which `settle` asks for. All conflicts are reported.
    pub fn decisions<'r>(
        &mut self,
        settle: impl FnOnce(&mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Treatment) -> package::Decisions<'r, 'a>,
    ) -> Result<package::Decisions<'r, 'a>, Box<Event>> {
        self.seen(settle, |_, _| {})
    }

    /// The same, for someone who looks at each conflict, with its event.
    pub fn seen<'r>(
        &mut self,
        settle: impl FnOnce(&mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Treatment) -> package::Decisions<'r, 'a>,
        mut see: impl FnMut(&ConflictView<'_, 'a>, &Event),
    ) -> Result<package::Decisions<'r, 'a>, Box<Event>> {
        let mut told = Ok(());
        let decided = settle(&mut |conflict| {
            self.decide(&conflict, &mut see).unwrap_or_else(|error| {
                if told.is_ok() {
                    told = Err(error);
                }
                Treatment::default()
            })
        });
        told.map(|()| decided)
    }

    /// Writes a merge as it was decided. `items` says which items of the host stay before dest's resources change.
    pub fn write<'r>(
        &mut self,
        merged: &Merged<'r, 'a>,
        decided: package::Decisions<'r, 'a>,
        items: Vec<Item>,
        why_stays: WhyStays<'_>,
    ) -> Result<Written<'r, 'a>, Box<Event>> {
        let written = merged.write(decided, items, self.budget).map_err(Event::fault)?;
        // All resources of a file have one reason to stay.
        let mut reasons = Vec::new();
        for note in merged.notes_of(&written) {
            let reason = match note {
                Note::NotMoved { dest, to } => why_stays(dest.relative_path.unwrap_or_default(), to),
                _ => None,
            };
            match reason {
                None => self.tell(note)?,
                Some(reason) if reasons.contains(&reason) => {}
                Some(reason) => {
                    self.results.tell([Event::of(reason.clone())])?;
                    reasons.push(reason);
                }
            }
        }
        Ok(written)
    }

    /// Ends the run: looks at the package before and after the merge, and reports what was found, and the counts.
    pub fn end(
        self,
        merged: &Merged<'_, 'a>,
        written: &Written<'_, 'a>,
        roles: &Roles<'a>,
        config: &Config<'a>,
    ) -> Result<Vec<Event>, Box<Event>> {
        let Self { rules, decisions, mut results, .. } = self;
        if rules.mode == Mode::ThreeWay {
            three_way::tell_moves(merged, written, &mut results)?;
        }
        let is_error = |result: &Event| result.severity == Severity::Error;
        let verdict = if results.count(is_error) > 0 { Verdict::Failed } else { Verdict::Passed };
        let subjects: Vec<_> = merged
            .resources
            .iter()
            .zip(&written.effects)
            .map(|(resource, effect)| Subject::of(resource, effect))
            .collect();
        let lists = merged.lists.iter().zip(&written.changed_lists);
        let lists: Vec<_> = lists.map(|(list, after)| Subject::of_list(list, after.as_ref())).collect();
        let package = Package {
            subjects: &subjects,
            lists: &lists,
            items: &written.items,
            roles,
            config,
            rules,
            decisions: &decisions,
            verdict,
        };
        lints::of_result(package, &mut results)?;
        if rules.mode == Mode::ThreeWay {
            let conflicts = results.count(Event::is_conflict);
            let counts = match verdict {
                Verdict::Passed => three_way::counts(written),
                Verdict::Failed => Counts { unchanged: roles.dest.len(), ..Counts::default() },
            };
            results.tell([Event::of(What::Counts(Counts { conflicts, ..counts }))])?;
        }
        // These come after the counts, because a host that shows only a few lines must show the counts.
        lints::of_input(package, &mut results)?;
        Ok(results.into_vec())
    }

    /// The side whose changes were merged into dest.
    fn side(&self) -> Role {
        if self.rules.mode == Mode::ThreeWay { Role::Updated } else { Role::Source }
    }

    /// Reports what the owner of a resource should know.
    pub fn tell(&mut self, note: Note<'_, 'a>) -> Result<(), Box<Event>> {
        let side = self.side();
        self.results.tell(Event::of_note(note, side, self.budget))
    }

    /// Decides a conflict, and reports it.
    fn decide(
        &mut self,
        conflict: &Conflict<'_, '_, 'a>,
        see: &mut dyn FnMut(&ConflictView<'_, 'a>, &Event),
    ) -> Result<Treatment, Box<Event>> {
        let clash = ConflictView::of(conflict, self.rules).map_err(|error| Event::unmergeable(&error))?;
        let ruling = self.decisions.of(&clash);
        let original = match conflict {
            Conflict::DeletedUpstream { original, .. } | Conflict::DeletedHere { original, .. } => {
                self.json(&clash, original)?
            }
            Conflict::Place { .. } | Conflict::MovedApart { .. } => String::new(),
        };
        let event = Event::of_conflict(conflict, original, ruling, self.budget);
        see(&clash, &event);
        self.results.tell([event])?;
        Ok(ruling.treatment)
    }

    /// Original's resource in a conflict as JSON.
    fn json(&self, clash: &ConflictView<'_, 'a>, original: &Resource<'a>) -> Result<String, Box<Event>> {
        let own = clash.sides.original.as_ref().map(|own| splice::json_of(own, self.budget)).transpose();
        own.map(Option::unwrap_or_default).map_err(|e| Event::unwritable(e, original))
    }
}
