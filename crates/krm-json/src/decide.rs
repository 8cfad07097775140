//! [`decide`]: a decision of a user, written into the functionConfig as a rule.

use std::collections::BTreeMap;

use krm_job::recorded::{self, Case, Rule, Take};
use krm_tree::sides::Sides;
use serde::Serialize;
use serde_json::Value;

use crate::files::{fields, must_be, no_field, text};

/// What a rule must name to decide one conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConflictCase {
    /// The fields of the target.
    pub target: BTreeMap<String, String>,
    /// The path; none for the resource as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The required value of each side, as JSON.
    pub when: When,
}

/// The values that the sides must have, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct When {
    /// Original's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// Updated's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// Dest's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dest: Option<String>,
}

/// The functionConfig of a three-way merge with which a program may begin.
const NEW: &str =
    "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: decisions\nspec:\n  mode: ThreeWay\n";

/// What a user decided of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The conflict.
    pub case: ConflictCase,
    /// Who wins: `Dest`, `Updated` or `Newest`; without it, the conflict is open again.
    pub take: Option<String>,
}

impl Decision {
    /// Reads what a program gives. A field that is null is not given.
    ///
    /// # Errors
    /// A field has another name or type, or is missing. A case that lacks a field would decide more than the user did.
    pub fn of(value: Value) -> Result<Self, String> {
        let (mut case, mut take) = (None, None);
        for (name, value) in fields("decision", value)? {
            match name.as_str() {
                "case" => case = Some(ConflictCase::of(value)?),
                "take" => take = text(&name, value)?,
                _ => return Err(no_field(&name, "decision", "case, take")),
            }
        }
        Ok(Self { case: case.ok_or("`case` must be given")?, take })
    }
}

impl ConflictCase {
    fn of(value: Value) -> Result<Self, String> {
        let (mut target, mut path, mut when) = (None, None, None);
        for (name, value) in fields("case", value)? {
            match name.as_str() {
                "target" => target = Some(fields(&name, value)?),
                "path" => path = text(&name, value)?,
                "when" => when = Some(When::of(value)?),
                _ => return Err(no_field(&name, "case", "target, path, when")),
            }
        }
        let target = target.ok_or("`target` must be given")?.into_iter().map(|(name, value)| match value {
            Value::String(text) => Ok((name, text)),
            other => Err(must_be("a string", &name, &other)),
        });
        Ok(Self { target: target.collect::<Result<_, _>>()?, path, when: when.ok_or("`when` must be given")? })
    }
}

impl When {
    fn of(value: Value) -> Result<Self, String> {
        let mut when = Self::default();
        for (name, value) in fields("when", value)? {
            match name.as_str() {
                "original" => when.original = text(&name, value)?,
                "updated" => when.updated = text(&name, value)?,
                "dest" => when.dest = text(&name, value)?,
                _ => return Err(no_field(&name, "`when` of a case", "original, updated, dest")),
            }
        }
        Ok(when)
    }
}

/// The functionConfig with a rule for each decision, in place of an earlier one for the same conflict. An empty functionConfig becomes a new one.
///
/// # Errors
/// The text is not a functionConfig of a three-way merge, or `take` is none of the three.
pub fn decide(function_config: &str, decisions: Vec<Decision>) -> Result<String, String> {
    let text = if function_config.trim().is_empty() { NEW } else { function_config }.to_owned();
    let (mut rules, mut open) = (Vec::new(), Vec::new());
    for Decision { case, take } in decisions {
        let case = Case::from(case);
        let take = match take.as_deref() {
            None => {
                open.push(case);
                continue;
            }
            Some("Dest") => Take::Dest,
            Some("Updated") => Take::Updated,
            Some("Newest") => Take::Newest,
            Some(other) => return Err(format!("`take` must be `Dest`, `Updated` or `Newest`, not \"{other}\"")),
        };
        rules.push(Rule { case, take });
    }
    let text = recorded::without_rules(NAME, text, &open);
    let text = text.and_then(|text| recorded::with_rules(NAME, text, &rules));
    text.map_err(|error| format!("{error:#}"))
}

/// The name of the functionConfig in messages.
const NAME: &str = "functionConfig";

impl From<Case> for ConflictCase {
    fn from(Case { target, path, when }: Case) -> Self {
        let Sides { original, updated, dest } = when;
        Self { target: target.into_iter().collect(), path, when: When { original, updated, dest } }
    }
}

impl From<ConflictCase> for Case {
    fn from(ConflictCase { target, path, when }: ConflictCase) -> Self {
        let When { original, updated, dest } = when;
        Self { target: target.into_iter().collect(), path, when: Sides { original, updated, dest } }
    }
}
