//! [`Role`]: the part that resources play in a merge, besides dest.

use krm_schema::mode::Mode;

/// A part that resources play in a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The resources that are merged into dest, in TwoWay and Strategic.
    Source,
    /// The common earlier state of dest and updated, in ThreeWay.
    Original,
    /// The new state of original, in ThreeWay.
    Updated,
}

impl Role {
    /// Its name, in the functionConfig and as the value of `config.kubernetes.io/merge-source`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Original => "original",
            Self::Updated => "updated",
        }
    }

    /// The roles that a mode has besides dest.
    pub fn of(mode: Mode) -> &'static [Self] {
        match mode {
            Mode::TwoWay | Mode::Strategic => &[Self::Source],
            Mode::ThreeWay => &[Self::Original, Self::Updated],
        }
    }
}
