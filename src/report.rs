//! [`Report`]: what happened in a run, as data.
//!
//! What is told of it in English stands in `results/words.rs` alone.

use std::collections::BTreeSet;

use krm_merge::grounds::Ground;
use krm_merge::resource::{Identity, Resource};
use krm_merge::schema::Inference;
use krm_merge::tree::Conflict;
use krm_merge::warning::Warning;

use crate::config::{NamedRule, Role};
use crate::decision::Ruling;
use crate::name::Name;
use crate::target::Target;

/// Something that happened in a run.
#[derive(Debug)]
pub enum Report<'r, 'a> {
    /// Dest and the other side changed a place of a resource, and not in the same way.
    Conflict {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// What each side has there.
        conflict: &'r Conflict<'a>,
        /// Who wins.
        ruling: Ruling<'r>,
    },
    /// Something else that the owner of a resource should look at.
    Warning {
        /// The resource.
        about: &'r Resource<'a>,
        /// What it is.
        warning: &'r Warning<'a>,
        /// The side that was merged into it.
        side: Role,
    },
    /// Upstream deleted a resource that dest changed.
    DeletedUpstream {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// Where dest changed it.
        places: &'r [String],
        /// Original's, as JSON.
        original: String,
        /// Who wins.
        ruling: Ruling<'r>,
    },
    /// Dest deleted a resource that upstream changed.
    DeletedHere {
        /// Updated's resource.
        updated: &'r Resource<'a>,
        /// Where upstream changed it.
        places: &'r [String],
        /// Original's, as JSON.
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
    /// Dest and updated have one resource under different identities, for a side moved it.
    Followed {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// Updated's resource.
        updated: &'r Resource<'a>,
    },
    /// Upstream moved a resource to a file of another package, to which the host of dest takes none.
    NotMoved {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// The file that it moved to upstream.
        to: &'a str,
    },
    /// Both sides moved a resource, and not to the same file.
    MovedApart {
        /// Dest's resource.
        dest: &'r Resource<'a>,
        /// Where original has it.
        from: &'a str,
        /// Where updated has it.
        to: &'a str,
        /// Who wins.
        ruling: Ruling<'r>,
    },
    /// A resource that came upstream may be one that left.
    MayHaveMoved {
        /// The one that came.
        came: &'r Resource<'a>,
        /// The one that left.
        left: &'r Resource<'a>,
        /// What became of that one in dest.
        fate: LeftUpstream,
    },
    /// How many resources a three-way merge did what to.
    Counts(Counts),
    /// A source was added, for dest lacks it.
    Added {
        /// The source.
        source: &'r Resource<'a>,
        /// An item that may have been meant.
        alike: Option<Alike<'a>>,
    },
    /// A patch hits no item.
    NoPartner {
        /// The patch.
        source: &'r Resource<'a>,
        /// An item that may have been meant.
        alike: Option<Alike<'a>>,
    },
    /// A source that stays in the package is the only item of its identity.
    SourceIsItem {
        /// The source.
        source: &'r Resource<'a>,
        /// The field that names its file.
        field: &'r str,
    },
    /// A target selects no item.
    NoneSelected(&'r Target),
    /// An earlier source deleted the item that a source is for.
    DeletedBefore(&'r Resource<'a>),
    /// Items of a type were patched, and nothing is known of the type.
    UnknownType {
        /// Its apiVersion.
        api_version: &'r str,
        /// Its kind.
        kind: &'r str,
        /// What becomes of its lists.
        inference: Inference,
    },
    /// Lists of a type merged by keys that neither the user nor a type at hand names.
    Grounds {
        /// Its apiVersion.
        api_version: &'r str,
        /// Its kind.
        kind: &'r str,
        /// The version whose public definition was asked, where there is none of its own.
        instead: Option<&'static str>,
        /// The lists, and who names their keys.
        lists: &'r BTreeSet<Ground>,
    },
    /// A rule of `mergeKeys` is for no list.
    IdleRule {
        /// The rule.
        rule: &'r NamedRule,
        /// What there is none of.
        lacks: Lacks,
    },
    /// A rule says who wins where nothing is in conflict.
    IdleDecision(&'r Name),
    /// An item that a role selects is no resource, so it takes no part in the merge.
    Apart {
        /// The item.
        item: &'r Resource<'a>,
        /// What the merge misses.
        missed: Missed,
        /// What becomes of the item.
        stays: Stays,
    },
}

/// What became in dest of a resource that left upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftUpstream {
    /// Dest changed it, and keeps it.
    Kept,
    /// It is deleted.
    Deleted,
    /// Dest did not have it.
    WasNotHere,
}

/// How many resources a three-way merge did what to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Changed in dest.
    pub merged: usize,
    /// New in dest.
    pub added: usize,
    /// Deleted from dest.
    pub deleted: usize,
    /// As they were.
    pub unchanged: usize,
    /// The conflicts in all of them.
    pub conflicts: usize,
}

/// An item that a source without a partner may have been meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alike<'a> {
    /// It has another namespace.
    OtherNamespace(Identity<'a>),
    /// It has another apiVersion.
    OtherVersion(Identity<'a>),
    /// It is the only one of its kind.
    OnlyOfKind(Identity<'a>),
}

/// What there is none of for a rule of `mergeKeys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacks {
    /// A resource of the type.
    Type,
    /// A list at the path.
    List,
}

/// What a merge misses of an item that is no resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missed {
    /// All that a source asks for.
    Source,
    /// Nothing: dest's says the same.
    SameInDest,
    /// Nothing: upstream did not change it.
    Unchanged,
    /// What upstream changed, at these places.
    Changed(Vec<String>),
    /// That it is new upstream.
    New,
    /// That upstream deleted it.
    Deleted,
    /// Nothing: neither updated nor dest has it.
    Gone,
}

/// Whether an item stays in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stays {
    /// It stays.
    Yes,
    /// It is consumed with its side.
    Consumed,
}
