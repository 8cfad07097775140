//! [`Sieve`]: tells at once that a text is not among some others.
//!
//! Most texts that are looked up in a set are not in it. A few of their bytes show that, at a fraction of the cost of a hash of all bytes.
//! If the answer is [`Known::Maybe`], the caller looks into the set itself. So no input can make a result wrong, only slow.

/// Whether a text is among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The text is not among them.
    No,
    /// The text may be among them.
    Maybe,
}

/// A set of texts that knows a few bytes of each.
#[derive(Clone, Debug)]
pub struct Sieve {
    slots: [u64; 64],
    /// A bit for each length. Lengths with a difference of 64 share one.
    lengths: u64,
}

impl Default for Sieve {
    fn default() -> Self {
        Self { slots: [0; 64], lengths: 0 }
    }
}

impl<'t> FromIterator<&'t str> for Sieve {
    fn from_iter<T: IntoIterator<Item = &'t str>>(texts: T) -> Self {
        let mut sieve = Self::default();
        for text in texts {
            sieve.add(text.as_bytes());
        }
        sieve
    }
}

impl Sieve {
    /// Adds a text. Returns whether it may have been there before.
    pub fn add(&mut self, text: &[u8]) -> Known {
        let (word, bit) = slot(text);
        let known = if self.slots[word] & bit == 0 { Known::No } else { Known::Maybe };
        self.slots[word] |= bit;
        self.lengths |= length(text);
        known
    }

    /// Whether a text may be there.
    pub fn knows(&self, text: &[u8]) -> Known {
        // Most texts have another length than all of these.
        if self.lengths & length(text) == 0 {
            return Known::No;
        }
        let (word, bit) = slot(text);
        if self.slots[word] & bit == 0 { Known::No } else { Known::Maybe }
    }
}

/// The bit of the length of a text.
fn length(text: &[u8]) -> u64 {
    1 << (text.len() & 63)
}

/// The word and the bit of a text: by its length, and by four bytes each of its middle and its end. Generated names differ there.
fn slot(bytes: &[u8]) -> (usize, u64) {
    let short = || bytes.iter().fold(0, |all, byte| all << 8 | u32::from(*byte));
    let four = |bytes: &[u8]| bytes.last_chunk().map_or_else(short, |last| u32::from_le_bytes(*last));
    let (middle, end) = (four(&bytes[..bytes.len() / 2]), four(bytes));
    // Odd constants spread the bits (Knuth's multiplicative hashing). The upper twelve bits select the slot.
    let spread = end.wrapping_mul(0x9e37_79b1) ^ middle.wrapping_mul(0x85eb_ca6b);
    let slot = (spread ^ bytes.len() as u32).wrapping_mul(0x27d4_eb2f) >> 20;
    ((slot >> 6) as usize, 1 << (slot & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_added_is_never_denied() {
        let names = ["", "a", "é", "ab", "spec", "template", "web-00017", "web-00018"];
        let mut sieve = Sieve::default();
        for name in names {
            sieve.add(name.as_bytes());
            assert_eq!(sieve.add(name.as_bytes()), Known::Maybe, "{name:?}");
        }
        assert!(names.iter().all(|name| sieve.knows(name.as_bytes()) == Known::Maybe));
    }

    #[test]
    fn most_other_texts_are_denied() {
        let name = |number: usize| format!("web-{number:05}");
        let [some, others] = [0..50, 50..1050].map(|numbers| numbers.map(name).collect::<Vec<_>>());
        let sieve: Sieve = some.iter().map(String::as_str).collect();
        let maybe = others.iter().filter(|name| sieve.knows(name.as_bytes()) == Known::Maybe).count();
        assert!(maybe < 100, "{maybe} of {}", others.len());
    }
}
