//! Edits within a text whose lines are keys and values: `.env`, `.properties`, `.ini`, and much of `.conf` and `.toml`.
//!
//! Every other byte of the text stays.

use krm_tree::path::PatternStep;
use krm_yaml::{NodeRef, Scalar, quoted_json};

use super::edit::{Does, Edit, Missing};

/// The endings of names whose texts have such lines, though a reader may take them for YAML.
const ENDINGS: [&str; 6] = [".env", ".properties", ".ini", ".toml", ".conf", ".cfg"];

/// Whether a text of this name has such lines.
pub(super) fn has_lines(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// A line with a key.
struct KeyLine<'t> {
    section: &'t str,
    key: &'t str,
    /// What is before the value.
    head: &'t str,
    value: &'t str,
    /// What is behind the value: a comment, and the line break.
    tail: &'t str,
}

/// The text after an edit; `None` if it is not of keys and values, or if the edit asks for something that no such text can hold. The steps
/// lead to the key: its section, if it has one, and its name.
pub(super) fn edited(text: &str, name: &str, steps: &[PatternStep], edit: &Edit<'_>) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let keys = read(&lines)?;
    let has_sections =
        keys.iter().flatten().any(|line| !line.section.is_empty()) || lines.iter().any(|line| line.starts_with('['));
    let words: Vec<&str> = steps.iter().map(word).collect::<Option<_>>()?;
    let (key, section) = words.split_last()?;
    let whole = words.join(".");
    let (section, key) = if has_sections { (section.join("."), *key) } else { (String::new(), &*whole) };
    let at = keys.iter().position(|line| line.as_ref().is_some_and(|line| line.section == section && line.key == key));
    let mut out: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    match (edit.does, at) {
        (Does::Delete, None) => {}
        (Does::Delete, Some(at)) => drop(out.remove(at)),
        (Does::Set(value) | Does::Insert(value), Some(at)) => {
            let KeyLine { head, value: old, tail, .. } = keys[at].as_ref()?;
            out[at] = format!("{head}{}{tail}", written(value, old, name)?);
        }
        (Does::Set(value) | Does::Insert(value), None) if edit.missing == Missing::Made => {
            let separator = keys.iter().flatten().last().map_or("=", |line| separator(line));
            let new = format!("{key}{separator}{}\n", written(value, "", name)?);
            let last = keys.iter().rposition(|line| line.as_ref().is_some_and(|line| line.section == section));
            let head = lines.iter().position(|line| section_of(line) == Some(&*section));
            match last.or(head) {
                Some(at) => {
                    end_line(&mut out[at]);
                    out.insert(at + 1, new);
                }
                None => {
                    out.last_mut().into_iter().for_each(end_line);
                    if !section.is_empty() {
                        out.push(format!("[{section}]\n"));
                    }
                    out.push(new);
                }
            }
        }
        (Does::Set(_) | Does::Insert(_), None) => {}
        (Does::Append(_) | Does::Test(_), _) => return None,
    }
    Some(out.concat())
}

/// The keys of a text, each with its section, and its value as it is written; `None` if it is not of keys and values.
pub(super) fn fields(text: &str) -> Option<Vec<(Vec<String>, String)>> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let way = |line: &KeyLine<'_>| {
        [line.section, line.key].iter().filter(|name| !name.is_empty()).map(|name| (*name).to_owned()).collect()
    };
    let field = |line: KeyLine<'_>| (way(&line), quoted_json(line.value.trim_matches(['"', '\''])));
    Some(read(&lines)?.into_iter().flatten().map(field).collect())
}

fn end_line(line: &mut String) {
    if !line.ends_with('\n') {
        line.push('\n');
    }
}

fn word(step: &PatternStep) -> Option<&str> {
    match step {
        PatternStep::Field(name) | PatternStep::Member(name) => Some(name),
        _ => None,
    }
}

/// The lines of a text; `None` for a blank line, a comment and the line of a section.
fn read<'t>(lines: &[&'t str]) -> Option<Vec<Option<KeyLine<'t>>>> {
    let mut section = "";
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        if let Some(own) = section_of(line) {
            section = own;
            out.push(None);
            continue;
        }
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';', '!']) {
            out.push(None);
            continue;
        }
        let at = line.find('=').or_else(|| line.find(':'))?;
        let behind = &line[at + 1..];
        let start = at + 1 + (behind.len() - behind.trim_start_matches([' ', '\t']).len());
        let end = start + end_of_value(line[start..].trim_end());
        let key = line[..at].trim().trim_start_matches("export ").trim_matches('"');
        out.push(Some(KeyLine { section, key, head: &line[..start], value: &line[start..end], tail: &line[end..] }));
    }
    Some(out)
}

/// How long a value is, without a comment behind it.
fn end_of_value(rest: &str) -> usize {
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let closed = quote.and_then(|quote| rest[1..].find(quote)).map(|at| at + 2);
    closed.or_else(|| rest.find(" #")).unwrap_or(rest.len()).min(rest.len())
}

/// The name in the line of a section.
fn section_of(line: &str) -> Option<&str> {
    line.trim().strip_prefix('[')?.strip_suffix(']').filter(|name| !name.starts_with('['))
}

/// What is between the key and the value of a line.
fn separator<'t>(line: &KeyLine<'t>) -> &'t str {
    let at = line.head.find(['=', ':']).unwrap_or(0);
    &line.head[line.head[..at].trim_end().len()..]
}

/// A value as it is written in the place of another one.
fn written(value: NodeRef<'_>, old: &str, name: &str) -> Option<String> {
    let scalar = value.scalar().filter(|_| !value.string().contains('\n'))?;
    let text = value.string();
    Some(match old.chars().next().filter(|c| matches!(c, '"' | '\'') && old.len() > 1) {
        Some('"') => quoted_json(text),
        Some(quote) if !text.contains(quote) => format!("{quote}{text}{quote}"),
        Some(_) => quoted_json(text),
        // TOML has texts in quotes alone.
        None if name.ends_with(".toml") && matches!(scalar, Scalar::String(_)) => quoted_json(text),
        None => text.to_owned(),
    })
}
