//! The merge for JavaScript: texts in, texts and results out.
//!
//! [`merge::merge`] merges packages whose files are texts, with the words of the function. A program decides a conflict by a rule in the
//! functionConfig ([`decide::decide`]) and merges again, so the functionConfig holds all decisions. [`run`](krm_merge_function::run) is the function itself.
//!
//! It reads no file, asks no network and keeps no state. What a user wrote never makes it throw: what is wrong is among the results.
//!
//! The modules in reading order, from the whole down to the bytes:

#[cfg(target_arch = "wasm32")]
mod bindings;

pub mod decide;
pub mod merge;

pub mod explain;
pub mod markers;
pub mod texts;
