//! [`WrittenChild`]: a child of a map or list, with its place, its key and its value.
//!
//! It takes less memory than two [`NodeRef`]s, because the tree of a large list has one for each child.

use std::fmt;

use crate::node::{Document, NONE, NodeRef};

/// A child of a map or list as it is written.
#[derive(Clone, Copy)]
pub struct WrittenChild<'a> {
    doc: &'a Document<'a>,
    place: u32,
    /// [`NONE`] for an element.
    key: u32,
    value: u32,
}

impl fmt::Debug for WrittenChild<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {:?}: {:?}", self.place, self.key(), self.value())
    }
}

impl<'a> WrittenChild<'a> {
    /// A child at a place, with its key, if it is a field. Both are nodes of one document.
    pub fn new(place: usize, key: Option<NodeRef<'a>>, value: NodeRef<'a>) -> Self {
        Self { doc: value.doc, place: place as u32, key: key.map_or(NONE, |key| key.id), value: value.id }
    }

    /// Its place among the children.
    pub fn place(self) -> usize {
        self.place as usize
    }

    /// Its key, if it is a field.
    pub fn key(self) -> Option<NodeRef<'a>> {
        (self.key != NONE).then_some(NodeRef { doc: self.doc, id: self.key })
    }

    /// Its value.
    pub fn value(self) -> NodeRef<'a> {
        NodeRef { doc: self.doc, id: self.value }
    }
}
