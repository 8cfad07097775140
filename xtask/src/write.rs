//! The table as text, for people and for review, and as bytes, for the program.

use std::collections::BTreeSet;

use crate::packed::{Names, Packed};
use crate::table::{Field, Rule, Shape, Table};

/// A document that a table was made from.
#[derive(Debug)]
pub struct Source {
    /// Its version.
    pub label: String,
    /// Its digest.
    pub sha256: String,
}

const HEAD: &str = "\
# The built-in types of Kubernetes: which of their lists merge, by which keys, and which fields an object must have.
# Made by `cargo xtask schema` (see README.md); not edited by hand. builtin.bin says the same to the program.
#
# versions OLDEST to NEWEST         of Kubernetes; of each field, the newest version that has it speaks
# source LABEL SHA256               a definitions document that this was made from
# kind APIVERSION KIND TYPE         the type of a resource
# type TYPE [required=FIELDS]       group, version and name of a type, the fields that each object of it must have, then its fields, indented:
#   FIELD VALUE [patch=x-kubernetes-patch-strategy] [key=x-kubernetes-patch-merge-key]
#               [list=x-kubernetes-list-type] [keys=x-kubernetes-list-map-keys]
# VALUE is TYPE, [TYPE] a list of it, {TYPE} a map from any name to it, {[TYPE]} a map to lists of it; `-` or nothing in the brackets
# where below there is nothing to say.
#
# Here are all list fields of each type (one without `patch` and `list` is replaced whole), all fields with a patch strategy, and the
# fields that lead to any of them, or to an object that must have fields. A field that is not here is a scalar, an object of which
# nothing of this is to be said, or newer than the table.
";

/// The numbers in a label, by which versions are ordered.
pub fn numbers(label: &str) -> Vec<u64> {
    label.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

fn versions(sources: &[Source]) -> String {
    let minor = |source: &Source| source.label.trim_start_matches('v').trim_end_matches(".0").to_owned();
    match (sources.first().map(minor), sources.last().map(minor)) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (first, _) => first.unwrap_or_default(),
    }
}

/// The table for people.
pub fn text(table: &Table, sources: &[Source]) -> String {
    let mut out = format!("{HEAD}\nversions {}\n", versions(sources));
    for source in sources {
        out += &format!("source {} {}\n", source.label, source.sha256);
    }
    out.push('\n');
    for ((api_version, kind), name) in &table.kinds {
        out += &format!("kind {api_version} {kind} {name}\n");
    }
    for (name, fields) in &table.types {
        let required = table.required.get(name).map(|fields| fields.iter().map(String::as_str).collect::<Vec<_>>());
        let required = required.map(|fields| format!(" required={}", fields.join(","))).unwrap_or_default();
        out += &format!("\ntype {name}{required}\n");
        for (name, field) in fields {
            out += &format!("  {name} {}{}\n", value(field), extensions(&field.rule));
        }
    }
    out
}

fn value(field: &Field) -> String {
    let target = field.target.as_deref().unwrap_or_default();
    match field.shape {
        Shape::Value if target.is_empty() => "-".into(),
        Shape::Value => target.into(),
        Shape::List => format!("[{target}]"),
        Shape::Map => format!("{{{target}}}"),
        Shape::MapOfLists => format!("{{[{target}]}}"),
    }
}

fn extensions(rule: &Rule) -> String {
    let keys = rule.map_keys.join(",");
    let words = [
        ("patch", rule.strategy.as_str()),
        ("key", rule.merge_key.as_deref().unwrap_or_default()),
        ("list", &rule.list_type),
        ("keys", &keys),
    ];
    words.into_iter().filter(|(_, word)| !word.is_empty()).map(|(name, word)| format!(" {name}={word}")).collect()
}

/// The table for the program; `builtin.rs` says what the numbers mean.
pub fn packed(table: &Table, sources: &[Source]) -> Result<Vec<u8>, String> {
    let fields = || table.types.values().flatten();
    let nothing = Rule::default();
    let rules: Vec<&Rule> =
        fields().map(|(_, field)| &field.rule).chain([&nothing]).collect::<BTreeSet<_>>().into_iter().collect();
    let kinds = table.kinds.keys().flat_map(|(api_version, kind)| [api_version, kind]);
    let of_fields = fields().map(|(name, _)| name).chain(table.required.values().flatten());
    let keys = rules.iter().flat_map(|rule| rule.merge_key.iter().chain(&rule.map_keys));
    let names = Names::of(kinds.chain(of_fields).chain(keys).map(String::as_str));
    let types = Names::of(table.types.keys().map(String::as_str));
    if types.sorted.len() > NO_TYPE {
        return Err("the table has outgrown its 14 bits for a type".into());
    }

    let (mut kind_rows, mut rows, mut type_starts) = (Vec::new(), Vec::new(), vec![0]);
    let (mut required, mut required_starts) = (Vec::new(), vec![0]);
    for ((api_version, kind), ty) in &table.kinds {
        kind_rows.push([names.number(api_version)?, names.number(kind)?, types.number(ty)?]);
    }
    for (name, fields) in &table.types {
        for field in table.required.get(name).into_iter().flatten() {
            required.push(names.number(field)?);
        }
        required_starts.push(required.len());
        for (name, field) in fields {
            let target = field.target.as_ref().map_or(Ok(NO_TYPE), |ty| types.number(ty))?;
            let rule = rules.binary_search(&&field.rule).map_err(|_| "a rule is missing")?;
            rows.push([names.number(name)?, (field.shape as usize) << 14 | target, rule]);
        }
        type_starts.push(rows.len());
    }
    let rules = rules.into_iter().map(|rule| row(rule, &names)).collect::<Result<Vec<_>, _>>()?;

    let mut out = Packed::default();
    out.part(versions(sources).as_bytes())?;
    out.names(&names)?;
    out.numbers(kind_rows.into_iter().flatten())?;
    out.numbers(type_starts)?;
    out.numbers(rows.into_iter().flatten())?;
    out.numbers(required_starts)?;
    out.numbers(required)?;
    out.numbers(rules.into_iter().flatten())?;
    Ok(out.bytes)
}

/// Stands for a type of which nothing is to be said.
const NO_TYPE: usize = 0x3fff;

/// A rule in numbers.
fn row(rule: &Rule, names: &Names<'_>) -> Result<[usize; 7], String> {
    let strategies = ["", "merge", "replace", "retainKeys", "merge,retainKeys"];
    let strategy = strategies.iter().position(|known| *known == rule.strategy);
    let strategy = strategy.ok_or_else(|| format!("unknown patch strategy `{}`", rule.strategy))?;
    let keys: Vec<&str> = rule.map_keys.iter().map(String::as_str).collect();
    let [list_type, a, b, c, d] = names.list(&rule.list_type, &keys)?;
    Ok([strategy, list_type, names.key(rule.merge_key.as_deref())?, a, b, c, d])
}
