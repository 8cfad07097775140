//! The call of kustomize's legacy exec plugin: a config file, and the resources as YAML documents instead of a ResourceList.
//!
//! It is the only way in which `kubectl kustomize` runs an exec function. The documents are made the items of a ResourceList, the function
//! runs as everywhere, and its items are made documents again; only their indentation differs on the way, so what the merge does not
//! touch stays to the byte. Results have no place in that output: errors and warnings are on stderr, as always. Source: kustomize's
//! `api/internal/plugins/execplugin`, and measured on kubectl 1.27 to 1.33.

use crate::function::{Output, run_list, unreadable};
use crate::resource_list::ResourceList;
use crate::yaml::{Document, Error};

/// Runs the function on the text of a config file, which is the functionConfig, and on YAML documents.
///
/// `stdout` is YAML documents too: the resources in their order, with the added ones behind them. On an error they are as they came.
pub fn run(config: &str, documents: &str) -> Output {
    try_run(config, documents).unwrap_or_else(|(text, e)| {
        let output = unreadable(text, &e);
        Output { stdout: documents.to_owned(), ..output }
    })
}

/// What cannot be read, and why.
type Unreadable = (&'static str, Error);

fn try_run(config: &str, documents: &str) -> Result<Output, Unreadable> {
    let in_config = |e| ("functionConfig", e);
    let in_stdin = |e| ("stdin", e);
    let config = Document::parse(config).map_err(in_config)?;
    let packed = pack(documents).map_err(in_stdin)?;
    let doc = Document::parse(packed).map_err(in_stdin)?;
    let mut list = ResourceList::read(&doc).map_err(in_stdin)?;
    let mut roots = config.roots();
    list.function_config = roots.next();
    if let Some(second) = roots.next() {
        return Err(in_config(second.error("the config file must hold one document")));
    }
    let output = run_list(&list, "functionConfig");
    Ok(Output { stdout: unpack(&output.stdout), ..output })
}

const HEAD: [&str; 3] = ["apiVersion: config.kubernetes.io/v1", "kind: ResourceList", "items:"];

/// YAML documents as the items of a ResourceList.
fn pack(documents: &str) -> Result<String, Error> {
    let documents = documents.strip_prefix('\u{feff}').unwrap_or(documents);
    // Read as it came first: so errors have their true place, and an alias cannot reach into another document.
    let doc = Document::parse(documents)?;
    if let Some(root) = doc.roots().find(|r| !r.is_map() && !r.is_null()) {
        return Err(root.error("stdin must hold resources, which are maps"));
    }
    let mut items = String::with_capacity(documents.len() + documents.len() / 8);
    for document in split(documents) {
        for (i, line) in document.split_inclusive('\n').enumerate() {
            let blank = line.trim_end_matches(['\n', '\r']).is_empty();
            items.push_str(match (i, blank) {
                (0, true) => "-",
                (0, false) => "- ",
                (_, true) => "",
                (_, false) => "  ",
            });
            items.push_str(line);
        }
        if !items.ends_with('\n') {
            items.push_str(doc.line_break());
        }
    }
    let end = doc.line_break();
    Ok(if items.is_empty() { format!("{} []{end}", HEAD.join(end)) } else { format!("{}{end}{items}", HEAD.join(end)) })
}

/// The texts of the documents, without the lines that mark them. A text of nothing but comments is the head of the next one.
fn split(documents: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let holds_nothing = |text: &str| text.lines().all(|l| l.trim_start().is_empty() || l.trim_start().starts_with('#'));
    for line in documents.split_inclusive('\n') {
        // Three dots or dashes at the head of a line end a document wherever they stand, block scalars included.
        let marker = ["---", "..."].iter().find_map(|m| line.strip_prefix(m));
        match (marker.filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r'])), out.last_mut()) {
            (None, Some(last)) => last.push_str(line),
            (Some(rest), Some(last)) if holds_nothing(last) => last.push_str(if_content(rest)),
            (Some(rest), _) => out.push(if_content(rest).to_owned()),
            (None, None) => {}
        }
    }
    match out.pop() {
        Some(last) if holds_nothing(&last) => match out.last_mut() {
            Some(before) => before.push_str(&last),
            None => return Vec::new(),
        },
        Some(last) => out.push(last),
        None => {}
    }
    out
}

/// What stands behind a marker on its line, if that is anything.
fn if_content(rest: &str) -> &str {
    let content = rest.trim_start_matches([' ', '\t']);
    if content.trim().is_empty() { "" } else { content }
}

/// The items of a ResourceList, as [`pack`] lays it out, as YAML documents.
fn unpack(list: &str) -> String {
    let end = if list.lines().next().is_some_and(|l| list[l.len()..].starts_with('\r')) { "\r\n" } else { "\n" };
    let mut out = String::with_capacity(list.len());
    for line in list.split_inclusive('\n').skip(HEAD.len()) {
        // What belongs to an item is indented; the next field of the list is not.
        match line.as_bytes().first() {
            Some(b'-') => {
                if !out.is_empty() {
                    out.extend(["---", end]);
                }
                out.push_str(line[1..].strip_prefix(' ').unwrap_or(&line[1..]));
            }
            Some(b' ' | b'\t' | b'\r' | b'\n') => out.push_str(line.strip_prefix("  ").unwrap_or(line)),
            _ => break,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(documents: &str) -> String {
        unpack(&pack(documents).expect("YAML"))
    }

    #[test]
    fn documents_come_back_as_they_were() {
        for text in [
            "",
            "a: 1\n",
            "# head\na: 1 # why\n\nb:\n- x\n---\nc: |\n  x\n\n   \n  y\n---\n{\"d\": [1,\n2]}\n",
            "  a: 1\n  b:   2\n",
            "a: 1\r\n---\r\nb: |+\r\n  x\r\n\r\n",
            "a: \"x\n\n  y\"\n---\nb: &b 1\nc: *b\n---\nb: &b 2\nc: *b\n",
            "\na: 1\n",
        ] {
            assert_eq!(round_trip(text), text);
        }
    }

    #[test]
    fn markers_are_written_between_documents_only() {
        for (text, want) in [
            ("---\na: 1\n---\n---\nb: 2", "a: 1\n---\nb: 2\n"),
            ("--- # first\na: 1\n...\n--- {b: 2}\n", "# first\na: 1\n---\n{b: 2}\n"),
            ("# licence\n---\na: 1\n---\n# the end\n", "# licence\na: 1\n# the end\n"),
            ("\u{feff}a: 1\n", "a: 1\n"),
            ("a: ---\nb: '---x'\n", "a: ---\nb: '---x'\n"),
            ("# nothing\n---\n", ""),
        ] {
            assert_eq!(round_trip(text), want, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_resource_is_named_where_it_stands() {
        for (text, want) in [
            ("a: 1\n---\n- b\n", "3:1: stdin must hold resources, which are maps"),
            ("a: 1\n---\nb: [\n", "3:4: the text must be YAML: unclosed"),
            ("a: &x 1\n---\nb: *x\n", "3:4: "),
        ] {
            let error = pack(text).expect_err("no resources");
            assert!(error.to_string().starts_with(want), "{error}");
        }
    }
}
