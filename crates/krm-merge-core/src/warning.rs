//! [`Warning`]: what a user should know about a merge, apart from conflicts.

use krm_schema::schema::{ListKind, Unkeyed};
use krm_tree::path::FieldPath;
use krm_tree::sides::Side;
use krm_yaml::NodeRef;

use crate::parts::Composed;

/// Something that the user should know and that is not a conflict.
#[derive(Clone, Debug)]
pub struct Warning<'a> {
    /// The path of the place.
    pub path: FieldPath<'a>,
    /// What happened there.
    pub notice: Notice,
    /// Dest's value.
    pub dest: Option<NodeRef<'a>>,
    /// The other side's value.
    pub proposed: Option<NodeRef<'a>>,
}

/// What a [`Warning`] is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notice {
    /// Dest and the other side have values of different kinds; the other side's value was taken.
    Clash,
    /// Dest has several elements with one merge key; the first one was merged.
    Repeated,
    /// A list that merges by its schema was replaced whole, for this reason.
    Unkeyed(Unkeyed),
    /// A part of a patch has no effect, for this reason.
    Ignored(String),
    /// Both sides changed a value, and their changes were made part by part.
    Combined(Combined),
    /// A side renamed a field or an element, and the changes of both sides were made in it.
    Renamed {
        /// A side on which it has another name than in dest.
        side: Side,
        /// Its place on that side.
        place: String,
    },
    /// A union has these members, which exclude each other.
    Union(String),
    /// An element that is new to dest lacks these fields, which its type requires.
    Incomplete(String),
    /// Both sides changed a comment, in different ways. A side without a comment has an empty text.
    Contradiction {
        /// The comment that both sides started from.
        original: String,
        /// The comment of updated.
        updated: String,
        /// The comment of dest.
        dest: String,
        /// The comment that stays.
        stays: CommentOf,
    },
    /// The merge removes these comments, which only dest has.
    CommentsLost(Vec<String>),
    /// Upstream added these comments, and dest has no place for them: it has not got the field, or both sides changed the line.
    CommentsNotTaken(Vec<String>),
    /// This alias has its value written out, because its anchor is not before it in the result.
    WrittenOut(String),
    /// An unknown list was replaced whole, and dest lost elements.
    Shortened {
        /// How many elements dest lost.
        lost: usize,
        /// How the list could merge, if its elements allow it.
        by: Option<ListKind<String>>,
    },
    /// A list that merges by no key, or a text that holds fields, was replaced whole, and dest lost what the patch does not name.
    Replaced {
        /// What was replaced.
        what: Replaced,
        /// How many elements or fields dest lost.
        lost: usize,
        /// The edit that changes no more than the patch names.
        instead: EditLine,
    },
    /// A new element has the name of another one, and the API server takes each name once.
    Namesake {
        /// The name.
        name: String,
        /// The other element.
        other: String,
        /// The edit that changes the other element.
        instead: EditLine,
    },
}

/// What a patch replaced whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Replaced {
    /// A list.
    List,
    /// A text.
    Text,
}

/// An edit by path that a user may write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EditLine {
    /// What it does: `set` or `append`.
    pub does: &'static str,
    /// The path of the place.
    pub place: String,
    /// The value; `…` if it is long.
    pub value: String,
}

/// What happened, for a log. The function says it at length, with what to do.
/// The side whose comment stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommentOf {
    /// Dest.
    Dest,
    /// The side that wins the conflict at the comment's place.
    Winner,
}

/// The parts by which a value that both sides changed was merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combined {
    /// A list, by element.
    Elements,
    /// A text, by line.
    Lines,
    /// A text of keys and values, by key.
    Keys,
    /// A text, as the document that it holds.
    Document,
    /// A text of this kind, by its two parts. The side is the one whose place it has.
    Parts(Composed, Side),
}
