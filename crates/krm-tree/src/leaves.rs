//! [`Leaves`]: how much two values have in common, and which old and new values belong together by that measure.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use krm_yaml::{Kind, Scalar, is_blank};

use crate::child::Value;

/// The values in a map or list, or the lines of a text.
pub struct Leaves {
    /// `None` for a value without parts: a scalar on one line.
    kind: Option<Kind>,
    /// A hash of each scalar with the field that holds it, or of each line of a text.
    hashes: Hashes,
}

/// Hashes of the parts of a value. They are sorted, so that one pass compares two values.
#[derive(Debug, Default)]
pub struct Hashes(Vec<u64>);

impl From<Vec<u64>> for Hashes {
    fn from(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        Self(hashes)
    }
}

impl Hashes {
    /// The number of hashes.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The hashes, sorted.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }

    /// How many hashes both have. A hash that both have twice counts twice.
    pub fn common(&self, other: &Self) -> usize {
        let (mut a, mut b, mut common) = (0, 0, 0);
        while let (Some(x), Some(y)) = (self.0.get(a), other.0.get(b)) {
            common += usize::from(x == y);
            (a, b) = (a + usize::from(x <= y), b + usize::from(y <= x));
        }
        common
    }
}

impl Leaves {
    /// The leaves of a value.
    pub fn of<'a>(value: impl Value<'a>) -> Self {
        let mut hashes = Vec::new();
        collect(value, 0, &mut hashes);
        let kind = match value.scalar() {
            Some(Scalar::String(_)) => value.lines().map(|_| Kind::Scalar),
            Some(_) => None,
            None => Some(if value.is_map() { Kind::Map } else { Kind::List }),
        };
        Self { kind, hashes: hashes.into() }
    }

    /// The number of leaves.
    pub fn count(&self) -> usize {
        self.hashes.count()
    }

    /// A hash of each leaf.
    pub fn hashes(&self) -> &Hashes {
        &self.hashes
    }

    /// The number of leaves that both have.
    pub fn common(&self, other: &Self) -> usize {
        self.hashes.common(&other.hashes)
    }

    /// How much both have in common, in thousandths of the larger one; `None` if the two are of different kinds, or have no parts.
    pub fn share(&self, other: &Self) -> Option<u32> {
        self.common_of(other, self.count().max(other.count()))
    }

    /// How much of it another one has, too, in thousandths; `None` as in [`Leaves::share`].
    pub fn kept(&self, other: &Self) -> Option<u32> {
        self.common_of(other, self.count())
    }

    fn common_of(&self, other: &Self, all: usize) -> Option<u32> {
        (self.kind.is_some() && self.kind == other.kind).then(|| (self.common(other) * 1000 / all.max(1)) as u32)
    }
}

/// Two values with at least this many thousandths in common are one value that changed. It is one half, as in git's detection of renames.
pub const HALF: u32 = 500;

/// A scalar counts with the field that holds it, as in a line of a text. What leads to that field may have another name on a side, and so may
/// the field of a text of several lines.
fn collect<'a>(value: impl Value<'a>, field: u64, out: &mut Vec<u64>) {
    match value.scalar() {
        Some(scalar) => match Some(value).filter(|_| matches!(scalar, Scalar::String(_))).and_then(Value::lines) {
            Some(text) => out.extend(text.lines().filter(|line| !is_blank(line)).map(|line| hash((0, line)))),
            None => out.push(hash((field, scalar))),
        },
        None if value.is_map() => value.fields().for_each(|(name, value)| collect(value, hash(name), out)),
        None => value.elements().into_iter().for_each(|element| collect(element, hash((field, "[]")), out)),
    }
}

/// One hash of all parts.
pub fn hash(parts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Pairs of old and new things, by their numbers. Two are a pair if each is the only one that is most like the other.
pub struct Pairs<L> {
    of_old: Vec<Best<L>>,
    of_new: Vec<Best<L>>,
}

impl<L: Copy + Ord> Pairs<L> {
    /// No pairs yet, of so many old and new things.
    pub fn of(old: usize, new: usize) -> Self {
        let [of_old, of_new] = [old, new].map(|count| vec![Best(None); count]);
        Self { of_old, of_new }
    }

    /// Says how much an old thing is like a new one.
    pub fn offer(&mut self, old: usize, new: usize, likeness: L) {
        self.of_old[old].offer(likeness, new);
        self.of_new[new].offer(likeness, old);
    }

    /// The greatest likeness of an old thing to a new one.
    pub fn best_of_old(&self, old: usize) -> Option<L> {
        self.of_old[old].0.map(|(likeness, _)| likeness)
    }

    /// The greatest likeness of a new thing to an old one.
    pub fn best_of_new(&self, new: usize) -> Option<L> {
        self.of_new[new].0.map(|(likeness, _)| likeness)
    }

    /// The pairs.
    pub fn found(&self) -> impl Iterator<Item = (usize, usize)> {
        let only = |best: &Best<L>| best.0.and_then(|(_, only)| only);
        let pairs = self.of_old.iter().enumerate().filter_map(move |(old, best)| Some((old, only(best)?)));
        pairs.filter(move |(old, new)| only(&self.of_new[*new]) == Some(*old))
    }
}

/// The greatest likeness of a thing to the others, and the number of the other thing; `None` if several are equally like it.
#[derive(Clone)]
struct Best<L>(Option<(L, Option<usize>)>);

impl<L: Copy + Ord> Best<L> {
    fn offer(&mut self, likeness: L, number: usize) {
        match &mut self.0 {
            Some((best, _)) if *best > likeness => {}
            Some((best, only)) if *best == likeness => *only = only.filter(|only| *only == number),
            slot => *slot = Some((likeness, Some(number))),
        }
    }
}
