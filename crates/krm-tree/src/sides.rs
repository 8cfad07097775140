//! [`Sides`]: one value for each side of a three-way merge.

use std::ops::{Index, IndexMut};

/// A side of a three-way merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The state that updated and dest both started from.
    Original,
    /// The new state of original.
    Updated,
    /// The state with local edits, which the merge writes to.
    Dest,
}

impl Side {
    /// All sides.
    pub const ALL: [Self; 3] = [Self::Original, Self::Updated, Self::Dest];
    /// All sides in the order in which findings are reported: dest's first.
    pub const DEST_FIRST: [Self; 3] = [Self::Dest, Self::Updated, Self::Original];

    /// The name of the side in messages: `original`, `updated` or `dest`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Updated => "updated",
            Self::Dest => "dest",
        }
    }
}

/// One value for each side of a three-way merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sides<T> {
    /// The value of original.
    pub original: T,
    /// The value of updated.
    pub updated: T,
    /// The value of dest.
    pub dest: T,
}

impl<T> Sides<T> {
    /// Makes a value for each side.
    pub fn of(mut make: impl FnMut(Side) -> T) -> Self {
        Self { original: make(Side::Original), updated: make(Side::Updated), dest: make(Side::Dest) }
    }

    /// Converts the value of each side.
    pub fn map<U>(self, mut make: impl FnMut(T) -> U) -> Sides<U> {
        Sides { original: make(self.original), updated: make(self.updated), dest: make(self.dest) }
    }

    /// The value of each side, to be changed.
    pub fn as_mut(&mut self) -> Sides<&mut T> {
        Sides { original: &mut self.original, updated: &mut self.updated, dest: &mut self.dest }
    }

    /// Each side with its value.
    pub fn iter(&self) -> impl Iterator<Item = (Side, &T)> {
        Side::ALL.into_iter().map(|side| (side, &self[side]))
    }
}

impl<T> Index<Side> for Sides<T> {
    type Output = T;

    fn index(&self, side: Side) -> &T {
        match side {
            Side::Original => &self.original,
            Side::Updated => &self.updated,
            Side::Dest => &self.dest,
        }
    }
}

impl<T> IndexMut<Side> for Sides<T> {
    fn index_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::Original => &mut self.original,
            Side::Updated => &mut self.updated,
            Side::Dest => &mut self.dest,
        }
    }
}
