//! [`Merging`]: one change after the other, in a tree that is edited in place.
//!
//! What one change looked up in a map or list stays known for the next one, also where it changed nothing. So a thousand sources of one
//! resource cost what they ask for, not a thousand times what the resource holds.

use super::Walk;
use crate::change::Change;
use crate::path::FieldPath;
use crate::policy::NewElements;
use crate::tree::Tree;
use crate::warning::Warning;
use crate::yaml::Error;

/// A merge on its way.
#[derive(Clone, Debug)]
pub struct Merging<'a> {
    tree: Option<Tree<'a>>,
}

impl<'a> Merging<'a> {
    /// Into dest: a node of a text, the tree that another merge left, or nothing.
    pub fn of(dest: Option<Tree<'a>>) -> Self {
        Self { tree: dest }
    }

    /// What the changes so far have left; `None` where it is gone. A map or list in it may be a branch though nothing in it changed.
    pub fn tree(&self) -> Option<&Tree<'a>> {
        self.tree.as_ref()
    }

    /// Applies a change at the path at which dest lies, and says what the user should hear of. After an error nothing is left.
    ///
    /// # Errors
    /// A key that stands twice in a map of dest that the change goes into: which of the two is meant cannot be known.
    pub fn apply(
        &mut self,
        path: FieldPath<'a>,
        change: &Change<'a>,
        new: NewElements,
    ) -> Result<Vec<Warning<'a>>, Error> {
        let mut walk = Walk::new(path, new);
        self.tree = walk.node(self.tree.take(), change, &[])?;
        Ok(walk.warnings)
    }

    /// What all changes leave, as the nodes themselves where nothing changed; `None` where it is gone.
    pub fn finish(self) -> Option<Tree<'a>> {
        self.tree.map(Tree::folded)
    }
}
