//! Eight bytes read as one number.

/// A word in which each byte is the given one.
pub(super) const fn all(byte: u8) -> u64 {
    0x0101_0101_0101_0101 * byte as u64
}

/// Marks the bytes that are zero, by their highest bit. Bytes above the lowest zero byte may be marked wrongly.
pub(super) const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(all(1)) & !word & all(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_zero_is_marked_and_no_word_without_one() {
        for at in 0..8 {
            let others = (0..=255_u8).map(|byte| all(byte.max(1)));
            for word in others.map(|word| word & !(0xff << (8 * at))) {
                assert_eq!(zeros(word).trailing_zeros() / 8, at, "{word:x}");
            }
        }
        assert!((1..=255).all(|byte| zeros(all(byte)) == 0));
    }
}
