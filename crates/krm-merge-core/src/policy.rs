//! What the user chose: who wins a conflict, and where new elements go.

use krm_tree::tree::{Pick, Taking, View};

/// Who wins if dest and updated both changed a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, schemars::JsonSchema))]
pub enum OnConflict {
    /// Updated wins, as in kpt, and every case is reported: upgrades go through, local edits may have to be made again.
    #[default]
    #[cfg_attr(feature = "serde", serde(alias = "theirs"))]
    TakeUpdated,
    /// Dest wins, and every case is reported: local edits are safe, upstream's fixes may not arrive.
    #[cfg_attr(feature = "serde", serde(alias = "ours"))]
    KeepDest,
    /// Nothing is merged: a person decides first.
    Fail,
}

/// How a conflict is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// A policy says who wins.
    By(OnConflict),
    /// Both sides added elements at one place, and no policy drops what a side added: both additions stay.
    Both,
    /// Nobody wins yet. The merge is written once for each side that may win; this time for the given side.
    Open(Pick),
}

impl From<Pick> for Treatment {
    /// The treatment by which this side wins.
    fn from(pick: Pick) -> Self {
        match pick {
            Pick::Updated | Pick::Both => OnConflict::TakeUpdated.into(),
            Pick::Dest => OnConflict::KeepDest.into(),
            Pick::Original => Self::Open(Pick::Original),
        }
    }
}

impl Treatment {
    /// The policy that decides how the conflict is reported.
    pub fn policy(self) -> OnConflict {
        match self {
            Self::By(policy) => policy,
            Self::Both => OnConflict::TakeUpdated,
            Self::Open(_) => OnConflict::Fail,
        }
    }

    /// The result of a conflict; `taking` is the change that is made if updated wins.
    pub fn settled(self, taking: &Taking<'_>) -> Settled {
        if self == Self::Both { Settled::Both } else { self.policy().settled(taking) }
    }

    /// The outcome of a conflict that every policy settles alike. It stays open if nobody decided it.
    pub fn settled_as(self, settled: Settled) -> Settled {
        if self.policy() == OnConflict::Fail { Settled::Open } else { settled }
    }

    /// The treatment of a conflict in which dest has this value and updated would make this change, if no rule decides it; see
    /// [`OnConflict::over`]. Of two additions, a policy drops none. Of two comments, dest's stays: it is the words of the team. Source: kyaml's
    /// merge3, "don't update local modified comment".
    #[must_use]
    pub fn over(self, dest: Option<View<'_, '_>>, taking: Option<&Taking<'_>>) -> Self {
        match (self, taking) {
            (Self::By(OnConflict::TakeUpdated | OnConflict::KeepDest), Some(Taking::Both(_))) => Self::Both,
            (Self::By(OnConflict::TakeUpdated), Some(Taking::Comments(_))) => OnConflict::KeepDest.into(),
            (Self::By(policy), _) => policy.over(dest).into(),
            (other @ (Self::Both | Self::Open(_)), _) => other,
        }
    }

    /// The side whose outcome is written.
    pub fn pick(self) -> Pick {
        match self {
            Self::By(policy) => policy.pick(),
            Self::Both => Pick::Both,
            Self::Open(pick) => pick,
        }
    }
}

impl Default for Treatment {
    fn default() -> Self {
        Self::By(OnConflict::default())
    }
}

impl From<OnConflict> for Treatment {
    fn from(policy: OnConflict) -> Self {
        Self::By(policy)
    }
}

/// Where new elements of a merged list go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, schemars::JsonSchema))]
#[non_exhaustive]
pub enum NewElements {
    /// After dest's: comments stay with their elements under kpt, which puts them back by position.
    #[default]
    Append,
    /// Before dest's, as in kustomize: if the first match counts, the patch's elements are seen first.
    Prepend,
}

/// The size of the parts that both sides may change without a conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, schemars::JsonSchema))]
#[non_exhaustive]
pub enum ConflictLevel {
    /// Elements of lists without keys, and lines of texts: as in git, changes that neither overlap nor touch are both made. The result may
    /// be a value that nobody wrote or tested, so each such value is reported.
    #[default]
    Line,
    /// Values: a list without keys or a text that both sides changed is in conflict as a whole. The result is always what one side wrote,
    /// but upstream's and dest's changes to one script have to be combined by hand.
    Value,
}

/// What the user chose, except who wins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policy {
    /// Where new elements go.
    pub new_elements: NewElements,
    /// The unit of a conflict.
    pub conflict_level: ConflictLevel,
    /// Whether renames on a side are followed.
    pub renames: Renames,
}

/// Whether a resource with another name, namespace or kind on a side is found again, and a field or element with another name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, schemars::JsonSchema))]
#[non_exhaustive]
pub enum Renames {
    /// It is one resource, if it is in the same place or at least half of its text is the same: local edits are kept.
    #[default]
    Follow,
    /// The old one is deleted, the new one added.
    Ignore,
}

/// The result of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Settled {
    /// Updated's value was taken.
    Updated,
    /// Updated's changes inside of the value were added on their own, because dest deleted the whole value.
    Delta,
    /// Dest's value was kept.
    Dest,
    /// Both additions stay.
    Both,
    /// The value is deleted, because updated deleted it.
    Deleted,
    /// The value stays deleted, because dest deleted it.
    StaysDeleted,
    /// The resource stays where dest has it.
    StaysInPlace,
    /// Upstream's values inside of it are deleted; dest's own values stay.
    CutDown,
    /// Updated's value was taken where both sides changed it; changes of only one side were made.
    OverlapOfUpdated,
    /// Dest's value was kept where both sides changed it; changes of only one side were made.
    OverlapOfDest,
    /// It is unresolved.
    Open,
}

impl OnConflict {
    /// The policy for a conflict in which dest has this value. A null of dest wins under `TakeUpdated` as well, because it clears the field.
    /// Source: the three-way document, "null in dest or updated: cleared".
    #[must_use]
    pub fn over(self, dest: Option<View<'_, '_>>) -> Self {
        match self {
            Self::TakeUpdated if dest.is_some_and(View::is_null) => Self::KeepDest,
            policy => policy,
        }
    }

    /// The result of a conflict; `taking` is the change that is made if updated wins.
    pub fn settled(self, taking: &Taking<'_>) -> Settled {
        match (self, taking) {
            (Self::TakeUpdated, Taking::Value | Taking::Order(_) | Taking::Both(_) | Taking::Comments(_)) => {
                Settled::Updated
            }
            (Self::TakeUpdated, Taking::Delta) => Settled::Delta,
            (Self::TakeUpdated, Taking::Deletion) => Settled::Deleted,
            (Self::TakeUpdated, Taking::CutDown) => Settled::CutDown,
            (Self::TakeUpdated, Taking::Overlap) => Settled::OverlapOfUpdated,
            (Self::KeepDest, Taking::Overlap) => Settled::OverlapOfDest,
            (Self::KeepDest, _) => Settled::Dest,
            (Self::Fail, _) => Settled::Open,
        }
    }

    /// The side that wins.
    pub fn pick(self) -> Pick {
        match self {
            Self::TakeUpdated => Pick::Updated,
            Self::KeepDest | Self::Fail => Pick::Dest,
        }
    }
}
