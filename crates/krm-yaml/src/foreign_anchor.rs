//! Refuses anchors that other readers of YAML end earlier.
//!
//! The name of an anchor may have nearly any character by YAML 1.2, and the parser here follows that. kubectl, kustomize and kpt read with
//! go-yaml, where a name has letters, digits, `-` and `_`. So `&b: 0` is the number 0 here and a map there: text from upstream could hide a
//! field from the person who reviews the merge. Source: `yaml_parser_scan_anchor` of go-yaml.

use crate::error::Error;
use crate::node::Document;

/// Checks that every reader ends the anchors at the same place. Aliases need no check, because each repeats the name of an anchor.
///
/// # Errors
/// The name of an anchor has another character; the error has its place.
pub(super) fn check(doc: &Document<'_>) -> Result<(), Error> {
    let text = doc.source();
    for (start, end) in doc.props.iter().filter_map(|props| props.anchor) {
        let written = &text[start as usize..end as usize];
        let name = written.strip_prefix('&').unwrap_or(written);
        let is_ending = |c: &char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_');
        if let Some(c) = name.chars().find(is_ending) {
            let message = format!(
                "the anchor `{name}` must have letters, digits, `-` and `_` only, not {c:?}, because kubectl and kustomize end it there"
            );
            return Err(Error::at(text, start as usize, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_ends_where_every_reader_ends_it() {
        for (text, place) in [
            ("a: &b: 0\n", Some("1:4")),
            ("a:\n  &b: 0\n", Some("2:3")),
            ("a: &b.c 0\n", Some("1:4")),
            ("a: &ä 0\n", Some("1:4")),
            ("a: &&b 0\n", Some("1:4")),
            ("a: &b-c_1 0\nd: *b-c_1\n", None),
            ("a: \"&b: 0\"\n", None),
        ] {
            let found = Document::parse(text).err().map(|e| e.to_string());
            match place {
                Some(place) => {
                    let message = found.unwrap_or_else(|| panic!("{text:?} must be refused"));
                    assert!(message.starts_with(place) && message.contains("letters, digits"), "{text:?}: {message}");
                }
                None => assert_eq!(found, None, "{text:?}"),
            }
        }
    }
}
