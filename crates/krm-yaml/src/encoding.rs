//! Names the encodings that YAML allows and this program does not read.
//!
//! Some Windows tools save UTF-16. A message about a byte that is not UTF-8 would not help their users.

/// The encoding of a text that is not UTF-8: by its byte order mark, or by the zero bytes around its first character, which is ASCII in any
/// manifest. Source: "Character Encodings" of YAML 1.2. `None` for UTF-8, and for anything that is not text.
pub fn utf_16_or_32(bytes: &[u8]) -> Option<&'static str> {
    Some(match bytes {
        [0, 0, 0xfe, 0xff, ..] | [0, 0, 0, 1..=255, ..] => "UTF-32 (big-endian)",
        [0xff, 0xfe, 0, 0, ..] | [1..=255, 0, 0, 0, ..] => "UTF-32 (little-endian)",
        [0xfe, 0xff, ..] | [0, 1..=255, ..] => "UTF-16 (big-endian)",
        [0xff, 0xfe, ..] | [1..=255, 0, ..] => "UTF-16 (little-endian)",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_known_by_its_first_bytes() {
        for (bytes, want) in [
            (&b"\xff\xfea\0"[..], Some("UTF-16 (little-endian)")),
            (b"a\0p\0", Some("UTF-16 (little-endian)")),
            (b"\xfe\xff\0a", Some("UTF-16 (big-endian)")),
            (b"\0a\0p", Some("UTF-16 (big-endian)")),
            (b"\xff\xfe\0\0a\0\0\0", Some("UTF-32 (little-endian)")),
            (b"a\0\0\0", Some("UTF-32 (little-endian)")),
            (b"\0\0\xfe\xff\0\0\0a", Some("UTF-32 (big-endian)")),
            (b"\0\0\0a", Some("UTF-32 (big-endian)")),
            (b"\xef\xbb\xbfa", None),
            (b"apiVersion", None),
            (b"a", None),
            (b"", None),
            (b"\0\0\0\0", None),
        ] {
            assert_eq!(utf_16_or_32(bytes), want, "{bytes:?}");
        }
    }
}
