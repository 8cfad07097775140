//! Which comments a child gets: those that a change asks for, or those that come with the winner of a conflict.

use krm_tree::path::FieldPath;
use krm_tree::remarks::{Remarks, stands_in};
use krm_tree::sides::{Side, Sides};
use krm_tree::tree::{Comments, Conflict};
use krm_yaml::{NodeRef, same_comment, same_words};

use crate::change::{GapChange, NoteChange, Notes};
use crate::warning::{CommentOf, Notice};

/// The comment that a child should get; `None` if the written one stays. `asked` is the request of an earlier change.
pub fn wanted<'a>(note: Option<NoteChange<'a>>, written: &str, asked: Option<&'a str>) -> Option<&'a str> {
    let has = asked.unwrap_or(written);
    let asks = note.filter(|n| !same_comment(n.wants, has));
    match asks.filter(|n| n.expects.is_none_or(|e| same_comment(e, has))) {
        Some(note) => Some(note.wants).filter(|wants| !same_comment(wants, written)),
        None => asked,
    }
}

/// The texts of a comment that both sides changed in different ways.
pub fn contested<'n>(note: Option<NoteChange<'n>>, has: &'n str) -> Option<Sides<&'n str>> {
    let note = note?;
    // Where only blank lines differ, nothing is lost.
    let differs = |was: &&str| !same_comment(was, has) && !same_words(note.wants, has) && !same_words(note.wants, was);
    let original = note.expects.filter(differs)?;
    Some(Sides { original, updated: note.wants, dest: has })
}

/// The comments that both sides changed in different ways: set apart above a child, above it, on its line, at the end of its block, and behind
/// its bracket. `gap` gives the lines that dest has set apart above the child.
pub(super) fn all_contested<'n>(
    notes: Notes<'n>,
    own: Remarks<'n>,
    asked: Comments<'n>,
    gap: impl FnOnce() -> &'n str,
) -> [Option<Sides<&'n str>>; 5] {
    let gap = match notes.gap {
        Some(GapChange::Contested(note)) => contested(Some(note), gap()),
        Some(GapChange::Comes(_)) | None => None,
    };
    let slots = [
        (notes.above, asked.above.unwrap_or(own.above)),
        (notes.behind, asked.behind.unwrap_or(own.behind)),
        (notes.below, asked.below.or(own.below).unwrap_or_default()),
        (notes.opening, asked.opening.or(own.opening).unwrap_or_default()),
    ];
    let [above, behind, below, opening] = slots.map(|(note, has)| contested(note, has));
    [gap, above, behind, below, opening]
}

/// The comments that only upstream changed.
pub fn changed_upstream<'a>(own: Remarks<'_>, old: Remarks<'a>, new: Remarks<'a>) -> Comments<'a> {
    taken(Notes::between(old, new), own, Comments::default())
}

/// The comments that a child gets, if it has its own ones and an earlier change asked for others.
pub(super) fn taken<'a>(notes: Notes<'a>, own: Remarks<'_>, asked: Comments<'a>) -> Comments<'a> {
    Comments {
        gap: asked.gap,
        above: wanted(notes.above, own.above, asked.above),
        behind: wanted(notes.behind, own.behind, asked.behind),
        below: own.below.and_then(|own| wanted(notes.below, own, asked.below)),
        opening: own.opening.and_then(|own| wanted(notes.opening, own, asked.opening)),
    }
}

/// The notice for a comment that both sides changed in different ways.
pub fn contradiction(note: NoteChange<'_>, has: &str, stays: CommentOf) -> Option<Notice> {
    let Sides { original, updated, dest } = contested(Some(note), has)?.map(str::to_owned);
    Some(Notice::Contradiction { original, updated, dest, stays })
}

/// The conflict about the comments of a child, if both sides changed some: above it, on its line, and at the end of its block. They are in
/// conflict as one, so that a person decides once.
pub(super) fn conflict_of<'a>(
    slots: [Option<Sides<&'a str>>; 5],
    path: impl FnOnce() -> FieldPath<'a>,
) -> Option<Conflict<'a>> {
    let texts = Sides::of(|side| {
        let all = slots.iter().flatten().map(|slot| slot[side].trim()).filter(|text| !text.is_empty());
        all.collect::<Vec<_>>().join("\n")
    });
    let [gap, above, behind, below, opening] = slots;
    let asked = |side: Side| Comments {
        gap: gap.map(|slot| slot[side]),
        above: above.map(|slot| slot[side]),
        behind: behind.map(|slot| slot[side]),
        below: below.map(|slot| slot[side]),
        opening: opening.map(|slot| slot[side]),
    };
    let comments =
        || Sides { original: asked(Side::Original), updated: asked(Side::Updated), dest: Comments::default() };
    let is_any = slots.iter().any(Option::is_some);
    is_any.then(|| Conflict { comments: Some(comments()), ..Conflict::of_comments(path(), texts) })
}

/// The comments of each side at a place in conflict: the winner's comments come with its value. `written` are dest's own, and `gap` is what
/// is above them.
pub(super) fn comments_of_sides<'a>(
    written: Remarks<'_>,
    gap: &str,
    updated: (Option<NodeRef<'a>>, NodeRef<'a>),
    notes: Notes<'a>,
) -> Sides<Comments<'a>> {
    let updated = Remarks::of(updated);
    let was = |note: Option<NoteChange<'a>>, is: &'a str| note.and_then(|note| note.expects).unwrap_or(is);
    let original = Remarks {
        above: was(notes.above, updated.above),
        behind: was(notes.behind, updated.behind),
        below: Some(was(notes.below, updated.below.unwrap_or_default())),
        opening: Some(was(notes.opening, updated.opening.unwrap_or_default())),
    };
    let other = |comment: &'a str, written: &str| Some(comment).filter(|comment| !same_comment(comment, written));
    let asked = |remarks: Remarks<'a>| Comments {
        gap: None,
        above: other(remarks.above, written.above).filter(|above| !stands_in(above, gap)),
        behind: other(remarks.behind, written.behind),
        below: other(remarks.below.unwrap_or_default(), written.below.unwrap_or_default()),
        opening: other(remarks.opening.unwrap_or_default(), written.opening.unwrap_or_default()),
    };
    Sides { original: asked(original), updated: asked(updated), dest: Comments::default() }
}

#[cfg(test)]
mod tests {
    use krm_tree::tree::Taking;

    use super::*;

    #[test]
    fn comments_contradict_each_other_if_both_sides_changed_their_words() {
        let is_told = |expects, wants, has| {
            contradiction(NoteChange { expects: Some(expects), wants }, has, CommentOf::Dest).is_some()
        };
        assert!(is_told("# o", "# u", "# d"));
        assert!(is_told("# o", "# u", ""));
        assert!(is_told("# o", "", "# d"));
        assert!(!is_told("# o", "# u", "# o"));
        assert!(!is_told("# o", "# u", "\n# u"));
        assert!(!is_told("# o", "\n# o", ""));
    }

    #[test]
    fn what_upstream_takes_back_asks_for_nothing() {
        let note = NoteChange { expects: Some("# b"), wants: "# a" };
        assert_eq!(wanted(Some(note), "# a", Some("# b")), None);
    }

    #[test]
    fn comments_in_conflict_are_one_text_of_each_side() {
        let above = Sides { original: "# o", updated: "# u", dest: "" };
        let behind = Sides { original: "# p", updated: "# v", dest: "# d" };
        let conflict = conflict_of([None, Some(above), Some(behind), None, None], FieldPath::default);
        let Some(Taking::Comments(texts)) = conflict.map(|conflict| conflict.taking) else { panic!("no conflict") };
        assert_eq!([&*texts.original, &*texts.updated, &*texts.dest], ["# o\n# p", "# u\n# v", "# d"]);
    }
}
