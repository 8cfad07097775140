//! What the user chose: who wins a conflict, and where new elements go.

use schemars::JsonSchema;
use serde::Deserialize;

/// Who wins where dest and updated both changed a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum OnConflict {
    /// Updated wins, as kpt does it, and every case is reported: upgrades go through, local edits may have to be made again.
    #[default]
    TakeUpdated,
    /// Dest wins, and every case is reported: local edits are safe, upstream's fixes may not arrive.
    KeepDest,
    /// Nothing is merged: someone decides first.
    Fail,
}

/// Where elements go that a merged list does not have yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum NewElements {
    /// Behind dest's: comments stay with their elements under kpt, which puts them back by position.
    #[default]
    Append,
    /// Before dest's, as kustomize does it: what is matched first-come-first-served sees the patch's first.
    Prepend,
}

/// What the user chose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policy {
    /// Who wins.
    pub on_conflict: OnConflict,
    /// Where new elements go.
    pub new_elements: NewElements,
}
