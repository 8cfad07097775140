//! Bytes as a row of choices: whatever the fuzzer changes, another case comes of it, and no byte means 0.

/// The bytes that are left.
pub struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    /// All of these bytes.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    /// The next byte; 0 at the end.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below `n`, which must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    /// Whether something that is rare happens; never at the end.
    pub fn one_in(&mut self, n: u8) -> bool {
        self.byte() % n == n - 1
    }

    /// One of several.
    pub fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }

    /// The next few bytes, at least one.
    pub fn few(&mut self, most: usize) -> &'b [u8] {
        let count = (1 + self.below(most)).min(self.0.len());
        let (few, rest) = self.0.split_at(count);
        self.0 = rest;
        if few.is_empty() { &[1] } else { few }
    }
}
