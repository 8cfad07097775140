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
    /// The leaves of a value, however deep they are.
    pub fn of<'a>(value: impl Value<'a>) -> Self {
        Self::counting(value, Depth::Any)
    }

    /// The leaves of a value, each at its depth: a merge of two values finds no others again.
    pub fn by_depth<'a>(value: impl Value<'a>) -> Self {
        Self::counting(value, Depth::At(0))
    }

    fn counting<'a>(value: impl Value<'a>, depth: Depth) -> Self {
        let mut hashes = Vec::new();
        collect(value, Spot { depth, field: 0 }, &mut hashes);
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

/// How deep a leaf is in its value.
#[derive(Clone, Copy, Hash)]
enum Depth {
    /// It does not count.
    Any,
    /// So many maps are around it.
    At(usize),
}

/// Where a leaf is.
#[derive(Clone, Copy, Hash)]
struct Spot {
    depth: Depth,
    /// A hash of the field that holds it.
    field: u64,
}

impl Spot {
    fn of_field(self, name: &str) -> Self {
        let depth = match self.depth {
            Depth::Any => Depth::Any,
            Depth::At(depth) => Depth::At(depth + 1),
        };
        Self { depth, field: hash(name) }
    }
}

/// A scalar counts with the field that holds it, as in a line of a text. What leads to that field may have another name on a side, and so may
/// the field of a text of several lines.
fn collect<'a>(value: impl Value<'a>, spot: Spot, out: &mut Vec<u64>) {
    match value.scalar() {
        Some(scalar) => match Some(value).filter(|_| matches!(scalar, Scalar::String(_))).and_then(Value::lines) {
            Some(text) => {
                out.extend(text.lines().filter(|line| !is_blank(line)).map(|line| hash((spot.depth, line))));
            }
            None => out.push(hash((spot, scalar))),
        },
        None if value.is_map() => {
            value.fields().for_each(|(name, value)| collect(value, spot.of_field(name), out));
        }
        None => {
            let spot = Spot { field: hash((spot.field, "[]")), ..spot };
            value.elements().into_iter().for_each(|element| collect(element, spot, out));
        }
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
