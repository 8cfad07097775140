//! The merge for JavaScript: the merge of [`krm_json`], and what an editor and a page need besides.
//!
//! [`run`](krm_merge_function::run) is the function itself.
//!
//! It reads no file, asks no network and keeps no state. What a user wrote never makes it throw: what is wrong is among the results.
//!
//! The modules in reading order, from the whole down to the bytes:

#[cfg(target_arch = "wasm32")]
mod bindings;

pub mod explain;
pub mod markers;
pub mod review;
pub mod texts;
