//! [`Slots`]: one value for each place at a child where comments stand.

use std::ops::Deref;

/// One value for each place at a child where comments stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots<T> {
    /// The blank lines and comments above it that belong to no child.
    pub gap: T,
    /// The comment lines above it.
    pub above: T,
    /// The comment on its line.
    pub behind: T,
    /// The comment lines at the end of its block.
    pub below: T,
    /// The comment behind its opening bracket.
    pub opening: T,
}

impl<T> Slots<T> {
    /// Converts the value of each slot.
    pub fn map<U>(self, mut make: impl FnMut(T) -> U) -> Slots<U> {
        let Self { gap, above, behind, below, opening } = self;
        Slots { gap: make(gap), above: make(above), behind: make(behind), below: make(below), opening: make(opening) }
    }

    /// The values of both in each slot.
    pub fn zip<U>(self, other: Slots<U>) -> Slots<(T, U)> {
        Slots {
            gap: (self.gap, other.gap),
            above: (self.above, other.above),
            behind: (self.behind, other.behind),
            below: (self.below, other.below),
            opening: (self.opening, other.opening),
        }
    }

    /// The values, from the top to the bottom of the child, and last the one behind its bracket.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.gap, &self.above, &self.behind, &self.below, &self.opening].into_iter()
    }
}

impl<T> Slots<Option<T>> {
    /// Nothing in any slot.
    pub const NONE: Self = Self { gap: None, above: None, behind: None, below: None, opening: None };

    /// Whether there is nothing in any slot.
    pub fn is_empty(&self) -> bool {
        self.iter().all(Option::is_none)
    }

    /// These; where `other` has one, that.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        self.zip(other).map(|(own, other)| other.or(own))
    }
}

/// Slots that are mostly empty. If one has anything, they are in a box, because a change has many of them.
#[derive(Clone, Debug)]
pub struct BoxedSlots<T>(Option<Box<Slots<Option<T>>>>);

impl<T> Default for BoxedSlots<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> From<Slots<Option<T>>> for BoxedSlots<T> {
    fn from(slots: Slots<Option<T>>) -> Self {
        Self((!slots.is_empty()).then(|| Box::new(slots)))
    }
}

impl<T> Deref for BoxedSlots<T> {
    type Target = Slots<Option<T>>;

    fn deref(&self) -> &Slots<Option<T>> {
        self.0.as_deref().unwrap_or(const { &Slots::NONE })
    }
}
