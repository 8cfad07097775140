//! [`Sieve`]: tells at once that a text is not among some others.
//!
//! Most texts that are looked up in a set are not in it. A few of their bytes show that, at a fraction of the cost of a hash of all bytes.
//! If the answer is [`Known::Maybe`], the caller looks into the set itself. So no input can make a result wrong, only slow.

/// Whether a text is among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// The text is not among them.
    No,
    /// The text may be among them.
    Maybe,
}

/// A set of texts that knows a few bytes of each. It has 64 slots in each word.
#[derive(Clone, Debug)]
pub struct Sieve<const WORDS: usize = 64> {
    slots: [u64; WORDS],
    /// A bit for each length. Lengths with a difference of 64 share one.
    lengths: u64,
}

impl<const WORDS: usize> Default for Sieve<WORDS> {
    fn default() -> Self {
        Self { slots: [0; WORDS], lengths: 0 }
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

impl<const WORDS: usize> Sieve<WORDS> {
    /// Adds a text. Returns whether it may have been there before.
    pub fn add(&mut self, text: &[u8]) -> Known {
        let (word, bit) = slot::<WORDS>(text);
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
        let (word, bit) = slot::<WORDS>(text);
        if self.slots[word] & bit == 0 { Known::No } else { Known::Maybe }
    }
}

/// The bit of the length of a text.
fn length(text: &[u8]) -> u64 {
    1 << (text.len() & 63)
}

/// The word and the bit of a text: by its length, and by four bytes each of its middle and its end. Generated names differ there. Of a shorter
/// text, all bytes count.
fn slot<const WORDS: usize>(bytes: &[u8]) -> (usize, u64) {
    let (middle, end) = match bytes.last_chunk() {
        Some(end) => (bytes[(bytes.len() - 4) / 2..].first_chunk().unwrap_or(end), end),
        None => (&[0; 4], &std::array::from_fn(|at| bytes.get(at).copied().unwrap_or_default())),
    };
    let [middle, end] = [middle, end].map(|four| u32::from_le_bytes(*four));
    // Odd constants spread the bits (Knuth's multiplicative hashing). The upper bits select the slot.
    let spread = end.wrapping_mul(0x9e37_79b1) ^ middle.wrapping_mul(0x85eb_ca6b);
    let slot = (spread ^ bytes.len() as u32).wrapping_mul(0x27d4_eb2f) >> (u32::BITS - (64 * WORDS).ilog2());
    ((slot >> 6) as usize, 1 << (slot & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_added_is_never_denied() {
        fn check<const WORDS: usize>() {
            let names = ["", "a", "é", "abc", "spec", "image", "template", "web-00017", "web-00018"];
            let mut sieve = Sieve::<WORDS>::default();
            for name in names {
                sieve.add(name.as_bytes());
                assert_eq!(sieve.add(name.as_bytes()), Known::Maybe, "{name:?}");
            }
            assert!(names.iter().all(|name| sieve.knows(name.as_bytes()) == Known::Maybe));
        }
        check::<64>();
        check::<8>();
    }

    #[test]
    fn the_names_of_usual_fields_differ_even_in_a_small_sieve() {
        let mut sieve = Sieve::<8>::default();
        let names =
            ["apiVersion", "kind", "metadata", "spec", "status", "data", "name", "namespace", "labels", "image"];
        assert!(names.iter().all(|name| sieve.add(name.as_bytes()) == Known::No));
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
