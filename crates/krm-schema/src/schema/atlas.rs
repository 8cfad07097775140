//! The atlas: which lists of public custom resources merge, and by which keys, as their definitions declare them.
//!
//! Most packages do not carry the definitions of their custom resources. So the engine carries the declarations of these definitions. The
//! table is made ahead of time (`cargo xtask atlas`) and compiled as static arrays, found by binary search: no run parses it, and a run
//! without custom resources does not look at it. `atlas.txt` is the same table for people; a test compares the two. A list that is not in
//! the table has no declaration.

#[rustfmt::skip]
mod packed;
#[cfg(test)]
mod tests;

use super::builtin::{Merges, between};
use packed::{
    FIELD_NAMES, FIELD_NAMES_STARTS, FIELDS, KIND_NAMES, KIND_NAMES_STARTS, KINDS, RULES, TYPE_STARTS, VERSIONS,
};

/// A type in the atlas, or a field of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    ty: u16,
    rule: u8,
}

/// The type of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// The place of the type.
    pub place: Place,
    /// The version of the type, if the table lacks the requested one.
    pub instead: Option<&'static str>,
}

/// The type of a resource. If the table lacks its version, the newest older version is used, or else the oldest one.
pub fn root(api_version: &str, kind: &str) -> Option<Root> {
    let (group, version) = api_version.split_once('/')?;
    let (_, versions) = versions_of(group, &kind.to_ascii_lowercase())?;
    let known = |at: usize| versions.get(at).map(|(name, _)| kind_name(*name));
    let before = versions.partition_point(|(name, _)| age(kind_name(*name)) <= age(version));
    let at = before.saturating_sub(1);
    let (_, ty) = versions.get(at)?;
    Some(Root { place: Place { ty: *ty, rule: 0 }, instead: known(at).filter(|name| *name != version) })
}

/// The names of all kinds, in lower case.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|row| kind_name(row.1))
}

/// The groups that have a kind of this name, each with the versions of the kind, the oldest first. The name may be in any case.
pub fn groups_of(kind: &str) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let kind = kind.to_ascii_lowercase();
    let rows = KINDS.iter().filter(move |row| kind_name(row.1) == kind);
    rows.filter_map(|row| {
        let (group, versions) = versions_of(kind_name(row.0), kind_name(row.1))?;
        Some((group, versions.iter().map(|(name, _)| kind_name(*name)).collect()))
    })
}

/// The group of a kind, and the versions of the kind, each with its type.
fn versions_of(group: &str, kind: &str) -> Option<(&'static str, &'static [(u16, u16)])> {
    let at = KINDS.binary_search_by(|row| (kind_name(row.0), kind_name(row.1)).cmp(&(group, kind))).ok()?;
    let (group, _, first) = KINDS.get(at)?;
    let end = KINDS.get(at + 1).map_or(VERSIONS.len(), |next| usize::from(next.2));
    Some((kind_name(*group), VERSIONS.get(usize::from(*first)..end)?))
}

impl Place {
    /// The place of a field; `None` if neither the field nor anything below it declares how it merges. Lists are passed through.
    pub fn field(self, name: &str) -> Option<Self> {
        let rows = self.rows();
        let find =
            |name: &str| rows.binary_search_by(|row| field_name(*row).cmp(name)).ok().and_then(|at| rows.get(at));
        find(name).or_else(|| find("*")).map(|row| Self::of(*row))
    }

    /// The fields, with their names; `*` is any field.
    pub fn fields(self) -> impl Iterator<Item = (&'static str, Self)> {
        self.rows().iter().map(|row| (field_name(*row), Self::of(*row)))
    }

    /// How the list at this place merges; `None` if the definition does not declare it.
    pub fn list(self) -> Option<Merges> {
        *RULES.get(usize::from(self.rule))?
    }

    /// The default of a field that an element of its list leaves out. Source: a definition must give a merge key a default or require it,
    /// and the types of ports that it takes from Kubernetes have this default.
    pub fn default_of(self, key: &str) -> Option<&'static str> {
        (self.list().is_some() && key == "protocol").then_some("TCP")
    }

    fn rows(self) -> &'static [u32] {
        between(&TYPE_STARTS, self.ty).and_then(|range| FIELDS.get(range)).unwrap_or_default()
    }

    /// A row has the name of the field in its upper 12 bits, then the type in 12, and the rule in 8.
    fn of(row: u32) -> Self {
        let [_, _, _, rule] = row.to_be_bytes();
        Self { ty: u16::try_from(row >> 8 & 0xfff).unwrap_or_default(), rule }
    }
}

/// The order of the versions of a kind by age: the number, then alpha, beta and stable, then the number after that. A version with any
/// other form of name is older than all others. Source: the version priority of Kubernetes, except that here a beta of the next version is
/// newer.
pub fn age(version: &str) -> (u32, u32, u32, &str) {
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
    (number, rank, of_stage, version)
}

fn kind_name(index: u16) -> &'static str {
    between(&KIND_NAMES_STARTS, index).and_then(|range| KIND_NAMES.get(range)).unwrap_or_default()
}

fn field_name(row: u32) -> &'static str {
    let index = u16::try_from(row >> 20).unwrap_or_default();
    between(&FIELD_NAMES_STARTS, index).and_then(|range| FIELD_NAMES.get(range)).unwrap_or_default()
}
