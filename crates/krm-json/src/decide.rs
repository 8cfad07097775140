//! [`decide`]: a decision of a user, written into the functionConfig as a rule.

use std::collections::BTreeMap;

use krm_merge_function::recorded::{self, Case, Rule, Take};
use krm_tree::sides::Sides;
use serde::{Deserialize, Serialize};

/// What a rule must name to decide one conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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

/// The functionConfig with a rule that decides each conflict, in place of an earlier one for it. `take` is `Dest`, `Updated` or `Newest`; without it, the
/// conflicts are open again. An empty functionConfig becomes a new one.
///
/// # Errors
/// The text is not a functionConfig of a three-way merge, or `take` is none of the three.
pub fn decide(function_config: &str, cases: Vec<ConflictCase>, take: Option<&str>) -> Result<String, String> {
    let text = if function_config.trim().is_empty() { NEW } else { function_config }.to_owned();
    let cases = cases.into_iter().map(Case::from);
    let take = match take {
        None => None,
        Some("Dest") => Some(Take::Dest),
        Some("Updated") => Some(Take::Updated),
        Some("Newest") => Some(Take::Newest),
        Some(other) => return Err(format!("`take` must be `Dest`, `Updated` or `Newest`, not \"{other}\"")),
    };
    let decided = match take {
        Some(take) => {
            let rules: Vec<Rule> = cases.map(|case| Rule { case, take }).collect();
            recorded::with_rules("functionConfig", text, &rules)
        }
        None => recorded::without_rules("functionConfig", text, &cases.collect::<Vec<_>>()),
    };
    decided.map_err(|error| format!("{error:#}"))
}

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
