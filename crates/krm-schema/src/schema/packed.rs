//! A table as bytes, as `cargo xtask` packs it: its parts, each behind its length. The parts are found when the program is compiled, so no
//! run parses a table.

use std::ops::Range;

use super::ListKind;

/// A number of a table, in little endian.
pub type Number = [u8; 2];

/// The most keys of a list. Free places hold the number of no name.
pub const KEYS: usize = 4;

/// Sorted names, to which a table refers by number.
#[derive(Clone, Copy)]
pub struct NameTable {
    /// One after the other.
    text: &'static str,
    /// Where each starts, and where the last one ends.
    starts: &'static [Number],
}

impl NameTable {
    /// The names in the part with this index and the next one.
    pub const fn of(table: &'static [u8], index: usize) -> Self {
        let text = match str::from_utf8(part(table, index)) {
            Ok(text) => text,
            Err(_) => "",
        };
        Self { text, starts: numbers(table, index + 1) }
    }

    /// The name with this number; empty for the number of no name.
    pub fn get(self, number: Number) -> &'static str {
        between(self.starts, u16::from_le_bytes(number)).and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    /// How a list of this type merges; `None` if no type is declared.
    pub fn list_kind(self, list_type: Number, keys: &[Number]) -> Option<ListKind<&'static str>> {
        match u16::from_le_bytes(list_type) {
            1 => Some(ListKind::Atomic),
            2 => Some(ListKind::Set),
            3 => Some(self.by_keys(keys)),
            _ => None,
        }
    }

    /// A list that merges by these keys.
    pub fn by_keys(self, keys: &[Number]) -> ListKind<&'static str> {
        ListKind::Map(keys.iter().map(|key| self.get(*key)).take_while(|key| !key.is_empty()).collect())
    }
}

/// The part with this index.
pub const fn part(table: &'static [u8], index: usize) -> &'static [u8] {
    let Some((length, rest)) = table.split_first_chunk() else { return &[] };
    let (first, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
    if index == 0 { first } else { part(rest, index - 1) }
}

/// The numbers of the part with this index.
pub const fn numbers(table: &'static [u8], index: usize) -> &'static [Number] {
    part(table, index).as_chunks().0
}

/// The same in rows.
pub const fn rows<const N: usize>(table: &'static [u8], index: usize) -> &'static [[Number; N]] {
    numbers(table, index).as_chunks().0
}

/// What lies from the start with this index to the next start.
pub fn between(starts: &[Number], index: u16) -> Option<Range<usize>> {
    match starts.get(usize::from(index)..) {
        Some([start, end, ..]) => Some(usize::from(u16::from_le_bytes(*start))..usize::from(u16::from_le_bytes(*end))),
        _ => None,
    }
}
