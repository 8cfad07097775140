//! The program `git`, and releases of upstream in its repositories.
//!
//! [`ReleaseAddress`](address::ReleaseAddress) is what a user types for one, [`Store`](store::Store) has what was fetched, and
//! [`tree::find`] and [`tree::files`] give the files of a folder of a commit, without a checkout.
//!
//! What no git repository holds, such as a chart, is a [`Source`](source::Source), which somebody else asks. Its releases come into a cache as
//! trees of git, so that nothing above the store knows the difference.
//!
//! It knows no package and no YAML: a file is a path and its bytes.
//! It is the one place that starts `git`, so nothing that a repository says can run a program. What it fetches goes into repositories of its own.
//! Into the user's, it writes nothing but the three versions of files in conflict ([`unmerged`]), and what files were before a run ([`before`]).
//!
//! The modules in reading order, from the whole down to the bytes:

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test makes its own files"))]

pub mod log;
pub mod tree;

pub mod store;

pub mod refs;

pub mod source;

pub mod address;
pub mod versions;

pub mod before;
pub mod cache;
pub mod ignored;
pub mod tracked;
pub mod unmerged;

pub mod index;

pub mod objects;
pub mod program;

pub mod found;

#[cfg(all(test, unix))]
mod tests;
