//! What the user chose: who wins a conflict, and where new elements go.

use crate::tree::{Conflict, Pick, Taking, Tree, View};

/// Who wins where dest and updated both changed a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, schemars::JsonSchema))]
pub enum OnConflict {
    /// Updated wins, as kpt does it, and every case is reported: upgrades go through, local edits may have to be made again.
    #[default]
    TakeUpdated,
    /// Dest wins, and every case is reported: local edits are safe, upstream's fixes may not arrive.
    KeepDest,
    /// Nothing is merged: someone decides first.
    Fail,
}

/// Where elements go that a merged list does not have yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, schemars::JsonSchema))]
pub enum NewElements {
    /// Behind dest's: comments stay with their elements under kpt, which puts them back by position.
    #[default]
    Append,
    /// Before dest's, as kustomize does it: what is matched first-come-first-served sees the patch's first.
    Prepend,
}

/// How fine the parts are that both sides may change without a conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, schemars::JsonSchema))]
pub enum ConflictLevel {
    /// Elements of lists without keys, and lines of texts: as git does it, changes that neither overlap nor touch are both made. What comes
    /// out may be what nobody wrote or tested, so each such value is reported.
    #[default]
    Line,
    /// Values: a list without keys or a text that both sides changed is in conflict as a whole. What comes out is always what one side
    /// wrote, but upstream's and dest's changes to one script have to be brought together by hand.
    Value,
}

/// What the user chose, but for who wins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policy {
    /// Where new elements go.
    pub new_elements: NewElements,
    /// What is in conflict.
    pub conflict_level: ConflictLevel,
    /// Whether what has another name on a side is found again.
    pub renames: Renames,
}

/// Whether a resource is found again that has another name, namespace or kind on a side, and a field or element that has another name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, schemars::JsonSchema))]
pub enum Renames {
    /// It is one resource, if it is in the same place or at least half of its text is the same: local edits go along.
    #[default]
    Follow,
    /// The old one is deleted, the new one added.
    Ignore,
}

/// What became of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Updated's value was taken.
    Updated,
    /// What updated changed in it was added to nothing, for dest deleted the whole.
    Delta,
    /// Dest's was kept.
    Dest,
    /// It is deleted, as updated has it.
    Deleted,
    /// It is deleted, as dest has it.
    StaysDeleted,
    /// It lies where dest has it.
    StaysInPlace,
    /// What upstream had in it is deleted; what dest has of its own stays.
    CutDown,
    /// Updated's was taken where both sides changed it; the changes of one side were made.
    OverlapOfUpdated,
    /// Dest's was kept where both sides changed it; the changes of one side were made.
    OverlapOfDest,
    /// It is deleted, as a null in dest has it.
    Cleared,
    /// Someone must decide.
    Open,
}

impl OnConflict {
    /// What becomes of a conflict.
    pub fn settles(self, conflict: &Conflict<'_>) -> Settled {
        let is_null = conflict.dest.as_ref().and_then(Tree::view).is_some_and(View::is_null);
        if self == Self::KeepDest && is_null { Settled::Cleared } else { self.settled(&conflict.taking) }
    }

    /// What becomes of a conflict in which updated winning means this.
    pub fn settled(self, taking: &Taking<'_>) -> Settled {
        match (self, taking) {
            (Self::TakeUpdated, Taking::Value | Taking::Order(_)) => Settled::Updated,
            (Self::TakeUpdated, Taking::Delta) => Settled::Delta,
            (Self::TakeUpdated, Taking::Deletion) => Settled::Deleted,
            (Self::TakeUpdated, Taking::CutDown) => Settled::CutDown,
            (Self::TakeUpdated, Taking::Overlap) => Settled::OverlapOfUpdated,
            (Self::KeepDest, Taking::Overlap) => Settled::OverlapOfDest,
            (Self::KeepDest, _) => Settled::Dest,
            (Self::Fail, _) => Settled::Open,
        }
    }

    /// The side that it lets win.
    pub fn pick(self) -> Pick {
        match self {
            Self::TakeUpdated => Pick::Updated,
            Self::KeepDest | Self::Fail => Pick::Dest,
        }
    }
}
