//! The comments at a child, and the lines above them, that upstream changed or that both sides added.

use krm_yaml::{NodeRef, comments_above};

use super::gap;
use super::placed::Placed;
use crate::change::{Change, NoteChange, Notes, Wants};
use crate::remarks::Remarks;
use crate::sides::Sides;

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

/// The comments of a child that is new in updated, and the lines above it. `there` is the child in dest, if dest added it, too; `first` gives the
/// first child of the map or list on each side.
pub(super) fn notes_of_new<'a>(
    new: Placed<'a>,
    there: Option<Placed<'a>>,
    first: impl FnOnce() -> Sides<Option<Placed<'a>>>,
    container: Option<NodeRef<'a>>,
) -> Notes<'a> {
    let above = comments_above(&new.0, new.1.document());
    let is_elsewhere = |first: Sides<Option<Placed<'a>>>| {
        let is_first = |there: Placed<'a>| first.dest.is_some_and(|first| first.1.is(there.1));
        header(new, first).filter(|_| !there.is_some_and(is_first))
    };
    // Mostly there are no comments.
    let header = if above.is_empty() { None } else { is_elsewhere(first()) };
    let above = &above[header.unwrap_or(0)..];
    match there {
        Some(there) => notes_of_added(remarks(there), Remarks { above, ..remarks(new) }),
        None => {
            let above = header.map(|_| NoteChange { expects: None, wants: above });
            Notes { gap: gap::taken(None, None, new, container), above, ..Notes::default() }
        }
    }
}

/// How long the comments at the top are that a new child has above it, if dest has put another child at the top. The comments at the top came
/// with each of the two. They are dest's, and are not written a second time.
fn header<'a>(new: Placed<'a>, first: Sides<Option<Placed<'a>>>) -> Option<usize> {
    let above = |(place, value): Placed<'a>| comments_above(&place, value.document());
    let key = |(place, value): Placed<'a>| &value.document().source()[place.lead..place.open];
    let (was, here) = first.original.zip(first.dest)?;
    let is_first = first.updated.is_some_and(|first| first.1.is(new.1)) && key(was) != key(here);
    let lines = above(new).split_inclusive('\n').zip(above(was).lines()).zip(above(here).lines());
    let header = lines.take_while(|((own, was), here)| own.trim() == was.trim() && own.trim() == here.trim());
    let header: usize = header.map(|((own, _), _)| own.len()).sum();
    (is_first && header > 0).then_some(header)
}

/// A change that also asks for other lines above a child.
pub(super) fn of_gap<'a>(wants: Wants<'a>, gap: Option<&'a str>) -> Change<'a> {
    Change { notes: Notes { gap, ..Notes::default() }, ..Change::patch(wants, None) }
}

/// The comments of a node that both sides added: upstream's, where it has one. Dest takes it unless it has another one, which is told.
fn notes_of_added<'a>(there: Remarks<'_>, new: Remarks<'a>) -> Notes<'a> {
    let added = |wants: &'a str| (!wants.is_empty()).then_some(NoteChange { expects: Some(""), wants });
    Notes {
        gap: None,
        above: added(new.above),
        behind: added(new.behind),
        below: there.below.and(new.below).and_then(added),
        opening: there.opening.and(new.opening).and_then(added),
    }
}
