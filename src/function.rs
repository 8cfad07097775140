//! The whole function: from the text of a ResourceList to the text of a ResourceList.
//!
//! Each source is lowered to a change and applied to its partner; the result is edits of the input text. If anything is wrong, the items
//! are returned unchanged, and the reason is among the results. [`run()`] is the function on a ResourceList. A [`Job`] runs the merge on
//! resources in any texts, for example the files of a folder.

mod after;
mod apart;
mod broken;
mod idle;
mod lists;
mod names;
mod release;
mod run;
mod sources;
mod strategic;
mod three_way;
mod two_way;

use crate::config::{Config, Mode, Role};
use crate::resource_list::ResourceList;
use crate::results::{self, Outcome, Results, Severity};
pub use crate::roles::Texts;
use crate::roles::{Roles, assign};
use krm_merge::documents::sorted;
use krm_merge::edits::{Edited, TextEdits};
use krm_merge::limit::{Budget, Limit};
use krm_merge::package::MergeAll;
use krm_merge::resource::{self, Head, Resource, paths_in_sub_packages};
use krm_merge::tree::Tree;
use krm_merge::yaml::{Error, NodeRef, Outline};

pub use krm_merge::documents::Item;
pub use krm_merge::package::Spot;
pub use run::{Added, Merged};
use strategic::strategic;
use three_way::three_way;
use two_way::two_way;

/// The output of the function.
#[derive(Clone, Debug, PartialEq)]
pub struct Output<Text = String> {
    /// The ResourceList to write; empty only if the input was not a ResourceList.
    pub stdout: Text,
    /// The errors and warnings, one line each; an error in a text also has the line of that text, with a caret.
    pub stderr: Vec<String>,
    /// Whether any result is an error.
    pub verdict: Verdict,
}

/// Whether a run went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No result is an error: exit 0.
    Passed,
    /// Some result is an error, and the items are unchanged: exit 1.
    Failed,
}

/// The name of the input text in messages. Source: `Origin::text`.
const STDIN: &str = "stdin";

/// Runs the function on the text of a ResourceList.
pub fn run(stdin: &str) -> Output {
    let Output { stdout, stderr, verdict } = edited(stdin);
    Output { stdout: stdout.into_text(), stderr, verdict }
}

/// Runs the function and returns edits of the input text. Most of a large text stays unchanged, so the caller can write it without a copy.
pub fn edited(stdin: &str) -> Output<Edited<'_>> {
    edited_keeping(stdin, if stdin.len() < SMALL { Kept::Nodes } else { Kept::Places })
}

/// The size of stdin below which the nodes of all items take less memory than the program itself.
const SMALL: usize = 1 << 20;

/// What is kept of an item until it is merged. The output is the same.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Its nodes: as much memory as its text.
    Nodes,
    /// Its place, if nothing in it is unusual: an item that is merged is read twice.
    Places,
}

/// Same as [`run`], whatever the size of stdin: tests compare both ways.
#[doc(hidden)]
pub fn run_keeping(stdin: &str, kept: Kept) -> Output {
    let Output { stdout, stderr, verdict } = edited_keeping(stdin, kept);
    Output { stdout: stdout.into_text(), stderr, verdict }
}

fn edited_keeping(stdin: &str, kept: Kept) -> Output<Edited<'_>> {
    let unreadable = |e: Error| Output::of(Edited::default(), &[Outcome::unreadable(STDIN, &e)]);
    let outline = match kept {
        Kept::Nodes => Outline::whole(stdin).map(|outline| (outline, Vec::new())),
        Kept::Places => resource::outline(stdin),
    };
    let (outline, heads) = match outline {
        Ok(read) => read,
        Err(e) => return unreadable(e),
    };
    let list = match ResourceList::read(&outline) {
        Ok(list) => list,
        Err(e) => return unreadable(e),
    };
    match merge_list(stdin, &list, heads) {
        Ok(output) => output,
        Err(error) => write(stdin, &list, Merged::default(), vec![*error], usual(stdin)),
    }
}

impl<Text> Output<Text> {
    /// The output with this text, and with the stderr and the exit code that the results call for. If a conflict stops the run, stderr also
    /// says which rules decided nothing, and what to do next: kustomize shows only stderr.
    pub fn of(stdout: Text, results: &[Outcome]) -> Self {
        let stop = results.iter().find(|r| r.is_conflict() && r.severity == Severity::Error);
        let shown = results.iter().filter(|r| r.severity != Severity::Info || (stop.is_some() && r.is_idle_rule()));
        let excerpt = |r: &Outcome| r.excerpt.iter().flat_map(|e| e.lines()).map(str::to_owned).collect::<Vec<_>>();
        let lines = shown.flat_map(|r| [vec![r.line()], excerpt(r)].concat());
        let stderr = lines.chain(stop.map(results::next_step)).collect();
        Self { stdout, stderr, verdict: verdict(results) }
    }
}

fn verdict(results: &[Outcome]) -> Verdict {
    if results.iter().any(|r| r.severity == Severity::Error) { Verdict::Failed } else { Verdict::Passed }
}

/// The default limit. An error is reported within this limit, whatever limit the user has set.
fn usual(stdin: &str) -> Limit {
    Limit::default().with_input(stdin.len())
}

/// The ResourceList with the merged items, or with the items unchanged if a result is an error.
fn write<'s>(
    stdin: &'s str,
    list: &ResourceList<'_>,
    merged: Merged<'_>,
    mut results: Vec<Outcome>,
    limit: Limit,
) -> Output<Edited<'s>> {
    results = results.into_iter().map(|result| in_file(list, result)).collect();
    results::sort(&mut results);
    let merged = if verdict(&results) == Verdict::Passed { merged } else { Merged::default() };
    match written(stdin, list, merged, &results, limit) {
        Ok(stdout) => Output::of(stdout, &results),
        Err(error) => {
            let results = [*error];
            let stdout = written(stdin, list, Merged::default(), &results, usual(stdin));
            Output::of(stdout.unwrap_or_else(|_| Edited::of(stdin, TextEdits::default())), &results)
        }
    }
}

/// The result with its place in the file that the user knows, if the place is in stdin or in a text of the functionConfig.
fn in_file(list: &ResourceList<'_>, result: Outcome) -> Outcome {
    let Some(at) = result.at.clone() else { return result };
    // A field with several documents is one text: `spec.source[0].yaml, document 2`.
    let field = at.text.trim_matches('`').split(", ").next().unwrap_or_default();
    let (position, told) = match at.text == STDIN {
        true => (Some(at.position), at.told),
        false => (list.in_text(field, at.position), format!("{}: {}", at.text, at.told)),
    };
    match position.and_then(|position| list.in_file(position)) {
        Some(place) => result.moved_to(place, told),
        None => result,
    }
}

fn written<'s>(
    stdin: &'s str,
    list: &ResourceList<'_>,
    merged: Merged<'_>,
    results: &[Outcome],
    limit: Limit,
) -> Result<Edited<'s>, Box<Outcome>> {
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

fn merge_list<'a, 's>(
    stdin: &'s str,
    list: &ResourceList<'a>,
    heads: Vec<Head<'a>>,
) -> Result<Output<Edited<'s>>, Box<Outcome>> {
    let in_stdin = |e: Error| Box::new(Outcome::unreadable(STDIN, &e));
    let Some(node) = list.function_config else {
        return Err(Box::new(Outcome::new(
            Severity::Error,
            "`functionConfig` must be given: a `Merge` of `krm-merge.dev/v1alpha1`, or a ConfigMap with `data.mode`",
        )));
    };
    let config = Config::read(node).map_err(in_stdin)?;
    let limit = config.limit;
    let items = list.resources(heads);
    let paths = paths_in_sub_packages(&items, &Budget::new(limit))?;
    let items = items.into_iter().enumerate().map(|(number, item)| match paths.get(&number) {
        Some(path) => Resource { path: Some(path), relative_path: Some(path), ..item },
        None => item,
    });
    let texts = Texts::parse(&config)?;
    let mut job = Job::new(items.collect(), Vec::new(), config, &texts)?;
    let (merged, results) = job.run()?;
    Ok(write(stdin, list, merged, results, limit))
}

/// A merge that is ready to run: who plays which role, and how they merge.
pub struct Job<'a> {
    roles: Roles<'a>,
    config: Config<'a>,
    /// The budget that is left for new text and results.
    budget: Budget,
    told: Vec<Outcome>,
    /// How the resources of a three-way merge are merged, if not one after the other.
    merge_all: Option<MergeAll>,
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
    ) -> Result<Self, Box<Outcome>> {
        let roles = assign(items, given, &config, texts)?;
        let config = Config { types: config.types.with_definitions(roles.definitions()), ..config };
        let budget = Budget::new(config.limit);
        let mut results = Results::new(&budget);
        apart::tell(&config, &roles, &mut results, &budget)?;
        let told = results.into_vec();
        Ok(Self { roles, config, budget, told, merge_all: None })
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
        Self { merge_all: Some(merge_all), ..self }
    }

    /// Runs the merge, once. Returns the outcome for each item, the new resources, and the results. If a result is an error, the caller must
    /// write nothing.
    ///
    /// # Errors
    /// A resource cannot be merged; or there is more to write than the limit allows.
    pub fn run(&'a mut self) -> Result<(Merged<'a>, Vec<Outcome>), Box<Outcome>> {
        let Self { roles, config, budget, told, merge_all } = self;
        // The resources take a part of the memory that the output needs, so they end here.
        let roles = std::mem::take(roles);
        let (merged, mut results) = match config.mode() {
            Mode::TwoWay => two_way(&roles, config, budget),
            Mode::ThreeWay => three_way(&roles, config, budget, *merge_all),
            Mode::Strategic => strategic(&roles, config, budget),
        }?;
        idle::tell(&config.merge_keys, &roles, &mut results)?;
        if config.mode() == Mode::ThreeWay {
            release::tell(&roles, &mut results)?;
        }
        results.append(told.iter().cloned());
        Ok((merged, results.into_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_merge::splice::{Fault, Unwritable};

    #[test]
    fn a_fault_of_ours_keeps_the_items_and_fails() {
        let stdin = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- a: 1\n";
        let outline = Outline::whole(stdin).expect("valid");
        let list = ResourceList::read(&outline).expect("a ResourceList");
        let items = list.resources(Vec::new());
        let fault = Unwritable::from(Fault::Misread { path: "a".to_owned() });
        let merged = Merged { items: vec![Item::Goes], ..Merged::default() };
        let output = write(stdin, &list, merged, vec![*Outcome::unwritable(fault, &items[0])], usual(stdin));
        assert_eq!(output.verdict, Verdict::Failed);
        let stdout = output.stdout.into_text();
        assert!(stdout.starts_with(&format!("{stdin}results:\n")), "{stdout}");
        let told =
            "the new text must mean what was merged, but `a` does not: this is a fault of krm-merge, please report it";
        assert!(output.stderr[0].ends_with(told), "{:?}", output.stderr);
    }
}
