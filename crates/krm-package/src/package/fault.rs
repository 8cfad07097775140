//! [`Fault`]: why a package cannot be merged, or not be written.

use krm_tree::splice::Unwritable;
use krm_yaml::{Error, NodeRef};

use crate::resource::Resource;
use crate::rules::Unmergeable;
use krm_names::file_path;

/// A resource that stops the merge of its package.
#[derive(Debug)]
pub struct Fault<'a> {
    /// The resource.
    pub resource: Resource<'a>,
    /// What is wrong with it.
    pub why: Why<'a>,
}

/// What is wrong with a resource.
#[derive(Debug)]
pub enum Why<'a> {
    /// It cannot be merged: the reason, and its place in the text.
    Unmergeable(Error),
    /// This alias and its anchor are in two resources, and one of the two is to be changed.
    Apart(NodeRef<'a>),
    /// It is new, and its path annotation names a place where the host must not write.
    Misplaced {
        /// The path.
        path: String,
        /// What the path must do.
        fault: file_path::PathFault,
    },
    /// Its new text cannot be written.
    Unwritable(Unwritable),
}

impl<'a> Fault<'a> {
    pub(super) fn of(resource: &Resource<'a>, why: Why<'a>) -> Box<Self> {
        Box::new(Self { resource: resource.clone(), why })
    }
}

impl<'a> From<Box<Unmergeable<'a>>> for Box<Fault<'a>> {
    fn from(unmergeable: Box<Unmergeable<'a>>) -> Self {
        let Unmergeable { resource, error } = *unmergeable;
        Box::new(Fault { resource, why: Why::Unmergeable(error) })
    }
}
