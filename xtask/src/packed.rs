//! A table as bytes, as the program reads it: parts of names and numbers, each behind its length. `packed.rs` of krm-schema is the reader.

use std::collections::BTreeSet;

/// The number of no name.
const NO_NAME: usize = 0xffff;

/// A table that gets its parts.
#[derive(Debug, Default)]
pub struct Packed {
    pub bytes: Vec<u8>,
}

impl Packed {
    pub fn part(&mut self, part: &[u8]) -> Result<(), String> {
        let length = u32::try_from(part.len()).map_err(|e| e.to_string())?;
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(part);
        Ok(())
    }

    pub fn numbers(&mut self, numbers: impl IntoIterator<Item = usize>) -> Result<(), String> {
        let number = |number| u16::try_from(number).map_err(|_| format!("{number} is no number of 16 bits"));
        let numbers = numbers.into_iter().map(|n| Ok(number(n)?.to_le_bytes())).collect::<Result<Vec<_>, String>>()?;
        self.part(numbers.as_flattened())
    }

    /// The names, and where each starts.
    pub fn names(&mut self, names: &Names<'_>) -> Result<(), String> {
        self.part(names.sorted.concat().as_bytes())?;
        let starts = names.sorted.iter().scan(0, |end, name| {
            *end += name.len();
            Some(*end)
        });
        self.numbers([0].into_iter().chain(starts))
    }
}

/// Sorted names, to which a table refers by number.
pub struct Names<'t> {
    pub sorted: Vec<&'t str>,
}

impl<'t> Names<'t> {
    pub fn of(names: impl IntoIterator<Item = &'t str>) -> Self {
        Self { sorted: names.into_iter().collect::<BTreeSet<_>>().into_iter().collect() }
    }

    pub fn number(&self, name: &str) -> Result<usize, String> {
        self.sorted.binary_search(&name).map_err(|_| format!("`{name}` is missing"))
    }

    /// A merge key of a list, which may have none.
    pub fn key(&self, key: Option<&str>) -> Result<usize, String> {
        key.map_or(Ok(NO_NAME), |key| self.number(key))
    }

    /// The numbers of a list type and its keys.
    pub fn list(&self, list_type: &str, keys: &[&str]) -> Result<[usize; 5], String> {
        let number = ["", "atomic", "set", "map"].iter().position(|known| *known == list_type);
        let number = number.ok_or_else(|| format!("unknown list type `{list_type}`"))?;
        if keys.len() > 4 {
            return Err(format!("the table has outgrown its four keys: {keys:?}"));
        }
        let mut row = [number; 5];
        for (at, place) in row.iter_mut().skip(1).enumerate() {
            *place = self.key(keys.get(at).copied())?;
        }
        Ok(row)
    }
}
