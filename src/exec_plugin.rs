//! The call of kustomize's legacy exec plugin: a config file, and the resources as YAML documents instead of a ResourceList.
//!
//! This call is the only way in which `kubectl kustomize` runs an exec function. The documents are merged in place, so all other text stays
//! equal to the byte, including the `---` between documents. The output has no place for results. So errors and warnings are on stderr, as
//! always. Source: kustomize's `api/internal/plugins/execplugin`, and measured on kubectl 1.27 to 1.33.

use std::collections::BTreeMap;

use krm_package::package::{FileChange, FileFault, FileMerge, Files, NewResource, TextFile};
use krm_package::resource::{Origin, Resource};
use krm_tree::limit::Budget;
use krm_tree::sides::Sides;
use krm_yaml::{Document, Error, NodeRef};

use crate::function::{Output, edited_by};
use crate::resource_list::ResourceList;
use krm_job::config::Config;
use krm_job::event::{Event, Severity};
use krm_job::job::{Job, Texts, Written};
use krm_job::results;
use krm_job::results::Verdict;

/// The name of the documents in messages.
const STDIN: &str = "stdin";

/// Runs the function on the text of a config file, which is the functionConfig, and on YAML documents.
///
/// `stdout` is YAML documents too: the resources in their order, then the added ones. On an error, the documents are unchanged.
///
/// A ResourceList gets the same functionConfig instead of its own, and stays a ResourceList, as with the functions of kyaml.
pub fn run(config: &str, documents: &str) -> Output {
    if is_resource_list(documents) {
        return configured(config, documents);
    }
    let (stdout, mut results) = match merge_documents(config, documents) {
        Ok(merged) => merged,
        Err(error) => (String::new(), vec![*error]),
    };
    results::finish(&mut results);
    let output = Output::of(stdout, results);
    match output.verdict {
        Verdict::Passed => output,
        Verdict::Failed => Output { stdout: documents.to_owned(), ..output },
    }
}

/// Whether a text is a ResourceList.
fn is_resource_list(text: &str) -> bool {
    // Most documents do not say the word.
    text.contains("ResourceList") && Document::parse(text).is_ok_and(|document| ResourceList::read(&document).is_ok())
}

/// Runs the function on a ResourceList, with the functionConfig of a config file.
fn configured(config: &str, list: &str) -> Output {
    let unread = |error: Box<Event>| Output::of(list.to_owned(), vec![*error]);
    let document = match Document::parse(config) {
        Ok(document) => document,
        Err(error) => return unread(in_config(error)),
    };
    match only(&document) {
        Ok(function_config) => {
            let Output { stdout, stderr, verdict } = edited_by(list, Some(function_config));
            Output { stdout: stdout.into_text(), stderr, verdict }
        }
        Err(error) => unread(error),
    }
}

fn merge_documents(config: &str, documents: &str) -> Result<(String, Vec<Event>), Box<Event>> {
    let in_stdin = |e: Error| Box::new(Event::unreadable(STDIN, &e));
    let config = Document::parse(config).map_err(in_config)?;
    let mut function_config = Config::read(only(&config)?).map_err(in_config)?;
    function_config.limit = function_config.limit.with_input(documents.len());
    let doc = Document::parse(documents).map_err(in_stdin)?;
    let mut items: Vec<Resource<'_>> = Vec::new();
    for root in doc.roots().filter(|r| !r.is_null()) {
        if !root.is_map() {
            return Err(in_stdin(root.error("stdin must hold resources, which are maps")));
        }
        let first = items.len();
        let origin = |number| Origin::File { name: STDIN.into(), item: Some(first + number) };
        items.append(&mut Resource::of_document(root, origin));
    }
    let limit = function_config.limit;
    let nodes: Vec<NodeRef<'_>> = items.iter().map(Resource::node).collect();
    let texts = Texts::parse(&function_config)?;
    let job = Job::new(items, Vec::new(), function_config, &texts)?;
    let (merged, results) = job.run()?;
    Ok((write(&doc, &nodes, &merged, &Budget::new(limit))?, results))
}

/// The functionConfig in a config file.
fn only<'d>(config: &'d Document<'_>) -> Result<NodeRef<'d>, Box<Event>> {
    let mut roots = config.roots();
    let Some(function_config) = roots.next() else {
        return Err(in_config(config.error(0, "the config file must hold a functionConfig, but it is empty")));
    };
    match roots.next() {
        Some(second) => Err(in_config(second.error("the config file must hold one document, a functionConfig"))),
        None => Ok(function_config),
    }
}

fn in_config(error: Error) -> Box<Event> {
    Box::new(Event::unreadable("functionConfig", &error))
}

/// Writes the documents as the text of one file. `items` are its resources.
fn write(
    doc: &Document<'_>,
    items: &[NodeRef<'_>],
    merged: &Written<'_, '_>,
    budget: &Budget,
) -> Result<String, Box<Event>> {
    let file = TextFile { path: "", name: STDIN, text: doc.source(), document: Some(doc) };
    let items = items.iter().enumerate().map(|(number, node)| merged.file_item(number, *node)).collect();
    let new: Vec<NewResource> = merged.added.iter().map(|new| new.in_file(budget)).collect::<Result<_, _>>()?;
    let new = if new.is_empty() { BTreeMap::new() } else { BTreeMap::from([(String::new(), new)]) };
    let files = Files { sides: Sides { original: &[], updated: &[], dest: &[file] }, sources: &[] };
    let merge = FileMerge::of(files, BTreeMap::from([(0, items)]), new, budget).map_err(fault)?;
    let mut changes = merge.changes().map_err(fault)?;
    Ok(match changes.pop() {
        Some(FileChange::Changed { text, .. } | FileChange::Moved { text, .. } | FileChange::Added { text, .. }) => {
            text
        }
        Some(FileChange::Removed { .. }) => String::new(),
        None => doc.source().to_owned(),
    })
}

fn fault(fault: FileFault) -> Box<Event> {
    Box::new(Event::new(Severity::Error, fault.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  mode: TwoWay\n  source:\n";

    /// The output for documents that are merged with these resources.
    fn merged(documents: &str, sources: &str) -> String {
        let output = run(&format!("{CONFIG}  - resources: [{sources}]\n"), documents);
        assert_eq!(output.verdict, Verdict::Passed, "{:?}", output.stderr);
        output.stdout
    }

    fn thing(name: &str, rest: &str) -> String {
        format!("apiVersion: v1\nkind: Thing\nmetadata: {{name: {name}}}\n{rest}")
    }

    fn source(name: &str, rest: &str) -> String {
        format!("{{apiVersion: v1, kind: Thing, metadata: {{name: {name}}}, {rest}}}")
    }

    #[test]
    fn what_is_not_merged_stays_to_the_byte() {
        let (a, b) = (thing("a", "k:   1 # why\n"), thing("b", "t: |+\n  x\n\n   \n  y\n\n"));
        for (before, between, after) in [
            ("", "---\n", ""),
            ("---\n", "\n---\n\n", "---\n"),
            ("# licence\n---\n# head\n", "...\n--- # second\n", "...\n# the end"),
            ("\u{feff}%YAML 1.2\n---\n", "---\n---\n", "---\n{\"apiVersion\": \"v1\", \"kind\":\n\"JSON\"}"),
        ] {
            let text = format!("{before}{a}{between}{b}{after}");
            for text in [text.clone(), text.replace('\n', "\r\n")] {
                assert_eq!(merged(&text, &source("a", "k: 1")), text);
                let want = text.replace("k:   1", "k:   2");
                assert_eq!(merged(&text, &source("a", "k: 2")), want);
            }
        }
    }

    #[test]
    fn what_goes_takes_its_mark_along_and_what_comes_has_one() {
        let (a, b, c) = (thing("a", ""), thing("b", "k: |\n  x\n"), thing("c", ""));
        let text = format!("{a}---\n{b}---\n{c}");
        assert_eq!(merged(&text, &source("b", "$patch: delete")), format!("{a}---\n{c}"));
        assert_eq!(merged(&text, &source("c", "$patch: delete")), format!("{a}---\n{b}"));
        assert_eq!(merged(&text, &source("a", "$patch: delete")), format!("{b}---\n{c}"));
        let new = source("n", "k: 1");
        assert_eq!(merged(&text, &new), format!("{text}---\n{new}\n"));
        assert_eq!(merged(text.trim_end(), &new), format!("{text}---\n{new}\n"));
        assert_eq!(merged("", &new), format!("{new}\n"));
        // The text before it keeps its value, and all lines end alike.
        let open = thing("o", "k: |\n  x");
        assert_eq!(merged(&open, &new), format!("{}\n---\n{new}\n", open.replace("k: |", "k: |-")));
        let of_windows = a.replace('\n', "\r\n");
        assert_eq!(merged(&of_windows, &new), format!("{of_windows}---\r\n{new}\r\n"));
        assert_eq!(merged(&a, &format!("{}, {new}", source("a", "$patch: delete"))), format!("{new}\n"));
    }

    /// kustomize reads the path annotation of a new document.
    #[test]
    fn what_comes_keeps_the_annotations_of_its_path() {
        let new = |annotations: &str| thing("n", "k: 1\n").replace("{name: n}", &format!("{{name: n, {annotations}}}"));
        let path = "internal.config.kubernetes.io/path: new.yaml";
        for text in [
            new(&format!("annotations: {{{path}}}")),
            new(&format!("annotations: {{x: y, {path}}}")),
            thing("n", "k: 1\n").replace(" {name: n}", &format!("\n  name: n\n  annotations: {{{path}}}")),
            thing("n", "k: 1\n").replace(" {name: n}", &format!("\n  name: n\n  annotations:\n    {path}")),
        ] {
            let source = text.lines().map(|line| format!("      {line}\n")).collect::<String>();
            let config = format!("{CONFIG}  - yaml: |\n{source}");
            assert_eq!(run(&config, &thing("a", "")).stdout, format!("{}---\n{text}", thing("a", "")));
        }
    }

    #[test]
    fn a_list_is_read_as_its_items_and_stays_a_list() {
        let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
        let items = "- apiVersion: v1\n  kind: Thing\n  metadata: {name: a}\n  k:   1 # why\n- apiVersion: v1\n  kind: Thing\n  metadata: {name: b}\n";
        let text = list(items);
        assert_eq!(merged(&text, &source("a", "k: 1")), text);
        assert_eq!(merged(&text, &source("a", "k: 2")), text.replace("k:   1", "k:   2"));
        assert_eq!(merged(&text, &source("a", "$patch: delete")), list(&items[items.rfind("- api").expect("b")..]));
        let new = source("n", "k: 1");
        assert_eq!(merged(&text, &new), format!("{text}- {new}\n"));
        let both = format!("{}---\n{text}", thing("o", ""));
        assert_eq!(merged(&both, &source("b", "k: 1")), format!("{both}  k: 1\n"));
    }

    #[test]
    fn a_resource_list_gets_the_functionconfig_of_the_file() {
        let list = |value: &str| {
            format!(
                "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {{apiVersion: v1, kind: Thing, metadata: {{name: a}}, k: {value}}}\n"
            )
        };
        assert_eq!(merged(&list("1"), &source("a", "k: 2")), list("2"));
        let failed = run("kind: Merge\n", &list("1"));
        assert!(failed.stdout.starts_with(&list("1")) && failed.stdout.contains("results:"), "{failed:?}");
        assert!(failed.stderr[0].starts_with("error: functionConfig 1:1"), "{:?}", failed.stderr);
    }
}
