//! [`Chunk`]: sixteen neighbouring bytes of a text, compared all at once.
//!
//! Most bytes of a text decide nothing. So a scan compares sixteen of them with the few bytes that it looks for, and goes on if none is
//! there.

use wide::u8x16;

/// Sixteen neighbouring bytes of a text.
#[derive(Clone, Copy)]
pub(super) struct Chunk(u8x16);

/// Marks of the bytes of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Marks(u8x16);

impl Chunk {
    /// The number of bytes.
    pub const LEN: usize = 16;

    /// These bytes.
    #[inline(always)]
    pub fn of(bytes: &[u8; Self::LEN]) -> Self {
        Self(u8x16::new(*bytes))
    }

    /// Marks the bytes that are equal to one.
    #[inline(always)]
    pub fn equal(self, byte: u8) -> Marks {
        Marks(self.0.simd_eq(u8x16::splat(byte)))
    }

    /// Marks the bytes that are not equal to one.
    #[inline(always)]
    pub fn other_than(self, byte: u8) -> Marks {
        Marks(!self.equal(byte).0)
    }

    /// Marks the control characters: bytes below a blank.
    #[inline(always)]
    pub fn controls(self) -> Marks {
        Marks(self.0.min(u8x16::splat(b' ' - 1)).simd_eq(self.0))
    }
}

impl Marks {
    /// The bytes that either of the two marks.
    #[inline(always)]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The number of the first marked byte.
    #[inline(always)]
    pub fn first(self) -> Option<usize> {
        let marks = self.0.to_bitmask();
        (marks != 0).then(|| marks.trailing_zeros() as usize)
    }

    /// The number of the last marked byte.
    #[inline(always)]
    pub fn last(self) -> Option<usize> {
        self.0.to_bitmask().checked_ilog2().map(|last| last as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_byte_that_are_looked_for_are_found() {
        for at in 0..Chunk::LEN {
            for byte in 0..=u8::MAX {
                let mut bytes = [b'a'; Chunk::LEN];
                (bytes[at], bytes[Chunk::LEN - 1]) = (byte, bytes[Chunk::LEN - 1].max(byte));
                let chunk = Chunk::of(&bytes);
                let agrees = |marks: Marks, is_meant: &dyn Fn(u8) -> bool| {
                    assert_eq!(marks.first(), bytes.iter().position(|byte| is_meant(*byte)), "{bytes:?}");
                    assert_eq!(marks.last(), bytes.iter().rposition(|byte| is_meant(*byte)), "{bytes:?}");
                };
                for other in [0, b'\t', b'\n', b' ', b'#', b':', 0x7f, 0x80, u8::MAX] {
                    agrees(chunk.equal(other), &|byte| byte == other);
                    agrees(chunk.other_than(other), &|byte| byte != other);
                    agrees(chunk.equal(other).or(chunk.equal(byte)), &|one| one == other || one == byte);
                }
                agrees(chunk.controls(), &|byte| byte < b' ');
            }
        }
    }
}
