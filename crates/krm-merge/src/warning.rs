//! [`Warning`]: what a user should hear of a merge, and that is no conflict.

use crate::path::FieldPath;
use crate::schema::Unkeyed;
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
