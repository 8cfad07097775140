//! Hash maps and sets with a faster hash than that of the standard library.
//!
//! Names come from the input, so the hash has a random seed: no input can be made of names that all have one hash. The standard library's
//! hash also protects a server whose seed someone learns from many answers. This program gives one answer, and ends.
//!
//! It is foldhash's hash for quality. With the hash for speed, about one seed in a thousand puts numbers in a row into few slots of a table,
//! and a look-up then takes several times the steps.

use foldhash::quality::RandomState;

/// A map with this hash.
pub type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A set with this hash.
pub type HashSet<T> = std::collections::HashSet<T, RandomState>;

/// The constructors that the standard library has for its own hash alone.
pub trait Empty {
    /// An empty map or set.
    fn new() -> Self;

    /// An empty map or set with room for this many entries.
    fn with_capacity(capacity: usize) -> Self;
}

impl<K, V> Empty for HashMap<K, V> {
    fn new() -> Self {
        Self::default()
    }

    fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, RandomState::default())
    }
}

impl<T> Empty for HashSet<T> {
    fn new() -> Self {
        Self::default()
    }

    fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, RandomState::default())
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn numbers_in_a_row_have_slots_of_their_own_with_every_seed() {
        for _ in 0..10_000 {
            let state = RandomState::default();
            let slots: HashSet<u64> = (0..256_usize).map(|number| state.hash_one(number) % 512).collect();
            // 201 of them are to be expected.
            assert!(slots.len() > 160, "{} slots", slots.len());
        }
    }
}
