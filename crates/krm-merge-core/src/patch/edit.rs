//! [`Edit`]: what a user asks for at the places that a path names.

use krm_tree::path::PathPattern;
use krm_yaml::NodeRef;

/// An edit of the resources that a source is for.
#[derive(Debug)]
pub struct Edit<'a> {
    /// The edit as it is written, for messages.
    pub at: NodeRef<'a>,
    /// The places.
    pub path: PathPattern,
    /// The [`PathPattern::skeleton`] of the path, read.
    pub skeleton: NodeRef<'a>,
    /// What happens there.
    pub does: Does<'a>,
    /// What happens if nothing is there.
    pub missing: Missing,
}

/// What an edit does at a place.
#[derive(Clone, Copy, Debug)]
pub enum Does<'a> {
    /// The place gets this value.
    Set(NodeRef<'a>),
    /// The list there gets this element, unless it has the element.
    Append(NodeRef<'a>),
    /// The place gets this value; in a list, an element comes before the one that is there, unless the list has the element.
    Insert(NodeRef<'a>),
    /// What is there goes.
    Delete,
    /// The place must have this value.
    Test(NodeRef<'a>),
}

/// What happens where a place is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// It is made.
    #[default]
    Made,
    /// It stays missing.
    Left,
    /// That is an error.
    Refused,
}
