//! The white space of YAML: blanks, tabs and line breaks.
//!
//! All other white space of Unicode is text: a key may begin with U+00A0, and a comment may end with it. So what is
//! copied or cut is trimmed here, and not by `str::trim`.

const WHITE: [char; 4] = [' ', '\t', '\r', '\n'];

/// A text without the white space around it.
pub fn trim(text: &str) -> &str {
    text.trim_matches(WHITE)
}

/// A text without the white space before it.
pub fn trim_start(text: &str) -> &str {
    text.trim_start_matches(WHITE)
}

/// A text without the white space after it.
pub fn trim_end(text: &str) -> &str {
    text.trim_end_matches(WHITE)
}

/// Whether a text is nothing but white space.
pub fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_white_space_of_yaml_is_blank() {
        assert_eq!(trim(" \t# a \r\n"), "# a");
        assert_eq!([trim_start("\r\n a "), trim_end(" a\t\r\n")], ["a ", " a"]);
        assert_eq!(trim(" \u{a0}a\u{a0} "), "\u{a0}a\u{a0}");
        assert!(is_blank("") && is_blank(" \t\r\n"));
        assert!(!is_blank("\u{a0}") && !is_blank(" a"));
    }
}
