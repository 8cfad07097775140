//! [`Likeness`]: how much of a package is as in a release.

use std::cmp::Reverse;

use anyhow::{Result, anyhow};
use krm_files::side::{Side, SidePart};
use krm_merge::file_path;
use krm_merge::package::{Member, members};
use krm_merge::resource::Resource;
use krm_merge::rules::Rules;
use krm_merge_core::policy::{Policy, Renames};
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::limit::Budget;
use krm_tree::sides::Sides;

use crate::pairs::{Pair, pairs};
use crate::plain::Plain;

/// How much of a package is as in a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Likeness {
    /// The resources that are equal.
    pub equal: usize,
    /// The resources that the release and the package both have.
    pub paired: usize,
    /// The places that differ. What the package lacks is none, for a copy may be of a part.
    places: usize,
    /// Those of them in resources that both have.
    parts: usize,
    /// The resources that the package lacks.
    lacks: usize,
    /// All resources of the release and the package.
    pub all: usize,
    /// The files without resources that differ.
    files: usize,
}

impl Likeness {
    /// The number of resources, and of files without resources, that differ.
    pub fn changed(self) -> usize {
        self.all - self.equal + self.files
    }

    /// Whether a package is nearer to this release than to another one, by what it shares with both.
    pub fn is_nearer(self, other: Self) -> bool {
        self.parts < other.parts && self.equal >= other.equal
    }

    /// Its place among those of other releases: the greatest is nearest.
    pub fn rank(self) -> impl Ord {
        (self.equal, Reverse(self.places), Reverse(self.lacks))
    }
}

/// How much of a package is as in a release. Comments, layout and what kpt notes do not count, nor does what is for programs that read the
/// package.
///
/// # Errors
/// A resource cannot be compared.
pub fn likeness(release: &Side, dest: &Side) -> Result<Likeness> {
    let resources = |side| -> Vec<Resource<'_>> {
        let all = Side::resources(side, SidePart::Role).into_iter().map(|(_, resource)| resource);
        let is_rules = |resource: &Resource<'_>| {
            resource.path.and_then(|path| path.rsplit('/').next()).is_some_and(file_path::is_rules)
        };
        all.filter(|resource| !resource.is_local() && !is_rules(resource)).collect()
    };
    let types = Types::new([], Inference::On).with_definitions(dest.definitions());
    let budget = Budget::default();
    let rules = Rules { types: &types, mode: Mode::ThreeWay, policy: Policy::default(), budget: &budget };
    let mut found = Likeness { files: Plain::of(release, dest)?.count(), ..Likeness::default() };
    let [release, dest] = [resources(release), resources(dest)];
    let sides = Sides { original: &release[..], updated: &release[..], dest: &dest[..] };
    // A copy with other names, or in another namespace, is a copy.
    let all: Vec<Pair<'_>> = match members(sides, Renames::Follow) {
        Ok(members) => {
            let pair = |Member { sides, .. }| Pair { old: sides.original.cloned(), new: sides.dest.cloned() };
            members.into_iter().map(pair).collect()
        }
        // Of resources that nobody can tell apart, the path decides.
        Err(_) => pairs(release.clone(), dest.clone()),
    };
    for Pair { old, new } in all {
        found.all += 1;
        let places = match (&old, &new) {
            (Some(old), Some(new)) => {
                found.paired += 1;
                let places =
                    rules.differs(old, new).map_err(|e| anyhow!("{}:{}", e.resource.origin.text(), e.error))?;
                found.parts += places.len();
                places.len()
            }
            (Some(_), None) => {
                found.lacks += 1;
                continue;
            }
            // A whole resource counts more than some fields.
            (None, _) => 100,
        };
        found.equal += usize::from(places == 0);
        found.places += places;
    }
    Ok(found)
}
