//! Which comments a child gets: those that a change asks for, or those that come with the winner of a conflict.

use krm_tree::path::FieldPath;
use krm_tree::remarks::{Remarks, stands_in};
use krm_tree::sides::Sides;
use krm_tree::slots::Slots;
use krm_tree::tree::{Comments, Conflict};
use krm_yaml::{NodeRef, same_comment, same_words};

use crate::change::{NoteChange, Notes, notes_between};
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

/// The comments that only upstream changed.
pub fn changed_upstream<'a>(own: Remarks<'_>, old: Remarks<'a>, new: Remarks<'a>) -> Comments<'a> {
    taken(notes_between(old, new), own, Comments::default())
}

/// The comments that a child gets, if it has its own ones and an earlier change asked for others. The gap is not among them.
pub(super) fn taken<'a>(notes: Notes<'a>, own: Remarks<'_>, asked: Comments<'a>) -> Comments<'a> {
    notes.zip(own.slots()).zip(asked).map(|((note, own), asked)| wanted(note, own?, asked))
}

/// The notice for a comment that both sides changed in different ways.
pub fn contradiction(note: NoteChange<'_>, has: &str, stays: CommentOf) -> Option<Notice> {
    let Sides { original, updated, dest } = contested(Some(note), has)?.map(str::to_owned);
    Some(Notice::Contradiction { original, updated, dest, stays })
}

/// The conflict about the comments of a child, if both sides changed some: above it, on its line, and at the end of its block. They are in
/// conflict as one, so that a person decides once.
pub(super) fn conflict_of<'a>(
    contested: Slots<Option<Sides<&'a str>>>,
    path: impl FnOnce() -> FieldPath<'a>,
) -> Option<Conflict<'a>> {
    if contested.is_empty() {
        return None;
    }
    let texts = Sides::of(|side| {
        let all = contested.iter().flatten().map(|texts| texts[side].trim()).filter(|text| !text.is_empty());
        all.collect::<Vec<_>>().join("\n")
    });
    let asked = Sides::of(|side| contested.map(|slot| slot.map(|texts| texts[side])));
    let comments = Some(Sides { dest: Comments::NONE, ..asked }.map(Into::into));
    Some(Conflict { comments, ..Conflict::of_comments(path(), texts) })
}

/// The comments of each side at a place in conflict: the winner's comments come with its value. `written` are dest's own, and `gap` is what
/// is above them.
pub(super) fn comments_of_sides<'a>(
    written: Remarks<'_>,
    gap: &str,
    updated: (Option<NodeRef<'a>>, NodeRef<'a>),
    notes: Notes<'a>,
) -> Sides<Comments<'a>> {
    let updated = Remarks::of(updated).slots();
    let original = notes.zip(updated).map(|(note, is)| note.and_then(|note| note.expects).or(is));
    let asked = |texts: Comments<'a>| {
        let texts = texts.map(Option::unwrap_or_default).zip(written.slots().map(Option::unwrap_or_default));
        let other = texts.map(|(text, written)| Some(text).filter(|text| !same_comment(text, written)));
        Comments { gap: None, above: other.above.filter(|above| !stands_in(above, gap)), ..other }
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
        let contested = Slots { above: Some(above), behind: Some(behind), ..Slots::NONE };
        let conflict = conflict_of(contested, FieldPath::default);
        let Some(Taking::Comments(texts)) = conflict.map(|conflict| conflict.taking) else { panic!("no conflict") };
        assert_eq!([&*texts.original, &*texts.updated, &*texts.dest], ["# o\n# p", "# u\n# v", "# d"]);
    }
}
