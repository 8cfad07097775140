//! Merges Kubernetes resources, two-way, three-way or by strategic merge patch, and leaves every byte that the merge does not change.
//!
//! [`three_way`], [`two_way`] and [`strategic`] merge texts and packages. [`Merged`] has the result and its conflicts; a program decides
//! each conflict, and asks for the texts.
//!
//! The main idea: a patch is a difference. Each mode lowers its inputs to a `Change`; one walker that knows no mode applies it to dest and
//! returns a `Tree`; one splicer writes the tree into dest's own text. What a change does not name is not visited, and so not printed
//! again.
//!
//! Items that these docs hide are public only for the function and the plugin, which are hosts with their own annotations, results and
//! files. They may change in any version. The source lists them in reading order, from the whole down to the bytes.

mod api;

pub use api::{Conflict, Error, Merged, Package, strategic, three_way, two_way};
pub use edits::Overlap;
pub use limit::Exceeded;
pub use package::Ambiguous;
pub use resource::Identity;
pub use schema::{Inference, ListKind, ListRule, NoTypes, Types};
pub use splice::{Fault, NotJson};
pub use tree::Pick;
pub use yaml::{Document, Error as YamlError, NodeRef, Position};

#[doc(hidden)]
pub mod package;

#[doc(hidden)]
pub mod rules;

#[doc(hidden)]
pub mod extract;
#[doc(hidden)]
pub mod item_comment;
#[doc(hidden)]
pub mod layout;
#[doc(hidden)]
pub mod transport;

#[doc(hidden)]
pub mod resource;

#[doc(hidden)]
pub mod refine;
#[doc(hidden)]
pub mod stump;

#[doc(hidden)]
pub mod diff;
#[doc(hidden)]
pub mod patch;

#[doc(hidden)]
pub mod change;
#[doc(hidden)]
pub mod grounds;
#[doc(hidden)]
pub mod immutable;
#[doc(hidden)]
pub mod lost;
#[doc(hidden)]
pub mod merge;
#[doc(hidden)]
pub mod policy;
#[doc(hidden)]
pub mod reference;
#[doc(hidden)]
pub mod review;
#[doc(hidden)]
pub mod warning;

#[doc(hidden)]
pub mod alias;
#[doc(hidden)]
pub mod documents;
#[doc(hidden)]
pub mod edits;
#[doc(hidden)]
pub mod list;
#[doc(hidden)]
pub mod splice;
#[doc(hidden)]
pub mod tree;

#[doc(hidden)]
pub mod child;
#[doc(hidden)]
pub mod file_path;
#[doc(hidden)]
pub mod host;
#[doc(hidden)]
pub mod limit;
#[doc(hidden)]
pub mod mode;
#[doc(hidden)]
pub mod path;
#[doc(hidden)]
pub mod schema;
#[doc(hidden)]
pub mod yaml;

mod alike;
#[doc(hidden)]
pub mod hashed;
#[doc(hidden)]
pub mod leaves;
mod remarks;
mod sequence;
#[doc(hidden)]
pub mod shown;
#[doc(hidden)]
pub mod sides;
#[doc(hidden)]
pub mod sieve;
