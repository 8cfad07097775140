//! Texts whose lines end with `\r\n`, read as texts whose lines end with `\n`.
//!
//! YAML reads each of them as one line break, and no decoded text holds a CR. So the arena is the same except for the offsets: each
//! increases by the number of CRs before it.

use super::scan::ScannedText;
use super::{parse_odd_lines, read};
use crate::node::{Document, line_break};

/// The arena of a text with `\r\n`. `None` if a CR is not before a LF.
pub(super) fn parse(text: &str) -> Option<Document<'static>> {
    let with_lf = text.replace("\r\n", "\n");
    if with_lf.contains('\r') {
        return None;
    }
    let mut doc = match ScannedText::of(&with_lf) {
        Some(usual) => read(usual, Document::empty(&with_lf))?,
        None => parse_odd_lines(&with_lf)?,
    };
    doc.line_break = line_break(text);
    // The offsets of the line breaks that had a CR, in the text without CRs.
    let breaks: Vec<u32> = text.match_indices('\r').enumerate().map(|(before, (at, _))| (at - before) as u32).collect();
    let behind = |offset: &mut u32| *offset += breaks.partition_point(|at| at < offset) as u32;
    for node in &mut doc.nodes {
        behind(&mut node.start);
        behind(&mut node.end);
    }
    for (start, end) in &mut doc.comments {
        behind(start);
        behind(end);
    }
    for props in &mut doc.props {
        behind(&mut props.start);
        behind(&mut props.end);
        if let Some((start, end)) = &mut props.anchor {
            behind(start);
            behind(end);
        }
    }
    Some(doc)
}
