//! The comments at a child, and the lines above them, that upstream changed, that both sides added, or that come with the child.

use krm_tree::remarks::Remarks;

use super::gap;
use super::moved::Moved;
use super::placed::Placed;
use crate::change::{Change, NoteChange, Notes, Wants, notes_between};

/// The comments at a child.
pub(super) fn remarks((place, value): Placed<'_>) -> Remarks<'_> {
    Remarks::at(&place, value)
}

/// The comments that a child of updated brings, and the lines above it. `moved` are those that dest has at another child.
pub(super) fn notes_of<'a, 'm>(
    was: Option<Placed<'a>>,
    there: Option<Placed<'a>>,
    is: Placed<'a>,
    moved: impl FnOnce() -> &'m Moved<'a>,
) -> Notes<'a>
where
    'a: 'm,
{
    if let (Some(was), Some(there)) = (was, there) {
        return changed_remarks(was, there, is);
    }
    // Mostly there are no comments.
    let moved = if gap::all_above(is).contains('#') { moved() } else { &Moved::default() };
    match (was, there) {
        (_, Some(there)) => {
            let new = remarks(is);
            notes_of_added(remarks(there), Remarks { above: moved.left_of(new.above), ..new })
        }
        (_, None) => {
            let notes = was.map(|was| notes_between(remarks(was), remarks(is))).unwrap_or_default();
            let all = remarks(is).above;
            let wants = moved.left_of(all);
            let above = (wants != all).then_some(NoteChange::anyway(wants));
            let gap = gap::coming(is).filter(|gap| !gap.comes().is_some_and(|lines| moved.has_all(lines)));
            Notes { gap, above: above.or(notes.above), ..notes }
        }
    }
}

/// The comments of a child that upstream changed, and the lines above it.
pub(super) fn changed_remarks<'a>(was: Placed<'a>, there: Placed<'a>, is: Placed<'a>) -> Notes<'a> {
    let notes = Notes { gap: gap::changed(was, there, is), ..notes_between(remarks(was), remarks(is)) };
    // A blank line below a comment takes it from the child. Where dest keeps its lines, that asks for nothing.
    let asks = || notes.gap.and_then(NoteChange::comes).is_some() || !gap::has_same_words(was, is);
    Notes { above: notes.above.filter(|_| asks()), ..notes }
}

/// A change that also asks for other lines above a child.
pub(super) fn of_gap<'a>(wants: Wants<'a>, gap: Option<NoteChange<'a>>) -> Change<'a> {
    Change { notes: Notes { gap, ..Notes::default() }.into(), ..Change::patch(wants, None) }
}

/// The comments of a node that both sides added: upstream's, where it has one. Dest takes it unless it has another one, which is told.
fn notes_of_added<'a>(there: Remarks<'_>, new: Remarks<'a>) -> Notes<'a> {
    there.slots().zip(new.slots()).map(|(there, new)| {
        let wants = there.and(new).filter(|wants| !wants.is_empty())?;
        Some(NoteChange { expects: Some(""), wants })
    })
}
