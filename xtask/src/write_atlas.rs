//! Writes the table of custom resources: for people, and for the program.

use std::collections::BTreeSet;

use crate::atlas::Atlas;
use crate::packed::{Names, Packed};
use crate::write::Source;

const HEAD: &str = "\
# The lists of public custom resources that declare how they merge.
# Made by `cargo xtask atlas` (see README.md); not edited by hand. atlas.bin says the same to the program.
#
# source LABEL SHA256                 the list that this was made from; the lists of xtask/src/documented.txt are here, too
# kind GROUP KIND VERSION=TYPE...     the type of each version of a kind, the oldest first; the name of the kind is in lower case
# type NUMBER                         a type, then its fields, indented:
#   FIELD TYPE [RULE]                 `*` is any field. RULE is map=KEYS (x-kubernetes-list-map-keys), set or atomic
#
# Lists are passed through: the type of a list's field is that of its elements. Here are all lists that declare a list type, and the fields
# that lead to them. Type 0 has no fields. A list that is not here declares nothing, or its type is newer than the table.
";

/// The table for people.
pub fn text(table: &Atlas, source: &Source) -> String {
    let mut out = format!("{HEAD}\nsource {} {}\n\n", source.label, source.sha256);
    for ((group, kind), versions) in &table.kinds {
        let versions: String = versions.iter().map(|(version, ty)| format!(" {version}={ty}")).collect();
        out += &format!("kind {group} {kind}{versions}\n");
    }
    for (number, fields) in table.types.iter().enumerate().skip(1) {
        out += &format!("\ntype {number}\n");
        for (name, field) in fields {
            let rule = if field.rule.is_empty() { String::new() } else { format!(" {}", field.rule) };
            out += &format!("  {name} {}{rule}\n", field.ty);
        }
    }
    out
}

/// The table for the program; `atlas.rs` says what the numbers mean.
pub fn packed(table: &Atlas) -> Result<Vec<u8>, String> {
    let fields = || table.types.iter().flatten();
    let rules: Vec<&str> =
        fields().map(|(_, field)| field.rule.as_str()).collect::<BTreeSet<_>>().into_iter().collect();
    if rules.first().is_none_or(|rule| !rule.is_empty()) {
        return Err("the first rule must be that of a field that is no list".into());
    }
    let kind_names = Names::of(table.kinds.iter().flat_map(|((group, kind), versions)| {
        [group, kind].into_iter().chain(versions.iter().map(|(version, _)| version)).map(String::as_str)
    }));
    let keys = rules.iter().flat_map(|rule| list(rule).1);
    let field_names = Names::of(fields().map(|(name, _)| name.as_str()).chain(keys));

    let (mut kinds, mut versions) = (Vec::new(), Vec::new());
    for ((group, kind), of_kind) in &table.kinds {
        kinds.push([kind_names.number(group)?, kind_names.number(kind)?, versions.len()]);
        for (version, ty) in of_kind {
            versions.push([kind_names.number(version)?, *ty]);
        }
    }
    let (mut starts, mut rows) = (vec![0], Vec::new());
    for fields in &table.types {
        for (name, field) in fields {
            let rule = rules.binary_search(&field.rule.as_str()).map_err(|_| "a rule is missing")?;
            rows.push([(field.ty & 0xff) << 8 | rule, field_names.number(name)? << 4 | field.ty >> 8]);
        }
        starts.push(rows.len());
    }
    if field_names.sorted.len() > 0xfff || table.types.len() > 0xfff || rules.len() > 0xff {
        return Err("the table has outgrown its numbers".into());
    }
    let rules = rules.into_iter().map(|rule| {
        let (list_type, keys) = list(rule);
        field_names.list(list_type, &keys)
    });
    let rules = rules.collect::<Result<Vec<_>, _>>()?;

    let mut out = Packed::default();
    out.names(&kind_names)?;
    out.names(&field_names)?;
    out.numbers(kinds.into_iter().flatten())?;
    out.numbers(versions.into_iter().flatten())?;
    out.numbers(starts)?;
    out.numbers(rows.into_iter().flatten())?;
    out.numbers(rules.into_iter().flatten())?;
    Ok(out.bytes)
}

/// The list type and the keys of a rule.
fn list(rule: &str) -> (&str, Vec<&str>) {
    rule.split_once('=').map_or((rule, Vec::new()), |(list_type, keys)| (list_type, keys.split(',').collect()))
}
