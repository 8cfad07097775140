//! Writes the table of custom resources: for people, and for the compiler.

use std::collections::BTreeSet;

use crate::atlas::Atlas;
use crate::write::{Source, array, strings, wrap};

const HEAD: &str = "\
# The lists of public custom resources that declare how they merge.
# Made by `cargo xtask atlas` (see README.md); not edited by hand. atlas/packed.rs says the same to the compiler.
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

/// Sorted names, to which the table refers by number.
struct Names<'t> {
    sorted: Vec<&'t str>,
}

impl<'t> Names<'t> {
    fn of(names: impl Iterator<Item = &'t String>) -> Self {
        Self { sorted: names.map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect() }
    }

    fn number(&self, name: &str) -> Result<usize, String> {
        self.sorted.binary_search(&name).map_err(|_| format!("`{name}` is missing"))
    }

    fn write(&self, out: &mut String, doc: &str, name: &str) -> Result<(), String> {
        let mut ends = vec![0];
        for name in &self.sorted {
            ends.push(ends.last().copied().unwrap_or(0) + name.len());
        }
        if ends.last() > Some(&0xffff) {
            return Err(format!("{name} has outgrown 16-bit numbers"));
        }
        let lines = wrap(self.sorted.iter().map(|name| (*name).to_owned()), "", "\\");
        *out += &format!("/// {doc}, sorted, one after the other.\npub static {name}: &str = \"\\\n{lines}\";\n\n");
        array(
            out,
            "Where each of these starts, and where the last one ends.",
            &format!("{name}_STARTS"),
            "u16",
            &strings(&ends),
        );
        Ok(())
    }
}

/// The table for the compiler; `atlas.rs` says what the numbers mean.
pub fn packed(table: &Atlas) -> Result<String, String> {
    let fields = || table.types.iter().flatten();
    let of_kinds = table.kinds.iter().flat_map(|((group, kind), versions)| {
        [group, kind].into_iter().chain(versions.iter().map(|(version, _)| version))
    });
    let (kind_names, field_names) = (Names::of(of_kinds), Names::of(fields().map(|(name, _)| name)));
    let rules: Vec<&String> = fields().map(|(_, field)| &field.rule).collect::<BTreeSet<_>>().into_iter().collect();
    if rules.first().is_none_or(|rule| !rule.is_empty()) {
        return Err("the first rule must be that of a field that is no list".into());
    }

    let (mut kinds, mut versions) = (Vec::new(), Vec::new());
    for ((group, kind), of_kind) in &table.kinds {
        kinds.push(format!("({},{},{})", kind_names.number(group)?, kind_names.number(kind)?, versions.len()));
        for (version, ty) in of_kind {
            versions.push(format!("({},{ty})", kind_names.number(version)?));
        }
    }
    let (mut starts, mut rows) = (vec![0], Vec::new());
    for fields in &table.types {
        for (name, field) in fields {
            let rule = rules.binary_search(&&field.rule).map_err(|_| "a rule is missing")?;
            rows.push((field_names.number(name)? << 20 | field.ty << 8 | rule).to_string());
        }
        starts.push(rows.len());
    }
    if field_names.sorted.len() > 0xfff || table.types.len() > 0xfff || rules.len() > 0xff || rows.len() > 0xffff {
        return Err("the table has outgrown its numbers".into());
    }

    let mut out = String::from(
        "//! `atlas.txt` as arrays. Made by `cargo xtask atlas` (see `../README.md`); not edited by hand.\n\nuse crate::schema::builtin::Merges;\n\n",
    );
    kind_names.write(&mut out, "The names of groups, kinds and versions", "KIND_NAMES")?;
    field_names.write(&mut out, "The names of fields", "FIELD_NAMES")?;
    let doc = "Group, kind, and the first version; sorted by what the names say.";
    array(&mut out, doc, "KINDS", "(u16, u16, u16)", &kinds);
    array(&mut out, "Version, and type; those of a kind are sorted by age.", "VERSIONS", "(u16, u16)", &versions);
    let doc = "The first field of each type, and where the last type ends.";
    array(&mut out, doc, "TYPE_STARTS", "u16", &strings(&starts));
    let doc = "Name (12 bits), type (12 bits) and rule (8 bits); sorted by what the names say within each type.";
    array(&mut out, doc, "FIELDS", "u32", &rows);
    let rules: Vec<String> = rules.iter().map(|rule| rule_source(rule)).collect();
    array(&mut out, "Every rule that a field has; the first is of what is no list.", "RULES", "Option<Merges>", &rules);
    Ok(out.trim_end().to_owned() + "\n")
}

fn rule_source(rule: &str) -> String {
    match rule.strip_prefix("map=") {
        Some(keys) => format!("Some(Merges::Map(&{:?}))", keys.split(',').collect::<Vec<_>>()),
        None if rule.is_empty() => "None".into(),
        None => format!("Some(Merges::{})", if rule == "set" { "Set" } else { "Atomic" }),
    }
}
