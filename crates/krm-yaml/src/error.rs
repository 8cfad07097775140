//! Errors with a place: line, column, and the line itself with a caret.

use std::fmt;

use crate::line::{line_end, line_start};
use crate::secret::Secret;
use crate::shown::columns;

/// A place in a text, counted from 1 as editors do; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl Position {
    /// The place of a byte offset. An offset beyond the text is the end of the text.
    pub fn of(text: &str, offset: usize) -> Self {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let start = line_start(text, end);
        Self { line: 1 + breaks(&text[..start]), column: 1 + text[start..end].chars().count() }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// How many line breaks a text holds: `\n`, `\r\n` and a lone `\r` each count once.
fn breaks(text: &str) -> usize {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().filter(|&(i, &b)| b == b'\n' || (b == b'\r' && bytes.get(i + 1) != Some(&b'\n'))).count()
}

/// What is wrong with a text, and where.
///
/// `Display` is one line (`3:14: message`), for a result or a log. [`Error::excerpt`] is the line of the text with a caret under the place,
/// for a person at a terminal. A text that may be a Secret has no excerpt: the line that cannot be read may be the password whose quote
/// is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What must hold, in lower case and on one line.
    pub message: String,
    /// Where it is wrong.
    pub position: Position,
    excerpt: Option<String>,
}

/// The longest piece of a line that an excerpt shows: lines of JSON can be megabytes long.
const EXCERPT: usize = 100;

impl Error {
    /// An error at a byte offset of a text.
    pub fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let position = Position::of(text, offset);
        let offset = offset.min(text.len());
        let line = &text[line_start(text, offset)..line_end(text, offset)];
        let skip = (position.column - 1).saturating_sub(EXCERPT * 3 / 4);
        let shown: String = line.chars().skip(skip).take(EXCERPT).collect();
        let shown = columns(&shown);
        let excerpt = || format!("  | {shown}\n  | {:>1$}", '^', position.column - skip);
        Self { message: message.into(), position, excerpt: (Secret::of_text(text) == Secret::Nothing).then(excerpt) }
    }

    /// The line of the text with a caret under the place, two lines without a break at the end.
    pub fn excerpt(&self) -> Option<&str> {
        self.excerpt.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_break_counts_once() {
        let text = "a\r\nb\rc\nd";
        for (offset, line, column) in [(0, 1, 1), (3, 2, 1), (5, 3, 1), (7, 4, 1), (99, 4, 2)] {
            assert_eq!(Position::of(text, offset), Position { line, column }, "{offset}");
        }
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        let e = Error::at("a: 1\né: [b\n", 7, "odd");
        assert_eq!(e.to_string(), "2:2: odd");
        assert_eq!(e.excerpt(), Some("  | é: [b\n  |  ^"));
    }

    #[test]
    fn what_would_move_the_caret_has_one_column() {
        let e = Error::at("a\t\u{1b}\u{202e}b\u{200b}: [c\n", 12, "odd");
        assert_eq!(e.excerpt(), Some("  | a \u{fffd}\u{fffd}b\u{fffd}: [c\n  |         ^"));
    }

    #[test]
    fn no_line_is_a_command_of_a_runner() {
        let e = Error::at("a: ##[error]b: [c\n", 12, "odd");
        assert_eq!(e.excerpt(), Some("  | a: #\u{fffd}[error]b: [c\n  |             ^"));
    }

    #[test]
    fn a_line_of_a_secret_is_not_shown() {
        let text = "kind: Secret\nstringData: {password: \"hunter2}\n";
        assert_eq!(Error::at(text, 40, "odd").excerpt(), None);
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let text = format!("{}!{}", "x".repeat(5000), "y".repeat(5000));
        let e = Error::at(&text, 5000, "odd");
        let lines: Vec<&str> = e.excerpt().expect("an excerpt").lines().collect();
        assert_eq!(lines[0].chars().nth(lines[1].chars().count() - 1), Some('!'));
    }
}
