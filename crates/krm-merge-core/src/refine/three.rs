//! Three sequences compared as in diff3: the items that all of them have, the hunks between these, and who changed each.
//!
//! The sequences are numbers, equal if the items mean the same, so lines and elements go through the same code. Only their matches are found
//! in two ways. Those of elements are as many as possible (Myers). Those of lines are the ones that `git merge` finds, by histogram: it
//! matches rare lines first, so a change stays in its block among blocks that are alike. Both searches are bounded in steps and not in
//! time, so the outcome is the same on every machine.

use std::hash::Hash;
use std::ops::Range;

use imara_diff::{Diff, Token};
use krm_tree::sides::{Side, Sides};
use krm_yaml::hashed::{Empty, HashMap};
use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};

/// The most lines that two texts have together if they are compared by histogram. Its steps grow with the square of the changes, so longer
/// texts are compared as elements are: as `git merge-file` compares them.
pub const FEW: usize = 4096;

/// For each item of original, the index of the same item of a side.
pub type Matches = Vec<Option<usize>>;

/// A part of three sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// One item that all of them have and that separates hunks.
    Anchor(Anchor),
    /// The items between two anchors, which differ between the sequences.
    Hunk(Hunk),
}

/// The places of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Its number in original.
    pub original: usize,
    /// Its number in updated.
    pub updated: usize,
    /// Its number in dest.
    pub dest: usize,
}

impl Anchor {
    /// Its number in a side.
    pub fn of(&self, side: Side) -> usize {
        match side {
            Side::Original => self.original,
            Side::Updated => self.updated,
            Side::Dest => self.dest,
        }
    }
}

/// The places of the items between two anchors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The items of original.
    pub original: Range<usize>,
    /// The items of updated.
    pub updated: Range<usize>,
    /// The items of dest.
    pub dest: Range<usize>,
}

/// Who changed an item that all had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Nobody.
    Nowhere,
    /// Updated alone.
    Updated,
    /// Dest alone.
    Dest,
    /// Both, in the same way.
    Alike,
    /// Both, in different ways.
    Apart,
}

impl Changed {
    /// Compares the items of original, updated and dest.
    pub fn of<T: PartialEq + ?Sized>(original: &T, updated: &T, dest: &T) -> Self {
        match (original == updated, original == dest) {
            (true, true) => Self::Nowhere,
            (false, true) => Self::Updated,
            (true, false) => Self::Dest,
            (false, false) if updated == dest => Self::Alike,
            (false, false) => Self::Apart,
        }
    }
}

impl Hunk {
    /// Who changed the hunk.
    pub fn changed<T: PartialEq>(&self, original: &[T], updated: &[T], dest: &[T]) -> Changed {
        Changed::of(&original[self.original.clone()], &updated[self.updated.clone()], &dest[self.dest.clone()])
    }
}

impl Part {
    /// Who changed the hunk; nobody for an anchor.
    pub fn changed<T: PartialEq>(&self, original: &[T], updated: &[T], dest: &[T]) -> Changed {
        match self {
            Self::Anchor(_) => Changed::Nowhere,
            Self::Hunk(hunk) => hunk.changed(original, updated, dest),
        }
    }
}

/// As many matches between original and a side as possible.
pub fn matches<T: Eq + Hash>(original: &[T], side: &[T]) -> Matches {
    let mut known = HashMap::new();
    let [original, side] = [original, side].map(|items| numbers(items.iter(), &mut known));
    matches_of_numbers(&original, &side)
}

/// The same of numbers. The diff library makes much code for each type and algorithm that it is asked for, so it is asked for this one alone.
fn matches_of_numbers(original: &[u32], side: &[u32]) -> Matches {
    let mut found = vec![None; original.len()];
    let mut diff = Compact::new(Replace::new(Capture::new()), original, side);
    let Ok(()) = myers::diff(&mut diff, original, 0..original.len(), side, 0..side.len());
    for op in diff.into_inner().into_inner().into_ops() {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            (0..len).for_each(|i| found[old_index + i] = Some(new_index + i));
        }
    }
    slid(original, side, found)
}

/// The matches between the lines of original and of a side that `git merge` finds.
pub fn matches_of_lines(original: &[u32], side: &[u32]) -> Matches {
    if original.len() + side.len() > FEW {
        return matches_of_numbers(original, side);
    }
    // `imara-diff` matches equal lines at both ends first, and git does not. So each text has ends that the other one lacks.
    let next = original.iter().chain(side).max().map_or(0, |most| most + 1);
    let tokens = |lines: &[u32], ends: [u32; 2]| {
        let tokens = ends[..1].iter().chain(lines).chain(&ends[1..]).copied().map(Token::from);
        tokens.collect::<Vec<_>>()
    };
    let mut diff = Diff::default();
    let (before, after) = (tokens(original, [next, next + 1]), tokens(side, [next + 2, next + 3]));
    diff.compute_with(imara_diff::Algorithm::Histogram, &before, &after, next + 4);
    let mut of_side = (0..side.len()).filter(|line| !diff.is_added(*line as u32 + 1));
    let matched = |line| if diff.is_removed(line as u32 + 1) { None } else { of_side.next() };
    slid(original, side, (0..original.len()).map(matched).collect())
}

/// The lines of three texts as numbers, equal if the lines are equal.
pub fn numbered(lines: &Sides<Vec<&str>>) -> Sides<Vec<u32>> {
    let mut known = HashMap::new();
    Sides::of(|side| numbers(lines[side].iter().copied(), &mut known))
}

/// Items as numbers, equal if the items are equal.
fn numbers<T: Eq + Hash>(items: impl Iterator<Item = T>, known: &mut HashMap<T, u32>) -> Vec<u32> {
    let number = |item| {
        let next = known.len() as u32;
        *known.entry(item).or_insert(next)
    };
    items.map(number).collect()
}

/// The same matches with each removed or added stretch in its place.
fn slid<T: Eq>(original: &[T], side: &[T], mut found: Matches) -> Matches {
    slide(original, &mut found);
    let mut found = turned(&found, side.len());
    slide(side, &mut found);
    turned(&found, original.len())
}

/// Puts each removed or added stretch as far back as it goes, as git does: of several equal items, the last one is the one that came or went.
/// So two sides that removed one of them removed the same one. A stretch that replaces another one stays in its place.
fn slide<T: Eq>(items: &[T], matches: &mut Matches) {
    let behind =
        |matches: &Matches, at: usize| (at..items.len()).find(|at| matches[*at].is_some()).unwrap_or(items.len());
    // The items without a match from `start` to `end` are one stretch.
    let mut end = 0;
    while let Some(mut start) = (end..items.len()).find(|at| matches[*at].is_none()) {
        end = behind(matches, start);
        // The place on the other side after the item before the stretch. If the next item is there, nothing replaces the stretch.
        let mut place = start.checked_sub(1).and_then(|before| matches[before]).map_or(0, |before| before + 1);
        while matches.get(end) == Some(&Some(place)) && items[start] == items[end] {
            (matches[start], matches[end]) = (Some(place), None);
            place += 1;
            start += 1;
            end = behind(matches, end);
        }
    }
}

/// The same matches from the other sequence, which has this length.
fn turned(matches: &Matches, other: usize) -> Matches {
    let mut turned = vec![None; other];
    for (own, other) in matches.iter().enumerate() {
        if let Some(other) = other {
            turned[*other] = Some(own);
        }
    }
    turned
}

/// The parts of three sequences. `updated` and `dest` are the lengths of these two; the matches must be in original's order.
pub fn parts(in_updated: &Matches, in_dest: &Matches, updated: usize, dest: usize) -> Vec<Part> {
    let end = Anchor { original: in_updated.len(), updated, dest };
    let mut parts = Vec::new();
    let mut from = Anchor { original: 0, updated: 0, dest: 0 };
    let all = in_updated.iter().zip(in_dest).enumerate();
    let anchors = all.filter_map(|(original, pair)| match pair {
        (Some(updated), Some(dest)) => Some(Anchor { original, updated: *updated, dest: *dest }),
        _ => None,
    });
    for anchor in anchors.chain([end]) {
        let hunk = Hunk {
            original: from.original..anchor.original,
            updated: from.updated..anchor.updated,
            dest: from.dest..anchor.dest,
        };
        if !(hunk.original.is_empty() && hunk.updated.is_empty() && hunk.dest.is_empty()) {
            parts.push(Part::Hunk(hunk));
        }
        if anchor != end {
            parts.push(Part::Anchor(anchor));
        }
        from = Anchor { original: anchor.original + 1, updated: anchor.updated + 1, dest: anchor.dest + 1 };
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn numbers(text: &str) -> Vec<u32> {
        text.chars().map(u32::from).collect()
    }

    /// The merge of three words by letter: conflicts are written as `<dest|updated>`.
    fn merged(original: &str, updated: &str, dest: &str) -> String {
        let sides = [original, updated, dest].map(numbers);
        let [o, u, d] = &sides;
        let mut out = String::new();
        for part in parts(&matches(o, u), &matches(o, d), u.len(), d.len()) {
            match part {
                Part::Anchor(anchor) => out.push_str(&dest[anchor.dest..=anchor.dest]),
                Part::Hunk(hunk) => match hunk.changed(o, u, d) {
                    Changed::Updated => out.push_str(&updated[hunk.updated]),
                    Changed::Apart => out.push_str(&format!("<{}|{}>", &dest[hunk.dest], &updated[hunk.updated])),
                    Changed::Nowhere | Changed::Dest | Changed::Alike => out.push_str(&dest[hunk.dest]),
                },
            }
        }
        out
    }

    #[test]
    fn a_long_stretch_of_equal_items_is_put_back_at_once() {
        let (long, short) = (vec![0; 200_000], vec![0; 100_000]);
        let found = matches(&long, &short);
        assert!(found[..100_000].iter().enumerate().all(|(at, other)| *other == Some(at)));
    }

    #[test]
    fn three_words_are_merged_by_letter() {
        for (original, updated, dest, want) in [
            ("", "", "", ""),
            ("abc", "abc", "abc", "abc"),
            ("abc", "aXc", "abc", "aXc"),
            ("abc", "abc", "aXc", "aXc"),
            ("abc", "aXc", "aXc", "aXc"),
            ("abc", "Xbc", "abY", "XbY"),
            ("abc", "aXbc", "abYc", "aXbYc"),
            ("abc", "ac", "abcY", "acY"),
            ("abc", "ac", "ac", "ac"),
            ("abcde", "bcde", "abcd", "bcd"),
            ("abc", "", "abc", ""),
            // Overlapping.
            ("abc", "aXc", "aYc", "a<Y|X>c"),
            ("abc", "ac", "aYc", "a<Y|>c"),
            ("abc", "aYc", "ac", "a<|Y>c"),
            ("", "X", "Y", "<Y|X>"),
            ("ab", "aXb", "aYb", "a<Y|X>b"),
            ("ab", "abX", "abY", "ab<Y|X>"),
            // Touching: no unchanged letter between them.
            ("abcd", "aXcd", "abYd", "a<bY|Xc>d"),
            ("abc", "aXc", "abYc", "a<bY|X>c"),
            ("abc", "ac", "abYc", "a<bY|>c"),
            // One side made the change of the other side, and more.
            ("ab", "aXb", "aXYb", "a<XY|X>b"),
            // Of equal letters, the last one came or went.
            ("afffe", "affe", "affe", "affe"),
            ("afffe", "0affe", "affe", "0affe"),
            ("afffe", "affe", "affeX", "affeX"),
            ("afbfffe", "afbffe", "abffe", "abffe"),
            ("abbc", "abc", "abbcX", "abcX"),
            ("abc", "abbc", "Yabc", "Yabbc"),
            ("abc", "abbc", "abbc", "abbc"),
            // The stretch that `X` replaces stays, as in git.
            ("ababab", "abab", "Xabab", "Xab"),
        ] {
            assert_eq!(merged(original, updated, dest), want, "{original} {updated} {dest}");
            let swapped = merged(original, dest, updated);
            assert_eq!(swapped.matches('<').count(), want.matches('<').count(), "swapped: {swapped}");
            if !want.contains('<') {
                assert_eq!(swapped, want);
            }
        }
    }

    thread_local! {
        static COMPARED: Cell<u64> = const { Cell::new(0) };
    }

    /// A number that counts how often it is compared.
    #[derive(Eq, Hash)]
    #[expect(clippy::derived_hash_with_manual_eq, reason = "equal numbers are equal")]
    struct Counted(u32);

    impl PartialEq for Counted {
        fn eq(&self, other: &Self) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }

    /// The number of comparisons for sequences of this many items.
    fn steps(n: usize, of: fn(u32) -> u32) -> u64 {
        let noise = |seed: u64| {
            let step = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            std::iter::successors(Some(seed), step).map(|x| (x >> 40) as u32)
        };
        let [a, b] = [1, 2].map(|seed| noise(seed).take(n).map(|x| Counted(of(x))).collect::<Vec<_>>());
        COMPARED.set(0);
        assert_eq!(matches(&a, &b).len(), n);
        COMPARED.get()
    }

    #[test]
    fn the_work_grows_with_the_length_and_not_with_its_square() {
        // Nothing in common, two different items, and fifty: the most expensive inputs for a search without a bound.
        let all: [fn(u32) -> u32; 3] = [|x| x, |x| x % 2, |x| x % 50];
        for (i, of) in all.into_iter().enumerate() {
            let (short, long) = (steps(1_000, of), steps(32_000, of));
            // 32 times as many items: the square is 1024 times the steps.
            assert!(short > 0 && long < short * 400, "{i}: {short:?} {long:?}");
        }
    }
}
