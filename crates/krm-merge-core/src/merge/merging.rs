//! [`Merging`]: one change after the other, in a tree that is edited in place.
//!
//! The results of look-ups that one change did in a map or list stay known for the next change, even if nothing changed. So the cost of a
//! thousand sources for one resource grows with their requests, not with the size of the resource.

use krm_tree::path::FieldPath;
use krm_tree::tree::Tree;
use krm_yaml::Error;

use super::Walk;
use crate::change::Change;
use crate::policy::NewElements;
use crate::warning::Warning;

/// A merge in progress.
#[derive(Clone, Debug)]
pub struct Merging<'a> {
    tree: Option<Tree<'a>>,
}

impl<'a> Merging<'a> {
    /// Starts a merge into dest: a node of a text, the tree that another merge left, or nothing.
    pub fn of(dest: Option<Tree<'a>>) -> Self {
        Self { tree: dest }
    }

    /// The result of the changes so far; `None` if it is removed. A map or list in it may be a branch even if nothing in it changed.
    pub fn tree(&self) -> Option<&Tree<'a>> {
        self.tree.as_ref()
    }

    /// Applies a change at dest's path, and returns what the user should know. After an error the tree is gone.
    ///
    /// # Errors
    /// A map of dest that the change goes into repeats a key: it is ambiguous which of the two fields is meant.
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

    /// The result of all changes; `None` if it is removed. Where nothing changed, it has the nodes themselves.
    pub fn finish(self) -> Option<Tree<'a>> {
        self.tree.map(Tree::folded)
    }
}
