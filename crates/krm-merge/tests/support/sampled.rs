//! [`Sampled`]: one of many cases, or all of them with `KRM_MERGE_LAWS`.

#![allow(dead_code, reason = "each test file uses its part")]

/// Says of each case in turn whether it is tried.
pub struct Sampled {
    step: usize,
    seen: usize,
}

impl Sampled {
    /// One of `step` cases, or each with `KRM_MERGE_LAWS`. The step must be a prime that no inner loop has, so that all values meet.
    pub fn one_of(step: usize) -> Self {
        Self { step: step_by_day(step), seen: 0 }
    }

    /// Whether the next case is tried.
    pub fn is_next(&mut self) -> bool {
        self.seen += 1;
        self.seen.is_multiple_of(self.step)
    }

    /// How many of so many cases are tried.
    pub fn of(&self, cases: usize) -> usize {
        cases / self.step
    }
}

/// The step by day; with `KRM_MERGE_LAWS`, each case is tried.
pub fn step_by_day(step: usize) -> usize {
    if std::env::var_os("KRM_MERGE_LAWS").is_some() { 1 } else { step }
}
