//! Files with conflicts between markers: git's merge driver writes them, and `resolve` decides them.
//!
//! git merges by line. So changes to neighbouring lines are in conflict, and so are two additions to one list. [`driver::drive`] merges Kubernetes
//! YAML by field, also without a name, and leaves every other file to git. [`mark::merge`] writes the conflicts of a package between the same
//! markers, and [`resolve::resolve`] reads those of any tool as [`Marked`](krm_job::marked::Marked).
//!
//! It never takes a side without being told to, and a text with markers holds each line of both sides. It is never worse than git: where it gives up,
//! git's own merge stands.
//!
//! The modules in reading order, from the whole down to the bytes:

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test makes its own files"))]

pub mod history;
pub mod install;

pub mod resolve;

pub mod mark;

pub mod driver;

mod repository;

mod line_merge;

mod file_merge;

mod halves;

mod choices;
mod comments;
mod definitions;
mod gap;
mod hunks;
mod versions;

mod marks;

mod part;
mod plain;

pub mod args;
