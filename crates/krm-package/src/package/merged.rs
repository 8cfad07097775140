//! [`Merged`]: the merge of a package, as a value whose conflicts are still open.
//!
//! It knows no host. A host asks for its notes, settles its conflicts, once or several times, and writes what was settled.

use krm_merge_core::lost::Disputed;
use krm_merge_core::merge;
use krm_merge_core::own_comments::{OwnComments, contested_header};
use krm_merge_core::policy::Treatment;
use krm_merge_core::warning::Warning;
use krm_tree::sides::{Side, Sides};
use krm_tree::tree::{self, Pick, Tree, settle};
use krm_yaml::secret::Secret;

use super::fault::Fault;
use super::following::{Following, NameNote};
use super::places::Places;
use super::{Becomes, Member, MergeAll, Move};
use crate::resource::{Located, Resource};
use crate::rules::Rules;

/// The merge of a package.
#[derive(Debug)]
pub struct Merged<'r, 'a> {
    /// The resources of dest.
    pub dest: &'r [Resource<'a>],
    /// The resources of all sides.
    pub resources: Vec<MergedResource<'r, 'a>>,
    /// What the lists of dest say besides their items.
    pub lists: Vec<MergedList<'a>>,
    /// How they merged.
    pub rules: Rules<'a>,
    pub(super) places: Places,
}

/// The merge of one resource.
#[derive(Debug)]
pub struct MergedResource<'r, 'a> {
    /// The resource on each side. In a merge of sources, updated has the first source of a resource that dest lacks.
    pub member: Member<'r, 'a>,
    /// What becomes of it.
    pub becomes: Becomes<'a>,
    /// The sources that were merged into it, in their order.
    pub sources: Vec<&'r Resource<'a>>,
    /// What its owner should know, apart from conflicts.
    pub notes: Vec<Note<'r, 'a>>,
    /// What becomes of its own comments.
    pub(super) comments: OwnComments<'a>,
    /// The conflict about what its file begins with.
    header: Option<Box<tree::Conflict<'a>>>,
}

/// The merge of what a list of resources says besides its items.
#[derive(Debug)]
pub struct MergedList<'a> {
    /// The list on each side.
    pub sides: Sides<Resource<'a>>,
    /// Dest's list with the changes.
    pub merged: merge::Walked<'a>,
    /// What becomes of its own comments.
    pub(super) comments: OwnComments<'a>,
    /// The conflict about what its file begins with.
    header: Option<Box<tree::Conflict<'a>>>,
}

/// Something that the owner of a package should know, and that is not a conflict.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Note<'r, 'a> {
    /// It is about a place of a resource.
    Warning {
        /// The resource.
        about: &'r Resource<'a>,
        /// What of the resource no message may show.
        secret: Secret,
        /// What happened there.
        warning: Warning<'a>,
    },
    /// A source is for a resource that an earlier source deleted.
    DeletedBefore(&'r Resource<'a>),
    /// A source deletes a resource.
    Deleted {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The source.
        source: &'r Resource<'a>,
    },
    /// A resource goes, because it was merged into another one of its identity.
    United {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The other one.
        into: &'r Resource<'a>,
    },
    /// Dest's resource has another identity in updated, and the changes of both sides are in it.
    Followed {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// Updated's resource.
        updated: &'r Resource<'a>,
    },
    /// The package was renamed as a whole.
    Renamed(NameNote<'r, 'a>),
    /// Dest's resource goes to another file, as in updated.
    Moved {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The file.
        to: &'a str,
    },
    /// Upstream moved a resource to a file to which its host cannot move it.
    NotMoved {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The file.
        to: &'a str,
    },
    /// A document of the other side lacks an apiVersion, a kind or a name. So nobody knows which resource it is in dest, and it takes no
    /// part in the merge.
    NoResource(&'r Resource<'a>),
}

impl<'r, 'a> Note<'r, 'a> {
    /// The resource that it is about.
    pub fn resource(&self) -> &'r Resource<'a> {
        match self {
            Self::Warning { about: resource, .. }
            | Self::DeletedBefore(resource)
            | Self::Deleted { dest: resource, .. }
            | Self::United { dest: resource, .. }
            | Self::Followed { dest: resource, .. }
            | Self::Moved { dest: resource, .. }
            | Self::NotMoved { dest: resource, .. }
            | Self::NoResource(resource) => resource,
            Self::Renamed(note) => note.resource(),
        }
    }
}

/// Something that both sides changed, in different ways.
#[derive(Debug)]
pub enum Conflict<'c, 'r, 'a> {
    /// A place of a resource.
    Place {
        /// The resource, or the list of resources, on each side.
        sides: Sides<Option<&'c Resource<'a>>>,
        /// Dest's.
        dest: &'c Resource<'a>,
        /// The values.
        conflict: &'c tree::Conflict<'a>,
    },
    /// Upstream deleted a resource that dest changed.
    DeletedUpstream {
        /// Original's resource.
        original: &'r Resource<'a>,
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The places where dest changed it.
        places: &'c [String],
    },
    /// Dest deleted a resource that upstream changed. It stays deleted, whoever wins. While nobody has decided, it comes back for the side
    /// that is drawn.
    DeletedHere {
        /// Original's resource.
        original: &'r Resource<'a>,
        /// Updated's resource.
        updated: &'r Resource<'a>,
        /// The places where upstream changed it.
        places: &'c [String],
    },
    /// Both sides moved a resource to different files. It stays in dest's, whoever wins.
    MovedApart {
        /// The resource on each side.
        sides: Sides<Option<&'r Resource<'a>>>,
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The file in original.
        from: &'a str,
        /// The file in updated.
        to: &'a str,
    },
}

impl<'c, 'a> Conflict<'c, '_, 'a> {
    /// The resource: dest's, or updated's if dest deleted it.
    pub fn resource(&self) -> &'c Resource<'a>
    where
        Self: 'c,
    {
        match *self {
            Self::Place { dest, .. } | Self::DeletedUpstream { dest, .. } | Self::MovedApart { dest, .. } => dest,
            Self::DeletedHere { updated, .. } => updated,
        }
    }

    /// The place, with elements by their keys: `spec.containers[name=web].image`; empty for the whole resource.
    pub fn path(&self) -> String {
        match self {
            Self::Place { conflict, .. } => conflict.path.keyed(),
            Self::DeletedUpstream { .. } | Self::DeletedHere { .. } | Self::MovedApart { .. } => String::new(),
        }
    }

    /// The resource as each side has it.
    pub fn sides(&self) -> Sides<Option<&'c Resource<'a>>>
    where
        Self: 'c,
    {
        match *self {
            Self::Place { sides, .. } | Self::MovedApart { sides, .. } => sides,
            Self::DeletedUpstream { original, dest, .. } => {
                Sides { original: Some(original), updated: None, dest: Some(dest) }
            }
            Self::DeletedHere { original, updated, .. } => {
                Sides { original: Some(original), updated: Some(updated), dest: None }
            }
        }
    }
}

/// What becomes of a resource whose conflicts are decided.
#[derive(Debug)]
pub enum Decided<'r, 'a> {
    /// It stays in dest as it is there.
    Kept,
    /// Dest has it with this content, or it goes.
    Merged(SettledTree<'a>),
    /// Dest gets it, because it is new, or because it comes back.
    Added(Tree<'a>),
    /// It comes back to dest as this side has it.
    BroughtBack(&'r Resource<'a>),
    /// It gets the text of original again.
    Restored(&'r Resource<'a>),
    /// It goes from dest.
    Deleted,
    /// Dest lacks it before and after.
    Absent,
}

/// A tree whose conflicts are decided.
#[derive(Debug)]
pub struct SettledTree<'a> {
    /// The tree; `None` if nothing stays.
    pub tree: Option<Tree<'a>>,
    /// What was in conflict.
    pub disputed: Disputed<'a>,
    /// Whether nothing was merged into dest's resource.
    pub is_same: bool,
}

/// The decisions for a whole package.
#[derive(Debug)]
pub struct Decisions<'r, 'a> {
    /// What becomes of each resource.
    pub resources: Vec<Decided<'r, 'a>>,
    /// The content of each list.
    pub(super) lists: Vec<Option<Tree<'a>>>,
}

impl<'r, 'a> Merged<'r, 'a> {
    /// Merges the changes from original to updated into dest. `members` are the resources of the three sides, and `merge_all` merges them.
    ///
    /// # Errors
    /// A resource cannot be merged.
    pub fn three_way(
        dest: &'r [Resource<'a>],
        members: Vec<Member<'r, 'a>>,
        rules: Rules<'a>,
        merge_all: MergeAll,
    ) -> Result<Self, Box<Fault<'a>>> {
        let merged: Vec<Becomes<'a>> = merge_all(&members, rules).collect::<Result<_, _>>()?;
        let lists = lists(&members, rules)?;
        let places = Places::of(&members, dest, rules.policy.new_elements);
        let following = Following::of(&members);
        let resources = members.into_iter().zip(merged);
        let resources = resources.map(|(member, becomes)| MergedResource::following(member, becomes, &following));
        Ok(Self { dest, resources: resources.collect(), lists, rules, places })
    }

    /// The merge of sources into dest, of which these are all resources.
    pub(super) fn of_resources(
        dest: &'r [Resource<'a>],
        resources: Vec<MergedResource<'r, 'a>>,
        rules: Rules<'a>,
    ) -> Self {
        let places = Places::beside(resources.iter().map(|resource| &resource.member), dest);
        Self { dest, resources, lists: Vec::new(), rules, places }
    }

    /// What the owner of the package should know, apart from conflicts and from what is written.
    pub fn notes<'s>(&'s self) -> impl Iterator<Item = Note<'s, 'a>> {
        let of_lists = self.lists.iter().flat_map(|list| {
            let warnings = list.merged.warnings.iter();
            let (about, secret) = (&list.sides.dest, Secret::Nothing);
            warnings.map(move |warning| Note::Warning { about, secret, warning: warning.clone() })
        });
        self.resources.iter().flat_map(MergedResource::all_notes).chain(of_lists)
    }

    /// Decides some conflicts, and leaves the others open.
    #[must_use]
    pub fn decide(self, pick: &mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Option<Pick>) -> Self {
        let resources = self.resources.into_iter().map(|resource| resource.decide(pick)).collect();
        let lists = self.lists.into_iter().map(|list| list.decide(pick)).collect();
        Self { resources, lists, ..self }
    }

    /// Settles all conflicts, on a copy. So it may be called again, with other decisions.
    pub fn settle(&self, decide: &mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Treatment) -> Decisions<'r, 'a> {
        let resources = self.resources.iter().map(|resource| resource.settle(decide)).collect();
        self.with_lists(resources, decide)
    }

    /// Same as [`Merged::settle`], without a copy: the trees go into the result. A package may have many, and each takes more memory than
    /// its text.
    pub fn settle_once(&mut self, decide: &mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Treatment) -> Decisions<'r, 'a> {
        let resources = self.resources.iter_mut().map(|resource| resource.settle_once(decide)).collect();
        self.with_lists(resources, decide)
    }

    fn with_lists(
        &self,
        resources: Vec<Decided<'r, 'a>>,
        decide: &mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Treatment,
    ) -> Decisions<'r, 'a> {
        Decisions { resources, lists: self.lists.iter().map(|list| list.settle(decide)).collect() }
    }
}

impl<'r, 'a> MergedResource<'r, 'a> {
    /// The merge of a resource, from what becomes of it.
    pub fn of(member: Member<'r, 'a>, becomes: Becomes<'a>) -> Self {
        let mut made = Self {
            member,
            becomes,
            sources: Vec::new(),
            notes: Vec::new(),
            comments: OwnComments::default(),
            header: None,
        };
        let Becomes::Merged(merged, _) = &mut made.becomes else { return made };
        let Some(dest) = member.sides.dest else { return made };
        let mut warnings = std::mem::take(&mut merged.warnings);
        let nodes = member.sides.map(|side| side.map(Resource::node));
        let (comments, contested) = OwnComments::of(nodes, Side::Dest);
        warnings.extend(contested);
        (made.comments, made.header) = (comments, contested_header(nodes).map(Box::new));
        let (about, secret) = (dest, Resource::secret(member.sides));
        made.notes = warnings.into_iter().map(|warning| Note::Warning { about, secret, warning }).collect();
        made
    }

    /// The merge of a resource in a package that a side may have renamed as a whole.
    pub fn following(member: Member<'r, 'a>, becomes: Becomes<'a>, following: &Following<'a>) -> Self {
        let (becomes, note) = following.applied(&member, becomes);
        let mut made = Self::of(member, becomes);
        made.notes.extend(note.map(Note::Renamed));
        made
    }

    /// The merge of sources into a resource.
    pub(super) fn of_sources(member: Member<'r, 'a>, becomes: Becomes<'a>, sources: Vec<&'r Resource<'a>>) -> Self {
        Self { member, becomes, sources, notes: Vec::new(), comments: OwnComments::default(), header: None }
    }

    /// The same with these notes.
    pub(super) fn noting(self, notes: Vec<Note<'r, 'a>>) -> Self {
        Self { notes, ..self }
    }

    fn all_notes<'s>(&'s self) -> impl Iterator<Item = Note<'s, 'a>> {
        let followed = self.member.moved().map(|[dest, updated]| Note::Followed { dest, updated });
        followed.into_iter().chain(self.notes.iter().cloned())
    }

    /// Its content if dest keeps the resource; conflicts of its fields stay open. `None` if the package has nothing of it.
    pub fn content(&self) -> Option<Tree<'a>> {
        let own = || self.member.sides.dest.map(|dest| Tree::Node(dest.node()));
        match &self.becomes {
            Becomes::Merged(merged, _) => merged.tree.clone(),
            Becomes::Arrived(tree) => tree.clone(),
            Becomes::Kept => own(),
            Becomes::Deleted(places) => own().filter(|_| !places.is_empty()),
            Becomes::StaysDeleted(_) | Becomes::Gone => None,
        }
    }

    /// Whether one side deleted it, and the other one changed it.
    pub fn is_disputed(&self) -> bool {
        matches!(&self.becomes, Becomes::Deleted(places) | Becomes::StaysDeleted(places) if !places.is_empty())
    }

    /// Visits the conflicts that are open, in the order in which they are decided.
    pub fn conflicts(&self, visit: &mut dyn FnMut(Conflict<'_, 'r, 'a>)) {
        self.settle(&mut |conflict| {
            visit(conflict);
            Treatment::default()
        });
    }

    /// Decides some conflicts, and leaves the others open.
    #[must_use]
    pub fn decide(self, pick: &mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Option<Pick>) -> Self {
        let sides = self.member.sides;
        let mut member = self.member;
        if let (Move::Apart([from, to]), Some(dest)) = (member.moves, sides.dest)
            && pick(Conflict::MovedApart { sides, dest, from, to }).is_some()
        {
            member.moves = Move::Stays;
        }
        let mut header = self.header;
        let becomes = match (self.becomes, sides.original, sides.updated, sides.dest) {
            (Becomes::Merged(merged, upstream), .., Some(dest)) => {
                let pick = &mut |conflict: &tree::Conflict<'a>| pick(Conflict::Place { sides, dest, conflict });
                header = header.filter(|header| pick(header).is_none());
                let tree = merged.tree.and_then(|tree| tree::decide(tree, pick));
                Becomes::Merged(merge::Walked { tree, ..merged }, upstream)
            }
            (Becomes::Deleted(places), Some(original), _, Some(dest)) if !places.is_empty() => {
                match pick(Conflict::DeletedUpstream { original, dest, places: &places }) {
                    Some(Pick::Dest) => Becomes::Kept,
                    Some(Pick::Updated | Pick::Both) => Becomes::Deleted(Vec::new()),
                    Some(Pick::Original) | None => Becomes::Deleted(places),
                }
            }
            (Becomes::StaysDeleted(places), Some(original), Some(updated), _) if !places.is_empty() => {
                match pick(Conflict::DeletedHere { original, updated, places: &places }) {
                    Some(_) => Becomes::Gone,
                    None => Becomes::StaysDeleted(places),
                }
            }
            (becomes, ..) => becomes,
        };
        Self { member, becomes, header, ..self }
    }

    /// Settles all conflicts of the resource, on a copy.
    pub fn settle(&self, decide: &mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Treatment) -> Decided<'r, 'a> {
        let tree = match &self.becomes {
            Becomes::Merged(merged, _) => merged.tree.clone(),
            Becomes::Arrived(tree) => tree.clone(),
            Becomes::Kept | Becomes::Deleted(_) | Becomes::StaysDeleted(_) | Becomes::Gone => None,
        };
        self.settled(tree, decide)
    }

    fn settle_once(&mut self, decide: &mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Treatment) -> Decided<'r, 'a> {
        let tree = match &mut self.becomes {
            Becomes::Merged(merged, _) => merged.tree.take(),
            Becomes::Arrived(tree) => tree.take(),
            Becomes::Kept | Becomes::Deleted(_) | Becomes::StaysDeleted(_) | Becomes::Gone => None,
        };
        self.settled(tree, decide)
    }

    /// Settles all conflicts of the resource. `tree` is its tree, if it has one.
    fn settled(
        &self,
        tree: Option<Tree<'a>>,
        decide: &mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Treatment,
    ) -> Decided<'r, 'a> {
        let sides = self.member.sides;
        if let (Move::Apart([from, to]), Some(dest)) = (self.member.moves, sides.dest) {
            decide(Conflict::MovedApart { sides, dest, from, to });
        }
        match (&self.becomes, sides.original, sides.updated, sides.dest) {
            (Becomes::Kept, ..) => Decided::Kept,
            (Becomes::Arrived(_), ..) => tree.map_or(Decided::Absent, Decided::Added),
            (Becomes::Merged(..), .., Some(dest)) => {
                Decided::Merged(settled(tree, self.header.as_deref(), sides, dest, decide))
            }
            (Becomes::Deleted(places), Some(original), _, Some(dest)) if !places.is_empty() => {
                match decide(Conflict::DeletedUpstream { original, dest, places }).pick() {
                    Pick::Dest => Decided::Kept,
                    Pick::Original => Decided::Restored(original),
                    Pick::Updated | Pick::Both => Decided::Deleted,
                }
            }
            (Becomes::StaysDeleted(places), Some(original), Some(updated), _) if !places.is_empty() => {
                match decide(Conflict::DeletedHere { original, updated, places }) {
                    Treatment::Open(Pick::Updated | Pick::Both) => Decided::BroughtBack(updated),
                    Treatment::Open(Pick::Original) => Decided::BroughtBack(original),
                    Treatment::Open(Pick::Dest) | Treatment::By(_) | Treatment::Both => Decided::Absent,
                }
            }
            (Becomes::Deleted(_), ..) => Decided::Deleted,
            (Becomes::StaysDeleted(_) | Becomes::Gone | Becomes::Merged(..), ..) => Decided::Absent,
        }
    }
}

impl<'a> MergedList<'a> {
    fn decide<'r>(self, pick: &mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Option<Pick>) -> Self {
        let Self { sides: own, merged, comments, header } = self;
        let sides = Sides::of(|side| Some(&own[side]));
        let pick = &mut |conflict: &tree::Conflict<'a>| pick(Conflict::Place { sides, dest: &own.dest, conflict });
        let header = header.filter(|header| pick(header).is_none());
        let tree = merged.tree.and_then(|tree| tree::decide(tree, pick));
        Self { merged: merge::Walked { tree, ..merged }, sides: own, comments, header }
    }

    fn settle<'r>(&self, decide: &mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Treatment) -> Option<Tree<'a>> {
        let sides = Sides::of(|side| Some(&self.sides[side]));
        settled(self.merged.tree.clone(), self.header.as_deref(), sides, &self.sides.dest, decide).tree
    }
}

fn settled<'r, 'a>(
    tree: Option<Tree<'a>>,
    header: Option<&tree::Conflict<'a>>,
    sides: Sides<Option<&Resource<'a>>>,
    dest: &Resource<'a>,
    decide: &mut dyn FnMut(Conflict<'_, 'r, 'a>) -> Treatment,
) -> SettledTree<'a> {
    let mut disputed = Disputed::default();
    let is_same = tree.as_ref().is_some_and(|tree| tree.is(dest.node()));
    let mut pick = |conflict: &tree::Conflict<'a>| {
        disputed.add(conflict);
        decide(Conflict::Place { sides, dest, conflict }).pick()
    };
    header.into_iter().for_each(|header| _ = pick(header));
    let tree = tree.and_then(|tree| settle(tree, &mut pick));
    SettledTree { tree, disputed, is_same }
}

/// Merges the lists of dest with those of original and updated that hold the same resources. A list has no identity of its own.
fn lists<'a>(members: &[Member<'_, 'a>], rules: Rules<'a>) -> Result<Vec<MergedList<'a>>, Box<Fault<'a>>> {
    let mut done: Vec<MergedList<'a>> = Vec::new();
    for Member { sides, .. } in members {
        let Sides { original: Some(original), updated: Some(updated), dest: Some(dest) } = sides else { continue };
        let (Some(old), Some(new), Some(here)) = (original.list, updated.list, dest.list) else { continue };
        // The resources of a list mostly follow each other.
        if done.iter().rev().any(|list| list.sides.dest.node().is(here)) {
            continue;
        }
        let list = |node, of: &Resource<'a>| Resource {
            path: of.path,
            located: Located::Nowhere,
            ..Resource::read(node, of.origin.clone())
        };
        let sides = Sides { original: list(old, original), updated: list(new, updated), dest: list(here, dest) };
        let mut merged = rules.upgraded_list(Sides::of(|side| &sides[side]))?;
        let nodes = Sides::of(|side| Some(sides[side].node()));
        let (comments, contested) = OwnComments::of(nodes, Side::Dest);
        merged.warnings.extend(contested);
        done.push(MergedList { sides, merged, comments, header: contested_header(nodes).map(Box::new) });
    }
    Ok(done)
}
