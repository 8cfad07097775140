//! Trees over several texts: what a child of a map or list is, what a merge made of it, and how that is written into the text it came from.
//!
//! A [`Tree`](tree::Tree) is the result of a merge. Its parts may come from several documents, and a conflict in it is a value, which
//! [`tree::settle()`] decides. [`splice::edits`] carries a settled tree out on dest's own text. A [`By`](child::By) says how the children of a
//! container are told apart, and a [`FieldPath`](path::FieldPath) where they are.
//!
//! ```
//! use krm_tree::limit::Budget;
//! use krm_tree::splice;
//! use krm_tree::tree::Tree;
//! use krm_yaml::Document;
//!
//! let text = "replicas: 1 # for now\n";
//! let dest = Document::parse(text)?;
//! let root = dest.roots().next().expect("a document");
//! // Nothing was merged, so nothing is written.
//! assert!(splice::edits(root, &Tree::Node(root), &Budget::default())?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It never knows a type of Kubernetes or a policy: the caller says by which keys a list is told apart, and who wins. It never writes a text that
//! does not say what the tree says, because each new text is read again.
//!
//! The modules in reading order, from the whole down to the bytes:

pub mod splice;

pub mod tree;

pub mod alias;
pub mod links;
pub mod remarks;
pub mod slots;

pub mod child;

pub mod alike;
pub mod leaves;
pub mod limit;
pub mod path;
pub mod sequence;
pub mod sides;
