//! Any text as a YAML document: both of our readers against each other, the spans against the text, the values against libyaml.
//!
//! Only a text that both parsers take has a value to compare: libyaml reads YAML 1.1 and refuses more. These differences are libyaml's:
//!
//! * U+0085, U+2028 and U+2029 are line breaks of YAML 1.1, which it folds. Byte order marks after the first one are text for it.
//! * A `?` in flow is an indicator of YAML 1.1, whatever comes after it.
//! * The content of a block scalar that is a document may begin in the first column (8.1.1.1; case DK3J of the YAML test suite). libyaml wants
//!   a blank, so it takes a first line that begins with `#` for a comment.
//! * An alias stands for the last node before it that has its anchor (3.2.2.2). yaml_serde numbers anchors by how many names there are. A name
//!   that comes again gives two nodes one number.
//! * It types scalars by YAML 1.2's core schema, where we do as go-yaml. Only the text of a string and the value of an integer are compared.

use std::collections::HashSet;

use krm_yaml::{Document, Kind, NodeRef, Number, Scalar, Style};
use yaml_serde::Value;

use super::blanked;

/// Checks the readers with a text.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    #[cfg(fuzzing)]
    krm_yaml::is_taken_by_the_fast_reader(text);
    let Ok(doc) = Document::parse(text) else { return };
    // Directives have no node.
    if !text.contains('%') {
        blanked::check(text);
    }
    let of_libyaml = text.strip_prefix('\u{feff}').unwrap_or(text);
    let in_flow = |text: &str| text.contains(['{', '[']) && text.contains('?');
    if of_libyaml.contains(['\u{85}', '\u{2028}', '\u{2029}', '\u{feff}']) || in_flow(text) {
        return;
    }
    let Some(theirs) = libyaml(of_libyaml) else { return };
    if doc.roots().any(|root| root.tag().is_some()) {
        return;
    }
    let is_block_scalar = |root: NodeRef<'_>| matches!(root.style(), Style::Literal | Style::Folded);
    if doc.roots().any(is_block_scalar) || repeats_an_anchor(text) {
        return;
    }
    let ours: Vec<NodeRef<'_>> = doc.roots().filter(|root| !root.is_null()).collect();
    let theirs: Vec<&Value> = theirs.iter().filter(|value| !value.is_null()).collect();
    assert_eq!(ours.len(), theirs.len(), "the number of documents in {text:?}");
    ours.iter().zip(theirs).for_each(|(ours, theirs)| same(*ours, theirs, text));
}

/// Whether two nodes may have one anchor.
fn repeats_an_anchor(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let names = text.split('&').skip(1).filter_map(|rest| rest.split(|c| !is_of_name(c)).next());
    let mut known = HashSet::new();
    names.filter(|name| !name.is_empty()).any(|name| !known.insert(name))
}

fn libyaml(text: &str) -> Option<Vec<Value>> {
    use serde::Deserialize;
    yaml_serde::Deserializer::from_str(text).map(|document| Value::deserialize(document).ok()).collect()
}

fn same(ours: NodeRef<'_>, theirs: &Value, text: &str) {
    let ours = ours.resolve();
    // What a tag means is each reader's own.
    if ours.tag().is_some() || matches!(theirs, Value::Tagged(_)) {
        return;
    }
    let differ = || panic!("{:?} is {theirs:?} for libyaml in {text:?}", ours.text());
    match (ours.kind(), theirs) {
        (Kind::Map, Value::Mapping(theirs)) => {
            let entries: Vec<_> = ours.entries().collect();
            assert_eq!(entries.len(), theirs.len(), "the entries of {:?} in {text:?}", ours.text());
            entries.iter().zip(theirs).for_each(|((key, value), (k, v))| {
                same(*key, k, text);
                same(*value, v, text);
            });
        }
        (Kind::List, Value::Sequence(theirs)) => {
            let elements: Vec<_> = ours.elements().collect();
            assert_eq!(elements.len(), theirs.len(), "the elements of {:?} in {text:?}", ours.text());
            elements.iter().zip(theirs).for_each(|(element, theirs)| same(*element, theirs, text));
        }
        (Kind::Map | Kind::List, _) | (_, Value::Mapping(_) | Value::Sequence(_)) => differ(),
        (_, Value::String(theirs)) if ours.string() != theirs => differ(),
        (_, Value::Number(theirs)) => {
            let decimal = match ours.scalar() {
                Some(Scalar::Number(number @ Number::Decimal { .. })) => number.to_decimal(),
                _ => None,
            };
            if let (Some(ours), Some(theirs)) = (decimal.and_then(|d| d.parse::<i64>().ok()), theirs.as_i64()) {
                assert_eq!(ours, theirs, "a number in {text:?}");
            }
        }
        _ => {}
    }
}
