//! The whole function: from the text of a ResourceList to the text of a ResourceList.
//!
//! Each source is lowered to a change and applied to its partner; the result is edits of the input text. If anything is wrong, the items
//! are returned unchanged, and the reason is among the results. [`run()`] is the function on a ResourceList. A [`Job`] runs the merge on
//! resources in any texts, for example the files of a folder.

mod output;

use krm_job::config::Config;
use krm_job::event::{Event, File, TextForm, TextPlace, What};
use krm_job::job::{Item, Job, Texts, Written};
use krm_job::results::{self, Verdict};
use krm_package::documents::sorted;
use krm_package::resource::{Resource, paths_in_sub_packages};
use krm_tree::limit::{Budget, Limit};
use krm_tree::tree::Tree;
use krm_yaml::{Document, Edited, Error, NodeRef, TextEdits};

use crate::resource_list::ResourceList;
pub use output::Output;

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
    let unreadable = |e: Error| Output::of(Edited::default(), vec![Event::unreadable(STDIN, &e)]);
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
    let mut merged = if Verdict::of(&results) == Verdict::Passed { merged } else { Written::default() };
    // Nobody looks at the merged trees any more, and they take memory.
    merged.effects = Vec::new();
    match written(stdin, list, merged, &results, limit) {
        Ok(stdout) => Output::of(stdout, results),
        Err(error) => {
            let results = vec![*error];
            let stdout = written(stdin, list, Written::default(), &results, usual(stdin));
            Output::of(stdout.unwrap_or_else(|_| Edited::of(stdin, TextEdits::default())), results)
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
    result.file.get_or_insert_with(|| File { path, index: None }.into());
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
