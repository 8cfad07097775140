//! The merge of one resource: a patch is a difference.
//!
//! [`diff::diff`] makes a [`Change`](change::Change) of original and updated, and [`patch`] makes one of a source with its directives. [`merge::merge`] applies
//! it to dest and returns a tree with its conflicts, which [`refine`] makes smaller.
//!
//! ```
//! use krm_merge_core::diff::diff;
//! use krm_merge_core::merge::merge;
//! use krm_merge_core::policy::{NewElements, Renames};
//! use krm_schema::mode::Mode;
//! use krm_schema::schema::{Inference, Types};
//! use krm_tree::limit::Budget;
//! use krm_tree::splice;
//! use krm_tree::tree::Tree;
//! use krm_yaml::Document;
//!
//! let text = "data:\n  a: \"1\"   # ours\n";
//! let [original, updated, dest] = ["data: {a: \"1\"}", "data: {a: \"2\"}", text].map(Document::parse);
//! let (original, updated, dest) = (original?, updated?, dest?);
//! let root = |document| Document::roots(document).next().expect("a document");
//! let types = Types::new([], Inference::On);
//! let cursor = types.root("v1", "ConfigMap", Mode::ThreeWay);
//! let change = diff(Some(root(&original)), root(&updated), Some(root(&dest)), cursor, Renames::Follow)?;
//! let merged = merge(Some(Tree::Node(root(&dest))), &change.change.expect("a change"), NewElements::Append)?;
//! let edits = splice::edits(root(&dest), &merged.tree.expect("a resource"), &Budget::default())?;
//! assert_eq!(edits.apply(text, 0..text.len()), "data:\n  a: \"2\"   # ours\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It never sees a package: the caller says which resources are one. Of a host it knows only the annotations that no merge touches ([`host`]).
//! The walker knows no mode, no directive and no text, so each rule of a merge is here once, and who wins is decided later.
//!
//! The modules in reading order, from the whole down to the bytes:

pub mod refine;

mod stump;

pub mod diff;
pub mod patch;

pub mod lost;
pub mod merge;
pub mod own_comments;
pub mod review;

mod apart;
pub mod things;

pub mod change;
pub mod matched;

mod likeness;
pub mod renamed;

pub mod host;
pub mod parts;
pub mod policy;
pub mod warning;
