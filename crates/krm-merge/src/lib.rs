//! Merges Kubernetes resources, two-way, three-way or by strategic merge patch, and leaves every byte that the merge does not change.
//!
//! One idea carries it: a patch is a difference. Each mode lowers its inputs to a [`change::Change`]; one walker that knows no mode applies
//! it to dest and answers with a [`tree::Tree`]; one splicer writes the tree into dest's own text. What a change does not name is not
//! visited, let alone printed again.
//!
//! [`three_way`], [`two_way`] and [`strategic`] merge whole texts and packages. What they are made of, in reading order, from the whole down
//! to the bytes:

mod api;

pub mod package;

pub mod rules;

pub mod layout;
pub mod transport;

pub mod resource;

pub mod refine;
pub mod stump;

pub mod diff;
pub mod patch;

pub mod change;
pub mod merge;
pub mod policy;
pub mod review;
pub mod warning;

pub mod alias;
pub mod documents;
pub mod edits;
pub mod list;
pub mod splice;
pub mod tree;

pub mod child;
pub mod file_path;
pub mod host;
pub mod limit;
pub mod mode;
pub mod path;
pub mod schema;
pub mod yaml;

pub mod leaves;
pub mod shown;
pub mod sides;

pub use api::{Conflict, Error, Merged, Package, strategic, three_way, two_way};
