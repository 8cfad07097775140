//! The comments at a child, and the lines above them, that upstream changed or that both sides added.

use super::gap;
use super::placed::Placed;
use crate::change::{Change, NoteChange, Notes, Wants};
use crate::remarks::Remarks;
use crate::yaml::NodeRef;

/// The comments at a child.
pub(super) fn remarks((place, value): Placed<'_>) -> Remarks<'_> {
    Remarks::at(&place, value)
}

/// The comments of a child that upstream changed, and the lines above them.
pub(super) fn changed_remarks<'a>(
    was: Placed<'a>,
    there: Option<Placed<'a>>,
    is: Placed<'a>,
    container: Option<NodeRef<'a>>,
) -> Notes<'a> {
    let notes = Notes { gap: gap::taken(Some(was), there, is, container), ..Notes::between(remarks(was), remarks(is)) };
    // A blank line below a comment takes it from the child. Where dest keeps its lines, that asks for nothing.
    Notes { above: notes.above.filter(|_| notes.gap.is_some() || !gap::has_same_words(was, is)), ..notes }
}

/// A change that also asks for other lines above a child.
pub(super) fn of_gap<'a>(wants: Wants<'a>, gap: Option<&'a str>) -> Change<'a> {
    Change { notes: Notes { gap, ..Notes::default() }, ..Change::patch(wants, None) }
}

/// The comments of a node that both sides added: upstream's, where it has one. Dest takes it unless it has another one, which is told.
pub(super) fn notes_of_added<'a>(there: Remarks<'_>, new: Remarks<'a>) -> Notes<'a> {
    let added = |wants: &'a str| (!wants.is_empty()).then_some(NoteChange { expects: Some(""), wants });
    Notes {
        gap: None,
        above: added(new.above),
        behind: added(new.behind),
        below: there.below.and(new.below).and_then(added),
    }
}
