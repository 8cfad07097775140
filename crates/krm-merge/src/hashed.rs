//! Hash maps and sets with a faster hash than that of the standard library.
//!
//! Names come from the input, so the hash has a random seed: no input can be made of names that all have one hash. The standard library's
//! hash also protects a server whose seed someone learns from many answers. This program gives one answer, and ends.

pub use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
