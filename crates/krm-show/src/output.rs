//! The output of a merge: the merged resources, or the names of changed ones, or the results.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow};
use krm_folders::held::{Content, Held, holds};
use krm_folders::merge::Merge;
use krm_folders::side::{Root, Side};
use krm_job::carried::AsText;
use krm_job::compared::text_file;
use krm_job::event::Event;
use krm_merge_function::results::to_yaml;
use krm_package::documents::{Item, ended};
use krm_package::package::{CommentDocuments, FileItem, Spot, edited};
use krm_package::resource::{Identity, Origin, Resource};
use krm_tree::limit::{Budget, Limit};
use krm_tree::splice::exact_json;
use krm_yaml::{Document, Edit, NodeRef, TextEdits, extent, shown};

use crate::place;

/// Which resources are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// All of them.
    All,
    /// Only resources that a cluster can have.
    ForCluster,
}

/// The texts to print, of the files that hold resources, after the merge.
///
/// # Errors
/// The output would exceed the limit.
fn texts(dest: &Side, merge: &Merge, printed: Printed) -> Result<Vec<String>> {
    let texts = all_texts(dest, merge);
    if printed == Printed::All {
        return Ok(texts);
    }
    let budget = Budget::new(merge.limit);
    let left = texts.into_iter().map(|text| {
        let held = Held::of_text(text)?;
        let resources: Vec<_> = held.resources().collect();
        let becomes = |resource: &Resource<'_>| if resource.is_local() { &Item::Goes } else { &Item::Stays };
        let items = resources.iter().enumerate();
        let items = items.map(|(i, resource)| FileItem::new(resource.node(), becomes(resource), Spot::of_item(i)));
        let items: Vec<FileItem<'_>> = items.collect();
        // If all resources of a file are left out, its text is left out, too.
        if !items.is_empty() && items.iter().all(|own| *own.item == Item::Goes) {
            return Ok(None);
        }
        let file = text_file(&held, None);
        Ok(edited(&file, &items, &[], &CommentDocuments::default(), &budget)?.map(|edited| edited.text))
    });
    Ok(left.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The texts of the files that hold resources. A file that held resources in dest still counts, even if its new text holds none.
fn all_texts(dest: &Side, merge: &Merge) -> Vec<String> {
    let mut texts = BTreeMap::new();
    for held in &dest.files {
        if let Content::Resources(document) | Content::AsText(_, document) | Content::ByPath(_, document) =
            &held.content
        {
            texts.insert(held.path.as_str(), document.source().to_owned());
        }
    }
    for change in &merge.changes {
        let path = change.path.as_str();
        let text = change.new.as_deref().map(String::from_utf8_lossy);
        texts.remove(path);
        let is_named = |held: &Held| matches!(held.content, Content::AsText(AsText::Document, _));
        let was = dest.at(path).is_some_and(|held| held.document().is_some() || is_named(held));
        let was = was || matches!(dest.root, Root::Cluster);
        // Another file may hold resources only now, and a new file may hold none.
        texts.extend(text.filter(|text| was || holds(path, text)).map(|text| (path, text.into_owned())));
    }
    texts.into_values().collect()
}

/// All resources as one YAML stream. If only one file has resources, the stream is that file, byte for byte.
///
/// # Errors
/// The output would exceed the limit.
pub fn yaml(dest: &Side, merge: &Merge, printed: Printed) -> Result<String> {
    let mut out = String::new();
    let mut texts = texts(dest, merge, printed)?;
    if let Some((_, followed)) = texts.split_last_mut() {
        followed.iter_mut().filter(|text| !text.is_empty()).for_each(|text| *text = ended(std::mem::take(text)));
    }
    for text in texts {
        if out.is_empty() {
            out.push_str(&text);
            continue;
        }
        // A byte order mark is only valid at the beginning of a stream.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
        if first.is_some_and(|line| line.starts_with('%')) {
            // A directive must come after the end of a document.
            out.push_str("...\n");
        } else if !text.starts_with("---") {
            out.push_str("---\n");
        }
        out.push_str(text);
    }
    Ok(out)
}

/// All resources as JSON. Several resources become a List, as with kubectl.
pub fn json(dest: &Side, merge: &Merge, printed: Printed) -> Result<String> {
    let budget = Budget::new(merge.limit);
    let mut items = Vec::new();
    for text in texts(dest, merge, printed)? {
        let document = Document::parse(text)?;
        for root in document.roots().filter(|r| !r.is_null()) {
            items.push(exact_json(root, &budget)?);
        }
    }
    Ok(match items.as_slice() {
        [one] => indented(one),
        _ => indented(&format!("{{\"apiVersion\":\"v1\",\"items\":[{}],\"kind\":\"List\"}}", items.join(","))),
    })
}

/// Indents compact JSON by four spaces, as kubectl does. Numbers keep their digits, which they might lose in a parsed value. Misleading
/// characters in strings are escaped.
pub fn indented(json: &str) -> String {
    let mut out = String::new();
    let (mut depth, mut in_string, mut is_escaped) = (0usize, false, false);
    let mut chars = json.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"    ".repeat(depth));
    };
    while let Some(c) = chars.next() {
        if in_string {
            out.push_str(&shown::line(c.encode_utf8(&mut [0; 4])));
            in_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
            continue;
        }
        match c {
            '{' | '[' => {
                out.push(c);
                if chars.peek().is_some_and(|n| matches!(n, '}' | ']')) {
                    continue;
                }
                depth += 1;
                line(&mut out, depth);
            }
            '}' | ']' => {
                if !out.ends_with(['{', '[']) {
                    depth -= 1;
                    line(&mut out, depth);
                }
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    out.push('\n');
    out
}

/// The names of the resources that are added, changed or deleted: `kind.group/name`.
pub fn names(merge: &Merge) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for change in &merge.changes {
        let parse = |bytes: &Option<Vec<u8>>| {
            let text = bytes.as_deref().and_then(|b| std::str::from_utf8(b).ok()).unwrap_or_default();
            Document::parse(text.to_owned()).map_err(|e| anyhow!("{}:{e}", change.path))
        };
        let (Ok(old), Ok(new)) = (parse(&change.old), parse(&change.new)) else { continue };
        let (old, new) = (by_name(&old), by_name(&new));
        let changed = new.iter().filter(|(name, text)| old.get(*name) != Some(text));
        let gone = old.iter().filter(|(name, _)| !new.contains_key(*name));
        out.extend(changed.chain(gone).map(|((_, name), _)| name.clone()));
    }
    Ok(out)
}

/// The name of a resource in kubectl's form: `kind.group/name`.
pub fn name_of(identity: &Identity<'_>) -> String {
    let group = identity.api_version.rsplit_once('/').map(|(group, _)| format!(".{}", shown::name(group)));
    let (kind, group) = (identity.kind.to_lowercase(), group.unwrap_or_default());
    format!("{}{group}/{}", shown::name(&kind), shown::name(identity.name))
}

/// The text of each resource by namespace and `kind.group/name`.
fn by_name<'a>(document: &'a Document<'_>) -> BTreeMap<(&'a str, String), &'a str> {
    let mut out = BTreeMap::new();
    for root in document.roots() {
        for resource in Resource::of_document(root, Origin::Item) {
            let node = resource.node();
            let text = if node.is_root() { &document.source()[extent(node)] } else { node.text() };
            let Some(identity) = resource.identity else { continue };
            out.insert((identity.namespace, name_of(&identity)), text);
        }
    }
    out
}

/// The results as YAML, as in a ResourceList. Each conflict has its line in dest.
///
/// # Errors
/// The output would exceed the limit.
pub fn results(dest: &Side, results: &[Event], limit: Limit) -> Result<String> {
    let line = |result: &Event| {
        let at = place::of(dest, result).filter(|_| result.is_conflict());
        at.map(|at| at.position.line)
    };
    escaped(to_yaml(results, line, &Budget::new(limit))?)
}

/// Puts double quotes around each scalar of a YAML text that has misleading characters.
fn escaped(yaml: String) -> Result<String> {
    if !yaml.chars().any(|c| shown::misleads(c) && c != '\n') {
        return Ok(yaml);
    }
    let document = Document::parse(yaml.as_str())?;
    let mut edits = Vec::new();
    document.roots().for_each(|root| escape(root, &mut edits));
    Ok(TextEdits::of(edits)?.apply(&yaml, 0..yaml.len()))
}

fn escape(node: NodeRef<'_>, edits: &mut Vec<Edit>) {
    node.elements().for_each(|element| escape(element, edits));
    for (key, value) in node.entries() {
        escape(key, edits);
        escape(value, edits);
    }
    if !node.is_container() && node.text().chars().any(|c| shown::misleads(c) && c != '\n') {
        let end = if node.text().ends_with('\n') { "\n" } else { "" };
        let text = format!("{}{end}", shown::quoted_yaml(node.string()));
        edits.push(Edit { range: node.start()..node.end(), text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_and_its_strings_and_numbers_stay() {
        let compact = r#"{"a":{},"b":[],"c":[1,"x{,:\"]\\"],"d":{"e":123456789012345678901234567890}}"#;
        let want = "{\n    \"a\": {},\n    \"b\": [],\n    \"c\": [\n        1,\n        \"x{,:\\\"]\\\\\"\n    ],\n    \"d\": {\n        \"e\": 123456789012345678901234567890\n    }\n}\n";
        assert_eq!(indented(compact), want);
    }

    #[test]
    fn what_could_mislead_is_escaped_and_means_the_same() {
        let odd = "a\u{1b}\u{9b}\u{202e}\u{2028}\u{200b}\u{e0041}\nb: \"\\\n";
        let is_escaped = |text: &str| text.chars().all(|c| !shown::misleads(c) || c == '\n');
        let value =
            serde_json::json!({odd: [odd, {"k": format!("{odd}{odd}"), "plain\u{202e}": "x\u{200b}\n y\n", "z": 1}]});
        let yaml = escaped(yaml_serde::to_string(&value).expect("YAML")).expect("escaped");
        assert!(is_escaped(&yaml), "{yaml:?}");
        assert_eq!(yaml_serde::from_str::<serde_json::Value>(&yaml).expect("YAML"), value, "{yaml}");
        let json = indented(&value.to_string());
        assert!(is_escaped(&json), "{json:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).expect("JSON"), value, "{json}");
    }
}
