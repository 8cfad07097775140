//! The table as text, for people and for review, and as arrays, for the program.
//!
//! The arrays are Rust source and not a blob: the compiler checks them, and the program reads them without a parser.

use std::collections::BTreeSet;
use std::fmt::Write as _;

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
# Made by `cargo xtask schema` (see README.md); not edited by hand. builtin/packed.rs says the same to the compiler.
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

/// The rows of the arrays, in which names, types and rules are numbers.
struct Rows<'t> {
    names: Vec<&'t String>,
    name_ends: Vec<usize>,
    kinds: Vec<String>,
    type_starts: Vec<usize>,
    fields: Vec<String>,
    required_starts: Vec<usize>,
    required: Vec<usize>,
    rules: Vec<&'t Rule>,
}

fn rows<'t>(table: &'t Table, nothing: &'t Rule) -> Result<Rows<'t>, String> {
    let fields = || table.types.values().flatten();
    let kinds = table.kinds.keys().flat_map(|(api_version, kind)| [api_version, kind]);
    let required = table.required.values().flatten();
    let names: Vec<&String> =
        kinds.chain(fields().map(|(name, _)| name)).chain(required).collect::<BTreeSet<_>>().into_iter().collect();
    let rules: Vec<&Rule> =
        fields().map(|(_, f)| &f.rule).chain([nothing]).collect::<BTreeSet<_>>().into_iter().collect();
    let types: Vec<&String> = table.types.keys().collect();
    let position = |all: &[&String], one: &String| all.binary_search(&one).map_err(|_| format!("`{one}` is missing"));

    let mut name_ends = vec![0];
    let (mut kind_rows, mut type_starts, mut field_rows) = (Vec::new(), vec![0], Vec::new());
    let (mut required_starts, mut required) = (vec![0], Vec::new());
    for name in &names {
        name_ends.push(name_ends.last().copied().unwrap_or(0) + name.len());
    }
    for ((api_version, kind), name) in &table.kinds {
        kind_rows.push(format!(
            "({},{},{})",
            position(&names, api_version)?,
            position(&names, kind)?,
            position(&types, name)?
        ));
    }
    for (name, fields) in &table.types {
        for field in table.required.get(name).into_iter().flatten() {
            required.push(position(&names, field)?);
        }
        required_starts.push(required.len());
        for (name, field) in fields {
            let target = field.target.as_ref().map_or(Ok(0x3fff), |t| position(&types, t))?;
            let rule = rules.binary_search(&&field.rule).map_err(|_| "a rule is missing")?;
            field_rows.push(format!("({},{},{rule})", position(&names, name)?, (field.shape as usize) << 14 | target));
        }
        type_starts.push(field_rows.len());
    }
    if name_ends.last() > Some(&0xffff) || types.len() > 0x3ffe || field_rows.len() > 0xffff {
        return Err("the table has outgrown 16-bit numbers".into());
    }
    Ok(Rows { names, name_ends, kinds: kind_rows, type_starts, fields: field_rows, required_starts, required, rules })
}

/// The table for the compiler; `builtin.rs` says what the numbers mean.
pub fn packed(table: &Table, sources: &[Source]) -> Result<String, String> {
    let nothing = Rule::default();
    let rows = rows(table, &nothing)?;
    let mut out = String::from(
        "//! `builtin.txt` as arrays. Made by `cargo xtask schema` (see `../README.md`); not edited by hand.\n\n",
    );
    out += "use super::{BuiltinList, ListType, Strategy};\n\n";
    let _ = writeln!(
        out,
        "/// The versions of Kubernetes whose types are known.\npub const VERSIONS: &str = \"{}\";\n",
        versions(sources)
    );
    out += "/// All names, sorted, one after the other.\npub static NAMES: &str = \"\\\n";
    out += &wrap(rows.names.iter().map(|n| n.to_string()), "", "\\");
    out += "\";\n\n";
    array(
        &mut out,
        "Where each name starts, and where the last one ends.",
        "NAME_STARTS",
        "u16",
        &strings(&rows.name_ends),
    );
    array(
        &mut out,
        "Name of the apiVersion, name of the kind, type; sorted by what the names say.",
        "KINDS",
        "(u16, u16, u16)",
        &rows.kinds,
    );
    array(
        &mut out,
        "The first field of each type, and where the last type ends.",
        "TYPE_STARTS",
        "u16",
        &strings(&rows.type_starts),
    );
    array(
        &mut out,
        "Name, shape and type, rule; sorted by what the names say within each type.",
        "FIELDS",
        "(u16, u16, u16)",
        &rows.fields,
    );
    array(
        &mut out,
        "The first required field of each type, and where those of the last type end.",
        "REQUIRED_STARTS",
        "u16",
        &strings(&rows.required_starts),
    );
    array(&mut out, "Names of required fields.", "REQUIRED", "u16", &strings(&rows.required));
    let rules = rows.rules.iter().map(|r| rule_source(r)).collect::<Result<Vec<_>, _>>()?;
    array(&mut out, "Every rule that a field has; the first says nothing.", "RULES", "BuiltinList", &rules);
    Ok(out.trim_end().to_owned() + "\n")
}

/// Numbers as they are written in source.
pub fn strings(numbers: &[usize]) -> Vec<String> {
    numbers.iter().map(usize::to_string).collect()
}

/// Adds a static array.
pub fn array(out: &mut String, doc: &str, name: &str, of: &str, items: &[String]) {
    let lines = wrap(items.iter().cloned(), ",", "");
    let _ = write!(out, "/// {doc}\npub static {name}: [{of}; {}] = [\n{lines}];\n\n", items.len());
}

/// Items in lines of a readable length.
pub fn wrap(items: impl Iterator<Item = String>, between: &str, end: &str) -> String {
    let (mut out, mut width) = (String::new(), 0);
    for item in items {
        if width + item.len() > 150 {
            out += &format!("{end}\n");
            width = 0;
        }
        width += item.len() + between.len();
        out += &item;
        out += between;
    }
    out + end + "\n"
}

fn rule_source(rule: &Rule) -> Result<String, String> {
    let strategy = match rule.strategy.as_str() {
        "" => "None",
        "merge" => "Merge",
        "replace" => "Replace",
        "retainKeys" => "RetainKeys",
        "merge,retainKeys" => "MergeRetainKeys",
        other => return Err(format!("unknown patch strategy `{other}`")),
    };
    let list_type = match rule.list_type.as_str() {
        "" => "None",
        "atomic" => "Some(ListType::Atomic)",
        "set" => "Some(ListType::Set)",
        "map" => "Some(ListType::Map)",
        other => return Err(format!("unknown list type `{other}`")),
    };
    let (merge_key, keys) = (&rule.merge_key, &rule.map_keys);
    Ok(format!(
        "BuiltinList {{ strategy: Strategy::{strategy}, merge_key: {merge_key:?}, list_type: {list_type}, map_keys: &{keys:?} }}"
    ))
}
