//! [`markers`]: the conflicts between markers in a text, as `resolve` reads them.

use krm_job::marked::{Conflict, Half, Marked};
use serde::Serialize;

/// The markers of a text. Numbers are lines from 0; the end of a part is the line after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Markers {
    /// The conflicts, in the order of the text.
    pub conflicts: Vec<MarkedConflict>,
    /// The lines of markers that cannot be read as a conflict.
    pub faults: Vec<usize>,
}

/// A conflict between markers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MarkedConflict {
    /// The line of the first marker.
    pub start: usize,
    /// The line after the last marker.
    pub end: usize,
    /// The lines of our side.
    pub ours: [usize; 2],
    /// The lines of the original; `null` if the markers lack it.
    pub original: Option<[usize; 2]>,
    /// The lines of their side.
    pub theirs: [usize; 2],
    /// The label of our side.
    pub our_name: String,
    /// The label of their side.
    pub their_name: String,
    /// Whether a side may have moved what the other side adds to, so that the markers do not tell where the addition belongs.
    pub may_have_moved: bool,
}

/// Reads the markers of a text.
pub fn markers(text: &str) -> Markers {
    let marked = Marked::read(text.as_bytes());
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line = |at: usize| ends.partition_point(|end| *end < at);
    let lines = |half: &Half| [line(half.text.start), line(half.text.end)];
    let of = |conflict: &Conflict| MarkedConflict {
        start: conflict.lines.0 - 1,
        end: conflict.lines.1,
        ours: lines(&conflict.ours),
        original: conflict.original.as_ref().map(lines),
        theirs: lines(&conflict.theirs),
        our_name: marked.shown(&conflict.ours.label).into_owned(),
        their_name: marked.shown(&conflict.theirs.label).into_owned(),
        may_have_moved: marked.may_have_moved(conflict),
    };
    Markers {
        conflicts: marked.conflicts.iter().map(of).collect(),
        faults: marked.faults.iter().map(|fault| fault.line - 1).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_0() {
        let text = "a\n<<<<<<< HEAD\nours\n||||||| base\n=======\ntheirs\n>>>>>>> v2\n<<<<<<< x\n";
        let conflict = MarkedConflict {
            start: 1,
            end: 7,
            ours: [2, 3],
            original: Some([4, 4]),
            theirs: [5, 6],
            our_name: "HEAD".to_owned(),
            their_name: "v2".to_owned(),
            may_have_moved: false,
        };
        assert_eq!(markers(text), Markers { conflicts: vec![conflict], faults: vec![7] });
    }
}
