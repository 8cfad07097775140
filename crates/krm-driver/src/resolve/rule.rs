//! A recorded decision as a rule of a functionConfig, and the file with these rules.

use std::fs;
use std::hash::Hash;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use krm_files::config_file::{ConfigFile, NEW};
use krm_files::disk::Replacement;
use krm_files::regular;
use krm_files::told::counted;
use krm_files::walk::{shown, there};
use krm_merge::file_path::RULES;
use krm_merge::resource::Identity;
use krm_merge_function::config::{API_VERSION, Given, KIND, Mode};
use krm_tree::child::By;
use krm_tree::limit::Budget;
use krm_tree::sides::{Side, Sides};
use krm_tree::splice;
use krm_tree::tree::{Branch, Entry, Key, Tree};
use krm_yaml::{Document, NodeRef, plain_or_quoted, same};

/// The winner that a rule names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Take {
    /// Dest.
    Dest,
    /// Updated.
    Updated,
    /// The newer version.
    Newest,
}

/// A rule for a place, and for the values that it had when the user decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The fields of the target.
    target: Vec<(&'static str, String)>,
    path: Option<String>,
    take: Take,
    /// The required value of each side, as JSON; `None` if the side may have any value.
    when: Sides<Option<String>>,
}

impl Rule {
    /// The place that it decides, and the values that it requires there.
    pub fn case(&self) -> impl Eq + Hash + use<'_> {
        (&self.target, &self.path, &self.when)
    }

    /// The winner.
    pub fn take(&self) -> Take {
        self.take
    }

    /// A rule for a place of one resource. Without a path, the rule is for the whole resource.
    pub fn new(identity: Identity<'_>, path: Option<String>, take: Take, when: Sides<Option<String>>) -> Self {
        let group = identity.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let parts =
            [("group", group), ("kind", identity.kind), ("namespace", identity.namespace), ("name", identity.name)];
        // Without an empty group or namespace, the rule would also be for resources that have one.
        let target = parts.into_iter().map(|(field, value)| (field, expression(value))).collect();
        Self { target, path, take, when }
    }

    /// The rule for the same place that takes the newer version, whatever the values are.
    pub fn newest(&self) -> Self {
        Self { take: Take::Newest, when: Sides::default(), ..self.clone() }
    }

    /// The rule as an element of `spec.rules`.
    fn yaml(&self) -> String {
        let mut out = String::from("- target:\n");
        for (field, value) in &self.target {
            out.push_str(&format!("    {field}: {}\n", plain_or_quoted(value)));
        }
        if let Some(path) = &self.path {
            out.push_str(&format!("  path: {}\n", plain_or_quoted(path)));
        }
        out.push_str(&format!("  take: {:?}\n", self.take));
        if self.when.iter().any(|(_, value)| value.is_some()) {
            out.push_str("  when:\n");
        }
        for side in Side::ALL {
            if let Some(json) = &self.when[side] {
                out.push_str(&format!("    {}: {json}\n", side.name()));
            }
        }
        out
    }
}

/// A regular expression that matches only this value.
fn expression(value: &str) -> String {
    let escaped = |c: char| if "\\.+*?()|[]{}^$".contains(c) { format!("\\{c}") } else { c.to_string() };
    value.chars().map(escaped).collect()
}

/// The file for recorded rules.
#[derive(Debug)]
pub struct Book {
    name: String,
    disk: PathBuf,
    old: Option<String>,
    /// The text of a new file with the rules of a package.
    new: Option<String>,
}

impl Book {
    /// Opens a file, which need not exist yet.
    ///
    /// # Errors
    /// The file cannot be read, or is not a file for rules.
    pub fn open(file: &Path) -> Result<Self> {
        let name = shown(file);
        regular::own(file).with_context(|| format!("`--record` \"{name}\""))?;
        let old = match fs::read_to_string(file) {
            Ok(text) => Some(text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e).context(name),
        };
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file_name = file.file_name().ok_or_else(|| anyhow!("{name}: it must be a file"))?;
        there("--record", "a folder for it", folder)?;
        let new = || Ok::<_, anyhow::Error>(fs::canonicalize(folder).with_context(|| shown(folder))?.join(file_name));
        let disk = if old.is_some() { fs::canonicalize(file).with_context(|| name.clone())? } else { new()? };
        let is_empty = |text: &String| text.trim().is_empty();
        let is_rules = file_name == RULES && old.as_ref().is_none_or(is_empty);
        with_rules(&name, old.clone(), &[])?;
        if old.as_ref().is_some_and(|text| !text.trim().is_empty()) {
            let given = Given { mode: Some(Mode::ThreeWay), ..Given::default() };
            ConfigFile::read(name.clone(), file)?.config(given)?;
        }
        Ok(Self { name, disk, old, new: is_rules.then(|| NEW.to_owned()) })
    }

    /// The change that adds rules to the file; `None` if nothing changes.
    ///
    /// # Errors
    /// The errors of [`with_rules`].
    pub fn with(&self, rules: &[Rule]) -> Result<Option<Replacement<'static>>> {
        if rules.is_empty() {
            return Ok(None);
        }
        let new = with_rules(&self.name, self.new.clone().or_else(|| self.old.clone()), rules)?;
        let is_same = self.old.as_ref() == Some(&new);
        let old = self.old.clone().map(|text| text.into_bytes().into());
        let replacement =
            Replacement { file: self.disk.clone(), old, new: Some(new.into_bytes().into()), executable: None };
        Ok((!is_same).then_some(replacement))
    }

    /// The message with the number of recorded rules.
    pub fn told(&self, rules: &[Rule]) -> String {
        match (rules, &self.old) {
            ([], None) => format!("recorded no decision: {} is not written", self.name),
            ([], Some(_)) => format!("recorded no decision: {} stays as it is", self.name),
            (rules, _) => format!("recorded {} in {}", counted(rules.len(), "decision"), self.name),
        }
    }
}

/// The text of a functionConfig with additional rules. If `old` is missing or empty, the functionConfig is new. The new rules come before
/// the old ones, because the first rule that matches decides. A rule for the same values of the same place replaces the old rule.
///
/// # Errors
/// The text is not a functionConfig of a three-way merge.
fn with_rules(name: &str, old: Option<String>, rules: &[Rule]) -> Result<String> {
    let head = "# Decisions of `kubectl krm-merge resolve`: the same upgrade with `three-way --config` and this file does not ask for them again.";
    let new = format!(
        "{head}\napiVersion: {API_VERSION}\nkind: {KIND}\nmetadata:\n  name: decisions\nspec:\n  mode: ThreeWay\n"
    );
    let old = old.filter(|text| !text.trim().is_empty()).unwrap_or(new);
    put(name, old, &rules.iter().map(Rule::yaml).collect::<String>(), joined)
}

/// The text of the rules of a repository, with one that takes the newer version of each place. It comes last, because the first rule that fits
/// decides, but before a rule for all places. `None` if the repository has it.
///
/// # Errors
/// The text is not a functionConfig of a three-way merge.
pub fn with_newest(name: &str, old: Option<String>) -> Result<Option<String>> {
    const NEW: &str = "# How `git merge` decides conflicts in this repository: see `kubectl krm-merge git-install --help`.\napiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: repository\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\nspec:\n";
    let old = old.filter(|text| !text.trim().is_empty());
    let text = match &old {
        // A map without a field is no map.
        None => return Ok(Some(format!("{NEW}  rules:\n  - take: Newest\n"))),
        Some(old) => put(name, old.clone(), "- take: Newest\n", before_all)?,
    };
    Ok((old.as_ref() != Some(&text)).then_some(text))
}

/// The text of a functionConfig with additional rules, which `join` puts among those that are there.
fn put(name: &str, old: String, rules: &str, join: for<'a> fn(NodeRef<'a>, NodeRef<'a>) -> Tree<'a>) -> Result<String> {
    let document = Document::parse(old).map_err(|e| anyhow!("{name}:{e}"))?;
    let root = document.roots().next().ok_or_else(|| anyhow!("{name}: there must be a functionConfig"))?;
    // If the mode is missing, the command that reads the file gives it.
    let is_three_way = root.at(&["spec", "mode"]).is_none_or(|mode| mode.string() == "ThreeWay");
    let is_merge = root.get("kind").is_some_and(|kind| kind.string() == KIND);
    let spec = root.get("spec").filter(|spec| is_three_way && is_merge && spec.is_map());
    let Some(spec) = spec else { bail!("{name}: rules must be recorded in a `{KIND}` of mode `ThreeWay`") };
    if rules.is_empty() {
        return Ok(document.source().to_owned());
    }
    let written = Document::parse(format!("rules:\n{rules}"))?;
    let Some((key, list)) = written.roots().next().and_then(|root| root.entries().next()) else {
        return Ok(document.source().to_owned());
    };
    let there = spec.get("rules").filter(|rules| rules.is_list());
    let mut branch = Branch::of(spec, By::Field);
    match spec.entries().position(|(key, _)| key.string() == "rules") {
        Some(at) => branch.entries[at].value = Some(there.map_or(Tree::Node(list), |there| join(there, list))),
        None => branch.push(Entry::new(Some(Key::Node(key)), Tree::Node(list))),
    }
    let mut whole = Branch::of(root, By::Field);
    if let Some(at) = root.entries().position(|(_, value)| value.is(spec)) {
        whole.entries[at].value = Some(branch.into_tree());
    }
    let edits = splice::edits(root, &whole.into_tree(), &Budget::default())?;
    let source = document.source();
    Ok(edits.apply(source, 0..source.len()))
}

/// The new rules, followed by the existing ones.
fn joined<'a>(there: NodeRef<'a>, new: NodeRef<'a>) -> Tree<'a> {
    let mut branch = Branch::of(there, By::Index);
    let mut further = Vec::new();
    for rule in new.elements() {
        match there.elements().position(|old| is_for_the_same(old, rule)) {
            Some(at) if same_take(there, at, rule) => {}
            Some(at) => branch.entries[at].value = Some(Tree::Node(rule)),
            None => further.push(Entry::new(None, Tree::Node(rule))),
        }
    }
    branch.reorder(|entries| further.into_iter().chain(entries).collect());
    branch.into_tree()
}

/// The existing rules, with the new ones before the first that is for all places. What is there already is not put there again.
fn before_all<'a>(there: NodeRef<'a>, new: NodeRef<'a>) -> Tree<'a> {
    let is_for_all = |rule: NodeRef<'_>| ["target", "path", "when"].into_iter().all(|field| rule.get(field).is_none());
    let is_new = |rule: &NodeRef<'a>| !there.elements().any(|old| same(old, *rule));
    let further: Vec<Entry<'a>> =
        new.elements().filter(is_new).map(|rule| Entry::new(None, Tree::Node(rule))).collect();
    let at = there.elements().position(is_for_all).unwrap_or(there.elements().count());
    let mut branch = Branch::of(there, By::Index);
    branch.reorder(|mut entries| {
        entries.splice(at..at, further);
        entries
    });
    branch.into_tree()
}

fn same_take(there: NodeRef<'_>, at: usize, rule: NodeRef<'_>) -> bool {
    let old = there.elements().nth(at).and_then(|old| old.get("take"));
    old.zip(rule.get("take")).is_some_and(|(old, new)| same(old, new))
}

/// Whether two rules are for the same values of the same place.
fn is_for_the_same(one: NodeRef<'_>, other: NodeRef<'_>) -> bool {
    ["target", "path", "when"].into_iter().all(|field| match (one.get(field), other.get(field)) {
        (Some(one), Some(other)) => same(one, other),
        (None, None) => true,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEB: Identity<'static> =
        Identity { api_version: "apps/v1", kind: "Deployment", namespace: "prod", name: "web.a" };

    fn rule(path: Option<&str>, take: Take, updated: &str) -> Rule {
        let when = Sides { original: Some("1".to_owned()), updated: Some(updated.to_owned()), dest: None };
        Rule::new(WEB, path.map(str::to_owned), take, when)
    }

    const WRITTEN: &str = "- target:\n      group: apps\n      kind: Deployment\n      namespace: prod\n      name: web\\.a\n    path: spec.replicas\n    take: Dest\n    when:\n      original: 1\n      updated: 2\n";

    fn rules_of(text: &str) -> String {
        text.split_once("rules:\n").expect("rules").1.to_owned()
    }

    #[test]
    fn rules_stand_in_a_new_config() {
        let text = with_rules("x", None, &[rule(Some("spec.replicas"), Take::Dest, "2")]).expect("written");
        assert!(text.starts_with("# Decisions of `kubectl krm-merge resolve`"), "{text}");
        assert_eq!(rules_of(&text), format!("  {WRITTEN}"));
        let without = with_rules("x", None, &[]).expect("written");
        assert!(!without.contains("rules") && text.starts_with(&without), "{without}");
    }

    #[test]
    fn rules_stand_before_those_that_are_there() {
        let old = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules: # mine\n  - path: data\n    take: Fail\n  mode: ThreeWay # always\n";
        let first =
            with_rules("x", Some(old.to_owned()), &[rule(Some("spec.replicas"), Take::Dest, "2")]).expect("written");
        let want = old.replace("  - path", &format!("  {WRITTEN}  - path"));
        assert_eq!(first, want);
        // The same decision is recorded once; a different one for the same values replaces it.
        let again =
            with_rules("x", Some(first.clone()), &[rule(Some("spec.replicas"), Take::Dest, "2")]).expect("written");
        assert_eq!(again, first);
        let other =
            with_rules("x", Some(first.clone()), &[rule(Some("spec.replicas"), Take::Updated, "2")]).expect("written");
        assert_eq!(other, first.replace("take: Dest", "take: Updated"));
        let more =
            with_rules("x", Some(first.clone()), &[rule(Some("spec.replicas"), Take::Dest, "3")]).expect("written");
        assert_eq!(
            more,
            first.replace("  - target", &format!("  {}  - target", WRITTEN.replace("updated: 2", "updated: 3")))
        );
    }

    #[test]
    fn the_rule_for_newer_versions_comes_after_those_for_some_places() {
        let with = |rules: &str| {
            let old = format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules: # ours\n{rules}");
            with_newest("x", Some(old.clone())).expect("written").map(|text| text.replace(&old, "").replace(rules, "…"))
        };
        let text = with_newest("x", None).expect("written").expect("a text");
        assert!(text.ends_with("spec:\n  rules:\n  - take: Newest\n"), "{text}");
        assert_eq!(with_newest("x", Some(text)).expect("written"), None);
        assert_eq!(with("  - {path: a, take: Dest}\n").as_deref(), Some("  - take: Newest\n"));
        assert_eq!(with("  - {path: a, take: Dest}\n  - {take: Newest}\n"), None);
        let before = with("  - {path: a, take: Dest}\n  - {take: Fail}\n").expect("a text");
        assert!(before.ends_with("  - {path: a, take: Dest}\n  - take: Newest\n  - {take: Fail}\n"), "{before}");
        let none = with_newest(
            "x",
            Some("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  renames: Ignore\n".to_owned()),
        );
        assert!(none.expect("written").expect("a text").ends_with("  renames: Ignore\n  rules:\n  - take: Newest\n"));
    }

    #[test]
    fn only_a_config_of_a_three_way_merge_holds_decisions() {
        for (text, want) in [
            ("a: [", "x:"),
            ("apiVersion: v1\nkind: ConfigMap\ndata:\n  mode: three-way\n", "x: rules must be recorded in a `Merge`"),
            ("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  mode: TwoWay\n", "x: rules must be recorded"),
        ] {
            let error = with_rules("x", Some(text.to_owned()), &[]).expect_err(text).to_string();
            assert!(error.starts_with(want), "{error}");
        }
    }
}
