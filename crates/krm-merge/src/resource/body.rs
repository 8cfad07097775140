//! [`Body`]: the map of a resource, which may be read only when it is needed.

use std::fmt;
use std::ops::Range;

use crate::yaml::{NodeRef, Outline, Part, PartRead};

/// The map of a resource.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// Its nodes.
    Nodes(NodeRef<'a>),
    /// Its place in a text, from which its nodes are read on first use.
    Place(&'a dyn Unread),
}

impl<'a> Body<'a> {
    /// The map, which is read on first use.
    pub fn node(self) -> NodeRef<'a> {
        match self {
            Self::Nodes(node) => node,
            Self::Place(place) => place.node(),
        }
    }

    /// The offset of its first byte.
    pub fn start(self) -> usize {
        match self {
            Self::Nodes(node) => node.start(),
            Self::Place(place) => place.start(),
        }
    }
}

/// The nodes of a map, for a while.
#[derive(Debug)]
pub enum Nodes<'a> {
    /// They stay.
    Kept(NodeRef<'a>),
    /// They are dropped with this.
    Own(Box<PartRead<'a>>),
}

impl<'a> Nodes<'a> {
    /// The map.
    pub fn node(&self) -> NodeRef<'_> {
        match self {
            Self::Kept(node) => *node,
            Self::Own(read) => read.node(),
        }
    }
}

/// A map whose nodes are read on first use: a [`Part`] of any text. A `Part` keeps what it has read, so its lifetime cannot be shortened to
/// that of a resource; behind this trait it can.
pub trait Unread: fmt::Debug + Sync {
    /// The map; its nodes stay.
    fn node(&self) -> NodeRef<'_>;
    /// Its nodes for a while.
    fn read(&self) -> Nodes<'_>;
    /// The offset of its first byte.
    fn start(&self) -> usize;
    /// The whole text.
    fn source(&self) -> &str;
    /// Its lines with the comments around it: all text after the last token before it, up to the next one.
    fn lines(&self) -> Range<usize>;
}

/// Where the maps of a document are. An [`Outline`], behind a trait for the same reason as [`Unread`].
pub trait Bodies: fmt::Debug + Sync {
    /// What there is of a map of the document.
    fn of<'a>(&'a self, node: NodeRef<'a>) -> Body<'a>;
}

impl Bodies for Outline<'_> {
    fn of<'a>(&'a self, node: NodeRef<'a>) -> Body<'a> {
        self.part_of(node).map_or(Body::Nodes(node), |part| Body::Place(part))
    }
}

impl Unread for Part<'_> {
    fn node(&self) -> NodeRef<'_> {
        Part::node(self)
    }

    fn read(&self) -> Nodes<'_> {
        if self.is_read() { Nodes::Kept(Part::node(self)) } else { Nodes::Own(Box::new(Part::read(self))) }
    }

    fn start(&self) -> usize {
        Part::start(self)
    }

    fn source(&self) -> &str {
        Part::source(self)
    }

    fn lines(&self) -> Range<usize> {
        Part::lines(self)
    }
}
