//! Three sequences compared as in diff3: the items that all of them have, the hunks between these, and who changed each.
//!
//! The sequences are numbers, equal if the items mean the same, so lines and elements go through the same code. Only their matches are found
//! in two ways. Those of elements are as many as possible (Myers). Those of lines are the ones that `git merge` finds, by histogram: it
//! matches rare lines first, so a change stays in its block among blocks that are alike. Both searches are bounded in steps and not in
//! time, so the outcome is the same on every machine.

use std::hash::Hash;
use std::ops::Range;

use krm_tree::sides::{Side, Sides};
use krm_yaml::hashed::{Empty, HashMap};

use super::histogram;
pub use super::histogram::Matches;

/// The most lines that two texts have together if they are compared by histogram. Its steps grow with the square of the changes, so longer
/// texts are compared as elements are: as `git merge-file` compares them.
pub const FEW: usize = 4096;

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

/// The same of numbers.
fn matches_of_numbers(original: &[u32], side: &[u32]) -> Matches {
    slid(original, side, histogram::most(original, side))
}
/// The matches between the lines of original and of a side that `git merge` finds.
pub fn matches_of_lines(original: &[u32], side: &[u32]) -> Matches {
    if original.len() + side.len() > FEW {
        return matches_of_numbers(original, side);
    }
    slid(original, side, histogram::matches(original, side))
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
fn slid(original: &[u32], side: &[u32], found: Matches) -> Matches {
    let mut is_added = vec![true; side.len()];
    found.iter().flatten().for_each(|place| is_added[*place] = false);
    let mut is_removed: Vec<bool> = found.iter().map(Option::is_none).collect();
    slide(original, &mut is_removed, &stretches(&is_added));
    slide(side, &mut is_added, &stretches(&is_removed));
    let mut kept = is_added.iter().enumerate().filter(|(_, is_added)| !**is_added).map(|(place, _)| place);
    is_removed.into_iter().map(|is_removed| if is_removed { None } else { kept.next() }).collect()
}

/// For each gap between two items that both have, and for both ends, whether there is a changed stretch.
fn stretches(is_changed: &[bool]) -> Vec<bool> {
    let mut found = vec![false];
    for is_changed in is_changed {
        match (is_changed, found.last_mut()) {
            (true, Some(last)) => *last = true,
            _ => found.push(false),
        }
    }
    found
}

/// Puts each removed or added stretch as far back as it goes, as git does: of several equal items, the last one is the one that came or went.
/// So two sides that removed one of them removed the same one. Stretches that meet are one. A stretch that can stand beside one of the other
/// sequence replaces that: of several such places, the last one counts.
fn slide(items: &[u32], is_changed: &mut [bool], others: &[bool]) {
    let mut stretch = Stretch { items, range: 0..0, gap: 0 };
    stretch.grow(is_changed);
    loop {
        let mut first = stretch.range.end;
        let mut is_beside = false;
        while !stretch.range.is_empty() {
            let len = stretch.range.len();
            while stretch.goes_up(is_changed) {}
            first = stretch.range.end;
            is_beside = others[stretch.gap];
            while stretch.goes_down(is_changed) {
                is_beside |= others[stretch.gap];
            }
            if len == stretch.range.len() {
                break;
            }
        }
        while is_beside && stretch.range.end != first && !others[stretch.gap] && stretch.goes_up(is_changed) {}
        if stretch.range.end == items.len() {
            return;
        }
        stretch = Stretch { items, range: stretch.range.end + 1..stretch.range.end + 1, gap: stretch.gap + 1 };
        stretch.grow(is_changed);
    }
}

/// The changed items in one gap between two items that both sequences have.
struct Stretch<'i> {
    items: &'i [u32],
    range: Range<usize>,
    /// The number of items before it that both have.
    gap: usize,
}

impl Stretch<'_> {
    /// Takes in the changed items behind it.
    fn grow(&mut self, is_changed: &[bool]) {
        while is_changed.get(self.range.end) == Some(&true) {
            self.range.end += 1;
        }
    }

    /// Moves by one item to the front, if it reads the same there, and takes in the stretch that it meets.
    fn goes_up(&mut self, is_changed: &mut [bool]) -> bool {
        let Range { start, end } = self.range;
        if start == 0 || self.items[start - 1] != self.items[end - 1] {
            return false;
        }
        (is_changed[start - 1], is_changed[end - 1]) = (true, false);
        (self.range, self.gap) = (start - 1..end - 1, self.gap - 1);
        while self.range.start > 0 && is_changed[self.range.start - 1] {
            self.range.start -= 1;
        }
        true
    }

    /// The same to the back.
    fn goes_down(&mut self, is_changed: &mut [bool]) -> bool {
        let Range { start, end } = self.range;
        if self.items.get(end) != Some(&self.items[start]) {
            return false;
        }
        (is_changed[start], is_changed[end]) = (false, true);
        (self.range, self.gap) = (start + 1..end + 1, self.gap + 1);
        self.grow(is_changed);
        true
    }
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
