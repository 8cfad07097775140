//! Refuses the characters that other readers of YAML take for line breaks: U+0085, U+2028 and U+2029.
//!
//! kubectl, kustomize and kpt read with go-yaml, which ends a line at them, as YAML 1.1 does. The parser here follows YAML 1.2, which takes
//! them for text. So `a: "1" # note<U+2028>b: "2"` is one field and a comment here, and two fields there: text from upstream could hide a
//! field from the person who reviews the merge. Inside of quotes they are harmless, because no reader ends a scalar there.

use crate::error::Error;
use crate::node::{Document, Kind, Style};

const BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Whether one of these characters may be in a text.
fn may_be_in(text: &str) -> bool {
    !text.is_ascii() && text.contains(BREAKS)
}

/// Checks that each of these characters is inside of quotes.
///
/// # Errors
/// One of them is in a comment, in a bare scalar or in a block scalar; the error has its place.
pub(super) fn check(doc: &Document<'_>, text: &str) -> Result<(), Error> {
    if !may_be_in(text) {
        return Ok(());
    }
    let mut buffer = [0; 4];
    let is_quoted = |at: usize| {
        let before = doc.nodes.partition_point(|node| node.start as usize <= at);
        let last = before.checked_sub(1).map(|before| &doc.nodes[before]);
        last.is_some_and(|node| {
            node.kind == Kind::Scalar && matches!(node.style, Style::Single | Style::Double) && at < node.end as usize
        })
    };
    let bare = BREAKS.iter().filter_map(|c| {
        let mut places = text.match_indices(&*c.encode_utf8(&mut buffer)).map(|(at, _)| at);
        Some((places.find(|at| !is_quoted(*at))?, *c))
    });
    match bare.min() {
        None => Ok(()),
        Some((at, c)) => {
            let code = u32::from(c);
            let message = format!(
                "U+{code:04X} must be inside of quotes, because kubectl and kustomize end the line at it. Write it as `\\u{code:04x}` in double quotes"
            );
            Err(Error::at(text, at, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_take_for_a_line_break_stands_inside_of_quotes_only() {
        for (text, place) in [
            ("a: \"1\" # note\u{2028}b: \"2\"\n", Some("1:14")),
            ("a: b\u{2029}c\n", Some("1:5")),
            ("a: |\n  b\u{85}c\n", Some("2:4")),
            ("a: >\n  b\u{2028}c\n", Some("2:4")),
            ("a: b\n#\u{85}\n", Some("2:2")),
            ("a\u{85}b: 1\n", Some("1:2")),
            ("a: &x\u{2028}y b\n", Some("1:6")),
            ("- 'a\u{2028}b'\n- c\u{85}d # \u{2028}\n", Some("2:4")),
            ("a: {b: \"\u{85}\", c: d\u{2028}e}\n", Some("1:17")),
            ("a: \"b\u{2028}c\"\nd: 'e\u{2029}f'\n\"g\u{85}\": é\n", None),
            ("a: é # ü\n", None),
        ] {
            let found = Document::parse(text).err().map(|e| e.to_string());
            match place {
                Some(place) => {
                    let message = found.unwrap_or_else(|| panic!("{text:?} must be refused"));
                    assert!(message.starts_with(place) && message.contains("inside of quotes"), "{text:?}: {message}");
                }
                None => assert_eq!(found, None, "{text:?}"),
            }
        }
    }
}
