//! [`Names`]: names that are looked for in many resources.
//!
//! Few resources have one of them, so a text is searched before it is read. The search passes over most bytes: it looks at three of them, and
//! if no name begins with a part that has these, it goes on by the length of a name. Source: Wu and Manber, "A fast algorithm for multi-pattern searching".

use krm_merge::hashed::HashSet;
use krm_merge::sieve::{Known, Sieve};
use krm_merge::tree::View;
use krm_merge::yaml::find_byte;

/// Names that are looked for in many resources.
pub(super) struct Names {
    all: HashSet<String>,
    sieve: Sieve,
    /// `None` if a search cannot tell: a name is shorter than a block, or has other bytes than a word.
    starts: Option<Starts>,
}

/// The starts of all names. Each has as many bytes as the shortest name.
struct Starts {
    /// How many blocks a start has. They overlap: one begins at each byte.
    blocks: usize,
    /// The number of a block in its start, from 1, by the hash of the block. Of several, the highest; 0 if no start has the block.
    number: Vec<u8>,
}

/// How many bytes the search compares at once.
const BLOCK: usize = 3;

/// Whether a byte may be in a word. The names of most kinds have no other bytes.
static IS_IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte: u8 = 0;
    while byte.is_ascii() {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
        byte += 1;
    }
    table
};

fn is_in_word(byte: &u8) -> bool {
    IS_IN_WORD[*byte as usize]
}

impl Starts {
    fn of(names: &HashSet<String>) -> Option<Self> {
        let are_words = names.iter().all(|name| name.bytes().all(|byte| is_in_word(&byte)));
        let shortest = names.iter().map(String::len).min().filter(|shortest| are_words && *shortest >= BLOCK)?;
        let blocks = (shortest - (BLOCK - 1)).min(u8::MAX.into());
        let mut starts = Self { blocks, number: vec![0; 1 << 16] };
        for name in names {
            for at in 0..blocks {
                let number = &mut starts.number[slot(block_at(name.as_bytes(), at)?)];
                *number = (*number).max(at as u8 + 1);
            }
        }
        Some(starts)
    }

    /// Whether a word of a text is one of the names.
    fn are_in(&self, text: &str, is_name: impl Fn(&str) -> bool) -> bool {
        let bytes = text.as_bytes();
        // Where the last block of a start may be.
        let mut at = self.blocks - 1;
        while let Some(block) = block_at(bytes, at) {
            let further = self.blocks - usize::from(self.number[slot(block)]);
            if further > 0 {
                at += further;
                continue;
            }
            let start = at - (self.blocks - 1);
            // Only then the rest of the word is read, and so each word once.
            let begins_word = start.checked_sub(1).is_none_or(|before| !is_in_word(&bytes[before]));
            let rest = if begins_word { bytes[start..].iter().take_while(|byte| is_in_word(byte)).count() } else { 0 };
            if text.get(start..start + rest).is_some_and(&is_name) {
                return true;
            }
            at += 1;
        }
        false
    }
}

/// The block at an offset.
fn block_at(bytes: &[u8], at: usize) -> Option<[u8; BLOCK]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// The slot of a block, by Knuth's multiplicative hashing.
fn slot([first, second, third]: [u8; BLOCK]) -> usize {
    let number = u32::from_le_bytes([first, second, third, 0]);
    (number.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

impl Names {
    pub fn of<'n>(names: impl Iterator<Item = &'n String>) -> Self {
        let all: HashSet<String> = names.cloned().collect();
        let sieve = all.iter().map(String::as_str).collect();
        Self { sieve, starts: Starts::of(&all), all }
    }

    /// Whether this is one of the names.
    pub fn has(&self, name: &str) -> bool {
        self.sieve.knows(name.as_bytes()) == Known::Maybe && self.all.contains(name)
    }

    /// Whether a text of YAML may have one of these names as a scalar. A backslash may stand for any character of a name.
    pub fn may_be_in(&self, text: &str) -> bool {
        let starts = self.starts.as_ref().filter(|_| find_byte(text, b'\\').is_none());
        starts.is_none_or(|starts| starts.are_in(text, |word| self.has(word)))
    }

    /// Whether a resource may refer to one of these names, because it has the name as a text anywhere. Few resources do, and this check
    /// costs far less than finding the references.
    pub fn are_in(&self, value: View<'_, '_>) -> bool {
        match value {
            // An alias may bring in text from outside of the node.
            View::Node(node) => node.has_aliases() || node.strings().any(|text| self.has(text)),
            View::Made(_) => value.text().is_some_and(|text| self.has(&text)),
            View::Branch(branch) => {
                branch.children().filter_map(|(_, tree)| tree.view()).any(|value| self.are_in(value))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All texts of these pieces, up to a number of them.
    fn texts(pieces: &[&str], most: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..most {
            last = last.iter().flat_map(|text| pieces.iter().map(move |piece| format!("{text}{piece}"))).collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    #[test]
    fn a_name_is_found_where_it_is_a_word() {
        for names in [&["aba"][..], &["aab", "aba"], &["aba", "abaa"], &["abab"], &["aabab", "babaa", "abbab"]] {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let looked_for = Names::of(names.iter());
            for text in texts(&["a", "b", " ", "é"], 7) {
                let mut words = text.split([' ', 'é']);
                let is_there = words.any(|word| names.iter().any(|name| name == word));
                assert_eq!(looked_for.may_be_in(&text), is_there, "{names:?} in {text:?}");
            }
        }
    }

    #[test]
    fn a_long_word_is_read_once() {
        let looked_for = Names::of([&"aaaa".to_owned()].into_iter());
        // If each byte began another look at the rest, this would take hours.
        assert!(!looked_for.may_be_in(&"a".repeat(4_000_000)));
    }

    #[test]
    fn names_of_any_length_are_found() {
        let names: Vec<String> = [254, 255, 256, 300].map(|length| format!("{}b", "a".repeat(length - 1))).into();
        let looked_for = Names::of(names.iter());
        for length in 250..310 {
            let name = format!("{}b", "a".repeat(length - 1));
            assert_eq!(looked_for.may_be_in(&format!("k: {name}\n")), names.contains(&name), "{length}");
        }
    }
}
