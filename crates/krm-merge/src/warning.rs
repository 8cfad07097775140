//! [`Warning`]: what a user should know about a merge, apart from conflicts.

use crate::path::FieldPath;
use crate::schema::{ListKind, Unkeyed};
use crate::sides::Side;
use crate::yaml::NodeRef;

/// Something that the user should know and that is not a conflict.
#[derive(Clone, Debug)]
pub struct Warning<'a> {
    /// Where.
    pub path: FieldPath<'a>,
    /// What.
    pub notice: Notice,
    /// What dest holds.
    pub dest: Option<NodeRef<'a>>,
    /// What the other side holds.
    pub proposed: Option<NodeRef<'a>>,
}

/// What a [`Warning`] is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A map, a list or a scalar met another kind; the other side's was taken.
    Clash,
    /// Dest has several elements of one merge key; the first was merged.
    Repeated,
    /// A list that merges by its schema was replaced whole, for this reason.
    Unkeyed(Unkeyed),
    /// A part of a patch has no effect, for this reason.
    Ignored(String),
    /// Both sides changed a value, and their changes were made part by part.
    Combined(Combined),
    /// A side renamed a field or an element, and the changes of both sides were made in it.
    Renamed {
        /// A side that has another name for it than dest.
        side: Side,
        /// Its place there.
        place: String,
    },
    /// A union has members that exclude each other, these.
    Union(String),
    /// An element that dest lacks came without these fields, which its type requires.
    Incomplete(String),
    /// Both sides changed a comment, in different ways. If there is no comment, it is empty.
    Contradiction {
        /// The comment that both started from.
        original: String,
        /// Updated's.
        updated: String,
        /// Dest's.
        dest: String,
        /// Which one stays.
        stays: CommentOf,
    },
    /// An unknown list was replaced whole, and dest lost elements.
    Shortened {
        /// How many.
        lost: usize,
        /// How it could merge, if its elements allow it.
        by: Option<ListKind<String>>,
    },
}

/// Whose comment stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentOf {
    /// Dest's.
    Dest,
    /// That of the side that wins the conflict at its place.
    Winner,
}

/// The parts in which a value was merged that both sides changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// A list, by element.
    Elements,
    /// A text, by line.
    Lines,
    /// A text, as the document that it holds.
    Document,
}
