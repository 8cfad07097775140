//! [`alike`]: which resources of two sides may have many lines in common, without a look at each pair.
//!
//! Let both resources of a pair have their rare lines first. If they have half of their lines in common, then one of these is in the first
//! half of both, or directly behind it: otherwise the common lines of one would all be behind, and be fewer than half. The same holds for
//! any other share. So only resources that meet in one of their rare lines are compared, and few meet in a rare line. Source: Chaudhuri,
//! Ganti and Kaushik, "A primitive operator for similarity joins in data cleaning".

use super::lines::Lines;

/// The most counters. More lines share them, which makes their order worse, but not wrong.
const MOST_COUNTERS: usize = 1 << 20;

/// A resource with a number.
type Numbered<'l> = (usize, &'l Lines);

/// The pairs of one and another resource that may have this share of their lines in common, in thousandths. Each pair comes once.
pub(super) fn alike<'l>(
    one: &[Numbered<'l>],
    other: &[Numbered<'l>],
    share: u32,
) -> impl Iterator<Item = (usize, usize)> {
    let counts = Counts::of(other);
    let rarest = |(at, (_, lines)): (usize, &Numbered<'l>)| counts.rarest(lines, share).map(move |line| (line, at));
    let mut by_line: Vec<(u64, usize)> = other.iter().enumerate().flat_map(rarest).collect();
    by_line.sort_unstable();
    let may_have_it = move |a: usize, b: usize| a.min(b) * 1000 >= a.max(b) * share as usize;
    // The last resource that each of the others met.
    let mut met = vec![usize::MAX; other.len()];
    one.iter().flat_map(move |(i, lines)| {
        let mut found = Vec::new();
        for line in counts.rarest(lines, share) {
            let first = by_line.partition_point(|(other, _)| *other < line);
            for (_, at) in by_line[first..].iter().take_while(|(other, _)| *other == line) {
                let (j, others) = other[*at];
                if std::mem::replace(&mut met[*at], *i) != *i && may_have_it(lines.count(), others.count()) {
                    found.push((*i, j));
                }
            }
        }
        found
    })
}

/// How often each line is in some resources.
struct Counts(Vec<u32>);

impl Counts {
    fn of(all: &[Numbered<'_>]) -> Self {
        let lines: usize = all.iter().map(|(_, lines)| lines.count()).sum();
        let mut counts = Self(vec![0; lines.next_power_of_two().min(MOST_COUNTERS)]);
        for line in all.iter().flat_map(|(_, lines)| lines.hashes()) {
            let counter = counts.counter(line);
            counts.0[counter] += 1;
        }
        counts
    }

    fn counter(&self, line: u64) -> usize {
        line as usize & (self.0.len() - 1)
    }

    /// The rare lines of a resource: those of which it shares one with each other resource that has this share of its lines.
    fn rarest(&self, lines: &Lines, share: u32) -> impl Iterator<Item = u64> + use<> {
        let mut all: Vec<u64> = lines.hashes().collect();
        let fewest_common = (all.len() * share as usize).div_ceil(1000).max(1);
        let rare = (all.len() + 1).saturating_sub(fewest_common);
        if rare < all.len() {
            all.select_nth_unstable_by_key(rare, |line| (self.0[self.counter(*line)], *line));
        }
        all.truncate(rare);
        all.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pairs_with_a_share_in_common_are_found() {
        // All resources with up to five of these lines.
        let mut all: Vec<Vec<u64>> = vec![Vec::new()];
        for from in 0.. {
            let Some(lines) = all.get(from).filter(|lines| lines.len() < 5).cloned() else { break };
            let last = lines.last().copied().unwrap_or_default();
            all.extend((last..5).map(|line| [&lines[..], &[line]].concat()));
        }
        let all: Vec<Lines> = all.into_iter().map(Lines::from).collect();
        assert_eq!(all.len(), 252);
        // Sides with other counts of the same lines.
        for (skip, step) in [(0, 1), (0, 5), (3, 2), (100, 7)] {
            let side = |step: usize| all.iter().enumerate().skip(skip).step_by(step).collect::<Vec<_>>();
            let (one, other) = (side(1), side(step));
            for share in [1, 500, 501, 750, 1000] {
                let mut found: Vec<_> = alike(&one, &other, share).collect();
                found.sort_unstable();
                assert!(found.is_sorted_by(|a, b| a < b), "each pair comes once");
                for ((i, own), (j, others)) in one.iter().flat_map(|one| other.iter().map(move |other| (one, other))) {
                    if own.same_of_thousand(others) >= share {
                        assert!(found.binary_search(&(*i, *j)).is_ok(), "{share}: {own:?} {others:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn resources_that_share_only_frequent_lines_do_not_meet() {
        let lines = |number: u64| Lines::from(vec![1, 2, 100 + number, 200 + number, 300 + number]);
        let all: Vec<Lines> = (0..75).map(lines).collect();
        let numbered: Vec<_> = all.iter().enumerate().collect();
        let found: Vec<_> = alike(&numbered[..50], &numbered[25..], 500).collect();
        assert_eq!(found, (25..50).map(|i| (i, i)).collect::<Vec<_>>());
    }
}
