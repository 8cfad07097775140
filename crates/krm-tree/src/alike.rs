//! [`alike`]: which things of two sides may have many parts in common, without a look at each pair.
//!
//! Sort the parts of both things of a pair, with the rarest first. If they have half of their parts in common, then one of these is in the
//! first half of both, or is the next one: otherwise the common parts of one of them would all come later, and be fewer than half. The same
//! holds for any other share. A part that a thing has twice counts twice. So only things that meet in one of their rare parts are compared.
//! Source: Chaudhuri, Ganti and Kaushik, "A primitive operator for similarity joins in data cleaning".

use crate::leaves::Hashes;

/// The most counters. More parts share them, which makes their order worse, but not wrong.
const MOST_COUNTERS: usize = 1 << 20;

/// A thing with a number.
pub type Numbered<'h> = (usize, &'h Hashes);

/// The pairs of one and another thing, by their numbers, that may have this share of their parts in common, in thousandths. Each pair comes
/// once.
pub fn alike<'h>(one: &[Numbered<'h>], other: &[Numbered<'h>], share: u32) -> impl Iterator<Item = (usize, usize)> {
    let other = if one.is_empty() { &[] } else { other };
    let counts = Counts::of(other);
    let rarest = |(at, (_, parts)): (usize, &Numbered<'h>)| counts.rarest(parts, share).map(move |part| (part, at));
    let mut by_part: Vec<(u64, usize)> = other.iter().enumerate().flat_map(rarest).collect();
    by_part.sort_unstable();
    let may_have_it = move |a: usize, b: usize| a.min(b) * 1000 >= a.max(b) * share as usize;
    // The last thing that each of the others met.
    let mut met = vec![usize::MAX; other.len()];
    one.iter().flat_map(move |(i, parts)| {
        let mut found = Vec::new();
        for part in counts.rarest(parts, share) {
            let first = by_part.partition_point(|(known, _)| *known < part);
            for (_, at) in by_part[first..].iter().take_while(|(known, _)| *known == part) {
                let (j, others) = other[*at];
                if std::mem::replace(&mut met[*at], *i) != *i && may_have_it(parts.count(), others.count()) {
                    found.push((*i, j));
                }
            }
        }
        found
    })
}

/// How often each part is in some things.
struct Counts(Vec<u32>);

impl Counts {
    fn of(all: &[Numbered<'_>]) -> Self {
        let parts: usize = all.iter().map(|(_, parts)| parts.count()).sum();
        let mut counts = Self(vec![0; parts.next_power_of_two().min(MOST_COUNTERS)]);
        for part in all.iter().flat_map(|(_, parts)| parts.iter()) {
            let counter = counts.counter(part);
            counts.0[counter] += 1;
        }
        counts
    }

    fn counter(&self, part: u64) -> usize {
        part as usize & (self.0.len() - 1)
    }

    /// The rare parts of a thing: it has one of them in common with each other thing that has this share of its parts.
    fn rarest(&self, parts: &Hashes, share: u32) -> impl Iterator<Item = u64> + use<> {
        let mut all: Vec<u64> = parts.iter().collect();
        let fewest_common = (all.len() * share as usize).div_ceil(1000).max(1);
        let rare = (all.len() + 1).saturating_sub(fewest_common);
        if rare < all.len() {
            all.select_nth_unstable_by_key(rare, |part| (self.0[self.counter(*part)], *part));
        }
        all.truncate(rare);
        // Whether two meet in a part does not depend on how often they have it.
        all.sort_unstable();
        all.dedup();
        all.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pairs_with_a_share_in_common_are_found() {
        // All things with up to five of these parts.
        let mut all: Vec<Vec<u64>> = vec![Vec::new()];
        for from in 0.. {
            let Some(parts) = all.get(from).filter(|parts| parts.len() < 5).cloned() else { break };
            let last = parts.last().copied().unwrap_or_default();
            all.extend((last..5).map(|part| [&parts[..], &[part]].concat()));
        }
        let all: Vec<Hashes> = all.into_iter().map(Hashes::from).collect();
        assert_eq!(all.len(), 252);
        // Sides with other counts of the same parts.
        for (skip, step) in [(0, 1), (0, 5), (3, 2), (100, 7)] {
            let side = |step: usize| all.iter().enumerate().skip(skip).step_by(step).collect::<Vec<_>>();
            let (one, other) = (side(1), side(step));
            for share in [1, 500, 501, 750, 1000] {
                let mut found: Vec<_> = alike(&one, &other, share).collect();
                found.sort_unstable();
                assert!(found.is_sorted_by(|a, b| a < b), "each pair comes once");
                for ((i, own), (j, others)) in one.iter().flat_map(|one| other.iter().map(move |other| (one, other))) {
                    let most = own.count().max(others.count());
                    if most > 0 && own.common(others) * 1000 / most >= share as usize {
                        assert!(found.binary_search(&(*i, *j)).is_ok(), "{share}: {own:?} {others:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_part_that_comes_often_is_looked_up_once() {
        let all: Vec<Hashes> = (0..2).map(|_| Hashes::from(vec![7; 200_000])).collect();
        let numbered: Vec<_> = all.iter().enumerate().collect();
        // If each occurrence met each other one, this would take minutes.
        assert_eq!(alike(&numbered[..1], &numbered[1..], 500).collect::<Vec<_>>(), [(0, 1)]);
    }

    #[test]
    fn things_that_share_only_frequent_parts_do_not_meet() {
        let parts = |number: u64| Hashes::from(vec![1, 2, 100 + number, 200 + number, 300 + number]);
        let all: Vec<Hashes> = (0..75).map(parts).collect();
        let numbered: Vec<_> = all.iter().enumerate().collect();
        let found: Vec<_> = alike(&numbered[..50], &numbered[25..], 500).collect();
        assert_eq!(found, (25..50).map(|i| (i, i)).collect::<Vec<_>>());
    }
}
