//! The resources of three packages side by side, and the three-way merge of each.
//!
//! Conflicts stay open: the caller that writes the result decides who wins. Source: semantics.md, section 1.

mod comment_documents;
mod fault;
mod file;
mod files;
mod following;
mod merged;
mod moved;
mod moves;
mod numbering;
mod order;
mod package_rename;
mod places;
mod renames;
mod resource_lines;
mod sourcing;
mod text_file;
mod triples;
mod written;

pub use krm_merge_core::lost::Disputed;
use krm_merge_core::merge::Walked;
use krm_merge_core::policy::Renames;
use krm_tree::links;
use krm_tree::sides::Sides;
use krm_tree::tree::Tree;
use krm_yaml::{Kind, NodeRef};

use crate::layout::Upstream;
use crate::resource::{Located, Origin, Resource};
use crate::rules::{Rules, Unmergeable};
pub use comment_documents::CommentDocuments;
pub use fault::{Fault, Why};
pub use file::{EditedFile, edited};
pub use files::{FileChange, FileMerge, FilePart};
pub use following::{Following, NameNote};
pub use merged::{Conflict, Decided, Decisions, Merged, MergedList, MergedResource, Note, SettledTree};
pub use moved::ItemsOfFiles;
pub use moves::Move;
use moves::MovedFiles;
pub use order::{FileOrder, Spot, number_of, orders, spots};
pub use package_rename::{Majority, NewName, Unclear};
pub use renames::left_behind;
use renames::{OtherPart, follow};
pub use sourcing::{Found, Present, Sourcing};
pub use text_file::{FileFault, FileItem, Files, NewResource, TextFile};
pub use triples::Ambiguous;
use triples::{Triple, triples};
pub use written::{Added, After, Effect, Happened, Written, leaves_anchors, lost};

/// A resource on each side, and the move of dest's resource.
#[derive(Clone, Copy, Debug)]
pub struct Member<'r, 'a> {
    /// The resource of each side.
    pub sides: Sides<Option<&'r Resource<'a>>>,
    /// What happens to the place of dest's resource.
    pub moves: Move<'a>,
}

/// The result of a three-way merge for one resource: the presence table.
#[derive(Debug)]
pub enum Becomes<'a> {
    /// Only dest has it: it stays.
    Kept,
    /// It is new upstream; `None` if nothing of it is added.
    Arrived(Option<Tree<'a>>),
    /// It was deleted upstream. If dest changed it, at these places, the deletion is a conflict.
    Deleted(Vec<String>),
    /// It was deleted in dest. If upstream changed it, at these places, the deletion is a conflict.
    StaysDeleted(Vec<String>),
    /// Updated and dest have it: its fields are merged.
    Merged(Walked<'a>, Upstream),
    /// Both sides deleted it.
    Gone,
}

impl Becomes<'_> {
    /// The change that upstream made to the text.
    const fn upstream(&self) -> Upstream {
        match self {
            Self::Merged(_, upstream) => *upstream,
            Self::Kept | Self::Arrived(_) | Self::Deleted(_) | Self::StaysDeleted(_) | Self::Gone => Upstream::Unknown,
        }
    }
}

/// The result of the merge of one resource, or why it cannot be merged.
pub type Done<'a> = Result<Becomes<'a>, Box<Unmergeable<'a>>>;

/// Merges all members and returns the results in the order of the members. Members are independent of each other, so a host with threads
/// may merge several at the same time.
pub type MergeAll = for<'m, 'r, 'a> fn(&'m [Member<'r, 'a>], Rules<'a>) -> Box<dyn Iterator<Item = Done<'a>> + 'm>;

/// Merges one member after the other, each when its result is asked for.
pub fn one_by_one<'m, 'a>(members: &'m [Member<'_, 'a>], rules: Rules<'a>) -> Box<dyn Iterator<Item = Done<'a>> + 'm> {
    Box::new(members.iter().map(move |member| member.merged(&rules)))
}

/// The resources of three packages side by side, in the order of dest, then of updated, then of original. If each side is one file, it is
/// the same file, whatever its name is.
///
/// # Errors
/// Resources of one identity that cannot be told apart.
pub fn members<'r, 'a>(sides: Sides<&'r [Resource<'a>]>, renames: Renames) -> Result<Vec<Member<'r, 'a>>, Ambiguous> {
    keep_links(sides);
    if is_one_file(sides) {
        return members_of_file(sides, renames);
    }
    Ok(members_of(follow(triples(sides)?, sides, renames, &OtherPart::IN_PACKAGE), sides))
}

/// Same as [`members`], for resources that are all in one file: there, two resources are also the same if version and name differ at once,
/// and at least half of their text is the same.
///
/// # Errors
/// Same as [`members`].
pub fn members_of_file<'r, 'a>(
    sides: Sides<&'r [Resource<'a>]>,
    renames: Renames,
) -> Result<Vec<Member<'r, 'a>>, Ambiguous> {
    keep_links(sides);
    let in_it =
        |resource: &Resource<'a>| Resource { relative_path: Some(""), located: Located::ByFile, ..resource.clone() };
    let all = sides.map(|side| side.iter().map(in_it).collect::<Vec<_>>());
    let all = Sides::of(|side| &all[side][..]);
    Ok(members_of(follow(triples(all)?, all, renames, &OtherPart::IN_FILE), sides))
}

/// Makes links of the aliases of three packages, unless an alias brings in a part of an identity.
fn keep_links(sides: Sides<&[Resource<'_>]>) {
    let has_anchors = |resource: &Resource<'_>| resource.node().document().has_anchors();
    if !sides.iter().any(|(_, side)| side.iter().any(has_anchors)) {
        return;
    }
    let fields = [&["apiVersion"][..], &["kind"], &["metadata"], &["metadata", "name"], &["metadata", "namespace"]];
    let brings_in = |map: NodeRef<'_>| map.entries().any(|(key, _)| key.is_merge_key());
    let is_alias = |resource: &Resource<'_>| {
        let (node, is_named) = (resource.node(), resource.identity.is_some_and(|identity| !identity.name.is_empty()));
        fields.iter().any(|path| node.at(path).is_some_and(|value| value.kind() == Kind::Alias))
            || is_named && [Some(node), node.at(&["metadata"])].into_iter().flatten().any(brings_in)
    };
    if !sides.iter().any(|(_, side)| side.iter().any(is_alias)) {
        let nodes = sides.map(|side| side.iter().map(Resource::node).collect::<Vec<_>>());
        links::keep(Sides::of(|side| &nodes[side][..]));
    }
}

/// Whether original and updated are a file each that was given without its folder, and dest's resources are all in one file, too.
fn is_one_file(sides: Sides<&[Resource<'_>]>) -> bool {
    let is_alone = |side: &[Resource<'_>]| {
        let is_known = side.iter().any(|resource| resource.located != Located::Nowhere);
        !is_known && side.windows(2).all(|two| two[0].relative_path == two[1].relative_path)
    };
    // A host without files gives its items no paths. A file without a path is stdin.
    fn file<'a>(resource: &Resource<'a>) -> Option<&'a str> {
        resource.relative_path.or(matches!(resource.origin, Origin::File { .. }).then_some(""))
    }
    let of_dest = sides.dest.first().and_then(file);
    is_alone(sides.original)
        && is_alone(sides.updated)
        && of_dest.is_some_and(|here| sides.dest.iter().all(|resource| file(resource) == Some(here)))
}

fn members_of<'r, 'a>(triples: Vec<Triple>, sides: Sides<&'r [Resource<'a>]>) -> Vec<Member<'r, 'a>> {
    let files = MovedFiles::of(&triples, sides);
    let members = triples.into_iter().map(|triple| {
        let of = Sides::of(|side| triple[side].map(|number| &sides[side][number]));
        let moves = of.dest.map_or(Move::Stays, |dest| files.of_resource(of.original, of.updated, dest));
        Member { sides: of, moves }
    });
    members.collect()
}

impl<'a> Member<'_, 'a> {
    /// Whether only updated has it.
    pub fn is_new(&self) -> bool {
        self.sides.original.is_none() && self.sides.dest.is_none()
    }

    /// The file to which dest's resource moves; `None` if it stays in its file.
    pub fn moves_to(&self) -> Option<&'a str> {
        match self.moves {
            Move::To(path) => Some(path),
            Move::Stays | Move::Apart(_) | Move::Barred(_) => None,
        }
    }

    /// Dest's and updated's resource, if both have it and their identities do not match.
    pub fn moved(&self) -> Option<[&Resource<'a>; 2]> {
        let (dest, updated) = (self.sides.dest?, self.sides.updated?);
        (dest.package_identity() != updated.package_identity()).then_some([dest, updated])
    }

    /// Merges the sides of the resource.
    ///
    /// # Errors
    /// One of the sides cannot be merged.
    pub fn merged(&self, rules: &Rules<'a>) -> Done<'a> {
        let Sides { original, updated, dest } = self.sides;
        Ok(match (original, updated, dest) {
            (None, None, _) => Becomes::Kept,
            (None, Some(updated), None) => Becomes::Arrived(rules.arrived(updated)?),
            (Some(original), None, Some(dest)) => Becomes::Deleted(rules.differs(original, dest)?),
            (Some(original), Some(updated), None) => Becomes::StaysDeleted(rules.differs(original, updated)?),
            (original, Some(updated), Some(dest)) => {
                let (merged, upstream) = rules.upgraded(original, updated, dest)?;
                Becomes::Merged(merged, upstream)
            }
            (Some(_), None, None) => Becomes::Gone,
        })
    }
}
