//! Which type a user means, and who says how a list of it merges, in words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use krm_schema::schema::builtin::group_of;
use krm_schema::schema::explain::Explained;
use krm_schema::schema::{Basis, atlas, builtin};
use krm_tree::path::{PathPattern, PatternStep};

/// An apiVersion and a kind.
type Type = (String, String);

/// Why a user's words name no type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoType {
    /// Several groups have one.
    Several {
        /// What the user asked for.
        asked: String,
        /// What names one of them each.
        names: Vec<String>,
    },
    /// Nobody knows one.
    Unknown(String),
}

impl fmt::Display for NoType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Several { asked, names } => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "\"{asked}\" must name one type, not several: write {}", names.join(" or "))
            }
            Self::Unknown(asked) => write!(f, "no type \"{asked}\" is known"),
        }
    }
}

impl std::error::Error for NoType {}

/// Whose type it is. A user who names only a kind means the first of these, as with kubectl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    /// It is built in.
    Kubernetes,
    /// It is of another project of Kubernetes, such as the Gateway API.
    Project,
    Stranger,
    /// It is built in, and no Kubernetes of today serves its group.
    NobodyAnyMore,
}

impl Whose {
    fn of((api_version, kind): &Type) -> Self {
        match group_of(api_version) {
            group if !builtin::is_served(group) => Self::NobodyAnyMore,
            _ if builtin::root(api_version, kind).is_some() => Self::Kubernetes,
            group if group.ends_with(".k8s.io") => Self::Project,
            _ => Self::Stranger,
        }
    }
}

/// The newest version of the type that the user asked for as KIND, KIND.GROUP or KIND.VERSION.GROUP. `known` are the types of this kind that someone
/// knows.
///
/// # Errors
/// No type is known, or several groups have one.
pub fn one_of(asked: &str, known: impl Iterator<Item = Type>) -> Result<Type, NoType> {
    let (name, rest) = asked.split_once('.').unwrap_or((asked, ""));
    let with_version = rest.split_once('.').or(Some((rest, ""))).filter(|(version, _)| atlas::age(version).0 > 0);
    let fits = |(api_version, kind): &Type| {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_of_group = match with_version {
            Some((asked, of)) => version == asked && group == of,
            None => rest.is_empty() || group == rest,
        };
        kind.eq_ignore_ascii_case(name) && is_of_group
    };
    let mut found: BTreeSet<Type> = known.filter(fits).collect();
    let first = found.iter().map(Whose::of).min();
    found.retain(|one| Some(Whose::of(one)) == first);
    let version = |api_version: &str| api_version.rsplit('/').next().unwrap_or_default().to_owned();
    let mut of_groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (api_version, _) in &found {
        of_groups.entry(group_of(api_version)).or_default().push(api_version);
    }
    if of_groups.len() > 1 {
        // The core group has no name, but its version names it.
        let name_of = |(group, versions): (&&str, &Vec<&str>)| match *group {
            "" => format!("{name}.{}", versions.first().copied().unwrap_or_default()),
            group => format!("{name}.{group}"),
        };
        return Err(NoType::Several { asked: asked.to_owned(), names: of_groups.iter().map(name_of).collect() });
    }
    let newest = found.into_iter().max_by(|(a, _), (b, _)| {
        let (a, b) = (version(a), version(b));
        atlas::age(&a).cmp(&atlas::age(&b))
    });
    let asked_for = with_version
        .map(|(version, group)| (format!("{group}/{version}").trim_start_matches('/').to_owned(), name.to_owned()));
    newest.or(asked_for).ok_or_else(|| NoType::Unknown(asked.to_owned()))
}

/// Whether a list is at a path, or below it. The path is one that messages print: its elements are those of the list above them.
pub fn is_below(list: &Explained, path: &PathPattern) -> bool {
    fn leads(steps: &[PatternStep], names: &[&str]) -> bool {
        let Some((step, steps)) = steps.split_first() else { return true };
        let below = names.split_first();
        match step {
            PatternStep::Field(name) => {
                below.is_some_and(|(own, rest)| [name, "*"].contains(own) && leads(steps, rest))
            }
            PatternStep::Any => leads(steps, names) || below.is_some_and(|(_, rest)| leads(steps, rest)),
            PatternStep::Element(_)
            | PatternStep::Value(_)
            | PatternStep::Index(_)
            | PatternStep::Member(_)
            | PatternStep::Flag(_) => leads(steps, names),
        }
    }
    leads(path.steps(), &list.path.split('.').collect::<Vec<_>>())
}

/// Who says how a list merges. `instead` is the version whose public definition stands in for that of the type.
pub fn source_of(list: &Explained, instead: Option<&str>) -> String {
    match list.basis {
        Some(Basis::MergeKeys) => "`--merge-keys`".to_owned(),
        Some(Basis::Kustomize) => "kustomize".into(),
        Some(Basis::OpenApi) => "the OpenAPI document".into(),
        Some(Basis::Definition) => "the CustomResourceDefinition of the files".into(),
        Some(Basis::BuiltIn) => "Kubernetes".into(),
        Some(Basis::Atlas) => match instead {
            Some(version) => format!("its public definition of {version}, the nearest version that is known"),
            None => "its public definition".into(),
        },
        Some(Basis::Shape) => "the built-in type that it looks like".into(),
        Some(Basis::Inferred) => "inferred from its elements; a patch replaces it".into(),
        None => "no source names it".into(),
    }
}
