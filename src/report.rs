//! [`Report`]: what happened in a run, as data.
//!
//! Only `results/words.rs` turns it into English.

use std::borrow::Cow;
use std::collections::BTreeSet;

use krm_merge::package::{self, NameNote};
use krm_merge::resource::{Identity, Resource};
use krm_merge_core::warning::Warning;
use krm_schema::grounds::Ground;
use krm_schema::immutable::Refused;
use krm_schema::reference::{NamedResource, Reference};
use krm_schema::schema::Inference;
use krm_tree::tree::Conflict;
use krm_yaml::secret::Secret;

use crate::aim::Aim;
use crate::config::{NamedRule, Role};
use crate::decision::{Idle, Ruling};
use crate::target::Target;

/// An event of a run.
#[derive(Debug)]
pub enum Report<'r, 'a> {
    /// Dest and the other side changed a place of a resource in different ways.
    Conflict {
        /// Dest's resource.
        dest: About<'r, 'a>,
        /// The value of each side there.
        conflict: &'r Conflict<'a>,
        /// Who wins.
        ruling: Ruling<'r>,
    },
    /// A place of a merged resource that its owner should check, though it is not a conflict.
    Warning {
        /// The resource.
        about: About<'r, 'a>,
        /// The warning.
        warning: Warning<'a>,
        /// The side that was merged into it.
        side: Role,
    },
    /// The merge changes a field that the API server does not let change.
    Refused {
        /// Dest's resource.
        dest: About<'r, 'a>,
        /// The field.
        refused: Refused<'r, 'a>,
    },
    /// A resource refers to something that the merge takes away.
    Broken {
        /// The resource that refers.
        about: &'r Resource<'a>,
        /// The field with the reference.
        reference: Reference<'a>,
        /// Why the reference leads nowhere.
        cause: Cause<'a>,
    },
    /// Upstream deleted a resource that dest changed.
    DeletedUpstream {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The places where dest changed it.
        places: &'r [String],
        /// Original's resource, as JSON.
        original: String,
        /// Who wins.
        ruling: Ruling<'r>,
    },
    /// Dest deleted a resource that upstream changed.
    DeletedHere {
        /// Updated's resource.
        updated: &'r Resource<'a>,
        /// The places where upstream changed it.
        places: &'r [String],
        /// Original's resource, as JSON.
        original: String,
        /// Who wins.
        ruling: Ruling<'r>,
    },
    /// A resource moved to another file of dest, as upstream moved it.
    Moved {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The file that it moved to.
        to: &'a str,
    },
    /// Dest and updated have the same resource under different identities, because a side renamed it.
    Followed {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// Updated's resource.
        updated: &'r Resource<'a>,
    },
    /// The package was renamed as a whole.
    Renamed(NameNote<'r, 'a>),
    /// Upstream moved a resource to a file of another package. The host of dest does not move resources there.
    NotMoved {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The file that it moved to upstream.
        to: &'a str,
    },
    /// Both sides moved a resource, but to different files.
    MovedApart {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The file in original.
        from: &'a str,
        /// The file in updated.
        to: &'a str,
        /// Who wins.
        ruling: Ruling<'r>,
    },
    /// A resource that is new upstream may be one that upstream deleted.
    MayHaveMoved {
        /// The new one.
        came: &'r Resource<'a>,
        /// The deleted one.
        left: &'r Resource<'a>,
        /// What happened to the deleted one in dest.
        fate: LeftUpstream,
    },
    /// A resource of dest's own may be a renamed one that upstream deleted.
    LeftBehind {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The one that upstream deleted.
        original: &'r Resource<'a>,
    },
    /// The counts of a three-way merge.
    Counts(Counts),
    /// A source was added because dest lacks it.
    Added {
        /// The source.
        source: &'r Resource<'a>,
        /// An item that the user may have meant.
        alike: Option<Alike<'a>>,
    },
    /// A patch matches no item.
    NoPartner {
        /// The patch.
        source: &'r Resource<'a>,
        /// An item that the user may have meant.
        alike: Option<Alike<'a>>,
    },
    /// A source that stays in the package is the only item of its identity.
    SourceIsItem {
        /// The source.
        source: &'r Resource<'a>,
        /// The field that names its file.
        field: &'r str,
    },
    /// The targets of an input select no item that is meant.
    NoneSelected {
        /// The input.
        aim: &'r Aim,
        /// How many items there are.
        items: usize,
        /// How many items fit that only configure.
        passed_over: usize,
    },
    /// The targets of an input select items.
    Selected {
        /// The input.
        aim: &'r Aim,
        /// How many.
        count: usize,
        /// How many items fit besides that only configure.
        passed_over: usize,
    },
    /// A target that is to be left out selects no item that would be meant otherwise.
    IdleExclude(&'r Target),
    /// No item that an input is for has a place that the input does not make.
    NoPlace {
        /// The input.
        aim: &'r Aim,
        /// The place.
        place: String,
    },
    /// A source only deletes, and what it deletes is gone already.
    GoneBefore(&'r Resource<'a>),
    /// A source is not added, because its input only changes what is there.
    NotAdded(&'r Resource<'a>),
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
    /// An earlier source deleted the item that a source is for.
    DeletedBefore(&'r Resource<'a>),
    /// Items of a type were patched, but the type is unknown.
    UnknownType {
        /// The type's apiVersion.
        api_version: &'r str,
        /// The type's kind.
        kind: &'r str,
        /// How its lists are merged.
        inference: Inference,
    },
    /// Lists of a type merged by keys that come neither from the user nor from a schema of the type.
    Grounds {
        /// The type's apiVersion.
        api_version: &'r str,
        /// The type's kind.
        kind: &'r str,
        /// The version whose public definition was used, if the type's own version has none.
        instead: Option<&'static str>,
        /// The lists, each with the source of its keys.
        lists: BTreeSet<Ground>,
    },
    /// A rule of `mergeKeys` matches no list.
    IdleRule {
        /// The rule.
        rule: &'r NamedRule,
        /// The type or list that is missing.
        lacks: Lacks,
    },
    /// A rule says who wins, but no conflict matches it.
    IdleDecision(Idle<'r, 'a>),
    /// A release is one folder deeper than dest.
    Deeper {
        /// The release's Kptfile.
        about: &'r Resource<'a>,
        /// The release's role.
        side: Role,
        /// The folder.
        folder: &'r str,
    },
    /// Dest came from the release that is updated.
    HasUpdated {
        /// Dest's Kptfile.
        dest: &'r Resource<'a>,
        /// The commit of the release.
        commit: &'r str,
    },
    /// Dest did not come from original.
    OtherOriginal {
        /// Dest's Kptfile.
        dest: &'r Resource<'a>,
        /// The commit of the release that dest came from.
        commit: &'r str,
        /// The commit of original.
        original: &'r str,
    },
    /// An item that a role selects is not a resource, so it is not merged.
    Apart {
        /// The item.
        item: &'r Resource<'a>,
        /// What dest does not get, because the merge skips the item.
        missed: Missed,
        /// What happens to the item.
        stays: Stays,
    },
}

impl<'r, 'a> Report<'r, 'a> {
    /// The report of a conflict. `original` is original's resource as JSON, if the conflict is about a whole resource.
    pub fn of_conflict(conflict: &package::Conflict<'r, 'r, 'a>, original: String, ruling: Ruling<'r>) -> Self {
        match *conflict {
            package::Conflict::Place { sides, dest, conflict } => {
                let dest = About { resource: dest, secret: Resource::secret(sides) };
                Self::Conflict { dest, conflict, ruling }
            }
            package::Conflict::MovedApart { dest, from, to, .. } => Self::MovedApart { dest, from, to, ruling },
            package::Conflict::DeletedUpstream { dest, places, .. } => {
                Self::DeletedUpstream { dest, places, original, ruling }
            }
            package::Conflict::DeletedHere { updated, places, .. } => {
                Self::DeletedHere { updated, places, original, ruling }
            }
        }
    }
}

/// A resource, and what of it no message may show. What is secret on one side of a merge is secret.
#[derive(Clone, Copy, Debug)]
pub struct About<'r, 'a> {
    /// The resource.
    pub resource: &'r Resource<'a>,
    /// What is secret.
    pub secret: Secret,
}

/// Why a reference leads nowhere after a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause<'a> {
    /// The merge deletes the resource.
    Deleted,
    /// The merge gives the resource another identity.
    Renamed(NamedResource<'a>),
    /// Upstream has the resource, and dest deleted it.
    NotHere,
    /// The merge removes this key from the data of the resource.
    KeyRemoved(Cow<'a, str>),
}

/// What happened in dest to a resource that upstream deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftUpstream {
    /// Dest changed it, and keeps it.
    Kept,
    /// It is deleted.
    Deleted,
    /// Dest did not have it.
    WasNotHere,
}

/// How many resources a three-way merge changed, added, deleted and left unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Changed in dest.
    pub merged: usize,
    /// New in dest.
    pub added: usize,
    /// Deleted from dest.
    pub deleted: usize,
    /// Not changed.
    pub unchanged: usize,
    /// The number of conflicts in all resources.
    pub conflicts: usize,
}

/// An item that the user may have meant with a source that has no partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alike<'a> {
    /// It has another namespace.
    OtherNamespace(Identity<'a>),
    /// It has another apiVersion.
    OtherVersion(Identity<'a>),
    /// It is the only one of its kind.
    OnlyOfKind(Identity<'a>),
}

/// What is missing for a rule of `mergeKeys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacks {
    /// A resource of the type.
    Type,
    /// A list at the path.
    List,
}

/// What dest does not get, because the merge skips an item that is not a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missed {
    /// Everything that a source asks for.
    Source,
    /// Nothing: dest has the same content.
    SameInDest,
    /// Nothing: upstream did not change it.
    Unchanged,
    /// The changes of upstream, at these places.
    Changed(Vec<String>),
    /// A new file of upstream: dest does not get it.
    New,
    /// A deletion by upstream: dest keeps the file.
    Deleted,
    /// Nothing: neither updated nor dest has it.
    Gone,
}

/// Whether an item stays in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stays {
    /// It stays.
    Yes,
    /// It is consumed, as all items of its role are.
    Consumed,
}
