//! The whole function: from the text of a ResourceList to the text of a ResourceList.
//!
//! Each source is lowered to a change and applied to its partner; the result is edits of the input text. If anything is wrong, the items
//! are returned unchanged, and the reason is among the results. [`run()`] is the function on a ResourceList. A [`Job`] runs the merge on
//! resources in any texts, for example the files of a folder.

mod apart;
mod lints;
mod output;
mod run;
mod sources;
mod three_way;
mod two_way;

pub use krm_merge::documents::Item;
use krm_merge::documents::sorted;
pub use krm_merge::package::Spot;
pub use krm_merge::package::{Added, Written};
use krm_merge::package::{Conflict, Decisions, MergeAll, Merged, one_by_one};
use krm_merge::resource::{Resource, paths_in_sub_packages};
use krm_merge_core::policy::Treatment;
use krm_tree::limit::{Budget, Limit};
use krm_tree::sides::Side;
use krm_tree::tree::{Pick, Tree};
use krm_yaml::secret::Secret;
use krm_yaml::{Document, Edited, Error, NodeRef, TextEdits};

use crate::config::{Config, Mode};

use crate::resource_list::ResourceList;
use crate::results::{self, Results};
pub use crate::roles::Texts;
use crate::roles::{Roles, assign};
use krm_merge::decision::{ConflictView, Decision};
use krm_merge::event::{Event, File, ResourceRef, TextForm, TextPlace, What};
use krm_merge::role::Role;
use output::verdict;
pub use output::{Output, Verdict};
use run::Run;
use sources::merge_sources;
use three_way::three_way;
use two_way::merge_alike;

/// The name of the input text in messages. Source: `Origin::text`.
const STDIN: &str = "stdin";

/// Runs the function on the text of a ResourceList.
pub fn run(stdin: &str) -> Output {
    let Output { stdout, stderr, verdict } = edited(stdin);
    Output { stdout: stdout.into_text(), stderr, verdict }
}

/// Runs the function and returns edits of the input text. Most of a large text stays unchanged, so the caller can write it without a copy.
pub fn edited(stdin: &str) -> Output<Edited<'_>> {
    edited_by(stdin, None)
}

/// Does the same with a functionConfig of another text, which comes before that of the ResourceList.
pub fn edited_by<'s>(stdin: &'s str, config: Option<NodeRef<'_>>) -> Output<Edited<'s>> {
    let unreadable = |e: Error| Output::of(Edited::default(), &[Event::unreadable(STDIN, &e)]);
    let document = match Document::parse(stdin) {
        Ok(document) => document,
        Err(e) => return unreadable(e),
    };
    let list = match ResourceList::read(&document) {
        Ok(list) => list,
        Err(e) => return unreadable(e),
    };
    match merge_list(stdin, &list, config) {
        Ok(output) => output,
        Err(error) => write(stdin, &list, Written::default(), vec![*error], usual(stdin)),
    }
}

/// The default limit. An error is reported within this limit, whatever limit the user has set.
fn usual(stdin: &str) -> Limit {
    Limit::default().with_input(stdin.len())
}

/// The ResourceList with the merged items, or with the items unchanged if a result is an error.
fn write<'s>(
    stdin: &'s str,
    list: &ResourceList<'_>,
    merged: Written<'_, '_>,
    mut results: Vec<Event>,
    limit: Limit,
) -> Output<Edited<'s>> {
    results = results.into_iter().map(|result| in_file(list, result)).collect();
    results::finish(&mut results);
    let merged = if verdict(&results) == Verdict::Passed { merged } else { Written::default() };
    match written(stdin, list, merged, &results, limit) {
        Ok(stdout) => Output::of(stdout, &results),
        Err(error) => {
            let results = [*error];
            let stdout = written(stdin, list, Written::default(), &results, usual(stdin));
            Output::of(stdout.unwrap_or_else(|_| Edited::of(stdin, TextEdits::default())), &results)
        }
    }
}

/// The result with its place in the file that the user knows, if the place is in stdin or in a text of the functionConfig.
fn in_file(list: &ResourceList<'_>, mut result: Event) -> Event {
    let Some(at) = result.at() else { return result };
    // A field with several documents is one text: `spec.source[0].yaml, document 2`.
    let field = at.text.trim_matches('`').split(", ").next().unwrap_or_default();
    let (position, inside) = match at.text == STDIN {
        true => (Some(at.position), None),
        false => (list.in_text(field, at.position), Some(at.text.clone())),
    };
    let Some((path, position)) = position.and_then(|position| list.in_file(position)) else { return result };
    if let Some(place) = result.at_mut() {
        *place = TextPlace { text: path.clone(), position, form: TextForm::File, inside };
    }
    result.file.get_or_insert(File { path, index: None });
    result
}

fn written<'s>(
    stdin: &'s str,
    list: &ResourceList<'_>,
    merged: Written<'_, '_>,
    results: &[Event],
    limit: Limit,
) -> Result<Edited<'s>, Box<Event>> {
    let order = merged.order();
    let added: Vec<Tree<'_>> = merged.added.into_iter().map(|added| added.tree).collect();
    let gone: Vec<bool> = merged.items.iter().map(|item| *item == Item::Goes).collect();
    let edits =
        merged.items.into_iter().filter_map(|item| if let Item::Edited(edits) = item { Some(edits) } else { None });
    let edits = edits.chain(merged.lists.into_values());
    let edited = Edited::of(stdin, list.edits(edits, &gone, added, results, limit)?);
    if order.is_sorted() {
        return Ok(edited);
    }
    Ok(sorted(edited.into_text(), &order, &Budget::new(limit))?.into())
}

fn merge_list<'s>(
    stdin: &'s str,
    list: &ResourceList<'_>,
    config: Option<NodeRef<'_>>,
) -> Result<Output<Edited<'s>>, Box<Event>> {
    // kpt sends an empty map if the user gives none.
    let is_empty = |node: NodeRef<'_>| node.is_null() || node.is_map() && node.fields().next().is_none();
    let Some(node) = config.or(list.function_config).filter(|node| !is_empty(*node)) else {
        return Err(Box::new(Event::of(What::NoConfig)));
    };
    let name = if config.is_some() { "functionConfig" } else { STDIN };
    let config = Config::read(node).map_err(|e| Box::new(Event::unreadable(name, &e)))?;
    let limit = config.limit;
    let items = list.resources();
    let paths = paths_in_sub_packages(&items, &Budget::new(limit))?;
    let items = items.into_iter().enumerate().map(|(number, item)| match paths.get(&number) {
        Some(path) => Resource { path: Some(path), relative_path: Some(path), ..item },
        None => item,
    });
    let texts = Texts::parse(&config)?;
    let job = Job::new(items.collect(), Vec::new(), config, &texts)?;
    let (merged, results) = job.run()?;
    Ok(write(stdin, list, merged, results, limit))
}

/// A merge that is ready to run: who plays which role, and how they merge.
pub struct Job<'a> {
    roles: Roles<'a>,
    config: Config<'a>,
    /// The budget for new text and results.
    budget: Budget,
    told: Vec<Event>,
    /// How the resources of a three-way merge are merged.
    merge_all: MergeAll,
}

impl<'a> Job<'a> {
    /// Prepares the merge of the items of a package as a functionConfig says. The texts of the items may be anywhere. The item with the
    /// number `i` has `i` as its [`Origin::item`](krm_merge::resource::Origin::item). `given` holds resources for the roles that the
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
        Ok(Self { roles, config, budget, told, merge_all: one_by_one })
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

    /// Merges, and leaves all conflicts open.
    ///
    /// # Errors
    /// A resource cannot be merged.
    pub fn merged(&'a self) -> Result<Open<'a>, Box<Event>> {
        let Self { roles, config, budget, .. } = self;
        let rules = config.rules(budget);
        let mut results = Results::new(budget);
        let merged = match config.mode() {
            Mode::ThreeWay => three_way(roles, rules, self.merge_all),
            Mode::TwoWay if roles.others.iter().all(|(role, _)| *role != Role::Source) => merge_alike(roles, rules),
            Mode::TwoWay | Mode::Strategic => merge_sources(roles, rules, &mut results),
        }?;
        Ok(Open { job: self, merged, told: results.into_vec() })
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
pub struct Open<'a> {
    job: &'a Job<'a>,
    merged: Merged<'a, 'a>,
    /// What the merge told.
    told: Vec<Event>,
}

impl<'a> Open<'a> {
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

    /// Visits the conflicts, in the order in which [`Open::write`] tells them.
    ///
    /// # Errors
    /// A resource in conflict as a whole has a repeated key.
    pub fn conflicts(&self, mut visit: impl FnMut(&ConflictView<'_, 'a>)) -> Result<(), Box<Event>> {
        let mut seen = Ok(());
        self.merged.settle(&mut |conflict| {
            match ConflictView::of(&conflict, self.merged.rules) {
                Ok(view) => visit(&view),
                Err(error) => seen = Err(Event::unmergeable(&error)),
            }
            Treatment::default()
        });
        seen
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
        let mut run = self.run(otherwise, budget)?;
        let decided = run.decisions(|decide| self.merged.settle(decide))?;
        self.end(run, decided)
    }

    /// Same as [`Open::write`], without a copy of what was merged, which may be large. So there is nothing left to be written again.
    ///
    /// # Errors
    /// The errors of [`Open::write`].
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
        let Job { roles, config, told, .. } = self.job;
        let items = roles.gone.iter().map(|gone| if *gone { Item::Goes } else { Item::Stays }).collect();
        let written = run.write(&self.merged, decided, items)?;
        let mut results = run.end(&self.merged, &written, roles, config)?;
        results.extend(told.iter().cloned());
        Ok((written, results))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_tree::splice::{Unwritable, WriteFault};

    #[test]
    fn a_fault_of_ours_keeps_the_items_and_fails() {
        let stdin = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- a: 1\n";
        let document = Document::parse(stdin).expect("valid");
        let list = ResourceList::read(&document).expect("a ResourceList");
        let items = list.resources();
        let fault = Unwritable::from(WriteFault::Misread { path: "a".to_owned() });
        let merged = Written { items: vec![Item::Goes], ..Written::default() };
        let output = write(stdin, &list, merged, vec![*Event::unwritable(fault, &items[0])], usual(stdin));
        assert_eq!(output.verdict, Verdict::Failed);
        let stdout = output.stdout.into_text();
        assert!(stdout.starts_with(&format!("{stdin}results:\n")), "{stdout}");
        let told =
            "the new text must mean what was merged, but `a` does not: this is a fault of krm-merge, please report it";
        assert!(output.stderr[0].ends_with(told), "{:?}", output.stderr);
    }
}
