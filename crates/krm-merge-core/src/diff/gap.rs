//! The lines between the children of a map or list that belong to no child: blank lines, and comments that a blank line sets apart.
//!
//! They are merged as git merges lines: what only upstream changed is taken. A licence at the top of a file and the title of a section are
//! such comments, and nothing else of the merge speaks of them. A gap is what is above one child. So a gap comes with a new child, and goes
//! with a child that upstream removes.

use krm_tree::child::ChildId;
use krm_tree::sides::Side;
use krm_yaml::hashed::HashMap;
use krm_yaml::{NodeRef, comments_above, comments_at_end, gap_above, is_blank, lines, same_comment, same_words, trim};

use super::placed::{Placed, placed};
use crate::change::{Child, NoteChange};
use crate::matched::Matched;
use crate::merge::contested;

/// The text above a child that belongs to no child; `None` if the child begins on a line of another token.
fn text<'a>((place, value): Placed<'a>) -> Option<&'a str> {
    Some(&value.document().source()[gap_above(&place, value.document())?])
}

/// The gap of a child that dest lacks, which comes with it.
pub(super) fn coming<'a>(is: Placed<'a>) -> Option<NoteChange<'a>> {
    text(is).filter(|gap| !gap.is_empty()).map(NoteChange::anyway)
}

/// What becomes of the gap above a child that upstream changed: dest takes it, if it left it alone.
pub(super) fn changed<'a>(was: Placed<'a>, there: Placed<'a>, is: Placed<'a>) -> Option<NoteChange<'a>> {
    let (original, updated) = (text(was)?, text(is)?);
    if same_comment(original, updated) {
        return None;
    }
    let dest = text(there)?;
    // After a first run, a comment of another column is in the column of the child, so it is one of the child.
    if has_same_words(there, is) && !has_same_words(was, is) {
        return None;
    }
    if !same_comment(original, dest) {
        let note = NoteChange { expects: Some(original), wants: updated };
        // Between fields, blank lines alone are no comment of dest's.
        let is_contested = contested(Some(note), dest).is_some() && !same_words(original, dest);
        return is_contested.then_some(note);
    }
    // A comment may go from the child to the gap, or the other way. So where upstream changed the child's own, dest must have original's.
    let own = |(place, value): Placed<'a>| comments_above(&place, value.document());
    let is_own_alone = same_comment(own(was), own(is)) || same_comment(own(was), own(there));
    is_own_alone.then_some(NoteChange::anyway(updated))
}

/// Lets gaps go with the children below them that upstream removed, if dest has original's. A gap stays if upstream moved it: above the next
/// child, where dest has another one, or to the end of the map or list.
pub(super) fn remove<'a>(children: &mut [Child<'a>], matched: &Matched<'a>) {
    if !children.iter().any(|child| child.change.removes()) {
        return;
    }
    let places: HashMap<ChildId<'a>, usize> = children.iter().enumerate().map(|(at, c)| (c.id.clone(), at)).collect();
    // Whether dest gets updated's gap above the next child; `None` if there is no next child.
    let mut is_next_taken = None;
    for row in matched.rows_of(Side::Original).rev() {
        let at = matched.id(row).and_then(|id| places.get(&id).copied());
        let texts = placed(matched, row).map(|side| side.and_then(text));
        let both = |other: Side| texts.original.zip(texts[other]);
        match (row.on.updated, row.on.dest) {
            (Some(_), Some(_)) => {
                let is_new = at.is_some_and(|at| children[at].change.gap_to_be().is_some());
                is_next_taken = Some(is_new || both(Side::Updated).is_some_and(|(a, b)| same_from_first_comment(a, b)));
            }
            (None, Some(_)) if both(Side::Dest).is_some_and(|(a, b)| same_comment(a, b)) => {
                let is_moved = || texts.original.is_some_and(|gap| is_at_end(gap, matched.containers.updated));
                let goes = is_next_taken.unwrap_or_else(|| !is_moved());
                if let Some(at) = at.filter(|at| goes && children[*at].change.removes()) {
                    children[at].change.set_gap(Some(NoteChange::anyway("")));
                }
            }
            _ => {}
        }
    }
}

/// Whether a comment of a gap is at the end of a map or list.
fn is_at_end(gap: &str, container: Option<NodeRef<'_>>) -> bool {
    let at_end = container.map(comments_at_end).unwrap_or_default();
    lines(gap).into_iter().any(|line| !is_blank(line) && at_end.contains(trim(line)))
}

/// Whether only blank lines differ above a child, among the comments that belong to it and those that do not.
pub(super) fn has_same_words(was: Placed<'_>, is: Placed<'_>) -> bool {
    same_words(all_above(was), all_above(is))
}

/// The gap above a child, and the comments below it that belong to the child.
pub(super) fn all_above((place, value): Placed<'_>) -> &str {
    let doc = value.document();
    gap_above(&place, doc).map_or("", |gap| &doc.source()[gap.start..doc.line_start(place.lead)])
}

/// Whether two gaps differ at most in the blank lines at their begin.
fn same_from_first_comment(a: &str, b: &str) -> bool {
    let [a, b] = [a, b].map(|gap| gap.trim_start_matches([' ', '\t', '\r', '\n']));
    same_comment(a, b)
}
