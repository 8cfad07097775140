//! [`Warning`]: what a user should hear of a merge, and that is no conflict.

use crate::path::FieldPath;
use crate::schema::{ListKind, Unkeyed};
use crate::sides::Side;
use crate::yaml::NodeRef;

/// Something that the user should hear of, and that is no conflict.
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
    /// What a patch has here counts for nothing, for this reason.
    Ignored(String),
    /// Both sides changed a value, and their changes were made part by part.
    Combined(Combined),
    /// A side renamed a field or an element, and the changes of both sides were made in it.
    Renamed {
        /// A side that calls it otherwise than dest.
        side: Side,
        /// Its place there.
        place: String,
    },
    /// A union has members that exclude each other, these.
    Union(String),
    /// Both sides changed a comment, and not in the same way. Where there is none, it is empty.
    Contradiction {
        /// What both came from.
        original: String,
        /// Updated's.
        updated: String,
        /// Dest's.
        dest: String,
        /// Which one stays.
        stays: CommentOf,
    },
    /// A list of which nothing is known was replaced whole, and dest lost elements.
    Shortened {
        /// How many.
        lost: usize,
        /// How it could merge, where its elements have what it takes.
        by: Option<ListKind<String>>,
    },
}

/// Whose comment stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentOf {
    /// Dest's.
    Dest,
    /// That of the side that wins the conflict in its place.
    Winner,
}

/// In which parts a value was merged that both sides changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// A list, by element.
    Elements,
    /// A text, by line.
    Lines,
    /// A text, as the document that it holds.
    Document,
}
