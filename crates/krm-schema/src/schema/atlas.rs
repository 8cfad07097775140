//! The atlas: which lists of public custom resources merge, and by which keys, as their definitions declare them.
//!
//! Most packages do not carry the definitions of their custom resources. So the engine carries the declarations of these definitions. The
//! table is made ahead of time (`cargo xtask atlas`) as bytes, found by binary search: no run parses it, and a run without custom resources
//! does not look at it. `atlas.txt` is the same table for people; a test compares the two. A list that is not in
//! the table has no declaration.

#[cfg(test)]
mod tests;

use super::ListKind;
use super::packed::{KEYS, NameTable, Number, between, numbers, rows};

static TABLE: [u8; include_bytes!("atlas.bin").len()] = *include_bytes!("atlas.bin");

/// The names of groups, kinds and versions.
static KIND_NAMES: NameTable = NameTable::of(&TABLE, 0);

static FIELD_NAMES: NameTable = NameTable::of(&TABLE, 2);

/// Group, kind, and the first version; sorted by what the names say.
static KINDS: &[[Number; 3]] = rows(&TABLE, 4);

/// Version, and type; those of a kind are sorted by age.
static VERSIONS: &[[Number; 2]] = rows(&TABLE, 5);

/// The first field of each type, and where the last type ends.
static TYPE_STARTS: &[Number] = numbers(&TABLE, 6);

/// Rule (8 bits), type (12 bits) and name (12 bits); sorted by what the names say within each type.
static FIELDS: &[[Number; 2]] = rows(&TABLE, 7);

/// The list type and the keys of every rule that a field has; the first is of what is no list.
static RULES: &[[Number; 1 + KEYS]] = rows(&TABLE, 8);

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
    let before = versions.partition_point(|[name, _]| age(KIND_NAMES.get(*name)) <= age(version));
    let [known, ty] = *versions.get(before.saturating_sub(1))?;
    let place = Place { ty: u16::from_le_bytes(ty), rule: 0 };
    Some(Root { place, instead: Some(KIND_NAMES.get(known)).filter(|known| *known != version) })
}

/// The names of all kinds, in lower case.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|[_, kind, _]| KIND_NAMES.get(*kind))
}

/// The groups that have a kind of this name, each with the versions of the kind, the oldest first. The name may be in any case.
pub fn groups_of(kind: &str) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let kind = kind.to_ascii_lowercase();
    KINDS.iter().map(|[group, kind, _]| (KIND_NAMES.get(*group), KIND_NAMES.get(*kind))).filter_map(
        move |(group, found)| {
            let (group, versions) = (found == kind).then(|| versions_of(group, found)).flatten()?;
            Some((group, versions.iter().map(|[name, _]| KIND_NAMES.get(*name)).collect()))
        },
    )
}

/// The group of a kind, and the versions of the kind, each with its type.
fn versions_of(group: &str, kind: &str) -> Option<(&'static str, &'static [[Number; 2]])> {
    let names = |[group, kind, _]: &[Number; 3]| (KIND_NAMES.get(*group), KIND_NAMES.get(*kind));
    let at = KINDS.binary_search_by(|row| names(row).cmp(&(group, kind))).ok()?;
    let first = |[_, _, first]: &[Number; 3]| usize::from(u16::from_le_bytes(*first));
    let row = KINDS.get(at)?;
    let end = KINDS.get(at + 1).map_or(VERSIONS.len(), first);
    Some((names(row).0, VERSIONS.get(first(row)..end)?))
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
    pub fn list(self) -> Option<ListKind<&'static str>> {
        let [list_type, keys @ ..] = RULES.get(usize::from(self.rule))?;
        FIELD_NAMES.list_kind(*list_type, keys)
    }

    /// The default of a field that an element of its list leaves out. Source: a definition must give a merge key a default or require it,
    /// and the types of ports that it takes from Kubernetes have this default.
    pub fn default_of(self, key: &str) -> Option<&'static str> {
        (key == "protocol" && self.list().is_some()).then_some("TCP")
    }

    fn rows(self) -> &'static [[Number; 2]] {
        between(TYPE_STARTS, self.ty).and_then(|range| FIELDS.get(range)).unwrap_or_default()
    }

    fn of(row: [Number; 2]) -> Self {
        let [[rule, low], [high, _]] = row;
        Self { ty: u16::from_le_bytes([low, high & 0xf]), rule }
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

fn field_name([_, [low, high]]: [Number; 2]) -> &'static str {
    FIELD_NAMES.get((u16::from_le_bytes([low, high]) >> 4).to_le_bytes())
}
