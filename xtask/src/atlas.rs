//! The lists of public custom resources that declare how they merge, as one table.
//!
//! Most definitions embed the same types, such as a pod template. So the lists of each kind become a tree of fields, and equal trees are
//! one type of the table, even if many kinds have it. That makes the table a tenth of the list that it comes from.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

/// How a list merges, as the table writes it: `map=KEYS`, `set` or `atomic`; empty for a field that is not a list, or declares nothing.
pub type Rule = String;

/// A field of a type: the number of its own type, and how its list merges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its type; 0 if nothing below it declares anything.
    pub ty: usize,
    /// How its list merges.
    pub rule: Rule,
}

/// The table: kinds and types.
#[derive(Debug, Default)]
pub struct Atlas {
    /// (group, kind in lower case) to the type of each version, the oldest version first.
    pub kinds: BTreeMap<(String, String), Vec<(String, usize)>>,
    /// The fields of each type. Type 0 has none.
    pub types: Vec<BTreeMap<String, Field>>,
}

/// A tree of fields; some of them are lists.
#[derive(Clone, Debug, Default)]
struct Tree {
    rule: Rule,
    fields: BTreeMap<String, Tree>,
}

/// One version of a kind.
type Place = (String, String, String);

/// Lists by the version of the kind that has them.
#[derive(Debug, Default)]
pub struct Lists {
    trees: BTreeMap<Place, Tree>,
}

impl Lists {
    /// Reads lines of JSON, one for each list: `group`, `kind`, `version`, `path`, and `type` and `keys` if the list declares them. A list
    /// that declares nothing adds only its version: so it is known that this version declares no more.
    ///
    /// # Errors
    /// A line is not such a list.
    pub fn read(&mut self, lines: &str) -> Result<(), String> {
        for (number, line) in lines.lines().enumerate() {
            let at = |what: &str| format!("line {}: {what}", number + 1);
            let list: Value = serde_json::from_str(line).map_err(|e| at(&e.to_string()))?;
            let text = |key: &str| list[key].as_str().ok_or_else(|| at(&format!("no `{key}`")));
            let keys: Vec<&str> = list["keys"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let rule = match (list["type"].as_str(), keys.as_slice()) {
                (None, _) => Rule::new(),
                (Some("map"), [_, ..]) => format!("map={}", keys.join(",")),
                (Some(word @ ("set" | "atomic")), []) => word.to_owned(),
                (Some(other), _) => return Err(at(&format!("a list type `{other}` with the keys {keys:?}"))),
            };
            // Some sources name their files KIND_GROUP.
            let (group, kind) = match text("kind")?.split_once('_') {
                Some((kind, group)) => (group, kind),
                None => (text("group")?, text("kind")?),
            };
            // A group of a custom resource has a dot in its name.
            if group.contains('.') {
                self.add([group, kind, text("version")?], text("path")?, rule);
            }
        }
        Ok(())
    }

    /// Reads the lists of a table, as [`crate::write_atlas::text`] writes it.
    ///
    /// # Errors
    /// A line is not one of such a table.
    pub fn again(&mut self, table: &str) -> Result<(), String> {
        let (mut kinds, mut types) = (Vec::new(), vec![Tree::default()]);
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let bad = || format!("`{line}` is no line of the table");
            let words: Vec<&str> = line.split_whitespace().collect();
            match (line.starts_with(' '), &words[..]) {
                (false, [] | ["source", ..]) => {}
                (false, ["kind", group, kind, versions @ ..]) => {
                    for version in versions {
                        let (version, ty) = version.split_once('=').ok_or_else(bad)?;
                        let ty: usize = ty.parse().map_err(|_| bad())?;
                        kinds.push((([*group, *kind, version]).map(str::to_owned), ty));
                    }
                }
                (false, ["type", _]) => types.push(Tree::default()),
                (true, [name, ty, rule @ ..]) => {
                    let ty: usize = ty.parse().map_err(|_| bad())?;
                    let (own, before) = types.split_last_mut().ok_or_else(bad)?;
                    let fields = before.get(ty).ok_or_else(bad)?.fields.clone();
                    own.fields.insert((*name).to_owned(), Tree { rule: rule.concat(), fields });
                }
                _ => return Err(bad()),
            }
        }
        for ([group, kind, version], ty) in kinds {
            let tree = types.get(ty).ok_or_else(|| format!("there is no type {ty}"))?.clone();
            self.trees.insert((group, kind, version), tree);
        }
        Ok(())
    }

    /// Reads lists that their maintainers document: group, kind, versions, path and rule. Text after `#` is for readers.
    ///
    /// # Errors
    /// A line is not such a list.
    pub fn document(&mut self, lines: &str) -> Result<(), String> {
        for line in lines.lines() {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            match words[..] {
                [] => {}
                [group, kind, versions, path, rule] => {
                    versions.split(',').for_each(|version| self.add([group, kind, version], path, rule.to_owned()));
                }
                _ => return Err(format!("`{line}` must be GROUP KIND VERSIONS PATH RULE")),
            }
        }
        Ok(())
    }

    fn add(&mut self, place: [&str; 3], path: &str, rule: Rule) {
        let [group, kind, version] = place.map(str::to_owned);
        let root = self.trees.entry((group, kind.to_lowercase(), version)).or_default();
        if !rule.is_empty() {
            let list = path.split('.').fold(root, |tree, name| tree.fields.entry(name.to_owned()).or_default());
            list.rule = rule;
        }
    }

    /// The table, without the kinds that declare nothing in any version.
    pub fn table(&self) -> Atlas {
        let mut atlas = Atlas { kinds: BTreeMap::new(), types: vec![BTreeMap::new()] };
        let mut known = HashMap::from([(Vec::new(), 0)]);
        for ((group, kind, version), tree) in &self.trees {
            let ty = atlas.intern(tree, &mut known);
            atlas.kinds.entry((group.clone(), kind.clone())).or_default().push((version.clone(), ty));
        }
        atlas.kinds.retain(|_, versions| versions.iter().any(|(_, ty)| *ty != 0));
        for versions in atlas.kinds.values_mut() {
            versions.sort_by_key(|(version, _)| age(version));
        }
        atlas
    }
}

impl Atlas {
    fn intern(&mut self, tree: &Tree, known: &mut HashMap<Vec<(String, Field)>, usize>) -> usize {
        let field = |tree: &Tree, ty| Field { ty, rule: tree.rule.clone() };
        let fields: Vec<(String, Field)> =
            tree.fields.iter().map(|(name, below)| (name.clone(), field(below, self.intern(below, known)))).collect();
        *known.entry(fields).or_insert_with_key(|fields| {
            self.types.push(fields.iter().cloned().collect());
            self.types.len() - 1
        })
    }
}

/// The order of the versions of a kind by age: the number, then alpha, beta and stable, then the number after that. A version with any
/// other form of name is older than all others. The engine has the same order.
fn age(version: &str) -> (u32, u32, u32, String) {
    let parts = || {
        let rest = version.strip_prefix('v')?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, stage) = rest.split_at(digits);
        let (rank, of_stage) = match (stage.strip_prefix("alpha"), stage.strip_prefix("beta")) {
            (Some(alpha), _) => (0, alpha),
            (_, Some(beta)) => (1, beta),
            _ if stage.is_empty() => (2, "0"),
            _ => return None,
        };
        Some((number.parse().ok()?, rank, of_stage.parse().ok()?))
    };
    let (number, rank, of_stage) = parts().unwrap_or_default();
    (number, rank, of_stage, version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_trees_are_one_type() {
        let line = |kind: &str, version: &str, path: &str, rest: &str| {
            format!(r#"{{"group":"a.b","kind":"{kind}","version":"{version}","path":"{path}"{rest}}}"#)
        };
        let map = r#","type":"map","keys":["name"]"#;
        let lines = [
            line("x", "v1", "spec.l", map),
            line("x", "v1beta1", "spec.l.inner", r#","type":"set""#),
            line("y_c.d", "v1", "spec.l", map),
            line("y_c.d", "v2", "spec.l", ""),
            line("z", "v1", "spec.l", ""),
        ];
        let mut lists = Lists::default();
        lists.read(&lines.join("\n")).expect("lists");
        lists.document("a.b Z v1 spec.m atomic # why").expect("a list");
        let table = lists.table();
        let shown: Vec<String> = table.kinds.iter().map(|((group, kind), v)| format!("{group} {kind} {v:?}")).collect();
        assert_eq!(
            shown,
            [r#"a.b x [("v1beta1", 5), ("v1", 2)]"#, r#"a.b z [("v1", 7)]"#, r#"c.d y [("v1", 2), ("v2", 0)]"#,]
        );
        assert_eq!(table.types[1], BTreeMap::from([("l".to_owned(), Field { ty: 0, rule: "map=name".into() })]));
        assert!(lists.read("{}").is_err() && lists.document("a b c").is_err());
    }

    #[test]
    fn versions_are_ordered_by_age() {
        let mut versions = ["v2", "v1", "v10", "v1beta2", "v2alpha1", "v1alpha1", "v1beta10", "next"];
        versions.sort_by_key(|version| age(version));
        assert_eq!(versions, ["next", "v1alpha1", "v1beta2", "v1beta10", "v1", "v2alpha1", "v2", "v10"]);
    }

    /// Both tables of the crate are what their lists make, those of `documented.txt` among them.
    #[test]
    fn the_committed_tables_are_made_from_their_lists() {
        let text = include_str!("../../crates/krm-schema/src/schema/atlas.txt");
        let mut lists = Lists::default();
        lists.again(text).expect("a table");
        lists.document(include_str!("documented.txt")).expect("lists");
        let table = lists.table();
        let source = text.lines().find_map(|line| line.strip_prefix("source lists ")).expect("a digest");
        let source = crate::write::Source { label: "lists".into(), sha256: source.into() };
        assert!(crate::write_atlas::text(&table, &source) == text, "run `cargo xtask atlas`");
        let packed = include_bytes!("../../crates/krm-schema/src/schema/atlas.bin");
        assert!(crate::write_atlas::packed(&table).as_deref() == Ok(packed), "run `cargo xtask atlas`");
        for bad in ["type 1\n  a 1\n", "  a 0\n", "kind g k v1=1\n", "kind g k v1\n", "other\n"] {
            assert!(Lists::default().again(bad).is_err(), "{bad}");
        }
    }
}
