//! Names conflict markers as the reason why a text is not YAML.
//!
//! The error of the parser names the line, but not what to do about it.

use crate::error::Error;

/// The advice for a text with conflict markers.
pub const RESOLVE: &str = "conflicts must be resolved before the next merge, by `resolve` of krm-merge or in an editor";

/// The fewest characters of a marker. Source: git's `conflict-marker-size`.
const FEWEST: usize = 7;

/// An error at the first marker of the first conflict in a text; `None` if the text has no conflict. A conflict has three marker lines: one
/// begins with a run of `<`, one with a run of `=`, one with a run of `>`, and all runs are equally long.
pub(super) fn conflict(text: &str) -> Option<Error> {
    let mut open: Option<(usize, usize)> = None;
    let mut is_parted = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        match (marker(line), open) {
            (Some(('<', length)), _) => (open, is_parted) = (Some((at, length)), false),
            (Some(('=', length)), Some((_, of))) if length == of => is_parted = true,
            (Some(('>', length)), Some((start, of))) if length == of && is_parted => {
                return Some(Error::at(text, start, RESOLVE));
            }
            _ => {}
        }
        at += line.len();
    }
    None
}

/// The character of a line that is a conflict marker, and how often it is repeated. A blank separates the marker from a label.
fn marker(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| "<=>".contains(*c))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (length >= FEWEST && rest.chars().next().is_none_or(char::is_whitespace)).then_some((mark, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_named_by_its_first_marker() {
        let at = |text: &str| conflict(text).map(|error| error.to_string());
        let told = |line: usize| Some(format!("{line}:1: {RESOLVE}"));
        for (text, want) in [
            ("a: 1\n<<<<<<< ours\nb: 1\n=======\nb: 2\n>>>>>>> theirs\n", told(2)),
            ("<<<<<<<\r\nb: 1\r\n||||||| o\r\n=======\r\nb: 2\r\n>>>>>>>\r\n", told(1)),
            ("<<<<<<<<< a\n=========\n>>>>>>>>> b", told(1)),
            ("<<<<<<< left open\na: 1\n<<<<<<< ours\n=======\n>>>>>>> theirs", told(3)),
            ("<<<<<<< ours\n======\n>>>>>>> theirs\n", None),
            ("<<<<<<< ours\n>>>>>>> theirs\n=======\n", None),
            (" <<<<<<< ours\n=======\n>>>>>>> theirs\n", None),
            ("<<<<<<<ours\n=======\n>>>>>>> theirs\n", None),
            ("a: [\n", None),
        ] {
            assert_eq!(at(text), want, "{text}");
        }
    }
}
