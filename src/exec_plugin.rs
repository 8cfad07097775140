//! The call of kustomize's legacy exec plugin: a config file, and the resources as YAML documents instead of a ResourceList.
//!
//! This call is the only way in which `kubectl kustomize` runs an exec function. The documents are merged in place, so all other text stays
//! equal to the byte, including the `---` between documents. The output has no place for results. So errors and warnings are on stderr, as
//! always. Source: kustomize's `api/internal/plugins/execplugin`, and measured on kubectl 1.27 to 1.33.

use krm_merge::composed::{Composed, Own, Piece, Pieces, Top};
use krm_merge::documents::{Item, NewDocument};
use krm_merge::resource::{Origin, Resource};
use krm_tree::limit::Budget;
use krm_tree::splice::Unwritable;
use krm_yaml::{Document, Error, TextEdits, TextParts};

use crate::config::Config;
use crate::function::{Job, Output, Texts, Verdict, Written};
use crate::results::{self, Outcome};

/// Runs the function on the text of a config file, which is the functionConfig, and on YAML documents.
///
/// `stdout` is YAML documents too: the resources in their order, then the added ones. On an error, the documents are unchanged.
pub fn run(config: &str, documents: &str) -> Output {
    let (stdout, mut results) = match merge_documents(config, documents) {
        Ok(merged) => merged,
        Err(error) => (String::new(), vec![*error]),
    };
    results::sort(&mut results);
    let output = Output::of(stdout, &results);
    match output.verdict {
        Verdict::Passed => output,
        Verdict::Failed => Output { stdout: documents.to_owned(), ..output },
    }
}

fn merge_documents(config: &str, documents: &str) -> Result<(String, Vec<Outcome>), Box<Outcome>> {
    let in_config = |e: Error| Box::new(Outcome::unreadable("functionConfig", &e));
    let in_stdin = |e: Error| Box::new(Outcome::unreadable("stdin", &e));
    let config = Document::parse(config).map_err(in_config)?;
    let mut roots = config.roots();
    let Some(function_config) = roots.next() else {
        return Err(in_config(config.error(0, "the config file must hold a functionConfig, but it is empty")));
    };
    if let Some(second) = roots.next() {
        return Err(in_config(second.error("the config file must hold one document, a functionConfig")));
    }
    let mut function_config = Config::read(function_config).map_err(in_config)?;
    function_config.limit = function_config.limit.with_input(documents.len());
    let doc = Document::parse(documents).map_err(in_stdin)?;
    let mut items = Vec::new();
    for root in doc.roots().filter(|r| !r.is_null()) {
        if !root.is_map() {
            return Err(in_stdin(root.error("stdin must hold resources, which are maps")));
        }
        items.push(Resource::read(root, Origin::File { name: "stdin".into(), item: Some(items.len()) }));
    }
    let limit = function_config.limit;
    let texts = Texts::parse(&function_config)?;
    let job = Job::new(items, Vec::new(), function_config, &texts)?;
    let (merged, results) = job.run()?;
    Ok((write(&doc, merged, &Budget::new(limit))?, results))
}

/// Writes the merged and the added documents, in the order that the merge asks for. Each document of the text that is not empty is an item.
fn write(doc: &Document<'_>, merged: Written<'_, '_>, budget: &Budget) -> Result<String, Unwritable> {
    let (mut items, mut pieces) = (0.., Pieces::default());
    for (number, root) in doc.roots().enumerate() {
        let item = if root.is_null() { None } else { items.next() };
        let edits = match item.and_then(|item| merged.items.get(item)) {
            Some(Item::Goes) => continue,
            Some(Item::Edited(edits)) => edits.clone(),
            Some(Item::Stays) | None => TextEdits::default(),
        };
        pieces.add(item.map(|item| merged.spot(item)), Piece::Own(number, Own::from(edits)));
    }
    for added in &merged.added {
        pieces.add(Some(added.spot), Piece::New(NewDocument { body: added.text(budget)?, ..NewDocument::default() }));
    }
    let parts = TextParts::of(doc);
    let pieces = pieces.in_order(&parts, doc.source());
    let composed = Composed::of(doc, parts, &pieces, &Top::default());
    let text = composed.text();
    composed.check(&text)?;
    Ok(text)
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
}
