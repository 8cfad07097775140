//! A folder on disk: walked, held open, and written all or none.
//!
//! A [`Tree`](walk::Tree) has the paths of the files of a folder. A [`Replacement`](disk::Replacement) is what a file becomes, and
//! [`disk::write`] is the one place that replaces the files of a package.
//!
//! It never writes outside of the folder that it was given: where the system has calls for it, that holds also if someone swaps a folder for a
//! symbolic link meanwhile. It never leaves half of a package written: a run that fails or is stopped by a signal puts back what it replaced,
//! and what a killed run left is finished by the next one.
//! It knows neither YAML nor resources. It starts no git, asks no cluster and prints nothing.
//!
//! The modules in reading order, from the whole down to the bytes:

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "a test makes its own files"))]

pub mod disk;

pub mod temporary;

pub mod cache;
pub mod made;

mod folder;
pub mod owner;
pub mod signals;
pub mod terminal;

pub mod walk;

pub mod command;
pub mod cores;
pub mod credentials;
pub mod errors;
pub mod regular;
