//! [`LineEnd`]: how the lines of a text end.
//!
//! git may check a text out with other line ends than its repository has (`core.autocrlf`). Such a text of dest is not edited. So upstream's
//! versions of it get dest's line ends before anything is compared.

/// How all lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// With `\n`.
    Feed,
    /// With `\r\n`.
    ReturnAndFeed,
}

impl LineEnd {
    /// The line end of dest's version of a text, if upstream's version ends its lines in another way; `None` if lines of one version end in
    /// several ways, or if it is not text.
    pub fn of_dest(upstream: &[u8], dest: &[u8]) -> Option<Self> {
        let dest = Self::of(dest)?;
        Self::of(upstream).filter(|upstream| *upstream != dest).map(|_| dest)
    }

    fn of(text: &[u8]) -> Option<Self> {
        let count = |byte: u8| text.iter().filter(|other| **other == byte).count();
        let (feeds, returns) = (count(b'\n'), count(b'\r'));
        let both = || text.windows(2).filter(|pair| pair == b"\r\n").count();
        match returns {
            _ if feeds == 0 || text.contains(&0) => None,
            0 => Some(Self::Feed),
            _ => (feeds == returns && feeds == both()).then_some(Self::ReturnAndFeed),
        }
    }

    /// A text with this line end.
    pub fn end_all(self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let bare = line.strip_suffix(b"\n").map(|bare| bare.strip_suffix(b"\r").unwrap_or(bare));
            out.extend_from_slice(bare.unwrap_or(line));
            out.extend_from_slice(match self {
                _ if bare.is_none() => b"",
                Self::Feed => b"\n",
                Self::ReturnAndFeed => b"\r\n",
            });
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_that_ends_all_lines_in_another_way_has_dest_s_line_ends() {
        use LineEnd::{Feed, ReturnAndFeed};
        for (upstream, dest, want) in [
            ("a\nb\n", "a\r\nc\r\nd", Some(ReturnAndFeed)),
            ("a\r\nb", "a\nb", Some(Feed)),
            ("a\nb\n", "a\nc\n", None),
            ("a\nb\n", "a\r\nb\n", None),
            ("a\nb\r\n", "a\r\nb\r\n", None),
            ("a\nb\n", "a\r\nb\rc\r\n", None),
            ("a", "a\r\n", None),
            ("a\n", "", None),
            ("a\n\0", "a\r\n\0", None),
        ] {
            assert_eq!(LineEnd::of_dest(upstream.as_bytes(), dest.as_bytes()), want, "{upstream:?} {dest:?}");
        }
    }

    #[test]
    fn each_line_ends_alike_and_nothing_else_changes() {
        for (text, feeds, both) in [
            ("a\n\r\nb\rc\r\n", "a\n\nb\rc\n", "a\r\n\r\nb\rc\r\n"),
            ("a\r\nb", "a\nb", "a\r\nb"),
            ("a\r", "a\r", "a\r"),
            ("", "", ""),
        ] {
            assert_eq!(LineEnd::Feed.end_all(text.as_bytes()), feeds.as_bytes(), "{text:?}");
            assert_eq!(LineEnd::ReturnAndFeed.end_all(text.as_bytes()), both.as_bytes(), "{text:?}");
        }
    }
}
