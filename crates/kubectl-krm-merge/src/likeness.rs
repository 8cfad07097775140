//! [`Likeness`]: how much of a package is as in a release.

use std::cmp::Reverse;

use anyhow::Result;
use krm_folders::side::{Side, SidePart};
use krm_merge_core::parts::{Composed, Parts};
use krm_merge_core::policy::{Policy, Renames};
use krm_names::file_path;
use krm_package::package::{Member, members};
use krm_package::resource::Resource;
use krm_package::rules::Rules;
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::limit::Budget;
use krm_tree::sides::Sides;
use krm_yaml::NodeRef;

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
    /// The images of the package that have a tag of the release's images.
    tags: usize,
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
        (self.equal, Reverse(self.places), Reverse(self.lacks), self.tags)
    }
}

/// The images of a resource of a package, beside those of the release's.
struct Images {
    /// Those whose name and tag the release has, at another place: in a mirror, or with a digest.
    mirrored: usize,
    /// Those whose tag some image of the release has.
    with_tag: usize,
}

impl Images {
    fn of(release: NodeRef<'_>, package: NodeRef<'_>) -> Self {
        let (theirs, own) = (images(release), images(package));
        let has_tag = |image: &Parts<'_>| theirs.iter().any(|(_, other)| tag(other) == tag(image));
        let is_mirrored = |(text, image): &&(&str, Parts<'_>)| {
            let is_same = |other: &Parts<'_>| last_name(other) == last_name(image) && tag(other) == tag(image);
            theirs.iter().all(|(other, _)| other != text) && theirs.iter().any(|(_, other)| is_same(other))
        };
        Self {
            mirrored: own.iter().filter(is_mirrored).count(),
            with_tag: own.iter().filter(|(_, image)| has_tag(image)).count(),
        }
    }
}

/// The last part of the name of an image, without the folders of its registry.
fn last_name<'t>(image: &Parts<'t>) -> Option<&'t str> {
    image.named("repository")?.rsplit('/').next()
}

fn tag<'t>(image: &Parts<'t>) -> &'t str {
    image.named("tag").unwrap_or_default()
}

/// The images below a node that have a tag.
fn images(node: NodeRef<'_>) -> Vec<(&str, Parts<'_>)> {
    let is_image = |(key, _): &(NodeRef<'_>, NodeRef<'_>)| key.string() == "image";
    let own = node.entries().filter(is_image).filter_map(|(_, value)| {
        let text = value.string();
        Some((text, Composed::Image.parts(text).filter(|image| !tag(image).is_empty())?))
    });
    let below = node.entries().map(|(_, value)| value).chain(node.elements()).flat_map(images);
    own.chain(below).collect()
}

/// Whether an image of a package has the tag of a release, with or without a `v` before it.
pub fn has_tag_of(release: &str, dest: &Side) -> bool {
    let bare = |tag: &'_ str| tag.strip_prefix('v').unwrap_or(tag).to_owned();
    let release = bare(release.rsplit('/').next().unwrap_or(release));
    let resources = dest.resources(SidePart::Role);
    resources.iter().flat_map(|(_, resource)| images(resource.node())).any(|(_, image)| bare(tag(&image)) == release)
}

/// How much of a package is as in a release. Comments, layout and what kpt notes do not count, nor does what is for programs that read the
/// package.
///
/// # Errors
/// A file cannot be read.
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
        found.places += match (&old, &new) {
            (Some(old), Some(new)) => {
                found.paired += 1;
                // A resource that cannot be compared, such as one with a duplicate key, is one place.
                let is_same = || old.node().text() == new.node().text();
                let whole = || if is_same() { Vec::new() } else { vec![String::new()] };
                let places = rules.differs(old, new).unwrap_or_else(|_| whole());
                found.parts += places.len();
                found.equal += usize::from(places.is_empty());
                let images = Images::of(old.node(), new.node());
                found.tags += images.with_tag;
                places.len().saturating_sub(images.mirrored)
            }
            (Some(_), None) => {
                found.lacks += 1;
                continue;
            }
            // A whole resource counts more than some fields.
            (None, _) => 100,
        };
    }
    Ok(found)
}
