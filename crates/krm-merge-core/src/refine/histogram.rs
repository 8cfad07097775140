//! Which lines of two texts match: by histogram, as `git merge` finds them.
//!
//! The longest run of equal lines that has the rarest line counts first, and the lines before it and behind it are compared in the same way.
//! So a change stays in its block among blocks that are alike. Where each common line stands more often than [`MOST_OFTEN`] says, as many lines
//! match as possible.

use std::ops::Range;

use krm_yaml::hashed::{Empty, HashMap};
use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};

/// For each item of original, the index of the same item of a side.
pub type Matches = Vec<Option<usize>>;

/// How often a line of original may stand to be looked for.
const MOST_OFTEN: usize = 64;

/// The matches of the lines of original, by histogram.
pub(super) fn matches(original: &[u32], side: &[u32]) -> Matches {
    let mut found = vec![None; original.len()];
    let mut left = vec![Pair { original: 0..original.len(), side: 0..side.len() }];
    while let Some(pair) = left.pop() {
        if pair.original.is_empty() || pair.side.is_empty() {
            continue;
        }
        match pair.rarest(original, side) {
            Rarest::Run(run) => {
                run.original.clone().zip(run.side.clone()).for_each(|(at, place)| found[at] = Some(place));
                let (before, behind) = (pair.original.start..run.original.start, run.original.end..pair.original.end);
                left.push(Pair { original: before, side: pair.side.start..run.side.start });
                left.push(Pair { original: behind, side: run.side.end..pair.side.end });
            }
            Rarest::TooOften => {
                let most = most(&original[pair.original.clone()], &side[pair.side.clone()]);
                let places = most.into_iter().map(|place| place.map(|place| pair.side.start + place));
                pair.original.zip(places).for_each(|(at, place)| found[at] = place);
            }
            Rarest::Nothing => {}
        }
    }
    found
}

/// As many matches as possible. The diff library makes much code for each type and algorithm that it is asked for, so it is asked for this one
/// alone.
pub(super) fn most(original: &[u32], side: &[u32]) -> Matches {
    let mut found = vec![None; original.len()];
    let mut diff = Compact::new(Replace::new(Capture::new()), original, side);
    let Ok(()) = myers::diff(&mut diff, original, 0..original.len(), side, 0..side.len());
    for op in diff.into_inner().into_inner().into_ops() {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            (0..len).for_each(|i| found[old_index + i] = Some(new_index + i));
        }
    }
    found
}

/// Lines of original and of a side.
#[derive(Clone)]
struct Pair {
    original: Range<usize>,
    side: Range<usize>,
}

/// What two parts have in common.
enum Rarest {
    /// The run of equal lines that counts first.
    Run(Pair),
    /// Lines that stand too often to be looked for.
    TooOften,
    Nothing,
}

impl Pair {
    /// Of all runs, the one with the rarest line; of equally rare ones, the longest; of equally long ones, the first.
    fn rarest(&self, original: &[u32], side: &[u32]) -> Rarest {
        let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
        self.original.clone().for_each(|at| places.entry(original[at]).or_default().push(at));
        let mut best: Option<Self> = None;
        let (mut often, mut is_any) = (MOST_OFTEN + 1, false);
        let mut next = self.side.start;
        while next < self.side.end {
            let at = next;
            next += 1;
            let Some(known) = places.get(&side[at]) else { continue };
            is_any = true;
            if known.len() > often {
                continue;
            }
            let mut behind = 0;
            for place in known {
                if *place < behind {
                    continue;
                }
                let run = self.run([original, side], [*place, at]);
                behind = run.original.end;
                next = next.max(run.side.end);
                let rarest =
                    original[run.original.clone()].iter().filter_map(|line| places.get(line)).map(Vec::len).min();
                let rarest = rarest.unwrap_or_default();
                let longest = best.as_ref().map_or(1, |best| best.original.len());
                if run.original.len() > longest || rarest < often {
                    (best, often) = (Some(run), rarest);
                }
            }
        }
        match best {
            _ if is_any && often > MOST_OFTEN => Rarest::TooOften,
            Some(run) => Rarest::Run(run),
            None => Rarest::Nothing,
        }
    }

    /// The equal lines around these two.
    fn run(&self, [original, side]: [&[u32]; 2], [place, at]: [usize; 2]) -> Self {
        let before = (1..).take_while(|n| {
            let are_in =
                place.checked_sub(*n) >= Some(self.original.start) && at.checked_sub(*n) >= Some(self.side.start);
            are_in && original[place - n] == side[at - n]
        });
        let before = before.count();
        let behind = original[place..self.original.end].iter().zip(&side[at..self.side.end]);
        let behind = behind.take_while(|(one, other)| one == other).count();
        Self { original: place - before..place + behind, side: at - before..at + behind }
    }
}
