//! A decision of a user as a rule, and the text of a functionConfig that has it.
//!
//! Whoever lets a user decide a conflict records it like this, so that the next merge does not ask again. The rule is written by edits of the text, so
//! comments and everything else stay.

use anyhow::{Result, anyhow, bail};
use krm_package::resource::Identity;
use krm_schema::schema::builtin::group_of;
use krm_tree::child::By;
use krm_tree::leaves::hash;
use krm_tree::limit::Budget;
use krm_tree::path::FieldPath;
use krm_tree::sides::{Side, Sides};
use krm_tree::splice;
use krm_tree::tree::{Branch, Entry, Key, Tree};
use krm_yaml::hashed::HashMap;
use krm_yaml::{Document, NodeRef, plain_or_quoted, same};

use crate::config::KIND;

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

/// A rule: who wins a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The case.
    pub case: Case,
    /// Who wins it.
    pub take: Take,
}

/// What a rule is for: a place, and the values that it had when the user decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Case {
    /// The fields of the target, with their values; empty for all resources.
    pub target: Vec<(String, String)>,
    /// The path; `None` for all places.
    pub path: Option<String>,
    /// The required value of each side, as JSON; `None` if the side may have any value.
    pub when: Sides<Option<String>>,
}

impl Case {
    /// A place of one resource, or the whole resource if the path is empty. An index becomes `[*]`, because the values of `when` say which element
    /// is meant.
    pub fn new(identity: Identity<'_>, path: &FieldPath<'_>, when: Sides<Option<String>>) -> Self {
        let group = group_of(identity.api_version);
        let parts =
            [("group", group), ("kind", identity.kind), ("namespace", identity.namespace), ("name", identity.name)];
        // Without an empty group or namespace, the rule would also be for resources that have one.
        let target = parts.into_iter().map(|(field, value)| (field.to_owned(), expression(value))).collect();
        Self { target, path: Some(path.pattern()).filter(|path| !path.is_empty()), when }
    }
}

impl Rule {
    /// The rule that takes the newer version of each place.
    pub fn newest_of_all() -> Self {
        Self { case: Case::default(), take: Take::Newest }
    }

    /// The rule for the same place that takes the newer version, whatever the values are.
    pub fn newest(self) -> Self {
        Self { case: Case { when: Sides::default(), ..self.case }, take: Take::Newest }
    }

    /// The rule as an element of `spec.rules`.
    fn yaml(&self) -> String {
        let (Case { target, path, when }, take) = (&self.case, self.take);
        let mut out = String::new();
        if !target.is_empty() {
            out.push_str("  target:\n");
        }
        for (field, value) in target {
            out.push_str(&format!("    {field}: {}\n", plain_or_quoted(value)));
        }
        if let Some(path) = path {
            out.push_str(&format!("  path: {}\n", plain_or_quoted(path)));
        }
        out.push_str(&format!("  take: {take:?}\n"));
        if when.iter().any(|(_, value)| value.is_some()) {
            out.push_str("  when:\n");
        }
        for side in Side::ALL {
            if let Some(json) = &when[side] {
                out.push_str(&format!("    {}: {json}\n", side.name()));
            }
        }
        out.replacen("  ", "- ", 1)
    }
}

/// A regular expression that matches only this value.
fn expression(value: &str) -> String {
    let escaped = |c: char| if "\\.+*?()|[]{}^$".contains(c) { format!("\\{c}") } else { c.to_string() };
    value.chars().map(escaped).collect()
}

/// The text of a functionConfig with additional rules. They come before those that are there, because the first rule that fits decides. A rule
/// for the same values of the same place replaces the old one. `name` is the name of the text in messages.
///
/// # Errors
/// The text is not a functionConfig of a three-way merge.
pub fn with_rules(name: &str, text: String, rules: &[Rule]) -> Result<String> {
    put(name, text, rules, joined)
}

/// The same, but the new rules come last, only before one that is for all places. A rule that is there already is not put there again.
///
/// # Errors
/// The errors of [`with_rules`].
pub fn with_last_rules(name: &str, text: String, rules: &[Rule]) -> Result<String> {
    put(name, text, rules, before_all)
}

/// The text of a functionConfig without the rules for these cases.
///
/// # Errors
/// The errors of [`with_rules`].
pub fn without_rules(name: &str, text: String, cases: &[Case]) -> Result<String> {
    let rules: Vec<Rule> = cases.iter().map(|case| Rule { case: case.clone(), take: Take::Dest }).collect();
    put(name, text, &rules, without)
}

/// The text of a functionConfig in which `join` makes new rules of those that are there and these; `None` for none.
fn put(
    name: &str,
    text: String,
    rules: &[Rule],
    join: for<'a> fn(Option<NodeRef<'a>>, NodeRef<'a>) -> Option<Tree<'a>>,
) -> Result<String> {
    let document = Document::parse(text).map_err(|e| anyhow!("{name}:{e}"))?;
    let root = document.roots().next().ok_or_else(|| anyhow!("{name}: there must be a functionConfig"))?;
    // If the mode is missing, the command that reads the file gives it.
    let is_three_way = root.at(&["spec", "mode"]).is_none_or(|mode| mode.string() == "ThreeWay");
    let is_merge = root.get("kind").is_some_and(|kind| kind.string() == KIND);
    let spec = root.get("spec").filter(|spec| is_three_way && is_merge && spec.is_map());
    let Some(spec) = spec else { bail!("{name}: rules must be recorded in a `{KIND}` of mode `ThreeWay`") };
    if rules.is_empty() {
        return Ok(document.source().to_owned());
    }
    let written = Document::parse(format!("rules:\n{}", rules.iter().map(Rule::yaml).collect::<String>()))?;
    let Some((key, list)) = written.roots().next().and_then(|root| root.entries().next()) else {
        return Ok(document.source().to_owned());
    };
    let mut branch = Branch::of(spec, By::Field);
    match spec.entries().position(|(key, _)| key.string() == "rules") {
        Some(at) => branch.entries[at].value = join(spec.get("rules").filter(|rules| rules.is_list()), list),
        None => {
            let new = join(None, list).map(|rules| Entry::new(Some(Key::Node(key)), rules));
            new.into_iter().for_each(|new| branch.push(new));
        }
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
fn joined<'a>(there: Option<NodeRef<'a>>, new: NodeRef<'a>) -> Option<Tree<'a>> {
    let Some(there) = there else { return Some(Tree::Node(new)) };
    let mut branch = Branch::of(there, By::Index);
    let mut further = Vec::new();
    let known = ByPlace::of(there);
    for rule in new.elements() {
        match known.find(rule) {
            Some((_, old)) if same_take(old, rule) => {}
            Some((at, _)) => branch.entries[at].value = Some(Tree::Node(rule)),
            None => further.push(Entry::new(None, Tree::Node(rule))),
        }
    }
    branch.reorder(|entries| further.into_iter().chain(entries).collect());
    Some(branch.into_tree())
}

/// The existing rules without these; `None` if none is left.
fn without<'a>(there: Option<NodeRef<'a>>, rules: NodeRef<'a>) -> Option<Tree<'a>> {
    let there = there?;
    let go = ByPlace::of(rules);
    let mut branch = Branch::of(there, By::Index);
    for (at, _) in there.elements().enumerate().filter(|(_, old)| go.find(*old).is_some()) {
        branch.entries[at].value = None;
    }
    branch.entries.iter().any(|entry| entry.value.is_some()).then(|| branch.into_tree())
}

/// The existing rules, with the new ones before the first that is for all places. What is there already is not put there again.
fn before_all<'a>(there: Option<NodeRef<'a>>, new: NodeRef<'a>) -> Option<Tree<'a>> {
    let Some(there) = there else { return Some(Tree::Node(new)) };
    let is_for_all = |rule: NodeRef<'_>| PLACE.into_iter().all(|field| rule.get(field).is_none());
    let is_new = |rule: &NodeRef<'a>| !there.elements().any(|old| same(old, *rule));
    let further: Vec<Entry<'a>> =
        new.elements().filter(is_new).map(|rule| Entry::new(None, Tree::Node(rule))).collect();
    let at = there.elements().position(is_for_all).unwrap_or(there.elements().count());
    let mut branch = Branch::of(there, By::Index);
    branch.reorder(|mut entries| {
        entries.splice(at..at, further);
        entries
    });
    Some(branch.into_tree())
}

fn same_take(old: NodeRef<'_>, rule: NodeRef<'_>) -> bool {
    old.get("take").zip(rule.get("take")).is_some_and(|(old, new)| same(old, new))
}

/// What a rule is for.
const PLACE: [&str; 3] = ["target", "path", "when"];

/// Whether two rules are for the same values of the same place.
fn is_for_the_same(one: NodeRef<'_>, other: NodeRef<'_>) -> bool {
    PLACE.into_iter().all(|field| match (one.get(field), other.get(field)) {
        (Some(one), Some(other)) => same(one, other),
        (None, None) => true,
        _ => false,
    })
}

/// The rules of a list by a hash of what they are for: there may be thousands.
struct ByPlace<'a>(HashMap<u64, Vec<(usize, NodeRef<'a>)>>);

impl<'a> ByPlace<'a> {
    fn of(list: NodeRef<'a>) -> Self {
        let mut all: HashMap<u64, Vec<(usize, NodeRef<'a>)>> = HashMap::default();
        for (at, rule) in list.elements().enumerate() {
            all.entry(Self::hash(rule)).or_default().push((at, rule));
        }
        Self(all)
    }

    /// The first rule for the same values of the same place, and its index.
    fn find(&self, rule: NodeRef<'_>) -> Option<(usize, NodeRef<'a>)> {
        let alike = self.0.get(&Self::hash(rule))?;
        alike.iter().copied().find(|(_, other)| is_for_the_same(*other, rule))
    }

    /// Equal for rules that are for the same: however a text is written, its meaning is hashed.
    fn hash(rule: NodeRef<'_>) -> u64 {
        let name = rule.get("target").and_then(|target| target.get("name"));
        hash((
            PLACE.map(|field| rule.get(field).is_some()),
            [name, rule.get("path")].map(|node| node.map(NodeRef::string)),
        ))
    }
}

#[cfg(test)]
mod tests {
    use krm_tree::path::Step;

    use super::*;

    const WEB: Identity<'static> =
        Identity { api_version: "apps/v1", kind: "Deployment", namespace: "prod", name: "web.a" };

    fn rule(path: &'static str, take: Take, updated: &str) -> Rule {
        let when = Sides { original: Some("1".to_owned()), updated: Some(updated.to_owned()), dest: None };
        let mut at = FieldPath::default();
        path.split('.').for_each(|field| at.push(Step::Field(field.into()), None));
        Rule { case: Case::new(WEB, &at, when), take }
    }

    const WRITTEN: &str = "- target:\n      group: apps\n      kind: Deployment\n      namespace: prod\n      name: web\\.a\n    path: spec.replicas\n    take: Dest\n    when:\n      original: 1\n      updated: 2\n";

    #[test]
    fn a_rule_names_its_resource_and_the_values_there() {
        let text = "kind: Merge\nspec:\n  mode: ThreeWay\n";
        let text = with_rules("x", text.to_owned(), &[rule("spec.replicas", Take::Dest, "2")]).expect("written");
        assert_eq!(text.split_once("rules:\n").expect("rules").1, format!("  {WRITTEN}"));
    }

    #[test]
    fn rules_stand_before_those_that_are_there() {
        let old = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules: # mine\n  - path: data\n    take: Fail\n  mode: ThreeWay # always\n";
        let first = with_rules("x", old.to_owned(), &[rule("spec.replicas", Take::Dest, "2")]).expect("written");
        let want = old.replace("  - path", &format!("  {WRITTEN}  - path"));
        assert_eq!(first, want);
        // The same decision is recorded once; a different one for the same values replaces it.
        let again = with_rules("x", first.clone(), &[rule("spec.replicas", Take::Dest, "2")]).expect("written");
        assert_eq!(again, first);
        let other = with_rules("x", first.clone(), &[rule("spec.replicas", Take::Updated, "2")]).expect("written");
        assert_eq!(other, first.replace("take: Dest", "take: Updated"));
        let more = with_rules("x", first.clone(), &[rule("spec.replicas", Take::Dest, "3")]).expect("written");
        assert_eq!(
            more,
            first.replace("  - target", &format!("  {}  - target", WRITTEN.replace("updated: 2", "updated: 3")))
        );
    }

    #[test]
    fn a_rule_for_all_places_comes_last() {
        let with = |rules: &str| {
            let old = format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules: # ours\n{rules}");
            with_last_rules("x", old.clone(), &[Rule::newest_of_all()])
                .expect("written")
                .replace(&old, "…")
                .replace(rules, "…")
        };
        assert_eq!(with("  - {path: a, take: Dest}\n"), "…  - take: Newest\n");
        assert_eq!(with("  - {path: a, take: Dest}\n  - {take: Newest}\n"), "…");
        let before = with("  - {path: a, take: Dest}\n  - {take: Fail}\n");
        assert!(before.ends_with("  - {path: a, take: Dest}\n  - take: Newest\n  - {take: Fail}\n"), "{before}");
    }

    #[test]
    fn a_decision_is_taken_back() {
        let old =
            "kind: Merge\nspec:\n  mode: ThreeWay # always\n  rules: # mine\n  - path: data # all\n    take: Fail\n";
        let decided = with_rules("x", old.to_owned(), &[rule("spec.replicas", Take::Dest, "2")]).expect("written");
        assert_ne!(decided, old);
        let back = |text: &str| without_rules("x", text.to_owned(), &[rule("spec.replicas", Take::Updated, "2").case]);
        assert_eq!(back(&decided).expect("written"), old);
        assert_eq!(back(old).expect("written"), old);
        let none = "kind: Merge\nspec:\n  mode: ThreeWay\n";
        let decided = with_rules("x", none.to_owned(), &[rule("spec.replicas", Take::Dest, "2")]).expect("written");
        assert_eq!(back(&decided).expect("written"), none);
    }

    #[test]
    fn only_a_config_of_a_three_way_merge_holds_decisions() {
        for (text, want) in [
            ("a: [", "x:"),
            ("apiVersion: v1\nkind: ConfigMap\ndata:\n  mode: three-way\n", "x: rules must be recorded in a `Merge`"),
            ("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  mode: TwoWay\n", "x: rules must be recorded"),
        ] {
            let error = with_rules("x", text.to_owned(), &[]).expect_err(text).to_string();
            assert!(error.starts_with(want), "{error}");
        }
    }
}
